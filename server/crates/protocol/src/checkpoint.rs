//! `azimuth/checkpoint/*`: taking back what turns did to files, and putting it again.

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
    /// Whether there are older ones.
    pub more: bool,
}

/// What a turn did to files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// The turn.
    pub turn_id: TurnId,
    /// The files, sorted by path.
    pub files: Vec<CheckpointFile>,
}

/// What turns did to a file, and how that stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointFile {
    /// The document.
    pub uri: String,
    /// Its path for people: relative to the workspace folder.
    pub path: String,
    /// What the turns made of it. To undo is the reverse of it.
    pub change: FileChange,
    /// Lines that they added.
    pub added: u32,
    /// Lines that they removed.
    pub removed: u32,
    /// How it stands.
    pub state: CheckpointState,
    /// Why it is so, in words, where it can be neither undone nor redone as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where it was changed since: whether what the turns did can be taken out of it, or put into it, while the rest
    /// stays. Confirmed, that is done then, and else all of it is set.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub merges: bool,
    /// The hash of its text as it is now; absent where there is no file. Confirming needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// How a file that turns changed stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointState {
    /// It is as the turns left it, and can be undone.
    Applied,
    /// It is as it was before them: taken back, and can be put again.
    Undone,
    /// It is neither: somebody changed it since. It is left as it is unless that is confirmed.
    ChangedSince,
    /// It cannot be taken back or put again: what it was is no longer kept, or never was.
    NotKept,
    /// What it is now cannot be told.
    Unreadable,
}

/// Which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Back to what was before.
    #[default]
    Undo,
    /// Again to what was undone.
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
    /// Whether to look at undoing, which it is without it, or at redoing.
    #[serde(default)]
    pub direction: Direction,
}

/// Result of `azimuth/checkpoint/preview`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointPreviewResult {
    /// The turns, newest first. Empty where there is nothing to take back or to put again.
    pub turn_ids: Vec<TurnId>,
    /// The files that it is about, sorted by path, each as one step over all the turns.
    pub files: Vec<CheckpointFile>,
    /// How many of these turns' hunks are undecided. To undo rejects them, and to redo does not bring them back.
    pub pending_hunks: u32,
}

/// Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckpointRestoreParams {
    /// The session.
    pub session_id: SessionId,
    /// The turn. Without it, to undo: the last one that changed files and was not undone; to redo: those that were
    /// undone last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Also all turns after it: back to the message that began it.
    #[serde(default)]
    pub and_later: bool,
    /// The files that were changed since and are to be set all the same, each as the user saw it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<ConfirmedFile>,
}

/// A file that was changed since, and is to be set all the same. What it is now is kept, and `redo` brings it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConfirmedFile {
    /// The document.
    pub uri: String,
    /// The hash of its text as the user saw it, from `now` of the preview or the list; absent where there was no file.
    /// Of a file with another text by now nothing is confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
}

/// Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRestoreResult {
    /// The turns, newest first. Empty where there was nothing to take back or to put again.
    pub turn_ids: Vec<TurnId>,
    /// What became of each file, sorted by path.
    pub files: Vec<RestoredFile>,
}

/// What became of a file that was to be set back or again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoredFile {
    /// The document.
    pub uri: String,
    /// Its path for people.
    pub path: String,
    /// How it went.
    pub outcome: RestoreOutcome,
    /// The turns' changes that were taken back or put again, in the order in which that was done. Empty unless it is
    /// done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<RestoreStep>,
}

/// How setting a file back or again went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RestoreOutcome {
    /// It is as wanted.
    Done,
    /// It is as wanted, as far as can be told: the client said yes, but did not show the text in time.
    Unverified,
    /// It was left as it is.
    Left {
        /// Why, and what to do.
        reason: String,
    },
    /// It could not be done; nothing was changed.
    Failed {
        /// Why.
        reason: String,
    },
}

/// A turn's change of a file, taken back or put again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RestoreStep {
    /// The turn.
    pub turn_id: TurnId,
    /// What the file was; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<FileImage>,
    /// What it became; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<FileImage>,
}

/// A file as it was at a time. What it held is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileImage {
    /// The hash of its text, without byte order mark and with LF line ends.
    pub hash: String,
    /// The hash of its bytes, where these are known and not just the text's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    /// Whether it could be run as a program; false also where that is not known.
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
    /// What it was; absent where there was none, and where `unknown` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileImage>,
    /// What it is now; absent where there is none, and where `unknown` says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileImage>,
    /// Why what it was, or is, is not kept, so that the change cannot be undone; absent where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}
