//! Looking for the repositories that git would read in a workspace.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::git;

/// In so many folders repositories are looked for, and for so long. An installed `node_modules` has some ten thousand.
const MOST_FOLDERS: usize = 100_000;
const PATIENCE: Duration = Duration::from_secs(5);
/// So many repositories are looked at; each costs some milliseconds.
pub(super) const MOST_REPOSITORIES: usize = 128;

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Folders with a `.git` in them.
    pub(super) work_trees: BTreeSet<PathBuf>,
    /// The repositories of submodules, whether or not those are checked out.
    pub(super) submodules: BTreeSet<PathBuf>,
    /// Whether there may be more.
    pub(super) is_cut: bool,
}

/// The repositories that folders lie in, with their submodules, and all that lie in the folders, however deep. Blocks.
pub(super) fn repositories(folders: &[PathBuf]) -> Found {
    let mut search = Search { found: Found::default(), left: MOST_FOLDERS, until: Instant::now() + PATIENCE };
    for folder in folders {
        if let Some(top) = folder.ancestors().find(|folder| has_git(folder))
            && top != folder
        {
            search.around(top);
        }
        search.below(folder, |search, folder| {
            if has_git(folder) {
                search.take(folder);
            }
        });
    }
    search.found
}

struct Search {
    found: Found,
    left: usize,
    until: Instant,
}

impl Search {
    /// Takes a repository that is not in the workspace but around it, and the submodules that its index has.
    fn around(&mut self, top: &Path) {
        let mut waiting = vec![top.to_path_buf()];
        while let Some(top) = waiting.pop() {
            if self.found.work_trees.contains(&top) || self.found.is_cut {
                continue;
            }
            self.take(&top);
            // An index that is kept sparse is not made whole, for which git would fetch.
            let listed = match git(&["ls-files", "--sparse", "--stage", "-z"], &top) {
                // Git before 2.36 knows no `--sparse`.
                Ok(None) => git(&["ls-files", "--stage", "-z"], &top),
                listed => listed,
            };
            let Ok(listed) = listed else {
                self.found.is_cut = true;
                return;
            };
            let listed = listed.unwrap_or_default();
            let names = listed.split('\0').filter(|line| line.starts_with("160000 "));
            let inside = names.filter_map(|line| Some(top.join(line.split_once('\t')?.1)));
            waiting.extend(inside.filter(|folder| has_git(folder)));
        }
    }

    /// Takes a repository, and those of its submodules that it keeps.
    fn take(&mut self, folder: &Path) {
        if !self.found.work_trees.insert(folder.to_path_buf()) {
            return;
        }
        self.below(&folder.join(".git/modules"), |search, folder| {
            if folder.join("HEAD").is_file() && folder.join("config").is_file() {
                search.found.submodules.insert(folder.to_path_buf());
            }
        });
        self.found.is_cut |= self.found.work_trees.len() + self.found.submodules.len() > MOST_REPOSITORIES;
    }

    /// Looks at a folder and all that are in it but git's own, those further up first. No link is followed.
    fn below(&mut self, folder: &Path, mut look: impl FnMut(&mut Self, &Path)) {
        let mut waiting = VecDeque::from([folder.to_path_buf()]);
        while let Some(folder) = waiting.pop_front() {
            if self.left == 0 || Instant::now() > self.until {
                self.found.is_cut = true;
            }
            if self.found.is_cut {
                return;
            }
            self.left -= 1;
            look(self, &folder);
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            waiting.extend(folders.filter(|entry| entry.file_name() != ".git").map(|entry| entry.path()));
        }
    }
}

fn has_git(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its repositories itself")]

    use super::*;

    #[test]
    fn repositories_below_the_workspace_are_found_however_deep_and_those_it_lies_in_with_their_submodules() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        for path in [".git/modules/x/modules/y", "target/a/b/c/d/e/f/.git", "node_modules/x/.git", "src"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for path in [".git/modules/x", ".git/modules/x/modules/y"] {
            std::fs::write(at(path).join("HEAD"), "").unwrap();
            std::fs::write(at(path).join("config"), "").unwrap();
        }
        let found = repositories(&[place.path().to_path_buf()]);
        let work_trees = ["", "node_modules/x", "target/a/b/c/d/e/f"].map(at);
        assert_eq!(found.work_trees, work_trees.map(|it| it.components().collect()).into());
        assert_eq!(found.submodules, [".git/modules/x", ".git/modules/x/modules/y"].map(at).into());
        assert!(!found.is_cut);
        assert_eq!(repositories(&[at("src")]).work_trees, [place.path().to_path_buf()].into());
    }

    #[test]
    fn submodules_beside_the_workspace_are_found_by_the_index() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        let git = |arguments: &[&str]| {
            let git = std::process::Command::new("git").args(arguments).current_dir(place.path()).status();
            assert!(git.unwrap().success(), "git {arguments:?}");
        };
        git(&["init", "-q"]);
        for path in ["workspace", "beside/.git", "gone"] {
            std::fs::create_dir_all(at(path)).unwrap();
        }
        for path in ["beside", "gone"] {
            git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},{path}", "1".repeat(40))]);
        }
        let found = repositories(&[at("workspace")]);
        assert_eq!(found.work_trees, [place.path().to_path_buf(), at("beside")].into());
        assert!(!found.is_cut);
    }

    #[test]
    fn where_there_are_too_many_repositories_that_is_told() {
        let place = tempfile::tempdir().unwrap();
        for number in 0..=MOST_REPOSITORIES {
            std::fs::create_dir_all(place.path().join(number.to_string()).join(".git")).unwrap();
        }
        assert!(repositories(&[place.path().to_path_buf()]).is_cut);
    }
}
