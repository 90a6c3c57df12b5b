//! The documents that editors hold open: the one home of their texts.
//!
//! One task writes (the hub's, in the order of the wire); any thread reads. What is read is an immutable
//! [`Snapshot`], so a reader is never disturbed by what is typed meanwhile.

mod apply;
mod moves;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use ports::edit::TextHash;
use protocol::content;
use tokio::sync::{oneshot, watch};

use self::apply::Applied;
pub(crate) use self::moves::Move;
use crate::paths::{self, PathError};
use crate::text::{self, LineIndex, PositionEncoding};

/// As many of a document's last changes are remembered as changes.
const MOST_STEPS: usize = 256;

/// The open documents.
#[derive(Debug, Default)]
pub struct Buffers {
    documents: RwLock<Documents>,
    /// Counts the writes, for those who wait for one.
    writes: watch::Sender<u64>,
}

/// An open document as it was at one version.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The document's URI, exactly as the editor wrote it; this is what it is called in messages to the editor.
    pub uri: Arc<str>,
    /// The file it belongs to: absolute, links resolved, as [`paths::Roots::resolve`] gives it. Until
    /// [`Buffers::resolved`] has said it, the path that the URI spells.
    pub path: PathBuf,
    /// The editor's language identifier, such as `rust`.
    pub language_id: Arc<str>,
    /// The editor's version of it.
    pub version: i32,
    /// The text exactly as the editor holds it, its own line ends included.
    pub text: Arc<str>,
    /// The version that the editor last said it had saved; none if it has not since the document was opened. An editor
    /// can open a document with unsaved text, so only a comparison with the disk shows that there is none
    /// (`unsaved` of a `Reader`).
    pub saved_version: Option<i32>,
    /// The version that it was opened with.
    pub opened_version: i32,
    /// The text that the editor opened it with, or saved last.
    pub(crate) last_saved: Arc<str>,
    /// True if its file was deleted with this text in it, and the editor keeps the document.
    is_gone: bool,
    /// True if Azimuth has had the editor make this text of the one before.
    is_ours: bool,
    derived: Arc<Derived>,
}

/// A change of a document, as in `textDocument/didChange`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The range that is replaced; none for the whole text.
    pub range: Option<content::Range>,
    /// The text in its place.
    pub text: String,
}

/// A message about a document that does not fit. The document is as it was, but for [`BufferError::OutOfSync`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BufferError {
    /// The document is not a file.
    #[error(transparent)]
    NotAFile(#[from] PathError),
    /// The document is not open.
    #[error("{uri} is not open; the editor must open a document before it changes, saves or closes it")]
    NotOpen {
        /// Its URI.
        uri: String,
    },
    /// The change cannot be understood. What the editor shows is unknown from here on, so the text is withdrawn until
    /// the editor sends the whole of it or opens the document again.
    #[error("the change of {uri} to version {version} does not fit ({reason}); open the document again")]
    OutOfSync {
        /// The document's URI.
        uri: String,
        /// The file it belongs to, as far as it is known.
        path: PathBuf,
        /// The version it was to become.
        version: i32,
        /// The part that does not fit.
        reason: String,
    },
}

/// Why waiting for a document came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WaitError {
    /// The document is not open, or was closed meanwhile.
    #[error("the document is not open")]
    NotOpen,
    /// It did not happen in time.
    #[error("the document did not change in time")]
    TimedOut,
}

#[derive(Debug, Default)]
struct Documents {
    by_uri: HashMap<Arc<str>, Document>,
    /// The document last opened or resolved for each file.
    by_path: HashMap<PathBuf, Arc<str>>,
    /// Who wants to know a file's last text in an editor.
    closing: Vec<(PathBuf, oneshot::Sender<Arc<Snapshot>>)>,
}

#[derive(Debug)]
struct Document {
    snapshot: Arc<Snapshot>,
    /// True if the text is the editor's.
    in_sync: bool,
    /// The text that Azimuth has the editor make of it.
    coming: Option<TextHash>,
}

impl Document {
    fn new(snapshot: Arc<Snapshot>) -> Self {
        Self { snapshot, in_sync: true, coming: None }
    }
}

/// A text's name, what can be worked out of it, once and only when it is asked for, and how it came to be.
#[derive(Debug)]
struct Derived {
    id: TextId,
    hash: OnceLock<TextHash>,
    lines: OnceLock<LineIndex>,
    normal: OnceLock<Arc<str>>,
    /// The last changes, the oldest first.
    steps: Vec<Arc<Step>>,
}

/// Names a text that a document had; no other text of any document has the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextId(u64);

/// A change of one text into the next.
#[derive(Debug)]
struct Step {
    from: TextId,
    moves: Vec<Move>,
}

impl Derived {
    /// Of a text of which nothing is known but that it is there.
    fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            id: TextId(LAST.fetch_add(1, Ordering::Relaxed)),
            hash: OnceLock::new(),
            lines: OnceLock::new(),
            normal: OnceLock::new(),
            steps: Vec::new(),
        }
    }

    /// Of the text that changes made of this one.
    fn after(&self, lines: LineIndex, moves: Option<Vec<Move>>) -> Self {
        let steps = match moves {
            Some(moves) => {
                let kept = self.steps.iter().skip((self.steps.len() + 1).saturating_sub(MOST_STEPS)).cloned();
                kept.chain([Arc::new(Step { from: self.id, moves })]).collect()
            }
            None => Vec::new(),
        };
        Self { lines: lines.into(), steps, ..Self::new() }
    }
}

impl Buffers {
    /// Opens a document. One that is open already is replaced, and in sync again.
    ///
    /// The disk is not asked, which may not answer: where the path of the URI leads through links, it is the caller's
    /// to find out, and to say with [`Buffers::resolved`].
    ///
    /// # Errors
    /// [`BufferError::NotAFile`] for a URI that is not a file's.
    pub fn open(
        &self,
        uri: &str,
        language_id: &str,
        version: i32,
        text: impl Into<Arc<str>>,
    ) -> Result<Arc<Snapshot>, BufferError> {
        let snapshot = Arc::new(Snapshot::new(uri, paths::from_uri(uri)?, language_id, version, text.into()));
        let mut documents = self.write();
        documents.remove(uri);
        documents.by_path.insert(snapshot.path.clone(), snapshot.uri.clone());
        documents.by_uri.insert(snapshot.uri.clone(), Document::new(snapshot.clone()));
        self.announce(documents);
        Ok(snapshot)
    }

    /// Takes the file that a document belongs to, links resolved. Gives the document where that is news; none if it
    /// is known so already, and where the document is not open any more.
    pub fn resolved(&self, uri: &str, path: &Path) -> Option<Arc<Snapshot>> {
        let mut documents = self.write();
        if documents.by_uri.get(uri).is_none_or(|document| document.snapshot.path == path) {
            return None;
        }
        let mut document = documents.remove(uri)?;
        let snapshot = Arc::new(Snapshot { path: path.to_owned(), ..Snapshot::clone(&document.snapshot) });
        document.snapshot = snapshot.clone();
        documents.by_path.insert(path.to_owned(), snapshot.uri.clone());
        documents.by_uri.insert(snapshot.uri.clone(), document);
        self.announce(documents);
        Some(snapshot)
    }

    /// Changes a document: each change on the text that the one before it left, all or none of them. A message that has
    /// the version that is there already, and leaves the text as it is, is passed over: some editors repeat themselves.
    ///
    /// # Errors
    /// [`BufferError::NotOpen`]; [`BufferError::OutOfSync`] for a range that is not in the text, another text of a
    /// version that is not higher than the last, changes of parts while the text is not known, or thousands of changes
    /// of a large document that are sorted neither up nor down.
    pub fn change(
        &self,
        uri: &str,
        version: i32,
        changes: &[Change],
        encoding: PositionEncoding,
    ) -> Result<Arc<Snapshot>, BufferError> {
        let old = self.read().by_uri.get(uri).map(|document| (document.snapshot.clone(), document.in_sync));
        let (old, in_sync) = old.ok_or_else(|| BufferError::NotOpen { uri: uri.to_owned() })?;
        // The text is made outside the lock: there is one writer, and readers need not wait for it.
        let applied = || apply::apply(&old.text, old.lines(), changes, encoding);
        let result = if version <= old.version {
            let repeated = in_sync && version == old.version;
            if repeated && applied().is_ok_and(|Applied { text, .. }| text == old.text) {
                return Ok(old);
            }
            Err(format!("it has version {} already", old.version))
        } else if !in_sync && changes.first().is_none_or(|change| change.range.is_some()) {
            Err("an earlier change did not fit".to_owned())
        } else {
            applied()
        };
        let mut documents = self.write();
        let Some(document) = documents.by_uri.get_mut(uri) else {
            return Err(BufferError::NotOpen { uri: uri.to_owned() });
        };
        let result = match result {
            Ok(Applied { text, lines, moves }) => {
                let derived = Arc::new(old.derived.after(lines, moves));
                let mut snapshot = Snapshot { version, text, derived, is_gone: false, ..Snapshot::clone(&old) };
                let coming = document.coming.take();
                snapshot.is_ours = coming.as_ref().is_some_and(|coming| coming == snapshot.hash());
                let coming = coming.filter(|_| !snapshot.is_ours);
                *document = Document { coming, ..Document::new(Arc::new(snapshot)) };
                Ok(document.snapshot.clone())
            }
            Err(reason) => {
                document.in_sync = false;
                let path = document.snapshot.path.clone();
                Err(BufferError::OutOfSync { uri: uri.to_owned(), path, version, reason })
            }
        };
        self.announce(documents);
        result
    }

    /// Notes the text that Azimuth has the editor make of the document of a file, or that it is not to be looked for
    /// any more. A snapshot with it says so.
    pub fn expect(&self, path: &Path, text: Option<TextHash>) {
        let mut documents = self.write();
        let uri = documents.by_path.get(path).cloned();
        if let Some(document) = uri.and_then(|uri| documents.by_uri.get_mut(&uri)) {
            document.coming = text;
        }
    }

    /// Notes that the editor saved a document. `text` is the text it says it saved, if it says so; where it is not the
    /// one we know, it is taken as the document's text.
    ///
    /// # Errors
    /// [`BufferError::NotOpen`].
    pub fn save(&self, uri: &str, text: Option<&str>) -> Result<Arc<Snapshot>, BufferError> {
        let mut documents = self.write();
        let Some(document) = documents.by_uri.get_mut(uri) else {
            return Err(BufferError::NotOpen { uri: uri.to_owned() });
        };
        let mut snapshot = Snapshot::clone(&document.snapshot);
        snapshot.saved_version = Some(snapshot.version);
        snapshot.is_gone = false;
        if let Some(text) = text {
            if text != &*snapshot.text {
                snapshot.text = text.into();
                snapshot.derived = Arc::new(Derived::new());
            }
            document.in_sync = true;
        }
        snapshot.last_saved = Arc::clone(&snapshot.text);
        document.snapshot = Arc::new(snapshot);
        let snapshot = document.snapshot.clone();
        self.announce(documents);
        Ok(snapshot)
    }

    /// Notes whether the file of a document was deleted, so that what the editor goes on showing is of no file, or is
    /// there again. A deletion is forgotten once the document is changed, saved or opened anew. Gives whether the
    /// document is open with this text.
    pub fn set_gone(&self, document: &Snapshot, is_gone: bool) -> bool {
        let mut documents = self.write();
        let Some(known) = documents.by_uri.get_mut(&document.uri) else { return false };
        if !known.in_sync || known.snapshot.text_id() != document.text_id() {
            return false;
        }
        known.snapshot = Arc::new(Snapshot { is_gone, ..Snapshot::clone(&known.snapshot) });
        self.announce(documents);
        true
    }

    /// Closes a document; the file's text is that on disk again. Gives the file, as in [`Snapshot::path`].
    ///
    /// # Errors
    /// [`BufferError::NotOpen`].
    pub fn close(&self, uri: &str) -> Result<PathBuf, BufferError> {
        let mut documents = self.write();
        let Some(document) = documents.remove(uri) else {
            return Err(BufferError::NotOpen { uri: uri.to_owned() });
        };
        let path = document.snapshot.path.clone();
        if !documents.by_path.contains_key(&path) {
            for (_, tell) in documents.closing.extract_if(.., |(closing, _)| *closing == path) {
                let _ = tell.send(Arc::clone(&document.snapshot));
            }
        }
        self.announce(documents);
        Ok(path)
    }

    /// Tells a file's document as it was last, once it is closed. To be asked before what closes it.
    pub fn closing(&self, path: &Path) -> oneshot::Receiver<Arc<Snapshot>> {
        let (tell, told) = oneshot::channel();
        let mut documents = self.write();
        documents.closing.retain(|(_, tell)| !tell.is_closed());
        documents.closing.push((path.to_owned(), tell));
        told
    }

    /// The open document with this URI; none if the text is out of sync.
    pub fn by_uri(&self, uri: &str) -> Option<Arc<Snapshot>> {
        self.read().by_uri.get(uri).filter(|document| document.in_sync).map(|document| document.snapshot.clone())
    }

    /// Returns the document that is open for a file. The path is absolute with its links resolved.
    pub fn get(&self, path: &Path) -> Open {
        let documents = self.read();
        match documents.by_path.get(path).and_then(|uri| documents.by_uri.get(uri)) {
            None => Open::No,
            Some(document) if document.in_sync => Open::Yes(document.snapshot.clone()),
            Some(_) => Open::OutOfSync,
        }
    }

    /// One document for each file that is open and in sync, sorted by path.
    pub fn all(&self) -> Vec<Arc<Snapshot>> {
        let mut all: Vec<_> = self.files().into_iter().filter_map(|(_, document)| document).collect();
        all.sort_by(|a, b| a.path.cmp(&b.path));
        all
    }

    /// The files that are open, in no order; without a document where it is out of sync.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Option<Arc<Snapshot>>)> {
        let documents = self.read();
        let file = |(path, uri): (&PathBuf, &Arc<str>)| {
            let document = documents.by_uri.get(uri).filter(|document| document.in_sync);
            (path.clone(), document.map(|document| document.snapshot.clone()))
        };
        documents.by_path.iter().map(file).collect()
    }

    /// Waits until the document of a file is as wished, such as `|it| it.hash() == wanted || it.version > seen`; gives
    /// it at once if it is so already. This is how an applied edit is verified. The path is absolute with
    /// its links resolved.
    ///
    /// # Errors
    /// [`WaitError::NotOpen`] as soon as the document is not open; [`WaitError::TimedOut`].
    pub async fn wait(
        &self,
        path: &Path,
        within: Duration,
        wish: impl Fn(&Snapshot) -> bool,
    ) -> Result<Arc<Snapshot>, WaitError> {
        let mut writes = self.writes.subscribe();
        let wished = async {
            loop {
                match self.get(path) {
                    Open::Yes(snapshot) if wish(&snapshot) => return Ok(snapshot),
                    Open::Yes(_) | Open::OutOfSync => {}
                    Open::No => return Err(WaitError::NotOpen),
                }
                if writes.changed().await.is_err() {
                    return Err(WaitError::NotOpen);
                }
            }
        };
        tokio::time::timeout(within, wished).await.unwrap_or(Err(WaitError::TimedOut))
    }

    fn read(&self) -> RwLockReadGuard<'_, Documents> {
        // Each write leaves the documents whole, so a panic of another thread has spoilt nothing.
        self.documents.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Documents> {
        self.documents.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, documents: RwLockWriteGuard<'_, Documents>) {
        drop(documents);
        self.writes.send_modify(|writes| *writes += 1);
    }
}

impl Documents {
    fn remove(&mut self, uri: &str) -> Option<Document> {
        let document = self.by_uri.remove(uri)?;
        let path = &document.snapshot.path;
        if self.by_path.get(path).is_some_and(|of_path| &**of_path == uri) {
            self.by_path.remove(path);
            // The same file may be open under another name too.
            let other = self.by_uri.values().find(|other| other.snapshot.path == *path);
            if let Some(uri) = other.map(|other| other.snapshot.uri.clone()) {
                self.by_path.insert(path.clone(), uri);
            }
        }
        Some(document)
    }
}

/// The state of a file in the editors.
#[derive(Clone, Debug)]
pub enum Open {
    /// It is not open.
    No,
    /// It is open, and this is its text.
    Yes(Arc<Snapshot>),
    /// It is open, but its text there is not known ([`BufferError::OutOfSync`]).
    OutOfSync,
}

impl Snapshot {
    fn new(uri: &str, path: PathBuf, language_id: &str, version: i32, text: Arc<str>) -> Self {
        Self {
            uri: uri.into(),
            path,
            language_id: language_id.into(),
            version,
            last_saved: Arc::clone(&text),
            text,
            saved_version: None,
            opened_version: version,
            is_gone: false,
            is_ours: false,
            derived: Arc::new(Derived::new()),
        }
    }

    /// A file that is not open, as it was read from the disk; for an editor it has no version.
    pub fn of_file(uri: &str, path: PathBuf, language_id: &str, text: Arc<str>) -> Self {
        Self::new(uri, path, language_id, 0, text)
    }

    /// The hash of the text ([`text::hash`]).
    pub fn hash(&self) -> &TextHash {
        self.derived.hash.get_or_init(|| text::hash(&self.text))
    }

    /// Where the lines of [`Snapshot::text`] begin.
    pub fn lines(&self) -> &LineIndex {
        self.derived.lines.get_or_init(|| LineIndex::new(&self.text))
    }

    /// The normal text: without byte order mark and with LF line ends. Shared with [`Snapshot::text`] where that is
    /// normal already.
    pub fn normal(&self) -> &Arc<str> {
        self.derived.normal.get_or_init(|| {
            let text = self.text.strip_prefix('\u{FEFF}').unwrap_or(&self.text);
            let (normal, _) = text::normalise(text);
            if normal.len() == self.text.len() { self.text.clone() } else { normal.into() }
        })
    }

    /// True if there is nothing in it, as where an editor shows a file that is not on disk.
    pub fn is_blank(&self) -> bool {
        text::is_blank(self.normal())
    }

    /// True if its file was deleted, and the editor shows its last text still ([`Buffers::set_gone`]).
    pub fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// True if Azimuth has had the editor make this text of the one before; see [`Buffers::expect`].
    pub fn is_ours(&self) -> bool {
        self.is_ours
    }

    /// True if it can be what an editor shows of a file that is not there.
    pub fn may_be_no_file(&self) -> bool {
        self.is_gone || self.is_blank()
    }

    /// True if nothing was changed in it since it was opened or saved.
    pub fn is_as_saved(&self) -> bool {
        self.text == self.last_saved
    }

    /// The name of the text.
    pub(crate) fn text_id(&self) -> TextId {
        self.derived.id
    }

    /// Returns the editor's changes since an earlier text, sorted; none if they are not known.
    pub(crate) fn moves_since(&self, earlier: TextId) -> Option<Vec<Move>> {
        if earlier == self.derived.id {
            return Some(Vec::new());
        }
        let first = self.derived.steps.iter().position(|step| step.from == earlier)?;
        let mut moves = Vec::new();
        for step in self.derived.steps.iter().skip(first) {
            // From the bottom, so that each is where it was in the text before the step.
            step.moves.iter().rev().for_each(|next| {
                let moved = next.new.len();
                let new = next.old.start..next.old.start + moved;
                moves::add(&mut moves, Move { new, ..next.clone() });
            });
        }
        Some(moves)
    }
}

#[cfg(test)]
mod tests;
