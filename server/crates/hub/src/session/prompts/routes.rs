//! The session's handling of the requests and messages about prompts and turns.

use std::sync::Arc;

use agent::commands;
use ports::session::{Answer, Interjection};
use protocol::session::Purpose;
use protocol::terminal::Done;
use protocol::turn::{
    StopReason, TurnCancelParams, TurnCancelResult, TurnQueueParams, TurnQueueResult, TurnRetryParams, TurnRetryResult,
    TurnSteerParams,
};
use protocol::{ErrorCode, Event, QueueId, ToolCallId, TurnId, methods};

use super::preparation::{GivenAnswer, Prepared};
use super::waiting::{Kept, Sent};
use super::{Message, Running, TurnEnd, is_a_record, prepare};
use crate::request::Handlers;
use crate::session::{Caller, Own, Session, gate};
use crate::{Error, Reply};

/// Registers the requests about prompts and turns.
pub(in crate::session) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .on::<methods::TurnStart>(Session::start_turn)
        .on::<methods::TurnSteer>(Session::steer)
        .at_once::<methods::TurnQueue>(Session::enqueue)
        .at_once::<methods::TurnPlan>(Session::set_plan)
        .at_once::<methods::TurnCancel>(Session::cancel)
        .at_once::<methods::TurnRetry>(Session::retry)
        .on::<methods::CompactionCorrect>(Session::correct_handover)
        .on::<methods::CompactionUndo>(Session::take_handover_back)
        .on::<methods::InlineInstruct>(Session::instruct)
        .on::<methods::PromptComplete>(Session::complete);
}

impl Session {
    /// Takes what comes back for the prompts.
    pub(in crate::session) fn prompts_message(&mut self, message: Message) {
        match message {
            Message::Prepared(prepared) => self.prepared(prepared),
            Message::Record(turn, event) => {
                // A turn that was interrupted says nothing more: its end is in the log already.
                if self.prompts.turn() == Some(&turn) {
                    self.record(event);
                }
            }
            Message::Stored(done) => self.when_stored(done),
            Message::Facts(reply) => drop(reply.send(self.state.facts())),
            Message::PlanNews(reply) => drop(reply.send(self.state.plan.news())),
            Message::Plan(reply) => drop(reply.send(self.state.plan.of_turn(self.prompts.turn()))),
            Message::Interjections(reply) => drop(reply.send(self.take_interjections())),
            Message::Ended(end) => self.turn_ended(end),
            Message::Steered(turn, queue_id, steer, reply) => self.steered(&turn, queue_id, steer, reply),
            Message::CommandEnded(end) => self.user_command_ended(end),
            Message::Titled(titled) => self.titled(titled),
            Message::GivenUp => {
                if self.prompts.give_up() {
                    let closed = self.gate.close_questions();
                    self.record_closed(closed);
                }
            }
        }
    }

    /// Goes on with a turn that ended while it asked, now that there is an answer.
    pub(in crate::session) fn resume_turn(&mut self, caller: Caller, call: Option<ToolCallId>, answer: Answer) {
        if self.prompts.turn().is_none() {
            let given = call.map(|call| GivenAnswer { call, answer });
            self.prepare_turn(caller, Vec::new(), None, given, None);
        }
    }

    /// Takes a prepared prompt, which waits while an undo changes files.
    pub(in crate::session) fn prepared(&mut self, prepared: Box<Prepared>) {
        if let Some(prepared) = self.undo.hold_prepared(prepared) {
            self.begin_turn(*prepared);
        }
    }

    /// Says something to the running turn.
    fn steer(&mut self, _: Caller, mut params: TurnSteerParams, reply: Reply<Done>) {
        if let Err(error) = self.prompts.expect(&params.expected_turn_id) {
            return drop(reply.send(Err(error)));
        }
        // It is kept as a waiting prompt until the turn has heard it, so that a crash does not lose it.
        let queue_id = QueueId::new(self.ids.next("queue"));
        // A prompt that is said to the model is no command, wherever it comes to wait.
        commands::escape(&mut params.prompt);
        self.record(Event::PromptQueued { queue_id: queue_id.clone(), prompt: params.prompt.clone() });
        commands::unescape(&mut params.prompt);
        let (own, reader, roots) =
            (self.work.own.clone(), Arc::clone(&self.reading.reader), Arc::clone(&self.reading.roots));
        let (rules, seen) = (self.gate.rules().get(), self.reading.seen.clone());
        self.work.begin();
        tokio::spawn(async move {
            let context = prepare::expand(&reader, &roots, &rules, &seen, prepare::mentions(&params.prompt)).await;
            let steer = Interjection::Steer { prompt: params.prompt, context };
            let _ = own.send(Own::Prompts(Message::Steered(params.expected_turn_id, queue_id, steer, reply)));
        });
    }

    /// A word to the turn is ready.
    fn steered(&mut self, turn: &TurnId, queue_id: QueueId, steer: Interjection, reply: Reply<Done>) {
        self.work.end();
        if !self.prompts.steered(turn, queue_id, steer) {
            // The files that it mentions are read again when it is sent.
            self.reading.seen.forget_differences();
            if self.prompts.went_well {
                self.next_in_queue();
            }
        }
        let _ = reply.send(Ok(Done {}));
    }

    /// Has a prompt wait, or takes out one that does.
    fn enqueue(&mut self, caller: Caller, params: TurnQueueParams) -> Result<TurnQueueResult, Error> {
        let added = match params {
            TurnQueueParams::Add { .. } if self.state.purpose == Purpose::Suggestions => return Err(is_a_record()),
            TurnQueueParams::Add { prompt, .. } => {
                let queue_id = QueueId::new(self.ids.next("queue"));
                let queued = self.prompts.add(queue_id.clone(), prompt, caller);
                self.record(queued);
                self.next_in_queue();
                Some(queue_id)
            }
            TurnQueueParams::Now { .. } if self.state.purpose == Purpose::Suggestions => return Err(is_a_record()),
            TurnQueueParams::Now { prompt, .. } => {
                let queue_id = QueueId::new(self.ids.next("queue"));
                let queued = self.prompts.add_first(queue_id.clone(), prompt, caller);
                self.record_all(queued);
                self.break_off();
                Some(queue_id)
            }
            TurnQueueParams::Move { queue_id, to, .. } => {
                let moved = self.prompts.move_to(&queue_id, to)?;
                self.record_all(moved);
                None
            }
            TurnQueueParams::Remove { queue_id, .. } => {
                self.reading.seen.forget_differences();
                let dequeued = self.prompts.remove(queue_id)?;
                self.record(dequeued);
                None
            }
        };
        Ok(TurnQueueResult { queue: self.prompts.waiting(), added })
    }

    /// Starts the first waiting prompt, if nothing runs, no undo changes files, and somebody is there.
    pub(in crate::session) fn next_in_queue(&mut self) {
        if self.undo.hold_next() {
            return;
        }
        while let Some((caller, queue_id, prompt)) = self.prompts.take_next() {
            if let Some(command) = commands::user_command(&prompt) {
                self.run_queued(caller, command);
                self.record(Event::PromptDequeued { queue_id });
                continue;
            }
            self.prepare_turn(caller, prompt.clone(), None, None, None);
            self.prompts.made_of(Sent { queue_id: Some(queue_id), prompt, mode: None });
            return;
        }
    }

    /// Has what runs make way for the first prompt that waits; without anything it starts.
    fn break_off(&mut self) {
        if self.prompts.turn().is_some() {
            let closed = self.gate.close_questions();
            self.record_closed(closed);
        }
        if !self.prompts.make_way() {
            self.next_in_queue();
        }
    }

    /// Cancels the turn, or else the user's own command.
    fn cancel(&mut self, _: Caller, params: TurnCancelParams) -> Result<TurnCancelResult, Error> {
        let is_turn = self.prompts.cancel(params.turn_id.as_ref())?;
        if is_turn {
            let closed = self.gate.close_questions();
            self.record_closed(closed);
        }
        let stops = !is_turn && params.turn_id.is_none() && self.prompts.cancel_command();
        Ok(TurnCancelResult { cancelled: is_turn || stops })
    }

    /// Has the turn try its request to the model again now.
    fn retry(&mut self, _: Caller, params: TurnRetryParams) -> Result<TurnRetryResult, Error> {
        Ok(TurnRetryResult { retried: self.prompts.retry(params.turn_id.as_ref())? })
    }

    /// Breaks the turn off where it stands, as a crash would: its questions stay, and it can be gone on with. A prompt
    /// that is still being made ready waits, unless its sender is there to send it again: a window of another process.
    pub(in crate::session) fn interrupt_turn(&mut self) {
        let Some(Running { home, sent, next, report, .. }) = self.prompts.interrupt() else { return };
        self.gate.turn_ended(&self.config, self.state.mode);
        self.edits.problems().end();
        self.gate.leave_questions();
        let is_told = home.is_attached && self.clients.follower(home.id).is_some();
        if let Some(sent) = sent.filter(|sent| sent.queue_id.is_some() || !is_told) {
            self.keep_waiting(sent);
        }
        for (_, _, reply) in next {
            let text = "the turn before was broken off at that moment; send the prompt again";
            let _ = reply.send(Err(Error::new(ErrorCode::OperationFailed, text)));
        }
        if let Some(turn) = &self.state.open_turn {
            self.record(turn.interrupted());
        }
        self.report_end(report, StopReason::Interrupted, None);
        self.wait_again();
        self.unheard();
        // A command of the user's own is none of the turn's.
        self.terminals.end_commands(!self.prompts.runs_command());
    }

    fn turn_ended(&mut self, end: TurnEnd) {
        let Some(running) = self.prompts.end(&end.turn) else { return };
        let Running { sent, next, report, only_compacts, .. } = running;
        self.gate.turn_ended(&self.config, self.state.mode);
        if !only_compacts {
            self.edits.problems().end();
            let closed = self.gate.close_questions();
            self.record_closed(closed);
        }
        // A turn records its own end; one that panicked could not.
        let fault =
            "a fault in Azimuth ended the turn; its log says more. The session is unharmed: go on, or ask again";
        if let Some(turn) = &self.state.open_turn {
            self.record(turn.broken_off(StopReason::Error, fault));
        }
        let (stop, error) = match &end.outcome {
            Some(outcome) => (outcome.stop, outcome.error.clone()),
            None => (StopReason::Error, Some(fault.to_owned())),
        };
        self.report_end(report, stop, error);
        self.wait_again();
        self.look_after_turn(&end.turn);
        self.note();
        if let Some(sent) = sent.filter(|sent| sent.queue_id.is_some()) {
            self.keep_waiting(sent);
        }
        // After a cancel or a failure the user is to decide what happens to what waits.
        let went_well = end.outcome.is_some_and(|outcome| outcome.stop == StopReason::EndTurn);
        self.prompts.went_well = went_well || self.prompts.makes_way;
        if self.prompts.went_well {
            self.next_in_queue();
        } else {
            self.unheard();
        }
        next.into_iter().for_each(|start| self.start(start));
    }

    /// Takes the interjections, then the results of the user's own commands, and then the news of the turn's edits. All
    /// is in the log before the turn hears it.
    fn take_interjections(&mut self) -> Vec<Interjection> {
        let (events, mut heard) = self.prompts.take_interjections();
        self.record_all(events);
        // The results of the user's commands since the turn began that its model has not heard.
        for text in self.state.history.untold_commands().to_vec() {
            if let Some(turn_id) = self.prompts.turn().cloned() {
                self.record(Event::Noted { turn_id, text: text.clone() });
                heard.push(Interjection::Note { text, wants_answer: false });
            }
        }
        if let Some(text) = self.prompts.turn().cloned().and_then(|turn| self.note_plan(&turn)) {
            heard.push(Interjection::Note { text, wants_answer: false });
        }
        let notes = self.note().into_iter();
        heard.extend(notes.map(|note| Interjection::Note { text: note.text, wants_answer: note.has_word }));
        heard
    }

    /// Has a prompt wait that did not become a turn.
    fn keep_waiting(&mut self, sent: Sent) {
        let (commands, is_untitled) = (self.reading.commands.now(), self.state.title.is_empty());
        let Kept { first, mode, then } = self.prompts.keep_waiting(sent, &commands, &mut self.ids, is_untitled);
        self.record_all(first);
        if let Some(mode) = mode
            && gate::refused(&self.config, mode, self.state.mode.needs_confirmation()).is_none()
        {
            self.enter(mode);
        }
        self.record_all(then);
    }

    /// Makes the interjections that the turn did not hear wait as prompts.
    fn wait_again(&mut self) {
        if self.prompts.wait_again() {
            self.reading.seen.forget_differences();
        }
    }

    /// Tells the model again what it was told last, since that may not have reached it, or is no part of what it sees.
    fn unheard(&mut self) {
        self.reading.seen.forget_differences();
        self.tell_unheard(None);
    }
}
