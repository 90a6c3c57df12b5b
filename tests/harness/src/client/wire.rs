//! Messages with their headers, over a pipe.

use std::sync::{Arc, Weak};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

use super::Shared;

/// An action on the stream to the server.
pub(super) enum Out {
    Bytes(Vec<u8>),
    Close,
}

/// A message with its header.
pub(super) fn frame(message: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{message}", message.len()).into_bytes()
}

/// Writes what is to be sent.
pub(super) async fn write(mut output: impl AsyncWrite + Unpin, mut outbox: mpsc::UnboundedReceiver<Out>) {
    while let Some(Out::Bytes(bytes)) = outbox.recv().await {
        // A server that ended takes no more.
        if output.write_all(&bytes).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
    let _ = output.shutdown().await;
}

/// Reads what the server says, and answers it.
pub(super) async fn read(input: impl AsyncRead + Unpin, shared: Arc<Shared>) {
    let mut input = BufReader::new(input);
    let mut alive = true;
    while alive {
        while shared.state.lock().unwrap().paused {
            shared.resumed.notified().await;
        }
        let message = next(&mut input).await;
        let mut state = shared.state.lock().unwrap();
        match message {
            Ok(Some(message)) => {
                for answer in state.take(message) {
                    let _ = shared.out.send(Out::Bytes(frame(&answer.to_string())));
                }
            }
            Ok(None) => alive = false,
            Err(problem) => {
                state.wrong.push(problem);
                alive = false;
            }
        }
        state.closed = !alive;
        if !alive {
            // Whoever waits for an answer will not get one.
            state.waiting.clear();
        }
        drop(state);
        shared.news.notify_waiters();
    }
}

/// The next message; none at the end.
async fn next(input: &mut (impl AsyncBufReadExt + Unpin)) -> Result<Option<Value>, String> {
    let mut length = None;
    loop {
        let mut line = String::new();
        match input.read_line(&mut line).await {
            Ok(0) if length.is_none() => return Ok(None),
            Ok(0) => return Err("the server stopped inside a message".into()),
            Ok(_) => {}
            Err(error) => return Err(format!("the server's messages end with: {error}")),
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.strip_prefix("Content-Length: ").map(str::parse::<usize>) {
            Some(Ok(value)) => length = Some(value),
            _ => return Err(format!("a header that is none: {line}")),
        }
    }
    let mut body = vec![0; length.ok_or("a message without a length")?];
    input.read_exact(&mut body).await.map_err(|error| format!("the server stopped inside a message: {error}"))?;
    serde_json::from_slice(&body).map(Some).map_err(|error| format!("a message that is not JSON: {error}"))
}

/// The client reads nothing for as long as this lives.
pub struct Paused(Weak<Shared>);

impl Paused {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        shared.state.lock().unwrap().paused = true;
        Self(Arc::downgrade(shared))
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if let Some(shared) = self.0.upgrade() {
            shared.state.lock().unwrap().paused = false;
            shared.resumed.notify_one();
        }
    }
}
