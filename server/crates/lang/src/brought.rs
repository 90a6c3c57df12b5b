//! Programs that the project brings along: those that lie in it, and those that its files name or tell what to do.
//! Whoever can write the project's files decides what they do, so they start only once the user has allowed just this.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use process::programs;
use process::sandbox::Policy;
use project::paths::Roots;
use rustix::fs::{Mode, OFlags, open};
use serde_json::json;
use sha2::{Digest, Sha256};

use self::line::Reach;
use super::detect::Detected;

mod line;

mod runners;

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
    /// True if no file of the project says anything of it: its program is the one that the user has chosen, or that is
    /// found by a name which is built in.
    pub is_users_choice: bool,
    /// True if it would run in a sandbox.
    pub is_sandboxed: bool,
    /// The hash of the program, and of what those files say. It is another once either is changed, and where there is
    /// no sandbox any more.
    pub fingerprint: String,
}

/// Says which programs of the project may start.
#[async_trait]
pub trait Gate: Send + Sync {
    /// True if one may start. Where nobody has said, the user is asked if `asks`, which may take as long as they like.
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

/// The folders that count as the project's.
pub(super) struct Ground<'a> {
    folders: Vec<PathBuf>,
    is_sandboxed: bool,
    search: Option<&'a OsStr>,
}

impl<'a> Ground<'a> {
    /// The workspace, the folders of these sessions, and where commands in the sandbox write, but for temporary
    /// folders. `search` is the `PATH` that servers get.
    pub(super) fn new(
        roots: &Roots,
        policy: Option<&Policy>,
        sessions: Vec<PathBuf>,
        search: Option<&'a OsStr>,
    ) -> Self {
        let mut folders = sessions;
        folders.extend(roots.iter().map(|root| root.path.clone()));
        folders.extend(policy.into_iter().flat_map(|policy| policy.write.iter().chain(&policy.read_only)).cloned());
        Self { folders, is_sandboxed: policy.is_some(), search }
    }

    /// True if a file or folder is the project's. A link counts by where it lies and by where it leads. Asks the disk.
    fn has(&self, path: &Path) -> bool {
        programs::lies_in(path, &self.folders)
    }
}

/// True if the project brings a server along: its program, what that is run by or told to run, or a file that says
/// something of it is the project's. Asks the disk.
pub(super) fn is_brought(server: &Detected, ground: &Ground<'_>) -> bool {
    let parts = Parts::of(server, ground);
    let has = |file: &PathBuf| ground.has(file);
    server.program.iter().chain(&server.definition.said_by).any(has)
        || !parts.files.is_empty()
        || !parts.modules.is_empty()
}

/// Returns what is to be allowed of a server that the project brings along. Programs whose hashes are known are not
/// read again, but `anew`. Asks the disk.
///
/// # Errors
/// Its program cannot be read.
pub(super) fn look(server: &Detected, ground: &Ground<'_>, hashes: &Hashes, anew: bool) -> io::Result<Brought> {
    let program = server.program.clone().unwrap_or_default();
    let definition = &server.definition;
    let mut said_by = definition.said_by.iter().filter(|file| ground.has(file)).cloned().collect::<Vec<_>>();
    // A built-in definition is not the project's, and must not be asked for again with each version of ours.
    let said = (!said_by.is_empty()).then(|| {
        json!([
            definition.command,
            definition.args,
            definition.init_options,
            definition.settings,
            definition.edit_commands
        ])
    });
    let parts = Parts::of(server, ground);
    let of_toolchains = parts.files.iter().flat_map(|file| of_toolchain(file, &parts.programs, &server.root));
    let (mut files, mut left) = (parts.files.clone(), MAX_PROGRAM);
    files.extend(of_toolchains);
    files.remove(&program);
    let mut hash = |file: &Path| -> io::Result<String> {
        let (length, hash) = hashes.of(file, left, anew)?;
        left = left.saturating_sub(length);
        Ok(hash)
    };
    let mut hashed = vec![json!(hash(&program)?)];
    let logs = logs(&definition.args, &server.root);
    for file in &files {
        let hash = if is_by_name(file, &logs) { None } else { Some(hash(file)?) };
        hashed.push(json!([file.to_string_lossy(), hash]));
    }
    if !parts.modules.is_empty() {
        // Their names are those of many projects.
        hashed.push(json!([server.root.to_string_lossy(), parts.modules]));
        said_by.push(server.root.clone());
    }
    said_by.extend(files);
    let mut all = json!([definition.name, program.to_string_lossy(), said, hashed]).to_string();
    if !ground.is_sandboxed {
        all.push_str(" without a sandbox");
    }
    Ok(Brought {
        name: definition.name.clone(),
        program,
        args: definition.args.clone(),
        said_by,
        is_users_choice: said.is_none(),
        is_sandboxed: ground.is_sandboxed,
        fingerprint: in_digits(Sha256::digest(all)),
    })
}

/// True if a file counts by its name alone. What is loaded of a folder is not known, but for what is named in it; and
/// what is said over a socket, or written to a log that the server is told of as one, is no part of what runs.
fn is_by_name(file: &Path, logs: &BTreeSet<PathBuf>) -> bool {
    file.metadata().is_ok_and(|data| data.is_dir() || data.file_type().is_socket()) || logs.contains(file)
}

/// The files that a command line names as logs: behind an option of that name, with that ending.
fn logs(args: &[String], root: &Path) -> BTreeSet<PathBuf> {
    let is_option = |word: &str| word.starts_with('-') && word.to_ascii_lowercase().contains("log");
    let glued = args.iter().filter_map(|arg| arg.split_once('='));
    let behind = args.iter().zip(args.iter().skip(1)).map(|(option, value)| (option.as_str(), value.as_str()));
    let values = glued.chain(behind).filter(|(option, _)| is_option(option)).map(|(_, value)| value);
    let files = values.map(|value| root.join(value).components().collect::<PathBuf>());
    files.filter(|file| file.extension().is_some_and(|ending| ending == "log")).collect()
}

/// The parts of a server that are the project's, beside its program and the files that say something of it.
struct Parts {
    /// The files and folders that say what runs, or are run.
    files: BTreeSet<PathBuf>,
    /// The names of modules that Python takes from the project before all others.
    modules: BTreeSet<String>,
    /// Its program and those that its command line names, whosever they are.
    programs: Vec<PathBuf>,
}

impl Parts {
    fn of(server: &Detected, ground: &Ground<'_>) -> Self {
        let reach = server
            .program
            .as_deref()
            .map(|program| line::reach(program, &server.definition.args, &server.root, ground.search));
        let Reach { named, around, programs: named_programs, modules } = reach.unwrap_or_default();
        let programs: Vec<PathBuf> = server.program.iter().chain(&named_programs).cloned().collect();
        let run_by = programs.iter().flat_map(|program| run_by(program, ground.search));
        let toolchains = toolchains(&programs, &server.root);
        let files = named.into_iter().chain(named_programs.iter().cloned()).chain(run_by).chain(toolchains);
        let files = files.filter(|file| ground.has(file)).chain(around).collect();
        let modules = modules.into_iter().filter(|file| ground.has(file));
        let name = |file: PathBuf| file.file_name().map(|name| name.to_string_lossy().into_owned());
        Self { files, modules: modules.filter_map(name).collect(), programs }
    }
}

/// Returns the programs that run a program that is a script, by the first line of each: `PATH` may have a folder of the
/// project first, which other programs need, such as the interpreter whose packages a server tells of.
fn run_by(program: &Path, search: Option<&OsStr>) -> Vec<PathBuf> {
    /// The kernel follows no more.
    const MOST: usize = 5;
    let all = std::iter::successors(Some(program.to_owned()), |program| interpreter(program, search));
    all.skip(1).take(MOST).collect()
}

fn interpreter(program: &Path, search: Option<&OsStr>) -> Option<PathBuf> {
    /// The number of bytes that the kernel looks at.
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

/// The files that may name a toolchain by its path to rustup, where one of these programs is one of rustup's: it runs
/// that of the toolchain.
fn toolchains(programs: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    let is_rustups = |program: &PathBuf| {
        program.with_file_name("rustup").is_file()
            || program.canonicalize().is_ok_and(|it| it.file_name().is_some_and(|name| name == "rustup"))
    };
    if !programs.iter().any(is_rustups) {
        return Vec::new();
    }
    let names = |file: &PathBuf| match beginning(file, MOST_OF_TOOLCHAIN) {
        // A key may be written with escapes, or stand behind what was read.
        Ok(text) => text.contains("path") || text.contains('\\') || text.len() as u64 >= MOST_OF_TOOLCHAIN,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let files = root.ancestors();
    let files = files.flat_map(|folder| ["rust-toolchain.toml", "rust-toolchain"].map(|name| folder.join(name)));
    files.filter(|file| !file.is_dir()).filter(names).collect()
}

/// The programs that rustup runs in the place of these, by such a file.
fn of_toolchain(file: &Path, programs: &[PathBuf], root: &Path) -> Vec<PathBuf> {
    let named = || {
        let is_one = file.file_name().is_some_and(|name| name == "rust-toolchain.toml" || name == "rust-toolchain");
        let text = is_one.then(|| beginning(file, MOST_OF_TOOLCHAIN).ok()).flatten()?;
        let said: toml::Table = text.parse().ok()?;
        let path = Path::new(said.get("toolchain")?.get("path")?.as_str()?);
        // Rustup is started in the server's folder.
        let inside = path.strip_prefix("/proc/self/cwd");
        Some(inside.map_or_else(|_| file.with_file_name(path), |it| root.join(it)).join("bin"))
    };
    let Some(folder) = named() else { return Vec::new() };
    let programs = programs.iter().filter_map(|program| Some(folder.join(program.file_name()?)));
    programs.filter(|program| program.is_file()).collect()
}

/// Reads the beginning of a regular file, up to so many bytes.
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

/// Returns which file it is, and when it was last written.
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
mod tests;
