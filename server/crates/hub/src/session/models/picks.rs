//! Models that the user picks for roles: until the process ends, or for good in the user's file.

use std::sync::Arc;

use protocol::role::Role;
use providers::catalog::names;
use tokio::sync::oneshot;

use crate::config::{Config, LOCAL, Reference};
use crate::own_providers::{OwnProviders, variable};
use crate::post::{Message, Shared};

/// Where a pick counts.
const REACH: &str = "in all conversations of this Azimuth process";
/// Where it does not, for plans.
const BUT_CHOSEN: &str = "but for those in which a model was chosen";

/// A role that has another model, or its old one again.
pub(crate) struct Picked {
    /// The configuration that is in force now.
    pub(crate) config: Arc<Config>,
    /// The change, in words for the user.
    pub(crate) text: String,
}

/// Picks the models with these names for a role, which need not be exact; without any, those count that the settings
/// name. With `keep` that is written into the user's file.
///
/// # Errors
/// There is no such model, or the file cannot be written; says what to do, in words for the user.
pub(crate) async fn pick(
    shared: &Shared,
    config: &Config,
    role: Role,
    list: Option<&str>,
    keep: bool,
) -> Result<Picked, String> {
    let list = match list {
        Some(list) => Some(meant(shared, config, role, list).await?),
        None => None,
    };
    let setting = role.setting();
    let asks = |list: &str| format!("{} {} `{list}`", role.words(), if role == Role::Fast { "asks" } else { "ask" });
    if !keep {
        let words = role.words();
        let text = match &list {
            // A pick of a model for plans is no choice for the conversations that have one of their own.
            Some(list) if role == Role::Plan => format!("{} until Azimuth ends, {REACH}, {BUT_CHOSEN}", asks(list)),
            Some(list) => format!("{} until Azimuth ends, {REACH}", asks(list)),
            None if config.picks.contains_key(&role) => {
                format!("what was picked for {words} no longer counts, {REACH}")
            }
            None => format!("nothing was picked for {words}"),
        };
        return Ok(Picked { config: put(shared, role, list).await?, text });
    }
    let own = OwnProviders::new(shared.parts.user_file.clone(), variable);
    let (file, is_changed) = own.set_role(role, list.clone()).await.map_err(|error| error.to_string())?;
    let mut text = match &list {
        Some(list) => format!("{}, by `{setting}` in {}", asks(list), file.display()),
        None if is_changed => format!("`{setting}` is no longer in {}", file.display()),
        None => format!("`{setting}` was not in {}", file.display()),
    };
    let is_read = shared.read_file_again().await;
    let config = put(shared, role, None).await?;
    if config.settings.of_role(role) == list.as_deref() {
        return Ok(Picked { config, text });
    }
    if is_read {
        let place = config.places.get(&role).map_or("another layer of the configuration", String::as_str);
        text.push_str(&format!(". But `{setting}` in {place} counts before that"));
        return Ok(Picked { config, text });
    }
    // Nobody reads the file for this process, so it is picked until then.
    Ok(Picked { config: put(shared, role, list).await?, text })
}

/// Has these models count for a role, or again what the settings say.
async fn put(shared: &Shared, role: Role, list: Option<String>) -> Result<Arc<Config>, String> {
    let (reply, in_force) = oneshot::channel();
    shared.post(None, Message::PickRole(role, list, reply));
    in_force.await.map_err(|_| "Azimuth is ending".to_owned())
}

/// The exact names of what is meant for a role. Other roles stay as they are named, so that they are followed.
async fn meant(shared: &Shared, config: &Config, role: Role, list: &str) -> Result<String, String> {
    config.check_pick(role, list)?;
    let (catalog, settings) = (&shared.parts.catalog, &config.providers);
    let mut exact = Vec::new();
    for name in names(list) {
        let found = match role {
            _ if Reference::of(name).is_some() => Ok(name.to_owned()),
            Role::Completion if name == LOCAL => Ok(name.to_owned()),
            Role::Completion => providers::fill::resolve(settings, catalog, name).await.map(|_| name.to_owned()),
            Role::NextEdit => providers::next_edit::resolve(settings, catalog, name).await.map(|_| name.to_owned()),
            _ => catalog.meant(name).await,
        };
        exact.push(found.map_err(|error| error.to_string())?);
    }
    if exact.is_empty() { Err("say which model, as in `/model plan opus`".to_owned()) } else { Ok(exact.join(", ")) }
}
