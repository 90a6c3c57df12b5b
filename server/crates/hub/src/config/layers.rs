//! The layers of the configuration: where each comes from, and what counts of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use permission::{Rule, SourcedRule};
use protocol::permission::RuleOrigin;
use protocol::role::Role;
use protocol::settings::{May, Setting};
use serde_json::Value;

use super::layer::{Layer, Permissions, Values, plain};
use super::lines::Way;
use super::restriction::restricted;
use super::{Config, Sandbox, details, dirs, files, key_command, roles, secrets, words};
use crate::log;

/// The sources of the layers.
pub struct Sources<'a> {
    /// The user's file; need not be there.
    pub user_file: PathBuf,
    /// The workspace folders, whose `.azimuth/config.toml` can restrict.
    pub folders: &'a [PathBuf],
    /// The layers from the editor.
    pub editor: Editor,
    /// The environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// The two layers from the editor.
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
    /// The fault in it, with its line if one is known. It holds no value of the file, which may be a key.
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
/// The parts of such a layer that can be understood still count.
pub fn load(sources: Sources<'_>) -> Config {
    let text = files::of_user(&sources.user_file).map(Option::unwrap_or_default);
    load_with(sources, text.as_deref())
}

/// The same, as if this were the text of the user's file, or the reason why it cannot be read.
pub(crate) fn load_with(sources: Sources<'_>, text: Result<&str, &String>) -> Config {
    let Sources { user_file, folders, editor, environment } = sources;
    // The clouds' files are looked at before those of the projects are read.
    folders.iter().for_each(|folder| key_command::keep_out_of(folder));
    let mut config = Config { providers: providers::Settings::from_env(environment), ..Config::default() };
    let place = user_file.display().to_string();
    let mut user = text.map_err(Clone::clone).and_then(parse);
    if let Ok(layer) = &mut user {
        for setting in plain().filter(|setting| setting.who.user == May::Never) {
            if layer.values.remove(setting.name).is_some() {
                let text = "ignored: in a file it would hold for every folder; `/trust yes` trusts one folder";
                config.warnings.push(format!("{place}: {} {text}", setting.name));
            }
        }
    }
    let user = user.map_err(|problem| ConfigError { place: place.clone(), problem });
    config.take_or_fail(user, &place, text.unwrap_or_default(), environment);
    config.take_or_fail(editor.options, "the editor's initializationOptions", "", environment);
    config.providers.sign_for_aws(&details::SIGNERS, environment, dirs::home(environment));
    config.providers.sign_for_google(&details::SIGNERS, environment, dirs::home(environment));
    for unknown in config.providers.put_first(&config.settings.provider_order) {
        config
            .warnings
            .push(format!("provider_order: `{unknown}` is no provider; `azimuth models` lists those there are"));
    }
    match editor.settings {
        Ok(layer) => config.restrict(layer, "the editor's settings", "", Kind::Settings),
        Err(error) => config.distrust(&error.place, &error.problem),
    }
    // Whoever starts the program chose it for this run, so it counts more than what is written down.
    if let Some(model) = environment("AZIMUTH_MODEL").filter(|model| !model.trim().is_empty()) {
        config.settings.model = Some(model);
        config.places.insert(Role::Default, "the variable AZIMUTH_MODEL".to_owned());
    }
    config.warnings.extend(config.idle_references());
    config.take_accounts(environment);
    config.secrets.extend(secrets::of_environment(environment, &config.settings.shown_environment));
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

/// The kind of a layer that can only restrict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A project's file.
    Project,
    /// The editor's settings.
    Settings,
}

impl Kind {
    /// The rights over a setting.
    fn may(self, setting: &Setting) -> May {
        match self {
            Self::Project => setting.who.project,
            Self::Settings => setting.who.editor,
        }
    }
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
        key_command::keep_out_of(folder);
        let file = folder.join(".azimuth").join("config.toml");
        let place = file.display().to_string();
        let text = files::of_project(folder, &file).map(Option::unwrap_or_default);
        match text.as_deref().map_err(Clone::clone).and_then(parse) {
            Ok(layer) => self.restrict(layer, &place, text.as_deref().unwrap_or_default(), Kind::Project),
            Err(problem) => self.distrust(&place, &problem),
        }
    }

    /// Takes a layer of the user's own. What is wrong in it is an error, and what is right counts. `text` is that of
    /// its file, if it has one.
    fn take_or_fail(
        &mut self,
        layer: Result<Layer, ConfigError>,
        place: &str,
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) {
        let problems = match layer {
            Ok(layer) => self.take(layer, place, text, environment),
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
    fn take(
        &mut self,
        layer: Layer,
        place: &str,
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let Permissions { allow, ask, deny } = layer.permissions;
        let mut values = layer.values;
        let faults = roles::take_out_mistakes(&mut values, &|role| self.settings.of_role(role));
        let mut problems: Vec<_> = self.set(values, place).err().into_iter().collect();
        problems.extend(faults.iter().map(|fault| fault.in_words(text)));
        problems.extend(add(&mut self.rules.allow, &allow, RuleOrigin::User, place));
        problems.extend(add(&mut self.rules.ask, &ask, RuleOrigin::User, place));
        problems.extend(add(&mut self.rules.deny, &deny, RuleOrigin::User, place));
        let listing = secrets::Layer { source: place, is_project: false, environment };
        for (name, said) in &layer.secrets {
            let (listed, found) = secrets::take(name, said, &listing);
            self.secrets.push(listed.unwrap_or_else(|| secrets::Listed::faulty(name, place)));
            problems.extend(found.faults.iter().map(|fault| fault.in_words(text)));
        }
        for (name, said) in &layer.providers {
            problems.extend(self.take_provider(name, said, (place, text), environment));
        }
        problems
    }

    /// Takes what a layer of the user's own says of a provider. Gives what is wrong with it.
    fn take_provider(
        &mut self,
        name: &str,
        said: &Value,
        (place, text): (&str, &str),
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Vec<String> {
        let (said, read) = details::read(name, said);
        // Also where the key itself stands beside it, which counts more.
        said.text("key_env").into_iter().for_each(process::secrets::holds_a_key);
        // A blank one takes away the key of the layers below.
        let key = said.key(environment).or_else(|| said.text("key").map(str::to_owned));
        let had_key = self.has_key(name);
        // One whose address is not known is there all the same, so that nothing is sent anywhere in its stead.
        let base_url = said.text("base_url").or(said.is_lost.then_some("")).map(str::to_owned);
        let set = self.providers.set_provider(name, base_url, key, said.text("wire"), said.texts("models"));
        let mut problems: Vec<_> = set.err().into_iter().collect();
        if let Some(dialect) = said.text("dialect") {
            problems.extend(self.providers.set_dialect(name, dialect).err());
        }
        let mut problems: Vec<_> = problems.into_iter().map(|problem| with_line(problem, name, text)).collect();
        let taken = details::take(&mut self.providers, name, &said, environment);
        let (sign_in, faults) = details::sign_in(name, &said);
        for found in [&read, &taken, &faults] {
            problems.extend(found.faults.iter().map(|fault| fault.in_words(text)));
            self.warnings.extend(found.warnings.iter().map(|warning| format!("{place}: {warning}")));
        }
        if let Some(sign_in) = sign_in {
            self.sign_ins.retain(|known| known.provider != name);
            self.sign_ins.push(sign_in);
        }
        if said.is_lost {
            let mistake = format!("{place} has a mistake in providers.{name}, so nothing is sent to it");
            self.providers.provider_mut(name).into_iter().for_each(|provider| provider.leave_out(mistake.clone()));
        } else if had_key && !self.has_key(name) {
            self.warnings.push(format!(
                "{place}: providers.{name}.base_url is another server, so the key that was there is not sent to it; if \
                 it should be, say `key_env` beside `base_url`"
            ));
        }
        problems
    }

    /// Takes a layer that a repository may have brought along: of each setting, what the table says that it may. `text`
    /// is that of its file, if it has one.
    fn restrict(&mut self, mut layer: Layer, place: &str, text: &str, kind: Kind) {
        let (mut said, mut ignored) = (Values::new(), Vec::new());
        for setting in plain() {
            let Some(value) = layer.values.remove(setting.name) else { continue };
            match kind.may(setting) {
                May::Set => drop(said.insert(setting.name, value)),
                May::KnownModel if value.as_str().is_some_and(|model| self.has_provider_of(model)) => {
                    said.insert(setting.name, value);
                }
                May::KnownModel => self.warnings.push(format!(
                    "{place}: {} ignored: it is not an id of a provider that is set up; `azimuth models` lists the ids",
                    setting.name
                )),
                May::Restrict(how) => {
                    let now = self.value_of(setting);
                    let (value, is_whole) = restricted(setting, how, now, value);
                    said.insert(setting.name, value);
                    ignored.extend((!is_whole).then_some(setting.name));
                }
                May::OnceTrusted | May::Never => ignored.push(setting.name),
            }
        }
        let problem = self.set(said, place).err();
        // A project's file allows nothing until its folder is trusted. Of settings it is not known whose they are.
        let is_heard = kind == Kind::Project;
        ignored.extend((!is_heard && !layer.permissions.allow.is_empty()).then_some("permissions.allow"));
        ignored.extend((!layer.providers.is_empty()).then_some("providers"));
        ignored.extend((!is_heard && !layer.secrets.is_empty()).then_some("secrets"));
        if is_heard {
            self.hide_for_project(&layer.secrets, place);
        }
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
        let mut problems: Vec<_> = problem.into_iter().collect();
        // They do not count. Whoever cannot write them may have meant something else to be forbidden.
        let found = layer.providers.iter().map(|(name, said)| details::read(name, said).1);
        problems.extend(found.flat_map(|found| found.faults).map(|fault| fault.in_words(text)));
        problems.extend(add(&mut self.rules.ask, &layer.permissions.ask, RuleOrigin::Project, place));
        problems.extend(add(&mut self.rules.deny, &layer.permissions.deny, RuleOrigin::Project, place));
        if is_heard && self.errors.is_empty() {
            problems.extend(add(&mut self.rules.allow, &layer.permissions.allow, RuleOrigin::Project, place));
        }
        for problem in problems {
            self.distrust(place, &problem);
        }
    }

    /// Takes in the secrets that a project's file lists, whether it is trusted or not: models see less by them.
    fn hide_for_project(&mut self, said: &BTreeMap<String, Value>, place: &str) {
        let environment = |name: &str| std::env::var(name).ok();
        let listing = secrets::Layer { source: place, is_project: true, environment: &environment };
        for (name, said) in said {
            let (listed, found) = secrets::take(name, said, &listing);
            self.secrets.extend(listed);
            self.warnings.extend(found.faults.iter().map(|fault| format!("{place}: {}", fault.in_words(""))));
        }
    }

    /// Puts these values in the place of those that hold.
    ///
    /// # Errors
    /// One does not fit; says why.
    fn set(&mut self, mut said: Values, place: &str) -> Result<(), String> {
        let log = said.get("log").and_then(Value::as_str);
        if let Some(problem) = log.and_then(|log| log::check(log).err()) {
            said.remove("log");
            self.warnings.push(format!("{place}: log: {problem}"));
        }
        let named: Vec<_> = Role::ALL.into_iter().filter(|role| said.contains_key(role.setting())).collect();
        self.settings = self.settings.with(said).map_err(|error| words::without_values(&error.to_string()))?;
        self.places.extend(named.into_iter().map(|role| (role, place.to_owned())));
        // The copies of it that others hold.
        self.rules.asks_project_commands = !self.settings.project_commands;
        self.providers.idle_timeout = Duration::from_secs(self.settings.idle_timeout.into());
        self.providers.enabled_models.clone_from(&self.settings.enabled_models);
        self.providers.disabled_providers.clone_from(&self.settings.disabled_providers);
        if let Some(file) = &self.settings.ca_file {
            self.providers.ca_file = Some(file.clone());
        }
        Ok(())
    }

    /// The value that a setting has; null if it has none.
    fn value_of(&self, setting: &Setting) -> Value {
        self.settings.values().ok().and_then(|mut values| values.remove(setting.name)).unwrap_or_default()
    }

    /// True if a model is one of a provider that is set up. Credentials that are only there set none up: a repository
    /// must not choose for the user to spend with them.
    fn has_provider_of(&self, model: &str) -> bool {
        let is_known = |name: &str| {
            let provider = name.split_once('/').map(|(provider, _)| provider);
            let mut providers = self.providers.providers.iter();
            providers.any(|known| !known.is_unasked() && Some(known.name.as_str()) == provider)
        };
        let mut names = providers::catalog::names(model).peekable();
        names.peek().is_some() && names.all(is_known)
    }

    /// A layer that can only restrict cannot be understood: what it was to forbid is not known.
    fn distrust(&mut self, place: &str, problem: &str) {
        self.warnings.push(format!("{place}: {problem}; until it is fixed you are asked about every action"));
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
        self.providers.providers.iter().any(|known| known.name == provider && known.has_key())
    }
}

/// A problem with a provider, which begins with the name of its setting, with the line on which that stands.
fn with_line(problem: String, provider: &str, text: &str) -> String {
    let way = Way::default().field("providers").field(provider);
    let field = problem.strip_prefix(&format!("providers.{provider}.")).and_then(|rest| rest.split([':', ' ']).next());
    match field.map_or_else(|| way.clone(), |field| way.field(field)).line_in(text) {
        Some(line) => format!("line {line}: {problem}"),
        None => problem,
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
