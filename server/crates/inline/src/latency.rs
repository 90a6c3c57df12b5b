//! The times that models take: percentiles of many, of which only a few numbers are kept, and the judgement that a
//! model is slow.

use std::collections::VecDeque;
use std::time::Duration;

/// The number of buckets in which times are counted.
pub const BUCKETS: usize = 44;
/// The upper bound of the first bucket, in milliseconds. Each following one is a quarter higher.
const FIRST: u64 = 10;

/// The requests by which a model is judged: the last.
const LAST: usize = 10;
/// A model whose median is longer than this is slow.
const SLOW: Duration = Duration::from_secs(3);

const BOUNDS: [u64; BUCKETS] = bounds();

const fn bounds() -> [u64; BUCKETS] {
    let mut bounds = [FIRST; BUCKETS];
    let mut at = 1;
    while at < BUCKETS {
        bounds[at] = bounds[at - 1] * 5 / 4;
        at += 1;
    }
    bounds
}

/// The bucket of a time in milliseconds. The last one takes all that is longer.
pub fn bucket(ms: u64) -> usize {
    BOUNDS.iter().position(|bound| ms <= *bound).unwrap_or(BUCKETS - 1)
}

/// The upper bound of a bucket, in milliseconds.
pub fn bound(bucket: usize) -> u64 {
    BOUNDS.get(bucket).or(BOUNDS.last()).copied().unwrap_or(FIRST)
}

/// The time in milliseconds within which so many of a hundred requests were answered, by the count in each bucket: the
/// upper bound of its bucket, so at most a quarter too long. None without any request.
pub fn percentile(counts: &[u64; BUCKETS], percent: u64) -> Option<u64> {
    let all: u64 = counts.iter().fold(0, |sum, count| sum.saturating_add(*count));
    let wanted = all.saturating_mul(percent).div_ceil(100).max(1);
    let mut seen = 0_u64;
    let reached = counts.iter().position(|count| {
        seen = seen.saturating_add(*count);
        seen >= wanted
    });
    reached.filter(|_| all > 0).map(bound)
}

/// A model's last requests.
#[derive(Debug, Default)]
pub struct Pulse {
    last: VecDeque<(Duration, bool)>,
}

/// The reason why a model is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slow {
    /// The median of its last times, which is too long.
    Median(Duration),
    /// So many of its last requests had no answer in time.
    Late(usize),
}

impl Pulse {
    /// Notes the time of a request, and if it had no answer by then.
    pub fn note(&mut self, took: Duration, is_late: bool) {
        if self.last.len() >= LAST {
            self.last.pop_front();
        }
        self.last.push_back((took, is_late));
    }

    /// Notes a request that was given up, since the user went on. One that was given up early says nothing.
    pub fn note_given_up(&mut self, after: Duration) {
        if after > SLOW {
            self.note(after, false);
        }
    }

    /// The reason why the model is slow; none if it is not, or too little is known of it.
    pub fn slow(&self) -> Option<Slow> {
        if self.last.len() < LAST {
            return None;
        }
        let late = self.last.iter().filter(|(_, is_late)| *is_late).count();
        if late > LAST / 2 {
            return Some(Slow::Late(late));
        }
        let mut times: Vec<_> = self.last.iter().map(|(took, _)| *took).collect();
        times.sort_unstable();
        let median = times.get(LAST / 2).copied()?;
        (median > SLOW).then_some(Slow::Median(median))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pulse(times: &[u64]) -> Pulse {
        let mut pulse = Pulse::default();
        times.iter().for_each(|ms| pulse.note(Duration::from_millis(*ms), false));
        pulse
    }

    #[test]
    fn the_buckets_go_from_ten_milliseconds_to_over_a_minute() {
        assert_eq!((bound(0), bound(1), bucket(0), bucket(10), bucket(11)), (10, 12, 0, 0, 1));
        assert!(bound(BUCKETS - 1) > 60_000, "{}", bound(BUCKETS - 1));
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_percentile_of_nothing_is_none() {
        assert_eq!(percentile(&[0; BUCKETS], 50), None);
    }

    #[test]
    fn a_model_is_slow_by_the_median_of_its_last_ten_times() {
        assert_eq!(pulse(&[4_000; 9]).slow(), None, "too little is known");
        assert_eq!(pulse(&[4_000; 10]).slow(), Some(Slow::Median(Duration::from_secs(4))));
        assert_eq!(pulse(&[3_000; 10]).slow(), None);
        let fast_again = [[4_000; 10], [100; 10]].concat();
        assert_eq!(pulse(&fast_again[..14]).slow(), Some(Slow::Median(Duration::from_secs(4))));
        assert_eq!(pulse(&fast_again[..16]).slow(), None, "the last ten count");
    }

    #[test]
    fn a_model_is_slow_if_more_than_half_of_its_requests_come_to_nothing_in_time() {
        let mut pulse = pulse(&[100; 10]);
        for _ in 0..5 {
            pulse.note(Duration::from_millis(2_900), true);
        }
        assert_eq!(pulse.slow(), None);
        pulse.note(Duration::from_millis(2_900), true);
        assert_eq!(pulse.slow(), Some(Slow::Late(6)));
    }

    #[test]
    fn a_request_that_was_given_up_counts_only_if_it_was_slow_by_then() {
        let mut pulse = Pulse::default();
        for _ in 0..20 {
            pulse.note_given_up(Duration::from_millis(400));
        }
        assert_eq!(pulse.slow(), None);
        for _ in 0..10 {
            pulse.note_given_up(Duration::from_millis(3_400));
        }
        assert_eq!(pulse.slow(), Some(Slow::Median(Duration::from_millis(3_400))));
    }

    proptest! {
        #[test]
        fn a_time_is_in_the_first_bucket_that_takes_it(ms in 0..80_000_u64) {
            let at = bucket(ms);
            prop_assert!(ms <= bound(at) || at == BUCKETS - 1);
            prop_assert!(at == 0 || ms > bound(at - 1));
        }

        #[test]
        fn a_percentile_is_that_of_the_times_or_at_most_a_quarter_longer(
            mut times in prop::collection::vec(1..60_000_u64, 1..200), percent in 1..=100_u64,
        ) {
            let mut counts = [0; BUCKETS];
            times.iter().for_each(|ms| counts[bucket(*ms)] += 1);
            times.sort_unstable();
            let rank = (times.len() as u64 * percent).div_ceil(100) as usize;
            let exact = times[rank - 1];
            let found = percentile(&counts, percent).unwrap();
            prop_assert!(found >= exact && found <= (exact * 5 / 4).max(FIRST), "{exact} {found}");
        }

        #[test]
        fn percentiles_grow_with_the_percentage(counts in prop::array::uniform32(0..1000_u64)) {
            let mut all = [0; BUCKETS];
            all[..32].copy_from_slice(&counts);
            let found: Vec<_> = [10, 50, 90, 100].map(|percent| percentile(&all, percent)).to_vec();
            prop_assert!(found.is_sorted(), "{found:?}");
        }
    }
}
