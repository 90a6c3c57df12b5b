//! The providers that the user adds and removes: each is checked, and then written into the user's file, which keeps
//! its comments and its order. The command line and the chats share this. The models that the user keeps for roles are
//! written in the same way.
//!
//! No key is ever written into that file. It says where a key comes from: a variable, a command, or nothing for one of
//! the accounts.

mod checking;
mod file;
mod listing;

use std::path::{Path, PathBuf};

use accounts::{DEFAULT_LABEL, StoreError, Vendor};
use project::files::{self, FileError};
use protocol::role::Role;
use providers::{Secret, key_command, keys};

pub use self::checking::{Checks, Failed};
use self::file::Left;
pub(crate) use self::listing::in_markdown;
pub use self::listing::{Row, rows};
use crate::config::{Config, ConfigError, Editor, Sources, line_of_provider, load_with};

/// The most links that are followed from one to the next.
const LINKS: usize = 40;

/// An environment: the value of a variable, if it is set.
pub type Environment = fn(&str) -> Option<String>;

/// A variable of this process.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A provider to add.
#[derive(Clone, Debug, Default)]
pub struct Addition {
    /// Its name, the first part of its models' ids.
    pub name: String,
    /// Its address; none for that of the vendor of this name.
    pub base_url: Option<String>,
    /// The protocol that it speaks, if that is not the usual one.
    pub wire: Option<String>,
    /// The source of its key.
    pub key: KeyFrom,
    /// Its models; none if it lists them itself.
    pub models: Vec<String>,
}

/// The source of a key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeyFrom {
    /// Nothing is said of it.
    #[default]
    Nowhere,
    /// The environment variable of this name.
    Variable(String),
    /// The file at this path, from the root or from home on.
    File(String),
    /// A command that prints it, as one types it.
    Command(String),
    /// The accounts. With a key, that one is kept there.
    Account(Option<Secret>),
}

/// A provider that was added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// The file in which it stands.
    pub file: PathBuf,
    /// The ids of its models as far as they are known, the provider's name before each.
    pub models: Vec<String>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A provider that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The file in which it stood.
    pub file: PathBuf,
    /// Notes for the user: what is left of it.
    pub notes: Vec<String>,
}

/// A provider that could not be added or removed. Nothing was written, but for what [`Self::KeyNotKept`] says.
#[derive(Debug, thiserror::Error)]
pub enum OwnProviderError {
    /// The user's file has a mistake.
    #[error("{0}. Correct that first; nothing was written")]
    Mistake(ConfigError),
    /// The user's file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file has one of this name.
    #[error(
        "{} has a provider `{name}` already{}; change it there, or remove it first", file.display(), on_line(*line)
    )]
    Taken {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// Its line.
        line: Option<usize>,
    },
    /// The file has none of this name.
    #[error("{} has no provider `{name}`{}", file.display(), others(there))]
    NotThere {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// Those that it has.
        there: Vec<String>,
    },
    /// It is written among other lines of the file.
    #[error(
        "`{name}` has no table of its own in {}{}, so it cannot be taken out without its neighbours; remove it there",
        file.display(),
        on_line(*line)
    )]
    AmongOthers {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// Its line.
        line: Option<usize>,
    },
    /// It is not known where the provider is.
    #[error("`{0}` is no vendor that Azimuth knows, so say where it is: --base-url https://host/v1")]
    NoAddress(String),
    /// The address may not be used.
    #[error(
        "{0}; if others on your network may read your key and your prompts, write `base_url` into config.toml yourself"
    )]
    Address(String),
    /// Something that was said of it is not right.
    #[error("{0}")]
    Wrong(String),
    /// The variable that is to hold the key is not set.
    #[error("the variable {0} is not set, so the key cannot be checked; set it first, or use --no-check")]
    UnsetVariable(String),
    /// The check has failed.
    #[error(transparent)]
    Check(#[from] Failed),
    /// It is written, but its key is not kept.
    #[error("{name} is added to {}, but its key is not kept: {problem}. Keep it with `azimuth auth login {name} --key`", file.display())]
    KeyNotKept {
        /// The name.
        name: String,
        /// The file.
        file: PathBuf,
        /// The problem.
        problem: StoreError,
    },
    /// The process ends.
    #[error("Azimuth is ending; nothing was written")]
    Ending,
}

fn on_line(line: Option<usize>) -> String {
    line.map(|line| format!(", on line {line}")).unwrap_or_default()
}

fn others(there: &[String]) -> String {
    if there.is_empty() { String::new() } else { format!("; it has {}", there.join(", ")) }
}

/// The user's file, with the providers in it.
#[derive(Clone, Debug)]
pub struct OwnProviders {
    file: PathBuf,
    environment: Environment,
}

impl OwnProviders {
    /// Those of this file; need not be there.
    pub fn new(file: PathBuf, environment: Environment) -> Self {
        Self { file, environment }
    }

    /// The vendor whose name this is, for people; none if it is free.
    pub fn vendor(name: &str) -> Option<&'static str> {
        providers::known_vendors().find(|(known, _)| *known == name).map(|(_, title)| title)
    }

    /// Checks a provider that is to be added. Nothing is written, so that it may be dropped at any time.
    ///
    /// # Errors
    /// Something is wrong with what is said of it, with the file, or with the provider itself; says what to do.
    pub async fn check(&self, addition: Addition, checks: Checks) -> Result<Checked, OwnProviderError> {
        let (own, said) = (self.clone(), addition.clone());
        let prepared = tokio::task::spawn_blocking(move || own.prepare(&said)).await;
        let mut prepared = prepared.map_err(|_| OwnProviderError::Ending)??;
        let mut settings = std::mem::take(&mut prepared.config.providers);
        settings.providers.retain(|known| known.name == addition.name);
        let base_url = settings.provider_mut(&addition.name).map(|provider| provider.base_url.clone());
        if let (Some(provider), KeyFrom::Account(Some(key))) = (settings.provider_mut(&addition.name), &addition.key) {
            provider.key = Some(key.clone());
            "the key that you gave".clone_into(&mut provider.key_source);
        }
        if let (KeyFrom::Variable(variable), false) = (&addition.key, checks == Checks::None)
            && (self.environment)(variable).is_none()
        {
            return Err(OwnProviderError::UnsetVariable(variable.clone()));
        }
        let found = checking::check(settings, &addition, checks).await?;
        prepared.notes.extend(found.notes);
        let models = found.models.iter().map(|id| format!("{}/{id}", addition.name)).collect();
        Ok(Checked { addition, prepared, base_url: base_url.unwrap_or_default(), models })
    }

    /// Adds a provider that was checked, and keeps its key if it is one of the accounts. To be awaited to its end.
    ///
    /// # Errors
    /// The file cannot be written, or the key not be kept; says what to do.
    pub async fn add(&self, checked: Checked) -> Result<Added, OwnProviderError> {
        let Checked { addition: Addition { name, key, .. }, prepared, base_url, models } = checked;
        let Prepared { before, after, config, mut notes } = prepared;
        self.write(before, after).await?;
        let file = self.file.clone();
        if let (KeyFrom::Account(Some(key)), Some(accounts)) = (key, &config.accounts) {
            let kept = async {
                let told = accounts.set_aside_if_damaged().await?;
                accounts.keep_key(&name, DEFAULT_LABEL, &base_url, key).await?;
                Ok::<_, StoreError>(told)
            };
            match kept.await {
                Ok(told) => notes.extend(told),
                Err(problem) => return Err(OwnProviderError::KeyNotKept { name, file, problem }),
            }
        }
        Ok(Added { file, models, notes })
    }

    /// Removes a provider. The keys that are kept for it stay.
    ///
    /// # Errors
    /// The file has none of this name, is no TOML, or cannot be read or written.
    pub async fn remove(&self, name: &str) -> Result<Removed, OwnProviderError> {
        let (own, wanted) = (self.clone(), name.to_owned());
        let prepared = tokio::task::spawn_blocking(move || own.prepare_removal(&wanted)).await;
        let Prepared { before, after, config: _, notes } = prepared.map_err(|_| OwnProviderError::Ending)??;
        self.write(before, after).await?;
        Ok(Removed { file: self.file.clone(), notes })
    }

    /// Writes which models a role has, or takes that out. Gives the file.
    ///
    /// # Errors
    /// The file has a mistake, or cannot be read or written; says what to do.
    pub(crate) async fn set_role(&self, role: Role, list: Option<String>) -> Result<(PathBuf, bool), OwnProviderError> {
        let own = self.clone();
        let prepared = tokio::task::spawn_blocking(move || own.prepare_role(role, list.as_deref())).await;
        let (before, after) = prepared.map_err(|_| OwnProviderError::Ending)??;
        let is_changed = before.as_deref().unwrap_or_default() != after;
        if is_changed {
            self.write(before, after).await?;
        }
        Ok((self.file.clone(), is_changed))
    }

    /// The file's text, and what it is with this value of a role's setting. Blocks.
    fn prepare_role(&self, role: Role, list: Option<&str>) -> Result<(Option<String>, String), OwnProviderError> {
        let before = self.read()?;
        let text = before.as_deref().unwrap_or_default();
        if let Some(mistake) = self.config(text).errors.into_iter().next() {
            return Err(OwnProviderError::Mistake(mistake));
        }
        let after = file::with_setting(text, role.setting(), list).map_err(OwnProviderError::Wrong)?;
        if let Some(mistake) = self.config(&after).errors.into_iter().next() {
            return Err(OwnProviderError::Wrong(mistake.problem));
        }
        Ok((before, after))
    }

    /// The file's new text, with the configuration that it comes to. Blocks.
    fn prepare(&self, addition: &Addition) -> Result<Prepared, OwnProviderError> {
        let name = &addition.name;
        let before = self.read()?;
        let text = before.as_deref().unwrap_or_default();
        let config_before = self.config(text);
        if let Some(mistake) = config_before.errors.into_iter().next() {
            return Err(OwnProviderError::Mistake(mistake));
        }
        if file::names(text).contains(name) {
            let (file, line) = (self.file.clone(), line_of_provider(text, name));
            return Err(OwnProviderError::Taken { name: name.clone(), file, line });
        }
        no_key_is_in(addition)?;
        match &addition.base_url {
            Some(url) => drop(Vendor::address("base_url", url).map_err(OwnProviderError::Address)?),
            None if Self::vendor(name).is_none() => return Err(OwnProviderError::NoAddress(name.clone())),
            None => {}
        }
        let command = match &addition.key {
            KeyFrom::Command(command) => {
                let words = key_command::words(command);
                words.map_err(|problem| OwnProviderError::Wrong(format!("the command for the key: {problem}")))?
            }
            _ => Vec::new(),
        };
        let after = file::with(text, addition, &command).map_err(OwnProviderError::Wrong)?;
        let config = self.config(&after);
        if let Some(ConfigError { problem, .. }) = config.errors.first() {
            // The line is that of a text that nobody has seen.
            let behind = problem.strip_prefix("line ").and_then(|rest| rest.split_once(": ")).map(|(_, rest)| rest);
            return Err(OwnProviderError::Wrong(behind.unwrap_or(problem).to_owned()));
        }
        let mut notes: Vec<_> =
            config.warnings.iter().filter(|text| !config_before.warnings.contains(text)).cloned().collect();
        if let Some(title) = Self::vendor(name) {
            notes
                .push(format!("`{name}` is {title}'s name; what you said counts before its own address and variables"));
        }
        if matches!(addition.key, KeyFrom::Account(_))
            && let Some(first) = config.source_before_account(name, DEFAULT_LABEL, &self.environment)
        {
            notes.push(format!("its key among the accounts is not used yet: {first} counts before it"));
        }
        Ok(Prepared { before, after, config, notes })
    }

    fn prepare_removal(&self, name: &str) -> Result<Prepared, OwnProviderError> {
        let before = self.read()?;
        let text = before.as_deref().unwrap_or_default();
        let unread = || self.config(text).errors.into_iter().next().map(OwnProviderError::Mistake);
        let after = file::without(text, name).map_err(|left| {
            let (name, file) = (name.to_owned(), self.file.clone());
            match left {
                Left::AmongOthers => {
                    let line = line_of_provider(text, &name);
                    OwnProviderError::AmongOthers { name, file, line }
                }
                Left::NotThere => {
                    let there = file::names(text);
                    let mistake = unread().filter(|_| there.is_empty());
                    mistake.unwrap_or(OwnProviderError::NotThere { name, file, there })
                }
            }
        })?;
        let config = self.config(&after);
        let named = config.models_of(name).into_iter();
        let mut notes: Vec<_> =
            named.map(|(setting, model)| format!("`{setting}` still names `{model}`; change it")).collect();
        let kept = config.accounts.as_ref().and_then(|accounts| accounts.list().ok()).unwrap_or_default();
        if kept.iter().any(|account| account.provider == name) {
            notes.push(format!("its account is still kept; `azimuth auth logout {name}` forgets it"));
        }
        if config.providers.providers.iter().any(|known| known.name == name) {
            notes.push(format!("`{name}` is still there by the environment; `disabled_providers` switches it off"));
        }
        Ok(Prepared { before, after, config, notes })
    }

    /// The configuration that a text of the file comes to.
    fn config(&self, text: &str) -> Config {
        let environment = self.environment;
        let sources = Sources {
            user_file: self.file.clone(),
            folders: &[],
            editor: Editor::default(),
            environment: &move |name: &str| environment(name),
        };
        load_with(sources, Ok(text))
    }

    /// The file's text; none if there is no file. Blocks.
    fn read(&self) -> Result<Option<String>, FileError> {
        match files::read_of_user(&self.file) {
            Ok(decoded) => Ok(Some(decoded.text.to_string())),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Puts a new text in the place of the one that was read, unless somebody has changed it since.
    async fn write(&self, before: Option<String>, after: String) -> Result<(), OwnProviderError> {
        let file = self.file.clone();
        let written = tokio::task::spawn_blocking(move || {
            // Those who keep such files elsewhere make a link of it, which stays one.
            let file = without_links(&file, LINKS);
            match before {
                Some(before) => files::write(&file, &after, &project::text::hash(&before)),
                None => files::create(&file, &after),
            }
        });
        written.await.map_err(|_| OwnProviderError::Ending)??;
        Ok(())
    }
}

/// A provider that has passed its checks and is not yet written.
#[derive(Debug)]
pub struct Checked {
    addition: Addition,
    prepared: Prepared,
    base_url: String,
    models: Vec<String>,
}

/// A change of the file that is ready.
#[derive(Debug)]
struct Prepared {
    /// The text that was read; none if there was no file.
    before: Option<String>,
    after: String,
    /// The configuration that the new text comes to.
    config: Config,
    notes: Vec<String>,
}

/// A path with its links resolved, also one to a file that is not there; `most` of them. Asks the disk.
fn without_links(path: &Path, most: usize) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.read_link(), path.parent(), path.file_name()) {
        (Ok(target), Some(parent), _) if most > 0 => without_links(&parent.join(target), most - 1),
        (_, Some(parent), Some(name)) => without_links(parent, most).join(name),
        _ => path.to_owned(),
    }
}

/// That what is written into the file is no key.
///
/// # Errors
/// Something of it may be one; says what to do, without a word of it.
fn no_key_is_in(addition: &Addition) -> Result<(), OwnProviderError> {
    let wrong = |text: &str| Err(OwnProviderError::Wrong(text.to_owned()));
    let is_key = |text: &str| keys::left_out(text) != text;
    if let KeyFrom::Variable(variable) = &addition.key
        && (!is_variable(variable) || is_key(variable))
    {
        return wrong(
            "the variable for the key must be a name, of letters, digits and `_`; what you gave is none or looks like \
             a key, which is not written into config.toml",
        );
    }
    let Some(url) = addition.base_url.as_deref().and_then(|url| Vendor::address("base_url", url).ok()) else {
        return Ok(());
    };
    if !url.username().is_empty() || url.password().is_some() || url.query_pairs().any(|(_, value)| is_key(&value)) {
        return wrong(
            "`base_url` holds a password or a key, which is not written into config.toml; leave it out, and say where \
             the key comes from: --key-env VARIABLE, --key-file FILE, --key-command COMMAND or --sign-in",
        );
    }
    Ok(())
}

/// True for what can be the name of a variable.
fn is_variable(name: &str) -> bool {
    !name.starts_with(|char: char| char.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests;
