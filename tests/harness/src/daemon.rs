//! A program that makes itself a daemon and means to stay, as one that wants to outlive its shell does.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// The beginning of such a program, in Python. In the folder that it begins in it holds a lock on the file `lock` for
/// as long as it lives.
pub const BEGINNING: &str = "\
import fcntl, os, signal

if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(number, signal.SIG_IGN)
null = os.open(\"/dev/null\", os.O_RDWR)
for number in range(3): os.dup2(null, number)
lock = open(\"lock\", \"w\")
fcntl.flock(lock, fcntl.LOCK_EX)
";

/// Waits until the daemon that began in a folder is no more; `case` says of which it is where it stays.
pub async fn until_gone(folder: &Path, case: &str) {
    let lock = File::open(folder.join("lock")).unwrap();
    crate::patiently(&format!("the end of what is left behind, {case}"), async {
        while lock.try_lock().is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}
