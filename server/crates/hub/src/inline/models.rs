//! The model that suggests where the user types.

use std::sync::Arc;

use ports::complete::Complete;
use protocol::inline::{Reason, Rule};

use crate::config::Config;
use crate::post::Shared;

/// The value of `completion_model` for a model that is found on this machine.
pub(crate) const LOCAL: &str = "local";

/// The model, or why there is none.
pub(super) struct Source {
    pub(super) model: Result<Arc<dyn Complete>, Reason>,
}

impl Source {
    pub(super) fn none(reason: Reason) -> Self {
        Self { model: Err(reason) }
    }

    /// Why there is no model.
    pub(super) fn reason(&self) -> Reason {
        self.model.as_ref().err().cloned().unwrap_or_else(|| Rule::NoModel.into())
    }
}

/// True if another configuration may name another model.
pub(super) fn is_other(old: &Config, new: &Config) -> bool {
    let providers = |config: &Config| {
        let of = |provider: &providers::Provider| {
            (provider.name.clone(), provider.base_url.clone(), provider.key.clone(), provider.wire)
        };
        config.providers.providers.iter().map(of).collect::<Vec<_>>()
    };
    old.completion_model != new.completion_model
        || old.hosts_unknown != new.hosts_unknown
        || providers(old) != providers(new)
}

/// The model that a configuration names.
pub(super) async fn source(shared: &Shared, config: &Config) -> Source {
    let Some(name) = config.completion_model.as_deref() else {
        return Source::none(Rule::NotSet.into());
    };
    if let Some(error) = config.errors.first().filter(|_| config.hosts_unknown) {
        let words = format!("{error}. Until this is fixed, nothing is sent to a model.");
        return Source::none(Reason { rule: Rule::NoModel, words });
    }
    let name = match name {
        LOCAL => match providers::fill::local(&config.providers).await.into_iter().next() {
            Some(found) => found.name,
            None => {
                let words = "No model for suggestions was found on this machine: neither a llama.cpp server with a \
                             model that fills in code, nor such a model of Ollama's.";
                return Source::none(Reason { rule: Rule::NoModel, words: words.to_owned() });
            }
        },
        name => name.to_owned(),
    };
    let resolved = providers::fill::resolve(&config.providers, &shared.parts.catalog, &name).await;
    let model = resolved.map_err(|error| Reason { rule: Rule::NoModel, words: format!("{error}.") });
    if let Ok(model) = &model {
        tracing::info!(model = model.info().id, "suggestions have a model");
    }
    Source { model }
}
