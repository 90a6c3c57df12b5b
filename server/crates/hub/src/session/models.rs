//! The choice of the model that a session asks, and of the level at which it thinks.

mod chain;
mod picks;
mod roles;
mod small;

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::context::full_of;
use ports::model::Model;
use ports::store::{Store, StoreError};
use protocol::model::{DEFAULT_LEVEL, ModelInfo, ThinkingLevel, selector};
use protocol::role::Role;
use protocol::{ErrorCode, Event};
use providers::CatalogError;
use providers::catalog::names;

pub(crate) use self::chain::{ModelChain, Switched};
pub(crate) use self::picks::{Picked, pick};
use self::roles::without_roles;
pub(crate) use self::roles::{chain_of, chain_of_mode, role, roles};
use crate::Error;
use crate::config::Config;
use crate::feed::blocking;
use crate::post::{LAST_MODEL, Shared};

/// The key in the store of the levels that were chosen for models.
const LEVELS: &str = "thinking_levels";
/// The key in the store of the models that were chosen last, and their number.
const RECENT: &str = "recent_models";
const MOST_RECENT: usize = 10;

/// The model of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its id.
    pub(crate) model: String,
    /// The level at which it thinks; none if it thinks as it does by itself.
    pub(crate) level: Option<ThinkingLevel>,
    /// True if nobody chose it: it is the model of new sessions.
    pub(crate) is_default: bool,
    /// The chain that was chosen by name, of which it is one.
    pub(crate) chain: Option<String>,
}

impl Chosen {
    /// The name that selects it with its level.
    pub(crate) fn selector(&self) -> String {
        selector(&self.model, self.level)
    }

    /// The model; without its level, if it no longer has that.
    pub(crate) async fn resolve(&self, shared: &Shared) -> Result<Arc<dyn Model>, Error> {
        let catalog = &shared.parts.catalog;
        let resolved = match catalog.resolve(&self.selector()).await {
            Err(CatalogError::NoLevel { .. }) => catalog.resolve(&self.model).await,
            resolved => resolved,
        };
        resolved.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))
    }
}

/// The model with this name.
pub(crate) async fn resolve_model(shared: &Shared, name: &str) -> Result<Arc<dyn Model>, Error> {
    let resolved = shared.parts.catalog.resolve(name).await;
    resolved.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))
}

/// The exact name of the model that is asked for, which exists. A user's name need not be exact.
pub(crate) async fn meant_model(shared: &Shared, config: &Config, name: &str, is_user: bool) -> Result<String, Error> {
    let meant = match is_user {
        true => exact_name(shared, config, name).await?,
        false => without_roles(shared, config, name).await?,
    };
    resolve_model(shared, &meant).await?;
    Ok(meant)
}

async fn exact_name(shared: &Shared, config: &Config, name: &str) -> Result<String, Error> {
    let name = without_roles(shared, config, name).await?;
    let meant = shared.parts.catalog.meant(&name).await;
    meant.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))
}

/// The ids of the models that were chosen last, the last one first.
pub(crate) async fn recent_models(shared: &Shared) -> Vec<String> {
    let store = Arc::clone(&shared.parts.store);
    blocking(move || recent(&*store)).await.unwrap_or_default()
}

fn recent(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let recent = store.get(RECENT)?;
    Ok(recent.and_then(|recent| serde_json::from_str(&recent).ok()).unwrap_or_default())
}

/// Puts a model before the others that were chosen.
fn note_recent(store: &dyn Store, id: &str) -> Result<(), StoreError> {
    let mut models = recent(store)?;
    if models.first().is_some_and(|first| first == id) {
        return Ok(());
    }
    models.retain(|model| model != id);
    models.insert(0, id.to_owned());
    models.truncate(MOST_RECENT);
    store.set(RECENT, &serde_json::to_string(&models).unwrap_or_default())
}

/// The model that a user chooses by this name, which need not be exact, and its exact name. A level in it is remembered
/// for the model, and without one, that counts.
pub(crate) async fn choose_model(
    shared: &Shared,
    config: &Config,
    name: &str,
) -> Result<(Arc<dyn Model>, String), Error> {
    let exact = exact_name(shared, config, name).await?;
    let model = resolve_model(shared, &exact).await?;
    let ModelInfo { id, level, .. } = model.info();
    let (store, chosen) = (Arc::clone(&shared.parts.store), id.clone());
    blocking(move || note_recent(&*store, &chosen)).await?;
    if level.is_none() && !says_default(name) {
        return Ok((at_remembered_level(shared, model).await, exact));
    }
    let (store, id, level) = (Arc::clone(&shared.parts.store), id.clone(), *level);
    let remember = move || {
        let mut levels = remembered(&*store)?;
        if levels.get(&id).copied() == level {
            return Ok(());
        }
        match level {
            Some(level) => levels.insert(id, level),
            None => levels.remove(&id),
        };
        store.set(LEVELS, &serde_json::to_string(&levels).unwrap_or_default())
    };
    blocking(remember).await?;
    Ok((model, exact))
}

/// The same for a session. New sessions begin with this model too, if the configuration names none. One that only plays
/// a script is never chosen unasked, and another level of the model that the session has is no choice of a model; nor
/// is one for this session alone (`only_here`).
pub(crate) async fn choose_for_session(
    shared: &Shared,
    config: &Config,
    name: &str,
    known: Option<&Chosen>,
    only_here: bool,
) -> Result<(Arc<dyn Model>, String), Error> {
    let (model, exact) = choose_model(shared, config, name).await?;
    let info = model.info();
    let is_same = known.is_some_and(|known| known.model == info.id);
    if !only_here && !info.scripted && !(is_same && (info.level.is_some() || says_default(name))) {
        let (store, id) = (Arc::clone(&shared.parts.store), info.id.clone());
        // The choice holds for the session all the same.
        if let Err(error) = blocking(move || store.set(LAST_MODEL, &id)).await {
            tracing::warn!(%error, "the model that was chosen could not be remembered for new conversations");
        }
    }
    Ok((model, exact))
}

/// The model with this name, at the level that was last chosen for it if the name says none. Nothing is remembered.
pub(crate) async fn named_model(shared: &Shared, name: &str) -> Result<Arc<dyn Model>, Error> {
    let model = resolve_model(shared, name).await?;
    Ok(if says_default(name) { model } else { at_remembered_level(shared, model).await })
}

/// True if a name that was chosen says only another level for the model that a session has by default. A chain says
/// more.
pub(crate) async fn is_other_level(
    shared: &Shared,
    config: &Config,
    name: &str,
    chosen: &ModelInfo,
    known: Option<Chosen>,
) -> bool {
    let says_level = chosen.level.is_some() || says_default(name);
    if !says_level || names(name).nth(1).is_some() || name.trim().ends_with(chosen.id.as_str()) {
        return false;
    }
    match known {
        Some(known) => known.is_default && known.model == chosen.id,
        None => default_model(shared, config).await.is_ok_and(|default| default.info().id == chosen.id),
    }
}

/// The chain that stays the session's where a name that was chosen says only a level for the model that it has.
pub(crate) fn kept_chain(name: &str, chosen: &ModelInfo, known: Option<&Chosen>) -> Option<String> {
    let is_level = |(_, end): (&str, &str)| {
        end.eq_ignore_ascii_case(DEFAULT_LEVEL)
            || chosen.level.is_some_and(|level| end.eq_ignore_ascii_case(level.name()))
    };
    let says_level = names(name).nth(1).is_none() && name.trim().rsplit_once(':').is_some_and(is_level);
    known.filter(|known| says_level && known.model == chosen.id)?.chain.clone()
}

/// Says of models at which level they think if nobody chooses another.
pub(crate) async fn note_levels(shared: &Shared, models: &mut [ModelInfo]) {
    let store = Arc::clone(&shared.parts.store);
    let levels = blocking(move || remembered(&*store)).await.unwrap_or_default();
    for model in models {
        model.level = levels.get(&model.id).copied().filter(|level| model.levels.contains(level));
    }
}

/// The event that says which model a session uses. `name` is the one by which it was chosen; that of a chain is kept.
pub(crate) fn model_changed(info: &ModelInfo, name: Option<&str>, by_default: bool) -> Event {
    Event::ModelChanged {
        model: info.id.clone(),
        scripted: info.scripted,
        thinking: info.level,
        by_default,
        chain: name.filter(|name| names(name).nth(1).is_some()).map(str::to_owned),
    }
}

/// The events that say so, the second with the size of the context if that is known: the limit is the new model's.
pub(crate) fn model_chosen(
    info: &ModelInfo,
    name: &str,
    by_default: bool,
    context: Option<u64>,
) -> impl Iterator<Item = Event> + use<> {
    let used = context.map(|used| Event::ContextUsed { used, limit: info.context_tokens, full: Some(full_of(info)) });
    [Some(model_changed(info, Some(name), by_default)), used].into_iter().flatten()
}

/// The model of new sessions: the configured one, else the last one chosen, else the first that can be used.
pub(crate) async fn default_model(shared: &Shared, config: &Config) -> Result<Arc<dyn Model>, Error> {
    if let Some(chain) = config.chain(Role::Default) {
        return named_model(shared, &chain).await;
    }
    // Whoever names models, and be it by a mistake, asks no others.
    if let Some(problem) = config.why_none(Role::Default) {
        return Err(Error::new(ErrorCode::NotFound, problem));
    }
    let store = Arc::clone(&shared.parts.store);
    if let Ok(Some(last)) = blocking(move || store.get(LAST_MODEL)).await
        && let Ok(model) = shared.parts.catalog.resolve(&last).await
        && model.info().available
    {
        return Ok(at_remembered_level(shared, model).await);
    }
    let first = shared.parts.catalog.default_model().await;
    let first = first.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))?;
    Ok(at_remembered_level(shared, first).await)
}

/// True if a name ends with the word for as much as a model thinks by itself.
fn says_default(name: &str) -> bool {
    name.trim().rsplit_once(':').is_some_and(|(_, end)| end.eq_ignore_ascii_case(DEFAULT_LEVEL))
}

/// The model at the level that was last chosen for it, unless it has one.
async fn at_remembered_level(shared: &Shared, model: Arc<dyn Model>) -> Arc<dyn Model> {
    let info = model.info();
    if info.level.is_some() || info.levels.is_empty() {
        return model;
    }
    let store = Arc::clone(&shared.parts.store);
    let levels = blocking(move || remembered(&*store)).await.unwrap_or_default();
    match levels.get(&info.id) {
        // A level that the model no longer has is as good as none.
        Some(level) => resolve_model(shared, &selector(&info.id, Some(*level))).await.unwrap_or(model),
        None => model,
    }
}

/// The levels that were last chosen, by the ids of their models.
fn remembered(store: &dyn Store) -> Result<BTreeMap<String, ThinkingLevel>, StoreError> {
    let levels = store.get(LEVELS)?;
    Ok(levels.and_then(|levels| serde_json::from_str(&levels).ok()).unwrap_or_default())
}

/// The model, if it can be asked now; else what to do about it.
pub(crate) fn usable(model: Arc<dyn Model>, config: &Config) -> Result<Arc<dyn Model>, Error> {
    let info = model.info();
    if let Some(error) = config.errors.first().filter(|_| config.hosts_unknown && !info.scripted) {
        let text = format!(
            "{error}. Until this is fixed, nothing is sent to a model, since the configuration may name its server"
        );
        return Err(Error::new(ErrorCode::OperationFailed, text));
    }
    // The models are listed by the rules of the window's folders, and the session may be in another.
    if let Some(problem) = config.providers.rules_out(info).filter(|_| !info.scripted) {
        let error = CatalogError::RuledOut { model: info.id.clone(), problem };
        return Err(Error::new(ErrorCode::NotFound, error.to_string()));
    }
    if info.available {
        return Ok(model);
    }
    let why = info.unavailable_because.as_deref().unwrap_or("it is not available");
    Err(Error::new(ErrorCode::NotFound, format!("{} cannot be used: {why}", info.name)))
}
