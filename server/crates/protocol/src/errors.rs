//! The error codes of Azimuth's methods. JSON-RPC's and LSP's own codes keep their meaning.

/// An error code of JSON-RPC, LSP or Azimuth.
///
/// Azimuth's are in -32000..-32099, which JSON-RPC leaves to servers, without those that LSP reserves (-32002, -32001).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorCode {
    /// The message is not JSON.
    ParseError,
    /// The JSON is not a request.
    InvalidRequest,
    /// There is no such method.
    MethodNotFound,
    /// The parameters are invalid; the message names the field.
    InvalidParams,
    /// A bug in the server, which continues.
    InternalError,
    /// A request before `initialize`.
    ServerNotInitialized,
    /// The client cancelled the request.
    RequestCancelled,
    /// There is no such session, turn, proposal, hunk, terminal, question or model.
    NotFound,
    /// The review has changed; `data` has the current proposals.
    StaleReview,
    /// The named turn is not the running one; `data` has the running one, if any.
    WrongTurn,
    /// A turn is running in the session.
    TurnRunning,
    /// Another process has the session open and cannot be reached; the message says which.
    SessionLocked,
    /// The session's data could not be read or written.
    StoreFailed,
    /// The command or file operation could not be done.
    OperationFailed,
    /// The user has to confirm it; the message explains it.
    NotConfirmed,
}

impl ErrorCode {
    /// All codes, grouped by their numbers.
    pub const ALL: &'static [Self] = &[
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::InternalError,
        Self::ServerNotInitialized,
        Self::RequestCancelled,
        Self::NotFound,
        Self::StaleReview,
        Self::WrongTurn,
        Self::TurnRunning,
        Self::SessionLocked,
        Self::StoreFailed,
        Self::OperationFailed,
        Self::NotConfirmed,
    ];

    /// The number on the wire.
    pub const fn code(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::InternalError => -32603,
            Self::ServerNotInitialized => -32002,
            Self::RequestCancelled => -32800,
            Self::NotFound => -32010,
            Self::StaleReview => -32011,
            Self::WrongTurn => -32012,
            Self::TurnRunning => -32013,
            Self::SessionLocked => -32014,
            Self::StoreFailed => -32015,
            Self::OperationFailed => -32016,
            Self::NotConfirmed => -32017,
        }
    }

    /// The name in documents and generated types.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ParseError => "parseError",
            Self::InvalidRequest => "invalidRequest",
            Self::MethodNotFound => "methodNotFound",
            Self::InvalidParams => "invalidParams",
            Self::InternalError => "internalError",
            Self::ServerNotInitialized => "serverNotInitialized",
            Self::RequestCancelled => "requestCancelled",
            Self::NotFound => "notFound",
            Self::StaleReview => "staleReview",
            Self::WrongTurn => "wrongTurn",
            Self::TurnRunning => "turnRunning",
            Self::SessionLocked => "sessionLocked",
            Self::StoreFailed => "storeFailed",
            Self::OperationFailed => "operationFailed",
            Self::NotConfirmed => "notConfirmed",
        }
    }

    /// The meaning, for documents.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::ParseError => "The message is not JSON.",
            Self::InvalidRequest => "The JSON is not a request.",
            Self::MethodNotFound => "There is no such method.",
            Self::InvalidParams => "The parameters are invalid; the message names the field.",
            Self::InternalError => "A bug in the server, which continues.",
            Self::ServerNotInitialized => "A request came before `initialize` was answered.",
            Self::RequestCancelled => "The client cancelled the request.",
            Self::NotFound => "There is no such session, turn, proposal, hunk, terminal, question or model.",
            Self::StaleReview => "The review has changed; `data.proposals` has the current proposals.",
            Self::WrongTurn => "The named turn is not the running one; `data.turnId` is the running one, or null.",
            Self::TurnRunning => "A turn is running in the session: steer it, queue the prompt, or cancel it.",
            Self::SessionLocked => {
                "Another process has the session open and cannot be reached; the message says which."
            }
            Self::StoreFailed => "The session's data could not be read or written; the message says why.",
            Self::OperationFailed => "The operation could not be done; the message says why and what to do.",
            Self::NotConfirmed => {
                "The user has to confirm it: show them the message, which explains it, and send the request again with `confirmed`."
            }
        }
    }
}
