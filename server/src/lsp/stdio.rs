//! The way out: a pump that takes everything the framework writes at once and writes it to the client as fast as the
//! client reads.
//!
//! The framework reads no input while a write of its waits, so a client that is slow to read would also not be heard.
//! With the pump a write never waits. What it holds stays small, since the outbox hands over no more events while the
//! [`Level`] is high; answers are as many as the client asked for.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower_lsp::jsonrpc::Id;

/// The level counts as high from here on, in bytes: about as much as a pipe holds.
const HIGH: usize = 64 * 1024;

/// Starts a pump to `writer`. It ends when the [`Inlet`] is shut down and all was written, or when writing fails; then
/// it cancels `gone`, and what is written after that is lost.
pub(super) fn pump<W>(writer: W, gone: CancellationToken) -> (Inlet, Level, JoinHandle<()>)
where
    W: AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::new(Shared { held: Mutex::default(), changed: Notify::new(), level: watch::Sender::new(0) });
    let task = tokio::spawn(run(writer, Arc::clone(&shared), gone));
    (Inlet(Arc::clone(&shared)), Level(shared), task)
}

/// The pump's near end: a writer that never waits.
pub(super) struct Inlet(Arc<Shared>);

/// The way into the pump for answers that are written already: the framework would build a tree of values of each, and
/// one may be as long as a session.
#[derive(Clone)]
pub(super) struct Answers(Arc<Shared>);

/// The number of bytes that the pump holds.
#[derive(Clone)]
pub(super) struct Level(Arc<Shared>);

struct Shared {
    held: Mutex<Held>,
    changed: Notify,
    /// Bytes taken and not yet written.
    level: watch::Sender<usize>,
}

#[derive(Default)]
struct Held {
    bytes: Vec<u8>,
    /// Nothing more comes, or nothing more can be written.
    closed: bool,
}

impl Level {
    /// Waits until little is held.
    pub(super) async fn low(&self) {
        // The sender lives in what we share, so this ends only when the level is low.
        let _ = self.0.level.subscribe().wait_for(|level| *level < HIGH).await;
    }
}

impl Inlet {
    /// The way past the framework.
    pub(super) fn answers(&self) -> Answers {
        Answers(Arc::clone(&self.0))
    }
}

impl Answers {
    /// Sends the result of a request. It never stands in the middle of another message, since the framework hands over
    /// all that it has written at once, and that is whole messages.
    pub(super) fn send(&self, id: &Id, result: &RawValue) {
        let (id, result) = (json!(id), result.get());
        let (before, after) = (r#"{"jsonrpc":"2.0","result":"#, format!(r#","id":{id}}}"#));
        let header = format!("Content-Length: {}\r\n\r\n", before.len() + result.len() + after.len());
        self.0.take(&[&header, before, result, &after].map(str::as_bytes));
    }
}

impl Shared {
    /// Takes what is to be written, in one piece, unless nobody reads it any more.
    fn take(&self, parts: &[&[u8]]) {
        let mut held = self.held();
        if !held.closed {
            let length: usize = parts.iter().map(|part| part.len()).sum();
            held.bytes.reserve(length);
            parts.iter().for_each(|part| held.bytes.extend_from_slice(part));
            self.level.send_modify(|level| *level += length);
            self.changed.notify_one();
        }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        self.held().closed = true;
        self.changed.notify_one();
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl AsyncWrite for Inlet {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.take(&[bytes]);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

async fn run<W: AsyncWrite + Unpin>(mut writer: W, shared: Arc<Shared>, gone: CancellationToken) {
    loop {
        let (bytes, closed) = {
            let mut held = shared.held();
            (std::mem::take(&mut held.bytes), held.closed)
        };
        if bytes.is_empty() {
            if closed {
                let _ = writer.shutdown().await;
                return;
            }
            shared.changed.notified().await;
            continue;
        }
        let written = match writer.write_all(&bytes).await {
            Ok(()) => writer.flush().await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::info!(%error, "the client reads no more");
            let mut held = shared.held();
            held.closed = true;
            held.bytes = Vec::new();
            drop(held);
            shared.level.send_replace(0);
            gone.cancel();
            return;
        }
        shared.level.send_modify(|level| *level = level.saturating_sub(bytes.len()));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::io::AsyncReadExt;

    use super::*;

    #[tokio::test]
    async fn a_client_that_reads_nothing_stops_no_write_and_loses_nothing() {
        let (near, mut far) = tokio::io::duplex(16);
        let (mut inlet, level, task) = pump(near, CancellationToken::new());
        let sent: Vec<u8> = (0..HIGH * 3).map(|at| at.to_le_bytes()[0]).collect();
        inlet.write_all(&sent).now_or_never().expect("a write waits").unwrap();
        assert!(level.low().now_or_never().is_none(), "the level is high while nobody reads");

        drop(inlet);
        let mut received = Vec::new();
        far.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, sent);
        level.low().await;
        task.await.unwrap();
    }

    #[tokio::test]
    async fn an_answer_is_a_message_of_its_own_among_those_of_the_framework() {
        let (near, mut far) = tokio::io::duplex(16);
        let (mut inlet, _, task) = pump(near, CancellationToken::new());
        inlet.write_all(b"before ").await.unwrap();
        let result = RawValue::from_string(r#"{"text":"Grüße"}"#.into()).unwrap();
        inlet.answers().send(&Id::String("a\"b".into()), &result);
        inlet.write_all(b" after").await.unwrap();
        inlet.shutdown().await.unwrap();
        inlet.answers().send(&Id::Number(1), &result);

        let mut received = String::new();
        far.read_to_string(&mut received).await.unwrap();
        let body = r#"{"jsonrpc":"2.0","result":{"text":"Grüße"},"id":"a\"b"}"#;
        assert_eq!(received, format!("before Content-Length: {}\r\n\r\n{body} after", body.len()));
        task.await.unwrap();
    }

    #[tokio::test]
    async fn a_client_that_closed_its_end_is_noticed() {
        let (near, far) = tokio::io::duplex(16);
        drop(far);
        let gone = CancellationToken::new();
        let (mut inlet, level, _) = pump(near, gone.clone());
        inlet.write_all(&vec![0; HIGH * 2]).await.unwrap();
        gone.cancelled().await;
        level.low().await;
        inlet.write_all(b"more").await.unwrap();
    }
}
