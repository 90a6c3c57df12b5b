//! The tables, and how a connection to them is made.

use std::path::Path;
use std::time::Duration;

use ports::store::StoreError;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::Error;
use crate::files;
use crate::layout::{Layout, with_suffix};

/// The texts that are searched and their index, which can be made again from the events.
macro_rules! texts {
    () => {
        "
    -- Texts that are searched: the beginnings of what users and models said. The kind is prompt, answer or command; the
    -- message is that of an answer.
    CREATE TABLE texts (
        id INTEGER PRIMARY KEY,
        session TEXT NOT NULL,
        seq INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        message TEXT,
        text TEXT NOT NULL,
        UNIQUE (session, seq)
    ) STRICT;
    CREATE INDEX texts_at ON texts (at);
    CREATE INDEX texts_typed ON texts (kind <> 'answer', at);

    -- Their index, by all three characters that follow one another. It has no positions: the texts are looked at.
    CREATE VIRTUAL TABLE texts_index USING fts5 (
        text, content = 'texts', content_rowid = 'id', tokenize = 'trigram', detail = none, columnsize = 0
    );

    -- They go with their session, also if an older version deletes it.
    CREATE TRIGGER texts_gone AFTER DELETE ON sessions BEGIN
        INSERT INTO texts_index (texts_index, rowid, text) SELECT 'delete', id, text FROM texts WHERE session = OLD.id;
        DELETE FROM texts WHERE session = OLD.id;
    END;
"
    };
}
pub(crate) const TEXTS: &str = texts!();

/// The steps from an empty database to ours. A database's `user_version` is the number of steps it has taken. Steps are
/// only ever added at the end.
const STEPS: &[&str] = &[
    "
    -- A session with the summary that lists show: a fold of its events.
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        folders TEXT NOT NULL, -- a JSON array of URIs
        model TEXT,
        mode TEXT NOT NULL,
        created_at INTEGER NOT NULL, -- times are milliseconds since the Unix epoch
        updated_at INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        input INTEGER NOT NULL, -- tokens
        output INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        cost REAL NOT NULL -- US dollars
    ) STRICT, WITHOUT ROWID;

    -- One tree in the order in which events are read, so that a session's log is one walk.
    CREATE TABLE events (
        session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        seq INTEGER NOT NULL, -- 1, 2, 3, ... in each session
        at INTEGER NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (session, seq)
    ) STRICT, WITHOUT ROWID;

    -- The blobs that a session's events speak of.
    CREATE TABLE blob_refs (
        session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        hash TEXT NOT NULL,
        PRIMARY KEY (session, hash)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE grants (
        id INTEGER PRIMARY KEY, -- the order in which they were granted
        project TEXT NOT NULL,
        rule TEXT NOT NULL,
        UNIQUE (project, rule)
    ) STRICT;

    CREATE TABLE settings (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
",
    "
    -- Grows with every use of any session, and so says which of two was used last within one millisecond.
    ALTER TABLE sessions ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX sessions_used ON sessions (used);
",
    "
    -- When an event last spoke of the blob; of those from before this was noted, when their session last changed.
    ALTER TABLE blob_refs ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
    UPDATE blob_refs SET at = (SELECT updated_at FROM sessions WHERE id = session);
",
    "
    -- The session that started it.
    ALTER TABLE sessions ADD COLUMN parent TEXT;
",
    "
    -- Numbers about suggestions where the user types, and what they cost; of a day (since the Unix epoch, UTC) each.
    CREATE TABLE inline_counts (
        day INTEGER NOT NULL,
        model TEXT NOT NULL,
        name TEXT NOT NULL,
        number INTEGER NOT NULL,
        PRIMARY KEY (day, model, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE inline_costs (
        day INTEGER NOT NULL,
        model TEXT NOT NULL,
        dollars REAL NOT NULL,
        PRIMARY KEY (day, model)
    ) STRICT, WITHOUT ROWID;
",
    "
    -- The purpose of the session; of those from before this was noted, a chat.
    ALTER TABLE sessions ADD COLUMN purpose TEXT NOT NULL DEFAULT 'chat';
",
    "
    -- The last event of which `spent` has taken in what it says.
    ALTER TABLE sessions ADD COLUMN spent_to INTEGER NOT NULL DEFAULT 0;

    -- The requests of a turn, or of a session outside its turns, by model and day. The rows of a session stay if it is
    -- deleted, as its requests were paid for.
    CREATE TABLE spent (
        session TEXT NOT NULL,
        turn TEXT NOT NULL, -- empty outside turns
        role TEXT NOT NULL, -- empty within turns
        model TEXT NOT NULL,
        day INTEGER NOT NULL, -- since the Unix epoch, UTC
        parent TEXT,
        requests INTEGER NOT NULL,
        unpriced INTEGER NOT NULL, -- requests whose cost is unknown
        input INTEGER NOT NULL, -- tokens
        output INTEGER NOT NULL,
        cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL,
        cost REAL NOT NULL, -- US dollars
        UNIQUE (session, turn, role, model, day)
    ) STRICT;
    CREATE INDEX spent_day ON spent (day);
",
    concat!(
        "
    -- The last event of which `texts` has what it says.
    ALTER TABLE sessions ADD COLUMN texts_to INTEGER NOT NULL DEFAULT 0;
",
        texts!()
    ),
];

/// How long a connection waits for another one that writes. Transactions take milliseconds; a checkpoint on a slow
/// disk may take seconds.
const BUSY: Duration = Duration::from_secs(10);

/// The format that this code writes.
pub(crate) fn known() -> i64 {
    STEPS.len() as i64
}

/// Makes the database, unless another process is faster. It appears in its place whole.
pub(crate) fn create(layout: &Layout) -> Result<(), Error> {
    let temporary = layout.beside_database(&format!(".new-{}", std::process::id()));
    create_at(&temporary)?;
    files::place_new(&temporary, &layout.database())
}

/// Makes an empty database at a path where none may be.
pub(crate) fn create_at(path: &Path) -> Result<(), Error> {
    // A write-ahead log left by a process that died at this would be taken for the new database's.
    for suffix in ["", "-wal", "-shm"] {
        files::remove_if_there(&with_suffix(path, suffix))?;
    }
    drop(files::private_file(path)?);
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate(&mut connection, path)?;
    // The file remembers it, and closing the connection leaves no other file behind.
    write_ahead(&connection, path)?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// A connection that writes. The database is there, and is brought to our format.
///
/// # Errors
/// [`StoreError::Newer`], before anything is changed; damage that shows at once.
pub(crate) fn writer(path: &Path) -> Result<Connection, Error> {
    for suffix in ["", "-wal", "-shm"] {
        files::tighten(&with_suffix(path, suffix));
    }
    let mut connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    if version(&connection)? == 0 {
        return Err(Error::Damaged("it has no format number".into()));
    }
    migrate(&mut connection, path)?;
    write_ahead(&connection, path)?;
    // `fullfsync` is what makes a sync reach the disk on macOS; elsewhere it does nothing.
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA fullfsync = ON")?;
    Ok(connection)
}

/// A connection that only reads.
pub(crate) fn reader(path: &Path) -> Result<Connection, Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// The format of a database: the number of steps it has taken.
pub(crate) fn version(connection: &Connection) -> Result<i64, Error> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn connect(path: &Path, access: OpenFlags) -> Result<Connection, Error> {
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(BUSY)?;
    Ok(connection)
}

/// Has the database keep a write-ahead log, so that readers need not wait for writers.
///
/// SQLite calls it no error where it cannot, as on file systems without shared memory. All works there too, only
/// slower.
fn write_ahead(connection: &Connection, path: &Path) -> Result<(), Error> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !mode.eq_ignore_ascii_case("wal") {
        tracing::warn!(database = %path.display(), mode, "the session database cannot have a write-ahead log here");
    }
    Ok(())
}

/// Takes the steps that are missing, all or none. Several processes may try at once.
fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    if is_current(connection, path)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if !is_current(&transaction, path)? {
        let taken = usize::try_from(version(&transaction)?).unwrap_or_default();
        for step in STEPS.iter().skip(taken) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", known())?;
    }
    Ok(transaction.commit()?)
}

fn is_current(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let found = version(connection)?;
    if found > known() {
        let path = path.display().to_string();
        return Err(StoreError::Newer { path, found, known: known() }.into());
    }
    Ok(found == known())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_every_earlier_format_is_brought_to_ours() {
        for taken in 1..STEPS.len() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("azimuth.db");
            let old = Connection::open(&path).unwrap();
            STEPS[..taken].iter().for_each(|step| old.execute_batch(step).unwrap());
            old.pragma_update(None, "user_version", taken as i64).unwrap();
            let columns = "id, title, folders, model, mode, created_at, updated_at, last_seq, input, output, cache_read, \
                           cache_write, cost";
            let session = "'a', '', '[]', NULL, 'agent', 1, 2, 3, 0, 0, 0, 0, 0.0";
            old.execute_batch(&format!("INSERT INTO sessions ({columns}) VALUES ({session})")).unwrap();
            old.execute_batch("INSERT INTO blob_refs (session, hash) VALUES ('a', 'kept')").unwrap();
            // A damaged one is recovered from its rows as they are.
            let which = crate::sessions::select_from_earlier(taken as i64, "");
            assert_eq!(old.query_row(&which, [], crate::sessions::read_info).unwrap().last_seq, 3);
            drop(old);

            let connection = writer(&path).unwrap();
            assert_eq!(version(&connection).unwrap(), known());
            let info = crate::sessions::info(&connection, &"a".into()).unwrap();
            assert_eq!((info.created_at, info.updated_at, info.last_seq), (1, 2, 3));
            let at: i64 = connection.query_row("SELECT at FROM blob_refs", [], |row| row.get(0)).unwrap();
            // From the third step on it is noted when the row is made.
            assert!(at == 2 || taken >= 3, "as old as its session, and not let go at once");
        }
    }
}
