//! The models of roles, where a setting alone does not say which.

use protocol::ErrorCode;
use protocol::role::Role;
use protocol::session::Mode;
use providers::catalog::names;

use super::default_model;
use crate::Error;
use crate::config::{Config, Reference, with_default};
use crate::post::Shared;

/// The chain of models of a role; none if no setting names one for it.
pub(crate) async fn chain_of(shared: &Shared, config: &Config, role: Role) -> Option<String> {
    settled(shared, config, config.chain(role)?).await
}

/// The chain of models of turns in a mode, if the mode has one of its own.
pub(crate) async fn chain_of_mode(shared: &Shared, config: &Config, mode: Mode) -> Option<String> {
    settled(shared, config, config.chain_of_mode(mode)?).await
}

/// A list of names in which roles may stand, with their models in their stead.
///
/// # Errors
/// A role in it comes to no model.
pub(super) async fn without_roles(shared: &Shared, config: &Config, list: &str) -> Result<String, Error> {
    let found = config.without_roles(list).map_err(|problem| Error::new(ErrorCode::NotFound, problem))?;
    Ok(settled(shared, config, found).await.unwrap_or_else(|| list.to_owned()))
}

/// Puts the model of new conversations in where only the catalog knows which that is.
async fn settled(shared: &Shared, config: &Config, chain: String) -> Option<String> {
    if !names(&chain).any(|name| Reference::of(name).is_some()) {
        return Some(chain);
    }
    let default = default_model(shared, config).await.ok().map(|model| model.info().selector());
    with_default(&chain, default.as_deref())
}
