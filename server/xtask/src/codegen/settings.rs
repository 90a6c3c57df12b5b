//! The texts that are generated from the table of settings: [`document`] has the tables in the documentation,
//! [`schema`] the schema of `config.toml`, and [`vscode`] what the VS Code extension declares and sends.

use protocol::settings::{DefaultValue, Kind, May, Setting};
use serde_json::{Value, json};

pub mod document;
pub mod schema;
pub mod vscode;

/// The part of a setting's name that stands for any name.
const ANY_NAME: &str = "NAME";

/// The group that VS Code declares as one setting.
const PROVIDERS: &str = "providers.NAME.";

/// Describes what a value means, for each choice: its meaning as it stands in the middle of a sentence.
fn meanings(setting: &Setting) -> Option<String> {
    let Kind::Choice(choices) = setting.kind else { return None };
    Some(choices.iter().map(|(choice, words)| format!("`{choice}`: {words}")).collect::<Vec<_>>().join("; "))
}

/// The words with what each choice means.
fn described(setting: &Setting) -> String {
    meanings(setting).map_or_else(|| setting.words.to_owned(), |meanings| format!("{} {meanings}.", setting.words))
}

/// The schema of its value, without words.
fn value_schema(setting: &Setting) -> Value {
    match setting.kind {
        Kind::Text(_) | Kind::Secret => json!({ "type": "string" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Choice(choices) => {
            json!({ "type": "string", "enum": choices.iter().map(|(choice, _)| *choice).collect::<Vec<_>>() })
        }
        Kind::Number { min, max: u32::MAX, .. } => json!({ "type": "integer", "minimum": min }),
        Kind::Number { min, max, .. } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Decimal { min, max, .. } => json!({ "type": "number", "minimum": min, "maximum": max }),
        Kind::List(_) => json!({ "type": "array", "items": { "type": "string" } }),
    }
}

/// The value that holds by default, if it is one.
fn default_value(setting: &Setting) -> Option<Value> {
    match setting.default {
        DefaultValue::Unset(_) => None,
        DefaultValue::Bool(is_on) => Some(is_on.into()),
        DefaultValue::Word(choice) => Some(choice.into()),
        DefaultValue::Int(number) => Some(number.into()),
    }
}

/// True if a file or an editor's settings may hold it.
fn is_written(setting: &&Setting) -> bool {
    setting.who.user != May::Never
}

#[cfg(test)]
mod tests;
