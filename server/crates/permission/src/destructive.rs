//! The built-in list of what nobody means. A seat belt: it knows the plain forms, not every disguise.

use super::places::{Places, is_harmless};
use super::{Redirect, Word};

/// Folders without which a machine, or a person, has nothing left. A `/*` after them means the same.
const VITAL: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib64",
    "/opt",
    "/proc",
    "/root",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "~",
    "$HOME",
    "${HOME}",
];

/// Why a line as a whole is destructive.
pub(super) fn line(text: &str) -> Option<String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let is_bomb = text.match_indices("(){").any(|(at, _)| {
        let (before, body) = text.split_at(at);
        let name_starts = before.rfind([';', '&', '|', '(', '{', '"', '\'']).map_or(0, |at| at + 1);
        let name = before.get(name_starts..).unwrap_or_default().trim_start_matches("function");
        !name.is_empty() && body.contains(&format!("{name}|{name}&"))
    });
    is_bomb.then(|| "it starts processes without end (a fork bomb)".to_owned())
}

/// Why a redirection is destructive.
pub(super) fn redirect(redirect: &Redirect) -> Option<String> {
    let (Word::Known(target) | Word::Unknown(target)) = &redirect.target;
    (redirect.writes && is_device(target)).then(|| format!("it writes over the device {target}"))
}

/// Why a command is destructive.
pub(super) fn command(words: &[Word], places: &Places<'_>) -> Option<String> {
    let Some((Word::Known(name), rest)) = words.split_first() else { return None };
    let texts: Vec<String> = rest
        .iter()
        .map(|word| match word {
            Word::Known(text) => text.clone(),
            // Quotes around a variable.
            Word::Unknown(text) => text.replace(['"', '\''], ""),
        })
        .collect();
    let arguments: Vec<&str> = texts.iter().map(String::as_str).collect();
    let targets = || arguments.iter().copied().filter(|argument| !argument.is_empty() && !argument.starts_with('-'));
    let vital = || targets().find(|target| is_vital(target, places));
    match name.as_str() {
        "rm" if arguments.contains(&"--no-preserve-root") => Some("it deletes even `/`".to_owned()),
        "rm" if is_recursive(&arguments, &['r', 'R']) => {
            let all_here = |target: &&str| {
                let target = target.trim_end_matches('/');
                matches!(target, "." | ".." | "./*" | ".*" | "../*") || is_all(target)
            };
            let target = vital().or_else(|| targets().find(all_here))?;
            Some(format!("it deletes everything in {target}"))
        }
        "chmod" | "chown" | "chgrp" if is_recursive(&arguments, &['R']) => {
            Some(format!("it changes the rights of everything in {}", machine(targets())?))
        }
        "find" if arguments.contains(&"-delete") => {
            Some(format!("it deletes what it finds in {}", machine(targets().take(1))?))
        }
        "mv" => {
            let into_nothing = targets().next_back().is_some_and(|last| last == "/dev/null");
            let sources = targets().count().saturating_sub(1);
            let moved = machine(targets().take(sources));
            let reason = into_nothing.then(|| "it moves files into nothing".to_owned());
            reason.or_else(|| Some(format!("it moves {} away", moved?)))
        }
        "dd" => {
            let device =
                arguments.iter().find_map(|argument| argument.strip_prefix("of=").filter(|of| is_device(of)))?;
            Some(format!("it writes over the device {device}"))
        }
        "tee" | "shred" | "cp" => {
            let device = targets().next_back().filter(|target| is_device(target))?;
            Some(format!("it writes over the device {device}"))
        }
        "kill" if arguments.iter().skip(1).any(|argument| *argument == "-1") => {
            Some("it ends every process there is".to_owned())
        }
        "wipefs" | "blkdiscard" | "mke2fs" => Some(format!("`{name}` erases a disk")),
        _ if name == "mkfs" || name.starts_with("mkfs.") => Some(format!("`{name}` erases a disk")),
        _ => None,
    }
}

fn is_recursive(arguments: &[&str], short: &[char]) -> bool {
    arguments.iter().any(|argument| match argument.strip_prefix("--") {
        Some(long) => long == "recursive",
        None => argument.strip_prefix('-').is_some_and(|cluster| cluster.contains(short)),
    })
}

/// True if it is one of the vital folders, the workspace itself, or something that the workspace lies in.
fn is_vital(target: &str, places: &Places<'_>) -> bool {
    let folder = folder(target);
    is_machine(folder)
        || places.resolve(folder).is_some_and(|paths| paths.iter().any(|path| places.is_workspace_or_above(path)))
}

fn machine<'a>(mut targets: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    targets.find(|target| is_machine(folder(target)))
}

fn is_machine(folder: &str) -> bool {
    VITAL.contains(&folder)
}

/// A target without the `/`, `/.`, `/*` or the like that means all that is in it.
fn folder(target: &str) -> &str {
    let target = target.trim_matches('"');
    if target.is_empty() {
        return target;
    }
    let target = match target.rsplit_once('/') {
        Some((folder, last)) if last == "." || is_all(last) => folder,
        _ => target,
    };
    match target.trim_end_matches('/') {
        "" => "/",
        folder => folder,
    }
}

/// True if a name is one that fits all names, or all but a few, such as `{*,.[!.]*}`.
fn is_all(name: &str) -> bool {
    name.contains('*') && name.chars().all(|c| "*?.[]!^{},".contains(c))
}

fn is_device(path: &str) -> bool {
    let passes_on = ["/dev/fd/", "/dev/pts/", "/dev/shm/"].iter().any(|folder| path.starts_with(folder));
    path.starts_with("/dev/") && !is_harmless(path) && !passes_on
}
