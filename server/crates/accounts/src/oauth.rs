//! Signing in (OAuth 2.0): by a browser with a callback to this machine or a pasted address, and by a device code.
//! Issued tokens are renewed and revoked here too.
//!
//! Nothing in this module keeps anything: it turns the user's consent into [`Tokens`](crate::Tokens).

mod browser;
mod callback;
mod device;
mod id_token;
mod random;
mod token;

use std::time::Duration;

pub use self::browser::Browser;
pub use self::callback::Granted;
pub use self::device::Device;
pub(crate) use self::random::uuid;
pub(crate) use self::token::{refresh, revoke};
use crate::store::StoreError;

/// The time that a user may take to sign in.
pub const PATIENCE: Duration = Duration::from_secs(600);

/// A sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The provider cannot be signed in to in this way.
    #[error("{provider} cannot be signed in to {way}{advice}")]
    NoSuchWay {
        /// The provider.
        provider: String,
        /// The way, in words.
        way: &'static str,
        /// The advice on what to do instead, after a colon or semicolon.
        advice: &'static str,
    },
    /// An address of the configuration is of no use.
    #[error("providers.{provider}.sign_in: {problem}")]
    Address {
        /// The provider.
        provider: String,
        /// The problem, with the setting's name.
        problem: String,
    },
    /// The port of the callback is in use.
    #[error(
        "port {0} of this machine, to which {1} sends the browser back, is in use, perhaps by another sign-in that has \
         not ended. End it, or use `azimuth auth login --paste`"
    )]
    PortInUse(u16, String),
    /// The callback cannot be waited for.
    #[error("the browser's return cannot be waited for: {0}. Use `azimuth auth login --paste`")]
    NoCallback(std::io::Error),
    /// The vendor refused.
    #[error("{vendor} refused the sign-in: {said}")]
    Refused {
        /// The vendor.
        vendor: String,
        /// Its words.
        said: String,
    },
    /// The sign-in that was there has ended.
    #[error("the sign-in to {vendor} has ended ({said}); run `azimuth auth login {provider}`")]
    Ended {
        /// The vendor.
        vendor: String,
        /// Its words.
        said: String,
        /// The provider.
        provider: String,
    },
    /// The vendor refuses to renew the sign-in, for another reason than that it has ended.
    #[error("{vendor} does not renew the sign-in: {said}; run {advice}")]
    NotRenewed {
        /// The vendor.
        vendor: String,
        /// Its words.
        said: String,
        /// The commands to run.
        advice: String,
    },
    /// The configuration names another server than the one that issued the tokens.
    #[error(
        "the sign-in to {vendor} was made at another server than the configuration names now; run `azimuth auth login \
         {provider}`, or name that server again"
    )]
    OtherServer {
        /// The vendor.
        vendor: String,
        /// The provider.
        provider: String,
    },
    /// The account was signed out while it was to be renewed.
    #[error("the account at {0} is gone; run `azimuth auth login {0}`")]
    Gone(String),
    /// The vendor cannot be reached, or answers with a failure of its own.
    #[error("{vendor} cannot be asked: {problem}; check the connection and try again")]
    Unreachable {
        /// The vendor.
        vendor: String,
        /// The problem, in words.
        problem: String,
    },
    /// The vendor's answer is not what the protocol says.
    #[error("{1} answered with {0}, so the sign-in is not used")]
    Answer(String, String),
    /// The user did not consent to all that is needed.
    #[error(
        "{vendor} did not grant `{scope}`, without which Azimuth cannot use the account; sign in again and allow it"
    )]
    Scope {
        /// The vendor.
        vendor: String,
        /// The scope.
        scope: String,
    },
    /// The pasted text is no callback of this sign-in.
    #[error("{0}")]
    Pasted(String),
    /// Nobody signed in.
    #[error("nobody signed in within {} minutes; start again when you are ready", .0.as_secs().div_ceil(60))]
    TooLate(Duration),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandom,
    /// The accounts cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}
