//! The session as the model sees it: its conversation, as a fold of the session's events.
//!
//! The same events give equal messages, whether they are applied one by one by the running turn or read from the
//! store after a crash, and whether streamed deltas were merged or not. What the vendors ask of a conversation holds
//! after *every* event:
//!
//! - every tool call has exactly one result, in the message right after it, in the order of the calls; if none
//!   came (yet), one that says so stands in;
//! - nothing stands between a call and its result: words of the user and notes wait for the round's end;
//! - no message and no text in one is empty.
//!
//! Messages are only ever added at the end, so that a request's bytes begin with those of the one before it; the
//! exceptions are [`Event::ContextTrimmed`], and [`Event::Compacted`] with what is done to a handover. This counts
//! between [`settled`](History::is_settled) moments, which are those at which requests are made. For the same reason
//! neighbouring user messages stay apart: joining them, for a vendor that wants roles to alternate, is its adapter's
//! work.

mod conversation;
mod levels;
mod words;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ports::model::{Before, Message, UserBlock};
use ports::tool::interrupted;
use protocol::content::Usage;
use protocol::event::Severity;
use protocol::model::{ThinkingLevel, Thinks};
use protocol::permission::PermissionOutcome;
use protocol::{AssistantBlock, CompactionId, Event, MessageId, PromptBlock, SessionId, ToolCallId, ToolResult};
use serde_json::Value;

use self::conversation::{Conversation, Step};
use crate::handover::{self, Words};
use crate::tags;

/// The text that the model reads in place of a result of a call that was not begun.
pub const NOT_BEGUN: &str = "interrupted: the server ended before the call began; nothing was done";
/// The beginning of the text that the model reads in place of a result that was trimmed. The rest says how it is read
/// again.
pub const TRIMMED: &str = "[removed to make room in the context";

/// A conversation as the model sees it.
#[derive(Clone, Debug, Default)]
pub struct History {
    conversation: Conversation,
    /// The message that streams in: text so far.
    streaming: Option<(MessageId, String)>,
    /// The calls of the last assistant message, while one of them has no result.
    round: Option<Round>,
    /// The messages that were said in the meantime, and the levels; they follow when round or stream is over.
    waiting: Vec<Step>,
    /// The name that the vendor of the last answer gave it.
    answer: Option<Value>,
    /// The warnings that the user was given.
    warnings: HashSet<String>,
    /// True if no handover could be written in the turn before, and in this one.
    has_failed_to_compact: bool,
    fails_to_compact: bool,
    /// The facts of the handovers, for when what a model wrote of one is corrected.
    facts: HashMap<CompactionId, Arc<str>>,
    /// Every call ever made.
    calls: HashSet<ToolCallId>,
    /// The user's own commands that run and are part of the context: what was typed.
    commands: HashMap<ToolCallId, String>,
    /// True if a turn runs.
    in_turn: bool,
    /// The results of the user's own commands while a turn runs, as they were not said to the turn. A turn that is at
    /// work does not see what is added to the session's history; it is told by a note, or else they follow when it has
    /// ended.
    untold: Vec<String>,
}

/// A call of the last assistant message that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The call.
    pub id: ToolCallId,
    /// The tool.
    pub name: String,
    /// Its input.
    pub input: Value,
    /// True if it was let through the gate already, so that it may have had effects or have been paid for.
    pub has_begun: bool,
    /// The session that it started last.
    pub child: Option<SessionId>,
}

#[derive(Clone, Debug)]
struct Round {
    calls: Vec<OpenCall>,
    results: HashMap<ToolCallId, ToolResult>,
}

impl History {
    /// The conversation that these events come to.
    pub fn from_events<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.apply(event);
        }
        history
    }

    /// Takes in the next event. Events that do not concern the model change nothing.
    pub fn apply(&mut self, event: &Event) {
        match event {
            // Calls that an interrupted turn left open stay so.
            Event::TurnStarted { compacts: true, .. } => self.begin_turn(),
            Event::TurnStarted { prompt, context, model, thinks, .. } => {
                self.begin_turn();
                let goes_on = words::is_empty(prompt);
                if !goes_on {
                    self.close_round();
                }
                // It stands before what the turn begins with, which is new to the model in any case.
                if let Some(Thinks { level, .. }) = thinks {
                    self.set_level(model, *level);
                }
                if goes_on {
                    // The turn goes on: open calls stay open, so that one that waited for an answer can be taken up.
                    self.say(words::user(context, &[]));
                    self.ensure_something_to_answer();
                } else {
                    self.say_prompt(context, prompt);
                }
            }
            Event::TurnModelChanged { model, thinking, .. } => self.set_level(model, *thinking),
            Event::Steered { prompt, context, .. } => self.say_prompt(context, prompt),
            Event::Noted { text, .. } => {
                if let Some(at) = self.untold.iter().position(|untold| untold == text) {
                    self.untold.remove(at);
                }
                self.say(words::note(text));
            }
            Event::UserCommandStarted { tool_call_id, command, in_context: true } => {
                self.commands.insert(tool_call_id.clone(), command.clone());
            }
            Event::UserCommandEnded { tool_call_id, text, exit_code, .. } => {
                if let Some(command) = self.commands.remove(tool_call_id) {
                    let text = words::ran(&command, text, *exit_code);
                    if self.in_turn { self.untold.push(text) } else { self.say(words::note(&text)) }
                }
            }
            Event::CheckpointRestored { direction, files, .. } => {
                self.say(words::note(&words::restored(*direction, files)));
            }
            Event::MessageDelta { message_id, text } => {
                if self.streaming.as_ref().is_some_and(|(streaming, _)| streaming != message_id) {
                    self.settle_stream();
                }
                self.close_round();
                let (_, partial) = self.streaming.get_or_insert_with(|| (message_id.clone(), String::new()));
                partial.push_str(text);
            }
            Event::RequestPaid { opening, .. } => self.answer = opening.vendor.clone().or(self.answer.take()),
            Event::MessageCompleted { message_id, content, usage, opening, .. } => {
                // A message of ours in the model's name is no answer.
                if *usage != Usage::default() {
                    self.answer.clone_from(&opening.vendor);
                }
                self.streaming.take_if(|(streaming, _)| streaming == message_id);
                self.settle_stream();
                self.close_round();
                self.answer(content);
            }
            Event::MessageDiscarded { message_id } => {
                self.streaming.take_if(|(streaming, _)| streaming == message_id);
                self.release();
            }
            Event::ToolCallStarted { tool_call_id, .. } => self.open(tool_call_id, |call| call.has_begun = true),
            Event::ChildWorked { tool_call_id, child, .. } => {
                self.open(tool_call_id, |call| call.child = Some(child.clone()));
            }
            Event::ToolCallEnded { result, rewritten_input, .. } => {
                if let Some(input) = rewritten_input {
                    self.rewrite(&result.tool_call_id, input);
                }
                self.result(result);
            }
            Event::ContextTrimmed { .. }
            | Event::Compacted { .. }
            | Event::CompactionFailed { .. }
            | Event::CompactionCorrected { .. }
            | Event::CompactionTakenBack { .. } => self.make_room(event),
            Event::ReviewDecided { message: Some(message), .. }
            | Event::PermissionAnswered {
                outcome: PermissionOutcome::Selected { message: Some(message), .. }, ..
            } => self.say_aside(message),
            // The streamed part of an answer that was cancelled, or cut off with the server, stays said.
            Event::TurnEnded { .. } => {
                self.settle_stream();
                self.in_turn = false;
                for text in std::mem::take(&mut self.untold) {
                    self.say(words::note(&text));
                }
            }
            Event::Notice { severity: Severity::Warning, text } => {
                self.warnings.insert(text.clone());
            }
            _ => {}
        }
    }

    fn begin_turn(&mut self) {
        self.in_turn = true;
        self.has_failed_to_compact = std::mem::take(&mut self.fails_to_compact);
        self.settle_stream();
    }

    /// Takes in what makes the conversation shorter, or longer again.
    fn make_room(&mut self, event: &Event) {
        match event {
            Event::ContextTrimmed { tool_call_ids, kept, .. } => {
                let kept = kept.iter().map(String::as_str).chain(std::iter::repeat(""));
                tool_call_ids.iter().zip(kept).for_each(|(id, kept)| self.trim(id, kept));
            }
            Event::Compacted { compaction, .. } => {
                let (id, facts) = (&compaction.compaction_id, Arc::from(compaction.facts.as_str()));
                let text = handover::for_model(&compaction.facts, compaction.written.as_deref());
                self.conversation.compact(id, compaction.messages as usize, text.into());
                self.facts.entry(id.clone()).or_insert(facts);
            }
            Event::CompactionFailed { .. } => self.fails_to_compact = true,
            Event::CompactionCorrected { compaction_id, written } => {
                if let Some(facts) = self.facts.get(compaction_id) {
                    let text = handover::for_model(facts, Some(written));
                    self.conversation.correct(compaction_id, text.into());
                }
            }
            Event::CompactionTakenBack { compaction_id } => self.conversation.take_back(compaction_id),
            _ => {}
        }
    }

    /// The messages for the next request. Costs a reference count per message.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        let mut messages = self.conversation.messages().to_vec();
        if let Some(round) = &self.round {
            messages.push(Arc::new(Message::ToolResults(round.results())));
        }
        messages.extend(self.waiting.iter().filter_map(|step| match step {
            Step::Message(message, _) => Some(Arc::clone(message)),
            Step::Said(_) | Step::Level(..) | Step::Trimmed(..) | Step::Compacted(..) => None,
        }));
        messages
    }

    /// The last place at or before this one at which the conversation can be cut, so that a call and its result stay
    /// together. A place is the number of messages before it.
    pub fn cut_before(&self, place: usize) -> usize {
        conversation::cut_before(self.conversation.messages(), place)
    }

    /// The words of the user, in their order, also those that a handover has.
    pub fn words(&self) -> &[Words] {
        self.conversation.words()
    }

    /// The handover at the conversation's beginning.
    pub fn handover(&self) -> Option<&CompactionId> {
        self.conversation.handovers().last()
    }

    /// The handovers that stand, each in the conversation that the next one stands for.
    pub fn handovers(&self) -> &[CompactionId] {
        self.conversation.handovers()
    }

    /// True if no handover could be written in the turn before: the user was asked, and has said something since.
    pub fn has_failed_to_compact(&self) -> bool {
        self.has_failed_to_compact
    }

    /// The number of messages up to the last one that is whole.
    pub fn settled(&self) -> usize {
        self.conversation.messages().len()
    }

    /// The requests so far, for the next one to a model, which is named by its id.
    pub fn before(&self, model: &str) -> Before {
        let open = usize::from(self.round.is_some());
        let levels = conversation::levels_of(&self.conversation, &self.waiting, open, model);
        Before { in_conversation: true, answer: self.answer.clone(), levels }
    }

    /// Returns the results of the user's own commands while the turn runs, in words that it has yet to be told by a
    /// note.
    pub fn untold_commands(&self) -> &[String] {
        &self.untold
    }

    /// The calls that have no result yet, in their order.
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let Some(round) = &self.round else { return Vec::new() };
        round.calls.iter().filter(|call| !round.results.contains_key(&call.id)).cloned().collect()
    }

    /// True if every call has its own result and no message streams in.
    pub fn is_settled(&self) -> bool {
        self.round.is_none() && self.streaming.is_none()
    }

    /// True if the user was given this warning.
    pub fn has_warned(&self, text: &str) -> bool {
        self.warnings.contains(text)
    }

    /// True if a call of this id was ever made.
    pub fn knows_call(&self, id: &ToolCallId) -> bool {
        self.calls.contains(id)
    }

    /// The results that still stand in full in all but the last `keep` rounds, oldest first: what can be trimmed.
    pub fn trimmable(&self, keep: usize) -> Vec<&ToolResult> {
        let messages = self.conversation.messages().iter();
        let rounds: Vec<_> = messages.filter_map(|message| results_of(message)).collect();
        let old = rounds.len().saturating_sub(keep);
        let is_worth_it = |result: &&ToolResult| result.text.len() > LEAST_TRIMMED && !is_trimmed(&result.text);
        rounds.into_iter().take(old).flatten().filter(is_worth_it).collect()
    }

    /// Adds a user's message, if there is anything in it: now, or as soon as nothing stands open.
    fn say(&mut self, blocks: Vec<UserBlock>) {
        self.say_with(blocks, None);
    }

    /// Adds a prompt, with what its mentions came to.
    fn say_prompt(&mut self, context: &str, prompt: &[PromptBlock]) {
        self.say_with(words::user(context, prompt), Some(words::typed(prompt)).filter(|typed| !typed.is_empty()));
    }

    fn say_with(&mut self, blocks: Vec<UserBlock>, typed: Option<String>) {
        if !blocks.is_empty() {
            self.waiting.push(Step::Message(Arc::new(Message::User(blocks)), typed.map(Into::into)));
            self.release();
        }
    }

    /// Notes words of the user that came with a decision or an answer, and that the model reads elsewhere.
    fn say_aside(&mut self, words: &str) {
        self.waiting.push(Step::Said(words::aside(words).into()));
        self.release();
    }

    fn set_level(&mut self, model: &str, level: Option<ThinkingLevel>) {
        self.waiting.push(Step::Level(model.to_owned(), level));
        self.release();
    }

    fn release(&mut self) {
        if self.is_settled() {
            self.waiting.drain(..).for_each(|step| self.conversation.push(step));
        }
    }

    /// Adds a message of the model's, or the results of its calls.
    fn push(&mut self, message: Message) {
        self.conversation.push(Step::Message(Arc::new(message), None));
    }

    /// A request must end with something to answer; not every vendor takes one that ends with the model's own words.
    fn ensure_something_to_answer(&mut self) {
        let last = self.conversation.messages().last();
        let answered = matches!(last.map(|last| &**last), None | Some(Message::Assistant(_)));
        if answered && self.is_settled() {
            self.say(words::go_on());
        }
    }

    fn settle_stream(&mut self) {
        if let Some((_, text)) = self.streaming.take() {
            if !text.trim().is_empty() {
                self.push(Message::Assistant(vec![AssistantBlock::text(text)]));
            }
            self.release();
        }
    }

    fn answer(&mut self, content: &[AssistantBlock]) {
        let mut calls: Vec<OpenCall> = Vec::new();
        let mut blocks = Vec::new();
        for block in content {
            match block {
                AssistantBlock::Text { text, .. } if text.trim().is_empty() => continue,
                AssistantBlock::ToolCall { id, .. } if calls.iter().any(|call| call.id == *id) => continue,
                AssistantBlock::ToolCall { id, name, input, .. } => {
                    let (id, name, input) = (id.clone(), name.clone(), input.clone());
                    calls.push(OpenCall { id, name, input, has_begun: false, child: None });
                }
                AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => {}
            }
            blocks.push(block.clone());
        }
        // Thinking alone is not an answer; vendors refuse a message of nothing else.
        if blocks.iter().all(|block| matches!(block, AssistantBlock::Thinking { .. })) {
            return self.release();
        }
        self.push(Message::Assistant(blocks));
        if calls.is_empty() {
            return self.release();
        }
        self.calls.extend(calls.iter().map(|call| call.id.clone()));
        self.round = Some(Round { calls, results: HashMap::new() });
    }

    /// Changes what is known of a call of the open round.
    fn open(&mut self, id: &ToolCallId, change: impl FnMut(&mut OpenCall)) {
        let calls = self.round.iter_mut().flat_map(|round| &mut round.calls);
        calls.filter(|call| call.id == *id).for_each(change);
    }

    /// Gives a call of the open round another input. It has not been part of a request yet.
    fn rewrite(&mut self, id: &ToolCallId, now: &Value) {
        let is_open = self.round.as_ref().is_some_and(|round| round.calls.iter().any(|call| call.id == *id));
        if !is_open {
            return;
        }
        self.conversation.change_last(|last| {
            let Message::Assistant(blocks) = last else { return };
            for block in blocks {
                if let AssistantBlock::ToolCall { id: other, input, .. } = block
                    && other == id
                {
                    input.clone_from(now);
                }
            }
        });
    }

    /// Takes a result; one for a call that is not open is not the model's business any more.
    fn result(&mut self, result: &ToolResult) {
        let Some(round) = &mut self.round else { return };
        let id = &result.tool_call_id;
        if round.calls.iter().any(|call| call.id == *id) && !round.results.contains_key(id) {
            let mut result = result.clone();
            if let Cow::Owned(quoted) = tags::quoted(&result.text) {
                result.text = quoted;
            }
            round.results.insert(id.clone(), result);
            if round.results.len() == round.calls.len() {
                self.close_round();
            }
        }
    }

    fn close_round(&mut self) {
        if let Some(round) = self.round.take() {
            self.push(Message::ToolResults(round.results()));
            self.release();
        }
    }

    fn trim(&mut self, id: &ToolCallId, kept: &str) {
        if let Some(result) = self.round.as_mut().and_then(|round| round.results.get_mut(id)) {
            conversation::shorten(result, kept);
        }
        self.conversation.push(Step::Trimmed(id.clone(), kept.to_owned()));
    }
}

impl Round {
    /// The results in the order of the calls.
    fn results(&self) -> Vec<ToolResult> {
        let result = |call: &OpenCall| {
            self.results.get(&call.id).cloned().unwrap_or_else(|| ToolResult {
                tool_call_id: call.id.clone(),
                text: if call.has_begun { interrupted(&call.name, call.child.as_ref()) } else { NOT_BEGUN.into() }
                    .into_owned(),
                is_error: true,
            })
        };
        self.calls.iter().map(result).collect()
    }
}

/// A shorter result is not worth the words that say it was trimmed.
const LEAST_TRIMMED: usize = 240;

/// True if this is the text in the place of a result that was trimmed.
pub(crate) fn is_trimmed(text: &str) -> bool {
    text.starts_with(TRIMMED)
}

fn results_of(message: &Message) -> Option<&Vec<ToolResult>> {
    match message {
        Message::ToolResults(results) => Some(results),
        Message::User(_) | Message::Assistant(_) => None,
    }
}

#[cfg(test)]
pub(crate) mod tests;
