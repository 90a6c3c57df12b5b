//! What became of the parts of calls, as the log tells it: what of a call is in its files, and what of it was accepted and
//! could not be made. A part of [`super::checkpoints`].

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use protocol::checkpoint::{Direction, RestoreOutcome, RestoredFile};
use protocol::event::ApplyOutcome;
use protocol::review::{FileChange, Hunk, HunkState, Proposal};
use protocol::{Event, HunkId, ProposalId, ToolCallId};

/// The parts of all calls that edit.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// What of each proposal is made.
    made: HashMap<ProposalId, Made>,
    /// The hunks that were in a file which has gone since: what is there now is another.
    lost: HashSet<HunkId>,
    /// Why accepted hunks are not made, for as long as they are undecided again.
    failed: BTreeMap<ProposalId, BTreeMap<HunkId, String>>,
}

/// What of a proposal is made.
#[derive(Clone, Debug)]
struct Made {
    uri: String,
    /// The file, for people.
    path: String,
    hunks: Vec<HunkId>,
    /// The calls with a part in it.
    calls: BTreeSet<ToolCallId>,
    /// Those of which no hunk is missing.
    whole: BTreeSet<ToolCallId>,
    /// The hash of the file's text, as the log last has it; none where that is not known, and where the file was deleted.
    text: Option<String>,
    /// Whether it is the file's deletion.
    is_deletion: bool,
}

impl Parts {
    /// Takes in the next event. `is_undone` says whether a call was made in the turns that an undo takes back.
    pub(super) fn apply(&mut self, event: &Event, is_undone: impl Fn(&ToolCallId) -> bool) {
        match event {
            Event::ProposalChanged { proposal } => {
                self.forget_failed(proposal);
                if !proposal.landed {
                    self.proposed(proposal);
                }
            }
            Event::EditApplied { proposal_id, hunk_ids, outcome: ApplyOutcome::Failed { reason }, .. } => {
                let failed = self.failed.entry(proposal_id.clone()).or_default();
                failed.extend(hunk_ids.iter().map(|hunk| (hunk.clone(), reason.clone())));
            }
            // Of one that is not verified the text after is not known.
            Event::EditApplied { uri, after, .. } => self.changed(uri, after.as_ref()),
            Event::Formatted { uri, after, .. } => self.changed(uri, Some(after)),
            Event::FilesChanged { files, .. } => {
                for file in files.iter().filter(|file| file.unknown.is_none()) {
                    self.changed(&file.uri, file.after.as_ref().map(|after| &after.hash));
                }
            }
            Event::CheckpointRestored { direction, files, .. } => {
                for file in files {
                    self.restored(*direction, file, &is_undone);
                }
            }
            _ => {}
        }
    }

    /// Whether what a call does to this file is in it, all of it.
    pub(super) fn has_arrived(&self, uri: &str, call: &ToolCallId) -> bool {
        self.made.values().any(|it| !it.is_deletion && it.uri == uri && it.whole.contains(call))
    }

    /// The files, for people, of which a part of a call is made.
    pub(super) fn made_by(&self, call: &ToolCallId) -> BTreeSet<String> {
        let of_call = self.made.values().filter(|it| it.calls.contains(call));
        of_call.map(|it| it.path.clone()).collect()
    }

    /// Why accepted hunks are not made, for as long as they are undecided again.
    pub(super) fn failed(&self) -> impl Iterator<Item = (&ProposalId, &BTreeMap<HunkId, String>)> {
        self.failed.iter()
    }

    /// The file holds this text now, by its hash, which nobody saw come. What was made in another one may be there no
    /// longer.
    pub(super) fn found(&mut self, uri: &str, text: Option<&str>) {
        if self.made.values().any(|it| !it.is_deletion && it.uri == uri && it.text.as_deref() != text) {
            self.gone(uri);
        }
    }

    /// What was made after all, was rejected or was made anew did not fail.
    fn forget_failed(&mut self, proposal: &Proposal) {
        let Some(failed) = self.failed.get_mut(&proposal.proposal_id) else { return };
        let is_open = |state| matches!(state, HunkState::Pending | HunkState::Conflicted | HunkState::Applying);
        failed.retain(|id, _| proposal.hunks.iter().any(|hunk| hunk.hunk_id == *id && is_open(hunk.state)));
        if failed.is_empty() {
            self.failed.remove(&proposal.proposal_id);
        }
    }

    fn proposed(&mut self, proposal: &Proposal) {
        if proposal.base_hash.is_some() {
            let made = Made::of(proposal, &self.lost);
            self.made.insert(proposal.proposal_id.clone(), made);
            return;
        }
        // What was in the file has gone with it, and its deletion is what is left.
        let deletion = self.made.remove(&proposal.proposal_id).filter(|made| made.is_deletion);
        self.gone(&proposal.uri);
        let made = deletion.unwrap_or_else(|| Made::of(proposal, &self.lost));
        if proposal.change == FileChange::Delete {
            self.made.insert(proposal.proposal_id.clone(), made);
        }
    }

    /// A file's text is another, or the file has gone.
    fn changed(&mut self, uri: &str, text: Option<&String>) {
        match text {
            Some(_) => {
                self.made.values_mut().filter(|it| it.uri == uri).for_each(|it| it.text = text.cloned());
            }
            None => self.gone(uri),
        }
    }

    /// A file has gone, and with it what was in it.
    fn gone(&mut self, uri: &str) {
        let gone = self.made.extract_if(|_, it| it.uri == uri);
        self.lost.extend(gone.flat_map(|(_, it)| it.hunks));
    }

    /// Takes in what an undo or a redo did to a file.
    fn restored(&mut self, direction: Direction, file: &RestoredFile, is_undone: impl Fn(&ToolCallId) -> bool) {
        let (RestoreOutcome::Done | RestoreOutcome::Unverified) = file.outcome else { return };
        if direction == Direction::Undo {
            for it in self.made.values_mut().filter(|it| it.uri == file.uri) {
                it.calls.retain(|call| !is_undone(call));
                it.whole.retain(|call| !is_undone(call));
            }
        }
        if let Some(step) = file.steps.last() {
            self.changed(&file.uri, step.to.as_ref().map(|to| &to.hash));
        }
    }
}

impl Made {
    /// What of a proposal is made, but for the hunks that have gone with an earlier file.
    fn of(proposal: &Proposal, lost: &HashSet<HunkId>) -> Self {
        let is_in = |hunk: &&Hunk| {
            matches!(hunk.state, HunkState::Accepted | HunkState::Unverified) && !lost.contains(&hunk.hunk_id)
        };
        let (there, rest): (Vec<_>, Vec<_>) = proposal.hunks.iter().partition(is_in);
        let calls =
            |of: &[&Hunk]| of.iter().flat_map(|hunk| hunk.tool_call_ids.iter().cloned()).collect::<BTreeSet<_>>();
        let (of_there, of_rest) = (calls(&there), calls(&rest));
        Self {
            uri: proposal.uri.clone(),
            path: proposal.path.clone(),
            whole: of_there.difference(&of_rest).cloned().collect(),
            calls: of_there,
            hunks: there.into_iter().map(|hunk| hunk.hunk_id.clone()).collect(),
            text: proposal.base_hash.clone(),
            is_deletion: proposal.base_hash.is_none(),
        }
    }
}
