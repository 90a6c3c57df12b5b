//! The session's terminals, its shell and its jobs: what clients see of them, and type into them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::event::Severity;
use protocol::terminal::{
    Done, RunningCommand, SandboxMode, TerminalAckParams, TerminalCloseParams, TerminalInfo, TerminalKillParams,
    TerminalKind, TerminalListResult, TerminalOpenParams, TerminalOpenResult, TerminalResizeParams,
    TerminalSignalParams, TerminalSize, TerminalTakeParams, TerminalWriteParams,
};
use protocol::{ErrorCode, Event, SessionId, TerminalId};
use workspace::shell::jobs::number as job_number;
use workspace::shell::{InFlight, Job, OUTSIDE_FOLDER, Shell, ShellError, Spool, Status};

use super::{Caller, Own, Session};
use crate::hub::feed::now;
use crate::hub::{Error, Reply};

/// The longest command line that a terminal's state says, in characters; its start says all of it.
const LONGEST_COMMAND: usize = 1000;

/// What terminals printed, as far as somebody asked. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Spools(Arc<Mutex<HashMap<TerminalId, Arc<Spool>>>>);

impl Spools {
    /// A terminal's, if it is open.
    pub(super) fn get(&self, terminal: &TerminalId) -> Option<Arc<Spool>> {
        self.lock().get(terminal).cloned()
    }

    /// Those that are open.
    pub(super) fn all(&self) -> Vec<(TerminalId, Arc<Spool>)> {
        self.lock().iter().map(|(terminal, spool)| (terminal.clone(), Arc::clone(spool))).collect()
    }

    /// A terminal's, opened if need be: its files are in the session's folder. Blocks.
    ///
    /// # Errors
    /// There is no such terminal, or its files cannot be read.
    pub(super) fn open(&self, session_folder: &Path, terminal: &TerminalId) -> io::Result<Arc<Spool>> {
        if let Some(spool) = self.get(terminal) {
            return Ok(spool);
        }
        let folder = folder_of(session_folder, terminal).ok_or(io::ErrorKind::NotFound)?;
        let spool = Arc::new(Spool::open(&folder)?);
        Ok(Arc::clone(self.lock().entry(terminal.clone()).or_insert(spool)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TerminalId, Arc<Spool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The terminal of a session's shell.
pub(super) fn of_shell(session: &SessionId) -> TerminalId {
    TerminalId::new(format!("shell-{session}"))
}

/// The terminal of a session's shell outside the sandbox.
pub(super) fn of_outside(session: &SessionId) -> TerminalId {
    TerminalId::new(format!("outside-{session}"))
}

/// Where a terminal's files are; none for what is no name of one.
fn folder_of(session_folder: &Path, terminal: &TerminalId) -> Option<PathBuf> {
    match job_number(terminal) {
        Some(number) => Some(session_folder.join("jobs").join(format!("job-{number}"))),
        None if terminal.as_str().starts_with("outside-") => Some(session_folder.join(OUTSIDE_FOLDER)),
        None => terminal.as_str().starts_with("shell-").then(|| session_folder.to_owned()),
    }
}

/// Whether what a terminal printed outlives the process that it was in.
fn is_kept(session: &SessionId, terminal: &TerminalId) -> bool {
    job_number(terminal).is_some() || *terminal == of_outside(session)
}

/// A command line, cut where it is very long.
pub(super) fn bounded(command: &str) -> String {
    match command.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
        None => command.to_owned(),
    }
}

impl Session {
    pub(super) fn terminal_list(&mut self, reply: Reply<TerminalListResult>) {
        let jobs = self.jobs.all();
        let shells = std::iter::once(self.shell_info()).chain(self.outside_info());
        let terminals = shells.chain(jobs.iter().map(|job| self.job_info(job))).collect();
        let _ = reply.send(Ok(TerminalListResult { terminals }));
    }

    pub(super) fn terminal_open(
        &mut self,
        caller: &Caller,
        params: TerminalOpenParams,
        reply: Reply<TerminalOpenResult>,
    ) {
        if let Some(size) = params.size
            && let Err(error) = check(size)
        {
            return drop(reply.send(Err(error)));
        }
        let id = params.terminal_id.clone().unwrap_or_else(|| self.terminal.clone());
        match self.terminal(&id) {
            Ok(shell) => {
                if let Some(size) = params.size {
                    shell.resize(size);
                }
                let alive = self.terminal_info(&id).is_some_and(|info| info.alive);
                follow(&self.id, caller, id, Arc::clone(shell.spool()), &params, alive, reply);
            }
            Err(error) if !is_kept(&self.id, &id) => drop(reply.send(Err(error))),
            // One of an earlier process: what it printed may still be there.
            Err(error) => {
                let (session, caller, store) = (self.id.clone(), caller.clone(), Arc::clone(&self.shared.parts.store));
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

    /// How far a client has come. Of a terminal that it does not follow, that means nothing.
    pub(super) fn terminal_ack(&self, caller: &Caller, params: &TerminalAckParams, reply: Reply<Done>) {
        caller.editor.acknowledge_terminal(&self.id, &params.terminal_id, params.offset);
        let _ = reply.send(Ok(Done {}));
    }

    pub(super) fn terminal_close(&mut self, caller: &Caller, params: &TerminalCloseParams, reply: Reply<Done>) {
        caller.editor.unfollow_terminal(&self.id, &params.terminal_id);
        let _ = reply.send(Ok(Done {}));
    }

    pub(super) fn terminal_write(&mut self, params: TerminalWriteParams, reply: Reply<Done>) {
        let Ok(bytes) = BASE64_STANDARD.decode(&params.data) else {
            let text = "invalid params: `data`: not base64";
            return drop(reply.send(Err(Error::new(ErrorCode::InvalidParams, text))));
        };
        let written =
            self.terminal(&params.terminal_id).and_then(|shell| shell.write(&bytes).map(|()| Done {}).map_err(failed));
        let _ = reply.send(written);
    }

    pub(super) fn terminal_resize(&mut self, params: TerminalResizeParams, reply: Reply<Done>) {
        let resized = self.terminal(&params.terminal_id).and_then(|shell| {
            check(params.size)?;
            shell.resize(params.size);
            Ok(Done {})
        });
        let _ = reply.send(resized);
    }

    pub(super) fn terminal_signal(&mut self, params: &TerminalSignalParams, reply: Reply<Done>) {
        let signalled =
            self.terminal(&params.terminal_id).and_then(|shell| shell.signal(params.signal).map_err(failed));
        match signalled {
            Err(error) => drop(reply.send(Err(error))),
            Ok(sent) => drop(tokio::spawn(async move {
                sent.await;
                let _ = reply.send(Ok(Done {}));
            })),
        }
    }

    pub(super) fn terminal_kill(&mut self, params: TerminalKillParams, reply: Reply<Done>) {
        let id = params.terminal_id;
        if let Some(job) = self.jobs.get(&id) {
            let ended = job.kill();
            tokio::spawn(async move {
                ended.await;
                let _ = reply.send(Ok(Done {}));
            });
            return;
        }
        match self.terminal(&id) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(shell) => {
                let (ended, own) = (shell.kill(), self.own.clone());
                tokio::spawn(async move {
                    ended.await;
                    let _ = own.send(Own::TerminalChanged(id));
                    let _ = reply.send(Ok(Done {}));
                });
            }
        }
    }

    /// Takes a terminal over for the user, or hands it back.
    pub(super) fn terminal_take(&mut self, params: &TerminalTakeParams, reply: Reply<Done>) {
        let taken = self.terminal(&params.terminal_id).map(|shell| {
            shell.take(params.taken);
            Done {}
        });
        let _ = reply.send(taken);
    }

    /// Records what one of the session's services tells, and what it makes of a terminal.
    pub(super) fn service_event(&mut self, event: Event) {
        let terminal = match &event {
            Event::TerminalStarted { terminal_id, .. } | Event::TerminalEnded { terminal_id, .. } => {
                Some(terminal_id.clone())
            }
            _ => None,
        };
        self.record(event);
        if let Some(terminal) = terminal {
            self.terminal_changed(&terminal);
        }
    }

    /// Says how a terminal is, if that is news.
    pub(super) fn terminal_changed(&mut self, id: &TerminalId) {
        let Some(info) = self.terminal_info(id) else { return };
        let known = self.state.terminals.get(id);
        if known.is_some_and(|known| TerminalInfo { end: known.end, ..info.clone() } == *known) {
            return;
        }
        let hidden = |info: &TerminalInfo| info.waiting.clone().filter(|waiting| waiting.hidden);
        let is_new = known.and_then(hidden).is_none();
        if let Some(waiting) = hidden(&info).filter(|_| is_new && !info.taken) {
            let asked = Some(waiting.prompt.trim()).filter(|it| !it.is_empty());
            let asked = asked.map(|prompt| format!(" (“{prompt}”)")).unwrap_or_default();
            let text = format!(
                "A command asks for something that is not shown, such as a password{asked}. Type it in the terminal: it \
                 is kept nowhere, and the model does not see it."
            );
            self.record(Event::Notice { severity: Severity::Info, text });
        }
        self.record(Event::TerminalChanged { terminal: Box::new(info) });
    }

    /// Says of the terminals that lived in the last process that they have ended with it.
    pub(super) async fn terminals_left(&mut self) {
        let mut left: Vec<_> = self.state.terminals.values().filter(|info| info.alive).cloned().collect();
        left.sort_by_key(|info| job_number(&info.terminal_id));
        let of = |id: &TerminalId| (id.clone(), None);
        let mut ends: HashMap<TerminalId, Option<u64>> =
            left.iter().map(|info| of(&info.terminal_id)).chain(self.state.running.keys().map(of)).collect();
        if ends.is_empty() {
            return;
        }
        let (store, session) = (Arc::clone(&self.shared.parts.store), self.id.clone());
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
        for (terminal_id, running) in std::mem::take(&mut self.state.running) {
            let offset = end(&terminal_id).unwrap_or_default();
            let tool_call_id = running.tool_call_id;
            self.record(Event::TerminalEnded { terminal_id, tool_call_id, offset, exit_code: None });
        }
        for info in left {
            let ended_at = (info.kind == TerminalKind::Job).then(now);
            let end = end(&info.terminal_id).unwrap_or(info.end);
            let ended =
                TerminalInfo { alive: false, running: None, waiting: None, taken: false, ended_at, end, ..info };
            self.record(Event::TerminalChanged { terminal: Box::new(ended) });
        }
    }

    fn terminal_info(&self, id: &TerminalId) -> Option<TerminalInfo> {
        if *id == self.terminal {
            return Some(self.shell_info());
        }
        if *id == of_outside(&self.id) {
            return self.outside_info();
        }
        self.jobs.get(id).map(|job| self.job_info(&job))
    }

    fn shell_info(&self) -> TerminalInfo {
        TerminalInfo {
            terminal_id: self.terminal.clone(),
            kind: TerminalKind::Shell,
            title: String::from("shell"),
            cwd: self.shell.cwd().display().to_string(),
            alive: self.shell.is_alive(),
            started_at: self.state.created_at,
            ..self.info_of(&self.terminal, &self.shell)
        }
    }

    /// The shell outside the sandbox, if it was needed.
    fn outside_info(&self) -> Option<TerminalInfo> {
        let (id, shell) = (of_outside(&self.id), self.outside.get()?);
        Some(TerminalInfo {
            kind: TerminalKind::Outside,
            title: String::from("shell outside the sandbox"),
            cwd: shell.cwd().display().to_string(),
            sandbox: SandboxMode::Full,
            alive: shell.is_alive(),
            started_at: self.state.created_at,
            ..self.info_of(&id, &shell)
        })
    }

    fn job_info(&self, job: &Job) -> TerminalInfo {
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
            ..self.info_of(job.id(), job.shell())
        }
    }

    /// What is said of every terminal in the same way.
    fn info_of(&self, id: &TerminalId, shell: &Shell) -> TerminalInfo {
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
            running: self.state.running.get(id).cloned().or(of_users),
            waiting,
            taken,
            ready: None,
            started_at: 0,
            ended_at: None,
            exit_code: None,
            end: shell.spool().end(),
        }
    }

    fn terminal(&self, id: &TerminalId) -> Result<Arc<Shell>, Error> {
        if *id == self.terminal {
            return Ok(Arc::clone(&self.shell));
        }
        if let Some(shell) = self.outside.get().filter(|_| *id == of_outside(&self.id)) {
            return Ok(shell);
        }
        let job = self.jobs.get(id).ok_or_else(|| Error::not_found("terminal", id))?;
        Ok(Arc::clone(job.shell()))
    }
}

/// What the user runs at their prompt.
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
