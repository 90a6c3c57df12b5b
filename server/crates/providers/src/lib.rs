//! Model vendors behind the agent's port [`Model`](ports::model::Model).
//!
//! Reading order: [`catalog`] (which models there are, and which can be used), [`settings`] (what it is told: keys and
//! hosts), `data` (what is known of models: limits, prices, abilities; the numbers are in `models.toml`), [`cost`],
//! `remote` (one model of a vendor: a request out, the stream back), `wire` (the vendors' formats, pure functions of
//! bytes), `failure` (what went wrong, in words), `pool` (several keys and accounts at a provider, and which of them is
//! used), `quota` (the limits that vendors tell), `signers` (the credentials of clouds: `aws` signs for Amazon Bedrock,
//! `google` has the access tokens of Vertex AI), and [`scripted`] (the model that plays a script or a recording, and
//! the recorder). [`fill`] and [`next_edit`] have the models that write where the user types, behind the ports of
//! [`ports::complete`]; what is known of them is in `fim.toml`. Requests go out by the crate [`net`].
//!
//! Nothing here starts before it is needed: a [`Catalog`] costs no network, no TLS and no thread
//! until the first request.

pub mod catalog;
pub mod cost;
pub mod fill;
pub mod key_command;
mod key_file;
mod key_from;
pub mod keys;
pub mod next_edit;
pub mod scripted;
pub mod settings;

mod account;
mod address;
mod aws;
mod clock;
mod cloud;
mod compat;
mod data;
mod dates;
mod failure;
mod fetched;
mod frames;
mod google;
mod hash;
mod keep;
mod level;
mod ollama;
mod own_file;
mod percent;
mod pool;
mod quota;
mod refusals;
mod remote;
mod secret;
mod signers;
mod vendors;
mod wire;

#[cfg(test)]
mod loopback;

pub use account::{Account, KeptAccount, KeyProblem};
pub use address::address_problem;
pub use aws::RunProgram;
pub use catalog::{Catalog, CatalogError, Models, OfKey, Unlisted, Untried};
pub use compat::Compat;
pub use data::{is_known as is_known_model, is_listed as is_listed_model};
pub use google::is_project as is_google_project;
pub use keep::KeepLists;
pub use key_command::{KeyCommand, KeyCommands, RunCommand};
pub use key_file::KeyFile;
pub use pool::Pools;
pub use settings::{Defined, NamedKey, Provider, Secret, Settings};
pub use signers::Signers;
pub use vendors::{dialects, known as known_vendors};
pub use wire::Wire;
