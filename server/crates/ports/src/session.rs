//! The port to the session a turn belongs to. The session's own task stands behind it.

use std::sync::Arc;

use async_trait::async_trait;
use permission::{Rule, Rules, Surroundings};
use protocol::content::PlanEntry;
use protocol::form::FormAnswer;
use protocol::permission::PermissionRequest;
use protocol::{Event, PermissionId, PromptBlock, ToolCallId};
use serde_json::Value;

use crate::children::Children;
use crate::edit::{EditPlan, EditRefused, Proposed};
use crate::facts::Facts;

/// The port from a turn to its session.
#[async_trait]
pub trait Session: Send + Sync {
    /// Adds an event to the session's log. Never waits; events keep their order.
    fn record(&self, event: Event);

    /// A new id for a question.
    fn permission_id(&self) -> PermissionId;

    /// Puts a question to the user and waits for the answer. The session records question and answer.
    async fn ask(&self, request: PermissionRequest) -> Answer;

    /// The permission rules as they are now: the user's, the project's, and what was granted in this session.
    fn rules(&self) -> Arc<Rules>;

    /// The trust in the workspace, and the sandbox in force.
    fn surroundings(&self) -> Surroundings;

    /// Keeps a rule that the user granted: for this project in the user's own data, or for this session in memory.
    async fn grant(&self, rule: Rule, scope: GrantScope);

    /// Waits until all that was recorded is on disk: what has effects outside must not be forgotten.
    async fn stored(&self);

    /// Asks the user before the next request if a budget is spent. By default there is none.
    ///
    /// # Errors
    /// Nothing more is to be asked of a model: why, in words for the user.
    async fn within_budget(&self) -> Result<(), String> {
        Ok(())
    }

    /// Makes a plan a proposal, which the user then reviews.
    async fn propose(&self, call: &ToolCallId, plan: EditPlan) -> Result<Proposed, EditRefused>;

    /// The current proposal of a call; none if nothing of it is undecided.
    async fn proposed(&self, call: &ToolCallId) -> Option<Proposed>;

    /// The command barrier: how many hunks are pending, and what of ours is not on disk.
    async fn unsettled(&self) -> Unsettled;

    /// Accepts all pending hunks and waits until they are applied. Gives the words of failures.
    async fn accept_all(&self) -> Vec<String>;

    /// Saves the buffers that were clean before our edits, and with `own` also those with the user's own unsaved text.
    /// Gives the words of failures.
    async fn save(&self, own: bool) -> Vec<String>;

    /// Remembers the project's files before a command that may change them, so that what it changes can be undone.
    async fn before_command(&self);

    /// Takes in what a command did to the files, which may be recorded: pending hunks are measured against the new
    /// texts. Gives the files that are no longer as the model last saw them, for people.
    async fn after_command(&self, call: &ToolCallId) -> Vec<String>;

    /// Keeps a result that was too long for the model to read at once, and gives the words that say how to read more of
    /// it, such as the tool and the handle; none if it cannot be kept.
    async fn keep(&self, result: String) -> Option<String>;

    /// The changes of language servers' problems by edits since the last call, in words for the model; none if nothing
    /// changed. Waits for the servers after edits, at most as long as the user's setting says. If the future is
    /// dropped, nothing is lost.
    async fn problems(&self) -> Option<String>;

    /// The errors that the turn's edits brought and that are there still; none if nobody can tell of any. Waits as
    /// [`Session::problems`] does. Where the model is told of them, they are no news for that any more.
    async fn new_errors(&self, tells_model: bool) -> Option<NewErrors>;

    /// The plan that the turn works on, as it is now; by default none.
    async fn plan(&self) -> Vec<PlanEntry> {
        Vec::new()
    }

    /// The user's change of the plan, in words for the model, if it was not told yet; by default none.
    async fn plan_news(&self) -> Option<String> {
        None
    }

    /// The messages to the turn since the last call: the user's messages, decisions on edits. In order. The
    /// session has recorded it ([`Event::Steered`], [`Event::Noted`]) when it gives it, so that a crash between the two
    /// loses nothing.
    async fn interjections(&self) -> Vec<Interjection>;

    /// The work of the session as its log tells it, for a handover; by default nothing.
    async fn facts(&self) -> Facts {
        Facts::default()
    }

    /// The names of the secrets in a call's input, whose values it has; an empty name if it is not known which there
    /// are. By default none.
    async fn secrets_in(&self, _input: &Value) -> Vec<String> {
        Vec::new()
    }

    /// The sessions that a call of the turn may start; by default none. What they do and use is recorded for the call.
    fn children(&self, _call: &ToolCallId) -> Children {
        Children::default()
    }
}

/// For how long a rule is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantScope {
    /// For the project, until it is taken back.
    Project,
    /// For the session, as long as the process lives that has it.
    Session,
}

/// The outcome of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The option chosen, with a word to the model.
    Selected {
        /// The option's id.
        option_id: String,
        /// The user's message with it.
        message: Option<String>,
        /// The answers to a form's questions; empty if all are left open.
        answers: Vec<FormAnswer>,
    },
    /// The turn was cancelled.
    Cancelled,
    /// Nobody answered a form in time.
    TimedOut,
    /// The subject was settled in another way, for example pending hunks that were decided one by one.
    Moot,
    /// Nobody can answer, such as in a run without a terminal. Counts as rejected.
    Nobody,
}

/// The differences between the model's picture of the project and the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsettled {
    /// Hunks that wait, and the files they are in, for people.
    pub pending_hunks: usize,
    /// The files those hunks are in, for people.
    pub pending_files: Vec<String>,
    /// Buffers with nothing unsaved but our accepted edits.
    pub ours: Vec<String>,
    /// Buffers with unsaved text of the user's.
    pub own: Vec<String>,
}

/// Errors that came with a turn's edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewErrors {
    /// The number.
    pub count: u32,
    /// The first of them, each as its place and words, and below that the code that stands there.
    pub shown: Vec<String>,
}

/// Something said to a running turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Interjection {
    /// The user's word.
    Steer {
        /// The text.
        prompt: Vec<PromptBlock>,
        /// The content of its mentions.
        context: String,
    },
    /// A note of ours: decisions, comments, problems.
    Note {
        /// The text for the model.
        text: String,
        /// True if the user said something in it, such as why a hunk was rejected: that wants an answer.
        wants_answer: bool,
    },
}
