//! The session's handling of the requests and messages for its edits. Each step is recorded before the next one is
//! taken, since that reads what the log comes to.

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures_util::FutureExt;
use ports::edit::{EditPlan, EditRefused, Proposed};
use ports::session::Unsettled;
use project::buffers::Open;
use project::paths;
use project::review::{Application, Note, Review};
use project::text::hash;
use protocol::checkpoint::FileImage;
use protocol::event::{ApplyOutcome, SeenOccasion};
use protocol::review::{
    Decision, DecisionTarget, ReviewChangeParams, ReviewCommentParams, ReviewDecideParams, ReviewResult,
};
use protocol::session::Purpose;
use protocol::{Event, ToolCallId, TurnId, methods};
use tokio::sync::oneshot;

use super::carry::{Carried, Carrier, Change, NewPlace};
use super::formatting::{Answered, Put};
use super::landings::Landings;
use super::saving::{NotSavedReason, Saver, unsaved};
use super::settling::Settling;
use super::{Context, Decided, Edits, Message};
use crate::request::Handlers;
use crate::session::{Caller, Own, Session, gate};
use crate::{ClientId, Error};

/// Registers the requests about proposed edits.
pub(in crate::session) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .at_once::<methods::ReviewList>(|session, _, _| Ok(ReviewResult { proposals: session.edits.proposals() }))
        .at_once::<methods::ReviewDecide>(|session, _, params| session.decide(&params))
        .at_once::<methods::ReviewText>(|session, _, params| session.edits.texts(&params.proposal_id))
        .at_once::<methods::ReviewChange>(|session, _, params| session.change(&params))
        .on::<methods::ReviewComment>(|session, _, params, reply| {
            let result = session.comment(&params);
            session.answer_when_stored(reply, result);
        });
}

/// Accepted hunks that arrived in their document, or did not.
pub(in crate::session) struct Applied {
    application: Application,
    carried: Carried,
    /// The file's text after a failure, which may be another than the change was made for; `None` if it is not known.
    /// The inner `None` if there is no file.
    now: Option<Option<Arc<str>>>,
    /// The client whose documents counted when it was sent off.
    home: Option<ClientId>,
}

impl Session {
    /// The edits, and what they are told of the session.
    pub(in crate::session) fn edits(&mut self) -> (&mut Edits, Context<'_>) {
        let Self { edits, state, reading, config, .. } = self;
        (edits, Context { state, reading, config })
    }

    /// Takes what comes back for the edits.
    pub(in crate::session) fn edits_message(&mut self, message: Message) {
        match message {
            // One of a turn that was broken off comes to nothing: its end is in the log.
            Message::Propose(turn, call, plan, bases, reply) if self.prompts.turn() == Some(&turn) => {
                self.propose(&call, plan, bases, reply);
            }
            Message::Propose(..) => {}
            Message::Proposed(call, reply) => drop(reply.send(self.edits.proposed(&call))),
            Message::Unsettled(reply) => self.unsettled(reply),
            Message::AcceptAll(done) => self.accept_hunks(self.edits.all_pending(), None, done),
            Message::Save { own, done } => self.save(own, done),
            Message::PlanRefused(texts, error, reply) => {
                texts.iter().for_each(|(path, text)| self.base_read(path, text.as_deref()));
                let _ = reply.send(Err(error));
            }
            Message::Applied(applied) => self.applied(*applied),
            Message::Deleting(uri, now, stored) => {
                self.record(Event::FileSeen { uri, now: Some(now), occasion: SeenOccasion::Deletion });
                self.when_stored(stored);
            }
            Message::BaseRead(path, text) => self.base_read(&path, text.as_deref()),
            Message::FormatAnswered(answered) => self.format_answered(*answered),
            Message::FormatterAnswered(language) => self.edits.formatting.answers_again(&language),
            Message::Unheard(call) => self.tell_unheard(Some(&call)),
            Message::Saved { own, failures, done } => {
                let notice = self.edits.saved(own, &failures);
                self.record_all(notice);
                let _ = done.send(failures);
            }
            Message::SuggestionSettled(failures) => self.suggestion_settled(&failures),
            Message::EditsSaved(failures) => {
                let notice = self.edits.formatting.edits_saved(&failures);
                self.record_all(notice);
            }
        }
    }

    /// Makes a plan a proposal.
    fn propose(
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
        let files: Vec<_> = plan.files.iter().map(|file| file.path.clone()).collect();
        let (edits, Context { state, reading, .. }) = self.edits();
        // A file of which the rest is missing waits for it, so that nothing is cut short.
        let applied = gate::accepts(state, &reading.roots, files.iter().map(PathBuf::as_path))
            && !ports::file_block::is_cut(call);
        let proposed = match edits.take_plan(call, plan, bases, applied, reading) {
            Ok(proposed) => proposed,
            Err(error) => return edits.refuse_plan(files, error, reply, reading),
        };
        self.review_changed();
        if !applied {
            let _ = reply.send(Ok(proposed));
            return;
        }
        let (done, applied) = oneshot::channel();
        let (edits, Context { state, reading, .. }) = self.edits();
        // It may have had a part in a file that is moved on with one of its own, and waits for the user.
        let accepts = |file: &Path| gate::accepts(state, &reading.roots, std::iter::once(file));
        let targets = edits.review.pending_of(call, accepts);
        self.accept_hunks(targets, Some(call.clone()), done);
        let (own, call) = (self.work.own.clone(), call.clone());
        tokio::spawn(async move {
            let failures = applied.await.unwrap_or_default();
            let failed = EditRefused::Failed(failures.join("; "));
            if reply.send(failures.is_empty().then_some(proposed).ok_or(failed)).is_err() {
                let _ = own.send(Own::Edits(Message::Unheard(call)));
            }
        });
    }

    /// Takes a decision of the user's.
    pub(in crate::session) fn decide(&mut self, params: &ReviewDecideParams) -> Result<ReviewResult, Error> {
        let Decided { events, proposals, applications } = self.edits.decide(params)?;
        self.record_all(events);
        self.review_changed();
        for application in applications {
            self.apply(application);
        }
        // Those who wait for pending hunks to be decided may go on.
        self.settle();
        Ok(ReviewResult { proposals })
    }

    /// Takes what the user says of a hunk, for the model.
    fn comment(&mut self, params: &ReviewCommentParams) -> Result<ReviewResult, Error> {
        let proposal = self.edits.comment(params)?;
        self.review_changed();
        Ok(ReviewResult { proposals: vec![proposal] })
    }

    /// Makes what the user wants of a file the proposed text.
    fn change(&mut self, params: &ReviewChangeParams) -> Result<ReviewResult, Error> {
        let proposals = self.edits.change(params)?;
        self.review_changed();
        Ok(ReviewResult { proposals })
    }

    /// Accepts hunks; `done` hears what did not arrive.
    pub(super) fn accept_hunks(
        &mut self,
        targets: Vec<DecisionTarget>,
        call: Option<ToolCallId>,
        done: oneshot::Sender<Vec<String>>,
    ) {
        let session_id = self.id().clone();
        let params = ReviewDecideParams { session_id, decision: Decision::Accept, targets, message: None };
        match self.decide(&params) {
            Ok(_) => self.edits.settling.push(Settling::new(call, done)),
            Err(error) => drop(done.send(vec![error.message])),
        }
        self.settle();
    }

    /// Answers those who wait for accepted hunks to arrive, once none is on its way any more and what they changed is
    /// formatted.
    pub(in crate::session) fn settle(&mut self) {
        if self.edits.are_applying() {
            return;
        }
        self.tell_halves();
        let (editor, is_held) = (self.clients.editor(), self.undo.is_on());
        let (edits, context) = self.edits();
        edits.begin_to_format(editor.as_ref(), is_held, context);
        if edits.formatting.is_running() {
            return;
        }
        self.save_edited();
        self.edits.settling.drain(..).for_each(Settling::end);
        self.restore_if_settled();
    }

    /// Puts accepted hunks, or a formatter's text, into their document, after those of the same file that are on their
    /// way.
    fn apply(&mut self, application: Application) {
        self.watch.changed_by_us(&application);
        self.edits.applying.push(application);
        self.begin_to_apply();
    }

    /// Begins what waits for nothing that is on its way.
    fn begin_to_apply(&mut self) {
        for application in self.edits.applying.begin() {
            self.carry(application);
        }
    }

    /// Puts hunks into their document: through the editor where it has the file open, else on disk.
    fn carry(&self, application: Application) {
        let (own, store) = (self.work.own.clone(), Arc::clone(&self.shared.parts.store));
        let exactly = self.edits.exactly(&application, &self.state, store);
        let carrier = Carrier { before_deletion: Some(self.work.own.clone()), ..self.carrier() };
        let home = self.clients.home().map(|home| home.id);
        let new_place = application.moved_to.clone().map(|path| NewPlace {
            made: application.calls.last().is_some_and(|call| self.has_arrived(&path, call)),
            coming: self.edits.review.coming(&path),
            path,
        });
        tokio::spawn(async move {
            let exactly = tokio::task::spawn_blocking(exactly).await.ok().flatten();
            let change = Change { exactly, ..Change::new(&application, new_place) };
            let buffers = carrier.reader.buffers();
            buffers.expect(&change.path, change.target_text.as_deref().map(hash));
            let carried = AssertUnwindSafe(carrier.carry_out(&change)).catch_unwind().await;
            buffers.expect(&change.path, None);
            let carried = carried.unwrap_or_else(|_| Carried::failed("a fault in Azimuth; its log says more"));
            let now = match &carried.outcome {
                ApplyOutcome::Failed { .. } => carrier.now(application.path.clone()).await,
                ApplyOutcome::Verified | ApplyOutcome::Unverified => None,
            };
            let _ = own.send(Own::Edits(Message::Applied(Box::new(Applied { application, carried, now, home }))));
        });
    }

    /// True if all that a call does to a file is in it.
    fn has_arrived(&self, path: &Path, call: &ToolCallId) -> bool {
        self.state.checkpoints.parts.has_arrived(&paths::to_uri(path), call)
    }

    /// Who carries changes of files out, as things are now.
    pub(in crate::session) fn carrier(&self) -> Carrier {
        Carrier {
            session: self.id().clone(),
            store: Arc::clone(&self.shared.parts.store),
            reader: Arc::clone(&self.reading.reader),
            roots: Arc::clone(&self.reading.roots),
            editor: self.clients.editor(),
            others: self.clients.followers().map(|follower| Arc::clone(&follower.buffers)).collect(),
            before_deletion: None,
        }
    }

    /// Where a file was made to which another is still to be moved, what the user makes of it is not another's text,
    /// after a restart either: so it is put on record when they save it.
    pub(in crate::session) fn saved_where_moved_to(&mut self, path: &Path) {
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
    fn applied(&mut self, applied: Applied) {
        let Applied { application, carried, now, home } = applied;
        let outcome = carried.outcome.clone();
        let verified = outcome == ApplyOutcome::Verified;
        let failed = matches!(outcome, ApplyOutcome::Failed { .. });
        if !(application.hunk_ids.is_empty() && failed) {
            let after = application.target_text.as_deref().map(hash).filter(|_| verified);
            let before = application.base_hash.as_ref();
            self.edits.ours.note(&application.path, before, after.as_ref(), carried.was_clean);
        }
        if !failed {
            self.edits.problems().edited();
        }
        if verified {
            let moved_to = application.moved_to.iter().cloned();
            self.shared.tell_servers(moved_to.chain([application.path.clone()]).collect());
        }
        // Another client's document of that file is not the one that it arrived in.
        let is_in_ours = verified && self.clients.is_home(home);
        self.edits.applying.end(&application);
        self.conclude(&application, carried, is_in_ours);
        if failed {
            // Those after it were made for the text that it would have left, so they are void. What would have been
            // moved there stays.
            for void in self.edits.applying.take_void(&application) {
                self.conclude(&void, Carried::failed("an edit before it could not be applied"), false);
                if void.path != application.path {
                    self.text_changed(&void.path);
                }
            }
        }
        // A change that failed was made for a text that is no longer there; and what the user typed into a document
        // with a change on its way was not looked at until now.
        let is_open = matches!(self.reading.reader.buffers().get(&application.path), Open::Yes(_));
        match now {
            Some(text) => self.base_read(&application.path, text.as_deref()),
            None if failed || is_open || self.edits.waits_to_land(&application.path) => {
                self.text_changed(&application.path);
            }
            None => {}
        }
        // The change in the file is on record before what waits for it begins.
        self.review_changed();
        self.begin_to_apply();
        self.settle();
    }

    /// Puts on record what came of accepted hunks, or of a formatter's changes.
    fn conclude(&mut self, application: &Application, carried: Carried, is_in_ours: bool) {
        self.watch.no_longer_coming(application, carried.written);
        let (edits, context) = self.edits();
        let event = edits.conclude(application, carried, is_in_ours, context);
        self.record_all(event);
    }

    /// Takes what a file would be, as a formatter says.
    fn format_answered(&mut self, answered: Answered) {
        let (edits, context) = self.edits();
        let Some(Put { notice, application }) = edits.format_answered(answered, context) else { return };
        self.record_all(notice);
        if let Some(application) = application {
            self.review_changed();
            self.apply(application);
        }
        self.settle();
    }

    /// Lists what others changed, but where edits are accepted automatically: it is kept at once.
    pub(in crate::session) fn list_landed(&mut self, turn: &TurnId, landings: Landings) {
        if !self.config.review_commands || self.state.accepts_as_they_come() {
            return;
        }
        let (edits, context) = self.edits();
        let notice = edits.list_landed(turn, landings, context);
        self.record_all(notice);
        self.review_changed();
    }

    /// The texts of all files may be others: what is pending is measured against them.
    pub(in crate::session) fn texts_changed(&mut self) {
        self.edits.undecided_files(true).iter().for_each(|path| self.text_changed(path));
    }

    /// A file's text changed: what is pending for it is measured against the new one.
    pub(in crate::session) fn text_changed(&mut self, path: &Path) {
        let (edits, context) = self.edits();
        if edits.text_changed(path, context) {
            self.review_changed();
        }
    }

    /// Takes a file's text as it was read a moment ago.
    pub(in crate::session) fn base_read(&mut self, path: &Path, text: Option<&str>) {
        let (edits, context) = self.edits();
        if edits.base_read(path, text, context) {
            self.review_changed();
        }
    }

    /// Takes up the review of the last process. Open documents are looked at at once, so that what is typed from now on
    /// is followed as the editor says it.
    pub(in crate::session) fn review_restored(&mut self, review: Review) {
        self.edits.review = review;
        self.review_changed();
        self.texts_changed();
    }

    /// Tells everybody what is pending now.
    pub(in crate::session) fn review_changed(&mut self) {
        let changed = self.edits.review.take_changed();
        self.record_all(changed.into_iter().map(|proposal| Event::ProposalChanged { proposal }));
        // An accepted suggestion is only proposed for a moment, and not to be reviewed.
        if self.state.purpose != Purpose::Suggestions {
            self.shared.board.put(self.id(), self.edits.proposals());
        }
        self.reading.overlay.set(self.edits.review.overlay());
        if self.edits.all_pending().is_empty() {
            let closed = self.gate.nothing_pending();
            self.record_closed(closed);
        }
        self.note_between_turns();
    }

    /// A running turn asks for what it should know; without one it goes into the log for the next. What an undo does to
    /// hunks is told with it.
    fn note_between_turns(&mut self) {
        if self.prompts.turn().is_none() && !self.undo.is_on() {
            self.note();
        }
    }

    /// Tells the model what became of its edits.
    pub(in crate::session) fn note(&mut self) -> Vec<Note> {
        let mut notes = self.edits.take_notes(&self.state);
        if self.state.purpose == Purpose::Suggestions {
            // No model is asked here.
            return Vec::new();
        }
        notes.extend(self.terminals.shell().take_news().into_iter().map(|text| Note { text, has_word: false }));
        for note in &notes {
            self.record(Event::Noted { turn_id: self.state.last_turn(), text: note.text.clone() });
        }
        notes
    }

    /// Tells of the calls of which a part is made and a part is not, once nothing is on its way.
    pub(in crate::session) fn tell_halves(&mut self) {
        let (notices, is_news) = self.edits.tell_halves(&self.state);
        self.record_all(notices);
        if is_news {
            self.note_between_turns();
        }
    }

    /// Tells again what was in this call's result and did not reach the model, or with none what was in any.
    pub(in crate::session) fn tell_unheard(&mut self, call: Option<&ToolCallId>) {
        self.edits.halves.unheard(call);
        if !self.edits.are_applying() {
            self.tell_halves();
        }
    }

    /// Collects the differences between the model's picture of the project and the disk, for the command barrier.
    fn unsettled(&mut self, reply: oneshot::Sender<Unsettled>) {
        if self.edits.are_on() {
            // Accepted hunks are on their way, or are being formatted: the command waits until the disk has them.
            let (done, settled) = oneshot::channel();
            self.edits.settling.push(Settling::new(None, done));
            let own = self.work.own.clone();
            tokio::spawn(async move {
                let _ = settled.await;
                let _ = own.send(Own::Edits(Message::Unsettled(reply)));
            });
            return;
        }
        let mut unsettled = self.edits.pending();
        let (documents, ours) = (unsaved(&self.state, &self.reading), self.edits.ours.clone());
        let roots = Arc::clone(&self.reading.roots);
        tokio::task::spawn_blocking(move || {
            for buffer in documents() {
                let display = roots.display(&buffer.path);
                let whose = if ours.has(&buffer) { &mut unsettled.ours } else { &mut unsettled.own };
                whose.push(display);
            }
            let _ = reply.send(unsettled);
        });
    }

    /// Saves buffers through the editor: those with nothing unsaved but our edits, and with `own` the others too.
    fn save(&mut self, own: bool, done: oneshot::Sender<Vec<String>>) {
        let (documents, ours) = (unsaved(&self.state, &self.reading), self.edits.ours.clone());
        let (saver, session) = (self.saver(), self.work.own.clone());
        tokio::spawn(async move {
            let wanted = tokio::task::spawn_blocking(move || {
                documents().into_iter().filter(|buffer| own || ours.has(buffer)).collect::<Vec<_>>()
            });
            let failures = saver.save(&wanted.await.unwrap_or_default(), own).await;
            let failures = failures.into_iter().map(|failure| failure.to_string()).collect();
            let _ = session.send(Own::Edits(Message::Saved { own, failures, done }));
        });
    }

    /// Saves the documents that edits arrived in and that hold nothing unsaved but our edits.
    fn save_edited(&mut self) {
        let wanted = self.edits.take_edited(&self.reading);
        if wanted.is_empty() {
            return;
        }
        let (saver, own) = (self.saver(), self.work.own.clone());
        tokio::spawn(async move {
            let mut failures = saver.save(&wanted, false).await;
            // A document that the user has typed into since is theirs to save.
            failures.retain(|failure| !matches!(failure.reason, NotSavedReason::Changed));
            let _ = own.send(Own::Edits(Message::EditsSaved(failures)));
        });
    }

    /// Who saves documents, as things are now.
    fn saver(&self) -> Saver {
        Saver::new(self.clients.editor(), self.reading.reader.buffers(), Arc::clone(&self.reading.roots))
    }
}
