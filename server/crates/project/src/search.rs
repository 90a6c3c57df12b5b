//! Finding files and text in the project, unsaved and pending texts in the place of the disk's.
//!
//! The files that are searched: every file below the workspace's folders that git would not ignore (`.gitignore` at
//! every level and above, `.git/info/exclude`, the user's own excludes, `.ignore`), inside or outside a repository.
//! Hidden files count. [`ALWAYS_IGNORED`] names what never does, unless a search is limited to a folder in it. The
//! same holds for files that exist only as unsaved or pending text. Links are not followed. Binary files are found by
//! name but not searched.
//!
//! Files that the user's rules keep from the model are left out and counted ([`Search::showing_only`]).
//!
//! Results are in the order of the paths' bytes and the same from run to run, although many threads search: nothing
//! stops early, so the first results are the first there are, and totals are exact. Everything here blocks, and ends
//! with [`SearchError::Cancelled`] soon after its token is cancelled.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use globset::{GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};
use ports::tool::ToolError;
use tokio_util::sync::CancellationToken;

use crate::paths::Roots;
use crate::reader::{OverDisk, Reader};

mod grep;
mod ignored;
mod index;
mod keys;
mod walk;

pub use grep::{FileMatches, Found, Line, LineKind, MAX_HELD_LINE, MAX_LINE_BYTES, TextQuery};
pub use ignored::is_ignored;
pub use index::distance;
pub use index::{FileIndex, MAX_INDEXED, MAX_SUGGESTIONS};
pub use keys::key_files;
pub use walk::ALWAYS_IGNORED;
pub use walk::folders;

/// Searches the workspace as one session sees it. Cheap to clone; clones share the index of files.
#[derive(Clone)]
pub struct Search {
    roots: Arc<Roots>,
    reader: Reader,
    index: Arc<Mutex<Option<Arc<FileIndex>>>>,
    may_read: Option<Arc<MayRead>>,
    hides: Option<Arc<Hides>>,
}

/// Gives, for the path that a search names if it names one, the question whether the search may show a file. Called
/// once for each search, so that the rules in force when it begins hold for all of it.
pub type MayRead = dyn Fn(Option<&Path>) -> Box<Shows> + Send + Sync;

/// True if there is any file that no search would show.
pub type Hides = dyn Fn() -> bool + Send + Sync;

/// True if a search may show a file, by its absolute path.
pub type Shows = dyn Fn(&Path) -> bool + Send + Sync;

/// Where to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// A folder or a file, absolute with its links resolved; none for the whole workspace.
    pub path: Option<PathBuf>,
    /// A pattern that paths must fit, whatever their case: `*`, `?`, `[…]`, `{…,…}` within a name, `**` across folders.
    /// Without a `/` it is for the file's name; with one for the path from the workspace's folder, or from `path`, or
    /// as [`Roots::display`] gives it.
    pub glob: Option<String>,
}

/// The files of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Their paths, sorted.
    pub paths: Vec<PathBuf>,
    /// How many folders and entries of folders could not be read.
    pub unreadable: usize,
    /// How many files are there that may not be shown.
    pub left_out: usize,
}

/// A search that came to nothing. The words are for the model too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// There is no such folder or file.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// It is a pipe, a device or the like.
    #[error("{} is a pipe, a socket or a device, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The pattern for paths is not one.
    #[error("`{glob}` is not a glob pattern: {reason}")]
    BadGlob {
        /// The pattern.
        glob: String,
        /// Why.
        reason: String,
    },
    /// The pattern for text is not one.
    #[error("`{pattern}` cannot be searched for: {reason}")]
    BadPattern {
        /// The pattern.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// It was cancelled.
    #[error("the search was cancelled")]
    Cancelled,
}

impl From<SearchError> for ToolError {
    fn from(error: SearchError) -> Self {
        match error {
            SearchError::Cancelled => Self::Cancelled,
            SearchError::BadGlob { .. } | SearchError::BadPattern { .. } => Self::InvalidInput(error.to_string()),
            SearchError::NotFound { .. } | SearchError::NotAFile { .. } => Self::Failed(error.to_string()),
        }
    }
}

impl Search {
    /// A search over these folders as this reader sees them, which may show every file.
    pub fn new(roots: Arc<Roots>, reader: Reader) -> Self {
        Self { roots, reader, index: Arc::default(), may_read: None, hides: None }
    }

    /// The same search, which leaves out the files that may not be shown, by name and by text. [`Search::suggest`],
    /// which is for the user, still knows them.
    #[must_use]
    pub fn showing_only(mut self, may_read: Arc<MayRead>) -> Self {
        self.may_read = Some(may_read);
        self
    }

    /// The same search, which knows whether it leaves out any file at all.
    #[must_use]
    pub fn knowing_if(mut self, hides: Arc<Hides>) -> Self {
        self.hides = Some(hides);
        self
    }

    /// True if there may be files that it does not show.
    pub fn hides_any(&self) -> bool {
        self.may_read.is_some() && self.hides.as_ref().is_none_or(|hides| hides())
    }

    /// True if a file may be shown.
    pub fn shows(&self, path: &Path) -> bool {
        self.may_read.as_ref().is_none_or(|may_read| may_read(None)(path))
    }

    /// The files of a scope; those that exist only as unsaved or pending text too. Blocks.
    ///
    /// # Errors
    /// [`SearchError::NotFound`], [`SearchError::BadGlob`], [`SearchError::Cancelled`].
    pub fn files(&self, scope: &Scope, cancel: &CancellationToken) -> Result<Files, SearchError> {
        let over_disk = self.reader.over_disk();
        let shows = self.may_read.as_ref().map(|may_read| may_read(scope.path.as_deref()));
        gather(&self.resolve(scope, &over_disk, shows)?, &over_disk, cancel)
    }

    /// The lines that a pattern fits. Blocks.
    ///
    /// # Errors
    /// Each kind of [`SearchError`].
    pub fn text(&self, query: &TextQuery, cancel: &CancellationToken) -> Result<Found, SearchError> {
        let matcher = query.matcher()?;
        let over_disk = self.reader.over_disk();
        let shows = self.may_read.as_ref().map(|may_read| may_read(query.scope.path.as_deref()));
        let scope = self.resolve(&query.scope, &over_disk, shows)?;
        grep::search(query, &matcher, &scope, &over_disk, cancel)
    }

    /// Files for what was typed after `@`, the best first. The first call walks the workspace and blocks for
    /// it; the files are then remembered until [`Search::forget_files`].
    ///
    /// # Errors
    /// [`SearchError::Cancelled`].
    pub fn suggest(&self, typed: &str, cancel: &CancellationToken) -> Result<Vec<PathBuf>, SearchError> {
        let known = self.index.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let index = match known {
            Some(index) => index,
            None => {
                let over_disk = self.reader.over_disk();
                let files = gather(&self.resolve(&Scope::default(), &over_disk, None)?, &over_disk, cancel)?;
                let index = Arc::new(FileIndex::new(&self.roots, files.paths));
                *self.index.lock().unwrap_or_else(PoisonError::into_inner) = Some(index.clone());
                index
            }
        };
        Ok(index.suggest(typed))
    }

    /// Files whose names are most like that of a path that does not exist, the most alike first, at most three; none
    /// where no name is much alike. Walks the workspace and blocks.
    ///
    /// # Errors
    /// [`SearchError::Cancelled`].
    pub fn near(&self, path: &Path, cancel: &CancellationToken) -> Result<Vec<PathBuf>, SearchError> {
        Ok(index::near(path, self.files(&Scope::default(), cancel)?.paths))
    }

    /// Forgets the files that [`Search::suggest`] knows; to be called when files came or went.
    pub fn forget_files(&self) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn resolve(
        &self,
        scope: &Scope,
        over_disk: &HashMap<PathBuf, OverDisk>,
        shows: Option<Box<Shows>>,
    ) -> Result<Resolved, SearchError> {
        let glob = scope.glob.as_deref().map(|glob| self.glob(glob, scope.path.as_deref())).transpose()?;
        let mut resolved = Resolved { file: None, folders: Vec::new(), on_disk: true, glob, shows };
        let is_text = |over: &OverDisk| matches!(over, OverDisk::Text(_));
        match &scope.path {
            None => resolved.folders.extend(self.roots.iter().map(|root| root.path.clone())),
            Some(path) if path.is_dir() => resolved.folders.push(path.clone()),
            Some(path) => {
                let is_file = match over_disk.get(path) {
                    Some(OverDisk::Deleted) => false,
                    Some(OverDisk::Text(_) | OverDisk::Unknown) => true,
                    None => path.is_file(),
                };
                if is_file {
                    resolved.file = Some(path.clone());
                } else if over_disk.iter().any(|(file, over)| is_text(over) && file.starts_with(path)) {
                    // Nobody has made the folder yet, but there are texts for it.
                    resolved.folders.push(path.clone());
                    resolved.on_disk = false;
                } else if path.exists() && !over_disk.contains_key(path) {
                    return Err(SearchError::NotAFile { path: path.clone() });
                } else {
                    return Err(SearchError::NotFound { path: path.clone() });
                }
            }
        }
        Ok(resolved)
    }

    /// A matcher of whole paths, which saves cutting each path.
    fn glob(&self, glob: &str, below: Option<&Path>) -> Result<GlobSet, SearchError> {
        let bad =
            |error: globset::Error| SearchError::BadGlob { glob: glob.to_owned(), reason: error.kind().to_string() };
        let wanted = glob.trim_start_matches("./").trim_start_matches('/');
        let (wanted, named) = match wanted.split_once('/') {
            // Where there are several folders, a path as it is shown begins with the name of its folder.
            Some((first, rest)) => (wanted.to_owned(), matcher(first).map(|first| (first, rest))),
            None => (format!("**/{wanted}"), None),
        };
        let folders = self.roots.iter().map(|root| root.path.as_path()).chain(below).map(|folder| (folder, &*wanted));
        let several = self.roots.iter().count() > 1;
        let named = named.iter().filter(|_| several).flat_map(|(first, rest)| {
            let called = self.roots.iter().filter(|root| first.is_match(&root.name));
            called.map(|root| (root.path.as_path(), *rest))
        });
        let mut set = GlobSetBuilder::new();
        for (folder, wanted) in folders.chain(named) {
            let whole = format!("{}/{wanted}", globset::escape(&folder.to_string_lossy()));
            set.add(GlobBuilder::new(&whole).case_insensitive(true).literal_separator(true).build().map_err(bad)?);
        }
        set.build().map_err(bad)
    }
}

/// A matcher of names; none if the pattern is not one, such as the first part of `{a/b,c}`.
fn matcher(glob: &str) -> Option<GlobMatcher> {
    GlobBuilder::new(glob).case_insensitive(true).build().ok().map(|glob| glob.compile_matcher())
}

/// A scope that was found to exist.
struct Resolved {
    /// The only file to search; then there are no folders.
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
    /// True if the folders are there to be walked.
    on_disk: bool,
    glob: Option<GlobSet>,
    shows: Option<Box<Shows>>,
}

/// The verdict of a scope on a file.
enum Verdict {
    Taken,
    /// It is not what was asked for.
    NotMeant,
    /// It is, but may not be shown.
    LeftOut,
}

impl Resolved {
    fn judge(&self, path: &Path) -> Verdict {
        if !self.glob.as_ref().is_none_or(|glob| glob.is_match(path)) {
            return Verdict::NotMeant;
        }
        if self.shows.as_ref().is_none_or(|shows| shows(path)) { Verdict::Taken } else { Verdict::LeftOut }
    }

    /// Returns the folders that are to be walked.
    fn walked(&self) -> &[PathBuf] {
        if self.on_disk { &self.folders } else { &[] }
    }

    /// The files that a walk does not meet: the only one, or those that have a text over the disk and nothing on it.
    /// One that is on disk was met, or is ignored.
    fn unwalked(&self, over_disk: &HashMap<PathBuf, OverDisk>) -> Vec<PathBuf> {
        let texts = over_disk.iter().filter(|(_, over)| matches!(over, OverDisk::Text(_))).map(|(path, _)| path);
        let is_new = |path: &&PathBuf| self.folders.iter().any(|folder| path.starts_with(folder)) && !path.exists();
        let mut unwalked: Vec<_> = texts.filter(is_new).cloned().collect();
        if !unwalked.is_empty() {
            let mut would_meet = walk::WouldMeet::new(&self.folders);
            unwalked.retain(|path| would_meet.file(path));
        }
        unwalked.extend(self.file.clone());
        unwalked
    }
}

/// The files of a scope.
fn gather(
    scope: &Resolved,
    over_disk: &HashMap<PathBuf, OverDisk>,
    cancel: &CancellationToken,
) -> Result<Files, SearchError> {
    #[derive(Default)]
    struct Part {
        files: Vec<OsString>,
        left_out: usize,
    }
    let visit = |part: &mut Part, path: PathBuf| match scope.judge(&path) {
        Verdict::Taken if matches!(over_disk.get(&path), Some(OverDisk::Deleted)) => {}
        Verdict::Taken => part.files.push(path.into_os_string()),
        Verdict::NotMeant => {}
        Verdict::LeftOut => part.left_out += 1,
    };
    // Each thread sorts what it found; the sort of all is then little more than a merge.
    let mut walked = walk::files(scope.walked(), cancel, Part::default, visit, |part| part.files.sort_unstable())?;
    let mut rest = Part::default();
    scope.unwalked(over_disk).into_iter().for_each(|path| visit(&mut rest, path));
    walked.states.push(rest);
    let left_out = walked.states.iter().map(|part| part.left_out).sum();
    let mut files: Vec<OsString> = walked.states.into_iter().flat_map(|part| part.files).collect();
    files.sort();
    Ok(Files { paths: files.into_iter().map(PathBuf::from).collect(), unreadable: walked.unreadable, left_out })
}

#[cfg(test)]
mod tests;
