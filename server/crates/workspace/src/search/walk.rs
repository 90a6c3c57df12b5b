//! Walking the project's folders with several threads.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::{DirEntry, IncrementalIgnore, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};
use tokio_util::sync::CancellationToken;

use super::SearchError;

/// Names of folders that are never searched, even where no ignore file names them: what version control keeps, and what
/// package managers and interpreters put beside the sources. Other usual names of built things (001 §21: `build`,
/// `dist`, `target`, `vendor`) also name sources, so those are left to the ignore files.
pub const ALWAYS_IGNORED: &[&str] = &[".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv"];

/// What a walk came to.
pub(super) struct Walked<T> {
    /// What each thread gathered.
    pub(super) states: Vec<T>,
    /// How many folders and entries could not be read.
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
    let walked = Mutex::new(Walked { states: Vec::new(), unreadable: 0 });
    if let Some(builder) = builder(folders) {
        builder.build_parallel().visit(&mut Plan { walked: &walked, cancel, make: &make, visit: &visit, done: &done });
    }
    if cancel.is_cancelled() {
        return Err(SearchError::Cancelled);
    }
    Ok(walked.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Tells of files that are not on disk whether a walk would meet them if they were.
pub(super) struct WouldMeet {
    /// One for each folder.
    matchers: Vec<IncrementalIgnore>,
}

impl WouldMeet {
    pub(super) fn new(folders: &[PathBuf]) -> Self {
        Self { matchers: builder(folders).map(|builder| builder.build_matchers()).unwrap_or_default() }
    }

    /// Whether it would meet this one.
    pub(super) fn file(&mut self, path: &Path) -> bool {
        let above = self.matchers.iter_mut().filter(|matcher| path.starts_with(matcher.root()));
        let Some(nearest) = above.max_by_key(|matcher| matcher.root().as_os_str().len()) else { return false };
        let Ok(below) = path.strip_prefix(nearest.root()).map(Path::to_path_buf) else { return false };
        !below.iter().any(is_always_ignored) && !nearest.matched(below, false).is_ignore()
    }
}

fn is_always_ignored(name: &OsStr) -> bool {
    ALWAYS_IGNORED.iter().any(|ignored| name == *ignored)
}

fn builder(folders: &[PathBuf]) -> Option<WalkBuilder> {
    let (first, others) = folders.split_first()?;
    let mut builder = WalkBuilder::new(first);
    for other in others {
        builder.add(other);
    }
    // A folder that lies in another is walked on its own, with its own ignore files, and not twice.
    let all = if others.is_empty() { Vec::new() } else { folders.to_vec() };
    let wanted = move |entry: &DirEntry| {
        let is_another = || all.iter().any(|folder| entry.path() == folder);
        entry.depth() == 0 || !(is_always_ignored(entry.file_name()) || is_another())
    };
    builder.hidden(false).require_git(false).filter_entry(wanted);
    Some(builder)
}

/// What every thread does.
struct Plan<'w, T, Make, Visit, Done> {
    walked: &'w Mutex<Walked<T>>,
    cancel: &'w CancellationToken,
    make: &'w Make,
    visit: &'w Visit,
    done: &'w Done,
}

/// One thread. It hands in what it has when it is dropped, since that is how the walker ends it.
struct Thread<'w, T: Send, Visit, Done: Fn(&mut T)> {
    walked: &'w Mutex<Walked<T>>,
    cancel: &'w CancellationToken,
    state: Option<T>,
    unreadable: usize,
    visit: &'w Visit,
    done: &'w Done,
}

impl<'w, T, Make, Visit, Done> ParallelVisitorBuilder<'w> for Plan<'w, T, Make, Visit, Done>
where
    T: Send,
    Make: Fn() -> T + Sync,
    Visit: Fn(&mut T, PathBuf) + Sync,
    Done: Fn(&mut T) + Sync,
{
    fn build(&mut self) -> Box<dyn ParallelVisitor + 'w> {
        let Self { walked, cancel, make, visit, done } = *self;
        Box::new(Thread { walked, cancel, state: Some(make()), unreadable: 0, visit, done })
    }
}

impl<T, Visit, Done> ParallelVisitor for Thread<'_, T, Visit, Done>
where
    T: Send,
    Visit: Fn(&mut T, PathBuf) + Sync,
    Done: Fn(&mut T) + Sync,
{
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.cancel.is_cancelled() {
            return WalkState::Quit;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if let Some(state) = &mut self.state {
                    (self.visit)(state, entry.into_path());
                }
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "left out of a search");
                self.unreadable += 1;
            }
        }
        WalkState::Continue
    }
}

impl<T: Send, Visit, Done: Fn(&mut T)> Drop for Thread<'_, T, Visit, Done> {
    fn drop(&mut self) {
        let Some(mut state) = self.state.take() else { return };
        (self.done)(&mut state);
        let mut walked = self.walked.lock().unwrap_or_else(PoisonError::into_inner);
        walked.states.push(state);
        walked.unreadable += self.unreadable;
    }
}
