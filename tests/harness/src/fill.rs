//! A server that fills in text as llama.cpp's does, `POST /infill` and `POST /v1/completions` as streams of events and
//! `GET /props`, and as a vendor's does. It answers by a function of the request, notes all that it was sent, and when
//! a connection was closed before its answer ended.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::server::KEY;

/// An answer.
#[derive(Clone)]
pub struct Filled {
    /// The pieces of the text, each after a pause.
    pieces: Vec<(Duration, String)>,
    end: End,
    /// The tokens of the prompt that it counts.
    read: u64,
}

#[derive(Clone)]
enum End {
    Whole,
    /// Nothing more comes, and the connection stays.
    Hangs,
    /// The connection is closed in the middle.
    Dies,
    /// These bytes instead of an answer, with this status and type.
    Raw(&'static str, &'static str, Vec<u8>),
}

impl Filled {
    /// This text, at once.
    pub fn with(text: &str) -> Self {
        Self { pieces: vec![(Duration::ZERO, text.to_owned())], end: End::Whole, read: 100 }
    }

    /// The same after a pause.
    #[must_use]
    pub fn after(mut self, pause: Duration) -> Self {
        if let Some((first, _)) = self.pieces.first_mut() {
            *first = pause;
        }
        self
    }

    /// Another piece after a pause.
    #[must_use]
    pub fn then(mut self, pause: Duration, text: &str) -> Self {
        self.pieces.push((pause, text.to_owned()));
        self
    }

    /// The same for a prompt of so many tokens.
    #[must_use]
    pub fn read(mut self, tokens: u64) -> Self {
        self.read = tokens;
        self
    }

    /// Nothing more after this.
    #[must_use]
    pub fn hanging(mut self) -> Self {
        self.end = End::Hangs;
        self
    }

    /// The server dies after this.
    #[must_use]
    pub fn dying(mut self) -> Self {
        self.end = End::Dies;
        self
    }

    /// Bytes that are no answer.
    pub fn raw(status: &'static str, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { pieces: Vec::new(), end: End::Raw(status, content_type, body.into()), read: 0 }
    }
}

/// A request with what became of it.
#[derive(Clone, Debug)]
pub struct FillAsked {
    /// The body.
    pub body: Value,
    /// All bytes of the request, its head too.
    pub bytes: Vec<u8>,
    /// The time it came.
    pub at: Instant,
    /// The time at which the last byte of the answer was about to be sent.
    pub answered: Option<Instant>,
    /// The time at which the client closed the connection before the answer had ended.
    pub closed: Option<Instant>,
}

impl FillAsked {
    /// The text before the cursor.
    pub fn prefix(&self) -> &str {
        self.body["input_prefix"].as_str().or(self.body["prompt"].as_str()).unwrap_or_default()
    }

    /// The text after the cursor.
    pub fn suffix(&self) -> &str {
        self.body["input_suffix"].as_str().or(self.body["suffix"].as_str()).unwrap_or_default()
    }

    /// The prompt of a completion, as in the dialect of a model that edits next; empty if text is filled in.
    pub fn prompt(&self) -> &str {
        self.body["prompt"].as_str().unwrap_or_default()
    }

    /// The window that a Sweep model is to rewrite.
    pub fn window(&self) -> String {
        let (_, current) = self.prompt().rsplit_once("<|file_sep|>current/").expect("no prompt of a Sweep model");
        let (_, window) = current.split_once('\n').unwrap();
        window.split("<|file_sep|>").next().unwrap().replace("<|cursor|>", "")
    }

    /// The answer of a Sweep model that makes this of its window.
    pub fn rewritten(&self, new: &str) -> Filled {
        let (_, updated) = self.prompt().rsplit_once("<|file_sep|>updated/").expect("no prompt of a Sweep model");
        let (_, begun) = updated.split_once('\n').unwrap();
        let rest = new.strip_prefix(begun).expect("the window changes before the cursor's line, where Sweep cannot");
        Filled::with(rest)
    }

    /// The same with a part of the window replaced, or nothing changed if the window has no such part.
    pub fn replaced(&self, old: &str, new: &str) -> Filled {
        self.rewritten(&self.window().replacen(old, new, 1))
    }

    /// The parts of other files, path and text.
    pub fn extra(&self) -> Vec<(&str, &str)> {
        let parts = self.body["input_extra"].as_array().into_iter().flatten();
        parts
            .map(|part| (part["filename"].as_str().unwrap_or_default(), part["text"].as_str().unwrap_or_default()))
            .collect()
    }
}

/// A running server. It ends with the process.
pub struct FillServer {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    asked: Mutex<Vec<FillAsked>>,
    changes: watch::Sender<u64>,
}

impl FillServer {
    /// Starts one that answers by a function of the request.
    pub fn start(answer: impl Fn(&FillAsked) -> Filled + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { asked: Mutex::default(), changes: watch::Sender::new(0) });
        let (of_threads, answer) = (Arc::clone(&shared), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, answer) = (Arc::clone(&of_threads), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &shared, &*answer));
            }
        });
        Self { port, shared }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The configuration of a user whose suggestions come from here.
    pub fn configuration(&self) -> String {
        format!("completion_model = \"llama.cpp/\"\n[providers.\"llama.cpp\"]\nbase_url = \"{}\"\n", self.url())
    }

    /// The configuration of a user whose suggested edits come from here, in Sweep's dialect.
    pub fn edit_configuration(&self) -> String {
        let url = self.url();
        format!("next_edit_model = \"llama.cpp/sweep-next-edit\"\n[providers.\"llama.cpp\"]\nbase_url = \"{url}\"\n")
    }

    /// The configuration of a user whose suggestions come from here as from a vendor, whose price is known. The address
    /// is one that is not known to be this machine's.
    pub fn vendor_configuration(&self) -> String {
        let url = format!("http://0.0.0.0:{}/v1", self.port);
        let model = "completion_model = \"mistral/codestral-latest\"";
        format!("{model}\n[providers.mistral]\nbase_url = \"{url}\"\nkey = \"{KEY}\"\n")
    }

    /// The requests so far.
    pub fn asked(&self) -> Vec<FillAsked> {
        self.shared.asked().clone()
    }

    /// Waits until it was asked so many times; gives the last of them.
    pub async fn asked_times(&self, count: usize) -> FillAsked {
        self.until("a request to fill in", |asked| asked.get(count - 1).cloned()).await
    }

    /// Waits until the client has closed the connection of a request, counted from 0; gives when.
    pub async fn closed(&self, request: usize) -> Instant {
        self.until("a connection that is closed", |asked| asked.get(request)?.closed).await
    }

    async fn until<T>(&self, what: &str, wish: impl Fn(&[FillAsked]) -> Option<T>) -> T {
        let mut changes = self.shared.changes.subscribe();
        crate::patiently(what, async {
            loop {
                if let Some(it) = wish(&self.shared.asked()) {
                    return it;
                }
                changes.changed().await.unwrap();
            }
        })
        .await
    }
}

impl Shared {
    fn asked(&self) -> MutexGuard<'_, Vec<FillAsked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.changes.send_modify(|changes| *changes += 1);
    }
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, shared: &Shared, answer: &dyn Fn(&FillAsked) -> Filled) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut length, mut head) = (0, String::new());
        loop {
            let start = head.len();
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
            let line = head[start..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        if !head.starts_with("POST ") {
            let props =
                json!({ "default_generation_settings": { "n_ctx": 8192 }, "model_path": "test.gguf" }).to_string();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{props}",
                props.len()
            );
            if writer.write_all(answer.as_bytes()).is_err() {
                return;
            }
            continue;
        }
        let bytes = [head.as_bytes(), &body].concat();
        let asked = FillAsked {
            body: serde_json::from_slice(&body).unwrap(),
            bytes,
            at: Instant::now(),
            answered: None,
            closed: None,
        };
        let number = {
            let mut all = shared.asked();
            all.push(asked.clone());
            all.len() - 1
        };
        shared.tell();
        let note = || shared.asked()[number].answered = Some(Instant::now());
        let wire = match head.split_whitespace().nth(1) {
            Some("/infill") => LLAMA_CPP,
            Some("/v1/completions") => COMPLETIONS,
            _ => VENDOR,
        };
        if !play(&mut writer, &answer(&asked), wire, &note) {
            shared.asked()[number].closed = Some(Instant::now());
            shared.tell();
            return;
        }
    }
}

/// The events of a wire: a piece of text, and the end with the tokens of the prompt.
type Wire = (fn(&str) -> String, fn(u64) -> String);

const LLAMA_CPP: Wire = (
    |text| json!({ "content": text, "stop": false }).to_string(),
    |read| {
        let end =
            json!({ "content": "", "stop": true, "stop_type": "eos", "tokens_predicted": 5, "tokens_evaluated": read });
        end.to_string()
    },
);

const COMPLETIONS: Wire = (
    |text| json!({ "choices": [{ "index": 0, "text": text, "finish_reason": null }] }).to_string(),
    |read| {
        let choice = json!({ "index": 0, "text": "", "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5 });
        format!("{}\n\ndata: [DONE]", json!({ "choices": [choice], "usage": usage }))
    },
);

const VENDOR: Wire = (
    |text| json!({ "choices": [{ "index": 0, "delta": { "content": text }, "finish_reason": null }] }).to_string(),
    |read| {
        let choice = json!({ "index": 0, "delta": { "content": "" }, "finish_reason": "stop" });
        let usage = json!({ "prompt_tokens": read, "completion_tokens": 5, "total_tokens": read + 5 });
        format!("{}\n\ndata: [DONE]", json!({ "choices": [choice], "usage": usage }))
    },
);

/// Plays an answer, and notes when its end is about to be sent; false if the client closed the connection before that.
fn play(stream: &mut TcpStream, answer: &Filled, (piece, end): Wire, note_end: &dyn Fn()) -> bool {
    if let End::Raw(status, kind, body) = &answer.end {
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        return stream.write_all(&[head.as_bytes(), body].concat()).is_ok();
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    if stream.write_all(head.as_bytes()).is_err() {
        return false;
    }
    let chunk = |value: String| {
        let line = format!("data: {value}\n\n");
        format!("{:x}\r\n{line}\r\n", line.len())
    };
    for (pause, text) in &answer.pieces {
        if !stays(stream, *pause) || stream.write_all(chunk(piece(text)).as_bytes()).is_err() {
            return false;
        }
    }
    match &answer.end {
        End::Hangs => stays(stream, Duration::from_secs(600)),
        End::Dies => {
            let _ = stream.shutdown(std::net::Shutdown::Both);
            true
        }
        _ => {
            note_end();
            stream.write_all(format!("{}0\r\n\r\n", chunk(end(answer.read))).as_bytes()).is_ok()
        }
    }
}

/// Waits; false as soon as the client closes the connection.
fn stays(stream: &TcpStream, time: Duration) -> bool {
    if time.is_zero() {
        return true;
    }
    stream.set_read_timeout(Some(time)).unwrap();
    let closed = matches!(stream.peek(&mut [0]), Ok(0) | Err(_)) && {
        // A timeout is no end.
        stream.set_read_timeout(Some(Duration::from_micros(1))).unwrap();
        match stream.peek(&mut [0]) {
            Ok(0) => true,
            Ok(_) => false,
            Err(error) => !matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
        }
    };
    stream.set_read_timeout(None).unwrap();
    !closed
}
