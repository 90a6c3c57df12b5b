//! Where everything lies in the data folder.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ports::store::StoreError;
use protocol::SessionId;

/// The longest session id, in bytes.
const ID_BYTES: usize = 64;

/// A data folder.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    folder: PathBuf,
}

impl Layout {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("azimuth.db")
    }

    /// A file beside the database, named by a suffix.
    pub(crate) fn beside_database(&self, suffix: &str) -> PathBuf {
        with_suffix(&self.database(), suffix)
    }

    pub(crate) fn in_use(&self) -> PathBuf {
        self.beside_database(".lock")
    }

    /// There while damage was met that no recovery has looked at.
    pub(crate) fn suspect(&self) -> PathBuf {
        self.beside_database(".suspect")
    }

    /// A recovered database that is being filled.
    pub(crate) fn recovering(&self) -> PathBuf {
        self.beside_database(".recovering")
    }

    /// A recovered database that is whole and not yet in its place.
    pub(crate) fn recovered(&self) -> PathBuf {
        self.beside_database(".recovered")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.folder.join("blobs")
    }

    pub(crate) fn locks(&self) -> PathBuf {
        self.folder.join("locks")
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.folder.join("sessions")
    }

    pub(crate) fn lock(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        Ok(self.locks().join(format!("{}.lock", valid(session)?)))
    }

    pub(crate) fn session(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        Ok(self.sessions().join(valid(session)?))
    }
}

/// The path with something put at its end, as SQLite names the files beside a database.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// The text of an id that may end in a file name.
///
/// # Errors
/// [`StoreError::Failed`] for anything but 1 to 64 of `A-Z`, `a-z`, `0-9`, `_` and `-`.
pub(crate) fn valid(session: &SessionId) -> Result<&str, StoreError> {
    let id = session.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if (1..=ID_BYTES).contains(&id.len()) && id.bytes().all(plain) {
        return Ok(id);
    }
    Err(StoreError::Failed(format!(
        "{id:?} is not a session id; an id is 1 to {ID_BYTES} letters, digits, _ or -, as `azimuth sessions` lists them"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_would_leave_its_folder_is_refused() {
        let long = "a".repeat(65);
        for id in ["", ".", "..", "../x", "a/b", "a\\b", "a b", "a\0", "é", long.as_str()] {
            assert!(valid(&SessionId::from(id)).is_err(), "{id:?} was taken");
        }
        for id in ["a", "0f3c9a", "A-Z_09", &long[..64]] {
            assert_eq!(valid(&SessionId::from(id)), Ok(id));
        }
    }
}
