#![expect(clippy::disallowed_methods, reason = "these tests spoil the store's files")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use ports::store::Store;

use super::*;

use crate::testing::{deltas, session, store};

#[test]
fn a_folder_in_order_gives_no_findings() {
    let (folder, store) = store();
    session(&store, "one");
    assert_eq!(SqliteStore::check(folder.path()), []);
    drop(store);
    assert_eq!(SqliteStore::check(folder.path()), []);
    assert_eq!(SqliteStore::check(&folder.path().join("not there yet")), []);
}

#[test]
fn what_others_can_read_is_named_with_the_command_that_mends_it() {
    let (folder, store) = store();
    drop(store);
    let database = folder.path().join("azimuth.db");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&database, fs::Permissions::from_mode(0o644)).unwrap();
    let findings = SqliteStore::check(folder.path());
    assert_eq!(findings.iter().map(|finding| &*finding.place).collect::<Vec<_>>(), [folder.path(), &database]);
    assert!(findings.iter().all(|finding| !finding.grave));
    assert!(findings[0].text.contains("chmod 700") && findings[1].text.contains("chmod 600"), "{findings:?}");
    // Opening it mends it too.
    drop(SqliteStore::open(folder.path()).unwrap());
    assert_eq!(SqliteStore::check(folder.path()), []);
}

#[test]
fn a_newer_database_is_told_from_a_damaged_one() {
    let (folder, store) = store();
    drop(store);
    let database = Connection::open(folder.path().join("azimuth.db")).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    drop(database);
    let [finding] = SqliteStore::check(folder.path()).try_into().unwrap();
    assert!(finding.grave && finding.text.contains("update Azimuth"), "{}", finding.text);
}

#[test]
fn damage_is_found_where_no_one_has_read_yet_and_mended_at_the_next_start() {
    let (folder, store) = store();
    let id = session(&store, "one");
    store.append(&id, deltas((0..200).map(|n| format!("{n} ").repeat(100))), false).unwrap();
    drop(store);
    let path = folder.path().join("azimuth.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 6000].fill(0xee);
    fs::write(&path, bytes).unwrap();
    let [finding] = SqliteStore::check(folder.path()).try_into().unwrap();
    assert!(finding.grave && finding.place == path, "{finding:?}");
    assert!(finding.text.contains("start it again"), "{}", finding.text);
    let recovery = SqliteStore::open(folder.path()).unwrap().recovered().unwrap();
    let [finding] = SqliteStore::check(folder.path()).try_into().unwrap();
    assert!(!finding.grave && finding.place == recovery.damaged, "{finding:?}");
}

#[test]
fn what_the_store_cannot_have_written_is_damage() {
    let (folder, store) = store();
    let id = session(&store, "one");
    store.append(&id, deltas(["a", "b"].map(String::from)), false).unwrap();
    drop(store);
    let path = folder.path().join("azimuth.db");
    for (spoil, words) in [
        ("INSERT INTO grants (project, rule) VALUES ('p', CAST(x'ff' AS TEXT))", "utf-8"),
        ("UPDATE sessions SET last_seq = 7", "does not end with event 7"),
        ("UPDATE sessions SET folders = 'x'", "Conversion error"),
        ("DELETE FROM events WHERE seq = 2", "has no event 2"),
        ("UPDATE events SET json = '{'", "event 1 of session one cannot be read"),
        ("PRAGMA user_version = 0", "no format number"),
    ] {
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(spoil).unwrap();
        drop(connection);
        let found = damage(&path).unwrap().unwrap();
        assert!(found.contains(words), "{found}");
    }
}
