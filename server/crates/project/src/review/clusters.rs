//! The hunks that a further change of the same text touches.

use std::ops::Range;

use super::hunk::Hunk;
use super::lines::{self, Block};

/// Hunks and changed blocks of the proposed text that belong together.
pub(super) struct Cluster {
    /// The lines of the proposed text.
    pub(super) place: Range<usize>,
    /// Where its last block ends.
    changed_to: Option<usize>,
    pub(super) hunks: Vec<Hunk>,
    pub(super) blocks: Vec<Block>,
}

/// Puts each block together with the hunks it touches or adjoins. Hunks alone stay alone. All in order.
pub(super) fn clusters(pending: Vec<Hunk>, blocks: Vec<Block>) -> Vec<Cluster> {
    let (mut added, mut removed) = (0, 0);
    let mut items: Vec<Cluster> = Vec::new();
    for hunk in pending {
        let start = hunk.place.start + added - removed;
        let length = lines::count(&hunk.new);
        added += length;
        removed += hunk.place.len();
        items.push(Cluster { place: start..start + length, changed_to: None, hunks: vec![hunk], blocks: Vec::new() });
    }
    for block in blocks {
        let place = block.old.clone();
        items.push(Cluster { changed_to: Some(place.end), place, hunks: Vec::new(), blocks: vec![block] });
    }
    items.sort_by_key(|item| (item.place.start, item.place.end));
    let mut clusters: Vec<Cluster> = Vec::new();
    for item in items {
        let is_block = item.changed_to.is_some();
        match clusters.last_mut() {
            Some(last)
                if (is_block && item.place.start <= last.place.end)
                    || last.changed_to.is_some_and(|end| item.place.start <= end) =>
            {
                last.place.end = last.place.end.max(item.place.end);
                last.changed_to = last.changed_to.max(item.changed_to);
                last.hunks.extend(item.hunks);
                last.blocks.extend(item.blocks);
            }
            _ => clusters.push(item),
        }
    }
    clusters
}
