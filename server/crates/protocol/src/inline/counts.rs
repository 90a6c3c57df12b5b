//! `azimuth/inline/counts`: how suggestions fare, in numbers that never leave this machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `azimuth/inline/counts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineCountsParams {
    /// The days that are counted, today among them: 1 to 90, by default 30. Days are those of UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

/// Result of `azimuth/inline/counts`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineCountsResult {
    /// False if the user has switched the counting off. Then only the cost is known.
    pub counted: bool,
    /// The days that are counted.
    pub days: u32,
    /// The models, by their names.
    pub models: Vec<InlineModelCounts>,
}

/// The counts of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineModelCounts {
    /// The model.
    pub model: String,
    /// The changes that the user made to documents, as a key makes them, while it was the model.
    pub changes: u64,
    /// The requests to it. Divided by `changes`, they are the requests for each key.
    pub requests: u64,
    /// The requests that had no answer in time.
    pub late: u64,
    /// The requests that failed.
    pub failed: u64,
    /// The suggestions that editors were given.
    pub given: u64,
    /// Those of them that needed no request: they were typed into, or kept.
    pub given_from_cache: u64,
    /// The suggestions that were on a screen, as far as editors tell.
    pub shown: u64,
    /// The suggestions that were accepted to their end.
    pub accepted: u64,
    /// The suggestions of which a word or a line was accepted.
    pub partly: u64,
    /// The characters of those parts, in UTF-16.
    pub partly_characters: u64,
    /// The suggestions that were dismissed.
    pub rejected: u64,
    /// The suggestions that went off the screen because the user did something else.
    pub ignored: u64,
    /// The suggestions that another one took the position of.
    pub replaced: u64,
    /// The retention of accepted text, after each time.
    pub retention: Vec<InlineRetention>,
    /// The milliseconds within which half of the requests were answered, at most a quarter too many. Absent if none
    /// was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<u64>,
    /// The milliseconds within which nine of ten requests were answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_ms: Option<u64>,
    /// The cost in US dollars; 0 if it costs nothing, or its price is not known.
    pub cost: f64,
}

/// The share of accepted text that is still there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineRetention {
    /// The seconds since the acceptance.
    pub after_seconds: u64,
    /// The suggestions that were looked for: those whose document was still open.
    pub looked_for: u64,
    /// Those of which at least half of the words were still there.
    pub kept: u64,
}
