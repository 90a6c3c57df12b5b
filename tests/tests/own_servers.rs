//! Language servers of our own, as a status view shows them, and when they end.

#![expect(clippy::disallowed_methods, reason = "a test changes its project's files itself")]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, patiently};
use protocol::servers::{ServerInfo, ServerState, ServersChangedParams};
use protocol::turn::StopReason;
use protocol::{SessionId, methods};
use serde_json::{Value, json};

/// A language server that does what it is told; here it is a good one.
const SERVER: &str = include_str!("../../server/crates/lang/src/pool/tests/nasty.py");

struct World {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new() -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, Wire::Chat));
        let project = Project::new([
            ("nasty.project", ""),
            ("a.nasty", "one two\n"),
            ("node_modules/.bin/nasty", SERVER),
            (".azimuth/lsp.json", &configuration("says-goodbye")),
        ]);
        let program = project.path("node_modules/.bin/nasty");
        std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { model, _setup: setup, project, client, session }
    }

    /// Has the model ask about the file, which starts the server.
    async fn ask(&self) {
        self.model.then(Answer::calls("lsp_hover", json!({ "path": "a.nasty", "line": 1, "text": "one" })));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
        self.client.until_end_allowing_programs(&self.session, StopReason::EndTurn).await;
    }

    async fn nasty(&self) -> ServerInfo {
        let listed = self.client.call::<methods::ServersList>(json!({})).await;
        assert_eq!(listed.problems, [""; 0]);
        listed.servers.into_iter().find(|server| server.name == "nasty").unwrap()
    }

    /// The state once it is this one: it is said when it has changed.
    async fn until(&self, state: ServerState) -> ServerInfo {
        loop {
            let nasty = self.nasty().await;
            if nasty.state == state {
                return nasty;
            }
            let ServersChangedParams {} = self.client.notification("azimuth/servers/changed").await;
        }
    }
}

fn configuration(behaviour: &str) -> String {
    json!({ "nasty": {
        "command": "nasty", "args": [behaviour], "fileTypes": ["nasty"], "rootMarkers": ["nasty.project"],
    } })
    .to_string()
}

fn runs(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}/stat")).exists()
}

async fn until_gone(pid: u32) {
    let gone = async {
        while runs(pid) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    patiently("the end of the server's process", gone).await;
}

#[tokio::test]
async fn a_status_view_lists_them_hears_of_changes_and_starts_them_anew_and_they_are_asked_to_go_at_the_end() {
    let world = World::new().await;
    assert_eq!(world.nasty().await.state, ServerState::NotAllowed);
    world.ask().await;
    let ready = world.until(ServerState::Ready).await;
    assert_eq!(ready.version.as_deref(), Some("0.1"));
    assert!(ready.root.starts_with("file://") && ready.memory_bytes > Some(1 << 20), "{ready:?}");
    let pid = ready.pid.unwrap();
    let restarted = world.client.call::<methods::ServersRestart>(json!({ "name": "another" })).await.restarted;
    assert!(restarted == 0 && runs(pid));
    assert_eq!(world.client.call::<methods::ServersRestart>(json!({ "name": "nasty" })).await.restarted, 1);
    assert!(!runs(pid), "it has ended");
    world.until(ServerState::NotStarted).await;
    world.ask().await;
    let again = world.until(ServerState::Ready).await.pid.unwrap();
    std::fs::remove_file(world.project.path("goodbye")).unwrap();
    let project = world.project;
    assert_eq!(world.client.finish().await, 0);
    assert!(!runs(again));
    assert_eq!(project.read("goodbye"), "asked first");
}

#[tokio::test]
async fn a_changed_configuration_and_trust_that_is_taken_back_end_them() {
    let world = World::new().await;
    world.ask().await;
    let pid = world.until(ServerState::Ready).await.pid.unwrap();
    world.project.write(".azimuth/lsp.json", &configuration("good"));
    let uri = world.project.uri(".azimuth/lsp.json");
    world.client.notify("workspace/didChangeWatchedFiles", json!({ "changes": [{ "uri": uri, "type": 2 }] }));
    world.until(ServerState::NotAllowed).await;
    until_gone(pid).await;
    world.ask().await;
    let pid = world.until(ServerState::Ready).await.pid.unwrap();
    let distrust: Value = json!({ "trusted": false, "byEditor": true });
    world.client.call::<methods::WorkspaceTrust>(distrust).await;
    // Of a folder that is not trusted its own files do not count, so that there is none of this name.
    let is_gone = async || {
        let listed = world.client.call::<methods::ServersList>(json!({})).await;
        listed.servers.iter().all(|server| server.name != "nasty")
    };
    while !is_gone().await {
        let ServersChangedParams {} = world.client.notification("azimuth/servers/changed").await;
    }
    until_gone(pid).await;
    assert_eq!(world.client.finish().await, 0);
}
