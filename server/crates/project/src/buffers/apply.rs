//! The text that the changes of one message make of a document.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use protocol::content::{Position, Range as PositionRange};

use super::Change;
use super::moves::{self, Edit, Move};
use crate::text::{LineIndex, PositionEncoding};

/// Changes in no order are applied one after the other, each of which moves all text behind it. Where that would be
/// more bytes than this, the document is given up until the editor sends the whole of it.
const MOST_MOVED: usize = 1 << 30;
/// Below as many bytes to move, the order of changes is not looked at.
const FEW_MOVED: usize = 1 << 20;

/// A text after changes.
pub(super) struct Applied {
    pub(super) text: Arc<str>,
    pub(super) lines: LineIndex,
    /// The changes, sorted; none if the text was sent as a whole.
    pub(super) moves: Option<Vec<Move>>,
}

/// Applies changes, each on the text that the one before it left.
///
/// Changes from the bottom of a text to its top, or from the top to the bottom, which is how editors send those of many
/// cursors, are applied in one pass.
///
/// # Errors
/// Words about a change that does not fit, or about too many of them.
pub(super) fn apply(
    text: &str,
    lines: &LineIndex,
    changes: &[Change],
    encoding: PositionEncoding,
) -> Result<Applied, String> {
    let whole = changes.iter().rposition(|change| change.range.is_none());
    let Some(last) = whole.and_then(|at| changes.get(at)) else { return apply_parts(text, lines, changes, encoding) };
    // Changes before the whole text was sent are gone with the text they were in.
    let rest = whole.and_then(|at| changes.get(at + 1..)).unwrap_or_default();
    let applied = apply_parts(&last.text, &LineIndex::new(&last.text), rest, encoding)?;
    Ok(Applied { moves: None, ..applied })
}

/// Applies changes of parts.
fn apply_parts(
    text: &str,
    lines: &LineIndex,
    changes: &[Change],
    encoding: PositionEncoding,
) -> Result<Applied, String> {
    let base = Base { text, lines, encoding };
    let moved = changes.len().saturating_mul(text.len());
    if changes.len() > 1 && moved > FEW_MOVED {
        if let Some(applied) = base.upwards(changes).or_else(|| base.downwards(changes)) {
            return Ok(applied);
        }
        if moved > MOST_MOVED {
            return Err(format!("{} changes in no order are too many for {} bytes", changes.len(), text.len()));
        }
    }
    let mut moves = Vec::new();
    let (mut text, mut lines) = (Cow::Borrowed(text), lines.clone());
    for change in changes {
        let Some(range) = change.range else { continue };
        let base = Base { text: &text, lines: &lines, encoding };
        let bytes = base.bytes(range)?;
        let first = lines.line_of(bytes.start);
        let edit = base.edit(bytes.clone(), (first, lines.line_of(bytes.end)), &change.text);
        moves::add(&mut moves, edit.moved());
        let (Some(before), Some(after)) = (text.get(..bytes.start), text.get(bytes.end..)) else {
            return Err("a range begins or ends within a character".to_owned());
        };
        let new = [before, &change.text, after].concat();
        lines.replace(bytes, &change.text);
        text = Cow::Owned(new);
    }
    Ok(Applied { text: text.into(), lines, moves: Some(moves) })
}

/// The text before.
#[derive(Clone, Copy)]
struct Base<'t> {
    text: &'t str,
    lines: &'t LineIndex,
    encoding: PositionEncoding,
}

impl Base<'_> {
    fn bytes(self, range: PositionRange) -> Result<Range<usize>, String> {
        let offset = |position: Position| {
            self.lines.offset(self.text, position, self.encoding).ok_or_else(|| {
                let lines = self.lines.lines();
                format!("position {}:{} is not in its {lines} lines", position.line, position.character)
            })
        };
        let (start, end) = (offset(range.start)?, offset(range.end)?);
        if start > end {
            return Err("a range ends before it begins".to_owned());
        }
        Ok(start..end)
    }

    /// The byte of a position that names it as it is: not one past the end of its line.
    fn exactly(self, position: Position) -> Option<usize> {
        let offset = self.lines.offset(self.text, position, self.encoding)?;
        (self.lines.position(self.text, offset, self.encoding) == position).then_some(offset)
    }

    fn edit(self, bytes: Range<usize>, lines: (usize, usize), text: &str) -> Edit<'_> {
        let at_begin = |at: usize| at == 0 || self.text.as_bytes().get(at - 1) == Some(&b'\n');
        let at_end = |at: usize| {
            let rest = self.text.get(at..).unwrap_or_default();
            rest.starts_with('\n') || rest.starts_with("\r\n")
        };
        Edit {
            lines,
            at_begin: (at_begin(bytes.start), at_begin(bytes.end)),
            at_end: (at_end(bytes.start), at_end(bytes.end)),
            inserts: bytes.is_empty(),
            text,
        }
    }

    /// Applies changes that go from the bottom to the top; none if they do not. Each is where it would be in the text
    /// before, since all that changed is below it.
    fn upwards(self, changes: &[Change]) -> Option<Applied> {
        let mut moves = Vec::new();
        let mut pieces: Vec<&str> = Vec::new();
        let mut done = self.text.len();
        for change in changes {
            let range = change.range?;
            let (start, end) = (self.exactly(range.start)?, self.exactly(range.end)?);
            if start > end || end > done {
                return None;
            }
            pieces.extend([self.text.get(end..done)?, &change.text]);
            done = start;
            let lines = (self.lines.line_of(start), self.lines.line_of(end));
            moves::add(&mut moves, self.edit(start..end, lines, &change.text).moved());
        }
        pieces.push(self.text.get(..done)?);
        pieces.reverse();
        let text = pieces.concat();
        Some(Applied { lines: LineIndex::new(&text), text: text.into(), moves: Some(moves) })
    }

    /// Applies changes that go from the top to the bottom; none if they do not. Their positions count what was changed
    /// above them.
    fn downwards(self, changes: &[Change]) -> Option<Applied> {
        let mut moves = Vec::new();
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        // The last line of `out`: its number, and where it begins.
        let (mut line, mut begin) = (0, 0);
        for change in changes {
            let range = change.range?;
            let above = out.get(begin..)?;
            let above = LineIndex::new(above).position(above, above.len(), self.encoding).character;
            let from = self.lines.position(self.text, done, self.encoding);
            let before = |position: Position| {
                let further = usize::try_from(position.line).ok()?.checked_sub(line)?;
                self.exactly(match further {
                    0 => Position {
                        line: from.line,
                        character: from.character.checked_add(position.character.checked_sub(above)?)?,
                    },
                    _ => Position { line: from.line.checked_add(u32::try_from(further).ok()?)?, ..position },
                })
            };
            let (start, end) = (before(range.start)?, before(range.end)?);
            if start > end || start < done {
                return None;
            }
            let lines = (usize::try_from(range.start.line).ok()?, usize::try_from(range.end.line).ok()?);
            moves::add(&mut moves, self.edit(start..end, lines, &change.text).moved());
            let added = out.len();
            out.push_str(self.text.get(done..start)?);
            out.push_str(&change.text);
            done = end;
            let new = out.get(added..)?;
            line += new.matches('\n').count();
            begin = new.rfind('\n').map_or(begin, |at| added + at + 1);
        }
        out.push_str(self.text.get(done..)?);
        Some(Applied { lines: LineIndex::new(&out), text: out.into(), moves: Some(moves) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use spent::Spent;

    use super::*;

    fn change(start: (u32, u32), end: (u32, u32), text: &str) -> Change {
        let at = |(line, character)| Position { line, character };
        Change { range: Some(PositionRange { start: at(start), end: at(end) }), text: text.to_owned() }
    }

    #[test]
    fn many_cursors_in_a_large_document_are_one_pass() {
        let text = "0123456 a line of some length\n".repeat(500_000);
        let lines = LineIndex::new(&text);
        let at = |line: u32| change((line, 3), (line, 5), "++");
        let down: Vec<Change> = (0..2000).map(|n| at(n * 200)).collect();
        let up: Vec<Change> = down.iter().rev().cloned().collect();
        let start = Spent::start();
        let one = apply(&text, &lines, &down, PositionEncoding::Utf16).unwrap();
        let other = apply(&text, &lines, &up, PositionEncoding::Utf16).unwrap();
        // The aim is a tenth of it.
        assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
        assert!(one.text == other.text && one.lines == other.lines && one.moves == other.moves);
        assert_eq!(one.text.matches("012++56").count(), 2000);

        let mixed: Vec<Change> = up.iter().take(1000).chain(&down).cloned().collect();
        let refused = apply(&text, &lines, &mixed, PositionEncoding::Utf16).err().unwrap();
        assert_eq!(refused, "3000 changes in no order are too many for 15000000 bytes");
    }

    proptest! {
        #[test]
        fn one_pass_is_the_same_as_one_after_the_other(
            text in "[ab\u{1F600}\r\n]{0,24}", encoding in prop::sample::select(vec![PositionEncoding::Utf8, PositionEncoding::Utf16]),
            edits in prop::collection::vec((0u32..6, 0u32..5, 0u32..2, 0u32..4, "[xy\n]{0,3}"), 1..5),
        ) {
            let lines = LineIndex::new(&text);
            let changes: Vec<Change> = edits.iter().map(|(line, character, down, right, text)| {
                let end = if *down == 0 { character + right } else { *right };
                change((*line, *character), (line + down, end), text)
            }).collect();
            let base = Base { text: &text, lines: &lines, encoding };
            for one_pass in [base.upwards(&changes), base.downwards(&changes)].into_iter().flatten() {
                let one_by_one = apply_parts(&text, &lines, &changes, encoding).unwrap();
                prop_assert_eq!(&one_pass.text, &one_by_one.text);
                prop_assert_eq!(one_pass.lines, one_by_one.lines);
            }
        }
    }
}
