//! Starting a program in a pseudo-terminal: a shell, or a command in the background.
//!
//! Where there is a [supervisor](super::supervisor), the program is started by that, so that nothing of it survives us,
//! and in the sandbox. Elsewhere it is started as it is.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, SlavePty};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::Pid;

use super::programs::Told;
use super::sandbox::{self, Policy};
use super::{gradle, processes};

/// How long a supervisor may take to start a program.
const PATIENCE: Duration = Duration::from_secs(15);

/// The supervisor and the policy by which the processes of a program are held.
#[derive(Clone, Debug, Default)]
pub struct Confinement {
    /// The program whose `main` calls [`super::supervisor::main`], absolute: this one. Without it, and elsewhere than
    /// on Linux, programs are started as they are, and have no sandbox.
    pub supervisor: Option<PathBuf>,
    /// The policy on what they may do to the machine; without it, whatever the user may.
    pub policy: Option<Arc<Policy>>,
    /// The folders of `PATH` that the user was told do not answer. Clones share it.
    pub told: Told,
}

/// A program to be started.
pub struct Program {
    /// The program, absolute.
    pub program: PathBuf,
    /// Its arguments, without its name.
    pub args: Vec<OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Its whole environment, without the mark.
    pub environment: Vec<(OsString, OsString)>,
    /// The value of [`processes::MARK`]: 32 hexadecimal digits of its own.
    pub mark: String,
    /// Our own files that it reads, sandbox or not: a control pipe.
    pub reads: Vec<PathBuf>,
    /// A private folder, for a named pipe that is there while it starts.
    pub folder: PathBuf,
}

/// A program that was started.
pub struct Launched {
    /// Where its supervisor says that it could not see what was left.
    pub last_word: Option<LastWord>,
    /// The process that ends when it and all its processes have ended. Its exit code is the program's.
    pub child: Box<dyn Child + Send + Sync>,
    /// The program's own process, the leader of the terminal's session.
    pub leader: Pid,
}

impl Confinement {
    /// True if programs have a sandbox.
    pub fn is_sandboxed(&self) -> bool {
        self.in_force().is_some()
    }

    /// The policy, where it can be enforced.
    pub fn in_force(&self) -> Option<&Policy> {
        let policy = self.policy.as_deref()?;
        let enforceable = if cfg!(target_os = "linux") { self.supervisor.is_some() } else { cfg!(target_os = "macos") };
        enforceable.then_some(policy)
    }

    /// The same without what does not answer by now, for which a program that is started would wait. Blocks.
    #[must_use]
    pub fn answering(mut self) -> Self {
        if self.is_sandboxed() {
            self.policy = self.policy.map(|policy| Arc::new(Arc::unwrap_or_clone(policy).answering()));
        }
        self
    }

    /// Starts a program in a terminal, which becomes its controlling one. Blocks, on a busy machine for some tenths of
    /// a second.
    pub fn launch(&self, slave: &dyn SlavePty, mut program: Program) -> io::Result<Launched> {
        let policy = self.in_force();
        if let Some(policy) = policy {
            let of_gradle = gradle::variable(&program.environment, &program.mark);
            let more: Vec<_> = policy.environment().into_iter().chain([of_gradle]).collect();
            let is_set_anew = |name: &OsString| more.iter().any(|(more, _)| name == more);
            let is_kept = |name: &OsString| !sandbox::is_withheld(&name.to_string_lossy()) && !is_set_anew(name);
            program.environment.retain(|(name, _)| is_kept(name));
            program.environment.extend(more);
        }
        match &self.supervisor {
            Some(supervisor) if cfg!(target_os = "linux") => supervised(slave, supervisor, policy, &program),
            _ => {
                let mut args = policy.map(|policy| policy.as_profile_args(&program.reads)).unwrap_or_default();
                args.push(program.program.clone().into());
                args.extend(program.args.iter().cloned());
                let mut command = CommandBuilder::from_argv(args);
                surround(&mut command, &program);
                command.env(processes::MARK, &program.mark);
                let child = slave.spawn_command(command).map_err(io::Error::other)?;
                let leader = pid(child.as_ref())?;
                Ok(Launched { last_word: None, child, leader })
            }
        }
    }
}

fn supervised(
    slave: &dyn SlavePty,
    supervisor: &Path,
    policy: Option<&Policy>,
    program: &Program,
) -> io::Result<Launched> {
    let report = Report::new(program.folder.join(format!("start-{}", program.mark)))?;
    let last_word = LastWord::new(program.folder.join(format!("end-{}", program.mark)))?;
    let mut command = CommandBuilder::new(supervisor);
    command.arg(super::supervisor::NAME);
    command.arg(std::process::id().to_string());
    let register = gradle::register(&program.mark);
    command.args([last_word.path.as_os_str(), register.as_os_str(), program.mark.as_ref(), report.path.as_os_str()]);
    if let Some(policy) = policy {
        command.args(policy.to_args(&program.reads));
    }
    command.arg("--");
    command.arg(&program.program);
    command.args(&program.args);
    surround(&mut command, program);
    for (name, value) in &program.environment {
        command.env_remove(name);
        command.env(super::environment::carried(name), value);
    }
    // The program, and not its supervisor, leads the terminal's session.
    command.set_controlling_tty(false);
    let mut child = slave.spawn_command(command).map_err(io::Error::other)?;
    match report.read(child.as_mut()) {
        Ok(leader) => {
            // It has the file open by now.
            remove(&last_word.path);
            Ok(Launched { last_word: Some(last_word), child, leader })
        }
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

fn surround(command: &mut CommandBuilder, program: &Program) {
    command.cwd(&program.cwd);
    command.env_clear();
    for (name, value) in &program.environment {
        command.env(name, value);
    }
}

fn pid(child: &(dyn Child + Send + Sync)) -> io::Result<Pid> {
    let id = child.process_id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    id.ok_or_else(|| io::Error::other("the program ended at once"))
}

/// The file into which a supervisor writes where it could not see what was left of its program. It has no terminal by
/// then.
pub struct LastWord {
    path: PathBuf,
    file: std::fs::File,
}

impl LastWord {
    fn new(path: PathBuf) -> io::Result<Self> {
        let new = OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = open(&path, new, Mode::RUSR | Mode::WUSR)?.into();
        Ok(Self { path, file })
    }

    /// True if it has written, once it has ended. What it has written is not asked for: another sandbox could have,
    /// too.
    pub fn is_said(&self) -> bool {
        self.file.metadata().is_ok_and(|data| data.len() > 0)
    }
}

impl Drop for LastWord {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The named pipe on which a program's process says its id, and what has gone wrong, until it has become the program.
/// It is removed after that.
struct Report {
    path: PathBuf,
    reader: std::fs::File,
}

impl Report {
    fn new(path: PathBuf) -> io::Result<Self> {
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        let reader = open(&path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty());
        let reader = reader.inspect_err(|_| remove(&path))?.into();
        Ok(Self { path, reader })
    }

    /// Reads the report to its end.
    fn read(&self, child: &mut (dyn Child + Send + Sync)) -> io::Result<Pid> {
        let (until, mut text) = (Instant::now() + PATIENCE, Vec::new());
        let slice = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            // While nobody has opened it to write, there is nothing to wait for but that.
            let ready = poll(&mut [PollFd::new(&self.reader, PollFlags::IN)], Some(&slice))?;
            if ready > 0 {
                match (&self.reader).read_to_end(&mut text) {
                    Ok(_) => break,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            } else if child.try_wait()?.is_some() {
                return Err(io::Error::other("the supervisor of the shell ended at once"));
            }
            if Instant::now() > until {
                return Err(io::Error::other("the supervisor of the shell did not start it"));
            }
        }
        let text = String::from_utf8_lossy(&text);
        let (id, error) = text.split_once('\n').unwrap_or((&text, ""));
        match id.parse().ok().and_then(Pid::from_raw) {
            Some(leader) if error.is_empty() => Ok(leader),
            _ => Err(io::Error::other(format!("the supervisor of the shell: {error}"))),
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

#[expect(clippy::disallowed_methods, reason = "the report is no project file")]
fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

/// Removes the named pipes that are in a folder and whose names begin so, those of programs that were started, and the
/// files for last words. Nobody else uses the folder meanwhile. Blocks.
pub fn remove_left(folder: &Path, pipes: &str) {
    use std::os::unix::fs::FileTypeExt;

    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let begins = |with: &[&str]| with.iter().any(|begin| name.to_string_lossy().starts_with(begin));
        let is_ours = |kind: std::fs::FileType| {
            (begins(&[pipes, "start-"]) && kind.is_fifo()) || (begins(&["end-"]) && kind.is_file())
        };
        if entry.file_type().is_ok_and(is_ours) {
            remove(&entry.path());
        }
    }
}
