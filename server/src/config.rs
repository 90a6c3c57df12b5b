//! Configuration, resolved: what the layers (defaults, the environment, the user's file, the editor, the project's
//! file) come to.
//!
//! Provider hosts and keys come only from the user's file, the environment or `initializationOptions`, and so do
//! permission allows that count at once. What a repository can bring along, its own file and what editors read out of
//! it as their settings, can only restrict; what its file allows is void until the user trusts the folder. What a layer
//! says and may not is told in [`Config::warnings`]. A layer that cannot be understood makes every action a question,
//! since what it was to forbid is not known.

pub mod dirs;
mod files;
pub mod layers;
mod words;

use std::path::PathBuf;

use agent::edit::EditForm;
use agent::permission::Rules;
use protocol::terminal::SandboxMode;
use serde::Deserialize;

pub use self::layers::{ConfigError, Editor, Layer, Sources, from_editor, load};

/// When an answer is written into a chat document, for a client without a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChatAnswers {
    /// As it comes, at most once a second.
    Live,
    /// Where the turn ends or asks something: for clients that may ask their user to confirm each edit.
    AtEnd,
}

/// What is formatted once accepted edits are in an open document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FormatEdits {
    /// Nothing.
    #[default]
    Off,
    /// The lines that the edits changed.
    Lines,
    /// The whole document.
    File,
}

/// What commands may do to the machine, from the strictest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Read the workspace, the system and toolchains; write nothing but temporary files.
    ReadOnly,
    /// As `read-only`, and write in the workspace, temporary folders and package caches.
    WorkspaceWrite,
    /// Whatever the user may do.
    Full,
}

impl From<Sandbox> for SandboxMode {
    fn from(sandbox: Sandbox) -> Self {
        match sandbox {
            Sandbox::ReadOnly => Self::ReadOnly,
            Sandbox::WorkspaceWrite => Self::WorkspaceWrite,
            Sandbox::Full => Self::Full,
        }
    }
}

/// The configuration in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// The model of new sessions; without it, the last one chosen, else the first usable one.
    pub model: Option<String>,
    /// The permission rules, each with where it comes from.
    pub rules: Rules,
    /// Whether mode `bypass` may be entered.
    pub allow_bypass: bool,
    /// Models, their hosts and keys.
    pub providers: providers::Settings,
    /// Whether edits are accepted as they come. They stay listed.
    pub accept_edits: bool,
    /// What is formatted once accepted edits are in an open document.
    pub format_edits: FormatEdits,
    /// Whether an open document that held nothing unsaved is saved once accepted edits are in it.
    pub save_edits: bool,
    /// When a chat document gets its answers; by what suits the client where nothing is said.
    pub chat_answers: Option<ChatAnswers>,
    /// Whether code actions are offered that begin a workflow in the chat.
    pub code_actions: bool,
    /// The form in which models edit; by their family where nothing is said.
    pub edit_mode: Option<EditForm>,
    /// Tools that models are told of although their form of editing has others.
    pub edit_tools: Vec<String>,
    /// Whether an answer is dropped as soon as an edit in it is seen to fail.
    pub stop_early: bool,
    /// Whether models may write long new files in the text of their answers.
    pub file_blocks: bool,
    /// Whether a model reads its edits as they were applied, where it had slipped.
    pub canonical_edits: bool,
    /// Whether a command that does what a tool does is not run, and the model is told the tool.
    pub intercept_commands: bool,
    /// How many seconds language servers are waited for after edits, to say what those did to problems; 0 for not to
    /// ask them.
    pub check_edits: u32,
    /// How often a turn goes on by itself where it would end with errors that its edits brought.
    pub mend_errors: u32,
    /// What to log: `error`, `warn`, `info`, `debug` or `trace`, or a filter of `tracing`'s. It is one that can be
    /// used.
    pub log: Option<String>,
    /// For how many days what edits wrote over is kept, so that it can be undone; 0 for good.
    pub checkpoint_days: u32,
    /// Whether what commands change in the project can be undone.
    pub undo_commands: bool,
    /// Whether shells begin with what the user's start files define.
    pub shell_rc: bool,
    /// Whether what commands and other programs change is listed for review; it needs `undo_commands`.
    pub review_commands: bool,
    /// What commands may do to the machine.
    pub sandbox: Sandbox,
    /// Whether commands may use the network.
    pub sandbox_network: bool,
    /// What commands may write besides: paths, in which `~/` is the home folder.
    pub sandbox_write: Vec<String>,
    /// What commands may read besides.
    pub sandbox_read: Vec<String>,
    /// Environment variables that commands and language servers get although they look like secrets.
    pub pass_environment: Vec<String>,
    /// The folders whose own files have been read, and restrict.
    pub projects: Vec<PathBuf>,
    /// What was ignored and why, for the user.
    pub warnings: Vec<String>,
    /// What is wrong with layers of the user's own. With any, every action is asked and nothing is allowed by a rule.
    pub errors: Vec<ConfigError>,
    /// Whether a layer of the user's own could not be read at all. It may say where prompts are to go, so that until it
    /// is mended they go nowhere.
    pub hosts_unknown: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            model: None,
            rules: Rules::default(),
            allow_bypass: true,
            providers: providers::Settings::default(),
            accept_edits: false,
            format_edits: FormatEdits::Off,
            save_edits: false,
            chat_answers: None,
            code_actions: true,
            edit_mode: None,
            edit_tools: Vec::new(),
            stop_early: false,
            file_blocks: true,
            canonical_edits: false,
            intercept_commands: false,
            // VS Code waits four seconds before it takes silence for "nothing is wrong".
            check_edits: 5,
            mend_errors: 0,
            log: None,
            checkpoint_days: 30,
            undo_commands: true,
            shell_rc: true,
            review_commands: true,
            sandbox: Sandbox::WorkspaceWrite,
            sandbox_network: true,
            sandbox_write: Vec::new(),
            sandbox_read: Vec::new(),
            pass_environment: Vec::new(),
            projects: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            hosts_unknown: false,
        }
    }
}

/// A server that takes longer than this, in seconds, is of no use to a turn that waits.
const LONGEST_CHECK: u32 = 60;
/// More often a turn does not go on by itself, whatever is set.
const MOST_MENDING: u32 = 5;

impl Config {
    /// How long language servers are waited for after edits; no time where they are not asked.
    pub fn wait_for_problems(&self) -> std::time::Duration {
        std::time::Duration::from_secs(self.check_edits.min(LONGEST_CHECK).into())
    }

    /// How often a turn goes on by itself to mend errors that its edits brought.
    pub fn mends(&self) -> u32 {
        self.mend_errors.min(MOST_MENDING)
    }
}
