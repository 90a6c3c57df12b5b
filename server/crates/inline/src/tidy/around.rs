//! The text around the cursor, as far as the rules look.

use std::path::Path;

use super::Cursor;
use super::indent::{self, Indent};
use super::scan::{self, Lexis, Mark, State};

/// The length of the text on each side of the cursor that the rules look at, in bytes.
const WINDOW: usize = 64 << 10;

/// The length of the text on each side of the cursor that is parsed, in bytes, so that it takes a millisecond or two.
pub(super) const PARSED: usize = 10 << 10;

/// The text around the cursor.
#[derive(Debug)]
pub(super) struct Around<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
    /// The cursor, between two characters.
    pub(super) offset: usize,
    /// The text before the cursor, from the beginning of a line on if it is not all of it.
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    /// True if `before` is all that is before the cursor.
    pub(super) is_from_begin: bool,
    /// True if `after` is all that is after the cursor.
    pub(super) is_to_end: bool,
    /// The text before the cursor on its line.
    pub(super) line: &'a str,
    /// The text after the cursor on its line, without the line end.
    pub(super) rest: &'a str,
    pub(super) indent: Indent,
    pub(super) multi_line: bool,
    pub(super) lexis: &'static Lexis,
    /// The state of the scan at the cursor.
    pub(super) state: State,
    /// The brackets and the string that are open at the cursor, outermost first.
    pub(super) open: Vec<Open>,
    /// Where the part before the cursor begins that is parsed: the first line near that begins something outside of
    /// all brackets and strings, or else the first that begins outside of strings.
    pub(super) parsed_from: usize,
    /// The closing brackets and quotes after the cursor of those that were opened before it, in order.
    pub(super) closing: Vec<Closing>,
}

/// A bracket or a quote that is open at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) kind: u8,
    /// The width of the indentation of the line on which its statement begins.
    pub(super) indent: usize,
    /// True if it is on the cursor's line.
    pub(super) is_on_line: bool,
}

/// A bracket or a quote after the cursor that closes one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closing {
    pub(super) kind: u8,
    /// Its first byte, from the cursor on.
    pub(super) start: usize,
    /// The byte after its last.
    pub(super) end: usize,
    /// The width of its line's indentation, if it is not on the cursor's line.
    pub(super) indent: Option<usize>,
    /// True if nothing is before it on that line.
    pub(super) is_first: bool,
}

impl<'a> Around<'a> {
    pub(super) fn new(cursor: &Cursor<'a>) -> Self {
        let text = cursor.text;
        let offset = text.floor_char_boundary(cursor.offset);
        let (all_before, all_after) = text.split_at(offset);
        let before = last_lines(all_before, WINDOW);
        let after = all_after.get(..all_after.floor_char_boundary(WINDOW)).unwrap_or_default();
        let line = before.get(before.rfind('\n').map_or(0, |newline| newline + 1)..).unwrap_or_default();
        let rest = after.split('\n').next().unwrap_or_default();
        let lexis = Lexis::of(cursor.path);
        let mut state = State::default();
        let (open, parsed_from) = open(&mut state, lexis, before, before.len() - line.len());
        let closing = closing(&state, lexis, after, rest);
        Self {
            path: cursor.path,
            text,
            offset,
            before,
            after,
            is_from_begin: before.len() == all_before.len(),
            is_to_end: after.len() == all_after.len(),
            line,
            rest: rest.strip_suffix('\r').unwrap_or(rest),
            indent: cursor.indent,
            multi_line: cursor.multi_line,
            lexis,
            state,
            open,
            parsed_from,
            closing,
        }
    }

    /// True if only white space is before the cursor on its line.
    pub(super) fn is_blank_before(&self) -> bool {
        self.line.trim().is_empty()
    }

    /// The lines above the cursor's that are not blank, nearest first.
    pub(super) fn above(&self) -> impl Iterator<Item = &'a str> + Clone {
        let above = self.before.get(..self.before.len() - self.line.len()).unwrap_or_default();
        above.rsplit('\n').map(str::trim_end).filter(|line| !line.is_empty())
    }

    /// The lines below the cursor's that are not blank, nearest first.
    pub(super) fn below(&self) -> impl Iterator<Item = &'a str> + Clone {
        self.after.split('\n').skip(1).map(str::trim_end).filter(|line| !line.is_empty())
    }

    /// True if a text stands in the document near the cursor.
    pub(super) fn has(&self, text: &str) -> bool {
        self.before.contains(text) || self.after.contains(text)
    }
}

/// The end of a text, with whole lines if it is not all of it.
fn last_lines(text: &str, most: usize) -> &str {
    let Some(cut) = text.len().checked_sub(most).filter(|cut| *cut > 0) else { return text };
    let end = text.get(text.floor_char_boundary(cut)..).unwrap_or_default();
    end.split_once('\n').map_or(end, |(_, lines)| lines)
}

/// The brackets and quotes that are open at the end of a text, and the place to begin to parse it.
fn open(state: &mut State, lexis: &Lexis, before: &str, line_start: usize) -> (Vec<Open>, usize) {
    // The open brackets, each with the line on which its statement begins: its own, or that of a bracket closed just
    // before.
    let mut open: Vec<(Mark, usize)> = Vec::new();
    let far = before.len().saturating_sub(PARSED);
    let (mut seen, mut head, mut top, mut code) = (0, 0, None, None);
    let marks = state.scan(lexis, before);
    let end = Mark { start: before.len(), end: before.len(), kind: 0, is_open: false, is_implied: true };
    for mark in marks.into_iter().chain([end]) {
        let gap = before.get(seen..mark.start).unwrap_or_default();
        if let Some(newline) = gap.rfind('\n') {
            head = seen + newline + 1;
        }
        if mark.start >= far && top.is_none() {
            let mut starts = gap.match_indices('\n').map(|(newline, _)| seen + newline + 1).filter(|at| *at >= far);
            let is_string = open.last().is_some_and(|(mark, _)| scan::closer(mark.kind).is_none());
            // A line that ends a block would end one that it is not of, since the beginning of its own is left out.
            let begins_no_end = |at: &usize| !before.get(*at..).is_some_and(|line| ends(line.trim_start()));
            code = code.or_else(|| starts.clone().find(begins_no_end).filter(|_| !is_string));
            top = starts.find(|at| open.is_empty() && before.get(*at..).is_some_and(begins));
        }
        seen = mark.start;
        if mark.is_open {
            open.push((mark, head));
        } else if let Some((_, begin)) = open.pop_if(|(open, _)| open.kind == mark.kind) {
            head = head.min(begin);
        }
    }
    let parsed_from = if far == 0 { 0 } else { top.or(code).unwrap_or(before.len()) };
    let told = |(mark, head): (Mark, usize)| {
        let indent = indent::width(before.get(head..).unwrap_or_default());
        Open { kind: mark.kind, indent, is_on_line: mark.start >= line_start }
    };
    // Brackets far outside are of no use, and a text may have any number of them.
    let first = open.len().saturating_sub(100);
    (open.drain(first..).map(told).collect(), parsed_from)
}

/// True if a line that is not indented begins something.
pub(super) fn begins(line: &str) -> bool {
    !ends(line) && line.starts_with(|c: char| c.is_alphabetic() || c == '@' || c == '#' || c == '<')
}

/// True if a line, without its indentation, ends a block or goes on with one.
fn ends(line: &str) -> bool {
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    line.starts_with(['}', ')', ']'])
        || matches!(word, "end" | "else" | "elif" | "elseif" | "elsif" | "fi" | "done" | "esac" | "then" | "do")
}

fn closing(state: &State, lexis: &Lexis, after: &str, rest: &str) -> Vec<Closing> {
    let mut open: Vec<u8> = Vec::new();
    let mut closing = Vec::new();
    let below = after.get(rest.len()..).unwrap_or_default();
    let shift = |mark: Mark| Mark { start: mark.start + rest.len(), end: mark.end + rest.len(), ..mark };
    let in_rest = state.clone().scan(lexis, rest);
    let marks = state.clone().at_end_of_line(lexis, rest).scan(lexis, below).into_iter().map(shift);
    for mark in in_rest.into_iter().chain(marks) {
        if mark.is_open {
            open.push(mark.kind);
        } else if open.last() == Some(&mark.kind) {
            open.pop();
        } else if open.is_empty() && !mark.is_implied {
            let line = after.get(..mark.start).and_then(|before| before.rfind('\n'));
            let text = line.and_then(|newline| after.get(newline + 1..mark.start));
            let indent = line.and_then(|newline| after.get(newline + 1..)).map(indent::width);
            let is_first = text.is_some_and(|text| text.trim().is_empty());
            closing.push(Closing { kind: mark.kind, start: mark.start, end: mark.end, indent, is_first });
        }
        if closing.len() > 100 {
            break;
        }
    }
    closing
}
