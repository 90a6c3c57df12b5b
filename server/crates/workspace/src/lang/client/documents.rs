//! The texts that a server was sent: it shall see what the session sees, unsaved and proposed text included.
//!
//! All sessions share a server. So before each question it is sent the texts of the session that asks, where they differ.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::transport::{RequestError, Transport};
use crate::paths;

/// So many files are left open that are as on disk. They are answered about faster a second time.
const MAX_MIRRORED: usize = 32;

/// What a session sees, as far as a server has to be told.
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
    /// What it is written in, by the name that the protocol has for it.
    pub(crate) language: Arc<str>,
    /// The normal text.
    pub(crate) text: Arc<str>,
    /// The editor's version, if it is that of an open document.
    pub(crate) version: Option<i32>,
    /// Whether it is on disk like this, as far as is known.
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
}

/// What a server has open.
pub(super) struct Documents {
    open: HashMap<PathBuf, Document>,
    last_version: i32,
    uses: u64,
    first_open: Option<Instant>,
    last_change: Option<Instant>,
    wants_text: bool,
    wants_saves: bool,
}

struct Document {
    synced: Synced,
    is_saved: bool,
    stamp: Option<Stamp>,
    last_use: u64,
}

impl Stamp {
    /// Of a file; none where it is not there.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        Some(Self { modified: data.modified().ok(), length: data.len() })
    }
}

impl Documents {
    pub(super) fn new(capabilities: &Value) -> Self {
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
            wants_text,
            wants_saves,
        }
    }

    pub(super) fn first_open(&self) -> Option<Instant> {
        self.first_open
    }

    pub(super) fn last_change(&self) -> Option<Instant> {
        self.last_change
    }

    pub(super) fn get(&self, path: &Path) -> Option<Synced> {
        self.open.get(path).map(|document| document.synced.clone())
    }

    pub(super) fn mirrored(&self) -> HashMap<PathBuf, Stamp> {
        self.open.iter().filter_map(|(path, document)| Some((path.clone(), document.stamp?))).collect()
    }

    /// Queues what the server has to be told, so that it sees what the session sees.
    pub(super) fn sync(&mut self, view: &View, transport: &Transport) -> Result<(), RequestError> {
        if !self.wants_text {
            return Ok(());
        }
        let kept: HashSet<&Path> =
            view.texts.iter().map(|text| &*text.path).chain(view.unchanged.iter().map(PathBuf::as_path)).collect();
        let gone: Vec<PathBuf> = self.open.keys().filter(|path| !kept.contains(&***path)).cloned().collect();
        for path in gone {
            self.close(&path, transport)?;
        }
        self.uses += 1;
        for text in &view.texts {
            self.show(text, transport)?;
        }
        self.close_unused(transport)
    }

    fn show(&mut self, text: &Text, transport: &Transport) -> Result<(), RequestError> {
        let uri = paths::to_uri(&text.path);
        let (uses, now) = (self.uses, Instant::now());
        let Some(document) = self.open.get_mut(&text.path) else {
            self.last_version += 1;
            let (version, language) = (self.last_version, &*text.language);
            transport.notify(
                "textDocument/didOpen",
                &json!({ "textDocument": { "uri": uri, "languageId": language, "version": version, "text": text.text } }),
            )?;
            self.first_open.get_or_insert(now);
            self.last_change = Some(now);
            let synced = Synced { version, editors: text.version, text: text.text.clone(), sent: now };
            let document = Document { synced, is_saved: text.is_saved, stamp: text.stamp, last_use: uses };
            self.open.insert(text.path.clone(), document);
            return Ok(());
        };
        let is_new = document.synced.text != text.text;
        if is_new {
            self.last_version += 1;
            self.last_change = Some(now);
            document.synced =
                Synced { version: self.last_version, editors: text.version, text: text.text.clone(), sent: now };
            // The whole text is a change that every server understands, whatever it counts in.
            transport.notify(
                "textDocument/didChange",
                &json!({
                    "textDocument": { "uri": uri, "version": self.last_version },
                    "contentChanges": [{ "text": text.text }],
                }),
            )?;
        }
        if self.wants_saves && text.is_saved && (is_new || !document.is_saved) {
            transport.notify("textDocument/didSave", &json!({ "textDocument": { "uri": uri }, "text": text.text }))?;
        }
        document.synced.editors = text.version;
        (document.is_saved, document.stamp, document.last_use) = (text.is_saved, text.stamp, uses);
        Ok(())
    }

    /// Closes those of the disk that were not asked about for long.
    fn close_unused(&mut self, transport: &Transport) -> Result<(), RequestError> {
        let mut mirrored: Vec<_> = self
            .open
            .iter()
            .filter(|(_, document)| document.stamp.is_some())
            .map(|(path, document)| (document.last_use, path.clone()))
            .collect();
        mirrored.sort_by(|a, b| b.cmp(a));
        for (_, path) in mirrored.into_iter().skip(MAX_MIRRORED) {
            self.close(&path, transport)?;
        }
        Ok(())
    }

    fn close(&mut self, path: &Path, transport: &Transport) -> Result<(), RequestError> {
        self.open.remove(path);
        transport.notify("textDocument/didClose", &json!({ "textDocument": { "uri": paths::to_uri(path) } }))
    }
}
