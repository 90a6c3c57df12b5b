//! The end of an instruction ("change this"), for clients without a panel: they show no conversation of it, so a
//! message says what came of it. The changes themselves are hints and code actions.

use std::collections::HashMap;

use protocol::content::AssistantBlock;
use protocol::event::Severity;
use protocol::review::HunkState;
use protocol::session::Purpose;
use protocol::turn::StopReason;
use protocol::{Event, ProposalId, SessionId};

/// The most of the model's words that a message has, in characters.
const LONGEST: usize = 300;

/// The sessions of instructions.
#[derive(Default)]
pub(super) struct Outcomes(HashMap<SessionId, Running>);

#[derive(Default)]
struct Running {
    /// The hunks of each proposal that wait for a decision.
    pending: HashMap<ProposalId, usize>,
    /// The model's last words.
    words: String,
    /// True if its last turn has ended.
    is_over: bool,
}

impl Outcomes {
    /// Takes what happened in a session. Gives a message for the user if a turn of an instruction has ended.
    pub(super) fn event(&mut self, session: &SessionId, event: &Event) -> Option<(Severity, String)> {
        match event {
            Event::SessionStarted { purpose: Purpose::Instruct, .. } => {
                self.0.insert(session.clone(), Running::default());
            }
            Event::PurposeChanged { .. } => drop(self.0.remove(session)),
            Event::TurnStarted { .. } => {
                let running = self.0.get_mut(session)?;
                (running.is_over, running.words) = (false, String::new());
            }
            Event::ProposalChanged { proposal } => {
                let waits = |state| matches!(state, HunkState::Pending | HunkState::Conflicted);
                let count = proposal.hunks.iter().filter(|hunk| waits(hunk.state)).count();
                self.0.get_mut(session)?.pending.insert(proposal.proposal_id.clone(), count);
                self.forget_if_over(session);
            }
            Event::MessageCompleted { content, .. } => {
                let texts = content.iter().filter_map(|block| match block {
                    AssistantBlock::Text { text, .. } => Some(text.trim()),
                    _ => None,
                });
                self.0.get_mut(session)?.words = texts.collect::<Vec<_>>().join("\n");
            }
            Event::TurnEnded { stop_reason, error, .. } => {
                let running = self.0.get_mut(session)?;
                running.is_over = true;
                let outcome = running.outcome(*stop_reason, error.as_deref());
                self.forget_if_over(session);
                return outcome;
            }
            _ => {}
        }
        None
    }

    /// Forgets a session whose turn has ended and in which no hunk waits.
    fn forget_if_over(&mut self, session: &SessionId) {
        if self.0.get(session).is_some_and(|running| running.is_over && running.waiting() == 0) {
            self.0.remove(session);
        }
    }
}

impl Running {
    /// The number of hunks that wait for a decision.
    fn waiting(&self) -> usize {
        self.pending.values().sum()
    }

    fn outcome(&self, reason: StopReason, error: Option<&str>) -> Option<(Severity, String)> {
        if let Some(error) = error {
            let severity = if reason == StopReason::Error { Severity::Error } else { Severity::Warning };
            return Some((severity, format!("Azimuth could not finish the change: {error}")));
        }
        if matches!(reason, StopReason::Cancelled | StopReason::Interrupted) {
            return None;
        }
        let text = match self.waiting() {
            // Changes that are accepted automatically are seen in the document.
            0 if !self.pending.is_empty() => return None,
            0 => {
                let words: String = self.words.chars().take(LONGEST).collect();
                let more = if words.len() < self.words.len() { "…" } else { "" };
                format!("Azimuth proposes no change. {words}{more}").trim().to_owned()
            }
            1 => "Azimuth proposes a change: accept or reject it with a code action.".to_owned(),
            count => format!("Azimuth proposes {count} changes: accept or reject them with code actions."),
        };
        Some((Severity::Info, text))
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::Usage;
    use protocol::review::{FileChange, Hunk, Proposal};

    use super::*;

    fn proposal(state: HunkState) -> Event {
        let hunk = Hunk {
            hunk_id: "h".into(),
            tool_call_ids: Vec::new(),
            start_line: 0,
            old_text: "one\n".into(),
            new_text: "two\n".into(),
            line_before: None,
            line_after: None,
            anchor: None,
            state,
            comments: Vec::new(),
            untold_comments: 0,
        };
        let proposal = Proposal {
            proposal_id: "p".into(),
            revision: 1,
            uri: "file:///p/a".into(),
            path: "a".into(),
            change: FileChange::Modify,
            hunks: vec![hunk],
            base_hash: None,
            moved_to: None,
            landed: false,
        };
        Event::ProposalChanged { proposal }
    }

    #[test]
    fn a_session_is_forgotten_when_its_turn_has_ended_and_no_hunk_waits() {
        let session = SessionId::from("s");
        let started = Event::SessionStarted {
            folders: Vec::new(),
            asked_for: None,
            begins_with: 0,
            parent: None,
            purpose: Purpose::Instruct,
        };
        let ended = Event::TurnEnded {
            turn_id: "t".into(),
            stop_reason: StopReason::EndTurn,
            error: None,
            usage: Usage::default(),
            cost: None,
            new_errors: None,
        };
        let mut outcomes = Outcomes::default();
        for event in [&started, &proposal(HunkState::Pending), &proposal(HunkState::Accepted)] {
            outcomes.event(&session, event);
            assert!(outcomes.0.contains_key(&session), "its turn runs: {event:?}");
        }
        outcomes.event(&session, &proposal(HunkState::Pending));
        assert!(outcomes.event(&session, &ended).is_some() && outcomes.0.contains_key(&session));
        outcomes.event(&session, &proposal(HunkState::Accepted));
        assert!(outcomes.0.is_empty());
        outcomes.event(&session, &started);
        assert!(outcomes.event(&session, &ended).is_some() && outcomes.0.is_empty(), "there is no change");
    }

    #[test]
    fn the_end_of_an_instruction_is_said_by_what_came_of_it() {
        let with = |counts: &[usize], words: &str| {
            let pending =
                counts.iter().zip(0..).map(|(count, id)| (ProposalId::from(format!("p{id}").as_str()), *count));
            Running { pending: pending.collect(), words: words.to_owned(), is_over: false }
        };
        let said = |running: Running, reason, error| running.outcome(reason, error).map(|(_, text)| text);
        let proposes = "Azimuth proposes 3 changes: accept or reject them with code actions.";
        assert_eq!(said(with(&[1, 2], "Done."), StopReason::EndTurn, None).as_deref(), Some(proposes));
        let nothing = said(with(&[], "It is iterative already."), StopReason::EndTurn, None);
        assert_eq!(nothing.as_deref(), Some("Azimuth proposes no change. It is iterative already."));
        let long = said(with(&[], &"x".repeat(900)), StopReason::EndTurn, None).unwrap();
        assert!(long.ends_with("x…") && long.chars().count() < 350, "{long}");
        assert_eq!(said(with(&[0], "Done."), StopReason::EndTurn, None), None, "it was accepted automatically");
        assert_eq!(said(with(&[1], ""), StopReason::Cancelled, None), None);
        let failed = with(&[], "").outcome(StopReason::Error, Some("the key is wrong"));
        assert_eq!(failed, Some((Severity::Error, "Azimuth could not finish the change: the key is wrong".to_owned())));
    }
}
