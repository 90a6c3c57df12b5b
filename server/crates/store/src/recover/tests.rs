#![expect(clippy::disallowed_methods, reason = "these tests spoil the store's files")]

use std::fs;
use std::path::Path;

use ports::store::{SessionFilter, Store, StoreError};
use proptest::prelude::{any, prop_assert, proptest};
use proptest::test_runner::{Config, RngSeed};
use protocol::{SequencedEvent, SessionId};
use tempfile::TempDir;

use super::*;
use crate::SqliteStore;
use crate::testing::{deltas, edit, ids, session, store};

const PAGE: usize = 4096;
const SESSIONS: [&str; 4] = ["a", "b", "c", "d"];

/// A store with some sessions, closed, and what each of them held.
fn filled() -> (TempDir, Vec<(SessionId, Vec<SequencedEvent>)>) {
    let (folder, store) = store();
    let mut logs = Vec::new();
    for id in SESSIONS {
        let id = session(&store, id);
        store.append(&id, vec![(2, edit(&"a".repeat(64), &"b".repeat(64)))], false).unwrap();
        for batch in 0..6 {
            store.append(&id, deltas((0..10).map(|n| format!("{id} {batch} {n} ").repeat(20 * n))), false).unwrap();
        }
        logs.push((id.clone(), store.events(&id, 0, usize::MAX).unwrap()));
    }
    store.grant("project", "shell(ls)").unwrap();
    store.set("key", "value").unwrap();
    (folder, logs)
}

fn total(logs: &[(SessionId, Vec<SequencedEvent>)]) -> usize {
    logs.iter().map(|(_, log)| log.len()).sum()
}

fn everything() -> SessionFilter {
    SessionFilter { limit: usize::MAX, ..SessionFilter::default() }
}

fn database(folder: &Path) -> PathBuf {
    folder.join("azimuth.db")
}

/// Reads all there is. Whatever it meets, the store notes.
fn read_all(store: &SqliteStore, logs: &[(SessionId, Vec<SequencedEvent>)]) -> Result<(), StoreError> {
    store.list(&everything())?;
    for (id, _) in logs {
        store.events(id, 0, usize::MAX)?;
    }
    store.grants("project").and(store.get("key")).map(drop)
}

/// How many events are there. Each session must hold the first of those it held, and the list must agree.
fn surviving(store: &SqliteStore, logs: &[(SessionId, Vec<SequencedEvent>)]) -> usize {
    let mut count = 0;
    for (id, log) in logs {
        match store.events(id, 0, usize::MAX) {
            Ok(events) => {
                assert_eq!(events, log[..events.len()], "{id}");
                assert_eq!(store.info(id).unwrap().last_seq, events.len() as u64);
                count += events.len();
            }
            Err(error) => assert!(matches!(error, StoreError::NotFound { .. }), "{id}: {error}"),
        }
    }
    count
}

#[test]
fn whichever_page_is_lost_the_rest_is_recovered() {
    let (origin, logs) = filled();
    let all = total(&logs);
    let healthy = fs::read(database(origin.path())).unwrap();
    let pages = healthy.len() / PAGE;
    assert!(pages > 30, "{pages} pages are too few to tell");
    let mut mostly_there = 0;
    for page in 0..pages {
        let folder = TempDir::new().unwrap();
        let mut bytes = healthy.clone();
        let rubbish = (0..PAGE).map(|n| (n * 31 + page * 17) as u8 | 0x80);
        bytes.splice(page * PAGE..(page + 1) * PAGE, rubbish);
        fs::write(database(folder.path()), &bytes).unwrap();

        // Damage may show at once, or only when it is read or looked for; the next start mends it then.
        let mut store = SqliteStore::open(folder.path()).unwrap();
        if store.recovered().is_none() {
            let found = read_all(&store, &logs).is_err() || !SqliteStore::check(folder.path()).is_empty();
            assert!(found, "page {page} is not missed");
            drop(store);
            store = SqliteStore::open(folder.path()).unwrap();
        }
        let recovery = store.recovered().unwrap();
        let found = surviving(&store, &logs);
        assert_eq!(recovery.events, found, "page {page}");
        assert_eq!(recovery.sessions, ids(&store).len(), "page {page}");
        let missing = |id: &SessionId, log: &Vec<_>| store.info(id).is_ok_and(|info| info.last_seq < log.len() as u64);
        let cut: Vec<_> = logs.iter().filter(|(id, log)| missing(id, log)).map(|(id, _)| id.clone()).collect();
        assert!(cut.iter().all(|id| recovery.cut.contains(id)), "page {page}: {cut:?} but {:?}", recovery.cut);
        assert_eq!(fs::read(&recovery.damaged).unwrap(), bytes, "the damaged file is kept as it was");
        mostly_there += usize::from(found * 2 >= all);
        // The recovered database works.
        let id = session(&store, "new");
        assert_eq!(store.append(&id, deltas(["on".into()]), true).unwrap()[0].seq, 2);
        drop(store);
        let kept = ["azimuth.db", "azimuth.db.lock", "locks", recovery.damaged.file_name().unwrap().to_str().unwrap()];
        for entry in fs::read_dir(folder.path()).unwrap() {
            let name = entry.unwrap().file_name();
            assert!(kept.contains(&name.to_str().unwrap()), "page {page} left {name:?}");
        }
        assert_eq!(check::damage(&database(folder.path())).unwrap(), None);
    }
    // Only the root of the events hides most of them.
    assert!(mostly_there >= pages - 1, "{mostly_there} of {pages}");
}

#[test]
fn with_the_first_page_lost_nothing_else_is() {
    let (folder, logs) = filled();
    let mut bytes = fs::read(database(folder.path())).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(database(folder.path()), bytes).unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let recovery = store.recovered().unwrap();
    let all = total(&logs);
    assert_eq!((recovery.sessions, recovery.events, surviving(&store, &logs)), (SESSIONS.len(), all, all));
    assert!(recovery.cut.is_empty());
    assert_eq!(store.grants("project").unwrap(), ["shell(ls)"]);
    assert_eq!(store.get("key").unwrap().as_deref(), Some("value"));
    let words = recovery.to_string();
    assert!(words.contains("4 sessions") && words.contains(recovery.damaged.to_str().unwrap()), "{words}");
}

#[test]
fn what_only_the_write_ahead_log_holds_is_recovered_too() {
    let (origin, store) = store();
    let id = session(&store, "one");
    store.append(&id, deltas((0..50).map(|n| n.to_string())), false).unwrap();
    let log = vec![(id.clone(), store.events(&id, 0, usize::MAX).unwrap())];
    // As a kill leaves it: the log has not been put into the database.
    let folder = TempDir::new().unwrap();
    for name in ["azimuth.db", "azimuth.db-wal"] {
        fs::copy(origin.path().join(name), folder.path().join(name)).unwrap();
    }
    recover(&Layout::new(folder.path())).unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(surviving(&store, &log), 51);
}

#[test]
fn a_lost_first_page_hides_nothing_that_only_the_write_ahead_log_holds() {
    for grows in [false, true] {
        let (origin, store) = store();
        let id = session(&store, "one");
        store.append(&id, deltas((0..50).map(|n| n.to_string())), false).unwrap();
        let other = rusqlite::Connection::open(database(origin.path())).unwrap();
        other.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        store.append(&id, deltas((0..if grows { 500 } else { 1 }).map(|n| n.to_string().repeat(40))), false).unwrap();
        let log = vec![(id.clone(), store.events(&id, 0, usize::MAX).unwrap())];
        let folder = TempDir::new().unwrap();
        for name in ["azimuth.db", "azimuth.db-wal"] {
            fs::copy(origin.path().join(name), folder.path().join(name)).unwrap();
        }
        assert!(fs::metadata(folder.path().join("azimuth.db-wal")).unwrap().len() > 0);
        let mut bytes = fs::read(database(folder.path())).unwrap();
        let size = u64::try_from(bytes.len()).unwrap();
        bytes[..PAGE].fill(0);
        fs::write(database(folder.path()), bytes).unwrap();
        recover(&Layout::new(folder.path())).unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        assert_eq!(surviving(&store, &log), log[0].1.len(), "grows: {grows}");
        assert!(!grows || fs::metadata(database(folder.path())).unwrap().len() > size, "it has grown");
    }
}

#[test]
fn an_event_that_went_bad_ends_its_session() {
    let (folder, logs) = filled();
    let connection = rusqlite::Connection::open(database(folder.path())).unwrap();
    connection.execute("UPDATE events SET json = '{\"type\":' WHERE session = 'b' AND seq = 9", []).unwrap();
    connection.execute("UPDATE events SET json = '{\"type\":\"danced\"}' WHERE session = 'c' AND seq = 9", []).unwrap();
    connection.execute("DELETE FROM events WHERE session = 'd' AND seq = 20", []).unwrap();
    drop(connection);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(store.events(&"b".into(), 0, 100).unwrap_err().to_string().contains("start it again"));
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.recovered().unwrap().cut, ["b".into(), "d".into()]);
    let last = |id: &str| store.info(&id.into()).unwrap().last_seq;
    assert_eq!(["a", "b", "d"].map(last), [logs[0].1.len() as u64, 8, 19]);
    assert_eq!(last("c"), logs[2].1.len() as u64, "an event of a kind that we do not know is kept");
}

#[test]
fn a_file_that_is_no_database_is_moved_aside() {
    for content in ["", "not a database", &"x".repeat(3 * PAGE)] {
        let folder = TempDir::new().unwrap();
        fs::write(database(folder.path()), content).unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let recovery = store.recovered().unwrap();
        assert_eq!((recovery.sessions, recovery.events), (0, 0));
        assert_eq!(fs::read_to_string(recovery.damaged).unwrap(), content);
        assert!(!folder.path().join("azimuth.db.mended").exists());
        session(&store, "one");
    }
}

#[test]
fn a_suspicion_that_proves_wrong_changes_nothing() {
    let (folder, logs) = filled();
    let layout = Layout::new(folder.path());
    suspect(&layout);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.recovered(), None);
    assert!(!is_due(&layout));
    assert_eq!(surviving(&store, &logs), total(&logs));
}

#[test]
fn a_database_that_another_process_has_open_is_not_moved() {
    let (folder, logs) = filled();
    let first = SqliteStore::open(folder.path()).unwrap();
    let layout = Layout::new(folder.path());
    suspect(&layout);
    let second = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(second.recovered(), None);
    assert!(is_due(&layout), "whoever is alone will look");
    assert!(read_all(&first, &logs).is_ok() && read_all(&second, &logs).is_ok());
}

#[test]
fn a_database_that_cannot_be_opened_waits_until_nobody_has_it_open() {
    let (folder, logs) = filled();
    let first = SqliteStore::open(folder.path()).unwrap();
    let mut bytes = fs::read(database(folder.path())).unwrap();
    bytes[..PAGE].fill(0);
    fs::write(database(folder.path()), bytes).unwrap();
    let error = SqliteStore::open(folder.path()).err().unwrap().to_string();
    assert!(error.contains("close all editors"), "{error}");
    drop(first);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(store.recovered().is_some());
    assert_eq!(surviving(&store, &logs), total(&logs));
}

#[test]
fn a_recovery_that_was_cut_off_goes_on() {
    let (folder, logs) = filled();
    let layout = Layout::new(folder.path());
    // Killed while the new database was filled: it begins anew.
    fs::write(layout.recovering(), "half").unwrap();
    fs::write(layout.beside_database(".recovering-wal"), "half").unwrap();
    recover(&layout).unwrap();
    let all = total(&logs);
    assert_eq!(surviving(&SqliteStore::open(folder.path()).unwrap(), &logs), all);
    // Killed when it was whole and not yet in its place, the damaged one still there or already moved.
    for moved in [false, true] {
        let folder = TempDir::new().unwrap();
        let new = Layout::new(folder.path());
        fs::copy(layout.database(), new.recovered()).unwrap();
        if !moved {
            fs::write(new.database(), "damaged").unwrap();
            fs::write(new.beside_database("-wal"), "damaged too").unwrap();
        }
        let store = SqliteStore::open(folder.path()).unwrap();
        assert_eq!(store.recovered().unwrap().events, all);
        assert_eq!(surviving(&store, &logs), all);
        assert_eq!(kept(&new).unwrap().len(), usize::from(!moved));
    }
}

#[test]
fn nothing_is_collected_while_a_damaged_database_is_kept() {
    let (folder, store) = store();
    let hash = store.put_blob(b"text").unwrap();
    let path = folder.path().join("blobs").join(&hash[..2]).join(&hash[2..]);
    let long_ago = std::time::SystemTime::now() - blobs::GRACE * 2;
    File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    let damaged = folder.path().join("azimuth.db.damaged-20261121-023000");
    fs::write(&damaged, "x").unwrap();
    assert_eq!(store.collect_garbage(), Ok(0));
    fs::remove_file(damaged).unwrap();
    assert_eq!(store.collect_garbage(), Ok(1));
}

#[test]
fn a_log_without_its_database_is_not_taken_for_another_one_s() {
    let (origin, old) = store();
    let id = session(&old, "one");
    let folder = TempDir::new().unwrap();
    fs::copy(origin.path().join("azimuth.db-wal"), folder.path().join("azimuth.db-wal")).unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(matches!(store.info(&id), Err(StoreError::NotFound { .. })));
    drop(store);
    assert_eq!(check::damage(&database(folder.path())).unwrap(), None);
}

proptest! {
    // The same rubbish in every run: SQLite keeps no checksums, so there may be some that nobody could notice.
    #![proptest_config(Config { cases: 40, rng_seed: RngSeed::Fixed(1), ..Config::default() })]

    #[test]
    fn whatever_is_overwritten_the_store_works_again_after_a_start(
        spots in proptest::collection::vec((any::<u32>(), proptest::collection::vec(any::<u8>(), 1..80)), 1..6),
    ) {
        let (folder, logs) = filled();
        let mut bytes = fs::read(database(folder.path())).unwrap();
        for (at, rubbish) in spots {
            let at = at as usize % (bytes.len() - rubbish.len());
            bytes[at..at + rubbish.len()].copy_from_slice(&rubbish);
        }
        fs::write(database(folder.path()), bytes).unwrap();
        match SqliteStore::open(folder.path()) {
            // The format's number was hit.
            Err(StoreError::Newer { .. }) => return Ok(()),
            first => drop(first.unwrap()),
        }
        SqliteStore::check(folder.path());
        let store = SqliteStore::open(folder.path()).unwrap();
        for (id, _) in &logs {
            match store.events(id, 0, usize::MAX) {
                Ok(events) => {
                    let next = events.len() as u64 + 1;
                    prop_assert!(store.append(id, deltas(["on".into()]), false).unwrap()[0].seq == next);
                }
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => prop_assert!(error.to_string().contains("update Azimuth"), "{}", error),
            }
        }
        prop_assert!(store.list(&everything()).is_ok());
        prop_assert!(store.grants("project").is_ok() && store.get("key").is_ok());
        drop(store);
        prop_assert!(check::damage(&database(folder.path())).unwrap().is_none());
    }
}
