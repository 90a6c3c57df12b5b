//! Operations on a shell other than running a command in it: looking at what it prints, signalling what runs.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

use permission::Shown;
use protocol::ToolCallId;
use protocol::terminal::{TerminalSignal, TerminalSize, Typist, Waiting};
use tokio_util::sync::CancellationToken;

use super::execution::{Execution, Underway, blocking};
use super::terminal::Terminal;
use super::transcript::{Printed, Transcript};
use super::{PART, Shell, ShellError, State};

const NOT_TRUSTED: &str = "The workspace is not trusted any more";

const WITHOUT: &str = "without the variables, functions and background jobs of the one before";

/// An excerpt of a terminal's output between two offsets, for a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Plain text, its middle left out with a word where it was long.
    pub text: String,
    /// True if any was.
    pub is_cut: bool,
    /// How many bytes at its beginning are no longer kept.
    pub missing: u64,
    /// The offset after its last byte.
    pub end: u64,
}

impl Shell {
    /// Returns what it printed from an offset on, up to now. Blocks shortly, while what is kept is read.
    pub fn read_on(&self, since: u64) -> Excerpt {
        let end = self.spool.end();
        let (mut at, mut transcript, mut missing) = (since.min(end), Transcript::default(), 0);
        while at < end {
            let (from, bytes) = self.spool.read_from(at, PART.min(usize::try_from(end - at).unwrap_or(PART)));
            if bytes.is_empty() || from >= end {
                break;
            }
            missing += from - at;
            at = from + bytes.len() as u64;
            transcript.push(&bytes);
        }
        let Printed { text, is_cut } = transcript.finish();
        Excerpt { text, is_cut, missing, end: at }
    }

    /// The command line that runs, and the offset of its first byte of output; nothing while the user's prompt reads a
    /// line.
    pub fn in_flight(&self) -> Option<(String, u64)> {
        let execution = self.running()?;
        Some((execution.command, execution.since?))
    }

    /// Returns the question at which the command that runs waits, as it is at this moment. `None` if it does not wait,
    /// or if that is not known. A question that was seen before something was typed does not count.
    pub fn waiting(&self) -> Option<Waiting> {
        let (_, start) = self.in_flight()?;
        self.common.question(start)
    }

    /// Returns what the command that runs has printed since it was last given a line. Blocks shortly.
    pub fn shown(&self) -> Shown {
        self.in_flight().map(|(_, start)| self.common.shown(start)).unwrap_or_default()
    }

    /// The terminal's size.
    pub fn size(&self) -> TerminalSize {
        self.state().size
    }

    /// Sends a signal to what runs in the foreground. [`TerminalSignal::Kill`] is for all that the command has started.
    ///
    /// # Errors
    /// [`ShellError::Idle`].
    pub fn signal(&self, signal: TerminalSignal) -> Result<impl Future<Output = ()> + Send + use<>, ShellError> {
        let terminal = self.begun(|_| Ok(()))?;
        Ok(blocking(move || terminal.send(signal)))
    }

    /// The same for the model, which signals nothing of the user's.
    ///
    /// # Errors
    /// [`ShellError::Idle`], [`ShellError::Taken`] and [`ShellError::Users`].
    pub fn signal_as_model(
        &self,
        signal: TerminalSignal,
    ) -> Result<impl Future<Output = ()> + Send + use<>, ShellError> {
        let terminal = self.begun(State::is_models)?;
        Ok(blocking(move || terminal.send(signal)))
    }

    /// The terminal in which something has begun, if it passes the check.
    fn begun(&self, check: impl FnOnce(&State) -> Result<(), ShellError>) -> Result<Arc<Terminal>, ShellError> {
        let state = self.state();
        check(&state)?;
        match &*state {
            State { execution: Some(Execution { early: None, .. }), terminal: Some(terminal), .. } => {
                Ok(Arc::clone(terminal))
            }
            _ => Err(ShellError::Idle),
        }
    }

    /// Where it was started for a workspace that is not trusted any more, it makes way for a new one in the same
    /// folder: at once where it does nothing, else before the next command or the user's next prompt. The model hears
    /// of it.
    pub async fn make_way(&self) {
        let terminal = {
            let mut state = self.state();
            match &state.execution {
                Some(execution) if execution.is_prompt && self.makes_way(&state) => {
                    return execution.leave.notify_one();
                }
                Some(_) => return,
                None => self.take_lax(&mut state),
            }
        };
        let Some(terminal) = terminal else { return };
        blocking(move || terminal.kill()).await;
        self.state().news.push(format!("{NOT_TRUSTED}, so the next command runs in a new shell, {WITHOUT}."));
    }

    /// Ends a shell that is to make way; gives whether it was one.
    pub(super) async fn give_way(&self) -> bool {
        let Some(terminal) = self.take_lax(&mut self.state()) else { return false };
        blocking(move || terminal.kill()).await;
        true
    }

    /// Returns the note for the command that runs in the new shell. If it is the user's prompt, they and the model are
    /// told at once instead.
    pub(super) fn gave_way(&self, is_prompt: bool) -> Option<String> {
        if !is_prompt {
            return Some(format!("{NOT_TRUSTED}, so this ran in a new shell, {WITHOUT}."));
        }
        self.common.observer.said(&format!("{NOT_TRUSTED}, so your prompt is one in a new shell, {WITHOUT}."));
        self.state().news.push(format!("{NOT_TRUSTED}, so the shell is a new one, {WITHOUT}."));
        None
    }

    /// Takes the terminal of a shell that is to make way. The folder stays the one that commands are judged in.
    fn take_lax(&self, state: &mut State) -> Option<Arc<Terminal>> {
        if !self.makes_way(state) {
            return None;
        }
        state.is_lax = false;
        state.terminal.take().filter(|terminal| !terminal.is_gone())
    }

    /// True if it was started for a trusted workspace that is not trusted any more.
    fn makes_way(&self, state: &State) -> bool {
        state.is_lax && !self.config.trust.trusted.load(Ordering::Relaxed)
    }

    /// The TCP ports that its processes listen on, where that can be known. Blocks shortly.
    pub fn ports(&self) -> Vec<u16> {
        let terminal = self.state().terminal.clone();
        terminal.map(|terminal| terminal.ports()).unwrap_or_default()
    }

    /// A job's: for one command, and with lines that it is told first.
    pub(super) fn for_a_job(mut self, prologue: String) -> Self {
        self.prologue = prologue;
        self.is_jobs = true;
        self
    }

    /// Its terminal, for something of ours in between. No command can begin meanwhile. None if there is no shell, or
    /// one that is busy.
    pub(super) fn idle(&self) -> Option<Idle<'_>> {
        let mut state = self.state();
        if state.execution.is_some() || state.is_closed {
            return None;
        }
        let terminal = state.terminal.clone().filter(|terminal| !terminal.is_gone())?;
        // One that is about to make way has nothing to hand over: git's settings would be among it.
        if state.taken.is_some() || self.makes_way(&state) {
            return None;
        }
        state.executions += 1;
        // As a command it is waited for, by the user's prompt too.
        let underway = Underway::new(&self.common.underway);
        state.execution = Some(Execution {
            number: state.executions,
            call: ToolCallId::from("job"),
            line: String::from("a job's start"),
            by: Typist::Model,
            is_prompt: false,
            is_aside: true,
            began: SystemTime::now(),
            since: None,
            early: Some(Vec::new()),
            is_released: false,
            kill: Arc::default(),
            leave: Arc::default(),
            abandoned: CancellationToken::new(),
            over: underway.over(),
        });
        Some(Idle { shell: self, terminal, _underway: underway })
    }
}

/// A shell that runs nothing, for as long as this is there.
pub(super) struct Idle<'a> {
    shell: &'a Shell,
    pub(super) terminal: Arc<Terminal>,
    _underway: Underway,
}

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        let mut state = self.shell.state();
        let typed = state.execution.take().and_then(|execution| execution.early).unwrap_or_default();
        // It was typed to the prompt that is about to come.
        if let Some(taken) = &mut state.taken {
            taken.early().extend(typed);
        }
    }
}
