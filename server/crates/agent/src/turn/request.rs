//! One request to the model, with everything that is tried before it fails.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use ports::hooks::Hooks;
use ports::model::{Message, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop, UserBlock};
use protocol::compaction::CompactionReason;
use protocol::content::{Opening, Usage};
use protocol::event::Severity;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event};

use super::live::{Doomed, LiveCalls, LiveText};
use super::pace::Pace;
use super::retry::{MOST_TOLD, Next};
use super::words::failed;
use super::{End, Turn};
use crate::file_blocks;
use crate::handover::Asked;
use crate::wait::until_cancelled;

/// How often in a row an answer is stopped before its end; the next is heard out, so that there is one.
const MOST_STOPS: usize = 2;

/// A longer wait is worth the cache that another account does not have yet.
const WORTH_A_SWITCH: Duration = Duration::from_secs(20);

/// Asks for an answer once more if it was empty. The same request would only get the same again.
const EMPTY: &str = "Your answer was empty. Answer the user, or say in a sentence that you are done.";

/// The text that stands for an image before a model without eyes.
const UNSEEN_IMAGE: &str = "[The user shows an image here, which you cannot see. Say so if it matters.]";

/// The outcome of one attempt.
enum Attempt {
    Answered(Response),
    Failed(ModelError),
    /// It broke off within a file, or behind one: what came of it is kept.
    Kept {
        /// Its text.
        content: Vec<AssistantBlock>,
        /// True if it made calls too, which are not kept.
        calls: bool,
        /// Why it broke off.
        error: ModelError,
    },
    /// It was dropped, since a call in it could not have been made.
    Stopped(Doomed),
    Cancelled,
}

/// The parts of an attempt that were shown.
#[derive(Clone, Copy, Default)]
struct Shown {
    any: bool,
    /// True if the model has begun a file in it.
    files: bool,
}

/// The action that is due after an answer broke off of which files are kept.
pub(super) enum BrokenOff {
    /// The rest is asked for, after a wait.
    GoesOn { wait: Duration, error: String },
    /// It has broken off too often.
    GivenUp(ModelError),
}

impl Turn {
    /// Asks the model until it answers or there is no point in asking again.
    pub(super) async fn request(&mut self) -> Result<Response, End> {
        let untold = self.untold.take();
        untold.into_iter().for_each(|text| self.note(text));
        let goes_on = match self.broken_off.take() {
            Some(BrokenOff::GoesOn { wait, error }) => self.wait(wait, self.retry_number(), error).await,
            Some(BrokenOff::GivenUp(error)) if !self.falls_back(&error).await => return Err(self.gave_up(error).await),
            Some(BrokenOff::GivenUp(_)) | None => true,
        };
        if !goes_on {
            return Err(StopReason::Cancelled.into());
        }
        let said = until_cancelled(&self.gate.cancel, self.gate.hooks.before_request(&self.point())).await;
        said.flatten().into_iter().for_each(|text| self.note(text));
        let (mut stops, mut has_asked) = (0, false);
        loop {
            // Each time, since another model may have a smaller context.
            self.fit().await?;
            // An attempt that came to nothing may have cost as much as an answer.
            if std::mem::replace(&mut has_asked, true) {
                self.may_spend().await?;
            }
            let (mut shown, mut used) = (Shown::default(), Usage::default());
            let looks = self.stop_early && stops < MOST_STOPS;
            let attempt = self.attempt(looks, &mut shown, &mut used).await;
            if !matches!(attempt, Attempt::Answered(_) | Attempt::Kept { .. }) {
                // An attempt that never became an answer is paid for all the same. An answer says itself what it used.
                self.pay_for_nothing(used);
            }
            let error = match attempt {
                Attempt::Answered(response) if is_empty(&response) => {
                    self.answered_nothing(&response, shown).await?;
                    continue;
                }
                Attempt::Answered(response) => {
                    self.failures = self.failures.over();
                    self.refills.answered();
                    self.tried.clear();
                    self.fallbacks.answered(self.model.info());
                    self.learn_window().await;
                    let (point, hooks) = (self.point(), &self.gate.hooks);
                    until_cancelled(&self.gate.cancel, hooks.after_request(&point, &response.usage)).await;
                    return Ok(response);
                }
                Attempt::Cancelled => {
                    self.tell_of_lost_files(shown);
                    return Err(StopReason::Cancelled.into());
                }
                Attempt::Stopped(doomed) => {
                    stops += 1;
                    self.discard(shown);
                    self.note(format!(
                        "Your answer was stopped within its call of `{}`, which could not have been made; nothing of that \
                         answer was done. {}\nAnswer anew.",
                        doomed.tool, doomed.error
                    ));
                    continue;
                }
                Attempt::Kept { content, calls, error } => return Ok(self.keep(content, calls, error, used)),
                Attempt::Failed(error) => error,
            };
            match self.failures.next(error.kind) {
                Next::Retry(wait) if wait > WORTH_A_SWITCH && self.takes_other_account(Some(&error)).await => {
                    self.discard(shown);
                }
                Next::Retry(wait) => {
                    self.tells_calls |= error.kind == ModelErrorKind::OrphanedToolCalls;
                    self.discard(shown);
                    if !self.wait(wait, self.retry_number(), error.message).await {
                        return Err(StopReason::Cancelled.into());
                    }
                }
                Next::Tell => {
                    self.discard(shown);
                    self.note(format!(
                        "Your answer could not be used, and nothing of it was done, since a tool call in it could not be read: \
                         {}\nAnswer anew, with the tool's name as it was given to you and its input as one JSON object.",
                        error.message
                    ));
                    let number = (self.failures.unreadable, MOST_TOLD);
                    if !self.wait(Duration::ZERO, number, error.message).await {
                        return Err(StopReason::Cancelled.into());
                    }
                }
                Next::Shorten => {
                    self.discard(shown);
                    if !self.promoted().await && !self.is_shortened().await? {
                        let why = "The conversation no longer fits into the model's context, and nothing is left to take \
                                   out of it. Start a new conversation with /new, or choose a model with a larger context";
                        return Err(failed(format!("{why}. ({})", error.message)));
                    }
                }
                Next::GiveUp if self.falls_back(&error).await => self.discard(shown),
                // The text shown of a last attempt stays said: it is all there is.
                Next::GiveUp => {
                    self.tell_of_lost_files(shown);
                    return Err(self.gave_up(error).await);
                }
            }
        }
    }

    /// Tells the model that its answer was empty; the second such answer in a row ends the turn.
    async fn answered_nothing(&mut self, response: &Response, shown: Shown) -> Result<(), End> {
        self.pay_for_nothing(response.usage);
        self.discard(shown);
        let text = format!("{} answered nothing", self.model.info().name);
        if !self.failures.empty() {
            return Err(failed(format!("{text}, twice. Say more, or choose another model with /model.")));
        }
        self.note(EMPTY.to_owned());
        let goes_on = self.wait(Duration::ZERO, (1, 1), text).await;
        if goes_on { Ok(()) } else { Err(StopReason::Cancelled.into()) }
    }

    /// Keeps the files of an answer that broke off; the rest is asked for with the next request.
    fn keep(&mut self, content: Vec<AssistantBlock>, calls: bool, error: ModelError, used: Usage) -> Response {
        let message = error.message.trim_end_matches('.');
        let next = self.failures.next(error.kind);
        let then = if matches!(next, Next::Retry(_)) { "; the rest is asked for" } else { "" };
        let text = format!("{message}. The files that came are kept{then}.");
        self.record(Event::Notice { severity: Severity::Info, text });
        self.untold = calls.then(|| {
            "Your answer broke off: the files in its text were taken, but none of the calls that it made beside \
             them. Make these again."
                .to_owned()
        });
        self.broken_off = Some(match next {
            Next::Retry(wait) => BrokenOff::GoesOn { wait, error: error.message },
            Next::Tell | Next::Shorten | Next::GiveUp => BrokenOff::GivenUp(error),
        });
        Response { content, stop: Stop::MaxTokens, why: None, usage: used }
    }

    /// Asks once. With `looks`, the answer is dropped as soon as a call in it is seen to fail.
    async fn attempt(&mut self, looks: bool, shown: &mut Shown, used: &mut Usage) -> Attempt {
        self.takes_other_account(None).await;
        self.timing = None;
        let request = Request {
            system: self.system.clone(),
            tools: self.tools.clone(),
            messages: self.conversation(),
            max_output_tokens: self.budget.answer,
            thinking: self.thinking,
            before: self.history.before(&self.model.info().id),
            cache_key: self.session_id.as_str().to_owned(),
            cache_hour: self.cache_hour,
        };
        self.opening = Opening::default();
        let cancel = self.gate.cancel.clone();
        let mut pace = Pace::begin();
        let mut stream = match until_cancelled(&cancel, self.model.stream(request)).await {
            None => return Attempt::Cancelled,
            Some(Err(error)) => return Attempt::Failed(error),
            Some(Ok(stream)) => stream,
        };
        let cancelled = cancel.cancelled();
        tokio::pin!(cancelled);
        let message_id = self.message_id();
        let (mut calls, mut text) = (
            LiveCalls::default(),
            LiveText::new(self.gate.file_mark.as_deref(), self.gate.changing(file_blocks::CREATE).is_some()),
        );
        let mut has_called = false;
        loop {
            // A text that an edit finds may be changed by a file that comes before it.
            if looks && !text.has_files() {
                calls.look(&self.gate);
            }
            let event = tokio::select! {
                biased;
                () = &mut cancelled => return Attempt::Cancelled,
                Some(doomed) = calls.looked() => return Attempt::Stopped(doomed),
                event = stream.next() => event,
            };
            let event = match event.unwrap_or_else(|| Err(broken_off())) {
                Ok(event) => event,
                Err(error) => {
                    return match text.kept().filter(|_| error.kind.may_pass()) {
                        Some(content) => Attempt::Kept { content, calls: has_called, error },
                        None => Attempt::Failed(error),
                    };
                }
            };
            let shows = match event {
                ModelEvent::Text(piece) if piece.is_empty() => continue,
                ModelEvent::Text(piece) => text.grow(&message_id, piece),
                ModelEvent::Thinking(piece) if piece.is_empty() => continue,
                ModelEvent::Thinking(piece) => {
                    let mut shows = text.pause(&message_id);
                    shows.push(Event::ThinkingDelta { message_id: message_id.clone(), text: piece });
                    shows
                }
                ModelEvent::ToolCallStarted { id, name } => {
                    has_called = true;
                    calls.begin(&self.gate, id, &name);
                    text.cut(&message_id)
                }
                ModelEvent::ToolCallInput { id, json } => calls.grow(&message_id, &id, &json),
                ModelEvent::Opened(opening) => {
                    self.opening = opening;
                    continue;
                }
                ModelEvent::Used(usage) => {
                    *used = usage;
                    continue;
                }
                ModelEvent::Finished(response) => {
                    self.timing = Some(pace.ended());
                    text.pause(&message_id).into_iter().for_each(|shows| self.record(shows));
                    return Attempt::Answered(response);
                }
            };
            pace.came();
            shown.any |= !shows.is_empty();
            shown.files = text.has_files();
            shows.into_iter().for_each(|shows| self.record(shows));
        }
    }

    /// The conversation as the model can take it.
    pub(super) fn conversation(&self) -> Vec<Arc<Message>> {
        let messages = self.history.messages();
        let messages = if self.tells_calls { in_words(&messages) } else { messages };
        if self.model.info().images { messages } else { messages.into_iter().map(without_images).collect() }
    }

    /// Takes back what was shown of an attempt.
    fn discard(&mut self, shown: Shown) {
        if shown.any {
            self.record(Event::MessageDiscarded { message_id: self.message_id() });
            self.messages += 1;
        }
    }

    /// Tells the model that nothing came of the files of an answer that stays said as far as it came.
    fn tell_of_lost_files(&mut self, shown: Shown) {
        if shown.files {
            self.note(
                "Your answer broke off: the files in its text were not taken, so nothing was written by them."
                    .to_owned(),
            );
        }
    }

    /// Tells the model something.
    pub(super) fn note(&mut self, text: String) {
        self.record(Event::Noted { turn_id: self.gate.turn_id.clone(), text });
    }

    /// The number of the retry that is due, and of those that there may be. One with the calls told in words is not
    /// counted among the others.
    pub(super) fn retry_number(&self) -> (u32, u32) {
        let attempt = self.failures.retries().max(1);
        (attempt, self.failures.most().max(attempt))
    }

    /// Waits before a retry, unless somebody ends the wait. False if the turn was cancelled.
    pub(super) async fn wait(&mut self, delay: Duration, (attempt, of): (u32, u32), reason: String) -> bool {
        let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
        let (turn_id, of) = (self.gate.turn_id.clone(), Some(of));
        let now = Event::Retrying { turn_id: turn_id.clone(), attempt, of, delay_ms: 0, reason: reason.clone() };
        self.record(Event::Retrying { turn_id, attempt, of, delay_ms, reason });
        let wait = self.retry_wait.clone();
        let is_ended = until_cancelled(&self.gate.cancel, wait.wait(delay)).await;
        if is_ended == Some(true) {
            self.record(now);
        }
        is_ended.is_some()
    }

    /// Sees that the conversation fits into the context, by our count: another model goes on, old results are taken out
    /// if that pays, or a handover takes the place of the beginning.
    ///
    /// # Errors
    /// The end of the turn: it was cancelled, or the user is asked what to do.
    async fn fit(&mut self) -> Result<(), End> {
        while self.is_full() && self.promoted().await {}
        if !self.is_full() && !self.budget.is_heavy(&self.history.messages()) {
            return Ok(());
        }
        let keep = self.gate.limits.keep_rounds.max(1);
        if self.is_full() && (!self.compacts || self.budget.trimming_pays(&self.history, keep)) {
            self.trim(keep, false).await;
        }
        if self.compacts && (self.is_full() || self.budget.is_heavy(&self.history.messages())) {
            self.compact(CompactionReason::Full, Asked::default()).await?;
        }
        // The last round's results stay, since the model has not seen them yet.
        if self.is_full() {
            self.trim(1, false).await;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.budget.is_full(&self.history.messages())
    }

    /// Makes the conversation shorter although our count says that it is not full: the vendor knows better. Results
    /// that the model has not seen yet go last. Whether there was anything to take.
    ///
    /// # Errors
    /// The end of the turn, as of [`fit`](Self::fit).
    async fn is_shortened(&mut self) -> Result<bool, End> {
        for keep in [self.gate.limits.keep_rounds.max(1), 1] {
            if self.trim(keep, true).await {
                return Ok(true);
            }
        }
        let compacted = self.compacts && self.compact(CompactionReason::Refused, Asked::default()).await?;
        Ok(compacted || self.trim(0, true).await)
    }

    async fn trim(&mut self, keep: usize, all: bool) -> bool {
        let tool_call_ids = self.budget.choose_trimmed(&self.history, keep, all);
        if tool_call_ids.is_empty() {
            return false;
        }
        let texts: Vec<_> = self
            .history
            .trimmable(keep)
            .into_iter()
            .take(tool_call_ids.len())
            .map(|result| result.text.clone())
            .collect();
        let session = Arc::clone(&self.gate.session);
        let mut kept = Vec::new();
        for text in texts {
            // A result that is not kept is not taken out.
            let Some(words) = until_cancelled(&self.gate.cancel, session.keep(text)).await else { return false };
            kept.push(words.unwrap_or_default());
        }
        let count = tool_call_ids.len();
        self.circles.forget();
        self.record(Event::ContextTrimmed { turn_id: self.gate.turn_id.clone(), tool_call_ids, kept });
        let results = if count == 1 { "1 older tool result was" } else { &format!("{count} older tool results were") };
        let text = format!("The context filled up: {results} taken out of it. The model can look again where it must.");
        self.record(Event::Notice { severity: Severity::Info, text });
        true
    }
}

/// The conversation with its tool calls and their results as text, for a vendor that finds fault with them although
/// each call has its result.
fn in_words(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let told = |block: &AssistantBlock| match block {
        AssistantBlock::Text { text, .. } => Some(text.clone()),
        AssistantBlock::ToolCall { id, name, input, .. } => Some(format!("[I called `{name}` ({id}) with {input}]")),
        AssistantBlock::Thinking { .. } => None,
    };
    let message = |message: &Arc<Message>| match &**message {
        Message::User(_) => Arc::clone(message),
        Message::Assistant(blocks) => {
            let texts = blocks.iter().filter_map(told);
            Arc::new(Message::Assistant(texts.map(AssistantBlock::text).collect()))
        }
        Message::ToolResults(results) => {
            let texts = results.iter().map(|result| format!("[Result of {}:]\n{}", result.tool_call_id, result.text));
            Arc::new(Message::User(texts.map(UserBlock::Text).collect()))
        }
    };
    messages.iter().map(message).collect()
}

/// A message for a model without eyes.
fn without_images(message: Arc<Message>) -> Arc<Message> {
    let Message::User(blocks) = &*message else { return message };
    if !message.has_images() {
        return message;
    }
    let block = |block: &UserBlock| match block {
        UserBlock::Text(_) => block.clone(),
        UserBlock::Image { .. } => UserBlock::Text(UNSEEN_IMAGE.to_owned()),
    };
    Arc::new(Message::User(blocks.iter().map(block).collect()))
}

/// True if an answer that is said to be whole says nothing and calls nothing. One that its server paused goes on.
fn is_empty(response: &Response) -> bool {
    let is_blank = |block: &AssistantBlock| match block {
        AssistantBlock::Text { text, .. } => text.trim().is_empty(),
        AssistantBlock::Thinking { .. } => true,
        AssistantBlock::ToolCall { .. } => false,
    };
    !matches!(response.stop, Stop::MaxTokens | Stop::Refusal | Stop::Pause) && response.content.iter().all(is_blank)
}

fn broken_off() -> ModelError {
    ModelError {
        kind: ModelErrorKind::Incomplete,
        message: "the model's answer broke off; check the network and try again".to_owned(),
    }
}
