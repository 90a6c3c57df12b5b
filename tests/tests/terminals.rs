//! The session's terminal as a user has it: seen, typed into, resized, stopped, and found again.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::model::Said;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::terminal::TerminalOpenResult;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TerminalId, methods};
use serde_json::{Value, json};

/// A user who allows every command, and an agent that runs these, one in each turn.
async fn world(commands: &[&str]) -> (ModelServer, Setup, Project) {
    let script = commands
        .iter()
        .flat_map(|command| [Answer::calls("shell_run", json!({ "command": command })), Answer::says("Done.")]);
    let model = ModelServer::start(script).await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    (model, setup, Project::new([]))
}

async fn open(client: &Client, session: &SessionId, more: Value) -> TerminalOpenResult {
    let mut params = json!({ "sessionId": session });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.call::<methods::TerminalOpen>(params).await
}

async fn type_in(client: &Client, session: &SessionId, terminal: &TerminalId, text: &str) {
    let data = BASE64_STANDARD.encode(text);
    let params = json!({ "sessionId": session, "terminalId": terminal, "data": data });
    client.call::<methods::TerminalWrite>(params).await;
}

/// Runs the agent's next command to the end of its turn; gives where its output began and ended, and its exit code.
async fn run(client: &Client, session: &SessionId) -> (u64, u64, Option<i32>) {
    client.prompt(session, "Run it.").await;
    ended(client, session).await
}

async fn ended(client: &Client, session: &SessionId) -> (u64, u64, Option<i32>) {
    let events = client.until_end(session, StopReason::EndTurn).await;
    let began = events.iter().find_map(|event| match event {
        Event::TerminalStarted { offset, .. } => Some(*offset),
        _ => None,
    });
    let ended = events.iter().find_map(|event| match event {
        Event::TerminalEnded { offset, exit_code, .. } => Some((*offset, *exit_code)),
        _ => None,
    });
    let (end, code) = ended.unwrap_or_else(|| panic!("no end: {events:?}"));
    (began.unwrap_or_default(), end, code)
}

#[tokio::test]
async fn a_terminal_shows_what_a_command_prints_byte_for_byte() {
    let printf = "printf '\\033[31mred\\033[0m \\360\\237\\246\\200\\n'";
    let (model, setup, project) = world(&[printf]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let opened = open(&client, &session, json!({})).await;
    assert_eq!((opened.since, opened.alive), (0, false), "no shell is started before it is needed");
    let (began, end, code) = run(&client, &session).await;
    assert_eq!(code, Some(0));
    let shown = client.terminal_until(&opened.terminal_id, "\u{1F980}\r\n").await;
    let expected = "\u{1b}[31mred\u{1b}[0m \u{1F980}\r\n";
    assert_eq!(&shown.as_bytes()[usize::try_from(began).unwrap()..usize::try_from(end).unwrap()], expected.as_bytes());
    // The model reads plain text.
    assert!(model.asked()[1].last_results()[0].starts_with("red \u{1F980}\n"), "{:?}", model.asked()[1].last_results());
    assert!(open(&client, &session, json!({ "since": 9999 })).await.alive);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_the_model_was_not_shown_of_a_long_output_it_reads_by_its_handle_after_a_restart_too() {
    let model = ModelServer::responding(|asked| match asked.said().last() {
        Some(Said::User(text)) => match text.rsplit_once("It is ") {
            Some((_, handle)) => Answer::calls("expand_output", json!({ "handle": handle, "query": "45678" })),
            None => Answer::calls("shell_run", json!({ "command": "seq 100000" })),
        },
        _ => Answer::says("Done."),
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let project = Project::new([]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    run(&client, &session).await;
    let shown = model.asked()[1].last_results()[0].to_owned();
    assert!(shown.len() < 40_000 && !shown.contains("\n45678\n"), "{} bytes", shown.len());
    let (_, rest) = shown.split_once("by the handle `").unwrap();
    let (handle, _) = rest.split_once('`').unwrap();
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.request("azimuth/session/open", json!({ "sessionId": session })).await.unwrap();
    client.prompt(&session, &format!("Look for 45678. It is {handle}")).await;
    client.until_end(&session, StopReason::EndTurn).await;
    let asked = model.asked();
    assert_eq!(asked.last().unwrap().last_results(), [" 45678\t45678"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_view_that_comes_later_begins_where_it_says() {
    let (_model, setup, project) = world(&["echo the first", "echo the second", "echo the third"]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    run(&client, &session).await;
    let (began, _, _) = run(&client, &session).await;
    // Nothing came unasked; from here on all comes, once.
    let opened = open(&client, &session, json!({ "since": began })).await;
    assert_eq!(opened.since, began);
    let shown = client.terminal_until(&opened.terminal_id, "the second").await;
    assert!(!shown.contains("the first"), "{shown}");
    run(&client, &session).await;
    let shown = client.terminal_until(&opened.terminal_id, "the third").await;
    assert_eq!(shown.matches("the second").count(), 1, "{shown}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_user_types_into_a_command_that_reads() {
    let command = "printf 'name? '; read name; printf 'hello %s\\n' \"$name\"";
    let (model, setup, project) = world(&[command]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    let idle = json!({ "sessionId": session, "terminalId": terminal, "data": BASE64_STANDARD.encode("x") });
    let error = client.request("azimuth/terminal/write", idle).await.unwrap_err();
    assert_eq!(error.code, -32016, "nothing runs that could read it: {error:?}");
    client.prompt(&session, "Ask for the name.").await;
    client.terminal_until(&terminal, "name? ").await;
    type_in(&client, &session, &terminal, "Ada \u{e9}\n").await;
    assert_eq!(ended(&client, &session).await.2, Some(0));
    client.terminal_until(&terminal, "hello Ada \u{e9}").await;
    assert!(model.asked()[1].last_results()[0].contains("hello Ada \u{e9}"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn ctrl_c_typed_ends_a_command_and_the_shell_lives_on() {
    let (_model, setup, project) = world(&["kept=here; sh -c 'echo begun; exec sleep 600'", "echo $kept"]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    client.prompt(&session, "Sleep.").await;
    client.terminal_until(&terminal, "begun").await;
    type_in(&client, &session, &terminal, "\u{3}").await;
    assert_ne!(ended(&client, &session).await.2, Some(0));
    assert_eq!(run(&client, &session).await.2, Some(0));
    client.terminal_until(&terminal, "here").await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_command_sees_the_size_of_the_view() {
    let wait = "stty size; echo ready; until [ \"$(stty size)\" = '50 99' ]; do sleep 0.02; done; echo resized";
    let (_model, setup, project) = world(&[wait, "stty size"]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let size = json!({ "size": { "columns": 77, "rows": 33 } });
    let terminal = open(&client, &session, size).await.terminal_id;
    client.prompt(&session, "What size?").await;
    client.terminal_until(&terminal, "33 77\r\nready").await;
    let resize = |columns: u32, rows: u32| {
        let size = json!({ "columns": columns, "rows": rows });
        json!({ "sessionId": session, "terminalId": terminal, "size": size })
    };
    // While a command runs, and for the ones to come.
    client.call::<methods::TerminalResize>(resize(99, 50)).await;
    client.terminal_until(&terminal, "resized").await;
    ended(&client, &session).await;
    run(&client, &session).await;
    client.terminal_until(&terminal, "50 99\r\n").await;
    for (columns, rows) in [(0, 24), (80, 0), (1001, 24), (80, 1001)] {
        let error = client.request("azimuth/terminal/resize", resize(columns, rows)).await.unwrap_err();
        assert!(error.code == -32602 && error.message.contains("`size`"), "{error:?}");
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_command_that_is_killed_ends_and_the_turn_goes_on() {
    let (model, setup, project) = world(&["echo begun; sleep 600", "echo alive"]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    client.prompt(&session, "Sleep.").await;
    client.terminal_until(&terminal, "begun").await;
    client.call::<methods::TerminalKill>(json!({ "sessionId": session, "terminalId": terminal })).await;
    assert_eq!(ended(&client, &session).await.2, None);
    let heard = model.asked()[1].last_results()[0].to_owned();
    assert!(heard.contains("begun") && heard.contains("[stopped after"), "{heard}");
    assert_eq!(run(&client, &session).await.2, Some(0));
    client.terminal_until(&terminal, "alive").await;
    // With nothing running it ends the shell, and the next command has a new one.
    client.call::<methods::TerminalKill>(json!({ "sessionId": session, "terminalId": terminal })).await;
    let is_over = |event: &Event| matches!(event, Event::TerminalChanged { terminal } if !terminal.alive);
    client.until(&session, "the shell's end", is_over).await;
    for (method, more) in [("write", json!({ "data": "" })), ("kill", json!({})), ("open", json!({}))] {
        let mut params = json!({ "sessionId": session, "terminalId": "another" });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let error = client.request(&format!("azimuth/terminal/{method}"), params).await.unwrap_err();
        assert!(error.code == -32010 && error.message.contains("another"), "{method}: {error:?}");
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn after_a_reconnect_a_terminal_gives_what_was_missed() {
    let (_model, setup, project) = world(&["echo before", "echo after"]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    let (_, end, _) = run(&client, &session).await;
    client.terminal_until(&terminal, "before").await;
    // Closed, it shows nothing more; what is printed meanwhile is kept.
    client.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    let (began, _, _) = run(&client, &session).await;
    assert!(began >= end, "offsets go on across processes: {began} after {end}");
    let opened = open(&client, &session, json!({ "since": end })).await;
    assert_eq!((&opened.terminal_id, opened.since), (&terminal, end));
    let shown = client.terminal_until(&terminal, "after").await;
    assert!(!shown.contains("before"), "{shown}");
    assert_eq!(client.finish().await, 0);

    // A view that has nothing gets all of it.
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = open(&client, &session, json!({ "since": 0 })).await;
    assert!(!opened.alive);
    let shown = client.terminal_until(&terminal, "after").await;
    assert!(shown.contains("before"), "{shown}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn keys_typed_in_quick_succession_arrive_in_the_order_they_were_typed() {
    const KEYS: &str = "the quick brown fox jumps over the lazy dog 0123456789";
    let command = "printf 'go? '; read line; stty size; printf 'heard %s!\\n' \"$line\"";
    let (_model, setup, project) = world(&[command]).await;
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let terminal = client.open_terminal(&session).await;
    client.prompt(&session, "Listen.").await;
    client.terminal_until(&terminal, "go? ").await;
    // Nothing waits for the answer to the one before.
    let write = |text: &str| {
        let data = BASE64_STANDARD.encode(text);
        let params = json!({ "sessionId": session, "terminalId": terminal, "data": data });
        client.request("azimuth/terminal/write", params)
    };
    let mut answers: Vec<_> = KEYS.chars().map(|key| write(&key.to_string())).collect();
    let size = json!({ "sessionId": session, "terminalId": terminal, "size": { "columns": 61, "rows": 17 } });
    let resized = client.request("azimuth/terminal/resize", size);
    answers.push(write("\n"));
    for answer in answers {
        answer.await.unwrap();
    }
    resized.await.unwrap();
    assert_eq!(ended(&client, &session).await.2, Some(0));
    let shown = client.terminal_until(&terminal, "!\r\n").await;
    assert!(shown.contains(&format!("heard {KEYS}!\r\n")), "{shown}");
    assert!(shown.contains("17 61\r\n"), "the size was set before the line was ended: {shown}");
    assert_eq!(client.finish().await, 0);
}
