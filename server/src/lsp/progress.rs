//! Running turns as LSP's work-done progress, for clients that show it. The user can cancel a turn there.

use std::collections::HashMap;
use std::time::Duration;

use hub::clock::now;
use protocol::{Event, SessionId, TurnId};
use serde_json::{Value, json};

use crate::front::words;

/// The activity of a turn whose model answers.
const THINKING: &str = "Thinking";

/// The turns that the client shows.
#[derive(Default)]
pub(super) struct Progress {
    shown: HashMap<SessionId, Shown>,
}

struct Shown {
    turn: TurnId,
    /// True if the client has taken the token.
    begun: bool,
    /// True since the last request failed, until something comes of the next.
    waits: bool,
    /// The current activity of the turn.
    message: String,
}

/// The message to send.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// `window/workDoneProgress/create`; [`Progress::created`] takes its success.
    Create(Value),
    /// `$/progress`.
    Report(Value),
}

impl Progress {
    /// Takes what happened in a session.
    pub(super) fn event(&mut self, session: &SessionId, event: &Event) -> Option<Step> {
        match event {
            Event::TurnStarted { turn_id, .. } => {
                let shown = Shown { turn: turn_id.clone(), begun: false, waits: false, message: THINKING.into() };
                self.shown.insert(session.clone(), shown);
                Some(Step::Create(json!({ "token": token(session, turn_id) })))
            }
            Event::ToolCallStarted { title, .. } => self.report(session, title),
            Event::Compacting { .. } => self.report(session, "Writing a handover"),
            Event::Compacted { .. } => self.report(session, THINKING),
            Event::ChildWorked { model, doing, .. } => {
                self.report(session, &format!("{model}: {}", doing.as_deref().unwrap_or(THINKING)))
            }
            Event::PermissionAsked { request, .. } => {
                self.report(session, &format!("Waiting for you: {}", request.title))
            }
            Event::Retrying { attempt, of, delay_ms, reason, .. } => {
                self.waits(session);
                self.report(session, &words::of_retry(*attempt, *of, Duration::from_millis(*delay_ms), reason))
            }
            // A retry was heard.
            Event::MessageDelta { .. } | Event::ThinkingDelta { .. } | Event::EditDelta { .. } => {
                let waited = self.shown.get_mut(session).is_some_and(|shown| std::mem::take(&mut shown.waits));
                waited.then(|| self.report(session, THINKING)).flatten()
            }
            Event::TurnModelChanged { model, instead_of, reason, until, error, account, .. } => {
                self.waits(session);
                let (reason, until, error, account) = (*reason, *until, error.as_deref(), account.as_ref());
                let switch = words::Switch { model, instead_of, reason, until, error, account };
                self.report(session, &words::of_switch(&switch, now()))
            }
            Event::TurnEnded { turn_id, .. } => {
                let shown = self.shown.remove(session).filter(|shown| shown.begun)?;
                (shown.turn == *turn_id).then(|| Step::Report(value(session, turn_id, json!({ "kind": "end" }))))
            }
            _ => None,
        }
    }

    /// The client has taken a token: its progress can begin, if the turn has not ended meanwhile.
    pub(super) fn created(&mut self, token: &Value) -> Option<Step> {
        let (session, turn) = turn_of(token)?;
        let shown = self.shown.get_mut(&session).filter(|shown| shown.turn == turn)?;
        shown.begun = true;
        let begin = json!({ "kind": "begin", "title": "Azimuth", "message": shown.message, "cancellable": true });
        Some(Step::Report(value(&session, &turn, begin)))
    }

    /// A request has failed, and the answer to another is waited for.
    fn waits(&mut self, session: &SessionId) {
        if let Some(shown) = self.shown.get_mut(session) {
            shown.waits = true;
        }
    }

    fn report(&mut self, session: &SessionId, message: &str) -> Option<Step> {
        let shown = self.shown.get_mut(session)?;
        shown.message = message.to_owned();
        let report = json!({ "kind": "report", "message": message, "cancellable": true });
        shown.begun.then(|| Step::Report(value(session, &shown.turn, report)))
    }
}

/// The turn that a token stands for.
pub(super) fn turn_of(token: &Value) -> Option<(SessionId, TurnId)> {
    let (session, turn) = token.as_str()?.strip_prefix("azimuth/")?.split_once('/')?;
    Some((session.into(), turn.into()))
}

fn token(session: &SessionId, turn: &TurnId) -> Value {
    json!(format!("azimuth/{session}/{turn}"))
}

fn value(session: &SessionId, turn: &TurnId, value: Value) -> Value {
    json!({ "token": token(session, turn), "value": value })
}

#[cfg(test)]
mod tests {
    use protocol::content::{ToolKind, Usage};
    use protocol::session::Mode;
    use protocol::turn::StopReason;

    use super::*;

    fn started() -> Event {
        let (model, mode) = ("m".into(), Mode::Agent);
        Event::TurnStarted {
            turn_id: "t".into(),
            prompt: vec![],
            context: String::new(),
            model,
            mode,
            thinks: None,
            compacts: false,
        }
    }

    fn call(title: &str) -> Event {
        Event::ToolCallStarted {
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            name: "read_file".into(),
            kind: ToolKind::Read,
            title: title.into(),
            input: Value::Null,
            locations: vec![],
        }
    }

    fn ended() -> Event {
        let (stop_reason, usage) = (StopReason::EndTurn, Usage::default());
        Event::TurnEnded { turn_id: "t".into(), stop_reason, error: None, usage, cost: None, new_errors: None }
    }

    fn kind(step: Option<Step>) -> Option<String> {
        match step? {
            Step::Create(_) => Some("create".into()),
            Step::Report(value) => value["value"]["kind"].as_str().map(Into::into),
        }
    }

    #[test]
    fn a_turn_begins_reports_its_tools_and_ends() {
        let (mut progress, session) = (Progress::default(), SessionId::from("s"));
        let Some(Step::Create(create)) = progress.event(&session, &started()) else { panic!("nothing is created") };
        assert_eq!(progress.event(&session, &call("Reading a.rs")), None, "the client has no token yet");
        let Some(Step::Report(begin)) = progress.created(&create["token"]) else { panic!("it does not begin") };
        assert_eq!(begin["value"]["message"], "Reading a.rs");
        assert_eq!(kind(progress.event(&session, &call("Reading b.rs"))).as_deref(), Some("report"));
        assert_eq!(kind(progress.event(&session, &ended())).as_deref(), Some("end"));
        assert_eq!(progress.event(&session, &call("late")), None);
        assert_eq!(turn_of(&create["token"]), Some((session, "t".into())));
    }

    #[test]
    fn a_wait_for_a_model_is_reported_and_can_be_cancelled_there() {
        let (mut progress, session) = (Progress::default(), SessionId::from("s"));
        let Some(Step::Create(create)) = progress.event(&session, &started()) else { panic!("nothing is created") };
        progress.created(&create["token"]);
        let (turn_id, reason) = ("t".into(), "x is overloaded".to_owned());
        let waits = Event::Retrying { turn_id, attempt: 1, of: Some(3), delay_ms: 17_000, reason };
        let Some(Step::Report(report)) = progress.event(&session, &waits) else { panic!("nothing is reported") };
        assert_eq!(report["value"]["message"], "x is overloaded; retry 1 of 3 in 17 s");
        assert_eq!(report["value"]["cancellable"], true);
        let piece = || Event::MessageDelta { message_id: "m".into(), text: "It".into() };
        let Some(Step::Report(report)) = progress.event(&session, &piece()) else { panic!("nothing is reported") };
        assert_eq!(report["value"]["message"], THINKING, "the retry was heard");
        assert_eq!(progress.event(&session, &piece()), None, "that is said once");
    }

    #[test]
    fn a_turn_that_ended_before_the_client_was_ready_is_not_shown() {
        let (mut progress, session) = (Progress::default(), SessionId::from("s"));
        let Some(Step::Create(create)) = progress.event(&session, &started()) else { panic!("nothing is created") };
        assert_eq!(progress.event(&session, &ended()), None);
        assert_eq!(progress.created(&create["token"]), None);
    }
}
