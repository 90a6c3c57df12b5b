//! The work of an undo or redo on files: how each is looked at, and how its way is gone. Apart from the session's task.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::edit::{FilePlan, TextHash};
use ports::store::{Store, StoreError};
use project::files::{self, FileError, Whole};
use project::paths;
use project::reader::{ReadError, Source};
use project::review::{Review, to_line_edits};
use project::text::hash;
use protocol::ToolCallId;
use protocol::checkpoint::{
    CheckpointFile, CheckpointState, ConfirmedFile, Direction, FileImage, RestoreOutcome, RestoredFile,
};
use protocol::event::ApplyOutcome;
use protocol::review::{FileChange, HunkState};

use crate::feed::blocking;
use crate::session::checkpoints::{Way, same};
use crate::session::edits::{Carrier, Change, Exactly, image, keep, kept_file};

/// A file, after its way was gone or not.
pub(super) struct Gone {
    pub(super) file: RestoredFile,
    pub(super) path: PathBuf,
    /// The hash of its text before, and after if that is sure; and whether the document held nothing unsaved before.
    pub(super) before: Option<TextHash>,
    pub(super) after: Option<TextHash>,
    pub(super) was_clean: bool,
    /// The text that was written; the inner `None` if the file was deleted, the outer if nothing was written.
    pub(super) text: Option<Option<Arc<str>>>,
}

/// A file as it is now.
struct Now {
    image: Option<FileImage>,
    text: Option<Arc<str>>,
    /// All of it, where no editor holds it.
    whole: Option<Whole>,
}

/// The result of a look at a file: what can be done for it.
enum Verdict {
    /// It is as wanted already.
    Already,
    /// It is as the turns left it.
    Ready(Target),
    /// Somebody changed it since; so, if the user wants it all the same.
    Changed(Target, String),
    /// The file as it was is not kept.
    NotKept(String),
    /// The file as it is now cannot be read.
    Unreadable(String),
}

/// The state that a file is to have.
struct Target {
    text: Option<Arc<str>>,
    exactly: Option<Exactly>,
    /// True if what somebody changed since is in the text.
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
            let reason =
                "its earlier text is no longer kept; the setting `checkpoint_days` says for how long texts are kept";
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

/// Returns the files as clients are shown them. Blocks.
pub(super) fn looked_at(carrier: &Carrier, direction: Direction, ways: Vec<Way>) -> Vec<CheckpointFile> {
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
    // A text that a command left is kept only once it is taken back.
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

/// Returns the numbers of lines that a change adds and removes.
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
pub(super) async fn go(carrier: &Carrier, way: &Way, confirmed: &[ConfirmedFile]) -> Gone {
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
    pub(super) fn not(carrier: &Carrier, way: &Way, outcome: RestoreOutcome) -> Self {
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
