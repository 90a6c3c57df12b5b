//! A first instruction to change a document ("change this"), for which a session is made.

use std::sync::Arc;

use protocol::ErrorCode;
use protocol::inline::{InlineInstructParams, InlineInstructResult};
use protocol::role::Role;
use protocol::session::{Mode, Purpose};

use super::super::instruction::Instruction;
use super::super::post::{NewSession, Requester};
use super::super::{ClientId, Error, Reply};
use super::{Router, create};

impl Router {
    /// Makes a session in the client's folders whose first turn is the instruction.
    pub(super) fn inline_instruct(
        &mut self,
        id: ClientId,
        params: InlineInstructParams,
        reply: Reply<InlineInstructResult>,
    ) {
        let Some(client) = self.clients.get(&id) else { return };
        let (caller, folders) = (client.caller.clone(), client.folders.clone());
        if folders.is_empty() {
            let text = "there is no folder to work in: open a folder in the editor";
            return drop(reply.send(Err(Error::new(ErrorCode::OperationFailed, text))));
        }
        let instruction = match Instruction::new(params, &caller.buffers, caller.encoding) {
            Ok(instruction) => Box::new(instruction),
            Err(error) => return drop(reply.send(Err(error))),
        };
        let new = NewSession {
            folders,
            model: self.config.chain(Role::Instruct),
            mode: Mode::default(),
            is_asked_for: false,
            parent: None,
            purpose: Purpose::Instruct,
        };
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        drop(tokio::spawn(create(shared, config, caller, new, Requester::Instruction(instruction, reply))));
    }
}
