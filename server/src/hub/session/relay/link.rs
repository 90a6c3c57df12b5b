//! A client's connection to the host of a session: there it is a client like any other, with a panel. It speaks LSP, as
//! editors do, over a Unix socket.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::editor::{ClientCapabilities, EditorDocumentParams, EditorSaveResult, EditorTextResult};
use protocol::methods::{self, Notification as _, Request as _};
use protocol::terminal::TerminalOutputParams;
use protocol::{ErrorCode, Range, SessionId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use workspace::buffers::Buffers;
use workspace::paths;
use workspace::review::LineEdit;
use workspace::shell::Spool;

use super::Ended;
use super::mirror::{Mirror, Notification};
use crate::hub::{DocumentEdit, Editor, Error, Feed};
use crate::sockets::Sockets;

/// How long the host has to answer what is no matter of a human, a model or a disk.
const PROMPTLY: Duration = Duration::from_secs(5);
/// The longest message, as the host itself has it.
const MAX_BODY: usize = 256 * 1024 * 1024;
/// This program's version. Processes of different versions do not attach to each other.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A client's connection to the host. Dropping it closes it.
pub(super) struct Link {
    writer: Writer,
    waiting: Waiting,
    last_id: u64,
    buffers: Arc<Buffers>,
    mirror: Mirror,
    _tasks: JoinSet<()>,
}

/// Who hears what the host says.
pub(super) struct Ears {
    pub(super) session: SessionId,
    pub(super) editor: Arc<dyn Editor>,
    /// Told how far the log reaches.
    pub(super) feed: Feed,
    /// Given what the terminal prints.
    pub(super) spool: Arc<Spool>,
    /// Told all else.
    pub(super) news: Box<dyn Fn(Heard) + Send + Sync>,
}

/// What the host says of the session by itself.
pub(super) enum Heard {
    /// A turn began, or ended, with this event.
    Turn(bool, u64),
    /// Something else is pending now.
    Reviews,
    /// The connection is over.
    Closed,
}

type Writer = mpsc::UnboundedSender<Vec<u8>>;
type Result<T> = std::result::Result<T, Error>;
/// Requests without an answer; none once the connection is over.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Result<Box<RawValue>>>>>>>;

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
        buffers: Arc<Buffers>,
    ) -> std::result::Result<Self, Ended> {
        let stream = sockets.connect(process).await.map_err(|error| {
            tracing::debug!(process, %error, "the holder of a session cannot be reached");
            Ended::Unreachable
        })?;
        let (input, output) = stream.into_split();
        let (writer, messages) = mpsc::unbounded_channel();
        let waiting = Waiting::new(Mutex::new(Some(HashMap::new())));
        let mut tasks = JoinSet::new();
        tasks.spawn(write(output, messages));
        tasks.spawn(read(input, ears, writer.clone(), Arc::clone(&waiting)));
        let mut link = Self { writer, waiting, last_id: 0, buffers, mirror: Mirror::default(), _tasks: tasks };
        let capabilities = json!({
            "general": { "positionEncodings": ["utf-8"] },
            "workspace": { "applyEdit": true },
            "experimental": { "azimuth": ClientCapabilities { panel: true, save: true, text: true } },
        });
        let params = json!({ "processId": null, "capabilities": capabilities,
            "clientInfo": { "name": "azimuth", "version": VERSION } });
        let answer = link.ask_in_time("initialize", params).await.ok_or(Ended::Unreachable)?;
        let answer: Value = serde_json::from_str(answer.get()).unwrap_or_default();
        let version = answer.pointer("/serverInfo/version").and_then(Value::as_str).unwrap_or("unknown");
        if version != VERSION {
            let text = format!("that one is Azimuth {version} while this is {VERSION}; close it there, or update both");
            return Err(Ended::Foreign(text));
        }
        link.notify(("initialized", json!({})));
        let documents = link.mirror.all(&link.buffers);
        link.tell(documents);
        Ok(link)
    }

    /// Sends a request, at once, and gives its answer.
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
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        async move { answer.await.unwrap_or_else(|_| Err(gone())) }
    }

    /// The same for what the host answers promptly; none where it does not, or cannot.
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
    pub(super) fn text_changed(&mut self, path: &Path) {
        let news = self.mirror.changed(&self.buffers, path);
        self.tell(news);
    }

    /// Files changed on disk, or their documents were closed.
    pub(super) fn files_changed(&mut self, paths: &[PathBuf]) {
        paths.iter().for_each(|path| self.text_changed(path));
        let changed = |path: &PathBuf| json!({ "uri": paths::to_uri(path), "type": 2 });
        let changes: Vec<_> = paths.iter().map(changed).collect();
        self.notify(("workspace/didChangeWatchedFiles", json!({ "changes": changes })));
    }

    fn tell(&self, notifications: Vec<Notification>) {
        notifications.into_iter().for_each(|notification| self.notify(notification));
    }

    fn notify(&self, (method, params): Notification) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&self, message: &Value) {
        send(&self.writer, message);
    }
}

fn send(writer: &Writer, message: &Value) {
    let body = message.to_string();
    // Without the task the connection is over.
    let _ = writer.send(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes());
}

async fn write(mut output: OwnedWriteHalf, mut messages: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = messages.recv().await {
        if output.write_all(&message).await.is_err() {
            return;
        }
    }
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
    let mut input = BufReader::new(input);
    // What the editor is asked takes its time; it ends with the connection.
    let mut asked = JoinSet::new();
    loop {
        let body = match frame(&mut input).await {
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
                    send(&writer, &message);
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

/// The body of the next message; none at the end.
async fn frame(input: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Vec<u8>>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        match line.trim_end() {
            "" => break,
            line => {
                let value = line.strip_prefix("Content-Length:");
                length = value.and_then(|value| value.trim().parse().ok()).or(length);
            }
        }
    }
    let length = length.filter(|length| *length <= MAX_BODY).ok_or(io::ErrorKind::InvalidData)?;
    let mut body = vec![0; length];
    input.read_exact(&mut body).await?;
    Ok(Some(body))
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
                    && let Ok(bytes) = BASE64_STANDARD.decode(&output.data)
                {
                    self.spool.mirror(output.offset, &bytes);
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
    let failed = |error: crate::hub::EditorError| Error::new(ErrorCode::OperationFailed, error.to_string());
    match method {
        "workspace/applyEdit" => {
            let edit = typed::<ApplyEdit>(params).and_then(ApplyEdit::into_edit).ok_or_else(unfit)?;
            Ok(match editor.apply(edit).await {
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
        _ => Err(Error::new(ErrorCode::MethodNotFound, format!("there is no method `{method}`"))),
    }
}

/// `workspace/applyEdit` as the host sends it: whole lines of one document.
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
#[serde(rename_all = "camelCase")]
struct DocumentChange {
    text_document: Versioned,
    edits: Vec<TextEdit>,
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
    fn into_edit(self) -> Option<DocumentEdit> {
        let [change] = <[DocumentChange; 1]>::try_from(self.edit.document_changes).ok()?;
        let line = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
        let edits = change.edits.into_iter().map(|edit| LineEdit {
            start_line: line(edit.range.start.line),
            end_line: line(edit.range.end.line),
            new_text: edit.new_text,
        });
        Some(DocumentEdit {
            uri: change.text_document.uri.into(),
            version: change.text_document.version,
            label: self.label,
            edits: edits.collect(),
        })
    }
}

fn typed<T: DeserializeOwned>(params: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(params?.get()).ok()
}
