//! Slash commands: what there is, finding them in a prompt, and completing them. Executing is the hub's.

use std::ops::Range;

use protocol::checkpoint::Direction;
use protocol::review::AutoScope;
use protocol::session::{CompletionItem, CompletionKind, Mode};

/// A slash command, ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Start a new session.
    New,
    /// List the commands.
    Help,
    /// Choose a model; without one, list the models.
    Model(Option<String>),
    /// Choose a mode; without one, show the current one.
    Mode(Option<Mode>),
    /// Choose the mode in which nothing is asked; at first, only explain it.
    Bypass {
        /// True if the user has read that, and wants it.
        confirmed: bool,
    },
    /// List the permission rules in force, or revoke the one with this number.
    Permissions(Option<usize>),
    /// Continue an earlier session.
    Resume(String),
    /// List the sessions.
    Conversations,
    /// Switch automatic accepting of edits on or off, in this session or in the project; without an argument, show the
    /// current choice.
    Auto(Option<(bool, AutoScope)>),
    /// Trust or distrust the workspace, permanently; without an argument, show the status.
    Trust(Option<bool>),
    /// Show the tokens used and their cost.
    Costs,
    /// Undo what the last turn did to files, or redo what was undone; these files even if they were changed since.
    Restore(Direction, Vec<String>),
}

impl Command {
    /// Whether it changes files, or what may be changed or run without a word of the user's.
    pub fn must_lead(&self) -> bool {
        matches!(
            self,
            Self::Auto(Some((true, _)))
                | Self::Restore(..)
                | Self::Mode(Some(Mode::AcceptEdits))
                | Self::Bypass { confirmed: true }
                | Self::Trust(Some(_))
        )
    }
}

/// The definition of a slash command, for the parser, help and completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its name, without the slash.
    pub name: &'static str,
    /// Its syntax.
    pub usage: &'static str,
    /// The description for users.
    pub description: &'static str,
    /// The most words that it takes; what follows belongs to the prompt.
    pub max_positionals: usize,
    /// The flags it knows.
    pub flags: &'static [Flag],
}

/// A flag of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// As in `--name`.
    pub name: &'static str,
    /// As in `-n`.
    pub short: Option<char>,
    /// True if a value follows.
    pub takes_value: bool,
}

/// Every command, in the order of help.
pub const COMMANDS: &[Spec] = &[
    Spec { name: "new", usage: "/new", description: "Start a new conversation", max_positionals: 0, flags: &[] },
    Spec { name: "help", usage: "/help", description: "List the commands", max_positionals: 0, flags: &[] },
    Spec {
        name: "model",
        usage: "/model [name]",
        description: "Choose the model, or list the models",
        max_positionals: 1,
        flags: &[],
    },
    Spec {
        name: "mode",
        usage: "/mode [ask|plan|agent|accept-edits|bypass]",
        description: "Choose what the agent may do: look (ask, plan), work (agent, accept-edits), anything (bypass)",
        max_positionals: 1,
        flags: &[],
    },
    Spec {
        name: "permissions",
        usage: "/permissions [revoke number]",
        description: "List the permission rules in force, or revoke one that you granted",
        max_positionals: 0,
        flags: &[],
    },
    Spec {
        name: "auto",
        usage: "/auto [on|off] [--project]",
        description: "Accept edits automatically, or stop; with `--project` in all sessions of the project",
        max_positionals: 1,
        flags: PROJECT,
    },
    Spec {
        name: "trust",
        usage: "/trust [yes|no]",
        description: "Trust or distrust this folder, or show its status",
        max_positionals: 1,
        flags: &[],
    },
    Spec {
        name: "resume",
        usage: "/resume <id>",
        description: "Continue an earlier conversation",
        max_positionals: 1,
        flags: &[],
    },
    Spec {
        name: "conversations",
        usage: "/conversations",
        description: "List the conversations of this project",
        max_positionals: 0,
        flags: &[],
    },
    Spec {
        name: "costs",
        usage: "/costs",
        description: "Show the tokens used and their cost",
        max_positionals: 0,
        flags: &[],
    },
    Spec {
        name: "undo",
        usage: "/undo [--over path]",
        description: "Undo what the last turn did to files; `--over` also restores a file that was changed since",
        max_positionals: 0,
        flags: OVER,
    },
    Spec {
        name: "redo",
        usage: "/redo [--over path]",
        description: "Redo what `/undo` undid; `--over` also restores a file that was changed since",
        max_positionals: 0,
        flags: OVER,
    },
];

/// Names a file that is to be set even though it was changed since.
const OVER: &[Flag] = &[Flag { name: "over", short: None, takes_value: true }];

/// Makes a switch hold for the project.
const PROJECT: &[Flag] = &[Flag { name: "project", short: None, takes_value: false }];

/// A prompt's commands, and what is left for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The commands in the order they were written, which is the order to execute them in.
    pub invocations: Vec<Invocation>,
    /// The prompt without them. Where it is blank, nothing goes to the model.
    pub remaining: String,
}

/// A command in a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// As typed.
    pub text: String,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// The command, or what is wrong with it, for the user.
    pub command: Result<Command, String>,
}

/// The token under the cursor of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its range in bytes. Empty at a blank.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: TokenKind,
}

/// The kind of a token of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A command's name or the beginning of one, with its slash.
    Command,
    /// A word that belongs to this command.
    Argument(&'static Spec),
    /// A mention or the beginning of one, with its `@`.
    Mention,
    /// Anything else.
    Text,
}

/// A value that an argument can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// A short description.
    pub detail: String,
}

/// The choices for arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// For `/model`.
    pub models: Vec<Choice>,
    /// For `/resume`.
    pub sessions: Vec<Choice>,
}

/// Finds the commands of a prompt.
///
/// A command is `/name` at a line's start or after a blank, with a blank or the end after it, where `name` is one of
/// [`COMMANDS`]; so paths and unknown names stay text. Its arguments follow on the same line, as many as it takes, up
/// to the next command; a word in quotes is one argument, and a quote without an end runs to the line's end. What
/// follows its arguments belongs to the prompt again. A command that gives up some of the user's control
/// ([`Command::must_lead`]) counts only if nothing but blanks and other commands is before it; anywhere else it stays
/// text, because it may have been pasted.
pub fn parse(input: &str) -> Parsed {
    parse_block(input, true)
}

/// The same for one text of a prompt of several; `leads` says that no other text stands before it.
pub fn parse_block(input: &str, mut leads: bool) -> Parsed {
    let mut invocations: Vec<Invocation> = Vec::new();
    let mut at = 0;
    while let Some((start, spec)) = next_command(input, at) {
        let name_end = start + 1 + spec.name.len();
        let (arguments, end) = arguments(input, name_end, spec);
        leads &= input.get(at..start).is_some_and(|between| between.trim().is_empty());
        at = end;
        let command = command(spec, &arguments);
        if !leads && command.as_ref().is_ok_and(Command::must_lead) {
            continue;
        }
        let text = input.get(start..end).unwrap_or_default().to_owned();
        invocations.push(Invocation { text, span: start..end, command });
    }
    let mut remaining = input.to_owned();
    for invocation in invocations.iter().rev() {
        remaining.replace_range(invocation.span.clone(), "");
    }
    Parsed { invocations, remaining }
}

/// The token that the cursor stands in or at the end of. The cursor is in bytes; one past the end or inside a
/// character counts as just before it.
pub fn token_at_cursor(input: &str, cursor: usize) -> Token {
    let cursor = input.floor_char_boundary(cursor);
    let (before, after) = input.split_at(cursor);
    let start = before.rfind(char::is_whitespace).map_or(0, |at| at + width(before, at));
    let end = cursor + after.find(char::is_whitespace).unwrap_or(after.len());
    let text = input.get(start..end).unwrap_or_default();
    let kind = if text.starts_with('@') {
        TokenKind::Mention
    } else if text.starts_with('/') {
        TokenKind::Command
    } else if let Some(spec) = owner(input, start) {
        TokenKind::Argument(spec)
    } else {
        TokenKind::Text
    };
    Token { span: start..end, kind }
}

/// The completions of the token under the cursor, the best first: slash commands and their arguments. The caller
/// completes mentions, since it knows the files.
pub fn complete(input: &str, cursor: usize, choices: &Choices) -> (Token, Vec<CompletionItem>) {
    let token = token_at_cursor(input, cursor);
    let typed = input.get(token.span.start..input.floor_char_boundary(cursor)).unwrap_or_default();
    let items = match token.kind {
        TokenKind::Command => {
            let names = COMMANDS.iter().map(|spec| (format!("/{}", spec.name), spec.description.to_owned()));
            ranked(CompletionKind::Command, typed, names)
        }
        TokenKind::Argument(spec) => {
            let values = match spec.name {
                "model" => choices.models.clone(),
                "resume" => choices.sessions.clone(),
                "mode" => modes(),
                "auto" => switches(),
                "trust" => answers(),
                _ => Vec::new(),
            };
            ranked(CompletionKind::Argument, typed, values.into_iter().map(|choice| (choice.value, choice.detail)))
        }
        TokenKind::Mention | TokenKind::Text => Vec::new(),
    };
    (token, items)
}

fn modes() -> Vec<Choice> {
    vec![
        choice("ask", "Look and answer; nothing is changed or run"),
        choice("plan", "Look, and plan; nothing is changed, and only commands that read run"),
        choice("agent", "Work: edits for review, commands with permission"),
        choice("accept-edits", "Work: edits are accepted automatically"),
        choice("bypass", "Work without a question; it has to be confirmed"),
    ]
}

fn choice(value: &str, detail: &str) -> Choice {
    Choice { value: value.to_owned(), detail: detail.to_owned() }
}

fn answers() -> Vec<Choice> {
    vec![choice("yes", "What this folder supplies may run"), choice("no", "It may not")]
}

fn switches() -> Vec<Choice> {
    vec![choice("on", "Accept edits automatically"), choice("off", "Review edits first")]
}

/// The candidates that begin with what was typed, then those that hold it, whatever the case.
fn ranked(
    kind: CompletionKind,
    typed: &str,
    candidates: impl Iterator<Item = (String, String)>,
) -> Vec<CompletionItem> {
    let wanted = typed.to_lowercase();
    let inner = wanted.trim_start_matches('/');
    let mut items: Vec<(bool, CompletionItem)> = candidates
        .filter(|(value, _)| value.to_lowercase().contains(inner))
        .map(|(value, detail)| {
            let item = CompletionItem { kind, label: value.clone(), detail, insert: value, uri: None };
            (!item.label.to_lowercase().starts_with(&wanted), item)
        })
        .collect();
    items.sort_by_key(|(later, _)| *later);
    items.into_iter().map(|(_, item)| item).collect()
}

/// The next command at or after `from`.
fn next_command(input: &str, from: usize) -> Option<(usize, &'static Spec)> {
    let rest = input.get(from..)?;
    rest.match_indices('/').find_map(|(at, _)| Some((from + at, command_at(input, from + at)?)))
}

/// The command whose slash stands at `at`.
fn command_at(input: &str, at: usize) -> Option<&'static Spec> {
    let (before, slash) = (input.get(..at)?, input.get(at..)?);
    let word = slash.strip_prefix('/')?.split(char::is_whitespace).next()?;
    let stands_alone = before.chars().next_back().is_none_or(char::is_whitespace);
    COMMANDS.iter().find(|spec| stands_alone && spec.name == word)
}

/// The command that would take the word at `start` as its argument.
fn owner(input: &str, start: usize) -> Option<&'static Spec> {
    let (mut at, mut last) = (0, None);
    while let Some((slash, spec)) = next_command(input, at) {
        if slash >= start {
            break;
        }
        last = Some((slash, spec));
        at = arguments(input, slash + 1 + spec.name.len(), spec).1;
    }
    let (slash, spec) = last?;
    let name_end = slash + 1 + spec.name.len();
    // With any word put at `start`, would it be the command's?
    let probed = format!("{}x", input.get(..start)?);
    let (_, end) = arguments(&probed, name_end, spec);
    (end > start).then_some(spec)
}

/// Words and flags of a command, up to its limits, and where they end.
fn arguments(input: &str, from: usize, spec: &Spec) -> (Arguments, usize) {
    let mut arguments = Arguments::default();
    let (mut at, mut end) = (from, from);
    while let Some(word) = word(input, at) {
        if command_at(input, word.span.start).is_some() {
            break;
        }
        let flag = spec.flags.iter().find(|flag| {
            !word.quoted && (word.value.strip_prefix("--") == Some(flag.name) || is_short(&word.value, flag))
        });
        at = word.span.end;
        if let Some(flag) = flag {
            let value = self::word(input, at).filter(|value| {
                flag.takes_value
                    && (value.quoted || !value.value.starts_with('-'))
                    && command_at(input, value.span.start).is_none()
            });
            at = value.as_ref().map_or(at, |value| value.span.end);
            arguments.flags.push((flag.name, value.map(|value| value.value)));
        } else if arguments.positionals.len() < spec.max_positionals
            || takes_also(spec, &arguments.positionals, &word.value)
        {
            arguments.positionals.push(word.value);
        } else {
            break;
        }
        end = at;
    }
    (arguments, end)
}

/// True if a command takes a word beyond its limit, for what stands before it: `yes` after `/mode bypass`.
fn takes_also(spec: &Spec, before: &[String], word: &str) -> bool {
    let before: Vec<_> = before.iter().map(String::as_str).collect();
    match (spec.name, before.as_slice()) {
        ("mode", ["bypass"]) => word == "yes",
        ("permissions", []) => word == "revoke",
        ("permissions", ["revoke"]) => true,
        _ => false,
    }
}

#[derive(Debug, Default)]
struct Arguments {
    positionals: Vec<String>,
    flags: Vec<(&'static str, Option<String>)>,
}

struct ArgumentWord {
    span: Range<usize>,
    value: String,
    quoted: bool,
}

/// The next word of the line, if there is one.
fn word(input: &str, from: usize) -> Option<ArgumentWord> {
    let line = input.get(from..)?.split(['\n', '\r']).next()?;
    let start = line.find(|c: char| !c.is_whitespace())?;
    let text = line.get(start..)?;
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (value, length) = match quote {
        Some(quote) => {
            let inner = text.get(1..)?;
            match inner.find(quote) {
                Some(end) => (inner.get(..end)?, end + 2),
                None => (inner, text.len()),
            }
        }
        None => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            (text.get(..end)?, end)
        }
    };
    let span = from + start..from + start + length;
    Some(ArgumentWord { span, value: value.to_owned(), quoted: quote.is_some() })
}

fn is_short(word: &str, flag: &Flag) -> bool {
    word.strip_prefix('-').is_some_and(|short| flag.short.is_some_and(|c| short.chars().eq([c])))
}

fn width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

/// The command that a name and its arguments make.
fn command(spec: &Spec, arguments: &Arguments) -> Result<Command, String> {
    let first = arguments.positionals.first().filter(|first| !first.is_empty()).cloned();
    match spec.name {
        "new" => Ok(Command::New),
        "help" => Ok(Command::Help),
        "model" => Ok(Command::Model(first)),
        "mode" => match first.as_deref() {
            None => Ok(Command::Mode(None)),
            Some("bypass") => Ok(Command::Bypass { confirmed: arguments.positionals.len() > 1 }),
            Some(name) => match mode_of(name) {
                Some(mode) => Ok(Command::Mode(Some(mode))),
                None => Err(format!(
                    "there is no mode `{name}`; there are `ask`, `plan`, `agent`, `accept-edits`, `bypass`"
                )),
            },
        },
        "permissions" => match (first, arguments.positionals.get(1)) {
            (None, _) => Ok(Command::Permissions(None)),
            (Some(_), Some(number)) if number.parse::<usize>().is_ok_and(|number| number > 0) => {
                Ok(Command::Permissions(number.parse().ok()))
            }
            (Some(_), _) => Err("say which rule: `/permissions revoke <number>`; `/permissions` lists them".to_owned()),
        },
        "auto" => auto(arguments).map(Command::Auto),
        "trust" => match first.as_deref() {
            None => Ok(Command::Trust(None)),
            Some("yes") => Ok(Command::Trust(Some(true))),
            Some("no") => Ok(Command::Trust(Some(false))),
            Some(other) => Err(format!("`{other}` is not understood; use `/trust yes` or `/trust no`")),
        },
        "resume" => first
            .map(Command::Resume)
            .ok_or_else(|| "say which conversation: `/resume <id>`; `/conversations` lists them".to_owned()),
        "conversations" => Ok(Command::Conversations),
        "costs" => Ok(Command::Costs),
        "undo" => over(arguments).map(|over| Command::Restore(Direction::Undo, over)),
        "redo" => over(arguments).map(|over| Command::Restore(Direction::Redo, over)),
        other => Err(format!("there is no command `/{other}`; `/help` lists them")),
    }
}

/// The mode of a name as people write it; not `bypass`, which has to be confirmed.
fn mode_of(name: &str) -> Option<Mode> {
    match name {
        "ask" => Some(Mode::Ask),
        "plan" => Some(Mode::Plan),
        "agent" => Some(Mode::Agent),
        "accept-edits" | "accept_edits" => Some(Mode::AcceptEdits),
        _ => None,
    }
}

/// The switch that `/auto` asks for.
fn auto(arguments: &Arguments) -> Result<Option<(bool, AutoScope)>, String> {
    let scope = if arguments.flags.is_empty() { AutoScope::Session } else { AutoScope::Project };
    match (arguments.positionals.first().map(String::as_str), scope) {
        (None, AutoScope::Session) => Ok(None),
        (None, AutoScope::Project) => Err("say what: `/auto on --project` or `/auto off --project`".to_owned()),
        (Some("on"), scope) => Ok(Some((true, scope))),
        (Some("off"), scope) => Ok(Some((false, scope))),
        (Some(other), _) => Err(format!("`{other}` is not understood; use `/auto on` or `/auto off`")),
    }
}

/// The files that `--over` names.
fn over(arguments: &Arguments) -> Result<Vec<String>, String> {
    let values = arguments.flags.iter().map(|(_, value)| value.clone().filter(|value| !value.is_empty()));
    values.collect::<Option<_>>().ok_or_else(|| "say which file: `--over path/of/the/file`".to_owned())
}

#[cfg(test)]
mod tests;
