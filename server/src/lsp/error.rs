//! Answers in the framework's terms: the only place that makes its errors.

use hub::Error;
use protocol::ErrorCode;
use serde_json::Value;
use tower_lsp::jsonrpc::{self, Id, Response};

use super::frames::Fault;

/// The answer to a request that failed.
pub(super) fn response(id: Id, error: Error) -> Response {
    Response::from_error(id, to_jsonrpc(error))
}

/// The answer to a message that could not be read, whose id is therefore not known.
pub(super) fn malformed(params: Option<Value>) -> Response {
    let fault = params.and_then(|params| serde_json::from_value::<Fault>(params).ok());
    let error = match fault {
        Some(fault) => jsonrpc::Error { code: i64::from(fault.code).into(), message: fault.message.into(), data: None },
        // Only a client that names our own method itself gets here.
        None => jsonrpc::Error::invalid_request(),
    };
    Response::from_error(Id::Null, error)
}

/// A request that came before `initialize`.
pub(super) fn not_initialized() -> Error {
    Error::new(ErrorCode::ServerNotInitialized, "the server is not initialized: send `initialize` first")
}

/// A method that we do not have.
pub(super) fn no_method(method: &str) -> Error {
    Error::new(ErrorCode::MethodNotFound, format!("there is no method `{method}`"))
}

/// A request that cannot come at this time or in this form.
pub(super) fn invalid_request(why: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidRequest, why)
}

fn to_jsonrpc(error: Error) -> jsonrpc::Error {
    jsonrpc::Error { code: i64::from(error.code.code()).into(), message: error.message.into(), data: error.data }
}
