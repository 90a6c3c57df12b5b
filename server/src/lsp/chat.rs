//! Chat without a plugin: a Markdown document that any LSP client can show. A code action sends what stands
//! below its last mark; the answer is written into it by `workspace/applyEdit`, at most once a second or once at the
//! turn's end, and questions are answered by code actions.
//!
//! It uses the hub as any client does, beside the [`outbox`](super::outbox), which passes events on to it. A task for
//! each document does one thing after the other. Reading order: [`document`] (what of a chat is whose), [`transcript`]
//! (events as Markdown), this file, [`forms`] (questions and their code actions).

mod document;
mod forms;
mod transcript;
mod written;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hub::board::Reviews;
use hub::chat_name::{CHAT, is_chat};
use hub::config::ChatAnswers;
use hub::{Connection, DocumentEdit, Editor, Error};
use project::files::{self, FileError};
use protocol::session::{SessionNewParams, SessionOpenParams};
use protocol::turn::{TurnStartParams, TurnSteerParams};
use protocol::{ErrorCode, Event, PermissionId, PromptBlock, SequencedEvent, SessionId, TurnId, methods};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use self::document::{MARK, Place, Prompt, lacks, read, session_line, switched};
use self::forms::Standing;
use self::transcript::Transcript;
use self::written::written;
use super::abilities::Abilities;
use super::{commands, review};
use crate::front::forms::{Fill, Filled};
use crate::front::settings::Settings;
use crate::front::{mentions, names};

/// The interval at which a chat is written to while an answer streams in.
const CADENCE: Duration = Duration::from_secs(1);
/// The time that an edit has to appear in the document before the next is tried.
const ARRIVAL: Duration = Duration::from_secs(3);
/// After so many edits in a row that the client would not take, no more are tried until the next prompt.
const REFUSALS: u32 = 5;
/// The time that a chat that is shown may take to be opened.
const OPENING: Duration = Duration::from_secs(10);

/// So many characters are shown of a prompt that it is asked about.
const SHOWN: usize = 300;

/// A client's chats. Clones share them; their tasks end with the last.
#[derive(Clone)]
pub(super) struct Chats(Arc<Shared>);

struct Shared {
    connection: Arc<Connection>,
    editor: Arc<dyn Editor>,
    settings: Arc<Settings>,
    usual_answers: ChatAnswers,
    folders: Mutex<Vec<PathBuf>>,
    chats: Mutex<HashMap<String, Handle>>,
}

struct Handle {
    posts: mpsc::UnboundedSender<Post>,
    view: Arc<Mutex<View>>,
}

/// A chat as its code actions show it.
#[derive(Clone, Debug, Default)]
struct View {
    is_open: bool,
    session: Option<SessionId>,
    turn: Option<TurnId>,
    waits: bool,
    /// True if a command of the user's own runs.
    runs_command: bool,
    questions: Vec<Standing>,
}

enum Post {
    /// It was opened; gives whether a prompt stood in it then.
    Opened(bool),
    Closed,
    Fill(Fill),
    Send(oneshot::Sender<Result<(), Error>>),
    Put {
        prompt: Vec<PromptBlock>,
        send: bool,
        reply: oneshot::Sender<Result<Option<&'static str>, Error>>,
    },
    Event(SessionId, Arc<SequencedEvent>),
}

/// When chats get their answers where the user says nothing of it: what suits a client, by its `clientInfo`. Older
/// versions of Emacs's Eglot give none, so a client without a name counts as one that may ask for each edit.
pub(super) fn usual_answers(info: Option<&Value>) -> ChatAnswers {
    let name = info.and_then(|info| info.get("name")).and_then(Value::as_str).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let may_ask = name.is_empty() || name.contains("emacs") || name.contains("eglot");
    if may_ask { ChatAnswers::AtEnd } else { ChatAnswers::Live }
}

/// The path of the chat document of a workspace folder, which is made where there is none. It is kept from git.
///
/// # Errors
/// There is no folder, or it cannot be written to.
pub(super) async fn document(folder: Option<PathBuf>) -> Result<PathBuf, Error> {
    let failed = |text: String| Error::new(ErrorCode::OperationFailed, text);
    let folder = folder.ok_or_else(|| failed("there is no folder to keep a chat in: open one in the editor".into()))?;
    let made = tokio::task::spawn_blocking(move || {
        let chats = Path::new(".azimuth").join("chats");
        // The folder may be known by a link; below it a project's links are not followed.
        let real = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
        for (file, text) in [(".gitignore", "*\n"), (CHAT, &*format!("{MARK}\n\n"))] {
            match files::create(&real.join(&chats).join(file), text) {
                Ok(_) | Err(FileError::Exists { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(folder.join(chats).join(CHAT))
    });
    made.await.map_err(|error| error.to_string()).and_then(|made| made).map_err(failed)
}

impl Chats {
    pub(super) fn new(
        connection: Arc<Connection>,
        editor: Arc<dyn Editor>,
        settings: Arc<Settings>,
        usual_answers: ChatAnswers,
        folders: Vec<PathBuf>,
    ) -> Self {
        let (folders, chats) = (Mutex::new(folders), Mutex::default());
        Self(Arc::new(Shared { connection, editor, settings, usual_answers, folders, chats }))
    }

    /// A chat document was opened with this text.
    pub(super) fn opened(&self, uri: &str, text: &str) {
        self.post(uri, Post::Opened(!read(text).prompt.text.is_empty()));
    }

    /// A chat document was closed. A turn that runs goes on, and its answer waits until it is opened again.
    pub(super) fn closed(&self, uri: &str) {
        self.post(uri, Post::Closed);
    }

    /// Sends what stands below the last mark. What comes is there once the prompt is on its way.
    pub(super) fn send(&self, uri: &str) -> oneshot::Receiver<Result<(), Error>> {
        let (reply, answer) = oneshot::channel();
        self.post(uri, Post::Send(reply));
        answer
    }

    /// The name of a chat that is open: of the folder if there is one.
    pub(super) fn open_in(&self, folder: Option<&Path>) -> Option<String> {
        let chats = lock(&self.0.chats);
        let mut open: Vec<_> = chats.iter().filter(|(_, chat)| lock(&chat.view).is_open).map(|(uri, _)| uri).collect();
        open.sort_unstable();
        let is_there =
            |uri: &&&String| folder.is_none_or(|folder| names::path(uri).is_some_and(|path| path.starts_with(folder)));
        open.iter().find(is_there).or(open.first()).map(|uri| (*uri).clone())
    }

    /// Puts a prompt below the last mark of a chat, as soon as one is open, and sends it. Where the user has to say
    /// something first, or is at something else there, it is not sent; then gives words about that.
    ///
    /// # Errors
    /// No chat is opened in time, or it could not be written to, or not be sent.
    pub(super) async fn put(
        &self,
        folder: Option<&Path>,
        prompt: Vec<PromptBlock>,
        send: bool,
    ) -> Result<Option<&'static str>, Error> {
        let opened = async {
            loop {
                match self.open_in(folder) {
                    Some(uri) => return uri,
                    None => tokio::time::sleep(Duration::from_millis(20)).await,
                }
            }
        };
        let uri = tokio::time::timeout(OPENING, opened).await.map_err(|_| {
            let text = "the editor has not opened the chat: open `.azimuth/chats/azimuth-chat.md`, and choose the action again";
            Error::new(ErrorCode::OperationFailed, text)
        })?;
        let (reply, answer) = oneshot::channel();
        self.post(&uri, Post::Put { prompt, send, reply });
        let ended = |_| Error::new(ErrorCode::InternalError, "the chat has ended; the log says why");
        answer.await.map_err(ended)?
    }

    /// Something happened in a session that the client follows.
    pub(super) fn event(&self, session: &SessionId, event: &Arc<SequencedEvent>) {
        for chat in lock(&self.0.chats).values() {
            let _ = chat.posts.send(Post::Event(session.clone(), Arc::clone(event)));
        }
    }

    /// The name of an open document that shows a session's chat.
    pub(super) fn open_one(&self, session: &SessionId) -> Option<String> {
        let chats = lock(&self.0.chats);
        let (uri, _) = chats.iter().find(|(_, chat)| {
            let view = lock(&chat.view);
            view.is_open && view.session.as_ref() == Some(session)
        })?;
        uri.rsplit('/').next().map(str::to_owned)
    }

    /// The workspace folders are others now.
    pub(super) fn set_folders(&self, folders: Vec<PathBuf>) {
        *lock(&self.0.folders) = folders;
    }

    /// The code actions of a chat; none for a document that is no chat. The changes that wait can be decided here file
    /// by file, since a file that is to be made is none that an editor could show.
    pub(super) fn actions(&self, uri: &str, reviews: &Reviews, abilities: &Abilities) -> Option<Vec<Value>> {
        if !is_chat(uri) {
            return None;
        }
        let view = lock(&self.0.chats).get(uri).map(|chat| lock(&chat.view).clone()).unwrap_or_default();
        let action = |title: &str, command, argument| commands::action(title, command, &argument, abilities);
        let mut actions = view.answers(abilities);
        let title = match (&view.turn, view.asks_for_words()) {
            (_, Some(header)) => &format!("Answer with what you wrote ({header})"),
            (Some(_), None) => "Say this to Azimuth at once",
            (None, None) => "Send to Azimuth",
        };
        actions.push(action(title, commands::CHAT_SEND, json!({ "uri": uri })));
        if let (Some(session), Some(turn)) = (&view.session, &view.turn) {
            let turn = json!({ "sessionId": session, "turnId": turn });
            actions.extend(view.waits.then(|| action("Ask the model again now", commands::RETRY_TURN, turn.clone())));
            actions.push(action("Cancel what Azimuth does", commands::CANCEL_TURN, turn));
        }
        if let (Some(session), None, true) = (&view.session, &view.turn, view.runs_command) {
            actions.push(action("Stop the command", commands::CANCEL_TURN, json!({ "sessionId": session })));
        }
        if let Some(session) = &view.session {
            actions.extend(review::file_actions(reviews, session, abilities));
        }
        Some(actions)
    }

    fn post(&self, uri: &str, post: Post) {
        let mut chats = lock(&self.0.chats);
        let chat = chats.entry(uri.to_owned()).or_insert_with(|| self.begin(uri));
        let _ = chat.posts.send(post);
    }

    fn begin(&self, uri: &str) -> Handle {
        let (posts, inbox) = mpsc::unbounded_channel();
        let view = Arc::<Mutex<View>>::default();
        let chat = Chat {
            uri: uri.into(),
            connection: Arc::clone(&self.0.connection),
            editor: Arc::clone(&self.0.editor),
            settings: Arc::clone(&self.0.settings),
            usual_answers: self.0.usual_answers,
            shared: Arc::downgrade(&self.0),
            view: Arc::clone(&view),
            session: None,
            last: 0,
            turn: None,
            runs_command: false,
            transcript: Transcript::default(),
            place: Place::default(),
            unwritten: String::new(),
            sent: Vec::new(),
            commands: None,
            filled: HashMap::new(),
            refusals: 0,
            is_open: false,
            was_there: false,
            asked_about: None,
        };
        tokio::spawn(chat.run(inbox));
        Handle { posts, view }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A chat document.
struct Chat {
    uri: Arc<str>,
    connection: Arc<Connection>,
    editor: Arc<dyn Editor>,
    settings: Arc<Settings>,
    usual_answers: ChatAnswers,
    shared: std::sync::Weak<Shared>,
    view: Arc<Mutex<View>>,
    session: Option<SessionId>,
    /// The number of its last event that was taken. One that came while the session was opened may come twice.
    last: u64,
    turn: Option<TurnId>,
    /// True if a command of the user's own runs.
    runs_command: bool,
    transcript: Transcript,
    /// Where the answer goes on.
    place: Place,
    /// The text that waits to be written.
    unwritten: String,
    /// The number of its bytes in each edit that has not shown in the document, and yet may.
    sent: Vec<usize>,
    /// How far each form that stands is filled in.
    filled: HashMap<PermissionId, Filled>,
    /// The commands that a prompt held, where they were all of it.
    commands: Option<Commands>,
    /// Edits in a row that the client would not take.
    refusals: u32,
    is_open: bool,
    /// True if a prompt stood in it when it was opened, and none was sent since. A repository may have brought that
    /// one.
    was_there: bool,
    /// Such a prompt, once the user was asked whether it is theirs.
    asked_about: Option<String>,
}

/// Commands whose outcomes are on their way.
struct Commands {
    left: usize,
    switch_to: Option<SessionId>,
}

impl Chat {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Post>) {
        let mut due = Instant::now();
        loop {
            let wants_to_write = self.is_open && !self.unwritten.trim().is_empty() && self.refusals < REFUSALS;
            tokio::select! {
                post = inbox.recv() => match post {
                    None => return,
                    Some(post) => self.post(post).await,
                },
                () = tokio::time::sleep_until(due), if wants_to_write => {
                    self.write().await;
                    due = Instant::now() + CADENCE;
                }
            }
            self.show();
        }
    }

    /// Has the code actions say how things stand.
    fn show(&self) {
        let (session, turn, questions) = (self.session.clone(), self.turn.clone(), self.standing());
        let (is_open, waits, runs_command) = (self.is_open, self.transcript.waits(), self.runs_command);
        *lock(&self.view) = View { is_open, session, turn, waits, runs_command, questions };
    }

    async fn post(&mut self, post: Post) {
        match post {
            Post::Opened(was_there) => {
                (self.was_there, self.asked_about) = (was_there, None);
                (self.is_open, self.refusals) = (true, 0);
                self.take_up().await;
            }
            Post::Closed => self.is_open = false,
            Post::Fill(fill) => self.fill(fill),
            Post::Event(session, event) if self.session.as_ref() == Some(&session) && event.seq > self.last => {
                self.last = event.seq;
                self.event(&event.event).await;
            }
            Post::Event(..) => {}
            Post::Send(reply) => {
                (self.is_open, self.refusals) = (true, 0);
                let _ = reply.send(self.send().await);
            }
            Post::Put { prompt, send, reply } => {
                let _ = reply.send(self.put(&prompt, send).await);
            }
        }
    }

    async fn event(&mut self, event: &Event) {
        self.heard(event);
        if matches!(event, Event::CommandExecuted { .. }) {
            self.commands_only().await;
        }
        let answers = self.settings.chat_answers().unwrap_or(self.usual_answers);
        if answers == ChatAnswers::Live || self.turn.is_none() || !self.transcript.questions().is_empty() {
            self.unwritten.push_str(&self.transcript.take());
        }
    }

    fn heard(&mut self, event: &Event) {
        self.transcript.event(event);
        match event {
            Event::TurnStarted { turn_id, .. } => self.turn = Some(turn_id.clone()),
            Event::TurnEnded { .. } => self.turn = None,
            Event::UserCommandStarted { .. } => self.runs_command = true,
            Event::UserCommandEnded { .. } => self.runs_command = false,
            _ => {}
        }
    }

    /// Goes on with the session that the document names, if no other process has it: its questions and hunks have their
    /// code actions, and what the document lacks of its last answer is written.
    async fn take_up(&mut self) {
        self.connection.caught_up().await;
        let Some(snapshot) = self.connection.buffers().by_uri(&self.uri) else { return };
        let text = snapshot.normal();
        let Some(named) = read(text).session.filter(|_| self.session.is_none()) else { return };
        if !self.connection.is_free(named.clone()).await {
            return;
        }
        match self.open(named).await {
            Ok(_) => {
                self.place = Place::at_end(text);
                self.unwritten = lacks(text, &self.transcript.take());
            }
            // Whoever sends something is told.
            Err(error) => tracing::info!(%error, uri = %self.uri, "the session of a chat could not be opened"),
        }
    }

    /// Sends what stands below the last mark; with nothing there a turn that broke off goes on. While an answer comes,
    /// what stands below it is sent, and while its turn runs, said to that.
    async fn send(&mut self) -> Result<(), Error> {
        self.connection.caught_up().await;
        let invalid = |text: String| Error::new(ErrorCode::InvalidParams, text);
        let snapshot = self.connection.buffers().by_uri(&self.uri);
        let snapshot =
            snapshot.ok_or_else(|| invalid(format!("{} is not open, so there is nothing to send", self.uri)))?;
        let text = snapshot.normal();
        self.settle(text);
        let said = read(text);
        // Until the mark below an answer is written, what stands below the last one holds what was sent, and the
        // answer.
        let is_busy = self.turn.is_some() || self.commands.is_some() || self.runs_command;
        let is_answering = is_busy || !self.unwritten.trim().is_empty();
        let Prompt { text: prompt, leads } = if is_answering { self.place.below(text) } else { said.prompt };
        let goes_on = self.turn.is_none() && self.transcript.is_broken_off();
        if prompt.is_empty() && !goes_on {
            return Err(invalid(format!("there is nothing to send: write below the last line `{MARK}`")));
        }
        let end = Place::at_end(text);
        let folders = self.shared.upgrade().map(|shared| lock(&shared.folders).clone()).unwrap_or_default();
        let is_command = prompt.starts_with('!');
        let commands = agent::commands::Commands::built_in().parse(&prompt).invocations;
        let must_lead = is_command || commands.iter().any(|it| it.has(|effects| effects.must_lead));
        if must_lead && !leads {
            let text = "a command like this counts only at the very beginning of a prompt";
            return Err(invalid(format!("{text}: take out the blank lines above it")));
        }
        // In a document of a session that this user has, other words are theirs.
        if must_lead || (self.session.is_none() && said.session.is_none()) {
            self.is_the_users(&prompt)?;
        }
        if self.turn.is_some() && !is_command && self.answer_in_words(&prompt).await? {
            self.place = end;
            return Ok(());
        }
        let commands = commands.len();
        let prompt = match is_command {
            true => vec![PromptBlock::Text { text: prompt }],
            false => {
                let buffers = Arc::clone(self.connection.buffers());
                let blocks = tokio::task::spawn_blocking(move || mentions::blocks(prompt, &folders, &buffers));
                blocks.await.unwrap_or_default()
            }
        };
        let session_id = match (&self.session, said.session) {
            (Some(session), _) => session.clone(),
            (None, Some(named)) => {
                self.open(named.clone()).await?;
                self.transcript.take();
                named
            }
            (None, None) => self.begin().await?,
        };
        // A question may come before the answer to the request.
        self.show();
        self.transcript.sent();
        let sent = match self.turn.clone().filter(|_| !is_command) {
            Some(expected_turn_id) => {
                let params = TurnSteerParams { session_id, expected_turn_id, prompt };
                self.connection.ask::<methods::TurnSteer>(params).await.map(|_| None)
            }
            None => {
                let params = TurnStartParams { session_id, prompt, mode: None };
                self.connection.ask::<methods::TurnStart>(params).await.map(Some)
            }
        };
        let started = sent.inspect_err(|_| self.transcript.not_sent())?;
        (self.was_there, self.asked_about) = (false, None);
        // Text that the user types from now on stays below the answer.
        self.place = end;
        if let Some(started) = started.filter(|_| !is_command) {
            self.turn = started.turn_id;
            if self.turn.is_none() {
                self.transcript.not_sent();
                let left = commands + self.commands.take().map_or(0, |before| before.left);
                self.commands = Some(Commands { left, switch_to: started.switch_to });
            }
        }
        Ok(())
    }

    /// Puts a prompt below what stands there, and sends it if nothing else waits to be.
    async fn put(&mut self, prompt: &[PromptBlock], send: bool) -> Result<Option<&'static str>, Error> {
        self.connection.caught_up().await;
        let failed = |text: String| Error::new(ErrorCode::OperationFailed, text);
        let snapshot = self.connection.buffers().by_uri(&self.uri);
        let snapshot = snapshot.ok_or_else(|| failed(format!("{} is not open", self.uri)))?;
        let text = snapshot.normal();
        self.settle(text);
        let is_answering =
            self.turn.is_some() || self.commands.is_some() || self.runs_command || !self.unwritten.trim().is_empty();
        let is_free = !is_answering && read(text).prompt.text.is_empty();
        let folders = self.shared.upgrade().map(|shared| lock(&shared.folders).clone()).unwrap_or_default();
        // It is a paragraph of its own.
        let is_apart = text.lines().last().is_none_or(|last| last.trim().is_empty());
        let (prompt, buffers) = (prompt.to_vec(), Arc::clone(self.connection.buffers()));
        let prompt = tokio::task::spawn_blocking(move || written(&prompt, &folders, &buffers));
        let prompt = prompt.await.map_err(|error| failed(error.to_string()))?;
        let written = format!("{}{prompt}\n", if is_apart { "" } else { "\n" });
        let mut place = Place::at_end(text);
        let edit = place.insert(text, &written);
        let (uri, version) = (Arc::clone(&self.uri), snapshot.version);
        let edit = DocumentEdit { uri, version, label: "Ask Azimuth".into(), edits: vec![edit] };
        let applied = self.editor.apply(edit).await;
        let is_there = |now: &project::buffers::Snapshot| place.has(now.normal(), &written);
        let arrived = self.connection.buffers().wait(&snapshot.path, ARRIVAL, is_there).await;
        if arrived.is_err() {
            let why = applied.err().map_or_else(String::new, |error| format!(": {error}"));
            return Err(failed(format!("the prompt could not be written into {}{why}", self.uri)));
        }
        match (is_free, send) {
            (true, true) => self.send().await.map(|()| None),
            (true, false) => Ok(None),
            (false, _) if is_answering => Ok(Some(
                "Azimuth is still answering. What you chose is in the chat; send it when the answer is complete.",
            )),
            (false, _) => Ok(Some("What you chose is below your text in the chat, and is not sent yet.")),
        }
    }

    /// Has the user say, by sending it once more, that a prompt is theirs in a document in which one stood already when
    /// it was opened. What a repository brought is else taken for the user's own word.
    ///
    /// # Errors
    /// They have not said so of this one yet.
    fn is_the_users(&mut self, prompt: &str) -> Result<(), Error> {
        if !self.was_there || self.asked_about.as_deref() == Some(prompt) {
            return Ok(());
        }
        self.asked_about = Some(prompt.to_owned());
        let words = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
        let more = if words.chars().nth(SHOWN).is_some() { " ..." } else { "" };
        let shown: String = words.chars().take(SHOWN).collect();
        let text = format!(
            "not sent: this document already contained a prompt when it was opened. If you wrote all of it, send it \
             once more: {shown}{more}"
        );
        Err(Error::new(ErrorCode::InvalidParams, text))
    }

    /// The prompt held only slash commands: what they came to is the whole answer. One of them has come to its end.
    async fn commands_only(&mut self) {
        let Some(commands) = &mut self.commands else { return };
        commands.left = commands.left.saturating_sub(1);
        let Some(commands) = self.commands.take_if(|commands| commands.left == 0) else { return };
        if let Some(session) = commands.switch_to {
            self.unwritten.push_str(&self.transcript.take());
            match self.open(session.clone()).await {
                Ok(waits) => {
                    let is_running = self.turn.is_some();
                    return self.transcript.show(|said| switched(&session, said, is_running, waits));
                }
                Err(error) => self.transcript.say(&error.message),
            }
        }
        self.transcript.mark();
    }

    /// Goes on with a session. The transcript is then its last turn, as far as it has come; what was before is not
    /// asked for here. Gives whether a prompt waits for its turn.
    async fn open(&mut self, session_id: SessionId) -> Result<bool, Error> {
        let params = SessionOpenParams { session_id: session_id.clone(), since: 0 };
        let opened = self.connection.ask::<methods::SessionOpen>(params).await?;
        (self.session, self.turn, self.transcript) = (Some(session_id), None, Transcript::default());
        self.last = opened.events.last().map_or(0, |event| event.seq);
        // The state is read from the events, since those that follow go on from there.
        let mut waiting = Vec::new();
        for event in &opened.events {
            match serde_json::from_str(event.event.get()) {
                Ok(event) => {
                    match &event {
                        Event::TurnStarted { .. } => drop(self.transcript.take()),
                        Event::PromptQueued { queue_id, .. } => waiting.push(queue_id.clone()),
                        Event::PromptDequeued { queue_id } => waiting.retain(|waits| waits != queue_id),
                        _ => {}
                    }
                    self.heard(&event);
                }
                Err(error) => tracing::warn!(%error, "an event of another version is not understood"),
            }
        }
        Ok(!waiting.is_empty())
    }

    async fn begin(&mut self) -> Result<SessionId, Error> {
        let new = self.connection.ask::<methods::SessionNew>(SessionNewParams::default()).await?;
        let session = new.session.session_id;
        self.transcript.line(&session_line(&session));
        (self.session, self.last) = (Some(session.clone()), 0);
        Ok(session)
    }

    /// Writes what waits. What the client does not take waits on.
    async fn write(&mut self) {
        let Some(snapshot) = self.connection.buffers().by_uri(&self.uri) else { return };
        if self.settle(snapshot.normal()) {
            return;
        }
        let edit = self.place.insert(snapshot.normal(), &self.unwritten);
        let (uri, version) = (Arc::clone(&self.uri), snapshot.version);
        let edit = DocumentEdit { uri, version, label: "Azimuth answers".into(), edits: vec![edit] };
        if self.sent.last() != Some(&self.unwritten.len()) {
            self.sent.push(self.unwritten.len());
        }
        let error = match self.editor.apply(edit).await {
            Ok(()) => {
                // That it says so proves nothing: the text is looked at.
                let is_there = |now: &project::buffers::Snapshot| self.place.has(now.normal(), &self.unwritten);
                match self.connection.buffers().wait(&snapshot.path, ARRIVAL, is_there).await {
                    Ok(now) => {
                        self.settle(now.normal());
                        return;
                    }
                    Err(_) => String::from("the editor says that it was written, but it was not"),
                }
            }
            Err(error) => error.to_string(),
        };
        tracing::info!(error, uri = %self.uri, "an answer could not be written");
        self.refusals += 1;
        if self.refusals == REFUSALS {
            self.editor.alert(&format!(
                "The answer cannot be written into {}: {error}. It is kept; send something from there to have it tried \
                 again.",
                self.uri
            ));
        }
    }

    /// Notes what of that which was sent stands in the document now, though the client may not have said so. The
    /// longest that fits counts: each edit holds what was in those before it. Gives whether there is any.
    fn settle(&mut self, text: &str) -> bool {
        let is_there = |length: &usize| self.unwritten.get(..*length).is_some_and(|sent| self.place.has(text, sent));
        let Some(length) = self.sent.iter().rev().copied().find(is_there) else { return false };
        let written: String = self.unwritten.drain(..length).collect();
        self.place.wrote(text, &written);
        self.sent.clear();
        self.refusals = 0;
        true
    }
}
