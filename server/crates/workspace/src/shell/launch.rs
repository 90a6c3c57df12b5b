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
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, mknodat, open, openat, unlinkat};
use rustix::process::Pid;

use super::processes;
use super::programs::Told;
use super::sandbox::{self, Policy};

/// How long a supervisor may take to start a program.
const PATIENCE: Duration = Duration::from_secs(15);

/// What the processes of a program are held by.
#[derive(Clone, Debug, Default)]
pub struct Confinement {
    /// The program whose `main` calls [`super::supervisor::main`], absolute: this one. Without it, and elsewhere than
    /// on Linux, programs are started as they are, and have no sandbox.
    pub supervisor: Option<PathBuf>,
    /// What they may do to the machine; without it, whatever the user may.
    pub policy: Option<Arc<Policy>>,
    /// Which folders of `PATH` the user was told of that do not answer. Clones share it.
    pub told: Told,
}

/// A program to be started.
pub(super) struct Program {
    /// The program, absolute.
    pub(super) program: PathBuf,
    /// Its arguments, without its name.
    pub(super) args: Vec<OsString>,
    /// The folder it starts in.
    pub(super) cwd: PathBuf,
    /// Its whole environment, without the mark.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// The value of [`processes::MARK`]: 32 hexadecimal digits of its own.
    pub(super) mark: String,
    /// Our own files that it reads, sandbox or not: a control pipe.
    pub(super) reads: Vec<PathBuf>,
    /// A private folder, for a named pipe that is there while it starts.
    pub(super) folder: PathBuf,
}

/// A program that was started.
pub(super) struct Launched {
    /// Where its supervisor says that it could not see what was left.
    pub(super) last_word: Option<LastWord>,
    /// What ends when it and all its processes have ended. Its exit code is the program's.
    pub(super) child: Box<dyn Child + Send + Sync>,
    /// The program's own process, the leader of the terminal's session.
    pub(super) leader: Pid,
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
    pub(crate) fn answering(mut self) -> Self {
        if self.is_sandboxed() {
            self.policy = self.policy.map(|policy| Arc::new(Arc::unwrap_or_clone(policy).answering()));
        }
        self
    }

    /// Starts a program in a terminal, which becomes its controlling one. Blocks, on a busy machine for some tenths of
    /// a second.
    pub(super) fn launch(&self, slave: &dyn SlavePty, mut program: Program) -> io::Result<Launched> {
        let policy = self.in_force();
        if let Some(policy) = policy {
            let of_gradle = of_gradle(&program.environment, &program.mark);
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

/// What gives Gradle a register of daemons that is the sandbox's own. It cannot use the user's, where it would find a
/// daemon that runs outside.
fn of_gradle(environment: &[(OsString, OsString)], mark: &str) -> (OsString, OsString) {
    const NAME: &str = "GRADLE_OPTS";
    // Of two values of a property the last one counts.
    let mut options =
        environment.iter().find(|(name, _)| name == NAME).map(|(_, value)| value.clone()).unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push("\"-Dorg.gradle.daemon.registry.base=");
    options.push(register_of_gradle(mark));
    options.push("\"");
    (NAME.into(), options)
}

/// A folder among temporary files, since sandboxes write no other; its name cannot be guessed. Gradle makes it.
pub(super) fn register_of_gradle(mark: &str) -> PathBuf {
    std::env::temp_dir().join(format!("azimuth-gradle-{mark}"))
}

/// Removes the folder that Gradle has made for the daemons of a program that has ended. Blocks.
pub(super) fn remove_register_of_gradle(register: &Path) {
    /// Gradle makes some files, two folders deep. What commands have made beyond this stays: nothing bounds how deep
    /// and how much that can be.
    const DEEPEST: usize = 8;
    const MOST: usize = 10_000;
    remove_all(CWD, register, DEEPEST, &mut { MOST });
}

/// Removes a file, or a folder with what is in it, as far as so many folders deep and no more than so many. No link is
/// followed.
fn remove_all(at: impl AsFd, name: impl rustix::path::Arg + Copy, deepest: usize, left: &mut usize) {
    let Some(rest) = left.checked_sub(1) else { return };
    *left = rest;
    let as_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(&at, name, as_folder, Mode::empty()) else {
        let _ = unlinkat(&at, name, AtFlags::empty());
        return;
    };
    if let Some(deepest) = deepest.checked_sub(1) {
        remove_below(&folder, deepest, left);
    }
    let _ = unlinkat(&at, name, AtFlags::REMOVEDIR);
}

fn remove_below(folder: &OwnedFd, deepest: usize, left: &mut usize) {
    for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if *left == 0 {
            return;
        }
        if name != c"." && name != c".." {
            remove_all(folder, name, deepest, left);
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
    let register = register_of_gradle(&program.mark);
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
pub(super) struct LastWord {
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
    pub(super) fn is_said(&self) -> bool {
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

/// Removes the named pipes of ours that are in a folder, and the files for last words.
pub(super) fn remove_pipes(folder: &Path) {
    use std::os::unix::fs::FileTypeExt;

    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let begins = |with: &[&str]| with.iter().any(|begin| name.to_string_lossy().starts_with(begin));
        let is_ours = |kind: std::fs::FileType| {
            (begins(&["shell-", "start-"]) && kind.is_fifo()) || (begins(&["end-"]) && kind.is_file())
        };
        if entry.file_type().is_ok_and(is_ours) {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its folders itself")]
mod tests {
    use rustix::fs::mkdirat;
    use rustix::process::{Resource, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn a_register_of_gradle_that_commands_made_very_deep_is_removed_as_far_as_it_is_gradles() {
        // With so many files as may be open somewhere, so that it is not their number that ends it.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit }).unwrap();
        let register = register_of_gradle(&format!("test-{}", std::process::id()));
        std::fs::create_dir_all(register.join("8.5")).unwrap();
        std::fs::write(register.join("8.5/registry.bin"), "").unwrap();
        let kept = tempfile::tempdir().unwrap();
        std::fs::write(kept.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink(kept.path(), register.join("link")).unwrap();
        let as_folder = || OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = open(&register, as_folder(), Mode::empty()).unwrap();
        for _ in 0..4_000 {
            mkdirat(&at, "a", Mode::RWXU).unwrap();
            at = openat(&at, "a", as_folder(), Mode::empty()).unwrap();
        }
        // On a thread with little room, so that fewer folders show it.
        let remove = {
            let register = register.clone();
            move || remove_register_of_gradle(&register)
        };
        std::thread::Builder::new().stack_size(128 << 10).spawn(remove).unwrap().join().unwrap();
        assert!(!register.join("8.5").exists() && !register.join("link").is_symlink());
        assert!(kept.path().join("file").exists(), "no link is followed");
        assert!(register.exists(), "what is too deep stays");
        assert!(std::process::Command::new("rm").arg("-r").arg(&register).status().unwrap().success());

        std::fs::create_dir_all(register.join("8.5")).unwrap();
        remove_register_of_gradle(&register);
        assert!(!register.exists());
    }
}
