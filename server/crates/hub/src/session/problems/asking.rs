//! Asking servers for the problems of a file: whose, how long, and when what they say counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use lang::delta::{self, Delta, Told};
use lang::{Source, in_words};
use project::buffers::Open;
use project::paths::{self, Roots};
use project::reader::{self, FileText, Overlay, Pending, Reader};
use project::search::Search;
use protocol::lang::{LangAnswer, LangDiagnostic, LangQuery, LangResult, LangSeverity, LangStatus};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The time that a question about the text before an edit may take, while the turn goes on.
const BACKGROUND: Duration = Duration::from_secs(20);
/// The number of times that our own servers are asked that; they may have to start and to read the project first.
const TRIES: usize = 15;
/// The pause until a server is asked again that was not ready, or told of another text.
const AGAIN: Duration = Duration::from_millis(100);
/// So many problems of a file are shown.
pub(super) const MOST_SHOWN: usize = 10;
/// The most of a line of code that is shown, in characters.
const LONGEST_LINE: usize = 200;

/// Our own servers, for one who reads like this.
pub(in crate::session) type OwnServers = dyn Fn(Reader) -> Arc<dyn Source> + Send + Sync;

/// Who can be asked, and what about.
pub(super) struct Asking {
    pub(super) editors: Arc<dyn Source>,
    pub(super) own: Box<OwnServers>,
    pub(super) reader: Reader,
    pub(super) overlay: Arc<dyn Overlay>,
    pub(super) roots: Arc<Roots>,
    /// Knows what the model may see.
    pub(super) search: Search,
}

/// Whose servers judge a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Editor,
    Own,
}

/// Who is asked for the problems of a text.
#[derive(Clone, Copy)]
pub(super) enum Judge<'t> {
    /// The editor's servers, about the text as the user has it, which must be this one where one is given.
    Editor { of: Option<&'t FileText> },
    /// Our own, about the text that this reads.
    Own(&'t Reader),
}

/// The problems of a text, by who told them.
pub(super) struct Known {
    pub(super) text: Arc<str>,
    said: Vec<Arc<Said>>,
    /// True if those who are not among these have nothing to say: there is no file.
    is_all: bool,
    /// Why others who look at the file are not among these.
    pub(super) missing: Vec<Unknown>,
}

/// The answer of a server of our own, or of all of the editor's, which answer as one.
struct Said {
    server: Option<String>,
    names: Vec<String>,
    text: Arc<str>,
    problems: Vec<LangDiagnostic>,
}

/// Why problems are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Why {
    /// The edit waits for the user, and the editor's servers do not see it.
    Waits,
    /// The editor's servers are for it, and it is not open there.
    NotOpen,
    /// The answer is about another text.
    OtherText,
    /// There is no whole answer.
    Status(LangStatus),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unknown {
    pub(super) why: Why,
    pub(super) words: String,
}

/// The result of a question.
pub(super) enum Asked {
    Known(Known),
    Unknown(Unknown),
    /// No server is there; in words where one was there before.
    NoServer(Unknown),
    /// Those that are there say nothing of the text; likewise.
    Silent(Unknown),
    /// There is no such file.
    Gone,
}

impl Asking {
    /// Returns the proposed texts, as they are now.
    pub(super) fn pending(&self) -> HashMap<PathBuf, Pending> {
        let paths = self.overlay.paths().into_iter();
        paths.filter_map(|path| self.overlay.pending(&path).map(|pending| (path, pending))).collect()
    }

    /// The session's files, but for these, which are as they were.
    pub(super) fn as_it_was(&self, files: HashMap<PathBuf, Pending>) -> Reader {
        Reader::new(self.reader.buffers(), Arc::new(AsItWas(files)))
    }

    pub(super) fn is_pending(&self, path: &Path) -> bool {
        self.overlay.pending(path).is_some()
    }

    pub(super) fn is_open(&self, path: &Path) -> bool {
        matches!(self.reader.buffers().get(path), Open::Yes(_))
    }

    /// The text that is judged; none if there is no file.
    pub(super) async fn text(&self, judge: Judge<'_>, path: &Path) -> Option<FileText> {
        let (is_base, reader) = match judge {
            Judge::Editor { .. } => (true, self.reader.clone()),
            Judge::Own(reader) => (false, reader.clone()),
        };
        let path = path.to_owned();
        let read = move || if is_base { reader.base(&path) } else { reader.read(&path) }.ok();
        tokio::task::spawn_blocking(read).await.ok()?
    }

    /// The problems before an edit: the editor's servers are asked for the text as the user has it, our own for the one
    /// that the session has, which they go on to see although it is edited meanwhile. Tells when the editor's have said
    /// what they know.
    pub(super) async fn before(
        &self,
        path: &Path,
        base: Option<FileText>,
        as_it_was: Reader,
        editors_said: oneshot::Sender<()>,
    ) -> (Option<Who>, Asked) {
        let asked = match &base {
            Some(base) => self.ask(Judge::Editor { of: Some(base) }, path, Instant::now() + BACKGROUND).await,
            None => Asked::Unknown(Unknown::not_open()),
        };
        let _ = editors_said.send(());
        match &asked {
            Asked::NoServer(_) => {}
            Asked::Unknown(Unknown { why: Why::NotOpen, .. }) => {
                match self.who(path, Instant::now() + BACKGROUND).await {
                    Some(Who::Own) => {}
                    Some(Who::Editor) => return (Some(Who::Editor), asked),
                    None => return (None, Asked::Unknown(Unknown::late())),
                }
            }
            _ => return (Some(Who::Editor), asked),
        }
        let mut asked = self.ask(Judge::Own(&as_it_was), path, Instant::now() + BACKGROUND).await;
        for _ in 1..TRIES {
            // Who answers later than others is compared from then on.
            if !matches!(&asked, Asked::Unknown(unknown) if unknown.is_late()) {
                break;
            }
            asked = self.ask(Judge::Own(&as_it_was), path, Instant::now() + BACKGROUND).await;
        }
        (Some(Who::Own), asked)
    }

    /// Whose servers are for a file that the editor does not have open; none if that is not known in time.
    ///
    /// The editor is not asked about the file itself, since VS Code opens what it is asked about. A document of the
    /// same kind that is open tells whether it has servers for such; without one, the editor's are for the file where
    /// one that runs is called as one that we would start.
    pub(super) async fn who(&self, path: &Path, until: Instant) -> Option<Who> {
        let result = self.editors.ask(&LangQuery::Servers { uri: None }, until - Instant::now()).await;
        match result.status {
            LangStatus::NoServer => return Some(Who::Own),
            LangStatus::Ready => {}
            _ => return None,
        }
        let open = self.reader.buffers().all();
        if let Some(open) = open.iter().find(|open| is_same_kind(&open.path, path)) {
            let query = LangQuery::Servers { uri: Some(paths::to_uri(&open.path)) };
            return match self.editors.ask(&query, until - Instant::now()).await.status {
                LangStatus::NoServer => Some(Who::Own),
                LangStatus::TimedOut | LangStatus::EditorBusy | LangStatus::Failed => None,
                _ => Some(Who::Editor),
            };
        }
        let query = LangQuery::Servers { uri: Some(paths::to_uri(path)) };
        let own = (self.own)(self.reader.clone()).ask(&query, until - Instant::now()).await;
        let runs = |name: &str| result.servers.iter().any(|server| plain(&server.name) == plain(name));
        Some(if own.servers.iter().any(|server| runs(&server.name)) { Who::Editor } else { Who::Own })
    }

    /// Asks servers for the problems of a file. The editor's are only asked about one that is open there: VS Code opens
    /// what it is asked about, and then an accepted edit is left unsaved in an editor that nobody sees.
    pub(super) async fn ask(&self, judge: Judge<'_>, path: &Path, until: Instant) -> Asked {
        let query = LangQuery::Diagnostics { uri: Some(paths::to_uri(path)) };
        let own = match judge {
            Judge::Editor { .. } => None,
            Judge::Own(reader) => Some((self.own)(reader.clone())),
        };
        loop {
            let Some(before) = self.text(judge, path).await else { return Asked::Gone };
            if let Judge::Editor { of } = judge {
                if !matches!(before.source, reader::Source::Buffer { .. }) {
                    return Asked::Unknown(Unknown::not_open());
                }
                if of.is_some_and(|of| of.hash != before.hash) {
                    return Asked::Unknown(Unknown::other_text());
                }
            }
            let within = until - Instant::now();
            let results = match &own {
                None => vec![self.editors.ask(&query, within).await],
                Some(own) => own.ask_each(&query, within).await,
            };
            let stands = self.text(judge, path).await.is_some_and(|now| now.hash == before.hash);
            let asked = match judge {
                Judge::Editor { .. } => taken(results, &before, |result| stands && is_of(result, &before), |_| None),
                Judge::Own(_) => {
                    let name = |result: &LangResult| result.servers.first().map(|server| server.name.clone());
                    taken(results, &before, |_| stands, name)
                }
            };
            if !asked.is_passing() || Instant::now() + AGAIN >= until {
                return asked;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Problems with the code that stands there. Lines are those of the text that the model reads. Blocks.
    pub(super) fn shown(
        &self,
        path: &Path,
        who: Option<Who>,
        known: &Known,
        problems: &[LangDiagnostic],
    ) -> Vec<String> {
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

impl Known {
    /// Of a file that is not there.
    pub(super) fn nothing() -> Self {
        Self { text: "".into(), said: Vec::new(), is_all: true, missing: Vec::new() }
    }

    /// True if they are of this text; none for a file that is not there.
    pub(super) fn is_of(&self, text: Option<&FileText>) -> bool {
        match text {
            Some(text) => !self.is_nothing() && text.text == self.text,
            None => self.is_nothing(),
        }
    }

    /// Returns what came and went since these, and who says so. A server that told nothing then is not compared.
    pub(super) fn since(&self, before: &Self) -> (Delta, Vec<String>) {
        let (mut all, mut servers) = (Delta::default(), Vec::new());
        for now in &self.said {
            let was = match before.by(now) {
                Some(was) => Told { text: &was.text, problems: &was.problems },
                None if before.is_all => Told { text: "", problems: &[] },
                None => continue,
            };
            let delta = Delta::between(was, Told { text: &now.text, problems: &now.problems });
            if !delta.is_empty() {
                servers.extend(now.names.iter().cloned());
                all.extend(delta);
            }
        }
        (all, servers)
    }

    /// These, and of those who are not among them what they said in the others.
    pub(super) fn and(&self, others: &Self) -> Self {
        let more = others.said.iter().filter(|said| !self.is_all && self.by(said).is_none());
        Self {
            text: Arc::clone(&self.text),
            said: self.said.iter().chain(more).cloned().collect(),
            is_all: self.is_all || others.is_all,
            missing: Vec::new(),
        }
    }

    /// True if anybody has told of any text.
    pub(super) fn is_by_anybody(&self) -> bool {
        !self.said.is_empty()
    }

    fn by(&self, who: &Said) -> Option<&Said> {
        self.said.iter().find(|said| said.server == who.server).map(AsRef::as_ref)
    }

    fn is_nothing(&self) -> bool {
        self.is_all && self.said.is_empty()
    }
}

impl Asked {
    fn is_passing(&self) -> bool {
        match self {
            Self::Unknown(unknown) => unknown.is_passing(),
            Self::Known(known) => known.missing.iter().any(Unknown::is_passing),
            Self::NoServer(_) | Self::Silent(_) | Self::Gone => false,
        }
    }
}

impl Unknown {
    fn of(status: LangStatus, message: Option<String>) -> Self {
        let words = match status {
            LangStatus::Indexing => "the language server still reads the project",
            LangStatus::Partial => "what the language servers told is not all, or may be of an earlier text",
            LangStatus::Failed => "the language server failed",
            LangStatus::Crashed => "the language server ended",
            LangStatus::TimedOut => "the language server did not answer in time",
            LangStatus::EditorBusy => "the editor was busy",
            LangStatus::Unseen => "the language server does not see edits that wait for the user",
            LangStatus::NoServer => "the language server is not there any more",
            LangStatus::Ready | LangStatus::Unsupported => "the language server says nothing of this text",
        };
        let words = match message.map(|message| message.trim().trim_end_matches('.').replace('\n', " ")) {
            Some(message) if !message.is_empty() => format!("{words} ({message})"),
            _ => words.to_owned(),
        };
        Self { why: Why::Status(status), words }
    }

    pub(super) fn late() -> Self {
        Self::of(LangStatus::TimedOut, None)
    }

    pub(super) fn waits() -> Self {
        let words = "the editor's language servers see edits only when the user has accepted them; you are told then";
        Self { why: Why::Waits, words: words.to_owned() }
    }

    pub(super) fn not_open() -> Self {
        let words = "the editor's language servers are asked only about what is open in the editor";
        Self { why: Why::NotOpen, words: words.to_owned() }
    }

    fn other_text() -> Self {
        let words = "what the language server said is of another text than the one that stands there";
        Self { why: Why::OtherText, words: words.to_owned() }
    }

    /// True if it may be known in a moment.
    fn is_passing(&self) -> bool {
        matches!(self.why, Why::OtherText | Why::Status(LangStatus::EditorBusy)) || self.is_late()
    }

    /// True if a server has only begun, or is slow.
    fn is_late(&self) -> bool {
        matches!(self.why, Why::Status(LangStatus::Indexing | LangStatus::TimedOut))
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

/// Joins results. Those that are whole count if one is missing, such as that of a linter that does not start.
fn taken(
    results: Vec<LangResult>,
    of: &FileText,
    is_of_it: impl Fn(&LangResult) -> bool,
    server: impl Fn(&LangResult) -> Option<String>,
) -> Asked {
    let mut known = Known { text: Arc::clone(&of.text), said: Vec::new(), is_all: false, missing: Vec::new() };
    let (mut silent, mut none) = (None, None);
    for result in results {
        let (is_of_it, server) = (is_of_it(&result), server(&result));
        match (result.status, result.answer) {
            (LangStatus::NoServer, _) => none = Some(Unknown::of(LangStatus::NoServer, result.message)),
            (LangStatus::Unsupported, _) => silent = Some(Unknown::of(LangStatus::Unsupported, result.message)),
            (LangStatus::Ready, LangAnswer::Diagnostics { documents }) if is_of_it => {
                let mut problems: Vec<_> = documents.into_iter().flat_map(|document| document.diagnostics).collect();
                // Hints are how editors show what could be otherwise, such as names that are not used.
                problems.retain(|problem| problem.severity != LangSeverity::Hint);
                let names = result.servers.into_iter().map(|server| server.name).collect();
                let text = Arc::clone(&of.text);
                known.said.push(Arc::new(Said { server, names, text, problems }));
            }
            (LangStatus::Ready, _) => known.missing.push(Unknown::other_text()),
            (status, _) => known.missing.push(Unknown::of(status, result.message)),
        }
    }
    if !known.said.is_empty() {
        return Asked::Known(known);
    }
    // A server that may know in a moment is waited for.
    match (known.missing.into_iter().min_by_key(|unknown| !unknown.is_passing()), silent, none) {
        (Some(unknown), _, _) => Asked::Unknown(unknown),
        (None, Some(silent), _) => Asked::Silent(silent),
        (None, None, none) => Asked::NoServer(none.unwrap_or_else(|| Unknown::of(LangStatus::NoServer, None))),
    }
}

/// True if an answer is about this text: of an open document it says the version.
fn is_of(result: &LangResult, text: &FileText) -> bool {
    let reader::Source::Buffer { version } = text.source else { return true };
    let LangAnswer::Diagnostics { documents } = &result.answer else { return true };
    let is_it = |said: Option<i32>| said.is_none_or(|said| said == version);
    let is_said = result.version.is_some() || documents.iter().any(|document| document.version.is_some());
    is_said && is_it(result.version) && documents.iter().all(|document| is_it(document.version))
}

/// True if servers for the one are for the other, by their endings, or by their names where they have none.
fn is_same_kind(one: &Path, other: &Path) -> bool {
    match (one.extension(), other.extension()) {
        (None, None) => one.file_name() == other.file_name(),
        (one, other) => one == other,
    }
}

/// A server's name as all write it: `rust_analyzer` in Neovim is `rust-analyzer` elsewhere.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
