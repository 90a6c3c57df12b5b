//! `ask_user`.

use std::collections::HashSet;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use protocol::form::{Form, FormOption, FormQuestion};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::counted;
use crate::typed::Typed;

/// How many questions are asked at once: more than these, nobody reads before answering.
const MAX_QUESTIONS: usize = 4;
/// How many options a question has.
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=6;
/// How long a header is at most, in characters: a few of them stand on one line.
const MAX_HEADER: usize = 24;
/// How long a label is at most, in characters: a button.
const MAX_LABEL: usize = 80;
/// How long a question or a description is at most, in characters.
const MAX_TEXT: usize = 600;
/// After how many seconds an answer may be assumed.
const TIMEOUTS: std::ops::RangeInclusive<u32> = 30..=3600;

/// Asks the user up to four questions, and waits for the answers. Ask where the work forks, the ways lead to different
/// results that matter to the user, and neither the code, its tests and documents, nor what was said tells which is
/// meant. Ask before the work that depends on it, and everything that you need to know in one call. Do not ask what
/// you can find out by reading or trying, what has a usual answer that is cheap to change later, if you may go on, or
/// whether a plan or an edit is good: the user reviews edits anyway. The user can always answer in words of their own,
/// so give no option such as "other".
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The questions, one to four.
    questions: Vec<Question>,
    /// After so many seconds without an answer, what you recommend is assumed, else the first option. 30 to 3600; only
    /// if the work had better go on with that than wait.
    #[serde(default)]
    timeout_seconds: Option<u32>,
}

/// A question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Question {
    /// One to three words that name it, such as `Storage`.
    header: String,
    /// The question, as a whole sentence.
    question: String,
    /// Two to six options that exclude each other, unless `multiple` is set.
    options: Vec<Choice>,
    /// True if several options can be chosen together.
    #[serde(default)]
    multiple: bool,
}

/// An option.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    /// The option in one to five words.
    label: String,
    /// The consequence or the cost of it, in a sentence.
    #[serde(default)]
    description: String,
    /// True for the option that you recommend.
    #[serde(default)]
    recommended: bool,
}

pub(crate) struct AskUser;

#[async_trait]
impl Typed for AskUser {
    type Input = Input;
    const NAME: &'static str = tool_names::ASK_USER;
    const KIND: ToolKind = ToolKind::Think;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        check(input).map_err(ToolError::InvalidInput)?;
        let headers: Vec<_> = input.questions.iter().map(|question| question.header.trim()).collect();
        let title = format!("Asking: {}", headers.join(", "));
        Ok(Description { title, locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, input: Input) -> Result<Output, ToolError> {
        let summary = counted(input.questions.len(), "question");
        let questions = input.questions.into_iter().map(|question| FormQuestion {
            header: question.header.trim().to_owned(),
            question: question.question.trim().to_owned(),
            options: question.options.into_iter().map(option).collect(),
            multiple: question.multiple,
        });
        let form = Form { questions: questions.collect(), timeout_seconds: input.timeout_seconds };
        Ok(Output { form: Some(form), summary, ..Output::default() })
    }
}

fn option(choice: Choice) -> FormOption {
    let Choice { label, description, recommended } = choice;
    FormOption { label: label.trim().to_owned(), description: description.trim().to_owned(), recommended }
}

fn check(input: &Input) -> Result<(), String> {
    let count = input.questions.len();
    if !(1..=MAX_QUESTIONS).contains(&count) {
        return Err(format!("`questions` has {count}; one to {MAX_QUESTIONS} are asked at once"));
    }
    if let Some(seconds) = input.timeout_seconds.filter(|seconds| !TIMEOUTS.contains(seconds)) {
        let (least, most) = (TIMEOUTS.start(), TIMEOUTS.end());
        return Err(format!("`timeout_seconds` is {seconds}; it is {least} to {most}, or left out to wait"));
    }
    line("header", &input.questions, |question| &question.header, MAX_HEADER)?;
    for Question { header, question, options, multiple } in &input.questions {
        let (least, most) = (OPTIONS.start(), OPTIONS.end());
        if question.trim().is_empty() || question.chars().count() > MAX_TEXT {
            return Err(format!("`question` of {header} has 1 to {MAX_TEXT} characters"));
        }
        if !OPTIONS.contains(&options.len()) {
            return Err(format!("{header} has {}; a question has {least} to {most}", counted(options.len(), "option")));
        }
        line("label", options, |option| &option.label, MAX_LABEL)?;
        if options.iter().any(|option| option.description.chars().count() > MAX_TEXT) {
            return Err(format!("a `description` of {header} has more than {MAX_TEXT} characters"));
        }
        if !multiple && options.iter().filter(|option| option.recommended).count() > 1 {
            return Err(format!("{header} takes one answer, so only one option can be recommended"));
        }
    }
    Ok(())
}

/// Checks a line that has to be there, and be another one each time.
fn line<T>(field: &str, all: &[T], text: impl Fn(&T) -> &String, most: usize) -> Result<(), String> {
    let mut seen = HashSet::new();
    for text in all.iter().map(|it| text(it).trim()) {
        if text.is_empty() || text.contains('\n') || text.chars().count() > most {
            return Err(format!("a `{field}` is one line of 1 to {most} characters"));
        }
        if !seen.insert(text) {
            return Err(format!("two have the `{field}` {text}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fixture::World;

    #[tokio::test]
    async fn a_form_that_nobody_could_fill_in_says_why() {
        let world = World::new(&[]);
        let option = |label: &str| json!({ "label": label });
        let asks = |header: &str, options: Value| json!({ "header": header, "question": "Which?", "options": options });
        let good = || asks("Way", json!([option("a"), option("b")]));
        let both = json!([{ "label": "a", "recommended": true }, { "label": "b", "recommended": true }]);
        let cases = [
            (json!({ "questions": [] }), "one to 4 are asked at once"),
            (json!({ "questions": vec![good(); 5] }), "`questions` has 5"),
            (json!({ "questions": [good(), good()] }), "two have the `header` Way"),
            (json!({ "questions": [good()], "timeout_seconds": 1 }), "`timeout_seconds` is 1"),
            (json!({ "questions": [asks("Way", json!([option("a")]))] }), "Way has 1 option; a question has 2 to 6"),
            (json!({ "questions": [asks("Way", json!([option("a"), option(" a ")]))] }), "two have the `label` a"),
            (json!({ "questions": [asks("a\nb", json!([option("a"), option("b")]))] }), "a `header` is one line"),
            (json!({ "questions": [asks("Way", both)] }), "only one option can be recommended"),
            (json!({ "questions": [asks("Way", json!(["a", "b"]))] }), "invalid type"),
        ];
        for (input, words) in cases {
            let text = world.text("ask_user", input).await;
            assert!(text.starts_with("error: invalid input") && text.contains(words), "{text}");
        }
    }
}
