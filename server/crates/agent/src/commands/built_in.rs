//! Our own commands: how each is written, described and read. What they do is the hub's, which has a function for each
//! type.

mod compaction;
mod finding;
mod models;

use std::borrow::Cow;

use protocol::checkpoint::Direction;
use protocol::mode::{Edits, Mode};
use protocol::review::AutoScope;

pub use self::compaction::{Compact, Summarize};
pub use self::finding::{Export, Search};
pub use self::models::{ChooseModel, ChooseThinking};
use super::{Choice, Choices, Command, Definition, Does, Effects, Flag, Words};

/// A command of ours, read from its words.
pub trait BuiltIn: Sized {
    /// Returns its syntax and description.
    fn definition() -> Definition;

    /// The command with these words.
    ///
    /// # Errors
    /// Something is wrong with them; the text is for the user.
    fn read(words: &Words) -> Result<Self, String>;

    /// The things to be known of it before it is carried out.
    fn effects(&self) -> Effects {
        Effects::default()
    }
}

/// All of them, in the order of help.
pub fn all() -> Vec<Command> {
    vec![
        command::<New>(),
        command::<Help>(),
        command::<ChooseModel>(),
        command::<ChooseThinking>(),
        command::<ChooseMode>(),
        command::<Permissions>(),
        command::<Auto>(),
        command::<Trust>(),
        command::<Resume>(),
        command::<Conversations>(),
        command::<Search>(),
        command::<Export>(),
        command::<Context>(),
        command::<Compact>(),
        command::<Summarize>(),
        command::<Costs>(),
        command::<Usage>(),
        command::<Providers>(),
        command::<HiddenSecrets>(),
        command::<Undo>(),
        command::<Redo>(),
    ]
}

fn command<C: BuiltIn>() -> Command {
    let read = |words: &Words| C::read(words).map(|command| command.effects());
    Command { definition: C::definition(), does: Does::BuiltIn(read) }
}

/// Starts a new session.
#[derive(Debug)]
pub struct New;

impl BuiltIn for New {
    fn definition() -> Definition {
        Definition::new("new", "Start a new conversation")
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }

    fn effects(&self) -> Effects {
        Effects { leads_away: true, ..Effects::default() }
    }
}

/// Lists the commands.
#[derive(Debug)]
pub struct Help;

impl BuiltIn for Help {
    fn definition() -> Definition {
        Definition::new("help", "List the commands")
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Chooses a mode, or shows the current one.
#[derive(Debug, PartialEq, Eq)]
pub enum ChooseMode {
    /// Shows the current one.
    Show,
    /// Chooses one that needs no confirmation.
    Choose(Mode),
    /// Chooses one that has to be confirmed; at first, only explains it.
    Confirm {
        /// The mode.
        mode: Mode,
        /// True if the user has read that, and wants it.
        confirmed: bool,
    },
}

impl BuiltIn for ChooseMode {
    fn definition() -> Definition {
        Definition {
            arguments: format!("[{}]", Mode::ALL.map(Mode::name).join("|")).into(),
            words: 1,
            also: |before, word| {
                word == "yes" && matches!(before, [name] if Mode::named(name).is_some_and(Mode::needs_confirmation))
            },
            choices: Choices::Fixed(Mode::ALL.map(choice).to_vec()),
            ..Definition::new(
                "mode",
                "Choose what the agent may do: look (ask, plan), work (agent, accept-edits), anything (bypass)",
            )
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        Ok(match words.first() {
            None => Self::Show,
            Some(name) => match Mode::named(name) {
                Some(mode) if mode.needs_confirmation() => {
                    Self::Confirm { mode, confirmed: words.positionals.len() > 1 }
                }
                Some(mode) => Self::Choose(mode),
                None => {
                    let names = Mode::ALL.map(|mode| format!("`{}`", mode.name())).join(", ");
                    return Err(format!("there is no mode `{name}`; there are {names}"));
                }
            },
        })
    }

    fn effects(&self) -> Effects {
        let mode = if let Self::Choose(mode) = self { Some(*mode) } else { None };
        let must_lead = match self {
            Self::Show => false,
            Self::Choose(mode) => mode.edits() == Edits::Accepted,
            Self::Confirm { confirmed, .. } => *confirmed,
        };
        Effects { must_lead, mode, ..Effects::default() }
    }
}

/// A mode, as a value of the command's.
fn choice(mode: Mode) -> Choice {
    let confirm = if mode.needs_confirmation() { "; it has to be confirmed" } else { "" };
    Choice::new(mode.name(), format!("{}{confirm}", capitalized(mode.info().words)))
}

fn capitalized(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Lists the permission rules in force, or revokes the one with this number of the list, which begins at 1.
#[derive(Debug)]
pub struct Permissions(pub Option<usize>);

impl BuiltIn for Permissions {
    fn definition() -> Definition {
        Definition {
            arguments: "[revoke number]".into(),
            also: |before, word| match before {
                [] => word == "revoke",
                before => before == ["revoke"],
            },
            ..Definition::new("permissions", "List the permission rules in force, or revoke one that you granted")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        if words.first().is_none() {
            return Ok(Self(None));
        }
        let number = words.positionals.get(1).and_then(|number| number.parse().ok()).filter(|number| *number > 0);
        let number = number.ok_or("say which rule: `/permissions revoke <number>`; `/permissions` lists them")?;
        Ok(Self(Some(number)))
    }
}

/// Switches automatic accepting of edits on or off, in this session or in the project; without a switch, shows the
/// current choice.
#[derive(Debug)]
pub struct Auto(pub Option<(bool, AutoScope)>);

impl BuiltIn for Auto {
    fn definition() -> Definition {
        // Makes a switch hold for the project.
        const PROJECT: &[Flag] = &[Flag { name: Cow::Borrowed("project"), short: None, takes_value: false }];

        Definition {
            arguments: "[on|off] [--project]".into(),
            words: 1,
            flags: PROJECT.into(),
            choices: Choices::Fixed(vec![
                Choice::new("on", "Accept edits automatically"),
                Choice::new("off", "Review edits first"),
            ]),
            ..Definition::new(
                "auto",
                "Accept edits automatically, or stop; with `--project` in all sessions of the project",
            )
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let scope = if words.flags.is_empty() { AutoScope::Session } else { AutoScope::Project };
        match (words.positionals.first().map(String::as_str), scope) {
            (None, AutoScope::Session) => Ok(Self(None)),
            (None, AutoScope::Project) => Err("say what: `/auto on --project` or `/auto off --project`".to_owned()),
            (Some("on"), scope) => Ok(Self(Some((true, scope)))),
            (Some("off"), scope) => Ok(Self(Some((false, scope)))),
            (Some(other), _) => Err(format!("`{other}` is not understood; use `/auto on` or `/auto off`")),
        }
    }

    fn effects(&self) -> Effects {
        let is_on = matches!(self.0, Some((true, _)));
        let instead = "`/auto on` is not for azimuth exec: `--yes` accepts what this prompt does";
        Effects { must_lead: is_on, lasts: is_on.then_some(instead), ..Effects::default() }
    }
}

/// Trusts or distrusts the workspace, permanently; without an answer, shows the status.
#[derive(Debug)]
pub struct Trust(pub Option<bool>);

impl BuiltIn for Trust {
    fn definition() -> Definition {
        Definition {
            arguments: "[yes|no]".into(),
            words: 1,
            choices: Choices::Fixed(vec![
                Choice::new("yes", "What this folder supplies may run"),
                Choice::new("no", "It may not"),
            ]),
            ..Definition::new("trust", "Trust or distrust this folder, or show its status")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        match words.first() {
            None => Ok(Self(None)),
            Some("yes") => Ok(Self(Some(true))),
            Some("no") => Ok(Self(Some(false))),
            Some(other) => Err(format!("`{other}` is not understood; use `/trust yes` or `/trust no`")),
        }
    }

    fn effects(&self) -> Effects {
        let instead = "`/trust yes` is not for azimuth exec: `--trust` trusts the folder in one run";
        Effects { must_lead: self.0.is_some(), lasts: (self.0 == Some(true)).then_some(instead), ..Effects::default() }
    }
}

/// Continues an earlier session: the one with this id, or with an id that begins with it.
#[derive(Debug)]
pub struct Resume(pub String);

impl BuiltIn for Resume {
    fn definition() -> Definition {
        Definition {
            arguments: "<id>".into(),
            words: 1,
            choices: Choices::Sessions,
            ..Definition::new("resume", "Continue an earlier conversation")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let id = words.first().ok_or("say which conversation: `/resume <id>`; `/conversations` lists them")?;
        Ok(Self(id.to_owned()))
    }

    fn effects(&self) -> Effects {
        Effects { leads_away: true, ..Effects::default() }
    }
}

/// Lists the sessions.
#[derive(Debug)]
pub struct Conversations;

impl BuiltIn for Conversations {
    fn definition() -> Definition {
        Definition::new("conversations", "List the conversations of this project")
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Shows what fills the model's context.
#[derive(Debug)]
pub struct Context;

impl BuiltIn for Context {
    fn definition() -> Definition {
        Definition::new("context", "Show what fills the model's context, and how much room is left")
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Shows the tokens used and their cost, of the session and of today.
#[derive(Debug)]
pub struct Costs;

impl BuiltIn for Costs {
    fn definition() -> Definition {
        Definition::new(
            "costs",
            "Show the tokens used and their cost: of this conversation, by model and turn, and of today",
        )
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Shows the limits of the user's accounts, and how much of the budgets is spent.
#[derive(Debug)]
pub struct Usage;

impl BuiltIn for Usage {
    fn definition() -> Definition {
        Definition::new(
            "usage",
            "Show what vendors still allow, when that resets, and how much of your budgets is spent",
        )
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Lists the providers of models, or changes those in the user's configuration.
#[derive(Debug, PartialEq, Eq)]
pub enum Providers {
    /// Lists them.
    List,
    /// Adds one.
    Add(NewProvider),
    /// Removes the one of this name.
    Remove(String),
}

/// A provider to add.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewProvider {
    /// Its name.
    pub name: String,
    /// Its address.
    pub base_url: Option<String>,
    /// The protocol that it speaks.
    pub wire: Option<String>,
    /// The environment variable that holds its key.
    pub key_env: Option<String>,
    /// The file that holds its key.
    pub key_file: Option<String>,
    /// The command that prints its key.
    pub key_command: Option<String>,
    /// True if its key is, or will be, among the accounts.
    pub sign_in: bool,
    /// Its models.
    pub models: Vec<String>,
    /// True if a model is to be asked for a word before it is added.
    pub check: bool,
    /// True if nothing is sent to it before it is added.
    pub no_check: bool,
}

impl BuiltIn for Providers {
    fn definition() -> Definition {
        const fn flag(name: &'static str, takes_value: bool) -> Flag {
            Flag { name: Cow::Borrowed(name), short: None, takes_value }
        }

        // `--key` is none of its options. It is known so that the key is taken for its value.
        const FLAGS: &[Flag] = &[
            flag("base-url", true),
            flag("wire", true),
            flag("key-env", true),
            flag("key-file", true),
            flag("key-command", true),
            flag("sign-in", false),
            flag("model", true),
            flag("check", false),
            flag("no-check", false),
            flag(KEY, true),
        ];

        Definition {
            arguments: "[list|add name --base-url url --key-env variable|remove name]".into(),
            words: 1,
            // The whole line, so that no key in it becomes a part of a prompt.
            also: |before, _| {
                before.first().is_some_and(|word| word == "add" || word == "remove" || word.starts_with('-'))
            },
            secret: may_hold_a_key,
            flags: FLAGS.into(),
            choices: Choices::Fixed(vec![
                Choice::new("list", "The providers, where their keys come from, and why one cannot be used"),
                Choice::new("add", "Check a provider, and write it into your configuration"),
                Choice::new("remove", "Take a provider out of your configuration"),
            ]),
            ..Definition::new("provider", "List the providers of models, or add or remove one in your configuration")
        }
    }

    fn read(words: &Words) -> Result<Self, String> {
        let name = |what: &str| {
            let name = words.positionals.get(1).filter(|name| !name.is_empty()).cloned();
            name.ok_or_else(|| format!("say which provider: `/provider {what} <name>`"))
        };
        if may_hold_a_key(words) {
            return Err(
                "that is more than `/provider` understands. A key does not belong in a chat, which is kept: name the \
                 variable that holds it with `--key-env`, a file with `--key-file`, a command that prints it with \
                 `--key-command`, or keep it by `azimuth auth login` in a terminal. If you sent a key just now, replace \
                 it"
                    .to_owned(),
            );
        }
        match words.first() {
            None | Some("list") => Ok(Self::List),
            Some("remove") => name("remove").map(Self::Remove),
            Some("add") => new_provider(name("add")?, words).map(Self::Add),
            Some(other) => Err(format!("`{other}` is not understood; use `/provider list`, `add` or `remove`")),
        }
    }

    fn effects(&self) -> Effects {
        let is_change = *self != Self::List;
        let instead = "`/provider` changes nothing by azimuth exec: use `azimuth providers` in a terminal";
        Effects { must_lead: is_change, lasts: is_change.then_some(instead), ..Effects::default() }
    }
}

/// The flag for a key itself, which is refused.
const KEY: &str = "key";

/// True if `/provider` does not know what one of these words is: it may be a key.
fn may_hold_a_key(words: &Words) -> bool {
    let Words { positionals, flags, .. } = words;
    let is_unknown_option = |word: &String| word.starts_with('-');
    flags.iter().any(|(flag, _)| flag == KEY) || positionals.len() > 2 || positionals.iter().any(is_unknown_option)
}

/// The provider that the flags describe.
fn new_provider(name: String, words: &Words) -> Result<NewProvider, String> {
    let mut new = NewProvider { name, ..NewProvider::default() };
    for (flag, value) in &words.flags {
        let given = || value.clone().filter(|it| !it.is_empty()).ok_or_else(|| format!("`--{flag}` needs a value"));
        match flag.as_str() {
            "base-url" => new.base_url = Some(given()?),
            "wire" => new.wire = Some(given()?),
            "key-env" => new.key_env = Some(given()?),
            "key-file" => new.key_file = Some(given()?),
            "key-command" => new.key_command = Some(given()?),
            "model" => new.models.push(given()?),
            "sign-in" => new.sign_in = true,
            "check" => new.check = true,
            "no-check" => new.no_check = true,
            // No other flag gets so far.
            _ => {}
        }
    }
    let sources = [new.key_env.is_some(), new.key_file.is_some(), new.key_command.is_some(), new.sign_in];
    if sources.into_iter().filter(|is_given| *is_given).count() > 1 {
        return Err("a key comes from one place: `--key-env`, `--key-file`, `--key-command` or `--sign-in`".to_owned());
    }
    if new.check && new.no_check {
        return Err("use either `--check` or `--no-check`".to_owned());
    }
    Ok(new)
}

/// Lists the secrets that models do not see.
#[derive(Debug)]
pub struct HiddenSecrets;

impl BuiltIn for HiddenSecrets {
    fn definition() -> Definition {
        Definition::new("secrets", "List the secrets that are hidden from models: their names and where they are from")
    }

    fn read(_: &Words) -> Result<Self, String> {
        Ok(Self)
    }
}

/// Undoes what the last turn did to files; these files even if they were changed since.
#[derive(Debug)]
pub struct Undo(pub Vec<String>);

impl BuiltIn for Undo {
    fn definition() -> Definition {
        restoring(Direction::Undo)
    }

    fn read(words: &Words) -> Result<Self, String> {
        over(words).map(Self)
    }

    fn effects(&self) -> Effects {
        Effects { must_lead: true, ..Effects::default() }
    }
}

/// Redoes what was undone; these files even if they were changed since.
#[derive(Debug)]
pub struct Redo(pub Vec<String>);

impl BuiltIn for Redo {
    fn definition() -> Definition {
        restoring(Direction::Redo)
    }

    fn read(words: &Words) -> Result<Self, String> {
        over(words).map(Self)
    }

    fn effects(&self) -> Effects {
        Effects { must_lead: true, ..Effects::default() }
    }
}

fn restoring(direction: Direction) -> Definition {
    // Names a file that is to be set even though it was changed since.
    const OVER: &[Flag] = &[Flag { name: Cow::Borrowed("over"), short: None, takes_value: true }];

    let (name, description) = match direction {
        Direction::Undo => {
            ("undo", "Undo what the last turn did to files; `--over` also restores a file that was changed since")
        }
        Direction::Redo => ("redo", "Redo what `/undo` undid; `--over` also restores a file that was changed since"),
    };
    Definition { arguments: "[--over path]".into(), flags: OVER.into(), ..Definition::new(name, description) }
}

/// The files that `--over` names.
fn over(words: &Words) -> Result<Vec<String>, String> {
    let values = words.flags.iter().map(|(_, value)| value.clone().filter(|value| !value.is_empty()));
    values.collect::<Option<_>>().ok_or_else(|| "say which file: `--over path/of/the/file`".to_owned())
}
