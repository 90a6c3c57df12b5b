//! How a connection begins and ends, in memory and with the real program as a child process.

#![expect(clippy::disallowed_methods, reason = "a test starts the program itself")]

use std::path::Path;
use std::process::Stdio;

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

#[tokio::test]
async fn the_server_says_what_it_can_do() {
    let (setup, project) = (Setup::empty(), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let capabilities = client.server["capabilities"].clone();
    assert_eq!(capabilities["textDocumentSync"]["change"], 2, "incremental");
    assert_eq!(capabilities["textDocumentSync"]["openClose"], true);
    assert_eq!(capabilities["experimental"]["azimuth"]["protocol"], 1);
    assert_eq!(capabilities["workspace"]["workspaceFolders"]["supported"], true);
    let commands = capabilities["executeCommandProvider"]["commands"].as_array().unwrap();
    assert!(commands.contains(&json!("azimuth.review.acceptAll")));
    assert_eq!(client.server["serverInfo"]["name"], "azimuth");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_position_encoding_is_the_best_that_the_client_offers() {
    for (offered, chosen) in [
        (json!(["utf-16", "utf-8"]), "utf-8"),
        (json!(["utf-32", "utf-16"]), "utf-16"),
        (json!(["utf-32"]), "utf-32"),
        (Value::Null, "utf-16"),
    ] {
        let (setup, project) = (Setup::empty(), Project::new([]));
        let profile = Profile::panel().with("/general/positionEncodings", offered);
        let client = Client::start(&setup, &project, profile).await;
        assert_eq!(client.server["capabilities"]["positionEncoding"], chosen);
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_client_newer_than_we_are_is_understood() {
    let (setup, project) = (Setup::empty(), Project::new([]));
    let profile = Profile::panel()
        .with("/textDocument/completion", json!({ "completionItem": { "insertTextModeSupport": "all of them" } }))
        .with("/textDocument/codeAction/resolveSupport", json!(true))
        .with("/workspace/failureHandling", json!(7));
    assert_eq!(Client::start(&setup, &project, profile).await.finish().await, 0);
}

#[tokio::test]
async fn a_server_is_initialized_once_and_not_used_before_or_after() {
    let (setup, project) = (Setup::empty(), Project::new([]));
    let mut client = Client::connect(&setup);
    let error = client.request("azimuth/session/new", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32002, "{error:?}");
    let error = client.request("textDocument/hover", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32002, "{error:?}");
    let error = client.request("shutdown", Value::Null).await.unwrap_err();
    assert_eq!(error.code, -32002, "{error:?}");
    client.notify("textDocument/didOpen", json!({ "nonsense": true }));
    let error = client.request("initialize", json!({ "processId": null })).await.unwrap_err();
    assert!(error.code == -32602 && error.message.contains("`capabilities`"), "{error:?}");

    client.initialize(Some(project.folder()), Profile::panel(), json!({})).await;
    let error = client.request("initialize", json!({ "capabilities": {} })).await.unwrap_err();
    assert_eq!(error.code, -32600, "{error:?}");

    client.request("shutdown", Value::Null).await.unwrap();
    let error = client.request("azimuth/session/new", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32600, "{error:?}");
    let error = client.request("shutdown", Value::Null).await.unwrap_err();
    assert_eq!(error.code, -32600, "{error:?}");
    client.notify("exit", Value::Null);
    assert_eq!(client.ended().await, 0);
}

#[tokio::test]
async fn exit_without_shutdown_is_a_failure() {
    let (setup, project) = (Setup::empty(), Project::new([]));
    let mut client = Client::start(&setup, &project, Profile::panel()).await;
    client.notify("exit", Value::Null);
    assert_eq!(client.ended().await, 1);
}

#[tokio::test]
async fn a_server_ends_with_its_input() {
    let setup = Setup::empty();
    let mut client = Client::connect(&setup);
    client.hang_up();
    assert_eq!(client.ended().await, 1);

    let project = Project::new([]);
    let mut client = Client::start(&setup, &project, Profile::panel()).await;
    client.request("shutdown", Value::Null).await.unwrap();
    client.hang_up();
    assert_eq!(client.ended().await, 0, "shutdown was said");
}

#[tokio::test]
async fn an_editor_that_dies_interrupts_its_turn_which_can_be_gone_on_with() {
    let gate = Gate::default();
    let model = ModelServer::start([Answer::nothing().text("one moment").wait(&gate)]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let mut client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "hello").await;
    client.until(&session, "the first word", |event| matches!(event, protocol::Event::MessageDelta { .. })).await;
    // An editor that dies does not care whether it is still told of the end.
    client.waive("azimuth/event");
    client.hang_up();
    assert_eq!(client.ended().await, 1);

    model.then(Answer::says("here I am again"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = client.call::<protocol::methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert!(opened.running_turn.is_none());
    let last = &opened.events.last().expect("events").event;
    assert!(matches!(last, protocol::Event::TurnEnded { stop_reason: StopReason::Interrupted, .. }), "{last:?}");
    client.call::<protocol::methods::TurnStart>(json!({ "sessionId": session, "prompt": [] })).await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

/// The program as an editor starts it. It is killed with the test.
fn start(home: &Path) -> Child {
    Command::new(harness::binary())
        .arg("lsp")
        .env_clear()
        .env("AZIMUTH_DATA_DIR", home.join("data"))
        .env("AZIMUTH_CONFIG", home.join("config.toml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn the_program_serves_over_standard_input_and_output() {
    let home = tempfile::tempdir().unwrap();
    let mut child = start(home.path());
    let mut client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize(Some(home.path()), Profile::panel(), json!({ "processId": std::process::id() })).await;
    client.request("azimuth/session/list", json!({})).await.unwrap();
    client.request("shutdown", Value::Null).await.unwrap();
    client.notify("exit", Value::Null);
    // Its input stays open: many clients close it only when the process has ended.
    let status = harness::patiently("the program's end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn the_program_ends_when_the_editor_is_gone_though_its_input_stays_open() {
    let home = tempfile::tempdir().unwrap();
    let mut editor = Command::new("sleep").arg("600").kill_on_drop(true).spawn().unwrap();
    let mut child = start(home.path());
    let mut client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize(Some(home.path()), Profile::panel(), json!({ "processId": editor.id() })).await;
    client.request("azimuth/session/list", json!({})).await.unwrap();
    editor.kill().await.unwrap();
    let status = harness::patiently("the program's end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(1));
}
