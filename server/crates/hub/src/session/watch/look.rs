//! One look at the project's files: what differs from the look before, and who changed it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, SystemTime};

use ports::edit::TextHash;
use ports::store::Store;
use project::baseline::{Baseline, Changed, Changes, NotRemembered, Side};
use project::buffers::Open;
use project::files::Whole;
use project::paths::{self, Roots};
use project::reader::Reader;
use project::search::{MayRead, Search};
use project::text::hash;
use protocol::checkpoint::{ChangedFile, FileImage};
use protocol::{ToolCallId, TurnId};

use super::{Following, Saves};
use crate::ClientId;
use crate::session::edits::{Landing, Landings, image, keep};

/// Of one command at most so many changed files are recorded.
const MOST_CHANGED: usize = 2000;
/// Why it is not known what a command made of a file.
pub(super) const SAVED_TOO: &str = "it was also saved in the editor while the command ran";
const EDITED_TOO: &str = "it was also changed by an accepted edit while the command ran";
/// Why files were not looked at.
pub(super) const TOO_LATE: &str = "looking at the project's files takes too long";

/// A look at the files, apart from the session's task.
pub(in crate::session) struct Look {
    /// Since when; none if nothing is known to compare with.
    pub(super) following: Option<Following>,
    /// The turn, and the calls whose commands ran; none for other programs.
    pub(super) turn: TurnId,
    pub(super) calls: Vec<ToolCallId>,
    /// The end of the time that it is about: files that were touched from then on do not count.
    pub(super) until: Option<SystemTime>,
    pub(super) baseline: Arc<Baseline>,
    pub(super) search: Search,
    pub(super) may_keep: Arc<MayRead>,
    pub(super) reader: Arc<Reader>,
    /// Whose documents the reader reads.
    pub(super) home: Option<ClientId>,
    pub(super) roots: Arc<Roots>,
    pub(super) store: Arc<dyn Store>,
}

/// The changes that a look found.
#[derive(Default)]
pub(in crate::session) struct Found {
    pub(super) turn: Option<TurnId>,
    pub(super) call: Option<ToolCallId>,
    pub(super) files: Vec<ChangedFile>,
    /// The texts of those that can be reviewed.
    pub(super) landings: Landings,
    /// The texts that the user has saved by the time that this is recorded.
    pub(super) saves: Saves,
    /// The warning for the user.
    pub(super) warning: Option<String>,
    /// True if nothing is known to compare with the next time.
    pub(super) failed: bool,
}

/// Who changed a file while a command ran.
enum Whose {
    Others,
    /// We, or the user in an editor.
    Known,
    /// We, who made it this text, and then others.
    OthersAfter(Option<TextHash>),
    /// Perhaps both, as these words say.
    Both(&'static str),
}

impl Look {
    /// Looks at the files, and not at what changed. Blocks.
    pub(super) fn remember(&self, time: Duration) -> Result<bool, String> {
        let may_keep = (self.may_keep)(None);
        self.baseline.remember(&self.search, &*may_keep, time).map_err(|error| error.to_string())
    }

    /// Returns what other programs changed before a command, and whether all files are followed. Blocks.
    pub(super) fn before_command(self, time: Duration) -> Result<(Found, bool), String> {
        if self.following.is_none() {
            return self.remember(time).map(|all| (Found::default(), all));
        }
        self.changes(time).map_err(|error| error.to_string())
    }

    /// Returns what changed, with the texts that were kept. Blocks, at most for this time; with none it is too late.
    pub(in crate::session) fn find(self, time: Option<Duration>) -> Found {
        let is_command = !self.calls.is_empty();
        let failure = match std::panic::catch_unwind(AssertUnwindSafe(|| time.map(|time| self.changes(time)))) {
            Ok(Some(Ok((found, _)))) => return found,
            Ok(Some(Err(error))) => error.to_string(),
            Ok(None) => TOO_LATE.to_owned(),
            Err(_) => String::from("a fault in Azimuth; its log says more"),
        };
        let warning = format!("what the command changed is not known and cannot be undone: {failure}");
        Found { warning: is_command.then_some(warning), failed: true, ..Found::default() }
    }

    /// Returns the differences from the last look, as far as they are others'.
    fn changes(&self, time: Duration) -> Result<(Found, bool), NotRemembered> {
        let may_keep = (self.may_keep)(None);
        let mut landings = Landings::default();
        let record = |changed| self.recorded(changed, &mut landings);
        let Changes { taken, more, all } =
            self.baseline.advance(&self.search, &*may_keep, time, MOST_CHANGED, record)?;
        let warning = format!("the command changed more than {MOST_CHANGED} files; only the first can be undone");
        let warning = (more && !self.calls.is_empty()).then_some(warning);
        let (turn, call) = (Some(self.turn.clone()), self.calls.first().cloned());
        let saves = self.following.as_ref().map(|following| Arc::clone(&following.saves)).unwrap_or_default();
        Ok((Found { turn, call, files: taken, landings, saves, warning, failed: false }, all))
    }

    /// A changed file for the log; none if it was not the command, or another program, that changed it.
    fn recorded(&self, mut changed: Changed, landings: &mut Landings) -> Option<ChangedFile> {
        let is_later = self.until.zip(changed.touched).is_some_and(|(until, touched)| touched >= until);
        if is_later || self.roots.protected(&changed.path).is_some() {
            return None;
        }
        let is_command = !self.calls.is_empty();
        let words = match self.whose(&changed) {
            Whose::Known => return None,
            Whose::Others => return Some(self.kept(changed, landings)),
            Whose::OthersAfter(text) if !is_command => {
                changed.before = self.side(text.as_ref(), &changed.before)?;
                return Some(self.kept(changed, landings));
            }
            Whose::OthersAfter(_) => EDITED_TOO,
            Whose::Both(words) => words,
        };
        let (uri, unknown) = (paths::to_uri(&changed.path), Some(words.to_owned()));
        is_command.then_some(ChangedFile { uri, before: None, after: None, unknown })
    }

    /// A text that an accepted edit left, which is kept, in a file that was so before.
    fn side(&self, text: Option<&TextHash>, before: &Side) -> Option<Side> {
        let Some(hash) = text else { return Some(Side::Absent) };
        let text = String::from_utf8(self.store.blob(&hash.0).ok()?).ok()?;
        let (bytes, executable) = match before {
            Side::Is(before) => (before.decoded.encode(&text), before.executable),
            Side::Absent | Side::Unknown(_) => (text.into_bytes(), false),
        };
        Whole::new(bytes, executable).ok().map(Side::Is)
    }

    fn whose(&self, changed: &Changed) -> Whose {
        let Some(following) = &self.following else { return Whose::Known };
        let is = |side: &Side, text: Option<&TextHash>| match side {
            Side::Absent => text.is_none(),
            Side::Is(whole) => Some(&hash(&whole.decoded.text)) == text,
            Side::Unknown(_) => false,
        };
        let saved = |text: Option<&TextHash>| {
            let is_it = text.is_some() && is(&changed.after, text);
            if is_it { Whose::Known } else { Whose::Both(SAVED_TOO) }
        };
        if let Open::Yes(buffer) = self.reader.buffers().get(&changed.path)
            && let Some(home) = self.home
            && buffer.saved_version != following.saved.get(&(home, changed.path.clone())).copied()
        {
            return saved(Some(buffer.hash()));
        }
        if let Some(text) = following.saves.lock().unwrap_or_else(PoisonError::into_inner).get(&changed.path) {
            return saved(text.as_ref());
        }
        let ours = following.ours.lock().unwrap_or_else(PoisonError::into_inner).get(&changed.path).cloned();
        let ours = ours.unwrap_or_default();
        match (ours.first(), ours.last()) {
            (Some(first), Some(_)) if !is(&changed.before, first.from.as_ref()) => Whose::Both(EDITED_TOO),
            (Some(_), Some(_)) if ours.iter().any(|ours| is(&changed.after, ours.to.as_ref())) => Whose::Known,
            (Some(_), Some(last)) if last.written => Whose::OthersAfter(last.to.clone()),
            (Some(_), Some(_)) => Whose::Both(EDITED_TOO),
            _ => Whose::Others,
        }
    }

    /// A changed file for the log, and for the review if its texts are known. What it is now need not be kept: that is
    /// done before it is taken back.
    fn kept(&self, changed: Changed, landings: &mut Landings) -> ChangedFile {
        let text = |side: &Side| match side {
            Side::Absent => Some(None),
            Side::Is(whole) => Some(Some(Arc::clone(&whole.decoded.text))),
            Side::Unknown(_) => None,
        };
        let texts: Option<(Option<Arc<str>>, _)> = text(&changed.before).zip(text(&changed.after));
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
        let uri = paths::to_uri(&changed.path);
        if let (Some((before, after)), None) = (texts, &unknown) {
            landings.push(Landing { path: changed.path, before, after, calls: self.calls.clone() });
        }
        ChangedFile { uri, before, after, unknown }
    }
}
