//! The texts that a server was sent: it shall see what the session sees, unsaved and proposed text included.
//!
//! All sessions share a server. So before each question it is sent the texts of the session that asks, where they
//! differ.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use project::paths;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::incoming::Published;
use super::transport::{RequestError, Transport};

/// So many files are left open that are as on disk. They are answered about faster a second time.
const MAX_MIRRORED: usize = 32;
/// How long after a text was replaced a server may still tell of it. Slow ones take some seconds for a text.
pub(crate) const LATE: Duration = Duration::from_secs(10);
/// Of so many files it is remembered when their texts were replaced, at least for as long as that matters.
const MAX_REPLACED: usize = 1_000;

/// The files as a session sees them, as far as a server has to be told.
#[derive(Default)]
pub(crate) struct View {
    /// The texts that stand over the disk, the one that is asked about, and those open ones that changed on disk.
    pub(crate) texts: Vec<Text>,
    /// The files that are open with the text of the disk, and have not changed.
    pub(crate) unchanged: HashSet<PathBuf>,
}

/// A text of a session.
pub(crate) struct Text {
    /// The file: absolute, links resolved.
    pub(crate) path: PathBuf,
    /// Its language, by the name that the protocol has for it.
    pub(crate) language: Arc<str>,
    /// The normal text.
    pub(crate) text: Arc<str>,
    /// The editor's version, if it is that of an open document.
    pub(crate) version: Option<i32>,
    /// True if it is on disk like this, as far as is known.
    pub(crate) is_saved: bool,
    /// The file on disk that it was read from, if it is of the disk.
    pub(crate) stamp: Option<Stamp>,
}

/// Tells whether a file on disk is as it was, as well as can be told without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
}

/// A text that a server was sent.
#[derive(Clone)]
pub(crate) struct Synced {
    /// Our version of it, by which the server calls it.
    pub(crate) version: i32,
    /// The editor's version.
    pub(crate) editors: Option<i32>,
    /// The text.
    pub(crate) text: Arc<str>,
    /// When it was sent.
    pub(crate) sent: Instant,
    /// The version by which, and when, this same text was sent first.
    first: (i32, Instant),
    /// The versions from this one on were sent at once, with nothing between them.
    at_once_since: i32,
    /// When the text of the same file before it was replaced or closed, if there was one.
    replaced: Option<Instant>,
    /// Since when it is on disk like this, as far as is known; none if it is not.
    pub(crate) saved: Option<Instant>,
}

/// The texts that a server saw when it was asked something.
#[derive(Clone, Default)]
pub(crate) struct Sent {
    /// The one that was asked about.
    pub(crate) text: Option<Synced>,
    /// All that it has open.
    pub(crate) open: HashMap<PathBuf, Synced>,
    /// When that was, by the clock that files are dated by.
    pub(crate) at: Option<SystemTime>,
}

impl Sent {
    /// The editor's version of a file, if it is open there.
    pub(crate) fn editors(&self, path: &Path) -> Option<i32> {
        self.open.get(path)?.editors
    }

    /// True if the texts are the same as at another question, as far as both know them.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        let is_same = |one: &Synced, other: &Synced| one.text == other.text;
        let is_same_at =
            |(path, one): (&PathBuf, &Synced)| other.open.get(path).is_none_or(|other| is_same(one, other));
        let asked = match (&self.text, &other.text) {
            (Some(one), Some(other)) => is_same(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        asked && self.open.iter().all(is_same_at)
    }
}

impl Synced {
    /// True if what a server told of the file is of this text, as far as it says.
    pub(crate) fn is_told_of(&self, published: &Published) -> bool {
        match published.version {
            Some(version) => self.is_sent_by(version),
            None => published.at >= self.sent,
        }
    }

    /// True if it was sent by this version, of which nothing that the server sees was changed since.
    pub(crate) fn is_sent_by(&self, version: i32) -> bool {
        (self.at_once_since..=self.version).contains(&version)
    }

    /// True if it is of this text, whatever the server saw of others then.
    pub(crate) fn is_text_of(&self, published: &Published) -> bool {
        let (version, sent) = self.first;
        match published.version {
            Some(of) => (version..=self.version).contains(&of),
            None => published.at >= sent,
        }
    }

    /// True if the server was sent the same text before, when it saw something else otherwise.
    pub(crate) fn is_sent_again(&self) -> bool {
        self.first.0 != self.at_once_since
    }

    /// True if it may as well be of the text before: no version is said, and that one was replaced only a moment
    /// before.
    pub(crate) fn is_confused_by(&self, published: &Published) -> bool {
        published.version.is_none() && self.replaced.is_some_and(|replaced| published.at <= replaced + LATE)
    }
}

/// The documents that a server has open.
pub(super) struct Documents {
    open: HashMap<PathBuf, Document>,
    last_version: i32,
    uses: u64,
    first_open: Option<Instant>,
    last_change: Option<Instant>,
    last_new_text: Option<Instant>,
    replaced: HashMap<PathBuf, Instant>,
    /// Another number whenever what the server sees becomes otherwise: by another text, not by one that is as on disk
    /// and is only opened or closed.
    world: u64,
    /// How many wait for an answer to a question about this world, and how many for what the server says of it by
    /// itself.
    waiting: (usize, usize),
    wants_text: bool,
    wants_saves: bool,
    resend_options: Map<String, Value>,
}

/// The thing that is waited for by who wants a server to go on seeing the same texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The answer to a question.
    ForAnswer,
    /// The server's word on the texts, which it says by itself.
    ForWord,
}

struct Document {
    synced: Synced,
    stamp: Option<Stamp>,
    last_use: u64,
    /// How many wait for what the server says of it.
    waiting: usize,
}

impl Stamp {
    /// Of a file; none if it is not there.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        Some(Self { modified: data.modified().ok(), length: data.len() })
    }

    /// True if the file was last changed before this time, as it says itself.
    pub(crate) fn is_before(&self, time: SystemTime) -> bool {
        self.modified.is_some_and(|modified| modified < time)
    }
}

/// The time as files are dated by it. On Linux their clock moves in steps of some milliseconds, so that a file that is
/// written now may be dated before what the finer clock says.
fn file_time() -> SystemTime {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = Duration::try_from(clock_gettime(ClockId::RealtimeCoarse));
        time.map_or_else(|_| SystemTime::now(), |time| SystemTime::UNIX_EPOCH + time)
    }
    #[cfg(not(target_os = "linux"))]
    SystemTime::now()
}

impl Documents {
    pub(super) fn new(capabilities: &Value, resend_options: &Map<String, Value>) -> Self {
        let sync = capabilities.get("textDocumentSync");
        let wants_text = match sync {
            Some(Value::Number(kind)) => kind.as_u64() != Some(0),
            Some(Value::Object(options)) => options.get("openClose") != Some(&Value::Bool(false)),
            _ => false,
        };
        let save = sync.and_then(|sync| sync.get("save"));
        let wants_saves = matches!(sync, Some(Value::Number(_))) || super::is_offered(save);
        Self {
            open: HashMap::new(),
            last_version: 0,
            uses: 0,
            first_open: None,
            last_change: None,
            last_new_text: None,
            replaced: HashMap::new(),
            world: 0,
            waiting: (0, 0),
            wants_text,
            wants_saves,
            resend_options: resend_options.clone(),
        }
    }

    pub(super) fn first_open(&self) -> Option<Instant> {
        self.first_open
    }

    /// When a text was last opened or became another.
    pub(super) fn last_change(&self) -> Option<Instant> {
        self.last_change
    }

    /// When what the server sees last became otherwise.
    pub(super) fn last_new_text(&self) -> Option<Instant> {
        self.last_new_text
    }

    /// Files became otherwise on disk. Of those that are open the server goes by what it was sent.
    pub(super) fn note_changes<'p>(&mut self, mut paths: impl Iterator<Item = &'p Path>) {
        if paths.any(|path| !self.open.contains_key(path)) {
            self.last_new_text = Some(Instant::now());
        }
    }

    pub(super) fn get(&self, path: &Path) -> Option<Synced> {
        self.open.get(path).map(|document| document.synced.clone())
    }

    /// Returns what the server sees, when it is asked about this file.
    pub(super) fn sent(&self, asked: Option<&Path>) -> Sent {
        let open = self.open.iter().map(|(path, document)| (path.clone(), document.synced.clone()));
        Sent { text: asked.and_then(|path| self.get(path)), open: open.collect(), at: Some(file_time()) }
    }

    pub(super) fn mirrored(&self) -> HashMap<PathBuf, Stamp> {
        self.open.iter().filter_map(|(path, document)| Some((path.clone(), document.stamp?))).collect()
    }

    /// Returns the number of the world that the server sees.
    pub(super) fn world(&self) -> u64 {
        self.world
    }

    /// Somebody waits for what the server says of what it sees now, and of this file in it.
    pub(super) fn wait(&mut self, waits: Waits, path: Option<&Path>) {
        *self.count(waits) += 1;
        if let Some(document) = path.and_then(|path| self.open.get_mut(path)) {
            document.waiting += 1;
        }
    }

    /// One who [waited](Self::wait) in this world does not any more.
    pub(super) fn release(&mut self, world: u64, waits: Waits, path: Option<&Path>) {
        // In another one nobody waited yet.
        if self.world == world {
            let count = self.count(waits);
            *count = count.saturating_sub(1);
            if let Some(document) = path.and_then(|path| self.open.get_mut(path)) {
                document.waiting = document.waiting.saturating_sub(1);
            }
        }
    }

    fn count(&mut self, waits: Waits) -> &mut usize {
        match waits {
            Waits::ForAnswer => &mut self.waiting.0,
            Waits::ForWord => &mut self.waiting.1,
        }
    }

    /// True if what a session sees is still as it was looked up: what it takes as open, and of the disk, may have
    /// become otherwise by another session since.
    pub(super) fn fits(&self, view: &View, asked: Option<(&Path, &Arc<str>)>) -> bool {
        let is_of_disk = |path: &PathBuf| self.open.get(path).is_none_or(|document| document.synced.saved.is_some());
        let is_asked = |(path, text): (&Path, &Arc<str>)| {
            view.texts.iter().any(|shown| shown.path == path)
                || self.open.get(path).is_some_and(|document| document.synced.text == *text)
        };
        !self.wants_text || (view.unchanged.iter().all(is_of_disk) && asked.is_none_or(is_asked))
    }

    /// Returns what somebody waits for of the server, if it would see something else if it were sent what this session
    /// sees. A text that changed on disk is better sent.
    pub(super) fn disturbs(&self, view: &View) -> Option<Waits> {
        let waits = match self.waiting {
            (0, 0) => return None,
            (_, 0) => Waits::ForAnswer,
            (_, _) => Waits::ForWord,
        };
        let differs = |text: &Text| match self.open.get(&text.path) {
            Some(document) => document.synced.text != text.text && !(document.synced.saved.is_some() && text.is_saved),
            None => !text.is_saved,
        };
        let goes = |(path, document): (&PathBuf, &Document)| {
            document.synced.saved.is_none() && !view.texts.iter().any(|text| text.path == *path)
        };
        let disturbs = self.wants_text && (view.texts.iter().any(differs) || self.open.iter().any(goes));
        disturbs.then_some(waits)
    }

    /// Queues what the server has to be told, so that it sees what the session sees.
    pub(super) fn sync(&mut self, view: &View, transport: &Transport) -> Result<(), RequestError> {
        if !self.wants_text {
            return Ok(());
        }
        let before = self.world;
        let kept: HashSet<&Path> =
            view.texts.iter().map(|text| &*text.path).chain(view.unchanged.iter().map(PathBuf::as_path)).collect();
        let is_gone = |(path, document): &(&PathBuf, &Document)| {
            // One that is as on disk and was opened since by another session that waits for it is left to that.
            !kept.contains(&***path) && (document.synced.saved.is_none() || document.waiting == 0)
        };
        let gone: Vec<PathBuf> = self.open.iter().filter(is_gone).map(|(path, _)| path.clone()).collect();
        for path in gone {
            self.close(&path, transport)?;
        }
        self.uses += 1;
        for text in &view.texts {
            self.show(text, transport)?;
        }
        self.close_unused(transport)?;
        if self.world != before {
            // Who waited for what it says of the world before has to begin anew.
            self.waiting = (0, 0);
            self.open.values_mut().for_each(|document| document.waiting = 0);
            transport.announce();
        }
        Ok(())
    }

    fn show(&mut self, text: &Text, transport: &Transport) -> Result<(), RequestError> {
        let uri = paths::to_uri(&text.path);
        let (uses, now) = (self.uses, Instant::now());
        let saved = text.is_saved.then_some(now);
        let Some(document) = self.open.get_mut(&text.path) else {
            self.last_version += 1;
            let (first, language) = (self.last_version, &*text.language);
            transport.notify(
                "textDocument/didOpen",
                &json!({ "textDocument": { "uri": uri, "languageId": language, "version": first, "text": text.text } }),
            )?;
            self.first_open.get_or_insert(now);
            self.last_change = Some(now);
            if !text.is_saved {
                // Editors open what is on disk, and change it then. Of one that is opened as it is not on disk, pyright
                // looks at the files that import it only after a change.
                self.last_version += 1;
                change(&uri, self.last_version, &text.text, Map::new(), transport)?;
                self.is_another_world(now);
            }
            let synced = Synced {
                version: self.last_version,
                editors: text.version,
                text: text.text.clone(),
                sent: now,
                first: (first, now),
                at_once_since: first,
                replaced: self.replaced.get(&text.path).copied(),
                saved,
            };
            let document = Document { synced, stamp: text.stamp, last_use: uses, waiting: 0 };
            self.open.insert(text.path.clone(), document);
            return Ok(());
        };
        let (is_new, was_saved) = (document.synced.text != text.text, document.synced.saved.is_some());
        if is_new {
            self.last_version += 1;
            let (version, replaced) = (self.last_version, Some(now));
            document.synced = Synced {
                version,
                editors: text.version,
                text: text.text.clone(),
                sent: now,
                first: (version, now),
                at_once_since: version,
                replaced,
                saved,
            };
            change(&uri, version, &text.text, Map::new(), transport)?;
        }
        if self.wants_saves && text.is_saved && (is_new || !was_saved) {
            transport.notify("textDocument/didSave", &json!({ "textDocument": { "uri": uri }, "text": text.text }))?;
        }
        document.synced.editors = text.version;
        document.synced.saved = saved.map(|now| document.synced.saved.unwrap_or(now));
        (document.stamp, document.last_use) = (text.stamp, uses);
        if is_new {
            self.last_change = Some(now);
            self.is_another_world(now);
        }
        Ok(())
    }

    /// Queues a text once more, if something else that the server sees became otherwise since it was sent: many tell of
    /// its problems anew only then, and that what they tell is new the version shows.
    pub(super) fn send_again(&mut self, path: &Path, transport: &Transport) -> Result<(), RequestError> {
        let (changed, now) = (self.last_new_text, Instant::now());
        let Some(document) = self.open.get_mut(path) else { return Ok(()) };
        if changed.is_none_or(|changed| document.synced.sent >= changed) {
            return Ok(());
        }
        self.last_version += 1;
        let synced = &mut document.synced;
        (synced.version, synced.at_once_since) = (self.last_version, self.last_version);
        (synced.sent, synced.replaced) = (now, Some(now));
        self.last_change = Some(now);
        change(&paths::to_uri(path), self.last_version, &synced.text, self.resend_options.clone(), transport)
    }

    /// Closes those of the disk that were not asked about for long.
    fn close_unused(&mut self, transport: &Transport) -> Result<(), RequestError> {
        let mut mirrored: Vec<_> = self
            .open
            .iter()
            .filter(|(_, document)| document.stamp.is_some())
            .map(|(path, document)| (document.waiting > 0, document.last_use, path.clone()))
            .collect();
        mirrored.sort_by(|a, b| b.cmp(a));
        for (is_awaited, _, path) in mirrored.into_iter().skip(MAX_MIRRORED) {
            if !is_awaited {
                self.close(&path, transport)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, path: &Path, transport: &Transport) -> Result<(), RequestError> {
        let now = Instant::now();
        if self.open.remove(path).is_some_and(|document| document.synced.saved.is_none()) {
            self.is_another_world(now);
        }
        if self.replaced.len() >= MAX_REPLACED {
            self.replaced.retain(|_, at| *at + LATE >= now);
        }
        self.replaced.insert(path.to_owned(), now);
        transport.notify("textDocument/didClose", &json!({ "textDocument": { "uri": paths::to_uri(path) } }))
    }

    fn is_another_world(&mut self, now: Instant) {
        self.world += 1;
        self.last_new_text = Some(now);
    }
}

/// Queues a text by a version of it, with what else a server wants to hear of that. The whole text is a change that
/// every server understands, whatever it counts in.
fn change(
    uri: &str,
    version: i32,
    text: &str,
    mut params: Map<String, Value>,
    transport: &Transport,
) -> Result<(), RequestError> {
    params.insert("textDocument".to_owned(), json!({ "uri": uri, "version": version }));
    params.insert("contentChanges".to_owned(), json!([{ "text": text }]));
    transport.notify("textDocument/didChange", &params)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its files itself")]

    use super::*;

    #[test]
    fn a_file_that_is_written_after_a_question_is_not_dated_before_it() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..200 {
            // Of one whose date somebody has looked at, newer kernels take the finer clock.
            let path = folder.path().join(round.to_string());
            let asked = file_time();
            std::fs::write(&path, "").unwrap();
            assert!(!Stamp::of(&path).unwrap().is_before(asked), "round {round}");
        }
    }
}
