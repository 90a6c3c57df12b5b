//! `/compact`, and the requests about handovers: what the user has to say of them.

use agent::commands::built_in::{Compact, Summarize};
use async_trait::async_trait;
use protocol::compaction::{CompactionCorrectParams, CompactionUndoParams};
use protocol::terminal::Done as Answer;
use protocol::{CompactionId, ErrorCode, Event};
use serde_json::json;

use super::commands::{Done, Execute};
use super::preparation::Preparation;
use crate::session::{Caller, Session};
use crate::{Error, Reply};

/// The words to a user who speaks of a handover where there is none.
const NONE: &str = "there is no handover in this conversation";

#[async_trait]
impl Execute for Compact {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let standing = || preparation.handover.clone().ok_or_else(|| NONE.to_owned());
        match self {
            Self::Write(asked) => {
                done.compaction = Some(asked);
                Ok("Compacting the conversation.".to_owned())
            }
            Self::Correct(written) => {
                done.events.push(Event::CompactionCorrected { compaction_id: standing()?, written });
                Ok("The handover is corrected: the model reads your text from now on.".to_owned())
            }
            Self::TakeBack => {
                done.events.push(Event::CompactionTakenBack { compaction_id: standing()? });
                Ok("The handover is taken back: the model sees the replaced messages again.".to_owned())
            }
        }
    }
}

#[async_trait]
impl Execute for Summarize {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        self.0.execute(preparation, done).await
    }
}

impl Session {
    /// Gives what a model wrote of a handover another text.
    pub(super) fn correct_handover(&mut self, _: Caller, params: CompactionCorrectParams, reply: Reply<Answer>) {
        let CompactionCorrectParams { compaction_id, written, .. } = params;
        let corrected = self.standing(Some(&compaction_id));
        let corrected = corrected.map(|compaction_id| Event::CompactionCorrected { compaction_id, written });
        self.change_handover(corrected, reply);
    }

    /// Takes a handover back.
    pub(super) fn take_handover_back(&mut self, _: Caller, params: CompactionUndoParams, reply: Reply<Answer>) {
        let taken_back = self.standing(params.compaction_id.as_ref());
        let taken_back = taken_back.map(|compaction_id| Event::CompactionTakenBack { compaction_id });
        self.change_handover(taken_back, reply);
    }

    /// The handover that is meant, if it is the last one and nothing is at work with it: the others stand for nothing
    /// that the model sees.
    fn standing(&self, meant: Option<&CompactionId>) -> Result<CompactionId, Error> {
        if let Some(turn) = self.prompts.turn() {
            let text = "a turn is running in this session and works with the handover: cancel it first, or let it end";
            return Err(Error::new(ErrorCode::TurnRunning, text).with_data(json!({ "turnId": turn })));
        }
        let history = &self.state.history;
        match meant {
            Some(id) if history.handover() == Some(id) => Ok(id.clone()),
            Some(id) if history.handovers().contains(id) => {
                let text = "a later handover replaces this one: undo that one first";
                Err(Error::new(ErrorCode::OperationFailed, text))
            }
            Some(id) => Err(Error::not_found("handover", id)),
            None => history.handover().cloned().ok_or_else(|| Error::new(ErrorCode::OperationFailed, NONE)),
        }
    }

    fn change_handover(&mut self, event: Result<Event, Error>, reply: Reply<Answer>) {
        let answer = event.map(|event| {
            self.record(event);
            Answer {}
        });
        self.answer_when_stored(reply, answer);
    }
}
