//! Real programs in the session's terminal: each ends as a user expects, and nothing of it is left.

#![expect(clippy::disallowed_methods, reason = "the tests look at /proc and at what was kept")]

use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::model::Said;
use harness::process::Process;
use harness::vendor::{Instant as Vendored, Vendor};
use harness::{Answer, Client, ModelServer, PATIENCE, Profile, Project, Setup, Wire};
use protocol::terminal::{TerminalInfo, Waiting};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TerminalId, methods};
use serde_json::{Value, json};

/// A user at a session's terminal, and an agent that runs what it is told to.
pub struct Desk {
    pub model: ModelServer,
    pub setup: Setup,
    pub project: Project,
    pub client: Client,
    pub session: SessionId,
    pub terminal: TerminalId,
}

impl Desk {
    /// The agent runs as a command what the user's prompt says behind `run: `, and then ends its turn.
    pub async fn new() -> Self {
        let model = ModelServer::responding(|asked| match asked.said().last() {
            Some(Said::User(text)) => match text.rsplit_once("run: ") {
                Some((_, command)) => Answer::calls("shell_run", json!({ "command": command })),
                None => Answer::says("Hello."),
            },
            _ => Answer::says("Done."),
        })
        .await;
        let setup = Setup::empty();
        setup.configure(&(Setup::configuration(&model, Wire::Chat) + "[permissions]\nallow = [\"Shell\"]\n"));
        let project = Project::new([]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        // The text that was typed last is recorded in its own time.
        client.waive("azimuth/event");
        let session = client.new_session().await;
        let terminal = client.open_terminal(&session).await;
        Self { model, setup, project, client, session, terminal }
    }

    /// Has the agent run a command.
    pub async fn begin(&self, command: &str) {
        self.client.prompt(&self.session, &format!("run: {command}")).await;
    }

    /// Has the agent run a command, waits for the end of its turn and gives what the model read of it.
    pub async fn run(&self, command: &str) -> String {
        self.begin(command).await;
        self.turn_ended().await
    }

    /// Waits for the turn's end and gives what the model read last.
    pub async fn turn_ended(&self) -> String {
        self.client.until_end(&self.session, StopReason::EndTurn).await;
        let asked = self.model.asked();
        asked.last().unwrap().last_results().first().map(|result| (*result).to_owned()).unwrap_or_default()
    }

    pub async fn type_in(&self, text: &str) {
        let data = BASE64_STANDARD.encode(text);
        let params = json!({ "sessionId": self.session, "terminalId": self.terminal, "data": data });
        self.client.call::<methods::TerminalWrite>(params).await;
    }

    pub async fn take(&self, taken: bool) {
        let params = json!({ "sessionId": self.session, "terminalId": self.terminal, "taken": taken });
        self.client.call::<methods::TerminalTake>(params).await;
    }

    /// Waits until the terminal shows a text.
    pub async fn shows(&self, text: &str) -> String {
        self.client.terminal_until(&self.terminal, text).await
    }

    /// Waits until the terminal is as wanted.
    pub async fn until(&self, what: &str, fits: impl Fn(&TerminalInfo) -> bool) -> TerminalInfo {
        let is = |event: &Event| matches!(event, Event::TerminalChanged { terminal } if fits(terminal));
        match self.client.until(&self.session, what, is).await.pop() {
            Some(Event::TerminalChanged { terminal }) => *terminal,
            other => panic!("{other:?}"),
        }
    }

    pub async fn until_it_waits(&self) -> Waiting {
        self.until("a command that waits", |terminal| terminal.waiting.is_some()).await.waiting.unwrap()
    }

    /// Waits until the command has ended, and gives its exit code.
    pub async fn command_ended(&self) -> Option<i32> {
        let is = |event: &Event| matches!(event, Event::TerminalEnded { .. });
        match self.client.until(&self.session, "the command's end", is).await.pop() {
            Some(Event::TerminalEnded { exit_code, .. }) => exit_code,
            other => panic!("{other:?}"),
        }
    }

    /// Ends the server; nothing that was started may be left.
    pub async fn finish(self) {
        assert_eq!(self.client.finish().await, 0);
        let left = left_behind(&self.project);
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

/// The command lines of processes that were started in a project and still live.
fn left_behind(project: &Project) -> Vec<String> {
    let folder = project.folder().to_str().unwrap().as_bytes();
    let mut left = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        if pid == std::process::id() {
            continue;
        }
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environment.windows(folder.len()).any(|window| window == folder) {
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            left.push(format!("{pid} {}", String::from_utf8_lossy(&line).replace('\0', " ")));
        }
    }
    left
}

/// True if a program is there; where it is not, the test says so and passes.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if !found {
        harness::not_tried(&format!("there is no {program}"));
    }
    found
}

#[tokio::test]
async fn a_question_of_read_is_answered() {
    let desk = Desk::new().await;
    desk.begin("read -p 'name? ' name; echo \"hello $name\"").await;
    let waiting = desk.until_it_waits().await;
    assert_eq!((waiting.prompt.as_str(), waiting.hidden), ("name? ", false));
    desk.type_in("Ada\r").await;
    assert_eq!(desk.command_ended().await, Some(0));
    desk.shows("hello Ada").await;
    desk.turn_ended().await;
    desk.finish().await;
}

#[tokio::test]
async fn python_is_talked_to() {
    if !has("python3") {
        return;
    }
    let desk = Desk::new().await;
    desk.begin("python3 -q -i -c ''").await;
    desk.shows(">>> ").await;
    desk.type_in("print(6*7)\r").await;
    desk.shows("42").await;
    desk.type_in("exit(3)\r").await;
    assert_eq!(desk.command_ended().await, Some(3));
    desk.turn_ended().await;
    desk.finish().await;
}

#[tokio::test]
async fn a_key_is_made_with_a_passphrase_that_is_kept_nowhere() {
    if !has("ssh-keygen") {
        return;
    }
    let desk = Desk::new().await;
    desk.begin("ssh-keygen -q -t ed25519 -f key").await;
    for _ in 0..2 {
        let waiting = desk.until("a passphrase", |it| it.waiting.as_ref().is_some_and(|waiting| waiting.hidden)).await;
        assert!(waiting.waiting.unwrap().prompt.contains("passphrase"));
        desk.type_in("correct-horse-battery\r").await;
    }
    assert_eq!(desk.command_ended().await, Some(0));
    desk.turn_ended().await;
    assert!(desk.project.read("key").contains("OPENSSH PRIVATE KEY"));
    nowhere(&desk, "correct-horse");
    desk.finish().await;
}

/// Sees to it that a text is in nothing that is kept or was sent: no file of the user's data, no request to the model,
/// no terminal output.
pub fn nowhere(desk: &Desk, secret: &str) {
    let mut folders = vec![desk.setup.home().to_owned()];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
                assert!(!found, "it is in {}", entry.path().display());
                files += 1;
            }
        }
    }
    assert!(files > 2, "the data was looked at");
    for asked in desk.model.asked() {
        assert!(!asked.body().to_string().contains(secret), "it was sent to the model");
    }
}

#[tokio::test]
async fn a_pager_is_left_with_its_key() {
    if !has("less") {
        return;
    }
    let desk = Desk::new().await;
    desk.begin("seq 1000 >numbers; less numbers").await;
    let waiting = desk.until_it_waits().await;
    assert!(!waiting.hidden);
    desk.type_in(" ").await;
    desk.shows("50").await;
    desk.type_in("q").await;
    assert_eq!(desk.command_ended().await, Some(0));
    desk.turn_ended().await;
    assert!(desk.run("echo on").await.starts_with("on\n"));
    desk.finish().await;
}

#[tokio::test]
async fn a_file_is_written_in_vim() {
    if !has("vim") {
        return;
    }
    let desk = Desk::new().await;
    desk.begin("vim -u NONE -N note.txt").await;
    desk.shows("note.txt").await;
    assert!(!desk.until_it_waits().await.hidden);
    desk.type_in("ihello from vim\x1b").await;
    desk.type_in(":wq\r").await;
    assert_eq!(desk.command_ended().await, Some(0));
    desk.turn_ended().await;
    assert_eq!(desk.project.read("note.txt"), "hello from vim\n");
    desk.finish().await;
}

#[tokio::test]
async fn a_progress_bar_is_what_it_was_last() {
    let desk = Desk::new().await;
    let heard = desk.run("for i in $(seq 1 100); do printf '\\rprogress %d %%' $i; done; echo; echo done").await;
    assert!(heard.starts_with("progress 100 %\ndone\n"), "{heard}");
    desk.finish().await;
}

#[tokio::test]
async fn output_that_is_no_text_does_no_harm() {
    let desk = Desk::new().await;
    let heard = desk.run("head -c 100000 /dev/urandom; echo; printf 'a\\377b\\n'; echo done").await;
    assert!(heard.contains("a\u{fffd}b\ndone\n"), "{} bytes", heard.len());
    assert!(!heard.bytes().any(|byte| byte < 0x20 && byte != b'\n' && byte != b'\t'), "control bytes are left");
    assert!(desk.run("echo on").await.starts_with("on\n"));
    desk.finish().await;
}

#[tokio::test]
async fn two_hundred_sleeping_children_end_with_the_session() {
    let desk = Desk::new().await;
    let heard = desk.run("for i in $(seq 200); do sleep 1000 & done; jobs -r | wc -l").await;
    assert!(heard.contains("200\n"), "{heard}");
    assert!(left_behind(&desk.project).len() >= 200);
    desk.finish().await;
}

#[tokio::test]
async fn a_daemon_that_forks_twice_ends_with_the_session() {
    let desk = Desk::new().await;
    let heard = desk.run("(setsid sh -c 'cd /; sleep 1000 >/dev/null 2>&1 </dev/null &' &); sleep 0.2; echo off").await;
    assert!(heard.contains("off\n"), "{heard}");
    assert!(!left_behind(&desk.project).is_empty());
    desk.finish().await;
}

#[tokio::test]
async fn what_nobody_reads_any_longer_ends() {
    let desk = Desk::new().await;
    let heard = desk.run("yes | head -n 3; echo ${PIPESTATUS[1]}").await;
    assert!(heard.starts_with("y\ny\ny\n0\n"), "{heard}");
    desk.finish().await;
}

#[tokio::test]
async fn jobs_are_stopped_listed_and_gone_on_with() {
    let desk = Desk::new().await;
    desk.begin("sh -c 'echo begun; exec sleep 1000'").await;
    desk.shows("begun\r\n").await;
    desk.type_in("\x1a").await;
    let heard = desk.turn_ended().await;
    assert!(heard.contains("Stopped") && heard.contains("exit code 148"), "{heard}");
    let heard = desk.run("sleep 1001 & jobs").await;
    assert!(heard.contains("Stopped") && heard.contains("Running"), "{heard}");
    desk.begin("echo forward; fg %1").await;
    desk.shows("forward\r\n").await;
    desk.type_in("\x03").await;
    let heard = desk.turn_ended().await;
    assert!(heard.contains("exit code 130"), "{heard}");
    assert!(desk.run("jobs").await.starts_with("[2]"));
    desk.finish().await;
}

#[tokio::test]
async fn folder_and_variables_stay_until_the_shell_leaves() {
    let desk = Desk::new().await;
    desk.run("mkdir sub; cd sub; export WORD=kept").await;
    let heard = desk.run("basename \"$PWD\"; echo $WORD").await;
    assert!(heard.starts_with("sub\nkept\n"), "{heard}");
    let heard = desk.run("exit 3").await;
    assert!(heard.contains("exit code 3") && heard.contains("The shell ended too"), "{heard}");
    let heard = desk.run("basename \"$PWD\"; echo \"[$WORD]\"; stty size").await;
    assert!(heard.contains("\n[]\n30 120\n"), "{heard}");
    let size = json!({ "columns": 61, "rows": 17 });
    let params = json!({ "sessionId": desk.session, "terminalId": desk.terminal, "size": size });
    desk.client.call::<methods::TerminalResize>(params).await;
    assert!(desk.run("stty size").await.starts_with("17 61\n"));
    desk.finish().await;
}

#[test]
fn memory_stays_bounded_while_two_hundred_megabytes_pass_and_the_ends_are_read() {
    const COMMAND: &str = "echo first; yes 'all work and no play' | head -c 200000000; echo; echo last";
    let call = Vendored::Call { tool: "shell_run", input: json!({ "command": COMMAND, "timeout_seconds": 600 }) };
    let vendor = Vendor::by_progress(vec![call, Vendored::Text { pieces: 3 }]);
    let (home, project) = (tempfile::tempdir().unwrap(), Project::new([]));
    std::fs::write(home.path().join("no-config.toml"), "[permissions]\nallow = [\"Shell\"]\n").unwrap();
    let mut server = Process::start(harness::binary(), home.path(), project.folder(), &vendor.url());
    let session = server.session();
    let before = server.memory();
    let prompt = json!([{ "type": "text", "text": "Go." }]);
    server.request("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
    let (mut most, began) = (before, Instant::now());
    let is = |event: &Value, kind: &str| event["event"]["type"] == kind;
    while !server.events.iter().any(|event| is(event, "turnEnded")) {
        // By what it has worked, and not by how long it had to wait for a processor.
        assert!(server.cpu() < 4 * PATIENCE && began.elapsed() < 9 * PATIENCE, "it does not end");
        server.listen(Duration::from_millis(50));
        most = most.max(server.memory());
    }
    assert!(most - before < 20.0, "{:.1} MiB more", most - before);
    let ended = server.events.iter().find(|event| is(event, "toolCallEnded")).unwrap();
    let heard = ended["event"]["result"]["text"].as_str().unwrap();
    assert!(heard.starts_with("first\n") && heard.contains("\nlast\n"), "{} bytes", heard.len());
    assert!(heard.len() < 40_000, "{} bytes", heard.len());
    server.kill();
    let killed = Instant::now();
    while !left_behind(&project).is_empty() {
        assert!(killed.elapsed() < 5 * PATIENCE, "{:?}", left_behind(&project));
        std::thread::sleep(Duration::from_millis(20));
    }
}
