//! The router: every input in the order it was posted. Document changes are applied here; everything that concerns one
//! session goes to that session's task; what needs the store or the project's disk is done in a task of its own, and a
//! request waits for what was [`begun`] before it.

mod auth;
mod beginnings;
mod begun;
mod costs;
mod instruct;
mod models;
mod reload;
mod search;
mod servers;
mod suggestions;
mod unused;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::FutureExt;
use lang::pool::{Servers, ServersConfig};
use ports::store::{Origin, SessionFilter, StoreError};
use project::buffers::{BufferError, Snapshot};
use project::paths;
use protocol::permission::{WorkspaceTrustParams, WorkspaceTrustResult};
use protocol::session::{Mode, Purpose, SessionListParams, SessionListResult, SessionNewParams, SessionNewResult};
use protocol::terminal::Done as Nothing;
use protocol::{ErrorCode, SessionId, methods};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use self::begun::Begun;
use self::search::bounded;
use self::suggestions::Suggestions;
use super::cooldowns::Cooldowns;
use super::feed::blocking;
use super::inline::Inline;
use super::post::{Caller, Message, NewSession, Post, Requester, Shared};
use super::request::Handlers;
use super::session;
use super::trust::{Book, Word, Workspace};
use super::{Board, Client, ClientId, Error, GRACE, Input, Parts, Reply, Request};
use crate::config::Config;

/// The number of sessions in a list if the caller does not say.
const LIST: usize = 100;
/// The time that requests wait for a configuration that was said before them. Longer than for a document's name, since
/// it may forbid things; it is read from the user's own folder, without which nothing works anyway.
const SETTINGS: Duration = Duration::from_secs(10);
/// The result of work that an input began.
enum Done {
    /// The file that a client's document belongs to, by its URI.
    Resolved(ClientId, String, PathBuf),
    Config(Arc<Config>),
}

/// The requests that name no session.
pub(super) static HANDLERS: LazyLock<Handlers<Router, ClientId>> = LazyLock::new(|| {
    let mut handlers = Handlers::<Router, ClientId>::default();
    handlers
        .on::<methods::SessionNew>(Router::session_new)
        .on::<methods::SessionList>(Router::session_list)
        .on::<methods::WorkspaceTrust>(Router::workspace_trust)
        .on::<methods::PromptBeginnings>(|router, id, params, reply| {
            let Some(client) = router.clients.get(&id) else { return };
            let start = beginnings::Start { folders: router.folders_of(client), caller: client.caller.clone() };
            drop(tokio::spawn(start.offer(params, reply)));
        })
        .on::<methods::InlineComplete>(|router, id, params, reply| {
            let Some(client) = router.clients.get(&id) else { return };
            router.inline.complete(&client.caller, params, reply);
        })
        .on::<methods::InlineEdit>(|router, id, params, reply| {
            let Some(client) = router.clients.get(&id) else { return };
            router.inline.edit(&client.caller, params, reply);
        })
        .on::<methods::InlineAccept>(|router, id, params, reply| router.inline.accept(id, params, reply))
        .on::<methods::InlineInstruct>(Router::inline_instruct)
        .at_once::<methods::InlineFeedback>(|router, id, params| {
            router.inline.feedback(id, params);
            Ok(Nothing {})
        })
        .on::<methods::InlineExplain>(|router, id, params, reply| router.inline.explain(id, params, reply))
        .on::<methods::InlineCounts>(|router, _, params, reply| router.inline.counts(params, reply));
    auth::register(&mut handlers);
    models::register(&mut handlers);
    costs::register(&mut handlers);
    servers::register(&mut handlers);
    search::register(&mut handlers);
    handlers
});

/// Starts the router.
pub(super) fn start(parts: Parts, board: Board) -> mpsc::UnboundedSender<Post> {
    let (posts, inbox) = mpsc::unbounded_channel();
    let trust = Book::new(Arc::clone(&parts.store), parts.home.clone());
    let servers = Servers::new(ServersConfig {
        home: parts.home.clone(),
        user_folder: parts.user_file.parent().map(Path::to_path_buf),
        supervisor: parts.supervisor.clone(),
        ..ServersConfig::default()
    });
    let (router, forgotten, cooldowns) = (posts.downgrade(), Arc::default(), Cooldowns::default());
    let (parts, budgets, forget_unused) = (Arc::new(parts), Arc::default(), unused::forget as _);
    let searched = Arc::new(Notify::new());
    let secrets = crate::secrets::Secrets::in_front_of_models(&parts);
    let shared = Shared {
        board,
        trust,
        secrets,
        servers,
        router,
        parts,
        forget_unused,
        forgotten,
        cooldowns,
        budgets,
        searched,
    };
    tokio::spawn(servers::watch(Arc::clone(&shared.servers), posts.downgrade()));
    tokio::spawn(models::watch(shared.parts.catalog.watch(), posts.downgrade()));
    tokio::spawn(search::take_in(Arc::downgrade(&shared.parts.store), Arc::clone(&shared.searched)));
    let config = Arc::clone(&shared.parts.config);
    let inline = Inline::start(shared.clone(), Arc::clone(&config));
    let router = Router {
        shared,
        inline,
        config,
        config_number: 0,
        begun: Begun::default(),
        clients: HashMap::new(),
        sessions: HashMap::new(),
        ending: false,
        suggestions: Suggestions::default(),
        sign_ins: auth::SignIns::default(),
        reloads: Vec::new(),
    };
    tokio::spawn(router.run(inbox));
    posts
}

pub(super) struct Router {
    shared: Shared,
    inline: Inline,
    config: Arc<Config>,
    /// The number of the work that brought it: what was begun earlier and comes later is old.
    config_number: u64,
    begun: Begun<Done>,
    clients: HashMap<ClientId, Connected>,
    sessions: HashMap<SessionId, Open>,
    /// The process ends: no session is opened any more, so that others can take them.
    ending: bool,
    suggestions: Suggestions,
    sign_ins: auth::SignIns,
    /// Who waits until the configuration is read again.
    reloads: Vec<oneshot::Sender<()>>,
}

/// A client that is connected.
struct Connected {
    folders: Vec<PathBuf>,
    caller: Caller,
}

/// A session that has a task.
struct Open {
    task: session::Task,
    /// The number of messages sent to it.
    sent: u64,
}

impl Open {
    fn send(&mut self, message: session::Message) {
        self.sent += 1;
        let _ = self.task.inbox.send(message);
    }
}

impl Router {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Post>) {
        // A request that waits for what was begun before it, and all behind it.
        let mut held: Option<Post> = None;
        loop {
            let awaited = self.begun.awaited();
            if awaited.is_none()
                && let Some(post) = held.take()
            {
                self.take(post);
            }
            tokio::select! {
                (number, done) = self.begun.next() => self.done(number, done),
                () = sleep_until(awaited.unwrap_or_else(Instant::now)), if held.is_some() => {}
                post = inbox.recv(), if held.is_none() => match post {
                    None => break,
                    Some(post) if post.is_request() => held = Some(post),
                    Some(post) => self.take(post),
                },
            }
        }
        self.shutdown(oneshot::channel().0);
    }

    fn take(&mut self, Post { client, message }: Post) {
        match (message, client) {
            (
                Message::Connected(Client { is_attached, folders, name, encoding, editor, trusted }, buffers),
                Some(id),
            ) => {
                let caller = Caller { id, is_attached, name, editor, buffers, trust: Word::new(trusted), encoding };
                self.inline.connected(caller.clone(), folders.clone());
                self.clients.insert(id, Connected { folders, caller });
            }
            (Message::Disconnected, Some(id)) => self.disconnected(id),
            (Message::Input(input), Some(id)) => self.input(id, input),
            (Message::Idle { session, handled }, _) => self.idle(&session, handled),
            (Message::NewSession(caller, new, requester), _) => {
                let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
                drop(tokio::spawn(create(shared, config, caller, new, requester)));
            }
            (Message::Created(session, new, caller, requester), _) => self.created(session, new, caller, requester),
            (Message::AcceptSuggestion(caller, folders, suggestion), _) => {
                self.suggestions.accept(&self.shared, folders, (caller, suggestion));
            }
            (Message::RecordSuggestion(_, _, suggestion), _) if self.ending => {
                Requester::Suggestion(suggestion).fail(ending());
            }
            (Message::RecordSuggestion(session, caller, suggestion), _) => {
                let message = session::Message::Suggestion(caller.clone(), suggestion);
                self.send(session, caller, message);
            }
            (Message::EditedSince(since, reply), _) => self.inline.edited_since(since, reply),
            (Message::Always(project, on), _) => {
                self.tell_all(|| session::Message::Always(Arc::clone(&project), on));
            }
            (Message::TrustChanged, _) => {
                self.inline.reconsider();
                self.tell_all(|| session::Message::Trust(None));
            }
            (Message::AccountsChanged, _) => self.accounts_changed(),
            (Message::FileChanged(reply), _) => self.file_changed(reply),
            (Message::PickRole(role, list, reply), _) => self.pick_role(role, list, reply),
            (Message::ServersChanged, _) => {
                self.clients.values().for_each(|client| client.caller.editor.servers_changed());
            }
            (Message::ModelsChanged, _) => {
                self.clients.values().for_each(|client| client.caller.editor.models_changed());
            }
            (Message::Shutdown(done), _) => self.shutdown(done),
            (Message::Connected(..) | Message::Disconnected | Message::Input(_), None) => {}
        }
    }

    fn done(&mut self, number: u64, done: Done) {
        match done {
            Done::Resolved(id, uri, file) => {
                let client = self.clients.get(&id);
                if let Some(snapshot) = client.and_then(|client| client.caller.buffers.resolved(&uri, &file)) {
                    self.document_changed(id, Ok(snapshot));
                }
            }
            Done::Config(_) if number < self.config_number => {}
            Done::Config(config) => {
                self.config_number = number;
                self.use_config(Arc::new(config.with_picks(self.config.picks.clone())));
                self.reloaded();
            }
        }
    }

    fn disconnected(&mut self, id: ClientId) {
        self.clients.remove(&id);
        self.inline.gone(id);
        self.sign_ins.gone(id);
        self.tell_all(|| session::Message::Gone(id));
    }

    /// Lets a session's task end, unless something was sent to it since it said it was idle.
    fn idle(&mut self, session: &SessionId, handled: u64) {
        if self.sessions.get(session).is_some_and(|open| open.sent == handled) {
            self.sessions.remove(session);
        }
    }

    fn shutdown(&mut self, done: oneshot::Sender<()>) {
        self.ending = true;
        let ended: Vec<_> = self
            .sessions
            .drain()
            .map(|(_, open)| {
                let (done, ended) = oneshot::channel();
                let _ = open.task.inbox.send(session::Message::Shutdown(done));
                ended
            })
            .collect();
        let (servers, counts) = (Arc::clone(&self.shared.servers), self.inline.finish());
        tokio::spawn(async move {
            let sessions = async {
                for session in ended {
                    let _ = session.await;
                }
            };
            tokio::join!(sessions, servers.stop(), counts);
            let _ = done.send(());
        });
    }

    fn input(&mut self, id: ClientId, input: Input) {
        let Some(client) = self.clients.get_mut(&id) else { return };
        let buffers = Arc::clone(&client.caller.buffers);
        match input {
            Input::Request(request) => self.request(id, request),
            Input::CatchUp(reply) => drop(reply.send(())),
            Input::IsFree(session, reply) => {
                let is_ours = self.sessions.get(&session).is_some_and(|open| open.task.is_host());
                let store = Arc::clone(&self.shared.parts.store);
                tokio::spawn(async move {
                    // The lock is let go of at once.
                    let _ = reply.send(is_ours || blocking(move || store.lock(&session)).await.is_ok());
                });
            }
            Input::Opened { uri, language, version, text, file } => {
                let opened = buffers.open(&uri, &language, version, text);
                if opened.is_ok() {
                    let resolved = file.map(move |file| file.map(|file| Done::Resolved(id, uri, file)));
                    self.begun.begin(resolved.boxed(), GRACE);
                }
                self.document_changed(id, opened);
            }
            Input::Changed { uri, version, changes } => {
                let changed = buffers.change(&uri, version, &changes, client.caller.encoding);
                self.document_changed(id, changed);
            }
            Input::Saved { uri, text } => {
                let saved = buffers.save(&uri, text.as_deref());
                if let Ok(snapshot) = &saved {
                    self.shared.tell_servers(vec![snapshot.path.clone()]);
                    self.inline.file_changed(&snapshot.path);
                }
                self.document_changed(id, saved);
            }
            Input::Closed { uri } => match buffers.close(&uri) {
                Ok(path) => {
                    self.inline.closed(id, &uri);
                    self.files_changed(vec![path]);
                }
                Err(error) => tracing::warn!(%error, "a document was closed that was not open"),
            },
            Input::FilesChanged { paths } => {
                paths.iter().for_each(|path| self.inline.file_changed(path));
                self.shared.tell_servers(paths.clone());
                self.files_changed(paths);
            }
            Input::FoldersChanged { folders } => {
                self.inline.folders_changed(id, folders.clone());
                client.folders = folders;
            }
            Input::ConfigChanged(config) => {
                self.begun.begin(config.map(|config| config.map(Done::Config)).boxed(), SETTINGS);
            }
        }
    }

    fn document_changed(&mut self, id: ClientId, result: Result<Arc<Snapshot>, BufferError>) {
        match result {
            Ok(snapshot) => {
                self.inline.changed(id, &snapshot);
                self.tell_all(|| session::Message::TextChanged(id, snapshot.path.clone()));
            }
            // A document that is no file, such as a terminal of the editor's, is nothing to us.
            Err(BufferError::NotAFile(_)) => {}
            Err(error) => {
                tracing::warn!(%error, "a document notification did not fit");
                if let BufferError::OutOfSync { uri, path, .. } = error {
                    self.inline.out_of_sync(id, &uri);
                    self.tell_all(|| session::Message::TextChanged(id, path.clone()));
                }
            }
        }
    }

    fn files_changed(&mut self, paths: Vec<PathBuf>) {
        let paths: Arc<[PathBuf]> = paths.into();
        self.tell_all(|| session::Message::FilesChanged(Arc::clone(&paths)));
    }

    /// The workspace of a client, to look after its language servers.
    fn folders_of(&self, client: &Connected) -> servers::Folders {
        let (shared, config, word) = (self.shared.clone(), Arc::clone(&self.config), client.caller.trust.clone());
        servers::Folders { shared, config, folders: client.folders.clone(), word }
    }

    fn tell_all(&mut self, message: impl Fn() -> session::Message) {
        for open in self.sessions.values_mut() {
            open.send(message());
        }
    }

    fn request(&mut self, id: ClientId, request: Request) {
        match request.session().cloned() {
            Some(session) => self.hand_over(id, session, request),
            None => HANDLERS.handle(self, id, request),
        }
    }

    /// Hands a request to its session's task, which is started if need be and answers if there is no such session.
    fn hand_over(&mut self, id: ClientId, session: SessionId, request: Request) {
        let Some(client) = self.clients.get(&id) else { return };
        if self.ending {
            return request.fail(ending());
        }
        let caller = client.caller.clone();
        self.send(session, caller.clone(), session::Message::Request(caller, request));
    }

    /// Sends something to a session's task, which is started if need be, for this client.
    fn send(&mut self, session: SessionId, caller: Caller, message: session::Message) {
        // A task that is gone, such as that of a deleted session, is followed by one that says so.
        if self.sessions.get(&session).is_some_and(|open| open.task.inbox.is_closed()) {
            self.sessions.remove(&session);
        }
        let open = self.sessions.entry(session.clone()).or_insert_with(|| {
            let task = session::start(self.shared.clone(), Arc::clone(&self.config), session, None, caller);
            Open { task, sent: 0 }
        });
        open.send(message);
    }

    fn session_new(&mut self, id: ClientId, params: SessionNewParams, reply: Reply<SessionNewResult>) {
        let Some(client) = self.clients.get(&id) else { return };
        let caller = client.caller.clone();
        let (shared, config, of_client) = (self.shared.clone(), Arc::clone(&self.config), client.folders.clone());
        tokio::spawn(async move {
            // It has to be confirmed for a session that is there.
            if params.mode.is_some_and(Mode::needs_confirmation) {
                let text =
                    "mode `bypass` has to be confirmed: make the session first, then enter it by azimuth/session/mode";
                return drop(reply.send(Err(Error::new(ErrorCode::NotConfirmed, text))));
            }
            let folders = match params.folders {
                None => Ok(of_client),
                Some(uris) => folders("folders", uris).await,
            };
            let error = match folders {
                Ok(folders) if !folders.is_empty() => {
                    let mode = params.mode.unwrap_or_default();
                    let new = NewSession {
                        folders,
                        model: params.model,
                        mode,
                        is_asked_for: false,
                        parent: None,
                        purpose: Purpose::Chat,
                    };
                    return create(shared, config, caller, new, Requester::Client(reply)).await;
                }
                Ok(_) => {
                    let text = "there is no folder to work in: open a folder in the editor, or name one in `folders`";
                    Error::new(ErrorCode::InvalidParams, text)
                }
                Err(error) => error,
            };
            let _ = reply.send(Err(error));
        });
    }

    /// Tells whether folders are trusted, or keeps what the user or the editor says of it, which counts at once.
    fn workspace_trust(&mut self, id: ClientId, params: WorkspaceTrustParams, reply: Reply<WorkspaceTrustResult>) {
        let Some(client) = self.clients.get(&id) else { return };
        let (word, of_client) = (client.caller.trust.clone(), client.folders.clone());
        let WorkspaceTrustParams { folder, trusted, by_editor } = params;
        if by_editor && let Some(trusted) = trusted {
            word.say(trusted);
            self.tell_all(|| session::Message::Trust(Some((id, trusted))));
        }
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let folders = match folder {
                None => Ok(of_client),
                Some(uri) => folders("folder", vec![uri]).await,
            };
            let folders = match folders {
                Ok(folders) => folders,
                Err(error) => return drop(reply.send(Err(error))),
            };
            let book = shared.trust.clone();
            let left =
                servers::Folders { shared: shared.clone(), config, folders: folders.clone(), word: word.clone() };
            let told = blocking(move || {
                let workspace = Workspace::new(&book, folders);
                if let Some(trusted) = trusted.filter(|_| !by_editor) {
                    workspace.decide(trusted)?;
                }
                let decided = workspace.decided(&word);
                Ok(WorkspaceTrustResult { trusted: decided == Some(true), decided: decided.is_some() })
            });
            let told = told.await;
            if trusted == Some(false) {
                // Sessions end theirs too, but there need not be one.
                drop(tokio::spawn(left.leave_unless_trusted()));
            }
            if let (Some(_), Some(router)) = (trusted, shared.router.upgrade()) {
                let _ = router.send(Post { client: None, message: Message::TrustChanged });
            }
            let _ = reply.send(told.map_err(Error::from));
        });
    }

    fn created(&mut self, session: SessionId, new: NewSession, caller: Caller, requester: Requester) {
        if self.ending {
            return requester.fail(ending());
        }
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        let task = session::start(shared, config, session.clone(), Some(new), caller.clone());
        let mut open = Open { task, sent: 0 };
        open.send(match requester {
            Requester::Client(reply) => session::Message::Attach(caller, reply),
            Requester::Session(first) => session::Message::Begin(caller, first),
            Requester::Instruction(instruction, reply) => session::Message::Instruct(caller, instruction, reply),
            Requester::Suggestion(suggestion) => session::Message::Suggestion(caller, suggestion),
        });
        self.sessions.insert(session, open);
    }

    fn session_list(&mut self, id: ClientId, params: SessionListParams, reply: Reply<SessionListResult>) {
        let origin = params.parent.map_or(Origin::Roots, Origin::Of);
        // Those of a session are in its folders.
        let everywhere = params.everywhere || origin != Origin::Roots;
        let folders = self.meant_folders(id, params.folder, everywhere).unwrap_or_default();
        let limit = bounded(params.limit, LIST);
        let purpose = Some(params.purpose.unwrap_or_default());
        let filter = SessionFilter { folders, query: params.query, origin, purpose, limit };
        let shared = self.shared.clone();
        tokio::spawn(async move {
            let sessions = shared.list(filter).await;
            let _ = reply.send(sessions.map(|sessions| SessionListResult { sessions }).map_err(Error::from));
        });
    }
}

fn ending() -> Error {
    Error::new(ErrorCode::OperationFailed, "the window that ran this session is closing; try again")
}

/// Makes a session in the store, and comes back with it as [`Message::Created`].
async fn create(shared: Shared, config: Arc<Config>, caller: Caller, mut new: NewSession, requester: Requester) {
    if let Some(name) = &new.model {
        let is_user = matches!(requester, Requester::Client(_));
        match session::meant_model(&shared, &config, name, is_user).await {
            Ok(name) => new.model = Some(name),
            Err(error) => return requester.fail(error),
        }
    }
    match make(&shared, &new).await {
        Ok(session) => shared.post(None, Message::Created(session, new, caller, requester)),
        Err(error) => requester.fail(error),
    }
}

/// Makes a session in the store, under an id that is free.
async fn make(shared: &Shared, new: &NewSession) -> Result<SessionId, Error> {
    let folders: Vec<_> = new.folders.iter().map(|folder| paths::to_uri(folder)).collect();
    let (parent, purpose) = (new.parent.as_ref().map(|parent| parent.session_id.clone()), new.purpose);
    let store = Arc::clone(&shared.parts.store);
    let made = blocking(move || {
        loop {
            let session = SessionId::new(random_id());
            match store.create(&session, &folders, parent.as_ref(), purpose) {
                Ok(()) => return Ok(session),
                Err(StoreError::Exists(_)) => {}
                Err(error) => return Err(error),
            }
        }
    });
    Ok(made.await?)
}

/// The workspace folders that a client names. Where a disk does not answer, only this waits.
async fn folders(field: &'static str, uris: Vec<String>) -> Result<Vec<PathBuf>, Error> {
    let read = tokio::task::spawn_blocking(move || uris.iter().map(|uri| folder(field, uri)).collect());
    read.await.unwrap_or_else(|error| Err(Error::new(ErrorCode::InternalError, error.to_string())))
}

/// Blocks.
fn folder(field: &str, uri: &str) -> Result<PathBuf, Error> {
    let invalid =
        |why: String| Error::new(ErrorCode::InvalidParams, format!("invalid params: `{field}`: {uri}: {why}"));
    let path = paths::from_uri(uri).map_err(|error| invalid(error.to_string()))?;
    if path.is_dir() { Ok(path) } else { Err(invalid("there is no such folder".into())) }
}

/// Six hexadecimal digits that nobody can foresee.
fn random_id() -> String {
    use std::hash::{BuildHasher, RandomState};
    format!("{:06x}", RandomState::new().hash_one(super::clock::now()) & 0xff_ffff)
}
