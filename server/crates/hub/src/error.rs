//! The errors of requests to the hub: the one table from failures to codes and messages.

use ports::store::StoreError;
use protocol::ErrorCode;
use serde_json::Value;

/// A request that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// The kind of failure, for programs.
    pub code: ErrorCode,
    /// A message: what happened, to what, and what to do.
    pub message: String,
    /// Data for programs, as described for the code.
    pub data: Option<Value>,
}

impl Error {
    /// An error with words and no data.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// There is no such thing.
    pub fn not_found(what: &str, id: impl std::fmt::Display) -> Self {
        Self::new(ErrorCode::NotFound, format!("there is no {what} {id}"))
    }

    /// The same error with data for programs.
    pub fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let code = match &error {
            StoreError::NotFound { .. } => ErrorCode::NotFound,
            StoreError::Locked { .. } => ErrorCode::SessionLocked,
            StoreError::Exists(_) | StoreError::Newer { .. } | StoreError::Failed(_) => ErrorCode::StoreFailed,
        };
        Self::new(code, error.to_string())
    }
}
