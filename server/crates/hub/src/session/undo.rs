//! Undo and redo of what turns did to files: looking, and going the ways that [`super::checkpoints`] plans.
//!
//! The session's task says what is meant and records what came of it. In between, the files are looked at and changed
//! by a task of its own (`files`), and what could change files meanwhile waits in [`Undo`].

mod files;
mod routes;

use protocol::checkpoint::{CheckpointRestoreParams, CheckpointRestoreResult, Direction};
use protocol::{TurnId, methods};

use self::files::Gone;
pub(super) use self::routes::register;
use super::Caller;
use super::prompts::Prepared;
use crate::{Reply, Request};

/// An undo or redo, if there is one.
#[derive(Default)]
pub(super) struct Undo {
    /// The work that waits while it changes files, or is about to; `None` while there is none.
    held: Option<Vec<Held>>,
    /// One that has not begun, since files are still being changed.
    restoring: Option<Restoring>,
    /// True if the next prompt that waits is to start once it is over.
    holds_next: bool,
}

/// An undo or redo, before it begins.
struct Restoring {
    direction: Direction,
    params: CheckpointRestoreParams,
    reply: Reply<CheckpointRestoreResult>,
}

/// The outcome of an undo or redo.
pub(super) struct Restored {
    direction: Direction,
    turn_ids: Vec<TurnId>,
    files: Vec<Gone>,
    reply: Reply<CheckpointRestoreResult>,
}

/// The work that waits until the files are as an undo or redo leaves them.
enum Held {
    Request(Caller, Request),
    Prepared(Box<Prepared>),
}

impl Undo {
    /// True if one changes files, or is about to.
    pub(super) fn is_on(&self) -> bool {
        self.held.is_some()
    }

    /// Takes one up. From here on what would change files waits for it, another one too.
    fn take_up(&mut self, restoring: Restoring) {
        self.held = Some(Vec::new());
        self.restoring = Some(restoring);
    }

    /// The one that has not begun, which it has by that.
    fn begin(&mut self) -> Option<Restoring> {
        self.restoring.take()
    }

    /// It is over. Gives what waited for it.
    fn end(&mut self) -> Vec<Held> {
        self.held.take().unwrap_or_default()
    }

    /// True if a request has to wait: it starts a turn, changes files itself, or would be decided on texts that are
    /// about to be others.
    pub(super) fn holds(&self, request: &Request) -> bool {
        let waits = request.is::<methods::TurnStart>()
            || request.is::<methods::InlineInstruct>()
            || request.is::<methods::ReviewDecide>()
            || request.is::<methods::CheckpointUndo>()
            || request.is::<methods::CheckpointRedo>();
        self.is_on() && waits
    }

    /// Has a request wait that [`Undo::holds`]. While no undo is on, it is answered with an internal error.
    pub(super) fn hold(&mut self, caller: Caller, request: Request) {
        if let Some(held) = &mut self.held {
            held.push(Held::Request(caller, request));
        }
    }

    /// True if one is on: the next prompt of those that wait, which may be a command, starts once it is over.
    pub(super) fn hold_next(&mut self) -> bool {
        self.holds_next |= self.is_on();
        self.is_on()
    }

    /// True if a prompt was to start that waits, and was held for it.
    fn take_next(&mut self) -> bool {
        std::mem::take(&mut self.holds_next)
    }

    /// Has a prompt wait that is ready. Gives it back if it need not wait.
    pub(super) fn hold_prepared(&mut self, prepared: Box<Prepared>) -> Option<Box<Prepared>> {
        match &mut self.held {
            Some(held) => {
                held.push(Held::Prepared(prepared));
                None
            }
            None => Some(prepared),
        }
    }
}

#[cfg(test)]
mod tests;
