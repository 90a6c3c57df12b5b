//! `azimuth/permission/*`: questions the agent asks before it acts, and their answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PermissionId, SessionId, ToolCallId};

/// What an option does; ACP's option kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionOptionKind {
    /// Go on, this time.
    AllowOnce,
    /// Go on, and do not ask for this again in this project.
    AllowAlways,
    /// Do not.
    RejectOnce,
    /// Do not, and never again in this project.
    RejectAlways,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PermissionAbout {
    /// Whether a tool call may be made.
    #[default]
    ToolCall,
    /// What becomes of pending hunks before a command runs. It is moot once none is pending any more.
    PendingEdits,
    /// Whether the user's unsaved text is saved before a command runs.
    UnsavedText,
    /// Whether a command may run outside the sandbox.
    Outside,
    /// Whether the workspace is trusted: whether what it supplies may run, and what it allows counts.
    Trust,
    /// Whether a program that the project brings along, such as a language server, may be started as it is now.
    Program,
}

/// One possible answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// What to answer with.
    pub option_id: String,
    /// What it says, its scope in words: `Always allow cargo test … in this project`.
    pub name: String,
    /// What it does.
    pub kind: PermissionOptionKind,
}

/// A question. It stands until it is answered or its turn ends, across reconnects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// The question.
    pub permission_id: PermissionId,
    /// The tool call that waits, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<ToolCallId>,
    /// What it is about.
    #[serde(default)]
    pub about: PermissionAbout,
    /// The question in a few words: `Run a command?`
    pub title: String,
    /// What exactly would be done: the command line, the paths.
    pub detail: String,
    /// Why it is asked: the rule or default that led here.
    pub reason: String,
    /// The answers to choose from.
    pub options: Vec<PermissionOption>,
}

/// How a question ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PermissionOutcome {
    /// An option was chosen.
    Selected {
        /// Which.
        option_id: String,
        /// A word to the model, such as why it was rejected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The turn ended first, or nobody could answer.
    Cancelled,
    /// What it was about was settled in another way.
    Moot,
}

/// How a rule decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleEffect {
    /// What it fits runs without a question.
    Allow,
    /// What it fits is asked.
    Ask,
    /// What it fits is refused.
    Deny,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleOrigin {
    /// The user's own configuration, or what the editor was started with.
    User,
    /// A file of the project's, or settings that an editor read out of it.
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
    /// How it decides.
    pub effect: RuleEffect,
    /// Where it comes from.
    pub origin: RuleOrigin,
    /// Where it comes from, in words: `your config.toml`.
    pub source: String,
    /// What it covers, in words.
    pub covers: String,
    /// Whether `azimuth/permission/revoke` takes it away. Others are changed where they are written.
    pub revocable: bool,
    /// Why it does not count just now, if so: an allow rule of a project that is not trusted.
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

/// Parameters of `azimuth/permission/revoke`: take back what was granted. Twice is harmless.
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

/// Parameters of `azimuth/workspace/trust`: whether what a folder supplies may run, and what it allows counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceTrustParams {
    /// The folder, as a URI; without it, the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What the user says; without it, nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Whether it is the editor's own trust, which counts while the editor is connected and is not kept.
    #[serde(default)]
    pub by_editor: bool,
}

/// Result of `azimuth/workspace/trust`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceTrustResult {
    /// Whether the folder, or all of them, is trusted now.
    pub trusted: bool,
    /// Whether that was said by the user or the editor. Where it was not, the first turn asks.
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
    /// A word to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Result of `azimuth/permission/answer`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswerResult {
    /// False if the question had already been answered, in another view or by the turn's end. No harm is done.
    pub accepted: bool,
}
