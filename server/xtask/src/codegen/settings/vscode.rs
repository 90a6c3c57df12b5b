//! The settings as the VS Code extension declares them, and as it sends them.

use std::fmt::Write as _;

use protocol::settings::{DefaultValue, Kind, May, Setting};
use serde_json::{Map, Value, json};

use super::super::COMMAND;
use super::{default_value, is_written, put as put_schema, value_schema};

/// Tables by names that VS Code declares as one setting each: how their settings begin, and what they are together.
const GROUPS: [(&str, &str); 2] = [
    (
        super::PROVIDERS,
        "Model providers by name. Set a key with \"Azimuth: Set API Key…\" rather than here; `keyEnv` names the variable \
         that holds it.",
    ),
    (
        "secrets.NAME.",
        "Secrets by name that models do not see, each with `env`, `file`, `command` or `pattern` and possibly \
         `replaceWith`.",
    ),
];

/// A setting as VS Code has it.
pub(super) struct Declared<'a> {
    /// Its name without `azimuth.`.
    pub(super) name: String,
    /// Who may set it.
    pub(super) scope: Scope,
    /// A description of what it does.
    pub(super) words: &'a str,
    /// Its definition. Tables by names are one setting, and have none.
    pub(super) setting: Option<&'a Setting>,
}

/// Who may set a setting, as VS Code says it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The user, never a workspace.
    Machine,
    /// A workspace too.
    Window,
    /// A workspace and its folders too.
    Resource,
}

impl Scope {
    fn of(setting: &Setting) -> Self {
        match (setting.who.editor, setting.who.project) {
            // A folder may add to a list, as a project's file may. Of anything else one value counts, which VS Code has
            // for the window.
            (May::Set, May::Set) if matches!(setting.kind, Kind::List(_)) => Self::Resource,
            (May::Set | May::KnownModel, _) => Self::Window,
            _ => Self::Machine,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Window => "window",
            Self::Resource => "resource",
        }
    }

    /// Returns the words about it on the settings' page.
    fn words(self) -> &'static str {
        match self {
            Self::Machine => " Only your own settings count, never a workspace's.",
            Self::Window => "",
            Self::Resource => " A workspace can add to it.",
        }
    }
}

/// The settings that VS Code declares.
pub(super) fn declared(settings: &[Setting]) -> Vec<Declared<'_>> {
    let mut declared: Vec<Declared<'_>> = Vec::new();
    for setting in settings.iter().filter(is_written) {
        let scope = Scope::of(setting);
        match GROUPS.iter().find(|(begin, _)| setting.name.starts_with(begin)) {
            None => {
                let name = setting.camel_case();
                declared.push(Declared { name, scope, words: setting.words, setting: Some(setting) });
            }
            Some((begin, words)) => {
                let name = begin.split('.').next().unwrap_or_default();
                if declared.iter().all(|it| it.name != name) {
                    declared.push(Declared { name: name.to_owned(), scope, words, setting: None });
                }
            }
        }
    }
    declared
}

/// Words in which other settings are named as VS Code names them.
pub(super) fn with_names(settings: &[Setting], words: &str, show: impl Fn(&str) -> String) -> String {
    settings.iter().filter(is_written).fold(words.to_owned(), |words, setting| {
        let show = || show(&format!("azimuth.{}", setting.camel_case()));
        // A name of one word, such as `model`, may stand for itself.
        if setting.name.contains('_') { words.replace(&format!("`{}`", setting.name), &show()) } else { words }
    })
}

/// The extension's manifest with the settings in it.
///
/// # Errors
/// The words that must stand in it and do not.
pub fn manifest(text: &str, settings: &[Setting]) -> Result<String, &'static str> {
    let whole: Value = serde_json::from_str(text).map_err(|_| "{")?;
    let declared = declared(settings);
    let properties: Map<String, Value> =
        declared.iter().map(|it| (format!("azimuth.{}", it.name), property(settings, it))).collect();
    // Those of the extension's own are the author's. Of them, too, only the user may set some.
    let categories = whole["contributes"]["configuration"].as_array().into_iter().flatten().skip(1);
    let own = categories.filter_map(|category| category["properties"].as_object()).flatten();
    let own = own.filter(|(_, property)| property["scope"] == Scope::Machine.name()).map(|(name, _)| name.clone());
    let is_free = |it: &&Declared<'_>| it.setting.is_some_and(|setting| setting.who.project == May::Set);
    let restricted = declared.iter().filter(|it| !is_free(it)).map(|it| format!("azimuth.{}", it.name));
    let restricted: Vec<String> = own.chain(restricted).collect();
    let text = put(text, &["\"untrustedWorkspaces\": {", "\"restrictedConfigurations\": "], &json!(restricted))?;
    put(&text, &["\"configuration\": [", "\"title\": \"Azimuth\",", "\"properties\": "], &Value::Object(properties))
}

/// Puts a value in the place of the one that follows these words, the last of them behind the others.
fn put(text: &str, words: &[&'static str], value: &Value) -> Result<String, &'static str> {
    let mut at = 0;
    for word in words {
        let (before, _) = text[at..].split_once(word).ok_or(*word)?;
        at += before.len() + word.len();
    }
    let (head, rest) = text.split_at(at);
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    values.next().and_then(Result::ok).ok_or(words.last().copied().unwrap_or_default())?;
    let tail = &rest[values.byte_offset()..];
    let line = head.lines().last().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start().len()];
    Ok(format!("{head}{}{tail}", format!("{value:#}").replace('\n', &format!("\n{indent}"))))
}

/// A setting as the manifest declares it.
fn property(settings: &[Setting], declared: &Declared<'_>) -> Value {
    let scope = declared.scope;
    let Some(setting) = declared.setting else {
        return json!({
            "type": "object",
            "scope": scope.name(),
            "default": {},
            "additionalProperties": group(settings, &format!("{}.NAME.", declared.name)),
            "markdownDescription": format!("{}{}", declared.words, scope.words()),
        });
    };
    let mut property = value_schema(setting);
    property["scope"] = scope.name().into();
    let mut words = with_names(settings, setting.words, |name| format!("`#{name}#`"));
    if let Kind::Choice(choices) = setting.kind {
        property["enumDescriptions"] = choices.iter().map(|(_, words)| sentence(words)).collect();
    }
    property["default"] = match (setting.default, setting.kind) {
        (DefaultValue::Unset(_), Kind::List(_)) => json!([]),
        // No number is null, which VS Code shows as an empty field.
        (DefaultValue::Unset(_), Kind::Number { .. } | Kind::Decimal { .. }) => {
            property["type"] = json!([property["type"], "null"]);
            Value::Null
        }
        (DefaultValue::Unset(without), kind) => {
            // No value is the empty text, which is not sent.
            if let Kind::Choice(_) = kind {
                put_first(&mut property["enum"], "");
                put_first(&mut property["enumDescriptions"], &sentence(without));
            }
            if without != "none" {
                let _ = write!(words, " Empty: {without}.");
            }
            json!("")
        }
        _ => json!(default_value(setting)),
    };
    property["markdownDescription"] = format!("{words}{}", scope.words()).into();
    property
}

fn put_first(list: &mut Value, text: &str) {
    if let Some(list) = list.as_array_mut() {
        list.insert(0, text.into());
    }
}

/// The schema of the settings that begin so, such as a provider's. A secret text is none of them: a key belongs into
/// the secret storage.
fn group(settings: &[Setting], begin: &str) -> Value {
    let fields = settings.iter().filter(|setting| setting.name.starts_with(begin) && setting.kind != Kind::Secret);
    let mut properties = Map::new();
    for setting in fields {
        let mut field = value_schema(setting);
        if let Kind::Choice(choices) = setting.kind {
            field["enumDescriptions"] = choices.iter().map(|(_, words)| sentence(words)).collect();
        }
        field["description"] = setting.words.into();
        put_schema(&mut properties, &setting.camel_case().replacen(begin, "", 1), field);
    }
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

/// Words that begin with a capital letter.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The names of the settings by who may set them, for the part of the extension that reads them.
pub fn names(settings: &[Setting]) -> String {
    let declared = declared(settings);
    let lists = [
        (
            "trusted",
            Scope::Machine,
            "The settings that may allow something, or that only the user may change otherwise.",
        ),
        ("free", Scope::Window, "The settings that a workspace may choose, too."),
        ("additive", Scope::Resource, "The lists to which a workspace and its folders may add."),
    ];
    let mut out = format!("// Generated from the table `protocol::settings` by `{COMMAND}`. Do not edit.\n");
    for (list, scope, words) in lists {
        let names = declared.iter().filter(|it| it.scope == scope).map(|it| format!("  '{}',\n", it.name));
        // Writing to a string cannot fail.
        let _ = write!(out, "\n/** {words} */\nexport const {list} = [\n{}] as const;\n", names.collect::<String>());
    }
    out
}

/// A manifest without settings of the table, and with one of the extension's own.
#[cfg(test)]
pub(in crate::codegen) const EMPTY_MANIFEST: &str = r#"{
  "capabilities": {
    "untrustedWorkspaces": {
      "restrictedConfigurations": []
    }
  },
  "contributes": {
    "configuration": [
      {
        "title": "Azimuth",
        "properties": {}
      },
      {
        "title": "Panel",
        "properties": { "azimuth.server.path": { "type": "string", "scope": "machine" } }
      }
    ]
  }
}
"#;
