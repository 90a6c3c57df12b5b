//! The file in which keys and sign-ins are kept, for its owner alone, and shared by every process of the user's.
//!
//! It is replaced as a whole, so a reader needs no lock. Whoever changes it holds a lock from reading to writing, also
//! while a sign-in is renewed: a refresh token that is used twice ends the sign-in at vendors that rotate them.
#![expect(clippy::disallowed_methods, reason = "this is the home of the file of accounts")]

mod format;

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use platform::open::{self, Links, Way};
use platform::rights;
use serde::{Deserialize, Serialize};

use self::format::Unread;
use crate::credential::{Credential, Proof};

/// The file's name in the data folder.
const NAME: &str = "credentials.json";
/// The name of the lock.
const LOCK: &str = "credentials.lock";
/// A larger file, in bytes, is not one of ours.
const MOST: u64 = 1024 * 1024;
/// The time that a process waits for another that changes the file. Renewing a sign-in takes seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// The pause between two tries of the lock.
const PAUSE: Duration = Duration::from_millis(20);

/// The file of accounts cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The system does not let it be read or written.
    #[error("{} cannot be {verb}: {error}", .file.display())]
    Io {
        /// The file or its folder.
        file: PathBuf,
        /// The deed that failed, as a participle.
        verb: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// It holds no accounts.
    #[error(
        "{} is damaged ({problem}). Restore it from a backup, or sign in again with `azimuth auth login`, which keeps \
         the damaged file under another name", .file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The location of the damage.
        problem: String,
    },
    /// A newer program wrote it.
    #[error("{} was written by a newer version of Azimuth; use that version, or move the file away", .0.display())]
    Newer(PathBuf),
    /// Another process does not let go of it.
    #[error("another process of Azimuth has held {} for {} seconds; try again", .0.display(), PATIENCE.as_secs())]
    Busy(PathBuf),
}

impl StoreError {
    fn io(file: &Path, verb: &'static str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |error| Self::Io { file, verb, error }
    }
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The id of this installation, as a URN, which some vendors want to know. It is made at the first sign-in.
    pub host: Option<String>,
    /// The accounts. The first usable one of a provider counts.
    pub credentials: Vec<Credential>,
    /// The clients that were registered by sign-ins that have not come to their end.
    pub registered: Vec<Registered>,
}

/// A client that a vendor registered for an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The name of the provider.
    pub provider: String,
    /// The label of the account.
    pub label: String,
    /// The address that issues its tokens.
    pub token_url: String,
    /// The client's id.
    pub id: String,
}

impl Contents {
    /// The account with this label.
    pub fn find(&self, provider: &str, label: &str) -> Option<&Credential> {
        self.credentials.iter().find(|known| known.provider == provider && known.label == label)
    }

    /// The account with this label, to be changed.
    pub fn find_mut(&mut self, provider: &str, label: &str) -> Option<&mut Credential> {
        self.credentials.iter_mut().find(|known| known.provider == provider && known.label == label)
    }

    /// Puts an account first, in place of one with its label.
    pub fn put(&mut self, credential: Credential) {
        self.credentials.retain(|known| known.provider != credential.provider || known.label != credential.label);
        self.forget_clients(&credential.provider, Some(&credential.label));
        self.credentials.insert(0, credential);
    }

    /// The id of the client that was registered for an account at the vendor with this address.
    pub fn client(&self, provider: &str, label: &str, token_url: &str) -> Option<&str> {
        let is_it = |it: &&Registered| it.provider == provider && it.label == label && it.token_url == token_url;
        let of_tokens = || match &self.find(provider, label)?.proof {
            Proof::Tokens(tokens) if tokens.token_url == token_url => Some(tokens.client_id.as_str()),
            Proof::Tokens(_) | Proof::Key(_) => None,
        };
        self.registered.iter().find(is_it).map(|it| it.id.as_str()).or_else(of_tokens)
    }

    /// Keeps a client for the next sign-in, in place of that of the same account.
    pub fn register(&mut self, client: Registered) {
        self.forget_clients(&client.provider, Some(&client.label));
        self.registered.push(client);
    }

    /// Forgets the clients of a provider, or that of the account with this label.
    pub fn forget_clients(&mut self, provider: &str, label: Option<&str>) {
        self.registered.retain(|it| it.provider != provider || label.is_some_and(|label| it.label != label));
    }
}

/// The file of accounts.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The one in this folder. Nothing is read or made.
    pub fn new(data_folder: &Path) -> Self {
        Self { folder: data_folder.to_owned() }
    }

    /// The file.
    pub fn file(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Reads it; nothing if there is no file. Takes from others the rights that they have on it.
    ///
    /// # Errors
    /// It cannot be read, or is damaged.
    pub fn read(&self) -> Result<Contents, StoreError> {
        let path = self.file();
        let failed = StoreError::io(&path, "read");
        let file = match open::existing(&path, Way::Read, Links::Follow) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Contents::default()),
            Err(error) => return Err(failed(error)),
            Ok(file) => file,
        };
        let bytes = file.metadata().and_then(|metadata| {
            if !metadata.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
            }
            if rights::is_open_to_others(&metadata) {
                // It may be another's file, or read-only. It is read all the same.
                let _ = rights::take_from_others(&path);
            }
            open::whole(file, &metadata, MOST)
        });
        let Some(bytes) = bytes.map_err(failed)? else {
            return Err(StoreError::Damaged { file: path, problem: "it is too large".into() });
        };
        format::read(&bytes).map_err(|unread| match unread {
            Unread::Newer => StoreError::Newer(path),
            Unread::Damaged(problem) => StoreError::Damaged { file: path, problem },
        })
    }

    /// Begins a change: waits until no other process changes the file, and reads it. That it can be written is made
    /// sure of now, and not when a renewed sign-in would be lost.
    ///
    /// # Errors
    /// It cannot be read or written, is damaged, or is held by another process for too long.
    pub async fn change(&self) -> Result<Change, StoreError> {
        let lock = self.lock().await?;
        let contents = self.read()?;
        // A link, as those who keep such files elsewhere make one, stays a link.
        let file = self.file();
        let file = file.canonicalize().unwrap_or(file);
        Ok(Change { contents, draft: Draft::new(file)?, _lock: lock })
    }

    /// Keeps a damaged file under another name, so that a new one can be made. Gives the name; none if the file is not
    /// damaged.
    ///
    /// # Errors
    /// It cannot be read for another reason, or not be renamed.
    pub async fn set_aside_if_damaged(&self) -> Result<Option<PathBuf>, StoreError> {
        let _lock = self.lock().await?;
        match self.read() {
            Ok(_) => return Ok(None),
            Err(StoreError::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        let name = |number: u32| self.folder.join(format!("{NAME}.damaged-{number}"));
        let free = (1..=u32::MAX).map(name).find(|name| name.symlink_metadata().is_err());
        let aside = free.unwrap_or_else(|| name(0));
        fs::rename(self.file(), &aside).map_err(StoreError::io(&self.file(), "renamed"))?;
        Ok(Some(aside))
    }

    /// Waits for the lock. The system lets go of it when its holder dies.
    async fn lock(&self) -> Result<File, StoreError> {
        let path = self.folder.join(LOCK);
        if !self.folder.is_dir() {
            rights::private_folders().create(&self.folder).map_err(StoreError::io(&self.folder, "made"))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = rights::private(&mut options).open(&path).map_err(StoreError::io(&path, "written"))?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
                Err(TryLockError::WouldBlock) => return Err(StoreError::Busy(self.file())),
                Err(TryLockError::Error(error)) => return Err(StoreError::io(&path, "locked")(error)),
            }
        }
    }
}

/// A change that has begun. Other processes wait until it is made or dropped.
#[derive(Debug)]
pub struct Change {
    /// The content that the file will have.
    pub contents: Contents,
    draft: Draft,
    _lock: File,
}

impl Change {
    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// The disk is full, or fails.
    pub fn write(self) -> Result<(), StoreError> {
        let failed = StoreError::io(&self.draft.target, "written");
        let bytes = format::write(&self.contents)
            .map_err(|error| StoreError::io(&self.draft.target, "written")(error.into()))?;
        self.draft.replace(&bytes).map_err(failed)
    }
}

/// The file's next version while it is made. Only the holder of the lock has one, so a draft that a process left behind
/// when it was killed is written over.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
    target: PathBuf,
    file: File,
}

impl Draft {
    fn new(target: PathBuf) -> Result<Self, StoreError> {
        let mut path = target.clone().into_os_string();
        path.push(".new");
        let path = PathBuf::from(path);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        let file = rights::private(&mut options).open(&path).map_err(StoreError::io(&target, "written"))?;
        rights::make_file_private(&path).map_err(StoreError::io(&target, "written"))?;
        Ok(Self { path, target, file })
    }

    fn replace(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&self.path, &self.target)?;
        // The new name survives a power loss once the folder is written. Elsewhere than on Unix none can be opened.
        if let Some(folder) = self.target.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After the renaming there is none.
        let _ = fs::remove_file(&self.path);
    }
}
