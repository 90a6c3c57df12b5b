//! A form that is filled in step by step, for fronts that can only offer a choice at a time.

use protocol::form::{Form, FormAnswer, FormOption, FormQuestion};
use protocol::permission::{PermissionAnswerParams, PermissionOptionKind, PermissionRequest};
use protocol::{PermissionId, SessionId};
use serde::{Deserialize, Serialize};

/// A form as far as it is filled in: the answers to its first questions, and the options that are chosen so far of the
/// next one, if that takes several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Filled {
    /// The answers.
    pub(crate) answers: Vec<FormAnswer>,
    /// The options of the next question.
    pub(crate) open: Vec<usize>,
}

/// A step: its words, and how far the form is then.
pub(crate) struct Step {
    pub(crate) words: String,
    pub(crate) then: Filled,
}

/// How far a form is filled in, as a code action says it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Fill {
    pub(crate) session_id: SessionId,
    pub(crate) permission_id: PermissionId,
    pub(crate) filled: Filled,
}

/// The answer that sends what is filled in; none for a question that has no form.
pub(crate) fn answer(
    session_id: SessionId,
    request: &PermissionRequest,
    filled: Filled,
) -> Option<PermissionAnswerParams> {
    let option = request.options.iter().find(|option| option.kind == PermissionOptionKind::AllowOnce)?;
    let (permission_id, option_id) = (request.permission_id.clone(), option.option_id.clone());
    Some(PermissionAnswerParams { session_id, permission_id, option_id, message: None, answers: filled.answers })
}

impl Filled {
    /// The question that is to be answered next; none if all are.
    pub(crate) fn next<'f>(&self, form: &'f Form) -> Option<&'f FormQuestion> {
        form.questions.get(self.answers.len())
    }

    /// The steps that can be taken from here: the options, and where several can be chosen, that these are all.
    pub(crate) fn steps(&self, form: &Form) -> Vec<Step> {
        let Some(question) = self.next(form) else { return Vec::new() };
        let left = question.options.iter().enumerate().filter(|(place, _)| !self.open.contains(place));
        let option = |(place, option): (usize, &FormOption)| {
            let chosen = self.open.iter().copied().chain([place]).collect();
            let recommended = if option.recommended { " (recommended)" } else { "" };
            let plus = if question.multiple { "+ " } else { "" };
            let then = if question.multiple {
                Self { answers: self.answers.clone(), open: chosen }
            } else {
                self.with(FormAnswer { chosen, other: None })
            };
            Step { words: format!("{plus}{}{recommended}", option.label), then }
        };
        let steps: Vec<_> = left.map(option).collect();
        if self.open.is_empty() {
            return steps;
        }
        let labels: Vec<_> = self.open.iter().filter_map(|place| question.options.get(*place)).collect();
        let labels: Vec<_> = labels.into_iter().map(|option| option.label.as_str()).collect();
        let done = Step { words: format!("That is all: {}", labels.join(", ")), then: self.answered(None) };
        [done].into_iter().chain(steps).collect()
    }

    /// With the next question answered by what is chosen of it, and in these words of the user's.
    pub(crate) fn answered(&self, other: Option<String>) -> Self {
        self.with(FormAnswer { chosen: self.open.clone(), other })
    }

    fn with(&self, answer: FormAnswer) -> Self {
        Self { answers: self.answers.iter().cloned().chain([answer]).collect(), open: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(multiple: bool) -> FormQuestion {
        let option =
            |label: &str| FormOption { label: label.to_owned(), description: String::new(), recommended: label == "b" };
        let options = ["a", "b"].map(option).to_vec();
        FormQuestion { header: "Way".to_owned(), question: "Which?".to_owned(), options, multiple }
    }

    #[test]
    fn a_form_is_filled_in_a_choice_at_a_time() {
        let form = Form { questions: vec![question(false), question(true)], timeout_seconds: None };
        let words = |filled: &Filled| filled.steps(&form).into_iter().map(|step| step.words).collect::<Vec<_>>();
        let take = |filled: &Filled, words: &str| {
            filled.steps(&form).into_iter().find(|step| step.words == words).map(|step| step.then).unwrap()
        };
        let begun = Filled::default();
        assert_eq!(words(&begun), ["a", "b (recommended)"]);
        let second = take(&begun, "b (recommended)");
        assert_eq!(words(&second), ["+ a", "+ b (recommended)"]);
        let chosen = take(&second, "+ a");
        assert_eq!(words(&chosen), ["That is all: a", "+ b (recommended)"]);
        let done = take(&chosen, "That is all: a");
        assert!(done.next(&form).is_none() && done.steps(&form).is_empty());
        assert_eq!(done.answers.iter().map(|answer| answer.chosen.clone()).collect::<Vec<_>>(), [vec![1], vec![0]]);
        assert_eq!(chosen.answered(Some("c".to_owned())).answers[1].other.as_deref(), Some("c"));
    }
}
