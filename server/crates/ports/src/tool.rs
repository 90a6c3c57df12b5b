//! The port to a tool: what the model can call, and what comes of it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use permission::Action;
use protocol::content::{Location, PlanEntry, ToolKind};
use protocol::form::Form;
use protocol::{SessionId, ToolCallId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::children::Children;
use crate::edit::EditPlan;
use crate::file_block;
use crate::model::ToolSpec;
use crate::partial::PartialInput;
use crate::tool_names;

/// A tool. It is made for one session and holds the services it needs; it has no effect but through its output, except
/// for [`Access::Execute`] and [`Access::Background`], which dispatch lets through only behind permission and, for what
/// is run, the command barrier.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The description for the model.
    fn spec(&self) -> &ToolSpec;

    /// The tool's kind.
    fn kind(&self) -> ToolKind;

    /// The access that it needs; decides modes, parallelism and the barrier.
    fn access(&self) -> Access;

    /// True if a call that was interrupted can be made again, unasked. It cannot if it may have had effects outside, or
    /// if it is paid for.
    fn is_repeatable(&self) -> bool {
        !self.access().has_effects()
    }

    /// Checks an input and says what the call would do, without doing any of it. It may ask the disk, for a bounded
    /// time and without holding anybody up meanwhile.
    ///
    /// # Errors
    /// An input that does not fit; the message names the field. A disk that does not answer.
    async fn describe(&self, input: &Value) -> Result<Description, ToolError>;

    /// The diff of a call's edits as far as its input has arrived, to be shown while the rest arrives. Empty for a tool
    /// that does not edit. It must be cheap, because it is called for every piece, and only grow: with more input the
    /// parts stay the same, except that the last one may get more text and others follow it.
    fn preview<'a>(&self, _input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        Vec::new()
    }

    /// The number of places of a call's edits that are known from its input so far, and can be checked with
    /// [`foresee`](Self::foresee). It grows with the input.
    fn places(&self, _input: &PartialInput) -> usize {
        0
    }

    /// Looks whether the places that are known by now are there, while the rest of the input still arrives.
    ///
    /// # Errors
    /// The error of [`run`](Self::run), if it will certainly fail, whatever is still to come, unless another
    /// call changes the files before. A place that may still turn out right is no error, nor is a file that cannot be
    /// read at the moment, or that `may_look` does not open: permission has not judged the call yet.
    async fn foresee(&self, _call: Call, _input: PartialInput, _may_look: Arc<MayLook>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does it.
    ///
    /// # Errors
    /// A failure, as the model should know it.
    async fn run(&self, call: Call, input: Value) -> Result<Output, ToolError>;
}

/// The check if a file may be read for a call that is still arriving, whose error may reach the model.
pub type MayLook = dyn Fn(&Path) -> bool + Send + Sync;

/// A part of the diff that an edit comes to: lines that are all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffPart<'a> {
    /// The file, as the model names it.
    pub path: &'a str,
    /// The kind of its lines.
    pub kind: DiffKind,
    /// Its lines, of which the last may still grow.
    pub text: &'a str,
}

/// The kind of lines of a diff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffKind {
    /// They go.
    Removed,
    /// They come.
    Added,
    /// They say which place of the file is meant.
    Place,
    /// They are lines of a diff already, each with its mark.
    Marked,
}

impl DiffKind {
    /// The mark before such a line.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Removed => "-",
            Self::Added => "+",
            Self::Place => "@@ ",
            Self::Marked => "",
        }
    }
}

/// The access that a tool needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It only reads: runs beside others, and in mode `ask`.
    Read,
    /// It proposes edits: runs alone.
    Edit,
    /// It runs commands, which see the disk: runs alone, behind the command barrier.
    Execute,
    /// It starts, types into or ends what goes on in the background: runs alone, and only in modes that may act. What
    /// it starts goes behind the command barrier too.
    Background,
}

impl Access {
    /// True if a call may have effects outside, whatever becomes of its result.
    pub fn has_effects(self) -> bool {
        matches!(self, Self::Execute | Self::Background)
    }
}

/// A description of what a call would do.
#[derive(Clone, Debug)]
pub struct Description {
    /// In a few words, for people: `Reading main.rs`.
    pub title: String,
    /// The places it is about.
    pub locations: Vec<Location>,
    /// The action that permission judges.
    pub action: Action,
}

/// The text that the model reads in place of a result that never came.
pub const INTERRUPTED: &str = "interrupted: the server ended before the call finished; it may have had effects";

/// The text in place of answers that never came: the user said something else.
const NOT_ANSWERED: &str =
    "not answered: the user went on without an answer. Ask again only if what they said since leaves it open";

/// The same of a call of this tool that may have started a session.
pub fn interrupted(tool: &str, child: Option<&SessionId>) -> Cow<'static, str> {
    if tool == tool_names::ASK_USER {
        return NOT_ANSWERED.into();
    }
    let Some(child) = child else { return INTERRUPTED.into() };
    let words = format!(
        "interrupted: the server ended before the call finished. It had started conversation {child}, where its answer \
         may be: the user can open it, you cannot. Make the call again only if you need it, since that is paid for anew"
    );
    words.into()
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id.
    pub id: ToolCallId,
    /// Is triggered when the turn is cancelled; the tool then ends as soon as it can.
    pub cancel: CancellationToken,
    /// The judged and allowed action; none if nothing is done yet. Exactly this is done.
    pub judged: Option<Action>,
    /// The sessions that it may start; none if nothing is done yet.
    pub children: Children,
}

impl Call {
    /// A call that nobody has judged, and that may start no session.
    pub fn unjudged(id: ToolCallId, cancel: CancellationToken) -> Self {
        Self { id, cancel, judged: None, children: Children::default() }
    }

    /// True if it is a file that the model wrote in its answer's text. It may replace one that the model has read.
    pub fn is_file_block(&self) -> bool {
        file_block::is_block(&self.id)
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The text for the model. Dispatch bounds it.
    pub text: String,
    /// A short summary for the user: `3 matches`.
    pub summary: String,
    /// The places it turned out to be about.
    pub locations: Vec<Location>,
    /// Edits to propose. Dispatch hands them to the session and appends what became of them to `text`.
    pub plan: Option<EditPlan>,
    /// The questions to the user. Dispatch asks them, and the answers are the result in place of `text`.
    pub form: Option<Form>,
    /// The model's plan, for the user. Dispatch records it.
    pub steps: Option<Vec<PlanEntry>>,
    /// True if `text` tells of a failure, such as a command's exit code.
    pub is_error: bool,
    /// The input that would have made the same of the files without the slips of the one that was given; none if
    /// there were none.
    pub canonical: Option<Value>,
}

/// A call that failed, in words for the model: what happened, to what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The input does not fit.
    #[error("invalid input: {0}")]
    InvalidInput(String),
    /// A path outside the workspace, or behind a link that leaves it.
    #[error("{} is outside the workspace; only files in {} can be used", path.display(), roots.join(", "))]
    OutsideWorkspace {
        /// The path.
        path: PathBuf,
        /// The workspace's folders.
        roots: Vec<String>,
    },
    /// Anything else.
    #[error("{0}")]
    Failed(String),
    /// The turn was cancelled meanwhile.
    #[error("cancelled by the user")]
    Cancelled,
}
