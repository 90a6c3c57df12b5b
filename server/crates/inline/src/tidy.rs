//! The answer of a model that fills in, made fit to be shown as ghost text.
//!
//! [`Tidier::tidy`] applies rules in a fixed order, each of which a [`Rule`] names: first what the model puts around
//! its answer is taken off, then what repeats or leaves its place, and at last brackets and syntax are held against the
//! document. A rule that is not certain leaves the answer as it is: a good answer must come out unchanged. Time is
//! linear in texts and answers, of which only the part near the cursor is looked at.

use std::ops::Range;
use std::path::Path;

use protocol::inline::Rule;

use crate::secret;

mod around;
mod block;
mod brackets;
mod indent;
mod repeats;
mod repetition;
mod scan;
mod space;
mod syntax;
mod wrapping;

use around::Around;
pub use indent::Indent;
use syntax::Syntax;

/// The longest answer that is looked at, in bytes, with its thoughts.
const MAX_ANSWER: usize = 64 << 10;
/// The longest suggestion, in bytes and in lines. Nobody reads more at the cursor.
const MAX_TEXT: usize = 16 << 10;
const MAX_LINES: usize = 300;

/// The rules that change an answer, in the order in which they are applied. Brackets and syntax follow.
const CHANGES: &[(Rule, Change)] = &[
    (Rule::Thoughts, wrapping::thoughts),
    (Rule::Fence, wrapping::fence),
    (Rule::AnswerTokens, wrapping::answer_tokens),
    (Rule::CutOff, |_, answer| block::cut_off(answer)),
    (Rule::RepeatsBefore, repeats::before),
    (Rule::Indentation, space::indentation),
    (Rule::Repetition, repetition::repetition),
    (Rule::Block, block::block),
    (Rule::RepeatsAfter, repeats::after),
];

/// A rule's change of an answer; none if it leaves it as it is.
type Change = fn(&Around<'_>, &str) -> Option<String>;

/// The place in a document for which there is an answer.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// The document's path, whose extension tells the language.
    pub path: &'a Path,
    /// The document, with the line ends that the editor gives it.
    pub text: &'a str,
    /// The cursor's offset. One that is inside a character or beyond the end stands for the character's begin or for
    /// the end.
    pub offset: usize,
    /// The editor's setting for the document, or else what [`Indent::of`] finds in it.
    pub indent: Indent,
    /// True if the answer may have more than one line.
    pub multi_line: bool,
}

/// An answer that is fit to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tidied {
    /// The text in place of [`Tidied::replace`].
    pub text: String,
    /// The range from the cursor to a place on its line: what is typed already and the text says too, such as closing
    /// brackets.
    pub replace: Range<usize>,
    /// The rules that changed the answer, in the order in which they did, each once.
    pub changed_by: Vec<Rule>,
}

/// The text around a cursor, read once for an answer and all parts of it.
#[derive(Debug)]
pub struct Tidier<'a> {
    around: Around<'a>,
}

impl<'a> Tidier<'a> {
    /// Reads the text around a cursor. In a large text this takes a part of a millisecond.
    pub fn new(cursor: &Cursor<'a>) -> Self {
        Self { around: Around::new(cursor) }
    }

    /// Makes an answer fit to be shown. An answer that the model had to stop in is cut.
    ///
    /// # Errors
    /// The rule that leaves nothing of the answer, or refuses it.
    pub fn tidy(&self, answer: &str, is_cut: bool) -> Result<Tidied, Rule> {
        let around = &self.around;
        let mut draft = changed(around, answer, is_cut, CHANGES)?;
        let replaced = fit(around, &mut draft)?;
        let text = draft.text.trim_end_matches('\n');
        let text = if around.rest.trim().is_empty() { text.trim_end() } else { text };
        if secret::is_in(around.line, text) {
            return Err(Rule::SecretAnswer);
        }
        let replace = around.offset..around.offset + replaced;
        if around.text.get(replace.clone()) == Some(text) {
            return Err(if text.is_empty() { Rule::Empty } else { Rule::NoChange });
        }
        if text.trim().is_empty() {
            return Err(Rule::Empty);
        }
        Ok(Tidied { text: space::with_line_ends_of(around, text.to_owned()), replace, changed_by: draft.changed_by })
    }

    /// True if nothing more of an answer will be of use, so that its stream can be closed. What has arrived is then to
    /// be taken as an answer that is not cut.
    pub fn is_enough(&self, partial: &str) -> bool {
        let around = &self.around;
        if partial.len() > MAX_ANSWER {
            return true;
        }
        let ends = |rule: &Rule| {
            matches!(rule, Rule::TooLong | Rule::Garbage | Rule::AnswerTokens | Rule::Repetition | Rule::Block)
        };
        // The last line may become another one.
        let complete = partial.rfind('\n').and_then(|newline| partial.get(..=newline)).unwrap_or_default();
        let before_last = CHANGES.split_last().map(|(_, rules)| rules).unwrap_or_default();
        match changed(around, complete, false, before_last) {
            Err(rule) => ends(&rule),
            Ok(draft) => {
                !around.multi_line
                    || draft.changed_by.iter().any(ends)
                    || has_closed_fence(&draft, complete)
                    || repeats::has_reached_below(around, &draft.text)
            }
        }
    }
}

/// An answer that the rules work on.
#[derive(Debug)]
struct Draft {
    text: String,
    changed_by: Vec<Rule>,
}

impl Draft {
    fn note(&mut self, rule: Rule) {
        if !self.changed_by.contains(&rule) {
            self.changed_by.push(rule);
        }
    }
}

/// The answer as rules leave it.
fn changed(around: &Around<'_>, answer: &str, mut is_cut: bool, rules: &[(Rule, Change)]) -> Result<Draft, Rule> {
    if answer.len() > MAX_ANSWER {
        return Err(Rule::TooLong);
    }
    let is_odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}')) || c == '\u{fffd}';
    if answer.chars().any(|c| is_odd(c) && !around.has(c.encode_utf8(&mut [0; 4]))) {
        return Err(Rule::Garbage);
    }
    let mut draft = Draft { text: space::normal(answer).into_owned(), changed_by: Vec::new() };
    for (rule, change) in rules {
        if draft.text.trim().is_empty() {
            return Err(Rule::Empty);
        }
        if *rule == Rule::CutOff && !is_cut {
            continue;
        }
        if *rule == Rule::RepeatsBefore && (draft.text.len() > MAX_TEXT || draft.text.lines().count() > MAX_LINES) {
            return Err(Rule::TooLong);
        }
        let Some(text) = change(around, &draft.text) else { continue };
        if text.trim().is_empty() {
            return Err(*rule);
        }
        // The model went on behind what is kept, so that the end of this is complete.
        is_cut &= draft.text.trim_end().ends_with(text.trim_end());
        draft.text = text;
        draft.note(*rule);
    }
    Ok(draft)
}

/// Cuts off what does not fit the document's brackets and syntax. Returns the length of the rest of the line that the
/// answer replaces.
fn fit(around: &Around<'_>, draft: &mut Draft) -> Result<usize, Rule> {
    let mut syntax = Syntax::new(around);
    let is_flawless = syntax.as_ref().is_some_and(|syntax| syntax.is_flawless(&draft.text, 0));
    if is_flawless && syntax.as_ref().is_some_and(|syntax| !syntax.is_part) {
        return Ok(0);
    }
    let balance = brackets::balance(around, &draft.text);
    let kept = balance.cut.and_then(|cut| draft.text.get(..cut)).map(str::trim_end);
    // In a part of a document the parser does not know how many brackets are too many.
    let is_better = |kept: &str| syntax.as_ref().is_some_and(|syntax| syntax.is_flawless(kept, balance.replaced));
    if is_flawless && !kept.is_some_and(is_better) {
        return Ok(0);
    }
    if let Some(kept) = kept.map(ToOwned::to_owned) {
        if kept.trim().is_empty() {
            return Err(Rule::Brackets);
        }
        draft.text = kept;
        draft.note(Rule::Brackets);
    }
    if balance.replaced > 0 {
        draft.note(Rule::Brackets);
    }
    let Some(syntax) = &mut syntax else { return Ok(balance.replaced) };
    if !syntax.is_kept(around, &draft.text, balance.replaced) {
        draft.text = syntax.kept_lines(around, &draft.text, balance.replaced).ok_or(Rule::Syntax)?;
        draft.note(Rule::Syntax);
    }
    Ok(balance.replaced)
}

fn has_closed_fence(draft: &Draft, answer: &str) -> bool {
    draft.changed_by.contains(&Rule::Fence)
        && answer.lines().filter(|line| line.trim_start().starts_with("```")).count() > 1
}

#[cfg(test)]
mod tests;
