//! The models that there are, and those that can be used.

mod asking;
mod bedrock;
mod choice;
mod entry;
mod key;
mod levels;
mod limits;
mod listed;
mod listing;
mod maker;
mod named;
mod near;
mod source;

#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use futures_util::future::join_all;
use mask::Masks;
use net::Clients;
use ports::complete::{Complete, EditNext};
use ports::model::Model;
use protocol::model::{ModelInfo, ThinkingLevel};
use tokio::sync::watch;

pub use self::asking::Untried;
pub use self::choice::is_of_same_maker;
use self::choice::readings;
pub use self::key::OfKey;
use self::listing::Listing;
pub use self::listing::Unlisted;
use self::named::{best, equivalent, of_first};
use self::source::{Doubt, Source};
use crate::keep::KeepLists;
use crate::keys;
use crate::ollama::Known;
use crate::pool::Pools;
use crate::quota::Quotas;
use crate::refusals::Refusals;
use crate::scripted::{Recorder, Scripted};
use crate::settings::{Provider, Settings, not_set_up};
use crate::vendors;

/// The models of all providers.
///
/// Making one costs nothing: no network, no TLS, no thread. Servers on this machine, and providers that list their own
/// models, are asked when their models are; what they say counts for a while (seconds for this machine, minutes for
/// others), and is kept for the next start and for when they do not answer. Anthropic, OpenAI and Google are asked only
/// for a list, or for a model that is not known of them.
pub struct Catalog {
    state: RwLock<Arc<State>>,
    keeper: OnceLock<Arc<dyn KeepLists>>,
    changed: watch::Sender<()>,
    added: RwLock<Vec<Arc<dyn Model>>>,
    fills: RwLock<Vec<Arc<dyn Complete>>>,
    edits: RwLock<Vec<Arc<dyn EditNext>>>,
    recorder: RwLock<Option<Recorder>>,
    quotas: Arc<Quotas>,
    pools: Pools,
    masks: RwLock<Option<Arc<dyn Masks>>>,
}

/// The state that follows from the settings.
struct State {
    settings: Settings,
    http: Arc<Clients>,
    keeper: Option<Arc<dyn KeepLists>>,
    /// The limits that the answers of providers tell.
    quotas: Arc<Quotas>,
    /// The fields that their servers have refused.
    refusals: Arc<Refusals>,
    /// The last answer of each provider, in their order.
    listings: Vec<Listing>,
}

/// A longer name, in bytes, is no model's: to look for those like it takes as long as the names are.
const LONGEST_NAME: usize = 200;

/// A model that cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// There is no such model.
    #[error("there is no model `{name}`{}; `azimuth models` lists them all", did_you_mean(near))]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Ids of models with a name like it, the likest first.
        near: Vec<String>,
    },
    /// Several models are called something like this, and none is clearly meant.
    #[error("several models are called like `{name}`: {}; name one of them", near.join(", "))]
    Ambiguous {
        /// The name that was asked for.
        name: String,
        /// Ids of these models.
        near: Vec<String>,
    },
    /// The configuration rules the model out.
    #[error("{model} cannot be chosen: {problem}")]
    RuledOut {
        /// The model's id.
        model: String,
        /// Which setting does it.
        problem: String,
    },
    /// The provider of the model does not tell its models.
    #[error("whether there is a model `{name}` is not known: {problem}")]
    Unlisted {
        /// The name that was asked for.
        name: String,
        /// Why, and what to do.
        problem: String,
    },
    /// The model is there, or may be, but cannot do what it is wanted for.
    #[error("the model `{name}` cannot be used for this: {problem}")]
    Unfit {
        /// The name that was asked for.
        name: String,
        /// Why not, and what to do.
        problem: String,
    },
    /// The model cannot be told to think at this level.
    #[error("{model} cannot think at the level `{}`; {}", level.name(), instead(levels))]
    NoLevel {
        /// The model's name.
        model: String,
        /// The level that was asked for.
        level: ThinkingLevel,
        /// Those that it has.
        levels: Vec<ThinkingLevel>,
    },
    /// There is no key and no server on this machine.
    #[error(
        "no model can be used: set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or another vendor's key, or start a \
         model server on this machine (Ollama, LM Studio, llama.cpp, vLLM), or run `azimuth demo` for the scripted tour, which needs neither"
    )]
    NothingUsable,
    /// Providers can be used, but which models they have is not known.
    #[error(
        "no model is chosen. {problem}. Name one of the models that `azimuth models` lists, or set another vendor's key"
    )]
    NoneSure {
        /// The reason of the first of them.
        problem: String,
    },
    /// The only provider that can be used is one of which nobody spoke.
    #[error(
        "no model is chosen. {vendor} can be used with the credentials that are there, but only if you choose it: \
         name one of its models, which `azimuth models` lists, or set another vendor's key"
    )]
    Unasked {
        /// The vendor's name for people.
        vendor: String,
    },
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!(". Like it: {}", near.join(", ")) }
}

fn instead(levels: &[ThinkingLevel]) -> String {
    let names: Vec<_> = levels.iter().map(|level| level.name()).collect();
    if names.is_empty() { "it can be told none".to_owned() } else { format!("it has {}", names.join(", ")) }
}

/// The names of a list of models with commas between them: a chain, of which the first that can be used is taken.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// The models that there are.
#[derive(Clone, Debug, Default)]
pub struct Models {
    /// Every model known, the usable ones first. A provider that does not tell its models stands there by its name,
    /// with the reason.
    pub models: Vec<ModelInfo>,
    /// For each provider whose own list could not be had, why, and which models stand there instead.
    pub notes: Vec<String>,
}

impl Catalog {
    /// The models that these settings come to.
    pub fn new(settings: Settings) -> Self {
        let (quotas, pools) = (Arc::<Quotas>::default(), Pools::default());
        Self {
            state: RwLock::new(Arc::new(State::new(settings, None, Arc::clone(&quotas), &pools))),
            keeper: OnceLock::new(),
            changed: watch::Sender::default(),
            added: RwLock::default(),
            fills: RwLock::default(),
            edits: RwLock::default(),
            recorder: RwLock::default(),
            quotas,
            pools,
            masks: RwLock::default(),
        }
    }

    /// Takes other settings. Models that were given out keep the old ones.
    pub fn configure(&self, settings: Settings) {
        let state = State::new(settings, self.keeper.get().cloned(), Arc::clone(&self.quotas), &self.pools);
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(state);
    }

    /// Has the lists of models that providers give kept beyond this process, and the rests of keys and accounts. Only
    /// the first call counts.
    #[must_use]
    pub fn with_lists_kept(self, keeper: Arc<dyn KeepLists>) -> Self {
        self.pools.keep_by(Arc::clone(&keeper));
        let settings = self.state().settings.clone();
        let _ = self.keeper.set(keeper);
        self.configure(settings);
        self
    }

    /// Hears of each list that arrived after [`list_soon`](Self::list_soon) had gone without it.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Adds a model, such as a scripted one. It stands before all others of its name.
    pub fn add(&self, model: Arc<dyn Model>) {
        self.added.write().unwrap_or_else(PoisonError::into_inner).push(model);
    }

    /// Adds a model that fills in text, such as a scripted one. It stands before all others of its name.
    pub fn add_fill(&self, model: Arc<dyn Complete>) {
        self.fills.write().unwrap_or_else(PoisonError::into_inner).push(model);
    }

    /// Adds a model that edits what the user writes next, such as a scripted one. It stands before all others of its
    /// name.
    pub fn add_edit(&self, model: Arc<dyn EditNext>) {
        self.edits.write().unwrap_or_else(PoisonError::into_inner).push(model);
    }

    /// Adds a scripted model for all that it can do: talk, fill in, and edit next.
    pub fn add_scripted(&self, model: Scripted) {
        let model = Arc::new(model);
        self.add_fill(Arc::clone(&model) as Arc<dyn Complete>);
        self.add_edit(Arc::clone(&model) as Arc<dyn EditNext>);
        self.add(model);
    }

    /// Records whatever the models that are given out from now on answer.
    pub fn record(&self, recorder: Recorder) {
        *self.recorder.write().unwrap_or_else(PoisonError::into_inner) = Some(recorder);
    }

    /// Hides secrets from every model that is given out from now on.
    pub fn hide_secrets(&self, masks: Arc<dyn Masks>) {
        *self.masks.write().unwrap_or_else(PoisonError::into_inner) = Some(masks);
    }

    /// Every model known. Waits for each provider's list.
    pub async fn list(&self) -> Vec<ModelInfo> {
        self.list_all().await.models
    }

    /// Every model known, and what is to be said of the lists. Waits for each provider's list.
    pub async fn list_all(&self) -> Models {
        let state = self.state();
        let found = join_all(state.sources().map(|source| source.all())).await;
        self.models(&state, found)
    }

    /// The same without waiting for a provider that takes its time: then those of its last list stand there, or those
    /// that are known of it. [`watch`](Self::watch) tells when its own list has come.
    pub async fn list_soon(&self) -> Models {
        let state = self.state();
        let found = join_all(state.sources().map(|source| source.soon(&self.changed, true))).await;
        self.models(&state, found)
    }

    /// The same for whoever only wants to know what there is, without the user's having asked for it: the vendors whose
    /// models are known without their lists are not asked.
    pub async fn list_unasked(&self) -> Models {
        let state = self.state();
        let found = join_all(state.sources().map(|source| source.soon(&self.changed, false))).await;
        self.models(&state, found)
    }

    fn models(&self, state: &Arc<State>, found: Vec<source::Answer>) -> Models {
        let mut models: Vec<ModelInfo> = self.added().iter().map(|model| model.info().clone()).collect();
        let mut notes = Vec::new();
        for (source, found) in state.sources().zip(found) {
            match found {
                Ok(found) => {
                    models.extend(found.entries.into_iter().map(|entry| entry.info));
                    notes.extend(found.note);
                }
                Err(_) if source.provider().is_local => {}
                Err(problem) => models.push(source.placeholder(problem)),
            }
        }
        models.sort_by_key(|model| !model.available);
        Models { models, notes }
    }

    /// The models of one provider; none if it does not tell. One whose models are known without its list is not asked.
    pub async fn of_provider(&self, provider: &str) -> Vec<ModelInfo> {
        let state = self.state();
        let Some(source) = state.sources().find(|source| source.provider().name == provider) else { return Vec::new() };
        let found = source.without_makers().await.map(|found| found.entries).unwrap_or_default();
        found.into_iter().map(|entry| entry.info).collect()
    }

    /// The model with this id, this name without its provider, or this alias; behind it possibly a colon and the level
    /// at which it is to think, or `default`. A name with that of a provider or vendor before it is never another's
    /// model. It need not be usable: its [`info`](Model::info) says so, and asking it says what to do. Of several with
    /// commas between them, it is the first that is usable, else the first.
    ///
    /// # Errors
    /// There is no such model, its provider does not tell, or it has no such level.
    pub async fn resolve(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        self.find(name).await.map(|model| self.give(model))
    }

    /// The same for requests outside the turn, which are never recorded: what is replayed is the turn.
    ///
    /// # Errors
    /// There is no such model, or its provider does not tell.
    pub async fn resolve_aside(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        self.find(name).await.map(|model| self.masked(model))
    }

    /// The first usable of the models with these names, as it is.
    async fn find(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        let mut first = None;
        for name in names(name) {
            match self.resolve_one(name).await {
                Ok(model) if model.info().available => return Ok(model),
                other => first.get_or_insert(other),
            };
        }
        first.unwrap_or_else(|| Err(CatalogError::Unknown { name: String::new(), near: Vec::new() }))
    }

    /// The exact name of the model that a user means by one that need not be exact: as it is, if there is such a model,
    /// else that of the usable model of this name in another spelling, else of the only one whose name has all of its
    /// words. If several providers have it, it is that of the first of them in the user's order, else its maker's. One
    /// of a provider of which nobody spoke is meant only if no other is. Of several names with commas between them each
    /// is looked at by itself.
    ///
    /// # Errors
    /// By one of the names nothing is meant, or several models equally, or the model has no such level.
    pub async fn meant(&self, list: &str) -> Result<String, CatalogError> {
        let mut exact = Vec::new();
        for name in names(list) {
            exact.push(self.meant_by_one(name).await?);
        }
        Ok(exact.join(", "))
    }

    async fn meant_by_one(&self, name: &str) -> Result<String, CatalogError> {
        match self.resolve_one(name).await {
            Err(CatalogError::Unknown { name: unknown, near }) if name.len() <= LONGEST_NAME => {
                let state = self.state();
                let mut models = self.list_soon().await.models;
                // Of a vendor that is not set up nothing is meant, and least of all another provider's model.
                if let Some(named) = state.named(name.trim()).or_else(|| vendor_of(name.trim())) {
                    models.retain(|model| model.provider == named);
                }
                let is_unasked = |model: &ModelInfo| {
                    let mut providers = state.settings.providers.iter();
                    providers.any(|provider| provider.is_unasked && provider.name == model.provider)
                };
                let (unasked, asked): (Vec<_>, Vec<_>) = models.into_iter().partition(is_unasked);
                let order = &state.settings.provider_order;
                let meant = match choice::meant(name, &asked, order) {
                    choice::Meant::None => choice::meant(name, &unasked, order),
                    meant => meant,
                };
                match meant {
                    choice::Meant::One(id) => Ok(id),
                    choice::Meant::Several(near) => Err(CatalogError::Ambiguous { name: unknown, near }),
                    choice::Meant::None => Err(CatalogError::Unknown { name: unknown, near }),
                }
            }
            Err(error @ (CatalogError::Unknown { .. } | CatalogError::NoLevel { .. })) => Err(error),
            // One that cannot be used now may be later, and another of the chain can be.
            Ok(_) | Err(_) => Ok(name.to_owned()),
        }
    }

    async fn resolve_one(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        if name.len() > LONGEST_NAME {
            let name = format!("{}…", name.get(..name.floor_char_boundary(LONGEST_NAME)).unwrap_or_default());
            return Err(CatalogError::Unknown { name: keys::left_out(&name).into_owned(), near: Vec::new() });
        }
        let state = self.state();
        let added = self.added();
        let by_id = added.iter().rev().find(|model| model.info().id == name);
        if let Some(model) = by_id.or_else(|| added.iter().rev().find(|model| bare(&model.info().id) == name)) {
            return Ok(Arc::clone(model));
        }
        let readings = readings(name);
        // A name with a provider's name before it is that provider's, also where it cannot be used.
        let named = state.named(name);
        let is_named = |source: &Source<'_>| named.is_none_or(|named| named == source.provider().name);
        let is_set_up = state.sources().any(|source| is_named(&source));
        // A server on this machine may call its models by their makers' names, and costs nothing.
        let may_have_it = |source: &Source<'_>| is_named(source) || !is_set_up && source.provider().is_local;
        let sources: Vec<_> = state.sources().filter(may_have_it).collect();
        let is_first = |source: &Source<'_>| state.settings.place_of(&source.provider().name).is_some();
        let first = state.sources().filter(|source| named.is_none() && is_first(source));
        if let Some((source, model)) = of_first(first, &readings).await {
            source.renew(&self.changed).await;
            return Ok(model);
        }
        // Models that are known without asking anybody come first, so that a start with a known model is instant.
        let known: Vec<_> = join_all(sources.iter().map(async |source| (*source, source.at_hand().await))).await;
        if let Some(found) = best(&known, &readings) {
            self.renew(&sources, found.as_ref().ok()).await;
            return found;
        }
        let asked = join_all(sources.into_iter().map(|source| source.to_ask(named.is_some()))).await;
        let asked: Vec<_> = asked.into_iter().flatten().collect();
        let answers = join_all(asked.iter().map(|source| source.all())).await;
        let problem = answers.iter().find_map(|answer| answer.as_ref().err()).filter(|_| named.is_some()).cloned();
        let found: Vec<_> = asked
            .into_iter()
            .zip(answers)
            .filter_map(|(source, answer)| Some((source, answer.ok()?.entries)))
            .collect();
        if let Some(found) = best(&found, &readings) {
            return found;
        }
        if let Some(found) = equivalent(&known, &readings).or_else(|| equivalent(&found, &readings)) {
            return found;
        }
        let no_key = named.filter(|_| !is_set_up).and_then(not_set_up);
        if let Some(problem) = no_key.or(problem) {
            return Err(CatalogError::Unlisted { name: keys::left_out(name).into_owned(), problem });
        }
        let entries = known.iter().chain(&found).flat_map(|(_, entries)| entries);
        let ids = entries.map(|entry| (entry.info.id.as_str(), entry.info.aliases.as_slice()));
        Err(CatalogError::Unknown { name: keys::left_out(name).into_owned(), near: near::near(name, ids) })
    }

    /// Has the list from which a model was given asked for again behind it, if that is old.
    async fn renew(&self, sources: &[Source<'_>], given: Option<&Arc<dyn Model>>) {
        let Some(given) = given else { return };
        if let Some(source) = sources.iter().find(|source| source.provider().name == given.info().provider) {
            source.renew(&self.changed).await;
        }
    }

    /// The model of new sessions: the configured one, else the first of the first provider that can be used: those that
    /// the user put before all others, then the others, servers on this machine after the vendors, then those vendors
    /// that the data file has after them, and last those whose own list could not be had. A scripted model is never
    /// chosen unasked, nor is one of a provider of which nobody spoke.
    ///
    /// # Errors
    /// The configured model cannot be given, or no model can be used.
    pub async fn default_model(&self) -> Result<Arc<dyn Model>, CatalogError> {
        let state = self.state();
        if let Some(name) = &state.settings.default_model {
            return self.resolve(name).await;
        }
        if let Some(model) = self.added().into_iter().find(|model| !model.info().scripted && model.info().available) {
            return Ok(self.give(model));
        }
        let (unasked, asked): (Vec<_>, Vec<_>) = state.sources().partition(|source| source.provider().is_unasked);
        let is_first = |source: &Source<'_>| state.settings.place_of(&source.provider().name).is_some();
        let (first, asked): (Vec<_>, Vec<_>) = asked.into_iter().partition(is_first);
        let (local, remote): (Vec<_>, Vec<_>) = asked.into_iter().partition(|source| source.provider().is_local);
        let (late, early): (Vec<_>, Vec<_>) = remote.into_iter().partition(|source| source.provider().is_after_local);
        let mut doubt = Doubt::default();
        for source in &first {
            let found = match source.provider().is_local {
                true => source.all().await.ok().and_then(|found| found.first().map(|entry| source.model(entry))),
                false => doubt.first_of(std::slice::from_ref(source)).await,
            };
            if let Some(model) = found {
                return Ok(self.give(model));
            }
        }
        if let Some(model) = doubt.first_of(&early).await {
            return Ok(self.give(model));
        }
        let answers = join_all(local.iter().map(|source| source.all())).await;
        for (source, answer) in local.iter().zip(answers) {
            if let Some(entry) = answer.ok().as_ref().and_then(|found| found.first()) {
                return Ok(self.give(source.model(entry)));
            }
        }
        let found = doubt.first_of(&late).await;
        let Doubt { model, problem } = doubt;
        let none = || match (problem, unasked.iter().find(|source| source.is_usable())) {
            (Some(problem), _) => CatalogError::NoneSure { problem },
            (None, Some(source)) => CatalogError::Unasked { vendor: source.provider().title() },
            (None, None) => CatalogError::NothingUsable,
        };
        found.or(model).map(|model| self.give(model)).ok_or_else(none)
    }

    /// The model that fills in text and was added with this id.
    pub(crate) fn added_fill(&self, id: &str) -> Option<Arc<dyn Complete>> {
        let fills = self.fills.read().unwrap_or_else(PoisonError::into_inner);
        fills.iter().rev().find(|model| model.info().id == id).cloned()
    }

    /// The model that edits next and was added with this id.
    pub(crate) fn added_edit(&self, id: &str) -> Option<Arc<dyn EditNext>> {
        let edits = self.edits.read().unwrap_or_else(PoisonError::into_inner);
        edits.iter().rev().find(|model| model.info().id == id).cloned()
    }

    /// The HTTP clients, whose connections all models share.
    pub(crate) fn http(&self) -> Arc<Clients> {
        Arc::clone(&self.state().http)
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn added(&self) -> Vec<Arc<dyn Model>> {
        self.added.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A model as it is given out for a turn. What is recorded of it has no secrets either.
    fn give(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        let recorded = match &*self.recorder.read().unwrap_or_else(PoisonError::into_inner) {
            Some(recorder) => recorder.wrap(model),
            None => model,
        };
        self.masked(recorded)
    }

    fn masked(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        match self.masks() {
            Some(masks) => mask::model(model, masks),
            None => model,
        }
    }

    /// The secrets that no model sees, if they are hidden.
    pub(crate) fn masks(&self) -> Option<Arc<dyn Masks>> {
        self.masks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl State {
    fn new(mut settings: Settings, keeper: Option<Arc<dyn KeepLists>>, quotas: Arc<Quotas>, pools: &Pools) -> Self {
        settings.use_pools(pools);
        let order = settings.provider_order.clone();
        let place = |provider: &Provider| order.iter().position(|known| *known == provider.name);
        settings.providers.sort_by_key(|provider| place(provider).unwrap_or(usize::MAX));
        let http = Arc::new(Clients::new(settings.ca_file.clone()));
        let listings = settings.providers.iter().map(|_| Listing::default()).collect();
        Self { settings, http, keeper, quotas, refusals: Arc::default(), listings }
    }

    fn sources(self: &Arc<Self>) -> impl Iterator<Item = Source<'_>> {
        let providers = self.settings.providers.iter().zip(&self.listings).enumerate();
        providers.map(|(at, (provider, listing))| Source::new(provider, listing, self, at))
    }

    /// The facts that are known of the models of a provider, if it is Ollama.
    fn of_ollama(&self, provider: &str) -> Arc<Known> {
        let mut of_providers = self.settings.providers.iter().zip(&self.listings);
        of_providers
            .find(|(known, _)| known.name == provider)
            .map(|(_, listing)| listing.of_ollama())
            .unwrap_or_default()
    }

    /// The provider or vendor whose name stands before that of a model. It need not be among the providers.
    fn named(&self, name: &str) -> Option<&str> {
        let (before, _) = name.split_once('/')?;
        let mut providers = self.settings.providers.iter().map(|provider| provider.name.as_str());
        // Publishers' names have capitals, as in `Qwen/Qwen2.5-Coder-7B`, so they name no vendor that is not set up.
        let vendor = || vendor_of(name).filter(|vendor| *vendor == before);
        providers.find(|known| known.eq_ignore_ascii_case(before)).or_else(vendor)
    }
}

/// The vendor whose name stands before that of a model, possibly in capitals.
fn vendor_of(name: &str) -> Option<&'static str> {
    let (before, _) = name.split_once('/')?;
    let mut vendors = vendors::all().iter().map(|vendor| vendor.name.as_str());
    vendors.find(|vendor| vendor.eq_ignore_ascii_case(before))
}

/// An id without its provider.
fn bare(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, name)| name)
}
