//! Undo and redo of what turns did to files: looking, and going the ways that [`super::checkpoints`] plans.
//!
//! The session's task says what is meant and records what came of it. In between, the files are looked at and changed
//! by a task of its own, and what could change files meanwhile waits.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::edit::{FilePlan, TextHash};
use agent::store::{Store, StoreError};
use futures_util::FutureExt;
use protocol::checkpoint::{
    Checkpoint, CheckpointFile, CheckpointListParams, CheckpointListResult, CheckpointPreviewParams,
    CheckpointPreviewResult, CheckpointRestoreParams, CheckpointRestoreResult, CheckpointState, ConfirmedFile,
    Direction, FileImage, RestoreOutcome, RestoredFile,
};
use protocol::event::ApplyOutcome;
use protocol::review::{Decision, DecisionTarget, FileChange, HunkState, ReviewDecideParams};
use protocol::{ErrorCode, Event, ToolCallId, TurnId};
use serde_json::json;
use workspace::buffers::Open;
use workspace::files::{self, FileError, Whole};
use workspace::paths;
use workspace::reader::{ReadError, Source};
use workspace::review::{Base, Review, to_line_edits};
use workspace::text::hash;

use super::carry::{Carrier, Change, Exactly, image, keep};
use super::checkpoints::{Way, same};
use super::prepare::Prepared;
use super::{Caller, Own, Session};
use crate::hub::feed::blocking;
use crate::hub::{Error, Reply, Request};

/// How many turns are listed where nothing is said.
const LISTED: usize = 20;
/// What rejected hunks of turns that are undone are said to be rejected for.
const TAKEN_BACK: &str = "the user took the whole turn back";

/// An undo or redo, before it begins.
pub(super) struct Restoring {
    direction: Direction,
    params: CheckpointRestoreParams,
    reply: Reply<CheckpointRestoreResult>,
}

/// What came of it.
pub(super) struct Restored {
    direction: Direction,
    turn_ids: Vec<TurnId>,
    files: Vec<Gone>,
    reply: Reply<CheckpointRestoreResult>,
}

/// What waits until the files are as an undo or redo leaves them.
pub(super) enum Held {
    Request(Caller, Request),
    Prepared(Box<Prepared>),
}

/// A file, after its way was gone or not.
struct Gone {
    file: RestoredFile,
    path: PathBuf,
    /// The hash of its text before, and after if that is sure; and whether the document held nothing unsaved before.
    before: Option<TextHash>,
    after: Option<TextHash>,
    was_clean: bool,
    /// What was written; the inner none where the file was deleted, the outer where nothing was written.
    text: Option<Option<Arc<str>>>,
}

impl Session {
    pub(super) fn checkpoint_list(&mut self, params: &CheckpointListParams, reply: Reply<CheckpointListResult>) {
        let limit = params.limit.map_or(LISTED, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let mut turns = self.state.checkpoints.changing();
        let more = turns.len() > limit;
        turns.truncate(limit);
        let checkpoints = self.state.checkpoints.clone();
        self.look(reply, move |carrier| {
            let of_turn = |turn_id: TurnId| {
                let turns = std::slice::from_ref(&turn_id);
                let mut files = looked_at(carrier, Direction::Undo, checkpoints.ways(Direction::Undo, turns));
                let undone = checkpoints.ways(Direction::Redo, turns).into_iter();
                let undone = undone.filter(|way| files.iter().all(|file| file.uri != way.uri)).collect();
                files.extend(looked_at(carrier, Direction::Redo, undone));
                files.sort_by(|a, b| a.path.cmp(&b.path));
                Checkpoint { turn_id, files }
            };
            CheckpointListResult { turns: turns.into_iter().map(of_turn).collect(), more }
        });
    }

    pub(super) fn checkpoint_preview(
        &mut self,
        params: &CheckpointPreviewParams,
        reply: Reply<CheckpointPreviewResult>,
    ) {
        let direction = params.direction;
        let turn_ids = match self.turns_meant(direction, params.turn_id.as_ref(), params.and_later) {
            Ok(turn_ids) => turn_ids,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let undecided = self.undecided_of(&turn_ids).into_iter().filter(|_| direction == Direction::Undo);
        let pending: usize = undecided.filter_map(|target| target.hunk_ids).map(|ids| ids.len()).sum();
        let pending_hunks = u32::try_from(pending).unwrap_or(u32::MAX);
        let ways = self.state.checkpoints.ways(direction, &turn_ids);
        self.look(reply, move |carrier| {
            let files = looked_at(carrier, direction, ways);
            CheckpointPreviewResult { turn_ids, files, pending_hunks }
        });
    }

    /// Answers with what a look at files comes to, off this task.
    fn look<T: Send + 'static>(&self, reply: Reply<T>, look: impl FnOnce(&Carrier) -> T + Send + 'static) {
        let carrier = self.carrier();
        tokio::task::spawn_blocking(move || drop(reply.send(Ok(look(&carrier)))));
    }

    pub(super) fn checkpoint_restore(
        &mut self,
        direction: Direction,
        params: CheckpointRestoreParams,
        reply: Reply<CheckpointRestoreResult>,
    ) {
        self.restore_files(Restoring { direction, params, reply });
    }

    /// Takes up an undo or redo. From here on what would change files waits for it, another undo too.
    fn restore_files(&mut self, restoring: Restoring) {
        if let Some(turn) = &self.state.open_turn {
            let text = "a turn is running in this session, and may be changing files: cancel it first, or let it end";
            let error = Error::new(ErrorCode::TurnRunning, text).with_data(json!({ "turnId": turn.id }));
            return drop(restoring.reply.send(Err(error)));
        }
        self.held = Some(Vec::new());
        self.restoring = Some(restoring);
        // What a formatter would do is not waited for.
        self.settle();
    }

    /// Begins the undo or redo that waits, once no accepted hunk is on its way into a file, and what commands changed
    /// is recorded, which would else hold what the undo itself writes.
    pub(super) fn restore_if_settled(&mut self) {
        if self.review.is_applying() || self.watch.is_looking() {
            return;
        }
        let Some(Restoring { direction, params, reply }) = self.restoring.take() else { return };
        let turn_ids = match self.turns_meant(direction, params.turn_id.as_ref(), params.and_later) {
            Ok(turn_ids) => turn_ids,
            Err(error) => {
                let _ = reply.send(Err(error));
                return self.go_on_with_held();
            }
        };
        if direction == Direction::Undo {
            self.reject_undecided_of(&turn_ids);
        }
        let ways = self.state.checkpoints.ways(direction, &turn_ids);
        let (carrier, own, confirmed) = (self.carrier(), self.own.clone(), params.confirmed);
        self.begun += 1;
        tokio::spawn(async move {
            let mut files = Vec::new();
            for way in ways {
                let going = AssertUnwindSafe(go(&carrier, &way, &confirmed)).catch_unwind();
                files.push(going.await.unwrap_or_else(|_| {
                    let reason = "a fault in Azimuth; its log says more".into();
                    Gone::not(&carrier, &way, RestoreOutcome::Failed { reason })
                }));
            }
            files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
            let _ = own.send(Own::Restored(Box::new(Restored { direction, turn_ids, files, reply })));
        });
    }

    /// Takes the news of an undo or redo, and goes on with what waited for it.
    pub(super) fn files_restored(&mut self, restored: Restored) {
        self.begun -= 1;
        let Restored { direction, turn_ids, files, reply } = restored;
        let wire: Vec<_> = files.iter().map(|gone| gone.file.clone()).collect();
        if wire.iter().any(|file| !file.steps.is_empty()) {
            let (turn_ids, files) = (turn_ids.clone(), wire.clone());
            self.record(Event::CheckpointRestored { direction, turn_ids, files });
            self.reading.search.forget_files();
            self.problems.edited();
        }
        let mut written = Vec::new();
        for gone in files.iter().filter(|gone| !gone.file.steps.is_empty()) {
            written.extend(gone.text.is_some().then(|| gone.path.clone()));
            if let Some(text) = &gone.text {
                self.note_ours(&gone.path, gone.before.as_ref(), gone.after.as_ref(), gone.was_clean);
                // An editor has said what its documents are now, or will; nobody tells of the disk.
                if matches!(self.reading.reader.buffers().get(&gone.path), Open::No) {
                    self.review.base_changed(&gone.path, Base::Text(text.as_deref()));
                }
            }
            if direction == Direction::Undo {
                self.drop_landed(&gone.path, &turn_ids);
            }
            self.review.told(&gone.path);
        }
        self.shared.tell_servers(written);
        self.answer_when_stored(reply, Ok(CheckpointRestoreResult { turn_ids, files: wire }));
        self.go_on_with_held();
    }

    /// Nothing is taken back or put again any more.
    fn go_on_with_held(&mut self) {
        let held = self.held.take().unwrap_or_default();
        self.review_changed();
        for held in held {
            match held {
                Held::Request(caller, request) => self.request(caller, request),
                Held::Prepared(prepared) => self.own(Own::Prepared(prepared)),
            }
        }
    }

    /// Whether something waits until an undo or redo has changed the files: what starts a turn, changes files itself,
    /// or would be decided on texts that are about to be others.
    pub(super) fn hold(&mut self, caller: Caller, request: Request) -> Option<(Caller, Request)> {
        let waits = matches!(
            request,
            Request::TurnStart(..)
                | Request::ReviewDecide(..)
                | Request::CheckpointUndo(..)
                | Request::CheckpointRedo(..)
        );
        match &mut self.held {
            Some(held) if waits => {
                held.push(Held::Request(caller, request));
                None
            }
            _ => Some((caller, request)),
        }
    }

    fn turns_meant(&self, direction: Direction, turn: Option<&TurnId>, and_later: bool) -> Result<Vec<TurnId>, Error> {
        let meant = self.state.checkpoints.meant(direction, turn, and_later);
        meant.ok_or_else(|| Error::not_found("turn", turn.map_or("", TurnId::as_str)))
    }

    /// The undecided hunks that only these turns had a part in.
    fn undecided_of(&self, turns: &[TurnId]) -> Vec<DecisionTarget> {
        let proposals = self.review.proposals().into_iter().filter(|proposal| !proposal.landed);
        let targets = proposals.filter_map(|proposal| {
            let undecided = proposal.hunks.iter().filter(|hunk| {
                matches!(hunk.state, HunkState::Pending | HunkState::Conflicted)
                    && self.state.checkpoints.are_of(&hunk.tool_call_ids, turns)
            });
            let ids: Vec<_> = undecided.map(|hunk| hunk.hunk_id.clone()).collect();
            let (proposal_id, revision) = (proposal.proposal_id.clone(), proposal.revision);
            (!ids.is_empty()).then_some(DecisionTarget { proposal_id, revision, hunk_ids: Some(ids) })
        });
        targets.collect()
    }

    fn reject_undecided_of(&mut self, turns: &[TurnId]) {
        let targets = self.undecided_of(turns);
        if targets.is_empty() {
            return;
        }
        let (session_id, message) = (self.id.clone(), Some(TAKEN_BACK.to_owned()));
        let params = ReviewDecideParams { session_id, decision: Decision::Reject, targets, message };
        if let Err(error) = self.decide(params) {
            tracing::warn!(%error, "hunks of a turn that is undone could not be rejected");
        }
    }
}

/// A file as it is now.
struct Now {
    image: Option<FileImage>,
    text: Option<Arc<str>>,
    /// All of it, where no editor holds it.
    whole: Option<Whole>,
}

/// What can be done for a file.
enum Verdict {
    /// It is as wanted already.
    Already,
    /// It is as the turns left it.
    Ready(Target),
    /// Somebody changed it since; so, if the user wants it all the same.
    Changed(Target, String),
    /// What it was is not kept.
    NotKept(String),
    /// What it is now cannot be told.
    Unreadable(String),
}

/// What a file is to be.
struct Target {
    text: Option<Arc<str>>,
    exactly: Option<Exactly>,
    /// Whether what somebody changed since is in the text.
    merged: bool,
}

/// Looks at a file. Blocks.
fn judge(carrier: &Carrier, way: &Way) -> (Option<Now>, Verdict) {
    if let Some(unknown) = &way.unknown {
        return (None, Verdict::NotKept(unknown.clone()));
    }
    let now = match paths::from_uri(&way.uri).map_err(|error| error.to_string()).and_then(|path| now(carrier, &path)) {
        Ok(now) => now,
        Err(reason) => return (None, Verdict::Unreadable(reason)),
    };
    let is = |image: Option<&FileImage>| match (&now.image, image) {
        (None, None) => true,
        (Some(now_is), Some(image)) => {
            now_is.hash == image.hash && (now.whole.is_none() || image.bytes.is_none() || now_is.bytes == image.bytes)
        }
        _ => false,
    };
    if is(way.to()) {
        return (Some(now), Verdict::Already);
    }
    let target = match target(&*carrier.store, way.to()) {
        Ok(target) => target,
        Err(StoreError::NotFound { .. }) => {
            let reason = "what it was is no longer kept; the setting `checkpoint_days` says for how long it is";
            return (Some(now), Verdict::NotKept(reason.into()));
        }
        Err(error) => return (Some(now), Verdict::NotKept(error.to_string())),
    };
    let why = if !is(way.from()) && way.later {
        "a later turn changed it too; take that back first"
    } else if !is(way.from()) {
        "it was changed since"
    } else if !way.unbroken {
        "it was changed by others between the agent's edits"
    } else {
        return (Some(now), Verdict::Ready(target));
    };
    let merged = if way.unbroken { merged(carrier, way, &now, &target) } else { None };
    let verdict = match merged {
        Some(target) => Verdict::Changed(target, format!("{why}; if you confirm it, what was changed stays")),
        None => Verdict::Changed(target, why.to_owned()),
    };
    (Some(now), verdict)
}

/// The text as it is now with only the turns' change in it taken back, or put again, where the lines beside it are as
/// they were.
fn merged(carrier: &Carrier, way: &Way, now: &Now, target: &Target) -> Option<Target> {
    let from = self::target(&*carrier.store, way.from()).ok()?.text?;
    let (now, to) = (now.text.as_deref()?, target.text.as_deref()?);
    // The change is a proposal for the text that the turns left, and follows it to what that has become.
    let path = paths::from_uri(&way.uri).ok()?;
    let plan = FilePlan { path: path.clone(), read: Some(hash(&from)), new_text: Some(to.to_owned()), moved_to: None };
    let mut review = Review::default();
    review.propose(&plan, Some(&*from), "", &way.uri, &ToolCallId::from("")).ok()?;
    review.base_changed(&path, Some(now));
    let hunks: Vec<_> = review.proposals().into_iter().flat_map(|proposal| proposal.hunks).collect();
    let fits = !hunks.is_empty() && hunks.iter().all(|hunk| hunk.state == HunkState::Pending);
    let text = review.overlay().get(&path)?.clone()?;
    fits.then_some(Target { text: Some(text), exactly: None, merged: true })
}

fn now(carrier: &Carrier, path: &Path) -> Result<Now, String> {
    let file = match carrier.reader.base(path) {
        Ok(file) => file,
        Err(ReadError::File(FileError::NotFound { .. })) => return Ok(Now { image: None, text: None, whole: None }),
        Err(error) => return Err(error.to_string()),
    };
    if file.source != Source::Disk {
        return Ok(Now { image: Some(FileImage::text(file.hash.0)), text: Some(file.text), whole: None });
    }
    let whole = files::read_whole(path).map_err(|error| error.to_string())?;
    Ok(Now { image: Some(image(&whole)), text: Some(Arc::clone(&whole.decoded.text)), whole: Some(whole) })
}

fn target(store: &dyn Store, image: Option<&FileImage>) -> Result<Target, StoreError> {
    let Some(image) = image else { return Ok(Target { text: None, exactly: None, merged: false }) };
    let text = String::from_utf8(store.blob(&image.hash)?)
        .map_err(|_| StoreError::Failed("a kept text is not UTF-8".to_owned()))?;
    Ok(Target { text: Some(text.into()), exactly: Some(kept_file(store, image)?), merged: false })
}

/// What a file that is kept was beyond its text. Blocks.
pub(super) fn kept_file(store: &dyn Store, image: &FileImage) -> Result<Exactly, StoreError> {
    let bytes = image.bytes.as_ref().map(|hash| store.blob(hash)).transpose()?;
    Ok(Exactly { bytes: bytes.map(Into::into), executable: image.executable })
}

/// What clients are shown of files. Blocks.
fn looked_at(carrier: &Carrier, direction: Direction, ways: Vec<Way>) -> Vec<CheckpointFile> {
    let mut files: Vec<_> = ways.iter().map(|way| looked(carrier, direction, way)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn looked(carrier: &Carrier, direction: Direction, way: &Way) -> CheckpointFile {
    let (applied, undone) = match direction {
        Direction::Undo => (CheckpointState::Applied, CheckpointState::Undone),
        Direction::Redo => (CheckpointState::Undone, CheckpointState::Applied),
    };
    let (now, verdict) = judge(carrier, way);
    let is_as_left = matches!(verdict, Verdict::Ready(_));
    let merges = matches!(verdict, Verdict::Changed(Target { merged: true, .. }, _));
    let (state, reason) = match verdict {
        Verdict::Already => (undone, None),
        Verdict::Ready(_) => (applied, None),
        Verdict::Changed(_, reason) => (CheckpointState::ChangedSince, Some(reason)),
        Verdict::NotKept(reason) => (CheckpointState::NotKept, Some(reason)),
        Verdict::Unreadable(reason) => (CheckpointState::Unreadable, Some(reason)),
    };
    let kept = |image| target(&*carrier.store, image).ok().map(|target| target.text.unwrap_or_default());
    // What a command left is kept only once it is taken back.
    let from = match &now {
        Some(now) if is_as_left => Some(now.text.clone().unwrap_or_default()),
        _ => kept(way.from()),
    };
    let (from, to) = ((way.from(), from), (way.to(), kept(way.to())));
    let ((before, old), (after, new)) = match direction {
        Direction::Undo => (to, from),
        Direction::Redo => (from, to),
    };
    let change = match (before, after) {
        (None, Some(_)) => FileChange::Create,
        (Some(_), None) => FileChange::Delete,
        _ => FileChange::Modify,
    };
    let (added, removed) = old.zip(new).map_or((0, 0), |(old, new)| size(&old, &new));
    let now = now.and_then(|now| now.image).map(|image| image.hash);
    let (uri, path) = (way.uri.clone(), display(carrier, way));
    CheckpointFile { uri, path, change, added, removed, state, reason, merges, now }
}

/// How many lines a change adds and removes.
fn size(before: &str, after: &str) -> (u32, u32) {
    let edits = to_line_edits(before, after);
    let added: usize = edits.iter().map(|edit| edit.new_text.lines().count()).sum();
    let removed: usize = edits.iter().map(|edit| edit.end_line - edit.start_line).sum();
    (u32::try_from(added).unwrap_or(u32::MAX), u32::try_from(removed).unwrap_or(u32::MAX))
}

fn display(carrier: &Carrier, way: &Way) -> String {
    paths::from_uri(&way.uri).map_or_else(|_| way.uri.clone(), |path| carrier.roots.display(&path))
}

/// Sets a file as it is to be, if nobody has changed it since or the user confirms just what it is now.
async fn go(carrier: &Carrier, way: &Way, confirmed: &[ConfirmedFile]) -> Gone {
    let (looking, looked) = (carrier.clone(), way.clone());
    let judged = tokio::task::spawn_blocking(move || judge(&looking, &looked)).await;
    let not = |outcome| Gone::not(carrier, way, outcome);
    let left = |reason: String| not(RestoreOutcome::Left { reason });
    let (now, verdict) = match judged {
        Ok((_, Verdict::NotKept(reason))) => return left(reason),
        Ok((_, Verdict::Unreadable(reason))) => return not(RestoreOutcome::Failed { reason }),
        Ok((Some(now), verdict)) => (now, verdict),
        Ok((None, _)) => return not(RestoreOutcome::Failed { reason: "it could not be looked at".into() }),
        Err(error) => return not(RestoreOutcome::Failed { reason: error.to_string() }),
    };
    let now_hash = now.image.as_ref().map(|image| &image.hash);
    let target = match verdict {
        Verdict::Already => return Gone::done(carrier, way, &now, RestoreOutcome::Done),
        Verdict::Ready(target) => target,
        Verdict::Changed(target, why) => match confirmed.iter().find(|file| file.uri == way.uri) {
            Some(file) if file.now.as_ref() == now_hash => target,
            Some(_) => return left("it was changed again after it was confirmed; look at it again".into()),
            None => return left(why),
        },
        Verdict::NotKept(reason) | Verdict::Unreadable(reason) => return left(reason),
    };
    if let Err(error) = keep_what_is(carrier, &now).await {
        return not(RestoreOutcome::Failed { reason: format!("what it is could not be kept: {error}") });
    }
    let Ok(path) = paths::from_uri(&way.uri) else {
        return not(RestoreOutcome::Failed { reason: "it is no file".into() });
    };
    let edits = match (&now.text, &target.text) {
        (Some(old), Some(new)) => to_line_edits(old, new),
        _ => Vec::new(),
    };
    let change = Change {
        path,
        base_hash: now_hash.cloned().map(TextHash),
        base_text: now.text.clone(),
        target_text: target.text.clone(),
        edits,
        moved_to: None,
        exactly: target.exactly.clone(),
    };
    let carried = carrier.carry_out(&change).await;
    let outcome = match carried.outcome {
        ApplyOutcome::Verified => RestoreOutcome::Done,
        ApplyOutcome::Unverified => RestoreOutcome::Unverified,
        ApplyOutcome::Failed { reason } => return not(RestoreOutcome::Failed { reason }),
    };
    let mut way = way.clone();
    let after = change.target_text.as_deref().map(hash).filter(|_| outcome == RestoreOutcome::Done);
    if target.merged {
        way.lead_to(change.target_text.as_deref().map(|text| FileImage::text(hash(text).0)));
    }
    let (way, text) = (&way, Some(change.target_text));
    Gone { after, was_clean: carried.was_clean, text, ..Gone::done(carrier, way, &now, outcome) }
}

/// Keeps what is about to be written over, byte for byte.
async fn keep_what_is(carrier: &Carrier, now: &Now) -> Result<(), StoreError> {
    let (store, whole) = (Arc::clone(&carrier.store), now.whole.clone());
    blocking(move || whole.map_or(Ok(()), |whole| keep(&*store, &whole).map(drop))).await
}

impl Gone {
    /// A file that was not touched.
    fn not(carrier: &Carrier, way: &Way, outcome: RestoreOutcome) -> Self {
        let (uri, path) = (way.uri.clone(), display(carrier, way));
        let file = RestoredFile { uri, path, outcome, steps: Vec::new() };
        Self { file, path: PathBuf::new(), before: None, after: None, was_clean: false, text: None }
    }

    /// A file that is as wanted. Its steps lead from what it really was.
    fn done(carrier: &Carrier, way: &Way, now: &Now, outcome: RestoreOutcome) -> Self {
        let mut steps = way.steps.clone();
        // Where it was as wanted already, the turn's own change is what can be put again.
        let was_wanted = same(now.image.as_ref(), way.to());
        if !was_wanted
            && !same(now.image.as_ref(), way.from())
            && let Some(first) = steps.first_mut()
        {
            first.from.clone_from(&now.image);
        }
        // Each step begins where the one before it ended.
        let ends: Vec<_> = steps.iter().map(|step| step.to.clone()).collect();
        steps.iter_mut().skip(1).zip(ends).for_each(|(step, end)| step.from = end);
        let file = RestoredFile { uri: way.uri.clone(), path: display(carrier, way), outcome, steps };
        let path = paths::from_uri(&way.uri).unwrap_or_default();
        let before = now.image.as_ref().map(|image| TextHash(image.hash.clone()));
        Self { file, path, before, after: None, was_clean: false, text: None }
    }
}
