//! Our own requests as typed values, each with the place its answer goes to.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use protocol::ErrorCode;
use protocol::methods::{self, Request as Method};
use protocol::session::SessionOpenResult;
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
pub(crate) type JsonReply = Box<dyn FnOnce(Result<Box<RawValue>, Error>) + Send>;

macro_rules! result {
    (SessionOpen) => {
        Opened
    };
    ($name:ident) => {
        <methods::$name as Method>::Result
    };
}

macro_rules! requests {
    ($($name:ident),* $(,)?) => {
        /// A request of ours.
        pub enum Request {
            $(#[doc = concat!("`", stringify!($name), "` of [`protocol::methods`].")]
            $name(<methods::$name as Method>::Params, Reply<result!($name)>),)*
        }

        impl Request {
            /// Answers with an error.
            pub fn fail(self, error: Error) {
                match self {
                    $(Self::$name(_, reply) => drop(reply.send(Err(error))),)*
                }
            }

            /// The request as JSON, to be answered elsewhere: its method, its parameters, and where the answer goes.
            pub(crate) fn into_json(self) -> (&'static str, Value, JsonReply) {
                match self {
                    $(Self::$name(params, reply) => {
                        (<methods::$name as Method>::METHOD, json!(params), read_into(reply))
                    })*
                }
            }

            /// The request of a method with its parameters, and its answer to come. None for a method that is not ours.
            ///
            /// # Errors
            /// Parameters that do not fit; the message names the field.
            pub fn parse(method: &str, params: Value) -> Option<Result<(Self, Answer), Error>> {
                match method {
                    $(<methods::$name as Method>::METHOD => Some(typed(params).map(|params| {
                        let (reply, answer) = oneshot::channel();
                        (Self::$name(params, reply), written(answer))
                    })),)*
                    _ => None,
                }
            }
        }
    };
}

requests! {
    SessionNew, SessionList, SessionOpen, SessionClose, SessionRename, SessionMode, SessionDelete,
    TurnStart, TurnSteer, TurnQueue, TurnCancel,
    PermissionAnswer, PermissionList, PermissionRevoke, WorkspaceTrust, ReviewList, ReviewDecide, ReviewText, ReviewChange, ReviewComment, ReviewAuto,
    CheckpointList, CheckpointPreview, CheckpointUndo, CheckpointRedo,
    TerminalList, TerminalOpen, TerminalWrite, TerminalResize, TerminalKill, TerminalSignal, TerminalTake, TerminalAck, TerminalClose,
    ModelList, ModelSelect, ServersList, ServersRestart, PromptComplete, PromptBeginnings,
}

/// Reads a message's parameters.
///
/// # Errors
/// Parameters that do not fit; the message names the field.
pub(crate) fn typed<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
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
pub(crate) fn read<T: DeserializeOwned>(text: &RawValue) -> Result<T, Error> {
    serde_json::from_str(text.get())
        .map_err(|error| Error::new(ErrorCode::InternalError, format!("the answer could not be read: {error}")))
}

/// Writes an answer as JSON.
///
/// # Errors
/// A value that has no form in JSON.
pub(crate) fn write(answer: &impl Serialize) -> Result<Box<RawValue>, Error> {
    to_raw_value(answer)
        .map_err(|error| Error::new(ErrorCode::InternalError, format!("the answer could not be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(method: &str, params: Value) -> String {
        match Request::parse(method, params) {
            Some(Err(error)) if error.code == ErrorCode::InvalidParams => error.message,
            _ => String::from("no error"),
        }
    }

    #[test]
    fn bad_params_name_the_field() {
        assert!(error_of("azimuth/session/open", json!({})).contains("`sessionId`"));
        assert!(error_of("azimuth/session/open", json!({ "sessionId": "a", "since": "x" })).contains("`since`"));
        assert!(error_of("azimuth/session/list", json!({ "everywere": true })).contains("`everywere`"));
        assert!(
            error_of("azimuth/turn/start", json!({ "sessionId": "a", "prompt": [{ "type": "text" }] }))
                .contains("`prompt[0]`")
        );
    }

    #[tokio::test]
    async fn a_request_answered_elsewhere_is_answered_here() {
        let params = json!({ "sessionId": "s", "turnId": "t" });
        let (request, answer) = Request::parse("azimuth/turn/cancel", params.clone()).unwrap().unwrap();
        let (method, sent, reply) = request.into_json();
        assert_eq!((method, sent), ("azimuth/turn/cancel", params));
        reply(Ok(RawValue::from_string(r#"{"cancelled":true}"#.into()).unwrap()));
        assert_eq!(answer.await.unwrap().get(), r#"{"cancelled":true}"#);

        let (request, answer) = Request::parse("azimuth/turn/cancel", json!({ "sessionId": "s" })).unwrap().unwrap();
        request.into_json().2(Ok(RawValue::from_string("7".into()).unwrap()));
        assert_eq!(answer.await.unwrap_err().code, ErrorCode::InternalError);
    }

    #[test]
    fn every_method_of_the_protocol_is_a_request() {
        for spec in methods::REQUESTS {
            assert!(Request::parse(spec.method, json!({ "!": 0 })).is_some(), "{} is missing", spec.method);
        }
    }
}
