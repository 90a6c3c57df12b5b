//! A key that stands in a file of the user's, such as one that a secrets manager keeps up to date.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use platform::rights;

use crate::keys;
use crate::own_file;
use crate::secret::Secret;

/// A file that holds a key. It is read whenever the key is needed, so a key that has changed counts at once.
#[derive(Clone)]
pub struct KeyFile {
    path: PathBuf,
    /// The key that was read last.
    last: Arc<Mutex<Option<Secret>>>,
}

impl KeyFile {
    /// The file at an absolute path. If it can be read, its key is known from now on. Blocks.
    pub fn read(path: PathBuf) -> Self {
        let file = Self { path, last: Arc::default() };
        // Whoever needs the key is told why there is none.
        let _ = file.read_now();
        file
    }

    /// The key, without blanks and line ends around it.
    ///
    /// # Errors
    /// The file cannot be read, or holds no key; says so and what to do, without its text.
    pub(crate) async fn key(&self) -> Result<Secret, String> {
        let file = self.clone();
        let read = tokio::task::spawn_blocking(move || file.read_now()).await;
        read.unwrap_or_else(|_| Err("it was not read, since Azimuth ends".to_owned()))
    }

    fn read_now(&self) -> Result<Secret, String> {
        let text = own_file::text(&self.path).map_err(|error| {
            format!("the file cannot be read ({error}); correct the path, or write the key into the file")
        })?;
        let key = Secret::new(&text);
        if key.expose().is_empty() {
            return Err("the file is empty; write the key into it".to_owned());
        }
        if key.expose().contains(char::is_whitespace) {
            return Err("the file holds more than a key; write the key into it, and nothing else".to_owned());
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(key.clone());
        Ok(key)
    }

    /// The key that was read last; none if none could be read yet.
    pub(crate) fn known(&self) -> Option<Secret> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The problem if others than the owner may read the file, in words with the remedy. Blocks.
    pub fn open_to_others(&self) -> Option<String> {
        let is_open = std::fs::metadata(&self.path).is_ok_and(|metadata| rights::is_open_to_others(&metadata));
        is_open.then(|| {
            let path = self.shown();
            format!("other users of this machine have rights on {path}, which holds a key; run `chmod 600 {path}`")
        })
    }

    /// The path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path for words. A key that stands there by a slip is left out.
    pub(crate) fn shown(&self) -> String {
        keys::left_out(&self.path.to_string_lossy()).into_owned()
    }
}

impl fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyFile").field(&self.shown()).finish()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test writes the file")]

    use super::*;

    #[tokio::test]
    async fn the_key_is_that_of_the_file_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let file = KeyFile::read(path.clone());
        assert!(file.key().await.unwrap_err().contains("correct the path, or write the key into the file"));
        for (text, key) in [("  sk-one\n\n", "sk-one"), ("sk-two", "sk-two")] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(file.key().await.unwrap().expose(), key);
            assert_eq!(file.known(), Some(Secret::new(key)));
        }
        for (text, problem) in [(" \n", "is empty"), ("sk-one\nsk-two\n", "more than a key")] {
            std::fs::write(&path, text).unwrap();
            let said = file.key().await.unwrap_err();
            assert!(said.contains(problem) && !said.contains("sk-"), "{said}");
        }
        assert_eq!(KeyFile::read(folder.path().to_owned()).known(), None, "a folder is no file");
    }

    #[cfg(unix)]
    #[test]
    fn rights_of_others_are_told_with_the_command_that_takes_them_away() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, "sk-one").unwrap();
        let file = KeyFile::read(path.clone());
        for (mode, is_told) in [(0o644, true), (0o640, true), (0o600, false), (0o400, false)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            let told = file.open_to_others();
            assert_eq!(told.is_some(), is_told, "{mode:o}");
            assert!(told.is_none_or(|told| told.contains("chmod 600")));
        }
    }
}
