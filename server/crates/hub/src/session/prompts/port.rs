//! The turn's way to its session: every call is a message to the session's task, but for the rules and the files of an
//! edit, which are read, long results, which are files of their own, and questions to language servers.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use permission::{Rule, Rules, Surroundings};
use ports::children::{Child, ChildEnd, ChildError, Children, StartChild};
use ports::edit::{EditPlan, EditRefused, Proposed};
use ports::session::{Answer, GrantScope, Interjection, NewErrors, Unsettled};
use ports::store::StoreError;
use project::reader::Reader;
use project::results::Results;
use protocol::permission::PermissionRequest;
use protocol::{Event, PermissionId, SessionId, ToolCallId, TurnId};
use tokio::sync::{mpsc, oneshot};

use super::Message;
use crate::feed::blocking;
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
    /// The number of questions that this turn has asked.
    pub(super) questions: std::sync::atomic::AtomicU64,
}

impl Port {
    async fn call<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Own) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.own.send(message(reply)).ok()?;
        answer.await.ok()
    }

    /// A plan with the texts of its files as the user has them; none for one that is not there. The problems of these
    /// files are asked for first.
    async fn with_bases(&self, plan: EditPlan) -> Result<(EditPlan, Vec<Option<Arc<str>>>), EditRefused> {
        let (reader, problems) = (Arc::clone(&self.reader), self.problems.clone());
        // In a task of its own: what is asked for is heard also if the turn is cancelled meanwhile.
        let read = tokio::spawn(async move {
            problems.before(judged(&plan)).await;
            let read = tokio::task::spawn_blocking(move || {
                let bases: Result<_, _> = plan.files.iter().map(|file| reader.base_text(&file.path)).collect();
                bases.map(|bases| (plan, bases)).map_err(|error| error.to_string())
            });
            read.await.unwrap_or_else(|error| Err(format!("its files could not be read: {error}")))
        });
        let read = read.await.unwrap_or_else(|error| Err(format!("its problems could not be asked for: {error}")));
        read.map_err(EditRefused::Failed)
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

    async fn propose(&self, call: &ToolCallId, plan: EditPlan) -> Result<Proposed, EditRefused> {
        let (plan, bases) = self.with_bases(plan).await?;
        let propose = |reply| Own::Edits(edits::Message::Propose(call.clone(), plan, bases, reply));
        let proposed = self.call(propose).await;
        proposed.unwrap_or_else(|| Err(EditRefused::Failed(format!("session {} has ended", self.session))))
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

    async fn interjections(&self) -> Vec<Interjection> {
        self.call(|reply| Own::Prompts(Message::Interjections(reply))).await.unwrap_or_default()
    }

    fn children(&self) -> Children {
        Children::new(Arc::new(Starts(self.own.clone())))
    }
}

/// A turn's way to start sessions.
struct Starts(mpsc::UnboundedSender<Own>);

#[async_trait]
impl StartChild for Starts {
    async fn start(&self, child: Child) -> Result<ChildEnd, ChildError> {
        // Whoever waits no more ends it.
        let cancel = child.cancel.child_token();
        let _given_up = cancel.clone().drop_guard();
        let child = Child { cancel, ..child };
        let (ended, end) = oneshot::channel();
        self.0.send(Own::Child(Box::new(child), ended)).map_err(|_| ChildError::Gone)?;
        end.await.unwrap_or(Err(ChildError::Gone))
    }
}

/// The files of a plan whose problems it may change. One that is moved has no text before at its new place, and takes
/// its problems there.
fn judged(plan: &EditPlan) -> Vec<PathBuf> {
    let is_moved_to = |path: &PathBuf| plan.files.iter().any(|file| file.moved_to.as_ref() == Some(path));
    let stays = plan.files.iter().filter(|file| file.new_text.is_some() && !is_moved_to(&file.path));
    stays.map(|file| file.path.clone()).collect()
}
