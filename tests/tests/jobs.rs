//! Commands in the background as a user has them: a server that is up while other things go on, seen, typed into,
//! stopped, and gone with the session.

#![expect(clippy::disallowed_methods, reason = "/proc is no project file")]

use std::net::TcpStream;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, patiently};
use protocol::terminal::{TerminalInfo, TerminalKind, TerminalOpenResult};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TerminalId, methods};
use serde_json::{Value, json};

/// A user who allows every command, and an agent that does in each turn what the test says.
struct World {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new() -> Self {
        Self::allowing("[\"Shell\", \"Type\"]").await
    }

    async fn allowing(rules: &str) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let permissions = format!("[permissions]\nallow = {rules}\n");
        setup.configure(&(Setup::configuration(&model, Wire::Chat) + &permissions));
        let project = Project::new([("index.html", "hello from python\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { model, _setup: setup, project, client, session }
    }

    /// Begins a turn in which the agent calls a tool.
    async fn begin(&self, tool: &str, input: Value) {
        self.model.then(Answer::calls(tool, input));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
    }

    /// The rest of a turn; gives what happened in it and what the agent was told.
    async fn rest(&self) -> (Vec<Event>, String) {
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let told = events.iter().find_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
            _ => None,
        });
        (events, told.unwrap_or_default())
    }

    async fn turn(&self, tool: &str, input: Value) -> (Vec<Event>, String) {
        self.begin(tool, input).await;
        self.rest().await
    }

    /// Starts a job, and sees to it that it was seen to wait for input.
    async fn starts_and_waits(&self, job: &str, command: &str) {
        let (_, mut told) = self.turn("shell_start", json!({ "command": command, "wait_seconds": 1 })).await;
        for _ in 0..100 {
            if told.contains("waits for input") {
                return;
            }
            (_, told) = self.turn("shell_read", json!({ "terminal": job, "wait_seconds": 1 })).await;
        }
        panic!("{told}");
    }

    fn params(&self, terminal: &str, more: Value) -> Value {
        let mut params = json!({ "sessionId": self.session, "terminalId": terminal });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    }

    async fn open(&self, terminal: &str, more: Value) -> TerminalOpenResult {
        self.client.call::<methods::TerminalOpen>(self.params(terminal, more)).await
    }

    async fn type_in(&self, terminal: &str, text: &str) {
        let data = json!({ "data": BASE64_STANDARD.encode(text) });
        self.client.call::<methods::TerminalWrite>(self.params(terminal, data)).await;
    }

    async fn list(&self) -> Vec<TerminalInfo> {
        self.client.call::<methods::TerminalList>(json!({ "sessionId": self.session })).await.terminals
    }

    /// Closes the editor. That its jobs end then is said too, and does not matter.
    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(patiently("the end of all", self.client.finish()).await, 0);
    }

    async fn until_changed(&self, what: &str, fits: impl Fn(&TerminalInfo) -> bool) -> TerminalInfo {
        let events = self
            .client
            .until(&self.session, what, |event| matches!(event, Event::TerminalChanged { terminal } if fits(terminal)))
            .await;
        let Some(Event::TerminalChanged { terminal }) = events.last() else { unreachable!() };
        (**terminal).clone()
    }
}

/// How a terminal was last said to be.
fn last(events: &[Event], terminal: &str) -> TerminalInfo {
    let mut of_it = events.iter().filter_map(|event| match event {
        Event::TerminalChanged { terminal: info } if info.terminal_id.as_str() == terminal => Some((**info).clone()),
        _ => None,
    });
    of_it.next_back().unwrap_or_else(|| panic!("nothing is said of {terminal}: {events:?}"))
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_server_is_started_found_to_be_up_asked_from_the_shell_and_ended() {
    const NODE: &str = "node -e 'require(\"http\").createServer((q, s) => s.end(\"hello from node\\n\")).listen(0, \"127.0.0.1\", \
                        function () { console.log(\"Listening on port \" + this.address().port) })'";
    let world = World::new().await;
    for (name, command, hello) in [
        ("job-1", "python3 -um http.server --bind 127.0.0.1 0", "hello from python"),
        ("job-2", NODE, "hello from node"),
    ] {
        let (events, told) = world.turn("shell_start", json!({ "command": command, "wait_seconds": 60 })).await;
        if name == "job-2" && told.contains("not found") {
            harness::not_tried("a server of Node's in the background: there is no node");
            continue;
        }
        let is_up = |info: &TerminalInfo| {
            let ready = info.ready.as_ref();
            info.terminal_id.as_str() == name && ready.is_some_and(|it| it.line.is_some() && !it.ports.is_empty())
        };
        let info = match last(&events, name) {
            info if is_up(&info) => info,
            _ => world.until_changed("its line and its port", is_up).await,
        };
        assert_eq!((info.kind, info.alive, info.title.as_str()), (TerminalKind::Job, true, command));
        assert_eq!(info.running.as_ref().map(|running| running.command.as_str()), Some(command));
        let ready = info.ready.unwrap();
        let [port] = ready.ports.as_slice() else { panic!("{ready:?}") };
        assert!(ready.line.is_some_and(|line| line.contains(&port.to_string())), "its line says the port");
        assert!(told.contains(&format!("{name} runs; it said")) && told.contains(&format!("port {port}")), "{told}");

        let curl = format!("curl -sS http://127.0.0.1:{port}/");
        let (_, fetched) = world.turn("shell_run", json!({ "command": curl })).await;
        assert!(fetched.starts_with(&format!("{hello}\n")), "{fetched}");
        let listed = world.list().await;
        let of_it = listed.iter().find(|info| info.terminal_id.as_str() == name).unwrap();
        assert_eq!((of_it.alive, of_it.ready.as_ref().map(|ready| ready.ports.len())), (true, Some(1)));
        assert_eq!(listed[0].kind, TerminalKind::Shell);

        let (events, told) = world.turn("shell_kill", json!({ "terminal": name })).await;
        assert!(told.ends_with(&format!("[{name} was stopped]")), "{told}");
        let info = last(&events, name);
        assert!(!info.alive && info.running.is_none() && info.exit_code.is_none() && info.ended_at.is_some());
        assert!(TcpStream::connect(("127.0.0.1", *port)).is_err(), "nobody listens any more");
    }
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn a_job_that_ends_by_itself_says_how_and_what_it_printed_stays() {
    let world = World::new().await;
    let command = "echo the first; read -r x; echo the second; sh -c 'exit 3'";
    let (_, told) = world.turn("shell_start", json!({ "command": command, "wait_seconds": 0 })).await;
    assert!(told.contains("[job-1 runs]"), "{told}");
    // The terminal shows what is typed, so that comes after the first line only if it is typed after it.
    let first = async {
        while !world.turn("shell_read", json!({ "terminal": "job-1", "since": 0 })).await.1.contains("the first") {}
    };
    patiently("the first line", first).await;
    world.type_in("job-1", "\n").await;
    let ended = world.until_changed("its end", |info| !info.alive).await;
    assert_eq!((ended.exit_code, ended.terminal_id.as_str()), (Some(3), "job-1"));
    let (_, told) = world.turn("shell_read", json!({ "terminal": "job-1" })).await;
    assert!(told.contains("the second\n[job-1 ended with exit code 3; next offset "), "{told}");
    let (_, told) = world.turn("shell_read", json!({ "terminal": "job-1" })).await;
    assert!(told.starts_with("[no new output]\n"), "{told}");
    let (_, told) = world.turn("shell_read", json!({ "terminal": "job-1", "since": 0 })).await;
    assert!(told.starts_with("the first\n"), "{told}");
    let (_, told) = world.turn("shell_list", json!({})).await;
    assert!(told.contains("job-1 ended with exit code 3: `echo the first;"), "{told}");

    let opened = world.open("job-1", json!({})).await;
    assert_eq!((opened.alive, opened.since), (false, 0));
    let shown = world.client.terminal_until(&"job-1".into(), "the second\r\n").await;
    assert!(shown.starts_with("the first\r\n"), "{shown}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn the_user_types_into_a_job_resizes_it_signals_it_and_kills_it() {
    let world = World::new().await;
    let command = "trap 'echo interrupted' INT; while :; do read -r line && { echo got $line; stty size; }; done";
    world.turn("shell_start", json!({ "command": command, "wait_seconds": 0 })).await;
    let job = TerminalId::from("job-1");
    world.open("job-1", json!({ "size": { "columns": 77, "rows": 33 } })).await;
    world.type_in("job-1", "one\n").await;
    world.client.terminal_until(&job, "got one\r\n33 77\r\n").await;
    let size = json!({ "size": { "columns": 99, "rows": 50 } });
    world.client.call::<methods::TerminalResize>(world.params("job-1", size)).await;
    world.type_in("job-1", "two\n").await;
    world.client.terminal_until(&job, "got two\r\n50 99\r\n").await;
    world.client.call::<methods::TerminalSignal>(world.params("job-1", json!({ "signal": "interrupt" }))).await;
    world.client.terminal_until(&job, "interrupted").await;

    // Closed, it shows nothing more; opened again it goes on where it was, which the client looks at.
    let listed = world.list().await;
    world.client.call::<methods::TerminalClose>(world.params("job-1", json!({}))).await;
    world.type_in("job-1", "three\n").await;
    let (_, told) = world.turn("shell_read", json!({ "terminal": "job-1", "wait_seconds": 60 })).await;
    assert!(told.contains("got three"), "{told}");
    world.open("job-1", json!({ "since": listed[1].end })).await;
    world.client.terminal_until(&job, "got three\r\n").await;

    world.client.call::<methods::TerminalKill>(world.params("job-1", json!({}))).await;
    world.until_changed("its end", |info| !info.alive).await;
    for (method, more) in [("write", json!({ "data": "" })), ("signal", json!({ "signal": "hangup" }))] {
        let error = world.client.request(&format!("azimuth/terminal/{method}"), world.params("job-1", more)).await;
        assert_eq!(error.unwrap_err().code, -32016, "{method}: nothing runs there");
    }
    // Twice is harmless.
    world.client.call::<methods::TerminalKill>(world.params("job-1", json!({}))).await;
    for (method, more) in [
        ("open", json!({})),
        ("write", json!({ "data": "" })),
        ("resize", json!({ "size": { "columns": 80, "rows": 24 } })),
        ("signal", json!({ "signal": "kill" })),
        ("kill", json!({})),
    ] {
        for unknown in ["job-9", "another", "job-../.."] {
            let params = world.params(unknown, more.clone());
            let error = world.client.request(&format!("azimuth/terminal/{method}"), params).await.unwrap_err();
            assert!(error.code == -32010 && error.message.contains(unknown), "{method}: {error:?}");
        }
    }
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn a_question_is_shown_whole_to_the_user_who_is_asked() {
    let world = World::allowing("[\"Shell\"]").await;
    let command = "printf 'This deletes the volume data-prod.\\n'; read -p 'Proceed? ' x; echo \"<$x>\"";
    world.starts_and_waits("job-1", command).await;
    world.begin("shell_write", json!({ "terminal": "job-1", "text": "y" })).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    let asks = format!("y [enter]\ninto: {command}\nit asks:\nThis deletes the volume data-prod.\nProceed?");
    assert_eq!(question.detail, asks);
    world.client.answer(&world.session, &question, "reject_once").await;
    let (_, told) = world.rest().await;
    assert!(!told.contains("<y>"), "{told}");
    let (_, told) = world.turn("shell_write", json!({ "terminal": "job-1", "key": "ctrl-c" })).await;
    assert!(told.contains("[job-1 ended"), "{told}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn a_harmless_question_is_answered_without_one() {
    let world = World::allowing("[\"Shell\"]").await;
    let git = "git -c init.defaultBranch=main init -q . && git add index.html && echo more >> index.html";
    let (_, told) = world.turn("shell_run", json!({ "command": git })).await;
    assert!(told.contains("exit code 0"), "{told}");
    world.starts_and_waits("job-1", "git add -p").await;
    // A turn that asked would not end by itself.
    let (events, told) = world.turn("shell_write", json!({ "terminal": "job-1", "text": "y" })).await;
    assert!(!events.iter().any(|event| matches!(event, Event::PermissionAsked { .. })), "{told}");
    let (_, told) = world.turn("shell_run", json!({ "command": "git diff --stat; git diff --cached" })).await;
    assert!(told.contains("+more") && !told.contains("changed"), "{told}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn what_the_agent_types_into_an_interpreter_is_asked_with_its_text() {
    let world = World::allowing("[\"Shell\"]").await;
    world.starts_and_waits("job-1", "python3 -iqu").await;
    let write = |text: &str| json!({ "terminal": "job-1", "text": text });
    world.begin("shell_write", write("print(6 * 7)")).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    assert_eq!(question.title, "Type into job-1?");
    assert_eq!(question.detail, "print(6 * 7) [enter]\ninto: python3 -iqu\nit asks: >>>");
    world.client.answer(&world.session, &question, "reject_once").await;
    let (_, told) = world.rest().await;
    assert!(!told.contains("42"), "{told}");

    world.begin("shell_write", write("print(6 * 7)")).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    world.client.answer(&world.session, &question, "allow_always").await;
    let (_, told) = world.rest().await;
    assert!(told.contains("\n42\n"), "{told}");
    // From now on that is allowed for this command, and no other.
    let (_, told) = world.turn("shell_write", write("print('a' * 3)")).await;
    assert!(told.contains("aaa\n"), "{told}");
    // To end it needs no question.
    let (_, told) = world.turn("shell_write", json!({ "terminal": "job-1", "key": "ctrl-d" })).await;
    assert!(told.contains("[job-1 ended with exit code 0"), "{told}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn a_job_works_in_the_folder_and_with_the_variables_of_the_shell() {
    let world = World::new().await;
    world.turn("shell_run", json!({ "command": "mkdir sub; cd sub; export WORD='two words'" })).await;
    let command = "basename \"$PWD\"; echo $WORD";
    let (_, told) = world.turn("shell_start", json!({ "command": command, "wait_seconds": 60 })).await;
    assert_eq!(told, "sub\ntwo words\n[job-1 ended with exit code 0]");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn with_the_session_all_its_jobs_end_and_nothing_of_them_is_left() {
    let world = World::new().await;
    let command = "echo $$ >pids; setsid sleep 7001 & echo $! >>pids; (sleep 7002 & echo $! >>pids); trap '' HUP INT TERM; \
                   echo begun; while :; do sleep 0.1; done";
    let (_, told) = world.turn("shell_start", json!({ "command": command, "wait_seconds": 2 })).await;
    assert!(told.contains("begun"), "{told}");
    let pids = world.project.read("pids");
    assert_eq!(pids.lines().filter(|pid| lives(pid)).count(), 3, "{pids}");
    world.finish().await;
    let left: Vec<_> = pids.lines().filter(|pid| lives(pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids}");
}

#[tokio::test]
async fn a_job_goes_on_while_nobody_looks_at_its_session() {
    let world = World::new().await;
    world.turn("shell_start", json!({ "command": "while read -r x; do echo got $x; done", "wait_seconds": 0 })).await;
    world.client.call::<methods::SessionClose>(json!({ "sessionId": world.session })).await;
    world.client.call::<methods::SessionList>(json!({})).await;
    let opened = world.open("job-1", json!({})).await;
    assert!(opened.alive);
    world.type_in("job-1", "it\n").await;
    world.client.terminal_until(&"job-1".into(), "got it\r\n").await;
    world.finish().await;
}

#[tokio::test]
async fn in_mode_ask_jobs_can_be_read_and_not_started_typed_into_or_ended() {
    let world = World::new().await;
    world.turn("shell_start", json!({ "command": "echo up; cat", "wait_seconds": 1 })).await;
    let all = world.model.asked()[0].tools();
    for tool in ["shell_start", "shell_read", "shell_write", "shell_kill", "shell_list"] {
        assert!(all.contains(&tool.to_owned()), "{tool}");
    }
    assert!(world.model.asked()[0].system().contains("shell_start"));
    let ask = json!({ "mode": "ask" });
    let session = world.client.call::<methods::SessionNew>(ask).await.session.session_id;
    world.model.then(Answer::calls("shell_start", json!({ "command": "cat" })));
    world.model.then(Answer::says("I cannot."));
    world.client.prompt(&session, "Start it.").await;
    let events = world.client.until_end(&session, StopReason::EndTurn).await;
    assert!(!events.iter().any(|event| matches!(event, Event::TerminalStarted { .. })), "{events:?}");
    let asked = world.model.asked();
    let told = asked.last().unwrap().last_results().join("\n");
    assert!(told.contains("mode `ask` only looks"), "{told}");
    let shown = asked.last().unwrap().tools();
    assert!(shown.contains(&"shell_read".to_owned()) && shown.contains(&"shell_list".to_owned()));
    assert!(!["shell_start", "shell_write", "shell_kill"].iter().any(|tool| shown.contains(&(*tool).to_owned())));
    world.finish().await;
}

#[tokio::test]
async fn the_seventeenth_job_at_once_is_refused_with_words() {
    let world = World::new().await;
    for _ in 0..16 {
        world.turn("shell_start", json!({ "command": "sleep 7003", "wait_seconds": 0 })).await;
    }
    let (_, told) = world.turn("shell_start", json!({ "command": "sleep 7003" })).await;
    assert!(told.contains("16 jobs run already"), "{told}");
    assert_eq!(world.list().await.len(), 17, "the shell, and those that run");
    world.finish().await;
}
