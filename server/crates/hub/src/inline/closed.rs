//! Suggested edits of files that are not open. An edit is accepted once the client has opened its file, so the user
//! always sees what is changed.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use ports::complete::Edited;
use project::buffers::{Open, Snapshot};
use protocol::inline::{InlineChangedParams, Reason, Rule};

use super::document::Document;
use super::edits::{OfClient, Suggested};
use super::gate::Gate;
use super::servers::Warm;
use super::uses::{Origin, Uses};
use super::{Key, Task};
use crate::ClientId;

/// The documents whose declarations count.
const ORIGINS: usize = 3;

/// The document of an edit that was found.
pub(super) struct DocumentFound {
    pub(super) key: Key,
    /// The document as it is now.
    pub(super) now: Arc<Snapshot>,
    /// True if it is not open: then it is the file as it was read.
    pub(super) is_closed: bool,
}

impl Task {
    /// The way to the uses of what the user has declared in a document and, after it, in the others.
    pub(super) fn uses(&self, key: &Key, is_invoked: bool) -> Option<Uses> {
        let client = self.clients.get(&key.0)?;
        let mut edited: HashMap<String, (usize, Vec<Edited>)> = HashMap::new();
        for (age, edit) in self.journal.edited(|name| Some(name.to_owned())).into_iter().rev().enumerate() {
            edited.entry(edit.path.clone()).or_insert_with(|| (age, Vec::new())).1.insert(0, edit);
        }
        let own = self.documents.iter().filter(|(of, _)| of.0 == key.0);
        let own = own.filter(|(of, _)| self.admitted.get(of).is_some_and(|(_, judged)| judged.is_ok()));
        let mut origins: Vec<_> = own
            .filter_map(|(of, document)| {
                let (age, edits) = edited.remove(&document.name)?;
                let (uri, path) = (Arc::clone(&of.1), document.snapshot.path.clone());
                let origin = Origin { uri, path, text: Arc::clone(document.snapshot.normal()), edits };
                Some(((of != key, age), origin))
            })
            .collect();
        origins.sort_by_key(|(order, _)| *order);
        // Who asks for an edit is shown one that was rejected, too.
        let of = self.edits.get(key.0).filter(|_| !is_invoked);
        Some(Uses {
            servers: Warm::new(&self.shared, client),
            gate: Gate::new(&self.shared, &self.config, client),
            origins: origins.into_iter().map(|(_, origin)| origin).take(ORIGINS).collect(),
            settled: of.map(OfClient::settled).unwrap_or_default(),
            searched: of.map(|of| of.searched.iter().cloned().collect()).unwrap_or_default(),
        })
    }

    /// A file was saved, or changed on disk: an edit of it that is not open is of another text.
    pub(super) fn closed_file_changed(&mut self, path: &Path) {
        for client in self.edits.clients() {
            let of = self.edits.of(client);
            let is_of = |it: &mut Suggested| it.closed.as_ref().is_some_and(|closed| closed.path == *path);
            if let Some(Suggested { id, .. }) = of.suggested.take_if(is_of) {
                self.tell_edit(client, InlineChangedParams { id, edit: None, reason: Some(Rule::Mismatch.into()) });
            }
        }
    }

    /// A document with rejected edits is closed: they are rejected in its file, too, if that has its text.
    pub(super) fn rejected_edits_stay(&mut self, client: ClientId, document: &Document) {
        if document.snapshot.is_as_saved() && self.clients.contains_key(&client) {
            self.edits.of(client).reject_there(&document.snapshot, document.rejected.clone());
        }
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

    /// A document was opened, or it is known now which file it is: an edit of that file is one of the document from now
    /// on, and so are the rejections in it.
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
