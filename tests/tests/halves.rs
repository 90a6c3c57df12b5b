//! Calls of which only a part was made: whichever part failed, and whenever, the user and the model are told, and told
//! what can be done about it.

#![expect(clippy::disallowed_methods, reason = "the user takes files of the project away")]

use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::{ApplyOutcome, SeenOccasion, Severity};
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// A move with a change.
const MOVE: &str = "*** Update File: old.txt\n*** Move to: new.txt\n@@\n-old\n+changed\n";
const WHY_OPEN: &str = "it is open in the editor; close it there to have it deleted";

/// A project with `old.txt`, and a session whose model edits by patches.
struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

fn configure(setup: &Setup, model: &ModelServer, settings: &str) {
    let settings = format!("edit_mode = \"patch\"\nreview_commands = false\n{settings}");
    setup.configure(&(settings + &Setup::configuration(model, Wire::Anthropic)));
}

fn patch(answer: Answer, body: &str) -> Answer {
    answer.call("edit_apply_patch", json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") }))
}

async fn listed(client: &Client, session: &SessionId) -> Vec<Proposal> {
    client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals
}

async fn decide(client: &Client, session: &SessionId, decision: &str, files: &[&str]) {
    let listed = listed(client, session).await;
    let of = |file: &&str| {
        let proposal = listed.iter().find(|it| it.path == *file).unwrap_or_else(|| panic!("{file}: {listed:?}"));
        json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision })
    };
    let targets: Vec<Value> = files.iter().map(of).collect();
    let params = json!({ "sessionId": session, "decision": decision, "targets": targets });
    client.call::<methods::ReviewDecide>(params).await;
}

fn is_said(event: &Event, words: &str) -> bool {
    matches!(event, Event::Notice { severity: Severity::Warning, text } if text.contains(words))
}

impl World {
    async fn new(settings: &str) -> Self {
        Self::in_editor(Profile::panel(), settings).await
    }

    async fn in_editor(profile: Profile, settings: &str) -> Self {
        let project = Project::new([("old.txt", "old\n")]);
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        configure(&setup, &model, settings);
        let client = Client::start(&setup, &project, profile).await;
        let session = client.new_session().await;
        Self { setup, model, project, client, session }
    }

    /// The same with `old.txt` open in an editor that deletes no files, so that its deletion fails.
    async fn with_old_open(settings: &str) -> Self {
        let deletes_none = Profile::panel().with("/workspace/workspaceEdit/resourceOperations", json!([]));
        let world = Self::in_editor(deletes_none, settings).await;
        world.client.open(&world.project.uri("old.txt"));
        world
    }

    /// A turn that makes these calls, one after the other.
    async fn turn(&self, patches: &[&str]) -> Vec<Event> {
        for body in patches {
            self.model.then(patch(Answer::nothing(), body));
        }
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Change the files.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await
    }

    async fn decide(&self, decision: &str, files: &[&str]) {
        decide(&self.client, &self.session, decision, files).await;
    }

    async fn state(&self, file: &str) -> HunkState {
        let listed = listed(&self.client, &self.session).await;
        listed.iter().find(|it| it.path == file).unwrap_or_else(|| panic!("{file}: {listed:?}")).hunks[0].state
    }

    /// Waits until an accepted edit of a file has failed, and says why.
    async fn until_failed(&self, file: &str) -> String {
        let failed = |event: &Event| matches!(event, Event::EditApplied { uri, outcome: ApplyOutcome::Failed { .. }, .. } if uri.ends_with(file));
        match self.client.until(&self.session, "the failure", failed).await.pop() {
            Some(Event::EditApplied { outcome: ApplyOutcome::Failed { reason }, .. }) => reason,
            other => unreachable!("{other:?}"),
        }
    }

    async fn until_applied(&self) {
        let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
        let events = self.client.until(&self.session, "the edit", applied).await;
        let Some(Event::EditApplied { outcome, .. }) = events.last() else { unreachable!() };
        assert_eq!(*outcome, ApplyOutcome::Verified);
    }

    /// Waits until the user is told so.
    async fn until_said(&self, words: &str) -> Vec<Event> {
        self.client.until(&self.session, words, |event| is_said(event, words)).await
    }

    /// The text that the model is told with the next prompt.
    async fn heard(&self) -> String {
        self.turn(&[]).await;
        self.model.asked().last().expect("a request").user_text()
    }

    /// Closes `old.txt` and accepts what is pending: the deletion that was missing.
    async fn finish_the_move(&self) {
        self.client.close(&self.project.uri("old.txt"));
        self.decide("accept", &["old.txt"]).await;
        self.until_applied().await;
        assert!(!self.project.path("old.txt").exists());
        assert_eq!(self.project.read("new.txt"), "changed\n");
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

#[tokio::test]
async fn the_user_and_the_model_are_told_of_a_call_of_which_only_a_part_was_accepted_as_it_came() {
    let world = World::with_old_open("accept_edits = true\n").await;
    let events = world.turn(&[MOVE]).await;
    let words = format!("An edit was made only in part. It is in new.txt, and not in old.txt: {WHY_OPEN}");
    assert!(events.iter().any(|event| is_said(event, &words)), "{events:?}");
    let told = world.model.asked_times(2).await.last_results().join("");
    assert!(told.contains("old.txt: it is open in the editor"), "{told}");
    assert!(told.contains("made only in part: it is in new.txt. What is missing is pending"), "{told}");
    world.finish_the_move().await;
    world.finish().await;
}

#[tokio::test]
async fn a_call_that_is_half_made_after_its_turn_was_cancelled_is_told_to_the_next() {
    let world = World::new("accept_edits = true\n").await;
    world.client.open(&world.project.uri("old.txt"));
    world.client.hold("workspace/applyEdit");
    world.model.then(patch(Answer::nothing(), MOVE));
    world.client.prompt(&world.session, "Change the files.").await;
    let held = world.client.asked("workspace/applyEdit").await;
    world.client.call::<methods::TurnCancel>(json!({ "sessionId": world.session })).await;
    world.client.until_end(&world.session, StopReason::Cancelled).await;
    held.answer(json!({ "applied": false, "failureReason": "not now" }));
    world.until_said("It is in new.txt, and not in old.txt").await;
    let heard = world.heard().await;
    assert_eq!(heard.matches("made only in part. It is in new.txt, and not in old.txt").count(), 1, "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_is_open_is_moved_by_an_accepted_edit_and_its_document_goes() {
    let world = World::new("accept_edits = true\n").await;
    world.client.open(&world.project.uri("old.txt"));
    world.turn(&[MOVE]).await;
    assert!(!world.project.path("old.txt").exists() && !world.client.is_open(&world.project.uri("old.txt")));
    assert_eq!(world.project.read("new.txt"), "changed\n");
    let told = world.model.asked_times(2).await.last_results().join("");
    assert!(told.ends_with("Applied (+1 -1 lines)."), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn a_half_made_call_is_told_whichever_part_came_first() {
    let words = "made only in part. It is in new.txt, and not in old.txt: ";
    for order in [&[&["new.txt", "old.txt"][..]][..], &[&["new.txt"], &["old.txt"]], &[&["old.txt"], &["new.txt"]]] {
        let world = World::with_old_open("").await;
        world.turn(&[MOVE]).await;
        for (at, files) in order.iter().enumerate() {
            world.decide("accept", files).await;
            if at + 1 < order.len() {
                world
                    .client
                    .until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. }))
                    .await;
            }
        }
        world.until_said(words).await;
        let heard = world.heard().await;
        assert!(heard.contains(words) && heard.contains("What is missing is pending"), "{order:?}: {heard}");
        let again = world.heard().await;
        assert_eq!(again.matches(words).count(), heard.matches(words).count(), "it is told once");
        world.finish_the_move().await;
        world.finish().await;
    }
}

#[tokio::test]
async fn a_half_made_call_is_told_also_where_a_later_call_had_a_part_in_what_failed() {
    let world = World::with_old_open("").await;
    let first = "*** Add File: new.txt\n+new\n*** Update File: old.txt\n@@\n-old\n+older\n";
    world.turn(&[first, "*** Delete File: old.txt\n"]).await;
    world.decide("accept", &["new.txt", "old.txt"]).await;
    let words = format!("made only in part. It is in new.txt, and not in old.txt: {WHY_OPEN}");
    world.until_said(&words).await;
    let heard = world.heard().await;
    assert!(heard.contains(&words), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn what_no_longer_fits_is_said_to_be_for_rejecting_only_and_the_model_is_to_make_it_anew() {
    let world = World::new("").await;
    world.turn(&["*** Add File: new.txt\n+new\n*** Update File: old.txt\n@@\n-old\n+changed\n"]).await;
    world.project.write("old.txt", "another\n");
    world.decide("accept", &["new.txt", "old.txt"]).await;
    let said = "What was meant for old.txt no longer fits there, and can only be rejected";
    let events = world.until_said(said).await;
    let is_other = |event: &Event| is_said(event, "for you to decide");
    assert!(!events.iter().any(is_other), "{events:?}");
    assert_eq!(world.state("old.txt").await, HunkState::Conflicted);
    let heard = world.heard().await;
    let advice = "What was meant for old.txt no longer fits there: read it again, and make that part anew";
    assert!(heard.contains(advice) && !heard.contains("What is missing is pending"), "{heard}");
    world.decide("reject", &["old.txt"]).await;
    world.finish().await;
}

#[tokio::test]
async fn a_moved_file_whose_new_place_was_rejected_stays_and_the_user_is_not_told_to_accept_that() {
    let world = World::new("").await;
    world.turn(&[MOVE]).await;
    world.decide("reject", &["new.txt"]).await;
    world.decide("accept", &["old.txt"]).await;
    let reason = world.until_failed("old.txt").await;
    let expected = "it is moved to new.txt, which was rejected, so that its text would be lost: its deletion can only be \
                    rejected";
    assert_eq!(reason, expected);
    assert_eq!(world.project.read("old.txt"), "old\n");
    // Where the model makes the file there after all, it can go.
    world.turn(&["*** Add File: new.txt\n+anew\n"]).await;
    world.decide("accept", &["old.txt"]).await;
    let reason = world.until_failed("old.txt").await;
    assert_eq!(reason, "it is moved to new.txt, which is not there yet: accept that file first");
    world.decide("reject", &["old.txt", "new.txt"]).await;
    world.finish().await;
}

#[tokio::test]
async fn a_moved_file_whose_deletion_failed_is_proposed_anew_by_its_new_place_only_where_that_was_missing() {
    let world = World::with_old_open("").await;
    world.turn(&[MOVE]).await;
    world.decide("accept", &["new.txt", "old.txt"]).await;
    world.until_failed("old.txt").await;
    let revision = async || listed(&world.client, &world.session).await[0].revision;
    let before = revision().await;
    world.turn(&["*** Update File: new.txt\n@@\n-changed\n+further\n"]).await;
    world.decide("accept", &["new.txt"]).await;
    world.until_applied().await;
    assert_eq!(revision().await, before, "what the user saw is as it was");
    world.finish().await;
}

/// Both ways to a file that moves with a change to where its turn has made room, in each order of accepting.
#[tokio::test]
async fn chains_of_moves_end_as_they_say_in_each_order_of_accepting_or_it_is_told_what_is_missing() {
    let there = "*** Update File: old.txt\n*** Move to: b.txt\n@@\n-old\n+one\n";
    let back = "*** Update File: b.txt\n*** Move to: old.txt\n@@\n-one\n+changed\n";
    let room = "*** Delete File: new.txt\n";
    for (chain, result) in [(&[room, MOVE], "new.txt"), (&[there, back], "old.txt")] {
        for backwards in [false, true] {
            let world = World::new("").await;
            if result == "new.txt" {
                world.project.write("new.txt", "new\n");
            }
            world.turn(chain).await;
            for _ in 0..4 {
                let mut waits = listed(&world.client, &world.session).await;
                if waits.is_empty() {
                    break;
                }
                if backwards {
                    waits.reverse();
                }
                for file in waits {
                    world.decide("accept", &[&file.path]).await;
                    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
                    world.client.until(&world.session, "the edit", applied).await;
                }
            }
            assert_eq!(world.project.read(result), "changed\n", "{chain:?}, {backwards}");
            let left: Vec<_> =
                std::fs::read_dir(world.project.folder()).unwrap().map(|it| it.unwrap().file_name()).collect();
            assert_eq!(left, [result], "{chain:?}, {backwards}");
            world.finish().await;
        }
    }
}

/// A move whose text is made at the new place, and whose deletion at the old one hangs in the editor's answer. The
/// window is killed there.
async fn killed_in_the_middle(setup: &Setup, model: &ModelServer, project: &Project) -> SessionId {
    let window = Window::open(setup, project, Profile::panel()).await;
    let session = window.new_session().await;
    model.then(patch(Answer::nothing(), MOVE));
    model.then(Answer::says("Done."));
    window.prompt(&session, "Move it.").await;
    window.until_end(&session, StopReason::EndTurn).await;
    window.hold("azimuth/editor/text");
    decide(&window, &session, "accept", &["new.txt", "old.txt"]).await;
    let made = window.asked("azimuth/editor/text").await;
    assert!(made.params["uri"].as_str().unwrap().ends_with("new.txt"));
    made.answer(json!({ "text": null }));
    window.asked("azimuth/editor/text").await;
    assert_eq!((project.read("new.txt").as_str(), project.read("old.txt").as_str()), ("changed\n", "old\n"));
    window.kill().await;
    session
}

#[tokio::test]
async fn a_move_that_a_kill_cuts_in_two_is_told_after_the_restart_and_can_be_finished_or_undone() {
    for finishes in [true, false] {
        let (setup, model) = (Setup::empty(), ModelServer::start([]).await);
        configure(&setup, &model, "");
        let project = Project::new([("old.txt", "old\n")]);
        let session = killed_in_the_middle(&setup, &model, &project).await;

        let window = Window::open(&setup, &project, Profile::panel()).await;
        let words = "made only in part. It is in new.txt, and not in old.txt: Azimuth ended before it was changed";
        let opened = window.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        let said = opened.events.iter().filter(|event| is_said(&event.event, words)).count();
        assert_eq!(said, 1, "{:#?}", opened.events);
        model.then(Answer::says("I see."));
        window.prompt(&session, "And?").await;
        window.until_end(&session, StopReason::EndTurn).await;
        let heard = model.asked().last().expect("a request").user_text();
        assert!(heard.contains(words) && heard.contains("What is missing is pending"), "{heard}");

        if finishes {
            decide(&window, &session, "accept", &["old.txt"]).await;
            window.until(&session, "the deletion", |event| matches!(event, Event::EditApplied { .. })).await;
            assert!(!project.path("old.txt").exists());
            assert_eq!(project.read("new.txt"), "changed\n");
        } else {
            let undo = json!({ "sessionId": session });
            window.call::<methods::CheckpointUndo>(undo).await;
            assert!(!project.path("new.txt").exists(), "what was made before the kill is undone, too");
            assert_eq!(project.read("old.txt"), "old\n");
        }
        window.close().await;

        // Who opens it again is not told the same again.
        let window = Window::open(&setup, &project, Profile::panel()).await;
        let opened = window.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        assert_eq!(opened.events.iter().filter(|event| is_said(&event.event, words)).count(), 1);
        window.close().await;
    }
}

#[tokio::test]
async fn a_moved_file_stays_where_the_user_put_another_at_its_new_place_while_azimuth_was_off() {
    for (own, goes) in [("the user's own\n", false), ("changed\n", true)] {
        let world = World::new("").await;
        world.turn(&[MOVE]).await;
        world.decide("accept", &["new.txt"]).await;
        world.until_applied().await;
        let World { setup, model, project, client, session } = world;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        std::fs::remove_file(project.path("new.txt")).unwrap();
        project.write("new.txt", own);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        let world = World { setup, model, project, client, session };
        world.decide("accept", &["old.txt"]).await;
        if goes {
            world.until_applied().await;
            assert!(!world.project.path("old.txt").exists());
        } else {
            let reason = world.until_failed("old.txt").await;
            assert!(reason.contains("where another text is by now"), "{reason}");
            assert_eq!(world.project.read("old.txt"), "old\n");
            world.decide("reject", &["old.txt"]).await;
        }
        world.finish().await;
    }
}

/// A window whose editor deletes no files and has `old.txt` open, with a call that moves it and changes two others, of
/// which nothing is accepted yet.
async fn with_a_third_file(setup: &Setup, model: &ModelServer, project: &Project) -> (Window, SessionId) {
    let deletes_none = Profile::panel().with("/workspace/workspaceEdit/resourceOperations", json!([]));
    let window = Window::open(setup, project, deletes_none).await;
    window.open(&project.uri("old.txt"));
    let session = window.new_session().await;
    let others =
        "*** Update File: third.txt\n@@\n-third\n+changed third\n*** Update File: fourth.txt\n@@\n-fourth\n+4\n";
    model.then(patch(Answer::nothing(), &format!("{MOVE}{others}")));
    model.then(Answer::says("Done."));
    window.prompt(&session, "Change the files.").await;
    window.until_end(&session, StopReason::EndTurn).await;
    (window, session)
}

/// Lets edits of files that no editor has open go on, up to this one; but `third.txt` stays on its way.
async fn let_go_on(window: &Window, last: &str) {
    loop {
        let asked = window.asked("azimuth/editor/text").await;
        let uri = asked.params["uri"].as_str().unwrap().to_owned();
        if !uri.ends_with("third.txt") {
            asked.answer(json!({ "text": null }));
        }
        if uri.ends_with(last) {
            return;
        }
    }
}

/// Kills the window while the edit of `third.txt` is on its way, and has it arrive.
async fn killed_before_the_third_file(window: Window, project: &Project) {
    window.kill().await;
    project.write("third.txt", "changed third\n");
}

/// How often the user was told of a half made call, and the model, once the session is opened again and given a prompt.
async fn told_after_a_restart(
    setup: &Setup,
    model: &ModelServer,
    project: &Project,
    session: &SessionId,
) -> [usize; 2] {
    let window = Window::open(setup, project, Profile::panel()).await;
    window.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    model.then(Answer::says("I see."));
    window.prompt(session, "And?").await;
    window.until_end(session, StopReason::EndTurn).await;
    let opened = window.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    let user = opened.events.iter().filter(|event| is_said(&event.event, "made only in part")).count();
    let is_note = |event: &Event| matches!(event, Event::Noted { text, .. } if text.contains("made only in part"));
    let noted = opened.events.iter().filter(|event| is_note(&event.event)).count();
    window.close().await;
    [user, noted]
}

#[tokio::test]
async fn a_half_made_call_of_which_was_told_is_not_told_again_where_another_file_of_it_arrives_around_a_kill() {
    let (setup, model) = (Setup::empty(), ModelServer::start([]).await);
    configure(&setup, &model, "");
    model.may_rewrite();
    let project = Project::new([("old.txt", "old\n"), ("third.txt", "third\n"), ("fourth.txt", "fourth\n")]);
    let (window, session) = with_a_third_file(&setup, &model, &project).await;
    decide(&window, &session, "accept", &["new.txt", "old.txt"]).await;
    let is_note = |event: &Event| matches!(event, Event::Noted { text, .. } if text.contains("made only in part"));
    window.until(&session, "the note", is_note).await;
    window.hold("azimuth/editor/text");
    decide(&window, &session, "accept", &["third.txt"]).await;
    let_go_on(&window, "third.txt").await;
    killed_before_the_third_file(window, &project).await;
    assert_eq!(told_after_a_restart(&setup, &model, &project, &session).await, [1, 1]);
    assert_eq!(told_after_a_restart(&setup, &model, &project, &session).await, [1, 1]);
}

#[tokio::test]
async fn a_half_made_call_is_told_where_its_last_file_arrives_between_a_kill_and_the_restart() {
    let (setup, model) = (Setup::empty(), ModelServer::start([]).await);
    configure(&setup, &model, "");
    model.may_rewrite();
    let project = Project::new([("old.txt", "old\n"), ("third.txt", "third\n"), ("fourth.txt", "fourth\n")]);
    let (window, session) = with_a_third_file(&setup, &model, &project).await;
    window.hold("azimuth/editor/text");
    decide(&window, &session, "accept", &["new.txt"]).await;
    let_go_on(&window, "new.txt").await;
    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
    window.until(&session, "the edit", applied).await;
    decide(&window, &session, "accept", &["third.txt", "old.txt"]).await;
    window.until(&session, "the failure", applied).await;
    // Nothing was told of it yet, since the third file is on its way. The model hears of the decisions meanwhile.
    decide(&window, &session, "accept", &["fourth.txt"]).await;
    let_go_on(&window, "fourth.txt").await;
    window.until(&session, "the note", |event| matches!(event, Event::Noted { .. })).await;
    killed_before_the_third_file(window, &project).await;
    assert_eq!(told_after_a_restart(&setup, &model, &project, &session).await, [1, 1]);
    assert_eq!(told_after_a_restart(&setup, &model, &project, &session).await, [1, 1]);
}

/// Accepts the new place of a moved file, and ends the server.
async fn moved_in_part() -> (Setup, ModelServer, Project, SessionId) {
    let world = World::new("").await;
    world.model.may_rewrite();
    world.turn(&[MOVE]).await;
    world.decide("accept", &["new.txt"]).await;
    world.until_applied().await;
    let World { setup, model, project, client, session } = world;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
    (setup, model, project, session)
}

async fn opened_again(setup: Setup, model: ModelServer, project: Project, session: SessionId) -> World {
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    World { setup, model, project, client, session }
}

#[tokio::test]
async fn what_was_found_at_a_restart_holds_after_the_next_one() {
    let (setup, model, project, session) = moved_in_part().await;
    project.write("new.txt", "the user's own\n");
    let world = opened_again(setup, model, project, session).await;
    world.turn(&["*** Update File: new.txt\n@@\n-the user's own\n+further\n"]).await;
    world.decide("accept", &["new.txt"]).await;
    world.until_applied().await;
    let World { setup, model, project, client, session } = world;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    let world = opened_again(setup, model, project, session).await;
    world.decide("accept", &["old.txt"]).await;
    let reason = world.until_failed("old.txt").await;
    assert!(reason.contains("where another text is by now"), "{reason}");
    assert_eq!(world.project.read("old.txt"), "old\n");
    world.finish().await;
}

#[tokio::test]
async fn a_moved_file_goes_also_after_a_restart_where_the_user_wrote_on_at_its_new_place() {
    let world = World::new("").await;
    world.turn(&[MOVE]).await;
    world.decide("accept", &["new.txt"]).await;
    world.until_applied().await;
    let new = world.project.uri("new.txt");
    world.client.open(&new);
    world.client.replace(&new, "changed", "changed, and by the user too");
    world.client.save(&new);
    let seen = |event: &Event| matches!(event, Event::FileSeen { occasion: SeenOccasion::Save, .. });
    world.client.until(&world.session, "the save", seen).await;
    let World { setup, model, project, client, session } = world;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    let world = opened_again(setup, model, project, session).await;
    world.decide("accept", &["old.txt"]).await;
    world.until_applied().await;
    assert!(!world.project.path("old.txt").exists());
    assert_eq!(world.project.read("new.txt"), "changed, and by the user too\n");
    world.finish().await;
}

#[tokio::test]
async fn a_file_whose_deletion_a_kill_cut_off_comes_back_byte_for_byte() {
    const BYTES: &str = "\u{feff}old\r\nlast\r\n";
    for is_open in [true, false] {
        let (setup, model) = (Setup::empty(), ModelServer::start([]).await);
        configure(&setup, &model, "");
        let project = Project::new([("old.txt", BYTES)]);
        let window = Window::open(&setup, &project, Profile::panel()).await;
        if is_open {
            window.open(&project.uri("old.txt"));
        }
        let session = window.new_session().await;
        model.then(patch(Answer::nothing(), "*** Delete File: old.txt\n"));
        model.then(Answer::says("Done."));
        window.prompt(&session, "Delete it.").await;
        window.until_end(&session, StopReason::EndTurn).await;
        window.hold("workspace/applyEdit");
        decide(&window, &session, "accept", &["old.txt"]).await;
        let seen = |event: &Event| matches!(event, Event::FileSeen { occasion: SeenOccasion::Deletion, .. });
        window.until(&session, "the look at the file", seen).await;
        window.kill().await;
        // It has gone, and nobody heard of it; where the kill came before that, it goes now.
        let _ = std::fs::remove_file(project.path("old.txt"));

        let window = Window::open(&setup, &project, Profile::panel()).await;
        window.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        window.call::<methods::CheckpointUndo>(json!({ "sessionId": session })).await;
        assert_eq!(std::fs::read(project.path("old.txt")).unwrap(), BYTES.as_bytes(), "open: {is_open}");
        window.close().await;
    }
}
