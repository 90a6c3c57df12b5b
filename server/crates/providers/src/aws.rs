//! Signed requests to AWS, for Amazon Bedrock without a bearer key.
//!
//! A [`Signer`] takes credentials from a `Chain`, which finds them as AWS's own
//! programs do, and signs with `sign`, which is Signature Version 4: a pure function of a request, its scope,
//! credentials and a time. [`Clock`](crate::clock::Clock) is that time. [`Identity`] is all
//! that credentials are found by.

mod chain;
mod credentials;
mod hmac;
mod identity;
mod metadata;
mod process;
mod profile;
mod sign;
mod signer;

pub(crate) use hmac::hmac;
pub(crate) use identity::Identity;
pub use process::RunProgram;
pub(crate) use sign::{Scope, Unsigned};
pub(crate) use signer::{ERROR_TYPE, Signed, Signer};
