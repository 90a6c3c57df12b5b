//! What commands change in the project: the files are looked at before one and after it, and what differs is recorded
//! with what it was, so that it can be undone like an edit (design D4).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::edit::TextHash;
use agent::store::Store;
use protocol::Event;
use protocol::checkpoint::{ChangedFile, FileImage};
use protocol::event::Severity;
use tokio::sync::oneshot;
use workspace::baseline::{Baseline, Changed, MAX_FILES, Side};
use workspace::buffers::Open;
use workspace::paths::{self, Roots};
use workspace::reader::Reader;
use workspace::review::Application;
use workspace::search::{MayRead, Search};
use workspace::text::hash;

use super::carry::{image, keep};
use super::load::may_read;
use super::{Own, Session};

/// How long a command waits at most until the files have been looked at.
const LOOKING: Duration = Duration::from_secs(3);
/// How long it may take at most to tell what it changed.
const COMPARING: Duration = Duration::from_secs(10);
/// Of one command at most so many changed files are recorded.
const MOST_CHANGED: usize = 2000;
/// Why it is not known what a command made of a file.
const SAVED_TOO: &str = "it was also saved in the editor while the command ran";
const EDITED_TOO: &str = "it was also changed by an accepted edit while the command ran";

/// A command that runs, from the look before it on.
#[derive(Clone)]
pub(super) struct Following {
    /// When each open document was last saved, by its version: what is saved meanwhile is the user's change.
    saved: HashMap<PathBuf, Option<i32>>,
    /// The files that we changed meanwhile, which is recorded otherwise. More of them come while it is looked what the
    /// command changed.
    ours: Arc<Mutex<HashMap<PathBuf, Ours>>>,
    /// Whether it has been looked what it changed, or is about to be.
    looked: bool,
}

/// What accepted hunks made of a file, from the first to the last, as text hashes; none where there is no file.
#[derive(Clone)]
struct Ours {
    from: Option<TextHash>,
    to: Option<TextHash>,
}

/// Who changed a file while a command ran.
enum Whose {
    Commands,
    Others,
    /// Perhaps both, as these words say.
    Both(&'static str),
}

/// How to look at the files after a command, apart from the session's task.
pub(super) struct Look {
    following: Following,
    baseline: Arc<Baseline>,
    search: Search,
    may_keep: Arc<MayRead>,
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
        // From here on: what others change while it is looked is not the command's either.
        let open = self.reader.buffers().all();
        let saved = open.iter().map(|buffer| (buffer.path.clone(), buffer.saved_version)).collect();
        self.following = Some(Following { saved, ours: Arc::default(), looked: false });
        self.applying.values().flatten().for_each(|application| self.changed_by_us(application));
        let (baseline, search, own) = (Arc::clone(&self.baseline), self.search.clone(), self.own.clone());
        let may_keep = may_read(&self.rules, &self.roots);
        tokio::task::spawn_blocking(move || {
            let remembered = baseline.remember(&search, &*may_keep(None), LOOKING).map_err(|error| error.to_string());
            let _ = own.send(Own::Remembered(remembered, reply));
        });
    }

    /// The files have been looked at, all of them or not, or could not be.
    pub(super) fn remembered(&mut self, remembered: Result<bool, String>, reply: oneshot::Sender<()>) {
        let limit = match remembered {
            Ok(all) => (!all).then(|| format!("only the first {MAX_FILES} files of the project are followed")),
            Err(error) => {
                // One that nobody waits for any more says nothing of the command that runs now.
                if !reply.is_closed() {
                    self.following = None;
                }
                Some(error)
            }
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

    /// We are about to change a file ourselves.
    pub(super) fn changed_by_us(&self, application: &Application) {
        let Some(following) = &self.following else { return };
        let mut ours = following.ours.lock().unwrap_or_else(PoisonError::into_inner);
        let to = application.target_text.as_deref().map(hash);
        let first = || Ours { from: application.base_hash.clone(), to: None };
        ours.entry(application.path.clone()).or_insert_with(first).to = to;
    }

    /// How to look at the files after the command, once; none where they were not looked at before it.
    pub(super) fn take_look(&mut self) -> Option<Look> {
        let following = self.following.as_mut().filter(|following| !following.looked)?;
        following.looked = true;
        Some(Look {
            following: following.clone(),
            baseline: Arc::clone(&self.baseline),
            search: self.search.clone(),
            may_keep: may_read(&self.rules, &self.roots),
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
            self.record(Event::FilesChanged { turn_id, tool_call_id: Some(call), files: found.files });
        }
    }
}

impl Look {
    /// What the command changed, with what it was kept. Blocks.
    pub(super) fn find(self) -> Found {
        let may_keep = (self.may_keep)(None);
        let record = |changed| self.recorded(changed);
        match self.baseline.changes(&self.search, &*may_keep, COMPARING, MOST_CHANGED, record) {
            Ok((files, more)) => {
                let warning =
                    format!("the command changed more than {MOST_CHANGED} files; only the first can be undone");
                Found { files, warning: more.then_some(warning) }
            }
            Err(error) => {
                let warning = format!("what the command changed is not known and cannot be undone: {error}");
                Found { files: Vec::new(), warning: Some(warning) }
            }
        }
    }

    /// A changed file for the log; none if it was not the command that changed it.
    fn recorded(&self, changed: Changed) -> Option<ChangedFile> {
        if self.roots.protected(&changed.path).is_some() {
            return None;
        }
        match self.whose(&changed) {
            Whose::Commands => Some(self.kept(changed)),
            Whose::Others => None,
            Whose::Both(words) => {
                let (uri, unknown) = (paths::to_uri(&changed.path), Some(words.to_owned()));
                Some(ChangedFile { uri, before: None, after: None, unknown })
            }
        }
    }

    fn whose(&self, changed: &Changed) -> Whose {
        let is = |side: &Side, text: Option<&TextHash>| match side {
            Side::Absent => text.is_none(),
            Side::Is(whole) => Some(&hash(&whole.decoded.text)) == text,
            Side::Unknown(_) => false,
        };
        if let Open::Yes(buffer) = self.reader.buffers().get(&changed.path) {
            let before = self.following.saved.get(&changed.path).copied().flatten();
            if buffer.saved_version != before {
                let is_as_saved = is(&changed.after, Some(buffer.hash()));
                return if is_as_saved { Whose::Others } else { Whose::Both(SAVED_TOO) };
            }
        }
        let ours = self.following.ours.lock().unwrap_or_else(PoisonError::into_inner).get(&changed.path).cloned();
        match ours {
            None => Whose::Commands,
            Some(ours) if is(&changed.before, ours.from.as_ref()) && is(&changed.after, ours.to.as_ref()) => {
                Whose::Others
            }
            Some(_) => Whose::Both(EDITED_TOO),
        }
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
