//! Asks for the next edit in the name of a client without a plugin, after each of its changes, and carries out what its
//! user decides.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt;
use hub::request::{read, write};
use hub::{Answer, Connection, Input, request_of};
use project::text::PositionEncoding;
use protocol::ErrorCode;
use protocol::content::Position;
use protocol::inline::{
    InlineAcceptParams, InlineAcceptResult, InlineDocument, InlineEditParams, InlineEditResult, InlineEvent,
    InlineFeedbackParams, InlineTrigger,
};
use protocol::methods::{InlineAccept, InlineEdit, InlineFeedback};
use tokio_util::task::AbortOnDropHandle;

use super::commands::EditTarget;
use super::messages::DidChange;
use super::next_edits::NextEdits;
use super::outbox::Outbox;
use crate::front::settings::{Settings, Suggestions};

/// The requests of a client's documents for the next edit.
pub(super) struct Asking {
    connection: Arc<Connection>,
    outbox: Outbox,
    edits: Arc<NextEdits>,
    settings: Arc<Settings>,
    /// The request that runs for each document. Dropping it withdraws it.
    running: HashMap<String, AbortOnDropHandle<()>>,
}

impl Asking {
    pub(super) fn new(
        connection: Arc<Connection>,
        outbox: Outbox,
        edits: Arc<NextEdits>,
        settings: Arc<Settings>,
    ) -> Self {
        Self { connection, outbox, edits, settings, running: HashMap::new() }
    }

    /// The cursor of a client that is about to change a document, if it is to be asked about.
    pub(super) fn cursor(&self, change: &DidChange, encoding: PositionEncoding) -> Option<Position> {
        if self.settings.shows_edits() == Some(false) || !self.edits.is_plain() {
            return None;
        }
        let before = self.connection.buffers().by_uri(&change.text_document.uri);
        change.cursor(before.as_ref().map(|before| &*before.text), encoding)
    }

    /// Asks for the next edit of a document that has just been changed, in place of the request before. The hub says
    /// when the model is asked.
    pub(super) fn changed(&mut self, uri: &str, version: i32, cursor: Option<Position>) {
        self.running.remove(uri);
        let Some(position) = cursor else { return };
        let text_document = InlineDocument { uri: uri.to_owned(), version: Some(version) };
        let trigger = InlineTrigger::Automatic;
        let params = InlineEditParams { text_document, position, trigger, selecting: false };
        let (request, answer) = request_of::<InlineEdit>(params);
        let mut early = None;
        match self.settings.shows_edits() {
            Some(_) => self.connection.post(Input::Request(request)),
            None => early = Some((Arc::clone(&self.settings), Arc::clone(&self.connection), request)),
        }
        let (outbox, asked) = (self.outbox.clone(), uri.to_owned());
        let run = tokio::spawn(async move {
            // Nobody is asked for a user who may not want it.
            if let Some((settings, connection, request)) = early {
                if !settings.first_suggestions().await.is_some_and(Suggestions::shows_edits) {
                    return;
                }
                connection.post(Input::Request(request));
            }
            let result = answer.await.and_then(|answer| read::<InlineEditResult>(&answer));
            if let Ok(result) = result {
                outbox.edit_answered(asked, result);
            }
        });
        self.running.insert(uri.to_owned(), AbortOnDropHandle::new(run));
    }

    /// A document was closed.
    pub(super) fn closed(&mut self, uri: &str) {
        self.running.remove(uri);
        self.edits.closed(uri);
    }

    /// The client asks for edits itself.
    pub(super) fn leave(&mut self) {
        self.running.clear();
        self.edits.leave();
        self.outbox.show_edits();
    }

    /// Accepts an edit or a hunk of it.
    pub(super) fn accept(&self, EditTarget { id, hunk }: EditTarget) -> Answer {
        let params = InlineAcceptParams { id: id.clone(), hunks: hunk.map(|hunk| vec![hunk]) };
        let (request, answer) = request_of::<InlineAccept>(params);
        self.connection.post(Input::Request(request));
        let (edits, outbox) = (Arc::clone(&self.edits), self.outbox.clone());
        let connection = Arc::downgrade(&self.connection);
        async move {
            let result = answer.await.and_then(|answer| read::<InlineAcceptResult>(&answer));
            match (&result, connection.upgrade()) {
                (Ok(result), Some(connection)) => edits.accepted(&id, result.rest.clone(), connection.buffers()),
                (Err(error), _) if error.code == ErrorCode::NotFound => edits.forget(&id),
                _ => {}
            }
            outbox.show_edits();
            result.and_then(|_| write(&()))
        }
        .boxed()
    }

    /// Rejects an edit or a hunk of it.
    pub(super) fn reject(&self, EditTarget { id, hunk }: EditTarget) {
        // Of a hunk that is rejected the hub tells what is left.
        if hunk.is_none() {
            self.edits.forget(&id);
            self.outbox.show_edits();
        }
        let rejected = InlineFeedbackParams { id, event: InlineEvent::Rejected, hunk, length: None };
        self.connection.tell::<InlineFeedback>(rejected);
    }
}
