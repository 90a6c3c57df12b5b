//! Prompts that wait: those that were queued, what was said to a turn that did not come to hear it, and those that were
//! sent and did not become a turn.

use std::sync::Arc;

use agent::commands::Command;
use agent::session::Interjection;
use agent::user_command;
use protocol::event::Severity;
use protocol::session::Mode;
use protocol::terminal::Done;
use protocol::turn::{TurnQueueParams, TurnQueueResult, TurnSteerParams};
use protocol::{ErrorCode, Event, PromptBlock, QueueId, TurnId};
use serde_json::json;

use super::{Caller, Own, Session, gate, prepare};
use crate::hub::{Error, Reply};

/// The prompt that a turn is to be made of.
pub(super) struct Sent {
    /// What it waited as; none where it did not wait.
    pub(super) queue_id: Option<QueueId>,
    pub(super) prompt: Vec<PromptBlock>,
    /// The mode that was chosen with it.
    pub(super) mode: Option<Mode>,
}

impl Session {
    pub(super) fn steer(&mut self, mut params: TurnSteerParams, reply: Reply<Done>) {
        let running = self.turn.as_ref().map(|turn| turn.id.clone());
        if running.as_ref() != Some(&params.expected_turn_id) {
            let text = format!("turn {} is not running; send the text as a prompt", params.expected_turn_id);
            let _ = reply.send(Err(Error::new(ErrorCode::WrongTurn, text).with_data(json!({ "turnId": running }))));
            return;
        }
        // It is kept as a waiting prompt until the turn has heard it, so that a crash does not lose it.
        let queue_id = QueueId::new(self.new_id("queue"));
        // What is said to the model is no command, wherever it comes to wait.
        user_command::escape(&mut params.prompt);
        self.record(Event::PromptQueued { queue_id: queue_id.clone(), prompt: params.prompt.clone() });
        user_command::unescape(&mut params.prompt);
        let (own, reader, roots) =
            (self.own.clone(), Arc::clone(&self.reading.reader), Arc::clone(&self.reading.roots));
        let (rules, seen) = (self.gate.rules().get(), self.reading.seen.clone());
        self.begun += 1;
        tokio::spawn(async move {
            let context = prepare::expand(&reader, &roots, &rules, &seen, &params.prompt).await;
            let steer = Interjection::Steer { prompt: params.prompt, context };
            let _ = own.send(Own::Steered(params.expected_turn_id, queue_id, steer, reply));
        });
    }

    /// A word to the turn is ready. Where the turn ended meanwhile, it waits as a prompt like any other.
    pub(super) fn steered(&mut self, turn: &TurnId, queue_id: QueueId, steer: Interjection, reply: Reply<Done>) {
        self.begun -= 1;
        if self.turn.as_ref().is_some_and(|running| running.id == *turn) {
            self.interjections.push((queue_id, steer));
        } else if let Interjection::Steer { mut prompt, .. } = steer {
            // What it mentions is read again when it is sent.
            self.reading.seen.forget_differences();
            user_command::escape(&mut prompt);
            self.queue.push_front((queue_id, prompt));
            if self.went_well {
                self.next_in_queue();
            }
        }
        let _ = reply.send(Ok(Done {}));
    }

    pub(super) fn enqueue(&mut self, caller: Caller, params: TurnQueueParams) -> Result<TurnQueueResult, Error> {
        let added = match params {
            TurnQueueParams::Add { prompt, .. } => {
                let queue_id = QueueId::new(self.new_id("queue"));
                self.record(Event::PromptQueued { queue_id: queue_id.clone(), prompt: prompt.clone() });
                self.queue.push_back((queue_id.clone(), prompt));
                self.last_caller = Some(caller);
                self.next_in_queue();
                Some(queue_id)
            }
            TurnQueueParams::Remove { queue_id, .. } => {
                let before = self.queue.len() + self.interjections.len();
                self.queue.retain(|(id, _)| *id != queue_id);
                self.interjections.retain(|(id, _)| *id != queue_id);
                self.reading.seen.forget_differences();
                if before == self.queue.len() + self.interjections.len() {
                    return Err(Error::not_found("waiting prompt", &queue_id));
                }
                self.record(Event::PromptDequeued { queue_id });
                None
            }
        };
        Ok(TurnQueueResult { queue: self.queue.iter().map(|(id, _)| id.clone()).collect(), added })
    }

    /// Starts the first waiting prompt, if nothing runs and somebody is there.
    pub(super) fn next_in_queue(&mut self) {
        if self.turn.is_some() || self.user_command.is_some() {
            return;
        }
        let Some(caller) = self.last_caller.clone() else { return };
        let Some((queue_id, prompt)) = self.queue.pop_front() else { return };
        if let Some(command) = user_command::parse(&prompt) {
            self.run_queued(caller, command);
            self.record(Event::PromptDequeued { queue_id });
            return self.next_in_queue();
        }
        self.prepare_turn(caller, prompt.clone(), None, None, None);
        if let Some(turn) = &mut self.turn {
            turn.sent = Some(Sent { queue_id: Some(queue_id), prompt, mode: None });
        }
    }

    /// The waiting prompt that a turn was made of waits no more, now that the turn is in the log.
    pub(super) fn dequeue_begun(&mut self) {
        let Some(turn) = &mut self.turn else { return };
        if let Some(Sent { queue_id: Some(queue_id), .. }) = turn.sent.take() {
            self.record(Event::PromptDequeued { queue_id });
        }
    }

    /// Has a prompt wait that did not become a turn, in the mode that it was sent in. Its slash commands may have been
    /// carried out by then, and would act on another turn the second time.
    pub(super) fn keep_waiting(&mut self, sent: Sent) {
        let Sent { queue_id, prompt, mode } = sent;
        let (invocations, mut rest) = prepare::split(prompt.clone());
        let has_waited = queue_id.is_some();
        if let Some(queue_id) = queue_id {
            if invocations.is_empty() {
                return self.queue.push_front((queue_id, prompt));
            }
            self.record(Event::PromptDequeued { queue_id });
        }
        let (mut mode, mut leads_away, mut left) = (mode, false, Vec::new());
        for invocation in invocations {
            match invocation.command {
                Ok(Command::Mode(Some(chosen))) => mode = Some(chosen),
                command => {
                    leads_away |= matches!(command, Ok(Command::New | Command::Resume(_)));
                    left.push(format!("`{}`", invocation.text));
                }
            }
        }
        if let Some(mode) = mode
            && gate::refused(&self.config, mode, self.state.mode == Mode::Bypass).is_none()
        {
            self.enter(mode);
        }
        if !left.is_empty() {
            let elsewhere = match words(&rest).filter(|_| leads_away) {
                Some(words) => {
                    format!(". What was meant for another conversation does not wait in this one: “{words}”")
                }
                None => String::new(),
            };
            let text = format!(
                "A prompt was broken off before its turn began. Its commands may not have been carried out, and are not \
                 tried again: {}{elsewhere}",
                left.join(", ")
            );
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        if leads_away || !prepare::says_something(&rest) {
            return;
        }
        if self.state.title.is_empty()
            && let Some(title) = agent::title::from_prompt(&rest)
        {
            self.record(Event::TitleChanged { title });
        }
        // What stood behind a command is none of the user's own.
        user_command::escape(&mut rest);
        let queue_id = QueueId::new(self.new_id("queue"));
        self.record(Event::PromptQueued { queue_id: queue_id.clone(), prompt: rest.clone() });
        if !has_waited {
            return self.queue.push_back((queue_id, rest));
        }
        // It stood before the others, and whoever reads the log has to see it there.
        for (queue_id, prompt) in self.queue.clone() {
            self.record(Event::PromptDequeued { queue_id: queue_id.clone() });
            self.record(Event::PromptQueued { queue_id, prompt });
        }
        self.queue.push_front((queue_id, rest));
    }

    /// What the turn did not come to hear waits as a prompt, before all others.
    pub(super) fn wait_again(&mut self) {
        for (queue_id, interjection) in std::mem::take(&mut self.interjections).into_iter().rev() {
            if let Interjection::Steer { mut prompt, .. } = interjection {
                self.reading.seen.forget_differences();
                user_command::escape(&mut prompt);
                self.queue.push_front((queue_id, prompt));
            }
        }
    }

    /// What the model was told last may not have reached it, or is no part of what it sees: it is told again.
    pub(super) fn unheard(&mut self) {
        self.reading.seen.forget_differences();
        self.tell_unheard(None);
    }
}

/// The text of a prompt, if it has any.
fn words(prompt: &[PromptBlock]) -> Option<String> {
    let texts = prompt.iter().filter_map(|block| match block {
        PromptBlock::Text { text } => Some(text.trim()),
        _ => None,
    });
    Some(texts.collect::<Vec<_>>().join(" ")).filter(|words| !words.trim().is_empty())
}
