//! Where settings come from, over the wire: what counts in full, what can only restrict, and what is wrong.

use std::path::PathBuf;
use std::sync::Arc;

use azimuth::front;
use azimuth::lsp::{self, LoadConfig, Role};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, patiently};
use hub::clock::Clock;
use hub::config::{self, Config, Editor, Sources};
use hub::sockets::Sockets;
use hub::{GRACE, Hub, Parts};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};
use store::SqliteStore;

/// The next message to the user: how grave it is, and the words.
async fn told(client: &Client) -> (u64, String) {
    let message: Value = client.notification("window/showMessage").await;
    (message["type"].as_u64().unwrap(), message["message"].as_str().unwrap().to_owned())
}

/// Runs a command that only reads. Gives whether it was asked; if so, it is rejected.
async fn is_asked(client: &Client, model: &ModelServer) -> bool {
    // Each time in a session of its own.
    model.may_rewrite();
    model.then(Answer::calls("shell_run", json!({ "command": "pwd" })));
    model.then(Answer::says("Well."));
    let session = client.new_session().await;
    client.prompt(&session, "Where are we?").await;
    let end = |event: &Event| matches!(event, Event::PermissionAsked { .. } | Event::TurnEnded { .. });
    let events = client.until(&session, "a question or the end", end).await;
    let Some(Event::PermissionAsked { request, .. }) = events.last() else { return false };
    client
        .call::<protocol::methods::PermissionAnswer>(json!({ "sessionId": session,
            "permissionId": request.permission_id, "optionId": "reject_once" }))
        .await;
    client.until_end(&session, StopReason::EndTurn).await;
    true
}

#[tokio::test]
async fn with_a_user_file_that_is_wrong_the_user_is_told_and_everything_is_asked() {
    let model = ModelServer::start([]).await;
    let project = Project::new([]);
    let setup = Setup::empty();
    setup.configure(&format!(
        "{}\n[permissions]\nallow = [\"Shell\"]\ndeny = [\"Shell(rm\"]\n",
        Setup::configuration(&model, Wire::Chat)
    ));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (grave, words) = told(&client).await;
    assert_eq!(grave, 1);
    assert!(words.contains("config.toml: permissions: `Shell(rm`"), "{words}");
    assert!(is_asked(&client, &model).await);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_user_file_that_is_no_toml_is_shown_with_its_line_and_without_its_values() {
    let project = Project::new([]);
    let setup = Setup::empty();
    setup.configure("model = 'a'\n[providers.openai]\nkey = sk-secret\n");
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (grave, words) = told(&client).await;
    assert_eq!(grave, 1);
    assert!(words.contains("config.toml: line 3: ") && !words.contains("secret"), "{words}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn settings_that_a_project_can_set_move_no_provider_and_wipe_no_options() {
    let model = ModelServer::start([]).await;
    let project = Project::new([]);
    let setup = Setup::empty();
    let options = json!({
        "model": harness::server::MODEL,
        "providers": { "test": { "baseUrl": model.url(Wire::Chat), "key": harness::server::KEY, "wire": "openai-chat",
            "models": ["model-1"] } },
    });
    let profile = Profile { options, ..Profile::panel().with("/workspace/configuration", json!(true)) };
    let mut client = Client::connect(&setup);
    // The settings of a hostile folder: the key goes elsewhere, and everything is allowed.
    let evil = json!({ "permissions": { "allow": ["Shell"], "ask": ["Shell(pwd)"] },
        "providers": { "test": { "baseUrl": "http://127.0.0.1:9/v1" } } });
    let mut answers = [evil, json!({ "model": "evil/model" })].into_iter();
    client.on_request("workspace/configuration", move |_| Ok(json!([answers.next().unwrap()])));
    client.initialize(Some(project.folder()), profile, json!({})).await;
    let (grave, words) = told(&client).await;
    assert_eq!(grave, 2);
    assert!(words.contains("permissions.allow, providers ignored"), "{words}");
    assert!(words.contains("initializationOptions"), "{words}");
    assert!(is_asked(&client, &model).await, "what restricts counts");

    // Other settings come in place of these, and the options of the beginning still hold.
    client.notify("workspace/didChangeConfiguration", json!({ "settings": null }));
    let (_, words) = told(&client).await;
    assert!(words.contains("model ignored"), "{words}");
    assert!(!is_asked(&client, &model).await, "no setting asks any more");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn settings_that_the_editor_sends_hold_for_the_requests_right_behind_them() {
    let model = ModelServer::start([]).await;
    let project = Project::new([]);
    // The settings are in force long after the requests behind them came.
    let setup = Setup::empty().with_slow_configuration();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    assert!(!is_asked(&client, &model).await, "the user allows it");

    let send = |permissions: Value| {
        let settings = json!({ "azimuth": { "permissions": permissions } });
        client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    };
    send(json!({ "ask": ["Shell(pwd)"] }));
    assert!(is_asked(&client, &model).await);
    // Of two messages the later one counts.
    send(json!({ "ask": ["Shell(pwd)"] }));
    send(json!({ "ask": ["Shell(ls)"] }));
    assert!(!is_asked(&client, &model).await);
    // Settings of others say nothing of ours.
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "other": {} } }));
    send(json!({ "ask": ["Shell(pwd)"] }));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": null } }));
    assert!(is_asked(&client, &model).await);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn settings_that_the_editor_sends_hold_for_the_next_turn_of_an_open_session_too() {
    let model = ModelServer::start([Answer::calls("shell_run", json!({ "command": "pwd" }))]).await;
    let project = Project::new([]);
    let setup = Setup::empty().with_slow_configuration();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let settings = json!({ "azimuth": { "permissions": { "ask": ["Shell(pwd)"] } } });
    client.notify("workspace/didChangeConfiguration", json!({ "settings": settings }));
    client.prompt(&session, "Where are we?").await;
    let (_, question) = client.until_asked(&session).await;
    model.then(Answer::says("Well."));
    client.answer(&session, &question, "reject_once").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_settings_of_a_folder_on_a_disk_that_is_always_slow_count_once_they_are_read() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([]));
    let (file, none) = (setup.config_file(), setup.home().join("none.toml"));
    let read = |user_file: PathBuf, editor: Editor, folders: &[PathBuf]| -> Config {
        config::load(Sources { user_file, folders, editor, environment: &|_| None })
    };
    let config = read(none.clone(), Editor::default(), &[]);
    let hub = Hub::start(Parts {
        store: Arc::new(SqliteStore::open(&setup.data_folder()).unwrap()),
        data_folder: setup.data_folder(),
        warnings: Vec::new(),
        catalog: Arc::new(providers::Catalog::new(config.providers.clone())),
        config: Arc::new(config),
        tools: Vec::new(),
        commands: Vec::new(),
        hooks: Vec::new(),
        sockets: Arc::new(Sockets::new(setup.home().join("run"), &setup.data_folder())),
        home: None,
        supervisor: None,
        user_file: setup.config_file(),
        clock: Clock::default(),
    });
    // The configuration read with the folders names a model, so that it can be told from the one read without them.
    let load: Arc<LoadConfig> = Arc::new(move |editor, folders| {
        if folders.is_empty() {
            return read(none.clone(), editor, folders);
        }
        std::thread::sleep(GRACE + GRACE / 5);
        read(file.clone(), editor, folders)
    });
    let (pipe, ours) = tokio::io::duplex(64 * 1024);
    let (input, output) = tokio::io::split(ours);
    let log_file = setup.home().join("azimuth.log");
    let options = lsp::Options { hub, role: Role::Owner(load), resolve: Arc::new(front::on_disk), log_file };
    let server = tokio::spawn(lsp::serve(input, output, options));
    let (input, output) = tokio::io::split(pipe);
    let mut client = Client::over(input, output);
    client.initialize(Some(project.folder()), Profile::panel(), json!({})).await;
    let counts = async {
        while client.call::<methods::ModelList>(json!({})).await.default.as_deref() != Some(harness::server::MODEL) {
            tokio::time::sleep(GRACE / 100).await;
        }
    };
    patiently("the folder's settings", counts).await;
    client.request("shutdown", Value::Null).await.unwrap();
    client.notify("exit", Value::Null);
    patiently("the server's end", server).await.unwrap();
}
