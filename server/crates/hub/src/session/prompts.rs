//! The session's prompts: what is sent, becomes a turn or waits, what is said to the turn that runs, and the user's own
//! commands.
//!
//! [`Prompts`] owns the turn, the command and what waits, and says what follows on what; `routes` is what the session
//! does with that, and `turns` makes a turn of a prompt.

mod commands;
mod compaction;
mod complete;
mod context;
mod costs;
mod edited;
mod excerpt;
mod file_mark;
mod finding;
mod hidden;
mod instruct;
mod models;
mod plan;
mod port;
mod preparation;
mod prepare;
mod providers;
mod roles;
mod routes;
mod selected;
mod titles;
mod turns;
mod usage;
mod user_commands;
mod waiting;

use std::collections::VecDeque;
use std::time::Instant;

use agent::turn::{RetryWait, TurnOutcome};
use ports::facts::Facts;
use ports::session::{Answer, Interjection};
use protocol::content::PlanEntry;
use protocol::permission::PermissionRequest;
use protocol::terminal::Done;
use protocol::turn::{TurnStartParams, TurnStartResult};
use protocol::{ErrorCode, Event, PromptBlock, QueueId, ToolCallId, TurnId};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use self::preparation::GivenAnswer;
pub(super) use self::preparation::{Prepared, post_as};
pub(super) use self::routes::register;
use self::titles::Titled;
use self::user_commands::UserEnd;
use self::waiting::Sent;
use super::Caller;
use crate::instruction::Instruction;
use crate::post::Report;
use crate::{ClientId, Error, Reply};

/// The messages that come back to the session's task for its prompts.
pub(super) enum Message {
    /// A prompt is ready to become a turn.
    Prepared(Box<Prepared>),
    /// A turn says what happens in it.
    Record(TurnId, Event),
    /// A turn waits until all that was recorded is stored.
    Stored(oneshot::Sender<()>),
    /// A turn asks what the log tells of the work.
    Facts(oneshot::Sender<Facts>),
    /// A turn asks what it should know.
    Interjections(oneshot::Sender<Vec<Interjection>>),
    /// A turn asks for the plan that it works on.
    Plan(oneshot::Sender<Vec<PlanEntry>>),
    /// A turn asks if the user has changed the plan.
    PlanNews(oneshot::Sender<Option<String>>),
    /// A turn's task ended.
    Ended(TurnEnd),
    /// A word to the turn is ready.
    Steered(TurnId, QueueId, Interjection, Reply<Done>),
    /// The user's own command ended.
    CommandEnded(UserEnd),
    /// A model was asked for a title, or could not be.
    Titled(Option<Titled>),
    /// The session that started this one no longer waits: its first turn is to be cancelled.
    GivenUp,
}

/// A session's prompts.
pub(super) struct Prompts {
    /// The turn that runs, or is about to.
    turn: Option<Running>,
    /// The user's own command that runs.
    command: Option<Command>,
    /// The prompts that wait.
    queue: VecDeque<(QueueId, Vec<PromptBlock>)>,
    /// The interjections that the running turn has not heard yet; until then each is a waiting prompt, too.
    interjections: Vec<(QueueId, Interjection)>,
    /// Whoever last started something here, for what starts by itself.
    last_caller: Option<Caller>,
    /// True if the last turn came to its own end, so that what waits may start by itself.
    went_well: bool,
    /// True if what runs was stopped so that the first waiting prompt begins in its place.
    makes_way: bool,
    /// An answer to the question that the running turn will ask again.
    given: Option<GivenAnswer>,
    /// Ends the request for a title that is under way.
    titling: Option<CancellationToken>,
    /// The time until when the model was told of the user's edits: until the session began here, of none.
    edits_told: Instant,
}

/// The turn that runs, or is about to.
struct Running {
    id: TurnId,
    /// The client whose unsaved texts it works on.
    home: Caller,
    cancel: CancellationToken,
    /// Its wait before a request is tried again.
    retry_wait: RetryWait,
    /// The prompt that it is made of, as it was sent, until it has begun.
    sent: Option<Sent>,
    /// The same without its slash commands, for the model.
    rest: Vec<PromptBlock>,
    /// True if it only compacts: then what an earlier turn left open stays so.
    only_compacts: bool,
    /// Its task, once it has one.
    task: Option<AbortHandle>,
    /// The prompts that came when it had said its end, and its task was about to end.
    next: Vec<Start>,
    /// Where it is reported, if another session started this one for it.
    report: Option<Report>,
}

/// The end of a turn's task.
pub(super) struct TurnEnd {
    turn: TurnId,
    /// None if it panicked.
    outcome: Option<TurnOutcome>,
}

/// The user's command that runs.
struct Command {
    id: ToolCallId,
    cancel: CancellationToken,
}

/// A prompt or an instruction, with who sent it and where its answer goes.
type Start = (Caller, Said, Reply<TurnStartResult>);

/// The words that a turn is made of.
enum Said {
    Prompt(TurnStartParams),
    Instruction(Box<Instruction>),
}

/// The error of a prompt to a session that only records what was accepted.
pub(super) fn is_a_record() -> Error {
    let text = "this session is the record of accepted suggestions, and no conversation: start another one";
    Error::new(ErrorCode::OperationFailed, text)
}

impl Prompts {
    /// Nothing runs, and nothing waits.
    pub(super) fn new() -> Self {
        Self {
            turn: None,
            command: None,
            queue: VecDeque::new(),
            interjections: Vec::new(),
            last_caller: None,
            went_well: true,
            makes_way: false,
            given: None,
            titling: None,
            edits_told: Instant::now(),
        }
    }

    /// Takes up the prompts that wait by the log. None of them starts before somebody is there.
    pub(super) fn take_up(&mut self, queue: VecDeque<(QueueId, Vec<PromptBlock>)>) {
        self.queue = queue;
    }

    /// The turn that runs, or is about to.
    pub(super) fn turn(&self) -> Option<&TurnId> {
        self.turn.as_ref().map(|turn| &turn.id)
    }

    /// The client whose unsaved texts the turn works on.
    pub(super) fn home(&self) -> Option<&Caller> {
        self.turn.as_ref().map(|turn| &turn.home)
    }

    /// Nothing that waits starts by itself any more; it stays in the log.
    pub(super) fn start_no_more(&mut self) {
        self.last_caller = None;
    }

    /// True if a model is asked for a title.
    pub(super) fn are_titling(&self) -> bool {
        self.titling.is_some()
    }

    /// Ends the request for a title that is under way. What it used comes back.
    pub(super) fn cancel_title(&self) {
        if let Some(cancel) = &self.titling {
            cancel.cancel();
        }
    }

    /// True if a turn or a command of the user's own runs.
    pub(super) fn are_on(&self) -> bool {
        self.turn.is_some() || self.runs_command()
    }

    /// True if a command of the user's own runs.
    pub(super) fn runs_command(&self) -> bool {
        self.command.is_some()
    }

    /// True if a prompt is being made ready.
    pub(super) fn is_preparing(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.task.is_none())
    }

    /// True if this turn runs, and was not cancelled.
    pub(super) fn goes_on(&self, turn: &TurnId) -> bool {
        self.turn.as_ref().is_some_and(|running| running.id == *turn && !running.cancel.is_cancelled())
    }

    /// A client is gone for good.
    pub(super) fn gone(&mut self, client: ClientId) {
        self.last_caller.take_if(|caller| caller.id == client);
    }

    /// The answer to a question that an earlier turn asked, if it was answered since and is the same question still.
    pub(super) fn given_answer(&mut self, request: &PermissionRequest) -> Option<Answer> {
        let given = self.given.take_if(|given| request.tool_call_id.as_ref() == Some(&given.call))?;
        let Answer::Selected { option_id, .. } = &given.answer else { return None };
        let is_option = request.options.iter().any(|option| option.option_id == *option_id);
        is_option.then_some(given.answer)
    }

    /// A turn is about to be, made of what this client sent: `rest` is that without its slash commands.
    fn begin(&mut self, id: TurnId, caller: Caller, rest: Vec<PromptBlock>) -> CancellationToken {
        self.last_caller = Some(caller.clone());
        let cancel = CancellationToken::new();
        let running = Running {
            id,
            home: caller,
            cancel: cancel.clone(),
            retry_wait: RetryWait::default(),
            sent: None,
            rest,
            only_compacts: false,
            task: None,
            next: Vec::new(),
            report: None,
        };
        self.turn = Some(running);
        cancel
    }

    /// Keeps the prompt that the turn that is about to be is made of, so that it can wait if nothing comes of the turn.
    fn made_of(&mut self, sent: Sent) {
        if let Some(turn) = &mut self.turn {
            turn.sent = Some(sent).filter(|sent| sent.queue_id.is_some() || !sent.prompt.is_empty());
        }
    }

    /// The prompt without its slash commands, of which the turn is about to begin.
    fn take_rest(&mut self) -> Vec<PromptBlock> {
        self.turn.as_mut().map(|turn| std::mem::take(&mut turn.rest)).unwrap_or_default()
    }

    /// The report of the turn to the session that started this one for it, if one did.
    pub(super) fn report(&mut self) -> Option<&mut Report> {
        self.turn.as_mut()?.report.as_mut()
    }

    /// Has the turn that is about to be report to the call of another session.
    fn reports_to(&mut self, report: Report) {
        if let Some(turn) = &mut self.turn {
            turn.report = Some(report);
        }
    }

    /// Cancels the turn that runs if its end is told to another session; gives whether it is.
    fn give_up(&self) -> bool {
        let given_up = self.turn.as_ref().filter(|turn| turn.report.is_some());
        given_up.inspect(|turn| turn.cancel.cancel()).is_some()
    }

    /// The turn that is about to be only compacts.
    fn only_compacts(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.only_compacts = true;
        }
    }

    /// The turn has begun, and this is its task.
    fn runs_as(&mut self, task: AbortHandle) {
        if let Some(turn) = &mut self.turn {
            turn.task = Some(task);
        }
    }

    /// Takes a prompt that comes while a turn runs, which is refused; but if the turn has said its end, whoever was
    /// told of that may go on at once, and the prompt waits for its task. Gives the prompt back if no turn runs.
    fn while_running(&mut self, start: Start, has_said_its_end: bool) -> Option<Start> {
        let Some(turn) = &mut self.turn else { return Some(start) };
        if turn.task.is_some() && has_said_its_end {
            turn.next.push(start);
            return None;
        }
        let text = "a turn is running in this session: steer it, queue the prompt, or cancel it";
        let error = Error::new(ErrorCode::TurnRunning, text).with_data(json!({ "turnId": turn.id }));
        let _ = start.2.send(Err(error));
        None
    }

    /// Refuses what is said to another turn than the one that runs.
    fn expect(&self, turn: &TurnId) -> Result<(), Error> {
        if self.turn() == Some(turn) {
            return Ok(());
        }
        let text = format!("turn {turn} is not running; send the text as a prompt");
        Err(Error::new(ErrorCode::WrongTurn, text).with_data(json!({ "turnId": self.turn() })))
    }

    /// Cancels the turn that runs, which must be this one if one is named; gives whether one runs.
    fn cancel(&mut self, wanted: Option<&TurnId>) -> Result<bool, Error> {
        // The user wants nothing to begin by itself then.
        self.makes_way = false;
        Ok(self.running(wanted)?.inspect(|turn| turn.cancel.cancel()).is_some())
    }

    /// Stops what runs so that the first waiting prompt begins in its place; gives whether anything runs.
    fn make_way(&mut self) -> bool {
        self.turn.iter().for_each(|turn| turn.cancel.cancel());
        self.cancel_command();
        self.makes_way = self.are_on();
        self.makes_way
    }

    /// Has the turn that runs try its request again at once, if it waits; gives whether it did.
    fn retry(&self, wanted: Option<&TurnId>) -> Result<bool, Error> {
        Ok(self.running(wanted)?.is_some_and(|turn| turn.retry_wait.end()))
    }

    /// The turn that runs, which must be this one if one is named.
    fn running(&self, wanted: Option<&TurnId>) -> Result<Option<&Running>, Error> {
        let Some(turn) = &self.turn else { return Ok(None) };
        if let Some(wanted) = wanted.filter(|wanted| **wanted != turn.id) {
            let text = format!("turn {wanted} is not the one that runs");
            return Err(Error::new(ErrorCode::WrongTurn, text).with_data(json!({ "turnId": turn.id })));
        }
        Ok(Some(turn))
    }

    /// Takes the interjections not heard yet, with the events that are to be recorded before the turn hears them.
    fn take_interjections(&mut self) -> (Vec<Event>, Vec<Interjection>) {
        let (mut events, mut heard) = (Vec::new(), Vec::new());
        for (queue_id, interjection) in std::mem::take(&mut self.interjections) {
            if let (Interjection::Steer { prompt, context }, Some(turn)) = (&interjection, &self.turn) {
                let (turn_id, prompt, context) = (turn.id.clone(), prompt.clone(), context.clone());
                events.push(Event::Steered { turn_id, prompt, context });
            }
            events.push(Event::PromptDequeued { queue_id });
            heard.push(interjection);
        }
        (events, heard)
    }

    /// The task of this turn has ended, if it is the one that runs.
    fn end(&mut self, turn: &TurnId) -> Option<Running> {
        self.turn.take_if(|running| running.id == *turn)
    }

    /// Breaks off what runs. Nothing that waits starts by itself then.
    fn interrupt(&mut self) -> Option<Running> {
        let turn = self.turn.take()?;
        self.went_well = false;
        turn.cancel.cancel();
        if let Some(task) = &turn.task {
            task.abort();
        }
        Some(turn)
    }

    /// A command of the user's own begins.
    fn begin_command(&mut self, id: ToolCallId, caller: Caller) -> CancellationToken {
        let cancel = CancellationToken::new();
        self.command = Some(Command { id, cancel: cancel.clone() });
        self.last_caller = Some(caller);
        cancel
    }

    /// A command of the user's own has ended.
    fn end_command(&mut self, id: &ToolCallId) {
        self.command.take_if(|running| running.id == *id);
    }

    /// Stops the user's command; gives whether one ran.
    fn cancel_command(&self) -> bool {
        self.command.iter().for_each(|running| running.cancel.cancel());
        self.runs_command()
    }
}

#[cfg(test)]
mod tests;
