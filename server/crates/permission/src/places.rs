//! Where things lie, by their names and by the links that are told: no disk is asked here.

use std::path::{Component, Path, PathBuf};

use super::lists::is_for_keys;
use super::{Links, SimpleCommand, Word};

/// Folders whose files make programs do things.
pub(super) const OWN: &[&str] = &[".git", ".azimuth"];
/// Files that swallow or pass on what is written to them.
const HARMLESS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The workspace's folders, and the folders that a command line may be in.
pub(super) struct Places<'a> {
    folders: &'a [PathBuf],
    /// Every folder that the line may be in at some point; none once that cannot be told.
    current: Option<Vec<PathBuf>>,
    links: &'a Links,
}

impl<'a> Places<'a> {
    pub(super) fn new(folders: &'a [PathBuf]) -> Self {
        Self { folders, current: None, links: const { &Links::new() } }
    }

    /// For a line that starts in a folder, with all the places its own `cd`s may bring it to.
    pub(super) fn of_line(folders: &'a [PathBuf], cwd: &Path, commands: &[SimpleCommand], links: &'a Links) -> Self {
        let mut current = Some(vec![normalize(cwd)]);
        for command in commands {
            let Some(Word::Known(name)) = command.words.first() else { continue };
            let moved = match (name.as_str(), command.words.get(1..)) {
                ("cd", Some([Word::Known(to)])) => steps_down(to).then_some(to),
                ("cd" | "pushd" | "popd", _) => None,
                _ => continue,
            };
            current = match (moved, current) {
                (Some(to), Some(mut from)) => {
                    let reached: Vec<_> = from.iter().map(|folder| normalize(&folder.join(to))).collect();
                    from.extend(reached);
                    Some(from)
                }
                _ => None,
            };
        }
        Self { folders, current, links }
    }

    /// True if what a path as written names lies in the workspace, wherever the line may be and whatever link it goes
    /// through.
    pub(super) fn holds(&self, written: &str) -> bool {
        self.reached(written).is_some_and(|paths| paths.iter().all(|path| self.is_inside(path)))
    }

    /// True if what a path as written names lies in the workspace itself and is a file of the project's own, wherever
    /// the line may be and whatever link it goes through: nothing of git's or Azimuth's, and none that usually holds
    /// keys.
    pub(super) fn holds_own(&self, written: &str) -> bool {
        let is_own = |path: &PathBuf| {
            let folders = self.folders.iter().filter(|folder| path.starts_with(folder));
            let nearest = folders.max_by_key(|folder| folder.as_os_str().len());
            nearest.and_then(|folder| path.strip_prefix(folder).ok()).is_some_and(is_projects_own)
        };
        self.reached(written).is_some_and(|paths| !paths.is_empty() && paths.iter().all(is_own))
    }

    /// True if the line is in the workspace all the while, where that can be told.
    pub(super) fn is_in_workspace(&self) -> bool {
        let holds = |folder: &PathBuf| folder.to_str().is_some_and(|path| self.holds_own(path));
        self.current.as_ref().is_some_and(|folders| folders.iter().all(holds))
    }

    /// True if what a path as written names may lie in a `.git`, whatever link it goes through.
    pub(super) fn is_in_git(&self, written: &str) -> bool {
        let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
        let is_in_it = |path: &PathBuf| self.relatives(path).any(|path| path.components().any(is_git));
        self.reached(written).is_none_or(|paths| paths.iter().any(is_in_it))
    }

    /// True if it lies in the workspace as [`Self::holds_own`] says, and is none of the workspace's folders as a whole.
    pub(super) fn holds_inside(&self, written: &str) -> bool {
        self.holds_own(written) && !self.named(written).iter().any(|path| self.is_workspace_or_above(path))
    }

    /// Returns the paths that a path as written may name, by its own name and by where its links lead; nothing if that
    /// cannot be told.
    pub(super) fn named(&self, written: &str) -> Vec<PathBuf> {
        self.reached(written).unwrap_or_default()
    }

    /// True if a program of the project's own packages is there: wherever the line may be it is told to be a link, as
    /// package managers make them, to a file of the workspace.
    pub(super) fn has_package_program(&self, name: &str) -> bool {
        // Where the folder is the link, its file may be missing.
        let is_file = |led_to: &PathBuf| !led_to.ends_with(Path::new(".bin").join(name));
        let is_link = |path: &PathBuf| {
            let led_to = self.links.get(path).map(Vec::as_slice).unwrap_or_default();
            !led_to.is_empty() && led_to.iter().all(is_file)
        };
        let program = package_program(name);
        self.holds_own(&program) && self.resolve(&program).is_some_and(|paths| paths.iter().all(is_link))
    }

    /// Returns the paths that a path as written may name, by its own name and by where its links lead; none if that
    /// cannot be told.
    fn reached(&self, written: &str) -> Option<Vec<PathBuf>> {
        let joined = self.joined(written)?;
        let normal = joined.iter().map(|path| normalize(path));
        let mut reached: Vec<_> = normal.chain(joined.iter().cloned()).collect();
        let led_to: Vec<_> = reached.iter().filter_map(|path| self.links.get(path)).flatten().cloned().collect();
        // With `..` in it, a path is no name: it is where it leads, or what it comes to.
        reached.truncate(joined.len());
        reached.extend(led_to);
        Some(reached)
    }

    /// The paths that one as written may stand for; none if that cannot be told.
    pub(super) fn resolve(&self, written: &str) -> Option<Vec<PathBuf>> {
        Some(self.joined(written)?.iter().map(|path| normalize(path)).collect())
    }

    /// The same with each `..` as it is written: behind a link it leads up from where the link leads.
    pub(super) fn joined(&self, written: &str) -> Option<Vec<PathBuf>> {
        if written.starts_with('~') {
            return None;
        }
        if written.starts_with('/') {
            return Some(vec![PathBuf::from(written)]);
        }
        let current = self.current.as_ref()?;
        Some(current.iter().map(|folder| folder.join(written)).collect())
    }

    pub(super) fn is_workspace_or_above(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| folder.starts_with(path))
    }

    /// The path from each workspace folder that it is in; from the root where it is in none.
    pub(super) fn relatives<'p>(&'p self, path: &'p Path) -> impl Iterator<Item = &'p Path> {
        let inside = self.folders.iter().filter_map(move |folder| path.strip_prefix(folder).ok());
        let nowhere = !self.folders.iter().any(|folder| path.starts_with(folder));
        inside.chain(nowhere.then_some(path))
    }

    pub(super) fn relative<'p>(&'p self, path: &'p Path) -> &'p Path {
        self.relatives(path).next().unwrap_or(path)
    }

    fn is_inside(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) || path.to_str().is_some_and(is_harmless)
    }
}

/// True if a path from a workspace folder is a file of the project's own.
pub(super) fn is_projects_own(path: &Path) -> bool {
    let names = || path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    !names().any(|name| OWN.contains(&name.as_str())) && !is_for_keys(path)
}

/// True if a path goes through a folder that says what the agent may do.
pub(super) fn steers_us(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".azimuth"))
}

/// True if a path goes through a name that begins with a dot: what stands there tells programs what to do.
pub(super) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != "." && part != "..")
}

/// True if what is written there changes no file.
pub(super) fn is_harmless(path: &str) -> bool {
    HARMLESS.contains(&path)
}

/// Where a program of a project's own packages lies.
pub(super) fn package_program(name: &str) -> String {
    format!("node_modules/.bin/{name}")
}

/// True if a path leads up again from a folder that it names, which may be a link.
pub(super) fn climbs(path: &str) -> bool {
    path.split('/').skip_while(|part| matches!(*part, "" | "." | "..")).any(|part| part == "..")
}

/// True if following it any number of times stays below where it starts, or it is absolute.
fn steps_down(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(['~', '-']) && !path.split('/').any(|part| part == "..")
}

fn normalize(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}
