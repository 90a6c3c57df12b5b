//! Positions in a document, as bytes of its normal text.

use std::borrow::Cow;
use std::ops::Range;

use inline::splice::between;
use project::buffers::Snapshot;
use project::text::{LineIndex, PositionEncoding};
use protocol::content::{self, Position};

/// The byte at a position; none if there is no such line.
pub(super) fn offset(document: &Snapshot, position: Position, encoding: PositionEncoding) -> Option<usize> {
    lines(document).offset(document.normal(), position, encoding)
}

/// A range of bytes as positions.
pub(super) fn range(document: &Snapshot, range: Range<usize>, encoding: PositionEncoding) -> content::Range {
    let lines = lines(document);
    let at = |offset| lines.position(document.normal(), offset, encoding);
    content::Range { start: at(range.start), end: at(range.end) }
}

/// Where the lines of the normal text begin.
pub(super) fn lines(document: &Snapshot) -> Cow<'_, LineIndex> {
    match document.normal().len() == document.text.len() {
        true => Cow::Borrowed(document.lines()),
        // Lines are the same in both, but for their ends and a byte order mark, which editors do not count.
        false => Cow::Owned(LineIndex::new(document.normal())),
    }
}

/// An offset of a text in the text that it has become.
pub(super) fn moved(offset: usize, then: &str, now: &str) -> usize {
    match between(then, now) {
        Some(change) if change.range.end <= offset => change.moved(offset),
        _ => offset,
    }
}
