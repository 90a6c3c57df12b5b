//! The questions that stand, and their answers.

use agent::session::Answer;
use protocol::permission::{
    PermissionAbout, PermissionAnswerParams, PermissionAnswerResult, PermissionOutcome, PermissionRequest,
};
use protocol::{ErrorCode, Event, PermissionId};
use tokio::sync::oneshot;

use super::{Caller, Session};
use crate::hub::Error;

/// A question that stands.
pub(super) struct Question {
    pub(super) request: PermissionRequest,
    /// The turn that waits; none where it ended with an earlier process.
    pub(super) waiting: Option<oneshot::Sender<Answer>>,
}

impl Session {
    pub(super) fn answer(
        &mut self,
        caller: Caller,
        params: PermissionAnswerParams,
    ) -> Result<PermissionAnswerResult, Error> {
        let Some(question) = self.questions.get(&params.permission_id) else {
            // Answered in another view, or by the turn's end: harmless, as long as it was a question of this session.
            return if self.state.asked.contains(&params.permission_id) {
                Ok(PermissionAnswerResult { accepted: false })
            } else {
                Err(Error::not_found("question", &params.permission_id))
            };
        };
        if !question.request.options.iter().any(|option| option.option_id == params.option_id) {
            let options: Vec<_> = question.request.options.iter().map(|option| option.option_id.as_str()).collect();
            let text = format!("invalid params: `optionId`: {} is none of {}", params.option_id, options.join(", "));
            return Err(Error::new(ErrorCode::InvalidParams, text));
        }
        let outcome =
            PermissionOutcome::Selected { option_id: params.option_id.clone(), message: params.message.clone() };
        let question = self.close_question(&params.permission_id, outcome);
        let answer = Answer::Selected { option_id: params.option_id, message: params.message };
        match question {
            Some(Question { waiting: Some(waiting), .. }) => drop(waiting.send(answer)),
            Some(Question { waiting: None, request }) if request.about == PermissionAbout::Trust => {
                self.keep_trust(caller, answer);
            }
            // It is asked anew, by who wants the program then: the answer was to a question whose program may have
            // changed.
            Some(Question { waiting: None, request }) if request.about == PermissionAbout::Program => {
                self.resume_turn(caller, None, Answer::Moot);
            }
            // The turn that asked ended with an earlier process: it goes on from here, with the answer.
            Some(Question { waiting: None, request }) => self.resume_turn(caller, request.tool_call_id, answer),
            None => {}
        }
        Ok(PermissionAnswerResult { accepted: true })
    }

    pub(super) fn close_question(&mut self, id: &PermissionId, outcome: PermissionOutcome) -> Option<Question> {
        let question = self.questions.remove(id)?;
        self.record(Event::PermissionAnswered { permission_id: id.clone(), outcome });
        Some(question)
    }

    /// Closes every question: their turn ended, or something else was begun.
    pub(super) fn close_questions(&mut self) {
        while let Some((id, question)) = self.questions.pop_first() {
            self.record(Event::PermissionAnswered { permission_id: id, outcome: PermissionOutcome::Cancelled });
            if let Some(waiting) = question.waiting {
                let _ = waiting.send(Answer::Cancelled);
            }
        }
    }
}
