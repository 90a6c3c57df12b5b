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
    /// True if it takes images.
    #[serde(default)]
    pub images: bool,
    /// True if it can think before it answers.
    #[serde(default)]
    pub thinking: bool,
    /// True for a model that plays a script; an interface must say so.
    #[serde(default)]
    pub scripted: bool,
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
}

/// Parameters of `azimuth/model/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelListParams {}

/// Result of `azimuth/model/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelListResult {
    /// Every model known, the usable ones first.
    pub models: Vec<ModelInfo>,
    /// The id of the model a new session gets, if any is usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// Parameters of `azimuth/model/select`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelSelectParams {
    /// The session; without it, the default of new sessions is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// A model's id, its name without the provider, or an alias.
    pub model: String,
}

/// Result of `azimuth/model/select`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSelectResult {
    /// The selected model.
    pub model: ModelInfo,
}
