//! The hunks that a change of a text turns the other way: undo and redo in an editor, or a user who made a change as it
//! was proposed.

use std::collections::HashMap;

use protocol::HunkId;
use protocol::review::HunkState;

use super::hunk::{Hunk, Kind};
use super::lines::{self, Block, Lines};

/// Hunks whose turning the other way makes one text of another.
#[derive(Clone, Debug)]
pub(super) struct Turning {
    /// The hunks, from top to bottom.
    pub(super) ids: Vec<HunkId>,
    /// The change of each.
    pub(super) blocks: Vec<Block>,
}

impl Turning {
    /// True if one of its hunks waits for the user's decision, which no change of other lines is.
    pub(super) fn is_undecided(&self, hunks: &[Hunk]) -> bool {
        let waits = |hunk: &&Hunk| matches!(hunk.state, HunkState::Pending | HunkState::Conflicted);
        hunks.iter().filter(waits).any(|hunk| self.ids.contains(&hunk.id))
    }
}

/// Returns the hunks, accepted together or single, whose turning the other way makes exactly the text `wanted` of
/// `text`: those accepted last first, then each one alone. So undo and redo in the editor are known for what they are
/// even where a comparison of the lines could see it otherwise. Of hunks on equal lines the text does not tell which
/// one it was, and so there may be several.
pub(super) fn turnings(text: &str, wanted: &str, hunks: &[Hunk], groups: &[Vec<HunkId>]) -> Vec<Turning> {
    let lines = Lines::new(text);
    let common = Common::of(text, wanted);
    let by_id: HashMap<&HunkId, &Hunk> = hunks.iter().map(|hunk| (&hunk.id, hunk)).collect();
    let groups = groups.iter().rev().filter_map(|group| {
        let hunks: Option<Vec<&Hunk>> = group.iter().map(|id| by_id.get(id).copied()).collect();
        let mut hunks = hunks?;
        hunks.sort_by_key(|hunk| (hunk.place.start, hunk.place.end));
        Some(hunks)
    });
    let singles = hunks.iter().map(|hunk| vec![hunk]);
    let makes_it = |hunks: &Vec<&Hunk>| {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else { return false };
        // Nearly always the lengths tell, or where the texts differ, and at no cost.
        let less: usize = hunks.iter().map(|hunk| hunk.held().len()).sum();
        let more: usize = hunks.iter().map(|hunk| hunk.other().len()).sum();
        if text.len() + more != wanted.len() + less
            || lines.byte(first.place.start) > common.head
            || text.len() - lines.byte(last.place.end) > common.tail
        {
            return false;
        }
        let uniform = hunks.iter().all(|hunk| {
            hunk.kind == Kind::Lines
                && hunk.lost.is_none()
                && hunk.turned().is_some()
                && hunk.is_in_text() == first.is_in_text()
        });
        uniform
            && hunks.is_sorted_by(|a, b| a.place.end <= b.place.start)
            && lines.replaced(hunks.iter().map(|hunk| (hunk.place.clone(), hunk.other()))) == wanted
    };
    groups.chain(singles).filter(makes_it).map(|hunks| turning(&hunks)).collect()
}

fn turning(hunks: &[&Hunk]) -> Turning {
    let (mut added, mut removed) = (0, 0);
    let blocks = hunks.iter().map(|hunk| {
        let start = hunk.place.start + added - removed;
        let block = Block { old: hunk.place.clone(), new: start..start + lines::count(hunk.other()) };
        added += block.new.len();
        removed += block.old.len();
        block
    });
    Turning { blocks: blocks.collect(), ids: hunks.iter().map(|hunk| hunk.id.clone()).collect() }
}

/// How many bytes two texts have in common at the begin and at the end.
struct Common {
    head: usize,
    tail: usize,
}

impl Common {
    fn of(a: &str, b: &str) -> Self {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let head = a.iter().zip(b).take_while(|(a, b)| a == b).count();
        let tail = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
        Self { head, tail }
    }
}
