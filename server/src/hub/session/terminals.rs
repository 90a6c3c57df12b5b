//! The session's terminals: what clients see of them, and type into them.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::event::Severity;
use protocol::terminal::{
    Done, RunningCommand, TerminalAckParams, TerminalInfo, TerminalKillParams, TerminalKind, TerminalOpenParams,
    TerminalOpenResult, TerminalResizeParams, TerminalSize, TerminalTakeParams, TerminalWriteParams,
};
use protocol::{ErrorCode, Event, TerminalId};
use workspace::shell::{InFlight, Shell, ShellError, Status};

use super::{Caller, Session};
use crate::hub::{Error, Reply};

/// What clients were told of a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    status: Status,
    /// What runs at the user's prompt.
    running: Option<InFlight>,
}

impl Session {
    pub(super) fn terminal_open(
        &mut self,
        caller: &Caller,
        params: TerminalOpenParams,
        reply: Reply<TerminalOpenResult>,
    ) {
        let id = params.terminal_id.unwrap_or_else(|| self.terminal.clone());
        let shell = match self.terminal(&id) {
            Ok(shell) => shell,
            Err(error) => return drop(reply.send(Err(error))),
        };
        if let Some(size) = params.size
            && let Err(error) = check(size)
        {
            return drop(reply.send(Err(error)));
        }
        if let Some(size) = params.size {
            shell.resize(size);
        }
        let spool = Arc::clone(shell.spool());
        let (since, _) = spool.read_from(params.since, 0);
        let result = TerminalOpenResult { terminal_id: id.clone(), since, alive: shell.is_alive() };
        let _ = reply.send(Ok(result));
        caller.editor.follow_terminal(&self.id, &id, spool, since);
        if params.acknowledges {
            caller.editor.acknowledge_terminal(&self.id, &id, since);
        }
    }

    /// How far a client has come. Of a terminal that it does not follow, that means nothing.
    pub(super) fn terminal_ack(&self, caller: &Caller, params: &TerminalAckParams, reply: Reply<Done>) {
        caller.editor.acknowledge_terminal(&self.id, &params.terminal_id, params.offset);
        let _ = reply.send(Ok(Done {}));
    }

    pub(super) fn terminal_write(&mut self, params: TerminalWriteParams, reply: Reply<Done>) {
        let Ok(bytes) = BASE64_STANDARD.decode(&params.data) else {
            let text = "invalid params: `data`: not base64";
            return drop(reply.send(Err(Error::new(ErrorCode::InvalidParams, text))));
        };
        let written = self.terminal(&params.terminal_id).and_then(|shell| {
            let failed = |error: ShellError| Error::new(ErrorCode::OperationFailed, error.to_string());
            shell.write(&bytes).map(|()| Done {}).map_err(failed)
        });
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

    pub(super) fn terminal_kill(&mut self, params: TerminalKillParams, reply: Reply<Done>) {
        match self.terminal(&params.terminal_id) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(shell) => {
                let ended = shell.kill();
                tokio::spawn(async move {
                    ended.await;
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

    /// Tells clients what the terminal does, where that is otherwise than they know.
    pub(super) fn terminal_changed(&mut self) {
        let status = self.shell.status().borrow().clone();
        let running = if status.taken { self.shell.running() } else { None };
        let now = Shown { status, running };
        let before = self.shown.replace(now.clone()).unwrap_or_default();
        if before == now {
            return;
        }
        let is_hidden = |shown: &Shown| shown.status.waiting.as_ref().is_some_and(|waiting| waiting.hidden);
        if is_hidden(&now) && !is_hidden(&before) && !now.status.taken {
            let asked = now.status.waiting.as_ref().map(|waiting| waiting.prompt.trim()).filter(|it| !it.is_empty());
            let asked = asked.map(|prompt| format!(" (“{prompt}”)")).unwrap_or_default();
            let text = format!(
                "A command asks for something that is not shown, such as a password{asked}. Type it in the terminal: it \
                 is kept nowhere, and the model does not see it."
            );
            self.record(Event::Notice { severity: Severity::Info, text });
        }
        let terminal = Box::new(self.terminal_info());
        self.record(Event::TerminalChanged { terminal });
    }

    /// The session's shell as it is now.
    fn terminal_info(&self) -> TerminalInfo {
        let Status { waiting, taken } = self.shell.status().borrow().clone();
        let running = self.shell.running();
        let started = |running: &InFlight| {
            running
                .began
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |time| time.as_millis().try_into().unwrap_or(0))
        };
        TerminalInfo {
            terminal_id: self.terminal.clone(),
            kind: TerminalKind::Shell,
            title: "shell".to_owned(),
            cwd: self.shell.cwd().display().to_string(),
            sandbox: protocol::terminal::SandboxMode::Full,
            alive: self.shell.is_alive(),
            started_at: running.as_ref().map_or(0, started),
            running: running.map(|running| RunningCommand {
                started_at: started(&running),
                tool_call_id: running.call,
                command: running.command,
            }),
            waiting,
            taken,
            ready: None,
            ended_at: None,
            exit_code: None,
            end: self.shell.spool().end(),
        }
    }

    fn terminal(&self, id: &TerminalId) -> Result<Arc<Shell>, Error> {
        if *id == self.terminal { Ok(Arc::clone(&self.shell)) } else { Err(Error::not_found("terminal", id)) }
    }
}

fn check(size: TerminalSize) -> Result<(), Error> {
    if (1..=1000).contains(&size.columns) && (1..=1000).contains(&size.rows) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidParams, "invalid params: `size`: columns and rows go from 1 to 1000"))
}
