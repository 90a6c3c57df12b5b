//! The source of each provider's key, for words. No key is in it.

use accounts::{Listed, Status};
use protocol::auth::KeyStatus;
use providers::Provider;

use super::Config;

impl Config {
    /// The source of the key of each provider that has one, but for those of which nobody spoke. `kept` are the
    /// accounts.
    pub fn key_statuses(&self, kept: &[Listed], environment: &dyn Fn(&str) -> Option<String>) -> Vec<KeyStatus> {
        let asked = self.providers.providers.iter().filter(|provider| !provider.is_unasked());
        asked.filter_map(|provider| key_status(provider, kept, environment)).collect()
    }

    /// The source of a provider's key that counts before the account with this label; none if there is none.
    pub fn source_before_account(
        &self,
        provider: &str,
        label: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<String> {
        let is_it = |known: &&Provider| known.name == provider && !known.lists_account(label);
        let provider = self.providers.providers.iter().find(is_it)?;
        key_status(provider, &[], environment).map(|status| status.source)
    }

    /// Tells of several keys and accounts at a provider each, with its rest.
    pub async fn tell_members(&self, statuses: &mut [KeyStatus]) {
        for status in statuses {
            if let Some(provider) = self.providers.providers.iter().find(|known| known.name == status.provider) {
                status.members = provider.members().await;
            }
        }
    }
}

/// The source of a provider's key; none if it has none.
pub fn key_status(
    provider: &Provider,
    kept: &[Listed],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<KeyStatus> {
    let status = |source: String, variable: Option<&str>, label: Option<String>| KeyStatus {
        provider: provider.name.clone(),
        source,
        variable: variable.map(str::to_owned),
        label,
        members: Vec::new(),
    };
    if provider.lists_keys() && provider.has_key() {
        return Some(status("the list of keys in the configuration".to_owned(), None, None));
    }
    if let Some(credentials) = provider.signed_by() {
        let unless =
            if provider.is_unasked() { ", found and not used unless you choose one of its models" } else { "" };
        return Some(status(format!("{credentials}{unless}"), None, None));
    }
    if provider.key.is_some() || (provider.has_key() && !provider.has_account()) {
        let variable = provider.key_source.split(" (").next().filter(|name| environment(name).is_some());
        return Some(match variable {
            Some(name) => status(format!("the environment variable {name}"), Some(name), None),
            None => status("the configuration".to_owned(), None, None),
        });
    }
    // One that was given for another server is not sent to this one.
    let server = accounts::vendor::origin(&provider.base_url).unwrap_or_default();
    let counts = |it: &&Listed| it.provider == provider.name && it.origin == server && it.status == Status::Usable;
    let account = kept.iter().find(counts).filter(|_| provider.has_account())?;
    Some(status(format!("the account `{}`", account.label), None, Some(account.label.clone())))
}
