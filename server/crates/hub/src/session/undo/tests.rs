use std::path::PathBuf;
use std::sync::Arc;

use ports::store::Store;
use project::text::hash;
use project::{files as disk, paths};
use protocol::checkpoint::{CheckpointState, ConfirmedFile, RestoreOutcome};
use protocol::event::ApplyOutcome;
use protocol::review::{Decision, ReviewDecideParams};
use protocol::session::Mode;
use protocol::turn::{TurnCancelParams, TurnStartParams};
use protocol::{Event, SessionId, methods};
use store::SqliteStore;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::files::{go, looked_at};
use super::*;
use crate::session::checkpoints::Checkpoints;
use crate::session::edits::Carrier;
use crate::session::tests::{caller, reading};

const BEFORE: &str = "one\ntwo\nthree\nfour\nfive\n";
const AFTER: &str = "one\nTWO\nthree\nfour\nfive\n";

/// A project in which a turn changed one file, and who changes it back.
struct World {
    folder: TempDir,
    carrier: Carrier,
    checkpoints: Checkpoints,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        disk::create(&root.join("a.txt"), AFTER).unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&folder.path().join("data")).unwrap());
        store.put_blob(BEFORE.as_bytes()).unwrap();
        store.put_blob(AFTER.as_bytes()).unwrap();
        let reading = reading(&root);
        let carrier = Carrier {
            session: SessionId::from("s"),
            store,
            reader: reading.reader,
            roots: reading.roots,
            editor: None,
            others: Arc::default(),
            before_deletion: None,
        };
        let mut world = Self { folder, carrier, checkpoints: Checkpoints::default() };
        world.turn_changed(BEFORE, AFTER);
        world
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project/a.txt")
    }

    fn text(&self) -> String {
        disk::read(&self.path()).unwrap().text.to_string()
    }

    /// The log says that the turn made one text of another.
    fn turn_changed(&mut self, before: &str, after: &str) {
        let (turn_id, prompt, context, model, mode) =
            (TurnId::from("t"), Vec::new(), String::new(), String::new(), Mode::Agent);
        self.checkpoints.apply(&Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt,
            context,
            model,
            mode,
            thinks: None,
            compacts: false,
        });
        self.checkpoints.apply(&Event::EditApplied {
            proposal_id: "p".into(),
            hunk_ids: vec!["h".into()],
            turn_id: Some(turn_id),
            uri: paths::to_uri(&self.path()),
            before: Some(hash(before).0),
            after: Some(hash(after).0),
            deleted: None,
            outcome: ApplyOutcome::Verified,
        });
    }

    /// Somebody writes the file.
    fn write(&self, text: &str) {
        disk::write(&self.path(), text, &hash(&self.text())).unwrap();
    }

    fn state(&self, direction: Direction) -> (CheckpointState, bool) {
        let looked = looked_at(&self.carrier, direction, self.checkpoints.ways(direction, &["t".into()]));
        let [file] = looked.as_slice() else { panic!("{looked:?}") };
        (file.state, file.merges)
    }

    /// Goes the way, and has the log say what came of it.
    async fn go(&mut self, direction: Direction, confirmed: &[ConfirmedFile]) -> RestoreOutcome {
        let ways = self.checkpoints.ways(direction, &["t".into()]);
        let [way] = ways.as_slice() else { panic!("{ways:?}") };
        let gone = go(&self.carrier, way, confirmed).await;
        let (turn_ids, files) = (vec!["t".into()], vec![gone.file.clone()]);
        self.checkpoints.apply(&Event::CheckpointRestored { direction, turn_ids, files });
        gone.file.outcome
    }

    fn confirmed(&self, text: &str) -> [ConfirmedFile; 1] {
        [ConfirmedFile { uri: paths::to_uri(&self.path()), now: Some(hash(text).0) }]
    }
}

#[tokio::test]
async fn a_file_is_as_it_was_before_the_turn_and_then_as_the_turn_left_it() {
    let mut world = World::new();
    assert_eq!(world.state(Direction::Undo), (CheckpointState::Applied, false));
    assert_eq!(world.go(Direction::Undo, &[]).await, RestoreOutcome::Done);
    assert_eq!(world.text(), BEFORE);
    assert_eq!(world.go(Direction::Redo, &[]).await, RestoreOutcome::Done);
    assert_eq!(world.text(), AFTER);
}

#[tokio::test]
async fn a_file_that_somebody_changed_since_is_left_unless_just_that_is_confirmed() {
    let mut world = World::new();
    let theirs = "something else\n";
    world.write(theirs);
    assert_eq!(world.state(Direction::Undo), (CheckpointState::ChangedSince, false));
    assert!(matches!(world.go(Direction::Undo, &[]).await, RestoreOutcome::Left { .. }));
    let earlier = world.confirmed("what it was when the user looked\n");
    assert!(matches!(world.go(Direction::Undo, &earlier).await, RestoreOutcome::Left { .. }));
    assert_eq!(world.text(), theirs);
    let now = world.confirmed(theirs);
    assert_eq!(world.go(Direction::Undo, &now).await, RestoreOutcome::Done);
    assert_eq!(world.text(), BEFORE);
    assert!(world.carrier.store.blob(&hash(theirs).0).is_ok(), "what was written over is kept");
}

#[tokio::test]
async fn what_somebody_changed_elsewhere_in_the_file_stays_where_the_undo_is_confirmed() {
    let mut world = World::new();
    let theirs = "one\nTWO\nthree\nfour\nFIVE\n";
    world.write(theirs);
    assert_eq!(world.state(Direction::Undo), (CheckpointState::ChangedSince, true));
    let now = world.confirmed(theirs);
    assert_eq!(world.go(Direction::Undo, &now).await, RestoreOutcome::Done);
    assert_eq!(world.text(), "one\ntwo\nthree\nfour\nFIVE\n");
}

#[tokio::test]
async fn a_file_of_which_the_text_before_is_kept_no_longer_is_left() {
    let mut world = World::new();
    world.checkpoints = Checkpoints::default();
    world.turn_changed("never kept\n", AFTER);
    assert_eq!(world.state(Direction::Undo), (CheckpointState::NotKept, false));
    assert!(matches!(world.go(Direction::Undo, &[]).await, RestoreOutcome::Left { .. }));
    assert_eq!(world.text(), AFTER);
}

#[test]
fn what_starts_a_turn_or_decides_waits_until_the_files_are_as_they_are_to_be() {
    let session_id = || SessionId::from("s");
    let prompt = || {
        let params = TurnStartParams { session_id: session_id(), prompt: Vec::new(), mode: None };
        Request::new::<methods::TurnStart>(params, oneshot::channel().0)
    };
    let mut undo = Undo::default();
    assert!(!undo.holds(&prompt()));
    let params =
        CheckpointRestoreParams { session_id: session_id(), turn_id: None, and_later: false, confirmed: Vec::new() };
    undo.take_up(Restoring { direction: Direction::Undo, params, reply: oneshot::channel().0 });
    assert!(undo.is_on() && undo.begin().is_some() && undo.begin().is_none());
    let (decision, targets, message) = (Decision::Accept, Vec::new(), None);
    let decide = ReviewDecideParams { session_id: session_id(), decision, targets, message };
    for request in [prompt(), Request::new::<methods::ReviewDecide>(decide, oneshot::channel().0)] {
        assert!(undo.holds(&request));
        undo.hold(caller(), request);
    }
    let cancel = TurnCancelParams { session_id: session_id(), turn_id: None };
    assert!(!undo.holds(&Request::new::<methods::TurnCancel>(cancel, oneshot::channel().0)));
    let held = undo.end();
    assert!(matches!(
        held.as_slice(),
        [Held::Request(_, start), Held::Request(_, decide)]
            if start.is::<methods::TurnStart>() && decide.is::<methods::ReviewDecide>()
    ));
    assert!(!undo.is_on() && undo.end().is_empty());
}

#[test]
fn what_waits_in_the_queue_starts_once_an_undo_is_over_and_only_if_it_was_about_to() {
    let mut undo = Undo::default();
    assert!(!undo.hold_next() && !undo.take_next(), "nothing is undone");
    undo.held = Some(Vec::new());
    assert!(undo.hold_next());
    undo.end();
    assert!(undo.take_next());
    assert!(!undo.take_next(), "once");
}
