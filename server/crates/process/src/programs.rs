//! Where programs are looked for: in the absolute folders of `PATH`, and those that we start ourselves never in the
//! workspace.
//!
//! An empty or relative entry means another folder wherever one stands, so that a project could put its own `git`
//! before the system's.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use project::answers::{self, Looks};
use project::paths;

use super::sandbox::{self, Policy, Settings, World};

/// Where programs are looked for if `PATH` names no folder. An empty one would mean the folder one stands in.
pub(super) const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// Where sources lie beside the system's programs: no toolchain, whatever is around them.
const SOURCES: [&str; 2] = ["/usr/src", "/usr/local/src"];
/// Where Homebrew lies, which is a repository itself.
const HOMEBREWS: [&str; 2] = ["/opt/homebrew", "/home/linuxbrew/.linuxbrew"];

/// How long the folders of `PATH` may take to answer, all together. One of a machine that is gone never does.
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

/// A list with the entries of another behind its own, those that it does not have; none if the variable is no such
/// list.
pub fn joined(name: &OsStr, value: &OsStr, more: &OsStr) -> Option<OsString> {
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
pub fn without(value: &OsStr, but: &[PathBuf]) -> (OsString, Vec<PathBuf>) {
    Others::of(&|name| std::env::var_os(name)).left_out_of(value, but)
}

/// A program that the user's own files name, and the `PATH` for it: the first of this name in a `PATH`, as in the
/// user's terminal, but none in these folders, in a project or where commands of any session may write. `PATH` has no
/// such folder either, since the program starts others. Of these folders, one that holds the home folder or the system
/// does not count: it would leave no program at all. Asks the disk.
pub fn of_user(name: &str, value: &OsStr, but: &[PathBuf]) -> (Option<PathBuf>, OsString) {
    let others = Others::of(&|name| std::env::var_os(name));
    let but = others.narrow(but);
    let (path, _) = others.left_out_of(&answering(value).0, &but);
    (find_in(&path, name, &but, &others), path)
}

/// True if a file lies in a project, in one of these folders or where commands of any session may write: by its name,
/// by where its links lead, or by a link on the way. Of the folders count those that [`of_user`] counts. Asks the disk.
pub fn is_of_others(file: &Path, but: &[PathBuf]) -> bool {
    let others = Others::of(&|name| std::env::var_os(name));
    others.have(file, &others.narrow(but))
}

/// Puts entries that were left out of a `PATH` back into one that was made without them: each before the next that it
/// stood before and that is there, or at the end.
pub fn put_back(made: &OsStr, value: &OsStr, left_out: &[PathBuf]) -> Option<OsString> {
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

/// A list with its absolute entries alone, but for those in these folders; none if nothing is left.
fn absolute(value: &OsStr, but: &[PathBuf]) -> Option<OsString> {
    let is_kept = |entry: &PathBuf| entry.is_absolute() && !lies_in(entry, but);
    let kept: Vec<PathBuf> = std::env::split_paths(value).filter(is_kept).collect();
    if kept.is_empty() { None } else { std::env::join_paths(kept).ok() }
}

/// The `PATH` that programs are started with.
pub fn path(value: Option<&OsStr>, but: &[PathBuf]) -> OsString {
    value.and_then(|value| absolute(value, but)).unwrap_or_else(|| USUAL.into())
}

/// The entries of a `PATH` that no program is looked for in, as they are written.
pub fn dropped(value: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(value).filter(|entry| !entry.is_absolute()).collect()
}

/// A `PATH` without the folders that do not answer, as those of a machine that is gone, and these. Whoever looks for a
/// program would wait for them for ever. Blocks, for five seconds at most.
pub fn answering(value: &OsStr) -> (OsString, Vec<PathBuf>) {
    let absolute = std::env::split_paths(value).filter(|entry| entry.is_absolute());
    let silent = answers::silent(absolute, PATIENCE);
    if silent.is_empty() {
        return (value.to_owned(), Vec::new());
    }
    let kept = std::env::split_paths(value).filter(|entry| !silent.contains(entry));
    let kept = std::env::join_paths(kept).ok().filter(|kept| !kept.is_empty());
    (kept.unwrap_or_else(|| USUAL.into()), silent.into_iter().collect())
}

/// Leaves the folders that do not answer out of the `PATH` of an environment, and gives them. Blocks as [`answering`].
pub fn leave_out_silent(environment: &mut [(OsString, OsString)]) -> Vec<PathBuf> {
    let mut left_out = Vec::new();
    for (_, value) in environment.iter_mut().filter(|(name, _)| name == "PATH") {
        (*value, left_out) = answering(value);
    }
    left_out
}

/// Returns what is to be said of folders of `PATH` that do not answer; `None` if there are none.
pub fn told_of_silent(folders: &[PathBuf]) -> Option<String> {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    let (does, is, it) = if names.len() == 1 { ("does", "is", "it") } else { ("do", "are", "they") };
    let names = names.join(", ");
    (!folders.is_empty()).then(|| {
        format!(
            "{names} {does} not answer, like a network folder whose server cannot be reached, and {is} left out of \
             PATH: no program is looked for there until {it} answers again and a new session is opened"
        )
    })
}

/// The folders of `PATH` that somebody was told do not answer. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Told(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Told {
    /// Returns what is to be told of these folders, of each once.
    pub fn of(&self, folders: &[PathBuf]) -> Option<String> {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let news: Vec<PathBuf> = folders.iter().filter(|folder| told.insert((*folder).clone())).cloned().collect();
        told_of_silent(&news)
    }
}

/// Bash, or where there is none, `sh`; in none of these folders, and nowhere that commands may have written.
///
/// # Errors
/// There is none, or the disk does not answer; in words for the user.
pub async fn shell(but: Vec<PathBuf>) -> Result<PathBuf, String> {
    let found = answered(2 * PATIENCE, move || ["bash", "sh"].into_iter().find_map(|name| find(name, &but))).await?;
    found.ok_or_else(|| {
        "there is neither bash nor sh but what commands may have written; install bash, or open a folder that does not \
         hold the system"
            .to_owned()
    })
}

/// Returns the result of a look for programs, which is waited for only so long.
///
/// # Errors
/// The disk does not answer; in words for the user.
pub async fn answered<T: Send + 'static>(
    patience: Duration,
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, String> {
    static LOOKS: LazyLock<Looks> = LazyLock::new(Looks::default);
    let looked = LOOKS.answer(patience, look).await;
    looked.ok_or_else(|| {
        "your home folder, or another in which programs and caches are looked for, does not answer, like one on a \
         machine that is gone"
            .to_owned()
    })
}

/// A program by its name: the system's, or if it has none, the first in `PATH`. In none of these folders and nowhere
/// that commands of any session may write: neither its own place nor where its links lead, nor a place on the way. Asks
/// the disk.
pub(crate) fn find(name: &str, but: &[PathBuf]) -> Option<PathBuf> {
    let others = Others::of(&|name| std::env::var_os(name));
    let users = || path(std::env::var_os("PATH").map(|path| answering(&path).0).as_deref(), but);
    find_among(OsStr::new(USUAL), users, name, but, &others)
}

/// The same with these folders as the system's, and these as the user's.
fn find_among(
    system: &OsStr,
    users: impl FnOnce() -> OsString,
    name: &str,
    but: &[PathBuf],
    others: &Others,
) -> Option<PathBuf> {
    let (systems, users) = (|| find_in(system, name, but, others), || find_in(&users(), name, but, others));
    // Where commands could write once is not known for good: sessions are deleted, and folders are renamed. The
    // system's programs they never could change, where there is a sandbox.
    if cfg!(target_os = "linux") { systems().or_else(users) } else { users().or_else(systems) }
}

/// The places that commands of other sessions may write, whichever folders those have.
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
    /// Of the user with this environment. Asks the disk.
    fn of(of_user: &dyn Fn(&str) -> Option<OsString>) -> Self {
        let environment = |name: &str| of_user(name).filter(|_| name != "PATH");
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
        // Folders that users put there themselves may be their projects.
        read.retain(|place| place != Path::new("/opt"));
        read.extend(HOMEBREWS.map(PathBuf::from));
        Self::at(of_user("HOME").map(PathBuf::from).as_deref(), read, written)
    }

    fn at(home: Option<&Path>, toolchains: Vec<PathBuf>, written: Vec<PathBuf>) -> Self {
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

    /// A `PATH` without the entries that are theirs or in these folders, and these entries. Asks the disk.
    fn left_out_of(&self, value: &OsStr, but: &[PathBuf]) -> (OsString, Vec<PathBuf>) {
        let absolute = std::env::split_paths(value).filter(|entry| entry.is_absolute());
        let (left_out, kept): (Vec<_>, Vec<_>) = absolute.partition(|entry| self.have(entry, but));
        let kept = std::env::join_paths(kept).ok().filter(|kept| !kept.is_empty());
        (kept.unwrap_or_else(|| USUAL.into()), left_out)
    }

    /// Those of the folders that hold neither the home folder nor the system.
    fn narrow(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let is_held = |folder: &Path| {
            Path::new("/usr/bin").starts_with(folder) || self.homes.iter().any(|home| home.starts_with(folder))
        };
        folders.iter().filter(|folder| !is_held(folder)).cloned().collect()
    }

    /// True if a path, where its links lead or a link on the way lies in what they may write, or in one of these
    /// folders. A path that cannot be resolved counts as theirs. Asks the disk.
    fn have(&self, path: &Path, but: &[PathBuf]) -> bool {
        let is_in = |at: &Path| but.iter().chain(&self.written).any(|folder| at.starts_with(folder));
        let is_theirs = |at: &Path| is_in(at) || self.is_of_project(at);
        // A link lies where its folder does.
        let is_theirs_to_turn = |link: &Path| is_in(link) || link.parent().is_some_and(is_theirs);
        is_in(path)
            || sandbox::walked(path, |at, is_link| !(is_link && is_theirs_to_turn(at)))
                .is_none_or(|end| is_theirs(&end))
    }

    /// True if a path lies in a project, and not in a toolchain that is kept by version control.
    fn is_of_project(&self, path: &Path) -> bool {
        let is_toolchain =
            |project: &Path| self.toolchains.iter().any(|place| path.starts_with(place) && project.starts_with(place));
        let is_source = SOURCES.iter().any(|place| path.starts_with(place));
        is_source || project_of(path, &self.homes).is_some_and(|project| !is_toolchain(&project))
    }
}

/// The virtual environment or the folder of packages that a path lies in: what is there is a project's.
pub fn environment_of(path: &Path) -> Option<PathBuf> {
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
    let mut places = std::env::split_paths(path).map(|folder| folder.join(name));
    places.find(|program| is_program(program) && !others.have(program, but))
}

/// True if a path lies in one of these folders: by its name, by where its links lead, or by a link on the way. Asks the
/// disk.
pub fn lies_in(path: &Path, folders: &[PathBuf]) -> bool {
    let is_in = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    // A path that cannot be resolved counts as inside: nobody knows where it leads.
    let real = || path.canonicalize().or_else(|_| paths::canonical(path));
    !folders.is_empty()
        && (is_in(path)
            || real().map_or(true, |path| is_in(&path))
            || sandbox::walked(path, |at, _| !is_in(at)).is_none())
}

/// True if there is a file that may be run.
#[cfg(unix)]
pub fn is_program(path: &Path) -> bool {
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
        let others = Others::at(Some(&home), toolchains, Vec::new());
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

    #[test]
    fn where_the_system_has_none_no_program_is_taken_from_where_commands_of_any_session_may_write() {
        // Not among temporary files, from which nothing is taken.
        let place = tempfile::TempDir::with_prefix_in("azimuth-programs-", "/srv");
        let place = place.or_else(|_| tempfile::TempDir::new_in(std::env::var_os("HOME").unwrap())).unwrap();
        let (home, temporary) = (place.path().canonicalize().unwrap(), tempfile::tempdir().unwrap());
        let theirs = [
            (".npm/_npx", "a package cache"),
            ("other/.venv/bin", "another project's environment"),
            ("other/node_modules/.bin", "another project's packages"),
            ("dotfiles/bin", "another project"),
            ("bin", "a link to another project"),
            ("single", "a link to a file of another project"),
            ("elsewhere/bin", "a folder that another session works in"),
            ("mine/bin", "a folder that the user lets commands write"),
            ("project/bin", "the workspace"),
        ];
        let but = ["elsewhere/bin", "mine", "project"].map(|name| home.join(name));
        std::fs::create_dir_all(home.join("dotfiles/.git")).unwrap();
        std::fs::create_dir_all(home.join("other/.venv")).unwrap();
        std::fs::write(home.join("other/.venv/pyvenv.cfg"), "").unwrap();
        std::fs::create_dir(home.join("dotfiles/bin")).unwrap();
        symlink(home.join("dotfiles/bin"), home.join("bin")).unwrap();
        std::fs::create_dir(home.join("single")).unwrap();
        symlink(home.join("dotfiles/bin/git"), home.join("single/git")).unwrap();
        let folders = theirs.map(|(folder, _)| home.join(folder));
        for folder in folders.iter().chain([&temporary.path().to_owned(), &home.join("users"), &home.join("none")]) {
            std::fs::create_dir_all(folder).unwrap();
            if !folder.ends_with("none") {
                std::fs::write(folder.join("git"), "").unwrap();
                std::fs::set_permissions(folder.join("git"), PermissionsExt::from_mode(0o755)).unwrap();
            }
        }
        let others = Others::of(&|name| (name == "HOME").then(|| home.clone().into()));
        let found = |users: &[&Path]| {
            let users = std::env::join_paths(users).unwrap();
            find_among(home.join("none").as_os_str(), || users, "git", &but, &others)
        };
        for (folder, whose) in theirs {
            assert_eq!(found(&[&home.join(folder)]), None, "{whose}");
        }
        assert_eq!(found(&[temporary.path()]), None, "a temporary folder");
        let users = home.join("users");
        let all: Vec<&Path> = folders.iter().map(PathBuf::as_path).chain([temporary.path(), &users]).collect();
        assert_eq!(found(&all), Some(users.join("git")));
        let planted = || users.clone().into_os_string();
        let of_system = find_among(home.join("users").as_os_str(), || home.join("none").into(), "git", &but, &others);
        assert_eq!(of_system, Some(users.join("git")));
        let first = find_among(OsStr::new(USUAL), planted, "sh", &but, &others);
        assert!(first.is_some_and(|sh| !sh.starts_with(&home)), "the system's come first");
    }

    #[test]
    fn a_program_of_the_users_is_the_first_in_path_that_is_no_projects_and_starts_others_like_it() {
        // Not among temporary files, from which nothing is taken.
        let place = tempfile::TempDir::with_prefix_in("azimuth-programs-", "/srv");
        let place = place.or_else(|_| tempfile::TempDir::new_in(std::env::var_os("HOME").unwrap())).unwrap();
        let at = |name: &str| place.path().canonicalize().unwrap().join(name);
        for folder in ["project/.venv/bin", "project/node_modules/.bin", "open/bin", "own", "later"] {
            std::fs::create_dir_all(at(folder)).unwrap();
            std::fs::write(at(folder).join("aws"), "").unwrap();
            std::fs::set_permissions(at(folder).join("aws"), PermissionsExt::from_mode(0o755)).unwrap();
        }
        std::fs::write(at("project/.venv/pyvenv.cfg"), "").unwrap();
        let of_user = |folders: &[&str], but: &[PathBuf]| {
            let path = std::env::join_paths(folders.iter().map(|folder| at(folder))).unwrap();
            of_user("aws", &path, but)
        };
        let all = ["project/.venv/bin", "project/node_modules/.bin", "open/bin", "own", "later"];
        let path = std::env::join_paths([at("own"), at("later")]).unwrap();
        assert_eq!(of_user(&all, &[at("open")]), (Some(at("own/aws")), path));
        assert_eq!(of_user(&all[..2], &[]).0.filter(|aws| aws.starts_with(place.path())), None);
        assert_eq!(of_user(&["own"], &[PathBuf::from("/")]).0, Some(at("own/aws")), "`/` holds the system");
        for (file, is_theirs) in [("project/.venv/x", true), ("open/x", true), ("own/x", false)] {
            assert_eq!(is_of_others(&at(file), &[at("open")]), is_theirs, "{file}");
        }
    }

    #[tokio::test]
    async fn where_commands_may_write_the_system_that_is_said_of_the_shell_that_is_not_taken() {
        let said = shell(vec!["/".into()]).await.unwrap_err();
        assert!(said.contains("commands may have written") && said.contains("open a folder"), "{said}");
    }

    #[tokio::test]
    async fn a_disk_that_does_not_answer_is_not_waited_for() {
        // It answers once this is dropped.
        let (answers, silence) = std::sync::mpsc::channel::<()>();
        let said = answered(Duration::from_millis(1), move || silence.recv().is_ok()).await.unwrap_err();
        drop(answers);
        assert!(said.contains("does not answer"), "{said}");
    }

    #[test]
    fn of_a_folder_that_does_not_answer_one_is_told_once() {
        let folders = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let told = Told::default();
        assert_eq!(told.of(&[]), None);
        assert!(told.of(&folders(&["/a"])).is_some_and(|words| words.starts_with("/a does not answer")));
        assert_eq!(told.clone().of(&folders(&["/a"])), None);
        assert!(told.of(&folders(&["/a", "/b", "/c"])).is_some_and(|words| words.starts_with("/b, /c do not answer")));
    }
}
