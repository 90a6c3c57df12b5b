//! The servers that there are for a file: by what lies in the project, and by the programs that are there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use globset::{Glob, GlobMatcher};
use process::programs::is_program;

use super::brought::Brought;
use super::table::{Definition, Table};

/// Folders of a project in which its own programs are. They come before the user's.
pub(super) const LOCAL: [&str; 8] = [
    "node_modules/.bin",
    ".venv/bin",
    "venv/bin",
    ".env/bin",
    "vendor/bin",
    "vendor/bundle/bin",
    "bin",
    ".venv/Scripts",
];

/// How deep in a folder projects are looked for, and in how many folders.
const MAX_DEPTH: usize = 3;
const MAX_FOLDERS: usize = 300;
/// How many projects there a server is for: each takes a process of it.
const MAX_PROJECTS: usize = 3;

/// A server that a project of a file has.
#[derive(Clone, Debug)]
pub struct Detected {
    /// Its definition in the table.
    pub definition: Arc<Definition>,
    /// Its program; none if that is not found.
    pub program: Option<PathBuf>,
    /// The folder of the project.
    pub root: PathBuf,
    /// The server as it was allowed to start, if the project [brings it along](super::brought).
    pub allowed: Option<Brought>,
    /// True if it may be asked only as the process that runs, whatever has become of its files since that was started.
    pub only_as_it_runs: bool,
}

impl Detected {
    fn new(definition: &Arc<Definition>, program: Option<PathBuf>, root: &Path) -> Self {
        let (definition, root) = (definition.clone(), root.to_owned());
        Self { definition, program, root, allowed: None, only_as_it_runs: false }
    }
}

/// The servers for a file in a folder of the workspace, in the order in which they are asked. Those whose program is
/// not found are among them, but not those of whose group another is there. Asks the disk.
pub fn for_file(table: &Table, path: &Path, folder: &Path, search: Option<&OsStr>) -> Vec<Detected> {
    let start = path.parent().unwrap_or(folder);
    let found = table.for_file(path).filter_map(|definition| detect(definition, start, folder, search));
    one_of_each_group(found.collect())
}

/// The servers for a folder of the workspace itself. Asks the disk.
pub fn for_folder(table: &Table, folder: &Path, search: Option<&OsStr>) -> Vec<Detected> {
    let found = table.servers.iter().filter_map(|definition| detect(definition, folder, folder, search));
    one_of_each_group(found.collect())
}

/// The servers for the projects in a folder of the workspace: of each server those of the outermost folders, and no
/// more than [`MAX_PROJECTS`]. Folders that version control passes over, and very many, are not looked at. Asks the
/// disk.
pub fn below(table: &Table, folder: &Path, search: Option<&OsStr>) -> Vec<Detected> {
    let folders = project::search::folders(folder, MAX_DEPTH, MAX_FOLDERS);
    // Made once: there are some hundred markers, and as many folders.
    let markers: Vec<(&Arc<Definition>, Markers<'_>)> =
        table.servers.iter().map(|definition| (definition, Markers::new(definition))).collect();
    let mut found: Vec<Detected> = Vec::new();
    for at in folders {
        let entries = std::fs::read_dir(&at).into_iter().flatten().flatten();
        let names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
        let is_new = |definition: &Definition| {
            let known: Vec<_> = found.iter().filter(|known| known.definition.name == definition.name).collect();
            known.len() < MAX_PROJECTS && !known.iter().any(|known| at.starts_with(&known.root))
        };
        let here = markers.iter().filter(|(definition, markers)| is_new(definition) && markers.are_in(&at, &names));
        let here = here.map(|(definition, _)| {
            let program = program(&definition.command, &at, folder, search);
            Detected::new(definition, program, &at)
        });
        let here = one_of_each_group(here.collect());
        found.extend(here);
    }
    found
}

/// The server that the user has for what this one is for: one of its name, or of its group, as this table has it, with
/// a program that is found where the user's are; the first that is theirs by `is_own`. Asks the disk.
pub(super) fn users_own(
    table: &Table,
    server: &Detected,
    search: Option<&OsStr>,
    is_own: impl Fn(&Detected) -> bool,
) -> Option<Detected> {
    let (name, group) = (&server.definition.name, &server.definition.group);
    let (same, grouped): (Vec<_>, Vec<_>) = table
        .servers
        .iter()
        .filter(|one| one.name == *name || (group.is_some() && one.group == *group))
        .partition(|one| one.name == *name);
    same.into_iter().chain(grouped).find_map(|definition| {
        // An activated environment puts the project's programs before the user's.
        users_programs(&definition.command, search)
            .map(|program| Detected::new(definition, Some(program), &server.root))
            .find(&is_own)
    })
}

/// The root markers of a server.
struct Markers<'d> {
    names: Vec<&'d str>,
    globs: Vec<GlobMatcher>,
    /// Those that lie deeper.
    deeper: Vec<&'d str>,
}

impl<'d> Markers<'d> {
    fn new(definition: &'d Definition) -> Self {
        let (deeper, here): (Vec<&str>, Vec<&str>) =
            definition.root_markers.iter().map(String::as_str).partition(|marker| marker.contains('/'));
        let (globs, names): (Vec<&str>, Vec<&str>) = here.into_iter().partition(|marker| is_glob(marker));
        let globs = globs.into_iter().filter_map(|glob| Some(Glob::new(glob).ok()?.compile_matcher()));
        Self { names, globs: globs.collect(), deeper }
    }

    /// True if one of them lies in a folder, in which these names are.
    fn are_in(&self, folder: &Path, names: &[OsString]) -> bool {
        let fits = |name: &OsString| {
            self.names.iter().any(|marker| name == marker) || self.globs.iter().any(|glob| glob.is_match(name))
        };
        names.iter().any(fits) || self.deeper.iter().any(|marker| is_there(folder, marker))
    }
}

fn detect(definition: &Arc<Definition>, start: &Path, folder: &Path, search: Option<&OsStr>) -> Option<Detected> {
    let root = root(definition, start, folder)?;
    let program = program(&definition.command, &root, folder, search);
    Some(Detected::new(definition, program, &root))
}

/// The outermost folder in the workspace's that has a marker: a server that reads a project of many parts knows the
/// parts, and one for each of them would take much memory.
fn root(definition: &Definition, start: &Path, folder: &Path) -> Option<PathBuf> {
    let inside: Vec<&Path> = start.ancestors().take_while(|at| at.starts_with(folder)).collect();
    let is_marked = |at: &&&Path| definition.root_markers.iter().any(|marker| is_there(at, marker));
    inside.iter().rev().find(is_marked).map(|at| at.to_path_buf())
}

fn is_there(folder: &Path, marker: &str) -> bool {
    if !is_glob(marker) {
        return folder.join(marker).exists();
    }
    let (folder, pattern) = match marker.rsplit_once('/') {
        Some((below, pattern)) => (folder.join(below), pattern),
        None => (folder.to_owned(), marker),
    };
    let Ok(glob) = Glob::new(pattern) else { return false };
    let glob = glob.compile_matcher();
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| glob.is_match(entry.file_name()))
}

fn is_glob(marker: &str) -> bool {
    marker.contains(['*', '?', '[', '{'])
}

/// The program of a command: a path is taken as it is, from the project's folder on; a name is looked for in the
/// folders of the project and of the workspace, then where the user's programs are.
fn program(command: &str, root: &Path, folder: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    if command.contains('/') || Path::new(command).is_absolute() {
        let path = root.join(command);
        return is_program(&path).then_some(path);
    }
    let local = [root, folder].into_iter().flat_map(|folder| LOCAL.iter().map(move |local| folder.join(local)));
    local
        .map(|folder| folder.join(command))
        .find(|path| is_program(path))
        .or_else(|| users_programs(command, search).next())
}

/// The programs of a command where the user's are, in the order of `PATH`; an absolute path is taken as it is.
fn users_programs(command: &str, search: Option<&OsStr>) -> impl Iterator<Item = PathBuf> {
    let places: Vec<PathBuf> = match command.contains('/') {
        true => vec![command.into()],
        false => search.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(command)).collect(),
    };
    // A relative entry would mean another program in each folder.
    places.into_iter().filter(|path| path.is_absolute() && is_program(path))
}

/// Of each group the first whose program is there, or else the first.
fn one_of_each_group(found: Vec<Detected>) -> Vec<Detected> {
    let chosen = |group: &str| {
        let mut members = found.iter().filter(|one| one.definition.group.as_deref() == Some(group));
        let first = members.clone().next();
        members.find(|one| one.program.is_some()).or(first).map(|one| one.definition.name.clone())
    };
    let is_kept = |one: &Detected| match one.definition.group.as_deref() {
        Some(group) => chosen(group).as_deref() == Some(one.definition.name.as_str()),
        None => true,
    };
    found.iter().filter(|one| is_kept(one)).cloned().collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::super::table::Places;
    use super::*;

    struct World(tempfile::TempDir);

    impl World {
        fn new(files: &[&str]) -> Self {
            let world = Self(tempfile::tempdir().unwrap());
            for file in files {
                let path = world.path(file);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(&path, "").unwrap();
                let mode = if file.contains("bin/") { 0o755 } else { 0o644 };
                std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn detect(&self, file: &str) -> Vec<(String, Option<PathBuf>, PathBuf)> {
            let table = Table::load(Places { home: None, user: None, project: None });
            let search = self.path("users/bin");
            let found = for_file(&table, &self.path(file), &self.path("project"), Some(search.as_os_str()));
            let relative = |path: &Path| path.strip_prefix(self.0.path()).unwrap().to_owned();
            let told = |one: &Detected| {
                (one.definition.name.clone(), one.program.as_deref().map(relative), relative(&one.root))
            };
            found.iter().map(told).collect()
        }
    }

    fn found(name: &str, program: Option<&str>, root: &str) -> (String, Option<PathBuf>, PathBuf) {
        (name.to_owned(), program.map(PathBuf::from), PathBuf::from(root))
    }

    #[test]
    fn a_projects_own_program_comes_before_the_users() {
        let world = World::new(&[
            "project/pyproject.toml",
            "project/.venv/bin/pyright-langserver",
            "users/bin/pyright-langserver",
            "users/bin/ruff",
        ]);
        let pyright = found("pyright", Some("project/.venv/bin/pyright-langserver"), "project");
        assert_eq!(world.detect("project/src/a.py"), [pyright, found("ruff", Some("users/bin/ruff"), "project")]);
    }

    #[test]
    fn without_a_marker_there_is_none_and_without_a_program_it_is_said() {
        let world = World::new(&["project/sub/Cargo.toml", "users/bin/other"]);
        assert_eq!(world.detect("project/a.rs"), []);
        assert_eq!(world.detect("project/sub/src/a.rs"), [found("rust-analyzer", None, "project/sub")]);
    }

    #[test]
    fn of_a_group_the_one_that_is_there_is_used_and_a_project_of_parts_has_one_server() {
        let world = World::new(&[
            "project/app.csproj",
            "project/requirements-dev.txt",
            "project/a/setup.py",
            "users/bin/pylsp",
        ]);
        assert_eq!(world.detect("project/a/b/c.py"), [found("pylsp", Some("users/bin/pylsp"), "project")]);
        assert_eq!(world.detect("project/x.cs"), [found("omnisharp", None, "project")]);
    }

    #[test]
    fn projects_in_sub_folders_are_found_the_outermost_of_each_and_not_too_many() {
        let world = World::new(&[
            "project/back/Cargo.toml",
            "project/back/crates/one/Cargo.toml",
            "project/front/package.json",
            "project/front/node_modules/x/go.mod",
            "project/.gitignore",
            "project/left/out/go.mod",
            "project/a/main.tf",
            "project/b/main.tf",
            "project/c/main.tf",
            "project/d/main.tf",
            "project/web/prisma/schema.prisma",
            "users/bin/rust-analyzer",
        ]);
        std::fs::write(world.path("project/.gitignore"), "left\n").unwrap();
        let table = Table::load(Places { home: None, user: None, project: None });
        let found = below(&table, &world.path("project"), Some(world.path("users/bin").as_os_str()));
        let of = |name: &str| -> Vec<(PathBuf, bool)> {
            let of_name = found.iter().filter(|one| one.definition.name == name);
            let relative = |one: &Detected| one.root.strip_prefix(world.path("project")).unwrap().to_owned();
            of_name.map(|one| (relative(one), one.program.is_some())).collect()
        };
        assert_eq!(of("rust-analyzer"), [("back".into(), true)]);
        assert_eq!(of("typescript-language-server"), [("front".into(), false)]);
        assert_eq!(of("gopls"), []);
        assert_eq!(of("terraformls"), ["a", "b", "c"].map(|folder| (folder.into(), false)));
        assert_eq!(of("prismals").first(), Some(&("web".into(), false)));
    }

    #[test]
    fn a_file_that_may_not_be_run_is_no_program() {
        let world = World::new(&["project/go.mod", "project/node_modules/.bin/gopls"]);
        let path = world.path("project/node_modules/.bin/gopls");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(world.detect("project/a.go"), [found("gopls", None, "project")]);
    }
}
