//! The reason why a command failed, if the sandbox is the reason. What is not certain is not said.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::{Policy, Use};

/// So many files are named.
const NAMED: usize = 3;

/// So many lines are looked at, of the end, where errors are.
const LINES: usize = 400;

/// The words by which a refused file shows, in lower case.
const REFUSED: &[&str] = &[
    "permission denied",
    "operation not permitted",
    "access denied",
    "eacces",
    "eperm",
    "not writable",
    "not readable",
];

/// The words by which a network that is off shows, in lower case.
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

/// The words by which a refused socket shows, in lower case.
const SOCKET: &[&str] = &["socket", "connect", "network", "tcp", "udp", "bind", "listen", "ping", "icmp"];

pub(super) fn explain(policy: &Policy, output: &str, folders: &[&Path]) -> Option<String> {
    let reasons = reasons(policy, output, folders);
    if reasons.is_empty() {
        return None;
    }
    Some(format!(
        "The sandbox that commands run in has refused this: {}. If the command has to do that, run it with \
         `outside: true` and say why; the user is asked.",
        reasons.join("; ")
    ))
}

/// Returns what a policy has refused, as the output shows it.
pub(super) fn reasons(policy: &Policy, output: &str, folders: &[&Path]) -> Vec<String> {
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
    reasons
}

/// Returns what else a line shows that the policy refuses.
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
    if lower.contains("permission denied (publickey") || lower.contains("host key verification failed") {
        let keys = PathBuf::from(std::env::var_os("HOME")?).join(".ssh");
        let words = "the keys, known hosts and agent of ssh cannot be used in it";
        return (!policy.allows(&super::resolved(&keys), Use::Read)).then_some(words);
    }
    if is_refused && (lower.contains("ptrace") || lower.contains("could not attach")) {
        return Some("only processes that run in it can be traced from it");
    }
    if is_refused && signals_another(lower) {
        return Some("only processes that run in it can be signalled from it");
    }
    if looks_into_another(lower) {
        return Some("what other processes hold, such as their environment, memory and files, cannot be seen from it");
    }
    if lower.contains("bad system call") {
        return Some("programs for other kinds of processors, such as 32-bit ones, do not run in it");
    }
    None
}

/// True if a line is about something in `/proc` that shows what a process holds, and that this process may see.
fn looks_into_another(lower: &str) -> bool {
    const HELD: &[&str] =
        &["auxv", "cwd", "environ", "exe", "fd", "fdinfo", "io", "map_files", "maps", "mem", "root", "smaps", "stack"];
    let shows = |word: &str| {
        let path = Path::new(word.trim_end_matches([':', '/']));
        let mut parts = path.strip_prefix("/proc").ok()?.iter().map(|part| part.to_string_lossy());
        let (process, what) = (parts.next()?, parts.next()?);
        let is_one = process.bytes().all(|byte| byte.is_ascii_digit()) && HELD.contains(&what.as_ref());
        let file = Path::new("/proc").join(process.as_ref()).join(what.as_ref());
        (is_one && access(&file, Access::READ_OK).is_ok()).then_some(())
    };
    REFUSED.iter().any(|words| lower.contains(words))
        && lower.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"')).any(|word| shows(word).is_some())
}

/// True if a line is about a process that lives, as `kill` says it.
fn signals_another(lower: &str) -> bool {
    let is_there = |word: &str| word.parse::<u32>().is_ok_and(|id| Path::new("/proc").join(id.to_string()).is_dir());
    lower.contains("kill")
        && super::support().missing.iter().all(|missing| !missing.contains("signalled"))
        && lower.split(|c: char| !c.is_ascii_digit()).any(is_there)
}

/// A name of a file that a line may hold.
struct Name<'a> {
    text: &'a str,
    /// True if it is written as one: with a `/`, in quotes, or right before the words of the refusal.
    is_certain: bool,
}

/// Names of files that a line may hold, the likeliest first.
fn named(line: &str) -> Vec<Name<'_>> {
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`' | '‘' | '’' | '“' | '”');
    let quoted = line.split(is_quote).skip(1).step_by(2);
    // `bash: line 1: /x/y: Permission denied`
    let parts: Vec<&str> = line.split(": ").collect();
    let is_refusal = |part: &&str| REFUSED.iter().any(|words| part.to_lowercase().contains(words));
    let before = parts.iter().position(is_refusal).and_then(|at| parts.get(at.checked_sub(1)?)).copied();
    let words =
        line.split(|c: char| c.is_whitespace() || is_quote(c) || matches!(c, '(' | ')' | ',' | '=' | '[' | ']'));
    let words = words.map(|word| word.trim_end_matches([':', '.', ';']));
    let certain = before.into_iter().chain(quoted).map(|text| (text, true));
    let names = certain.chain(words.map(|word| (word, word.contains('/'))));
    let names = names.map(|(text, is_certain)| (text.trim().trim_start_matches("file://"), is_certain));
    let mut names: Vec<Name<'_>> = names
        .filter(|(text, _)| !text.is_empty() && text.len() < 4096)
        .map(|(text, is_certain)| Name { text, is_certain })
        .collect();
    names.sort_by_key(|name| (!name.text.starts_with(['/', '~']), !name.is_certain));
    names
}

/// The file that is meant by a name, and how the policy does not let it be used, if it does not.
fn refused(policy: &Policy, name: &Name<'_>, folders: &[&Path]) -> Option<(PathBuf, Use)> {
    let is_certain = name.is_certain;
    let name = match name.text.strip_prefix("~/") {
        Some(rest) => PathBuf::from(std::env::var_os("HOME")?).join(rest),
        None => PathBuf::from(name.text),
    };
    let (name, folders) = (&name, if name.is_absolute() { folders.get(..1)? } else { folders });
    folders.iter().find_map(|folder| {
        let path = super::resolved(&folder.join(name));
        // A file that the user may not use at all is not the sandbox's doing.
        let is_possible = |path: &Path, how| access(path, how).is_ok();
        if !path.exists() {
            if !is_certain {
                return None;
            }
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
