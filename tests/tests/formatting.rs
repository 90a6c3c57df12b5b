//! The formatting of files once accepted edits are in them: the editor formats those that it has open, and saves them,
//! and our own language servers format the others, if the user has set so. Text that the user types counts more than
//! either.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use harness::client::Timing;
use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::checkpoint::{CheckpointRestoreResult, RestoreOutcome};
use protocol::event::ApplyOutcome;
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TurnId, methods};
use serde_json::json;

const FORMAT: &str = "azimuth/editor/format";
const SAVE: &str = "azimuth/editor/save";
const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

/// A language server that, where it is told so, formats as [`tidy`] does.
const SERVER: &str = include_str!("../../server/crates/lang/src/pool/tests/nasty.py");

/// The formatter: one space between words, and none at the ends of lines.
fn tidy(text: &str, lines: &[(usize, usize)]) -> String {
    let is_asked = |at: usize| lines.is_empty() || lines.iter().any(|(start, end)| (*start..*end).contains(&at));
    let tidied = text.split_inclusive('\n').enumerate().map(|(at, line)| match is_asked(at) {
        true => {
            let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            line.split_whitespace().collect::<Vec<_>>().join(" ") + end
        }
        false => line.to_owned(),
    });
    tidied.collect()
}

fn panel() -> Profile {
    Profile::panel().with("/experimental/azimuth/format", json!(true))
}

/// A session in whose project `a.txt` is open.
struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
    uri: String,
}

impl World {
    async fn new(profile: Profile, settings: &str) -> Self {
        Self::with(profile, settings, TEXT).await
    }

    async fn with(profile: Profile, settings: &str, text: &str) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let rules = "[permissions]\nallow = [\"Shell\"]\n";
        setup.configure(&format!("{settings}\n{}{rules}", Setup::configuration(&model, Wire::Anthropic)));
        let project = Project::new([("a.txt", text), ("b.txt", "b\n")]);
        let client = Client::start(&setup, &project, profile).await;
        client.on_format(|text, lines| Some(tidy(text, lines)));
        let uri = project.uri("a.txt");
        client.open(&uri);
        let session = client.new_session().await;
        Self { setup, model, project, client, session, uri }
    }

    /// Has the user have a language server for these texts, which does this.
    fn install_server(&self, behaviour: &str) {
        install_server(self.setup.home(), behaviour);
    }

    /// A turn in which the model proposes these edits of `a.txt`.
    async fn edits(&self, edits: &[(&str, &str)]) -> TurnId {
        self.model.then(edits.iter().fold(Answer::nothing(), |answer, (old, new)| {
            answer.call("edit_replace_exact", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
        }));
        self.turn().await
    }

    async fn turn(&self) -> TurnId {
        self.model.then(Answer::says("Done."));
        let turn = self.client.prompt(&self.session, "Go on.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await;
        turn
    }

    async fn proposal(&self) -> Proposal {
        let params = json!({ "sessionId": self.session });
        self.client.call::<methods::ReviewList>(params).await.proposals.pop().expect("a proposal")
    }

    async fn decide(&self, decision: &str, hunks: &[usize]) {
        let proposal = self.proposal().await;
        let ids: Vec<_> = hunks.iter().map(|at| &proposal.hunks[*at].hunk_id).collect();
        let target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision, "hunkIds": ids });
        let params = json!({ "sessionId": self.session, "decision": decision, "targets": [target] });
        self.client.call::<methods::ReviewDecide>(params).await;
    }

    async fn accept(&self, hunks: &[usize]) {
        self.decide("accept", hunks).await;
    }

    async fn until(&self, what: &str, fits: impl Fn(&Event) -> bool) -> Event {
        self.client.until(&self.session, what, fits).await.pop().expect("the last event")
    }

    async fn until_formatted(&self) -> Event {
        self.until("the formatting", |event| matches!(event, Event::Formatted { .. })).await
    }

    async fn until_applied(&self) {
        self.until("the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    }

    async fn until_notice(&self) -> String {
        match self.until("a notice", |event| matches!(event, Event::Notice { .. })).await {
            Event::Notice { text, .. } => text,
            _ => unreachable!("the last event is the notice"),
        }
    }

    /// Waits until nothing is being formatted: a command of the agent's does. Gives what happened.
    async fn settled(&self) -> Vec<Event> {
        self.model.then(Answer::calls("shell_run", json!({ "command": "ls" })));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Look.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await
    }

    async fn undo(&self) -> CheckpointRestoreResult {
        self.client.call::<methods::CheckpointUndo>(json!({ "sessionId": self.session })).await
    }

    async fn redo(&self) -> CheckpointRestoreResult {
        self.client.call::<methods::CheckpointRedo>(json!({ "sessionId": self.session })).await
    }

    /// The text that the model is told with the next prompt.
    async fn heard(&self) -> String {
        self.turn().await;
        self.model.asked().last().expect("a request").user_text()
    }

    fn text(&self) -> String {
        self.client.text(&self.uri)
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

#[expect(clippy::disallowed_methods, reason = "the home and what is in it are the test's own")]
fn install_server(home: &Path, behaviour: &str) {
    let program = home.join("bin/nasty");
    std::fs::create_dir_all(home.join("bin")).unwrap();
    std::fs::write(&program, SERVER).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = json!({ "command": program, "args": [behaviour], "fileTypes": ["txt"], "rootMarkers": ["a.txt"] });
    std::fs::write(home.join("lsp.json"), json!({ "nasty": server }).to_string()).unwrap();
}

#[tokio::test]
async fn accepted_lines_are_formatted_by_the_editor_and_the_model_is_told() {
    for timing in [Timing::BeforeAnswer, Timing::AfterAnswer] {
        let world = World::with(
            Profile { timing, ..panel() },
            "format_edits = \"lines\"",
            "\u{FEFF}one\r\ntwo  two\r\nthree\r\n",
        )
        .await;
        world.model.then(Answer::calls("read_file", json!({ "path": "a.txt" })));
        let turn = world.edits(&[("one", "1   is one")]).await;
        world.accept(&[0]).await;
        let Event::Formatted { turn_id, uri, added, removed, by, .. } = world.until_formatted().await else {
            unreachable!("it is that event")
        };
        assert_eq!((turn_id, uri, added, removed), (Some(turn), world.uri.clone(), 1, 1));
        assert_eq!(by.as_deref(), Some("tidy"));
        let expected = "\u{FEFF}1 is one\r\ntwo  two\r\nthree\r\n";
        assert_eq!(world.text(), expected, "only the accepted line, with its own line end");
        assert_eq!(world.project.read("a.txt"), "\u{FEFF}one\r\ntwo  two\r\nthree\r\n", "saving is the user's");

        // The model knows the text: it can edit by line number without reading again.
        let insert = json!({ "path": "a.txt", "line": 1, "content": "zero" });
        world.model.then(Answer::calls("edit_insert_at_line", insert));
        let heard = world.heard().await;
        assert!(heard.contains("tidy formatted a.txt after your edit was accepted"), "{heard}");
        assert!(heard.contains("-1   is one\n+1 is one\n"), "{heard}");
        let result = world.model.asked().last().unwrap().last_results().join("\n");
        assert!(result.contains("Proposed"), "{result}");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_whole_document_is_formatted_once_for_all_hunks_accepted_together() {
    let world = World::with(panel(), "format_edits = \"file\"", "one\ntwo\nthree   3\n").await;
    let asked = Arc::new(Mutex::new(0));
    let count = Arc::clone(&asked);
    world.client.on_format(move |text, lines| {
        *count.lock().unwrap() += 1;
        Some(tidy(text, lines))
    });
    world.edits(&[("one", "1  1"), ("three", "3  3")]).await;
    let proposal = world.proposal().await;
    let decide = |hunk: usize| {
        let target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision,
            "hunkIds": [proposal.hunks[hunk].hunk_id] });
        let params = json!({ "sessionId": world.session, "decision": "accept", "targets": [target] });
        world.client.request("azimuth/review/decide", params)
    };
    // The second comes before the first has arrived, since nothing is read meanwhile.
    let paused = world.client.pause_reading();
    let (first, second) = (decide(0), decide(1));
    drop(paused);
    first.await.unwrap();
    second.await.unwrap();
    world.until_formatted().await;
    assert_eq!(world.text(), "1 1\ntwo\n3 3 3\n");
    world.settled().await;
    assert_eq!(*asked.lock().unwrap(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_turn_is_taken_back_with_its_formatting_and_put_again_with_it() {
    let world = World::new(panel(), "format_edits = \"lines\"\naccept_edits = true").await;
    let turn = world.edits(&[("two", "2  2"), ("five", "5  5")]).await;
    let after = TEXT.replace("two", "2 2").replace("five", "5 5");
    assert_eq!(world.text(), after, "the turn has waited for it");
    assert_eq!(world.undo().await.turn_ids, std::slice::from_ref(&turn));
    assert_eq!(world.text(), TEXT);
    assert_eq!(world.redo().await.turn_ids, std::slice::from_ref(&turn));
    assert_eq!(world.text(), after);
    assert_eq!(world.undo().await.files[0].outcome, RestoreOutcome::Done);
    assert_eq!(world.text(), TEXT);
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_types_while_the_formatter_works_stays_and_the_formatting_is_dropped() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    let edited = TEXT.replace("two", "2  2");
    assert_eq!(held.params, json!({ "uri": world.uri, "version": 2 }));
    world.client.replace(&world.uri, "seven", "seven, mine");
    held.answer(json!({ "text": tidy(&edited, &[]), "by": "tidy" }));
    world.settled().await;
    assert_eq!(world.text(), edited.replace("seven", "seven, mine"));
    let heard = world.heard().await;
    assert!(!heard.contains("formatted"), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_types_as_the_formatting_arrives_stays_too() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2"), ("five", "5  5")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    world.client.hold("workspace/applyEdit");
    let edited = TEXT.replace("two", "2  2");
    held.answer(json!({ "text": tidy(&edited, &[]), "by": "tidy" }));
    let edit = world.client.asked("workspace/applyEdit").await;
    world.client.replace(&world.uri, "seven", "seven, mine");
    edit.answer(json!({ "applied": false, "failureReason": "the document is at another version" }));
    world.settled().await;
    assert_eq!(world.text(), edited.replace("seven", "seven, mine"));
    let proposal = world.proposal().await;
    let states: Vec<_> = proposal.hunks.iter().map(|hunk| hunk.state).collect();
    assert_eq!(states, [HunkState::Accepted, HunkState::Pending]);
    world.finish().await;
}

#[tokio::test]
async fn what_is_accepted_behind_a_formatting_that_the_editor_refuses_is_pending_again_and_holds_nothing_up() {
    let world = World::new(panel(), "format_edits = \"lines\"").await;
    world.edits(&[("two", "2  2"), ("five", "5  5")]).await;
    world.client.hold(FORMAT);
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    world.client.hold("workspace/applyEdit");
    held.answer(json!({ "text": tidy(&world.text(), &[(1, 2)]), "by": "tidy" }));
    let edit = world.client.asked("workspace/applyEdit").await;
    world.accept(&[1]).await;
    edit.answer(json!({ "applied": false, "failureReason": "no" }));
    let falls = |event: &Event| matches!(event, Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. });
    world.until("the edit to fall", falls).await;
    assert_eq!(world.proposal().await.hunks[1].state, HunkState::Pending);
    // A command, an undo and the session's end wait for what is on its way.
    let edited = TEXT.replace("two", "2  2");
    world.settled().await;
    assert_eq!(world.text(), edited);
    world.finish().await;
}

#[tokio::test]
async fn a_pending_hunk_moves_with_the_formatting_above_it_and_can_be_accepted_then() {
    let world = World::new(panel(), "format_edits = \"lines\"").await;
    // This formatter breaks lines.
    world.client.on_format(|text, lines| {
        let broken = text.lines().enumerate().map(|(at, line)| {
            let asked = lines.iter().any(|(start, end)| (*start..*end).contains(&at));
            if asked { line.replace(' ', "\n") + "\n" } else { line.to_owned() + "\n" }
        });
        Some(broken.collect())
    });
    world.edits(&[("two", "2 2 2"), ("six", "6 6")]).await;
    world.accept(&[0]).await;
    world.until_formatted().await;
    let proposal = world.proposal().await;
    let hunk = &proposal.hunks[1];
    assert_eq!((hunk.state, hunk.start_line), (HunkState::Pending, 7));
    world.accept(&[1]).await;
    world.until_formatted().await;
    assert_eq!(world.text(), "one\n2\n2\n2\nthree\nfour\nfive\n6\n6\nseven\n");
    world.finish().await;
}

#[tokio::test]
async fn lines_of_pending_hunks_are_left_alone_until_they_are_decided() {
    let text = TEXT.replace("six", "six   six");
    let world = World::with(panel(), "format_edits = \"file\"", &text).await;
    world.edits(&[("two", "2  2"), ("six   six", "6  6")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    world.settled().await;
    let edited = text.replace("two", "2  2");
    assert_eq!(world.text(), edited, "a part of a formatter's changes is none of its making");
    assert_eq!(world.proposal().await.hunks[1].state, HunkState::Pending);
    // Accepted or rejected, nothing stands in its way any more.
    world.decide("reject", &[1]).await;
    world.until_formatted().await;
    assert_eq!(world.text(), tidy(&edited, &[]));
    world.finish().await;
}

#[tokio::test]
async fn what_is_no_formatting_changes_nothing_and_is_said_once() {
    let rubbish = ["", "error: no such parser", "one\0two\nthree\nfour\nfive\nsix\nseven\n"];
    for answer in rubbish {
        let world = World::new(panel(), "format_edits = \"file\"").await;
        world.client.on_format(move |_, _| Some(answer.to_owned()));
        world.edits(&[("two", "2  2"), ("five", "5  5")]).await;
        world.accept(&[0]).await;
        let notice = world.until_notice().await;
        assert!(notice.starts_with("a.txt was not formatted after the edit: what it gave is "), "{notice}");
        world.accept(&[1]).await;
        world.until_applied().await;
        let events = world.settled().await;
        assert_eq!(world.text(), TEXT.replace("two", "2  2").replace("five", "5  5"));
        let again = events.iter().any(|event| matches!(event, Event::Notice { .. } | Event::Formatted { .. }));
        assert!(!again, "{events:?}");
        world.finish().await;
    }
}

#[tokio::test]
async fn other_line_ends_and_another_mark_are_no_formatting() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.on_format(|text, _| Some(format!("\u{FEFF}{}", text.replace('\n', "\r\n"))));
    world.edits(&[("two", "2")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    let heard = world.heard().await;
    assert!(!heard.contains("formatted"), "{heard}");
    assert_eq!(world.text(), TEXT.replace("two", "2"));
    assert_eq!(world.client.version(&world.uri), 2);
    world.finish().await;
}

#[tokio::test]
async fn a_formatter_that_refuses_is_said_and_the_edit_stays() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.on_request(FORMAT, |_| Err("the formatter crashed".into()));
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let notice = world.until_notice().await;
    assert!(notice.contains("the editor refused: the formatter crashed. It is as the edit left it"), "{notice}");
    assert_eq!(world.text(), TEXT.replace("two", "2  2"));
    world.finish().await;
}

#[tokio::test]
async fn a_silent_formatter_is_waited_for_no_longer_than_said_and_by_nobody_else() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    // Meanwhile a turn goes on.
    world.heard().await;
    let notice = world.until_notice().await;
    assert!(notice.contains("the editor did not answer in time"), "{notice}");
    held.answer(json!({ "text": tidy(&TEXT.replace("two", "2  2"), &[]) }));
    world.heard().await;
    assert_eq!(world.text(), TEXT.replace("two", "2  2"), "it came too late");
    world.finish().await;
}

/// How often the user was told that something is not formatted.
fn told(events: &[Event]) -> usize {
    events.iter().filter(|it| matches!(it, Event::Notice { text, .. } if text.contains("was not formatted"))).count()
}

#[tokio::test]
async fn an_editor_whose_formatter_was_silent_holds_up_the_next_edit_for_a_second_and_not_for_ten() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let notice = world.until_notice().await;
    assert!(notice.contains("the editor did not answer in time"), "{notice}");
    assert!(
        notice.contains("From now on the editor is waited for only 1 second, until it answers in time."),
        "{notice}"
    );
    let first = world.client.asked(FORMAT).await;
    world.edits(&[("five", "5  5")]).await;
    let began = Instant::now();
    world.accept(&[0]).await;
    world.until_applied().await;
    let events = world.settled().await;
    assert!(began.elapsed() < Duration::from_secs(8), "it was waited for as long as the first time");
    assert_eq!(told(&events), 0, "it was said already: {events:?}");
    let second = world.client.asked(FORMAT).await;
    [first, second].into_iter().for_each(|late| late.answer(json!({})));
    // An answer that comes in time is taken as before.
    world.edits(&[("six", "6  6")]).await;
    world.accept(&[0]).await;
    let third = world.client.asked(FORMAT).await;
    third.answer(json!({ "text": tidy(&world.text(), &[]), "by": "tidy" }));
    world.until_formatted().await;
    assert_eq!(world.text(), TEXT.replace("two", "2 2").replace("five", "5 5").replace("six", "6 6"));
    world.finish().await;
}

#[tokio::test]
async fn a_formatter_that_was_too_slow_once_and_takes_more_than_a_second_since_is_used_again() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    world.client.asked(FORMAT).await;
    world.until_notice().await;
    world.edits(&[("five", "5  5")]).await;
    world.accept(&[0]).await;
    let second = world.client.asked(FORMAT).await;
    // A command waits until the second is waited for no longer.
    world.settled().await;
    second.answer(json!({}));
    world.edits(&[("six", "6  6")]).await;
    world.accept(&[0]).await;
    let third = world.client.asked(FORMAT).await;
    // The user's own command waits for no formatter, and takes longer than the second that one would be waited for.
    let prompt = json!([{ "type": "text", "text": "!sleep 1.5" }]);
    world.client.call::<methods::TurnStart>(json!({ "sessionId": world.session, "prompt": prompt })).await;
    world.until("the command's end", |event| matches!(event, Event::UserCommandEnded { .. })).await;
    third.answer(json!({ "text": tidy(&world.text(), &[]), "by": "tidy" }));
    world.until_formatted().await;
    assert_eq!(world.text(), TEXT.replace("two", "2 2").replace("five", "5 5").replace("six", "6 6"));
    world.finish().await;
}

#[tokio::test]
async fn a_language_server_that_never_formats_is_said_once_by_its_name() {
    let world = World::new(panel(), "format_edits = \"lines\"").await;
    world.install_server("formats-never");
    world.client.close(&world.uri);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let notice = world.until_notice().await;
    assert!(
        notice.contains("nasty: it did not answer in time. It is as the edit left it. From now on nasty is waited for"),
        "{notice}"
    );
    world.edits(&[("five", "5  5")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    let events = world.settled().await;
    assert_eq!(told(&events), 0, "{events:?}");
    assert_eq!(world.project.read("asked-to-format"), "xx", "it may answer by now");
    world.finish().await;
}

#[tokio::test]
async fn an_undo_does_not_wait_for_a_silent_formatter() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("five", "5  5")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    world.undo().await;
    assert_eq!(world.text(), TEXT);
    let restored = |event: &Event| matches!(event, Event::CheckpointRestored { .. });
    let events = world.client.until(&world.session, "the undo", restored).await;
    let timed_out = events.iter().any(|event| matches!(event, Event::Notice { .. }));
    assert!(!timed_out, "the formatter was waited for: {events:?}");
    held.answer(json!({ "text": tidy(&TEXT.replace("five", "5  5"), &[]) }));
    world.heard().await;
    assert_eq!(world.text(), TEXT);
    world.finish().await;
}

#[tokio::test]
async fn an_editor_that_cannot_format_has_the_user_told_so() {
    let world = World::new(Profile::panel(), "format_edits = \"lines\"").await;
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    let notice = world.until_notice().await;
    assert!(notice.contains("the editor cannot do that without Azimuth's plugin"), "{notice}");
    assert_eq!(world.text(), TEXT.replace("two", "2  2"));
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_formatted_or_saved_without_the_settings_nor_what_no_formatter_is_there_for() {
    let world = World::new(panel(), "").await;
    world.client.hold(FORMAT);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    world.heard().await;
    assert_eq!(world.project.read("a.txt"), TEXT);
    world.finish().await;

    let world = World::new(panel(), "format_edits = \"file\"\nsave_edits = true").await;
    world.client.hold(FORMAT);
    world.client.close(&world.uri);
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    world.heard().await;
    assert_eq!(world.project.read("a.txt"), TEXT.replace("two", "2  2"));
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_no_editor_has_open_is_formatted_by_our_own_language_server_and_the_model_is_told() {
    let text = "one  1\r\ntwo\r\nthree  3\r\n";
    let world = World::with(panel(), "format_edits = \"lines\"\naccept_edits = true", text).await;
    world.install_server("formats");
    world.client.close(&world.uri);
    let turn = world.edits(&[("two", "2  2")]).await;
    let after = text.replace("two", "2 2");
    assert_eq!(world.project.read("a.txt"), after, "only the lines of the edit, and the turn has waited for it");
    let asked = world.model.asked();
    let heard = asked.last().expect("a request").user_text() + &world.heard().await;
    assert!(heard.contains("nasty formatted a.txt after your edit was accepted"), "{heard}");
    assert_eq!(world.undo().await.turn_ids, std::slice::from_ref(&turn));
    assert_eq!(world.project.read("a.txt"), text);
    world.redo().await;
    assert_eq!(world.project.read("a.txt"), after);
    world.finish().await;
}

#[tokio::test]
async fn a_new_file_is_formatted_and_one_with_hunks_that_wait_once_they_are_decided() {
    let world = World::new(panel(), "format_edits = \"file\"").await;
    world.install_server("formats-whole-texts");
    world.client.close(&world.uri);
    world.edits(&[("two", "2  2"), ("six", "6  6")]).await;
    world.accept(&[0]).await;
    world.until_applied().await;
    world.accept(&[1]).await;
    world.until_formatted().await;
    assert_eq!(world.project.read("a.txt"), TEXT.replace("two", "2 2").replace("six", "6 6"));
    let made = json!({ "path": "new.txt", "content": "a  new   file\n" });
    world.model.then(Answer::calls("edit_create_file", made));
    world.turn().await;
    world.accept(&[0]).await;
    world.until_formatted().await;
    assert_eq!(world.project.read("new.txt"), "a new file\n");
    world.finish().await;
}

#[tokio::test]
async fn lines_are_not_formatted_by_a_server_that_formats_whole_texts_only() {
    let world = World::new(panel(), "format_edits = \"lines\"\naccept_edits = true").await;
    world.install_server("formats-whole-texts");
    world.client.close(&world.uri);
    world.edits(&[("two", "2  2")]).await;
    assert_eq!(world.project.read("a.txt"), TEXT.replace("two", "2  2"));
    world.finish().await;
}

#[tokio::test]
async fn an_open_file_is_formatted_by_our_own_server_where_the_editor_cannot_be_asked() {
    let world = World::new(Profile::panel(), "format_edits = \"lines\"\naccept_edits = true").await;
    world.install_server("formats");
    world.edits(&[("two", "2  2")]).await;
    assert_eq!(world.text(), TEXT.replace("two", "2 2"));
    assert_eq!(world.project.read("a.txt"), TEXT, "it is the editor's to save");
    world.finish().await;
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the folder and what is in it are the test's own")]
fn what_a_run_without_an_editor_edits_is_formatted_too() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().canonicalize().unwrap();
    let project = Project::new([("a.txt", TEXT)]);
    install_server(&home, "formats");
    // The test's home is among temporary files, where commands in the sandbox could write.
    std::fs::write(home.join("config.toml"), "format_edits = \"lines\"\nsandbox = \"full\"\n").unwrap();
    let call = json!({ "path": "a.txt", "old_text": "two", "new_text": "2  2" });
    let steps = json!([{ "calls": [{ "tool": "edit_replace_exact", "input": call }] }, { "text": "Done." }]);
    let script = json!({ "name": "test", "steps": steps });
    let script_file = home.join("script.json");
    std::fs::write(&script_file, script.to_string()).unwrap();
    let mut exec = Command::new(harness::binary());
    exec.current_dir(project.folder()).env("HOME", &home).env("AZIMUTH_DATA_DIR", home.join("data"));
    exec.env("AZIMUTH_CONFIG", home.join("config.toml")).args(["exec", "--trust", "--script"]).arg(&script_file);
    let output = exec.args(["--allow", "Edit", "Change it."]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(project.read("a.txt"), TEXT.replace("two", "2 2"));
}

#[tokio::test]
async fn a_command_waits_for_the_formatting_and_sees_it() {
    let world = World::new(panel(), "format_edits = \"lines\"").await;
    world.client.hold(FORMAT);
    world.edits(&[("one", "1  1")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "head -n 1 a.txt | tee seen.txt" })));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Run it.").await;
    let begins = |event: &Event| matches!(event, Event::ToolCallStarted { .. });
    world.until("the call", begins).await;
    assert!(!world.project.path("seen.txt").exists());
    held.answer(json!({ "text": tidy(&world.text(), &[(0, 1)]), "by": "tidy" }));
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    let seen = world.model.asked().last().unwrap().last_results().join("\n");
    assert!(seen.starts_with("1 1\n"), "{seen}");
    world.finish().await;
}

#[tokio::test]
async fn a_clean_document_is_saved_after_accepting_where_the_user_wants_it_so() {
    for (settings, expected) in [
        ("save_edits = true", "2  2"),
        ("save_edits = true\nformat_edits = \"lines\"", "2 2"),
        ("format_edits = \"lines\"", "two"),
    ] {
        let world = World::new(panel(), settings).await;
        world.edits(&[("two", "2  2"), ("six", "6")]).await;
        world.accept(&[0]).await;
        world.until_applied().await;
        if expected == "two" {
            world.until_formatted().await;
            world.heard().await;
            assert!(world.client.saved().is_empty());
        } else {
            world.client.until_saved(&world.uri).await;
        }
        assert_eq!(world.project.read("a.txt"), TEXT.replace("two", expected));
        world.finish().await;
    }
}

#[tokio::test]
async fn a_document_with_the_users_own_unsaved_text_is_never_saved_for_them() {
    let world = World::new(panel(), "save_edits = true\nformat_edits = \"lines\"").await;
    world.client.replace(&world.uri, "seven", "seven, mine");
    world.edits(&[("two", "2  2")]).await;
    world.accept(&[0]).await;
    world.until_formatted().await;
    world.heard().await;
    assert_eq!(world.text(), TEXT.replace("two", "2 2").replace("seven", "seven, mine"));
    assert_eq!(world.project.read("a.txt"), TEXT);

    // Nor is what they type while it is formatted.
    world.client.save(&world.uri);
    world.client.hold(FORMAT);
    world.edits(&[("five", "5  5")]).await;
    world.accept(&[0]).await;
    let held = world.client.asked(FORMAT).await;
    world.client.replace(&world.uri, "one", "one, mine");
    held.answer(json!({ "text": world.text() }));
    world.settled().await;
    world.heard().await;
    assert_eq!(world.project.read("a.txt"), TEXT.replace("two", "2 2").replace("seven", "seven, mine"));
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_types_while_other_documents_are_saved_is_not_saved_for_them() {
    let world = World::new(panel(), "save_edits = true").await;
    world.project.write("c.txt", "c\n");
    let [b, c] = ["b.txt", "c.txt"].map(|name| world.project.uri(name));
    [&b, &c].into_iter().for_each(|uri| world.client.open(uri));
    world.client.hold(SAVE);
    let edits = [("a.txt", "one"), ("b.txt", "b"), ("c.txt", "c")]
        .map(|(path, old)| json!({ "path": path, "old_text": old, "new_text": "new" }));
    let answer = edits.into_iter().fold(Answer::nothing(), |answer, edit| answer.call("edit_replace_exact", edit));
    world.model.then(answer);
    world.turn().await;
    let proposals = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals;
    let targets: Vec<_> = proposals
        .iter()
        .map(|proposal| json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision }))
        .collect();
    let params = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
    world.client.call::<methods::ReviewDecide>(params).await;
    // They are saved one after the other, once all edits are in.
    let held = world.client.asked(SAVE).await;
    assert_eq!(held.params["uri"], json!(world.uri));
    world.client.replace(&b, "new", "new, mine");
    world.client.save(&world.uri);
    held.answer(json!({ "saved": true }));
    let held = world.client.asked(SAVE).await;
    assert_eq!(held.params["uri"], json!(c), "the user's own text is never saved");
    world.client.save(&c);
    held.answer(json!({ "saved": true }));
    assert_eq!(world.project.read("b.txt"), "b\n");
    assert_eq!(world.client.text(&b), "new, mine\n");
    world.finish().await;
}

#[tokio::test]
async fn an_editor_that_cannot_save_has_the_user_told_so_once() {
    let world =
        World::new(Profile::panel().with("/experimental/azimuth/save", json!(false)), "save_edits = true").await;
    world.edits(&[("two", "2"), ("five", "5")]).await;
    world.accept(&[0]).await;
    let notice = world.until_notice().await;
    assert!(notice.starts_with("a.txt is not saved: the editor cannot do that without Azimuth's plugin"), "{notice}");
    world.accept(&[1]).await;
    world.until_applied().await;
    let mut events = world.settled().await;
    // The command's own words come besides.
    events.retain(|event| matches!(event, Event::Notice { text, .. } if text.contains("save_edits")));
    assert_eq!(events, []);
    assert_eq!(world.project.read("a.txt"), TEXT);
    world.finish().await;
}

#[tokio::test]
async fn what_waits_to_be_formatted_in_one_window_is_not_formatted_in_another() {
    let (text, edit) = (TEXT.replace("six", "six   six"), |old: &str, new: &str| {
        Answer::calls("edit_replace_exact", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
    });
    let says = || Answer::says("Done.");
    let model = ModelServer::start([edit("two", "2  2"), edit("six   six", "6"), says()]).await;
    let setup = Setup::empty();
    let rules = "[permissions]\nallow = [\"Shell\"]\n";
    setup.configure(&format!("format_edits = \"file\"\n{}{rules}", Setup::configuration(&model, Wire::Anthropic)));
    let project = Project::new([("a.txt", text.as_str())]);
    let uri = project.uri("a.txt");
    let [first, second] =
        [Window::open(&setup, &project, panel()).await, Window::open(&setup, &project, panel()).await];
    let session = first.new_session().await;
    for window in [&first, &second] {
        window.on_format(|text, lines| Some(tidy(text, lines)));
        window.open(&uri);
        window.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    }
    let decide = async |window: &Window, decision: &str, hunk: usize| {
        let proposals = window.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
        let proposal = &proposals[0];
        let target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision,
            "hunkIds": [proposal.hunks[hunk].hunk_id] });
        let params = json!({ "sessionId": session, "decision": decision, "targets": [target] });
        window.call::<methods::ReviewDecide>(params).await;
    };
    // A command waits for all that is being formatted.
    let settled = async |window: &Window| {
        model.then(Answer::calls("shell_run", json!({ "command": "ls" })));
        model.then(says());
        window.prompt(&session, "Look.").await;
        window.until_end(&session, StopReason::EndTurn).await
    };
    first.prompt(&session, "Write numbers.").await;
    first.until_end(&session, StopReason::EndTurn).await;
    decide(&first, "accept", 0).await;
    first.until(&session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    settled(&first).await;
    // It has seen the other's two turns too.
    second.until_end(&session, StopReason::EndTurn).await;
    second.until_end(&session, StopReason::EndTurn).await;
    settled(&second).await;
    decide(&second, "reject", 1).await;
    let events = settled(&second).await;
    assert!(!events.iter().any(|event| matches!(event, Event::Formatted { .. })), "{events:?}");
    assert_eq!([first.text(&uri), second.text(&uri)], [text.replace("two", "2  2"), text]);
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn a_turn_of_the_second_window_is_formatted_by_its_editor() {
    let edit = |old: &str, new: &str| {
        Answer::calls("edit_replace_exact", json!({ "path": "a.txt", "old_text": old, "new_text": new }))
    };
    let model = ModelServer::start([edit("two", "2  2"), Answer::says("Done.")]).await;
    let setup = Setup::empty();
    let settings = "accept_edits = true\nformat_edits = \"lines\"\n";
    setup.configure(&(settings.to_owned() + &Setup::configuration(&model, Wire::Anthropic)));
    let project = Project::new([("a.txt", TEXT)]);
    let uri = project.uri("a.txt");
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, panel()).await;
    second.on_format(|text, lines| Some(tidy(text, lines)));
    let session = first.new_session().await;
    first.open(&uri);
    second.open(&uri);
    second.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    second.prompt(&session, "Write numbers.").await;
    let events = second.until_end(&session, StopReason::EndTurn).await;
    assert!(events.iter().any(|event| matches!(event, Event::Formatted { .. })), "{events:?}");
    assert_eq!(second.text(&uri), TEXT.replace("two", "2 2"));
    assert_eq!(first.text(&uri), TEXT);

    // One whose editor cannot format is left as it is, without a word.
    model.then(edit("five", "5  5"));
    model.then(Answer::says("Done."));
    let third = Window::open(&setup, &project, Profile::panel()).await;
    third.open_with(&uri, TEXT);
    third.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    third.prompt(&session, "And more.").await;
    let events = third.until_end(&session, StopReason::EndTurn).await;
    let told = events.iter().any(|event| matches!(event, Event::Notice { .. } | Event::Formatted { .. }));
    assert!(!told, "{events:?}");
    assert_eq!(third.text(&uri), TEXT.replace("five", "5  5"));
    third.close().await;
    second.close().await;
    first.close().await;
}
