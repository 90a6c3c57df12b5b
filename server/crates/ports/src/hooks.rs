//! Points of a session at which others have a say: before and after a prompt, a turn, a request, a tool call and the
//! session itself.
//!
//! Hooks are called in their order, and each is waited for: within a turn until it is cancelled, elsewhere for a minute
//! at most. A hook takes away and adds: it can stop what would happen, and put words before the
//! model. None of them allows anything: whatever it says, a call still has to pass permission. A hook that panics has
//! said nothing, but for [`Hooks::before_tool`], where it stops the call.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::join_all;
use protocol::content::Usage;
use protocol::turn::StopReason;
use protocol::{PromptBlock, SessionId, ToolCallId, TurnId};
use serde_json::Value;

use crate::tool::{Access, Description, Output, ToolError};

/// How long a hook may take at a point that the user cannot cancel.
const LONGEST: Duration = Duration::from_secs(60);

/// The functions that are called at the points. All of them do nothing unless they say otherwise.
#[async_trait]
pub trait Hooks: Send + Sync {
    /// A session was opened, new or from the store.
    async fn session_opened(&self, _session: &SessionId) {}

    /// A session leaves this process. It is waited for no longer than the process's end allows.
    async fn session_closed(&self, _session: &SessionId) {}

    /// A prompt was sent, and nothing of it was done yet. If it becomes a turn, the text is added to what the model
    /// reads with it.
    async fn before_prompt(&self, _point: &PromptPoint<'_>) -> Option<String> {
        None
    }

    /// A prompt was carried out as far as slash commands go, and the rest of it, if any, is about to become a turn.
    async fn after_prompt(&self, _point: &PromptPoint<'_>) {}

    /// A turn begins.
    async fn before_turn(&self, _point: &TurnPoint<'_>) {}

    /// A turn has ended, and why; with what failed, if something did.
    async fn after_turn(&self, _point: &TurnPoint<'_>, _stop: StopReason, _error: Option<&str>) {}

    /// The model is about to be asked. The text, as a note, is the last that it reads.
    async fn before_request(&self, _point: &TurnPoint<'_>) -> Option<String> {
        None
    }

    /// The model has answered.
    async fn after_request(&self, _point: &TurnPoint<'_>, _usage: &Usage) {}

    /// A valid call is about to be judged by permission.
    ///
    /// # Errors
    /// It must not be made: why, in words for the model and the user.
    async fn before_tool(&self, _point: &ToolPoint<'_>) -> Result<(), String> {
        Ok(())
    }

    /// A tool has run. What it gave can be changed; edits that it plans are not proposed yet.
    async fn after_tool(&self, _point: &ToolPoint<'_>, _result: &mut Result<Output, ToolError>) {}
}

/// A prompt.
#[derive(Clone, Copy, Debug)]
pub struct PromptPoint<'a> {
    /// Its session.
    pub session: &'a SessionId,
    /// The turn that it becomes, if there is something in it for a model.
    pub turn: &'a TurnId,
    /// The prompt, as it was sent.
    pub prompt: &'a [PromptBlock],
}

/// A turn.
#[derive(Clone, Copy, Debug)]
pub struct TurnPoint<'a> {
    /// Its session.
    pub session: &'a SessionId,
    /// Itself.
    pub turn: &'a TurnId,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ToolPoint<'a> {
    /// Its turn.
    pub turn: &'a TurnId,
    /// Itself.
    pub call: &'a ToolCallId,
    /// The tool's name.
    pub tool: &'a str,
    /// The access that the tool needs.
    pub access: Access,
    /// The input.
    pub input: &'a Value,
    /// The description of what the call would do.
    pub description: &'a Description,
}

/// Hooks that are called one after the other, each of which is kept from breaking more than itself. Clones share them.
#[derive(Clone, Default)]
pub struct Chain(Arc<[Arc<dyn Hooks>]>);

impl Chain {
    /// These, in this order.
    pub fn new(hooks: impl IntoIterator<Item = Arc<dyn Hooks>>) -> Self {
        Self(hooks.into_iter().collect())
    }
}

#[async_trait]
impl Hooks for Chain {
    async fn session_opened(&self, session: &SessionId) {
        for hooks in &*self.0 {
            in_time("session_opened", hooks.session_opened(session)).await;
        }
    }

    async fn session_closed(&self, session: &SessionId) {
        // The session does not wait long, and one that hangs keeps no other from its end.
        join_all(self.0.iter().map(|hooks| in_time("session_closed", hooks.session_closed(session)))).await;
    }

    async fn before_prompt(&self, point: &PromptPoint<'_>) -> Option<String> {
        let mut texts = Vec::new();
        for hooks in &*self.0 {
            texts.extend(in_time("before_prompt", hooks.before_prompt(point)).await.flatten());
        }
        joined(&texts)
    }

    async fn after_prompt(&self, point: &PromptPoint<'_>) {
        for hooks in &*self.0 {
            in_time("after_prompt", hooks.after_prompt(point)).await;
        }
    }

    async fn before_turn(&self, point: &TurnPoint<'_>) {
        for hooks in &*self.0 {
            whole("before_turn", hooks.before_turn(point)).await;
        }
    }

    async fn after_turn(&self, point: &TurnPoint<'_>, stop: StopReason, error: Option<&str>) {
        for hooks in &*self.0 {
            in_time("after_turn", hooks.after_turn(point, stop, error)).await;
        }
    }

    async fn before_request(&self, point: &TurnPoint<'_>) -> Option<String> {
        let mut texts = Vec::new();
        for hooks in &*self.0 {
            texts.extend(whole("before_request", hooks.before_request(point)).await.flatten());
        }
        joined(&texts)
    }

    async fn after_request(&self, point: &TurnPoint<'_>, usage: &Usage) {
        for hooks in &*self.0 {
            whole("after_request", hooks.after_request(point, usage)).await;
        }
    }

    /// The first that stops the call is the last that is asked.
    async fn before_tool(&self, point: &ToolPoint<'_>) -> Result<(), String> {
        for hooks in &*self.0 {
            let said = whole("before_tool", hooks.before_tool(point)).await;
            said.unwrap_or_else(|| Err("a hook broke down over this call, so it was not made".to_owned()))?;
        }
        Ok(())
    }

    async fn after_tool(&self, point: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        for hooks in &*self.0 {
            whole("after_tool", hooks.after_tool(point, result)).await;
        }
    }
}

/// Returns the output of a hook; none if it panics.
async fn whole<T>(point: &'static str, hook: impl Future<Output = T>) -> Option<T> {
    let said = AssertUnwindSafe(hook).catch_unwind().await;
    said.inspect_err(|_| tracing::error!(point, "a hook panicked")).ok()
}

/// The same where the user cannot cancel it: none if it takes longer than [`LONGEST`], too.
async fn in_time<T>(point: &'static str, hook: impl Future<Output = T>) -> Option<T> {
    let said = tokio::time::timeout(LONGEST, whole(point, hook)).await;
    said.unwrap_or_else(|_| {
        tracing::error!(point, "a hook took longer than {} s; it is given up", LONGEST.as_secs());
        None
    })
}

fn joined(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}
