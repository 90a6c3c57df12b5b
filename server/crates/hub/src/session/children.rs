//! Sessions that a session starts, its *children*; and the report of such a session's first turn.

use agent::quoted;
use ports::children::{Child, ChildEnd, ChildError, ChildTools};
use ports::model::Message as ModelMessage;
use project::paths;
use protocol::content::Usage;
use protocol::session::{Mode, Purpose, Terms};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, PromptBlock, SessionId};

use super::{Caller, Own, Session, prompts};
use crate::post::{self, FirstPrompt, NewSession, Report, Requester};

impl Session {
    /// Starts a session for the turn that runs.
    pub(super) fn start_child(&mut self, child: Child, report: Report) {
        let Some(home) = self.prompts.home().cloned() else { return drop(report.ended.send(Err(ChildError::Gone))) };
        match self.new_child(&child) {
            Err(error) => drop(report.ended.send(Err(error))),
            Ok(new) => {
                let first = FirstPrompt { prompt: child.prompt, cancel: child.cancel, report };
                self.shared.post(None, post::Message::NewSession(home, new, Requester::Session(Box::new(first))));
            }
        }
    }

    /// The session that is asked for.
    ///
    /// # Errors
    /// This session may not start it.
    fn new_child(&self, child: &Child) -> Result<NewSession, ChildError> {
        if self.state.parent.is_some() {
            return Err(ChildError::Nested);
        }
        if child.prompt.trim().is_empty() {
            return Err(ChildError::NoPrompt);
        }
        let tools = match &child.tools {
            ChildTools::Named(names) => names.clone(),
            ChildTools::Reading => tools::only_reading(&self.reading.tools.all()),
        };
        if let Some(name) = tools.iter().find(|name| self.reading.tools.get(name).is_none()) {
            return Err(ChildError::NoSuchTool(name.clone()));
        }
        let most = self.freest_for_children();
        let mode = child.mode.unwrap_or(most);
        if freedom(mode) > freedom(most) {
            return Err(ChildError::Mode { asked: mode, most });
        }
        let (session_id, budget) = (self.id().clone(), child.budget);
        Ok(NewSession {
            folders: self.state.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect(),
            model: child.model.clone().or_else(|| self.state.chosen().map(|chosen| chosen.selector())),
            mode,
            is_asked_for: false,
            parent: Some(Terms { session_id, tools, budget }),
            purpose: Purpose::Chat,
        })
    }

    /// The mode that a child may have at most: that of the turn, or the one that the user has chosen since, if it may
    /// do less. A confirmation is for its own session.
    fn freest_for_children(&self) -> Mode {
        let of_turn = self.gate.mode_of_turn().unwrap_or(self.state.mode);
        let least = [of_turn, self.state.mode].into_iter().min_by_key(|mode| freedom(*mode)).unwrap_or_default();
        if least.needs_confirmation() { Mode::AcceptEdits } else { least }
    }

    /// Begins a session that another one started.
    pub(super) fn begin_as_child(&mut self, caller: Caller, first: FirstPrompt) {
        let FirstPrompt { prompt, cancel, report } = first;
        // A model wrote it, so our tags in it are not ours.
        let text = quoted(&prompt).into_owned();
        self.prepare_first_turn(caller, vec![PromptBlock::Text { text }], report);
        let own = self.work.own.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => drop(own.send(Own::Prompts(prompts::Message::GivenUp))),
                () = own.closed() => {}
            }
        });
    }

    /// Tells the session whose call waits for this one's first turn of what happens in that turn.
    pub(super) fn tell_parent(&mut self, event: &Event) {
        let session = self.log.feed().session();
        if let Some(report) = self.prompts.report()
            && let Some(worked) = report.worked(session, event)
        {
            (report.record)(worked);
        }
    }

    /// Reports how the session's first turn ended, if another session waits for that.
    pub(super) fn report_end(&self, report: Option<Report>, stop: StopReason, error: Option<String>) {
        let Some(report) = report else { return };
        let messages = self.state.history.messages();
        let answers = messages.iter().rev().filter_map(|message| match &**message {
            ModelMessage::Assistant(blocks) => Some(said(blocks)),
            ModelMessage::User(_) | ModelMessage::ToolResults(_) => None,
        });
        // At the limit of rounds the last one is ours: it asks whether to go on.
        let own = usize::from(stop == StopReason::MaxTurnRequests);
        let text = answers.skip(own).find(|text| !text.is_empty()).unwrap_or_default();
        let cost = self.state.unpriced.is_empty().then_some(self.state.cost);
        let (session, usage) = (self.id().clone(), self.state.usage);
        let Report { ended, model, rounds, .. } = report;
        let _ = ended.send(Ok(ChildEnd { session, model, rounds, stop, error, text, usage, cost }));
    }
}

impl Report {
    /// The event by which the session of the call hears of an event of the turn; none if it is no news there.
    fn worked(&mut self, session: &SessionId, event: &Event) -> Option<Event> {
        let (mut usage, mut cost, mut doing) = (Usage::default(), None, None);
        match event {
            Event::TurnStarted { model, .. } if model.is_empty() => return None,
            Event::TurnStarted { model, .. } | Event::TurnModelChanged { model, .. } => self.model.clone_from(model),
            Event::MessageCompleted { usage: used, cost: paid, .. } => {
                // Without usage, nobody was asked: the turn itself says that it stops.
                self.rounds += u32::from(*used != Usage::default());
                (usage, cost) = (*used, *paid);
            }
            Event::RequestPaid { usage: used, cost: paid, .. } => (usage, cost) = (*used, *paid),
            Event::ToolCallStarted { title, .. } => doing = Some(title.clone()),
            _ => return None,
        }
        Some(Event::ChildWorked {
            turn_id: self.turn.clone(),
            tool_call_id: self.call.clone(),
            child: session.clone(),
            model: self.model.clone(),
            rounds: self.rounds,
            doing,
            usage,
            cost,
        })
    }
}

/// The place of a mode among all, the one that may do least first.
fn freedom(mode: Mode) -> Option<usize> {
    Mode::ALL.iter().position(|it| *it == mode)
}

fn said(blocks: &[AssistantBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        AssistantBlock::Text { text, .. } => Some(text.as_str()),
        AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use protocol::TurnId;
    use protocol::content::Opening;
    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn the_parent_is_told_of_the_model_of_each_answer_with_its_cost_and_of_calls_and_of_nothing_else() {
        let (record, recorded) = mpsc::channel();
        let mut report = Report {
            ended: oneshot::channel().0,
            record: Box::new(move |event| record.send(event).unwrap()),
            turn: "of-parent".into(),
            call: "call".into(),
            model: String::new(),
            rounds: 0,
        };
        let (usage, turn_id) = (Usage { output: 7, ..Usage::default() }, TurnId::from("t"));
        let began = |model: &str| Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt: Vec::new(),
            context: String::new(),
            model: model.into(),
            mode: Mode::Ask,
            thinks: None,
            compacts: false,
        };
        let called = Event::ToolCallStarted {
            turn_id: turn_id.clone(),
            tool_call_id: "c".into(),
            name: "read_file".into(),
            kind: protocol::content::ToolKind::Read,
            title: "Reading a.txt".into(),
            input: serde_json::Value::Null,
            locations: Vec::new(),
        };
        let (content, message_id) = (Vec::new(), "m".into());
        let answered = Event::MessageCompleted {
            turn_id: turn_id.clone(),
            message_id,
            content,
            usage,
            cost: Some(0.5),
            timing: None,
            opening: Opening::default(),
        };
        let stops = Event::MessageCompleted {
            turn_id: turn_id.clone(),
            message_id: "m2".into(),
            content: Vec::new(),
            usage: Usage::default(),
            cost: Some(0.0),
            timing: None,
            opening: Opening::default(),
        };
        let paid = Event::RequestPaid { turn_id: turn_id.clone(), usage, cost: None, opening: Opening::default() };
        let ended = Event::TurnEnded {
            turn_id: turn_id.clone(),
            stop_reason: StopReason::EndTurn,
            error: None,
            usage,
            cost: Some(0.5),
            new_errors: None,
        };
        let session = SessionId::from("child");
        for event in [began(""), began("wise"), answered, called, paid, stops, ended] {
            report.worked(&session, &event).into_iter().for_each(&report.record);
        }
        let told: Vec<_> = recorded.try_iter().collect();
        let told: Vec<_> = told
            .iter()
            .map(|event| match event {
                Event::ChildWorked { model, rounds, doing, usage, cost, .. } => {
                    (model.as_str(), *rounds, doing.as_deref(), usage.output, *cost)
                }
                other => panic!("{other:?}"),
            })
            .collect();
        let expected = [
            ("wise", 0, None, 0, None),
            ("wise", 1, None, 7, Some(0.5)),
            ("wise", 1, Some("Reading a.txt"), 0, None),
            ("wise", 1, None, 7, None),
            ("wise", 1, None, 0, Some(0.0)),
        ];
        assert_eq!(told, expected);
    }
}
