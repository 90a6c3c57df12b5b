//! The tools that ask language servers, as a model uses them: here with a server of our own, since this client has
//! none.

use std::os::unix::fs::symlink;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, not_tried, real};
use protocol::review::Proposal;
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
    /// None if pyright is not installed.
    async fn new(profile: Profile) -> Option<Self> {
        let program = real::programs().join("pyright-langserver");
        if !program.exists() {
            not_tried("pyright: it is not installed (tests/tools/install-language-servers)");
            return None;
        }
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&format!("sandbox_read = [{:?}]\n{}", real::tools(), Setup::configuration(&model, Wire::Chat)));
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
        let events = self.client.until_end_allowing_programs(&self.session, StopReason::EndTurn).await;
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
    assert!(told.starts_with("Renamed `area` of shapes.py:1 to `surface`: 4 places in 3 files."), "{told}");
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
async fn an_editor_that_opened_the_project_by_a_link_is_asked_by_its_own_names() {
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    setup.configure(&Setup::configuration(&model, Wire::Chat));
    let project = Project::new([("a.py", "def area(): pass\n"), ("main.py", "from a import area\n")]);
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("link");
    symlink(project.folder(), &link).unwrap();
    let named = |file: &str| project::paths::to_uri(&link.join(file));
    let mut client = Client::connect(&setup);
    let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
    client.initialize(Some(&link), profile, json!({ "processId": null })).await;
    let (tell, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let defined = named("a.py");
    client.on_request("azimuth/editor/query", move |params| {
        let _ = tell.send(params["query"].clone());
        let at = |character: u32| json!({ "line": 0, "character": character });
        let place = json!({ "uri": defined, "range": { "start": at(4), "end": at(8) } });
        Ok(json!({ "status": "ready", "servers": [{ "name": "theirs" }],
            "answer": { "type": "locations", "locations": [place] } }))
    });
    let session = client.new_session().await;
    client.open_with(&named("main.py"), "from a import area  # unsaved\n");
    // One that is open, and one that is not.
    for file in ["main.py", "a.py"] {
        model.then(Answer::calls("lsp_definition", json!({ "path": file, "line": 1, "text": "area" })));
        model.then(Answer::says("Done."));
        client.prompt(&session, "Where is it?").await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let told = events.iter().find_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
            _ => None,
        });
        assert!(told.unwrap().starts_with("a.py:1: def area(): pass\n[theirs"));
        assert_eq!(asked.recv().await.unwrap()["uri"], named(file));
    }
    assert_eq!(client.finish().await, 0);
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

/// A Python project in an editor that has language servers: the test answers for them, and they know `area` in three
/// files.
struct Edited {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

impl Edited {
    async fn new() -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, Wire::Chat));
        let project = Project::new([
            ("shapes.py", "def area(side):\n    return side * side\n"),
            ("main.py", "from shapes import area\n\nprint(area(3))\n"),
            ("other.py", "import shapes\n\nshapes.area(4)\n"),
        ]);
        let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
        let client = Client::start(&setup, &project, profile).await;
        let uses = Uses::new(&project);
        client.on_request("azimuth/editor/query", move |params| Ok(uses.answer(&params["query"])));
        let session = client.new_session().await;
        Self { model, _setup: setup, project, client, session }
    }

    /// Has the model call tools one after the other. Gives what it is told of the last.
    async fn call(&self, calls: &[(&str, Value)]) -> String {
        for (tool, input) in calls {
            self.model.then(Answer::calls(tool, input.clone()));
        }
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let told = events.iter().rev().find_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
            _ => None,
        });
        told.unwrap_or_default()
    }

    async fn proposed(&self) -> Vec<Proposal> {
        self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await.proposals
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

/// Where `area` is used, as the editor's server knows it.
struct Uses(Vec<(String, Value)>);

impl Uses {
    fn new(project: &Project) -> Self {
        let range = |line: u32, start: u32| {
            json!({
                "start": { "line": line, "character": start },
                "end": { "line": line, "character": start + 4 },
            })
        };
        let uses = [("shapes.py", 0, 4), ("main.py", 0, 19), ("main.py", 2, 6), ("other.py", 2, 7)];
        Self(uses.iter().map(|(file, line, start)| (project.uri(file), range(*line, *start))).collect())
    }

    fn answer(&self, query: &Value) -> Value {
        let answer = match query["type"].as_str().unwrap() {
            "references" => {
                let place = |(uri, range): &(String, Value)| json!({ "uri": uri, "range": range });
                json!({ "type": "locations", "locations": self.0.iter().map(place).collect::<Vec<_>>() })
            }
            "rename" => json!({ "type": "edit", "changes": self.changes(&query["newName"], None) }),
            "documentSymbols" => json!({ "type": "symbols", "symbols": [] }),
            _ => json!({ "type": "nothing" }),
        };
        json!({ "status": "ready", "servers": [{ "name": "pylance" }], "answer": answer })
    }

    /// A change of all uses, made for a version of `main.py`.
    fn changes(&self, new_name: &Value, version: Option<i64>) -> Vec<Value> {
        let change = |uses: &[(String, Value)]| {
            let uri = &uses[0].0;
            let edit = |(_, range): &(String, Value)| json!({ "range": range, "newText": new_name });
            let mut change = json!({ "type": "text", "uri": uri, "edits": uses.iter().map(edit).collect::<Vec<_>>() });
            if let Some(version) = version.filter(|_| uri.ends_with("main.py")) {
                change["version"] = json!(version);
            }
            change
        };
        self.0.chunk_by(|one, other| one.0 == other.0).map(change).collect()
    }
}

fn rename() -> (&'static str, Value) {
    ("lsp_rename", json!({ "path": "shapes.py", "line": 1, "text": "area", "new_name": "surface" }))
}

#[tokio::test]
async fn a_rename_over_files_is_accepted_as_one_and_undone_as_one() {
    let world = Edited::new().await;
    let told = world.call(&[rename()]).await;
    assert!(told.starts_with("Renamed `area` of shapes.py:1 to `surface`: 4 places in 3 files."), "{told}");
    let proposed = world.proposed().await;
    let mut calls: Vec<_> = proposed.iter().flat_map(|one| &one.hunks).flat_map(|hunk| &hunk.tool_call_ids).collect();
    calls.sort();
    calls.dedup();
    assert_eq!((proposed.len(), calls.len()), (3, 1), "all of it belongs to the one call: {proposed:?}");

    let target = |one: &Proposal| json!({ "proposalId": one.proposal_id, "revision": one.revision });
    let targets: Vec<_> = proposed.iter().map(target).collect();
    let decision = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
    world.client.call::<methods::ReviewDecide>(decision).await;
    for _ in 0..3 {
        let is_applied = |event: &Event| matches!(event, Event::EditApplied { .. });
        world.client.until(&world.session, "the edit", is_applied).await;
    }
    let texts = || ["shapes.py", "main.py", "other.py"].map(|file| world.project.read(file));
    let after = [
        "def surface(side):\n    return side * side\n",
        "from shapes import surface\n\nprint(surface(3))\n",
        "import shapes\n\nshapes.surface(4)\n",
    ];
    assert_eq!(texts(), after);
    let undone = world.client.call::<methods::CheckpointUndo>(json!({ "sessionId": world.session })).await;
    assert_eq!(undone.files.len(), 3, "{undone:?}");
    let before = after.map(|text| text.replace("surface", "area"));
    assert_eq!(texts(), before);
    world.finish().await;
}

#[tokio::test]
async fn what_waits_for_review_and_the_editors_servers_do_not_see_is_said_and_never_left_out_of_a_rename() {
    let world = Edited::new().await;
    let add =
        json!({ "path": "main.py", "old_text": "print(area(3))", "new_text": "\ndef more():\n    print(area(5))" });
    let make = json!({ "path": "extra.py", "content": "from shapes import area\n" });
    let references = json!({ "path": "shapes.py", "line": 1, "text": "area" });
    let calls = [("edit_replace_exact", add), ("edit_create_file", make), ("lsp_references", references)];
    let told = world.call(&calls).await;
    assert!(told.contains("shapes.py:1: def area(side):") && told.contains("main.py:1: from"), "{told}");
    assert!(!told.contains("main.py:3"), "that line is none any more: {told}");
    assert!(
        told.contains("there may be more, or other: ") && told.contains("in extra.py (new), main.py, so"),
        "{told}"
    );

    let told = world.call(&[rename()]).await;
    assert!(told.contains("`area` stands in them at extra.py:1, main.py:5, which would be left out; "), "{told}");
    assert_eq!(world.proposed().await.len(), 2, "nothing more is proposed");

    let hover = json!({ "path": "main.py", "line": 5, "text": "area" });
    let told = world.call(&[("lsp_hover", hover)]).await;
    assert!(told.contains("main.py:5 is in one; ask about another place"), "{told}");
    let told = world.call(&[("lsp_symbols", json!({ "path": "main.py" }))]).await;
    assert!(told.contains("function more") && told.contains("by the file's grammar"), "{told}");
    assert!(told.contains("main.py has such edits"), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn a_rename_during_which_the_user_types_proposes_nothing() {
    let world = Edited::new().await;
    let uri = world.project.uri("main.py");
    world.client.open(&uri);
    let version = world.client.version(&uri);
    world.client.hold("azimuth/editor/query");
    let (tool, input) = rename();
    world.model.then(Answer::calls(tool, input));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Do it.").await;
    let asked = world.client.asked("azimuth/editor/query").await;
    world.client.replace(&uri, "from shapes", "# typed\nfrom shapes");
    let changes = Uses::new(&world.project).changes(&json!("surface"), Some(version));
    asked.answer(json!({ "status": "ready", "answer": { "type": "edit", "changes": changes } }));
    let events = world.client.until_end(&world.session, StopReason::EndTurn).await;
    let told = events.iter().find_map(|event| match event {
        Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
        _ => None,
    });
    assert!(told.as_deref().unwrap_or_default().contains("main.py changed while the server was asked"), "{told:?}");
    assert!(world.proposed().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn a_file_moves_with_the_imports_of_others_as_one_proposal_and_back_as_one() {
    let program = real::programs().join("typescript-language-server");
    if !program.exists() {
        not_tried("typescript-language-server: it is not installed (tests/tools/install-language-servers)");
        return;
    }
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    setup.configure(&format!("sandbox_read = [{:?}]\n{}", real::tools(), Setup::configuration(&model, Wire::Chat)));
    let before = [
        ("shapes.ts", "import { unit } from './unit';\n\nexport const area = (side: number) => side * side * unit;\n"),
        ("unit.ts", "export const unit = 1;\n"),
        ("main.ts", "import { area } from './shapes';\n\nconsole.log(area(3));\n"),
        ("lib/other.ts", "import * as shapes from '../shapes';\n\nconsole.log(shapes.area(4));\n"),
    ];
    let config = "{ \"compilerOptions\": { \"strict\": true, \"module\": \"commonjs\" } }\n";
    let project = Project::new(before.into_iter().chain([("tsconfig.json", config), ("node_modules/.bin/.keep", "")]));
    symlink(program, project.path("node_modules/.bin/typescript-language-server")).unwrap();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let world = World { model, _setup: setup, project, client, session };

    let told = world.call("lsp_move_file", json!({ "from": "shapes.ts", "to": "geometry/shapes.ts" })).await;
    assert!(told.starts_with("Moved: ") && told.contains("shapes.ts (moved to geometry/shapes.ts)"), "{told}");
    assert!(told.contains("\n[typescript-language-server"), "who says it: {told}");
    let proposed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals;
    let mut paths: Vec<_> = proposed.iter().map(|one| &*one.path).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["geometry/shapes.ts", "lib/other.ts", "main.ts", "shapes.ts"]);
    let mut calls: Vec<_> = proposed.iter().flat_map(|one| &one.hunks).flat_map(|hunk| &hunk.tool_call_ids).collect();
    calls.sort();
    calls.dedup();
    assert_eq!(calls.len(), 1, "all of it belongs to the one call: {proposed:?}");

    let target = |one: &Proposal| json!({ "proposalId": one.proposal_id, "revision": one.revision });
    let targets: Vec<_> = proposed.iter().map(target).collect();
    let decision = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
    world.client.call::<methods::ReviewDecide>(decision).await;
    for _ in 0..4 {
        let is_applied = |event: &Event| matches!(event, Event::EditApplied { .. });
        world.client.until(&world.session, "the edit", is_applied).await;
    }
    assert!(!world.project.path("shapes.ts").exists());
    assert_eq!(world.project.read("geometry/shapes.ts"), before[0].1.replace("./unit", "../unit"));
    assert_eq!(world.project.read("main.ts"), before[2].1.replace("./shapes", "./geometry/shapes"));
    assert_eq!(world.project.read("lib/other.ts"), before[3].1.replace("../shapes", "../geometry/shapes"));

    let undone = world.client.call::<methods::CheckpointUndo>(json!({ "sessionId": world.session })).await;
    assert_eq!(undone.files.len(), 4, "{undone:?}");
    for (file, text) in before {
        assert_eq!(world.project.read(file), text, "{file}");
    }
    assert!(!world.project.path("geometry/shapes.ts").exists());
    world.client.waive("azimuth/event");
    assert_eq!(world.client.finish().await, 0);
}
