//! Our own requests as typed values, each with the place its answer goes to, and the tables of who answers them.

use std::any::Any;
use std::collections::HashMap;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use protocol::methods::Request as Method;
use protocol::session::SessionOpenResult;
use protocol::{ErrorCode, SessionId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Error;

/// Where a request's answer goes. Dropping it answers with an internal error.
pub type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// The answer to a request, as the text of JSON, once it is there.
pub type Answer = BoxFuture<'static, Result<Box<RawValue>, Error>>;

/// The answer to `azimuth/session/open`. It may hold a whole log, and the events in it are the store's own text.
pub type Opened = SessionOpenResult<Box<RawValue>>;

/// Where the answer to a request goes that was sent elsewhere as JSON.
pub type JsonReply = Box<dyn FnOnce(Result<Box<RawValue>, Error>) + Send>;

/// A request of ours, whatever its method.
pub struct Request(Box<dyn Call + Send>);

impl Request {
    /// A request of a method.
    pub fn new<M: Method>(params: M::Params, reply: Reply<M::Answer>) -> Self {
        Self(Box::new(Typed::<M> { params, reply }))
    }

    /// The session that it is about.
    pub fn session(&self) -> Option<&SessionId> {
        self.0.session()
    }

    /// The parameters; none if it is of another method.
    pub fn params<M: Method>(&self) -> Option<&M::Params> {
        let call: &dyn Any = &*self.0;
        call.downcast_ref::<Typed<M>>().map(|call| &call.params)
    }

    /// True if it is of this method.
    pub fn is<M: Method>(&self) -> bool {
        self.params::<M>().is_some()
    }

    /// Hands it to `taker` if it is of this method, and else gives it back.
    pub fn when<M: Method>(self, taker: impl FnOnce(M::Params, Reply<M::Answer>)) -> Option<Self> {
        if !self.is::<M>() {
            return Some(self);
        }
        let call: Box<dyn Any + Send> = self.0;
        if let Ok(call) = call.downcast::<Typed<M>>() {
            taker(call.params, call.reply);
        }
        None
    }

    /// Answers with an error.
    pub fn fail(self, error: Error) {
        self.0.fail(error);
    }

    /// The request as JSON, to be answered elsewhere: its method, its parameters, and where the answer goes.
    pub fn into_json(self) -> (&'static str, Value, JsonReply) {
        self.0.into_json()
    }
}

/// The requests that a `T` answers, of a caller that is a `C`. Each part of the server registers its own, by their
/// types.
pub struct Handlers<T, C> {
    by_method: HashMap<&'static str, Handler<T, C>>,
}

impl<T: 'static, C: 'static> Handlers<T, C> {
    /// Registers a method whose answer may come later.
    pub fn on<M: Method>(&mut self, handler: fn(&mut T, C, M::Params, Reply<M::Answer>)) -> &mut Self {
        let handle = move |to: &mut T, from: C, request: Request| {
            let _ = request.when::<M>(|params, reply| handler(to, from, params, reply));
        };
        self.by_method.insert(M::METHOD, Handler { parse: parse::<M>, handle: Box::new(handle) });
        self
    }

    /// Registers a method that is answered at once.
    pub fn at_once<M: Method>(&mut self, handler: AtOnce<T, C, M>) -> &mut Self {
        let handle = move |to: &mut T, from: C, request: Request| {
            let _ = request.when::<M>(|params, reply| drop(reply.send(handler(to, from, params))));
        };
        self.by_method.insert(M::METHOD, Handler { parse: parse::<M>, handle: Box::new(handle) });
        self
    }

    /// True for a method that is registered.
    pub fn has(&self, method: &str) -> bool {
        self.by_method.contains_key(method)
    }

    /// The request of a method with its parameters, and its answer to come. None for a method that is not registered.
    ///
    /// # Errors
    /// Parameters that do not fit; the message names the field.
    pub fn parse(&self, method: &str, params: Value) -> Option<Result<(Request, Answer), Error>> {
        self.by_method.get(method).map(|handler| (handler.parse)(params))
    }

    /// Has a request answered. One whose method is not registered is answered with an internal error.
    pub fn handle(&self, to: &mut T, from: C, request: Request) {
        if let Some(handler) = self.by_method.get(request.0.method()) {
            (handler.handle)(to, from, request);
        }
    }
}

impl<T, C> Default for Handlers<T, C> {
    fn default() -> Self {
        Self { by_method: HashMap::new() }
    }
}

struct Handler<T, C> {
    parse: fn(Value) -> Result<(Request, Answer), Error>,
    handle: Box<Handle<T, C>>,
}

type Handle<T, C> = dyn Fn(&mut T, C, Request) + Send + Sync;

/// A function that answers a method `M` at once.
type AtOnce<T, C, M> = fn(&mut T, C, <M as Method>::Params) -> Result<<M as Method>::Answer, Error>;

/// A request whose method is not known.
trait Call: Any {
    fn method(&self) -> &'static str;
    fn session(&self) -> Option<&SessionId>;
    fn fail(self: Box<Self>, error: Error);
    fn into_json(self: Box<Self>) -> (&'static str, Value, JsonReply);
}

/// A request of a method.
struct Typed<M: Method> {
    params: M::Params,
    reply: Reply<M::Answer>,
}

impl<M: Method> Call for Typed<M> {
    fn method(&self) -> &'static str {
        M::METHOD
    }

    fn session(&self) -> Option<&SessionId> {
        M::session(&self.params)
    }

    fn fail(self: Box<Self>, error: Error) {
        let _ = self.reply.send(Err(error));
    }

    fn into_json(self: Box<Self>) -> (&'static str, Value, JsonReply) {
        (M::METHOD, json!(self.params), read_into(self.reply))
    }
}

fn parse<M: Method>(params: Value) -> Result<(Request, Answer), Error> {
    Ok(request_of::<M>(typed(params)?))
}

/// A request of a method, and its answer to come as the text of JSON.
pub fn request_of<M: Method>(params: M::Params) -> (Request, Answer) {
    let (reply, answer) = oneshot::channel();
    (Request::new::<M>(params, reply), written(answer))
}

/// Reads a message's parameters.
///
/// # Errors
/// Parameters that do not fit; the message names the field.
pub fn typed<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    // A method without required parameters may be called without any.
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_path_to_error::deserialize(params).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        let place = if path == "." { String::new() } else { format!("`{path}`: ") };
        Error::new(ErrorCode::InvalidParams, format!("invalid params: {place}{inner}"))
    })
}

fn written<T: Serialize + Send + 'static>(answer: oneshot::Receiver<Result<T, Error>>) -> Answer {
    async move {
        let dropped = |_| Error::new(ErrorCode::InternalError, "the request was dropped; the server's log says why");
        write(&answer.await.map_err(dropped)??)
    }
    .boxed()
}

/// Reads an answer out of JSON, for one who waits for it.
fn read_into<T: DeserializeOwned + Send + 'static>(reply: Reply<T>) -> JsonReply {
    Box::new(move |answer| drop(reply.send(answer.and_then(|text| read(&text)))))
}

/// Reads an answer out of JSON.
///
/// # Errors
/// JSON that is no such answer.
pub fn read<T: DeserializeOwned>(text: &RawValue) -> Result<T, Error> {
    serde_json::from_str(text.get())
        .map_err(|error| Error::new(ErrorCode::InternalError, format!("the answer could not be read: {error}")))
}

/// Writes an answer as JSON.
///
/// # Errors
/// A value that has no form in JSON.
pub fn write(answer: &impl Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(answer)
        .map_err(|error| Error::new(ErrorCode::InternalError, format!("the answer could not be written: {error}")))
}

#[cfg(test)]
mod tests {
    use protocol::methods::{SessionList, TurnCancel};
    use protocol::session::SessionListResult;
    use protocol::turn::TurnCancelResult;

    use super::*;

    /// A part of a server that answers two methods.
    #[derive(Default)]
    struct Part {
        cancelled: Vec<Option<SessionId>>,
        later: Vec<Reply<SessionListResult>>,
    }

    fn handlers() -> Handlers<Part, u8> {
        let mut handlers = Handlers::default();
        handlers
            .at_once::<TurnCancel>(|part: &mut Part, _, params| {
                part.cancelled.push(Some(params.session_id));
                Ok(TurnCancelResult { cancelled: true })
            })
            .on::<SessionList>(|part, _, _, reply| part.later.push(reply));
        handlers
    }

    fn cancel() -> Value {
        json!({ "sessionId": "s", "turnId": "t" })
    }

    #[tokio::test]
    async fn a_part_answers_the_methods_that_it_registers() {
        let (handlers, mut part) = (handlers(), Part::default());
        let (request, answer) = handlers.parse("azimuth/turn/cancel", cancel()).unwrap().unwrap();
        assert_eq!(request.session(), Some(&SessionId::from("s")));
        handlers.handle(&mut part, 1, request);
        assert_eq!(answer.await.unwrap().get(), r#"{"cancelled":true}"#);

        let (request, answer) = handlers.parse("azimuth/session/list", Value::Null).unwrap().unwrap();
        assert_eq!(request.session(), None);
        handlers.handle(&mut part, 1, request);
        part.later.pop().unwrap().send(Ok(SessionListResult { sessions: Vec::new() })).unwrap();
        assert_eq!(answer.await.unwrap().get(), r#"{"sessions":[]}"#);
        assert!(handlers.parse("azimuth/turn/start", cancel()).is_none());
    }

    #[tokio::test]
    async fn a_request_that_nobody_answers_is_answered_with_an_error() {
        let (request, answer) = handlers().parse("azimuth/turn/cancel", cancel()).unwrap().unwrap();
        Handlers::<Part, u8>::default().handle(&mut Part::default(), 1, request);
        assert_eq!(answer.await.unwrap_err().code, ErrorCode::InternalError);
    }

    #[test]
    fn a_request_is_taken_by_the_type_of_its_method_alone() {
        let (request, _answer) = handlers().parse("azimuth/turn/cancel", cancel()).unwrap().unwrap();
        assert!(request.is::<TurnCancel>() && !request.is::<SessionList>());
        let mut taken = None;
        let request = request.when::<SessionList>(|_, _| panic!("it lists nothing")).unwrap();
        assert!(request.when::<TurnCancel>(|params, _| taken = params.turn_id).is_none());
        assert_eq!(taken, Some("t".into()));
    }

    #[tokio::test]
    async fn a_request_answered_elsewhere_is_answered_here() {
        let (request, answer) = handlers().parse("azimuth/turn/cancel", cancel()).unwrap().unwrap();
        let (method, sent, reply) = request.into_json();
        assert_eq!((method, sent), ("azimuth/turn/cancel", cancel()));
        reply(Ok(RawValue::from_string(r#"{"cancelled":true}"#.into()).unwrap()));
        assert_eq!(answer.await.unwrap().get(), r#"{"cancelled":true}"#);

        let (request, answer) = handlers().parse("azimuth/turn/cancel", json!({ "sessionId": "s" })).unwrap().unwrap();
        request.into_json().2(Ok(RawValue::from_string("7".into()).unwrap()));
        assert_eq!(answer.await.unwrap_err().code, ErrorCode::InternalError);
    }
}
