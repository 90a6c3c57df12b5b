//! Access tokens for Google Cloud, for Vertex AI: Google's Application Default Credentials.
//!
//! [`Tokens`] finds credentials as Google's own libraries do (`search`), and has them turned into an access token,
//! which is kept until shortly before its end: a `file` says whose they are, `assertion` is what a service account
//! signs with its key, `endpoint` asks the server of tokens, and `metadata` the service of a machine at Google. An
//! identity of another cloud or a company is `external`, and its token, which is exchanged, comes from `subject`.
//! `hosts` are those that are given tokens.
//! [`Identity`] is all that they are found by.

mod acting;
mod assertion;
mod endpoint;
mod error;
mod external;
mod fields;
mod file;
mod hosts;
mod identity;
mod metadata;
mod project;
mod search;
mod subject;
mod tokens;

#[cfg(test)]
mod testing;

pub(crate) use error::GoogleError;
pub(crate) use identity::Identity;
pub use project::is_project;
pub(crate) use project::{place_in, project_of};
pub(crate) use tokens::{Token, Tokens};
