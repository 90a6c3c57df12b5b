//! `azimuth/prompt/beginnings`: what an empty chat can offer, beside the sessions of `azimuth/session/list`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{PromptBlock, SessionId};

/// Parameters of `azimuth/prompt/beginnings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptBeginningsParams {
    /// The document that the user has before them, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The session that the chat is of, if any: its model counts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Result of `azimuth/prompt/beginnings`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptBeginningsResult {
    /// How the workspace is set up, and what it lacks; what weighs most comes first.
    pub setup: Vec<SetupFact>,
    /// What to try: about the document where it is one of the workspace's files, else about the project.
    pub beginnings: Vec<Beginning>,
}

/// How the workspace is set up, in one respect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetupFact {
    /// What it is about, so that a client can offer to see to it.
    pub about: SetupAbout,
    /// Whether that is well.
    pub state: SetupState,
    /// How it is, for people; one line.
    pub text: String,
}

/// Whether a fact about the workspace is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SetupState {
    /// It is there, and works.
    InOrder,
    /// Something is missing that the user could mend.
    Lacks,
    /// It is good to know, and neither.
    Neutral,
}

/// What a fact about the workspace is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SetupAbout {
    /// The session's model, or else that of new sessions.
    Model,
    /// Whether the workspace is trusted.
    Trust,
    /// The project's rules for agents.
    Rules,
    /// Language servers of our own.
    Servers,
}

/// A prompt to begin with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Beginning {
    /// What it does, for people, such as `Explain main.rs`.
    pub title: String,
    /// The prompt. It can be sent as it is.
    pub prompt: Vec<PromptBlock>,
}
