//! The session's terminals: what clients see of them, and type into them.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use protocol::terminal::{
    Done, TerminalAckParams, TerminalKillParams, TerminalOpenParams, TerminalOpenResult, TerminalResizeParams,
    TerminalSize, TerminalWriteParams,
};
use protocol::{ErrorCode, TerminalId};
use workspace::shell::{Shell, ShellError};

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
