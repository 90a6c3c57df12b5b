//! `azimuth/checkpoint/*`: undoing and redoing what turns did to files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::review::FileChange;
use crate::{SessionId, TurnId};

/// Parameters of `azimuth/checkpoint/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckpointListParams {
    /// The session.
    pub session_id: SessionId,
    /// At most this many turns; 20 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `azimuth/checkpoint/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointListResult {
    /// The turns that changed files, newest first.
    pub turns: Vec<Checkpoint>,
    /// True if there are older ones.
    pub more: bool,
}

/// The changes of files by a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The turn.
    pub turn_id: TurnId,
    /// The files, sorted by path.
    pub files: Vec<CheckpointFile>,
}

/// The changes of a file by turns, and their status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointFile {
    /// The document.
    pub uri: String,
    /// Its path relative to the workspace folder, to be shown.
    pub path: String,
    /// The turns' change of the file. Undo does the reverse.
    pub change: FileChange,
    /// Lines that they added.
    pub added: u32,
    /// Lines that they removed.
    pub removed: u32,
    /// Its status.
    pub state: CheckpointState,
    /// The reason, if it can be neither undone nor redone as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For a file that was changed since: true if the turns' changes can be undone or redone while the rest stays. If
    /// the file is confirmed, that is done; otherwise all of the file is restored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merges: bool,
    /// The hash of its current text; absent if there is no file. It is needed to confirm the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// The status of a file that turns changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    /// As the turns left it; it can be undone.
    Applied,
    /// As it was before the turns; it can be redone.
    Undone,
    /// Neither: it was changed since. It is left as it is unless it is confirmed.
    ChangedSince,
    /// It can be neither undone nor redone, because its former text is not kept.
    NotKept,
    /// Its current text cannot be read.
    Unreadable,
}

/// The direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Back to the text before.
    #[default]
    Undo,
    /// Forward to what was undone.
    Redo,
}

/// Parameters of `azimuth/checkpoint/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckpointPreviewParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn; without it, the one that `undo` or `redo` would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Also all turns after it: back to the message that began it.
    #[serde(default)]
    pub and_later: bool,
    /// The direction to look at; undo without it.
    #[serde(default)]
    pub direction: Direction,
}

/// Result of `azimuth/checkpoint/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointPreviewResult {
    /// The turns, newest first. Empty if there is nothing to undo or redo.
    pub turn_ids: Vec<TurnId>,
    /// The files, sorted by path, each as one step over all the turns.
    pub files: Vec<CheckpointFile>,
    /// The number of these turns' undecided hunks. Undo rejects them, and redo does not bring them back.
    pub pending_hunks: u32,
}

/// Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckpointRestoreParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn. Without it: for undo, the last one that changed files and is not undone; for redo, those that were
    /// undone last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Also all turns after it: back to the message that began it.
    #[serde(default)]
    pub and_later: bool,
    /// The files to restore although they were changed since, each as the user saw it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<ConfirmedFile>,
}

/// A file to restore although it was changed since. Its current text is kept, and `redo` brings it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmedFile {
    /// The document.
    pub uri: String,
    /// The hash of its text as the user saw it, from `now` of the preview or the list; absent if there was no file. If
    /// the text has changed by now, the file is not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRestoreResult {
    /// The turns, newest first. Empty if there was nothing to undo or redo.
    pub turn_ids: Vec<TurnId>,
    /// The outcome for each file, sorted by path.
    pub files: Vec<RestoredFile>,
}

/// The outcome of undo or redo for a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoredFile {
    /// The document.
    pub uri: String,
    /// Its path, to be shown.
    pub path: String,
    /// The outcome.
    pub outcome: RestoreOutcome,
    /// The turns' changes that were undone or redone, in that order. Empty unless the outcome is `done`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RestoreStep>,
}

/// How the undo or redo of a file ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RestoreOutcome {
    /// Done: the file has the wanted text.
    Done,
    /// Probably done: the client agreed, but did not show the text in time.
    Unverified,
    /// It was left as it is.
    Left {
        /// The reason, and what to do.
        reason: String,
    },
    /// It could not be done; nothing was changed.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// A turn's change of a file that was undone or redone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreStep {
    /// The turn.
    pub turn_id: TurnId,
    /// The file before; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<FileImage>,
    /// The file after; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<FileImage>,
}

/// A file at one moment. Its content is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileImage {
    /// The hash of its text, without byte order mark and with LF line ends.
    pub hash: String,
    /// The hash of its bytes, if the bytes are known and not only the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// True if it was executable; false if that is unknown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl FileImage {
    /// A file of which only the text is known.
    pub fn text(hash: impl Into<String>) -> Self {
        Self { hash: hash.into(), bytes: None, executable: false }
    }

    /// The hashes under which it is kept.
    pub fn hashes(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.hash).chain(&self.bytes)
    }
}

/// A file that a command changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// The document.
    pub uri: String,
    /// The file before; absent if there was none, or if `unknown` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileImage>,
    /// The file now; absent if there is none, or if `unknown` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileImage>,
    /// The reason why the file before or after is not kept, so that the change cannot be undone; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// The occasion on which a file's state was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeenOccasion {
    /// An accepted edit is about to delete it.
    Deletion,
    /// It was saved in the editor, after an edit had created it as the new path of a file that is still to be moved.
    Save,
    /// Another process opened the session, and the file is not as it was left.
    Restart,
}
