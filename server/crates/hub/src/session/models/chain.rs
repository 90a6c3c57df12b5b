//! The models of a turn: the one that it asks, and those that may go on in its stead.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use ports::model::{Fallbacks, Model, ModelError, ModelErrorKind, Successor};
use protocol::model::{ModelInfo, SwitchReason, ThinkingLevel, selector, without_level};
use protocol::{Event, TurnId};
use providers::CatalogError;
use providers::catalog::names;

use super::{named_model, usable};
use crate::Error;
use crate::config::Config;
use crate::post::Shared;

/// So many models are named that the user could choose.
const NAMED: usize = 3;
/// How long it may take to find them: neither the end of a turn that has failed nor its beginning is to be kept back.
const FINDING: Duration = Duration::from_secs(2);

/// The models that may go on in the stead of a turn's.
pub(crate) struct ModelChain {
    shared: Shared,
    config: Arc<Config>,
    /// The names, in order; fewer than two if there is no chain.
    names: Vec<String>,
    asked: Mutex<Asked>,
}

/// The models that the turn has asked, by their ids.
#[derive(Default)]
struct Asked {
    all: BTreeSet<String>,
    /// Of each larger model that goes on in the stead of another, that one: its place in the chain counts.
    larger: BTreeMap<String, String>,
}

impl Asked {
    /// The model that this one stands for.
    fn origin(&self, model: &str) -> String {
        self.larger.get(model).map_or_else(|| model.to_owned(), Clone::clone)
    }

    /// A larger model goes on in the stead of this one.
    fn promote(&mut self, from: &str, to: &str) {
        let origin = self.origin(from);
        self.all.extend([from, to].map(str::to_owned));
        self.larger.insert(to.to_owned(), origin);
    }
}

/// A model that goes on from the turn's beginning, since its own is let rest or cannot be asked.
pub(crate) struct Switched {
    pub(crate) model: Arc<dyn Model>,
    instead_of: String,
    reason: SwitchReason,
    until: Option<u64>,
    error: String,
}

impl Switched {
    /// The event for the log. `level` is the turn's own, if it has one.
    pub(crate) fn event(&self, turn_id: TurnId, level: Option<ThinkingLevel>) -> Event {
        let info = self.model.info();
        Event::TurnModelChanged {
            turn_id,
            model: info.id.clone(),
            thinking: level.or(info.level),
            instead_of: self.instead_of.clone(),
            reason: self.reason,
            until: self.until,
            error: Some(self.error.clone()),
            account: None,
        }
    }
}

impl ModelChain {
    /// The chain that this text names, with commas between the models.
    pub(crate) fn new(shared: Shared, config: Arc<Config>, list: Option<&str>) -> Self {
        let names = list.into_iter().flat_map(names).map(str::to_owned).collect();
        Self { shared, config, names, asked: Mutex::default() }
    }

    /// A larger model goes on in the stead of this one from the beginning.
    pub(crate) fn promoted(&self, from: &str, to: &str) {
        self.asked().promote(from, to);
    }

    /// The model that goes on from the beginning; none if this one can be asked, or there is no other.
    pub(crate) async fn at_once(&self, model: &ModelInfo) -> Option<Switched> {
        let rests = self.shared.cooldowns.of(&model.id, self.now());
        let (reason, until, error) = match (rests, &model.unavailable_because) {
            (Some(rests), _) => (rests.reason, Some(rests.until), rests.error),
            (None, Some(why)) if !model.available => (SwitchReason::Unauthorized, None, why.clone()),
            (None, _) => return None,
        };
        let next = self.after(&model.id).await?;
        Some(Switched { model: next, instead_of: model.id.clone(), reason, until, error })
    }

    /// The first of the chain that can be asked in the stead of one of it that is not there; none if that one is none
    /// of it, or nothing else can be asked. `is_of_it` says that it is one of it, whatever name the chain has for it:
    /// what an alias stood for is not known any more.
    pub(crate) async fn beside(&self, missing: &str, is_of_it: bool) -> Option<Arc<dyn Model>> {
        let (missing, bare) = (without_level(missing), missing.split_once('/').map(|(_, bare)| without_level(bare)));
        let is_missing = |name: &String| without_level(name) == missing || Some(without_level(name)) == bare;
        if !is_of_it && !self.names.iter().any(is_missing) {
            return None;
        }
        // One that does not answer keeps none of the others back.
        let in_time = |name| tokio::time::timeout(FINDING, named_model(&self.shared, name));
        let found = join_all(self.names.iter().map(|name| in_time(name))).await;
        // An alias may stand for another provider's model now, which was not chosen.
        let providers = || self.names.iter().map(String::as_str).chain([missing]).filter_map(provider_of);
        let is_chosen = |model: &Arc<dyn Model>| providers().any(|provider| provider == model.info().provider);
        let named = found.into_iter().zip(&self.names).filter_map(|(model, name)| {
            model.ok()?.ok().filter(|model| !is_of_it || provider_of(name).is_some() || is_chosen(model))
        });
        let mut usable = named.filter_map(|model| usable(model, &self.config).ok());
        usable.find(|model| self.shared.cooldowns.of(&model.info().id, self.now()).is_none())
    }

    /// That this model goes on from the beginning where the turn's own is not there; none if it cannot be asked.
    pub(crate) fn instead_of_missing(&self, missing: &str, model: Arc<dyn Model>, error: &Error) -> Option<Switched> {
        let model = usable(model, &self.config).ok()?;
        self.asked().all.extend([missing.to_owned(), model.info().id.clone()]);
        let (instead_of, error) = (missing.to_owned(), error.message.clone());
        Some(Switched { model, instead_of, reason: SwitchReason::Unauthorized, until: None, error })
    }

    /// The names of the chain that name no model, in words. It goes on without these.
    pub(crate) async fn mistakes(&self) -> Vec<String> {
        if self.names.len() < 2 {
            return Vec::new();
        }
        let catalog = &self.shared.parts.catalog;
        let found = join_all(self.names.iter().map(|name| catalog.resolve(name)));
        let found = tokio::time::timeout(FINDING, found).await.unwrap_or_default();
        let in_words = |error: CatalogError| match error {
            CatalogError::Unknown { .. } | CatalogError::NoLevel { .. } => {
                Some(format!("One model of the chain {} is left out: {error}.", self.names.join(", ")))
            }
            _ => None,
        };
        found.into_iter().filter_map(Result::err).filter_map(in_words).collect()
    }

    fn now(&self) -> u64 {
        self.shared.parts.clock.now()
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first of the chain that can be asked and that the turn has not asked; none if this model is none of it.
    async fn after(&self, model: &str) -> Option<Arc<dyn Model>> {
        if self.names.len() < 2 {
            return None;
        }
        let mut found = Vec::new();
        for name in &self.names {
            found.extend(named_model(&self.shared, name).await.ok());
        }
        let mut asked = self.asked();
        let origin = asked.origin(model);
        if !found.iter().any(|found| found.info().id == origin) {
            return None;
        }
        asked.all.extend([model.to_owned(), origin]);
        let may_go_on = |id: &str| !asked.all.contains(id) && self.shared.cooldowns.of(id, self.now()).is_none();
        let usable = found.into_iter().filter_map(|found| usable(found, &self.config).ok());
        let next = usable.into_iter().find(|found| may_go_on(&found.info().id))?;
        asked.all.insert(next.info().id.clone());
        Some(next)
    }
}

#[async_trait]
impl Fallbacks for ModelChain {
    async fn next(&self, failed: &ModelInfo, failure: &ModelError) -> Option<Successor> {
        let reason = failure.kind.switch_reason()?;
        let lasting = match failure.kind {
            ModelErrorKind::RateLimited { retry_after: Some(asked) }
            | ModelErrorKind::Overloaded { retry_after: asked }
                if !asked.is_zero() =>
            {
                asked
            }
            _ => Duration::from_secs(self.config.model_cooldown.into()),
        };
        let why = (reason, failure.message.clone());
        let until = self.shared.cooldowns.begin(&failed.id, lasting, self.now(), why);
        let model = self.after(&failed.id).await?;
        Some(Successor { model, until: Some(until).filter(|_| !lasting.is_zero()) })
    }

    async fn larger(&self, than: &ModelInfo) -> Option<Successor> {
        if !self.config.context_promotion {
            return None;
        }
        let catalog = &self.shared.parts.catalog;
        let models = catalog.of_provider(&than.provider).await;
        let asked = self.asked().all.clone();
        let larger = models.iter().filter(|other| {
            let is_larger = other.context_tokens > than.context_tokens && maker(&other.id) == maker(&than.id);
            let has_failed = asked.contains(&other.id) || self.shared.cooldowns.of(&other.id, self.now()).is_some();
            is_larger && other.available && !has_failed
        });
        let price = |model: &ModelInfo| model.price.map_or(f64::INFINITY, |price| price.input);
        let next = larger.min_by(|one, other| {
            one.context_tokens.cmp(&other.context_tokens).then(price(one).total_cmp(&price(other)))
        })?;
        let model = match catalog.resolve(&selector(&next.id, than.level)).await {
            Ok(model) => model,
            // It has no such level.
            Err(_) => catalog.resolve(&next.id).await.ok()?,
        };
        let model = usable(model, &self.config).ok()?;
        self.promoted(&than.id, &model.info().id);
        Some(Successor { model, until: None })
    }

    fn answered(&self, model: &ModelInfo) {
        self.shared.cooldowns.end(&model.id);
    }

    async fn others(&self, than: &ModelInfo) -> Vec<String> {
        let all = tokio::time::timeout(FINDING, self.shared.parts.catalog.list()).await.unwrap_or_default();
        let asked = self.asked().all.clone();
        let can_be_asked = |model: &&ModelInfo| {
            let is_another = model.id != than.id && !asked.contains(&model.id);
            is_another
                && model.available
                && !model.scripted
                && self.shared.cooldowns.of(&model.id, self.now()).is_none()
        };
        let mut providers = BTreeSet::new();
        let usable: Vec<_> = all.iter().filter(can_be_asked).collect();
        // The first of each other vendor; those of the same one only if there is no other.
        let of_others = usable.iter().filter(|model| model.provider != than.provider);
        let mut named: Vec<_> =
            of_others.filter(|model| providers.insert(&model.provider)).map(|model| model.id.clone()).collect();
        if named.is_empty() {
            named = usable.iter().map(|model| model.id.clone()).collect();
        }
        named.truncate(NAMED);
        named
    }
}

/// The provider that a name names.
fn provider_of(name: &str) -> Option<&str> {
    name.split_once('/').map(|(provider, _)| provider)
}

/// The maker of a model, where a provider has those of several: all of its id but the last part.
pub(super) fn maker(id: &str) -> &str {
    id.rsplit_once('/').map_or("", |(maker, _)| maker)
}
