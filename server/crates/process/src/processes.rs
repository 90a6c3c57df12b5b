//! The processes of a terminal, found through `/proc`, so that none of them is left behind.

#![expect(clippy::disallowed_methods, reason = "/proc is no project file")]

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// The environment variable that marks every process of a terminal, with the terminal's own value. It finds daemons,
/// which leave the terminal's session and their parents.
pub const MARK: &str = "AZIMUTH_TERMINAL";

/// A process. A process id may be used again; with the time it started it means one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    pid: Pid,
    started: u64,
}

impl Process {
    pub(super) fn pid(self) -> Pid {
        self.pid
    }

    /// True if it has not ended, so that its id is still its own.
    pub(super) fn is_there(self) -> bool {
        stat(self.pid.as_raw_nonzero().get()).is_some_and(|stat| stat.started == self.started)
    }

    /// True if it is there and has not ended; one that has ended is there until its parent has asked for its status.
    fn lives(self) -> bool {
        stat(self.pid.as_raw_nonzero().get()).is_some_and(|stat| stat.started == self.started && !stat.dead)
    }

    /// Its process id.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

/// Now, in the unit that processes are dated by: hundredths of a second since boot.
#[cfg(target_os = "linux")]
pub fn now() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    u64::try_from(time.tv_sec * 100 + time.tv_nsec / 10_000_000).unwrap_or(0)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn now() -> u64 {
    0
}

/// A choice among the processes of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All, the shell too.
    All,
    /// Those started at this time or later, and never the shell.
    Since(u64),
}

/// The living processes of the terminal whose session has this leader: members of the session, what its supervisor has
/// besides, what descends from them, and what carries the mark. Empty if there is no `/proc`.
pub fn of_terminal(leader: Pid, mark: &str, which: Which) -> Vec<Process> {
    let all = all();
    let leader = leader.as_raw_nonzero().get();
    let ours = i32::try_from(std::process::id()).unwrap_or(0);
    // The leader's parent is its supervisor, unless that is us; and a supervisor is a child of ours.
    let supervisor = all.get(&leader).map(|stat| stat.parent).filter(|parent| *parent != ours);
    let supervisor = supervisor.filter(|parent| all.get(parent).is_some_and(|stat| stat.parent == ours));
    let is_member = |pid: i32, stat: &Stat| {
        pid == leader || stat.session == leader || Some(stat.parent) == supervisor || carries(pid, mark)
    };
    let members = all.iter().filter(|(pid, stat)| is_member(**pid, stat)).map(|(pid, _)| *pid).collect();
    with_descendants(members, &all)
        .into_iter()
        .filter(|pid| *pid != ours && Some(*pid) != supervisor)
        .filter_map(|pid| {
            let stat = all.get(&pid)?;
            let process = Process { pid: Pid::from_raw(pid)?, started: stat.started };
            let is_meant = match which {
                Which::All => true,
                Which::Since(since) => stat.started >= since && pid != leader,
            };
            (is_meant && !stat.dead).then_some(process)
        })
        .collect()
}

/// The living descendants of a process, the youngest first. Empty if there is no `/proc`.
#[cfg(target_os = "linux")]
pub(super) fn descendants(process: Pid) -> Vec<Process> {
    let (all, process) = (all(), process.as_raw_nonzero().get());
    let found = with_descendants(HashSet::from([process]), &all).into_iter().filter(|pid| *pid != process);
    let living = found.filter_map(|pid| {
        let stat = all.get(&pid).filter(|stat| !stat.dead)?;
        Some(Process { pid: Pid::from_raw(pid)?, started: stat.started })
    });
    let mut living: Vec<_> = living.collect();
    living.sort_by_key(|process| std::cmp::Reverse((process.started, process.id())));
    living
}

/// The memory that a process and all that descends from it hold, in bytes: the sum of what is resident of each, so that
/// what they share counts more than once. None if there is no `/proc`.
#[cfg(target_os = "linux")]
pub(super) fn memory(process: Pid) -> Option<u64> {
    let members = with_descendants(HashSet::from([process.as_raw_nonzero().get()]), &all());
    let resident = members.into_iter().filter_map(|pid| {
        let text = std::fs::read(Path::new("/proc").join(pid.to_string()).join("status")).ok()?;
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()
    });
    Some(resident.sum::<u64>() * 1024).filter(|bytes| *bytes > 0)
}

/// The parent of a process, which may have none. Nothing where the process is not there.
#[cfg(target_os = "linux")]
pub(super) fn parent(process: Pid) -> Option<Option<Pid>> {
    stat(process.as_raw_nonzero().get()).map(|stat| Pid::from_raw(stat.parent))
}

/// Sends a signal to those that still live.
pub fn signal(processes: &[Process], signal: Signal) {
    for process in processes {
        if process.is_there() {
            let _ = kill_process(process.pid, signal);
        }
    }
}

/// Kills processes of a terminal, also those they start meanwhile, and waits until they have ended, at most for a
/// second.
pub fn kill(leader: Pid, mark: &str, which: Which) {
    // A process that is ending loses its environment and its session before it has ended, and is found by neither then.
    let mut ending: HashSet<Process> = HashSet::new();
    // A process can fork between being found and being killed; its child is found in the next pass.
    for _ in 0..200 {
        let left = of_terminal(leader, mark, which);
        signal(&left, Signal::KILL);
        ending.extend(left);
        ending.retain(|process| process.lives());
        if ending.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    tracing::warn!(leader = leader.as_raw_nonzero(), "processes of a terminal could not be ended");
}

/// How much of the processor's time processes have used. Another number of processes is another use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    ticks: u64,
    processes: usize,
}

/// Returns what a process group and all that descends from it have used; `None` if it cannot be known.
pub fn used(group: Pid) -> Option<Use> {
    let (all, group) = (all(), group.as_raw_nonzero().get());
    if all.is_empty() {
        return None;
    }
    let members: HashSet<i32> = all.iter().filter(|(_, stat)| stat.group == group).map(|(pid, _)| *pid).collect();
    let members = with_descendants(members, &all);
    let ticks = members.iter().filter_map(|pid| all.get(pid)).map(|stat| stat.ticks).sum();
    Some(Use { ticks, processes: members.len() })
}

/// The living processes of a process group.
#[cfg(target_os = "linux")]
pub fn members(group: i32) -> Vec<i32> {
    all().into_iter().filter(|(_, stat)| stat.group == group && !stat.dead).map(|(pid, _)| pid).collect()
}

/// True if one of a process group's programs does what it likes with an interrupt: it catches or ignores it.
///
/// The shell whose process is `shell` does not count, nor does a child it has just forked: that catches interrupts too,
/// but only until it becomes a program. True where it cannot be known.
pub fn handles_interrupts(shell: Pid, group: Pid) -> bool {
    let (shell, group) = (shell.as_raw_nonzero().get(), group.as_raw_nonzero().get());
    let all = all();
    let recent = now().saturating_sub(FORK);
    let own_arguments = arguments(shell);
    let is_becoming_a_program = |pid: i32, stat: &Stat| {
        stat.started >= recent && arguments(pid).is_none_or(|found| found.is_empty() || Some(found) == own_arguments)
    };
    let mut members = all.iter().filter(|(pid, stat)| stat.group == group && !stat.dead && **pid != shell);
    // A program that has its arguments has lost the handlers of the shell it was; so it is looked at in this order.
    all.is_empty() || members.any(|(pid, stat)| !is_becoming_a_program(*pid, stat) && catches_or_ignores(*pid))
}

/// How long after its start a copy of the shell may still be on the way to becoming a program, in hundredths of a
/// second. One that is older is a subshell.
const FORK: u64 = 50;

fn with_descendants(mut members: HashSet<i32>, all: &HashMap<i32, Stat>) -> HashSet<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, stat) in all {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let mut waiting: Vec<i32> = members.iter().copied().collect();
    while let Some(pid) = waiting.pop() {
        let new = children.remove(&pid).unwrap_or_default().into_iter().filter(|child| members.insert(*child));
        waiting.extend(new);
    }
    members
}

struct Stat {
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
    /// The processor time that it used, and that its children used that have ended.
    ticks: u64,
    dead: bool,
}

fn all() -> HashMap<i32, Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return HashMap::new();
    };
    entries
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            Some((pid, stat(pid)?))
        })
        .collect()
}

fn stat(pid: i32) -> Option<Stat> {
    let text = std::fs::read(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    // The name, in parentheses, may hold anything; the fields after it are numbers but for the state.
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some(Stat {
        dead: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        ticks: fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum(),
    })
}

fn carries(pid: i32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    std::fs::read(Path::new("/proc").join(pid.to_string()).join("environ"))
        .is_ok_and(|environment| environment.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}

fn arguments(pid: i32) -> Option<Vec<u8>> {
    std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).ok()
}

fn catches_or_ignores(pid: i32) -> bool {
    const INTERRUPT: u64 = 1 << (Signal::INT.as_raw() - 1);
    let status = std::fs::read(Path::new("/proc").join(pid.to_string()).join("status")).unwrap_or_default();
    String::from_utf8_lossy(&status)
        .lines()
        .filter_map(|line| line.strip_prefix("SigIgn:").or_else(|| line.strip_prefix("SigCgt:")))
        .filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .any(|mask| mask & INTERRUPT != 0)
}

#[cfg(test)]
mod tests {
    use spent::Spent;

    use super::*;

    #[test]
    fn a_chain_of_processes_is_found_in_no_time_however_long_it_is() {
        const LONGEST: i32 = 30_000;
        let stat = |parent| Stat { parent, group: 1, session: 1, started: 0, ticks: 0, dead: false };
        let all: HashMap<i32, Stat> = (2..=LONGEST).map(|pid| (pid, stat(pid - 1))).collect();
        let began = Spent::start();
        let found = with_descendants(HashSet::from([1]), &all);
        assert_eq!(found, (1..=LONGEST).collect());
        // A look at all of them for each of them takes minutes, and meanwhile the last one starts another.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }

    #[test]
    fn only_what_descends_from_the_members_is_found() {
        let stat = |parent| Stat { parent, group: 1, session: 1, started: 0, ticks: 0, dead: false };
        let all = [(1, 0), (2, 1), (3, 2), (4, 2), (5, 1), (6, 7), (7, 6)].map(|(pid, parent)| (pid, stat(parent)));
        let all = HashMap::from(all);
        assert_eq!(with_descendants(HashSet::from([2]), &all), HashSet::from([2, 3, 4]));
        assert_eq!(with_descendants(HashSet::from([3, 5]), &all), HashSet::from([3, 5]));
        assert_eq!(with_descendants(HashSet::from([6]), &all), HashSet::from([6, 7]));
    }
}
