//! A command that others than its call attend to: it waits for input, is typed to, and may go on when the call has
//! returned.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use process::environment;
use protocol::ToolCallId;
use protocol::terminal::{Certainty, Typist, Waiting};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::watch;

use super::execution::{Execution, PATIENCE};
use super::typed::{self, Chunk};
use super::waiting::Keys;
use super::{Excerpt, MAX_EARLY, Ran, RunOptions, Shell, ShellError, State};

/// The time for which a command is seen to read from the terminal before its call returns.
const CERTAIN: Duration = Duration::from_secs(1);

/// The same for one that probably waits.
const PROBABLE: Duration = Duration::from_secs(15);

/// The state of a terminal, other than its output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The input that the command that runs waits for, if it waits.
    pub waiting: Option<Waiting>,
    /// True if the user has taken the terminal over.
    pub taken: bool,
}

/// A command that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// The call that started it; the user's own lines at their prompt have an id of their own.
    pub call: ToolCallId,
    /// The command line.
    pub command: String,
    /// Whose it is.
    pub by: Typist,
    /// When it began.
    pub began: SystemTime,
    /// The offset of its first byte in the spool, once it has started.
    pub since: Option<u64>,
}

/// The question for which the text to type was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
    /// How often something had been typed by then: an answer is to no question that came after another answer.
    pub typed: u64,
    /// The output that a person saw of it by then ([`permission::Shown::seen`]), if the command was seen to wait at a
    /// question.
    pub seen: Option<&'a str>,
}

/// The outcome of a command when its call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has ended.
    Ended(Ran),
    /// It waits for input, or has been the user's for long, and goes on.
    Waits(Waits),
}

/// A command that goes on when its call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The input that it waits for.
    pub status: Status,
    /// Its output so far, as [`Ran::output`], at most 33 KiB.
    pub output: String,
    /// The offset after the last byte of that.
    pub offset: u64,
    /// Its duration so far.
    pub duration: Duration,
}

impl State {
    fn running(&self) -> Option<InFlight> {
        let execution =
            self.execution.as_ref().filter(|execution| !execution.line.is_empty() && !execution.is_aside)?;
        let (call, command) = (execution.call.clone(), execution.line.clone());
        Some(InFlight { call, command, by: execution.by, began: execution.began, since: execution.since })
    }
}

impl Shell {
    /// Returns a watch on its status: its state other than its output.
    pub fn status(&self) -> watch::Receiver<Status> {
        self.common.status.subscribe()
    }

    /// The command that runs; none while the user's prompt reads a line.
    pub fn running(&self) -> Option<InFlight> {
        self.state().running()
    }

    /// Runs a command to its end, or until it waits for input: seen to read for a second, or probably waiting for 15.
    /// Then it goes on, for the time that is left to it, and can be typed to ([`Shell::answer`]). Where what is typed
    /// is hidden, or the user has the terminal, it is waited for longer, up to ten minutes: that is for them to answer.
    /// While the user has the terminal and nothing runs, it is not begun for as long.
    ///
    /// # Errors
    /// See [`ShellError`]. A command that fails is no error.
    pub async fn run_until_it_waits(
        &self,
        call: &ToolCallId,
        command: &str,
        options: RunOptions,
    ) -> Result<Outcome, ShellError> {
        let began = Instant::now();
        let status = self.common.status.subscribe();
        self.until_handed_back(&options.cancel).await;
        let mut awaited = self.start(call, command, options).await?;
        let status = tokio::select! {
            biased;
            ended = &mut awaited.ended => {
                awaited.guard.holds = false;
                return ended.map(Outcome::Ended).map_err(|_| ShellError::NotResponding);
            }
            status = waits_long(status) => status,
        };
        if !awaited.release() {
            // It has ended just now.
            return awaited.ended.await.map(Outcome::Ended).map_err(|_| ShellError::NotResponding);
        }
        let Excerpt { text: output, end: offset, .. } = self.read_on(awaited.start_offset);
        Ok(Outcome::Waits(Waits { status, output, offset, duration: began.elapsed() }))
    }

    /// Waits until more than `offset` was printed, or nothing runs any longer, or a time is over; gives where the
    /// output ends now.
    pub async fn wait_for_more(&self, offset: u64, time: Duration) -> u64 {
        let (mut end, mut underway) = (self.spool.watch(), self.common.underway.subscribe());
        let more = async {
            tokio::select! {
                _ = end.wait_for(|end| *end > offset) => {}
                _ = underway.wait_for(|underway| *underway == 0) => {}
            }
        };
        let _ = tokio::time::timeout(time, more).await;
        self.spool.end()
    }

    /// Takes the news that the model has yet to hear: commands that ended after their call had returned, and what the
    /// user did with the terminal.
    pub fn take_news(&self) -> Vec<String> {
        let mut state = self.state();
        let mut news = std::mem::take(&mut state.news);
        if state.taken.is_none()
            && let Some(taken) = state.handed_back.take()
        {
            let runs = state.execution.as_ref().filter(|execution| !execution.line.is_empty());
            news.push(taken.in_words(runs.map(|execution| execution.line.as_str()), &state.cwd));
        }
        news
    }

    /// The number of inputs typed into it.
    pub fn typed(&self) -> u64 {
        self.common.typed.borrow().times()
    }

    /// Types as the model into what was looked at before, and nothing else: the same command (or line of the user's at
    /// their prompt), while it asks the same and nobody has typed anything since.
    ///
    /// # Errors
    /// [`ShellError::Idle`], [`ShellError::KeyboardFull`], [`ShellError::Taken`], [`ShellError::Another`], and
    /// [`ShellError::Secret`] while what is typed is not shown.
    pub fn answer(&self, into: &InFlight, asked: Asked<'_>, bytes: &[u8]) -> Result<(), ShellError> {
        self.type_into(Some((into, asked)), bytes)
    }

    /// Types as the model into this command, or as the user.
    pub(super) fn type_into(&self, aim: Option<(&InFlight, Asked<'_>)>, bytes: &[u8]) -> Result<(), ShellError> {
        let mut state = self.state();
        if let Some((into, asked)) = aim {
            self.may_answer(&state, into, asked)?;
        }
        let State { execution, terminal, taken, .. } = &mut *state;
        let early = match (execution, taken) {
            (Some(Execution { early: Some(early), .. }), _) => early,
            // The user's prompt is about to come.
            (None, Some(taken)) => taken.early(),
            (Some(execution), _) => {
                let Some(terminal) = terminal else { return Err(ShellError::Idle) };
                let by = if aim.is_some() { Typist::Model } else { Typist::User };
                // A line at the prompt is recorded as it is when it is run.
                let by = (!execution.is_prompt || !execution.line.is_empty()).then_some(by);
                let keys = terminal.keys().unwrap_or(Keys { echo: true, lines: true });
                let mut is_given = false;
                let end = self.spool.end();
                self.common.typed.send_modify(|typed| is_given = typed.more(bytes, keys, end));
                let done = terminal.type_in(by, bytes).map_err(|_| ShellError::KeyboardFull);
                drop(state);
                if is_given && keys.lines {
                    // It was answered: whether something waits is to be seen anew.
                    self.common.change(|status| status.waiting.take().is_some());
                }
                return done;
            }
            (None, None) => return Err(ShellError::Idle),
        };
        if early.len() + bytes.len() > MAX_EARLY {
            return Err(ShellError::KeyboardFull);
        }
        early.extend_from_slice(bytes);
        Ok(())
    }

    /// Checks that what runs is what the model looked at.
    fn may_answer(&self, state: &State, into: &InFlight, asked: Asked<'_>) -> Result<(), ShellError> {
        if state.taken.is_some() {
            return Err(ShellError::Taken);
        }
        let (Some(terminal), Some(now)) = (&state.terminal, state.running()) else { return Err(ShellError::Idle) };
        let (true, Some(start)) = (now == *into, now.since) else { return Err(ShellError::Another) };
        if terminal.keys().is_some_and(Keys::hidden) {
            return Err(ShellError::Secret);
        }
        let is_same = asked.seen.is_none_or(|seen| self.common.shown(start).seen == seen);
        if is_same && asked.typed == self.typed() { Ok(()) } else { Err(ShellError::Another) }
    }

    /// Takes in what is typed into a new terminal.
    pub(super) fn recorder(&self) -> UnboundedSender<Chunk> {
        let (sender, chunks) = unbounded_channel();
        let common = self.common.clone();
        tokio::spawn(typed::record(chunks, Arc::clone(&self.spool), move |line| {
            let text = environment::without_secrets(&line.text);
            let (call, is_untold) = {
                let mut state = common.state();
                // Typed ahead, it is mostly the next line of their prompt.
                let is_prompt = state.execution.as_ref().is_some_and(|execution| execution.is_prompt);
                let is_untold = is_prompt && line.by == Typist::User && line.text.starts_with(' ');
                if line.by == Typist::User {
                    state.remember(match line.hidden {
                        true => "typed something that was not shown".to_owned(),
                        false if is_untold => "typed something that is not told".to_owned(),
                        false => format!("typed `{text}`"),
                    });
                }
                (state.last_call.clone(), is_untold)
            };
            let text = if is_untold { "" } else { text.as_str() };
            common.observer.typed(call.as_ref(), line.by, text, line.hidden || is_untold);
        }));
        sender
    }
}

/// Waits until a command is to be returned from, and says why.
async fn waits_long(mut status: watch::Receiver<Status>) -> Status {
    let mut patience = PATIENCE;
    loop {
        let now = status.borrow_and_update().clone();
        let is_users = now.taken || now.waiting.as_ref().is_some_and(|waiting| waiting.hidden);
        let time = match &now.waiting {
            _ if is_users => patience,
            Some(Waiting { certainty: Certainty::Certain, .. }) => CERTAIN,
            Some(Waiting { certainty: Certainty::Probable, .. }) => PROBABLE,
            None => {
                let _ = status.changed().await;
                continue;
            }
        };
        let began = Instant::now();
        if tokio::time::timeout(time, status.changed()).await.is_err() {
            return now;
        }
        if is_users {
            patience = patience.saturating_sub(began.elapsed());
        }
    }
}
