//! The data that outlives the process: the sessions' logs, their blobs, and what the user granted.
//!
//! [`SqliteStore`] stands behind the agent's port `ports::store::Store`. It keeps everything in one data folder:
//!
//! ```text
//! azimuth.db              sessions, events, texts with their index, costs, grants, settings, counts of suggestions;
//!                         beside it -wal and -shm
//! azimuth.db.lock         held shared by each process that has the database open, exclusively to recover it
//! azimuth.db.suspect      there while damage was met that has not been looked at yet
//! azimuth.db.damaged-…    a damaged database that was moved aside
//! blobs/ab/cdef…          texts before and after edits, by SHA-256
//! sessions/<id>/          bulky files of a session, such as terminal output
//! locks/<id>.lock         held by the process that is the session's host
//! ```
//!
//! Folders have mode 0700 and files 0600, whatever the umask. Several processes use a data folder at once.
//!
//! Reading order: `sqlite` (the port), `sessions` (the log in SQL), `texts` (what was said, to be searched), `words`
//! (the words of a search), `counts` (the numbers about suggestions), `spent` (what requests cost), `schema` (the
//! tables, and how a connection is made), `lock`, `blobs`, `recover` (what becomes
//! of a damaged database), `check` (what `doctor` asks), `transfer` (sessions as JSON lines), then what
//! all of them stand on.

mod sqlite;

mod sessions;

mod texts;

mod words;

mod counts;

mod spent;

mod schema;

mod lock;

mod blobs;

mod recover;

mod check;

mod transfer;

mod clock;
mod error;
mod files;
mod layout;

#[cfg(test)]
mod testing;

pub use check::Finding;
pub use recover::Recovery;
pub use sqlite::SqliteStore;
pub use transfer::Imported;
