//! The table of LSP's methods: which goes where, in groups by where it runs. The lifecycle (`initialize`, `shutdown`,
//! `exit`) and `$/cancelRequest` are not here, since they concern the connection itself, nor are our own methods, which
//! the hub answers: see the ingress.

use hub::{self, Answer, Error};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connected::Connected;
use super::error;
use super::messages::typed;

/// Takes a notification. One that we do not have, or that does not fit, is passed over, as LSP has it.
pub(super) fn notification(client: &mut Connected, method: &str, params: Value) {
    let taken = match method {
        // Posted to the hub, which applies it before it looks at the next message.
        "textDocument/didOpen" => tell(client, params, Connected::did_open),
        "textDocument/didChange" => tell(client, params, Connected::did_change),
        "textDocument/didSave" => tell(client, params, Connected::did_save),
        "textDocument/didClose" => tell(client, params, Connected::did_close),
        "workspace/didChangeWatchedFiles" => tell(client, params, Connected::did_change_watched_files),
        "workspace/didChangeWorkspaceFolders" => tell(client, params, Connected::did_change_workspace_folders),
        "window/workDoneProgress/cancel" => tell(client, params, Connected::progress_cancel),
        "textDocument/didShowInlineEdit" => tell(client, params, Connected::did_show_inline_edit),
        "textDocument/didShowCompletion" => tell(client, params, Connected::did_show_completion),
        "textDocument/didPartiallyAcceptCompletion" => tell(client, params, Connected::did_partially_accept_completion),

        // Told to the outbox too, which asks the client for more.
        "initialized" => tell(client, params, Connected::initialized),
        "workspace/didChangeConfiguration" => tell(client, params, Connected::did_change_configuration),

        // The hub needs no word of it: what the user looks at is where they ask.
        "textDocument/didFocus" => Ok(()),

        _ => {
            tracing::debug!(method, "a notification that is not ours");
            Ok(())
        }
    };
    if let Err(error) = taken {
        tracing::warn!(method, %error, "a notification does not fit");
    }
}

/// Takes a request of LSP's. Its answer is there at once, or will be.
pub(super) fn request(client: &mut Connected, method: &str, params: Value) -> Result<Answer, Error> {
    match method {
        // Answered from what is known here, once the document's file is known.
        "textDocument/codeAction" => answer(client, params, Connected::code_action),
        "textDocument/codeLens" => answer(client, params, Connected::code_lens),

        // Posted to the hub, which answers.
        "textDocument/inlineCompletion" => answer(client, params, Connected::inline_completion),
        "textDocument/completion" => answer(client, params, Connected::completion),
        "textDocument/copilotInlineEdit" => answer(client, params, Connected::copilot_inline_edit),
        "workspace/executeCommand" => client.execute_command(typed(params)?),
        _ => Err(error::no_method(method)),
    }
}

fn tell<T: DeserializeOwned>(
    client: &mut Connected,
    params: Value,
    handler: fn(&mut Connected, T),
) -> Result<(), Error> {
    handler(client, typed(params)?);
    Ok(())
}

fn answer<T: DeserializeOwned>(
    client: &mut Connected,
    params: Value,
    handler: fn(&mut Connected, T) -> Answer,
) -> Result<Answer, Error> {
    Ok(handler(client, typed(params)?))
}
