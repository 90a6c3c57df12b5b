//! The way to the client: one task that owns the framework's `Client` and sends all that the client did not ask for.
//!
//! Nobody waits in it. Requests to the client wait side by side, each with a deadline; events come from cursors and are
//! read on only while the way out is clear. The hub sees it as its port [`Editor`].

mod changes;
mod command;
mod suggestions;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hub::board::Reviews;
use hub::{Connection, DocumentEdit, Editor, EditorError, Feed};
use protocol::editor::{EditorFormatParams, EditorFormatResult, EditorSaveResult, EditorTextResult};
use protocol::event::{EventParams, Severity};
use protocol::inline::{InlineChangedParams, InlineStatusParams};
use protocol::lang::{EditorQueryParams, LangResult};
use protocol::methods::{self, Notification as _, Request as _};
use protocol::permission::{PermissionAnswerParams, PermissionRequest};
use protocol::session::PromptPutParams;
use protocol::terminal::TerminalOutputParams;
use protocol::{Event, PermissionId, SequencedEvent, SessionId, TerminalId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shell::Spool;
use tokio::sync::{mpsc, oneshot, watch};
use tower::Service;
use tower_lsp::Client;
use tower_lsp::jsonrpc;

use self::command::Command;
use super::SECTION;
use super::abilities::Abilities;
use super::chat::Chats;
use super::convert;
use super::message_box::{Boxes, Next};
use super::next_edits::NextEdits;
use super::outcomes::Outcomes;
use super::progress::{Progress, Step};
use super::review::Shown;
use super::stdio::Level;
use super::suggesting::Suggesting;
use crate::front::cursors::{Cursors, Item};
use crate::front::names::Names;
use crate::front::settings::{self, Settings, Suggestions};

/// The time that the client has to answer a request, except for questions to the user.
const DEADLINE: Duration = Duration::from_secs(10);
/// So long a client without a panel is silent before it is sent a word that says nothing: Emacs 28 leaves what came
/// together with the answer to its own request lying until something else comes.
const NUDGE: Duration = Duration::from_millis(300);

/// A handle to the outbox. It never waits for the client, but where it gives the client's answer.
#[derive(Clone)]
pub(super) struct Outbox {
    commands: mpsc::UnboundedSender<Command>,
    abilities: Arc<Abilities>,
    names: Arc<Names>,
    /// True if the client uses our own methods: it has a panel, or sent one of our requests itself.
    speaks: Arc<AtomicBool>,
    /// True if the client takes part in the configuration.
    reads_settings: bool,
}

/// The parts of the outbox.
pub(super) struct Parts {
    pub(super) client: Client,
    pub(super) level: Level,
    pub(super) abilities: Arc<Abilities>,
    pub(super) names: Arc<Names>,
    pub(super) settings: Arc<Settings>,
    pub(super) reviews: watch::Receiver<Reviews>,
    pub(super) edits: Arc<NextEdits>,
}

/// The outbox before it is connected to the hub.
pub(super) struct Idle {
    parts: Parts,
    inbox: mpsc::UnboundedReceiver<Command>,
    outbox: Outbox,
}

/// Makes an outbox. Nothing is sent before it runs, and the client is ready.
pub(super) fn new(parts: Parts) -> (Outbox, Idle) {
    let (commands, inbox) = mpsc::unbounded_channel();
    let speaks = Arc::new(AtomicBool::new(parts.abilities.azimuth.panel));
    let (abilities, names) = (Arc::clone(&parts.abilities), Arc::clone(&parts.names));
    let outbox = Outbox { commands, abilities, names, speaks, reads_settings: parts.settings.are_read() };
    (outbox.clone(), Idle { parts, inbox, outbox })
}

impl Outbox {
    /// The client has said `initialized`: from now on it takes messages.
    pub(super) fn ready(&self) {
        self.send(Command::Ready);
    }

    /// The client has sent one of our own requests: it may be sent our notifications.
    pub(super) fn speaks(&self) {
        self.speaks.store(true, Ordering::Relaxed);
    }

    /// A document was closed, or opened and its file is known: hints for it may have to go under another name.
    pub(super) fn renamed(&self) {
        self.send(Command::Hints);
    }

    /// The client says that its settings changed: it is asked for them, if it can be.
    pub(super) fn pull_settings(&self) {
        if self.abilities.configuration {
            self.send(Command::PullSettings);
        }
    }

    /// Shows the user some words.
    pub(super) fn say(&self, severity: Severity, text: String) {
        self.send(Command::Say(severity, text));
    }

    /// Returns the way to tell the user something, for those who know no outbox.
    pub(super) fn speaker(&self) -> impl Fn(Severity, String) + Send + Sync + use<> {
        let outbox = self.clone();
        move |severity, text| outbox.say(severity, text)
    }

    /// Puts a prompt into the client's panel.
    pub(super) fn put_prompt(&self, params: PromptPutParams) {
        self.send(Command::PutPrompt(params));
    }

    /// Shows the user a document, at a position if one is given. Nobody waits for it.
    pub(super) fn show_document(&self, uri: &str, at: Option<protocol::Position>) {
        if self.abilities.show_document {
            let (params, (reply, _)) = (convert::show_document(uri, at), oneshot::channel());
            self.send(Command::Ask("window/showDocument", params, DEADLINE, reply));
        } else {
            self.say(Severity::Info, uri.to_owned());
        }
    }

    fn send(&self, command: Command) {
        // Without the task the connection is over, and there is nobody to tell.
        let _ = self.commands.send(command);
    }

    /// Asks the client something, within the deadline.
    async fn ask<T: DeserializeOwned>(&self, method: &'static str, params: impl Serialize) -> Result<T, EditorError> {
        self.ask_within(DEADLINE, method, params).await
    }

    async fn ask_within<T: DeserializeOwned>(
        &self,
        deadline: Duration,
        method: &'static str,
        params: impl Serialize,
    ) -> Result<T, EditorError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Ask(method, json!(params), deadline, reply));
        let answer = tokio::time::timeout(deadline, self.nudging(answer)).await.map_err(|_| EditorError::TimedOut)?;
        let value =
            answer.map_err(|_| EditorError::Gone)?.map_err(|error| EditorError::Refused(error.message.into()))?;
        serde_json::from_value(value).map_err(|error| EditorError::Refused(format!("{method}: {error}")))
    }

    /// Waits, and sends a client without a panel [`NUDGE`]s meanwhile.
    async fn nudging<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = std::pin::pin!(answer);
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                () = tokio::time::sleep(NUDGE), if !self.abilities.azimuth.panel => self.send(Command::Nudge),
            }
        }
    }
}

#[async_trait]
impl Editor for Outbox {
    fn follow(&self, feed: Feed, since: u64) {
        self.send(Command::Follow(feed, since));
    }

    fn unfollow(&self, session: &SessionId) {
        self.send(Command::Unfollow(session.clone()));
    }

    fn follow_terminal(&self, session: &SessionId, terminal: &TerminalId, spool: Arc<Spool>, since: u64) {
        self.send(Command::FollowTerminal(session.clone(), terminal.clone(), spool, since));
    }

    fn acknowledge_terminal(&self, session: &SessionId, terminal: &TerminalId, offset: u64) {
        self.send(Command::AcknowledgeTerminal(session.clone(), terminal.clone(), offset));
    }

    fn unfollow_terminal(&self, session: &SessionId, terminal: &TerminalId) {
        self.send(Command::UnfollowTerminal(session.clone(), terminal.clone()));
    }

    fn alert(&self, text: &str) {
        self.say(Severity::Error, text.to_owned());
    }

    fn servers_changed(&self) {
        self.send(Command::Tell(methods::ServersChanged::METHOD, json!({})));
    }

    fn models_changed(&self) {
        self.send(Command::Tell(methods::ModelsChanged::METHOD, json!({})));
    }

    fn configuration_changed(&self) -> bool {
        if self.reads_settings {
            self.send(Command::Reload);
        }
        self.reads_settings
    }

    fn suggests(&self, status: InlineStatusParams) {
        self.send(Command::Suggests(status));
    }

    fn edit_changed(&self, params: InlineChangedParams) {
        self.send(Command::EditChanged(params));
    }

    async fn apply(&self, edit: DocumentEdit) -> Result<(), EditorError> {
        if !self.abilities.apply_edit {
            return Err(EditorError::Unsupported);
        }
        // One document in each request, and its version always there: Neovim checks only the first document's, and
        // fails without one.
        let edits: Vec<_> = edit.edits.iter().map(convert::text_edit).collect();
        let document = json!({ "textDocument": { "uri": edit.uri, "version": edit.version }, "edits": edits });
        self.apply_changes(&edit.label, json!([document])).await
    }

    fn deletes(&self) -> bool {
        self.abilities.delete_files
    }

    async fn delete(&self, uri: &str, version: i32) -> Result<(), EditorError> {
        if !self.deletes() {
            return Err(EditorError::Unsupported);
        }
        // A deletion names no version, so an edit that changes nothing does: clients refuse both where it is another.
        let document = json!({ "textDocument": { "uri": uri, "version": version }, "edits": [] });
        self.apply_changes("Azimuth", json!([document, { "kind": "delete", "uri": uri }])).await
    }

    async fn save(&self, uri: &str) -> Result<bool, EditorError> {
        if !self.abilities.azimuth.save {
            return Err(EditorError::Unsupported);
        }
        let result: EditorSaveResult = self.ask(methods::EditorSave::METHOD, json!({ "uri": uri })).await?;
        Ok(result.saved)
    }

    async fn text(&self, uri: &str) -> Result<Option<String>, EditorError> {
        if !self.abilities.azimuth.text {
            return Err(EditorError::Unsupported);
        }
        let result: EditorTextResult = self.ask(methods::EditorText::METHOD, json!({ "uri": uri })).await?;
        Ok(result.text)
    }

    async fn format(&self, params: EditorFormatParams) -> Result<EditorFormatResult, EditorError> {
        if !self.abilities.azimuth.format {
            return Err(EditorError::Unsupported);
        }
        self.ask(methods::EditorFormat::METHOD, params).await
    }

    async fn query(&self, mut params: EditorQueryParams) -> Result<LangResult, EditorError> {
        if !self.abilities.azimuth.query {
            return Err(EditorError::Unsupported);
        }
        params.query.rename_documents(|uri| self.names.of(uri));
        // The client keeps to the time that it is given, and has what is left to say so.
        let deadline = Duration::from_millis(params.timeout_ms.into()) + DEADLINE / 2;
        self.ask_within(deadline, methods::EditorQuery::METHOD, params).await
    }
}

impl Idle {
    /// Sends for as long as it is let.
    pub(super) async fn run(self, connection: Arc<Connection>, chats: Option<Chats>) {
        let Self { parts, inbox, outbox } = self;
        let suggestions = parts.settings.suggestions();
        let task = Task {
            parts,
            outbox,
            connection,
            chats,
            cursors: Cursors::default(),
            waiting: FuturesUnordered::new(),
            questions: HashMap::new(),
            progress: Progress::default(),
            outcomes: Outcomes::default(),
            shown: Shown::default(),
            suggesting: Suggesting::default(),
            suggestions,
        };
        task.run(inbox).await;
    }
}

struct Task {
    parts: Parts,
    outbox: Outbox,
    connection: Arc<Connection>,
    chats: Option<Chats>,
    cursors: Cursors,
    /// Requests that the client has not answered, and other work.
    waiting: FuturesUnordered<BoxFuture<'static, Done>>,
    /// Questions that the client shows. Dropping one ends the wait for its answer.
    questions: HashMap<PermissionId, oneshot::Sender<()>>,
    progress: Progress,
    outcomes: Outcomes,
    shown: Shown,
    suggesting: Suggesting,
    suggestions: watch::Receiver<Option<Suggestions>>,
}

/// The result of something that was waited for.
enum Done {
    Nothing,
    /// The client has taken a progress token.
    Created(Value),
    /// The user chose an option.
    Answered(PermissionAnswerParams),
    /// The editor's settings, if it gave them.
    Settings(Value),
}

impl Task {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Command>) {
        // Until then the client takes nothing, so commands wait.
        let mut early = Vec::new();
        loop {
            match inbox.recv().await {
                None => return,
                Some(Command::Ready) => break,
                Some(command) => early.push(command),
            }
        }
        self.introduce();
        for command in early {
            self.command(command).await;
        }
        self.parts.reviews.mark_changed();
        loop {
            let level = self.parts.level.clone();
            let next = async {
                level.low().await;
                self.cursors.next().await
            };
            tokio::select! {
                command = inbox.recv() => match command {
                    None => return,
                    Some(command) => self.command(command).await,
                },
                Some(done) = self.waiting.next() => self.done(done).await,
                Ok(()) = self.suggestions.changed() => self.settings_changed().await,
                Ok(()) = self.parts.reviews.changed() => self.show_hints().await,
                item = next => self.item(item).await,
            }
        }
    }

    /// Registers what can only be registered now, and asks for the editor's settings.
    fn introduce(&mut self) {
        let abilities = Arc::clone(&self.parts.abilities);
        let registrations = abilities.registrations();
        if !registrations.is_empty() {
            self.request("client/registerCapability", json!({ "registrations": registrations }), |result| {
                if let Err(error) = result {
                    tracing::warn!(%error, "the client would not register what it said it could");
                }
                Done::Nothing
            });
        }
        if abilities.configuration {
            self.pull_settings();
        }
    }

    fn pull_settings(&mut self) {
        let params = json!({ "items": [{ "section": SECTION }] });
        self.request("workspace/configuration", params, |result| match result {
            Ok(Value::Array(sections)) => Done::Settings(sections.into_iter().next().unwrap_or_default()),
            Ok(_) => Done::Nothing,
            Err(error) => {
                tracing::warn!(%error, "the client would not give its settings");
                Done::Nothing
            }
        });
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Ready => {}
            Command::Follow(feed, since) => self.cursors.follow(feed, since),
            Command::Unfollow(session) => self.cursors.unfollow(&session),
            Command::FollowTerminal(session, terminal, spool, since) => {
                self.cursors.follow_terminal(session, terminal, spool, since);
            }
            Command::AcknowledgeTerminal(session, terminal, offset) => {
                self.cursors.acknowledge(session, terminal, offset);
            }
            Command::UnfollowTerminal(session, terminal) => self.cursors.unfollow_terminal(session, terminal),
            Command::Say(severity, text) => self.say(severity, text).await,
            Command::Ask(method, params, deadline, reply) => {
                let answer = call(&self.parts.client, method, params);
                self.waiting.push(
                    async move {
                        // The asker may have given up.
                        let _ = tokio::time::timeout(deadline, async { reply.send(answer.await) }).await;
                        Done::Nothing
                    }
                    .boxed(),
                );
            }
            Command::Nudge => self.notify("$/azimuth/waiting", json!({})).await,
            Command::Hints => self.show_hints().await,
            Command::PullSettings => self.pull_settings(),
            Command::Reload => settings::reload(&self.parts.settings, &self.connection, self.outbox.speaker()),
            Command::Tell(method, params) if self.outbox.speaks.load(Ordering::Relaxed) => {
                self.notify(method, params).await;
            }
            Command::Tell(..) => {}
            Command::Suggests(status) => self.suggests(status).await,
            Command::EditChanged(params) => self.edit_changed(params).await,
            Command::EditAnswered(asked, result) => self.edit_answered(&asked, result).await,
            Command::PutPrompt(params) => self.notify(methods::PromptPut::METHOD, params).await,
        }
    }

    async fn done(&mut self, done: Done) {
        match done {
            Done::Nothing => {}
            Done::Created(token) => {
                if let Some(Step::Report(value)) = self.progress.created(&token) {
                    self.notify("$/progress", value).await;
                }
            }
            Done::Answered(params) => self.connection.tell::<methods::PermissionAnswer>(params),
            Done::Settings(Value::Null) => {}
            Done::Settings(settings) => {
                self.parts.settings.take_settings(SECTION, settings);
                settings::reload(&self.parts.settings, &self.connection, self.outbox.speaker());
            }
        }
    }

    async fn say(&mut self, severity: Severity, text: String) {
        let params = json!({ "type": convert::message_type(severity), "message": text });
        self.notify("window/showMessage", params).await;
    }

    async fn item(&mut self, item: Item) {
        match item {
            Item::Event(session_id, event) => {
                self.act_on(&session_id, &event.event).await;
                if let Some(chats) = &self.chats {
                    chats.event(&session_id, &event);
                }
                if self.outbox.speaks.load(Ordering::Relaxed) {
                    let params = EventParams { session_id, event: SequencedEvent::clone(&event) };
                    self.notify(methods::EventNotification::METHOD, params).await;
                }
            }
            Item::Output(session_id, terminal_id, offset, bytes) => {
                let data = BASE64_STANDARD.encode(bytes);
                let params = TerminalOutputParams { session_id, terminal_id, offset, data };
                self.notify(methods::TerminalOutput::METHOD, params).await;
            }
        }
    }

    /// LSP's own messages for an event.
    async fn act_on(&mut self, session: &SessionId, event: &Event) {
        if self.parts.abilities.progress {
            match self.progress.event(session, event) {
                Some(Step::Create(params)) => {
                    let token = params.get("token").cloned().unwrap_or_default();
                    self.request("window/workDoneProgress/create", params, |result| match result {
                        Ok(_) => Done::Created(token),
                        Err(_) => Done::Nothing,
                    });
                }
                Some(Step::Report(value)) => self.notify("$/progress", value).await,
                None => {}
            }
        }
        if !self.parts.abilities.azimuth.panel
            && let Some((severity, text)) = self.outcomes.event(session, event)
        {
            self.say(severity, text).await;
        }
        match event {
            Event::PermissionAsked { request, .. } => self.asked(session, request).await,
            Event::PermissionAnswered { permission_id, .. } => drop(self.questions.remove(permission_id)),
            _ => {}
        }
    }

    /// Puts a question to a user without a panel. One that an open chat document asks is no message box too: in many
    /// editors such a box takes the keys while the user types, and a line break would answer it with the first option.
    async fn asked(&mut self, session: &SessionId, request: &PermissionRequest) {
        if self.parts.abilities.azimuth.panel {
            return;
        }
        if let Some(chat) = self.chats.as_ref().and_then(|chats| chats.open_one(session)) {
            let words = format!("{} Answer with a code action in {chat}.", request.title);
            self.say(Severity::Info, words).await;
        } else if self.parts.abilities.message_requests {
            self.question(session, request);
        }
    }

    /// Asks the user by a message box. It has no deadline but the question's own end.
    fn question(&mut self, session: &SessionId, request: &PermissionRequest) {
        let (ended, mut end) = oneshot::channel();
        self.questions.insert(request.permission_id.clone(), ended);
        let mut boxes = Boxes::new(session.clone(), request.clone());
        let client = self.parts.client.clone();
        let answer = async move {
            loop {
                let chosen = tokio::select! {
                    chosen = call(&client, "window/showMessageRequest", boxes.params()) => chosen.ok(),
                    _ = &mut end => return Done::Nothing,
                };
                match boxes.take(chosen.as_ref()) {
                    Next::Box => {}
                    Next::Answer(params) => return Done::Answered(params),
                    Next::Nothing => return Done::Nothing,
                }
            }
        };
        self.waiting.push(answer.boxed());
    }

    /// Sends a request, and has `then` make something of its answer, within the deadline.
    fn request(
        &mut self,
        method: &'static str,
        params: Value,
        then: impl FnOnce(jsonrpc::Result<Value>) -> Done + Send + 'static,
    ) {
        let answer = call(&self.parts.client, method, params);
        let done = async move {
            match tokio::time::timeout(DEADLINE, answer).await {
                Ok(result) => then(result),
                Err(_) => {
                    tracing::warn!(method, "the client did not answer in time");
                    Done::Nothing
                }
            }
        };
        self.waiting.push(done.boxed());
    }

    /// Sends a notification. Waits only for the framework to take it, which the pump does at once.
    async fn notify(&mut self, method: &'static str, params: impl Serialize) {
        let request = jsonrpc::Request::build(method).params(json!(params)).finish();
        // After the end there is nobody to tell.
        let _ = self.parts.client.clone().call(request).await;
    }
}

/// Sends a request when polled first, and waits for its answer.
fn call(client: &Client, method: &'static str, params: Value) -> BoxFuture<'static, jsonrpc::Result<Value>> {
    let request = jsonrpc::Request::build(method).id(client.next_request_id());
    let request = if params.is_null() { request } else { request.params(params) };
    let answer = client.clone().call(request.finish());
    async move {
        match answer.await {
            Ok(Some(response)) => response.into_parts().1,
            Ok(None) | Err(_) => Err(jsonrpc::Error::internal_error()),
        }
    }
    .boxed()
}
