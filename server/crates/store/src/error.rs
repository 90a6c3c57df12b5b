//! The errors inside, before they become the port's error.

use std::io;
use std::path::Path;

use ports::store::StoreError;
use rusqlite::ErrorCode;

/// A failure inside the store.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error that the port has words for.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// SQLite failed.
    #[error("{}", sql_words(.0))]
    Sql(#[from] rusqlite::Error),
    /// The index of what was said failed, or may have. It is made again from the log.
    #[error("what was said cannot be searched by its index: {0}")]
    Index(rusqlite::Error),
    /// The system refused something about a file.
    #[error("{what}: {error}")]
    Io { what: String, error: io::Error },
    /// The stored data contradicts itself.
    #[error("the session database is damaged ({0}); {MEND}")]
    Damaged(String),
}

/// The way to fix damage.
pub(crate) const MEND: &str =
    "close all editors that use Azimuth and start it again, and it will recover what can be read";

impl Error {
    /// A failure to do something to a file: `io(path, "cannot be read")`.
    pub(crate) fn io<'a>(path: &'a Path, cannot: &'a str) -> impl FnOnce(io::Error) -> Self + 'a {
        move |error| Self::Io { what: format!("{} {cannot}", path.display()), error }
    }

    /// True if the database itself is at fault.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Damaged(_) => true,
            Self::Sql(error) => is_sql_damage(error),
            Self::Store(_) | Self::Index(_) | Self::Io { .. } => false,
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error,
            other => Self::Failed(other.to_string()),
        }
    }
}

/// The tables are strict, so a value of another type or text that is not UTF-8 can only come of damage.
fn is_sql_damage(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::InvalidColumnType(..) => true,
        other => matches!(other.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)),
    }
}

fn sql_words(error: &rusqlite::Error) -> String {
    if is_sql_damage(error) {
        return format!("the session database is damaged ({error}); {MEND}");
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full; free some space".into(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "the session database is kept busy by another process; try again when that one is done".into()
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            format!("the session database cannot be opened for writing ({error}); `azimuth doctor` says how to mend it")
        }
        Some(ErrorCode::SystemIoFailure) => {
            format!("the session database cannot be read or written ({error}); check the disk")
        }
        _ => error.to_string(),
    }
}
