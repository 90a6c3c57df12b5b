//! The texts that are generated from the table of settings: [`document`] has the tables in the documentation,
//! [`schema`] the schema of `config.toml`, and [`vscode`] what the VS Code extension declares and sends.

use protocol::settings::{DefaultValue, Kind, May, Setting};
use serde_json::{Map, Value, json};

pub mod document;
pub mod schema;
pub mod vscode;

/// The part of a setting's name that stands for any name.
const ANY_NAME: &str = "NAME";

/// The mark behind a part of a setting's name that is a list of tables.
const LIST: &str = "[]";

/// The providers, of whose settings each has the same rights.
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
        Kind::Texts(_) => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Kind::Anything => json!({ "type": "object" }),
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

/// Puts a schema where a name with dots leads. A table is made for each part of the name before the last, and a list of
/// tables where `[]` stands behind the part.
fn put(properties: &mut Map<String, Value>, name: &str, schema: Value) {
    let Some((group, rest)) = name.split_once('.') else {
        properties.insert(name.to_owned(), schema);
        return;
    };
    let (is_any, rest) = match rest.strip_prefix(ANY_NAME).and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (group, is_list) = group.strip_suffix(LIST).map_or((group, false), |group| (group, true));
    let table = || json!({ "type": "object", "additionalProperties": false, "properties": {} });
    let mut group = properties.entry(group).or_insert_with(|| match (is_any, is_list) {
        (true, _) => json!({ "type": "object", "additionalProperties": table() }),
        (false, true) => json!({ "type": "array", "items": table() }),
        (false, false) => table(),
    });
    if is_any {
        group = &mut group["additionalProperties"];
    } else if is_list {
        group = &mut group["items"];
    }
    if let Some(properties) = group["properties"].as_object_mut() {
        put(properties, rest, schema);
    }
}

#[cfg(test)]
mod tests;
