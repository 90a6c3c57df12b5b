//! The models that a provider tells of, and its last list, kept beyond this process.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ports::date;
use protocol::model::{Price, ThinkingLevel};
use serde::{Deserialize, Serialize};

use crate::aws::hmac;
use crate::data::Thinking;
use crate::keep::KeepLists;
use crate::secret::Secret;
use crate::settings::Provider;

/// The words in the ids of models that are listed beside those that can be talked to.
const NOT_FOR_TALKING: &[&str] = &["embed", "rerank", "whisper", "tts-", "-tts", "dall-e", "moderation", "image"];

/// A model that a provider tells of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) context: Option<u64>,
    pub(super) max_output: Option<u64>,
    pub(super) price: Option<Price>,
    pub(super) images: Option<bool>,
    pub(super) thinking: Option<bool>,
    /// Its readable name, if the list has one as well as the id.
    pub(super) name: Option<String>,
    /// The way in which it thinks, if the list says that.
    pub(super) way: Option<Thinking>,
    /// The levels at which it can be told to think, if the list says them.
    pub(super) levels: Option<Vec<ThinkingLevel>>,
    /// The largest window that it can have here, whatever else is said of it.
    pub(super) most: Option<u64>,
    /// A problem that the user should know of before it is chosen, with what to do.
    pub(super) warning: Option<String>,
}

/// True if a listed model can be talked to, by its id.
pub(super) fn is_for_talking(id: &str) -> bool {
    !NOT_FOR_TALKING.iter().any(|word| id.contains(word))
}

/// A list of models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// When it was given, in seconds since 1970.
    at: u64,
    /// A hash of the address, the account and the region: the same name may stand for another tomorrow.
    of: u64,
    pub(super) models: Vec<Listed>,
}

impl Kept {
    /// A list that was given just now.
    pub(super) fn now(provider: &Provider, models: Vec<Listed>) -> Self {
        Self { at: now(), of: whose(provider), models }
    }

    /// How long ago it was given.
    pub(super) fn age(&self) -> Duration {
        Duration::from_secs(now().saturating_sub(self.at))
    }

    /// The day on which it was given, as `2026-11-28`.
    pub(super) fn day(&self) -> String {
        let (year, month, day) = date::of_day(self.at / 86_400);
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Reads the last list of a provider. What cannot be read, or is another server's or account's, is none.
    pub(super) async fn read(provider: &Provider, keeper: Arc<dyn KeepLists>) -> Option<Self> {
        let name = name(provider);
        let text = tokio::task::spawn_blocking(move || keeper.kept(&name)).await.ok()??;
        let kept: Self = serde_json::from_str(&text).ok()?;
        (kept.of == whose(provider) && !kept.models.is_empty()).then_some(kept)
    }

    /// Writes it.
    pub(super) async fn write(&self, provider: &Provider, keeper: Arc<dyn KeepLists>) {
        let (name, Ok(text)) = (name(provider), serde_json::to_string(self)) else { return };
        let _ = tokio::task::spawn_blocking(move || keeper.keep(&name, &text)).await;
    }
}

fn name(provider: &Provider) -> String {
    format!("models_of {}", provider.name)
}

/// A hash of the address, which may hold a password, of the account, which may be the key itself, and of the region.
fn whose(provider: &Provider) -> u64 {
    let account = provider.asked_as();
    let account = account.as_ref().map(Secret::expose).unwrap_or_default();
    // The address of a server in AWS's stead names neither the credentials nor the region, and each has a list of its
    // own.
    let parts = [Some(provider.base_url.as_str()), Some(account), provider.signed_by(), provider.signed_region()];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let code = hmac(b"a list of models", parts.join("\0").as_bytes());
    code.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

/// The seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
