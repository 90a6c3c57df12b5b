//! The secrets that no model sees, found together: those that the configuration lists, those of the environment, the
//! keys of providers, and the accounts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use accounts::{Accounts, Proof};
use async_trait::async_trait;
use mask::{Counts, Looks, Mask, Masks, Named, Secret, is_worth_hiding};

use crate::Parts;
use crate::config::Config;
use crate::config::secrets::{Known, Listed};
use crate::feed::blocking;
use crate::log;
use crate::sockets::{Sockets, random};

/// The most values that go on being hidden after they are no secret's any more.
const MOST_FORMER: usize = 256;
/// The longest file that may be a secret, in bytes. A key is shorter.
const LONGEST_FILE: u64 = 64 * 1024;

/// The mask of the secrets that this configuration comes to, as a server has it.
///
/// # Errors
/// A secret is not known; says which, and what to do.
pub async fn mask(sockets: &Sockets, config: Arc<Config>) -> Result<Arc<Mask>, String> {
    Secrets::new(sockets, config).mask().await
}

/// The secrets that this configuration comes to, without their values.
///
/// # Errors
/// A secret is not known; says which, and what to do.
pub async fn list(config: Arc<Config>) -> Result<Vec<Named>, String> {
    Ok(Secrets::with_key(Vec::new(), config).mask().await?.named().to_vec())
}

/// The listed secrets that are not hidden since their variables have nothing to hide, and why.
pub fn passed_over<'l>(listed: impl IntoIterator<Item = &'l Listed>) -> Vec<String> {
    let why = |listed: &Listed| match &listed.known {
        Known::PassedOver { variable, why } => {
            Some(format!("`{}`: not hidden, since the variable {variable} {why}", listed.name))
        }
        Known::Value(_) | Known::Pattern(_) | Known::File(_) | Known::Command(_) | Known::Faulty => None,
    };
    listed.into_iter().filter_map(why).collect()
}

/// The secrets of a process, for all of its sessions: what one project lists is hidden in every one.
pub(crate) struct Secrets {
    key: Vec<u8>,
    state: Mutex<State>,
}

struct State {
    config: Arc<Config>,
    /// The secrets that projects list and the configuration of the process does not.
    more: Vec<Listed>,
    /// The secrets that were hidden last, and behind them those that were before: a token that is renewed, and a key
    /// that is replaced, still stand in conversations.
    hidden: Vec<Secret>,
    /// The last mask, and what it was made of.
    mask: Option<(Vec<Secret>, Arc<Mask>)>,
    counts: Counts,
}

impl Secrets {
    /// The secrets of a process, which the models of its catalog do not see from now on.
    pub(crate) fn in_front_of_models(parts: &Parts) -> Arc<Self> {
        let secrets = Self::new(&parts.sockets, Arc::clone(&parts.config));
        parts.catalog.hide_secrets(Arc::clone(&secrets) as Arc<dyn Masks>);
        secrets
    }

    /// The secrets of this configuration. Their placeholders depend on the key of the installation. Blocks shortly.
    fn new(sockets: &Sockets, config: Arc<Config>) -> Arc<Self> {
        let key = sockets.key_for("placeholders of secrets");
        let key = key.inspect_err(|error| tracing::warn!(%error, "placeholders of secrets change at each start"));
        // Only that they stay the same depends on the key's file.
        Self::with_key(key.or_else(|_| random()).unwrap_or_default(), config)
    }

    fn with_key(key: Vec<u8>, config: Arc<Config>) -> Arc<Self> {
        let state = State { config, more: Vec::new(), hidden: Vec::new(), mask: None, counts: Counts::default() };
        Arc::new(Self { key, state: Mutex::new(state) })
    }

    /// Takes another configuration of the process.
    pub(crate) fn configure(&self, config: Arc<Config>) {
        self.with(|state| state.config = config);
    }

    /// Takes in what the projects of a session list. It is hidden until the process ends.
    pub(crate) fn learn(&self, config: &Config) {
        self.with(|state| {
            for listed in config.secrets.iter().filter(|listed| listed.is_project) {
                let is_same = |known: &Listed| (&known.name, &known.source) == (&listed.name, &listed.source);
                if !state.config.secrets.iter().any(is_same) {
                    state.more.retain(|known| !is_same(known));
                    state.more.push(listed.clone());
                }
            }
        });
    }

    /// The listed secrets that are not hidden since their variables have nothing to hide, and why.
    pub(crate) fn passed_over(&self) -> Vec<String> {
        self.with(|state| passed_over(state.config.secrets.iter().chain(&state.more)))
    }

    /// True if secrets are hidden.
    pub(crate) fn are_hidden(&self) -> bool {
        self.with(|state| state.config.hide_secrets)
    }

    /// These secrets, and behind them the values that were hidden before.
    fn with_former(&self, now: Vec<Secret>) -> Vec<Secret> {
        let is_kept = |secret: &&Secret| matches!(&secret.looks, Looks::Value(value) if value.len() >= mask::SHORTEST);
        self.with(|state| {
            let former = state.hidden.iter().filter(|former| now.iter().all(|secret| secret.looks != former.looks));
            let former: Vec<_> = former.take(MOST_FORMER).cloned().collect();
            state.hidden = now.iter().filter(is_kept).chain(&former).cloned().collect();
            now.into_iter().chain(former).collect()
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Masks for Secrets {
    async fn mask(&self) -> Result<Arc<Mask>, String> {
        let (config, more) = self.with(|state| (Arc::clone(&state.config), state.more.clone()));
        let secrets = match config.hide_secrets {
            true => self.with_former(gathered(&config, &more).await?),
            false => Vec::new(),
        };
        let known = self.with(|state| state.mask.clone().filter(|(of, _)| *of == secrets));
        if let Some((_, mask)) = known {
            return Ok(mask);
        }
        let mask = Arc::new(Mask::new(&self.key, &secrets, self.with(|state| state.counts.clone()))?);
        log::hide(Arc::clone(&mask));
        self.with(|state| state.mask = Some((secrets, Arc::clone(&mask))));
        Ok(mask)
    }
}

/// All secrets as they are now. Those that the user lists come first, since their names say most.
async fn gathered(config: &Config, more: &[Listed]) -> Result<Vec<Secret>, String> {
    let listed = config.secrets.iter().chain(more);
    let files: Vec<_> = listed.clone().filter_map(file_of).collect();
    let accounts = config.accounts.clone();
    let read = blocking(move || Ok((read(files), accounts.map(|accounts| of_accounts(&accounts)).unwrap_or_default())));
    let (files, of_accounts) = read.await.map_err(|error| error.to_string())?;
    let mut secrets = Vec::new();
    for listed in listed {
        secrets.extend(value_of(listed, &files).await.map_err(|problem| {
            let Listed { name, source, .. } = listed;
            format!(
                "nothing is sent to a model, since the secret `{name}` ({source}) is not known and so cannot be hidden: \
                 {problem}. Fix or remove it, or set `hide_secrets = false`"
            )
        })?);
    }
    secrets.extend(of_accounts);
    for provider in &config.providers.providers {
        let name = format!("{}.key", provider.name);
        let keys = provider.known_secrets();
        secrets.extend(keys.iter().filter_map(|key| found(&name, "the key of a provider", key.expose())));
    }
    Ok(secrets)
}

fn file_of(listed: &Listed) -> Option<PathBuf> {
    match &listed.known {
        Known::File(file) => Some(file.clone()),
        Known::Value(_) | Known::Pattern(_) | Known::Command(_) | Known::PassedOver { .. } | Known::Faulty => None,
    }
}

type Files = HashMap<PathBuf, Result<String, String>>;

async fn value_of(listed: &Listed, files: &Files) -> Result<Option<Secret>, String> {
    let looks = match &listed.known {
        Known::Value(value) => Looks::Value(value.expose().to_owned()),
        Known::Pattern(pattern) => Looks::Pattern(pattern.clone()),
        Known::File(file) => Looks::Value(files.get(file).cloned().unwrap_or_else(|| Err("it was not read".into()))?),
        Known::Command(command) => {
            let value = command.key().await.map_err(|problem| format!("`{}`: {problem}", command.program()))?;
            Looks::Value(value.expose().to_owned())
        }
        Known::PassedOver { .. } => return Ok(None),
        Known::Faulty => return Err("there is a mistake in its settings".to_owned()),
    };
    let Listed { name, source, replace_with, .. } = listed.clone();
    Ok(Some(Secret { name, source, looks, replace_with }))
}

/// A secret that nobody listed; none if it could be an ordinary word.
fn found(name: &str, source: &str, value: &str) -> Option<Secret> {
    let (name, source) = (name.to_owned(), source.to_owned());
    let looks = Looks::Value(value.to_owned());
    is_worth_hiding(value).then_some(Secret { name, source, looks, replace_with: None })
}

/// The secrets of the accounts that the user keeps. A file that cannot be read has none that could be sent.
fn of_accounts(accounts: &Accounts) -> Vec<Secret> {
    let credentials = accounts.store().read().map(|contents| contents.credentials).unwrap_or_default();
    let all = credentials.iter().flat_map(|credential| {
        let (name, source) = (&credential.provider, "an account that Azimuth keeps");
        let refresh = match &credential.proof {
            Proof::Key(_) => None,
            Proof::Tokens(tokens) => tokens.refresh.as_ref(),
        };
        let refresh = refresh.and_then(|token| found(&format!("{name}.refresh_token"), source, token.expose()));
        found(&format!("{name}.account"), source, credential.secret().expose()).into_iter().chain(refresh)
    });
    all.collect()
}

#[expect(clippy::disallowed_methods, reason = "these are the user's own files, named in their configuration")]
fn read(files: Vec<PathBuf>) -> Files {
    let read = |file: &Path| {
        let unread = |error: std::io::Error| format!("{} cannot be read: {error}", file.display());
        let metadata = std::fs::metadata(file).map_err(unread)?;
        if !metadata.is_file() || metadata.len() > LONGEST_FILE {
            return Err(format!("{} is no file of at most {LONGEST_FILE} bytes", file.display()));
        }
        let text = std::fs::read_to_string(file).map_err(unread)?.trim().to_owned();
        if text.is_empty() { Err(format!("{} is empty", file.display())) } else { Ok(text) }
    };
    files.into_iter().map(|file| (file.clone(), read(&file))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A configuration that lists one secret of this value.
    fn lists(value: &str) -> Arc<Config> {
        let listed = Listed {
            name: "token".to_owned(),
            source: "a test".to_owned(),
            known: Known::Value(providers::Secret::new(value)),
            replace_with: None,
            is_project: false,
        };
        Arc::new(Config { secrets: vec![listed], ..Config::default() })
    }

    #[tokio::test]
    async fn a_value_that_was_hidden_is_hidden_and_known_to_the_gate_until_the_process_ends() {
        let secrets = Secrets::with_key(b"a key".to_vec(), lists("the-first-1"));
        let hidden = secrets.mask().await.unwrap().hide("the-first-1").into_owned();
        secrets.configure(lists("the-second-2"));
        let mask = secrets.mask().await.unwrap();
        assert_eq!(mask.hide("the-first-1"), hidden, "the same placeholder, for the vendor's cache");
        assert!(!mask.hide("the-second-2").contains("second"));
        assert_eq!(mask.names_in(&json!({ "command": "curl -d the-first-1" })).len(), 1);
        assert!(Arc::ptr_eq(&mask, &secrets.mask().await.unwrap()), "nothing has changed");
    }

    #[tokio::test]
    async fn a_session_teaches_what_its_project_lists_and_not_what_the_user_has_removed() {
        let mistake = Listed { known: Known::Faulty, ..lists("").secrets[0].clone() };
        let faulty = Config { secrets: vec![mistake], ..Config::default() };
        let secrets = Secrets::with_key(b"a key".to_vec(), Arc::new(faulty.clone()));
        assert!(secrets.mask().await.unwrap_err().contains("`token`"));
        secrets.configure(Arc::new(Config::default()));
        // A session still has the configuration of before.
        secrets.learn(&faulty);
        assert!(secrets.mask().await.unwrap().is_empty());
        let mut of_project = lists("the-first-1").secrets[0].clone();
        of_project.is_project = true;
        secrets.learn(&Config { secrets: vec![of_project], ..faulty });
        assert_eq!(secrets.mask().await.unwrap().named().len(), 1);
    }

    #[test]
    fn so_many_former_values_are_kept_and_the_oldest_go_first() {
        let secrets = Secrets::with_key(Vec::new(), Arc::new(Config::default()));
        let secret = |at: usize| found("token", "a test", &format!("another-{at}-0")).unwrap();
        let mut last = Vec::new();
        for at in 0..MOST_FORMER + 9 {
            last = secrets.with_former(vec![secret(at)]);
        }
        assert_eq!(last.len(), 1 + MOST_FORMER);
        assert_eq!((last.first(), last.last()), (Some(&secret(MOST_FORMER + 8)), Some(&secret(8))));
    }

    #[tokio::test]
    async fn a_value_that_is_too_short_is_an_error_only_while_it_is_listed() {
        let secrets = Secrets::with_key(b"a key".to_vec(), lists("123"));
        assert!(secrets.mask().await.unwrap_err().contains("`token`"));
        secrets.configure(lists("the-first-1"));
        assert!(secrets.mask().await.is_ok());
    }
}
