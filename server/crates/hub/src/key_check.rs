//! Asking a vendor about a key by its list of models, which costs nothing. No word of it holds the key.

use protocol::auth::{KeyCheck, KeyState};
use providers::{Catalog, Secret, Settings, Unlisted};

/// A key that its vendor refuses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{words}; it was not kept. Check that the key is whole and of this vendor, or keep it all the same with `azimuth auth \
     login {provider} --key --unchecked`"
)]
pub struct KeyRefused {
    provider: String,
    words: String,
}

/// Asks a provider about a key that is not kept yet. Only a refusal is an error: a vendor that cannot be reached, or
/// has no list, says nothing of the key.
///
/// # Errors
/// The vendor does not know the key.
pub async fn check_new(settings: &Settings, provider: &str, key: &Secret) -> Result<KeyCheck, KeyRefused> {
    let checked = check(settings.with_only(provider, key), provider).await;
    match checked.state {
        KeyState::Refused => Err(KeyRefused { provider: provider.to_owned(), words: checked.words }),
        KeyState::Listed | KeyState::Forbidden | KeyState::Unknown => Ok(checked),
    }
}

/// Asks a provider about the key that it is asked with, of several the one in use.
pub async fn check(settings: Settings, provider: &str) -> KeyCheck {
    let known = settings.providers.iter().find(|known| known.name == provider);
    let host = known.map(|known| known.host()).unwrap_or_default();
    if let Some(problem) = known.and_then(|known| known.missing()) {
        return KeyCheck { state: KeyState::Unknown, words: format!("the key is not checked: {problem}") };
    }
    let (state, words) = match Catalog::new(settings).ask_for_list(provider).await {
        Ok(_) => (KeyState::Listed, format!("{provider} at {host} listed its models for the key")),
        Err(Unlisted::Refused(problem)) => {
            (KeyState::Refused, format!("{provider} at {host} refuses the key: {problem}"))
        }
        Err(Unlisted::Forbidden(problem)) => {
            (KeyState::Forbidden, format!("{provider} at {host} does not list its models for the key: {problem}"))
        }
        Err(Unlisted::NoList(problem)) => (
            KeyState::Unknown,
            format!("the key is not checked, since {provider} at {host} lists no models: {problem}"),
        ),
        Err(Unlisted::Unreachable(problem)) => (
            KeyState::Unknown,
            format!("the key is not checked, since {provider} at {host} does not answer: {problem}"),
        ),
        Err(Unlisted::KeyUnknown(problem) | Unlisted::Other(problem)) => {
            (KeyState::Unknown, format!("the key is not checked: {problem}"))
        }
    };
    KeyCheck { state, words }
}
