//! Changes by commands and other programs while a turn runs, in the same review: kept or taken back, hunk by hunk.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use harness::process::Process;
use harness::vendor::{Instant, Vendor};
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::checkpoint::{CheckpointRestoreResult, RestoreOutcome};
use protocol::event::{ApplyOutcome, Severity};
use protocol::review::{FileChange, HunkState, Proposal, ReviewResult};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TurnId, methods};
use serde_json::{Value, json};

const A: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";
const B: &str = "one\ntwo\n";

struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new() -> Self {
        Self::with("").await
    }

    async fn with(settings: &str) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let providers = Setup::configuration(&model, Wire::Anthropic);
        setup.configure(&format!("{settings}\n{providers}[permissions]\nallow = [\"Shell\"]\n"));
        let project = Project::new([("a.txt", A), ("b.txt", B), ("crlf.sh", "one\r\ntwo\r\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { setup, model, project, client, session }
    }

    /// A turn in which the model runs a command.
    async fn command(&self, command: &str) -> TurnId {
        self.model.then(Answer::calls("shell_run", json!({ "command": command })));
        self.turn().await
    }

    async fn turn(&self) -> TurnId {
        self.model.then(Answer::says("Done."));
        let turn = self.client.prompt(&self.session, "Go on.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await;
        turn
    }

    /// The listed proposals of what others changed.
    async fn landed(&self) -> Vec<Proposal> {
        let listed = self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await.proposals;
        listed.into_iter().filter(|proposal| proposal.landed).collect()
    }

    async fn of(&self, path: &str) -> Proposal {
        let listed = self.landed().await;
        let found = listed.iter().find(|proposal| proposal.path == path);
        found.unwrap_or_else(|| panic!("{path} is not listed: {listed:?}")).clone()
    }

    async fn decide(&self, decision: &str, targets: &[(&Proposal, &[usize])]) -> ReviewResult {
        let targets: Vec<Value> = targets
            .iter()
            .map(|(proposal, hunks)| {
                let ids: Vec<_> = hunks.iter().map(|at| &proposal.hunks[*at].hunk_id).collect();
                let mut target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
                if !ids.is_empty() {
                    target["hunkIds"] = json!(ids);
                }
                target
            })
            .collect();
        let params = json!({ "sessionId": self.session, "decision": decision, "targets": targets });
        self.client.call::<methods::ReviewDecide>(params).await
    }

    async fn until_applied(&self) {
        let is_it = |event: &Event| matches!(event, Event::EditApplied { .. });
        let events = self.client.until(&self.session, "the edit", is_it).await;
        let Some(Event::EditApplied { outcome, .. }) = events.last() else { unreachable!() };
        assert_eq!(*outcome, ApplyOutcome::Verified);
    }

    /// Takes hunks back, all that are pending where none are named, and waits until that is done.
    async fn take_back(&self, path: &str, hunks: &[usize]) {
        self.decide("reject", &[(&self.of(path).await, hunks)]).await;
        self.until_applied().await;
    }

    async fn restore(&self, what: &str, turn: &TurnId) -> CheckpointRestoreResult {
        let params = json!({ "sessionId": self.session, "turnId": turn });
        match what {
            "undo" => self.client.call::<methods::CheckpointUndo>(params).await,
            _ => self.client.call::<methods::CheckpointRedo>(params).await,
        }
    }

    /// The text that the model is told with the next prompt.
    async fn heard(&self) -> String {
        self.turn().await;
        self.model.asked().last().expect("a request").user_text()
    }

    async fn restarted(self) -> Self {
        let Self { setup, model, project, client, session } = self;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        Self { setup, model, project, client, session }
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

fn states(proposal: &Proposal) -> Vec<HunkState> {
    proposal.hunks.iter().map(|hunk| hunk.state).collect()
}

#[tokio::test]
async fn what_is_read_of_an_open_file_after_a_command_says_which_text_is_the_editors_and_which_the_disks() {
    let world = World::new().await;
    // This editor does not follow the disk.
    world.client.open(&world.project.uri("a.txt"));
    world.model.then(Answer::calls("shell_run", json!({ "command": "sed -i 's/two/2/' a.txt" })));
    let read = json!({ "path": "a.txt" });
    let readers = [
        ("search_text", json!({ "query": "^2$", "regex": true })),
        ("search_text", json!({ "query": "^2$", "regex": true })),
        ("read_file", read.clone()),
        ("read_around", json!({ "path": "a.txt", "anchor": "two" })),
        ("search_text", json!({ "query": "three" })),
        ("search_text", json!({ "query": "^2$", "regex": true })),
        ("read_file", json!({ "path": "b.txt" })),
    ];
    // One after the other, since calls of one answer may be made at the same time.
    for (tool, input) in readers {
        world.model.then(Answer::calls(tool, input));
    }
    world.turn().await;
    let asked = world.model.asked();
    let results: Vec<_> = asked[asked.len() - 7..].iter().map(|asked| asked.last_results().concat()).collect();
    let other = "[a.txt is here as in the user's editor. On disk it has another text: the editor has not followed what a command or \
                 another program made of it, or it opened text that was never saved. Commands see the disk, and edits \
                 change what the editor has. From the editor's text to the disk's:]\n";
    let not_searched = "[searched as in the user's editor, which has not followed what changed on disk: a.txt]\n";
    assert!(results[0].starts_with(not_searched), "{}", results[0]);
    assert!(results[2].contains(other) && results[2].contains("\n-two\n+2\n"), "{}", results[2]);
    for at in [1, 3, 4, 5] {
        let result = &results[at];
        assert!(!result.contains("[a.txt is here") && !result.contains("[searched as"), "said again: {result}");
    }
    assert!(results[6].starts_with("b.txt (2 lines)"), "{}", results[6]);

    // A mentioned file is compared, too; and the difference is said again, since the disk's text has changed.
    world.project.write("a.txt", &world.project.read("a.txt").replace("2\n", "zwei\n"));
    let mention = json!([{ "type": "text", "text": "Look." }, { "type": "file", "uri": world.project.uri("a.txt") }]);
    world.model.then(Answer::says("Done."));
    let params = json!({ "sessionId": world.session, "prompt": mention });
    world.client.request("azimuth/turn/start", params).await.unwrap();
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    let heard = world.model.asked().last().expect("a request").user_text();
    assert!(heard.contains(other) && heard.contains("\n-two\n+zwei\n"), "{heard}");

    // Once the editor has followed, there is nothing to say but what the user has not saved.
    world.client.close(&world.project.uri("a.txt"));
    world.client.open(&world.project.uri("a.txt"));
    let again = async || {
        world.model.then(Answer::calls("read_file", read.clone()));
        world.turn().await;
        world.model.asked().last().expect("a request").last_results().join("")
    };
    assert!(again().await.starts_with("a.txt (6 lines)"));
    world.client.replace(&world.project.uri("a.txt"), "six", "6");
    let unsaved =
        "[a.txt is here as in the user's editor, with changes that are not saved; the disk is without them]\n";
    let text = again().await;
    assert!(text.starts_with(unsaved) && text.contains("\t6"), "{text}");
    std::fs::remove_file(world.project.path("a.txt")).unwrap();
    let gone = "[a.txt is here as in the user's editor; on disk there is no such file, or it was deleted there]\n";
    assert!(again().await.starts_with(gone));
    world.client.waive("azimuth/event");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn what_the_model_may_not_have_heard_of_editor_and_disk_is_told_again() {
    let world = World::new().await;
    let uri = world.project.uri("a.txt");
    world.client.open(&uri);
    world.project.write("a.txt", "other\n");
    let other = "On disk it has another text";
    let mention = json!([{ "type": "text", "text": "Look." }, { "type": "file", "uri": uri }]);
    let is_word = |event: &Event| matches!(event, Event::MessageDelta { .. });
    let is_queued = |event: &Event| matches!(event, Event::PromptQueued { .. });

    // A word to the turn is taken back before the turn has heard it.
    let gate = Gate::default();
    world.model.then(Answer::nothing().text("half ").wait(&gate).text("whole"));
    let turn = world.client.prompt(&world.session, "Go on.").await;
    world.client.until(&world.session, "a word", is_word).await;
    let params = json!({ "sessionId": world.session, "expectedTurnId": turn, "prompt": mention });
    world.client.call::<methods::TurnSteer>(params).await;
    let queued = world.client.until(&world.session, "the word that waits", is_queued).await.pop();
    let Some(Event::PromptQueued { queue_id, .. }) = queued else { unreachable!() };
    let params = json!({ "type": "remove", "sessionId": world.session, "queueId": queue_id });
    world.client.call::<methods::TurnQueue>(params).await;
    gate.open();
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    world.model.then(Answer::says("Done."));
    let params = json!({ "sessionId": world.session, "prompt": mention });
    world.client.call::<methods::TurnStart>(params).await;
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    let heard = world.model.asked().last().expect("a request").user_text();
    assert!(heard.contains(other), "{heard}");

    // A turn is cancelled in which the file was read.
    let read = || Answer::calls("read_file", json!({ "path": "a.txt" }));
    world.project.write("a.txt", "yet another\n");
    world.model.then(read());
    world.model.then(Answer::nothing().text("half ").wait(&Gate::default()));
    world.client.prompt(&world.session, "Read it.").await;
    world.client.until(&world.session, "a word", is_word).await;
    world.client.call::<methods::TurnCancel>(json!({ "sessionId": world.session })).await;
    world.client.until_end(&world.session, StopReason::Cancelled).await;
    world.model.then(read());
    world.turn().await;
    let told = world.model.asked().last().expect("a request").last_results().concat();
    assert!(told.contains(other), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn of_what_a_command_changed_in_three_files_one_place_is_kept_and_another_taken_back() {
    let world = World::new().await;
    let open = world.project.uri("a.txt");
    world.client.open(&open);
    world.command("sed -i 's/two/TWO/; s/five/FIVE/' a.txt; sed -i s/one/1/ b.txt; echo new > c.txt").await;
    let listed = world.landed().await;
    let paths: Vec<_> = listed.iter().map(|it| (it.path.as_str(), it.change)).collect();
    assert_eq!(
        paths,
        [("b.txt", FileChange::Modify), ("c.txt", FileChange::Create)],
        "the editor shows a.txt as it was"
    );

    // The editor reads the file anew, and the user types where the command changed nothing.
    world.client.replace(&open, A, &world.project.read("a.txt"));
    world.client.replace(&open, "four\n", "four, as I say\n");
    let proposal = world.of("a.txt").await;
    let hunks: Vec<_> = proposal.hunks.iter().map(|h| (h.start_line, &*h.old_text, &*h.new_text)).collect();
    assert_eq!(hunks, [(1, "two\n", "TWO\n"), (4, "five\n", "FIVE\n")]);

    world.decide("accept", &[(&proposal, &[0])]).await;
    world.take_back("a.txt", &[1]).await;
    let text = A.replace("two", "TWO").replace("four", "four, as I say");
    assert_eq!(world.client.text(&open), text, "through the editor, and what was typed stays");
    assert_eq!(world.project.read("a.txt"), A.replace("two", "TWO").replace("five", "FIVE"), "saving is the user's");
    // A file that no editor holds is written, and the file that the command made goes away.
    let (b, c) = (world.of("b.txt").await, world.of("c.txt").await);
    world.decide("reject", &[(&b, &[]), (&c, &[])]).await;
    world.until_applied().await;
    world.until_applied().await;
    assert_eq!(world.project.read("b.txt"), B);
    assert!(!world.project.path("c.txt").exists());
    assert!(world.landed().await.is_empty());

    let heard = world.heard().await;
    let command = "`sed -i 's/two/TWO/; s/five/FIVE/' a.txt; sed -i s/one/1/ b.t…`";
    assert!(heard.contains(&format!("The user took back what {command} changed in a.txt (line 5).")), "{heard}");
    assert!(heard.contains(&format!("The user took back the new file c.txt that {command} made.")), "{heard}");
    assert!(!heard.contains("line 2"), "what was kept is no news: {heard}");
    world.finish().await;
}

#[tokio::test]
async fn what_a_command_changed_waits_for_nobody_and_the_model_reads_it_as_it_is() {
    let world = World::new().await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "sed -i s/one/1/ b.txt" })));
    // Neither the next command nor an edit asks about it.
    let edit = json!({ "path": "b.txt", "old_text": "two", "new_text": "2" });
    world.model.then(Answer::calls("edit_replace_exact", edit).call("read_file", json!({ "path": "b.txt" })));
    world.turn().await;
    let read = world.model.asked().last().unwrap().last_results().concat();
    assert!(read.contains("1\n"), "{read}");
    let listed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals;
    assert_eq!(listed.iter().map(|it| it.landed).collect::<Vec<_>>(), [true, false]);

    // Both kinds in one file, decided one right after the other.
    world.decide("accept", &[(&listed[1], &[])]).await;
    world.decide("reject", &[(&listed[0], &[])]).await;
    world.until_applied().await;
    world.until_applied().await;
    assert_eq!(world.project.read("b.txt"), "one\n2\n");

    let texts = json!({ "sessionId": world.session, "proposalId": listed[0].proposal_id, "revision": 1, "text": "x" });
    let refused = world.client.request("azimuth/review/change", texts).await.unwrap_err();
    assert!(refused.message.contains("b.txt is changed already"), "{}", refused.message);
    world.finish().await;
}

#[tokio::test]
async fn a_second_command_joins_what_the_first_changed_and_what_it_changes_back_is_gone() {
    let world = World::new().await;
    world.command("sed -i 's/two/TWO/; s/five/FIVE/' a.txt").await;
    let first = world.of("a.txt").await;
    world.command("sed -i 's/TWO/deux/; s/FIVE/five/' a.txt").await;
    let joined = world.of("a.txt").await;
    assert_eq!(joined.proposal_id, first.proposal_id);
    let hunks: Vec<_> = joined.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).collect();
    assert_eq!(hunks.len(), 1, "{joined:?}");
    assert_eq!((&*hunks[0].old_text, &*hunks[0].new_text), ("two\n", "deux\n"));
    assert_eq!(hunks[0].tool_call_ids.len(), 2);
    world.command("sed -i s/deux/two/ a.txt").await;
    assert!(world.landed().await.is_empty());
    let heard = world.heard().await;
    assert!(!heard.contains("took back"), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_a_command_deleted_comes_back_byte_for_byte() {
    let world = World::new().await;
    world.command("chmod +x crlf.sh").await;
    world.command("rm crlf.sh").await;
    let proposal = world.of("crlf.sh").await;
    assert_eq!(proposal.change, FileChange::Delete);
    let world = world.restarted().await;
    world.take_back("crlf.sh", &[]).await;
    assert_eq!(world.project.read("crlf.sh"), "one\r\ntwo\r\n");
    let mode = std::fs::metadata(world.project.path("crlf.sh")).unwrap().permissions();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o100, 0, "a program is one again");
    world.finish().await;
}

#[tokio::test]
async fn a_turn_of_which_a_part_was_taken_back_is_undone_and_put_again_as_it_was_left() {
    let world = World::new().await;
    let turn = world.command("sed -i 's/two/TWO/; s/five/FIVE/' a.txt; sed -i s/one/1/ b.txt").await;
    world.take_back("a.txt", &[1]).await;
    let left = A.replace("two", "TWO");
    assert_eq!(world.project.read("a.txt"), left);

    let undone = world.restore("undo", &turn).await;
    assert!(undone.files.iter().all(|file| file.outcome == RestoreOutcome::Done), "{undone:?}");
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), (A.into(), B.into()));
    assert!(world.landed().await.is_empty(), "what is no longer there is not listed");
    world.restore("redo", &turn).await;
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), (left, "1\ntwo\n".into()));
    assert!(world.landed().await.is_empty(), "what was put again is not listed again");

    let world = world.restarted().await;
    world.restore("undo", &turn).await;
    assert_eq!(world.project.read("a.txt"), A);
    world.finish().await;
}

#[tokio::test]
async fn what_another_program_changes_while_the_turn_runs_is_listed_but_not_the_turns() {
    let world = World::new().await;
    let (before, after) = (Gate::default(), Gate::default());
    world.model.then(Answer::calls("shell_run", json!({ "command": "sed -i s/two/TWO/ a.txt" })));
    world.model.then(Answer::nothing().wait(&before).call("shell_run", json!({ "command": "touch made.txt" })));
    world.model.then(Answer::nothing().wait(&after).text("Done."));
    let turn = world.client.prompt(&world.session, "Go on.").await;
    // Between the commands, and after the last one.
    world.model.asked_times(2).await;
    world.project.write("b.txt", "1\ntwo\n");
    before.open();
    world.model.asked_times(3).await;
    std::fs::remove_file(world.project.path("crlf.sh")).unwrap();
    after.open();
    let is_last = |event: &Event| match event {
        Event::ProposalChanged { proposal } => proposal.path == "crlf.sh",
        _ => false,
    };
    let events = world.client.until(&world.session, "the look after the turn", is_last).await;
    let changed: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::FilesChanged { turn_id, tool_call_id, files } => {
                assert_eq!(*turn_id, turn);
                let names = files.iter().map(|file| file.uri.rsplit('/').next().unwrap());
                Some((tool_call_id.is_some(), names.collect::<Vec<_>>().join(" ")))
            }
            _ => None,
        })
        .collect();
    let expected = [(true, "a.txt"), (false, "b.txt"), (true, "made.txt"), (false, "crlf.sh")];
    assert_eq!(changed, expected.map(|(command, file)| (command, file.to_owned())));
    assert!(world.of("b.txt").await.hunks[0].tool_call_ids.is_empty());

    let undone = world.restore("undo", &turn).await;
    let paths: Vec<_> = undone.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["a.txt", "made.txt"]);
    assert_eq!(world.project.read("b.txt"), "1\ntwo\n");
    world.take_back("b.txt", &[]).await;
    world.take_back("crlf.sh", &[]).await;
    assert_eq!((world.project.read("b.txt"), world.project.read("crlf.sh")), (B.into(), "one\r\ntwo\r\n".into()));
    assert!(world.landed().await.is_empty());
    world.restore("redo", &turn).await;
    let again = world.restore("undo", &turn).await;
    assert!(again.files.iter().all(|file| file.outcome == RestoreOutcome::Done), "{again:?}");
    let heard = world.heard().await;
    assert!(heard.contains("The user took back what another program changed in b.txt (line 1)."), "{heard}");
    assert!(heard.contains("The user took back the deletion of crlf.sh by another program."), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn what_another_program_makes_of_an_edit_that_was_just_accepted_is_told_apart_from_it() {
    let world = World::new().await;
    let gate = Gate::default();
    world.model.then(Answer::calls("shell_run", json!({ "command": "touch made.txt" })));
    let edit = json!({ "path": "b.txt", "old_text": "one", "new_text": "1" });
    world.model.then(Answer::calls("edit_replace_exact", edit));
    world.model.then(Answer::nothing().wait(&gate).text("Done."));
    world.client.prompt(&world.session, "Go on.").await;
    world.model.asked_times(3).await;
    let listed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals;
    let edit = listed.iter().find(|proposal| !proposal.landed).unwrap();
    world.decide("accept", &[(edit, &[])]).await;
    world.until_applied().await;
    world.project.write("b.txt", "1\nzwei\n");
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.landed && proposal.path == "b.txt");
    world.client.until(&world.session, "the look after the turn", is_it).await;
    let hunks = world.of("b.txt").await.hunks;
    assert_eq!((hunks.len(), &*hunks[0].old_text, &*hunks[0].new_text), (1, "two\n", "zwei\n"));
    world.take_back("b.txt", &[]).await;
    assert_eq!(world.project.read("b.txt"), "1\ntwo\n");
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_saves_in_the_editor_is_no_other_programs() {
    let world = World::new().await;
    let (gate, uri) = (Gate::default(), world.project.uri("b.txt"));
    world.model.then(Answer::calls("shell_run", json!({ "command": "touch made.txt" })));
    world.model.then(Answer::nothing().wait(&gate).text("Done."));
    world.client.prompt(&world.session, "Go on.").await;
    world.model.asked_times(2).await;
    // Opened, changed, saved and closed: at the end no editor holds it.
    world.client.open(&uri);
    world.client.replace(&uri, "one", "mine");
    world.project.write("b.txt", "mine\ntwo\n");
    world.client.save(&uri);
    world.landed().await;
    world.client.close(&uri);
    world.project.write("a.txt", &A.replace("six", "6"));
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.path == "a.txt");
    world.client.until(&world.session, "the look after the turn", is_it).await;
    let paths: Vec<_> = world.landed().await.into_iter().map(|proposal| proposal.path).collect();
    assert_eq!(paths, ["made.txt", "a.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_listed_where_edits_are_accepted_as_they_come_or_the_user_does_not_want_it() {
    for settings in ["accept_edits = true", "review_commands = false", "undo_commands = false"] {
        let world = World::with(settings).await;
        world.command("echo new > c.txt").await;
        assert!(world.landed().await.is_empty(), "{settings}");
        assert_eq!(world.project.read("c.txt"), "new\n");
        world.finish().await;
    }
}

#[tokio::test]
async fn of_many_changed_files_so_many_are_listed_and_it_is_said_how_many_more_there_are() {
    let world = World::new().await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "for i in $(seq 203); do echo $i > new$i; done" })));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Go on.").await;
    let events = world.client.until_end(&world.session, StopReason::EndTurn).await;
    let said = events.iter().find_map(|event| match event {
        Event::Notice { severity: Severity::Warning, text } => Some(text.clone()),
        _ => None,
    });
    assert_eq!(said.as_deref(), Some("3 more files changed than the review lists"));
    assert_eq!(world.landed().await.len(), 200);
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_typed_into_can_be_kept_but_not_taken_back_and_a_word_on_it_is_heard() {
    let world = World::new().await;
    let uri = world.project.uri("a.txt");
    world.command("sed -i 's/two/TWO/; s/five/FIVE/' a.txt").await;
    world.client.open(&uri);
    world.client.replace(&uri, "TWO", "TWO of mine");
    let proposal = world.of("a.txt").await;
    assert_eq!(states(&proposal), [HunkState::Conflicted, HunkState::Pending]);
    let target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision,
        "hunkIds": [proposal.hunks[0].hunk_id] });
    let params = json!({ "sessionId": world.session, "decision": "reject", "targets": [target] });
    let refused = world.client.request("azimuth/review/decide", params).await.unwrap_err();
    assert!(refused.message.ends_with("it cannot be taken back, only kept"), "{}", refused.message);

    let comment = json!({ "sessionId": world.session, "proposalId": proposal.proposal_id,
        "hunkId": proposal.hunks[1].hunk_id, "text": "Why capitals?" });
    world.client.call::<methods::ReviewComment>(comment).await;
    let shown = json!({ "sessionId": world.session, "proposalId": proposal.proposal_id });
    let texts = world.client.call::<methods::ReviewText>(shown).await;
    let now = A.replace("two", "TWO of mine");
    assert_eq!((texts.base, texts.proposed), (Some(now.clone()), Some(now.replace("five", "FIVE"))));
    world.decide("accept", &[(&proposal, &[])]).await;
    assert!(world.landed().await.is_empty());
    let heard = world.heard().await;
    let said = "changed in a.txt (line 5), which this does not decide: Why capitals?";
    assert!(heard.contains(said), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_is_taken_back_as_a_whole_has_its_line_ends_again() {
    let world = World::new().await;
    world.command("sed -i 's/two/TWO/; s/\\r//' crlf.sh").await;
    assert_eq!(world.project.read("crlf.sh"), "one\nTWO\n");
    world.take_back("crlf.sh", &[]).await;
    assert_eq!(world.project.read("crlf.sh"), "one\r\ntwo\r\n");
    // Where the line ends were changed since by somebody else, that stays.
    world.command("sed -i 's/two/TWO/' crlf.sh").await;
    // In one step: a look in the middle would see an empty file, and make of it what waits.
    let (path, whole) = (world.project.path("crlf.sh"), tempfile::NamedTempFile::new().unwrap());
    std::fs::write(whole.path(), "one\nTWO\n").unwrap();
    std::fs::set_permissions(whole.path(), std::fs::metadata(&path).unwrap().permissions()).unwrap();
    whole.persist(&path).unwrap();
    world.take_back("crlf.sh", &[]).await;
    assert_eq!(world.project.read("crlf.sh"), "one\ntwo\n");
    world.finish().await;
}

#[tokio::test]
async fn what_was_taken_back_by_mistake_is_put_again_by_a_redo_of_its_turn() {
    let (world, gate) = (World::new().await, Gate::default());
    let command = "echo '#!/bin/sh' > run.sh; chmod +x run.sh";
    world.model.then(Answer::calls("shell_run", json!({ "command": command })));
    world.model.then(Answer::nothing().wait(&gate).text("Done."));
    let turn = world.client.prompt(&world.session, "Go on.").await;
    world.model.asked_times(2).await;
    world.project.write("b.txt", "1\n2\n");
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.path == "b.txt");
    world.client.until(&world.session, "the look after the turn", is_it).await;
    world.take_back("run.sh", &[]).await;
    world.take_back("b.txt", &[]).await;
    assert!(!world.project.path("run.sh").exists());

    let world = world.restarted().await;
    let again = world.restore("redo", &turn).await;
    assert!(again.files.iter().all(|file| file.outcome == RestoreOutcome::Done), "{again:?}");
    assert_eq!((world.project.read("run.sh"), world.project.read("b.txt")), ("#!/bin/sh\n".into(), "1\n2\n".into()));
    let mode = std::fs::metadata(world.project.path("run.sh")).unwrap().permissions();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o100, 0, "it is a program as it was");
    let undone = world.restore("undo", &turn).await;
    let paths: Vec<_> = undone.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["run.sh"], "what another program did is not the turn's");
    world.finish().await;
}

/// A turn that has run a command and waits at the gate, with an edit of `b.txt` pending.
async fn edit_pending(world: &World, gate: &Gate) -> Proposal {
    world.model.then(Answer::calls("shell_run", json!({ "command": "touch made.txt" })));
    let edit = json!({ "path": "b.txt", "old_text": "one", "new_text": "1" });
    world.model.then(Answer::calls("edit_replace_exact", edit));
    world.model.then(Answer::nothing().wait(gate).text("Done."));
    world.client.prompt(&world.session, "Go on.").await;
    world.model.asked_times(3).await;
    let listed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals;
    listed.into_iter().find(|proposal| !proposal.landed).unwrap()
}

#[tokio::test]
async fn what_was_before_another_program_is_never_a_text_that_only_an_editor_had() {
    let (world, gate) = (World::new().await, Gate::default());
    let uri = world.project.uri("b.txt");
    world.client.open(&uri);
    let edit = edit_pending(&world, &gate).await;
    world.decide("accept", &[(&edit, &[])]).await;
    world.until_applied().await;
    assert_eq!((world.client.text(&uri).as_str(), world.project.read("b.txt").as_str()), ("1\ntwo\n", B));
    world.project.write("b.txt", "one\nzwei\n");
    world.client.close(&uri);
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.landed && proposal.path == "b.txt");
    world.client.until(&world.session, "the look after the turn", is_it).await;
    world.take_back("b.txt", &[]).await;
    assert_eq!(world.project.read("b.txt"), B);
    world.finish().await;
}

#[tokio::test]
async fn what_was_before_another_program_is_never_a_text_that_could_not_be_written() {
    let (world, gate) = (World::new().await, Gate::default());
    let edit = edit_pending(&world, &gate).await;
    world.project.write("b.txt", "one\nzwei\n");
    world.decide("accept", &[(&edit, &[])]).await;
    let failed = |event: &Event| matches!(event, Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. });
    world.client.until(&world.session, "the failure", failed).await;
    gate.open();
    let is_it = |event: &Event| matches!(event, Event::ProposalChanged { proposal } if proposal.landed && proposal.path == "b.txt");
    world.client.until(&world.session, "the look after the turn", is_it).await;
    world.take_back("b.txt", &[]).await;
    assert_eq!(world.project.read("b.txt"), B);
    world.finish().await;
}

/// A server as a process, with a model that runs a command.
#[test]
fn what_a_command_changed_is_listed_and_taken_back_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("a.txt"), A).unwrap();
    let input = json!({ "command": "sed -i 's/two/TWO/; s/five/FIVE/' a.txt" });
    let vendor = Vendor::by_progress(vec![Instant::Call { tool: "shell_run", input }, Instant::Text { pieces: 3 }]);
    let start = || Process::start(harness::binary(), &folder.path().join("data"), &project, &vendor.url());
    let text = || std::fs::read_to_string(project.join("a.txt")).unwrap();

    let mut process = start();
    let session = process.session();
    let prompt = json!([{ "type": "text", "text": "Go." }]);
    process.request("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
    let asked = process.event("permissionAsked");
    let question = &asked["event"]["request"]["permissionId"];
    let answer = json!({ "sessionId": session, "permissionId": question, "optionId": "allow_once" });
    process.request("azimuth/permission/answer", &answer);
    process.event("turnEnded");
    process.kill();

    let listed = |process: &mut Process| {
        process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
        process.request("azimuth/review/list", &json!({ "sessionId": session }))["proposals"][0].take()
    };
    let decide = |process: &mut Process, proposal: &Value, hunk: usize, decision: &str| {
        let target = json!({ "proposalId": proposal["proposalId"], "revision": proposal["revision"],
            "hunkIds": [proposal["hunks"][hunk]["hunkId"]] });
        let params = json!({ "sessionId": session, "decision": decision, "targets": [target] });
        process.ask("azimuth/review/decide", &params);
    };
    let mut process = start();
    let proposal = listed(&mut process);
    assert_eq!((&proposal["landed"], proposal["hunks"].as_array().unwrap().len()), (&json!(true), 2), "{proposal}");
    decide(&mut process, &proposal, 0, "reject");
    process.event("editApplied");
    process.kill();
    assert_eq!(text(), A.replace("five", "FIVE"));

    // Killed on the way: it is there or not, and the next process knows which.
    let mut process = start();
    let proposal = listed(&mut process);
    assert_eq!(proposal["hunks"][1]["state"], "pending", "{proposal}");
    decide(&mut process, &proposal, 1, "reject");
    process.kill();
    let mut process = start();
    let proposal = listed(&mut process);
    if text() == A {
        assert!(proposal.is_null(), "{proposal}");
    } else {
        decide(&mut process, &proposal, 1, "reject");
        process.event("editApplied");
    }
    process.kill();
    assert_eq!(text(), A);
}
