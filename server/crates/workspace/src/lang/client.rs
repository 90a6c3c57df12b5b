//! One language server: its process, and the conversation with it over LSP.
//!
//! What is written is queued at once and in order, so that a question is always about the texts that were sent before it.
//! What the server says is held in bounds, whatever it says: a message too large, too many of them, or what is no message
//! ends it, and whoever waits hears why.
//!
//! Reading order: `wire` (the shapes of messages), `transport` (the pipes, and who waits for an answer), `capabilities`
//! (what we say that we can), `incoming` (what the server says and asks by itself), `documents` (the texts it was sent).

mod capabilities;
mod documents;
mod incoming;
mod transport;
pub(super) mod wire;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

pub(super) use self::documents::{LATE, Sent, Stamp, Synced, Text, View};
pub(super) use self::incoming::Published;
pub(super) use self::transport::RequestError;
use self::transport::{Transport, Waiting};
use super::table::Definition;
use crate::paths;
use crate::shell::held::HeldId;
use crate::text::PositionEncoding;

/// How long a server may take to answer `initialize`. The slowest, which build a project's model first, take half of it.
const INITIALIZE: Duration = Duration::from_secs(60);
/// How long a server has to end by itself when it is asked to.
const GOODBYE: Duration = Duration::from_secs(2);
/// How long after a server was initialized or saw its first document nothing of it is taken as whole: reading a project is
/// announced only after that has begun.
const SETTLE: Duration = Duration::from_millis(500);

/// A running language server that has been initialized.
pub(super) struct Client {
    transport: Arc<Transport>,
    inside: Arc<Mutex<incoming::Inside>>,
    documents: Mutex<documents::Documents>,
    /// What it said it can, at first.
    capabilities: Value,
    encoding: PositionEncoding,
    version: Option<String>,
    initialized: Instant,
    /// Only one command of a server runs at a time, so that it is known whose edits come.
    commands: tokio::sync::Mutex<()>,
}

/// What a server is started with.
#[derive(Clone, Copy)]
pub(super) struct Start<'s> {
    /// Its program.
    pub(super) program: &'s Path,
    /// The folder of the project.
    pub(super) root: &'s Path,
    /// What holds its process.
    pub(super) supervisor: Option<&'s Path>,
    /// Where it finds programs in turn.
    pub(super) path: Option<&'s OsStr>,
}

/// Texts that a server was sent, while one waits for what it says of them. Dropped, others may be sent.
pub(super) struct Hold<'c> {
    client: &'c Client,
    world: u64,
    path: Option<PathBuf>,
    /// What was sent.
    pub(super) sent: Sent,
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
}

impl Client {
    /// Starts a server and initializes it.
    ///
    /// # Errors
    /// It cannot be started, ends, or does not answer in time.
    pub(super) async fn start(definition: &Definition, start: Start<'_>) -> Result<Self, RequestError> {
        let root = start.root;
        let inside = Arc::new(Mutex::new(incoming::Inside::new(definition, root)));
        let transport = Transport::start(start, &definition.args, inside.clone())?;
        let initialized = Self::initialize(definition, root, transport.clone(), inside).await;
        if let Err(error) = &initialized {
            // One that lives on after it has refused would be nobody's.
            transport.end(&error.to_string());
        }
        initialized
    }

    async fn initialize(
        definition: &Definition,
        root: &Path,
        transport: Arc<Transport>,
        inside: Arc<Mutex<incoming::Inside>>,
    ) -> Result<Self, RequestError> {
        let params = capabilities::initialize(definition, root);
        let within = definition.warmup.unwrap_or(INITIALIZE);
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
        let documents = documents::Documents::new(&answer.capabilities);
        Ok(Self {
            transport,
            inside,
            documents: Mutex::new(documents),
            capabilities: answer.capabilities,
            encoding,
            version: answer.server_info.and_then(|info| info.version).and_then(plain_version),
            initialized: Instant::now(),
            commands: tokio::sync::Mutex::default(),
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

    /// Whether it answers a method, by what it said at first under a key, or registered since.
    pub(super) fn supports(&self, method: &str, provider: &str) -> bool {
        is_offered(self.capabilities.get(provider)) || self.inside().has_registered(method)
    }

    /// Whether it answers what problems there are in the whole project.
    pub(super) fn tells_all_problems(&self) -> bool {
        let is_offered = |options: &Value| options.get("workspaceDiagnostics") == Some(&Value::Bool(true));
        self.capabilities.get("diagnosticProvider").is_some_and(is_offered)
            || self.inside().options("textDocument/diagnostic").any(is_offered)
    }

    /// Whether it can give what is missing of a code action.
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

    /// Sends the texts that it has to know for a question, and then the question: nothing comes between them. Gives with it
    /// what it was sent. None where what the session sees has to be looked up anew, since another
    /// session has sent it other texts meanwhile.
    ///
    /// # Errors
    /// It has ended, or takes nothing in any more.
    pub(super) fn ask_of(
        &self,
        view: &View,
        asked: Option<(&Path, &Arc<str>)>,
        method: &'static str,
        params: &Value,
    ) -> Result<Option<(Waiting, Sent)>, RequestError> {
        // Held until the question is queued, so that no other session's texts come between.
        let mut documents = self.documents();
        if !documents.fits(view, asked) {
            return Ok(None);
        }
        documents.sync(view, &self.transport)?;
        let waiting = self.transport.request(method, params)?;
        Ok(Some((waiting, documents.sent(asked.map(|(path, _)| path)))))
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

    /// Sends texts that it has to know, and keeps it from being sent other ones, as far as that can be, while one waits for
    /// what it says of them by itself. None as in [`Client::ask_of`].
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
        documents.wait(path);
        let (world, sent) = (documents.world(), documents.sent(path));
        Ok(Some(Hold { client: self, world, path: path.map(Path::to_owned), sent }))
    }

    /// Whether somebody waits for what it says of other texts than these.
    pub(super) fn is_held_from(&self, view: &View) -> bool {
        self.documents().disturbs(view)
    }

    /// Asks something that is about no text. Given up, it is cancelled.
    ///
    /// # Errors
    /// What the server says, and as [`Client::ask_of`].
    pub(super) async fn ask(&self, method: &'static str, params: &Value) -> Result<Box<RawValue>, RequestError> {
        self.transport.request(method, params)?.answer().await
    }

    /// Tells it something.
    pub(super) fn tell(&self, method: &str, params: &impl Serialize) {
        // One that has ended need not hear it.
        let _ = self.transport.notify(method, params);
    }

    /// Runs a command of it, and gives the edits that it asked us to make meanwhile, which are not made.
    ///
    /// # Errors
    /// As [`Client::ask`].
    pub(super) async fn run(&self, command: &wire::Command) -> Result<Vec<Box<RawValue>>, RequestError> {
        let _alone = self.commands.lock().await;
        let capture = incoming::Capture::begin(&self.inside);
        let params = json!({ "command": command.command, "arguments": command.arguments });
        self.ask("workspace/executeCommand", &params).await?;
        Ok(capture.edits())
    }

    /// The files that it has open with the text of the disk, as they were when they were read.
    pub(super) fn mirrored(&self) -> HashMap<PathBuf, Stamp> {
        self.documents().mirrored()
    }

    /// What it was sent of a text last.
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

    /// Tells it that files were made, changed or deleted on disk, if it wants to know. Those that it is `for` may have other
    /// problems then, or give others to the rest.
    pub(super) fn files_changed(&self, paths: &[&Path], is_for: impl Fn(&Path) -> bool) {
        if paths.is_empty() || !self.supports("workspace/didChangeWatchedFiles", "") {
            return;
        }
        // Whether one was made or changed no server we know makes a difference of, where it has it.
        let change = |path: &&Path| json!({ "uri": paths::to_uri(path), "type": if path.exists() { 2 } else { 3 } });
        let changes: Vec<_> = paths.iter().map(change).collect();
        self.tell("workspace/didChangeWatchedFiles", &json!({ "changes": changes }));
        self.documents().note_changes(paths.iter().copied().filter(|path| is_for(path)));
    }

    /// The problems that it last told of a file.
    pub(super) fn published(&self, path: &Path) -> Option<Published> {
        self.inside().published(path)
    }

    /// All problems that it told of, and whether there were more than are kept.
    pub(super) fn all_published(&self) -> (Vec<(PathBuf, Published)>, bool) {
        self.inside().all_published()
    }

    /// The last error that it told the user of, if it did.
    pub(super) fn complaint(&self) -> Option<String> {
        self.inside().complaint()
    }

    /// How far it has read the project.
    pub(super) fn readiness(&self) -> Readiness {
        if let Some(what) = self.inside().busy() {
            return Readiness::Busy(what);
        }
        let first_open = self.documents().first_open();
        let settled = first_open.map_or(self.initialized, |opened| opened.max(self.initialized)) + SETTLE;
        if settled > Instant::now() { Readiness::Settling(settled) } else { Readiness::Ready }
    }

    /// Waits until it has read the project, or has ended.
    pub(super) async fn ready(&self) {
        let mut news = self.transport.news();
        loop {
            news.borrow_and_update();
            if self.ended().is_some() {
                return;
            }
            let until = match self.readiness() {
                Readiness::Ready => return,
                Readiness::Settling(until) => Some(until),
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

    /// What it says by itself from now on, and what becomes of its texts.
    pub(super) fn news(&self) -> News {
        News(self.transport.news())
    }

    /// Ends it, if it can be as the protocol says, and waits for that.
    pub(super) async fn stop(&self, why: &str) {
        let goodbye = async {
            let shutdown = self.transport.request("shutdown", &Value::Null)?;
            // What it says to that does not matter.
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

impl Hold<'_> {
    /// Whether the server still sees these texts. Where it does not, what it says may be of others.
    pub(super) fn stands(&self) -> bool {
        let documents = self.client.documents();
        let text = self.path.as_deref().map(|path| documents.get(path).map(|synced| synced.version));
        documents.world() == self.world
            && text.is_none_or(|version| version == self.sent.text.as_ref().map(|it| it.version))
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.client.documents().release(self.world, self.path.as_deref());
        // Others may wait for that.
        self.client.transport.announce();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.transport.end("it is not needed any more");
    }
}

/// Whether a capability is there: some servers say `false` or nothing, others an object.
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
