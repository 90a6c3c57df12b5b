//! The user's own commands: a prompt that begins with `!` runs in the session's shell, for the user and by their own
//! hand.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::process::{Command, Stdio};
use std::time::Duration;

use harness::model::Said;
use harness::window::Window;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

async fn world(answers: impl IntoIterator<Item = Answer>) -> (ModelServer, Setup, Project) {
    let model = ModelServer::start(answers).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    (model, setup, Project::new([("a.txt", "one\n"), ("src/main file.rs", "fn main() {}\n")]))
}

fn text(text: &str) -> Value {
    json!([{ "type": "text", "text": text }])
}

/// Sends a prompt that is a command.
async fn run(client: &Client, session: &SessionId, prompt: &str) {
    let params = json!({ "sessionId": session, "prompt": text(prompt) });
    let started = client.call::<methods::TurnStart>(params).await;
    assert_eq!((started.turn_id, started.switch_to), (None, None), "it is no turn");
}

/// Waits until a command has ended. Gives what came before its end, what it printed and its exit code.
async fn ended(client: &Client, session: &SessionId) -> (Vec<Event>, String, Option<i32>) {
    let is_it = |event: &Event| matches!(event, Event::UserCommandEnded { .. });
    let mut events = client.until(session, "the command's end", is_it).await;
    match events.pop() {
        Some(Event::UserCommandEnded { text, exit_code, .. }) => (events, text, exit_code),
        other => unreachable!("{other:?}"),
    }
}

async fn began(client: &Client, session: &SessionId) {
    let is_it = |event: &Event| matches!(event, Event::TerminalStarted { .. });
    client.until(session, "the command's begin", is_it).await;
}

/// The texts of a request that the user said, or that we said in their name.
fn said(model: &ModelServer, request: usize) -> Vec<String> {
    let asked = model.asked();
    let said = asked[request].said().iter().filter_map(|said| match said {
        Said::User(text) => Some(text.clone()),
        _ => None,
    });
    said.collect()
}

#[tokio::test]
async fn a_command_runs_at_once_in_the_sessions_shell_and_the_model_reads_it_with_the_next_prompt() {
    let (model, setup, project) = world([Answer::says("I see.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    run(&client, &session, "!cd src; X=7; echo 'hello  there'; false").await;
    let (events, printed, code) = ended(&client, &session).await;
    assert_eq!((printed.as_str(), code), ("hello  there", Some(1)));
    client.terminal_until(&terminal, "hello  there").await;
    let asks = |event: &Event| matches!(event, Event::PermissionAsked { .. } | Event::PermissionJudged { .. });
    assert!(!events.iter().any(asks), "nobody is asked what they typed themselves: {events:?}");
    let line = "cd src; X=7; echo 'hello  there'; false";
    let is_begin = |event: &&Event| matches!(event, Event::UserCommandStarted { command, in_context: true, .. } if command == line);
    assert!(events.iter().any(|event| is_begin(&event)), "{events:?}");
    assert!(model.asked().is_empty(), "no model is asked");

    run(&client, &session, "!echo $X; pwd").await;
    let (_, printed, _) = ended(&client, &session).await;
    assert_eq!(printed, format!("7\n{}", project.path("src").display()), "it is one shell");
    client.prompt(&session, "What went wrong?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let said = said(&model, 0).join("\n");
    let (command, prompt) =
        (said.find(&format!("$ {line}\nhello  there\n[exit code 1]")), said.find("What went wrong?"));
    assert!(command.is_some() && command < prompt, "{said}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_runs_behind_two_marks_stays_out_of_the_context() {
    let (model, setup, project) = world([Answer::says("Hi.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    run(&client, &session, "!!echo mine alone").await;
    assert_eq!(ended(&client, &session).await.1, "mine alone");
    client.prompt(&session, "Hello.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(!said(&model, 0).join("\n").contains("mine alone"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_blank_or_a_backslash_makes_it_a_prompt_and_a_word_to_a_turn_is_none_either() {
    let gate = Gate::default();
    let (model, setup, project) = world([
        Answer::says("One."),
        Answer::says("Two."),
        Answer::nothing().wait(&gate).text("Three."),
        Answer::says("Four."),
    ])
    .await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    for (prompt, read) in [("\\!important", "!important"), (" !ls", " !ls")] {
        client.prompt(&session, prompt).await;
        client.until_end(&session, StopReason::EndTurn).await;
        assert_eq!(said(&model, model.asked().len() - 1).last().map(String::as_str), Some(read));
    }
    let turn = client.prompt(&session, "Wait.").await;
    model.asked_times(3).await;
    let params = json!({ "sessionId": session, "expectedTurnId": turn, "prompt": text("!touch wrong") });
    client.request("azimuth/turn/steer", params).await.unwrap();
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(said(&model, 3).last().map(String::as_str), Some("!touch wrong"));
    assert!(!project.path("wrong").exists());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_cannot_be_a_command_and_a_busy_shell_are_errors_in_words() {
    let (_model, setup, project) = world([]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let start = |prompt: Value| client.request("azimuth/turn/start", json!({ "sessionId": session, "prompt": prompt }));
    let words = async |prompt| start(prompt).await.unwrap_err().message;
    assert!(words(text("!")).await.contains("say what to run after the `!`"));
    let with_a_file = json!([{ "type": "text", "text": "!cat" }, { "type": "file", "uri": project.uri("a.txt") }]);
    assert!(words(with_a_file).await.contains("text alone"));

    run(&client, &session, "!sleep 1000").await;
    began(&client, &session).await;
    assert!(words(text("!ls")).await.contains("busy with `sleep 1000`"));
    let cancelled = client.request("azimuth/turn/cancel", json!({ "sessionId": session })).await.unwrap();
    assert_eq!(cancelled["cancelled"], true);
    let (_, printed, code) = ended(&client, &session).await;
    assert!(code.is_none() && printed.contains("cancelled"), "{printed}");
    run(&client, &session, "!echo again").await;
    assert_eq!(ended(&client, &session).await.1, "again");

    // The terminal's own way to stop it.
    run(&client, &session, "!sleep 1000").await;
    began(&client, &session).await;
    let terminal = client.open_terminal(&session).await;
    client.request("azimuth/terminal/kill", json!({ "sessionId": session, "terminalId": terminal })).await.unwrap();
    assert_eq!(ended(&client, &session).await.2, None);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn it_runs_in_any_mode_and_beside_a_turn_which_hears_of_it_at_its_next_request() {
    let gate = Gate::default();
    let list = Answer::nothing().wait(&gate).call("list_files", json!({}));
    let (model, setup, project) = world([list, Answer::says("I heard."), Answer::says("Yes.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let params = json!({ "mode": "ask" });
    let session = client.call::<methods::SessionNew>(params).await.session.session_id;
    client.prompt(&session, "Look around.").await;
    model.asked_times(1).await;
    run(&client, &session, "!echo meanwhile").await;
    assert_eq!(ended(&client, &session).await.1, "meanwhile");
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(said(&model, 1).last().unwrap().contains("$ echo meanwhile\nmeanwhile\n[exit code 0]"));
    // It was said once; the requests of the next turn begin as this one's did, which the model's server checks.
    client.prompt(&session, "And?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(said(&model, 2).join("\n").matches("$ echo meanwhile").count(), 1);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_the_user_runs_the_model_neither_ends_nor_answers_unasked() {
    let calls = [
        ("shell_kill", json!({ "terminal": "shell" })),
        ("shell_kill", json!({ "terminal": "shell", "signal": "interrupt" })),
        ("shell_write", json!({ "terminal": "shell", "text": "yes" })),
    ];
    let answers = calls.into_iter().map(|(tool, input)| Answer::calls(tool, input));
    let (model, setup, project) = world(answers.chain([Answer::says("Done.")])).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    run(&client, &session, "!read -p 'Enter a value: ' x; echo \"<$x>\"").await;
    let waits = |event: &Event| matches!(event, Event::TerminalChanged { terminal } if terminal.waiting.is_some());
    client.until(&session, "a question", waits).await;
    client.prompt(&session, "Go on.").await;
    let (_, question) = client.until_asked(&session).await;
    assert_eq!(question.title, "Type into shell?");
    for request in [1, 2] {
        let heard = model.asked()[request].last_results().join("\n");
        assert!(heard.contains("the user's own command `read -p"), "{heard}");
    }
    client.answer(&session, &question, "reject_once").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(!events.iter().any(|event| matches!(event, Event::UserCommandEnded { .. })), "it still runs: {events:?}");
    client.request("azimuth/turn/cancel", json!({ "sessionId": session })).await.unwrap();
    assert_eq!(ended(&client, &session).await.2, None);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_a_turn_did_not_come_to_hear_the_next_one_reads() {
    let gate = Gate::default();
    let (model, setup, project) = world([Answer::nothing().wait(&gate).text("Done."), Answer::says("Yes.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    model.asked_times(1).await;
    run(&client, &session, "!sleep 0.3; echo late").await;
    began(&client, &session).await;
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;
    ended(&client, &session).await;
    client.prompt(&session, "And?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(said(&model, 1).join("\n").contains("late\n[exit code 0]"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_command_that_waits_in_the_queue_runs_in_its_turn_and_what_is_behind_it_waits_for_it() {
    let gate = Gate::default();
    let (model, setup, project) = world([Answer::nothing().wait(&gate).text("One."), Answer::says("Two.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "First.").await;
    for prompt in ["!sleep 0.2; echo between", "Second."] {
        let params = json!({ "type": "add", "sessionId": session, "prompt": text(prompt) });
        client.request("azimuth/turn/queue", params).await.unwrap();
    }
    gate.open();
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(ended(&client, &session).await.1, "between");
    client.until_end(&session, StopReason::EndTurn).await;
    let said = said(&model, 1).join("\n");
    assert!(said.find("between\n[exit code 0]") < said.find("Second."), "{said}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn of_a_long_output_the_model_reads_both_ends_what_failed_and_a_handle_to_the_rest() {
    let (_model, setup, project) = world([]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    run(&client, &session, "!seq 50000; echo 'error: it broke'; seq 50001 100000").await;
    let (_, printed, code) = ended(&client, &session).await;
    assert_eq!(code, Some(0));
    assert!(printed.len() < 40_000 && printed.starts_with("1\n2\n") && printed.contains("\n100000\n"));
    assert!(printed.contains("not all of its output is shown") && printed.contains("expand_output"), "no handle");
    assert!(printed.contains("\nerror: it broke\n"), "what failed in the middle is there");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn pending_changes_are_measured_against_what_a_command_left() {
    let edit = Answer::calls("edit_replace_exact", json!({ "path": "a.txt", "old_text": "one", "new_text": "1" }));
    let (_model, setup, project) = world([edit, Answer::says("Done.")]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Write numbers.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    run(&client, &session, "!sed -i '1i zero' a.txt").await;
    ended(&client, &session).await;
    let moved =
        |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.hunks[0].start_line == 1);
    client.until(&session, "the hunk in its new place", moved).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_command_that_a_killed_server_ran_is_shown_as_interrupted() {
    let (model, setup, project) = world([Answer::says("I see.")]).await;
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let session = window.new_session().await;
    run(&window, &session, "!echo begun; sleep 1000").await;
    began(&window, &session).await;
    window.kill().await;

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    let is_interrupted = |event: &Event| matches!(event, Event::UserCommandEnded { text, exit_code: None, .. } if text.contains("interrupted"));
    assert!(opened.events.iter().any(|event| is_interrupted(&event.event)), "{:?}", opened.events.last());
    client.prompt(&session, "What was that?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(said(&model, 0).join("\n").contains("$ echo begun; sleep 1000\n[interrupted"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_window_that_looks_on_runs_a_command_in_the_sessions_shell_too() {
    let (_model, setup, project) = world([]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    second.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    run(&second, &session, "!echo from there /new").await;
    assert_eq!(ended(&first, &session).await.1, "from there /new");
    assert_eq!(ended(&second, &session).await.1, "from there /new");
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn in_a_command_files_are_completed_and_no_slash_command_is() {
    let (_model, setup, project) = world([]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let complete = async |text: &str| {
        let params = json!({ "sessionId": session, "text": text, "cursor": text.len() });
        let result = client.call::<methods::PromptComplete>(params).await;
        result.items.into_iter().map(|item| item.insert).collect::<Vec<_>>()
    };
    assert!(complete("/he").await.contains(&"/help".to_owned()));
    assert!(complete("!cat /he").await.is_empty());
    assert_eq!(complete("!cat main").await, ["'src/main file.rs' "]);
    assert!(complete("!a").await.is_empty() && complete("!cat ").await.is_empty());
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn in_a_chat_document_a_command_shows_what_it_printed_and_can_be_stopped() {
    let (_model, setup, project) = world([]).await;
    project.write("azimuth-chat.md", "");
    let client = Client::start(&setup, &project, Profile::plain()).await;
    client.waive("textDocument/publishDiagnostics");
    let chat = project.uri("azimuth-chat.md");
    client.open(&chat);
    client.replace(&chat, "", "!seq 25; cat @a.txt a.txt");
    client.choose_action(&chat, "Send to Azimuth").await;
    let shown = until(&client, &chat, |text| text.ends_with("\n## You\n\n")).await;
    assert!(shown.contains("> **!seq 25; cat @a.txt a.txt**: exit code "), "{shown}");
    assert!(!shown.contains(">     7\n") && shown.contains(">     25\n"), "only its end: {shown}");
    assert_eq!(shown.matches("## You").count(), 1, "{shown}");
    client.replace(&chat, "\n## You\n\n", "\n## You\n\n!echo on; sleep 1000");
    client.choose_action(&chat, "Send to Azimuth").await;
    client.choose_action(&chat, "Stop the command").await;
    until(&client, &chat, |text| text.contains("**: stopped, or not run\n") && text.ends_with("\n## You\n\n")).await;
    assert_eq!(client.finish().await, 0);
}

async fn until(client: &Client, uri: &str, wish: impl Fn(&str) -> bool) -> String {
    let wished = async {
        loop {
            let text = client.text(uri);
            if wish(&text) {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let wished = harness::in_time(wished).await;
    wished.unwrap_or_else(|| panic!("{}", client.text(uri)))
}

#[test]
fn on_the_command_line_a_command_gives_its_output_and_whether_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    // Without the start files of whoever runs the test, which may take any time.
    std::fs::write(folder.path().join("config.toml"), "shell_rc = false\n").unwrap();
    let run = |arguments: &[&str], input: &str| {
        let mut child = Command::new(harness::binary())
            .arg("exec")
            .args(arguments)
            .current_dir(folder.path())
            .env("AZIMUTH_DATA_DIR", folder.path().join("data"))
            .env("AZIMUTH_CONFIG", folder.path().join("config.toml"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(run(&["!echo one; echo two"], ""), (Some(0), "one\ntwo\n".to_owned(), String::new()));
    let (code, said, _) = run(&["!echo bad; exit 3"], "");
    assert!(code == Some(1) && said.contains("bad\n"), "{said}");
    let (code, _, said) = run(&["-"], "!touch wrong");
    assert!(code == Some(2) && said.contains("give `!command` as an argument"), "{said}");
    assert!(!folder.path().join("wrong").exists());
}
