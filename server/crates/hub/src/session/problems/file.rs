//! The state of the problems of one edited file, as far as it is known, and how a look at the file changes it.

use std::path::PathBuf;
use std::sync::Arc;

use project::reader::Pending;

use super::asking::{Known, Unknown, Who, Why};

/// A file that was edited.
#[derive(Clone)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) who: Option<Who>,
    pub(super) watch: Watch,
    /// The file as the session had it before the turn's first edit; `None` if only an earlier turn edited it, so that
    /// what came of that is none of this one's.
    pub(super) was: Option<Pending>,
    /// The number of turns that have begun since it was edited.
    pub(super) turns: u32,
}

/// The state of a file's problems.
#[derive(Clone)]
pub(super) enum Watch {
    /// Those before the first edit are asked for.
    Asking,
    /// Those before the first edit are not known.
    Unknown(Unknown),
    /// No server is there for it.
    Nobody,
    Known(Judged),
}

/// A file whose problems were known once.
#[derive(Clone)]
pub(super) struct Judged {
    /// Before the turn's first edit.
    pub(super) first: Arc<Known>,
    /// When the model was last told of them.
    pub(super) told: Arc<Known>,
    pub(super) now: Now,
}

/// The state of a file's problems by now.
#[derive(Clone)]
pub(super) enum Now {
    Unknown,
    /// The file is no more.
    Gone,
    Known {
        known: Arc<Known>,
        /// The edits after which they were these.
        edits: u64,
        is_told: bool,
    },
}

/// The result of a look at a file.
pub(super) enum Look {
    Known(Arc<Known>),
    Unknown(Unknown),
    /// Nobody says anything of it; in words where somebody did before.
    Nobody(Unknown),
    /// It is no more, or nobody watches it.
    Nothing,
}

impl File {
    /// Takes what a look came to after so many edits. What was known stays known, whatever cannot be told now. Gives
    /// what is not known.
    pub(super) fn take(&mut self, look: Look, edits: u64) -> Vec<Unknown> {
        match (&mut self.watch, look) {
            (Watch::Known(judged), Look::Known(known)) => {
                let missing = known.missing.clone();
                judged.first = Arc::new(match self.was {
                    Some(_) => judged.first.and(&known),
                    None => known.and(&judged.first),
                });
                let was_told =
                    matches!(&judged.now, Now::Known { known: now, is_told: true, .. } if Arc::ptr_eq(now, &known));
                judged.now = Now::Known { known, edits, is_told: was_told };
                missing
            }
            // The servers still see the text as it was.
            (Watch::Known(_), Look::Unknown(unknown)) if unknown.why == Why::Waits => vec![unknown],
            (Watch::Known(judged), Look::Nobody(_)) if !judged.is_by_anybody() => {
                self.watch = Watch::Nobody;
                Vec::new()
            }
            (Watch::Known(judged), Look::Unknown(unknown) | Look::Nobody(unknown)) => {
                judged.now = Now::Unknown;
                vec![unknown]
            }
            (Watch::Known(judged), Look::Nothing) => {
                judged.now = Now::Gone;
                Vec::new()
            }
            // From here on it is known what changes.
            (Watch::Unknown(unknown), Look::Known(known)) => {
                let unknown = unknown.clone();
                let mut judged = Judged::at_first(known);
                judged.now = Now::Known { known: Arc::clone(&judged.first), edits, is_told: true };
                self.watch = Watch::Known(judged);
                vec![unknown]
            }
            (Watch::Unknown(_) | Watch::Asking, Look::Unknown(unknown)) => vec![unknown],
            (Watch::Unknown(_), Look::Nobody(_)) => {
                self.watch = Watch::Nobody;
                Vec::new()
            }
            (Watch::Unknown(_) | Watch::Asking | Watch::Nobody, _) => Vec::new(),
        }
    }
}

impl Judged {
    /// Before any edit.
    pub(super) fn at_first(known: Arc<Known>) -> Self {
        let first = known;
        Self { told: Arc::clone(&first), first, now: Now::Unknown }
    }

    /// True if anybody has told of the file; nobody need have of one that was not there.
    pub(super) fn is_by_anybody(&self) -> bool {
        self.told.is_by_anybody() || self.latest().is_by_anybody()
    }

    /// The last that was known.
    pub(super) fn latest(&self) -> &Known {
        match &self.now {
            Now::Known { known, .. } => known,
            Now::Unknown | Now::Gone => &self.told,
        }
    }
}
