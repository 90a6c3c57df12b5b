//! The recovery of a damaged database: it is moved aside, and what can be read of it is put into a new one.
//!
//! Everything here runs while no other process has the database open. It may be cut off at any instant: the new
//! database is filled under another name, gets a third one when it is whole, and takes its place last; the next process
//! goes on from there.
#![expect(clippy::disallowed_methods, reason = "the database's files are the store's own")]

mod log;
mod salvage;

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;

use protocol::SessionId;

use crate::error::Error;
use crate::layout::{Layout, with_suffix};
use crate::{blobs, check, clock, files, schema};

/// The result of recovering a damaged database. It displays as a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Where the damaged database is kept.
    pub damaged: PathBuf,
    /// How many sessions were recovered.
    pub sessions: usize,
    /// How many events they have in all.
    pub events: usize,
    /// Those of the sessions that miss events at their end.
    pub cut: Vec<SessionId>,
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { damaged, sessions, events, cut } = self;
        write!(f, "The session database was damaged. {sessions} sessions with {events} events were recovered")?;
        if !cut.is_empty() {
            let ids: Vec<_> = cut.iter().map(SessionId::as_str).collect();
            write!(f, ", but these sessions lost their last events: {}", ids.join(", "))?;
        }
        write!(
            f,
            ". The damaged database is kept as {}; delete it once you are sure that nothing is missing.",
            damaged.display()
        )
    }
}

/// Leaves a mark that damage was met. Without it, if it cannot be left, the damage is met again.
pub(crate) fn suspect(layout: &Layout) {
    if let Err(error) = files::private_file(&layout.suspect()) {
        tracing::warn!(%error, "the mark of a damaged database could not be left");
    }
}

/// True if damage was met that nobody has looked at, or a recovery was cut off.
pub(crate) fn is_due(layout: &Layout) -> bool {
    layout.suspect().exists() || layout.recovered().exists()
}

/// Looks at what [`is_due`] speaks of, and recovers the database if it is damaged indeed.
pub(crate) fn resume(layout: &Layout) -> Result<Option<Recovery>, Error> {
    if layout.recovered().exists() {
        return put_in_place(layout).map(Some);
    }
    if layout.database().exists() {
        let version = schema::reader(&layout.database()).and_then(|connection| schema::version(&connection));
        if version.is_ok_and(|version| version > schema::known()) {
            // A database that a newer Azimuth wrote is for that one to fix.
            return Ok(None);
        }
        if check::damage(&layout.database())?.is_some() {
            return recover(layout).map(Some);
        }
    }
    files::remove_if_there(&layout.suspect())?;
    Ok(None)
}

/// Recovers what can be read of a damaged database.
fn recover(layout: &Layout) -> Result<Recovery, Error> {
    let path = layout.recovering();
    schema::create_at(&path)?;
    let mut new = schema::writer(&path)?;
    let transaction = new.transaction()?;
    let cut = salvage::salvage(layout, &transaction)?;
    transaction.commit()?;
    // Closing it leaves all in the one file.
    new.close().map_err(|(_, error)| error)?;
    File::open(&path).and_then(|file| file.sync_all()).map_err(Error::io(&path, "cannot be written"))?;
    files::move_if_there(&path, &layout.recovered())?;
    Ok(Recovery { cut, ..put_in_place(layout)? })
}

/// Moves the damaged database aside and the recovered one into its place.
fn put_in_place(layout: &Layout) -> Result<Recovery, Error> {
    let (sessions, events) = count(layout)?;
    let damaged = free_name(layout);
    let log = layout.beside_database("-wal");
    if log.metadata().is_ok_and(|log| log.len() > 0) {
        files::move_if_there(&log, &with_suffix(&damaged, "-wal"))?;
    }
    remove_log(layout)?;
    files::move_if_there(&layout.database(), &damaged)?;
    // The system may put these on the disk in any order, but the old write-ahead log must not meet the new database.
    files::sync_parent(&damaged);
    files::move_if_there(&layout.recovered(), &layout.database())?;
    files::remove_if_there(&layout.suspect())?;
    files::sync_parent(&damaged);
    Ok(Recovery { damaged, sessions, events, cut: Vec::new() })
}

/// Removes the write-ahead log of a database that is gone.
pub(crate) fn remove_stale_log(layout: &Layout) -> Result<(), Error> {
    if layout.database().exists() {
        return Ok(());
    }
    remove_log(layout)
}

/// The damaged databases that are kept.
pub(crate) fn kept(layout: &Layout) -> Result<Vec<PathBuf>, Error> {
    let entries = blobs::entries(layout.folder())?;
    let is_damaged = |name: &str| name.starts_with("azimuth.db.damaged-") && !name.ends_with("-wal");
    let damaged = entries.iter().filter(|entry| entry.file_name().to_str().is_some_and(is_damaged));
    Ok(damaged.map(fs::DirEntry::path).collect())
}

fn remove_log(layout: &Layout) -> Result<(), Error> {
    files::remove_if_there(&layout.beside_database("-wal"))?;
    files::remove_if_there(&layout.beside_database("-shm"))
}

fn count(layout: &Layout) -> Result<(usize, usize), Error> {
    let recovered = schema::reader(&layout.recovered())?;
    let count = |sql| recovered.query_row(sql, [], |row| row.get::<_, i64>(0));
    let (sessions, events) = (count("SELECT count(*) FROM sessions")?, count("SELECT count(*) FROM events")?);
    recovered.close().map_err(|(_, error)| error)?;
    for suffix in ["-wal", "-shm"] {
        files::remove_if_there(&with_suffix(&layout.recovered(), suffix))?;
    }
    Ok((usize::try_from(sessions).unwrap_or_default(), usize::try_from(events).unwrap_or_default()))
}

fn free_name(layout: &Layout) -> PathBuf {
    let name = layout.beside_database(&format!(".damaged-{}", clock::stamp(clock::now())));
    let more = (2..).map(|n| with_suffix(&name, &format!("-{n}")));
    std::iter::once(name.clone()).chain(more).find(|path| !path.exists()).unwrap_or(name)
}

#[cfg(test)]
mod tests;
