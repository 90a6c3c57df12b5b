//! The lines that a change of a document replaced, as the editor said it. A comparison of the texts could only guess
//! them: of two equal lines one of which was deleted, it cannot tell which.

use std::ops::Range;

/// Lines that changed: `old` in the text before became `new` in the one after. Line numbers from 0, ends exclusive; the
/// empty line that editors count after a final line end is counted too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
    /// True if the lines were replaced by others in one go, so that some may have come back among them. Otherwise none
    /// of the new lines is one of the old.
    pub(crate) rewritten: bool,
}

/// One change of a text.
pub(super) struct Edit<'a> {
    /// The first line and the last one that it has part in.
    pub(super) lines: (usize, usize),
    /// True if it begins, and if it ends, at the beginning of a line.
    pub(super) at_begin: (bool, bool),
    /// True if it begins, and if it ends, just before a line end.
    pub(super) at_end: (bool, bool),
    /// True if it takes nothing away.
    pub(super) inserts: bool,
    pub(super) text: &'a str,
}

impl Edit<'_> {
    /// The lines that it changes, no more of them than it must.
    pub(super) fn moved(&self) -> Move {
        let (first, last) = self.lines;
        let breaks = self.text.matches('\n').count();
        let rewritten = !self.inserts && !self.text.is_empty();
        let whole_above = self.at_begin == (true, true) && (self.text.is_empty() || self.text.ends_with('\n'));
        let whole_below = self.at_end == (true, true) && (self.text.is_empty() || self.text.starts_with('\n'));
        let (old, added) = match (whole_above, whole_below) {
            (true, false) => (first..last, breaks),
            (false, true) => (first + 1..last + 1, breaks),
            // Within lines; or between two empty ones, of which nobody can say which one it is.
            (false, false) | (true, true) => (first..last + 1, breaks + 1),
        };
        Move { new: old.start..old.start + added, old, rewritten }
    }
}

/// Adds a further change to the changes since an earlier text. They stay sorted, and apart by at least a line.
pub(super) fn add(moves: &mut Vec<Move>, next: Move) {
    let first = moves.partition_point(|earlier| earlier.new.end < next.old.start);
    let behind = first + moves.iter().skip(first).take_while(|earlier| earlier.new.start <= next.old.end).count();
    let back = |line: usize, count: usize| match count.checked_sub(1).and_then(|last| moves.get(last)) {
        Some(earlier) => line + earlier.old.end - earlier.new.end,
        None => line,
    };
    let joined = moves.get(first..behind).unwrap_or_default();
    let mut sum = Move {
        old: back(next.old.start, first)..0,
        new: next.new.start..next.new.end,
        rewritten: next.rewritten && joined.is_empty(),
    };
    if let Some(top) = joined.first().filter(|top| top.new.start <= next.old.start) {
        (sum.old.start, sum.new.start) = (top.old.start, top.new.start);
    }
    match joined.last() {
        Some(bottom) if bottom.new.end > next.old.end => {
            sum.old.end = bottom.old.end;
            sum.new.end = bottom.new.end - next.old.end + next.new.end;
        }
        _ => sum.old.end = back(next.old.end, behind),
    }
    moves.splice(first..behind, [sum]);
    for later in moves.iter_mut().skip(first + 1) {
        later.new.start = later.new.start - next.old.len() + next.new.len();
        later.new.end = later.new.end - next.old.len() + next.new.len();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(old: Range<usize>, new: Range<usize>) -> Move {
        Move { old, new, rewritten: false }
    }

    #[test]
    fn a_change_takes_the_place_of_no_more_lines_than_it_must() {
        let edit = |lines, at_begin, at_end, text| Edit { lines, at_begin, at_end, inserts: false, text }.moved();
        let no = (false, false);
        assert_eq!(edit((0, 3), (true, true), no, ""), of(0..3, 0..0), "lines deleted from begin to begin");
        assert_eq!(edit((0, 3), no, (true, true), ""), of(1..4, 1..1), "and from end to end");
        assert_eq!(edit((2, 2), (true, true), no, "x\n").new, 2..3, "a line put above another");
        assert_eq!(edit((2, 2), no, (true, true), "\nx").old, 3..3, "and one below it");
        assert_eq!(edit((0, 3), no, no, ""), of(0..4, 0..1), "from the middle of one line to that of another");
        assert!(edit((0, 3), (true, true), no, "a\nb\n").rewritten);
    }

    proptest! {
        /// Each line has a name of its own, so that it is known where every one came from.
        #[test]
        fn many_changes_are_known_as_one(changes in prop::collection::vec((0usize..12, 0usize..4, 0usize..4), 0..8)) {
            let before: Vec<usize> = (0..10).collect();
            let mut after = before.clone();
            let mut moves = Vec::new();
            for (number, (start, removed, added)) in changes.into_iter().enumerate() {
                let start = start.min(after.len());
                let end = (start + removed).min(after.len());
                after.splice(start..end, (0..added).map(|n| 100 * (number + 1) + n));
                add(&mut moves, of(start..end, start..start + added));
                let (mut old_at, mut new_at) = (0, 0);
                for moved in moves.iter().cloned().chain([of(10..10, after.len()..after.len())]) {
                    prop_assert_eq!(&before[old_at..moved.old.start], &after[new_at..moved.new.start]);
                    prop_assert!(after[moved.new.clone()].iter().all(|line| *line >= 100 || moved.old.contains(line)));
                    (old_at, new_at) = (moved.old.end, moved.new.end);
                }
            }
        }
    }
}
