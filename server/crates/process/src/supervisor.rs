//! The supervisor of a shell or a job on Linux: a small process of our own program between the server and what the
//! server starts, so that nothing of that is left when it ends or the server does, however either ends.
//!
//! It is told the server's child, and starts the program in turn:
//!
//! 1. The *supervisor* is the child subreaper of all that comes from it: whatever a process does to its session, its
//!    parents or its environment, it stays a descendant. It watches the server by a pidfd. When the program or the
//!    server ends it stops and kills its descendants until none is left, removes what Gradle kept for them, and ends
//!    with the program's exit code.
//! 2. The *child* makes itself the leader of the terminal's session, says its process id to the server, enters the
//!    sandbox ([`sandbox`](super::sandbox)) and becomes the program. It too is our own program: what a forked copy of a
//!    process may do between fork and exec is little, and unsafe.
//!
//! The supervisor is in a session of its own, so no key reaches it; it is in no sandbox, and no process in one can set
//! its limits, nor with Landlock's ABI 6 signal it. It sees through `/proc`. Where it cannot, it starts nothing; and
//! where it no longer can, it still knows whether it has children, finds and kills them until it has none, and says so.

use std::process::ExitCode;

/// The first argument of the supervisor.
pub(super) const NAME: &str = "__shell-supervisor";
/// The first argument of the supervisor of a program without a terminal (`held`): it and its child do
/// the same, but that the child reports nothing.
pub const HOLDER: &str = "__program-supervisor";

/// Does a supervisor's work, where this process was started for that. A program whose path is given as
/// [`Confinement::supervisor`](super::Confinement) calls this first in its `main`, before there is any other thread.
pub fn main() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    return linux::main();
    #[cfg(not(target_os = "linux"))]
    None
}

/// True if there can be supervisors: on Linux since 5.3.
pub fn is_supported() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty()).is_ok();
    #[cfg(not(target_os = "linux"))]
    false
}

/// True if a process runs in a sandbox that this process does not run in, of ours or another's: whether it can gain
/// fewer rights or make fewer calls, which no process can undo, or a supervisor of a sandbox is above it. Where it
/// cannot be known, because it has ended or there is no `/proc`, it counts as one on Linux.
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
    use std::os::unix::fs::FileExt;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::Path;
    use std::process::{Command, ExitCode, ExitStatus};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::{Mode, OFlags, open};
    use rustix::io::fcntl_dupfd_cloexec;
    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, ioctl_tiocsctty, kill_process,
        pidfd_open, pidfd_send_signal, set_child_subreaper, set_parent_process_death_signal, setsid, wait, waitid,
    };
    use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

    use super::super::processes::{self, Process};
    use super::super::sandbox::{self, Policy};
    use super::super::{environment, gradle};

    /// The first argument of the child.
    const CHILD: &str = "__shell-child";
    /// The first argument of the child that has no terminal.
    const HELD: &str = "__program-child";

    /// The text that is printed if nothing could be seen.
    const LAST_WORD: &str =
        "azimuth: the supervisor could not see in /proc which processes were left, and killed all of them\n";

    /// File descriptors below this are the program's input and output.
    const FIRST_OWN: i32 = 3;

    /// How long processes are killed before those that cannot be, such as another user's, are left alone.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// After so many passes of killing what is seen, the children are killed by their numbers too.
    const BLIND: u32 = 100;

    /// So often new processes are stopped before all are killed. Those that fork faster are killed in the next pass.
    const STOPS: usize = 50;

    /// One new process among at least so many that are stopped is left to the next pass as well.
    const FEW: usize = 8;

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
        let [last_word, register, mark, rest @ ..] = args else { return Err(io::ErrorKind::InvalidInput.into()) };
        // The terminal ends with the shell, and so cannot be told.
        let last_word = File::options().append(true).open(last_word)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("azimuth").arg(CHILD).args(rest).env(processes::MARK, mark);
        let status = look_after(command, server, last_word);
        // The server may have been killed, so it is done here.
        gradle::remove_register(Path::new(register));
        end_as(status?)
    }

    /// The supervisor of a program without a terminal.
    fn hold(args: Vec<OsString>) -> io::Result<ExitCode> {
        let [server, args @ ..] = args.as_slice() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let server = self::server(server)?;
        let _ = rustix::thread::set_name(c"azimuth-held");
        set_child_subreaper(Some(getpid()))?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("azimuth").arg(HELD).args(args);
        let last_word = fcntl_dupfd_cloexec(rustix::stdio::stderr(), FIRST_OWN)?;
        end_as(look_after(command, server, last_word.into())?)
    }

    /// Starts the child, waits for its end or the server's, and ends all that comes from it. Where it could not be
    /// seen what that is, says so last. Returns how the child ended.
    fn look_after(mut command: Command, server: rustix::fd::OwnedFd, mut last_word: File) -> io::Result<ExitStatus> {
        let is_sandboxed = command.get_args().take_while(|word| *word != "--").any(|word| word == sandbox::NAME);
        // The means to find and to end all that comes from the child are there before it is.
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let children = Children::new();
        if processes::parent(getpid()).is_none() {
            let why =
                "/proc does not show this process, so nothing that a command leaves behind could be found; mount it";
            return Err(io::Error::other(why));
        }
        let child = command.spawn()?;
        let shell = Pid::from_child(&child);
        if let Err(error) = watch(shell, server) {
            kill_descendants(&children, is_sandboxed);
            return Err(error);
        }
        // The terminal, or the pipes, end with those who use them.
        let _ = dup2_stdin(&null).and_then(|()| dup2_stdout(&null)).and_then(|()| dup2_stderr(&null));
        let status = loop {
            match wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if pid == shell => break ExitStatus::from_raw(status.as_raw()),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => {
                    kill_descendants(&children, is_sandboxed);
                    return Err(error.into());
                }
            }
        };
        if kill_descendants(&children, is_sandboxed) == Sight::Blind {
            let _ = last_word.write_all(LAST_WORD.as_bytes());
        }
        Ok(status)
    }

    /// Ends this process as the child has ended.
    fn end_as(status: ExitStatus) -> io::Result<ExitCode> {
        match status.code() {
            Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))),
            None => {
                // Who waits for us is to see that it was a signal.
                kill_process(getpid(), Signal::KILL)?;
                Ok(ExitCode::FAILURE)
            }
        }
    }

    /// Kills the child when the server ends. The rest follows.
    fn watch(shell: Pid, server: rustix::fd::OwnedFd) -> io::Result<()> {
        let handle = pidfd_open(shell, PidfdFlags::empty())?;
        std::thread::Builder::new().name("server".to_owned()).spawn(move || {
            let _ = poll(&mut [PollFd::new(&server, PollFlags::IN)], None);
            let _ = pidfd_send_signal(&handle, Signal::KILL);
        })?;
        Ok(())
    }

    /// A handle of the server, our parent, whose id it has told: one that is certainly of it, and neither of a process
    /// that has its id by now nor of who takes in orphans.
    fn server(told: &OsStr) -> io::Result<rustix::fd::OwnedFd> {
        let ended = || io::Error::other("the server has ended");
        let told = told.to_str().and_then(|told| Pid::from_raw(told.parse().ok()?)).ok_or_else(ended)?;
        let handle = pidfd_open(told, PidfdFlags::empty())?;
        if getppid() == Some(told) { Ok(handle) } else { Err(ended()) }
    }

    /// Kills all that descends from this process, until nothing does. Processes that a sandbox holds can be killed, so
    /// they are waited for however long it takes; other users' processes cannot.
    ///
    /// The kernel, and not what can be seen, says if there are any left: a process that has no children has no
    /// descendants.
    fn kill_descendants(children: &Children, is_sandboxed: bool) -> Sight {
        let until = Instant::now() + PATIENCE;
        let mut sight = Sight::Clear;
        for pass in 1_u32.. {
            loop {
                match wait(WaitOptions::NOHANG) {
                    Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) => return sight,
                }
            }
            if !is_sandboxed && Instant::now() > until {
                return sight;
            }
            if processes::parent(getpid()).is_none() {
                sight = Sight::Blind;
            }
            // A process that is stopped starts no more, and of a chain of processes the youngest is the one that does.
            let mut stopped: HashSet<Process> = HashSet::new();
            for _ in 0..STOPS {
                let new: Vec<_> =
                    processes::descendants(getpid()).into_iter().filter(|found| stopped.insert(*found)).collect();
                let are_few = new.len() * FEW <= stopped.len();
                new.into_iter().for_each(|process| send(process, Signal::STOP));
                // The end of a long chain is reached sooner once the rest is gone, and need not be looked through.
                if are_few {
                    break;
                }
            }
            // Some live that cannot be seen, or do not end. The children's children become ours with their end.
            if (stopped.is_empty() && pass > 1) || pass % BLIND == 0 {
                children.kill();
            }
            stopped.into_iter().for_each(|process| send(process, Signal::KILL));
            std::thread::sleep(Duration::from_millis(2));
        }
        sight
    }

    /// The view that `/proc` gave of what was to be killed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Sight {
        Clear,
        Blind,
    }

    /// The children of this process, found without `/proc` being readable by then, and without a file to open.
    struct Children {
        /// The kernel's list of them, held open; not every kernel has one.
        list: Option<File>,
        /// The greatest number that a process can have.
        greatest: i32,
    }

    impl Children {
        fn new() -> Self {
            let id = getpid().as_raw_nonzero();
            let number = std::fs::read_to_string("/proc/sys/kernel/pid_max").ok().and_then(|it| it.trim().parse().ok());
            let list = File::open(format!("/proc/self/task/{id}/children")).ok();
            // Without it, the greatest that Linux knows.
            Self { list, greatest: number.unwrap_or(1 << 22) }
        }

        /// Kills those that there are now. None of their numbers can be another's before they have been waited for.
        fn kill(&self) {
            let listed = self.listed();
            if listed.is_empty() {
                (1..=self.greatest).filter_map(Pid::from_raw).filter(|pid| is_child(*pid)).for_each(kill_child);
            } else {
                listed.into_iter().for_each(kill_child);
            }
        }

        fn listed(&self) -> Vec<Pid> {
            let mut text = [0; 16 << 10];
            let read = self.list.as_ref().and_then(|list| list.read_at(&mut text, 0).ok()).unwrap_or(0);
            let mut words: Vec<&[u8]> = text.get(..read).unwrap_or_default().split(|byte| *byte == b' ').collect();
            // The text behind the last space is cut off, or empty.
            words.pop();
            let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse().ok().and_then(Pid::from_raw);
            words.into_iter().filter_map(number).filter(|pid| is_child(*pid)).collect()
        }
    }

    /// True if a number is that of a child of ours that has not been waited for.
    fn is_child(pid: Pid) -> bool {
        waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).is_ok()
    }

    fn kill_child(pid: Pid) {
        let _ = kill_process(pid, Signal::KILL);
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
        let mut command = Command::new(program);
        environment::hand_on(&mut command);
        Err(command.args(args).exec().into())
    }

    pub(super) fn is_confined(pid: Pid) -> bool {
        // While it is held and has not ended, its number is no other process's.
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
        let is_held_back = match (bonds(pid), bonds(getpid())) {
            (Some(theirs), Some(ours)) => theirs.into_iter().zip(ours).any(|(theirs, ours)| theirs > ours),
            _ => true,
        };
        let ours: HashSet<Pid> = sandboxing(getpid()).unwrap_or_default().into_iter().collect();
        let descends = || sandboxing(pid).is_none_or(|all| all.iter().any(|supervisor| !ours.contains(supervisor)));
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let lives = || poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&at_once)).is_ok_and(|ended| ended == 0);
        is_held_back || descends() || !lives()
    }

    /// Returns what binds a process and what comes from it for good: that it gains no rights, that its calls are
    /// filtered, and by how many filters. More is more.
    fn bonds(process: Pid) -> Option<[u32; 3]> {
        let path = Path::new("/proc").join(process.as_raw_nonzero().to_string()).join("status");
        let status = std::fs::read(path).ok()?;
        let status = String::from_utf8_lossy(&status);
        let value = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.map(|value| value.trim().parse().ok())
        };
        // Before Linux 5.9 the filters are not counted, and a kernel may have none.
        let counted = |name| value(name).unwrap_or(Some(0));
        Some([value("NoNewPrivs")??, counted("Seccomp")?, counted("Seccomp_filters")?])
    }

    /// The supervisors with a sandbox that a process descends from; none if it is not there.
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
