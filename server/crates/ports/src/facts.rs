//! The work of a session as its log tells it, without a model's help: for a handover.

use protocol::content::PlanEntry;

/// The work of a session. All texts are for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The files that were read or changed, those changed last at the end.
    pub files: Vec<FileFacts>,
    /// The last plan.
    pub plan: Vec<PlanEntry>,
    /// The questions that the user has not answered, each in a line.
    pub questions: Vec<String>,
    /// The commands that run in the background, each in a line with its id.
    pub jobs: Vec<String>,
    /// The sessions that calls started and that have not come to their end, each in a line with its id.
    pub children: Vec<String>,
    /// The last command that failed, if the same line has not succeeded since.
    pub failed: Option<FailedCommand>,
}

/// The work on a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Its name, relative to the session's folder if it is in there.
    pub path: String,
    /// True if the model has read it.
    pub read: bool,
    /// The number of the model's changes that are in the file.
    pub accepted: usize,
    /// The number of those that wait for the user's decision.
    pub pending: usize,
    /// The number of those that the user rejected.
    pub rejected: usize,
    /// True if a command, or another program, changed it.
    pub by_command: bool,
    /// True if the user took changes of it back.
    pub taken_back: bool,
}

impl FileFacts {
    /// True if something was done to it, or is to be.
    pub fn is_changed(&self) -> bool {
        self.accepted + self.pending + self.rejected > 0 || self.by_command || self.taken_back
    }
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedCommand {
    /// Its command line.
    pub command: String,
    /// Its exit code; none if it was stopped.
    pub exit_code: Option<i32>,
    /// The end of what the model read of its output.
    pub tail: String,
}
