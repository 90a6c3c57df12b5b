//! A model server: it speaks the vendors' streaming formats over HTTP, answers by a script, and checks each request.
//!
//! Its answers are said once, in neutral words ([`Answer`]), and written in the format of the request's path. The
//! requests to it are read into neutral words too ([`Asked`]), and checked: every tool call has exactly one result,
//! right after it and in order; the messages begin with those of the request before in the same session, byte for byte;
//! the key is there. A request that breaks one of these fails the test, as does one that nothing was scripted for.
//!
//! A request that a vendor refuses is refused in its words, and fails the test too (`strict`): one with fields that its
//! types do not have, with ids, names, images or an order of messages that it does not take, or with thinking or
//! signatures that are missing, changed, another model's or out of place.
//!
//! With `AZIMUTH_BODIES`, a folder, each request's body is kept there for `tests/vendors/run`.

mod amazon;
mod answer;
mod anthropic;
mod asked;
mod bodies;
mod chat;
mod converse;
mod diagnosis;
mod gemini;
mod ollama;
mod responses;
mod signed;
mod strict;
mod vertex;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

pub use self::amazon::Region;
use self::answer::Writer;
pub use self::answer::{Answer, Gate, MARK, Step, Stop};
pub use self::asked::{Asked, Said};
use self::diagnosis::Diagnosis;
pub use self::ollama::Ollama;
pub use self::signed::Account;
use self::strict::Sent;
use self::wire::model_in;
pub use self::wire::{NO_IDS, Wire};
use crate::google::GoogleServer;
use crate::patiently;

/// A model server on this machine. Dropping it ends it, and fails the test if something was wrong.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

struct Shared {
    state: Mutex<State>,
    asked: Notify,
}

type Responder = Box<dyn FnMut(&Asked) -> Answer + Send>;

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    responder: Option<Responder>,
    asked: Vec<Asked>,
    /// The last request of each session.
    last: HashMap<String, Asked>,
    wrong: Vec<String>,
    may_rewrite: bool,
    takes_any_key: bool,
    /// True if the list of models is for whoever has the key.
    lists_for_its_key: bool,
    /// The account whose signatures requests must bear instead of a key.
    account: Option<Account>,
    /// The tokens of Google's that requests must bear instead of a key.
    tokens: Option<crate::google::Valid>,
    /// The errors with which signatures were refused.
    refusals: Vec<String>,
    /// Ollama, if it is one.
    ollama: Option<Ollama>,
    /// The region of Amazon Bedrock that it lists.
    region: Option<Region>,
    sent: Sent,
    diagnosis: Diagnosis,
}

impl ModelServer {
    /// Starts a server that answers with these, in this order.
    pub async fn start(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = State { script: script.into_iter().collect(), ..State::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), asked: Notify::new() });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, _tasks: tasks }
    }

    /// Starts a server that answers as a function says.
    pub async fn responding(responder: impl FnMut(&Asked) -> Answer + Send + 'static) -> Self {
        let server = Self::start([]).await;
        server.state().responder = Some(Box::new(responder));
        server
    }

    /// The address to configure for a format, as the vendors' own are written.
    pub fn url(&self, wire: Wire) -> String {
        format!("http://{}{}", self.address, wire.folder())
    }

    /// Adds an answer to the script.
    pub fn then(&self, answer: Answer) {
        self.state().script.push_back(answer);
    }

    /// Lets requests begin otherwise than those before in their session, as they do when a context is trimmed.
    pub fn may_rewrite(&self) {
        self.state().may_rewrite = true;
    }

    /// Has the endpoints of this Ollama as well as Chat Completions.
    pub fn plays(&self, ollama: Ollama) {
        self.state().ollama = Some(ollama);
    }

    /// Lists what this region of Amazon Bedrock offers, to those who may ask for answers.
    pub fn lists(&self, region: Region) {
        self.state().region = Some(region);
    }

    /// The number of times that one of Ollama's own endpoints was asked for, such as `ps`.
    pub fn times(&self, path: &str) -> usize {
        self.state().ollama.as_ref().map_or(0, |ollama| ollama.times(path))
    }

    /// Takes requests with any key, such as those of a vendor who refuses one.
    pub fn takes_any_key(&self) {
        self.state().takes_any_key = true;
    }

    /// Lists its models only for its key, as most vendors do.
    pub fn lists_for_its_key(&self) {
        self.state().lists_for_its_key = true;
    }

    /// Wants requests to be signed with a key of an account at AWS, instead of a key of their own. Those that are not
    /// are refused, and nothing of the script is used up.
    pub fn wants_signatures(&self, account: Account) {
        self.state().account = Some(account);
    }

    /// Wants requests to bear a token of this server's that counts, instead of a key. Those that do not are refused,
    /// and nothing of the script is used up.
    pub fn wants_tokens_of(&self, google: &GoogleServer) {
        self.state().tokens = Some(google.valid());
    }

    /// Forgets the signatures of thoughts that it has given, as Google does when the key or the route changes. Requests
    /// with them are refused, and nothing of the script is used up.
    pub fn forgets_thoughts(&self) {
        self.state().sent.forget();
    }

    /// The errors with which signatures were refused: AWS's by their kind, such as `ExpiredTokenException`, and
    /// Google's by their status.
    pub fn refusals(&self) -> Vec<String> {
        self.state().refusals.clone()
    }

    /// The requests to it so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.state().asked.clone()
    }

    /// Waits until it was asked `count` times, and gives the last of these.
    pub async fn asked_times(&self, count: usize) -> Asked {
        patiently(&format!("request {count} to the model"), async {
            loop {
                let asked = self.shared.asked.notified();
                if let Some(asked) = count.checked_sub(1).and_then(|at| self.state().asked.get(at).cloned()) {
                    return asked;
                }
                asked.await;
            }
        })
        .await
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.shared.state.lock().unwrap()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let state = self.state();
        assert!(state.wrong.is_empty(), "the model was asked wrongly:\n{}", state.wrong.join("\n"));
        assert!(state.script.is_empty(), "{} answers of the script were never asked for", state.script.len());
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&shared)));
            // A client that hangs up, and an answer that is cut, end a connection with an error.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Stream>, Infallible> {
    let path = request.uri().path().to_owned();
    let request_query = request.uri().query().unwrap_or_default().to_owned();
    let place = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let headers = request.headers().clone();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bearer = || Some(header("authorization")?.strip_prefix("Bearer ")?.to_owned());
    if path.ends_with("/models") {
        let is_known = bearer().as_deref() == Some(crate::server::KEY);
        return Ok(listing(&path, is_known || !shared.state.lock().unwrap().lists_for_its_key));
    }
    let Some(wire) = Wire::of(&path) else {
        let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        return Ok(shared.state.lock().unwrap().elsewhere((&path, &request_query), &headers, &body));
    };
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let key = match wire {
        // Google's cloud takes a token and no key.
        _ if vertex::model(&path).is_some() => vertex::token(&headers),
        // Anthropic's own SDK sends its key as a token, which is taken too.
        Wire::Anthropic => header("x-api-key").or_else(bearer),
        Wire::Gemini => header("x-goog-api-key"),
        _ => header("api-key").or_else(bearer),
    };
    let sent = signed::Sent { method: "POST", path: &path, query: &request_query, headers: &headers, body: &body };
    let key = match shared.state.lock().unwrap().signature(&sent) {
        Signature::Unwanted => key,
        Signature::Right => Some(crate::server::KEY.to_owned()),
        Signature::Refused(response) => return Ok(*response),
    };
    let (model, answer, head) = {
        let mut state = shared.state.lock().unwrap();
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        let of_vertex = vertex::model(&path);
        if let Some((publisher, model)) = &of_vertex {
            state.wrong.extend(vertex::as_its_maker(*publisher, model, &headers, &mut body).err());
        }
        bodies::keep(wire, &body);
        let named = of_vertex.map(|(_, model)| model).or_else(|| model_in(&path));
        let model = named.unwrap_or_else(|| body["model"].as_str().unwrap_or_default().to_owned());
        let asked = Asked::read(wire, key, model, body).at(place, &headers);
        state.check(&asked);
        if wire == Wire::Gemini && request_query != "alt=sse" {
            state.wrong.push(format!("no events are asked for by `{request_query}`"));
        }
        if let Err(words) = strict::refusal(wire, &asked, &state.sent) {
            if state.sent.has_forgotten(asked.body(), &words) {
                state.refusals.push(words.clone());
            } else {
                state.wrong.push(format!("{wire:?} refuses: {words}"));
            }
            let error = match wire {
                Wire::Gemini => json!({ "code": 400, "message": words, "status": "INVALID_ARGUMENT" }),
                _ => json!({ "type": "invalid_request_error", "message": words }),
            };
            let body = match wire {
                Wire::Converse => json!({ "message": words }),
                _ => json!({ "type": "error", "error": error }),
            };
            return Ok(whole(StatusCode::BAD_REQUEST, &[], body.to_string()));
        }
        let scripted = match state.responder.as_mut() {
            Some(responder) => Some(responder(&asked)),
            None => state.script.pop_front(),
        };
        if scripted.is_none() {
            let last = asked.said().last().cloned();
            state.wrong.push(format!("nothing is scripted for a request that ends in {last:?}"));
        }
        let (mark, model) = (asked.file_mark(), asked.model().to_owned());
        let scripted = scripted.map(|answer| answer.with_mark(&mark));
        if let Some(Answer::Streamed { steps, .. }) = &scripted {
            state.sent.remember(wire, &model, asked.body(), steps);
        }
        let head = state.diagnosis.answer(&model, asked.body());
        state.asked.push(asked);
        shared.asked.notify_waiters();
        (model, scripted, head)
    };
    Ok(match answer {
        None => whole(StatusCode::INTERNAL_SERVER_ERROR, &[], "{\"error\":{\"message\":\"not scripted\"}}".into()),
        Some(Answer::Refused { status, headers, body }) => whole(StatusCode::from_u16(status).unwrap(), &headers, body),
        Some(Answer::Streamed { steps, stop }) => {
            let (sender, pieces) = mpsc::channel(64);
            let is_whole = converse::is_whole(&path);
            tokio::spawn(write(wire.writer(&model, is_whole, head), steps, stop, sender));
            let answer = Response::builder().header("content-type", wire.content_type(is_whole));
            // Anthropic tells the limits of the key with each answer.
            let answer = match wire {
                Wire::Anthropic => answer
                    .header("anthropic-ratelimit-requests-limit", "50")
                    .header("anthropic-ratelimit-requests-remaining", "49"),
                _ => answer,
            };
            answer.body(Stream(pieces)).unwrap()
        }
    })
}

/// The list of models at a path, for those who may see it.
fn listing(path: &str, may_see: bool) -> Response<Stream> {
    if !may_see {
        let body = json!({ "error": { "message": "Incorrect API key provided" } });
        return whole(StatusCode::UNAUTHORIZED, &[], body.to_string());
    }
    let models = match path {
        "/v1beta/models" => json!({ "models": [{ "name": "models/model-1", "inputTokenLimit": 200_000,
            "outputTokenLimit": 32_768, "supportedGenerationMethods": ["generateContent"], "thinking": true }] }),
        _ => json!({ "object": "list", "data": [{ "id": "model-1", "object": "model" }] }),
    };
    whole(StatusCode::OK, &[], models.to_string())
}

/// Writes an answer step by step. It ends early where the client hangs up.
async fn write(
    mut writer: Box<dyn Writer>,
    steps: Vec<Step>,
    stop: Stop,
    sender: mpsc::Sender<Result<Bytes, io::Error>>,
) {
    let mut text = writer.begin();
    for step in steps {
        match step {
            Step::Text(piece) => text.push_str(&writer.text(&piece)),
            Step::Thinking(piece) => text.push_str(&writer.thinking(&piece)),
            Step::Call { id, name, input } => {
                text.push_str(&writer.call(&id, &name));
                in_pieces(&mut *writer, &input.to_string(), &mut text);
                text.push_str(&writer.end_call());
            }
            Step::SlowCall { id, name, begin, gate, rest } => {
                text.push_str(&writer.call(&id, &name));
                in_pieces(&mut *writer, &begin, &mut text);
                if !waited(&sender, writer.framed(std::mem::take(&mut text)), &gate).await {
                    return;
                }
                in_pieces(&mut *writer, &rest, &mut text);
                text.push_str(&writer.end_call());
            }
            Step::HalfCall { id, name, input } => {
                text.push_str(&writer.call(&id, &name));
                text.push_str(&writer.input(&input));
            }
            Step::Raw(raw) => text.push_str(&raw),
            Step::Wait(gate) => {
                if !waited(&sender, writer.framed(std::mem::take(&mut text)), &gate).await {
                    return;
                }
            }
            Step::Cut => {
                let _ = sender.send(Ok(writer.framed(std::mem::take(&mut text)).into())).await;
                let _ = sender.send(Err(io::Error::other("cut"))).await;
                return;
            }
            Step::Stall => {
                let _ = sender.send(Ok(writer.framed(std::mem::take(&mut text)).into())).await;
                sender.closed().await;
                return;
            }
        }
        if text.len() > 4096 && sender.send(Ok(writer.framed(std::mem::take(&mut text)).into())).await.is_err() {
            return;
        }
    }
    text.push_str(&writer.end(stop));
    let _ = sender.send(Ok(writer.framed(text).into())).await;
}

/// Writes an input in pieces that cut words and escapes, as the vendors do.
fn in_pieces(writer: &mut dyn Writer, input: &str, text: &mut String) {
    let input: Vec<char> = input.chars().collect();
    for piece in input.chunks(7) {
        text.push_str(&writer.input(&piece.iter().collect::<String>()));
    }
}

/// Sends what is written and waits for a gate. False if the client hangs up.
async fn waited(sender: &mpsc::Sender<Result<Bytes, io::Error>>, written: Vec<u8>, gate: &Gate) -> bool {
    if sender.send(Ok(written.into())).await.is_err() {
        return false;
    }
    tokio::select! {
        () = gate.opened() => true,
        () = sender.closed() => false,
    }
}

fn whole(status: StatusCode, headers: &[(String, String)], body: String) -> Response<Stream> {
    let (sender, pieces) = mpsc::channel(1);
    let _ = sender.try_send(Ok(body.into()));
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Stream(pieces)).unwrap()
}

/// A body that comes in pieces.
struct Stream(mpsc::Receiver<Result<Bytes, io::Error>>);

impl Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}

/// The finding about the signature of a request.
enum Signature {
    Unwanted,
    Right,
    Refused(Box<Response<Stream>>),
}

impl State {
    /// Checks the signature of a request, if an account wants one.
    fn signature(&mut self, sent: &signed::Sent<'_>) -> Signature {
        let headers = sent.headers;
        if let Some(tokens) = &self.tokens {
            return match vertex::token(headers).filter(|token| tokens.has(token)) {
                Some(_) => Signature::Right,
                None => {
                    self.refusals.push("UNAUTHENTICATED".to_owned());
                    let body = vertex::unauthenticated(headers);
                    Signature::Refused(Box::new(whole(StatusCode::UNAUTHORIZED, &[], body)))
                }
            };
        }
        let Some(account) = &self.account else { return Signature::Unwanted };
        let Err((kind, words)) = account.check(sent) else { return Signature::Right };
        self.refusals.push(kind.to_owned());
        let headers = [("x-amzn-errortype", kind.to_owned()), ("date", account.http_date())];
        let headers = headers.map(|(name, value)| (name.to_owned(), value));
        let body = json!({ "message": words }).to_string();
        Signature::Refused(Box::new(whole(StatusCode::FORBIDDEN, &headers, body)))
    }

    /// One of the lists of a region of Amazon Bedrock, for whoever may ask for answers. A gateway has none.
    fn region(&mut self, path: &str, query: &str, headers: &HeaderMap) -> Response<Stream> {
        let Some(region) = self.region.clone() else { return whole(StatusCode::NOT_FOUND, &[], String::new()) };
        let sent = signed::Sent { method: "GET", path, query, headers, body: b"" };
        let bearer = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        match self.signature(&sent) {
            Signature::Refused(response) => return *response,
            Signature::Unwanted if bearer != Some(crate::server::KEY) => {
                let words = "Authentication failed: Please make sure your API Key is valid.";
                return whole(StatusCode::FORBIDDEN, &[], json!({ "Message": words }).to_string());
            }
            Signature::Unwanted | Signature::Right => {}
        }
        let (status, answer) = region.answer(path, query);
        if status == StatusCode::BAD_REQUEST {
            self.wrong.push(answer.to_string());
        }
        whole(status, &[], answer.to_string())
    }

    /// The answer at a path that is of no wire, with its query: one of Ollama's own, if this is one, or of Bedrock's.
    fn elsewhere(&mut self, (path, query): (&str, &str), headers: &HeaderMap, body: &[u8]) -> Response<Stream> {
        if Region::is_at(path) {
            return self.region(path, query, headers);
        }
        let has_answered = !self.asked.is_empty();
        match self.ollama.as_mut().and_then(|ollama| ollama.answer(path, body, has_answered)) {
            Some((status, answer)) => whole(status, &[], answer.to_string()),
            None => {
                self.wrong.push(format!("there is no path {path}"));
                whole(StatusCode::NOT_FOUND, &[], String::new())
            }
        }
    }

    fn check(&mut self, asked: &Asked) {
        if !self.takes_any_key && asked.key().is_none_or(|key| key != crate::server::KEY) {
            self.wrong.push(format!("the key is {:?}", asked.key()));
        }
        if let Err(problem) = asked.calls_have_results() {
            self.wrong.push(problem);
        }
        if let Some(before) = self.last.insert(asked.session(), asked.clone())
            && !self.may_rewrite
            && let Err(problem) = asked.continues(&before)
        {
            self.wrong.push(problem);
        }
    }
}
