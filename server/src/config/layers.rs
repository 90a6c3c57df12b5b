//! The layers of the configuration: how each is written, and what it may say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::edit::EditForm;
use agent::permission::{Rule, SourcedRule};
use protocol::permission::RuleOrigin;
use serde::Deserialize;
use serde_json::Value;

use super::{ChatAnswers, Config, FormatEdits, Sandbox, files, words};
use crate::log;

/// A layer as it is written, in TOML files and in an editor's settings (where camelCase works too).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// The model of new sessions: an id such as `anthropic/claude-sonnet-5-5`, or an alias.
    pub model: Option<String>,
    /// Whether edits are accepted as they come.
    #[serde(alias = "acceptEdits")]
    pub accept_edits: Option<bool>,
    /// What is formatted after edits are accepted: `off`, `lines` or `file`.
    #[serde(alias = "formatEdits")]
    pub format_edits: Option<FormatEdits>,
    /// Whether documents are saved after edits are accepted.
    #[serde(alias = "saveEdits")]
    pub save_edits: Option<bool>,
    /// When a chat document gets its answers: `live` or `at-end`.
    #[serde(alias = "chatAnswers")]
    pub chat_answers: Option<ChatAnswers>,
    /// Whether code actions are offered that begin a workflow in the chat.
    #[serde(alias = "codeActions")]
    pub code_actions: Option<bool>,
    /// The form in which models edit: `replace`, `patch` or `hashline`.
    #[serde(alias = "editMode")]
    pub edit_mode: Option<EditForm>,
    /// Names of tools that models are told of beside the usual ones.
    #[serde(alias = "editTools")]
    pub edit_tools: Option<Vec<String>>,
    /// Whether an answer is dropped as soon as an edit in it is seen to fail.
    #[serde(alias = "stopEarly")]
    pub stop_early: Option<bool>,
    /// Whether models may write long new files in the text of their answers.
    #[serde(alias = "fileBlocks")]
    pub file_blocks: Option<bool>,
    /// Whether a model reads its edits as they were applied, where it had slipped.
    #[serde(alias = "canonicalEdits")]
    pub canonical_edits: Option<bool>,
    /// Whether a command that does what a tool does is not run.
    #[serde(alias = "interceptCommands")]
    pub intercept_commands: Option<bool>,
    /// For how many seconds language servers are waited for after edits; 0 does not ask them.
    #[serde(alias = "checkEdits")]
    pub check_edits: Option<u32>,
    /// How often a turn goes on by itself to mend errors that its edits brought.
    #[serde(alias = "mendErrors")]
    pub mend_errors: Option<u32>,
    /// What to log.
    pub log: Option<String>,
    /// A file with further certificate authorities, in PEM.
    #[serde(alias = "caFile")]
    pub ca_file: Option<PathBuf>,
    /// How long a model may be silent before its answer counts as broken off, in seconds.
    #[serde(alias = "idleTimeout")]
    pub idle_timeout: Option<u64>,
    /// For how many days what edits wrote over is kept; 0 for good.
    #[serde(alias = "checkpointDays")]
    pub checkpoint_days: Option<u32>,
    /// Whether what commands change can be undone.
    #[serde(alias = "undoCommands")]
    pub undo_commands: Option<bool>,
    /// Whether what commands and other programs change is listed for review.
    #[serde(alias = "reviewCommands")]
    pub review_commands: Option<bool>,
    /// Whether mode `bypass` may be entered.
    #[serde(alias = "allowBypass")]
    pub allow_bypass: Option<bool>,
    /// Whether the project's own commands, such as its tests, run unasked in the sandbox of a trusted workspace.
    #[serde(alias = "projectCommands")]
    pub project_commands: Option<bool>,
    /// Whether the editor trusts its workspace: `trusted` or `restricted`. Only an editor says it, as it starts.
    #[serde(alias = "workspaceTrust")]
    pub workspace_trust: Option<WorkspaceTrust>,
    /// What commands may do to the machine: `read-only`, `workspace-write` or `full`.
    pub sandbox: Option<Sandbox>,
    /// Whether commands in the sandbox may use the network.
    #[serde(alias = "sandboxNetwork")]
    pub sandbox_network: Option<bool>,
    /// What commands in the sandbox may write besides.
    #[serde(alias = "sandboxWrite")]
    pub sandbox_write: Option<Vec<String>>,
    /// What commands in the sandbox may read besides.
    #[serde(alias = "sandboxRead")]
    pub sandbox_read: Option<Vec<String>>,
    /// Environment variables that commands and language servers get although they look like secrets.
    #[serde(alias = "passEnvironment")]
    pub pass_environment: Option<Vec<String>>,
    /// Whether shells begin with what the user's start files define.
    #[serde(alias = "shellRc")]
    pub shell_rc: Option<bool>,
    /// The permission rules.
    pub permissions: Permissions,
    /// Providers by name: `anthropic`, `openai`, or any other that speaks the Chat Completions protocol.
    pub providers: BTreeMap<String, Provider>,
}

/// What an editor says of the trust in its workspace. It is the client's and not part of the configuration in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkspaceTrust {
    /// Its user trusts it.
    Trusted,
    /// Its user does not, or not yet.
    Restricted,
}

/// Permission rules, each `Tool` or `Tool(pattern)`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// What runs without asking.
    pub allow: Vec<String>,
    /// What is always asked.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
}

/// A provider of models.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Provider {
    /// Its address, such as `https://openrouter.ai/api/v1`.
    #[serde(alias = "baseUrl")]
    pub base_url: Option<String>,
    /// The key itself. Better is `key_env`.
    pub key: Option<String>,
    /// The environment variable that holds the key.
    #[serde(alias = "keyEnv")]
    pub key_env: Option<String>,
    /// What it speaks: `anthropic`, `openai-responses` or `openai-chat`.
    pub wire: Option<String>,
    /// Whose Chat Completions it speaks, where that does not follow from its host.
    pub dialect: Option<String>,
    /// Its models, where it does not list them itself.
    pub models: Vec<String>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // An address may hold a password or a key as well.
        f.debug_struct("Provider").field("wire", &self.wire).finish_non_exhaustive()
    }
}

/// Where the layers come from.
pub struct Sources<'a> {
    /// The user's file; need not be there.
    pub user_file: PathBuf,
    /// The workspace folders, whose `.azimuth/config.toml` can restrict.
    pub folders: &'a [PathBuf],
    /// What the editor says.
    pub editor: Editor,
    /// The environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// What the editor says, in two layers.
#[derive(Clone, Debug)]
pub struct Editor {
    /// Its `initializationOptions`: the user's own words, and all of it counts.
    pub options: Result<Layer, ConfigError>,
    /// Its settings, from `workspace/configuration` or `workspace/didChangeConfiguration`. Editors read them out of the
    /// project's folder too (`.vscode`, `coc-settings.json`, `.dir-locals.el`), so they can only restrict, and choose
    /// the model and the log.
    pub settings: Result<Layer, ConfigError>,
}

impl Default for Editor {
    fn default() -> Self {
        Self { options: Ok(Layer::default()), settings: Ok(Layer::default()) }
    }
}

/// A layer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    /// The file, or the editor's settings.
    pub place: String,
    /// What is wrong with it, with the line where one is known. It holds no value of the file, which may be a key.
    pub problem: String,
}

/// Reads what an editor sends as a layer. `place` is its name in words; `section` is its path in the editor's settings.
///
/// # Errors
/// It does not fit; says where.
pub fn from_editor(place: &str, section: &str, value: Value) -> Result<Layer, ConfigError> {
    serde_path_to_error::deserialize(value).map_err(|error| ConfigError {
        place: place.into(),
        problem: format!("`{section}.{}`: {}", error.path(), words::without_values(&error.inner().to_string())),
    })
}

/// Puts the layers together. It always comes to a configuration, and a safe one:
///
/// - where a layer of the user's own cannot be understood, in whole or in part, [`Config::errors`] says so; every
///   action is asked, and no rule allows anything;
/// - where one that can only restrict cannot be understood, a warning says so, since it is perhaps not the user's to
///   mend; every action is asked.
///
/// What can be understood of such a layer still counts.
pub fn load(sources: Sources<'_>) -> Config {
    let Sources { user_file, folders, editor, environment } = sources;
    let mut config = Config { providers: providers::Settings::from_env(environment), ..Config::default() };
    let place = user_file.display().to_string();
    let mut user = files::of_user(&user_file).and_then(|text| parse(text.as_deref().unwrap_or_default()));
    if user.as_mut().is_ok_and(|layer| layer.workspace_trust.take().is_some()) {
        let text = "workspace_trust ignored: it would be said of every folder; `/trust yes` says it of one";
        config.warnings.push(format!("{place}: {text}"));
    }
    config.take_or_fail(user.map_err(|problem| ConfigError { place: place.clone(), problem }), &place, environment);
    config.take_or_fail(editor.options, "the editor's initializationOptions", environment);
    match editor.settings {
        Ok(layer) => config.restrict(layer, "the editor's settings", Kind::Settings),
        Err(error) => config.distrust(&error.place, &error.problem),
    }
    let mut config = config.with_projects(folders);
    for problem in config.errors.iter_mut().map(|error| &mut error.problem) {
        *problem = words::without_keys(problem);
    }
    if !config.errors.is_empty() {
        config.rules.allow.clear();
        config.accept_edits = false;
        config.sandbox = config.sandbox.min(Sandbox::WorkspaceWrite);
        config.sandbox_write.clear();
        config.sandbox_read.clear();
        config.pass_environment.clear();
    }
    config
}

fn parse(text: &str) -> Result<Layer, String> {
    toml::from_str(text).map_err(|error| words::toml(&error, text))
}

/// What a layer that can only restrict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A project's file.
    Project,
    /// The editor's settings, which may choose the model and the log too.
    Settings,
}

impl Config {
    /// This configuration, restricted by the files of these folders too: those of a session that works elsewhere than
    /// its client. Blocks.
    #[must_use]
    pub fn with_projects(&self, folders: &[PathBuf]) -> Self {
        let mut config = self.clone();
        for folder in folders {
            if !config.projects.contains(folder) {
                config.projects.push(folder.clone());
                config.restrict_by(folder);
            }
        }
        for warning in &mut config.warnings {
            *warning = words::without_keys(warning);
        }
        config
    }

    fn restrict_by(&mut self, folder: &Path) {
        let file = folder.join(".azimuth").join("config.toml");
        let place = file.display().to_string();
        match files::of_project(folder, &file).and_then(|text| parse(text.as_deref().unwrap_or_default())) {
            Ok(layer) => self.restrict(layer, &place, Kind::Project),
            Err(problem) => self.distrust(&place, &problem),
        }
    }

    /// Takes a layer of the user's own. What is wrong in it is an error, and what is right counts.
    fn take_or_fail(
        &mut self,
        layer: Result<Layer, ConfigError>,
        place: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) {
        let problems = match layer {
            Ok(layer) => self.take(layer, place, environment),
            Err(error) => {
                self.hosts_unknown = true;
                vec![error.problem]
            }
        };
        if !problems.is_empty() {
            self.ask_everything(place);
        }
        self.errors.extend(problems.into_iter().map(|problem| ConfigError { place: place.into(), problem }));
    }

    /// Takes a layer of the user's own: all of it counts, and what it names replaces what was there. Gives what is
    /// wrong with it.
    fn take(&mut self, layer: Layer, place: &str, environment: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
        self.model = layer.model.or(self.model.take());
        self.take_log(layer.log, place);
        self.accept_edits = layer.accept_edits.unwrap_or(self.accept_edits);
        self.format_edits = layer.format_edits.unwrap_or(self.format_edits);
        self.save_edits = layer.save_edits.unwrap_or(self.save_edits);
        self.chat_answers = layer.chat_answers.or(self.chat_answers);
        self.code_actions = layer.code_actions.unwrap_or(self.code_actions);
        self.edit_mode = layer.edit_mode.or(self.edit_mode);
        self.edit_tools = layer.edit_tools.unwrap_or_else(|| std::mem::take(&mut self.edit_tools));
        self.stop_early = layer.stop_early.unwrap_or(self.stop_early);
        self.file_blocks = layer.file_blocks.unwrap_or(self.file_blocks);
        self.canonical_edits = layer.canonical_edits.unwrap_or(self.canonical_edits);
        self.allow_bypass = layer.allow_bypass.unwrap_or(self.allow_bypass);
        self.rules.asks_project_commands =
            layer.project_commands.map_or(self.rules.asks_project_commands, |unasked| !unasked);
        self.intercept_commands = layer.intercept_commands.unwrap_or(self.intercept_commands);
        self.check_edits = layer.check_edits.unwrap_or(self.check_edits);
        self.mend_errors = layer.mend_errors.unwrap_or(self.mend_errors);
        let Permissions { allow, ask, deny } = layer.permissions;
        let mut problems = add(&mut self.rules.allow, &allow, RuleOrigin::User, place);
        problems.extend(add(&mut self.rules.ask, &ask, RuleOrigin::User, place));
        problems.extend(add(&mut self.rules.deny, &deny, RuleOrigin::User, place));
        if let Some(file) = layer.ca_file {
            self.providers.ca_file = Some(file);
        }
        if let Some(seconds) = layer.idle_timeout {
            self.providers.idle_timeout = std::time::Duration::from_secs(seconds);
        }
        self.checkpoint_days = layer.checkpoint_days.unwrap_or(self.checkpoint_days);
        self.undo_commands = layer.undo_commands.unwrap_or(self.undo_commands);
        self.review_commands = layer.review_commands.unwrap_or(self.review_commands);
        self.sandbox = layer.sandbox.unwrap_or(self.sandbox);
        self.sandbox_network = layer.sandbox_network.unwrap_or(self.sandbox_network);
        self.sandbox_write = layer.sandbox_write.unwrap_or_else(|| std::mem::take(&mut self.sandbox_write));
        self.sandbox_read = layer.sandbox_read.unwrap_or_else(|| std::mem::take(&mut self.sandbox_read));
        self.shell_rc = layer.shell_rc.unwrap_or(self.shell_rc);
        self.pass_environment = layer.pass_environment.unwrap_or_else(|| std::mem::take(&mut self.pass_environment));
        for (name, provider) in layer.providers {
            // Also where the key itself stands beside it, which counts more.
            provider.key_env.as_deref().into_iter().for_each(workspace::shell::holds_a_key);
            let key = match (provider.key, provider.key_env) {
                (Some(key), _) => Some(key),
                (None, Some(variable)) => environment(&variable),
                (None, None) => None,
            };
            let had_key = self.has_key(&name);
            let wire = provider.wire.as_deref();
            problems.extend(self.providers.set_provider(&name, provider.base_url, key, wire, provider.models).err());
            if let Some(dialect) = provider.dialect {
                problems.extend(self.providers.set_dialect(&name, &dialect).err());
            }
            if had_key && !self.has_key(&name) {
                self.warnings.push(format!(
                    "{place}: providers.{name}.base_url is another server, so the key that was there is not sent to \
                     it; if it should be, say `key_env` beside `base_url`"
                ));
            }
        }
        problems
    }

    /// Takes a layer that a repository may have brought along: only what restricts counts, and what is harmless.
    fn restrict(&mut self, layer: Layer, place: &str, kind: Kind) {
        let mut ignored = Vec::new();
        if kind == Kind::Settings {
            self.take_log(layer.log, place);
            self.take_model(layer.model, place);
            self.format_edits = layer.format_edits.unwrap_or(self.format_edits);
            self.save_edits = layer.save_edits.unwrap_or(self.save_edits);
            self.chat_answers = layer.chat_answers.or(self.chat_answers);
            self.code_actions = layer.code_actions.unwrap_or(self.code_actions);
            self.edit_mode = layer.edit_mode.or(self.edit_mode);
            self.edit_tools = layer.edit_tools.unwrap_or_else(|| std::mem::take(&mut self.edit_tools));
            self.stop_early = layer.stop_early.unwrap_or(self.stop_early);
            self.file_blocks = layer.file_blocks.unwrap_or(self.file_blocks);
            self.canonical_edits = layer.canonical_edits.unwrap_or(self.canonical_edits);
            self.intercept_commands = layer.intercept_commands.unwrap_or(self.intercept_commands);
            self.check_edits = layer.check_edits.unwrap_or(self.check_edits);
            self.mend_errors = layer.mend_errors.unwrap_or(self.mend_errors);
        } else {
            ignored.extend(layer.model.is_some().then_some("model"));
            ignored.extend(layer.log.is_some().then_some("log"));
            ignored.extend(layer.chat_answers.is_some().then_some("chat_answers"));
            ignored.extend(layer.code_actions.is_some().then_some("code_actions"));
            ignored.extend(layer.edit_mode.is_some().then_some("edit_mode"));
            ignored.extend(layer.edit_tools.is_some().then_some("edit_tools"));
            ignored.extend(layer.stop_early.is_some().then_some("stop_early"));
            ignored.extend(layer.file_blocks.is_some().then_some("file_blocks"));
            ignored.extend(layer.canonical_edits.is_some().then_some("canonical_edits"));
            ignored.extend(layer.intercept_commands.is_some().then_some("intercept_commands"));
            // It may have less done to its files, and not more.
            match layer.format_edits {
                Some(FormatEdits::Off) => self.format_edits = FormatEdits::Off,
                other => ignored.extend(other.map(|_| "format_edits")),
            }
            match layer.save_edits {
                Some(false) => self.save_edits = false,
                other => ignored.extend(other.map(|_| "save_edits")),
            }
            match layer.check_edits {
                Some(0) => self.check_edits = 0,
                other => ignored.extend(other.map(|_| "check_edits")),
            }
            match layer.mend_errors {
                Some(0) => self.mend_errors = 0,
                other => ignored.extend(other.map(|_| "mend_errors")),
            }
        }
        ignored.extend(layer.workspace_trust.is_some().then_some("workspace_trust"));
        ignored.extend(layer.accept_edits.is_some().then_some("accept_edits"));
        ignored.extend(layer.ca_file.is_some().then_some("ca_file"));
        ignored.extend(layer.idle_timeout.is_some().then_some("idle_timeout"));
        ignored.extend(layer.checkpoint_days.is_some().then_some("checkpoint_days"));
        ignored.extend(layer.undo_commands.is_some().then_some("undo_commands"));
        ignored.extend(layer.review_commands.is_some().then_some("review_commands"));
        // Both may be forbidden, and not allowed again.
        match layer.allow_bypass {
            Some(false) => self.allow_bypass = false,
            other => ignored.extend(other.map(|_| "allow_bypass")),
        }
        match layer.project_commands {
            Some(false) => self.rules.asks_project_commands = true,
            other => ignored.extend(other.map(|_| "project_commands")),
        }
        match layer.sandbox {
            Some(stricter) if stricter < self.sandbox => self.sandbox = stricter,
            other => ignored.extend(other.filter(|other| *other != self.sandbox).map(|_| "sandbox")),
        }
        match layer.sandbox_network {
            Some(false) => self.sandbox_network = false,
            other => ignored.extend(other.filter(|_| !self.sandbox_network).map(|_| "sandbox_network")),
        }
        ignored.extend(layer.sandbox_write.is_some().then_some("sandbox_write"));
        ignored.extend(layer.sandbox_read.is_some().then_some("sandbox_read"));
        // Fewer may be let through, and no others.
        if let Some(fewer) = layer.pass_environment {
            ignored
                .extend(fewer.iter().any(|name| !self.pass_environment.contains(name)).then_some("pass_environment"));
            self.pass_environment.retain(|name| fewer.contains(name));
        }
        // What a project's file allows is void until its folder is trusted. Of settings it is not known whose they are.
        let is_heard = kind == Kind::Project;
        ignored.extend((!is_heard && !layer.permissions.allow.is_empty()).then_some("permissions.allow"));
        ignored.extend(layer.shell_rc.is_some().then_some("shell_rc"));
        ignored.extend((!layer.providers.is_empty()).then_some("providers"));
        if !ignored.is_empty() {
            let what = ignored.join(", ");
            self.warnings.push(match kind {
                Kind::Project => format!(
                    "{place}: {what} ignored: a project's file can only restrict; put it in your own configuration"
                ),
                Kind::Settings => format!(
                    "{place}: {what} ignored, since a project can set them too; put it in your config.toml or in \
                     initializationOptions"
                ),
            });
        }
        let mut problems = add(&mut self.rules.ask, &layer.permissions.ask, RuleOrigin::Project, place);
        problems.extend(add(&mut self.rules.deny, &layer.permissions.deny, RuleOrigin::Project, place));
        if is_heard && self.errors.is_empty() {
            problems.extend(add(&mut self.rules.allow, &layer.permissions.allow, RuleOrigin::Project, place));
        }
        for problem in problems {
            self.distrust(place, &problem);
        }
    }

    /// Takes a model that is harmless: one of a provider that is there.
    fn take_model(&mut self, model: Option<String>, place: &str) {
        let Some(model) = model else { return };
        let provider = model.split_once('/').map(|(provider, _)| provider);
        if self.providers.providers.iter().any(|known| Some(known.name.as_str()) == provider) {
            self.model = Some(model);
        } else {
            self.warnings.push(format!(
                "{place}: model ignored: it is no id of a provider that is set up; `azimuth models` lists the ids"
            ));
        }
    }

    /// Takes what to log, if it can be used.
    fn take_log(&mut self, log: Option<String>, place: &str) {
        match log.map(|log| log::check(&log).map(|()| log)) {
            None => {}
            Some(Ok(log)) => self.log = Some(log),
            Some(Err(problem)) => self.warnings.push(format!("{place}: log: {problem}")),
        }
    }

    /// A layer that can only restrict cannot be understood: what it was to forbid is not known.
    fn distrust(&mut self, place: &str, problem: &str) {
        self.warnings.push(format!("{place}: {problem}; until it is mended every action is asked"));
        self.ask_everything(place);
    }

    fn ask_everything(&mut self, place: &str) {
        let rule = Rule { tool: "*".into(), pattern: None };
        let everything = SourcedRule { rule, origin: RuleOrigin::User, source: place.into() };
        if !self.rules.ask.contains(&everything) {
            self.rules.ask.push(everything);
        }
    }

    fn has_key(&self, provider: &str) -> bool {
        self.providers.providers.iter().any(|known| known.name == provider && known.key.is_some())
    }
}

/// Adds rules as they are written. Gives what is wrong with those that are none.
fn add(rules: &mut Vec<SourcedRule>, texts: &[String], origin: RuleOrigin, place: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for text in texts {
        match text.parse::<Rule>() {
            Ok(rule) => rules.push(SourcedRule { rule, origin, source: place.into() }),
            Err(error) => problems.push(format!("permissions: {error}")),
        }
    }
    problems
}

#[cfg(test)]
mod tests;
