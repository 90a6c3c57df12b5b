//! Where a terminal's bytes go: all of them to the spool, a command's output to its transcript.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::marker::{AtPrompt, Filter, Nonce, Piece};
use super::spool::Spool;
use super::transcript::{Printed, Transcript};

/// Takes in what a terminal prints.
pub(super) struct Screen {
    spool: Arc<Spool>,
    filter: Filter,
    command: Option<Command>,
}

struct Command {
    /// Taken when the shell has said that it is ready.
    ready: Option<oneshot::Sender<()>>,
    /// Taken when the command has started.
    started: Option<oneshot::Sender<u64>>,
    ended: oneshot::Sender<Ended>,
    at_prompt: UnboundedSender<AtPrompt>,
    transcript: Transcript,
}

/// The channels by which a command is followed.
pub(super) struct Followed {
    /// Gives the offset of its first byte, when it has started.
    pub(super) started: oneshot::Receiver<u64>,
    /// Gives its end.
    pub(super) ended: oneshot::Receiver<Ended>,
    /// Gives the events at the user's prompt, if that is what runs.
    pub(super) at_prompt: UnboundedReceiver<AtPrompt>,
}

/// A command's end.
pub(super) struct Ended {
    /// Its output, for a model.
    pub(super) output: Printed,
    /// The offset after its last byte.
    pub(super) offset: u64,
    /// Its exit code; none if a signal ended the shell.
    pub(super) code: Option<i32>,
    /// The shell's folder; none if the shell itself ended.
    pub(super) cwd: Option<PathBuf>,
}

impl Screen {
    pub(super) fn new(spool: Arc<Spool>) -> Self {
        Self { spool, filter: Filter::default(), command: None }
    }

    /// Follows the command whose marks have this nonce. The second value is sent when the shell is ready for it.
    pub(super) fn follow(&mut self, nonce: Nonce) -> (Followed, oneshot::Receiver<()>) {
        let (ready_sender, ready) = oneshot::channel();
        let (started_sender, started) = oneshot::channel();
        let (ended_sender, ended) = oneshot::channel();
        let (at_prompt_sender, at_prompt) = unbounded_channel();
        self.filter.expect(nonce);
        self.command = Some(Command {
            ready: Some(ready_sender),
            started: Some(started_sender),
            ended: ended_sender,
            at_prompt: at_prompt_sender,
            transcript: Transcript::default(),
        });
        (Followed { started, ended, at_prompt }, ready)
    }

    /// True if the command whose marks have this nonce has started and its end was not seen.
    pub(super) fn is_running(&self, nonce: &Nonce) -> bool {
        self.filter.expects(nonce) && self.command.as_ref().is_some_and(|command| command.started.is_none())
    }

    /// Takes in what was read.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let Self { spool, filter, command } = self;
        filter.feed(bytes, |piece| take(spool, command, piece));
    }

    /// The shell has ended, with this exit code.
    pub(super) fn close(&mut self, code: Option<i32>) {
        let Self { spool, filter, command } = self;
        filter.finish(|piece| take(spool, command, piece));
        if let Some(command) = command.take() {
            command.end(spool.end(), code, None);
        }
    }
}

fn take(spool: &Spool, slot: &mut Option<Command>, piece: Piece<'_>) {
    match piece {
        Piece::Bytes(bytes) => {
            spool.push(bytes);
            if let Some(command) = slot
                && command.started.is_none()
            {
                command.transcript.push(bytes);
            }
        }
        Piece::Ready => {
            if let Some(ready) = slot.as_mut().and_then(|command| command.ready.take()) {
                let _ = ready.send(());
            }
        }
        Piece::Start => {
            if let Some(started) = slot.as_mut().and_then(|command| command.started.take()) {
                let _ = started.send(spool.end());
            }
        }
        Piece::AtPrompt(what) => {
            if let Some(command) = slot {
                let _ = command.at_prompt.send(what);
            }
        }
        Piece::End { code, cwd } => {
            if let Some(command) = slot.take() {
                command.end(spool.end(), code, Some(PathBuf::from(cwd)));
            }
        }
    }
}

impl Command {
    fn end(self, offset: u64, code: Option<i32>, cwd: Option<PathBuf>) {
        let _ = self.ended.send(Ended { output: self.transcript.finish(), offset, code, cwd });
    }
}
