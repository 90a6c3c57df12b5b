//! The questions to a server, each about the texts that its session sees: these are sent first, and kept until the
//! server has answered, as far as that can be. Where it was sent other texts meanwhile it is asked again.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::super::client::{Hold, RequestError, Sent, View, Waiting, Waits};
use super::ask::{Asker, Failure};
use super::{blocking, view};

/// How long it takes until a question that a server took back is asked again.
const AGAIN: Duration = Duration::from_millis(100);
/// How long a question waits for another that is about other texts.
const GIVE_WAY: Duration = Duration::from_secs(2);
/// Twice as long each time that it is asked again, since the server was sent other texts before it answered; the last
/// time as long as this.
const MOST_GIVE_WAY: Duration = Duration::from_secs(16);

impl Asker<'_> {
    /// Sends the texts of the session and a question, and waits for the answer; again where the server took it back, or
    /// was sent other texts before it answered: pyright, for one, looks only then.
    pub(super) async fn send(
        &self,
        method: &'static str,
        params: impl Fn(&str) -> Value,
    ) -> Result<Box<RawValue>, Failure> {
        let (mut give_way, mut doubtful) = (GIVE_WAY, None);
        loop {
            let (waiting, hold) = match self.queue(method, &params, give_way).await {
                Err(Failure::TimedOut) => break,
                queued => queued?,
            };
            let asked = tokio::time::timeout_at(self.until, waiting.answer()).await;
            let is_last = give_way >= MOST_GIVE_WAY || self.until <= Instant::now();
            match asked {
                Err(_) => break,
                Ok(Ok(answer)) if hold.stands() => {
                    self.sent().clone_from(&hold.sent);
                    return Ok(answer);
                }
                Ok(Ok(answer)) => {
                    doubtful = Some((answer, hold.sent.clone()));
                    if is_last {
                        break;
                    }
                    give_way *= 2;
                }
                Ok(Err(RequestError::Rpc(error))) if !error.is_unknown_method() && !hold.stands() && !is_last => {
                    give_way *= 2;
                }
                Ok(Err(RequestError::Rpc(error))) if error.is_passing() && Instant::now() + AGAIN < self.until => {
                    drop(hold);
                    tokio::time::sleep(AGAIN).await;
                }
                Ok(Err(error)) => return Err(error.into()),
            }
        }
        // It is better than none.
        let (answer, sent) = doubtful.ok_or(Failure::TimedOut)?;
        self.is_disturbed.store(true, Ordering::Relaxed);
        *self.sent() = sent;
        Ok(answer)
    }

    /// Sends the texts of the session and a question, which is not asked again.
    pub(super) async fn ask_once(
        &self,
        method: &'static str,
        params: impl Fn(&str) -> Value,
    ) -> Result<(Waiting, Hold<'_>), Failure> {
        self.queue(method, params, GIVE_WAY).await
    }

    /// Sends the texts of the session and a question. Waits for others so long.
    async fn queue(
        &self,
        method: &'static str,
        params: impl Fn(&str) -> Value,
        give_way: Duration,
    ) -> Result<(Waiting, Hold<'_>), Failure> {
        let ask = |view: &View, text: &Arc<str>| {
            self.client.ask_of(view, self.path.map(|path| (path, text)), method, &params(text))
        };
        self.with_view(Some(give_way), ask).await
    }

    /// Sends the texts of the session.
    pub(super) async fn sync(&self) -> Result<(), Failure> {
        let sync = |view: &View, text: &_| self.client.sync(view, self.path.map(|path| (path, text)));
        self.with_view(Some(GIVE_WAY), sync).await
    }

    /// Sends the texts of the session, and keeps them, as long as what is given is there. Waits until this time for
    /// others to let go of theirs.
    pub(super) async fn hold(&self, until: Instant) -> Result<Hold<'_>, Failure> {
        let hold = |view: &View, text: &_| self.client.hold(view, self.path.map(|path| (path, text)));
        let hold = tokio::time::timeout_at(until, self.with_view(None, hold)).await;
        let hold = hold.map_err(|_| Failure::TimedOut)??;
        self.sent().clone_from(&hold.sent);
        Ok(hold)
    }

    /// Returns the texts that the server was sent with the last question.
    pub(super) fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with what the session sees, and the text that is asked about. It is looked up anew where another
    /// session came between. One that waits for what the server says of other texts is waited for, so long; then it has
    /// to begin anew. Where no time is given, it is waited for until it has what it waits for by itself, but not longer
    /// than usual for an answer.
    async fn with_view<T>(
        &self,
        give_way: Option<Duration>,
        what: impl Fn(&View, &Arc<str>) -> Result<Option<T>, RequestError>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        let until = |give_way| self.until.min(began + give_way);
        let mut news = self.client.news();
        loop {
            let (view, text) = self.view().await?;
            let held_until = self.client.is_held_from(&view).map(|waits| match (waits, give_way) {
                (Waits::ForWord, None) => self.until,
                (_, give_way) => until(give_way.unwrap_or(GIVE_WAY)),
            });
            if let Some(held_until) = held_until.filter(|until| Instant::now() < *until) {
                news.next(held_until).await;
            } else if let Some(done) = what(&view, &text)? {
                return Ok(done);
            }
            if self.until <= Instant::now() {
                return Err(Failure::TimedOut);
            }
        }
    }

    /// Returns what the session sees, and the text that is asked about.
    async fn view(&self) -> Result<(View, Arc<str>), Failure> {
        let (reader, table, server) = (self.reader.clone(), self.table.clone(), self.server.clone());
        let (asked, mirrored) = (self.path.map(Path::to_owned), self.client.mirrored());
        let seen = blocking(move || view::view(&reader, &table, &server, asked.as_deref(), &mirrored)).await;
        let view = seen.ok_or_else(|| Failure::Failed("the files could not be read".to_owned()))??;
        let shown = view.texts.iter().find(|text| Some(&*text.path) == self.path).map(|text| text.text.clone());
        let known = || self.path.and_then(|path| self.client.synced(path)).map(|synced| synced.text);
        let text = shown.or_else(known).unwrap_or_default();
        Ok((view, text))
    }
}
