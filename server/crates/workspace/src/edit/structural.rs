//! Edits by pattern: code of one shape becomes code of another, wherever it stands in a text.

use std::collections::BTreeSet;
use std::ops::Range;

use super::indent::{dedent, indentation, line_start, shift};
use super::locate::{self, Candidate, preview};
use super::{with_final_newline_of, with_lf};
use crate::syntax::{Language, Match, ParseError, Parsed, Pattern, PatternError, metavariable};

/// A pattern and what to make of what fits it, for one language.
///
/// In the rewrite, `$NAME` and `$$$NAME` stand for what they took in the pattern. Its lines are indented as the place is
/// where it goes, and what a metavariable brings is moved with it; what stands inside strings stays as it is. An empty
/// rewrite deletes, with the line if nothing else is on it, and with the `,` or `;` that belongs to what goes.
pub struct Rule {
    pattern: Pattern,
    pieces: Vec<Piece>,
    /// The lines of the rewrite, from 0, that begin inside a string.
    verbatim: BTreeSet<usize>,
}

enum Piece {
    Text(String),
    /// What the metavariable of the pattern with this number took.
    Variable(usize),
}

/// What rules make of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text.
    pub text: String,
    /// What becomes other code, in order.
    pub places: Vec<Place>,
    /// Places that fit and were left alone, since the rewrite would lose a comment in them.
    pub commented: Vec<Candidate>,
}

/// A place that is rewritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its line, from 1.
    pub line: usize,
    /// Its first line as it was, shortened.
    pub before: String,
    /// Its first line as it becomes, shortened; empty where it is deleted.
    pub after: String,
}

/// Why rules cannot be used. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StructuralError {
    /// The pattern is not one.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The rewrite uses a metavariable that the pattern does not have.
    #[error(
        "the rewrite uses `{name}`, which the pattern `{pattern}` does not have; only named metavariables carry over"
    )]
    UnknownVariable {
        /// The metavariable.
        name: String,
        /// The pattern.
        pattern: String,
    },
    /// The text has errors, so that it is not certain what is what in it.
    #[error("it has a syntax error at line {line}, so it is left alone; mend that first, or use edit_replace_exact")]
    Broken {
        /// The line of the first, from 1.
        line: usize,
    },
    /// The text cannot be parsed at all.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// Two places share code, so the one would undo the other.
    #[error(
        "two places that match overlap, so they cannot both be rewritten:\n{}Narrow the patterns so that only one of them \
         matches, or rewrite the inner one first with edit_replace_exact.",
        locate::list(candidates)
    )]
    Overlapping {
        /// Both.
        candidates: Vec<Candidate>,
    },
    /// The new text would have syntax errors.
    #[error(
        "the rewritten text would have a syntax error at its line {line}: {preview}\nNothing was changed. Correct the rewrite."
    )]
    Breaks {
        /// The line in the new text, from 1.
        line: usize,
        /// The line.
        preview: String,
    },
}

impl Rule {
    /// A rule for texts of this language.
    ///
    /// # Errors
    /// [`StructuralError::Pattern`], [`StructuralError::UnknownVariable`].
    pub fn new(pattern: &str, rewrite: &str, language: Language) -> Result<Self, StructuralError> {
        let made = Pattern::new(pattern, language)?;
        let rewrite = with_lf(rewrite);
        let strings_of = |text: &str| Ok::<_, ParseError>(Parsed::new(language, text)?.verbatim_lines());
        let strings = strings_of(&rewrite)?;
        let rewrite = dedent(&rewrite, |row| strings.contains(&row));
        let verbatim = strings_of(&rewrite)?;
        let mut pieces = vec![];
        let mut text = String::new();
        let mut rest = rewrite.as_str();
        while let Some(c) = rest.chars().next() {
            let Some((dollars, name)) = metavariable(rest) else {
                // A run of `$` that begins no metavariable has none within it.
                let run = rest.len() - rest.trim_start_matches('$').len();
                let (plain, after) = rest.split_at(run.max(c.len_utf8()));
                text.push_str(plain);
                rest = after;
                continue;
            };
            let (written, after) = rest.split_at(dollars + name.len());
            let is_meant = |of: &crate::syntax::Variable| of.name.as_deref() == Some(name) && of.many == (dollars == 3);
            let Some(at) = made.variables().iter().position(is_meant) else {
                let (name, pattern) = (written.to_owned(), pattern.trim().to_owned());
                return Err(StructuralError::UnknownVariable { name, pattern });
            };
            pieces.push(Piece::Text(std::mem::take(&mut text)));
            pieces.push(Piece::Variable(at));
            rest = after;
        }
        pieces.push(Piece::Text(text));
        Ok(Self { pattern: made, pieces, verbatim })
    }

    /// Whether it can change anything in a text: quick, and wrong only by saying yes.
    pub fn may_fit(&self, text: &str) -> bool {
        self.pattern.may_be_in(text)
    }

    fn deletes(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }

    /// The code that goes where a match is.
    fn render(&self, source: &Source<'_>, found: &Match) -> String {
        let text = &source.parsed.text;
        let base = indentation(text, found.range.start);
        let mut out = Out { text: String::new(), row: 0, base, verbatim: &self.verbatim, begins_line: false };
        let mut skip = "";
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => out.push(text.strip_prefix(skip).unwrap_or(text)),
                Piece::Variable(variable) => match found.captures.get(*variable).and_then(Option::as_ref) {
                    Some(range) => out.push_code(source, range),
                    None => {
                        let next = match self.pieces.get(at + 1) {
                            Some(Piece::Text(next)) => next.as_str(),
                            _ => "",
                        };
                        skip = out.leave_out(next, source.parsed.language);
                        continue;
                    }
                },
            }
            skip = "";
        }
        out.text
    }
}

/// What rules make of a text. The same text gives the same result; nothing is changed where it is an error.
///
/// # Errors
/// [`StructuralError::Broken`], [`StructuralError::Overlapping`], [`StructuralError::Breaks`], [`StructuralError::Parse`].
pub fn rewrite(parsed: &Parsed, rules: &[Rule]) -> Result<Rewritten, StructuralError> {
    if let Some(line) = parsed.errors().first() {
        return Err(StructuralError::Broken { line: *line });
    }
    let found = |rule| -> Vec<(&Rule, Match)> {
        let rule: &Rule = rule;
        rule.pattern.find(parsed).into_iter().map(|found| (rule, found)).collect()
    };
    let mut found: Vec<_> = rules.iter().flat_map(found).collect();
    found.sort_by_key(|(_, found)| (found.range.start, found.range.end));
    let overlap = found.windows(2).find_map(|pair| match pair {
        [(_, a), (_, b)] if b.range.start < a.range.end => Some(vec![a.range.start, b.range.start]),
        _ => None,
    });
    let text = &*parsed.text;
    if let Some(starts) = overlap {
        return Err(StructuralError::Overlapping { candidates: locate::candidates(text, starts) });
    }
    let source = Source::new(parsed);
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    let (mut places, mut commented) = (Vec::new(), Vec::new());
    for (rule, found) in found {
        if found.has_comments && !rule.deletes() {
            commented.extend(locate::candidates(text, vec![found.range.start]));
            continue;
        }
        let (range, new) = if rule.deletes() {
            (deleted(parsed, &found), String::new())
        } else {
            (found.range.clone(), rule.render(&source, &found))
        };
        let old = parsed.slice(found.range.clone());
        if new == old {
            continue;
        }
        let first = |code: &str| preview(code.trim_start().lines().next().unwrap_or_default());
        places.push(Place { line: found.line, before: first(old), after: first(&new) });
        // Two deletions side by side may both claim what stands between them.
        out.push_str(parsed.slice(done..range.start.max(done)));
        out.push_str(&new);
        done = range.end.max(done);
    }
    out.push_str(parsed.slice(done..text.len()));
    let out = with_final_newline_of(text, out);
    if let Some(line) = Parsed::new(parsed.language, out.as_str())?.errors().first() {
        let preview = preview(out.lines().nth(line - 1).unwrap_or_default());
        return Err(StructuralError::Breaks { line: *line, preview });
    }
    Ok(Rewritten { text: out, places, commented })
}

/// A text with what is needed to move its code.
struct Source<'p> {
    parsed: &'p Parsed,
    line_starts: Vec<usize>,
    /// The lines, from 0, that begin inside a string.
    verbatim: BTreeSet<usize>,
}

impl<'p> Source<'p> {
    fn new(parsed: &'p Parsed) -> Self {
        let breaks = parsed.text.match_indices('\n').map(|(at, _)| at + 1);
        Self { parsed, line_starts: std::iter::once(0).chain(breaks).collect(), verbatim: parsed.verbatim_lines() }
    }
}

/// A rewrite while it is put together.
struct Out<'r> {
    text: String,
    /// The line of the rewrite, from 0.
    row: usize,
    /// The indentation of the place where it goes.
    base: &'r str,
    verbatim: &'r BTreeSet<usize>,
    /// Whether the line was begun and has nothing on it yet, not even its indentation.
    begins_line: bool,
}

impl Out<'_> {
    fn push(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.text.push('\n');
                self.row += 1;
                self.begins_line = true;
            }
            if !line.is_empty() {
                self.indent();
                self.text.push_str(line);
            }
        }
    }

    /// Code of the text, moved to where it now stands.
    fn push_code(&mut self, source: &Source<'_>, range: &Range<usize>) {
        self.indent();
        let text = &source.parsed.text;
        let row = source.line_starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let here = indentation(&self.text, self.text.len());
        let to = if self.row == 0 { format!("{}{here}", self.base) } else { here.to_owned() };
        let is_verbatim = |line: usize| source.verbatim.contains(&(row + line));
        let code = source.parsed.slice(range.clone());
        self.text.push_str(&shift(code, is_verbatim, indentation(text, range.start), &to));
    }

    /// Nothing, in the place of an empty list: its `,` goes too, or its line. Gives what is to be left out of the text
    /// that comes next.
    fn leave_out<'n>(&mut self, next: &'n str, language: Language) -> &'n str {
        let spaces = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        let line = line_start(&self.text, self.text.len());
        let is_alone = self.row > 0 && self.text.get(line..).is_some_and(|line| line.trim().is_empty());
        if is_alone && next.starts_with('\n') {
            self.text.truncate(line);
            self.row += 1;
            self.begins_line = true;
            return next.get(..1).unwrap_or_default();
        }
        if let Some(after) = next.strip_prefix(',') {
            return next.get(..1 + spaces(after)).unwrap_or_default();
        }
        let kept = self.text.trim_end_matches([' ', '\t']);
        if kept.ends_with(',') {
            // `(a,)` is not `(a)` in these languages, and one `,` too many is none.
            let keeps_comma = matches!(language, Language::Rust | Language::Python);
            let length = if keeps_comma { kept.len() } else { kept.len() - 1 };
            self.text.truncate(length);
        }
        ""
    }

    fn indent(&mut self) {
        if std::mem::take(&mut self.begins_line) && !self.verbatim.contains(&self.row) {
            self.text.push_str(self.base);
        }
    }
}

/// What goes when a match is deleted.
fn deleted(parsed: &Parsed, found: &Match) -> Range<usize> {
    let text = &*parsed.text;
    let Range { mut start, mut end } = found.node.clone();
    let mut node = parsed.root().descendant_for_byte_range(start, end);
    while let Some(parent) = node.and_then(|node| node.parent()).filter(|parent| parent.byte_range() == (start..end)) {
        node = Some(parent);
    }
    let beside = |kinds: &'static [&'static str]| move |other: &tree_sitter::Node<'_>| kinds.contains(&other.kind());
    let next = node.and_then(|node| node.next_sibling()).filter(beside(&[",", ";"]));
    let last = node.and_then(|node| node.prev_sibling()).filter(beside(&[","]));
    match (next, last) {
        (Some(next), _) => end = next.end_byte(),
        (None, Some(last)) => start = last.start_byte(),
        (None, None) => {}
    }
    let is_space = |c: char| c == ' ' || c == '\t';
    let line = line_start(text, start);
    let (before, after) = (parsed.slice(line..start), parsed.slice(end..text.len()));
    let spaces = after.len() - after.trim_start_matches(is_space).len();
    let ends_line = after.get(spaces..).is_none_or(|rest| rest.is_empty() || rest.starts_with('\n'));
    match (before.chars().all(is_space), ends_line) {
        (true, true) => line..(end + spaces + 1).min(text.len()),
        (false, true) => line + before.trim_end_matches(is_space).len()..end + spaces,
        (_, false) => start..end + if next.is_some() { spaces } else { 0 },
    }
}

#[cfg(test)]
mod tests;
