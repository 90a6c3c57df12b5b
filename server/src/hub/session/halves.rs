//! Calls of which only a part was made. Each file is changed as a whole or not at all, but of several files of a call
//! one may fail before or after another has succeeded; then the user is told, and the model.
//!
//! What is made and what failed is in the log, and `parts` is its fold; of whom was told what, [`Told`] is. So it does
//! not matter in which order they come, nor whether the process ends in between.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use protocol::checkpoint::FileImage;
use protocol::event::{ApplyOutcome, Severity};
use protocol::review::{HunkState, Proposal};
use protocol::{Event, HunkId, ToolCallId};
use tokio::sync::oneshot;
use workspace::review::{Application, Note, Review, has_landed};
use workspace::text::hash;

use super::Session;
use super::state::State;

/// At most so many files are named in one message.
const MOST_FILES: usize = 8;
/// What a notice to the user begins with, a note to the model, and what stands in a call's result: by these words the
/// log tells who was told.
const FOR_USER: &str = "An edit was made only in part. ";
const FOR_MODEL: &str = "Your edit was accepted, but made only in part. ";
const IN_RESULT: &str = "so the edit was made only in part: ";
/// Why accepted hunks are not in their file after a restart.
const CUT_OFF: &str = "Azimuth ended before it was changed";

/// Somebody who waits for accepted hunks to arrive.
pub(super) struct Settling {
    /// The call whose hunks they are; none where all that is on its way is waited for.
    call: Option<ToolCallId>,
    done: oneshot::Sender<Vec<String>>,
    /// What did not arrive so far, in words.
    failures: Vec<String>,
}

/// A hunk that failed, with a call that is half made by it.
type Part = (ToolCallId, HunkId);

/// Who was told of calls of which only a part was made, as the log tells it.
#[derive(Default)]
pub(super) struct Told {
    user: HashSet<Part>,
    model: HashSet<Part>,
}

/// What the model is to be told of calls of which only a part was made.
#[derive(Default)]
pub(super) struct Halves {
    /// In words.
    news: Vec<String>,
    /// What is in these, or in a call's result, and not in the log yet.
    on_its_way: HashSet<Part>,
}

/// A part of a call that was accepted and is not made.
struct Unmade<'s> {
    hunk: &'s HunkId,
    /// The file, for people.
    file: &'s str,
    reason: &'s str,
    /// Whether it can only be rejected.
    conflicted: bool,
}

/// A call of which a part is made and a part is not, in words.
pub(super) struct Half {
    call: ToolCallId,
    made: String,
    failures: String,
    /// The files whose part can only be rejected; empty where there are none.
    conflicted: String,
    /// Whether a part can still be accepted.
    waits: bool,
    hunks: Vec<HunkId>,
}

/// What a process that ended in the middle left of a proposal with hunks on their way.
pub(super) struct CutOff {
    proposal: Proposal,
    /// The text that the file has now, by its hash, if it is the one that they were to make; else none. The inner none
    /// where there is no file.
    landed: Option<Option<String>>,
}

impl Settling {
    pub(super) fn new(call: Option<ToolCallId>, done: oneshot::Sender<Vec<String>>) -> Self {
        Self { call, done, failures: Vec::new() }
    }

    /// Hunks of these calls did not arrive.
    fn failed(&mut self, calls: &[ToolCallId], failure: &str) {
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
    /// What the model is to be told, once.
    pub(super) fn take_news(&mut self) -> impl Iterator<Item = Note> {
        std::mem::take(&mut self.news).into_iter().map(|text| Note { text, has_word: false })
    }
}

impl CutOff {
    /// What became of a proposal, as it was last seen, if hunks of it were on their way; `now` reads the file.
    pub(super) fn of(seen: &Proposal, now: impl Fn() -> Option<Option<Arc<str>>>) -> Option<Self> {
        if seen.landed || seen.hunks.iter().all(|hunk| hunk.state != HunkState::Applying) {
            return None;
        }
        let landed = now().filter(|now| has_landed(seen, now.as_deref()));
        Some(Self { proposal: seen.clone(), landed: landed.map(|now| now.map(|text| hash(&text).0)) })
    }
}

impl Session {
    /// Accepted hunks did not arrive.
    pub(super) fn not_made(&mut self, application: &Application, reason: &str) {
        let failure = format!("{}: {reason}", self.reading.roots.display(&application.path));
        self.settling.iter_mut().for_each(|it| it.failed(&application.calls, &failure));
        self.halves.on_its_way.retain(|(_, hunk)| !application.hunk_ids.contains(hunk));
    }

    /// Tells of the calls of which a part is made and a part is not, once nothing is on its way.
    pub(super) fn tell_halves(&mut self) {
        let halves = self.state.halves();
        let told = &self.state.told;
        let has_heard = |part: &Part| told.model.contains(part) || self.halves.on_its_way.contains(part);
        let for_user: BTreeSet<_> =
            halves.iter().filter(|it| !it.parts().all(|part| told.user.contains(&part))).map(Half::for_user).collect();
        let for_model: Vec<_> = halves.iter().filter(|it| !it.parts().all(|part| has_heard(&part))).collect();
        for text in for_user {
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        for half in &for_model {
            self.halves.on_its_way.extend(half.parts());
            match self.settling.iter_mut().find(|it| it.call.as_ref() == Some(&half.call)) {
                Some(it) => it.failures.push(half.for_its_result()),
                None if self.halves.news.contains(&half.for_model()) => {}
                None => self.halves.news.push(half.for_model()),
            }
        }
        if !for_model.is_empty() {
            self.note_between_turns();
        }
    }

    /// What was in this call's result did not reach the model, or with none what was in any: it is told anew.
    pub(super) fn tell_unheard(&mut self, call: Option<&ToolCallId>) {
        self.halves.on_its_way.retain(|(of, _)| call.is_some_and(|call| call != of));
        if !self.review.is_applying() {
            self.tell_halves();
        }
    }

    /// Puts into the log what became of the hunks that were on their way when a process ended, as far as that is sure;
    /// `review` says how they stand now.
    pub(super) fn end_cut_off(&mut self, cut_off: Vec<CutOff>, review: &Review) {
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
            let turn_id = self.state.checkpoints.last_of(&calls.concat()).cloned();
            // What was deleted is known as it was looked at just before.
            let is_it = |image: &FileImage| Some(&image.hash) == seen.base_hash.as_ref();
            let deleted = self.state.deleting.get(&seen.uri).filter(|image| landed == Some(None) && is_it(image));
            let deleted = deleted.cloned().map(Box::new);
            let (before, after, outcome) = match landed {
                Some(after) => (seen.base_hash, after, ApplyOutcome::Verified),
                None => (None, None, ApplyOutcome::Failed { reason: CUT_OFF.into() }),
            };
            self.record(Event::EditApplied {
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
    }
}

impl Told {
    /// Takes in the next event; `halves` gives the calls that are half made before it.
    pub(super) fn apply(&mut self, event: &Event, halves: impl Fn() -> Vec<Half>) {
        match event {
            Event::Notice { text, .. } if text.starts_with(FOR_USER) => {
                self.user.extend(halves().iter().flat_map(Half::parts));
            }
            Event::Noted { text, .. } if text.starts_with(FOR_MODEL) => self.model.extend(self.user.iter().cloned()),
            Event::ToolCallEnded { result, .. } if result.text.contains(IN_RESULT) => {
                let of_call = self.user.iter().filter(|(call, _)| *call == result.tool_call_id);
                self.model.extend(of_call.cloned());
            }
            // It failed anew, if it was told of before.
            Event::EditApplied { hunk_ids, outcome: ApplyOutcome::Failed { .. }, .. } => {
                for told in [&mut self.user, &mut self.model] {
                    told.retain(|(_, hunk)| !hunk_ids.contains(hunk));
                }
            }
            _ => {}
        }
    }
}

impl State {
    /// The calls of which a part is made and a part is not.
    pub(super) fn halves(&self) -> Vec<Half> {
        let parts = &self.checkpoints.parts;
        let mut unmade: BTreeMap<&ToolCallId, Vec<Unmade<'_>>> = BTreeMap::new();
        for (proposal, failed) in parts.failed() {
            let Some(proposal) = self.proposals.get(proposal).filter(|proposal| !proposal.landed) else {
                continue;
            };
            for hunk in &proposal.hunks {
                let Some(reason) = failed.get(&hunk.hunk_id) else { continue };
                let conflicted = hunk.state == HunkState::Conflicted;
                for call in &hunk.tool_call_ids {
                    let part = Unmade { hunk: &hunk.hunk_id, file: &proposal.path, reason, conflicted };
                    unmade.entry(call).or_default().push(part);
                }
            }
        }
        let halves = unmade.into_iter().filter_map(|(call, unmade)| {
            let made = parts.made_by(call);
            (!made.is_empty()).then(|| Half::of(call, &made, &unmade))
        });
        halves.collect()
    }
}

impl Half {
    fn of(call: &ToolCallId, made: &BTreeSet<String>, unmade: &[Unmade<'_>]) -> Self {
        let missing: HashSet<_> = unmade.iter().map(|part| part.file).collect();
        let made = made
            .iter()
            .map(|file| if missing.contains(file.as_str()) { format!("a part of {file}") } else { file.clone() });
        let failures: BTreeSet<_> = unmade.iter().map(|part| format!("{}: {}", part.file, part.reason)).collect();
        let conflicted: BTreeSet<_> =
            unmade.iter().filter(|part| part.conflicted).map(|part| part.file.to_owned()).collect();
        Self {
            call: call.clone(),
            made: listed(made, ", "),
            failures: listed(failures.into_iter(), "; "),
            conflicted: listed(conflicted.into_iter(), ", "),
            waits: unmade.iter().any(|part| !part.conflicted),
            hunks: unmade.iter().map(|part| part.hunk.clone()).collect(),
        }
    }

    /// What is missing of it.
    fn parts(&self) -> impl Iterator<Item = Part> {
        self.hunks.iter().map(|hunk| (self.call.clone(), hunk.clone()))
    }

    fn for_user(&self) -> String {
        let Self { made, failures, conflicted, .. } = self;
        let mut text = format!("{FOR_USER}It is in {made}, and not in {failures}");
        if self.waits {
            text += ". What is missing stays in the review, for you to decide";
        }
        if !conflicted.is_empty() {
            text += &format!(". What was meant for {conflicted} no longer fits there, and can only be rejected");
        }
        text
    }

    /// For the model, once the call's result is given.
    fn for_model(&self) -> String {
        let Self { made, failures, .. } = self;
        let advice = self.advice();
        format!("{FOR_MODEL}It is in {made}, and not in {failures}. {advice}")
    }

    /// For the model in the call's result, behind the failures.
    fn for_its_result(&self) -> String {
        format!("{IN_RESULT}it is in {}. {}", self.made, self.advice())
    }

    fn advice(&self) -> String {
        let pending = if self.waits { "What is missing is pending; the user decides on it." } else { "" };
        if self.conflicted.is_empty() {
            return pending.to_owned();
        }
        let anew = format!(
            "What was meant for {} no longer fits there: read it again, and make that part anew if it is still wanted.",
            self.conflicted
        );
        format!("{pending} {anew}").trim_start().to_owned()
    }
}

/// The first of some words, and how many more there are.
fn listed(mut words: impl Iterator<Item = String>, between: &str) -> String {
    let mut listed: Vec<_> = words.by_ref().take(MOST_FILES).collect();
    let more = words.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    listed.join(between)
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

    #[test]
    fn of_thousands_of_files_some_are_named_and_the_rest_counted() {
        let files = || (0..5_000).map(|number| number.to_string());
        assert_eq!(listed(files(), ", "), "0, 1, 2, 3, 4, 5, 6, 7, 4992 more");
        assert_eq!(listed(files().take(8), ", "), "0, 1, 2, 3, 4, 5, 6, 7");
    }
}
