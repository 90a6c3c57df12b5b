//! The parser's word on an answer: with it the document has no more errors than without it.

use code::syntax::{Language, Parsed};

use super::around::{self, Around, PARSED};
use super::brackets;
use super::indent;
use super::scan::{self, Lexis, State};

/// Text with a longer line was not written by hand, and may take the parser long.
const LONGEST_LINE: usize = 2000;
/// The most times that lines are taken off the end of an answer to see if the rest is free of errors.
const TRIES: usize = 4;
/// The most lines that are put before the part that is parsed.
const MAX_HEADS: usize = 40;

/// The document around the cursor, to be parsed with answers in it.
pub(super) struct Syntax<'a> {
    language: Language,
    /// The lines that begin the blocks that the part before the cursor is in.
    heads: String,
    before: &'a str,
    after: &'a str,
    /// True if the part after the cursor is not all of it, so that what it leaves open has to be closed.
    pub(super) is_part: bool,
    lexis: &'static Lexis,
    /// The errors without an answer, once they are counted.
    errors: Option<usize>,
}

impl<'a> Syntax<'a> {
    /// None if the language has no grammar here, or the text is none to parse.
    pub(super) fn new(around: &Around<'a>) -> Option<Self> {
        let language = Language::of_text(around.path, around.before)?;
        // These are more than the grammar knows.
        let is_dialect = around.path.extension().is_some_and(|extension| extension == "scss" || extension == "less");
        if is_dialect {
            return None;
        }
        let start = around.parsed_from;
        let before = around.before.get(start..)?;
        let after = around.after.get(..end(around))?;
        let is_written = |text: &&str| text.lines().all(|line| line.len() <= LONGEST_LINE);
        if ![before, after].iter().all(is_written) {
            return None;
        }
        let heads = heads(around, start)?;
        let is_part = after.len() < around.after.len() || !around.is_to_end;
        Some(Self { language, heads, before, after, is_part, lexis: around.lexis, errors: None })
    }

    /// True if there is no error at all with the answer.
    pub(super) fn is_flawless(&self, answer: &str, replaced: usize) -> bool {
        self.errors_with(answer, replaced, "").is_some_and(|errors| errors.is_empty())
    }

    /// True if there are no more errors with the answer than without it. What it leaves open at its end is no error.
    pub(super) fn is_kept(&mut self, around: &Around<'_>, answer: &str, replaced: usize) -> bool {
        let Some(with) = self.errors_with(answer, replaced, "") else { return true };
        if with.is_empty() || around.state.holds(around.lexis, answer) {
            return true;
        }
        // A part of a document has errors that the document has not.
        if self.is_part && !self.is_near(&with, answer) {
            return true;
        }
        // If brackets are open in a document whose blocks end with words, nobody knows what is to come.
        let is_of_words = matches!(self.language, Language::Lua | Language::Ruby | Language::Bash);
        if is_of_words && brackets::unclosed(around).len() > closed(around, answer) {
            return true;
        }
        let without = self.errors.or_else(|| self.errors_with("", 0, "").map(|errors| errors.len()));
        let without = without.unwrap_or(usize::MAX);
        self.errors = Some(without);
        let is_fine = |end: &String| {
            let errors = self.errors_with(answer, replaced, end);
            errors.is_none_or(|errors| errors.len() <= without)
        };
        with.len() <= without || finishes(around, self.language, answer).iter().any(is_fine)
    }

    /// True if one of these errors is on a line of the answer or the next one.
    fn is_near(&self, errors: &[usize], answer: &str) -> bool {
        let count = |text: &str| text.matches('\n').count();
        let first = count(&self.heads) + count(self.before) + 1;
        let lines = first..=first + count(answer) + 1;
        errors.iter().any(|line| lines.contains(line))
    }

    /// The most lines of the answer with which there are no more errors than without; none if there are none.
    pub(super) fn kept_lines(&mut self, around: &Around<'_>, answer: &str, replaced: usize) -> Option<String> {
        if replaced > 0 {
            return None;
        }
        let ends = answer.match_indices('\n').rev().filter_map(|(at, _)| answer.get(..at).map(str::trim_end));
        let ends: Vec<&str> = ends.filter(|text| !text.trim().is_empty()).take(TRIES).collect();
        ends.into_iter().find(|text| self.is_kept(around, text, replaced)).map(ToOwned::to_owned)
    }

    /// The lines with errors; none if the text cannot be parsed.
    fn errors_with(&self, answer: &str, replaced: usize, end: &str) -> Option<Vec<usize>> {
        let after = self.after.get(replaced..)?;
        let mut text = [&self.heads, self.before, answer, end, after].concat();
        if self.is_part {
            let open = open(&mut State::default(), self.lexis, &text);
            text.extend(open.iter().rev().filter_map(|kind| scan::closer(*kind)));
        }
        Parsed::new(self.language, text).ok().map(|parsed| parsed.errors())
    }
}

/// Where the part after the cursor ends.
fn end(around: &Around<'_>) -> usize {
    let near = around.after.floor_char_boundary(PARSED);
    if around.is_to_end && near == around.after.len() {
        return near;
    }
    let text = around.after.get(..near).unwrap_or_default();
    let is_begin = |at: &usize| around.after.get(at + 1..).is_some_and(around::begins);
    let newlines = text.rmatch_indices('\n').map(|(at, _)| at);
    newlines.clone().find(is_begin).or_else(|| newlines.clone().next()).unwrap_or(near)
}

/// The lines above a place that begin the blocks that it is in: each is less indented than those below it. None if
/// they are too far away to be known.
fn heads(around: &Around<'_>, start: usize) -> Option<String> {
    let first = around.before.get(start..)?.lines().find(|line| !line.trim().is_empty()).unwrap_or(around.line);
    let mut deep = indent::width(first);
    let mut heads = Vec::new();
    let mut is_part = false;
    for line in around.before.get(..start)?.lines().rev().filter(|line| !line.trim().is_empty()) {
        if (deep == 0 && !is_part) || heads.len() > MAX_HEADS {
            break;
        }
        let width = indent::width(line);
        let is_head = width < deep;
        if is_head || is_part {
            heads.push(line);
            deep = deep.min(width);
            // The line that closes what stands before a block is no beginning, nor is what it closes.
            let is_closing = line.trim_start().starts_with([')', ']', '}', '{']);
            is_part = is_closing || (is_part && width > deep);
        }
    }
    let is_known = deep == 0 && !is_part;
    is_known.then(|| heads.iter().rev().flat_map(|line| [line, "\n"]).collect())
}

/// The number of brackets that the answer closes and did not open.
fn closed(around: &Around<'_>, answer: &str) -> usize {
    let mut open = 0_usize;
    let marks = around.state.clone().scan(around.lexis, answer);
    let closes = |mark: &scan::Mark| {
        let is_own = open > 0;
        open = if mark.is_open { open + 1 } else { open.saturating_sub(1) };
        !mark.is_open && !is_own && scan::closer(mark.kind).is_some()
    };
    marks.iter().map(closes).filter(|closes| *closes).count()
}

/// The brackets that a text opens and does not close.
fn open(state: &mut State, lexis: &Lexis, text: &str) -> Vec<u8> {
    let mut open = Vec::new();
    for mark in state.scan(lexis, text) {
        if mark.is_open {
            open.push(mark.kind);
        } else {
            open.pop_if(|kind| *kind == mark.kind);
        }
    }
    open
}

/// Texts that may finish what the answer begins: what closes its brackets, or the block of a keyword.
fn finishes(around: &Around<'_>, language: Language, answer: &str) -> Vec<String> {
    let mut state: State = around.state.clone();
    let open = open(&mut state, around.lexis, answer);
    let string = state.end_of_string().unwrap_or_default();
    let own: String = open.iter().rev().filter_map(|kind| scan::closer(*kind)).collect();
    let own = format!("{string}{own}");
    let mut ends = Vec::new();
    if !own.is_empty() {
        ends.push(own.clone());
    }
    let all = format!("{own}{}", brackets::unclosed(around));
    if all != own {
        ends.extend([all.clone(), format!("{all};")]);
    }
    let words: &[&str] = match language {
        Language::Python => &[" pass", " x", ": pass"],
        Language::Lua => &[" end", " nil", " then end"],
        Language::Ruby => &["\nend"],
        Language::Bash => &[" :; fi", " :; done", " ;; esac"],
        _ => &[" x", ";", " {}"],
    };
    ends.extend(words.iter().map(|word| format!("{own}{word}")));
    ends
}
