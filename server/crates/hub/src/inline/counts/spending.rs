//! The cost of today's suggestions, in all windows, and its limit. A day is one of UTC: the windows of a user who
//! travels agree on it, and no day has 23 hours.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use ports::complete::FillInfo;
use ports::counts::Cost;

/// So long the cost counts as known that the store had: other windows add to it.
const FRESH: Duration = Duration::from_secs(5);

/// The cost of a day.
#[derive(Debug, Default)]
pub(super) struct Spending {
    day: u32,
    /// The cost that the store had when it was read last, of all windows.
    stored: f64,
    read: Option<Instant>,
    /// The costs that are still to be written, by day and model, and today's part of those that are being written.
    pending: BTreeMap<(u32, String), f64>,
    being_written: f64,
}

/// The answer to the question if a model may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::inline) enum Allowance {
    Granted,
    /// The limit of the day is reached.
    Reached,
    /// The store has to be asked for the cost in other windows first.
    Unknown,
}

impl Spending {
    /// Adds the cost of a request.
    pub(super) fn spend(&mut self, day: u32, model: &str, dollars: f64) {
        self.turn(day);
        *self.pending.entry((day, model.to_owned())).or_default() += dollars;
    }

    /// The cost of a day as far as it is known.
    pub(super) fn of(&self, day: u32) -> f64 {
        let unwritten: f64 = self.pending.iter().filter(|((of, _), _)| *of == day).map(|(_, dollars)| dollars).sum();
        let known = if self.day == day { self.stored + self.being_written } else { 0.0 };
        known + unwritten
    }

    pub(super) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Takes what is to be written.
    pub(super) fn take(&mut self, day: u32) -> Vec<Cost> {
        self.turn(day);
        let pending = std::mem::take(&mut self.pending).into_iter();
        let costs: Vec<_> = pending.map(|((day, model), dollars)| Cost { day, model, dollars }).collect();
        self.being_written += of_day(&costs, day);
        costs
    }

    /// Notes that these costs were written, and the day's cost that the store had then; none if it failed, so that they
    /// are still to be written.
    pub(super) fn written(&mut self, costs: Vec<Cost>, day: u32, stored: Option<f64>, now: Instant) {
        if self.day == day {
            self.being_written = (self.being_written - of_day(&costs, day)).max(0.0);
            self.stored = stored.unwrap_or(self.stored);
            // Without a store the cost of this window is all that is known.
            self.read = Some(now);
        }
        if stored.is_none() {
            for Cost { day, model, dollars } in costs {
                *self.pending.entry((day, model)).or_default() += dollars;
            }
        }
    }

    /// Says if a model may be asked, with so much as the limit of a day.
    pub(super) fn allowance(&self, info: &FillInfo, limit: f64, day: u32, now: Instant) -> Allowance {
        if !is_priced(info) {
            return Allowance::Granted;
        }
        if self.of(day) >= limit {
            return Allowance::Reached;
        }
        let is_fresh = self.day == day && self.read.is_some_and(|read| now.saturating_duration_since(read) < FRESH);
        if is_fresh { Allowance::Granted } else { Allowance::Unknown }
    }

    /// Turns to a day.
    fn turn(&mut self, day: u32) {
        if self.day != day {
            (self.day, self.stored, self.being_written, self.read) = (day, 0.0, 0.0, None);
        }
    }
}

/// True if requests to a model cost something that is known.
pub(super) fn is_priced(info: &FillInfo) -> bool {
    !info.is_local && info.price.is_some_and(|price| price.input > 0.0 || price.output > 0.0)
}

fn of_day(costs: &[Cost], day: u32) -> f64 {
    costs.iter().filter(|cost| cost.day == day).map(|cost| cost.dollars).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::model::Price;

    use super::*;

    fn info(price: f64, is_local: bool) -> FillInfo {
        let price = Some(Price { input: price, ..Price::default() });
        FillInfo { id: "m".into(), is_local, price, context_bytes: 1, control_tokens: std::sync::Arc::new([]) }
    }

    #[test]
    fn the_limit_counts_what_this_window_and_the_others_have_spent() {
        let (mut spending, now, paid) = (Spending::default(), Instant::now(), info(1.0, false));
        assert_eq!(spending.allowance(&paid, 1.0, 7, now), Allowance::Unknown, "the store was not asked");
        let nothing = spending.take(7);
        spending.written(nothing, 7, Some(0.5), now);
        assert_eq!(spending.allowance(&paid, 1.0, 7, now), Allowance::Granted);
        assert_eq!(spending.allowance(&paid, 1.0, 7, now + FRESH), Allowance::Unknown, "others may have spent since");
        spending.spend(7, "m", 0.5);
        assert_eq!(spending.allowance(&paid, 1.0, 7, now), Allowance::Reached);
        assert_eq!(spending.allowance(&info(1.0, true), 1.0, 7, now), Allowance::Granted, "a local one costs nothing");
        assert_eq!(spending.allowance(&info(0.0, false), 0.0, 7, now), Allowance::Granted);
        assert_eq!(spending.allowance(&paid, 1.0, 8, now), Allowance::Unknown, "the next day");
    }

    #[test]
    fn with_a_limit_of_nothing_nothing_that_costs_is_asked() {
        assert_eq!(Spending::default().allowance(&info(1.0, false), 0.0, 7, Instant::now()), Allowance::Reached);
    }

    #[test]
    fn a_cost_that_could_not_be_written_is_written_with_the_next() {
        let (mut spending, now) = (Spending::default(), Instant::now());
        spending.spend(7, "m", 0.25);
        let costs = spending.take(7);
        assert_eq!((spending.of(7), spending.has_pending()), (0.25, false));
        spending.written(costs, 7, None, now);
        assert_eq!((spending.of(7), spending.has_pending()), (0.25, true));
        let costs = spending.take(7);
        spending.written(costs, 7, Some(0.75), now);
        assert_eq!((spending.of(7), spending.has_pending()), (0.75, false));
    }

    proptest! {
        /// Costs in steps of 1/64, which are exact.
        #[test]
        fn two_windows_that_write_whenever_they_like_know_the_sum_once_they_have_written(
            steps in prop::collection::vec((any::<bool>(), 0..100_u32, any::<bool>()), 1..40),
        ) {
            let (mut windows, now) = ([Spending::default(), Spending::default()], Instant::now());
            let (mut store, mut all) = (0.0, 0.0);
            let mut write = |window: &mut Spending, works: bool| {
                let costs = window.take(1);
                store += if works { of_day(&costs, 1) } else { 0.0 };
                window.written(costs, 1, works.then_some(store), now);
            };
            for (first, cost, works) in steps {
                let [one, other] = &mut windows;
                let window = if first { one } else { other };
                let cost = f64::from(cost) / 64.0;
                all += cost;
                window.spend(1, "m", cost);
                write(window, works);
                prop_assert!(window.of(1) <= all);
            }
            windows.iter_mut().for_each(|window| write(window, true));
            write(&mut windows[0], true);
            prop_assert_eq!(windows.map(|window| window.of(1)), [all, all]);
        }
    }
}
