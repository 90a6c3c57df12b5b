//! The turn's way to its session: every call is a message to the session's task, but for the rules and the files of an
//! edit, which are read, long results, which are files of their own, and questions to language servers.

use std::sync::Arc;

use async_trait::async_trait;
use mask::Masks;
use permission::{Rule, Rules, Surroundings};
use ports::children::{Child, ChildEnd, ChildError, Children, StartChild};
use ports::edit::{EditPlan, EditRefused, Proposed};
use ports::facts::Facts;
use ports::session::{Answer, GrantScope, Interjection, NewErrors, Unsettled};
use ports::store::{Store, StoreError};
use project::reader::Reader;
use project::results::Results;
use protocol::content::PlanEntry;
use protocol::event::Severity;
use protocol::permission::PermissionRequest;
use protocol::{Event, PermissionId, SessionId, ToolCallId, TurnId};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use super::Message;
use crate::budget::{Budget, Found};
use crate::feed::blocking;
use crate::post::Report;
use crate::secrets::Secrets;
use crate::session::gate::InForce;
use crate::session::problems::Problems;
use crate::session::{Own, edits, gate, watch};
use crate::trust::{Word, Workspace};

/// A turn's end of its session.
pub(super) struct Port {
    pub(super) session: SessionId,
    pub(super) turn: TurnId,
    pub(super) own: mpsc::UnboundedSender<Own>,
    pub(super) rules: InForce,
    pub(super) reader: Arc<Reader>,
    pub(super) results: Results,
    pub(super) problems: Problems,
    /// The workspace, and what the turn's home says of the trust in it.
    pub(super) trust: (Workspace, Word),
    /// True if the session's shell is in a sandbox that keeps commands from writing elsewhere.
    pub(super) sandboxed: bool,
    /// The budgets of the session.
    pub(super) budget: Budget,
    pub(super) store: Arc<dyn Store>,
    /// The secrets that no model sees.
    pub(super) secrets: Arc<Secrets>,
    /// The number of questions that this turn has asked.
    pub(super) questions: std::sync::atomic::AtomicU64,
}

impl Port {
    async fn call<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Own) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.own.send(message(reply)).ok()?;
        answer.await.ok()
    }

    async fn budgets(&self) -> Result<Vec<Found>, String> {
        let found = self.budget.read(Arc::clone(&self.store)).await;
        found.map_err(|error| format!("the costs cannot be read, so the budget is not known: {error}"))
    }
}

#[async_trait]
impl ports::session::Session for Port {
    fn record(&self, event: Event) {
        let _ = self.own.send(Own::Prompts(Message::Record(self.turn.clone(), event)));
    }

    fn permission_id(&self) -> PermissionId {
        let number = self.questions.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        PermissionId::new(format!("{}-q{number}", self.turn))
    }

    async fn ask(&self, request: PermissionRequest) -> Answer {
        let asked = self.call(|reply| Own::Gate(gate::Message::Ask(self.turn.clone(), request, reply))).await;
        asked.unwrap_or(Answer::Cancelled)
    }

    fn rules(&self) -> Arc<Rules> {
        self.rules.get()
    }

    fn surroundings(&self) -> Surroundings {
        // Read anew for each call, so that what the user says in any window counts at once.
        let (workspace, word) = &self.trust;
        Surroundings { trusted: workspace.decided(word) == Some(true), sandboxed: self.sandboxed }
    }

    async fn grant(&self, rule: Rule, scope: GrantScope) {
        self.call(|done| Own::Gate(gate::Message::Grant(rule, scope, done))).await;
    }

    async fn stored(&self) {
        self.call(|done| Own::Prompts(Message::Stored(done))).await;
    }

    async fn within_budget(&self) -> Result<(), String> {
        if self.budget.is_unset() {
            return Ok(());
        }
        // The cost of the last request is to be in the sums.
        self.stored().await;
        // Each time, since other conversations spend and raise the same budget while this one asks.
        loop {
            let found = self.budgets().await?;
            for text in found.iter().flat_map(|found| self.budget.due(found)) {
                self.record(Event::Notice { severity: Severity::Warning, text });
            }
            let Some(reached) = found.iter().find(|found| found.is_reached()) else { return Ok(()) };
            let answer = self.ask(reached.question(self.permission_id())).await;
            let Answer::Selected { option_id, .. } = answer else { return Err(reached.stopped()) };
            self.budgets().await?;
            if !self.budget.answered(&option_id) {
                return Err(reached.stopped());
            }
        }
    }

    async fn propose(&self, call: &ToolCallId, plan: EditPlan) -> Result<Proposed, EditRefused> {
        let (reply, proposed) = oneshot::channel();
        let (reader, problems, own) = (Arc::clone(&self.reader), self.problems.clone(), self.own.clone());
        let (turn, call) = (self.turn.clone(), call.clone());
        // In a task of its own: language servers are asked for the files' problems once, and their answers are taken
        // even if the turn is cancelled before they come.
        tokio::spawn(async move {
            problems.before(&plan).await;
            // Sent from where the files are read, so that little can change in between.
            let read = tokio::task::spawn_blocking(move || {
                let bases: Result<Vec<_>, _> = plan.files.iter().map(|file| reader.base_text(&file.path)).collect();
                match bases {
                    Ok(bases) => {
                        drop(own.send(Own::Edits(edits::Message::Propose(turn, call, plan, bases, reply))));
                    }
                    Err(error) => drop(reply.send(Err(EditRefused::Failed(error.to_string())))),
                }
            });
            // Without an answer the edit has failed.
            let _ = read.await;
        });
        let failed = || format!("it could not be proposed in session {}; the log says why", self.session);
        proposed.await.unwrap_or_else(|_| Err(EditRefused::Failed(failed())))
    }

    async fn proposed(&self, call: &ToolCallId) -> Option<Proposed> {
        self.call(|reply| Own::Edits(edits::Message::Proposed(call.clone(), reply))).await.flatten()
    }

    async fn unsettled(&self) -> Unsettled {
        self.call(|reply| Own::Edits(edits::Message::Unsettled(reply))).await.unwrap_or_default()
    }

    async fn accept_all(&self) -> Vec<String> {
        self.call(|done| Own::Edits(edits::Message::AcceptAll(done))).await.unwrap_or_default()
    }

    async fn save(&self, own: bool) -> Vec<String> {
        self.call(|done| Own::Edits(edits::Message::Save { own, done })).await.unwrap_or_default()
    }

    async fn before_command(&self) {
        self.call(|done| Own::Watch(watch::Message::BeforeCommand(done))).await;
    }

    async fn after_command(&self, call: &ToolCallId) -> Vec<String> {
        let changed = |reply| Own::Watch(watch::Message::AfterCommand(self.turn.clone(), call.clone(), reply));
        self.call(changed).await.unwrap_or_default()
    }

    async fn keep(&self, result: String) -> Option<String> {
        let results = self.results.clone();
        let failed = |error: std::io::Error| StoreError::Failed(error.to_string());
        match blocking(move || results.keep(&result).map_err(failed)).await {
            Ok(handle) => Some(tools::how_to_read(&handle, None)),
            Err(error) => {
                tracing::warn!(%error, session = %self.session, "a long result could not be kept");
                None
            }
        }
    }

    async fn problems(&self) -> Option<String> {
        self.problems.news().await
    }

    async fn new_errors(&self, tells_model: bool) -> Option<NewErrors> {
        self.problems.new_errors(tells_model).await
    }

    async fn plan(&self) -> Vec<PlanEntry> {
        self.call(|reply| Own::Prompts(Message::Plan(reply))).await.unwrap_or_default()
    }

    async fn plan_news(&self) -> Option<String> {
        self.call(|reply| Own::Prompts(Message::PlanNews(reply))).await.flatten()
    }

    async fn interjections(&self) -> Vec<Interjection> {
        self.call(|reply| Own::Prompts(Message::Interjections(reply))).await.unwrap_or_default()
    }

    async fn facts(&self) -> Facts {
        self.call(|reply| Own::Prompts(Message::Facts(reply))).await.unwrap_or_default()
    }

    async fn secrets_in(&self, input: &Value) -> Vec<String> {
        match self.secrets.mask().await {
            Ok(mask) => mask.names_in(input).into_iter().collect(),
            // The call is of an answer that came while there was a mask, so it may have any secret.
            Err(_) => vec![permission::UNKNOWN_SECRET.to_owned()],
        }
    }

    fn children(&self, call: &ToolCallId) -> Children {
        Children::new(Arc::new(Starts { own: self.own.clone(), turn: self.turn.clone(), call: call.clone() }))
    }
}

/// A call's way to start sessions.
struct Starts {
    own: mpsc::UnboundedSender<Own>,
    turn: TurnId,
    call: ToolCallId,
}

#[async_trait]
impl StartChild for Starts {
    async fn start(&self, child: Child) -> Result<ChildEnd, ChildError> {
        // Whoever waits no more ends it.
        let cancel = child.cancel.child_token();
        let _given_up = cancel.clone().drop_guard();
        let child = Child { cancel, ..child };
        let (ended, end) = oneshot::channel();
        let own = self.own.clone();
        let report = Report {
            ended,
            // Also if nobody waits any more: it is paid for.
            record: Box::new(move |event| drop(own.send(Own::ChildWorked(event)))),
            turn: self.turn.clone(),
            call: self.call.clone(),
            model: String::new(),
            rounds: 0,
        };
        self.own.send(Own::Child(Box::new(child), report)).map_err(|_| ChildError::Gone)?;
        end.await.unwrap_or(Err(ChildError::Gone))
    }
}
