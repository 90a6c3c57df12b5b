//! A server that gives prepared answers, one after the other, and keeps what it was asked.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: u16,
    headers: HeaderMap,
    pieces: Vec<Bytes>,
    end: End,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug)]
enum End {
    Whole,
    Dropped,
    Silent,
    /// There is not even a beginning.
    Never,
}

impl Answer {
    /// An event stream.
    pub(crate) fn stream(body: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        Self::status(200, body).with_header("content-type", "text/event-stream; charset=utf-8")
    }

    /// An answer with a status and a body.
    pub(crate) fn status(status: u16, body: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        let pieces = vec![Bytes::copy_from_slice(body.as_ref())];
        Self { status, headers: HeaderMap::new(), pieces, end: End::Whole }
    }

    pub(crate) fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap());
        self
    }

    /// The same, in pieces of 1 to 40 bytes that follow from a seed.
    pub(crate) fn in_pieces(mut self, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut rest = self.pieces.concat();
        self.pieces.clear();
        while !rest.is_empty() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = (1 + state as usize % 40).min(rest.len());
            let after = rest.split_off(length);
            self.pieces.push(rest.into());
            rest = after;
        }
        self
    }

    /// The connection is dropped after the body's last piece, without its end.
    pub(crate) fn then_dropped(self) -> Self {
        Self { end: End::Dropped, ..self }
    }

    /// Nothing comes after the body's last piece, and the connection stays.
    pub(crate) fn then_silent(self) -> Self {
        Self { end: End::Silent, ..self }
    }

    /// No answer at all, while the connection stays.
    pub(crate) fn never() -> Self {
        Self { end: End::Never, ..Self::status(200, "") }
    }

    fn body(self) -> BoxBody<Bytes, std::io::Error> {
        let pieces = self.pieces.into_iter().map(|piece| Ok(Frame::data(piece)));
        let end = match self.end {
            End::Whole => stream::empty().boxed(),
            End::Dropped => stream::once(async {
                // The pieces before are sent by then.
                tokio::time::sleep(Duration::from_millis(20)).await;
                Err(std::io::Error::other("dropped"))
            })
            .boxed(),
            End::Silent | End::Never => stream::pending().boxed(),
        };
        // Between pieces the writer gets its turn, so that each is written by itself.
        let pieces = stream::iter(pieces).then(async |piece| {
            tokio::task::yield_now().await;
            piece
        });
        BodyExt::boxed(StreamBody::new(SyncStream(Mutex::new(pieces.chain(end).boxed()))))
    }
}

/// Makes a stream shareable between threads, which a boxed body must be.
struct SyncStream<S>(Mutex<S>);

impl<S: futures_util::Stream + Unpin> futures_util::Stream for SyncStream<S> {
    type Item = S::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.get_mut().unwrap().poll_next_unpin(context)
    }
}

/// A request that came in.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// The path, with the query if there is one.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

/// A running server.
pub(crate) struct Server {
    address: std::net::SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: watch::Receiver<usize>,
    accepted: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
        let (count, connections) = watch::channel(0);
        let accepted = Arc::new(AtomicUsize::new(0));
        let keep = Arc::clone(&asked);
        let all = Arc::clone(&accepted);
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                all.fetch_add(1, Ordering::Relaxed);
                let (keep, answers, count) = (Arc::clone(&keep), Arc::clone(&answers), count.clone());
                open.spawn(async move {
                    count.send_modify(|count| *count += 1);
                    let service = service_fn(move |request| answer(request, Arc::clone(&keep), Arc::clone(&answers)));
                    // A connection that the client leaves is no failure of the test.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                    count.send_modify(|count| *count -= 1);
                });
            }
        });
        Self { address, asked, connections, accepted, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The number of connections that were ever made.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::Relaxed)
    }

    /// Waits until no client is connected.
    pub(crate) async fn until_left(&self) {
        self.connections.clone().wait_for(|count| *count == 0).await.unwrap();
    }

    pub(crate) async fn stop(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(
    request: Request<Incoming>,
    asked: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Mutex<VecDeque<Answer>>>,
) -> Result<Response<BoxBody<Bytes, std::io::Error>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    asked.lock().unwrap().push(Asked {
        method: head.method.to_string(),
        path: head.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
        headers: head.headers,
        body,
    });
    let answer = answers.lock().unwrap().pop_front().unwrap_or_else(|| Answer::status(404, "no answer is left"));
    if matches!(answer.end, End::Never) {
        std::future::pending::<()>().await;
    }
    let mut response = Response::builder().status(answer.status);
    *response.headers_mut().unwrap() = answer.headers.clone();
    Ok(response.body(answer.body()).unwrap())
}
