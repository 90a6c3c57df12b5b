//! The turn: from a prompt, over any number of requests and tool calls, to an end.
//!
//! A round is a request and the calls that its answer makes. Between rounds the turn hears what was said meanwhile, and
//! makes room in the context. Whatever ends it, the log it leaves is one that can be gone on with: every call that was
//! made has its [`ToolCallEnded`](protocol::Event::ToolCallEnded), and what was shown of an answer stays said.

mod budget;
mod circles;
mod compacting;
mod limits;
mod live;
mod making;
mod mending;
mod pace;
mod planning;
mod request;
mod retry;
mod spending;
mod switching;
#[cfg(test)]
mod tests;
mod window;
mod words;

use std::path::PathBuf;
use std::sync::Arc;

use ports::file_block;
use ports::hooks::{Chain, Hooks, TurnPoint};
use ports::model::{Fallbacks, Model, Response, Stop, ToolSpec};
use ports::session::{Interjection, NewErrors, Session};
use ports::spent::Sums;
use ports::tool::interrupted;
use protocol::content::{Opening, Timing, Usage};
use protocol::event::Severity;
use protocol::model::ThinkingLevel;
use protocol::session::Mode;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, MessageId, PromptBlock, SessionId, ToolCallId, TurnId};
use tokio_util::sync::CancellationToken;

use self::budget::Budget;
use self::circles::Circles;
use self::compacting::Refills;
pub use self::limits::Limits;
use self::making::Asked;
use self::mending::left_broken;
use self::planning::Planning;
use self::request::BrokenOff;
use self::retry::Failures;
pub use self::retry::{RetryPolicy, RetryWait};
use self::words::{not_whole, refused};
use crate::context::Counted;
use crate::dispatch::{Ended, Gate};
use crate::file_blocks;
use crate::handover::Asked as CompactionAsked;
use crate::history::{History, OpenCall};
use crate::toolset::ToolSet;
use crate::wait::{at_any_rate, until_cancelled};

/// How often a turn goes on only to tell the model of files that were not taken; where it writes of them, it means
/// none.
const MOST_REMINDED: u32 = 2;
/// Has a model go on whose vendor paused its answer.
const PAUSED: &str = "Your answer was paused by its server, and stands as it is. Go on from there.";
/// The failure where it does so again and again.
const PAUSED_TOO_OFTEN: &str = "The model's server paused its answer again and again. Say \"go on\" for the rest, or choose \
                                another model with /model.";
/// How often in a row it may do so.
const MOST_PAUSES: u32 = 3;

/// All that a turn works with. It stays the same while the turn runs.
pub struct TurnContext {
    /// The session, whose id also routes requests to the vendors' caches.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// The model.
    pub model: Arc<dyn Model>,
    /// The models that may go on in its stead.
    pub fallbacks: Arc<dyn Fallbacks>,
    /// Every tool there is: what the model calls by name is made, whether it was offered or not, within the mode.
    pub tools: ToolSet,
    /// Who has a say while the turn runs.
    pub hooks: Chain,
    /// The tools that the model is told of ([`ToolSet::offered`]).
    pub offered: Arc<[ToolSpec]>,
    /// The mode.
    pub mode: Mode,
    /// The system prompt, made by [`crate::prompt::system`].
    pub system: Arc<str>,
    /// The conversation, the turn's own [`TurnStarted`](protocol::Event::TurnStarted) applied.
    pub history: History,
    /// The workspace's folders, absolute: what permission rules about files are relative to.
    pub folders: Arc<[PathBuf]>,
    /// The session's port.
    pub session: Arc<dyn Session>,
    /// Triggered to end the turn: the user cancelled it. A turn that is broken off without a word, because its home
    /// left or the server ends, is dropped; its session records the end.
    pub cancel: CancellationToken,
    /// The call whose question has been answered after its turn had ended: it waited, so it can be made as if it had
    /// not begun.
    pub answered: Option<ToolCallId>,
    /// The level at which the model is to think, or the nearest that it has; none for the one that it was chosen with.
    pub thinking: Option<ThinkingLevel>,
    /// True if vendors are to keep the conversation in their caches for an hour, where they can.
    pub cache_hour: bool,
    /// True if an answer is dropped as soon as an edit in it is seen to fail, which saves the rest of its tokens.
    pub stop_early: bool,
    /// The mark of files in an answer's text, where these become calls ([`crate::file_blocks`]).
    pub file_blocks: Option<Arc<str>>,
    /// True if the model reads its edits as they were applied, where it had slipped.
    pub canonical_edits: bool,
    /// How often the turn goes on by itself where it would end with errors that its edits brought.
    pub mend_errors: u32,
    /// How often it goes on by itself where it would end with open steps of its plan; 0 for no word of those at all.
    pub plan_reminders: u32,
    /// How requests that fail are tried again.
    pub retry: RetryPolicy,
    /// The wait before that, for whoever may end it.
    pub retry_wait: RetryWait,
    /// Where the turn stops, waits and cuts.
    pub limits: Limits,
    /// True if a handover takes the place of the conversation's beginning once the context is full.
    pub compacts: bool,
    /// The compaction that the user asked for.
    pub compaction: Option<CompactionAsked>,
    /// True if the turn is only for that.
    pub only_compacts: bool,
    /// True if there is a user to ask.
    pub may_ask: bool,
    /// The last count of the conversation by the model's vendor.
    pub counted: Option<Counted>,
}

/// The end of a turn. The same is in the event [`TurnEnded`](protocol::Event::TurnEnded), which [`run`] has recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnOutcome {
    /// Why.
    pub stop: StopReason,
    /// The failure, and what to do.
    pub error: Option<String>,
    /// The usage of all requests.
    pub usage: Usage,
    /// Their cost in US dollars, as far as it is known; none if no price is.
    pub cost: Option<f64>,
    /// The things that were not done because they were denied or rejected, in words; `exec` ends with code 3 if there
    /// are any.
    pub refused: Vec<String>,
}

/// Runs a turn to its end, which it always records as [`TurnEnded`](protocol::Event::TurnEnded).
///
/// Everything that happens is recorded through the session's port, but for the words said meanwhile and notes
/// ([`Steered`](protocol::Event::Steered), [`Noted`](protocol::Event::Noted)), which the session has recorded when it
/// gives them. The turn does not end of itself while
/// [`Session::interjections`] still gives words of the user; what is said after its last look is the session's to start
/// another turn with.
///
/// A tool that panics is a failed tool. A panic of anything else is the caller's to catch.
pub async fn run(context: TurnContext) -> TurnOutcome {
    let (answered, compaction, only_compacts) =
        (context.answered.clone(), context.compaction.clone(), context.only_compacts);
    let mut turn = Turn::new(context);
    let cut_before = file_blocks::last_cut(&turn.history.messages());
    until_cancelled(&turn.gate.cancel, turn.gate.hooks.before_turn(&turn.point())).await;
    let compacted = match compaction {
        Some(asked) => turn.compact_as_asked(asked).await,
        None => Ok(()),
    };
    let End { stop, error } = match compacted {
        Err(end) => end,
        Ok(()) if only_compacts => StopReason::EndTurn.into(),
        Ok(()) => turn.work(answered).await,
    };
    match stop {
        // It ended of itself, after nothing more was said.
        StopReason::EndTurn | StopReason::MaxTokens => {}
        StopReason::Refusal => turn.see_what_broke().await,
        // It was cut short: what it did not hear is put into the log, for the next one.
        StopReason::MaxTurnRequests | StopReason::Error => {
            turn.hear().await;
            turn.see_what_broke().await;
        }
        // Nobody waits for servers any more.
        StopReason::Cancelled | StopReason::Interrupted => {
            turn.hear().await;
        }
    }
    for path in file_blocks::unfinished(&turn.history.messages(), &turn.gate.turn_id, &cut_before) {
        turn.record(not_whole(&path));
    }
    let new_errors = turn.new_errors.take();
    if let Some(errors) = &new_errors {
        turn.record(left_broken(errors));
    }
    let refused = std::mem::take(&mut turn.refused);
    let outcome = TurnOutcome { stop, error, usage: turn.sums.usage, cost: turn.cost(), refused };
    turn.gate.session.record(Event::TurnEnded {
        turn_id: turn.gate.turn_id.clone(),
        stop_reason: outcome.stop,
        error: outcome.error.clone(),
        usage: outcome.usage,
        cost: outcome.cost,
        new_errors: new_errors.map(|errors| errors.count),
    });
    at_any_rate(&turn.gate.cancel, turn.gate.hooks.after_turn(&turn.point(), outcome.stop, outcome.error.as_deref()))
        .await;
    outcome
}

/// A running turn.
struct Turn {
    session_id: SessionId,
    model: Arc<dyn Model>,
    fallbacks: Arc<dyn Fallbacks>,
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    thinking: Option<ThinkingLevel>,
    cache_hour: bool,
    stop_early: bool,
    gate: Gate,
    history: History,
    budget: Budget,
    circles: Circles,
    /// True if a handover takes the place of the conversation's beginning once the context is full.
    compacts: bool,
    /// True if there is a user to ask.
    may_ask: bool,
    /// The number of handovers of this turn.
    compactions: u32,
    refills: Refills,
    messages: u32,
    /// The requests in a row that failed, or whose answer broke off.
    failures: Failures,
    /// The names of the keys and accounts of the model's provider that were tried since the last answer.
    tried: Vec<String>,
    retry_wait: RetryWait,
    /// The action that is due before the next request, since the last answer broke off.
    broken_off: Option<BrokenOff>,
    /// The text that the model is to be told with the next request.
    untold: Option<String>,
    /// How often an answer that calls nothing was gone on with to tell the model of files that were not taken.
    reminded: u32,
    /// How often it may still go on to mend errors that its edits brought.
    may_mend: u32,
    planning: Planning,
    /// The errors that its edits brought, where it ends with them.
    new_errors: Option<NewErrors>,
    /// True if the vendor is told of calls in words, since it found fault with them.
    tells_calls: bool,
    /// The vendor's words at the beginning of the last answer.
    opening: Opening,
    /// The usage and cost of its requests so far.
    sums: Sums,
    /// The time that the last answer took, until it is recorded.
    timing: Option<Timing>,
    refused: Vec<String>,
}

/// The end of a turn.
struct End {
    stop: StopReason,
    error: Option<String>,
}

impl From<StopReason> for End {
    fn from(stop: StopReason) -> Self {
        Self { stop, error: None }
    }
}

impl Turn {
    fn new(context: TurnContext) -> Self {
        let info = context.model.info();
        let tools = context.offered;
        let mut budget = Budget::new(info, context.model.thinking_tokens(), &context.system, &tools);
        budget.knows(context.counted);
        let mut limits = context.limits;
        limits.result_bytes = limits.result_bytes.min(budget::longest_result(info.context_tokens));
        Self {
            session_id: context.session_id,
            model: context.model,
            fallbacks: context.fallbacks,
            system: context.system,
            thinking: context.thinking,
            cache_hour: context.cache_hour,
            stop_early: context.stop_early,
            gate: Gate {
                file_mark: context.file_blocks,
                turn_id: context.turn_id,
                tools: context.tools,
                hooks: context.hooks,
                offered: Arc::clone(&tools),
                mode: context.mode,
                folders: context.folders,
                session: context.session,
                cancel: context.cancel,
                limits,
                canonical_edits: context.canonical_edits,
            },
            tools,
            history: context.history,
            budget,
            circles: Circles::default(),
            compacts: context.compacts,
            may_ask: context.may_ask,
            compactions: 0,
            refills: Refills::default(),
            messages: 0,
            failures: Failures::new(context.retry),
            tried: Vec::new(),
            retry_wait: context.retry_wait,
            broken_off: None,
            untold: None,
            reminded: 0,
            may_mend: context.mend_errors,
            planning: Planning::new(context.plan_reminders),
            new_errors: None,
            tells_calls: false,
            opening: Opening::default(),
            sums: Sums::default(),
            timing: None,
            refused: Vec::new(),
        }
    }

    async fn work(&mut self, answered: Option<ToolCallId>) -> End {
        if self.history.messages().last().is_some_and(|last| last.has_images()) {
            self.tell_of_images();
        }
        self.take_up(answered).await;
        let (mut rounds, mut pauses) = (0, 0);
        loop {
            self.catch_up().await;
            if self.gate.cancel.is_cancelled() {
                return StopReason::Cancelled.into();
            }
            if let Err(end) = self.may_spend().await {
                return end;
            }
            let mut response = match self.request().await {
                Ok(response) => response,
                Err(end) => return end,
            };
            let why = response.why.take();
            let (stop, calls) = self.answered(response);
            let mut circling = None;
            pauses = if stop == Stop::Pause { pauses + 1 } else { 0 };
            if calls.is_empty() && (1..=MOST_PAUSES).contains(&pauses) {
                self.note(PAUSED.to_owned());
            } else if calls.is_empty() || stop == Stop::Refusal {
                self.close(&calls, "not run: the answer was broken off");
                if self.hear().await
                    || (stop != Stop::Refusal
                        && (self.must_remind() || self.must_mend().await || self.must_finish(stop).await))
                {
                    continue;
                }
                return match stop {
                    Stop::EndTurn | Stop::ToolUse => StopReason::EndTurn.into(),
                    Stop::Pause => End { stop: StopReason::Error, error: Some(PAUSED_TOO_OFTEN.to_owned()) },
                    Stop::MaxTokens => End { stop: StopReason::MaxTokens, error: Some(self.too_long(why)) },
                    Stop::Refusal => End { stop: StopReason::Refusal, error: Some(refused(why)) },
                };
            } else {
                circling = self.make(&calls).await;
            }
            rounds += 1;
            if self.gate.cancel.is_cancelled() {
                return StopReason::Cancelled.into();
            }
            if let Some(tool) = circling {
                return self.stop_with_a_question(format!(
                    "I have called `{tool}` in the same way {} times and got the same result each time, so I am going in \
                     circles. Shall I go on, or is there something I should know?",
                    self.gate.limits.repeats
                ));
            }
            if rounds >= self.gate.limits.rounds {
                return self.stop_with_a_question(format!(
                    "I have worked for {rounds} rounds and am not done yet. Shall I go on?"
                ));
            }
        }
    }

    /// Sees to the calls that an interrupted turn left without a result. They are made now, but for a command that had
    /// begun, whose effects must not come twice, and what is paid for: the model is told, and decides. Looking at
    /// things and planning edits has no effects, and what an edit had proposed already is its result.
    async fn take_up(&mut self, answered: Option<ToolCallId>) {
        let mut open = Vec::new();
        for call in self.history.open_calls() {
            let has_begun = call.has_begun && answered.as_ref() != Some(&call.id);
            if has_begun && let Some(ended) = self.gate.close_if_proposed(&call).await {
                self.made(&call, ended);
                continue;
            }
            let problem =
                (has_begun && !self.gate.is_repeatable(&call)).then(|| interrupted(&call.name, call.child.as_ref()));
            open.push(Asked { call, problem });
        }
        self.make(&open).await;
    }

    /// Hears what was said to the turn, what its edits did to the problems of their files, and which tools came and
    /// went.
    async fn catch_up(&mut self) {
        let session = Arc::clone(&self.gate.session);
        let problems = until_cancelled(&self.gate.cancel, session.problems()).await.flatten();
        self.hear().await;
        self.remind_of_plan().await;
        let tools = self.gate.tools.news(self.gate.mode);
        for text in problems.into_iter().chain(tools) {
            self.record(Event::Noted { turn_id: self.gate.turn_id.clone(), text });
        }
    }

    /// The turn, for hooks.
    fn point(&self) -> TurnPoint<'_> {
        TurnPoint { session: &self.session_id, turn: &self.gate.turn_id }
    }

    /// Hears what was said to the turn. Whether there was a word of the user's, which wants an answer; a note without
    /// one, such as that an edit was accepted, can wait for the next prompt.
    async fn hear(&mut self) -> bool {
        // The session has recorded what it hands over, so a cancel does not tear this off.
        let session = Arc::clone(&self.gate.session);
        let heard = at_any_rate(&self.gate.cancel, session.interjections()).await.unwrap_or_default();
        let wants_answer = |said: &Interjection| {
            matches!(said, Interjection::Steer { .. } | Interjection::Note { wants_answer: true, .. })
        };
        let is_spoken_to = heard.iter().any(wants_answer);
        for said in heard {
            let turn_id = self.gate.turn_id.clone();
            let event = match said {
                Interjection::Steer { prompt, context } => Event::Steered { turn_id, prompt, context },
                Interjection::Note { text, .. } => Event::Noted { turn_id, text },
            };
            if let Event::Steered { prompt, .. } = &event
                && prompt.iter().any(|block| matches!(block, PromptBlock::Image { .. }))
            {
                self.tell_of_images();
            }
            self.history.apply(&event);
        }
        is_spoken_to
    }

    /// True if the model must be told of a file of its answer that was not taken, although it has ended.
    fn must_remind(&mut self) -> bool {
        let must = self.untold.is_some() && self.reminded < MOST_REMINDED;
        self.reminded += u32::from(must);
        must
    }

    /// Says that an image stays behind, where the model has no eyes.
    fn tell_of_images(&mut self) {
        let info = self.model.info();
        if !info.images {
            let text = format!(
                "{} cannot see images, as far as is known: it is told that there is one, and does not get it. Choose \
                 another model with /model.",
                info.name
            );
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
    }

    /// Takes in a whole answer: why it ended, and the calls that it makes.
    fn answered(&mut self, Response { content, stop, usage, .. }: Response) -> (Stop, Vec<Asked>) {
        let cost = self.pay(usage);
        let mut content: Vec<_> = content.into_iter().map(file_blocks::without_claim).collect();
        if let Some(mark) = &self.gate.file_mark {
            let missed;
            (content, missed) = file_blocks::into_calls(content, &self.message_id(), &self.history.messages(), mark);
            self.untold = self.untold.take().or(missed);
        }
        let (content, calls) = self.tidy(content, stop);
        self.complete(content, usage, cost);
        let mut messages = self.history.messages();
        if !calls.is_empty() {
            // The last message stands in for the results to come.
            messages.pop();
        }
        self.budget.counted(&usage, &messages);
        let (used, limit, full) = (self.budget.used(&messages), self.budget.limit(), Some(self.budget.full()));
        self.record(Event::ContextUsed { used, limit, full });
        (stop, calls)
    }

    /// Makes an answer's calls fit the log: every call of a session has an id of its own, and its input is an object.
    fn tidy(&self, content: Vec<AssistantBlock>, stop: Stop) -> (Vec<AssistantBlock>, Vec<Asked>) {
        let mut calls: Vec<Asked> = Vec::new();
        let mut tidied = Vec::with_capacity(content.len());
        for block in content {
            let AssistantBlock::ToolCall { id, name, input, vendor } = block else {
                tidied.push(block);
                continue;
            };
            let is_taken = |id: &ToolCallId| {
                let is_twin = calls.iter().any(|asked| asked.call.id == *id);
                id.as_str().is_empty() || is_twin || self.history.knows_call(id)
            };
            let others = (1..).map(|n| ToolCallId::new(format!("{}-{id}-{n}", self.gate.turn_id)));
            let own = std::iter::once(id.clone()).chain(others).find(|id| !is_taken(id)).unwrap_or_else(|| id.clone());
            let problem = (!input.is_object()).then_some("the input is not a JSON object; nothing was done".into());
            let input = if input.is_object() { input } else { serde_json::json!({}) };
            tidied.push(AssistantBlock::ToolCall { id: own.clone(), name: name.clone(), input: input.clone(), vendor });
            calls.push(Asked { call: OpenCall { id: own, name, input, has_begun: false, child: None }, problem });
        }
        // Of a file it is known where it broke off.
        if let (Stop::MaxTokens, Some(last)) = (stop, calls.last_mut())
            && !file_block::is_block(&last.call.id)
        {
            last.problem = Some(
                "the answer reached its maximum length within this call, so the call may be cut off; nothing was done. \
                 Do it in smaller steps"
                    .into(),
            );
        }
        (tidied, calls)
    }

    /// Makes calls: those that read beside each other, the others alone, in order. Gives the tool that it goes in
    /// circles with, if it does.
    async fn make(&mut self, calls: &[Asked]) -> Option<String> {
        let mut circling = None;
        self.circles.begin_round();
        let mut rest = calls;
        while !rest.is_empty() {
            let together = rest.iter().take_while(|asked| self.gate.is_parallel(&asked.call)).count();
            let (group, later) = rest.split_at(together.max(1));
            for (Asked { call, .. }, ended) in group.iter().zip(making::beside(&self.gate, group).await) {
                if let Event::ToolCallEnded { result, .. } = &ended.event {
                    let count = self.circles.count(call, result, !self.gate.is_parallel(call));
                    if count >= self.gate.limits.repeats {
                        circling = Some(call.name.clone());
                    }
                }
                self.made(call, ended);
            }
            rest = later;
        }
        circling
    }

    /// Ends calls that are not to be made.
    fn close(&mut self, calls: &[Asked], why: &str) {
        for Asked { call, .. } in calls {
            let ended = self.gate.close(call, why);
            self.ended(ended);
        }
    }

    /// Takes in the end of a call that was to be made.
    fn made(&mut self, call: &OpenCall, ended: Ended) {
        let is_made = matches!(&ended.event, Event::ToolCallEnded { result, .. } if !result.is_error);
        self.ended(ended);
        self.planning.made(call);
        if let Some(path) = file_blocks::given_up(call).filter(|_| is_made) {
            self.record(not_whole(path));
        }
    }

    /// Takes in a call's end, which the gate has recorded.
    fn ended(&mut self, ended: Ended) {
        self.history.apply(&ended.event);
        self.refused.extend(ended.refused);
    }

    /// Why an answer ended within, for the user.
    fn too_long(&self, why: Option<String>) -> String {
        let why = why.unwrap_or_else(|| format!("it reached its maximum length, {} tokens", self.budget.answer));
        format!("The answer is not whole: {why}. Say \"go on\" for the rest, or ask for less at once.")
    }

    fn stop_with_a_question(&mut self, text: String) -> End {
        let cost = self.model.info().price.map(|_| 0.0);
        self.complete(vec![AssistantBlock::text(text)], Usage::default(), cost);
        StopReason::MaxTurnRequests.into()
    }

    fn complete(&mut self, content: Vec<AssistantBlock>, usage: Usage, cost: Option<f64>) {
        let (turn_id, message_id) = (self.gate.turn_id.clone(), self.message_id());
        let (timing, opening) = (self.timing.take(), std::mem::take(&mut self.opening));
        self.record(Event::MessageCompleted { turn_id, message_id, content, usage, cost, timing, opening });
        self.messages += 1;
    }

    /// The id of the message that is, or will be, streamed in.
    fn message_id(&self) -> MessageId {
        MessageId::new(format!("{}-m{}", self.gate.turn_id, self.messages + 1))
    }

    fn record(&mut self, event: Event) {
        self.history.apply(&event);
        self.gate.session.record(event);
    }
}
