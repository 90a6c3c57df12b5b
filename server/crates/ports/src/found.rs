//! Searches in what was said in sessions, as the store is asked for them.

use protocol::search::SearchHit;

/// A search for words in the titles, prompts and answers of chats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextFilter {
    /// The words, separated by white space. Each character stands for itself; without a word nothing is found.
    pub query: String,
    /// Only sessions with one of these folders (URIs), or without a folder if these are none; all if nothing is said.
    pub folders: Option<Vec<String>>,
    /// At most this many hits.
    pub limit: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The hits in titles, then those in texts, newest first.
    pub hits: Vec<SearchHit>,
    /// The number of sessions with events that were not taken in yet.
    pub unread: usize,
}

/// A filter for what the user has typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptFilter {
    /// The words that it must have; all without a word.
    pub query: String,
    /// Only of sessions with one of these folders (URIs), or without a folder if these are none; of all if nothing is
    /// said.
    pub folders: Option<Vec<String>>,
    /// At most this many.
    pub limit: usize,
}
