//! The results of tools that were too long for a model to read at once: all of each is kept, and fetched by handle.

#![expect(clippy::disallowed_methods, reason = "these files are the session's own; they are no files of the project")]

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use platform::rights;
use sha2::{Digest, Sha256};

/// So many bytes are kept for a session; of more, those that were kept last.
const MAX_KEPT: u64 = 64 << 20;

/// So many digits of a text's SHA-256 in hexadecimal name it.
const HANDLE: usize = 12;

/// Long results of a session's tools, in files of its own folder.
#[derive(Clone, Debug)]
pub struct Results {
    folder: PathBuf,
    limit: u64,
}

/// A result that is being kept. What is not finished leaves nothing behind.
#[derive(Debug)]
pub struct Keeper {
    results: Results,
    file: BufWriter<tempfile::NamedTempFile>,
    hash: Sha256,
}

impl Results {
    /// Those in the folder of a session. Nothing is made before there is something to keep.
    pub fn new(session_folder: &Path) -> Self {
        Self { folder: session_folder.join("results"), limit: MAX_KEPT }
    }

    /// Keeps a text and gives its handle: the same text has always the same. Blocks.
    ///
    /// # Errors
    /// A folder that cannot be written to, such as on a full disk.
    pub fn keep(&self, text: &str) -> io::Result<String> {
        let mut keeper = self.keeper()?;
        keeper.write_all(text.as_bytes())?;
        keeper.finish()
    }

    /// Returns a keeper that takes a text bit by bit. It is kept once it is finished. Blocks.
    ///
    /// # Errors
    /// A folder that cannot be written to.
    pub fn keeper(&self) -> io::Result<Keeper> {
        rights::private_folders().create(&self.folder)?;
        let file = tempfile::NamedTempFile::new_in(&self.folder)?;
        Ok(Keeper { results: self.clone(), file: BufWriter::new(file), hash: Sha256::new() })
    }

    /// The text with that handle; none if none is kept. Blocks.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn get(&self, handle: &str) -> io::Result<Option<String>> {
        // Whatever else is said names no file of ours.
        if handle.len() != HANDLE || !handle.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        match fs::read(self.folder.join(handle.to_ascii_lowercase())) {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the oldest texts where there are too many bytes of them, but never the newest.
    fn make_room(&self, newest: &str) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.file_name() != newest)
            .filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        let kept = fs::metadata(self.folder.join(newest)).map_or(0, |about| about.len());
        let mut excess = (kept + files.iter().map(|(_, size, _)| size).sum::<u64>()).saturating_sub(self.limit);
        files.sort();
        for (_, size, path) in files {
            if excess == 0 {
                break;
            }
            if let Err(error) = fs::remove_file(&path) {
                tracing::info!(%error, path = %path.display(), "an old result could not be removed");
            }
            excess = excess.saturating_sub(size);
        }
    }
}

impl Keeper {
    /// Keeps the text, and returns its handle.
    ///
    /// # Errors
    /// The text could not be written.
    pub fn finish(self) -> io::Result<String> {
        let hash: String = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let handle = hash.get(..HANDLE).unwrap_or(&hash).to_owned();
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        // A text that is there is whole: nobody reads half of one.
        file.persist(self.results.folder.join(&handle)).map_err(|error| error.error)?;
        self.results.make_room(&handle);
        Ok(handle)
    }
}

impl Write for Keeper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(bytes.get(..written).unwrap_or(bytes));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_kept_is_found_by_its_handle_in_a_later_process_too() {
        let folder = tempfile::tempdir().unwrap();
        let handle = Results::new(folder.path()).keep("one\ntwo\n").unwrap();
        let later = Results::new(folder.path());
        assert_eq!(later.get(&handle).unwrap().as_deref(), Some("one\ntwo\n"));
        assert_eq!(later.keep("one\ntwo\n").unwrap(), handle);
        assert_ne!(later.keep("other").unwrap(), handle);
        assert_eq!(later.get("0123456789ab").unwrap(), None);
    }

    #[test]
    fn a_handle_leads_to_no_other_file() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results::new(folder.path());
        results.keep("text").unwrap();
        fs::write(folder.path().join("secret-12345"), "secret").unwrap();
        for handle in ["", ".", "..", "../secret-1234", "../secret-12345", "/etc/passwd", "0123456789é"] {
            assert_eq!(results.get(handle).unwrap(), None, "{handle}");
        }
    }

    #[test]
    fn the_oldest_make_room_for_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let results = Results { limit: 10, ..Results::new(folder.path()) };
        let handles: Vec<_> = ["aaaa", "bbbb", "cccc"]
            .map(|text| {
                std::thread::sleep(Duration::from_millis(20));
                results.keep(text).unwrap()
            })
            .into();
        let kept: Vec<_> = handles.iter().map(|handle| results.get(handle).unwrap().is_some()).collect();
        assert_eq!(kept, [false, true, true]);
        let large = results.keep(&"d".repeat(100)).unwrap();
        assert_eq!(results.get(&large).unwrap().map(|text| text.len()), Some(100), "the newest is there in any case");
        assert_eq!(results.get(&handles[2]).unwrap(), None);
    }
}
