//! The truth of a file: what the session proposes for it, over what an editor holds of it, over what is on disk.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use ports::edit::TextHash;

use crate::buffers::{Buffers, Open, Snapshot};
use crate::files::{self, FileError};
use crate::text;

/// The port to a session's undecided proposals.
pub trait Overlay: Send + Sync {
    /// Returns the proposal for a file; none if nothing is pending. The path is absolute with its links resolved.
    fn pending(&self, path: &Path) -> Option<Pending>;

    /// The files for which something is pending.
    fn paths(&self) -> Vec<PathBuf>;
}

/// The text of a file with all pending edits accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// A file with this normal text.
    Text(Arc<str>),
    /// No file.
    Deleted,
}

/// The overlay of one who proposes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOverlay;

impl Overlay for NoOverlay {
    fn pending(&self, _: &Path) -> Option<Pending> {
        None
    }

    fn paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// Reads files as they are for one session. All paths are absolute with their links resolved. Clones are handles to the
/// same one.
#[derive(Clone)]
pub struct Reader {
    buffers: Arc<RwLock<Arc<Buffers>>>,
    overlay: Arc<dyn Overlay>,
}

/// A file's text, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText {
    /// The normal text.
    pub text: Arc<str>,
    /// Its hash.
    pub hash: TextHash,
    /// Its source.
    pub source: Source,
}

/// The source of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The session's pending proposals are in it.
    Pending,
    /// An editor holds it open, at this version.
    Buffer {
        /// The editor's version.
        version: i32,
    },
    /// The disk.
    Disk,
}

/// The state on disk of a file that has another text in an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OnDisk {
    /// The text that the editor opened or saved last: the rest is unsaved.
    Saved,
    /// This normal text, which the editor has not followed, or of which it opened the file with unsaved changes.
    Other(Arc<str>),
    /// No file.
    None,
}

/// A file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The disk has no such text.
    #[error(transparent)]
    File(#[from] FileError),
    /// A pending proposal deletes it.
    #[error("{} is deleted by an edit that waits for review", path.display())]
    Deleted {
        /// The file.
        path: PathBuf,
    },
    /// It is open in an editor, but what it says there is not known ([`crate::buffers::BufferError::OutOfSync`]).
    #[error("the editor's text of {} is not known, because a change did not fit it; close the file in the editor and \
             open it again", path.display())]
    OutOfSync {
        /// The file.
        path: PathBuf,
    },
}

impl Reader {
    /// A reader for a session that proposes what `overlay` says.
    pub fn new(buffers: Arc<Buffers>, overlay: Arc<dyn Overlay>) -> Self {
        Self { buffers: Arc::new(RwLock::new(buffers)), overlay }
    }

    /// The file as the model shall see it: with what is pending. Blocks where the disk is asked.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read(&self, path: &Path) -> Result<FileText, ReadError> {
        match self.overlay.pending(path) {
            Some(Pending::Text(text)) => Ok(FileText { hash: text::hash(&text), text, source: Source::Pending }),
            Some(Pending::Deleted) => Err(ReadError::Deleted { path: path.to_owned() }),
            None => self.base(path),
        }
    }

    /// The file as the user has it: without what is pending. A file that is not on disk and that an editor shows as an
    /// empty document, or with the text that it was deleted with, is not there. Blocks where the disk is asked.
    ///
    /// # Errors
    /// As [`Reader::read`], but never [`ReadError::Deleted`].
    pub fn base(&self, path: &Path) -> Result<FileText, ReadError> {
        let buffers = self.buffers();
        match buffers.get(path) {
            Open::Yes(snapshot) => {
                if snapshot.may_be_no_file() {
                    if let Err(error @ FileError::NotFound { .. }) = files::read(path) {
                        return Err(error.into());
                    }
                    // Somebody has made it again.
                    if snapshot.is_gone() {
                        buffers.set_gone(&snapshot, false);
                    }
                }
                Ok(FileText {
                    text: snapshot.normal().clone(),
                    hash: snapshot.hash().clone(),
                    source: Source::Buffer { version: snapshot.version },
                })
            }
            Open::OutOfSync => Err(ReadError::OutOfSync { path: path.to_owned() }),
            Open::No => {
                let text = files::read(path)?.text;
                Ok(FileText { hash: text::hash(&text), text, source: Source::Disk })
            }
        }
    }

    /// The text of [`Reader::base`]; none if there is no file. Blocks where the disk is asked.
    ///
    /// # Errors
    /// As [`Reader::base`], but for a file that is not there.
    pub fn base_text(&self, path: &Path) -> Result<Option<Arc<str>>, ReadError> {
        match self.base(path) {
            Ok(file) => Ok(Some(file.text)),
            Err(ReadError::File(FileError::NotFound { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The open documents whose text is not what the disk has, sorted by path. Where the disk's text cannot be told, as
    /// with another encoding than UTF-8 or a file that is too large, a document is one if it changed since it was last
    /// saved, or else since it was opened; of one that was only opened nothing can be told. Blocks.
    pub fn unsaved(&self) -> Vec<Arc<Snapshot>> {
        let differs = |open: &Arc<Snapshot>| match files::read(&open.path) {
            Ok(disk) => text::hash(&disk.text) != *open.hash(),
            // A new document that nothing was written into has nothing to lose, nor has one that was to be deleted.
            Err(FileError::NotFound { .. }) => !open.may_be_no_file(),
            Err(_) => open.saved_version.unwrap_or(open.opened_version) != open.version,
        };
        self.buffers().all().into_iter().filter(differs).collect()
    }

    /// The text of an open document, and what the disk has of its file; none if that is the same, and where either
    /// cannot be told. Blocks.
    pub fn on_disk(&self, path: &Path) -> Option<(Arc<str>, OnDisk)> {
        let Open::Yes(open) = self.buffers().get(path) else { return None };
        let on_disk = match files::read(path) {
            Ok(disk) => match text::hash(&disk.text) {
                hash if hash == *open.hash() => return None,
                hash if hash == text::hash(&open.last_saved) => OnDisk::Saved,
                _ => OnDisk::Other(disk.text),
            },
            Err(FileError::NotFound { .. }) if !open.may_be_no_file() => OnDisk::None,
            Err(_) => return None,
        };
        Some((Arc::clone(open.normal()), on_disk))
    }

    /// The open documents.
    pub fn buffers(&self) -> Arc<Buffers> {
        Arc::clone(&self.buffers.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads another editor's open documents from now on, in all clones.
    pub fn set_buffers(&self, buffers: Arc<Buffers>) {
        *self.buffers.write().unwrap_or_else(PoisonError::into_inner) = buffers;
    }

    /// True if something is proposed for a file and not decided yet.
    pub fn is_pending(&self, path: &Path) -> bool {
        self.overlay.pending(path).is_some()
    }

    /// The files for which something is proposed and not decided yet.
    pub fn pending(&self) -> Vec<PathBuf> {
        self.overlay.paths()
    }

    /// The files that are proposed to be deleted.
    pub fn deleted(&self) -> HashSet<PathBuf> {
        let is_deleted = |path: &PathBuf| matches!(self.overlay.pending(path), Some(Pending::Deleted));
        self.pending().into_iter().filter(is_deleted).collect()
    }

    /// Returns the texts that stand over the disk: open documents, and over those what is pending.
    pub fn over_disk(&self) -> HashMap<PathBuf, OverDisk> {
        let open = self.buffers().files().into_iter().map(|(path, document)| match document {
            Some(document) if document.is_gone() && self.base(&path).is_err() => (path, OverDisk::Deleted),
            Some(document) => (path, OverDisk::Text(document.normal().clone())),
            None => (path, OverDisk::Unknown),
        });
        let pending = self.overlay.paths().into_iter().filter_map(|path| match self.overlay.pending(&path)? {
            Pending::Text(text) => Some((path, OverDisk::Text(text))),
            Pending::Deleted => Some((path, OverDisk::Deleted)),
        });
        open.chain(pending).collect()
    }
}

/// The state of a file that stands over the one on disk.
#[derive(Clone, Debug)]
pub enum OverDisk {
    /// This normal text.
    Text(Arc<str>),
    /// It is proposed to be deleted, or was deleted and an editor shows it still.
    Deleted,
    /// An editor's text, which is not known.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths;

    struct Proposes(HashMap<PathBuf, Pending>);

    impl Overlay for Proposes {
        fn pending(&self, path: &Path) -> Option<Pending> {
            self.0.get(path).cloned()
        }

        fn paths(&self) -> Vec<PathBuf> {
            self.0.keys().cloned().collect()
        }
    }

    struct World {
        folder: tempfile::TempDir,
        buffers: Arc<Buffers>,
    }

    impl World {
        fn new() -> Self {
            let world = Self { folder: tempfile::tempdir().unwrap(), buffers: Arc::default() };
            files::create(&world.path("a.rs"), "disk\n").unwrap();
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        fn open(&self, name: &str, text: &str) {
            self.buffers.open(&paths::to_uri(&self.path(name)), "rust", 7, text).unwrap();
        }

        fn reader(&self, pending: &[(&str, Pending)]) -> Reader {
            let pending = pending.iter().map(|(name, pending)| (self.path(name), pending.clone())).collect();
            Reader::new(self.buffers.clone(), Arc::new(Proposes(pending)))
        }
    }

    #[test]
    fn unsaved_text_is_read_before_the_disk_and_pending_text_before_both() {
        let world = World::new();
        let path = world.path("a.rs");
        let read = world.reader(&[]).read(&path).unwrap();
        assert_eq!((&*read.text, read.source), ("disk\n", Source::Disk));

        world.open("a.rs", "typed\r\n");
        let read = world.reader(&[]).read(&path).unwrap();
        assert_eq!((&*read.text, read.source), ("typed\n", Source::Buffer { version: 7 }));
        assert_eq!(read.hash, text::hash("typed\n"));

        let reader = world.reader(&[("a.rs", Pending::Text("pending\n".into()))]);
        assert_eq!(&*reader.read(&path).unwrap().text, "pending\n");
        assert_eq!(&*reader.base(&path).unwrap().text, "typed\n");
    }

    #[test]
    fn all_that_reads_for_a_session_changes_to_another_editor_at_once() {
        let (world, other) = (World::new(), Arc::<Buffers>::default());
        let path = world.path("a.rs");
        world.open("a.rs", "here\n");
        other.open(&paths::to_uri(&path), "rust", 1, "there\n").unwrap();
        let reader = world.reader(&[]);
        let clone = reader.clone();
        assert_eq!(&*clone.read(&path).unwrap().text, "here\n");
        reader.set_buffers(other);
        assert_eq!(&*clone.read(&path).unwrap().text, "there\n");
    }

    #[test]
    fn a_new_file_that_is_only_proposed_can_be_read_and_a_deleted_one_cannot() {
        let world = World::new();
        let reader = world.reader(&[("new.rs", Pending::Text("new".into())), ("a.rs", Pending::Deleted)]);
        assert_eq!(reader.read(&world.path("new.rs")).unwrap().source, Source::Pending);
        assert!(matches!(reader.read(&world.path("a.rs")), Err(ReadError::Deleted { .. })));
        assert!(matches!(reader.base(&world.path("new.rs")), Err(ReadError::File(FileError::NotFound { .. }))));
    }

    #[test]
    fn a_document_whose_text_is_not_known_is_not_read_from_disk_instead() {
        let world = World::new();
        world.open("a.rs", "typed");
        let uri = paths::to_uri(&world.path("a.rs"));
        world.buffers.change(&uri, 3, &[], text::PositionEncoding::Utf8).unwrap_err();
        assert!(matches!(world.reader(&[]).read(&world.path("a.rs")), Err(ReadError::OutOfSync { .. })));
    }

    #[test]
    fn only_documents_that_differ_from_the_disk_are_unsaved() {
        let world = World::new();
        files::create(&world.path("b.rs"), "b\n").unwrap();
        world.open("a.rs", "typed\n");
        world.open("b.rs", "b\r\n");
        world.open("new.rs", "");
        world.open("other.rs", "x");
        let unsaved: Vec<_> = world.reader(&[]).unsaved().iter().map(|open| open.path.clone()).collect();
        assert_eq!(unsaved, [world.path("a.rs"), world.path("other.rs")]);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the disk has what we could not have written")]
    fn where_the_disk_cannot_be_read_as_text_the_editors_saves_tell() {
        let world = World::new();
        std::fs::write(world.path("latin1.txt"), b"caf\xE9\n").unwrap();
        std::fs::File::create(world.path("huge.txt")).unwrap().set_len(files::MAX_BYTES + 1).unwrap();
        world.open("latin1.txt", "café\n");
        world.open("huge.txt", "much");
        let unsaved = || world.reader(&[]).unsaved().iter().map(|open| open.path.clone()).collect::<Vec<_>>();
        assert!(unsaved().is_empty(), "of what was only opened nothing can be told");
        let uri = paths::to_uri(&world.path("latin1.txt"));
        let typed = crate::buffers::Change { range: None, text: "un café\n".into() };
        world.buffers.change(&uri, 8, &[typed], text::PositionEncoding::Utf8).unwrap();
        assert_eq!(unsaved(), [world.path("latin1.txt")], "what was typed since is not on disk");
        world.buffers.save(&uri, None).unwrap();
        assert!(unsaved().is_empty());
        let typed = crate::buffers::Change { range: None, text: "cafés\n".into() };
        world.buffers.change(&uri, 9, &[typed], text::PositionEncoding::Utf8).unwrap();
        assert_eq!(unsaved(), [world.path("latin1.txt")]);
        world.buffers.save(&uri, None).unwrap();
        assert!(unsaved().is_empty());
    }

    #[test]
    fn a_document_that_an_editor_keeps_of_a_deleted_file_is_no_file_until_it_changes_or_the_file_is_made_again() {
        let world = World::new();
        let is_there = |name: &str| world.reader(&[]).base(&world.path(name)).is_ok();
        let gone = |name: &str| {
            world.open(name, "text\n");
            let document = world.buffers.by_uri(&paths::to_uri(&world.path(name))).unwrap();
            assert!(world.buffers.set_gone(&document, true) && !is_there(name), "{name}");
            assert!(world.reader(&[]).unsaved().is_empty(), "there is nothing to lose");
            let over = world.reader(&[]).over_disk();
            assert!(matches!(over.get(&world.path(name)), Some(OverDisk::Deleted)), "it is not searched");
            document
        };
        let document = gone("typed.rs");
        let typed = crate::buffers::Change { range: None, text: "mine\n".into() };
        world.buffers.change(&document.uri, 8, &[typed], text::PositionEncoding::Utf8).unwrap();
        assert!(is_there("typed.rs") && world.reader(&[]).unsaved().len() == 1, "what is typed is the user's");
        assert!(!world.buffers.set_gone(&document, true), "the news of an earlier text comes too late");
        world.buffers.close(&document.uri).unwrap();

        let document = gone("made.rs");
        files::create(&world.path("made.rs"), "text\n").unwrap();
        assert!(is_there("made.rs") && !world.buffers.by_uri(&document.uri).unwrap().is_gone());
    }

    #[test]
    fn an_empty_document_of_a_file_that_is_not_there_is_no_file() {
        let world = World::new();
        for (name, text) in [("new.rs", ""), ("newer.rs", "\n"), ("newest.rs", "\r\n")] {
            world.open(name, text);
            let read = world.reader(&[]).base(&world.path(name));
            assert!(matches!(read, Err(ReadError::File(FileError::NotFound { .. }))), "{name}: {read:?}");
        }
        assert!(world.reader(&[]).unsaved().is_empty());
        // Of one that is there, it is the user's text.
        world.open("a.rs", "");
        assert_eq!(&*world.reader(&[]).base(&world.path("a.rs")).unwrap().text, "");
    }

    #[test]
    fn a_file_that_is_not_there_has_no_base_and_one_that_is_no_text_is_an_error() {
        let world = World::new();
        std::fs::File::create_new(world.path("b.bin")).unwrap().set_len(9).unwrap();
        let base = |name: &str| world.reader(&[]).base_text(&world.path(name));
        assert_eq!(base("a.rs").unwrap().as_deref(), Some("disk\n"));
        assert_eq!(base("gone.rs").unwrap(), None);
        assert!(base("b.bin").is_err());
    }
}
