//! Real language servers, started by us where no editor has them: pyright, typescript-language-server, clangd, gopls
//! and rust-analyzer, from `tests/tools/install-language-servers`.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use harness::{Project, not_tried, real};
use lang::Source;
use lang::brought::Closed;
use lang::pool::{Access, ServerState, Servers, ServersConfig};
use process::sandbox::{self, Policy, Settings};
use project::buffers::{Buffers, Change};
use project::paths::{self, Roots};
use project::reader::{NoOverlay, Reader};
use project::text::PositionEncoding;
use protocol::content::{Position, Range};
use protocol::lang::{LangAnswer, LangChange, LangQuery, LangResult, LangSeverity, LangStatus};

/// The slowest server on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Servers of our own, found where the tests' are.
pub(crate) fn sandboxed_servers() -> Arc<Servers> {
    let supervisor = Some(harness::binary().to_owned());
    Servers::new(ServersConfig { path: Some(real::path()), supervisor, ..ServersConfig::default() })
}

/// The access that a session in a trusted folder has: a sandbox for it.
pub(crate) fn sandboxed(folder: &Path) -> Access {
    let environment = |name: &str| if name == "PATH" { Some(real::path()) } else { std::env::var_os(name) };
    let folders = [folder.to_owned()];
    // Some of the programs there are scripts that start one elsewhere.
    let settings = Settings { read: vec![real::tools().display().to_string()], ..Settings::default() };
    sandbox::make_caches(&environment, &folders);
    let world = sandbox::World {
        folders: &folders,
        repositories: &[],
        own: &[],
        denied: &[],
        credentials: &[],
        environment: &environment,
    };
    let policy = Policy::new(&settings, &world).map(|policy| Arc::new(policy.resolved()));
    let policy = policy.filter(|_| sandbox::support().by.is_some());
    let sessions = Arc::new(|| Ok(Vec::new()));
    Access { trusted: Arc::new(|| true), policy, pass: [].into(), gate: Arc::new(Closed), sessions }
}

/// A project with its servers.
struct World {
    project: Project,
    buffers: Arc<Buffers>,
    servers: Arc<Servers>,
    source: Arc<dyn Source>,
}

impl World {
    /// A project with these files; none if the server is not installed.
    fn new(program: &str, files: &[(&str, &str)]) -> Option<Self> {
        if !real::programs().join(program).exists() {
            not_tried(&format!("{program}: it is not installed (tests/tools/install-language-servers)"));
            return None;
        }
        let project = Project::new(files.iter().copied());
        let buffers = Arc::<Buffers>::default();
        let servers = sandboxed_servers();
        let reader = Reader::new(buffers.clone(), Arc::new(NoOverlay));
        let roots = Roots::new([project.folder()]).unwrap();
        let source = servers.source(roots, reader, sandboxed(project.folder()));
        Some(Self { project, buffers, servers, source })
    }

    fn uri(&self, name: &str) -> String {
        paths::to_uri(&self.project.path(name))
    }

    async fn ask(&self, query: LangQuery) -> LangResult {
        self.source.ask(&query, PATIENCE).await
    }

    async fn ready(&self, query: LangQuery) -> LangAnswer {
        let result = self.ask(query.clone()).await;
        assert_eq!(result.status, LangStatus::Ready, "{query:?}: {result:?}");
        result.answer
    }

    /// Where things are: `file:line`, from 0.
    async fn places(&self, query: LangQuery) -> Vec<String> {
        let LangAnswer::Locations { locations } = self.ready(query).await else { panic!("no places") };
        let name = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let mut places: Vec<_> =
            locations.iter().map(|one| format!("{}:{}", name(&one.uri), one.range.start.line)).collect();
        places.sort();
        places.dedup();
        places
    }

    /// The files that an edit changes, and how often.
    async fn edits(&self, query: LangQuery) -> Vec<String> {
        let LangAnswer::Edit { changes } = self.ready(query).await else { panic!("no edit") };
        let name = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let told = |change: &LangChange| match change {
            LangChange::Text { uri, edits, .. } => format!("{}: {}", name(uri), edits.len()),
            other => panic!("{other:?}"),
        };
        let mut changes: Vec<_> = changes.iter().map(told).collect();
        changes.sort();
        changes
    }

    async fn errors(&self, name: &str) -> Vec<String> {
        let uri = self.uri(name);
        let LangAnswer::Diagnostics { documents } = self.ready(LangQuery::Diagnostics { uri: Some(uri) }).await else {
            panic!("no problems")
        };
        let all = documents.into_iter().flat_map(|document| document.diagnostics);
        all.filter(|one| one.severity == LangSeverity::Error).map(|one| one.message).collect()
    }

    fn definition(&self, name: &str, line: u32, character: u32) -> LangQuery {
        LangQuery::Definition { uri: self.uri(name), position: Position { line, character } }
    }

    fn references(&self, name: &str, line: u32, character: u32) -> LangQuery {
        LangQuery::References { uri: self.uri(name), position: Position { line, character } }
    }

    fn rename(&self, name: &str, line: u32, character: u32, to: &str) -> LangQuery {
        LangQuery::Rename { uri: self.uri(name), position: Position { line, character }, new_name: to.to_owned() }
    }
}

#[tokio::test]
async fn pyright_follows_a_name_through_a_python_project() {
    let files = [
        ("pyproject.toml", "[project]\nname = \"x\"\n"),
        ("shapes.py", "def area(side: int) -> int:\n    return side * side\n"),
        ("main.py", "from shapes import area\n\nprint(area(3))\n"),
        ("other.py", "import shapes\n\nshapes.area(4)\n"),
    ];
    let Some(world) = World::new("pyright-langserver", &files) else { return };
    assert_eq!(world.places(world.definition("main.py", 2, 7)).await, ["shapes.py:0"]);
    let all = ["main.py:0", "main.py:2", "other.py:2", "shapes.py:0"];
    assert_eq!(world.places(world.references("shapes.py", 0, 5)).await, all);
    assert_eq!(
        world.edits(world.rename("shapes.py", 0, 5, "surface")).await,
        ["main.py: 2", "other.py: 1", "shapes.py: 1"]
    );
    assert!(world.errors("main.py").await.is_empty());

    // Text that is typed and not saved counts.
    world.buffers.open(&world.uri("main.py"), "python", 3, "from shapes import area\n\narea(\"three\")\n").unwrap();
    let errors = world.errors("main.py").await;
    assert!(errors.len() == 1 && errors[0].contains("\"Literal['three']\""), "{errors:?}");
    // It tells of errors before it has read all of the project.
    let ready = async {
        loop {
            match world.servers.all().await.as_slice() {
                [one] if one.state == ServerState::Ready => break,
                [_] => tokio::time::sleep(Duration::from_millis(20)).await,
                other => panic!("{other:?}"),
            }
        }
    };
    harness::patiently("a server that is ready", ready).await;

    // A module that is made is found.
    let uri = world.uri("main.py");
    world.buffers.close(&uri).unwrap();
    world.project.write("main.py", "import made\n\nmade.thing()\n");
    world.servers.files_changed(vec![world.project.path("main.py")]).await;
    let errors = world.errors("main.py").await;
    assert!(errors.len() == 1 && errors[0].contains("\"made\" could not be resolved"), "{errors:?}");
    world.project.write("made.py", "def thing() -> None: ...\n");
    world.servers.files_changed(vec![world.project.path("made.py")]).await;
    assert_eq!(world.errors("main.py").await, [""; 0]);
    assert_eq!(world.places(world.references("made.py", 0, 4)).await, ["made.py:0", "main.py:2"].map(str::to_owned));
    world.servers.stop().await;
}

#[tokio::test]
async fn clangd_finds_what_another_file_defines() {
    let commands = |folder: &Path| {
        let entry =
            |file: &str| serde_json::json!({ "directory": folder, "file": file, "arguments": ["cc", "-c", file] });
        serde_json::json!([entry("shapes.c"), entry("main.c")]).to_string()
    };
    let files = [
        ("compile_commands.json", "[]"),
        ("shapes.h", "int area(int side);\n"),
        ("shapes.c", "#include \"shapes.h\"\nint area(int side) { return side * side; }\n"),
        ("main.c", "#include \"shapes.h\"\nint main(void) { return area(3); }\n"),
    ];
    let Some(world) = World::new("clangd", &files) else { return };
    world.project.write("compile_commands.json", &commands(world.project.folder()));
    let all = ["main.c:1", "shapes.c:1", "shapes.h:0"];
    assert_eq!(world.places(world.references("main.c", 1, 25)).await, all);
    assert_eq!(world.places(world.definition("main.c", 1, 25)).await, ["shapes.c:1"]);
    assert_eq!(
        world.edits(world.rename("main.c", 1, 25, "surface")).await,
        ["main.c: 1", "shapes.c: 1", "shapes.h: 1"]
    );
    world.buffers.open(&world.uri("main.c"), "c", 1, "int main(void) { return area(3) }\n").unwrap();
    assert!(!world.errors("main.c").await.is_empty());

    // Text that a command writes into a header, or that is typed there, changes the problems of files that include it.
    world.buffers.close(&world.uri("main.c")).unwrap();
    assert_eq!(world.errors("main.c").await, [""; 0]);
    world.project.write("shapes.h", "int surface(int side);\n");
    world.servers.files_changed(vec![world.project.path("shapes.h")]).await;
    let errors = world.errors("main.c").await;
    assert!(errors.len() == 1 && errors[0].contains("undeclared function 'area'"), "{errors:?}");
    let header = world.uri("shapes.h");
    world.buffers.open(&header, "c", 1, "int surface(int side);\n").unwrap();
    let typed = Change { range: None, text: "int area(int side);\n".to_owned() };
    world.buffers.change(&header, 2, &[typed], PositionEncoding::Utf16).unwrap();
    assert_eq!(world.errors("main.c").await, [""; 0]);
    world.servers.stop().await;
}

#[tokio::test]
async fn typescripts_server_moves_a_file_with_its_imports_and_mends_a_problem() {
    let files = [
        (
            "tsconfig.json",
            "{ \"compilerOptions\": { \"module\": \"esnext\", \"moduleResolution\": \"bundler\", \"strict\": true } }",
        ),
        ("package.json", "{ \"name\": \"x\" }"),
        ("shapes.ts", "export function area(side: number): number {\n  return side * side;\n}\n"),
        ("main.ts", "import { area } from \"./shapes\";\n\nconsole.log(area(3));\n"),
        ("lost.ts", "export const four = area(4);\n"),
    ];
    let Some(world) = World::new("typescript-language-server", &files) else { return };
    assert_eq!(world.places(world.definition("main.ts", 2, 13)).await, ["shapes.ts:0"]);
    assert_eq!(world.edits(world.rename("shapes.ts", 0, 17, "surface")).await.len(), 2);
    let moved = LangQuery::MoveFile { from: world.uri("shapes.ts"), to: world.uri("geometry/shapes.ts") };
    assert_eq!(world.edits(moved).await, ["main.ts: 1"]);
    let errors = world.errors("lost.ts").await;
    assert!(errors.iter().any(|error| error.contains("Cannot find name 'area'")), "{errors:?}");
    let range = Range { start: Position { line: 0, character: 20 }, end: Position { line: 0, character: 24 } };
    let uri = world.uri("lost.ts");
    let LangAnswer::Actions { actions } =
        world.ready(LangQuery::CodeActions { uri: uri.clone(), range, kind: None }).await
    else {
        panic!("no actions")
    };
    let import =
        actions.iter().find(|action| action.title.contains("import from")).unwrap_or_else(|| panic!("{actions:?}"));
    let mended = world.ask(LangQuery::CodeAction { uri, range, title: import.title.clone(), kind: None }).await;
    // It would have its server run something too, which for an import is nothing.
    assert_eq!(mended.status, LangStatus::Partial, "{mended:?}");
    let LangAnswer::Edit { changes } = &mended.answer else { panic!("{mended:?}") };
    assert!(matches!(&changes[..], [LangChange::Text { uri, .. }] if uri.ends_with("lost.ts")), "{mended:?}");
    world.servers.stop().await;
}

#[tokio::test]
async fn gopls_knows_who_calls_what() {
    let files = [
        ("go.mod", "module example.com/x\n\ngo 1.21\n"),
        ("shapes.go", "package main\n\nfunc area(side int) int { return side * side }\n"),
        ("main.go", "package main\n\nfunc main() { println(area(3)) }\n"),
    ];
    let Some(world) = World::new("gopls", &files) else { return };
    assert_eq!(world.places(world.references("shapes.go", 2, 5)).await, ["main.go:2", "shapes.go:2"]);
    let position = Position { line: 2, character: 5 };
    let callers = world.ready(LangQuery::IncomingCalls { uri: world.uri("shapes.go"), position }).await;
    let LangAnswer::Calls { calls } = callers else { panic!("{callers:?}") };
    assert_eq!(calls.iter().map(|call| &*call.symbol.name).collect::<Vec<_>>(), ["main"]);
    world.servers.stop().await;
}

#[tokio::test]
async fn rust_analyzer_is_waited_for_until_it_has_read_the_project() {
    let files = [
        ("Cargo.toml", "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
        ("src/shapes.rs", "pub fn area(side: u32) -> u32 {\n    side * side\n}\n"),
        ("src/main.rs", "mod shapes;\n\nfn main() {\n    let _ = \"😀\"; shapes::area(3);\n}\n"),
    ];
    let Some(world) = World::new("rust-analyzer", &files) else { return };
    // It counts in UTF-8, and the emoji has four bytes there and two of our characters.
    assert_eq!(world.places(world.definition("src/main.rs", 3, 28)).await, ["shapes.rs:0"]);
    assert_eq!(world.places(world.references("src/shapes.rs", 0, 8)).await, ["main.rs:3", "shapes.rs:0"]);
    let surface = world.rename("src/shapes.rs", 0, 8, "surface");
    assert_eq!(world.edits(surface).await, ["main.rs: 1", "shapes.rs: 1"]);
    world.servers.stop().await;
}
