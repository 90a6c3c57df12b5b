//! An answer closes only what is open: what it opened itself, and what nothing else closes.

use super::around::{Around, Closing};
use super::indent;
use super::scan;

/// The change of an answer after which it closes only what is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Balance {
    /// The end of the part of the answer that does; none if all of it does.
    pub(super) cut: Option<usize>,
    /// The length of the part of the rest of the line that the answer says too.
    pub(super) replaced: usize,
}

/// The way in which what is open at the cursor is closed behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    /// Nothing closes it.
    Not,
    /// It is closed in the rest of the line: from, to.
    InRest(usize, usize),
    /// It is closed below.
    Below,
}

/// Finds what the answer closes although it is closed behind the cursor.
pub(super) fn balance(around: &Around<'_>, answer: &str) -> Balance {
    let (open, _) = closed(around);
    let mut state = around.state.clone();
    // The brackets that the answer has opened, and how many of those at the cursor it has closed.
    let (mut own, mut count, mut replaced) = (Vec::new(), 0_usize, 0_usize);
    // Those that it has closed although they are closed below.
    let mut doubled: Vec<u8> = Vec::new();
    let mut last_good = Balance { cut: Some(0), replaced: 0 };
    for mark in state.scan(around.lexis, answer) {
        if mark.is_open {
            // As in `} else {`, what is opened again takes the place of what was closed.
            if own.is_empty() && doubled.last() == Some(&mark.kind) {
                doubled.pop();
                count = count.saturating_sub(1);
            } else {
                own.push(mark.kind);
            }
            continue;
        }
        if mark.is_implied || own.last() == Some(&mark.kind) {
            own.pop_if(|kind| *kind == mark.kind);
            continue;
        }
        if !own.is_empty() {
            // A bracket of another kind than the one that is open: the parser will tell.
            continue;
        }
        let at_mark = Balance { cut: Some(mark.start), replaced };
        if doubled.is_empty() {
            last_good = at_mark;
        }
        match open.get(count) {
            // The bracket that is open is not the one that is closed, and nobody knows which of them is wrong.
            Some((kind, Closed::Not)) if *kind != mark.kind => return Balance { cut: None, replaced },
            Some((kind, _)) if *kind != mark.kind => doubled.push(mark.kind),
            Some((_, Closed::Not)) => count += 1,
            Some((_, Closed::InRest(from, to))) if is_only_closers(around.rest.get(replaced..*from)) => {
                replaced = *to;
                count += 1;
            }
            Some(_) => {
                doubled.push(mark.kind);
                count += 1;
            }
            None if around.is_from_begin => doubled.push(mark.kind),
            None => {}
        }
    }
    if let Some(cut) = closed_before_its_block(around, answer).filter(|_| doubled.is_empty()) {
        return Balance { cut: Some(cut), replaced };
    }
    if doubled.is_empty() {
        Balance { cut: None, replaced: with_separator(around, answer, replaced) }
    } else {
        last_good
    }
}

/// Where the answer closes at its end what it opened itself, although the block and its closing bracket are below the
/// cursor already.
fn closed_before_its_block(around: &Around<'_>, answer: &str) -> Option<usize> {
    let text = answer.trim_end_matches(|c: char| c.is_whitespace() || c == ';');
    let last = around.state.clone().scan(around.lexis, text).last().copied()?;
    let is_last = !last.is_open && last.end == text.len() && last.kind == b'{' && !text.contains('\n');
    let spare = closed(around).1.filter(|_| is_last)?;
    (spare.kind == last.kind && spare.indent == Some(indent::width(around.line))).then_some(last.start)
}

/// The brackets and quotes that are open at the cursor, innermost first, and if they are closed behind it; and a
/// bracket there that closes none of them, but perhaps one that is still to be opened.
fn closed(around: &Around<'_>) -> (Vec<(u8, Closed)>, Option<Closing>) {
    let mut closing = around.closing.iter().peekable();
    let mut spare = None;
    let mut told = Vec::new();
    for (at, open) in around.open.iter().rev().enumerate() {
        let is_deep = |close: &&Closing| {
            close.kind == b'{' && close.is_first && close.indent.is_some_and(|indent| indent > open.indent)
        };
        while let Some(close) = closing.next_if(|close| is_deep(close)) {
            spare = spare.or(Some(*close));
        }
        let Some(close) = closing.peek().copied() else {
            // Only blocks are closed that far away.
            let is_block = open.kind == b'{' && !open.is_on_line;
            told.push((open.kind, if is_block && !around.is_to_end { Closed::Below } else { Closed::Not }));
            continue;
        };
        // A line that stands less deep than the one with the bracket closes another one, if there is one for it.
        let is_outer = |indent: usize| {
            let mut outer = around.open.iter().rev().skip(at + 1);
            indent < open.indent && outer.any(|outer| outer.kind == close.kind && outer.indent <= indent)
        };
        if close.kind != open.kind || close.indent.is_some_and(is_outer) {
            told.push((open.kind, Closed::Not));
            continue;
        }
        let is_bracket = scan::closer(open.kind).is_some();
        told.push((
            open.kind,
            match close.end <= around.rest.len() {
                true => Closed::InRest(close.start, close.end),
                // The apparent end of a string may be the beginning of the next one.
                false => {
                    if is_bracket {
                        Closed::Below
                    } else {
                        Closed::Not
                    }
                }
            },
        ));
        closing.next();
    }
    (told, spare.or(closing.next().copied()).filter(|_| around.is_from_begin))
}

/// True if the innermost bracket that is open at the cursor is closed behind it.
pub(super) fn is_closed(around: &Around<'_>) -> bool {
    closed(around).0.first().is_some_and(|(_, closed)| *closed != Closed::Not)
}

/// The text that closes what is open at the cursor and not closed behind it, but for a string.
pub(super) fn unclosed(around: &Around<'_>) -> String {
    let is_open = |(kind, closed): &(u8, Closed)| *closed == Closed::Not && scan::closer(*kind).is_some();
    closed(around).0.into_iter().filter(is_open).filter_map(|(kind, _)| scan::closer(kind)).collect()
}

/// The length of what is replaced, with what separates it from the next, if the answer ends so too.
fn with_separator(around: &Around<'_>, answer: &str, replaced: usize) -> usize {
    let left = around.rest.get(replaced..).unwrap_or_default();
    let separator = left.trim();
    let is_separator = !separator.is_empty() && separator.chars().all(|c| ";,:".contains(c));
    if replaced > 0 && is_separator && answer.trim_end().ends_with(separator) { around.rest.len() } else { replaced }
}

fn is_only_closers(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.trim().chars().all(|c| ";,".contains(c)))
}
