//! A command from its start to its end.
//!
//! A task of its own runs it ([`Runner`]), so that it can continue after the call that started it has returned because
//! the command waits for input. The caller holds an [`Awaited`]; if that is dropped before the end without having been
//! released, the command is killed with its shell.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use process::{Confinement, environment, processes};
use protocol::ToolCallId;
use protocol::terminal::{Certainty, Typist};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::marker::AtPrompt;
use super::screen::Ended;
use super::spool::Spool;
use super::terminal::{Force, Terminal};
use super::transcript::Printed;
use super::{MAX_TIMEOUT, MIN_TIMEOUT, Observer, Ran, RunOptions, ShellError, State, Status, UNLIMITED, waiting};

/// The longest time for which the time limit of a command that waits for input pauses.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// How long a command has to end after each stage of force.
const GRACE: [(Force, Duration); 3] = [
    (Force::Interrupt, Duration::from_millis(1000)),
    (Force::Terminate, Duration::from_millis(700)),
    (Force::Kill, Duration::from_millis(700)),
];

/// The stand-in for a line that begins with a blank, by which many a shell leaves it out of its history.
const UNTOLD: &str = "(a line of the user's own)";

/// The state that an execution shares with its shell.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) state: Arc<Mutex<State>>,
    pub(super) status: Arc<watch::Sender<Status>>,
    /// The input that was typed, by anybody.
    pub(super) typed: Arc<watch::Sender<waiting::Typed>>,
    /// The number of inputs when it was last checked if the command waits.
    pub(super) looked: Arc<AtomicU64>,
    pub(super) spool: Arc<Spool>,
    pub(super) observer: Arc<dyn Observer>,
    /// The number of commands that run or are being killed.
    pub(super) underway: Arc<watch::Sender<usize>>,
    /// The folder that a new shell starts in.
    pub(super) first_folder: PathBuf,
    /// The confinement of its processes.
    pub(super) confinement: Confinement,
}

/// The command that runs in a shell.
pub(super) struct Execution {
    /// Its number among the executions of this shell.
    pub(super) number: u64,
    pub(super) call: ToolCallId,
    /// The command line; at the user's prompt the line that it runs, empty while it reads one.
    pub(super) line: String,
    /// The one who runs it.
    pub(super) by: Typist,
    /// True for the user's prompt.
    pub(super) is_prompt: bool,
    /// True for a short command of Azimuth's own in between.
    pub(super) is_aside: bool,
    pub(super) began: SystemTime,
    /// The offset of its first byte of output, once it has started.
    pub(super) since: Option<u64>,
    /// The input from before the command had started: it must not reach the shell's own reading of it. None since then.
    pub(super) early: Option<Vec<u8>>,
    /// True if the call that started it has returned.
    pub(super) is_released: bool,
    /// Stops the command at the user's wish.
    pub(super) kill: Arc<Notify>,
    /// Ends the user's prompt once it reads a line.
    pub(super) leave: Arc<Notify>,
    /// Nobody waits for the command any longer.
    pub(super) abandoned: CancellationToken,
    /// Is triggered when nothing of it is left.
    pub(super) over: CancellationToken,
}

impl Execution {
    /// The reason why nothing else can run there.
    pub(super) fn is_in_the_way(&self) -> ShellError {
        match self.by {
            // Their prompt, which reads a line.
            Typist::User if self.line.is_empty() => ShellError::Taken,
            Typist::User => ShellError::Users { command: super::beginning(&self.line) },
            Typist::Model => ShellError::Busy { command: super::beginning(&self.line) },
        }
    }
}

impl Common {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the status; the function says whether it did.
    pub(super) fn change(&self, change: impl FnOnce(&mut Status) -> bool) {
        if self.status.send_if_modified(change) {
            self.observer.changed();
        }
    }

    /// Waits until no command runs, and none is being killed.
    pub(super) async fn at_rest(&self) {
        // The sender is ours, so this ends only so.
        let _ = self.underway.subscribe().wait_for(|underway| *underway == 0).await;
    }

    /// Ends the user's time with the terminal.
    pub(super) fn hand_back(&self) {
        {
            let mut state = self.state();
            let Some(taken) = state.taken.take() else { return };
            state.handed_back = Some(taken.end());
            if let Some(execution) = state.execution.as_ref().filter(|execution| execution.is_prompt) {
                execution.leave.notify_one();
            }
        }
        self.change(|status| std::mem::take(&mut status.taken));
    }

    /// Forgets an execution, and its terminal if it has one.
    fn abandon(&self, number: u64) {
        let mut state = self.state();
        if state.execution.as_ref().is_some_and(|execution| execution.number == number) {
            state.execution = None;
            state.terminal = None;
        }
    }
}

/// A command that somebody waits for.
pub(super) struct Awaited {
    pub(super) ended: oneshot::Receiver<Ran>,
    /// The offset of its first byte of output.
    pub(super) start_offset: u64,
    pub(super) guard: Guard,
}

/// Gives a command up when it is dropped.
pub(super) struct Guard {
    pub(super) common: Common,
    pub(super) number: u64,
    pub(super) abandoned: CancellationToken,
    /// True once it has ended, and the caller is told.
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) holds: bool,
}

impl Awaited {
    /// Its end.
    pub(super) async fn end(mut self) -> Result<Ran, ShellError> {
        let ran = (&mut self.ended).await.map_err(|_| ShellError::NotResponding);
        self.guard.holds = false;
        ran
    }

    /// Lets the command continue on its own. Returns true if it does; if it has just ended, that is still told here.
    pub(super) fn release(&mut self) -> bool {
        self.guard.holds = false;
        let mut state = self.guard.common.state();
        let execution = state.execution.as_mut().filter(|execution| execution.number == self.guard.number);
        match execution {
            Some(execution) if !self.guard.is_over.load(Ordering::SeqCst) => {
                execution.is_released = true;
                true
            }
            _ => false,
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.holds {
            self.common.abandon(self.number);
            self.abandoned.cancel();
        }
    }
}

/// Runs a command to its end.
pub(super) struct Runner {
    pub(super) running: Running,
    pub(super) terminal: Arc<Terminal>,
    pub(super) end: oneshot::Receiver<Ended>,
    pub(super) at_prompt: UnboundedReceiver<AtPrompt>,
    pub(super) options: RunOptions,
    /// The shell's folder before.
    pub(super) home: PathBuf,
    pub(super) began: Instant,
    /// The same in the unit that processes are dated by.
    pub(super) since: u64,
    pub(super) start_offset: u64,
}

impl Runner {
    /// Runs it; none if nobody waits for it any longer.
    pub(super) async fn run(mut self) -> Option<Ran> {
        let limit = match self.options.timeout {
            UNLIMITED => UNLIMITED,
            limit => limit.clamp(MIN_TIMEOUT, MAX_TIMEOUT),
        };
        let common = self.running.common.clone();
        let is_prompt = self.running.is_prompt;
        let watched = waiting::watch(Arc::clone(&self.terminal), common.clone(), self.start_offset);
        let stopped = tokio::select! {
            biased;
            () = self.running.abandoned.cancelled() => return None,
            ended = &mut self.end => Err(ended.ok()),
            never = self.terminal.see_interrupts_through() => match never {},
            () = self.options.cancel.cancelled(), if !is_prompt => Ok(Stop::Cancelled),
            () = self.running.kill.notified() => Ok(Stop::Killed),
            () = prompted(&common, &mut self.at_prompt, &self.running), if is_prompt => Ok(Stop::Left),
            never = watched, if !is_prompt => match never {},
            () = run_out(limit, common.status.subscribe()), if !is_prompt => Ok(Stop::TimedOut(limit)),
        };
        // The processes that the user has started at a prompt stay.
        let since = if is_prompt { processes::now() + 1 } else { self.since };
        let (stop, ended) = match stopped {
            Err(ended) => (None, ended),
            Ok(stop) => (Some(stop), interrupt(&self.terminal, since, &mut self.end).await),
        };
        if self.running.abandoned.is_cancelled() {
            return None;
        }
        while let Ok(what) = self.at_prompt.try_recv() {
            at_prompt(&common, &self.running, what);
        }
        Some(self.finish(stop, ended).await)
    }

    async fn finish(self, stop: Option<Stop>, ended: Option<Ended>) -> Ran {
        let Self { running, options, home, began, start_offset, .. } = self;
        let common = running.common.clone();
        let began_in = options.cwd.clone().unwrap_or_else(|| home.clone());
        let came_back = ended.as_ref().and_then(|ended| ended.cwd.clone());
        let mut note = note(&common, stop, ended.as_ref());
        let end_offset = ended.as_ref().map_or_else(|| common.spool.end(), |ended| ended.offset);
        let exit_code = ended.as_ref().and_then(|ended| ended.code).filter(|_| stop.is_none());
        let cwd_after = match (&came_back, options.cwd) {
            (None, _) => common.first_folder.clone(),
            (Some(_), Some(_)) => home,
            (Some(cwd), None) => cwd.clone(),
        };
        if let Some(said) = &running.note {
            note = Some(note.map_or_else(|| said.clone(), |note| format!("{said} {note}")));
        }
        let Printed { text: output, is_cut } = ended.map(|ended| ended.output).unwrap_or_default();
        if exit_code != Some(0)
            && let Some(refusal) = refusal(&common.confinement, &output, [&cwd_after, &began_in]).await
        {
            note = Some(note.map_or_else(|| refusal.clone(), |note| format!("{note} {refusal}")));
        }
        let ran = Ran {
            output,
            is_cut,
            exit_code,
            timed_out: matches!(stop, Some(Stop::TimedOut(_))),
            cancelled: matches!(stop, Some(Stop::Cancelled | Stop::Killed)),
            duration: began.elapsed(),
            cwd_after: cwd_after.clone(),
            start_offset,
            end_offset,
            note,
        };
        {
            let mut state = common.state();
            state.cwd = cwd_after;
            if came_back.is_none() {
                state.terminal = None;
            }
            if state
                .execution
                .as_ref()
                .is_some_and(|execution| execution.number == running.number && execution.is_released)
            {
                state.news.push(news(&running.line, &ran));
            } else {
                running.is_over.store(true, Ordering::SeqCst);
            }
        }
        self.terminal.end_line();
        running.finish(end_offset, exit_code);
        ran
    }
}

/// Why a command failed, where the sandbox is the reason.
async fn refusal(confinement: &Confinement, output: &str, folders: [&PathBuf; 2]) -> Option<String> {
    confinement.in_force()?;
    let (policy, output) = (confinement.policy.clone()?, output.to_owned());
    let folders = folders.map(Clone::clone);
    let explain = move || policy.explain(&output, &folders.each_ref().map(PathBuf::as_path));
    tokio::task::spawn_blocking(explain).await.ok().flatten()
}

/// Returns what the model is told of a command that has ended after its call had returned.
fn news(line: &str, ran: &Ran) -> String {
    /// So much of its end is told, in characters.
    const LAST: usize = 1500;
    let how = match ran.exit_code {
        _ if ran.timed_out => "was stopped, since its time was over".to_owned(),
        _ if ran.cancelled => "was stopped".to_owned(),
        Some(code) => format!("has ended with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    };
    let text = ran.output.trim_end();
    let skipped = text.chars().count().saturating_sub(LAST);
    let last: String = text.chars().skip(skipped).collect();
    let last = if last.is_empty() { "It printed nothing.".to_owned() } else { format!("The last it printed:\n{last}") };
    format!("The command `{}`, which waited for input, {how}. {last}", super::beginning(line))
}

/// Follows what the user does at the prompt. Comes to an end when it reads a line and is to be left.
async fn prompted(common: &Common, marks: &mut UnboundedReceiver<AtPrompt>, running: &Running) {
    let (mut reads, mut leaving) = (false, false);
    while !(reads && leaving) {
        tokio::select! {
            biased;
            what = marks.recv() => match what {
                Some(what) => {
                    reads = what == AtPrompt::Reads;
                    at_prompt(common, running, what);
                }
                None => return std::future::pending().await,
            },
            () = running.leave.notified() => leaving = true,
        }
    }
}

fn at_prompt(common: &Common, running: &Running, what: AtPrompt) {
    let line = match what {
        AtPrompt::Reads => String::new(),
        AtPrompt::Runs(line) if line.starts_with([' ', '\t']) => UNTOLD.to_owned(),
        AtPrompt::Runs(line) => environment::without_secrets(&line),
        AtPrompt::Left => return common.hand_back(),
    };
    {
        let mut state = common.state();
        if let Some(execution) = state.execution.as_mut().filter(|execution| execution.number == running.number) {
            execution.line.clone_from(&line);
            execution.began = SystemTime::now();
            execution.early = None;
        }
        if line == UNTOLD {
            state.remember("ran something that is not told".to_owned());
        } else if !line.is_empty() {
            state.remember(format!("ran `{line}`"));
        }
    }
    if !line.is_empty() {
        let (text, hidden) = if line == UNTOLD { ("", true) } else { (line.as_str(), false) };
        common.observer.typed(None, Typist::User, text, hidden);
    }
    common.observer.changed();
}

/// Waits until a command's time is over. It stands still while the user has the terminal, and, for [`PATIENCE`] in all,
/// while the command is seen to wait for input.
async fn run_out(limit: Duration, mut status: watch::Receiver<Status>) {
    let (mut left, mut patience) = (limit, PATIENCE);
    loop {
        let (taken, waits) = {
            let status = status.borrow_and_update();
            let waits =
                |waiting: &protocol::terminal::Waiting| waiting.hidden || waiting.certainty == Certainty::Certain;
            (status.taken, status.waiting.as_ref().is_some_and(waits))
        };
        let began = Instant::now();
        if taken {
            let _ = status.changed().await;
        } else if waits && !patience.is_zero() {
            let _ = tokio::time::timeout(patience, status.changed()).await;
            patience = patience.saturating_sub(began.elapsed());
        } else {
            if tokio::time::timeout(left, status.changed()).await.is_err() {
                return;
            }
            left = left.saturating_sub(began.elapsed());
        }
    }
}

fn note(common: &Common, stop: Option<Stop>, ended: Option<&Ended>) -> Option<String> {
    let survived = ended.is_some_and(|ended| ended.cwd.is_some());
    let shell = if survived {
        "The shell goes on with its folder and variables.".to_owned()
    } else {
        format!(
            "The shell ended too: the next command gets a new one in {}, without the variables, functions and \
             background jobs of this one.",
            common.first_folder.display()
        )
    };
    match stop {
        Some(Stop::TimedOut(limit)) => Some(format!(
            "The command was stopped with all it had started, since its {} s were over. If it waited for input, \
             run it without questions; if it needs longer, give it a longer timeout. {shell}",
            limit.as_secs()
        )),
        Some(Stop::Cancelled) => Some(format!("The command was cancelled, with all it had started. {shell}")),
        Some(Stop::Killed) => Some(format!("The user stopped the command, with all it had started. {shell}")),
        None | Some(Stop::Left) if survived => None,
        None | Some(Stop::Left) => Some(shell),
    }
}

/// Why a command is stopped.
#[derive(Clone, Copy, Debug)]
enum Stop {
    TimedOut(Duration),
    Cancelled,
    Killed,
    /// The user's prompt is left.
    Left,
}

/// The command that runs, for as long as it does.
pub(super) struct Running {
    pub(super) common: Common,
    pub(super) number: u64,
    pub(super) call: ToolCallId,
    pub(super) line: String,
    pub(super) is_prompt: bool,
    pub(super) kill: Arc<Notify>,
    pub(super) leave: Arc<Notify>,
    pub(super) abandoned: CancellationToken,
    pub(super) terminal: Option<Arc<Terminal>>,
    /// A note about the shell that it runs in.
    pub(super) note: Option<String>,
    pub(super) started: bool,
    pub(super) finished: bool,
    /// True once it has ended, and whoever waits for its end is told of it.
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) underway: Option<Underway>,
}

/// Counts a command for as long as it is there.
pub(super) struct Underway {
    count: Arc<watch::Sender<usize>>,
    over: CancellationToken,
}

impl Underway {
    pub(super) fn new(count: &Arc<watch::Sender<usize>>) -> Self {
        count.send_modify(|count| *count += 1);
        Self { count: Arc::clone(count), over: CancellationToken::new() }
    }

    /// Is triggered when it is not there any more.
    pub(super) fn over(&self) -> CancellationToken {
        self.over.clone()
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
        self.over.cancel();
    }
}

impl Running {
    /// The command has started, and can be typed to.
    pub(super) fn start(&mut self, terminal: &Terminal, offset: u64) {
        self.started = true;
        let mut state = self.common.state();
        let Some(execution) = state.execution.as_mut().filter(|execution| execution.number == self.number) else {
            return;
        };
        execution.since = Some(offset);
        if let Some(early) = execution.early.take()
            && !early.is_empty()
        {
            // A keyboard that is still empty takes it.
            let by = (!self.is_prompt).then_some(Typist::User);
            let _ = terminal.type_in(by, &early);
        }
    }

    /// The command has ended.
    fn finish(mut self, offset: u64, exit_code: Option<i32>) {
        self.finished = true;
        if !self.is_prompt {
            self.common.observer.ended(&self.call, offset, exit_code);
        }
    }
}

/// A command that nobody waits for any longer is killed with its shell: its end could not be told from the next one's.
/// That takes a while, and no thread of the runtime's.
impl Drop for Running {
    fn drop(&mut self) {
        let abandoned = {
            let mut state = self.common.state();
            let is_ours = state.execution.as_ref().is_some_and(|execution| execution.number == self.number);
            let terminal = self.terminal.take().filter(|_| !self.finished);
            if is_ours {
                state.execution = None;
                if terminal.is_some() {
                    state.terminal = None;
                }
            }
            terminal
        };
        self.common.change(|status| status.waiting.take().is_some());
        let Some(terminal) = abandoned else { return };
        let (observer, spool) = (Arc::clone(&self.common.observer), Arc::clone(&self.common.spool));
        let (call, underway) = (self.call.clone(), self.underway.take());
        let tell = self.started && !self.is_prompt;
        let kill = move || {
            terminal.kill();
            if tell {
                observer.ended(&call, spool.end(), None);
            }
            drop(underway);
        };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(kill)),
            Err(_) => kill(),
        }
    }
}

/// Stops a command, with growing force. Gives nothing where not even the shell's death was seen.
async fn interrupt(terminal: &Arc<Terminal>, since: u64, end: &mut oneshot::Receiver<Ended>) -> Option<Ended> {
    for (force, grace) in GRACE {
        let target = Arc::clone(terminal);
        blocking(move || target.signal(force, since)).await;
        terminal.ask_for_end().await;
        if let Ok(Ok(ended)) = tokio::time::timeout(grace, &mut *end).await {
            let target = Arc::clone(terminal);
            blocking(move || target.kill_since(since)).await;
            return Some(ended);
        }
    }
    let target = Arc::clone(terminal);
    blocking(move || target.kill()).await;
    tokio::time::timeout(Duration::from_secs(2), end).await.ok()?.ok()
}

pub(super) async fn blocking(work: impl FnOnce() + Send + 'static) {
    if let Err(error) = tokio::task::spawn_blocking(work).await {
        tracing::error!(%error, "work on a terminal broke down");
    }
}
