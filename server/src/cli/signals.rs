//! Ctrl-C, and the request to end: heard from a command's beginning on, also while a question waits.

use std::io;

use tokio::sync::watch;

/// Counts how often the user asked to stop. Copies count the same.
#[derive(Clone)]
pub(super) struct Signals(watch::Receiver<u32>);

impl Signals {
    /// Listens, and goes on with it to the process's end: a signal ends nothing by itself any more.
    ///
    /// # Errors
    /// The system lets nobody listen.
    pub(super) fn listen() -> io::Result<Self> {
        let mut source = Source::new()?;
        let (count, signals) = watch::channel(0);
        tokio::spawn(async move {
            loop {
                source.next().await;
                count.send_modify(|count| *count += 1);
            }
        });
        Ok(Self(signals))
    }

    /// Waits until the user has asked so many times.
    pub(super) async fn received(&self, times: u32) {
        if self.0.clone().wait_for(|count| *count >= times).await.is_err() {
            // Nobody listens any more: the runtime ends.
            std::future::pending().await
        }
    }
}

/// Has a write beyond a limit on the size of files fail, which is said where it happens, instead of ending the process.
/// The signal is caught and not ignored, so that programs that are started here get it as usual.
pub(super) fn outlive_limits() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
        if let Err(error) = signal(kind) {
            tracing::warn!(%error, "a limit on the size of files would end this process");
        }
    }
}

#[cfg(unix)]
struct Source {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Source {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Source(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Source {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        let _ = self.0.recv().await;
    }
}
