//! Suggestions that the user has accepted where they type: each is a turn of the session that records them, and gets
//! into its document as any accepted hunk does, one after the other. Nothing is formatted or saved after it, since the
//! user is typing there.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use ports::edit::{EditPlan, FilePlan};
use project::buffers::{Open, Snapshot};
use project::paths;
use protocol::content::{Location, ToolKind, ToolResult, Usage};
use protocol::event::ApplyOutcome;
use protocol::review::{Decision, ReviewDecideParams};
use protocol::session::Purpose;
use protocol::turn::StopReason;
use protocol::{Event, PromptBlock, ToolCallId, TurnId};
use tokio::sync::oneshot;

use super::Message;
use crate::post::AcceptedSuggestion;
use crate::session::{Caller, Own, Session};

/// The title of a session that records them.
const TITLE: &str = "Accepted suggestions";
/// The name of the call that each of them is in the log. No tool is called so.
const CALL: &str = "suggestion";
/// The reason for a failure if the editor took a suggestion and was not seen to show it.
const NOT_SHOWN: &str = "the editor took the suggestion, but did not show the new text in time";

/// The accepted suggestions on their way, and those that wait for them.
#[derive(Default)]
pub(super) struct Suggested {
    running: Option<Running>,
    waiting: VecDeque<(Caller, AcceptedSuggestion)>,
}

/// The suggestion that is on its way.
struct Running {
    turn: TurnId,
    call: ToolCallId,
    began: Instant,
    location: Location,
    /// True if the editor was not seen to show it.
    is_unverified: bool,
    done: oneshot::Sender<Result<(), String>>,
}

impl Suggested {
    /// Hunks of these calls came to this outcome.
    pub(super) fn carried(&mut self, calls: &[ToolCallId], outcome: &ApplyOutcome) {
        if let Some(running) = self.running.as_mut().filter(|running| calls.contains(&running.call)) {
            running.is_unverified |= *outcome == ApplyOutcome::Unverified;
        }
    }

    /// True if one is on its way.
    pub(super) fn are_on(&self) -> bool {
        self.running.is_some()
    }
}

impl Session {
    /// True if the session is one that records suggestions, and a client is there that may accept the next one, which
    /// is not to wait until it is opened again.
    pub(in crate::session) fn records_suggestions(&self) -> bool {
        self.state.purpose == Purpose::Suggestions && self.clients.home().is_some()
    }

    /// Puts a suggestion into its document, after those that were accepted before it.
    pub(in crate::session) fn take_suggestion(&mut self, caller: Caller, suggestion: AcceptedSuggestion) {
        self.edits.suggested.waiting.push_back((caller, suggestion));
        self.next_suggestion();
    }

    /// Begins with the next suggestion, if none is on its way and no undo changes files.
    pub(in crate::session) fn next_suggestion(&mut self) {
        while self.edits.suggested.running.is_none() && !self.undo.is_on() {
            let Some((caller, suggestion)) = self.edits.suggested.waiting.pop_front() else { return };
            self.set_home(Some(caller));
            let Open::Yes(document) = self.reading.reader.buffers().get(&suggestion.path) else {
                let text = "the document is not open in the editor any more; open it and accept the suggestion again";
                let _ = suggestion.done.send(Err(text.to_owned()));
                continue;
            };
            self.begin_suggestion(&document, suggestion);
        }
    }

    /// Makes a suggestion a turn that proposes it, and accepts what is proposed.
    fn begin_suggestion(&mut self, document: &Snapshot, suggestion: AcceptedSuggestion) {
        let AcceptedSuggestion { path, base, new_text, model, done } = suggestion;
        let (turn, call) = (TurnId::new(self.ids.next("turn")), ToolCallId::new(self.ids.next("suggestion")));
        let location = Location { uri: paths::to_uri(&path), line: None };
        self.record_suggestion(&turn, &call, &location, model);
        self.edits.suggested.running =
            Some(Running { turn, call: call.clone(), began: Instant::now(), location, is_unverified: false, done });
        let bases = vec![Some(Arc::clone(document.normal()))];
        let plan = FilePlan { path, read: Some(base), new_text: Some(new_text), moved_to: None };
        let (edits, context) = self.edits();
        let proposed = edits.take_plan(&call, EditPlan { files: vec![plan] }, bases, true, context.reading);
        if let Err(error) = proposed {
            return self.end_suggestion(Err(error.to_string()));
        }
        self.review_changed();
        let (done, settled) = oneshot::channel();
        let targets = self.edits.review.pending_of(&call, |_| true);
        self.accept_hunks(targets, Some(call), done);
        let own = self.work.own.clone();
        tokio::spawn(async move {
            let _ = own.send(Own::Edits(Message::SuggestionSettled(settled.await.unwrap_or_default())));
        });
    }

    /// Puts on record that a suggestion is accepted.
    fn record_suggestion(&mut self, turn: &TurnId, call: &ToolCallId, location: &Location, model: String) {
        if self.state.title.is_empty() {
            self.record(Event::TitleChanged { title: TITLE.to_owned() });
        }
        let path = paths::from_uri(&location.uri).unwrap_or_default();
        let title = format!("Suggestion accepted in {}", self.reading.roots.display(&path));
        self.record(Event::TurnStarted {
            turn_id: turn.clone(),
            prompt: vec![PromptBlock::Text { text: title.clone() }],
            context: String::new(),
            model,
            mode: self.state.mode,
            thinks: None,
            compacts: false,
        });
        self.record(Event::ToolCallStarted {
            turn_id: turn.clone(),
            tool_call_id: call.clone(),
            name: CALL.to_owned(),
            kind: ToolKind::Edit,
            title,
            input: serde_json::json!({}),
            locations: vec![location.clone()],
        });
    }

    /// Takes the news of a suggestion: what did not arrive.
    pub(super) fn suggestion_settled(&mut self, failures: &[String]) {
        let is_unverified = self.edits.suggested.running.as_ref().is_some_and(|running| running.is_unverified);
        let settled = match failures {
            [] if is_unverified => Err(NOT_SHOWN.to_owned()),
            [] => Ok(()),
            failures => Err(failures.join("; ")),
        };
        self.end_suggestion(settled);
        self.next_suggestion();
    }

    /// Ends the turn of the suggestion that is on its way. Of one that failed nothing stays proposed.
    fn end_suggestion(&mut self, outcome: Result<(), String>) {
        let Some(Running { turn, call, began, location, done, .. }) = self.edits.suggested.running.take() else {
            return;
        };
        let targets = self.edits.all_pending();
        if !targets.is_empty() {
            let session_id = self.id().clone();
            let params = ReviewDecideParams { session_id, decision: Decision::Reject, targets, message: None };
            if let Err(error) = self.decide(&params) {
                tracing::warn!(%error, "a suggestion that is not in its document stays proposed");
            }
        }
        let (stop_reason, error) = match &outcome {
            Ok(()) => (StopReason::EndTurn, None),
            Err(error) => (StopReason::Error, Some(error.clone())),
        };
        let text = error.clone().unwrap_or_else(|| "accepted by the user".to_owned());
        self.record(Event::ToolCallEnded {
            turn_id: turn.clone(),
            result: ToolResult { tool_call_id: call, text, is_error: error.is_some() },
            summary: String::new(),
            locations: vec![location],
            duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            rewritten_input: None,
        });
        let (usage, cost, new_errors) = (Usage::default(), None, None);
        self.record(Event::TurnEnded { turn_id: turn, stop_reason, error, usage, cost, new_errors });
        let _ = done.send(outcome);
    }
}

#[cfg(test)]
mod tests;
