//! Walking the project's folders with several threads.
//!
//! Every folder is opened as what it is, without following a link ([`platform::open`]): one that is put in the
//! place of a folder while it is walked leads nowhere.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use platform::listing::{self, Kind, Listing};
use tokio_util::sync::CancellationToken;

use super::SearchError;
use super::ignored::{Has, Ignored};

/// Names of folders that are never searched, even where no ignore file names them: what version control keeps, and what
/// package managers and interpreters put beside the sources. Other usual names of built things (`build`,
/// `dist`, `target`, `vendor`) also name sources, so those are left to the ignore files.
pub const ALWAYS_IGNORED: &[&str] = &[".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv"];

/// More threads than this are no faster.
const MOST_THREADS: usize = 12;

/// The result of a walk.
pub(super) struct Walked<T> {
    /// The state that each thread gathered.
    pub(super) states: Vec<T>,
    /// How many folders, entries and ignore files could not be read.
    pub(super) unreadable: usize,
}

/// Visits every file below the folders, in no order. Each thread has a state of its own, which `done` sees last, still
/// in that thread.
pub(super) fn files<T: Send>(
    folders: &[PathBuf],
    cancel: &CancellationToken,
    make: impl Fn() -> T + Sync,
    visit: impl Fn(&mut T, PathBuf) + Sync,
    done: impl Fn(&mut T) + Sync,
) -> Result<Walked<T>, SearchError> {
    let mut walked = Walked { states: Vec::new(), unreadable: 0 };
    let waiting: Vec<Folder> = folders
        .iter()
        .map(|folder| {
            let (ignored, refused) = Ignored::above(folder);
            walked.unreadable += refused;
            Folder { path: folder.clone(), ignored }
        })
        .collect();
    if waiting.is_empty() {
        return Ok(walked);
    }
    let work = Work { state: Mutex::new(Left { waiting, busy: 0 }), changed: Condvar::new(), cancel };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let run = || {
        let (mut state, mut unreadable) = (make(), 0);
        while let Some((folder, _busy)) = work.next() {
            let mut inner = Vec::new();
            let listed = list(&folder, folders, cancel, &mut inner, |path| visit(&mut state, path));
            unreadable += listed.unwrap_or_else(|error| {
                tracing::debug!(folder = %folder.path.display(), %error, "left out of a search");
                1
            });
            work.add(inner);
        }
        done(&mut state);
        (state, unreadable)
    };
    let ended: Vec<_> = thread::scope(|scope| {
        // A system that gives no more threads is searched by fewer; this one is there in any case.
        let others: Vec<_> = (1..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, run).ok()).collect();
        let own = run();
        let others =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        std::iter::once(own).chain(others).collect()
    });
    for (state, unreadable) in ended {
        walked.states.push(state);
        walked.unreadable += unreadable;
    }
    if cancel.is_cancelled() { Err(SearchError::Cancelled) } else { Ok(walked) }
}

/// The folders below one, as far as `depth`, those further up first and no more than `most`; without hidden ones. Links
/// are not followed, and what cannot be read is left out.
pub fn folders(top: &Path, depth: usize, most: usize) -> Vec<PathBuf> {
    let cancel = CancellationToken::new();
    let mut waiting = VecDeque::from([(0, Folder { path: top.to_owned(), ignored: Ignored::above(top).0 })]);
    let mut found = Vec::new();
    while let Some((at, folder)) = waiting.pop_front() {
        if at > 0 {
            found.push(folder.path.clone());
        }
        if found.len() == most {
            break;
        }
        let mut inner = Vec::new();
        if at < depth && list(&folder, &[], &cancel, &mut inner, |_| ()).is_ok() {
            let is_hidden = |name: &OsStr| name.as_encoded_bytes().starts_with(b".");
            inner.retain(|folder| !folder.path.file_name().is_some_and(is_hidden));
            inner.sort_by(|a, b| a.path.cmp(&b.path));
            waiting.extend(inner.into_iter().map(|folder| (at + 1, folder)));
        }
    }
    found
}

/// Tells of files that are not on disk whether a walk would meet them if they were.
pub(super) struct WouldMeet {
    folders: Vec<PathBuf>,
    /// The ignore rules of each folder that was asked about.
    known: HashMap<PathBuf, Ignored>,
}

impl WouldMeet {
    pub(super) fn new(folders: &[PathBuf]) -> Self {
        Self { folders: folders.to_vec(), known: HashMap::new() }
    }

    /// True if it would meet this one.
    pub(super) fn file(&mut self, path: &Path) -> bool {
        let above = self.folders.iter().filter(|folder| path.starts_with(folder));
        let Some(top) = above.max_by_key(|folder| folder.as_os_str().len()).cloned() else { return false };
        let Ok(below) = path.strip_prefix(&top).map(Path::to_path_buf) else { return false };
        if below.iter().any(is_always_ignored) {
            return false;
        }
        let mut at = top.clone();
        let mut ignored = self.inside(&top, || Ignored::above(&top).0.within(&top));
        let mut parts = below.iter().peekable();
        while let Some(part) = parts.next() {
            let (next, is_folder) = (at.join(part), parts.peek().is_some());
            if ignored.is(&next, is_folder) {
                return false;
            }
            at = next;
            if is_folder {
                ignored = self.inside(&at, || ignored.within(&at));
            }
        }
        true
    }

    fn inside(&mut self, folder: &Path, look: impl FnOnce() -> Ignored) -> Ignored {
        self.known.entry(folder.to_owned()).or_insert_with(look).clone()
    }
}

fn is_always_ignored(name: &OsStr) -> bool {
    ALWAYS_IGNORED.iter().any(|ignored| name == *ignored)
}

/// A folder that is to be walked.
struct Folder {
    path: PathBuf,
    /// The ignore rules from above it.
    ignored: Ignored,
}

/// Goes through one folder: its files are visited, and the folders in it added. Gives how much could not be read.
fn list(
    folder: &Folder,
    tops: &[PathBuf],
    cancel: &CancellationToken,
    inner: &mut Vec<Folder>,
    mut visit: impl FnMut(PathBuf),
) -> io::Result<usize> {
    let listing = Listing::open(&folder.path)?;
    if !tops.contains(&folder.path) && listing.is_kernels() {
        return Ok(0);
    }
    let (mut entries, mut has, mut unreadable) = (Vec::new(), Has::default(), 0);
    for entry in listing {
        let Ok((name, kind)) = entry else {
            unreadable += 1;
            continue;
        };
        match name.as_encoded_bytes() {
            b".ignore" => has.ignore = true,
            b".gitignore" => has.git_ignore = true,
            b".git" => has.git = true,
            _ => {}
        }
        if !is_always_ignored(&name) {
            entries.push((name, kind));
        }
    }
    let mut ignored = folder.ignored.clone();
    unreadable += ignored.enter(&folder.path, has);
    for (name, kind) in entries {
        if cancel.is_cancelled() {
            break;
        }
        let path = folder.path.join(&name);
        let kind = if kind == Kind::Unknown { listing::kind_of(&path) } else { kind };
        match kind {
            Kind::File if !ignored.is(&path, false) => visit(path),
            // One that lies in another is walked on its own, with its own ignore files, and not twice.
            Kind::Folder if !ignored.is(&path, true) && !tops.contains(&path) => {
                inner.push(Folder { path, ignored: ignored.clone() });
            }
            _ => {}
        }
    }
    Ok(unreadable)
}

/// The state that the threads share.
struct Work<'w> {
    state: Mutex<Left>,
    changed: Condvar,
    cancel: &'w CancellationToken,
}

/// The work that is left to do.
struct Left {
    /// The last comes first, so that it never gets much longer than the tree is deep.
    waiting: Vec<Folder>,
    /// How many folders are gone through, each of which may add others.
    busy: usize,
}

impl Work<'_> {
    /// The next folder, once there is one; none if all is done. It counts as gone through until its mark is dropped.
    fn next(&self) -> Option<(Folder, Busy<'_>)> {
        let mut left = self.lock();
        loop {
            if self.cancel.is_cancelled() {
                return None;
            }
            if let Some(folder) = left.waiting.pop() {
                left.busy += 1;
                return Some((folder, Busy(self)));
            }
            if left.busy == 0 {
                return None;
            }
            left = self.changed.wait(left).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn add(&self, folders: Vec<Folder>) {
        if !folders.is_empty() {
            self.lock().waiting.extend(folders);
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Left> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks that a folder is gone through, also by a thread that panics, for which the others would wait else.
struct Busy<'w>(&'w Work<'w>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.lock().busy -= 1;
        self.0.changed.notify_all();
    }
}
