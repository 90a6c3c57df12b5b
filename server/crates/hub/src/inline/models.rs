//! The models that suggest where the user types: one that fills in text, and one that edits.

use std::sync::Arc;

use ports::complete::{Complete, EditNext};
use protocol::inline::{Reason, Rule};
use protocol::role::Role;

use crate::config::{Config, LOCAL};
use crate::post::Shared;
use crate::session::chain_of;

/// The models, each with the reason if there is none.
pub(super) struct Source {
    /// The one that fills in text at the cursor.
    pub(super) model: Result<Arc<dyn Complete>, Reason>,
    /// The one that suggests edits.
    pub(super) edits: Result<Arc<dyn EditNext>, Reason>,
}

impl Source {
    pub(super) fn none(reason: Reason) -> Self {
        Self { model: Err(reason.clone()), edits: Err(reason) }
    }

    /// True if there is one of them.
    pub(super) fn is_any(&self) -> bool {
        self.model.is_ok() || self.edits.is_ok()
    }

    /// Why there is no model that fills in text.
    pub(super) fn reason(&self) -> Reason {
        self.model.as_ref().err().cloned().unwrap_or_else(|| Rule::NoModel.into())
    }
}

/// True if another configuration may name another model.
pub(super) fn is_other(old: &Config, new: &Config) -> bool {
    let providers = |config: &Config| {
        let of = |provider: &providers::Provider| {
            let (name, address) = (provider.name.clone(), provider.base_url.clone());
            (name, address, provider.known_secrets(), provider.has_key(), provider.wire)
        };
        config.providers.providers.iter().map(of).collect::<Vec<_>>()
    };
    [Role::Completion, Role::NextEdit].into_iter().any(|role| old.chain(role) != new.chain(role))
        || old.hosts_unknown != new.hosts_unknown
        || old.enabled_models != new.enabled_models
        || old.disabled_providers != new.disabled_providers
        || old.provider_order != new.provider_order
        || providers(old) != providers(new)
}

/// True if a configuration names a model.
pub(super) fn are_named(config: &Config) -> bool {
    config.chain(Role::Completion).is_some() || config.chain(Role::NextEdit).is_some()
}

/// The models that a configuration names.
pub(super) async fn source(shared: &Shared, config: &Config) -> Source {
    if let Some(error) = config.errors.first().filter(|_| config.hosts_unknown && are_named(config)) {
        let words = format!("{error}. Until this is fixed, nothing is sent to a model.");
        return Source::none(Reason { rule: Rule::NoModel, words });
    }
    let (model, edits) = tokio::join!(completing(shared, config), editing(shared, config));
    if let Ok(model) = &model {
        tracing::info!(model = model.info().id, "suggestions have a model");
    }
    if let Ok(model) = &edits {
        tracing::info!(model = model.info().id, "suggested edits have a model");
    }
    Source { model, edits }
}

async fn completing(shared: &Shared, config: &Config) -> Result<Arc<dyn Complete>, Reason> {
    let Some(chain) = chain_of(shared, config, Role::Completion).await else { return Err(Rule::NotSet.into()) };
    let mut first = None;
    for name in providers::catalog::names(&chain) {
        match completing_by(shared, config, name).await {
            Ok(model) => return Ok(model),
            Err(reason) => first.get_or_insert(reason),
        };
    }
    Err(first.unwrap_or_else(|| Rule::NotSet.into()))
}

async fn completing_by(shared: &Shared, config: &Config, name: &str) -> Result<Arc<dyn Complete>, Reason> {
    let name = match name {
        LOCAL => match providers::fill::local(&config.providers).await.into_iter().next() {
            Some(found) => found.name,
            None => {
                let words = "No model for suggestions was found on this machine: neither a llama.cpp server with a \
                             model that fills in code, nor such a model of Ollama's.";
                return Err(Reason { rule: Rule::NoModel, words: words.to_owned() });
            }
        },
        name => name.to_owned(),
    };
    let resolved = providers::fill::resolve(&config.providers, &shared.parts.catalog, &name).await;
    resolved.map_err(|error| Reason { rule: Rule::NoModel, words: format!("{error}.") })
}

async fn editing(shared: &Shared, config: &Config) -> Result<Arc<dyn EditNext>, Reason> {
    let Some(chain) = chain_of(shared, config, Role::NextEdit).await else { return Err(Rule::NotSet.into()) };
    let mut first = None;
    for name in providers::catalog::names(&chain) {
        match providers::next_edit::resolve(&config.providers, &shared.parts.catalog, name).await {
            Ok(model) => return Ok(model),
            Err(error) => first.get_or_insert(Reason { rule: Rule::NoModel, words: format!("{error}.") }),
        };
    }
    Err(first.unwrap_or_else(|| Rule::NotSet.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_models_that_change_may_change_the_model_of_suggestions() {
        let (plain, mut disabled, mut enabled) = (Config::default(), Config::default(), Config::default());
        disabled.settings.disabled_providers.push("mistral".to_owned());
        enabled.settings.enabled_models.push("ollama/*".to_owned());
        assert!(is_other(&plain, &disabled) && is_other(&plain, &enabled) && !is_other(&plain, &plain.clone()));
    }
}
