//! The session's terminals, its shell, the one outside the sandbox and its jobs: what clients see of them, and type
//! into them.

mod observer;
mod recorded;
mod spools;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ports::store::Store;
use protocol::event::Severity;
use protocol::terminal::{
    Done, RunningCommand, SandboxMode, TerminalAckParams, TerminalCloseParams, TerminalInfo, TerminalKillParams,
    TerminalKind, TerminalListResult, TerminalOpenParams, TerminalOpenResult, TerminalResizeParams,
    TerminalSignalParams, TerminalSize, TerminalTakeParams, TerminalWriteParams,
};
use protocol::{ErrorCode, Event, SessionId, TerminalId, methods};
use shell::jobs::number as job_number;
use shell::{InFlight, Job, Jobs, Observer, Outside, Shell, ShellConfig, ShellError, Spool, StartFiles, Status};
use tokio::sync::mpsc;

use self::observer::Recorder;
pub(super) use self::recorded::Recorded;
use self::recorded::bounded;
pub(super) use self::spools::Spools;
use self::spools::folder_of;
use super::{Caller, Own, Session};
use crate::clock::now;
use crate::request::Handlers;
use crate::{Error, Reply};

/// The time that commands have to end with their session.
const END: Duration = Duration::from_secs(5);

/// Registers the requests about terminals.
pub(super) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .at_once::<methods::TerminalList>(|session, _, _| Ok(session.terminals.list(&session.state.terminals)))
        .on::<methods::TerminalOpen>(|session, caller, params, reply| session.terminals.open(&caller, params, reply))
        .at_once::<methods::TerminalWrite>(|session, _, params| session.terminals.write(&params))
        .at_once::<methods::TerminalResize>(|session, _, params| session.terminals.resize(&params))
        .on::<methods::TerminalKill>(|session, _, params, reply| session.terminals.kill(params, reply))
        .on::<methods::TerminalSignal>(|session, _, params, reply| session.terminals.signal(&params, reply))
        .at_once::<methods::TerminalTake>(|session, _, params| session.terminals.take(&params))
        .at_once::<methods::TerminalAck>(|session, caller, params| Ok(session.terminals.acknowledge(&caller, &params)))
        .at_once::<methods::TerminalClose>(|session, caller, params| Ok(session.terminals.unfollow(&caller, &params)));
}

/// The messages that come back to the session's task for its terminals.
pub(super) enum Message {
    /// An event to record for one, such as a command's start.
    Event(Box<Event>),
    /// One is otherwise than was last said.
    Changed(TerminalId),
}

/// The terminals of a session.
pub(super) struct Terminals {
    session: SessionId,
    /// Back to the session's task.
    own: mpsc::UnboundedSender<Own>,
    store: Arc<dyn Store>,
    /// The shell's.
    id: TerminalId,
    shell: Arc<Shell>,
    /// Its commands in the background.
    jobs: Arc<Jobs>,
    /// Its shell outside the sandbox.
    outside: Arc<Outside>,
    /// The sandbox that the shell and the jobs are in; `full` if there is none.
    sandbox: SandboxMode,
    /// When the session was made, and its shell with it.
    created_at: u64,
}

/// The parts that the terminals of a session are made of.
pub(super) struct Made {
    pub(super) session: SessionId,
    pub(super) own: mpsc::UnboundedSender<Own>,
    pub(super) store: Arc<dyn Store>,
    /// The confinement of the processes, and the folder where they begin.
    pub(super) config: ShellConfig,
    /// The output of the shell.
    pub(super) spool: Arc<Spool>,
    /// True if shells begin with what the user's start files define.
    pub(super) start_files: bool,
    pub(super) created_at: u64,
}

/// The terminal of a session's shell.
pub(super) fn of_shell(session: &SessionId) -> TerminalId {
    TerminalId::new(format!("shell-{session}"))
}

/// The terminal of a session's shell outside the sandbox.
pub(super) fn of_outside(session: &SessionId) -> TerminalId {
    TerminalId::new(format!("outside-{session}"))
}

/// True if what a terminal printed outlives the process that it was in.
fn is_kept(session: &SessionId, terminal: &TerminalId) -> bool {
    job_number(terminal).is_some() || *terminal == of_outside(session)
}

impl Terminals {
    /// The terminals of a session whose log says this of earlier ones. Nothing is started yet.
    pub(super) fn new(made: Made, recorded: &Recorded) -> Self {
        // They run once in a process for all its sessions whose commands may write the same places.
        static START_FILES: LazyLock<StartFiles> = LazyLock::new(StartFiles::default);

        let Made { session, own, store, config, spool, start_files, created_at } = made;
        let observer =
            |terminal: TerminalId| -> Arc<dyn Observer> { Arc::new(Recorder { own: own.clone(), terminal }) };
        let of_jobs = own.clone();
        let of_job = move |job: &TerminalId| -> Arc<dyn Observer> {
            Arc::new(Recorder { own: of_jobs.clone(), terminal: job.clone() })
        };
        let start_files = start_files.then(|| Arc::new(START_FILES.for_session(&config)));
        let sandbox = config.confinement.in_force().map_or(SandboxMode::Full, |policy| policy.mode);
        let id = of_shell(&session);
        let mut outside = Outside::new(&config, observer(of_outside(&session)));
        let mut jobs = Jobs::new(config.clone(), recorded.last_job + 1, Box::new(of_job));
        let mut shell = Shell::with_spool(config, spool, observer(id.clone()));
        if let Some(files) = start_files {
            outside = outside.with_start_files(Arc::clone(&files));
            jobs = jobs.with_start_files(Arc::clone(&files));
            shell = shell.with_start_files(files);
        }
        let (shell, jobs, outside) = (Arc::new(shell), Arc::new(jobs), Arc::new(outside));
        Self { session, own, store, id, shell, jobs, outside, sandbox, created_at }
    }

    /// The shell that commands run in.
    pub(super) fn shell(&self) -> &Arc<Shell> {
        &self.shell
    }

    /// The commands in the background.
    pub(super) fn jobs(&self) -> &Arc<Jobs> {
        &self.jobs
    }

    /// The shell outside the sandbox.
    pub(super) fn outside(&self) -> &Arc<Outside> {
        &self.outside
    }

    /// True if commands run in a sandbox.
    pub(super) fn is_sandboxed(&self) -> bool {
        self.sandbox != SandboxMode::Full
    }

    /// True if something goes on in the background.
    pub(super) fn is_busy(&self) -> bool {
        self.jobs.all().iter().any(|job| job.is_alive())
    }

    /// Ends the command that runs outside the sandbox, and, if it is the turn's, the one in the shell.
    pub(super) fn end_commands(&self, of_shell: bool) {
        if of_shell {
            tokio::spawn(self.shell.kill());
        }
        if let Some(outside) = self.outside.get() {
            tokio::spawn(outside.kill());
        }
    }

    /// Has shells of a workspace that is no longer trusted make way for others: at once if they do nothing, else before
    /// the next command.
    pub(super) fn make_way(&self) {
        let shells = [Some(Arc::clone(&self.shell)), self.outside.get()];
        for shell in shells.into_iter().flatten() {
            tokio::spawn(async move { shell.make_way().await });
        }
    }

    /// Ends all that runs in them. Nothing of it outlives the session in this process.
    pub(super) async fn end(&self) {
        let all = async { tokio::join!(self.shell.close(), self.jobs.end(), self.outside.end()) };
        if tokio::time::timeout(END, all).await.is_err() {
            tracing::error!(session = %self.session, "a command could not be ended in time");
        }
    }

    /// All that there are now.
    fn list(&self, recorded: &Recorded) -> TerminalListResult {
        let jobs = self.jobs.all();
        let shells = std::iter::once(self.shell_info(recorded)).chain(self.outside_info(recorded));
        TerminalListResult { terminals: shells.chain(jobs.iter().map(|job| self.job_info(job, recorded))).collect() }
    }

    /// Has a client follow one.
    fn open(&self, caller: &Caller, params: TerminalOpenParams, reply: Reply<TerminalOpenResult>) {
        if let Some(size) = params.size
            && let Err(error) = check(size)
        {
            return drop(reply.send(Err(error)));
        }
        let id = params.terminal_id.clone().unwrap_or_else(|| self.id.clone());
        match self.get(&id) {
            Ok(shell) => {
                if let Some(size) = params.size {
                    shell.resize(size);
                }
                let alive = self.info(&id, &Recorded::default()).is_some_and(|info| info.alive);
                follow(&self.session, caller, id, Arc::clone(shell.spool()), &params, alive, reply);
            }
            Err(error) if !is_kept(&self.session, &id) => drop(reply.send(Err(error))),
            // One of an earlier process: what it printed may still be there.
            Err(error) => {
                let (session, caller, store) = (self.session.clone(), caller.clone(), Arc::clone(&self.store));
                tokio::task::spawn_blocking(move || {
                    let folder = store.session_folder(&session).ok();
                    match folder.and_then(|folder| Spool::open(&folder_of(&folder, &id)?).ok()) {
                        Some(spool) => follow(&session, &caller, id, Arc::new(spool), &params, false, reply),
                        None => drop(reply.send(Err(error))),
                    }
                });
            }
        }
    }

    /// Notes how far a client has come. Of a terminal that it does not follow, that means nothing.
    fn acknowledge(&self, caller: &Caller, params: &TerminalAckParams) -> Done {
        caller.editor.acknowledge_terminal(&self.session, &params.terminal_id, params.offset);
        Done {}
    }

    /// Has a client follow one no longer.
    fn unfollow(&self, caller: &Caller, params: &TerminalCloseParams) -> Done {
        caller.editor.unfollow_terminal(&self.session, &params.terminal_id);
        Done {}
    }

    /// Types into one.
    fn write(&self, params: &TerminalWriteParams) -> Result<Done, Error> {
        let not_base64 = |_| Error::new(ErrorCode::InvalidParams, "invalid params: `data`: not base64");
        let bytes = BASE64_STANDARD.decode(&params.data).map_err(not_base64)?;
        self.get(&params.terminal_id)?.write(&bytes).map(|()| Done {}).map_err(failed)
    }

    /// Says how large a client shows one.
    fn resize(&self, params: &TerminalResizeParams) -> Result<Done, Error> {
        let shell = self.get(&params.terminal_id)?;
        check(params.size)?;
        shell.resize(params.size);
        Ok(Done {})
    }

    /// Sends a signal to what runs in one.
    fn signal(&self, params: &TerminalSignalParams, reply: Reply<Done>) {
        let signalled = self.get(&params.terminal_id).and_then(|shell| shell.signal(params.signal).map_err(failed));
        match signalled {
            Err(error) => drop(reply.send(Err(error))),
            Ok(sent) => drop(tokio::spawn(async move {
                sent.await;
                let _ = reply.send(Ok(Done {}));
            })),
        }
    }

    /// Ends what runs in one.
    fn kill(&self, params: TerminalKillParams, reply: Reply<Done>) {
        let id = params.terminal_id;
        if let Some(job) = self.jobs.get(&id) {
            let ended = job.kill();
            tokio::spawn(async move {
                ended.await;
                let _ = reply.send(Ok(Done {}));
            });
            return;
        }
        match self.get(&id) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(shell) => {
                let (ended, own) = (shell.kill(), self.own.clone());
                tokio::spawn(async move {
                    ended.await;
                    let _ = own.send(Own::Terminals(Message::Changed(id)));
                    let _ = reply.send(Ok(Done {}));
                });
            }
        }
    }

    /// Takes a terminal over for the user, or hands it back.
    fn take(&self, params: &TerminalTakeParams) -> Result<Done, Error> {
        self.get(&params.terminal_id)?.take(params.taken);
        Ok(Done {})
    }

    /// Returns the events to record for a terminal, if its state is news.
    pub(super) fn news(&self, id: &TerminalId, recorded: &Recorded) -> Vec<Event> {
        let Some(info) = self.info(id, recorded) else { return Vec::new() };
        let known = recorded.terminals.get(id);
        if known.is_some_and(|known| TerminalInfo { end: known.end, ..info.clone() } == *known) {
            return Vec::new();
        }
        let hidden = |info: &TerminalInfo| info.waiting.clone().filter(|waiting| waiting.hidden);
        let is_new = known.and_then(hidden).is_none();
        let warning = hidden(&info).filter(|_| is_new && !info.taken).map(|waiting| {
            let asked = Some(waiting.prompt.trim()).filter(|it| !it.is_empty());
            let asked = asked.map(|prompt| format!(" (“{prompt}”)")).unwrap_or_default();
            let text = format!(
                "A command asks for something that is not shown, such as a password{asked}. Type it in the terminal: it \
                 is kept nowhere, and the model does not see it."
            );
            Event::Notice { severity: Severity::Info, text }
        });
        warning.into_iter().chain([Event::TerminalChanged { terminal: Box::new(info) }]).collect()
    }

    /// Returns the events to record for the terminals that lived in the last process: they have ended with it.
    pub(super) async fn left(&self, recorded: &Recorded) -> Vec<Event> {
        let mut left: Vec<_> = recorded.terminals.values().filter(|info| info.alive).cloned().collect();
        left.sort_by_key(|info| job_number(&info.terminal_id));
        let of = |id: &TerminalId| (id.clone(), None);
        let mut ends: HashMap<TerminalId, Option<u64>> =
            left.iter().map(|info| of(&info.terminal_id)).chain(recorded.running.keys().map(of)).collect();
        if ends.is_empty() {
            return Vec::new();
        }
        let (store, session) = (Arc::clone(&self.store), self.session.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let folder = store.session_folder(&session).ok();
            for (id, end) in &mut ends {
                let spool = folder.as_ref().and_then(|folder| Spool::open(&folder_of(folder, id)?).ok());
                *end = spool.map(|spool| spool.end());
            }
            ends
        });
        let ends = looked.await.unwrap_or_default();
        let end = |id: &TerminalId| ends.get(id).copied().flatten();
        let commands = recorded.running.iter().map(|(terminal_id, running)| {
            let (terminal_id, tool_call_id) = (terminal_id.clone(), running.tool_call_id.clone());
            let offset = end(&terminal_id).unwrap_or_default();
            Event::TerminalEnded { terminal_id, tool_call_id, offset, exit_code: None }
        });
        let terminals = left.into_iter().map(|info| {
            let ended_at = (info.kind == TerminalKind::Job).then(now);
            let end = end(&info.terminal_id).unwrap_or(info.end);
            let ended =
                TerminalInfo { alive: false, running: None, waiting: None, taken: false, ended_at, end, ..info };
            Event::TerminalChanged { terminal: Box::new(ended) }
        });
        commands.chain(terminals).collect()
    }

    fn info(&self, id: &TerminalId, recorded: &Recorded) -> Option<TerminalInfo> {
        if *id == self.id {
            return Some(self.shell_info(recorded));
        }
        if *id == of_outside(&self.session) {
            return self.outside_info(recorded);
        }
        self.jobs.get(id).map(|job| self.job_info(&job, recorded))
    }

    fn shell_info(&self, recorded: &Recorded) -> TerminalInfo {
        TerminalInfo {
            terminal_id: self.id.clone(),
            kind: TerminalKind::Shell,
            title: String::from("shell"),
            cwd: self.shell.cwd().display().to_string(),
            alive: self.shell.is_alive(),
            started_at: self.created_at,
            ..self.info_of(&self.id, &self.shell, recorded)
        }
    }

    /// The shell outside the sandbox, if it was needed.
    fn outside_info(&self, recorded: &Recorded) -> Option<TerminalInfo> {
        let (id, shell) = (of_outside(&self.session), self.outside.get()?);
        Some(TerminalInfo {
            kind: TerminalKind::Outside,
            title: String::from("shell outside the sandbox"),
            cwd: shell.cwd().display().to_string(),
            sandbox: SandboxMode::Full,
            alive: shell.is_alive(),
            started_at: self.created_at,
            ..self.info_of(&id, &shell, recorded)
        })
    }

    fn job_info(&self, job: &Job, recorded: &Recorded) -> TerminalInfo {
        let status = job.status();
        TerminalInfo {
            kind: TerminalKind::Job,
            title: bounded(job.command()),
            cwd: job.cwd().display().to_string(),
            alive: status.ended_at.is_none(),
            ready: status.ready,
            started_at: status.started_at.unwrap_or_default(),
            ended_at: status.ended_at,
            exit_code: status.exit_code,
            ..self.info_of(job.id(), job.shell(), recorded)
        }
    }

    /// Returns the state of a terminal, as far as it is made in the same way for every kind.
    fn info_of(&self, id: &TerminalId, shell: &Shell, recorded: &Recorded) -> TerminalInfo {
        let Status { waiting, taken } = shell.status().borrow().clone();
        // The log knows of no command that the user runs at their own prompt.
        let of_users = if taken { shell.running().map(of_prompt) } else { None };
        TerminalInfo {
            terminal_id: id.clone(),
            kind: TerminalKind::default(),
            title: String::new(),
            cwd: String::new(),
            sandbox: self.sandbox,
            alive: false,
            running: recorded.running.get(id).cloned().or(of_users),
            waiting,
            taken,
            ready: None,
            started_at: 0,
            ended_at: None,
            exit_code: None,
            end: shell.spool().end(),
        }
    }

    fn get(&self, id: &TerminalId) -> Result<Arc<Shell>, Error> {
        if *id == self.id {
            return Ok(Arc::clone(&self.shell));
        }
        if let Some(shell) = self.outside.get().filter(|_| *id == of_outside(&self.session)) {
            return Ok(shell);
        }
        let job = self.jobs.get(id).ok_or_else(|| Error::not_found("terminal", id))?;
        Ok(Arc::clone(job.shell()))
    }
}

/// Returns the command that the user runs at their prompt.
fn of_prompt(running: InFlight) -> RunningCommand {
    let since = running.began.duration_since(UNIX_EPOCH).unwrap_or_default();
    RunningCommand {
        started_at: u64::try_from(since.as_millis()).unwrap_or(0),
        tool_call_id: running.call,
        command: bounded(&running.command),
    }
}

/// Has a client follow a terminal, and says from where on.
fn follow(
    session: &SessionId,
    caller: &Caller,
    terminal_id: TerminalId,
    spool: Arc<Spool>,
    params: &TerminalOpenParams,
    alive: bool,
    reply: Reply<TerminalOpenResult>,
) {
    let (since, _) = spool.read_from(params.since, 0);
    let _ = reply.send(Ok(TerminalOpenResult { terminal_id: terminal_id.clone(), since, alive }));
    caller.editor.follow_terminal(session, &terminal_id, spool, since);
    if params.acknowledges {
        caller.editor.acknowledge_terminal(session, &terminal_id, since);
    }
}

fn failed(error: ShellError) -> Error {
    Error::new(ErrorCode::OperationFailed, error.to_string())
}

fn check(size: TerminalSize) -> Result<(), Error> {
    if (1..=1000).contains(&size.columns) && (1..=1000).contains(&size.rows) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidParams, "invalid params: `size`: columns and rows go from 1 to 1000"))
}

#[cfg(test)]
mod tests;
