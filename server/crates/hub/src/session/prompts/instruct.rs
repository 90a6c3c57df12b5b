//! Instructions to change a document ("change this"), as turns of their sessions.

use protocol::ErrorCode;
use protocol::inline::{InlineInstructParams, InlineInstructResult};
use protocol::turn::TurnStartResult;
use tokio::sync::oneshot;

use super::Said;
use crate::instruction::Instruction;
use crate::session::{Caller, Session};
use crate::{Error, Reply};

impl Session {
    /// Takes a further instruction.
    pub(super) fn instruct(
        &mut self,
        caller: Caller,
        params: InlineInstructParams,
        reply: Reply<InlineInstructResult>,
    ) {
        match Instruction::new(params, &caller.buffers, caller.encoding) {
            Ok(instruction) => self.begin_instruction(caller, Box::new(instruction), reply),
            Err(error) => drop(reply.send(Err(error))),
        }
    }

    /// Makes a turn of an instruction.
    pub(in crate::session) fn begin_instruction(
        &mut self,
        caller: Caller,
        instruction: Box<Instruction>,
        reply: Reply<InlineInstructResult>,
    ) {
        let session_id = self.id().clone();
        let (started, has_started) = oneshot::channel();
        tokio::spawn(async move {
            let broke_off = || Error::new(ErrorCode::RequestCancelled, "the session ended; send the instruction again");
            let started = has_started.await.unwrap_or_else(|_| Err(broke_off()));
            let _ = reply.send(match started {
                Ok(TurnStartResult { turn_id: Some(turn_id), .. }) => Ok(InlineInstructResult { session_id, turn_id }),
                Ok(_) => Err(broke_off()),
                Err(error) => Err(error),
            });
        });
        self.start((caller, Said::Instruction(instruction), started));
    }
}
