//! The harness of the end-to-end tests, and of benchmarks: everything around the server, and the whole real server.
//!
//! - [`project`]: a project in a temporary folder.
//! - [`server`]: the server in memory, with its own data folder.
//! - [`client`]: an editor that speaks JSON-RPC by itself, not by the server's framework. It has documents, applies
//!   workspace edits to them, and fails the test if the server says something that nobody looks at.
//! - [`model`]: a model server that speaks the vendors' real formats over HTTP, answers by a script, and checks what
//!   it is asked.
//! - [`sign_in`]: a vendor whose users sign in.
//! - [`google`]: Google's servers that give access tokens.
//! - [`fill`]: a server that fills in text where the user types.
//! - [`window`]: the same editor with the server as a process of its own, for tests of several windows.
//! - [`gone`]: a folder of a machine that is gone.
//! - [`real`], [`direct`]: real projects, and their language servers asked without us.
//! - [`program`], [`process`], [`vendor`]: the program, a process of it, and an instant model, for tests that kill, and
//!   for benchmarks.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "here a failure is a failed test")]
#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

pub mod client;
pub mod crates;
pub mod daemon;
pub mod direct;
pub mod fill;
pub mod gone;
pub mod google;
pub mod model;
mod plain;
pub mod process;
pub mod program;
pub mod project;
pub mod real;
pub mod server;
pub mod sign_in;
pub mod vendor;
pub mod vendors;
pub mod window;

pub use self::client::{Client, Profile};
pub use self::fill::{FillAsked, FillServer, Filled};
pub use self::gone::Gone;
pub use self::google::GoogleServer;
pub use self::model::{Answer, Gate, ModelServer, Ollama, Wire};
pub use self::program::binary;
pub use self::project::Project;
pub use self::server::{Server, Setup};
pub use self::sign_in::SignInServer;

use std::time::{Duration, Instant};

/// How long anything is waited for before the test fails. It is for a server that hangs, and longer than anything takes
/// on a machine that has nothing else to do; see [`in_time`].
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something, with [`PATIENCE`].
///
/// # Panics
/// It did not come.
pub async fn patiently<T>(what: &str, future: impl Future<Output = T>) -> T {
    in_time(future).await.unwrap_or_else(|| panic!("waited in vain for {what}"))
}

/// The output of a future within [`PATIENCE`], or as many times that as more work waits for this machine's processors
/// than they can do at once: who gets a fifth of a processor is given five times as long before it counts as hanging.
pub async fn in_time<T>(future: impl Future<Output = T>) -> Option<T> {
    let (began, mut future) = (Instant::now(), std::pin::pin!(future));
    loop {
        match tokio::time::timeout(PATIENCE, &mut future).await {
            Ok(it) => return Some(it),
            Err(_) if began.elapsed() < PATIENCE.mul_f64(load()) => {}
            Err(_) => return None,
        }
    }
}

/// How many programs want each of this machine's processors, as a mean of the last minute: from 1 to 10.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running: f64 = text.split(' ').next().and_then(|mean| mean.parse().ok()).unwrap_or(0.0);
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (running / u32::try_from(processors).map_or(1.0, f64::from)).clamp(1.0, 10.0)
}

/// Says what a test could not try on this machine: in its output, and in the file that `AZIMUTH_NOT_TRIED` names, so
/// that `tests/run` shows it though the test passes.
pub fn not_tried(what: &str) {
    eprintln!("not tried: {what}");
    if let Some(list) = std::env::var_os("AZIMUTH_NOT_TRIED") {
        let mut list = std::fs::File::options().append(true).create(true).open(list).unwrap();
        std::io::Write::write_all(&mut list, format!("{what}\n").as_bytes()).unwrap();
    }
}
