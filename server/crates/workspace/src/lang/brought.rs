//! Programs that the project brings along: those that lie in it, and those that its files name or tell what to do.
//! Whoever can write the project's files decides what they do, so they start only once the user has allowed just this.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use rustix::fs::{Mode, OFlags, open};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::detect::{Detected, LOCAL};
use crate::paths::Roots;
use crate::shell::sandbox::Policy;

/// The most that is looked at of a server, in bytes: its program, and the scripts behind it. What is larger cannot be
/// allowed.
const MAX_PROGRAM: u64 = 512 << 20;

/// A language server that the project brings along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// The server's name.
    pub name: String,
    /// Its program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The files of the project that say what it is, or what it does.
    pub said_by: Vec<PathBuf>,
    /// Whether it would run in a sandbox.
    pub is_sandboxed: bool,
    /// The hash of the program, and of what those files say. It is another once either is changed, and where there is
    /// no sandbox any more.
    pub fingerprint: String,
}

/// Says which programs of the project may start.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Whether one may start. Where nobody has said, the user is asked if `asks`, which may take as long as they like.
    ///
    /// # Errors
    /// It may not, for this reason.
    async fn admit(&self, program: &Brought, asks: bool) -> Result<(), String>;
}

/// A gate that nothing passes.
pub struct Closed;

#[async_trait]
impl Gate for Closed {
    async fn admit(&self, program: &Brought, _: bool) -> Result<(), String> {
        Err(format!("{} belongs to the project, and nobody can allow it here", program.program.display()))
    }
}

/// Whether the project brings a server along: its program, what that is run by, or a file that says something of it,
/// lies in the workspace or where commands in the sandbox write. A link counts by where it lies and by where it leads.
/// `search` is the `PATH` that it gets. Asks the disk.
pub(super) fn is_brought(server: &Detected, roots: &Roots, policy: Option<&Policy>, search: Option<&OsStr>) -> bool {
    let is_theirs = |file: &PathBuf| is_theirs(file, roots, policy);
    server.program.iter().chain(&server.definition.said_by).any(is_theirs)
        || run_by(server, search).iter().chain(&toolchains(server)).any(is_theirs)
        || (server.program.as_deref().is_some_and(is_interpreter) && scripts(server).any(|script| is_theirs(&script)))
}

/// What is to be allowed of a server that the project brings along. Programs whose hashes are known are not read again,
/// but `anew`. Asks the disk.
///
/// # Errors
/// Its program cannot be read.
pub(super) fn look(
    server: &Detected,
    roots: &Roots,
    policy: Option<&Policy>,
    search: Option<&OsStr>,
    hashes: &Hashes,
    anew: bool,
) -> io::Result<Brought> {
    let program = server.program.clone().unwrap_or_default();
    let definition = &server.definition;
    let is_theirs = |file: &PathBuf| is_theirs(file, roots, policy);
    let mut said_by = definition.said_by.iter().filter(|file| is_theirs(file)).cloned().collect::<Vec<_>>();
    // What is built in is not of the project, and must not be asked for anew with each version of ours.
    let said = (!said_by.is_empty()).then(|| {
        json!([
            definition.command,
            definition.args,
            definition.init_options,
            definition.settings,
            definition.edit_commands
        ])
    });
    let (mut hashed, mut files, mut left) = (Vec::new(), HashSet::new(), MAX_PROGRAM);
    let besides: Vec<_> = run_by(server, search).into_iter().chain(toolchains(server)).filter(is_theirs).collect();
    let scripts = scripts(server).filter(is_theirs);
    let of_toolchains = besides.iter().filter_map(|file| of_toolchain(file, server));
    for file in std::iter::once(program.clone()).chain(scripts).chain(besides.iter().cloned()).chain(of_toolchains) {
        if files.insert(file.clone()) {
            let (length, hash) = hashes.of(&file, left, anew)?;
            left = left.saturating_sub(length);
            hashed.push(hash);
        }
    }
    said_by.extend(besides);
    let mut all = json!([definition.name, program.to_string_lossy(), said, hashed]).to_string();
    let is_sandboxed = policy.is_some();
    if !is_sandboxed {
        all.push_str(" without a sandbox");
    }
    Ok(Brought {
        name: definition.name.clone(),
        program,
        args: definition.args.clone(),
        said_by,
        is_sandboxed,
        fingerprint: in_digits(Sha256::digest(all)),
    })
}

/// The files that its arguments name: by their paths, as modules of Python, or as programs of the project; and those in
/// which its program reads what it is to run.
fn scripts(server: &Detected) -> impl Iterator<Item = PathBuf> {
    let words: Vec<&str> = server.definition.args.iter().flat_map(|arg| words(arg)).collect();
    let local = |word: &str| LOCAL.iter().map(|folder| Path::new(folder).join(word)).collect::<Vec<_>>();
    let named = words.iter().flat_map(|word| local(word).into_iter().chain([PathBuf::from(word)]));
    let mut files: Vec<PathBuf> = named.chain(modules(&words)).map(|file| server.root.join(file)).collect();
    let read = || READERS.iter().filter(|(names, _)| server.program.as_deref().is_some_and(|it| is_one_of(it, names)));
    for folder in server.root.ancestors() {
        files.extend(read().flat_map(|(_, read)| *read).map(|file| folder.join(file)));
    }
    files.into_iter().filter(|file| file.is_file())
}

/// Where Python looks in a folder for the modules that it is told to run (`-m a.b`), and for what they lie in.
fn modules(words: &[&str]) -> Vec<PathBuf> {
    let is_flag = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('m');
    let behind = words.windows(2).filter_map(|pair| Some((pair.first()?, pair.get(1)?)));
    let behind = behind.filter(|(flag, _)| is_flag(flag)).map(|(_, name)| *name);
    let glued = words.iter().filter_map(|word| word.strip_prefix("-m"));
    let names = behind.chain(glued).filter(|name| !name.is_empty()).map(|name| PathBuf::from(name.replace('.', "/")));
    let files = names.flat_map(|name| {
        let above =
            name.ancestors().filter(|folder| folder.parent().is_some()).map(|folder| folder.join("__init__.py"));
        above.chain([name.with_extension("py"), name.join("__main__.py")]).collect::<Vec<_>>()
    });
    files.collect()
}

/// Programs that run what files of the project's folder, or of one above it, say.
const READERS: &[(&[&str], &[&str])] = &[
    (&["bundle", "bundler"], &["Gemfile", "gems.rb", ".bundle/config"]),
    (&["just"], &["justfile", "Justfile", ".justfile"]),
    (&["gmake", "make"], &["GNUmakefile", "Makefile", "makefile"]),
    (&["mix"], &["mix.exs"]),
    (&["bun", "npm", "pnpm", "yarn"], &["package.json", ".yarnrc.yml"]),
    (&["hatch", "pdm", "poetry", "rye", "uv"], &["pyproject.toml"]),
    (&["pipenv"], &["Pipfile"]),
    (&["rake"], &["Rakefile"]),
];

/// Whether a program runs what its arguments name, or files of the project's.
fn is_interpreter(program: &Path) -> bool {
    const NAMES: &[&str] = &[
        "R",
        "Rscript",
        "ash",
        "bash",
        "bun",
        "bunx",
        "busybox",
        "clj",
        "clojure",
        "corepack",
        "dart",
        "dash",
        "deno",
        "direnv",
        "doas",
        "dotnet",
        "elixir",
        "env",
        "erl",
        "escript",
        "fish",
        "gjs",
        "groovy",
        "guile",
        "iex",
        "java",
        "julia",
        "ksh",
        "lua",
        "luajit",
        "mise",
        "nice",
        "nix",
        "nix-shell",
        "node",
        "nodejs",
        "nohup",
        "npx",
        "nu",
        "perl",
        "php",
        "pipx",
        "pnpx",
        "pwsh",
        "pypy",
        "python",
        "racket",
        "raku",
        "ruby",
        "sbcl",
        "scala",
        "setsid",
        "sh",
        "stdbuf",
        "sudo",
        "tclsh",
        "timeout",
        "ts-node",
        "tsx",
        "uvx",
        "xonsh",
        "zsh",
    ];
    is_one_of(program, NAMES) || READERS.iter().any(|(names, _)| is_one_of(program, names))
}

/// Whether a program has one of these names, whichever version stands behind it.
fn is_one_of(program: &Path, names: &[&str]) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    names.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// What runs its program where that is a script, by the first line of each: `PATH` may have a folder of the project
/// first, which other programs need, such as the interpreter whose packages a server tells of.
fn run_by(server: &Detected, search: Option<&OsStr>) -> Vec<PathBuf> {
    /// The kernel follows no more.
    const MOST: usize = 5;
    let first = server.program.clone();
    let all = std::iter::successors(first, |program| interpreter(program, search));
    all.skip(1).take(MOST).collect()
}

fn interpreter(program: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    /// What the kernel looks at.
    const MOST: u64 = 256;
    let text = beginning(program, MOST).ok()?;
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace();
    let first = PathBuf::from(words.next()?);
    if first.file_name().is_none_or(|name| name != "env") {
        return Some(first);
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    let mut found = search.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(name));
    found.find(|path| path.is_file())
}

/// How much is looked at of a file that may name a toolchain. It is some lines long.
const MOST_OF_TOOLCHAIN: u64 = 64 << 10;

/// The files that may name a toolchain by its path to rustup, where the server's program is one of rustup's: it runs
/// that of the toolchain.
fn toolchains(server: &Detected) -> Vec<PathBuf> {
    let Some(program) = server.program.as_deref() else { return Vec::new() };
    let is_rustups = || program.canonicalize().is_ok_and(|it| it.file_name().is_some_and(|name| name == "rustup"));
    if !program.with_file_name("rustup").is_file() && !is_rustups() {
        return Vec::new();
    }
    let names = |file: &PathBuf| match beginning(file, MOST_OF_TOOLCHAIN) {
        // A key may be written with escapes, or stand behind what was read.
        Ok(text) => text.contains("path") || text.contains('\\') || text.len() as u64 >= MOST_OF_TOOLCHAIN,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let files = server.root.ancestors();
    let files = files.flat_map(|folder| ["rust-toolchain.toml", "rust-toolchain"].map(|name| folder.join(name)));
    files.filter(|file| !file.is_dir()).filter(names).collect()
}

/// The program that rustup runs in the place of the server's, by such a file.
fn of_toolchain(file: &Path, server: &Detected) -> Option<PathBuf> {
    let is_one = file.file_name().is_some_and(|name| name == "rust-toolchain.toml" || name == "rust-toolchain");
    let text = is_one.then(|| beginning(file, MOST_OF_TOOLCHAIN).ok()).flatten()?;
    let said: toml::Table = text.parse().ok()?;
    let path = Path::new(said.get("toolchain")?.get("path")?.as_str()?);
    // Rustup is started in the server's folder.
    let folder =
        path.strip_prefix("/proc/self/cwd").map_or_else(|_| file.with_file_name(path), |it| server.root.join(it));
    let program = folder.join("bin").join(server.program.as_deref()?.file_name()?);
    program.is_file().then_some(program)
}

/// What a regular file begins with.
fn beginning(path: &Path, most: u64) -> io::Result<String> {
    // A pipe would be waited for, and a device never ends.
    let file = File::from(open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What may name a script in an argument: where the program is an interpreter, all of it, or in code for a shell (`-c`)
/// a word.
fn words(arg: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`;&|()<>{}$=".contains(c);
    std::iter::once(arg).chain(arg.split(is_between)).filter(|word| !word.is_empty())
}

fn is_theirs(path: &Path, roots: &Roots, policy: Option<&Policy>) -> bool {
    let resolved = path.canonicalize();
    let written = || policy.into_iter().flat_map(|policy| policy.write.iter().chain(&policy.read_only));
    [Some(path), resolved.as_deref().ok()].into_iter().flatten().any(|path| {
        roots.iter().any(|root| path.starts_with(&root.path)) || written().any(|folder| path.starts_with(folder))
    })
}

/// The hashes of files that were read, so that a large one is not read for every question. They say what is to be asked
/// for, and not what may start: a file that is mapped into memory can be written without a trace in its times.
#[derive(Debug, Default)]
pub(super) struct Hashes(Mutex<HashMap<PathBuf, ([i64; 7], String)>>);

impl Hashes {
    /// The length of a file of `most` bytes, and its hash, as it was read when its times were the same, or `anew`.
    fn of(&self, path: &Path, most: u64, anew: bool) -> io::Result<(u64, String)> {
        // A pipe would be waited for, and a device never ends.
        let file = File::from(open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?);
        let data = file.metadata()?;
        if !data.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        let stamp = stamp(&data);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !anew && let Some((_, hash)) = known().get(path).filter(|(of, _)| *of == stamp) {
            return Ok((data.size(), hash.clone()));
        }
        let (length, hash) = hash(file, most)?;
        known().insert(path.to_owned(), (stamp, hash.clone()));
        Ok((length, hash))
    }
}

/// Which file it is, and when it was last written.
fn stamp(data: &Metadata) -> [i64; 7] {
    let [dev, ino, size] = [data.dev(), data.ino(), data.size()].map(u64::cast_signed);
    [dev, ino, size, data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec()]
}

fn hash(file: File, most: u64) -> io::Result<(u64, String)> {
    let mut file = file.take(most + 1);
    let (mut hash, mut buffer, mut length) = (Sha256::new(), vec![0; 64 << 10], 0);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok((length, in_digits(hash.finalize())));
        }
        length += count as u64;
        if length > most {
            let most = MAX_PROGRAM >> 20;
            return Err(io::Error::other(format!("it is larger than {most} MiB, with the scripts that it is given")));
        }
        hash.update(buffer.get(..count).unwrap_or_default());
    }
}

fn in_digits(hash: impl AsRef<[u8]>) -> String {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
mod tests {
    use protocol::terminal::SandboxMode;

    use super::super::table::{Places, Table};
    use super::*;
    use crate::shell::sandbox::{Settings, World};

    #[test]
    fn a_hash_that_is_known_is_used_until_the_file_is_written_or_it_is_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, "one").unwrap();
        let hashes = Hashes::default();
        let of = |anew: bool| hashes.of(&path, 6, anew).unwrap().1;
        let one = of(false);
        assert_eq!(one, in_digits(Sha256::digest("one")));
        let known = |hash: &str| (stamp(&path.metadata().unwrap()), hash.to_owned());
        hashes.0.lock().unwrap().insert(path.clone(), known("known"));
        assert_eq!(of(false), "known");
        assert_eq!(of(true), one);
        assert_eq!(of(false), one);
        std::fs::write(&path, "longer").unwrap();
        assert_eq!(of(false), in_digits(Sha256::digest("longer")));
        std::fs::write(&path, "more than 6").unwrap();
        assert!(hashes.of(&path, 6, false).is_err());
    }

    #[test]
    fn what_was_allowed_in_a_sandbox_is_asked_for_again_where_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().canonicalize().unwrap().join("program");
        std::fs::write(&program, "one").unwrap();
        let definition = Table::load(Places { home: None, user: None, project: None }).servers[0].clone();
        let root = folder.path().to_owned();
        let server = Detected {
            definition,
            program: Some(program),
            root,
            is_brought: true,
            allowed: None,
            only_as_it_runs: false,
        };
        let roots = Roots::new([folder.path()]).unwrap();
        let world =
            World { folders: &[], repositories: &[], own: &[], denied: &[], credentials: &[], environment: &|_| None };
        let policy = Policy::new(&Settings::default(), &world);
        let looked = |policy: Option<&Policy>| look(&server, &roots, policy, None, &Hashes::default(), true).unwrap();
        let (with, without) = (looked(policy.as_ref()), looked(None));
        assert!(with.is_sandboxed && !without.is_sandboxed);
        assert_ne!(with.fingerprint, without.fingerprint);
        assert_eq!(with, looked(policy.as_ref()));
    }

    #[test]
    fn what_commands_of_other_sessions_write_is_the_projects_where_they_only_read_too() {
        // Not among temporary ones, which are nobody's.
        let is_root = rustix::process::geteuid().is_root();
        let base = if is_root { PathBuf::from("/srv") } else { std::env::var_os("HOME").unwrap().into() };
        std::fs::create_dir_all(&base).unwrap();
        let folder = tempfile::Builder::new().prefix("azimuth-brought-").tempdir_in(base).unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let (cached, own) = (at("ada/.npm/_npx/1/program"), at("ada/tools/bin/program"));
        for program in [&cached, &own] {
            std::fs::create_dir_all(program.parent().unwrap()).unwrap();
            std::fs::write(program, "").unwrap();
        }
        std::fs::create_dir_all(at("project")).unwrap();
        let environment = |name: &str| match name {
            "HOME" => Some(at("ada").into()),
            "PATH" => Some(at("ada/tools/bin").into()),
            _ => None,
        };
        let folders = [at("project")];
        let world = World {
            folders: &folders,
            repositories: &[],
            own: &[],
            denied: &[],
            credentials: &[],
            environment: &environment,
        };
        let roots = Roots::new(&folders).unwrap();
        for mode in [SandboxMode::WorkspaceWrite, SandboxMode::ReadOnly] {
            let policy = Policy::new(&Settings { mode, ..Settings::default() }, &world).map(Policy::resolved);
            assert!(is_theirs(&cached, &roots, policy.as_ref()), "{mode:?}");
            assert!(!is_theirs(&own, &roots, policy.as_ref()), "{mode:?}");
        }
    }

    /// A server that is started in a project with this program and these arguments.
    fn server(root: &Path, program: &Path, args: &[&str]) -> Detected {
        let mut definition = (*Table::load(Places { home: None, user: None, project: None }).servers[0]).clone();
        definition.args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Detected {
            definition: definition.into(),
            program: Some(program.to_owned()),
            root: root.to_owned(),
            is_brought: false,
            allowed: None,
            only_as_it_runs: false,
        }
    }

    fn write(file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    #[test]
    fn a_toolchain_is_found_in_a_file_however_long_it_is_and_its_program_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for program in ["users/bin/rustup", "users/bin/server", "elsewhere/bin/server"] {
            write(&at(program), "one");
        }
        std::fs::create_dir(at("project")).unwrap();
        let roots = Roots::new([at("project")]).unwrap();
        let server = server(&at("project"), &at("users/bin/server"), &[]);
        let named = format!("[toolchain]\npath = \"{}\"\n", at("elsewhere").display());
        let file = at("project/rust-toolchain.toml");
        write(&file, "[toolchain]\nchannel = \"stable\"\n");
        assert!(!is_brought(&server, &roots, None, None));
        for text in [format!("# {}\n{named}", "x".repeat(70_000)), named] {
            write(&file, &text);
            assert!(is_brought(&server, &roots, None, None));
        }
        let looked = || look(&server, &roots, None, None, &Hashes::default(), true).unwrap().fingerprint;
        let before = looked();
        write(&at("elsewhere/bin/server"), "two");
        assert_ne!(before, looked());
    }

    #[test]
    fn a_server_is_brought_along_where_a_program_of_the_users_runs_what_lies_in_the_project() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for (file, program, args) in [
            ("pylsp/__main__.py", "python3", &["-m", "pylsp"][..]),
            ("pylsp/__init__.py", "python3.12", &["-Im", "pylsp"]),
            ("pylsp.py", "python", &["-mpylsp"]),
            ("a/__init__.py", "python", &["-m", "a.b"]),
            ("a/b.py", "sh", &["-c", "exec python -m a.b"]),
            ("server.ts", "deno", &["run", "-A", "server.ts"]),
            ("server.ts", "tsx", &["./server.ts"]),
            ("x.fish", "fish", &["x.fish"]),
            (".venv/bin/pylsp", "poetry", &["run", "pylsp"]),
            ("node_modules/.bin/ls", "npx", &["ls", "--stdio"]),
            ("Gemfile", "bundle", &["exec", "solargraph", "stdio"]),
            ("server.js", "nice", &["node", "server.js"]),
        ] {
            let (project, program) = (at("project"), at("users").join(program));
            std::fs::create_dir(&project).unwrap();
            write(&program, "");
            let server = server(&project, &program, args);
            let roots = Roots::new([&project]).unwrap();
            assert!(!is_brought(&server, &roots, None, None), "{program:?} {args:?}");
            write(&project.join(file), "one");
            assert!(is_brought(&server, &roots, None, None), "{program:?} {args:?}");
            let looked = || look(&server, &roots, None, None, &Hashes::default(), true).unwrap().fingerprint;
            let before = looked();
            write(&project.join(file), "two");
            assert_ne!(before, looked(), "{program:?} {args:?}");
            std::fs::remove_dir_all(project).unwrap();
        }
    }

    #[test]
    fn the_words_of_a_shells_code_are_found_between_its_signs() {
        for code in
            ["exec ./x.sh", "cd a&&(. './x.sh';true)", "a|b \"$(<./x.sh)\"", "A=./x.sh b", "./x.sh", "{ ./x.sh;}"]
        {
            assert!(words(code).any(|word| word == "./x.sh"), "{code}");
        }
        assert!(words("a b.sh").any(|word| word == "a b.sh"), "one of its name with a blank");
    }
}
