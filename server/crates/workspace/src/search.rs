//! Finding files and text in the project, unsaved and pending texts in the place of the disk's.
//!
//! What is searched: every file below the workspace's folders that git would not ignore (`.gitignore` at every level
//! and above, `.git/info/exclude`, the user's own excludes, `.ignore`), inside or outside a repository. Hidden files
//! count. [`ALWAYS_IGNORED`] names what never does, unless a search is limited to a folder in it. Links are not
//! followed. Binary files are found by name but not searched.
//!
//! Results are in the order of the paths' bytes and the same from run to run, although many threads search: nothing
//! stops early, so the first results are the first there are, and totals are exact. Everything here blocks, and ends
//! with [`SearchError::Cancelled`] soon after its token is cancelled.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use agent::tool::ToolError;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use tokio_util::sync::CancellationToken;

use crate::paths::Roots;
use crate::reader::{OverDisk, Reader};

mod grep;
mod index;
mod walk;

pub use grep::{FileMatches, Found, Line, LineKind, MAX_LINE_BYTES, TextQuery};
pub use index::{FileIndex, MAX_INDEXED, MAX_SUGGESTIONS};
pub use walk::ALWAYS_IGNORED;

/// Searches the workspace as one session sees it. Cheap to clone; clones share the index of files.
#[derive(Clone)]
pub struct Search {
    roots: Arc<Roots>,
    reader: Reader,
    index: Arc<Mutex<Option<Arc<FileIndex>>>>,
}

/// Where to search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// A folder or a file, absolute with its links resolved; none for the whole workspace.
    pub path: Option<PathBuf>,
    /// A pattern that paths must fit, whatever their case: `*`, `?`, `[…]`, `{…,…}` within a name, `**` across folders.
    /// Without a `/` it is for the file's name; with one for the path from the workspace's folder, or from `path`.
    pub glob: Option<String>,
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
            SearchError::NotFound { .. } => Self::Failed(error.to_string()),
        }
    }
}

impl Search {
    /// A search over these folders as this reader sees them.
    pub fn new(roots: Arc<Roots>, reader: Reader) -> Self {
        Self { roots, reader, index: Arc::default() }
    }

    /// The files of a scope, sorted; those that exist only as unsaved or pending text too. Blocks.
    ///
    /// # Errors
    /// [`SearchError::NotFound`], [`SearchError::BadGlob`], [`SearchError::Cancelled`].
    pub fn files(&self, scope: &Scope, cancel: &CancellationToken) -> Result<Vec<PathBuf>, SearchError> {
        let scope = self.resolve(scope)?;
        let over_disk = self.reader.over_disk();
        if let Some(file) = scope.file {
            return Ok(vec![file]);
        }
        let visit = |files: &mut Vec<OsString>, path: PathBuf| {
            let deleted = || matches!(over_disk.get(&path), Some(OverDisk::Deleted));
            if scope.fits(&path) && (over_disk.is_empty() || !deleted()) {
                files.push(path.into_os_string());
            }
        };
        // Each thread sorts what it found; the sort of all is then little more than a merge.
        let parts = walk::files(&scope.folders, cancel, Vec::new, visit, |files| files.sort_unstable())?;
        let mut files: Vec<OsString> = parts.states.into_iter().flatten().collect();
        let new = over_disk.iter().filter(|(path, over)| matches!(over, OverDisk::Text(_)) && scope.is_new(path));
        files.extend(new.map(|(path, _)| path.clone().into_os_string()));
        files.sort();
        Ok(files.into_iter().map(PathBuf::from).collect())
    }

    /// The lines that a pattern fits. Blocks.
    ///
    /// # Errors
    /// Each kind of [`SearchError`].
    pub fn text(&self, query: &TextQuery, cancel: &CancellationToken) -> Result<Found, SearchError> {
        let matcher = query.matcher()?;
        let scope = self.resolve(&query.scope)?;
        let over_disk = self.reader.over_disk();
        grep::search(query, &matcher, &scope, &over_disk, cancel)
    }

    /// Files for what was typed after `@`, the best first (001 §26). The first call walks the workspace and blocks for
    /// it; the files are then remembered until [`Search::forget_files`].
    ///
    /// # Errors
    /// [`SearchError::Cancelled`].
    pub fn suggest(&self, typed: &str, cancel: &CancellationToken) -> Result<Vec<PathBuf>, SearchError> {
        let known = self.index.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let index = match known {
            Some(index) => index,
            None => {
                let index = Arc::new(FileIndex::new(&self.roots, self.files(&Scope::default(), cancel)?));
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
        Ok(index::near(path, self.files(&Scope::default(), cancel)?))
    }

    /// Forgets the files that [`Search::suggest`] knows; to be called when files came or went.
    pub fn forget_files(&self) {
        *self.index.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn resolve(&self, scope: &Scope) -> Result<Resolved, SearchError> {
        let glob = scope.glob.as_deref().map(|glob| self.glob(glob, scope.path.as_deref())).transpose()?;
        let mut resolved = Resolved { file: None, folders: Vec::new(), glob };
        match &scope.path {
            None => resolved.folders.extend(self.roots.iter().map(|root| root.path.clone())),
            Some(path) if path.is_dir() => resolved.folders.push(path.clone()),
            Some(path) => {
                let exists = match self.reader.over_disk().get(path) {
                    Some(OverDisk::Deleted) => false,
                    Some(OverDisk::Text(_) | OverDisk::Unknown) => true,
                    None => path.is_file(),
                };
                if !exists {
                    return Err(SearchError::NotFound { path: path.clone() });
                }
                resolved.file = Some(path.clone());
            }
        }
        Ok(resolved)
    }

    /// A matcher of whole paths, which saves cutting each path.
    fn glob(&self, glob: &str, below: Option<&Path>) -> Result<GlobSet, SearchError> {
        let bad =
            |error: globset::Error| SearchError::BadGlob { glob: glob.to_owned(), reason: error.kind().to_string() };
        let wanted = glob.trim_start_matches("./").trim_start_matches('/');
        let wanted = if wanted.contains('/') { wanted.to_owned() } else { format!("**/{wanted}") };
        let mut set = GlobSetBuilder::new();
        for folder in self.roots.iter().map(|root| root.path.as_path()).chain(below) {
            let whole = format!("{}/{wanted}", globset::escape(&folder.to_string_lossy()));
            set.add(GlobBuilder::new(&whole).case_insensitive(true).literal_separator(true).build().map_err(bad)?);
        }
        set.build().map_err(bad)
    }
}

/// A scope that was found to exist.
struct Resolved {
    /// The only file to search; then there are no folders.
    file: Option<PathBuf>,
    folders: Vec<PathBuf>,
    glob: Option<GlobSet>,
}

impl Resolved {
    fn fits(&self, path: &Path) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.is_match(path))
    }

    /// Whether a file that has a text over the disk is in the scope although a walk cannot meet it. One that is on disk
    /// was met, or is ignored.
    fn is_new(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) && self.fits(path) && !path.exists()
    }
}

#[cfg(test)]
mod tests;
