//! The rules of ignore files: `.gitignore` and `.ignore` of every folder, `.git/info/exclude`, and the user's own
//! excludes.
//!
//! These files come with a project, so they are read as all of its files are: regular ones, up to a bound, and by a
//! link only if that stays in the workspace. What the `ignore` crate would open by itself could be a pipe or a device.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path};
use platform::open;

use crate::files;

/// How large an ignore file may be to be heeded, in bytes. Long ones have some 10 KiB.
const MOST_BYTES: u64 = 256 << 10;

/// How large a file of git's that names another folder may be, in bytes.
const MOST_NAMED: u64 = 64 << 10;

/// The ignore files' rules for what is in one folder. Cheap to clone.
#[derive(Clone)]
pub(super) struct Ignored {
    /// The folder of the workspace that is walked, links resolved.
    top: Arc<PathBuf>,
    user: Arc<Gitignore>,
    /// The nearest folder that says anything.
    nearest: Option<Arc<Said>>,
}

/// The rules of one folder's files.
struct Said {
    ignore: Gitignore,
    git_ignore: Gitignore,
    exclude: Gitignore,
    above: Option<Arc<Said>>,
}

/// The ignore files that there may be in a folder.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Has {
    pub(super) ignore: bool,
    pub(super) git_ignore: bool,
    pub(super) git: bool,
}

/// Those where nobody has looked.
const UNKNOWN: Has = Has { ignore: true, git_ignore: true, git: true };

impl Ignored {
    /// Returns the rules from above a folder of the workspace. Asks the disk. The number says how many files there are
    /// not heeded.
    pub(super) fn above(top: &Path) -> (Self, usize) {
        let user = of_user().unwrap_or_else(Gitignore::empty);
        let mut ignored = Self { top: Arc::new(top.to_owned()), user: Arc::new(user), nearest: None };
        let mut above: Vec<&Path> = top.ancestors().skip(1).collect();
        above.reverse();
        let refused = above.into_iter().map(|folder| ignored.enter(folder, UNKNOWN)).sum();
        (ignored, refused)
    }

    /// The same with what a folder says that nobody has looked into yet.
    pub(super) fn within(&self, folder: &Path) -> Self {
        let mut within = self.clone();
        within.enter(folder, UNKNOWN);
        within
    }

    /// Takes what the next folder says. Gives how many of its files cannot be heeded.
    pub(super) fn enter(&mut self, folder: &Path, has: Has) -> usize {
        let mut refused = 0;
        let mut said = |is_there: bool, file: &dyn Fn() -> Option<PathBuf>| match is_there.then(file).flatten() {
            Some(file) => self.read(folder, &file).unwrap_or_else(|reason| {
                tracing::warn!(file = %file.display(), reason, "an ignore file is not heeded");
                refused += 1;
                Gitignore::empty()
            }),
            None => Gitignore::empty(),
        };
        let ignore = said(has.ignore, &|| Some(folder.join(".ignore")));
        let git_ignore = said(has.git_ignore, &|| Some(folder.join(".gitignore")));
        let exclude = said(has.git, &|| exclude(folder));
        if !(ignore.is_empty() && git_ignore.is_empty() && exclude.is_empty()) {
            self.nearest = Some(Arc::new(Said { ignore, git_ignore, exclude, above: self.nearest.take() }));
        }
        refused
    }

    /// True if what lies directly in the folder is ignored.
    pub(super) fn is(&self, path: &Path, is_folder: bool) -> bool {
        let matched = |of: fn(&Said) -> &Gitignore| {
            let levels = std::iter::successors(self.nearest.as_deref(), |said| said.above.as_deref());
            let mut matches = levels.map(|said| of(said).matched(path, is_folder));
            matches.find(|said| !said.is_none()).unwrap_or(Match::None)
        };
        // In this order, whatever is nearer: that is how git does it.
        let said = matched(|said| &said.ignore).or(matched(|said| &said.git_ignore)).or(matched(|said| &said.exclude));
        said.or(self.user.matched(path, is_folder)).is_ignore()
    }

    /// Reads a file's rules for what is below a folder; nothing if it is not there.
    fn read(&self, folder: &Path, file: &Path) -> Result<Gitignore, String> {
        let bytes = match open::bytes(file, MOST_BYTES) {
            Err(error) if open::is_link_error(&error) => {
                // Above the workspace the user's own files may lie in any folder there.
                match files::leads_beneath(&[&self.top, folder], file) {
                    Some(real) => open::bytes(&real, MOST_BYTES),
                    // A link to nothing says nothing.
                    None if !file.exists() => return Ok(Gitignore::empty()),
                    None => return Err("it is a link that leads out of the workspace".to_owned()),
                }
            }
            read => read,
        };
        match bytes {
            Ok(Some(bytes)) => Ok(parsed(folder, &bytes)),
            Ok(None) => Err(format!("it has more than {MOST_BYTES} bytes")),
            Err(error) if is_absent(&error) => Ok(Gitignore::empty()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// True if git would ignore a file of a workspace folder, or a folder that it is in, the workspace's own included. Both
/// paths are absolute with their links resolved. Asks the disk.
pub fn is_ignored(folder: &Path, file: &Path) -> bool {
    // A workspace may be a folder of a repository, and that may be ignored there.
    let repository = folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
    let folder = repository.unwrap_or(folder);
    let mut ignored = Ignored::above(folder).0;
    let Ok(inner) = file.strip_prefix(folder) else { return false };
    ignored = ignored.within(folder);
    let mut at = folder.to_owned();
    let mut names = inner.iter().peekable();
    while let Some(name) = names.next() {
        at.push(name);
        let is_folder = names.peek().is_some();
        if ignored.is(&at, is_folder) {
            return true;
        }
        if is_folder {
            ignored = ignored.within(&at);
        }
    }
    false
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// The file with what git ignores in a repository without saying so in it; none if a folder is not the top of one.
fn exclude(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if !git.symlink_metadata().ok()?.is_file() {
        return Some(git.join("info/exclude"));
    }
    // Of a work tree that is one of several, the repository has it.
    let there = folder.join(first_line(&git)?.strip_prefix("gitdir: ")?).canonicalize().ok()?;
    let shared = there.join(first_line(&there.join("commondir"))?).canonicalize().ok()?;
    shared.join("info/exclude").canonicalize().ok()
}

fn first_line(file: &Path) -> Option<String> {
    let text = String::from_utf8(open::bytes(file, MOST_NAMED).ok()??).ok()?;
    text.lines().next().map(str::to_owned)
}

/// Reads the user's own file of what git ignores everywhere. It counts wherever its links lead. Which one
/// it is, the `ignore` crate reads in the user's own settings of git, and no project's: who can write those has git
/// itself run what they like.
fn of_user() -> Option<Gitignore> {
    let real = gitconfig_excludes_path()?.canonicalize().ok()?;
    let bytes = open::bytes(&real, MOST_BYTES).ok()??;
    Some(parsed(&std::env::current_dir().ok()?, &bytes))
}

/// Returns the rules in the lines of a file; one that is not understood says nothing.
fn parsed(folder: &Path, bytes: &[u8]) -> Gitignore {
    let text = String::from_utf8_lossy(bytes);
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        if let Err(error) = builder.add_line(None, line) {
            tracing::debug!(%error, "a line of an ignore file is not understood");
        }
    }
    builder.build().unwrap_or_else(|error| {
        tracing::warn!(folder = %folder.display(), %error, "an ignore file is not heeded");
        Gitignore::empty()
    })
}
