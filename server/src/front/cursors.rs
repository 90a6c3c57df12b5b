//! Cursors over what a client follows: sessions' logs and terminals' output. Nothing is queued for a client; a cursor
//! holds one page at most and reads the next when that is sent.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use hub::Feed;
use ports::store::StoreError;
use protocol::{SequencedEvent, SessionId, TerminalId};
use shell::Spool;
use tokio::sync::watch;
use tokio::time::Instant;

/// The most bytes of a terminal's output in one message.
const CHUNK: usize = 32 * 1024;
/// So far ahead of what it has acknowledged a client that acknowledges is sent a terminal's output, in bytes.
const WINDOW: u64 = 256 * 1024;
/// Output that comes so soon after the last is gathered for so long, up to [`CHUNK`]: a terminal gives it in pieces of
/// some 4 KiB, and a message for each would cost more than what is in it. Nobody sees the difference (a frame is twice
/// as long), and what comes after a silence goes out at once.
const GATHER: Duration = Duration::from_millis(8);
/// The delay before a log that could not be read is read again.
const RETRY: Duration = Duration::from_secs(1);

/// A client's position in what it follows.
#[derive(Default)]
pub(crate) struct Cursors {
    followed: HashMap<Source, Followed>,
    last: u64,
    reading: FuturesUnordered<BoxFuture<'static, Page>>,
    /// The events that were read and not yet given out, in turns.
    pages: VecDeque<Page>,
}

/// Something that can be followed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    Session(SessionId),
    Terminal(SessionId, TerminalId),
}

struct Followed {
    /// A page that was read for an earlier one of the same name has another number, and is dropped.
    number: u64,
    /// For a terminal, how far the client says that it has come; none as long as it says nothing.
    pace: watch::Sender<Option<u64>>,
}

/// Something to send.
pub(crate) enum Item {
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
    Output { reader: Reader, offset: u64, bytes: Vec<u8> },
}

/// The position up to which a terminal's output was read for a client.
struct Reader {
    spool: Arc<Spool>,
    /// The offset that comes next.
    next: u64,
    /// Where bytes were passed over that were no longer kept, and the client may not know yet: from where to where. The
    /// bytes are not on their way, and do not count as such.
    gap: Option<(u64, u64)>,
    pace: watch::Receiver<Option<u64>>,
    /// When something was read last.
    read: Option<Instant>,
}

impl Cursors {
    /// Begins to follow a session from after event `since` on.
    pub(crate) fn follow(&mut self, feed: Feed, since: u64) {
        let source = Source::Session(feed.session().clone());
        let (number, _) = self.number(&source);
        self.reading.push(events(number, source, feed, since));
    }

    /// Ends following a session and its terminals.
    pub(crate) fn unfollow(&mut self, session: &SessionId) {
        self.followed.retain(|source, _| match source {
            Source::Session(of) | Source::Terminal(of, _) => of != session,
        });
    }

    /// Begins to follow a terminal from offset `since` on.
    pub(crate) fn follow_terminal(&mut self, session: SessionId, terminal: TerminalId, spool: Arc<Spool>, since: u64) {
        let source = Source::Terminal(session, terminal);
        let (number, pace) = self.number(&source);
        self.reading.push(output(number, source, Reader { spool, next: since, gap: None, pace, read: None }));
    }

    /// A client has come so far with a terminal that it follows. From the first time on it is sent no more than
    /// [`WINDOW`] ahead of that.
    pub(crate) fn acknowledge(&mut self, session: SessionId, terminal: TerminalId, offset: u64) {
        if let Some(followed) = self.followed.get(&Source::Terminal(session, terminal)) {
            followed.pace.send_modify(|pace| *pace = (*pace).max(Some(offset)));
        }
    }

    /// Ends following a terminal.
    pub(crate) fn unfollow_terminal(&mut self, session: SessionId, terminal: TerminalId) {
        self.followed.remove(&Source::Terminal(session, terminal));
    }

    /// The next thing to send; waits while there is none. What it has read stays if it is dropped meanwhile.
    pub(crate) async fn next(&mut self) -> Item {
        loop {
            while let Some(page) = self.pages.pop_front() {
                if self.followed.get(&page.source).is_some_and(|followed| followed.number == page.number)
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

    fn number(&mut self, source: &Source) -> (u64, watch::Receiver<Option<u64>>) {
        self.last += 1;
        let (pace, paced) = watch::channel(None);
        self.followed.insert(source.clone(), Followed { number: self.last, pace });
        (self.last, paced)
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
            (Content::Output { reader, offset, bytes }, Source::Terminal(session, terminal)) => {
                let item = Item::Output(session.clone(), terminal.clone(), offset, bytes);
                self.reading.push(output(number, source, reader));
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

fn output(number: u64, source: Source, mut reader: Reader) -> BoxFuture<'static, Page> {
    async move {
        let (offset, bytes) = reader.read().await;
        Page { number, source, content: Content::Output { reader, offset, bytes } }
    }
    .boxed()
}

impl Reader {
    /// The next bytes, with their offset; waits until there are some, and the client wants them.
    async fn read(&mut self) -> (u64, Vec<u8>) {
        // The sender lives in the spool, so this ends only when there is something to read.
        let mut end = self.spool.watch();
        let _ = end.wait_for(|end| *end > self.next).await;
        if let Some(read) = self.read {
            let is_much = end.wait_for(|end| end.saturating_sub(self.next) >= CHUNK as u64);
            let _ = tokio::time::timeout_at(read + GATHER, is_much).await;
        }
        let room = self.room().await;
        let most = CHUNK.min(usize::try_from(room).unwrap_or(CHUNK));
        let (offset, bytes) = match self.spool.read_recent(self.next, most) {
            Some(bytes) => (self.next, bytes),
            None => {
                let (spool, next) = (Arc::clone(&self.spool), self.next);
                let read = tokio::task::spawn_blocking(move || spool.read_from(next, most));
                read.await.unwrap_or((next, Vec::new()))
            }
        };
        if offset > self.next {
            let from = self.gap.map_or(self.next, |(from, to)| from + self.next.saturating_sub(to));
            self.gap = Some((from, offset));
        }
        self.next = offset + u64::try_from(bytes.len()).unwrap_or_default();
        self.read = Some(Instant::now());
        (offset, bytes)
    }

    /// The number of bytes that may be sent now; waits until there are some.
    async fn room(&mut self) -> u64 {
        let Self { next, gap, pace, .. } = self;
        let under_way = |acknowledged: u64| match *gap {
            Some((from, to)) if acknowledged < to => next.saturating_sub(to) + from.saturating_sub(acknowledged),
            _ => next.saturating_sub(acknowledged),
        };
        let room = |pace: &Option<u64>| pace.map_or(WINDOW, |offset| WINDOW.saturating_sub(under_way(offset)));
        match pace.wait_for(|pace| room(pace) > 0).await.map(|pace| room(&pace)) {
            Ok(room) => room,
            // It is followed no more, so nobody waits for this.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct World {
        _folder: tempfile::TempDir,
        spool: Arc<Spool>,
        cursors: Cursors,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let spool = Arc::new(Spool::open(folder.path()).unwrap());
            let mut cursors = Cursors::default();
            cursors.follow_terminal("s".into(), "t".into(), Arc::clone(&spool), 0);
            Self { _folder: folder, spool, cursors }
        }

        fn print(&self, bytes: u64) {
            for _ in 0..bytes / 65_536 {
                self.spool.push(&[b'x'; 65_536]);
            }
        }

        fn acknowledge(&mut self, offset: u64) {
            self.cursors.acknowledge("s".into(), "t".into(), offset);
        }

        /// So many bytes come, and no more: the first offset and the one after the last of them.
        async fn sent(&mut self, bytes: u64) -> (u64, u64) {
            let (mut first, mut got, mut end) = (None, 0, 0);
            while got < bytes {
                let item = tokio::time::timeout(Duration::from_secs(30), self.cursors.next()).await;
                let Item::Output(_, _, offset, more) = item.expect("more output") else { panic!("an event") };
                assert!(first.is_none() || offset >= end, "{offset} comes after {end}");
                first.get_or_insert(offset);
                got += more.len() as u64;
                end = offset + more.len() as u64;
            }
            assert_eq!(got, bytes);
            self.nothing_comes().await;
            (first.unwrap_or_default(), end)
        }

        async fn nothing_comes(&mut self) {
            let item = tokio::time::timeout(Duration::from_millis(100), self.cursors.next()).await;
            assert!(item.is_err(), "more came");
        }
    }

    #[tokio::test]
    async fn a_client_that_acknowledges_is_sent_so_far_ahead_and_no_further() {
        let mut world = World::new();
        world.acknowledge(0);
        world.print(1 << 20);
        assert_eq!(world.sent(WINDOW).await, (0, WINDOW));
        world.acknowledge(100_000);
        assert_eq!(world.sent(100_000).await, (WINDOW, WINDOW + 100_000));
        // Output that was acknowledged stays so.
        world.acknowledge(5);
        world.nothing_comes().await;
        world.acknowledge(WINDOW + 100_000);
        assert_eq!(world.sent(WINDOW).await, (WINDOW + 100_000, 2 * WINDOW + 100_000));
    }

    #[tokio::test]
    async fn a_client_that_acknowledges_nothing_is_sent_all_that_is_kept() {
        let mut world = World::new();
        world.print(1 << 20);
        assert_eq!(world.sent(1 << 20).await, (0, 1 << 20));
    }

    #[tokio::test]
    async fn bytes_that_are_passed_over_do_not_count_as_under_way() {
        let mut world = World::new();
        world.acknowledge(0);
        world.print(1 << 20);
        world.sent(WINDOW).await;
        // The files have gone on meanwhile: what comes next is no longer kept.
        world.print(20 << 20);
        let acknowledged = 150_000;
        world.acknowledge(acknowledged);
        let (first, end) = world.sent(acknowledged).await;
        assert!(first > 10 << 20, "it goes on at {first}");
        assert_eq!(end, first + acknowledged);
        // A client that tells of every second piece only is not stuck.
        world.acknowledge(WINDOW);
        assert_eq!(world.sent(WINDOW - acknowledged).await, (end, first + WINDOW));
        world.acknowledge(first + WINDOW);
        world.sent(WINDOW).await;
    }
}
