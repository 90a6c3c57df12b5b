use protocol::form::Form;
use protocol::permission::{PermissionOption, PermissionOptionKind, PermissionOutcome};
use protocol::{SessionId, ToolCallId};
use store::SqliteStore;
use tempfile::TempDir;

use super::*;
use crate::trust::Book;

const PROJECT: &str = "file:///project";

/// The gate of a session in a project of which nothing is kept.
struct World {
    gate: Gate,
    inbox: mpsc::UnboundedReceiver<Own>,
    store: Arc<dyn Store>,
    config: Config,
    _data: TempDir,
}

impl World {
    fn new() -> Self {
        Self::with(Kept::default(), [])
    }

    fn with<const N: usize>(kept: Kept, standing: [PermissionRequest; N]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&data.path().join("data")).unwrap());
        let trust = Workspace::new(&Book::new(Arc::clone(&store), None), [data.path().to_owned()]);
        let (own, inbox) = mpsc::unbounded_channel();
        let (store_of_gate, project, rules) = (Arc::clone(&store), PROJECT.to_owned(), InForce::default());
        let gate = Gate::new(Made { own, store: store_of_gate, project, kept, rules, trust }, standing);
        let mut world = Self { gate, inbox, store, config: Config::default(), _data: data };
        world.config.allow_bypass = true;
        world
    }

    /// The rules in force that allow something, and those that ask.
    fn rules(&self) -> (Vec<String>, Vec<String>) {
        let rules = self.gate.rules().get();
        let words = |rules: &[permission::SourcedRule]| rules.iter().map(|it| it.rule.to_string()).collect();
        (words(&rules.allow), words(&rules.ask))
    }

    async fn grant(&mut self, rule: &str, scope: GrantScope) {
        let (done, granted) = oneshot::channel();
        self.gate.grant(rule.parse().unwrap(), scope, done, &self.config, Mode::Agent);
        granted.await.unwrap();
    }

    async fn revoke(&mut self, rule: &str, origin: RuleOrigin) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        let params = PermissionRevokeParams { session_id: SessionId::new("s"), rule: rule.to_owned(), origin };
        self.gate.revoke(params, reply, &self.config, Mode::Agent);
        answer.await.unwrap().map(|Done {}| ())
    }

    fn answer(&mut self, id: &str, option: &str) -> Result<Option<Answered>, Error> {
        let (session_id, permission_id) = (SessionId::new("s"), PermissionId::from(id));
        let asked = BTreeSet::from([PermissionId::from("q1"), PermissionId::from("q2")]);
        let params = PermissionAnswerParams {
            session_id,
            permission_id,
            option_id: option.to_owned(),
            message: None,
            answers: Vec::new(),
        };
        self.gate.answer(params, &asked)
    }

    fn ask(&mut self, request: PermissionRequest) -> oneshot::Receiver<Answer> {
        let (asker, answer) = oneshot::channel();
        let event = self.gate.ask("turn".into(), request, asker);
        assert!(matches!(event, Event::PermissionAsked { .. }));
        answer
    }
}

fn question(id: &str, about: PermissionAbout) -> PermissionRequest {
    let option = |id: &str| PermissionOption {
        option_id: id.to_owned(),
        name: id.to_owned(),
        kind: PermissionOptionKind::AllowOnce,
    };
    PermissionRequest {
        permission_id: id.into(),
        tool_call_id: Some(ToolCallId::from("call")),
        about,
        title: String::new(),
        detail: String::new(),
        reason: String::new(),
        form: None,
        options: vec![option("yes"), option("no")],
    }
}

fn outcomes(closed: Vec<Closed>) -> Vec<PermissionOutcome> {
    let outcome = |closed: Closed| match closed.event {
        Event::PermissionAnswered { outcome, .. } => outcome,
        other => panic!("{other:?}"),
    };
    closed.into_iter().map(outcome).collect()
}

#[tokio::test]
async fn a_grant_is_in_force_at_once_and_the_projects_is_kept() {
    let mut world = World::new();
    world.grant("run_command(cargo test)", GrantScope::Session).await;
    assert_eq!(world.rules().0, ["run_command(cargo test)"]);
    assert!(world.store.grants(PROJECT).unwrap().is_empty(), "that of a session is not");
    world.grant("run_command(cargo build)", GrantScope::Project).await;
    world.grant("run_command(cargo build)", GrantScope::Project).await;
    assert_eq!(world.rules().0, ["run_command(cargo build)", "run_command(cargo test)"]);
    assert_eq!(world.store.grants(PROJECT).unwrap(), ["run_command(cargo build)"]);
}

#[tokio::test]
async fn what_was_granted_is_taken_back_and_what_is_written_in_a_file_is_not() {
    let mut world = World::new();
    world.grant("run_command(a)", GrantScope::Session).await;
    world.grant("run_command(b)", GrantScope::Project).await;
    let refused = world.revoke("run_command(b)", RuleOrigin::User).await.unwrap_err();
    assert!(refused.message.contains("`origin`"), "{}", refused.message);
    world.revoke("run_command(b)", RuleOrigin::Granted).await.unwrap();
    world.revoke("run_command(a)", RuleOrigin::Session).await.unwrap();
    assert!(world.rules().0.is_empty() && world.store.grants(PROJECT).unwrap().is_empty());
}

#[tokio::test]
async fn what_was_read_before_a_grant_does_not_undo_it() {
    let mut world = World::new();
    let (before, stands) = (world.gate.changes(), (false, AutoScope::Session));
    world.grant("run_command(a)", GrantScope::Project).await;
    let read = |world: &mut World, kept, at| world.gate.kept_read(kept, at, &world.config, Mode::Agent, stands);
    assert!(read(&mut world, Kept::default(), before).is_empty());
    assert_eq!(world.rules().0, ["run_command(a)"]);
    // Another process has taken it back since, and has edits accepted automatically.
    let (now, kept) = (world.gate.changes(), Kept { grants: Vec::new(), always: true });
    let news = read(&mut world, kept, now);
    assert!(matches!(news[..], [Event::AcceptEditsChanged { on: true, scope: AutoScope::Project }]), "{news:?}");
    assert!(world.rules().0.is_empty());
}

#[test]
fn a_turn_that_began_in_bypass_asks_from_where_the_user_left_that() {
    let mut world = World::new();
    let entered = world.gate.enter(Mode::Bypass, Mode::Agent, &world.config);
    assert!(matches!(entered, Some(Event::ModeChanged { mode: Mode::Bypass })));
    world.gate.turn_began(Mode::Bypass);
    assert!(world.gate.enter(Mode::Bypass, Mode::Bypass, &world.config).is_none());
    world.gate.enter(Mode::Agent, Mode::Bypass, &world.config).unwrap();
    assert_eq!(world.rules().1, ["*"]);
    world.gate.turn_ended(&world.config, Mode::Agent);
    assert!(world.rules().1.is_empty());
}

#[test]
fn a_configuration_that_forbids_bypass_ends_it_and_says_why() {
    let mut world = World::new();
    let stands = (false, AutoScope::Session);
    let (before, mut after) = (world.config.clone(), world.config.clone());
    after.allow_bypass = false;
    assert!(world.gate.configured(&before, &before, Mode::Bypass, stands).is_empty());
    let events = world.gate.configured(&before, &after, Mode::Bypass, stands);
    let [Event::ModeChanged { mode: Mode::Agent }, Event::Notice { text, .. }] = events.as_slice() else {
        panic!("{events:?}")
    };
    assert!(text.contains("allow_bypass"), "{text}");
    assert!(world.gate.configured(&before, &after, Mode::Agent, stands).is_empty());
}

#[tokio::test]
async fn an_answer_reaches_the_turn_that_waits_for_it_and_no_second_one_counts() {
    let mut world = World::new();
    let mut heard = world.ask(question("q1", PermissionAbout::ToolCall));
    assert!(world.answer("q1", "perhaps").is_err_and(|error| error.message.contains("yes, no")));
    assert!(world.answer("q3", "yes").is_err(), "nobody ever asked it");
    let answered = world.answer("q1", "yes").unwrap().unwrap();
    assert!(answered.follow.is_none());
    assert!(heard.try_recv().is_err(), "it is recorded first");
    answered.closed.asker.tell();
    assert_eq!(
        heard.try_recv().unwrap(),
        Answer::Selected { option_id: "yes".into(), message: None, answers: Vec::new() }
    );
    assert!(world.answer("q1", "no").unwrap().is_none());
}

#[test]
fn what_follows_on_an_answer_for_which_nobody_waits_is_told_by_what_was_asked() {
    let about = |about| {
        let mut world = World::with(Kept::default(), [question("q1", about)]);
        world.answer("q1", "yes").unwrap().unwrap().follow.unwrap()
    };
    let yes = Answer::Selected { option_id: "yes".into(), message: None, answers: Vec::new() };
    assert_eq!(about(PermissionAbout::ToolCall), Follow::Resume(Some("call".into()), yes.clone()));
    assert_eq!(about(PermissionAbout::Trust), Follow::KeepTrust(yes));
    assert_eq!(about(PermissionAbout::Program), Follow::Resume(None, Answer::Moot));
}

#[test]
fn questions_are_closed_by_what_settles_them() {
    let mut world = World::with(Kept::default(), [question("q1", PermissionAbout::PendingEdits)]);
    let mut pending = world.ask(question("q2", PermissionAbout::PendingEdits));
    let _trust = world.ask(question("q3", PermissionAbout::Trust));
    let mut call = world.ask(question("q4", PermissionAbout::ToolCall));
    // The one of an earlier process is for the turn that goes on from it.
    let closed = world.gate.nothing_pending();
    closed.into_iter().for_each(|closed| closed.asker.tell());
    assert_eq!(pending.try_recv().unwrap(), Answer::Moot);
    assert_eq!(outcomes(world.gate.trust_decided()), [PermissionOutcome::Moot]);
    world.gate.leave_questions();
    assert!(call.try_recv().is_err());
    assert_eq!(outcomes(world.gate.close_questions()), [PermissionOutcome::Cancelled, PermissionOutcome::Cancelled]);
    assert!(world.gate.close_questions().is_empty());
}

#[tokio::test]
async fn what_is_said_of_the_project_is_kept_before_it_counts() {
    let mut world = World::new();
    let here = world.gate.accept_here(true, &world.config, (false, AutoScope::Session));
    assert!(matches!(here, Some(Event::AcceptEditsChanged { on: true, scope: AutoScope::Session })));
    let (reply, _answer) = oneshot::channel();
    world.gate.keep_always(true, reply);
    let Some(Own::Gate(Message::AlwaysKept(true, Ok(()), _))) = world.inbox.recv().await else {
        panic!("it is not kept")
    };
    assert!(Kept::read(&*world.store, PROJECT).unwrap().always);
    let events = world.gate.always_kept(true, &world.config);
    assert!(matches!(events[..], [Event::AcceptEditsChanged { on: true, scope: AutoScope::Project }]), "{events:?}");
    let stands = (true, AutoScope::Project);
    assert!(world.gate.always("file:///other", false, &world.config, stands).is_none());
    let off = world.gate.always(PROJECT, false, &world.config, stands);
    assert!(matches!(off, Some(Event::AcceptEditsChanged { on: false, .. })), "{off:?}");
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_form_is_over_once_and_only_while_a_turn_waits_for_it() {
    let mut world = World::with(Kept::default(), []);
    let form = Some(Form { questions: Vec::new(), timeout_seconds: Some(60) });
    let request = PermissionRequest { form, ..question("q1", PermissionAbout::Form) };
    let (asker, mut heard) = oneshot::channel();
    let _ = world.gate.ask("t".into(), request, asker);
    tokio::time::sleep(Duration::from_secs(59)).await;
    assert!(world.inbox.try_recv().is_err(), "too early");
    let Some(Own::Gate(Message::TimedOut(id))) = world.inbox.recv().await else { panic!("its time is not over") };
    let closed = world.gate.timed_out(&id);
    assert!(matches!(
        closed.first().map(|closed| &closed.event),
        Some(Event::PermissionAnswered { outcome: PermissionOutcome::TimedOut, .. })
    ));
    closed.into_iter().for_each(|closed| closed.asker.tell());
    assert_eq!(heard.try_recv().unwrap(), Answer::TimedOut);
    assert!(world.gate.timed_out(&id).is_empty(), "it is closed");

    let (asker, _heard) = oneshot::channel();
    let _ = world.gate.ask("t".into(), question("q2", PermissionAbout::Form), asker);
    world.gate.leave_questions();
    assert!(world.gate.timed_out(&"q2".into()).is_empty(), "no turn waits");
}
