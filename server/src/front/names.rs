//! The names that the client has for its documents. A file has many URIs (escapes, links); a message about an open
//! document must bear the one that the client chose, or it takes it for another document; and one about any other file
//! of a folder that it opened by a link, one in that folder.
//!
//! Only the disk knows where a path's links lead, and a disk on a network may never answer. So it is asked on a thread
//! of its own, once for each time a document is opened, and nobody waits for it longer than [`GRACE`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hub::GRACE;
use project::paths;
use tokio::sync::Semaphore;

/// The number of paths that are looked up at once.
const LOOKUPS: usize = 16;
/// The number of lookups without an answer from their disk that may keep a thread as well.
const STUCK: usize = 128;

/// Resolves the links of a path. Gives the path as it is where that cannot be done. Blocks.
pub type Resolve = dyn Fn(&Path) -> PathBuf + Send + Sync;

/// [`Resolve`] as the disk has it.
pub fn on_disk(path: &Path) -> PathBuf {
    paths::canonical(path).unwrap_or_else(|_| path.to_owned())
}

/// A file with its links resolved, once the disk has answered.
pub(crate) type Resolving = Shared<BoxFuture<'static, PathBuf>>;

/// The names of the open documents and the folders.
pub(crate) struct Names {
    resolve: Arc<Resolve>,
    lookups: Arc<Semaphore>,
    stuck: Arc<Semaphore>,
    folders: Mutex<Vec<Folder>>,
    /// In the order in which they were opened.
    open: Mutex<Vec<Document>>,
}

/// A workspace folder as the client spells it, and what that leads to.
struct Folder {
    spelled: PathBuf,
    real: Resolving,
}

struct Document {
    uri: String,
    /// The path that the URI spells.
    spelled: PathBuf,
    file: Resolving,
}

impl Document {
    /// The file, as far as it is known.
    fn file(&self) -> &Path {
        self.file.peek().unwrap_or(&self.spelled)
    }
}

impl Names {
    pub(crate) fn new(resolve: Arc<Resolve>) -> Self {
        Self::bounded(resolve, [LOOKUPS, STUCK])
    }

    /// With so many lookups at once, and so many more that get no answer.
    fn bounded(resolve: Arc<Resolve>, permits: [usize; 2]) -> Self {
        let [lookups, stuck] = permits.map(|permits| Arc::new(Semaphore::new(permits)));
        Self { resolve, lookups, stuck, folders: Mutex::default(), open: Mutex::default() }
    }

    /// The client's workspace folders are these now. They are looked up.
    pub(crate) fn set_folders(&self, folders: &[PathBuf]) {
        let folders = folders.iter().map(|spelled| {
            let real = self.resolve(spelled.clone());
            // It is only ever peeked at.
            tokio::spawn(real.clone());
            Folder { spelled: spelled.clone(), real }
        });
        *self.folders.lock().unwrap_or_else(PoisonError::into_inner) = folders.collect();
    }

    /// Notes that a document is open, and has its file looked up; none if it has none.
    pub(crate) fn opened(&self, uri: &str) -> Option<Resolving> {
        let spelled = path(uri)?;
        let file = self.resolve(spelled.clone());
        let mut open = self.open();
        open.retain(|document| document.uri != uri);
        open.push(Document { uri: uri.to_owned(), spelled, file: file.clone() });
        Some(file)
    }

    /// Notes that it is no more.
    pub(crate) fn closed(&self, uri: &str) {
        self.open().retain(|document| document.uri != uri);
    }

    /// The client's URI of the file that one of Azimuth's URIs names. Azimuth's have their links resolved.
    pub(crate) fn of(&self, uri: &str) -> String {
        let Some(file) = path(uri) else { return uri.to_owned() };
        // The last one opened, where a file is open under several names.
        let open = self.open().iter().rev().find(|document| document.file() == file).map(|open| open.uri.clone());
        open.or_else(|| self.in_folder(&file)).unwrap_or_else(|| uri.to_owned())
    }

    /// The URI of a file in a folder that the client knows by a link.
    fn in_folder(&self, file: &Path) -> Option<String> {
        let folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if folders.iter().any(|folder| file.starts_with(&folder.spelled)) {
            return None;
        }
        folders.iter().find_map(|folder| {
            let real = folder.real.peek().filter(|real| **real != folder.spelled)?;
            let rest = file.strip_prefix(real).ok().filter(|rest| !rest.as_os_str().is_empty())?;
            Some(paths::to_uri(&folder.spelled.join(rest)))
        })
    }

    /// The file that a URI of the client's names, links resolved as far as the disk answers in time.
    pub(crate) fn file(&self, uri: &str) -> impl Future<Output = Option<PathBuf>> + Send + use<> {
        let spelled = path(uri);
        let known = self.open().iter().find(|document| document.uri == uri).map(|document| document.file.clone());
        let resolving = spelled.map(|spelled| (known.unwrap_or_else(|| self.resolve(spelled.clone())), spelled));
        async move {
            let (resolving, spelled) = resolving?;
            Some(tokio::time::timeout(GRACE, resolving).await.unwrap_or(spelled))
        }
    }

    /// Begins to look a path up.
    fn resolve(&self, spelled: PathBuf) -> Resolving {
        let resolve = Arc::clone(&self.resolve);
        let (lookups, stuck) = (Arc::clone(&self.lookups), Arc::clone(&self.stuck));
        let path = spelled.clone();
        let lookup = tokio::spawn(async move {
            // They are never closed.
            let turn = lookups.acquire().await;
            let mut lookup = tokio::task::spawn_blocking(move || resolve(&path));
            if let Ok(found) = tokio::time::timeout(GRACE, &mut lookup).await {
                return found;
            }
            // Its disk may never answer; the others' turns come all the same.
            let _held = match stuck.try_acquire() {
                Ok(permit) => {
                    drop(turn);
                    Ok(permit)
                }
                Err(_) => Err(turn),
            };
            lookup.await
        });
        let found = async move {
            match lookup.await {
                Ok(Ok(file)) => file,
                Ok(Err(_)) | Err(_) => spelled,
            }
        };
        found.boxed().shared()
    }

    fn open(&self) -> MutexGuard<'_, Vec<Document>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The path that a URI names, if it is a file's.
pub(crate) fn path(uri: &str) -> Option<PathBuf> {
    paths::from_uri(uri).inspect_err(|error| tracing::debug!(uri, %error, "not a file")).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn an_open_document_is_called_what_the_client_calls_it() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        std::fs::create_dir(&real).unwrap();
        let ours = paths::to_uri(&real.join("a b+c.rs"));
        let theirs = paths::to_uri(&link.join("a b+c.rs")).replace("%2B", "+");
        let names = Names::new(Arc::new(on_disk));
        assert_eq!(names.of(&ours), ours);
        assert_eq!(names.opened(&theirs).unwrap().await, real.join("a b+c.rs"));
        assert_eq!(names.of(&ours), theirs);
        assert_eq!(names.file(&theirs).await, names.file(&ours).await);
        names.closed(&theirs);
        assert_eq!(names.of(&ours), ours);
        assert_eq!(names.file("untitled:1").await, None);
    }

    #[tokio::test]
    async fn a_file_of_a_folder_that_is_a_link_is_named_in_that_folder() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        let link = folder.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let names = Names::new(Arc::new(on_disk));
        names.set_folders(std::slice::from_ref(&link));
        let known = async {
            while names.of(&paths::to_uri(&real.join("a.rs"))) != paths::to_uri(&link.join("a.rs")) {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(GRACE * 20, known).await.unwrap();
        let elsewhere = paths::to_uri(&real.with_file_name("other").join("a.rs"));
        assert_eq!(names.of(&elsewhere), elsewhere);
        // Of one that is open the client's own name counts.
        let theirs = paths::to_uri(&real.join("a.rs"));
        names.opened(&theirs).unwrap().await;
        assert_eq!(names.of(&theirs), theirs);
        names.set_folders(&[link, real.clone()]);
        let below = paths::to_uri(&real.join("b.rs"));
        assert_eq!(names.of(&below), below, "it is in a folder that the client knows by this name");
        names.set_folders(&[]);
        let other = paths::to_uri(&real.join("b.rs"));
        assert_eq!(names.of(&other), other);
    }

    #[tokio::test]
    async fn documents_on_a_disk_that_does_not_answer_keep_no_others_waiting() {
        let (answer, answers) = std::sync::mpsc::channel::<()>();
        let answers = Mutex::new(answers);
        let names = Names::new(Arc::new(move |path: &Path| {
            if path.starts_with("/dead") {
                let _ = answers.lock().unwrap().recv();
            }
            path.to_owned()
        }));
        let stuck: Vec<_> = (0..LOOKUPS).map(|n| names.opened(&format!("file:///dead/{n}.rs")).unwrap()).collect();
        // Each has its thread before the next is asked for.
        tokio::task::yield_now().await;
        let healthy = names.opened("file:///healthy/a.rs").unwrap();
        let found = tokio::time::timeout(GRACE * 20, healthy).await;
        drop(answer);
        assert_eq!(found.unwrap(), Path::new("/healthy/a.rs"));
        for file in stuck {
            file.await;
        }
    }

    #[tokio::test]
    async fn a_disk_that_does_not_answer_takes_no_more_threads_however_many_documents_there_are() {
        let (answer, answers) = std::sync::mpsc::channel::<()>();
        let (answers, begun) = (Mutex::new(answers), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&begun);
        let resolve = move |path: &Path| {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = answers.lock().unwrap().recv();
            path.to_owned()
        };
        let names = Names::bounded(Arc::new(resolve), [2, 2]);
        let documents: Vec<_> = (0..20).map(|n| names.opened(&format!("file:///dead/{n}.rs")).unwrap()).collect();
        // Two begin at once, and two when nobody waits for those any longer; then all that may have begun.
        let waited = tokio::time::timeout(GRACE * 4, futures_util::future::join_all(documents)).await;
        assert!(waited.is_err(), "the disk does not answer");
        assert_eq!(begun.load(Ordering::SeqCst), 4);
        drop(answer);
    }

    #[tokio::test]
    async fn a_document_bears_its_name_before_its_file_is_known_and_after() {
        let (answer, answers) = std::sync::mpsc::channel::<()>();
        let answers = Mutex::new(answers);
        let names = Names::new(Arc::new(move |path: &Path| {
            let _ = answers.lock().unwrap().recv();
            Path::new("/real").join(path.file_name().unwrap())
        }));
        let resolving = names.opened("file:///link/a.rs").unwrap();
        assert_eq!(names.of("file:///link/a.rs"), "file:///link/a.rs");
        assert_eq!(names.of("file:///real/a.rs"), "file:///real/a.rs");
        drop(answer);
        assert_eq!(resolving.await, Path::new("/real/a.rs"));
        assert_eq!(names.of("file:///real/a.rs"), "file:///link/a.rs");
    }
}
