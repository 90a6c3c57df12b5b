//! The commands in a prompt: a session's slash commands, by who brings them, with finding and completing them; and the
//! user's own commands.
//!
//! Reading order: [`Command`] is the definition of one, [`CommandSet`] has those of a session, [`Commands`] are those
//! of one moment by the names that people type, with `parse` and `complete` for what a prompt has of them. [`built_in`]
//! has ours; what these do is the hub's. Others bring theirs with what they do ([`Does`]).

pub mod built_in;
mod complete;
mod parse;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use protocol::session::Mode;

pub use self::complete::{Known, Token, TokenKind};
pub use self::parse::{Invocation, Parsed, UserCommand, Words, escape, says_something, unescape, user_command};
use crate::tags;

/// A slash command.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its syntax and description.
    pub definition: Definition,
    /// Its consequences.
    pub does: Does,
}

/// The syntax of a slash command, for the parser, help and completion.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name, without the slash: letters, digits, `-`, `_` and `.`.
    pub name: Cow<'static, str>,
    /// The syntax of its arguments, such as `[on|off] [--project]`; may be empty.
    pub arguments: Cow<'static, str>,
    /// One line for users.
    pub description: Cow<'static, str>,
    /// The most words that it takes; what follows belongs to the prompt.
    pub words: usize,
    /// True for a word that it takes beyond that, for what stands before it.
    pub also: fn(&[String], &str) -> bool,
    /// A flag after which all the rest of the prompt is the command's, over lines.
    pub rest_after: Option<&'static str>,
    /// True for arguments of which one may be a key: then nobody is shown them, and they are kept nowhere.
    pub secret: fn(&Words) -> bool,
    /// The flags that it knows.
    pub flags: Cow<'static, [Flag]>,
    /// The values from which its arguments are completed.
    pub choices: Choices,
}

/// A flag of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As in `--name`.
    pub name: Cow<'static, str>,
    /// As in `-n`.
    pub short: Option<char>,
    /// True if a value follows.
    pub takes_value: bool,
}

/// The values that an argument can have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Choices {
    /// Nothing is known of them.
    #[default]
    None,
    /// These.
    Fixed(Vec<Choice>),
    /// The models that can be used.
    Models,
    /// The conversations of the project.
    Sessions,
}

/// A value that an argument can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// A short description.
    pub detail: String,
}

/// The consequences of a command.
#[derive(Clone)]
pub enum Does {
    /// One of ours, which the hub carries out, read from its words. The error is for the user.
    BuiltIn(fn(&Words) -> Result<Effects, String>),
    /// The answer goes to the model in the command's place. It is not searched for commands.
    Prompt(Arc<dyn Respond>),
    /// It does something of its own. The answer is for the user, and no model hears of it.
    Act(Arc<dyn Respond>),
}

/// The things that must be known of a command before it is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// True if it changes files, or what may be changed or run without a word of the user's: it counts only at the
    /// beginning of a prompt.
    pub must_lead: bool,
    /// True if it leads to another conversation, which what stands beside it is meant for.
    pub leads_away: bool,
    /// The mode that it chooses, if it does only that.
    pub mode: Option<Mode>,
    /// If it allows something for longer than one prompt: what `azimuth exec`, which refuses it, says.
    pub lasts: Option<&'static str>,
}

/// A command of someone else's, carried out. It may take a minute.
#[async_trait]
pub trait Respond: Send + Sync {
    /// Its answer.
    ///
    /// # Errors
    /// It failed; why, in words for the user.
    async fn respond(&self, words: &Words) -> Result<String, String>;
}

/// The commands of a session, which may come and go. Clones share them.
#[derive(Clone)]
pub struct CommandSet(Arc<RwLock<Vec<Source>>>);

/// Who brings commands, and which.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its commands.
    pub commands: Vec<Arc<Command>>,
}

/// The commands of a set at one moment, in the order of help.
#[derive(Clone, Debug, Default)]
pub struct Commands(Arc<[Named]>);

/// A command by the name that people type.
#[derive(Clone, Debug)]
pub struct Named {
    /// The name, without the slash; with its source's before a colon if another command has the short one.
    pub name: String,
    /// The command.
    pub command: Arc<Command>,
}

/// How long a command of someone else's may take.
const PATIENCE: Duration = Duration::from_secs(60);

impl Command {
    /// One whose answer goes to the model.
    pub fn prompt(definition: Definition, respond: Arc<dyn Respond>) -> Self {
        Self { definition, does: Does::Prompt(respond) }
    }

    /// One that does something of its own.
    pub fn act(definition: Definition, respond: Arc<dyn Respond>) -> Self {
        Self { definition, does: Does::Act(respond) }
    }

    /// The things to be known of it with these words.
    fn effects(&self, words: &Words) -> Result<Effects, String> {
        match &self.does {
            Does::BuiltIn(read) => read(words),
            // Text of others, as a problem's words in a prompt, might have its name.
            Does::Prompt(_) | Does::Act(_) => Ok(Effects { must_lead: true, ..Effects::default() }),
        }
    }
}

impl Definition {
    /// One that takes no arguments.
    pub fn new(name: impl Into<Cow<'static, str>>, description: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            arguments: Cow::default(),
            description: description.into(),
            words: 0,
            also: |_, _| false,
            rest_after: None,
            secret: |_| false,
            flags: Cow::default(),
            choices: Choices::None,
        }
    }
}

impl Choice {
    /// This value, described so.
    pub fn new(value: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { value: value.into(), detail: detail.into() }
    }
}

impl Does {
    /// True if its answer goes to the model.
    pub fn is_for_the_model(&self) -> bool {
        matches!(self, Self::Prompt(_))
    }

    /// The answer of a command of someone else's; none if it is one of ours. One that panics, takes too long or has
    /// nothing for the model has failed.
    pub async fn answer(&self, words: &Words) -> Option<Result<String, String>> {
        let (Self::Prompt(respond) | Self::Act(respond)) = self else { return None };
        let answer = AssertUnwindSafe(respond.respond(words)).catch_unwind();
        let answer = match tokio::time::timeout(PATIENCE, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("the command broke down".to_owned()),
            Err(_) => Err(format!("there was no answer in {} seconds", PATIENCE.as_secs())),
        };
        Some(match answer {
            Ok(text) if self.is_for_the_model() && text.trim().is_empty() => Err("it has no text".to_owned()),
            Ok(text) if self.is_for_the_model() => Ok(tags::quoted(&text).into_owned()),
            answer => answer,
        })
    }
}

impl fmt::Debug for Does {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BuiltIn(_) => "BuiltIn",
            Self::Prompt(_) => "Prompt",
            Self::Act(_) => "Act",
        })
    }
}

impl Default for CommandSet {
    /// Ours alone.
    fn default() -> Self {
        let commands = built_in::all().into_iter().map(Arc::new).collect();
        Self(Arc::new(RwLock::new(vec![Source { name: "built-in".to_owned(), commands }])))
    }
}

impl CommandSet {
    /// Sets the commands that a source brings, in place of those that it brought before. Gives the names of those that
    /// are left out: nobody could type them, or the source has two.
    pub fn put(&self, source: Source) -> Vec<String> {
        let Source { name, commands } = source;
        let mut taken = BTreeSet::new();
        let (kept, left_out): (Vec<_>, Vec<_>) = commands.into_iter().partition(|command| {
            let name = command.definition.name.as_ref();
            !name.is_empty() && name.chars().all(is_of_a_name) && taken.insert(name.to_owned())
        });
        let mut sources = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // The first are ours, and stay.
        match sources.iter_mut().skip(1).find(|known| known.name == name) {
            Some(known) => known.commands = kept,
            None => sources.push(Source { name, commands: kept }),
        }
        left_out.into_iter().map(|command| command.definition.name.to_string()).collect()
    }

    /// Takes away all that a source brought.
    pub fn remove(&self, source: &str) {
        let mut sources = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut place = 0..;
        sources.retain(|known| place.next() == Some(0) || known.name != source);
    }

    /// The commands as they are now. Of two with the same name the first has it, and ours are before all others; the
    /// other one is `/source:name`.
    pub fn now(&self) -> Commands {
        let sources = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let (mut taken, mut all) = (BTreeSet::new(), Vec::new());
        for source in sources.iter() {
            let prefix: String = source.name.chars().map(|char| if is_of_a_name(char) { char } else { '-' }).collect();
            for command in &source.commands {
                let name = command.definition.name.as_ref();
                let names = [name.to_owned(), format!("{prefix}:{name}")];
                let free = names.into_iter().find(|name| taken.insert(name.clone()));
                all.extend(free.map(|name| Named { name, command: Arc::clone(command) }));
            }
        }
        Commands(all.into())
    }
}

impl Commands {
    /// Ours alone, for where no session is.
    pub fn built_in() -> &'static Self {
        static BUILT_IN: LazyLock<Commands> = LazyLock::new(|| CommandSet::default().now());

        &BUILT_IN
    }

    /// Each of them, in the order of help.
    pub fn iter(&self) -> impl Iterator<Item = &Named> {
        self.0.iter()
    }

    /// A list of all, in Markdown.
    pub fn help(&self) -> String {
        let mut text = String::new();
        for named in self.iter() {
            let _ = writeln!(text, "- `{}`: {}", named.usage(), named.command.definition.description);
        }
        text
    }
}

impl Named {
    /// Its syntax, such as `/model [name]`.
    pub fn usage(&self) -> String {
        format!("/{} {}", self.name, self.command.definition.arguments).trim_end().to_owned()
    }
}

/// True for what the name of a command is made of.
fn is_of_a_name(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '-' | '_' | '.')
}

#[cfg(test)]
mod tests;
