use ports::edit::FilePlan;
use project::files;
use protocol::content::ToolKind;
use protocol::review::Decision;
use protocol::session::Mode;
use tempfile::TempDir;

use super::*;
use crate::config::FormatEdits;
use crate::session::tests::{problems, reading};

/// The edits of a session in a folder of its own, without an editor.
struct World {
    folder: TempDir,
    state: State,
    reading: Reading,
    config: Config,
    edits: Edits,
    inbox: mpsc::UnboundedReceiver<Own>,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let reading = reading(folder.path());
        let (own, inbox) = mpsc::unbounded_channel();
        let edits = Edits::new(own, problems(&reading));
        Self { folder, state: State::default(), reading, config: Config::default(), edits, inbox }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(file)
    }

    /// Calls propose to make `new` of a file that is `old`.
    fn propose(&mut self, call: &str, file: &str, old: &str, new: &str) -> Proposed {
        let path = self.path(file);
        if !path.exists() {
            files::create(&path, old).unwrap();
        }
        let plan = plan(&path, old, new);
        self.edits.take_plan(&call.into(), plan, vec![Some(old.into())], false, &self.reading).unwrap()
    }

    fn decide(&mut self, decision: Decision) -> Decided {
        let targets = self.edits.all_pending();
        let params = ReviewDecideParams { session_id: "s".into(), decision, targets, message: None };
        self.edits.decide(&params).unwrap()
    }

    fn context<'s>(state: &'s State, reading: &'s Reading, config: &'s Config) -> Context<'s> {
        Context { state, reading, config }
    }

    fn conclude(&mut self, application: &Application, carried: Carried) -> Option<Event> {
        let Self { edits, state, reading, config, .. } = self;
        edits.conclude(application, carried, true, Self::context(state, reading, config))
    }

    fn begin_to_format(&mut self, is_held: bool) {
        let Self { edits, state, reading, config, .. } = self;
        edits.begin_to_format(None, is_held, Self::context(state, reading, config));
    }

    /// Has accepted hunks written, and takes the news.
    fn write(&mut self, application: &Application) -> Option<Event> {
        let text = application.target_text.as_deref().unwrap();
        files::write(&application.path, text, application.base_hash.as_ref().unwrap()).unwrap();
        let before = application.base_hash.clone().map(|hash| hash.0);
        let outcome = ApplyOutcome::Verified;
        self.conclude(application, Carried { outcome, before, deleted: None, was_clean: false, written: true })
    }
}

fn plan(path: &Path, old: &str, new: &str) -> EditPlan {
    let file =
        FilePlan { path: path.to_owned(), read: Some(hash(old)), new_text: Some(new.to_owned()), moved_to: None };
    EditPlan { files: vec![file] }
}

#[test]
fn of_a_plan_that_does_not_fit_one_of_its_files_nothing_is_proposed() {
    let mut world = World::new();
    let (one, two) = (world.path("one.txt"), world.path("two.txt"));
    let mut both = plan(&one, "a\n", "b\n");
    both.files.extend(plan(&two, "read\n", "new\n").files);
    let bases = vec![Some("a\n".into()), Some("another by now\n".into())];
    assert!(world.edits.take_plan(&"c".into(), both, bases, false, &world.reading).is_err());
    assert!(world.edits.proposals().is_empty() && world.edits.proposed(&"c".into()).is_none());
}

#[test]
fn what_a_call_proposed_is_told_for_as_long_as_it_is_undecided() {
    let mut world = World::new();
    let proposed = world.propose("c", "a.txt", "one\ntwo\n", "one\n2\nthree\n");
    assert_eq!((proposed.pending_hunks, proposed.added, proposed.removed), (1, 2, 1));
    assert_eq!(world.edits.proposed(&"c".into()), Some(proposed));
    assert_eq!(world.edits.proposed(&"d".into()), None);
    assert_eq!(world.edits.pending().pending_files, ["a.txt"]);
    world.decide(Decision::Reject);
    assert_eq!(world.edits.proposed(&"c".into()), None);
    assert_eq!(world.edits.pending().pending_hunks, 0);
}

#[test]
fn a_decision_is_recorded_and_what_is_accepted_goes_on_its_way() {
    let mut world = World::new();
    world.propose("c", "a.txt", "one\n", "two\n");
    let Decided { events, applications, .. } = world.decide(Decision::Accept);
    assert!(matches!(events[..], [Event::ReviewDecided { decision: Decision::Accept, .. }]), "{events:?}");
    let [application] = applications.as_slice() else { panic!("{applications:?}") };
    assert!(world.edits.are_applying());
    let Some(Event::EditApplied { outcome: ApplyOutcome::Verified, after, .. }) = world.write(application) else {
        panic!("it is not recorded")
    };
    assert_eq!(after, Some(hash("two\n").0));
    assert!(!world.edits.are_on(), "nothing is to be formatted");
}

#[test]
fn who_waits_for_a_call_hears_why_its_hunks_are_not_in_their_file() {
    let mut world = World::new();
    world.propose("c", "a.txt", "one\n", "two\n");
    let Decided { applications, .. } = world.decide(Decision::Accept);
    let (done, mut failures) = oneshot::channel();
    world.edits.settling.push(Settling::new(Some("c".into()), done));
    let event = world.conclude(&applications[0], Carried::failed("the disk is full"));
    assert!(matches!(event, Some(Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. })), "{event:?}");
    world.edits.settling.drain(..).for_each(Settling::end);
    assert_eq!(failures.try_recv().unwrap(), ["a.txt: the disk is full"]);
    assert_eq!(world.edits.pending().pending_hunks, 1, "it can be accepted again");
}

#[test]
fn with_a_turn_those_undecided_hunks_are_rejected_that_only_it_had_a_part_in() {
    let mut world = World::new();
    for (turn, call) in [("t1", "c1"), ("t2", "c2")] {
        let (turn_id, prompt, context, model, mode) =
            (TurnId::from(turn), Vec::new(), String::new(), String::new(), Mode::Agent);
        world.state.apply(&Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt,
            context,
            model,
            mode,
            thinks: None,
            compacts: false,
        });
        world.state.apply(&Event::ToolCallStarted {
            turn_id,
            tool_call_id: call.into(),
            name: "edit".into(),
            kind: ToolKind::Edit,
            title: String::new(),
            input: serde_json::Value::Null,
            locations: Vec::new(),
        });
    }
    world.propose("c1", "a.txt", "one\n", "two\n");
    world.propose("c2", "b.txt", "one\n", "two\n");
    let files = |world: &World, turns: &[TurnId]| {
        let undecided = world.edits.undecided_of(turns, &world.state.checkpoints);
        undecided.into_iter().map(|target| target.hunk_ids.unwrap().len()).collect::<Vec<_>>()
    };
    assert_eq!(files(&world, &["t2".into()]), [1]);
    assert_eq!(files(&world, &["t1".into(), "t2".into()]), [1, 1]);
    assert!(files(&world, &["t3".into()]).is_empty());
}

#[test]
fn what_others_changed_is_listed_beside_what_is_proposed_and_is_no_pending_edit() {
    let mut world = World::new();
    let path = world.path("made.txt");
    files::create(&path, "new\n").unwrap();
    let (before, after) = (Some("old\n".into()), Some("new\n".into()));
    let mut landings = Landings::default();
    landings.push(Landing { path: path.clone(), before: after.clone(), after: after.clone(), calls: Vec::new() });
    landings.push(Landing { path: path.clone(), before, after, calls: vec!["c".into()] });
    let World { edits, state, reading, config, .. } = &mut world;
    assert!(edits.list_landed(&"t".into(), landings, World::context(state, reading, config)).is_none());
    assert_eq!(world.edits.proposals().len(), 1, "what stayed as it is has no hunks");
    assert_eq!(world.edits.undecided_files(true), [path]);
    assert!(world.edits.undecided_files(false).is_empty());
    assert_eq!(world.edits.pending().pending_hunks, 0);
}

#[tokio::test]
async fn what_edits_arrived_in_is_formatted_but_where_an_undo_waits() {
    for is_held in [true, false] {
        let mut world = World::new();
        world.config.format_edits = FormatEdits::File;
        world.propose("c", "a.txt", "one\n", "two\n");
        let Decided { applications, .. } = world.decide(Decision::Accept);
        world.write(&applications[0]);
        world.begin_to_format(is_held);
        assert_eq!(world.edits.are_on(), !is_held);
        if is_held {
            continue;
        }
        // No language server formats it, which is no news.
        let Some(Own::Edits(Message::FormatAnswered(answered))) = world.inbox.recv().await else { panic!("no answer") };
        let World { edits, state, reading, config, .. } = &mut world;
        let put = edits.format_answered(*answered, World::context(state, reading, config)).unwrap();
        assert!(put.notice.is_none() && put.application.is_none());
        assert!(!world.edits.are_on());
    }
}

#[test]
fn what_is_not_saved_is_told_once_and_the_users_own_text_each_time() {
    let mut world = World::new();
    let failures = ["a.txt is not saved".to_owned()];
    assert!(world.edits.saved(false, &failures).is_some());
    assert!(world.edits.saved(false, &failures).is_none());
    assert!(world.edits.saved(true, &failures).is_some());
    assert!(world.edits.saved(true, &[]).is_none());
    assert!(world.edits.saved(false, &failures).is_some(), "it could be saved in between");
}
