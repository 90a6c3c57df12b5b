//! Cursors over what a client follows: sessions' logs and terminals' output. Nothing is queued for a client; a cursor
//! holds one page at most and reads the next when that is sent (design D1).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use agent::store::StoreError;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use protocol::{SequencedEvent, SessionId, TerminalId};
use workspace::shell::Spool;

use crate::hub::Feed;

/// The most bytes of a terminal's output in one message.
const CHUNK: usize = 32 * 1024;
/// How long to wait before a log that could not be read is read again.
const RETRY: Duration = Duration::from_secs(1);

/// What a client follows, and how far it is.
#[derive(Default)]
pub(super) struct Cursors {
    /// What is followed, each with a number: a page that was read for an earlier one of the same name is dropped.
    followed: HashMap<Source, u64>,
    last: u64,
    reading: FuturesUnordered<BoxFuture<'static, Page>>,
    /// What was read and not yet given out, in turns.
    pages: VecDeque<Page>,
}

/// What can be followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    Session(SessionId),
    Terminal(SessionId, TerminalId),
}

/// Something to send.
pub(super) enum Item {
    /// An event of a session.
    Event(SessionId, Arc<SequencedEvent>),
    /// Output of a terminal, from an offset on.
    Output(SessionId, TerminalId, u64, Vec<u8>),
}

struct Page {
    number: u64,
    source: Source,
    content: Content,
}

enum Content {
    Events { feed: Feed, since: u64, events: VecDeque<Arc<SequencedEvent>> },
    Output { spool: Arc<Spool>, offset: u64, bytes: Vec<u8> },
}

impl Cursors {
    /// Begins to follow a session from after event `since` on.
    pub(super) fn follow(&mut self, feed: Feed, since: u64) {
        let source = Source::Session(feed.session().clone());
        let number = self.number(&source);
        self.reading.push(events(number, source, feed, since));
    }

    /// Ends following a session and its terminals.
    pub(super) fn unfollow(&mut self, session: &SessionId) {
        self.followed.retain(|source, _| match source {
            Source::Session(of) | Source::Terminal(of, _) => of != session,
        });
    }

    /// Begins to follow a terminal from offset `since` on.
    pub(super) fn follow_terminal(&mut self, session: SessionId, terminal: TerminalId, spool: Arc<Spool>, since: u64) {
        let source = Source::Terminal(session, terminal);
        let number = self.number(&source);
        self.reading.push(output(number, source, spool, since));
    }

    /// Ends following a terminal.
    pub(super) fn unfollow_terminal(&mut self, session: SessionId, terminal: TerminalId) {
        self.followed.remove(&Source::Terminal(session, terminal));
    }

    /// The next thing to send; waits while there is none. What it has read stays if it is dropped meanwhile.
    pub(super) async fn next(&mut self) -> Item {
        loop {
            while let Some(page) = self.pages.pop_front() {
                if self.followed.get(&page.source) == Some(&page.number)
                    && let Some(item) = self.take(page)
                {
                    return item;
                }
            }
            match self.reading.next().await {
                Some(page) => self.pages.push_back(page),
                None => std::future::pending().await,
            }
        }
    }

    fn number(&mut self, source: &Source) -> u64 {
        self.last += 1;
        self.followed.insert(source.clone(), self.last);
        self.last
    }

    /// The first item of a page. The rest of it goes behind the other pages; the next page is read after its last item.
    fn take(&mut self, page: Page) -> Option<Item> {
        let Page { number, source, content } = page;
        match (content, &source) {
            (Content::Events { feed, since, mut events }, Source::Session(session)) => {
                let item = events.pop_front().map(|event| (event.seq, Item::Event(session.clone(), event)));
                let since = item.as_ref().map_or(since, |(seq, _)| *seq);
                if events.is_empty() {
                    self.reading.push(self::events(number, source, feed, since));
                } else {
                    let content = Content::Events { feed, since, events };
                    self.pages.push_back(Page { number, source, content });
                }
                item.map(|(_, item)| item)
            }
            (Content::Output { spool, offset, bytes }, Source::Terminal(session, terminal)) => {
                let end = offset + u64::try_from(bytes.len()).unwrap_or_default();
                let item = Item::Output(session.clone(), terminal.clone(), offset, bytes);
                self.reading.push(output(number, source, spool, end));
                Some(item)
            }
            _ => None,
        }
    }
}

fn events(number: u64, source: Source, feed: Feed, since: u64) -> BoxFuture<'static, Page> {
    async move {
        let events = loop {
            match feed.after(since).await {
                Ok(events) => break events.into(),
                // It was deleted: nothing more will come.
                Err(StoreError::NotFound { .. }) => std::future::pending().await,
                Err(error) => {
                    tracing::error!(session = %feed.session(), %error, "events could not be read; trying again");
                    tokio::time::sleep(RETRY).await;
                }
            }
        };
        Page { number, source, content: Content::Events { feed, since, events } }
    }
    .boxed()
}

fn output(number: u64, source: Source, spool: Arc<Spool>, since: u64) -> BoxFuture<'static, Page> {
    async move {
        let mut end = spool.watch();
        // The sender lives in the spool, so this ends only when there is something to read.
        let _ = end.wait_for(|end| *end > since).await;
        // It may lie in a file by now.
        let kept = Arc::clone(&spool);
        let read = tokio::task::spawn_blocking(move || kept.read_from(since, CHUNK));
        let (offset, bytes) = read.await.unwrap_or((since, Vec::new()));
        Page { number, source, content: Content::Output { spool, offset, bytes } }
    }
    .boxed()
}
