//! The numbers about suggestions, which stay on this machine: the fate of each, the times of models, and today's cost.
//! They contain nothing of any text. They are written to the store beside the task, every few seconds.

mod exchange;
mod names;
mod spending;
mod summary;

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use inline::journal::Kind;
use inline::kept::{self, Watches};
use inline::latency::{Pulse, Slow};
use inline::splice::between;
use ports::complete::FillInfo;
use ports::counts::{Cost, Count};
use project::buffers::Snapshot;
use protocol::inline::counts::{InlineCountsParams, InlineCountsResult};
use protocol::inline::{
    InlineEvent, InlineFeedbackParams, InlineSource, InlineState, InlineStatusParams, Reason, Rule,
};
use providers::cost::format_cost;
use tokio::sync::{Mutex, oneshot};

pub(super) use self::exchange::Exchange;
use self::exchange::{End, Ended};
use self::spending::{Allowance, Spending, is_priced};
use self::summary::DAYS;
pub use self::summary::suggestion_counts;
use super::decisions::{Found, Suggestion};
use super::{Inline, Key, Message, Task};
use crate::clock::{Clock, day_of};
use crate::feed::blocking;
use crate::{Error, Reply};

/// The time in which numbers are gathered before they are written.
const WRITE: Duration = Duration::from_secs(5);
/// The suggestions whose fate so far is remembered.
const SUGGESTIONS: usize = 64;
/// So often it is looked if the day is over whose limit was reached. A timer does not run while a machine sleeps.
const MORNING: Duration = Duration::from_secs(600);
/// The milliseconds of a day.
const DAY: u64 = 86_400_000;

/// The events that are counted, or that have to do with it.
pub(super) enum Event {
    /// A request to a model ended.
    Ended(Ended),
    /// It is time to write.
    Write,
    /// It is time to look for accepted texts.
    Look,
    /// It may be another day.
    Morning,
    Written(Written),
    Show(InlineCountsParams, Reply<InlineCountsResult>),
    /// The process ends.
    Finish(oneshot::Sender<()>),
}

/// The result of writing.
pub(super) struct Written {
    day: u32,
    costs: Vec<Cost>,
    /// The day's cost in the store; none if it failed.
    stored: Option<f64>,
}

/// The numbers of this process.
pub(super) struct Counts {
    clock: Clock,
    /// False if the user has switched the counting off; not known before the first configuration. The work beside the
    /// task sees it too.
    is_on: Option<bool>,
    may_write: Arc<AtomicBool>,
    /// The numbers that are still to be written, by day, model and name.
    pending: BTreeMap<(u32, String, String), u64>,
    watches: Watches,
    suggestions: VecDeque<Fate>,
    pulse: Pulse,
    spending: Spending,
    /// One after the other writes.
    order: Arc<Mutex<()>>,
    will_write: bool,
    is_reading: bool,
    awaits_morning: bool,
    /// The status that clients know.
    pub(super) told: Option<InlineStatusParams>,
}

/// The fate of a suggestion so far.
struct Fate {
    id: String,
    is_shown: bool,
    /// The characters of it that were accepted.
    partly: u32,
    is_over: bool,
}

impl Inline {
    /// Answers with the numbers about suggestions.
    pub(crate) fn counts(&self, params: InlineCountsParams, reply: Reply<InlineCountsResult>) {
        self.send(Message::Counts(Event::Show(params, reply)));
    }

    /// Writes what is to be written. Done once that is.
    pub(crate) fn finish(&self) -> impl Future<Output = ()> + Send + 'static {
        let (done, finished) = oneshot::channel();
        self.send(Message::Counts(Event::Finish(done)));
        // Without the task there is nothing to write.
        async move { drop(finished.await) }
    }
}

impl Counts {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            is_on: None,
            may_write: Arc::default(),
            pending: BTreeMap::new(),
            watches: Watches::default(),
            suggestions: VecDeque::new(),
            pulse: Pulse::default(),
            spending: Spending::default(),
            order: Arc::default(),
            will_write: false,
            is_reading: false,
            awaits_morning: false,
            told: None,
        }
    }

    /// Notes that a suggestion was given to a client.
    pub(super) fn gave(&mut self, model: Option<&str>, found: &Found) {
        let Some(model) = model else { return };
        self.add(model, names::GIVEN, 1);
        if found.source == InlineSource::Kept {
            self.add(model, names::GIVEN_FROM_CACHE, 1);
        }
    }

    /// A document is closed, and its text is not known any more.
    pub(super) fn closed(&mut self, document: &str) {
        self.watches.forget(Some(document));
    }

    fn today(&self) -> u32 {
        day_of(self.clock.now())
    }

    fn add(&mut self, model: &str, name: impl Into<String>, number: u64) {
        if self.is_on == Some(true) && number > 0 {
            *self.pending.entry((self.today(), model.to_owned(), name.into())).or_default() += number;
        }
    }

    /// Counts what became of a suggestion. True if it was accepted just now.
    fn judge(&mut self, model: &str, params: &InlineFeedbackParams) -> bool {
        let at = self.suggestions.iter().position(|fate| fate.id == params.id).unwrap_or_else(|| {
            if self.suggestions.len() >= SUGGESTIONS {
                self.suggestions.pop_front();
            }
            self.suggestions.push_back(Fate { id: params.id.clone(), is_shown: false, partly: 0, is_over: false });
            self.suggestions.len() - 1
        });
        let Some(fate) = self.suggestions.get_mut(at).filter(|fate| !fate.is_over) else { return false };
        // A suggestion that was decided on was on a screen, even if the client did not say so.
        let is_end = matches!(params.event, InlineEvent::Ignored | InlineEvent::Replaced);
        let is_new = !fate.is_shown && !is_end;
        let (was_shown, before) = (fate.is_shown, fate.partly);
        fate.is_shown |= is_new;
        fate.is_over = !matches!(params.event, InlineEvent::Shown | InlineEvent::Partly);
        let mut noted = Vec::new();
        if is_new {
            noted.push((names::SHOWN, 1));
        }
        match params.event {
            InlineEvent::Shown => {}
            InlineEvent::Accepted => noted.push((names::ACCEPTED, 1)),
            InlineEvent::Rejected => noted.push((names::REJECTED, 1)),
            InlineEvent::Partly => {
                fate.partly = before.max(params.length.unwrap_or_default());
                noted.push((names::PARTLY, u64::from(before == 0)));
                noted.push((names::PARTLY_CHARACTERS, (fate.partly - before).into()));
            }
            // Of one that was accepted in part, the rest is no failure.
            InlineEvent::Ignored if was_shown && before == 0 => noted.push((names::IGNORED, 1)),
            InlineEvent::Replaced if was_shown && before == 0 => noted.push((names::REPLACED, 1)),
            InlineEvent::Ignored | InlineEvent::Replaced => {}
        }
        noted.into_iter().for_each(|(name, number)| self.add(model, name, number));
        params.event == InlineEvent::Accepted
    }

    fn forget(&mut self) {
        self.pending.clear();
        self.watches.forget(None);
        self.suggestions.clear();
    }
}

impl Task {
    pub(super) fn take_counts(&mut self, event: Event) {
        match event {
            Event::Ended(ended) => self.note_exchange(&ended),
            Event::Write => {
                self.counts.will_write = false;
                self.look();
                self.write();
            }
            Event::Look => self.look(),
            Event::Morning => {
                self.counts.awaits_morning = false;
                self.write();
            }
            Event::Written(written) => self.note_written(written),
            Event::Show(params, reply) => self.show_counts(params, reply),
            Event::Finish(done) => {
                self.look();
                let write = self.written_later();
                tokio::spawn(async move {
                    write.await;
                    let _ = done.send(());
                });
            }
        }
    }

    /// Takes the settings.
    pub(super) fn configure_counts(&mut self) {
        let is_on = self.config.inline_counts;
        self.counts.may_write.store(is_on, Ordering::Relaxed);
        if self.counts.is_on.replace(is_on) != Some(is_on) && !is_on {
            self.counts.forget();
            let (store, order) = (Arc::clone(&self.shared.parts.store), Arc::clone(&self.counts.order));
            let today = self.counts.today();
            tokio::spawn(async move {
                let _turn = order.lock().await;
                if let Err(error) = blocking(move || store.forget_counts(today)).await {
                    tracing::warn!(%error, "the counts of suggestions could not be deleted");
                }
            });
        }
        self.tell_if_changed();
    }

    /// Begins with another model.
    pub(super) fn count_for_source(&mut self) {
        self.counts.pulse = Pulse::default();
        if self.infos().any(is_priced) {
            self.read_costs();
        }
    }

    /// Counts a change of a document, of which this was the text before.
    pub(super) fn count_change(&mut self, key: &Key, old: &Snapshot) {
        let Some(document) = self.documents.get(key) else { return };
        let new = &document.snapshot;
        if old.version == new.version {
            return;
        }
        if self.counts.watches.has(&document.name)
            && let Some(change) = between(old.normal(), new.normal())
        {
            self.counts.watches.changed(&document.name, &change);
        }
        if self.journal.last_change(&document.name) != Some(Kind::Accepted)
            && let Some(model) = self.model()
        {
            self.counts.add(&model, names::CHANGES, 1);
            self.write_soon();
        }
    }

    /// Counts what became of a suggestion, and watches what was accepted.
    pub(super) fn count_feedback(&mut self, key: &Key, suggestion: &Suggestion, params: &InlineFeedbackParams) {
        let (Some(model), Some(true)) = (self.model(), self.counts.is_on) else { return };
        let is_accepted = self.counts.judge(&model, params);
        self.write_soon();
        let Some(document) = self.documents.get(key).filter(|_| is_accepted) else { return };
        let (text, at) = (&suggestion.answer.text, self.counts.clock.now());
        self.counts.watches.watch(&document.name, &model, suggestion.offset, text, at);
        self.look_later();
    }

    /// Watches the new parts of a document of a suggested edit that was accepted just now.
    pub(super) fn watch_edit(&mut self, key: &Key, model: Option<&str>, text: &str, new: &[Range<usize>]) {
        let (Some(model), Some(true), Some(document)) = (model, self.counts.is_on, self.documents.get(key)) else {
            return;
        };
        let at = self.counts.clock.now();
        for part in new {
            let words = text.get(part.clone()).unwrap_or_default();
            self.counts.watches.watch(&document.name, model, part.start, words, at);
        }
        self.look_later();
    }

    /// Has the accepted texts looked for when their times have come.
    fn look_later(&self) {
        for after in kept::AFTER {
            self.beside(async move {
                tokio::time::sleep(after).await;
                Message::Counts(Event::Look)
            });
        }
    }

    /// Counts what became of a suggested edit.
    pub(super) fn count_edit(&mut self, model: Option<&str>, params: &InlineFeedbackParams) {
        if let (Some(model), Some(true)) = (model, self.counts.is_on) {
            self.counts.judge(model, params);
            self.write_soon();
        }
    }

    /// True if the model may be asked for what waits in a document. If not, that is answered, or waits for the cost.
    pub(super) fn may_spend(&mut self, key: &Key) -> bool {
        let waits = self.documents.get(key).is_some_and(|document| !document.waiting.is_empty());
        let Some(model) = self.source.model.as_ref().ok().filter(|_| waits) else { return true };
        match self.allowance(model.info()) {
            Allowance::Granted => true,
            Allowance::Reached => {
                self.silence(key, &self.limit_reached());
                false
            }
            Allowance::Unknown => {
                self.read_costs();
                false
            }
        }
    }

    /// A status with what is known of the model's times and costs.
    pub(super) fn with_counts(&self, status: InlineStatusParams) -> InlineStatusParams {
        let cost = (self.counts.spending.of(self.counts.today()) * 1e3).round() / 1e3;
        let cost_unknown = self.infos().any(|info| !info.is_local && info.price.is_none());
        let status = InlineStatusParams { cost: Some(cost).filter(|cost| *cost > 0.0), cost_unknown, ..status };
        let is_reached = |info| self.allowance(info) == Allowance::Reached;
        if self.source.model.as_ref().is_ok_and(|model| is_reached(model.info())) {
            return InlineStatusParams { state: InlineState::Off, reason: Some(self.limit_reached()), ..status };
        }
        match self.counts.pulse.slow().filter(|_| status.state == InlineState::Ready) {
            Some(slow) => InlineStatusParams { state: InlineState::Slow, reason: Some(slow_reason(slow)), ..status },
            None => status,
        }
    }

    /// The same for the edit that a client has asked for.
    ///
    /// # Errors
    /// The reason against it; none if it is not known yet what other windows have spent.
    pub(super) fn may_spend_on_edits(&mut self) -> Result<(), Option<Reason>> {
        let Ok(model) = &self.source.edits else { return Ok(()) };
        match self.allowance(model.info()) {
            Allowance::Granted => Ok(()),
            Allowance::Reached => Err(Some(self.limit_reached())),
            Allowance::Unknown => {
                self.read_costs();
                Err(None)
            }
        }
    }

    fn allowance(&self, info: &FillInfo) -> Allowance {
        let (limit, today) = (self.config.inline_cost_limit, self.counts.today());
        self.counts.spending.allowance(info, limit, today, Instant::now())
    }

    /// The models that are asked while the user types.
    fn infos(&self) -> impl Iterator<Item = &FillInfo> {
        let edits = self.source.edits.iter().map(|model| model.info());
        self.source.model.iter().map(|model| model.info()).chain(edits)
    }

    fn model(&self) -> Option<String> {
        self.source.model.as_ref().ok().map(|model| model.info().id.clone())
    }

    fn limit_reached(&self) -> Reason {
        let limit = format_cost(self.config.inline_cost_limit);
        let words =
            format!("{} It is {limit} (`inline_cost_limit`); the day ends at midnight UTC.", Rule::CostLimit.words());
        Reason { rule: Rule::CostLimit, words }
    }

    fn note_exchange(&mut self, Ended { model, took, end, cost }: &Ended) {
        self.counts.add(model, names::REQUESTS, 1);
        match end {
            End::GivenUp => self.counts.pulse.note_given_up(*took),
            End::Failed => self.counts.add(model, names::FAILED, 1),
            End::Answered | End::Late => {
                let is_late = *end == End::Late;
                self.counts.pulse.note(*took, is_late);
                self.counts.add(model, names::LATE, is_late.into());
                self.counts.add(model, names::took(*took), 1);
            }
        }
        if *cost > 0.0 {
            self.counts.spending.spend(self.counts.today(), model, *cost);
        }
        self.write_soon();
        // The cost alone is told when it is written.
        if self.counts.told.as_ref().is_some_and(|told| told.state != self.status().state) {
            self.tell_if_changed();
        }
    }

    fn note_written(&mut self, Written { day, costs, stored }: Written) {
        self.counts.is_reading = false;
        self.counts.spending.written(costs, day, stored, Instant::now());
        self.tell_if_changed();
        if self.counts.spending.has_pending() {
            self.write_soon();
        }
        // Those who waited to hear what other windows have spent.
        let waits = self
            .documents
            .iter()
            .filter(|(_, document)| document.waiting.last().is_some_and(|waiting| !waiting.is_decided));
        let keys: Vec<_> = waits.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.consider(key));
        self.consider_edits();
    }

    fn show_counts(&mut self, params: InlineCountsParams, reply: Reply<InlineCountsResult>) {
        self.look();
        let (write, messages) = (self.written_later(), self.messages.clone());
        let store = Arc::clone(&self.shared.parts.store);
        let (is_on, now) = (self.config.inline_counts, self.counts.clock.now());
        tokio::spawn(async move {
            let written = write.await;
            if let Some(messages) = messages.upgrade() {
                let _ = messages.send(written);
            }
            let counts = blocking(move || suggestion_counts(&*store, &params, is_on, now)).await;
            let _ = reply.send(counts.map_err(Error::from));
        });
    }

    /// Looks for the accepted texts whose time has come.
    fn look(&mut self) {
        let documents = &self.documents;
        let text_of = |name: &str| {
            let document = documents.values().find(|document| document.name == name)?;
            Some(&**document.snapshot.normal())
        };
        let looked = self.counts.watches.look(self.counts.clock.now(), text_of);
        for kept::Looked { model, after, is_kept } in looked {
            let Some(after) = kept::AFTER.get(after) else { continue };
            self.counts.add(&model, names::looked(*after), 1);
            self.counts.add(&model, names::kept(*after), is_kept.into());
        }
        self.write_soon();
    }

    /// Has what is counted written in some seconds.
    fn write_soon(&mut self) {
        let is_needed = !self.counts.pending.is_empty() || self.counts.spending.has_pending();
        if is_needed && !self.counts.will_write {
            self.counts.will_write = true;
            self.beside(async move {
                tokio::time::sleep(WRITE).await;
                Message::Counts(Event::Write)
            });
        }
    }

    fn read_costs(&mut self) {
        if !self.counts.is_reading {
            self.counts.is_reading = true;
            self.write();
        }
    }

    fn write(&mut self) {
        let work = self.written_later();
        self.beside(work);
    }

    /// Takes what is to be written, and gives the work that writes it and reads today's cost.
    fn written_later(&mut self) -> impl Future<Output = Message> + Send + use<> {
        let day = self.counts.today();
        let costs = self.counts.spending.take(day);
        let pending = std::mem::take(&mut self.counts.pending).into_iter();
        let counts: Vec<_> = pending.map(|((day, model, name), number)| Count { day, model, name, number }).collect();
        let (order, may_write) = (Arc::clone(&self.counts.order), Arc::clone(&self.counts.may_write));
        let (store, written) = (Arc::clone(&self.shared.parts.store), costs.clone());
        async move {
            let _turn = order.lock().await;
            let work = move || {
                // They may have been switched off since.
                let counts = if may_write.load(Ordering::Relaxed) { counts.as_slice() } else { &[] };
                if !counts.is_empty() || !written.is_empty() {
                    store.add_counts(counts, &written, day.saturating_sub(DAYS - 1))?;
                }
                Ok(store.costs(day)?.iter().filter(|cost| cost.day == day).map(|cost| cost.dollars).sum())
            };
            let stored = blocking(work).await.inspect_err(|error| {
                tracing::warn!(%error, "the counts of suggestions could not be written");
            });
            Message::Counts(Event::Written(Written { day, costs, stored: stored.ok() }))
        }
    }

    fn tell_if_changed(&mut self) {
        let status = self.status();
        if self.counts.told.as_ref().is_some_and(|told| *told != status) {
            self.tell_status();
        }
        let is_reached = status.reason.is_some_and(|reason| reason.rule == Rule::CostLimit);
        if is_reached && !self.counts.awaits_morning {
            self.counts.awaits_morning = true;
            let left = Duration::from_millis(DAY - self.counts.clock.now() % DAY).min(MORNING);
            self.beside(async move {
                tokio::time::sleep(left).await;
                Message::Counts(Event::Morning)
            });
        }
    }
}

fn slow_reason(slow: Slow) -> Reason {
    let words = match slow {
        Slow::Median(median) => {
            format!(
                "The model is slow: half of its last ten requests took {:.1} seconds or longer.",
                median.as_secs_f64()
            )
        }
        Slow::Late(count) => format!("The model is slow: {count} of its last ten requests had no answer in time."),
    };
    Reason { rule: Rule::Late, words }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Counts {
        let mut counts = Counts::new(Clock::new(|| 3 * DAY));
        counts.is_on = Some(true);
        counts
    }

    fn told(counts: &mut Counts, id: &str, event: InlineEvent, length: Option<u32>) {
        counts.judge("m", &InlineFeedbackParams { id: id.into(), event, hunk: None, length });
    }

    fn numbers(counts: &Counts) -> Vec<(&str, u64)> {
        counts.pending.iter().map(|((_, _, name), number)| (name.as_str(), *number)).collect()
    }

    #[test]
    fn a_suggestion_has_one_fate_and_was_shown_if_it_was_decided_on() {
        let mut counts = counts();
        told(&mut counts, "a", InlineEvent::Accepted, None);
        told(&mut counts, "a", InlineEvent::Ignored, None);
        told(&mut counts, "b", InlineEvent::Shown, None);
        told(&mut counts, "b", InlineEvent::Shown, None);
        told(&mut counts, "b", InlineEvent::Replaced, None);
        told(&mut counts, "c", InlineEvent::Ignored, None);
        assert_eq!(numbers(&counts), [("accepted", 1), ("replaced", 1), ("shown", 2)]);
    }

    #[test]
    fn the_characters_of_a_suggestion_that_is_accepted_by_words_count_once() {
        let mut counts = counts();
        for length in [4, 9, 9] {
            told(&mut counts, "a", InlineEvent::Partly, Some(length));
        }
        told(&mut counts, "a", InlineEvent::Ignored, None);
        assert_eq!(numbers(&counts), [("partly", 1), ("partly_characters", 9), ("shown", 1)]);
    }

    #[test]
    fn nothing_is_counted_once_it_is_switched_off() {
        let mut counts = counts();
        told(&mut counts, "a", InlineEvent::Accepted, None);
        counts.is_on = Some(false);
        counts.forget();
        told(&mut counts, "b", InlineEvent::Accepted, None);
        assert_eq!(numbers(&counts), []);
    }
}
