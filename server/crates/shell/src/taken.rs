//! A terminal that the user has taken over: theirs alone until they hand it back.
//!
//! While nothing runs the user has a prompt there. It is the session's own shell that reads and runs their lines, so
//! that their `cd` and `export` hold for the commands that follow.

use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use protocol::ToolCallId;
use protocol::terminal::Typist;
use tokio_util::sync::CancellationToken;

use super::execution::PATIENCE;
use super::{RunOptions, Shell, State, What};

/// How many lines of what the user did are told.
const LINES: usize = 40;

/// So many bytes of one.
const LINE: usize = 400;

/// A prompt that ends sooner than this has not worked.
const SHORTEST: Duration = Duration::from_millis(100);

/// How long a prompt that was handed back may take to go.
const LEAVING: Duration = Duration::from_secs(2);

/// The user's time with a terminal.
pub(super) struct Taken {
    since: Instant,
    /// How long it was, once it is over.
    time: Duration,
    /// The user's actions, in words, in order.
    done: Vec<String>,
    /// The number of further actions.
    more: usize,
    /// The input that was typed while there was no prompt yet.
    early: Vec<u8>,
}

impl Taken {
    fn new() -> Self {
        Self { since: Instant::now(), time: Duration::ZERO, done: Vec::new(), more: 0, early: Vec::new() }
    }

    /// It is over.
    pub(super) fn end(mut self) -> Self {
        self.time = self.since.elapsed();
        self
    }

    /// Returns what was typed while there was no prompt yet.
    pub(super) fn early(&mut self) -> &mut Vec<u8> {
        &mut self.early
    }

    /// Returns what the model is told of it.
    pub(super) fn in_words(&self, runs: Option<&str>, cwd: &Path) -> String {
        let time = self.time.as_secs();
        let mut text = format!("The user had the terminal for {time} s and has handed it back.");
        if !self.done.is_empty() {
            text.push_str(&format!(" There they {}", self.done.join(", ")));
            if self.more > 0 {
                text.push_str(&format!(", and {} more lines", self.more));
            }
            text.push('.');
        }
        match runs {
            Some(line) => text.push_str(&format!(" `{}` runs there now.", super::beginning(line))),
            None => text.push_str(&format!(" The shell is in {}.", cwd.display())),
        }
        text
    }
}

impl State {
    /// Remembers what the user does, while the terminal is theirs.
    pub(super) fn remember(&mut self, what: String) {
        let Some(taken) = &mut self.taken else { return };
        if taken.done.len() == LINES {
            taken.more += 1;
            return;
        }
        let mut what = what;
        if let Some((end, _)) = what.char_indices().find(|(at, _)| *at > LINE) {
            what.truncate(end);
            what.push_str("…`");
        }
        taken.done.push(what);
    }
}

impl Shell {
    /// Gives the terminal to the user, or takes it back. Twice is harmless.
    ///
    /// While it is theirs the model cannot type or run anything there, and no command's time runs out. Needs a tokio
    /// runtime around it.
    pub fn take(self: &Arc<Self>, taken: bool) {
        if !taken {
            return self.common.hand_back();
        }
        {
            let mut state = self.state();
            if state.taken.is_some() || state.is_closed {
                return;
            }
            state.taken = Some(Taken::new());
        }
        self.common.change(|status| !std::mem::replace(&mut status.taken, true));
        // A job's terminal is closed when its command has ended.
        if !self.is_jobs {
            tokio::spawn(prompt(Arc::downgrade(self)));
        }
    }

    /// Waits while the user has the terminal, for ten minutes at most, and until their prompt is gone then.
    pub async fn until_handed_back(&self, cancel: &CancellationToken) {
        let mut status = self.status();
        tokio::select! {
            () = cancel.cancelled() => {}
            _ = tokio::time::timeout(PATIENCE, status.wait_for(|status| !status.taken)) => {}
        }
        self.at_prompt_no_more().await;
    }

    /// Waits until a prompt that was handed back is gone. What the user runs there has a moment to end.
    pub async fn at_prompt_no_more(&self) {
        let is_going = {
            let state = self.state();
            state.taken.is_none() && state.execution.as_ref().is_some_and(|execution| execution.is_prompt)
        };
        if is_going {
            let _ = tokio::time::timeout(LEAVING, self.at_rest()).await;
        }
    }
}

/// Sees to it that the user has a prompt while nothing else runs, until the terminal is handed back.
async fn prompt(shell: Weak<Shell>) {
    let (mut failures, mut what) = (0, What::Prompt);
    loop {
        let Some(there) = shell.upgrade() else { return };
        let (status, mut underway) = (there.status(), there.common.underway.subscribe());
        if !status.borrow().taken {
            return;
        }
        let call = ToolCallId::new(format!("user-{}", there.state().executions + 1));
        let began = Instant::now();
        if let Ok(running) = there.register(&call, None, Typist::User) {
            let awaited = there.execute(running, what, RunOptions::default()).await;
            drop(there);
            let ended = match awaited {
                Ok(awaited) => awaited.end().await.map(|_| ()),
                Err(error) => Err(error),
            };
            what = What::NextPrompt;
            failures = if ended.is_err() || began.elapsed() < SHORTEST { failures + 1 } else { 0 };
            if failures == 3 {
                tracing::warn!("the user's prompt ended at once, again and again");
                if let Some(there) = shell.upgrade() {
                    there.common.hand_back();
                }
                return;
            }
        } else {
            drop(there);
            what = What::Prompt;
            // A command runs; after it comes the prompt.
            let mut status = status;
            tokio::select! {
                _ = underway.wait_for(|underway| *underway == 0) => {}
                _ = status.wait_for(|status| !status.taken) => {}
            }
        }
    }
}
