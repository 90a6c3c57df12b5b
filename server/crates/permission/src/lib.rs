//! Permission: one pure function of rules, mode and action.
//!
//! [`judge`] is a seat belt, not a sandbox: it reads what a command says, not what the programs it starts will do. What
//! it lets through unasked is a small table of commands that only read; what it never lets through are a few that
//! nobody means. Everything between is the user's rules, and then the user.
//!
//! # Rules
//!
//! `Tool` fits every call of a tool, `Tool(pattern)` some. The tool is `Shell` (or `Bash`) for commands, `Edit` (or
//! `Write`) for edits, `Read` for reading, the tool's own name, or a name with `*`.
//!
//! - `Shell(git status)`: exactly these words.
//! - `Shell(cargo test:*)`: these words first, then anything.
//! - `Shell(npm run *)`: `*` is any text. A word whose value is not known before it runs (`$X`, `$(…)`, a glob) is
//!   fitted only by a `*` or `:*` at the end.
//! - `Secret(GITHUB_TOKEN)`: commands with this secret in them, whatever they are; they are judged as well.
//! - `Edit(src/**)`, `Read(*.pem)`: paths from a workspace folder, or absolute. `*` stays within a name, `**` does not;
//!   a pattern without `/` fits a name at any depth; one that fits a folder fits all that is in it.
//!
//! Every simple command of a line is judged, and each must be allowed. What only changes how a command runs (`time`,
//! `timeout`, `env`, `xargs`, `bash -c`) is taken off by the parser, so rules are about the command inside. `deny` and
//! `ask` rules also look through what is left of such words (`sudo`), and at a command's name without its path; `allow`
//! rules take the name as it is written. Variables set before a command (`X=1 make`) must be part of an allow rule, but
//! for a few that are known to be harmless.
//!
//! Output that goes to a file is a write of its own. It is never covered by what is allowed unasked as read-only. An
//! allow rule for the command covers it only where the file is known and lies in the workspace or a temporary folder.
//! `Edit` rules that deny or ask count for it, as `Read` rules do for the files a command names.
//!
//! A line that cannot be parsed is allowed only by a rule without a pattern.
//!
//! # Where rules come from
//!
//! The effect counts, not the place: a `deny` rule from anywhere is stronger than an `ask` rule from anywhere, and that
//! than an `allow` rule. So nothing that is allowed in one place takes back what is denied in another ([`RuleOrigin`]).
//! A rule of a project's own file that allows something is void until the workspace is trusted. While it is not, what
//! the user allows everywhere does not count for commands either, since `cargo test` runs what the workspace supplies;
//! what they allowed for this project or session by an answer does.
//!
//! Text that the model types into a program that runs is judged by `typing`, by rules `Type(…)`.

mod always;
mod awk;
mod destructive;
mod file_commands;
mod flags;
mod jq;
mod key_reads;
mod lists;
mod places;
mod printed;
mod project;
mod questions;
mod read_only;
mod rule;
mod secrets;
mod sed;
mod shell;
mod spellings;
#[cfg(test)]
mod tests;
mod tree;
mod typing;
pub mod unseen;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use protocol::ToolCallId;
use protocol::mode::{Edits, Mode, Runs};
use protocol::permission::RuleOrigin;
use protocol::terminal::Waiting;

pub use self::key_reads::KeyFiles;
pub use self::lists::{is_for_keys, makes_programs_run};
use self::places::Places;
pub use self::rule::RuleError;
use self::rule::{Pattern, find, find_counting};
pub use self::secrets::{UNKNOWN as UNKNOWN_SECRET, in_words as secrets_in_words};
pub use self::typing::visible;

/// The end of the reason of a question that only a person may answer with yes: `--yes` answers no.
pub const FOR_A_PERSON: &str = "only a person can allow it";

/// The action of a tool call, as far as permission needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads files of the workspace.
    Read,
    /// Proposes edits of these files. Review is the gate, so it is allowed unless a rule denies it.
    Edit {
        /// The files, absolute.
        paths: Vec<PathBuf>,
    },
    /// Runs a shell command line.
    Execute {
        /// The line as it will run.
        line: String,
        /// The line, parsed.
        parsed: ShellLine,
        /// The folder it starts in.
        cwd: PathBuf,
        /// The targets of the links on its paths, which [`named_paths`] gives.
        links: Links,
        /// The files that usually hold keys where it may look, where [`looks_around`] says that it looks.
        keys: KeyFiles,
        /// The access that the sandbox refused, in the model's words, if it is to run outside of it.
        outside: Option<String>,
    },
    /// Types into a program that runs.
    Type(Box<Typing>),
}

/// Something that is typed into a program that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    /// The terminal, as the model names it.
    pub terminal: String,
    /// The command line that runs there.
    pub command: String,
    /// That line, parsed.
    pub parsed: ShellLine,
    /// The text.
    pub text: String,
    /// A key that is pressed then, by its name: `enter`, `ctrl-c`.
    pub key: Option<String>,
    /// The input that the program was seen to wait for, if it was.
    pub waiting: Option<Waiting>,
    /// All that it asks by: what it has printed since it was last given a line.
    pub shown: Shown,
    /// How often something had been typed into the terminal before.
    pub typed: u64,
    /// The call that started what runs there; the user's own lines have ids too.
    pub call: ToolCallId,
    /// When that began. With the call it tells what runs from all that runs there later.
    pub began: SystemTime,
    /// True if it runs outside the sandbox.
    pub outside: bool,
    /// True if the user has started it.
    pub of_user: bool,
}

/// The output of a program since its last input line: at most the last 16 KiB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// As a person sees it: plain text, and what was written over is left out.
    pub seen: String,
    /// As it was printed, with its escape sequences and with what was written over.
    pub printed: String,
    /// True if there was more before it than is looked at.
    pub is_cut: bool,
}

/// Paths that lead elsewhere by a link, each with the places it leads to. A path with a glob in it may lead to several.
pub type Links = BTreeMap<PathBuf, Vec<PathBuf>>;

/// A shell command line as plain data (made by `shell`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellLine {
    /// Every simple command in it, whatever joins them (`;`, `&&`, `|`, subshells, loops, functions).
    Commands(Vec<SimpleCommand>),
    /// It cannot be told for sure what runs; such a line is never allowed without asking.
    Unparsable {
        /// Why, in words.
        reason: String,
    },
}

/// One simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Name and arguments, quotes removed. A word whose value cannot be known (a variable, a substitution, a glob)
    /// is [`Word::Unknown`].
    pub words: Vec<Word>,
    /// Assignments before the name, as written.
    pub assignments: Vec<String>,
    /// Files its output or input goes to or comes from.
    pub redirects: Vec<Redirect>,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Its value is this.
    Known(String),
    /// Its value is known only when it runs; this is how it is written.
    Unknown(String),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// True if the file is written to.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

/// A permission rule, `Tool` or `Tool(pattern)`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool's name, or `*`.
    pub tool: String,
    /// The pattern; none fits every call.
    pub pattern: Option<String>,
}

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Rules for what runs without asking.
    pub allow: Vec<SourcedRule>,
    /// Rules for what is always asked.
    pub ask: Vec<SourcedRule>,
    /// Rules for what never runs.
    pub deny: Vec<SourcedRule>,
    /// True if the project's own commands (its tests, its build) are asked like others, also in the sandbox.
    pub asks_project_commands: bool,
}

/// A rule with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedRule {
    /// The rule.
    pub rule: Rule,
    /// Its origin, which decides whether it counts.
    pub origin: RuleOrigin,
    /// Its source, in words: `your config.toml`.
    pub source: String,
}

impl SourcedRule {
    /// Why it does not count just now as a rule that allows, in words; none if it counts. `runs` says whether it is
    /// about running commands.
    pub fn void(&self, runs: bool, trusted: bool) -> Option<&'static str> {
        match self.origin {
            // A command in the sandbox can write the project's file, and so would let itself out.
            RuleOrigin::Project if rule::is_about_outside(&self.rule) => {
                Some("what leaves the sandbox is allowed by nothing that the sandbox can write, as a project's file")
            }
            RuleOrigin::Project if rule::is_about_secrets(&self.rule) => {
                Some("a project's file cannot allow a secret in commands, because a command can write that file")
            }
            _ if trusted => None,
            RuleOrigin::Project => Some("what a project allows does not count before its folder is trusted"),
            RuleOrigin::User if runs => Some("it could run what this folder supplies, and the folder is not trusted"),
            RuleOrigin::User | RuleOrigin::Granted | RuleOrigin::Session => None,
        }
    }
}

/// The situation of a call, as far as permission needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surroundings {
    /// True if the user trusts the workspace: whether what it supplies may run.
    pub trusted: bool,
    /// True if a sandbox keeps commands from writing outside the workspace, temporary folders and package caches.
    pub sandboxed: bool,
}

/// A workspace that is trusted, and no sandbox.
impl Default for Surroundings {
    fn default() -> Self {
        Self { trusted: true, sandboxed: false }
    }
}

/// The subject of the judgement.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The tool's own name.
    pub tool: &'a str,
    /// The action of the call.
    pub action: &'a Action,
    /// The files that a reading call names, absolute.
    pub reads: &'a [PathBuf],
    /// The mode.
    pub mode: Mode,
    /// The workspace's folders, absolute.
    pub folders: &'a [PathBuf],
    /// Its situation.
    pub surroundings: Surroundings,
}

/// The verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow {
        /// The rule or default, and where it comes from.
        reason: String,
        /// True if it is known to change nothing.
        only_reads: bool,
    },
    /// It does not.
    Deny {
        /// The rule or default, and where it comes from.
        reason: String,
    },
    /// The user is asked.
    Ask {
        /// The question in a few words.
        title: String,
        /// The details of what would be done.
        detail: String,
        /// The rule or default that led here.
        reason: String,
        /// The narrowest rules that would have allowed it; empty if none would.
        always: Vec<Rule>,
    },
}

/// Judges a call. What comes first decides, and a line of several commands is as bad as the worst of them:
///
/// 1. the mode: `ask` neither edits nor runs commands, `plan` does not edit, and runs only what reads;
/// 2. the built-in list of what nobody means (`rm -rf /`), in every mode;
/// 3. `deny` rules, in every mode;
/// 4. `ask` rules, in every mode;
/// 5. mode `bypass`: all else is allowed;
/// 6. `allow` rules, as far as they count ([`SourcedRule::void`]). Outside the sandbox only those for `ShellOutside`
///    do, and none of the project's own;
/// 7. the tool's default: reading is allowed; edits are allowed, since review is their gate; of commands those are
///    allowed that are known to be read-only, in a sandbox of a trusted workspace those that are the project's own (its
///    tests, its build), in mode `accept_edits` plain ones on files of the workspace (`mkdir`, `mv`). All others are
///    asked.
pub fn judge(rules: &Rules, case: &Case<'_>) -> Verdict {
    let refused = match case.action {
        Action::Read => false,
        Action::Edit { .. } => case.mode.edits() == Edits::None,
        Action::Execute { .. } => case.mode.runs() == Runs::Nothing,
        Action::Type(_) => case.mode.runs() != Runs::Anything,
    };
    if refused {
        return Verdict::Deny { reason: only(case.mode).to_owned() };
    }
    match case.action {
        Action::Type(typing) => typing::judge(rules, case, typing),
        Action::Execute { line, parsed, cwd, links, keys, outside } => {
            shell::judge(rules, case, &shell::Asked { line, parsed, cwd, links, keys, outside: outside.as_deref() })
        }
        Action::Edit { paths } => {
            judge_files(rules, case, paths, "Edit files?", "edits are reviewed before they count")
        }
        Action::Read => judge_files(rules, case, case.reads, "Read files?", "reading is allowed"),
    }
}

/// The verdict on a call whose input has secrets of these names, where [`judge`] has this one: a command that would run
/// unasked is asked, unless a rule `Secret(NAME)` allows the secret in commands. No rule allows one that is
/// [not known](UNKNOWN_SECRET).
pub fn judge_secrets(rules: &Rules, case: &Case<'_>, names: &[String], verdict: Verdict) -> Verdict {
    secrets::judge(rules, case, names, verdict)
}

/// The reason with which a mode refuses what changes something.
pub fn only(mode: Mode) -> &'static str {
    match mode.runs() {
        Runs::OnlyReading => {
            "mode `plan` only looks and plans; nothing is changed in it, and only commands that are known to be read-only run"
        }
        Runs::Nothing | Runs::Anything => "mode `ask` only looks; nothing is changed or run in it",
    }
}

/// The paths that a command line may name, wherever its own `cd`s bring it. One with a glob in it is given as it is
/// written. Whoever can ask the disk looks which of them lead elsewhere, for [`Action::Execute`].
pub fn named_paths(parsed: &ShellLine, cwd: &Path) -> BTreeSet<PathBuf> {
    shell::named_paths(parsed, cwd)
}

/// True if a command line may show files that it does not name. Whoever can ask the disk then looks which of those
/// below the folders that it names usually hold keys, for [`Action::Execute`].
pub fn looks_around(parsed: &ShellLine) -> bool {
    key_reads::looks_around(parsed)
}

/// True if a command line of those follows links that it does not name, so that it must be known where they lead.
pub fn follows_links(parsed: &ShellLine) -> bool {
    key_reads::follows_links(parsed)
}

/// The allow rule that accepts an edit of a file without review; none if none does, or a rule denies or asks. For
/// runs without an editor, where no one reviews. What a project's own file allows is none: nobody has been asked
/// whether it is trusted there. What says what the agent itself may do (`.azimuth`) is accepted by none, and an edit
/// that weighs more ([`weight`]) only by a rule that names such files, as `Edit(.github/workflows/**)` does and
/// `Edit(**)` does not.
pub fn accepting_rule<'r>(rules: &'r Rules, folders: &[PathBuf], path: &Path) -> Option<&'r SourcedRule> {
    let action = Action::Edit { paths: Vec::new() };
    let surroundings = Surroundings { trusted: false, ..Surroundings::default() };
    let case = Case { tool: "", action: &action, reads: &[], mode: Mode::Agent, folders, surroundings };
    let places = Places::new(folders);
    let fits = |pattern: &Pattern<'_>| pattern.fits_path(path, &places);
    let stopped = find(&rules.deny, &case, fits).or_else(|| find(&rules.ask, &case, fits));
    if stopped.is_some() || places::steers_us(places.relative(path)) {
        return None;
    }
    let weighs = places.relatives(path).any(|relative| weight(relative).is_some());
    let names_it = |rule: &&SourcedRule| rule.rule.pattern.as_ref().is_some_and(|it| weight(Path::new(it)).is_some());
    let mut allowing = rules.allow.iter().filter(|rule| !weighs || names_it(rule));
    allowing.find_map(|rule| find_counting(std::slice::from_ref(rule), &case, fits))
}

/// Why an edit of a file weighs more than that of a source, in words; none if it does not. The path is from a folder
/// of the workspace.
pub fn weight(relative: &Path) -> Option<&'static str> {
    if makes_programs_run(relative) {
        return Some("which makes other programs run");
    }
    is_for_keys(relative).then_some("which usually holds keys")
}

/// True if a path goes through a folder that says what the agent may do (`.azimuth`).
pub fn steers_us(path: &Path) -> bool {
    places::steers_us(path)
}

/// True if a search may show a file: not where a `deny` or `ask` rule about reading fits the file. `named` is the path
/// that the call names, if it names one, and was judged for: an `ask` rule that fits that, or every call, was answered
/// there. A file that usually holds keys is shown only where it is itself the path that the call names, or an `allow`
/// rule of the user's is about it. Rules by a tool's own name are about that tool's calls, not about files that a
/// search meets.
pub fn may_read(rules: &Rules, folders: &[PathBuf], named: Option<&Path>, path: &Path) -> bool {
    let case =
        Case { surroundings: Surroundings { trusted: false, ..Surroundings::default() }, ..case_of_search(folders) };
    let places = Places::new(folders);
    let fits = |pattern: &Pattern<'_>| pattern.fits_path(path, &places);
    let is_answered = |pattern: &Pattern<'_>| named.is_some_and(|named| pattern.fits_path(named, &places));
    let is_open = |sourced: &&SourcedRule| sourced.rule.pattern.is_some();
    if places.relatives(path).any(lists::is_read_by_leave)
        && named != Some(path)
        && find_counting(&rules.allow, &case, fits).is_none()
    {
        return false;
    }
    find(&rules.deny, &case, fits).is_none()
        && rules.ask.iter().filter(is_open).all(|rule| {
            find(std::slice::from_ref(rule), &case, |pattern| fits(pattern) && !is_answered(pattern)).is_none()
        })
}

/// The rule that keeps a file from being read whoever asks for it, in words; none if none does. `paths` are its
/// names: as it was named, and where that leads.
pub fn denied_reading(rules: &Rules, folders: &[PathBuf], paths: &[&Path]) -> Option<String> {
    let places = Places::new(folders);
    let fits = |pattern: &Pattern<'_>| paths.iter().any(|path| pattern.fits_path(path, &places));
    find(&rules.deny, &case_of_search(folders), fits).map(ToString::to_string)
}

/// True if there is a rule by which [`may_read`] may say no.
pub fn hides_files(rules: &Rules, folders: &[PathBuf]) -> bool {
    let case = case_of_search(folders);
    let is_open = |sourced: &&SourcedRule| sourced.rule.pattern.is_some();
    let is_of_reading = |rule: &SourcedRule| find(std::slice::from_ref(rule), &case, |_| true).is_some();
    rules.deny.iter().any(is_of_reading) || rules.ask.iter().filter(is_open).any(is_of_reading)
}

fn case_of_search(folders: &[PathBuf]) -> Case<'_> {
    Case {
        tool: "",
        action: &Action::Read,
        reads: &[],
        mode: Mode::Agent,
        folders,
        surroundings: Surroundings::default(),
    }
}

/// A description of what an answer "always" would cover.
pub fn scope_in_words(always: &[Rule]) -> String {
    format!("Always allow {} in this project", always::in_words(always))
}

/// A description of what the same answer for the session would cover.
pub fn session_scope_in_words(always: &[Rule]) -> String {
    format!("Allow {} in this session", always::in_words(always))
}

/// True if a rule may be about running commands.
pub fn is_about_commands(rule: &Rule) -> bool {
    rule::is_about_commands(rule)
}

/// A description of what a rule covers: ``commands that begin with `cargo test` ``.
pub fn covers(rule: &Rule) -> String {
    rule::covers(rule)
}

fn judge_files(rules: &Rules, case: &Case<'_>, paths: &[PathBuf], title: &str, default: &str) -> Verdict {
    let places = Places::new(case.folders);
    let fits = |pattern: &Pattern<'_>| paths.iter().any(|path| pattern.fits_path(path, &places));
    if let Some(rule) = find(&rules.deny, case, fits) {
        return Verdict::Deny { reason: rule.to_string() };
    }
    if let Some(rule) = find(&rules.ask, case, fits) {
        let files: Vec<_> = paths.iter().map(|path| places.relative(path).display().to_string()).collect();
        let (title, detail) = (title.to_owned(), format!("{}: {}", case.tool, files.join(", ")));
        return Verdict::Ask { title, detail, reason: rule.to_string(), always: Vec::new() };
    }
    let all = |pattern: &Pattern<'_>| !paths.is_empty() && paths.iter().all(|path| pattern.fits_path(path, &places));
    let allowed = find_counting(&rules.allow, case, all);
    let by_leave = |path: &&PathBuf| places.relatives(path).any(lists::is_read_by_leave);
    if let (Action::Read, None, Some(key)) = (case.action, allowed, paths.iter().find(by_leave))
        && case.mode.asks()
    {
        let file = places.relative(key).display();
        let (title, detail) = (title.to_owned(), format!("{}: {file}", case.tool));
        let reason = format!("{file} usually holds keys, and what is read goes to the model's provider");
        return Verdict::Ask { title, detail, reason, always: Vec::new() };
    }
    let reason = allowed.map_or_else(|| default.to_owned(), |rule| format!("allowed by {rule}"));
    Verdict::Allow { reason, only_reads: matches!(case.action, Action::Read) }
}
