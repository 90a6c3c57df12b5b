//! The settings that git reads in the sandbox in place of settings of the user's that commands may not read. It would
//! stop at them, and without any it would not know whose commits it makes.
//!
//! The copies lie in our data folder, each named by its text, and are shared by all sessions. A process that uses one
//! holds a lock on it; those that nobody holds are removed.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use platform::open;
use sha2::{Digest, Sha256};

use self::text::{Item, in_settings, of_condition, parsed};
use super::super::secrets::settings_hold_secret;
use super::{Policy, Use, path_in};

mod text;

/// Git includes files no deeper.
const DEEPEST: usize = 10;
/// So many files of settings are looked at, since each may include many.
const MOST_FILES: usize = 256;
/// Such settings are some lines long, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// How the names of files begin that are not yet written.
const TEMPORARY: &str = ".tmp";

/// The copies that this process uses.
static USED: Mutex<BTreeMap<PathBuf, File>> = Mutex::new(BTreeMap::new());

/// The part of a file that commands may know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Everything.
    All,
    /// All but the lines in which credentials stand.
    Plain,
    /// The name and the address that every commit shows.
    Name,
}

/// The settings that git is given, as [`Policy::git`] has them.
pub(super) fn settings(policy: &Policy, environment: &dyn Fn(&str) -> Option<OsString>, folder: &Path) -> Vec<PathBuf> {
    let set = |name: &str| path_in(environment(name).as_deref());
    let home = set("HOME");
    let files = match set("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![file],
        None => {
            let folder = set("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
            let of_home = home.as_ref().map(|home| home.join(".gitconfig"));
            folder.map(|folder| folder.join("git/config")).into_iter().chain(of_home).collect()
        }
    };
    let mut copies = Copies { policy, home, folder, seen: HashMap::new(), made: Vec::new() };
    let read: Vec<Read> = files.iter().filter_map(|file| copies.read(file, 0)).collect();
    let first = read.iter().any(|read| !read.is_open).then(|| {
        let text: String = read.iter().map(|read| read.text.as_str()).collect();
        copies.add(text)
    });
    let made = if first.is_some() { copies.made } else { Vec::new() };
    let kept = keep(folder, &made);
    let Some(first) = first else { return Vec::new() };
    // Without settings git goes on, at least.
    if let Err(error) = kept {
        tracing::warn!(%error, "git gets no settings in the sandbox");
        return vec![PathBuf::from("/dev/null")];
    }
    [first].into_iter().chain(made.into_iter().map(|(path, _)| path)).collect()
}

struct Copies<'a> {
    policy: &'a Policy,
    home: Option<PathBuf>,
    folder: &'a Path,
    /// The files that were read already; none for one that is being read.
    seen: HashMap<PathBuf, Option<Read>>,
    /// The texts that are to be written, by path.
    made: Vec<(PathBuf, String)>,
}

/// The text that git is to read of a file.
#[derive(Clone)]
struct Read {
    text: String,
    /// True if it can read the file itself, and all that this includes.
    is_open: bool,
}

impl Copies<'_> {
    /// Returns what git is to read of a file; `None` if it is to find out for itself.
    fn read(&mut self, file: &Path, depth: usize) -> Option<Read> {
        if let Some(read) = self.seen.get(file) {
            return read.clone();
        }
        let real = file.canonicalize().ok().filter(|_| depth <= DEEPEST && self.seen.len() < MOST_FILES)?;
        self.seen.insert(file.to_owned(), None);
        let is_hidden_for_credentials = || self.policy.credentials.iter().any(|hidden| real.starts_with(hidden));
        let kept = match self.policy.allows(&real, Use::Read) {
            true => Kept::All,
            false if is_hidden_for_credentials() => Kept::Plain,
            false => Kept::Name,
        };
        // A file that a command may write may also have been led elsewhere by it just now.
        let text = match open::bytes(&real, MOST_BYTES) {
            Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
            _ if kept == Kept::All => return None,
            _ => String::new(),
        };
        let items = parsed(&text);
        let read = self.told(&items, file, &real, kept, depth);
        // A secret that shows only in the whole text is in none of its settings.
        let read = if kept == Kept::Plain && settings_hold_secret(&read.text) {
            self.told(&items, file, &real, Kept::Name, depth)
        } else {
            read
        };
        self.seen.insert(file.to_owned(), Some(read.clone()));
        Some(read)
    }

    fn told(&mut self, items: &[Item], file: &Path, real: &Path, kept: Kept, depth: usize) -> Read {
        let mut read = Read { text: String::new(), is_open: kept == Kept::All };
        let (mut section, mut is_left_out) = (String::new(), false);
        for item in items {
            let (name, value) = match item {
                Item::Section(header) => {
                    section = header.to_ascii_lowercase();
                    let is_of_name = section == "user" || includes(&section);
                    is_left_out =
                        (kept != Kept::All && settings_hold_secret(header)) || (kept == Kept::Name && !is_of_name);
                    if !is_left_out {
                        read.text.push_str(&format!("[{}]\n", of_condition(header, real)));
                    }
                    continue;
                }
                Item::Setting(name, value) => (name, value.as_deref()),
            };
            let is_include = includes(&section) && name.eq_ignore_ascii_case("path");
            let is_secret = match kept {
                Kept::All => false,
                Kept::Plain => settings_hold_secret(&format!("{name} = {}", value.unwrap_or_default())),
                Kept::Name => !is_include && !["name", "email"].iter().any(|it| name.eq_ignore_ascii_case(it)),
            };
            if is_left_out || is_secret {
                continue;
            }
            let included = value.filter(|_| is_include).and_then(|value| self.included(value, file, depth));
            read.is_open &= included.as_ref().is_none_or(|(_, is_open)| *is_open);
            let value = included.map(|(path, _)| path.to_string_lossy().into_owned()).or(value.map(str::to_owned));
            read.text.push_str(&in_settings(name, value.as_deref()));
        }
        read
    }

    /// Where what a file includes is to be read, and whether that is the file itself; none if it stays as it is
    /// written.
    fn included(&mut self, value: &str, file: &Path, depth: usize) -> Option<(PathBuf, bool)> {
        let path = match value.strip_prefix("~/") {
            Some(below) => self.home.as_ref()?.join(below),
            None if value.starts_with(['~', '%']) => return None,
            None => file.parent().unwrap_or(file).join(value),
        };
        Some(match self.read(&path, depth + 1) {
            Some(Read { text, is_open: false }) => (self.add(text), false),
            _ => (path, true),
        })
    }

    /// Takes up a text, under a name that no other text has: a shell that runs keeps what it has been granted.
    fn add(&mut self, text: String) -> PathBuf {
        let sum: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.folder.join(sum);
        if !self.made.iter().any(|(known, _)| *known == path) {
            self.made.push((path.clone(), text));
        }
        path
    }
}

/// True if a section, in lower case, names files that are read too.
fn includes(section: &str) -> bool {
    section == "include" || section.starts_with("includeif ") || section.starts_with("includeif.")
}

/// Has these copies be there as long as this process lives, and removes those that no process uses.
fn keep(folder: &Path, made: &[(PathBuf, String)]) -> io::Result<()> {
    if made.is_empty() && !folder.is_dir() {
        return Ok(());
    }
    kept(&mut USED.lock().unwrap_or_else(PoisonError::into_inner), folder, made)
}

/// The same, with the copies that this process uses.
fn kept(used: &mut BTreeMap<PathBuf, File>, folder: &Path, made: &[(PathBuf, String)]) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for (path, text) in made {
        if !(used.contains_key(path) && path.exists()) {
            used.insert(path.clone(), held(folder, path, text)?);
        }
    }
    for entry in folder.read_dir()?.flatten() {
        let path = entry.path();
        if used.contains_key(&path) || !(is_copy(&path) || is_left_behind(&path)) {
            continue;
        }
        let Ok(file) = opened(&path) else { continue };
        // Who is about to use it waits for this lock, which is held until it is gone, and sees then that it is. Another
        // process may have removed it before, and a new one may lie there.
        if file.try_lock().is_ok() && file.metadata().is_ok_and(|data| data.nlink() > 0) {
            remove(&path);
        }
    }
    Ok(())
}

/// True if a file is named as copies are.
fn is_copy(path: &Path) -> bool {
    let is_sum = |name: &str| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    path.file_name().and_then(OsStr::to_str).is_some_and(is_sum)
}

/// True if a file is one that somebody began to write and then ended. One that is written just now has no lock yet.
fn is_left_behind(path: &Path) -> bool {
    /// They are written in some thousandths of a second.
    const LONG: Duration = Duration::from_secs(24 * 60 * 60);
    let is_temporary = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()));
    let written = || path.symlink_metadata().and_then(|data| data.modified()).ok();
    is_temporary && written().and_then(|time| time.elapsed().ok()).is_some_and(|age| age > LONG)
}

/// A copy with a lock that keeps it from being removed; written where it is not there.
fn held(folder: &Path, path: &Path, text: &str) -> io::Result<File> {
    loop {
        let file = match opened(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(folder)?;
                file.write_all(text.as_bytes())?;
                let _ = file.as_file().lock_shared();
                match file.persist_noclobber(path) {
                    // Another process was faster, or has cleaned up.
                    Err(error)
                        if matches!(error.error.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) =>
                    {
                        continue;
                    }
                    persisted => return Ok(persisted?),
                }
            }
            opened => opened?,
        };
        // Where a file system knows no locks, nothing is removed either.
        let _ = file.lock_shared();
        if file.metadata()?.nlink() > 0 {
            return Ok(file);
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "our copies are no project files")]
fn opened(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[expect(clippy::disallowed_methods, reason = "our copies are no project files")]
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "our copies are no project files")]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Names the folder of copies to the processes that a test starts of itself, and the round that each begins with.
    const FOLDER: &str = "AZIMUTH_TEST_COPIES";
    const BEGIN: &str = "AZIMUTH_TEST_BEGIN";

    #[test]
    fn a_copy_stays_while_it_is_used_though_another_process_cleans_up() {
        if let Some(folder) = std::env::var_os(FOLDER) {
            return use_copies(Path::new(&folder));
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, module) = module_path!().split_once("::").unwrap();
        let name = format!("{module}::a_copy_stays_while_it_is_used_though_another_process_cleans_up");
        let start = |begin: &str| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args([&name, "--exact"]).env(FOLDER, folder.path()).env(BEGIN, begin);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        for process in ["0", "1", "2"].map(start) {
            let output = process.wait_with_output().unwrap();
            let told = [output.stdout, output.stderr].concat();
            let told = String::from_utf8_lossy(&told);
            assert!(output.status.success() && told.contains("1 passed"), "{told}");
        }
    }

    /// Begins and ends with copies as sessions do, and as other processes do at the same time.
    fn use_copies(folder: &Path) {
        let begin: usize = std::env::var(BEGIN).unwrap().parse().unwrap();
        for round in begin..begin + 6000 {
            let text = ["a", "b"][round % 2].repeat(64);
            let path = folder.join(&text);
            let mut used = BTreeMap::new();
            kept(&mut used, folder, &[(path.clone(), text.clone())]).unwrap();
            for _ in 0..3 {
                std::thread::yield_now();
                assert_eq!(std::fs::read_to_string(&path).ok(), Some(text.clone()), "in round {round}");
            }
        }
    }

    #[test]
    fn what_nobody_uses_is_removed_and_what_is_just_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (unused, old, new) = (at(&"0".repeat(64)), at(".tmp-old"), at(".tmp-new"));
        for path in [&unused, &old, &new, &at("other")] {
            std::fs::write(path, "").unwrap();
        }
        let ago = std::time::SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
        File::options().write(true).open(&old).unwrap().set_modified(ago).unwrap();
        kept(&mut BTreeMap::new(), folder.path(), &[]).unwrap();
        assert_eq!([&unused, &old, &new, &at("other")].map(|path| path.exists()), [false, false, true, true]);
    }
}
