//! Commands: one shell per session, in a pseudo-terminal the user can watch and type into.
//!
//! [`Shell`] runs one command at a time. Folder, environment, functions and aliases survive from one to the next. What
//! the terminal prints goes to its [`Spool`], for views; what a command printed comes back as plain bounded text, for a
//! model. A command that takes too long or is cancelled is interrupted, then ended, then killed with everything it has
//! started, and if the shell itself does not come back it is replaced, which is said.
//!
//! Commands see the server's environment, but for two kinds of variables: secrets, that is names that end in
//! `_API_KEY`, `_AUTH_KEY`, `_ACCESS_KEY`, `_SECRET_KEY`, `_PRIVATE_KEY`, `_TOKEN`, `_SECRET`, `_PASSWORD` or
//! `_CREDENTIALS` (in any case, and unless [`ShellConfig::pass`] names them); and what would change the shell itself,
//! such as `BASH_ENV` and `PROMPT_COMMAND`. Pagers are `cat`. `TERM` is `xterm-256color`, since the view is a real
//! terminal.
//!
//! [`parse()`] tells what a command line would run, for permission.
//!
//! A command that waits for input is noticed ([`Status`]); a call can return then ([`Shell::run_until_it_waits`]) and
//! leave it running. The user can take the terminal over ([`Shell::take`]): time stands still, the model's keys are
//! refused, and where nothing runs they have a prompt in the shell itself. What is typed is recorded as far as the
//! terminal shows it.
//!
//! [`Jobs`] are commands in the background, each in a shell of its own.
//!
//! Reading order: `types` (what goes in and comes out), `spool` (what views read), `marker` (where a command's output
//! begins and ends), `plain`, `fold`, `failures` and `transcript` (what a model reads), `screen` (which joins them),
//! `start_files` (what the user has there), `keyboard`, `typed` (the record of it), `terminal` (the process, which the
//! crate [`process`] starts), `starting` (a shell, with all of these), `waiting`, `execution` (a command from its start
//! to its end), `attended`, `taken`, `handover` (what one shell hands over to another), `outside`, [`jobs`], `access`
//! (what else can be done to a shell), [`parse()`].

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant, SystemTime};

use protocol::ToolCallId;
use protocol::terminal::{TerminalSize, Typist};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use execution::{Awaited, Common, Execution, Guard, Runner, Running, Underway, blocking};
use plain::Plain;
use taken::Taken;
use terminal::{Terminal, What};

use process::{environment, launch, processes, programs, sandbox};
use project::answers;

mod types;

mod spool;

mod marker;

mod plain;

mod fold;

mod failures;

mod transcript;

mod screen;

pub mod escapes;

mod start_files;

mod keyboard;

mod typed;

mod outside;

mod terminal;

mod starting;

mod waiting;

mod execution;

mod attended;

mod taken;

mod access;

mod handover;

pub mod jobs;

mod parse;

pub use access::Excerpt;
pub use attended::{Asked, InFlight, Outcome, Status, Waits};
pub use jobs::{Job, Jobs};
pub use outside::{OUTSIDE_FOLDER, Outside};
pub use parse::parse;
pub use spool::Spool;
pub use start_files::StartFiles;
pub use types::{Observer, Ran, RunOptions, ShellConfig, ShellError, Trust};
pub use waiting::STILL;

/// How long a command may run unless the caller says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// The shortest time a command can be given.
pub const MIN_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest time a command can be given.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// For a command that may run for as long as it likes.
pub const UNLIMITED: Duration = Duration::MAX;

/// The longest command line, in bytes.
pub const MAX_COMMAND: usize = 256 << 10;

/// How long a shell may take to begin with a command.
const START: Duration = Duration::from_secs(15);

/// How much can be typed before a command has started.
const MAX_EARLY: usize = 64 << 10;

/// So many bytes of a long output are read at once.
const PART: usize = 64 << 10;

/// A session's shell. It is started with its first command; when it is dropped all its processes are killed.
pub struct Shell {
    config: ShellConfig,
    spool: Arc<Spool>,
    /// The whole lines that a new shell reads first.
    prologue: String,
    common: Common,
    /// The start files of the user's own shells, if ours is to begin with them too.
    start_files: Option<Arc<StartFiles>>,
    /// True if it is there for one command, so that the user has no prompt in it.
    is_jobs: bool,
}

struct State {
    /// True if nothing is started any more.
    is_closed: bool,
    terminal: Option<Arc<Terminal>>,
    /// True if it was started for a workspace that was trusted.
    is_lax: bool,
    /// The command or prompt that runs.
    execution: Option<Execution>,
    /// How many there have been.
    executions: u64,
    /// The call whose command ran last.
    last_call: Option<ToolCallId>,
    cwd: PathBuf,
    size: TerminalSize,
    /// The user's time with the terminal.
    taken: Option<Taken>,
    /// The same, when it is over and the model has not heard of it.
    handed_back: Option<Taken>,
    /// Other news that the model has yet to hear.
    news: Vec<String>,
    /// The variables and folders that the first shell was started without; none once the model has heard of it.
    missing: Option<Missing>,
}

/// The variables and folders that a shell is started without.
#[derive(Clone, Default)]
struct Missing {
    /// Variables that look like secrets.
    variables: Vec<String>,
    /// Folders of `PATH` that do not answer.
    folders: Vec<PathBuf>,
}

impl Shell {
    /// Removes the named pipes that an earlier process, which was killed, has left in a session's folder. Nobody else
    /// has the session meanwhile. Blocks.
    pub fn remove_left_pipes(session_folder: &Path) {
        launch::remove_left(session_folder, terminal::PIPE);
        launch::remove_left(&session_folder.join(OUTSIDE_FOLDER), terminal::PIPE);
        for job in std::fs::read_dir(session_folder.join("jobs")).into_iter().flatten().flatten() {
            launch::remove_left(&job.path(), terminal::PIPE);
        }
    }

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
            is_closed: false,
            terminal: None,
            is_lax: false,
            execution: None,
            executions: 0,
            last_call: None,
            cwd: config.cwd.clone(),
            size: TerminalSize { columns: 120, rows: 30 },
            taken: None,
            handed_back: None,
            news: Vec::new(),
            missing: Some(Missing::default()),
        };
        let common = Common {
            state: Arc::new(Mutex::new(state)),
            status: Arc::default(),
            typed: Arc::default(),
            looked: Arc::default(),
            spool: Arc::clone(&spool),
            observer,
            underway: Arc::default(),
            first_folder: config.cwd.clone(),
            confinement: config.confinement.clone(),
        };
        Self { config, spool, prologue: String::new(), common, start_files: None, is_jobs: false }
    }

    /// Begins as the user's own shells do, where it is bash.
    #[must_use]
    pub fn with_start_files(mut self, files: Arc<StartFiles>) -> Self {
        self.start_files = Some(files);
        self
    }

    /// Returns the spool of what the terminal has printed, and prints.
    pub fn spool(&self) -> &Arc<Spool> {
        &self.spool
    }

    /// The folder the next command starts in.
    pub fn cwd(&self) -> PathBuf {
        self.state().cwd.clone()
    }

    /// True if the shell's process lives.
    pub fn is_alive(&self) -> bool {
        self.state().terminal.as_ref().is_some_and(|terminal| !terminal.is_gone())
    }

    /// Runs a command to its end. If the future is dropped before, the command and the shell are killed.
    ///
    /// # Errors
    /// See [`ShellError`]. A command that fails is no error.
    pub async fn run(&self, call: &ToolCallId, command: &str, options: RunOptions) -> Result<Ran, ShellError> {
        self.start(call, command, options).await?.end().await
    }

    /// Begins with a command; a task of its own sees it through.
    async fn start(&self, call: &ToolCallId, command: &str, options: RunOptions) -> Result<Awaited, ShellError> {
        check(command)?;
        if let Some(folder) = &options.cwd {
            enterable(folder).await?;
        }
        let aside = {
            let state = self.state();
            state.execution.as_ref().filter(|execution| execution.is_aside).map(|execution| execution.over.clone())
        };
        if let Some(over) = aside {
            over.cancelled().await;
        }
        let running = self.register(call, Some(command), options.by)?;
        self.execute(running, What::Command(command), options).await
    }

    /// Returns what the model is told of what commands do not get, and of settings that they cannot read.
    fn told_of_missing(&self, missing: &Missing) -> Option<String> {
        let policy = self.config.confinement.in_force();
        let settings = policy.and_then(sandbox::Policy::told_of_credentials);
        let (variables, folders) = (environment::told(&missing.variables), programs::told_of_silent(&missing.folders));
        let told: Vec<String> = variables.into_iter().chain(folders).chain(settings).collect();
        (!told.is_empty()).then(|| told.join(" "))
    }

    async fn execute(&self, mut running: Running, what: What<'_>, options: RunOptions) -> Result<Awaited, ShellError> {
        if self.give_way().await {
            running.note = self.gave_way(running.is_prompt);
        }
        let terminal = self.terminal().await?;
        if !self.is_jobs && options.by == Typist::Model {
            let told = self.state().missing.take().and_then(|missing| self.told_of_missing(&missing));
            running.note = told
                .map(|told| running.note.take().map_or(told.clone(), |note| format!("{note} {told}")))
                .or(running.note.take());
        }
        // From here on nothing but this command changes the folder.
        let home = self.cwd();
        if options.cwd.is_none() && options.home.as_ref().is_some_and(|judged| *judged != home) {
            return Err(ShellError::Moved(home));
        }
        running.terminal = Some(Arc::clone(&terminal));
        let began = Instant::now();
        let since = processes::now();
        let folder = options.cwd.as_deref().map(|there| (there, home.as_path()));
        let start = async {
            let followed = terminal.run(what, folder).await.ok()?;
            let offset = followed.started.await.ok()?;
            Some((offset, followed.ended, followed.at_prompt))
        };
        let (start_offset, end, at_prompt) = match tokio::time::timeout(START, start).await {
            Ok(Some(started)) => started,
            _ => return Err(ShellError::NotResponding),
        };
        running.start(&terminal, start_offset);
        if let What::Command(command) = what {
            let cwd = options.cwd.as_deref().unwrap_or(&home);
            self.common.observer.started(&running.call, command, cwd, start_offset);
        }
        let (sender, ended) = oneshot::channel();
        let (number, abandoned, is_over) = (running.number, running.abandoned.clone(), Arc::clone(&running.is_over));
        let runner = Runner { running, terminal, end, at_prompt, options, home, began, since, start_offset };
        tokio::spawn(async move {
            if let Some(ran) = runner.run().await {
                let _ = sender.send(ran);
            }
        });
        let guard = Guard { common: self.common.clone(), number, abandoned, is_over, holds: true };
        Ok(Awaited { ended, start_offset, guard })
    }

    /// Writes all that was printed between two offsets of the spool as plain text, as [`Ran::output`] has it, and gives
    /// how many bytes of that are no longer kept: of more than 4 to 8 MiB those at the beginning. Blocks.
    ///
    /// # Errors
    /// The error of `out` if it cannot be written to.
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

    /// Types into the terminal as the user, for the command that runs, after all that was typed before. What it does
    /// not read is forgotten when the next one starts.
    ///
    /// # Errors
    /// [`ShellError::Idle`] and [`ShellError::KeyboardFull`].
    pub fn write(&self, bytes: &[u8]) -> Result<(), ShellError> {
        self.type_into(None, bytes)
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
    /// The command that is stopped is the one that runs at the call: a command that comes after it is not stopped, and
    /// has a new shell. The future waits for the command's or the shell's end.
    pub fn kill(&self) -> impl Future<Output = ()> + Send + use<> {
        let killed = self.state().kill(&self.config.cwd);
        killed.wait()
    }

    /// The same for the model, which ends nothing of the user's.
    ///
    /// # Errors
    /// [`ShellError::Taken`] and [`ShellError::Users`].
    pub fn kill_as_model(&self) -> Result<impl Future<Output = ()> + Send + use<>, ShellError> {
        let mut state = self.state();
        state.is_models()?;
        Ok(state.kill(&self.config.cwd).wait())
    }

    /// Ends it for good, with what runs in it and what that has left: nothing is started in it any more, and the user's
    /// time with it is over. The future waits for the end.
    pub fn close(&self) -> impl Future<Output = ()> + Send + use<> {
        let first = {
            let mut state = self.state();
            state.is_closed = true;
            state.kill(&self.config.cwd)
        };
        self.common.hand_back();
        let (common, cwd) = (self.common.clone(), self.config.cwd.clone());
        async move {
            first.wait().await;
            // A command that came to its end leaves the shell behind.
            let shell = common.state().kill(&cwd);
            shell.wait().await;
            common.at_rest().await;
        }
    }

    /// Waits until no command runs, and none is being killed that nobody waits for any longer.
    pub async fn at_rest(&self) {
        self.common.at_rest().await;
    }

    /// Registers a command as the one that runs, or without one the user's prompt.
    fn register(&self, call: &ToolCallId, command: Option<&str>, by: Typist) -> Result<Running, ShellError> {
        let mut state = self.state();
        if state.is_closed {
            return Err(ShellError::Closed);
        }
        match &state.execution {
            Some(execution) => return Err(execution.is_in_the_way()),
            None if command.is_some() && state.taken.is_some() => return Err(ShellError::Taken),
            None => {}
        }
        state.executions += 1;
        let line = command.unwrap_or_default();
        let early = state.taken.as_mut().map(|taken| std::mem::take(taken.early())).unwrap_or_default();
        let (kill, leave, abandoned) = (Arc::default(), Arc::default(), CancellationToken::new());
        let underway = Underway::new(&self.common.underway);
        let execution = Execution {
            number: state.executions,
            call: call.clone(),
            line: line.to_owned(),
            by,
            is_prompt: command.is_none(),
            is_aside: false,
            began: SystemTime::now(),
            since: None,
            early: Some(early),
            is_released: false,
            kill: Arc::clone(&kill),
            leave: Arc::clone(&leave),
            abandoned: abandoned.clone(),
            over: underway.over(),
        };
        let running = Running {
            common: self.common.clone(),
            number: execution.number,
            call: call.clone(),
            line: line.to_owned(),
            is_prompt: execution.is_prompt,
            kill,
            leave,
            abandoned,
            terminal: None,
            note: None,
            started: false,
            finished: false,
            is_over: Arc::default(),
            underway: Some(underway),
        };
        state.last_call = command.map(|_| call.clone());
        state.execution = Some(execution);
        Ok(running)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.common.state()
    }
}

impl State {
    /// Checks that what runs there is the model's to end and to signal.
    fn is_models(&self) -> Result<(), ShellError> {
        match &self.execution {
            _ if self.taken.is_some() => Err(ShellError::Taken),
            Some(execution) if execution.by == Typist::User => Err(execution.is_in_the_way()),
            _ => Ok(()),
        }
    }

    /// Begins to kill what runs, or the shell where nothing does; a new one is in this folder.
    fn kill(&mut self, first_folder: &Path) -> Killed {
        match &self.execution {
            // Where the user's prompt reads a line there is nothing but the shell to end.
            Some(execution) if execution.is_prompt && execution.line.is_empty() && self.is_closed => {
                execution.abandoned.cancel()
            }
            Some(execution) => execution.kill.notify_one(),
            None => {
                self.cwd = first_folder.to_owned();
                return Killed::Shell(self.terminal.take());
            }
        }
        Killed::Command(self.execution.as_ref().map(|execution| execution.over.clone()).unwrap_or_default())
    }
}

/// The command or the shell that is being killed.
enum Killed {
    Command(CancellationToken),
    Shell(Option<Arc<Terminal>>),
}

impl Killed {
    /// Waits for its end.
    async fn wait(self) {
        match self {
            Self::Command(over) => over.cancelled().await,
            Self::Shell(Some(terminal)) => blocking(move || terminal.kill()).await,
            Self::Shell(None) => {}
        }
    }
}

/// Kills what runs in it with it, though nobody has waited for that.
impl Drop for Shell {
    fn drop(&mut self) {
        let (execution, terminal) = {
            let mut state = self.state();
            state.taken = None;
            (state.execution.take(), state.terminal.take())
        };
        if let Some(execution) = execution {
            execution.abandoned.cancel();
        }
        if let Some(terminal) = terminal {
            terminal.kill();
        }
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

/// Checks that a command can be run in a folder.
async fn enterable(folder: &Path) -> Result<(), ShellError> {
    match answers::is_folder(folder).await {
        Some(true) => Ok(()),
        Some(false) => Err(ShellError::NoSuchFolder(folder.to_owned())),
        None => Err(ShellError::Silent(folder.to_owned())),
    }
}

fn beginning(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    match line.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests;
