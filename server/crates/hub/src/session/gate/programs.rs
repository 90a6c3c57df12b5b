//! The permission to start programs of the project: each is asked for once, by its path and hash, and again when it has
//! changed. The user's answers are kept with what they said of folders.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use lang::brought::{Brought, Gate};
use ports::session::Answer;
use project::paths;
use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionRequest};
use protocol::{PermissionId, TurnId};
use tokio::sync::{Mutex, mpsc, oneshot};

use super::Message;
use crate::feed::blocking;
use crate::session::Own;
use crate::trust::Book;

/// So many files are named in the question that say what a program does.
const MOST_FILES: usize = 20;

/// The answers to the question.
const ALLOW: &str = "allow_program";
const NOT_NOW: &str = "not_now";
const NEVER: &str = "refuse_program";

/// The state of the session, for one who wants to start a program of the project.
pub(in crate::session) struct Stand {
    /// True if it is in mode `plan`, in which none is started.
    pub(super) plans: bool,
    /// The turn that runs, with an id for a question of it.
    pub(super) turn: Option<(TurnId, PermissionId)>,
}

/// The programs of the project, as a session may start them.
pub(in crate::session) struct Programs {
    book: Book,
    own: mpsc::UnboundedSender<Own>,
    /// The programs that are not to be started in this session, by their hashes. Held while the user is asked, so that
    /// they are asked once.
    not_now: Mutex<HashSet<String>>,
}

impl Programs {
    /// Makes the programs of a session. The user's answers are in this book, and who wants to ask tells the session.
    pub(in crate::session) fn new(book: &Book, own: &mpsc::UnboundedSender<Own>) -> Arc<Self> {
        Arc::new(Self { book: book.clone(), own: own.clone(), not_now: Mutex::default() })
    }

    /// Returns the user's answer on it; `None` if they have said nothing.
    async fn said(&self, program: &Brought) -> Result<Option<bool>, String> {
        let (book, program) = (self.book.clone(), program.clone());
        let read = blocking(move || book.of_program(&program.program, &program.fingerprint)).await;
        read.map_err(|error| format!("what you said of it cannot be read: {error}"))
    }

    async fn keep(&self, program: &Brought, allowed: bool) -> Result<(), String> {
        let (book, program) = (self.book.clone(), program.clone());
        let kept = blocking(move || book.set_program(&program.program, &program.fingerprint, allowed)).await;
        kept.map_err(|error| format!("what you said of it could not be kept: {error}"))
    }
}

#[async_trait]
impl Gate for Programs {
    async fn admit(&self, program: &Brought, asks: bool) -> Result<(), String> {
        let refused = || Err("it belongs to the project, and the user does not want it to be started".to_owned());
        let (reply, stand) = oneshot::channel();
        let _ = self.own.send(Own::Gate(Message::ProgramWanted(reply)));
        let Ok(stand) = stand.await else { return Err("the session has ended".to_owned()) };
        if stand.plans {
            return Err("it belongs to the project, from which nothing is started in mode `plan`".to_owned());
        }
        match self.said(program).await? {
            Some(true) => return Ok(()),
            Some(false) => return refused(),
            None => {}
        }
        let Some((turn, id)) = stand.turn.filter(|_| asks) else {
            return Err(
                "it belongs to the project, and the user has not allowed it as it is now; they are asked when a tool \
                        needs it"
                    .to_owned(),
            );
        };
        let mut not_now = self.not_now.lock().await;
        // Another call may have asked meanwhile.
        match self.said(program).await? {
            Some(true) => return Ok(()),
            Some(false) => return refused(),
            None if not_now.contains(&program.fingerprint) => return refused(),
            None => {}
        }
        let (reply, answer) = oneshot::channel();
        let _ = self.own.send(Own::Gate(Message::Ask(turn, question(program, id), reply)));
        match answer.await {
            Ok(Answer::Selected { option_id, .. }) if option_id == ALLOW => self.keep(program, true).await,
            Ok(Answer::Selected { option_id, .. }) => {
                not_now.insert(program.fingerprint.clone());
                if option_id == NEVER {
                    self.keep(program, false).await?;
                }
                refused()
            }
            _ => Err("it belongs to the project, and nobody has said that it may be started".to_owned()),
        }
    }
}

fn question(program: &Brought, permission_id: PermissionId) -> PermissionRequest {
    // The project's files may say all of it, and must not write lines of the question.
    let words = program.args.iter().map(|arg| format!("{arg:?}"));
    let words: Vec<_> = std::iter::once(paths::shown(&program.program)).chain(words).collect();
    let mut detail = format!("{}\n", words.join(" "));
    for file in program.said_by.iter().take(MOST_FILES) {
        detail.push_str(&format!("as {} says\n", paths::shown(file)));
    }
    let more = program.said_by.len().saturating_sub(MOST_FILES);
    if more > 0 {
        detail.push_str(&format!("and {more} more files\n"));
    }
    let hash = program.fingerprint.get(..16).unwrap_or_default();
    let held = if program.is_sandboxed {
        "It runs in the sandbox."
    } else {
        "It runs without a sandbox, and can do whatever you can."
    };
    detail.push_str(&format!("SHA-256 {hash}…\nWhoever can write the project's files decides what it does. {held}"));
    let option =
        |option_id: &str, name: &str, kind| PermissionOption { option_id: option_id.into(), name: name.into(), kind };
    PermissionRequest {
        permission_id,
        tool_call_id: None,
        about: PermissionAbout::Program,
        title: format!("Start the project's own language server {}?", paths::shown(Path::new(&program.name))),
        detail,
        reason: "it is part of a project or runs files from one, and you have not allowed it in its current form"
            .to_owned(),
        form: None,
        options: vec![
            option(ALLOW, "Start it, until it changes", PermissionOptionKind::AllowAlways),
            option(NOT_NOW, "Not in this session", PermissionOptionKind::RejectOnce),
            option(NEVER, "Never start it in this form", PermissionOptionKind::RejectAlways),
        ],
    }
}
