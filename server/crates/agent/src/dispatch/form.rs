//! The model's own questions to the user: how they are put, and what the model is told of the answers.

use ports::session::Answer;
use protocol::form::{Form, FormAnswer, FormQuestion};
use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionRequest};

use super::question::REJECT;
use super::{Gate, Outcome};
use crate::history::OpenCall;
use crate::wait::until_cancelled;

/// The option that sends what is filled in.
const SEND: &str = "send";
/// How long the summary of the answers is at most, in characters.
const SUMMARY: usize = 80;
/// The end of an answer in which something was assumed.
const SAY_SO: &str = "Go on with this, and tell the user what was assumed when you are done.";

impl Gate {
    /// Asks the user, and makes the call's outcome of the answers.
    pub(super) async fn ask_form(&self, call: &OpenCall, form: Form) -> Outcome {
        let request = PermissionRequest {
            permission_id: self.session.permission_id(),
            tool_call_id: Some(call.id.clone()),
            about: PermissionAbout::Form,
            title: title(&form),
            detail: detail(&form),
            reason: "the model asks you".to_owned(),
            options: vec![
                PermissionOption {
                    option_id: SEND.to_owned(),
                    name: "Go on as recommended".to_owned(),
                    kind: PermissionOptionKind::AllowOnce,
                },
                PermissionOption {
                    option_id: REJECT.to_owned(),
                    name: "Dismiss".to_owned(),
                    kind: PermissionOptionKind::RejectOnce,
                },
            ],
            form: Some(form.clone()),
        };
        let answer = until_cancelled(&self.cancel, self.session.ask(request)).await;
        let (text, summary) = match answer {
            None | Some(Answer::Cancelled | Answer::Moot) => return Outcome::cancelled(),
            Some(Answer::Selected { option_id, message, answers }) if option_id == SEND => {
                (answered(&form, &answers, message), summary(&form, &answers))
            }
            Some(Answer::Selected { message, .. }) => (dismissed(message), "dismissed".to_owned()),
            Some(Answer::TimedOut) => {
                let seconds = form.timeout_seconds.unwrap_or_default();
                let head = format!("The user did not answer within {seconds} seconds.");
                (assumed(&head, &form), format!("no answer in {seconds} s"))
            }
            Some(Answer::Nobody) => {
                (assumed("Nobody is there to answer.", &form), "nobody is there to answer".to_owned())
            }
        };
        Outcome { text, summary, ..Outcome::default() }
    }
}

fn title(form: &Form) -> String {
    match form.questions.as_slice() {
        [only] => only.question.clone(),
        more => {
            let headers: Vec<_> = more.iter().map(|question| question.header.as_str()).collect();
            format!("{} questions: {}", more.len(), headers.join(", "))
        }
    }
}

/// The form as text, for clients that show no forms.
fn detail(form: &Form) -> String {
    let mut lines = Vec::new();
    for question in &form.questions {
        if form.questions.len() > 1 {
            lines.push(format!("{}: {}", question.header, question.question));
        }
        for option in &question.options {
            let recommended = if option.recommended { " (recommended)" } else { "" };
            let description = match option.description.as_str() {
                "" => String::new(),
                description => format!(": {description}"),
            };
            lines.push(format!("- {}{recommended}{description}", option.label));
        }
    }
    lines.join("\n")
}

fn answered(form: &Form, answers: &[FormAnswer], message: Option<String>) -> String {
    let open = FormAnswer::default();
    let answers = || answers.iter().chain(std::iter::repeat(&open));
    let lines = form.questions.iter().zip(answers()).map(|(question, answer)| line(question, answer));
    let mut text: Vec<_> = ["The user answered:".to_owned()].into_iter().chain(lines).collect();
    text.extend(message.map(|said| format!("The user also said: {said}")));
    if form.questions.iter().zip(answers()).any(|(_, answer)| answer.is_open()) {
        text.push(SAY_SO.to_owned());
    }
    text.join("\n")
}

fn line(question: &FormQuestion, answer: &FormAnswer) -> String {
    let header = &question.header;
    if answer.is_open() {
        return format!("- {header}: left open; assumed: {}", assumption(question));
    }
    let chosen = labels(question, &answer.chosen);
    match (answer.words(), chosen.is_empty()) {
        (None, _) => format!("- {header}: {chosen}"),
        (Some(words), true) => format!("- {header}, in the user's own words: {words}"),
        (Some(words), false) => format!("- {header}: {chosen}; and in the user's own words: {words}"),
    }
}

fn dismissed(message: Option<String>) -> String {
    let said = message.map(|said| format!(", and said: {said}")).unwrap_or_default();
    format!(
        "The user dismissed the questions without an answer{said}. Do not ask the same again: go on with what you think \
         best and say what you assumed, or end your turn if you cannot"
    )
}

fn assumed(head: &str, form: &Form) -> String {
    let lines = form.questions.iter().map(|question| format!("- {}: {}", question.header, assumption(question)));
    let lines: Vec<_> = lines.collect();
    format!("{head} Assumed:\n{}\n{SAY_SO}", lines.join("\n"))
}

fn assumption(question: &FormQuestion) -> String {
    let why = if question.options.iter().any(|option| option.recommended) { "as you recommend" } else { "the first" };
    format!("{} ({why})", labels(question, &question.assumed()))
}

fn labels(question: &FormQuestion, places: &[usize]) -> String {
    let label = |place: &usize| question.options.get(*place).map(|option| option.label.as_str());
    places.iter().filter_map(label).collect::<Vec<_>>().join(", ")
}

/// The answers in a few words, for the user.
fn summary(form: &Form, answers: &[FormAnswer]) -> String {
    let answer = |(question, answer): (&FormQuestion, &FormAnswer)| {
        let chosen = labels(question, &answer.chosen);
        let words = answer.words().map(|words| words.split_whitespace().collect::<Vec<_>>().join(" "));
        let parts: Vec<_> = words.into_iter().chain(Some(chosen).filter(|chosen| !chosen.is_empty())).collect();
        if parts.is_empty() { labels(question, &question.assumed()) } else { parts.join(", ") }
    };
    let open = FormAnswer::default();
    let answers = answers.iter().chain(std::iter::repeat(&open));
    let whole = form.questions.iter().zip(answers).map(answer).collect::<Vec<_>>().join(" · ");
    match whole.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", &whole[..end]),
        None => whole,
    }
}

#[cfg(test)]
mod tests {
    use protocol::form::FormOption;

    use super::*;

    fn form() -> Form {
        let option = |label: &str, recommended| {
            let (label, description) = (label.to_owned(), String::new());
            FormOption { label, description, recommended }
        };
        let question = |header: &str, options: Vec<FormOption>| {
            let (header, question) = (header.to_owned(), "Which?".to_owned());
            FormQuestion { header, question, options, multiple: true }
        };
        let recommended = question("Tests", vec![option("None", false), option("Unit", true), option("Fuzz", true)]);
        let questions = vec![recommended, question("Name", vec![option("a", false), option("b", false)])];
        Form { questions, timeout_seconds: Some(60) }
    }

    #[test]
    fn what_is_assumed_is_what_the_model_recommends_and_else_the_first() {
        let text = assumed("The user did not answer within 60 seconds.", &form());
        let expected = "The user did not answer within 60 seconds. Assumed:\n- Tests: Unit, Fuzz (as you recommend)\n- \
                        Name: a (the first)\nGo on with this, and tell the user what was assumed when you are done.";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_summary_has_the_answers_on_one_line_that_is_not_long() {
        let words = |words: &str| FormAnswer { chosen: vec![0], other: Some(words.to_owned()) };
        assert_eq!(summary(&form(), &[words("a\n b"), FormAnswer::default()]), "a b, None · a");
        assert_eq!(summary(&form(), &[]), "Unit, Fuzz · a");
        assert_eq!(summary(&form(), &[words(&"ä".repeat(200)), words("b")]).chars().count(), SUMMARY + 1);
    }
}
