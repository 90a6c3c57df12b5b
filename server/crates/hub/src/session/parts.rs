//! The outcome of the parts of calls, as the log tells it: what of a call is in its files, and what of it was accepted
//! and could not be made. A part of the checkpoints.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use protocol::checkpoint::{Direction, RestoreOutcome, RestoredFile};
use protocol::event::{ApplyOutcome, SeenOccasion};
use protocol::review::{FileChange, Hunk, HunkState, Proposal};
use protocol::{Event, HunkId, ProposalId, ToolCallId};

/// The parts of all calls that edit.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    /// The made parts of each proposal, by the URI of its file.
    made: HashMap<String, HashMap<ProposalId, Made>>,
    /// The files in which a part of each call was made, by URI, whether it is there still or not.
    files: HashMap<ToolCallId, BTreeSet<String>>,
    /// The hunks that were in a file which has gone since: what is there now is another.
    lost: HashSet<HunkId>,
    /// Why accepted hunks are not made, for as long as they are undecided again.
    failed: BTreeMap<ProposalId, BTreeMap<HunkId, String>>,
}

/// The part of a proposal that is made.
#[derive(Clone, Debug)]
struct Made {
    /// The file, for people.
    path: String,
    hunks: Vec<HunkId>,
    /// The calls with a part in it.
    calls: BTreeSet<ToolCallId>,
    /// Those of which no hunk is missing.
    whole: BTreeSet<ToolCallId>,
    /// The hash of the file's text, as the log last has it; none if that is not known, and where the file was
    /// deleted.
    text: Option<String>,
    /// True if it is the file's deletion.
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
            Event::FileSeen { uri, now: Some(now), occasion: SeenOccasion::Save } => self.changed(uri, Some(&now.hash)),
            Event::FileSeen { uri, now, occasion: SeenOccasion::Restart }
                if self.is_other(uri, now.as_ref().map(|now| now.hash.as_str())) =>
            {
                self.gone(uri);
            }
            Event::CheckpointRestored { direction, files, .. } => {
                for file in files {
                    self.restored(*direction, file, &is_undone);
                }
            }
            _ => {}
        }
    }

    /// True if what a call does to this file is in it, all of it.
    pub(super) fn has_arrived(&self, uri: &str, call: &ToolCallId) -> bool {
        self.in_file(uri).any(|it| !it.is_deletion && it.whole.contains(call))
    }

    /// The files, for people, of which a part of a call is made.
    pub(super) fn made_by(&self, call: &ToolCallId) -> BTreeSet<String> {
        let in_files = self.files.get(call).into_iter().flatten().flat_map(|uri| self.in_file(uri));
        in_files.filter(|it| it.calls.contains(call)).map(|it| it.path.clone()).collect()
    }

    /// Why accepted hunks are not made, for as long as they are undecided again.
    pub(super) fn failed(&self) -> impl Iterator<Item = (&ProposalId, &BTreeMap<HunkId, String>)> {
        self.failed.iter()
    }

    /// True if something was made in this file, and the file holds another text than it was left with; the hash is of
    /// the text that it holds, and none if there is no file. Then what was made may be there no longer.
    pub(super) fn is_other(&self, uri: &str, text: Option<&str>) -> bool {
        self.in_file(uri).any(|it| !it.is_deletion && it.text.as_deref() != text)
    }

    /// Returns the parts that are made in a file.
    fn in_file(&self, uri: &str) -> impl Iterator<Item = &Made> {
        self.made.get(uri).into_iter().flat_map(HashMap::values)
    }

    /// Forgets the failures of hunks that were made after all, were rejected or were made anew.
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
            return self.put(proposal, Made::of(proposal, &self.lost));
        }
        // The hunks that were in the file have gone with it, and its deletion is what is left.
        let of_proposal = self.made.get_mut(&proposal.uri).and_then(|made| made.remove(&proposal.proposal_id));
        let deletion = of_proposal.filter(|made| made.is_deletion);
        self.gone(&proposal.uri);
        let made = deletion.unwrap_or_else(|| Made::of(proposal, &self.lost));
        if proposal.change == FileChange::Delete {
            self.put(proposal, made);
        }
    }

    fn put(&mut self, proposal: &Proposal, made: Made) {
        for call in &made.calls {
            self.files.entry(call.clone()).or_default().insert(proposal.uri.clone());
        }
        self.made.entry(proposal.uri.clone()).or_default().insert(proposal.proposal_id.clone(), made);
    }

    /// A file's text is another, or the file has gone.
    fn changed(&mut self, uri: &str, text: Option<&String>) {
        match text {
            Some(_) => {
                let made = self.made.get_mut(uri).into_iter().flat_map(HashMap::values_mut);
                made.for_each(|it| it.text = text.cloned());
            }
            None => self.gone(uri),
        }
    }

    /// A file has gone, and with it what was in it.
    fn gone(&mut self, uri: &str) {
        let gone = self.made.remove(uri).into_iter().flatten();
        self.lost.extend(gone.flat_map(|(_, it)| it.hunks));
    }

    /// Takes in what an undo or a redo did to a file.
    fn restored(&mut self, direction: Direction, file: &RestoredFile, is_undone: impl Fn(&ToolCallId) -> bool) {
        let (RestoreOutcome::Done | RestoreOutcome::Unverified) = file.outcome else { return };
        if direction == Direction::Undo {
            for it in self.made.get_mut(&file.uri).into_iter().flat_map(HashMap::values_mut) {
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
    /// Returns the part of a proposal that is made, but for the hunks that have gone with an earlier file.
    fn of(proposal: &Proposal, lost: &HashSet<HunkId>) -> Self {
        let is_in = |hunk: &&Hunk| {
            matches!(hunk.state, HunkState::Accepted | HunkState::Unverified) && !lost.contains(&hunk.hunk_id)
        };
        let (there, rest): (Vec<_>, Vec<_>) = proposal.hunks.iter().partition(is_in);
        let calls =
            |of: &[&Hunk]| of.iter().flat_map(|hunk| hunk.tool_call_ids.iter().cloned()).collect::<BTreeSet<_>>();
        let (of_there, of_rest) = (calls(&there), calls(&rest));
        Self {
            path: proposal.path.clone(),
            whole: of_there.difference(&of_rest).cloned().collect(),
            calls: of_there,
            hunks: there.into_iter().map(|hunk| hunk.hunk_id.clone()).collect(),
            text: proposal.base_hash.clone(),
            is_deletion: proposal.base_hash.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// A call has made a file.
    fn made(number: usize) -> [Event; 2] {
        let uri = format!("file:///p/{number}.txt");
        let (proposal_id, hunk_id) = (ProposalId::from(&*format!("p{number}")), HunkId::from(&*format!("h{number}")));
        let hunk = Hunk {
            hunk_id: hunk_id.clone(),
            tool_call_ids: vec!["c".into()],
            start_line: 0,
            old_text: String::new(),
            new_text: "x\n".into(),
            line_before: None,
            line_after: None,
            anchor: None,
            state: HunkState::Accepted,
            comments: Vec::new(),
            untold_comments: 0,
        };
        let proposal = Proposal {
            proposal_id: proposal_id.clone(),
            revision: 1,
            uri: uri.clone(),
            path: format!("{number}.txt"),
            change: FileChange::Create,
            hunks: vec![hunk],
            base_hash: Some("x".into()),
            moved_to: None,
            landed: false,
        };
        let applied = Event::EditApplied {
            proposal_id,
            hunk_ids: vec![hunk_id],
            turn_id: None,
            uri,
            before: None,
            after: Some("x".into()),
            deleted: None,
            outcome: ApplyOutcome::Verified,
        };
        [Event::ProposalChanged { proposal }, applied]
    }

    #[test]
    fn thousands_of_files_of_a_call_are_followed_in_no_time() {
        const FILES: usize = 20_000;
        let began = Instant::now();
        let mut parts = Parts::default();
        (0..FILES).flat_map(made).for_each(|event| parts.apply(&event, |_| false));
        let call = ToolCallId::from("c");
        assert!((0..FILES).all(|number| parts.has_arrived(&format!("file:///p/{number}.txt"), &call)));
        assert_eq!(parts.made_by(&call).len(), FILES);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}
