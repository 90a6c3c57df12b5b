//! Compaction: a handover takes the place of the conversation's beginning.
//!
//! The model that works is asked for its part with the conversation as it is, so that the vendor's cache has nearly all
//! of the request; if that fails, with a transcript that is short enough. Its answer is looked at a second time. If
//! there is none, the user is asked, and after a word of theirs the facts of the log have to do.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use permission::SourcedRule;
use ports::facts::Facts;
use ports::model::{
    Before, Message, Model, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop, UserBlock,
};
use protocol::compaction::{Compaction, CompactionReason};
use protocol::content::Usage;
use protocol::event::Severity;
use protocol::permission::RuleOrigin;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, CompactionId, Event};

use super::budget::{images, length};
use super::retry::Next;
use super::words::failed;
use super::{End, Turn};
use crate::context::{Contents, Filling, estimate};
use crate::handover::{self, Asked, Known};
use crate::wait::until_cancelled;

/// The tokens of the newest messages that stay as they are, and their largest share of the room.
const KEPT: u64 = 20_000;
/// The characters of the user's words that a handover says in full: about 20,000 tokens.
const SAID: usize = 70_000;
/// The share of the room for each of these two, in a small context.
const SHARE: f64 = 0.25;
/// The share of the room that a handover wins at least, so that it is not due again at once.
const LEAST_WON: f64 = 0.05;
/// The bytes of images that may stay.
const KEPT_IMAGES: usize = 8 << 20;
/// So many handovers in a row, each of which was full again after so few answers, end the turn.
const MOST_REFILLS: u32 = 3;
const FEW_ANSWERS: u32 = 3;
/// The longest that a model may take for its part.
const DEADLINE: Duration = Duration::from_secs(300);
/// The share of the room that a transcript may fill.
const OF_ROOM: f64 = 0.5;
/// The words to the user where the model's part cannot be had.
const NOT_WRITTEN: &str = "Say \"go on\" to continue with a handover that contains only facts from the log, /compact to try \
                           again, or /new to start a new conversation.";
/// The words to the user where a handover is full again at once.
const REFILLED: &str = "Say \"go on\" to have it compacted again, choose a model with a larger context, or start a new \
                        conversation with /new.";

/// How often the context was full again soon.
#[derive(Debug, Default)]
pub(super) struct Refills {
    /// The handovers in a row of which each was full soon after the one before.
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

    /// True if another handover would only be full again.
    fn are_too_many(&self) -> bool {
        self.is_soon() && self.in_a_row >= MOST_REFILLS
    }
}

/// The way in which a model is asked for its part.
#[derive(Clone, Copy)]
enum Way<'m> {
    /// Within the conversation, as the turn's own requests are made.
    AsItIs,
    /// With a transcript of these messages, as much of it as surely fits.
    Transcript(&'m [Arc<Message>]),
}

impl Turn {
    /// Compacts as the user asked.
    ///
    /// # Errors
    /// The end of the turn: it was cancelled, or no handover could be written.
    pub(super) async fn compact_as_asked(&mut self, asked: Asked) -> Result<(), End> {
        if !self.compact(CompactionReason::Asked, asked).await? {
            let text = "There is nothing to compact: a handover would not be shorter than the conversation.";
            self.record(Event::Notice { severity: Severity::Info, text: text.to_owned() });
        }
        Ok(())
    }

    /// Has a handover take the place of the conversation's beginning. False if that would win too little.
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
            let why = "The context is full again right after it was compacted, three times in a row";
            return Err(self.ask_what_to_do(why, REFILLED));
        }
        let Some(facts) = self.facts(reason, replaced).await? else { return Ok(false) };
        let turn_id = self.gate.turn_id.clone();
        self.record(Event::Compacting { turn_id: turn_id.clone(), reason });
        let written = self.written(reason, replaced, asked.focus.as_deref()).await?;
        let handover =
            |written: Option<&str>| Message::User(vec![UserBlock::Text(handover::for_model(&facts, written))]);
        // The facts alone are shorter than all that they stand for; with the model's part they may not be.
        let written = written.filter(|written| estimate(&handover(Some(written))) < length(replaced));
        let shortened: Vec<_> =
            std::iter::once(Arc::new(handover(written.as_deref()))).chain(kept.iter().cloned()).collect();
        let (before, after) = (self.budget.used(&messages), self.budget.after(&messages, &shortened));
        self.budget.forget_count();
        self.compactions += 1;
        self.refills.compacted();
        self.circles.forget();
        let compaction = Compaction {
            compaction_id: CompactionId::new(format!("{turn_id}-c{}", self.compactions)),
            reason,
            messages: u32::try_from(place).unwrap_or(u32::MAX),
            facts,
            written,
            focus: asked.focus,
            before,
            after,
        };
        self.record(Event::Compacted { turn_id, compaction: Box::new(compaction) });
        let (limit, full) = (self.budget.limit(), Some(self.budget.full()));
        self.record(Event::ContextUsed { used: after, limit, full });
        Ok(true)
    }

    /// The number of messages that a handover takes the place of. What the model has not answered yet stays.
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

    /// The facts for a handover that takes the place of these messages; none if it would win too little.
    async fn facts(&self, reason: CompactionReason, replaced: &[Arc<Message>]) -> Result<Option<String>, End> {
        let (session, cancel) = (Arc::clone(&self.gate.session), &self.gate.cancel);
        let facts = until_cancelled(cancel, session.facts()).await.ok_or(StopReason::Cancelled)?;
        let text = self.in_words(&facts, replaced, &[], None);
        let least = match reason {
            CompactionReason::Full => self.budget.share(LEAST_WON),
            CompactionReason::Asked | CompactionReason::Refused => 0,
        };
        let shorter = Message::User(vec![UserBlock::Text(handover::for_model(&text, None))]);
        // Images are few tokens and many bytes.
        let has_images = replaced.iter().any(|message| message.has_images());
        if estimate(&shorter) + least >= length(replaced) && !has_images {
            return Ok(None);
        }
        let gathered = async {
            let errors = session.new_errors(false).await.map(|errors| errors.shown);
            (errors.unwrap_or_default(), session.keep(handover::transcript(replaced)).await)
        };
        let (errors, transcript) = until_cancelled(cancel, gathered).await.ok_or(StopReason::Cancelled)?;
        Ok(Some(self.in_words(&facts, replaced, &errors, transcript.as_deref())))
    }

    fn in_words(
        &self,
        facts: &Facts,
        replaced: &[Arc<Message>],
        errors: &[String],
        transcript: Option<&str>,
    ) -> String {
        let rules = self.gate.session.rules();
        let is_granted = |rule: &&SourcedRule| matches!(rule.origin, RuleOrigin::Granted | RuleOrigin::Session);
        let grants: Vec<_> = rules.allow.iter().filter(is_granted).map(|rule| rule.rule.to_string()).collect();
        let words = self.history.words();
        let of_replaced = words.iter().take_while(|words| words.at < replaced.len()).count();
        let room = usize::try_from(self.budget.share(SHARE) * 3).unwrap_or(SAID);
        let words = words.get(..of_replaced).unwrap_or_default();
        handover::facts(&Known { words, room: SAID.min(room), facts, errors, grants: &grants, transcript })
    }

    /// The part that a model writes; none if it failed just before, and the user has said to go on, or nobody can be
    /// asked.
    async fn written(
        &mut self,
        reason: CompactionReason,
        replaced: &[Arc<Message>],
        focus: Option<&str>,
    ) -> Result<Option<String>, End> {
        let may_do_without = self.history.has_failed_to_compact() || !self.may_ask;
        // A request of which the vendor said that it is too long is not sent again with more in it, nor one that its
        // server would cut.
        let is_too_long = reason == CompactionReason::Refused || self.budget.is_cut(&self.history.messages());
        let mut last = String::new();
        for way in [Way::AsItIs, Way::Transcript(replaced)].into_iter().skip(usize::from(is_too_long)) {
            let asked = Message::User(vec![UserBlock::Text(handover::request(focus))]);
            match self.aside(way, std::slice::from_ref(&asked)).await?.and_then(|text| handover::usable(&text)) {
                Ok(text) => return Ok(Some(self.looked_at(way, asked, text).await?)),
                Err(error) => last = error,
            }
        }
        let error = last.trim_end_matches('.');
        if reason == CompactionReason::Asked {
            return Err(failed(format!("No handover could be written: {error}. The conversation stays as it is.")));
        }
        if may_do_without {
            let text =
                format!("No model could write its part of the handover: {error}. It contains only facts from the log.");
            self.record(Event::Notice { severity: Severity::Warning, text });
            return Ok(None);
        }
        self.record(Event::CompactionFailed { turn_id: self.gate.turn_id.clone(), error: error.to_owned() });
        let why = format!("The context is full, and no handover could be written: {error}");
        Err(self.ask_what_to_do(&why, NOT_WRITTEN))
    }

    /// Has the model look at its part again.
    async fn looked_at(&mut self, way: Way<'_>, asked: Message, text: String) -> Result<String, End> {
        let said = Message::Assistant(vec![AssistantBlock::text(text.clone())]);
        let check = Message::User(vec![UserBlock::Text(handover::CHECK.to_owned())]);
        let answer = self.aside(way, &[asked, said, check]).await?;
        // An answer that is no handover of its own, such as that nothing is wrong, corrects nothing.
        let corrected = answer.and_then(|answer| handover::usable(&answer)).ok();
        Ok(corrected.filter(|corrected| handover::sections(corrected) >= handover::sections(&text)).unwrap_or(text))
    }

    /// A request for the model's part, which ends with these messages.
    fn request_for(&self, way: Way<'_>, end: &[Message]) -> Request {
        let (system, tools, mut messages, before) = match way {
            Way::AsItIs => {
                let before = self.history.before(&self.model.info().id);
                (Arc::clone(&self.system), Arc::clone(&self.tools), self.conversation(), before)
            }
            Way::Transcript(replaced) => {
                let longest = usize::try_from(self.budget.share(OF_ROOM) * 3).unwrap_or(usize::MAX);
                let text = format!("<transcript>\n{}</transcript>", handover::shortened(replaced, longest));
                let message = Message::User(vec![UserBlock::Text(text)]);
                (handover::SYSTEM.into(), Arc::from([]), vec![Arc::new(message)], Before::default())
            }
        };
        messages.extend(end.iter().cloned().map(Arc::new));
        Request {
            system,
            tools,
            messages,
            max_output_tokens: self.budget.answer,
            thinking: self.thinking,
            before,
            cache_key: self.session_id.as_str().to_owned(),
            cache_hour: self.cache_hour && matches!(way, Way::AsItIs),
        }
    }

    /// Asks the model something of which no message comes. What may pass is tried again, by another account or model as
    /// every request of the turn.
    async fn aside(&mut self, way: Way<'_>, end: &[Message]) -> Result<Result<String, String>, End> {
        let mut failures = self.failures.over();
        loop {
            self.may_spend().await?;
            self.takes_other_account(None).await;
            let (model, mut used) = (Arc::clone(&self.model), Usage::default());
            let heard = tokio::time::timeout(DEADLINE, heard(&*model, self.request_for(way, end), &mut used));
            let heard = until_cancelled(&self.gate.cancel, heard).await;
            self.pay_for_nothing(used);
            let error = match heard.ok_or(StopReason::Cancelled)? {
                Ok(Ok(text)) => return Ok(Ok(text)),
                Ok(Err(error)) => error,
                Err(_) => return Ok(Err(format!("there was no answer within {} minutes", DEADLINE.as_secs() / 60))),
            };
            match failures.next(error.kind) {
                Next::Retry(wait) => {
                    let number = (failures.retries().max(1), failures.most().max(1));
                    if !self.wait(wait, number, error.message).await {
                        return Err(StopReason::Cancelled.into());
                    }
                }
                Next::GiveUp if self.falls_back(&error).await => failures = failures.over(),
                Next::Tell | Next::Shorten | Next::GiveUp => return Ok(Err(error.message)),
            }
        }
    }

    /// Ends the turn with a question that says what fills the context.
    fn ask_what_to_do(&mut self, why: &str, then: &str) -> End {
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
        let (window, largest) = (self.budget.limit(), largest.join(", "));
        self.stop_with_a_question(format!(
            "{why}. Most of the model's context of {window} tokens is taken by {largest}. {then}"
        ))
    }
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

/// The text of a whole answer that calls nothing.
async fn heard(model: &dyn Model, request: Request, used: &mut Usage) -> Result<String, ModelError> {
    let no_text = |message: String| ModelError { kind: ModelErrorKind::Rejected, message };
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Used(usage) => *used = usage,
            ModelEvent::Finished(Response { content, stop, why, usage }) => {
                *used = usage;
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                match stop {
                    Stop::Refusal => return Err(no_text(format!("the model would not write it{why}"))),
                    Stop::MaxTokens => return Err(no_text(format!("the model's text was cut off{why}"))),
                    Stop::EndTurn | Stop::ToolUse | Stop::Pause => {}
                }
                let mut text = String::new();
                for block in content {
                    match block {
                        AssistantBlock::Text { text: said, .. } => text.push_str(&said),
                        AssistantBlock::ToolCall { name, .. } => {
                            return Err(no_text(format!("the model called `{name}` instead of writing it")));
                        }
                        AssistantBlock::Thinking { .. } => {}
                    }
                }
                return Ok(text);
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
