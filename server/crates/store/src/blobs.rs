//! Blobs: bytes in files named by their SHA-256, so that the same bytes are kept once.

use std::collections::HashSet;
use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ports::store::StoreError;
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::files;

/// How long a blob is kept for whoever put it and has not yet stored the event that speaks of it.
pub(crate) const GRACE: Duration = Duration::from_secs(60 * 60);

/// The folder of blobs.
pub(crate) struct Blobs(PathBuf);

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    /// Keeps bytes, and gives their hash. They last through power loss.
    pub(crate) fn put(&self, bytes: &[u8]) -> Result<String, Error> {
        let hash = hash(bytes);
        let (folder, path) = self.place(&hash).ok_or_else(|| not_found(&hash))?;
        // Bytes that went bad on the disk are put right by putting them again.
        if files::read(&path).is_ok_and(|kept| kept == bytes) {
            // It counts as new, so that `sweep` does not take it before the event that speaks of it is stored.
            let now = SystemTime::now();
            File::options()
                .append(true)
                .open(&path)
                .and_then(|file| file.set_modified(now))
                .map_err(Error::io(&path, "cannot be kept"))?;
            return Ok(hash);
        }
        files::private_folder(&self.0)?;
        files::private_folder(&folder)?;
        files::write_whole(&path, bytes)?;
        files::sync_parent(&folder);
        Ok(hash)
    }

    /// The bytes of a hash. [`StoreError::NotFound`] if they are not kept; a failure if they have changed.
    pub(crate) fn get(&self, hash_wanted: &str) -> Result<Vec<u8>, Error> {
        let Some((_, path)) = self.place(hash_wanted) else { return Err(not_found(hash_wanted)) };
        let bytes = match files::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(not_found(hash_wanted)),
            read => read.map_err(Error::io(&path, "cannot be read"))?,
        };
        if hash(&bytes) != hash_wanted {
            let text = format!(
                "{} is damaged: it no longer holds what was kept there; restore it from a backup",
                path.display()
            );
            return Err(StoreError::Failed(text).into());
        }
        Ok(bytes)
    }

    /// Removes blobs, and what a crash left of unfinished ones, that are not in use and older than [`GRACE`]. Gives
    /// how many files it removed.
    pub(crate) fn sweep(&self, used: &HashSet<String>) -> Result<usize, Error> {
        let mut removed = 0;
        for folder in entries(&self.0)? {
            let prefix = folder.file_name();
            for file in entries(&folder.path())? {
                let rest = file.file_name();
                let is_used = match (prefix.to_str(), rest.to_str()) {
                    (Some(prefix), Some(rest)) => used.contains(&format!("{prefix}{rest}")),
                    _ => true, // Not ours.
                };
                if !is_used && is_old(&file) {
                    files::remove_if_there(&file.path())?;
                    removed += 1;
                }
            }
        }
        Ok(removed)
    }

    /// The folder and file of a hash; none if it is no SHA-256 in lower-case hexadecimal.
    fn place(&self, hash: &str) -> Option<(PathBuf, PathBuf)> {
        let is_hex = hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let (prefix, rest) = is_hex.then(|| hash.split_at(2))?;
        let folder = self.0.join(prefix);
        let file = folder.join(rest);
        Some((folder, file))
    }
}

/// Lists a folder; nothing if there is no such folder.
pub(crate) fn entries(folder: &Path) -> Result<Vec<DirEntry>, Error> {
    let failed = |error| Error::io(folder, "cannot be listed")(error);
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
            Ok(Vec::new())
        }
        listed => listed.map_err(failed)?.collect::<Result<_, _>>().map_err(failed),
    }
}

/// True if nobody has touched it for [`GRACE`].
pub(crate) fn is_old(entry: &DirEntry) -> bool {
    let modified = entry.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > GRACE))
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn not_found(hash: &str) -> Error {
    StoreError::NotFound { what: "blob", id: hash.into() }.into()
}
