//! A client's connection to the host of a session: there it is a client like any other, with a panel. It speaks LSP, as
//! editors do, over a Unix socket.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use lang::framing::{self, Step};
use project::buffers::Buffers;
use project::paths;
use project::review::LineEdit;
use protocol::editor::{
    ClientCapabilities, EditorDocumentParams, EditorFormatParams, EditorFormatResult, EditorSaveResult,
    EditorTextResult,
};
use protocol::lang::{EditorQueryParams, LangResult, LangStatus};
use protocol::methods::{self, Notification as _, Request as _};
use protocol::terminal::TerminalOutputParams;
use protocol::{ErrorCode, Range, SessionId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::Ended;
use super::mirror::Mirror;
use crate::session::Caller;
use crate::session::terminals::Spools;
use crate::sockets::Sockets;
use crate::{DocumentEdit, Editor, EditorError, Error, Feed};

/// The time that the host has to answer what is no matter of a human, a model or a disk.
const PROMPTLY: Duration = Duration::from_secs(5);
/// The time that it has for anything else: longer than it waits itself, ten seconds for a configuration and five for a
/// list of models.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of bytes that are read at once, at least.
const CHUNK: usize = 16 * 1024;
/// This program's version. Processes of different versions do not attach to each other.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A client's connection to the host. Dropping it closes it.
pub(super) struct Link {
    process: u32,
    writer: Writer,
    waiting: Waiting,
    last_id: u64,
    _tasks: JoinSet<()>,
}

/// The way out. What waits in it is little, however long the host does not read: of documents only their names, since a
/// text is taken when its turn comes.
#[derive(Clone)]
struct Writer {
    queue: mpsc::UnboundedSender<Out>,
    changed: Changed,
}

enum Out {
    Message(Vec<u8>),
    /// All that changed until this is written.
    Changes,
}

/// The files whose documents changed since the host was told, and whether they changed on disk too.
type Changed = Arc<Mutex<BTreeMap<PathBuf, bool>>>;

/// Who hears what the host says.
pub(super) struct Ears {
    pub(super) session: SessionId,
    pub(super) editor: Arc<dyn Editor>,
    /// Told how far the log reaches.
    pub(super) feed: Feed,
    /// Given what terminals print, those that are open here.
    pub(super) spools: Spools,
    /// Told all else.
    pub(super) news: Box<dyn Fn(Heard) + Send + Sync>,
}

/// The host's own news of the session.
pub(super) enum Heard {
    /// A turn began, or ended, with this event.
    Turn(bool, u64),
    /// Something else is pending now.
    Reviews,
    /// The connection is over.
    Closed,
}

type Result<T> = std::result::Result<T, Error>;
/// Requests without an answer; none once the connection is over.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Result<Box<RawValue>>>>>>>;

/// The error of a request that its host does not answer in time.
fn silent(process: u32) -> Error {
    let text = format!(
        "the window that runs this session (process {process}) has not answered for {} seconds: it may be stopped, or very \
         busy. What was asked may still be done once it goes on. See to that window, or end its process and try again",
        PATIENCE.as_secs()
    );
    Error::new(ErrorCode::OperationFailed, text)
}

/// The error of a request that its host does not answer any more.
pub(super) fn gone() -> Error {
    Error::new(ErrorCode::OperationFailed, "the window that ran this session ended before it answered; try again")
}

impl Link {
    /// Connects to a process, and tells it of all documents.
    pub(super) async fn connect(
        sockets: &Sockets,
        process: u32,
        ears: Ears,
        caller: &Caller,
    ) -> std::result::Result<Self, Ended> {
        let buffers = Arc::clone(&caller.buffers);
        let stream = sockets.connect(process).await.map_err(|error| {
            tracing::debug!(process, %error, "the holder of a session cannot be reached");
            Ended::Unreachable
        })?;
        let (input, output) = stream.into_split();
        let (queue, messages) = mpsc::unbounded_channel();
        let writer = Writer { queue, changed: Changed::default() };
        let waiting = Waiting::new(Mutex::new(Some(HashMap::new())));
        let operations: &[&str] = if ears.editor.deletes() { &["delete"] } else { &[] };
        let mut tasks = JoinSet::new();
        tasks.spawn(write(output, messages, Arc::clone(&writer.changed), Arc::clone(&buffers)));
        tasks.spawn(read(input, ears, writer.clone(), Arc::clone(&waiting)));
        let mut link = Self { process, writer, waiting, last_id: 0, _tasks: tasks };
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-8"] },
            "workspace": {
                "applyEdit": true,
                "workspaceEdit": { "documentChanges": true, "resourceOperations": operations },
            },
            "experimental": { "azimuth": ClientCapabilities { panel: true, save: true, text: true, format: true, query: true } },
        });
        let word = caller
            .trust
            .said()
            .map(|trusted| json!({ "workspaceTrust": if trusted { "trusted" } else { "restricted" } }));
        let params = json!({ "processId": null, "capabilities": capabilities, "initializationOptions": word,
            "clientInfo": caller.name.as_ref().map(|name| json!({ "name": name })) });
        let answer = link.ask_in_time("initialize", params).await.ok_or(Ended::Unreachable)?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        let version = answer.pointer("/serverInfo/version").and_then(Value::as_str).unwrap_or("unknown");
        if version != VERSION {
            let text = format!("that one is Azimuth {version} while this is {VERSION}; close it there, or update both");
            return Err(Ended::Foreign(text));
        }
        link.writer.send(&notification("initialized", &json!({})));
        link.writer.changed(buffers.all().into_iter().map(|snapshot| snapshot.path.clone()), false);
        Ok(link)
    }

    /// Sends a request, at once, and gives its answer. The host has heard of every change of a document before it.
    pub(super) fn ask(
        &mut self,
        method: &str,
        params: Value,
    ) -> impl Future<Output = Result<Box<RawValue>>> + Send + use<> {
        let (reply, answer) = oneshot::channel();
        self.last_id += 1;
        let id = self.last_id;
        if let Some(waiting) = &mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) {
            waiting.insert(id, reply);
        }
        self.writer.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        // Whoever waits does not keep the others waiting where the connection is over.
        let (process, waiting) = (self.process, Arc::downgrade(&self.waiting));
        async move {
            if let Ok(answer) = tokio::time::timeout(PATIENCE, answer).await {
                return answer.unwrap_or_else(|_| Err(gone()));
            }
            if let Some(waiting) = waiting.upgrade()
                && let Some(waiting) = &mut *waiting.lock().unwrap_or_else(PoisonError::into_inner)
            {
                waiting.remove(&id);
            }
            Err(silent(process))
        }
    }

    /// The same for what the host answers promptly; none if it does not, or cannot.
    pub(super) async fn ask_in_time(&mut self, method: &str, params: Value) -> Option<Box<RawValue>> {
        let answer = tokio::time::timeout(PROMPTLY, self.ask(method, params)).await;
        match answer {
            Ok(Ok(answer)) => return Some(answer),
            Ok(Err(error)) => tracing::warn!(method, %error, "the holder of a session refuses"),
            Err(_) => tracing::warn!(method, "the holder of a session does not answer"),
        }
        None
    }

    /// The document of a file changed.
    pub(super) fn text_changed(&self, path: PathBuf) {
        self.writer.changed([path], false);
    }

    /// Files changed on disk, or their documents were closed.
    pub(super) fn files_changed(&self, paths: &[PathBuf]) {
        self.writer.changed(paths.iter().cloned(), true);
    }
}

impl Writer {
    fn send(&self, message: &Value) {
        self.put(Out::Message(framed(message)));
    }

    fn changed(&self, paths: impl IntoIterator<Item = PathBuf>, on_disk: bool) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let are_first = changed.is_empty();
        for path in paths {
            *changed.entry(path).or_default() |= on_disk;
        }
        if are_first && !changed.is_empty() {
            self.put(Out::Changes);
        }
    }

    fn put(&self, out: Out) {
        // Without the task the connection is over.
        let _ = self.queue.send(out);
    }
}

async fn write(
    mut output: OwnedWriteHalf,
    mut queue: mpsc::UnboundedReceiver<Out>,
    changed: Changed,
    buffers: Arc<Buffers>,
) {
    let mut mirror = Mirror::default();
    while let Some(out) = queue.recv().await {
        let written = match out {
            Out::Message(message) => output.write_all(&message).await,
            Out::Changes => {
                let changed = std::mem::take(&mut *changed.lock().unwrap_or_else(PoisonError::into_inner));
                write_changes(&mut output, &mut mirror, &buffers, changed).await
            }
        };
        if written.is_err() {
            return;
        }
    }
}

/// Tells of documents as they are by now, one at a time, and then of files.
async fn write_changes(
    output: &mut OwnedWriteHalf,
    mirror: &mut Mirror,
    buffers: &Buffers,
    changed: BTreeMap<PathBuf, bool>,
) -> io::Result<()> {
    for path in changed.keys() {
        for (method, params) in mirror.changed(buffers, path) {
            output.write_all(&framed(&notification(method, &params))).await?;
        }
    }
    let on_disk = changed.iter().filter(|(_, on_disk)| **on_disk);
    let changes: Vec<_> = on_disk.map(|(path, _)| json!({ "uri": paths::to_uri(path), "type": 2 })).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let params = json!({ "changes": changes });
    output.write_all(&framed(&notification("workspace/didChangeWatchedFiles", &params))).await
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn framed(message: &Value) -> Vec<u8> {
    let mut framed = Vec::new();
    framing::put(&mut framed, message.to_string().as_bytes());
    framed
}

/// A message of the host's.
#[derive(Deserialize)]
struct Incoming {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl From<Failure> for Error {
    fn from(Failure { code, message, data }: Failure) -> Self {
        let known = ErrorCode::ALL.iter().find(|known| known.code() == code);
        Self { code: known.copied().unwrap_or(ErrorCode::InternalError), message, data }
    }
}

async fn read(input: OwnedReadHalf, ears: Ears, writer: Writer, waiting: Waiting) {
    let mut input = Bodies { input, read: Vec::new() };
    // A question to the editor takes its time; it ends with the connection.
    let mut asked = JoinSet::new();
    loop {
        let body = match input.next().await {
            Ok(Some(body)) => body,
            Ok(None) => break,
            Err(error) => {
                tracing::info!(%error, "the connection to a session's host failed");
                break;
            }
        };
        while asked.try_join_next().is_some() {}
        let Ok(message) = serde_json::from_slice::<Incoming>(&body) else {
            tracing::warn!("the host of a session sends what is no message");
            continue;
        };
        match (message.method, message.id) {
            (Some(method), Some(id)) => {
                let (editor, writer, params) = (Arc::clone(&ears.editor), writer.clone(), message.params);
                asked.spawn(async move {
                    let message = match answer(&*editor, &method, params.as_deref()).await {
                        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                        Err(Error { code, message, .. }) => {
                            let error = json!({ "code": code.code(), "message": message });
                            json!({ "jsonrpc": "2.0", "id": id, "error": error })
                        }
                    };
                    writer.send(&message);
                });
            }
            (Some(method), None) => ears.hear(&method, message.params.as_deref()),
            (None, id) => {
                let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                let reply = id.and_then(|id| waiting.as_mut()?.remove(&id.as_u64()?));
                let answer = match message.error {
                    Some(failure) => Err(failure.into()),
                    None => Ok(message.result.unwrap_or_default()),
                };
                if let Some(reply) = reply {
                    let _ = reply.send(answer);
                }
            }
        }
    }
    // Those who wait are told by the end of their channels.
    waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
    (ears.news)(Heard::Closed);
}

/// The bodies of the messages that come.
struct Bodies {
    input: OwnedReadHalf,
    /// The bytes that were read and not returned.
    read: Vec<u8>,
}

impl Bodies {
    /// The next one; none at the end.
    async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            match framing::split(&self.read) {
                Step::Body { start, end } => {
                    let mut body: Vec<u8> = self.read.drain(..end).collect();
                    return Ok(Some(body.split_off(start)));
                }
                Step::Lost { why, .. } => return Err(io::Error::new(io::ErrorKind::InvalidData, why)),
                Step::More => {
                    self.read.reserve(CHUNK);
                    if self.input.read_buf(&mut self.read).await? == 0 {
                        return Ok(None);
                    }
                }
            }
        }
    }
}

impl Ears {
    fn hear(&self, method: &str, params: Option<&RawValue>) {
        /// As much of an event as matters here; who shows it reads it from the store.
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Happened {
            session_id: SessionId,
            seq: u64,
            event: Kind,
        }
        #[derive(Deserialize)]
        struct Kind {
            r#type: String,
        }
        #[derive(Deserialize)]
        struct Words {
            r#type: u32,
            message: String,
        }
        match method {
            methods::EventNotification::METHOD => {
                let Some(happened) = typed::<Happened>(params).filter(|it| it.session_id == self.session) else {
                    return;
                };
                self.feed.announce(happened.seq);
                match happened.event.r#type.as_str() {
                    "turnStarted" => (self.news)(Heard::Turn(true, happened.seq)),
                    "turnEnded" => (self.news)(Heard::Turn(false, happened.seq)),
                    "proposalChanged" => (self.news)(Heard::Reviews),
                    _ => {}
                }
            }
            methods::TerminalOutput::METHOD => {
                let output = typed::<TerminalOutputParams>(params).filter(|it| it.session_id == self.session);
                if let Some(output) = output
                    && let Some(spool) = self.spools.get(&output.terminal_id)
                    && let Ok(bytes) = BASE64_STANDARD.decode(&output.data)
                {
                    spool.mirror(output.offset, &bytes);
                }
            }
            "window/showMessage" => {
                // Such as that the session cannot be stored.
                if let Some(Words { r#type: 1, message }) = typed(params) {
                    self.editor.alert(&message);
                }
            }
            _ => {}
        }
    }
}

/// Asks the editor what the host wants to know or to have done.
async fn answer(editor: &dyn Editor, method: &str, params: Option<&RawValue>) -> Result<Value> {
    let unfit = || Error::new(ErrorCode::InvalidParams, format!("invalid params of {method}"));
    let failed = |error: EditorError| Error::new(ErrorCode::OperationFailed, error.to_string());
    match method {
        "workspace/applyEdit" => {
            let applied = match typed::<ApplyEdit>(params).and_then(ApplyEdit::into_wanted).ok_or_else(unfit)? {
                Wanted::Edit(edit) => editor.apply(edit).await,
                Wanted::Deletion { uri, version } => editor.delete(&uri, version).await,
            };
            Ok(match applied {
                Ok(()) => json!({ "applied": true }),
                Err(error) => json!({ "applied": false, "failureReason": error.to_string() }),
            })
        }
        methods::EditorSave::METHOD => {
            let EditorDocumentParams { uri } = typed(params).ok_or_else(unfit)?;
            Ok(json!(EditorSaveResult { saved: editor.save(&uri).await.map_err(failed)? }))
        }
        methods::EditorText::METHOD => {
            let EditorDocumentParams { uri } = typed(params).ok_or_else(unfit)?;
            Ok(json!(EditorTextResult { text: editor.text(&uri).await.map_err(failed)? }))
        }
        methods::EditorFormat::METHOD => {
            let asked: EditorFormatParams = typed(params).ok_or_else(unfit)?;
            Ok(json!(match editor.format(asked).await {
                // The host cannot know what this client's editor can do.
                Err(EditorError::Unsupported) => EditorFormatResult { text: None, by: None },
                answer => answer.map_err(failed)?,
            }))
        }
        methods::EditorQuery::METHOD => {
            let asked: EditorQueryParams = typed(params).ok_or_else(unfit)?;
            Ok(json!(match editor.query(asked).await {
                // The host cannot know what this client's editor can do.
                Err(EditorError::Unsupported) => LangResult::without_answer(LangStatus::NoServer, None),
                answer => answer.map_err(failed)?,
            }))
        }
        _ => Err(Error::new(ErrorCode::MethodNotFound, format!("there is no method `{method}`"))),
    }
}

/// The change that `workspace/applyEdit` of the host's asks for.
enum Wanted {
    Edit(DocumentEdit),
    Deletion { uri: String, version: i32 },
}

/// `workspace/applyEdit` as the host sends it: whole lines of one document, or none of them and the deletion of its
/// file.
#[derive(Deserialize)]
struct ApplyEdit {
    #[serde(default)]
    label: String,
    edit: WorkspaceEdit,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WorkspaceEdit {
    document_changes: Vec<DocumentChange>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DocumentChange {
    #[serde(rename_all = "camelCase")]
    Edit {
        text_document: Versioned,
        edits: Vec<TextEdit>,
    },
    Operation {
        kind: String,
        uri: String,
    },
}

#[derive(Deserialize)]
struct Versioned {
    uri: String,
    version: i32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextEdit {
    range: Range,
    new_text: String,
}

impl ApplyEdit {
    fn into_wanted(self) -> Option<Wanted> {
        let mut changes = self.edit.document_changes.into_iter();
        let Some(DocumentChange::Edit { text_document, edits }) = changes.next() else { return None };
        let Versioned { uri, version } = text_document;
        match (changes.next(), changes.next()) {
            (None, _) => {}
            // A deletion has no version of its own: the document next to it is checked, so it has to be that one's.
            (Some(DocumentChange::Operation { kind, uri: deleted }), None)
                if kind == "delete" && deleted == uri && edits.is_empty() =>
            {
                return Some(Wanted::Deletion { uri, version });
            }
            _ => return None,
        }
        let line = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
        let edits = edits.into_iter().map(|edit| LineEdit {
            start_line: line(edit.range.start.line),
            end_line: line(edit.range.end.line),
            new_text: edit.new_text,
        });
        Some(Wanted::Edit(DocumentEdit { uri: uri.into(), version, label: self.label, edits: edits.collect() }))
    }
}

fn typed<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}

#[cfg(test)]
mod tests;
