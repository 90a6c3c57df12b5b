//! A hunk, where it stands, and how it is found again.

use std::ops::Range;
use std::sync::Arc;

use protocol::review::HunkState;
use protocol::{HunkId, ToolCallId};

use super::anchor::Around;
use super::document::Document;
use super::lines::{self, Block, Lines};

/// A region of lost text that was pieced together is given up when it has more bytes than this; what one change took
/// away at once is kept whatever its size, since hunks share it.
const LONGEST_REGION: usize = 64 << 10;

/// A piece of a proposal that is decided as one.
#[derive(Clone, Debug)]
pub(super) struct Hunk {
    pub(super) id: HunkId,
    pub(super) calls: Vec<ToolCallId>,
    pub(super) kind: Kind,
    /// The lines of the proposal's text where this hunk is: what it replaces, or once it is in the text, what it put
    /// there. For a hunk that is lost, about where it was.
    pub(super) place: Range<usize>,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) state: HunkState,
    /// Set while the text at its place is not the one it expects there.
    pub(super) lost: Option<Lost>,
    /// True if the proposal's revision counts it as in conflict.
    pub(super) counted_conflicted: bool,
    /// The state that the model believes it is in.
    pub(super) told: HunkState,
    /// The user's message with the decision.
    pub(super) message: Option<String>,
    /// The user's earlier comments on it, the oldest first.
    pub(super) comments: Vec<String>,
    /// How many of those the model has been told.
    pub(super) told_comments: usize,
}

/// The kind of a hunk's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It replaces lines.
    Lines,
    /// It makes the file.
    Create,
    /// It deletes the file.
    Delete,
}

/// The author of a change of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// We made it: hunks were put into the text or taken out of it.
    Us,
    /// The user or another program made it.
    Others,
}

impl Hunk {
    /// True if the proposal's text holds the hunk's new text, rather than its old one.
    pub(super) fn is_in_text(&self) -> bool {
        matches!(self.state, HunkState::Applying | HunkState::Accepted | HunkState::Unverified)
    }

    /// True if something may still come of it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, HunkState::Pending | HunkState::Conflicted | HunkState::Applying)
    }

    /// True if it deletes the file, and that is not made yet.
    pub(super) fn is_going(&self) -> bool {
        self.kind == Kind::Delete && matches!(self.state, HunkState::Pending | HunkState::Applying)
    }

    /// The text that should be at its place.
    pub(super) fn held(&self) -> &str {
        if self.is_in_text() { &self.new } else { &self.old }
    }

    /// The text that would be at its place if it stood the other way.
    pub(super) fn other(&self) -> &str {
        if self.is_in_text() { &self.old } else { &self.new }
    }

    /// Returns its status after somebody else than we turned its text the other way; none if that changes nothing.
    pub(super) fn turned(&self) -> Option<HunkState> {
        match self.state {
            HunkState::Pending | HunkState::Conflicted | HunkState::Undone => Some(HunkState::Accepted),
            HunkState::Applying | HunkState::Accepted => Some(HunkState::Undone),
            // It never arrived, or was taken back; either way it is to be decided again.
            HunkState::Unverified => Some(HunkState::Pending),
            HunkState::Rejected => None,
        }
    }

    /// Follows a change of the text in blocks. Where its own lines changed, it turns if others made exactly the hunk or
    /// undid it; otherwise it is lost, and a pending one becomes conflicted. It comes back when the region in which it
    /// was lost is as it was, and never because other lines look like its own. True if it turned.
    pub(super) fn follow(&mut self, before: &mut Shared<'_>, after: &Lines<'_>, blocks: &[Block], by: By) -> bool {
        let moved = lines::follow(&self.place, blocks);
        if let Some(lost) = &mut self.lost {
            self.place = moved.place;
            if let Some(start) = lost.follow(before, after, blocks) {
                self.place = start..start + lines::count(self.held());
                self.lost = None;
            }
            return false;
        }
        if !moved.touched {
            self.place = moved.place;
            return false;
        }
        if by == By::Others
            && let Some(state) = self.turned()
            && let Some(place) = self.turned_place(&moved.place, after, blocks)
        {
            self.place = place;
            self.state = state;
            return true;
        }
        self.lost = Some(Lost::from(before, &self.place, blocks));
        self.place = moved.place;
        if self.state == HunkState::Pending {
            self.state = HunkState::Conflicted;
        }
        false
    }

    /// The place where a change put exactly the hunk's other text, if it did. What was inserted just above or just
    /// below may belong to it.
    fn turned_place(&self, moved: &Range<usize>, after: &Lines<'_>, blocks: &[Block]) -> Option<Range<usize>> {
        let inserted = |at: usize| blocks.iter().find(|b| b.old.is_empty() && b.old.start == at).map(|b| b.new.clone());
        let start = inserted(self.place.start).map_or(moved.start, |new| new.start.min(moved.start));
        let end = inserted(self.place.end).map_or(moved.end, |new| new.end.max(moved.end));
        [moved.clone(), start..moved.end, moved.start..end, start..end]
            .into_iter()
            .find(|place| after.slice(place.clone()) == self.other())
    }

    /// Follows a change of the file as a whole, for a hunk that makes or deletes it. True if it turned.
    pub(super) fn follow_file(&mut self, after: &Document, by: By) -> bool {
        let (old, new) = match self.kind {
            Kind::Create => (!after.present, after.present && *after.text == *self.new),
            _ => (after.present && *after.text == *self.old, !after.present),
        };
        let (held, other) = if self.is_in_text() { (new, old) } else { (old, new) };
        if other && by == By::Others {
            let turned = self.turned();
            self.state = turned.unwrap_or(self.state);
            return turned.is_some();
        }
        if held && self.state == HunkState::Conflicted {
            self.state = HunkState::Pending;
        } else if !held && self.state == HunkState::Pending {
            self.state = HunkState::Conflicted;
        }
        false
    }
}

/// The known facts about a hunk whose text is not at its place.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// The lines that were around it.
    pub(super) around: Around,
    /// Where it was lost; none if that is not known.
    region: Option<Region>,
}

/// Lines that changed together with a hunk.
#[derive(Clone, Debug)]
struct Region {
    /// The lines that are there now.
    place: Range<usize>,
    /// Their text when the hunk was in it.
    was: Arc<str>,
    /// The line of it, from 0, where the hunk began.
    at: usize,
}

impl Lost {
    /// A hunk that is lost and cannot come back by itself.
    pub(super) fn for_good(around: Around) -> Self {
        Self { around, region: None }
    }

    /// The hunk at `place` is lost by a change.
    fn from(before: &mut Shared<'_>, place: &Range<usize>, blocks: &[Block]) -> Self {
        let around = Around::of(before.lines, place);
        let hull = lines::hull(place, blocks);
        let region = Region { place: hull.new, was: before.text(&hull.old), at: place.start - hull.old.start };
        Self { around, region: Some(region) }
    }

    /// Follows a further change, of which what touches or adjoins the region becomes part of it. Gives the line where
    /// the hunk begins if the region is by it as it was.
    fn follow(&mut self, before: &Shared<'_>, after: &Lines<'_>, blocks: &[Block]) -> Option<usize> {
        let region = self.region.as_mut()?;
        let hull = lines::hull(&region.place, blocks);
        if hull.old != region.place {
            let above = before.lines.slice(hull.old.start..region.place.start);
            let below = before.lines.slice(region.place.end..hull.old.end);
            if above.len() + region.was.len() + below.len() > LONGEST_REGION {
                self.region = None;
                return None;
            }
            region.was = format!("{above}{}{below}", region.was).into();
            region.at += region.place.start - hull.old.start;
        }
        region.place = hull.new;
        (after.slice(region.place.clone()) == &*region.was).then_some(region.place.start + region.at)
    }
}

/// A text before a change, of which the hunks that are lost by one block keep one copy together.
pub(super) struct Shared<'t> {
    pub(super) lines: &'t Lines<'t>,
    last: Option<(Range<usize>, Arc<str>)>,
}

impl<'t> Shared<'t> {
    pub(super) fn new(lines: &'t Lines<'t>) -> Self {
        Self { lines, last: None }
    }

    fn text(&mut self, lines: &Range<usize>) -> Arc<str> {
        match &self.last {
            Some((last, text)) if last == lines => Arc::clone(text),
            _ => {
                let text: Arc<str> = self.lines.slice(lines.clone()).into();
                self.last = Some((lines.clone(), Arc::clone(&text)));
                text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_others_make_as_it_was_proposed_turns_its_hunk_unless_that_was_rejected() {
        for (state, then) in [(HunkState::Pending, HunkState::Accepted), (HunkState::Rejected, HunkState::Rejected)] {
            let mut hunk = Hunk {
                id: HunkId::new("1"),
                calls: Vec::new(),
                kind: Kind::Create,
                place: 0..0,
                old: String::new(),
                new: "a\n".into(),
                state,
                lost: None,
                counted_conflicted: false,
                told: state,
                message: None,
                comments: Vec::new(),
                told_comments: 0,
            };
            let has_turned = hunk.follow_file(&Document::new(Some("a\n")), By::Others);
            assert_eq!((hunk.state, has_turned), (then, state != then));
        }
    }
}
