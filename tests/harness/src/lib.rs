//! The harness of the end-to-end tests, and of benchmarks: everything around the server, and the whole real server.
//!
//! - [`project`]: a project in a temporary folder.
//! - [`server`]: the server in memory, with its own data folder.
//! - [`client`]: an editor that speaks JSON-RPC by itself, not by the server's framework. It has documents, applies
//!   workspace edits to them, and fails the test if the server says something that nobody looks at.
//! - [`model`]: a model server that speaks the vendors' real formats over HTTP, answers by a script, and checks what
//!   it is asked.
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
pub mod gone;
pub mod model;
pub mod process;
pub mod program;
pub mod project;
pub mod real;
pub mod server;
pub mod vendor;
pub mod window;

pub use self::client::{Client, Profile};
pub use self::gone::Gone;
pub use self::model::{Answer, Gate, ModelServer, Wire};
pub use self::program::binary;
pub use self::project::Project;
pub use self::server::{Server, Setup};

use std::time::Duration;

/// How long anything is waited for before the test fails. It is for a server that hangs, and longer than anything takes
/// on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something, with [`PATIENCE`].
///
/// # Panics
/// It did not come.
pub async fn patiently<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
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
