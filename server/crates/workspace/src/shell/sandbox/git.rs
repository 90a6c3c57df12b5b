//! What git reads in the sandbox in place of settings of the user's that commands may not read. It would stop at them, and
//! without any it would not know whose commits it makes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::secrets::settings_hold_secret;
use super::{Policy, Use, beginning, path_in};

/// Git includes files no deeper.
const DEEPEST: usize = 10;

/// What of a file commands may know.
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
    let mut copies = Copies { policy, home, folder, made: Vec::new(), are_needed: false };
    let texts: Vec<String> = files.iter().filter_map(|file| copies.text(file, 0)).collect();
    if !copies.are_needed {
        return Vec::new();
    }
    let first = copies.add(texts.concat());
    let written = copies.made.iter().try_for_each(|(path, text)| write(folder, path, text));
    // Without settings git goes on, at least.
    if let Err(error) = written {
        tracing::warn!(%error, "git gets no settings in the sandbox");
        return vec![PathBuf::from("/dev/null")];
    }
    [first].into_iter().chain(copies.made.into_iter().map(|(path, _)| path)).collect()
}

struct Copies<'a> {
    policy: &'a Policy,
    home: Option<PathBuf>,
    folder: &'a Path,
    /// What is to be written where.
    made: Vec<(PathBuf, String)>,
    /// Whether there is a file that git could not read.
    are_needed: bool,
}

impl Copies<'_> {
    /// What git is to read of a file; none where the file is not there.
    fn text(&mut self, file: &Path, depth: usize) -> Option<String> {
        /// Such settings are some lines long.
        const MOST_BYTES: u64 = 1 << 20;
        let real = file.canonicalize().ok().filter(|_| depth <= DEEPEST)?;
        let is_hidden_for_credentials = || self.policy.credentials.iter().any(|hidden| real.starts_with(hidden));
        let kept = match self.policy.allows(&real, Use::Read) {
            true => Kept::All,
            false if is_hidden_for_credentials() => Kept::Plain,
            false => Kept::Name,
        };
        self.are_needed |= kept != Kept::All;
        let bytes = if real.is_file() { beginning(&real, MOST_BYTES).ok()? } else { Vec::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let folder = file.parent().unwrap_or(file);
        let told = self.told(&text, folder, kept, depth);
        // What shows only in the whole is in none of the lines.
        Some(if kept == Kept::Plain && settings_hold_secret(&told) {
            self.told(&text, folder, Kept::Name, depth)
        } else {
            told
        })
    }

    fn told(&mut self, text: &str, folder: &Path, kept: Kept, depth: usize) -> String {
        let (mut told, mut section, mut is_left_out) = (String::new(), String::new(), false);
        for line in settings_of(text) {
            let setting = match line.strip_prefix('[') {
                None => line.as_str(),
                Some(rest) => {
                    let end = end_of_header(rest);
                    let (header, setting) = rest.split_at_checked(end).unwrap_or((rest, ""));
                    section = header.trim_end_matches(']').to_ascii_lowercase();
                    is_left_out = match kept {
                        Kept::All => false,
                        Kept::Plain => settings_hold_secret(header),
                        Kept::Name => section != "user",
                    };
                    if !is_left_out {
                        told.push_str(&format!("[{header}\n"));
                    }
                    setting.trim_start()
                }
            };
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let name = name.trim().to_ascii_lowercase();
            let is_secret = match kept {
                Kept::All => false,
                Kept::Plain => settings_hold_secret(setting),
                Kept::Name => !matches!(name.as_str(), "name" | "email"),
            };
            if is_left_out || is_secret || setting.is_empty() {
                continue;
            }
            let is_include = name == "path" && (section == "include" || section.starts_with("includeif"));
            match is_include.then(|| self.included(value, folder, depth)).flatten() {
                Some(path) => told.push_str(&format!("\tpath = {}\n", quoted(&path))),
                None => told.push_str(&format!("\t{setting}\n")),
            }
        }
        told
    }

    /// Where what a file includes is to be read; none where that stays as it is written.
    fn included(&mut self, value: &str, folder: &Path, depth: usize) -> Option<PathBuf> {
        let value = value.trim().trim_matches('"');
        let path = match value.strip_prefix("~/") {
            Some(below) => self.home.as_ref()?.join(below),
            None if value.starts_with(['~', '%']) => return None,
            None => folder.join(value),
        };
        Some(match self.text(&path, depth + 1) {
            Some(text) => self.add(text),
            None => path,
        })
    }

    /// Takes up a text, under a name that no other text has: a shell that runs keeps what it has been granted.
    fn add(&mut self, text: String) -> PathBuf {
        let sum: String = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.folder.join(sum);
        self.made.push((path.clone(), text));
        path
    }
}

/// Writes a copy that is not there yet.
fn write(folder: &Path, path: &Path, text: &str) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The lines of a file without what they are indented by, comments and empty ones; one that goes on behind a `\` is a single one.
fn settings_of(text: &str) -> Vec<String> {
    let mut settings: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let begin = line.trim_start();
        match settings.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push('\n');
                last.push_str(line);
            }
            None if begin.is_empty() || begin.starts_with(['#', ';']) => continue,
            None => settings.push(begin.to_owned()),
        }
        goes_on = line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1;
    }
    settings
}

/// Where the header of a section ends, which may have a `]` in quotes.
fn end_of_header(rest: &str) -> usize {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, one) in rest.char_indices() {
        match one {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\""))
}
