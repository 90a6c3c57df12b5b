//! Compaction: the beginning of a conversation is replaced by a handover, so that the rest fits into the model's
//! context. The log keeps all of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CompactionId, SessionId};

/// A handover: the text that stands for the beginning of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// The handover.
    pub compaction_id: CompactionId,
    /// The reason.
    pub reason: CompactionReason,
    /// The number of messages that it stands for, of those that the model saw until then: the first of them.
    pub messages: u32,
    /// The facts that the session's log tells, in Markdown. The words of the user are among them as they were typed.
    pub facts: String,
    /// The part that a model wrote, in Markdown: what was decided, what failed, what is next. Absent if no model did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The subject that the user asked to pay attention to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
    /// The tokens of a request before.
    pub before: u64,
    /// The tokens of a request after it, estimated.
    pub after: u64,
}

/// Why a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The user asked for it.
    Asked,
    /// The context is full.
    Full,
    /// The model's vendor refused a request as too long.
    Refused,
}

/// Parameters of `azimuth/compaction/correct`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionCorrectParams {
    /// The session.
    pub session_id: SessionId,
    /// The handover.
    pub compaction_id: CompactionId,
    /// The text in place of the part that a model wrote. Blank for none.
    pub written: String,
}

/// Parameters of `azimuth/compaction/undo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactionUndoParams {
    /// The session.
    pub session_id: SessionId,
    /// The handover; absent for the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compaction_id: Option<CompactionId>,
}
