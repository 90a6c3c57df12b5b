//! `azimuth/session/search` and `azimuth/prompt/history`: what was said in earlier sessions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{MessageId, SessionId};

/// Parameters of `azimuth/session/search`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionSearchParams {
    /// The words to find, separated by white space, in any order and case. Each may be a part of a word in the text,
    /// and no character has a special meaning. Without a word nothing is found.
    pub query: String,
    /// Only sessions of this folder (a URI); without it, those of the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// True for the sessions of every folder.
    #[serde(default)]
    pub everywhere: bool,
    /// At most this many hits, 1 to 1000; 50 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `azimuth/session/search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionSearchResult {
    /// The hits: first the sessions whose title has all words, then the prompts and answers that have them, newest
    /// first. Of one session there are at most five of the latter.
    pub hits: Vec<SearchHit>,
    /// The number of sessions that were not searched to their end, because an older version stored them. They are read
    /// in the background, so that the same search may find more later.
    pub unread: u32,
}

/// A place in a session that has all words of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchHit {
    /// The session.
    pub session_id: SessionId,
    /// Its title; empty if it has none.
    pub title: String,
    /// Its folders, as URIs.
    pub folders: Vec<String>,
    /// The part of the session that has the words.
    pub kind: HitKind,
    /// The time at which it was said; for a title, that of the session's last event.
    pub at: u64,
    /// The number of its event: of `turnStarted` or `steered` for a prompt, of `messageCompleted` for an answer. Absent
    /// for a title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The message, for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// An excerpt in one line, with the first of the words.
    pub snippet: String,
    /// The words in the excerpt, in order; they do not overlap.
    pub marks: Vec<SnippetMark>,
}

/// The part of a session that has the words of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HitKind {
    /// The session's title.
    Title,
    /// Something that the user said.
    Prompt,
    /// Something that the model said.
    Answer,
}

/// A part of an excerpt, in UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SnippetMark {
    /// Its beginning.
    pub start: u32,
    /// Its end, exclusive.
    pub end: u32,
}

/// Parameters of `azimuth/prompt/history`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PromptHistoryParams {
    /// Only prompts that have these words, as for `azimuth/session/search`; all without a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// Only prompts of sessions of this folder (a URI); without it, those of the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// True for the prompts of every folder.
    #[serde(default)]
    pub everywhere: bool,
    /// At most this many, 1 to 1000; 100 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// Result of `azimuth/prompt/history`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptHistoryResult {
    /// The prompts that the user has typed, with slash commands and commands after `!`, the last first. Each text is
    /// there once.
    pub prompts: Vec<EarlierPrompt>,
}

/// A prompt of an earlier time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EarlierPrompt {
    /// The text as typed.
    pub text: String,
    /// The time at which it was last sent.
    pub at: u64,
    /// The session that it was sent in then.
    pub session_id: SessionId,
}
