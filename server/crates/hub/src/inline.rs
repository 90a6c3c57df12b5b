//! Suggestions where the user types. One task owns the state of all documents; it decides by [`inline`] when a model is
//! asked, and waits for nothing: what takes time runs beside it and reports back.
//!
//! It hears of changes in the order of the wire, so a request is about the text that was there when it came. An answer
//! is compared with the text as it is then: what the user has typed of it since is taken off, and what no longer fits
//! is not shown.

mod ahead;
mod alternatives;
mod asked;
mod closed;
mod counts;
mod deciding;
mod decisions;
mod definitions;
mod document;
mod editing;
mod edits;
mod gate;
mod handle;
mod models;
mod positions;
mod problems;
mod rewriting;
mod run;
mod servers;
mod uses;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use inline::cache::Cache;
use inline::engine::RunId;
use inline::journal::Journal;
use project::buffers::Snapshot;
use protocol::inline::{
    InlineEvent, InlineExplainParams, InlineExplainResult, InlineFeedbackParams, InlineState, InlineStatusParams,
    Reason, Rule,
};
use protocol::role::Role;
use tokio::sync::{mpsc, oneshot};

use self::asked::Waiting;
use self::counts::Counts;
pub use self::counts::suggestion_counts;
use self::decisions::Decisions;
use self::definitions::{Definitions, LookedUp};
use self::document::Document;
use self::edits::{EditMessage, Edits};
use self::gate::Admitted;
pub(crate) use self::handle::Inline;
use self::models::Source;
use self::rewriting::Rewritten;
use self::run::{Answered, Parts};
use crate::config::Config;
use crate::post::{Caller, EditedLines, Shared};
use crate::{ClientId, Reply};

/// So many failures in a row are no chance.
const FAILURES: u32 = 3;
/// The first pause before a model is looked for again that was not there, and the longest.
const RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// The largest document in which anything is suggested, in bytes. What is larger was not written by hand.
const LARGEST: usize = 2 << 20;

/// A document of a client.
type Key = (ClientId, Arc<str>);

enum Message {
    Connected(Caller, Vec<PathBuf>),
    Folders(ClientId, Vec<PathBuf>),
    Gone(ClientId),
    Config(Arc<Config>),
    /// Other files may be sent now.
    Reconsider,
    /// A file was saved, or changed on disk.
    FileChanged(PathBuf),
    Source(u64, Source),
    /// Look for a model again, if this is the configuration still.
    Retry(u64),
    Changed(ClientId, Arc<Snapshot>),
    /// A document is closed, or its text is not known any more.
    Lost(ClientId, String, Rule),
    Ask(Box<Waiting>),
    Withdrawn(Key, u64),
    Judged(ClientId, u64, Vec<(Arc<str>, Result<Admitted, Reason>)>),
    Piece(Key, RunId, String),
    Answered(Key, Box<Answered>),
    Parts(Key, Weak<str>, Arc<Parts>),
    Defined(Key, LookedUp),
    Edits(EditMessage),
    Feedback(ClientId, InlineFeedbackParams),
    Explain(ClientId, InlineExplainParams, Reply<InlineExplainResult>),
    Counts(counts::Event),
    EditedSince(Instant, oneshot::Sender<Vec<EditedLines>>),
}

impl Message {
    /// The end of a search for an edit.
    fn of_edit(client: ClientId, rewritten: Rewritten) -> Self {
        Self::Edits(EditMessage::Answered(client, Box::new(rewritten)))
    }
}

struct Task {
    messages: mpsc::WeakUnboundedSender<Message>,
    is_on: Arc<AtomicBool>,
    shared: Shared,
    config: Arc<Config>,
    source: Source,
    /// The number of the configuration that the source is of: what was begun earlier and comes later is old.
    source_number: u64,
    cache: Cache,
    clients: HashMap<ClientId, Connected>,
    documents: HashMap<Key, Document>,
    /// The documents that were judged, and when.
    admitted: HashMap<Key, (Instant, Result<Admitted, Reason>)>,
    judging: HashSet<Key>,
    judged_number: u64,
    /// The parts of other documents, each of a text.
    parts: HashMap<Key, (Weak<str>, Arc<Parts>)>,
    definitions: Definitions,
    /// True while it is found out which model there is.
    is_resolving: bool,
    /// The requests that wait for that.
    early: Vec<Waiting>,
    /// How often it was looked for in vain.
    retries: u32,
    /// The edits of the user, which the agent is told of, too.
    journal: Journal,
    /// The files of closed documents that the journal still has edits of, by name.
    closed: HashMap<String, PathBuf>,
    decisions: Decisions,
    /// The suggested edits.
    edits: Edits,
    /// How many requests in a row the model's server has failed, and how the last did.
    failures: u32,
    last_failure: Option<(Instant, Reason)>,
    /// The numbers about suggestions.
    counts: Counts,
}

/// A client that is connected.
struct Connected {
    caller: Caller,
    folders: Vec<PathBuf>,
}

impl Task {
    /// A task that a handle sends these messages to. It has no model yet.
    fn new(
        messages: mpsc::WeakUnboundedSender<Message>,
        is_on: Arc<AtomicBool>,
        shared: Shared,
        config: Arc<Config>,
    ) -> Self {
        Self {
            counts: Counts::new(shared.parts.clock.clone()),
            messages,
            is_on,
            shared,
            config,
            source: Source::none(Rule::NotSet.into()),
            source_number: 0,
            cache: Cache::default(),
            clients: HashMap::new(),
            documents: HashMap::new(),
            admitted: HashMap::new(),
            judging: HashSet::new(),
            judged_number: 0,
            parts: HashMap::new(),
            definitions: Definitions::default(),
            is_resolving: false,
            early: Vec::new(),
            retries: 0,
            journal: Journal::default(),
            closed: HashMap::new(),
            decisions: Decisions::default(),
            edits: Edits::default(),
            failures: 0,
            last_failure: None,
        }
    }

    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Message>) {
        loop {
            let due = self.documents.values().filter_map(|document| document.engine.due()).min();
            let timer = async {
                match due {
                    Some(due) => tokio::time::sleep_until(due.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                message = inbox.recv() => match message {
                    Some(message) => self.take(message),
                    None => return,
                },
                () = timer => self.start_due(Instant::now()),
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Connected(caller, folders) => {
                // A client takes it that no model is named until it hears something else.
                let status = self.status();
                let is_set = status.reason.as_ref().is_none_or(|reason| reason.rule != Rule::NotSet);
                if is_set || status.edit_model.is_some() {
                    caller.editor.suggests(status);
                }
                self.clients.insert(caller.id, Connected { caller, folders });
            }
            Message::Gone(client) => self.gone(client),
            Message::Folders(client, folders) => {
                self.clients.entry(client).and_modify(|connected| connected.folders = folders);
                self.reconsider();
            }
            Message::Config(config) => self.configure(config),
            Message::Reconsider => self.reconsider(),
            Message::FileChanged(path) => self.closed_file_changed(&path),
            Message::Source(number, source) => self.take_source(number, source),
            Message::Retry(number) if number == self.source_number && self.source.model.is_err() => self.resolve(),
            Message::Retry(_) => {}
            Message::Changed(client, snapshot) => self.changed(client, &snapshot),
            Message::Lost(client, uri, rule) => self.lost(&(client, Arc::from(uri)), rule),
            Message::Ask(waiting) => self.ask(*waiting),
            Message::Withdrawn(key, number) => self.withdrawn(&key, number),
            Message::Judged(client, number, judged) if number == self.judged_number => self.judged(client, judged),
            Message::Judged(..) => {}
            Message::Piece(key, run, piece) => {
                let document = self.documents.get_mut(&key).filter(|it| it.engine.running() == Some(run));
                let Some(document) = document else { return };
                let text = Arc::clone(document.snapshot.normal());
                document.engine.piece(run, &piece, &text);
                self.end_unneeded(&key, Rule::Mismatch);
            }
            Message::Answered(key, answered) => self.answered(&key, *answered),
            Message::Parts(key, text, parts) => self.keep_parts(key, text, parts),
            Message::Defined(key, looked_up) => self.looked_up(&key, looked_up),
            Message::Edits(message) => self.edit_message(message),
            Message::Feedback(client, params) => self.feedback(client, &params),
            Message::Explain(client, params, reply) => {
                let _ = reply.send(Ok(self.decisions.explain(client, params.uri.as_deref())));
            }
            Message::Counts(event) => self.take_counts(event),
            Message::EditedSince(since, reply) => drop(reply.send(self.edited_since(since))),
        }
    }

    fn gone(&mut self, client: ClientId) {
        self.clients.remove(&client);
        let keys: Vec<_> = self.documents.keys().filter(|(of, _)| *of == client).cloned().collect();
        keys.iter().for_each(|key| self.lost(key, Rule::Closed));
        self.early.retain(|waiting| waiting.asked.client != client);
        self.admitted.retain(|(of, _), _| *of != client);
        self.judging.retain(|(of, _)| *of != client);
        self.decisions.forget_client(client);
        self.edits.forget_client(client);
    }

    fn lost(&mut self, key: &Key, rule: Rule) {
        self.silence(key, &rule.into());
        self.edit_lost(key, rule);
        if let Some(document) = self.documents.remove(key) {
            self.rejected_edits_stay(key.0, &document);
            self.cache.forget(&document.name);
            self.journal.close(&document.name);
            self.counts.closed(&document.name);
            self.closed.retain(|name, _| self.journal.has_edits(name));
            // The edits that were not saved are gone with the document.
            match document.snapshot.is_as_saved() && self.journal.has_edits(&document.name) {
                true => drop(self.closed.insert(document.name, document.snapshot.path.clone())),
                false => drop(self.closed.remove(&document.name)),
            }
        }
        self.parts.remove(key);
        self.definitions.forget(key);
        self.admitted.remove(key);
        self.decisions.forget(key);
    }

    fn configure(&mut self, config: Arc<Config>) {
        let is_other = models::is_other(&self.config, &config) || self.source_number == 0;
        self.config = config;
        self.configure_counts();
        if is_other {
            self.source_number += 1;
            self.retries = 0;
            self.resolve();
        }
        self.reconsider();
    }

    /// Finds out which model there is. Until that is known, nothing is sent to the one before, and requests wait.
    fn resolve(&mut self) {
        self.is_resolving = true;
        for document in self.documents.values_mut() {
            self.early.append(&mut document.waiting);
            document.stop();
        }
        self.is_on.store(self.source.is_any() || models::are_named(&self.config), Ordering::Relaxed);
        let (number, config, shared) = (self.source_number, Arc::clone(&self.config), self.shared.clone());
        self.beside(async move {
            let source = AssertUnwindSafe(models::source(&shared, &config)).catch_unwind().await;
            Message::Source(number, source.unwrap_or_else(|_| Source::none(Rule::Failed.into())))
        });
    }

    fn take_source(&mut self, number: u64, source: Source) {
        if number != self.source_number {
            return;
        }
        let (can, may) = (source.is_any(), models::are_named(&self.config));
        let before = self.status();
        self.is_on.store(can || may, Ordering::Relaxed);
        let is_other_model = |one: &Source, other: &Source| {
            let of = |source: &Source| source.edits.as_ref().ok().map(|model| model.info().id.clone());
            of(one) != of(other)
        };
        if is_other_model(&self.source, &source) {
            self.end_edits();
        }
        self.source = source;
        self.cache = Cache::default();
        self.failures = 0;
        self.count_for_source();
        if self.status() != before {
            self.tell_status();
        }
        if !can {
            self.parts.clear();
        }
        if !can && !may {
            self.admitted.clear();
        }
        // A model that has only to be named is there at once; one of this machine may be started later.
        if self.source.model.is_err() && self.config.chain(Role::Completion).is_some() {
            let pause = (RETRY * 2_u32.saturating_pow(self.retries)).min(LONGEST_RETRY);
            self.retries = self.retries.saturating_add(1);
            self.beside(async move {
                tokio::time::sleep(pause).await;
                Message::Retry(number)
            });
        }
        self.is_resolving = false;
        for waiting in std::mem::take(&mut self.early) {
            self.ask(waiting);
        }
        self.consider_edits();
    }

    /// Notes if the model's server has answered.
    fn note_failure(&mut self, has_failed: bool) {
        let before = self.status().state;
        self.failures = if has_failed { self.failures.saturating_add(1) } else { 0 };
        if self.status().state != before {
            self.tell_status();
        }
    }

    fn status(&self) -> InlineStatusParams {
        let (state, model) = match &self.source.model {
            Err(_) => (InlineState::Off, None),
            Ok(model) if self.failures >= FAILURES => (InlineState::Failing, Some(model.info().id.clone())),
            Ok(model) => (InlineState::Ready, Some(model.info().id.clone())),
        };
        let reason = self
            .source
            .model
            .as_ref()
            .err()
            .cloned()
            .or_else(|| self.last_failure.as_ref().map(|(_, reason)| reason.clone()));
        let edit_model = self.source.edits.as_ref().ok().map(|model| model.info().id.clone());
        let reason = reason.filter(|_| state != InlineState::Ready);
        let status = InlineStatusParams { state, model, edit_model, reason, cost: None, cost_unknown: false };
        self.with_counts(status)
    }

    fn tell_status(&mut self) {
        let status = self.status();
        for client in self.clients.values() {
            client.caller.editor.suggests(status.clone());
        }
        self.counts.told = Some(status);
    }

    /// Forgets what was judged, ends what was begun by it, and decides anew.
    fn reconsider(&mut self) {
        self.judged_number += 1;
        self.admitted.clear();
        self.judging.clear();
        self.definitions.forget_all();
        self.documents.values_mut().for_each(Document::stop);
        let keys: Vec<_> = self.documents.keys().cloned().collect();
        keys.iter().for_each(|key| self.consider(key));
        self.reconsider_edits();
    }

    fn changed(&mut self, client: ClientId, snapshot: &Arc<Snapshot>) {
        let key = (client, Arc::clone(&snapshot.uri));
        if snapshot.text.len() > LARGEST {
            return self.lost(&key, Rule::TooLarge);
        }
        let Some(document) = self.documents.get_mut(&key) else {
            self.documents.insert(key.clone(), Document::new(client, snapshot));
            return self.edit_opened(&key);
        };
        let was_busy = document.engine.is_busy() || document.run.is_some();
        let (is_accepted, old) = (self.edits.is_accepted_by(&key, snapshot.normal()), Arc::clone(&document.snapshot));
        document.changed(snapshot, &mut self.journal, is_accepted, Instant::now());
        self.definitions.changed(&key);
        self.count_change(&key, &old);
        if was_busy {
            self.end_unneeded(&key, Rule::Stale);
        }
        if old.path != snapshot.path {
            self.edit_opened(&key);
        }
        self.edit_follows(&key);
    }

    /// Ends the request of a document that runs, if its answer is of no use any more; then those who wait for it have
    /// nothing to wait for.
    fn end_unneeded(&mut self, key: &Key, rule: Rule) {
        let Some(document) = self.documents.get_mut(key) else { return };
        document.end_unneeded();
        if !document.engine.is_busy() {
            self.silence(key, &rule.into());
        }
    }

    fn ask(&mut self, waiting: Waiting) {
        if self.is_resolving {
            return self.early.push(waiting);
        }
        if self.source.model.is_err() {
            return self.decisions.silent(waiting, self.source.reason());
        }
        let key = (waiting.asked.client, Arc::clone(&waiting.asked.document.uri));
        // The text may have moved on while it was found out which model there is.
        let now = self.clients.get(&key.0).and_then(|client| client.caller.buffers.by_uri(&key.1));
        let Some(now) = now else { return self.decisions.silent(waiting, Rule::Closed.into()) };
        let document = self.documents.entry(key.clone()).or_insert_with(|| Document::new(key.0, &now));
        if document.snapshot.version < waiting.asked.document.version {
            document.changed(&waiting.asked.document, &mut self.journal, false, Instant::now());
        }
        let earlier: Vec<_> = std::mem::take(&mut document.waiting);
        document.waiting.push(waiting);
        earlier.into_iter().for_each(|waiting| self.decisions.silent(waiting, Rule::Overtaken.into()));
        self.consider(&key);
    }

    fn withdrawn(&mut self, key: &Key, number: u64) {
        self.early.retain(|waiting| waiting.number != number);
        let Some(document) = self.documents.get_mut(key) else { return };
        document.waiting.retain(|waiting| waiting.number != number);
        if document.waiting.is_empty() {
            document.withdrawn();
        }
    }

    fn feedback(&mut self, client: ClientId, params: &InlineFeedbackParams) {
        if self.edit_feedback(client, params) {
            return;
        }
        let is_decision = matches!(params.event, InlineEvent::Accepted | InlineEvent::Rejected);
        let Some((key, suggestion)) = self.decisions.suggestion(client, &params.id, is_decision) else { return };
        self.count_feedback(&key, &suggestion, params);
        let Some(document) = self.documents.get_mut(&key) else { return };
        let now = Instant::now();
        match params.event {
            InlineEvent::Shown => document.shown(suggestion),
            InlineEvent::Accepted => document.engine.accepted(now),
            InlineEvent::Rejected => {
                document.shown(suggestion);
                let text = Arc::clone(document.snapshot.normal());
                document.engine.rejected(&text, now);
            }
            InlineEvent::Partly | InlineEvent::Ignored | InlineEvent::Replaced => {}
        }
    }

    /// The lines that users have changed since a time, by file, whether it is open still or not.
    fn edited_since(&mut self, since: Instant) -> Vec<EditedLines> {
        let open: HashMap<&str, &PathBuf> =
            self.documents.values().map(|document| (&*document.name, &document.snapshot.path)).collect();
        let mut files: BTreeMap<PathBuf, Vec<Range<usize>>> = BTreeMap::new();
        for (name, lines) in self.journal.lines_since(since) {
            if let Some(path) = open.get(&*name).copied().or_else(|| self.closed.get(&*name)) {
                files.entry(path.clone()).or_default().push(lines);
            }
        }
        files.into_iter().map(|(path, lines)| EditedLines { path, lines }).collect()
    }

    /// Does something beside the task, which hears of the result.
    fn beside(&self, work: impl Future<Output = Message> + Send + 'static) {
        let messages = self.messages.clone();
        tokio::spawn(async move {
            let message = work.await;
            if let Some(messages) = messages.upgrade() {
                let _ = messages.send(message);
            }
        });
    }
}
