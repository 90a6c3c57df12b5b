//! A prompt that leads to another conversation, as `/new` does. What stands beside the command is meant for that
//! conversation, and is sent there from here: were it left to the host, the turn would have its home at the link of
//! this session, and end with it once the client has gone on.

use agent::commands::{self, Commands, says_something};
use protocol::turn::{TurnQueueParams, TurnStartParams, TurnStartResult};
use protocol::{PromptBlock, methods};
use tokio::sync::oneshot;

use super::link;
use crate::post::Shared;
use crate::session::prompts::post_as;
use crate::{ClientId, Error, Reply, Request};

/// Takes out of a prompt that leads away what is for the conversation that it leads to. None if nothing is.
pub(super) fn take_rest(prompt: &mut Vec<PromptBlock>) -> Option<Vec<PromptBlock>> {
    if commands::user_command(prompt).is_some() {
        return None;
    }
    // Commands that others bring lead nowhere, and only the session's host knows them.
    let (invocations, rest) = Commands::built_in().split(prompt.clone());
    if !invocations.iter().any(|it| it.has(|effects| effects.leads_away)) || !says_something(&rest) {
        return None;
    }
    *prompt = invocations.into_iter().map(|it| PromptBlock::Text { text: it.text }).collect();
    Some(rest)
}

/// Sends the rest of a prompt, in `params`, where its commands led, and answers the client then.
pub(super) async fn send_rest(
    shared: &Shared,
    client: ClientId,
    params: TurnStartParams,
    started: Result<TurnStartResult, Error>,
    reply: Reply<TurnStartResult>,
) {
    let started = match started {
        Ok(started) => started,
        Err(error) => return drop(reply.send(Err(error))),
    };
    let Some(session_id) = started.switch_to.clone() else {
        // They led nowhere, as to a conversation that is not there: it is a prompt like any other.
        return post_as(shared, client, Request::new::<methods::TurnStart>(params, reply));
    };
    let (queued, answer) = oneshot::channel();
    post_as(
        shared,
        client,
        Request::new::<methods::TurnQueue>(TurnQueueParams::Add { session_id, prompt: params.prompt }, queued),
    );
    let answer = answer.await.unwrap_or_else(|_| Err(link::gone()));
    let _ = reply.send(answer.map(|_| started));
}
