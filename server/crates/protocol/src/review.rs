//! `azimuth/review/*`: pending edits, hunk by hunk.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{HunkId, ProposalId, SessionId, ToolCallId};

/// The pending change of one file: the difference between its text and what the agent proposes.
///
/// Further edits of the same file join the proposal until all its hunks are decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// The proposal.
    pub proposal_id: ProposalId,
    /// Grows when a hunk appears, vanishes or changes, not when one is decided or merely moves.
    pub revision: u64,
    /// The document.
    pub uri: String,
    /// Its path for people: relative to the workspace folder.
    pub path: String,
    /// What becomes of the file.
    pub change: FileChange,
    /// The hunks, from top to bottom, decided ones included.
    pub hunks: Vec<Hunk>,
    /// The hash of the document in which the hunks have their lines; absent where there is no file. By it the server
    /// knows after a restart whether they still have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_hash: Option<String>,
    /// The document to which the deleted file's text goes; absent where it goes nowhere. The deletion can be accepted
    /// once that document has it, or together with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// Whether the hunks are in the document already, since a command put them there, or another program while the turn
    /// ran. To accept such a hunk keeps it; to reject takes it back. Its `startLine` is that of `newText`, which stands
    /// in the document now; `oldText` is what was there. `change` is what became of the file. Nothing waits for the
    /// decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means that
    /// it was taken back and is there again. Without `toolCallIds` it was another program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub landed: bool,
}

/// What becomes of a file.
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

/// A piece of a change that is decided as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The hunk.
    pub hunk_id: HunkId,
    /// The tool calls it came from.
    pub tool_call_ids: Vec<ToolCallId>,
    /// First line it replaces in the document as it is now, from 0.
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
    /// What the server finds the hunk by after a restart, where the document changed meanwhile; absent where its lines
    /// cannot be told from others in the document. Clients have no use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// How it stands.
    pub state: HunkState,
    /// What the user said of it, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<String>,
    /// How many of these, the last ones, the model has not been told. Clients have no use for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub untold_comments: usize,
}

/// For fields that are left out where they are 0.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// How a hunk stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HunkState {
    /// Not decided.
    Pending,
    /// Accepted, and on its way into the document.
    Applying,
    /// Accepted, and seen in the document.
    Accepted,
    /// Accepted and sent, but nobody could tell whether it arrived.
    Unverified,
    /// Rejected.
    Rejected,
    /// The text it was made for has changed; it cannot be accepted as it is.
    Conflicted,
    /// Accepted, then taken back by the user in the editor.
    Undone,
}

/// What to do with hunks.
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
    /// Its path for people.
    pub path: String,
    /// The proposal's revision.
    pub revision: u64,
    /// The text as the user has it; absent where there is no file. Where the hunks have landed, the text without those
    /// that are pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The text with every pending hunk in it; absent where the file is to be deleted. Where the hunks have landed, the
    /// text as the user has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<String>,
}

/// Parameters of `azimuth/review/change`: the user wants another text than the one proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewChangeParams {
    /// The session.
    pub session_id: SessionId,
    /// The proposal.
    pub proposal_id: ProposalId,
    /// Its revision as the user saw it.
    pub revision: u64,
    /// The text that is to be proposed in its place. Nothing is accepted by it.
    pub text: String,
}

/// Parameters of `azimuth/review/comment`: the user says something of a hunk, which is not decided by it. The model is
/// told at its next request, or with the next prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewCommentParams {
    /// The session.
    pub session_id: SessionId,
    /// The proposal.
    pub proposal_id: ProposalId,
    /// The hunk.
    pub hunk_id: HunkId,
    /// What is said of it. Not empty.
    pub text: String,
}

/// Parameters of `azimuth/review/auto`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReviewAutoParams {
    /// The session.
    pub session_id: SessionId,
    /// Whether edits are accepted as they come, from now on.
    pub on: bool,
    /// For how long. Switched off for a session, it is off in it even where it is on for the project.
    #[serde(default)]
    pub scope: AutoScope,
}

/// For how long edits are accepted as they come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AutoScope {
    /// In this session, until the server ends.
    #[default]
    Session,
    /// In every session of the project, for good. It is kept in the user's data, never in the project.
    Project,
}

/// What a decision is about.
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
    /// A file each, whole or in hunks. All proposals that the user saw, for "all".
    pub targets: Vec<DecisionTarget>,
    /// A word to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
