//! Watches the client's process: a server must not outlive the editor that started it, also where something else keeps
//! its input open.

use std::io;
use std::time::Duration;

use rustix::process::Pid;

/// The interval of the checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Waits until a process is gone. For one that cannot be seen to begin with (the client may live in another container)
/// it waits for good.
pub(super) async fn gone(process_id: i32) {
    let watch = match Pid::from_raw(process_id).filter(|_| process_id > 0).map(Watch::new) {
        Some(Ok(watch)) => watch,
        Some(Err(error)) => {
            tracing::warn!(process_id, %error, "the client's process cannot be watched");
            return std::future::pending().await;
        }
        None => return std::future::pending().await,
    };
    while watch.is_alive() {
        tokio::time::sleep(INTERVAL).await;
    }
    tracing::info!(process_id, "the client's process is gone");
}

/// A file descriptor of a process stands for this very process; its number may be given out again.
#[cfg(target_os = "linux")]
struct Watch(rustix::fd::OwnedFd);

#[cfg(target_os = "linux")]
impl Watch {
    fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self(rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty())?))
    }

    fn is_alive(&self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        // It can be read once the process has ended.
        let mut descriptors = [PollFd::new(&self.0, PollFlags::IN)];
        poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) != Ok(1)
    }
}

/// Untested: only the number of the process.
#[cfg(not(target_os = "linux"))]
struct Watch(Pid);

#[cfg(not(target_os = "linux"))]
impl Watch {
    fn new(pid: Pid) -> io::Result<Self> {
        rustix::process::test_kill_process(pid)?;
        Ok(Self(pid))
    }

    fn is_alive(&self) -> bool {
        rustix::process::test_kill_process(self.0) != Err(rustix::io::Errno::SRCH)
    }
}
