//! Pending edits: from a plan to a proposal, from a decision into the document, and what becomes of them when the
//! document changes meanwhile. The rules are `workspace::review`'s; here they meet the editor and the disk.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::edit::{EditPlan, EditRefused, Proposed, TextHash};
use agent::session::Unsettled;
use futures_util::FutureExt;
use protocol::checkpoint::FileImage;
use protocol::event::{ApplyOutcome, SeenOccasion, Severity};
use protocol::review::{
    Decision, DecisionTarget, HunkState, ReviewChangeParams, ReviewCommentParams, ReviewDecideParams, ReviewResult,
};
use protocol::{ErrorCode, Event, ToolCallId, TurnId};
use serde_json::json;
use tokio::sync::oneshot;
use workspace::buffers::{Open, Snapshot};
use workspace::paths;
use workspace::review::{Application, Base, DecideError, Note, Review};
use workspace::text::hash;

use super::carry::{Carried, Carrier, Change, NewPlace, base};
use super::halves::Settling;
use super::port::TurnMessage;
use super::watch::{COMPARING, Found};
use super::{Own, Session, gate};
use crate::hub::chat_name::is_chat;
use crate::hub::{ClientId, Editor, Error};

/// Accepted hunks that arrived in their document, or did not.
pub(super) struct Applied {
    application: Application,
    carried: Carried,
    /// What the file is where it failed, since it may be another than that was made for; none where that is not known.
    /// The inner none where there is no file.
    now: Option<Option<Arc<str>>>,
    /// The client whose documents counted when it was sent off.
    home: Option<ClientId>,
}

/// What a command left.
pub(super) struct AfterCommand {
    /// The texts of the files with pending hunks.
    texts: Vec<(PathBuf, Option<Arc<str>>)>,
    /// What it changed; none where that was not looked for.
    found: Option<Found>,
}

impl Session {
    /// Makes a plan a proposal. The files are read first, off this task.
    pub(super) fn propose(
        &mut self,
        call: ToolCallId,
        plan: EditPlan,
        reply: oneshot::Sender<Result<Proposed, EditRefused>>,
    ) {
        let (reader, own, problems) = (Arc::clone(&self.reading.reader), self.own.clone(), self.problems.clone());
        tokio::spawn(async move {
            problems.before(judged(&plan)).await;
            let read = tokio::task::spawn_blocking(move || {
                let bases: Result<Vec<_>, _> = plan.files.iter().map(|file| base(&reader, &file.path)).collect();
                match bases {
                    Ok(bases) => drop(own.send(Own::PlanRead(call, plan, bases, reply))),
                    Err(error) => drop(reply.send(Err(EditRefused::Failed(error.to_string())))),
                }
            });
            // Without an answer the edit has failed.
            let _ = read.await;
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
        // Its turn was cancelled meanwhile.
        if reply.is_closed() {
            return;
        }
        let before = self.review.clone();
        let paths: Vec<_> = plan.files.iter().map(|file| file.path.clone()).collect();
        let wanted: Vec<_> = plan
            .files
            .iter()
            .map(|file| (file.path.clone(), file.read.clone(), file.new_text.as_deref().map(hash)))
            .collect();
        // A file of which the rest is missing waits for it, so that nothing is cut short.
        let files = plan.files.iter().map(|file| file.path.as_path());
        let applied = gate::accepts(&self.state, &self.reading.roots, files) && !agent::file_blocks::is_cut(call);
        let mut proposed = Proposed { pending_hunks: 0, added: 0, removed: 0, applied };
        let mut there = Vec::new();
        for (mut file, base) in plan.files.into_iter().zip(bases) {
            // Where the new place has the text already, nothing is to come there that is waited for.
            file.moved_to.take_if(|to| there.contains(to));
            // What was read may be older than what the editor has said since.
            let open = self.reading.reader.buffers().get(&file.path);
            let base = match &open {
                // No file, which the editor shows as an empty document or with its last text.
                Open::Yes(snapshot) if base.is_none() && snapshot.may_be_no_file() => Base::Text(None),
                Open::Yes(snapshot) => Base::Open(snapshot),
                Open::No | Open::OutOfSync => Base::Text(base.as_deref()),
            };
            let display = self.reading.roots.display(&file.path);
            let uri = paths::to_uri(&file.path);
            match self.review.propose(&file, base, &display, &uri, call) {
                Ok(change) => {
                    there.extend((change.pending == 0).then_some(file.path));
                    proposed.pending_hunks += change.pending;
                    proposed.added += change.added;
                    proposed.removed += change.removed;
                }
                Err(error) => {
                    self.review = before;
                    return self.refuse_plan(paths, error, reply);
                }
            }
        }
        for (path, read, now) in wanted {
            self.reading.seen.edited(&path, read.as_ref(), now);
        }
        self.problems.edited();
        self.review_changed();
        if applied {
            let (done, applied) = oneshot::channel();
            // It may have had a part in a file that is moved on with one of its own, and waits for the user.
            let accepts = |file: &Path| gate::accepts(&self.state, &self.reading.roots, std::iter::once(file));
            let targets = self.review.pending_of(call, accepts);
            self.accept_hunks(targets, Some(call.clone()), done);
            let (own, call) = (self.own.clone(), call.clone());
            tokio::spawn(async move {
                let failures = applied.await.unwrap_or_default();
                let failed = EditRefused::Failed(failures.join("; "));
                if reply.send(failures.is_empty().then_some(proposed).ok_or(failed)).is_err() {
                    let _ = own.send(Own::Unheard(call));
                }
            });
        } else {
            let _ = reply.send(Ok(proposed));
        }
    }

    /// Refuses a plan once its files are read again: the model reads them as they are before it tries again, and what
    /// was read for the plan may be older than what the session has heard of them since.
    fn refuse_plan(
        &self,
        paths: Vec<PathBuf>,
        error: EditRefused,
        reply: oneshot::Sender<Result<Proposed, EditRefused>>,
    ) {
        let (reader, own) = (Arc::clone(&self.reading.reader), self.own.clone());
        tokio::task::spawn_blocking(move || {
            let texts = paths.into_iter().filter_map(|path| base(&reader, &path).ok().map(|text| (path, text)));
            let _ = own.send(Own::PlanRefused(texts.collect(), error, reply));
        });
    }

    pub(super) fn decide(&mut self, params: ReviewDecideParams) -> Result<ReviewResult, Error> {
        let decided =
            self.review.decide(params.decision, &params.targets, params.message.as_deref()).map_err(not_decided)?;
        for (proposal_id, hunk_ids) in decided.hunks {
            let (decision, message) = (params.decision, params.message.clone());
            self.record(Event::ReviewDecided { proposal_id, hunk_ids, decision, message });
        }
        let proposals = decided.proposals;
        self.problems.edited();
        self.review_changed();
        for application in decided.applications {
            self.apply(application);
        }
        // What waits for pending hunks to be decided may go on.
        self.settle();
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

    /// Accepts everything that is pending; answers when it has arrived.
    pub(super) fn accept_all(&mut self, done: oneshot::Sender<Vec<String>>) {
        self.accept_hunks(self.review.all_pending(), None, done);
    }

    fn accept_hunks(
        &mut self,
        targets: Vec<DecisionTarget>,
        call: Option<ToolCallId>,
        done: oneshot::Sender<Vec<String>>,
    ) {
        let params =
            ReviewDecideParams { session_id: self.id.clone(), decision: Decision::Accept, targets, message: None };
        match self.decide(params) {
            Ok(_) => self.settling.push(Settling::new(call, done)),
            Err(error) => drop(done.send(vec![error.message])),
        }
        self.settle();
    }

    /// Answers those who wait for accepted hunks to arrive, once none is on its way any more and what they changed is
    /// formatted.
    pub(super) fn settle(&mut self) {
        if self.review.is_applying() {
            return;
        }
        self.tell_halves();
        self.format_and_save();
        if self.formatting.is_running() {
            return;
        }
        self.settling.drain(..).for_each(Settling::end);
        self.restore_if_settled();
    }

    /// Puts accepted hunks, or a formatter's text, into their document, after those of the same file that are on their
    /// way.
    pub(super) fn apply(&mut self, application: Application) {
        self.watch.changed_by_us(&application);
        self.applying.push(application);
        self.begin_to_apply();
    }

    /// Begins what waits for nothing that is on its way.
    fn begin_to_apply(&mut self) {
        for application in self.applying.begin() {
            self.carry(application);
        }
    }

    /// Puts hunks into their document: through the editor where it has the file open, else on disk.
    fn carry(&self, application: Application) {
        let (own, exactly) = (self.own.clone(), self.exactly(&application));
        let carrier = Carrier { before_deletion: Some(self.own.clone()), ..self.carrier() };
        let home = self.home.as_ref().map(|home| home.id);
        let new_place = application.moved_to.clone().map(|path| NewPlace {
            made: application.calls.last().is_some_and(|call| self.has_arrived(&path, call)),
            coming: self.review.coming(&path),
            path,
        });
        tokio::spawn(async move {
            let exactly = tokio::task::spawn_blocking(exactly).await.ok().flatten();
            let change = Change { exactly, ..Change::new(&application, new_place) };
            let carried = AssertUnwindSafe(carrier.carry_out(&change)).catch_unwind().await;
            let carried = carried.unwrap_or_else(|_| Carried::failed("a fault in Azimuth; its log says more"));
            let now = match &carried.outcome {
                ApplyOutcome::Failed { .. } => carrier.now(application.path.clone()).await,
                ApplyOutcome::Verified | ApplyOutcome::Unverified => None,
            };
            let _ = own.send(Own::Applied(Box::new(Applied { application, carried, now, home })));
        });
    }

    /// Whether all that a call does to a file is in it.
    fn has_arrived(&self, path: &Path, call: &ToolCallId) -> bool {
        self.state.checkpoints.parts.has_arrived(&paths::to_uri(path), call)
    }

    /// Who carries changes of files out, as things are now.
    pub(super) fn carrier(&self) -> Carrier {
        Carrier {
            session: self.id.clone(),
            store: Arc::clone(&self.shared.parts.store),
            reader: Arc::clone(&self.reading.reader),
            roots: Arc::clone(&self.reading.roots),
            editor: self.home_editor(),
            others: self.followers.values().map(|follower| Arc::clone(&follower.buffers)).collect(),
            before_deletion: None,
        }
    }

    /// Where a file was made to which another is still to be moved, what the user makes of it is not another's text,
    /// after a restart either: so it is put on record when they save it.
    pub(super) fn saved_where_moved_to(&mut self, path: &Path) {
        let uri = paths::to_uri(path);
        let Open::Yes(document) = self.reading.reader.buffers().get(path) else { return };
        let parts = &self.state.checkpoints.parts;
        let is_saved = document.saved_version == Some(document.version);
        if !is_saved || !parts.is_other(&uri, Some(&document.hash().0)) {
            return;
        }
        if self.state.proposals.values().any(|waits| waits.moved_to.as_ref() == Some(&uri)) {
            let now = Some(FileImage::text(&document.hash().0));
            self.record(Event::FileSeen { uri, now, occasion: SeenOccasion::Save });
        }
    }

    /// Takes the news of accepted hunks.
    pub(super) fn applied(&mut self, applied: Applied) {
        let Applied { application, carried, now, home } = applied;
        let outcome = carried.outcome.clone();
        let verified = outcome == ApplyOutcome::Verified;
        let failed = matches!(outcome, ApplyOutcome::Failed { .. });
        if !(application.hunk_ids.is_empty() && failed) {
            let after = application.target_text.as_deref().map(hash).filter(|_| verified);
            self.note_ours(&application.path, application.base_hash.as_ref(), after.as_ref(), carried.was_clean);
        }
        if !failed {
            self.problems.edited();
        }
        if verified {
            let moved_to = application.moved_to.iter().cloned();
            self.shared.tell_servers(moved_to.chain([application.path.clone()]).collect());
        }
        // Another client's document of that file is not the one that it arrived in.
        let is_in_ours = verified && home == self.home.as_ref().map(|home| home.id);
        self.applying.end(&application);
        self.conclude(&application, carried, is_in_ours);
        if failed {
            // Those after it were made for the text that it would have left, so they are void. What would have been
            // moved there stays.
            for void in self.applying.take_void(&application) {
                self.conclude(&void, Carried::failed("an edit before it could not be applied"), false);
                if void.path != application.path {
                    self.text_changed(&void.path);
                }
            }
        }
        // What failed was made for a text that is no longer there; and what the user typed into one that was on its way
        // was not looked at until now.
        let is_open = matches!(self.reading.reader.buffers().get(&application.path), Open::Yes(_));
        match now {
            Some(text) => self.base_read(&application.path, text.as_deref()),
            None if failed || is_open || self.waits_to_land(&application.path) => {
                self.text_changed(&application.path);
            }
            None => {}
        }
        // What is in its file by now is on record before what waits for it begins.
        self.review_changed();
        self.begin_to_apply();
        self.settle();
    }

    /// Puts on record what came of accepted hunks, or of a formatter's changes.
    fn conclude(&mut self, application: &Application, carried: Carried, is_in_ours: bool) {
        let is_formatting = application.hunk_ids.is_empty();
        self.watch.no_longer_coming(application, carried.written);
        if let ApplyOutcome::Failed { reason } = &carried.outcome
            && !is_formatting
        {
            self.not_made(application, reason);
        }
        // The last of those whose calls had a part in it.
        let turn_id = self.state.checkpoints.last_of(&application.calls).cloned();
        self.review.applied(application, &carried.outcome);
        if is_in_ours {
            self.arrived(application, turn_id.clone());
        }
        if is_formatting {
            return self.formatted(application, carried);
        }
        self.record(Event::EditApplied {
            proposal_id: application.proposal_id.clone(),
            hunk_ids: application.hunk_ids.clone(),
            turn_id,
            uri: paths::to_uri(&application.path),
            before: carried.before,
            after: application.target_text.as_deref().map(|text| hash(text).0),
            deleted: carried.deleted.map(Box::new),
            outcome: carried.outcome,
        });
    }

    /// Ours are texts that held nothing unsaved but edits of ours; anything typed since makes them the user's own. A
    /// file's text was changed by us from the one with the hash `before` to the one with the hash `after`, none where
    /// that is not sure.
    pub(super) fn note_ours(
        &mut self,
        path: &Path,
        before: Option<&TextHash>,
        after: Option<&TextHash>,
        was_clean: bool,
    ) {
        let was_ours = self.ours.get(path) == before;
        match after {
            Some(after) if was_clean || was_ours => drop(self.ours.insert(path.to_path_buf(), after.clone())),
            _ => drop(self.ours.remove(path)),
        }
    }

    /// What a call has proposed already, as it stands; none if nothing of it is undecided.
    pub(super) fn proposed(&self, call: &ToolCallId) -> Option<Proposed> {
        let proposals = self.review.proposals().into_iter().filter(|proposal| !proposal.landed);
        let hunks = proposals.flat_map(|proposal| proposal.hunks);
        let undecided = hunks.filter(|hunk| hunk.state == HunkState::Pending && hunk.tool_call_ids.contains(call));
        undecided.fold(None, |sum: Option<Proposed>, hunk| {
            let mut sum = sum.unwrap_or(Proposed { pending_hunks: 0, added: 0, removed: 0, applied: false });
            sum.pending_hunks += 1;
            sum.added += hunk.new_text.lines().count();
            sum.removed += hunk.old_text.lines().count();
            Some(sum)
        })
    }

    /// Looks at all files with pending hunks again after a command, which may have changed any of them, and then at
    /// what the model has seen of other files.
    pub(super) fn after_command(&mut self, turn: TurnId, call: ToolCallId, reply: oneshot::Sender<Vec<String>>) {
        self.watch.command_ended();
        let look = self.look_after_command(&turn, &call);
        // The look finds what becomes of what others changed.
        let proposals = self.review.proposals().into_iter().filter(|proposal| look.is_none() || !proposal.landed);
        let paths: Vec<_> = proposals.filter_map(|proposal| paths::from_uri(&proposal.uri).ok()).collect();
        let reader = Arc::clone(&self.reading.reader);
        let read = move |path: PathBuf| match base(&reader, &path) {
            Ok(text) => Some((path, text)),
            Err(error) => {
                tracing::warn!(%error, "a file with pending hunks cannot be read");
                None
            }
        };
        // An undo waits for it, whatever comes of it.
        let texts = move || {
            let reading = || paths.into_iter().filter_map(read).collect();
            std::panic::catch_unwind(AssertUnwindSafe(reading)).unwrap_or_default()
        };
        match look {
            Some((since, look)) => self.watch.begin_look(Some(since), COMPARING, move |left| {
                let after = AfterCommand { texts: texts(), found: Some(look.find(left)) };
                Own::ReadAfterCommand(Box::new(after), reply)
            }),
            None => {
                let own = self.own.clone();
                tokio::task::spawn_blocking(move || {
                    let after = AfterCommand { texts: texts(), found: None };
                    let _ = own.send(Own::ReadAfterCommand(Box::new(after), reply));
                });
            }
        }
    }

    /// Takes the texts that a command left.
    pub(super) fn read_after_command(&mut self, after: AfterCommand, reply: oneshot::Sender<Vec<String>>) {
        let AfterCommand { texts, found } = after;
        self.watch.command_compared();
        for (path, text) in texts {
            self.base_read(&path, text.as_deref());
        }
        if let Some(found) = found {
            self.record_found(found);
        }
        let (reader, roots, seen) =
            (Arc::clone(&self.reading.reader), Arc::clone(&self.reading.roots), self.reading.seen.clone());
        tokio::task::spawn_blocking(move || {
            let changed = seen.take_changed(&reader);
            let _ = reply.send(changed.iter().map(|path| roots.display(path)).collect());
        });
        self.restore_if_settled();
    }

    /// The texts of all files may be others: what is pending is measured against them.
    pub(super) fn texts_changed(&mut self) {
        let uris: Vec<_> = self.review.proposals().into_iter().map(|proposal| proposal.uri).collect();
        uris.iter().filter_map(|uri| paths::from_uri(uri).ok()).for_each(|path| self.text_changed(&path));
    }

    /// A file's text changed: what is pending for it is measured against the new one.
    pub(super) fn text_changed(&mut self, path: &Path) {
        if !self.review.concerns(path) && !self.waits_to_land(path) {
            return;
        }
        match self.reading.reader.buffers().get(path) {
            Open::Yes(snapshot) => {
                self.base_changed(path, Base::Open(&snapshot));
                self.land_waiting(path, None);
            }
            Open::OutOfSync => {}
            Open::No => {
                let (path, reader, own) = (path.to_path_buf(), Arc::clone(&self.reading.reader), self.own.clone());
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
        match self.reading.reader.buffers().get(path) {
            Open::No => {
                self.base_changed(path, Base::Text(text));
                self.land_waiting(path, Some(text));
            }
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
        self.reading.overlay.set(self.review.overlay());
        self.drop_moot_questions();
        self.note_between_turns();
    }

    /// A running turn asks for what it should know; without one it goes into the log for the next. What an undo does to
    /// hunks is told with it.
    pub(super) fn note_between_turns(&mut self) {
        if self.turn.is_none() && self.held.is_none() {
            self.note();
        }
    }

    /// A turn that waits to be told what becomes of pending hunks before a command goes on once none is pending.
    fn drop_moot_questions(&mut self) {
        if self.review.all_pending().is_empty() {
            let closed = self.gate.nothing_pending();
            self.record_closed(closed);
        }
    }

    /// Tells the model what became of its edits.
    pub(super) fn note(&mut self) -> Vec<Note> {
        let state = &self.state;
        let mut notes = self.review.notes(&|calls| state.who(calls));
        notes.extend(self.halves.take_news());
        notes.extend(self.formatting.take_news());
        notes.extend(self.terminals.shell().take_news().into_iter().map(|text| Note { text, has_word: false }));
        for note in &notes {
            self.record(Event::Noted { turn_id: self.state.last_turn(), text: note.text.clone() });
        }
        notes
    }

    /// What stands between the model's picture of the project and the disk: what the command barrier settles.
    pub(super) fn unsettled(&mut self, reply: oneshot::Sender<Unsettled>) {
        if self.review.is_applying() || self.formatting.is_running() {
            // Accepted hunks are on their way, or are being formatted: the command waits until the disk has them.
            let (done, settled) = oneshot::channel();
            self.settling.push(Settling::new(None, done));
            let own = self.own.clone();
            tokio::spawn(async move {
                let _ = settled.await;
                let _ = own.send(Own::Turn(TurnMessage::Unsettled(reply)));
            });
            return;
        }
        let mut unsettled = Unsettled::default();
        for proposal in self.review.proposals().into_iter().filter(|proposal| !proposal.landed) {
            let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
            if pending > 0 {
                unsettled.pending_hunks += pending;
                unsettled.pending_files.push(proposal.path);
            }
        }
        let (documents, roots, ours) = (self.unsaved(), Arc::clone(&self.reading.roots), self.ours.clone());
        tokio::task::spawn_blocking(move || {
            for buffer in documents() {
                let display = roots.display(&buffer.path);
                let whose = if is_ours(&ours, &buffer) { &mut unsettled.ours } else { &mut unsettled.own };
                whose.push(display);
            }
            let _ = reply.send(unsettled);
        });
    }

    /// Saves buffers through the editor: those with nothing unsaved but our edits, and with `own` the others too.
    pub(super) fn save(&mut self, own: bool, done: oneshot::Sender<Vec<String>>) {
        let (documents, ours) = (self.unsaved(), self.ours.clone());
        let (saver, session) = (self.saver(), self.own.clone());
        tokio::spawn(async move {
            let wanted = tokio::task::spawn_blocking(move || {
                documents().into_iter().filter(|buffer| own || is_ours(&ours, buffer)).collect::<Vec<_>>()
            });
            let failures = saver.save(&wanted.await.unwrap_or_default(), own).await;
            let failures = failures.into_iter().map(|failure| failure.to_string()).collect();
            let _ = session.send(Own::Saved { own, failures, done });
        });
    }

    /// Tells the user what was not saved: of their own text, which they wanted saved, each time, and else
    /// once for as long as it is the same. The turn is told each time.
    pub(super) fn saved(&mut self, own: bool, failures: Vec<String>, done: oneshot::Sender<Vec<String>>) {
        if !failures.is_empty() && (own || failures != self.not_saved) {
            let text = format!("{}. Commands see what is on disk; save it yourself", failures.join("; "));
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        self.not_saved.clone_from(&failures);
        let _ = done.send(failures);
    }

    /// The project's documents with text that is not saved, for who looks for them, which blocks. One that the editor
    /// has not changed since it was on disk, and that a command or another program changed there, holds nothing of the
    /// user's.
    fn unsaved(&self) -> impl FnOnce() -> Vec<Arc<Snapshot>> + Send + 'static {
        let (reader, roots) = (Arc::clone(&self.reading.reader), Arc::clone(&self.reading.roots));
        let is_left_behind = |buffer: &Snapshot| match buffer.saved_version {
            Some(saved) => saved == buffer.version,
            // An editor can open a document with text that is not saved; what others found in its file was there.
            None => buffer.version == buffer.opened_version && self.state.has_changed(&buffer.path, buffer.hash()),
        };
        let left_behind = reader.buffers().all().into_iter().filter(|buffer| is_left_behind(buffer));
        let left_behind: HashSet<_> = left_behind.map(|buffer| (buffer.path.clone(), buffer.version)).collect();
        move || {
            let is_one = |buffer: &Arc<Snapshot>| {
                !is_chat(&buffer.uri)
                    && roots.check(&buffer.path).is_ok()
                    && !left_behind.contains(&(buffer.path.clone(), buffer.version))
            };
            reader.unsaved().into_iter().filter(is_one).collect()
        }
    }

    /// The editor whose unsaved texts count.
    pub(super) fn home_editor(&self) -> Option<Arc<dyn Editor>> {
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
        DecideError::Conflicted { .. } | DecideError::Landed { .. } => {
            Error::new(ErrorCode::OperationFailed, error.to_string())
        }
    }
}

/// Whether a buffer holds nothing unsaved but our accepted edits.
pub(super) fn is_ours(ours: &HashMap<PathBuf, TextHash>, buffer: &Snapshot) -> bool {
    ours.get(&buffer.path) == Some(buffer.hash())
}

/// The files of a plan whose problems it may change. One that is moved has no text before at its new place, and takes
/// its problems there.
fn judged(plan: &EditPlan) -> Vec<PathBuf> {
    let is_moved_to = |path: &PathBuf| plan.files.iter().any(|file| file.moved_to.as_ref() == Some(path));
    let stays = plan.files.iter().filter(|file| file.new_text.is_some() && !is_moved_to(&file.path));
    stays.map(|file| file.path.clone()).collect()
}
