//! A conversation as the fold of its steps.
//!
//! A step that is taken back is left out of the fold, and all that was there before is there again, as it was.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ports::model::{LevelAt, Message, UserBlock};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, CompactionId, ToolCallId, ToolResult};

use super::levels::Levels;
use super::{TRIMMED, is_trimmed, results_of};
use crate::handover::Words;

/// A conversation, and what it is the fold of.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    steps: Vec<Step>,
    /// The handovers that were taken back.
    taken_back: HashSet<CompactionId>,
    /// The texts of handovers, as the model reads them.
    handovers: HashMap<CompactionId, Arc<str>>,
    /// The conversation that the steps come to.
    now: Now,
}

/// A step of a conversation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A message is whole. A user's comes with what the user typed of it.
    Message(Arc<Message>, Option<Arc<str>>),
    /// The user said something that is no message of its own, such as why a change was rejected.
    Said(Arc<str>),
    /// A model is told a level to think at.
    Level(String, Option<ThinkingLevel>),
    /// The result of a call is taken out; the words say how it is read again.
    Trimmed(ToolCallId, String),
    /// A handover takes the place of so many messages.
    Compacted(CompactionId, usize),
}

#[derive(Clone, Debug, Default)]
struct Now {
    messages: Vec<Arc<Message>>,
    /// The index of the message in which the result of a call stands.
    results: HashMap<ToolCallId, usize>,
    /// The levels that models were told to think at.
    levels: Levels,
    words: Vec<Words>,
    /// The handovers that stand in the conversation, the last one at its beginning.
    compactions: Vec<CompactionId>,
}

impl Conversation {
    /// Takes the next step.
    pub(super) fn push(&mut self, step: Step) {
        self.now.take(&step, &self.handovers, &self.taken_back);
        self.steps.push(step);
    }

    pub(super) fn messages(&self) -> &[Arc<Message>] {
        &self.now.messages
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.now.levels
    }

    pub(super) fn words(&self) -> &[Words] {
        &self.now.words
    }

    /// The handovers that stand, the last one at the conversation's beginning.
    pub(super) fn handovers(&self) -> &[CompactionId] {
        &self.now.compactions
    }

    /// Changes the last message, which was part of no request yet.
    pub(super) fn change_last(&mut self, change: impl FnOnce(&mut Message)) {
        let Some(last) = self.now.messages.last_mut() else { return };
        change(Arc::make_mut(last));
        let is_message = |step: &&mut Step| matches!(step, Step::Message(..));
        if let Some(Step::Message(message, _)) = self.steps.iter_mut().rev().find(is_message) {
            message.clone_from(last);
        }
    }

    /// A handover with this text takes the place of the first so many messages.
    pub(super) fn compact(&mut self, id: &CompactionId, messages: usize, text: Arc<str>) {
        if !self.handovers.contains_key(id) {
            self.handovers.insert(id.clone(), text);
            self.push(Step::Compacted(id.clone(), messages));
        }
    }

    /// Gives a handover another text.
    pub(super) fn correct(&mut self, id: &CompactionId, text: Arc<str>) {
        if let Some(known) = self.handovers.get_mut(id) {
            *known = text;
            self.fold_again();
        }
    }

    /// Leaves a handover out, so that the messages are there again for which it stood. Later ones go with it, since
    /// they stand on it.
    pub(super) fn take_back(&mut self, id: &CompactionId) {
        if let Some(at) = self.now.compactions.iter().position(|known| known == id) {
            self.taken_back.extend(self.now.compactions.drain(at..));
            self.fold_again();
        }
    }

    fn fold_again(&mut self) {
        let mut now = Now::default();
        self.steps.iter().for_each(|step| now.take(step, &self.handovers, &self.taken_back));
        self.now = now;
    }
}

impl Now {
    fn take(&mut self, step: &Step, handovers: &HashMap<CompactionId, Arc<str>>, taken_back: &HashSet<CompactionId>) {
        match step {
            Step::Message(message, typed) => {
                let at = self.messages.len();
                self.words.extend(typed.clone().map(|text| Words { at, text }));
                let results = results_of(message).into_iter().flatten();
                self.results.extend(results.map(|result| (result.tool_call_id.clone(), at)));
                self.messages.push(Arc::clone(message));
            }
            Step::Said(text) => self.words.push(Words { at: self.messages.len(), text: Arc::clone(text) }),
            Step::Level(model, level) => self.levels.set(model, *level, self.messages.len()),
            Step::Trimmed(call, kept) => self.trim(call, kept),
            Step::Compacted(id, messages) => {
                if let Some(text) = handovers.get(id).filter(|_| !taken_back.contains(id)) {
                    self.compact(id, *messages, text);
                }
            }
        }
    }

    /// Puts a handover in the place of the first so many messages, or of fewer: a call and its result stay together.
    fn compact(&mut self, id: &CompactionId, messages: usize, text: &str) {
        let end = cut_before(&self.messages, messages);
        let handover = Arc::new(Message::User(vec![UserBlock::Text(text.to_owned())]));
        self.messages.splice(..end, [handover]);
        let now = |at: usize| if at < end { 0 } else { at - end + 1 };
        self.results.retain(|_, at| *at >= end);
        self.results.values_mut().for_each(|at| *at = now(*at));
        self.words.iter_mut().for_each(|words| words.at = now(words.at));
        self.levels.compact(end);
        self.compactions.push(id.clone());
    }

    fn trim(&mut self, id: &ToolCallId, kept: &str) {
        let place = self.results.get(id).and_then(|place| self.messages.get_mut(*place));
        if let Some(Message::ToolResults(results)) = place.map(Arc::make_mut) {
            results.iter_mut().filter(|result| result.tool_call_id == *id).for_each(|result| shorten(result, kept));
        }
    }
}

/// Puts the words that say so in the place of a result, if that is shorter.
pub(super) fn shorten(result: &mut ToolResult, kept: &str) {
    if is_trimmed(&result.text) {
        return;
    }
    let text = match kept {
        "" => format!("{TRIMMED}; call the tool again if this is still needed]"),
        kept => format!("{TRIMMED}; {kept}]"),
    };
    if text.len() < result.text.len() {
        result.text = text;
    }
}

/// The last place at or before this one at which a conversation can be cut: no call stands before it whose result
/// comes after it. A place is the number of messages before it.
pub(super) fn cut_before(messages: &[Arc<Message>], place: usize) -> usize {
    let calls = |message: &Arc<Message>| {
        let is_call = |block: &AssistantBlock| matches!(block, AssistantBlock::ToolCall { .. });
        matches!(&**message, Message::Assistant(blocks) if blocks.iter().any(is_call))
    };
    let mut place = place.min(messages.len());
    while place > 0 && messages.get(place - 1).is_some_and(calls) {
        place -= 1;
    }
    place
}

/// The levels at which a model is asked, with those that wait to be said.
pub(super) fn levels_of(conversation: &Conversation, waiting: &[Step], open: usize, model: &str) -> Vec<LevelAt> {
    let mut levels = conversation.levels().clone();
    let mut at = conversation.messages().len() + open;
    for step in waiting {
        match step {
            Step::Message(..) => at += 1,
            Step::Level(model, level) => levels.set(model, *level, at),
            Step::Said(_) | Step::Trimmed(..) | Step::Compacted(..) => {}
        }
    }
    levels.of(model)
}
