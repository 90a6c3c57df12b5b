//! Several workspace folders, and folders that come and go while sessions work in them.

use std::path::Path;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, project};
use protocol::turn::StopReason;
use protocol::{SessionId, methods};
use serde_json::{Value, json};

/// A project of three folders, each with a file of the same name.
fn project() -> Project {
    let text = ["one/same.txt", "two/same.txt", "three/same.txt"].map(|file| (file, format!("of {file}\n")));
    Project::new(text.iter().map(|(file, text)| (*file, text.as_str())))
}

/// A client with some of the project's folders.
async fn start(setup: &Setup, project: &Project, folders: &[&str]) -> Client {
    let folders: Vec<_> = folders.iter().map(|name| folder(project, name)).collect();
    let mut client = Client::connect(setup);
    client.initialize(None, Profile::panel(), json!({ "workspaceFolders": folders })).await;
    client
}

fn folder(project: &Project, name: &str) -> Value {
    json!({ "uri": project.uri(name), "name": name })
}

fn change(client: &Client, added: &[Value], removed: &[Value]) {
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": added, "removed": removed } }));
}

/// The results that the model reads at some paths, one call after the other in one turn.
async fn reads(client: &Client, model: &ModelServer, session: &SessionId, paths: &[&str]) -> Vec<String> {
    // The same words in sessions with other folders, and so with another system prompt.
    model.may_rewrite();
    let calls = paths.iter().fold(Answer::nothing(), |answer, path| answer.call("read_file", json!({ "path": path })));
    model.then(calls);
    model.then(Answer::says("I see."));
    client.prompt(session, "What is in them?").await;
    client.until_end(session, StopReason::EndTurn).await;
    model.asked().last().expect("a request").last_results().into_iter().map(str::to_owned).collect()
}

async fn session_in(client: &Client, uris: &[String]) -> SessionId {
    client.call::<methods::SessionNew>(json!({ "folders": uris })).await.session.session_id
}

async fn listed(client: &Client, params: Value) -> Vec<SessionId> {
    let sessions = client.call::<methods::SessionList>(params).await.sessions;
    sessions.into_iter().map(|session| session.session_id).collect()
}

#[tokio::test]
async fn a_session_works_in_all_folders_of_its_client_or_in_those_it_is_made_for() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), project());
    let client = start(&setup, &project, &["one", "two"]).await;
    client.open_with(&project.uri("two/same.txt"), "typed in two\n");

    let everywhere = client.new_session().await;
    let seen =
        reads(&client, &model, &everywhere, &["one/same.txt", "two/same.txt", "same.txt", "../three/same.txt"]).await;
    assert!(seen[0].contains("of one/same.txt"), "{seen:?}");
    assert!(seen[1].contains("typed in two"), "{seen:?}");
    assert!(seen[2].contains("of one/same.txt"), "a path without a folder is in the first: {seen:?}");
    assert!(seen[3].contains("is outside the workspace"), "{seen:?}");

    let second = session_in(&client, &[project.uri("two")]).await;
    let seen = reads(&client, &model, &second, &["same.txt", "../one/same.txt"]).await;
    assert!(seen[0].contains("typed in two"), "{seen:?}");
    assert!(seen[1].contains("is outside the workspace"), "{seen:?}");

    let error = client.request("azimuth/session/new", json!({ "folders": [project.uri("none")] })).await.unwrap_err();
    assert!(error.code == -32602 && error.message.contains("there is no such folder"), "{error:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_session_keeps_its_folder_when_the_editor_closes_it_and_new_ones_do_not_have_it() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), project());
    let client = start(&setup, &project, &["one", "two"]).await;
    let [one, two] =
        [session_in(&client, &[project.uri("one")]).await, session_in(&client, &[project.uri("two")]).await];
    assert!(reads(&client, &model, &one, &["same.txt"]).await[0].contains("of one/same.txt"));
    assert!(reads(&client, &model, &two, &["same.txt"]).await[0].contains("of two/same.txt"));

    change(&client, &[], &[folder(&project, "two")]);
    let seen = reads(&client, &model, &two, &["same.txt"]).await;
    assert!(seen[0].contains("of two/same.txt"), "{seen:?}");
    // It is no session of this workspace any more, but it is still there.
    assert_eq!(listed(&client, json!({})).await, std::slice::from_ref(&one));
    let all = listed(&client, json!({ "everywhere": true })).await;
    assert!(all.contains(&one) && all.contains(&two), "{all:?}");
    let new = client.new_session().await;
    let seen = reads(&client, &model, &new, &["same.txt", "../two/same.txt"]).await;
    assert!(seen[0].contains("of one/same.txt") && seen[1].contains("is outside the workspace"), "{seen:?}");

    change(&client, &[], &[folder(&project, "one")]);
    let error = client.request("azimuth/session/new", json!({})).await.unwrap_err();
    assert!(error.code == -32602 && error.message.contains("no folder to work in"), "{error:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_folder_that_is_added_is_in_new_sessions_with_its_own_restrictions() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Responses), project());
    project.write("three/other.txt", "of three/other.txt\n");
    project.write("three/.azimuth/config.toml", "[permissions]\ndeny = [\"Read(same.txt)\"]\n");
    let client = start(&setup, &project, &["one"]).await;
    let old = client.new_session().await;

    // The same again changes nothing, and neither does one that is not there.
    change(&client, &[folder(&project, "three"), folder(&project, "three")], &[folder(&project, "two")]);
    let new = client.new_session().await;
    let seen = reads(&client, &model, &new, &["three/other.txt", "three/same.txt"]).await;
    assert!(seen[0].contains("of three/other.txt"), "{seen:?}");
    assert!(!seen[1].contains("of three/same.txt") && seen[1].contains("`Read(same.txt)`"), "{seen:?}");
    // A session that was there before stays where it is.
    let seen = reads(&client, &model, &old, &["../three/other.txt"]).await;
    assert!(seen[0].contains("is outside the workspace"), "{seen:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_folder_that_is_given_by_a_link_is_the_folder_behind_it() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), project());
    let link = project.path("link");
    std::os::unix::fs::symlink(Path::new("two"), &link).unwrap();
    let client = start(&setup, &project, &["link"]).await;
    let uri = project::uri(&link.join("same.txt"));
    client.open_with(&uri, "typed behind the link\n");
    let session = client.new_session().await;
    let seen = reads(&client, &model, &session, &["same.txt"]).await;
    assert!(seen[0].contains("typed behind the link"), "{seen:?}");
    assert_eq!(client.finish().await, 0);
}
