//! Asking the disk what it may never answer, as where a folder lies on a machine that is gone.
//!
//! Who is asked so cannot be interrupted: a look that nobody waits for any longer keeps its thread until the disk
//! answers after all. So looks have threads of their own, none of the runtime's, and those that are stuck are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use platform::mounts;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// How many looks may be stuck at a time. Hardly anybody has more than two or three machines that can go away, and a
/// look or two at each are under way when they do; whatever comes after sixteen is most likely for the same ones. So
/// many threads are no load: each takes some KiB while it waits.
const MOST: usize = 16;

/// Looks of one kind, of which at most [`MOST`] are stuck at a time, and those that were waited for when that was
/// reached. Beyond that the disk counts as one that does not answer, and nothing is looked at. Clones count together.
#[derive(Clone, Debug, Default)]
pub struct Looks {
    stuck: Arc<AtomicUsize>,
}

impl Looks {
    /// Returns the answer of a look; none if that takes longer, or if too many are stuck. Needs a tokio runtime around
    /// it, which the look has around it too.
    ///
    /// # Panics
    /// If the look panics.
    pub async fn answer<T: Send + 'static>(
        &self,
        longest: Duration,
        look: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (sender, told) = oneshot::channel();
        let runtime = Handle::current();
        let look = move || {
            let _entered = runtime.enter();
            catch_unwind(AssertUnwindSafe(look))
        };
        let tell = move |answer| _ = sender.send(answer);
        // Whoever does not wait to the end, as in a turn that was cancelled, gives it up too.
        let _begun = GivenUp(self.begin(look, tell)?);
        let looked = tokio::time::timeout(longest, told).await.ok()?.ok()?;
        Some(looked.unwrap_or_else(|panic| resume_unwind(panic)))
    }

    /// Begins to look on one of the threads of [`looking`]; none if too many are stuck, or the system gives no more
    /// threads. When the answer is told, the look is over and the thread free.
    fn begin<T: 'static>(
        &self,
        look: impl FnOnce() -> T + Send + 'static,
        tell: impl FnOnce(T) + Send + 'static,
    ) -> Option<Look> {
        if self.stuck.load(Ordering::Relaxed) >= MOST {
            return None;
        }
        let begun = Look { of: self.clone(), state: Arc::default() };
        let ended = Ended(begun.clone());
        let look = move || {
            let answer = look();
            drop(ended);
            Box::new(move || tell(answer)) as Tell
        };
        looking(Box::new(look)).ok()?;
        Some(begun)
    }
}

/// Something for a thread to do, which returns how its end is told.
type Work = Box<dyn FnOnce() -> Tell + Send>;
type Tell = Box<dyn FnOnce()>;

/// Does some work on a thread that does nothing else meanwhile: one that has done its work and was kept, or a new one.
/// A turn looks at the disk with each call of a tool, and to start a thread takes longer than most looks.
///
/// # Errors
/// The system gives no more threads.
fn looking(work: Work) -> io::Result<()> {
    /// How many threads are kept. More looks than this are seldom under way at once.
    const KEPT: usize = 2;
    static KEPT_ONES: Mutex<Vec<Sender<Work>>> = Mutex::new(Vec::new());
    let kept = || KEPT_ONES.lock().unwrap_or_else(PoisonError::into_inner);

    let one = kept().pop();
    let work = match one {
        None => work,
        Some(one) => match one.send(work) {
            Ok(()) => return Ok(()),
            Err(SendError(work)) => work,
        },
    };
    let live = move || {
        let mut work = work;
        loop {
            let tell = work();
            // Who hears of its end may have the next work for this thread at once. Without a sender nothing comes.
            let next = {
                let (sender, next) = channel();
                let mut kept = kept();
                if kept.len() < KEPT {
                    kept.push(sender);
                }
                next
            };
            tell();
            match next.recv() {
                Ok(next) => work = next,
                Err(_) => return,
            }
        }
    };
    thread::Builder::new().name("look".to_owned()).spawn(live).map(drop)
}

/// Looks on a thread of its own, and hears what that tells within this time. It is told whether somebody still listens.
/// Gives whether it has come to its end; not where too many looks are stuck, see [`Looks`].
pub(crate) fn in_time<T: Send + 'static>(
    longest: Duration,
    look: impl FnOnce(&dyn Fn(T) -> bool) + Send + 'static,
    hear: impl FnMut(T),
) -> bool {
    static LOOKS: LazyLock<Looks> = LazyLock::new(Looks::default);
    heard(&LOOKS, longest, look, hear)
}

fn heard<T: Send + 'static>(
    looks: &Looks,
    longest: Duration,
    look: impl FnOnce(&dyn Fn(T) -> bool) + Send + 'static,
    mut hear: impl FnMut(T),
) -> bool {
    let (until, (sender, told)) = (Instant::now() + longest, channel());
    let end = sender.clone();
    let look = move || look(&|one| sender.send(Some(one)).is_ok());
    let Some(_begun) = looks.begin(look, move |()| _ = end.send(None)).map(GivenUp) else { return false };
    loop {
        match told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(Some(one)) => hear(one),
            Ok(None) => return true,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        }
        if Instant::now() > until {
            return false;
        }
    }
}

/// Those of these folders that do not answer within this time, for all together. One that a look is stuck at already is
/// not asked again until that has come back, so that each has a thread at most, however often it is asked for. Blocks.
pub fn silent(folders: impl IntoIterator<Item = PathBuf>, longest: Duration) -> BTreeSet<PathBuf> {
    static STUCK: Mutex<BTreeMap<PathBuf, Look>> = Mutex::new(BTreeMap::new());
    let until = Instant::now() + longest;
    let known: BTreeSet<PathBuf> = {
        let mut stuck = STUCK.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.retain(|_, look| look.is_stuck());
        stuck.keys().cloned().collect()
    };
    let (mut silent, mut begun) = (BTreeSet::new(), Vec::new());
    for folder in folders.into_iter().collect::<BTreeSet<_>>() {
        let (sender, told) = channel();
        let place = folder.join(unseen());
        let look = move || _ = place.symlink_metadata();
        let tell = move |()| _ = sender.send(());
        if known.contains(&folder) {
            silent.insert(folder);
            // Their number is bounded by that of the folders. That the system gives no thread says nothing of a folder.
        } else if let Some(look) = Looks::default().begin(look, tell) {
            begun.push((folder, look, told));
        }
    }
    for (folder, look, told) in begun {
        if told.recv_timeout(until.saturating_duration_since(Instant::now())).is_err() {
            look.give_up();
            STUCK.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.clone(), look);
            silent.insert(folder);
        }
    }
    silent
}

/// True if a folder answers in some seconds, as a disk that has to wake up does. One that did not before, and of which
/// nothing was heard since, does not: that is known at once. Blocks.
pub fn answers(folder: &Path) -> bool {
    silent([folder.to_owned()], Duration::from_secs(5)).is_empty()
}

/// Folders as `resolve` gives them, which asks the disk. Those that do not answer are left as they are named, with all
/// that lies in the same file system, and not asked again before that has come back. Blocks, for some seconds at most.
pub fn resolved(folders: impl IntoIterator<Item = PathBuf>, resolve: fn(&Path) -> PathBuf) -> Vec<PathBuf> {
    /// How long all of them may take, but for those that do not answer: each of these takes as long again.
    const LONGEST: Duration = Duration::from_secs(2);
    static LOOKS: LazyLock<Looks> = LazyLock::new(Looks::default);
    static STUCK: Mutex<BTreeMap<PathBuf, Look>> = Mutex::new(BTreeMap::new());
    let mounts = mounts::mounted();
    let mount_of = |folder: &Path| mounts.iter().rfind(|mount| folder.starts_with(mount)).cloned();
    // A folder that is stuck by a link, in no such file system, stands for itself alone.
    let place_of = |folder: &Path| mount_of(folder).unwrap_or_else(|| folder.to_owned());
    let stuck = || STUCK.lock().unwrap_or_else(PoisonError::into_inner);
    stuck().retain(|_, look| look.is_stuck());
    let is_silent = |folder: &PathBuf| stuck().keys().any(|place| folder.starts_with(place));
    let (mut found, mut rest): (Vec<_>, Vec<_>) = folders.into_iter().partition(is_silent);
    while !rest.is_empty() {
        let (asked, (sender, told)) = (rest.clone(), channel());
        let look = move || {
            let _ = asked.iter().map(|folder| resolve(folder)).try_for_each(|real| sender.send(real));
        };
        let Some(look) = LOOKS.begin(look, |()| {}) else { break };
        let (until, before) = (Instant::now() + LONGEST, found.len());
        while let Ok(real) = told.recv_timeout(until.saturating_duration_since(Instant::now())) {
            found.push(real);
        }
        rest.drain(..(found.len() - before).min(rest.len()));
        let Some(silent) = rest.first().map(|folder| place_of(folder)) else { break };
        look.give_up();
        stuck().insert(silent, look);
        found.extend(rest.extract_if(.., |folder| is_silent(folder)));
    }
    found.extend(rest);
    found
}

/// True if a path is a folder; none if it does not [answer](answers).
pub async fn is_folder(path: &Path) -> Option<bool> {
    let path = path.to_owned();
    let look = move || answers(&path).then(|| path.is_dir());
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// A name that no folder has, and that nobody has looked up before: what the system knows by heart of a folder says
/// nothing of whether that answers.
fn unseen() -> String {
    static LAST: AtomicUsize = AtomicUsize::new(0);
    format!(".azimuth-{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// A look that has begun.
#[derive(Clone, Debug)]
struct Look {
    of: Looks,
    state: Arc<AtomicU8>,
}

/// Its states: at first it is waited for.
const WAITED_FOR: u8 = 0;
const GIVEN_UP: u8 = 1;
const OVER: u8 = 2;

impl Look {
    /// Nobody waits for it any longer. It counts as stuck, unless it is over.
    fn give_up(&self) {
        self.of.stuck.fetch_add(1, Ordering::Relaxed);
        if self.state.compare_exchange(WAITED_FOR, GIVEN_UP, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            self.of.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn is_stuck(&self) -> bool {
        self.state.load(Ordering::Relaxed) == GIVEN_UP
    }
}

/// Gives a look up when it is dropped.
struct GivenUp(Look);

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// Is dropped when a look is over.
struct Ended(Look);

impl Drop for Ended {
    fn drop(&mut self) {
        if self.0.state.swap(OVER, Ordering::Relaxed) == GIVEN_UP {
            self.0.of.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No test is so slow.
    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn a_folder_that_does_not_answer_keeps_its_name_and_the_others_are_resolved() {
        fn resolve(folder: &Path) -> PathBuf {
            if folder.starts_with("/no/such/gone") {
                thread::sleep(LONG);
            }
            Path::new("/real").join(folder.file_name().unwrap_or_default())
        }
        let folders = ["/no/such/a", "/no/such/gone", "/no/such/z"].map(PathBuf::from);
        let wanted: BTreeSet<_> = ["/real/a", "/no/such/gone", "/real/z"].map(PathBuf::from).into();
        for longest in [Duration::from_secs(20), Duration::from_secs(1)] {
            let began = Instant::now();
            assert_eq!(resolved(folders.clone(), resolve).into_iter().collect::<BTreeSet<_>>(), wanted);
            assert!(began.elapsed() < longest, "what is known to be stuck is not asked again");
        }
    }

    #[test]
    fn at_most_sixteen_looks_are_stuck_and_the_next_is_told_at_once_that_the_disk_does_not_answer() {
        let looks = Looks::default();
        // The disk answers once these are dropped.
        let mut disks = Vec::new();
        for number in 0..MOST {
            let (disk, silence) = channel::<()>();
            disks.push(disk);
            let look = move |_: &dyn Fn(()) -> bool| _ = silence.recv();
            assert!(!heard(&looks, Duration::from_millis(1), look, |()| {}), "{number}");
        }
        let (begun, has_begun) = channel();
        let began = Instant::now();
        assert!(!heard(&looks, LONG, move |_: &dyn Fn(()) -> bool| _ = begun.send(()), |()| {}));
        assert!(began.elapsed() < LONG && has_begun.recv().is_err(), "nothing was looked at");

        disks.pop();
        while looks.stuck.load(Ordering::Relaxed) == MOST {
            thread::yield_now();
        }
        assert!(heard(&looks, LONG, |_: &dyn Fn(()) -> bool| {}, |()| {}), "one of them has come back");
    }

    #[tokio::test]
    async fn what_nobody_waits_for_any_longer_is_stuck_until_it_has_an_answer() {
        let looks = Looks::default();
        assert_eq!(looks.answer(LONG, || 7).await, Some(7));
        let (disk, silence) = channel::<()>();
        assert_eq!(looks.answer(Duration::from_millis(1), move || silence.recv().is_ok()).await, None);
        let (other, silence) = channel::<()>();
        let cancelled = looks.answer(LONG, move || silence.recv().is_ok());
        assert!(tokio::time::timeout(Duration::from_millis(1), cancelled).await.is_err());
        assert_eq!(looks.stuck.load(Ordering::Relaxed), 2);
        drop((disk, other));
        while looks.stuck.load(Ordering::Relaxed) > 0 {
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn looks_one_after_the_other_share_threads_and_one_that_is_stuck_holds_none_up() {
        let looks = Looks::default();
        let (disk, silence) = channel::<()>();
        assert_eq!(looks.answer(Duration::from_millis(1), move || silence.recv().is_ok()).await, None);
        let mut threads = std::collections::HashSet::new();
        for _ in 0..200 {
            threads.insert(looks.answer(LONG, || thread::current().id()).await.unwrap());
        }
        // Other tests of this process take kept ones, too.
        assert!(threads.len() < 50, "{}", threads.len());
        drop(disk);
    }

    #[tokio::test]
    #[should_panic(expected = "a fault in looking")]
    async fn who_waits_for_a_look_that_panics_panics() {
        let _: Option<()> = Looks::default().answer(LONG, || panic!("a fault in looking")).await;
    }

    #[test]
    fn folders_that_are_there_and_those_that_are_not_answer() {
        let folder = tempfile::tempdir().unwrap();
        let asked = [folder.path().to_owned(), folder.path().join("none"), PathBuf::from("/dev/null")];
        assert_eq!(silent(asked, LONG), BTreeSet::new());
    }
}
