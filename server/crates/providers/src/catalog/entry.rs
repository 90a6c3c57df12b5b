//! A model in the catalog: what is known of it, and how to ask it.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ports::model::Model as Port;
use protocol::model::{LongPrice, ModelInfo, Price, ThinkingLevel};

use super::levels::offered;
use super::listed::Listed;
use super::{CatalogError, State, bare, bedrock};
use crate::data::{self, Model, THINKING, Thinking, registry};
use crate::failure::host;
use crate::ollama;
use crate::remote::Remote;
use crate::settings::{Defined, Provider};
use crate::vendors::Vendor;
use crate::wire::{Family, Target, Wire};

/// The context of a model that nobody tells of: on this machine, where memory is the limit, and elsewhere.
const LOCAL_CONTEXT: u64 = 32_768;
const REMOTE_CONTEXT: u64 = 128_000;
/// The marks in the names of open models that see.
const SEEING: &[&str] = &[
    "-vl",
    "vl-",
    "internvl",
    "vision",
    "llava",
    "gemma3",
    "gemma-3",
    "gemma4",
    "gemma-4",
    "pixtral",
    "minicpm-v",
    "moondream",
    "mistral-small3",
    "mistral-small-3",
    "llama4",
    "llama-4",
    "qwen3.5",
];
/// Those of them that do not: the small ones of their families, and those whose servers take no images for them.
const BLIND: &[&str] = &["gemma3:1b", "gemma-3-1b", "gemma3:270m", "gemma-3-270m", "gemma3n", "gemma-3n"];
/// The longest answer of such a model.
const LONGEST_ANSWER: u64 = 16_384;

/// A model in the catalog.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) info: ModelInfo,
    is_variant: bool,
    wire: Wire,
    target: Target,
}

impl Entry {
    /// True if a name stands for this model: its id, with or without the provider, its dated id, or an alias.
    pub(super) fn is_called(&self, name: &str) -> bool {
        let provider = self.info.provider.as_str();
        let own = name.strip_prefix(provider).and_then(|rest| rest.strip_prefix('/')).unwrap_or(name);
        own == bare(&self.info.id)
            || self.info.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(own))
            || own == self.target.model && !self.is_variant
    }

    /// Its id without the provider; of a twin that thinks, that of the model itself.
    pub(super) fn plain_id(&self) -> &str {
        let id = bare(&self.info.id);
        if self.is_variant { id.strip_suffix(THINKING).unwrap_or(id) } else { id }
    }

    /// True if requests for it name it so.
    pub(super) fn is_sent_as(&self, id: &str) -> bool {
        self.target.model == id
    }

    /// Takes over the window that Ollama has given it, if it has. The user may want less of it.
    pub(super) fn take_window(&mut self, known: &ollama::Known, provider: &Provider) {
        let Some(window) = known.window(&self.target.model) else { return };
        let info = &mut self.info;
        info.context_tokens = window.min(provider.own_context(&info.id).unwrap_or(u64::MAX));
        info.max_output_tokens = info.max_output_tokens.min(info.context_tokens / 2).max(1);
        info.warning = info.warning.take().or_else(|| ollama::too_small(window, None));
    }

    /// The model at a level of thinking.
    ///
    /// # Errors
    /// It has no such level.
    pub(super) fn at(&self, level: Option<ThinkingLevel>) -> Result<Self, CatalogError> {
        let mut entry = self.clone();
        if let Some(level) = level.filter(|level| !self.info.levels.contains(level)) {
            let (model, levels) = (entry.info.name, entry.info.levels);
            return Err(CatalogError::NoLevel { model, level, levels });
        }
        (entry.info.level, entry.target.level) = (level, level);
        Ok(entry)
    }

    /// The model itself.
    pub(super) fn model(&self, provider: &Provider, state: &State) -> Arc<dyn Port> {
        let provider = provider.for_model(self.plain_id()).into_owned();
        Arc::new(Remote {
            info: self.info.clone(),
            wire: self.wire,
            target: self.target.clone(),
            whose: provider.whose(bare(&self.info.id)),
            provider,
            http: Arc::clone(&state.http),
            quotas: Arc::clone(&state.quotas),
            idle_timeout: state.settings.idle_timeout,
            unsigned: AtomicUsize::new(0),
            refuses_streams: AtomicBool::new(false),
            refusals: Arc::clone(&state.refusals),
            of_ollama: state.of_ollama(&self.info.provider),
        })
    }
}

/// A provider's models if nobody need be asked: those that the user names, else those of a vendor that does not list
/// them; with those that the user describes. None if the provider is to be asked.
pub(super) fn known(provider: &Provider) -> Option<Vec<Entry>> {
    let vendor = provider.vendor().map(|vendor| vendor.models.as_slice()).unwrap_or_default();
    let entries: Vec<_> = if !provider.models.is_empty() {
        provider.models.iter().map(|id| entry(provider, id, None)).collect()
    } else if !vendor.is_empty() && !bedrock::is_asked(provider) {
        vendor.iter().flat_map(|id| with_variant(provider, id, None)).collect()
    } else {
        return None;
    };
    Some(with_defined(provider, entries))
}

/// These models, with those that the user describes and that are not among them.
pub(super) fn with_defined(provider: &Provider, mut entries: Vec<Entry>) -> Vec<Entry> {
    let more = defined(provider).into_iter().filter(|more| !entries.iter().any(|entry| entry.info.id == more.info.id));
    let more: Vec<_> = more.collect();
    entries.extend(more);
    entries
}

/// The models that the user describes.
pub(super) fn defined(provider: &Provider) -> Vec<Entry> {
    provider.defined.iter().flat_map(|own| with_variant(provider, &own.id, None)).collect()
}

/// The entries of the data files for a provider's vendor, those that were checked by hand first.
pub(super) fn of_vendor(provider: &Provider) -> Vec<Entry> {
    of_vendor_as(provider, |_| None)
}

/// The same with what the provider's own list tells of them.
pub(super) fn of_vendor_as<'l>(provider: &Provider, told: impl Fn(&str) -> Option<&'l Listed>) -> Vec<Entry> {
    let vendor = match provider.wire {
        _ if provider.is_plan() => return Vec::new(),
        // A vendor that speaks another's format has models of its own.
        _ if provider.is_home() => provider.name.as_str(),
        Wire::Anthropic | Wire::AnthropicVertex => "anthropic",
        Wire::OpenAiResponses => "openai",
        Wire::OpenAiChat | Wire::Converse => provider.name.as_str(),
        Wire::Gemini => "gemini",
    };
    let by_hand = data::models().iter().filter(|model| model.provider == vendor);
    let mut entries: Vec<_> = by_hand.flat_map(|model| with_variant(provider, &model.id, told(&model.id))).collect();
    if provider.is_home() {
        let is_new = |model: &Model| {
            !entries.iter().any(|entry| entry.target.model == model.id || bare(&entry.info.id) == model.id)
        };
        let more: Vec<_> = registry::of(&provider.name).filter(is_new).collect();
        entries.extend(more.iter().flat_map(|model| with_variant(provider, &model.id, told(&model.id))));
    }
    entries
}

/// True if the data files have the model of a provider with this id.
pub(super) fn is_known(provider: &Provider, id: &str) -> bool {
    known_as(provider, id).0.is_some()
}

/// Returns the entries of the models that a provider listed when asked, after those that the user describes. One that
/// it lists by the id that is sent is the same.
pub(super) fn listed(provider: &Provider, listed: &[Listed]) -> Vec<Entry> {
    let is_of = |own: &Defined, listed: &Listed| own.id == listed.id || own.wire_id.as_ref() == Some(&listed.id);
    let described = provider.defined.iter().flat_map(|own| {
        let told = listed.iter().find(|listed| is_of(own, listed));
        with_variant(provider, &own.id, told)
    });
    let rest = listed.iter().filter(|listed| !provider.defined.iter().any(|own| is_of(own, listed)));
    described.chain(rest.map(|model| entry(provider, &model.id, Some(model)))).collect()
}

/// A model, and where thinking is a choice the one that thinks.
pub(super) fn with_variant(
    provider: &Provider,
    id: &str,
    listed: Option<&Listed>,
) -> impl Iterator<Item = Entry> + use<> {
    let plain = entry(provider, id, listed);
    let is_choice = plain.target.thinking.is_asked_for();
    let variant = is_choice.then(|| entry(provider, &format!("{id}{THINKING}"), listed));
    [Some(plain), variant].into_iter().flatten()
}

/// All that is known of a model, the nearest source first: the user, the provider, then the data files, then what is
/// usual.
fn entry(provider: &Provider, id: &str, listed: Option<&Listed>) -> Entry {
    let Known { model: known, factor, is_of_stem } = known_of(provider, id);
    let known = known.as_deref();
    let own_of = |id: &str| provider.defined.iter().find(|own| own.id == id);
    let stem = id.strip_suffix(THINKING).unwrap_or(id);
    let own = own_of(id).or_else(|| own_of(stem));
    let told = own.and_then(|own| own.thinking).or(known.map(|model| model.thinking));
    // A server's own model may end so too.
    let is_twin = id.ends_with(THINKING) && own_of(id).is_none() && listed.is_none_or(|listed| listed.id != id);
    let is_variant = is_twin && (known.is_none() || is_of_stem) && told.is_some_and(Thinking::is_asked_for);
    let plain_id = if is_variant { stem } else { id };
    let named = known.filter(|_| is_variant || !is_of_stem);
    let own = own.filter(|own| own.id == plain_id);
    let asked = provider.for_model(plain_id);
    let provider = asked.as_ref();
    let said = |of_own: fn(&Defined) -> Option<u64>, of_list: Option<u64>, of_data: fn(&Model) -> u64| {
        own.and_then(of_own).or(of_list).or(known.map(of_data))
    };
    let usual_context = if provider.is_local { LOCAL_CONTEXT } else { REMOTE_CONTEXT };
    let context = said(|own| own.context, listed.and_then(|l| l.context), |model| model.context);
    let context = context.unwrap_or(usual_context).min(listed.and_then(|l| l.most).unwrap_or(u64::MAX));
    let longest = said(|own| own.max_output, listed.and_then(|l| l.max_output), |model| model.max_output);
    let wire = provider.wire_of(plain_id);
    let thinking = told.or(listed.and_then(|l| l.way));
    let thinking = thinking.unwrap_or_else(|| guess(wire, plain_id, listed.and_then(|l| l.thinking)));
    let name = own.and_then(|own| own.name.as_deref()).or(named.map(|model| model.name.as_str()));
    let name = name.or(listed.and_then(|l| l.name.as_deref())).unwrap_or(id);
    // The facts about a model at its vendor's server stand below those about the server.
    let of_model = known.filter(|_| provider.is_home()).map(|model| &model.compat);
    let compat = of_model.map_or_else(|| provider.compat(), |under| provider.compat().over(under));
    // A gateway may refuse what its vendor takes.
    let is_told = own.is_some_and(|own| own.thinking.is_some() || own.levels.is_some());
    let is_listed = listed.is_some_and(|l| l.way.is_some());
    let is_guess = !(is_told || (known.is_some() || is_listed) && provider.is_home());
    let told = own.and_then(|own| own.levels.as_deref()).or(known.and_then(|model| model.levels.as_deref()));
    let told = told.or(listed.and_then(|l| l.levels.as_deref()));
    let of_data = known.filter(|model| model.id == plain_id);
    // The dated ids of the data file are those of Anthropic's own server.
    let dated = of_data.filter(|_| wire != Wire::AnthropicVertex).map(Model::wire_id);
    let wire_id = own.and_then(|own| own.wire_id.as_deref()).or(dated).unwrap_or(plain_id);
    let equal = own.and_then(|own| own.equivalent_to.as_deref());
    let family = Family::of(equal.into_iter().chain([wire_id, plain_id]));
    let mut levels = offered(wire, family, thinking, compat.thinking, told);
    if is_variant {
        levels.retain(|level| *level != ThinkingLevel::Off);
    }
    let missing = provider.missing();
    Entry {
        info: ModelInfo {
            id: format!("{}/{id}", provider.name),
            name: if is_variant { format!("{name} (thinking)") } else { name.to_owned() },
            aliases: aliases(own, of_data)
                .map(|alias| if is_variant { format!("{alias}{THINKING}") } else { alias.to_owned() })
                .collect(),
            provider: provider.name.clone(),
            context_tokens: context,
            max_output_tokens: longest.unwrap_or(LONGEST_ANSWER).min(context / 2).max(1),
            price: price_of(provider, own, listed, known.and_then(Model::price).map(|price| times(price, factor))),
            available: missing.is_none(),
            unavailable_because: missing,
            ruled_out: false,
            images: own
                .and_then(|own| own.images)
                .or(listed.and_then(|l| l.images))
                .or(known.map(|model| model.images))
                .unwrap_or(!provider.is_local || looks_seeing(plain_id)),
            thinking: thinking != Thinking::None || provider.is_local && listed.and_then(|l| l.thinking) == Some(true),
            levels: levels.clone(),
            level: None,
            warning: listed.and_then(|l| l.warning.clone()),
            scripted: false,
        },
        is_variant,
        wire,
        target: Target {
            provider: provider.name.clone(),
            host: host(&provider.base_url).into(),
            account: None,
            model: wire_id.to_owned(),
            family,
            has_limit: longest.is_some(),
            thinking,
            levels,
            is_guess,
            level: None,
            is_thinking: is_variant,
            // Anthropic's newer models are, and one that nobody knows yet is newer still.
            bound: known.map_or(listed.is_some_and(is_new_claude) && provider.is_home(), |model| model.bound),
            own_effort: known.and_then(|model| model.own_effort),
            compat,
        },
    }
}

/// The price of a model, the nearest source first. What runs on this machine, or by a plan, costs nothing.
fn price_of(
    provider: &Provider,
    own: Option<&Defined>,
    listed: Option<&Listed>,
    known: Option<Price>,
) -> Option<Price> {
    let listed = listed.and_then(|l| l.price).map(|price| completed(price, known));
    let price = if provider.is_local || provider.is_plan() {
        Some(Price::default())
    } else if own.is_some_and(|own| own.equivalent_to.is_some()) {
        // The user said what it is; a gateway's list may say that nothing costs anything.
        known.or(listed)
    } else {
        listed
    };
    own.and_then(Defined::price).or(price).or(known)
}

/// The facts of the data files about a model.
struct Known {
    model: Option<Cow<'static, Model>>,
    /// The factor of its price.
    factor: f64,
    /// True if they are those of the model without the end of its id.
    is_of_stem: bool,
}

/// The facts of the data files about a model, else those about the one whose twin it is.
fn known_of(provider: &Provider, id: &str) -> Known {
    let (model, factor) = known_as(provider, id);
    match id.strip_suffix(THINKING).filter(|_| model.is_none()) {
        Some(stem) => {
            let (model, factor) = known_as(provider, stem);
            Known { model, factor, is_of_stem: true }
        }
        None => Known { model, factor, is_of_stem: false },
    }
}

/// The facts of the data files about the model with this very id, and the factor of its price.
fn known_as(provider: &Provider, id: &str) -> (Option<Cow<'static, Model>>, f64) {
    if let Some(other) = provider.defined.iter().find(|own| own.id == id).and_then(|own| own.equivalent_to.as_deref()) {
        return (data::named(other), 1.0);
    }
    let vendor = provider.vendor();
    // A vendor without an address of its own is at home wherever its user has it.
    let is_home = provider.is_home() || vendor.is_some_and(|vendor| vendor.base_url.is_empty());
    let home = is_home.then_some(provider.name.as_str());
    if let Some(maker) = vendor.and_then(|vendor| vendor.route(id)?.maker.as_deref()) {
        // A version that is named to be the usual one is the model itself.
        let plain = id.strip_suffix("@default").unwrap_or(id);
        let factor = vendor.map_or(1.0, |vendor| vendor.factor(plain, provider.location()));
        let own = data::find(Some(maker), plain).map(|model| Cow::Owned(model.into_owned().elsewhere()));
        return (own.or_else(|| data::elsewhere(plain)), factor);
    }
    // A shop that names the makers of some of its models has prices of its own for the others.
    if vendor.is_some_and(Vendor::names_makers) {
        return (data::own(&provider.name, id).or_else(|| data::elsewhere(id)), 1.0);
    }
    let elsewhere = || vendor.filter(|_| is_home).and_then(|vendor| known_in_another_region(vendor, id));
    match vendor.and_then(|vendor| vendor.usual_id(id)) {
        Some((usual, factor)) => (data::find(None, usual), factor),
        // On this machine a model has the window that its memory allows, and not that of its maker.
        None if provider.is_local => (data::find(home, id), 1.0),
        None => match data::find(home, id) {
            Some(model) => (Some(model), 1.0),
            None => elsewhere().unwrap_or_else(|| (data::elsewhere(id), 1.0)),
        },
    }
}

/// The facts that a vendor's data have of a model in another region, and its price as a multiple of the one there.
fn known_in_another_region(vendor: &Vendor, id: &str) -> Option<(Option<Cow<'static, Model>>, f64)> {
    let mut known =
        vendor.in_other_regions(id).filter_map(|(id, factor)| Some((data::find(Some(&vendor.name), &id)?, factor)));
    known.next().map(|(model, factor)| (Some(model), factor))
}

/// A listed price with what lists do not tell: the price of long prompts, and that of writing to the cache, which is
/// that of input where it is not told. Both are in proportion to the known price; 0 is none that is known.
fn completed(listed: Price, known: Option<Price>) -> Price {
    let Some(known) = known.filter(|known| known.input > 0.0) else { return listed };
    let factor = listed.input / known.input;
    let Price { cache_write, long, .. } = times(known, factor);
    let is_told = (listed.cache_write - listed.input).abs() > f64::EPSILON || cache_write <= 0.0;
    Price { cache_write: if is_told { listed.cache_write } else { cache_write }, long: listed.long.or(long), ..listed }
}

/// A price as a multiple of another.
fn times(price: Price, factor: f64) -> Price {
    Price {
        input: price.input * factor,
        output: price.output * factor,
        cache_read: price.cache_read * factor,
        cache_write: price.cache_write * factor,
        cache_write_hour: price.cache_write_hour.map(|hour| hour * factor),
        long: price.long.map(|long| LongPrice {
            above: long.above,
            input: long.input * factor,
            output: long.output * factor,
            cache_read: long.cache_read * factor,
            cache_write: long.cache_write * factor,
        }),
    }
}

/// The short names of a model: the user's, and those of the data file.
fn aliases<'a>(own: Option<&'a Defined>, known: Option<&'a Model>) -> impl Iterator<Item = &'a str> {
    let own = own.map(|own| own.aliases.as_slice()).unwrap_or_default();
    own.iter().chain(known.map(|model| model.aliases.as_slice()).unwrap_or_default()).map(String::as_str)
}

/// True if a model on this machine sees, by its name: most do not, and not every server says.
fn looks_seeing(id: &str) -> bool {
    let id = id.to_lowercase();
    let is_among = |names: &[&str]| names.iter().any(|name| id.contains(name));
    (is_among(SEEING) || says_vl(&id)) && !is_among(BLIND)
}

/// True if `vl` stands in a name right after a version, and ends the word: `qwen2.5vl:7b`.
fn says_vl(id: &str) -> bool {
    id.match_indices("vl").any(|(at, vl)| {
        let (before, after) = (id.get(..at).unwrap_or_default(), id.get(at + vl.len()..).unwrap_or_default());
        before.ends_with(|c: char| c.is_ascii_digit()) && !after.starts_with(char::is_alphanumeric)
    })
}

/// True if Anthropic's list says of a model that it thinks on its own.
fn is_new_claude(listed: &Listed) -> bool {
    listed.way == Some(Thinking::Always)
}

/// Guesses how a model thinks that is not in the data file. At Anthropic nothing is asked for then, which every model
/// takes; at OpenAI all since GPT-4 reason, and their reasoning must be asked for to be kept; at Google the generation
/// counts, and before the third what its server says.
fn guess(wire: Wire, id: &str, told: Option<bool>) -> Thinking {
    match wire {
        Wire::OpenAiResponses if !id.starts_with("gpt-4") && !id.starts_with("gpt-3") => Thinking::Effort,
        Wire::Gemini if told == Some(false) => Thinking::None,
        Wire::Gemini if has_levels(id) => Thinking::Level,
        Wire::Gemini if told == Some(true) => Thinking::Always,
        Wire::OpenAiResponses
        | Wire::Anthropic
        | Wire::AnthropicVertex
        | Wire::OpenAiChat
        | Wire::Gemini
        | Wire::Converse => Thinking::None,
    }
}

/// True for Gemini's models since the third generation, and for the names that stand for the newest.
fn has_levels(id: &str) -> bool {
    // A gateway puts its own folders before the name.
    let name = id.rsplit('/').next().unwrap_or(id);
    let Some(rest) = name.strip_prefix("gemini-") else { return false };
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let generation = rest.get(..digits).and_then(|digits| digits.parse::<u32>().ok());
    generation.map_or_else(|| rest.ends_with("-latest"), |generation| generation >= 3)
}
