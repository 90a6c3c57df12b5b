//! A provider in a layer, checked field by field against the table of settings, so that one mistake leaves the rest as
//! it is.

use std::sync::LazyLock;

use accounts::Vendor;
use protocol::model::ThinkingLevel;
use protocol::settings::{Kind, SETTINGS, Setting};
use providers::{Compat, Defined, KeyCommands, KeyFile, NamedKey, Provider, Secret, Settings, Signers, Wire};
use serde_json::{Map, Value};

use super::dirs;
use super::key_command::Starter;
use super::lines::Way;

/// The beginning of the settings of a provider in the table.
const TABLE: &str = "providers.NAME.";
/// The mark of a list of tables in the names of settings.
const LIST: &str = "[]";
/// The settings that are checked with words of their own.
const OF_ITS_OWN: [&str; 3] = ["providers.NAME.keys", "providers.NAME.key_command", "secrets.NAME.command"];
/// The beginning of a text in `headers` or `keys` that names a variable.
const VARIABLE: &str = "env:";
/// The beginning of a text in `keys` that names an account.
const ACCOUNT: &str = "account:";

/// A setting, with its check and with what it must be.
type Checked = (&'static str, fn(&str) -> bool, &'static str);

/// The settings that say whose account at a cloud pays, and where it serves.
const PLACES: &[Checked] = &[
    (
        "google_project",
        providers::is_google_project,
        "it must be the id of a Google Cloud project, such as \"my-project-1\"",
    ),
    ("google_location", is_region, "it must be a Google Cloud location, such as \"europe-west1\""),
    ("aws_region", is_region, "it must be an AWS region, such as \"eu-central-1\""),
];

/// The keys that commands printed: one set for the process, so that a command runs once.
pub(super) static KEY_COMMANDS: LazyLock<KeyCommands> = LazyLock::new(|| KeyCommands::new(Starter));

/// The accounts at clouds, with the credentials and tokens that were fetched: one set for the process, for the same
/// reason.
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

/// A provider as a layer has it: the fields that are right, by their names in the table.
pub(super) struct Said {
    fields: Map<String, Value>,
    /// True if there is a mistake by which it is not known which server was meant.
    pub(super) is_lost: bool,
}

impl Said {
    /// The text of a field.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// The texts of a field.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.fields.get(name).and_then(Value::as_array).into_iter().flatten();
        texts.filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// The key that it gives, by itself or by the variable that holds it. A blank one is none.
    pub(super) fn key(&self, environment: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        let is_there = |key: &String| !key.trim().is_empty();
        let of_variable = || self.text("key_env").and_then(environment);
        self.text("key").map(str::to_owned).filter(is_there).or_else(of_variable).filter(is_there)
    }
}

/// Reads what a layer says of a provider.
pub(super) fn read(name: &str, said: &Value) -> (Said, Found) {
    let mut found = Found::default();
    let way = way_of(name);
    let Some(fields) = table(Some(said), &way, &mut found) else {
        return (Said { fields: Map::new(), is_lost: true }, found);
    };
    let mut fields = fields.clone();
    // Null says nothing.
    fields.retain(|_, value| !value.is_null());
    // It has short names too.
    if let Some(wire) = fields.get("wire").and_then(Value::as_str).and_then(Wire::parse) {
        fields.insert("wire".to_owned(), wire.name().into());
    }
    let is_misspelt = |name: &String| named(TABLE, "", name).is_none();
    let says = |name: &str| fields.contains_key(name) || fields.contains_key(&in_camel_case(name));
    // A name that is none may have been to say where the server is.
    let mut is_lost = fields.keys().any(is_misspelt);
    let mut right = checked(TABLE, "", &fields, &way, &mut found);
    let problem = right.get("base_url").and_then(Value::as_str).and_then(providers::address_problem);
    if let Some(problem) = problem {
        found.fault(way.field("base_url"), format!("{problem}; until it is corrected, nothing is sent to {name}"));
        right.remove("base_url");
    }
    let provider = name;
    for (name, is_right, problem) in PLACES {
        if right.get(*name).and_then(Value::as_str).is_some_and(|text| !is_right(text.trim())) {
            let until = format!("until it is corrected, nothing is sent to {provider}");
            found.fault(way.field(name), format!("{problem}; remove it if you have none; {until}"));
            right.remove(*name);
        }
    }
    // In place of what was meant, another account would pay, or another country would serve.
    let places = PLACES.iter().map(|(name, ..)| *name);
    is_lost |= ["base_url"].into_iter().chain(places).any(|name| says(name) && !right.contains_key(name));
    (Said { fields: right, is_lost }, found)
}

/// Takes in what a layer says of a provider. Its key and its address are taken in already.
pub(super) fn take(
    settings: &mut Settings,
    name: &str,
    said: &Said,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Found {
    let mut found = Found::default();
    let way = way_of(name);
    let Some(provider) = settings.provider_mut(name) else { return found };
    let has_key = said.key(environment).is_some();
    if let Some(value) = said.fields.get("key_command")
        && let Some(words) = words(value, &way.field("key_command"), &mut found)
        && !has_key
    {
        provider.set_key_command(KEY_COMMANDS.command(words));
    }
    // No program has to run for it, so it counts before the command.
    match said.text("key_file").map(|text| dirs::named_file(text, environment)) {
        Some(Ok(path)) if !has_key => {
            let file = KeyFile::read(path);
            let is_open = file.open_to_others().map(|problem| format!("{}: {problem}", way.field("key_file")));
            found.warnings.extend(is_open);
            provider.set_key_file(file);
        }
        Some(Err(problem)) => found.fault(way.field("key_file"), problem),
        Some(Ok(_)) | None => {}
    }
    if let Some(value) = said.fields.get("keys") {
        provider.set_keys(listed_keys(value, &way.field("keys"), environment, &mut found));
    }
    clouds(provider, said, has_key);
    if let Some(version) = said.text("api_version") {
        if version.starts_with(|c: char| c.is_ascii_digit()) {
            provider.set_api_version(Some(version.to_owned()));
        } else {
            let problem = "it must be a version's date, such as \"2024-10-21\"; remove it if you have none";
            found.fault(way.field("api_version"), problem);
        }
    }
    if let Some(fields) = said.fields.get("headers").and_then(Value::as_object) {
        provider.clear_headers();
        headers(fields, &way.field("headers"), environment, &mut found, |name, value| provider.set_header(name, value));
    }
    if let Some(fields) = said.fields.get("extra_body").and_then(Value::as_object) {
        provider.set_extra_body(fields.clone());
    }
    if let Some(Value::Object(fields)) = said.fields.get("compat") {
        let fields = with_right_efforts(fields.clone(), &way.field("compat"), &mut found);
        match serde_json::from_value::<Compat>(Value::Object(fields)) {
            Ok(flags) => provider.set_compat(&flags),
            // A test holds that the table and the type are the same.
            Err(error) => found.fault(way.field("compat"), error.to_string()),
        }
    }
    if let Some(list) = said.fields.get("model").and_then(Value::as_array) {
        let models = models(list, &way.field("model"), environment, &mut found);
        if let Some(provider) = settings.provider_mut(name) {
            provider.define(models);
        }
    }
    found
}

/// Takes in what is said of a provider's accounts at clouds.
fn clouds(provider: &mut Provider, said: &Said, has_key: bool) {
    let text = |name: &str| said.text(name).map(|text| text.trim().to_owned());
    provider.set_aws(text("aws_profile").filter(|_| !has_key), text("aws_region"));
    provider.set_google(text("google_project"), text("google_location"));
}

/// True if a text may be a region, which becomes a part of addresses.
fn is_region(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
}

/// The way to a provider.
fn way_of(name: &str) -> Way {
    Way::default().field("providers").field(name)
}

/// Reads headers, each of which `set` takes or refuses.
fn headers(
    fields: &Map<String, Value>,
    way: &Way,
    environment: &dyn Fn(&str) -> Option<String>,
    found: &mut Found,
    mut set: impl FnMut(&str, &str) -> Result<(), String>,
) {
    for (header, value) in fields {
        let way = way.field(header);
        match text_of(value, environment) {
            Ok(value) => {
                if let Err(problem) = set(header, &value) {
                    found.fault(way, problem);
                }
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

/// Reads how the users of a provider sign in; none if nothing is said of it.
pub(super) fn sign_in(name: &str, said: &Said) -> (Option<Vendor>, Found) {
    let mut found = Found::default();
    let way = way_of(name).field("sign_in");
    let Some(Value::Object(fields)) = said.fields.get("sign_in") else { return (None, found) };
    let mut fields = fields.clone();
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

/// The models in a list of tables whose fields have been checked.
fn models(list: &[Value], way: &Way, environment: &dyn Fn(&str) -> Option<String>, found: &mut Found) -> Vec<Defined> {
    let (mut models, mut ids) = (Vec::new(), Vec::new());
    for (at, value) in list.iter().enumerate() {
        let way = way.entry(at);
        let Value::Object(fields) = value else { continue };
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if id.is_empty() {
            found.fault(way, "`id` is missing: add the id by which the model is chosen; until then, it is left out");
        } else if ids.contains(&id) {
            found.fault(way.field("id"), "this model is described twice; the first counts, so remove one");
        } else {
            models.extend(model(fields.clone(), &way, environment, found));
            ids.push(id);
        }
    }
    models
}

/// A model that has an id.
fn model(
    mut fields: Map<String, Value>,
    way: &Way,
    environment: &dyn Fn(&str) -> Option<String>,
    found: &mut Found,
) -> Option<Defined> {
    let is_half = |price: &Value| price.get("input").is_none() || price.get("output").is_none();
    if fields.get("price").is_some_and(is_half) {
        let problem = "a price needs `input` and `output`; until both are there, the model's usual price counts";
        found.fault(way.field("price"), problem);
        fields.remove("price");
    }
    if let Some(Value::Array(levels)) = fields.remove("levels") {
        let level = |level: &Value| ThinkingLevel::from_name(level.as_str()?);
        match levels.iter().map(level).collect::<Option<Vec<_>>>() {
            Some(levels) => {
                let names = levels.into_iter().map(|level| Value::from(level.name())).collect();
                fields.insert("levels".to_owned(), names);
            }
            None => {
                let all = ThinkingLevel::ALL.map(|level| format!("`{}`", level.name())).join(", ");
                let problem = format!("each must be one of {all}; until it is corrected, the usual levels count");
                found.fault(way.field("levels"), problem);
            }
        }
    }
    if fields.get("equivalent_to").and_then(Value::as_str).is_some_and(|name| !providers::is_known_model(name)) {
        let problem = "Azimuth knows no such model; write an id that `azimuth models` shows with a price, such as \
                       `anthropic/claude-opus-5-5`, or remove it";
        found.fault(way.field("equivalent_to"), problem);
        fields.remove("equivalent_to");
    }
    if let Some(Value::Object(flags)) = fields.remove("compat") {
        fields.insert("compat".to_owned(), with_right_efforts(flags, &way.field("compat"), found).into());
    }
    let added = fields.remove("headers");
    let mut model = match Defined::read(fields) {
        Ok(model) => model,
        Err(problem) => {
            found.fault(way.clone(), problem);
            return None;
        }
    };
    if let Some(Value::Object(fields)) = added {
        headers(&fields, &way.field("headers"), environment, found, |name, value| model.set_header(name, value));
    }
    Some(model)
}

/// Flags of a server without the names of levels that cannot be sent.
fn with_right_efforts(mut flags: Map<String, Value>, way: &Way, found: &mut Found) -> Map<String, Value> {
    if let Some(Value::Object(efforts)) = flags.get_mut("efforts") {
        efforts.retain(|level, name| {
            let problem = if ThinkingLevel::from_name(level).is_none() {
                let all = ThinkingLevel::ALL.map(|level| format!("`{}`", level.name())).join(", ");
                format!("there is no such level of thinking; write one of {all}")
            } else if name.as_str().is_none_or(|name| name.trim().is_empty()) {
                "it must be the server's name for this level, a text; until it is corrected, the usual name is sent"
                    .into()
            } else {
                return true;
            };
            found.fault(way.field("efforts").field(level), problem);
            false
        });
    }
    flags
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
        let Some(known) = named(table_name, group, name) else {
            let mut all: Vec<_> = names(table_name, group).map(|name| format!("`{}`", plain_name(name))).collect();
            all.dedup();
            found.fault(way, format!("there is no such setting; remove it, or write one of {}", all.join(", ")));
            continue;
        };
        let full = format!("{table_name}{group}{known}");
        let value = match SETTINGS.iter().find(|setting| setting.name == full) {
            // It is looked at by who reads it.
            Some(setting) if OF_ITS_OWN.contains(&setting.name) => value.clone(),
            Some(setting) => match fit(setting, value) {
                Ok(value) => value,
                Err(wanted) => {
                    found.fault(way, format!("it must be {wanted}; until it is corrected, it is left out"));
                    continue;
                }
            },
            None if known.ends_with(LIST) => {
                let Value::Array(list) = value else {
                    let problem = "each model is a table of its own: write it as `[[providers.NAME.model]]`";
                    found.fault(way, problem);
                    continue;
                };
                let each = list.iter().enumerate().map(|(at, value)| {
                    let (way, group) = (way.entry(at), format!("{group}{known}."));
                    let fields = table(Some(value), &way, found)?;
                    Some(Value::Object(checked(table_name, &group, fields, &way, found)))
                });
                // One that is no table keeps its place, so that the others are told by theirs.
                Value::Array(each.map(Option::unwrap_or_default).collect())
            }
            // It has settings of its own.
            None => match table(Some(value), &way, found) {
                Some(fields) => Value::Object(checked(table_name, &format!("{group}{known}."), fields, &way, found)),
                None => continue,
            },
        };
        if right.insert(plain_name(known).to_owned(), value).is_some() {
            found.fault(way, "it is there in two spellings, of which the later one counts; remove one");
        }
    }
    right
}

/// The names of the settings of a group, without what follows a dot.
fn names(table_name: &str, group: &str) -> impl Iterator<Item = &'static str> {
    let names = SETTINGS.iter().filter_map(move |it| it.name.strip_prefix(table_name)?.strip_prefix(group));
    names.map(|name| name.split('.').next().unwrap_or_default())
}

/// The name of a setting of a group that is written so.
fn named(table_name: &str, group: &str, name: &str) -> Option<&'static str> {
    names(table_name, group).find(|known| plain_name(known) == name || in_camel_case(plain_name(known)) == name)
}

/// A name without the mark of a list of tables.
fn plain_name(name: &str) -> &str {
    name.strip_suffix(LIST).unwrap_or(name)
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
        // Lua writes an empty table as an empty list.
        Kind::Texts(_) | Kind::Anything if value.as_array().is_some_and(Vec::is_empty) => Ok(Value::Object(Map::new())),
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

/// The keys and accounts of a list. What is wrong in it is never repeated: it may be a key.
fn listed_keys(
    value: &Value,
    way: &Way,
    environment: &dyn Fn(&str) -> Option<String>,
    found: &mut Found,
) -> Vec<NamedKey> {
    let Some(list) = value.as_array() else {
        let problem = "it must be a list of texts, such as `[\"env:WORK_KEY\", \"account:mine\"]`; until it is corrected, \
                       nothing is sent to this provider";
        found.fault(way.clone(), problem);
        return vec![NamedKey::Faulty];
    };
    let (mut keys, mut is_faulty) = (Vec::new(), false);
    for (at, entry) in list.iter().enumerate() {
        let way = way.entry(at);
        let text = entry.as_str().unwrap_or_default().trim();
        let named = |beginning: &str| text.strip_prefix(beginning).filter(|name| !name.is_empty()).map(str::to_owned);
        let key = match (named(VARIABLE), named(ACCOUNT)) {
            (Some(variable), _) => {
                process::secrets::holds_a_key(&variable);
                let key = environment(&variable).map(|key| Secret::new(&key)).filter(|key| !key.expose().is_empty());
                if key.is_none() {
                    let text = format!("{way}: the variable {variable} is not set, so this key is left out");
                    found.warnings.push(text);
                }
                NamedKey::Key { variable, key }
            }
            (None, Some(label)) => NamedKey::Account(label),
            (None, None) => {
                let problem = "it must be `env:VARIABLE`, the name of a variable that holds a key, or `account:NAME`, \
                               that of an account; a key itself does not belong here. This entry is left out, and if no \
                               other is right, nothing is sent to this provider";
                found.fault(way, problem);
                is_faulty = true;
                continue;
            }
        };
        if keys.contains(&key) {
            found.fault(way, "this one is listed twice; remove it here");
        } else {
            keys.push(key);
        }
    }
    // With mistakes alone it is a list all the same: another key is not paid with in its place.
    if keys.is_empty() && is_faulty { vec![NamedKey::Faulty] } else { keys }
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
    /// It is not a text.
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
