//! The work that was begun for an input and comes back later, since the disk has to be asked.
//!
//! A request finds all that was said before it, so it waits for what was begun before it; but not for good,
//! since a disk on a network may never answer.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use tokio::time::Instant;

use crate::Coming;

/// Work that was begun and has not come back.
pub(super) struct Begun<T> {
    work: FuturesUnordered<BoxFuture<'static, (u64, Option<T>)>>,
    /// Until when requests wait for each.
    awaited: BTreeMap<u64, Instant>,
    last: u64,
}

impl<T> Default for Begun<T> {
    fn default() -> Self {
        Self { work: FuturesUnordered::new(), awaited: BTreeMap::new(), last: 0 }
    }
}

impl<T: Send + 'static> Begun<T> {
    /// Begins some work, for which requests wait so long.
    pub(super) fn begin(&mut self, work: Coming<T>, patience: Duration) {
        self.last += 1;
        let number = self.last;
        self.awaited.insert(number, Instant::now() + patience);
        self.work.push(work.map(move |done| (number, done)).boxed());
    }

    /// The next that comes back, with its number: they are numbered in the order in which they were begun. Waits while
    /// there is none. Loses nothing if it is dropped meanwhile.
    pub(super) async fn next(&mut self) -> (u64, T) {
        loop {
            match self.work.next().await {
                Some((number, done)) => {
                    self.awaited.remove(&number);
                    if let Some(done) = done {
                        return (number, done);
                    }
                }
                None => std::future::pending().await,
            }
        }
    }

    /// Until when a request has to wait at most; none if it need not wait.
    pub(super) fn awaited(&mut self) -> Option<Instant> {
        let now = Instant::now();
        self.awaited.retain(|_, until| *until > now);
        self.awaited.values().max().copied()
    }
}
