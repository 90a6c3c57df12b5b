//! Anthropic, OpenAI and Google at their own addresses, and Amazon Bedrock: the data files say which models they have,
//! so that a start and a known model wait for nobody; their own lists say which of them a key can use, and which are
//! newer, or offered in the account's region.

use super::entry::{Entry, of_vendor_as, with_defined, with_variant};
use super::listed::Listed;
use super::{bare, bedrock};
use crate::data;
use crate::settings::Provider;
use crate::wire::Wire;

/// The words in the names of models that their lists also have, and that cannot be talked to over our wires, such as
/// models for speech and video, or that are too old to be of use.
const OTHERS: &[&str] = &[
    "realtime",
    "audio",
    "transcribe",
    "translate",
    "live",
    "sora",
    "video",
    "davinci",
    "babbage",
    "instruct",
    "search",
    "robotics",
    "computer-use",
    "deep-research",
    "gpt-3.5",
    "gpt-4",
];

/// True if a provider is one of these vendors at its own address, over the wire of the data files.
pub(super) fn is_maker(provider: &Provider) -> bool {
    if bedrock::is_asked(provider) {
        return true;
    }
    let has_data = match provider.wire {
        Wire::Anthropic => provider.name == "anthropic",
        Wire::OpenAiResponses | Wire::OpenAiChat => provider.name == "openai",
        Wire::Gemini => provider.name == "gemini",
        Wire::AnthropicVertex | Wire::Converse => false,
    };
    has_data && provider.is_home()
}

/// Its models as the data files have them, with those that the user describes.
pub(super) fn of_data(provider: &Provider) -> Vec<Entry> {
    of_list(provider, &[])
}

/// The same with what its own list says of them, and with those that only the list has.
pub(super) fn of_list(provider: &Provider, list: &[Listed]) -> Vec<Entry> {
    let told = |id: &str| list.iter().find(|listed| is_it(id, &listed.id));
    let known = match provider.vendor().map(|vendor| vendor.models.as_slice()).unwrap_or_default() {
        [] => of_vendor_as(provider, told),
        named => named.iter().flat_map(|id| with_variant(provider, id, told(id))).collect(),
    };
    let mut entries = with_defined(provider, known);
    let is_among = |id: &str| entries.iter().any(|entry| entry.is_called(id) || is_it(bare(&entry.info.id), id));
    let is_dated_twin = |id: &str| data::undated(id).is_some_and(|plain| list.iter().any(|other| other.id == plain));
    let is_new = |listed: &&Listed| {
        let id = listed.id.as_str();
        // Bedrock's own lists say what can be talked to.
        !is_among(id) && (bedrock::is_asked(provider) || !is_dated_twin(id) && !is_other(id))
    };
    let new: Vec<_> = list.iter().filter(is_new).flat_map(|it| with_variant(provider, &it.id, Some(it))).collect();
    entries.extend(new);
    entries
}

/// Marks the models that its list, which came just now, does not have. Those that the user describes count as they are.
pub(super) fn mark_missing(provider: &Provider, list: &[Listed], entries: &mut [Entry]) {
    let is_listed = |entry: &Entry| {
        let described = provider.defined.iter().any(|own| entry.is_called(&own.id));
        described || list.iter().any(|listed| entry.is_sent_as(&listed.id) || is_it(entry.plain_id(), &listed.id))
    };
    let title = provider.title();
    let missing = match bedrock::is_asked(provider) {
        true => format!("{title} does not list it in this region, so it most likely cannot be used there"),
        false => format!("{title} does not list it for this key, so the key most likely cannot use it"),
    };
    for entry in entries.iter_mut().filter(|entry| entry.info.available && !is_listed(entry)) {
        (entry.info.available, entry.info.unavailable_because) = (false, Some(missing.clone()));
    }
}

/// True if one of the words stands in an id, between hyphens or at an end.
fn is_other(id: &str) -> bool {
    let id = format!("-{id}-");
    OTHERS.iter().any(|word| id.contains(&format!("-{word}-")))
}

/// True if a listed id is that of a model, possibly with a date at its end.
fn is_it(id: &str, listed: &str) -> bool {
    id == listed || data::undated(listed) == Some(id)
}
