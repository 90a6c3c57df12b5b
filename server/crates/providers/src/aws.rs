//! Signed requests to AWS, for Amazon Bedrock without a bearer key.
//!
//! [`Signer`] is what a provider needs. It takes [`Credentials`] from a [`Chain`], which finds them as AWS's own
//! programs do, and signs with [`sign`], which is Signature Version 4: a pure function of a request, its [`Scope`],
//! credentials and a time. [`Clock`] is that time.

mod chain;
mod clock;
mod credentials;
mod hmac;
mod metadata;
mod process;
mod profile;
mod sign;
mod signer;

pub use chain::{Chain, CredentialsError, Lookup, Surroundings};
pub use clock::Clock;
pub use credentials::Credentials;
pub use process::RunProgram;
pub use sign::{Scope, SignError, Unsigned, sign};
pub use signer::{Signed, Signer, SignerError};
