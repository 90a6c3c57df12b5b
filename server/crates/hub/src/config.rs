//! Configuration, resolved: what the layers (defaults, the environment, the user's file, the editor, the project's
//! file) come to.
//!
//! Provider hosts and keys come only from the user's file, the environment or `initializationOptions`, and so do
//! permission allows that count at once. What a repository can bring along, its own file and what editors read out of
//! it as their settings, can only restrict; what its file allows is void until the user trusts the folder. What a layer
//! says and may not is told in [`Config::warnings`]. A layer that cannot be understood makes every action a question,
//! since what it was to forbid is not known.

mod details;
pub mod dirs;
mod files;
mod keep;
mod key_command;
mod key_status;
mod layer;
pub mod layers;
mod lines;
mod restriction;
mod roles;
pub mod secrets;
mod words;

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accounts::{Accounts, Vendor};
use permission::Rules;
use ports::edit::EditForm;
use protocol::mode::{Mode, Runs};
use protocol::role::Role;
use protocol::terminal::SandboxMode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::key_status::key_status;
use self::layer::Values;
pub use self::layer::{Layer, Permissions};
pub(crate) use self::layers::load_with;
pub use self::layers::{ConfigError, Editor, Sources, from_editor, load};
pub(crate) use self::lines::of_provider as line_of_provider;
pub(crate) use self::roles::{LOCAL, Reference, with_found};

/// When an answer is written into a chat document, for a client without a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChatAnswers {
    /// As it comes, at most once a second.
    Live,
    /// Where the turn ends or asks something: for clients that may ask their user to confirm each edit.
    AtEnd,
}

/// When the suggestion at the cursor is an entry of the editor's completion menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InCompletion {
    /// For a client that has neither inline completion nor a panel.
    #[default]
    Auto,
    /// For every client.
    Always,
    /// For none.
    Never,
}

/// The parts of an open document that are formatted once accepted edits are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// The access that commands have to the machine, the strictest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// Read the workspace, the system and toolchains; write nothing but temporary files.
    #[default]
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

/// The settings that have one value each, as `protocol::settings` defines them: by these names, and with its defaults.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Settings {
    /// The model of new sessions; without it, the last one chosen, else the first usable one.
    pub model: Option<String>,
    /// The model of turns in which the agent plans; without it, that of the session.
    pub plan_model: Option<String>,
    /// A small and fast model, for what names none of its own.
    pub fast_model: Option<String>,
    /// The model that gives second opinions; none for no tool that asks for them.
    pub oracle_model: Option<String>,
    /// The model that makes titles.
    pub title_model: Option<String>,
    /// The model that suggests text where the user types; none for no suggestions.
    pub completion_model: Option<String>,
    /// The model that suggests the next edit; none for no suggested edits.
    pub next_edit_model: Option<String>,
    /// The model that changes a selection as the user says; without it, the fast one or that of new sessions.
    pub instruct_model: Option<String>,
    /// The patterns of the models that can be chosen; all if empty.
    pub enabled_models: Vec<String>,
    /// The providers that are not used.
    pub disabled_providers: Vec<String>,
    /// The providers that come before all others, in this order.
    pub provider_order: Vec<String>,
    /// The milliseconds since the last key before text is suggested.
    pub inline_quiet: u32,
    /// The places in code where nothing is suggested: `comments`, `strings`.
    pub inline_off_in: Vec<String>,
    /// The languages in which nothing is suggested.
    pub inline_off_languages: Vec<String>,
    /// When the suggestion at the cursor is an entry of the completion menu, too.
    pub inline_in_completion: InCompletion,
    /// True if a client without a panel is shown suggested edits as hints with code actions.
    pub inline_edits_as_actions: bool,
    /// True if it is counted how suggestions fare.
    pub inline_counts: bool,
    /// The most that suggestions may cost in a day, in US dollars.
    pub inline_cost_limit: f64,
    /// The most that a session may cost before the user is asked, in US dollars.
    pub session_budget: Option<f64>,
    /// The most that all sessions together may cost in a day before the user is asked, in US dollars.
    pub day_budget: Option<f64>,
    /// True if mode `bypass` may be entered.
    pub allow_bypass: bool,
    /// True if edits are accepted automatically. They stay listed.
    pub accept_edits: bool,
    /// The parts of an open document that are formatted once accepted edits are in it.
    pub format_edits: FormatEdits,
    /// True if an open document that held nothing unsaved is saved once accepted edits are in it.
    pub save_edits: bool,
    /// When a chat document gets its answers; by what suits the client where nothing is said.
    pub chat_answers: Option<ChatAnswers>,
    /// True if code actions are offered that begin a workflow in the chat.
    pub code_actions: bool,
    /// The form in which models edit; by their family where nothing is said.
    pub edit_mode: Option<EditForm>,
    /// Tools that models are told of although their form of editing has others.
    pub edit_tools: Vec<String>,
    /// True if vendors are to keep conversations in their caches for an hour.
    pub cache_hour: bool,
    /// True if an answer is dropped as soon as an edit in it is seen to fail.
    pub stop_early: bool,
    /// True if models may write long new files in the text of their answers.
    pub file_blocks: bool,
    /// True if a model reads its edits as they were applied, where it had slipped.
    pub canonical_edits: bool,
    /// True if a command that does what a tool does is not run, and the model is told the tool.
    pub intercept_commands: bool,
    /// A file with further certificate authorities, in PEM.
    pub ca_file: Option<PathBuf>,
    /// The seconds for which a model may be silent before its answer counts as cut off.
    pub idle_timeout: u32,
    /// The seconds that language servers are waited for after edits, to say what those did to problems; 0 for not to
    /// ask them.
    pub check_edits: u32,
    /// The most times that a turn continues on its own if it would end with errors that its edits caused.
    pub mend_errors: u32,
    /// The most times that a turn continues on its own if it would end with open steps of its plan.
    pub plan_reminders: u32,
    /// How often in a row a request to a model is tried again.
    pub retries: u32,
    /// The same for requests whose answer breaks off, counted by themselves; none for counting them with the others.
    pub stream_retries: Option<u32>,
    /// The milliseconds before the first retry.
    pub retry_delay: u32,
    /// The longest wait that a vendor may ask for, in seconds.
    pub retry_longest: u32,
    /// The seconds for which a model that failed is let rest, if its vendor names no time.
    pub model_cooldown: u32,
    /// True if a larger model goes on once a conversation no longer fits.
    pub context_promotion: bool,
    /// True if a handover takes the place of a conversation's beginning once the context is full.
    pub auto_compact: bool,
    /// The log's filter: `error`, `warn`, `info`, `debug` or `trace`, or a filter of `tracing`'s. It is one that can be
    /// used.
    pub log: Option<String>,
    /// True if the project's own commands run unasked in the sandbox of a trusted folder.
    pub project_commands: bool,
    /// For how many days what edits wrote over is kept, so that it can be undone; 0 for good.
    pub checkpoint_days: u32,
    /// True if what commands change in the project can be undone.
    pub undo_commands: bool,
    /// True if shells begin with what the user's start files define.
    pub shell_rc: bool,
    /// True if what commands and other programs change is listed for review; it needs `undo_commands`.
    pub review_commands: bool,
    /// The access that commands have to the machine.
    pub sandbox: Sandbox,
    /// True if commands may use the network.
    pub sandbox_network: bool,
    /// Additional paths that commands may write, in which `~/` is the home folder.
    pub sandbox_write: Vec<String>,
    /// Additional paths that commands may read.
    pub sandbox_read: Vec<String>,
    /// Environment variables that commands and language servers get although they look like secrets.
    pub pass_environment: Vec<String>,
    /// True if secrets are hidden from models.
    pub hide_secrets: bool,
    /// Environment variables that models may see although they look like secrets.
    pub shown_environment: Vec<String>,
}

impl Settings {
    /// The defaults.
    fn of_table() -> Self {
        let defaults = layer::plain().map(|setting| (setting.name, layer::default_of(setting))).collect();
        // That the table fits these types is held by a test. If it did not, nothing would be allowed.
        Self::default().with(defaults).unwrap_or_default()
    }

    /// These, with other values for those that are named.
    ///
    /// # Errors
    /// A value does not fit its type, so the type is not as the table says.
    fn with(&self, said: Values) -> serde_json::Result<Self> {
        let mut values = self.values()?;
        values.extend(said.into_iter().map(|(name, value)| (name.to_owned(), value)));
        serde_json::from_value(Value::Object(values))
    }

    /// Their values by their names.
    fn values(&self) -> serde_json::Result<Map<String, Value>> {
        serde_json::from_value(serde_json::to_value(self)?)
    }
}

/// The configuration in force. What is set is read as a field of it, such as `config.sandbox`.
#[derive(Clone, Debug)]
pub struct Config {
    /// The settings in force.
    pub settings: Settings,
    /// The place of the setting of each role that has one: a file, or another layer in words.
    pub(crate) places: BTreeMap<Role, String>,
    /// The models that were picked for roles in this process; they count before the settings.
    pub(crate) picks: BTreeMap<Role, String>,
    /// The permission rules, each with where it comes from.
    pub rules: Rules,
    /// Models, their hosts and keys.
    pub providers: providers::Settings,
    /// The sign-ins that the configuration describes.
    pub sign_ins: Vec<Vendor>,
    /// The accounts that the user keeps; none if there is no data folder.
    pub accounts: Option<Arc<Accounts>>,
    /// The secrets that models do not see, but for the keys of providers and accounts.
    pub secrets: Vec<secrets::Listed>,
    /// The folders whose own files have been read, and restrict.
    pub projects: Vec<PathBuf>,
    /// Warnings for the user: what was ignored and why.
    pub warnings: Vec<String>,
    /// The faults in layers of the user's own. With any, every action is asked and nothing is allowed by a rule.
    pub errors: Vec<ConfigError>,
    /// True if a layer of the user's own could not be read at all. It may say where prompts are to go, so that until it
    /// is mended they go nowhere.
    pub hosts_unknown: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            settings: Settings::of_table(),
            places: BTreeMap::new(),
            picks: BTreeMap::new(),
            rules: Rules::default(),
            providers: providers::Settings::default(),
            sign_ins: Vec::new(),
            accounts: None,
            secrets: Vec::new(),
            projects: Vec::new(),
            warnings: Vec::new(),
            errors: Vec::new(),
            hosts_unknown: false,
        }
    }
}

impl Deref for Config {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.settings
    }
}

impl DerefMut for Config {
    fn deref_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }
}

impl Config {
    /// The chain of models of turns in a mode, if the mode has one of its own.
    pub(crate) fn chain_of_mode(&self, mode: Mode) -> Option<String> {
        self.chain(Role::Plan).filter(|_| mode.info().runs == Runs::OnlyReading)
    }

    /// The settings that name a model of a provider, with what they name.
    pub(crate) fn models_of(&self, provider: &str) -> Vec<(&'static str, String)> {
        let is_of = |name: &str| name.split_once('/').is_some_and(|(before, _)| before == provider);
        let named =
            Role::ALL.into_iter().filter_map(|role| Some((role.setting(), self.settings.of_role(role)?.to_owned())));
        named.filter(|(_, list)| providers::catalog::names(list).any(is_of)).collect()
    }

    /// Returns the time that language servers are waited for after edits; zero if they are not asked.
    pub fn wait_for_problems(&self) -> Duration {
        Duration::from_secs(self.check_edits.into())
    }
}
