//! Asking a vendor about a key, which costs nothing. No word of it holds the key.

use futures_util::future::join_all;
use protocol::auth::{KeyCheck, KeyState};
use providers::{Catalog, OfKey, Secret, Settings, Unlisted};

/// A key that its vendor refuses. Each front says how it is kept all the same.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{words} It was not kept. Check that it is whole and of this vendor")]
pub struct KeyRefused {
    words: String,
}

/// Asks a provider about a key that is not kept yet. Only a refusal is an error: a vendor that cannot be reached, or
/// lists no models, says nothing of the key.
///
/// # Errors
/// The vendor does not know the key.
pub async fn check_new(settings: &Settings, provider: &str, key: &Secret) -> Result<KeyCheck, KeyRefused> {
    let checked = check(settings.with_only(provider, key), provider).await;
    match checked.state {
        KeyState::Refused => Err(KeyRefused { words: checked.words }),
        KeyState::Taken | KeyState::Forbidden | KeyState::Unknown => Ok(checked),
    }
}

/// Asks a provider about each of its keys and accounts by itself, at the same time. They have names if there are
/// several.
pub async fn check_each(settings: &Settings, provider: &str) -> Vec<(Option<String>, KeyCheck)> {
    let each = settings.each_alone(provider).into_iter();
    join_all(each.map(|(name, alone)| async move { (name, check(alone, provider).await) })).await
}

/// Asks a provider about the only key of these settings. Nothing is sent to one that is ruled out, or whose key would
/// not be found out about.
async fn check(settings: Settings, provider: &str) -> KeyCheck {
    if let Some(problem) = settings.why_unchecked(provider) {
        return KeyCheck { state: KeyState::Unknown, words: sentence("The key is not checked: ", &problem) };
    }
    let known = settings.providers.iter().find(|known| known.name == provider);
    let who = known.map(|known| format!("{} ({})", known.title(), known.host())).unwrap_or_default();
    let (state, before, problem) = match Catalog::new(settings).ask_about_key(provider).await {
        Ok(OfKey::Taken) => (KeyState::Taken, format!("{who} takes the key"), String::new()),
        Ok(OfKey::Public) => {
            let words = format!("{who} lists its models without a key too, so its list says nothing of the key");
            (KeyState::Unknown, words, String::new())
        }
        Ok(OfKey::Empty) => {
            (KeyState::Unknown, format!("{who} lists no model, which says nothing of the key"), String::new())
        }
        Err(Unlisted::Refused(problem)) => (KeyState::Refused, format!("{who} refuses the key: "), problem),
        Err(Unlisted::Ended(problem)) => {
            (KeyState::Refused, format!("The account at {who} cannot be used any more: "), problem)
        }
        Err(Unlisted::Forbidden(problem)) => {
            (KeyState::Forbidden, format!("{who} does not list its models for the key: "), problem)
        }
        Err(Unlisted::NoList(problem)) => {
            (KeyState::Unknown, format!("The key is not checked, since {who} lists no models: "), problem)
        }
        Err(Unlisted::Unreachable(problem)) => {
            (KeyState::Unknown, format!("The key is not checked, since {who} does not answer: "), problem)
        }
        Err(Unlisted::KeyUnknown(problem) | Unlisted::Other(problem)) => {
            (KeyState::Unknown, format!("The key of {who} is not checked: "), problem)
        }
    };
    KeyCheck { state, words: sentence(&before, &problem) }
}

/// A whole sentence, however the words of others in it end.
fn sentence(before: &str, problem: &str) -> String {
    let words = format!("{before}{problem}");
    let words = words.trim_end_matches(['.', ':', ' ']);
    if words.ends_with(['!', '?', '…']) { words.to_owned() } else { format!("{words}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_others_end_in_one_full_stop() {
        for (problem, ends) in [
            ("status 401: it is wrong.", "status 401: it is wrong."),
            ("status 401: it is wrong", "status 401: it is wrong."),
            ("status 500: ", "status 500."),
            ("Is it running?", "Is it running?"),
            ("", "refuses the key."),
        ] {
            let words = sentence("It refuses the key: ", problem);
            assert!(words.ends_with(ends) && !words.ends_with(".."), "{words}");
        }
    }
}
