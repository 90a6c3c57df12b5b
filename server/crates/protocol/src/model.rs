//! `azimuth/model/*`: the available models, and the model of a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelInfo {
    /// The id to select it with: `provider/name`, such as `anthropic/claude-sonnet-5-5`.
    pub id: String,
    /// Its name, to be shown.
    pub name: String,
    /// Other names that select it, such as `opus`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// The provider, such as `anthropic`, `openai`, `ollama`, `scripted`.
    pub provider: String,
    /// The context window in tokens.
    pub context_tokens: u64,
    /// The longest answer in tokens.
    pub max_output_tokens: u64,
    /// The price; absent if unknown, zero if it is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// True if it can be used now: there is a key, or a local server answers.
    pub available: bool,
    /// The reason why it cannot be used, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_because: Option<String>,
    /// True if the configuration rules it out (`enabled_models`, `disabled_providers`): a picker leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ruled_out: bool,
    /// True if it takes images.
    #[serde(default)]
    pub images: bool,
    /// True if it can think before it answers.
    #[serde(default)]
    pub thinking: bool,
    /// The levels at which it can be told to think, the lowest first; empty if it can be told none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ThinkingLevel>,
    /// The level at which it thinks if nobody chooses another for a session; absent if it thinks as it does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<ThinkingLevel>,
    /// A problem that the user should know of before choosing it, and what to do, such as a window of Ollama's that is
    /// too small. It can be used all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// True for a model that plays a script; an interface must say so.
    #[serde(default)]
    pub scripted: bool,
}

impl ModelInfo {
    /// The name that selects it with its level: `provider/name`, or `provider/name:level`.
    pub fn selector(&self) -> String {
        selector(&self.id, self.level)
    }
}

/// How long a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ThinkingLevel {
    /// Not at all.
    Off,
    /// As little as it can.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as it can.
    Max,
}

impl ThinkingLevel {
    /// All levels, the lowest first.
    pub const ALL: [Self; 7] = [Self::Off, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// The name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The level with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name().eq_ignore_ascii_case(name))
    }
}

/// The word, beside the names of levels, for as much as a model thinks by itself.
pub const DEFAULT_LEVEL: &str = "default";

/// The name that selects a model at a level: its id, and behind a colon the level.
pub fn selector(model: &str, level: Option<ThinkingLevel>) -> String {
    level.map_or_else(|| model.to_owned(), |level| format!("{model}:{}", level.name()))
}

/// A name without the level behind it. Other words behind a colon are a part of it (`qwen3:8b`).
pub fn without_level(name: &str) -> &str {
    let is_level = |end: &str| end.eq_ignore_ascii_case(DEFAULT_LEVEL) || ThinkingLevel::from_name(end).is_some();
    name.rsplit_once(':').filter(|(_, end)| is_level(end)).map_or(name, |(name, _)| name)
}

/// The reason why a turn asks another model than its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwitchReason {
    /// The vendor takes no more requests for a while.
    RateLimited,
    /// Its quota, or the account's credit, is used up.
    QuotaUsedUp,
    /// Its key is refused, or there is none, or its vendor does not serve it.
    Unauthorized,
    /// Its requests failed until no retry was left.
    Failed,
    /// The conversation no longer fits into its context.
    ContextFull,
}

/// The level at which the model of a turn thinks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Thinks {
    /// The level; absent if it thinks as it does by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<ThinkingLevel>,
    /// True if another level is told within the conversation, so that the vendor's cache still has what came before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
}

/// Another key or account at the same provider that is used instead of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AccountSwitch {
    /// Its name, by which the user knows it: a variable, or the name of an account.
    pub name: String,
    /// The name of the one before.
    pub instead_of: String,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Price {
    /// Input that no cache served.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input served by the cache.
    #[serde(default)]
    pub cache_read: f64,
    /// Input stored to the cache.
    #[serde(default)]
    pub cache_write: f64,
    /// Input stored to the cache for an hour; absent if it is twice that of input. With a long prompt, it rises as that
    /// of input does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_hour: Option<f64>,
    /// The price of requests with a long prompt; absent if it is the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long: Option<LongPrice>,
}

/// US dollars per million tokens, for each token of a request whose prompt is long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LongPrice {
    /// The number of tokens that the prompt must have more than, all input together.
    pub above: u64,
    /// Input that no cache served.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input served by the cache.
    #[serde(default)]
    pub cache_read: f64,
    /// Input stored to the cache.
    #[serde(default)]
    pub cache_write: f64,
}

/// Parameters of `azimuth/model/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelListParams {
    /// True if the user has not asked for the list: vendors whose models are known without their own lists are not
    /// asked for these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unasked: bool,
}

/// Result of `azimuth/model/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelListResult {
    /// Every model known, the usable ones first.
    pub models: Vec<ModelInfo>,
    /// The id of the model a new session gets, if any is usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// For each provider whose own list could not be had, why, and which models stand there instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The ids of the models that were chosen last, the last one first; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<String>,
}

/// Parameters of `azimuth/model/changed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelsChangedParams {}

/// Parameters of `azimuth/model/select`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelSelectParams {
    /// The session; without it, the default of new sessions is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// A model's id, its name without the provider, or an alias; behind it possibly a colon and a level of thinking, or
    /// `default` for as much as the model thinks by itself. Without one, the level counts that was last chosen for it.
    pub model: String,
    /// True if new sessions do not begin with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_here: bool,
}

/// Result of `azimuth/model/select`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSelectResult {
    /// The selected model.
    pub model: ModelInfo,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_level_is_left_out_of_a_name() {
        for (name, without) in [
            ("test/model-1:high", "test/model-1"),
            ("opus:Default", "opus"),
            ("test/model-1", "test/model-1"),
            ("ollama/qwen3:8b", "ollama/qwen3:8b"),
            ("ollama/qwen3:8b:low", "ollama/qwen3:8b"),
        ] {
            assert_eq!(without_level(name), without);
        }
    }
}
