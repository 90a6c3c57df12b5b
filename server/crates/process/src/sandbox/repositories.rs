//! The paths that git needs of repositories that the workspace's folders lie in or are work trees of.
//!
//! The file that says where such a repository is comes with the folder, which may be a stranger's. So it is believed
//! only if the repository says the same: what it says lies outside the folder, where the stranger has not written.

use std::path::{Path, PathBuf};

use platform::open;

/// A repository's settings are hardly ever larger than this, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Returns what git needs to work in these folders and does not lie in them: if a folder is a part of a repository,
/// that one; if it is a work tree or a submodule, the repository that it belongs to, if that knows of it. Never a
/// folder that holds one of the workspace's, or of those that are `kept`: the home folder and our own files. Blocks.
pub fn repositories(folders: &[PathBuf], kept: &[PathBuf]) -> Vec<PathBuf> {
    let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| path.canonicalize().ok()).collect::<Vec<_>>();
    let (folders, kept) = (real(folders), real(kept));
    let mut found: Vec<PathBuf> = folders.iter().flat_map(|folder| of(folder, &kept)).collect();
    let holds = |path: &Path| folders.iter().chain(&kept).any(|it| it.starts_with(path));
    found.retain(|path| !holds(path) && !folders.iter().any(|folder| path.starts_with(folder)));
    found
}

/// Returns what git needs of the repository of one folder.
fn of(folder: &Path, kept: &[PathBuf]) -> Vec<PathBuf> {
    let tops = folder.ancestors().map(|top| (top, top.join(".git")));
    let Some((top, git)) = tops.into_iter().find(|(_, git)| git.symlink_metadata().is_ok()) else {
        return Vec::new();
    };
    // A home folder that is a repository is not granted for what lies in it.
    if top != folder && kept.iter().any(|kept| kept.starts_with(top)) {
        return Vec::new();
    }
    let Ok(kind) = git.symlink_metadata() else { return Vec::new() };
    if kind.is_dir() {
        return if is_repository(&git) { vec![git] } else { Vec::new() };
    }
    // A link is followed by git, and not here: nothing says where it leads but itself.
    let repository = kind.is_file().then(|| pointed_at(&git, "gitdir: ")).flatten();
    let Some(there) = repository.filter(|there| there.join("HEAD").is_file()) else { return Vec::new() };
    match shared_by(&there) {
        // One of several work trees, whose folder in the repository names it.
        Some(shared) if pointed_at(&there.join("gitdir"), "").as_ref() == Some(&git) => vec![git, there, shared],
        Some(_) => Vec::new(),
        None if is_repository(&there) && work_tree(&there).as_deref() == Some(top) => vec![git, there],
        None => Vec::new(),
    }
}

/// True if a folder is a whole repository.
fn is_repository(folder: &Path) -> bool {
    folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
}

/// The repository that a work tree's folder of it lies in.
fn shared_by(there: &Path) -> Option<PathBuf> {
    let shared = pointed_at(&there.join("commondir"), "")?;
    let is_its = there.parent() == Some(&shared.join("worktrees"));
    (is_its && is_repository(&shared)).then_some(shared)
}

/// The one work tree that a repository says it has, as that of a submodule does.
fn work_tree(repository: &Path) -> Option<PathBuf> {
    let text = read(&repository.join("config"))?;
    let (mut is_core, mut named) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((key, value)) = line.split_once('=').filter(|_| is_core)
            && key.trim().eq_ignore_ascii_case("worktree")
        {
            named = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    repository.join(named?).canonicalize().ok()
}

/// Returns the path that a file of git's names after some word, from its own folder.
fn pointed_at(file: &Path, word: &str) -> Option<PathBuf> {
    let text = read(file)?;
    file.parent()?.join(text.strip_prefix(word)?.trim_end()).canonicalize().ok()
}

/// A file's text; none of what is no file, such as a pipe, on which one would wait, nor of what is larger than git's
/// own are. Where a link leads to it, that is git's to follow, and a stranger's folder says nothing by it (see above).
fn read(file: &Path) -> Option<String> {
    let real = file.canonicalize().ok()?;
    String::from_utf8(open::bytes(&real, MOST_BYTES).ok()??).ok()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests make repositories")]
mod tests {
    use std::process::Command;

    use super::*;

    /// A home folder with a project of the user's, which has a work tree and a submodule, and a stranger's folder.
    struct Home {
        _place: tempfile::TempDir,
        home: PathBuf,
    }

    impl Home {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let home = Self { home: place.path().canonicalize().unwrap().join("ada"), _place: place };
            for folder in ["project/src", "stranger/src", "other"] {
                std::fs::create_dir_all(home.at(folder)).unwrap();
            }
            home.git("other", &["init", "-q"]);
            home.git("other", &["commit", "-q", "--allow-empty", "-m", "x"]);
            home.git("project", &["init", "-q"]);
            home.git("project", &["commit", "-q", "--allow-empty", "-m", "x"]);
            home.git("project", &["worktree", "add", "-q", "../tree"]);
            home.git("project", &["submodule", "--quiet", "add", "../other", "sub"]);
            home
        }

        fn at(&self, path: &str) -> PathBuf {
            self.home.join(path)
        }

        fn git(&self, folder: &str, arguments: &[&str]) {
            let settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"];
            let mut git = Command::new("git");
            git.args(settings).args(arguments).current_dir(self.at(folder)).env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(git.status().unwrap().success(), "git {arguments:?}");
        }

        fn granted(&self, folder: &str) -> Vec<PathBuf> {
            repositories(&[self.at(folder)], &[self.home.clone(), self.at("data")])
        }

        fn nothing_is_granted_for(&self, pointer: &str) {
            std::fs::write(self.at("stranger/.git"), pointer).unwrap();
            for folder in ["stranger", "stranger/src"] {
                assert_eq!(self.granted(folder), Vec::<PathBuf>::new(), "{pointer} in {folder}");
            }
        }
    }

    #[test]
    fn the_repository_of_a_part_a_work_tree_and_a_submodule_is_found() {
        let home = Home::new();
        assert_eq!(home.granted("project"), Vec::<PathBuf>::new(), "it lies in the workspace");
        assert_eq!(home.granted("project/src"), [home.at("project/.git")]);
        let of_tree = ["tree/.git", "project/.git/worktrees/tree", "project/.git"].map(|it| home.at(it));
        assert_eq!(home.granted("tree"), of_tree[1..]);
        std::fs::create_dir(home.at("tree/src")).unwrap();
        assert_eq!(home.granted("tree/src"), of_tree);
        assert_eq!(home.granted("project/sub"), [home.at("project/.git/modules/sub")]);
    }

    #[test]
    fn a_pointer_of_a_strangers_opens_no_folder_and_no_repository_that_does_not_know_of_it() {
        let home = Home::new();
        let of = |path: &str| format!("gitdir: {}\n", home.at(path).display());
        for path in ["", "..", "project", "project/.git", "project/.git/worktrees/tree", "project/.git/modules/sub"] {
            home.nothing_is_granted_for(&of(path));
        }
        home.nothing_is_granted_for("gitdir: ../\n");
        home.nothing_is_granted_for("gitdir: .\n");

        // A folder of its own that is made to look like a work tree's, and shares what it likes.
        let fake = home.at("stranger/fake");
        std::fs::create_dir(&fake).unwrap();
        std::fs::write(fake.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(fake.join("gitdir"), format!("{}\n", home.at("stranger/.git").display())).unwrap();
        for shared in [home.at("project/.git"), home.home.clone()] {
            std::fs::write(fake.join("commondir"), format!("{}\n", shared.display())).unwrap();
            home.nothing_is_granted_for("gitdir: fake\n");
        }

        // A link in place of the pointer.
        std::fs::remove_file(home.at("stranger/.git")).unwrap();
        std::os::unix::fs::symlink(home.at("project/.git"), home.at("stranger/.git")).unwrap();
        assert_eq!(home.granted("stranger/src"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_repository_that_holds_the_workspace_the_home_folder_or_our_data_is_not_granted() {
        let home = Home::new();
        // A bare repository with a work tree in its own folder.
        home.git("", &["clone", "-q", "--bare", "project", "bare"]);
        home.git("bare", &["worktree", "add", "-q", "inside", "-b", "b"]);
        assert_eq!(home.granted("bare/inside"), [home.at("bare/worktrees/inside")]);
        // A home folder that is a repository.
        home.git("", &["init", "-q"]);
        std::fs::create_dir(home.at("notes")).unwrap();
        assert_eq!(home.granted("notes"), Vec::<PathBuf>::new());
        // Our data in a repository.
        std::fs::create_dir(home.at("project/.git/data")).unwrap();
        let data = home.at("project/.git/data");
        assert_eq!(repositories(&[home.at("project/src")], &[data]), Vec::<PathBuf>::new());
    }
}
