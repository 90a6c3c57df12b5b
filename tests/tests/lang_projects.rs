//! Real projects of over a hundred files each: what our tools' source says is what their language server says when it
//! is asked directly, by another process and a client that does nothing but ask.

#![expect(clippy::disallowed_methods, reason = "the test looks at processes")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use harness::Project;
use harness::direct::Direct;
use harness::real::Real;
use lang::Source;
use lang::pool::Servers;
use project::buffers::Buffers;
use project::paths::Roots;
use project::reader::{NoOverlay, Reader};
use protocol::content::Position;
use protocol::lang::{LangAnswer, LangChange, LangQuery, LangResult, LangStatus};
use serde_json::{Value, json};

use crate::lang_servers::{sandboxed, sandboxed_servers};

/// The slowest server reads its whole project first, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// A change of text: the file, the place, and what is put there.
type Edit = (String, [u64; 4], String);

struct World {
    real: Real,
    project: Project,
    servers: Arc<Servers>,
    source: Arc<dyn Source>,
    direct: Direct,
    _fair: Option<Fair>,
}

/// Gives the servers of a project their share of the processors until it is dropped. clangd reads a project in threads
/// that run only while nobody else wants a processor (`SCHED_IDLE`): next to a program that keeps all busy, never.
struct Fair(Arc<AtomicBool>);

impl Fair {
    fn to(server: &'static str, project: &Path) -> Self {
        let (over, project) = (Arc::new(AtomicBool::new(false)), project.to_owned());
        let until = Arc::clone(&over);
        std::thread::spawn(move || {
            while !until.load(Ordering::Relaxed) {
                for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
                    let place = process.path();
                    let is_it = std::fs::read_to_string(place.join("comm")).is_ok_and(|name| name.starts_with(server))
                        && std::fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&project));
                    if is_it {
                        let of = ["--all-tasks", "--other", "--pid", "0"];
                        let done = Command::new("chrt").args(of).arg(process.file_name()).output();
                        if !done.as_ref().is_ok_and(|it| it.status.success()) {
                            eprintln!("{server} gets no share of its own, as without root: {done:?}");
                        }
                    }
                }
                std::thread::sleep(Duration::from_millis(250));
            }
        });
        Self(over)
    }
}

impl Drop for Fair {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl World {
    fn new(real: Real) -> Option<Self> {
        let project = real.project()?;
        let servers = sandboxed_servers();
        let reader = Reader::new(Arc::<Buffers>::default(), Arc::new(NoOverlay));
        let source = servers.source(Roots::new([project.folder()]).unwrap(), reader, sandboxed(project.folder()));
        let direct = Direct::start(&real.server(), real.arguments(), project.folder());
        let fair = (real == Real::Cpp).then(|| Fair::to("clangd", project.folder()));
        Some(Self { real, project, servers, source, direct, _fair: fair })
    }

    async fn ready(&self, query: LangQuery) -> LangAnswer {
        let LangResult { status, answer, message, .. } = self.source.ask(&query, PATIENCE).await;
        assert_eq!(status, LangStatus::Ready, "{query:?}: {message:?}");
        answer
    }

    async fn places(&self, query: LangQuery) -> BTreeSet<(String, [u64; 4])> {
        let LangAnswer::Locations { locations } = self.ready(query).await else { panic!("no places") };
        let range = |range: &protocol::Range| {
            [range.start.line, range.start.character, range.end.line, range.end.character].map(u64::from)
        };
        locations.iter().map(|place| (place.uri.clone(), range(&place.range))).collect()
    }

    async fn edits(&self, query: LangQuery) -> BTreeSet<Edit> {
        let LangAnswer::Edit { changes } = self.ready(query).await else { panic!("no edit") };
        edits_of(changes)
    }

    /// Asks the server directly until it knows of uses of some name in so many files. Ours starts after that: one that
    /// keeps what it has read in the project, as clangd does, need not be waited for twice.
    fn direct_knows(&mut self, at_least: usize) {
        for spot in self.real.spots() {
            self.direct.open(spot.file, self.real.language());
        }
        let end = Instant::now() + PATIENCE;
        loop {
            for spot in self.real.spots() {
                let (uri, [line, character]) = (self.project.uri(spot.file), spot.find(&self.project));
                let position = json!({ "line": line, "character": character });
                let context = json!({ "includeDeclaration": true });
                let at = json!({ "textDocument": { "uri": uri }, "position": position, "context": context });
                let uses = locations(&self.direct.ask_until_settled("textDocument/references", &at));
                if uses.iter().map(|(uri, _)| uri).collect::<BTreeSet<_>>().len() >= at_least {
                    return;
                }
            }
            assert!(Instant::now() < end, "{}: asked directly, it knows too few uses", self.real.name());
        }
    }

    /// Compares the definition and all uses of names, and what renaming the first would change.
    async fn compare(mut self, at_least: usize) -> Self {
        self.direct_knows(at_least);
        let mut most = 0;
        for (number, spot) in self.real.spots().iter().enumerate() {
            let (uri, [line, character]) = (self.project.uri(spot.file), spot.find(&self.project));
            let position = Position { line, character };
            let at = json!({ "textDocument": { "uri": uri }, "position": position });
            let mut with_declaration = at.clone();
            with_declaration["context"] = json!({ "includeDeclaration": true });
            let ours = self.places(LangQuery::References { uri: uri.clone(), position }).await;
            let mut ask = || locations(&self.direct.ask_until_settled("textDocument/references", &with_declaration));
            let (mut theirs, end) = (ask(), Instant::now() + PATIENCE);
            // One that does not say that it reads the project may settle for a while on the one file that it was shown.
            while ours != theirs && Instant::now() < end {
                theirs = ask();
            }
            assert_eq!(ours, theirs, "{}: uses of {}", self.real.name(), spot.name);
            assert!(theirs.len() > 1, "{}: {} is used", self.real.name(), spot.name);
            most = most.max(theirs.iter().map(|(uri, _)| uri).collect::<BTreeSet<_>>().len());

            let theirs = locations(&self.direct.ask("textDocument/definition", &at));
            let ours = self.places(LangQuery::Definition { uri: uri.clone(), position }).await;
            assert_eq!(ours, theirs, "{}: the definition of {}", self.real.name(), spot.name);

            if number == 0 {
                let mut to = at;
                to["newName"] = json!("RenamedHere");
                let theirs = text_edits(&self.direct.ask("textDocument/rename", &to));
                let query = LangQuery::Rename { uri, position, new_name: "RenamedHere".to_owned() };
                let ours = self.edits(query).await;
                assert_eq!(ours, theirs, "{}: renaming {}", self.real.name(), spot.name);
                assert!(ours.len() > 1);
            }
        }
        assert!(most >= at_least, "{}: names are followed over {most} files", self.real.name());
        self
    }
}

/// The edits of text of an answer of ours.
fn edits_of(changes: Vec<LangChange>) -> BTreeSet<Edit> {
    let mut all = BTreeSet::new();
    for change in changes {
        let LangChange::Text { uri, edits, .. } = change else { panic!("{change:?}") };
        for edit in edits {
            let range = edit.range;
            let place = [range.start.line, range.start.character, range.end.line, range.end.character];
            all.insert((uri.clone(), place.map(u64::from), edit.new_text));
        }
    }
    all
}

/// The places of an answer of LSP's.
fn locations(answer: &Value) -> BTreeSet<(String, [u64; 4])> {
    let one;
    let list = match answer {
        Value::Array(list) => list,
        Value::Null => return BTreeSet::new(),
        other => {
            one = vec![other.clone()];
            &one
        }
    };
    let place = |place: &Value| {
        let uri = place.get("targetUri").unwrap_or(&place["uri"]).as_str().unwrap().to_owned();
        (uri, range(place.get("targetSelectionRange").unwrap_or(&place["range"])))
    };
    list.iter().map(place).collect()
}

/// The edits of text of a workspace edit of LSP's.
fn text_edits(edit: &Value) -> BTreeSet<Edit> {
    let mut all = BTreeSet::new();
    let mut add = |uri: &str, edits: &Value| {
        for edit in edits.as_array().unwrap() {
            all.insert((uri.to_owned(), range(&edit["range"]), edit["newText"].as_str().unwrap().to_owned()));
        }
    };
    for change in edit["documentChanges"].as_array().into_iter().flatten() {
        if let Some(uri) = change["textDocument"]["uri"].as_str() {
            add(uri, &change["edits"]);
        }
    }
    for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
        add(uri, edits);
    }
    all
}

fn range(range: &Value) -> [u64; 4] {
    let at = |pointer| range.pointer(pointer).and_then(Value::as_u64).unwrap();
    [at("/start/line"), at("/start/character"), at("/end/line"), at("/end/character")]
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_analyzer_on_futures_util() {
    let Some(world) = World::new(Real::Rust) else { return };
    world.compare(4).await.servers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pyright_on_networkx() {
    let Some(world) = World::new(Real::Python) else { return };
    world.compare(5).await.servers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn typescripts_server_on_rxjs() {
    let Some(world) = World::new(Real::TypeScript) else { return };
    let mut world = world.compare(50).await;

    // A file moves, and what imports it follows.
    let [from, to] = ["internal/util/lift.ts", "internal/lifting/operate.ts"].map(|file| world.project.uri(file));
    let files = json!({ "files": [{ "oldUri": from, "newUri": to }] });
    let theirs = text_edits(&world.direct.ask("workspace/willRenameFiles", &files));
    let ours = world.edits(LangQuery::MoveFile { from: from.clone(), to }).await;
    assert_eq!(ours, theirs);
    let importers: BTreeSet<_> = ours.iter().map(|(uri, ..)| uri).collect();
    assert!(importers.len() > 50, "{}", importers.len());

    // An import is missing, and the quick fix adds it.
    let file = "internal/Subscription.ts";
    let text = world.project.read(file).replace("import { arrRemove } from './util/arrRemove';\n", "");
    world.project.write(file, &text);
    world.servers.files_changed(vec![world.project.path(file)]).await;
    let uri = world.project.uri(file);
    let LangAnswer::Diagnostics { documents } = world.ready(LangQuery::Diagnostics { uri: Some(uri.clone()) }).await
    else {
        panic!("no problems")
    };
    let mut problems = documents.into_iter().flat_map(|document| document.diagnostics);
    let problem = problems.find(|problem| problem.code.as_deref() == Some("2304")).expect("a name that is not there");
    let title = "Add import from \"./util/arrRemove\"";
    let query = LangQuery::CodeAction { uri: uri.clone(), range: problem.range, title: title.to_owned(), kind: None };
    let LangResult { answer: LangAnswer::Edit { changes }, .. } = world.source.ask(&query, PATIENCE).await else {
        panic!("no quick fix")
    };
    let ours = edits_of(changes);
    // Asked before it has looked at the file, it knows of no import that is missing.
    let errors = world.direct.errors(&[file], world.real.language());
    assert!(errors.contains(&(file.to_owned(), u64::from(problem.range.start.line))), "{errors:?}");
    let told = json!({ "range": problem.range, "message": problem.message, "code": 2304, "severity": 1 });
    let params =
        json!({ "textDocument": { "uri": uri }, "range": problem.range, "context": { "diagnostics": [told] } });
    let actions = world.direct.ask_until_settled("textDocument/codeAction", &params);
    let action = actions.as_array().unwrap().iter().find(|action| action["title"] == title).expect("the quick fix");
    assert_eq!(ours, text_edits(&action["edit"]));
    assert!(!ours.is_empty());
    world.servers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clangd_on_leveldb() {
    let Some(world) = World::new(Real::Cpp) else { return };
    world.compare(4).await.servers.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn gopls_on_x_text() {
    let Some(world) = World::new(Real::Go) else { return };
    world.compare(4).await.servers.stop().await;
}
