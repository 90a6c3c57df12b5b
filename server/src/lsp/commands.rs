//! The commands of `workspace/executeCommand`: each is one of our own requests, for clients that cannot send those.

use hub::{self, Answer, Error, Request};
use lsp_types::{Command, Diagnostic};
use protocol::content::Position;
use protocol::inline::{InlineEvent, InlineFeedbackParams};
use protocol::methods::{self, Request as _};
use protocol::review::{Decision, DecisionTarget, Hunk, Proposal, ReviewDecideParams};
use protocol::{HunkId, ProposalId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::abilities::{Abilities, LLM_GENERATED};
use super::error;
use super::messages::{Document, ExecuteCommand, typed};
use super::workflows::Start;
use crate::front::forms::Fill;

/// Accepts a hunk. Takes a [`Target`] with a hunk.
pub(super) const ACCEPT: &str = "azimuth.review.accept";
/// Rejects a hunk. Takes a [`Target`] with a hunk.
pub(super) const REJECT: &str = "azimuth.review.reject";
/// Accepts all pending hunks of a file. Takes a [`Target`].
pub(super) const ACCEPT_ALL: &str = "azimuth.review.acceptAll";
/// Rejects all pending hunks of a file. Takes a [`Target`].
pub(super) const REJECT_ALL: &str = "azimuth.review.rejectAll";
/// Has edits accepted automatically, or no longer. Takes the parameters of `azimuth/review/auto`.
pub(super) const AUTO: &str = "azimuth.review.auto";
/// Cancels a session's turn. Takes the parameters of `azimuth/turn/cancel`.
pub(super) const CANCEL_TURN: &str = "azimuth.turn.cancel";
/// Has a turn that waits try its request to the model again now. Takes the parameters of `azimuth/turn/retry`.
pub(super) const RETRY_TURN: &str = "azimuth.turn.retry";
/// Answers a question. Takes the parameters of `azimuth/permission/answer`.
pub(super) const ANSWER: &str = "azimuth.permission.answer";
/// Fills in the next question of a form. Takes a [`Fill`].
pub(super) const FILL: &str = "azimuth.permission.fill";
/// Takes back what a turn did to files. Takes the parameters of `azimuth/checkpoint/undo`.
pub(super) const UNDO: &str = "azimuth.checkpoint.undo";
/// Puts it again. Takes the parameters of `azimuth/checkpoint/redo`.
pub(super) const REDO: &str = "azimuth.checkpoint.redo";
/// Sends what stands below the last mark of a chat document. Takes a [`Document`].
pub(super) const CHAT_SEND: &str = "azimuth.chat.send";
/// Shows a chat document, made if need be. Takes nothing.
pub(super) const CHAT_OPEN: &str = "azimuth.chat.open";
/// Begins a workflow in the chat. Takes a [`Start`].
pub(super) const WORKFLOW_START: &str = "azimuth.workflow.start";
/// Has a model change what is selected. Takes the parameters of `azimuth/inline/instruct`.
pub(super) const INSTRUCT: &str = "azimuth.inline.instruct";
/// Tells that a suggestion at the cursor was accepted; the client runs this by itself. Takes the suggestion's name.
pub(super) const INLINE_ACCEPTED: &str = "azimuth.inline.accepted";
/// Accepts a suggested edit. Takes an [`EditTarget`].
pub(super) const ACCEPT_EDIT: &str = "azimuth.inline.acceptEdit";
/// Rejects a suggested edit. Takes an [`EditTarget`].
pub(super) const REJECT_EDIT: &str = "azimuth.inline.rejectEdit";
/// Shows the file of a suggested edit. Takes a [`ShowEdit`].
pub(super) const SHOW_EDIT: &str = "azimuth.inline.showEdit";
/// Tells that a client has put a hunk of a suggested edit into the document. Takes its name in Copilot's dialect.
pub(super) const ACCEPTED_EDIT: &str = "azimuth.inline.acceptedEdit";
/// Shows the log. Takes nothing.
pub(super) const OPEN_LOG: &str = "azimuth.openLog";

/// Stands between the names in [`hunk_name`].
const SEPARATOR: char = '/';

/// All commands, for the server's capabilities.
pub(super) const ALL: [&str; 21] = [
    ACCEPT,
    REJECT,
    ACCEPT_ALL,
    REJECT_ALL,
    AUTO,
    CANCEL_TURN,
    RETRY_TURN,
    ANSWER,
    FILL,
    UNDO,
    REDO,
    CHAT_SEND,
    CHAT_OPEN,
    WORKFLOW_START,
    INSTRUCT,
    INLINE_ACCEPTED,
    ACCEPT_EDIT,
    REJECT_EDIT,
    SHOW_EDIT,
    ACCEPTED_EDIT,
    OPEN_LOG,
];

/// Those of which a client with a panel has its own.
const OF_PLAIN_CLIENTS: [&str; 8] =
    [FILL, CHAT_SEND, CHAT_OPEN, INSTRUCT, ACCEPT_EDIT, REJECT_EDIT, SHOW_EDIT, ACCEPTED_EDIT];

/// The commands that a client is told of.
pub(super) fn announced(abilities: &Abilities) -> impl Iterator<Item = &'static str> + use<> {
    let panel = abilities.azimuth.panel;
    ALL.into_iter().filter(move |command| !panel || !OF_PLAIN_CLIENTS.contains(command))
}

/// The subject of a review command.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Target {
    session_id: SessionId,
    proposal_id: ProposalId,
    revision: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hunk_id: Option<HunkId>,
}

impl Target {
    /// A hunk.
    pub(super) fn hunk(session: &SessionId, proposal: &Proposal, hunk: &Hunk) -> Self {
        Self { hunk_id: Some(hunk.hunk_id.clone()), ..Self::file(session, proposal) }
    }

    /// All of a file.
    pub(super) fn file(session: &SessionId, proposal: &Proposal) -> Self {
        let (session_id, proposal_id) = (session.clone(), proposal.proposal_id.clone());
        Self { session_id, proposal_id, revision: proposal.revision, hunk_id: None }
    }
}

/// The subject of a command for a suggested edit.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EditTarget {
    /// The edit.
    pub(super) id: String,
    /// The hunk; none for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hunk: Option<String>,
}

/// The position of a suggested edit in a file that is not open.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ShowEdit {
    /// The file.
    pub(super) uri: String,
    /// The position.
    pub(super) position: Position,
}

/// The name of a hunk for a client that knows no hunks, as one text.
pub(super) fn hunk_name(edit: &str, hunk: &str) -> String {
    format!("{edit}{SEPARATOR}{hunk}")
}

/// Feedback on a hunk by that name; none if it is no name of ours.
pub(super) fn hunk_feedback(name: &str, event: InlineEvent) -> Option<InlineFeedbackParams> {
    let (id, hunk) = name.rsplit_once(SEPARATOR)?;
    Some(InlineFeedbackParams { id: id.to_owned(), event, hunk: Some(hunk.to_owned()), length: None })
}

/// The result of a command.
pub(super) enum Action {
    /// A request to the hub. Its answer is the command's, too.
    Post(Request, Answer),
    /// The prompt of a chat document is to be sent.
    SendChat(String),
    /// A form is filled in so far.
    Fill(Fill),
    /// A chat document is to be shown.
    OpenChat,
    /// A workflow is to begin.
    StartWorkflow(Start),
    /// A suggested edit is to be accepted.
    AcceptEdit(EditTarget),
    /// A suggested edit is rejected.
    RejectEdit(EditTarget),
    /// The file of a suggested edit is to be shown.
    ShowEdit(ShowEdit),
    /// The log is to be shown.
    OpenLog,
}

/// Reads a command.
///
/// # Errors
/// A command that we do not have, or arguments that do not fit.
pub(super) fn read(params: ExecuteCommand) -> Result<Action, Error> {
    let argument = params.arguments.into_iter().next().unwrap_or_else(|| json!({}));
    match params.command.as_str() {
        ACCEPT => decide(Decision::Accept, argument, Scope::Hunk),
        REJECT => decide(Decision::Reject, argument, Scope::Hunk),
        ACCEPT_ALL => decide(Decision::Accept, argument, Scope::File),
        REJECT_ALL => decide(Decision::Reject, argument, Scope::File),
        AUTO => post(methods::ReviewAuto::METHOD, argument),
        CANCEL_TURN => post(methods::TurnCancel::METHOD, argument),
        RETRY_TURN => post(methods::TurnRetry::METHOD, argument),
        ANSWER => post(methods::PermissionAnswer::METHOD, argument),
        UNDO => post(methods::CheckpointUndo::METHOD, argument),
        REDO => post(methods::CheckpointRedo::METHOD, argument),
        CHAT_SEND => typed::<Document>(argument).map(|document| Action::SendChat(document.uri)),
        FILL => typed(argument).map(Action::Fill),
        CHAT_OPEN => Ok(Action::OpenChat),
        WORKFLOW_START => typed(argument).map(Action::StartWorkflow),
        INSTRUCT => post(methods::InlineInstruct::METHOD, argument),
        INLINE_ACCEPTED => {
            let (id, event) = (typed(argument)?, InlineEvent::Accepted);
            Ok(tell(InlineFeedbackParams { id, event, hunk: None, length: None }))
        }
        ACCEPTED_EDIT => {
            let name: String = typed(argument)?;
            hunk_feedback(&name, InlineEvent::Accepted).map(tell).ok_or_else(|| {
                let text = format!("invalid params: `{name}` names no hunk of a suggested edit");
                Error::new(protocol::ErrorCode::InvalidParams, text)
            })
        }
        ACCEPT_EDIT => typed(argument).map(Action::AcceptEdit),
        REJECT_EDIT => typed(argument).map(Action::RejectEdit),
        SHOW_EDIT => typed(argument).map(Action::ShowEdit),
        OPEN_LOG => Ok(Action::OpenLog),
        other => Err(Error::new(protocol::ErrorCode::InvalidParams, format!("there is no command `{other}`"))),
    }
}

/// The kind of our code actions.
pub(super) const QUICK_FIX: &str = "quickfix";

/// A code action, or for a client that has only those, a command. It is made by hand, since LSP's own type has no tags
/// yet (3.18).
pub(super) fn action(title: &str, command: &str, argument: &impl Serialize, abilities: &Abilities) -> Value {
    made((title, QUICK_FIX), command, argument, &[], abilities)
}

/// A code action, by title and kind, about what a model made or is to make, which says so where the client can show it
/// (3.18).
pub(super) fn model_action(
    title_and_kind: (&str, &str),
    command: &str,
    argument: &impl Serialize,
    diagnostics: &[Diagnostic],
    abilities: &Abilities,
) -> Value {
    let mut action = made(title_and_kind, command, argument, diagnostics, abilities);
    if abilities.code_action_literals && abilities.llm_generated_tag {
        action["tags"] = json!([LLM_GENERATED]);
    }
    action
}

fn made(
    (title, kind): (&str, &str),
    command: &str,
    argument: &impl Serialize,
    diagnostics: &[Diagnostic],
    abilities: &Abilities,
) -> Value {
    let command = run(title, command, argument);
    if !abilities.code_action_literals {
        return json!(command);
    }
    let mut action = json!({ "title": title, "kind": kind, "command": command });
    if !diagnostics.is_empty() {
        action["diagnostics"] = json!(diagnostics);
    }
    action
}

/// A command with its argument, as LSP has it.
pub(super) fn run(title: &str, command: &str, argument: &impl Serialize) -> Command {
    Command { title: title.into(), command: command.into(), arguments: Some(vec![json!(argument)]) }
}

#[derive(PartialEq)]
enum Scope {
    Hunk,
    File,
}

fn decide(decision: Decision, argument: Value, scope: Scope) -> Result<Action, Error> {
    let target: Target = typed(argument)?;
    if scope == Scope::Hunk && target.hunk_id.is_none() {
        return Err(Error::new(protocol::ErrorCode::InvalidParams, "invalid params: `hunkId` is missing"));
    }
    let hunk_ids = target.hunk_id.filter(|_| scope == Scope::Hunk).map(|hunk| vec![hunk]);
    let target_of = DecisionTarget { proposal_id: target.proposal_id, revision: target.revision, hunk_ids };
    let params =
        ReviewDecideParams { session_id: target.session_id, decision, targets: vec![target_of], message: None };
    post(methods::ReviewDecide::METHOD, json!(params))
}

fn tell(feedback: InlineFeedbackParams) -> Action {
    let (request, answer) = hub::request_of::<methods::InlineFeedback>(feedback);
    Action::Post(request, answer)
}

fn post(method: &str, params: Value) -> Result<Action, Error> {
    let (request, answer) = hub::parse(method, params).unwrap_or_else(|| Err(error::no_method(method)))?;
    Ok(Action::Post(request, answer))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(command: &str, argument: Value) -> Result<Action, Error> {
        read(ExecuteCommand { command: command.into(), arguments: vec![argument] })
    }

    #[test]
    fn a_hunk_is_decided_alone_and_a_file_as_a_whole() {
        let target = json!({ "sessionId": "s", "proposalId": "p", "revision": 3, "hunkId": "h" });
        let hunks = |command| match run(command, target.clone()) {
            Ok(Action::Post(request, _)) => {
                let params = request.params::<methods::ReviewDecide>().unwrap();
                (params.decision, params.targets[0].hunk_ids.clone())
            }
            _ => panic!("{command} decides nothing"),
        };
        assert_eq!(hunks(ACCEPT), (Decision::Accept, Some(vec![HunkId::from("h")])));
        assert_eq!(hunks(REJECT), (Decision::Reject, Some(vec![HunkId::from("h")])));
        assert_eq!(hunks(ACCEPT_ALL), (Decision::Accept, None));
        assert_eq!(hunks(REJECT_ALL), (Decision::Reject, None));
    }

    #[test]
    fn every_command_that_is_announced_exists() {
        for command in ALL {
            if let Err(error) = run(command, json!({})) {
                assert!(error.message.starts_with("invalid params: "), "{command}: {error}");
            }
        }
        assert!(run("azimuth.make.coffee", json!({})).is_err());
    }

    #[test]
    fn a_hunk_command_without_a_hunk_says_so() {
        let target = json!({ "sessionId": "s", "proposalId": "p", "revision": 3 });
        assert!(run(ACCEPT, target).err().unwrap().message.contains("`hunkId`"));
    }
}
