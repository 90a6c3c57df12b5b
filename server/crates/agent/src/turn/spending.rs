//! The usage and cost of a turn's requests, and the budgets that these count for.

use std::sync::Arc;

use ports::model::cost;
use ports::spent::Sums;
use protocol::Event;
use protocol::content::Usage;
use protocol::turn::StopReason;

use super::{End, Limits, Turn};
use crate::wait::until_cancelled;

/// The advice where a budget is spent. The model reads it whose call started the session, and the user who went on with
/// that one.
const BUDGET_IS_SET: &str = "It is for this session as a whole: go on in the one that started it";

impl Turn {
    /// Adds what a request used to what the turn did, and gives its cost.
    pub(super) fn pay(&mut self, usage: Usage) -> Option<f64> {
        let cost = self.model.info().price.map(|price| cost(&price, &usage));
        self.sums += Sums::one(usage, cost);
        cost
    }

    /// Puts on record what a request used of which no message came, so that it counts at once, and for its model.
    pub(super) fn pay_for_nothing(&mut self, usage: Usage) {
        if usage != Usage::default() {
            let (cost, opening) = (self.pay(usage), std::mem::take(&mut self.opening));
            self.record(Event::RequestPaid { turn_id: self.gate.turn_id.clone(), usage, cost, opening });
        }
    }

    /// The cost so far, as far as it is known; none if no price is.
    pub(super) fn cost(&self) -> Option<f64> {
        let is_known = self.sums.requests > 0 || self.model.info().price.is_some();
        self.sums.known_cost().filter(|_| is_known)
    }

    /// Sees whether a request may be made.
    ///
    /// # Errors
    /// The end, if the turn's own budget is spent, or the user's and they do not want to spend more.
    pub(super) async fn may_spend(&self) -> Result<(), End> {
        let session = Arc::clone(&self.gate.session);
        let error = match self.spent() {
            Some(spent) => spent,
            None => match until_cancelled(&self.gate.cancel, session.within_budget()).await {
                None => return Err(StopReason::Cancelled.into()),
                Some(Ok(())) => return Ok(()),
                Some(Err(spent)) => spent,
            },
        };
        Err(End { stop: StopReason::Error, error: Some(error) })
    }

    /// The reason to stop, if the budget is spent.
    fn spent(&self) -> Option<String> {
        let Limits { tokens, cost, .. } = self.gate.limits;
        let used = self.sums.usage.total();
        if tokens.filter(|most| used >= *most).is_some() {
            return Some(format!("the session's budget of tokens is spent; this turn used {used}. {BUDGET_IS_SET}"));
        }
        let (_, cost) = cost.zip(self.cost()).filter(|(most, cost)| cost >= most)?;
        Some(format!("the session's budget of money is spent; this turn cost ${cost:.4}. {BUDGET_IS_SET}"))
    }
}
