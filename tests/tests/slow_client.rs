//! A client that reads nothing for a while, on the real program: nothing is lost, and nothing piles up in the server.

#![expect(clippy::disallowed_methods, reason = "a test starts the program itself")]

use std::process::Stdio;
use std::time::Duration;

use harness::model::Said;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TerminalId};
use serde_json::json;
use tokio::process::{Child, Command};

/// For how long nothing is read. It is the time itself that is tested, deadlines of the server's included, so this is
/// the one thing here that a test may wait for.
const SILENCE: Duration = Duration::from_secs(10);
/// The model goes on saying something until the end of it, in so many parts of so many pieces.
const PARTS: usize = 20;
const PIECES: usize = 200;
/// So many sessions print so many lines each, 9 MB together. A terminal keeps its last 4 MiB at least.
const SESSIONS: usize = 4;
const LINES: usize = 300_000;
/// How much more memory the server may keep for all that, in KiB. It takes 6,000 (of a debug build), however many lines
/// there are: the last 256 KiB of each terminal, and what reading a long output takes. The output alone, queued as
/// messages, would be 12,000 more.
const MEMORY: u64 = 10_000;

/// So many bytes a flood has at least, and so many are sent to a client that does not say how far it has come.
const FLOOD: u64 = 80_000_000;
const WINDOW: u64 = 256 << 10;
/// It has long lines, since this is a debug build that is slow with many.
const LINE: &str =
    "a-line-that-comes-again-and-again-and-again-and-again-and-again-and-again-and-again-and-again-and-again";

struct Work {
    session: SessionId,
    terminal: TerminalId,
}

#[tokio::test]
async fn ten_seconds_without_reading_lose_nothing_and_pile_nothing_up() {
    let gates: Vec<_> = (0..PARTS).map(|_| Gate::default()).collect();
    let waits = gates.clone();
    let model = ModelServer::responding(move |asked| {
        match asked.said().last() {
            Some(Said::User(text)) if text.contains("Warm up") => return shell("true"),
            Some(Said::User(_)) => return shell(&format!("seq {LINES}")),
            _ if !asked.user_text().contains("Print") => return Answer::says("I am warm."),
            _ => {}
        }
        let parts = waits.iter().enumerate();
        parts.fold(Answer::nothing(), |answer, (part, gate)| answer.text(&words(part)).wait(gate)).text("The end.")
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let project = Project::new([]);
    // Memory that is freed goes back to the system at once. Otherwise it is kept in each thread's arena, the more the
    // busier the machine is, and would count as the server's.
    let allocator =
        [("MALLOC_ARENA_MAX", "1"), ("MALLOC_MMAP_THRESHOLD_", "16384"), ("MALLOC_TRIM_THRESHOLD_", "16384")];
    let mut child = program(&setup).envs(allocator).spawn().unwrap();
    let pid = child.id().expect("a process");
    let mut client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize(Some(project.folder()), Profile::panel(), json!({ "processId": null })).await;
    let mut works = Vec::new();
    for number in 0..SESSIONS {
        let session = client.new_session().await;
        let terminal = client.open_terminal(&session).await;
        // Everything that is made at first use is there already: the shell, the way to the model.
        client.prompt(&session, &format!("Warm up, number {number}.")).await;
        client.until_end(&session, StopReason::EndTurn).await;
        works.push(Work { session, terminal });
    }
    let before = memory(pid);

    // The answers to these are still read, or not; either way they were sent.
    let prompts: Vec<_> = works
        .iter()
        .enumerate()
        .map(|(number, work)| {
            let prompt = json!([{ "type": "text", "text": format!("Print, number {number}.") }]);
            client.request("azimuth/turn/start", json!({ "sessionId": work.session, "prompt": prompt }))
        })
        .collect();
    let paused = client.pause_reading();
    for gate in &gates {
        tokio::time::sleep(SILENCE / PARTS as u32).await;
        gate.open();
    }
    // All commands are done by now: each session has asked the model a second time.
    model.asked_times(4 * SESSIONS).await;
    let listed = client.request("azimuth/session/list", json!({}));
    // The memory of queued messages stays while nobody reads; that of reading the output on a busy machine goes.
    let mut grown = memory(pid).saturating_sub(before);
    for _ in 0..50 {
        if grown < MEMORY {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        grown = memory(pid).saturating_sub(before);
    }
    drop(paused);

    listed.await.unwrap();
    for prompt in prompts {
        prompt.await.unwrap();
    }
    let expected = (0..PARTS).map(words).collect::<String>() + "The end.";
    for work in &works {
        let events = client.until_end(&work.session, StopReason::EndTurn).await;
        let text: String = events
            .iter()
            .filter_map(|event| match event {
                Event::MessageDelta { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, expected);
        let shown = client.terminal_until(&work.terminal, &format!("\n{LINES}\r\n")).await;
        let mut numbers = shown.lines().filter_map(|line| line.parse::<usize>().ok());
        assert!((1..=LINES).all(|line| numbers.next() == Some(line)), "lines are missing");
    }
    assert!(grown < MEMORY, "the server grew by {grown} KiB while nobody read");
    client.request("shutdown", serde_json::Value::Null).await.unwrap();
    client.notify("exit", serde_json::Value::Null);
    let status = harness::patiently("the program's end", child.wait()).await.unwrap();
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn a_view_that_is_slow_to_show_a_flood_of_output_delays_nothing_and_ends_with_its_last_bytes() {
    let model = ModelServer::responding(|asked| match asked.said().last() {
        Some(Said::User(text)) if text.contains("Flood") => {
            shell(&format!("yes {LINE} | head -c {FLOOD}; echo The flood is over."))
        }
        Some(Said::User(text)) if text.contains("Greet") => shell("echo hello"),
        Some(Said::User(_)) => shell("true"),
        _ => Answer::says("Done."),
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let project = Project::new([]);
    let mut child = start(&setup);
    let pid = child.id().expect("a process");
    let mut client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize(Some(project.folder()), Profile::panel(), json!({ "processId": null })).await;
    let (session, other) = (client.new_session().await, client.new_session().await);
    for (session, prompt) in [(&session, "Warm up."), (&other, "Warm up as well.")] {
        client.prompt(session, prompt).await;
        client.until_end(session, StopReason::EndTurn).await;
    }
    let before = memory(pid);
    let (slow, quick) = (client.open_terminal_slowly(&session).await, client.open_terminal(&other).await);
    client.prompt(&session, "Flood.").await;

    // It gets so much and no more, and what else happens is told at once: in the other session, and in this one.
    client.terminal_until(&slow, LINE).await;
    client.prompt(&other, "Greet.").await;
    client.terminal_until(&quick, "hello\r\n").await;
    client.until_end(&other, StopReason::EndTurn).await;
    client.until_end(&session, StopReason::EndTurn).await;
    let (got, end) = client.terminal_got(&slow);
    assert!(end <= WINDOW, "{end} bytes were sent ahead of the client");
    let grown = memory(pid).saturating_sub(before);
    assert!(grown < 20_000, "the server grew by {grown} KiB");

    // As it goes on, the older bytes are gone, and it comes to the end. The terminal puts a return before each line's
    // end.
    let printed = FLOOD + FLOOD / (LINE.len() as u64 + 1);
    let all = harness::patiently("the last bytes", async {
        loop {
            client.acknowledge(&session, &slow).await;
            let (_, end) = client.terminal_got(&slow);
            if end >= printed {
                return client.terminal_until(&slow, "The flood is over.\r\n").await;
            }
        }
    })
    .await;
    assert!(all.len() > got && (all.len() as u64) < 9 << 20, "{} bytes were shown", all.len());
    drop(client);
    drop(child);
}

#[tokio::test]
async fn a_command_that_prints_without_end_keeps_no_other_session_waiting() {
    let model = ModelServer::responding(|asked| match asked.said().last() {
        Some(Said::User(text)) if text.contains("Flood") => shell("yes"),
        Some(Said::User(_)) => shell("echo hello"),
        _ => Answer::says("Done."),
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
    let project = Project::new([]);
    let mut child = start(&setup);
    let mut client = Client::over(child.stdout.take().unwrap(), child.stdin.take().unwrap());
    client.initialize(Some(project.folder()), Profile::panel(), json!({ "processId": null })).await;
    let (flooded, other) = (client.new_session().await, client.new_session().await);
    let (flood, quick) = (client.open_terminal(&flooded).await, client.open_terminal(&other).await);
    client.prompt(&flooded, "Flood.").await;
    client.terminal_until(&flood, "y\r\n").await;
    for _ in 0..3 {
        client.prompt(&other, "Greet.").await;
        client.until_end(&other, StopReason::EndTurn).await;
    }
    client.terminal_until(&quick, "hello\r\nhello\r\nhello\r\n").await;
    let (got, _) = client.terminal_got(&flood);
    client.call::<protocol::methods::TerminalKill>(json!({ "sessionId": flooded, "terminalId": flood })).await;
    client.until_end(&flooded, StopReason::EndTurn).await;
    assert!(client.terminal_got(&flood).0 > got, "the flood was shown all the time");
    drop(client);
    drop(child);
}

fn shell(command: &str) -> Answer {
    Answer::calls("shell_run", json!({ "command": command }))
}

fn words(part: usize) -> String {
    (0..PIECES).map(|piece| format!("piece {piece} of part {part}, ")).collect()
}

/// The program, with the user's folder of a setup. It is killed with the test.
fn start(setup: &Setup) -> Child {
    program(setup).spawn().unwrap()
}

fn program(setup: &Setup) -> Command {
    let mut program = Command::new(harness::binary());
    program
        .arg("lsp")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("AZIMUTH_DATA_DIR", setup.data_folder())
        .env("AZIMUTH_CONFIG", setup.config_file())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    program
}

/// The memory of a process that is its own, in KiB.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("RssAnon");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
