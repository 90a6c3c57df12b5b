//! The turn: from a prompt, over any number of requests and tool calls, to an end (design §4).

use std::path::PathBuf;
use std::sync::Arc;

use protocol::content::Usage;
use protocol::session::Mode;
use protocol::turn::StopReason;
use protocol::{SessionId, ToolCallId, TurnId};
use tokio_util::sync::CancellationToken;

use crate::history::History;
use crate::model::Model;
use crate::session::Session;
use crate::tool::Tool;

/// All that a turn works with. It stays the same while the turn runs.
pub struct TurnContext {
    /// The session, whose id also routes requests to the vendors' caches.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// The model.
    pub model: Arc<dyn Model>,
    /// Every tool there is; the mode decides which of them are offered.
    pub tools: Arc<[Arc<dyn Tool>]>,
    /// The mode.
    pub mode: Mode,
    /// The system prompt, made by [`crate::prompt::system`].
    pub system: Arc<str>,
    /// The conversation, the turn's own [`TurnStarted`](protocol::Event::TurnStarted) applied.
    pub history: History,
    /// The workspace's folders, absolute: what permission rules about files are relative to.
    pub folders: Arc<[PathBuf]>,
    /// The session's port.
    pub session: Arc<dyn Session>,
    /// Triggered to end the turn: the user cancelled it.
    pub cancel: CancellationToken,
    /// Triggered when the turn's home left or the server ends. `cancel` must be this token or a child of it, so that
    /// this ends the turn too, only with another reason.
    pub interrupt: CancellationToken,
    /// The call of the last message to dispatch again, because the question it waited for has been answered after its
    /// turn had ended. The calls after it, which had not begun, follow. Other calls without a result are closed.
    pub again: Option<ToolCallId>,
    /// How many tokens the model may think; none for no thinking.
    pub thinking_tokens: Option<u64>,
    /// Where the turn stops, waits and cuts.
    pub limits: Limits,
}

/// The turn's limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests with tool calls after which the turn asks whether to go on.
    pub rounds: usize,
    /// How often the same call may come to the same result before the turn asks whether to go on.
    pub repeats: usize,
    /// Rounds whose results are kept when older ones are trimmed.
    pub keep_rounds: usize,
    /// The longest result a model gets, in bytes. Its head and tail are kept.
    pub result_bytes: usize,
    /// The longest input a tool gets, in bytes of JSON (001 §12).
    pub input_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { rounds: 100, repeats: 3, keep_rounds: 4, result_bytes: 50_000, input_bytes: 50 * 1024 }
    }
}

/// How a turn ended. The same is in the event [`TurnEnded`](protocol::Event::TurnEnded), which [`run`] has recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnOutcome {
    /// Why.
    pub stop: StopReason,
    /// What failed, and what to do.
    pub error: Option<String>,
    /// What all requests used.
    pub usage: Usage,
    /// What they cost in US dollars; none where a price is unknown.
    pub cost: Option<f64>,
    /// What was not done because it was denied or rejected, in words; `exec` ends with code 3 if there is any.
    pub refused: Vec<String>,
}

/// Runs a turn to its end, which it always records as [`TurnEnded`](protocol::Event::TurnEnded).
///
/// Everything that happens is recorded through the session's port, words said meanwhile and notes among them
/// ([`Steered`](protocol::Event::Steered), [`Noted`](protocol::Event::Noted)). The turn does not end while
/// [`Session::interjections`] still gives something; what is said after its last look is the session's to start
/// another turn with.
///
/// A tool that panics is a failed tool. A panic of anything else is the caller's to catch.
pub async fn run(context: TurnContext) -> TurnOutcome {
    let outcome = TurnOutcome {
        stop: StopReason::Error,
        error: Some("the turn loop is not built in yet".to_owned()),
        usage: Usage::default(),
        cost: None,
        refused: Vec::new(),
    };
    context.session.record(protocol::Event::TurnEnded {
        turn_id: context.turn_id,
        stop_reason: outcome.stop,
        error: outcome.error.clone(),
        usage: outcome.usage,
        cost: outcome.cost,
    });
    outcome
}
