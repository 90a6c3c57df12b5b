//! Looking for the repositories that git would read in a workspace.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{SPARSE, git};

/// In so many folders repositories are looked for, and for so long. An installed `node_modules` has some ten thousand.
const MOST_FOLDERS: usize = 100_000;
const PATIENCE: Duration = Duration::from_secs(5);
/// So many repositories are looked at; each costs some milliseconds.
pub(super) const MOST_REPOSITORIES: usize = 128;

/// The repositories that were found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Folders with a `.git` in them.
    pub(super) work_trees: BTreeSet<PathBuf>,
    /// The folders in a `.git` that git takes for repositories: those of submodules, whether or not these are checked
    /// out, of linked work trees, and whatever else was put there.
    pub(super) kept: BTreeSet<PathBuf>,
    /// True if there may be more.
    pub(super) is_cut: bool,
}

/// The repositories that folders lie in, with their submodules, and all that lie in the folders, however deep. Blocks.
pub(super) fn repositories(git: &Path, folders: &[PathBuf]) -> Found {
    let mut search = Search { git, found: Found::default(), left: MOST_FOLDERS, until: Instant::now() + PATIENCE };
    for folder in folders {
        if let Some(top) = folder.ancestors().find(|folder| has_git(folder))
            && top != folder
        {
            search.around(top);
        }
        search.found.kept.extend(folder.ancestors().filter(|folder| is_kept(folder)).map(Path::to_path_buf));
        search.below(folder);
    }
    search.found.is_cut |= search.found.are_many();
    search.found
}

impl Found {
    fn are_many(&self) -> bool {
        self.work_trees.len() + self.kept.len() > MOST_REPOSITORIES
    }
}

struct Search<'a> {
    /// The program.
    git: &'a Path,
    found: Found,
    left: usize,
    until: Instant,
}

impl Search<'_> {
    /// Takes a repository that is not in the workspace but around it, and the submodules that its index has.
    fn around(&mut self, top: &Path) {
        let mut waiting = vec![top.to_path_buf()];
        while let Some(top) = waiting.pop() {
            if self.found.work_trees.contains(&top) || self.found.is_cut {
                continue;
            }
            self.take(&top);
            // An index that is kept sparse is not made whole, for which git would fetch.
            let listed = match git(self.git, &["--work-tree=.", "ls-files", SPARSE, "--stage", "-z"], &top) {
                // Git before 2.36 knows no `--sparse`.
                Ok(None) => git(self.git, &["--work-tree=.", "ls-files", "--stage", "-z"], &top),
                listed => listed,
            };
            let Ok(listed) = listed else {
                self.found.is_cut = true;
                return;
            };
            let listed = listed.unwrap_or_default();
            let lines = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(b"160000 "));
            let names = lines.filter_map(|line| line.splitn(2, |byte| *byte == b'\t').nth(1));
            let inside = names.map(|name| top.join(OsStr::from_bytes(name)));
            waiting.extend(inside.filter(|folder| has_git(folder)));
        }
    }

    /// Takes a repository, and those that its `.git` holds.
    fn take(&mut self, folder: &Path) {
        if self.found.work_trees.insert(folder.to_path_buf()) {
            self.below(&folder.join(".git"));
        }
    }

    /// Looks at a folder and all that are in it, those further up first. No link is followed.
    fn below(&mut self, folder: &Path) {
        let mut waiting = VecDeque::from([folder.to_path_buf()]);
        while let Some(folder) = waiting.pop_front() {
            if self.found.are_many() || self.left == 0 || Instant::now() > self.until {
                self.found.is_cut = true;
            }
            if self.found.is_cut {
                return;
            }
            self.left -= 1;
            if has_git(&folder) {
                self.take(&folder);
            }
            if is_kept(&folder) {
                self.found.kept.insert(folder.clone());
            }
            let Ok(entries) = std::fs::read_dir(&folder) else {
                // A folder that cannot be listed can perhaps be entered.
                self.found.is_cut |= folder.join(".").symlink_metadata().is_ok();
                continue;
            };
            let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            // Those were looked at with the repository.
            waiting.extend(folders.filter(|entry| entry.file_name() != ".git").map(|entry| entry.path()));
        }
    }
}

fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// True if git may take a folder in a `.git` for a repository. Elsewhere it takes none that has no `.git` itself, by
/// `safe.bareRepository`.
fn is_kept(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
    let is_in_git = folder.parent().is_some_and(|above| above.components().any(|part| part.as_os_str() == ".git"));
    is_in_git && has("HEAD") && (has("refs") || has("commondir"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its repositories itself")]

    use std::ffi::OsString;

    use super::*;
    use crate::programs;

    fn found_in(folders: &[PathBuf]) -> Found {
        repositories(&programs::find("git", &[]).unwrap(), folders)
    }

    #[test]
    fn repositories_below_the_workspace_are_found_however_deep_and_those_it_lies_in_with_their_submodules() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for path in [".git/modules/x/modules/y", "target/a/b/c/d/e/f/.git", "node_modules/x/.git", "src"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for path in [".git/modules/x", ".git/modules/x/modules/y"] {
            std::fs::write(at(path).join("HEAD"), "").unwrap();
            std::fs::create_dir(at(path).join("refs")).unwrap();
        }
        let found = found_in(&[place.path().to_path_buf()]);
        let work_trees = ["", "node_modules/x", "target/a/b/c/d/e/f"].map(at);
        assert_eq!(found.work_trees, work_trees.map(|it| it.components().collect()).into());
        assert_eq!(found.kept, [".git/modules/x", ".git/modules/x/modules/y"].map(at).into());
        assert!(!found.is_cut);
        assert_eq!(found_in(&[at("src")]).work_trees, [place.path().to_path_buf()].into());
    }

    #[test]
    fn what_lies_in_a_git_folder_is_found_as_well() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for path in [".git/refs", ".git/evil/.git/x/.git", ".git/logs", ".git/objects/ab/refs", ".git/worktrees/y"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for path in [".git/HEAD", ".git/logs/HEAD", ".git/worktrees/y/HEAD", ".git/worktrees/y/commondir"] {
            std::fs::write(at(path), "").unwrap();
        }
        std::os::unix::fs::symlink("refs/nowhere", at(".git/objects/ab/HEAD")).unwrap();
        let found = found_in(&[place.path().to_path_buf()]);
        let work_trees = ["", ".git/evil", ".git/evil/.git/x"].map(at);
        assert_eq!(found.work_trees, work_trees.map(|it| it.components().collect()).into());
        assert_eq!(found.kept, [".git/objects/ab", ".git/worktrees/y"].map(at).into());
        assert!(found_in(&[at(".git/objects/ab/refs")]).kept.contains(&at(".git/objects/ab")));
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_told() {
        use std::os::unix::fs::PermissionsExt;

        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("x");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o111)).unwrap();
        // Root lists all.
        let is_listed = std::fs::read_dir(&folder).is_ok();
        assert_eq!(found_in(&[place.path().to_path_buf()]).is_cut, !is_listed);
    }

    #[test]
    fn submodules_beside_the_workspace_are_found_by_the_index() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let git = |arguments: &[&OsStr]| {
            let git = std::process::Command::new("git").args(arguments).current_dir(place.path()).status();
            assert!(git.unwrap().success(), "git {arguments:?}");
        };
        git(&["init".as_ref(), "-q".as_ref()]);
        let strange = Path::new(OsStr::from_bytes(b"\xff"));
        for path in ["workspace", "beside/.git", "gone"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        std::fs::create_dir_all(place.path().join(strange).join(".git")).unwrap();
        for path in [Path::new("beside"), Path::new("gone"), strange] {
            let mut entry = OsString::from(format!("160000,{},", "1".repeat(40)));
            entry.push(path);
            git(&["update-index".as_ref(), "--add".as_ref(), "--cacheinfo".as_ref(), &entry]);
        }
        let found = found_in(&[at("workspace")]);
        assert_eq!(found.work_trees, [place.path().to_path_buf(), at("beside"), place.path().join(strange)].into());
        assert!(!found.is_cut);
    }

    #[test]
    fn where_there_are_too_many_repositories_that_is_told() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..=MOST_REPOSITORIES {
            std::fs::create_dir_all(place.path().join(number.to_string()).join(".git")).unwrap();
        }
        assert!(found_in(&[place.path().to_path_buf()]).is_cut);
    }
}
