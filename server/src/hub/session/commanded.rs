//! What commands and other programs change in the project while a turn runs: the files are looked at where it begins,
//! before each command and after it, and where it ends. What differs is recorded with what it was, so that it can be
//! reviewed, and what commands did undone like an edit.

use std::collections::{BTreeMap, HashMap};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use agent::edit::TextHash;
use agent::store::Store;
use protocol::checkpoint::{ChangedFile, FileImage};
use protocol::event::Severity;
use protocol::session::Mode;
use protocol::{Event, ToolCallId, TurnId};
use tokio::sync::oneshot;
use workspace::baseline::{Baseline, Changed, Changes, MAX_FILES, NotRemembered, Side};
use workspace::buffers::{Buffers, Open, Snapshot};
use workspace::files::Whole;
use workspace::paths::{self, Roots};
use workspace::reader::Reader;
use workspace::review::Application;
use workspace::search::{MayRead, Search};
use workspace::text::hash;

use super::carry::{image, keep};
use super::load::may_read;
use super::rounds::{Landing, Landings};
use super::{Own, Session};
use crate::hub::ClientId;

/// How long a command waits at most until the files have been looked at, and how long that takes at most where nobody
/// waits.
const LOOKING: Duration = Duration::from_secs(3);
/// How long it may take at most to tell what a command changed.
pub(super) const COMPARING: Duration = Duration::from_secs(10);
/// Of one command at most so many changed files are recorded.
const MOST_CHANGED: usize = 2000;
/// Why it is not known what a command made of a file.
const SAVED_TOO: &str = "it was also saved in the editor while the command ran";
const EDITED_TOO: &str = "it was also changed by an accepted edit while the command ran";
/// Why files were not looked at.
const TOO_LATE: &str = "looking at the project's files takes too long";

/// The time from one look at the files to the next, in which all that is neither ours nor an editor's is a command's or
/// another program's.
#[derive(Clone)]
pub(super) struct Following {
    /// When each client's open document was last saved, by its version: what is saved meanwhile is the user's change.
    saved: HashMap<(ClientId, PathBuf), i32>,
    /// What was saved since, in any window, as text hashes; none where it was typed into before it could be looked at.
    saves: Saves,
    /// What we write meanwhile, each file's in order, which is recorded otherwise. More of it comes while it is looked
    /// what changed.
    ours: Arc<Mutex<HashMap<PathBuf, Vec<Ours>>>>,
    /// Whether a command runs.
    in_command: bool,
}

type Saves = Arc<Mutex<HashMap<PathBuf, Option<TextHash>>>>;

/// The looks that were begun and have not ended, one after the other.
#[derive(Default)]
pub(super) struct Looks {
    /// What each looks back at, by its number; our own changes go there too, since it may see them.
    ends: BTreeMap<u64, Option<Following>>,
    /// The number of the last one that was begun.
    begun: u64,
    /// Comes when the last one has ended.
    last: Option<oneshot::Receiver<()>>,
}

impl Looks {
    /// Whether one has not ended.
    pub(super) fn are_on(&self) -> bool {
        !self.ends.is_empty()
    }
}

/// What accepted hunks make of a file, as text hashes; none where there is no file.
#[derive(Clone)]
struct Ours {
    from: Option<TextHash>,
    to: Option<TextHash>,
    /// Whether it is on disk for sure; until then it is on its way.
    written: bool,
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

/// How to look at the files, apart from the session's task.
pub(super) struct Look {
    /// Since when; none where nothing is known to compare with.
    following: Option<Following>,
    /// The turn, and the calls whose commands ran; none for other programs.
    turn: TurnId,
    calls: Vec<ToolCallId>,
    /// What was touched from then on is no more of it.
    until: Option<SystemTime>,
    baseline: Arc<Baseline>,
    search: Search,
    may_keep: Arc<MayRead>,
    reader: Arc<Reader>,
    /// Whose documents the reader reads.
    home: Option<ClientId>,
    roots: Arc<Roots>,
    store: Arc<dyn Store>,
}

/// What changed.
#[derive(Default)]
pub(super) struct Found {
    turn: Option<TurnId>,
    call: Option<ToolCallId>,
    files: Vec<ChangedFile>,
    /// The texts of those that can be reviewed.
    landings: Landings,
    /// What the user has saved by the time that this is recorded.
    saves: Saves,
    /// What the user is to know.
    warning: Option<String>,
    /// Whether nothing is known to compare with the next time.
    failed: bool,
}

impl Session {
    /// A turn begins: what other programs change from here on is looked for, but where the agent only looks.
    pub(super) fn follow_turn(&mut self, turn: &TurnId) {
        self.following = None;
        if !self.reviews_others() || self.state.mode == Mode::Ask {
            return;
        }
        let look = self.look_back(turn.clone(), Vec::new());
        self.follow_files(false);
        if self.looks.are_on() {
            // That of the last turn's end remembers the files, too, and a command need not wait for both.
            return;
        }
        self.begin_look(None, LOOKING, move |left| {
            let failed = left.is_none_or(|left| look.remember(left).is_err());
            Own::Looked(Box::new(Found { failed, ..Found::default() }))
        });
    }

    /// Looks at the project's files before a command, which waits for it a bounded time.
    pub(super) fn before_command(&mut self, reply: oneshot::Sender<()>) {
        let (undo_commands, turn) = (self.config.undo_commands, self.state.last_turn());
        if !undo_commands {
            self.following = None;
            let _ = reply.send(());
            return;
        }
        let look = self.look_back(turn, Vec::new());
        // From here on: what others change while it is looked is not the command's either.
        self.follow_files(true);
        self.begin_look(look.following.clone(), LOOKING, move |left| {
            let remembered = left.map_or_else(|| Err(TOO_LATE.to_owned()), |left| look.before_command(left));
            Own::Remembered(Box::new(remembered), reply)
        });
    }

    /// The files have been looked at, all of them or not, or could not be.
    pub(super) fn remembered(&mut self, remembered: Result<(Found, bool), String>, reply: oneshot::Sender<()>) {
        let limit = match remembered {
            Ok((found, all)) => {
                self.record_found(found);
                (!all).then(|| format!("only the first {MAX_FILES} files of the project are followed"))
            }
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

    /// How to look at the files after a command, once; none where they were not looked at before it. What other
    /// programs change from here on is looked for.
    pub(super) fn look_after_command(&mut self, turn: &TurnId, call: &ToolCallId) -> Option<(Following, Look)> {
        let since = self.following.clone().filter(|following| following.in_command)?;
        let look = self.look_back(turn.clone(), vec![call.clone()]);
        if self.reviews_others() {
            self.follow_files(false);
        }
        Some((since, look))
    }

    /// The turn has ended: what other programs changed since the last look is looked for.
    pub(super) fn look_after_turn(&mut self, turn: &TurnId) {
        if self.following.as_ref().is_none_or(|following| following.in_command) || !self.reviews_others() {
            return;
        }
        let look = Look { until: self.state.turn_ended, ..self.look_back(turn.clone(), Vec::new()) };
        self.begin_look(look.following.clone(), LOOKING, move |left| Own::Looked(Box::new(look.find(left))));
    }

    /// What a look came to has been taken.
    pub(super) fn look_ended(&mut self, number: u64) {
        self.looks.ends.remove(&number);
        self.restore_if_settled();
    }

    /// Whether what others change is listed for review.
    fn reviews_others(&self) -> bool {
        self.config.undo_commands && self.config.review_commands
    }

    /// Follows what changes from here on.
    fn follow_files(&mut self, in_command: bool) {
        let clients = self.followers.values().chain(&self.home);
        let saved = clients.flat_map(|client| {
            let saved = |buffer: Arc<Snapshot>| Some(((client.id, buffer.path.clone()), buffer.saved_version?));
            client.buffers.all().into_iter().filter_map(saved)
        });
        let saved = saved.collect();
        self.following = Some(Following { saved, saves: Arc::default(), ours: Arc::default(), in_command });
        self.applying.iter().for_each(|application| self.changed_by_us(application));
        self.review.mark();
    }

    /// A look at what has changed since the last one.
    fn look_back(&mut self, turn: TurnId, calls: Vec<ToolCallId>) -> Look {
        Look {
            following: self.following.take(),
            turn,
            calls,
            until: None,
            baseline: Arc::clone(&self.baseline),
            search: self.search.clone(),
            may_keep: may_read(&self.rules, &self.roots),
            reader: Arc::clone(&self.reader),
            home: self.home.as_ref().map(|home| home.id),
            roots: Arc::clone(&self.roots),
            store: Arc::clone(&self.shared.parts.store),
        }
    }

    /// Begins a look back at what was followed, after the looks before it. It waits for those at most for this time,
    /// and gets as much for itself; none where it is too late to look.
    pub(super) fn begin_look(
        &mut self,
        since: Option<Following>,
        time: Duration,
        look: impl FnOnce(Option<Duration>) -> Own + Send + 'static,
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
            let broke = || Own::Looked(Box::new(Found { failed: true, ..Found::default() }));
            let _ = own.send(looked.unwrap_or_else(|_| broke()));
            let _ = own.send(Own::LookEnded(number));
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

    /// Records what others changed, and lists it for review.
    pub(super) fn record_found(&mut self, found: Found) {
        let Found { turn, call, mut files, mut landings, saves, warning, failed } = found;
        let touched: Vec<_> = files.iter().filter_map(|file| paths::from_uri(&file.uri).ok()).collect();
        self.shared.tell_servers(touched);
        // The editor may have said only after the look that it was the user.
        for (path, text) in saves.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let uri = paths::to_uri(path);
            landings.drop(path);
            files.retain_mut(|file| {
                if file.uri != uri || file.unknown.is_some() {
                    return true;
                }
                let is_all = text.as_ref().map(|text| &*text.0) == file.after.as_ref().map(|after| &*after.hash);
                (file.before, file.after, file.unknown) = (None, None, Some(SAVED_TOO.to_owned()));
                call.is_some() && !is_all
            });
        }
        if failed {
            self.following.take_if(|following| !following.in_command);
        }
        if let Some(text) = warning {
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        let Some(turn_id) = turn else { return };
        if !files.is_empty() {
            self.record(Event::FilesChanged { turn_id: turn_id.clone(), tool_call_id: call, files });
            self.list_landed(&turn_id, landings);
        }
    }
}

impl Look {
    /// Looks at the files, and not at what changed. Blocks.
    fn remember(&self, time: Duration) -> Result<bool, String> {
        let may_keep = (self.may_keep)(None);
        self.baseline.remember(&self.search, &*may_keep, time).map_err(|error| error.to_string())
    }

    /// What other programs changed before a command, and whether all files are followed. Blocks.
    fn before_command(self, time: Duration) -> Result<(Found, bool), String> {
        if self.following.is_none() {
            return self.remember(time).map(|all| (Found::default(), all));
        }
        self.changes(time).map_err(|error| error.to_string())
    }

    /// What changed, with what it was kept. Blocks, at most for this time; none where it is too late.
    pub(super) fn find(self, time: Option<Duration>) -> Found {
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

    /// What differs from the last look, as far as it is others'.
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
