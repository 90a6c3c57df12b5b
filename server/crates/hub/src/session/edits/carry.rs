//! A change of one file, on its way into the document: through the editor where it is open there, else on disk. Never
//! behind anybody's back: what is there is looked at first, and what came of it afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ports::edit::TextHash;
use ports::store::{Store, StoreError};
use project::buffers::{Buffers, Open, Snapshot};
use project::files::{self, FileError, Whole};
use project::paths::{self, Roots};
use project::reader::{OnDisk, Reader};
use project::review::{Application, Coming, LineEdit, to_line_edits, with_mark};
use project::text::{hash, hash_bytes, is_blank};
use protocol::SessionId;
use protocol::checkpoint::FileImage;
use protocol::event::ApplyOutcome;
use tokio::sync::{mpsc, oneshot};

use super::Message;
use crate::feed::blocking;
use crate::session::Own;
use crate::{DocumentEdit, Editor};

/// How long to wait for the editor to show an edit that it took; clients send changes with a delay.
const VERIFY: Duration = Duration::from_secs(3);

/// Why a file is left as it is that another window holds with another text.
const IN_ANOTHER_WINDOW: &str = "it is open in another window with unsaved text, and was not changed under it; save or \
                                 close it there, or send the next prompt from there, and look at it again";

/// The reason for a failure if an editor did not delete a file that it said it had deleted.
const STILL_THERE: &str = "the editor said that it deleted it, but it is still there";

/// Where in a session's folder texts are that no file and no editor has any more.
const KEPT_ASIDE: &str = "unsaved";
/// So many bytes of a file's name are in the name of its text there.
const LONGEST_NAME: usize = 100;

/// A change of one file. All of it is done, or nothing.
#[derive(Clone, Debug)]
pub(in crate::session) struct Change {
    /// The file, absolute.
    pub(in crate::session) path: PathBuf,
    /// The hash that the document must have; none if there must be no file.
    pub(in crate::session) base_hash: Option<TextHash>,
    /// The text with that hash.
    pub(in crate::session) base_text: Option<Arc<str>>,
    /// The text afterwards; none if the file is to be deleted.
    pub(in crate::session) target_text: Option<Arc<str>>,
    /// The same as edits of the base's lines, from top to bottom.
    pub(in crate::session) edits: Vec<LineEdit>,
    /// Where the text of a file that is deleted must be first, since it is moved.
    pub(in crate::session) moved_to: Option<NewPlace>,
    /// The bytes and attributes that the file is to have if no editor holds it; otherwise these stay as they are.
    pub(in crate::session) exactly: Option<Exactly>,
}

/// Where a file is moved to.
#[derive(Clone, Debug)]
pub(in crate::session) struct NewPlace {
    pub(in crate::session) path: PathBuf,
    /// True if the file there was made by an accepted edit, so that it holds the text or what became of it.
    pub(in crate::session) made: bool,
    /// The edit that is to make the file there, if there is none.
    pub(in crate::session) coming: Coming,
}

/// A file beyond its text.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct Exactly {
    /// Its bytes, where these are not just those of the text.
    pub(in crate::session) bytes: Option<Arc<[u8]>>,
    /// True if a new one is to be a program.
    pub(in crate::session) executable: bool,
}

impl Change {
    /// The change that accepted hunks make. A file that is moved has a new place.
    pub(in crate::session) fn new(application: &Application, moved_to: Option<NewPlace>) -> Self {
        Self {
            path: application.path.clone(),
            base_hash: application.base_hash.clone(),
            base_text: application.base_text.clone(),
            target_text: application.target_text.clone(),
            edits: application.edits.clone(),
            moved_to,
            exactly: None,
        }
    }
}

/// The outcome of a change.
pub(in crate::session) struct Carried {
    pub(in crate::session) outcome: ApplyOutcome,
    /// The hash under which the text before is kept; none if there was no file, and where nothing was tried.
    pub(in crate::session) before: Option<String>,
    /// The image of a file that was to be deleted, with what it was beyond its text.
    pub(in crate::session) deleted: Option<FileImage>,
    /// True if the document is open and held nothing unsaved before.
    pub(in crate::session) was_clean: bool,
    /// True if the file itself was written, and no document of it.
    pub(in crate::session) written: bool,
}

impl Carried {
    /// Nothing was changed.
    pub(in crate::session) fn failed(reason: impl Into<String>) -> Self {
        Self { outcome: ApplyOutcome::Failed { reason: reason.into() }, ..Self::nothing() }
    }

    /// An edit of an open document, of which nothing else is known.
    fn nothing() -> Self {
        Self { outcome: ApplyOutcome::Verified, before: None, deleted: None, was_clean: false, written: false }
    }
}

/// Who carries changes out, with all that it takes, apart from the session's task.
#[derive(Clone)]
pub(in crate::session) struct Carrier {
    pub(in crate::session) session: SessionId,
    pub(in crate::session) store: Arc<dyn Store>,
    pub(in crate::session) reader: Arc<Reader>,
    pub(in crate::session) roots: Arc<Roots>,
    /// The editor whose documents count.
    pub(in crate::session) editor: Option<Arc<dyn Editor>>,
    /// The documents of all who follow the session.
    pub(in crate::session) others: Arc<[Arc<Buffers>]>,
    /// The session, where its log is to say what a file is before that is deleted: should the process end right after
    /// it, nobody else could tell.
    pub(in crate::session) before_deletion: Option<mpsc::UnboundedSender<Own>>,
}

impl Carrier {
    /// Carries a change out. The texts before and after are kept first, so that it can be undone and redone.
    pub(in crate::session) async fn carry_out(&self, change: &Change) -> Carried {
        if let Some(new_place) = &change.moved_to
            && let Err(reason) = self.holds_text(new_place, change).await
        {
            return Carried::failed(reason);
        }
        let before = match self.keep_texts(change).await {
            Ok(before) => before,
            Err(error) => {
                let reason = format!("the text before could not be kept, so it was not changed: {error}");
                return Carried::failed(reason);
            }
        };
        match self.reader.buffers().get(&change.path) {
            Open::Yes(snapshot) if snapshot.is_gone() && change.base_hash.is_none() => {
                self.make_again(&snapshot, change).await.unwrap_or_else(Carried::failed)
            }
            Open::Yes(snapshot) => {
                let carried = self.through_editor(&snapshot, change).await.unwrap_or_else(Carried::failed);
                Carried { before, ..carried }
            }
            Open::OutOfSync => {
                Carried::failed("what the editor holds is not known: close the document and open it again")
            }
            Open::No => {
                // A document may be open in an editor that has not said so yet.
                if let Some(editor) = &self.editor
                    && let Ok(Some(text)) = editor.text(&paths::to_uri(&change.path)).await
                    && Some(hash(&text)) != change.base_hash
                {
                    return Carried::failed("the editor has it open with another text; look at it again");
                }
                if self.others.iter().any(|buffers| has_another_text(buffers, change)) {
                    return Carried::failed(IN_ANOTHER_WINDOW);
                }
                self.on_disk(change, before).await
            }
        }
    }

    /// Sees to it that the new place of a file that is moved has its text; else says why the file stays.
    async fn holds_text(&self, new_place: &NewPlace, change: &Change) -> Result<(), String> {
        let to = self.roots.display(&new_place.path);
        let lost = "so that its text would be lost: its deletion can only be rejected";
        match (self.now(new_place.path.clone()).await.flatten(), new_place.coming) {
            (Some(text), _) if new_place.made || Some(hash(&text)) == change.base_hash => Ok(()),
            (Some(_), _) => Err(format!("it is moved to {to}, where another text is by now, {lost}")),
            (None, Coming::Waits) => {
                Err(format!("it is moved to {to}, which is not there yet: accept that file first"))
            }
            (None, Coming::Rejected) => Err(format!("it is moved to {to}, which was rejected, {lost}")),
            (None, Coming::Nothing) => Err(format!("it is moved to {to}, which is not there, {lost}")),
        }
    }

    /// The text of a file, the inner none if there is no file; none if it cannot be read.
    pub(in crate::session) async fn now(&self, path: PathBuf) -> Option<Option<Arc<str>>> {
        let reader = Arc::clone(&self.reader);
        tokio::task::spawn_blocking(move || reader.base_text(&path)).await.ok()?.ok()
    }

    /// Keeps the texts before and after. Gives the hash of the one before.
    async fn keep_texts(&self, change: &Change) -> Result<Option<String>, StoreError> {
        // Each is written through to the disk, which takes a moment, so both at once.
        let keep = |text: &Option<Arc<str>>| {
            let (store, text) = (Arc::clone(&self.store), text.clone());
            blocking(move || text.map(|text| store.put_blob(text.as_bytes())).transpose())
        };
        let (before, _) = tokio::try_join!(keep(&change.base_text), keep(&change.target_text))?;
        Ok(before)
    }

    /// Changes an open document, or has the editor delete its file.
    async fn through_editor(&self, document: &Snapshot, change: &Change) -> Result<Carried, String> {
        let editor = self.editor.as_deref().ok_or("no editor is there to change the open document")?;
        let (reading, roots, path) = (Arc::clone(&self.reader), Arc::clone(&self.roots), document.path.clone());
        let looked = tokio::task::spawn_blocking(move || {
            // The editor would save it where that leads.
            still_writable(&roots, &path)?;
            let unsaved = reading.unsaved().iter().any(|buffer| buffer.path == path);
            let now = reading.base_text(&path).map_err(|error| error.to_string())?;
            Ok::<_, String>((now.as_deref().map(hash), unsaved))
        });
        let was_clean = match looked.await {
            Ok(Ok((now, unsaved))) if now == change.base_hash => !unsaved,
            Ok(Err(reason)) => return Err(reason),
            _ => return Err("the document changed meanwhile; look at it again".into()),
        };
        let Some(target) = &change.target_text else {
            return self.delete_open(editor, document, change, was_clean).await;
        };
        let edits = match change.base_hash {
            Some(_) => change.edits.clone(),
            // For a file that is not there the editor can show an empty line.
            None => {
                let end_line = document.normal().lines().count();
                vec![LineEdit { start_line: 0, end_line, new_text: target.to_string() }]
            }
        };
        let expected = hash(target);
        let outcome = self.edit(editor, document, edits, |shown| hash(shown) == expected).await?;
        Ok(Carried { outcome, was_clean, ..Carried::nothing() })
    }

    /// Makes a deleted file again that the editor shows still: on disk as it is to be, since the editor would not save
    /// a document that nothing has changed in.
    async fn make_again(&self, document: &Arc<Snapshot>, change: &Change) -> Result<Carried, String> {
        let Some(target) = &change.target_text else { return Ok(Carried::nothing()) };
        if self.others.iter().any(|buffers| has_another_text(buffers, change)) {
            return Err(IN_ANOTHER_WINDOW.into());
        }
        let expected = hash(target);
        if expected != *document.hash() {
            let editor = self.editor.as_deref().ok_or("no editor is there to change the open document")?;
            let edits = to_line_edits(document.normal(), target);
            let outcome = self.edit(editor, document, edits, |shown| hash(shown) == expected).await?;
            // The editor has it, so that it can be saved there if the disk refuses.
            let written = self.on_disk(change, None).await.written;
            return Ok(Carried { outcome, written, ..Carried::nothing() });
        }
        let carried = self.on_disk(change, None).await;
        if carried.outcome == ApplyOutcome::Verified {
            self.reader.buffers().set_gone(document, false);
        }
        Ok(carried)
    }

    /// Sends an edit of an open document and waits for the document to show it; `applied: true` alone proves nothing.
    async fn edit(
        &self,
        editor: &dyn Editor,
        document: &Snapshot,
        edits: Vec<LineEdit>,
        is_there: impl Fn(&str) -> bool,
    ) -> Result<ApplyOutcome, String> {
        let edit = DocumentEdit {
            uri: Arc::clone(&document.uri),
            version: document.version,
            label: "Azimuth".into(),
            edits: with_mark(edits, &document.text),
        };
        editor.apply(edit).await.map_err(|error| error.to_string())?;
        let shown = self.reader.buffers().wait(&document.path, VERIFY, |shown| is_there(shown.normal())).await;
        if shown.is_ok() {
            return Ok(ApplyOutcome::Verified);
        }
        match editor.text(&document.uri).await {
            Ok(Some(text)) if is_there(&text) => Ok(ApplyOutcome::Verified),
            Ok(_) => Err("the editor said that it took the edit, but the document does not show it".into()),
            Err(_) => Ok(ApplyOutcome::Unverified),
        }
    }

    /// Has the editor delete the file of an open document. What is typed into it meanwhile is kept.
    async fn delete_open(
        &self,
        editor: &dyn Editor,
        document: &Snapshot,
        change: &Change,
        was_clean: bool,
    ) -> Result<Carried, String> {
        if self.others.iter().any(|buffers| has_another_text(buffers, change)) {
            return Err(IN_ANOTHER_WINDOW.into());
        }
        let (reader, path) = (Arc::clone(&self.reader), document.path.clone());
        let on_disk = tokio::task::spawn_blocking(move || reader.on_disk(&path));
        if let Ok(Some((_, OnDisk::Other(_)))) = on_disk.await {
            return Err("its text on disk differs from the text in the editor; save or reload it in the editor, then \
                        look at the edit again"
                .into());
        }
        let deleted = self.keep_file(&document.path).await?;
        if deleted.is_none() && document.is_as_saved() && self.reader.buffers().set_gone(document, true) {
            // Others have deleted it, and what the editor does with its document is the editor's to say.
            return Ok(Carried { was_clean, ..Carried::nothing() });
        }
        if deleted.is_none() {
            // There is only the document, and an empty one is how an editor shows a file that is not there.
            let outcome = self.empty(editor, document).await?;
            return Ok(Carried { outcome, was_clean, ..Carried::nothing() });
        }
        if !editor.deletes() {
            return Err("it is open in the editor; close it there to have it deleted".into());
        }
        if let Some(image) = deleted.as_ref().filter(|_| was_clean) {
            self.about_to_delete(&document.path, image).await;
        }
        let closing = self.reader.buffers().closing(&document.path);
        editor.delete(&document.uri, document.version).await.map_err(|error| error.to_string())?;
        let closed = tokio::time::timeout(VERIFY, closing).await;
        let typed =
            closed.as_ref().ok().and_then(|last| last.as_ref().ok()).filter(|last| last.hash() != document.hash());
        let there = match self.keep_file(&document.path).await {
            Ok(None) => None,
            // The editor may have saved it.
            Ok(Some(now)) if typed.is_some_and(|last| now.hash == last.hash().0) => {
                Some((STILL_THERE.to_owned(), None))
            }
            Ok(Some(_)) => Some((STILL_THERE.to_owned(), typed)),
            Err(error) => Some((error, typed)),
        };
        match there {
            None => {}
            Some((reason, None)) => return Err(reason),
            Some((reason, Some(last))) => return Err(self.kept_aside(last, &reason).await),
        }
        let outcome = match (typed, self.reader.buffers().get(&document.path)) {
            (Some(last), _) => {
                self.put_back(last, deleted.is_some_and(|deleted| deleted.executable)).await?;
                return Err(
                    "it was typed into while the editor deleted it; it is there again, with what was typed".into()
                );
            }
            (None, Open::No) => ApplyOutcome::Verified,
            (None, _) if matches!(closed, Ok(Ok(_))) => ApplyOutcome::Verified,
            // Not every editor closes the document with it. An empty one could be saved, and the file be there again.
            (None, Open::Yes(now)) if now.hash() == document.hash() && self.reader.buffers().set_gone(&now, true) => {
                ApplyOutcome::Verified
            }
            (None, Open::Yes(_) | Open::OutOfSync) => {
                let reason = "it was typed into while the editor deleted it; the editor has what was typed, not saved";
                return Err(reason.into());
            }
        };
        // The file was as the document, or what it was is not what was reviewed.
        let deleted = deleted.filter(|_| was_clean);
        Ok(Carried { outcome, before: None, deleted, was_clean, written: true })
    }

    /// Takes all text out of a document.
    async fn empty(&self, editor: &dyn Editor, document: &Snapshot) -> Result<ApplyOutcome, String> {
        self.edit(editor, document, to_line_edits(document.normal(), ""), is_blank).await
    }

    /// Keeps a file as it is, if there is one.
    async fn keep_file(&self, path: &Path) -> Result<Option<FileImage>, String> {
        let (roots, store, path) = (Arc::clone(&self.roots), Arc::clone(&self.store), path.to_owned());
        // Nothing is read and kept through a link that came since, which the system refuses by itself on Linux only.
        let kept = tokio::task::spawn_blocking(move || match files::read_whole(&still_writable(&roots, &path)?) {
            Ok(whole) => keep(&*store, &whole)
                .map(Some)
                .map_err(|error| format!("what it is could not be kept, so it was not deleted: {error}")),
            Err(FileError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.to_string()),
        });
        kept.await.map_err(|error| error.to_string()).flatten()
    }

    /// Has the log say what a file is, which is kept, before it is deleted.
    async fn about_to_delete(&self, path: &Path, image: &FileImage) {
        let Some(session) = &self.before_deletion else { return };
        let (stored, is_stored) = oneshot::channel();
        let _ = session.send(Own::Edits(Message::Deleting(paths::to_uri(path), image.clone(), stored)));
        let _ = is_stored.await;
    }

    /// Makes the file of a document that was closed, with its text, which nobody else has any more.
    async fn put_back(&self, document: &Arc<Snapshot>, executable: bool) -> Result<(), String> {
        let (roots, closed) = (Arc::clone(&self.roots), Arc::clone(document));
        let put = tokio::task::spawn_blocking(move || {
            let path = still_writable(&roots, &closed.path)?;
            files::create_bytes(&path, closed.text.as_bytes(), executable).map_err(|error| error.to_string())
        });
        match put.await.map_err(|error| error.to_string()).flatten() {
            Ok(()) => Ok(()),
            Err(error) => Err(self.kept_aside(document, &format!("it could not be made again: {error}")).await),
        }
    }

    /// Keeps the text of a document that was closed, and whose file cannot have it, in the session's folder. Says what
    /// went wrong with the file and where the text is.
    async fn kept_aside(&self, document: &Arc<Snapshot>, problem: &str) -> String {
        let (store, session, document) = (Arc::clone(&self.store), self.session.clone(), Arc::clone(document));
        let kept = tokio::task::spawn_blocking(move || {
            let hash = &document.hash().0;
            // Of a long name only the end, since there is a limit.
            let name = document.path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.get(name.ceil_char_boundary(name.len().saturating_sub(LONGEST_NAME))..).unwrap_or_default();
            let name = format!("{}-{name}", hash.get(..16).unwrap_or(hash));
            let folder = store.session_folder(&session).map_err(|error| error.to_string())?;
            let path = folder.join(KEPT_ASIDE).join(name);
            match files::create_bytes(&path, document.text.as_bytes(), false) {
                Ok(()) | Err(FileError::Exists { .. }) => Ok(path),
                Err(error) => Err(error.to_string()),
            }
        });
        let kept = kept.await.map_err(|error| error.to_string()).flatten();
        let where_it_is = match kept {
            Ok(path) => format!("what was typed is in {} for as long as this session is kept", path.display()),
            Err(error) => format!("what was typed is lost, since it could not be kept elsewhere either: {error}"),
        };
        format!("it was typed into while the editor deleted it, and {problem}; {where_it_is}")
    }

    /// Writes, makes or deletes a file that no editor holds.
    async fn on_disk(&self, change: &Change, before: Option<String>) -> Carried {
        if change.target_text.is_none()
            && self.before_deletion.is_some()
            && let Ok(Some(image)) = self.keep_file(&change.path).await
        {
            self.about_to_delete(&change.path, &image).await;
        }
        let (roots, store, change) = (Arc::clone(&self.roots), Arc::clone(&self.store), change.clone());
        let written = tokio::task::spawn_blocking(move || write(&roots, &*store, &change));
        match written.await {
            Ok(Ok(deleted)) => {
                Carried { outcome: ApplyOutcome::Verified, before, deleted, was_clean: false, written: true }
            }
            Ok(Err(reason)) => Carried { before, ..Carried::failed(reason) },
            Err(error) => Carried { before, ..Carried::failed(error.to_string()) },
        }
    }
}

/// Writes, makes or deletes a file. Gives what a deleted one was. Blocks.
fn write(roots: &Roots, store: &dyn Store, change: &Change) -> Result<Option<FileImage>, String> {
    let path = still_writable(roots, &change.path)?;
    let exactly = change.exactly.clone().unwrap_or_default();
    match (&change.target_text, &change.base_hash) {
        (Some(text), Some(expected)) => match exactly.bytes {
            Some(bytes) => files::write_bytes(&path, &bytes, expected),
            None => files::write(&path, text, expected).map(drop),
        },
        (Some(text), None) => {
            let bytes = exactly.bytes.unwrap_or_else(|| text.as_bytes().into());
            files::create_bytes(&path, &bytes, exactly.executable)
        }
        (None, Some(expected)) => {
            let whole = files::read_whole(&path).map_err(|error| error.to_string())?;
            // The file that is kept for an undo is the one that was reviewed, and that is deleted.
            if hash(&whole.decoded.text) != *expected {
                return Err(FileError::Stale { path }.to_string());
            }
            let image = keep(store, &whole)
                .map_err(|error| format!("what it is could not be kept, so it was not deleted: {error}"))?;
            return files::delete(&path, &whole).map(|()| Some(image)).map_err(|error| error.to_string());
        }
        (None, None) => Ok(()),
    }
    .map_err(|error| error.to_string())?;
    Ok(None)
}

/// Keeps a file as it is. Blocks.
pub(in crate::session) fn keep(store: &dyn Store, whole: &Whole) -> Result<FileImage, StoreError> {
    store.put_blob(whole.decoded.text.as_bytes())?;
    whole.bytes.as_ref().map(|bytes| store.put_blob(bytes)).transpose()?;
    Ok(image(whole))
}

/// Returns the image of a file, as the log has it.
pub(in crate::session) fn image(whole: &Whole) -> FileImage {
    FileImage {
        hash: hash(&whole.decoded.text).0,
        bytes: whole.bytes.as_deref().map(hash_bytes),
        executable: whole.executable,
    }
}

/// Reads what a file that is kept was beyond its text. Blocks.
pub(in crate::session) fn kept_file(store: &dyn Store, image: &FileImage) -> Result<Exactly, StoreError> {
    let bytes = image.bytes.as_ref().map(|hash| store.blob(hash)).transpose()?;
    Ok(Exactly { bytes: bytes.map(Into::into), executable: image.executable })
}

/// True if an editor has the file open with a text that the change was not made for.
fn has_another_text(buffers: &Buffers, change: &Change) -> bool {
    match buffers.get(&change.path) {
        // An empty document is how an editor shows a file that is not there, or one with the text that it was deleted
        // with.
        Open::Yes(snapshot) if change.base_hash.is_none() => !snapshot.may_be_no_file(),
        Open::Yes(snapshot) => Some(snapshot.hash()) != change.base_hash.as_ref(),
        Open::OutOfSync => true,
        Open::No => false,
    }
}

/// The path, if it still leads to the file that was reviewed: a command may have made a link of a folder on the way
/// since the edit was proposed.
pub(in crate::session) fn still_writable(roots: &Roots, path: &Path) -> Result<PathBuf, String> {
    let now = still_there(roots, path)?;
    match roots.protected(&now) {
        None => Ok(now),
        Some(reason) => Err(format!("{} must not be changed: {reason}; nothing was written", roots.display(path))),
    }
}

/// The path, if no link on the way has it lead elsewhere by now.
pub(in crate::session) fn still_there(roots: &Roots, path: &Path) -> Result<PathBuf, String> {
    let now = roots.check(path).map_err(|error| error.to_string())?;
    if now != path {
        let (name, elsewhere) = (roots.display(path), roots.display(&now));
        return Err(format!("{name} leads to {elsewhere} by now, through a link; nothing was written"));
    }
    Ok(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_not_written_through_a_link_that_came_after_its_review() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        files::create(&root.join(".git/config"), "[core]\n").unwrap();
        let roots = Roots::new([&root]).unwrap();
        let reviewed = roots.resolve("build/x").unwrap();
        assert_eq!(still_writable(&roots, &reviewed), Ok(reviewed.clone()));
        std::os::unix::fs::symlink(root.join(".git"), root.join("build")).unwrap();
        let refused = still_writable(&roots, &reviewed).unwrap_err();
        assert_eq!(refused, "build/x leads to .git/x by now, through a link; nothing was written");
        let refused = still_writable(&roots, &root.join(".git/config")).unwrap_err();
        assert_eq!(refused, ".git/config must not be changed: it belongs to git itself; nothing was written");
    }

    /// Who carries changes out in a project, without an editor.
    fn carrier(root: &Path, store: Arc<dyn Store>, before_deletion: Option<mpsc::UnboundedSender<Own>>) -> Carrier {
        let reader = Reader::new(Arc::default(), Arc::new(project::reader::NoOverlay));
        Carrier {
            session: SessionId::from("s"),
            store,
            reader: Arc::new(reader),
            roots: Arc::new(Roots::new([root]).unwrap()),
            editor: None,
            others: Arc::default(),
            before_deletion,
        }
    }

    fn deletion(path: &Path, text: &Arc<str>) -> Change {
        Change {
            path: path.to_owned(),
            base_hash: Some(hash(text)),
            base_text: Some(Arc::clone(text)),
            target_text: None,
            edits: Vec::new(),
            moved_to: None,
            exactly: None,
        }
    }

    #[tokio::test]
    async fn no_file_that_a_link_has_led_to_since_is_read_and_kept_before_a_deletion() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let root = folder.join("project");
        files::create(&root.join("a.txt"), "one\n").unwrap();
        files::create(&folder.join("elsewhere/a.txt"), "secret\n").unwrap();
        let store = Arc::new(store::SqliteStore::open(&folder.join("data")).unwrap());
        let (own, mut told) = mpsc::unbounded_channel();
        let carrier = carrier(&root, store.clone(), Some(own));
        std::os::unix::fs::symlink(folder.join("elsewhere"), root.join("build")).unwrap();
        let carried = carrier.carry_out(&deletion(&root.join("build/a.txt"), &"one\n".into())).await;
        assert!(matches!(carried.outcome, ApplyOutcome::Failed { .. }), "{:?}", carried.outcome);
        assert!(store.blob(&hash("secret\n").0).is_err(), "it is kept");
        assert!(told.try_recv().is_err(), "the log says what it is");
    }

    #[tokio::test]
    async fn a_deleted_file_is_kept_byte_for_byte_and_comes_back_so() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        let path = root.join("a.txt");
        let bytes = b"\xEF\xBB\xBFone\r\ntwo\r\n";
        files::create_bytes(&path, bytes, true).unwrap();
        let store = Arc::new(store::SqliteStore::open(&folder.path().join("data")).unwrap());
        let carrier = carrier(&root, store.clone(), None);
        let text: Arc<str> = "one\ntwo\n".into();
        let delete = deletion(&path, &text);
        let carried = carrier.carry_out(&delete).await;
        assert_eq!(carried.outcome, ApplyOutcome::Verified);
        assert!(!path.exists());
        let image = carried.deleted.unwrap();
        assert_eq!((carried.before.as_ref(), image.executable), (Some(&image.hash), true));

        let kept = store.blob(image.bytes.as_ref().unwrap()).unwrap();
        let exactly = Some(Exactly { bytes: Some(kept.into()), executable: image.executable });
        let again = Change { base_hash: None, base_text: None, target_text: Some(text), exactly, ..delete };
        assert_eq!(carrier.carry_out(&again).await.outcome, ApplyOutcome::Verified);
        let whole = files::read_whole(&path).unwrap();
        assert_eq!((whole.bytes.as_deref(), whole.executable), (Some(bytes.as_slice()), true));
    }
}
