//! The paths that belong to the project, and their names.
//!
//! A path of the model's is used only after [`Roots::resolve`], a path from anywhere else only after [`Roots::check`]:
//! both resolve every link and compare whole components, so that neither `..` nor a link leads out of the workspace.
//! The path that they return is absolute, has no links in it, and is the key under which everything else in this crate
//! knows the file.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use permission;
use ports::tool::ToolError;

mod links;
mod uri;

pub use links::{led_to, links_of};
pub use uri::{from_uri, to_uri};

/// The workspace's folders.
#[derive(Clone, Debug)]
pub struct Roots {
    roots: Vec<Root>,
    own_data: Vec<PathBuf>,
}

/// One of the workspace's folders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Absolute, links resolved.
    pub path: PathBuf,
    /// The name used if there are several: the folder's own, with a number if that is taken.
    pub name: String,
}

/// Why a path must not be written to even though it lies in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Protected {
    /// It is git's own data; hooks and settings in there run programs.
    #[error("it belongs to git itself")]
    Git,
    /// It is our own data.
    #[error("it belongs to Azimuth's own data")]
    OwnData,
}

/// A path that cannot be used. The words are for the model too.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It lies outside the workspace, or behind a link that leaves it.
    #[error("{} is outside the workspace; only files in {} can be used", path.display(), roots.join(", "))]
    Outside {
        /// The path, as it came.
        path: PathBuf,
        /// The workspace's folders.
        roots: Vec<String>,
    },
    /// It begins with `~`.
    #[error("{0}: `~` is not expanded; write the path relative to the workspace, or absolute")]
    Home(String),
    /// It is a URI of something else than a local file.
    #[error("{0} is not the URI of a local file")]
    NotAFileUri(String),
    /// It leads through a link to nothing.
    #[error("{0} is a link to something that does not exist")]
    DanglingLink(PathBuf),
    /// No path can be so.
    #[error("{path:?} cannot be a path: {reason}")]
    Malformed {
        /// The path, as it came.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// A folder of the workspace is not one.
    #[error("{path} cannot be a folder of the workspace: {reason}")]
    BadRoot {
        /// The folder.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The disk would not say.
    #[error("{path} cannot be looked up: {reason}")]
    Io {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        match error {
            PathError::Outside { path, roots } => Self::OutsideWorkspace { path, roots },
            other => Self::Failed(other.to_string()),
        }
    }
}

impl Roots {
    /// The workspace with these folders, the first being the one that relative paths start from. A folder given twice
    /// counts once. Asks the disk.
    ///
    /// # Errors
    /// [`PathError::BadRoot`] for what is not an existing folder, or where there is none at all.
    pub fn new(folders: impl IntoIterator<Item = impl Into<PathBuf>>) -> Result<Self, PathError> {
        let mut roots: Vec<Root> = Vec::new();
        for folder in folders {
            let folder = folder.into();
            let bad = |reason: String| PathError::BadRoot { path: folder.clone(), reason };
            let path = folder.canonicalize().map_err(|error| bad(error.to_string()))?;
            if !path.is_dir() {
                return Err(bad("it is not a folder".to_owned()));
            }
            if roots.iter().any(|root| root.path == path) {
                continue;
            }
            let name = free_name(&path, &roots);
            roots.push(Root { path, name });
        }
        if roots.is_empty() {
            return Err(PathError::BadRoot { path: PathBuf::new(), reason: "there is none".to_owned() });
        }
        Ok(Self { roots, own_data: Vec::new() })
    }

    /// The same workspace with folders of our own data, which [`Roots::protected`] then knows.
    #[must_use]
    pub fn with_own_data(mut self, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        self.own_data.extend(folders.into_iter().map(|folder| canonical(&folder).unwrap_or(folder)));
        self
    }

    /// The folders, the first first.
    pub fn iter(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter()
    }

    /// The path that a model or a person means: relative to the first folder, or beginning with the name of one where
    /// there are several; absolute; or a `file:` URI. It need not exist. Asks the disk.
    ///
    /// # Errors
    /// [`PathError::Outside`] for what is not in the workspace, and the others for what is no path.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, PathError> {
        let malformed = |reason| PathError::Malformed { path: path.to_owned(), reason };
        if path.contains('\0') {
            return Err(malformed("it has a NUL in it"));
        }
        if path.starts_with('~') {
            return Err(PathError::Home(path.to_owned()));
        }
        if path.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")) {
            return self.check(&from_uri(path)?);
        }
        if path.contains("://") {
            return Err(PathError::NotAFileUri(path.to_owned()));
        }
        let path = Path::new(path);
        let named = match (self.roots.as_slice(), path.components().find(|part| *part != Component::CurDir)) {
            ([_], _) => None,
            (roots, Some(Component::Normal(first))) => roots.iter().find(|root| OsStr::new(&root.name) == first),
            _ => None,
        };
        match (named, self.roots.first()) {
            (Some(root), _) => {
                let rest: PathBuf = path.components().filter(|part| *part != Component::CurDir).skip(1).collect();
                self.check_as(&root.path.join(rest), path)
            }
            // Joining an absolute path gives that path.
            (None, Some(first)) => self.check_as(&first.path.join(path), path),
            (None, None) => self.check(path),
        }
    }

    /// The same for an absolute path. To be called again right before something is written, since links may have
    /// changed meanwhile. Asks the disk.
    ///
    /// # Errors
    /// As [`Roots::resolve`].
    pub fn check(&self, path: &Path) -> Result<PathBuf, PathError> {
        self.check_as(path, path)
    }

    /// Why a path, resolved, must not be written to; none for most.
    pub fn protected(&self, path: &Path) -> Option<Protected> {
        if self.goes_through(path, ".git") {
            return Some(Protected::Git);
        }
        self.own_data.iter().any(|folder| path.starts_with(folder)).then_some(Protected::OwnData)
    }

    /// True if a path, resolved, lies in a folder `.azimuth` of the workspace. What stands there says what the agent
    /// may do and what is run for it, or is a prompt; so it is written only where the user has looked.
    pub fn steers_us(&self, path: &Path) -> bool {
        self.goes_through(path, ".azimuth")
    }

    /// True if a path, resolved, is a file of the workspace that makes programs other than the project's own run
    /// something. It is written only where the user has looked.
    pub fn makes_programs_run(&self, path: &Path) -> bool {
        let mut inside = self.roots.iter().filter_map(|root| path.strip_prefix(&root.path).ok());
        inside.any(permission::makes_programs_run)
    }

    /// True if there is such a name between a path and the folder of the workspace that it lies in.
    fn goes_through(&self, path: &Path, name: &str) -> bool {
        let inside = self.roots.iter().filter_map(|root| path.strip_prefix(&root.path).ok());
        // Some file systems do not tell `.git` from `.GIT`.
        let is_it = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(name);
        inside.min_by_key(|rest| rest.as_os_str().len()).is_some_and(|rest| rest.components().any(is_it))
    }

    /// Returns the path as the model and users read it: relative to its folder, with the folder's name before it if
    /// there are several, and with `/` everywhere; outside the workspace the path itself. The folder itself is `.`, or
    /// its name. [`Roots::resolve`] leads back, but for the few names that cannot be shown as they are ([`shown`]) and
    /// those that begin with `~` or look like a URI.
    pub fn display(&self, path: &Path) -> String {
        // The longest fits best where one folder lies in another.
        let root = self
            .roots
            .iter()
            .filter(|root| path.starts_with(&root.path))
            .max_by_key(|root| root.path.as_os_str().len());
        let Some(root) = root else {
            return shown(path);
        };
        let rest = path.strip_prefix(&root.path).unwrap_or(path);
        let name = (self.roots.len() > 1).then_some(OsStr::new(&root.name));
        let parts: Vec<_> = name.into_iter().chain(rest.iter()).map(OsStr::to_string_lossy).collect();
        if parts.is_empty() { ".".to_owned() } else { shown(Path::new(&parts.join("/"))) }
    }

    fn check_as(&self, path: &Path, as_given: &Path) -> Result<PathBuf, PathError> {
        let real = canonical(path)?;
        if self.roots.iter().any(|root| real.starts_with(&root.path)) {
            return Ok(real);
        }
        let roots = self.roots.iter().map(|root| root.path.display().to_string()).collect();
        Err(PathError::Outside { path: as_given.to_owned(), roots })
    }
}

/// A path as text on one line: control characters, such as line breaks, are escaped, and what is not UTF-8 is replaced.
pub fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if !text.contains(char::is_control) {
        return text.into_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// True if keys and passwords are usually in a file of this name.
pub fn is_for_keys(path: &Path) -> bool {
    permission::is_for_keys(path)
}

/// An absolute path without `.`, `..` and links. What does not exist yet is taken as it stands behind the nearest
/// ancestor that does. Asks the disk.
///
/// # Errors
/// [`PathError::DanglingLink`], [`PathError::Io`], and [`PathError::Malformed`] for a relative path.
pub fn canonical(path: &Path) -> Result<PathBuf, PathError> {
    let malformed = |reason| PathError::Malformed { path: path.display().to_string(), reason };
    if !path.is_absolute() {
        return Err(malformed("it is not absolute"));
    }
    let path = plain(path);
    for ancestor in path.ancestors() {
        let is_link = match ancestor.symlink_metadata() {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(PathError::Io { path: path.clone(), reason: error.to_string() }),
        };
        let real = match ancestor.canonicalize() {
            Ok(real) => real,
            // It was deleted between the two looks.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link => continue,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(PathError::DanglingLink(ancestor.to_owned()));
            }
            Err(error) => return Err(PathError::Io { path: ancestor.to_owned(), reason: error.to_string() }),
        };
        let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
        // Joining nothing would append a slash.
        return Ok(if rest.as_os_str().is_empty() { real } else { real.join(rest) });
    }
    Err(malformed("no part of it exists"))
}

/// A path without `.` and `..`, as text alone tells.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

fn free_name(path: &Path, taken: &[Root]) -> String {
    let name = path.file_name().map_or_else(|| "root".into(), OsStr::to_string_lossy);
    let is_free = |name: &String| taken.iter().all(|root| root.name != *name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.to_string()).chain(numbered).find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A workspace with two folders, and something beside it.
    struct World {
        folder: tempfile::TempDir,
        roots: Roots,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for path in ["one/src", "two", "outside"] {
                std::fs::create_dir_all(folder.path().join(path)).unwrap();
            }
            let roots = Roots::new([folder.path().join("one")]).unwrap();
            Self { folder, roots }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(path)
        }

        fn two(&self) -> Roots {
            Roots::new([self.path("one"), self.path("two")]).unwrap()
        }
    }

    #[test]
    fn a_relative_path_starts_from_the_first_folder() {
        let world = World::new();
        for path in ["src/main.rs", "./src/./main.rs", "src/../src/main.rs", "new/../src/main.rs"] {
            assert_eq!(world.roots.resolve(path).unwrap(), world.path("one/src/main.rs"), "{path}");
        }
        assert_eq!(world.roots.resolve("").unwrap(), world.path("one"));
        assert_eq!(world.roots.resolve(".").unwrap(), world.path("one"));
        assert_eq!(world.roots.resolve("new/deep/file.rs").unwrap(), world.path("one/new/deep/file.rs"));
    }

    #[test]
    fn absolute_paths_and_uris_are_fine_inside_the_workspace() {
        let world = World::new();
        let path = world.path("one/src/a b.rs");
        assert_eq!(world.roots.resolve(path.to_str().unwrap()).unwrap(), path);
        assert_eq!(world.roots.resolve(&to_uri(&path)).unwrap(), path);
    }

    #[test]
    fn a_path_outside_the_workspace_is_refused() {
        let world = World::new();
        let sibling = world.path("one-more");
        std::fs::create_dir_all(&sibling).unwrap();
        for path in ["../outside/x", "/etc/passwd", "src/../../outside", "..", sibling.to_str().unwrap()] {
            let refused = world.roots.resolve(path).unwrap_err();
            assert!(matches!(&refused, PathError::Outside { .. }), "{path}: {refused}");
            assert!(matches!(ToolError::from(refused), ToolError::OutsideWorkspace { .. }));
        }
        assert!(matches!(world.roots.resolve("~/.ssh/id_rsa"), Err(PathError::Home(_))));
        assert!(matches!(world.roots.resolve("https://x.org/a"), Err(PathError::NotAFileUri(_))));
        assert!(matches!(world.roots.resolve("a\0b"), Err(PathError::Malformed { .. })));
    }

    #[test]
    fn a_link_that_leaves_the_workspace_is_refused_even_for_a_file_that_is_not_there_yet() {
        let world = World::new();
        symlink(world.path("outside"), world.path("one/way-out")).unwrap();
        for path in ["way-out", "way-out/secret", "way-out/new/deep/file", "src/../way-out/x"] {
            assert!(matches!(world.roots.resolve(path), Err(PathError::Outside { .. })), "{path}");
        }
    }

    #[test]
    fn a_link_inside_the_workspace_leads_to_the_real_file() {
        let world = World::new();
        symlink(world.path("one/src"), world.path("one/source")).unwrap();
        assert_eq!(world.roots.resolve("source/main.rs").unwrap(), world.path("one/src/main.rs"));
    }

    #[test]
    fn links_to_nothing_and_in_circles_are_refused() {
        let world = World::new();
        symlink(world.path("outside/not-there"), world.path("one/dangling")).unwrap();
        symlink(world.path("one/circle"), world.path("one/circle")).unwrap();
        assert!(matches!(world.roots.resolve("dangling"), Err(PathError::DanglingLink(_))));
        assert!(matches!(world.roots.resolve("circle/x"), Err(PathError::Io { .. })));
    }

    #[test]
    fn with_several_folders_paths_carry_the_folders_name() {
        let world = World::new();
        let roots = world.two();
        for (path, display) in [("one/src/main.rs", "one/src/main.rs"), ("two/x", "two/x"), ("two", "two")] {
            assert_eq!(roots.resolve(path).unwrap(), world.path(path));
            assert_eq!(roots.display(&world.path(path)), display);
        }
        assert_eq!(roots.resolve("src/main.rs").unwrap(), world.path("one/src/main.rs"));
        assert_eq!(world.roots.display(&world.path("one/src/main.rs")), "src/main.rs");
        assert_eq!(world.roots.display(&world.path("one")), ".");
    }

    #[test]
    fn a_name_is_shown_on_one_line() {
        let world = World::new();
        assert_eq!(world.roots.display(&world.path("one/a\nb\u{1b}[31m/é.rs")), "a\\nb\\u{1b}[31m/é.rs");
        assert_eq!(world.roots.display(Path::new("/elsewhere/a\rb")), "/elsewhere/a\\rb");
    }

    #[test]
    fn folders_of_the_same_name_are_told_apart_and_one_given_twice_counts_once() {
        let world = World::new();
        std::fs::create_dir_all(world.path("outside/one")).unwrap();
        let roots = Roots::new([world.path("one"), world.path("outside/one"), world.path("one/.")]).unwrap();
        let names: Vec<_> = roots.iter().map(|root| root.name.as_str()).collect();
        assert_eq!(names, ["one", "one-2"]);
        assert_eq!(roots.resolve("one-2/x").unwrap(), world.path("outside/one/x"));
    }

    #[test]
    fn a_workspace_needs_folders_that_exist() {
        let world = World::new();
        assert!(matches!(Roots::new([world.path("nowhere")]), Err(PathError::BadRoot { .. })));
        assert!(matches!(Roots::new(Vec::<PathBuf>::new()), Err(PathError::BadRoot { .. })));
    }

    #[test]
    fn git_and_our_own_data_are_protected() {
        let world = World::new();
        let roots = world.two().with_own_data([world.path("one/.azimuth/data")]);
        let protected = |path| roots.protected(&world.path(path));
        assert_eq!(protected("one/.git/hooks/pre-commit"), Some(Protected::Git));
        assert_eq!(protected("two/vendored/.GIT/config"), Some(Protected::Git));
        assert_eq!(protected("one/.azimuth/data/sessions.db"), Some(Protected::OwnData));
        assert_eq!(protected("one/.gitignore"), None);
        assert_eq!(protected("one/src/git"), None);
    }

    #[test]
    fn what_a_project_tells_us_is_known_by_its_folder() {
        let world = World::new();
        let roots = world.two();
        for path in ["one/.azimuth/config.toml", "two/deep/.Azimuth/x", "one/.azimuth/chats/a.md", "one/.azimuth"] {
            assert!(roots.steers_us(&world.path(path)), "{path}");
        }
        for path in ["one/azimuth/config.toml", "one/.azimuth.md", "outside/.azimuth/config.toml"] {
            assert!(!roots.steers_us(&world.path(path)), "{path}");
        }
    }
}
