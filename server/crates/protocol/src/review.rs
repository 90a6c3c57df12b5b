//! `azimuth/review/*`: pending edits, hunk by hunk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HunkId, ProposalId, SessionId, ToolCallId};

/// The pending change of one file: the difference between its text and the agent's proposal.
///
/// Further edits of the same file join the proposal until all its hunks are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The proposal.
    pub proposal_id: ProposalId,
    /// A number that grows when a hunk appears, disappears or changes, but not when one is decided or only moves.
    pub revision: u64,
    /// The document.
    pub uri: String,
    /// Its path relative to the workspace folder, to be shown.
    pub path: String,
    /// The kind of change.
    pub change: FileChange,
    /// The hunks, from top to bottom, decided ones included.
    pub hunks: Vec<Hunk>,
    /// The hash of the document that the hunks' lines refer to; absent if there is no file. With it the server knows
    /// after a restart if the lines are still right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_hash: Option<String>,
    /// For a move: the document that gets the deleted file's text; otherwise absent. The deletion can be accepted once
    /// that document has the text, or together with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// True if the hunks are already in the document, because a command or, during the turn, another program put them
    /// there. To accept such a hunk keeps it; to reject it takes it back. Its `startLine` is that of `newText`, which
    /// is in the document now; `oldText` is the text before. `change` is what happened to the file. Nothing waits for
    /// the decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means
    /// that it was taken back and is there again. Without `toolCallIds` another program made the change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub landed: bool,
}

/// The kind of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileChange {
    /// It is new.
    Create,
    /// It is changed.
    Modify,
    /// It is deleted.
    Delete,
}

/// A part of a proposal that is decided on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The hunk.
    pub hunk_id: HunkId,
    /// The tool calls it came from.
    pub tool_call_ids: Vec<ToolCallId>,
    /// The first line that it replaces in the current document, from 0.
    pub start_line: u32,
    /// The lines it replaces, with their line ends (LF). Empty for an insertion.
    pub old_text: String,
    /// The lines it puts there, with their line ends (LF). Empty for a deletion.
    pub new_text: String,
    /// The line above those it replaces, with its line end; absent at the document's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_before: Option<String>,
    /// The line below them, with its line end; absent at the document's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_after: Option<String>,
    /// A mark with which the server finds the hunk after a restart if the document has changed; absent if its lines are
    /// not unique in the document. Clients do not need it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Its state.
    pub state: HunkState,
    /// The user's comments, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// The number of the last comments that the model has not been told. Clients do not need it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untold_comments: usize,
}

/// For fields that are left out if they are 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The state of a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Not decided.
    Pending,
    /// Accepted, and on its way into the document.
    Applying,
    /// Accepted, and seen in the document.
    Accepted,
    /// Accepted and sent, but not seen in the document.
    Unverified,
    /// Rejected.
    Rejected,
    /// In conflict: the text that it was made for has changed, and it cannot be accepted.
    Conflicted,
    /// Accepted, then undone by the user in the editor.
    Undone,
}

/// A decision on hunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Put them into the document.
    Accept,
    /// Drop them; the model is told.
    Reject,
}

/// Parameters of `azimuth/review/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewListParams {
    /// The session.
    pub session_id: SessionId,
}

/// Result of `azimuth/review/list` and `azimuth/review/decide`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReviewResult {
    /// The proposals that still have undecided hunks; after `decide`, also those that it decided.
    pub proposals: Vec<Proposal>,
}

/// Parameters of `azimuth/review/text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewTextParams {
    /// The session.
    pub session_id: SessionId,
    /// The proposal.
    pub proposal_id: ProposalId,
}

/// Result of `azimuth/review/text`: a file before and after all of its pending hunks, with LF line ends and without a
/// byte order mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposedText {
    /// The document.
    pub uri: String,
    /// Its path, to be shown.
    pub path: String,
    /// The proposal's revision.
    pub revision: u64,
    /// The current text; absent if there is no file. If the hunks have landed, the text without the pending ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The text with every pending hunk; absent if the file is to be deleted. If the hunks have landed, the current
    /// text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
}

/// Parameters of `azimuth/review/change`: the user wants another text than the proposed one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewChangeParams {
    /// The session.
    pub session_id: SessionId,
    /// The proposal.
    pub proposal_id: ProposalId,
    /// Its revision as the user saw it.
    pub revision: u64,
    /// The new proposed text. It is not accepted by this.
    pub text: String,
}

/// Parameters of `azimuth/review/comment`: a comment of the user on a hunk, which decides nothing. The model gets it
/// with its next request, or with the next prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewCommentParams {
    /// The session.
    pub session_id: SessionId,
    /// The proposal.
    pub proposal_id: ProposalId,
    /// The hunk.
    pub hunk_id: HunkId,
    /// The comment, not empty.
    pub text: String,
}

/// Parameters of `azimuth/review/auto`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewAutoParams {
    /// The session.
    pub session_id: SessionId,
    /// True to accept edits automatically from now on.
    pub on: bool,
    /// The scope. A session in which it is switched off keeps it off even if it is on for the project.
    #[serde(default)]
    pub scope: AutoScope,
}

/// The scope of automatic accepting of edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AutoScope {
    /// This session, until the server ends.
    #[default]
    Session,
    /// Every session of the project, permanently. It is kept in the user's data, never in the project.
    Project,
}

/// The hunks that a decision is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DecisionTarget {
    /// The proposal.
    pub proposal_id: ProposalId,
    /// Its revision as the user saw it.
    pub revision: u64,
    /// The hunks; without them, all that are pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk_ids: Option<Vec<HunkId>>,
}

/// Parameters of `azimuth/review/decide`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewDecideParams {
    /// The session.
    pub session_id: SessionId,
    /// Accept or reject.
    pub decision: Decision,
    /// One item per file, with all or some of its hunks. For "all", every proposal that the user saw.
    pub targets: Vec<DecisionTarget>,
    /// A message to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The outcome of applying an edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ApplyOutcome {
    /// The expected text was seen.
    Verified,
    /// The client agreed, but did not show the text in time.
    Unverified,
    /// Nothing was changed.
    Failed {
        /// The reason.
        reason: String,
    },
}
