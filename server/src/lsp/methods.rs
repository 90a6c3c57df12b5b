//! The table of methods: which goes where, in groups by where it runs. The lifecycle (`initialize`, `shutdown`, `exit`)
//! and `$/cancelRequest` are not here, since they concern the connection itself: see the ingress.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error;
use super::front::Front;
use super::messages::typed;
use crate::hub::{self, Answer, Error};

/// Takes a notification. One that we do not have, or that does not fit, is passed over, as LSP has it.
pub(super) fn notification(front: &mut Front, method: &str, params: Value) {
    let taken = match method {
        // Posted to the hub, which applies it before it looks at the next message.
        "textDocument/didOpen" => tell(front, params, Front::did_open),
        "textDocument/didChange" => tell(front, params, Front::did_change),
        "textDocument/didSave" => tell(front, params, Front::did_save),
        "textDocument/didClose" => tell(front, params, Front::did_close),
        "workspace/didChangeWatchedFiles" => tell(front, params, Front::did_change_watched_files),
        "workspace/didChangeWorkspaceFolders" => tell(front, params, Front::did_change_workspace_folders),
        "window/workDoneProgress/cancel" => tell(front, params, Front::progress_cancel),

        // Told to the outbox too, which asks the client for more.
        "initialized" => tell(front, params, Front::initialized),
        "workspace/didChangeConfiguration" => tell(front, params, Front::did_change_configuration),

        _ => {
            tracing::debug!(method, "a notification that is not ours");
            Ok(())
        }
    };
    if let Err(error) = taken {
        tracing::warn!(method, %error, "a notification does not fit");
    }
}

/// Takes a request. Its answer is there at once, or will be.
pub(super) fn request(front: &mut Front, method: &str, params: Value) -> Result<Answer, Error> {
    match method {
        // Answered from what is known here, once the document's file is known.
        "textDocument/codeAction" => answer(front, params, Front::code_action),
        "textDocument/codeLens" => answer(front, params, Front::code_lens),

        // Posted to the hub, which answers.
        "workspace/executeCommand" => front.execute_command(typed(params)?),
        method => match hub::parse(method, params) {
            Some(parsed) => parsed.map(|(request, answer)| front.ours(request, answer)),
            None => Err(error::no_method(method)),
        },
    }
}

fn tell<T: DeserializeOwned>(front: &mut Front, params: Value, handler: fn(&mut Front, T)) -> Result<(), Error> {
    handler(front, typed(params)?);
    Ok(())
}

fn answer<T: DeserializeOwned>(
    front: &mut Front,
    params: Value,
    handler: fn(&mut Front, T) -> Answer,
) -> Result<Answer, Error> {
    Ok(handler(front, typed(params)?))
}
