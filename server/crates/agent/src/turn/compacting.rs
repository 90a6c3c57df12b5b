//! Compaction: a hand-over takes the place of the conversation's beginning.
//!
//! The model that works is asked for its part with the conversation as it is, so that the vendor's cache has nearly all
//! of the request; if that fails, with a transcript that is short enough. Its answer is looked at a second time. If
//! there is none, the user is asked, and after a word of theirs the facts of the log have to do.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use permission::SourcedRule;
use ports::model::{Message, Model, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop, UserBlock};
use protocol::compaction::{Compaction, CompactionReason};
use protocol::content::Usage;
use protocol::event::Severity;
use protocol::permission::RuleOrigin;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, CompactionId, Event};

use super::budget::images;
use super::request::failed;
use super::retry::Next;
use super::{End, Turn};
use crate::context::{Contents, Filling, chars, estimate};
use crate::handover::{self, Known};
use crate::wait::until_cancelled;

/// The tokens of the newest messages that stay as they are, and their largest share of the room.
const KEPT: u64 = 20_000;
/// The characters of the user's words that a hand-over says in full: about 20,000 tokens.
const SAID: usize = 70_000;
/// The share of the room for each of these two, in a small context.
const SHARE: f64 = 0.25;
/// The bytes of images that may stay.
const KEPT_IMAGES: usize = 8 << 20;
/// So many hand-overs in a row, each of which was full again after so few answers, end the turn.
const MOST_REFILLS: u32 = 3;
const FEW_ANSWERS: u32 = 3;
/// The longest that a model may take for its part.
const DEADLINE: Duration = Duration::from_secs(300);
/// The share of the context that a transcript may fill.
const OF_WINDOW: f64 = 0.5;
/// What the user is asked if there is no hand-over.
const ASKED: &str = "Say \"go on\" to go on with the facts of the session's log in its place, /compact to try again, or /new \
                     to start a new conversation.";

/// A compaction that the user asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The subject to pay attention to.
    pub focus: Option<String>,
    /// The number of the last messages that stay as they are; none for as many as usual.
    pub keep_last: Option<usize>,
}

/// How often the context was full again soon.
#[derive(Debug, Default)]
pub(super) struct Refills {
    /// The hand-overs in a row of which each was full soon after the one before.
    in_a_row: u32,
    /// The answers since the last one; none before the first.
    answers: Option<u32>,
}

impl Refills {
    /// A request was answered.
    pub(super) fn answered(&mut self) {
        self.answers = self.answers.map(|answers| answers.saturating_add(1));
    }

    fn compacted(&mut self) {
        self.in_a_row = if self.is_soon() { self.in_a_row + 1 } else { 1 };
        self.answers = Some(0);
    }

    fn is_soon(&self) -> bool {
        self.answers.is_some_and(|answers| answers < FEW_ANSWERS)
    }

    /// True if another hand-over would only be full again.
    fn are_too_many(&self) -> bool {
        self.is_soon() && self.in_a_row >= MOST_REFILLS
    }
}

impl Turn {
    /// Compacts as the user asked.
    ///
    /// # Errors
    /// The end of the turn: it was cancelled, or no hand-over could be written.
    pub(super) async fn compact_as_asked(&mut self, asked: Asked) -> Result<(), End> {
        if !self.compact(CompactionReason::Asked, asked).await? {
            let text = "There is nothing to compact: a hand-over would not be shorter than the conversation.";
            self.record(Event::Notice { severity: Severity::Info, text: text.to_owned() });
        }
        Ok(())
    }

    /// Has a hand-over take the place of the conversation's beginning. False if that would make nothing shorter.
    ///
    /// # Errors
    /// The end of the turn: it was cancelled, or the user is asked what to do.
    pub(super) async fn compact(&mut self, reason: CompactionReason, asked: Asked) -> Result<bool, End> {
        let messages = self.history.messages();
        let place = self.place(&messages, reason, asked.keep_last);
        let least = usize::from(self.history.handover().is_some());
        let Some((replaced, kept)) = messages.split_at_checked(place).filter(|_| place > least) else {
            return Ok(false);
        };
        if self.refills.are_too_many() && reason != CompactionReason::Asked {
            return Err(
                self.ask_what_to_do("The context is full again right after it was compacted, three times in a row")
            );
        }
        let turn_id = self.gate.turn_id.clone();
        let facts = self.facts(replaced).await?;
        let is_shorter = |written: Option<&str>| {
            let handover = Message::User(vec![UserBlock::Text(handover::for_model(&facts, written))]);
            // Images are few tokens and many bytes.
            estimate(&handover) < length(replaced) || replaced.iter().any(|message| message.has_images())
        };
        if !is_shorter(None) {
            return Ok(false);
        }
        self.record(Event::Compacting { turn_id: turn_id.clone(), reason });
        let written = self.written(reason, &messages, replaced, asked.focus.as_deref()).await?;
        let before = self.budget.used(&messages);
        if !is_shorter(written.as_deref()) {
            return Ok(false);
        }
        let handover = Message::User(vec![UserBlock::Text(handover::for_model(&facts, written.as_deref()))]);
        let shortened: Vec<_> = std::iter::once(Arc::new(handover)).chain(kept.iter().cloned()).collect();
        let after = self.budget.after(&messages, &shortened);
        self.budget.forget_count();
        let compaction = Compaction {
            compaction_id: CompactionId::new(format!("{turn_id}-c{}", self.compactions + 1)),
            reason,
            messages: u32::try_from(place).unwrap_or(u32::MAX),
            facts,
            written,
            focus: asked.focus,
            before,
            after,
        };
        self.compactions += 1;
        self.refills.compacted();
        self.circles.forget();
        self.record(Event::Compacted { turn_id: Some(turn_id), compaction: Box::new(compaction) });
        let (limit, full) = (self.budget.limit(), Some(self.budget.full()));
        self.record(Event::ContextUsed { used: after, limit, full });
        Ok(true)
    }

    /// The number of messages that a hand-over takes the place of. What the model has not answered yet stays.
    fn place(&self, messages: &[Arc<Message>], reason: CompactionReason, keep_last: Option<usize>) -> usize {
        let answered = messages.iter().rposition(|message| matches!(&**message, Message::Assistant(_)));
        let unanswered = answered.map_or(0, |at| self.history.cut_before(at + 1));
        let place = match keep_last {
            Some(0) => messages.len(),
            Some(count) => {
                let is_said = |(_, message): &(usize, &Arc<Message>)| !matches!(&***message, Message::ToolResults(_));
                let mut said = messages.iter().enumerate().filter(is_said).map(|(at, _)| at);
                said.nth_back(count - 1).unwrap_or_default()
            }
            None => {
                let share = match reason {
                    CompactionReason::Full => self.budget.share(SHARE),
                    // Asked for early, it still is to make the conversation shorter; and where a request was refused,
                    // the room is not known.
                    CompactionReason::Asked | CompactionReason::Refused => length(messages) / 4,
                };
                place_of_last(messages, KEPT.min(share))
            }
        };
        self.history.cut_before(place.min(unanswered))
    }

    /// The facts for a hand-over that takes the place of these messages.
    async fn facts(&self, replaced: &[Arc<Message>]) -> Result<String, End> {
        let session = Arc::clone(&self.gate.session);
        let gathered = async {
            let (facts, errors) = tokio::join!(session.facts(), session.new_errors(false));
            (facts, errors, session.keep(handover::transcript(replaced)).await)
        };
        let gathered = until_cancelled(&self.gate.cancel, gathered).await;
        let (facts, errors, transcript) = gathered.ok_or(StopReason::Cancelled)?;
        let rules = self.gate.session.rules();
        let is_granted = |rule: &&SourcedRule| matches!(rule.origin, RuleOrigin::Granted | RuleOrigin::Session);
        let grants: Vec<_> = rules.allow.iter().filter(is_granted).map(|rule| rule.rule.to_string()).collect();
        let words = self.history.words();
        let of_replaced = words.iter().take_while(|words| words.at < replaced.len()).count();
        let room = usize::try_from(self.budget.share(SHARE) * 3).unwrap_or(SAID);
        Ok(handover::facts(&Known {
            words: words.get(..of_replaced).unwrap_or_default(),
            room: SAID.min(room),
            facts: &facts,
            errors: &errors.map(|errors| errors.shown).unwrap_or_default(),
            grants: &grants,
            transcript: transcript.as_deref(),
        }))
    }

    /// The part that a model writes; none if it failed before, and the user has said to go on.
    async fn written(
        &mut self,
        reason: CompactionReason,
        messages: &[Arc<Message>],
        replaced: &[Arc<Message>],
        focus: Option<&str>,
    ) -> Result<Option<String>, End> {
        let may_do_without = self.history.has_failed_to_compact();
        let longest = length(replaced);
        let mut last = String::new();
        // A request of which the vendor said that it is too long is not sent again with more in it.
        let ways = [self.as_it_is(messages), self.as_transcript(replaced)];
        for base in ways.into_iter().skip(usize::from(reason == CompactionReason::Refused)) {
            let asked = with(&base, [Message::User(vec![UserBlock::Text(handover::request(focus))])]);
            match self.aside(asked.clone()).await?.and_then(|text| usable(text, longest)) {
                Ok(text) => return Ok(Some(self.looked_at(asked, text, longest).await?)),
                Err(error) => last = error,
            }
        }
        let error = last.trim_end_matches('.');
        if reason == CompactionReason::Asked {
            return Err(failed(format!("No hand-over could be written: {error}. The conversation stays as it is.")));
        }
        if may_do_without {
            let text =
                format!("No model could write its part of the hand-over: {error}. It has the facts of the log alone.");
            self.record(Event::Notice { severity: Severity::Warning, text });
            return Ok(None);
        }
        self.record(Event::CompactionFailed { turn_id: self.gate.turn_id.clone(), error: error.to_owned() });
        Err(self.ask_what_to_do(&format!("The context is full, and no hand-over could be written: {error}")))
    }

    /// Has the model look at its part again.
    async fn looked_at(&mut self, asked: Request, text: String, longest: u64) -> Result<String, End> {
        let said = Message::Assistant(vec![AssistantBlock::text(text.clone())]);
        let check = Message::User(vec![UserBlock::Text(handover::check().to_owned())]);
        let answer = self.aside(with(&asked, [said, check])).await?;
        let corrected = answer.ok().filter(|answer| !handover::is_same(answer));
        Ok(corrected.and_then(|answer| usable(answer, longest).ok()).unwrap_or(text))
    }

    /// A request that begins as the turn's own do.
    fn as_it_is(&self, messages: &[Arc<Message>]) -> Request {
        Request {
            system: Arc::clone(&self.system),
            tools: Arc::clone(&self.tools),
            messages: messages.to_vec(),
            max_output_tokens: self.budget.answer,
            thinking: self.thinking,
            before: self.history.before(&self.model.info().id),
            cache_key: self.session_id.as_str().to_owned(),
            cache_hour: self.cache_hour,
        }
    }

    /// A request with as much of the conversation as surely fits.
    fn as_transcript(&self, messages: &[Arc<Message>]) -> Request {
        let longest = usize::try_from(self.budget.share(OF_WINDOW) * 3).unwrap_or(usize::MAX);
        let text = format!("<transcript>\n{}</transcript>", handover::shortened(messages, longest));
        Request {
            system: handover::SYSTEM.into(),
            tools: Arc::from([]),
            messages: vec![Arc::new(Message::User(vec![UserBlock::Text(text)]))],
            max_output_tokens: self.budget.answer,
            thinking: self.thinking,
            before: ports::model::Before::default(),
            cache_key: self.session_id.as_str().to_owned(),
            cache_hour: false,
        }
    }

    /// Asks the model something of which no message comes; what may pass is tried again.
    async fn aside(&mut self, request: Request) -> Result<Result<String, String>, End> {
        loop {
            self.may_spend().await?;
            let (model, mut used) = (Arc::clone(&self.model), Usage::default());
            let heard = tokio::time::timeout(DEADLINE, heard(&*model, request.clone(), &mut used));
            let heard = until_cancelled(&self.gate.cancel, heard).await;
            self.pay_for_nothing(used);
            let error = match heard.ok_or(StopReason::Cancelled)? {
                Ok(Ok(text)) => {
                    self.failures = self.failures.over();
                    return Ok(Ok(text));
                }
                Ok(Err(error)) => error,
                Err(_) => return Ok(Err(format!("there was no answer within {} minutes", DEADLINE.as_secs() / 60))),
            };
            match self.failures.next(error.kind) {
                Next::Retry(wait) => {
                    if !self.wait(wait, self.retry_number(), error.message).await {
                        return Err(StopReason::Cancelled.into());
                    }
                }
                Next::Tell | Next::Shorten | Next::GiveUp => {
                    self.failures = self.failures.over();
                    return Ok(Err(error.message));
                }
            }
        }
    }

    /// Ends the turn with a question that says what fills the context.
    pub(super) fn ask_what_to_do(&mut self, why: &str) -> End {
        let messages = self.history.messages();
        let filling = Filling::of(&Contents {
            model: self.model.info(),
            thinking: self.model.thinking_tokens(),
            system: &self.system,
            rules: "",
            tools: &self.tools,
            messages: &messages,
            counted: None,
        });
        let mut parts = filling.parts;
        parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        let largest: Vec<_> =
            parts.iter().take(3).map(|(part, tokens)| format!("{} (about {tokens} tokens)", part.words())).collect();
        let window = self.budget.limit();
        self.stop_with_a_question(format!(
            "{why}. The model's context of {window} tokens is filled mostly by {}. {ASKED}",
            largest.join(", ")
        ))
    }
}

/// The tokens of messages, as estimated.
fn length(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| estimate(message)).sum()
}

/// The place from which on messages of so many tokens stay: the last ones.
fn place_of_last(messages: &[Arc<Message>], most: u64) -> usize {
    let (mut tokens, mut bytes) = (0, 0);
    let fits = |message: &&Arc<Message>| {
        tokens += estimate(message);
        bytes += images(message);
        tokens <= most && bytes <= KEPT_IMAGES
    };
    messages.len() - messages.iter().rev().take_while(fits).count()
}

/// A request with more messages at its end.
fn with<const N: usize>(request: &Request, more: [Message; N]) -> Request {
    let mut request = request.clone();
    request.messages.extend(more.map(Arc::new));
    request
}

/// What a model wrote, if a hand-over can have it.
fn usable(text: String, replaced: u64) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the model wrote nothing".to_owned());
    }
    if crate::context::tokens(chars(text)) >= replaced {
        return Err("the model wrote more than it was to replace".to_owned());
    }
    Ok(handover::bounded(text))
}

/// The text of an answer. Calls in it are not made.
async fn heard(model: &dyn Model, request: Request, used: &mut Usage) -> Result<String, ModelError> {
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Used(usage) => *used = usage,
            ModelEvent::Finished(Response { content, stop, why, usage }) => {
                *used = usage;
                if stop == Stop::Refusal {
                    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                    let message = format!("the model would not write it{why}");
                    return Err(ModelError { kind: ModelErrorKind::Rejected, message });
                }
                let texts = content.into_iter().filter_map(|block| match block {
                    AssistantBlock::Text { text, .. } => Some(text),
                    AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
                });
                return Ok(texts.collect());
            }
            ModelEvent::Opened(_)
            | ModelEvent::Text(_)
            | ModelEvent::Thinking(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolCallInput { .. } => {}
        }
    }
    Err(ModelError { kind: ModelErrorKind::Incomplete, message: "the model's answer broke off".to_owned() })
}
