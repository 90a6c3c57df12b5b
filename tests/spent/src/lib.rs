//! How long the processor has worked for a test: unlike the time that passes, that does not depend on what else runs.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Counts the processor's time for this thread from a moment on.
#[derive(Debug)]
pub struct Spent(Duration);

impl Spent {
    /// Starts to count.
    pub fn start() -> Self {
        Self(now())
    }

    /// How long it has worked since.
    pub fn elapsed(&self) -> Duration {
        now() - self.0
    }
}

fn now() -> Duration {
    // The kernel gives no time below zero.
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
