//! A proposal as clients and the log see it, and back.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use protocol::review::{self as wire, FileChange, HunkState};

use super::anchor::{self, Around};
use super::hunk::{By, Hunk, Kind, Lost};
use super::lines::{self, Block, Lines};
use super::proposal::FileProposal;
use crate::text;

/// True if a document is exactly what the accepted hunks that were on their way make of the one in which they were last
/// seen; none if there is no file.
pub fn has_landed(seen: &wire::Proposal, now: Option<&str>) -> bool {
    let mut applying = seen.hunks.iter().filter(|hunk| hunk.state == HunkState::Applying);
    match seen.change {
        FileChange::Create => applying.any(|hunk| Some(hunk.new_text.as_str()) == now),
        FileChange::Delete => applying.next().is_some() && now.is_none(),
        FileChange::Modify => Past::find(seen, now).is_some_and(|past| !past.blocks.is_empty()),
    }
}

impl FileProposal {
    /// The proposal as clients see it.
    pub(super) fn wire(&self) -> wire::Proposal {
        let document = Lines::new(&self.document.text);
        let places: Vec<Range<usize>> = self.hunks.iter().map(|hunk| self.place_in_document(hunk)).collect();
        let has_anchor =
            |hunk: &Hunk| hunk.kind == Kind::Lines && hunk.lost.is_none() && hunk.state != HunkState::Conflicted;
        let anchored: Vec<Range<usize>> = self
            .hunks
            .iter()
            .zip(&places)
            .filter(|(hunk, _)| has_anchor(hunk))
            .map(|(_, place)| place.clone())
            .collect();
        let mut anchors = anchor::anchors(&document, &anchored).into_iter();
        let hunks = self.hunks.iter().zip(places).map(|(hunk, place)| {
            let around = match (&hunk.lost, hunk.kind) {
                (Some(lost), _) => lost.around.clone(),
                (None, Kind::Lines) => Around::of(&document, &place),
                (None, _) => Around::default(),
            };
            wire::Hunk {
                hunk_id: hunk.id.clone(),
                tool_call_ids: hunk.calls.clone(),
                start_line: u32::try_from(place.start).unwrap_or(u32::MAX),
                old_text: hunk.old.clone(),
                new_text: hunk.new.clone(),
                line_before: around.above,
                line_after: around.below,
                anchor: if has_anchor(hunk) { anchors.next().flatten() } else { None },
                state: hunk.state,
                comments: hunk.comments.clone(),
                untold_comments: hunk.comments.len() - hunk.told_comments.min(hunk.comments.len()),
            }
        });
        let proposal = wire::Proposal {
            hunks: hunks.collect(),
            proposal_id: self.id.clone(),
            revision: self.revision,
            uri: self.uri.clone(),
            path: self.display.clone(),
            change: self.change,
            base_hash: self.document().map(|text| text::hash(text).0),
            moved_to: self.moved_to.clone(),
            landed: self.landed,
        };
        if self.landed { turned_round(proposal) } else { proposal }
    }

    /// Makes a proposal out of what clients last saw of it, over the document as it is now.
    pub(super) fn restore(seen: wire::Proposal, path: PathBuf, base: Option<&str>) -> Self {
        let seen = if seen.landed { turned_round(seen) } else { seen };
        let mut own = Self::new(seen.proposal_id.clone(), path, &seen.uri, &seen.path, base.into());
        own.revision = seen.revision;
        own.change = seen.change;
        own.landed = seen.landed;
        own.moved_to.clone_from(&seen.moved_to);
        let text = Arc::clone(&own.text.text);
        let text = Lines::new(&text);
        let past = Past::find(&seen, base);
        for seen in seen.hunks {
            let number = seen.hunk_id.as_str().rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
            own.next_hunk = own.next_hunk.max(number.unwrap_or(0) + 1);
            let kind = match own.change {
                FileChange::Modify => Kind::Lines,
                FileChange::Create => Kind::Create,
                FileChange::Delete => Kind::Delete,
            };
            let near = start(&seen).min(text.len());
            let told = if seen.state == HunkState::Applying { HunkState::Pending } else { seen.state };
            let mut hunk = Hunk {
                id: seen.hunk_id,
                calls: seen.tool_call_ids,
                kind,
                place: near..near,
                old: seen.old_text,
                new: seen.new_text,
                state: seen.state,
                lost: None,
                counted_conflicted: seen.state == HunkState::Conflicted,
                told,
                message: None,
                told_comments: seen.comments.len().saturating_sub(seen.untold_comments),
                comments: seen.comments,
            };
            match kind {
                Kind::Lines => {
                    let around = Around { above: seen.line_before, below: seen.line_after };
                    hunk.restore(&text, past.as_ref(), around, seen.anchor.as_deref());
                }
                Kind::Create | Kind::Delete => {
                    if hunk.state == HunkState::Applying {
                        hunk.state = HunkState::Pending;
                    }
                    hunk.follow_file(&own.text, By::Others);
                }
            }
            own.hunks.push(hunk);
        }
        own.unreported = true;
        own.settle();
        own
    }
}

/// A landed proposal the other way round: as others see it, what was done, or as it is held here, the way back.
fn turned_round(mut proposal: wire::Proposal) -> wire::Proposal {
    proposal.change = match proposal.change {
        FileChange::Create => FileChange::Delete,
        FileChange::Modify => FileChange::Modify,
        FileChange::Delete => FileChange::Create,
    };
    for hunk in &mut proposal.hunks {
        std::mem::swap(&mut hunk.old_text, &mut hunk.new_text);
        hunk.state = match hunk.state {
            HunkState::Accepted => HunkState::Rejected,
            HunkState::Rejected => HunkState::Accepted,
            state => state,
        };
    }
    proposal
}

/// The text in which hunks were last seen.
struct Past {
    text: String,
    /// The changes of it since.
    blocks: Vec<Block>,
}

impl Past {
    /// The text that was seen, if it is the one there is now, or that one without the hunks that were on their way.
    fn find(seen: &wire::Proposal, now: Option<&str>) -> Option<Self> {
        let now = now?;
        let is_it = |text: &str| seen.base_hash.as_ref().is_some_and(|hash| text::hash(text).0 == *hash);
        if is_it(now) {
            return Some(Self { text: now.to_owned(), blocks: Vec::new() });
        }
        let (mut added, mut removed) = (0, 0);
        let applying = seen.hunks.iter().filter(|hunk| hunk.state == HunkState::Applying);
        let arrived = applying.map(|hunk| {
            let (old, new) = (lines::count(&hunk.old_text), lines::count(&hunk.new_text));
            let place = (start(hunk) + added).saturating_sub(removed);
            added += new;
            removed += old;
            (Block { old: start(hunk)..start(hunk) + old, new: place..place + new }, hunk.old_text.as_str())
        });
        let arrived: Vec<(Block, &str)> = arrived.collect();
        let text = Lines::new(now).replaced(arrived.iter().map(|(block, old)| (block.new.clone(), *old)));
        is_it(&text).then(|| Self { text, blocks: arrived.into_iter().map(|(block, _)| block).collect() })
    }
}

fn start(hunk: &wire::Hunk) -> usize {
    usize::try_from(hunk.start_line).unwrap_or(usize::MAX)
}

impl Hunk {
    /// Finds the hunk in a text after the process ended, or says that it is lost. Its place is about where it was seen.
    ///
    /// One that was in conflict stays so, since what became of its lines is no longer known.
    fn restore(&mut self, now: &Lines<'_>, past: Option<&Past>, around: Around, anchor: Option<&str>) {
        if self.state != HunkState::Conflicted {
            let found = match past {
                Some(past) => self.restore_exactly(past, &around),
                None => anchor.is_some_and(|anchor| self.restore_by_anchor(now, &around, anchor)),
            };
            if found {
                return;
            }
        }
        self.lost = Some(Lost::for_good(around));
        match self.state {
            HunkState::Pending => self.state = HunkState::Conflicted,
            HunkState::Applying => self.state = HunkState::Unverified,
            _ => {}
        }
    }

    /// Takes the hunk's place in the text that was seen.
    fn restore_exactly(&mut self, past: &Past, around: &Around) -> bool {
        let text = Lines::new(&past.text);
        let applying = self.state == HunkState::Applying;
        let there = if applying { &self.old } else { self.held() };
        let place = self.place.start..self.place.start + lines::count(there);
        if text.slice(place.clone()) != there || Around::of(&text, &place) != *around {
            return false;
        }
        match past.blocks.iter().find(|block| applying && block.old == place) {
            Some(block) => {
                self.place = block.new.clone();
                self.state = HunkState::Accepted;
            }
            None => {
                let moved = lines::follow(&place, &past.blocks);
                self.place = moved.place;
                match self.state {
                    _ if moved.touched => return false,
                    HunkState::Applying => self.state = HunkState::Pending,
                    HunkState::Unverified => self.state = HunkState::Accepted,
                    _ => {}
                }
            }
        }
        true
    }

    /// Looks for the hunk in a text that is not the one that was seen: first the way it stands, then the other. An
    /// accepted one whose fate was not known is settled by what the text holds.
    fn restore_by_anchor(&mut self, now: &Lines<'_>, around: &Around, anchor: &str) -> bool {
        if let Some(place) = anchor::find(now, self.held(), around, anchor) {
            self.place = place;
            if matches!(self.state, HunkState::Applying | HunkState::Unverified) {
                self.state = HunkState::Accepted;
            }
            return true;
        }
        let Some(state) = self.turned() else { return false };
        let Some(place) = anchor::find(now, self.other(), around, anchor) else { return false };
        self.place = place;
        // Applying, and not in the text: it never arrived.
        self.state = if self.state == HunkState::Applying { HunkState::Pending } else { state };
        true
    }
}
