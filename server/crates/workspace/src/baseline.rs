//! What the project's files are before a command, so that what it changes can be told, and taken back, without git.
//!
//! [`Baseline::remember`] walks the project and keeps a copy of each text in one file of the session's own; only what
//! changed since the last time is read again. [`Baseline::changes`] walks it once more and gives what differs. Both are
//! bounded: by the number of files, by what is copied, and the first by time, since a command waits for it.
#![expect(
    clippy::disallowed_methods,
    reason = "it looks at project files as a whole, and its copy is the session's own"
)]

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio_util::sync::CancellationToken;

use crate::files::Whole;
use crate::search::{Scope, Search};

/// At most so many files are followed.
pub const MAX_FILES: usize = 20_000;
/// A file that is larger, in bytes, is not copied: it is seen that it changes, but not what it was.
pub const MAX_FILE: u64 = 4 << 20;
/// At most so many bytes are copied at a time, the smallest files first.
pub const MAX_COPIED: u64 = 64 << 20;
/// When what is no longer needed makes the copy so much larger than that, it is made anew.
const MAX_GARBAGE: u64 = 2 * MAX_COPIED;
/// Clocks of file systems are behind by so much at most.
const CLOCK: Duration = Duration::from_secs(1);

/// The project's files as they were before a command.
pub struct Baseline {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: HashMap<PathBuf, Seen>,
    /// The copy; none before the first time.
    copy: Option<File>,
    /// How long the copy is, in bytes, and how much of it is in use.
    length: u64,
    used: u64,
    /// When the files were last looked at.
    since: Option<SystemTime>,
}

/// A file as it was.
#[derive(Clone, Debug)]
struct Seen {
    stamp: Stamp,
    /// Whether it had been touched so shortly before that its stamp could be the same after the next change.
    fresh: bool,
    executable: bool,
    /// Where its bytes stand in the copy, or why they are not there.
    copied: Result<Copied, &'static str>,
}

#[derive(Clone, Copy, Debug)]
struct Copied {
    offset: u64,
    length: usize,
}

/// What differs where a file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    size: u64,
    inode: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Why the files could not be remembered, so that what a command changes cannot be undone. The words are for people.
#[derive(Debug, thiserror::Error)]
pub enum NotRemembered {
    /// It took too long. The next time goes on from there.
    #[error("looking at the project's files takes too long")]
    TooSlow,
    /// The files could not be found.
    #[error("the project's files cannot be listed: {0}")]
    Search(#[from] crate::search::SearchError),
    /// The copy could not be written.
    #[error("the project's files cannot be copied: {0}")]
    Copy(#[from] io::Error),
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file, absolute.
    pub path: PathBuf,
    /// What it was.
    pub before: Side,
    /// What it is.
    pub after: Side,
}

/// What a file was or is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Not there.
    Absent,
    /// This.
    Is(Whole),
    /// Not known, for this reason.
    Unknown(&'static str),
}

const NOT_TEXT: &str = "it is not text";
const TOO_LARGE: &str = "it is too large to be kept";
const TOO_MUCH: &str = "the project's texts are too large to be kept";
const UNREADABLE: &str = "it cannot be read";
const RULES_CHANGED: &str = "what is ignored changed too, so whether it is new is not known";

impl Baseline {
    /// One that keeps its copy in this folder, which is there.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join("baseline"), state: Mutex::default() }
    }

    /// Remembers the files as they are now, and gives whether these are all there are. Blocks.
    ///
    /// # Errors
    /// See [`NotRemembered`]. Nothing is known then to compare with.
    pub fn remember(&self, search: &Search, time: Duration) -> Result<bool, NotRemembered> {
        let until = Instant::now() + time;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.since = None;
        let since = SystemTime::now();
        let (found, all) = list(search)?;
        if Instant::now() > until {
            return Err(NotRemembered::TooSlow);
        }
        if state.copy.is_none() || state.length > state.used + MAX_GARBAGE {
            *state = State { copy: Some(private(&self.path)?), ..State::default() };
        }
        state.keep_only(&found);
        let mut new: Vec<_> = found.into_iter().filter(|(path, stamp, _)| !state.knows(path, *stamp)).collect();
        new.sort_by_key(|(_, stamp, _)| stamp.size);
        for (path, stamp, executable) in new {
            if Instant::now() > until {
                return Err(NotRemembered::TooSlow);
            }
            let copied = state.copy(&path, stamp.size)?;
            state.insert(path, Seen { stamp, fresh: !stamp.is_before(since), executable, copied });
        }
        state.since = Some(since);
        Ok(all)
    }

    /// What differs from what was remembered, sorted by path. Nothing where nothing is remembered. Blocks.
    ///
    /// # Errors
    /// See [`NotRemembered`].
    pub fn changes(&self, search: &Search) -> Result<Vec<Changed>, NotRemembered> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(since) = state.since else { return Ok(Vec::new()) };
        let (found, _) = list(search)?;
        let mut changed = Vec::new();
        let mut are_there = HashSet::new();
        for (path, stamp, executable) in found {
            match state.files.get(&path) {
                Some(seen) if seen.stamp == stamp && !seen.fresh => {}
                Some(seen) => changed.extend(state.compare(&path, seen, read(&path, stamp.size, executable))),
                // It was there, but not for us: it was ignored until now.
                None if stamp.is_before(since) => {}
                None if state.files.len() < MAX_FILES => {
                    let after = read(&path, stamp.size, executable);
                    changed.push(Changed { path: path.clone(), before: Side::Absent, after });
                }
                None => {}
            }
            are_there.insert(path);
        }
        for (path, seen) in state.files.iter().filter(|(path, _)| !are_there.contains(*path)) {
            let after = match fs::symlink_metadata(path) {
                // It is ignored now.
                Ok(metadata) if metadata.is_file() => read(path, metadata.len(), is_executable(&metadata)),
                Ok(_) => Side::Unknown("it is no file any more"),
                Err(_) => Side::Absent,
            };
            changed.extend(state.compare(path, seen, after));
        }
        if changed.iter().any(|changed| says_what_is_ignored(&changed.path)) {
            for changed in changed.iter_mut().filter(|changed| changed.before == Side::Absent) {
                changed.before = Side::Unknown(RULES_CHANGED);
            }
        }
        changed.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changed)
    }
}

impl Drop for Baseline {
    fn drop(&mut self) {
        if self.state.get_mut().is_ok_and(|state| state.copy.is_some()) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl State {
    fn knows(&self, path: &Path, stamp: Stamp) -> bool {
        let same = |seen: &Seen| seen.stamp == stamp && !seen.fresh && !matches!(seen.copied, Err(TOO_MUCH));
        self.files.get(path).is_some_and(same)
    }

    /// Forgets all other files.
    fn keep_only(&mut self, found: &[(PathBuf, Stamp, bool)]) {
        let found: HashSet<&Path> = found.iter().map(|(path, ..)| path.as_path()).collect();
        let used = &mut self.used;
        self.files.retain(|path, seen| {
            let stays = found.contains(path.as_path());
            *used -= if stays { 0 } else { seen.length() };
            stays
        });
    }

    fn insert(&mut self, path: PathBuf, seen: Seen) {
        self.used += seen.length();
        if let Some(old) = self.files.insert(path, seen) {
            self.used -= old.length();
        }
    }

    /// Copies a file.
    fn copy(&mut self, path: &Path, size: u64) -> io::Result<Result<Copied, &'static str>> {
        if size > MAX_FILE {
            return Ok(Err(TOO_LARGE));
        }
        if self.used + size > MAX_COPIED {
            return Ok(Err(TOO_MUCH));
        }
        let Ok(bytes) = fs::read(path) else { return Ok(Err(UNREADABLE)) };
        // As git does: texts have no NUL, and what is none shows it early.
        if bytes.iter().take(8000).any(|byte| *byte == 0) && !bytes.starts_with(&[0xFF, 0xFE]) {
            return Ok(Err(NOT_TEXT));
        }
        let Some(copy) = &self.copy else { return Ok(Err(UNREADABLE)) };
        copy.write_all_at(&bytes, self.length)?;
        let copied = Copied { offset: self.length, length: bytes.len() };
        self.length += bytes.len() as u64;
        Ok(Ok(copied))
    }

    /// What became of a file that was seen; none if it is the same.
    fn compare(&self, path: &Path, seen: &Seen, after: Side) -> Option<Changed> {
        let before = match seen.copied {
            Ok(copied) => self.copied(copied, seen.executable),
            Err(reason) => Side::Unknown(reason),
        };
        let same = match (&before, &after) {
            (Side::Is(a), Side::Is(b)) => (&a.decoded, &a.bytes) == (&b.decoded, &b.bytes),
            (Side::Unknown(_), _) => seen.fresh && Stamp::at(path) == Some(seen.stamp),
            (before, after) => before == after,
        };
        (!same).then(|| Changed { path: path.to_owned(), before, after })
    }

    fn copied(&self, copied: Copied, executable: bool) -> Side {
        let mut bytes = vec![0; copied.length];
        match self.copy.as_ref().map(|copy| copy.read_exact_at(&mut bytes, copied.offset)) {
            Some(Ok(())) => whole(bytes, executable),
            _ => Side::Unknown("its copy cannot be read"),
        }
    }
}

impl Seen {
    fn length(&self) -> u64 {
        self.copied.map_or(0, |copied| copied.length as u64)
    }
}

impl Stamp {
    fn at(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().as_ref().map(Self::of)
    }

    fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.len(),
            inode: metadata.ino(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file has surely not been touched since.
    fn is_before(&self, since: SystemTime) -> bool {
        let since = since.checked_sub(CLOCK).and_then(|since| since.duration_since(UNIX_EPOCH).ok());
        since.is_some_and(|since| self.changed.0 < i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
    }
}

type Found = Vec<(PathBuf, Stamp, bool)>;

/// The project's files on disk, and whether these are all.
fn list(search: &Search) -> Result<(Found, bool), NotRemembered> {
    let paths = search.files(&Scope::default(), &CancellationToken::new())?.paths;
    let all = paths.len() <= MAX_FILES;
    let stat = |path: PathBuf| {
        // A document that is not saved is not there.
        let metadata = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
        Some((path, Stamp::of(&metadata), is_executable(&metadata)))
    };
    Ok((paths.into_iter().take(MAX_FILES).filter_map(stat).collect(), all))
}

fn read(path: &Path, size: u64, executable: bool) -> Side {
    if size > MAX_FILE {
        return Side::Unknown(TOO_LARGE);
    }
    fs::read(path).map_or(Side::Unknown(UNREADABLE), |bytes| whole(bytes, executable))
}

fn whole(bytes: Vec<u8>, executable: bool) -> Side {
    Whole::new(bytes, executable).map_or(Side::Unknown(NOT_TEXT), Side::Is)
}

fn is_executable(metadata: &Metadata) -> bool {
    metadata.mode() & 0o100 != 0
}

fn says_what_is_ignored(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore")
}

/// An empty file that only the user can read.
fn private(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::paths::Roots;
    use crate::reader::{NoOverlay, Reader};

    const LONG: Duration = Duration::from_secs(60);

    struct World {
        folder: tempfile::TempDir,
        search: Search,
        baseline: Baseline,
    }

    impl World {
        fn new(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("own")).unwrap();
            fs::create_dir(folder.path().join("project")).unwrap();
            let roots = Arc::new(Roots::new([folder.path().join("project")]).unwrap());
            let search = Search::new(roots, Reader::new(Arc::default(), Arc::new(NoOverlay)));
            let baseline = Baseline::new(&folder.path().join("own"));
            let world = Self { folder, search, baseline };
            files.iter().for_each(|(name, bytes)| world.write(name, bytes));
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join("project").join(name)
        }

        fn write(&self, name: &str, bytes: &[u8]) {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }

        fn remember(&self) -> bool {
            self.baseline.remember(&self.search, LONG).unwrap()
        }

        /// The files that changed, each with what it was and is.
        fn changes(&self) -> Vec<(String, String, String)> {
            let side = |side: Side| match side {
                Side::Absent => "absent".to_owned(),
                Side::Is(whole) => format!("{:?}", whole.decoded.text),
                Side::Unknown(why) => format!("unknown, {why}"),
            };
            let changes = self.baseline.changes(&self.search).unwrap().into_iter();
            let name = |path: PathBuf| path.strip_prefix(self.path("")).unwrap().display().to_string();
            changes.map(|changed| (name(changed.path), side(changed.before), side(changed.after))).collect()
        }
    }

    fn change(path: &str, before: &str, after: &str) -> (String, String, String) {
        (path.into(), before.into(), after.into())
    }

    #[test]
    fn what_a_command_changes_makes_and_deletes_is_told_with_what_it_was() {
        let world = World::new(&[("a", b"one\n"), ("b", b"one\n"), ("c", b"one\n"), ("bin", b"\0\x01")]);
        assert!(world.changes().is_empty(), "nothing is remembered yet");
        assert!(world.remember());
        world.write("a", b"two\n");
        world.write("b", b"one\n");
        fs::remove_file(world.path("c")).unwrap();
        world.write("new/d", b"new\n");
        world.write("bin", b"\0\x02");
        let expected = [
            change("a", "\"one\\n\"", "\"two\\n\""),
            change("bin", "unknown, it is not text", "unknown, it is not text"),
            change("c", "\"one\\n\"", "absent"),
            change("new/d", "absent", "\"new\\n\""),
        ];
        assert_eq!(world.changes(), expected);
        // The next command is measured against what this one left.
        world.remember();
        assert!(world.changes().is_empty());
        world.write("a", b"three\n");
        assert_eq!(world.changes(), [change("a", "\"two\\n\"", "\"three\\n\"")]);
    }

    #[test]
    fn what_is_ignored_is_not_looked_at_and_no_file_counts_as_new_because_it_is_no_longer_ignored() {
        let world = World::new(&[(".gitignore", b"out\n"), ("out", b"old\n")]);
        world.remember();
        world.write("out", b"newer\n");
        assert!(world.changes().is_empty());
        world.write(".gitignore", b"other\n");
        let unknown = format!("unknown, {RULES_CHANGED}");
        let expected = [change(".gitignore", "\"out\\n\"", "\"other\\n\""), change("out", &unknown, "\"newer\\n\"")];
        assert_eq!(world.changes(), expected);
        // What is ignored from now on is still there.
        world.write(".gitignore", b"");
        world.remember();
        world.write(".gitignore", b"out\n");
        assert_eq!(world.changes(), [change(".gitignore", "\"\"", "\"out\\n\"")]);
    }

    #[test]
    fn a_file_that_is_too_large_is_named_but_not_kept() {
        let large = vec![b'x'; usize::try_from(MAX_FILE).unwrap() + 1];
        let world = World::new(&[("large", &large)]);
        world.remember();
        world.write("large", b"small\n");
        assert_eq!(world.changes(), [change("large", "unknown, it is too large to be kept", "\"small\\n\"")]);
    }

    #[test]
    fn line_ends_alone_are_a_change() {
        let world = World::new(&[("a", b"one\r\n")]);
        world.remember();
        world.write("a", b"one\n");
        assert_eq!(world.changes(), [change("a", "\"one\\n\"", "\"one\\n\"")]);
    }

    #[test]
    fn without_time_nothing_is_remembered_and_nothing_is_said_to_have_changed() {
        let world = World::new(&[("a", b"one\n")]);
        let error = world.baseline.remember(&world.search, Duration::ZERO).unwrap_err();
        assert!(matches!(error, NotRemembered::TooSlow), "{error}");
        world.write("a", b"two\n");
        assert!(world.changes().is_empty());
    }

    #[test]
    fn the_copy_is_the_users_own_and_goes_with_the_session() {
        let world = World::new(&[("a", b"one\n")]);
        world.remember();
        let copy = world.folder.path().join("own/baseline");
        assert_eq!(fs::metadata(&copy).unwrap().mode() & 0o777, 0o600);
        drop(world.baseline);
        assert!(!copy.exists());
    }
}
