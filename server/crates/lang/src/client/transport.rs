//! The pipes of a server, who waits for an answer, and the bounds within which a server may speak.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures_util::future::join;
use process::held::{Held, HeldId};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Start;
use super::incoming::Inside;
use super::wire::{Message, RpcError};
use crate::framing::{self, Step};

/// So much is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// The longest message that is taken, in bytes. The list of all references to a word that is everywhere in a million
/// lines is smaller.
const MAX_MESSAGE: usize = 64 << 20;
/// So many bytes that are no message are passed over, since some servers print there. With more it is no server.
const MAX_GARBAGE: usize = 64 << 10;
/// So many bytes may wait to be taken in by a server. One that lets more wait does not read.
const MAX_WAITING: usize = 64 << 20;
/// A server may say so many messages in [`WINDOW`], of so many bytes in all. Busy ones say some hundreds of progress.
const MAX_MESSAGES: usize = 20_000;
const MAX_BYTES: usize = 512 << 20;
const WINDOW: Duration = Duration::from_secs(10);
/// So much of what a server last said on its standard error is kept, in bytes, to say why it ended.
const LAST_WORDS: usize = 2 << 10;

/// Why a request has no answer.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RequestError {
    /// The server has ended, for this reason.
    #[error("{0}")]
    Ended(Arc<str>),
    /// It answered with an error.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// It answered with something else than was asked for.
    #[error("its answer cannot be read: {0}")]
    Malformed(String),
}

/// The conversation with a server's process.
pub(super) struct Transport {
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    /// How many bytes wait in `outgoing`.
    waiting: AtomicUsize,
    answers: Mutex<HashMap<i64, oneshot::Sender<Answer>>>,
    last_id: AtomicI64,
    process: Option<HeldId>,
    end: watch::Sender<End>,
    news: watch::Sender<u64>,
    last_words: Mutex<Vec<u8>>,
}

type Answer = Result<Box<RawValue>, RequestError>;

/// The way to the end of a server.
#[derive(Clone, Default)]
struct End {
    /// Why we want it to end.
    meant: Option<Arc<str>>,
    /// True if it is to be killed.
    kill: bool,
    /// Why it has ended.
    ended: Option<Arc<str>>,
    /// True if its process is gone.
    gone: bool,
}

/// An answer that is waited for. Dropped before, the request is cancelled.
pub(crate) struct Waiting {
    id: i64,
    answer: oneshot::Receiver<Answer>,
    transport: Weak<Transport>,
}

impl Transport {
    /// Starts a server's process. What it says by itself goes to `inside`.
    pub(super) fn start(
        start: Start<'_>,
        args: &[String],
        inside: Arc<Mutex<Inside>>,
    ) -> Result<Arc<Self>, RequestError> {
        let Start { program, root, confinement, path, pass } = start;
        let started = Held::start(confinement, program, args, root, path, pass);
        let (held, pipes) = started
            .map_err(|error| RequestError::Ended(format!("{} cannot be started: {error}", program.display()).into()))?;
        let (outgoing, queue) = mpsc::unbounded_channel();
        let transport = Arc::new(Self {
            outgoing,
            waiting: AtomicUsize::new(0),
            answers: Mutex::default(),
            last_id: AtomicI64::new(0),
            process: held.id(),
            end: watch::Sender::default(),
            news: watch::Sender::default(),
            last_words: Mutex::default(),
        });
        let listener = tokio::spawn(listen(transport.clone(), pipes.stderr));
        tokio::spawn(write(Arc::downgrade(&transport), queue, pipes.stdin));
        let reader = tokio::spawn(read(transport.clone(), pipes.stdout, inside));
        tokio::spawn(watch_over(transport.clone(), held, reader, listener));
        Ok(transport)
    }

    /// Queues a request, at once. The answer is waited for apart.
    pub(super) fn request(self: &Arc<Self>, method: &str, params: &impl Serialize) -> Result<Waiting, RequestError> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, answer) = oneshot::channel();
        self.answers().insert(id, sender);
        let waiting = Waiting { id, answer, transport: Arc::downgrade(self) };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": to_value(params) }))?;
        Ok(waiting)
    }

    /// Queues a notification, at once.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) -> Result<(), RequestError> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": to_value(params) }))
    }

    /// Queues a message, at once.
    pub(super) fn send(&self, message: &serde_json::Value) -> Result<(), RequestError> {
        if let Some(why) = self.ended_why() {
            return Err(RequestError::Ended(why));
        }
        let mut bytes = Vec::new();
        framing::put(&mut bytes, message.to_string().as_bytes());
        let waiting = self.waiting.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if waiting > MAX_WAITING {
            self.end("it does not read what it is sent");
        }
        match self.outgoing.send(bytes) {
            Ok(()) if waiting <= MAX_WAITING => Ok(()),
            _ => Err(RequestError::Ended(self.ended_why().unwrap_or_else(|| "it has ended".into()))),
        }
    }

    pub(super) fn process(&self) -> Option<HeldId> {
        self.process.filter(|_| !self.end.borrow().gone)
    }

    pub(super) fn ended_why(&self) -> Option<Arc<str>> {
        self.end.borrow().ended.clone()
    }

    /// Changes whenever the server said something by itself, and when it ends.
    pub(super) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Says why its end, when it comes, was meant.
    pub(super) fn means_to_end(&self, why: &str) {
        self.end.send_modify(|end| end.meant = end.meant.take().or_else(|| Some(why.into())));
    }

    /// Ends the server with all that it started. Whoever waits for it hears why.
    pub(super) fn end(&self, why: &str) {
        self.means_to_end(why);
        self.end.send_modify(|end| {
            end.kill = true;
            end.ended = end.ended.take().or_else(|| end.meant.clone());
        });
        self.answer_all();
    }

    /// Waits until the process is gone.
    pub(super) async fn ended(&self) {
        let _ = self.end.subscribe().wait_for(|end| end.gone).await;
    }

    pub(super) fn announce(&self) {
        self.news.send_modify(|news| *news = news.wrapping_add(1));
    }

    fn answer_all(&self) {
        let why = self.ended_why().unwrap_or_else(|| "it has ended".into());
        for (_, answer) in self.answers().drain() {
            let _ = answer.send(Err(RequestError::Ended(why.clone())));
        }
        self.announce();
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Answer>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn last_words(&self) -> MutexGuard<'_, Vec<u8>> {
        self.last_words.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// The answer.
    pub(crate) async fn answer(mut self) -> Answer {
        match (&mut self.answer).await {
            Ok(answer) => answer,
            Err(_) => Err(RequestError::Ended("it has ended".into())),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(transport) = self.transport.upgrade() else { return };
        // A question that was answered is not there any more.
        let is_open = transport.answers().remove(&self.id).is_some();
        if is_open {
            let _ = transport.notify("$/cancelRequest", &json!({ "id": self.id }));
        }
    }
}

fn to_value(params: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(params).unwrap_or_default()
}

/// Writes what is queued.
async fn write(transport: Weak<Transport>, mut queue: mpsc::UnboundedReceiver<Vec<u8>>, mut stdin: ChildStdin) {
    while let Some(bytes) = queue.recv().await {
        let written = async {
            stdin.write_all(&bytes).await?;
            stdin.flush().await
        };
        if written.await.is_err() {
            // Its end is noticed elsewhere, with the reason.
            return;
        }
        let Some(transport) = transport.upgrade() else { return };
        transport.waiting.fetch_sub(bytes.len(), Ordering::Relaxed);
    }
}

/// Keeps what it last said on its standard error.
async fn listen(transport: Arc<Transport>, mut stderr: ChildStderr) {
    let mut piece = vec![0; 4 << 10];
    while let Ok(length @ 1..) = stderr.read(&mut piece).await {
        let mut words = transport.last_words();
        words.extend_from_slice(piece.get(..length).unwrap_or_default());
        let too_many = words.len().saturating_sub(LAST_WORDS);
        words.drain(..too_many);
    }
}

/// Reads what it says, until it has no more to say or says what cannot be.
async fn read(transport: Arc<Transport>, mut stdout: ChildStdout, inside: Arc<Mutex<Inside>>) {
    if let Err(why) = read_all(&transport, &mut stdout, &inside).await {
        transport.end(&why);
    }
}

async fn read_all(
    transport: &Arc<Transport>,
    stdout: &mut (impl AsyncRead + Unpin),
    inside: &Mutex<Inside>,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    let mut garbage = 0;
    let mut pace = Pace::new();
    loop {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            match framing::split(rest) {
                Step::Body { start, end } => {
                    let body = rest.get(start..end).unwrap_or_default();
                    pace.count(body.len())?;
                    dispatch(transport, body, inside)?;
                    at += end;
                }
                Step::Lost { skip, why } => {
                    // Step by step would take long: on to where a header may begin.
                    let behind = rest.get(skip..).unwrap_or_default();
                    let most = behind.len().saturating_sub(framing::CONTENT_LENGTH.len() - 1);
                    let lost = skip + framing::find(behind, framing::CONTENT_LENGTH).unwrap_or(most);
                    garbage += lost;
                    at += lost;
                    if garbage > MAX_GARBAGE {
                        return Err(format!("it does not speak the protocol: {why}"));
                    }
                }
                Step::More => {
                    if rest.len() > MAX_MESSAGE {
                        return Err(format!("it sent a message of more than {} MiB", MAX_MESSAGE >> 20));
                    }
                    break;
                }
            }
        }
        bytes.drain(..at);
        bytes.reserve(PIECE);
        match stdout.read_buf(&mut bytes).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Ok(()),
        }
        // The room that one large message took is given back.
        if bytes.capacity() > (1 << 20) && bytes.len() < (64 << 10) {
            bytes.shrink_to(64 << 10);
        }
    }
}

/// How much a server says.
struct Pace {
    since: Instant,
    messages: usize,
    bytes: usize,
}

impl Pace {
    fn new() -> Self {
        Self { since: Instant::now(), messages: 0, bytes: 0 }
    }

    fn count(&mut self, bytes: usize) -> Result<(), String> {
        if self.since.elapsed() > WINDOW {
            *self = Self::new();
        }
        self.messages += 1;
        self.bytes += bytes;
        if self.messages > MAX_MESSAGES || self.bytes > MAX_BYTES {
            let (messages, mib, seconds) = (self.messages, self.bytes >> 20, WINDOW.as_secs());
            return Err(format!("it floods us: {messages} messages of {mib} MiB in less than {seconds} s"));
        }
        Ok(())
    }
}

/// Brings a message to where it belongs.
fn dispatch(transport: &Arc<Transport>, body: &[u8], inside: &Mutex<Inside>) -> Result<(), String> {
    let message: Message<'_> =
        serde_json::from_slice(body).map_err(|error| format!("it sent a message that cannot be read: {error}"))?;
    match (message.method, message.id) {
        (Some(method), Some(id)) => {
            let answer = inside.lock().unwrap_or_else(PoisonError::into_inner).asked(&method, message.params);
            let answer = match answer {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(RpcError { code, message }) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
                }
            };
            // One that has ended wants no answer.
            let _ = transport.send(&answer);
        }
        (Some(method), None) => {
            let is_news = inside.lock().unwrap_or_else(PoisonError::into_inner).told(&method, message.params);
            if is_news {
                transport.announce();
            }
        }
        (None, id) => {
            let id = id.and_then(|id| id.get().parse::<i64>().ok());
            // An answer to what nobody asked, or does not any more, is passed over.
            if let Some(waiting) = id.and_then(|id| transport.answers().remove(&id)) {
                let answer = match (message.error, message.result) {
                    (Some(error), _) => Err(error.into()),
                    (None, Some(result)) => Ok(result.to_owned()),
                    (None, None) => Ok(RawValue::NULL.to_owned()),
                };
                let _ = waiting.send(answer);
            }
        }
    }
    Ok(())
}

/// Waits for the process's end, or brings it about, and says why it came.
async fn watch_over(transport: Arc<Transport>, mut held: Held, reader: JoinHandle<()>, listener: JoinHandle<()>) {
    /// How long what it wrote before its end is read. Only a process that it left and that holds its pipes makes this
    /// wait last.
    const AFTERWORDS: Duration = Duration::from_secs(1);

    let mut end = transport.end.subscribe();
    let is_to_be_killed = async { end.wait_for(|end| end.kill).await.is_ok() };
    let by_itself = tokio::select! {
        status = held.wait() => Some(status),
        _ = is_to_be_killed => None,
    };
    let status = match by_itself {
        Some(status) => status,
        None => wait_killing(&mut held).await,
    };
    let _ = tokio::time::timeout(AFTERWORDS, join(reader, listener)).await;
    let words = String::from_utf8_lossy(&transport.last_words()).trim().to_owned();
    transport.end.send_modify(|end| {
        end.gone = true;
        let by_itself = || match status {
            Ok(status) if words.is_empty() => format!("it ended ({status})"),
            Ok(status) => format!("it ended ({status}), and said last: {words}"),
            Err(error) => format!("it cannot be waited for: {error}"),
        };
        end.ended = end.ended.take().or_else(|| end.meant.clone()).or_else(|| Some(by_itself().into()));
    });
    transport.answer_all();
}

/// Kills until it is dead: what has only just been started may be missed at first.
async fn wait_killing(held: &mut Held) -> io::Result<std::process::ExitStatus> {
    loop {
        held.kill();
        if let Ok(status) = tokio::time::timeout(Duration::from_millis(100), held.wait()).await {
            return status;
        }
    }
}
