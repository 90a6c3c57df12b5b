//! Sessions that a session starts, and what such a session tells of its first turn.

use ports::children::{Child, ChildEnd, ChildError};
use ports::model::Message as ModelMessage;
use protocol::session::{Mode, Parent};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, PromptBlock};

use super::{Caller, Own, Session, prompts};
use crate::post::{self, FirstPrompt, For, NewSession, Report};

impl Session {
    /// Starts a session for the turn that runs.
    pub(super) fn start_child(&mut self, child: Child, ended: Report) {
        let Some(home) = self.prompts.home().cloned() else { return drop(ended.send(Err(ChildError::Gone))) };
        match self.on_terms(&child) {
            Err(error) => drop(ended.send(Err(error))),
            Ok(new) => {
                let first = FirstPrompt { prompt: child.prompt, cancel: child.cancel, ended };
                self.shared.post(None, post::Message::NewSession(home, new, For::Session(Box::new(first))));
            }
        }
    }

    /// The session that is asked for, if this one may start it.
    fn on_terms(&self, child: &Child) -> Result<NewSession, ChildError> {
        if self.state.parent.is_some() {
            return Err(ChildError::Nested);
        }
        if let Some(name) = child.tools.iter().find(|name| self.reading.tools.get(name).is_none()) {
            return Err(ChildError::NoSuchTool(name.clone()));
        }
        let own = self.gate.mode_of_turn().unwrap_or(self.state.mode);
        // A confirmation is for its own session.
        let inherited = Some(own).filter(|mode| !mode.needs_confirmation()).unwrap_or(Mode::AcceptEdits);
        let mode = child.mode.unwrap_or(inherited);
        let place = |mode| Mode::ALL.iter().position(|it| *it == mode);
        if place(mode) > place(inherited) {
            return Err(ChildError::Mode { asked: mode, own });
        }
        Ok(NewSession {
            folders: self.reading.roots.iter().map(|root| root.path.clone()).collect(),
            model: child.model.clone().or_else(|| self.state.model.clone()),
            mode,
            is_asked_for: false,
            parent: Some(Parent { session_id: self.id().clone(), tools: child.tools.clone(), budget: child.budget }),
        })
    }

    /// Begins a session that another one started.
    pub(super) fn begin_as_child(&mut self, caller: Caller, first: FirstPrompt) {
        let FirstPrompt { prompt, cancel, ended } = first;
        self.prepare_first_turn(caller, vec![PromptBlock::Text { text: prompt }], ended);
        let own = self.work.own.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => drop(own.send(Own::Prompts(prompts::Message::GivenUp))),
                () = own.closed() => {}
            }
        });
    }

    /// Tells whoever started the session how its first turn ended.
    pub(super) fn tell_of_end(&self, report: Option<Report>, stop: StopReason, error: Option<String>) {
        let Some(report) = report else { return };
        let text = self.state.history.messages().iter().rev().find_map(|message| match &**message {
            ModelMessage::Assistant(blocks) => Some(said(blocks)),
            ModelMessage::User(_) | ModelMessage::ToolResults(_) => None,
        });
        let cost = self.state.unpriced.is_empty().then_some(self.state.cost);
        let (session, text, usage) = (self.id().clone(), text.unwrap_or_default(), self.state.usage);
        let _ = report.send(Ok(ChildEnd { session, stop, error, text, usage, cost }));
    }
}

fn said(blocks: &[AssistantBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match block {
        AssistantBlock::Text { text, .. } => Some(text.as_str()),
        AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n").trim().to_owned()
}
