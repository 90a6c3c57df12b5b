//! Detection that what runs in a terminal waits for input, and how certain that is.
//!
//! *Certain*: a process of the foreground group is in a system call that reads from the terminal. *Probable*: one polls
//! the terminal, nothing of the group or below it used the processor, and nothing was printed, for [`STILL`]. Both are
//! looked up in `/proc`; where there is none only the second is known, by the silence after a prompt or by the
//! terminal's settings.
//!
//! Typed input answers a question, so what was seen before counts no more: there is no question until a look that is
//! newer has found it so, and input that nobody has read yet is there to be read and not waited for. Of a program that
//! reads single keys it is still told that it waits, unless such a look finds otherwise: it mostly goes on to wait.
//!
//! Typed input is *hidden* while the terminal reads lines and does not echo, as for a password. A program that reads
//! single keys does not count as hidden: editors and line editors show themselves what they are given.

#![cfg_attr(target_os = "linux", expect(clippy::disallowed_methods, reason = "/proc is no project file"))]

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use permission::Shown;
use process::processes::Use;
use protocol::terminal::{Certainty, Waiting};
use rustix::termios::LocalModes;

use super::execution::Common;
use super::spool::Spool;
use super::terminal::Terminal;
use super::transcript::Plain;

/// How long a terminal prints nothing before the first look at what runs in it.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// The time between looks.
const PAUSE: Duration = Duration::from_millis(500);

/// How long all is still before something that polls probably waits for input.
pub const STILL: Duration = Duration::from_secs(2);

/// So many of the last bytes are looked at for the question.
const TAIL: usize = 4 << 10;

/// So many of the last bytes are the whole of a question at most.
const SHOWN: usize = 16 << 10;

/// The longest question that is told, in characters.
const LONGEST_PROMPT: usize = 400;

/// The finding of a look at the processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// A process reads from the terminal.
    Reads,
    /// A process polls the terminal, or it cannot be known what it does.
    Polls,
    /// Neither.
    Neither,
}

/// The terminal's settings that say what becomes of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// True if what is typed is shown.
    pub(super) echo: bool,
    /// True if it is read by lines.
    pub(super) lines: bool,
}

impl Keys {
    pub(super) fn of(modes: LocalModes) -> Self {
        Self { echo: modes.contains(LocalModes::ECHO), lines: modes.contains(LocalModes::ICANON) }
    }

    /// True if a line is read that nobody is to see.
    pub(super) fn hidden(self) -> bool {
        self.lines && !self.echo
    }
}

/// Says whether the command waits that runs in a terminal, for as long as this is polled. Its output began at `start`.
pub(super) async fn watch(terminal: Arc<Terminal>, common: Common, start: u64) -> Infallible {
    let (mut end, mut typed) = (common.spool.watch(), common.typed.subscribe());
    let (mut printed, mut used) = (Instant::now(), None);
    let mut pause = FIRST_LOOK;
    loop {
        let mut asleep = Instant::now();
        // Output puts the look off, though not for ever: the answer to a question is output too.
        while let Some(left) = pause.checked_sub(asleep.elapsed()) {
            tokio::select! {
                more = end.changed() => match more {
                    Ok(()) => printed = Instant::now(),
                    Err(_) => break,
                },
                // Typed input takes a moment to reach the program.
                _ = typed.changed() => (asleep, pause) = (Instant::now(), FIRST_LOOK),
                () = tokio::time::sleep(left) => break,
            }
        }
        pause = PAUSE;
        let before = *typed.borrow();
        if typed.has_changed().unwrap_or_default() {
            continue;
        }
        // It has just printed: soon it may wait.
        let soon = FIRST_LOOK.checked_sub(printed.elapsed());
        if let Some(soon) = soon.filter(|_| common.status.borrow().waiting.is_none()) {
            pause = soon;
            continue;
        }
        let looked = Arc::clone(&terminal);
        let Ok(look) = tokio::task::spawn_blocking(move || looked.look()).await else { continue };
        let still = match &used {
            Some((before, since)) if *before == look.used => Instant::now().duration_since(*since),
            _ => {
                used = Some((look.used, Instant::now()));
                Duration::ZERO
            }
        };
        let line = common.last_line(start);
        let certainty = judge(&look, still.min(printed.elapsed()), &line);
        let found = certainty.map(|certainty| Waiting { certainty, prompt: line, hidden: look.keys.hidden() });
        common.change(|status| {
            let now = *common.typed.borrow();
            if now != before {
                return false;
            }
            common.looked.store(now.times, Ordering::SeqCst);
            update(&mut status.waiting, found, now)
        });
    }
}

/// The state of what was typed into a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Typed {
    /// How often something was.
    times: u64,
    /// How often it had been when a program was last given it.
    given: u64,
    /// True if the last of it is the beginning of a line, which no program has been given yet.
    is_partial: bool,
    /// The offset that the output had come to when Enter was last pressed. What was printed before asks nothing more.
    entered: u64,
}

impl Typed {
    pub(super) fn times(self) -> u64 {
        self.times
    }

    /// Something is typed into a terminal with these settings, whose output has come to `end`. Gives whether the
    /// program is given it.
    pub(super) fn more(&mut self, bytes: &[u8], keys: Keys, end: u64) -> bool {
        const ENDS: &[u8] = b"\r\n\x03\x04\x1a\x1c";
        let is_given = !keys.lines || bytes.iter().any(|byte| ENDS.contains(byte));
        (self.times, self.is_partial) = (self.times + 1, !is_given);
        if is_given {
            self.given = self.times;
        }
        // A key of a menu has it painted anew, and not all of it: only a whole line ends a question.
        if bytes.iter().any(|byte| matches!(byte, b'\r' | b'\n')) {
            self.entered = end;
        }
        is_given
    }
}

impl Common {
    /// Returns the question that the command whose output began at `start` asks now, if it was seen to wait since
    /// something was typed: with the last line as it is at this moment.
    pub(super) fn question(&self, start: u64) -> Option<Waiting> {
        let mut waiting = self.status.borrow().waiting.clone()?;
        if self.looked.load(Ordering::SeqCst) < self.typed.borrow().given {
            return None;
        }
        let line = self.last_line(start);
        if !line.starts_with(&waiting.prompt) {
            return None;
        }
        waiting.prompt = line;
        Some(waiting)
    }

    /// All that the command asks by whose output began at `start`: what was printed since it was last given a line,
    /// with the whole of the line in which that began.
    pub(super) fn shown(&self, start: u64) -> Shown {
        let earliest = start.max(self.spool.end().saturating_sub(SHOWN as u64));
        let entered = self.typed.borrow().entered.max(earliest);
        let begun = self.typed.borrow().entered.max(start);
        let (from, bytes) = self.spool.read_from(earliest, SHOWN);
        let before = usize::try_from(entered.saturating_sub(from)).unwrap_or(bytes.len()).min(bytes.len());
        let (before, after) = bytes.split_at(before);
        let line = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let shown = shown(&[before.get(line..).unwrap_or_default(), after].concat());
        Shown { is_cut: begun < from.max(earliest), ..shown }
    }

    /// The last line that the command has printed whose output began at `start`.
    pub(super) fn last_line(&self, start: u64) -> String {
        last_line(&self.spool, start)
    }
}

/// A look at what runs in a terminal.
#[derive(Clone, Debug)]
pub(super) struct Look {
    pub(super) seen: Seen,
    /// None if it cannot be known.
    pub(super) used: Option<Use>,
    pub(super) keys: Keys,
}

fn judge(look: &Look, still: Duration, line: &str) -> Option<Certainty> {
    match look.seen {
        Seen::Reads => Some(Certainty::Certain),
        _ if still < STILL => None,
        // Without `/proc` a line without an end, or a terminal that was set up for it, stands for a question.
        Seen::Polls if look.used.is_some() || !line.is_empty() || !(look.keys.echo && look.keys.lines) => {
            Some(Certainty::Probable)
        }
        Seen::Polls | Seen::Neither => None,
    }
}

/// Takes in what was found. A question to which a line is being typed stays what it was.
fn update(known: &mut Option<Waiting>, found: Option<Waiting>, typed: Typed) -> bool {
    if let (Some(before), Some(now)) = (known.as_ref(), &found)
        && before.certainty == now.certainty
        && before.hidden == now.hidden
        && typed.is_partial
        && now.prompt.starts_with(&before.prompt)
    {
        return false;
    }
    let changed = *known != found;
    *known = found;
    changed
}

/// The last line that was printed, as plain text: the question, if there is one. Empty if it has an end.
fn last_line(spool: &Spool, start: u64) -> String {
    let (_, bytes) = spool.read_from(start.max(spool.end().saturating_sub(TAIL as u64)), TAIL);
    let seen = shown(&bytes).seen;
    let last = seen.rsplit('\n').next().unwrap_or_default();
    let skipped = last.chars().count().saturating_sub(LONGEST_PROMPT);
    last.chars().skip(skipped).collect()
}

/// Returns what these bytes show.
pub(super) fn shown(bytes: &[u8]) -> Shown {
    let (mut plain, mut text) = (Plain::default(), Vec::new());
    plain.push(bytes, &mut |more| text.extend_from_slice(more));
    plain.finish(&mut |more| text.extend_from_slice(more));
    let [seen, printed] = [&*text, bytes].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    Shown { seen, printed, is_cut: false }
}

/// Returns what the processes of a group do with the terminal whose device is named.
#[cfg(target_os = "linux")]
pub(super) fn look(group: i32, device: &std::path::Path, keys: Keys) -> Seen {
    let mut seen = Seen::Neither;
    for pid in process::processes::members(group) {
        match linux::look(pid, device) {
            Some(Seen::Reads) => return Seen::Reads,
            Some(Seen::Polls) => seen = Seen::Polls,
            Some(Seen::Neither) => {}
            // A program with other rights, such as `sudo`: only its question can be seen.
            None if keys.hidden() => seen = Seen::Polls,
            None => {}
        }
    }
    seen
}

#[cfg(not(target_os = "linux"))]
pub(super) fn look(_: i32, _: &std::path::Path, _: Keys) -> Seen {
    Seen::Polls
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::path::{Path, PathBuf};

    use super::Seen;

    /// More file descriptors than this are not looked at in one call.
    const MOST: usize = 1024;

    /// The system calls that matter; numbers from the kernel's tables.
    #[cfg(target_arch = "x86_64")]
    mod numbers {
        pub(super) const READ: &[u64] = &[0, 17, 19, 295, 327];
        pub(super) const POLL: &[u64] = &[7, 271];
        pub(super) const SELECT: &[u64] = &[23, 270];
        pub(super) const EPOLL: &[u64] = &[232, 281, 441];
    }

    /// Those of the kernel's generic table, which newer architectures share.
    #[cfg(not(target_arch = "x86_64"))]
    mod numbers {
        pub(super) const READ: &[u64] = &[63, 65, 67, 69, 286];
        pub(super) const POLL: &[u64] = &[73];
        pub(super) const SELECT: &[u64] = &[72];
        pub(super) const EPOLL: &[u64] = &[22, 441];
    }

    /// Returns what a process does; `None` if it may not be looked at.
    pub(super) fn look(pid: i32, device: &Path) -> Option<Seen> {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let mut seen = Seen::Neither;
        let mut known = false;
        for task in std::fs::read_dir(folder.join("task")).ok()?.flatten() {
            let Ok(text) = std::fs::read_to_string(task.path().join("syscall")) else { continue };
            known = true;
            match thread(&folder, &text, device) {
                Seen::Reads => return Some(Seen::Reads),
                Seen::Polls => seen = Seen::Polls,
                Seen::Neither => {}
            }
        }
        known.then_some(seen)
    }

    /// Returns what a thread does that is in this system call.
    fn thread(folder: &Path, call: &str, device: &Path) -> Seen {
        let mut words = call.split_ascii_whitespace();
        let number = words.next().and_then(|word| word.parse::<u64>().ok());
        let arguments: Vec<u64> =
            words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()).collect();
        let (Some(number), [first, second, ..]) = (number, arguments.as_slice()) else { return Seen::Neither };
        let is_terminal = |descriptor: u64| is_terminal(folder, descriptor, device);
        let polls = if numbers::READ.contains(&number) {
            return if is_terminal(*first) { Seen::Reads } else { Seen::Neither };
        } else if numbers::POLL.contains(&number) {
            polled(folder, *first, *second).into_iter().any(is_terminal)
        } else if numbers::SELECT.contains(&number) {
            selected(folder, *first, *second).into_iter().any(is_terminal)
        } else if numbers::EPOLL.contains(&number) {
            awaited(folder, *first).into_iter().any(is_terminal)
        } else {
            false
        };
        if polls { Seen::Polls } else { Seen::Neither }
    }

    fn is_terminal(folder: &Path, descriptor: u64, device: &Path) -> bool {
        let link = std::fs::read_link(folder.join("fd").join(descriptor.to_string()));
        // The process is of the terminal's foreground group, so its controlling terminal is this one.
        link.is_ok_and(|link| link == device || link == Path::new("/dev/tty"))
    }

    /// The descriptors that `poll` is to say something readable of: the array of `pollfd` in the process's memory.
    fn polled(folder: &Path, address: u64, count: u64) -> Vec<u64> {
        const INPUT: u16 = 1;
        let count = usize::try_from(count).unwrap_or(MOST).min(MOST);
        let memory = memory(folder, address, count * 8);
        let entries = memory.chunks_exact(8).filter_map(|entry| match *entry {
            [a, b, c, d, e, f, _, _] if u16::from_ne_bytes([e, f]) & INPUT != 0 => {
                u64::try_from(i32::from_ne_bytes([a, b, c, d])).ok()
            }
            _ => None,
        });
        entries.collect()
    }

    /// The descriptors that `select` is to say something readable of: a set of bits in the process's memory.
    fn selected(folder: &Path, count: u64, address: u64) -> Vec<u64> {
        let count = usize::try_from(count).unwrap_or(MOST).min(MOST);
        if address == 0 {
            return Vec::new();
        }
        // The kernel reads the set by words.
        let words = memory(folder, address, count.div_ceil(64) * 8);
        let bit = |at: usize| {
            let word = words.get(at / 64 * 8..at / 64 * 8 + 8)?;
            let word = u64::from_ne_bytes(word.try_into().ok()?);
            (word >> (at % 64) & 1 == 1).then_some(at as u64)
        };
        (0..count).filter_map(bit).collect()
    }

    /// The descriptors that an epoll instance watches, as the kernel lists them.
    fn awaited(folder: &Path, instance: u64) -> Vec<u64> {
        let text = std::fs::read_to_string(folder.join("fdinfo").join(instance.to_string())).unwrap_or_default();
        let lines = text.lines().filter_map(|line| line.strip_prefix("tfd:"));
        lines.filter_map(|line| line.split_ascii_whitespace().next()?.parse().ok()).collect()
    }

    fn memory(folder: &Path, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        let read = File::open(folder.join("mem")).and_then(|file| file.read_exact_at(&mut bytes, address));
        if read.is_ok() { bytes } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Keys = Keys { echo: true, lines: true };

    fn look(seen: Seen, used: Option<Use>) -> Look {
        Look { seen, used, keys: LINES }
    }

    fn waiting(prompt: &str) -> Option<Waiting> {
        Some(Waiting { certainty: Certainty::Certain, prompt: prompt.to_owned(), hidden: false })
    }

    #[test]
    fn what_reads_is_certain_at_once_and_what_polls_is_probable_when_all_was_still() {
        let used = Some(Use::default());
        assert_eq!(judge(&look(Seen::Reads, used), Duration::ZERO, ""), Some(Certainty::Certain));
        assert_eq!(judge(&look(Seen::Polls, used), STILL / 2, "name? "), None);
        assert_eq!(judge(&look(Seen::Polls, used), STILL, ""), Some(Certainty::Probable));
        assert_eq!(judge(&look(Seen::Neither, used), STILL * 9, "name? "), None);
    }

    #[test]
    fn without_a_list_of_processes_silence_alone_is_no_question() {
        assert_eq!(judge(&look(Seen::Polls, None), STILL, ""), None);
        assert_eq!(judge(&look(Seen::Polls, None), STILL, "name? "), Some(Certainty::Probable));
        let hidden = Look { keys: Keys { echo: false, lines: true }, ..look(Seen::Polls, None) };
        assert_eq!(judge(&hidden, STILL, ""), Some(Certainty::Probable));
    }

    #[test]
    fn a_question_stays_while_it_is_answered_and_another_takes_its_place() {
        let mut known = None;
        let (mut typed, lines) = (Typed::default(), Keys { echo: true, lines: true });
        assert!(update(&mut known, waiting("name? "), typed));
        assert!(!typed.more(b"Ad", lines, 0));
        assert!(!update(&mut known, waiting("name? Ad"), typed));
        assert_eq!(known, waiting("name? "));
        assert!(update(&mut known, waiting("age? "), typed));
        assert!(typed.more(b"a\r", lines, 0) && typed.more(b"y", Keys { echo: false, lines: false }, 0));
        assert!(update(&mut known, waiting("age? Delete it? "), typed), "what a program was given, it may have read");
        assert!(update(&mut known, None, typed));
        assert!(!update(&mut known, None, typed));
    }
}
