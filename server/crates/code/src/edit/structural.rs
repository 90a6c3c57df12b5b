//! Edits by pattern: code of one shape becomes code of another, wherever it stands in a text.

use std::collections::BTreeSet;
use std::ops::Range;

use tree_sitter::Node;

use super::indent::{indent_at, line_start};
use super::locate::{self, Candidate, preview};
use super::reindent::{dedent, shift};
use super::{with_final_newline_of, with_lf};
use crate::syntax::{Language, Match, ParseError, Parsed, Pattern, PatternError, metavariable};

/// A pattern and what to make of what fits it, for one language.
///
/// In the rewrite, `$NAME` and `$$$NAME` stand for what they took in the pattern. Its lines are indented as the place
/// is where it goes, and what a metavariable brings is moved with it; what stands inside strings stays as it is. An
/// empty rewrite deletes, with the line if nothing else is on it, and with the `,` or `;` that belongs to what goes.
pub struct Rule {
    pattern: Pattern,
    pieces: Vec<Piece>,
    /// The lines of the rewrite, from 0, that begin inside a string.
    verbatim: BTreeSet<usize>,
}

enum Piece {
    Text(String),
    /// The code that the metavariable of the pattern with this number took.
    Variable(usize),
}

/// The result of rules on a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text.
    pub text: String,
    /// The places that become other code, in order.
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
    /// Its first line as it becomes, shortened; empty if it is deleted.
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
    #[error("it has a syntax error at line {line}, so it is left alone; mend that first, or edit its text")]
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
         matches, or rewrite the inner one first, by itself.",
        locate::list(candidates)
    )]
    Overlapping {
        /// Both.
        candidates: Vec<Candidate>,
    },
    /// A match that would be deleted cannot be left out where it stands.
    #[error(
        "at line {line} what matches is a needed part of the code around it: {preview}\nNothing was changed. Delete what is \
         around it, or put something in its place."
    )]
    Needed {
        /// Its line, from 1.
        line: usize,
        /// Its first line.
        preview: String,
    },
    /// Put where the old code stands, the new code would be read as something else.
    #[error(
        "at line {line} the rewrite would not be read as one piece where it stands: {preview}\nNothing was changed. Put \
         parentheses around it and around its metavariables, or braces around statements."
    )]
    FallsApart {
        /// The line of the old code, from 1.
        line: usize,
        /// The first line of the new code.
        preview: String,
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

    /// True if it can change anything in a text: quick, and wrong only by saying yes.
    pub fn may_fit(&self, text: &str) -> bool {
        self.pattern.may_be_in(text)
    }

    fn deletes(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }

    /// The code that goes where a match is, and where in it stands what single metavariables took.
    fn render(&self, source: &Source<'_>, found: &Match) -> (String, Vec<Range<usize>>) {
        let text = &source.parsed.text;
        let base = indent_at(text, found.range.start);
        let mut out = Out { text: String::new(), row: 0, base, verbatim: &self.verbatim, begins_line: false };
        let mut skip = "";
        let mut taken = Vec::new();
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(text) => out.push(text.strip_prefix(skip).unwrap_or(text)),
                Piece::Variable(variable) => match found.captures.get(*variable).and_then(Option::as_ref) {
                    Some(range) => {
                        let placed = out.push_code(source, range);
                        let is_one = self.pattern.variables().get(*variable).is_some_and(|variable| !variable.many);
                        taken.extend(is_one.then_some(placed));
                    }
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
        (out.text, taken)
    }
}

/// Applies rules to a text. The same text gives the same result; nothing is changed if there is an error.
///
/// # Errors
/// [`StructuralError::Broken`], [`StructuralError::Overlapping`], [`StructuralError::Breaks`],
/// [`StructuralError::Parse`].
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
    let (mut places, mut commented, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
    let first = |code: &str| preview(code.trim_start().lines().next().unwrap_or_default());
    for (rule, found) in found {
        if found.has_comments && !rule.deletes() {
            commented.extend(locate::candidates(text, vec![found.range.start]));
            continue;
        }
        let (range, new, taken) = if rule.deletes() {
            let Some(range) = deleted(parsed, &found) else {
                return Err(StructuralError::Needed { line: found.line, preview: first(parsed.slice(found.range)) });
            };
            (range, String::new(), Vec::new())
        } else {
            let (mut new, taken) = rule.render(&source, &found);
            // The pattern left the `;` of its statement alone, which then ends the new one too.
            if new.ends_with(';') && parsed.slice(found.range.end..text.len()).starts_with(';') {
                new.pop();
            }
            (found.range.clone(), new, taken)
        };
        let old = parsed.slice(found.range.clone());
        if new == old {
            continue;
        }
        places.push(Place { line: found.line, before: first(old), after: first(&new) });
        // Two deletions side by side may both claim what stands between them.
        out.push_str(parsed.slice(done..range.start.max(done)));
        let start = out.len();
        let moved = |taken: Range<usize>| start + taken.start..start + taken.end;
        if !new.is_empty() {
            let may_be_several = is_listed(parsed, &found);
            let taken = taken.into_iter().map(|taken| (found.line, moved(taken), false));
            pieces.extend(taken.chain([(found.line, start..start + new.len(), may_be_several)]));
        }
        out.push_str(&new);
        done = range.end.max(done);
    }
    out.push_str(parsed.slice(done..text.len()));
    let out = with_final_newline_of(text, out);
    let changed = Parsed::new(parsed.language, out.as_str())?;
    if let Some(line) = changed.errors().first() {
        let preview = preview(out.lines().nth(line - 1).unwrap_or_default());
        return Err(StructuralError::Breaks { line: *line, preview });
    }
    let is_whole = |piece: &Range<usize>, may_be_several| {
        is_one_piece(&changed, piece) || (may_be_several && is_several_pieces(&changed, piece))
    };
    if let Some((line, piece, _)) = pieces.into_iter().find(|(_, piece, several)| !is_whole(piece, *several)) {
        return Err(StructuralError::FallsApart { line, preview: first(changed.slice(piece)) });
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
    /// True if the line was begun and has nothing on it yet, not even its indentation.
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

    /// Code of the text, moved to where it now stands. Gives its bytes.
    fn push_code(&mut self, source: &Source<'_>, range: &Range<usize>) -> Range<usize> {
        self.indent();
        let text = &source.parsed.text;
        let row = source.line_starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let here = indent_at(&self.text, self.text.len());
        let to = if self.row == 0 { format!("{}{here}", self.base) } else { here.to_owned() };
        let is_verbatim = |line: usize| source.verbatim.contains(&(row + line));
        let code = source.parsed.slice(range.clone());
        let start = self.text.len();
        self.text.push_str(&shift(code, is_verbatim, indent_at(text, range.start), &to));
        start..self.text.len()
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

/// True if what stands at these bytes is one node, but for a `;`: code that is put beside an operator which binds
/// stronger is not, nor are two statements after an `if` without braces. Inside strings, comments and the arguments of
/// macros, code is text.
fn is_one_piece(parsed: &Parsed, range: &Range<usize>) -> bool {
    let (start, end) = trimmed(parsed, range);
    let after = end + usize::from(parsed.slice(end..parsed.text.len()).starts_with(';'));
    let without = start + parsed.slice(start..end).trim_end_matches([';', ',']).len();
    let is_it = |node: Node<'_>| {
        let is_text = node.is_extra() || node.kind() == "token_tree" || node.kind().contains("string");
        is_text || (node.start_byte() == start && [end, after, without].contains(&code_end(parsed, node)))
    };
    [end, without].iter().any(|end| parsed.root().named_descendant_for_byte_range(start, *end).is_some_and(is_it))
}

/// True if what stands at these bytes is several nodes, one beside the other.
fn is_several_pieces(parsed: &Parsed, range: &Range<usize>) -> bool {
    let (start, end) = trimmed(parsed, range);
    let Some(around) = parsed.root().named_descendant_for_byte_range(start, end) else { return false };
    let mut cursor = around.walk();
    let (mut begins, mut ends) = (false, false);
    for child in around.children(&mut cursor) {
        begins |= child.start_byte() == start;
        ends |= code_end(parsed, child) == end;
    }
    begins && ends
}

/// These bytes without the space around them.
fn trimmed(parsed: &Parsed, range: &Range<usize>) -> (usize, usize) {
    let code = parsed.slice(range.clone());
    (range.end - code.trim_start().len(), range.start + code.trim_end().len())
}

/// Where a node ends without the space and the `;` at its end.
fn code_end(parsed: &Parsed, node: Node<'_>) -> usize {
    let code = parsed.slice(node.byte_range());
    node.start_byte() + code.trim_end().len()
}

/// The outermost node that is a match and no more than the `;` after it.
fn outermost<'p>(parsed: &'p Parsed, found: &Match) -> Option<Node<'p>> {
    let Range { start, end } = found.node;
    let with_end = end + usize::from(parsed.slice(end..parsed.text.len()).starts_with(';'));
    let mut node = parsed.root().descendant_for_byte_range(start, end)?;
    while let Some(parent) =
        node.parent().filter(|parent| parent.start_byte() == start && parent.end_byte() <= with_end)
    {
        // The whole file is no piece of code.
        if parent.parent().is_none() {
            break;
        }
        node = parent;
    }
    Some(node)
}

/// True if a match stands in a list of such things, as a statement in a block or an argument in a call, and not in a
/// place that is for one.
fn is_listed(parsed: &Parsed, found: &Match) -> bool {
    const LISTS: &[&str] = &[
        "block",
        "body",
        "list",
        "arguments",
        "parameters",
        "program",
        "module",
        "file",
        "unit",
        "compound",
        "array",
        "object",
        "dictionary",
        "set",
        "tuple",
        "pattern",
    ];
    let Some(node) = outermost(parsed, found) else { return false };
    let Some(parent) = node.parent() else { return false };
    let mut cursor = parent.walk();
    let mut field = None;
    if cursor.goto_first_child() {
        while cursor.node().id() != node.id() && cursor.goto_next_sibling() {}
        field = cursor.field_name();
    }
    field.is_none() && LISTS.iter().any(|list| parent.kind().contains(list))
}

/// Returns the range that goes when a match is deleted; none if it cannot be left out.
fn deleted(parsed: &Parsed, found: &Match) -> Option<Range<usize>> {
    let text = &*parsed.text;
    let node = outermost(parsed, found)?;
    let Range { mut start, mut end } = node.byte_range();
    let next = node.next_sibling().filter(|next| matches!(next.kind(), "," | ";"));
    let last = node.prev_sibling().filter(|last| last.kind() == ",");
    match (next, last) {
        (Some(next), _) => end = next.end_byte(),
        (None, Some(last)) => start = last.start_byte(),
        (None, None) => {}
    }
    let has_comma = last.is_some() || next.is_some_and(|next| next.kind() == ",");
    if !has_comma && !is_listed(parsed, found) {
        return None;
    }
    let is_space = |c: char| c == ' ' || c == '\t';
    let line = line_start(text, start);
    let (before, after) = (parsed.slice(line..start), parsed.slice(end..text.len()));
    let spaces = after.len() - after.trim_start_matches(is_space).len();
    let ends_line = after.get(spaces..).is_none_or(|rest| rest.is_empty() || rest.starts_with('\n'));
    Some(match (before.chars().all(is_space), ends_line) {
        (true, true) => line..(end + spaces + 1).min(text.len()),
        (false, true) => line + before.trim_end_matches(is_space).len()..end + spaces,
        (_, false) => start..end + if next.is_some() { spaces } else { 0 },
    })
}

#[cfg(test)]
mod tests;
