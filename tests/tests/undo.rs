//! Taking back what a turn did to files, and putting it again: across files and restarts, and never over what the user
//! wrote since.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use harness::process::Process;
use harness::vendor::{Instant as Instantly, Vendor};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use ports::store::Store;
use protocol::checkpoint::{
    CheckpointFile, CheckpointListResult, CheckpointPreviewResult, CheckpointRestoreResult, CheckpointState,
    RestoreOutcome,
};
use protocol::review::{FileChange, HunkState};
use protocol::session::Purpose;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TurnId, methods};
use serde_json::{Value, json};
use store::SqliteStore;

/// The project before the first turn.
const FILES: [(&str, &str); 4] =
    [("a.txt", "one\ntwo\n"), ("b.txt", "one\ntwo\n"), ("c.txt", "one\r\ntwo\r\n"), ("src/d.txt", "one\n")];

/// A session whose edits are accepted automatically.
struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new(profile: Profile) -> Self {
        Self::with(profile, "").await
    }

    async fn with(profile: Profile, settings: &str) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let providers = Setup::configuration(&model, Wire::Anthropic);
        let rules = "[permissions]\nallow = [\"Shell\"]\n";
        setup.configure(&format!("accept_edits = true\n{settings}\n{providers}{rules}"));
        let project = Project::new(FILES);
        let client = Client::start(&setup, &project, profile).await;
        let session = client.new_session().await;
        Self { setup, model, project, client, session }
    }

    /// A turn in which the model does this.
    async fn turn(&self, calls: &[(&str, Value)]) -> TurnId {
        if !calls.is_empty() {
            let call = |answer: Answer, (tool, input): &(&str, Value)| answer.call(tool, input.clone());
            self.model.then(calls.iter().fold(Answer::nothing(), call));
        }
        self.model.then(Answer::says("Done."));
        let turn = self.client.prompt(&self.session, "Change the files.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await;
        turn
    }

    /// A turn over five files: three are changed, one of them with CRLF, one is made in a new folder, one is edited
    /// twice.
    async fn big_turn(&self) -> TurnId {
        self.turn(&[
            replace("a.txt", "one", "1"),
            replace("b.txt", "one", "1"),
            replace("b.txt", "two", "2"),
            replace("c.txt", "two", "2"),
            replace("src/d.txt", "one", "1"),
            ("edit_create_file", json!({ "path": "new/e.txt", "content": "e\n" })),
        ])
        .await
    }

    /// A turn with a command, before whose last part the user changes `a.txt`, which is open, and saves it.
    async fn save_while_it_runs(&self, last: &str) {
        let uri = self.project.uri("a.txt");
        self.client.open(&uri);
        let (tool, input) = run(&format!("touch started; until [ -e go ]; do sleep 0.01; done; {last}"));
        self.model.then(Answer::calls(tool, input));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Wait.").await;
        let started = |event: &Event| matches!(event, Event::TerminalStarted { .. });
        self.client.until(&self.session, "the command", started).await;
        self.client.replace(&uri, "one", "mine");
        self.project.write("a.txt", "mine\ntwo\n");
        self.client.save(&uri);
        // The answer to a request comes after what was said before it has been heard.
        self.list().await;
        self.project.write("go", "");
        self.client.until_end(&self.session, StopReason::EndTurn).await;
    }

    /// A turn whose edit was accepted, and one whose edit is undecided: the first, and the decision to accept.
    async fn turn_before_an_undecided_hunk(&self) -> (TurnId, Value) {
        let turn = self.turn(&[replace("a.txt", "one", "1")]).await;
        let auto = json!({ "sessionId": self.session, "on": false });
        self.client.call::<methods::ReviewAuto>(auto).await;
        self.turn(&[replace("b.txt", "one", "1")]).await;
        let list = self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await;
        let target = json!({ "proposalId": list.proposals[0].proposal_id, "revision": list.proposals[0].revision });
        (turn, json!({ "sessionId": self.session, "decision": "accept", "targets": [target] }))
    }

    async fn list(&self) -> CheckpointListResult {
        self.client.call::<methods::CheckpointList>(json!({ "sessionId": self.session })).await
    }

    /// The files of the only turn that changed any.
    async fn files(&self) -> Vec<CheckpointFile> {
        let list = self.list().await;
        let [turn] = list.turns.as_slice() else { panic!("not one turn: {list:?}") };
        turn.files.clone()
    }

    async fn preview(&self, more: Value) -> CheckpointPreviewResult {
        self.client.call::<methods::CheckpointPreview>(self.params(more)).await
    }

    async fn undo(&self, more: Value) -> CheckpointRestoreResult {
        self.client.call::<methods::CheckpointUndo>(self.params(more)).await
    }

    async fn redo(&self, more: Value) -> CheckpointRestoreResult {
        self.client.call::<methods::CheckpointRedo>(self.params(more)).await
    }

    fn params(&self, mut more: Value) -> Value {
        more["sessionId"] = json!(self.session);
        more
    }

    /// The text that the model is told with the next prompt.
    async fn heard(&self) -> String {
        self.turn(&[]).await;
        self.model.asked().last().expect("a request").user_text()
    }

    /// The same with a new server, which takes the session up.
    async fn restarted(self) -> Self {
        let Self { setup, model, project, client, session } = self;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        Self { setup, model, project, client, session }
    }

    fn assert_before(&self) {
        for (file, text) in FILES {
            assert_eq!(self.project.read(file), text, "{file}");
        }
        assert!(!self.project.path("new/e.txt").exists());
    }

    fn assert_after(&self) {
        let after = [("a.txt", "1\ntwo\n"), ("b.txt", "1\n2\n"), ("c.txt", "one\r\n2\r\n"), ("src/d.txt", "1\n")];
        for (file, text) in after.into_iter().chain([("new/e.txt", "e\n")]) {
            assert_eq!(self.project.read(file), text, "{file}");
        }
    }

    /// The events from here on, up to the news of an undo or redo.
    async fn until_restored(&self) -> Vec<Event> {
        let is_it = |event: &Event| matches!(event, Event::CheckpointRestored { .. });
        self.client.until(&self.session, "the undo", is_it).await
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

fn replace(path: &str, old: &str, new: &str) -> (&'static str, Value) {
    ("edit_replace_exact", json!({ "path": path, "old_text": old, "new_text": new }))
}

fn run(command: &str) -> (&'static str, Value) {
    ("shell_run", json!({ "command": command }))
}

/// The files with how each went, in one line.
fn outcomes(result: &CheckpointRestoreResult) -> Vec<String> {
    let of = |outcome: &RestoreOutcome| match outcome {
        RestoreOutcome::Done => "done".to_owned(),
        RestoreOutcome::Unverified => "unverified".to_owned(),
        RestoreOutcome::Left { reason } => format!("left, {reason}"),
        RestoreOutcome::Failed { reason } => format!("failed, {reason}"),
    };
    result.files.iter().map(|file| format!("{}: {}", file.path, of(&file.outcome))).collect()
}

const ALL_DONE: [&str; 5] = ["a.txt: done", "b.txt: done", "c.txt: done", "new/e.txt: done", "src/d.txt: done"];

#[tokio::test]
async fn a_turn_over_five_files_is_taken_back_and_put_again() {
    let world = World::new(Profile::panel()).await;
    let turn = world.big_turn().await;
    world.assert_after();
    let files = world.files().await;
    let listed: Vec<_> =
        files.iter().map(|file| (file.path.as_str(), file.change, file.added, file.removed, file.state)).collect();
    let applied = CheckpointState::Applied;
    let expected = [
        ("a.txt", FileChange::Modify, 1, 1, applied),
        ("b.txt", FileChange::Modify, 2, 2, applied),
        ("c.txt", FileChange::Modify, 1, 1, applied),
        ("new/e.txt", FileChange::Create, 1, 0, applied),
        ("src/d.txt", FileChange::Modify, 1, 1, applied),
    ];
    assert_eq!(listed, expected);
    assert_eq!(world.preview(json!({})).await.turn_ids, std::slice::from_ref(&turn));
    world.assert_after();

    let undone = world.undo(json!({ "turnId": turn })).await;
    assert_eq!(outcomes(&undone), ALL_DONE);
    world.assert_before();
    assert!(world.files().await.iter().all(|file| file.state == CheckpointState::Undone));

    // Twice is harmless.
    assert!(world.undo(json!({ "turnId": turn })).await.files.is_empty());
    assert!(world.undo(json!({})).await.turn_ids.is_empty());
    world.assert_before();

    assert_eq!(outcomes(&world.redo(json!({})).await), ALL_DONE);
    world.assert_after();
    assert!(world.redo(json!({})).await.turn_ids.is_empty());
    world.undo(json!({})).await;
    world.assert_before();
    // Every client sees it, and the model hears of it once.
    for _ in 0..3 {
        world.until_restored().await;
    }
    let heard = world.heard().await;
    assert!(!heard.contains("in the editor"), "{heard}");
    assert!(heard.contains("The user took back what you did to files. As they were before: a.txt, b.txt"), "{heard}");
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_changed_since_is_left_until_it_is_confirmed_and_redo_brings_it_back() {
    let world = World::new(Profile::panel()).await;
    let turn = world.big_turn().await;
    world.project.write("b.txt", "1, mine\n2\n");
    let preview = world.preview(json!({})).await;
    let b = &preview.files[1];
    assert_eq!((b.path.as_str(), b.state), ("b.txt", CheckpointState::ChangedSince));
    assert_eq!(b.reason.as_deref(), Some("it was changed since"));

    let undone = world.undo(json!({})).await;
    assert_eq!(outcomes(&undone)[1], "b.txt: left, it was changed since");
    assert_eq!(world.project.read("b.txt"), "1, mine\n2\n");
    assert_eq!(world.project.read("a.txt"), "one\ntwo\n");

    // A confirmation holds for the text that the user saw, and for no other.
    let confirmed = |now: &Option<String>| json!({ "turnId": turn, "confirmed": [{ "uri": b.uri, "now": now }] });
    world.project.write("b.txt", "1, mine, and more\n2\n");
    let again = world.undo(confirmed(&b.now)).await;
    assert_eq!(outcomes(&again), ["b.txt: left, it was changed again after it was confirmed; look at it again"]);
    let now = world.preview(json!({ "turnId": turn })).await.files[0].now.clone();
    assert_eq!(outcomes(&world.undo(confirmed(&now)).await), ["b.txt: done"]);
    world.assert_before();

    world.redo(json!({})).await;
    assert_eq!(world.project.read("b.txt"), "1, mine, and more\n2\n", "what was written over is not lost");
    world.finish().await;
}

#[tokio::test]
async fn a_confirmed_file_keeps_what_the_user_changed_in_other_lines() {
    let world = World::new(Profile::panel()).await;
    world.project.write("a.txt", "one\ntwo\nthree\nfour\nfive\n");
    let first = world.turn(&[replace("a.txt", "one", "1")]).await;
    world.turn(&[replace("a.txt", "three", "3")]).await;
    world.project.write("a.txt", "1\ntwo\n3\nfour\nfive, mine\n");
    let undo = async |turn: &TurnId| {
        let file = world.preview(json!({ "turnId": turn })).await.files.remove(0);
        assert!(file.merges, "{file:?}");
        let left = outcomes(&world.undo(json!({ "turnId": turn })).await);
        let confirmed = json!([{ "uri": file.uri, "now": file.now }]);
        assert_eq!(outcomes(&world.undo(json!({ "turnId": turn, "confirmed": confirmed })).await), ["a.txt: done"]);
        left
    };
    let left = undo(&first).await;
    let expected =
        "a.txt: left, a later turn changed it too; take that back first; if you confirm it, what was changed stays";
    assert_eq!(left, [expected]);
    assert_eq!(world.project.read("a.txt"), "one\ntwo\n3\nfour\nfive, mine\n");
    world.redo(json!({})).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\n3\nfour\nfive, mine\n");

    // In the same lines there is nothing to keep apart.
    world.project.write("a.txt", "1, mine\ntwo\n3\nfour\nfive, mine\n");
    let file = world.preview(json!({ "turnId": first })).await.files.remove(0);
    assert_eq!((file.state, file.merges), (CheckpointState::ChangedSince, false));
    world.finish().await;
}

#[tokio::test]
async fn several_turns_go_back_to_the_message_that_began_the_first_in_one_step_for_each_file() {
    let world = World::new(Profile::panel()).await;
    let first = world.turn(&[replace("a.txt", "one", "1")]).await;
    let second = world.turn(&[replace("a.txt", "two", "2"), replace("b.txt", "two", "2")]).await;
    world.turn(&[]).await;
    let third = world.turn(&[replace("a.txt", "1", "I")]).await;

    // A turn under a later one is not taken from under it.
    let alone = world.undo(json!({ "turnId": first })).await;
    assert_eq!(outcomes(&alone), ["a.txt: left, a later turn changed it too; take that back first"]);
    assert_eq!(world.project.read("a.txt"), "I\n2\n");

    let back = json!({ "turnId": second, "andLater": true });
    assert_eq!(world.preview(back.clone()).await.files.len(), 2);
    let undone = world.undo(back).await;
    assert_eq!(outcomes(&undone), ["a.txt: done", "b.txt: done"]);
    assert_eq!((undone.turn_ids.first(), undone.turn_ids.last()), (Some(&third), Some(&second)));
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), ("1\ntwo\n".into(), "one\ntwo\n".into()));

    world.redo(json!({})).await;
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), ("I\n2\n".into(), "one\n2\n".into()));
    world.undo(json!({ "turnId": first, "andLater": true })).await;
    world.assert_before();
    // Put again one by one.
    world.redo(json!({ "turnId": first })).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\n");
    world.redo(json!({ "turnId": second })).await;
    assert_eq!(world.project.read("a.txt"), "1\n2\n");
    world.finish().await;
}

#[tokio::test]
async fn a_document_that_is_open_with_unsaved_text_goes_back_in_the_editor_and_only_to_what_the_user_had() {
    let world = World::new(Profile::panel()).await;
    let uri = world.project.uri("a.txt");
    world.client.open(&uri);
    world.client.replace(&uri, "two", "two, mine");
    let turn = world.turn(&[replace("a.txt", "one", "1"), replace("b.txt", "one", "1")]).await;
    assert_eq!(world.client.text(&uri), "1\ntwo, mine\n");

    assert_eq!(outcomes(&world.undo(json!({})).await), ["a.txt: done", "b.txt: done"]);
    assert_eq!(world.client.text(&uri), "one\ntwo, mine\n");
    assert_eq!(world.project.read("a.txt"), "one\ntwo\n", "the document is the editor's to save");

    world.redo(json!({})).await;
    world.client.replace(&uri, "mine", "still mine");
    let undone = world.undo(json!({ "turnId": turn })).await;
    assert_eq!(
        outcomes(&undone),
        ["a.txt: left, it was changed since; if you confirm it, what was changed stays", "b.txt: done"]
    );
    assert_eq!(world.client.text(&uri), "1\ntwo, still mine\n");
    world.finish().await;
}

/// A turn that makes a file, which is open in the editor then.
async fn made_and_open(world: &World) -> (TurnId, String) {
    let turn = world.turn(&[("edit_create_file", json!({ "path": "new.txt", "content": "new\nfile\n" }))]).await;
    let uri = world.project.uri("new.txt");
    world.client.open(&uri);
    (turn, uri)
}

#[tokio::test]
async fn a_file_that_the_turn_made_and_that_is_open_is_deleted_by_the_editor_and_comes_back_with_redo() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert!(!world.project.path("new.txt").exists() && !world.client.is_open(&uri));
    assert_eq!(world.files().await[0].state, CheckpointState::Undone);

    assert_eq!(outcomes(&world.redo(json!({})).await), ["new.txt: done"]);
    assert_eq!(world.project.read("new.txt"), "new\nfile\n");
    world.client.open(&uri);
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert!(!world.project.path("new.txt").exists() && !world.client.is_open(&uri));
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_wrote_into_a_made_file_that_is_open_is_deleted_only_when_it_is_confirmed_and_not_lost() {
    let world = World::new(Profile::panel()).await;
    let (turn, uri) = made_and_open(&world).await;
    world.client.replace(&uri, "file", "file, mine");
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: left, it was changed since"]);
    assert_eq!(world.client.text(&uri), "new\nfile, mine\n");
    assert_eq!(world.project.read("new.txt"), "new\nfile\n");

    let now = world.preview(json!({ "turnId": turn })).await.files[0].now.clone();
    let confirmed = json!({ "turnId": turn, "confirmed": [{ "uri": uri, "now": now }] });
    assert_eq!(outcomes(&world.undo(confirmed).await), ["new.txt: done"]);
    assert!(!world.project.path("new.txt").exists() && !world.client.is_open(&uri));
    world.redo(json!({})).await;
    assert_eq!(world.project.read("new.txt"), "new\nfile, mine\n", "what was deleted is not lost");
    world.finish().await;
}

#[tokio::test]
async fn what_is_typed_into_a_made_file_while_it_is_deleted_is_kept() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    world.client.hold("workspace/applyEdit");
    let undo = async |meanwhile: &dyn Fn(), answer: Value| {
        let answering = async {
            let asked = world.client.asked("workspace/applyEdit").await;
            assert_eq!(asked.params["edit"]["documentChanges"][0]["textDocument"]["uri"], json!(uri));
            meanwhile();
            asked.answer(answer);
        };
        outcomes(&tokio::join!(world.undo(json!({})), answering).0)
    };
    // One editor compares versions, and refuses.
    let refusing = || world.client.replace(&uri, "file", "file, mine");
    let refused = json!({ "applied": false, "failureReason": "another version" });
    assert_eq!(undo(&refusing, refused).await, ["new.txt: failed, the editor refused: another version"]);
    assert_eq!(world.project.read("new.txt"), "new\nfile\n");
    world.client.replace(&uri, "file, mine", "file");

    // Another does not, and tells of what was typed as it closes the document.
    let closing = || {
        world.client.replace(&uri, "file", "file, mine");
        std::fs::remove_file(world.project.path("new.txt")).unwrap();
        world.client.close(&uri);
    };
    let expected =
        "new.txt: failed, it was typed into while the editor deleted it; it is there again, with what was typed";
    assert_eq!(undo(&closing, json!({ "applied": true })).await, [expected]);
    assert_eq!(world.project.read("new.txt"), "new\nfile, mine\n");

    // And another deletes the file and keeps the document.
    world.client.open(&uri);
    world.client.replace(&uri, ", mine", "");
    let keeping = || {
        world.client.replace(&uri, "file", "file, mine too");
        std::fs::remove_file(world.project.path("new.txt")).unwrap();
    };
    let expected =
        "new.txt: failed, it was typed into while the editor deleted it; the editor has what was typed, not saved";
    assert_eq!(undo(&keeping, json!({ "applied": true })).await, [expected]);
    assert_eq!(world.client.text(&uri), "new\nfile, mine too\n");
    world.finish().await;
}

#[tokio::test]
async fn what_is_typed_into_a_made_file_that_cannot_be_made_again_is_where_it_is_said_to_be() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    world.client.hold("workspace/applyEdit");
    // The editor closes the document with what was typed, and another program puts a folder in the file's place.
    let undone = async |typed: &str| {
        let answering = async {
            let asked = world.client.asked("workspace/applyEdit").await;
            world.client.replace(&uri, "file", typed);
            std::fs::remove_file(world.project.path("new.txt")).unwrap();
            std::fs::create_dir(world.project.path("new.txt")).unwrap();
            world.client.close(&uri);
            asked.answer(json!({ "applied": true }));
        };
        outcomes(&tokio::join!(world.undo(json!({})), answering).0).remove(0)
    };
    let said = undone("file, mine").await;
    assert!(said.starts_with("new.txt: failed, it was typed into while the editor deleted it, and "), "{said}");
    let (_, told) = said.split_once("what was typed is in ").unwrap_or_else(|| panic!("it is kept: {said}"));
    let kept = PathBuf::from(told.strip_suffix(" for as long as this session is kept").unwrap());
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "new\nfile, mine\n");
    // Text that was kept long ago is swept when another session is deleted, unless something holds it.
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
    for path in kept.ancestors().take_while(|path| *path != world.setup.data_folder()) {
        std::fs::File::open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let other = world.client.new_session().await;
    world.client.call::<methods::SessionDelete>(json!({ "sessionId": other })).await;
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "new\nfile, mine\n");

    // Where it cannot be kept there either, nothing is promised.
    std::fs::remove_dir(world.project.path("new.txt")).unwrap();
    world.project.write("new.txt", "new\nfile\n");
    world.client.open(&uri);
    std::fs::remove_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(kept.parent().unwrap(), "in its place").unwrap();
    let said = undone("file, mine too").await;
    assert!(said.contains("what was typed is lost, since it could not be kept elsewhere either: "), "{said}");
    world.finish().await;
}

#[tokio::test]
async fn a_made_file_that_changed_on_disk_under_the_editor_is_not_deleted() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    world.project.write("new.txt", "another program's\n");
    let failed = "new.txt: failed, its text on disk differs from the text in the editor; save or reload it in the \
                  editor, then look at the edit again";
    assert_eq!(outcomes(&world.undo(json!({})).await), [failed]);
    assert_eq!(world.project.read("new.txt"), "another program's\n");
    assert!(world.client.is_open(&uri));
    world.finish().await;
}

#[tokio::test]
async fn a_made_file_that_only_the_editor_has_is_emptied_there() {
    let world = World::new(Profile::panel()).await;
    let uri = world.project.uri("new.txt");
    world.client.open_with(&uri, "");
    world.turn(&[("edit_create_file", json!({ "path": "new.txt", "content": "new\n" }))]).await;
    assert_eq!(world.client.text(&uri), "new\n");
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert_eq!((world.client.text(&uri).as_str(), world.project.path("new.txt").exists()), ("", false));

    world.redo(json!({})).await;
    assert_eq!(world.client.text(&uri), "new\n");
    world.finish().await;
}

#[tokio::test]
async fn a_document_that_the_editor_keeps_of_a_deleted_file_keeps_its_text_and_is_no_file_until_it_is_there_again() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    let path = world.project.path("new.txt");
    let (text, version) = ("new\nfile\n", world.client.version(&uri));
    world.client.keep_deleted_open();
    for _ in 0..2 {
        assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
        assert_eq!((world.client.text(&uri).as_str(), path.exists()), (text, false));
        assert_eq!(world.files().await[0].state, CheckpointState::Undone);
        assert_eq!(outcomes(&world.redo(json!({})).await), ["new.txt: done"]);
        assert_eq!((world.client.text(&uri).as_str(), world.project.read("new.txt").as_str()), (text, text));
    }
    assert_eq!(world.client.version(&uri), version, "the editor has nothing to save");

    // Neither does the model find it meanwhile, and it may make another there.
    world.undo(json!({})).await;
    world.model.then(Answer::calls("read_file", json!({ "path": "new.txt" })));
    world.turn(&[("edit_create_file", json!({ "path": "new.txt", "content": "another\n" }))]).await;
    assert_eq!((world.client.text(&uri).as_str(), world.project.read("new.txt").as_str()), ("another\n", "another\n"));
    let asked = world.model.asked();
    let results: Vec<_> = asked.iter().flat_map(|asked| asked.last_results()).collect();
    assert!(results.iter().any(|result| result.contains("new.txt does not exist")), "{results:?}");
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert!(!path.exists());

    // Text that was typed there since then is the user's, and nothing is written over it.
    world.client.replace(&uri, "another", "mine");
    assert_eq!(outcomes(&world.redo(json!({})).await), ["new.txt: left, it was changed since"]);
    assert_eq!((world.client.text(&uri).as_str(), path.exists()), ("mine\n", false));
    world.finish().await;
}

#[tokio::test]
async fn a_document_of_a_file_that_others_deleted_is_not_emptied_by_an_undo() {
    let world = World::new(Profile::panel()).await;
    let (_, uri) = made_and_open(&world).await;
    std::fs::remove_file(world.project.path("new.txt")).unwrap();
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert_eq!(world.client.text(&uri), "new\nfile\n");
    assert_eq!(outcomes(&world.redo(json!({})).await), ["new.txt: done"]);
    assert_eq!(world.project.read("new.txt"), "new\nfile\n");
    world.finish().await;
}

#[tokio::test]
async fn the_accepted_deletion_of_an_open_file_leaves_its_text_where_the_editor_keeps_it_and_can_be_undone() {
    let world = World::new(Profile::panel()).await;
    let uri = world.project.uri("a.txt");
    world.client.open(&uri);
    world.client.keep_deleted_open();
    world.turn(&[("edit_delete_file", json!({ "path": "a.txt" }))]).await;
    let path = world.project.path("a.txt");
    assert_eq!((world.client.text(&uri).as_str(), path.exists()), ("one\ntwo\n", false));
    assert_eq!(outcomes(&world.undo(json!({})).await), ["a.txt: done"]);
    assert_eq!((world.client.text(&uri).as_str(), world.project.read("a.txt").as_str()), ("one\ntwo\n", "one\ntwo\n"));
    // An edit of it is the editor's again.
    world.turn(&[replace("a.txt", "one", "1")]).await;
    assert_eq!((world.client.text(&uri).as_str(), world.project.read("a.txt").as_str()), ("1\ntwo\n", "one\ntwo\n"));
    world.finish().await;
}

#[tokio::test]
async fn a_made_file_that_is_open_in_an_editor_that_deletes_none_is_left_until_it_is_closed() {
    let world = World::new(Profile::panel().with("/workspace/workspaceEdit/resourceOperations", json!([]))).await;
    let (_, uri) = made_and_open(&world).await;
    let failed = "new.txt: failed, it is open in the editor; close it there to have it deleted";
    assert_eq!(outcomes(&world.undo(json!({})).await), [failed]);
    assert_eq!(world.client.text(&uri), "new\nfile\n");
    world.client.close(&uri);
    assert_eq!(outcomes(&world.undo(json!({})).await), ["new.txt: done"]);
    assert!(!world.project.path("new.txt").exists());
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_changed_between_two_edits_of_a_turn_is_not_lost_with_it() {
    let world = World::new(Profile::panel()).await;
    let gate = harness::Gate::default();
    let [(tool, first), (_, second)] = [replace("a.txt", "one", "1"), replace("a.txt", "mine", "yours")];
    world.model.then(Answer::calls(tool, first));
    world.model.then(Answer::nothing().wait(&gate).call("read_file", json!({ "path": "a.txt" })));
    world.model.then(Answer::calls(tool, second));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Change it.").await;
    world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    world.project.write("a.txt", "1\ntwo\nmine\n");
    gate.open();
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\nyours\n");

    let undone = world.undo(json!({})).await;
    assert_eq!(outcomes(&undone), ["a.txt: left, it was changed by others between the agent's edits"]);
    assert_eq!(world.project.read("a.txt"), "1\ntwo\nyours\n");
    world.finish().await;
}

#[tokio::test]
async fn a_turn_is_taken_back_after_a_restart_and_put_again_after_another() {
    let world = World::new(Profile::panel()).await;
    world.big_turn().await;
    let world = world.restarted().await;
    assert_eq!(outcomes(&world.undo(json!({})).await), ALL_DONE);
    world.assert_before();
    let world = world.restarted().await;
    assert!(world.files().await.iter().all(|file| file.state == CheckpointState::Undone));
    assert_eq!(outcomes(&world.redo(json!({})).await), ALL_DONE);
    world.assert_after();
    world.finish().await;
}

#[tokio::test]
async fn nothing_is_taken_back_under_a_running_turn() {
    let world = World::new(Profile::panel()).await;
    world.big_turn().await;
    let gate = harness::Gate::default();
    world.model.then(Answer::nothing().text("I ").wait(&gate).text("think."));
    world.client.prompt(&world.session, "Think.").await;
    world.client.until(&world.session, "an answer", |event| matches!(event, Event::MessageDelta { .. })).await;
    let refused = world.client.request("azimuth/checkpoint/undo", world.params(json!({}))).await.unwrap_err();
    assert_eq!(refused.code, -32013, "{refused:?}");
    world.assert_after();
    gate.open();
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    let unknown = world.client.request("azimuth/checkpoint/undo", world.params(json!({ "turnId": "no" }))).await;
    assert_eq!(unknown.unwrap_err().code, -32010);
    world.finish().await;
}

#[tokio::test]
async fn undecided_hunks_of_the_turn_are_rejected_with_it_and_those_of_others_stay() {
    let world = World::new(Profile::panel()).await;
    world.turn(&[replace("a.txt", "two", "2")]).await;
    let auto = json!({ "sessionId": world.session, "on": false });
    world.client.call::<methods::ReviewAuto>(auto).await;
    world.turn(&[replace("src/d.txt", "one", "1")]).await;
    world.turn(&[replace("b.txt", "one", "1"), replace("b.txt", "two", "2")]).await;
    let list =
        || async { world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await.proposals };
    let b = list().await.into_iter().find(|proposal| proposal.path == "b.txt").unwrap();
    assert_eq!(b.hunks.len(), 1, "{b:?}");
    world.turn(&[replace("c.txt", "one", "1")]).await;
    let c = list().await.into_iter().find(|proposal| proposal.path == "c.txt").unwrap();
    let target = json!({ "proposalId": b.proposal_id, "revision": b.revision });
    let decide = json!({ "sessionId": world.session, "decision": "accept", "targets": [target] });
    world.client.call::<methods::ReviewDecide>(decide).await;
    world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;

    // Accepted after a later turn had begun, it still belongs to the turn that proposed it.
    let turn = world.list().await.turns[0].turn_id.clone();
    let last = c.hunks[0].tool_call_ids.clone();
    let preview = world.preview(json!({ "turnId": turn, "andLater": true })).await;
    assert_eq!((preview.files.len(), preview.pending_hunks), (1, 1), "{preview:?} {last:?}");
    assert_eq!(outcomes(&world.undo(json!({ "turnId": turn, "andLater": true })).await), ["b.txt: done"]);
    let left = list().await;
    let open: Vec<_> = left
        .iter()
        .filter(|proposal| proposal.hunks.iter().any(|hunk| hunk.state == HunkState::Pending))
        .map(|proposal| proposal.path.as_str())
        .collect();
    assert_eq!(open, ["src/d.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn undos_asked_for_while_an_accepted_hunk_is_on_its_way_go_one_after_the_other() {
    let world = World::new(Profile::panel()).await;
    let (turn, decide) = world.turn_before_an_undecided_hunk().await;

    // Before it writes, the server asks the editor, which does not answer yet.
    let paused = world.client.pause_reading();
    let accepted = world.client.request("azimuth/review/decide", decide);
    let undo = || world.client.request("azimuth/checkpoint/undo", world.params(json!({ "turnId": turn })));
    let (first, second) = (undo(), undo());
    drop(paused);
    let (accepted, first, second) = tokio::join!(accepted, first, second);
    accepted.unwrap();
    let result = |answer: Result<Value, _>| serde_json::from_value::<CheckpointRestoreResult>(answer.unwrap()).unwrap();
    assert_eq!(outcomes(&result(first)), ["a.txt: done"]);
    assert!(result(second).files.is_empty(), "the first has taken it back");
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), ("one\ntwo\n".into(), "1\ntwo\n".into()));
    world.finish().await;
}

#[tokio::test]
async fn what_is_said_beside_new_while_an_undo_waits_is_answered_in_the_new_conversation() {
    let world = World::new(Profile::panel()).await;
    let (turn, decide) = world.turn_before_an_undecided_hunk().await;
    world.model.then(Answer::says("Seven."));

    // The accepted hunk waits for the editor, the undo for the hunk, and the prompt for the undo.
    let paused = world.client.pause_reading();
    let accepted = world.client.request("azimuth/review/decide", decide);
    let undone = world.client.request("azimuth/checkpoint/undo", world.params(json!({ "turnId": turn })));
    let prompt = json!([{ "type": "text", "text": "/new What is 3 + 4?" }]);
    let said = world.client.request("azimuth/turn/start", json!({ "sessionId": world.session, "prompt": prompt }));
    drop(paused);
    let (accepted, undone, said) = tokio::join!(accepted, undone, said);
    accepted.unwrap();
    assert_eq!(outcomes(&serde_json::from_value(undone.unwrap()).unwrap()), ["a.txt: done"]);
    assert_eq!((world.project.read("a.txt"), world.project.read("b.txt")), ("one\ntwo\n".into(), "1\ntwo\n".into()));
    let new: SessionId = serde_json::from_value(said.unwrap()["switchTo"].clone()).unwrap();
    assert_ne!(new, world.session);
    world.client.until_end(&new, StopReason::EndTurn).await;
    let asked = world.model.asked();
    assert!(asked.last().unwrap().user_text().contains("What is 3 + 4?"));
    world.finish().await;
}

#[tokio::test]
async fn a_client_without_a_panel_has_it_as_slash_commands() {
    let world = World::new(Profile::plain()).await;
    world.big_turn().await;
    world.project.write("b.txt", "mine\n");
    let say = async |words: &str| {
        let prompt = json!([{ "type": "text", "text": words }]);
        world.client.call::<methods::TurnStart>(json!({ "sessionId": world.session, "prompt": prompt })).await;
        let is_answer = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match world.client.until(&world.session, words, is_answer).await.pop() {
            Some(Event::CommandExecuted { message, is_error, .. }) => (message, is_error),
            _ => unreachable!("the last event is the answer"),
        }
    };
    let (message, is_error) = say("/undo").await;
    assert!(!is_error && message.contains("- `a.txt`: undone"), "{message}");
    assert!(message.contains("- `b.txt`: left as it is: it was changed since"), "{message}");
    assert!(message.contains("`/undo --over <path>` overwrites a file that was left"), "{message}");
    assert_eq!(world.project.read("b.txt"), "mine\n");
    let (message, is_error) = say("/undo --over a.txt").await;
    assert!(is_error && message.contains("there is no turn that left a.txt"), "{message}");
    assert_eq!(say("/undo").await.0, "there is nothing to undo", "that turn is undone");
    assert_eq!(say("/undo --over b.txt").await.0, "- `b.txt`: undone\n");
    world.assert_before();
    assert_eq!(say("/undo").await.0, "there is nothing to undo");
    let (message, _) = say("/redo").await;
    assert!(message.contains("- `b.txt`: redone"), "{message}");
    assert_eq!(world.project.read("b.txt"), "mine\n");

    // And as commands of LSP.
    let command = async |name: &str| {
        let params = json!({ "command": name, "arguments": [{ "sessionId": world.session }] });
        assert_eq!(world.client.request("workspace/executeCommand", params).await.unwrap(), Value::Null);
    };
    command("azimuth.checkpoint.undo").await;
    world.assert_before();
    command("azimuth.checkpoint.redo").await;
    assert_eq!(world.project.read("b.txt"), "mine\n");
    world.finish().await;
}

#[tokio::test]
async fn an_undo_that_was_carried_out_as_the_window_was_closed_does_not_take_another_turn_back() {
    let world = World::new(Profile::panel()).await;
    world.client.open(&world.project.uri("a.txt"));
    world.turn(&[replace("a.txt", "one", "1")]).await;
    world.client.hold("workspace/applyEdit");
    let prompt = json!([{ "type": "text", "text": "/undo Say why." }]);
    let sent = world.client.request("azimuth/turn/start", json!({ "sessionId": world.session, "prompt": prompt }));
    // The window is closed before the editor has answered.
    world.client.asked("workspace/applyEdit").await;
    let world = world.restarted().await;
    drop(sent);
    let opened = world.client.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    let events: Vec<_> = opened.events.into_iter().map(|event| event.event).collect();
    let told =
        |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("are not tried again: `/undo`"));
    assert!(events.iter().any(told), "{events:?}");

    let call = |answer: Answer, (tool, input): (&str, Value)| answer.call(tool, input);
    world.model.then(call(Answer::nothing(), replace("b.txt", "one", "1")));
    world.model.then(Answer::says("Done."));
    world.model.then(Answer::says("Because."));
    world.client.prompt(&world.session, "Change the files.").await;
    // The prompt that waited follows by itself.
    for _ in 0..2 {
        world.client.until_end(&world.session, StopReason::EndTurn).await;
    }
    let asked = world.model.asked().last().expect("a request").user_text();
    assert!(asked.contains("Say why.") && !asked.contains("/undo"), "{asked}");
    assert_eq!(world.project.read("b.txt"), "1\ntwo\n");
    world.finish().await;
}

#[tokio::test]
async fn what_an_editor_keeps_of_a_file_that_we_deleted_is_not_taken_for_the_users_text_once_a_command_made_it_again() {
    for undone in [false, true] {
        let world = World::new(Profile::panel()).await;
        world.client.keep_deleted_open();
        let name = if undone { "new.txt" } else { "b.txt" };
        if undone {
            made_and_open(&world).await;
            world.undo(json!({})).await;
        } else {
            world.client.open(&world.project.uri(name));
            world.turn(&[("edit_delete_file", json!({ "path": name }))]).await;
        }
        assert!(!world.project.path(name).exists() && world.client.is_open(&world.project.uri(name)));
        // Before a command the user is asked what becomes of text that they have not saved.
        let command = format!("echo again > {name}");
        world.turn(&[("shell_run", json!({ "command": command }))]).await;
        world.turn(&[("shell_run", json!({ "command": "touch seen.txt" }))]).await;
        assert_eq!(world.project.read(name), "again\n");
        world.finish().await;
    }
}

#[tokio::test]
async fn what_a_command_changed_is_taken_back_and_put_again_like_an_edit() {
    let world = World::new(Profile::panel()).await;
    let command = "sed -i s/one/1/ b.txt; rm c.txt; printf 'e\\n' > e.txt; printf 'x\\0' > bin; chmod +x src/d.txt; mv src/d.txt f.sh";
    let turn = world.turn(&[replace("a.txt", "one", "1"), run(command), replace("b.txt", "two", "2")]).await;
    let files = world.files().await;
    let listed: Vec<_> =
        files.iter().map(|file| (file.path.as_str(), file.change, file.added, file.removed, file.state)).collect();
    let applied = CheckpointState::Applied;
    let expected = [
        ("a.txt", FileChange::Modify, 1, 1, applied),
        ("b.txt", FileChange::Modify, 2, 2, applied),
        ("bin", FileChange::Modify, 0, 0, CheckpointState::NotKept),
        ("c.txt", FileChange::Delete, 0, 2, applied),
        ("e.txt", FileChange::Create, 1, 0, applied),
        ("f.sh", FileChange::Create, 1, 0, applied),
        ("src/d.txt", FileChange::Delete, 0, 1, applied),
    ];
    assert_eq!(listed, expected);

    let undone = world.undo(json!({ "turnId": turn })).await;
    let expected = [
        "a.txt: done",
        "b.txt: done",
        "bin: left, it is not text",
        "c.txt: done",
        "e.txt: done",
        "f.sh: done",
        "src/d.txt: done",
    ];
    assert_eq!(outcomes(&undone), expected);
    world.assert_before();
    assert!(!world.project.path("e.txt").exists() && !world.project.path("f.sh").exists());

    let world = world.restarted().await;
    world.redo(json!({})).await;
    assert_eq!(world.project.read("b.txt"), "1\n2\n");
    assert_eq!((world.project.read("e.txt"), world.project.read("f.sh")), ("e\n".into(), "one\n".into()));
    assert!(!world.project.path("c.txt").exists() && !world.project.path("src/d.txt").exists());
    let mode = std::fs::metadata(world.project.path("f.sh")).unwrap().permissions();
    assert_ne!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o100, 0, "a program is one again");
    world.undo(json!({})).await;
    world.assert_before();
    world.finish().await;
}

#[tokio::test]
async fn what_the_user_saves_while_a_command_runs_is_not_the_commands() {
    let world = World::new(Profile::panel()).await;
    world.save_while_it_runs("echo 1 > b.txt").await;
    let paths: Vec<_> = world.files().await.into_iter().map(|file| file.path).collect();
    assert!(paths.contains(&"b.txt".to_owned()) && !paths.contains(&"a.txt".to_owned()), "{paths:?}");
    world.undo(json!({})).await;
    assert_eq!(world.client.text(&world.project.uri("a.txt")), "mine\ntwo\n");
    world.finish().await;
}

#[tokio::test]
async fn what_changes_before_a_command_that_only_reads_is_not_that_commands() {
    let world = World::new(Profile::panel()).await;
    world.turn(&[run("echo 1 > a.txt")]).await;
    world.project.write("b.txt", "mine\n");
    world.turn(&[run("cat a.txt")]).await;
    let paths: Vec<_> = world.files().await.into_iter().map(|file| file.path).collect();
    assert_eq!(paths, ["a.txt"]);
    world.finish().await;
}

#[tokio::test]
async fn what_a_command_and_the_user_both_change_is_named_and_left() {
    let world = World::new(Profile::panel()).await;
    world.save_while_it_runs("echo command >> a.txt").await;
    let files = world.files().await;
    let a = files.iter().find(|file| file.path == "a.txt").expect("the file that both changed");
    assert_eq!(a.reason.as_deref(), Some("it was also saved in the editor while the command ran"));
    world.undo(json!({})).await;
    assert_eq!(world.project.read("a.txt"), "mine\ntwo\ncommand\n");
    world.finish().await;
}

#[tokio::test]
async fn what_a_command_does_to_files_with_secrets_is_named_but_their_texts_are_kept_nowhere() {
    let world = World::new(Profile::panel()).await;
    world.project.write(".env", "KEY=1\n");
    world.turn(&[run("echo KEY=2 > .env; echo 1 > a.txt")]).await;
    let files = world.files().await;
    let env = files.iter().find(|file| file.path == ".env").expect("the file with the secret");
    assert_eq!(env.reason.as_deref(), Some("it may hold secrets, so it is not kept"));
    assert_eq!(outcomes(&world.undo(json!({})).await).last().unwrap(), "a.txt: done");
    assert_eq!(world.project.read(".env"), "KEY=2\n");
    world.finish().await;
}

#[tokio::test]
async fn what_commands_change_is_not_followed_where_the_user_does_not_want_it() {
    let world = World::with(Profile::panel(), "undo_commands = false").await;
    world.turn(&[run("echo 1 > a.txt")]).await;
    assert!(world.list().await.turns.is_empty());
    world.finish().await;
}

#[tokio::test]
async fn what_is_kept_no_longer_is_said_to_be_so_and_left() {
    let world = World::new(Profile::panel()).await;
    world.big_turn().await;
    std::fs::remove_dir_all(world.setup.data_folder().join("blobs")).unwrap();
    let states: Vec<_> = world.files().await.into_iter().map(|file| (file.path, file.state)).collect();
    let (kept, gone) = (CheckpointState::Applied, CheckpointState::NotKept);
    let expected = [("a.txt", gone), ("b.txt", gone), ("c.txt", gone), ("new/e.txt", kept), ("src/d.txt", gone)];
    assert_eq!(states, expected.map(|(path, state)| (path.to_owned(), state)));
    let undone = outcomes(&world.undo(json!({})).await);
    assert!(undone[0].contains("no longer kept; the setting `checkpoint_days`"), "{undone:?}");
    assert_eq!(world.project.read("a.txt"), "1\ntwo\n");
    world.finish().await;
}

#[tokio::test]
async fn what_was_written_over_longer_ago_than_the_user_wants_it_kept_is_let_go() {
    let setup = Setup::empty();
    let project = Project::new([("a.txt", "two\n")]);
    let session = SessionId::from("abc123");
    let store = SqliteStore::open(&setup.data_folder()).unwrap();
    store.create(&session, &[project.uri("")], None, Purpose::Chat).unwrap();
    let [before, after] = ["one\n", "two\n"].map(|text| store.put_blob(text.as_bytes()).unwrap());
    for hash in [&before, &after] {
        let blob = setup.data_folder().join("blobs").join(&hash[..2]).join(&hash[2..]);
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        std::fs::File::options().append(true).open(blob).unwrap().set_modified(long_ago).unwrap();
    }
    let turn_id = TurnId::from("turn-1");
    let events = [
        Event::SessionStarted {
            folders: vec![project.uri("")],
            asked_for: None,
            begins_with: 0,
            parent: None,
            purpose: Purpose::Chat,
        },
        Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt: Vec::new(),
            context: String::new(),
            model: String::new(),
            mode: protocol::session::Mode::Agent,
            thinks: None,
            compacts: false,
        },
        Event::EditApplied {
            proposal_id: "p".into(),
            hunk_ids: Vec::new(),
            turn_id: Some(turn_id),
            uri: project.uri("a.txt"),
            before: Some(before),
            after: Some(after),
            deleted: None,
            outcome: protocol::event::ApplyOutcome::Verified,
        },
    ];
    store.append(&session, events.into_iter().map(|event| (1, event)).collect(), true).unwrap();
    drop(store);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/event");
    let params = json!({ "sessionId": session });
    client.call::<methods::SessionOpen>(params.clone()).await;
    // It is let go beside the session's own work.
    let forgotten = async {
        loop {
            let list = client.call::<methods::CheckpointList>(params.clone()).await;
            if list.turns[0].files[0].state == CheckpointState::NotKept {
                return;
            }
        }
    };
    harness::patiently("the end of what is old", forgotten).await;
    assert_eq!(client.finish().await, 0);
}

/// A server as a process, with a model that edits two files.
#[test]
fn what_was_taken_back_is_so_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let project: PathBuf = folder.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(project.join("a.txt"), "one\n").unwrap();
    let call = |tool, input| Instantly::Call { tool, input };
    let vendor = Vendor::by_progress(vec![
        call("edit_replace_exact", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" })),
        call("edit_create_file", json!({ "path": "b.txt", "content": "new\n" })),
        Instantly::Text { pieces: 3 },
    ]);
    let start = || Process::start(harness::binary(), &folder.path().join("data"), &project, &vendor.url());
    let texts = || {
        let read = |name| std::fs::read_to_string(project.join(name)).ok();
        (read("a.txt"), read("b.txt"))
    };
    let (before, after) = ((Some("one\n".into()), None), (Some("two\n".into()), Some("new\n".into())));

    let mut process = start();
    let session = process.session();
    process.request("azimuth/review/auto", &json!({ "sessionId": session, "on": true }));
    process.turn(&session);
    process.kill();
    assert_eq!(texts(), after);
    for (method, expected) in [("azimuth/checkpoint/undo", &before), ("azimuth/checkpoint/redo", &after)] {
        let mut process = start();
        process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
        let result = process.request(method, &json!({ "sessionId": session }));
        process.kill();
        assert_eq!(&texts(), expected, "{result}");
        assert_eq!(result["files"].as_array().unwrap().len(), 2);

        // Killed before anybody is told: the files may be set already, and to ask again only says so.
        let mut process = start();
        process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
        assert_eq!(process.request(method, &json!({ "sessionId": session }))["files"], json!([]));
        process.kill();
    }
    let mut process = start();
    process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
    process.ask("azimuth/checkpoint/undo", &json!({ "sessionId": session }));
    let until = Instant::now() + harness::PATIENCE;
    while texts().0 != before.0 {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(1));
    }
    process.kill();
    let mut process = start();
    process.request("azimuth/session/open", &json!({ "sessionId": session, "since": 0 }));
    process.request("azimuth/checkpoint/undo", &json!({ "sessionId": session }));
    assert_eq!(texts(), before);
}

#[tokio::test]
async fn files_that_the_model_moved_and_deleted_come_back_and_go_again() {
    let world = World::new(Profile::panel()).await;
    let turn = world
        .turn(&[
            ("edit_move_file", json!({ "path": "c.txt", "to": "moved/c.txt" })),
            ("edit_delete_file", json!({ "path": "a.txt" })),
        ])
        .await;
    let moved = |world: &World| world.project.path("moved/c.txt").exists();
    assert!(moved(&world) && !world.project.path("c.txt").exists() && !world.project.path("a.txt").exists());
    world.undo(json!({ "turnId": turn })).await;
    world.until_restored().await;
    world.assert_before();
    assert!(!moved(&world));
    world.redo(json!({ "turnId": turn })).await;
    world.until_restored().await;
    assert!(moved(&world) && !world.project.path("c.txt").exists() && !world.project.path("a.txt").exists());
    world.heard().await;
    world.finish().await;
}
