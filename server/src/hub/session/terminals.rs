//! The session's terminals: what clients see of them, and type into them.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::terminal::{
    Done, TerminalKillParams, TerminalOpenParams, TerminalOpenResult, TerminalResizeParams, TerminalSize,
    TerminalWriteParams,
};
use protocol::{ErrorCode, TerminalId};
use workspace::shell::Shell;

use super::{Caller, Session};
use crate::hub::{Error, Reply};

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
        let (editor, session) = (Arc::clone(&caller.editor), self.id.clone());
        tokio::spawn(async move {
            if let Err(error) = shell.start().await {
                return drop(reply.send(Err(failed(&error))));
            }
            if let Some(size) = params.size
                && let Err(error) = shell.resize(size.columns, size.rows)
            {
                return drop(reply.send(Err(failed(&error))));
            }
            let spool = shell.spool();
            let since = spool.first().max(params.since.min(spool.end()));
            let result = TerminalOpenResult { terminal_id: id.clone(), since, alive: shell.is_alive() };
            let _ = reply.send(Ok(result));
            editor.follow_terminal(&session, &id, spool, since);
        });
    }

    pub(super) fn terminal_write(&mut self, params: TerminalWriteParams, reply: Reply<Done>) {
        let Ok(bytes) = BASE64_STANDARD.decode(&params.data) else {
            let text = "invalid params: `data`: not base64";
            return drop(reply.send(Err(Error::new(ErrorCode::InvalidParams, text))));
        };
        self.with_terminal(&params.terminal_id, reply, move |shell| shell.write(&bytes).map_err(|error| failed(&error)));
    }

    pub(super) fn terminal_resize(&mut self, params: TerminalResizeParams, reply: Reply<Done>) {
        let TerminalSize { columns, rows } = params.size;
        self.with_terminal(&params.terminal_id, reply, move |shell| {
            check(params.size)?;
            shell.resize(columns, rows).map_err(|error| failed(&error))
        });
    }

    pub(super) fn terminal_kill(&mut self, params: TerminalKillParams, reply: Reply<Done>) {
        let shell = match self.terminal(&params.terminal_id) {
            Ok(shell) => shell,
            Err(error) => return drop(reply.send(Err(error))),
        };
        tokio::spawn(async move {
            shell.interrupt().await;
            let _ = reply.send(Ok(Done {}));
        });
    }

    fn terminal(&self, id: &TerminalId) -> Result<Arc<Shell>, Error> {
        if *id == self.terminal { Ok(Arc::clone(&self.shell)) } else { Err(Error::not_found("terminal", id)) }
    }

    /// Does something to a terminal on a thread where it may block, since a terminal nobody reads from can.
    fn with_terminal(
        &self,
        id: &TerminalId,
        reply: Reply<Done>,
        action: impl FnOnce(&Shell) -> Result<(), Error> + Send + 'static,
    ) {
        match self.terminal(id) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(shell) => drop(tokio::task::spawn_blocking(move || {
                let _ = reply.send(action(&shell).map(|()| Done {}));
            })),
        }
    }
}

fn check(size: TerminalSize) -> Result<(), Error> {
    if (1..=1000).contains(&size.columns) && (1..=1000).contains(&size.rows) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidParams, "invalid params: `size`: columns and rows go from 1 to 1000"))
}

fn failed(error: &impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::OperationFailed, error.to_string())
}
