//! The user's trust in the folder that they work in: asked for once, kept for them and not in the folder, and until
//! then nothing runs that the folder brings along.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::process::{Command, Stdio};
use std::time::Duration;

use harness::model::Said;
use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::permission::{PermissionAbout, PermissionOutcome, PermissionRequest, WorkspaceTrustResult};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// An editor that leaves trust to us.
fn silent() -> Profile {
    Profile::panel().that_trusts_nothing()
}

async fn world() -> (ModelServer, Setup, Project) {
    let model = ModelServer::responding(|_| Answer::says("Done.")).await;
    // All sessions here begin with the same words, which the model's server takes for one.
    model.may_rewrite();
    let setup = Setup::model(&model, Wire::Chat);
    (model, setup, Project::new([("a.txt", "one\n")]))
}

/// The trust in the client's folders: true if they are trusted, and true if somebody said so.
async fn trust(client: &Client, params: Value) -> (bool, bool) {
    let WorkspaceTrustResult { trusted, decided } = client.call::<methods::WorkspaceTrust>(params).await;
    (trusted, decided)
}

/// Begins a session's turn, which asks.
async fn asked(client: &Client) -> (SessionId, PermissionRequest) {
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    let (_, question) = client.until_asked(&session).await;
    assert_eq!(question.about, PermissionAbout::Trust, "{question:?}");
    (session, question)
}

/// Runs a turn to its end. Gives what it asked.
async fn questions(client: &Client, session: &SessionId) -> Vec<PermissionRequest> {
    client.prompt(session, "Hello.").await;
    let events = client.until_end(session, StopReason::EndTurn).await;
    let asked = events.into_iter().filter_map(|event| match event {
        Event::PermissionAsked { request, .. } => Some(request),
        _ => None,
    });
    asked.collect()
}

async fn outcome(client: &Client, session: &SessionId) -> PermissionOutcome {
    let is_it = |event: &Event| matches!(event, Event::PermissionAnswered { .. });
    match client.until(session, "the question's end", is_it).await.pop() {
        Some(Event::PermissionAnswered { outcome, .. }) => outcome,
        other => unreachable!("{other:?}"),
    }
}

#[tokio::test]
async fn the_first_turn_in_a_folder_asks_whether_it_is_trusted_and_no_later_one_does() {
    let (model, setup, project) = world().await;
    let client = Client::start(&setup, &project, silent()).await;
    assert_eq!(trust(&client, json!({})).await, (false, false));
    let (session, question) = asked(&client).await;
    assert!(question.detail.contains(project.folder().to_str().unwrap()), "{}", question.detail);
    for word in ["hooks", "MCP servers", "environment files", "asked before a command runs its code, each time"] {
        assert!(question.detail.contains(word), "{word}: {}", question.detail);
    }
    let names: Vec<_> = question.options.iter().map(|option| option.name.as_str()).collect();
    assert_eq!(names, ["Trust this folder", "Not now: restricted in this session", "Do not trust"]);
    assert!(model.asked().is_empty(), "the turn goes on only with the answer");

    client.answer(&session, &question, "allow_always").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({})).await, (true, true));
    assert!(questions(&client, &session).await.is_empty());
    let other = client.new_session().await;
    assert!(questions(&client, &other).await.is_empty());
    assert!(std::fs::read_dir(project.folder()).unwrap().count() == 1, "nothing of it is in the folder");
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, silent()).await;
    let session = client.new_session().await;
    assert!(questions(&client, &session).await.is_empty(), "nor after a restart");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn not_now_holds_for_the_session_and_never_for_good() {
    let (_model, setup, project) = world().await;
    let client = Client::start(&setup, &project, silent()).await;
    let (session, question) = asked(&client).await;
    client.answer(&session, &question, "reject_once").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({})).await, (false, false));
    assert!(questions(&client, &session).await.is_empty(), "a session asks once");

    let (session, question) = asked(&client).await;
    client.answer(&session, &question, "reject_always").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({})).await, (false, true));
    let third = client.new_session().await;
    assert!(questions(&client, &third).await.is_empty());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_turn_that_is_cancelled_while_it_asks_leaves_the_folder_restricted_and_the_next_session_asks_again() {
    let (model, setup, project) = world().await;
    let client = Client::start(&setup, &project, silent()).await;
    let (session, _) = asked(&client).await;
    client.request("azimuth/turn/cancel", json!({ "sessionId": session })).await.unwrap();
    client.until_end(&session, StopReason::Cancelled).await;
    assert!(model.asked().is_empty());
    assert_eq!(trust(&client, json!({})).await, (false, false));
    let (session, question) = asked(&client).await;
    client.answer(&session, &question, "allow_always").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_is_said_in_one_session_settles_the_question_of_another() {
    let (_model, setup, project) = world().await;
    let client = Client::start(&setup, &project, silent()).await;
    let (first, question) = asked(&client).await;
    let (second, _) = asked(&client).await;
    client.answer(&first, &question, "allow_always").await;
    assert_eq!(outcome(&client, &second).await, PermissionOutcome::Moot);
    client.until_end(&second, StopReason::EndTurn).await;
    client.until_end(&first, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_slash_command_tells_and_decides_and_only_where_it_leads_the_prompt() {
    let (_model, setup, project) = world().await;
    let client = Client::start(&setup, &project, silent()).await;
    let session = client.new_session().await;
    let run = async |text: &str| {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        assert_eq!(client.call::<methods::TurnStart>(params).await.turn_id, None);
        let is_it = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match client.until(&session, "its outcome", is_it).await.pop() {
            Some(Event::CommandExecuted { message, is_error: false, .. }) => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(run("/trust").await.contains("not trusted yet"));
    assert!(run("/trust yes").await.contains("what it supplies may run"));
    assert_eq!(trust(&client, json!({})).await, (true, true));
    assert!(run("/trust no").await.contains("not trusted"));
    assert_eq!(trust(&client, json!({})).await, (false, true));
    client.prompt(&session, "Read this: /trust yes").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({})).await, (false, true));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_editor_with_trust_of_its_own_is_taken_at_its_word_as_long_as_it_is_there() {
    let (_model, setup, project) = world().await;
    for (word, trusted) in [("trusted", true), ("restricted", false)] {
        let client = Client::start(&setup, &project, Profile { trust: Some(word), ..Profile::panel() }).await;
        let session = client.new_session().await;
        assert!(questions(&client, &session).await.is_empty(), "{word}");
        assert_eq!(trust(&client, json!({})).await, (trusted, true));
        let said = trust(&client, json!({ "trusted": !trusted, "byEditor": true })).await;
        assert_eq!(said, (!trusted, true), "it may say otherwise later");
        assert_eq!(client.finish().await, 0);
    }
    let client = Client::start(&setup, &project, silent()).await;
    assert_eq!(trust(&client, json!({})).await, (false, false), "nothing of it was kept");
    let (session, _) = asked(&client).await;
    trust(&client, json!({ "trusted": true, "byEditor": true })).await;
    assert_eq!(outcome(&client, &session).await, PermissionOutcome::Moot);
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_folder_within_a_trusted_one_is_trusted_and_one_beside_it_is_asked_about() {
    let (_model, setup, project) = world().await;
    let (inner, other) = (project.path("inner"), Project::new([("b.txt", "two\n")]));
    std::fs::create_dir(&inner).unwrap();
    let client = Client::start(&setup, &project, silent()).await;
    let uri = project.uri("");
    assert_eq!(trust(&client, json!({ "folder": uri, "trusted": true })).await, (true, true));
    assert_eq!(trust(&client, json!({ "folder": project.uri("inner") })).await, (true, true));
    assert_eq!(trust(&client, json!({ "folder": other.uri("") })).await, (false, false));

    let folders = json!({ "folders": [project.uri("inner"), other.uri("")] });
    let session = client.call::<methods::SessionNew>(folders).await.session.session_id;
    client.prompt(&session, "Hello.").await;
    let (_, question) = client.until_asked(&session).await;
    assert!(question.detail.contains(other.folder().to_str().unwrap()), "{}", question.detail);
    assert!(!question.detail.contains(inner.to_str().unwrap()), "only what is open is asked: {}", question.detail);
    client.answer(&session, &question, "allow_always").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({ "folder": other.uri("") })).await, (true, true));
    let missing = client.request("azimuth/workspace/trust", json!({ "folder": project.uri("missing") })).await;
    assert!(missing.unwrap_err().message.contains("`folder`"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_answer_in_one_window_settles_the_question_in_another_process() {
    let (_model, setup, project) = world().await;
    let first = Window::open(&setup, &project, silent()).await;
    let second = Window::open(&setup, &project, silent()).await;
    let (session, _) = asked(&first).await;
    assert_eq!(trust(&second, json!({ "trusted": true })).await, (true, true));
    assert_eq!(outcome(&first, &session).await, PermissionOutcome::Moot);
    first.until_end(&session, StopReason::EndTurn).await;
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn a_window_that_looks_on_brings_its_editors_word_to_the_session() {
    let (_model, setup, project) = world().await;
    let first = Window::open(&setup, &project, silent()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    first.waive("azimuth/event");
    second.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert!(questions(&second, &session).await.is_empty(), "its own editor trusts the folder");
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn a_question_outlives_a_server_that_is_killed_and_its_answer_lets_the_turn_go_on() {
    let (model, setup, project) = world().await;
    let window = Window::open(&setup, &project, silent()).await;
    let (session, question) = asked(&window).await;
    window.kill().await;

    let client = Client::start(&setup, &project, silent()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(trust(&client, json!({})).await, (false, false));
    client.answer(&session, &question, "allow_always").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(trust(&client, json!({})).await, (true, true));
    assert!(model.asked()[0].user_text().contains("Hello."));
    assert_eq!(client.finish().await, 0);
}

/// A user who allows every command, and an agent that asks git in each turn where hooks lie.
async fn hooks_path() -> (ModelServer, Setup, Project) {
    let model = ModelServer::responding(|asked| match asked.said().last() {
        Some(Said::Result { .. }) => Answer::says("Done."),
        _ => Answer::calls("shell_run", json!({ "command": "git config --get core.hooksPath || echo as usual" })),
    });
    let model = model.await;
    model.may_rewrite();
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    (model, setup, Project::new([]))
}

#[tokio::test]
async fn commands_call_git_without_a_repositorys_programs_until_the_folder_is_trusted() {
    let (model, setup, project) = hooks_path().await;
    let client = Client::start(&setup, &project, Profile { trust: Some("restricted"), ..Profile::panel() }).await;
    let seen = async |session: &SessionId| {
        client.prompt(session, "Look.").await;
        // A question may come in such a folder; that is the permission's story.
        loop {
            let what = |event: &Event| matches!(event, Event::PermissionAsked { .. } | Event::TurnEnded { .. });
            match client.until(session, "a question or the end", what).await.pop() {
                Some(Event::PermissionAsked { request, .. }) => client.answer(session, &request, "allow_once").await,
                _ => break,
            }
        }
        model.asked().last().unwrap().last_results()[0].to_owned()
    };
    let session = client.new_session().await;
    assert!(seen(&session).await.starts_with("/dev/null\n"));
    // A shell that runs keeps what it was started with; the next one has it as usual.
    trust(&client, json!({ "trusted": true, "byEditor": true })).await;
    let session = client.new_session().await;
    assert!(seen(&session).await.starts_with("as usual\n"));
    trust(&client, json!({ "trusted": false, "byEditor": true })).await;
    let strict = async {
        // The idle shell is replaced as soon as the session has heard of it.
        while !seen(&session).await.starts_with("/dev/null\n") {}
    };
    harness::patiently("a strict shell", strict).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_editor_without_our_plugin_shows_the_question_in_the_chat_and_is_answered_by_a_code_action() {
    let (_model, setup, project) = world().await;
    project.write("azimuth-chat.md", "");
    let client = Client::start(&setup, &project, Profile::plain().that_trusts_nothing()).await;
    let chat = project.uri("azimuth-chat.md");
    client.open(&chat);
    client.replace(&chat, "", "Hello.\n");
    client.choose_action(&chat, "Send to Azimuth").await;
    client.choose_action(&chat, "Trust this folder (Trust this folder?)").await;
    let answered = async {
        while !client.text(&chat).ends_with("Done.\n\n## You\n\n") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    harness::patiently("the answer", answered).await;
    let text = client.text(&chat);
    assert!(text.contains("> **Trust this folder?**\n>     "), "{text}");
    assert!(text.contains("> → Trust this folder\n"), "{text}");
    assert_eq!(trust(&client, json!({})).await, (true, true));
    client.waive("textDocument/publishDiagnostics");
    client.waive("window/showMessage");
    assert_eq!(client.finish().await, 0);
}

#[test]
fn a_run_without_a_terminal_is_restricted_and_says_so_and_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let script = folder.path().join("script.json");
    std::fs::write(&script, json!({ "name": "test", "steps": [{ "text": "Done." }] }).to_string()).unwrap();
    let run = |more: &[&str]| {
        let output = Command::new(harness::binary())
            .args(["exec", "--script", script.to_str().unwrap()])
            .args(more)
            .arg("Hello.")
            .current_dir(&project)
            .stdin(Stdio::null())
            .env("AZIMUTH_DATA_DIR", folder.path().join("data"))
            .env("AZIMUTH_CONFIG", folder.path().join("config.toml"))
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    for arguments in [&[][..], &["--yes"], &[]] {
        let (code, said) = run(arguments);
        assert!(code == Some(0) && said.contains("Done."), "{code:?}: {said}");
        assert!(said.contains("Trust this folder? Not in this run"), "{arguments:?}: {said}");
    }
    let (code, said) = run(&["--trust"]);
    assert!(code == Some(0) && !said.contains("Trust this folder?"), "{said}");
    assert!(run(&[]).1.contains("Trust this folder?"), "it was for one run");
}
