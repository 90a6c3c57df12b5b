//! Pending edits: from a plan to a proposal, from a decision into the document, and what becomes of them when the
//! document changes meanwhile (design D4). The rules are `workspace::review`'s; here they meet the editor and the disk.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::edit::{EditPlan, EditRefused, Proposed, TextHash};
use agent::session::{Answer, Unsettled};
use agent::store::Store;
use futures_util::FutureExt;
use protocol::event::{ApplyOutcome, Severity};
use protocol::permission::{PermissionAbout, PermissionOutcome};
use protocol::review::{
    Decision, DecisionTarget, HunkState, ReviewChangeParams, ReviewCommentParams, ReviewDecideParams, ReviewResult,
};
use protocol::{ErrorCode, Event, ToolCallId};
use serde_json::json;
use tokio::sync::oneshot;
use workspace::buffers::{Buffers, Open, Snapshot};
use workspace::files::{self, FileError};
use workspace::paths::{self, Roots};
use workspace::reader::{ReadError, Reader};
use workspace::review::{Application, Base, DecideError, LineEdit, Note, Review, with_mark};
use workspace::text::hash;

use super::port::TurnMessage;
use super::{Own, Question, Session};
use crate::hub::chat_name::is_chat;
use crate::hub::feed::blocking;
use crate::hub::{DocumentEdit, Editor, EditorError, Error};

/// How long to wait for the editor to show an edit that it took; clients send changes with a delay.
const VERIFY: Duration = Duration::from_secs(3);

/// Accepted hunks that arrived in their document, or did not.
pub(super) struct Applied {
    application: Application,
    outcome: ApplyOutcome,
    /// The hash under which the text before is kept.
    before: Option<String>,
    /// Whether the document is open and held nothing unsaved before.
    was_clean: bool,
}

impl Session {
    /// Makes a plan a proposal. The files are read first, off this task.
    pub(super) fn propose(
        &mut self,
        call: ToolCallId,
        plan: EditPlan,
        reply: oneshot::Sender<Result<Proposed, EditRefused>>,
    ) {
        let (reader, own) = (Arc::clone(&self.reader), self.own.clone());
        tokio::task::spawn_blocking(move || {
            let bases: Result<Vec<_>, _> = plan.files.iter().map(|file| base(&reader, &file.path)).collect();
            match bases {
                Ok(bases) => drop(own.send(Own::PlanRead(call, plan, bases, reply))),
                Err(error) => drop(reply.send(Err(EditRefused::Failed(error.to_string())))),
            }
        });
    }

    /// Takes a plan whose files were read. All of its files are proposed, or none.
    pub(super) fn plan_read(
        &mut self,
        call: &ToolCallId,
        plan: EditPlan,
        bases: Vec<Option<Arc<str>>>,
        reply: oneshot::Sender<Result<Proposed, EditRefused>>,
    ) {
        let before = self.review.clone();
        let wanted: Vec<_> = plan
            .files
            .iter()
            .map(|file| (file.path.clone(), file.read.clone(), file.new_text.as_deref().map(hash)))
            .collect();
        let mut proposed = Proposed { pending_hunks: 0, added: 0, removed: 0, applied: self.state.accept_edits };
        for (file, base) in plan.files.into_iter().zip(bases) {
            // What was read may be older than what the editor has said since.
            let open = self.reader.buffers().get(&file.path);
            let base = match &open {
                // No file, which the editor shows as an empty document.
                Open::Yes(snapshot) if base.is_none() && snapshot.is_blank() => Base::Text(None),
                Open::Yes(snapshot) => Base::Open(snapshot),
                Open::No | Open::OutOfSync => Base::Text(base.as_deref()),
            };
            let display = self.roots.display(&file.path);
            let uri = paths::to_uri(&file.path);
            match self.review.propose(&file, base, &display, &uri, call) {
                Ok(change) => {
                    proposed.pending_hunks += change.pending;
                    proposed.added += change.added;
                    proposed.removed += change.removed;
                }
                Err(error) => {
                    self.review = before;
                    let _ = reply.send(Err(error));
                    return;
                }
            }
        }
        for (path, read, now) in wanted {
            self.seen.edited(&path, read.as_ref(), now);
        }
        self.review_changed();
        if self.state.accept_edits {
            let (done, applied) = oneshot::channel();
            self.accept_hunks(self.review.pending_of(call), done);
            tokio::spawn(async move {
                let failures = applied.await.unwrap_or_default();
                let _ = reply.send(if failures.is_empty() {
                    Ok(proposed)
                } else {
                    Err(EditRefused::Failed(failures.join("; ")))
                });
            });
        } else {
            let _ = reply.send(Ok(proposed));
        }
    }

    pub(super) fn decide(&mut self, params: ReviewDecideParams) -> Result<ReviewResult, Error> {
        let decided =
            self.review.decide(params.decision, &params.targets, params.message.as_deref()).map_err(not_decided)?;
        for (proposal_id, hunk_ids) in decided.hunks {
            let (decision, message) = (params.decision, params.message.clone());
            self.record(Event::ReviewDecided { proposal_id, hunk_ids, decision, message });
        }
        let proposals = decided.proposals;
        self.review_changed();
        for application in decided.applications {
            self.apply(application);
        }
        Ok(ReviewResult { proposals })
    }

    /// Takes what the user says of a hunk, for the model.
    pub(super) fn comment(&mut self, params: &ReviewCommentParams) -> Result<ReviewResult, Error> {
        let text = params.text.trim();
        if text.is_empty() {
            return Err(Error::new(ErrorCode::InvalidParams, "invalid params: `text`: it is empty"));
        }
        let proposal = self.review.comment(&params.proposal_id, &params.hunk_id, text).map_err(not_decided)?;
        self.review_changed();
        Ok(ReviewResult { proposals: vec![proposal] })
    }

    /// Makes what the user wants of a file the proposed text.
    pub(super) fn change(&mut self, params: &ReviewChangeParams) -> Result<ReviewResult, Error> {
        let changed = self.review.change(&params.proposal_id, params.revision, &params.text).map_err(not_decided)?;
        self.review_changed();
        Ok(ReviewResult { proposals: changed })
    }

    /// Has edits accepted as they come from now on, or no longer.
    pub(super) fn accept_edits(&mut self, on: bool) {
        if on != self.state.accept_edits {
            self.record(Event::AcceptEditsChanged { on });
        }
    }

    /// Accepts everything that is pending; answers when it has arrived.
    pub(super) fn accept_all(&mut self, done: oneshot::Sender<Vec<String>>) {
        self.accept_hunks(self.review.all_pending(), done);
    }

    fn accept_hunks(&mut self, targets: Vec<DecisionTarget>, done: oneshot::Sender<Vec<String>>) {
        let params =
            ReviewDecideParams { session_id: self.id.clone(), decision: Decision::Accept, targets, message: None };
        match self.decide(params) {
            Ok(_) => self.settling.push((done, Vec::new())),
            Err(error) => drop(done.send(vec![error.message])),
        }
        self.settle();
    }

    /// Answers those who wait for accepted hunks to arrive, once none is on its way any more.
    fn settle(&mut self) {
        if self.review.is_applying() {
            return;
        }
        for (done, failures) in self.settling.drain(..) {
            let _ = done.send(failures);
        }
    }

    /// Puts accepted hunks into their document, after those of the same file that are on their way.
    fn apply(&mut self, application: Application) {
        let queue = queue(&application).to_path_buf();
        let on_their_way = self.applying.entry(queue.clone()).or_default();
        on_their_way.push_back(application);
        if on_their_way.len() == 1 {
            self.apply_first(&queue);
        }
    }

    /// Starts the first application of a queue: through the editor where it has the file open, else on disk.
    fn apply_first(&mut self, queue: &Path) {
        let Some(application) = self.applying.get(queue).and_then(VecDeque::front).cloned() else { return };
        let (reader, roots, own) = (Arc::clone(&self.reader), Arc::clone(&self.roots), self.own.clone());
        let (store, editor) = (Arc::clone(&self.shared.parts.store), self.home_editor());
        let others: Vec<_> = self.followers.values().map(|follower| Arc::clone(&follower.buffers)).collect();
        tokio::spawn(async move {
            let carried_out = carry_out(&application, store, &reader, roots, editor, &others);
            let carried_out = AssertUnwindSafe(carried_out).catch_unwind();
            let (outcome, before, was_clean) = carried_out.await.unwrap_or_else(|_| {
                let reason = "a fault in Azimuth; its log says more".into();
                (ApplyOutcome::Failed { reason }, None, false)
            });
            let _ = own.send(Own::Applied(Box::new(Applied { application, outcome, before, was_clean })));
        });
    }

    /// Takes the news of accepted hunks.
    pub(super) fn applied(&mut self, applied: Applied) {
        let Applied { application, outcome, before, was_clean } = applied;
        if let ApplyOutcome::Failed { reason } = &outcome {
            for (_, failures) in &mut self.settling {
                failures.push(format!("{}: {reason}", self.roots.display(&application.path)));
            }
        }
        let after = application.target_text.as_deref().map(hash);
        // Ours are texts that held nothing unsaved but edits of ours; anything typed since makes them the user's own.
        let was_ours = self.ours.get(&application.path) == application.base_hash.as_ref();
        match (&outcome, &after) {
            (ApplyOutcome::Verified, Some(after)) if was_clean || was_ours => {
                self.ours.insert(application.path.clone(), after.clone());
            }
            _ => drop(self.ours.remove(&application.path)),
        }
        self.review.applied(&application, &outcome);
        let mut rest = self.applying.remove(queue(&application)).unwrap_or_default();
        rest.pop_front();
        let failed = matches!(outcome, ApplyOutcome::Failed { .. });
        self.record(Event::EditApplied {
            proposal_id: application.proposal_id.clone(),
            hunk_ids: application.hunk_ids.clone(),
            uri: paths::to_uri(&application.path),
            before,
            after: after.map(|hash| hash.0),
            outcome,
        });
        if failed {
            // Those after it were made for the text that it would have left, and the review has taken them back.
            let (void, others) = rest.into_iter().partition(|it: &Application| it.path == application.path);
            rest = others;
            for void in Vec::from(void) {
                let reason = "an edit before it could not be applied".to_owned();
                self.record(Event::EditApplied {
                    proposal_id: void.proposal_id,
                    hunk_ids: void.hunk_ids,
                    uri: paths::to_uri(&void.path),
                    before: None,
                    after: None,
                    outcome: ApplyOutcome::Failed { reason },
                });
            }
        }
        // What failed was made for a text that is no longer there; and what the user typed into one that was on its way was
        // not looked at until now.
        if failed || matches!(self.reader.buffers().get(&application.path), Open::Yes(_)) {
            self.text_changed(&application.path);
        }
        if !rest.is_empty() {
            self.applying.insert(queue(&application).to_path_buf(), rest);
            self.apply_first(queue(&application));
        }
        self.review_changed();
        self.settle();
    }

    /// What a call has proposed already, as it stands; none if nothing of it is undecided.
    pub(super) fn proposed(&self, call: &ToolCallId) -> Option<Proposed> {
        let hunks = self.review.proposals().into_iter().flat_map(|proposal| proposal.hunks);
        let undecided = hunks.filter(|hunk| hunk.state == HunkState::Pending && hunk.tool_call_ids.contains(call));
        undecided.fold(None, |sum: Option<Proposed>, hunk| {
            let mut sum = sum.unwrap_or(Proposed { pending_hunks: 0, added: 0, removed: 0, applied: false });
            sum.pending_hunks += 1;
            sum.added += hunk.new_text.lines().count();
            sum.removed += hunk.old_text.lines().count();
            Some(sum)
        })
    }

    /// Looks at all files with pending hunks again after a command, which may have changed any of them, and then at what
    /// the model has seen of other files.
    pub(super) fn after_command(&mut self, reply: oneshot::Sender<Vec<String>>) {
        let uris = self.review.proposals().into_iter().map(|proposal| proposal.uri);
        let paths: Vec<_> = uris.filter_map(|uri| paths::from_uri(&uri).ok()).collect();
        let (reader, own) = (Arc::clone(&self.reader), self.own.clone());
        tokio::task::spawn_blocking(move || {
            let texts = paths.into_iter().filter_map(|path| match base(&reader, &path) {
                Ok(text) => Some((path, text)),
                Err(error) => {
                    tracing::warn!(%error, "a file with pending hunks cannot be read");
                    None
                }
            });
            let _ = own.send(Own::ReadAfterCommand(texts.collect(), reply));
        });
    }

    /// Takes the texts that a command left.
    pub(super) fn read_after_command(
        &mut self,
        texts: Vec<(PathBuf, Option<Arc<str>>)>,
        reply: oneshot::Sender<Vec<String>>,
    ) {
        for (path, text) in texts {
            self.base_read(&path, text.as_deref());
        }
        let (reader, roots, seen) = (Arc::clone(&self.reader), Arc::clone(&self.roots), self.seen.clone());
        tokio::task::spawn_blocking(move || {
            let changed = seen.take_changed(&reader);
            let _ = reply.send(changed.iter().map(|path| roots.display(path)).collect());
        });
    }

    /// The texts of all files may be others: what is pending is measured against them.
    pub(super) fn texts_changed(&mut self) {
        let uris: Vec<_> = self.review.proposals().into_iter().map(|proposal| proposal.uri).collect();
        uris.iter().filter_map(|uri| paths::from_uri(uri).ok()).for_each(|path| self.text_changed(&path));
    }

    /// A file's text changed: what is pending for it is measured against the new one.
    pub(super) fn text_changed(&mut self, path: &Path) {
        if !self.review.concerns(path) {
            return;
        }
        match self.reader.buffers().get(path) {
            Open::Yes(snapshot) => self.base_changed(path, Base::Open(&snapshot)),
            Open::OutOfSync => {}
            Open::No => {
                let (path, reader, own) = (path.to_path_buf(), Arc::clone(&self.reader), self.own.clone());
                tokio::task::spawn_blocking(move || match base(&reader, &path) {
                    Ok(text) => drop(own.send(Own::BaseRead(path, text))),
                    Err(error) => tracing::warn!(%error, "a file with pending hunks cannot be read"),
                });
            }
        }
    }

    /// Takes up the review of the last process. Open documents are looked at at once, so that what is typed from now on
    /// is followed as the editor says it.
    pub(super) fn review_restored(&mut self, review: Review) {
        self.review = review;
        self.review_changed();
        let uris = self.review.proposals().into_iter().map(|proposal| proposal.uri);
        let paths: Vec<_> = uris.filter_map(|uri| paths::from_uri(&uri).ok()).collect();
        paths.iter().for_each(|path| self.text_changed(path));
    }

    /// Takes a file's text as it was read a moment ago, unless an editor has it open by now.
    pub(super) fn base_read(&mut self, path: &Path, text: Option<&str>) {
        match self.reader.buffers().get(path) {
            Open::No => self.base_changed(path, Base::Text(text)),
            Open::Yes(_) | Open::OutOfSync => self.text_changed(path),
        }
    }

    fn base_changed(&mut self, path: &Path, base: Base<'_>) {
        if self.review.base_changed(path, base) {
            self.review_changed();
        }
    }

    /// Tells everybody what is pending now.
    pub(super) fn review_changed(&mut self) {
        for proposal in self.review.take_changed() {
            self.record(Event::ProposalChanged { proposal });
        }
        self.shared.board.put(&self.id, self.review.proposals());
        self.overlay.set(self.review.overlay());
        self.drop_moot_questions();
        // A running turn asks for what it should know; without one it goes into the log for the next.
        if self.turn.is_none() {
            self.note();
        }
    }

    /// A turn that waits to be told what becomes of pending hunks before a command goes on once none is pending.
    fn drop_moot_questions(&mut self) {
        if !self.review.all_pending().is_empty() {
            return;
        }
        let is_moot =
            |question: &Question| question.request.about == PermissionAbout::PendingEdits && question.waiting.is_some();
        let moot: Vec<_> = self.questions.iter().filter(|(_, it)| is_moot(it)).map(|(id, _)| id.clone()).collect();
        for id in moot {
            if let Some(Question { waiting: Some(waiting), .. }) = self.close_question(&id, PermissionOutcome::Moot) {
                let _ = waiting.send(Answer::Moot);
            }
        }
    }

    /// Tells the model what became of its edits.
    pub(super) fn note(&mut self) -> Vec<Note> {
        let notes = self.review.notes();
        for note in &notes {
            self.record(Event::Noted { turn_id: self.state.last_turn(), text: note.text.clone() });
        }
        notes
    }

    /// What stands between the model's picture of the project and the disk (design D4: the command barrier).
    pub(super) fn unsettled(&mut self, reply: oneshot::Sender<Unsettled>) {
        if self.review.is_applying() {
            // Accepted hunks are on their way: the command waits until the disk has them.
            let (done, settled) = oneshot::channel();
            self.settling.push((done, Vec::new()));
            let own = self.own.clone();
            tokio::spawn(async move {
                let _ = settled.await;
                let _ = own.send(Own::Turn(TurnMessage::Unsettled(reply)));
            });
            return;
        }
        let mut unsettled = Unsettled::default();
        for proposal in self.review.proposals() {
            let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
            if pending > 0 {
                unsettled.pending_hunks += pending;
                unsettled.pending_files.push(proposal.path);
            }
        }
        let (reader, roots, ours) = (Arc::clone(&self.reader), Arc::clone(&self.roots), self.ours.clone());
        tokio::task::spawn_blocking(move || {
            for buffer in unsaved(&reader, &roots) {
                let display = roots.display(&buffer.path);
                let whose = if is_ours(&ours, &buffer) { &mut unsettled.ours } else { &mut unsettled.own };
                whose.push(display);
            }
            let _ = reply.send(unsettled);
        });
    }

    /// Saves buffers through the editor: those with nothing unsaved but our edits, and with `own` the others too.
    pub(super) fn save(&mut self, own: bool, done: oneshot::Sender<Vec<String>>) {
        let (reader, roots, ours) = (Arc::clone(&self.reader), Arc::clone(&self.roots), self.ours.clone());
        let (editor, session) = (self.home_editor(), self.own.clone());
        tokio::spawn(async move {
            let wanted = tokio::task::spawn_blocking(move || {
                let unsaved = unsaved(&reader, &roots).into_iter();
                let wanted = unsaved.filter(|buffer| own || is_ours(&ours, buffer));
                wanted.map(|buffer| (Arc::clone(&buffer.uri), roots.display(&buffer.path))).collect::<Vec<_>>()
            });
            let mut failures = Vec::new();
            for (uri, display) in wanted.await.unwrap_or_default() {
                let saved = match &editor {
                    Some(editor) => editor.save(&uri).await,
                    None => Err(EditorError::Gone),
                };
                match saved {
                    Ok(true) => {}
                    Ok(false) => failures.push(format!("{display} is not saved: the editor could not")),
                    Err(error) => failures.push(format!("{display} is not saved: {error}")),
                }
            }
            let _ = session.send(Own::Saved { own, failures, done });
        });
    }

    /// Tells the user what was not saved before a command: of their own text, which they wanted saved, each time, and else
    /// once for as long as it is the same. The turn is told each time.
    pub(super) fn saved(&mut self, own: bool, failures: Vec<String>, done: oneshot::Sender<Vec<String>>) {
        if !failures.is_empty() && (own || failures != self.not_saved) {
            let text = format!("{}. The command sees what is on disk; save it yourself", failures.join("; "));
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        self.not_saved.clone_from(&failures);
        let _ = done.send(failures);
    }

    /// The editor whose unsaved texts count.
    fn home_editor(&self) -> Option<Arc<dyn Editor>> {
        self.home.as_ref().map(|home| Arc::clone(&home.editor))
    }
}

fn not_decided(error: DecideError) -> Error {
    match error {
        DecideError::NotFound { .. } => Error::new(ErrorCode::NotFound, error.to_string()),
        DecideError::Stale { ref proposals } => {
            let data = json!({ "proposals": proposals });
            Error::new(ErrorCode::StaleReview, error.to_string()).with_data(data)
        }
        DecideError::Conflicted { .. } => Error::new(ErrorCode::OperationFailed, error.to_string()),
    }
}

/// The file's text as the user has it; none where there is no file. Blocks.
pub(super) fn base(reader: &Reader, path: &Path) -> Result<Option<Arc<str>>, ReadError> {
    match reader.base(path) {
        Ok(file) => Ok(Some(file.text)),
        Err(ReadError::File(FileError::NotFound { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The project's documents with unsaved text. Blocks.
fn unsaved(reader: &Reader, roots: &Roots) -> Vec<Arc<Snapshot>> {
    let inside = |buffer: &Arc<Snapshot>| !is_chat(&buffer.uri) && roots.check(&buffer.path).is_ok();
    reader.unsaved().into_iter().filter(inside).collect()
}

fn is_ours(ours: &HashMap<PathBuf, TextHash>, buffer: &Snapshot) -> bool {
    ours.get(&buffer.path) == Some(buffer.hash())
}

/// The queue in which an application waits: those of a file go one after the other, and a file that is moved goes after
/// it was made at its new place.
fn queue(application: &Application) -> &Path {
    application.moved_to.as_deref().unwrap_or(&application.path)
}

/// Carries accepted hunks out. Gives how it went, the hash of the text before, and whether the document is open and held
/// nothing unsaved before. `others` are the documents of all who follow the session.
async fn carry_out(
    application: &Application,
    store: Arc<dyn Store>,
    reader: &Arc<Reader>,
    roots: Arc<Roots>,
    editor: Option<Arc<dyn Editor>>,
    others: &[Arc<Buffers>],
) -> (ApplyOutcome, Option<String>, bool) {
    let failed = |reason: String| (ApplyOutcome::Failed { reason }, None, false);
    let before = match application.base_text.clone() {
        None => None,
        Some(text) => match blocking(move || store.put_blob(text.as_bytes())).await {
            Ok(hash) => Some(hash),
            Err(error) => return failed(format!("the text before could not be kept, so it was not changed: {error}")),
        },
    };
    if let Some(new_place) = &application.moved_to {
        let (reading, path) = (Arc::clone(reader), new_place.clone());
        let there = tokio::task::spawn_blocking(move || base(&reading, &path)).await;
        if !matches!(there, Ok(Ok(Some(_)))) {
            let to = roots.display(new_place);
            return failed(format!("it is moved to {to}, which is not there yet: accept that file first"));
        }
    }
    let (outcome, was_clean) = match reader.buffers().get(&application.path) {
        Open::Yes(snapshot) => through_editor(reader, snapshot, editor, application).await,
        Open::OutOfSync => {
            return failed("what the editor holds is not known: close the document and open it again".into());
        }
        Open::No => {
            // A document may be open in an editor that has not said so yet (design D4).
            if let Some(editor) = editor
                && let Ok(Some(text)) = editor.text(&paths::to_uri(&application.path)).await
                && Some(hash(&text)) != application.base_hash
            {
                return failed("the editor has it open with another text; look at the hunks again".into());
            }
            if others.iter().any(|buffers| has_another_text(buffers, application)) {
                let reason = "it is open in another window with unsaved text, and was not changed under it; save or \
                              close it there, or send the next prompt from there, and look at the hunks again";
                return failed(reason.into());
            }
            (on_disk(roots, application).await, false)
        }
    };
    (outcome, before, was_clean)
}

/// Whether an editor has the file open with a text that the hunks were not made for.
fn has_another_text(buffers: &Buffers, application: &Application) -> bool {
    match buffers.get(&application.path) {
        // An empty document is how an editor shows a file that is not there.
        Open::Yes(snapshot) if application.base_hash.is_none() => !snapshot.is_blank(),
        Open::Yes(snapshot) => Some(snapshot.hash()) != application.base_hash.as_ref(),
        Open::OutOfSync => true,
        Open::No => false,
    }
}

/// Sends an edit of an open document and waits for the document to show it; `applied: true` alone proves nothing.
async fn through_editor(
    reader: &Arc<Reader>,
    snapshot: Arc<Snapshot>,
    editor: Option<Arc<dyn Editor>>,
    application: &Application,
) -> (ApplyOutcome, bool) {
    let failed = |reason: String| (ApplyOutcome::Failed { reason }, false);
    let Some(target) = &application.target_text else {
        return failed("it is open in the editor; close it there to have it deleted".into());
    };
    let Some(editor) = editor else { return failed("no editor is there to change the open document".into()) };
    let (reading, path) = (Arc::clone(reader), snapshot.path.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let unsaved = reading.unsaved().iter().any(|buffer| buffer.path == path);
        base(&reading, &path).map(|text| (text.as_deref().map(hash), unsaved))
    });
    let was_clean = match looked.await {
        Ok(Ok((now, unsaved))) if now == application.base_hash => !unsaved,
        Ok(Err(error)) => return failed(error.to_string()),
        _ => return failed("the document changed meanwhile; look at the hunks again".into()),
    };
    let edits = match application.base_hash {
        Some(_) => application.edits.clone(),
        // What the editor shows of a file that is not there can be an empty line.
        None => {
            let end_line = snapshot.normal().lines().count();
            vec![LineEdit { start_line: 0, end_line, new_text: target.to_string() }]
        }
    };
    let edit = DocumentEdit {
        uri: Arc::clone(&snapshot.uri),
        version: snapshot.version,
        label: "Azimuth".into(),
        edits: with_mark(edits, &snapshot.text),
    };
    if let Err(error) = editor.apply(edit).await {
        return failed(error.to_string());
    }
    let expected = hash(target);
    if reader.buffers().wait(&snapshot.path, VERIFY, |shown| *shown.hash() == expected).await.is_ok() {
        return (ApplyOutcome::Verified, was_clean);
    }
    match editor.text(&snapshot.uri).await {
        Ok(Some(text)) if hash(&text) == expected => (ApplyOutcome::Verified, was_clean),
        Ok(_) => failed("the editor said that it took the edit, but the document does not show it".into()),
        Err(_) => (ApplyOutcome::Unverified, was_clean),
    }
}

/// Writes, makes or deletes a file that no editor holds.
async fn on_disk(roots: Arc<Roots>, application: &Application) -> ApplyOutcome {
    let (path, expected) = (application.path.clone(), application.base_hash.clone());
    let target = application.target_text.clone();
    let written = tokio::task::spawn_blocking(move || {
        let path = still_writable(&roots, &path)?;
        match (target, expected) {
            (Some(text), Some(expected)) => files::write(&path, &text, &expected).map(drop),
            (Some(text), None) => files::create(&path, &text).map(drop),
            (None, Some(expected)) => files::delete(&path, &expected),
            (None, None) => Ok(()),
        }
        .map_err(|error| error.to_string())
    });
    match written.await {
        Ok(Ok(())) => ApplyOutcome::Verified,
        Ok(Err(reason)) => ApplyOutcome::Failed { reason },
        Err(error) => ApplyOutcome::Failed { reason: error.to_string() },
    }
}

/// The path, if it still leads to the file that was reviewed: a command may have made a link of a folder on the way
/// since the edit was proposed (001 §20).
fn still_writable(roots: &Roots, path: &Path) -> Result<PathBuf, String> {
    let now = roots.check(path).map_err(|error| error.to_string())?;
    let name = roots.display(path);
    if now != path {
        let elsewhere = roots.display(&now);
        return Err(format!("{name} leads to {elsewhere} by now, through a link; nothing was written"));
    }
    match roots.protected(&now) {
        None => Ok(now),
        Some(reason) => Err(format!("{name} must not be changed: {reason}; nothing was written")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_is_not_written_through_a_link_that_came_after_its_review() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        files::create(&root.join(".git/config"), "[core]\n").unwrap();
        let roots = Roots::new([&root]).unwrap();
        let reviewed = roots.resolve("build/x").unwrap();
        assert_eq!(still_writable(&roots, &reviewed), Ok(reviewed.clone()));
        std::os::unix::fs::symlink(root.join(".git"), root.join("build")).unwrap();
        let refused = still_writable(&roots, &reviewed).unwrap_err();
        assert_eq!(refused, "build/x leads to .git/x by now, through a link; nothing was written");
        let refused = still_writable(&roots, &root.join(".git/config")).unwrap_err();
        assert_eq!(refused, ".git/config must not be changed: it belongs to git itself; nothing was written");
    }
}
