//! The secrets that models do not see: those that the configuration lists, and those of the environment.

use std::path::PathBuf;

use protocol::settings::{May, SETTINGS};
use providers::{KeyCommand, Secret};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::details::{Found, KEY_COMMANDS, checked, table, words};
use super::dirs;
use super::lines::Way;

/// The beginning of the settings of a secret in the table.
const TABLE: &str = "secrets.NAME.";
/// The largest pattern when it is compiled, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;
/// The consequence of a mistake in the user's own words.
const UNTIL_CORRECTED: &str = "until it is corrected, nothing is sent to a model";
/// The settings that say what the secret is; a secret has one of them.
const WAYS: [&str; 5] = ["env", "file", "command", "value", "pattern"];

/// A secret that models do not see.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Where it is from, in words for the user.
    pub source: String,
    /// The way in which it is known.
    pub known: Known,
    /// The text that models see for good; none for a placeholder.
    pub replace_with: Option<String>,
    /// True if a project's file lists it.
    pub is_project: bool,
}

/// The way in which a secret is known.
#[derive(Clone, Debug)]
pub enum Known {
    /// By its value.
    Value(Secret),
    /// By a pattern.
    Pattern(Regex),
    /// It is the text of a file.
    File(PathBuf),
    /// A command prints it.
    Command(KeyCommand),
    /// It would be in a variable that has nothing to hide.
    PassedOver {
        /// The variable.
        variable: String,
        /// The reason, as `is not set`.
        why: &'static str,
    },
    /// There is a mistake in what the user says of it.
    Faulty,
}

/// The layer that lists a secret.
pub(super) struct Layer<'a> {
    /// Its file, or the editor's settings.
    pub(super) source: &'a str,
    /// True if it is a project's, which may only name variables.
    pub(super) is_project: bool,
    /// The environment.
    pub(super) environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Listed {
    /// A secret that cannot be hidden, since there is a mistake in what the user says of it.
    pub(super) fn faulty(name: &str, source: &str) -> Self {
        let (name, source) = (name.to_owned(), source.to_owned());
        Self { name, source, known: Known::Faulty, replace_with: None, is_project: false }
    }
}

/// Reads what a layer says of a secret; none if it cannot be used.
pub(super) fn take(name: &str, said: &Value, layer: &Layer<'_>) -> (Option<Listed>, Found) {
    let mut found = Found::default();
    let way = Way::default().field("secrets").field(name);
    let Some(fields) = table(Some(said), &way, &mut found) else { return (None, found) };
    let mut fields = checked(TABLE, "", fields, &way, &mut found);
    if layer.is_project {
        for name in fields.keys().filter(|name| !is_for_projects(name)) {
            found.fault(way.field(name), "a project's file can only list `env`; put it in your own");
        }
        fields.retain(|name, _| is_for_projects(name));
        if fields.is_empty() && !found.faults.is_empty() {
            return (None, found);
        }
    }
    let said: Vec<_> = WAYS.into_iter().filter(|way| fields.contains_key(*way)).collect();
    let [one] = said.as_slice() else {
        let needed = "it needs exactly one of `env`, `file`, `command`, `value` and `pattern`";
        // A secret of the user's own that is not known cannot be hidden, so nothing leaves.
        let until = if layer.is_project { "until then, it is not hidden" } else { UNTIL_CORRECTED };
        found.fault(way, format!("{needed}; {until}"));
        return (None, found);
    };
    let known = known(one, &fields, layer, &way.field(one), &mut found);
    let replace_with = fields.get("replace_with").and_then(Value::as_str).map(str::to_owned);
    let (name, source, is_project) = (name.to_owned(), layer.source.to_owned(), layer.is_project);
    (known.map(|known| Listed { name, source, known, replace_with, is_project }), found)
}

/// True if a project's file may set this. Texts of its own could rewrite what every session sends.
fn is_for_projects(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.name.strip_prefix(TABLE) == Some(name) && setting.who.project == May::Set)
}

fn known(one: &str, fields: &Map<String, Value>, layer: &Layer<'_>, way: &Way, found: &mut Found) -> Option<Known> {
    let value = fields.get(one)?;
    let text = value.as_str().unwrap_or_default();
    match one {
        "env" => Some(in_variable(text, layer)),
        "command" => Some(Known::Command(KEY_COMMANDS.command(words(value, way, found)?))),
        "file" => match dirs::named_file(text, layer.environment) {
            Ok(file) => Some(Known::File(file)),
            Err(problem) => {
                found.fault(way.clone(), problem);
                None
            }
        },
        "pattern" => match RegexBuilder::new(text).size_limit(LARGEST_PATTERN).build() {
            Ok(pattern) if pattern.is_match("") => {
                found.fault(
                    way.clone(),
                    "it matches an empty text, so it would hide everything or nothing; make it longer",
                );
                None
            }
            Ok(pattern) => Some(Known::Pattern(pattern)),
            Err(_) => {
                found.fault(way.clone(), format!("it is no regular expression, or too large a one; {UNTIL_CORRECTED}"));
                None
            }
        },
        _ => Some(Known::Value(Secret::new(text))),
    }
}

/// The secret in a variable. A project's file can name any variable, so its value must be one that could be hidden
/// though nobody listed it: else every session would send another text than `main` or the path of the project.
fn in_variable(name: &str, layer: &Layer<'_>) -> Known {
    let passed_over = |why| Known::PassedOver { variable: name.to_owned(), why };
    let Some(value) = (layer.environment)(name) else { return passed_over("is not set") };
    let value = value.trim();
    if value.len() < mask::SHORTEST {
        return passed_over("is too short to hide");
    }
    if layer.is_project && !(process::secrets::may_be_one(name, value) && mask::is_worth_hiding(value)) {
        return passed_over("could hold an ordinary word or a path");
    }
    Known::Value(Secret::new(value))
}

/// The variables of this process that look like secrets, but for those that models may see.
pub(super) fn of_environment(environment: &dyn Fn(&str) -> Option<String>, shown: &[String]) -> Vec<Listed> {
    let is_secret =
        |name: &str, value: &str| process::secrets::is_for_no_model(name, value) && mask::is_worth_hiding(value);
    // The process has the names, and the values as far as they are not for a test to say.
    let variables = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value)));
    let is_hidden = |name: &str, value: &str| is_secret(name, value.trim());
    let secret = variables.filter(|(name, value)| !shown.contains(name) && is_hidden(name, &value.to_string_lossy()));
    let hidden = secret.filter_map(|(name, _)| {
        let value = environment(&name).filter(|value| is_hidden(&name, value))?;
        Some((name, value.trim().to_owned()))
    });
    let listed = |name: &str, value: &str| Listed {
        name: name.to_owned(),
        source: "the environment".to_owned(),
        known: Known::Value(Secret::new(value)),
        replace_with: None,
        is_project: false,
    };
    let mut found: Vec<_> = hidden
        .flat_map(|(name, value)| {
            let password = process::secrets::password_in(&value).filter(|password| mask::is_worth_hiding(password));
            let password = password.map(|password| listed(&format!("{name}.password"), password));
            std::iter::once(listed(&name, &value)).chain(password).collect::<Vec<_>>()
        })
        .collect();
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn taken(said: Value, is_project: bool) -> (Option<Listed>, Vec<String>) {
        let environment = |name: &str| match name {
            "TOKEN" => Some(" of-the-environment-2\n".to_owned()),
            "PIN" => Some(" 123 ".to_owned()),
            "EMPTY" => Some(String::new()),
            "BRANCH" => Some("main".to_owned()),
            "PWD" => Some("/home/ada/projects/shop2024".to_owned()),
            "HOME" => Some("/home/ada".to_owned()),
            _ => None,
        };
        let layer = Layer { source: "a file", is_project, environment: &environment };
        let (listed, found) = take("mine", &said, &layer);
        (listed, found.faults.iter().map(|fault| fault.in_words("")).collect())
    }

    #[test]
    fn a_secret_is_listed_by_its_value_or_by_where_it_stands() {
        let of = |said| taken(said, false).0.unwrap().known;
        assert!(matches!(of(json!({ "value": "hunter2" })), Known::Value(value) if value.expose() == "hunter2"));
        assert!(
            matches!(of(json!({ "env": "TOKEN" })), Known::Value(value) if value.expose() == "of-the-environment-2")
        );
        assert!(matches!(of(json!({ "env": "BRANCH" })), Known::Value(value) if value.expose() == "main"));
        for (variable, words) in [("NONE", "not set"), ("PIN", "too short"), ("EMPTY", "too short")] {
            assert!(matches!(of(json!({ "env": variable })), Known::PassedOver { why, .. } if why.contains(words)));
        }
        assert!(matches!(of(json!({ "file": "~/t" })), Known::File(file) if file.ends_with("ada/t")));
        assert!(matches!(of(json!({ "pattern": "corp-[0-9]+" })), Known::Pattern(_)));
        assert!(matches!(of(json!({ "command": ["op", "read"] })), Known::Command(_)));
    }

    #[test]
    fn a_mistake_says_what_to_write_and_shows_no_value() {
        for (said, words) in [
            (json!({}), "nothing is sent to a model"),
            (json!({ "value": "hunter2hunter2", "env": "X" }), "exactly one of"),
            (json!({ "valeu": "hunter2hunter2" }), "no such setting"),
            (json!({ "file": "t" }), "absolute path"),
            (json!({ "pattern": "(" }), "until it is corrected, nothing is sent to a model"),
            (json!({ "pattern": "x*" }), "matches an empty text"),
            (json!("hunter2hunter2"), "must be a table"),
        ] {
            let (listed, faults) = taken(said, false);
            assert!(listed.is_none() && faults.iter().any(|fault| fault.contains(words)), "{words}: {faults:?}");
            assert!(!faults.concat().contains("hunter2"), "{faults:?}");
        }
    }

    #[test]
    fn a_project_names_variables_and_nothing_else() {
        let texts = [json!({ "value": "the" }), json!({ "pattern": "." }), json!({ "pattern": "(" })];
        for said in texts.into_iter().chain([json!({ "file": "/etc/passwd" }), json!({ "command": ["evil"] })]) {
            let (listed, faults) = taken(said, true);
            assert!(listed.is_none() && faults.concat().contains("put it in your own"), "{faults:?}");
        }
        let (_, faults) = taken(json!({}), true);
        assert!(faults.concat().contains("until then, it is not hidden"), "{faults:?}");
        let (listed, faults) = taken(json!({ "env": "TOKEN", "replace_with": "the" }), true);
        let listed = listed.unwrap();
        assert!(listed.replace_with.is_none() && faults.concat().contains("put it in your own"), "{faults:?}");
        assert!(matches!(listed.known, Known::Value(value) if value.expose() == "of-the-environment-2"));
    }

    #[test]
    fn a_variable_that_a_project_names_is_no_error_and_hides_no_ordinary_text() {
        for variable in ["NONE", "PIN", "EMPTY", "BRANCH", "PWD"] {
            let (listed, faults) = taken(json!({ "env": variable }), true);
            assert!(matches!(listed.unwrap().known, Known::PassedOver { .. }) && faults.is_empty(), "{variable}");
        }
    }
}
