use ports::store::{Store, StoreError};
use protocol::SessionId;

use crate::SqliteStore;
use crate::testing::{deltas, edit, ids, session, store};

/// A session that was exported.
fn exported() -> (tempfile::TempDir, SqliteStore, SessionId, String) {
    let (folder, store) = store();
    let id = session(&store, "one");
    store.append(&id, deltas((0..2500).map(|n| format!("line {n}\n"))), false).unwrap();
    store.append(&id, vec![(9, edit(&"a".repeat(64), &"b".repeat(64)))], false).unwrap();
    let mut lines = Vec::new();
    store.export(&id, &mut lines).unwrap();
    (folder, store, id, String::from_utf8(lines).unwrap())
}

#[test]
fn an_exported_session_is_the_same_when_it_is_imported_elsewhere() {
    let (_folder, here, id, lines) = exported();
    assert_eq!(lines.lines().count(), 1 + 2502);
    let (_other_folder, there) = store();
    let imported = there.import(lines.as_bytes()).unwrap();
    assert_eq!((imported.session_id.clone(), imported.events, imported.warning), (id.clone(), 2502, None));
    assert_eq!(there.events(&id, 0, usize::MAX).unwrap(), here.events(&id, 0, usize::MAX).unwrap());
    // All the list says of it comes from its events.
    let mut info = here.info(&id).unwrap();
    info.updated_at = 9;
    assert_eq!(there.info(&id).unwrap(), info);
}

#[test]
fn an_import_overwrites_no_session() {
    let (_folder, store, id, lines) = exported();
    let imported = store.import(lines.as_bytes()).unwrap();
    assert_ne!(imported.session_id, id);
    assert_eq!(ids(&store).len(), 2);
    assert_eq!(store.events(&imported.session_id, 0, usize::MAX), store.events(&id, 0, usize::MAX));
    let evil = lines.replacen("\"one\"", "\"../../evil\"", 1);
    let imported = store.import(evil.as_bytes()).unwrap();
    assert!(imported.session_id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out_with_a_word() {
    let (_folder, _, id, lines) = exported();
    let (_other_folder, store) = store();
    let imported = store.import(&lines.as_bytes()[..lines.len() - 10]).unwrap();
    assert_eq!((imported.session_id, imported.events), (id, 2501));
    assert_eq!(imported.warning.unwrap(), "line 2503, the last, is cut off and was left out");
}

#[test]
fn a_last_line_that_only_lacks_its_end_is_read() {
    let (_folder, store, _, lines) = exported();
    let imported = store.import(lines.trim_end().as_bytes()).unwrap();
    assert_eq!((imported.events, imported.warning), (2502, None));
}

#[test]
fn of_lines_that_are_no_session_nothing_is_imported() {
    let (_folder, _, _, lines) = exported();
    let (_other_folder, store) = store();
    let header = lines.lines().next().unwrap();
    let cases = [
        (String::new(), "line 1 "),
        ("{\"hello\":".into(), "line 1 "),
        ("{\"hello\":1}\n".into(), "line 1 "),
        (header.replace("azimuth-session", "other"), "line 1 "),
        (header.replace("\"version\":1", "\"version\":2"), "update Azimuth"),
        (lines.replacen("\"seq\":7,", "\"seq\":8,", 1), "line 8 holds event 8, not 7"),
        (lines.replacen("\"seq\":7,", "\"sec\":7,", 1), "line 8 "),
        (format!("{header}\n\n"), "line 2 "),
        (format!("{header}\n{}\n", "[".repeat(1_000_000)), "line 2 "),
        (format!("{header}\n{{\"seq\":1,\"at\":1,\"x\":{}\n", "[".repeat(1_000_000)), "line 2 "),
    ];
    for (text, words) in cases {
        let Err(StoreError::Failed(error)) = store.import(text.as_bytes()) else { panic!("{words} was imported") };
        assert!(error.contains(words), "{error}");
        assert!(ids(&store).is_empty());
    }
    assert!(matches!(store.export(&"none".into(), &mut Vec::new()), Err(StoreError::NotFound { .. })));
}
