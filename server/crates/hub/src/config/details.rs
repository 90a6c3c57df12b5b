//! The details of a provider in a layer, beside its key and its address: checked field by field against the table of
//! settings, so that one mistake leaves the rest as it is.

use std::sync::LazyLock;

use accounts::Vendor;
use protocol::settings::{Kind, SETTINGS, Setting};
use providers::{Compat, Defined, KeyCommands, Settings, Signers};
use serde_json::{Map, Value};

use super::key_command::Starter;
use super::layer::Provider;
use super::lines::Way;

/// The beginning of the settings of a provider in the table.
const TABLE: &str = "providers.NAME.";
/// The beginning of a text in `headers` that names a variable.
const VARIABLE: &str = "env:";

/// The keys that commands printed: one set for the process, so that a command runs once.
pub(super) static KEY_COMMANDS: LazyLock<KeyCommands> = LazyLock::new(|| KeyCommands::new(Starter));

/// The accounts at AWS, with the credentials that were fetched: one set for the process, for the same reason.
pub(super) static SIGNERS: LazyLock<Signers> = LazyLock::new(|| Signers::new(Starter));

/// A mistake in a layer: where it stands, and what to do.
pub(super) struct Fault {
    /// Where it stands.
    pub(super) way: Way,
    /// The mistake and the remedy, without the value.
    pub(super) problem: String,
}

impl Fault {
    /// In words, with its line if the layer is a file with this text.
    pub(super) fn in_words(&self, text: &str) -> String {
        let line = self.way.line_in(text).map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{line}{}: {}", self.way, self.problem)
    }
}

/// The findings while a provider is read.
#[derive(Default)]
pub(super) struct Found {
    /// The mistakes.
    pub(super) faults: Vec<Fault>,
    /// The warnings: no mistakes, but to be known.
    pub(super) warnings: Vec<String>,
}

impl Found {
    pub(super) fn fault(&mut self, way: Way, problem: impl Into<String>) {
        self.faults.push(Fault { way, problem: problem.into() });
    }
}

/// The key that a layer gives a provider, by itself or by the variable that holds it. A blank one is none.
pub(super) fn key_of(said: &Provider, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let is_there = |key: &String| !key.trim().is_empty();
    let of_variable = || said.key_env.as_deref().and_then(environment);
    said.key.clone().filter(is_there).or_else(of_variable).filter(is_there)
}

/// Takes in what a layer says of a provider. Its key and its address are taken in already.
pub(super) fn take(
    settings: &mut Settings,
    name: &str,
    said: &Provider,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Found {
    let mut found = Found::default();
    let way = Way::default().field("providers").field(name);
    let Some(provider) = settings.provider_mut(name) else { return found };
    let has_key = key_of(said, environment).is_some();
    if let Some(value) = &said.key_command
        && let Some(words) = words(value, &way.field("key_command"), &mut found)
        && !has_key
    {
        provider.set_key_command(KEY_COMMANDS.command(words));
    }
    let is_region = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let mut word = |value: &Option<Value>, name: &str, is_one: &dyn Fn(&str) -> bool, example: &str| {
        let text = value.as_ref()?.as_str().map(str::trim).filter(|text| !text.is_empty() && is_one(text));
        if text.is_none() {
            found.fault(way.field(name), format!("it must be {example}; without one, remove it"));
        }
        text.map(str::to_owned)
    };
    let profile = word(&said.aws_profile, "aws_profile", &|_| true, "the name of a profile in AWS's files");
    let region = word(&said.aws_region, "aws_region", &is_region, "a region of AWS, such as \"eu-central-1\"");
    provider.set_aws(profile.filter(|_| !has_key), region);
    if let Some(value) = &said.api_version {
        match value.as_str().filter(|version| version.starts_with(|c: char| c.is_ascii_digit())) {
            Some(version) => provider.set_api_version(Some(version.to_owned())),
            None => found.fault(
                way.field("api_version"),
                "it must be a version's date, such as \"2024-10-21\"; without one, remove it",
            ),
        }
    }
    if let Some(fields) = table(said.headers.as_ref(), &way.field("headers"), &mut found) {
        provider.clear_headers();
        for (header, value) in fields {
            let way = way.field("headers").field(header);
            match text_of(value, environment) {
                Ok(value) => {
                    let problem = provider.set_header(header, &value).err();
                    problem.into_iter().for_each(|problem| found.fault(way.clone(), problem));
                }
                Err(Unset::NoText) => {
                    found.fault(way, "it must be a text, or `env:VARIABLE`; until it is corrected, it is not sent");
                }
                Err(Unset::Variable(variable)) => found.warnings.push(format!(
                    "{way}: the variable {variable} is not set, so the header is not sent; set it, or remove the header"
                )),
            }
        }
    }
    if let Some(fields) = table(said.extra_body.as_ref(), &way.field("extra_body"), &mut found) {
        provider.set_extra_body(fields.clone());
    }
    if let Some(fields) = table(said.compat.as_ref(), &way.field("compat"), &mut found) {
        let fields = checked(TABLE, "compat.", fields, &way.field("compat"), &mut found);
        match serde_json::from_value::<Compat>(Value::Object(fields)) {
            Ok(flags) => provider.set_compat(&flags),
            // A test holds that the table and the type are the same.
            Err(error) => found.fault(way.field("compat"), error.to_string()),
        }
    }
    if let Some(value) = &said.model {
        provider.define(models(value, &way.field("model"), &mut found));
    }
    found
}

/// Reads how the users of a provider sign in; none if nothing is said of it.
pub(super) fn sign_in(name: &str, said: &Provider) -> (Option<Vendor>, Found) {
    let mut found = Found::default();
    let way = Way::default().field("providers").field(name).field("sign_in");
    let Some(fields) = table(said.sign_in.as_ref(), &way, &mut found) else { return (None, found) };
    let mut fields = checked(TABLE, "sign_in.", fields, &way, &mut found);
    let addresses = fields.iter().filter(|(name, _)| name.ends_with("_url"));
    let wrong = addresses.filter_map(|(name, value)| {
        Some((name.clone(), Vendor::address(name, value.as_str().unwrap_or_default()).err()?))
    });
    for (field, problem) in wrong.collect::<Vec<_>>() {
        found.fault(way.field(&field), format!("{problem}; until it is corrected, it is left out"));
        fields.remove(&field);
    }
    let vendor = match serde_json::from_value::<Vendor>(Value::Object(fields)) {
        Ok(own) => own.over(name),
        // A test holds that the table and the type are the same.
        Err(error) => {
            found.fault(way, error.to_string());
            return (None, found);
        }
    };
    let checks = vendor.jwks_url.is_some() || vendor.issuer.is_some();
    let needed = [
        ("token_url", vendor.token_url.is_empty(), ""),
        ("client_id", vendor.client_id.is_empty(), ""),
        ("issuer", checks && vendor.issuer.is_none(), " or remove `jwks_url`, which is of no use without"),
        ("jwks_url", checks && vendor.jwks_url.is_none(), " or remove `issuer`, which is of no use without"),
    ];
    match needed.iter().find(|(_, is_missing, _)| *is_missing) {
        Some((missing, _, or)) => {
            found.fault(way, format!("`{missing}` is missing: add it{or}; until then, nobody can sign in"));
            (None, found)
        }
        None => (Some(vendor), found),
    }
}

/// The models in a list of tables.
fn models(value: &Value, way: &Way, found: &mut Found) -> Vec<Defined> {
    let Some(list) = value.as_array() else {
        found.fault(way.clone(), "each model is a table of its own: write it as `[[providers.NAME.model]]`");
        return Vec::new();
    };
    let (mut models, mut ids) = (Vec::new(), Vec::new());
    for (at, value) in list.iter().enumerate() {
        let way = way.entry(at);
        let Some(fields) = table(Some(value), &way, found) else { continue };
        let mut fields = checked(TABLE, "model[].", fields, &way, found);
        let is_half = |price: &Value| price.get("input").is_none() || price.get("output").is_none();
        if fields.get("price").is_some_and(is_half) {
            let problem = "a price needs `input` and `output`; until both are there, the model's usual price counts";
            found.fault(way.field("price"), problem);
            fields.remove("price");
        }
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if id.is_empty() {
            found.fault(way, "`id` is missing: add the id by which the model is chosen; until then, it is left out");
        } else if ids.contains(&id) {
            found.fault(way.field("id"), "this model is described twice; the first counts, so remove one");
        } else {
            match Defined::read(fields) {
                Ok(model) => models.push(model),
                Err(problem) => found.fault(way, problem),
            }
            ids.push(id);
        }
    }
    models
}

/// The fields of a table that the table of settings has, by its names there; `table_name` and `group` are the beginning
/// of these.
pub(super) fn checked(
    table_name: &str,
    group: &str,
    fields: &Map<String, Value>,
    way: &Way,
    found: &mut Found,
) -> Map<String, Value> {
    let mut right = Map::new();
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let way = way.field(name);
        let is_named = |known: &str| known == name || in_camel_case(known) == *name;
        let names = || {
            let names = SETTINGS.iter().filter_map(|it| it.name.strip_prefix(table_name)?.strip_prefix(group));
            names.map(|name| name.split('.').next().unwrap_or_default())
        };
        let Some(known) = names().find(|known| is_named(known)) else {
            let mut all: Vec<_> = names().map(|name| format!("`{name}`")).collect();
            all.dedup();
            found.fault(way, format!("there is no such setting; remove it, or write one of {}", all.join(", ")));
            continue;
        };
        let full = format!("{table_name}{group}{known}");
        let value = match SETTINGS.iter().find(|setting| setting.name == full) {
            Some(setting) => match fit(setting, value) {
                Ok(value) => value,
                Err(wanted) => {
                    found.fault(way, format!("it must be {wanted}; until it is corrected, it is left out"));
                    continue;
                }
            },
            // It has settings of its own.
            None => match table(Some(value), &way, found) {
                Some(fields) => Value::Object(checked(table_name, &format!("{group}{known}."), fields, &way, found)),
                None => continue,
            },
        };
        right.insert(known.to_owned(), value);
    }
    right
}

/// The value as the setting has it, else a description of what it must be.
fn fit(setting: &Setting, value: &Value) -> Result<Value, String> {
    match setting.kind {
        Kind::Text(_) | Kind::Secret if value.as_str().is_some_and(|text| !text.trim().is_empty()) => Ok(value.clone()),
        Kind::Text(_) | Kind::Secret => Err("a text".to_owned()),
        Kind::Flag if value.is_boolean() => Ok(value.clone()),
        Kind::Flag => Err("`true` or `false`".to_owned()),
        Kind::Number { unit, min, max } => match value.as_u64() {
            Some(number) => Ok(number.clamp(min.into(), max.into()).into()),
            None => Err(format!("a whole number of {unit}, without quotes")),
        },
        Kind::Decimal { unit, min, max } => match value.as_f64() {
            Some(number) if number >= min.into() => Ok(number.min(max.into()).into()),
            _ => Err(format!("a number of {unit}, from {min} on and without quotes")),
        },
        Kind::List(_) => {
            let is_list = value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
            if is_list { Ok(value.clone()) } else { Err("a list of texts".to_owned()) }
        }
        Kind::Choice(choices) => {
            let is_one = choices.iter().any(|(choice, _)| value.as_str() == Some(choice));
            let names = || choices.iter().map(|(choice, _)| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
            if is_one { Ok(value.clone()) } else { Err(format!("one of {}", names())) }
        }
        Kind::Texts(_) | Kind::Anything if value.is_object() => Ok(value.clone()),
        Kind::Texts(_) | Kind::Anything => Err("a table".to_owned()),
    }
}

/// A table; none if nothing is said, or something else, which is a mistake. Lua writes an empty table as an empty list.
pub(super) fn table<'a>(value: Option<&'a Value>, way: &Way, found: &mut Found) -> Option<&'a Map<String, Value>> {
    static EMPTY: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    match value? {
        Value::Object(fields) => Some(fields),
        Value::Array(list) if list.is_empty() => Some(&EMPTY),
        _ => {
            found.fault(way.clone(), "it must be a table, such as `{ name = \"value\" }`; until then, it is left out");
            None
        }
    }
}

/// The words of a command.
pub(super) fn words(value: &Value, way: &Way, found: &mut Found) -> Option<Vec<String>> {
    let words = value
        .as_array()
        .filter(|list| !list.is_empty())
        .and_then(|list| list.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>());
    let program = words.as_ref().and_then(|words| words.first());
    let problem = match program {
        None => {
            "it must be a list of a program and its arguments, such as `[\"pass\", \"show\", \"key\"]`; no shell reads it"
        }
        Some(program) if program.trim().is_empty() => "its first word must be a program",
        Some(program) if program.contains('/') && !program.starts_with('/') => {
            "a program with `/` in it must be named from the root on, since it depends on no folder"
        }
        Some(_) => return words,
    };
    found.fault(way.clone(), problem);
    None
}

/// Why a text has no value.
enum Unset {
    /// It is none.
    NoText,
    /// It names a variable that is not set.
    Variable(String),
}

/// A text, or the value of the variable that it names. No program that is started gets such a variable.
fn text_of(value: &Value, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    let text = value.as_str().ok_or(Unset::NoText)?;
    match text.strip_prefix(VARIABLE) {
        None => Ok(text.to_owned()),
        Some(variable) => {
            process::secrets::holds_a_key(variable);
            environment(variable).ok_or_else(|| Unset::Variable(variable.to_owned()))
        }
    }
}

fn in_camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_ascii_uppercase() + tail
    })
}
