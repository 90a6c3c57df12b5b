//! The store behind the agent's port, over one SQLite database.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ports::counts::{Cost, Count};
use ports::found::{Found, PromptFilter, TextFilter};
use ports::spent::{Spent, Sums};
use ports::store::{Origin, SessionFilter, SessionLock, Store, StoreError};
use protocol::search::EarlierPrompt;
use protocol::session::{Purpose, SessionInfo};
use protocol::{Event, SequencedEvent, SessionId};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use serde_json::value::RawValue;

use crate::blobs::{self, Blobs};
use crate::error::Error;
use crate::layout::{self, Layout};
use crate::lock::{self, HeldSessions, InUse};
use crate::recover::{self, Recovery};
use crate::{clock, counts, files, schema, sessions, spent, texts};

/// How many connections for reading are kept open.
const READERS: usize = 4;

/// Sessions, grants, settings and blobs in a data folder of the user's.
///
/// One value serves all threads, and several processes may have the same folder open. All functions block: they wait
/// for the disk, and writers wait for each other. Readers have connections of their own and wait for nobody.
///
/// Ordinary appends survive the death of the process at any instant. Those that are `durable`, and grants, survive
/// power loss too, with all that was appended before them.
///
/// Damage that is met while working is an error that says so. It is remembered, and the next process that opens the
/// database while no other has it open recovers what can be read.
pub struct SqliteStore {
    layout: Layout,
    /// Before the writer, since only a connection that writes can tidy up when it is the last to be closed.
    readers: Readers,
    writer: Mutex<Writer>,
    blobs: Blobs,
    held: HeldSessions,
    recovery: Option<Recovery>,
    /// True once the index of what was said failed; it is made again when texts are taken in.
    index_failed: AtomicBool,
    /// Last, so that it is let go after the connections.
    _in_use: InUse,
}

impl SqliteStore {
    /// True if there is one in a data folder.
    pub fn is_there(folder: &Path) -> bool {
        Layout::new(folder).database().exists()
    }

    /// Opens the store in a data folder, and makes what is missing. Takes about a millisecond where all is there.
    ///
    /// A damaged database is moved aside, and what can be read of it is put into a new one; see [`Self::recovered`].
    ///
    /// # Errors
    /// [`StoreError::Newer`]; a folder that cannot be made or written; a damaged database while another process has
    /// it open.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let layout = Layout::new(folder);
        files::private_folder(folder)?;
        let in_use = InUse::share(&layout)?;
        let mut recovery = None;
        if recover::is_due(&layout) {
            match in_use.alone(|| recover::resume(&layout))? {
                Some(done) => recovery = done,
                None => tracing::warn!(
                    "the session database may be damaged; it is looked at when no other process has it open"
                ),
            }
        }
        if !layout.database().exists() {
            // A write-ahead log whose database was taken away must not meet the new one.
            in_use.alone(|| recover::remove_stale_log(&layout))?;
            schema::create(&layout)?;
        }
        let connection = match schema::writer(&layout.database()) {
            Err(error) if error.is_damage() => {
                recover::suspect(&layout);
                recovery = in_use.alone(|| recover::resume(&layout))?.flatten();
                // It fails again where another process has it open, unless that one has just recovered it.
                schema::writer(&layout.database())?
            }
            opened => opened?,
        };
        Ok(Self {
            writer: Mutex::new(Writer { connection, synchronous: Synchronous::Normal }),
            readers: Readers { database: layout.database(), idle: Mutex::default() },
            blobs: Blobs::new(layout.blobs()),
            held: HeldSessions::default(),
            recovery,
            index_failed: AtomicBool::new(false),
            layout,
            _in_use: in_use,
        })
    }

    /// Returns the recovery when this store was opened, if the database was damaged.
    pub fn recovered(&self) -> Option<Recovery> {
        self.recovery.clone()
    }

    /// Removes what nothing refers to any more: blobs of no session, and folders of sessions that are gone. What was
    /// touched within the last hour stays, since an event that speaks of it may still be on its way. Gives how many
    /// files and folders were removed.
    ///
    /// [`Store::delete`] does this too. Nothing is removed while a damaged database is kept in the folder, as what it
    /// holds may refer to it.
    ///
    /// # Errors
    /// A failure of the store.
    pub fn collect_garbage(&self) -> Result<usize, StoreError> {
        let damaged = self.noting_damage(recover::kept(&self.layout))?;
        if !damaged.is_empty() {
            return Ok(0);
        }
        let used = self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT DISTINCT hash FROM blob_refs")?;
            let hashes = statement.query_map([], |row| row.get(0))?;
            Ok(hashes.collect::<Result<_, _>>()?)
        })?;
        let mut removed = self.blobs.sweep(&used)?;
        for entry in blobs::entries(&self.layout.sessions())? {
            let Some(session) = entry.file_name().to_str().map(SessionId::from) else { continue };
            let is_gone = matches!(self.info(&session), Err(StoreError::NotFound { .. }));
            if is_gone && blobs::is_old(&entry) {
                files::remove_folder_if_there(&entry.path())?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Runs `work` over a connection that only reads.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, StoreError> {
        self.noting_damage(self.readers.with(work))
    }

    /// Runs a search over a connection that only reads: with the index, or without one if that fails.
    fn searching<T>(&self, search: impl Fn(&Connection, bool) -> Result<T, Error>) -> Result<T, StoreError> {
        if !self.index_failed.load(Ordering::Relaxed) {
            match self.readers.with(|connection| search(connection, true)) {
                Err(Error::Index(error)) => {
                    tracing::warn!(%error, "the index of what was said is at fault, so all of it is looked through");
                    self.index_failed.store(true, Ordering::Relaxed);
                }
                found => return self.noting_damage(found),
            }
        }
        self.read(|connection| search(connection, false))
    }

    /// Runs `work` in a transaction that writes.
    pub(crate) fn write<T>(
        &self,
        synchronous: Synchronous,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.noting_damage(writer.transact(synchronous, work))
    }

    /// Leaves a mark of damage for the next process that opens the database.
    fn noting_damage<T>(&self, result: Result<T, Error>) -> Result<T, StoreError> {
        result.map_err(|error| {
            if error.is_damage() {
                recover::suspect(&self.layout);
            }
            error.into()
        })
    }

    /// Makes sure that no other process has a session for as long as the result lives.
    fn keep_others_off(&self, session: &SessionId) -> Result<Option<lock::HeldSession>, StoreError> {
        if self.held.contains(session) {
            return Ok(None);
        }
        self.info(session)?;
        Ok(Some(self.held.lock(&self.layout, session)?))
    }

    /// Has what a session's events say of requests be part of the sums.
    fn take_in_spent(&self, session: &SessionId) -> Result<(), StoreError> {
        while !self.write(Synchronous::Normal, |connection| spent::take_in(connection, session))? {}
        Ok(())
    }

    /// Has what the events of all sessions say of requests be part of the sums.
    fn take_in_all_spent(&self) -> Result<(), StoreError> {
        self.read(spent::behind)?.iter().try_for_each(|session| self.take_in_spent(session))
    }

    /// Deletes a session with its folder. Its blobs stay until they are collected.
    fn delete_alone(&self, session: &SessionId) -> Result<(), StoreError> {
        let _lock = self.keep_others_off(session)?;
        // Its requests were paid for.
        self.take_in_spent(session)?;
        self.write(Synchronous::Normal, |connection| {
            match texts::apart(connection, || sessions::delete(connection, session)) {
                Err(Error::Index(error)) => {
                    tracing::warn!(%error, "the index of searches is made again, as a session could not be deleted from it");
                    texts::begin_again(connection)?;
                    sessions::delete(connection, session)
                }
                deleted => deleted,
            }
        })?;
        files::remove_folder_if_there(&self.layout.session(session)?)?;
        files::remove_if_there(&self.layout.lock(session)?)?;
        Ok(())
    }
}

impl Store for SqliteStore {
    fn create(
        &self,
        session: &SessionId,
        folders: &[String],
        parent: Option<&SessionId>,
        purpose: Purpose,
    ) -> Result<(), StoreError> {
        layout::valid(session)?;
        let info = SessionInfo { parent: parent.cloned(), purpose, ..sessions::blank(session, folders, clock::now()) };
        self.write(Synchronous::Normal, |connection| sessions::insert(connection, &info))
    }

    fn lock(&self, session: &SessionId) -> Result<Box<dyn SessionLock>, StoreError> {
        self.info(session)?;
        Ok(Box::new(self.held.lock(&self.layout, session)?))
    }

    /// Whoever has not locked the session holds it while this runs: [`StoreError::Locked`] if another process has it.
    fn append(
        &self,
        session: &SessionId,
        events: Vec<(u64, Event)>,
        durable: bool,
    ) -> Result<Vec<SequencedEvent>, StoreError> {
        let _lock = self.keep_others_off(session)?;
        let json = events.iter().map(|(_, event)| sessions::encode(event)).collect::<Result<Vec<_>, _>>()?;
        let synchronous = if durable { Synchronous::Full } else { Synchronous::Normal };
        self.write(synchronous, |connection| {
            let mut info = sessions::info(connection, session)?;
            let taking = texts::Taking::begin(connection, &info)?;
            let mut appended = Vec::with_capacity(events.len());
            for ((at, event), json) in events.into_iter().zip(&json) {
                // The time that is returned is the one that will be read again.
                let at = sessions::from_sql(sessions::to_sql(at));
                info.last_seq += 1;
                sessions::insert_event(connection, session, info.last_seq, at, json)?;
                sessions::refer(connection, session, at, &event)?;
                sessions::apply(&mut info, at, &event);
                appended.push(SequencedEvent { seq: info.last_seq, at, event });
            }
            sessions::update(connection, &info)?;
            taking.take(&appended)?;
            Ok(appended)
        })
    }

    fn events(&self, session: &SessionId, since: u64, limit: usize) -> Result<Vec<SequencedEvent>, StoreError> {
        self.read(|connection| sessions::events(connection, session, since, limit))
    }

    fn raw_events(&self, session: &SessionId, since: u64) -> Result<Vec<SequencedEvent<Box<RawValue>>>, StoreError> {
        self.read(|connection| sessions::raw_events(connection, session, since))
    }

    fn each_event(
        &self,
        session: &SessionId,
        kinds: &[&str],
        each: &mut dyn FnMut(u64, &str),
    ) -> Result<(), StoreError> {
        self.read(|connection| sessions::each_event(connection, session, kinds, each))
    }

    fn info(&self, session: &SessionId) -> Result<SessionInfo, StoreError> {
        self.read(|connection| sessions::info(connection, session))
    }

    fn list(&self, filter: &SessionFilter) -> Result<Vec<SessionInfo>, StoreError> {
        self.read(|connection| sessions::list(connection, filter))
    }

    /// The sessions that it started go with it, but for those that some process has.
    ///
    /// [`StoreError::Locked`] if another process has the session. Blobs go with it once no other session refers to them
    /// and nobody has put them again for an hour; see [`SqliteStore::collect_garbage`].
    fn delete(&self, session: &SessionId) -> Result<(), StoreError> {
        self.delete_alone(session)?;
        let started =
            SessionFilter { origin: Origin::Of(session.clone()), limit: usize::MAX, ..SessionFilter::default() };
        for child in self.list(&started)?.into_iter().filter(|child| !self.held.contains(&child.session_id)) {
            match self.delete_alone(&child.session_id) {
                Ok(()) | Err(StoreError::Locked { .. } | StoreError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.collect_garbage()?;
        Ok(())
    }

    fn put_blob(&self, bytes: &[u8]) -> Result<String, StoreError> {
        Ok(self.blobs.put(bytes)?)
    }

    fn blob(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        Ok(self.blobs.get(hash)?)
    }

    fn forget_blobs(&self, before: u64) -> Result<usize, StoreError> {
        self.write(Synchronous::Normal, |connection| sessions::forget_blobs(connection, before))?;
        self.collect_garbage()
    }

    fn grants(&self, project: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT rule FROM grants WHERE project = ?1 ORDER BY id";
            let mut statement = connection.prepare_cached(sql)?;
            let rules = statement.query_map([project], |row| row.get(0))?;
            Ok(rules.collect::<Result<_, _>>()?)
        })
    }

    fn grant(&self, project: &str, rule: &str) -> Result<(), StoreError> {
        self.write(Synchronous::Full, |connection| {
            let sql = "INSERT INTO grants (project, rule) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            connection.prepare_cached(sql)?.execute([project, rule])?;
            Ok(())
        })
    }

    fn revoke(&self, project: &str, rule: &str) -> Result<(), StoreError> {
        self.write(Synchronous::Full, |connection| {
            let sql = "DELETE FROM grants WHERE project = ?1 AND rule = ?2";
            connection.prepare_cached(sql)?.execute([project, rule])?;
            Ok(())
        })
    }

    fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT value FROM settings WHERE key = ?1")?;
            Ok(statement.query_row([key], |row| row.get(0)).optional()?)
        })
    }

    fn set(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.write(Synchronous::Normal, |connection| {
            let sql = "INSERT INTO settings (key, value) VALUES (?1, ?2)
                       ON CONFLICT (key) DO UPDATE SET value = excluded.value";
            connection.prepare_cached(sql)?.execute([key, value])?;
            Ok(())
        })
    }

    fn add_counts(&self, added: &[Count], costs: &[Cost], since: u32) -> Result<(), StoreError> {
        self.write(Synchronous::Normal, |connection| counts::add(connection, added, costs, since))
    }

    fn counts(&self, since: u32) -> Result<Vec<Count>, StoreError> {
        self.read(|connection| counts::counts(connection, since))
    }

    fn costs(&self, since: u32) -> Result<Vec<Cost>, StoreError> {
        self.read(|connection| counts::costs(connection, since))
    }

    fn forget_counts(&self, today: u32) -> Result<(), StoreError> {
        if self.counts(0)?.is_empty() && self.costs(0)?.iter().all(|cost| cost.day >= today) {
            // Nobody has to wait for a lock to delete nothing.
            return Ok(());
        }
        self.write(Synchronous::Normal, |connection| counts::forget(connection, today))
    }

    fn spent(&self, since: u32) -> Result<Vec<Spent>, StoreError> {
        self.take_in_all_spent()?;
        self.read(|connection| spent::since(connection, since))
    }

    fn sums(&self, since: u32) -> Result<Sums, StoreError> {
        self.take_in_all_spent()?;
        self.read(|connection| spent::sums(connection, since))
    }

    fn search(&self, filter: &TextFilter) -> Result<Found, StoreError> {
        self.searching(|connection, with_index| texts::search(connection, filter, with_index))
    }

    fn prompts(&self, filter: &PromptFilter) -> Result<Vec<EarlierPrompt>, StoreError> {
        self.searching(|connection, with_index| texts::prompts(connection, filter, with_index))
    }

    fn take_in_texts(&self) -> Result<bool, StoreError> {
        if self.index_failed.load(Ordering::Relaxed) {
            self.write(Synchronous::Normal, texts::begin_again)?;
            self.index_failed.store(false, Ordering::Relaxed);
        }
        // Nobody has to wait for a lock to find out that there is nothing to do.
        let Some(session) = self.read(texts::behind)? else { return Ok(true) };
        let taken = self.write(Synchronous::Normal, |connection| match texts::take_in(connection, &session) {
            Err(Error::Index(error)) => Ok(Err(error)),
            taken => taken.map(Ok),
        })?;
        if let Err(error) = taken {
            tracing::warn!(%error, "the index of what was said is made again");
            self.write(Synchronous::Normal, |connection| {
                texts::begin_again(connection)?;
                // If it fails again, it fails for good.
                texts::take_in(connection, &session)
            })?;
        }
        Ok(false)
    }

    fn export(&self, session: &SessionId, writer: &mut dyn Write) -> Result<(), StoreError> {
        self.write_lines(session, writer)
    }

    fn session_folder(&self, session: &SessionId) -> Result<PathBuf, StoreError> {
        self.info(session)?;
        let folder = self.layout.session(session)?;
        files::private_folder(&self.layout.sessions())?;
        files::private_folder(&folder)?;
        Ok(folder)
    }
}

/// The reach of a commit: SQLite's `synchronous`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synchronous {
    /// To the system: it outlives the process.
    Normal,
    /// To the disk: it outlives the system, and so does every commit before it, as they share one log.
    Full,
}

/// The one connection that writes.
struct Writer {
    connection: Connection,
    /// The `synchronous` of the connection.
    synchronous: Synchronous,
}

impl Writer {
    fn transact<T>(
        &mut self,
        synchronous: Synchronous,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.synchronous != synchronous {
            let level = match synchronous {
                Synchronous::Normal => "NORMAL",
                Synchronous::Full => "FULL",
            };
            // It counts from the next transaction on, and is refused within one.
            self.connection.pragma_update(None, "synchronous", level)?;
            self.synchronous = synchronous;
        }
        // Immediate, so that waiting for other writers happens here and never in the middle.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let result = work(&transaction)?;
        transaction.commit()?;
        Ok(result)
    }
}

/// Connections that only read, opened when they are needed.
struct Readers {
    database: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    fn with<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = idle().pop();
        let connection = match taken {
            Some(connection) => connection,
            None => schema::reader(&self.database)?,
        };
        let result = work(&connection);
        let mut idle = idle();
        if idle.len() < READERS {
            idle.push(connection);
        }
        result
    }
}

#[cfg(test)]
mod appending;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod tests;
