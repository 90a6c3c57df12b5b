//! Those who wait for accepted hunks to arrive, and what is to be told of calls of which only a part was made.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use project::review::{Note, Review, has_landed};
use project::text::hash;
use protocol::checkpoint::FileImage;
use protocol::event::{ApplyOutcome, Severity};
use protocol::review::{HunkState, Proposal};
use protocol::{Event, HunkId, ToolCallId};
use tokio::sync::oneshot;

use crate::session::halves::{Half, Part, Told};
use crate::session::state::State;

/// Why accepted hunks are not in their file after a restart.
const CUT_OFF: &str = "Azimuth ended before it was changed";

/// Somebody who waits for accepted hunks to arrive.
pub(super) struct Settling {
    /// The call whose hunks they are; none if all that is on its way is waited for.
    call: Option<ToolCallId>,
    done: oneshot::Sender<Vec<String>>,
    /// The failures so far, in words.
    failures: Vec<String>,
}

/// The news for the model of calls of which only a part was made.
#[derive(Default)]
pub(super) struct Halves {
    /// In words.
    news: Vec<String>,
    /// The parts that are in these, or in a call's result, and not in the log yet.
    on_its_way: HashSet<Part>,
}

/// A proposal with hunks on their way, as a process that ended in the middle left it.
pub(in crate::session) struct CutOff {
    proposal: Proposal,
    /// The text that the file has now, by its hash, if it is the one that they were to make; else none. The inner none
    /// where there is no file.
    landed: Option<Option<String>>,
}

impl Settling {
    /// Somebody who waits for the hunks of a call, or with none for all that is on its way.
    pub(super) fn new(call: Option<ToolCallId>, done: oneshot::Sender<Vec<String>>) -> Self {
        Self { call, done, failures: Vec::new() }
    }

    /// Hunks of these calls did not arrive.
    pub(super) fn failed(&mut self, calls: &[ToolCallId], failure: &str) {
        if self.call.as_ref().is_none_or(|call| calls.contains(call)) {
            self.failures.push(failure.to_owned());
        }
    }

    /// Nothing is on its way any more.
    pub(super) fn end(self) {
        let _ = self.done.send(self.failures);
    }
}

impl Halves {
    /// Takes the news for the model; each is returned once.
    pub(super) fn take_news(&mut self) -> impl Iterator<Item = Note> {
        std::mem::take(&mut self.news).into_iter().map(|text| Note { text, has_word: false })
    }
}

impl Halves {
    /// These hunks did not arrive, so that what is told of them is told anew.
    pub(super) fn failed(&mut self, hunks: &[HunkId]) {
        self.on_its_way.retain(|(_, hunk)| !hunks.contains(hunk));
    }

    /// Forgets that the model was told what was in this call's result, or with none in any: it did not reach the model.
    pub(super) fn unheard(&mut self, call: Option<&ToolCallId>) {
        self.on_its_way.retain(|(of, _)| call.is_some_and(|call| call != of));
    }

    /// Tells of calls of which a part is made and a part is not: the user by these events, the model by the result of
    /// the call if somebody waits for it, and else by news. Gives whether there are such.
    pub(super) fn tell(&mut self, halves: &[Half], told: &Told, settling: &mut [Settling]) -> (Vec<Event>, bool) {
        let for_user: BTreeSet<_> =
            halves.iter().filter(|half| !told.has_told_user(half)).map(Half::for_user).collect();
        let has_heard = |part: &Part| told.has_told_model(part) || self.on_its_way.contains(part);
        let for_model: Vec<_> = halves.iter().filter(|half| !half.parts().all(|part| has_heard(&part))).collect();
        for half in &for_model {
            self.on_its_way.extend(half.parts());
            match settling.iter_mut().find(|it| it.call.as_ref() == Some(half.call())) {
                Some(it) => it.failures.push(half.for_its_result()),
                None if self.news.contains(&half.for_model()) => {}
                None => self.news.push(half.for_model()),
            }
        }
        let notices = for_user.into_iter().map(|text| Event::Notice { severity: Severity::Warning, text });
        (notices.collect(), !for_model.is_empty())
    }
}

impl CutOff {
    /// Returns what became of a proposal as last seen, or `None` if no hunk was on its way. `now` reads the file.
    pub(in crate::session) fn of(seen: &Proposal, now: impl Fn() -> Option<Option<Arc<str>>>) -> Option<Self> {
        if seen.landed || seen.hunks.iter().all(|hunk| hunk.state != HunkState::Applying) {
            return None;
        }
        let landed = now().filter(|now| has_landed(seen, now.as_deref()));
        Some(Self { proposal: seen.clone(), landed: landed.map(|now| now.map(|text| hash(&text).0)) })
    }
}

/// Returns the events of the hunks that were on their way when a process ended, as far as their outcome is sure;
/// `review` has their present state.
pub(in crate::session) fn ended(cut_off: Vec<CutOff>, review: &Review, state: &State) -> Vec<Event> {
    let mut events = Vec::new();
    let now: BTreeMap<_, _> = review.proposals().into_iter().map(|it| (it.proposal_id.clone(), it)).collect();
    for CutOff { proposal: seen, landed } in cut_off {
        let Some(now) = now.get(&seen.proposal_id) else { continue };
        let was_on_its_way =
            |id: &HunkId| seen.hunks.iter().any(|it| it.hunk_id == *id && it.state == HunkState::Applying);
        let is_meant = |state| landed.is_some() || matches!(state, HunkState::Pending | HunkState::Conflicted);
        let hunks = now.hunks.iter().filter(|it| was_on_its_way(&it.hunk_id) && is_meant(it.state));
        let (hunk_ids, calls): (Vec<_>, Vec<_>) =
            hunks.map(|hunk| (hunk.hunk_id.clone(), hunk.tool_call_ids.clone())).unzip();
        if hunk_ids.is_empty() {
            continue;
        }
        let turn_id = state.checkpoints.last_of(&calls.concat()).cloned();
        // A deleted file is known as it was looked at just before.
        let is_it = |image: &FileImage| Some(&image.hash) == seen.base_hash.as_ref();
        let deleted = state.deleting.get(&seen.uri).filter(|image| landed == Some(None) && is_it(image));
        let deleted = deleted.cloned().map(Box::new);
        let (before, after, outcome) = match landed {
            Some(after) => (seen.base_hash, after, ApplyOutcome::Verified),
            None => (None, None, ApplyOutcome::Failed { reason: CUT_OFF.into() }),
        };
        events.push(Event::EditApplied {
            proposal_id: seen.proposal_id,
            hunk_ids,
            turn_id,
            uri: seen.uri,
            before,
            after,
            deleted,
            outcome,
        });
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_call_hears_of_its_own_failures_and_who_waits_for_all_of_every_one() {
        let failures_of = |waits_for: Option<&str>| {
            let (done, mut settled) = oneshot::channel();
            let mut settling = Settling::new(waits_for.map(ToolCallId::from), done);
            settling.failed(&["first".into(), "second".into()], "a.txt: why");
            settling.failed(&["third".into()], "b.txt: why");
            settling.end();
            settled.try_recv().unwrap()
        };
        assert_eq!(failures_of(Some("first")), ["a.txt: why"]);
        assert_eq!(failures_of(Some("third")), ["b.txt: why"]);
        assert_eq!(failures_of(Some("fourth")), [""; 0]);
        assert_eq!(failures_of(None), ["a.txt: why", "b.txt: why"]);
    }
}
