//! Locks between processes. The system lets go of them when their holder dies, so a file left behind is no lock.

use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use platform::processes;
use platform::stamp::is_still;
use ports::store::{SessionLock, StoreError};
use protocol::SessionId;

use crate::clock;
use crate::error::Error;
use crate::files;
use crate::layout::Layout;

/// How long a lock may outlive a process that was killed.
const LINGERING: Duration = Duration::from_secs(2);

/// How long a process that finds the database damaged waits for others that do the same. One that was there before
/// keeps it for longer.
const STARTING: Duration = Duration::from_millis(500);

/// The sessions that one store has locked.
#[derive(Clone, Debug, Default)]
pub(crate) struct HeldSessions(Arc<Mutex<HashSet<SessionId>>>);

impl HeldSessions {
    pub(crate) fn contains(&self, session: &SessionId) -> bool {
        self.with(|held| held.contains(session))
    }

    /// Locks a session. [`StoreError::Locked`] if anyone holds it, this process included.
    pub(crate) fn lock(&self, layout: &Layout, session: &SessionId) -> Result<HeldSession, Error> {
        let file = lock_file(layout, session)?;
        self.with(|held| held.insert(session.clone()));
        Ok(HeldSession { session: session.clone(), held: self.clone(), file })
    }

    fn with<T>(&self, work: impl FnOnce(&mut HashSet<SessionId>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A session that this store has locked.
#[derive(Debug)]
pub(crate) struct HeldSession {
    session: SessionId,
    held: HeldSessions,
    file: File,
}

impl SessionLock for HeldSession {}

impl Drop for HeldSession {
    fn drop(&mut self) {
        self.held.with(|held| held.remove(&self.session));
        // Closing the file would not do while a process that we are just starting still has a copy of it.
        let _ = self.file.unlock();
    }
}

/// Locks a session's file and says in it who holds it.
fn lock_file(layout: &Layout, session: &SessionId) -> Result<File, Error> {
    let path = layout.lock(session)?;
    files::private_folder(&layout.locks())?;
    let until = Instant::now() + LINGERING;
    loop {
        let mut file = files::private_file(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if is_gone(&path) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            Err(TryLockError::WouldBlock) => {
                let holder = holder(&path);
                let process = process_of(&holder);
                return Err(StoreError::Locked { session: session.to_string(), holder, process }.into());
            }
            Err(TryLockError::Error(error)) => return Err(Error::io(&path, "cannot be locked")(error)),
        }
        // The session may have been deleted, and its file with it, between opening and locking; such a lock would
        // hold nobody off.
        if is_still(&file, &path) {
            write_holder(&mut file).map_err(Error::io(&path, "cannot be written"))?;
            return Ok(file);
        }
    }
}

/// True if the process that a lock's file names is there no more. It was killed, then, and what keeps its lock is a
/// copy of the file in a process that it was just starting, which lets go as soon as that runs a program.
fn is_gone(path: &Path) -> bool {
    process_of(&holder(path)).is_some_and(processes::is_gone)
}

/// Says that a process has the database open, for as long as the file is.
#[derive(Debug)]
pub(crate) struct InUse(File);

impl InUse {
    /// Joins the processes that use the database. Waits while another one recovers it.
    pub(crate) fn share(layout: &Layout) -> Result<Self, Error> {
        let path = layout.in_use();
        let file = files::private_file(&path)?;
        file.lock_shared().map_err(Error::io(&path, "cannot be locked"))?;
        Ok(Self(file))
    }

    /// Runs `work` while no other process uses the database; does nothing if one does for longer than a moment.
    ///
    /// Several that start at once each wait here without a lock, so that one after the other has it alone.
    pub(crate) fn alone<T>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
        let failed = |error: io::Error| Error::Io { what: "the lock of the session database failed".into(), error };
        self.0.unlock().map_err(failed)?;
        let until = Instant::now() + STARTING;
        let result = loop {
            match self.0.try_lock() {
                Ok(()) => {
                    let result = work().map(Some);
                    self.0.unlock().map_err(failed)?;
                    break result;
                }
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::WouldBlock) => break Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        };
        self.0.lock_shared().map_err(failed)?;
        result
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "process {}, since {}", std::process::id(), clock::words(clock::now()))
}

/// The process that [`write_holder`] named.
fn process_of(holder: &str) -> Option<u32> {
    holder.strip_prefix("process ")?.split(',').next()?.parse().ok()
}

/// Who holds a lock, as its file says.
fn holder(path: &Path) -> String {
    let text = files::read(path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match text {
        Some(text) if !text.is_empty() => text,
        // It has just been locked, or this system keeps others from reading a locked file.
        _ => "an unknown one".into(),
    }
}
