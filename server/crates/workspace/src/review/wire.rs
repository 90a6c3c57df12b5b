//! A proposal as clients and the log see it, and back.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::review::{self as wire, FileChange, HunkState};

use super::hunk::{Around, By, Hunk, Kind};
use super::lines::Lines;
use super::proposal::FileProposal;

impl FileProposal {
    /// The proposal as clients see it.
    pub(super) fn wire(&self) -> wire::Proposal {
        let document = Lines::new(&self.document.text);
        let hunks = self.hunks.iter().map(|hunk| {
            let place = self.place_in_document(hunk);
            let around = match (&hunk.lost, hunk.kind) {
                (Some(around), _) => around.clone(),
                (None, Kind::Lines) => Around::of(&document, &place),
                (None, _) => Around { above: None, below: None },
            };
            wire::Hunk {
                hunk_id: hunk.id.clone(),
                tool_call_ids: hunk.calls.clone(),
                start_line: u32::try_from(place.start).unwrap_or(u32::MAX),
                old_text: hunk.old.clone(),
                new_text: hunk.new.clone(),
                line_before: around.above,
                line_after: around.below,
                state: hunk.state,
            }
        });
        wire::Proposal {
            proposal_id: self.id.clone(),
            revision: self.revision,
            uri: self.uri.clone(),
            path: self.display.clone(),
            change: self.change,
            hunks: hunks.collect(),
        }
    }

    /// Makes a proposal out of what clients last saw of it, over the document as it is now.
    pub(super) fn restore(seen: wire::Proposal, path: PathBuf, base: Option<&str>) -> Self {
        let mut own = Self::new(seen.proposal_id, path, &seen.uri, &seen.path, base);
        own.revision = seen.revision;
        own.change = seen.change;
        let text = Arc::clone(&own.text.text);
        let text = Lines::new(&text);
        let mut hunks = seen.hunks;
        // One that was in conflict is not to take the place of another.
        hunks.sort_by_key(|hunk| hunk.state == HunkState::Conflicted);
        for seen in hunks {
            let number = seen.hunk_id.as_str().rsplit_once('.').and_then(|(_, number)| number.parse::<u64>().ok());
            own.next_hunk = own.next_hunk.max(number.unwrap_or(0) + 1);
            let kind = match own.change {
                FileChange::Modify => Kind::Lines,
                FileChange::Create => Kind::Create,
                FileChange::Delete => Kind::Delete,
            };
            let near = usize::try_from(seen.start_line).unwrap_or(usize::MAX).min(text.len());
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
            };
            match kind {
                Kind::Lines => hunk.anchor(&text, Around { above: seen.line_before, below: seen.line_after }, near),
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
