//! The changes by commands and other programs, in the review next to what the agent proposes: from a look at the files
//! to hunks that are kept or taken back.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::store::Store;
use project::buffers::Open;
use project::files;
use project::review::{Application, Base, Landed};
use protocol::event::Severity;
use protocol::{Event, ToolCallId, TurnId};

use super::carry::{Exactly, image, kept_file};
use super::{Context, Edits};
use crate::session::checkpoints::Checkpoints;
use crate::session::state::State;

/// At most so many files of a turn are listed.
const MOST_LISTED: usize = 200;
/// Of all turns at most so many files wait to be decided; beyond that the oldest are kept.
const MOST_UNDECIDED: usize = 500;
/// A longer text, in bytes, is not listed: nobody reviews it hunk by hunk, and the log keeps it each time.
const LONGEST: usize = 100 << 10;
/// The texts of one turn that are listed come to so many bytes at most.
const MOST_BYTES: usize = 8 << 20;

/// A file that others changed, with its texts; none if there is no file.
pub(in crate::session) struct Landing {
    pub(in crate::session) path: PathBuf,
    pub(in crate::session) before: Option<Arc<str>>,
    pub(in crate::session) after: Option<Arc<str>>,
    /// The calls whose commands did it; none for another program.
    pub(in crate::session) calls: Vec<ToolCallId>,
}

/// The files that a look found, as many as are listed.
#[derive(Default)]
pub(in crate::session) struct Landings {
    files: Vec<Landing>,
    /// The number of further files.
    more: usize,
}

impl Landings {
    /// Takes a file, if it has hunks.
    pub(in crate::session) fn push(&mut self, file: Landing) {
        // Line ends alone are no lines.
        if file.before == file.after {
            return;
        }
        let is_long = |text: &Option<Arc<str>>| text.as_ref().is_some_and(|text| text.len() > LONGEST);
        if is_long(&file.before) || is_long(&file.after) || self.files.len() == MOST_LISTED {
            self.more += 1;
        } else {
            self.files.push(file);
        }
    }

    /// Lists a file not after all.
    pub(in crate::session) fn drop(&mut self, path: &Path) {
        self.files.retain(|file| file.path != path);
    }
}

impl Landing {
    /// Returns the length of its texts, in bytes.
    fn bytes(&self) -> usize {
        [&self.before, &self.after].into_iter().flatten().map(|text| text.len()).sum()
    }
}

/// The changes that others made to a session's files, apart from the review.
#[derive(Default)]
pub(super) struct Listing {
    /// The files of the turn that are listed, or were.
    listed: HashSet<PathBuf>,
    /// The length of the texts that were listed in it, in bytes; those of a file that was listed again count again.
    bytes: usize,
    turn: Option<TurnId>,
    /// The changes that are not in the documents yet, since an editor has still to read them again.
    waiting: Vec<(TurnId, Landing)>,
}

impl Edits {
    /// Lists what others changed. Tells of what is not listed.
    pub(super) fn list_landed(&mut self, turn: &TurnId, landings: Landings, context: Context<'_>) -> Option<Event> {
        if self.listing.turn.as_ref() != Some(turn) {
            self.listing.turn = Some(turn.clone());
            self.listing.listed.clear();
            self.listing.bytes = 0;
        }
        let mut more = landings.more;
        for file in landings.files {
            let is_too_many = self.listing.listed.len() == MOST_LISTED && !self.listing.listed.contains(&file.path);
            let bytes = self.listing.bytes + file.bytes();
            if is_too_many || bytes > MOST_BYTES {
                more += 1;
                continue;
            }
            self.listing.bytes = bytes;
            self.listing.listed.insert(file.path.clone());
            if !self.land(turn, &file, None, context) {
                self.wait_to_land(turn, file);
            }
        }
        self.review.keep_landed(MOST_UNDECIDED);
        (more > 0).then(|| {
            let files = if more == 1 { "file" } else { "files" };
            let text = format!("{more} more {files} changed than the review lists");
            Event::Notice { severity: Severity::Warning, text }
        })
    }

    /// Lists one file, if its document has the change: the editor's, else what is on disk, which is as others left it
    /// where it has not been read since.
    fn land(&mut self, turn: &TurnId, file: &Landing, on_disk: Option<Option<&str>>, context: Context<'_>) -> bool {
        if self.review.is_applying_to(&file.path) {
            return false;
        }
        let open = context.reading.reader.buffers().get(&file.path);
        let base = match &open {
            Open::Yes(snapshot) if file.after.is_none() && snapshot.may_be_no_file() => Base::Text(None),
            Open::Yes(snapshot) => Base::Open(snapshot),
            Open::No => Base::Text(on_disk.unwrap_or(file.after.as_deref())),
            Open::OutOfSync => return false,
        };
        let display = context.reading.roots.display(&file.path);
        let (before, after) = (file.before.as_deref(), file.after.as_deref());
        let landed = Landed { path: &file.path, before, after, display: &display, calls: &file.calls, turn };
        self.review.land(&landed, base)
    }

    /// An editor holds another text than the file has: the change is listed once the document shows it.
    fn wait_to_land(&mut self, turn: &TurnId, file: Landing) {
        let waiting = &mut self.listing.waiting;
        match waiting.iter_mut().find(|(_, earlier)| earlier.path == file.path && earlier.after == file.before) {
            Some((of, earlier)) => {
                earlier.after = file.after;
                earlier.calls.extend(file.calls);
                of.clone_from(turn);
            }
            None => waiting.push((turn.clone(), file)),
        }
        waiting.retain(|(_, file)| file.before != file.after);
        let excess = waiting.len().saturating_sub(MOST_LISTED);
        waiting.drain(..excess);
    }

    /// True if a change of a file waits until its document shows it.
    pub(super) fn waits_to_land(&self, path: &Path) -> bool {
        self.listing.waiting.iter().any(|(_, file)| file.path == path)
    }

    /// A document changed, perhaps to what others made of its file. `on_disk` is the file's text where no editor holds
    /// it, and then this is the last time that it is looked. Gives whether something of it is listed now.
    pub(super) fn land_waiting(&mut self, path: &Path, on_disk: Option<Option<&str>>, context: Context<'_>) -> bool {
        if !self.waits_to_land(path) {
            return false;
        }
        let (here, others) =
            std::mem::take(&mut self.listing.waiting).into_iter().partition(|(_, file)| file.path == path);
        self.listing.waiting = others;
        let here: Vec<(TurnId, Landing)> = here;
        let mut landed = false;
        for (turn, file) in here {
            if self.land(&turn, &file, on_disk, context) {
                landed = true;
            } else if on_disk.is_none() || self.review.is_applying_to(path) {
                self.listing.waiting.push((turn, file));
            }
        }
        landed
    }

    /// These turns were taken back in a file: what their commands changed in it is no longer there.
    pub(in crate::session) fn drop_landed(&mut self, path: &Path, turns: &[TurnId], checkpoints: &Checkpoints) {
        self.review.drop_landed(path, |calls| checkpoints.are_of(calls, turns));
        self.listing.waiting.retain(|(_, file)| file.path != path || !checkpoints.are_of(&file.calls, turns));
    }

    /// Returns a function that reads what a file that others changed was beyond its text, for whoever restores the
    /// file. The function blocks, and returns `None` if the file is no longer just what they left.
    pub(super) fn exactly(
        &self,
        application: &Application,
        state: &State,
        store: Arc<dyn Store>,
    ) -> impl FnOnce() -> Option<Exactly> + Send + 'static {
        let target = application.target_text.clone().filter(|_| self.review.is_landed(&application.proposal_id));
        let known = target.and_then(|text| Some((state.changed(&application.path, &text)?.clone(), text)));
        let path = application.path.clone();
        move || {
            let ((before, after), text) = known?;
            let now = files::read_whole(&path).ok().map(|whole| image(&whole));
            if now != after {
                return None;
            }
            let exactly = kept_file(&*store, &before).ok()?;
            let bytes = exactly.bytes.unwrap_or_else(|| text.as_bytes().into());
            Some(Exactly { bytes: Some(bytes), ..exactly })
        }
    }
}
