//! The configuration and status of a shell, the ways to run a command, and its outcome.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use process::Confinement;
use protocol::ToolCallId;
use protocol::terminal::Typist;
use tokio_util::sync::CancellationToken;

use super::DEFAULT_TIMEOUT;

/// The configuration of a session's shell.
#[derive(Clone, Debug)]
pub struct ShellConfig {
    /// The folder a new shell starts in: the session's first folder.
    pub cwd: PathBuf,
    /// A private folder that exists, for the terminal's output and the shell's control pipe.
    pub folder: PathBuf,
    /// Environment variables that commands see although they look like secrets. From the user's configuration.
    pub pass: Vec<String>,
    /// The shell, absolute; without it bash, and where there is none `sh`.
    pub program: Option<PathBuf>,
    /// The confinement of its processes: nothing that they start outlives the shell, and a sandbox.
    pub confinement: Confinement,
    /// The workspace's folders and whether it is trusted, as it is when a shell starts.
    pub trust: Trust,
}

/// The trust in a workspace. While it is not trusted, git runs no program that a repository in it names.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    /// True if it is trusted. It may change at any time, and counts for shells that are started then.
    pub trusted: Arc<AtomicBool>,
    /// Its folders.
    pub folders: Vec<PathBuf>,
    /// Where else its commands, and those of other sessions, may write: no program that we start ourselves is taken
    /// from there.
    pub written: Vec<PathBuf>,
}

/// Hears of commands, so that a session can record them. Its functions must not block.
pub trait Observer: Send + Sync {
    /// A command has begun; its first byte of output will be at `offset`.
    fn started(&self, call: &ToolCallId, command: &str, cwd: &Path, offset: u64);

    /// A command that had begun has ended; `offset` is after its last byte. There is no exit code where it was stopped.
    fn ended(&self, call: &ToolCallId, offset: u64, exit_code: Option<i32>);

    /// The [`Status`] has changed, what the user runs at their prompt, or what shows that a job is up.
    fn changed(&self) {}

    /// There is a word to the user.
    fn said(&self, _text: &str) {}

    /// A line was typed, for the command of this call; its text is empty if it was hidden.
    fn typed(&self, _call: Option<&ToolCallId>, _by: Typist, _text: &str, _hidden: bool) {}
}

/// Nobody listens.
impl Observer for () {
    fn started(&self, _: &ToolCallId, _: &str, _: &Path, _: u64) {}
    fn ended(&self, _: &ToolCallId, _: u64, _: Option<i32>) {}
}

/// The options of a command.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The folder it runs in; the shell is back in its own afterwards. Without it, the shell's folder, and a `cd` in
    /// the command stays. The caller sees to it that it is inside the workspace.
    pub cwd: Option<PathBuf>,
    /// The folder that the shell has to be in when the command begins, where `cwd` names none: it was judged for that
    /// one.
    pub home: Option<PathBuf>,
    /// Its time limit; clamped to [`MIN_TIMEOUT`] to [`MAX_TIMEOUT`], unless it is [`UNLIMITED`].
    pub timeout: Duration,
    /// Stops it.
    pub cancel: CancellationToken,
    /// Whose command it is: what the user runs, the model neither ends nor signals.
    pub by: Typist,
}

impl Default for RunOptions {
    fn default() -> Self {
        let cancel = CancellationToken::new();
        Self { cwd: None, home: None, timeout: DEFAULT_TIMEOUT, cancel, by: Typist::Model }
    }
}

/// A command that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its output, standard output and error in their order: plain text, at most 33 KiB, with a note in the middle if
    /// it was longer.
    pub output: String,
    /// True if any was left out. [`Shell::printed`] gives it.
    pub is_cut: bool,
    /// Its exit code; none if it was stopped or killed.
    pub exit_code: Option<i32>,
    /// True if its time was over.
    pub timed_out: bool,
    /// True if it was cancelled, by the turn or by [`Shell::kill`].
    pub cancelled: bool,
    /// Its duration.
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
    /// Another one of the model's runs.
    #[error("the shell is busy with `{command}`; wait for its end, or stop it")]
    Busy {
        /// Its beginning.
        command: String,
    },
    /// One of the user's own runs.
    #[error(
        "the shell is busy with the user's own command `{command}`, which only they may stop; wait for its end, or \
         do what needs no shell meanwhile"
    )]
    Users {
        /// Its beginning.
        command: String,
    },
    /// The command line cannot be given to a shell.
    #[error("the command cannot be run: {0}")]
    InvalidCommand(&'static str),
    /// The folder asked for is none.
    #[error("{} is no folder that can be entered", .0.display())]
    NoSuchFolder(PathBuf),
    /// The folder to run it in, or the shell's own, does not say in time whether it is there.
    #[error(
        "{} does not answer, like a network folder whose server cannot be reached; run it in another folder",
        .0.display()
    )]
    Silent(PathBuf),
    /// The shell is not in the folder any longer that the command was judged for.
    #[error(
        "the shell's folder has changed since this call was made, so the command was not run; the shell is in {} now: \
         call again if it is to run there, or with `cwd`", .0.display()
    )]
    Moved(PathBuf),
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
    /// The shell was ended for good.
    #[error("the terminal was closed, so nothing can be run in it any more")]
    Closed,
    /// The user has the terminal.
    #[error(
        "the user has taken the terminal over, so nothing else can be run or typed there until they hand it back; do \
         what needs no terminal meanwhile, or end the turn and say what you wait for"
    )]
    Taken,
    /// The model's keys were for something else.
    #[error(
        "what runs in the terminal, or what it asks, has changed since this call was made, so nothing was typed; \
         look with shell_read and call again"
    )]
    Another,
    /// The input is hidden, so it is a secret, which only the user may type.
    #[error(
        "the command asks for something that is not shown when it is typed, such as a password; only the user may type \
         that, in the terminal"
    )]
    Secret,
}
