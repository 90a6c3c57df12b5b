//! The stored numbers, added up for the user.

use std::collections::BTreeMap;

use inline::{kept, latency};
use ports::counts::{Cost, Count};
use ports::store::{Store, StoreError};
use protocol::inline::counts::{InlineCountsParams, InlineCountsResult, InlineModelCounts, InlineRetention};

use super::names;
use crate::clock::day_of;

/// The days that numbers are kept for, today among them.
pub(super) const DAYS: u32 = 90;
/// The days that are added up if the caller does not say.
const USUAL: u32 = 30;

/// The numbers about suggestions in the store, added up by model. Blocks.
///
/// # Errors
/// A failure of the store.
pub fn suggestion_counts(
    store: &dyn Store,
    params: &InlineCountsParams,
    is_counted: bool,
    now: u64,
) -> Result<InlineCountsResult, StoreError> {
    let days = params.days.unwrap_or(USUAL).clamp(1, DAYS);
    let since = day_of(now).saturating_sub(days - 1);
    let counts = if is_counted { store.counts(since)? } else { Vec::new() };
    Ok(InlineCountsResult { counted: is_counted, days, models: by_model(&counts, &store.costs(since)?) })
}

fn by_model(counts: &[Count], costs: &[Cost]) -> Vec<InlineModelCounts> {
    let mut numbers = BTreeMap::<&str, BTreeMap<&str, u64>>::new();
    for Count { model, name, number, .. } in counts {
        let sum = numbers.entry(model).or_default().entry(name).or_default();
        *sum = sum.saturating_add(*number);
    }
    let mut models: BTreeMap<_, _> =
        numbers.iter().map(|(model, numbers)| (*model, of_model(model, numbers))).collect();
    for Cost { model, dollars, .. } in costs {
        models.entry(model).or_insert_with(|| of_model(model, &BTreeMap::new())).cost += dollars;
    }
    models.into_values().collect()
}

fn of_model(model: &str, numbers: &BTreeMap<&str, u64>) -> InlineModelCounts {
    let number = |name: &str| numbers.get(name).copied().unwrap_or_default();
    let mut buckets = [0; latency::BUCKETS];
    for (name, number) in numbers {
        let bucket = names::bound_of(name).map(latency::bucket);
        if let Some(bucket) = bucket.and_then(|bucket| buckets.get_mut(bucket)) {
            *bucket += number;
        }
    }
    let retention = kept::AFTER.map(|after| InlineRetention {
        after_seconds: after.as_secs(),
        looked_for: number(&names::looked(after)),
        kept: number(&names::kept(after)),
    });
    InlineModelCounts {
        model: model.to_owned(),
        changes: number(names::CHANGES),
        requests: number(names::REQUESTS),
        late: number(names::LATE),
        failed: number(names::FAILED),
        given: number(names::GIVEN),
        given_from_cache: number(names::GIVEN_FROM_CACHE),
        shown: number(names::SHOWN),
        accepted: number(names::ACCEPTED),
        partly: number(names::PARTLY),
        partly_characters: number(names::PARTLY_CHARACTERS),
        rejected: number(names::REJECTED),
        ignored: number(names::IGNORED),
        replaced: number(names::REPLACED),
        retention: retention.into(),
        p50_ms: latency::percentile(&buckets, 50),
        p90_ms: latency::percentile(&buckets, 90),
        cost: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn count(day: u32, model: &str, name: &str, number: u64) -> Count {
        Count { day, model: model.into(), name: name.into(), number }
    }

    #[test]
    fn days_are_added_up_and_models_are_not() {
        let counts = [
            count(1, "a", names::SHOWN, 2),
            count(2, "a", names::SHOWN, 3),
            count(2, "b", names::SHOWN, 1),
            count(2, "a", &names::looked(Duration::from_secs(30)), 4),
            count(2, "a", &names::kept(Duration::from_secs(30)), 3),
        ];
        let costs =
            [Cost { day: 1, model: "a".into(), dollars: 0.5 }, Cost { day: 2, model: "c".into(), dollars: 0.25 }];
        let models = by_model(&counts, &costs);
        let seen: Vec<_> = models.iter().map(|of| (of.model.as_str(), of.shown, of.cost)).collect();
        assert_eq!(seen, [("a", 5, 0.5), ("b", 1, 0.0), ("c", 0, 0.25)]);
        assert_eq!(models[0].retention[0], InlineRetention { after_seconds: 30, looked_for: 4, kept: 3 });
    }

    #[test]
    fn percentiles_are_those_of_all_days() {
        let took = |day, ms, number| count(day, "a", &names::took(Duration::from_millis(ms)), number);
        let [model] = by_model(&[took(1, 100, 8), took(2, 900, 2)], &[]).try_into().unwrap();
        assert_eq!((model.p50_ms, model.p90_ms), (Some(121), Some(1_113)));
    }
}
