//! The applications of a file that are on their way: a chain from the document as it is to the text as it will be.
//!
//! Each was made on the assumption that those before it succeed. They arrive from the front; where one fails, it and
//! those after it are taken out from the back.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use protocol::HunkId;

use super::document::Document;
use super::lines::{self, Block, Lines};

/// The applications on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights {
    /// Those that have not been seen in the document, in order.
    unseen: VecDeque<Flight>,
    /// Those of which no outcome is known, seen or not.
    awaited: Vec<Vec<HunkId>>,
}

/// An application on its way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    /// Its hunks, from top to bottom.
    pub(super) ids: Vec<HunkId>,
    /// Where each hunk was, by the hunk.
    places: HashMap<HunkId, Range<usize>>,
    pub(super) before: Document,
    pub(super) after: Document,
    /// The way from after to before.
    pub(super) back: Vec<Block>,
}

impl Flight {
    /// Where a hunk of it was before.
    pub(super) fn place_before(&self, hunk: &HunkId) -> Option<&Range<usize>> {
        self.places.get(hunk)
    }
}

impl Flights {
    /// Sends off hunks, each with where it was and is.
    pub(super) fn send(&mut self, hunks: Vec<(HunkId, Block)>, before: Document, after: Document) {
        let back = hunks.iter().map(|(_, block)| block.reversed()).collect();
        self.start(hunks, back, before, after);
    }

    /// Sends off changes that have no hunks here: a formatter's, which have none at all, or those of the file's other
    /// proposal.
    pub(super) fn send_blocks(&mut self, ids: Vec<HunkId>, blocks: &[Block], before: Document, after: Document) {
        let (back, places) = (blocks.iter().map(Block::reversed).collect(), HashMap::new());
        self.awaited.push(ids.clone());
        self.unseen.push_back(Flight { ids, places, before, after, back });
    }

    fn start(&mut self, hunks: Vec<(HunkId, Block)>, back: Vec<Block>, before: Document, after: Document) {
        let ids: Vec<HunkId> = hunks.iter().map(|(id, _)| id.clone()).collect();
        let places = hunks.into_iter().map(|(id, block)| (id, block.old)).collect();
        self.awaited.push(ids.clone());
        self.unseen.push_back(Flight { ids, places, before, after, back });
    }

    /// True if the document has all that was seen off.
    pub(super) fn is_empty(&self) -> bool {
        self.unseen.is_empty()
    }

    /// True if the outcome of one is not known.
    pub(super) fn is_awaited(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// The outcome of these hunks is known. Gives the number of their application if it has not been seen. The same
    /// hunks may have been accepted again after the document moved on, which the text before tells.
    pub(super) fn ended(&mut self, ids: &[HunkId], before: Option<&str>) -> Option<usize> {
        if let Some(at) = self.awaited.iter().position(|awaited| awaited == ids) {
            self.awaited.remove(at);
        }
        self.unseen.iter().position(|flight| flight.ids == ids && flight.before.is(before))
    }

    /// The number of the application that made a text.
    pub(super) fn made(&self, text: Option<&str>) -> Option<usize> {
        self.unseen.iter().position(|flight| flight.after.is(text))
    }

    /// True if a text may be a step on the way to the first application: all that it leaves alone is there, in order.
    /// Editors tell one edit in one message or in many.
    pub(super) fn may_become(&self, text: &str) -> bool {
        let Some(flight) = self.unseen.front() else { return false };
        let Some(before) = flight.before.get() else { return true };
        let lines = Lines::new(before);
        let starts = std::iter::once(0).chain(flight.back.iter().map(|block| block.new.end));
        let ends = flight.back.iter().map(|block| block.new.start).chain([usize::MAX]);
        let kept: Vec<&str> = starts.zip(ends).map(|(start, end)| lines.slice(start..end)).collect();
        let [head, between @ .., tail] = kept.as_slice() else { return false };
        let rest = text.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        let after = |rest, run| str::split_once(rest, run).map(|(_, rest)| rest);
        rest.and_then(|rest| between.iter().copied().try_fold(rest, after)).is_some()
    }

    /// How many applications a text seems to hold, by what it takes to get there from each.
    pub(super) fn nearest(&self, document: &Document, text: Option<&str>) -> usize {
        let (Some(text), false) = (text, self.unseen.is_empty()) else { return 0 };
        let steps = std::iter::once(document).chain(self.unseen.iter().map(|flight| &flight.after));
        let distance = |step: &Document| match step.get() {
            Some(step) => lines::changes(step, text).iter().map(Block::size).sum(),
            None => usize::MAX,
        };
        steps.enumerate().min_by_key(|(_, step)| distance(step)).map_or(0, |(landed, _)| landed)
    }

    /// The first `count` have arrived. Gives the document after them, if there were any.
    pub(super) fn landed(&mut self, count: usize) -> Option<Document> {
        self.unseen.drain(..count.min(self.unseen.len())).next_back().map(|flight| flight.after)
    }

    /// Takes the last one out, unless its number is below `from`.
    pub(super) fn take_back(&mut self, from: usize) -> Option<Flight> {
        if self.unseen.len() > from { self.unseen.pop_back() } else { None }
    }

    /// All hunks that have not been seen in the document.
    pub(super) fn hunks(&self) -> HashSet<HunkId> {
        self.unseen.iter().flat_map(|flight| flight.ids.iter().cloned()).collect()
    }

    /// Where a hunk is in the document, which lacks what is on its way. `place` is where it is in the text.
    pub(super) fn place_in_document(&self, hunk: &HunkId, place: &Range<usize>) -> Range<usize> {
        self.unseen.iter().rev().fold(place.clone(), |place, flight| match flight.place_before(hunk) {
            Some(before) => before.clone(),
            None => lines::follow(&place, &flight.back).place,
        })
    }
}
