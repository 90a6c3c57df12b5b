//! `azimuth/permission/*`: the questions that the agent asks before it acts, and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::form::{Form, FormAnswer};
use crate::{PermissionId, SessionId, ToolCallId};

/// The effect of an option; ACP's option kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOptionKind {
    /// Allow it, this time.
    AllowOnce,
    /// Allow it, and do not ask for this again in this project.
    AllowAlways,
    /// Do not.
    RejectOnce,
    /// Reject it, always in this project.
    RejectAlways,
}

/// The subject of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionAbout {
    /// A tool call.
    #[default]
    ToolCall,
    /// The pending hunks before a command runs. It is moot once none is pending any more.
    PendingEdits,
    /// Saving the user's unsaved text before a command runs.
    UnsavedText,
    /// Running a command outside the sandbox.
    Outside,
    /// Trust in the workspace: with it, what the workspace supplies may run, and what it allows counts.
    Trust,
    /// Starting a program that comes with the project, such as a language server, in its current form.
    Program,
    /// Spending more than the user's budget.
    Budget,
    /// The model's own questions, in the request's form. The option that allows sends what is filled in.
    Form,
}

/// One possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// The id to answer with.
    pub option_id: String,
    /// The text, with its scope: `Always allow cargo test … in this project`.
    pub name: String,
    /// Its effect.
    pub kind: PermissionOptionKind,
}

/// A question. It stays open until it is answered or its turn ends, across reconnects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The question.
    pub permission_id: PermissionId,
    /// The tool call that waits, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// The subject.
    #[serde(default)]
    pub about: PermissionAbout,
    /// The question in a few words: `Run a command?`
    pub title: String,
    /// The details: the command line, the paths.
    pub detail: String,
    /// The reason: the rule or default that led here.
    pub reason: String,
    /// The answers to choose from.
    pub options: Vec<PermissionOption>,
    /// The form, if the model asks questions of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<Form>,
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionOutcome {
    /// An option was chosen.
    Selected {
        /// The option.
        option_id: String,
        /// A message to the model, such as why it was rejected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The answers to a form, one for each of its questions; empty if all are left open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        answers: Vec<FormAnswer>,
    },
    /// The turn ended first, or nobody could answer.
    Cancelled,
    /// Nobody answered a form in time: everything in it is assumed.
    TimedOut,
    /// The subject was settled in another way.
    Moot,
}

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// Matching actions run without a question.
    Allow,
    /// The user is asked about matching actions.
    Ask,
    /// Matching actions are refused.
    Deny,
}

/// The source of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleOrigin {
    /// The user's own configuration, or what the editor was started with.
    User,
    /// A file of the project, or settings that an editor read from it.
    Project,
    /// Granted by an answer "always", for the project.
    Granted,
    /// Granted by an answer, for the session.
    Session,
}

/// A permission rule in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleInfo {
    /// The rule as written: `Shell(cargo test:*)`.
    pub rule: String,
    /// Its effect.
    pub effect: RuleEffect,
    /// Its source.
    pub origin: RuleOrigin,
    /// Its source, to be shown: `your config.toml`.
    pub source: String,
    /// A description of what it covers.
    pub covers: String,
    /// True if `azimuth/permission/revoke` can revoke it. Others are changed in their files.
    pub revocable: bool,
    /// The reason if it does not count at the moment, such as an allow rule of a project that is not trusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub void: Option<String>,
}

/// Parameters of `azimuth/permission/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionListParams {
    /// The session.
    pub session_id: SessionId,
}

/// Result of `azimuth/permission/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionListResult {
    /// The rules, in the order of their precedence.
    pub rules: Vec<RuleInfo>,
}

/// Parameters of `azimuth/permission/revoke`. The same call twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionRevokeParams {
    /// The session.
    pub session_id: SessionId,
    /// The rule as listed.
    pub rule: String,
    /// Its origin as listed: `granted` or `session`.
    pub origin: RuleOrigin,
}

/// Parameters of `azimuth/workspace/trust`. What a trusted folder supplies may run, and what it allows counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceTrustParams {
    /// The folder, as a URI; without it, the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The user's answer; without it, nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// True for the editor's own trust, which counts while the editor is connected and is not kept.
    #[serde(default)]
    pub by_editor: bool,
}

/// Result of `azimuth/workspace/trust`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceTrustResult {
    /// True if the folder, or all of them, are trusted now.
    pub trusted: bool,
    /// True if the user or the editor has decided that. Otherwise the first turn asks.
    pub decided: bool,
}

/// Parameters of `azimuth/permission/answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PermissionAnswerParams {
    /// The session.
    pub session_id: SessionId,
    /// The question.
    pub permission_id: PermissionId,
    /// The option chosen.
    pub option_id: String,
    /// A message to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The answers to a form, one for each of its questions; without any, all are left open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<FormAnswer>,
}

/// Result of `azimuth/permission/answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswerResult {
    /// False if the question had already been answered, in another view or by the turn's end. No harm is done.
    pub accepted: bool,
}
