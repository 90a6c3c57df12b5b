//! Turns: from a prompt that is ready to the turn's end, and what is said to it meanwhile.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use agent::edit::EditForm;
use agent::session::{Answer, Interjection};
use agent::turn::{Limits, TurnContext, TurnOutcome};
use agent::user_command;
use futures_util::FutureExt;
use protocol::event::Severity;
use protocol::permission::PermissionRequest;
use protocol::session::Mode;
use protocol::turn::{StopReason, TurnCancelParams, TurnCancelResult, TurnStartParams, TurnStartResult};
use protocol::{ErrorCode, Event, PromptBlock, ToolCallId, TurnId};
use serde_json::json;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use super::permissions;
use super::port::{Port, TurnMessage};
use super::prepare::{self, GivenAnswer, Preparation, Prepared};
use super::trusting::Asking;
use super::waiting::Sent;
use super::{Caller, Own, Question, Session};
use crate::hub::{Error, Reply};

/// The turn that runs, or is about to.
pub(super) struct Running {
    pub(super) id: TurnId,
    /// The client whose unsaved texts it works on.
    pub(super) home: Caller,
    cancel: CancellationToken,
    /// The prompt that it is made of, until it has begun.
    pub(super) sent: Option<Sent>,
    /// Whether it asks nothing: the mode that it began in.
    bypasses: bool,
    /// Whether it began in mode `plan`.
    pub(super) plans: bool,
    /// Its task, once it has one.
    task: Option<AbortHandle>,
    /// The prompts that came when it had said its end, and its task was about to end.
    next: Vec<(Caller, TurnStartParams, Reply<TurnStartResult>)>,
}

/// How a turn's task ended.
pub(super) struct TurnEnd {
    turn: TurnId,
    /// None where it panicked.
    outcome: Option<TurnOutcome>,
}

impl Session {
    pub(super) fn start_turn(&mut self, caller: Caller, params: TurnStartParams, reply: Reply<TurnStartResult>) {
        if let Some(command) = user_command::parse(&params.prompt) {
            return self.start_user_command(caller, command, reply);
        }
        if let Some(turn) = &mut self.turn {
            // Whoever was told of the end may go on at once.
            if turn.task.is_some() && self.state.open_turn.is_none() {
                turn.next.push((caller, params, reply));
                return;
            }
            let text = "a turn is running in this session: steer it, queue the prompt, or cancel it";
            let error = Error::new(ErrorCode::TurnRunning, text).with_data(json!({ "turnId": turn.id }));
            let _ = reply.send(Err(error));
            return;
        }
        // A prompt alone confirms nothing.
        if let Some(mode) = params.mode
            && let Some(error) = permissions::refused(&self.config, mode, self.state.mode == Mode::Bypass)
        {
            return drop(reply.send(Err(error)));
        }
        self.prepare_turn(caller, params.prompt.clone(), params.mode, None, Some(reply));
        if let Some(turn) = &mut self.turn {
            let sent = Sent { queue_id: None, prompt: params.prompt, mode: params.mode };
            turn.sent = Some(sent).filter(|sent| !sent.prompt.is_empty());
        }
    }

    /// Whether a prompt is being made ready.
    pub(super) fn is_preparing(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.task.is_none())
    }

    /// Whether the running turn began in mode `bypass`.
    pub(super) fn turn_bypasses(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.bypasses)
    }

    /// Goes on with a turn that ended while it asked, now that there is an answer.
    pub(super) fn resume_turn(&mut self, caller: Caller, call: Option<ToolCallId>, answer: Answer) {
        if self.turn.is_none() {
            let given = call.map(|call| GivenAnswer { call, answer });
            self.prepare_turn(caller, Vec::new(), None, given, None);
        }
    }

    /// Begins to make a turn of a prompt; it comes back as [`Own::Prepared`].
    pub(super) fn prepare_turn(
        &mut self,
        caller: Caller,
        mut prompt: Vec<PromptBlock>,
        mode: Option<Mode>,
        given: Option<GivenAnswer>,
        reply: Option<Reply<TurnStartResult>>,
    ) {
        user_command::unescape(&mut prompt);
        self.last_caller = Some(caller.clone());
        self.set_home(Some(caller.clone()));
        let id = TurnId::new(self.new_id("turn"));
        let cancel = CancellationToken::new();
        let home = caller.clone();
        self.turn = Some(Running {
            id: id.clone(),
            home,
            cancel,
            sent: None,
            bypasses: false,
            plans: false,
            task: None,
            next: Vec::new(),
        });
        let preparation = Preparation {
            shared: self.shared.clone(),
            config: Arc::clone(&self.config),
            roots: Arc::clone(&self.reading.roots),
            tools: self.reading.tools.clone(),
            hooks: self.reading.hooks.clone(),
            shell: Arc::clone(self.terminals.shell()),
            info: self.info(),
            unpriced: self.state.unpriced.clone(),
            accept_edits: self.state.accept_edits,
            said: self.accepting.said(),
            grants_changed: self.grants.changed(),
            reader: self.reading.reader.clone(),
            seen: self.reading.seen.clone(),
            rules: self.rules_in_force(),
            trust: self.trust.clone(),
            caller,
            turn: id,
            prompt,
            mode,
            given,
            reply,
        };
        let (own, turn) = (self.own.clone(), preparation.turn.clone());
        tokio::spawn(async move {
            let _ = own.send(match AssertUnwindSafe(prepare::prepare(preparation)).catch_unwind().await {
                Ok(prepared) => Own::Prepared(Box::new(prepared)),
                Err(_) => Own::TurnEnded(TurnEnd { turn, outcome: None }),
            });
        });
    }

    /// Takes a prepared prompt: its slash commands took effect, and the rest, if any, becomes a turn.
    pub(super) fn begin_turn(&mut self, prepared: Prepared) {
        if self.turn.as_ref().is_none_or(|turn| turn.id != prepared.id) {
            return self.prepared_in_vain(prepared);
        }
        for event in prepared.events {
            self.record(event);
        }
        // `bypass` may have been left, or forbidden, while the prompt was made ready.
        let is_confirmed = prepared.confirmed || self.state.mode == Mode::Bypass;
        let is_refused = permissions::refused(&self.config, prepared.mode, is_confirmed).is_some();
        let mode = if is_refused { self.state.mode } else { prepared.mode };
        if prepared.chose_mode {
            self.enter(mode);
        }
        let Some(turn) = prepared.turn else {
            self.dequeue_begun();
            self.turn = None;
            let log = self.log.clone();
            tokio::spawn(async move {
                // With nothing to wait for, what the commands came to should be there when the answer is.
                log.flush().await;
                if let Some(reply) = prepared.reply {
                    let _ = reply.send(Ok(TurnStartResult { turn_id: None, switch_to: prepared.switch_to }));
                }
            });
            return self.next_in_queue();
        };
        if let Some((on, said)) = turn.always {
            self.always_read(on, said);
        }
        if let Some((rules, changed)) = turn.grants {
            self.grants_read(rules, changed);
        }
        if prepared.given.is_none() {
            self.close_questions();
        }
        if self.state.title.is_empty()
            && let Some(title) = turn.title
        {
            self.record(Event::TitleChanged { title });
            self.ask_for_title(&turn.prompt);
        }
        let id = prepared.id;
        let (model, failure) = match turn.model {
            Ok(model) => (Some(model), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(model) = &model
            && self.state.model.as_deref() != Some(model.info().id.as_str())
        {
            let (id, scripted) = (model.info().id.clone(), model.info().scripted);
            self.record(Event::ModelChanged { model: id, scripted });
        }
        self.record(Event::TurnStarted {
            turn_id: id.clone(),
            prompt: turn.prompt,
            context: turn.context,
            model: model.as_ref().map_or_else(String::new, |model| model.info().id.clone()),
            mode,
        });
        self.tell_of_rules(turn.rules_left_out);
        if let Some(running) = &mut self.turn {
            running.bypasses = mode == Mode::Bypass;
            running.plans = mode == Mode::Plan;
        }
        self.dequeue_begun();
        self.problems.begin();
        self.follow_turn(&id);
        self.given = prepared.given;
        self.reading.tags.set(turn.form == EditForm::Hashline);
        let word = self.turn.as_ref().map(|turn| turn.home.trust.clone());
        let asking = word.and_then(|word| self.asking(word));
        let tools = turn.offered.iter().filter(|_| self.config.intercept_commands).map(|tool| tool.name.clone());
        self.reading.intercept.set(tools);
        match (model, &mut self.turn) {
            (Some(model), Some(running)) => {
                let word = running.home.trust.clone();
                let port = Arc::new(Port {
                    session: self.id.clone(),
                    turn: id.clone(),
                    own: self.own.clone(),
                    rules: Arc::clone(&self.rules),
                    results: self.reading.results.clone(),
                    problems: self.problems.clone(),
                    trust: (self.trust.clone(), word),
                    sandboxed: self.terminals.is_sandboxed(),
                    questions: AtomicU64::new(0),
                });
                let context = TurnContext {
                    session_id: self.id.clone(),
                    turn_id: id.clone(),
                    folders: self.reading.roots.iter().map(|root| root.path.clone()).collect(),
                    thinking_tokens: None,
                    stop_early: self.config.stop_early,
                    file_blocks: turn.file_mark,
                    canonical_edits: self.config.canonical_edits,
                    mend_errors: self.config.mend_errors,
                    model,
                    tools: self.reading.tools.clone(),
                    hooks: self.reading.hooks.clone(),
                    mode,
                    system: turn.system,
                    offered: turn.offered,
                    history: self.state.history.clone(),
                    session: Arc::clone(&port) as _,
                    cancel: running.cancel.clone(),
                    answered: self.given.as_ref().map(|given| given.call.clone()),
                    limits: Limits::default(),
                };
                running.task = Some(spawn(context, port, asking, self.own.clone()));
            }
            _ => {
                let error = failure.map_or_else(|| "it could not begin".into(), |error| error.message);
                if let Some(turn) = &self.state.open_turn {
                    self.record(turn.broken_off(StopReason::Error, &error));
                }
                self.turn = None;
            }
        }
        if let Some(reply) = prepared.reply {
            let _ = reply.send(Ok(TurnStartResult { turn_id: Some(id), switch_to: prepared.switch_to }));
        }
    }
}

impl Session {
    fn prepared_in_vain(&mut self, prepared: Prepared) {
        // What it mentions was told to no model.
        self.reading.seen.forget_differences();
        let text = "the turn was interrupted before it began; unless its prompt waits in the session, send it again";
        if let Some(reply) = prepared.reply {
            let _ = reply.send(Err(Error::new(ErrorCode::RequestCancelled, text)));
        }
    }

    /// Tells the user which rules the model does not have, once in a session.
    fn tell_of_rules(&mut self, left_out: Vec<String>) {
        for text in left_out {
            if !self.state.warned.contains(&text) {
                self.record(Event::Notice { severity: Severity::Warning, text });
            }
        }
    }

    /// What the running turn asks for.
    pub(super) fn turn_message(&mut self, message: TurnMessage) {
        match message {
            TurnMessage::Record(turn, event) => {
                // A turn that was interrupted says nothing more: its end is in the log already.
                if self.turn.as_ref().is_some_and(|running| running.id == turn) {
                    if matches!(event, Event::ContextTrimmed { .. }) {
                        self.reading.seen.forget_differences();
                    }
                    self.record(event);
                }
            }
            TurnMessage::Ask(turn_id, request, reply) => {
                if self.turn.as_ref().is_none_or(|running| running.id != turn_id || running.cancel.is_cancelled()) {
                    let _ = reply.send(Answer::Cancelled);
                    return;
                }
                if let Some(answer) = self.given_answer(&request) {
                    let _ = reply.send(answer);
                    return;
                }
                self.record(Event::PermissionAsked { turn_id, request: request.clone() });
                let id = request.permission_id.clone();
                self.questions.insert(id, Question { request, waiting: Some(reply) });
            }
            TurnMessage::Grant(rule, scope, done) => self.grant(rule, scope, done),
            TurnMessage::Stored(done) => {
                let log = self.log.clone();
                tokio::spawn(async move {
                    log.flush().await;
                    let _ = done.send(());
                });
            }
            TurnMessage::Proposed(call, reply) => {
                let _ = reply.send(self.proposed(&call));
            }
            TurnMessage::Propose(call, plan, reply) => self.propose(call, plan, reply),
            TurnMessage::Unsettled(reply) => self.unsettled(reply),
            TurnMessage::AcceptAll(done) => self.accept_all(done),
            TurnMessage::Save { own, done } => self.save(own, done),
            TurnMessage::BeforeCommand(reply) => self.before_command(reply),
            TurnMessage::AfterCommand(turn, call, reply) => self.after_command(turn, call, reply),
            TurnMessage::Interjections(reply) => {
                let heard = self.take_interjections();
                let _ = reply.send(heard);
            }
        }
    }

    /// The answer to a question that an earlier turn asked, if it was answered since and is the same question still.
    fn given_answer(&mut self, request: &PermissionRequest) -> Option<Answer> {
        let given = self.given.take_if(|given| request.tool_call_id.as_ref() == Some(&given.call))?;
        let Answer::Selected { option_id, .. } = &given.answer else { return None };
        let is_option = request.options.iter().any(|option| option.option_id == *option_id);
        is_option.then_some(given.answer)
    }

    /// What was said to the turn, then what the user's own commands came to, and then what became of its edits. All is
    /// in the log before the turn hears it.
    fn take_interjections(&mut self) -> Vec<Interjection> {
        let mut heard = Vec::new();
        for (queue_id, interjection) in std::mem::take(&mut self.interjections) {
            if let (Interjection::Steer { prompt, context }, Some(turn)) = (&interjection, &self.turn) {
                let (turn_id, prompt, context) = (turn.id.clone(), prompt.clone(), context.clone());
                self.record(Event::Steered { turn_id, prompt, context });
            }
            self.record(Event::PromptDequeued { queue_id });
            heard.push(interjection);
        }
        for text in self.untold_commands() {
            if let Some(turn) = &self.turn {
                self.record(Event::Noted { turn_id: turn.id.clone(), text: text.clone() });
                heard.push(Interjection::Note { text, wants_answer: false });
            }
        }
        let notes = self.note().into_iter();
        heard.extend(notes.map(|note| Interjection::Note { text: note.text, wants_answer: note.has_word }));
        heard
    }

    /// What grants are kept under: the session's first folder.
    pub(super) fn project(&self) -> String {
        self.state.folders.first().cloned().unwrap_or_default()
    }

    pub(super) fn cancel(&mut self, params: &TurnCancelParams) -> Result<TurnCancelResult, Error> {
        let running = self.turn.as_ref().map(|turn| turn.id.clone());
        if let Some(wanted) = &params.turn_id
            && running.is_some()
            && running.as_ref() != Some(wanted)
        {
            let text = format!("turn {wanted} is not the one that runs");
            return Err(Error::new(ErrorCode::WrongTurn, text).with_data(json!({ "turnId": running })));
        }
        if let Some(turn) = &self.turn {
            turn.cancel.cancel();
            self.close_questions();
        }
        let stops = running.is_none() && params.turn_id.is_none() && self.cancel_user_command();
        Ok(TurnCancelResult { cancelled: running.is_some() || stops })
    }

    /// Breaks the turn off where it stands, as a crash would: its questions stay, and it can be gone on with. A prompt
    /// that is still being made ready waits, unless its sender is there to send it again: a window of another process.
    pub(super) fn interrupt_turn(&mut self) {
        let Some(turn) = self.turn.take() else { return };
        self.set_rules();
        self.problems.end();
        turn.cancel.cancel();
        if let Some(task) = turn.task {
            task.abort();
        }
        for question in self.questions.values_mut() {
            question.waiting = None;
        }
        let is_told = turn.home.is_attached && self.followers.contains_key(&turn.home.id);
        if let Some(sent) = turn.sent.filter(|sent| sent.queue_id.is_some() || !is_told) {
            self.keep_waiting(sent);
        }
        for (_, _, reply) in turn.next {
            let text = "the turn before was broken off at that moment; send the prompt again";
            let _ = reply.send(Err(Error::new(ErrorCode::OperationFailed, text)));
        }
        self.went_well = false;
        if let Some(turn) = &self.state.open_turn {
            self.record(turn.interrupted());
        }
        self.wait_again();
        self.unheard();
        // A command of the user's own is none of the turn's.
        self.terminals.end_commands(self.user_command.is_none());
    }

    pub(super) fn turn_ended(&mut self, end: TurnEnd) {
        if self.turn.as_ref().is_none_or(|running| running.id != end.turn) {
            return;
        }
        let Some(Running { sent, next, .. }) = self.turn.take() else { return };
        self.set_rules();
        self.problems.end();
        self.close_questions();
        // A turn records its own end; one that panicked could not.
        if let Some(turn) = &self.state.open_turn {
            let error =
                "a fault in Azimuth ended the turn; its log says more. The session is unharmed: go on, or ask again";
            self.record(turn.broken_off(StopReason::Error, error));
        }
        self.wait_again();
        self.look_after_turn(&end.turn);
        self.note();
        if let Some(sent) = sent.filter(|sent| sent.queue_id.is_some()) {
            self.keep_waiting(sent);
        }
        // After a cancel or a failure the user is to decide what happens to what waits.
        self.went_well = end.outcome.is_some_and(|outcome| outcome.stop == StopReason::EndTurn);
        if self.went_well {
            self.next_in_queue();
        } else {
            self.unheard();
        }
        for (caller, params, reply) in next {
            self.start_turn(caller, params, reply);
        }
    }
}

/// Runs a turn in a task of its own, once it is known whether the workspace is trusted. A panic ends the turn, not the
/// session.
fn spawn(
    context: TurnContext,
    port: Arc<Port>,
    asking: Option<Asking>,
    own: tokio::sync::mpsc::UnboundedSender<Own>,
) -> AbortHandle {
    let turn = context.turn_id.clone();
    let task = tokio::spawn(async move {
        let run = async {
            if let Some(asking) = asking {
                asking.ask(&port).await;
            }
            agent::turn::run(context).await
        };
        let outcome = AssertUnwindSafe(run).catch_unwind().await.ok();
        let _ = own.send(Own::TurnEnded(TurnEnd { turn, outcome }));
    });
    task.abort_handle()
}
