//! What the client calls its open documents. A file has many URIs (escapes, links); a message about an open document
//! must bear the one that the client chose, or it takes it for another document.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use workspace::paths;

use super::messages;

/// The open documents' names, by file.
#[derive(Default)]
pub(super) struct Names(Mutex<HashMap<PathBuf, String>>);

impl Names {
    /// Notes that a document is open.
    pub(super) fn opened(&self, uri: &str) {
        if let Some(file) = file(uri) {
            self.lock().insert(file, uri.to_owned());
        }
    }

    /// Notes that it is no more.
    pub(super) fn closed(&self, uri: &str) {
        self.lock().retain(|_, name| name != uri);
    }

    /// What the client calls the file that a URI of ours names.
    pub(super) fn of(&self, uri: &str) -> String {
        let name = file(uri).and_then(|file| self.lock().get(&file).cloned());
        name.unwrap_or_else(|| uri.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The file that a URI names, links resolved.
pub(super) fn file(uri: &str) -> Option<PathBuf> {
    let path = messages::path(uri)?;
    Some(paths::canonical(&path).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_document_is_called_what_the_client_calls_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b+c.rs");
        let ours = paths::to_uri(&paths::canonical(&path).unwrap_or(path));
        let theirs = ours.replace("%2B", "+");
        let names = Names::default();
        assert_eq!(names.of(&ours), ours);
        names.opened(&theirs);
        assert_eq!(names.of(&ours), theirs);
        names.closed(&theirs);
        assert_eq!(names.of(&ours), ours);
    }
}
