//! Saving documents through the editor that has them open.

use std::sync::Arc;

use workspace::buffers::{Buffers, Open, Snapshot};
use workspace::paths::Roots;

use super::Session;
use super::carry::{still_there, still_writable};
use crate::hub::{Editor, EditorError};

/// Who saves documents through the editor, apart from the session's task.
pub(super) struct Saver {
    editor: Option<Arc<dyn Editor>>,
    /// That editor's documents.
    buffers: Arc<Buffers>,
    roots: Arc<Roots>,
}

/// A document that is not saved.
#[derive(Debug, thiserror::Error)]
#[error("{display} is not saved: {reason}")]
pub(super) struct NotSaved {
    /// Its name for people.
    display: String,
    pub(super) reason: NotSavedReason,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum NotSavedReason {
    /// It holds something of the user's own by now.
    #[error("it was changed meanwhile")]
    Changed,
    /// The editor would write where it must not, in words.
    #[error("{0}")]
    NotWritable(String),
    #[error("the editor could not")]
    Failed,
    #[error(transparent)]
    Editor(#[from] EditorError),
}

impl Saver {
    /// Who saves in this editor, which has these documents.
    pub(super) fn new(editor: Option<Arc<dyn Editor>>, buffers: Arc<Buffers>, roots: Arc<Roots>) -> Self {
        Self { editor, buffers, roots }
    }

    /// Saves documents one after the other, which can take long: each only if it is still as it is given here, or with
    /// `own`, since the user said so, as it is then. Gives those that are not saved.
    pub(super) async fn save(&self, documents: &[Arc<Snapshot>], own: bool) -> Vec<NotSaved> {
        let mut failures = Vec::new();
        for document in documents {
            if let Err(reason) = self.save_one(document, own).await {
                failures.push(NotSaved { display: self.roots.display(&document.path), reason });
            }
        }
        failures
    }

    async fn save_one(&self, document: &Snapshot, own: bool) -> Result<(), NotSavedReason> {
        let (roots, path) = (Arc::clone(&self.roots), document.path.clone());
        // The editor would save it where a link leads that came since. What is protected from us is not from the user.
        let look = move || if own { still_there(&roots, &path) } else { still_writable(&roots, &path) };
        let looked = tokio::task::spawn_blocking(look).await;
        looked.map_err(|error| error.to_string()).flatten().map_err(NotSavedReason::NotWritable)?;
        let is_same = |now: &Snapshot| now.hash() == document.hash();
        if !own && !matches!(self.buffers.get(&document.path), Open::Yes(now) if is_same(&now)) {
            return Err(NotSavedReason::Changed);
        }
        let editor = self.editor.as_ref().ok_or(EditorError::Gone)?;
        if editor.save(&document.uri).await? { Ok(()) } else { Err(NotSavedReason::Failed) }
    }
}

impl Session {
    /// Who saves documents, as things are now.
    pub(super) fn saver(&self) -> Saver {
        Saver::new(self.home_editor(), self.reading.reader.buffers(), Arc::clone(&self.reading.roots))
    }
}
