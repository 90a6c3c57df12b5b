//! `azimuth/turn/*`: starting, steering, queueing and cancelling turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::PlanEntry;
use crate::session::Mode;
use crate::{PromptBlock, QueueId, SessionId, TurnId};

/// Parameters of `azimuth/turn/start`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnStartParams {
    /// The session.
    pub session_id: SessionId,
    /// The prompt. Empty to continue a turn that was interrupted or failed. A single text that begins with `!` is a
    /// user command.
    pub prompt: Vec<PromptBlock>,
    /// The mode of this turn and the next ones; without it, the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// Result of `azimuth/turn/start`, which is answered at once. The rest comes as events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnStartResult {
    /// The turn; absent if the prompt contained only slash commands, or was a user command (`!command`). Their results
    /// are events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// The session in which the client should continue, after `/new` or `/resume`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch_to: Option<SessionId>,
}

/// Parameters of `azimuth/turn/steer`: a message to the running turn, for its next request to the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnSteerParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn that the user means. If another one runs, or none, the error is `wrongTurn`.
    pub expected_turn_id: TurnId,
    /// The message.
    pub prompt: Vec<PromptBlock>,
}

/// Parameters of `azimuth/turn/queue`: add a prompt for after the running turn or in its place, take one back, or move
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum TurnQueueParams {
    /// Add a prompt at the queue's end. If no turn runs, it starts at once.
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
    /// Break off the turn, or the user's own command, and begin with this prompt. If nothing runs, it starts at once.
    Now {
        /// The session.
        session_id: SessionId,
        /// The prompt.
        prompt: Vec<PromptBlock>,
    },
    /// Give a waiting prompt another place among those that wait. One that was said to the running turn stays.
    Move {
        /// The session.
        session_id: SessionId,
        /// The waiting prompt.
        queue_id: QueueId,
        /// The place, from 0; behind the others if there are not so many.
        to: usize,
    },
}

impl TurnQueueParams {
    /// The session.
    pub fn session_id(&self) -> &SessionId {
        match self {
            Self::Add { session_id, .. }
            | Self::Remove { session_id, .. }
            | Self::Now { session_id, .. }
            | Self::Move { session_id, .. } => session_id,
        }
    }
}

/// Result of `azimuth/turn/queue`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnQueueResult {
    /// The waiting prompts, the next one first.
    pub queue: Vec<QueueId>,
    /// The waiting prompt that was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<QueueId>,
}

/// Parameters of `azimuth/turn/plan`: the plan of the session's task, as the user wants it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnPlanParams {
    /// The session.
    pub session_id: SessionId,
    /// The steps, in their order, at most 50; none to drop the plan.
    pub entries: Vec<PlanEntry>,
}

/// Parameters of `azimuth/turn/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnCancelParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn to cancel; without it, the one that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// Result of `azimuth/turn/cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnCancelResult {
    /// True if a turn or a user command was running. Its end follows as an event.
    pub cancelled: bool,
}

/// Parameters of `azimuth/turn/retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnRetryParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn that waits; without it, the one that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
}

/// Result of `azimuth/turn/retry`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TurnRetryResult {
    /// True if the turn was waiting. An event `retrying` with a delay of 0 follows.
    pub retried: bool,
}

/// The reason why a turn ended. The first five are ACP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// The answer reached the model's maximum length.
    MaxTokens,
    /// The turn reached its limit of rounds, or went in circles; it asks if it should continue.
    MaxTurnRequests,
    /// The model refused to answer.
    Refusal,
    /// The user cancelled it.
    Cancelled,
    /// A failure; `error` says what failed, and what to do.
    Error,
    /// The server ended, or the client that started the turn disconnected. The turn can be continued.
    Interrupted,
}

impl StopReason {
    /// The reasons that `turnEnded` explains completely in its `error`, so that a client adds nothing.
    pub const SAID_BY_ERROR: &[Self] = &[Self::MaxTokens, Self::Refusal];
}
