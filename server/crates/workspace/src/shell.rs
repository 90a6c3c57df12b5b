//! Commands: one shell per session, in a pseudo-terminal the user can watch and type into (design D6, 001 §14.1).
//!
//! [`Shell`] runs one command at a time. Folder, environment, functions and aliases survive from one to the next. What
//! the terminal prints goes to its [`Spool`], for views; what a command printed comes back as plain
//! bounded text, for a model. A command that takes too long or is cancelled is interrupted, then ended, then killed with
//! everything it has started, and if the shell itself does not come back it is replaced, which is said.
//!
//! Commands see the server's environment, but for two kinds of variables: secrets, that is names that end in `_API_KEY`,
//! `_AUTH_KEY`, `_ACCESS_KEY`, `_SECRET_KEY`, `_PRIVATE_KEY`, `_TOKEN`, `_SECRET`, `_PASSWORD` or `_CREDENTIALS` (in
//! any case, and unless [`ShellConfig::pass`] names them); and what would change the shell itself, such as `BASH_ENV`
//! and `PROMPT_COMMAND`. Pagers are `cat`. `TERM` is `xterm-256color`, since the view is a real terminal.
//!
//! [`parse()`] tells what a command line would run, for permission.
//!
//! Reading order: `spool` (what views read), `marker` (where a command's output begins and ends), `transcript` (what
//! a model reads), `screen` (which joins them), `environment`, `git` (in a workspace that is not trusted), `processes`, `keyboard`, `terminal` (the process),
//! [`parse()`].

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::ToolCallId;
use protocol::terminal::TerminalSize;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

use screen::Ended;
use terminal::{Force, Start, Terminal};
use transcript::{Plain, Printed};

mod spool;

mod marker;

mod transcript;

mod screen;

mod environment;

mod git;

mod processes;

mod keyboard;

mod terminal;

mod parse;

pub use parse::parse;
pub use spool::Spool;

/// How long a command may run unless the caller says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The shortest time a command can be given.
pub const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest time a command can be given.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// The longest command line, in bytes.
pub const MAX_COMMAND: usize = 256 << 10;

/// How long a shell may take to begin with a command.
const START: Duration = Duration::from_secs(15);

/// How much can be typed before a command has started.
const MAX_EARLY: usize = 64 << 10;

/// So many bytes of a long output are read at once.
const PART: usize = 64 << 10;

/// How long a command has to end after each stage of force.
const GRACE: [(Force, Duration); 3] = [
    (Force::Interrupt, Duration::from_millis(1000)),
    (Force::Terminate, Duration::from_millis(700)),
    (Force::Kill, Duration::from_millis(700)),
];

/// What a session's shell is made with.
#[derive(Clone, Debug)]
pub struct ShellConfig {
    /// The folder a new shell starts in: the session's first folder.
    pub cwd: PathBuf,
    /// A private folder that exists, for the terminal's output and the shell's control pipe.
    pub folder: PathBuf,
    /// Environment variables that commands see although their names look like secrets. From the user's configuration.
    pub pass: Vec<String>,
    /// The shell, absolute; without it bash, and where there is none `sh`.
    pub program: Option<PathBuf>,
    /// The workspace's folders and whether it is trusted, as it is when a shell starts.
    pub trust: Trust,
}

/// Whether a workspace is trusted. While it is not, git runs no program that a repository in it names.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// Whether it is. It may change at any time, and counts for shells that are started then.
    pub trusted: Arc<AtomicBool>,
    /// Its folders.
    pub folders: Vec<PathBuf>,
}

/// Hears of commands, so that a session can record them. Its functions must not block.
pub trait Observer: Send + Sync {
    /// A command has begun; its first byte of output will be at `offset`.
    fn started(&self, call: &ToolCallId, command: &str, cwd: &Path, offset: u64);

    /// A command that had begun has ended; `offset` is after its last byte. There is no exit code where it was stopped.
    fn ended(&self, call: &ToolCallId, offset: u64, exit_code: Option<i32>);
}

/// Nobody listens.
impl Observer for () {
    fn started(&self, _: &ToolCallId, _: &str, _: &Path, _: u64) {}
    fn ended(&self, _: &ToolCallId, _: u64, _: Option<i32>) {}
}

/// How a command is run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder it runs in; the shell is back in its own afterwards. Without it, the shell's folder, and a `cd` in the
    /// command stays. The caller sees to it that it is inside the workspace.
    pub cwd: Option<PathBuf>,
    /// How long it may run; brought into [`MIN_TIMEOUT`] to [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// Stops it.
    pub cancel: CancellationToken,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { cwd: None, timeout: DEFAULT_TIMEOUT, cancel: CancellationToken::new() }
    }
}

/// A command that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What it printed, standard output and error as they came: plain text, at most 33 KiB, its middle left out with a
    /// word where it was more.
    pub output: String,
    /// Whether any was left out. [`Shell::printed`] gives it.
    pub is_cut: bool,
    /// Its exit code; none where it was stopped or killed.
    pub exit_code: Option<i32>,
    /// Whether its time was over.
    pub timed_out: bool,
    /// Whether it was cancelled, by the turn or by [`Shell::kill`].
    pub cancelled: bool,
    /// How long it ran.
    pub duration: Duration,
    /// The folder the next command starts in.
    pub cwd_after: PathBuf,
    /// The offset of its first byte in the spool.
    pub start_offset: u64,
    /// The offset after its last byte.
    pub end_offset: u64,
    /// A word about what became of the shell, where that matters.
    pub note: Option<String>,
}

/// A command that could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// Another one runs.
    #[error("the shell is busy with `{command}`; wait for its end, or stop it")]
    Busy {
        /// Its beginning.
        command: String,
    },
    /// The command line cannot be given to a shell.
    #[error("the command cannot be run: {0}")]
    InvalidCommand(&'static str),
    /// The folder asked for is none.
    #[error("{} is no folder that can be entered", .0.display())]
    NoSuchFolder(PathBuf),
    /// No shell could be started.
    #[error("the shell could not be started: {0}")]
    Start(String),
    /// The shell did not begin with the command.
    #[error("the shell did not answer and was ended; the next command starts a new one")]
    NotResponding,
    /// Nothing runs that could read what is typed.
    #[error("no command is running in the terminal, so there is nothing to type to")]
    Idle,
    /// The command does not read what is typed.
    #[error("the command that runs does not read what is typed")]
    KeyboardFull,
}

/// A session's shell. It is started with its first command; when it is dropped all its processes are killed.
pub struct Shell {
    config: ShellConfig,
    spool: Arc<Spool>,
    observer: Arc<dyn Observer>,
    state: Mutex<State>,
    /// How many commands run or are being killed.
    underway: Arc<watch::Sender<usize>>,
}

struct State {
    terminal: Option<Arc<Terminal>>,
    /// Whether it was started for a workspace that was trusted.
    is_lax: bool,
    /// What runs.
    flight: Option<Flight>,
    cwd: PathBuf,
    size: TerminalSize,
}

struct Flight {
    command: String,
    /// What was typed before the command had started: it must not reach the shell's own reading of it. None since then.
    early: Option<Vec<u8>>,
    /// Stops the command at the user's wish.
    kill: Arc<Notify>,
}

impl Shell {
    /// A session's shell. No process is started yet.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn new(config: ShellConfig, observer: Arc<dyn Observer>) -> io::Result<Self> {
        let spool = Arc::new(Spool::open(&config.folder)?);
        Ok(Self::with_spool(config, spool, observer))
    }

    /// The same with a spool that is open already, of the same folder: whoever follows it goes on following.
    pub fn with_spool(config: ShellConfig, spool: Arc<Spool>, observer: Arc<dyn Observer>) -> Self {
        let state = State {
            terminal: None,
            is_lax: false,
            flight: None,
            cwd: config.cwd.clone(),
            size: TerminalSize { columns: 120, rows: 30 },
        };
        Self { config, spool, observer, state: Mutex::new(state), underway: Arc::default() }
    }

    /// What the terminal has printed, and prints.
    pub fn spool(&self) -> &Arc<Spool> {
        &self.spool
    }

    /// The folder the next command starts in.
    pub fn cwd(&self) -> PathBuf {
        self.state().cwd.clone()
    }

    /// Whether the shell's process lives.
    pub fn is_alive(&self) -> bool {
        self.state().terminal.as_ref().is_some_and(|terminal| !terminal.is_gone())
    }

    /// The beginning of the command that runs; none where none does.
    pub fn running(&self) -> Option<String> {
        self.state().flight.as_ref().map(|flight| flight.command.clone())
    }

    /// Whether it has a process that was started while the workspace was trusted.
    pub fn is_lax(&self) -> bool {
        self.is_alive() && self.state().is_lax
    }

    /// Runs a command to its end. If the future is dropped before, the command and the shell are killed.
    ///
    /// # Errors
    /// See [`ShellError`]. A command that fails is no error.
    pub async fn run(&self, call: &ToolCallId, command: &str, options: RunOptions) -> Result<Ran, ShellError> {
        check(command)?;
        if let Some(folder) = &options.cwd
            && !folder.is_dir()
        {
            return Err(ShellError::NoSuchFolder(folder.clone()));
        }
        let mut running = self.take_off(call, command)?;
        let terminal = self.terminal().await?;
        running.terminal = Some(Arc::clone(&terminal));

        let home = self.cwd();
        let began = Instant::now();
        let since = processes::now();
        let folder = options.cwd.as_deref().map(|there| (there, home.as_path()));
        let start = async {
            let followed = terminal.run(command, folder).await.ok()?;
            let offset = followed.started.await.ok()?;
            Some((offset, followed.ended))
        };
        let (start_offset, mut end) = match tokio::time::timeout(START, start).await {
            Ok(Some(started)) => started,
            _ => return Err(ShellError::NotResponding),
        };
        running.start(&terminal);
        self.observer.started(call, command, options.cwd.as_deref().unwrap_or(&home), start_offset);

        let limit = options.timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT);
        let stopped = tokio::select! {
            biased;
            ended = &mut end => Err(ended.ok()),
            never = terminal.see_interrupts_through() => match never {},
            () = options.cancel.cancelled() => Ok(Stop::Cancelled),
            () = running.kill.notified() => Ok(Stop::Killed),
            () = tokio::time::sleep(limit) => Ok(Stop::TimedOut(limit)),
        };
        let (stop, ended) = match stopped {
            Err(ended) => (None, ended),
            Ok(stop) => (Some(stop), interrupt(&terminal, since, &mut end).await),
        };
        let came_back = ended.as_ref().and_then(|ended| ended.cwd.clone());
        let note = self.note(stop, ended.as_ref());
        let end_offset = ended.as_ref().map_or_else(|| self.spool.end(), |ended| ended.offset);
        let exit_code = ended.as_ref().and_then(|ended| ended.code).filter(|_| stop.is_none());

        let cwd_after = match (&came_back, options.cwd) {
            (None, _) => self.config.cwd.clone(),
            (Some(_), Some(_)) => home,
            (Some(cwd), None) => cwd.clone(),
        };
        {
            let mut state = self.state();
            state.cwd = cwd_after.clone();
            if came_back.is_none() {
                state.terminal = None;
            }
        }
        running.land(end_offset, exit_code);
        let Printed { text: output, is_cut } = ended.map(|ended| ended.output).unwrap_or_default();
        Ok(Ran {
            output,
            is_cut,
            exit_code,
            timed_out: matches!(stop, Some(Stop::TimedOut(_))),
            cancelled: matches!(stop, Some(Stop::Cancelled | Stop::Killed)),
            duration: began.elapsed(),
            cwd_after,
            start_offset,
            end_offset,
            note,
        })
    }

    /// Writes all that was printed between two offsets of the spool as plain text, as [`Ran::output`] has it, and gives how
    /// many bytes of that are no longer kept: of more than 4 to 8 MiB those at the beginning. Blocks.
    ///
    /// # Errors
    /// What cannot be written.
    pub fn printed(&self, start: u64, end: u64, out: &mut impl Write) -> io::Result<u64> {
        let (mut at, mut plain, mut missing, mut written) = (start, Plain::default(), 0, Ok(()));
        while at < end {
            let (from, bytes) = self.spool.read_from(at, PART.min(usize::try_from(end - at).unwrap_or(PART)));
            if bytes.is_empty() || from >= end {
                break;
            }
            missing += from - at;
            at = from + bytes.len() as u64;
            plain.push(&bytes, &mut |text| {
                if written.is_ok() {
                    written = out.write_all(text);
                }
            });
        }
        written?;
        let mut last = Ok(());
        plain.finish(&mut |text| last = out.write_all(text));
        last.map(|()| missing + end.saturating_sub(at))
    }

    /// Types into the terminal, for the command that runs, after all that was typed before. What it does not read is
    /// forgotten when the next one starts.
    ///
    /// # Errors
    /// [`ShellError::Idle`] and [`ShellError::KeyboardFull`].
    pub fn write(&self, bytes: &[u8]) -> Result<(), ShellError> {
        let mut state = self.state();
        let State { flight: Some(flight), terminal, .. } = &mut *state else { return Err(ShellError::Idle) };
        match (&mut flight.early, terminal) {
            (Some(early), _) if early.len() + bytes.len() > MAX_EARLY => Err(ShellError::KeyboardFull),
            (Some(early), _) => {
                early.extend_from_slice(bytes);
                Ok(())
            }
            (None, Some(terminal)) => terminal.type_in(bytes).map_err(|_| ShellError::KeyboardFull),
            (None, None) => Err(ShellError::Idle),
        }
    }

    /// Changes the terminal's size, now and for shells to come.
    pub fn resize(&self, size: TerminalSize) {
        let terminal = {
            let mut state = self.state();
            state.size = size;
            state.terminal.clone()
        };
        if let Some(terminal) = terminal {
            terminal.resize(size);
        }
    }

    /// Stops the command that runs. Where none runs, ends the shell and what it has left in the background.
    ///
    /// Which it is counts from the call on: a command that comes after it is not stopped, and has a new shell. The future
    /// waits for the shell's end.
    pub fn kill(&self) -> impl Future<Output = ()> + Send + use<> {
        let terminal = {
            let mut state = self.state();
            match &state.flight {
                Some(flight) => {
                    flight.kill.notify_one();
                    None
                }
                None => {
                    state.cwd = self.config.cwd.clone();
                    state.terminal.take()
                }
            }
        };
        async move {
            if let Some(terminal) = terminal {
                blocking(move || terminal.kill()).await;
            }
        }
    }

    /// Waits until no command runs, and none is being killed that nobody waits for any longer.
    pub async fn at_rest(&self) {
        // The sender is ours, so this ends only so.
        let _ = self.underway.subscribe().wait_for(|underway| *underway == 0).await;
    }

    /// Registers a command as the one that runs.
    fn take_off<'a>(&'a self, call: &'a ToolCallId, command: &str) -> Result<Running<'a>, ShellError> {
        let mut state = self.state();
        if let Some(flight) = &state.flight {
            return Err(ShellError::Busy { command: flight.command.clone() });
        }
        let kill = Arc::new(Notify::new());
        state.flight = Some(Flight { command: beginning(command), early: Some(Vec::new()), kill: Arc::clone(&kill) });
        let underway = Underway::new(&self.underway);
        Ok(Running { shell: self, call, kill, terminal: None, started: false, landed: false, underway: Some(underway) })
    }

    /// The shell's terminal; a new one if there is none.
    async fn terminal(&self) -> Result<Arc<Terminal>, ShellError> {
        let trusted = self.config.trust.trusted.load(Ordering::Relaxed);
        let mut start = {
            let mut state = self.state();
            match &state.terminal {
                Some(terminal) if !terminal.is_gone() => return Ok(Arc::clone(terminal)),
                _ => state.cwd = self.config.cwd.clone(),
            }
            Start {
                program: self.config.program.clone().or_else(find_shell).ok_or_else(|| {
                    ShellError::Start("there is neither bash nor sh in PATH or /bin; install bash".to_owned())
                })?,
                cwd: state.cwd.clone(),
                folder: self.config.folder.clone(),
                pass: self.config.pass.clone(),
                of_git: Vec::new(),
                size: state.size,
            }
        };
        if !start.cwd.is_dir() {
            return Err(ShellError::NoSuchFolder(start.cwd));
        }
        let is_bash = start.program.file_name().is_some_and(|name| name == "bash");
        let size = start.size;
        let (spool, folders) = (Arc::clone(&self.spool), self.config.trust.folders.clone());
        let open = move || {
            if !trusted {
                start.of_git = git::untrusted(&folders);
            }
            Terminal::open(&start, spool)
        };
        let opened = tokio::task::spawn_blocking(open).await;
        let terminal = match opened {
            Ok(Ok(terminal)) => Arc::new(terminal),
            Ok(Err(error)) => return Err(ShellError::Start(error.to_string())),
            Err(error) => return Err(ShellError::Start(error.to_string())),
        };
        if is_bash {
            // No history, no word about mail, and the empty prompts are not for the shells started from this one.
            let quiet = "set +o history; unset HISTFILE MAILCHECK; export -n PS1 PS2\n";
            terminal.control(quiet).await.map_err(|error| ShellError::Start(error.to_string()))?;
        }
        let mut state = self.state();
        // The view may have got another size while the shell was starting.
        if state.size != size {
            terminal.resize(state.size);
        }
        state.terminal = Some(Arc::clone(&terminal));
        state.is_lax = trusted;
        Ok(terminal)
    }

    fn note(&self, stop: Option<Stop>, ended: Option<&Ended>) -> Option<String> {
        let survived = ended.is_some_and(|ended| ended.cwd.is_some());
        let shell = if survived {
            "The shell goes on with its folder and variables.".to_owned()
        } else {
            format!(
                "The shell ended too: the next command gets a new one in {}, without the variables, functions and \
                 background jobs of this one.",
                self.config.cwd.display()
            )
        };
        match stop {
            Some(Stop::TimedOut(limit)) => Some(format!(
                "The command was stopped with all it had started, since its {} s were over. If it waited for input, \
                 run it without questions; if it needs longer, give it a longer timeout. {shell}",
                limit.as_secs()
            )),
            Some(Stop::Cancelled) => Some(format!("The command was cancelled, with all it had started. {shell}")),
            Some(Stop::Killed) => Some(format!("The user stopped the command, with all it had started. {shell}")),
            None if survived => None,
            None => Some(shell),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a command is stopped.
#[derive(Clone, Copy, Debug)]
enum Stop {
    TimedOut(Duration),
    Cancelled,
    Killed,
}

/// The command that runs, for as long as it does.
struct Running<'a> {
    shell: &'a Shell,
    call: &'a ToolCallId,
    kill: Arc<Notify>,
    terminal: Option<Arc<Terminal>>,
    started: bool,
    landed: bool,
    underway: Option<Underway>,
}

/// Counts a command for as long as it is there.
struct Underway(Arc<watch::Sender<usize>>);

impl Underway {
    fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(Arc::clone(count))
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Running<'_> {
    /// The command has started, and can be typed to.
    fn start(&mut self, terminal: &Terminal) {
        self.started = true;
        let mut state = self.shell.state();
        if let Some(early) = state.flight.as_mut().and_then(|flight| flight.early.take())
            && !early.is_empty()
        {
            // A keyboard that is still empty takes it.
            let _ = terminal.type_in(&early);
        }
    }

    /// The command has ended.
    fn land(mut self, offset: u64, exit_code: Option<i32>) {
        self.landed = true;
        self.shell.observer.ended(self.call, offset, exit_code);
    }
}

/// A command that nobody waits for any longer is killed with its shell: its end could not be told from the next one's.
/// That takes a while, and no thread of the runtime's.
impl Drop for Running<'_> {
    fn drop(&mut self) {
        let abandoned = {
            let mut state = self.shell.state();
            state.flight = None;
            self.terminal.take().filter(|_| !self.landed).inspect(|_| state.terminal = None)
        };
        let Some(terminal) = abandoned else { return };
        let (observer, spool) = (Arc::clone(&self.shell.observer), Arc::clone(&self.shell.spool));
        let (call, started, underway) = (self.call.clone(), self.started, self.underway.take());
        let kill = move || {
            terminal.kill();
            if started {
                observer.ended(&call, spool.end(), None);
            }
            drop(underway);
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(kill)),
            Err(_) => kill(),
        }
    }
}

/// Stops a command, with growing force. Gives nothing where not even the shell's death was seen.
async fn interrupt(terminal: &Arc<Terminal>, since: u64, end: &mut oneshot::Receiver<Ended>) -> Option<Ended> {
    for (force, grace) in GRACE {
        let target = Arc::clone(terminal);
        blocking(move || target.signal(force, since)).await;
        terminal.ask_for_end().await;
        if let Ok(Ok(ended)) = tokio::time::timeout(grace, &mut *end).await {
            let target = Arc::clone(terminal);
            blocking(move || target.kill_since(since)).await;
            return Some(ended);
        }
    }
    let target = Arc::clone(terminal);
    blocking(move || target.kill()).await;
    tokio::time::timeout(Duration::from_secs(2), end).await.ok()?.ok()
}

async fn blocking(work: impl FnOnce() + Send + 'static) {
    if let Err(error) = tokio::task::spawn_blocking(work).await {
        tracing::error!(%error, "work on a terminal broke down");
    }
}

fn check(command: &str) -> Result<(), ShellError> {
    if command.trim().is_empty() {
        return Err(ShellError::InvalidCommand("it is empty"));
    }
    if command.contains('\0') {
        return Err(ShellError::InvalidCommand("it holds a NUL character"));
    }
    if command.len() > MAX_COMMAND {
        return Err(ShellError::InvalidCommand("it is longer than 256 KiB; write a script file and run that"));
    }
    Ok(())
}

fn beginning(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Bash, or where there is none, `sh`.
fn find_shell() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    ["bash", "sh"].into_iter().find_map(|name| {
        std::env::split_paths(&path)
            .chain(["/bin".into(), "/usr/bin".into()])
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|program| program.is_file())
    })
}

#[cfg(test)]
mod tests;
