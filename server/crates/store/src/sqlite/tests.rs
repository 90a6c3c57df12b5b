#![expect(clippy::disallowed_methods, reason = "these tests look at the store's files and spoil them")]

use std::fs::{self, File};
use std::time::SystemTime;

use ports::store::{Origin, SessionFilter, Store, StoreError};
use protocol::session::{Budget, Purpose, Terms};
use protocol::{Event, SessionId};

use crate::SqliteStore;
use crate::blobs::GRACE;
use crate::testing::{deltas, edit, ids, session, store};

fn is_not_found<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(&result, Err(StoreError::NotFound { .. })), "{result:?}");
}

#[test]
fn all_is_there_when_the_store_is_opened_again() {
    let (folder, store) = store();
    let id = session(&store, "one");
    store.append(&id, deltas(["a".into()]), false).unwrap();
    store.grant("project", "shell(cargo test)").unwrap();
    store.set("model", "scripted").unwrap();
    let (events, info) = (store.events(&id, 0, 10).unwrap(), store.info(&id).unwrap());
    drop(store);
    assert!(!folder.path().join("azimuth.db-wal").exists(), "whoever is last puts the log into the database");
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.events(&id, 0, 10).unwrap(), events);
    assert_eq!(store.info(&id).unwrap(), info);
    assert_eq!(store.grants("project").unwrap(), ["shell(cargo test)"]);
    assert_eq!(store.get("model").unwrap().as_deref(), Some("scripted"));
    assert_eq!(store.recovered(), None);
}

#[test]
fn a_session_that_is_not_there_is_said_to_be_missing() {
    let (_folder, store) = store();
    let id = SessionId::from("none");
    is_not_found(store.info(&id));
    is_not_found(store.events(&id, 0, 1));
    is_not_found(store.append(&id, deltas(["a".into()]), true));
    is_not_found(store.lock(&id).map(drop));
    is_not_found(store.session_folder(&id));
    is_not_found(store.delete(&id));
}

#[test]
fn an_id_is_taken_once() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    assert_eq!(store.create(&id, &[], None, Purpose::Chat), Err(StoreError::Exists("one".into())));
    assert_eq!(store.info(&id).unwrap().folders, ["file:///project"]);
}

#[test]
fn an_id_that_is_a_path_makes_no_session() {
    let (folder, store) = store();
    for id in ["../../evil", "a/b", "", "."] {
        assert!(
            matches!(store.create(&SessionId::from(id), &[], None, Purpose::Chat), Err(StoreError::Failed(_))),
            "{id:?}"
        );
    }
    assert!(ids(&store).is_empty());
    assert!(!folder.path().join("sessions").exists());
}

#[test]
fn sessions_are_listed_with_the_last_used_first() {
    let (_folder, store) = store();
    let now = crate::clock::now();
    for (id, seconds) in [("old", 1_000), ("newest", 3_000), ("newer", 2_000)] {
        let id = SessionId::from(id);
        store.create(&id, &[], None, Purpose::Chat).unwrap();
        let far = now + seconds * 1_000;
        store.append(&id, vec![(far, crate::testing::delta("a"))], false).unwrap();
    }
    let list = |limit| {
        let found = store.list(&SessionFilter { limit, ..SessionFilter::default() }).unwrap();
        found.iter().map(|info| info.session_id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(list(9), ["newest", "newer", "old"]);
    assert_eq!(list(2), ["newest", "newer"]);
    assert!(list(0).is_empty());
}

#[test]
fn of_sessions_used_in_the_same_millisecond_the_last_used_is_listed_first() {
    let (folder, store) = store();
    let at = crate::clock::now() + 1000;
    let mut expected: Vec<_> = (0..20).map(|n| SessionId::new(format!("s{}", n * 7 % 20))).collect();
    for id in &expected {
        store.create(id, &[], None, Purpose::Chat).unwrap();
        store.append(id, vec![(at, crate::testing::delta("a"))], false).unwrap();
    }
    store.append(&expected[3], vec![(at, crate::testing::delta("b"))], false).unwrap();
    let last = expected.remove(3);
    expected.push(last);
    expected.reverse();
    let listed = |store: &SqliteStore| {
        let found = store.list(&SessionFilter { limit: 99, ..SessionFilter::default() }).unwrap();
        found.into_iter().map(|info| info.session_id).collect::<Vec<_>>()
    };
    assert_eq!(listed(&store), expected);
    drop(store);
    assert_eq!(listed(&SqliteStore::open(folder.path()).unwrap()), expected);
}

#[test]
fn sessions_are_found_by_folder_and_by_title_whatever_its_case() {
    let (_folder, store) = store();
    for (id, folder, title) in [("a", "file:///a", "Größe ändern"), ("b", "file:///b", "Größe messen")] {
        let id = SessionId::from(id);
        store.create(&id, &["file:///x".into(), folder.into()], None, Purpose::Chat).unwrap();
        store.append(&id, vec![(1, Event::TitleChanged { title: title.into() })], false).unwrap();
    }
    let found = |folders: &[&str], query: Option<&str>| {
        let folders = folders.iter().map(|&folder| folder.to_owned()).collect();
        let filter =
            SessionFilter { folders, query: query.map(str::to_owned), origin: Origin::Any, purpose: None, limit: 10 };
        let mut ids: Vec<_> =
            store.list(&filter).unwrap().into_iter().map(|info| info.session_id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(found(&["file:///b"], None), ["b"]);
    assert_eq!(found(&["file:///x"], None), ["a", "b"]);
    assert_eq!(found(&["file:///"], None), [""; 0]);
    assert_eq!(found(&[], Some("GRÖSSE")), [""; 0]);
    assert_eq!(found(&[], Some("ÄNDERN")), ["a"]);
    assert_eq!(found(&["file:///a"], Some("größe")), ["a"]);
    assert_eq!(found(&[], Some("100%")), [""; 0]);
}

#[test]
fn sessions_are_listed_by_their_purpose_which_follows_their_events() {
    let (folder, store) = store();
    for (id, purpose) in [("a", Purpose::Chat), ("b", Purpose::Instruct), ("c", Purpose::Suggestions)] {
        store.create(&id.into(), &[], None, purpose).unwrap();
    }
    let list = |store: &SqliteStore, purpose| {
        let found = store.list(&SessionFilter { purpose, limit: 9, ..SessionFilter::default() }).unwrap();
        let mut ids: Vec<_> = found.iter().map(|info| info.session_id.to_string()).collect();
        ids.sort();
        ids
    };
    assert_eq!(list(&store, Some(Purpose::Chat)), ["a"]);
    assert_eq!(list(&store, Some(Purpose::Instruct)), ["b"]);
    assert_eq!(list(&store, None), ["a", "b", "c"]);
    let (asked_for, begins_with, parent, purpose) = (None, 0, None, Purpose::Instruct);
    let started = Event::SessionStarted { folders: Vec::new(), asked_for, begins_with, parent, purpose };
    let promoted = Event::PurposeChanged { purpose: Purpose::Chat };
    store.append(&"b".into(), vec![(1, started)], false).unwrap();
    assert_eq!(store.info(&"b".into()).unwrap().purpose, Purpose::Instruct);
    store.append(&"b".into(), vec![(2, promoted)], false).unwrap();
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(list(&store, Some(Purpose::Chat)), ["a", "b"]);
}

#[test]
fn sessions_that_a_session_started_are_listed_for_it_alone_and_go_with_it() {
    let (folder, store) = store();
    for (id, parent) in [("a", None), ("b", None), ("of-a", Some("a")), ("of-a-too", Some("a")), ("of-b", Some("b"))] {
        let (id, parent) = (SessionId::from(id), parent.map(SessionId::from));
        store.create(&id, &[], parent.as_ref(), Purpose::Chat).unwrap();
        // A fold of its log says the same.
        let terms = |session_id| Terms { session_id, tools: Vec::new(), budget: Budget::default() };
        let (folders, parent) = (vec!["file:///a".into()], parent.map(terms));
        let started =
            Event::SessionStarted { folders, asked_for: None, begins_with: 0, parent, purpose: Purpose::Chat };
        store.append(&id, vec![(1, started)], false).unwrap();
    }
    let list = |store: &SqliteStore, origin: Origin| {
        let found = store.list(&SessionFilter { origin, limit: 9, ..SessionFilter::default() }).unwrap();
        let mut ids: Vec<_> = found.iter().map(|info| info.session_id.to_string()).collect();
        ids.sort();
        ids
    };
    let of = |parent: &str| Origin::Of(parent.into());
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(list(&store, Origin::Roots), ["a", "b"]);
    assert_eq!(list(&store, of("a")), ["of-a", "of-a-too"]);
    assert_eq!(list(&store, Origin::Any).len(), 5);
    assert_eq!(store.info(&"of-b".into()).unwrap().parent, Some("b".into()));

    let held = store.lock(&"of-a-too".into()).unwrap();
    store.delete(&"a".into()).unwrap();
    let left = ["b", "of-a-too"];
    assert_eq!(
        list(&store, Origin::Roots),
        left,
        "one that runs stays, and is found, as the one that started it is gone"
    );
    drop(held);
    assert_eq!(list(&store, of("b")), ["of-b"]);
}

#[test]
fn grants_keep_their_order_and_their_project_until_they_are_taken_back() {
    let (_folder, store) = store();
    for rule in ["shell(b)", "shell(a)", "shell(b)", "shell(c)"] {
        store.grant("one", rule).unwrap();
    }
    store.grant("two", "shell(z)").unwrap();
    assert_eq!(store.grants("one").unwrap(), ["shell(b)", "shell(a)", "shell(c)"]);
    assert_eq!(store.grants("two").unwrap(), ["shell(z)"]);
    assert!(store.grants("three").unwrap().is_empty());
    store.revoke("one", "shell(a)").unwrap();
    store.revoke("one", "shell(a)").unwrap();
    store.revoke("one", "shell(z)").unwrap();
    assert_eq!(store.grants("one").unwrap(), ["shell(b)", "shell(c)"]);
    assert_eq!(store.grants("two").unwrap(), ["shell(z)"], "another project's grant stays");
}

#[test]
fn a_setting_is_the_last_that_was_set() {
    let (_folder, store) = store();
    assert_eq!(store.get("model").unwrap(), None);
    store.set("model", "one").unwrap();
    store.set("model", "two").unwrap();
    assert_eq!(store.get("model").unwrap().as_deref(), Some("two"));
}

#[test]
fn the_same_bytes_are_kept_once_and_come_back() {
    let (folder, store) = store();
    let hash = store.put_blob(b"abc").unwrap();
    // The example of FIPS 180-2.
    assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(store.put_blob(b"abc").unwrap(), hash);
    assert_eq!(store.blob(&hash).unwrap(), b"abc");
    let place = folder.path().join("blobs").join("ba");
    assert_eq!(fs::read_dir(place).unwrap().count(), 1);
    assert_eq!(store.blob(&store.put_blob(b"").unwrap()).unwrap(), b"");
}

#[test]
fn a_blob_is_only_found_by_its_hash() {
    let (folder, store) = store();
    fs::create_dir_all(folder.path().join("blobs")).unwrap();
    fs::write(folder.path().join("blobs").join("secret"), "x").unwrap();
    let unknown = "0".repeat(64);
    for hash in ["", "secret", "../azimuth.db", "é", unknown.as_str(), &unknown.replace('0', "A")] {
        is_not_found(store.blob(hash));
    }
}

#[test]
fn a_blob_that_went_bad_is_refused_and_can_be_put_again() {
    let (folder, store) = store();
    let hash = store.put_blob(b"the text before").unwrap();
    let path = folder.path().join("blobs").join(&hash[..2]).join(&hash[2..]);
    fs::write(path, "the text befoRe").unwrap();
    let error = store.blob(&hash).unwrap_err().to_string();
    assert!(error.contains("damaged"), "{error}");
    assert_eq!(store.put_blob(b"the text before").unwrap(), hash);
    assert_eq!(store.blob(&hash).unwrap(), b"the text before");
}

#[test]
fn what_old_edits_wrote_over_is_let_go_but_for_what_newer_ones_need() {
    let (folder, store) = store();
    let id = session(&store, "one");
    let [old, both, new, formatted, unstored] =
        [b"old", b"two", b"new", b"fmt", b"not"].map(|bytes| store.put_blob(bytes).unwrap());
    let formatting = Event::Formatted {
        turn_id: None,
        uri: "file:///project/main.rs".into(),
        before: new.clone(),
        after: formatted.clone(),
        added: 1,
        removed: 1,
        by: None,
    };
    store.append(&id, vec![(10, edit(&old, &both)), (20, edit(&both, &new)), (20, formatting)], true).unwrap();
    let long_ago = SystemTime::now() - GRACE * 2;
    for hash in [&old, &both, &new, &formatted] {
        let path = folder.path().join("blobs").join(&hash[..2]).join(&hash[2..]);
        File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    assert_eq!(store.forget_blobs(10), Ok(0));
    assert_eq!(store.forget_blobs(11), Ok(1));
    is_not_found(store.blob(&old));
    for hash in [&both, &new, &formatted, &unstored] {
        assert!(store.blob(hash).is_ok());
    }
    assert_eq!(store.info(&id).unwrap().last_seq, 4, "the log stays");
}

#[test]
fn a_deleted_session_takes_with_it_what_is_its_own() {
    let (folder, store) = store();
    let (gone, stays) = (session(&store, "gone"), session(&store, "stays"));
    let [own, shared, fresh] = [b"own", b"shd", b"new"].map(|bytes| store.put_blob(bytes).unwrap());
    store.append(&gone, vec![(2, edit(&own, &shared)), (3, edit(&fresh, &shared))], true).unwrap();
    store.append(&stays, vec![(2, edit(&shared, &shared))], true).unwrap();
    let spool = store.session_folder(&gone).unwrap();
    fs::write(spool.join("terminal"), "output").unwrap();
    let long_ago = SystemTime::now() - GRACE * 2;
    for hash in [&own, &shared] {
        let path = folder.path().join("blobs").join(&hash[..2]).join(&hash[2..]);
        File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }

    let lock = store.lock(&gone).unwrap();
    store.delete(&gone).unwrap();
    drop(lock);

    assert_eq!(ids(&store), ["stays"]);
    is_not_found(store.events(&gone, 0, 10));
    assert!(!spool.exists());
    assert!(!folder.path().join("locks").join("gone.lock").exists());
    is_not_found(store.blob(&own));
    assert_eq!(store.blob(&shared).unwrap(), b"shd");
    assert_eq!(store.blob(&fresh).unwrap(), b"new", "whoever put it just now may be about to speak of it");
    // The id is free again, and its log begins anew.
    store.create(&gone, &[], None, Purpose::Chat).unwrap();
    assert_eq!(store.events(&gone, 0, 10).unwrap(), []);
}

#[test]
fn a_blob_that_is_put_again_counts_as_new() {
    let (folder, store) = store();
    let hash = store.put_blob(b"text").unwrap();
    let path = folder.path().join("blobs").join(&hash[..2]).join(&hash[2..]);
    let long_ago = SystemTime::now() - GRACE * 2;
    File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    store.put_blob(b"text").unwrap();
    assert_eq!(store.collect_garbage(), Ok(0));
    File::options().append(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    assert_eq!(store.collect_garbage(), Ok(1));
    is_not_found(store.blob(&hash));
}

#[test]
fn a_session_folder_is_made_once_and_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let (_folder, store) = store();
    let id = session(&store, "one");
    let path = store.session_folder(&id).unwrap();
    fs::write(path.join("spool"), "x").unwrap();
    assert_eq!(store.session_folder(&id).unwrap(), path);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(path.join("spool").exists());
}

#[test]
fn a_session_is_locked_by_one_at_a_time() {
    let (folder, store) = store();
    let id = session(&store, "one");
    let lock = store.lock(&id).unwrap();
    let other = SqliteStore::open(folder.path()).unwrap();
    for store in [&store, &other] {
        let error = store.lock(&id).err().unwrap();
        let StoreError::Locked { session, holder, process } = &error else { panic!("{error:?}") };
        assert_eq!((session.as_str(), *process), ("one", Some(std::process::id())));
        assert!(holder.starts_with(&format!("process {}, since 20", std::process::id())), "{holder}");
    }
    drop(lock);
    // The file is still there, and means nothing.
    assert!(folder.path().join("locks").join("one.lock").exists());
    drop(other.lock(&id).unwrap());
    assert!(store.lock(&id).is_ok());
}

#[test]
fn only_the_holder_of_a_session_appends_to_it_or_deletes_it() {
    let (folder, store) = store();
    let id = session(&store, "one");
    let other = SqliteStore::open(folder.path()).unwrap();
    let lock = store.lock(&id).unwrap();
    assert!(matches!(other.append(&id, deltas(["a".into()]), false), Err(StoreError::Locked { .. })));
    assert!(matches!(other.delete(&id), Err(StoreError::Locked { .. })));
    assert_eq!(store.append(&id, deltas(["b".into()]), false).unwrap().len(), 1);
    assert_eq!(other.events(&id, 1, 10).unwrap().len(), 1, "anyone may read");
    drop(lock);
    assert_eq!(other.append(&id, deltas(["c".into()]), false).unwrap()[0].seq, 3);
}

#[test]
fn a_database_of_a_newer_azimuth_is_left_alone() {
    let (folder, store) = store();
    drop(store);
    let path = folder.path().join("azimuth.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 99).unwrap();
    database.close().unwrap();
    let before = fs::read(&path).unwrap();
    let error = SqliteStore::open(folder.path()).err().unwrap();
    let expected = StoreError::Newer { path: path.display().to_string(), found: 99, known: crate::schema::known() };
    assert_eq!(error, expected);
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the database and the lock, nothing else");
    // Not even where it was thought to be damaged.
    crate::recover::suspect(&crate::layout::Layout::new(folder.path()));
    assert_eq!(SqliteStore::open(folder.path()).err().unwrap(), expected);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_that_cannot_be_written_is_a_plain_error() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    for place in [file.clone(), file.join("azimuth")] {
        let error = SqliteStore::open(&place).err().unwrap().to_string();
        assert!(error.contains(file.to_str().unwrap()), "{error}");
    }
    let locked = folder.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o500)).unwrap();
    let opened = SqliteStore::open(&locked);
    // Nothing is closed to the superuser.
    if rustix::process::geteuid().is_root() {
        assert!(opened.is_ok());
    } else {
        let error = opened.err().unwrap().to_string();
        assert!(error.contains(locked.to_str().unwrap()), "{error}");
        assert!(SqliteStore::check(&locked).iter().any(|finding| finding.grave));
    }
}
