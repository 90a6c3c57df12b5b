//! What commands change in the project: the files are looked at before one and after it, and what differs is recorded
//! with what it was, so that it can be undone like an edit (design D4).

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::store::Store;
use protocol::Event;
use protocol::checkpoint::{ChangedFile, FileImage};
use protocol::event::Severity;
use tokio::sync::oneshot;
use workspace::baseline::{Baseline, Changed, MAX_FILES, Side};
use workspace::buffers::Open;
use workspace::paths::{self, Roots};
use workspace::reader::Reader;
use workspace::search::Search;

use super::carry::{image, keep};
use super::{Own, Session};

/// How long a command waits at most until the files have been looked at.
const LOOKING: Duration = Duration::from_secs(3);
/// Of one command at most so many changed files are recorded.
const MOST_CHANGED: usize = 2000;

/// A command that runs, from the look before it on.
pub(super) struct Following {
    /// When each open document was last saved, by its version: what is saved meanwhile is the user's change.
    saved: HashMap<PathBuf, Option<i32>>,
    /// The files that we changed meanwhile, which is recorded otherwise.
    ours: HashSet<PathBuf>,
}

/// How to look at the files after a command, apart from the session's task.
pub(super) struct Look {
    following: Following,
    baseline: Arc<Baseline>,
    search: Search,
    reader: Arc<Reader>,
    roots: Arc<Roots>,
    store: Arc<dyn Store>,
}

/// What a command changed.
#[derive(Default)]
pub(super) struct Found {
    files: Vec<ChangedFile>,
    /// What the user is to know.
    warning: Option<String>,
}

impl Session {
    /// Looks at the project's files before a command, which waits for it a bounded time.
    pub(super) fn before_command(&mut self, reply: oneshot::Sender<()>) {
        self.following = None;
        if !self.config.undo_commands {
            let _ = reply.send(());
            return;
        }
        let (baseline, search, own) = (Arc::clone(&self.baseline), self.search.clone(), self.own.clone());
        tokio::task::spawn_blocking(move || {
            let remembered = baseline.remember(&search, LOOKING).map_err(|error| error.to_string());
            let _ = own.send(Own::Remembered(remembered, reply));
        });
    }

    /// The files have been looked at, all of them or not, or could not be.
    pub(super) fn remembered(&mut self, remembered: Result<bool, String>, reply: oneshot::Sender<()>) {
        let limit = match remembered {
            Ok(all) => {
                let open = self.reader.buffers().all();
                let saved = open.iter().map(|buffer| (buffer.path.clone(), buffer.saved_version)).collect();
                self.following = Some(Following { saved, ours: HashSet::new() });
                (!all).then(|| format!("only the first {MAX_FILES} files of the project are followed"))
            }
            Err(error) => Some(error),
        };
        // Once: it is so with every command.
        if let Some(limit) = limit
            && !std::mem::replace(&mut self.limit_told, true)
        {
            let text = format!("not all that commands change can be undone here: {limit}");
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        let _ = reply.send(());
    }

    /// We changed a file ourselves.
    pub(super) fn changed_by_us(&mut self, path: PathBuf) {
        if let Some(following) = &mut self.following {
            following.ours.insert(path);
        }
    }

    /// How to look at the files after the command; none where they were not looked at before.
    pub(super) fn take_look(&mut self) -> Option<Look> {
        Some(Look {
            following: self.following.take()?,
            baseline: Arc::clone(&self.baseline),
            search: self.search.clone(),
            reader: Arc::clone(&self.reader),
            roots: Arc::clone(&self.roots),
            store: Arc::clone(&self.shared.parts.store),
        })
    }

    /// Records what a command changed.
    pub(super) fn record_found(&mut self, turn_id: protocol::TurnId, call: protocol::ToolCallId, found: Found) {
        if let Some(text) = found.warning {
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        if !found.files.is_empty() {
            self.record(Event::FilesChanged { turn_id, tool_call_id: call, files: found.files });
        }
    }
}

impl Look {
    /// What the command changed, with what it was kept. Blocks.
    pub(super) fn find(self) -> Found {
        let mut changed = match self.baseline.changes(&self.search) {
            Ok(changed) => changed,
            Err(error) => {
                let warning = format!("what the command changed is not known and cannot be undone: {error}");
                return Found { files: Vec::new(), warning: Some(warning) };
            }
        };
        changed.retain(|changed| self.is_the_commands(changed));
        let count = changed.len();
        let warning = (count > MOST_CHANGED)
            .then(|| format!("the command changed {count} files; only the first {MOST_CHANGED} of them can be undone"));
        changed.truncate(MOST_CHANGED);
        Found { files: changed.into_iter().map(|changed| self.kept(changed)).collect(), warning }
    }

    fn is_the_commands(&self, changed: &Changed) -> bool {
        let saved = match self.reader.buffers().get(&changed.path) {
            Open::Yes(buffer) => {
                let before = self.following.saved.get(&changed.path).copied().flatten();
                buffer.saved_version != before
            }
            Open::No | Open::OutOfSync => false,
        };
        !saved && !self.following.ours.contains(&changed.path) && self.roots.protected(&changed.path).is_none()
    }

    /// A changed file for the log. What it is now need not be kept: that is done before it is taken back.
    fn kept(&self, changed: Changed) -> ChangedFile {
        let mut unknown = None;
        let mut of = |side: Side, kept: bool| -> Option<FileImage> {
            match side {
                Side::Absent => None,
                Side::Is(whole) if !kept => Some(image(&whole)),
                Side::Is(whole) => match keep(&*self.store, &whole) {
                    Ok(image) => Some(image),
                    Err(error) => {
                        unknown = Some(error.to_string());
                        None
                    }
                },
                Side::Unknown(reason) => {
                    unknown = Some(reason.to_owned());
                    None
                }
            }
        };
        let (before, after) = (of(changed.before, true), of(changed.after, false));
        ChangedFile { uri: paths::to_uri(&changed.path), before, after, unknown }
    }
}
