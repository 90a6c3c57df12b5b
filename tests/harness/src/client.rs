//! A scripted editor: it speaks JSON-RPC over the server's pipe by itself, answers the server's requests, and keeps
//! what the server said until the test looks at it. What nobody looked at fails the test when the client is dropped.

mod documents;
mod events;
mod wire;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::methods::{Notification as _, Request as _, ServersChanged, SessionOpen};
use protocol::{SequencedEvent, SessionId, TerminalId};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;

pub use self::documents::{Documents, Encoding, Timing};
pub use self::wire::Paused;
use crate::project;
use crate::server::{Server, Setup};
use crate::{Project, patiently};

/// A description of a client.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its capabilities.
    pub capabilities: Value,
    /// Its `initializationOptions`.
    pub options: Value,
    /// The trust in its workspace that it states as it starts, if any: `trusted` or `restricted`. If its options state
    /// it too, they count more.
    pub trust: Option<&'static str>,
    /// When it sends the change that an edit of the server's makes.
    pub timing: Timing,
}

impl Profile {
    /// An editor with our plugin, like VS Code.
    pub fn panel() -> Self {
        let azimuth = json!({ "panel": true, "save": true, "text": true });
        Self {
            capabilities: json!({
                "general": { "positionEncodings": ["utf-16"] },
                "workspace": {
                    "applyEdit": true,
                    "workspaceEdit": { "documentChanges": true, "resourceOperations": ["delete"] },
                },
                "textDocument": { "codeAction": { "codeActionLiteralSupport": {} } },
                "experimental": { "azimuth": azimuth },
            }),
            options: Value::Null,
            trust: Some("trusted"),
            timing: Timing::BeforeAnswer,
        }
    }

    /// An editor without it, that knows what LSP has.
    pub fn plain() -> Self {
        let mut profile = Self::panel();
        profile.capabilities["experimental"] = Value::Null;
        profile
    }

    /// The same, of an editor that says nothing of the trust in its workspace.
    #[must_use]
    pub fn that_trusts_nothing(self) -> Self {
        Self { trust: None, ..self }
    }

    /// The same with another capability, by its JSON pointer.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let mut place = &mut self.capabilities;
        for name in pointer.split('/').skip(1) {
            if !place.is_object() {
                *place = json!({});
            }
            place = &mut place[name];
        }
        *place = value;
        self
    }
}

/// An error that the server answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct RpcError {
    /// Its code.
    pub code: i64,
    /// Its words.
    pub message: String,
    /// Its further data.
    pub data: Value,
}

/// A client, connected to a server.
pub struct Client {
    shared: Arc<Shared>,
    /// The answer to `initialize`.
    pub server: Value,
    ended: Option<tokio::task::JoinHandle<u8>>,
    tasks: JoinSet<()>,
    finished: bool,
    given_up: bool,
}

/// A request of the server's that the test answers.
pub struct Held<'c> {
    client: &'c Client,
    id: Value,
    /// Its parameters.
    pub params: Value,
}

impl Held<'_> {
    /// Answers it.
    pub fn answer(self, result: Value) {
        self.client.send(&json!({ "jsonrpc": "2.0", "id": self.id, "result": result }));
    }
}

struct Shared {
    state: Mutex<State>,
    /// Something came.
    news: Notify,
    /// Reading goes on.
    resumed: Notify,
    out: mpsc::UnboundedSender<wire::Out>,
}

type Handler = Box<dyn FnMut(&Value) -> Result<Value, String> + Send>;

#[derive(Default)]
struct State {
    next_id: i64,
    waiting: HashMap<i64, oneshot::Sender<Result<Value, RpcError>>>,
    handlers: HashMap<String, Handler>,
    /// The methods whose requests the test answers, and those of them that it has not looked at.
    held: Vec<String>,
    asked: VecDeque<(String, Value, Value)>,
    documents: Documents,
    events: HashMap<SessionId, VecDeque<SequencedEvent>>,
    /// The number of the last event of each session.
    last: HashMap<SessionId, u64>,
    /// The sessions that were opened again: the answer may hold events that did not come by themselves before.
    reopened: HashSet<SessionId>,
    terminals: HashMap<TerminalId, events::Terminal>,
    notifications: VecDeque<(String, Value)>,
    waived: Vec<String>,
    /// Answers to nothing that was asked, such as those to messages that could not be read.
    stray: VecDeque<RpcError>,
    wrong: Vec<String>,
    closed: bool,
    /// Nothing is read.
    paused: bool,
}

impl Client {
    /// Connects to a server of its own, without a word.
    pub fn connect(setup: &Setup) -> Self {
        let Server { pipe, ended } = Server::start(setup);
        let (input, output) = tokio::io::split(pipe);
        let mut client = Self::over(input, output);
        client.ended = Some(ended);
        client
    }

    /// Connects over any reader and writer, without a word.
    pub fn over<R, W>(input: R, output: W) -> Self
    where
        R: AsyncRead + Unpin + Send + 'static,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (out, outbox) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared { state: Mutex::default(), news: Notify::new(), resumed: Notify::new(), out });
        let mut tasks = JoinSet::new();
        tasks.spawn(wire::write(output, outbox));
        tasks.spawn(wire::read(input, Arc::clone(&shared)));
        Self { shared, server: Value::Null, ended: None, tasks, finished: false, given_up: false }
    }

    /// Connects and initializes in a project.
    pub async fn start(setup: &Setup, project: &Project, profile: Profile) -> Self {
        let mut client = Self::connect(setup);
        client.initialize(Some(project.folder()), profile, json!({ "processId": null })).await;
        client
    }

    /// Says `initialize` and `initialized`. `more` is added to the parameters.
    pub async fn initialize(&mut self, folder: Option<&Path>, profile: Profile, more: Value) {
        if profile.capabilities["experimental"].is_null() {
            // One without a panel that waits long is sent a word that says nothing.
            self.waive("$/azimuth/waiting");
        }
        let folders: Vec<_> =
            folder.iter().map(|folder| json!({ "uri": project::uri(folder), "name": "project" })).collect();
        let mut params = json!({
            "capabilities": profile.capabilities,
            "workspaceFolders": folders,
            "clientInfo": { "name": "harness" },
        });
        if !profile.options.is_null() {
            params["initializationOptions"] = profile.options;
        }
        let says = |options: &Value| options.is_null() || options.is_object() && options["workspaceTrust"].is_null();
        if let Some(trust) = profile.trust.filter(|_| says(&params["initializationOptions"])) {
            params["initializationOptions"]["workspaceTrust"] = trust.into();
        }
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.server = self.request("initialize", params).await.unwrap();
        let encoding = self.server["capabilities"]["positionEncoding"].as_str().unwrap_or("utf-16").to_owned();
        {
            let mut state = self.state();
            state.documents.encoding = Encoding::named(&encoding);
            state.documents.timing = profile.timing;
        }
        self.notify("initialized", json!({}));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Sends a request, at once, and gives its answer.
    pub fn request(&self, method: &str, params: Value) -> impl Future<Output = Result<Value, RpcError>> + Send + use<> {
        self.request_with_id(method, params).1
    }

    /// The same, with the id that it got.
    pub fn request_with_id(
        &self,
        method: &str,
        params: Value,
    ) -> (i64, impl Future<Output = Result<Value, RpcError>> + Send + use<>) {
        let (reply, answer) = oneshot::channel();
        let id = {
            let mut state = self.state();
            state.next_id += 1;
            let id = state.next_id;
            state.waiting.insert(id, reply);
            if method == SessionOpen::METHOD
                && let Some(session) = params["sessionId"].as_str().map(SessionId::from)
                && state.last.contains_key(&session)
            {
                state.reopened.insert(session);
            }
            id
        };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let method = method.to_owned();
        let answer = async move {
            let answer = patiently(&format!("the answer to {method}"), answer).await;
            answer.unwrap_or_else(|_| panic!("the server closed the connection before it answered {method}"))
        };
        (id, answer)
    }

    /// Sends one of our own requests and reads its result.
    pub async fn call<M: protocol::methods::Request>(&self, params: Value) -> M::Result {
        let result = self.request(M::METHOD, params).await;
        let result = result.unwrap_or_else(|error| panic!("{}: {error:?}", M::METHOD));
        serde_json::from_value(result).unwrap()
    }

    /// Sends bytes as they are.
    pub fn send_raw(&self, bytes: impl Into<Vec<u8>>) {
        let _ = self.shared.out.send(wire::Out::Bytes(bytes.into()));
    }

    /// Closes the way to the server, as an editor does that is gone.
    pub fn hang_up(&self) {
        let _ = self.shared.out.send(wire::Out::Close);
    }

    /// Stops to read what the server says, until it is resumed.
    pub fn pause_reading(&self) -> Paused {
        Paused::new(&self.shared)
    }

    /// Answers a request of the server's from now on.
    pub fn on_request(&self, method: &str, handler: impl FnMut(&Value) -> Result<Value, String> + Send + 'static) {
        self.state().handlers.insert(method.into(), Box::new(handler));
    }

    /// Does not answer the server's requests of a method from now on; the test does it ([`Client::asked`]).
    pub fn hold(&self, method: &str) {
        self.state().held.push(method.into());
    }

    /// The next request of a method that is held.
    pub async fn asked(&self, method: &str) -> Held<'_> {
        let look = |state: &mut State| {
            let at = state.asked.iter().position(|(other, ..)| other == method)?;
            state.asked.remove(at)
        };
        let (_, id, params) = self.wait_for(|| format!("the request {method}"), look).await;
        Held { client: self, id, params }
    }

    /// Formats documents from now on: given a text and the lines to format, from 0 and their ends exclusive, of which
    /// none mean all, the formatter says what the text would be.
    pub fn on_format(&self, formatter: impl FnMut(&str, &[(usize, usize)]) -> Option<String> + Send + 'static) {
        self.state().documents.formatter = Some(Box::new(formatter));
    }

    /// Does not care for notifications of a method that nobody looked at.
    pub fn waive(&self, method: &str) {
        let mut state = self.state();
        state.waived.push(method.into());
        state.notifications.retain(|(other, _)| other != method);
    }

    /// Does not care for anything any more: the server is killed, maybe in the middle of a word.
    pub(crate) fn give_up(mut self) {
        self.given_up = true;
    }

    /// The next notification of a method, but for those of [`Client::until`] and [`Client::terminal_until`].
    pub async fn notification<T: DeserializeOwned>(&self, method: &str) -> T {
        let params = self
            .wait_for(
                || format!("the notification {method}"),
                |state| {
                    let at = state.notifications.iter().position(|(other, _)| other == method)?;
                    state.notifications.remove(at).map(|(_, params)| params)
                },
            )
            .await;
        serde_json::from_value(params).unwrap()
    }

    /// The next notification of a method, if it has come already.
    pub fn taken_notification<T: DeserializeOwned>(&self, method: &str) -> Option<T> {
        let mut state = self.state();
        let at = state.notifications.iter().position(|(other, _)| other == method)?;
        state.notifications.remove(at).map(|(_, params)| serde_json::from_value(params).unwrap())
    }

    /// The next answer with the id null: what the server says to a message that it could not read.
    pub async fn stray_error(&self) -> RpcError {
        self.wait_for(|| "an error to what could not be read".into(), |state| state.stray.pop_front()).await
    }

    /// Says `shutdown` and `exit`, and gives the server's exit code.
    pub async fn finish(mut self) -> u8 {
        self.request("shutdown", Value::Null).await.unwrap();
        self.notify("exit", Value::Null);
        self.ended().await
    }

    /// Waits until the server has ended, and gives its exit code.
    pub async fn ended(&mut self) -> u8 {
        let ended = self.ended.take().expect("a server of its own");
        let code = patiently("the server's end", ended).await.unwrap();
        self.wait_for(|| "the end of what the server says".into(), |state| state.closed.then_some(())).await;
        self.finished = true;
        code
    }

    fn send(&self, message: &Value) {
        self.send_raw(wire::frame(&message.to_string()));
    }

    async fn wait_for<T>(&self, what: impl Fn() -> String, mut look: impl FnMut(&mut State) -> Option<T>) -> T {
        let found = async {
            loop {
                let news = self.shared.news.notified();
                if let Some(found) = look(&mut self.state()) {
                    return found;
                }
                news.await;
            }
        };
        match crate::in_time(found).await {
            Some(found) => found,
            None => panic!("waited in vain for {}; {}", what(), self.state().unseen().join("; ")),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.tasks.abort_all();
        if let Some(ended) = &self.ended {
            ended.abort();
        }
        if std::thread::panicking() || self.given_up {
            return;
        }
        let state = self.state();
        let unseen = state.unseen();
        assert!(state.wrong.is_empty(), "the server did wrong:\n{}", state.wrong.join("\n"));
        assert!(unseen.is_empty(), "nobody looked at what the server said:\n{}", unseen.join("\n"));
    }
}

impl State {
    /// Lists everything that the server said and nobody looked at.
    fn unseen(&self) -> Vec<String> {
        let mut unseen = Vec::new();
        let events = self.events.iter().filter(|_| !self.waived.iter().any(|method| method == "azimuth/event"));
        for (session, events) in events {
            unseen.extend(events.iter().map(|event| format!("event in {session}: {event:?}")));
        }
        // A language server becomes ready, or not, at times of its own.
        let notifications = self.notifications.iter().filter(|(method, _)| method != ServersChanged::METHOD);
        unseen.extend(notifications.map(|(method, params)| format!("{method}: {params}")));
        unseen.extend(self.asked.iter().map(|(method, _, params)| format!("{method}: {params}")));
        unseen.extend(self.stray.iter().map(|error| format!("{error:?}")));
        unseen.extend(self.wrong.iter().map(|wrong| format!("wrong: {wrong}")));
        unseen
    }

    /// Takes a message of the server's. Gives what to send.
    fn take(&mut self, message: Value) -> Vec<Value> {
        let (method, id) = (message["method"].as_str().map(str::to_owned), message.get("id").cloned());
        match (method, id) {
            (Some(method), Some(id)) => return self.answer(&method, &id, &message["params"]),
            (Some(method), None) => self.notified(method, message["params"].clone()),
            (None, id) => self.answered(&id.unwrap_or_default(), &message),
        }
        Vec::new()
    }

    fn answered(&mut self, id: &Value, message: &Value) {
        let result = match message.get("error") {
            None => Ok(message["result"].clone()),
            Some(error) => Err(RpcError {
                code: error["code"].as_i64().unwrap_or_default(),
                message: error["message"].as_str().unwrap_or_default().into(),
                data: error.get("data").cloned().unwrap_or_default(),
            }),
        };
        match (id.as_i64().and_then(|id| self.waiting.remove(&id)), result) {
            (Some(reply), result) => drop(reply.send(result)),
            (None, Err(error)) if id.is_null() => self.stray.push_back(error),
            (None, result) => self.wrong.push(format!("an answer to nothing: {id} {result:?}")),
        }
    }

    /// Answers a request of the server's.
    fn answer(&mut self, method: &str, id: &Value, params: &Value) -> Vec<Value> {
        if self.held.iter().any(|held| held == method) {
            self.asked.push_back((method.into(), id.clone(), params.clone()));
            return Vec::new();
        }
        let mut before = Vec::new();
        let mut after = Vec::new();
        let result = if let Some(handler) = self.handlers.get_mut(method) {
            handler(params)
        } else {
            match method {
                "workspace/applyEdit" => {
                    let (result, changes) = self.documents.apply(params);
                    match self.documents.timing {
                        Timing::BeforeAnswer => before = changes,
                        Timing::AfterAnswer => after = changes,
                    }
                    Ok(result)
                }
                "azimuth/editor/save" => {
                    let uri = params["uri"].as_str().unwrap_or_default();
                    let (result, notes) = self.documents.save(uri);
                    self.documents.saved.push(uri.into());
                    before = notes;
                    Ok(result)
                }
                "azimuth/editor/text" => Ok(self.documents.text_result(params["uri"].as_str().unwrap_or_default())),
                "azimuth/editor/format" => Ok(self.documents.formatted(params)),
                other => {
                    self.wrong.push(format!("a request that this client did not announce: {other} {params}"));
                    Err("no such method".into())
                }
            }
        };
        before.push(match result {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(message) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": message } }),
        });
        before.extend(after);
        before
    }

    fn notified(&mut self, method: String, params: Value) {
        match method.as_str() {
            "azimuth/event" => self.take_event(params),
            "azimuth/terminal/output" => self.take_output(params),
            _ if self.waived.contains(&method) => {}
            _ => self.notifications.push_back((method, params)),
        }
    }
}
