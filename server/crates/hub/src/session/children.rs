//! Sessions that a session starts, its *children*; and the report of such a session's first turn.

use agent::quoted;
use ports::children::{Child, ChildEnd, ChildError};
use ports::model::Message as ModelMessage;
use project::paths;
use protocol::session::{Mode, Purpose, Terms};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, PromptBlock};

use super::{Caller, Own, Session, prompts};
use crate::post::{self, FirstPrompt, NewSession, Report, Requester};

impl Session {
    /// Starts a session for the turn that runs.
    pub(super) fn start_child(&mut self, child: Child, ended: Report) {
        let Some(home) = self.prompts.home().cloned() else { return drop(ended.send(Err(ChildError::Gone))) };
        match self.new_child(&child) {
            Err(error) => drop(ended.send(Err(error))),
            Ok(new) => {
                let first = FirstPrompt { prompt: child.prompt, cancel: child.cancel, ended };
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
        if let Some(name) = child.tools.iter().find(|name| self.reading.tools.get(name).is_none()) {
            return Err(ChildError::NoSuchTool(name.clone()));
        }
        let most = self.freest_for_children();
        let mode = child.mode.unwrap_or(most);
        if freedom(mode) > freedom(most) {
            return Err(ChildError::Mode { asked: mode, most });
        }
        let (session_id, tools, budget) = (self.id().clone(), child.tools.clone(), child.budget);
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
        let FirstPrompt { prompt, cancel, ended } = first;
        // A model wrote it, so our tags in it are not ours.
        let text = quoted(&prompt).into_owned();
        self.prepare_first_turn(caller, vec![PromptBlock::Text { text }], ended);
        let own = self.work.own.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => drop(own.send(Own::Prompts(prompts::Message::GivenUp))),
                () = own.closed() => {}
            }
        });
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
        let _ = report.send(Ok(ChildEnd { session, stop, error, text, usage, cost }));
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
