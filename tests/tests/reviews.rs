//! Reviews as a user does them: decisions that cross with news, typing among pending hunks, taking back, and what a
//! command sees of it all.

use std::sync::{Arc, Mutex};

use harness::client::Timing;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::ApplyOutcome;
use protocol::permission::{PermissionOutcome, PermissionRequest};
use protocol::review::{AutoScope, FileChange, HunkState, Proposal, ReviewResult};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
const STALE: i64 = -32011;

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "a.txt", "old_text": old, "new_text": new })
}

/// A session whose agent has proposed edits of `a.txt`, which the editor has open or not, and whose turn has ended.
struct World {
    _setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
    uri: String,
}

impl World {
    async fn new(profile: Profile, open: bool, edits: &[(&str, &str)]) -> Self {
        let edits = edits.iter().fold(Answer::nothing(), |answer, (old, new)| {
            answer.call("edit_replace_exact", edit(&format!("{old}\n"), &format!("{new}\n")))
        });
        let model = ModelServer::start([edits, Answer::says("Proposed.")]).await;
        let setup = Setup::empty();
        // Changes that the tests make to files right after a turn are to be met by decisions, not by the look for what
        // other programs did in the meantime.
        let review = "review_commands = false\n";
        let shell = "[permissions]\nallow = [\"Shell\"]\n";
        setup.configure(&(review.to_owned() + &Setup::configuration(&model, Wire::Anthropic) + shell));
        let project = Project::new([("a.txt", TEXT), ("b.txt", "b\n")]);
        let client = Client::start(&setup, &project, profile).await;
        let uri = project.uri("a.txt");
        if open {
            client.open(&uri);
        }
        let session = client.new_session().await;
        let world = Self { _setup: setup, model, project, client, session, uri };
        world.turn("Write numbers.").await;
        world
    }

    /// The same with nothing pending but that `b.txt`, which is not open, is moved to `new/c.txt`.
    async fn moving() -> Self {
        let world = Self::rejected_with(Profile::panel(), false).await;
        world.model.then(Answer::calls("edit_move_file", json!({ "path": "b.txt", "to": "new/c.txt" })));
        world.model.then(Answer::says("Proposed."));
        world.turn("Move b.").await;
        world
    }

    /// The same with nothing pending.
    async fn rejected(profile: Profile) -> Self {
        Self::rejected_with(profile, true).await
    }

    async fn rejected_with(profile: Profile, open: bool) -> Self {
        let world = Self::new(profile, open, &[("seven", "7")]).await;
        world.decide(&world.proposal().await, "reject", &[]).await;
        world.until_noted("rejected").await;
        world
    }

    async fn turn(&self, words: &str) -> Vec<Event> {
        self.client.prompt(&self.session, words).await;
        self.client.until_end(&self.session, StopReason::EndTurn).await
    }

    /// The proposals of the agent; changes by commands are listed too, and are no part of these stories.
    async fn listed(&self) -> Vec<Proposal> {
        let listed = self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await.proposals;
        listed.into_iter().filter(|proposal| !proposal.landed).collect()
    }

    async fn proposal(&self) -> Proposal {
        let listed = self.listed().await;
        let [proposal] = listed.as_slice() else { panic!("not one proposal: {listed:?}") };
        proposal.clone()
    }

    /// The parameters of a decision, before it is sent.
    fn decision(&self, proposal: &Proposal, decision: &str, hunks: &[usize], message: Option<&str>) -> Value {
        let ids: Vec<_> = hunks.iter().map(|at| &proposal.hunks[*at].hunk_id).collect();
        let mut target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
        if !ids.is_empty() {
            target["hunkIds"] = json!(ids);
        }
        let mut params = json!({ "sessionId": self.session, "decision": decision, "targets": [target] });
        if let Some(message) = message {
            params["message"] = json!(message);
        }
        params
    }

    async fn decide(&self, proposal: &Proposal, decision: &str, hunks: &[usize]) -> ReviewResult {
        self.client.call::<methods::ReviewDecide>(self.decision(proposal, decision, hunks, None)).await
    }

    async fn until_applied(&self) {
        let events =
            self.client.until(&self.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
        let Some(Event::EditApplied { outcome, .. }) = events.last() else { unreachable!() };
        assert_eq!(*outcome, ApplyOutcome::Verified);
    }

    /// Waits until the hunks of the file stand so.
    async fn until_states(&self, states: &[HunkState]) -> Proposal {
        let fits = |event: &Event| match event {
            Event::ProposalChanged { proposal } if !proposal.landed => {
                proposal.hunks.iter().map(|hunk| hunk.state).collect::<Vec<_>>() == states
            }
            _ => false,
        };
        let events = self.client.until(&self.session, "the hunks", fits).await;
        match events.last() {
            Some(Event::ProposalChanged { proposal }) => proposal.clone(),
            _ => unreachable!("the last event is the proposal"),
        }
    }

    async fn until_noted(&self, words: &str) {
        let fits = |event: &Event| matches!(event, Event::Noted { text, .. } if text.contains(words));
        self.client.until(&self.session, words, fits).await;
    }

    /// The text that the model is told with the next prompt.
    async fn heard(&self) -> String {
        self.model.then(Answer::says("I see."));
        self.turn("And?").await;
        self.model.asked().last().expect("a request").user_text()
    }

    async fn finish(self) {
        assert_eq!(self.client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_decision_on_what_has_changed_is_stale_and_shows_what_there_is() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let old = world.proposal().await;
    // The agent edits on: the user's next click was meant for what he saw before.
    world.model.then(Answer::calls("edit_replace_exact", edit("4\n", "IV\n")));
    world.model.then(Answer::says("Better."));
    world.turn("In Roman.").await;
    let stale = world.decision(&old, "accept", &[], None);
    let error = world.client.request("azimuth/review/decide", stale).await.unwrap_err();
    assert_eq!(error.code, STALE, "{error:?}");
    let now: Vec<Proposal> = serde_json::from_value(error.data["proposals"].clone()).unwrap();
    assert_eq!(now, [world.proposal().await]);
    assert!(now[0].revision > old.revision && now[0].hunks[1].new_text == "IV\n", "{now:?}");
    assert_eq!(now[0].hunks[0].hunk_id, old.hunks[0].hunk_id, "what stayed the same keeps its id");
    assert_eq!(world.client.text(&world.uri), TEXT);

    // With what the error said the user decides again.
    world.decide(&now[0], "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.client.text(&world.uri), "1\ntwo\nthree\nIV\nfive\nsix\nseven\n");
    world.finish().await;
}

#[tokio::test]
async fn the_same_decision_twice_is_harmless_and_the_opposite_is_not_taken() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let proposal = world.proposal().await;
    let accept = world.decision(&proposal, "accept", &[0], None);
    let twice = [0, 1].map(|_| world.client.request("azimuth/review/decide", accept.clone()));
    for answer in twice {
        answer.await.unwrap();
    }
    world.until_applied().await;
    world.until_noted("accepted").await;
    world.client.request("azimuth/review/decide", accept).await.unwrap();
    let opposite = world.decision(&proposal, "reject", &[0], None);
    assert_eq!(world.client.request("azimuth/review/decide", opposite).await.unwrap_err().code, STALE);
    for _ in 0..2 {
        world.decide(&proposal, "reject", &[1]).await;
    }
    world.until_noted("rejected").await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("one", "1"));
    assert!(world.listed().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn hunks_accepted_in_quick_succession_all_arrive() {
    for timing in [Timing::BeforeAnswer, Timing::AfterAnswer] {
        let edits = [("one", "1\n1 and a half"), ("four", "4"), ("seven", "7")];
        let world = World::new(Profile { timing, ..Profile::panel() }, true, &edits).await;
        let proposal = world.proposal().await;
        // Nothing waits for the answer to the one before.
        let answers = [2, 0, 1].map(|at| {
            let accept = world.decision(&proposal, "accept", &[at], None);
            world.client.request("azimuth/review/decide", accept)
        });
        for answer in answers {
            answer.await.unwrap();
        }
        for _ in 0..3 {
            world.until_applied().await;
        }
        world.until_noted("accepted").await;
        assert_eq!(world.client.text(&world.uri), "1\n1 and a half\ntwo\nthree\n4\nfive\nsix\n7\n");
        assert!(world.listed().await.is_empty());
        // They came one after another; the notes on the later ones may still be on their way.
        world.client.waive("azimuth/event");
        world.finish().await;
    }
}

#[tokio::test]
async fn a_word_with_a_rejection_reaches_the_model() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let proposal = world.proposal().await;
    let reject = world.decision(&proposal, "reject", &[1], Some("Four is a name here."));
    world.client.call::<methods::ReviewDecide>(reject).await;
    world.until_noted("Four is a name here.").await;
    let heard = world.heard().await;
    assert!(heard.contains("rejected your change to a.txt (line 4)"), "{heard}");
    assert!(heard.contains("Four is a name here."), "{heard}");
    assert_eq!(world.listed().await.len(), 1, "the other is still pending");
    world.finish().await;
}

#[tokio::test]
async fn a_hunk_follows_what_the_user_types_above_it_and_lands_right() {
    let world = World::new(Profile::panel(), true, &[("four", "4")]).await;
    let before = world.proposal().await;
    world.client.replace(&world.uri, "one\n", "zero\n\u{1F980}\none\n");
    let moved = world.until_states(&[HunkState::Pending]).await;
    assert_eq!((moved.revision, moved.hunks[0].start_line), (before.revision, 5), "it moved and is the same");
    // The revision that was seen before the move holds.
    world.decide(&before, "accept", &[0]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.client.text(&world.uri), "zero\n\u{1F980}\none\ntwo\nthree\n4\nfive\nsix\nseven\n");
    assert_eq!(world.project.read("a.txt"), TEXT, "saving is the user's");
    world.finish().await;
}

#[tokio::test]
async fn a_decision_sent_right_after_typing_lands_right_too() {
    let world = World::new(Profile::panel(), true, &[("four", "4")]).await;
    let before = world.proposal().await;
    world.client.replace(&world.uri, "one\n", "");
    let accept = world.decision(&before, "accept", &[0], None);
    world.client.request("azimuth/review/decide", accept).await.unwrap();
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.client.text(&world.uri), "two\nthree\n4\nfive\nsix\nseven\n");
    world.finish().await;
}

#[tokio::test]
async fn a_hunk_that_the_user_types_over_is_in_conflict_and_fits_again_after_an_undo() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    world.client.replace(&world.uri, "four", "vier");
    let conflicted = world.until_states(&[HunkState::Pending, HunkState::Conflicted]).await;
    let accept = world.decision(&conflicted, "accept", &[1], None);
    let error = world.client.request("azimuth/review/decide", accept).await.unwrap_err();
    assert_eq!(error.code, -32016, "{error:?}");
    assert_eq!(world.client.text(&world.uri), TEXT.replace("four", "vier"), "nothing is guessed");
    let heard = world.heard().await;
    assert!(heard.contains("no longer fits"), "{heard}");

    world.client.replace(&world.uri, "vier", "four");
    let fits = world.until_states(&[HunkState::Pending, HunkState::Pending]).await;
    world.decide(&fits, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("one", "1").replace("four", "4"));
    world.finish().await;
}

#[tokio::test]
async fn the_users_undo_of_an_accepted_hunk_is_noticed_and_told() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let proposal = world.proposal().await;
    world.decide(&proposal, "accept", &[1]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    world.client.replace(&world.uri, "4", "four");
    world.until_states(&[HunkState::Pending, HunkState::Undone]).await;
    world.until_noted("took your accepted change").await;
    let heard = world.heard().await;
    assert!(heard.contains("took your accepted change to a.txt (line 4) back"), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_is_not_open_is_written_and_its_changes_on_disk_are_followed() {
    let world = World::new(Profile::panel(), false, &[("one", "1"), ("four", "4")]).await;
    let changed = || {
        let changes = json!({ "changes": [{ "uri": world.uri, "type": 2 }] });
        world.client.notify("workspace/didChangeWatchedFiles", changes);
    };
    // Another program writes a line above: the hunks move. Then it writes over one of them: it is in conflict.
    world.project.write("a.txt", &format!("zero\n{TEXT}"));
    changed();
    let moved = world.until_states(&[HunkState::Pending, HunkState::Pending]).await;
    assert_eq!([moved.hunks[0].start_line, moved.hunks[1].start_line], [1, 4]);
    world.project.write("a.txt", &format!("zero\n{}", TEXT.replace("four", "quatre")));
    changed();
    let conflicted = world.until_states(&[HunkState::Pending, HunkState::Conflicted]).await;
    world.decide(&conflicted, "accept", &[0]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.project.read("a.txt"), format!("zero\n{}", TEXT.replace("four", "quatre").replace("one", "1")));
    world.finish().await;
}

#[tokio::test]
async fn a_file_changed_on_disk_without_a_word_is_not_written_over() {
    let world = World::new(Profile::panel(), false, &[("four", "4")]).await;
    let theirs = TEXT.replace("four", "quatre");
    world.project.write("a.txt", &theirs);
    let proposal = world.proposal().await;
    world.decide(&proposal, "accept", &[]).await;
    let events =
        world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    let failed = matches!(events.last(), Some(Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. }));
    assert!(failed, "{events:?}");
    world.until_states(&[HunkState::Conflicted]).await;
    world.until_noted("no longer fits").await;
    assert_eq!(world.project.read("a.txt"), theirs);
    world.finish().await;
}

/// Has the agent run a command.
async fn command(world: &World, command: &str) {
    world.model.then(Answer::calls("shell_run", json!({ "command": command })));
    world.model.then(Answer::says("Seen."));
    world.client.prompt(&world.session, "Run it.").await;
}

async fn asked(world: &World, title: &str) -> PermissionRequest {
    let question = world.client.until_asked(&world.session).await.1;
    assert!(question.title.contains(title), "{question:?}");
    question
}

/// The result of the command, for the model.
async fn result(world: &World) -> String {
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    world.model.asked().last().expect("a request").last_results().join("\n")
}

/// Shows what is on disk, and does not only read.
const SEE: &str = "head -n 1 a.txt | tee seen.txt";

#[tokio::test]
async fn a_command_may_have_the_pending_edits_first() {
    for open in [true, false] {
        let world = World::new(Profile::panel(), open, &[("one", "1")]).await;
        command(&world, SEE).await;
        let question = asked(&world, "Accept the pending edits").await;
        assert!(question.detail.contains("1 pending hunk in a.txt"), "{question:?}");
        world.client.choose(&world.session, &question, "settle_and_run").await;
        let result = result(&world).await;
        assert!(result.starts_with("1\n"), "{result}");
        // The editor was asked to save: the document was clean before.
        assert_eq!(world.project.read("a.txt"), TEXT.replace("one", "1"));
        assert!(world.listed().await.is_empty());
        world.finish().await;
    }
}

#[tokio::test]
async fn a_command_may_run_without_the_pending_edits_which_stay() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    command(&world, SEE).await;
    let question = asked(&world, "Accept the pending edits").await;
    world.client.choose(&world.session, &question, "run_without").await;
    let result = result(&world).await;
    assert!(result.contains("one\n") && result.contains("without your pending edits: a.txt"), "{result}");
    assert_eq!(world.proposal().await.hunks[0].state, HunkState::Pending);
    world.finish().await;
}

#[tokio::test]
async fn after_edits_in_a_row_that_the_editor_refused_a_command_is_not_held_up() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    world.client.on_request("workspace/applyEdit", |_| Ok(json!({ "applied": false })));
    let proposal = world.proposal().await;
    world.decide(&proposal, "accept", &[0]).await;
    world.decide(&proposal, "accept", &[1]).await;
    for _ in 0..2 {
        let failed = |event: &Event| matches!(event, Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. });
        world.client.until(&world.session, "the refusal", failed).await;
    }
    command(&world, SEE).await;
    let question = asked(&world, "Accept the pending edits").await;
    assert!(question.detail.contains("2 pending hunks in a.txt"), "{question:?}");
    world.client.choose(&world.session, &question, "run_without").await;
    assert!(result(&world).await.contains("one\n"));
    world.finish().await;
}

#[tokio::test]
async fn a_command_may_be_rejected_for_the_pending_edits() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    command(&world, "touch made.txt").await;
    let question = asked(&world, "Accept the pending edits").await;
    world.client.answer(&world.session, &question, "reject_once").await;
    let result = result(&world).await;
    assert!(result.contains("reject"), "{result}");
    assert!(!world.project.path("made.txt").exists());
    assert_eq!(world.proposal().await.hunks[0].state, HunkState::Pending);
    world.finish().await;
}

#[tokio::test]
async fn a_command_goes_on_by_itself_once_the_hunks_it_asks_about_are_decided_one_by_one() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("three", "3")]).await;
    command(&world, SEE).await;
    let question = asked(&world, "Accept the pending edits").await;
    for (hunk, decision) in [(0, "accept"), (1, "reject")] {
        let proposal = world.proposal().await;
        world.decide(&proposal, decision, &[hunk]).await;
    }
    let falls_away = |event: &Event| {
        let Event::PermissionAnswered { permission_id, outcome } = event else { return false };
        *permission_id == question.permission_id && *outcome == PermissionOutcome::Moot
    };
    world.client.until(&world.session, "the question to fall away", falls_away).await;
    let result = result(&world).await;
    assert!(result.contains("1\n") && !result.contains("without your pending edits"), "{result}");
    world.finish().await;
}

#[tokio::test]
async fn a_command_that_only_reads_runs_without_a_question() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    command(&world, "head -n 1 a.txt").await;
    let result = result(&world).await;
    assert!(result.contains("one\n") && result.contains("without your pending edits: a.txt"), "{result}");
    world.finish().await;
}

/// Counts what the editor is asked to save, and does not save it.
fn saves(world: &World) -> Arc<Mutex<Vec<Value>>> {
    let saved = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&saved);
    world.client.on_request("azimuth/editor/save", move |params| {
        into.lock().unwrap().push(params["uri"].clone());
        Ok(json!({ "saved": false }))
    });
    saved
}

#[tokio::test]
async fn our_edit_of_a_clean_document_is_saved_before_a_command_without_a_question() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    world.decide(&world.proposal().await, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.project.read("a.txt"), TEXT, "it waits");
    command(&world, SEE).await;
    let seen = result(&world).await;
    assert!(seen.starts_with("1\n"), "{seen}");

    // An editor that could not save is said to the model.
    world.model.then(Answer::calls("edit_replace_exact", edit("two\n", "2\n")));
    world.model.then(Answer::says("Proposed."));
    world.turn("Another.").await;
    world.decide(&world.proposal().await, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    let saved = saves(&world);
    command(&world, SEE).await;
    let result = result(&world).await;
    assert!(result.contains("a.txt is not saved"), "{result}");
    assert_eq!(*saved.lock().unwrap(), [json!(world.uri)]);
    world.finish().await;
}

#[tokio::test]
async fn the_users_own_unsaved_text_is_saved_only_if_they_say_so() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    world.decide(&world.proposal().await, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    // The text that was ours is the user's own from here on.
    world.client.replace(&world.uri, "two", "my own two");
    command(&world, SEE).await;
    let question = asked(&world, "Save your own changes").await;
    assert_eq!(question.detail, "a.txt");
    world.client.choose(&world.session, &question, "run_without").await;
    let first = result(&world).await;
    assert!(first.contains("one\n") && first.contains("without the user's unsaved text: a.txt"), "{first}");
    assert_eq!(world.project.read("a.txt"), TEXT);

    // A further edit of ours in the same file does not make it ours.
    world.model.then(Answer::calls("edit_replace_exact", edit("three\n", "3\n")));
    world.model.then(Answer::says("Proposed."));
    world.turn("Another.").await;
    world.decide(&world.proposal().await, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    command(&world, SEE).await;
    let question = asked(&world, "Save your own changes").await;
    assert_eq!(world.project.read("a.txt"), TEXT, "not without asking");
    world.client.choose(&world.session, &question, "settle_and_run").await;
    let second = result(&world).await;
    assert!(second.starts_with("1\n"), "{second}");
    assert_eq!(world.project.read("a.txt"), "1\nmy own two\n3\nfour\nfive\nsix\nseven\n");
    world.finish().await;
}

#[tokio::test]
async fn a_file_of_the_users_that_the_agent_never_touched_is_asked_about_too() {
    let world = World::new(Profile::panel(), true, &[("one", "1")]).await;
    world.decide(&world.proposal().await, "reject", &[]).await;
    world.until_noted("rejected").await;
    let other = world.project.uri("b.txt");
    world.client.open(&other);
    world.client.replace(&other, "b", "unsaved b");
    command(&world, "cat b.txt | tee seen.txt").await;
    let question = asked(&world, "Save your own changes").await;
    assert_eq!(question.detail, "b.txt");
    world.client.answer(&world.session, &question, "reject_once").await;
    let refused = result(&world).await;
    assert!(!refused.contains("b\n[exit"), "{refused}");
    // Saved by the user, nothing stands between.
    world.client.save(&other);
    command(&world, "cat b.txt | tee seen.txt").await;
    let seen = result(&world).await;
    assert!(seen.contains("unsaved b"), "{seen}");
    world.finish().await;
}

#[tokio::test]
async fn what_a_command_made_of_a_file_is_not_taken_for_the_users_unsaved_text_in_a_document_that_is_behind() {
    for was_saved in [false, true] {
        let world = World::rejected(Profile::panel()).await;
        if was_saved {
            world.client.replace(&world.uri, "two", "my own two");
            world.client.save(&world.uri);
        }
        command(&world, "echo zero > a.txt").await;
        result(&world).await;
        command(&world, SEE).await;
        let seen = result(&world).await;
        assert!(seen.starts_with("zero\n") && !seen.contains("unsaved"), "{seen}");
        assert_eq!(world.project.read("a.txt"), "zero\n", "nor is it saved over it");
        // Text that is typed into it is the user's own again.
        world.client.replace(&world.uri, "three", "my own three");
        command(&world, SEE).await;
        let question = asked(&world, "Save your own changes").await;
        world.client.choose(&world.session, &question, "run_without").await;
        result(&world).await;
        world.finish().await;
    }
}

#[tokio::test]
async fn a_command_that_changes_a_file_with_pending_hunks_moves_them() {
    let world = World::new(Profile::panel(), false, &[("four", "4")]).await;
    command(&world, "sed -i '1i zero' a.txt").await;
    let question = asked(&world, "Accept the pending edits").await;
    world.client.choose(&world.session, &question, "run_without").await;
    // The model is not told of the command's result before the hunk is where it belongs now.
    world.client.until(&world.session, "the move", |event| matches!(event, Event::ProposalChanged { .. })).await;
    let result = result(&world).await;
    assert!(result.contains("[changed since you last saw them, by this command or the user: a.txt"), "{result}");
    let moved = world.proposal().await;
    assert_eq!((moved.hunks[0].start_line, moved.hunks[0].state), (4, HunkState::Pending));
    world.decide(&moved, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.project.read("a.txt"), format!("zero\n{}", TEXT.replace("four", "4")));
    world.finish().await;
}

#[tokio::test]
async fn the_user_writes_into_the_proposal_and_accepts_what_they_wrote() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("three", "3")]).await;
    let proposal = world.proposal().await;
    let named = json!({ "sessionId": world.session, "proposalId": proposal.proposal_id });
    let texts = world.client.call::<methods::ReviewText>(named.clone()).await;
    assert_eq!(texts.base.as_deref(), Some(TEXT));
    let wanted = texts.proposed.unwrap().replace("3\n", "III\n");
    let mut change = named.clone();
    change["revision"] = json!(proposal.revision);
    change["text"] = json!(wanted);
    world.client.call::<methods::ReviewChange>(change.clone()).await;
    change["text"] = json!("something else\n");
    let stale = world.client.request("azimuth/review/change", change).await.unwrap_err();
    assert_eq!(stale.code, STALE);
    assert_eq!(world.client.text(&world.uri), TEXT, "nothing is accepted by it");

    let proposal = world.until_states(&[HunkState::Pending, HunkState::Pending]).await;
    world.until_noted("changed what you proposed").await;
    world.decide(&proposal, "accept", &[]).await;
    world.until_applied().await;
    world.until_noted("accepted").await;
    assert_eq!(world.client.text(&world.uri), wanted);
    assert!(world.heard().await.contains("The user changed what you proposed for a.txt"));
    world.finish().await;
}

#[tokio::test]
async fn edits_are_accepted_as_they_come_once_the_user_switches_to_it() {
    let world = World::new(Profile::panel(), true, &[("seven", "7")]).await;
    let auto = |on| json!({ "sessionId": world.session, "on": on });
    world.client.call::<methods::ReviewAuto>(auto(true)).await;
    world
        .client
        .until(&world.session, "the switch", |event| {
            *event == Event::AcceptEditsChanged { on: true, scope: AutoScope::Session }
        })
        .await;
    world.model.then(Answer::calls("edit_replace_exact", edit("one\n", "1\n")));
    world.model.then(Answer::says("Done."));
    world.turn("Write a number.").await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("one", "1"));
    assert_eq!(world.proposal().await.hunks[1].state, HunkState::Pending, "what waited before waits on");

    world.client.call::<methods::ReviewAuto>(auto(false)).await;
    world
        .client
        .until(&world.session, "the switch", |event| {
            *event == Event::AcceptEditsChanged { on: false, scope: AutoScope::Session }
        })
        .await;
    world.model.then(Answer::calls("edit_replace_exact", edit("two\n", "2\n")));
    world.model.then(Answer::says("Done."));
    world.turn("Write another.").await;
    let states: Vec<_> = world.proposal().await.hunks.iter().map(|hunk| hunk.state).collect();
    assert_eq!(states, [HunkState::Accepted, HunkState::Pending, HunkState::Pending]);
    world.finish().await;
}

#[tokio::test]
async fn a_new_file_that_the_editor_shows_as_an_empty_document_is_made_in_it() {
    for (empty, opened_first) in [("", false), ("\n", false), ("", true)] {
        let world = World::rejected(Profile::panel()).await;
        let uri = world.project.uri("new.txt");
        if opened_first {
            world.client.open_with(&uri, empty);
        }
        world.model.then(Answer::calls("edit_create_file", json!({ "path": "new.txt", "content": "new\n" })));
        world.model.then(Answer::says("Proposed."));
        world.turn("Make a file.").await;
        if !opened_first {
            world.client.open_with(&uri, empty);
        }
        let proposal = world.proposal().await;
        assert_eq!((proposal.change, proposal.hunks[0].state), (FileChange::Create, HunkState::Pending));
        world.decide(&proposal, "accept", &[]).await;
        world.until_applied().await;
        world.until_noted("accepted").await;
        assert_eq!(world.client.text(&uri), "new\n");
        // It was clean, so it is on disk before a command.
        command(&world, "cat new.txt | tee seen.txt").await;
        let seen = result(&world).await;
        assert!(seen.starts_with("new\n"), "{seen}");
        world.finish().await;
    }
}

#[tokio::test]
async fn an_accepted_edit_that_the_editor_tells_in_pieces_is_no_edit_of_the_users() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let asked = Arc::new(tokio::sync::Notify::new());
    let asks = Arc::clone(&asked);
    world.client.on_request("workspace/applyEdit", move |_| {
        asks.notify_one();
        Ok(json!({ "applied": true }))
    });
    world.decide(&world.proposal().await, "accept", &[]).await;
    asked.notified().await;
    // As Neovim does it: from the bottom, a message for each.
    world.client.replace(&world.uri, "four\n", "");
    world.client.replace(&world.uri, "five\n", "4\nfive\n");
    world.client.replace(&world.uri, "one\n", "1\n");
    let mut states = Vec::new();
    let events =
        world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    for event in &events {
        if let Event::ProposalChanged { proposal } = event {
            states.extend(proposal.hunks.iter().map(|hunk| hunk.state));
        }
    }
    assert!(matches!(events.last(), Some(Event::EditApplied { outcome: ApplyOutcome::Verified, .. })), "{events:?}");
    assert!(!states.contains(&HunkState::Conflicted) && !states.contains(&HunkState::Pending), "{events:?}");
    world.until_noted("accepted").await;
    assert!(world.listed().await.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn an_editor_that_cannot_save_for_us_has_the_user_told_what_was_not_saved() {
    let profile = Profile::panel().with("/experimental/azimuth/save", json!(false));
    let world = World::rejected(profile).await;
    world.client.replace(&world.uri, "one", "my own one");
    command(&world, SEE).await;
    let question = asked(&world, "Save your own changes").await;
    world.client.choose(&world.session, &question, "settle_and_run").await;
    let told = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("a.txt is not saved"));
    world.client.until(&world.session, "a word to the user", told).await;
    let seen = result(&world).await;
    assert!(seen.contains("a.txt is not saved"), "{seen}");
    assert_eq!(world.project.read("a.txt"), TEXT);
    world.finish().await;
}

#[tokio::test]
async fn a_document_that_is_closed_out_of_sync_has_its_text_on_disk_again() {
    let world = World::new(Profile::panel(), true, &[("four", "4")]).await;
    world.project.write("a.txt", &format!("zero\n{TEXT}"));
    let nowhere = json!({ "line": 99, "character": 0 });
    let changes = json!([{ "range": { "start": nowhere, "end": nowhere }, "text": "x" }]);
    let document = json!({ "uri": world.uri, "version": 7 });
    world.client.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": changes }));
    world.client.close(&world.uri);
    let moved = world.until_states(&[HunkState::Pending]).await;
    assert_eq!(moved.hunks[0].start_line, 4);
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_is_moved_goes_from_its_place_only_once_it_is_at_the_new_one() {
    let world = World::moving().await;
    let listed = world.listed().await;
    let [made, gone] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((made.change, gone.change), (FileChange::Create, FileChange::Delete));
    assert_eq!(gone.moved_to.as_ref(), Some(&made.uri));

    world.decide(gone, "accept", &[]).await;
    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
    let events = world.client.until(&world.session, "the refusal", applied).await;
    let Some(Event::EditApplied { outcome: ApplyOutcome::Failed { reason }, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(reason, "it is moved to new/c.txt, which is not there yet: accept that file first");
    assert_eq!(world.project.read("b.txt"), "b\n");

    let listed = world.listed().await;
    let targets: Vec<_> =
        listed.iter().rev().map(|it| json!({ "proposalId": it.proposal_id, "revision": it.revision })).collect();
    let both = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
    world.client.call::<methods::ReviewDecide>(both).await;
    world.until_applied().await;
    world.until_applied().await;
    world.until_noted("accepted your deletion of b.txt").await;
    assert_eq!(world.project.read("new/c.txt"), "b\n");
    assert!(!world.project.path("b.txt").exists());
    world.finish().await;
}

#[tokio::test]
async fn a_moved_file_stays_where_somebody_else_made_a_file_at_its_new_place() {
    let world = World::moving().await;
    let listed = world.listed().await;
    world.project.write("new/c.txt", "somebody else's\n");
    let targets: Vec<_> =
        listed.iter().map(|it| json!({ "proposalId": it.proposal_id, "revision": it.revision })).collect();
    let both = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
    world.client.call::<methods::ReviewDecide>(both).await;
    let failed = |event: &Event| matches!(event, Event::EditApplied { uri, outcome: ApplyOutcome::Failed { .. }, .. } if uri.ends_with("b.txt"));
    world.client.until(&world.session, "the refusal", failed).await;
    assert_eq!(world.project.read("b.txt"), "b\n");
    let gone = world.listed().await.into_iter().find(|it| it.change == FileChange::Delete).expect("the deletion");
    assert_eq!(gone.hunks[0].state, HunkState::Pending);

    // Nor does it go by itself.
    world.decide(&gone, "accept", &[]).await;
    let events = world.client.until(&world.session, "the refusal", failed).await;
    let Some(Event::EditApplied { outcome: ApplyOutcome::Failed { reason }, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(
        reason,
        "it is moved to new/c.txt, where another text is by now, so that its text would be lost: its deletion can only be \
         rejected"
    );
    assert_eq!(world.project.read("b.txt"), "b\n");
    assert_eq!(world.project.read("new/c.txt"), "somebody else's\n");
    world.client.waive("azimuth/event");
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_says_of_a_hunk_decides_nothing_and_the_model_hears_it() {
    let world = World::new(Profile::panel(), true, &[("one", "1"), ("four", "4")]).await;
    let proposal = world.proposal().await;
    let comment = |hunk: &str, text: &str| json!({ "sessionId": world.session, "proposalId": proposal.proposal_id, "hunkId": hunk, "text": text });
    let id = proposal.hunks[1].hunk_id.as_str();
    let said = world.client.call::<methods::ReviewComment>(comment(id, " Why not a word? ")).await;
    assert_eq!(said.proposals[0].hunks[1].comments, ["Why not a word?"]);
    assert_eq!(said.proposals[0].revision, proposal.revision, "what they saw still counts");
    world.until_noted("which this does not decide").await;
    let heard = world.heard().await;
    assert!(
        heard.contains("The user says of your change to a.txt (line 4)") && heard.contains("Why not a word?"),
        "{heard}"
    );
    let now = world.proposal().await;
    assert_eq!((now.hunks[1].state, now.hunks[1].untold_comments), (HunkState::Pending, 0));
    let params = |hunk: &str, text: &str| world.client.request("azimuth/review/comment", comment(hunk, text));
    assert_eq!(params(id, "  ").await.unwrap_err().code, -32602);
    assert_eq!(params("h0", "x").await.unwrap_err().message, "there is no hunk h0");
    world.finish().await;
}
