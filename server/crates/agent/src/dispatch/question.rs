//! Questions to the user, and what their answers mean.

use permission::{Action, Rule, scope_in_words, session_scope_in_words};
use ports::session::Answer;
use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionRequest};
use protocol::{PermissionId, ToolCallId};

use super::Gate;
use crate::history::OpenCall;
use crate::wait::until_cancelled;

/// The option that keeps a rule for the project.
pub(super) const ALWAYS: &str = "allow_always";
/// The option that keeps a rule for as long as the session lives in its process.
pub(super) const SESSION: &str = "session";
const ONCE: &str = "allow_once";
pub(super) const REJECT: &str = "reject_once";

/// A question, but for its id.
pub(super) struct Question {
    pub(super) call: ToolCallId,
    pub(super) about: PermissionAbout,
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) reason: String,
    /// The ways to go on: id, words, kind. One to reject follows them.
    pub(super) options: Vec<(&'static str, String, PermissionOptionKind)>,
}

/// The meaning of an answer.
pub(super) enum Reply {
    /// Go on in this way, with what the user said.
    Chosen(String, Option<String>),
    /// Do not; the words are for the model.
    Rejected(String),
    /// The turn was cancelled.
    Cancelled,
    /// There is nothing to decide any more.
    Moot,
}

/// The question whether a call may run.
pub(super) fn permission(
    call: &OpenCall,
    action: &Action,
    title: String,
    detail: String,
    reason: String,
    always: &[Rule],
) -> Question {
    let mut options = vec![(ONCE, "Allow once".to_owned(), PermissionOptionKind::AllowOnce)];
    if !always.is_empty() {
        options.push((ALWAYS, scope_in_words(always), PermissionOptionKind::AllowAlways));
        options.push((SESSION, session_scope_in_words(always), PermissionOptionKind::AllowAlways));
    }
    let about = match action {
        Action::Execute { outside: Some(_), .. } => PermissionAbout::Outside,
        Action::Execute { .. } | Action::Edit { .. } | Action::Read | Action::Type(_) => PermissionAbout::ToolCall,
    };
    Question { call: call.id.clone(), about, title, detail, reason, options }
}

impl Gate {
    pub(super) async fn ask(&self, question: Question) -> Reply {
        let request = question.with_id(self.session.permission_id());
        let allowing = |id: &str| {
            let chosen = request.options.iter().find(|option| option.option_id == id);
            chosen.is_some_and(|option| {
                matches!(option.kind, PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways)
            })
        };
        match until_cancelled(&self.cancel, self.session.ask(request.clone())).await {
            None | Some(Answer::Cancelled) => Reply::Cancelled,
            Some(Answer::Moot | Answer::TimedOut) => Reply::Moot,
            Some(Answer::Selected { option_id, message, .. }) if allowing(&option_id) => {
                Reply::Chosen(option_id, message)
            }
            Some(Answer::Selected { message, .. }) => Reply::Rejected(match message {
                Some(said) => format!("the user rejected this, and said: {said}"),
                None => {
                    "the user rejected this. Do not try it in another way; continue without it, or ask what they want"
                        .to_owned()
                }
            }),
            Some(Answer::Nobody) => Reply::Rejected(format!(
                "rejected, since nobody is there to answer: {} ({}). Go on without it",
                request.title, request.reason
            )),
        }
    }
}

impl Question {
    fn with_id(self, permission_id: PermissionId) -> PermissionRequest {
        let reject = (REJECT, "Reject".to_owned(), PermissionOptionKind::RejectOnce);
        let option = |(id, name, kind): (&str, String, PermissionOptionKind)| PermissionOption {
            option_id: id.to_owned(),
            name,
            kind,
        };
        PermissionRequest {
            permission_id,
            tool_call_id: Some(self.call),
            about: self.about,
            title: self.title,
            detail: self.detail,
            reason: self.reason,
            form: None,
            options: self.options.into_iter().chain([reject]).map(option).collect(),
        }
    }
}
