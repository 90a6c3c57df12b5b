//! Tests with several processes. Each test starts itself again as a child, with a job in the environment.
#![expect(clippy::disallowed_methods, reason = "these tests start themselves again and look at the store's files")]

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use ports::store::{Store, StoreError};
use protocol::SessionId;
use protocol::session::Purpose;
use tempfile::TempDir;

use crate::SqliteStore;
use crate::testing::{delta, deltas, session, store};

/// The folder of the store that a child is to open.
const FOLDER: &str = "AZIMUTH_STORE_TEST_FOLDER";
/// The job that it is to do there.
const JOB: &str = "AZIMUTH_STORE_TEST_JOB";
/// The mark of a line of its output that is a word to the test.
const WORD: &str = "word: ";

/// In a child: the store, opened, and the job.
fn job() -> Option<(SqliteStore, String)> {
    let folder = std::env::var_os(FOLDER)?;
    Some((SqliteStore::open(Path::new(&folder)).unwrap(), std::env::var(JOB).unwrap()))
}

/// In a child: says a word to the test. It is out of the process when this returns.
fn say(word: impl std::fmt::Display) {
    println!("\n{WORD}{word}");
}

/// A child that runs the test of this module with that name, killed when it is dropped.
struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    fn start(test: &str, folder: &Path, job: &str) -> Self {
        let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([name.as_str(), "--exact", "--nocapture"])
            .env(FOLDER, folder)
            .env(JOB, job)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next word; none when the process has ended.
    fn word(&mut self) -> Option<String> {
        self.lines.find_map(|line| line.ok()?.strip_prefix(WORD).map(str::to_owned))
    }

    /// `kill -9`.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for its end. A name that no test has any more would succeed too, and prove nothing.
    fn succeed(mut self) {
        assert!(self.lines.any(|line| line.unwrap().contains(" 1 passed")));
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn processes_append_to_their_own_sessions_at_once() {
    const EVENTS: u64 = 100;
    if let Some((store, job)) = job() {
        let id = SessionId::new(job);
        store.create(&id, &[], None, Purpose::Chat).unwrap();
        let _lock = store.lock(&id).unwrap();
        for n in 1..=EVENTS {
            let event = delta(format!("{id} {n}"));
            assert_eq!(store.append(&id, vec![(n, event)], n % 20 == 0).unwrap()[0].seq, n);
        }
        return;
    }
    // The children also race to make the database.
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let ids = ["a", "b", "c", "d", "e"];
    let children = ids.map(|id| Process::start("processes_append_to_their_own_sessions_at_once", &data, id));
    children.into_iter().for_each(Process::succeed);
    let store = SqliteStore::open(&data).unwrap();
    for id in ids {
        let events = store.events(&id.into(), 0, usize::MAX).unwrap();
        let texts: Vec<_> = events.into_iter().map(|event| (event.seq, event.event)).collect();
        assert_eq!(texts, (1..=EVENTS).map(|n| (n, delta(format!("{id} {n}")))).collect::<Vec<_>>());
    }
    assert_eq!(crate::check::damage(&data.join("azimuth.db")).unwrap(), None);
    let left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_str().unwrap().contains(".new-")), "{left:?}");
}

#[test]
fn processes_that_start_at_once_on_a_damaged_database_all_have_it_recovered() {
    if let Some((store, id)) = job() {
        assert_eq!(store.events(&SessionId::new(id), 0, usize::MAX).unwrap().len(), 1);
        return;
    }
    for round in 0..4 {
        let (folder, own) = store();
        session(&own, "one");
        drop(own);
        // The first page names the format; what is not there shows as soon as it is opened.
        let path = folder.path().join("azimuth.db");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100 + round..140].fill(0xff);
        std::fs::write(&path, bytes).unwrap();
        let name = "processes_that_start_at_once_on_a_damaged_database_all_have_it_recovered";
        let children = [(); 12].map(|()| Process::start(name, folder.path(), "one"));
        children.into_iter().for_each(Process::succeed);
        let left = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.filter(|name| name.to_str().unwrap().contains(".damaged-")).count(), 1);
    }
}

#[test]
fn what_was_acknowledged_outlives_a_kill_at_any_instant() {
    if let Some((store, job)) = job() {
        let id = SessionId::new(job);
        let _lock = store.lock(&id).unwrap();
        let mut last = store.info(&id).unwrap().last_seq;
        loop {
            // Batches of one to four, with texts from nothing to several pages.
            let count = last % 4 + 1;
            let texts = (1..=count).map(|n| content(last + n));
            last = store.append(&id, deltas(texts), last % 7 == 0).unwrap().last().unwrap().seq;
            say(last);
        }
    }
    let (folder, own) = store();
    let id = session(&own, "one");
    let mut acknowledged = 1;
    for round in 0..12 {
        let mut child = Process::start("what_was_acknowledged_outlives_a_kill_at_any_instant", folder.path(), "one");
        for _ in 0..=round * 7 {
            acknowledged = child.word().unwrap().parse().unwrap();
        }
        child.kill();
        // The words that it said before it died and that we have not read yet.
        while let Some(word) = child.word() {
            acknowledged = word.parse().unwrap();
        }
        let events = own.events(&id, 1, usize::MAX).unwrap();
        assert!(events.len() as u64 + 1 >= acknowledged, "{} events of {acknowledged}", events.len() + 1);
        for (event, seq) in events.iter().zip(2..) {
            assert_eq!((event.seq, &event.event), (seq, &delta(content(seq))));
        }
        assert_eq!(own.info(&id).unwrap().last_seq, events.len() as u64 + 1);
    }
    drop(own);
    assert_eq!(SqliteStore::check(folder.path()), []);
    let again = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(again.recovered(), None);
    assert!(again.info(&id).unwrap().last_seq >= acknowledged);
}

/// Returns the text of event `n` of a session.
fn content(n: u64) -> String {
    format!("{n} ").repeat(usize::try_from(n * 37 % 2500).unwrap())
}

#[test]
fn a_lock_dies_with_its_process() {
    if let Some((store, job)) = job() {
        let _lock = store.lock(&SessionId::new(job)).unwrap();
        say("locked");
        loop {
            std::thread::park();
        }
    }
    let (folder, store) = store();
    let id = session(&store, "one");
    let mut child = Process::start("a_lock_dies_with_its_process", folder.path(), "one");
    assert_eq!(child.word().as_deref(), Some("locked"));
    let error = store.lock(&id).err().unwrap();
    assert!(error.to_string().contains(&format!("process {}", child.child.id())), "{error}");
    assert!(matches!(store.append(&id, deltas(["a".into()]), false), Err(StoreError::Locked { .. })));
    assert!(matches!(store.delete(&id), Err(StoreError::Locked { .. })));
    child.kill();
    let _lock = store.lock(&id).unwrap();
    assert_eq!(store.append(&id, deltas(["a".into()]), false).unwrap()[0].seq, 2);
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt;

    if let Some((store, job)) = job() {
        // The folder and database are there by now; a child of its own makes all of them under this mask.
        let mask = u32::from_str_radix(&job, 8).unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(mask));
        let folder = store.layout.folder().join("inner");
        let store = SqliteStore::open(&folder).unwrap();
        let id = session(&store, "one");
        store.put_blob(b"text").unwrap();
        store.session_folder(&id).unwrap();
        let _lock = store.lock(&id).unwrap();
        crate::recover::suspect(&store.layout);
        let mut folders = vec![folder];
        let mut seen = 0;
        while let Some(folder) = folders.pop() {
            assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700, "{}", folder.display());
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
                    seen += 1;
                }
            }
        }
        // The database with its two companions, its lock, the mark, the session's lock and the blob.
        assert_eq!(seen, 7);
        return;
    }
    for mask in ["000", "077", "277"] {
        let folder = TempDir::new().unwrap();
        Process::start("nobody_else_can_read_it_whatever_the_umask", folder.path(), mask).succeed();
    }
}
