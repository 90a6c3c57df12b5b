//! A client without our plugin: pending hunks are hints with code actions, questions are message boxes, a running turn
//! is a progress that can be cancelled.

use std::sync::{Arc, Mutex};

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::Event;
use protocol::turn::StopReason;
use serde_json::{Value, json};

#[tokio::test]
async fn pending_hunks_are_hints_that_go_when_they_are_decided() {
    let edit = |old: &str, new: &str| json!({ "path": "a.txt", "old_text": old, "new_text": new });
    let model = ModelServer::start([
        Answer::nothing()
            .call("edit_replace_exact", edit("one\n", "1\n"))
            .call("edit_replace_exact", edit("three\n", "3\n")),
        Answer::says("Done."),
    ])
    .await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "one\ntwo\nthree\n")]));
    let profile = Profile::plain()
        .with("/textDocument/codeAction/tagSupport", json!({ "valueSet": [1] }))
        .with("/workspace/codeLens/refreshSupport", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    let refreshed = Arc::new(Mutex::new(0));
    let count = Arc::clone(&refreshed);
    client.on_request("workspace/codeLens/refresh", move |_| {
        *count.lock().unwrap() += 1;
        Ok(Value::Null)
    });
    let uri = project.uri("a.txt");
    client.open(&uri);
    let session = client.new_session().await;
    client.prompt(&session, "Write numbers.").await;
    client.until_end(&session, StopReason::EndTurn).await;

    let hints = until_hints(&client, &uri, 2).await;
    assert_eq!(hints[0]["severity"], 4);
    assert_eq!(hints[0]["source"], "azimuth");
    assert!(hints[0]["message"].as_str().unwrap().contains("- one\n+ 1"), "{hints:?}");
    assert_eq!(hints[1]["range"]["start"]["line"], 2);

    let document = json!({ "uri": uri });
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": document })).await.unwrap();
    assert_eq!(lenses.as_array().unwrap().len(), 4);
    let actions = actions(&client, &uri, &hints[0]).await;
    let titles: Vec<_> = actions.iter().map(|action| action["title"].as_str().unwrap()).collect();
    let of_hunk = ["Accept this change", "Reject this change", "Accept all in file", "Reject all in file"];
    assert_eq!(titles[..4], of_hunk);
    assert_eq!(titles[4..], ["Ask Azimuth about these lines", "Explain these lines with Azimuth"]);
    assert_eq!(actions[0]["tags"], json!([1]));
    run(&client, &actions[0]).await;
    until_hints(&client, &uri, 1).await;
    client.until(&session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    assert_eq!(client.text(&uri), "1\ntwo\nthree\n");

    // The revision is the one that the user saw: the same action again is harmless, and the file's others still hold.
    run(&client, &actions[3]).await;
    until_hints(&client, &uri, 0).await;
    assert_eq!(client.text(&uri), "1\ntwo\nthree\n");
    assert!(*refreshed.lock().unwrap() >= 3, "lenses are asked for anew");
    // No turn runs, so what the model should know of it is kept for the next one.
    client
        .until(&session, "the rejection", |event| match event {
            Event::Noted { text, .. } => text.contains("rejected"),
            _ => false,
        })
        .await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_question_is_a_message_box() {
    let model =
        ModelServer::start([Answer::calls("shell_run", json!({ "command": "touch made.txt" })), Answer::says("Done.")])
            .await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([]));
    let profile = Profile::plain().with("/window/showMessage", json!({ "messageActionItem": {} }));
    let client = Client::start(&setup, &project, profile).await;
    client.on_request("window/showMessageRequest", |params| {
        assert!(params["message"].as_str().unwrap().contains("touch made.txt"), "{params}");
        Ok(params["actions"][0].clone())
    });
    let session = client.new_session().await;
    client.prompt(&session, "Make it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(project.path("made.txt").exists());
    // A hint shows the file that the command made.
    client.waive("textDocument/publishDiagnostics");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_running_turn_is_a_progress_that_can_be_cancelled() {
    let gate = Gate::default();
    let model = ModelServer::start([
        Answer::calls("list_files", json!({})),
        Answer::nothing().text("Let me think.").wait(&gate),
    ])
    .await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "")]));
    let profile = Profile::plain().with("/window/workDoneProgress", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    client.on_request("window/workDoneProgress/create", |_| Ok(Value::Null));
    let session = client.new_session().await;
    client.prompt(&session, "Look.").await;
    let begin: Value = client.notification("$/progress").await;
    assert_eq!((&begin["value"]["kind"], &begin["value"]["cancellable"]), (&json!("begin"), &json!(true)));
    client.until(&session, "a word", |event| matches!(event, Event::MessageDelta { .. })).await;
    client.notify("window/workDoneProgress/cancel", json!({ "token": begin["token"] }));
    client.until_end(&session, StopReason::Cancelled).await;
    loop {
        let progress: Value = client.notification("$/progress").await;
        assert_eq!(progress["token"], begin["token"]);
        if progress["value"]["kind"] == "end" {
            break;
        }
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn settings_come_from_the_editor_and_may_change() {
    let model = ModelServer::start([Answer::says("Here.")]).await;
    let project = Project::new([]);
    let setup = Setup::empty();
    let settings = json!({
        "model": harness::server::MODEL,
        "providers": { "test": { "baseUrl": model.url(Wire::Chat), "key": harness::server::KEY, "wire": "openai-chat",
            "models": ["model-1"] } },
    });
    let profile = Profile::panel()
        .with("/workspace/configuration", json!(true))
        .with("/workspace/didChangeConfiguration/dynamicRegistration", json!(true))
        .with("/workspace/didChangeWatchedFiles/dynamicRegistration", json!(true));
    let mut client = Client::connect(&setup);
    let registered = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&registered);
    client.on_request("client/registerCapability", move |params| {
        into.lock().unwrap().push(params["registrations"].clone());
        Ok(Value::Null)
    });
    client.on_request("workspace/configuration", |params| {
        assert_eq!(params["items"], json!([{ "section": "azimuth" }]));
        Ok(json!([{ "mdoel": "mistyped" }]))
    });
    client.initialize(Some(project.folder()), Profile { options: settings, ..profile }, json!({})).await;
    let message: Value = client.notification("window/showMessage").await;
    assert!(message["message"].as_str().unwrap().contains("mdoel"), "{message}");
    assert!(registered.lock().unwrap()[0].to_string().contains("workspace/didChangeWatchedFiles"));

    // The settings from `initialize` stay in force.
    let session = client.new_session().await;
    client.prompt(&session, "Are you there?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

/// Waits until so many hints are shown for a document, and gives them.
async fn until_hints(client: &Client, uri: &str, count: usize) -> Vec<Value> {
    loop {
        let shown: Value = client.notification("textDocument/publishDiagnostics").await;
        assert_eq!(shown["uri"], uri);
        let hints = shown["diagnostics"].as_array().unwrap().clone();
        if hints.len() == count {
            return hints;
        }
    }
}

async fn actions(client: &Client, uri: &str, hint: &Value) -> Vec<Value> {
    let params =
        json!({ "textDocument": { "uri": uri }, "range": hint["range"], "context": { "diagnostics": [hint] } });
    client.request("textDocument/codeAction", params).await.unwrap().as_array().unwrap().clone()
}

/// Runs a code action, as an editor does when it is chosen.
async fn run(client: &Client, action: &Value) {
    assert_eq!(client.request("workspace/executeCommand", action["command"].clone()).await.unwrap(), Value::Null);
}
