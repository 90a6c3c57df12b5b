//! Prompts that wait: those that were queued, what was said to a turn that did not come to hear it, and those that were
//! sent and did not become a turn.

use agent::commands::{self, Commands, Invocation, says_something};
use ports::session::Interjection;
use protocol::event::Severity;
use protocol::session::Mode;
use protocol::{Event, PromptBlock, QueueId, TurnId};

use super::{Caller, Prompts};
use crate::Error;
use crate::session::ids::Ids;

/// The prompt that a turn is to be made of.
pub(super) struct Sent {
    /// The id under which it waited; `None` if it did not wait.
    pub(super) queue_id: Option<QueueId>,
    pub(super) prompt: Vec<PromptBlock>,
    /// The mode that was chosen with it.
    pub(super) mode: Option<Mode>,
}

/// The events to record for a prompt that did not become a turn: this, then the mode, then the rest.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) first: Option<Event>,
    /// The mode that was chosen with it.
    pub(super) mode: Option<Mode>,
    pub(super) then: Vec<Event>,
}

impl Prompts {
    /// The prompts that wait.
    pub(super) fn waiting(&self) -> Vec<QueueId> {
        self.queue.iter().map(|(id, _)| id.clone()).collect()
    }

    /// Has a prompt wait, behind the others.
    pub(super) fn add(&mut self, queue_id: QueueId, prompt: Vec<PromptBlock>, caller: Caller) -> Event {
        self.queue.push_back((queue_id.clone(), prompt.clone()));
        self.last_caller = Some(caller);
        Event::PromptQueued { queue_id, prompt }
    }

    /// Has a prompt wait before the others.
    pub(super) fn add_first(&mut self, queue_id: QueueId, prompt: Vec<PromptBlock>, caller: Caller) -> Vec<Event> {
        self.queue.push_front((queue_id.clone(), prompt.clone()));
        self.last_caller = Some(caller);
        let queued = Event::PromptQueued { queue_id, prompt };
        [queued].into_iter().chain(self.queued_again(1)).collect()
    }

    /// Gives a waiting prompt this place among the others. One that was said to the turn has none.
    ///
    /// # Errors
    /// None has this id.
    pub(super) fn move_to(&mut self, queue_id: &QueueId, to: usize) -> Result<Vec<Event>, Error> {
        let Some(place) = self.queue.iter().position(|(id, _)| id == queue_id) else {
            let is_said = self.interjections.iter().any(|(id, _)| id == queue_id);
            return if is_said { Ok(Vec::new()) } else { Err(Error::not_found("waiting prompt", queue_id)) };
        };
        let to = to.min(self.queue.len() - 1);
        if let Some(moved) = self.queue.remove(place) {
            self.queue.insert(to, moved);
        }
        Ok(if place == to { Vec::new() } else { self.queued_again(place.min(to)) })
    }

    /// The events by which whoever reads the log sees the prompts from this place on in their order.
    fn queued_again(&self, from: usize) -> Vec<Event> {
        let again = self.queue.iter().skip(from).cloned().flat_map(|(queue_id, prompt)| {
            [Event::PromptDequeued { queue_id: queue_id.clone() }, Event::PromptQueued { queue_id, prompt }]
        });
        again.collect()
    }

    /// Takes one out that waits, or was said to the turn and is not heard yet.
    ///
    /// # Errors
    /// None has this id.
    pub(super) fn remove(&mut self, queue_id: QueueId) -> Result<Event, Error> {
        self.makes_way &= self.queue.front().is_none_or(|(first, _)| *first != queue_id);
        let before = self.queue.len() + self.interjections.len();
        self.queue.retain(|(id, _)| *id != queue_id);
        self.interjections.retain(|(id, _)| *id != queue_id);
        if before == self.queue.len() + self.interjections.len() {
            return Err(Error::not_found("waiting prompt", &queue_id));
        }
        Ok(Event::PromptDequeued { queue_id })
    }

    /// Takes the first waiting prompt, if nothing runs and somebody is there to start it for.
    pub(super) fn take_next(&mut self) -> Option<(Caller, QueueId, Vec<PromptBlock>)> {
        if self.are_on() {
            return None;
        }
        self.makes_way = false;
        let caller = self.last_caller.clone()?;
        let (queue_id, prompt) = self.queue.pop_front()?;
        Some((caller, queue_id, prompt))
    }

    /// A word to the turn is ready. Gives whether the turn is there to hear it; else it waits as a prompt like any
    /// other.
    pub(super) fn steered(&mut self, turn: &TurnId, queue_id: QueueId, steer: Interjection) -> bool {
        let is_heard = self.turn() == Some(turn);
        if is_heard {
            self.interjections.push((queue_id, steer));
        } else {
            self.wait_first(queue_id, steer);
        }
        is_heard
    }

    /// Makes the interjections that the turn did not hear wait as prompts, before all others but the one that the turn
    /// has made way for. True if there were any.
    pub(super) fn wait_again(&mut self) -> bool {
        let unheard = std::mem::take(&mut self.interjections);
        let some = !unheard.is_empty();
        let first = if self.makes_way { self.queue.pop_front() } else { None };
        unheard.into_iter().rev().for_each(|(queue_id, interjection)| self.wait_first(queue_id, interjection));
        first.into_iter().for_each(|first| self.queue.push_front(first));
        some
    }

    /// The waiting prompt that a turn was made of waits no more, now that the turn is in the log.
    pub(super) fn dequeue_begun(&mut self) -> Option<Event> {
        let Sent { queue_id, .. } = self.turn.as_mut()?.sent.take()?;
        queue_id.map(|queue_id| Event::PromptDequeued { queue_id })
    }

    /// Has a prompt wait that did not become a turn, in the mode that it was sent in. Its slash commands may have been
    /// carried out by then, and would act on another turn the second time. `is_untitled` says whether the session still
    /// has no title.
    pub(super) fn keep_waiting(&mut self, sent: Sent, commands: &Commands, ids: &mut Ids, is_untitled: bool) -> Kept {
        let Sent { queue_id, prompt, mode } = sent;
        let (invocations, left) = commands.split(prompt.clone());
        // Those that are only text for the model can be tried again.
        let (for_model, invocations): (Vec<_>, Vec<_>) =
            invocations.into_iter().partition(Invocation::is_for_the_model);
        let for_model = for_model.into_iter().map(|it| PromptBlock::Text { text: it.text });
        let mut rest: Vec<_> = for_model.chain(left).collect();
        let mut kept = Kept { mode, ..Kept::default() };
        let has_waited = queue_id.is_some();
        if let Some(queue_id) = queue_id {
            if invocations.is_empty() {
                self.queue.push_front((queue_id, prompt));
                return Kept::default();
            }
            kept.first = Some(Event::PromptDequeued { queue_id });
        }
        let (mut leads_away, mut left) = (false, Vec::new());
        for invocation in invocations {
            let effects = invocation.effects.unwrap_or_default();
            match effects.mode {
                Some(chosen) => kept.mode = Some(chosen),
                None => {
                    leads_away |= effects.leads_away;
                    left.push(format!("`{}`", invocation.text));
                }
            }
        }
        if !left.is_empty() {
            let text = not_tried_again(&left, words(&rest).filter(|_| leads_away));
            kept.then.push(Event::Notice { severity: Severity::Warning, text });
        }
        if leads_away || !says_something(&rest) {
            return kept;
        }
        let title = is_untitled.then(|| agent::title::from_prompt(&rest)).flatten();
        kept.then.extend(title.map(|title| Event::TitleChanged { title }));
        // Text that stood behind a command is none of the user's own.
        commands::escape(&mut rest);
        let queue_id = QueueId::new(ids.next("queue"));
        kept.then.push(Event::PromptQueued { queue_id: queue_id.clone(), prompt: rest.clone() });
        if !has_waited {
            self.queue.push_back((queue_id, rest));
            return kept;
        }
        // It stood before the others, and whoever reads the log has to see it there.
        kept.then.extend(self.queued_again(0));
        self.queue.push_front((queue_id, rest));
        kept
    }

    fn wait_first(&mut self, queue_id: QueueId, interjection: Interjection) {
        if let Interjection::Steer { mut prompt, .. } = interjection {
            commands::escape(&mut prompt);
            self.queue.push_front((queue_id, prompt));
        }
    }
}

/// Returns the notice of commands that were broken off, and of words that were meant for another conversation.
fn not_tried_again(commands: &[String], elsewhere: Option<String>) -> String {
    let elsewhere = match elsewhere {
        Some(words) => format!(". What was meant for another conversation does not wait in this one: “{words}”"),
        None => String::new(),
    };
    format!(
        "A prompt was broken off before its turn began. Its commands may not have been carried out, and are not tried \
         again: {}{elsewhere}",
        commands.join(", ")
    )
}

/// The text of a prompt, if it has any.
fn words(prompt: &[PromptBlock]) -> Option<String> {
    let texts = prompt.iter().filter_map(|block| match block {
        PromptBlock::Text { text } => Some(text.trim()),
        _ => None,
    });
    Some(texts.collect::<Vec<_>>().join(" ")).filter(|words| !words.trim().is_empty())
}
