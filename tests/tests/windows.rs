//! Several windows on one session, each with a server process of its own: the first one holds the session, the others
//! attach to it.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::FutureExt;
use harness::window::Window;
use harness::{Answer, Gate, ModelServer, Profile, Project, Setup, Wire};
use hub::sockets::Sockets;
use ports::store::Store;
use protocol::review::{HunkState, Proposal};
use protocol::session::SessionOpenResult;
use protocol::terminal::TerminalKind;
use protocol::turn::StopReason;
use protocol::{Event, SequencedEvent, SessionId, methods};
use serde_json::json;
use store::SqliteStore;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

async fn world(answers: impl IntoIterator<Item = Answer>, files: &[(&str, &str)]) -> (ModelServer, Setup, Project) {
    let model = ModelServer::start(answers).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    (model, setup, Project::new(files.iter().copied()))
}

fn edit(old: &str, new: &str) -> Answer {
    Answer::calls("edit_replace_exact", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
}

async fn show(window: &Window, session: &SessionId) -> SessionOpenResult {
    window.call::<methods::SessionOpen>(json!({ "sessionId": session })).await
}

/// All there is of a session, as a window is told that opens it anew.
async fn log(window: &Window, session: &SessionId) -> Vec<SequencedEvent> {
    let events = show(window, session).await.events;
    let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>());
    events
}

async fn pending(window: &Window, session: &SessionId) -> Vec<Proposal> {
    window.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals
}

async fn accept(window: &Window, session: &SessionId, proposal: &Proposal) {
    let target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
    let params = json!({ "sessionId": session, "decision": "accept", "targets": [target] });
    window.call::<methods::ReviewDecide>(params).await;
}

/// Starts a turn while the session passes to another host: a request that the one before does not answer is sent again,
/// as its error says.
async fn prompt_again(window: &Window, session: &SessionId, text: &str) {
    let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    let accepted = async {
        while let Err(error) = window.request("azimuth/turn/start", params.clone()).await {
            assert!(error.message.contains("try again"), "{error:?}");
        }
    };
    harness::patiently("the next host", accepted).await;
}

fn is_accepted(event: &Event) -> bool {
    matches!(event, Event::ProposalChanged { proposal } if proposal.hunks.iter().all(|it| it.state == HunkState::Accepted))
}

#[tokio::test]
async fn a_second_window_sees_all_that_happens_and_the_same_hunks_and_decides_for_both() {
    let (_model, setup, project) = world([edit("one", "1"), Answer::says("Done.")], &[("a.txt", "one\ntwo\n")]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    first.event(&session, "its beginning").await;
    let opened = show(&second, &session).await;
    assert_eq!((opened.events.len(), opened.session.last_seq), (1, 1));

    first.prompt(&session, "Write numbers.").await;
    let here = first.until_end(&session, StopReason::EndTurn).await;
    let there = second.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(here, there);
    let proposals = pending(&second, &session).await;
    assert_eq!(proposals, pending(&first, &session).await);

    accept(&second, &session, &proposals[0]).await;
    first.until(&session, "the decision", is_accepted).await;
    second.until(&session, "the decision", is_accepted).await;
    assert_eq!(project.read("a.txt"), "1\ntwo\n");
    let listed = second.call::<methods::SessionList>(json!({})).await.sessions;
    assert_eq!(listed[0].session_id, session);
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn an_unused_session_that_a_second_window_shows_is_there_when_the_first_is_closed() {
    let (_model, setup, project) = world([Answer::says("Hello.")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    first.until_attached(1).await;
    first.close().await;
    prompt_again(&second, &session, "Hello.").await;
    second.until_end(&session, StopReason::EndTurn).await;
    second.close().await;
}

#[tokio::test]
async fn what_the_user_saves_in_the_second_window_while_a_turn_runs_is_theirs() {
    let gate = Gate::default();
    let model = ModelServer::start([
        Answer::calls("shell_run", json!({ "command": "touch made.txt" })),
        Answer::nothing().wait(&gate).text("Done."),
    ])
    .await;
    let setup = Setup::empty();
    let providers = Setup::configuration(&model, Wire::Anthropic);
    setup.configure(&format!("{providers}[permissions]\nallow = [\"Shell\"]\n"));
    let project = Project::new([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    let uri = project.uri("a.txt");
    second.open(&uri);
    show(&second, &session).await;
    first.prompt(&session, "Go on.").await;
    model.asked_times(2).await;

    second.replace(&uri, "one", "mine");
    project.write("a.txt", "mine\n");
    second.save(&uri);
    // The host has heard of it: what this window asks comes after it.
    pending(&second, &session).await;
    project.write("b.txt", "another program's\n");
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.path == "b.txt");
    first.until(&session, "the look after the turn", is_it).await;
    let listed: Vec<_> = pending(&first, &session).await.into_iter().map(|proposal| proposal.path).collect();
    assert_eq!(listed, ["made.txt", "b.txt"]);
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_turn_of_the_second_window_works_on_its_unsaved_text_and_edits_arrive_in_its_editor() {
    let (model, setup, project) = world(
        [Answer::calls("read_file", json!({ "path": "a.txt" })), edit("typed", "TYPED"), Answer::says("Done.")],
        &[("a.txt", "on disk\n")],
    )
    .await;
    let uri = project.uri("a.txt");
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    first.open(&uri);
    second.open(&uri);
    show(&second, &session).await;
    // Typed after it was attached, with the prompt right behind it.
    second.replace(&uri, "on disk", "typed here");
    second.prompt(&session, "Shout.").await;
    let (_, proposal) = second.until_proposed(&session).await;
    second.until_end(&session, StopReason::EndTurn).await;
    let read = model.asked()[1].last_results().join("\n");
    assert!(read.contains("typed here"), "{read}");

    accept(&first, &session, &proposal).await;
    second.until(&session, "the edit", is_accepted).await;
    assert_eq!(second.text(&uri), "TYPED here\n");
    assert_eq!((first.text(&uri), project.read("a.txt")), ("on disk\n".into(), "on disk\n".into()));
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_question_stands_in_both_windows_and_is_answered_in_either() {
    let run = |word: &str| Answer::calls("shell_run", json!({ "command": format!("touch {word}.txt") }));
    let (_model, setup, project) = world([run("one"), run("two"), Answer::says("Done.")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    first.prompt(&session, "Run it.").await;
    let (_, asked) = second.until_asked(&session).await;
    let (_, same) = first.until_asked(&session).await;
    assert_eq!(asked, same);
    second.answer(&session, &asked, "allow_once").await;
    let (events, asked) = first.until_asked(&session).await;
    assert!(events.iter().any(|event| matches!(event, Event::PermissionAnswered { .. })), "{events:?}");
    second.until_asked(&session).await;
    first.answer(&session, &asked, "allow_once").await;
    second.until_end(&session, StopReason::EndTurn).await;
    first.until_end(&session, StopReason::EndTurn).await;
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn the_terminal_shows_the_same_in_both_windows_and_goes_on_with_another_host() {
    let run = |word: &str| Answer::calls("shell_run", json!({ "command": format!("printf '%s\\n' a{word}z") }));
    let answers = [run("on"), Answer::says("Done."), run("tw"), Answer::says("Done.")];
    let (model, setup, project) = world(answers, &[]).await;
    setup.configure(&(Setup::configuration(&model, Wire::Anthropic) + "[permissions]\nallow = [\"Shell\"]\n"));
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    let terminal = second.open_terminal(&session).await;
    assert_eq!(first.open_terminal(&session).await, terminal);
    first.prompt(&session, "Run it.").await;
    second.until_end(&session, StopReason::EndTurn).await;
    let shown = first.terminal_until(&terminal, "aonz\r\n").await;
    assert_eq!(second.terminal_until(&terminal, "aonz\r\n").await, shown);

    // The view goes on by itself, and its offsets too; the harness looks.
    first.kill().await;
    prompt_again(&second, &session, "Run the other.").await;
    second.until_end(&session, StopReason::EndTurn).await;
    second.terminal_until(&terminal, "atwz\r\n").await;
    second.close().await;
}

#[tokio::test]
async fn a_job_is_seen_typed_into_and_ended_in_either_window_and_is_over_when_its_host_is_killed() {
    let start = |command: &str| Answer::calls("shell_start", json!({ "command": command, "wait_seconds": 0 }));
    let command = "while read -r x; do echo got $x; done";
    let answers = [start(command), Answer::says("Done."), start(command), Answer::says("Done.")];
    let (model, setup, project) = world(answers, &[]).await;
    setup.configure(&(Setup::configuration(&model, Wire::Anthropic) + "[permissions]\nallow = [\"Shell\"]\n"));
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    first.event(&session, "its beginning").await;
    show(&second, &session).await;
    let follow = |window: &Window, job: &str| {
        window.request("azimuth/terminal/open", json!({ "sessionId": session, "terminalId": job }))
    };
    let type_in = |window: &Window, job: &str, text: &str| {
        let params = json!({ "sessionId": session, "terminalId": job, "data": BASE64_STANDARD.encode(text) });
        window.request("azimuth/terminal/write", params)
    };
    first.prompt(&session, "Start one.").await;
    let here = first.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(second.until_end(&session, StopReason::EndTurn).await, here);
    assert!(follow(&second, "job-2").await.is_err(), "there is none yet");
    for window in [&first, &second] {
        follow(window, "job-1").await.unwrap();
    }
    type_in(&second, "job-1", "this\n").await.unwrap();
    type_in(&first, "job-1", "that\n").await.unwrap();
    for window in [&first, &second] {
        let shown = window.terminal_until(&"job-1".into(), "got that\r\n").await;
        assert!(shown.contains("got this\r\n"), "{shown}");
    }
    let is_over = |event: &Event| matches!(event, Event::TerminalChanged { terminal } if !terminal.alive && terminal.kind == TerminalKind::Job);
    let listed = second.call::<methods::TerminalList>(json!({ "sessionId": session })).await.terminals;
    assert_eq!(listed.iter().map(|info| info.terminal_id.as_str()).collect::<Vec<_>>()[1..], ["job-1"]);
    second.call::<methods::TerminalKill>(json!({ "sessionId": session, "terminalId": "job-1" })).await;
    first.until(&session, "its end", is_over).await;
    second.until(&session, "its end", is_over).await;

    second.prompt(&session, "Start another.").await;
    second.until_end(&session, StopReason::EndTurn).await;
    follow(&second, "job-2").await.unwrap();
    type_in(&second, "job-2", "it\n").await.unwrap();
    second.terminal_until(&"job-2".into(), "got it\r\n").await;
    first.kill().await;
    let seen = second.until(&session, "its end", is_over).await;
    let ended = |event: &Event| matches!(event, Event::TerminalEnded { terminal_id, exit_code: None, .. } if terminal_id.as_str() == "job-2");
    assert!(seen.iter().any(ended), "{seen:?}");
    second.close().await;
}

#[tokio::test]
async fn when_the_host_is_killed_the_second_window_goes_on_and_nothing_is_lost() {
    let gate = Gate::default();
    let (_model, setup, project) = world(
        [edit("one", "1"), Answer::nothing().text("half ").wait(&gate), Answer::says("And on.")],
        &[("a.txt", "one\n")],
    )
    .await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    let mut seen = show(&second, &session).await.events;
    first.prompt(&session, "Write.").await;
    while !seen.last().is_some_and(|last| matches!(last.event, Event::MessageDelta { .. })) {
        seen.push(second.event(&session, "a word").await);
    }
    let proposals = pending(&second, &session).await;
    first.kill().await;

    // It takes the session over, and says what became of the turn.
    while !seen.last().is_some_and(|last| matches!(last.event, Event::TurnEnded { .. })) {
        seen.push(second.event(&session, "the turn's end").await);
    }
    let Some(Event::TurnEnded { stop_reason, .. }) = seen.last().map(|last| &last.event) else { unreachable!() };
    assert_eq!(*stop_reason, StopReason::Interrupted);
    assert_eq!(pending(&second, &session).await, proposals);
    second.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": [] })).await;
    while !matches!(
        seen.last().map(|last| &last.event),
        Some(Event::TurnEnded { stop_reason: StopReason::EndTurn, .. })
    ) {
        seen.push(second.event(&session, "the turn's end").await);
    }
    assert_eq!(log(&second, &session).await, seen, "what it saw is what there is, in order");
    accept(&second, &session, &proposals[0]).await;
    second.until(&session, "the edit", is_accepted).await;
    assert_eq!(project.read("a.txt"), "1\n");
    second.close().await;
}

#[tokio::test]
async fn of_three_windows_one_of_the_others_holds_the_session_when_the_first_is_closed() {
    let (_model, setup, project) =
        world([Answer::says("One."), Answer::says("Two."), Answer::says("Three."), Answer::says("Four.")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let third = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    show(&third, &session).await;
    third.prompt(&session, "One.").await;
    for window in [&first, &second, &third] {
        window.until_end(&session, StopReason::EndTurn).await;
    }
    first.close().await;
    prompt_again(&second, &session, "Two.").await;
    let there = third.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(second.until_end(&session, StopReason::EndTurn).await, there);
    third.prompt(&session, "Three.").await;
    let there = third.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(second.until_end(&session, StopReason::EndTurn).await, there);
    let kept = log(&second, &session).await;
    assert_eq!(kept, log(&third, &session).await);
    // Whichever of the two held it.
    second.kill().await;
    prompt_again(&third, &session, "Four.").await;
    third.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(log(&third, &session).await[..kept.len()], kept);
    third.close().await;
}

#[tokio::test]
async fn a_request_that_its_host_did_not_come_to_answer_says_to_try_again() {
    let (_model, setup, project) = world([], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    first.freeze();
    let rename = json!({ "sessionId": session, "title": "Ours" });
    let asked = [
        second.request("azimuth/session/rename", rename.clone()).boxed(),
        second.request("azimuth/session/open", json!({ "sessionId": session })).boxed(),
        second.request("azimuth/terminal/open", json!({ "sessionId": session })).boxed(),
        second.request("azimuth/session/delete", json!({ "sessionId": session })).boxed(),
    ];
    // This one the host need not be asked, so that it tells that those before it are on their way.
    second.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    first.kill().await;
    for answer in asked {
        let error = answer.await.unwrap_err();
        assert!(error.message.contains("try again"), "{error:?}");
    }
    second.request("azimuth/session/rename", rename).await.unwrap();
    let title = second.call::<methods::SessionList>(json!({})).await.sessions[0].title.clone();
    assert_eq!(title, "Ours");
    second.close().await;
}

#[tokio::test]
async fn after_a_crash_what_ran_is_said_to_be_over_and_what_it_printed_is_there() {
    let start = Answer::calls("shell_start", json!({ "command": "echo up; cat", "wait_seconds": 1 }));
    let run = Answer::calls("shell_run", json!({ "command": "echo begun; sleep 7004" }));
    let again = Answer::calls("shell_start", json!({ "command": "true", "wait_seconds": 30 }));
    let (model, setup, project) = world([start, run, again, Answer::says("Done.")], &[]).await;
    setup.configure(&(Setup::configuration(&model, Wire::Anthropic) + "[permissions]\nallow = [\"Shell\"]\n"));
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let session = window.new_session().await;
    let shell = window.open_terminal(&session).await;
    window.prompt(&session, "Go on.").await;
    window.terminal_until(&shell, "begun").await;
    let is_shell = |event: &Event| matches!(event, Event::TerminalChanged { terminal } if terminal.terminal_id == shell && terminal.running.is_some());
    window.until(&session, "the command", is_shell).await;
    window.kill().await;

    let window = Window::open(&setup, &project, Profile::panel()).await;
    let opened = show(&window, &session).await;
    let mut terminals = std::collections::HashMap::new();
    let mut running = std::collections::HashSet::new();
    for SequencedEvent { event, .. } in opened.events {
        match event {
            Event::TerminalChanged { terminal } => drop(terminals.insert(terminal.terminal_id.clone(), *terminal)),
            Event::TerminalStarted { tool_call_id, .. } => drop(running.insert(tool_call_id)),
            Event::TerminalEnded { tool_call_id, exit_code, .. } => {
                assert!(running.remove(&tool_call_id) && exit_code.is_none());
            }
            _ => {}
        }
    }
    assert!(running.is_empty(), "{running:?}");
    assert_eq!(terminals.len(), 2);
    assert!(terminals.values().all(|info| !info.alive && info.running.is_none()), "{terminals:?}");
    let params = json!({ "sessionId": session, "terminalId": "job-1" });
    let job = window.call::<methods::TerminalOpen>(params).await;
    assert!(!job.alive);
    window.terminal_until(&"job-1".into(), "up\r\n").await;
    // The name of one that was is not given again.
    window.prompt(&session, "Start another.").await;
    let events = window.until_end(&session, StopReason::EndTurn).await;
    let started =
        |event: &Event| matches!(event, Event::TerminalStarted { terminal_id, .. } if terminal_id.as_str() == "job-2");
    assert!(events.iter().any(started), "{events:?}");
    window.close().await;
}

#[tokio::test]
async fn a_session_that_another_version_holds_is_refused_with_words() {
    let (_model, setup, project) = world([], &[]).await;
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let session = window.new_session().await;
    // One that was not used would not be kept.
    let named = json!({ "sessionId": session, "title": "Mine" });
    window.request("azimuth/session/rename", named).await.unwrap();
    window.close().await;
    // This process holds it, and answers as an Azimuth that is none of ours.
    let store = SqliteStore::open(&setup.data_folder()).unwrap();
    let _lock = store.lock(&session).unwrap();
    let sockets = Sockets::new(setup.home().join("azimuth"), &setup.data_folder());
    let listener = sockets.listener();
    sockets.listen();
    let listener = listener.await.unwrap();
    let other = tokio::spawn(async move {
        let mut begun = [0; 16];
        let mut stream = listener.accept().await.unwrap();
        // One that only looks whether somebody listens says nothing.
        while stream.read_exact(&mut begun).await.is_err() {
            stream = listener.accept().await.unwrap();
        }
        let info = json!({ "capabilities": {}, "serverInfo": { "name": "azimuth", "version": "0.0.7" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "result": info }).to_string();
        stream.write_all(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
        // It says nothing more, but stays.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let error = window.request("azimuth/session/open", json!({ "sessionId": session })).await.unwrap_err();
    assert_eq!(error.code, -32014, "{error:?}");
    assert!(error.message.contains("0.0.7") && error.message.contains("open in another process"), "{error:?}");
    harness::patiently("the other's end", other).await.unwrap();
    window.close().await;
}

#[tokio::test]
async fn a_window_that_leaves_breaks_its_own_turn_off_and_that_of_no_other() {
    let (gate, other) = (Gate::default(), Gate::default());
    let waits = |gate: &Gate| Answer::nothing().text("half ").wait(gate).text("whole");
    let (_model, setup, project) = world([waits(&gate), waits(&other)], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    let speaks = |event: &Event| matches!(event, Event::MessageDelta { .. });
    second.prompt(&session, "Speak.").await;
    first.until(&session, "a word", speaks).await;
    second.close().await;
    first.until_end(&session, StopReason::Interrupted).await;

    let third = Window::open(&setup, &project, Profile::panel()).await;
    show(&third, &session).await;
    first.prompt(&session, "Speak.").await;
    first.until(&session, "a word", speaks).await;
    third.close().await;
    first.until_attached(0).await;
    // The host answers only after it has acted on everything that it has heard by now.
    show(&first, &session).await;
    other.open();
    first.until_end(&session, StopReason::EndTurn).await;
    first.close().await;
}

#[tokio::test]
async fn a_turn_goes_on_when_the_view_of_it_is_closed_in_an_attached_window() {
    let gate = Gate::default();
    let (_model, setup, project) = world([Answer::nothing().text("half ").wait(&gate).text("whole")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    second.prompt(&session, "Speak.").await;
    first.until(&session, "a word", |event| matches!(event, Event::MessageDelta { .. })).await;
    second.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    gate.open();
    first.until_end(&session, StopReason::EndTurn).await;
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn what_stands_beside_new_is_worked_on_though_the_conversation_before_is_closed() {
    let gate = Gate::default();
    let (model, setup, project) = world([Answer::nothing().text("half ").wait(&gate).text("whole")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    let prompt = json!([{ "type": "text", "text": "/new Say it." }]);
    let started = second.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    let next = started.switch_to.unwrap();
    assert_eq!(started.turn_id, None);
    // As the panel does it.
    show(&second, &next).await;
    second.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    first.until_attached(1).await;
    // The host answers only after it has acted on everything that it has heard by now.
    show(&first, &next).await;
    gate.open();
    second.until_end(&next, StopReason::EndTurn).await;
    let asked = model.asked()[0].user_text();
    assert!(asked.contains("Say it.") && !asked.contains('/'), "{asked}");
    first.waive("azimuth/event");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn what_stands_beside_new_is_worked_on_though_no_view_shows_it() {
    let gate = Gate::default();
    let (_model, setup, project) = world([Answer::nothing().text("half ").wait(&gate).text("whole")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    let prompt = json!([{ "type": "text", "text": "/new Say it." }]);
    let started = second.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    second.call::<methods::SessionClose>(json!({ "sessionId": session })).await;
    first.until_attached(1).await;
    let next = started.switch_to.unwrap();
    show(&first, &next).await;
    gate.open();
    first.until_end(&next, StopReason::EndTurn).await;
    first.waive("azimuth/event");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_prompt_beside_a_command_that_leads_nowhere_is_worked_on_where_it_was_sent() {
    let (model, setup, project) = world([Answer::says("Yes.")], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    show(&second, &session).await;
    second.prompt(&session, "/resume nothing Say it.").await;
    let events = second.until_end(&session, StopReason::EndTurn).await;
    let failed = |event: &Event| matches!(event, Event::CommandExecuted { is_error: true, .. });
    assert_eq!(events.iter().filter(|event| failed(event)).count(), 1, "{events:?}");
    let asked = model.asked()[0].user_text();
    assert!(asked.contains("Say it.") && !asked.contains('/'), "{asked}");
    first.waive("azimuth/event");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_text_that_an_attached_window_does_not_know_any_more_is_not_believed() {
    let answers = [Answer::calls("read_file", json!({ "path": "a.txt" })), Answer::says("Done.")];
    let (model, setup, project) = world(answers, &[("a.txt", "on disk\n")]).await;
    let uri = project.uri("a.txt");
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    second.open_with(&uri, "typed\n");
    show(&second, &session).await;
    // A change that does not fit: that version is over.
    let document = json!({ "uri": uri, "version": 0 });
    second.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [] }));
    second.prompt(&session, "Read it.").await;
    second.until_end(&session, StopReason::EndTurn).await;
    let read = model.asked()[1].last_results().join("\n");
    assert!(!read.contains("typed") && read.contains("open"), "{read}");
    first.waive("azimuth/event");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_session_is_renamed_and_deleted_from_an_attached_window() {
    let (_model, setup, project) = world([], &[]).await;
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let session = first.new_session().await;
    first.event(&session, "its beginning").await;
    second.call::<methods::SessionRename>(json!({ "sessionId": session, "title": "Ours" })).await;
    let named = Event::TitleChanged { title: "Ours".into() };
    first.until(&session, "the name", |event| *event == named).await;
    second.call::<methods::SessionDelete>(json!({ "sessionId": session })).await;
    for window in [&first, &second] {
        let error = window.request("azimuth/session/open", json!({ "sessionId": session })).await.unwrap_err();
        assert_eq!(error.code, -32010, "{error:?}");
        assert!(window.call::<methods::SessionList>(json!({})).await.sessions.is_empty());
    }
    first.close().await;
    second.close().await;
}

#[tokio::test]
async fn an_attached_editor_without_a_panel_shows_the_hunks_beside_its_text() {
    let (_model, setup, project) = world([edit("one", "1"), Answer::says("Done.")], &[("a.txt", "one\n")]).await;
    let uri = project.uri("a.txt");
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::plain()).await;
    let session = first.new_session().await;
    second.open(&uri);
    show(&second, &session).await;
    first.prompt(&session, "Write a number.").await;
    first.until_end(&session, StopReason::EndTurn).await;
    let shown: serde_json::Value = second.notification("textDocument/publishDiagnostics").await;
    assert_eq!((&shown["uri"], shown["diagnostics"].as_array().map(Vec::len)), (&json!(uri), Some(1)), "{shown}");
    let proposals = pending(&first, &session).await;
    accept(&first, &session, &proposals[0]).await;
    let shown: serde_json::Value = second.notification("textDocument/publishDiagnostics").await;
    assert_eq!(shown["diagnostics"], json!([]));
    second.waive("textDocument/publishDiagnostics");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn who_does_not_know_the_key_of_the_data_folder_is_not_heard_at_the_socket() {
    let (_model, setup, project) = world([], &[]).await;
    let window = Window::open(&setup, &project, Profile::panel()).await;
    let session = window.new_session().await;
    let folder = setup.home().join("azimuth");
    let socket = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let ask =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "capabilities": {} } }).to_string();
    let ask = format!("Content-Length: {}\r\n\r\n{ask}", ask.len());
    // One that asks at once, and one that says something of the length of what is to be said first.
    for before in [Vec::new(), vec![b'a'; 96], vec![0; 96], vec![b'\n'; 4096]] {
        let mut stream = tokio::net::UnixStream::connect(&socket).await.unwrap();
        stream.write_all(&[before.as_slice(), ask.as_bytes()].concat()).await.unwrap();
        let mut heard = Vec::new();
        // The server may end the connection with what was not read of it.
        let _ = harness::patiently("the end of the connection", stream.read_to_end(&mut heard)).await;
        let heard = String::from_utf8_lossy(&heard);
        assert!(!heard.contains("jsonrpc") && !heard.contains("Content-Length"), "{heard}");
    }
    // One with the key is heard, also after that.
    let second = Window::open(&setup, &project, Profile::panel()).await;
    show(&second, &session).await;
    second.close().await;
    window.close().await;
}
