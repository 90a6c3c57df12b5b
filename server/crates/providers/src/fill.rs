//! Models that fill in text at the cursor, behind the port [`Complete`].
//!
//! Reading order: [`resolve`] (a name to a model), [`local`] (models on this machine), `wire` (a request to bytes) with
//! `family` (the tokens that models learned) and `excerpts`, `read` (bytes to pieces), `clean` (what is no part of the
//! answer), `exchange` and `text` (the network), `remote` and `chat` (the models).

pub(crate) mod chat;
pub(crate) mod clean;
mod excerpts;
pub(crate) mod exchange;
pub(crate) mod family;
mod local;
pub(crate) mod read;
pub(crate) mod remote;
pub(crate) mod text;
pub(crate) mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use net::{Clients, Url, is_loopback};
use ports::complete::Complete;
use ports::model::Model;

use self::chat::ChatFill;
use self::remote::RemoteFill;
use crate::catalog::{Catalog, CatalogError};
use crate::keys;
use crate::settings::{Provider, Settings, not_set_up};
use crate::vendors::Vendor;
use crate::wire::Wire;

pub use self::local::{Found, local};
pub use self::wire::FillWire;

/// The model that fills in text under this name, which is `provider/model`; the part after `llama.cpp/` may be empty.
/// The wire follows from both: a vendor's own, the tokens that the model learned, or words if it learned none.
///
/// # Errors
/// There is no such model, or its provider cannot be asked.
pub async fn resolve(settings: &Settings, catalog: &Catalog, name: &str) -> Result<Arc<dyn Complete>, CatalogError> {
    find(settings, catalog, name, None).await.map(|model| masked(catalog, model))
}

/// The same over this wire.
///
/// # Errors
/// There is no such model, its provider cannot be asked, or nothing is known of its tokens and the wire needs them.
pub async fn resolve_with(
    settings: &Settings,
    catalog: &Catalog,
    name: &str,
    wire: FillWire,
) -> Result<Arc<dyn Complete>, CatalogError> {
    find(settings, catalog, name, Some(wire)).await.map(|model| masked(catalog, model))
}

/// The model without a view of secrets.
fn masked(catalog: &Catalog, model: Arc<dyn Complete>) -> Arc<dyn Complete> {
    match catalog.masks() {
        Some(masks) => mask::complete(model, masks),
        None => model,
    }
}

async fn find(
    settings: &Settings,
    catalog: &Catalog,
    name: &str,
    wire: Option<FillWire>,
) -> Result<Arc<dyn Complete>, CatalogError> {
    let name = name.trim();
    if let Some(model) = catalog.added_fill(name) {
        return Ok(model);
    }
    let Some((provider, model)) = provider_of(settings, name)? else {
        // A name without its provider is one of the catalog's.
        let model = catalog.resolve_aside(name).await?;
        let id = model.info().id.clone();
        return match provider_of(settings, &id)? {
            Some((provider, own)) => made(settings, catalog, (provider, own), wire, Some(Arc::clone(&model))).await,
            None => Ok(Arc::new(ChatFill::new(model, false))),
        };
    };
    made(settings, catalog, (provider, model), wire, None).await
}

async fn made(
    settings: &Settings,
    catalog: &Catalog,
    (provider, model): (&Provider, &str),
    wire: Option<FillWire>,
    chat: Option<Arc<dyn Model>>,
) -> Result<Arc<dyn Complete>, CatalogError> {
    let http = catalog.http();
    let name = format!("{}/{model}", provider.name);
    let wire = match wire {
        Some(FillWire::Tokens) if family::find(model).is_none() => {
            let problem = "which tokens it learned for filling in is not known; choose another wire".to_owned();
            return Err(CatalogError::Unfit { name: keys::left_out(&name).into_owned(), problem });
        }
        Some(wire) => wire,
        None => chosen(provider, model, &http).await,
    };
    if wire != FillWire::Chat {
        allowed(&name, settings.rules().model(&name))?;
        return Ok(Arc::new(RemoteFill::new(provider, model, wire, http)));
    }
    let model = match chat {
        Some(model) => model,
        None => catalog.resolve_aside(&name).await?,
    };
    // The name may have been an alias, and these settings may rule out more than the catalog's.
    allowed(&name, settings.rules_out(model.info()))?;
    Ok(Arc::new(ChatFill::new(model, is_local(provider))))
}

/// The wire over which a model is best asked.
async fn chosen(provider: &Provider, model: &str, http: &Clients) -> FillWire {
    if provider.wire != Wire::OpenAiChat {
        return FillWire::Chat;
    }
    let is_hosted = |vendor: &str| family::hosted(vendor, model).is_some();
    match known_wire(provider) {
        Some(FillWire::Mistral) if !is_hosted("mistral") => FillWire::Chat,
        Some(FillWire::Inception) if !is_hosted("inception") => FillWire::Chat,
        // Ollama refuses to fill in with a model whose template does not say how.
        Some(FillWire::Ollama)
            if family::find(model).is_none() && local::can_insert(provider, model, http).await == Some(false) =>
        {
            FillWire::Chat
        }
        Some(wire) => wire,
        None if family::find(model).is_some() && !is_chat_only(provider) => FillWire::Tokens,
        None => FillWire::Chat,
    }
}

/// The wire of a provider that has one of its own, by its name or its host.
pub(crate) fn known_wire(provider: &Provider) -> Option<FillWire> {
    let host = host_of(provider);
    let is = |name: &str, hosts: &[&str]| provider.name == name || hosts.iter().any(|known| *known == host);
    if is("llama.cpp", &[]) {
        Some(FillWire::LlamaCpp)
    } else if is("ollama", &[]) {
        Some(FillWire::Ollama)
    } else if is("mistral", &["api.mistral.ai", "codestral.mistral.ai"]) {
        Some(FillWire::Mistral)
    } else if is("deepseek", &["api.deepseek.com"]) {
        Some(FillWire::DeepSeek)
    } else if is("inception", &["api.inceptionlabs.ai"]) {
        Some(FillWire::Inception)
    } else {
        None
    }
}

/// True if a provider is known to have no wire but the one to chat, or to hide the tokens of its models.
fn is_chat_only(provider: &Provider) -> bool {
    let hosts = ["openrouter.ai", "api.groq.com", "api.x.ai", "api.openai.com"];
    let is_signed = provider.signer().is_some();
    is_signed
        || hosts.iter().any(|known| *known == host_of(provider))
        || provider.vendor().is_some_and(Vendor::has_own_paths)
}

/// The provider in a name and the model's name at it; none if the name begins with no provider's.
///
/// # Errors
/// The provider is known, but ruled out, or there is no key for it.
pub(crate) fn provider_of<'a, 'b>(
    settings: &'a Settings,
    name: &'b str,
) -> Result<Option<(&'a Provider, &'b str)>, CatalogError> {
    let Some((first, model)) = name.split_once('/') else { return Ok(None) };
    if let Some(provider) = settings.providers.iter().find(|provider| provider.name == first) {
        allowed(name, settings.rules().provider(first))?;
        return match provider.missing() {
            Some(problem) => Err(CatalogError::Unlisted { name: keys::left_out(name).into_owned(), problem }),
            None => Ok(Some((provider, model))),
        };
    }
    match not_set_up(first) {
        Some(problem) => Err(CatalogError::Unlisted { name: keys::left_out(name).into_owned(), problem }),
        None => Ok(None),
    }
}

/// Sees that no rule of the configuration is against a model of this name.
///
/// # Errors
/// There is one; says which.
pub(crate) fn allowed(name: &str, problem: Option<String>) -> Result<(), CatalogError> {
    match problem {
        Some(problem) => Err(CatalogError::RuledOut { model: keys::left_out(name).into_owned(), problem }),
        None => Ok(()),
    }
}

/// True if a provider's server runs on this machine.
pub(crate) fn is_local(provider: &Provider) -> bool {
    Url::parse(provider.base_url.trim()).is_ok_and(|url| is_loopback(&url))
}

fn host_of(provider: &Provider) -> String {
    let url = Url::parse(provider.base_url.trim()).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
