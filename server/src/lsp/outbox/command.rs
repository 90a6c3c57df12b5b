//! The messages to the task that writes to the client.

use std::sync::Arc;
use std::time::Duration;

use hub::Feed;
use protocol::event::Severity;
use protocol::inline::{InlineChangedParams, InlineEditResult, InlineStatusParams};
use protocol::session::PromptPutParams;
use protocol::{SessionId, TerminalId};
use serde_json::Value;
use shell::Spool;
use tokio::sync::oneshot;
use tower_lsp::jsonrpc;

/// A message to the task.
pub(super) enum Command {
    /// The client is ready for messages.
    Ready,
    Follow(Feed, u64),
    Unfollow(SessionId),
    FollowTerminal(SessionId, TerminalId, Arc<Spool>, u64),
    AcknowledgeTerminal(SessionId, TerminalId, u64),
    UnfollowTerminal(SessionId, TerminalId),
    Say(Severity, String),
    Ask(&'static str, Value, Duration, oneshot::Sender<jsonrpc::Result<Value>>),
    /// A word that says nothing.
    Nudge,
    /// The hints may be other ones now, or of documents with other names.
    Hints,
    /// The configuration is to be read again.
    Reload,
    /// The editor's settings may have changed.
    PullSettings,
    /// News for a client that uses our methods.
    Tell(&'static str, Value),
    /// The state of suggestions where the user types.
    Suggests(InlineStatusParams),
    /// A suggested edit is another one.
    EditChanged(InlineChangedParams),
    /// The answer to a request for the next edit, about a document, that was made in the client's name.
    EditAnswered(String, InlineEditResult),
    PutPrompt(PromptPutParams),
}
