use std::collections::VecDeque;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use permission::{Action, KeyFiles, Links, Rule, Rules, ShellLine, SimpleCommand, SourcedRule, Word};
use ports::edit::{EditPlan, EditRefused, FilePlan, Proposed};
use ports::facts::Facts;
use ports::hooks::{Chain, Hooks};
use ports::model::{
    Fallbacks, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, OtherAccount, Request, Response,
    Stop, Successor, ToolSpec, Window,
};
use ports::partial::PartialInput;
use ports::session::{Answer, GrantScope, Interjection, NewErrors, Session, Unsettled};
use ports::tool::{Access, Call, Description, DiffKind, DiffPart, MayLook, Output, Tool, ToolError};
use protocol::content::{PlanEntry, ToolKind, Usage};
use protocol::model::{AccountSwitch, ModelInfo, Price, SwitchReason};
use protocol::permission::PermissionRequest;
use protocol::permission::RuleOrigin;
use protocol::session::Mode;
use protocol::{AssistantBlock, Event, PermissionId, PromptBlock, SessionId, ToolCallId, TurnId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::handover::Asked as CompactionAsked;
use crate::history::History;
use crate::history::tests::problem;
use crate::toolset::ToolSet;
use crate::turn::{Limits, RetryPolicy, RetryWait, TurnContext, TurnOutcome, run};

/// Counts every moment at which something outside the turn has its say, and cancels the turn at one of them.
#[derive(Default)]
pub(super) struct Steps {
    count: AtomicUsize,
    cancel_at: Option<usize>,
    token: CancellationToken,
    /// The effects that came although they were begun after the cancel.
    late: Mutex<Vec<&'static str>>,
}

impl Steps {
    pub(super) fn cancelling_at(step: usize) -> Self {
        Self { cancel_at: Some(step), ..Self::default() }
    }

    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    pub(super) fn cancel(&self) {
        self.token.cancel();
    }

    /// Marks the beginning of something that has effects.
    fn effect(&self, what: &'static str) {
        if self.token.is_cancelled() {
            self.late.lock().unwrap().push(what);
        }
    }

    fn step(&self) {
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        if self.cancel_at == Some(count) {
            self.token.cancel();
        }
    }

    /// A step, after which others have their turn too, so that a cancel is noticed in the middle of a wait.
    async fn wait(&self) {
        self.step();
        tokio::task::yield_now().await;
        self.step();
    }
}

/// One answer of the model.
pub(super) struct Script {
    events: Vec<Result<ModelEvent, ModelError>>,
    hangs: bool,
}

impl Script {
    /// As from a vendor that says early what the request uses.
    pub(super) fn using(mut self, usage: Usage) -> Self {
        self.events.insert(0, Ok(ModelEvent::Used(usage)));
        self
    }

    /// As from a local server that does not count tokens.
    pub(super) fn counting_nothing(mut self) -> Self {
        for event in &mut self.events {
            if let Ok(ModelEvent::Finished(response)) = event {
                response.usage = Usage::default();
            }
        }
        self
    }
}

pub(super) fn call(id: &str, tool: &str, input: Value) -> AssistantBlock {
    AssistantBlock::tool_call(ToolCallId::from(id), tool, input)
}

pub(super) fn says(text: &str) -> AssistantBlock {
    AssistantBlock::text(text)
}

/// An answer that streams its text, then ends.
pub(super) fn answer(content: Vec<AssistantBlock>) -> Script {
    let asks = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
    ending(content, if asks { Stop::ToolUse } else { Stop::EndTurn })
}

pub(super) fn ending(content: Vec<AssistantBlock>, stop: Stop) -> Script {
    let mut events = Vec::new();
    for block in &content {
        match block {
            AssistantBlock::Text { text, .. } => {
                events.extend(text.split_inclusive(' ').map(|piece| Ok(ModelEvent::Text(piece.to_owned()))));
            }
            AssistantBlock::Thinking { text, .. } => events.push(Ok(ModelEvent::Thinking(text.clone()))),
            AssistantBlock::ToolCall { id, name, input, .. } => {
                events.push(Ok(ModelEvent::ToolCallStarted { id: id.clone(), name: name.clone() }));
                events.push(Ok(ModelEvent::ToolCallInput { id: id.clone(), json: input.to_string() }));
            }
        }
    }
    let usage = Usage { input: 100, output: 10, cache_read: 1_000, cache_write: 0, cache_write_hour: 0 };
    events.push(Ok(ModelEvent::Finished(Response { content, stop, why: None, usage })));
    Script { events, hangs: false }
}

pub(super) fn failure(kind: ModelErrorKind) -> Script {
    Script { events: vec![Err(error(kind))], hangs: false }
}

/// Some text, then a failure.
pub(super) fn breaking(text: &str, kind: ModelErrorKind) -> Script {
    Script { events: vec![Ok(ModelEvent::Text(text.to_owned())), Err(error(kind))], hangs: false }
}

/// These pieces of a call's input, then a failure if there is one.
pub(super) fn calling(tool: &str, pieces: &[&str], failure: Option<ModelErrorKind>) -> Script {
    let id = ToolCallId::from("half");
    let mut events = vec![Ok(ModelEvent::ToolCallStarted { id: id.clone(), name: tool.to_owned() })];
    let piece = |json: &&str| Ok(ModelEvent::ToolCallInput { id: id.clone(), json: (*json).to_owned() });
    events.extend(pieces.iter().map(piece));
    events.extend(failure.map(|kind| Err(error(kind))));
    Script { events, hangs: false }
}

/// Some text, then nothing any more.
pub(super) fn hanging(text: &str) -> Script {
    Script { events: vec![Ok(ModelEvent::Text(text.to_owned()))], hangs: true }
}

/// Some text, then an end without a finish.
pub(super) fn ending_early(text: &str) -> Script {
    Script { events: vec![Ok(ModelEvent::Text(text.to_owned()))], hangs: false }
}

fn error(kind: ModelErrorKind) -> ModelError {
    ModelError { kind, message: format!("the vendor said {kind:?}") }
}

/// Plays a script, and fails the test for a request that a vendor would refuse.
pub(super) struct ScriptedModel {
    info: ModelInfo,
    scripts: Mutex<VecDeque<Script>>,
    requests: Arc<Mutex<Vec<Request>>>,
    steps: Arc<Steps>,
    accounts: Mutex<TwoAccounts>,
    /// The window that its server gives it when it loads it.
    given: Option<u64>,
}

/// Two accounts of which one can always be asked again: the one that failed last rests, and the other one no longer.
#[derive(Default)]
struct TwoAccounts {
    /// Their names, the one in use first; none if the model has no accounts.
    names: Option<[&'static str; 2]>,
    has_failed: bool,
}

#[async_trait]
impl Model for ScriptedModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn account(&self, _: &str, failure: Option<&ModelError>, tried: &[String]) -> Option<OtherAccount> {
        let mut accounts = self.accounts.lock().unwrap();
        let [used, other] = accounts.names?;
        if failure.is_some_and(|_| tried.iter().any(|tried| tried == other)) {
            accounts.has_failed = true;
            return None;
        }
        if failure.is_none() && !accounts.has_failed {
            return None;
        }
        (accounts.names, accounts.has_failed) = (Some([other, used]), false);
        let reason = failure.and_then(|failure| failure.kind.switch_reason()).unwrap_or(SwitchReason::RateLimited);
        let switch = AccountSwitch { name: other.to_owned(), instead_of: used.to_owned() };
        Some(OtherAccount { switch, reason, until: None })
    }

    async fn window(&self) -> Option<Window> {
        assert!(!self.requests.lock().unwrap().is_empty(), "no model is loaded before the first request");
        Some(Window { tokens: self.given?, warning: Some("the window is small".to_owned()) })
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        assert_eq!(problem(&request.messages), None);
        let last = request.messages.last().map(|last| &**last);
        assert!(!matches!(last, None | Some(Message::Assistant(_))), "nothing to answer in {:#?}", request.messages);
        self.requests.lock().unwrap().push(request);
        self.steps.wait().await;
        let script = self.scripts.lock().unwrap().pop_front().expect("the script has no answer for this request");
        let mut events = script.events;
        if events.first().is_some_and(Result::is_err) {
            return Err(events.remove(0).unwrap_err());
        }
        let steps = Arc::clone(&self.steps);
        let played = stream::iter(events).then(move |event| {
            let steps = Arc::clone(&steps);
            async move {
                steps.wait().await;
                event
            }
        });
        let rest: ModelStream = if script.hangs { stream::once(pending()).boxed() } else { stream::empty().boxed() };
        Ok(played.chain(rest).boxed())
    }
}

/// The models that go on in the stage's own one's stead, in order.
#[derive(Default)]
struct Others {
    chain: Mutex<VecDeque<Arc<ScriptedModel>>>,
    larger: Mutex<VecDeque<Arc<ScriptedModel>>>,
    names: Vec<String>,
}

#[async_trait]
impl Fallbacks for Others {
    async fn next(&self, _: &ModelInfo, _: &ModelError) -> Option<Successor> {
        Some(Successor { model: self.chain.lock().unwrap().pop_front()?, until: Some(7) })
    }

    async fn larger(&self, _: &ModelInfo) -> Option<Successor> {
        Some(Successor { model: self.larger.lock().unwrap().pop_front()?, until: None })
    }

    async fn others(&self, _: &ModelInfo) -> Vec<String> {
        self.names.clone()
    }
}

/// A session that keeps its log in memory, and what it is to say.
#[derive(Default)]
pub(super) struct LoggedSession {
    log: Mutex<Vec<Event>>,
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<PermissionRequest>>,
    rules: Mutex<Rules>,
    /// The interjections for the first time that they are looked for, the second time, …
    interjections: Mutex<VecDeque<Vec<Interjection>>>,
    /// The problems of the edits, for the first time that they are asked for, the second time, …
    problems: Mutex<VecDeque<Option<String>>>,
    /// The errors that they brought, likewise.
    new_errors: Mutex<VecDeque<Option<NewErrors>>>,
    unsettled: Mutex<Unsettled>,
    saved: Mutex<Vec<bool>>,
    proposed: Mutex<Vec<EditPlan>>,
    kept: Mutex<Vec<String>>,
    /// The facts for a handover.
    pub(super) facts: Mutex<Facts>,
    refuses_edits: Mutex<Option<EditRefused>>,
    /// The calls of an earlier turn that came to propose their edits.
    has_proposed: Mutex<Vec<ToolCallId>>,
    /// The files seen by the model that the next command changes.
    changed: Mutex<Vec<String>>,
    /// The plan that the turn works on.
    plan: Mutex<Vec<PlanEntry>>,
    steps: Arc<Steps>,
}

#[async_trait]
impl Session for LoggedSession {
    fn surroundings(&self) -> permission::Surroundings {
        permission::Surroundings::default()
    }

    fn record(&self, event: Event) {
        self.steps.step();
        self.log.lock().unwrap().push(event);
    }

    fn permission_id(&self) -> PermissionId {
        PermissionId::new(format!("p{}", self.asked.lock().unwrap().len()))
    }

    async fn ask(&self, request: PermissionRequest) -> Answer {
        self.asked.lock().unwrap().push(request);
        self.steps.wait().await;
        self.answers.lock().unwrap().pop_front().expect("nobody expected a question")
    }

    fn rules(&self) -> Arc<Rules> {
        Arc::new(self.rules.lock().unwrap().clone())
    }

    async fn grant(&self, rule: Rule, scope: GrantScope) {
        self.steps.effect("a grant");
        self.steps.wait().await;
        self.rules.lock().unwrap().allow.push(SourcedRule {
            rule,
            origin: match scope {
                GrantScope::Project => RuleOrigin::Granted,
                GrantScope::Session => RuleOrigin::Session,
            },
            source: "a grant".to_owned(),
        });
    }

    async fn stored(&self) {
        self.steps.wait().await;
    }

    async fn propose(&self, _: &ToolCallId, plan: EditPlan) -> Result<Proposed, EditRefused> {
        self.steps.effect("a proposal");
        self.steps.wait().await;
        if let Some(refused) = self.refuses_edits.lock().unwrap().clone() {
            return Err(refused);
        }
        self.proposed.lock().unwrap().push(plan);
        Ok(Proposed { pending_hunks: 2, added: 3, removed: 1, applied: false })
    }

    async fn proposed(&self, call: &ToolCallId) -> Option<Proposed> {
        let proposed = Proposed { pending_hunks: 2, added: 3, removed: 1, applied: false };
        self.has_proposed.lock().unwrap().contains(call).then_some(proposed)
    }

    async fn secrets_in(&self, input: &Value) -> Vec<String> {
        if input.to_string().contains("hunter2") { vec!["PASSWORD".to_owned()] } else { Vec::new() }
    }

    async fn keep(&self, result: String) -> Option<String> {
        self.steps.wait().await;
        let bytes = result.len();
        self.kept.lock().unwrap().push(result);
        Some(format!("{bytes} bytes are kept"))
    }

    async fn facts(&self) -> Facts {
        self.steps.wait().await;
        self.facts.lock().unwrap().clone()
    }

    async fn unsettled(&self) -> Unsettled {
        self.steps.wait().await;
        self.unsettled.lock().unwrap().clone()
    }

    async fn accept_all(&self) -> Vec<String> {
        self.steps.effect("an accept");
        self.steps.wait().await;
        let mut unsettled = self.unsettled.lock().unwrap();
        unsettled.pending_hunks = 0;
        let accepted = std::mem::take(&mut unsettled.pending_files);
        unsettled.ours.extend(accepted);
        Vec::new()
    }

    async fn save(&self, own: bool) -> Vec<String> {
        self.steps.effect("a save");
        self.steps.wait().await;
        self.saved.lock().unwrap().push(own);
        let mut unsettled = self.unsettled.lock().unwrap();
        unsettled.ours.clear();
        if own {
            unsettled.own.clear();
        }
        Vec::new()
    }

    async fn before_command(&self) {
        self.steps.wait().await;
    }

    async fn after_command(&self, _: &ToolCallId) -> Vec<String> {
        self.steps.wait().await;
        std::mem::take(&mut *self.changed.lock().unwrap())
    }

    async fn problems(&self) -> Option<String> {
        self.steps.wait().await;
        self.problems.lock().unwrap().pop_front().flatten()
    }

    async fn new_errors(&self, _: bool) -> Option<NewErrors> {
        self.steps.wait().await;
        self.new_errors.lock().unwrap().pop_front().flatten()
    }

    async fn plan(&self) -> Vec<PlanEntry> {
        self.plan.lock().unwrap().clone()
    }

    async fn interjections(&self) -> Vec<Interjection> {
        let said = self.interjections.lock().unwrap().pop_front().unwrap_or_default();
        for interjection in &said {
            let turn_id = turn_id(&self.log.lock().unwrap());
            self.record(match interjection.clone() {
                Interjection::Steer { prompt, context } => Event::Steered { turn_id, prompt, context },
                Interjection::Note { text, .. } => Event::Noted { turn_id, text },
            });
        }
        self.steps.wait().await;
        said
    }
}

/// The action of a tool when it runs.
#[derive(Clone)]
pub(super) enum Does {
    /// Says what its input's `say` is.
    Says,
    /// Waits until so many calls run at once.
    Meets(Arc<tokio::sync::Barrier>),
    /// Panics.
    Panics,
    /// Fails.
    Fails(ToolError),
    /// Ends only when it is cancelled.
    WaitsForCancel,
    /// Does not even end then.
    Hangs,
    /// Plans an edit.
    Plans,
    /// Says so much.
    Rambles(usize),
}

pub(super) struct FakeTool {
    spec: ToolSpec,
    access: Access,
    does: Does,
    running: Arc<Running>,
    steps: Arc<Steps>,
}

/// The calls that run, and which of them ran together.
#[derive(Default)]
pub(super) struct Running {
    now: Mutex<Vec<ToolCallId>>,
    pub(super) order: Mutex<Vec<String>>,
}

#[async_trait]
impl Tool for FakeTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn kind(&self) -> ToolKind {
        match self.access {
            Access::Read if self.spec.name == "fetch" => ToolKind::Fetch,
            Access::Read => ToolKind::Read,
            Access::Edit => ToolKind::Edit,
            Access::Execute | Access::Background => ToolKind::Execute,
        }
    }

    fn access(&self) -> Access {
        self.access
    }

    fn is_repeatable(&self) -> bool {
        !self.access.has_effects() && self.spec.name != "consult"
    }

    async fn describe(&self, input: &Value) -> Result<Description, ToolError> {
        if input.get("bad").is_some() {
            return Err(ToolError::InvalidInput("`bad` is not a field".to_owned()));
        }
        assert!(input.get("panic").is_none(), "this input is too much");
        let line = input.get("line").and_then(Value::as_str).unwrap_or("make check").to_owned();
        let words = line.split(' ').map(|word| Word::Known(word.to_owned())).collect();
        let command = SimpleCommand { words, assignments: vec![], redirects: vec![] };
        let action = match self.access {
            Access::Read => Action::Read,
            Access::Edit => Action::Edit { paths: vec![PathBuf::from("/ws/a.rs")] },
            Access::Execute | Access::Background => Action::Execute {
                outside: None,
                line: line.clone(),
                parsed: ShellLine::Commands(vec![command]),
                cwd: PathBuf::from("/ws"),
                links: Links::new(),
                keys: KeyFiles::default(),
            },
        };
        Ok(Description { title: format!("{} {line}", self.spec.name), locations: vec![], action })
    }

    fn preview<'a>(&self, input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        let lines = input.strings().iter().filter(|string| string.field == "new");
        lines.map(|string| DiffPart { path: "a.rs", kind: DiffKind::Added, text: &string.text }).collect()
    }

    fn places(&self, input: &PartialInput) -> usize {
        input.strings().iter().filter(|string| string.field == "old" && string.is_whole).count()
    }

    async fn foresee(&self, _: Call, input: PartialInput, may_look: Arc<MayLook>) -> Result<(), ToolError> {
        if !may_look(Path::new("/ws/a.rs")) {
            return Ok(());
        }
        match input.whole(0, "old") {
            Some("gone") => Err(ToolError::Failed("a.rs has no `gone`".to_owned())),
            Some("panic") => panic!("out of cheese"),
            _ => Ok(()),
        }
    }

    async fn run(&self, call: Call, input: Value) -> Result<Output, ToolError> {
        self.steps.effect("a tool");
        let together = {
            let mut now = self.running.now.lock().unwrap();
            now.push(call.id.clone());
            self.running.order.lock().unwrap().push(format!("+{}", call.id));
            now.len()
        };
        assert!(self.access == Access::Read || together == 1, "{} does not run alone", call.id);
        self.steps.wait().await;
        let text = match &self.does {
            Does::Says | Does::Plans => input.get("say").and_then(Value::as_str).unwrap_or("a result").to_owned(),
            Does::Meets(barrier) => {
                barrier.wait().await;
                "met".to_owned()
            }
            Does::Panics => panic!("out of cheese"),
            Does::Fails(error) => return Err(error.clone()),
            Does::WaitsForCancel => {
                call.cancel.cancelled().await;
                return Err(ToolError::Cancelled);
            }
            Does::Hangs => pending().await,
            Does::Rambles(bytes) => "ramble\n".repeat(bytes / 7),
        };
        self.running.now.lock().unwrap().retain(|id| *id != call.id);
        self.running.order.lock().unwrap().push(format!("-{}", call.id));
        let plan = matches!(self.does, Does::Plans).then(|| EditPlan {
            files: vec![FilePlan {
                path: input.get("plans").and_then(Value::as_str).unwrap_or("/ws/a.rs").into(),
                read: None,
                new_text: Some("new".to_owned()),
                moved_to: None,
            }],
        });
        let canonical = input.get("meant").cloned();
        Ok(Output { text, plan, canonical, ..Output::default() })
    }
}

/// A turn to be, with everything around it.
pub(super) struct Stage {
    pub(super) steps: Arc<Steps>,
    pub(super) running: Arc<Running>,
    pub(super) session: LoggedSession,
    pub(super) scripts: Vec<Script>,
    pub(super) tools: Vec<(&'static str, Access, Does)>,
    pub(super) events: Vec<Event>,
    pub(super) mode: Mode,
    pub(super) limits: Limits,
    pub(super) compacts: bool,
    pub(super) may_ask: bool,
    pub(super) compaction: Option<CompactionAsked>,
    pub(super) stop_early: bool,
    pub(super) canonical_edits: bool,
    pub(super) mend_errors: u32,
    pub(super) plan_reminders: u32,
    /// The window that the server of each of its models gives it; none if it is the one that is known.
    pub(super) given: Option<u64>,
    pub(super) context_tokens: u64,
    pub(super) answered: Option<ToolCallId>,
    pub(super) hooks: Vec<Arc<dyn Hooks>>,
    pub(super) retry: RetryPolicy,
    pub(super) retry_wait: RetryWait,
    /// The names of its model's accounts.
    pub(super) accounts: Option<[&'static str; 2]>,
    /// The rest of its model's chain, with what each answers.
    pub(super) chain: Vec<(&'static str, Vec<Script>)>,
    /// Its larger siblings, by the sizes of their contexts.
    pub(super) larger: Vec<(u64, Vec<Script>)>,
    /// The models that the user could choose instead.
    pub(super) others: Vec<&'static str>,
    /// Where its tools are, for who brings others while it plays.
    pub(super) set: ToolSet,
}

/// The outcome and the log that a turn left behind.
pub(super) struct Left {
    pub(super) outcome: TurnOutcome,
    /// The session's whole log.
    pub(super) log: Vec<Event>,
    pub(super) requests: Vec<Request>,
    pub(super) asked: Vec<PermissionRequest>,
    pub(super) saved: Vec<bool>,
    pub(super) proposed: Vec<EditPlan>,
    pub(super) kept: Vec<String>,
    pub(super) rules: Rules,
    /// Scripts that were not played.
    pub(super) unplayed: usize,
}

impl Stage {
    pub(super) fn new(scripts: Vec<Script>) -> Self {
        Self::with_steps(Steps::default(), scripts)
    }

    pub(super) fn with_steps(steps: Steps, scripts: Vec<Script>) -> Self {
        let steps = Arc::new(steps);
        Self {
            session: LoggedSession { steps: Arc::clone(&steps), ..LoggedSession::default() },
            steps,
            running: Arc::default(),
            scripts,
            tools: vec![
                ("look", Access::Read, Does::Says),
                ("edit", Access::Edit, Does::Plans),
                ("shell", Access::Execute, Does::Says),
            ],
            events: vec![started("t1", "do it")],
            mode: Mode::Agent,
            limits: Limits::default(),
            compacts: true,
            may_ask: true,
            compaction: None,
            stop_early: false,
            canonical_edits: false,
            mend_errors: 0,
            plan_reminders: 0,
            context_tokens: 100_000,
            given: None,
            answered: None,
            hooks: Vec::new(),
            retry: RetryPolicy::default(),
            retry_wait: RetryWait::default(),
            accounts: None,
            chain: Vec::new(),
            larger: Vec::new(),
            others: Vec::new(),
            set: ToolSet::default(),
        }
    }

    pub(super) fn hooked(mut self, hooks: impl Hooks + 'static) -> Self {
        self.hooks.push(Arc::new(hooks));
        self
    }

    /// A tool that can be brought while the turn plays.
    pub(super) fn late(&self, name: &str, access: Access, does: Does) -> Arc<dyn Tool> {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: "does as it is told".to_owned(),
            input_schema: json!({ "type": "object" }),
        };
        let (running, steps) = (Arc::clone(&self.running), Arc::clone(&self.steps));
        Arc::new(FakeTool { spec, access, does, running, steps })
    }

    pub(super) fn tool(mut self, name: &'static str, access: Access, does: Does) -> Self {
        self.tools.retain(|(known, ..)| *known != name);
        self.tools.push((name, access, does));
        self
    }

    pub(super) fn answers(self, answers: impl IntoIterator<Item = Answer>) -> Self {
        self.session.answers.lock().unwrap().extend(answers);
        self
    }

    pub(super) fn hears(self, interjections: impl IntoIterator<Item = Vec<Interjection>>) -> Self {
        self.session.interjections.lock().unwrap().extend(interjections);
        self
    }

    /// Sets the plan that the turn works on.
    pub(super) fn planned(self, steps: impl IntoIterator<Item = PlanEntry>) -> Self {
        self.session.plan.lock().unwrap().extend(steps);
        self
    }

    /// Sets what the turn's edits did, each time that it is asked.
    pub(super) fn breaks(
        self,
        problems: impl IntoIterator<Item = Option<&'static str>>,
        new_errors: impl IntoIterator<Item = Option<NewErrors>>,
    ) -> Self {
        self.session.problems.lock().unwrap().extend(problems.into_iter().map(|text| text.map(str::to_owned)));
        self.session.new_errors.lock().unwrap().extend(new_errors);
        self
    }

    pub(super) fn allows(self, rule: &str) -> Self {
        let rule = SourcedRule {
            rule: rule.parse().unwrap(),
            origin: RuleOrigin::User,
            source: "your config.toml".to_owned(),
        };
        self.session.rules.lock().unwrap().allow.push(rule);
        self
    }

    pub(super) fn denies(self, rule: &str) -> Self {
        let rule = SourcedRule {
            rule: rule.parse().unwrap(),
            origin: RuleOrigin::User,
            source: "your config.toml".to_owned(),
        };
        self.session.rules.lock().unwrap().deny.push(rule);
        self
    }

    pub(super) fn asks(self, rule: &str) -> Self {
        let rule = SourcedRule {
            rule: rule.parse().unwrap(),
            origin: RuleOrigin::User,
            source: "your config.toml".to_owned(),
        };
        self.session.rules.lock().unwrap().ask.push(rule);
        self
    }

    pub(super) fn unsettled(self, unsettled: Unsettled) -> Self {
        *self.session.unsettled.lock().unwrap() = unsettled;
        self
    }

    pub(super) fn has_proposed(self, call: &str) -> Self {
        self.session.has_proposed.lock().unwrap().push(call.into());
        self
    }

    pub(super) fn changes(self, files: &[&str]) -> Self {
        self.session.changed.lock().unwrap().extend(files.iter().map(|file| (*file).to_owned()));
        self
    }

    pub(super) fn refuses_edits(self, refused: EditRefused) -> Self {
        *self.session.refuses_edits.lock().unwrap() = Some(refused);
        self
    }

    pub(super) async fn play(mut self) -> Left {
        let own = std::mem::take(&mut self.tools);
        let own = own.into_iter().map(|(name, access, does)| self.late(name, access, does));
        self.set.put("built-in", own.collect::<Vec<_>>());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let scripted = |info: ModelInfo, scripts: Vec<Script>| {
            let (requests, steps) = (Arc::clone(&requests), Arc::clone(&self.steps));
            let (scripts, accounts) = (Mutex::new(scripts.into()), Mutex::default());
            Arc::new(ScriptedModel { info, scripts, requests, steps, accounts, given: self.given })
        };
        let model = scripted(info(self.context_tokens), self.scripts);
        model.accounts.lock().unwrap().names = self.accounts;
        let chain = self
            .chain
            .into_iter()
            .map(|(id, scripts)| scripted(ModelInfo { id: id.to_owned(), ..info(self.context_tokens) }, scripts));
        let larger = self.larger.into_iter().map(|(context, scripts)| scripted(info(context), scripts));
        let fallbacks = Others {
            chain: Mutex::new(chain.collect()),
            larger: Mutex::new(larger.collect()),
            names: self.others.into_iter().map(str::to_owned).collect(),
        };
        let session = Arc::new(self.session);
        session.log.lock().unwrap().extend(self.events.iter().cloned());
        let context = TurnContext {
            session_id: SessionId::from("abc123"),
            turn_id: turn_id(&self.events),
            model: Arc::clone(&model) as Arc<dyn Model>,
            fallbacks: Arc::new(fallbacks),
            offered: self.set.offered(self.mode).into(),
            tools: self.set,
            hooks: Chain::new(self.hooks),
            mode: self.mode,
            system: Arc::from("be good"),
            history: History::from_events(&self.events),
            folders: Arc::from([PathBuf::from("/ws")]),
            session: Arc::clone(&session) as Arc<dyn Session>,
            cancel: self.steps.token.clone(),
            answered: self.answered,
            thinking: None,
            cache_hour: false,
            stop_early: self.stop_early,
            file_blocks: Some("k".into()),
            canonical_edits: self.canonical_edits,
            mend_errors: self.mend_errors,
            plan_reminders: self.plan_reminders,
            retry: self.retry,
            retry_wait: self.retry_wait,
            limits: self.limits,
            compacts: self.compacts,
            may_ask: self.may_ask,
            only_compacts: self.compaction.is_some(),
            compaction: self.compaction,
            counted: None,
        };
        // As a task of its own, as the session runs it; a turn that waits for ever fails its test.
        let turn = tokio::time::timeout(Duration::from_secs(3600), tokio::spawn(run(context)));
        let outcome = turn.await.expect("the turn hangs").unwrap();
        let left = Left {
            outcome,
            log: session.log.lock().unwrap().clone(),
            requests: requests.lock().unwrap().clone(),
            asked: session.asked.lock().unwrap().clone(),
            saved: session.saved.lock().unwrap().clone(),
            proposed: session.proposed.lock().unwrap().clone(),
            kept: session.kept.lock().unwrap().clone(),
            rules: session.rules.lock().unwrap().clone(),
            unplayed: model.scripts.lock().unwrap().len(),
        };
        left.assert_sound();
        assert_eq!(*self.steps.late.lock().unwrap(), [""; 0], "nothing begins after the cancel");
        left
    }
}

impl Left {
    /// Asserts what holds of every log that a turn leaves.
    fn assert_sound(&self) {
        let turn_id = turn_id(&self.log);
        let ends =
            self.log.iter().filter(|event| matches!(event, Event::TurnEnded { turn_id: id, .. } if *id == turn_id));
        assert_eq!(ends.count(), 1, "a turn ends once: {:#?}", self.log);
        assert!(matches!(self.log.last(), Some(Event::TurnEnded { .. })), "its end is its last event");
        let history = History::from_events(&self.log);
        assert!(history.is_settled(), "everything is settled: {:#?}", self.log);
        assert_eq!(problem(&history.messages()), None);
        let mut begun = Vec::new();
        let mut ended = Vec::new();
        for event in &self.log {
            match event {
                Event::ToolCallStarted { tool_call_id, .. } => begun.push(tool_call_id),
                Event::ToolCallEnded { result, .. } => {
                    assert!(!ended.contains(&&result.tool_call_id), "{} ends twice", result.tool_call_id);
                    ended.push(&result.tool_call_id);
                }
                Event::MessageCompleted { content, .. } => {
                    for block in content {
                        if let AssistantBlock::ToolCall { id, .. } = block {
                            let end = |event: &&Event| matches!(event, Event::ToolCallEnded { result, .. } if result.tool_call_id == *id);
                            assert_eq!(self.log.iter().filter(end).count(), 1, "{id} ends once");
                        }
                    }
                }
                _ => {}
            }
        }
        assert!(begun.iter().all(|id| ended.contains(id)), "what begins ends");
    }

    /// The log, in a few words each.
    pub(super) fn story(&self) -> Vec<String> {
        let line = |event: &Event| match event {
            Event::MessageDelta { text, .. } => Some(format!("~{text}")),
            Event::ThinkingDelta { text, .. } => Some(format!("?{text}")),
            Event::EditDelta { text, .. } => Some(format!("%{text}")),
            Event::MessageCompleted { .. } => Some("completed".to_owned()),
            Event::MessageDiscarded { .. } => Some("discarded".to_owned()),
            Event::Retrying { attempt, .. } => Some(format!("retry {attempt}")),
            Event::TurnModelChanged { model, reason, .. } => Some(format!("{model} for {reason:?}")),
            Event::ToolCallStarted { tool_call_id, .. } => Some(format!("+{tool_call_id}")),
            Event::ToolCallEnded { result, .. } => Some(format!("-{}", result.tool_call_id)),
            Event::Steered { .. } => Some("steered".to_owned()),
            Event::Noted { .. } => Some("noted".to_owned()),
            Event::ContextTrimmed { .. } => Some("trimmed".to_owned()),
            Event::Compacted { .. } => Some("compacted".to_owned()),
            Event::CompactionFailed { .. } => Some("not compacted".to_owned()),
            Event::TurnEnded { stop_reason, .. } => Some(format!("{stop_reason:?}")),
            _ => None,
        };
        self.log.iter().filter_map(line).collect()
    }

    /// Returns the result of a call as the model was told it, and whether it is an error.
    pub(super) fn result(&self, id: &str) -> (&str, bool) {
        self.result_of(|other| other == id)
    }

    /// Returns the result, as the model was told it, of the first call whose id is such.
    pub(super) fn result_of(&self, is_it: impl Fn(&str) -> bool) -> (&str, bool) {
        self.log
            .iter()
            .find_map(|event| match event {
                Event::ToolCallEnded { result, .. } if is_it(result.tool_call_id.as_str()) => {
                    Some((result.text.as_str(), result.is_error))
                }
                _ => None,
            })
            .expect("the call ended")
    }

    pub(super) fn messages(&self) -> Vec<Arc<Message>> {
        History::from_events(&self.log).messages()
    }
}

/// A note that wants no answer.
pub(super) fn note(text: &str) -> Interjection {
    Interjection::Note { text: text.to_owned(), wants_answer: false }
}

pub(super) fn started(turn_id: &str, prompt: &str) -> Event {
    let prompt = if prompt.is_empty() { vec![] } else { vec![PromptBlock::Text { text: prompt.to_owned() }] };
    let (turn_id, model, mode) = (TurnId::from(turn_id), "m".to_owned(), Mode::Agent);
    Event::TurnStarted { turn_id, prompt, context: String::new(), model, mode, thinks: None, compacts: false }
}

/// The last turn that began.
fn turn_id(events: &[Event]) -> TurnId {
    let begun = events.iter().rev().find_map(|event| match event {
        Event::TurnStarted { turn_id, .. } => Some(turn_id.clone()),
        _ => None,
    });
    begun.expect("a turn began")
}

fn info(context_tokens: u64) -> ModelInfo {
    ModelInfo {
        id: "scripted/fake".to_owned(),
        name: "Fake".to_owned(),
        aliases: Vec::new(),
        provider: "scripted".to_owned(),
        context_tokens,
        max_output_tokens: 8_000,
        price: Some(Price {
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
            cache_write_hour: None,
            long: None,
        }),
        available: true,
        unavailable_because: None,
        ruled_out: false,
        images: true,
        thinking: false,
        levels: Vec::new(),
        level: None,
        warning: None,
        scripted: true,
    }
}
