//! A process that wants a session which another one holds attaches to that one; where it cannot, it is refused with
//! words. What windows have of it is in `windows.rs`.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's folder itself")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use harness::process::Process;
use harness::vendor::{Instant as Answer, Vendor};

/// A window with a session, and a command line beside it.
struct World {
    folder: tempfile::TempDir,
    vendor: Vendor,
    window: Process,
    session: String,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (project, data) = (folder.path().join("project"), folder.path().join("data"));
        std::fs::create_dir(&project).unwrap();
        let vendor = Vendor::start(vec![Answer::Text { pieces: 3 }, Answer::Text { pieces: 3 }]);
        let mut window = Process::start(harness::binary(), &data, &project, &vendor.url());
        let session = window.session();
        window.turn(&session);
        Self { folder, vendor, window, session }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Goes on with the session on the command line, which looks for other processes in this folder.
    fn exec(&self, runtime: &Path) -> (Option<i32>, String) {
        let Output { status, stdout, stderr } = Command::new(harness::binary())
            .args(["exec", "--trust", "--resume", &self.session, "Go on."])
            .current_dir(self.folder.path().join("project"))
            .env("AZIMUTH_DATA_DIR", self.data())
            .env("AZIMUTH_CONFIG", self.data().join("no-config.toml"))
            .env("XDG_RUNTIME_DIR", runtime)
            .env("OPENAI_BASE_URL", self.vendor.url())
            .env("OPENAI_API_KEY", "test")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (status.code(), format!("{}{}", String::from_utf8_lossy(&stderr), String::from_utf8_lossy(&stdout)))
    }
}

#[test]
fn the_command_line_goes_on_with_a_session_that_a_window_has_open() {
    let mut world = World::new();
    let (code, words) = world.exec(&world.data());
    assert_eq!(code, Some(0), "{words}");
    // The window saw it.
    let ended = world.window.event("turnEnded");
    assert_eq!(ended["event"]["stopReason"], "end_turn", "{ended}");
}

#[test]
fn who_cannot_reach_the_sessions_holder_is_refused_with_words_until_it_ends() {
    let mut world = World::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let (code, words) = world.exec(elsewhere.path());
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("open in another process") && words.contains(&world.session), "{words}");

    world.window.kill();
    let (code, words) = world.exec(elsewhere.path());
    assert_eq!(code, Some(0), "{words}");
}
