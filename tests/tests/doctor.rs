//! `azimuth doctor` and `azimuth demo` in a folder that is not trusted, and beside commands in a sandbox that wait for
//! them: what they start runs nothing of theirs.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::io::Write;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::{ModelServer, Ollama, Wire, binary};
use serde_json::json;
use tempfile::TempDir;

/// A user, in a place that is no folder for temporary files: what lies in one counts as a project's.
struct World {
    place: TempDir,
}

impl World {
    fn new() -> Self {
        let base = if rustix::process::geteuid().is_root() { "/srv".into() } else { std::env::var_os("HOME").unwrap() };
        let world = Self { place: TempDir::with_prefix_in("azimuth-doctor-", base).unwrap() };
        for folder in ["home/project", "temporary", "config"] {
            std::fs::create_dir_all(world.at(folder)).unwrap();
        }
        world
    }

    fn at(&self, path: &str) -> PathBuf {
        self.place.path().join(path)
    }

    fn script(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        std::fs::write(self.at(path), format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(self.at(path), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// The output of a command in the project, with these folders first in `PATH`.
    fn says(&self, arguments: &[&str], first: &[&str]) -> String {
        let first = first.iter().map(|folder| self.at(folder));
        let path = std::env::var_os("PATH").unwrap();
        let path = std::env::join_paths(first.chain(std::env::split_paths(&path))).unwrap();
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(self.at("home/project")).env("PATH", path).env("HOME", self.at("home"));
        command.env("AZIMUTH_DATA_DIR", self.at("data")).env("AZIMUTH_CONFIG", self.at("config/config.toml"));
        let said = command.env("TMPDIR", self.at("temporary")).output().unwrap();
        String::from_utf8([said.stdout, said.stderr].concat()).unwrap()
    }

    /// The same beside somebody who types a line into every pipe among the temporary files, which every sandbox may
    /// write.
    fn says_though_typed_into(&self, arguments: &[&str], line: &str) -> String {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    type_into_all(&self.at("temporary"), line);
                }
            });
            let said = self.says(arguments, &[]);
            is_over.store(true, Ordering::Relaxed);
            said
        })
    }
}

/// Types a line into every pipe in a folder, however deep.
fn type_into_all(folder: &Path, line: &str) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            type_into_all(&entry.path(), line);
        } else if entry.file_type().is_ok_and(|kind| kind.is_fifo()) {
            let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
            let pipe = std::fs::OpenOptions::new().write(true).custom_flags(nonblocking).open(entry.path());
            let _ = pipe.and_then(|mut pipe| pipe.write_all(line.as_bytes()));
        }
    }
}

#[test]
fn nothing_that_a_command_in_a_sandbox_can_write_is_read_by_the_shells_of_doctor_and_demo() {
    let world = World::new();
    let mark = world.at("temporary/mark");
    let line = format!("\ntouch {}\n", mark.display());
    for (arguments, expected) in [(&["doctor"][..], "shell: bash"), (&["demo", "--yes"], "That was the whole loop")] {
        let said = world.says_though_typed_into(arguments, &line);
        assert!(said.contains(expected), "{said}");
        assert!(!mark.exists(), "{arguments:?} ran it: {said}");
        assert!(!world.at("data").exists(), "nothing is left of {arguments:?}");
    }
}

#[test]
fn in_a_folder_that_is_not_trusted_a_server_that_doctor_tries_finds_no_program_of_the_folder() {
    let world = World::new();
    let odd = json!({ "odd": { "command": "odd-lsp", "fileTypes": ["odd"], "rootMarkers": ["odd.project"] } });
    std::fs::write(world.at("config/lsp.json"), odd.to_string()).unwrap();
    std::fs::write(world.at("home/project/odd.project"), "").unwrap();
    let mark = world.at("home/project/mark");
    for (folder, whose) in [("tools", "the user's"), ("home/project/bin", "the project's")] {
        world.script(&format!("{folder}/helper"), &format!("echo \"{whose}\" >>{}", mark.display()));
    }
    world.script("tools/odd-lsp", "helper\nexit 1");
    let said = world.says(&["doctor"], &["home/project/bin", "tools"]);
    assert!(said.contains("odd-lsp cannot run"), "{said}");
    assert_eq!(std::fs::read_to_string(&mark).unwrap_or_default(), "the user's\n", "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_doctor_tells_of_an_ollama_whose_window_is_too_small_for_an_agent() {
    let server = ModelServer::start([]).await;
    server.plays(Ollama::new("coder:7b", 4096).with_parameters("num_ctx 4096"));
    let world = World::new();
    let url = server.url(Wire::Chat);
    let url = url.trim_end_matches("/v1");
    let config = format!("model = \"ollama/coder:7b\"\n[providers.ollama]\nbase_url = \"{url}\"\n");
    std::fs::write(world.at("config/config.toml"), config).unwrap();
    let said = tokio::task::spawn_blocking(move || world.says(&["doctor"], &[])).await.unwrap();
    let told = said.lines().find(|line| line.starts_with("warn default model")).unwrap_or_else(|| panic!("{said}"));
    assert!(told.contains("ollama/coder:7b: Ollama gives it a window of 4096 tokens"), "{told}");
    assert!(told.contains("`OLLAMA_CONTEXT_LENGTH=64000 ollama serve`"), "{told}");
}
