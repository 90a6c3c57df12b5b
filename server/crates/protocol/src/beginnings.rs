//! `azimuth/prompt/beginnings`: what an empty chat offers, in addition to the sessions of `azimuth/session/list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PromptBlock, SessionId};

/// Parameters of `azimuth/prompt/beginnings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptBeginningsParams {
    /// The document that the user is looking at, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The chat's session, if any; its model is then the one that is described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Result of `azimuth/prompt/beginnings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptBeginningsResult {
    /// The facts about the workspace's setup, the most important first.
    pub setup: Vec<SetupFact>,
    /// Prompts to try: about the document if it is one of the workspace's files, else about the project.
    pub beginnings: Vec<Beginning>,
}

/// A fact about the workspace's setup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupFact {
    /// The subject, so that a client can offer a remedy.
    pub about: SetupAbout,
    /// Its status.
    pub state: SetupState,
    /// A description of one line, for the user.
    pub text: String,
}

/// The status of a fact about the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SetupState {
    /// It is set up, and works.
    InOrder,
    /// Something is missing that the user could fix.
    Lacks,
    /// Information that is neither.
    Neutral,
}

/// The subject of a fact about the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SetupAbout {
    /// The session's model, or else that of new sessions.
    Model,
    /// The trust in the workspace.
    Trust,
    /// The project's rules for agents.
    Rules,
    /// Azimuth's own language servers.
    Servers,
}

/// A prompt to start with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Beginning {
    /// A title for the user, such as `Explain main.rs`.
    pub title: String,
    /// The prompt. It can be sent as it is.
    pub prompt: Vec<PromptBlock>,
}
