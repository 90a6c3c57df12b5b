//! The model that a name stands for.

use std::sync::Arc;

use ports::model::Model;
use protocol::model::ThinkingLevel;

use super::entry::Entry;
use super::source::Source;
use super::{CatalogError, bare};
use crate::data::registry;
use crate::vendors::Vendor;

/// The model that a name stands for by the first reading that there is one for: one that can be used before one that
/// cannot. Of a provider of which nobody spoke it is one that no other has.
pub(super) fn best(
    found: &[(Source<'_>, Vec<Entry>)],
    readings: &[(&str, Option<ThinkingLevel>)],
) -> Option<Result<Arc<dyn Model>, CatalogError>> {
    readings.iter().find_map(|(name, level)| {
        let all = || {
            let pairs = found.iter().flat_map(|(source, entries)| entries.iter().map(move |entry| (source, entry)));
            pairs.filter(|(_, entry)| entry.is_called(name))
        };
        let is_ready = |(source, entry): &(&Source<'_>, &Entry)| entry.info.available && !source.provider().is_unasked;
        let is_allowed = |(_, entry): &(&Source<'_>, &Entry)| !entry.info.ruled_out;
        let found = all().find(is_ready).or_else(|| all().find(is_allowed)).or_else(|| all().next())?;
        Some(given(found, *level))
    })
}

/// The model of the provider in the name that has this name in another spelling, such as one with a date or a `.` for a
/// `-`. Where an id says the region, no other is the same.
pub(super) fn equivalent(
    found: &[(Source<'_>, Vec<Entry>)],
    readings: &[(&str, Option<ThinkingLevel>)],
) -> Option<Result<Arc<dyn Model>, CatalogError>> {
    readings.iter().find_map(|(name, level)| {
        let (provider, own) = name.split_once('/')?;
        let (source, entries) = found.iter().find(|(source, _)| source.provider().name == provider)?;
        if source.provider().vendor().is_some_and(Vendor::has_regions) {
            return None;
        }
        let wanted = registry::canonical(own);
        let mut same = entries.iter().filter(|entry| registry::canonical(bare(&entry.info.id)) == wanted);
        let entry = same.next().filter(|_| same.next().is_none())?;
        Some(given((source, entry), *level))
    })
}

/// The usable model of a name without a provider at the first of these that has it, in any spelling. Only one of which
/// nothing is known is waited for.
pub(super) async fn of_first<'a>(
    sources: impl Iterator<Item = Source<'a>>,
    readings: &[(&str, Option<ThinkingLevel>)],
) -> Option<(Source<'a>, Arc<dyn Model>)> {
    for source in sources.filter(Source::is_usable) {
        let mut entries = source.at_hand().await;
        if entries.is_empty() && !source.needs_program().await {
            entries = source.all().await.map(|found| found.entries).unwrap_or_default();
        }
        let here = [(source, entries)];
        let found = best(&here, readings).or_else(|| same(&here, readings)).and_then(Result::ok);
        if let Some(model) = found.filter(|model| model.info().available) {
            return Some((source, model));
        }
    }
    None
}

/// The model that has a name without a provider in another spelling, if it is the only one. A folder or a publisher in
/// the name is that of one provider, and is not looked for in another spelling. Where an id says the region, no name
/// without one means it.
fn same(
    found: &[(Source<'_>, Vec<Entry>)],
    readings: &[(&str, Option<ThinkingLevel>)],
) -> Option<Result<Arc<dyn Model>, CatalogError>> {
    readings.iter().find_map(|(name, level)| {
        let name = name.trim();
        let wanted = registry::canonical(name);
        if wanted.is_empty() || name.contains('/') || !registry::publisher(name).is_empty() {
            return None;
        }
        let of_no_region =
            found.iter().filter(|(source, _)| !source.provider().vendor().is_some_and(Vendor::has_regions));
        let pairs = of_no_region.flat_map(|(source, entries)| entries.iter().map(move |entry| (source, entry)));
        let mut same = pairs.filter(|(_, entry)| registry::canonical(bare(&entry.info.id)) == wanted);
        let found = same.next().filter(|_| same.next().is_none())?;
        Some(given(found, *level))
    })
}

/// A model that was found, at a level.
fn given((source, entry): (&Source<'_>, &Entry), level: Option<ThinkingLevel>) -> Result<Arc<dyn Model>, CatalogError> {
    if let Some(problem) = entry.info.unavailable_because.clone().filter(|_| entry.info.ruled_out) {
        return Err(CatalogError::RuledOut { model: entry.info.id.clone(), problem });
    }
    entry.at(level).map(|entry| source.model(&entry))
}
