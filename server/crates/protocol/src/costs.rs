//! `azimuth/costs/show`: what models cost, how much of the input came from a cache, and what vendors still allow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::SessionId;
use crate::content::Usage;

/// Parameters of `azimuth/costs/show`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CostsShowParams {
    /// The session to tell of, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The number of days, today among them, that the tables are of; all time without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

/// Result of `azimuth/costs/show`. Costs are in US dollars, and days are of UTC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostsShowResult {
    /// The session that was asked for; absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionCosts>,
    /// Today, in all sessions.
    pub today: Spending,
    /// The whole time that was asked for, in all sessions.
    pub total: Spending,
    /// The same by model, the one that cost most first.
    pub models: Vec<SpendingRow>,
    /// The same by provider, the one that cost most first.
    pub providers: Vec<SpendingRow>,
    /// The same by day, the last first.
    pub days: Vec<SpendingRow>,
    /// The same by project, the one that cost most first: the first folder of each session, as a path. Sessions that
    /// were deleted are a row of their own.
    #[serde(default)]
    pub projects: Vec<SpendingRow>,
    /// The models of requests whose cost is unknown.
    pub unpriced: Vec<UnpricedModel>,
    /// The cost of suggestions while the user types, of 90 days at most. It is in no other sum.
    pub suggestions_cost: f64,
    /// The budgets that are set.
    pub budgets: Vec<BudgetStatus>,
    /// The limits of the user's accounts as vendors last told them, for each provider that did since this server
    /// started.
    pub quotas: Vec<Quota>,
}

/// Parameters of `azimuth/costs/sums`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CostsSumsParams {}

/// Result of `azimuth/costs/sums`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostsSumsResult {
    /// Today (UTC), such as `2026-11-21`.
    pub day: String,
    /// Today, in all sessions.
    pub today: Spending,
    /// All time, in all sessions.
    pub total: Spending,
}

/// The costs of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionCosts {
    /// The sum, with the sessions that it started.
    pub total: Spending,
    /// The same by model, the one that cost most first.
    pub models: Vec<SpendingRow>,
    /// The part of it that was asked outside turns, by role, such as `titles`.
    pub side: Vec<SpendingRow>,
    /// The part of it of the sessions that it started.
    pub children: Spending,
    /// The last requests of its turns, the last first.
    pub rounds: Vec<Round>,
    /// The activity in it, without that of the sessions that it started.
    #[serde(default)]
    pub activity: Activity,
}

/// The activity in sessions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// The number of the user's prompts, with those to a running turn. In sessions that a session started, there are
    /// none.
    pub prompts: u64,
    /// The number of turns, with those that continued an earlier one.
    pub turns: u64,
    /// The number of requests of turns to models whose tokens are known.
    pub requests: u64,
    /// The calls of tools, the tool that was called most first.
    pub tools: Vec<ToolCalls>,
    /// The speed of models, the one with most answers first. Answers of older versions of Azimuth were not measured.
    pub speeds: Vec<ModelSpeed>,
}

/// The calls of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCalls {
    /// The tool.
    pub name: String,
    /// The number of calls.
    pub calls: u64,
    /// The number of those of them that failed, or were refused.
    pub failed: u64,
}

/// The speed of a model: medians of its answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelSpeed {
    /// The model's id.
    pub model: String,
    /// The number of answers that were measured.
    pub answers: u64,
    /// The time from the request to the first piece of the answer, in milliseconds.
    pub first_ms: u64,
    /// The tokens of the answer for each second from the request to its end; absent if the vendor reported none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_second: Option<f64>,
}

/// A request of a turn that was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// The time of the end of its answer.
    pub at: u64,
    /// The model's id.
    pub model: String,
    /// The tokens.
    pub usage: Usage,
    /// The cost; absent if the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The share of the input that was read from the cache, from 0 to 1; absent if there was no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hits: Option<f64>,
    /// Why less was read from the cache than was in it, as far as the session's log tells, in words; absent if the
    /// cache was hit, or if the reason is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_because: Option<String>,
}

/// The sum of requests to models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Spending {
    /// The number of requests whose tokens are known.
    pub requests: u64,
    /// Their tokens.
    pub usage: Usage,
    /// The share of the input that was read from the cache, from 0 to 1; absent if there was no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_hits: Option<f64>,
    /// The cost, or the part of it that is known; absent if nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The number of requests that the cost does not contain, since the price of the model was unknown.
    pub unpriced_requests: u64,
}

/// A row of a table of costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpendingRow {
    /// The model, provider, day (`2026-11-21`), role, or the path of a project.
    pub name: String,
    /// A shorter name to show: that of the project's folder, with those above it if two are called the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The sum.
    pub spending: Spending,
}

/// A model of requests whose cost is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnpricedModel {
    /// The model's id.
    pub model: String,
    /// The number of these requests.
    pub requests: u64,
}

/// A budget, and how much of it is spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BudgetStatus {
    /// The scope.
    pub scope: BudgetScope,
    /// The most that may be spent before the user is asked: the setting, and what was added to it by answers.
    pub limit: f64,
    /// The part that is spent, as far as prices are known.
    pub spent: f64,
}

/// The requests that a budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BudgetScope {
    /// Those of a session, and of the sessions that it started.
    Session,
    /// Those of all sessions in a day (UTC).
    Day,
}

/// The limits of the user's account at a vendor, as its last answer told them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// The provider.
    pub provider: String,
    /// The name of the key or account that the limits are of, if the user has several at the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The time of that answer.
    pub at: u64,
    /// The limits.
    pub windows: Vec<QuotaWindow>,
}

/// A limit that a vendor sets for some time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct QuotaWindow {
    /// The subject of the limit, to be shown: `requests`, `input tokens`, `5 hours of the plan`.
    pub name: String,
    /// The limit, in what it is about; absent if the vendor tells only a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The part of it that is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<u64>,
    /// The rest in words, to be shown instead of these numbers: `$7.50 of $10.00 left`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The share that is used, from 0 to 1.
    pub used: f64,
    /// The time at which it begins again, if the vendor tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<u64>,
}
