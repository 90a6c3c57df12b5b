//! Accounts: the keys and sign-ins that the user keeps for providers of models.
//!
//! Reading order: [`credential`] (what is kept), [`store`] (the file), [`vendor`] (who can be signed in to, as data),
//! [`oauth`] (signing in), `renewal` (one renewal at a time), and `accounts`, which puts these together and is the
//! provider's source of keys ([`providers::Account`]).
//!
//! A key or token leaves this crate in two ways only: to the server that it was given for, and into the file. It is in
//! no error, no log and no `Debug`.

pub mod credential;
pub mod oauth;
pub mod store;
pub mod vendor;

mod accounts;
mod renewal;

pub use accounts::{Accounts, Listed, Removed, Status};
pub use credential::{Credential, DEFAULT_LABEL, Proof, Tokens};
pub use oauth::{Browser, Device, Granted, OAuthError};
pub use renewal::finish_renewals;
pub use store::{Store, StoreError};
pub use vendor::Vendor;
