//! The requests to models and what they cost, as they are stored. They contain nothing of any text.

use protocol::content::Usage;
use protocol::{SessionId, TurnId};

/// The requests to a model on a day, of a turn or of a session outside its turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Spent {
    /// The day, in days since the Unix epoch (UTC).
    pub day: u32,
    /// The session. It may have been deleted since.
    pub session: SessionId,
    /// The session that started it.
    pub parent: Option<SessionId>,
    /// The turn; none for requests outside one.
    pub turn: Option<TurnId>,
    /// The role of requests outside a turn, as it is written in the log, such as `title`.
    pub role: Option<String>,
    /// The model's id.
    pub model: String,
    /// The sums.
    pub sums: Sums,
}

/// Sums over requests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The number of requests whose tokens are known.
    pub requests: u64,
    /// The number of those of them whose cost is unknown, because the model's price was.
    pub unpriced: u64,
    /// The tokens.
    pub usage: Usage,
    /// The cost in US dollars, as far as it is known.
    pub cost: f64,
}

impl Sums {
    /// The sums of one request; its cost is none if the model's price is unknown.
    pub fn one(usage: Usage, cost: Option<f64>) -> Self {
        // A price that is no number must not spoil the sum.
        let cost = cost.filter(|cost| cost.is_finite());
        Self { requests: 1, unpriced: u64::from(cost.is_none()), usage, cost: cost.unwrap_or_default() }
    }

    /// The cost, or the part of it that is known; none if nothing is known of it.
    pub fn known_cost(&self) -> Option<f64> {
        (self.unpriced < self.requests || self.requests == 0).then_some(self.cost)
    }

    /// The share of the input that was read from the vendor's cache, from 0 to 1; none if there was no input.
    pub fn cache_hits(&self) -> Option<f64> {
        let Usage { input, cache_read, cache_write, .. } = self.usage;
        // As floats, since the sum of what a vendor reports may not fit.
        let all = input as f64 + cache_read as f64 + cache_write as f64;
        (all > 0.0).then(|| cache_read as f64 / all)
    }
}

impl std::ops::AddAssign for Sums {
    fn add_assign(&mut self, more: Self) {
        self.requests = self.requests.saturating_add(more.requests);
        self.unpriced = self.unpriced.saturating_add(more.unpriced);
        self.usage += more.usage;
        self.cost += more.cost;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_the_cache_is_of_all_input_and_not_of_the_output() {
        let hits = |input, cache_read, cache_write| {
            let usage = Usage { input, output: 1_000, cache_read, cache_write, cache_write_hour: 0 };
            Sums::one(usage, None).cache_hits()
        };
        assert_eq!(hits(50, 25, 25), Some(0.25));
        assert_eq!(hits(0, 10, 0), Some(1.0));
        assert_eq!(hits(0, 0, 0), None);
        assert_eq!(hits(u64::MAX, u64::MAX, 0), Some(0.5));
    }

    #[test]
    fn a_cost_that_is_not_known_is_counted_and_not_added() {
        let usage = Usage { input: 1, ..Usage::default() };
        let mut sums = Sums::one(usage, Some(0.5));
        sums += Sums::one(usage, None);
        sums += Sums::one(usage, Some(f64::NAN));
        assert_eq!((sums.requests, sums.unpriced, sums.usage.input, sums.cost), (3, 2, 3, 0.5));
    }
}
