//! The choice among several places of a hunk.

/// The lines of a hunk, and where they stand in the file.
pub(super) struct Block {
    /// The lines of the file at which they begin, from 0, ascending. Not empty.
    pub(super) starts: Vec<usize>,
    /// How many lines there are.
    pub(super) len: usize,
    /// How many of them stay before the first change.
    pub(super) leading: usize,
    /// How many of them stay after the last change.
    pub(super) trailing: usize,
    /// Where it begins by its numbers.
    pub(super) hint: Option<usize>,
}

/// The place of each block, in the order of the patch; none if it is not certain.
///
/// A block that stands in one place is there. Of one that stands in several, those count where all blocks of the patch
/// come in order (a greedy walk from each end finds the first and the last of them, so this is exact). If several are
/// left and the numbers of the nearest certain blocks above and below are off by the same amount, the place counts that
/// is off by that amount too, but only in a text that the patch was written for (`seen`): in another, a line that came
/// and one that went between those blocks would make it the wrong place. Numbers say nothing else, and the nearest
/// place is never taken.
///
/// Takes time in proportion to the number of places.
pub(super) fn resolve(blocks: &[Block], seen: bool) -> Vec<Option<usize>> {
    let (Some(first), Some(last)) = (earliest(blocks), latest(blocks)) else {
        return blocks.iter().map(|block| only(&block.starts)).collect();
    };
    let in_order: Vec<&[usize]> = blocks
        .iter()
        .zip(first.into_iter().zip(last))
        .map(|(block, (first, last))| {
            let from = block.starts.partition_point(|start| *start < first);
            let to = block.starts.partition_point(|start| *start <= last);
            block.starts.get(from..to).unwrap_or_default()
        })
        .collect();
    let drifts: Vec<Option<isize>> =
        blocks.iter().zip(&in_order).map(|(block, starts)| only(starts)?.checked_signed_diff(block.hint?)).collect();
    let certain: Vec<bool> = in_order.iter().map(|starts| starts.len() == 1).collect();
    let above = nearest(certain.iter().zip(&drifts));
    let mut below = nearest(certain.iter().zip(&drifts).rev());
    below.reverse();
    let moved = above.into_iter().zip(below).map(|(above, below)| above.filter(|drift| seen && below == Some(*drift)));
    blocks
        .iter()
        .zip(in_order)
        .zip(moved)
        .map(|((block, starts), drift)| {
            only(starts).or_else(|| {
                let place = block.hint?.checked_add_signed(drift?)?;
                starts.binary_search(&place).is_ok().then_some(place)
            })
        })
        .collect()
}

/// Returns the first two blocks, by their index, that are not apart at these places, which are sorted: two may share
/// lines that stay, but no line that one of them changes.
pub(super) fn overlap(blocks: impl Iterator<Item = (usize, Block)>) -> Option<(usize, usize)> {
    let mut before = Bounds::default();
    let mut last = 0;
    for (index, block) in blocks {
        let start = only(&block.starts)?;
        if start < before.least(&block) {
            return Some((last, index));
        }
        before.add(&block, start);
        last = index;
    }
    None
}

/// The reach of the blocks so far.
#[derive(Default)]
struct Bounds {
    lines: usize,
    changes: usize,
}

impl Bounds {
    /// Where the next block may begin: behind all changes, and with its own changes behind all lines.
    fn least(&self, next: &Block) -> usize {
        self.changes.max(self.lines.saturating_sub(next.leading))
    }

    fn add(&mut self, block: &Block, start: usize) {
        self.lines = self.lines.max(start + block.len);
        self.changes = self.changes.max(start + block.len.saturating_sub(block.trailing));
    }
}

/// The first place of each block if they come in order.
fn earliest(blocks: &[Block]) -> Option<Vec<usize>> {
    let mut before = Bounds::default();
    let place = |block: &Block| {
        let least = before.least(block);
        let start = *block.starts.get(block.starts.partition_point(|start| *start < least))?;
        before.add(block, start);
        Some(start)
    };
    blocks.iter().map(place).collect()
}

/// The last place of each block if they come in order.
fn latest(blocks: &[Block]) -> Option<Vec<usize>> {
    let (mut lines, mut changes) = (usize::MAX, usize::MAX);
    let place = |block: &Block| {
        let most = changes.checked_sub(block.len)?.min(lines.checked_sub(block.len.saturating_sub(block.trailing))?);
        let start = *block.starts.get(block.starts.partition_point(|start| *start <= most).checked_sub(1)?)?;
        lines = lines.min(start);
        changes = changes.min(start + block.leading);
        Some(start)
    };
    let mut places: Vec<usize> = blocks.iter().rev().map(place).collect::<Option<_>>()?;
    places.reverse();
    Some(places)
}

/// For each block the drift of the nearest certain one before it, none if that has no numbers.
fn nearest<'a>(blocks: impl Iterator<Item = (&'a bool, &'a Option<isize>)>) -> Vec<Option<isize>> {
    let mut last = None;
    let before = |(certain, drift): (&bool, &Option<isize>)| {
        let before = last;
        last = if *certain { *drift } else { last };
        before
    };
    blocks.map(before).collect()
}

fn only(starts: &[usize]) -> Option<usize> {
    match starts {
        [start] => Some(*start),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of three lines, of which the one in the middle changes.
    fn blocks(starts: &[(&[usize], Option<usize>)]) -> Vec<Block> {
        let block = |&(starts, hint): &(&[usize], Option<usize>)| Block {
            starts: starts.to_vec(),
            len: 3,
            leading: 1,
            trailing: 1,
            hint,
        };
        starts.iter().map(block).collect()
    }

    fn places(starts: &[&[usize]]) -> Vec<Option<usize>> {
        resolve(&blocks(&starts.iter().map(|starts| (*starts, None)).collect::<Vec<_>>()), true)
    }

    #[test]
    fn a_block_in_one_place_is_there_even_out_of_order() {
        assert_eq!(places(&[&[20], &[10]]), [Some(20), Some(10)]);
    }

    #[test]
    fn a_block_between_two_others_is_the_one_between_them() {
        assert_eq!(places(&[&[10], &[5, 15, 30], &[20]]), [Some(10), Some(15), Some(20)]);
        assert_eq!(places(&[&[10], &[5, 15, 17, 30], &[20]]), [Some(10), None, Some(20)], "two are between");
    }

    #[test]
    fn as_many_equal_blocks_as_places_are_each_in_its_own() {
        assert_eq!(places(&[&[5, 15], &[5, 15]]), [Some(5), Some(15)]);
        assert_eq!(places(&[&[5, 15, 25], &[5, 15, 25]]), [None, None]);
    }

    #[test]
    fn an_order_that_does_not_hold_says_nothing() {
        assert_eq!(places(&[&[20], &[10], &[5, 30]]), [Some(20), Some(10), None]);
    }

    #[test]
    fn equal_drift_above_and_below_tells_the_place_between() {
        let blocks = |above, below| blocks(&[(&[10], above), (&[20, 30, 40], Some(27)), (&[50], below)]);
        let with = |above, below| resolve(&blocks(above, below), true).get(1).copied().flatten();
        assert_eq!(with(Some(7), Some(47)), Some(30));
        assert_eq!(with(Some(7), Some(48)), None, "lines came or went between them");
        assert_eq!(with(Some(7), None), None);
        assert_eq!(with(Some(8), Some(48)), None, "there is no such place");
        assert_eq!(
            resolve(&blocks(Some(7), Some(47)), false)[1],
            None,
            "a line may have come and one gone between them"
        );
    }

    #[test]
    fn blocks_may_share_lines_that_stay_but_none_that_changes() {
        assert_eq!(places(&[&[10], &[12, 20], &[14]]), [Some(10), Some(12), Some(14)]);
        let overlap = |second: usize| overlap(blocks(&[(&[10], None), (&[second], None)]).into_iter().enumerate());
        assert_eq!((overlap(12), overlap(11), overlap(10)), (None, Some((0, 1)), Some((0, 1))));
    }
}
