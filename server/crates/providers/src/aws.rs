//! Signed requests to AWS, for Amazon Bedrock without a bearer key.
//!
//! [`Signers`] gives each provider its [`Signer`]. It takes credentials from a `Chain`, which finds them as AWS's own
//! programs do, and signs with `sign`, which is Signature Version 4: a pure function of a request, its scope,
//! credentials and a time. `Clock` is that time.

mod chain;
mod clock;
mod credentials;
mod hmac;
mod metadata;
mod process;
mod profile;
mod sign;
mod signer;
mod signers;

pub(crate) use hmac::hmac;
pub use process::RunProgram;
pub(crate) use sign::Unsigned;
pub(crate) use signer::{Signed, Signer};
pub(crate) use signers::Identity;
pub use signers::Signers;
