//! A model vendor that answers at once: Chat Completions over loopback, each answer a function of the request alone.
//! For benchmarks, and for tests in which the same request can come twice. [`crate::model`] has the one that checks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::Instant as Time;

use serde_json::{Value, json};

/// An answer of the model's.
#[derive(Clone)]
pub enum Instant {
    /// Text in so many pieces.
    Text {
        /// How many.
        pieces: usize,
    },
    /// A tool call.
    Call {
        /// The tool.
        tool: &'static str,
        /// Its input.
        input: Value,
    },
}

/// A running vendor. It ends with the process.
pub struct Vendor {
    port: u16,
}

impl Vendor {
    /// Starts one that gives these answers, one a request.
    pub fn start(answers: Vec<Instant>) -> Self {
        let bodies: Vec<String> = answers.iter().enumerate().map(|(n, answer)| body(n, answer)).collect();
        let next = AtomicUsize::new(0);
        Self::answering(move |_| bodies.get(next.fetch_add(1, Ordering::Relaxed)).cloned())
    }

    /// Starts one whose answer depends on how many messages of the assistant a request has: so many answers it has
    /// seen. The last answer is given from then on.
    pub fn by_progress(answers: Vec<Instant>) -> Self {
        Self::answering(move |request| {
            let request: Value = serde_json::from_slice(request).ok()?;
            let messages = request["messages"].as_array()?;
            let seen = messages.iter().filter(|message| message["role"] == "assistant").count();
            answers.get(seen).or(answers.last()).map(|answer| body(seen, answer))
        })
    }

    /// Starts one that refuses every request. Gives when each had come in full, and how long it was.
    pub fn refusing() -> (Self, Receiver<(Time, usize)>) {
        let (heard, requests) = mpsc::channel();
        let vendor = Self::answering(move |request| {
            // Whoever started it may have heard enough.
            let _ = heard.send((Time::now(), request.len()));
            None
        });
        (vendor, requests)
    }

    fn answering(answer: impl Fn(&[u8]) -> Option<String> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let answer = Arc::clone(&answer);
                std::thread::spawn(move || serve(stream, &*answer));
            }
        });
        Self { port }
    }

    /// Its base URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }
}

/// The whole stream of an answer.
fn body(number: usize, answer: &Instant) -> String {
    let mut chunks = Vec::new();
    let finish = match answer {
        Instant::Text { pieces } => {
            chunks.extend(
                (0..*pieces).map(|n| json!({ "delta": { "content": format!("word{} ", n % 100) }, "index": 0 })),
            );
            "stop"
        }
        Instant::Call { tool, input } => {
            let function = json!({ "name": tool, "arguments": input.to_string() });
            let call = json!({ "index": 0, "id": format!("call_{number}"), "type": "function", "function": function });
            chunks.push(json!({ "delta": { "tool_calls": [call] }, "index": 0 }));
            "tool_calls"
        }
    };
    chunks.push(json!({ "delta": {}, "index": 0, "finish_reason": finish }));
    let mut body = String::new();
    for choice in chunks {
        body.push_str(&format!(
            "data: {}\n\n",
            json!({ "id": "c", "object": "chat.completion.chunk", "choices": [choice] })
        ));
    }
    let usage = json!({ "prompt_tokens": 1000, "completion_tokens": 10 });
    body.push_str(&format!("data: {}\n\ndata: [DONE]\n\n", json!({ "id": "c", "choices": [], "usage": usage })));
    body
}

/// Answers the requests of one connection.
fn serve(stream: TcpStream, answer: &dyn Fn(&[u8]) -> Option<String>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut writer = stream;
    loop {
        let (mut length, mut line, mut is_post) = (0, String::new(), false);
        loop {
            line.clear();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            is_post |= line.starts_with("POST ");
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut request = vec![0; length];
        if reader.read_exact(&mut request).is_err() {
            return;
        }
        let (status, kind, body) = match is_post.then(|| answer(&request)).flatten() {
            Some(body) => ("200 OK", "text/event-stream", body),
            None => ("404 Not Found", "application/json", "{}".to_owned()),
        };
        // In one piece: head and body apart would wait for each other's acknowledgement.
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
        if writer.write_all((head + &body).as_bytes()).is_err() {
            return;
        }
    }
}
