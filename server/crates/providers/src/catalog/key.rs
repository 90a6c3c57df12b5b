//! Asking a vendor about a key, which costs nothing.

use super::Catalog;
use super::listing::{Unlisted, ask_now, ask_place, lists_for_anybody};

/// The answer of a vendor that was asked with a key and refused nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfKey {
    /// It takes the key.
    Taken,
    /// It lists its models to whoever asks, so that it says nothing of the key.
    Public,
    /// It lists no model, and so says nothing of the key either.
    Empty,
}

impl Catalog {
    /// Asks a provider about the key that it is asked with: at the place where it tells the credit of a key, if it has
    /// one, else by its list of models, once with the key and once without.
    ///
    /// # Errors
    /// It does not take the key, or cannot be asked; says why.
    pub async fn ask_about_key(&self, provider: &str) -> Result<OfKey, Unlisted> {
        let state = self.state();
        let Some(source) = state.sources().find(|source| source.provider().name == provider) else {
            return Err(Unlisted::Other(format!("there is no provider `{provider}`")));
        };
        let provider = source.provider();
        // A gateway in its stead need not have the place, and may keep it for others than this key.
        let mut doubt = None;
        if let Some(path) = provider.vendor().and_then(|vendor| vendor.quota_path.as_deref()) {
            match ask_place(provider, path, &state.http).await {
                Err(Unlisted::NoList(_)) => {}
                Err(refusal) if refusal.is_refusal() && !provider.is_home() => doubt = Some(refusal),
                answer => return answer.map(|()| OfKey::Taken),
            }
        }
        let is_empty = ask_now(provider, &state.http).await?.is_empty();
        if !is_empty && !lists_for_anybody(provider, &state.http).await? {
            return Ok(OfKey::Taken);
        }
        match doubt {
            Some(refusal) => Err(refusal),
            None => Ok(if is_empty { OfKey::Empty } else { OfKey::Public }),
        }
    }
}
