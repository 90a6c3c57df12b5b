//! A session: one task that owns all of its state. Whatever changes a session is a message to it, handled at once.
//!
//! It never waits for the store, the editor, the model or a human, nor for the project's files; such work runs in tasks
//! of its own, which come back with an [`Own`] message. Reading order: this file (the loop and the table of requests),
//! `hosting` (who holds the session), `load` (opening it), `models`, `questions`, `state` (what the log comes to),
//! `prepare`, `turns` and `waiting` (from a prompt to a running turn), `port` (what a turn asks of its session),
//! `reviews` (decisions), `permissions` (modes, rules and grants), `accepting` (edits accepted as they come),
//! `applying` and `carry` (their way into the documents), `halves` (calls of which only a part was made) and
//! `formatting` (what is done to those then), `problems` (what edits break and mend), `checkpoints` and `undo` (taking
//! turns back), `watch` (what commands and other programs change) and `rounds` (that in the review), `terminals`,
//! `trusting` (whether the workspace is), `user_commands`, `titles`, `complete`; `relay` (a session that another process
//! holds).

mod accepting;
mod applying;
mod brought;
mod carry;
mod checkpoints;
mod commands;
mod complete;
pub(crate) mod confinement;
mod file_mark;
mod formatting;
mod halves;
mod hosting;
mod lang;
pub(super) mod load;
mod models;
mod overlay;
mod parts;
mod permissions;
mod port;
mod prepare;
mod problems;
mod questions;
mod relay;
mod reviews;
mod rounds;
mod saving;
mod state;
mod terminals;
mod titles;
mod trusting;
mod turns;
mod undo;
mod user_commands;
mod waiting;
mod watch;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use agent::edit::{EditPlan, EditRefused, Proposed};
use agent::hooks::{Chain, Hooks};
use agent::model::Model;
use agent::permission::Rules;
use agent::session::Interjection;
use agent::store::{SessionLock, Store, StoreError};
use agent::toolset::ToolSet;
use protocol::checkpoint::{Direction, FileImage};
use protocol::event::SeenOccasion;
use protocol::model::ModelSelectResult;
use protocol::review::ReviewResult;
use protocol::session::{Mode, SessionInfo, SessionNewResult};
use protocol::terminal::Done;
use protocol::{ErrorCode, Event, PermissionId, PromptBlock, QueueId, SessionId, TerminalId, ToolCallId, TurnId};
use tokio::sync::{mpsc, oneshot};
use workspace::buffers::Buffers;
use workspace::lang::Source;
use workspace::paths::Roots;
use workspace::reader::Reader;
use workspace::results::Results;
use workspace::review::Review;
use workspace::search::Search;
use workspace::seen::Seen;

use self::accepting::Accepting;
use self::applying::Applying;
use self::formatting::{Answered, Formatting};
use self::halves::{Halves, Settling};
use self::hosting::{Inbox, Open, begin};
pub(super) use self::models::{default_model, resolve_model, usable};
use self::overlay::Overlay;
use self::permissions::Grants;
use self::port::TurnMessage;
use self::prepare::{GivenAnswer, Prepared};
use self::problems::Problems;
use self::questions::Question;
use self::reviews::{AfterCommand, Applied};
use self::rounds::Rounds;
use self::saving::NotSaved;
use self::state::State;
use self::terminals::{Spools, Terminals};
use self::titles::Titled;
use self::turns::{Running, TurnEnd};
use self::undo::{Held, Restored, Restoring};
use self::user_commands::{UserEnd, UserRunning};
use self::watch::{Found, Watch};
use super::feed::{Feed, Log, blocking};
use super::request::Opened;
use super::router::{self, Shared};
use super::trust::{Word, Workspace};
use super::{ClientId, Editor, Error, Reply, Request};
use crate::config::Config;

/// How long what an ended command came to may take to be said, a prompt to be made ready, and hooks to see to it, when
/// the session ends.
const AT_ONCE: Duration = Duration::from_secs(1);

/// Who sent a request.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) id: ClientId,
    /// Whether it is another process's window.
    pub(super) is_attached: bool,
    /// The name of its editor.
    pub(super) name: Option<Arc<str>>,
    pub(super) editor: Arc<dyn Editor>,
    /// The documents that it has open.
    pub(super) buffers: Arc<Buffers>,
    /// What it says of the trust in its workspace.
    pub(super) trust: Word,
}

/// What a new session begins with.
pub(super) struct NewSession {
    pub(super) folders: Vec<PathBuf>,
    pub(super) model: Option<String>,
    pub(super) mode: Mode,
    /// Whether the user asked for it by a command: chat documents name it, so it is kept whatever comes of it.
    pub(super) is_asked_for: bool,
}

/// What the router sends to a session.
pub(super) enum Message {
    /// The client that made the session follows it.
    Attach(Caller, Reply<SessionNewResult>),
    /// A request about it.
    Request(Caller, Request),
    /// A client is gone for good.
    Gone(ClientId),
    /// A document that a client has open changed.
    TextChanged(ClientId, PathBuf),
    /// Files on disk changed, or documents were closed.
    FilesChanged(Arc<[PathBuf]>),
    /// The configuration changed.
    Config(Arc<Config>),
    /// Edits in every session of a project are accepted as they come from now on, or no longer.
    Always(Arc<str>, bool),
    /// What is said of the trust in some folder, or by this editor, is other than it was.
    Trust(Option<(ClientId, bool)>),
    /// The process ends.
    Shutdown(oneshot::Sender<()>),
}

/// What a session's own tasks come back with.
enum Own {
    /// A prompt is ready to become a turn.
    Prepared(Box<Prepared>),
    /// The running turn wants something.
    Turn(TurnMessage),
    /// A turn's task ended.
    TurnEnded(TurnEnd),
    /// Accepted hunks arrived in their document, or did not.
    Applied(Box<Applied>),
    /// The editor says what a document would be, formatted.
    FormatAnswered(Box<Answered>),
    /// The editor's formatter of a language has answered, in time or not.
    FormatterAnswered(Arc<str>),
    /// What a call's edit came to was not heard: its turn is over.
    Unheard(ToolCallId),
    /// An undo or redo has changed files, or not.
    Restored(Box<Restored>),
    /// The files of a plan were read: their texts, none for one that is not there.
    PlanRead(ToolCallId, EditPlan, Vec<Option<Arc<str>>>, oneshot::Sender<Result<Proposed, EditRefused>>),
    /// A word to the turn is ready.
    Steered(TurnId, QueueId, Interjection, Reply<Done>),
    /// A plan is refused, with the texts of its files as they are now.
    PlanRefused(Vec<(PathBuf, Option<Arc<str>>)>, EditRefused, oneshot::Sender<Result<Proposed, EditRefused>>),
    /// What a file is that is about to be deleted; it waits until that is stored.
    Deleting(String, FileImage, oneshot::Sender<()>),
    /// A file that has pending hunks was read anew: its text, none where it is gone.
    BaseRead(PathBuf, Option<Arc<str>>),
    /// The files that have pending hunks were read after a command.
    ReadAfterCommand(Box<AfterCommand>, oneshot::Sender<Vec<String>>),
    /// The project's files were looked at before a command, all of them or not; or could not be, in words.
    Remembered(Box<Result<(Found, bool), String>>, oneshot::Sender<()>),
    /// The project's files were looked at where nobody waits for it.
    Looked(Box<Found>),
    /// What the look with this number came to has been said.
    LookEnded(u64),
    /// What was to be saved before a command is, but for these failures. The user's own text was among it, or not.
    Saved { own: bool, failures: Vec<String>, done: oneshot::Sender<Vec<String>> },
    /// Documents that edits arrived in were saved, but for these.
    EditsSaved(Vec<NotSaved>),
    /// The user's own command ended.
    UserCommandEnded(UserEnd),
    /// An event of one of its services, such as a command's start.
    Event(Event),
    /// A terminal is otherwise than was last said.
    TerminalChanged(TerminalId),
    /// The configuration changed; it is restricted by the files of the session's own folders.
    Config(Arc<Config>),
    /// Whether edits are accepted as they come in the whole project was kept, or could not be.
    AlwaysKept(bool, Result<(), StoreError>, Reply<Done>),
    /// Something that the log cannot say, because it is the log that fails.
    Alert(String),
    /// A model was chosen, or was not there to choose.
    ModelSelected(Result<Arc<dyn Model>, Error>, Reply<ModelSelectResult>),
    /// A model was asked for a title.
    Titled(Titled),
    /// Whether the workspace is trusted, as just read; none where that was not decided.
    Trust(Option<bool>),
    /// An answer about trust that came after its turn had ended was kept.
    TrustKept(Caller),
    /// A language server that the project brings along is wanted.
    ProgramWanted(oneshot::Sender<brought::Stand>),
    /// All that was recorded before a client opened the session is stored.
    Opened(Caller, u64, Reply<Opened>),
}

/// A session's task, as the router has it.
pub(super) struct Task {
    pub(super) inbox: mpsc::UnboundedSender<Message>,
    holds: Arc<AtomicBool>,
}

impl Task {
    /// Whether the session is this process's own, and not one that another process has or that is not there.
    pub(super) fn is_host(&self) -> bool {
        self.holds.load(Ordering::Relaxed) && !self.inbox.is_closed()
    }
}

/// Starts a session's task: a new session's, or that of one in the store. Its home is the client that wants it.
pub(super) fn start(shared: Shared, config: Arc<Config>, id: SessionId, new: Option<NewSession>, home: Caller) -> Task {
    let (sender, messages) = mpsc::unbounded_channel();
    let holds = Arc::<AtomicBool>::default();
    let task = Task { inbox: sender, holds: Arc::clone(&holds) };
    let feed = Feed::new(Arc::clone(&shared.parts.store), id.clone());
    let inbox = Inbox { messages, handled: 0 };
    let followers = HashMap::new();
    let (spools, shown) = (Spools::default(), HashSet::new());
    let open = Open { shared, config, id, inbox, holds, home, followers, feed, spools, shown };
    tokio::spawn(begin(open, new));
    task
}

/// Answers who opened a session with its events after number `since`, and has those that follow shown.
fn give_log(
    store: Arc<dyn Store>,
    feed: Feed,
    since: u64,
    mut opened: Opened,
    reply: Reply<Opened>,
    follower: Option<Caller>,
) {
    tokio::spawn(async move {
        let session = feed.session().clone();
        match blocking(move || store.raw_events(&session, since)).await {
            Ok(events) => opened.events = events,
            Err(error) => return drop(reply.send(Err(error.into()))),
        }
        // A client may count more events than there are, as after a database that was damaged and recovered.
        let last = opened.events.last().map_or(since.min(opened.session.last_seq), |event| event.seq);
        opened.session.last_seq = opened.session.last_seq.max(last);
        let _ = reply.send(Ok(opened));
        if let Some(follower) = follower {
            follower.editor.follow(feed, last);
        }
    });
}

fn tell_router(shared: &Shared, message: router::Message) {
    if let Some(router) = shared.router.upgrade() {
        let _ = router.send(router::Post { client: None, message });
    }
}

/// What the project is read with: made once with the session, and shared with its parts and its turns.
struct Reading {
    roots: Arc<Roots>,
    reader: Arc<Reader>,
    /// What the model reads in place of files with pending hunks.
    overlay: Overlay,
    search: Search,
    seen: Seen,
    results: Results,
    /// Whether the model of the turn reads lines with tags.
    tags: tools::Tags,
    /// To which tools the model's commands are pointed.
    intercept: tools::Intercept,
    tools: ToolSet,
    /// Who has a say in what happens.
    hooks: Chain,
    /// The editor of that client, for questions about code.
    editors: lang::Editors,
    /// The language servers that we start ourselves.
    own_servers: Arc<dyn Source>,
}

/// All of a session. Only its task touches it.
struct Session {
    id: SessionId,
    shared: Shared,
    config: Arc<Config>,
    /// Back to this task, for the work it begins.
    own: mpsc::UnboundedSender<Own>,
    /// Held for as long as this process is the session's host.
    lock: Box<dyn SessionLock>,
    log: Log,
    state: State,
    reading: Reading,
    /// Whether its folders are trusted.
    trust: Workspace,
    /// Those who see it.
    followers: HashMap<ClientId, Caller>,
    /// Whose unsaved texts count, and whose editor changes documents: the client that started the last turn; before the
    /// first one, and once that is gone, any that follows.
    home: Option<Caller>,
    turn: Option<Running>,
    /// The user's own command that runs.
    user_command: Option<UserRunning>,
    queue: VecDeque<(QueueId, Vec<PromptBlock>)>,
    /// What was said to the running turn and not yet heard; until then each is a waiting prompt, too.
    interjections: Vec<(QueueId, Interjection)>,
    /// Whoever last started something here, for what starts by itself.
    last_caller: Option<Caller>,
    /// Whether the last turn came to its own end, so that what waits may start by itself.
    went_well: bool,
    /// An answer to the question that the running turn will ask again.
    given: Option<GivenAnswer>,
    questions: BTreeMap<PermissionId, Question>,
    review: Review,
    /// Those who wait for accepted hunks to arrive, with the failures so far.
    settling: Vec<Settling>,
    /// What is to be told of calls of which only a part was made.
    halves: Halves,
    /// What the user was last told could not be saved.
    not_saved: Vec<String>,
    /// Accepted hunks on their way.
    applying: Applying,
    /// What is done to documents once accepted hunks are in them.
    formatting: Formatting,
    /// What the edits of a turn did to the problems of their files.
    problems: Problems,
    /// What waits while an undo or redo changes files, or is about to; none while none does.
    held: Option<Vec<Held>>,
    /// An undo or redo that has not begun, since files are still being changed.
    restoring: Option<Restoring>,
    watch: Watch,
    /// What others changed, beside the review.
    rounds: Rounds,
    /// Text hashes of buffers that hold nothing unsaved but our accepted edits.
    ours: HashMap<PathBuf, agent::edit::TextHash>,
    /// The rules in force, for the turn to read at any time.
    rules: Arc<RwLock<Arc<Rules>>>,
    grants: Grants,
    /// Who said that edits are accepted as they come, or not.
    accepting: Accepting,
    terminals: Terminals,
    /// How many requests have begun whose work comes back to this task.
    begun: usize,
    /// Grows with each id given out.
    next_id: u64,
}

/// A session that has ended in this process.
struct Left {
    /// Whether there is anything in it: as the last of it was recorded.
    is_used: bool,
    /// Until it is let go, no other process and no other task has the session.
    lock: Box<dyn SessionLock>,
}

impl Session {
    async fn run(mut self, mut inbox: Inbox, mut own: mpsc::UnboundedReceiver<Own>) {
        let (hooks, session) = (self.reading.hooks.clone(), self.id.clone());
        tokio::spawn(async move { hooks.session_opened(&session).await });
        let mut reported = None;
        loop {
            if inbox.is_empty() && own.is_empty() && self.is_idle() && reported != Some(inbox.handled) {
                reported = Some(inbox.handled);
                let idle = router::Message::Idle { session: self.id.clone(), handled: inbox.handled };
                tell_router(&self.shared, idle);
            }
            tokio::select! {
                message = inbox.recv() => {
                    match message {
                        None => return self.leave(own).await,
                        Some(Message::Shutdown(done)) => {
                            self.leave(own).await;
                            let _ = done.send(());
                            return;
                        }
                        Some(Message::Request(_, Request::SessionDelete(_, reply))) => {
                            return self.delete(inbox, own, reply).await;
                        }
                        Some(message) => self.message(message),
                    }
                }
                Some(message) = own.recv() => self.own(message),
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.turn.is_none()
            && self.user_command.is_none()
            && self.followers.is_empty()
            && self.begun == 0
            && self.held.is_none()
            && !self.review.is_applying()
            && !self.formatting.is_running()
            // What goes on in the background goes on until the process ends, whoever looks.
            && !self.terminals.is_busy()
    }

    /// Ends the session in this process. One that was not used, and that no other process's window shows, is not kept.
    async fn leave(self, own: mpsc::UnboundedReceiver<Own>) {
        let (store, session) = (Arc::clone(&self.shared.parts.store), self.id.clone());
        let is_shown = self.followers.values().any(|follower| follower.is_attached);
        let Left { is_used, lock } = self.end(own).await;
        if is_used || is_shown {
            return;
        }
        let delete = move || {
            let deleted = store.delete(&session);
            drop(lock);
            deleted
        };
        if let Err(error) = blocking(delete).await {
            tracing::warn!(%error, "a session without a prompt could not be deleted");
        }
    }

    /// Ends the session in this process: the turn is cancelled and waited for, and all is stored.
    async fn end(mut self, mut own: mpsc::UnboundedReceiver<Own>) -> Left {
        // What the turn has said already counts.
        while let Ok(message) = own.try_recv() {
            self.own(message);
        }
        // A prompt that is all but ready becomes a turn; what takes longer waits in the session.
        let prepared = async {
            while self.is_preparing()
                && let Some(message) = own.recv().await
            {
                self.own(message);
            }
        };
        let _ = tokio::time::timeout(AT_ONCE, prepared).await;
        self.interrupt_turn();
        self.terminals.end().await;
        while let Ok(message) = own.try_recv() {
            self.own(message);
        }
        let command_ended = async {
            while self.user_command.is_some()
                && let Some(message) = own.recv().await
            {
                self.own(message);
            }
        };
        if tokio::time::timeout(AT_ONCE, command_ended).await.is_err() {
            tracing::warn!("what the user's command came to was not heard in time");
        }
        // Edits on their way are waited for, so that the log says what became of them.
        while self.review.is_applying() || self.held.is_some() {
            let Some(message) = own.recv().await else { break };
            self.own(message);
        }
        // What was held back meanwhile may have begun since.
        self.interrupt_turn();
        self.shared.board.put(&self.id, Vec::new());
        if tokio::time::timeout(AT_ONCE, self.reading.hooks.session_closed(&self.id)).await.is_err() {
            tracing::warn!("a hook did not see to the session's end in time");
        }
        self.log.flush().await;
        Left { is_used: self.state.is_used, lock: self.lock }
    }

    async fn delete(mut self, mut inbox: Inbox, own: mpsc::UnboundedReceiver<Own>, reply: Reply<Done>) {
        let (shared, id) = (self.shared.clone(), self.id.clone());
        for follower in std::mem::take(&mut self.followers).into_values() {
            follower.editor.unfollow(&id);
        }
        // What would wait in it goes with it.
        self.interrupt_turn();
        let Left { lock, .. } = self.end(own).await;
        let (store, session) = (Arc::clone(&shared.parts.store), id.clone());
        let delete = move || {
            let deleted = store.delete(&session);
            drop(lock);
            deleted
        };
        let deleted = blocking(delete).await;
        let _ = reply.send(deleted.map(|()| Done {}).map_err(Error::from));
        inbox.close(&Error::not_found("session", &id));
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Attach(caller, reply) => {
                self.follow(&caller, 0);
                let _ = reply.send(Ok(SessionNewResult { session: self.info() }));
            }
            Message::Request(caller, request) => self.request(caller, request),
            Message::Gone(client) => self.gone(client),
            Message::TextChanged(client, path) => {
                if let Some(buffers) = self.buffers_of(client) {
                    self.watch.note_saved(client, &buffers, &path);
                }
                if self.home.as_ref().is_some_and(|home| home.id == client) {
                    self.text_changed(&path);
                    self.saved_where_moved_to(&path);
                }
            }
            Message::FilesChanged(paths) => {
                self.reading.search.forget_files();
                paths.iter().for_each(|path| self.text_changed(path));
            }
            Message::Config(config) => {
                let folders: Vec<_> = self.reading.roots.iter().map(|root| root.path.clone()).collect();
                // With nothing to be read it holds for the very next request.
                if folders.iter().all(|folder| config.projects.contains(folder)) {
                    return self.own(Own::Config(config));
                }
                let own = self.own.clone();
                tokio::task::spawn_blocking(move || {
                    let _ = own.send(Own::Config(Arc::new(config.with_projects(&folders))));
                });
            }
            Message::Always(project, on) => self.always(&project, on),
            Message::Trust(_) => self.look_at_trust(),
            // The loop keeps it for itself.
            Message::Shutdown(done) => drop(done),
        }
    }

    /// The documents of a client that sees the session.
    fn buffers_of(&self, client: ClientId) -> Option<Arc<Buffers>> {
        let home = self.home.as_ref().filter(|home| home.id == client);
        self.followers.get(&client).or(home).map(|caller| Arc::clone(&caller.buffers))
    }

    fn own(&mut self, message: Own) {
        match message {
            Own::Prepared(prepared) => match &mut self.held {
                Some(held) => held.push(Held::Prepared(prepared)),
                None => self.begin_turn(*prepared),
            },
            Own::Restored(restored) => self.files_restored(*restored),
            Own::Turn(message) => self.turn_message(message),
            Own::TurnEnded(end) => self.turn_ended(end),
            Own::Applied(applied) => self.applied(*applied),
            Own::FormatAnswered(answered) => self.format_answered(*answered),
            Own::FormatterAnswered(language) => self.formatting.answers_again(&language),
            Own::Unheard(call) => self.tell_unheard(Some(&call)),
            Own::PlanRead(call, plan, bases, reply) => self.plan_read(&call, plan, bases, reply),
            Own::PlanRefused(texts, error, reply) => {
                texts.iter().for_each(|(path, text)| self.base_read(path, text.as_deref()));
                let _ = reply.send(Err(error));
            }
            Own::Deleting(uri, now, stored) => {
                self.record(Event::FileSeen { uri, now: Some(now), occasion: SeenOccasion::Deletion });
                let log = self.log.clone();
                tokio::spawn(async move {
                    log.flush().await;
                    let _ = stored.send(());
                });
            }
            Own::Steered(turn, queue_id, steer, reply) => self.steered(&turn, queue_id, steer, reply),
            Own::BaseRead(path, text) => self.base_read(&path, text.as_deref()),
            Own::ReadAfterCommand(after, reply) => self.read_after_command(*after, reply),
            Own::Remembered(remembered, reply) => self.remembered(*remembered, reply),
            Own::Looked(found) => self.record_found(*found),
            Own::LookEnded(number) => self.look_ended(number),
            Own::Saved { own, failures, done } => self.saved(own, failures, done),
            Own::EditsSaved(failures) => self.edits_saved(&failures),
            Own::UserCommandEnded(end) => self.user_command_ended(end),
            Own::Event(event) => self.service_event(event),
            Own::TerminalChanged(terminal) => self.terminal_changed(&terminal),
            Own::Config(config) => {
                let before = std::mem::replace(&mut self.config, config);
                self.problems.set_wait(self.config.wait_for_problems());
                self.permissions_configured();
                self.accepting_configured(&before);
            }
            Own::Alert(text) => self.followers.values().for_each(|follower| follower.editor.alert(&text)),
            Own::Titled(titled) => self.titled(titled),
            Own::ModelSelected(model, reply) => {
                self.begun -= 1;
                let selected = model.map(|model| {
                    let info = model.info().clone();
                    self.record(Event::ModelChanged { model: info.id.clone(), scripted: info.scripted });
                    ModelSelectResult { model: info }
                });
                self.answer_when_stored(reply, selected);
            }
            Own::AlwaysKept(on, kept, reply) => self.always_kept(on, kept, reply),
            Own::Trust(decided) => self.trust_read(decided),
            Own::TrustKept(caller) => self.trust_kept(caller),
            Own::ProgramWanted(reply) => self.program_wanted(reply),
            Own::Opened(caller, since, reply) => self.opened(caller, since, reply),
        }
    }

    /// The table of requests: what is done at once, and what begins here and comes back.
    fn request(&mut self, caller: Caller, request: Request) {
        if self.home.is_none() {
            self.set_home(Some(caller.clone()));
        }
        let Some((caller, request)) = self.hold(caller, request) else { return };
        match request {
            // Done at once.
            Request::SessionClose(_, reply) => {
                self.followers.remove(&caller.id);
                caller.editor.unfollow(&self.id);
                let _ = reply.send(Ok(Done {}));
            }
            Request::SessionRename(params, reply) => {
                let renamed = self.rename(&params.title);
                self.answer_when_stored(reply, renamed);
            }
            Request::TurnSteer(params, reply) => self.steer(params, reply),
            Request::TurnQueue(params, reply) => {
                let _ = reply.send(self.enqueue(caller, params));
            }
            Request::TurnCancel(params, reply) => {
                let _ = reply.send(self.cancel(&params));
            }
            Request::PermissionAnswer(params, reply) => {
                let _ = reply.send(self.answer(caller, params));
            }
            Request::ReviewList(_, reply) => {
                let _ = reply.send(Ok(ReviewResult { proposals: self.review.proposals() }));
            }
            Request::ReviewDecide(params, reply) => {
                let _ = reply.send(self.decide(params));
            }
            Request::ReviewText(params, reply) => {
                let texts = self.review.texts(&params.proposal_id);
                let _ = reply.send(texts.ok_or_else(|| Error::not_found("proposal", &params.proposal_id)));
            }
            Request::ReviewChange(params, reply) => {
                let _ = reply.send(self.change(&params));
            }
            Request::ReviewComment(params, reply) => {
                let result = self.comment(&params);
                self.answer_when_stored(reply, result);
            }
            Request::ReviewAuto(params, reply) => self.accept_edits(&params, reply),
            Request::SessionMode(params, reply) => self.set_mode(&params, reply),
            Request::PermissionList(_, reply) => self.permission_list(&caller, reply),
            Request::PermissionRevoke(params, reply) => self.revoke(params, reply),
            Request::TerminalOpen(params, reply) => self.terminals.open(&caller, params, reply),
            Request::TerminalWrite(params, reply) => self.terminals.write(params, reply),
            Request::TerminalResize(params, reply) => self.terminals.resize(params, reply),
            Request::TerminalKill(params, reply) => self.terminals.kill(params, reply),
            Request::TerminalAck(params, reply) => self.terminals.acknowledge(&caller, &params, reply),
            Request::TerminalTake(params, reply) => self.terminals.take(&params, reply),
            Request::TerminalList(_, reply) => {
                let _ = reply.send(Ok(self.terminals.list(&self.state.terminals)));
            }
            Request::TerminalSignal(params, reply) => self.terminals.signal(&params, reply),
            Request::TerminalClose(params, reply) => self.terminals.unfollow(&caller, &params, reply),
            // Begun here; the answer comes from a task of its own.
            Request::CheckpointList(params, reply) => self.checkpoint_list(&params, reply),
            Request::CheckpointPreview(params, reply) => self.checkpoint_preview(&params, reply),
            Request::CheckpointUndo(params, reply) => self.checkpoint_restore(Direction::Undo, params, reply),
            Request::CheckpointRedo(params, reply) => self.checkpoint_restore(Direction::Redo, params, reply),
            Request::SessionOpen(params, reply) => self.open(&caller, params.since, reply),
            Request::TurnStart(params, reply) => self.start_turn(caller, params, reply),
            Request::ModelSelect(params, reply) => self.select_model(params.model, reply),
            Request::PromptComplete(params, reply) => self.complete(params, reply),
            // The router's and the loop's own.
            Request::SessionNew(..)
            | Request::SessionList(..)
            | Request::ModelList(..)
            | Request::WorkspaceTrust(..)
            | Request::ServersList(..)
            | Request::PromptBeginnings(..)
            | Request::ServersRestart(..)
            | Request::SessionDelete(..) => {}
        }
    }

    /// Adds an event to the log, and to what the log comes to.
    fn record(&mut self, event: Event) {
        self.state.apply(&event);
        self.log.record(event);
    }

    /// Records what one of the session's services tells, and what it makes of a terminal.
    fn service_event(&mut self, event: Event) {
        let terminal = match &event {
            Event::TerminalStarted { terminal_id, .. } | Event::TerminalEnded { terminal_id, .. } => {
                Some(terminal_id.clone())
            }
            _ => None,
        };
        self.record(event);
        if let Some(terminal) = terminal {
            self.terminal_changed(&terminal);
        }
    }

    /// Says how a terminal is, if that is news.
    fn terminal_changed(&mut self, id: &TerminalId) {
        let news = self.terminals.news(id, &self.state.terminals);
        news.into_iter().for_each(|event| self.record(event));
    }

    /// Answers once what was recorded so far is stored, so that whoever lists the sessions next sees it.
    fn answer_when_stored<T: Send + 'static>(&self, reply: Reply<T>, answer: Result<T, Error>) {
        let log = self.log.clone();
        tokio::spawn(async move {
            log.flush().await;
            let _ = reply.send(answer);
        });
    }

    fn follow(&mut self, caller: &Caller, since: u64) {
        self.followers.insert(caller.id, caller.clone());
        caller.editor.follow(self.log.feed().clone(), since);
    }

    fn gone(&mut self, client: ClientId) {
        self.followers.remove(&client);
        self.last_caller.take_if(|caller| caller.id == client);
        // The turn's home holds the unsaved texts that it works on.
        if self.turn.as_ref().is_some_and(|turn| turn.home.id == client) {
            self.interrupt_turn();
        }
        if self.home.as_ref().is_some_and(|home| home.id == client) {
            self.set_home(self.followers.values().next().cloned());
        }
    }

    /// Reads through another client's open documents from now on.
    fn set_home(&mut self, home: Option<Caller>) {
        let id = |caller: &Option<Caller>| caller.as_ref().map(|caller| caller.id);
        let same = id(&self.home) == id(&home);
        self.home = home;
        self.reading.editors.set(self.home_editor());
        if !same {
            self.formatting.leave();
            self.reading
                .reader
                .set_buffers(self.home.as_ref().map(|home| Arc::clone(&home.buffers)).unwrap_or_default());
            self.reading.search.forget_files();
            self.texts_changed();
            // Whoever waits for what the last one was to format waits no longer.
            self.settle();
        }
    }

    /// Gives all events up to now and has the later ones follow as notifications.
    fn open(&mut self, caller: &Caller, since: u64, reply: Reply<Opened>) {
        self.followers.insert(caller.id, caller.clone());
        self.begun += 1;
        let (log, own, caller) = (self.log.clone(), self.own.clone(), caller.clone());
        tokio::spawn(async move {
            log.flush().await;
            let _ = own.send(Own::Opened(caller, since, reply));
        });
    }

    fn opened(&mut self, caller: Caller, since: u64, reply: Reply<Opened>) {
        self.begun -= 1;
        let (feed, store) = (self.log.feed().clone(), Arc::clone(&self.shared.parts.store));
        let session = self.info();
        let running_turn = self.state.open_turn.as_ref().map(|turn| turn.id.clone());
        let queue = self.state.queue.iter().map(|(id, _)| id.clone()).collect();
        let follower = self.followers.get(&caller.id).cloned();
        let opened = Opened { session, events: Vec::new(), running_turn, queue };
        give_log(store, feed, since, opened, reply, follower);
    }

    fn rename(&mut self, title: &str) -> Result<Done, Error> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Error::new(ErrorCode::InvalidParams, "invalid params: `title`: a title cannot be empty"));
        }
        self.record(Event::TitleChanged { title });
        Ok(Done {})
    }

    fn select_model(&mut self, name: String, reply: Reply<ModelSelectResult>) {
        let (shared, own) = (self.shared.clone(), self.own.clone());
        self.begun += 1;
        tokio::spawn(async move {
            let model = resolve_model(&shared, &name).await;
            let _ = own.send(Own::ModelSelected(model, reply));
        });
    }

    fn info(&self) -> SessionInfo {
        self.state.info(&self.id, self.log.feed().last())
    }

    /// A new id, unlike any other of this session, of earlier processes too.
    fn new_id(&mut self, prefix: &str) -> String {
        self.next_id += 1;
        format!("{prefix}-{:x}", self.next_id)
    }
}
