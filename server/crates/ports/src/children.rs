//! The port to sessions that a session starts: each with a part of its tools and a budget of its own.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use protocol::SessionId;
use protocol::content::Usage;
use protocol::session::{Budget, Mode};
use protocol::turn::StopReason;
use tokio_util::sync::CancellationToken;

/// Starts sessions for a session.
#[async_trait]
pub trait StartChild: Send + Sync {
    /// Starts a session in the same folders, and waits until its first turn has ended. It is kept, as any session is.
    ///
    /// Its questions count as rejected, unless somebody has opened it. Its turn is cancelled if the future is dropped,
    /// or by [`Child::cancel`].
    ///
    /// It is paid for, and may run on while nobody waits, so a tool that starts sessions is not
    /// repeatable (`Tool::is_repeatable`): a turn that is gone on with does not make its call again. Such a tool is of
    /// `Access::Read` only if the sessions only read.
    ///
    /// # Errors
    /// See [`ChildError`].
    async fn start(&self, child: Child) -> Result<ChildEnd, ChildError>;
}

/// The sessions that a session may start, as its tools have them. By default it can start none.
#[derive(Clone, Default)]
pub struct Children(Option<Arc<dyn StartChild>>);

impl Children {
    /// Sessions that are started so.
    pub fn new(start: Arc<dyn StartChild>) -> Self {
        Self(Some(start))
    }

    /// See [`StartChild::start`].
    ///
    /// # Errors
    /// See [`ChildError`].
    pub async fn start(&self, child: Child) -> Result<ChildEnd, ChildError> {
        match &self.0 {
            Some(start) => start.start(child).await,
            None => Err(ChildError::Nowhere),
        }
    }
}

impl fmt::Debug for Children {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Children")
    }
}

/// A session to be started.
#[derive(Clone, Debug)]
pub struct Child {
    /// The prompt. What looks like a command in it is none.
    pub prompt: String,
    /// The only tools that it has.
    pub tools: ChildTools,
    /// The most that it may use.
    pub budget: Budget,
    /// Its mode, which may not do more than its parent's; without it, its parent's.
    pub mode: Option<Mode>,
    /// The name of its model; without it, its parent's.
    pub model: Option<String>,
    /// Ends its turn.
    pub cancel: CancellationToken,
}

/// The tools of a session to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildTools {
    /// Those with these names, each of which its parent has too.
    Named(Vec<String>),
    /// Those of its parent that read, search or ask language servers, and run nothing and change nothing.
    Reading,
}

/// The end of the first turn of a session that was started.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildEnd {
    /// The session.
    pub session: SessionId,
    /// The id of the model that was asked last; empty if none was.
    pub model: String,
    /// The number of its model's answers.
    pub rounds: u32,
    /// Why the turn ended.
    pub stop: StopReason,
    /// The failure, and what to do.
    pub error: Option<String>,
    /// The text of the last answer that has any; empty if none has.
    pub text: String,
    /// The usage of all its requests.
    pub usage: Usage,
    /// Their cost in US dollars; none if a price is unknown.
    pub cost: Option<f64>,
}

/// The reason that a session could not be started, or the end of its turn not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChildError {
    /// A session that another one started starts none, so that they cannot multiply.
    #[error("this session was started by another one, and cannot start further ones")]
    Nested,
    /// A tool that the parent does not have.
    #[error("this session has no tool `{0}`")]
    NoSuchTool(String),
    /// There is nothing to do.
    #[error("the prompt is empty; say what to do")]
    NoPrompt,
    /// A mode that may do more than the parent can hand on.
    #[error("mode `{}` may do more than `{}`, the most that this session can hand on", .asked.name(), .most.name())]
    Mode {
        /// The mode that was asked for.
        asked: Mode,
        /// The mode that it may have at most.
        most: Mode,
    },
    /// Nothing here can start sessions.
    #[error("no session can be started from here")]
    Nowhere,
    /// It could not be made.
    #[error("{0}")]
    Failed(String),
    /// Nothing was heard of its end, for example because the process ends.
    #[error("the session went away before its turn ended")]
    Gone,
}
