//! The models of roles, where a setting alone does not say which.

use std::time::Duration;

use futures_util::future::join_all;
use protocol::ErrorCode;
use protocol::role::{Role, RoleInfo};
use protocol::session::Mode;
use providers::catalog::names;

use super::small::small_beside;
use super::{default_model, named_model, usable};
use crate::Error;
use crate::config::{Config, LOCAL, Reference, with_found};
use crate::post::Shared;

/// The time that it may take to find a model that is only told of.
const FINDING: Duration = Duration::from_secs(2);

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

/// The models that the roles come to now.
pub(crate) async fn roles(shared: &Shared, config: &Config) -> Vec<RoleInfo> {
    join_all(Role::ALL.into_iter().map(|of| role(shared, config, of))).await
}

/// The model that a role comes to now, and why.
pub(crate) async fn role(shared: &Shared, config: &Config, role: Role) -> RoleInfo {
    let chain = match role {
        Role::Default | Role::Fast | Role::Instruct if !config.has_model_for(role) => {
            settled(shared, config, format!("@{}", role.name())).await
        }
        _ => chain_of(shared, config, role).await,
    };
    let mut why = source(config, role);
    let mut model = None;
    for name in names(chain.as_deref().unwrap_or_default()) {
        let found = tokio::time::timeout(FINDING, usable_for(shared, config, role, name)).await;
        match found.unwrap_or_else(|_| Err("its provider does not answer".to_owned())) {
            Ok(found) => {
                model = Some(found);
                break;
            }
            Err(problem) => why.push_str(&format!("; `{name}` is left out: {problem}")),
        }
    }
    let (words, picked) = (role.words().to_owned(), config.picks.contains_key(&role));
    RoleInfo { role, words, model, why, picked }
}

/// The model with a name for a role, if it can be asked now, by its id and level; else why not.
async fn usable_for(shared: &Shared, config: &Config, role: Role, name: &str) -> Result<String, String> {
    let (catalog, settings) = (&shared.parts.catalog, &config.providers);
    match role {
        Role::Completion if name == LOCAL => Ok(name.to_owned()),
        Role::Completion => {
            let found = providers::fill::resolve(settings, catalog, name).await;
            found.map(|model| model.info().id.clone()).map_err(|error| error.to_string())
        }
        Role::NextEdit => {
            let found = providers::next_edit::resolve(settings, catalog, name).await;
            found.map(|model| model.info().id.clone()).map_err(|error| error.to_string())
        }
        _ => {
            let model = named_model(shared, name).await.and_then(|model| usable(model, config));
            let model = model.map_err(|error| error.message)?;
            match shared.cooldowns.of(&model.info().id, shared.parts.clock.now()) {
                Some(rests) => Err(format!("it is let rest, since it failed: {}", rests.error)),
                None => Ok(model.info().selector()),
            }
        }
    }
}

/// Where it is said which models a role has, in words.
fn source(config: &Config, role: Role) -> String {
    let Some(named) = config.named_for(role) else {
        let setting = role.setting();
        return match role {
            Role::Default => "the one that was chosen last, else the first that can be used".to_owned(),
            Role::Plan => "that of the conversation".to_owned(),
            Role::Fast => format!("no `{setting}` is set, so it is the cheapest beside the model of new conversations"),
            Role::Title => {
                format!("no `{setting}` and no `fast_model` is set; the first sentence of the prompt is taken")
            }
            Role::Instruct => "that of new conversations".to_owned(),
            Role::Oracle => format!("no `{setting}` is set, so no other model is asked"),
            Role::Completion | Role::NextEdit => format!("no `{setting}` is set, so nothing is suggested"),
        };
    };
    let list = config.of_role(named).unwrap_or_default();
    let says = if names(list).any(|name| Reference::of(name).is_some()) {
        format!(", which is `{list}`")
    } else {
        String::new()
    };
    if config.picks.contains_key(&named) {
        let of = if named == role { String::new() } else { format!(" for `{}`", named.name()) };
        return format!("picked{of} until Azimuth ends{says}");
    }
    let place = config.places.get(&named).map_or("the configuration", String::as_str);
    format!("`{}` in {place}{says}", named.setting())
}

/// Puts the model of new conversations, and the small one beside it, in where only the catalog knows which those are.
async fn settled(shared: &Shared, config: &Config, chain: String) -> Option<String> {
    if !names(&chain).any(|name| Reference::of(name).is_some()) {
        return Some(chain);
    }
    let default = default_model(shared, config).await.ok();
    let needs_small = |name| Reference::of(name).is_some_and(|reference| reference.role == Some(Role::Fast));
    let small = match &default {
        Some(default) if names(&chain).any(needs_small) => small_beside(shared, config, default.info()).await,
        _ => None,
    };
    let default = default.map(|model| model.info().selector());
    with_found(&chain, default.as_deref(), small.as_deref())
}
