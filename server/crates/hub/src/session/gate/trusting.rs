//! The trust in the session's workspace. Its first turn asks, if nobody has said.

use std::time::Duration;

use ports::session::{Answer, Session};
use tokio::sync::mpsc;

use super::Message;
use crate::feed::blocking;
use crate::post::{self, Shared};
use crate::session::Own;
use crate::trust::{Word, Workspace, answered};

/// The time between two looks, while a question stands, whether the user has answered in a window of another process.
const LOOK: Duration = Duration::from_secs(1);

/// The parts that a turn's task needs to ask.
pub(in crate::session) struct Asking {
    pub(super) shared: Shared,
    pub(super) workspace: Workspace,
    pub(super) word: Word,
    pub(super) own: mpsc::UnboundedSender<Own>,
}

impl Asking {
    /// Asks whether the workspace is trusted, if nobody has said. Without an answer it is not, and the turn goes on.
    pub(in crate::session) async fn ask(self, session: &dyn Session) {
        let id = session.permission_id();
        let (workspace, word) = (self.workspace.clone(), self.word.clone());
        let question = blocking(move || Ok(workspace.decided(&word).is_none().then(|| workspace.question(id))));
        let Ok(Some(request)) = question.await else { return };
        let answer = session.ask(request);
        tokio::pin!(answer);
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                () = tokio::time::sleep(LOOK) => look(&self.workspace, &self.word, &self.own).await,
            }
        };
        if let Some(trusted) = said(&answer) {
            keep(&self.shared, self.workspace, trusted, &self.own).await;
        }
    }
}

/// Returns an answer's word on the workspace for good; `None` if it says nothing of that.
pub(super) fn said(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Selected { option_id, .. } => answered(option_id),
        Answer::Cancelled | Answer::TimedOut | Answer::Moot | Answer::Nobody => None,
    }
}

/// Looks whether it is trusted, and tells the session.
pub(super) async fn look(workspace: &Workspace, word: &Word, own: &mpsc::UnboundedSender<Own>) {
    let (workspace, word) = (workspace.clone(), word.clone());
    if let Ok(decided) = blocking(move || Ok(workspace.decided(&word))).await {
        let _ = own.send(Own::Gate(Message::TrustRead(decided)));
    }
}

/// Keeps what the user says of the workspace, for every session and window.
pub(super) async fn keep(shared: &Shared, workspace: Workspace, trusted: bool, own: &mpsc::UnboundedSender<Own>) {
    if let Err(error) = blocking(move || workspace.decide(trusted)).await {
        let text =
            format!("what you said of the trust in this folder could not be kept, so it is not trusted: {error}");
        let _ = own.send(Own::Alert(text));
    }
    shared.post(None, post::Message::TrustChanged);
}
