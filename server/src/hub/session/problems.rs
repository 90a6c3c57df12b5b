//! What the edits of a turn did to the problems of their files, as language servers see it (design D5).
//!
//! The problems of a file are asked for before a turn's first edit of it, and again after the edits of each answer of the
//! model; what came and what went is told with the next request. Our own servers see the edits that wait for review, so they
//! judge them before the user does. The editor's see only what is accepted, so there it is told after that.
//!
//! Nothing is guessed: only whole answers about the very text count, and of what is not known that is said, once.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::session::NewErrors;
use futures_util::future::join_all;
use protocol::lang::{LangAnswer, LangDiagnostic, LangQuery, LangResult, LangSeverity, LangStatus};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use workspace::lang::delta::{self, Delta, Told};
use workspace::lang::{Source, in_words};
use workspace::paths::{self, Roots};
use workspace::reader::{self, FileText, Overlay, Pending, ReadError, Reader};
use workspace::search::Search;

/// How long an edit waits at most for what the editor's servers say of the text before it; they know that of an open file.
const BEFORE_EDIT: Duration = Duration::from_millis(300);
/// How long a question about the text before an edit may take, while the turn goes on.
const BACKGROUND: Duration = Duration::from_secs(20);
/// How often that is asked of our own servers, which may have to start and to read the project first.
const TRIES: usize = 15;
/// How long to wait for what was not known in time, where nothing was edited since.
const GLANCE: Duration = Duration::from_millis(250);
/// How long until a server is asked again that was not ready, or told of another text.
const AGAIN: Duration = Duration::from_millis(100);
/// So many files of a turn are looked at.
const MOST_FILES: usize = 20;
/// So many new problems are shown; the rest is counted.
const MOST_SHOWN: usize = 10;
/// How much of a line of code is shown, in characters.
const LONGEST_LINE: usize = 200;

/// Our own servers, for one who reads like this.
type OwnServers = dyn Fn(Reader) -> Arc<dyn Source> + Send + Sync;

/// What the edits of a session's turn did to problems. Clones share it.
#[derive(Clone)]
pub(super) struct Problems(Arc<Inner>);

struct Inner {
    editors: Arc<dyn Source>,
    own: Box<OwnServers>,
    reader: Reader,
    overlay: Arc<dyn Overlay>,
    roots: Arc<Roots>,
    /// Knows what the model may see.
    search: Search,
    state: Mutex<State>,
    /// The problems of some text before an edit are known, or will not be.
    news: Notify,
}

#[derive(Default)]
struct State {
    /// How long servers are waited for after edits; no time where they are not asked at all.
    wait: Duration,
    /// The files that were edited, in the order of their first edits.
    files: Vec<File>,
    /// How many edited files are not among them.
    left_out: usize,
    /// Grows with each edit, and each decision on one.
    edits: u64,
    /// The edits after which servers were waited for.
    waited: u64,
    /// Why something was not known, as far as it was said.
    said: HashSet<Why>,
    /// What the model is to be told.
    untold: Vec<String>,
    /// The questions about texts before edits.
    asking: JoinSet<()>,
}

/// A file that was edited.
#[derive(Clone)]
struct File {
    path: PathBuf,
    who: Option<Who>,
    /// Its problems before the first edit.
    first: Before,
    /// Its problems when the model was last told of them, if ever they were known.
    last: Option<Arc<Known>>,
    /// The edits after which they were known.
    looked: Option<u64>,
    /// Whether nothing of it waits that its servers do not see.
    is_settled: bool,
    /// Whether it was an earlier turn that edited it, so that what came of that is none of this one's.
    is_of_earlier_turn: bool,
}

/// What is known of the problems before an edit.
#[derive(Clone)]
enum Before {
    Asking,
    Known(Arc<Known>),
    Unknown(Unknown),
    /// No server is there for the file.
    Nobody,
}

/// Whose servers judge a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Editor,
    Own,
}

/// The problems of a text.
struct Known {
    text: Arc<str>,
    problems: Vec<LangDiagnostic>,
    servers: Vec<String>,
}

impl Known {
    fn told(&self) -> Told<'_> {
        Told { text: &self.text, problems: &self.problems }
    }
}

/// Why problems are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Why {
    /// The edit waits for the user, and the editor's servers do not see it.
    Waits,
    /// What was answered is of another text.
    OtherText,
    /// There is no whole answer.
    Status(LangStatus),
}

#[derive(Clone)]
struct Unknown {
    why: Why,
    words: String,
}

/// What came of a question.
enum Asked {
    Known(Known),
    Unknown(Unknown),
    /// No server is there.
    Nobody,
    /// There is no such file.
    NoFile,
}

/// What a look at a file came to.
struct Look {
    who: Option<Who>,
    found: Found,
}

enum Found {
    /// It is as it was told.
    Same,
    /// Its problems now, and the difference to those before where they were known.
    Now {
        known: Arc<Known>,
        delta: Result<Delta, Unknown>,
        shown: Vec<String>,
    },
    Unknown(Unknown),
    /// No server is there for it, or it is no more.
    Nothing,
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
        let (state, news) = (Mutex::default(), Notify::new());
        Self(Arc::new(Inner { editors, own, reader, overlay, roots, search, state, news }))
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

    /// A turn begins. Of the last one that is kept which is not known yet, such as what came of edits accepted since.
    pub(super) fn begin(&self) {
        let mut state = self.state();
        state.files.retain(|file| !file.is_settled);
        state.files.iter_mut().for_each(|file| file.is_of_earlier_turn = true);
        state.left_out = 0;
        state.said.retain(|why| matches!(why, Why::Waits | Why::Status(LangStatus::Crashed | LangStatus::Failed)));
    }

    /// The turn has ended: what was not answered by now is not needed.
    pub(super) fn end(&self) {
        let mut state = self.state();
        state.asking.abort_all();
        state.files.retain(|file| !matches!(file.first, Before::Asking));
    }

    /// An edit was proposed, accepted, rejected or applied.
    pub(super) fn edited(&self) {
        self.state().edits += 1;
    }

    /// Has the problems of files asked for that are about to be edited, if they are not known. Waits a moment for the editor's
    /// servers, which will not see the text as it is now any more.
    pub(super) async fn before(&self, files: Vec<PathBuf>) {
        let is_known = |path: &PathBuf| self.state().files.iter().any(|file| file.path == *path);
        let files: Vec<_> = files.into_iter().filter(|path| !is_known(path) && self.0.search.shows(path)).collect();
        if files.is_empty() || self.state().wait.is_zero() {
            return;
        }
        let inner = Arc::clone(&self.0);
        let read = move || {
            let texts = files.into_iter().map(|path| {
                let (text, base) = (inner.reader.read(&path), inner.reader.base(&path).ok());
                (path, text, base)
            });
            (texts.collect::<Vec<_>>(), inner.pending())
        };
        let Ok((texts, pending)) = tokio::task::spawn_blocking(read).await else { return };
        let mut asked = Vec::new();
        for (path, text, base) in texts {
            let text = match text {
                Ok(file) => Some(file.text),
                Err(ReadError::File(_) | ReadError::Deleted { .. }) => None,
                Err(ReadError::OutOfSync { .. }) => continue,
            };
            asked.extend(self.ask_before(path, text, base, &pending));
        }
        let _ = tokio::time::timeout(BEFORE_EDIT, join_all(asked)).await;
    }

    /// Asks for the problems of a text before it is edited. Tells when the editor's servers have said what they know.
    fn ask_before(
        &self,
        path: PathBuf,
        text: Option<Arc<str>>,
        base: Option<FileText>,
        pending: &HashMap<PathBuf, Pending>,
    ) -> Option<oneshot::Receiver<()>> {
        let mut state = self.state();
        if state.files.len() >= MOST_FILES {
            state.left_out += 1;
            return None;
        }
        let mut file = File {
            path: path.clone(),
            who: None,
            first: Before::Asking,
            last: None,
            looked: None,
            is_settled: false,
            is_of_earlier_turn: false,
        };
        let Some(text) = text else {
            // What is not there has no problems.
            let nothing = Arc::new(Known { text: "".into(), problems: Vec::new(), servers: Vec::new() });
            (file.first, file.last) = (Before::Known(Arc::clone(&nothing)), Some(nothing));
            state.files.push(file);
            return None;
        };
        state.files.push(file);
        while state.asking.try_join_next().is_some() {}
        let mut seen = pending.clone();
        seen.insert(path.clone(), Pending::Text(text));
        let reader = Reader::new(self.0.reader.buffers(), Arc::new(AsItWas(seen)));
        let (done, editors_said) = oneshot::channel();
        let this = self.clone();
        state.asking.spawn(async move {
            let (who, asked) = this.0.before(&path, base, reader, done).await;
            this.take_before(&path, who, asked);
        });
        Some(editors_said)
    }

    fn take_before(&self, path: &Path, who: Who, asked: Asked) {
        let mut state = self.state();
        if let Some(file) = state.files.iter_mut().find(|file| file.path == *path) {
            file.who = Some(who);
            (file.first, file.last) = match asked {
                Asked::Known(known) => {
                    let known = Arc::new(known);
                    (Before::Known(Arc::clone(&known)), Some(known))
                }
                Asked::Unknown(unknown) => (Before::Unknown(unknown), None),
                Asked::Nobody | Asked::NoFile => (Before::Nobody, None),
            };
        }
        drop(state);
        self.0.news.notify_waiters();
    }

    /// What edits did to problems since that was last told, in words for the model. Waits as long as the user wants after
    /// edits.
    pub(super) async fn news(&self) -> Option<String> {
        self.look().await;
        let untold = std::mem::take(&mut self.state().untold);
        (!untold.is_empty()).then(|| untold.join("\n"))
    }

    /// The errors that the turn's edits brought and that are there still. Waits likewise.
    pub(super) async fn new_errors(&self) -> Option<NewErrors> {
        self.look().await;
        let files: Vec<_> = {
            let state = self.state();
            let is_current = |file: &&File| file.looked == Some(state.edits);
            let known = state.files.iter().filter(is_current).filter_map(|file| match (&file.first, &file.last) {
                (Before::Known(first), Some(last)) => {
                    Some((file.path.clone(), file.who, Arc::clone(first), Arc::clone(last)))
                }
                _ => None,
            });
            known.collect()
        };
        let inner = Arc::clone(&self.0);
        let compare = move || {
            let (mut count, mut shown) = (0, Vec::new());
            for (path, who, first, last) in files {
                let mut new = Delta::between(first.told(), last.told()).new;
                new.retain(|problem| problem.severity == LangSeverity::Error);
                count += new.len();
                shown.extend(inner.shown(&path, who, &last, &new));
            }
            shown.truncate(MOST_SHOWN);
            (count, shown)
        };
        let (count, shown) = tokio::task::spawn_blocking(compare).await.ok()?;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        (count > 0).then_some(NewErrors { count, shown })
    }

    /// Looks at all edited files, and puts what is news into words.
    async fn look(&self) {
        let (files, edits, until) = {
            let mut state = self.state();
            let edits = state.edits;
            let is_edited = std::mem::replace(&mut state.waited, edits) != edits;
            let patience = if is_edited { state.wait } else { GLANCE.min(state.wait) };
            (state.files.clone(), edits, Instant::now() + patience)
        };
        if files.is_empty() {
            return;
        }
        let looks = join_all(files.iter().map(|file| self.look_at(file, edits, until))).await;
        let mut report = Report::default();
        let mut state = self.state();
        for (file, Look { who, found }) in files.iter().zip(looks) {
            let name = self.0.roots.display(&file.path);
            report.add(&name, &found);
            let Some(file) = state.files.iter_mut().find(|known| known.path == file.path) else { continue };
            file.who = who.or(file.who);
            match found {
                Found::Same => (file.looked, file.is_settled) = (Some(edits), true),
                Found::Now { known, .. } => {
                    if std::mem::take(&mut file.is_of_earlier_turn) {
                        file.first = Before::Known(Arc::clone(&known));
                    }
                    (file.last, file.looked, file.is_settled) = (Some(known), Some(edits), true);
                }
                Found::Unknown(unknown) => file.is_settled = unknown.why != Why::Waits && file.last.is_none(),
                Found::Nothing => {
                    file.is_settled = true;
                    file.first = Before::Nobody;
                }
            }
        }
        let left_out = std::mem::take(&mut state.left_out);
        let words = report.words(left_out, &mut state.said);
        state.untold.extend(words);
    }

    async fn look_at(&self, file: &File, edits: u64, until: Instant) -> Look {
        let nothing = Look { who: None, found: Found::Nothing };
        let Some(file) = self.when_known(file, until).await else { return nothing };
        let mut who = file.who;
        let found = async {
            let unknown = match &file.first {
                Before::Nobody => return Found::Nothing,
                Before::Asking => return Found::Unknown(late()),
                Before::Unknown(unknown) => Some(unknown.clone()),
                Before::Known(_) => None,
            };
            // A new file, of which nobody was asked.
            if who.is_none() {
                who = self.0.who(until).await;
            }
            let is_pending = self.0.overlay.pending(&file.path).is_some();
            let Some(who) = who else {
                // Editors may not know what to say of a file that is not there yet.
                return if is_pending { Found::Unknown(waits()) } else { Found::Nothing };
            };
            let reader = &self.0.reader;
            let text = match who {
                Who::Editor => base(reader, &file.path).await,
                Who::Own => read(reader, &file.path).await,
            };
            let is_same = match (&text, &file.last) {
                (Some(text), Some(last)) => text.text == last.text,
                (None, Some(last)) => last.text.is_empty(),
                (_, None) => false,
            };
            if who == Who::Editor && is_same && is_pending {
                return Found::Unknown(waits());
            }
            if is_same && file.looked == Some(edits) {
                return Found::Same;
            }
            let asked = match who {
                Who::Editor => self.0.ask_editor(&file.path, None, until).await,
                Who::Own => self.0.ask_own(reader, &file.path, until).await,
            };
            match asked {
                Asked::Known(known) => self.compared(&file, who, Arc::new(known), unknown).await,
                Asked::Unknown(unknown) => Found::Unknown(unknown),
                Asked::Nobody | Asked::NoFile => Found::Nothing,
            }
        };
        let found = tokio::time::timeout_at(until + GLANCE, found).await;
        Look { found: found.unwrap_or_else(|_| Found::Unknown(late())), who }
    }

    async fn compared(&self, file: &File, who: Who, known: Arc<Known>, unknown: Option<Unknown>) -> Found {
        let (inner, path, last, now) = (Arc::clone(&self.0), file.path.clone(), file.last.clone(), Arc::clone(&known));
        let compare = move || {
            let delta = match last {
                Some(last) => Delta::between(last.told(), now.told()),
                None => Delta::default(),
            };
            let shown = inner.shown(&path, Some(who), &now, &delta.new);
            (delta, shown)
        };
        let Ok((delta, shown)) = tokio::task::spawn_blocking(compare).await else { return Found::Unknown(late()) };
        // Of what was not known before the edits, it is known only from now on what changes.
        let delta = unknown.filter(|_| file.last.is_none()).map_or(Ok(delta), Err);
        Found::Now { known, delta, shown }
    }

    /// The file, once its problems before the edits are known; as it is where they are not in time. None for one that is not
    /// watched any more.
    async fn when_known(&self, file: &File, until: Instant) -> Option<File> {
        loop {
            let news = self.0.news.notified();
            let file = self.state().files.iter().find(|known| known.path == file.path).cloned()?;
            if !matches!(file.first, Before::Asking) || tokio::time::timeout_at(until, news).await.is_err() {
                return Some(file);
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// What is proposed, as it is now.
    fn pending(&self) -> HashMap<PathBuf, Pending> {
        let paths = self.overlay.paths().into_iter();
        paths.filter_map(|path| self.overlay.pending(&path).map(|pending| (path, pending))).collect()
    }

    /// The problems before an edit: the editor's servers are asked for the text as the user has it, our own for the one that
    /// the session has, which they go on to see although it is edited meanwhile.
    async fn before(
        &self,
        path: &Path,
        base: Option<FileText>,
        as_it_was: Reader,
        editors_said: oneshot::Sender<()>,
    ) -> (Who, Asked) {
        let asked = match base {
            Some(base) => self.ask_editor(path, Some(&base), Instant::now() + BACKGROUND).await,
            None => Asked::NoFile,
        };
        let _ = editors_said.send(());
        match asked {
            Asked::Nobody => {}
            Asked::NoFile if self.who(Instant::now() + BACKGROUND).await == Some(Who::Own) => {}
            asked => return (Who::Editor, asked),
        }
        let mut asked = Asked::Nobody;
        for _ in 0..TRIES {
            asked = self.ask_own(&as_it_was, path, Instant::now() + BACKGROUND).await;
            let is_late =
                |unknown: &Unknown| matches!(unknown.why, Why::Status(LangStatus::Indexing | LangStatus::TimedOut));
            if !matches!(&asked, Asked::Unknown(unknown) if is_late(unknown)) {
                break;
            }
        }
        (Who::Own, asked)
    }

    /// Whose servers are for a file that the editor does not have open; none where that is not known in time.
    async fn who(&self, until: Instant) -> Option<Who> {
        let query = LangQuery::Servers { uri: None };
        let result = self.editors.ask(&query, until - Instant::now()).await;
        match result.status {
            LangStatus::NoServer => Some(Who::Own),
            LangStatus::Ready => Some(Who::Editor),
            _ => None,
        }
    }

    /// What the editor's servers say of a file as the user has it, which must be this text where one is given. Only of one
    /// that is open there: VS Code opens what it is asked about, and then an accepted edit is left unsaved in an editor that
    /// nobody sees.
    async fn ask_editor(&self, path: &Path, of: Option<&FileText>, until: Instant) -> Asked {
        let query = LangQuery::Diagnostics { uri: Some(paths::to_uri(path)) };
        loop {
            let Some(before) = base(&self.reader, path).await else { return Asked::NoFile };
            if !matches!(before.source, reader::Source::Buffer { .. }) {
                return Asked::NoFile;
            }
            if of.is_some_and(|of| of.hash != before.hash) {
                return Asked::Unknown(other_text());
            }
            let result = self.editors.ask(&query, until - Instant::now()).await;
            let now = base(&self.reader, path).await;
            // The editor's servers have the file, and say nothing of it.
            if result.status == LangStatus::Unsupported {
                return Asked::NoFile;
            }
            let is_of_now = now.is_some_and(|now| now.hash == before.hash) && is_of(&result, &before);
            match self.taken(result, &before, is_of_now) {
                Asked::Unknown(unknown) if unknown.is_passing() && Instant::now() + AGAIN < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                asked => return asked,
            }
        }
    }

    /// What our own servers say of a file as this reader reads it.
    async fn ask_own(&self, reader: &Reader, path: &Path, until: Instant) -> Asked {
        let query = LangQuery::Diagnostics { uri: Some(paths::to_uri(path)) };
        let servers = (self.own)(reader.clone());
        loop {
            let Some(before) = read(reader, path).await else { return Asked::NoFile };
            let result = servers.ask(&query, until - Instant::now()).await;
            let now = read(reader, path).await;
            let is_of_now = now.is_some_and(|now| now.hash == before.hash);
            match self.taken(result, &before, is_of_now) {
                Asked::Unknown(unknown) if unknown.is_passing() && Instant::now() + AGAIN < until => {
                    tokio::time::sleep(AGAIN).await;
                }
                asked => return asked,
            }
        }
    }

    fn taken(&self, result: LangResult, of: &FileText, is_of_now: bool) -> Asked {
        match (result.status, result.answer) {
            (LangStatus::NoServer, _) => Asked::Nobody,
            (LangStatus::Unsupported, _) => Asked::NoFile,
            (LangStatus::Ready, LangAnswer::Diagnostics { documents }) if is_of_now => {
                let mut problems: Vec<_> = documents.into_iter().flat_map(|document| document.diagnostics).collect();
                // Hints are how editors show what could be otherwise, such as names that are not used.
                problems.retain(|problem| problem.severity != LangSeverity::Hint);
                let servers = result.servers.into_iter().map(|server| server.name).collect();
                Asked::Known(Known { text: Arc::clone(&of.text), problems, servers })
            }
            (LangStatus::Ready, _) => Asked::Unknown(other_text()),
            (status, _) => Asked::Unknown(Unknown { why: Why::Status(status), words: said(status, result.message) }),
        }
    }

    /// Problems with the code that stands there. Lines are those of the text that the model reads. Blocks.
    fn shown(&self, path: &Path, who: Option<Who>, known: &Known, problems: &[LangDiagnostic]) -> Vec<String> {
        let name = self.roots.display(path);
        let session = (who == Some(Who::Editor)).then(|| self.reader.read(path).ok()).flatten();
        let session = session.filter(|file| file.text != known.text);
        let shown = problems.iter().take(MOST_SHOWN).map(|problem| {
            let line = usize::try_from(problem.range.start.line).ok().and_then(|line| known.text.lines().nth(line));
            let code: String = line.unwrap_or_default().trim().chars().take(LONGEST_LINE).collect();
            let mut problem = problem.clone();
            if let Some(session) = &session {
                let moved = delta::line_in(problem.range.start.line, &known.text, &session.text);
                problem.range.start.line = moved.unwrap_or(problem.range.start.line);
            }
            let words = in_words(&name, &problem);
            if code.is_empty() { words } else { format!("{words}\n    {code}") }
        });
        shown.collect()
    }
}

impl Unknown {
    /// Whether it may be known in a moment.
    fn is_passing(&self) -> bool {
        matches!(
            self.why,
            Why::OtherText | Why::Status(LangStatus::Indexing | LangStatus::EditorBusy | LangStatus::TimedOut)
        )
    }
}

/// Files as the session saw them before an edit.
struct AsItWas(HashMap<PathBuf, Pending>);

impl Overlay for AsItWas {
    fn pending(&self, path: &Path) -> Option<Pending> {
        self.0.get(path).cloned()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.0.keys().cloned().collect()
    }
}

/// What looks came to, for the model.
#[derive(Default)]
struct Report {
    new: Vec<LangDiagnostic>,
    gone: Vec<LangDiagnostic>,
    shown: Vec<(LangSeverity, String)>,
    servers: Vec<String>,
    unknown: Vec<(String, Unknown)>,
}

impl Report {
    fn add(&mut self, name: &str, found: &Found) {
        let unknown = match found {
            Found::Same | Found::Nothing => return,
            Found::Unknown(unknown) | Found::Now { delta: Err(unknown), .. } => unknown,
            Found::Now { known, delta: Ok(delta), shown } => {
                if !delta.is_empty() {
                    self.servers.extend(known.servers.iter().cloned());
                }
                let severities = delta.new.iter().map(|problem| problem.severity);
                self.shown.extend(severities.zip(shown.iter().cloned()));
                self.new.extend(delta.new.iter().cloned());
                self.gone.extend(delta.gone.iter().cloned());
                return;
            }
        };
        self.unknown.push((name.to_owned(), unknown.clone()));
    }

    /// The news, and what is not known where that was not said before.
    fn words(mut self, left_out: usize, said: &mut HashSet<Why>) -> Vec<String> {
        let mut words = Vec::new();
        if !self.new.is_empty() || !self.gone.is_empty() {
            words.push(self.changes());
        }
        self.unknown.retain(|(_, unknown)| !said.contains(&unknown.why));
        while let Some((name, unknown)) = self.unknown.pop() {
            let same: Vec<_> = self.unknown.extract_if(.., |(_, other)| other.why == unknown.why).collect();
            let mut names: Vec<_> = same.into_iter().map(|(name, _)| name).chain([name]).collect();
            names.sort();
            words.push(format!(
                "What your edits did to the problems of {} is not known: {}.",
                names.join(", "),
                unknown.words
            ));
            said.insert(unknown.why);
        }
        if left_out > 0 {
            let files = if left_out == 1 { "file" } else { "files" };
            words.push(format!("The problems of {left_out} more edited {files} were not looked at."));
        }
        words
    }

    fn changes(&mut self) -> String {
        self.servers.sort();
        self.servers.dedup();
        let by = if self.servers.is_empty() { String::new() } else { format!(" ({})", self.servers.join(", ")) };
        let what = |problems: &[LangDiagnostic], what: &str| {
            let is = if problems.len() == 1 { "is" } else { "are" };
            (!problems.is_empty()).then(|| format!("{} {is} {what}", delta::counted(problems)))
        };
        let parts: Vec<_> = [what(&self.new, "new"), what(&self.gone, "gone")].into_iter().flatten().collect();
        let mut text = format!("Problems since your edits{by}: {}.", parts.join("; "));
        // Errors of any file come before warnings of another.
        self.shown.sort_by_key(|(severity, _)| *severity);
        self.shown.truncate(MOST_SHOWN);
        for (_, shown) in &self.shown {
            text.push('\n');
            text.push_str(shown);
        }
        if self.new.len() > self.shown.len() {
            text.push_str(&format!("\n[and {} more that are new]", self.new.len() - self.shown.len()));
        }
        text
    }
}

/// Whether an answer is about this text: of an open document it says the version.
fn is_of(result: &LangResult, text: &FileText) -> bool {
    let reader::Source::Buffer { version } = text.source else { return true };
    let LangAnswer::Diagnostics { documents } = &result.answer else { return true };
    let is_it = |said: Option<i32>| said.is_none_or(|said| said == version);
    let is_said = result.version.is_some() || documents.iter().any(|document| document.version.is_some());
    is_said && is_it(result.version) && documents.iter().all(|document| is_it(document.version))
}

fn said(status: LangStatus, message: Option<String>) -> String {
    let words = match status {
        LangStatus::Indexing => "the language server still reads the project",
        LangStatus::Partial => "what the language servers told is not all, or may be of an earlier text",
        LangStatus::Failed => "the language server failed",
        LangStatus::Crashed => "the language server ended",
        LangStatus::TimedOut => "the language server did not answer in time",
        LangStatus::EditorBusy => "the editor was busy",
        LangStatus::Unseen => "the language server does not see edits that wait for the user",
        LangStatus::Ready | LangStatus::NoServer | LangStatus::Unsupported => "the language server cannot tell",
    };
    match message.map(|message| message.trim().trim_end_matches('.').replace('\n', " ")) {
        Some(message) if !message.is_empty() => format!("{words} ({message})"),
        _ => words.to_owned(),
    }
}

fn late() -> Unknown {
    let status = LangStatus::TimedOut;
    Unknown { why: Why::Status(status), words: said(status, None) }
}

fn other_text() -> Unknown {
    let words = "what the language server said is of another text than the one that stands there".to_owned();
    Unknown { why: Why::OtherText, words }
}

fn waits() -> Unknown {
    let words =
        "the editor's language servers see edits only when the user has accepted them; you are told then".to_owned();
    Unknown { why: Why::Waits, words }
}

/// A file as the user has it; none where it is not there.
async fn base(reader: &Reader, path: &Path) -> Option<FileText> {
    let (reader, path) = (reader.clone(), path.to_owned());
    tokio::task::spawn_blocking(move || reader.base(&path).ok()).await.ok()?
}

/// A file as this reader reads it; none where it is not there.
async fn read(reader: &Reader, path: &Path) -> Option<FileText> {
    let (reader, path) = (reader.clone(), path.to_owned());
    tokio::task::spawn_blocking(move || reader.read(&path).ok()).await.ok()?
}
