//! The work that the session has begun beside its task.

use tokio::sync::mpsc;

use super::Own;

/// The work that was begun beside the session's task and comes back to it.
pub(super) struct Work {
    /// Back to the task.
    pub(super) own: mpsc::UnboundedSender<Own>,
    /// The number of requests that have begun that way and are not answered.
    begun: usize,
}

impl Work {
    /// Nothing has begun; what does comes back this way.
    pub(super) fn new(own: mpsc::UnboundedSender<Own>) -> Self {
        Self { own, begun: 0 }
    }

    /// A request has begun.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
    }

    /// It has come back.
    pub(super) fn end(&mut self) {
        self.begun -= 1;
    }

    /// True if one has not come back.
    pub(super) fn is_on(&self) -> bool {
        self.begun > 0
    }
}
