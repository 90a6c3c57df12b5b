//! The end of an answer: with its line, with the statement that it completes, or with the block that the cursor is in.

use super::around::Around;
use super::indent;
use super::scan::{self, State};

/// Words that go on with the statement above, at its indentation.
const CONTINUING: &[&str] = &[
    "else", "elif", "elsif", "elseif", "except", "catch", "finally", "rescue", "ensure", "then", "do", "where", "end",
    "fi", "done", "esac", "and", "or",
];

/// The answer without its last line, which is not complete if the model had to stop.
pub(super) fn cut_off(answer: &str) -> Option<String> {
    let text = answer.trim_end_matches([' ', '\t']);
    let kept = text.rfind('\n').and_then(|newline| text.get(..newline)).unwrap_or_default();
    (!text.ends_with('\n')).then(|| kept.trim_end().to_owned())
}

/// The answer up to the end of its line, or of the statement or block that it is in.
pub(super) fn block(around: &Around<'_>, answer: &str) -> Option<String> {
    let end = if around.multi_line { end_of_block(around, answer)? } else { end_of_line(around, answer) };
    let kept = answer.get(..end)?;
    (!answer.get(end..)?.trim().is_empty()).then(|| kept.trim_end().to_owned())
}

fn end_of_line(around: &Around<'_>, answer: &str) -> usize {
    // A new line may begin with the line end, if there is nothing on the cursor's.
    let begin = if around.is_blank_before() { answer.len() - answer.trim_start().len() } else { 0 };
    answer.get(begin..).and_then(|text| text.find('\n')).map_or(answer.len(), |newline| begin + newline)
}

/// The walk over the answer's lines.
struct Lines<'a> {
    around: &'a Around<'a>,
    /// The indentation of what the cursor is in.
    base: usize,
    /// True if what the cursor is in has a line of its own at that indentation, which is completed.
    is_statement: bool,
    /// True if a line has closed it.
    is_closed: bool,
    /// The number of brackets that the statement, or the answer, has left open.
    depth: usize,
    state: State,
}

/// Where the answer leaves the statement or the block that the cursor is in; none if it does not.
fn end_of_block(around: &Around<'_>, answer: &str) -> Option<usize> {
    if around.lexis.is_prose {
        return None;
    }
    let verbatim = scan::verbatim_lines(around.lexis, &around.state, answer);
    let first = answer.split('\n').next().unwrap_or_default();
    let begins_new = around.is_blank_before() || first.trim().is_empty();
    let own = indent::width(around.line);
    let mut lines = Lines {
        around,
        base: own,
        is_statement: !begins_new,
        is_closed: false,
        depth: if begins_new { 0 } else { around.open.iter().filter(|open| open.is_on_line).count() },
        state: around.state.clone(),
    };
    let mut at = 0;
    let mut is_first = true;
    for (row, line) in answer.split_inclusive('\n').enumerate() {
        let is_verbatim = verbatim.get(row).copied().unwrap_or_default();
        let whole = if row == 0 { format!("{}{line}", around.line) } else { line.to_owned() };
        let is_counted = !line.trim().is_empty() && !is_verbatim;
        if is_counted && is_first && begins_new && !(row == 0 && around.state.is_verbatim()) {
            lines.base = indent::width(&whole);
            lines.is_closed = around.lexis.begins_closing(&whole) && !indent::opens(&whole);
        } else if is_counted && row > 0 && lines.ends_before(line) {
            return Some(at);
        }
        is_first &= !is_counted;
        lines.count(line);
        at += line.len();
    }
    None
}

impl Lines<'_> {
    /// True if a line does not belong to what the cursor is in.
    fn ends_before(&mut self, line: &str) -> bool {
        let width = indent::width(line);
        let text = line.trim();
        if self.depth > 0 || self.is_directive(text) {
            return false;
        }
        let goes_on = self.around.lexis.begins_closing(text) || is_continuing(text);
        if self.is_closed {
            // Blocks around it may be closed too.
            let is_around = self.around.lexis.begins_closing(text) && width < self.base;
            let is_same = is_continuing(text) && width == self.base;
            if is_around || is_same {
                self.go_on_at(width, text);
                return false;
            }
            return true;
        }
        let is_inside = width > self.base || (width == self.base && !self.is_statement);
        let is_comment = self.is_statement && width == self.base && self.goes_on_with_comment(text);
        if is_inside || is_comment {
            return false;
        }
        if goes_on {
            self.go_on_at(width, text);
            return false;
        }
        true
    }

    fn go_on_at(&mut self, width: usize, text: &str) {
        self.base = width;
        self.is_statement = true;
        self.is_closed =
            self.around.lexis.begins_closing(text) && !indent::opens(text) && !text.ends_with(['.', '=', '|', '&']);
    }

    /// Counts the brackets of a line.
    fn count(&mut self, line: &str) {
        for mark in self.state.scan(self.around.lexis, line) {
            self.depth = if mark.is_open { self.depth + 1 } else { self.depth.saturating_sub(1) };
        }
    }

    /// True for a line for the preprocessor, which is not indented as the code is.
    fn is_directive(&self, text: &str) -> bool {
        let is_mark = text.strip_prefix('#').is_some_and(|word| word.trim_start().starts_with(char::is_alphabetic));
        is_mark && !self.around.lexis.line_comments.contains(&"#")
    }

    /// True if a line goes on with the comment that the cursor is in.
    fn goes_on_with_comment(&self, text: &str) -> bool {
        self.around.state.is_comment() && self.around.lexis.begins_comment(text)
    }
}

/// True if a line goes on with the statement above it.
fn is_continuing(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    CONTINUING.contains(&word) || text.starts_with(['.', '{', '?', ':', '&', '|', '+', '='])
}
