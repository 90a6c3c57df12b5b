//! The project's files as they are at one time, so that changes by a command or another program can be told, and taken
//! back, without git.
//!
//! [`Baseline::remember`] walks the project and keeps a copy of each text in one file of the session's own; only what
//! changed since the last time is read again. [`Baseline::advance`] returns what differs since then, too. Both are
//! bounded: by the number of files, by what is copied, by time, since a command waits for it, and they hold one file
//! at a time in memory. Of files that are nobody's to keep, and of usual key files, it is only seen that they change.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, TryLockError, mpsc};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use platform::open;
use platform::rights::is_executable;
use platform::scratch::Scratch;
use platform::stamp::Stamp;
use tokio_util::sync::CancellationToken;

use crate::files::Whole;
use crate::paths;
use crate::search::{Scope, Search, SearchError, Shows};

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
/// How long to wait before it is tried again whether another look has ended.
const AGAIN: Duration = Duration::from_millis(5);

/// The project's files as they were when they were last looked at.
pub struct Baseline {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    files: HashMap<PathBuf, Seen>,
    /// The copy; none before the first time.
    copy: Option<Scratch>,
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
    /// True if it had been touched so shortly before that its stamp could be the same after the next change.
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

/// Why the files could not be remembered, so that what a command changes cannot be undone. The words are for people.
#[derive(Debug, thiserror::Error)]
pub enum NotRemembered {
    /// It took too long. The next time goes on from there.
    #[error("looking at the project's files takes too long")]
    TooSlow,
    /// The files could not be found.
    #[error("the project's files cannot be listed: {0}")]
    Search(SearchError),
    /// The copy could not be written.
    #[error("the project's files cannot be copied: {0}")]
    Copy(#[from] io::Error),
}

impl From<SearchError> for NotRemembered {
    fn from(error: SearchError) -> Self {
        match error {
            // Nobody but the clock cancels it.
            SearchError::Cancelled => Self::TooSlow,
            error => Self::Search(error),
        }
    }
}

/// A file that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The file, absolute.
    pub path: PathBuf,
    /// The file before.
    pub before: Side,
    /// The file now.
    pub after: Side,
    /// When it was last touched; of one that is not there any more, when something in its folder was made or went away,
    /// or in the next one above that is there.
    pub touched: Option<SystemTime>,
}

/// The state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// Not there.
    Absent,
    /// This.
    Is(Whole),
    /// Not known, for this reason.
    Unknown(&'static str),
}

/// The changes since the files were last looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes<T> {
    /// The outcome for the changed files.
    pub taken: Vec<T>,
    /// True if more files changed than were asked for.
    pub more: bool,
    /// True if all files of the project are followed.
    pub all: bool,
}

const NOT_TEXT: &str = "it is not text";
const TOO_LARGE: &str = "it is too large to be kept";
const TOO_MUCH: &str = "the project's texts are too large to be kept";
const PRIVATE: &str = "it may hold secrets, so it is not kept";
const UNREADABLE: &str = "it cannot be read";
const RULES_CHANGED: &str = "what is ignored changed too, so whether it is new is not known";

impl Baseline {
    /// One that keeps its copy in this folder, which is there.
    pub fn new(folder: &Path) -> Self {
        Self { path: folder.join("baseline"), state: Mutex::default() }
    }

    /// Remembers the files as they are now, and gives whether these are all there are. Those that `may_keep` does not
    /// take are followed, but not copied. Blocks, at most for this time.
    ///
    /// # Errors
    /// See [`NotRemembered`]. Nothing is known then to compare with.
    pub fn remember(&self, search: &Search, may_keep: &Shows, time: Duration) -> Result<bool, NotRemembered> {
        self.look(search, may_keep, time, |_, _, _| Ok(())).map(|(all, ())| all)
    }

    /// Gives what differs from what was remembered to `take`, one after the other, sorted by path, until it has made
    /// something of `most` of them; then remembers the files as they are now. Gives what it made, and whether there is
    /// more. Nothing where nothing is remembered. Blocks, at most for this time.
    ///
    /// # Errors
    /// See [`NotRemembered`]. Nothing is known then to compare with the next time.
    pub fn advance<T>(
        &self,
        search: &Search,
        may_keep: &Shows,
        time: Duration,
        most: usize,
        take: impl FnMut(Changed) -> Option<T>,
    ) -> Result<Changes<T>, NotRemembered> {
        let compare = |state: &State, found: &[Met], until| state.changes(found, may_keep, until, most, take);
        let (all, (taken, more)) = self.look(search, may_keep, time, compare)?;
        Ok(Changes { taken, more, all })
    }

    /// Looks at the files, first what differs, then what they are now.
    fn look<T: Default>(
        &self,
        search: &Search,
        may_keep: &Shows,
        time: Duration,
        compare: impl FnOnce(&State, &[Met], Instant) -> Result<T, NotRemembered>,
    ) -> Result<(bool, T), NotRemembered> {
        let until = Instant::now() + time;
        let mut state = self.lock(until)?;
        let before = state.since.take();
        let since = SystemTime::now();
        let (found, all) = list(search, until)?;
        let compared = match before {
            Some(_) => {
                state.since = before;
                let compared = compare(&state, &found, until);
                state.since = None;
                compared?
            }
            None => T::default(),
        };
        if state.copy.is_none() || state.length > state.used + MAX_GARBAGE {
            // The old copy goes first, since it may still have the name.
            *state = State::default();
            state.copy = Some(Scratch::new(&self.path)?);
        }
        state.remember(found, since, may_keep, until)?;
        state.since = Some(since);
        Ok((all, compared))
    }

    fn lock(&self, until: Instant) -> Result<MutexGuard<'_, State>, NotRemembered> {
        loop {
            match self.state.try_lock() {
                Ok(state) => return Ok(state),
                Err(TryLockError::Poisoned(state)) => return Ok(state.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            in_time(until)?;
            thread::sleep(AGAIN);
        }
    }
}

impl State {
    /// Returns the differences from these files, which are there now.
    fn changes<T>(
        &self,
        found: &[Met],
        may_keep: &Shows,
        until: Instant,
        most: usize,
        mut take: impl FnMut(Changed) -> Option<T>,
    ) -> Result<(Vec<T>, bool), NotRemembered> {
        let Some(since) = self.since else { return Ok((Vec::new(), false)) };
        let are_there: HashSet<&Path> = found.iter().map(|(path, ..)| path.as_path()).collect();
        let gone = self.files.keys().map(PathBuf::as_path).filter(|path| !are_there.contains(path));
        let may_differ = |(path, stamp, _): &&Met| match self.files.get(path) {
            Some(seen) => seen.stamp != *stamp || seen.fresh,
            // One that was touched before was there, but not for us: it was ignored until now.
            None => !is_older(stamp, since) && self.files.len() < MAX_FILES,
        };
        let found = found
            .iter()
            .filter(may_differ)
            .map(|(path, stamp, executable)| (path.as_path(), Some((*stamp, *executable))));
        let mut files: Vec<_> = found.chain(gone.map(|path| (path, None))).collect();
        files.sort_by(|a, b| a.0.cmp(b.0));

        let look = |path: &Path, now| self.look(path, now, is_private(path, may_keep));
        let rules = files.iter().filter(|(path, _)| says_what_is_ignored(path));
        let rules_changed = rules.filter_map(|(path, now)| look(path, *now)).next().is_some();
        let mut taken = Vec::new();
        for (path, now) in files {
            in_time(until)?;
            let Some(mut changed) = look(path, now) else { continue };
            if rules_changed && changed.before == Side::Absent {
                changed.before = Side::Unknown(RULES_CHANGED);
            }
            let Some(made) = take(changed) else { continue };
            if taken.len() == most {
                return Ok((taken, true));
            }
            taken.push(made);
        }
        Ok((taken, false))
    }

    /// Copies what is not known of these files, as they were met at `since`.
    fn remember(
        &mut self,
        found: Vec<Met>,
        since: SystemTime,
        may_keep: &Shows,
        until: Instant,
    ) -> Result<(), NotRemembered> {
        self.keep_only(&found);
        let is_private = |path: &Path| is_private(path, may_keep);
        let knows = |(path, stamp, _): &Met| self.knows(path, *stamp, is_private(path));
        let mut new: Vec<_> = found.into_iter().filter(|file| !knows(file)).collect();
        new.sort_by_key(|(_, stamp, _)| stamp.size);
        for (path, stamp, executable) in new {
            in_time(until)?;
            let copied = if is_private(&path) { Err(PRIVATE) } else { self.copy(&path, stamp.size)? };
            self.insert(path, Seen { stamp, fresh: !is_older(&stamp, since), executable, copied });
        }
        Ok(())
    }

    fn knows(&self, path: &Path, stamp: Stamp, private: bool) -> bool {
        let same = |seen: &Seen| {
            let kept_so = matches!(seen.copied, Err(PRIVATE)) == private && !matches!(seen.copied, Err(TOO_MUCH));
            seen.stamp == stamp && !seen.fresh && kept_so
        };
        self.files.get(path).is_some_and(same)
    }

    /// Forgets all other files.
    fn keep_only(&mut self, found: &[Met]) {
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
        let bytes = match open::bytes(path, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Err(TOO_LARGE)),
            Err(_) => return Ok(Err(UNREADABLE)),
        };
        // As git does: texts have no NUL, and what is none shows it early.
        if bytes.iter().take(8000).any(|byte| *byte == 0) && !bytes.starts_with(&[0xFF, 0xFE]) {
            return Ok(Err(NOT_TEXT));
        }
        let Some(copy) = &self.copy else { return Ok(Err(UNREADABLE)) };
        copy.write(&bytes, self.length)?;
        let copied = Copied { offset: self.length, length: bytes.len() };
        self.length += bytes.len() as u64;
        Ok(Ok(copied))
    }

    /// Returns the change of a file that the walk met so and as a program or not, or did not meet; none if it is the
    /// same.
    fn look(&self, path: &Path, now: Option<(Stamp, bool)>, private: bool) -> Option<Changed> {
        let read = |size, executable| {
            if private { Side::Unknown(PRIVATE) } else { read(path, size, executable) }
        };
        let after = match now {
            Some((stamp, executable)) => read(stamp.size, executable),
            None => match fs::symlink_metadata(path) {
                // It is ignored now.
                Ok(metadata) if metadata.is_file() => read(metadata.len(), is_executable(&metadata)),
                Ok(_) => Side::Unknown("it is no file any more"),
                Err(_) => Side::Absent,
            },
        };
        match self.files.get(path) {
            Some(seen) => self.compare(path, seen, after, now.map(|(stamp, _)| stamp)),
            None => {
                let touched = touched(path, now.map(|(stamp, _)| stamp));
                Some(Changed { path: path.to_owned(), before: Side::Absent, after, touched })
            }
        }
    }

    /// Returns the change of a file that was seen; none if it is the same.
    fn compare(&self, path: &Path, seen: &Seen, after: Side, now: Option<Stamp>) -> Option<Changed> {
        let before = match seen.copied {
            Ok(copied) => self.copied(copied, seen.executable),
            Err(reason) => Side::Unknown(reason),
        };
        let same = match (&before, &after) {
            (Side::Is(a), Side::Is(b)) => (&a.decoded, &a.bytes) == (&b.decoded, &b.bytes),
            (Side::Unknown(_), _) => seen.fresh && stamp_of(path) == Some(seen.stamp),
            (before, after) => before == after,
        };
        (!same).then(|| Changed { path: path.to_owned(), before, after, touched: touched(path, now) })
    }

    fn copied(&self, copied: Copied, executable: bool) -> Side {
        let mut bytes = vec![0; copied.length];
        match self.copy.as_ref().map(|copy| copy.read(&mut bytes, copied.offset)) {
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

fn stamp_of(path: &Path) -> Option<Stamp> {
    fs::symlink_metadata(path).ok().as_ref().map(Stamp::of)
}

/// True if the file has surely not been touched since.
fn is_older(stamp: &Stamp, since: SystemTime) -> bool {
    since.checked_sub(CLOCK).is_some_and(|since| stamp.was_touched_before(since))
}

/// When a file was last touched, which the walk met so, or did not meet.
fn touched(path: &Path, now: Option<Stamp>) -> Option<SystemTime> {
    now.or_else(|| path.ancestors().find_map(stamp_of)).map(|stamp| stamp.touched())
}

/// A file that the walk met: its path, and whether it is a program.
type Met = (PathBuf, Stamp, bool);

/// The project's files on disk, and whether these are all.
fn list(search: &Search, until: Instant) -> Result<(Vec<Met>, bool), NotRemembered> {
    let paths = thread::scope(|scope| {
        let (cancel, (walked, has_walked)) = (CancellationToken::new(), mpsc::channel::<()>());
        let clock = cancel.clone();
        let wait = move || {
            let left = until.saturating_duration_since(Instant::now());
            if has_walked.recv_timeout(left) == Err(mpsc::RecvTimeoutError::Timeout) {
                clock.cancel();
            }
        };
        // Without a clock it might take any time.
        if thread::Builder::new().spawn_scoped(scope, wait).is_err() {
            cancel.cancel();
        }
        let files = search.files(&Scope::default(), &cancel);
        drop(walked);
        files
    })?
    .paths;
    let all = paths.len() <= MAX_FILES;
    let mut found = Vec::new();
    for path in paths.into_iter().take(MAX_FILES) {
        in_time(until)?;
        // A document that is not saved is not there.
        if let Some(metadata) = fs::symlink_metadata(&path).ok().filter(Metadata::is_file) {
            found.push((path, Stamp::of(&metadata), is_executable(&metadata)));
        }
    }
    Ok((found, all))
}

fn in_time(until: Instant) -> Result<(), NotRemembered> {
    if Instant::now() > until { Err(NotRemembered::TooSlow) } else { Ok(()) }
}

/// True if a file's text is not to be kept: the user's rules say so, or it is one in which keys and passwords usually
/// are.
fn is_private(path: &Path, may_keep: &Shows) -> bool {
    !may_keep(path) || paths::is_for_keys(path)
}

fn read(path: &Path, size: u64, executable: bool) -> Side {
    if size > MAX_FILE {
        return Side::Unknown(TOO_LARGE);
    }
    match open::bytes(path, MAX_FILE) {
        Ok(Some(bytes)) => whole(bytes, executable),
        Ok(None) => Side::Unknown(TOO_LARGE),
        Err(_) => Side::Unknown(UNREADABLE),
    }
}

fn whole(bytes: Vec<u8>, executable: bool) -> Side {
    Whole::new(bytes, executable).map_or(Side::Unknown(NOT_TEXT), Side::Is)
}

fn says_what_is_ignored(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these tests change files as commands do")]

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
            self.baseline.remember(&self.search, &may_keep, LONG).unwrap()
        }

        /// The files that changed, each with what it was and is.
        fn changes(&self) -> Vec<(String, String, String)> {
            let side = |side: Side| match side {
                Side::Absent => "absent".to_owned(),
                Side::Is(whole) => format!("{:?}", whole.decoded.text),
                Side::Unknown(why) => format!("unknown, {why}"),
            };
            let changes = self.baseline.advance(&self.search, &may_keep, LONG, 10, Some).unwrap().taken.into_iter();
            let name = |path: PathBuf| path.strip_prefix(self.path("")).unwrap().display().to_string();
            changes.map(|changed| (name(changed.path), side(changed.before), side(changed.after))).collect()
        }
    }

    /// The rules of these tests.
    fn may_keep(path: &Path) -> bool {
        !path.ends_with("denied")
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
    fn what_is_gone_was_touched_when_the_folder_was_that_it_went_from() {
        let world = World::new(&[("kept", b"one\n"), ("folder/a", b"one\n"), ("other/b", b"one\n")]);
        world.remember();
        fs::remove_file(world.path("folder/a")).unwrap();
        fs::remove_dir_all(world.path("other")).unwrap();
        let at = |name: &str| stamp_of(&world.path(name)).unwrap().touched();
        let gone = world.baseline.advance(&world.search, &may_keep, LONG, 10, Some).unwrap().taken;
        let touched: Vec<_> = gone.iter().map(|changed| changed.touched).collect();
        assert_eq!(touched, [Some(at("folder")), Some(at(""))]);
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
        // A file that is ignored from now on is still there.
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
        let error = world.baseline.remember(&world.search, &may_keep, Duration::ZERO).unwrap_err();
        assert!(matches!(error, NotRemembered::TooSlow), "{error}");
        world.write("a", b"two\n");
        assert!(world.changes().is_empty());
    }

    #[test]
    fn a_look_that_another_is_in_the_way_of_waits_no_longer_than_it_may() {
        let world = World::new(&[("a", b"one\n")]);
        world.remember();
        let _other = world.baseline.state.lock().unwrap();
        let short = Duration::from_millis(20);
        let error = world.baseline.advance(&world.search, &may_keep, short, 10, Some).unwrap_err();
        assert!(matches!(error, NotRemembered::TooSlow), "{error}");
    }

    #[test]
    fn a_walk_ends_when_its_time_has_run_out() {
        let world = World::new(&[("a", b"one\n")]);
        let error = list(&world.search, Instant::now()).unwrap_err();
        assert!(matches!(error, NotRemembered::TooSlow), "{error}");
    }

    #[test]
    fn of_many_changed_files_only_so_many_are_taken_and_it_is_said_that_there_are_more() {
        let take = |most| {
            let world = World::new(&[]);
            world.remember();
            ["a", "b", "c"].iter().for_each(|name| world.write(name, b"new\n"));
            let name = |changed: Changed| Some(changed.path.file_name()?.to_string_lossy().into_owned());
            world.baseline.advance(&world.search, &may_keep, LONG, most, name).unwrap()
        };
        let two = Changes { taken: vec!["a".to_owned(), "b".to_owned()], more: true, all: true };
        assert_eq!(take(2), two);
        assert!(!take(3).more);
    }

    #[test]
    fn what_was_told_once_is_not_told_again() {
        let world = World::new(&[("a", b"one\n")]);
        world.remember();
        world.write("a", b"two\n");
        assert_eq!(world.changes(), [change("a", "\"one\\n\"", "\"two\\n\"")]);
        assert!(world.changes().is_empty());
        world.write("a", b"one\n");
        assert_eq!(world.changes(), [change("a", "\"two\\n\"", "\"one\\n\"")]);
    }

    #[test]
    fn files_that_a_rule_denies_and_key_files_are_named_but_never_copied() {
        let secret =
            [(".env", b"SECRET" as &[u8]), ("tls.pem", b"SECRET"), ("denied", b"SECRET"), (".env.example", b"A=")];
        let world = World::new(&secret);
        world.remember();
        let state = world.baseline.state.lock().unwrap();
        assert_eq!(state.length, 2, "only the example is copied");
        drop(state);
        [".env", "tls.pem", "denied", "new.key"].iter().for_each(|name| world.write(name, b"OTHER SECRET"));
        let unknown = format!("unknown, {PRIVATE}");
        let expected = [
            change(".env", &unknown, &unknown),
            change("denied", &unknown, &unknown),
            change("new.key", "absent", &unknown),
            change("tls.pem", &unknown, &unknown),
        ];
        assert_eq!(world.changes(), expected);
    }

    #[test]
    fn a_file_that_came_while_the_clock_of_its_disk_was_behind_is_no_old_one() {
        let world = World::new(&[("a", b"one\n")]);
        world.remember();
        world.write("b", b"two\n");
        // As if the files had been looked at a moment after that.
        let came = stamp_of(&world.path("b")).unwrap().touched();
        world.baseline.state.lock().unwrap().since = Some(came + CLOCK);
        assert_eq!(world.changes(), [change("b", "absent", "\"two\\n\"")]);
        // One that was there long before was ignored until now.
        world.write("c", b"three\n");
        let came = stamp_of(&world.path("c")).unwrap().touched();
        world.baseline.state.lock().unwrap().since = Some(came + 3 * CLOCK);
        assert_eq!(world.changes(), []);
    }

    #[test]
    fn the_copy_has_no_name_to_stay_under() {
        let world = World::new(&[("a", b"one\n")]);
        world.remember();
        assert!(!world.folder.path().join("own/baseline").exists());
    }
}
