//! The tables of settings in the documentation.

use std::fmt::{self, Write as _};

use protocol::settings::{DefaultValue, Kind, May, Setting, Stricter, Who};

use super::super::markdown::cell;
use super::vscode;
use super::{PROVIDERS, is_written, meanings};

/// The line after which stands what each layer may say.
pub const LAYERS: &str = "<!-- generated: layers -->";

/// The line after which the table of settings stands, in `docs/configuration.md` and in `docs/vscode.md`.
pub const SETTINGS: &str = "<!-- generated: settings -->";

/// The table of what each layer may say.
pub fn layers(settings: &[Setting]) -> String {
    // By who may set them, in the order of the first of each.
    let mut groups: Vec<(Who, Vec<String>)> = Vec::new();
    for setting in settings.iter().filter(is_written) {
        let name = if setting.name.starts_with(PROVIDERS) { "providers" } else { setting.name };
        let name = format!("`{name}`");
        match groups.iter_mut().find(|(who, _)| *who == setting.who) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((setting.who, vec![name])),
        }
    }
    let mut out =
        "| setting | your file, `initializationOptions` | the editor's settings | a project's file |\n".to_owned();
    out.push_str("| --- | --- | --- | --- |\n");
    for (who, names) in groups {
        let [user, editor, project] = [who.user, who.editor, who.project].map(may);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| {} | {user} | {editor} | {project} |", names.join(", "));
    }
    out
}

fn may(may: May) -> &'static str {
    match may {
        May::Set => "yes",
        May::KnownModel => "an id of a provider that is set up",
        May::Restrict(Stricter::Off) => "only to switch it off",
        May::Restrict(Stricter::Lower) => "only to make it stricter",
        May::Restrict(Stricter::Fewer) => "only to let fewer through",
        May::Restrict(Stricter::Within) => "only to allow fewer of them",
        May::Restrict(Stricter::More) => "only to name more",
        May::OnceTrusted => "once its folder is trusted",
        May::Never => "no",
    }
}

/// All settings, for `docs/configuration.md`.
pub fn settings(settings: &[Setting]) -> String {
    let mut out = "| setting | type | default | what it does |\n| --- | --- | --- | --- |\n".to_owned();
    for setting in settings {
        let words = words(setting, setting.words).replace("](configuration.md#", "](#");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| `{}` | {} | {} | {words} |", setting.name, Type(setting.kind), Shown(setting.default));
    }
    out
}

/// Those that can be set in VS Code, for `docs/vscode.md`.
pub fn in_vscode(settings: &[Setting]) -> String {
    let mut out = "| setting | what it does | default | |\n| --- | --- | --- | --- |\n".to_owned();
    for declared in vscode::declared(settings) {
        let words = match declared.setting {
            Some(setting) => words(setting, &vscode::with_names(settings, setting.words, |name| format!("`{name}`"))),
            None => declared.words.to_owned(),
        };
        let default = declared.setting.map_or_else(String::new, |setting| Shown(setting.default).to_string());
        let who = match declared.scope {
            vscode::Scope::Machine => "user only",
            vscode::Scope::Window => "",
            vscode::Scope::Resource => "a workspace and its folders can add to it",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "| `azimuth.{}` | {words} | {default} | {who} |", declared.name);
    }
    out
}

/// Describes what a setting does, as a cell.
fn words(setting: &Setting, words: &str) -> String {
    let meanings = meanings(setting).map(|meanings| format!(" {meanings}."));
    let more = setting.more.map(|place| format!(" ([more]({place}))"));
    cell(&format!("{words}{}{}", meanings.unwrap_or_default(), more.unwrap_or_default()))
}

/// A type in words.
struct Type(Kind);

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Kind::Text(what) => f.write_str(what),
            Kind::Secret => f.write_str("text"),
            Kind::Flag => f.write_str("boolean"),
            Kind::Number { unit, min: 0, max: u32::MAX } => f.write_str(unit),
            Kind::Number { unit, min, max: u32::MAX } => write!(f, "{unit}, at least {min}"),
            Kind::Number { unit, min, max } | Kind::Decimal { unit, min, max } => write!(f, "{unit}, {min} to {max}"),
            Kind::List(what) => write!(f, "list of {what}"),
            Kind::Texts(what) => write!(f, "table of texts by {what}"),
            Kind::Anything => f.write_str("table"),
            Kind::Choice(choices) => {
                let quoted: Vec<_> = choices.iter().map(|(choice, _)| format!("`{choice}`")).collect();
                match quoted.split_last() {
                    Some((last, rest)) if !rest.is_empty() => write!(f, "{} or {last}", rest.join(", ")),
                    _ => f.write_str(&quoted.concat()),
                }
            }
        }
    }
}

/// A default in words.
struct Shown(DefaultValue);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            DefaultValue::Unset(words) => f.write_str(words),
            DefaultValue::Bool(is_on) => write!(f, "`{is_on}`"),
            DefaultValue::Word(choice) => write!(f, "`{choice}`"),
            DefaultValue::Int(number) => write!(f, "`{number}`"),
        }
    }
}
