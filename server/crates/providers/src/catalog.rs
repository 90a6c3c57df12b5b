//! The models that there are, and those that can be used.

mod entry;
mod levels;
mod listing;
mod near;

#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock};

use futures_util::future::join_all;
use net::Clients;
use ports::complete::{Complete, EditNext};
use ports::model::Model;
use protocol::model::{DEFAULT_LEVEL, ModelInfo, ThinkingLevel};

use self::entry::Entry;
use self::listing::Listing;
use crate::keys;
use crate::scripted::{Recorder, Scripted};
use crate::settings::{Provider, Settings, key_variable};

/// The models of all providers.
///
/// Making one costs nothing: no network, no TLS, no thread. Servers on this machine, and providers whose models are not
/// in the data file, are asked when their models are; what they say is kept for a while (seconds for this machine,
/// minutes for others).
pub struct Catalog {
    state: RwLock<Arc<State>>,
    added: RwLock<Vec<Arc<dyn Model>>>,
    fills: RwLock<Vec<Arc<dyn Complete>>>,
    edits: RwLock<Vec<Arc<dyn EditNext>>>,
    recorder: RwLock<Option<Recorder>>,
}

/// The state that follows from the settings.
struct State {
    settings: Settings,
    http: Arc<Clients>,
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
    /// The only provider that can be used is one of which nobody spoke.
    #[error(
        "no model is chosen. {vendor} can be used with the AWS credentials that are there, but only if you choose it: \
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

impl Catalog {
    /// The models that these settings come to.
    pub fn new(settings: Settings) -> Self {
        Self {
            state: RwLock::new(Arc::new(State::new(settings))),
            added: RwLock::default(),
            fills: RwLock::default(),
            edits: RwLock::default(),
            recorder: RwLock::default(),
        }
    }

    /// Takes other settings. Models that were given out keep the old ones.
    pub fn configure(&self, settings: Settings) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(State::new(settings));
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

    /// Every model known, the usable ones first. A provider that does not tell its models stands there by its name,
    /// with the reason.
    pub async fn list(&self) -> Vec<ModelInfo> {
        let state = self.state();
        let found = join_all(state.sources().map(|source| source.all())).await;
        let mut models: Vec<ModelInfo> = self.added().iter().map(|model| model.info().clone()).collect();
        for (source, found) in state.sources().zip(found) {
            match found {
                Ok(entries) => models.extend(entries.into_iter().map(|entry| entry.info)),
                Err(_) if source.provider.is_local => {}
                Err(problem) => models.push(source.placeholder(problem)),
            }
        }
        models.sort_by_key(|model| !model.available);
        models
    }

    /// The models of one provider; none if it does not tell.
    pub async fn of_provider(&self, provider: &str) -> Vec<ModelInfo> {
        let state = self.state();
        let Some(source) = state.sources().find(|source| source.provider.name == provider) else { return Vec::new() };
        let found = source.all().await.unwrap_or_default();
        found.into_iter().map(|entry| entry.info).collect()
    }

    /// The model with this id, this name without its provider, or this alias; behind it possibly a colon and the level
    /// at which it is to think, or `default`. It need not be usable: its [`info`](Model::info) says so, and asking it
    /// says what to do. Of several with commas between them, it is the first that is usable, else the first.
    ///
    /// # Errors
    /// There is no such model, its provider does not tell, or it has no such level.
    pub async fn resolve(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        self.resolve_aside(name).await.map(|model| self.give(model))
    }

    /// The same for requests outside the turn, which are never recorded: what is replayed is the turn.
    ///
    /// # Errors
    /// There is no such model, or its provider does not tell.
    pub async fn resolve_aside(&self, name: &str) -> Result<Arc<dyn Model>, CatalogError> {
        let mut first = None;
        for name in names(name) {
            match self.resolve_one(name).await {
                Ok(model) if model.info().available => return Ok(model),
                other => first.get_or_insert(other),
            };
        }
        first.unwrap_or_else(|| Err(CatalogError::Unknown { name: String::new(), near: Vec::new() }))
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
        // Models that are known without asking anybody come first, so that a start with a known model is instant.
        let known = |source: Source<'_>| source.known().unwrap_or_else(|| entry::defined(source.provider));
        let known: Vec<_> = state.sources().map(|source| (source, known(source))).collect();
        if let Some(found) = best(&known, &readings) {
            return found;
        }
        // A name with a provider's name before it is that provider's.
        let named = state
            .sources()
            .find(|source| name.strip_prefix(source.provider.name.as_str()).is_some_and(|rest| rest.starts_with('/')));
        let asked: Vec<_> = state
            .sources()
            .filter(|source| named.is_none_or(|named| named.provider.name == source.provider.name))
            .filter(|source| source.known().is_none())
            .collect();
        let answers = join_all(asked.iter().map(|source| source.all())).await;
        let problem = answers.iter().find_map(|answer| answer.as_ref().err()).filter(|_| named.is_some()).cloned();
        let found: Vec<_> =
            asked.into_iter().zip(answers).filter_map(|(source, answer)| Some((source, answer.ok()?))).collect();
        if let Some(found) = best(&found, &readings) {
            return found;
        }
        if let Some(problem) = problem {
            return Err(CatalogError::Unlisted { name: keys::left_out(name).into_owned(), problem });
        }
        let vendor = name.split_once('/').map(|(vendor, _)| vendor).filter(|_| named.is_none());
        if let Some((vendor, source)) = vendor.and_then(|vendor| Some((vendor, key_variable(vendor)?))) {
            let problem = format!("there is no key for {vendor}; set {source}");
            return Err(CatalogError::Unlisted { name: keys::left_out(name).into_owned(), problem });
        }
        let entries = known.iter().chain(&found).flat_map(|(_, entries)| entries);
        let ids = entries.map(|entry| (entry.info.id.as_str(), entry.aliases.as_slice()));
        Err(CatalogError::Unknown { name: keys::left_out(name).into_owned(), near: near::near(name, ids) })
    }

    /// The model of new sessions: the configured one, else the first of the first provider that can be used, servers on
    /// this machine after the vendors, and last those vendors that the data file has after them. A scripted model is
    /// never chosen unasked, nor is one of a provider of which nobody spoke.
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
        let (unasked, asked): (Vec<_>, Vec<_>) = state.sources().partition(|source| source.provider.is_unasked);
        let (local, remote): (Vec<_>, Vec<_>) = asked.into_iter().partition(|source| source.provider.is_local);
        let (late, early): (Vec<_>, Vec<_>) = remote.into_iter().partition(|source| source.provider.is_after_local);
        if let Some(model) = first_of(&early).await {
            return Ok(self.give(model));
        }
        let answers = join_all(local.iter().map(|source| source.all())).await;
        for (source, answer) in local.iter().zip(answers) {
            if let Some(entry) = answer.unwrap_or_default().first() {
                return Ok(self.give(source.model(entry)));
            }
        }
        let none = || match unasked.iter().find(|source| source.is_usable()) {
            Some(source) => CatalogError::Unasked { vendor: source.provider.title() },
            None => CatalogError::NothingUsable,
        };
        first_of(&late).await.map(|model| self.give(model)).ok_or_else(none)
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

    fn give(&self, model: Arc<dyn Model>) -> Arc<dyn Model> {
        match &*self.recorder.read().unwrap_or_else(PoisonError::into_inner) {
            Some(recorder) => recorder.wrap(model),
            None => model,
        }
    }
}

impl State {
    fn new(settings: Settings) -> Self {
        let http = Arc::new(Clients::new(settings.ca_file.clone()));
        let listings = settings.providers.iter().map(|_| Listing::default()).collect();
        Self { settings, http, listings }
    }

    fn sources(&self) -> impl Iterator<Item = Source<'_>> {
        let providers = self.settings.providers.iter().zip(&self.listings);
        providers.map(|(provider, listing)| Source { provider, listing, state: self })
    }
}

/// A provider with what belongs to it.
#[derive(Clone, Copy)]
struct Source<'a> {
    provider: &'a Provider,
    listing: &'a Listing,
    state: &'a State,
}

impl Source<'_> {
    /// True if a key is there where one is needed.
    fn is_usable(&self) -> bool {
        self.provider.missing().is_none()
    }

    /// Its models, where nobody need be asked.
    fn known(&self) -> Option<Vec<Entry>> {
        entry::known(self.provider)
    }

    /// Its models, or why they are not known.
    async fn all(self) -> Result<Vec<Entry>, String> {
        if let Some(entries) = self.known() {
            return Ok(entries);
        }
        let defined = entry::defined(self.provider);
        if !self.is_usable() {
            let problem = self.provider.missing().unwrap_or_default();
            return if defined.is_empty() { Err(problem) } else { Ok(defined) };
        }
        match self.listing.get(self.provider, &self.state.http).await {
            Ok(listed) => Ok(entry::listed(self.provider, &listed)),
            // A server in a vendor's stead that does not list is most likely a gateway to the vendor's models.
            Err(problem) => match (defined, entry::of_vendor(self.provider)) {
                (defined, of_vendor) if defined.is_empty() && of_vendor.is_empty() => Err(problem),
                (defined, of_vendor) if defined.is_empty() => Ok(of_vendor),
                (defined, _) => Ok(defined),
            },
        }
    }

    fn model(&self, entry: &Entry) -> Arc<dyn Model> {
        entry.model(self.provider, &self.state.http, self.state.settings.idle_timeout)
    }

    fn placeholder(&self, problem: String) -> ModelInfo {
        ModelInfo {
            id: self.provider.name.clone(),
            name: self.provider.title(),
            provider: self.provider.name.clone(),
            context_tokens: 0,
            max_output_tokens: 0,
            price: None,
            available: false,
            unavailable_because: Some(problem),
            images: false,
            thinking: false,
            levels: Vec::new(),
            level: None,
            scripted: false,
        }
    }
}

/// The first model of the first of these that can be used.
async fn first_of(sources: &[Source<'_>]) -> Option<Arc<dyn Model>> {
    for source in sources.iter().filter(|source| source.is_usable()) {
        if let Ok(entries) = source.all().await
            && let Some(entry) = entries.first()
        {
            return Some(source.model(entry));
        }
    }
    None
}

/// The ways to read a name: as that of a model, and if it ends like one with a level, as that of a model at this level.
fn readings(name: &str) -> Vec<(&str, Option<ThinkingLevel>)> {
    let (model, end) = name.rsplit_once(':').unwrap_or((name, ""));
    let at = match ThinkingLevel::from_name(end) {
        Some(level) => Some((model, Some(level))),
        None => end.eq_ignore_ascii_case(DEFAULT_LEVEL).then_some((model, None)),
    };
    [Some((name, None)), at].into_iter().flatten().collect()
}

/// The model that a name stands for by the first reading that there is one for: one that can be used before one that
/// cannot. Of a provider of which nobody spoke it is one that no other has.
fn best(
    found: &[(Source<'_>, Vec<Entry>)],
    readings: &[(&str, Option<ThinkingLevel>)],
) -> Option<Result<Arc<dyn Model>, CatalogError>> {
    readings.iter().find_map(|(name, level)| {
        let all = || {
            let pairs = found.iter().flat_map(|(source, entries)| entries.iter().map(move |entry| (source, entry)));
            pairs.filter(|(_, entry)| entry.is_called(name))
        };
        let is_ready = |(source, entry): &(&Source<'_>, &Entry)| entry.info.available && !source.provider.is_unasked;
        let (source, entry) = all().find(is_ready).or_else(|| all().next())?;
        Some(entry.at(*level).map(|entry| source.model(&entry)))
    })
}

/// An id without its provider.
fn bare(id: &str) -> &str {
    id.split_once('/').map_or(id, |(_, name)| name)
}
