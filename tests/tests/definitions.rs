//! The definitions of names near the cursor in what a model reads while the user types: from language servers that run
//! already, the editor's or our own, and only of files that may be sent.

use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use harness::{
    Answer, Client, FillAsked, FillServer, Filled, ModelServer, Profile, Project, Setup, Wire, not_tried, real,
};
use protocol::methods;
use protocol::servers::ServerState;
use protocol::turn::StopReason;
use serde_json::json;

const MAIN: &str = "from shapes import area\n\narea(1)\nprice(2)\ntoken(3)\ntotal = 1\n";
const SHAPES: &str =
    "import math\n\ndef area(side):\n    password = \"Zx81mQ0pLr\"\n    return side * side\n\nside = 2\n";

/// A project with a definition in a file that may be sent, in one that a rule denies, and in one for keys.
fn project() -> Project {
    Project::new([
        ("main.py", MAIN),
        ("shapes.py", SHAPES),
        ("denied.py", "def price(of_the_denied):\n    return of_the_denied\n"),
        (".env", "token(of_the_keys)\n"),
    ])
}

/// An editor whose language server knows where the names of `MAIN` are defined. Counts the questions.
fn answers(client: &Client, project: &Project) -> Arc<AtomicUsize> {
    let of_line = [(2, project.uri("shapes.py"), 2), (3, project.uri("denied.py"), 0), (4, project.uri(".env"), 0)];
    let count = Arc::new(AtomicUsize::new(0));
    let asked = Arc::clone(&count);
    client.on_request("azimuth/editor/query", move |params| {
        let query = &params["query"];
        if query["type"] == "references" {
            return Ok(json!({ "status": "no_server", "servers": [], "answer": { "type": "nothing" } }));
        }
        assert!(["definition", "diagnostics"].contains(&query["type"].as_str().unwrap()), "{query}");
        let line = query["position"]["line"].as_u64();
        let found = of_line.iter().filter(|(of, ..)| Some(*of) == line).map(|(_, uri, line)| {
            let at = json!({ "line": line, "character": 4 });
            json!({ "uri": uri, "range": { "start": at, "end": at } })
        });
        asked.fetch_add(usize::from(line.is_some()), Ordering::Relaxed);
        let answer = json!({ "type": "locations", "locations": found.collect::<Vec<_>>() });
        Ok(json!({ "status": "ready", "servers": [{ "name": "theirs" }], "answer": answer }))
    });
    count
}

async fn complete(client: &Client, uri: &str, number: usize) {
    client.replace(uri, "total = ", &format!("total = {number} + "));
    let text = client.text(uri);
    let character = text.lines().last().unwrap().len();
    let position = json!({ "line": text.lines().count() - 1, "character": character });
    client.call::<methods::InlineComplete>(json!({ "textDocument": { "uri": uri }, "position": position })).await;
}

/// Types and asks until a request fits.
async fn until(client: &Client, model: &FillServer, uri: &str, fits: impl Fn(&FillAsked) -> bool) -> FillAsked {
    for number in 0..100 {
        complete(client, uri, number).await;
        if let Some(asked) = model.asked().into_iter().find(&fits) {
            return asked;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no such request: {:?}", model.asked());
}

fn has_definition(asked: &FillAsked) -> bool {
    asked.extra().iter().any(|(path, text)| *path == "shapes.py" && text.starts_with("def area(side):\n"))
}

#[tokio::test]
async fn a_model_reads_definitions_of_names_near_the_cursor_but_none_of_a_file_that_may_not_be_sent() {
    let model = FillServer::start(|_| Filled::with("7"));
    let setup = Setup::empty();
    setup.configure(&format!("{}\n[permissions]\ndeny = [\"Read(denied.py)\"]\n", model.configuration()));
    let project = project();
    let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    let count = answers(&client, &project);
    let uri = project.uri("main.py");
    client.open(&uri);

    let asked = until(&client, &model, &uri, has_definition).await;
    let extra = asked.extra();
    assert_eq!(extra.len(), 1, "{extra:?}");
    assert!(extra[0].1.ends_with("return side * side\n"), "the definition ends where its block does: {extra:?}");
    // On a machine with much to do an answer may come too late, and the name is asked about again.
    let mut unasked = 0;
    for number in 100..200 {
        let before = count.load(Ordering::Relaxed);
        complete(&client, &uri, number).await;
        unasked = if count.load(Ordering::Relaxed) == before { unasked + 1 } else { 0 };
        if unasked == 5 {
            break;
        }
    }
    assert_eq!(unasked, 5, "a name is asked about once in some seconds, not with each key");
    for asked in model.asked() {
        let sent = String::from_utf8_lossy(&asked.bytes).into_owned();
        for secret in ["Zx81mQ0pLr", "of_the_denied", "of_the_keys"] {
            assert!(!sent.contains(secret), "{secret}: {sent}");
        }
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_for_edits_reads_definitions_too() {
    let model = FillServer::start(|asked| asked.rewritten(&asked.window()));
    let setup = Setup::empty();
    setup.configure(&model.edit_configuration());
    let project = project();
    let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    answers(&client, &project);
    let uri = project.uri("main.py");
    client.open(&uri);
    let mut is_read = false;
    for number in 0..100 {
        client.replace(&uri, "total = ", &format!("total = {number} + "));
        let document = json!({ "uri": uri, "version": client.version(&uri) });
        let params = json!({ "textDocument": document, "position": { "line": 5, "character": 8 } });
        client.call::<methods::InlineEdit>(params).await;
        is_read = model.asked().iter().any(|asked| asked.prompt().contains("def area(side):\n"));
        if is_read {
            break;
        }
    }
    assert!(is_read, "{:?}", model.asked());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn our_own_server_is_asked_once_it_runs_and_never_started_for_a_suggestion() {
    let program = real::programs().join("pyright-langserver");
    if !program.exists() {
        return not_tried("pyright: it is not installed (tests/tools/install-language-servers)");
    }
    let (model, agent) = (FillServer::start(|_| Filled::with("7")), ModelServer::start([]).await);
    let setup = Setup::empty();
    let of_model = model.configuration();
    let (first, tables) = of_model.split_once("[providers").unwrap();
    let of_agent = Setup::configuration(&agent, Wire::Chat);
    setup.configure(&format!("sandbox_read = [{:?}]\n{first}{of_agent}[providers{tables}", real::tools()));
    let main = "from shapes import area\n\narea(1)\ntotal = 1\n";
    let files = [("pyproject.toml", "[project]\nname = \"x\"\n"), ("main.py", main), ("shapes.py", SHAPES)];
    let project = Project::new(files.into_iter().chain([("node_modules/.bin/.keep", "")]));
    symlink(program, project.path("node_modules/.bin/pyright-langserver")).unwrap();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/inline/status");
    client.waive("azimuth/servers/changed");
    let session = client.new_session().await;
    let uri = project.uri("main.py");
    client.open(&uri);

    for number in 0..3 {
        complete(&client, &uri, number).await;
    }
    assert!(model.asked().iter().all(|asked| asked.extra().is_empty()), "nobody knows a definition yet");
    let listed = client.call::<methods::ServersList>(json!({})).await;
    let states: Vec<_> = listed.servers.iter().map(|server| (server.pid, server.state)).collect();
    assert!(!states.is_empty(), "pyright is known");
    assert!(states.iter().all(|(pid, state)| pid.is_none() && *state != ServerState::Ready), "{states:?}");

    agent.then(Answer::calls("lsp_definition", json!({ "path": "main.py", "line": 3, "text": "area" })));
    agent.then(Answer::says("Done."));
    client.prompt(&session, "Where is it?").await;
    client.until_end_allowing_programs(&session, StopReason::EndTurn).await;
    let asked = until(&client, &model, &uri, has_definition).await;
    assert_eq!(asked.extra().len(), 1, "{:?}", asked.extra());
    let running = client.call::<methods::ServersList>(json!({})).await;
    assert!(running.servers.iter().any(|server| server.pid.is_some()));
    assert_eq!(client.finish().await, 0);
}
