//! The sessions that record accepted suggestions: one for each set of workspace folders, made with the first of them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use protocol::SessionId;
use protocol::session::{Mode, Purpose};
use tokio::sync::mpsc;

use super::super::feed::blocking;
use super::super::post::{AcceptedSuggestion, Caller, Message, NewSession, Requester, Shared};
use super::make;

/// A suggestion with the client whose user has accepted it.
type Accepted = (Caller, Box<AcceptedSuggestion>);

/// The records of this process, by their folders.
#[derive(Default)]
pub(super) struct Suggestions(HashMap<Vec<PathBuf>, mpsc::UnboundedSender<Accepted>>);

impl Suggestions {
    /// Has a suggestion put into its document, after those that were accepted before it.
    pub(super) fn accept(&mut self, shared: &Shared, folders: Vec<PathBuf>, accepted: Accepted) {
        let record = self.0.entry(folders.clone()).or_insert_with(|| {
            let (record, accepted) = mpsc::unbounded_channel();
            tokio::spawn(keep(shared.clone(), folders, accepted));
            record
        });
        let _ = record.send(accepted);
    }
}

/// Sends the suggestions of some folders to their session, which is made with the first, and again if it was deleted.
async fn keep(shared: Shared, folders: Vec<PathBuf>, mut accepted: mpsc::UnboundedReceiver<Accepted>) {
    let mut session: Option<SessionId> = None;
    while let Some((caller, suggestion)) = accepted.recv().await {
        if let Some(known) = &session
            && is_there(&shared, known).await
        {
            shared.post(None, Message::RecordSuggestion(known.clone(), caller, suggestion));
            continue;
        }
        let new = NewSession {
            folders: folders.clone(),
            model: None,
            mode: Mode::default(),
            is_asked_for: false,
            parent: None,
            purpose: Purpose::Suggestions,
        };
        let requester = Requester::Suggestion(suggestion);
        match make(&shared, &new).await {
            Ok(made) => {
                shared.post(None, Message::Created(made.clone(), new, caller, requester));
                session = Some(made);
            }
            Err(error) => requester.fail(error),
        }
    }
}

async fn is_there(shared: &Shared, session: &SessionId) -> bool {
    let (store, session) = (Arc::clone(&shared.parts.store), session.clone());
    blocking(move || store.info(&session)).await.is_ok()
}
