//! A session's log while it is being written: merged, numbered, stored, and only then shown.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ports::store::{Store, StoreError};
use protocol::{Event, SequencedEvent, SessionId};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::clock::Clock;

/// The time for which streamed pieces are gathered into one event: too short to be seen, and long enough that few
/// events are stored.
const MERGE: Duration = Duration::from_millis(33);
/// The number of events kept in memory for clients that keep up; older ones are read from the store.
const TAIL: usize = 512;
/// The number of events read from the store at once for a client that lags.
const PAGE: usize = 1000;
/// The delay before a failed write is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// Writes a session's log. Events keep their order.
#[derive(Clone)]
pub struct Log {
    entries: mpsc::UnboundedSender<Entry>,
    feed: Feed,
    clock: Clock,
}

enum Entry {
    Event(u64, Box<Event>),
    Flush(oneshot::Sender<()>),
}

impl Log {
    /// Starts the writer of a session, which must be the only one; those who read the feed go on with what it writes.
    /// The clock gives the times of events; `alert` is told when the store fails.
    pub fn start(feed: Feed, clock: Clock, alert: impl Fn(&StoreError) + Send + Sync + 'static) -> Self {
        let (entries, inbox) = mpsc::unbounded_channel();
        tokio::spawn(write(inbox, feed.clone(), alert));
        Self { entries, feed, clock }
    }

    /// Adds an event. Never waits.
    pub fn record(&self, event: Event) {
        // The writer lives as long as this sender; it can only be gone while the runtime ends.
        let _ = self.entries.send(Entry::Event(self.clock.now(), Box::new(event)));
    }

    /// Waits until all that was recorded so far is stored and shown.
    pub async fn flush(&self) {
        let (done, flushed) = oneshot::channel();
        let _ = self.entries.send(Entry::Flush(done));
        let _ = flushed.await;
    }

    /// The log for reading.
    pub fn feed(&self) -> &Feed {
        &self.feed
    }
}

/// A session's log for reading: a cursor of one's own over what is stored.
#[derive(Clone)]
pub struct Feed {
    session: SessionId,
    store: Arc<dyn Store>,
    shared: Arc<Shared>,
}

struct Shared {
    tail: Mutex<VecDeque<Arc<SequencedEvent>>>,
    last: watch::Sender<u64>,
}

impl Feed {
    /// The log of a session that another process may be writing. What it holds is shown once it is announced.
    pub fn new(store: Arc<dyn Store>, session: SessionId) -> Self {
        Self { session, store, shared: Arc::new(Shared { tail: Mutex::default(), last: watch::Sender::new(0) }) }
    }

    /// The log is known to reach to this event.
    pub fn announce(&self, last: u64) {
        self.shared.last.send_if_modified(|known| {
            let is_news = last > *known;
            *known = last.max(*known);
            is_news
        });
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        *self.shared.last.borrow()
    }

    /// Some of the events after number `since`, in order and without a gap; waits while there are none.
    ///
    /// # Errors
    /// The store failed to give older events.
    pub async fn after(&self, since: u64) -> Result<Vec<Arc<SequencedEvent>>, StoreError> {
        // The writer may end before its readers; they then wait for good, and are dropped with their client.
        let mut last = self.shared.last.subscribe();
        let _ = last.wait_for(|last| *last > since).await;
        if let Some(events) = self.recent(since) {
            return Ok(events);
        }
        let (store, session) = (Arc::clone(&self.store), self.session.clone());
        let events = blocking(move || store.events(&session, since, PAGE)).await?;
        Ok(events.into_iter().map(Arc::new).collect())
    }

    /// The events after `since`, if all of them are still in memory.
    fn recent(&self, since: u64) -> Option<Vec<Arc<SequencedEvent>>> {
        let tail = self.shared.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let first = tail.front()?.seq;
        let skip = usize::try_from((since + 1).checked_sub(first)?).ok()?;
        Some(tail.iter().skip(skip).cloned().collect())
    }

    fn publish(&self, events: Vec<SequencedEvent>) {
        let Some(last) = events.last().map(|event| event.seq) else { return };
        let mut tail = self.shared.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(events.into_iter().map(Arc::new));
        let excess = tail.len().saturating_sub(TAIL);
        tail.drain(..excess);
        drop(tail);
        self.shared.last.send_replace(last);
    }
}

/// Runs a blocking function of the store off the runtime's threads.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(StoreError::Failed(error.to_string())),
    }
}

async fn write(mut inbox: mpsc::UnboundedReceiver<Entry>, feed: Feed, alert: impl Fn(&StoreError) + Sync) {
    let mut batch = Batch::default();
    loop {
        // A delta at the batch's end waits for others of its stream; anything else goes at once.
        let entry = match batch.due {
            None => inbox.recv().await,
            Some(due) => match tokio::time::timeout_at(due, inbox.recv()).await {
                Ok(entry) => entry,
                Err(_) => {
                    batch.store(&feed, &alert).await;
                    continue;
                }
            },
        };
        match entry {
            Some(Entry::Event(at, event)) => batch.add(at, *event),
            Some(Entry::Flush(done)) => {
                batch.store(&feed, &alert).await;
                let _ = done.send(());
            }
            None => {
                batch.store(&feed, &alert).await;
                return;
            }
        }
        if batch.due.is_some_and(|due| due <= Instant::now()) && inbox.is_empty() {
            batch.store(&feed, &alert).await;
        }
    }
}

/// Events that wait to be stored, in one transaction.
#[derive(Default)]
struct Batch {
    events: Vec<(u64, Event)>,
    /// When they go at the latest; none while there are none.
    due: Option<Instant>,
}

impl Batch {
    fn add(&mut self, at: u64, event: Event) {
        let now = Instant::now();
        let due = if is_delta(&event) { now + MERGE } else { now };
        self.due = Some(self.due.map_or(due, |earlier| earlier.min(due)));
        if let Some((_, last)) = self.events.last_mut()
            && merge(last, &event)
        {
            return;
        }
        self.events.push((at, event));
    }

    /// Stores and shows them. A store that fails is tried again for good: nothing is shown that is not stored.
    async fn store(&mut self, feed: &Feed, alert: &(impl Fn(&StoreError) + Sync)) {
        self.due = None;
        if self.events.is_empty() {
            return;
        }
        let events = Arc::new(std::mem::take(&mut self.events));
        let durable = events.iter().any(|(_, event)| is_durable(event));
        let mut alerted = false;
        loop {
            let (store, session, copy) = (Arc::clone(&feed.store), feed.session.clone(), Arc::clone(&events));
            match blocking(move || store.append(&session, copy.to_vec(), durable)).await {
                Ok(stored) => return feed.publish(stored),
                // The session was deleted under us: there is nowhere to write to any more.
                Err(StoreError::NotFound { .. }) => return,
                Err(error) => {
                    tracing::error!(session = %feed.session, %error, "events could not be stored; trying again");
                    if !std::mem::replace(&mut alerted, true) {
                        alert(&error);
                    }
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }
}

fn is_delta(event: &Event) -> bool {
    matches!(event, Event::MessageDelta { .. } | Event::ThinkingDelta { .. } | Event::EditDelta { .. })
}

/// Adds a piece to the one before it, if both are of one stream.
fn merge(last: &mut Event, next: &Event) -> bool {
    match (last, next) {
        (Event::MessageDelta { message_id, text }, Event::MessageDelta { message_id: id, text: more })
        | (Event::ThinkingDelta { message_id, text }, Event::ThinkingDelta { message_id: id, text: more })
            if message_id == id =>
        {
            text.push_str(more);
            true
        }
        (
            Event::EditDelta { message_id, tool_call_id, path, text },
            Event::EditDelta { message_id: id, tool_call_id: call, path: file, text: more },
        ) if (&*message_id, &*tool_call_id, &*path) == (id, call, file) => {
            text.push_str(more);
            true
        }
        _ => false,
    }
}

/// User messages and decisions are kept even against power loss.
fn is_durable(event: &Event) -> bool {
    matches!(
        event,
        Event::TurnStarted { .. }
            | Event::Steered { .. }
            | Event::PromptQueued { .. }
            | Event::PermissionAnswered { .. }
            | Event::ReviewDecided { .. }
            | Event::EditApplied { .. }
            | Event::Formatted { .. }
            | Event::FilesChanged { .. }
            | Event::FileSeen { .. }
            | Event::CheckpointRestored { .. }
            | Event::CompactionCorrected { .. }
            | Event::CompactionTakenBack { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(call: &str, path: &str, text: &str) -> Event {
        let (path, text) = (path.to_owned(), text.to_owned());
        Event::EditDelta { message_id: "m".into(), tool_call_id: call.into(), path, text }
    }

    #[test]
    fn pieces_of_a_diff_are_one_event_as_long_as_they_are_of_one_call_and_file() {
        let mut batch = Batch::default();
        for (call, path, text) in [("c", "a", "-o"), ("c", "a", "ne\n"), ("c", "b", "+x"), ("d", "b", "+y")] {
            batch.add(1, edit(call, path, text));
        }
        let events: Vec<_> = batch.events.into_iter().map(|(_, event)| event).collect();
        assert_eq!(events, [edit("c", "a", "-one\n"), edit("c", "b", "+x"), edit("d", "b", "+y")]);
        assert!(events.iter().all(is_delta), "others of their stream are waited for");
    }
}
