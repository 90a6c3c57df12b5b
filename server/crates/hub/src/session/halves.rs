//! Calls of which only a part was made. Each file is changed as a whole or not at all, but of several files of a call
//! one may fail before or after another has succeeded; then the user is told, and the model.
//!
//! The log has what is made and what failed, and `parts` is its fold; of whom was told what, [`Told`] is. So it does
//! not matter in which order they come, nor whether the process ends in between.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use protocol::event::ApplyOutcome;
use protocol::review::{HunkState, Proposal};
use protocol::{Event, HunkId, ProposalId, ToolCallId};

use super::parts::Parts;

/// At most so many files are named in one message.
const MOST_FILES: usize = 8;
/// The beginnings of a notice to the user and of a note to the model, and the words in a call's result: by these the
/// log tells who was told.
const FOR_USER: &str = "An edit was made only in part. ";
const FOR_MODEL: &str = "Your edit was accepted, but made only in part. ";
const IN_RESULT: &str = "so the edit was made only in part: ";

/// A hunk that failed, with a call that is half made by it.
pub(super) type Part = (ToolCallId, HunkId);

/// Who was told of calls of which only a part was made, as the log tells it.
#[derive(Default)]
pub(super) struct Told {
    user: HashSet<Part>,
    model: HashSet<Part>,
}

/// A part of a call that was accepted and is not made.
struct Unmade<'s> {
    hunk: &'s HunkId,
    /// The file, for people.
    file: &'s str,
    reason: &'s str,
    /// True if it can only be rejected.
    conflicted: bool,
}

/// A call of which a part is made and a part is not, in words.
pub(super) struct Half {
    call: ToolCallId,
    made: String,
    failures: String,
    /// The files whose part can only be rejected; empty where there are none.
    conflicted: String,
    /// True if a part can still be accepted.
    waits: bool,
    hunks: Vec<HunkId>,
}

impl Told {
    /// True if the user was told of all that is missing of a call.
    pub(super) fn has_told_user(&self, half: &Half) -> bool {
        half.parts().all(|part| self.user.contains(&part))
    }

    /// True if the model was told of this part.
    pub(super) fn has_told_model(&self, part: &Part) -> bool {
        self.model.contains(part)
    }

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

/// The calls of which a part is made and a part is not, by what became of parts and the proposals that are undecided.
pub(super) fn halves(parts: &Parts, proposals: &BTreeMap<ProposalId, Proposal>) -> Vec<Half> {
    let mut unmade: BTreeMap<&ToolCallId, Vec<Unmade<'_>>> = BTreeMap::new();
    for (proposal, failed) in parts.failed() {
        let Some(proposal) = proposals.get(proposal).filter(|proposal| !proposal.landed) else {
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

    /// The call.
    pub(super) fn call(&self) -> &ToolCallId {
        &self.call
    }

    /// Returns the parts of it that are missing.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part> {
        self.hunks.iter().map(|hunk| (self.call.clone(), hunk.clone()))
    }

    /// For the user.
    pub(super) fn for_user(&self) -> String {
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
    pub(super) fn for_model(&self) -> String {
        let Self { made, failures, .. } = self;
        let advice = self.advice();
        format!("{FOR_MODEL}It is in {made}, and not in {failures}. {advice}")
    }

    /// For the model in the call's result, behind the failures.
    pub(super) fn for_its_result(&self) -> String {
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
    fn of_thousands_of_files_some_are_named_and_the_rest_counted() {
        let files = || (0..5_000).map(|number| number.to_string());
        assert_eq!(listed(files(), ", "), "0, 1, 2, 3, 4, 5, 6, 7, 4992 more");
        assert_eq!(listed(files().take(8), ", "), "0, 1, 2, 3, 4, 5, 6, 7");
    }
}
