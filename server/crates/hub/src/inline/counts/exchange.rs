//! A request to a model as it is counted: its time, its end and its cost.

use std::time::{Duration, Instant};

use ports::complete::FillInfo;
use ports::model::cost;
use protocol::content::Usage;
use protocol::model::Price;
use tokio::sync::mpsc;

use super::Event;
use crate::inline::Message;

/// The bytes of code that count as a token, if a vendor does not say how many tokens it was. Rather too few, so that
/// the cost is rather too high.
const BYTES_OF_TOKEN: usize = 3;

/// A request to a model that runs. It is counted when this is dropped, so that a request that is given up counts too:
/// the vendor has read its prompt.
pub(in crate::inline) struct Exchange {
    model: String,
    price: Option<Price>,
    begun: Instant,
    /// The bytes that were sent, and those of the answer so far.
    sent: usize,
    received: usize,
    /// The tokens, once the vendor has said them.
    usage: Option<Usage>,
    end: End,
    messages: mpsc::WeakUnboundedSender<Message>,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Nobody needed the answer any more.
    GivenUp,
    Answered,
    /// It had no whole answer in time.
    Late,
    Failed,
}

/// A request that has ended.
#[derive(Debug)]
pub(in crate::inline) struct Ended {
    pub(super) model: String,
    pub(super) took: Duration,
    pub(super) end: End,
    /// US dollars.
    pub(super) cost: f64,
}

impl Exchange {
    /// Begins with the bytes that are sent to the model.
    pub(in crate::inline) fn begin(info: &FillInfo, sent: usize, messages: mpsc::WeakUnboundedSender<Message>) -> Self {
        let (model, price) = (info.id.clone(), info.price.filter(|_| !info.is_local));
        Self { model, price, begun: Instant::now(), sent, received: 0, usage: None, end: End::GivenUp, messages }
    }

    /// Notes a piece of the answer.
    pub(in crate::inline) fn piece(&mut self, piece: &str) {
        self.received += piece.len();
    }

    /// Notes that there is as much of the answer as is needed.
    pub(in crate::inline) fn answered(&mut self) {
        self.end = End::Answered;
    }

    /// Notes that the answer is whole, with the tokens used, as far as the vendor says.
    pub(in crate::inline) fn finished(&mut self, usage: Usage) {
        self.end = End::Answered;
        self.usage = Some(usage).filter(|usage| *usage != Usage::default());
    }

    /// Notes that the time was over.
    pub(in crate::inline) fn late(&mut self) {
        self.end = End::Late;
    }

    /// Notes that the model's server has failed.
    pub(in crate::inline) fn failed(&mut self) {
        self.end = End::Failed;
    }

    fn cost(&self) -> f64 {
        let Some(price) = &self.price else { return 0.0 };
        // A server that refuses a request bills nothing.
        if self.end == End::Failed && self.received == 0 {
            return 0.0;
        }
        let tokens = |bytes: usize| u64::try_from(bytes.div_ceil(BYTES_OF_TOKEN)).unwrap_or(u64::MAX);
        let estimate = || Usage {
            input: tokens(self.sent),
            output: tokens(self.received),
            cache_read: 0,
            cache_write: 0,
            cache_write_hour: 0,
        };
        cost(price, &self.usage.unwrap_or_else(estimate))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let Some(messages) = self.messages.upgrade() else { return };
        let (model, took, cost) = (std::mem::take(&mut self.model), self.begun.elapsed(), self.cost());
        let _ = messages.send(Message::Counts(Event::Ended(Ended { model, took, end: self.end, cost })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(price: Option<Price>, is_local: bool, work: impl FnOnce(&mut Exchange)) -> Ended {
        let info = FillInfo {
            id: "vendor/model".into(),
            is_local,
            price,
            context_bytes: 1_000,
            control_tokens: std::sync::Arc::new([]),
        };
        let (messages, mut inbox) = mpsc::unbounded_channel();
        let mut exchange = Exchange::begin(&info, 3_000_000, messages.downgrade());
        work(&mut exchange);
        drop(exchange);
        match inbox.try_recv() {
            Ok(Message::Counts(Event::Ended(ended))) => ended,
            _ => panic!("a request is counted once it is dropped"),
        }
    }

    const PRICE: Price =
        Price { input: 1.0, output: 2.0, cache_read: 0.5, cache_write: 0.0, cache_write_hour: None, long: None };

    #[test]
    fn a_request_costs_the_tokens_that_the_vendor_says() {
        let usage = Usage { input: 500_000, output: 100_000, cache_read: 200_000, cache_write: 0, cache_write_hour: 0 };
        let ended = counted(Some(PRICE), false, |exchange| exchange.finished(usage));
        assert!((ended.cost - 0.8).abs() < 1e-9 && ended.end == End::Answered, "{ended:?}");
    }

    #[test]
    fn a_request_that_is_given_up_costs_what_was_sent_and_received_by_then() {
        let ended = counted(Some(PRICE), false, |exchange| exchange.piece(&"x".repeat(300_000)));
        assert!((ended.cost - 1.2).abs() < 1e-9 && ended.end == End::GivenUp, "{ended:?}");
        let unsaid = counted(Some(PRICE), false, |exchange| exchange.finished(Usage::default()));
        assert!((unsaid.cost - 1.0).abs() < 1e-9, "{unsaid:?}");
    }

    #[test]
    fn a_refused_request_a_local_one_and_one_without_a_price_cost_nothing() {
        assert_eq!(counted(Some(PRICE), false, Exchange::failed).cost, 0.0);
        assert_eq!(counted(Some(PRICE), true, Exchange::answered).cost, 0.0);
        assert_eq!(counted(None, false, Exchange::late).cost, 0.0);
    }
}
