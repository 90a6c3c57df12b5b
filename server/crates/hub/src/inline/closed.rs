//! Suggested edits of files that are not open. An edit is accepted once the client has opened its file, so the user
//! always sees what is changed.

use std::sync::Arc;

use project::buffers::{Open, Snapshot};
use protocol::inline::{InlineChangedParams, Reason, Rule};

use super::edits::{OfClient, Suggested};
use super::gate::Gate;
use super::servers::Warm;
use super::uses::Uses;
use super::{Key, Task};
use crate::ClientId;

/// The document of an edit that was found.
pub(super) struct DocumentFound {
    pub(super) key: Key,
    /// The document as it is now.
    pub(super) now: Arc<Snapshot>,
    /// True if it is not open: then it is the file as it was read.
    pub(super) is_closed: bool,
}

impl Task {
    /// A search for the uses of names of a client's documents.
    pub(super) fn uses(&self, client: ClientId, language: &str, is_invoked: bool) -> Option<Uses> {
        let connected = self.clients.get(&client)?;
        // Who asks for an edit is shown one that was rejected, too.
        let rejected = self.edits.get(client).filter(|_| !is_invoked).map(OfClient::rejected_there).unwrap_or_default();
        Some(Uses {
            servers: Warm::new(&self.shared, connected),
            gate: Gate::new(&self.shared, &self.config, connected),
            language: language.to_owned(),
            rejected,
        })
    }

    /// The document that an edit is for: the open one, or the file as it was read.
    pub(super) fn edited_document(&self, suggested: &Suggested) -> Option<Arc<Snapshot>> {
        match &suggested.closed {
            Some(closed) => Some(Arc::clone(closed)),
            None => self.document_of(suggested.key.0, &suggested.key.1),
        }
    }

    /// The document of an edit that was found; of a file that was not open then, the file as it was read.
    ///
    /// # Errors
    /// The document was closed, or its text is not known.
    pub(super) fn document_found(
        &self,
        client: ClientId,
        uri: &Arc<str>,
        closed: Option<&Arc<Snapshot>>,
    ) -> Result<DocumentFound, Rule> {
        let open = |now: Arc<Snapshot>| DocumentFound { key: (client, Arc::clone(&now.uri)), now, is_closed: false };
        let Some(closed) = closed else {
            return self.document_of(client, uri).map(open).ok_or(Rule::Closed);
        };
        match self.clients.get(&client).ok_or(Rule::Closed)?.caller.buffers.get(&closed.path) {
            Open::No => Ok(DocumentFound { key: (client, Arc::clone(uri)), now: Arc::clone(closed), is_closed: true }),
            Open::Yes(now) => Ok(open(now)),
            Open::OutOfSync => Err(Rule::Stale),
        }
    }

    /// A document was opened: an edit of its file is one of that document from now on, and what was rejected of it is.
    pub(super) fn edit_opened(&mut self, key: &Key) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let of = self.edits.of(key.0);
        let snapshot = Arc::clone(&document.snapshot);
        document.rejected.append(of.take_rejected_there(&snapshot));
        let is_of = |closed: &Snapshot| closed.path == snapshot.path || closed.uri == snapshot.uri;
        let suggested = of.suggested.as_mut().filter(|it| it.closed.as_deref().is_some_and(is_of));
        let Some(suggested) = suggested else { return };
        (suggested.closed, suggested.key) = (None, key.clone());
        let changed = suggested.pending.changed(snapshot.normal());
        suggested.moved();
        let id = suggested.id.clone();
        let (edit, reason) = match changed {
            Ok(_) => (Some(suggested.to_wire(&snapshot)), None),
            Err(rule) => (None, Some(Reason::from(rule))),
        };
        of.suggested.take_if(|_| edit.is_none());
        self.tell_edit(key.0, InlineChangedParams { id, edit, reason });
    }
}
