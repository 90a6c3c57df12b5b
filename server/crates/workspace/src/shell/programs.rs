//! Where programs are looked for: in the absolute folders of `PATH`, and those that we start ourselves never in the
//! workspace.
//!
//! An empty or relative entry means another folder wherever one stands, so that a project could put its own `git`
//! before the system's.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::sandbox::{self, Policy, Settings, World};
use crate::paths;

/// Where programs are looked for if `PATH` names no folder. An empty one would mean the folder one stands in.
pub(super) const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where sources lie beside the system's programs: no toolchain, whatever is around them.
const SOURCES: [&str; 2] = ["/usr/src", "/usr/local/src"];
/// Where Homebrew lies, which is a repository itself.
const HOMEBREWS: [&str; 2] = ["/opt/homebrew", "/home/linuxbrew/.linuxbrew"];

/// How long the folders of `PATH` may take to answer. One of a machine that is gone never does.
const PATIENCE: Duration = Duration::from_secs(5);

/// Variables that name folders with programs or libraries, which are run by whatever is started or loaded into it.
const LISTS: &[&str] = &["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "GIT_EXEC_PATH"];
/// Those that name libraries, parted by blanks too; one without a slash is looked for among the system's.
const LIBRARIES: &[&str] = &["LD_PRELOAD", "LD_AUDIT"];

/// Leaves out of a variable what would mean another program or library in each folder, and of `PATH` what lies in these
/// folders. Gives whether anything is left; of other variables nothing is left out.
pub(super) fn settle(name: &OsStr, value: &mut OsString, but: &[PathBuf]) -> bool {
    if name == "PATH" {
        *value = path(Some(value), but);
    } else if LISTS.iter().any(|list| *list == name) {
        return absolute(value, &[]).map(|kept| *value = kept).is_some();
    } else if LIBRARIES.iter().any(|list| *list == name) {
        let text = value.to_string_lossy();
        let kept = text.split([':', ' ']).filter(|it| !it.is_empty() && (it.starts_with('/') || !it.contains('/')));
        *value = kept.collect::<Vec<_>>().join(":").into();
        return !value.is_empty();
    }
    true
}

/// A list with the entries of another behind its own, those that it does not have; none where the variable is no such
/// list.
pub(super) fn joined(name: &OsStr, value: &OsStr, more: &OsStr) -> Option<OsString> {
    let parts: &[u8] = if LIBRARIES.iter().any(|list| *list == name) {
        b": "
    } else if LISTS.iter().any(|list| *list == name) {
        b":"
    } else {
        return None;
    };
    let entries = |of: &OsStr| of.as_encoded_bytes().split(|byte| parts.contains(byte)).map(<[u8]>::to_vec).collect();
    let (own, more): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (entries(value), entries(more));
    let missing = more.iter().filter(|entry| !entry.is_empty() && !own.contains(entry));
    let all: Vec<&[u8]> = own.iter().chain(missing).map(Vec::as_slice).filter(|entry| !entry.is_empty()).collect();
    Some(OsString::from_vec(all.join(&b':')))
}

/// A `PATH` without the entries in these folders and in projects, and these entries. Asks the disk.
pub(super) fn without(value: &OsStr, but: &[PathBuf]) -> (OsString, Vec<PathBuf>) {
    let others = Others::of_user();
    let absolute = std::env::split_paths(value).filter(|entry| entry.is_absolute());
    let (left_out, kept): (Vec<_>, Vec<_>) = absolute.partition(|entry| others.have(entry, but));
    let kept = std::env::join_paths(kept).ok().filter(|kept| !kept.is_empty());
    (kept.unwrap_or_else(|| USUAL.into()), left_out)
}

/// Puts entries that were left out of a `PATH` back into one that was made without them: each before the next that it
/// stood before and that is there, or at the end.
pub(super) fn put_back(made: &OsStr, value: &OsStr, left_out: &[PathBuf]) -> Option<OsString> {
    let mut entries: Vec<PathBuf> = std::env::split_paths(made).collect();
    let all: Vec<PathBuf> = std::env::split_paths(value).filter(|entry| entry.is_absolute()).collect();
    let mut next = entries.len();
    for entry in all.into_iter().rev() {
        match entries.iter().position(|known| *known == entry) {
            Some(at) => next = at,
            None if left_out.contains(&entry) => entries.insert(next, entry),
            None => {}
        }
    }
    std::env::join_paths(entries).ok()
}

/// A list with its absolute entries alone, but for those in these folders; none where nothing is left.
fn absolute(value: &OsStr, but: &[PathBuf]) -> Option<OsString> {
    let is_kept = |entry: &PathBuf| entry.is_absolute() && !lies_in(entry, but);
    let kept: Vec<PathBuf> = std::env::split_paths(value).filter(is_kept).collect();
    if kept.is_empty() { None } else { std::env::join_paths(kept).ok() }
}

/// The `PATH` that programs are started with.
pub(crate) fn path(value: Option<&OsStr>, but: &[PathBuf]) -> OsString {
    value.and_then(|value| absolute(value, but)).unwrap_or_else(|| USUAL.into())
}

/// The entries of a `PATH` that no program is looked for in, as they are written.
pub fn dropped(value: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(value).filter(|entry| !entry.is_absolute()).collect()
}

/// Bash, or where there is none, `sh`; in none of these folders, and nowhere that commands may have written.
///
/// # Errors
/// There is none, or `PATH` does not answer; in words for the user.
pub(super) async fn shell(but: Vec<PathBuf>) -> Result<PathBuf, String> {
    let look = move || {
        // The sandbox opens them all, and would wait for one that does not answer.
        std::env::split_paths(&path(std::env::var_os("PATH").as_deref(), &[])).for_each(|entry| drop(entry.metadata()));
        ["bash", "sh"].into_iter().find_map(|name| find(name, &but))
    };
    let found = answered(PATIENCE, look).await?;
    found.ok_or_else(|| {
        "there is neither bash nor sh but what commands may have written; install bash, or open a folder that does not \
         hold the system"
            .to_owned()
    })
}

/// What a look at the folders of `PATH` gives, on a thread that is waited for only so long.
///
/// # Errors
/// They do not answer; in words for the user.
pub(super) async fn answered<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    let looked = tokio::time::timeout(patience, tokio::task::spawn_blocking(look)).await;
    let silent = "a folder of your PATH does not answer, such as one of a machine that is gone; take it out of PATH";
    looked.map_err(|_| silent.to_owned())?.map_err(|error| error.to_string())
}

/// A program by its name: the system's, or if it has none, the first in `PATH`. In none of these folders and nowhere
/// that commands of any session may write: neither its own place nor where its links lead, nor a place on the way. Asks
/// the disk.
pub(crate) fn find(name: &str, but: &[PathBuf]) -> Option<PathBuf> {
    let others = Others::of_user();
    // Where commands could write once is not known for good: sessions are deleted, and folders are renamed. The
    // system's programs they never could change, where there is a sandbox.
    let system = if cfg!(target_os = "linux") { find_in(OsStr::new(USUAL), name, but, &others) } else { None };
    system.or_else(|| find_in(&path(std::env::var_os("PATH").as_deref(), but), name, but, &others))
}

/// What commands of other sessions may write, whichever folders those have.
#[derive(Default)]
struct Others {
    /// Temporary folders and package caches, by their names and as they are without links.
    written: Vec<PathBuf>,
    /// The home folder in the same way. It is no project, whatever lies in it.
    homes: Vec<PathBuf>,
    /// The folders of the system and of the user's toolchains. One that is a link is none: it leads to what is kept
    /// elsewhere, as in a project of dotfiles.
    toolchains: Vec<PathBuf>,
}

impl Others {
    /// Asks the disk.
    fn of_user() -> Self {
        let environment = |name: &str| std::env::var_os(name).filter(|_| name != "PATH");
        let world = World {
            folders: &[],
            repositories: &[],
            own: &[],
            denied: &[],
            credentials: &[],
            environment: &environment,
        };
        let (mut read, written) = Policy::new(&Settings::default(), &world)
            .map(|policy| (policy.read.clone(), policy.of_commands()))
            .unwrap_or_default();
        // What users put there themselves may be their projects.
        read.retain(|place| place != Path::new("/opt"));
        read.extend(HOMEBREWS.map(PathBuf::from));
        Self::of(std::env::var_os("HOME").map(PathBuf::from).as_deref(), read, written)
    }

    fn of(home: Option<&Path>, toolchains: Vec<PathBuf>, written: Vec<PathBuf>) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)].into_iter().flatten();
        let homes: Vec<PathBuf> = home.map(Path::to_path_buf).into_iter().flat_map(both).collect();
        let real_home = homes.first();
        let real = |path: PathBuf| {
            let named = match (home.and_then(|home| path.strip_prefix(home).ok()), real_home) {
                (Some(below), Some(home)) => home.join(below),
                _ => path,
            };
            named.canonicalize().is_ok_and(|real| real == named).then_some(named)
        };
        let toolchains = toolchains.into_iter().filter_map(real).collect();
        Self { written: written.into_iter().flat_map(both).collect(), homes, toolchains }
    }

    /// Whether a path, where its links lead or a link on the way lies in what they may write, or in one of these
    /// folders. What cannot be resolved counts as theirs. Asks the disk.
    fn have(&self, path: &Path, but: &[PathBuf]) -> bool {
        let is_in = |at: &Path| but.iter().chain(&self.written).any(|folder| at.starts_with(folder));
        let is_theirs = |at: &Path| is_in(at) || self.is_of_project(at);
        // A link lies where its folder does.
        let is_theirs_to_turn = |link: &Path| is_in(link) || link.parent().is_some_and(is_theirs);
        is_in(path)
            || sandbox::walked(path, |at, is_link| !(is_link && is_theirs_to_turn(at)))
                .is_none_or(|end| is_theirs(&end))
    }

    /// Whether a path lies in a project, and not in a toolchain that is kept by version control.
    fn is_of_project(&self, path: &Path) -> bool {
        let is_toolchain =
            |project: &Path| self.toolchains.iter().any(|place| path.starts_with(place) && project.starts_with(place));
        let is_source = SOURCES.iter().any(|place| path.starts_with(place));
        is_source || project_of(path, &self.homes).is_some_and(|project| !is_toolchain(&project))
    }
}

/// The virtual environment or the folder of packages that a path lies in: what is there is a project's.
pub(super) fn environment_of(path: &Path) -> Option<PathBuf> {
    let is_one = |folder: &&Path| {
        folder.join("pyvenv.cfg").symlink_metadata().is_ok()
            || folder.file_name().is_some_and(|name| name == "node_modules")
    };
    path.ancestors().find(is_one).map(Path::to_path_buf)
}

/// The project that a path lies in, by what version control and package managers leave there. The home folder is none,
/// whatever lies in it.
fn project_of(path: &Path, homes: &[PathBuf]) -> Option<PathBuf> {
    let is_home = |folder: &Path| homes.iter().any(|home| home.starts_with(folder));
    let of_packages = |folder: &&Path| folder.file_name().is_some_and(|name| name == "node_modules");
    let is_project = |folder: &&Path| {
        [".git", ".hg", ".jj", "pyvenv.cfg"].iter().any(|name| folder.join(name).symlink_metadata().is_ok())
    };
    let above = || path.ancestors().take_while(|folder| !is_home(folder));
    above().find(is_project).or_else(|| above().find(of_packages)).map(Path::to_path_buf)
}

fn find_in(path: &OsStr, name: &str, but: &[PathBuf], others: &Others) -> Option<PathBuf> {
    let usual = std::env::split_paths(USUAL);
    let mut places = std::env::split_paths(path).chain(usual).map(|folder| folder.join(name));
    places.find(|program| is_program(program) && !others.have(program, but))
}

/// Whether a path lies in one of these folders, by its name or by where its links lead.
fn lies_in(path: &Path, folders: &[PathBuf]) -> bool {
    let is_in = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    // What cannot be resolved counts as inside: nobody knows where it leads.
    let real = || path.canonicalize().or_else(|_| paths::canonical(path));
    !folders.is_empty() && (is_in(path) || real().map_or(true, |path| is_in(&path)))
}

/// Whether there is a file that may be run.
#[cfg(unix)]
pub(crate) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_absolute_entries_stay_and_none_at_all_is_the_usual_ones() {
        let cases = [
            ("/a:/b", "/a:/b"),
            (":/a", "/a"),
            ("/a:", "/a"),
            ("/a::/b", "/a:/b"),
            (".:/a:./b:../c:node_modules/.bin:~/bin", "/a"),
            ("", USUAL),
            (".", USUAL),
            ("::", USUAL),
        ];
        for (value, kept) in cases {
            assert_eq!(path(Some(OsStr::new(value)), &[]), kept, "{value}");
        }
        assert_eq!(path(None, &[]), USUAL);
        let entries: Vec<String> = dropped(OsStr::new(":/a:.:b")).iter().map(|it| it.display().to_string()).collect();
        assert_eq!(entries, ["", ".", "b"]);
    }

    #[test]
    fn what_was_left_out_comes_back_before_what_it_stood_before_and_is_still_there() {
        let cases = [
            ("/p/bin:/a:/b", "/a:/b", "/p/bin:/a:/b"),
            ("/a:/p/bin:/p/sbin:/b", "/mine:/a:/b", "/mine:/a:/p/bin:/p/sbin:/b"),
            ("/p/bin:/a:/b:/p/sbin", "/b", "/p/bin:/b:/p/sbin"),
            ("/p/bin:/a", "/usr/bin", "/usr/bin:/p/bin"),
            ("/p/bin:/a", "/a:/p/bin", "/a:/p/bin"),
        ];
        let left_out = ["/p/bin", "/p/sbin"].map(PathBuf::from);
        for (before, made, expected) in cases {
            let path = put_back(OsStr::new(made), OsStr::new(before), &left_out);
            assert_eq!(path.unwrap(), expected, "{before}, {made}");
        }
    }

    #[test]
    fn libraries_are_not_loaded_from_the_folder_that_one_stands_in() {
        let cases = [
            ("LD_LIBRARY_PATH", ":/a/lib:lib", "/a/lib"),
            ("LD_LIBRARY_PATH", ":", ""),
            ("LD_PRELOAD", "libjemalloc.so.2 ./evil.so:/a/x.so", "libjemalloc.so.2:/a/x.so"),
            ("GIT_EXEC_PATH", "git-core", ""),
            ("PYTHONPATH", "src:.", "src:."),
        ];
        for (name, value, kept) in cases {
            let mut told = OsString::from(value);
            let is_there = settle(OsStr::new(name), &mut told, &[]);
            assert_eq!(if is_there { told } else { OsString::new() }, kept, "{name}={value}");
        }
    }

    #[test]
    fn a_program_of_ours_is_not_taken_from_the_workspace_by_any_name() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        for file in ["ws/bin/git", "ws/tool", "users/git"] {
            std::fs::create_dir_all(place.join(file).parent().unwrap()).unwrap();
            std::fs::write(place.join(file), "").unwrap();
            std::fs::set_permissions(place.join(file), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::create_dir(place.join("links")).unwrap();
        symlink(place.join("ws/tool"), place.join("links/git")).unwrap();
        symlink(place.join("ws/bin"), place.join("linked")).unwrap();
        let find = |entries: &[&str], but: &[PathBuf]| {
            let path = std::env::join_paths(entries.iter().map(|entry| place.join(entry))).unwrap();
            find_in(&path, "git", but, &Others::default())
        };
        let all = ["ws/bin", "linked", "links", "ws/../ws/bin", "users"];
        assert_eq!(find(&all, &[place.join("ws")]), Some(place.join("users/git")));
        assert_eq!(find(&all, &[]), Some(place.join("ws/bin/git")));
    }

    #[test]
    fn no_program_is_taken_from_a_project_by_a_link_but_from_a_toolchain_that_is_a_repository() {
        let place = tempfile::tempdir().unwrap();
        let home = place.path().canonicalize().unwrap();
        for file in ["dotfiles/bin/git", "dotfiles/.git/HEAD", ".nvm/bin/git", ".nvm/.git/HEAD", "users/git"] {
            std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            std::fs::write(home.join(file), "").unwrap();
            std::fs::set_permissions(home.join(file), std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        for folder in [".local", "single", "way"] {
            std::fs::create_dir(home.join(folder)).unwrap();
        }
        for (to, link) in [
            ("dotfiles/bin", "bin"),
            ("dotfiles/bin", ".local/bin"),
            ("dotfiles/bin/git", "single/git"),
            ("users/git", "dotfiles/link"),
            ("dotfiles/link", "way/git"),
            (".nvm", "linked"),
        ] {
            symlink(home.join(to), home.join(link)).unwrap();
        }
        let toolchains = [".local/bin", ".nvm"].map(|name| home.join(name)).to_vec();
        let others = Others::of(Some(&home), toolchains, Vec::new());
        for (entry, is_taken) in [
            ("dotfiles/bin", false),
            ("bin", false),
            (".local/bin", false),
            ("single", false),
            ("way", false),
            (".nvm/bin", true),
            ("linked/bin", true),
            ("users", true),
        ] {
            let program = home.join(entry).join("git");
            let found = find_in(home.join(entry).as_os_str(), "git", &[], &others);
            assert_eq!(found.is_some_and(|found| found == program), is_taken, "{entry}");
        }
    }

    #[tokio::test]
    async fn where_commands_may_write_the_system_that_is_said_of_the_shell_that_is_not_taken() {
        let said = shell(vec!["/".into()]).await.unwrap_err();
        assert!(said.contains("commands may have written") && said.contains("open a folder"), "{said}");
    }

    #[tokio::test]
    async fn a_folder_of_path_that_does_not_answer_is_not_waited_for() {
        // It answers once this is dropped.
        let (answers, silence) = std::sync::mpsc::channel::<()>();
        let said = answered(Duration::from_millis(1), move || silence.recv().is_ok()).await.unwrap_err();
        drop(answers);
        assert!(said.contains("a folder of your PATH does not answer"), "{said}");
    }
}
