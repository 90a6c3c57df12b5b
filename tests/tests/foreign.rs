//! Things that a folder of somebody else's may have in the place of a file: links to devices and pipes, huge files, and
//! links that come and go. None of them holds a session up, fills the memory, or is read from outside of the project,
//! and the folder need not be trusted for it.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::window::Window;
use harness::{Answer, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId};
use serde_json::{Value, json};

/// A session in a folder of which its user has said that they do not trust it.
struct World {
    _setup: Setup,
    model: ModelServer,
    window: Window,
    session: SessionId,
}

impl World {
    async fn new(project: &Project) -> Self {
        let model = ModelServer::start([]).await;
        model.may_rewrite();
        let setup = Setup::model(&model, Wire::Anthropic);
        let window = Window::open(&setup, project, Profile::panel().that_trusts_nothing()).await;
        let session = window.new_session().await;
        model.then(Answer::says("Hello."));
        window.prompt(&session, "Hello.").await;
        let (_, question) = window.until_asked(&session).await;
        window.answer(&session, &question, "reject_always").await;
        window.until_end(&session, StopReason::EndTurn).await;
        Self { _setup: setup, model, window, session }
    }

    /// The results of these calls as the model reads them, in the order in which they end.
    async fn call(&self, calls: &[(&'static str, Value)]) -> Vec<String> {
        self.model.then(calls.iter().fold(Answer::nothing(), |answer, (tool, input)| answer.call(tool, input.clone())));
        self.model.then(Answer::says("I see."));
        self.window.prompt(&self.session, "Look.").await;
        let events = self.window.until_end(&self.session, StopReason::EndTurn).await;
        let results = events.into_iter().filter_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text),
            _ => None,
        });
        let results: Vec<_> = results.collect();
        assert_eq!(results.len(), calls.len());
        results
    }

    /// The most memory that the server had, in KiB.
    fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.window.process())).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")).unwrap();
        most.trim().parse().unwrap()
    }

    async fn finish(self) {
        // It says which files of the project it does not read.
        self.window.waive("window/showMessage");
        self.window.close().await;
    }
}

/// Something that stands in the place of a file.
#[derive(Clone, Copy, Debug)]
enum Foul {
    EndlessDevice,
    Pipe,
    Huge,
}

impl Foul {
    const ALL: [Self; 3] = [Self::Pipe, Self::Huge, Self::EndlessDevice];

    /// Puts it there: by a link, as a clone can bring it along, where it is not in the project itself.
    fn put(self, path: &Path, outside: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match self {
            Self::EndlessDevice => symlink("/dev/zero", path).unwrap(),
            Self::Pipe => {
                let pipe = outside.join("pipe");
                let kind = rustix::fs::FileType::Fifo;
                if !pipe.exists() {
                    rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, 0o666.into(), 0).unwrap();
                }
                symlink(pipe, path).unwrap();
            }
            Self::Huge => std::fs::File::create(path).unwrap().set_len(4 << 30).unwrap(),
        }
    }
}

#[tokio::test]
async fn files_that_are_read_unasked_may_be_devices_pipes_and_huge_and_hold_nothing_up() {
    for foul in Foul::ALL {
        for name in [
            ".gitignore",
            ".ignore",
            ".git/info/exclude",
            "src/.gitignore",
            "AGENTS.md",
            ".cursor/rules/a.mdc",
            ".git",
            ".git/config",
        ] {
            let project = Project::new([("src/lib.rs", "fn needle() {}\n"), ("kept.txt", "needle\n")]);
            let outside = Project::new([]);
            foul.put(&project.path(name), outside.folder());
            let world = World::new(&project).await;
            let results = world
                .call(&[
                    ("list_files", json!({})),
                    ("find_files", json!({ "pattern": "*.rs" })),
                    ("search_text", json!({ "query": "needle" })),
                    ("search_structural", json!({ "pattern": "fn needle() {}", "language": "rust" })),
                    ("lsp_diagnostics", json!({})),
                ])
                .await;
            let with = |name: &str| results.iter().filter(|result| result.contains(name)).count();
            assert!(with("kept.txt") >= 2 && with("lib.rs") >= 4, "{foul:?} {name}: {results:?}");
            let most = world.most_memory();
            assert!(most < 600 << 10, "{foul:?} {name}: {most} KiB");
            world.finish().await;
        }
    }
}

#[tokio::test]
async fn settings_of_a_project_that_are_no_file_hold_nothing_up_and_everything_is_asked() {
    for foul in Foul::ALL {
        let project = Project::new([("kept.txt", "needle\n")]);
        let outside = Project::new([]);
        foul.put(&project.path(".azimuth/config.toml"), outside.folder());
        let world = World::new(&project).await;
        world.model.then(Answer::nothing().call("list_files", json!({})));
        world.model.then(Answer::says("I see."));
        world.window.prompt(&world.session, "Look.").await;
        let (_, question) = world.window.until_asked(&world.session).await;
        assert!(question.reason.contains("config.toml"), "{foul:?}: {}", question.reason);
        world.window.answer(&world.session, &question, "allow_once").await;
        world.window.until_end(&world.session, StopReason::EndTurn).await;
        let most = world.most_memory();
        assert!(most < 600 << 10, "{foul:?}: {most} KiB");
        world.finish().await;
    }
}

#[tokio::test]
async fn an_ignore_file_that_is_a_link_in_the_project_counts_and_one_that_leads_out_does_not() {
    let files = [("ignore.common", "*.log\n"), ("a.log", ""), ("src/b.log", ""), ("src/c.tmp", "")];
    let project = Project::new(files);
    let outside = Project::new([("ignore", "*.tmp\n")]);
    symlink("ignore.common", project.path(".gitignore")).unwrap();
    symlink(outside.path("ignore"), project.path("src/.gitignore")).unwrap();
    let world = World::new(&project).await;
    let results = world.call(&[("list_files", json!({}))]).await;
    assert!(results[0].contains("c.tmp") && !results[0].contains(".log"), "{results:?}");
    world.finish().await;
}

/// Swaps two names again and again for as long as it lives.
struct Swaps {
    done: Arc<AtomicBool>,
    swapping: Option<std::thread::JoinHandle<u64>>,
}

impl Swaps {
    fn begin(a: PathBuf, b: PathBuf) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&done);
        let swapping = std::thread::spawn(move || {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let mut swaps = 0;
            while !until.load(Ordering::Relaxed) {
                renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
            }
            swaps
        });
        Self { done, swapping: Some(swapping) }
    }

    fn end(mut self) -> u64 {
        self.done.store(true, Ordering::Relaxed);
        self.swapping.take().unwrap().join().unwrap()
    }
}

#[tokio::test]
async fn no_tool_reads_or_names_what_is_behind_a_link_that_is_swapped_in() {
    const SECRET: &str = "fn secret_word() {}\n";
    let many: Vec<String> = (0..40).map(|at| format!("src/{at}.rs")).collect();
    let project = Project::new(many.iter().map(|name| (name.as_str(), "fn plain() {}\n")));
    project.write("a.rs", "fn plain() {}\n");
    let outside = Project::new([("a.rs", SECRET), ("deep/secret_name.rs", SECRET), ("secret_name.rs", SECRET)]);
    for at in 0..40 {
        outside.write(&format!("{at}.rs"), SECRET);
    }
    let hidden = Project::new([]);
    symlink(outside.path("a.rs"), hidden.path("a.rs")).unwrap();
    symlink(outside.folder(), hidden.path("src")).unwrap();
    let world = World::new(&project).await;
    let swaps = ["a.rs", "src"].map(|name| Swaps::begin(project.path(name), hidden.path(name)));
    let mut calls = vec![
        ("search_text", json!({ "query": "fn " })),
        ("search_text", json!({ "query": "fn s" })),
        ("search_text", json!({ "query": "fn s", "path": "src" })),
        ("search_text", json!({ "query": "fn s", "path": "a.rs" })),
        ("search_structural", json!({ "pattern": "fn $NAME() {}", "language": "rust" })),
        ("list_files", json!({})),
        ("list_files", json!({ "path": "src" })),
        ("find_files", json!({ "pattern": "*.rs" })),
    ];
    for path in ["a.rs", "src/1.rs"] {
        calls.extend([
            ("read_file", json!({ "path": path })),
            ("read_around", json!({ "path": path, "anchor": "fn " })),
            ("file_symbols", json!({ "path": path })),
            ("file_outline", json!({ "path": path })),
            ("line_count", json!({ "path": path })),
            ("find_blocks", json!({ "path": path })),
            ("find_code_block", json!({ "path": path, "query": "fn" })),
        ]);
    }
    let (mut told, mut read) = (Vec::new(), 0);
    for _ in 0..25 {
        let results = world.call(&calls).await;
        read += results.iter().filter(|result| result.contains("plain")).count();
        told.extend(results.into_iter().filter(|result| result.contains("secret_")));
    }
    let swaps: u64 = swaps.map(Swaps::end).iter().sum();
    eprintln!("{swaps} swaps, {read} answers had the project's own text");
    assert!(told.is_empty(), "{} of {}: {}", told.len(), 25 * calls.len(), told[0]);
    assert!(swaps > 100 && read > 50, "{swaps} swaps, {read} answers");
    world.finish().await;
}
