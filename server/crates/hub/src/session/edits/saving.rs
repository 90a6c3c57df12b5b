//! Saving documents through the editor that has them open.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::edit::TextHash;
use project::buffers::{Buffers, Open, Snapshot};
use project::paths::Roots;

use super::carry::{still_there, still_writable};
use crate::chat_name::is_chat;
use crate::session::Reading;
use crate::session::state::State;
use crate::{Editor, EditorError};

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
pub(in crate::session) struct NotSaved {
    /// Its name for people.
    display: String,
    pub(super) reason: NotSavedReason,
}

#[derive(Debug, thiserror::Error)]
pub(in crate::session) enum NotSavedReason {
    /// It holds something of the user's own by now.
    #[error("it was changed meanwhile")]
    Changed,
    /// The editor would write where it must not, in words.
    #[error("{0}")]
    NotWritable(String),
    #[error("the editor could not save it")]
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

/// The texts of buffers that hold nothing unsaved but our accepted edits, as hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct Ours(HashMap<PathBuf, TextHash>);

impl Ours {
    /// A file's text was changed by us from the one with the hash `before` to the one with the hash `after`, none if
    /// that is not sure. Anything typed since makes it the user's own.
    pub(super) fn note(&mut self, path: &Path, before: Option<&TextHash>, after: Option<&TextHash>, was_clean: bool) {
        let was_ours = self.0.get(path) == before;
        match after {
            Some(after) if was_clean || was_ours => drop(self.0.insert(path.to_path_buf(), after.clone())),
            _ => drop(self.0.remove(path)),
        }
    }

    /// True if a buffer holds nothing unsaved but our accepted edits.
    pub(super) fn has(&self, buffer: &Snapshot) -> bool {
        self.0.get(&buffer.path) == Some(buffer.hash())
    }
}

/// The project's documents with text that is not saved, for who looks for them, which blocks. One that the editor has
/// not changed since it was on disk, and that a command or another program changed there, holds nothing of the user's.
pub(super) fn unsaved(state: &State, reading: &Reading) -> impl FnOnce() -> Vec<Arc<Snapshot>> + Send + 'static {
    let (reader, roots) = (Arc::clone(&reading.reader), Arc::clone(&reading.roots));
    let is_left_behind = |buffer: &Snapshot| match buffer.saved_version {
        Some(saved) => saved == buffer.version,
        // An editor can open a document with text that is not saved; what others found in its file was there.
        None => buffer.version == buffer.opened_version && state.has_changed(&buffer.path, buffer.hash()),
    };
    let left_behind = reader.buffers().all().into_iter().filter(|buffer| is_left_behind(buffer));
    let left_behind: HashSet<_> = left_behind.map(|buffer| (buffer.path.clone(), buffer.version)).collect();
    move || {
        let is_one = |buffer: &Arc<Snapshot>| {
            !is_chat(&buffer.uri)
                && roots.check(&buffer.path).is_ok()
                && !left_behind.contains(&(buffer.path.clone(), buffer.version))
        };
        reader.unsaved().into_iter().filter(is_one).collect()
    }
}
