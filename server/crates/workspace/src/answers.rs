//! Asking the disk what it may never answer, as where a folder lies on a machine that is gone.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Looks on a thread of its own, and hears what that tells within this time. It is told whether somebody still listens.
/// Gives whether it has come to its end.
pub(crate) fn in_time<T: Send + 'static>(
    longest: Duration,
    look: impl FnOnce(&dyn Fn(T) -> bool) + Send + 'static,
    mut hear: impl FnMut(T),
) -> bool {
    let (until, (sender, told)) = (Instant::now() + longest, channel());
    let look = move || {
        look(&|one| sender.send(Some(one)).is_ok());
        let _ = sender.send(None);
    };
    // If the system gives no more threads, nothing was looked at.
    if thread::Builder::new().spawn(look).is_err() {
        return false;
    }
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Some(one)) => hear(one),
            Ok(None) => return true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        }
        if Instant::now() > until {
            return false;
        }
    }
}
