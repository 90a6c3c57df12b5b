//! `azimuth/turn/*`: prompts, and what to do with them while one is at work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::session::Mode;
use crate::{PromptBlock, QueueId, SessionId, TurnId};

/// Parameters of `azimuth/turn/start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnStartParams {
    /// The session.
    pub session_id: SessionId,
    /// The prompt. Empty to go on after a turn was interrupted or failed. One text that begins with `!` is a command of
    /// the user's own.
    pub prompt: Vec<PromptBlock>,
    /// The mode of this turn and the next ones; without it, the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// Result of `azimuth/turn/start`: an answer at once. What the turn does comes as events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartResult {
    /// The turn; absent where the prompt held only slash commands, or was a command of the user's own (`!command`).
    /// What came of those are events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Where the client should go on, after `/new` or `/resume`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_to: Option<SessionId>,
}

/// Parameters of `azimuth/turn/steer`: a word to the running turn, heard at its next request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnSteerParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn the user means. Another one, or none, running is the error `wrongTurn`.
    pub expected_turn_id: TurnId,
    /// What to say.
    pub prompt: Vec<PromptBlock>,
}

/// Parameters of `azimuth/turn/queue`: a prompt for after the running turn, or one taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TurnQueueParams {
    /// Put a prompt at the queue's end. With no turn running it starts at once.
    Add {
        /// The session.
        session_id: SessionId,
        /// The prompt.
        prompt: Vec<PromptBlock>,
    },
    /// Take a waiting prompt back.
    Remove {
        /// The session.
        session_id: SessionId,
        /// The waiting prompt.
        queue_id: QueueId,
    },
}

/// Result of `azimuth/turn/queue`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnQueueResult {
    /// The prompts that wait, first to go first.
    pub queue: Vec<QueueId>,
    /// The waiting prompt that was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<QueueId>,
}

/// Parameters of `azimuth/turn/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnCancelParams {
    /// The session.
    pub session_id: SessionId,
    /// Only if this turn runs; without it, whichever does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// Result of `azimuth/turn/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCancelResult {
    /// Whether a turn was running, or else a command of the user's own. Its end follows as an event.
    pub cancelled: bool,
}

/// Why a turn ended. The first five are ACP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The answer reached the model's maximum length.
    MaxTokens,
    /// The turn reached its limit of rounds, or went in circles; it asks whether to go on.
    MaxTurnRequests,
    /// The model would not answer.
    Refusal,
    /// The user cancelled it.
    Cancelled,
    /// Something failed; `error` says what, and what to do.
    Error,
    /// The server ended, or the client that started the turn left. It can be gone on with.
    Interrupted,
}

impl StopReason {
    /// The reasons that `turnEnded` says as a whole in its `error`, so that a client adds no words of its own.
    pub const SAID_BY_ERROR: &[Self] = &[Self::MaxTokens, Self::Refusal];
}
