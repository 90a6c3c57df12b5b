//! A session: one task that owns all of its state. Whatever changes a session is a message to it, handled at once.
//!
//! It never waits for the store, the editor, the model or a human, nor for the project's files; such work runs in tasks
//! of its own, which come back with an [`Own`] message. The session is made of parts, each of which owns its fields and
//! does not know the session; what it does with what a part gives stands beside the part, in `routes` or `taken`.
//!
//! Reading order: this file (the loop; each part registers the requests that it answers), `hosting` (who holds the
//! session), `load` (opening it), `state` (what the log comes to). The parts: `clients` (who sees it), `reading` (what
//! the project is read with), `prompts` (from a prompt to a running turn), `gate` (what may be done without asking, and
//! what is asked), `edits` (proposals, decisions and their way into the documents), `undo` (taking turns back, as
//! `checkpoints` plans it), `watch` (what commands and other programs change), `terminals`. Then `problems` (what edits
//! break and mend), `halves` (calls of which only a part was made), `models`, `children` (sessions that it starts); and
//! `relay` (a session that another process holds).

mod checkpoints;
mod children;
mod clients;
mod edits;
mod facts;
mod gate;
mod halves;
mod hosting;
mod ids;
mod lang;
pub(super) mod load;
mod models;
mod overlay;
mod parts;
mod plan;
mod problems;
mod prompts;
mod reading;
mod relay;
mod state;
mod terminals;
mod undo;
mod watch;
mod work;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use ports::children::Child;
use ports::hooks::Hooks;
use ports::model::Model;
use ports::store::SessionLock;
use protocol::inline::InlineInstructResult;
use protocol::model::{ModelSelectParams, ModelSelectResult};
use protocol::role::Role;
use protocol::session::{Purpose, SessionInfo, SessionNewResult, SessionRenameParams};
use protocol::terminal::Done;
use protocol::{ErrorCode, Event, SessionId, methods};
use tokio::sync::{mpsc, oneshot};

use self::clients::{Clients, give_log};
use self::edits::Edits;
use self::gate::Gate;
use self::hosting::{Inbox, Open, begin};
use self::ids::Ids;
pub(super) use self::models::{
    Chosen, ModelChain, Picked, Switched, chain_of, chain_of_mode, choose_for_session, choose_model, default_model,
    is_other_level, kept_chain, meant_model, model_changed, model_chosen, named_model, note_levels, pick,
    recent_models, resolve_model, role, roles, usable,
};
use self::prompts::Prompts;
use self::reading::Reading;
use self::state::State;
use self::terminals::{Spools, Terminals};
use self::undo::{Restored, Undo};
use self::watch::Watch;
use self::work::Work;
use super::feed::{Feed, Log, blocking};
use super::instruction::Instruction;
use super::post::{self, AcceptedSuggestion, Caller, FirstPrompt, NewSession, Report, Shared};
use super::request::{Handlers, Opened};
use super::{ClientId, Error, Reply, Request};
use crate::config::Config;

/// The time that each of these has when the session ends: an ended command's result to arrive, a prompt to be made
/// ready, and hooks to see to it.
const AT_ONCE: Duration = Duration::from_secs(1);

/// The messages that the router sends to a session.
pub(super) enum Message {
    /// The client that made the session follows it.
    Attach(Caller, Reply<SessionNewResult>),
    /// The session that made it gives it its first prompt, for this client.
    Begin(Caller, Box<FirstPrompt>),
    /// The client that made the session has something changed.
    Instruct(Caller, Box<Instruction>, Reply<InlineInstructResult>),
    /// The user of this client has accepted a suggestion.
    Suggestion(Caller, Box<AcceptedSuggestion>),
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
    /// Edits in every session of a project are accepted automatically from now on, or no longer.
    Always(Arc<str>, bool),
    /// The trust in some folder, or the word of this editor on it, changed.
    Trust(Option<(ClientId, bool)>),
    /// The process ends.
    Shutdown(oneshot::Sender<()>),
}

/// The messages that a session's own tasks come back with.
enum Own {
    /// Something for the prompts.
    Prompts(prompts::Message),
    /// Something for the gate.
    Gate(gate::Message),
    /// Something for the edits.
    Edits(edits::Message),
    /// An undo or redo has changed files, or not.
    Undo(Box<Restored>),
    /// A call starts a session.
    Child(Box<Child>, Report),
    /// A session that a call started did something.
    ChildWorked(Event),
    /// Something for the watch.
    Watch(watch::Message),
    /// Something for the terminals.
    Terminals(terminals::Message),
    /// The configuration changed; it is restricted by the files of the session's own folders.
    Config(Arc<Config>),
    /// Something that the log cannot say, because it is the log that fails.
    Alert(String),
    /// A model was chosen by this name, or was not there to choose; true if only another level of the usual one was.
    ModelSelected(Result<Arc<dyn Model>, Error>, (String, bool), Reply<ModelSelectResult>),
    /// All that was recorded before a client opened the session is stored.
    Opened(Caller, u64, Reply<Opened>),
}

/// The requests about a session. Each part registers its own.
pub(super) static HANDLERS: LazyLock<Handlers<Session, Caller>> = LazyLock::new(|| {
    let mut handlers = Handlers::<Session, Caller>::default();
    handlers
        .on::<methods::SessionRename>(|session, _, params, reply| {
            let renamed = session.rename(&params);
            session.answer_when_stored(reply, renamed);
        })
        .on::<methods::ModelSelect>(Session::select_model)
        .on::<methods::SessionPromote>(|session, _, _, reply| {
            let promoted = session.promote();
            session.answer_when_stored(reply, promoted);
        })
        // The loop answers it, since the session ends with it.
        .on::<methods::SessionDelete>(|_, _, _, reply| drop(reply));
    clients::register(&mut handlers);
    prompts::register(&mut handlers);
    gate::register(&mut handlers);
    edits::register(&mut handlers);
    undo::register(&mut handlers);
    terminals::register(&mut handlers);
    handlers
});

/// A session's task, as the router has it.
pub(super) struct Task {
    pub(super) inbox: mpsc::UnboundedSender<Message>,
    holds: Arc<AtomicBool>,
}

impl Task {
    /// True if the session is this process's own, and not one that another process has or that is not there.
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

/// All of a session. Only its task touches it.
pub(super) struct Session {
    shared: Shared,
    config: Arc<Config>,
    work: Work,
    /// Held for as long as this process is the session's host.
    lock: Box<dyn SessionLock>,
    log: Log,
    state: State,
    reading: Reading,
    gate: Gate,
    clients: Clients,
    prompts: Prompts,
    edits: Edits,
    undo: Undo,
    watch: Watch,
    terminals: Terminals,
    ids: Ids,
}

/// A session that has ended in this process.
struct Left {
    /// True if there is anything in it: as the last of it was recorded.
    is_used: bool,
    /// Until it is let go, no other process and no other task has the session.
    lock: Box<dyn SessionLock>,
}

impl Session {
    async fn run(mut self, mut inbox: Inbox, mut own: mpsc::UnboundedReceiver<Own>) {
        let (hooks, session) = (self.reading.hooks.clone(), self.id().clone());
        tokio::spawn(async move { hooks.session_opened(&session).await });
        let mut reported = None;
        loop {
            if inbox.is_empty() && own.is_empty() && self.is_idle() && reported != Some(inbox.handled) {
                reported = Some(inbox.handled);
                let idle = post::Message::Idle { session: self.id().clone(), handled: inbox.handled };
                self.shared.post(None, idle);
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
                        Some(Message::Request(caller, request)) => {
                            let mut deletion = None;
                            let request = request.when::<methods::SessionDelete>(|_, reply| deletion = Some(reply));
                            if let Some(reply) = deletion {
                                return self.delete(inbox, own, reply).await;
                            }
                            if let Some(request) = request {
                                self.request(caller, request);
                            }
                        }
                        Some(message) => self.message(message),
                    }
                }
                Some(message) = own.recv() => self.own(message),
            }
        }
    }

    fn id(&self) -> &SessionId {
        self.log.feed().session()
    }

    fn is_idle(&self) -> bool {
        !self.prompts.are_on()
            && self.clients.followers().next().is_none()
            && !self.work.is_on()
            && !self.undo.is_on()
            && !self.edits.are_on()
            && !self.records_suggestions()
            // Work in the background goes on until the process ends, whoever looks.
            && !self.terminals.is_busy()
    }

    /// Ends the session in this process. One that was not used, and that no other process's window shows, is not kept.
    async fn leave(self, own: mpsc::UnboundedReceiver<Own>) {
        let (store, session) = (Arc::clone(&self.shared.parts.store), self.id().clone());
        let is_shown = self.clients.followers().any(|follower| follower.is_attached);
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
        self.prompts.start_no_more();
        // The messages that the turn has sent already count.
        while let Ok(message) = own.try_recv() {
            self.own(message);
        }
        // A prompt that is all but ready becomes a turn; what takes longer waits in the session.
        let prepared = async {
            while self.prompts.is_preparing()
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
            while self.prompts.runs_command()
                && let Some(message) = own.recv().await
            {
                self.own(message);
            }
        };
        if tokio::time::timeout(AT_ONCE, command_ended).await.is_err() {
            tracing::warn!("what the user's command came to was not heard in time");
        }
        // A title is worth a moment; what it used is recorded in any case.
        for _ in 0..2 {
            let titled = async {
                while self.prompts.are_titling()
                    && let Some(message) = own.recv().await
                {
                    self.own(message);
                }
            };
            if tokio::time::timeout(AT_ONCE, titled).await.is_err() {
                self.prompts.cancel_title();
            }
        }
        // Edits on their way are waited for, so that the log says what became of them.
        while self.edits.are_applying() || self.edits.are_suggesting() || self.undo.is_on() {
            let Some(message) = own.recv().await else { break };
            self.own(message);
        }
        // A turn that was held back in the meantime may have begun since.
        self.interrupt_turn();
        self.shared.board.put(self.id(), Vec::new());
        if tokio::time::timeout(AT_ONCE, self.reading.hooks.session_closed(self.id())).await.is_err() {
            tracing::warn!("a hook did not see to the session's end in time");
        }
        self.log.flush().await;
        Left { is_used: self.state.is_used, lock: self.lock }
    }

    async fn delete(mut self, mut inbox: Inbox, own: mpsc::UnboundedReceiver<Own>, reply: Reply<Done>) {
        let (shared, id) = (self.shared.clone(), self.id().clone());
        for follower in self.clients.take_followers() {
            follower.editor.unfollow(&id);
        }
        // A prompt that would wait in it goes with it.
        self.interrupt_turn();
        self.prompts.cancel_title();
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
            Message::Begin(caller, first) => self.begin_as_child(caller, *first),
            Message::Instruct(caller, instruction, reply) => self.begin_instruction(caller, instruction, reply),
            Message::Suggestion(caller, suggestion) => self.take_suggestion(caller, *suggestion),
            Message::Gone(client) => self.gone(client),
            Message::TextChanged(client, path) => {
                if let Some(buffers) = self.clients.buffers_of(client) {
                    self.watch.note_saved(client, &buffers, &path);
                }
                if self.clients.is_home(Some(client)) {
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
                let own = self.work.own.clone();
                tokio::task::spawn_blocking(move || {
                    let _ = own.send(Own::Config(Arc::new(config.with_projects(&folders))));
                });
            }
            Message::Always(project, on) => {
                let news = self.gate.always(&project, on, &self.config, self.state.accept_edits);
                self.record_all(news);
            }
            Message::Trust(_) => self.look_at_trust(),
            // The loop keeps these for itself.
            Message::Request(..) | Message::Shutdown(_) => {}
        }
    }

    fn own(&mut self, message: Own) {
        match message {
            Own::Prompts(message) => self.prompts_message(message),
            Own::Edits(message) => self.edits_message(message),
            Own::Undo(restored) => self.files_restored(*restored),
            Own::Child(child, report) => self.start_child(*child, report),
            Own::ChildWorked(event) => self.record(event),
            Own::Watch(message) => self.watch_message(message),
            Own::Terminals(message) => self.terminals_message(message),
            Own::Gate(message) => self.gate_message(message),
            Own::Config(config) => {
                self.shared.secrets.learn(&config);
                let before = std::mem::replace(&mut self.config, config);
                self.edits.problems().set_wait(self.config.wait_for_problems());
                self.reading.set_oracle(self.config.chain(Role::Oracle).as_deref());
                let State { mode, accept_edits, .. } = self.state;
                let news = self.gate.configured(&before, &self.config, mode, accept_edits);
                self.record_all(news);
            }
            Own::Alert(text) => self.clients.followers().for_each(|follower| follower.editor.alert(&text)),
            Own::ModelSelected(model, (name, by_default), reply) => {
                self.work.end();
                let selected = model.map(|model| {
                    let info = model.info().clone();
                    self.record_all(model_chosen(&info, &name, by_default, self.state.context));
                    ModelSelectResult { model: info }
                });
                self.answer_when_stored(reply, selected);
            }
            Own::Opened(caller, since, reply) => self.opened(caller, since, reply),
        }
    }

    fn request(&mut self, caller: Caller, request: Request) {
        if self.clients.home().is_none() {
            self.set_home(Some(caller.clone()));
        }
        if self.undo.holds(&request) {
            return self.undo.hold(caller, request);
        }
        HANDLERS.handle(self, caller, request);
    }

    /// Adds an event to the log, and to what the log comes to.
    fn record(&mut self, event: Event) {
        // The model no longer sees of the files what it saw.
        if event.changes_conversation() {
            self.reading.seen.forget_differences();
        }
        self.tell_parent(&event);
        self.state.apply(&event);
        self.log.record(event);
    }

    fn record_all(&mut self, events: impl IntoIterator<Item = Event>) {
        events.into_iter().for_each(|event| self.record(event));
    }

    /// Takes what comes back for the terminals: an event, and what it makes of a terminal.
    fn terminals_message(&mut self, message: terminals::Message) {
        let changed = match message {
            terminals::Message::Changed(terminal) => Some(terminal),
            terminals::Message::Event(event) => {
                let terminal = match &*event {
                    Event::TerminalStarted { terminal_id, .. } | Event::TerminalEnded { terminal_id, .. } => {
                        Some(terminal_id.clone())
                    }
                    _ => None,
                };
                self.record(*event);
                terminal
            }
        };
        if let Some(terminal) = changed {
            let news = self.terminals.news(&terminal, &self.state.terminals);
            self.record_all(news);
        }
    }

    /// Answers once what was recorded so far is stored, so that whoever lists the sessions next sees it.
    fn answer_when_stored<T: Send + 'static>(&self, reply: Reply<T>, answer: Result<T, Error>) {
        let log = self.log.clone();
        tokio::spawn(async move {
            log.flush().await;
            let _ = reply.send(answer);
        });
    }

    /// Says so once what was recorded so far is stored.
    fn when_stored(&self, stored: oneshot::Sender<()>) {
        let log = self.log.clone();
        tokio::spawn(async move {
            log.flush().await;
            let _ = stored.send(());
        });
    }

    fn rename(&mut self, params: &SessionRenameParams) -> Result<Done, Error> {
        let title = params.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Err(Error::new(ErrorCode::InvalidParams, "invalid params: `title`: a title cannot be empty"));
        }
        self.record(Event::TitleChanged { title });
        Ok(Done {})
    }

    /// Makes the session a chat, with all tools from its next turn on.
    fn promote(&mut self) -> Result<Done, Error> {
        match self.state.purpose {
            Purpose::Chat => {}
            Purpose::Instruct => {
                self.record(Event::PurposeChanged { purpose: Purpose::Chat });
                self.reading.tools.release();
            }
            Purpose::Suggestions => return Err(prompts::is_a_record()),
        }
        Ok(Done {})
    }

    fn select_model(&mut self, _: Caller, params: ModelSelectParams, reply: Reply<ModelSelectResult>) {
        let (shared, own) = (self.shared.clone(), self.work.own.clone());
        let (config, known) = (Arc::clone(&self.config), self.state.chosen());
        // The model for a change of a selection is none for conversations.
        let only_here = params.only_here || self.state.purpose != Purpose::Chat;
        self.work.begin();
        tokio::spawn(async move {
            let chosen = choose_for_session(&shared, &config, &params.model, known.as_ref(), only_here).await;
            let (model, name, by_default) = match chosen {
                Ok((model, mut name)) => {
                    name = kept_chain(&name, model.info(), known.as_ref()).unwrap_or(name);
                    let by_default = is_other_level(&shared, &config, &params.model, model.info(), known).await;
                    (Ok(model), name, by_default)
                }
                Err(error) => (Err(error), params.model, false),
            };
            let _ = own.send(Own::ModelSelected(model, (name, by_default), reply));
        });
    }

    fn info(&self) -> SessionInfo {
        self.state.info(self.id(), self.log.feed().last())
    }
}

#[cfg(test)]
mod tests;
