//! Ids that a session gives out.

use crate::clock::now;

/// Gives ids out, each unlike any other of the session, of earlier processes too.
pub(super) struct Ids {
    /// The last one's number.
    last: u64,
}

impl Ids {
    /// Ids of a process that begins now.
    pub(super) fn new() -> Self {
        // Milliseconds: those of an earlier process are always lower.
        Self { last: now() }
    }

    /// A new one.
    pub(super) fn next(&mut self, prefix: &str) -> String {
        self.last += 1;
        format!("{prefix}-{:x}", self.last)
    }
}
