//! The port to a tool: what the model can call, and what comes of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use protocol::ToolCallId;
use protocol::content::{Location, PlanEntry, ToolKind};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::edit::EditPlan;
use crate::file_blocks;
use crate::model::ToolSpec;
use crate::partial::PartialInput;
use crate::permission::Action;

/// A tool. It is made for one session and holds the services it needs; it has no effect but through its output, except
/// for [`Access::Execute`] and [`Access::Background`], which dispatch lets through only behind permission and, for what
/// is run, the command barrier.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told of it.
    fn spec(&self) -> &ToolSpec;

    /// What kind of thing it does.
    fn kind(&self) -> ToolKind;

    /// What it touches; decides modes, parallelism and the barrier.
    fn access(&self) -> Access;

    /// Checks an input and says what the call would do, without doing any of it. It may ask the disk, for a bounded
    /// time and without holding anybody up meanwhile.
    ///
    /// # Errors
    /// An input that does not fit; the message names the field. A disk that does not answer.
    async fn describe(&self, input: &Value) -> Result<Description, ToolError>;

    /// What the edits of a call come to as far as its input has arrived, to be shown while the rest still does. Nothing
    /// for a tool that does not edit. Cheap, since it is asked at every piece, and bound to grow: with more of the
    /// input the parts are the same, but that the last has more text and others follow it.
    fn preview<'a>(&self, _input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        Vec::new()
    }

    /// How many places of a call's edits are known by what has come of its input, and can be looked for with
    /// [`foresee`](Self::foresee). It grows with the input.
    fn places(&self, _input: &PartialInput) -> usize {
        0
    }

    /// Looks whether the places that are known by now are there, while the rest of the input still arrives.
    ///
    /// # Errors
    /// What [`run`](Self::run) would say: it will certainly fail, whatever is still to come, unless another call
    /// changes the files before. A place that may yet turn out to be one is no error, nor is a file that cannot be read
    /// just now, or that `may_look` does not open: permission has not judged the call yet.
    async fn foresee(&self, _call: Call, _input: PartialInput, _may_look: Arc<MayLook>) -> Result<(), ToolError> {
        Ok(())
    }

    /// Does it.
    ///
    /// # Errors
    /// What the model should know of a failure.
    async fn run(&self, call: Call, input: Value) -> Result<Output, ToolError>;
}

/// Whether a file may be looked at for a call that still arrives, whose words may end up before the model.
pub type MayLook = dyn Fn(&Path) -> bool + Send + Sync;

/// A part of the diff that an edit comes to: lines that are all of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffPart<'a> {
    /// The file, as the model names it.
    pub path: &'a str,
    /// What its lines are.
    pub kind: DiffKind,
    /// Its lines, of which the last may still grow.
    pub text: &'a str,
}

/// What lines of a diff are.
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
    /// What stands before such a line.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Removed => "-",
            Self::Added => "+",
            Self::Place => "@@ ",
            Self::Marked => "",
        }
    }
}

/// What a tool touches.
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

/// What a call would do.
#[derive(Clone, Debug)]
pub struct Description {
    /// In a few words, for people: `Reading main.rs`.
    pub title: String,
    /// The places it is about.
    pub locations: Vec<Location>,
    /// What permission judges.
    pub action: Action,
}

/// One call of a tool.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its id.
    pub id: ToolCallId,
    /// Is triggered when the turn is cancelled; the tool then ends as soon as it can.
    pub cancel: CancellationToken,
    /// What was judged of it, and allowed; none where nothing is done yet. What is done is that and nothing else.
    pub judged: Option<Action>,
}

impl Call {
    /// Whether it is a file that the model wrote in its answer's text. It may replace one that the model has read.
    pub fn is_file_block(&self) -> bool {
        file_blocks::is_block(&self.id)
    }
}

/// What a call came to.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// What the model reads. Dispatch bounds it.
    pub text: String,
    /// What it came to in a few words, for people: `3 matches`.
    pub summary: String,
    /// The places it turned out to be about.
    pub locations: Vec<Location>,
    /// Edits to propose. Dispatch hands them to the session and appends what became of them to `text`.
    pub plan: Option<EditPlan>,
    /// What the model is going to do, for people. Dispatch records it.
    pub steps: Option<Vec<PlanEntry>>,
    /// Whether `text` tells of a failure, such as a command's exit code.
    pub is_error: bool,
    /// The input that would have made the same of the files without the slips of the one that was given; none where
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
