//! A shell process in a pseudo-terminal.
//!
//! The shell is interactive, so that Ctrl-C ends a command and not the shell, and jobs have process groups of their
//! own. It reads its commands from a named pipe, not from the terminal: what the user types can only reach the command
//! that runs, and never becomes a part of ours. The pipe's other end is ours alone; when this process dies, however it
//! dies, the terminal is hung up and the pipe ends, and the shell hangs up its jobs.

#![expect(clippy::disallowed_methods, reason = "the shell's control pipe is no project file")]

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use protocol::terminal::TerminalSize;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use rustix::termios::{OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::environment;
use super::marker::Nonce;
use super::processes::{self, Which};
use super::screen::{Followed, Screen};
use super::spool::Spool;

/// How a shell is started.
pub(super) struct Start {
    /// The shell, absolute.
    pub(super) program: PathBuf,
    /// The folder it starts in.
    pub(super) cwd: PathBuf,
    /// A private folder for the control pipe.
    pub(super) folder: PathBuf,
    /// Names of secrets that commands may see.
    pub(super) pass: Vec<String>,
    pub(super) size: TerminalSize,
}

/// A running shell. All its processes end with it.
pub(super) struct Terminal {
    leader: Pid,
    mark: String,
    master: Mutex<Box<dyn MasterPty + Send>>,
    tty: Tty,
    keyboard: SyncSender<Vec<u8>>,
    control: tokio::sync::Mutex<pipe::Sender>,
    screen: Arc<Mutex<Screen>>,
    /// Is triggered when the shell has ended and nothing more will be printed.
    gone: CancellationToken,
    /// The mark of the last command's end, which is asked for again after an interrupt.
    end: Mutex<Option<Nonce>>,
}

/// How hard a command is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    /// Like Ctrl-C: the foreground job is interrupted.
    Interrupt,
    /// Everything the command has started is asked to end.
    Terminate,
    /// Everything the command has started is killed.
    Kill,
}

impl Terminal {
    /// Starts a shell. Blocks shortly; needs a tokio runtime around it.
    pub(super) fn open(start: &Start, spool: Arc<Spool>) -> io::Result<Self> {
        let mark = Nonce::random().as_str().to_owned();
        let pipe = ControlPipe::new(start.folder.join(format!("shell-{mark}")))?;
        let control = pipe.sender()?;

        let pair = native_pty_system().openpty(pty_size(start.size)).map_err(io::Error::other)?;
        let mut reader = pair.master.try_clone_reader().map_err(io::Error::other)?;
        let writer = pair.master.take_writer().map_err(io::Error::other)?;
        let tty = Tty::new(pair.master.tty_name().ok_or_else(|| io::Error::other("the terminal has no name"))?)?;
        let child = pair.slave.spawn_command(command(start, &pipe.path, &mark)).map_err(io::Error::other)?;
        drop(pair.slave);
        let leader = child
            .process_id()
            .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
            .ok_or_else(|| io::Error::other("the shell ended at once"))?;

        let screen = Arc::new(Mutex::new(Screen::new(spool)));
        let gone = CancellationToken::new();
        std::thread::Builder::new().name("terminal output".to_owned()).spawn({
            let (screen, gone, mark) = (Arc::clone(&screen), gone.clone(), mark.clone());
            move || {
                let _pipe = pipe;
                read_all(&mut reader, &screen);
                let code = reap(child, leader);
                processes::kill(leader, &mark, Which::Since(0));
                lock(&screen).close(code);
                gone.cancel();
            }
        })?;
        Ok(Self {
            leader,
            mark,
            master: Mutex::new(pair.master),
            tty,
            keyboard: keyboard(writer)?,
            control: tokio::sync::Mutex::new(control),
            screen,
            gone,
            end: Mutex::new(None),
        })
    }

    /// Whether the shell has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Sends lines to the shell itself.
    pub(super) async fn control(&self, lines: &str) -> io::Result<()> {
        let mut control = self.control.lock().await;
        tokio::select! {
            // A shell that has ended never empties its pipe.
            () = self.gone.cancelled() => Err(io::ErrorKind::BrokenPipe.into()),
            written = control.write_all(lines.as_bytes()) => written,
        }
    }

    /// Runs a command, in a folder of its own if one is given.
    pub(super) async fn run(&self, command: &str, folder: Option<(&Path, &Path)>) -> io::Result<Followed> {
        let nonce = Nonce::random();
        self.tty.reset();
        let followed = lock(&self.screen).follow(nonce.clone());
        let (start, end) = (nonce.print_start(), nonce.print_end());
        *lock(&self.end) = Some(nonce);
        let command = format!("command eval {} </dev/tty", quoted(command));
        self.control(&match folder {
            None => format!("{start}; {command}\n{end}\n"),
            Some((there, back)) => format!(
                "{start}; command cd -- {} && {command}\n{end}\ncommand cd -- {} 2>/dev/null\n",
                quoted(&there.to_string_lossy()),
                quoted(&back.to_string_lossy())
            ),
        })
        .await?;
        Ok(followed)
    }

    /// Asks for the mark of the command's end once more. Some shells drop what they have read ahead when they are
    /// interrupted; a second mark does no harm.
    pub(super) async fn ask_for_end(&self) {
        let end = lock(&self.end).as_ref().map(Nonce::print_end);
        if let Some(end) = end {
            let _ = tokio::time::timeout(Duration::from_millis(200), self.control(&format!("{end}\n"))).await;
        }
    }

    /// Types into the terminal.
    pub(super) fn type_in(&self, bytes: &[u8]) -> Result<(), KeyboardFull> {
        self.keyboard.try_send(bytes.to_vec()).or_else(|error| match error {
            TrySendError::Full(_) => Err(KeyboardFull),
            // The shell has just ended; there is nobody to type to.
            TrySendError::Disconnected(_) => Ok(()),
        })
    }

    pub(super) fn resize(&self, size: TerminalSize) {
        if let Err(error) = lock(&self.master).resize(pty_size(size)) {
            tracing::debug!(%error, "the terminal was not resized");
        }
    }

    /// Asks what was started at `since` or later to end. Blocks shortly.
    pub(super) fn signal(&self, force: Force, since: u64) {
        let foreground = lock(&self.master).process_group_leader().and_then(Pid::from_raw);
        if force == Force::Interrupt {
            if let Some(group) = foreground {
                let _ = kill_process_group(group, Signal::INT);
            }
            return;
        }
        let processes = processes::of_terminal(self.leader, &self.mark, Which::Since(since));
        if force == Force::Terminate {
            processes::signal(&processes, Signal::TERM);
            processes::signal(&processes, Signal::CONT);
        } else {
            processes::signal(&processes, Signal::KILL);
        }
        // The shell leaves the rest of the command when what it waits for has ended.
        let _ = kill_process(self.leader, Signal::INT);
    }

    /// Kills what was started at `since` or later. Blocks shortly.
    pub(super) fn kill_since(&self, since: u64) {
        processes::kill(self.leader, &self.mark, Which::Since(since));
    }

    /// Kills the shell and all its processes. Blocks shortly.
    pub(super) fn kill(&self) {
        if self.is_gone() {
            return;
        }
        // Where processes cannot be listed, the shell's end at least hangs up the foreground job.
        let _ = kill_process(self.leader, Signal::KILL);
        processes::kill(self.leader, &self.mark, Which::All);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The user types faster than anything reads.
#[derive(Debug)]
pub(super) struct KeyboardFull;

/// The named pipe the shell reads its commands from. It is removed with the shell.
struct ControlPipe {
    path: PathBuf,
}

impl ControlPipe {
    fn new(path: PathBuf) -> io::Result<Self> {
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        Ok(Self { path })
    }

    /// Our end. It is opened for reading too, as opening would else wait for the shell.
    fn sender(&self) -> io::Result<pipe::Sender> {
        pipe::OpenOptions::new().read_write(true).open_sender(&self.path)
    }
}

impl Drop for ControlPipe {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The terminal's device, with its settings as they were at first.
struct Tty {
    path: PathBuf,
    settings: Termios,
}

impl Tty {
    fn new(path: PathBuf) -> io::Result<Self> {
        let settings = tcgetattr(Self::open(&path)?)?;
        Ok(Self { path, settings })
    }

    /// Undoes what a command did to the settings (no echo, raw input), and forgets what was typed and never read.
    fn reset(&self) {
        // It is opened each time, since the terminal would never be seen to end while we hold it open.
        if let Ok(tty) = Self::open(&self.path) {
            let _ = tcflush(&tty, QueueSelector::IFlush);
            let _ = tcsetattr(&tty, OptionalActions::Now, &self.settings);
        }
    }

    fn open(path: &Path) -> io::Result<std::os::fd::OwnedFd> {
        Ok(rustix::fs::open(path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?)
    }
}

fn command(start: &Start, pipe: &Path, mark: &str) -> CommandBuilder {
    // Prompts are set by the opener, since bash takes them from the environment of an interactive shell only.
    const OPENER: &str = r#"PS1= PS2=; export PS1 PS2; exec "$@" <"$0""#;
    let is_bash = start.program.file_name().is_some_and(|name| name == "bash");
    let without_start_files: &[&str] = if is_bash { &["--norc", "--noprofile"] } else { &[] };
    let interactive: &[&str] = if is_bash { &["--noediting", "+H", "-i"] } else { &["-i"] };

    let mut command = CommandBuilder::new(&start.program);
    command.args(without_start_files);
    command.args(["-c".into(), OPENER.into(), pipe.as_os_str().to_owned(), program(start)]);
    command.args(without_start_files);
    command.args(interactive);
    command.cwd(&start.cwd);
    command.env_clear();
    for (name, value) in environment::for_shell(std::env::vars_os(), &start.pass) {
        command.env(name, value);
    }
    command.env(processes::MARK, mark);
    command
}

fn program(start: &Start) -> OsString {
    start.program.as_os_str().to_owned()
}

/// Text as one word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn read_all(reader: &mut dyn Read, screen: &Mutex<Screen>) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => lock(screen).feed(buffer.get(..length).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Waits for a shell whose terminal has ended. One that goes on without its terminal is killed.
fn reap(mut child: Box<dyn Child + Send + Sync>, leader: Pid) -> Option<i32> {
    for _ in 0..100 {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            Ok(Some(status)) => return exit_code(&status),
            Err(_) => return None,
        }
    }
    let _ = kill_process(leader, Signal::KILL);
    child.wait().ok().and_then(|status| exit_code(&status))
}

fn exit_code(status: &portable_pty::ExitStatus) -> Option<i32> {
    if status.signal().is_some() { None } else { i32::try_from(status.exit_code()).ok() }
}

/// A thread that types, since a terminal nobody reads from makes the typist wait.
fn keyboard(mut writer: Box<dyn Write + Send>) -> io::Result<SyncSender<Vec<u8>>> {
    let (sender, receiver) = sync_channel::<Vec<u8>>(64);
    std::thread::Builder::new().name("terminal input".to_owned()).spawn(move || {
        for bytes in receiver {
            if writer.write_all(&bytes).is_err() {
                return;
            }
        }
    })?;
    Ok(sender)
}

fn pty_size(size: TerminalSize) -> PtySize {
    PtySize { rows: size.rows.clamp(1, 1000), cols: size.columns.clamp(1, 1000), pixel_width: 0, pixel_height: 0 }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
