//! Questions of a chat: their code actions, and forms, which are filled in a choice at a time or in the user's words.

use std::sync::Arc;

use hub::Error;
use protocol::methods;
use protocol::permission::{PermissionOptionKind, PermissionRequest};
use serde_json::{Value, json};

use super::{Chat, Chats, Post, View, lock};
use crate::front::forms::{Fill, Filled, Step, answer};
use crate::lsp::abilities::Abilities;
use crate::lsp::commands;

/// A question that stands, and how far its form is filled in.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub(super) request: PermissionRequest,
    pub(super) filled: Filled,
}

impl Standing {
    /// The name of the question of its form that is to be answered next.
    pub(super) fn header(&self) -> Option<&str> {
        let form = self.request.form.as_ref()?;
        self.filled.next(form).map(|question| question.header.as_str())
    }
}

impl View {
    /// The code actions that answer the questions.
    pub(super) fn answers(&self, abilities: &Abilities) -> Vec<Value> {
        let action = |title: &str, command, argument: Value| commands::action(title, command, &argument, abilities);
        let mut actions = Vec::new();
        let Some(session) = &self.session else { return actions };
        for standing in &self.questions {
            let Standing { request, filled } = standing;
            if let (Some(form), Some(header)) = (&request.form, standing.header()) {
                for Step { words, then } in filled.steps(form) {
                    let title = format!("{words} ({header})");
                    let permission_id = request.permission_id.clone();
                    actions.push(match then.next(form) {
                        Some(_) => {
                            let fill = Fill { session_id: session.clone(), permission_id, filled: then };
                            action(&title, commands::FILL, json!(fill))
                        }
                        None => action(&title, commands::ANSWER, json!(answer(session.clone(), request, then))),
                    });
                }
            }
            for option in &request.options {
                let mut answer = json!({ "sessionId": session, "permissionId": request.permission_id,
                    "optionId": option.option_id });
                if let Some(form) = request.form.as_ref().filter(|_| option.kind == PermissionOptionKind::AllowOnce) {
                    // The questions that were answered stay so.
                    let mut answers = filled.answers.clone();
                    answers.resize_with(form.questions.len(), Default::default);
                    answer["answers"] = json!(answers);
                }
                actions.push(action(&format!("{} ({})", option.name, request.title), commands::ANSWER, answer));
            }
        }
        actions
    }

    /// The name of the question that words of the user's answer.
    pub(super) fn asks_for_words(&self) -> Option<&str> {
        self.turn.as_ref()?;
        self.questions.iter().find_map(Standing::header)
    }
}

impl Chats {
    /// A form is filled in so far.
    pub(in crate::lsp) fn fill(&self, fill: &Fill) {
        for chat in lock(&self.0.chats).values() {
            let _ = chat.posts.send(Post::Fill(fill.clone()));
        }
    }
}

impl Chat {
    /// The questions that stand.
    pub(super) fn standing(&self) -> Vec<Standing> {
        let standing = |request: &PermissionRequest| {
            let filled = self.filled.get(&request.permission_id).cloned().unwrap_or_default();
            Standing { request: request.clone(), filled }
        };
        self.transcript.questions().iter().map(standing).collect()
    }

    /// A form is filled in so far, which the document says.
    pub(super) fn fill(&mut self, Fill { session_id, permission_id, filled }: Fill) {
        let is_here = self.transcript.questions().iter().any(|request| request.permission_id == permission_id);
        if self.session.as_ref() == Some(&session_id) && is_here {
            self.filled.insert(permission_id, filled);
            if let Some(header) = self.standing().iter().find_map(Standing::header) {
                self.transcript.say(&format!("Next: {header}."));
            }
            self.unwritten.push_str(&self.transcript.take());
        }
    }

    /// Answers the form that stands, if one does, with the user's words.
    ///
    /// # Errors
    /// The session does not take them.
    pub(super) async fn answer_in_words(&mut self, words: &str) -> Result<bool, Error> {
        let standing = self.standing().into_iter().find(|standing| standing.header().is_some());
        let (Some(session), Some(Standing { request, filled })) = (self.session.clone(), standing) else {
            return Ok(false);
        };
        let Some(form) = &request.form else { return Ok(false) };
        let filled = filled.answered(Some(words.to_owned()));
        if filled.next(form).is_some() {
            self.fill(Fill { session_id: session, permission_id: request.permission_id, filled });
        } else if let Some(answer) = answer(session, &request, filled) {
            Arc::clone(&self.connection).ask::<methods::PermissionAnswer>(answer).await?;
        }
        Ok(true)
    }
}
