//! From a prompt that was sent to a turn that runs: what it needs is made ready beside the session's task, which keeps
//! the text; the turn begins in the log, and then runs in a task of its own.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use agent::commands::built_in::{BuiltIn, Context};
use agent::commands::{self, Commands, says_something};
use agent::turn::{Limits, RetryPolicy, TurnContext};
use futures_util::FutureExt;
use ports::edit::EditForm;
use protocol::event::Severity;
use protocol::model::{ModelInfo, ThinkingLevel, Thinks};
use protocol::session::{Budget, Mode, Purpose};
use protocol::turn::{StopReason, TurnQueueParams, TurnStartParams, TurnStartResult};
use protocol::{ErrorCode, Event, PromptBlock, SessionId, TurnId, methods};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::port::Port;
use super::preparation::{GivenAnswer, NewTurn, Preparation, Prepared, post_as};
use super::waiting::Sent;
use super::{Message, Running, Said, Start, TurnEnd, is_a_record, prepare};
use crate::budget::Budget as Spending;
use crate::instruction::Instruction;
use crate::post::{Report, Shared};
use crate::session::gate::{self, Asking};
use crate::session::{Caller, Own, Session, model_changed};
use crate::trust::Word;
use crate::{Error, Reply, Request};

/// A prompt of which a turn is to be made.
#[derive(Default)]
struct NewPrompt {
    prompt: Vec<PromptBlock>,
    /// The slash commands that count in it.
    commands: Commands,
    mode: Option<Mode>,
    instruction: Option<Box<Instruction>>,
    /// True if its sender is to see the session from the turn on.
    is_followed: bool,
    given: Option<GivenAnswer>,
    reply: Option<Reply<TurnStartResult>>,
}

impl Session {
    /// Makes a turn of a prompt, or runs it if it is a command of the user's own.
    pub(super) fn start_turn(&mut self, caller: Caller, params: TurnStartParams, reply: Reply<TurnStartResult>) {
        match commands::user_command(&params.prompt) {
            Some(command) => self.start_user_command(caller, command, reply),
            None => self.start((caller, Said::Prompt(params), reply)),
        }
    }

    /// Makes a turn of what was sent, unless one runs.
    pub(super) fn start(&mut self, start: Start) {
        if self.state.purpose == Purpose::Suggestions {
            return drop(start.2.send(Err(is_a_record())));
        }
        let has_said_its_end = self.state.open_turn.is_none();
        let Some((caller, said, reply)) = self.prompts.while_running(start, has_said_its_end) else { return };
        let TurnStartParams { prompt, mode, .. } = match said {
            Said::Prompt(params) => params,
            Said::Instruction(instruction) => return self.prepare_instruction(caller, instruction, reply),
        };
        // A prompt alone confirms nothing.
        if let Some(mode) = mode
            && let Some(error) = gate::refused(&self.config, mode, self.state.mode.needs_confirmation())
        {
            return drop(reply.send(Err(error)));
        }
        self.prepare_turn(caller, prompt.clone(), mode, None, Some(reply));
        self.prompts.made_of(Sent { queue_id: None, prompt, mode });
    }

    /// Begins to make a turn of a prompt; it comes back as [`Message::Prepared`].
    pub(super) fn prepare_turn(
        &mut self,
        caller: Caller,
        mut prompt: Vec<PromptBlock>,
        mode: Option<Mode>,
        given: Option<GivenAnswer>,
        reply: Option<Reply<TurnStartResult>>,
    ) {
        commands::unescape(&mut prompt);
        let commands = self.reading.commands.now();
        self.prepare(caller, NewPrompt { prompt, commands, mode, given, reply, ..NewPrompt::default() });
    }

    /// Begins to make the first turn of a session that another one started. Nothing in its prompt is a command.
    pub(in crate::session) fn prepare_first_turn(&mut self, caller: Caller, prompt: Vec<PromptBlock>, report: Report) {
        self.prepare(caller, NewPrompt { prompt, ..NewPrompt::default() });
        self.prompts.reports_to(report);
    }

    /// Begins to make a turn of an instruction. Nothing in it is a command, and if nothing comes of the turn, whoever
    /// sent it hears of that: it does not wait, since its selections would be those of another text.
    fn prepare_instruction(&mut self, caller: Caller, instruction: Box<Instruction>, reply: Reply<TurnStartResult>) {
        let (prompt, reply) = (instruction.prompt(), Some(reply));
        let is_followed = self.clients.follower(caller.id).is_none();
        self.prepare(
            caller,
            NewPrompt { prompt, instruction: Some(instruction), is_followed, reply, ..NewPrompt::default() },
        );
    }

    fn prepare(&mut self, caller: Caller, new: NewPrompt) {
        let NewPrompt { prompt, commands, mode, instruction, is_followed, given, reply } = new;
        self.set_home(Some(caller.clone()));
        let id = TurnId::new(self.ids.next("turn"));
        let whole = prompt.clone();
        let (invocations, rest) = commands.split(prompt);
        let (mentions, asks_model) = (prepare::mentions(&rest), says_something(&rest));
        // A turn that goes on was told when it began, and a session that another one started works for that one.
        let is_told = self.state.purpose.is_chat() && self.state.parent.is_none() && asks_model;
        let edits_since = is_told.then_some(self.prompts.edits_told);
        let cancel = self.prompts.begin(id.clone(), caller.clone(), rest);
        let asks_for_context = invocations.iter().any(|it| it.command.definition.name == Context::definition().name);
        let preparation = Preparation {
            shared: self.shared.clone(),
            config: Arc::clone(&self.config),
            roots: Arc::clone(&self.reading.roots),
            tools: self.reading.tools.clone(),
            commands,
            hooks: self.reading.hooks.clone(),
            shell: Arc::clone(self.terminals.shell()),
            info: self.info(),
            model: self.state.chosen(),
            context: self.state.context,
            messages: if asks_for_context { self.state.history.messages() } else { Vec::new() },
            counted: self.state.counted.clone().filter(|_| asks_for_context),
            handover: self.state.history.handover().cloned(),
            promoted: self.state.promoted.clone(),
            children: self.state.children,
            unpriced: self.state.unpriced.clone(),
            accept_edits: self.state.accept_edits,
            changes: self.gate.changes(),
            reader: self.reading.reader.clone(),
            seen: self.reading.seen.clone(),
            rules: self.gate.rules().get(),
            trust: self.gate.trust().clone(),
            caller,
            cancel,
            turn: id,
            whole,
            invocations,
            mentions,
            asks_model,
            mode,
            edits_since,
            left_by_others: self.state.left_by_others(),
            instruction,
            is_followed,
            given,
            reply,
        };
        let (own, turn) = (self.work.own.clone(), preparation.turn.clone());
        tokio::spawn(async move {
            let _ = own.send(match AssertUnwindSafe(prepare::prepare(preparation)).catch_unwind().await {
                Ok(prepared) => Own::Prompts(Message::Prepared(Box::new(prepared))),
                Err(_) => Own::Prompts(Message::Ended(TurnEnd { turn, outcome: None })),
            });
        });
    }

    /// Takes a prepared prompt: its slash commands took effect, and the rest, if any, becomes a turn.
    pub(super) fn begin_turn(&mut self, prepared: Prepared) {
        if self.prompts.turn() != Some(&prepared.id) {
            return self.prepared_in_vain(prepared);
        }
        let Prepared { id, events, mode, chose_mode, confirmed, switch_to, texts, turn, .. } = prepared;
        let Prepared { refused, is_followed, given, reply, .. } = prepared;
        let mut prompt = texts;
        prompt.extend(self.prompts.take_rest());
        self.record_all(events);
        // `bypass` may have been left, or forbidden, while the prompt was made ready.
        let is_confirmed = confirmed || self.state.mode.needs_confirmation();
        let is_refused = gate::refused(&self.config, mode, is_confirmed).is_some();
        let mode = if is_refused { self.state.mode } else { mode };
        if chose_mode {
            self.enter(mode);
        }
        let Some(mut turn) = turn else {
            self.hand_on(switch_to.clone(), prompt);
            self.dequeue_begun();
            self.prompts.end(&id);
            let answer = refused.map_or(Ok(TurnStartResult { turn_id: None, switch_to }), Err);
            // With nothing to wait for, what the commands came to should be there when the answer is.
            if let Some(reply) = reply {
                self.answer_when_stored(reply, answer);
            }
            return self.next_in_queue();
        };
        if is_followed && let Some(home) = self.prompts.home().cloned() {
            // All of it, if this is the first turn.
            let since = if self.state.is_used { self.log.feed().last() } else { 0 };
            self.follow(&home, since);
        }
        let closes = given.is_none() && !turn.only_compacts;
        self.record_beginning(&id, mode, prompt, &mut turn, closes);
        self.gate.turn_began(mode);
        self.dequeue_begun();
        if turn.only_compacts {
            self.prompts.only_compacts();
        } else {
            self.edits.problems().begin();
        }
        self.follow_turn(&id);
        self.prompts.given = given;
        self.run_turn(&id, mode, turn);
        if let Some(reply) = reply {
            let _ = reply.send(Ok(TurnStartResult { turn_id: Some(id), switch_to }));
        }
    }

    /// Text next to `/new` is meant for the new conversation.
    fn hand_on(&self, switch_to: Option<SessionId>, prompt: Vec<PromptBlock>) {
        if let Some((session_id, home)) = switch_to.zip(self.prompts.home())
            && says_something(&prompt)
        {
            let add = TurnQueueParams::Add { session_id, prompt };
            post_as(&self.shared, home.id, Request::new::<methods::TurnQueue>(add, oneshot::channel().0));
        }
    }

    /// Puts on record that a turn begins, and with what. One that is new closes the questions that stand.
    fn record_beginning(
        &mut self,
        id: &TurnId,
        mode: Mode,
        prompt: Vec<PromptBlock>,
        turn: &mut NewTurn,
        is_new: bool,
    ) {
        if let Some((kept, changes)) = turn.kept.take() {
            let news = self.gate.kept_read(kept, changes, &self.config, self.state.mode, self.state.accept_edits);
            self.record_all(news);
        }
        if is_new {
            let closed = self.gate.close_questions();
            self.record_closed(closed);
        }
        if self.state.title.is_empty()
            && let Some(title) = agent::title::from_prompt(&prompt)
        {
            self.record(Event::TitleChanged { title });
            // A session that another one started is found by that one, and one that is no chat is not listed.
            if self.state.parent.is_none()
                && self.state.purpose.is_chat()
                && let Ok(model) = &turn.model
            {
                self.ask_for_title(&prompt, model.info());
            }
        }
        let info = turn.model.as_ref().ok().map(|model| model.info().clone());
        let level = turn.model.as_ref().ok().and_then(|model| self.own_level(model.info()));
        let thinks = turn
            .model
            .as_ref()
            .ok()
            .map(|model| Thinks { level: level.or(model.info().level), in_place: model.changes_level_in_place() });
        let model = info.as_ref().map_or_else(String::new, |info| info.id.clone());
        let known = self.state.chosen();
        let is_other = |info: &ModelInfo| known.as_ref().is_none_or(|known| known.selector() != info.selector());
        if let Some(info) = info.filter(|info| !turn.is_for_turn && is_other(info)) {
            self.record(model_changed(&info, None, known.is_none_or(|known| known.is_default)));
        }
        let (context, compacts) = (std::mem::take(&mut turn.context), turn.only_compacts);
        self.prompts.edits_told = turn.edits_until.unwrap_or(self.prompts.edits_told);
        self.note_plan(id);
        self.record(Event::TurnStarted { turn_id: id.clone(), prompt, context, model, mode, thinks, compacts });
        if let Some(switched) = turn.switched.take() {
            self.record(switched.event(id.clone(), level));
        }
        self.warn(std::mem::take(&mut turn.warnings));
    }

    /// Has a turn run that has begun; one without a model ends at once.
    fn run_turn(&mut self, id: &TurnId, mode: Mode, turn: NewTurn) {
        self.reading.tags.set(turn.form == EditForm::Hashline);
        let tools = turn.offered.iter().filter(|_| self.config.intercept_commands).map(|tool| tool.name.clone());
        self.reading.intercept.set(tools);
        let running = self.prompts.turn.as_ref();
        let of_running = |turn: &Running| (turn.home.trust.clone(), turn.cancel.clone(), turn.retry_wait.clone());
        let failure = match (&turn.model, running.map(of_running)) {
            (Ok(model), Some((word, cancel, retry_wait))) => {
                // A session that another one started has nobody to ask, and is in the same workspace.
                let asks = !self.state.trust_asked && self.state.parent.is_none();
                let asking = asks.then(|| self.gate.asking(self.shared.clone(), word.clone()));
                let port = Arc::new(self.port(id.clone(), word));
                let context = TurnContext {
                    session_id: self.id().clone(),
                    turn_id: id.clone(),
                    folders: self.reading.roots.iter().map(|root| root.path.clone()).collect(),
                    thinking: self.own_level(model.info()),
                    cache_hour: self.keeps_for_hour(),
                    stop_early: self.config.stop_early,
                    file_blocks: turn.file_mark,
                    canonical_edits: self.config.canonical_edits,
                    mend_errors: self.config.mend_errors,
                    plan_reminders: self.config.plan_reminders,
                    model: Arc::clone(model),
                    fallbacks: turn.chain,
                    retry: self.retry_policy(),
                    retry_wait,
                    tools: self.reading.tools.clone(),
                    hooks: self.reading.hooks.clone(),
                    mode,
                    system: turn.system,
                    offered: turn.offered,
                    history: self.state.history.clone(),
                    session: Arc::clone(&port) as _,
                    cancel,
                    answered: self.prompts.given.as_ref().map(|given| given.call.clone()),
                    limits: self.limits(),
                    compacts: self.config.auto_compact,
                    may_ask: self.state.parent.is_none(),
                    only_compacts: turn.only_compacts,
                    compaction: turn.compaction,
                    counted: self
                        .state
                        .counted
                        .as_ref()
                        .filter(|(_, of)| *of == model.info().id)
                        .map(|(count, _)| *count),
                };
                return self.prompts.runs_as(spawn(context, port, asking, self.work.own.clone()));
            }
            (Err(error), _) => error.message.as_str(),
            (Ok(_), None) => "it could not begin",
        };
        let failure = failure.to_owned();
        if let Some(turn) = &self.state.open_turn {
            self.record(turn.broken_off(StopReason::Error, &failure));
        }
        let report = self.prompts.end(id).and_then(|running| running.report);
        self.report_end(report, StopReason::Error, Some(failure));
        self.gate.turn_ended(&self.config, self.state.mode);
    }

    /// The level of a turn, if it is not the one that its model was chosen with: the model is to think as little as it
    /// can if somebody waits for a change of a selection, and no setting says a level for that.
    fn own_level(&self, model: &ModelInfo) -> Option<ThinkingLevel> {
        let is_default = self.state.chosen().is_none_or(|chosen| chosen.is_default);
        let thinks_little = self.state.purpose == Purpose::Instruct && (is_default || model.level.is_none());
        thinks_little.then_some(ThinkingLevel::Off)
    }

    /// True if the vendor is to keep the conversation for an hour. Nobody pauses in a session that another one started,
    /// nor in a change of a selection.
    fn keeps_for_hour(&self) -> bool {
        self.config.cache_hour && self.state.parent.is_none() && self.state.purpose.is_chat()
    }

    /// How a turn's requests that fail are tried again.
    fn retry_policy(&self) -> RetryPolicy {
        let config = &self.config;
        RetryPolicy {
            retries: config.retries,
            stream_retries: config.stream_retries,
            first_delay: Duration::from_millis(config.retry_delay.into()),
            longest_asked: Duration::from_secs(config.retry_longest.into()),
        }
    }

    /// The limits of the next turn; those of a session that another one started are what is left of its budget.
    fn limits(&self) -> Limits {
        let limits = Limits::default();
        let Some(parent) = &self.state.parent else { return limits };
        let Budget { rounds, tokens, cost } = parent.budget;
        let rounds = rounds.and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(usize::MAX);
        Limits {
            rounds: rounds.min(limits.rounds),
            tokens: tokens.map(|tokens| tokens.saturating_sub(self.state.usage.total())),
            cost: cost.map(|cost| cost - self.state.cost),
            ..limits
        }
    }

    /// The budgets in force. The session that started this one pays for it, and tells the user of them.
    pub(in crate::session) fn budget(&self) -> Spending {
        let payer = self.state.parent.as_ref().map_or(self.id(), |parent| &parent.session_id).clone();
        let Shared { budgets, parts, .. } = &self.shared;
        let budget = Spending::new(Arc::clone(budgets), parts.clock.clone(), payer, &self.config.settings);
        if self.state.parent.is_some() { budget.silent() } else { budget }
    }

    /// A turn's end of the session; `word` is what its home says of the trust in its workspace.
    fn port(&self, turn: TurnId, word: Word) -> Port {
        Port {
            session: self.id().clone(),
            turn,
            own: self.work.own.clone(),
            rules: self.gate.rules().clone(),
            reader: Arc::clone(&self.reading.reader),
            results: self.reading.results.clone(),
            problems: self.edits.problems().clone(),
            trust: (self.gate.trust().clone(), word),
            sandboxed: self.terminals.is_sandboxed(),
            budget: self.budget(),
            store: Arc::clone(&self.shared.parts.store),
            secrets: Arc::clone(&self.shared.secrets),
            questions: AtomicU64::new(0),
        }
    }

    /// The waiting prompt that the turn was made of waits no more.
    fn dequeue_begun(&mut self) {
        let dequeued = self.prompts.dequeue_begun();
        self.record_all(dequeued);
    }

    fn prepared_in_vain(&mut self, prepared: Prepared) {
        // The files that it mentions were shown to no model.
        self.reading.seen.forget_differences();
        let text = "the turn was interrupted before it began; unless its prompt waits in the session, send it again";
        if let Some(reply) = prepared.reply {
            let _ = reply.send(Err(Error::new(ErrorCode::RequestCancelled, text)));
        }
    }

    /// Tells the user, once in a session.
    fn warn(&mut self, warnings: Vec<String>) {
        for text in warnings {
            if !self.state.history.has_warned(&text) {
                self.record(Event::Notice { severity: Severity::Warning, text });
            }
        }
    }
}

/// Runs a turn in a task of its own, once it is known whether the workspace is trusted. A panic ends the turn, not the
/// session.
fn spawn(
    context: TurnContext,
    port: Arc<Port>,
    asking: Option<Asking>,
    own: mpsc::UnboundedSender<Own>,
) -> AbortHandle {
    let turn = context.turn_id.clone();
    let task = tokio::spawn(async move {
        let run = async {
            if let Some(asking) = asking {
                asking.ask(&*port).await;
            }
            agent::turn::run(context).await
        };
        let outcome = AssertUnwindSafe(run).catch_unwind().await.ok();
        let _ = own.send(Own::Prompts(Message::Ended(TurnEnd { turn, outcome })));
    });
    task.abort_handle()
}
