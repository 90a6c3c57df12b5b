//! Whether the session's workspace is trusted. Its first turn asks, where nobody has said.

use std::sync::Arc;
use std::time::Duration;

use agent::session::{Answer, Session as _};
use protocol::Event;
use protocol::permission::{PermissionAbout, PermissionOutcome};
use tokio::sync::mpsc;

use super::port::Port;
use super::{Caller, Own, Session, router, tell_router};
use crate::hub::feed::blocking;
use crate::hub::router::Shared;
use crate::hub::trust::{Word, Workspace, answered};

/// How often it is looked while a question stands whether the user has answered in a window of another process.
const LOOK: Duration = Duration::from_secs(1);

/// What a turn's task needs to ask.
pub(super) struct Asking {
    pub(super) shared: Shared,
    pub(super) workspace: Workspace,
    pub(super) word: Word,
    pub(super) own: mpsc::UnboundedSender<Own>,
}

impl Asking {
    /// Asks whether the workspace is trusted, if nobody has said. Without an answer it is not, and the turn goes on.
    pub(super) async fn ask(self, port: &Port) {
        let id = port.permission_id();
        let (workspace, word) = (self.workspace.clone(), self.word.clone());
        let question = blocking(move || Ok(workspace.decided(&word).is_none().then(|| workspace.question(id))));
        let Ok(Some(request)) = question.await else { return };
        let answer = port.ask(request);
        tokio::pin!(answer);
        let answer = loop {
            tokio::select! {
                answer = &mut answer => break answer,
                () = tokio::time::sleep(LOOK) => look(&self.workspace, &self.word, &self.own).await,
            }
        };
        if let Answer::Selected { option_id, .. } = answer
            && let Some(trusted) = answered(&option_id)
        {
            keep(&self.shared, self.workspace, trusted, &self.own).await;
        }
    }
}

/// Looks whether it is trusted, and tells the session.
async fn look(workspace: &Workspace, word: &Word, own: &mpsc::UnboundedSender<Own>) {
    let (workspace, word) = (workspace.clone(), word.clone());
    if let Ok(decided) = blocking(move || Ok(workspace.decided(&word))).await {
        let _ = own.send(Own::Trust(decided));
    }
}

/// Keeps what the user says of the workspace, for every session and window.
async fn keep(shared: &Shared, workspace: Workspace, trusted: bool, own: &mpsc::UnboundedSender<Own>) {
    if let Err(error) = blocking(move || workspace.decide(trusted)).await {
        let text =
            format!("what you said of the trust in this folder could not be kept, so it is not trusted: {error}");
        let _ = own.send(Own::Alert(text));
    }
    tell_router(shared, router::Message::TrustChanged);
}

impl Session {
    /// What is needed to ask whether the workspace is trusted; none where this session has asked before.
    pub(super) fn asking(&self, word: Word) -> Option<Asking> {
        let (shared, workspace, own) = (self.shared.clone(), self.trust.clone(), self.own.clone());
        (!self.state.trust_asked).then_some(Asking { shared, workspace, word, own })
    }

    /// What was said of some folder, or of this workspace by an editor, is other than it was.
    pub(super) fn look_at_trust(&self) {
        let home = self.turn.as_ref().map(|turn| &turn.home).or(self.home.as_ref());
        let word = home.map(|home| home.trust.clone()).unwrap_or_default();
        let (workspace, own) = (self.trust.clone(), self.own.clone());
        tokio::spawn(async move { look(&workspace, &word, &own).await });
    }

    /// Whether the workspace is trusted was read. A question about it is settled where somebody has said, and a shell
    /// that was started for a trusted workspace makes way for one that is not: at once where it does nothing, else
    /// before the next command. Language servers that run for it are ended.
    pub(super) fn trust_read(&mut self, decided: Option<bool>) {
        if decided.is_some() {
            let is_it = |id: &&_| self.questions.get(*id).is_some_and(|it| it.request.about == PermissionAbout::Trust);
            let settled: Vec<_> = self.questions.keys().filter(is_it).cloned().collect();
            for id in settled {
                let waiting = self.close_question(&id, PermissionOutcome::Moot).and_then(|question| question.waiting);
                waiting.into_iter().for_each(|waiting| drop(waiting.send(Answer::Moot)));
            }
        }
        if decided == Some(false) {
            let (servers, roots) = (Arc::clone(&self.shared.servers), Arc::clone(&self.reading.roots));
            tokio::spawn(async move { servers.leave(&roots).await });
        }
        if decided != Some(true) {
            self.terminals.make_way();
        }
    }

    /// Takes an answer to a question whose turn ended with an earlier process; the turn goes on once it is kept.
    pub(super) fn keep_trust(&mut self, caller: Caller, answer: Answer) {
        let said = match &answer {
            Answer::Selected { option_id, .. } => answered(option_id),
            Answer::Cancelled | Answer::Moot | Answer::Nobody => None,
        };
        let (shared, workspace, own) = (self.shared.clone(), self.trust.clone(), self.own.clone());
        self.begun += 1;
        tokio::spawn(async move {
            if let Some(trusted) = said {
                keep(&shared, workspace, trusted, &own).await;
            }
            let _ = own.send(Own::TrustKept(caller));
        });
    }

    /// It is kept.
    pub(super) fn trust_kept(&mut self, caller: Caller) {
        self.begun -= 1;
        self.resume_turn(caller, None, Answer::Moot);
    }
}

/// Whether an event asks whether the workspace is trusted.
pub(super) fn asks(event: &Event) -> bool {
    matches!(event, Event::PermissionAsked { request, .. } if request.about == PermissionAbout::Trust)
}
