//! The session's edits: from a plan to a proposal, from a decision into the document, and what is done to the document
//! then. The rules of hunks are `project::review`'s; here they meet the editor and the disk.
//!
//! [`Edits`] owns what is pending, what is on its way and who waits for it. It reads what it is told of the session and
//! gives back what is to be recorded; `routes` is what the session does with it, in the order that is its promise.

mod applying;
mod carry;
mod formatting;
mod landings;
mod routes;
mod saving;
mod settling;
mod suggested;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::edit::{EditPlan, EditRefused, Proposed, TextHash};
use ports::session::Unsettled;
use project::buffers::Open;
use project::paths;
use project::review::{Application, Base, DecideError, Note, Review};
use project::text::hash;
use protocol::checkpoint::FileImage;
use protocol::event::{ApplyOutcome, Severity};
use protocol::review::{
    DecisionTarget, HunkState, Proposal, ProposedText, ReviewChangeParams, ReviewCommentParams, ReviewDecideParams,
};
use protocol::session::Purpose;
use protocol::{ErrorCode, Event, ProposalId, ToolCallId, TurnId};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use self::applying::Applying;
use self::carry::Carried;
pub(super) use self::carry::{Carrier, Change, Exactly, image, keep, kept_file};
use self::formatting::{Answered, Formatting};
use self::landings::Listing;
pub(super) use self::landings::{Landing, Landings};
use self::routes::Applied;
pub(super) use self::routes::register;
use self::saving::{NotSaved, Ours};
pub(super) use self::settling::{CutOff, ended};
use self::settling::{Halves, Settling};
use self::suggested::Suggested;
use super::checkpoints::Checkpoints;
use super::problems::Problems;
use super::state::State;
use super::{Own, Reading};
use crate::Error;
use crate::config::Config;

/// The messages that come back to the session's task for its edits.
pub(super) enum Message {
    /// A turn proposes an edit, with the texts of its files as they were read for it; none for one that is not there.
    Propose(TurnId, ToolCallId, EditPlan, Vec<Option<Arc<str>>>, oneshot::Sender<Result<Proposed, EditRefused>>),
    /// A turn asks what a call has proposed already.
    Proposed(ToolCallId, oneshot::Sender<Option<Proposed>>),
    /// A turn asks what stands between the model's picture of the project and the disk.
    Unsettled(oneshot::Sender<Unsettled>),
    /// A turn wants all that is pending accepted.
    AcceptAll(oneshot::Sender<Vec<String>>),
    /// A turn wants documents saved, the user's own text too or not.
    Save { own: bool, done: oneshot::Sender<Vec<String>> },
    /// A plan is refused, with the texts of its files as they are now.
    PlanRefused(Vec<(PathBuf, Option<Arc<str>>)>, EditRefused, oneshot::Sender<Result<Proposed, EditRefused>>),
    /// Accepted hunks arrived in their document, or did not.
    Applied(Box<Applied>),
    /// The state of a file, by its URI, that is about to be deleted; the deletion waits until that is stored.
    Deleting(String, FileImage, oneshot::Sender<()>),
    /// A file that has pending hunks was read anew: its text, none if it is gone.
    BaseRead(PathBuf, Option<Arc<str>>),
    /// The editor says what a document would be, formatted.
    FormatAnswered(Box<Answered>),
    /// The editor's formatter of a language has answered, in time or not.
    FormatterAnswered(Arc<str>),
    /// The result of a call's edit was not heard: its turn is over.
    Unheard(ToolCallId),
    /// Documents were saved before a command, but for these failures; with `own`, the user's own text was among them.
    Saved { own: bool, failures: Vec<String>, done: oneshot::Sender<Vec<String>> },
    /// Documents that edits arrived in were saved, but for these.
    EditsSaved(Vec<NotSaved>),
    /// The accepted suggestion that was on its way is in its document, but for these failures.
    SuggestionSettled(Vec<String>),
}

/// The parts of the session that its edits see.
#[derive(Clone, Copy)]
pub(super) struct Context<'s> {
    pub(super) state: &'s State,
    pub(super) reading: &'s Reading,
    pub(super) config: &'s Config,
}

/// A session's edits.
pub(super) struct Edits {
    /// Back to the session's task.
    own: mpsc::UnboundedSender<Own>,
    review: Review,
    /// Accepted hunks on their way.
    applying: Applying,
    /// Those who wait for accepted hunks to arrive, with the failures so far.
    settling: Vec<Settling>,
    /// The news of calls of which only a part was made.
    halves: Halves,
    /// The formatting and saving of documents once accepted hunks are in them.
    formatting: Formatting,
    ours: Ours,
    /// The failures to save of which the user was last told.
    not_saved: Vec<String>,
    /// The changes by others, apart from the review.
    listing: Listing,
    /// The effects of a turn's edits on the problems of their files.
    problems: Problems,
    suggested: Suggested,
}

/// The outcome of a decision.
struct Decided {
    events: Vec<Event>,
    proposals: Vec<Proposal>,
    applications: Vec<Application>,
}

impl Edits {
    /// Nothing is proposed yet.
    pub(super) fn new(own: mpsc::UnboundedSender<Own>, problems: Problems) -> Self {
        Self {
            own,
            review: Review::default(),
            applying: Applying::default(),
            settling: Vec::new(),
            halves: Halves::default(),
            formatting: Formatting::default(),
            ours: Ours::default(),
            not_saved: Vec::new(),
            listing: Listing::default(),
            problems,
            suggested: Suggested::default(),
        }
    }

    /// The problems of the files that turns edit.
    pub(super) fn problems(&self) -> &Problems {
        &self.problems
    }

    /// All that is undecided, as clients see it.
    pub(super) fn proposals(&self) -> Vec<Proposal> {
        self.review.proposals()
    }

    /// A file's text without a proposal and with it.
    ///
    /// # Errors
    /// There is no such proposal.
    pub(super) fn texts(&self, proposal: &ProposalId) -> Result<ProposedText, Error> {
        self.review.texts(proposal).ok_or_else(|| Error::not_found("proposal", proposal))
    }

    /// True if accepted hunks are on their way into their files.
    pub(super) fn are_applying(&self) -> bool {
        self.review.is_applying()
    }

    /// True if accepted hunks are on their way, or files that they arrived in are being formatted.
    pub(super) fn are_on(&self) -> bool {
        self.are_applying() || self.formatting.is_running() || self.suggested.are_on()
    }

    /// True if an accepted suggestion is on its way, and its turn has not ended.
    pub(super) fn are_suggesting(&self) -> bool {
        self.suggested.are_on()
    }

    /// Returns the changes that are on their way into files.
    pub(super) fn on_their_way(&self) -> impl Iterator<Item = &Application> {
        self.applying.iter()
    }

    /// Separates what others change from here on from what they changed before.
    pub(super) fn mark(&mut self) {
        self.review.mark();
    }

    /// Takes a plan whose files have these texts, none for one that is not there. All of its files are proposed, or
    /// none; `applied` says whether they are accepted at once.
    ///
    /// # Errors
    /// It does not fit the texts as they are now.
    fn take_plan(
        &mut self,
        call: &ToolCallId,
        plan: EditPlan,
        bases: Vec<Option<Arc<str>>>,
        applied: bool,
        reading: &Reading,
    ) -> Result<Proposed, EditRefused> {
        let before = self.review.clone();
        let wanted: Vec<_> = plan
            .files
            .iter()
            .map(|file| (file.path.clone(), file.read.clone(), file.new_text.as_deref().map(hash)))
            .collect();
        let mut proposed = Proposed { pending_hunks: 0, added: 0, removed: 0, applied };
        let mut there = Vec::new();
        for (mut file, base) in plan.files.into_iter().zip(bases) {
            // Where the new place has the text already, nothing is to come there that is waited for.
            file.moved_to.take_if(|to| there.contains(to));
            // The text that was read may be older than the one that the editor has sent since.
            let open = reading.reader.buffers().get(&file.path);
            let base = match &open {
                // No file, which the editor shows as an empty document or with its last text.
                Open::Yes(snapshot) if base.is_none() && snapshot.may_be_no_file() => Base::Text(None),
                Open::Yes(snapshot) => Base::Open(snapshot),
                Open::No | Open::OutOfSync => Base::Text(base.as_deref()),
            };
            let display = reading.roots.display(&file.path);
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
                    return Err(error);
                }
            }
        }
        for (path, read, now) in wanted {
            reading.seen.edited(&path, read.as_ref(), now);
        }
        self.problems.edited();
        Ok(proposed)
    }

    /// Refuses a plan once its files are read again: the model reads them as they are before it tries again, and what
    /// was read for the plan may be older than what the session has heard of them since.
    fn refuse_plan(
        &self,
        paths: Vec<PathBuf>,
        error: EditRefused,
        reply: oneshot::Sender<Result<Proposed, EditRefused>>,
        reading: &Reading,
    ) {
        let (reader, own) = (Arc::clone(&reading.reader), self.own.clone());
        tokio::task::spawn_blocking(move || {
            let texts = paths.into_iter().filter_map(|path| reader.base_text(&path).ok().map(|text| (path, text)));
            let _ = own.send(Own::Edits(Message::PlanRefused(texts.collect(), error, reply)));
        });
    }

    /// Takes a decision.
    ///
    /// # Errors
    /// The review is another by now, or cannot take it.
    fn decide(&mut self, params: &ReviewDecideParams) -> Result<Decided, Error> {
        let ReviewDecideParams { decision, targets, message, .. } = params;
        let decided = self.review.decide(*decision, targets, message.as_deref()).map_err(not_decided)?;
        let event = |(proposal_id, hunk_ids)| Event::ReviewDecided {
            proposal_id,
            hunk_ids,
            decision: *decision,
            message: message.clone(),
        };
        let events = decided.hunks.into_iter().map(event).collect();
        self.problems.edited();
        Ok(Decided { events, proposals: decided.proposals, applications: decided.applications })
    }

    /// Takes what the user says of a hunk, for the model.
    ///
    /// # Errors
    /// It is empty, or there is no such hunk.
    fn comment(&mut self, params: &ReviewCommentParams) -> Result<Proposal, Error> {
        let text = params.text.trim();
        if text.is_empty() {
            return Err(Error::new(ErrorCode::InvalidParams, "invalid params: `text`: it is empty"));
        }
        self.review.comment(&params.proposal_id, &params.hunk_id, text).map_err(not_decided)
    }

    /// Makes what the user wants of a file the proposed text.
    ///
    /// # Errors
    /// The proposal is another by now, or cannot be changed.
    fn change(&mut self, params: &ReviewChangeParams) -> Result<Vec<Proposal>, Error> {
        self.review.change(&params.proposal_id, params.revision, &params.text).map_err(not_decided)
    }

    /// Returns what a call has proposed so far, as it is now; `None` if nothing of it is undecided.
    fn proposed(&self, call: &ToolCallId) -> Option<Proposed> {
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

    /// Returns the pending hunks and their files, for the command barrier.
    fn pending(&self) -> Unsettled {
        let mut unsettled = Unsettled::default();
        for proposal in self.review.proposals().into_iter().filter(|proposal| !proposal.landed) {
            let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
            if pending > 0 {
                unsettled.pending_hunks += pending;
                unsettled.pending_files.push(proposal.path);
            }
        }
        unsettled
    }

    /// The undecided hunks that only these turns had a part in.
    pub(super) fn undecided_of(&self, turns: &[TurnId], checkpoints: &Checkpoints) -> Vec<DecisionTarget> {
        let proposals = self.review.proposals().into_iter().filter(|proposal| !proposal.landed);
        let targets = proposals.filter_map(|proposal| {
            let undecided = proposal.hunks.iter().filter(|hunk| {
                matches!(hunk.state, HunkState::Pending | HunkState::Conflicted)
                    && checkpoints.are_of(&hunk.tool_call_ids, turns)
            });
            let ids: Vec<_> = undecided.map(|hunk| hunk.hunk_id.clone()).collect();
            let (proposal_id, revision) = (proposal.proposal_id.clone(), proposal.revision);
            (!ids.is_empty()).then_some(DecisionTarget { proposal_id, revision, hunk_ids: Some(ids) })
        });
        targets.collect()
    }

    /// The files of which something is undecided, those that others changed too or not.
    pub(super) fn undecided_files(&self, landed_too: bool) -> Vec<PathBuf> {
        let proposals = self.review.proposals().into_iter().filter(|proposal| landed_too || !proposal.landed);
        proposals.filter_map(|proposal| paths::from_uri(&proposal.uri).ok()).collect()
    }

    /// Takes in what came of accepted hunks, or of a formatter's changes; gives what is to be recorded. `is_in_ours`
    /// says whether they are in a document of the client whose documents count.
    fn conclude(
        &mut self,
        application: &Application,
        carried: Carried,
        is_in_ours: bool,
        context: Context<'_>,
    ) -> Option<Event> {
        let is_formatting = application.hunk_ids.is_empty();
        if let ApplyOutcome::Failed { reason } = &carried.outcome
            && !is_formatting
        {
            let failure = format!("{}: {reason}", context.reading.roots.display(&application.path));
            self.settling.iter_mut().for_each(|it| it.failed(&application.calls, &failure));
            self.halves.failed(&application.hunk_ids);
        }
        // The last of those whose calls had a part in it.
        let turn_id = context.state.checkpoints.last_of(&application.calls).cloned();
        self.review.applied(application, &carried.outcome);
        self.suggested.carried(&application.calls, &carried.outcome);
        // Where a suggestion was accepted the user is typing.
        if is_in_ours && context.state.purpose != Purpose::Suggestions {
            self.arrived(application, turn_id.clone(), context);
        }
        if is_formatting {
            return self.formatted(application, carried, context);
        }
        Some(Event::EditApplied {
            proposal_id: application.proposal_id.clone(),
            hunk_ids: application.hunk_ids.clone(),
            turn_id,
            uri: paths::to_uri(&application.path),
            before: carried.before,
            after: application.target_text.as_deref().map(|text| hash(text).0),
            deleted: carried.deleted.map(Box::new),
            outcome: carried.outcome,
        })
    }

    /// An undo or redo set a file, from the text with the hash `before` to the one with the hash `after`, none if
    /// that is not sure. `now` is what was written, the inner none if the file was deleted, and the outer where
    /// nothing was written or an editor tells of it.
    pub(super) fn restored(
        &mut self,
        path: &Path,
        (before, after): (Option<&TextHash>, Option<&TextHash>),
        was_clean: bool,
        now: Option<Option<&str>>,
    ) {
        self.ours.note(path, before, after, was_clean);
        if let Some(text) = now {
            self.review.base_changed(path, Base::Text(text));
        }
    }

    /// Notes that the model need not be told what became of a file.
    pub(super) fn told(&mut self, path: &Path) {
        self.review.told(path);
    }

    /// A file's text changed: what is pending for it is measured against the new one. Gives whether that is news; one
    /// that no editor has open is read first, which comes back as [`Message::BaseRead`].
    fn text_changed(&mut self, path: &Path, context: Context<'_>) -> bool {
        if !self.review.concerns(path) && !self.waits_to_land(path) {
            return false;
        }
        match context.reading.reader.buffers().get(path) {
            Open::Yes(snapshot) => {
                let is_other = self.review.base_changed(path, Base::Open(&snapshot));
                self.land_waiting(path, None, context) || is_other
            }
            Open::OutOfSync => false,
            Open::No => {
                let (path, reader, own) = (path.to_path_buf(), Arc::clone(&context.reading.reader), self.own.clone());
                tokio::task::spawn_blocking(move || match reader.base_text(&path) {
                    Ok(text) => drop(own.send(Own::Edits(Message::BaseRead(path, text)))),
                    Err(error) => tracing::warn!(%error, "a file with pending hunks cannot be read"),
                });
                false
            }
        }
    }

    /// Takes a file's text as it was read a moment ago, unless an editor has it open by now. Gives whether that is
    /// news.
    fn base_read(&mut self, path: &Path, text: Option<&str>, context: Context<'_>) -> bool {
        match context.reading.reader.buffers().get(path) {
            Open::No => {
                let is_other = self.review.base_changed(path, Base::Text(text));
                self.land_waiting(path, Some(text), context) || is_other
            }
            Open::Yes(_) | Open::OutOfSync => self.text_changed(path, context),
        }
    }

    /// Takes the notes for the model about its edits; each is returned once.
    fn take_notes(&mut self, state: &State) -> Vec<Note> {
        let mut notes = self.review.notes(&|calls| state.who(calls));
        notes.extend(self.halves.take_news());
        notes.extend(self.formatting.take_news());
        notes
    }

    /// Tells of the calls of which a part is made and a part is not; gives whether the model has news of them.
    fn tell_halves(&mut self, state: &State) -> (Vec<Event>, bool) {
        self.halves.tell(&state.halves(), &state.told, &mut self.settling)
    }

    /// Documents were saved before a command, but for these. The user is told of their own text, which they wanted
    /// saved, each time, and else once for as long as it is the same.
    fn saved(&mut self, own: bool, failures: &[String]) -> Option<Event> {
        let is_told = !failures.is_empty() && (own || failures != self.not_saved);
        self.not_saved = failures.to_vec();
        is_told.then(|| {
            let text = format!("{}. Commands see what is on disk; save it yourself", failures.join("; "));
            Event::Notice { severity: Severity::Warning, text }
        })
    }

    /// The documents are another editor's from now on.
    pub(super) fn leave_editor(&mut self) {
        self.formatting.leave();
    }

    /// Returns all that is pending, as targets to accept.
    fn all_pending(&self) -> Vec<DecisionTarget> {
        self.review.all_pending()
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

#[cfg(test)]
mod tests;
