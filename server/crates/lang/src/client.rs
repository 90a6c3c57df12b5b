//! One language server: its process, and the conversation with it over LSP.
//!
//! Messages are queued at once and in order, so that a question is always about the texts that were sent before it.
//! All that the server says is held in bounds: a message too large, too many of them, or what is no message ends it,
//! and whoever waits hears why.
//!
//! Reading order: `wire` (the shapes of messages), `transport` (the pipes, and who waits for an answer), `capabilities`
//! (what we say that we can), `incoming` (what the server says and asks by itself), `documents` (the texts it was
//! sent), `hold` (that they stay as long as one waits for what it says of them).

mod capabilities;
mod documents;
mod hold;
mod incoming;
mod transport;
pub(super) mod wire;

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use process::Confinement;
use process::held::HeldId;
use project::paths;
use project::text::PositionEncoding;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

pub(super) use self::documents::{LATE, Sent, Stamp, Synced, Text, View, Waits};
pub(super) use self::hold::Hold;
pub(super) use self::incoming::Published;
pub(super) use self::transport::RequestError;
use self::transport::Transport;
pub(super) use self::transport::Waiting;
use super::table::Definition;

/// How long a server may take to answer `initialize`. The slowest, which build a project's model first, take half of
/// it.
const INITIALIZE: Duration = Duration::from_secs(60);
/// So long a server may take to answer `initialize` whatever its settings say.
const LONGEST_INITIALIZE: Duration = Duration::from_secs(10 * 60);
/// How long a server has to end by itself when it is asked to.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long after a server was initialized or saw its first document nothing of it is taken as whole: reading a project
/// is announced only after that has begun.
const SETTLE: Duration = Duration::from_millis(500);
/// Of so many files it is remembered that a server was told of them.
const MAX_ANNOUNCED: usize = 100_000;

/// A running language server that has been initialized.
pub(super) struct Client {
    transport: Arc<Transport>,
    inside: Arc<Mutex<incoming::Inside>>,
    documents: Mutex<documents::Documents>,
    /// The capabilities that it said it has, at first.
    capabilities: Value,
    encoding: PositionEncoding,
    version: Option<String>,
    initialized: Instant,
    /// Only one command of a server runs at a time, so that it is known whose edits come.
    commands: Arc<tokio::sync::Mutex<()>>,
    /// The files that it was told are there.
    announced: Mutex<HashSet<PathBuf>>,
}

/// The program, the folder and the limits that a server is started with.
#[derive(Clone, Copy)]
pub(super) struct Start<'s> {
    /// Its program.
    pub(super) program: &'s Path,
    /// The folder of the project.
    pub(super) root: &'s Path,
    /// The confinement of its process.
    pub(super) confinement: &'s Confinement,
    /// Where it finds programs in turn.
    pub(super) path: Option<&'s OsStr>,
    /// Names of variables that it gets although they look like secrets.
    pub(super) pass: &'s [String],
}

/// Tells when there is something new of a server, since it was last asked.
pub(super) struct News(watch::Receiver<u64>);

impl News {
    /// Waits for something new, or until this time.
    pub(super) async fn next(&mut self, until: Instant) {
        tokio::select! {
            _ = self.0.changed() => {},
            () = tokio::time::sleep_until(until) => {}
        }
    }
}

/// How far a server has read the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// As far as can be known, it has read all.
    Ready,
    /// It has begun too short a time ago to say, until this time.
    Settling(Instant),
    /// It reads; what it says of that.
    Busy(String),
    /// It looks for the project's files, and says when it has found them, which is waited for until this time.
    Finding(Instant),
    /// It should have said that it has found the project's files, and has not.
    Untold,
}

impl Client {
    /// Starts a server and initializes it. `has_process` hears of its process before that. Given up, it is killed.
    ///
    /// # Errors
    /// It cannot be started, ends, or does not answer in time.
    pub(super) async fn start(
        definition: &Definition,
        start: Start<'_>,
        has_process: impl FnOnce(Option<HeldId>),
    ) -> Result<Self, RequestError> {
        /// One that lives on after it has refused, or when nobody waits for it any more, would be nobody's.
        struct Unfinished(Option<Arc<Transport>>);
        impl Drop for Unfinished {
            fn drop(&mut self) {
                if let Some(transport) = &self.0 {
                    transport.end("it was not needed any more before it was there");
                }
            }
        }

        let (root, is_sandboxed) = (start.root, start.confinement.is_sandboxed());
        let inside = Arc::new(Mutex::new(incoming::Inside::new(definition, root)));
        let transport = Transport::start(start, &definition.args, inside.clone())?;
        let mut unfinished = Unfinished(Some(transport.clone()));
        has_process(transport.process());
        match Self::initialize(definition, root, is_sandboxed, transport.clone(), inside).await {
            Ok(client) => {
                unfinished.0 = None;
                Ok(client)
            }
            Err(error) => {
                transport.end(&error.to_string());
                Err(error)
            }
        }
    }

    async fn initialize(
        definition: &Definition,
        root: &Path,
        is_sandboxed: bool,
        transport: Arc<Transport>,
        inside: Arc<Mutex<incoming::Inside>>,
    ) -> Result<Self, RequestError> {
        let params = capabilities::initialize(definition, root, is_sandboxed);
        let within = definition.warmup.unwrap_or(INITIALIZE).min(LONGEST_INITIALIZE);
        let answer = transport.request("initialize", &params);
        let answer = match tokio::time::timeout(within, async { answer?.answer().await }).await {
            Ok(answer) => answer?,
            Err(_) => {
                let why = format!("it did not answer `initialize` in {} s", within.as_secs());
                transport.end(&why);
                return Err(RequestError::Ended(transport.ended_why().unwrap_or_else(|| why.into())));
            }
        };
        let answer: wire::InitializeResult = wire::parse(&answer)?;
        let encoding = match answer.capabilities.get("positionEncoding").and_then(Value::as_str) {
            Some("utf-8") => PositionEncoding::Utf8,
            Some("utf-32") => PositionEncoding::Utf32,
            _ => PositionEncoding::Utf16,
        };
        transport.notify("initialized", &json!({}))?;
        if !definition.settings.is_null() {
            transport.notify("workspace/didChangeConfiguration", &json!({ "settings": definition.settings }))?;
        }
        let documents = documents::Documents::new(&answer.capabilities, &definition.resend_options);
        Ok(Self {
            transport,
            inside,
            documents: Mutex::new(documents),
            capabilities: answer.capabilities,
            encoding,
            version: answer.server_info.and_then(|info| info.version).and_then(plain_version),
            initialized: Instant::now(),
            commands: Arc::default(),
            announced: Mutex::default(),
        })
    }

    /// The units in which it counts characters.
    pub(super) fn encoding(&self) -> PositionEncoding {
        self.encoding
    }

    /// Its version, as it says.
    pub(super) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Its process, while that runs.
    pub(super) fn process(&self) -> Option<HeldId> {
        self.transport.process()
    }

    /// Why it has ended, if it has.
    pub(super) fn ended(&self) -> Option<Arc<str>> {
        self.transport.ended_why()
    }

    /// True if it answers a method, by what it said at first under a key, or registered since.
    pub(super) fn supports(&self, method: &str, provider: &str) -> bool {
        is_offered(self.capabilities.get(provider)) || self.inside().has_registered(method)
    }

    /// True if it runs this command.
    pub(super) fn runs(&self, command: &str) -> bool {
        let offered = self.capabilities.pointer("/executeCommandProvider/commands").and_then(Value::as_array);
        offered.is_some_and(|commands| commands.iter().any(|one| one == command))
    }

    /// True if it answers what problems there are in a text, and does not only publish them.
    pub(super) fn answers_for_problems(&self) -> bool {
        self.supports("textDocument/diagnostic", "diagnosticProvider")
    }

    /// True if it answers what problems there are in the whole project.
    pub(super) fn tells_all_problems(&self) -> bool {
        let is_offered = |options: &Value| options.get("workspaceDiagnostics") == Some(&Value::Bool(true));
        self.capabilities.get("diagnosticProvider").is_some_and(is_offered)
            || self.inside().options("textDocument/diagnostic").any(is_offered)
    }

    /// True if it can give what is missing of a code action.
    pub(super) fn resolves_actions(&self) -> bool {
        let offered = self.capabilities.pointer("/codeActionProvider/resolveProvider");
        let registered = self
            .inside()
            .options("textDocument/codeAction")
            .any(|options| options.get("resolveProvider").is_some_and(|offered| offered == &Value::Bool(true)));
        offered == Some(&Value::Bool(true)) || registered
    }

    /// The filters of the files whose moving it wants to be told of before: `workspace/willRenameFiles`.
    pub(super) fn move_filters(&self) -> Vec<Value> {
        let offered = self.capabilities.pointer("/workspace/fileOperations/willRename").cloned();
        let inside = self.inside();
        let registered = inside.options("workspace/willRenameFiles").cloned();
        let filters = offered.into_iter().chain(registered).filter_map(|mut options| {
            options.get_mut("filters").map(Value::take).and_then(|filters| match filters {
                Value::Array(filters) => Some(filters),
                _ => None,
            })
        });
        filters.flatten().collect()
    }

    /// Sends the texts that it has to know for a question, and then the question: nothing comes between them. Gives
    /// with it what it was sent, and keeps it from being sent other texts until it has answered, as far as that can be:
    /// some answer by what they see then, and not by what they saw when they were asked. None if what the session sees
    /// has to be looked up anew, since another session has sent it other texts meanwhile.
    ///
    /// # Errors
    /// It has ended, or takes nothing in any more.
    pub(super) fn ask_of(
        &self,
        view: &View,
        asked: Option<(&Path, &Arc<str>)>,
        method: &'static str,
        params: &Value,
    ) -> Result<Option<(Waiting, Hold<'_>)>, RequestError> {
        // Held until the question is queued, so that no other session's texts come between.
        let mut documents = self.documents();
        if !documents.fits(view, asked) {
            return Ok(None);
        }
        documents.sync(view, &self.transport)?;
        let waiting = self.transport.request(method, params)?;
        Ok(Some((waiting, Hold::of(self, &mut documents, Waits::ForAnswer, asked.map(|(path, _)| path)))))
    }

    /// Sends texts that it has to know. None as in [`Client::ask_of`].
    ///
    /// # Errors
    /// As [`Client::ask_of`].
    pub(super) fn sync(&self, view: &View, asked: Option<(&Path, &Arc<str>)>) -> Result<Option<()>, RequestError> {
        let mut documents = self.documents();
        if !documents.fits(view, asked) {
            return Ok(None);
        }
        documents.sync(view, &self.transport).map(Some)
    }

    /// Sends texts that it has to know, and keeps it from being sent other ones, as far as that can be, while one waits
    /// for what it says of them by itself. Of the one that is asked about it says that for what it sees now. None as in
    /// [`Client::ask_of`].
    ///
    /// # Errors
    /// As [`Client::ask_of`].
    pub(super) fn hold(
        &self,
        view: &View,
        asked: Option<(&Path, &Arc<str>)>,
    ) -> Result<Option<Hold<'_>>, RequestError> {
        let mut documents = self.documents();
        if !documents.fits(view, asked) {
            return Ok(None);
        }
        documents.sync(view, &self.transport)?;
        let path = asked.map(|(path, _)| path);
        if let Some(path) = path {
            documents.send_again(path, &self.transport)?;
        }
        Ok(Some(Hold::of(self, &mut documents, Waits::ForWord, path)))
    }

    /// Returns what somebody waits for that it is to say of other texts than these.
    pub(super) fn is_held_from(&self, view: &View) -> Option<Waits> {
        self.documents().disturbs(view)
    }

    /// Tells it something.
    pub(super) fn tell(&self, method: &str, params: &impl Serialize) {
        // One that has ended need not hear it.
        let _ = self.transport.notify(method, params);
    }

    /// Waits until no command of it runs any more, and keeps others from it.
    pub(super) async fn alone(&self) -> Alone {
        let guard = self.commands.clone().lock_owned().await;
        Alone { capture: incoming::Capture::begin(self.inside.clone()), _guard: guard }
    }

    /// The files that it has open with the text of the disk, as they were when they were read.
    pub(super) fn mirrored(&self) -> HashMap<PathBuf, Stamp> {
        self.documents().mirrored()
    }

    /// Returns what it was sent of a text last.
    pub(super) fn synced(&self, path: &Path) -> Option<Synced> {
        self.documents().get(path)
    }

    /// When it was last sent a text.
    pub(super) fn last_change(&self) -> Option<Instant> {
        self.documents().last_change()
    }

    /// When what it sees last became otherwise, by a new text or on disk.
    pub(super) fn last_new_text(&self) -> Option<Instant> {
        self.documents().last_new_text()
    }

    /// Tells it that files were made, changed or deleted on disk, if it wants to know. Those that it is `for` may have
    /// other problems then, or give others to the rest.
    pub(super) fn files_changed(&self, paths: &[&Path], is_for: impl Fn(&Path) -> bool) {
        if paths.is_empty() {
            return;
        }
        // Before the server is told: what it says after that counts.
        self.documents().note_changes(paths.iter().copied().filter(|path| is_for(path)));
        if !self.supports("workspace/didChangeWatchedFiles", "") {
            return;
        }
        let changes: Vec<(&Path, FileChange)> = paths.iter().map(|path| (*path, self.announce(path))).collect();
        if changes.iter().any(|(path, change)| *change != FileChange::Changed && is_for(path)) {
            self.inside().looks_for_files_again();
        }
        let change =
            |(path, change): &(&Path, FileChange)| json!({ "uri": paths::to_uri(path), "type": change.number() });
        let changes: Vec<_> = changes.iter().map(change).collect();
        self.tell("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
    }

    /// Returns the change of a file that the server is to be told of. A file of which it was not told before counts as
    /// made: some look only then for who imports it, and none minds if it knew it.
    fn announce(&self, path: &Path) -> FileChange {
        let is_there = path.exists();
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_there {
            announced.remove(path);
            return FileChange::Deleted;
        }
        if announced.len() >= MAX_ANNOUNCED {
            announced.clear();
        }
        if announced.insert(path.to_owned()) { FileChange::Created } else { FileChange::Changed }
    }

    /// The problems that it last told of a file.
    pub(super) fn published(&self, path: &Path) -> Option<Published> {
        self.inside().published(path)
    }

    /// Somebody waited very long for what it would tell of a file's problems.
    pub(super) fn was_waited_for(&self) {
        self.inside().was_waited_for();
    }

    /// True if it has not told of the problems of any file, although that was waited for very long: it is not one that
    /// does.
    pub(super) fn is_mute(&self) -> bool {
        self.inside().is_mute()
    }

    /// All problems that it told of, and whether there were more than are kept.
    pub(super) fn all_published(&self) -> (Vec<(PathBuf, Published)>, bool) {
        self.inside().all_published()
    }

    /// True if it says that it does something, such as a build.
    pub(super) fn is_at_work(&self) -> bool {
        self.inside().is_at_work()
    }

    /// The last error that it told the user of, if it did.
    pub(super) fn complaint(&self) -> Option<String> {
        self.inside().complaint()
    }

    /// How far it has read the project; and where something is `wide`, so that it takes all of it, whether it has found
    /// the project's files.
    pub(super) fn readiness(&self, is_wide: bool) -> Readiness {
        let inside = self.inside().readiness(is_wide);
        if inside != Readiness::Ready {
            return inside;
        }
        let first_open = self.documents().first_open();
        let settled = first_open.map_or(self.initialized, |opened| opened.max(self.initialized)) + SETTLE;
        if settled > Instant::now() { Readiness::Settling(settled) } else { Readiness::Ready }
    }

    /// Waits until it has read the project, as in [`Client::readiness`], or has ended, or nothing is left to wait for.
    pub(super) async fn ready(&self, is_wide: bool) {
        let mut news = self.transport.news();
        loop {
            news.borrow_and_update();
            if self.ended().is_some() {
                return;
            }
            let until = match self.readiness(is_wide) {
                Readiness::Ready | Readiness::Untold => return,
                Readiness::Settling(until) | Readiness::Finding(until) => Some(until),
                Readiness::Busy(_) => None,
            };
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return },
                () = sleep_until(until) => {}
            }
        }
    }

    /// Changes whenever it says something by itself, and when it ends.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.transport.news()
    }

    /// Returns the news from now on: what it says by itself, and what becomes of its texts.
    pub(super) fn news(&self) -> News {
        News(self.transport.news())
    }

    /// Ends it, if it can be as the protocol says, and waits for that.
    pub(super) async fn stop(&self, why: &str) {
        let goodbye = async {
            let shutdown = self.transport.request("shutdown", &Value::Null)?;
            // Its answer to that does not matter.
            let _ = shutdown.answer().await;
            self.transport.notify("exit", &Value::Null)?;
            self.transport.ended().await;
            Ok::<(), RequestError>(())
        };
        self.transport.means_to_end(why);
        let _ = tokio::time::timeout(GOODBYE, goodbye).await;
        self.kill(why);
        let _ = tokio::time::timeout(GOODBYE, self.transport.ended()).await;
    }

    /// Kills it with all that it started, for this reason.
    pub(super) fn kill(&self, why: &str) {
        self.transport.end(why);
    }

    fn inside(&self) -> MutexGuard<'_, incoming::Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn documents(&self) -> MutexGuard<'_, documents::Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The change of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileChange {
    Created,
    Changed,
    Deleted,
}

impl FileChange {
    /// The protocol's number for it.
    fn number(self) -> u8 {
        match self {
            Self::Created => 1,
            Self::Changed => 2,
            Self::Deleted => 3,
        }
    }
}

/// Nobody else has the server run a command, and the edits that it asks for are kept.
pub(super) struct Alone {
    capture: incoming::Capture,
    _guard: tokio::sync::OwnedMutexGuard<()>,
}

impl Alone {
    /// The edits that a command asked us to make, which are not made. It is waited for even where nobody wants to know
    /// it any more: until it has ended, edits of it may come.
    ///
    /// # Errors
    /// The server's error, unless it asked for edits: some commands fail because those are not made.
    pub(super) async fn edits(self, command: Waiting) -> Result<Vec<Box<RawValue>>, RequestError> {
        let run = tokio::spawn(async move {
            let answer = command.answer().await;
            match (answer, self.capture.edits()) {
                (Ok(_), edits) => Ok(edits),
                (Err(RequestError::Rpc(_)), edits) if !edits.is_empty() => Ok(edits),
                (Err(error), _) => Err(error),
            }
        });
        run.await.unwrap_or_else(|error| Err(RequestError::Malformed(error.to_string())))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.transport.end("it is not needed any more");
    }
}

/// True if a capability is there: some servers say `false` or nothing, others an object.
fn is_offered(capability: Option<&Value>) -> bool {
    !matches!(capability, None | Some(Value::Null | Value::Bool(false)))
}

async fn sleep_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

/// A version, where it is one: gopls gives all that it was built of, as JSON.
fn plain_version(version: String) -> Option<String> {
    let version = match serde_json::from_str::<Value>(&version) {
        Ok(Value::Object(build)) => {
            let own = build.get("Main").and_then(|main| main.get("Version"));
            own.or(build.get("Version")).and_then(Value::as_str)?.to_owned()
        }
        _ => version,
    };
    Some(bounded(version, 100)).filter(|version| !version.is_empty())
}

/// A text of at most so many bytes.
pub(super) fn bounded(mut text: String, most: usize) -> String {
    text.truncate(text.floor_char_boundary(most));
    text
}
