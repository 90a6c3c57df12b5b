//! The port to what outlives the process: the sessions' logs, blobs, and grants.
//!
//! Its functions block; they are called from the store's own thread, or where waiting is right.

use std::io::Write;
use std::path::PathBuf;

use protocol::search::EarlierPrompt;
use protocol::session::{Purpose, SessionInfo};
use protocol::{Event, SequencedEvent, SessionId};
use serde_json::value::RawValue;

use crate::counts::{Cost, Count};
use crate::found::{Found, PromptFilter, TextFilter};
use crate::spent::{Spent, Sums};

/// The port to what outlives the process. One value serves all threads.
pub trait Store: Send + Sync {
    /// Makes a session for a purpose, which another one may have started. Its first events are appended by the caller.
    ///
    /// # Errors
    /// An id that is taken ([`StoreError::Exists`]), or a failure of the store.
    fn create(
        &self,
        session: &SessionId,
        folders: &[String],
        parent: Option<&SessionId>,
        purpose: Purpose,
    ) -> Result<(), StoreError>;

    /// Takes the session for this process. While the lock lives no other process can append.
    ///
    /// # Errors
    /// [`StoreError::Locked`] with who holds it; [`StoreError::NotFound`].
    fn lock(&self, session: &SessionId) -> Result<Box<dyn SessionLock>, StoreError>;

    /// Appends events in one transaction, after which a crash of the process loses none of them.
    ///
    /// Their numbers follow the last one without gaps. `durable` also guards against power loss. The session's
    /// title, model, mode, usage and times in [`Store::list`] follow the events.
    ///
    /// # Errors
    /// A failure of the store; nothing is appended then.
    fn append(
        &self,
        session: &SessionId,
        events: Vec<(u64, Event)>,
        durable: bool,
    ) -> Result<Vec<SequencedEvent>, StoreError>;

    /// The events after number `since`, in order, at most `limit` of them.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or a failure of the store.
    fn events(&self, session: &SessionId, since: u64, limit: usize) -> Result<Vec<SequencedEvent>, StoreError>;

    /// All events after number `since`, in order, each as the JSON of an [`Event`] that was stored. This costs a
    /// fraction of [`Store::events`], for whoever only hands them on.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or a failure of the store; what is no JSON is one.
    fn raw_events(&self, session: &SessionId, since: u64) -> Result<Vec<SequencedEvent<Box<RawValue>>>, StoreError>;

    /// Hands on the time and the JSON of each event of these kinds, in order, one at a time: results of tools may be
    /// large. What is no JSON is handed on too.
    ///
    /// # Errors
    /// A failure of the store. A session that is not there has no events.
    fn each_event(
        &self,
        session: &SessionId,
        kinds: &[&str],
        each: &mut dyn FnMut(u64, &str),
    ) -> Result<(), StoreError>;

    /// One session.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or a failure of the store.
    fn info(&self, session: &SessionId) -> Result<SessionInfo, StoreError>;

    /// Sessions, the last used first.
    ///
    /// # Errors
    /// A failure of the store.
    fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, StoreError>;

    /// Deletes a session and what belongs only to it, with the sessions that it started, but for those that run.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or a failure of the store.
    fn delete(&self, session: &SessionId) -> Result<(), StoreError>;

    /// Keeps bytes under their SHA-256 in hexadecimal, and gives it.
    ///
    /// # Errors
    /// A failure of the store.
    fn put_blob(&self, bytes: &[u8]) -> Result<String, StoreError>;

    /// The bytes kept under a hash.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], or a failure of the store.
    fn blob(&self, hash: &str) -> Result<Vec<u8>, StoreError>;

    /// Lets go of the blobs that no event from this time on (milliseconds since the Unix epoch) speaks of. Gives how
    /// many files were removed.
    ///
    /// # Errors
    /// A failure of the store.
    fn forget_blobs(&self, before: u64) -> Result<usize, StoreError>;

    /// The permission rules granted for a project, as text, in the order they were granted.
    ///
    /// # Errors
    /// A failure of the store.
    fn grants(&self, project: &str) -> Result<Vec<String>, StoreError>;

    /// Grants a rule for a project. The same rule twice is kept once.
    ///
    /// # Errors
    /// A failure of the store.
    fn grant(&self, project: &str, rule: &str) -> Result<(), StoreError>;

    /// Takes back a rule that was granted for a project. One that was not granted is taken back already.
    ///
    /// # Errors
    /// A failure of the store.
    fn revoke(&self, project: &str, rule: &str) -> Result<(), StoreError>;

    /// A setting of ours that is not configuration, such as the last model.
    ///
    /// # Errors
    /// A failure of the store.
    fn get(&self, key: &str) -> Result<Option<String>, StoreError>;

    /// Sets it.
    ///
    /// # Errors
    /// A failure of the store.
    fn set(&self, key: &str, value: &str) -> Result<(), StoreError>;

    /// Adds to the numbers about suggestions: each grows by what is given. Those of days before `since` are deleted.
    ///
    /// # Errors
    /// A failure of the store; nothing is added then.
    fn add_counts(&self, counts: &[Count], costs: &[Cost], since: u32) -> Result<(), StoreError>;

    /// The numbers about suggestions from this day on.
    ///
    /// # Errors
    /// A failure of the store.
    fn counts(&self, since: u32) -> Result<Vec<Count>, StoreError>;

    /// The costs of suggestions from this day on.
    ///
    /// # Errors
    /// A failure of the store.
    fn costs(&self, since: u32) -> Result<Vec<Cost>, StoreError>;

    /// Deletes the numbers about suggestions, and the costs of the days before this one.
    ///
    /// # Errors
    /// A failure of the store.
    fn forget_counts(&self, today: u32) -> Result<(), StoreError>;

    /// The requests to models of all sessions from this day on (days since the Unix epoch, UTC), with those of sessions
    /// that were deleted; none that was appended before is missing. In the order of sessions, and of days in each.
    ///
    /// # Errors
    /// A failure of the store.
    fn spent(&self, since: u32) -> Result<Vec<Spent>, StoreError>;

    /// The sum of the same, for whoever needs no more of it.
    ///
    /// # Errors
    /// A failure of the store.
    fn sums(&self, since: u32) -> Result<Sums, StoreError>;

    /// Searches the titles, prompts and answers of chats. Whatever is appended is found at once; events that an older
    /// version stored are found once they were taken in by [`Store::take_in_texts`]. The result says of how many
    /// sessions they were not.
    ///
    /// # Errors
    /// A failure of the store.
    fn search(&self, filter: &TextFilter) -> Result<Found, StoreError>;

    /// The texts that the user has typed, the last first, each once.
    ///
    /// # Errors
    /// A failure of the store.
    fn prompts(&self, filter: &PromptFilter) -> Result<Vec<EarlierPrompt>, StoreError>;

    /// Takes in the next events of a session that an older version stored, so that they are found. Gives true if there
    /// are none left. Each call takes milliseconds.
    ///
    /// # Errors
    /// A failure of the store.
    fn take_in_texts(&self) -> Result<bool, StoreError>;

    /// Writes a session as JSON lines, which can be imported again. It may be running; what is appended in the meantime
    /// may be left out.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], a failure of the store, or of the writer.
    fn export(&self, session: &SessionId, writer: &mut dyn Write) -> Result<(), StoreError>;

    /// A folder for a session's bulky files, such as terminal output. Made if need be, removed with the session.
    ///
    /// # Errors
    /// A failure of the store.
    fn session_folder(&self, session: &SessionId) -> Result<PathBuf, StoreError>;
}

/// A session held by this process. Dropping it lets the session go, and so does the process's death.
pub trait SessionLock: Send + Sync {}

/// A filter for the list of sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Only those with one of these folders (URIs); empty for all.
    pub folders: Vec<String>,
    /// Only those with this text in their title, whatever its case.
    pub query: Option<String>,
    /// Only those that were started so.
    pub origin: Origin,
    /// Only those of this purpose; none for all.
    pub purpose: Option<Purpose>,
    /// At most this many.
    pub limit: usize,
}

/// The starts of sessions that a list is of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// All.
    #[default]
    Any,
    /// No session started them, or the one that did is gone.
    Roots,
    /// This session started them.
    Of(SessionId),
}

/// An error of the store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no such session or blob.
    #[error("there is no {what} {id}")]
    NotFound {
        /// `session` or `blob`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The id is taken.
    #[error("session {0} exists already")]
    Exists(String),
    /// Another process holds the session.
    #[error("session {session} is open in another process ({holder}); close it there, or start a new session")]
    Locked {
        /// The session.
        session: String,
        /// The holder: its process id and the time.
        holder: String,
        /// The id of that process, where it is known.
        process: Option<u32>,
    },
    /// The database was written by a newer Azimuth.
    #[error("{path} was written by a newer Azimuth (format {found}, this one knows {known}); update Azimuth")]
    Newer {
        /// The database.
        path: String,
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// Anything else.
    #[error("the session store failed: {0}")]
    Failed(String),
}
