//! The changes by commands and other programs in the project while a turn runs: the files are looked at where it
//! begins, before each command and after it, and where it ends. What differs is recorded with what it was, so that it
//! can be reviewed, and what commands did undone like an edit.
//!
//! [`Watch`] knows when the files were last looked at and what is known to be ours or an editor's since; a [`Look`]
//! compares, apart from the session's task; `taken` is what the session does with what was found.

mod look;
mod taken;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ports::edit::TextHash;
use ports::store::Store;
use project::baseline::Baseline;
use project::buffers::{Buffers, Open, Snapshot};
use project::paths::Roots;
use project::reader::Reader;
use project::review::Application;
use project::search::Search;
use project::text::hash;
use protocol::{ToolCallId, TurnId};
use tokio::sync::{mpsc, oneshot};

pub(super) use self::look::{Found, Look};
use self::taken::AfterCommand;
use super::gate::InForce;
use super::{Caller, Own};
use crate::ClientId;

/// The most time that it may take to tell what a command changed.
const COMPARING: Duration = Duration::from_secs(10);

/// The messages that come back to the session's task for the watch.
pub(super) enum Message {
    /// A turn is about to run a command.
    BeforeCommand(oneshot::Sender<()>),
    /// A command of a turn has ended.
    AfterCommand(TurnId, ToolCallId, oneshot::Sender<Vec<String>>),
    /// The project's files were looked at before a command, all of them or not; or could not be, in words.
    Remembered(Box<Result<(Found, bool), String>>, oneshot::Sender<()>),
    /// The project's files were looked at where nobody waits for it.
    Looked(Box<Found>),
    /// The files that have pending hunks were read after a command.
    ReadAfterCommand(Box<AfterCommand>, oneshot::Sender<Vec<String>>),
    /// The result of the look with this number has been sent.
    LookEnded(u64),
}

/// Follows what changes in the project's files.
pub(super) struct Watch {
    seen: Seen,
    /// Back to the session's task.
    own: mpsc::UnboundedSender<Own>,
    /// The record since the last look; `None` if the files were not looked at.
    following: Option<Following>,
    looks: Looks,
    /// The number of commands' ends that have not been looked at; a cancelled turn does not wait for its own.
    comparing: usize,
    /// True if the user was told that not all that commands change can be undone.
    limit_told: bool,
}

/// The parts that a look is made with.
#[derive(Clone)]
pub(super) struct Seen {
    /// The project's files as they were when they were last looked at.
    pub(super) baseline: Arc<Baseline>,
    pub(super) search: Search,
    pub(super) reader: Arc<Reader>,
    pub(super) roots: Arc<Roots>,
    pub(super) rules: InForce,
    pub(super) store: Arc<dyn Store>,
}

/// The time from one look at the files to the next, in which all that is neither ours nor an editor's is a command's or
/// another program's.
#[derive(Clone)]
pub(super) struct Following {
    /// When each client's open document was last saved, by its version: what is saved meanwhile is the user's change.
    saved: HashMap<(ClientId, PathBuf), i32>,
    /// The hashes of texts saved since, in any window; `None` if a file was typed into before it could be looked at.
    saves: Saves,
    /// Our own writes in this time, each file's in order, which are recorded otherwise. More of them come while a look
    /// compares.
    ours: Arc<Mutex<HashMap<PathBuf, Vec<Ours>>>>,
    /// True if a command runs.
    in_command: bool,
}

type Saves = Arc<Mutex<HashMap<PathBuf, Option<TextHash>>>>;

/// The looks that were begun and have not ended, one after the other.
#[derive(Default)]
struct Looks {
    /// The time that each look looks back at, by its number; our own changes go there too, since it may see them.
    ends: BTreeMap<u64, Option<Following>>,
    /// The number of the last one that was begun.
    begun: u64,
    /// Comes when the last one has ended.
    last: Option<oneshot::Receiver<()>>,
}

impl Looks {
    /// True if one has not ended.
    fn are_on(&self) -> bool {
        !self.ends.is_empty()
    }
}

/// A change of a file by accepted hunks, as text hashes; `None` if there is no file.
#[derive(Clone)]
struct Ours {
    from: Option<TextHash>,
    to: Option<TextHash>,
    /// True if it is on disk for sure; until then it is on its way.
    written: bool,
}

impl Watch {
    /// Nothing is followed yet. What comes of looks comes to the session's task.
    pub(super) fn new(seen: Seen, own: mpsc::UnboundedSender<Own>) -> Self {
        let (following, looks) = (None, Looks::default());
        Self { seen, own, following, looks, comparing: 0, limit_told: false }
    }

    /// True if a look is under way, or a command's end has still to be looked at.
    pub(super) fn is_looking(&self) -> bool {
        self.comparing > 0 || self.looks.are_on()
    }

    /// A command has ended, which will be looked at.
    fn command_ended(&mut self) {
        self.comparing += 1;
    }

    /// Notes that what a command left has been taken.
    fn command_compared(&mut self) {
        self.comparing -= 1;
    }

    /// Follows what changes from here on: what these clients save, and all that is no change of ours.
    fn follow<'c>(&mut self, clients: impl Iterator<Item = &'c Caller>, in_command: bool) {
        let saved = clients.flat_map(|client| {
            let saved = |buffer: Arc<Snapshot>| Some(((client.id, buffer.path.clone()), buffer.saved_version?));
            client.buffers.all().into_iter().filter_map(saved)
        });
        let saved = saved.collect();
        self.following = Some(Following { saved, saves: Arc::default(), ours: Arc::default(), in_command });
    }

    /// Follows nothing any more.
    fn forget(&mut self) {
        self.following = None;
    }

    /// Returns the record since the last look before a command; `None` if the files were not looked at then.
    fn since_command(&self) -> Option<Following> {
        self.following.clone().filter(|following| following.in_command)
    }

    /// True if files are followed, and no command runs.
    fn follows_others(&self) -> bool {
        self.following.as_ref().is_some_and(|following| !following.in_command)
    }

    /// A look at what has changed since the last one. `home` is whose documents the reader reads.
    fn look_back(&mut self, turn: TurnId, calls: Vec<ToolCallId>, home: Option<ClientId>) -> Look {
        let Seen { baseline, search, reader, roots, rules, store } = self.seen.clone();
        let (following, may_keep) = (self.following.take(), rules.may_read(&roots));
        Look { following, turn, calls, until: None, baseline, search, may_keep, reader, home, roots, store }
    }

    /// Begins a look back at what was followed, after the looks before it. It waits for those at most for this time,
    /// and gets as much for itself; none if it is too late to look.
    fn begin_look(
        &mut self,
        since: Option<Following>,
        time: Duration,
        look: impl FnOnce(Option<Duration>) -> Message + Send + 'static,
    ) {
        self.looks.begun += 1;
        let number = self.looks.begun;
        self.looks.ends.insert(number, since);
        let (done, ended) = oneshot::channel::<()>();
        let (before, own) = (self.looks.last.replace(ended), self.own.clone());
        tokio::spawn(async move {
            let mut before = before;
            let late = match &mut before {
                Some(before) => tokio::time::timeout(time, before).await.is_err(),
                None => false,
            };
            let looked = tokio::task::spawn_blocking(move || look((!late).then_some(time))).await;
            let broke = || Message::Looked(Box::new(Found { failed: true, ..Found::default() }));
            let _ = own.send(Own::Watch(looked.unwrap_or_else(|_| broke())));
            let _ = own.send(Own::Watch(Message::LookEnded(number)));
            if let (true, Some(before)) = (late, before) {
                let _ = before.await;
            }
            drop(done);
        });
    }

    /// We are about to change a file ourselves.
    pub(super) fn changed_by_us(&self, application: &Application) {
        for following in self.looks.ends.values().flatten().chain(&self.following) {
            let mut ours = following.ours.lock().unwrap_or_else(PoisonError::into_inner);
            let (from, to) = (application.base_hash.clone(), application.target_text.as_deref().map(hash));
            ours.entry(application.path.clone()).or_default().push(Ours { from, to, written: false });
        }
    }

    /// A change of ours has come to its end: the file was written, or it was not. What arrived in a document that is
    /// open is not on disk before it is saved, which the editor tells.
    pub(super) fn no_longer_coming(&self, application: &Application, written: bool) {
        let (from, to) = (application.base_hash.as_ref(), application.target_text.as_deref().map(hash));
        for following in self.looks.ends.values().flatten().chain(&self.following) {
            let mut ours = following.ours.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(of_file) = ours.get_mut(&application.path) else { continue };
            let is_it = |ours: &Ours| !ours.written && ours.from.as_ref() == from && ours.to == to;
            if let Some(at) = of_file.iter().position(is_it) {
                match of_file.get_mut(at).filter(|_| written) {
                    Some(it) => it.written = true,
                    None => drop(of_file.remove(at)),
                }
            }
        }
    }

    /// A document of a client's has changed, or was saved.
    pub(super) fn note_saved(&self, client: ClientId, buffers: &Buffers, path: &Path) {
        let Open::Yes(buffer) = buffers.get(path) else { return };
        let Some(version) = buffer.saved_version else { return };
        let of_client = (client, path.to_path_buf());
        for following in self.looks.ends.values().flatten().chain(&self.following) {
            if following.saved.get(&of_client) == Some(&version) {
                continue;
            }
            let mut saves = following.saves.lock().unwrap_or_else(PoisonError::into_inner);
            let saved = saves.entry(path.to_path_buf()).or_default();
            if version == buffer.version {
                *saved = Some(buffer.hash().clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
