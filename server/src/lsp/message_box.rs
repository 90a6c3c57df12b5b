//! A question to the user as a message box, or as several one after another, for clients without a panel.

use hub::visible;
use protocol::SessionId;
use protocol::event::Severity;
use protocol::permission::{PermissionAnswerParams, PermissionOptionKind, PermissionRequest};
use serde_json::{Value, json};

use super::convert;
use crate::front::forms::{Filled, answer};

/// A question, as far as it is answered.
pub(super) struct Boxes {
    session: SessionId,
    request: PermissionRequest,
    filled: Filled,
}

/// The consequence of a box that was answered.
pub(super) enum Next {
    /// There is another box to be shown.
    Box,
    /// This is the answer.
    Answer(PermissionAnswerParams),
    /// The box was closed, which answers nothing: the question stands.
    Nothing,
}

impl Boxes {
    pub(super) fn new(session: SessionId, request: PermissionRequest) -> Self {
        Self { session, request, filled: Filled::default() }
    }

    /// The parameters of the next `window/showMessageRequest`.
    pub(super) fn params(&self) -> Value {
        let request = &self.request;
        let next = request.form.as_ref().and_then(|form| Some((form, self.filled.next(form)?)));
        let (message, titles) = match next {
            None => {
                let titles = request.options.iter().map(|option| option.name.clone()).collect();
                (format!("{}\n{}\n({})", request.title, request.detail, request.reason), titles)
            }
            Some((form, question)) => {
                let options = question.options.iter().filter(|option| !option.description.is_empty());
                let described = options.map(|option| format!("\n{}: {}", option.label, option.description));
                let steps = self.filled.steps(form).into_iter().map(|step| step.words);
                let message = format!("{}{}", question.question, described.collect::<String>());
                (message, steps.chain(self.dismissal()).collect::<Vec<_>>())
            }
        };
        let actions: Vec<_> = titles.iter().map(|title| json!({ "title": title })).collect();
        json!({ "type": convert::message_type(Severity::Info), "message": visible::text(&message), "actions": actions })
    }

    /// Takes what was chosen in the box.
    pub(super) fn take(&mut self, chosen: Option<&Value>) -> Next {
        let Some(title) = chosen.and_then(|chosen| chosen.get("title")?.as_str()) else { return Next::Nothing };
        let steps = self.request.form.as_ref().map(|form| self.filled.steps(form)).unwrap_or_default();
        if let (Some(form), Some(step)) = (&self.request.form, steps.into_iter().find(|step| step.words == title)) {
            self.filled = step.then;
            if self.filled.next(form).is_some() {
                return Next::Box;
            }
            let answer = answer(self.session.clone(), &self.request, self.filled.clone());
            return answer.map_or(Next::Nothing, Next::Answer);
        }
        let Some(option) = self.request.options.iter().find(|option| option.name == title) else {
            return Next::Nothing;
        };
        let (permission_id, option_id) = (self.request.permission_id.clone(), option.option_id.clone());
        let session_id = self.session.clone();
        Next::Answer(PermissionAnswerParams {
            session_id,
            permission_id,
            option_id,
            message: None,
            answers: Vec::new(),
        })
    }

    /// The words by which the questions are dismissed.
    fn dismissal(&self) -> Option<String> {
        let options = self.request.options.iter();
        let mut dismissing = options.filter(|option| option.kind == PermissionOptionKind::RejectOnce);
        dismissing.next().map(|option| option.name.clone())
    }
}
