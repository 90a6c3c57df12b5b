//! Why a command failed, where the sandbox is the reason. What is not certain is not said.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::{Policy, Use};

/// So many files are named.
const NAMED: usize = 3;

/// So many lines are looked at, of the end, where errors are.
const LINES: usize = 400;

/// What a file that is refused shows as, in lower case.
const REFUSED: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "access denied",
    "eacces",
    "eperm",
    "not writable",
    "not readable",
];

/// What a network that is off shows as, in lower case.
const OFFLINE: &[&str] = &[
    "could not resolve",
    "couldn't resolve",
    "eai_again",
    "failed to lookup address",
    "failure in name resolution",
    "getaddrinfo",
    "name or service not known",
    "network is unreachable",
    "nodename nor servname",
    "unable to resolve",
    "dns error",
];

/// What a refused socket is told with, in lower case.
const SOCKET: &[&str] = &["socket", "connect", "network", "tcp", "udp", "bind", "listen", "ping", "icmp"];

pub(super) fn explain(policy: &Policy, output: &str, folders: &[&Path]) -> Option<String> {
    let lines: Vec<String> = output.lines().rev().take(LINES).map(str::to_owned).collect();
    let mut reasons: Vec<String> = Vec::new();
    let mut files: Vec<(PathBuf, Use)> = Vec::new();
    for line in lines.iter().rev() {
        let lower = line.to_lowercase();
        if REFUSED.iter().any(|words| lower.contains(words)) {
            let found = named(line).into_iter().find_map(|name| refused(policy, &name, folders));
            if let Some(found) = found.filter(|found| !files.contains(found)) {
                files.push(found);
            }
        }
        let reason = of_line(policy, &lower);
        if let Some(reason) = reason.filter(|reason| !reasons.iter().any(|known| known == reason)) {
            reasons.push(reason.to_owned());
        }
    }
    for (file, how) in files.iter().take(NAMED).rev() {
        let what = match how {
            Use::Read => "read",
            Use::Write => "written",
        };
        reasons.insert(0, format!("{} cannot be {what} in it", file.display()));
    }
    if reasons.is_empty() {
        return None;
    }
    Some(format!(
        "The sandbox that commands run in has refused this: {}. If the command has to do that, run it with \
         `outside: true` and say why; the user is asked.",
        reasons.join("; ")
    ))
}

/// What else a line shows that the policy refuses.
fn of_line(policy: &Policy, lower: &str) -> Option<&'static str> {
    let is_refused = lower.contains("not permitted") || lower.contains("eperm") || lower.contains("os error 1)");
    if !policy.network
        && (OFFLINE.iter().any(|words| lower.contains(words))
            || is_refused && SOCKET.iter().any(|word| lower.contains(word)))
    {
        return Some("the network is off in it, also to this machine itself (setting `sandbox_network`)");
    }
    if lower.contains("no new privileges") || lower.contains("must be owned by uid 0 and have the setuid bit set") {
        return Some("no program gains rights in it, so `sudo` and the like do not work");
    }
    if is_refused && (lower.contains("ptrace") || lower.contains("could not attach")) {
        return Some("only processes that run in it can be traced from it");
    }
    if is_refused && signals_another(lower) {
        return Some("only processes that run in it can be signalled from it");
    }
    if lower.contains("bad system call") {
        return Some("programs for other kinds of processors, such as 32-bit ones, do not run in it");
    }
    None
}

/// Whether a line is about a process that lives, as `kill` says it.
fn signals_another(lower: &str) -> bool {
    let is_there = |word: &str| word.parse::<u32>().is_ok_and(|id| Path::new("/proc").join(id.to_string()).is_dir());
    lower.contains("kill")
        && super::support().missing.iter().all(|missing| !missing.contains("signalled"))
        && lower.split(|c: char| !c.is_ascii_digit()).any(is_there)
}

/// Names of files that a line may hold: what is in quotes, and words.
fn named(line: &str) -> Vec<String> {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '‘' | '’' | '“' | '”');
    let quoted = line.split(is_quote).skip(1).step_by(2);
    let words =
        line.split(|c: char| c.is_whitespace() || is_quote(c) || matches!(c, '(' | ')' | ',' | '=' | '[' | ']'));
    let words = words.map(|word| word.trim_end_matches([':', '.', ';']));
    // `bash: line 1: /x/y: Permission denied`
    let parts = line.split(": ");
    let all = quoted.chain(words).chain(parts).map(|name| name.trim().trim_start_matches("file://"));
    let mut names: Vec<String> = all.filter(|name| !name.is_empty() && name.len() < 4096).map(str::to_owned).collect();
    // What begins at the root is more likely a path than what does not.
    names.sort_by_key(|name| !(name.starts_with('/') || name.starts_with('~')));
    names
}

/// The file that is meant by a name, and how the policy does not let it be used, if it does not.
fn refused(policy: &Policy, name: &str, folders: &[&Path]) -> Option<(PathBuf, Use)> {
    let name = match name.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => PathBuf::from(name),
    };
    let (name, folders) = (&name, if name.is_absolute() { folders.get(..1)? } else { folders });
    folders.iter().find_map(|folder| {
        let path = resolved(&folder.join(name))?;
        // What the user may not do at all is not the sandbox's doing.
        let is_possible = |path: &Path, how| access(path, how).is_ok();
        if !path.exists() {
            let there = path.parent().filter(|parent| parent.is_dir())?;
            let is_refused = !policy.allows(&path, Use::Write) && is_possible(there, Access::WRITE_OK);
            return is_refused.then(|| (path.clone(), Use::Write));
        }
        if !policy.allows(&path, Use::Read) && is_possible(&path, Access::READ_OK) {
            return Some((path, Use::Read));
        }
        let is_refused = !policy.allows(&path, Use::Write) && is_possible(&path, Access::WRITE_OK);
        is_refused.then_some((path, Use::Write))
    })
}

/// A path with its links resolved; what is not there at its end stays as it is written.
fn resolved(path: &Path) -> Option<PathBuf> {
    if let Ok(resolved) = path.canonicalize() {
        return Some(resolved);
    }
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}
