//! The effects of a turn's edits on the problems of their files, as language servers see them.
//!
//! The problems of a file are asked for before a turn's first edit of it, and again after the edits of each answer of
//! the model; what came and what went is told with the next request. Our own servers see the edits that wait for
//! review, so they judge them before the user does. The editor's see only what is accepted, so there it is told after
//! that.
//!
//! Nothing is guessed: only whole answers about the very text count, and of what is not known that is said, once in a
//! turn. What is known is news until the model is told of it, and is looked at anew where a turn begins before that.

mod asking;
mod file;
mod report;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use lang::Source;
use lang::delta::Delta;
use ports::edit::EditPlan;
use ports::session::NewErrors;
use project::paths::Roots;
use project::reader::{FileText, Overlay, Pending, ReadError, Reader};
use project::search::Search;
use protocol::lang::{LangDiagnostic, LangSeverity};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

pub(super) use self::asking::OwnServers;
use self::asking::{Asked, Asking, Judge, Known, MOST_SHOWN, Unknown, Who, Why};
use self::file::{File, Judged, Look, Now, Watch};
use self::report::Report;

/// The most that an edit waits for the word of the editor's servers on the text before it; they know that of an open
/// file.
const BEFORE_EDIT: Duration = Duration::from_millis(300);
/// The time to wait for what was not known in time, if nothing was edited since.
const GLANCE: Duration = Duration::from_millis(250);
/// The time that it may take to compare what was known with what is.
const COMPARING: Duration = Duration::from_secs(2);
/// So many files of a turn are looked at.
const MOST_FILES: usize = 20;
/// So many are, with those of earlier turns of which something is still to be told.
const MOST_WATCHED: usize = 100;
/// For so many turns it is looked whether what an earlier one did is known.
const MOST_TURNS: u32 = 10;

/// The effects on problems of the edits of a session's turn. Clones share them.
#[derive(Clone)]
pub(super) struct Problems(Arc<Inner>);

struct Inner {
    asking: Asking,
    state: Mutex<State>,
    /// The problems of some text before an edit are known, or will not be.
    news: Notify,
}

#[derive(Default)]
struct State {
    /// The time that servers are waited for after edits; zero if they are not asked at all.
    wait: Duration,
    /// The files that were edited, in the order of their first edits.
    files: Vec<File>,
    /// The files that the turn edited and that are not among them, and how many of these the model was not told of.
    left_out: HashSet<PathBuf>,
    left_out_untold: usize,
    /// The problems of open files before the turn's first edit, by the word of the editor's servers.
    at_first: HashMap<PathBuf, Known>,
    /// Grows with each edit, and each decision on one.
    edits: u64,
    /// The edits after which servers were waited for.
    waited: u64,
    /// Of which files the model was told in this turn that something is not known, and why.
    said: HashSet<(PathBuf, Why)>,
    /// The questions about texts before edits.
    asking: JoinSet<()>,
}

/// Two times at which a file's problems were known.
struct Span {
    path: PathBuf,
    who: Option<Who>,
    before: Arc<Known>,
    now: Arc<Known>,
}

/// The problems that came and went in between.
struct Change {
    delta: Delta,
    servers: Vec<String>,
    shown: Vec<String>,
}

impl Problems {
    /// Asks the editor's servers, and where it has none our own. `search` knows what the model may see.
    pub(super) fn new(
        editors: Arc<dyn Source>,
        own: Box<OwnServers>,
        (reader, overlay): (Reader, Arc<dyn Overlay>),
        roots: Arc<Roots>,
        search: Search,
    ) -> Self {
        let asking = Asking { editors, own, reader, overlay, roots, search };
        Self(Arc::new(Inner { asking, state: Mutex::default(), news: Notify::new() }))
    }

    /// Servers are waited for so long after edits from now on; with no time they are not asked.
    pub(super) fn set_wait(&self, wait: Duration) {
        let mut state = self.state();
        state.wait = wait;
        if wait.is_zero() {
            state.asking.abort_all();
            *state = State { edits: state.edits, waited: state.edits, ..State::default() };
        }
    }

    /// A turn begins. Of the last one those files are kept of which something is not known or not told yet, such as
    /// what came of edits accepted since; they are looked at anew.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        state.files.retain(|file| !self.is_settled(file));
        state.files.retain(|file| file.turns < MOST_TURNS);
        for file in &mut state.files {
            file.was = None;
            file.turns += 1;
            if let Watch::Known(judged) = &mut file.watch {
                judged.now = Now::Unknown;
            }
        }
        (state.left_out, state.left_out_untold) = Default::default();
        state.at_first.clear();
        state.said.clear();
    }

    /// The turn has ended: what was not answered by now is not needed.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.asking.abort_all();
        state.files.retain(|file| !matches!(file.watch, Watch::Asking));
    }

    /// An edit was proposed, accepted, rejected, applied, taken back or put again.
    pub(super) fn edited(&self) {
        self.state().edits += 1;
    }

    /// Has the problems of the files of a plan asked for, if they are not known. Waits a moment for the editor's
    /// servers, which will not see the texts as they are now any more.
    pub(super) async fn before(&self, plan: &EditPlan) {
        let files = judged(plan);
        let (files, is_first) = {
            let state = self.state();
            let is_new = |path: &PathBuf| {
                !state.left_out.contains(path)
                    && state.files.iter().all(|file| file.path != *path || file.was.is_none())
            };
            let files: Vec<_> = files.into_iter().filter(|path| is_new(path)).collect();
            let is_first = state.files.iter().all(|file| file.was.is_none());
            (if state.wait.is_zero() { Vec::new() } else { files }, is_first)
        };
        let files: Vec<_> = files.into_iter().filter(|path| self.0.asking.search.shows(path)).collect();
        if files.is_empty() {
            return;
        }
        let mut asked = if is_first { self.ask_about_open(&files) } else { Vec::new() };
        let inner = Arc::clone(&self.0);
        let read = move || {
            let Asking { reader, .. } = &inner.asking;
            let texts = files.into_iter().map(|path| {
                let (text, base) = (reader.read(&path), reader.base(&path).ok());
                (path, text, base)
            });
            (texts.collect::<Vec<_>>(), inner.asking.pending())
        };
        let Ok((texts, pending)) = tokio::task::spawn_blocking(read).await else { return };
        for (path, text, base) in texts {
            let was = match text {
                Ok(file) => Pending::Text(file.text),
                Err(ReadError::File(_) | ReadError::Deleted { .. }) => Pending::Deleted,
                Err(ReadError::OutOfSync { .. }) => continue,
            };
            asked.extend(self.ask_before(path, was, base, &pending));
        }
        let _ = tokio::time::timeout(BEFORE_EDIT, join_all(asked)).await;
    }

    /// Asks for the problems of the other files that are open in the editor: should the turn edit one later, what its
    /// first edit broke there is none of what was there before. What is not told in a moment may be of a later text,
    /// and does not count.
    fn ask_about_open(&self, but: &[PathBuf]) -> Vec<oneshot::Receiver<()>> {
        let asking = &self.0.asking;
        let open = asking.reader.buffers().all().into_iter().map(|open| open.path.clone());
        let is_meant = |path: &PathBuf| {
            let is_inside = asking.roots.iter().any(|root| path.starts_with(&root.path));
            is_inside && !but.contains(path) && asking.search.shows(path)
        };
        let mut state = self.state();
        let ask = |path: PathBuf| {
            let (done, said) = oneshot::channel();
            let this = self.clone();
            state.asking.spawn(async move {
                let until = Instant::now() + BEFORE_EDIT;
                let asked = this.0.asking.ask(Judge::Editor { of: None }, &path, until);
                if let Ok(Asked::Known(known)) = tokio::time::timeout_at(until, asked).await {
                    this.state().at_first.insert(path, known);
                }
                let _ = done.send(());
            });
            said
        };
        open.filter(is_meant).take(MOST_FILES).map(ask).collect()
    }

    /// Asks for the problems of a text before it is edited. Tells when the editor's servers have said what they know.
    fn ask_before(
        &self,
        path: PathBuf,
        was: Pending,
        base: Option<FileText>,
        pending: &HashMap<PathBuf, Pending>,
    ) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state();
        // The effect of an earlier turn's edits there is not known yet, so it is told with that of this one's.
        if let Some(file) = state.files.iter_mut().find(|file| file.path == path) {
            (file.was, file.turns) = (Some(was), 0);
            return None;
        }
        let of_earlier_turn = state.files.iter().position(|file| file.was.is_none());
        if state.files.iter().filter(|file| file.was.is_some()).count() >= MOST_FILES {
            state.left_out_untold += usize::from(state.left_out.insert(path));
            return None;
        }
        if let Some(oldest) = of_earlier_turn.filter(|_| state.files.len() >= MOST_WATCHED) {
            state.files.remove(oldest);
        }
        let (text, was) = match was {
            Pending::Text(text) => (Some(Arc::clone(&text)), Pending::Text(text)),
            Pending::Deleted => (None, Pending::Deleted),
        };
        let told = state.at_first.remove(&path).filter(|known| known.is_of(base.as_ref()));
        let (who, known) = match (text.is_some(), told) {
            (true, None) => (None, None),
            (true, Some(known)) => (Some(Who::Editor), Some(known)),
            // A file that is not there has no problems.
            (false, _) => (None, Some(Known::nothing())),
        };
        let watch = known.map_or(Watch::Asking, |known| Watch::Known(Judged::at_first(Arc::new(known))));
        let is_known = matches!(watch, Watch::Known(_));
        state.files.push(File { path: path.clone(), who, watch, was: Some(was), turns: 0 });
        let text = text.filter(|_| !is_known)?;
        while state.asking.try_join_next().is_some() {}
        // The problems that this turn's edits of other files caused here were not there before, either.
        let mut seen = pending.clone();
        seen.extend(state.files.iter().filter_map(|file| Some((file.path.clone(), file.was.clone()?))));
        seen.insert(path.clone(), Pending::Text(text));
        let reader = self.0.asking.as_it_was(seen);
        let (done, editors_said) = oneshot::channel();
        let this = self.clone();
        state.asking.spawn(async move {
            let (who, asked) = this.0.asking.before(&path, base, reader, done).await;
            this.take_before(&path, who, asked);
        });
        Some(editors_said)
    }

    fn take_before(&self, path: &Path, who: Option<Who>, asked: Asked) {
        let mut state = self.state();
        if let Some(file) = state.files.iter_mut().find(|file| file.path == *path) {
            file.who = who;
            file.watch = match asked {
                Asked::Known(known) => Watch::Known(Judged::at_first(Arc::new(known))),
                Asked::Unknown(unknown) => Watch::Unknown(unknown),
                Asked::NoServer(_) | Asked::Silent(_) | Asked::Gone => Watch::Nobody,
            };
        }
        drop(state);
        self.0.news.notify_waiters();
    }

    /// Returns the effects of edits on problems since these were last told, in words for the model. Waits as long as
    /// the user wants after edits.
    pub(super) async fn news(&self) -> Option<String> {
        let mut unknown = self.look().await;
        let spans = self.spans(|judged, _| match &judged.now {
            Now::Known { known, is_told: false, .. } => Some((Arc::clone(&judged.told), Arc::clone(known))),
            _ => None,
        });
        let changes = self.changes(spans, |_, _| true).await;
        let mut report = Report::default();
        let mut state = self.state();
        for (Span { path, now, .. }, Change { delta, servers, shown }) in changes {
            report.add(delta, shown, servers);
            state.told(&path, &now);
        }
        unknown.retain(|(path, unknown)| !state.said.contains(&(path.clone(), unknown.why)));
        state.said.extend(unknown.iter().map(|(path, unknown)| (path.clone(), unknown.why)));
        let unknown =
            unknown.into_iter().map(|(path, unknown)| (self.0.asking.roots.display(&path), unknown)).collect();
        let left_out = std::mem::take(&mut state.left_out_untold);
        let words: Vec<_> = report
            .words()
            .into_iter()
            .chain(report::not_known(unknown))
            .chain((left_out > 0).then(|| report::left_out(left_out)))
            .collect();
        (!words.is_empty()).then(|| words.join("\n"))
    }

    /// The errors that the turn's edits brought and that are there still. Waits likewise. Where the model is told of
    /// them, all that is known by then is no news any more.
    pub(super) async fn new_errors(&self, tells_model: bool) -> Option<NewErrors> {
        self.look().await;
        let spans = self.spans(|judged, edits| match &judged.now {
            Now::Known { known, edits: at, .. } if *at == edits => Some((Arc::clone(&judged.first), Arc::clone(known))),
            _ => None,
        });
        let changes = self.changes(spans, |_, problem| problem.severity == LangSeverity::Error).await;
        let count = changes.iter().map(|(_, change)| change.delta.new.len()).sum::<usize>();
        if count == 0 {
            return None;
        }
        let counted = changes.iter().map(|(span, change)| (span.path.clone(), change.delta.new.clone()));
        let besides = if tells_model { self.untold_besides(counted.collect()).await } else { None };
        let mut shown = Vec::new();
        let mut state = self.state();
        for (span, change) in changes {
            shown.extend(change.shown);
            if tells_model {
                state.told(&span.path, &span.now);
            }
        }
        shown.truncate(MOST_SHOWN);
        shown.extend(besides);
        Some(NewErrors { count: u32::try_from(count).unwrap_or(u32::MAX), shown })
    }

    /// Returns the problems of which the model was not told yet, but for these that are new.
    async fn untold_besides(&self, told: HashMap<PathBuf, Vec<LangDiagnostic>>) -> Option<String> {
        let spans = self.spans(|judged, edits| match &judged.now {
            Now::Known { known, edits: at, is_told: false } if *at == edits => {
                Some((Arc::clone(&judged.told), Arc::clone(known)))
            }
            _ => None,
        });
        let is_told = move |path: &Path, problem: &_| told.get(path).is_some_and(|told| told.contains(problem));
        let changes = self.changes(spans, move |path, problem| !is_told(path, problem)).await;
        let mut report = Report::default();
        for (_, Change { delta, servers, shown }) in changes {
            report.add(delta, shown, servers);
        }
        report.words()
    }

    /// The times to compare of the files for which there are any. Is given how often was edited, too.
    fn spans(&self, of: impl Fn(&Judged, u64) -> Option<(Arc<Known>, Arc<Known>)>) -> Vec<Span> {
        let state = self.state();
        let span = |file: &File| {
            let Watch::Known(judged) = &file.watch else { return None };
            let (before, now) = of(judged, state.edits)?;
            Some(Span { path: file.path.clone(), who: file.who, before, now })
        };
        state.files.iter().filter_map(span).collect()
    }

    /// Compares each span; of the new problems only those stay that count. Returns nothing if it takes too long.
    async fn changes(
        &self,
        spans: Vec<Span>,
        counts: impl Fn(&Path, &LangDiagnostic) -> bool + Send + 'static,
    ) -> Vec<(Span, Change)> {
        if spans.is_empty() {
            return Vec::new();
        }
        let inner = Arc::clone(&self.0);
        let compare = move || {
            let change = |span: Span| {
                let (mut delta, servers) = span.now.since(&span.before);
                delta.new.retain(|problem| counts(&span.path, problem));
                let shown = inner.asking.shown(&span.path, span.who, &span.now, &delta.new);
                (span, Change { delta, servers, shown })
            };
            spans.into_iter().map(change).collect::<Vec<_>>()
        };
        let compared = tokio::time::timeout(COMPARING, tokio::task::spawn_blocking(compare)).await;
        compared.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Looks at all edited files. Gives those of which something is not known. Of an earlier turn's that was said then.
    async fn look(&self) -> Vec<(PathBuf, Unknown)> {
        let (files, edits, until) = {
            let mut state = self.state();
            let edits = state.edits;
            let is_edited = std::mem::replace(&mut state.waited, edits) != edits;
            let patience = if is_edited { state.wait } else { GLANCE.min(state.wait) };
            (state.files.clone(), edits, Instant::now() + patience)
        };
        let looks = join_all(files.iter().map(|file| self.look_at(file, edits, until))).await;
        let mut unknown = Vec::new();
        let mut state = self.state();
        for (file, (who, look)) in files.iter().zip(looks) {
            let Some(file) = state.files.iter_mut().find(|known| known.path == file.path) else { continue };
            file.who = who.or(file.who);
            let not_known = file.take(look, edits);
            if file.was.is_some() {
                unknown.extend(not_known.into_iter().map(|unknown| (file.path.clone(), unknown)));
            }
        }
        unknown
    }

    async fn look_at(&self, file: &File, edits: u64, until: Instant) -> (Option<Who>, Look) {
        let Some(file) = self.when_known(file, until).await else { return (None, Look::Nothing) };
        let mut who = file.who;
        let look = tokio::time::timeout_at(until + GLANCE, self.found(&file, &mut who, edits, until)).await;
        (who, look.unwrap_or_else(|_| Look::Unknown(Unknown::late())))
    }

    async fn found(&self, file: &File, answering: &mut Option<Who>, edits: u64, until: Instant) -> Look {
        let asking = &self.0.asking;
        let judged = match &file.watch {
            Watch::Nobody => return Look::Nothing,
            Watch::Asking => return Look::Unknown(Unknown::late()),
            Watch::Unknown(_) => None,
            Watch::Known(judged) => Some(judged),
        };
        // A new file, of which nobody was asked.
        if answering.is_none() {
            *answering =
                if asking.is_open(&file.path) { Some(Who::Editor) } else { asking.who(&file.path, until).await };
        }
        let Some(who) = *answering else { return Look::Unknown(Unknown::late()) };
        let judge = match who {
            Who::Editor => Judge::Editor { of: None },
            Who::Own => Judge::Own(&asking.reader),
        };
        let text = asking.text(judge, &file.path).await;
        let is_same = judged.is_some_and(|judged| judged.latest().is_of(text.as_ref()));
        if who == Who::Editor && asking.is_pending(&file.path) {
            if !asking.is_open(&file.path) {
                return Look::Unknown(Unknown::not_open());
            }
            match &file.watch {
                // Accepted text cannot be compared, so that there is nothing to wait for.
                Watch::Unknown(unknown) => return Look::Unknown(unknown.clone()),
                _ if is_same => return Look::Unknown(Unknown::waits()),
                _ => {}
            }
        }
        if let Some(Judged { now: Now::Known { known, edits: at, .. }, .. }) = judged
            && is_same
            && *at == edits
        {
            return Look::Known(Arc::clone(known));
        }
        let mut asked = asking.ask(judge, &file.path, until).await;
        if matches!((judge, &asked), (Judge::Editor { .. }, Asked::NoServer(_)))
            && !judged.is_some_and(Judged::is_by_anybody)
        {
            *answering = Some(Who::Own);
            asked = asking.ask(Judge::Own(&asking.reader), &file.path, until).await;
        }
        match asked {
            Asked::Known(known) => Look::Known(Arc::new(known)),
            Asked::Unknown(unknown) => Look::Unknown(unknown),
            Asked::NoServer(unknown) | Asked::Silent(unknown) => Look::Nobody(unknown),
            Asked::Gone => Look::Nothing,
        }
    }

    /// The file, once its problems before the edits are known; as it is where they are not in time. None for one that
    /// is not watched any more.
    async fn when_known(&self, file: &File, until: Instant) -> Option<File> {
        loop {
            let news = self.0.news.notified();
            let file = self.state().files.iter().find(|known| known.path == file.path).cloned()?;
            if !matches!(file.watch, Watch::Asking) || tokio::time::timeout_at(until, news).await.is_err() {
                return Some(file);
            }
        }
    }

    /// True if nothing of a file is to be told any more.
    fn is_settled(&self, file: &File) -> bool {
        let waits = || file.who != Some(Who::Own) && self.0.asking.is_pending(&file.path);
        match &file.watch {
            Watch::Known(Judged { now: Now::Known { is_told, .. }, .. }) => *is_told && !waits(),
            Watch::Known(Judged { now: Now::Gone, .. }) => true,
            Watch::Known(Judged { now: Now::Unknown, .. }) => false,
            Watch::Asking | Watch::Unknown(_) | Watch::Nobody => true,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The model was told of a file's problems up to these.
    fn told(&mut self, path: &Path, known: &Arc<Known>) {
        let file = self.files.iter_mut().find(|file| file.path == path);
        if let Some(File { watch: Watch::Known(judged), .. }) = file {
            judged.told = Arc::new(known.and(&judged.told));
            if let Now::Known { known: now, is_told, .. } = &mut judged.now {
                *is_told |= Arc::ptr_eq(now, known);
            }
        }
    }
}

/// The files of a plan whose problems it may change. One that is moved has no text before at its new place, and takes
/// its problems there.
fn judged(plan: &EditPlan) -> Vec<PathBuf> {
    let is_moved_to = |path: &PathBuf| plan.files.iter().any(|file| file.moved_to.as_ref() == Some(path));
    let stays = plan.files.iter().filter(|file| file.new_text.is_some() && !is_moved_to(&file.path));
    stays.map(|file| file.path.clone()).collect()
}
