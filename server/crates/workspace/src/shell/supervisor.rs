//! The supervisor of a shell or a job on Linux: a small process of our own program between the server and what the server
//! starts, so that nothing of that is left when it ends or the server does, however either ends.
//!
//! It is told the server's child, and starts the program in turn:
//!
//! 1. The *supervisor* is the child subreaper of all that comes from it: whatever a process does to its session, its parents or
//!    its environment, it stays a descendant. It watches the server by a pidfd. When the program or the server ends it stops
//!    and kills its descendants until none is left, and ends with the program's exit code.
//! 2. The *child* makes itself the leader of the terminal's session, says its process id to the server, enters the sandbox
//!    ([`sandbox`](super::sandbox)) and becomes the program. It too is our own program: what a forked copy of a process may
//!    do between fork and exec is little, and unsafe.
//!
//! The supervisor is in a session of its own, so no key reaches it; it is in no sandbox, and with Landlock's ABI 6 no process
//! in one can signal it.

use std::process::ExitCode;

/// The first argument of the supervisor.
pub(super) const NAME: &str = "__shell-supervisor";
/// The first argument of the supervisor of a program without a terminal ([`held`](super::held)): it and its child do the same,
/// but that the child reports nothing.
pub(super) const HOLDER: &str = "__program-supervisor";

/// Does a supervisor's work, where this process was started for that. A program whose path is given as
/// [`Confinement::supervisor`](super::Confinement) calls this first in its `main`, before there is any other thread.
pub fn main() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    return linux::main();
    #[cfg(not(target_os = "linux"))]
    None
}

/// Whether there can be supervisors: on Linux since 5.3.
pub fn is_supported() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).is_ok();
    #[cfg(not(target_os = "linux"))]
    false
}

/// Whether a process runs in a sandbox of ours that this process does not run in. Where it cannot be known, because it has
/// ended or there is no `/proc`, it counts as one on Linux.
///
/// Landlock does not keep what is in it from sockets, such as those on which our processes meet. So they ask.
pub fn is_confined(pid: rustix::process::Pid) -> bool {
    #[cfg(target_os = "linux")]
    return linux::is_confined(pid);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        false
    }
}

#[cfg(target_os = "linux")]
mod linux {
    #![expect(clippy::disallowed_methods, reason = "/proc, /dev/null and our named pipe are no project files")]

    use std::collections::HashSet;
    use std::ffi::{OsStr, OsString};
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::Path;
    use std::process::{Command, ExitCode, ExitStatus};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitOptions, getpid, getppid, ioctl_tiocsctty, kill_process, pidfd_open,
        pidfd_send_signal, set_child_subreaper, set_parent_process_death_signal, setsid, wait,
    };
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

    use super::super::processes::{self, Process};
    use super::super::sandbox::{self, Policy};

    /// The first argument of the child.
    const CHILD: &str = "__shell-child";
    /// The first argument of the child that has no terminal.
    const HELD: &str = "__program-child";

    /// How long processes are killed before those that cannot be, such as another user's, are left alone.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// So often new processes are stopped before all are killed. What forks faster is killed in the next round.
    const STOPS: usize = 50;

    pub(super) fn main() -> Option<ExitCode> {
        let mut args = std::env::args_os().skip(1);
        let name = args.next()?;
        let result = match name.to_str() {
            Some(super::NAME) => supervise(args.collect()),
            Some(CHILD) => become_program(args.collect()),
            Some(super::HOLDER) => hold(args.collect()),
            Some(HELD) => become_held(&args.collect::<Vec<_>>()),
            _ => return None,
        };
        Some(result.unwrap_or_else(|error| {
            let _ = writeln!(io::stderr(), "azimuth: {error}\r");
            ExitCode::FAILURE
        }))
    }

    fn supervise(args: Vec<OsString>) -> io::Result<ExitCode> {
        let [server, args @ ..] = args.as_slice() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let server = self::server(server)?;
        let _ = rustix::thread::set_name(c"azimuth-shell");
        set_child_subreaper(Some(getpid()))?;
        let [mark, rest @ ..] = args else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("azimuth").arg(CHILD).args(rest).env(processes::MARK, mark);
        look_after(command, server)
    }

    /// The supervisor of a program without a terminal.
    fn hold(args: Vec<OsString>) -> io::Result<ExitCode> {
        let [server, args @ ..] = args.as_slice() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let server = self::server(server)?;
        let _ = rustix::thread::set_name(c"azimuth-held");
        set_child_subreaper(Some(getpid()))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("azimuth").arg(HELD).args(args);
        look_after(command, server)
    }

    /// Starts the child, and ends with it and all that comes from it.
    fn look_after(mut command: Command, server: rustix::fd::OwnedFd) -> io::Result<ExitCode> {
        let child = command.spawn()?;
        // The terminal, or the pipes, end with those who use them.
        let null = File::options().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&null)?;
        dup2_stdout(&null)?;
        dup2_stderr(&null)?;

        let shell = Pid::from_child(&child);
        let handle = pidfd_open(shell, PidfdFlags::empty())?;
        std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            let _ = poll(&mut [PollFd::new(&server, PollFlags::IN)], None);
            // The rest follows.
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        })?;
        let status = loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == shell => break ExitStatus::from_raw(status.as_raw()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        };
        kill_descendants();
        match status.code() {
            Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))),
            None => {
                // Who waits for us is to see that it was a signal.
                kill_process(getpid(), Signal::KILL)?;
                Ok(ExitCode::FAILURE)
            }
        }
    }

    /// A handle of the server, our parent, whose id it has told: one that is certainly of it, and neither of a process that has
    /// its id by now nor of who takes in orphans.
    fn server(told: &OsStr) -> io::Result<rustix::fd::OwnedFd> {
        let ended = || io::Error::other("the server has ended");
        let told = told.to_str().and_then(|told| Pid::from_raw(told.parse().ok()?)).ok_or_else(ended)?;
        let handle = pidfd_open(told, PidfdFlags::empty())?;
        if getppid() == Some(told) { Ok(handle) } else { Err(ended()) }
    }

    /// Kills all that descends from this process, until nothing does.
    fn kill_descendants() {
        let until = Instant::now() + PATIENCE;
        loop {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            // What is stopped starts no more.
            let mut stopped: HashSet<Process> = HashSet::new();
            for _ in 0..STOPS {
                let new: Vec<_> =
                    processes::descendants(getpid()).into_iter().filter(|found| stopped.insert(*found)).collect();
                if new.is_empty() {
                    break;
                }
                new.into_iter().for_each(|process| send(process, Signal::STOP));
            }
            if stopped.is_empty() || Instant::now() > until {
                return;
            }
            stopped.into_iter().for_each(|process| send(process, Signal::KILL));
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Signals a process, and none that has its id by now.
    fn send(process: Process, signal: Signal) {
        if let Ok(handle) = pidfd_open(process.pid(), PidfdFlags::empty())
            && process.is_there()
        {
            let _ = pidfd_send_signal(&handle, signal);
        }
    }

    fn become_program(args: Vec<OsString>) -> io::Result<ExitCode> {
        let [report, rest @ ..] = args.as_slice() else { return Err(io::ErrorKind::InvalidInput.into()) };
        // It closes when this process becomes another program.
        let mut report = File::from(open(report.as_os_str(), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?);
        writeln!(report, "{}", getpid().as_raw_nonzero())?;
        let error = match try_to_become(rest) {
            Ok(never) => match never {},
            Err(error) => error,
        };
        // Whoever has asked hears it, and the terminal need not show it too.
        write!(report, "{error}")?;
        Ok(ExitCode::FAILURE)
    }

    fn become_held(args: &[OsString]) -> io::Result<ExitCode> {
        // A supervisor that is killed takes the program with it.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        setsid()?;
        match enter_and_become(args) {
            Ok(never) => match never {},
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }

    fn try_to_become(args: &[OsString]) -> Result<std::convert::Infallible, Box<dyn std::error::Error>> {
        // A supervisor that is killed takes the program with it; the server finds the rest.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        setsid()?;
        ioctl_tiocsctty(io::stdin())?;
        enter_and_become(args)
    }

    /// Enters the sandbox that the arguments begin with, if any, and becomes the program behind it.
    fn enter_and_become(args: &[OsString]) -> Result<std::convert::Infallible, Box<dyn std::error::Error>> {
        let (policy, program) = Policy::from_args(args).ok_or("the arguments are not right")?;
        if let Some((policy, reads)) = policy {
            sandbox::enter(&policy, &reads)?;
        }
        let [program, args @ ..] = program else { return Err("no program".into()) };
        Err(Command::new(program).args(args).exec().into())
    }

    pub(super) fn is_confined(pid: Pid) -> bool {
        let ours: HashSet<Pid> = sandboxing(getpid()).unwrap_or_default().into_iter().collect();
        sandboxing(pid).is_none_or(|theirs| theirs.iter().any(|supervisor| !ours.contains(supervisor)))
    }

    /// The supervisors with a sandbox that a process descends from; none where it is not there.
    fn sandboxing(process: Pid) -> Option<Vec<Pid>> {
        let (mut at, mut found) = (process, Vec::new());
        loop {
            if supervises_a_sandbox(at) {
                found.push(at);
            }
            match processes::parent(at)? {
                Some(parent) => at = parent,
                None => return Some(found),
            }
        }
    }

    fn supervises_a_sandbox(process: Pid) -> bool {
        let path = Path::new("/proc").join(process.as_raw_nonzero().to_string()).join("cmdline");
        let line = std::fs::read(path).unwrap_or_default();
        let words: Vec<&OsStr> = line.split(|byte| *byte == 0).map(OsStr::from_bytes).collect();
        words.get(1).is_some_and(|name| *name == super::NAME || *name == super::HOLDER)
            && words.iter().take_while(|word| **word != "--").any(|word| *word == sandbox::NAME)
    }
}
