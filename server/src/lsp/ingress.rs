//! The ingress: every message in the order of the wire.
//!
//! It stands in front of the framework's service, which applies notifications in whatever order their handlers come to
//! run. Here all that a message does is done inside [`Service::call`]; the future that comes back only waits
//! for the answer. The framework keeps the lifecycle.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hub::{Answer, Error, Input};
use protocol::ErrorCode;
use protocol::methods::{InlineEdit, InlineFeedback, Request as _};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tower::Service;
use tower_lsp::LspService;
use tower_lsp::jsonrpc::{Id, Request, Response};

use super::backend::Backend;
use super::connect::Connector;
use super::connected::Connected;
use super::frames::MALFORMED;
use super::messages::typed;
use super::stdio::Answers;
use super::{error, methods};

/// The beginning of the names of our own methods.
const OURS: &str = "azimuth/";

/// The service in front of the framework's.
pub(super) struct Ingress {
    framework: LspService<Backend>,
    stage: Stage,
    pending: Pending,
    answers: Answers,
    /// Cancelled when the connection is over: then nothing that waits is worth waiting for.
    over: CancellationToken,
    /// True if the client said `shutdown`.
    shut_down: Arc<AtomicBool>,
}

/// The state of the connection.
enum Stage {
    /// It has not said `initialize`.
    Fresh(Box<Connector>),
    Connected(Box<Connected>),
    /// It has said `shutdown`. It stays connected, so that what ends now is still shown.
    ShutDown(#[expect(dead_code, reason = "it is kept for its drop, which disconnects the client")] Box<Connected>),
    /// Its connection failed.
    Broken,
}

type Reply = BoxFuture<'static, Result<Option<Response>, Infallible>>;

impl Ingress {
    pub(super) fn new(
        framework: LspService<Backend>,
        connector: Connector,
        answers: Answers,
        over: CancellationToken,
        shut_down: Arc<AtomicBool>,
    ) -> Self {
        let (stage, pending) = (Stage::Fresh(Box::new(connector)), Pending::default());
        Self { framework, stage, pending, answers, over, shut_down }
    }

    fn route(&mut self, request: Request) -> Reply {
        let (method, id, params) = request.into_parts();
        match (method.as_ref(), id) {
            // Ours to answer, at any stage.
            (MALFORMED, _) => now(Some(error::malformed(params))),
            ("$/cancelRequest", None) => {
                self.pending.cancel(params.as_ref().and_then(|params| params.get("id")));
                now(None)
            }

            // The framework's.
            ("initialize", Some(id)) => self.initialize(id, params.unwrap_or_default()),
            ("shutdown", Some(id)) => self.shutdown(id),
            ("exit", None) => {
                self.over.cancel();
                self.framework(Request::build("exit"))
            }

            // The table's.
            (method, None) => {
                if let Stage::Connected(client) = &mut self.stage {
                    notification_of(client, method, params.unwrap_or_default());
                }
                now(None)
            }
            (method, Some(id)) => match &mut self.stage {
                Stage::Connected(client) => match request_of(client, method, params.unwrap_or_default()) {
                    Ok(answer) => self.wait(id, answer),
                    Err(error) => now(Some(error::response(id, error))),
                },
                Stage::Fresh(_) => now(Some(error::response(id, error::not_initialized()))),
                Stage::ShutDown(_) | Stage::Broken => {
                    let error = error::invalid_request("the server is shut down");
                    now(Some(error::response(id, error)))
                }
            },
        }
    }

    fn initialize(&mut self, id: Id, params: Value) -> Reply {
        let request = Request::build("initialize").id(id.clone());
        let params = match &self.stage {
            Stage::Fresh(_) => match typed(params) {
                Ok(params) => params,
                Err(error) => return now(Some(error::response(id, error))),
            },
            _ => return self.framework(request),
        };
        if let Stage::Fresh(connector) = std::mem::replace(&mut self.stage, Stage::Broken) {
            let client = connector.connect(&params, &self.over);
            self.framework.inner().connected(Arc::clone(&client.abilities), Arc::clone(&client.settings));
            self.stage = Stage::Connected(Box::new(client));
        }
        // The framework reads all that a client can do by LSP's full types, and refuses it all for one value that they
        // do not know; it has no use for it.
        self.framework(request.params(json!({ "capabilities": {} })))
    }

    fn shutdown(&mut self, id: Id) -> Reply {
        if let Stage::Connected(_) = &self.stage {
            self.shut_down.store(true, Ordering::SeqCst);
            if let Stage::Connected(client) = std::mem::replace(&mut self.stage, Stage::Broken) {
                self.stage = Stage::ShutDown(client);
            }
        }
        self.framework(Request::build("shutdown").id(id))
    }

    fn framework(&mut self, request: tower_lsp::jsonrpc::RequestBuilder) -> Reply {
        // It fails only after `exit`, when nobody waits for an answer.
        self.framework.call(request.finish()).map(|answer| Ok(answer.unwrap_or_default())).boxed()
    }

    /// Waits for an answer, until it is cancelled or the connection is over. What the framework gets to send is only an
    /// error; it takes no answer that is written already.
    fn wait(&self, id: Id, answer: Answer) -> Reply {
        let Some(cancelled) = self.pending.add(&id) else {
            let error = error::invalid_request(format!("a request with the id {id} waits for its answer already"));
            return now(Some(error::response(id, error)));
        };
        let (pending, answers, over) = (self.pending.clone(), self.answers.clone(), self.over.clone());
        async move {
            let result = tokio::select! {
                result = guard(answer) => result,
                Ok(()) = cancelled => Err(Error::new(ErrorCode::RequestCancelled, "the client cancelled the request")),
                () = over.cancelled() => Err(Error::new(ErrorCode::InternalError, "the connection is over")),
            };
            pending.remove(&id);
            Ok(match result {
                Ok(result) => {
                    answers.send(&id, &result);
                    None
                }
                Err(error) => Some(error::response(id, error)),
            })
        }
        .boxed()
    }
}

impl Service<Request> for Ingress {
    type Response = Option<Response>;
    type Error = Infallible;
    type Future = Reply;

    /// Always ready: the framework's loop would never come to its end after an error from here.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Reply {
        let id = request.id().cloned();
        // A panic here would end the connection.
        catch_unwind(AssertUnwindSafe(|| self.route(request)))
            .unwrap_or_else(|_| now(id.map(|id| error::response(id, panicked()))))
    }
}

/// Takes a request: LSP's by the table, and one of our own goes to the hub from here.
fn request_of(client: &mut Connected, method: &str, params: Value) -> Result<Answer, Error> {
    if !method.starts_with(OURS) {
        return methods::request(client, method, params);
    }
    let (request, answer) = hub::parse(method, params).unwrap_or_else(|| Err(error::no_method(method)))?;
    client.outbox.speaks();
    if method == InlineEdit::METHOD {
        client.asking.leave();
    }
    client.connection.post(Input::Request(request));
    Ok(answer)
}

/// Takes a notification: LSP's by the table, and the one request of our own whose answer nobody needs.
fn notification_of(client: &mut Connected, method: &str, params: Value) {
    if method != InlineFeedback::METHOD {
        return methods::notification(client, method, params);
    }
    if let Err(error) = request_of(client, method, params) {
        tracing::warn!(method, %error, "a notification does not fit");
    }
}

fn now(response: Option<Response>) -> Reply {
    std::future::ready(Ok(response)).boxed()
}

/// Makes a panic an error.
async fn guard(answer: Answer) -> Result<Box<RawValue>, Error> {
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
}

fn panicked() -> Error {
    Error::new(ErrorCode::InternalError, "a fault of Azimuth's; the log says more, and the server goes on")
}

/// The requests that wait for their answers.
#[derive(Clone, Default)]
struct Pending(Arc<Mutex<HashMap<Id, oneshot::Sender<()>>>>);

impl Pending {
    /// Adds a request; none if one with its id waits already. What is given comes when it is cancelled.
    fn add(&self, id: &Id) -> Option<oneshot::Receiver<()>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.contains_key(id) {
            return None;
        }
        let (cancel, cancelled) = oneshot::channel();
        waiting.insert(id.clone(), cancel);
        Some(cancelled)
    }

    fn cancel(&self, id: Option<&Value>) {
        let id = id.and_then(|id| serde_json::from_value::<Id>(id.clone()).ok());
        let waiting = id.and_then(|id| self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
        if let Some(cancel) = waiting {
            let _ = cancel.send(());
        }
    }

    fn remove(&self, id: &Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_requests_are_known_by_their_names() {
        assert!(protocol::methods::REQUESTS.iter().all(|request| request.method.starts_with(OURS)));
    }

    #[tokio::test]
    async fn a_panic_while_an_answer_is_made_is_an_error() {
        let answer: Answer = async { panic!("a fault") }.boxed();
        assert_eq!(guard(answer).await.unwrap_err().code, ErrorCode::InternalError);
    }

    #[tokio::test]
    async fn a_request_is_cancelled_once_and_its_id_is_free_again() {
        let (pending, id) = (Pending::default(), Id::String("a".into()));
        let cancelled = pending.add(&id).unwrap();
        assert!(pending.add(&id).is_none(), "an id stands for one request at a time");
        pending.cancel(Some(&json!("b")));
        pending.cancel(Some(&json!({})));
        pending.cancel(None);
        pending.cancel(Some(&json!("a")));
        cancelled.await.unwrap();
        let answered = pending.add(&id).unwrap();
        pending.remove(&id);
        assert!(answered.await.is_err(), "it was answered and not cancelled");
    }
}
