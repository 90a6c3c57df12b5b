//! The suggested edits of the clients: each has at most one that is asked for, and one that is on the screen.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use inline::edit::{Pending, ghost, nearest};
use inline::pace::Pace;
use inline::rebase::Hunk;
use inline::rejected::Rejected;
use ports::edit::TextHash;
use project::buffers::Snapshot;
use project::text::PositionEncoding;
use protocol::content;
use protocol::inline::{
    GhostText, InlineAcceptParams, InlineAcceptResult, InlineEdit, InlineEditKind, InlineEditResult, InlineHunk, Reason,
};
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::Key;
use super::asked::Asked;
use super::positions::lines;
use super::rewriting::{Found, Rewritten};
use super::uses::{Declaration, Settled};
use crate::{ClientId, Reply};

/// The most things of one kind that are remembered of files that are not open.
const REMEMBERED: usize = 32;

/// The messages about suggested edits.
pub(super) enum EditMessage {
    Ask(Box<WaitingEdit>),
    Withdrawn(ClientId, u64),
    /// The user has paused long enough since the request with this number.
    Due(ClientId, u64),
    Answered(ClientId, Box<Rewritten>),
    Accept(ClientId, InlineAcceptParams, Reply<InlineAcceptResult>),
    /// An accepted edit is in its document, or is not, for this reason.
    Landed(ClientId, u64, Result<(), String>),
}

impl EditMessage {
    /// The client that it is about.
    pub(super) fn client(&self) -> ClientId {
        match self {
            Self::Ask(waiting) => waiting.asked.client,
            Self::Withdrawn(client, _)
            | Self::Due(client, _)
            | Self::Answered(client, _)
            | Self::Accept(client, ..)
            | Self::Landed(client, ..) => *client,
        }
    }
}

/// A request for an edit that waits for its answer.
pub(super) struct WaitingEdit {
    pub(super) asked: Asked,
    pub(super) answer: oneshot::Sender<InlineEditResult>,
    pub(super) number: u64,
    /// The number of the search that answers it: its own, or one that was begun before it came.
    pub(super) search: u64,
    pub(super) begun: Instant,
    /// True if a model is asked, or is to be.
    pub(super) is_decided: bool,
}

/// The suggested edits of all clients.
#[derive(Default)]
pub(super) struct Edits {
    of: HashMap<ClientId, OfClient>,
}

/// The suggested edits of a client.
#[derive(Default)]
pub(super) struct OfClient {
    pub(super) pace: Pace,
    pub(super) waiting: Option<WaitingEdit>,
    /// Dropping it ends the request to a model that runs.
    pub(super) run: Option<DropGuard>,
    pub(super) suggested: Option<Suggested>,
    pub(super) landing: Option<Landing>,
    pub(super) ahead: Option<Ahead>,
    /// The name of the edit that was suggested last.
    pub(super) last: Option<String>,
    /// The rejections in files that are not open.
    rejected_there: VecDeque<RejectedThere>,
    /// The files that are not open in which a declaration changes nothing.
    in_vain: VecDeque<Settled>,
    /// The declarations without uses in other files, or with none that is left.
    pub(super) searched: VecDeque<Declaration>,
}

/// The edit after the one that is suggested, looked for as if that had been accepted.
pub(super) struct Ahead {
    pub(super) number: u64,
    pub(super) key: Key,
    /// The text with the suggested edit.
    pub(super) text: Arc<str>,
    /// The outcome, once it is there.
    pub(super) found: Option<Result<Found, Reason>>,
    /// Dropping it ends the request.
    pub(super) _run: DropGuard,
}

/// The edits of a file that is not open that the user rejected.
struct RejectedThere {
    path: PathBuf,
    text: TextHash,
    edits: Rejected,
}

/// An edit that the client has.
pub(super) struct Suggested {
    pub(super) id: String,
    /// Grows with every change of the hunks, whose names have it.
    generation: u32,
    pub(super) kind: InlineEditKind,
    /// The document that it changes.
    pub(super) key: Key,
    /// The file as it was read, if it is not open.
    pub(super) closed: Option<Arc<Snapshot>>,
    pub(super) pending: Pending,
    pub(super) model: Option<String>,
    pub(super) encoding: PositionEncoding,
    /// The cursor as far as it is known, in bytes of the document.
    pub(super) cursor: usize,
    /// The changes of the document since it was suggested that did nothing of it.
    pub(super) passed_over: u32,
}

/// An edit on its way into its document.
pub(super) struct Landing {
    pub(super) number: u64,
    /// The edit's name.
    pub(super) id: String,
    /// The document.
    pub(super) key: Key,
    /// The text that the document is to have then.
    pub(super) text: Arc<str>,
    /// The hunks that are left in it.
    pub(super) rest: Vec<Hunk>,
    /// The parts of it that are new.
    pub(super) new: Vec<Range<usize>>,
    /// The end of what is put into it, in bytes of that text.
    pub(super) cursor: usize,
    pub(super) encoding: PositionEncoding,
    pub(super) reply: Reply<InlineAcceptResult>,
    /// The text before, and the hunks that are accepted.
    pub(super) edit: (Arc<str>, Vec<Hunk>),
    pub(super) model: Option<String>,
    /// The edit as it was, until its document has the text.
    pub(super) suggested: Option<Suggested>,
}

impl WaitingEdit {
    pub(super) fn new(asked: Asked, answer: oneshot::Sender<InlineEditResult>, number: u64) -> Self {
        Self { asked, answer, number, search: number, begun: Instant::now(), is_decided: false }
    }
}

impl Edits {
    /// The edits of a client.
    pub(super) fn of(&mut self, client: ClientId) -> &mut OfClient {
        self.of.entry(client).or_default()
    }

    /// The edits of a client that has asked for one.
    pub(super) fn get(&self, client: ClientId) -> Option<&OfClient> {
        self.of.get(&client)
    }

    /// The clients that have asked.
    pub(super) fn clients(&self) -> Vec<ClientId> {
        self.of.keys().copied().collect()
    }

    pub(super) fn forget_client(&mut self, client: ClientId) {
        self.of.remove(&client);
    }

    /// True if a document's text is now what accepting its edit, or a hunk of it, gives.
    pub(super) fn is_accepted_by(&self, key: &Key, now: &str) -> bool {
        let Some(of) = self.of.get(&key.0) else { return false };
        let landing = of.landing.as_ref().is_some_and(|it| it.key == *key && *it.text == *now);
        landing || of.suggested.as_ref().is_some_and(|it| it.key == *key && it.pending.is_accepted_by(now))
    }
}

impl OfClient {
    /// True if the edit for this text is being looked for, or was found, before it was asked for.
    pub(super) fn is_ahead(&self, key: &Key, text: &Arc<str>) -> bool {
        self.ahead.as_ref().is_some_and(|ahead| ahead.key == *key && *ahead.text == **text)
    }

    /// Lets go what is looked for ahead, unless it is for this text or for the one that the suggested edit leads to.
    /// Returns the request that waits for it, if one does.
    pub(super) fn keep_ahead(&mut self, key: &Key, now: &Arc<str>) -> Option<WaitingEdit> {
        let (suggested, landing, waiting) = (self.suggested.as_ref(), self.landing.as_ref(), self.waiting.as_ref());
        let dropped = self.ahead.take_if(|ahead| {
            let is_awaited = waiting.is_some_and(|waiting| waiting.search == ahead.number);
            let is_now = ahead.key == *key && *ahead.text == **now;
            let is_to_come = suggested.is_some_and(|it| it.key == ahead.key && it.is_as_asked())
                || landing.is_some_and(|it| it.key == ahead.key);
            // A change of another document is no reason to let somebody wait in vain.
            let is_elsewhere = is_awaited && ahead.key != *key;
            !(is_now || is_to_come || is_elsewhere)
        })?;
        self.waiting.take_if(|waiting| waiting.search == dropped.number)
    }

    /// If a document has the text of its accepted edit, what is left of the edit is suggested.
    pub(super) fn take_landed(&mut self, key: &Key, now: &Arc<str>) {
        let Some(landing) = self.landing.as_mut().filter(|it| it.key == *key && *it.text == **now) else { return };
        let rest = std::mem::take(&mut landing.rest);
        let Some(mut suggested) = landing.suggested.take().filter(|_| !rest.is_empty()) else { return };
        suggested.replace(Pending::new(Arc::clone(now), rest));
        self.suggested = Some(suggested);
    }

    /// Remembers what was rejected of a file that is not open.
    pub(super) fn reject_there(&mut self, file: &Snapshot, edits: Rejected) {
        if edits.is_empty() {
            return;
        }
        let is_same = |it: &&mut RejectedThere| it.path == file.path && it.text == *file.hash();
        match self.rejected_there.iter_mut().find(is_same) {
            Some(there) => there.edits.append(edits),
            None => {
                let there = RejectedThere { path: file.path.clone(), text: file.hash().clone(), edits };
                push(&mut self.rejected_there, there);
            }
        }
    }

    /// Takes the rejections in a file from before it was opened with the same text.
    pub(super) fn take_rejected_there(&mut self, document: &Snapshot) -> Rejected {
        let mut taken = Rejected::default();
        let is_of = |there: &RejectedThere| there.path == document.path && there.text == *document.hash();
        for there in std::mem::take(&mut self.rejected_there) {
            match is_of(&there) {
                true => taken.append(there.edits),
                false => self.rejected_there.push_back(there),
            }
        }
        taken
    }

    /// The files that are not open in which nothing is to be suggested.
    pub(super) fn settled(&self) -> Vec<Settled> {
        let settled = |there: &RejectedThere| {
            let (path, text) = (there.path.clone(), there.text.clone());
            Settled { path, text, declaration: None }
        };
        self.rejected_there.iter().map(settled).chain(self.in_vain.iter().cloned()).collect()
    }

    /// Remembers what a search has found out about files that are not open.
    pub(super) fn learn(&mut self, in_vain: Vec<Settled>, searched: Option<Declaration>) {
        in_vain.into_iter().for_each(|settled| push(&mut self.in_vain, settled));
        if let Some(searched) = searched {
            push(&mut self.searched, searched);
        }
    }
}

impl Suggested {
    pub(super) fn new(
        id: String,
        kind: InlineEditKind,
        key: Key,
        pending: Pending,
        model: Option<String>,
        encoding: PositionEncoding,
        cursor: usize,
    ) -> Self {
        Self { id, generation: 0, kind, key, closed: None, pending, model, encoding, cursor, passed_over: 0 }
    }

    /// Gives the edit other hunks.
    pub(super) fn replace(&mut self, pending: Pending) {
        self.pending = pending;
        self.generation += 1;
    }

    /// True if it is as it was when it was suggested.
    fn is_as_asked(&self) -> bool {
        self.generation == 0
    }

    /// The hunks have moved.
    pub(super) fn moved(&mut self) {
        self.generation += 1;
    }

    /// The indices of hunks by their names, of all without names; none if a name is of an earlier generation.
    pub(super) fn indices(&self, names: Option<&[String]>) -> Option<Vec<usize>> {
        match names {
            None => Some((0..self.pending.hunks().len()).collect()),
            Some(names) => names.iter().map(|name| self.index(name)).collect(),
        }
    }

    /// The index of a hunk by its name.
    pub(super) fn index(&self, name: &str) -> Option<usize> {
        let (generation, index) = name.split_once('.')?;
        let index = index.parse().ok().filter(|index| *index < self.pending.hunks().len())?;
        (generation.parse() == Ok(self.generation)).then_some(index)
    }

    /// The edit as the client sees it. Its text is that of the document.
    pub(super) fn to_wire(&self, document: &Snapshot) -> InlineEdit {
        let hunks = self.pending.hunks();
        // Once for all of them: for a text with CRLF they have to be counted.
        let lines = lines(document);
        let range = |bytes: Range<usize>| {
            let at = |offset| lines.position(document.normal(), offset, self.encoding);
            content::Range { start: at(bytes.start), end: at(bytes.end) }
        };
        let of_hunk = |(index, hunk): (usize, &Hunk)| InlineHunk {
            id: format!("{}.{index}", self.generation),
            range: range(hunk.range.clone()),
            text: hunk.text.clone(),
        };
        let target = hunks.get(nearest(hunks, self.cursor)).map_or(0, |hunk| hunk.range.start);
        let ghost =
            (self.kind == InlineEditKind::Edit).then(|| ghost(self.pending.text(), self.cursor, hunks)).flatten();
        InlineEdit {
            id: self.id.clone(),
            kind: self.kind,
            uri: document.uri.to_string(),
            version: self.closed.is_none().then_some(document.version),
            hunks: hunks.iter().enumerate().map(of_hunk).collect(),
            target: range(target..target).start,
            ghost: ghost.map(|ghost| GhostText { range: range(ghost.range), text: ghost.text }),
            model: self.model.clone(),
        }
    }

    /// The lines between the cursor and the nearest hunk.
    pub(super) fn lines_to(&self, document: &Snapshot, cursor: usize) -> usize {
        let lines = lines(document);
        let hunks = self.pending.hunks();
        let hunk = hunks.get(nearest(hunks, cursor)).map_or(0, |hunk| hunk.range.start);
        lines.line_of(hunk).abs_diff(lines.line_of(cursor))
    }
}

/// Adds to what is remembered; the oldest goes.
fn push<T>(remembered: &mut VecDeque<T>, new: T) {
    if remembered.len() >= REMEMBERED {
        remembered.pop_front();
    }
    remembered.push_back(new);
}
