//! Programs without a terminal, such as language servers: they speak over pipes, and nothing of them outlives us.
//!
//! Where there is a [supervisor](super::supervisor) it holds them and all that they start, however we end. Elsewhere
//! they are a process group of their own, which is killed when we end in order. Where we are killed ourselves, nobody
//! is left to do that: their pipes close, and a language server is told our process id to watch, so that those that
//! keep to the protocol end too.

#![expect(clippy::disallowed_methods, reason = "this is where programs without a terminal start")]

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::{Confinement, environment, programs, sandbox};
#[cfg(target_os = "linux")]
use super::{processes, supervisor};

/// A program that runs. It is killed when this is dropped.
pub struct Held {
    child: Child,
    is_supervised: bool,
}

/// The pipes to a program.
pub struct Pipes {
    /// The program's standard input.
    pub stdin: ChildStdin,
    /// The program's standard output.
    pub stdout: ChildStdout,
    /// The program's standard error.
    pub stderr: ChildStderr,
}

/// The id of a program's outermost process, to look at it and to end it from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldId {
    pid: Pid,
    is_supervised: bool,
}

impl Held {
    /// Starts a program in its sandbox, with the environment that shells have too, with this `PATH`, and with secrets
    /// of these names.
    ///
    /// # Errors
    /// The system's error. Of a program with a supervisor, its standard error says why it could not be started.
    pub fn start(
        confinement: &Confinement,
        program: &Path,
        args: &[String],
        folder: &Path,
        path: Option<&OsStr>,
        pass: &[String],
    ) -> io::Result<(Self, Pipes)> {
        let supervisor = confinement.supervisor.as_deref().filter(|_| cfg!(target_os = "linux"));
        let policy = confinement.in_force();
        let mut command = match supervisor {
            #[cfg(target_os = "linux")]
            Some(supervisor) => {
                let mut command = Command::new(supervisor);
                command.arg(supervisor::HOLDER).arg(std::process::id().to_string());
                command.args(policy.map(|policy| policy.to_args(&[])).unwrap_or_default()).arg("--").arg(program);
                command
            }
            _ => {
                let mut words = policy.map(|policy| policy.as_profile_args(&[])).unwrap_or_default();
                words.push(program.into());
                let (first, rest) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
                let mut command = Command::new(first);
                command.args(rest);
                command
            }
        };
        command.args(args).current_dir(folder);
        let leads_out = |name: &OsStr| policy.is_some() && sandbox::is_withheld(&name.to_string_lossy());
        let environment = environment::of_ours(pass).into_iter().filter(|(name, _)| !leads_out(name));
        let environment = environment.chain(policy.and_then(sandbox::Policy::environment));
        #[cfg(target_os = "linux")]
        let environment = environment
            .map(|(name, value)| (if supervisor.is_some() { environment::carried(&name) } else { name }, value));
        command.env_clear().envs(environment);
        if let Some(path) = path {
            command.env("PATH", programs::path(Some(path), &[]));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A key in our terminal is none of its business.
        command.process_group(0);
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((stdin, stdout), stderr) = pipes.ok_or_else(|| io::Error::other("a pipe to the program is missing"))?;
        let held = Self { child, is_supervised: supervisor.is_some() };
        Ok((held, Pipes { stdin, stdout, stderr }))
    }

    /// Its id; none when it has ended and been waited for.
    pub fn id(&self) -> Option<HeldId> {
        HeldId::of(&self.child, self.is_supervised)
    }

    /// Waits for its end, and where it is supervised for that of all that it started.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Kills it and all that it started. To be [waited](Held::wait) for.
    pub fn kill(&mut self) {
        if let Some(id) = self.id() {
            id.kill();
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.kill();
    }
}

impl HeldId {
    /// That of a child; none when it has ended and been waited for.
    pub fn of(child: &Child, is_supervised: bool) -> Option<Self> {
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))?;
        Some(Self { pid, is_supervised })
    }

    /// The process.
    pub fn pid(self) -> Pid {
        self.pid
    }

    /// As a number.
    pub fn number(self) -> u32 {
        u32::try_from(self.pid.as_raw_nonzero().get()).unwrap_or(0)
    }

    /// How much memory it and all that it started hold, in bytes; none if that cannot be known.
    pub fn memory(self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return processes::memory(self.pid);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Kills it and all that it started.
    pub fn kill(self) {
        #[cfg(target_os = "linux")]
        if self.is_supervised {
            // Its supervisor outlives the program, to see to it that nothing of it is left.
            let below = processes::descendants(self.pid);
            if !below.is_empty() {
                return processes::signal(&below, Signal::KILL);
            }
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}
