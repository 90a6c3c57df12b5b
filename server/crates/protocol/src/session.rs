//! `azimuth/session/*` and `azimuth/prompt/complete`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Usage;
pub use crate::mode::Mode;
use crate::{Event, PromptBlock, QueueId, SequencedEvent, SessionId, TurnId};

/// A session in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionInfo {
    /// The session.
    pub session_id: SessionId,
    /// Its title; empty before the first prompt.
    pub title: String,
    /// The workspace folders that it works in, as URIs. Commands start in the first one.
    pub folders: Vec<String>,
    /// The model's id, if one is chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode of its next turn.
    pub mode: Mode,
    /// The time of its creation.
    pub created_at: u64,
    /// The time of its last event.
    pub updated_at: u64,
    /// The number of its last event; 0 before the first.
    pub last_seq: u64,
    /// Tokens of all turns, of requests outside turns, and of the sessions that its calls started.
    pub usage: Usage,
    /// The cost of the same in US dollars, as far as prices are known.
    pub cost: f64,
    /// The session that started it, if a session did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// Its purpose; absent for a chat.
    #[serde(default, skip_serializing_if = "Purpose::is_chat")]
    pub purpose: Purpose,
}

/// The purpose of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A conversation, with all tools.
    #[default]
    Chat,
    /// It changes what is selected, as `azimuth/inline/instruct` says: its tools only read and propose edits.
    Instruct,
    /// The record of the suggestions that were accepted. No model is asked in it.
    Suggestions,
}

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Instruct, Self::Suggestions];

    /// True for a chat.
    pub fn is_chat(&self) -> bool {
        *self == Self::Chat
    }

    /// Its name on the wire, in the log and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Instruct => "instruct",
            Self::Suggestions => "suggestions",
        }
    }

    /// The purpose with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }
}

/// The terms on which a session started another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// The session that started it.
    pub session_id: SessionId,
    /// The names of the only tools that it has.
    pub tools: Vec<String>,
    /// The most that it may use.
    pub budget: Budget,
}

/// The most that a session may use. What is absent has no bound of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// Rounds in each of its turns; one at least is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Tokens of all its turns together, of all kinds that are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars for all its turns together. Has no effect if the price of the model is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Parameters of `azimuth/session/new`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionNewParams {
    /// The folders to work in, as URIs; without them, the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folders: Option<Vec<String>>,
    /// The model's id; without it, the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The mode; without it, `agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

/// Result of `azimuth/session/new`. The client is attached to the session: its events follow as `azimuth/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionNewResult {
    /// The session.
    pub session: SessionInfo,
}

/// Parameters of `azimuth/session/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionListParams {
    /// Only sessions of this folder (a URI); without it, those of the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// True for the sessions of every folder.
    #[serde(default)]
    pub everywhere: bool,
    /// Only sessions with this text in their title, ignoring case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Only the sessions that this one started; without it, those that none started, or whose parent is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// Only sessions of this purpose; without it, chats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// At most this many, 1 to 1000; 100 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `azimuth/session/list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionListResult {
    /// The sessions, the most recently used first.
    pub sessions: Vec<SessionInfo>,
}

/// Parameters of `azimuth/session/open`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionOpenParams {
    /// The session.
    pub session_id: SessionId,
    /// The number of the last event that the client has; 0 for all.
    #[serde(default)]
    pub since: u64,
}

/// Result of `azimuth/session/open`. The client is attached: later events follow as `azimuth/event`.
// For `E` see `SequencedEvent`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SessionOpenResult")]
pub struct SessionOpenResult<E = Event> {
    /// The session.
    pub session: SessionInfo,
    /// The events after `since`, in order.
    pub events: Vec<SequencedEvent<E>>,
    /// The running turn, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_turn: Option<TurnId>,
    /// The waiting prompts, the next one first.
    pub queue: Vec<QueueId>,
}

/// Parameters of `azimuth/session/close`: the client no longer follows the session. A running turn continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionCloseParams {
    /// The session.
    pub session_id: SessionId,
}

/// Parameters of `azimuth/session/rename`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionRenameParams {
    /// The session.
    pub session_id: SessionId,
    /// The new title, one line, not empty.
    pub title: String,
}

/// Parameters of `azimuth/session/promote`: makes a session that was started by `azimuth/inline/instruct` a chat with
/// all tools, to go on there. Its next turn has them. A chat stays one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionPromoteParams {
    /// The session.
    pub session_id: SessionId,
}

/// Parameters of `azimuth/session/mode`: the mode of the session's next turns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionModeParams {
    /// The session.
    pub session_id: SessionId,
    /// The mode.
    pub mode: Mode,
    /// True if the user has confirmed it after reading what it means. Without it, `bypass` is refused; the error's
    /// message explains it to the user.
    #[serde(default)]
    pub confirmed: bool,
}

/// Parameters of `azimuth/session/delete`. A running turn is cancelled first. The sessions that it started are deleted
/// too, except for those that are running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionDeleteParams {
    /// The session.
    pub session_id: SessionId,
}

/// Parameters of `azimuth/session/export`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionExportParams {
    /// The session.
    pub session_id: SessionId,
    /// The format.
    pub format: ExportFormat,
}

/// Result of `azimuth/session/export`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionExportResult {
    /// A name for the file.
    pub name: String,
    /// Its text, in which placeholders stand for the secrets that models do not see.
    pub text: String,
}

/// The format of an exported session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    /// A page in one file, which loads and runs nothing.
    #[default]
    Html,
    /// Markdown.
    Markdown,
    /// The events as JSON lines, to be imported again.
    Jsonl,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Html, Self::Markdown, Self::Jsonl];

    /// Its name for users, which files end with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Markdown => "md",
            Self::Jsonl => "jsonl",
        }
    }

    /// The format with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Parameters of `azimuth/prompt/put`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptPutParams {
    /// The prompt, or a part of it.
    pub prompt: Vec<PromptBlock>,
    /// True to send it at once, or after the running turn. Otherwise the user wants to add something.
    pub send: bool,
}

/// Parameters of `azimuth/prompt/complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptCompleteParams {
    /// The session.
    pub session_id: SessionId,
    /// The prompt's text.
    pub text: String,
    /// The cursor: an offset into `text` in UTF-16 units.
    pub cursor: u32,
}

/// Result of `azimuth/prompt/complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptCompleteResult {
    /// The beginning of the token under the cursor, in UTF-16 units.
    pub start: u32,
    /// Its end, exclusive.
    pub end: u32,
    /// The completions, the best first.
    pub items: Vec<CompletionItem>,
}

/// A completion of the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompletionItem {
    /// Its kind.
    pub kind: CompletionKind,
    /// The text to show.
    pub label: String,
    /// A short description.
    pub detail: String,
    /// The text that replaces the token.
    pub insert: String,
    /// For a file: its URI, to be sent as a `file` block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompletionKind {
    /// A slash command.
    Command,
    /// A value for a slash command's argument.
    Argument,
    /// A file, after `@`.
    File,
}
