//! A server that is killed, at any instant, loses nothing that an editor had seen; and the work goes on.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use harness::process::Process;
use harness::vendor::{Instant as Answer, Vendor};
use serde_json::{Value, json};

/// How often the server is killed.
const KILLS: u32 = 50;

struct World {
    folder: tempfile::TempDir,
    vendor: Vendor,
}

impl World {
    /// A project with a file, and a model that reads it, edits it, runs a command and tells of it at length.
    fn new() -> Self {
        let call = |tool, input| Answer::Call { tool, input };
        let answers = vec![
            call("read_file", json!({ "path": "a.txt" })),
            call("edit_replace_exact", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" })),
            call("shell_run", json!({ "command": "echo ran >> ran.txt" })),
            Answer::Text { pieces: 2000 },
            Answer::Text { pieces: 3 },
        ];
        let world = Self { folder: tempfile::tempdir().unwrap(), vendor: Vendor::by_progress(answers) };
        std::fs::create_dir(world.project()).unwrap();
        world
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    fn reset(&self) {
        std::fs::write(self.project().join("a.txt"), "one\n").unwrap();
        let _ = std::fs::remove_file(self.project().join("ran.txt"));
    }

    fn start(&self) -> Process {
        Process::start(harness::binary(), &self.folder.path().join("data"), &self.project(), &self.vendor.url())
    }
}

/// An editor on a session: it answers every question with the first option, which allows.
struct Editor {
    process: Process,
    session: String,
}

impl Editor {
    fn prompt(&mut self, prompt: &Value) {
        self.process.ask("azimuth/turn/start", &json!({ "sessionId": self.session, "prompt": prompt }));
    }

    fn answer(&mut self, question: &Value) {
        let option = &question["options"][0]["optionId"];
        let id = &question["permissionId"];
        let params = json!({ "sessionId": self.session, "permissionId": id, "optionId": option });
        self.process.ask("azimuth/permission/answer", &params);
    }

    /// Follows the turn up to an instant, or to its end.
    fn follow(&mut self, until: Instant) {
        let mut looked_at = self.process.events.len();
        while Instant::now() < until {
            self.process.listen(Duration::from_millis(2).min(until.saturating_duration_since(Instant::now())));
            let news: Vec<Value> =
                self.process.events[looked_at..].iter().map(|event| event["event"].clone()).collect();
            looked_at = self.process.events.len();
            for event in news {
                match event["type"].as_str() {
                    Some("permissionAsked") => self.answer(&event["request"]),
                    Some("turnEnded") => return,
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn killed_at_any_of_50_instants_nothing_seen_is_lost_and_the_turn_goes_on() {
    let world = World::new();
    // How long the whole turn takes here tells over what time the kills are to be spread.
    world.reset();
    let mut process = world.start();
    let session = process.session();
    let mut editor = Editor { process, session };
    let began = Instant::now();
    editor.prompt(&json!([{ "type": "text", "text": "Change it." }]));
    editor.follow(began + harness::PATIENCE);
    let span = began.elapsed();
    assert_eq!(outcome(&editor.process.events), Some("end_turn".into()));
    drop(editor);

    let mut instants: Vec<Duration> = (0..KILLS).map(|n| span * n / KILLS).collect();
    // In no order, so that what one leaves behind meets all kinds of next ones.
    instants.sort_by_key(|instant| instant.as_nanos().wrapping_mul(0x9e37_79b9) % 1009);
    for instant in instants {
        one_kill(&world, instant);
    }
}

fn one_kill(world: &World, instant: Duration) {
    world.reset();
    let mut process = world.start();
    let session = process.session();
    let mut editor = Editor { process, session: session.clone() };
    editor.prompt(&json!([{ "type": "text", "text": "Change it." }]));
    editor.follow(Instant::now() + instant);
    editor.process.kill();
    let seen = numbered(std::mem::take(&mut editor.process.events), &session);

    let mut process = world.start();
    let opened = process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
    let kept: Vec<Value> = opened["events"].as_array().unwrap().clone();
    let numbers: Vec<u64> = kept.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=kept.len() as u64).collect::<Vec<_>>(), "killed after {instant:?}");
    for (seen, kept) in seen.iter().zip(&kept) {
        assert_eq!(seen, kept, "killed after {instant:?}");
    }
    assert!(kept.len() >= seen.len(), "killed after {instant:?}: {} of {} are kept", kept.len(), seen.len());

    let listed = process.request("azimuth/review/list", &json!({ "sessionId": session }));
    let waits = |proposal: &Value| proposal["hunks"].as_array().unwrap().iter().any(|hunk| hunk["state"] == "pending");
    let pending = listed["proposals"].as_array().unwrap().iter().any(waits);
    let text = std::fs::read_to_string(world.project().join("a.txt")).unwrap();
    let proposed = kept.iter().any(|event| event["event"]["type"] == "proposalChanged");
    // Proposed is pending, or in the file already; a kill may come between the two and their record.
    assert_eq!(proposed, pending || text == "two\n", "killed after {instant:?}: {listed}");

    let mut editor = Editor { process, session: session.clone() };
    go_on(&mut editor, &kept);
    let params =
        json!({ "sessionId": session, "decision": "accept", "targets": targets(&mut editor.process, &session) });
    editor.process.request("azimuth/review/decide", &params);
    let all: Vec<Value> = kept.iter().chain(&editor.process.events).cloned().collect();
    let interrupted = || {
        let is_command = |id: &Value| {
            of_type(&all, "toolCallStarted").any(|call| call["name"] == "shell_run" && call["toolCallId"] == *id)
        };
        of_type(&all, "toolCallEnded")
            .map(|ended| &ended["result"])
            .any(|result| is_command(&result["toolCallId"]) && result["text"].as_str().unwrap().contains("interrupted"))
    };
    let until = Instant::now() + harness::PATIENCE;
    while std::fs::read_to_string(world.project().join("a.txt")).unwrap() != "two\n" {
        let events = &editor.process.events;
        assert!(Instant::now() < until, "killed after {instant:?}: the edit never arrived\n{kept:#?}\n{events:#?}");
        editor.process.listen(Duration::from_millis(5));
    }
    // A command that was running when the kill came does not run again by itself: it may have had its effects. The
    // model is told, and this one, which follows a list, does not try again.
    let ran = std::fs::read_to_string(world.project().join("ran.txt")).unwrap_or_default();
    assert!(ran == "ran\n" || interrupted(), "killed after {instant:?}: the command ran this often: {ran:?}");
    assert!(ran.len() <= "ran\n".len(), "killed after {instant:?}: the command ran twice");
}

/// Brings the turn to its end: by an answer to the question that stands, else by an empty prompt.
fn go_on(editor: &mut Editor, kept: &[Value]) {
    if outcome(kept) == Some("end_turn".into()) {
        return;
    }
    let answered: Vec<&Value> = of_type(kept, "permissionAnswered").map(|event| &event["permissionId"]).collect();
    let questions = of_type(kept, "permissionAsked").map(|event| event["request"].clone());
    let open: Vec<Value> = questions.filter(|request| !answered.contains(&&request["permissionId"])).collect();
    let began = of_type(kept, "turnStarted").next().is_some();
    match open.first() {
        Some(question) => editor.answer(question),
        None if began => editor.prompt(&json!([])),
        None => editor.prompt(&json!([{ "type": "text", "text": "Change it." }])),
    }
    editor.follow(Instant::now() + harness::PATIENCE);
    assert_eq!(outcome(&editor.process.events), Some("end_turn".into()), "{:#?}", editor.process.events);
}

fn targets(process: &mut Process, session: &str) -> Vec<Value> {
    let listed = process.request("azimuth/review/list", &json!({ "sessionId": session }));
    let proposals = listed["proposals"].as_array().unwrap().iter();
    proposals.map(|it| json!({ "proposalId": it["proposalId"], "revision": it["revision"] })).collect()
}

/// A session's events as they came, without the session's name.
fn numbered(events: Vec<Value>, session: &str) -> Vec<Value> {
    let of_session = events.into_iter().filter(|event| event["sessionId"] == session);
    of_session
        .map(|mut event| {
            event.as_object_mut().unwrap().remove("sessionId");
            event
        })
        .collect()
}

fn of_type<'e>(events: &'e [Value], kind: &'e str) -> impl Iterator<Item = &'e Value> {
    events.iter().map(|event| &event["event"]).filter(move |event| event["type"] == kind)
}

/// Why the last turn ended, if it has.
fn outcome(events: &[Value]) -> Option<String> {
    of_type(events, "turnEnded").last().and_then(|event| event["stopReason"].as_str().map(str::to_owned))
}
