//! The questions that stand, and their answers.

use std::collections::{BTreeMap, BTreeSet};

use ports::session::Answer;
use protocol::form::{Form, FormAnswer};
use protocol::permission::{PermissionAbout, PermissionAnswerParams, PermissionOutcome, PermissionRequest};
use protocol::{ErrorCode, Event, PermissionId, ToolCallId};
use tokio::sync::oneshot;

use crate::Error;

/// The questions that stand.
#[derive(Default)]
pub(super) struct Questions(BTreeMap<PermissionId, Question>);

struct Question {
    request: PermissionRequest,
    /// The turn that waits; none if it ended with an earlier process.
    asker: Option<oneshot::Sender<Answer>>,
}

/// A question that is closed: once that is recorded, whoever asked is to hear the answer.
#[must_use]
pub(in crate::session) struct Closed {
    pub(super) event: Event,
    pub(super) asker: Asker,
}

/// Who asked a question, if a turn still waits, and the answer.
pub(in crate::session) struct Asker(Option<(oneshot::Sender<Answer>, Answer)>);

/// A question that the user answered, and what follows where its turn waits no longer.
pub(super) struct Answered {
    pub(super) closed: Closed,
    pub(super) follow: Option<Follow>,
}

/// The consequence of an answer for which no turn waits.
#[derive(Debug, PartialEq)]
pub(super) enum Follow {
    /// The answer's word on trust is kept, and then the turn goes on.
    KeepTrust(Answer),
    /// If the answer allows to spend more, the turn goes on.
    Spend(Answer),
    /// The turn goes on, with this answer to what the call asked, if a call did.
    Resume(Option<ToolCallId>, Answer),
}

impl Asker {
    /// Gives the answer.
    pub(super) fn tell(self) {
        if let Some((asker, answer)) = self.0 {
            let _ = asker.send(answer);
        }
    }
}

impl Questions {
    /// Those that an earlier process left.
    pub(super) fn standing(requests: impl IntoIterator<Item = PermissionRequest>) -> Self {
        let question = |request: PermissionRequest| {
            let id = request.permission_id.clone();
            (id, Question { request, asker: None })
        };
        Self(requests.into_iter().map(question).collect())
    }

    /// One more stands.
    pub(super) fn put(&mut self, request: PermissionRequest, asker: oneshot::Sender<Answer>) {
        self.0.insert(request.permission_id.clone(), Question { request, asker: Some(asker) });
    }

    /// Nobody waits for their answers any more.
    pub(super) fn leave(&mut self) {
        self.0.values_mut().for_each(|question| question.asker = None);
    }

    /// Takes the user's answer. None if the question, one of `asked`, stands no longer.
    ///
    /// # Errors
    /// There never was such a question, or the answer is none of its options.
    pub(super) fn answer(
        &mut self,
        params: PermissionAnswerParams,
        asked: &BTreeSet<PermissionId>,
    ) -> Result<Option<Answered>, Error> {
        let PermissionAnswerParams { permission_id: id, option_id, message, answers, .. } = params;
        let Some(Question { request, .. }) = self.0.get(&id) else {
            // Answered in another view, or by the turn's end: harmless, as long as it was a question of this session.
            return if asked.contains(&id) { Ok(None) } else { Err(Error::not_found("question", &id)) };
        };
        if !request.options.iter().any(|option| option.option_id == option_id) {
            let options: Vec<_> = request.options.iter().map(|option| option.option_id.as_str()).collect();
            let text = format!("invalid params: `optionId`: {option_id} is none of {}", options.join(", "));
            return Err(Error::new(ErrorCode::InvalidParams, text));
        }
        if let Err(why) = fits(request.form.as_ref(), &answers) {
            return Err(Error::new(ErrorCode::InvalidParams, format!("invalid params: `answers`: {why}")));
        }
        let Some(Question { request, asker }) = self.0.remove(&id) else { return Ok(None) };
        let (option, said, filled) = (option_id.clone(), message.clone(), answers.clone());
        let outcome = PermissionOutcome::Selected { option_id: option, message: said, answers: filled };
        let event = Event::PermissionAnswered { permission_id: id, outcome };
        let answer = Answer::Selected { option_id, message, answers };
        let (asker, follow) = match asker {
            Some(asker) => (Some((asker, answer)), None),
            None => (None, Some(follow(request, answer))),
        };
        Ok(Some(Answered { closed: Closed { event, asker: Asker(asker) }, follow }))
    }

    /// Closes those that are such by what was asked and by whether a turn waits. The answer is none of the user's.
    pub(super) fn close(&mut self, answer: &Answer, is_one: impl Fn(&PermissionRequest, bool) -> bool) -> Vec<Closed> {
        let closed = self.0.extract_if(.., |_, question| is_one(&question.request, question.asker.is_some()));
        let closed = closed.map(|(permission_id, question)| {
            let outcome = match answer {
                Answer::Moot => PermissionOutcome::Moot,
                Answer::TimedOut => PermissionOutcome::TimedOut,
                _ => PermissionOutcome::Cancelled,
            };
            let asker = Asker(question.asker.map(|asker| (asker, answer.clone())));
            Closed { event: Event::PermissionAnswered { permission_id, outcome }, asker }
        });
        closed.collect()
    }
}

/// Checks that these are answers to a form.
///
/// # Errors
/// Something does not fit.
fn fits(form: Option<&Form>, answers: &[FormAnswer]) -> Result<(), String> {
    let questions = form.map(|form| form.questions.as_slice()).unwrap_or_default();
    if !answers.is_empty() && answers.len() != questions.len() {
        return Err(format!("there are {}, and {} questions", answers.len(), questions.len()));
    }
    for (number, (question, answer)) in (1..).zip(questions.iter().zip(answers)) {
        let different: BTreeSet<_> = answer.chosen.iter().collect();
        if let Some(place) = answer.chosen.iter().find(|place| **place >= question.options.len()) {
            return Err(format!("question {number} has no option {place}"));
        }
        if different.len() != answer.chosen.len() {
            return Err(format!("an option of question {number} is chosen twice"));
        }
        if !question.multiple && answer.chosen.len() + usize::from(answer.words().is_some()) > 1 {
            return Err(format!("question {number} takes one answer"));
        }
    }
    Ok(())
}

fn follow(request: PermissionRequest, answer: Answer) -> Follow {
    match request.about {
        PermissionAbout::Trust => Follow::KeepTrust(answer),
        PermissionAbout::Budget => Follow::Spend(answer),
        // It is asked anew, by who wants the program then: the answer was to a question whose program may have changed.
        PermissionAbout::Program => Follow::Resume(None, Answer::Moot),
        // The turn that asked ended with an earlier process: it goes on from here, with the answer.
        _ => Follow::Resume(request.tool_call_id, answer),
    }
}
