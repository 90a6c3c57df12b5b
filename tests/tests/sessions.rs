//! Sessions as a user handles them: named, found, closed, opened again, deleted; their models; what is completed in a
//! prompt, and the slash commands in it.

use agent::commands::Commands;
use harness::client::RpcError;
use harness::model::Said;
use harness::window::Window;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire, project};
use ports::store::Store;
use protocol::event::Severity;
use protocol::session::{CompletionKind, Mode, PromptCompleteResult, Purpose, SessionInfo};
use protocol::turn::{StopReason, TurnStartResult};
use protocol::{Event, PromptBlock, SessionId, methods};
use serde_json::{Value, json};
use store::SqliteStore;

const NOT_FOUND: i64 = -32010;

/// A user with two models and no word about which to use.
fn two_models(model: &ModelServer) -> Setup {
    let setup = Setup::empty();
    setup.configure(&unchosen(model).replace("[\"model-1\"]", "[\"model-1\", \"model-2\"]"));
    setup
}

/// The configuration of a user with one model and no word about which to use.
fn unchosen(model: &ModelServer) -> String {
    let configured = Setup::configuration(model, Wire::Chat);
    configured.split_once('\n').unwrap().1.to_owned()
}

async fn say(client: &Client, session: &SessionId, text: &str) -> TurnStartResult {
    let prompt = json!([{ "type": "text", "text": text }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await
}

async fn list(client: &Client, params: Value) -> Vec<SessionInfo> {
    client.call::<methods::SessionList>(params).await.sessions
}

fn ids(sessions: &[SessionInfo]) -> Vec<&SessionId> {
    sessions.iter().map(|session| &session.session_id).collect()
}

#[tokio::test]
async fn a_name_that_the_user_gives_stays_through_prompts_and_restarts() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let rename = |title: &str| json!({ "sessionId": session, "title": title });
    client.call::<methods::SessionRename>(rename("  My\n own   name ")).await;
    client.until(&session, "the name", |event| *event == Event::TitleChanged { title: "My own name".into() }).await;
    let error = client.request("azimuth/session/rename", rename(" \n ")).await.unwrap_err();
    assert!(error.code == -32602 && error.message.contains("`title`"), "{error:?}");
    client.prompt(&session, "Some other words.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(!events.iter().any(|event| matches!(event, Event::TitleChanged { .. })), "{events:?}");
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    // Nobody has it open.
    client.call::<methods::SessionRename>(rename("Another")).await;
    assert_eq!(list(&client, json!({})).await[0].title, "Another");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_session_without_a_prompt_is_not_kept_once_it_is_left_and_one_that_was_used_is() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let [closed, left, named, used] = [
        client.new_session().await,
        client.new_session().await,
        client.new_session().await,
        client.new_session().await,
    ];
    client.call::<methods::SessionRename>(json!({ "sessionId": named, "title": "Mine" })).await;
    client.prompt(&used, "Hello.").await;
    client.until_end(&used, StopReason::EndTurn).await;
    assert!(ids(&list(&client, json!({})).await).contains(&&left), "it is there while it is shown");
    client.call::<methods::SessionClose>(json!({ "sessionId": closed })).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let listed = list(&client, json!({})).await;
    assert_eq!(ids(&listed).len(), 2, "{listed:?}");
    assert!(ids(&listed).contains(&&named) && ids(&listed).contains(&&used), "{listed:?}");
    is_gone(&client, &left).await;
    is_gone(&client, &closed).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_conversation_that_was_asked_for_is_kept_through_restarts_though_nothing_was_said_in_it() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let old = client.new_session().await;
    let asked_for = say(&client, &old, "/new").await.switch_to.expect("another session");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
    for _ in 0..2 {
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.waive("azimuth/event");
        assert!(ids(&list(&client, json!({})).await).contains(&&asked_for));
        client.call::<methods::SessionOpen>(json!({ "sessionId": asked_for, "since": 0 })).await;
        assert_eq!(client.finish().await, 0);
    }
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": asked_for, "since": 0 })).await;
    client.prompt(&asked_for, "Hello.").await;
    client.until_end(&asked_for, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_session_without_a_prompt_that_a_killed_server_left_is_not_listed_by_the_next_one() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (Setup::empty(), Project::new([]));
    // The events that a session begins with do not count as use of it.
    setup.configure(&("accept_edits = true\n".to_owned() + &Setup::configuration(&model, Wire::Anthropic)));
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let used = window.new_session().await;
    window.prompt(&used, "Hello.").await;
    window.until_end(&used, StopReason::EndTurn).await;
    let asked_for = say(&window, &used, "/new").await.switch_to.expect("another session");
    let chosen = window.new_session().await;
    window.call::<methods::SessionMode>(json!({ "sessionId": chosen, "mode": "ask" })).await;
    let new = window.call::<methods::SessionNew>(json!({ "mode": "plan" })).await.session.session_id;
    let begun = |event: &Event| matches!(event, Event::AcceptEditsChanged { .. });
    for session in [&asked_for, &new] {
        window.until(session, "its beginning", begun).await;
    }
    window.until(&chosen, "the mode", |event| *event == Event::ModeChanged { mode: Mode::Ask }).await;
    window.kill().await;

    // A window whose server ended so can open again what it shows.
    let window = Window::open(&setup, &project, Profile::panel()).await;
    window.call::<methods::SessionOpen>(json!({ "sessionId": new, "since": 0 })).await;
    assert!(ids(&list(&window, json!({})).await).contains(&&new));
    window.kill().await;

    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/event");
    let listed = list(&client, json!({})).await;
    let mut there = ids(&listed);
    there.sort();
    let mut kept = [&used, &asked_for, &chosen];
    kept.sort();
    assert_eq!(there, kept);
    is_gone(&client, &new).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_session_of_an_older_version_opens_and_is_listed_though_its_log_says_nothing_of_who_wanted_it() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let session = SessionId::from("abc123");
    let store = SqliteStore::open(&setup.data_folder()).unwrap();
    store.create(&session, &[project.uri("")], None, Purpose::Chat).unwrap();
    let begun = json!({ "type": "sessionStarted", "folders": [project.uri("")] });
    store.append(&session, vec![(1, serde_json::from_value(begun).unwrap())], true).unwrap();
    drop(store);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    assert_eq!(ids(&list(&client, json!({ "everywhere": true })).await), [&session]);
    client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    client.prompt(&session, "Hello.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_first_prompt_is_kept_however_soon_its_session_is_closed() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    for _ in 0..10 {
        model.then(Answer::says("Hello."));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        // All three are there before the first is answered.
        let prompt = send(&client, &session, "hello");
        let close = client.request("azimuth/session/close", json!({ "sessionId": session }));
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        drop((prompt, close));
        is_there_again(&setup, &project, &session, "hello").await;
    }
    // A session that was closed too soon to ask for its answer leaves that to another.
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    while model.asked().len() < 10 {
        client.prompt(&session, "Hello.").await;
        client.until_end(&session, StopReason::EndTurn).await;
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_first_prompt_is_kept_where_the_window_is_closed_while_its_model_is_looked_for() {
    // It is asked which models it has, and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    let (setup, project) = (Setup::empty(), Project::new([]));
    setup.configure(&format!("model = \"test/model-1\"\n[providers.test]\nbase_url = \"{url}\"\nkey = \"k\"\n"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let prompt = send(&client, &session, "hello");
    let (_asked, _) = harness::patiently("the question for its models", silent.accept()).await.unwrap();
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
    drop(prompt);
    is_there_again(&setup, &project, &session, "hello").await;
}

#[tokio::test]
async fn a_prompt_that_waits_since_its_window_was_closed_waits_in_the_mode_that_it_was_sent_in() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    for (mode, text) in [(json!("plan"), "hello"), (Value::Null, "/mode plan hello")] {
        let (setup, project) = (Setup::empty(), Project::new([]));
        setup.configure(&format!("model = \"test/model-1\"\n[providers.test]\nbase_url = \"{url}\"\nkey = \"k\"\n"));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let mut params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        if !mode.is_null() {
            params["mode"] = mode;
        }
        let prompt = client.request("azimuth/turn/start", params);
        let (_asked, _) = harness::patiently("the question for its models", silent.accept()).await.unwrap();
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        drop(prompt);
        is_there_again(&setup, &project, &session, "hello").await;
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        assert_eq!(opened.session.mode, Mode::Plan, "{text}");
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
    }
}

/// Sends a prompt, without waiting for the answer.
fn send(client: &Client, session: &SessionId, text: &str) -> impl Future<Output = Result<Value, RpcError>> + use<> {
    let prompt = json!([{ "type": "text", "text": text }]);
    client.request("azimuth/turn/start", json!({ "sessionId": session, "prompt": prompt }))
}

/// Sees to it that a session with a prompt is there when the window is opened again: as a turn, or as one that waits.
async fn is_there_again(setup: &Setup, project: &Project, session: &SessionId, text: &str) {
    let client = Client::start(setup, project, Profile::panel()).await;
    let listed = list(&client, json!({})).await;
    let [info] = listed.iter().filter(|it| it.session_id == *session).collect::<Vec<_>>()[..] else {
        panic!("it is gone with its prompt: {listed:?}");
    };
    assert!(!info.title.is_empty(), "it can be told from others: {info:?}");
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    let prompts = opened.events.iter().filter_map(|event| match &event.event {
        Event::TurnStarted { prompt, .. } | Event::PromptQueued { prompt, .. } => Some(prompt),
        _ => None,
    });
    let prompts: Vec<_> = prompts.collect();
    let [[PromptBlock::Text { text: kept }]] = prompts.iter().map(|it| it.as_slice()).collect::<Vec<_>>()[..] else {
        panic!("one prompt of one text: {prompts:?}");
    };
    assert!(kept.ends_with(text), "{kept}");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_deleted_session_is_not_found_by_any_request() {
    let (setup, project) = (Setup::empty(), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.event(&session, "its beginning").await;
    client.call::<methods::SessionDelete>(json!({ "sessionId": session })).await;
    is_gone(&client, &session).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_session_is_deleted_while_its_turn_runs_and_another_goes_on() {
    let gate = Gate::default();
    let thinking = Answer::nothing().text("one moment").wait(&gate);
    let model = ModelServer::start([thinking, Answer::says("Here.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Responses), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (session, other) = (client.new_session().await, client.new_session().await);
    client.prompt(&session, "Think.").await;
    client.until(&session, "a word", |event| matches!(event, Event::MessageDelta { .. })).await;
    // All of these are there before the first is answered.
    let deleted = client.request("azimuth/session/delete", json!({ "sessionId": session }));
    let late = client.request("azimuth/review/list", json!({ "sessionId": session }));
    deleted.await.unwrap();
    assert_eq!(late.await.unwrap_err().code, NOT_FOUND);
    is_gone(&client, &session).await;
    client.prompt(&other, "Are you there?").await;
    client.until_end(&other, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

async fn is_gone(client: &Client, session: &SessionId) {
    let text = json!([{ "type": "text", "text": "hello" }]);
    let requests = [
        ("azimuth/session/open", json!({})),
        ("azimuth/session/close", json!({})),
        ("azimuth/session/rename", json!({ "title": "a" })),
        ("azimuth/session/delete", json!({})),
        ("azimuth/turn/start", json!({ "prompt": text })),
        ("azimuth/turn/steer", json!({ "expectedTurnId": "t", "prompt": text })),
        ("azimuth/turn/queue", json!({ "type": "add", "prompt": text })),
        ("azimuth/turn/queue", json!({ "type": "remove", "queueId": "q" })),
        ("azimuth/turn/cancel", json!({})),
        ("azimuth/permission/answer", json!({ "permissionId": "p", "optionId": "o" })),
        ("azimuth/review/list", json!({})),
        ("azimuth/review/decide", json!({ "decision": "accept", "targets": [] })),
        ("azimuth/terminal/open", json!({})),
        ("azimuth/terminal/write", json!({ "terminalId": "t", "data": "" })),
        ("azimuth/terminal/resize", json!({ "terminalId": "t", "size": { "columns": 80, "rows": 24 } })),
        ("azimuth/terminal/kill", json!({ "terminalId": "t" })),
        ("azimuth/model/select", json!({ "model": harness::server::MODEL })),
        ("azimuth/prompt/complete", json!({ "text": "/", "cursor": 1 })),
    ];
    for (method, mut params) in requests {
        params["sessionId"] = json!(session);
        let error = client.request(method, params).await.expect_err(method);
        assert!(error.code == NOT_FOUND && error.message.contains(session.as_str()), "{method}: {error:?}");
    }
    assert!(!ids(&list(client, json!({ "everywhere": true })).await).contains(&session));
}

#[tokio::test]
async fn a_session_closed_and_opened_again_gives_exactly_the_rest_and_goes_on() {
    let gate = Gate::default();
    let model = ModelServer::start([Answer::nothing().text("First ").wait(&gate).text("and last.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let turn = client.prompt(&session, "Speak.").await;
    let mut seen = Vec::new();
    while !seen.last().is_some_and(|last: &protocol::SequencedEvent| matches!(last.event, Event::MessageDelta { .. })) {
        seen.push(client.event(&session, "the first word").await);
    }
    let open = |since: u64| client.request("azimuth/session/open", json!({ "sessionId": session, "since": since }));
    let read = |opened: Value| serde_json::from_value::<protocol::session::SessionOpenResult>(opened).unwrap();

    // In one breath: nothing waits for the other's answer.
    let closed = client.request("azimuth/session/close", json!({ "sessionId": session }));
    let opened = [open(0), open(2), open(seen.len() as u64), open(9999)];
    closed.await.unwrap();
    let mut results = Vec::new();
    for answer in opened {
        results.push(read(answer.await.unwrap()));
    }
    assert_eq!(results[0].events, seen);
    assert_eq!(results[1].events, seen[2..]);
    assert!(results[2].events.is_empty() && results[3].events.is_empty());
    for result in &results {
        assert_eq!((result.running_turn.as_ref(), result.session.last_seq), (Some(&turn), seen.len() as u64));
    }

    // The events that follow come once, though it was opened four times.
    gate.open();
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let said = |event: &&Event| matches!(event, Event::MessageDelta { .. });
    assert_eq!(events.iter().filter(said).count(), 1);

    // With nothing running a session that is closed leaves the memory, and comes back as it was.
    client.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    let all = read(open(0).await.unwrap());
    assert_eq!(all.events.len(), seen.len() + events.len());
    assert!(all.running_turn.is_none());
    client.call::<methods::SessionRename>(json!({ "sessionId": session, "title": "It goes on" })).await;
    client.until(&session, "the title", |event| matches!(event, Event::TitleChanged { .. })).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn sessions_are_found_by_their_title_and_their_folder() {
    let (setup, here, there) = (Setup::empty(), Project::new([]), Project::new([]));
    let client = Client::start(&setup, &here, Profile::panel()).await;
    let away = json!({ "folders": [project::uri(there.folder())] });
    let away = client.call::<methods::SessionNew>(away).await.session;
    assert_eq!(away.folders, [project::uri(there.folder())]);
    let (old, new) = (client.new_session().await, client.new_session().await);
    for (session, title) in [(&away.session_id, "Écume far away"), (&old, "Mend the PARSER"), (&new, "A 100% new one")]
    {
        client.call::<methods::SessionRename>(json!({ "sessionId": session, "title": title })).await;
        client.until(session, "the title", |event| matches!(event, Event::TitleChanged { .. })).await;
    }
    let listed = list(&client, json!({})).await;
    assert!(listed.iter().is_sorted_by_key(|session| std::cmp::Reverse(session.updated_at)), "the last used first");
    let mut found = ids(&listed);
    found.sort();
    let mut wanted = [&old, &new];
    wanted.sort();
    assert_eq!(found, wanted, "of this folder");
    assert_eq!(list(&client, json!({ "limit": 1 })).await.len(), 1);
    assert_eq!(list(&client, json!({ "everywhere": true })).await.len(), 3);
    let there = json!({ "folder": project::uri(there.folder()) });
    assert_eq!(ids(&list(&client, there).await), [&away.session_id]);
    assert_eq!(ids(&list(&client, json!({ "query": "parser" })).await), [&old], "whatever the case");
    assert_eq!(ids(&list(&client, json!({ "query": "0%" })).await), [&new], "a percent sign is no pattern");
    assert!(list(&client, json!({ "query": "away" })).await.is_empty(), "it is of another folder");
    let everywhere = json!({ "query": "FAR", "everywhere": true });
    assert_eq!(ids(&list(&client, everywhere).await), [&away.session_id]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_chosen_for_a_session_that_nobody_follows_holds() {
    let model = ModelServer::start([Answer::says("Yes?")]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.event(&session, "its beginning").await;
    let listed = client.call::<methods::ModelList>(json!({})).await;
    let names: Vec<_> = listed.models.iter().filter(|model| model.available).map(|model| model.id.as_str()).collect();
    assert!(names.contains(&"test/model-1") && names.contains(&"test/model-2"), "{names:?}");
    assert_eq!(listed.default.as_deref(), Some("test/model-1"));

    let closed = client.request("azimuth/session/close", json!({ "sessionId": session }));
    let params = json!({ "sessionId": session, "model": "test/model-2" });
    let selected = client.request("azimuth/model/select", params);
    closed.await.unwrap();
    assert_eq!(selected.await.unwrap()["model"]["id"], "test/model-2");
    let unknown = json!({ "sessionId": session, "model": "test/none" });
    assert_eq!(client.request("azimuth/model/select", unknown).await.unwrap_err().code, NOT_FOUND);
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(opened.session.model.as_deref(), Some("test/model-2"));
    client.prompt(&session, "Which one are you?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(model.asked()[0].body()["model"], "model-2");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_chosen_for_no_session_is_that_of_the_next_new_ones() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let before = client.new_session().await;
    client.prompt(&before, "Hello.").await;
    client.until_end(&before, StopReason::EndTurn).await;
    client.call::<methods::ModelSelect>(json!({ "model": "test/model-2" })).await;
    let error = client.request("azimuth/model/select", json!({ "model": "no/such" })).await.unwrap_err();
    assert!(error.code == NOT_FOUND && error.message.contains("no/such"), "{error:?}");
    assert_eq!(client.finish().await, 0);

    // It is remembered.
    let client = Client::start(&setup, &project, Profile::panel()).await;
    assert_eq!(client.call::<methods::ModelList>(json!({})).await.default.as_deref(), Some("test/model-2"));
    let after = client.new_session().await;
    client.prompt(&after, "Hello again.").await;
    client.until_end(&after, StopReason::EndTurn).await;
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.body()["model"].clone()).collect();
    assert_eq!(asked, ["model-1", "model-2"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_chosen_in_a_conversation_is_that_of_the_next_new_ones() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let default = async || client.call::<methods::ModelList>(json!({})).await.default;
    let session = client.new_session().await;
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "test/model-2" })).await;
    assert_eq!(default().await.as_deref(), Some("test/model-2"), "by a picker");
    say(&client, &session, "/model test/model-1").await;
    assert_eq!(default().await.as_deref(), Some("test/model-1"), "by a command");
    let new = json!({ "model": "test/model-2" });
    client.call::<methods::SessionNew>(new).await;
    assert_eq!(default().await.as_deref(), Some("test/model-1"), "a session that begins with one chooses for itself");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_share_of_the_context_is_of_the_new_models_at_once() {
    let model = ModelServer::start([Answer::says("One.")]).await;
    let (setup, project) = (Setup::empty(), Project::new([]));
    setup.configure(&format!("{}[[providers.test.model]]\nid = \"model-2\"\ncontext = 50000\n", unchosen(&model)));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let used = events.iter().find_map(|event| match event {
        Event::ContextUsed { used, .. } => Some(*used),
        _ => None,
    });
    let told = async || {
        let is_told = |event: &Event| matches!(event, Event::ContextUsed { .. });
        let events = client.until(&session, "the new limit", is_told).await;
        let Some(Event::ContextUsed { used, limit, .. }) = events.last() else { panic!("{events:?}") };
        (Some(*used), *limit)
    };
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "test/model-2" })).await;
    assert_eq!(told().await, (used, 50_000), "by a picker");
    say(&client, &session, "/model test/model-1").await;
    assert_eq!(told().await, (used, 128_000), "by a command");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_conversation_whose_model_is_gone_goes_on_with_another_and_says_so() {
    let model = ModelServer::start([Answer::says("One.")]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "test/model-2" })).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    setup.configure(&unchosen(&model));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    client.prompt(&session, "Which one are you?").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let switched = events.iter().find_map(|event| match event {
        Event::TurnModelChanged { model, instead_of, error, .. } => {
            Some((model.clone(), instead_of.clone(), error.clone()))
        }
        _ => None,
    });
    let (other, instead_of, error) = switched.expect("it is said");
    assert_eq!((other.as_str(), instead_of.as_str()), ("test/model-1", "test/model-2"));
    assert!(error.unwrap().contains("there is no model `test/model-2`"));
    assert_eq!(model.asked()[0].body()["model"], "model-1");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_conversation_whose_provider_is_gone_is_sent_to_no_other_one() {
    let (model, other) = (ModelServer::start([]).await, ModelServer::start([]).await);
    let (setup, project) = (Setup::empty(), Project::new([]));
    let of_other = unchosen(&other).replace("shell_rc = false\n", "").replace("[providers.test]", "[providers.own]");
    setup.configure(&(unchosen(&model) + &of_other));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "own/model-1" })).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    setup.configure(&unchosen(&model));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    client.prompt(&session, "Go on.").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("there is no model `own/model-1`"), "{error}");
    assert!(model.asked().is_empty(), "the user has not chosen this provider for the conversation");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_rest_of_a_chain_goes_on_whatever_the_chain_calls_the_model_that_is_gone() {
    for (chain, chosen) in [("own/model-1:high", "own/model-1"), ("opus", "own/claude-opus-5-5")] {
        let (model, other) = (ModelServer::start([Answer::says("Here.")]).await, ModelServer::start([]).await);
        let (setup, project) = (Setup::empty(), Project::new([]));
        let of_other = Setup::configuration(&other, Wire::Responses).split_once('\n').unwrap().1.to_owned();
        let of_other = of_other.replace("shell_rc = false\n", "").replace("[providers.test]", "[providers.own]");
        let of_other = of_other.replace("[\"model-1\"]", "[\"model-1\", \"claude-opus-5-5\"]");
        let thinks = "[[providers.own.model]]\nid = \"model-1\"\nthinking = \"effort\"\n";
        setup.configure(&(unchosen(&model) + &of_other + thinks));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let select = json!({ "sessionId": session, "model": format!("{chain}, test/model-1") });
        client.call::<methods::ModelSelect>(select).await;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);

        // The alias stands for a model of Anthropic's now, which was not chosen.
        let (url, key) = (other.url(Wire::Anthropic), harness::server::KEY);
        let anthropic = format!("[providers.anthropic]\nbase_url = \"{url}\"\nkey = \"{key}\"\n");
        setup.configure(&(unchosen(&model) + &anthropic));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
        client.prompt(&session, "Are you there?").await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let went_on = |event: &Event| match event {
            Event::TurnModelChanged { model, instead_of, .. } => Some((model.clone(), instead_of.clone())),
            _ => None,
        };
        let went_on = events.iter().find_map(went_on);
        assert_eq!(went_on, Some(("test/model-1".to_owned(), chosen.to_owned())));
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn the_model_of_the_editors_settings_is_that_of_new_sessions_also_when_it_changes() {
    let model = ModelServer::start([Answer::says("Two."), Answer::says("One.")]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let profile = Profile { options: json!({ "model": "test/model-2" }), ..Profile::panel() };
    let client = Client::start(&setup, &project, profile).await;
    assert_eq!(client.call::<methods::ModelList>(json!({})).await.default.as_deref(), Some("test/model-2"));
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    client.until_end(&session, StopReason::EndTurn).await;

    client
        .notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "model": "test/model-1" } } }));
    // Settings are read beside all else; nothing tells when they hold.
    let changed = async {
        while client.call::<methods::ModelList>(json!({})).await.default.as_deref() != Some("test/model-1") {}
    };
    harness::patiently("the other model", changed).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello again.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.body()["model"].clone()).collect();
    assert_eq!(asked, ["model-2", "model-1"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn commands_arguments_and_files_are_completed_where_the_cursor_is() {
    let model = ModelServer::start([]).await;
    let files = [("src/first.rs", ""), ("src/second.rs", ""), ("target/first.o", ""), (".gitignore", "target\n")];
    let (setup, project) = (two_models(&model), Project::new(files));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.event(&session, "its beginning").await;
    let complete = async |text: &str, cursor: usize| -> PromptCompleteResult {
        let params = json!({ "sessionId": session, "text": text, "cursor": cursor });
        client.call::<methods::PromptComplete>(params).await
    };
    let labels =
        |result: &PromptCompleteResult| -> Vec<String> { result.items.iter().map(|item| item.label.clone()).collect() };

    let result = complete("/mo", 3).await;
    assert_eq!(labels(&result), ["/model", "/mode"]);
    assert_eq!((result.start, result.end, result.items[0].kind), (0, 3, CompletionKind::Command));

    // A crab is two units of UTF-16, and four bytes.
    let result = complete("\u{1F980}\u{e9} /mode a and more", 11).await;
    assert_eq!(labels(&result), ["ask", "agent", "accept-edits", "plan", "bypass"]);
    assert_eq!((result.start, result.end, result.items[0].kind), (10, 11, CompletionKind::Argument));

    let result = complete("/model 2", 8).await;
    assert_eq!(labels(&result), ["test/model-2"]);

    let result = complete("\u{1F980} look at @firs please", 16).await;
    let [file] = result.items.as_slice() else { panic!("not one file: {result:?}") };
    assert_eq!((result.start, result.end, file.kind), (11, 16, CompletionKind::File));
    assert_eq!((file.label.as_str(), file.insert.as_str()), ("first.rs", "@src/first.rs "));
    assert_eq!(file.uri, Some(project.uri("src/first.rs")));

    // A file that came since, once the editor has told of it.
    project.write("src/firstborn.rs", "");
    let changes = json!({ "changes": [{ "uri": project.uri("src/firstborn.rs"), "type": 1 }] });
    client.notify("workspace/didChangeWatchedFiles", changes);
    assert_eq!(complete("@firs", 5).await.items.len(), 2);

    let result = complete("just words", 4).await;
    assert!(result.items.is_empty(), "{result:?}");
    assert_eq!(complete("/", 9999).await.items.len(), Commands::built_in().iter().count());
    assert_eq!(client.finish().await, 0);
}

/// The message of a slash command, which must not have failed.
fn said(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::CommandExecuted { message, is_error: false, .. }) => message,
        other => panic!("no command: {other:?}"),
    }
}

#[tokio::test]
async fn commands_are_executed_and_the_model_never_hears_of_them() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let (setup, project) = (two_models(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello /model test/model-2 you").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let changed = |event: &Event| matches!(event, Event::ModelChanged { model, .. } if model == "test/model-2");
    assert!(events.iter().any(changed), "{events:?}");
    let asked = model.asked();
    assert_eq!(asked[0].body()["model"], "model-2");
    assert!(!asked[0].user_text().contains("/model"), "{}", asked[0].user_text());

    let command = async |text: &str| {
        let result = say(&client, &session, text).await;
        assert!(result.turn_id.is_none(), "{text} makes no turn");
        let executed = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        said(&client.until(&session, text, executed).await).to_owned()
    };
    let help = command("/help").await;
    for named in Commands::built_in().iter() {
        assert!(help.contains(&named.usage()), "{help}");
    }
    let costs = command("/costs").await;
    assert!(costs.starts_with("this conversation: cost unknown: `test/model-2` has no known price ("), "{costs}");
    assert!(
        costs.contains("80 tokens in") && costs.contains("20 from the cache") && costs.contains("10 out"),
        "{costs}"
    );
    let conversations = command("/conversations").await;
    assert!(conversations.contains(session.as_str()) && conversations.contains("Hello"), "{conversations}");
    let models = command("/model").await;
    let in_use = models.lines().find(|line| line.ends_with("(in use)")).unwrap_or_else(|| panic!("{models}"));
    assert!(in_use.starts_with("- `test/model-2`: model-2 · "), "{in_use}");

    // A slash command that cannot be done says so, and makes no turn either.
    for text in ["/mode dance", "/resume", "/resume nobody", "/model none"] {
        assert!(say(&client, &session, text).await.turn_id.is_none());
        let failed = |event: &Event| matches!(event, Event::CommandExecuted { is_error: true, .. });
        client.until(&session, text, failed).await;
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn in_mode_ask_an_edit_is_refused_until_the_mode_is_another() {
    let edit = json!({ "path": "a.txt", "old_text": "one", "new_text": "1" });
    let model = ModelServer::start([
        Answer::calls("edit_replace_exact", edit.clone()),
        Answer::says("I may not."),
        Answer::calls("edit_replace_exact", edit),
        Answer::says("Done."),
    ])
    .await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    assert!(say(&client, &session, "/mode ask").await.turn_id.is_none());
    client.prompt(&session, "Write a number.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(events.contains(&Event::ModeChanged { mode: Mode::Ask }), "{events:?}");
    let refused = |event: &Event| matches!(event, Event::ToolCallEnded { result, .. } if result.is_error);
    assert!(events.iter().any(refused), "{events:?}");
    let asked = model.asked();
    assert!(!asked[0].tools().contains(&"edit_replace_exact".to_owned()), "{:?}", asked[0].tools());
    assert!(asked[0].tools().contains(&"read_file".to_owned()));
    let opened = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await;
    assert!(opened.proposals.is_empty());

    client.prompt(&session, "/mode agent Now you may.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await;
    assert_eq!(listed.proposals.len(), 1);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_words_beside_new_go_to_the_new_conversation_and_resume_leads_back() {
    let model = ModelServer::start([Answer::says("Hello."), Answer::says("I do.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Responses), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let old = client.new_session().await;
    client.prompt(&old, "Hello.").await;
    client.until_end(&old, StopReason::EndTurn).await;

    let result = say(&client, &old, "/new do this").await;
    let new = result.switch_to.expect("another session");
    assert!(result.turn_id.is_none() && new != old);
    let words =
        said(&client.until(&old, "/new", |event| matches!(event, Event::CommandExecuted { .. })).await).to_owned();
    assert!(words.contains(new.as_str()), "{words}");
    let events = client.until_end(&new, StopReason::EndTurn).await;
    assert!(events.iter().any(|event| *event == Event::TitleChanged { title: "do this".into() }), "{events:?}");
    let asked = model.asked();
    let heard: Vec<_> = asked[1].said().iter().filter(|said| matches!(said, Said::User(_))).collect();
    assert!(matches!(heard.as_slice(), [Said::User(text)] if text.contains("do this")), "{heard:?}");

    let result = say(&client, &new, &format!("/resume {old}")).await;
    assert_eq!(result.switch_to, Some(old.clone()));
    client.until(&new, "/resume", |event| matches!(event, Event::CommandExecuted { .. })).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": old })).await;
    let warned = |event: &Event| matches!(event, Event::Notice { severity: Severity::Error, .. });
    assert!(!opened.events.iter().any(|event| warned(&event.event)), "{opened:?}");
    assert_eq!(client.finish().await, 0);
}
