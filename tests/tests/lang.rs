//! The tools that ask language servers, as a model uses them: here with a server of our own, since this client has none.

use std::os::unix::fs::symlink;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, not_tried, real};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// A Python project that has pyright among its own programs.
struct World {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    /// None where pyright is not installed.
    async fn new(profile: Profile) -> Option<Self> {
        let program = real::programs().join("pyright-langserver");
        if !program.exists() {
            not_tried("pyright: it is not installed (tests/tools/install-language-servers)");
            return None;
        }
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, Wire::Chat));
        let project = Project::new([
            ("pyproject.toml", "[project]\nname = \"x\"\n"),
            ("shapes.py", "def area(side: int) -> int:\n    return side * side\n"),
            ("main.py", "from shapes import area\n\nprint(area(3))\n"),
            ("other.py", "import shapes\n\nshapes.area(4)\n"),
            ("node_modules/.bin/.keep", ""),
        ]);
        symlink(program, project.path("node_modules/.bin/pyright-langserver")).unwrap();
        let client = Client::start(&setup, &project, profile).await;
        let session = client.new_session().await;
        Some(Self { model, _setup: setup, project, client, session })
    }

    /// Has the model call a tool. Gives what it is told.
    async fn call(&self, tool: &str, input: Value) -> String {
        self.model.then(Answer::calls(tool, input));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let told = events.iter().find_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
            _ => None,
        });
        told.unwrap_or_default()
    }
}

#[tokio::test]
async fn a_name_is_followed_and_renamed_over_the_project_and_what_waits_for_review_counts() {
    let Some(world) = World::new(Profile::panel()).await else { return };
    let told = world.call("lsp_definition", json!({ "path": "main.py", "line": 3, "text": "area" })).await;
    assert!(told.starts_with("shapes.py:1: def area(side: int) -> int:\n[pyright"), "{told}");
    let told = world.call("lsp_references", json!({ "symbol": "area" })).await;
    for place in ["main.py:1: from shapes import area", "main.py:3: print(area(3))", "other.py:3: shapes.area(4)"] {
        assert!(told.contains(place), "{place}: {told}");
    }
    let told = world.call("lsp_diagnostics", json!({ "path": "main.py" })).await;
    assert!(told.starts_with("There are no problems.\n[pyright"), "{told}");

    let told = world.call("lsp_rename", json!({ "symbol": "area", "new_name": "surface" })).await;
    assert!(told.starts_with("Renamed to surface: 4 places in 3 files."), "{told}");
    let listed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await;
    let mut changed: Vec<_> = listed.proposals.iter().map(|proposal| &*proposal.path).collect();
    changed.sort_unstable();
    assert_eq!(changed, ["main.py", "other.py", "shapes.py"]);
    assert_eq!(world.project.read("main.py"), "from shapes import area\n\nprint(area(3))\n", "nothing is written");

    // The model goes on as if it were accepted, and so does the server.
    let told = world.call("lsp_definition", json!({ "symbol": "surface", "path": "shapes.py" })).await;
    assert!(told.contains("shapes.py:1: def surface(side: int) -> int:"), "{told}");
    let told = world.call("lsp_symbols", json!({ "path": "shapes.py" })).await;
    assert!(told.contains("function surface"), "{told}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn where_no_server_is_the_model_is_told_so_and_symbols_come_from_the_grammar() {
    let Some(world) = World::new(Profile::panel()).await else { return };
    world.project.write("notes.lua", "local function note() end\n");
    let told = world.call("lsp_hover", json!({ "path": "notes.lua", "symbol": "note" })).await;
    assert!(told.contains("no language server is there for it"), "{told}");
    let told = world.call("lsp_symbols", json!({ "path": "notes.lua" })).await;
    assert!(told.contains("note") && told.contains("by the file's grammar"), "{told}");
    let told = world.call("lsp_definition", json!({ "symbol": "nowhere" })).await;
    assert!(told.contains("no symbol of the workspace is called `nowhere`"), "{told}");
    let told = world.call("lsp_hover", json!({ "path": "main.py", "line": 3 })).await;
    assert!(told.contains("`text` is missing"), "{told}");
    assert_eq!(world.client.finish().await, 0);
}
