//! A hunk, where it stands, and how it is found again.

use std::ops::Range;

use protocol::review::HunkState;
use protocol::{HunkId, ToolCallId};

use super::document::Document;
use super::lines::{self, Block, Lines};

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
    /// Set while the text at its place is not the one it expects there: the lines that were around it.
    pub(super) lost: Option<Around>,
    /// Whether the proposal's revision counts it as in conflict.
    pub(super) counted_conflicted: bool,
    /// What the model believes of it.
    pub(super) told: HunkState,
    /// What the user said with the decision.
    pub(super) message: Option<String>,
}

/// What a hunk does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It replaces lines.
    Lines,
    /// It makes the file.
    Create,
    /// It deletes the file.
    Delete,
}

/// Whose a change of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// We made it: hunks were put into the text or taken out of it.
    Us,
    /// The user or another program made it.
    Others,
}

impl Hunk {
    /// Whether the proposal's text holds the hunk's new text, rather than its old one.
    pub(super) fn is_in_text(&self) -> bool {
        matches!(self.state, HunkState::Applying | HunkState::Accepted | HunkState::Unverified)
    }

    /// Whether something may still come of it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, HunkState::Pending | HunkState::Conflicted | HunkState::Applying)
    }

    /// The text that should be at its place.
    pub(super) fn held(&self) -> &str {
        if self.is_in_text() { &self.new } else { &self.old }
    }

    /// The text that would be at its place if it stood the other way.
    pub(super) fn other(&self) -> &str {
        if self.is_in_text() { &self.old } else { &self.new }
    }

    /// How it stands after somebody else than we turned its text the other way; none where that changes nothing.
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
    /// undid it; otherwise it is lost, and a pending one becomes conflicted.
    pub(super) fn follow(&mut self, before: &Lines<'_>, after: &Lines<'_>, blocks: &[Block], by: By) {
        let moved = lines::follow(&self.place, blocks);
        if let Some(around) = &self.lost {
            self.place = moved.place;
            if let Some(place) = around.find(after, self.held(), self.place.start) {
                self.place = place;
                self.lost = None;
            }
            return;
        }
        if !moved.touched {
            self.place = moved.place;
            return;
        }
        if by == By::Others
            && let Some(state) = self.turned()
            && let Some(place) = self.turned_place(&moved.place, after, blocks)
        {
            self.place = place;
            self.state = state;
            return;
        }
        self.lost = Some(Around::of(before, &self.place));
        self.place = moved.place;
        if self.state == HunkState::Pending {
            self.state = HunkState::Conflicted;
        }
    }

    /// The place where a change put exactly the hunk's other text, if it did. What was inserted just above or just below
    /// may belong to it.
    fn turned_place(&self, moved: &Range<usize>, after: &Lines<'_>, blocks: &[Block]) -> Option<Range<usize>> {
        let inserted = |at: usize| blocks.iter().find(|b| b.old.is_empty() && b.old.start == at).map(|b| b.new.clone());
        let start = inserted(self.place.start).map_or(moved.start, |new| new.start.min(moved.start));
        let end = inserted(self.place.end).map_or(moved.end, |new| new.end.max(moved.end));
        [moved.clone(), start..moved.end, moved.start..end, start..end]
            .into_iter()
            .find(|place| after.slice(place.clone()) == self.other())
    }

    /// Follows a change of the file as a whole, for a hunk that makes or deletes it.
    pub(super) fn follow_file(&mut self, after: &Document, by: By) {
        let (old, new) = match self.kind {
            Kind::Create => (!after.present, after.present && *after.text == *self.new),
            _ => (after.present && *after.text == *self.old, !after.present),
        };
        let (held, other) = if self.is_in_text() { (new, old) } else { (old, new) };
        if other && by == By::Others {
            self.state = self.turned().unwrap_or(self.state);
        } else if held && self.state == HunkState::Conflicted {
            self.state = HunkState::Pending;
        } else if !held && self.state == HunkState::Pending {
            self.state = HunkState::Conflicted;
        }
    }

    /// Looks for the hunk in a text it was not followed into, near line `near`: first the way it stands, then the other.
    ///
    /// An accepted hunk whose fate was not known is settled by what the text holds.
    pub(super) fn anchor(&mut self, text: &Lines<'_>, around: Around, near: usize) {
        if self.state == HunkState::Conflicted {
            self.state = HunkState::Pending;
        }
        if let Some(place) = around.find(text, self.held(), near) {
            self.place = place;
            if matches!(self.state, HunkState::Applying | HunkState::Unverified) {
                self.state = HunkState::Accepted;
            }
            return;
        }
        if let Some(state) = self.turned()
            && let Some(place) = around.find(text, self.other(), near)
        {
            self.place = place;
            // Applying, and not in the text: it never arrived.
            self.state = if self.state == HunkState::Applying { HunkState::Pending } else { state };
            return;
        }
        self.place = near..near;
        self.lost = Some(around);
        match self.state {
            HunkState::Pending => self.state = HunkState::Conflicted,
            HunkState::Applying => self.state = HunkState::Unverified,
            _ => {}
        }
    }
}

/// The lines around a place, by which it can be told from others that hold the same text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Around {
    pub(super) above: Option<String>,
    pub(super) below: Option<String>,
}

impl Around {
    pub(super) fn of(text: &Lines<'_>, place: &Range<usize>) -> Self {
        Self { above: text.above(place).map(str::to_owned), below: text.below(place).map(str::to_owned) }
    }

    /// The place that holds `wanted` between these lines: the one at line `near`, else the only one there is.
    fn find(&self, text: &Lines<'_>, wanted: &str, near: usize) -> Option<Range<usize>> {
        let length = lines::count(wanted);
        let fits = |start: usize| {
            let place = start..start + length;
            place.end <= text.len()
                && text.above(&place) == self.above.as_deref()
                && text.below(&place) == self.below.as_deref()
                && text.slice(place) == wanted
        };
        if fits(near) {
            return Some(near..near + length);
        }
        let mut places = (0..=text.len()).filter(|start| fits(*start));
        match (places.next(), places.next()) {
            (Some(only), None) => Some(only..only + length),
            _ => None,
        }
    }
}
