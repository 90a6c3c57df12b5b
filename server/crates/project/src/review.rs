//! Edits that wait for the user: a session's proposals, as a pure state machine.
//!
//! A tool's plan becomes hunks over the file's text ([`Review::propose`]). The model reads the text with its pending
//! hunks in it ([`Review::overlay`]). The user decides ([`Review::decide`]), which returns [`Application`]s for
//! somebody else to carry out; their outcome comes back ([`Review::applied`]), and so does every change of a document
//! ([`Review::base_changed`]), whoever made it. What is to be told is asked for: [`Review::take_changed`] for clients
//! and the log, [`Review::notes`] for the model. Nothing here does I/O, and the time is looked at only to end a
//! comparison of texts that takes too long; cloning is cheap enough to try an operation and go back.
//!
//! A change of a file by others, a command or another program, is a proposal too ([`Review::land`]): its hunks are in
//! the document already, and the engine holds the way back. To reject such a hunk applies it, to accept it drops it;
//! the model's text is the document's, and nothing waits for the decision.
//!
//! All texts have LF line ends and no byte order mark.
//!
//! Inside: `lines` (what changed between two texts), `document` (a text, or no file), `hunk` (a piece of a change, and
//! its way), `anchor` (how it is found after a restart), `clusters` (hunks that a further change touches), `flights`
//! (applications on their way), `turning` (hunks that an undo turns), `proposal` (the hunks of a file), `wire` (for
//! clients and the log), `notes` (words for the model), `diff` (for others), `formatting` (what a formatter may do).

mod anchor;
mod clusters;
mod diff;
mod document;
mod flights;
mod formatting;
mod hunk;
mod lines;
mod notes;
mod proposal;
#[cfg(test)]
mod tests;
mod turning;
mod wire;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::edit::{EditRefused, FilePlan, TextHash};
use ports::file_block;
use protocol::event::ApplyOutcome;
use protocol::review::{Decision, DecisionTarget, FileChange, HunkState, Proposal, ProposedText};
use protocol::{HunkId, ProposalId, ToolCallId, TurnId};

pub use self::diff::{LineEdit, diff, to_line_edits, with_mark};
pub use self::document::Base;
pub use self::formatting::{ChangedLines, NotFormatting, formatted};
use self::hunk::{By, Hunk, Kind};
pub use self::notes::Note;
use self::proposal::FileProposal;
pub use self::wire::has_landed;
use crate::{paths, text};

/// How many finished proposals are remembered, so that an undo in the editor is noticed and a decision that comes twice
/// is known for what it is.
const REMEMBERED: usize = 32;

/// Files as the session proposes them: the text with all pending hunks in it, or none for one that is to be deleted.
pub type Overlay = HashMap<PathBuf, Option<Arc<str>>>;

/// A change that others made of a file.
#[derive(Clone, Copy, Debug)]
pub struct Landed<'t> {
    /// The file, absolute.
    pub path: &'t Path,
    /// Its text before; none if there was no file.
    pub before: Option<&'t str>,
    /// Its text afterwards; none if there is no file any more.
    pub after: Option<&'t str>,
    /// The path for people.
    pub display: &'t str,
    /// The calls whose commands did it; none for another program.
    pub calls: &'t [ToolCallId],
    /// The turn that it belongs to.
    pub turn: &'t TurnId,
}

/// A session's proposals.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// At most one of a path is open that is landed, and one that is not. The oldest first.
    proposals: Vec<FileProposal>,
    /// How many proposals were made.
    made: u64,
    /// The changes that had landed when others were last about to change files.
    marked: Vec<FileProposal>,
}

/// The result of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file's hunks that now wait for a decision.
    pub pending: usize,
    /// Lines that the plan adds to what the model read.
    pub added: usize,
    /// Lines that it removes from that.
    pub removed: usize,
}

/// The state that is to come at the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// It is proposed, or on its way.
    Waits,
    /// It was rejected.
    Rejected,
    /// Nothing.
    Nothing,
}

/// Accepted hunks of one file, or a formatter's text, to be put into its document. Either all of it is done, or
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// The proposal.
    pub proposal_id: ProposalId,
    /// The file, absolute.
    pub path: PathBuf,
    /// The hunks, from top to bottom; none if it is a formatter's text ([`Review::format`]).
    pub hunk_ids: Vec<HunkId>,
    /// The calls that had a part in them. Where the file is moved, the last is the one that made it at its new place.
    pub calls: Vec<ToolCallId>,
    /// The change of the file.
    pub change: FileChange,
    /// Where the text of a deleted file goes, if it is moved.
    pub moved_to: Option<PathBuf>,
    /// The hash that the document must have; none if there must be no file.
    pub base_hash: Option<TextHash>,
    /// The text with that hash.
    pub base_text: Option<Arc<str>>,
    /// The text afterwards: the base with exactly these hunks. None if the file is to be deleted.
    pub target_text: Option<Arc<str>>,
    /// The same as edits of the base's lines, one for each hunk, from top to bottom.
    pub edits: Vec<LineEdit>,
}

/// The result of a decision.
#[derive(Clone, Debug, Default)]
pub struct Decided {
    /// The hunks that were decided now, by proposal. Hunks that were decided so before are not among them.
    pub hunks: Vec<(ProposalId, Vec<HunkId>)>,
    /// The applications that are to be done for it, a file each.
    pub applications: Vec<Application>,
    /// All proposals that were named, as they are now.
    pub proposals: Vec<Proposal>,
}

/// A decision that was not taken. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecideError {
    /// There is no such proposal or hunk.
    #[error("there is no {what} {id}")]
    NotFound {
        /// `proposal` or `hunk`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// The proposal is not as the user saw it.
    #[error("the review has changed meanwhile; look at the hunks again")]
    Stale {
        /// The proposals named, as they are now.
        proposals: Vec<Proposal>,
    },
    /// A hunk to accept is in conflict.
    #[error("the text in {path} that the change was made for has changed; it cannot be {}, only {}",
        if *landed { "taken back" } else { "accepted" }, if *landed { "kept" } else { "rejected" })]
    Conflicted {
        /// The file, for people.
        path: String,
        /// The hunk.
        hunk_id: HunkId,
        /// True if it is in the document already.
        landed: bool,
    },
    /// A change that is in the document already is not proposed.
    #[error("{path} is changed already; write what you want into the file itself, or take the change back")]
    Landed {
        /// The file, for people.
        path: String,
    },
}

impl Review {
    /// Makes a file's plan hunks. `base` is the document as it is now, `display` the path for people. Further edits of
    /// a file join its proposal for as long as a hunk of it is open.
    ///
    /// Each run of changed lines is a hunk, apart from the next by an unchanged line; a single line without letters and
    /// digits between two runs does not part them. To make or to delete a file is one hunk. A pending hunk that the
    /// plan does not touch keeps its id; one that it touches is made anew, with the calls of both.
    ///
    /// # Errors
    /// [`EditRefused::Stale`] if the plan was made against another text than the one the model would read now, and
    /// [`EditRefused::NoChange`].
    pub fn propose<'t>(
        &mut self,
        plan: &FilePlan,
        base: impl Into<Base<'t>>,
        display: &str,
        uri: &str,
        call: &ToolCallId,
    ) -> Result<Change, EditRefused> {
        let base = match base.into() {
            // Who made the plan has looked: the file is there, and empty.
            Base::Open(snapshot) if snapshot.is_blank() && plan.read.as_ref() == Some(snapshot.hash()) => {
                Base::Text(Some(snapshot.normal()))
            }
            base => base,
        };
        self.base_changed(&plan.path, base);
        let is_it = |it: &&mut FileProposal| it.is_of(&plan.path) && it.is_open() && !it.landed;
        let moving = self.moving_with(plan, uri);
        let open = self.proposals.iter_mut().find(is_it);
        let read: Option<&str> = match &open {
            Some(proposal) => proposal.proposed().map(|text| &**text),
            None => base.text(),
        };
        if read.map(text::hash) != plan.read {
            return Err(EditRefused::Stale { path: display.to_owned() });
        }
        let wanted = plan.new_text.as_deref();
        if read == wanted {
            return Err(EditRefused::NoChange { path: display.to_owned() });
        }
        let blocks = lines::changes(read.unwrap_or_default(), wanted.unwrap_or_default());
        let added = blocks.iter().map(|block| block.new.len()).sum();
        let removed = blocks.iter().map(|block| block.old.len()).sum();
        let proposal = match open {
            Some(proposal) => proposal,
            None => {
                self.made += 1;
                let id = proposal_id(&format!("{} {uri} {call}", self.made), read, wanted);
                self.proposals.push(FileProposal::new(id, plan.path.clone(), uri, display, base));
                let Some(proposal) = self.proposals.last_mut() else {
                    return Err(EditRefused::Failed(format!("{display} could not be proposed")));
                };
                proposal
            }
        };
        proposal.propose(wanted, std::slice::from_ref(call));
        let moved_to = plan.moved_to.as_deref().map(paths::to_uri);
        proposal.moved_to.clone_from(&moved_to);
        let pending = proposal.in_state(HunkState::Pending).count();
        // Files that wait to be moved here are moved on with it, or go with it.
        for other in self.proposals.iter_mut().filter(|other| moving.contains(&other.id)) {
            other.move_on(moved_to.clone(), call);
        }
        Ok(Change { pending, added, removed })
    }

    /// The proposals whose files wait to be moved to the one that a plan deletes, if it is their text that is there or
    /// is to come there. Where it was rejected, or others made the file, they go on waiting.
    fn moving_with(&self, plan: &FilePlan, uri: &str) -> Vec<ProposalId> {
        if plan.new_text.is_some() {
            return Vec::new();
        }
        let own: Vec<_> = self.proposals.iter().filter(|it| it.is_of(&plan.path) && !it.landed).collect();
        let is_theirs = |moving: &FileProposal| {
            let calls: BTreeSet<ToolCallId> = moving.going_by().cloned().collect();
            own.iter().any(|own| own.has_of(&calls))
        };
        let moving = self.proposals.iter().filter(|other| other.is_moving_to(uri) && is_theirs(other));
        moving.map(|other| other.id.clone()).collect()
    }

    /// Others may change files from here on: what is listed of their changes is remembered as it is, so that
    /// [`Review::land`] tells what they change again, even where the document was seen before that.
    pub fn mark(&mut self) {
        self.marked = self.proposals.iter().filter(|proposal| proposal.is_landing()).cloned().collect();
    }

    /// Lists what others made of a file, as far as it is in the document, which is `base` now. Further changes of
    /// others join it for as long as a hunk is open; what they change back is gone. Nothing else may be on its way into
    /// the file.
    ///
    /// False if nothing of it is in the document, as before an editor has read the file anew.
    pub fn land<'t>(&mut self, landed: &Landed<'_>, base: impl Into<Base<'t>>) -> bool {
        let base = base.into();
        let is_joined = |it: &&FileProposal| it.is_of(landed.path) && it.is_landing();
        let known = self.proposals.iter().rfind(is_joined).cloned();
        self.base_changed(landed.path, base);
        let Some(without) = FileProposal::without(landed, base) else { return false };
        if let Some(joined) = self.proposals.iter_mut().rev().find(|it| is_joined(&&**it)) {
            let seen = known.iter().chain(self.marked.iter().filter(|it| it.id == joined.id));
            let then = seen.filter_map(|seen| seen.then(joined, without.as_deref())).next();
            let then = then.unwrap_or_else(|| joined.as_before(without.as_deref()));
            joined.join(&then, landed.calls);
            return true;
        }
        let uri = paths::to_uri(landed.path);
        self.made += 1;
        let id = proposal_id(&format!("landed {} {} {uri}", self.made, landed.turn), landed.before, landed.after);
        let mut proposal = FileProposal::new(id, landed.path.to_owned(), &uri, landed.display, base);
        proposal.landed = true;
        proposal.propose(without.as_deref(), landed.calls);
        self.proposals.push(proposal);
        true
    }

    /// True if the hunks of a proposal are in the document already.
    pub fn is_landed(&self, id: &ProposalId) -> bool {
        self.proposals.iter().any(|proposal| proposal.landed && proposal.id == *id)
    }

    /// Lists no longer the undecided hunks of a file that are in its document, if the calls they came from say so.
    pub fn drop_landed(&mut self, path: &Path, whose: impl Fn(&[ToolCallId]) -> bool) {
        for proposal in self.proposals.iter_mut().filter(|it| it.landed && it.is_of(path)) {
            proposal.drop_hunks(&whose);
        }
    }

    /// Lists no longer the undecided hunks that are in their documents of the oldest files, but for the last so many.
    /// Hunks that are on their way stay.
    pub fn keep_landed(&mut self, most: usize) {
        let is_undecided = |it: &&mut FileProposal| {
            it.landed && it.is_open() && it.hunks.iter().all(|hunk| hunk.state != HunkState::Applying)
        };
        let undecided = self.proposals.iter_mut().filter(is_undecided).count();
        let excess = undecided.saturating_sub(most);
        for proposal in self.proposals.iter_mut().filter(is_undecided).take(excess) {
            proposal.drop_hunks(|_| true);
        }
    }

    /// Takes a decision on hunks: on all of them, or on none if one cannot be decided so.
    ///
    /// Without hunk ids a target means all pending hunks, and to reject also those in conflict; of those in the
    /// document already it is to accept that takes the ones in conflict, since they cannot be taken back. A decision
    /// that all its hunks already have is harmless, whatever revision it names.
    ///
    /// An accepted hunk is applying at once. Further decisions on the file can follow; their applications are made for
    /// the text as it will be when those before them have succeeded, and where one fails, those after it are void too.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub fn decide(
        &mut self,
        decision: Decision,
        targets: &[DecisionTarget],
        message: Option<&str>,
    ) -> Result<Decided, DecideError> {
        let mut chosen: BTreeMap<usize, Vec<HunkId>> = BTreeMap::new();
        for target in targets {
            let (at, ids) = self.check(decision, target, targets)?;
            let of_proposal = chosen.entry(at).or_default();
            for id in ids {
                if !of_proposal.contains(&id) {
                    of_proposal.push(id);
                }
            }
        }
        let before = self.clone();
        let mut decided = Decided::default();
        for (at, ids) in chosen {
            let Some(proposal) = self.proposals.get_mut(at) else { continue };
            let application = match proposal.way(decision) {
                _ if ids.is_empty() => None,
                Decision::Reject => {
                    proposal.reject(&ids, message);
                    decided.hunks.push((proposal.id.clone(), ids));
                    None
                }
                Decision::Accept => {
                    // A hunk that was decided a moment ago in the same file may have taken its place.
                    let mut lost = proposal.in_state(HunkState::Conflicted).filter(|hunk| ids.contains(&hunk.id));
                    if let Some(error) = lost.next().map(|lost| proposal.conflicted(lost)) {
                        drop(lost);
                        *self = before;
                        return Err(error);
                    }
                    drop(lost);
                    let application = proposal.accept(&ids, message);
                    decided.hunks.push((proposal.id.clone(), application.hunk_ids.clone()));
                    Some(application)
                }
            };
            decided.proposals.push(proposal.wire());
            if let Some(application) = application {
                self.beside(&application).for_each(|other| other.expect(&application));
                decided.applications.push(application);
            }
        }
        // A file that is moved is made at its new place before it goes from the old one.
        decided.applications.sort_by_key(|application| application.moved_to.is_some());
        Ok(decided)
    }

    /// The other open proposal of an application's file.
    fn beside<'r>(&'r mut self, application: &'r Application) -> impl Iterator<Item = &'r mut FileProposal> {
        let is_beside =
            |it: &&mut FileProposal| it.is_of(&application.path) && it.is_open() && it.id != application.proposal_id;
        self.proposals.iter_mut().filter(is_beside)
    }

    /// Finds the hunks of a target that are to be decided now.
    fn check(
        &self,
        decision: Decision,
        target: &DecisionTarget,
        targets: &[DecisionTarget],
    ) -> Result<(usize, Vec<HunkId>), DecideError> {
        let id = &target.proposal_id;
        let found = self.proposals.iter().enumerate().find(|(_, proposal)| proposal.id == *id);
        let (at, proposal) =
            found.ok_or_else(|| DecideError::NotFound { what: "proposal", id: id.as_str().to_owned() })?;
        let stale = || {
            let named = |proposal: &&FileProposal| targets.iter().any(|target| target.proposal_id == proposal.id);
            DecideError::Stale { proposals: self.proposals.iter().filter(named).map(FileProposal::wire).collect() }
        };
        let fresh = proposal.revision == target.revision;
        let decision = proposal.way(decision);
        let is_so = |state: HunkState| match decision {
            Decision::Accept => {
                matches!(state, HunkState::Applying | HunkState::Accepted | HunkState::Unverified)
            }
            Decision::Reject => state == HunkState::Rejected,
        };
        let can_be = |state: HunkState| match decision {
            Decision::Accept => state == HunkState::Pending,
            Decision::Reject => matches!(state, HunkState::Pending | HunkState::Conflicted),
        };
        let Some(ids) = &target.hunk_ids else {
            let open: Vec<HunkId> =
                proposal.hunks.iter().filter(|hunk| can_be(hunk.state)).map(|hunk| hunk.id.clone()).collect();
            let done = open.is_empty() && proposal.hunks.iter().all(|hunk| is_so(hunk.state));
            return if fresh || done { Ok((at, open)) } else { Err(stale()) };
        };
        let mut hunks = Vec::new();
        for id in ids {
            match proposal.hunks.iter().find(|hunk| hunk.id == *id) {
                Some(hunk) => hunks.push(hunk),
                None if fresh => return Err(DecideError::NotFound { what: "hunk", id: id.as_str().to_owned() }),
                None => return Err(stale()),
            }
        }
        if hunks.iter().all(|hunk| is_so(hunk.state)) {
            return Ok((at, Vec::new()));
        }
        if !fresh {
            return Err(stale());
        }
        let mut open = Vec::new();
        for hunk in hunks {
            if can_be(hunk.state) {
                open.push(hunk.id.clone());
            } else if hunk.state == HunkState::Conflicted {
                return Err(proposal.conflicted(hunk));
            } else if !is_so(hunk.state) {
                return Err(stale());
            }
        }
        Ok((at, open))
    }

    /// Takes what the user says of a hunk, which is not decided by it. Gives its proposal.
    ///
    /// # Errors
    /// [`DecideError::NotFound`].
    pub fn comment(&mut self, id: &ProposalId, hunk_id: &HunkId, text: &str) -> Result<Proposal, DecideError> {
        let not_found = |what, id: &str| DecideError::NotFound { what, id: id.to_owned() };
        let found = self.proposals.iter_mut().find(|proposal| proposal.id == *id);
        let proposal = found.ok_or_else(|| not_found("proposal", id.as_str()))?;
        let hunk = proposal.hunks.iter_mut().find(|hunk| hunk.id == *hunk_id);
        hunk.ok_or_else(|| not_found("hunk", hunk_id.as_str()))?.comments.push(text.to_owned());
        proposal.unreported = true;
        Ok(proposal.wire())
    }

    /// Makes the text that the user wants of a file the proposed one: its hunks are made anew, those that it does not
    /// touch stay as they are, and the model is told.
    ///
    /// # Errors
    /// [`DecideError::NotFound`], [`DecideError::Stale`] if the proposal is not as the user saw it, and
    /// [`DecideError::Landed`].
    pub fn change(&mut self, id: &ProposalId, revision: u64, wanted: &str) -> Result<Vec<Proposal>, DecideError> {
        let found = self.proposals.iter_mut().find(|proposal| proposal.id == *id);
        let proposal = found.ok_or_else(|| DecideError::NotFound { what: "proposal", id: id.as_str().to_owned() })?;
        if proposal.landed {
            return Err(DecideError::Landed { path: proposal.display.clone() });
        }
        let wanted = text::normalise(wanted).0;
        if proposal.proposed().is_some_and(|proposed| **proposed == *wanted) {
            return Ok(vec![proposal.wire()]);
        }
        if proposal.revision != revision || !proposal.is_open() {
            return Err(DecideError::Stale { proposals: vec![proposal.wire()] });
        }
        proposal.propose(Some(&wanted), &[]);
        proposal.untold_change = true;
        Ok(vec![proposal.wire()])
    }

    /// The texts of a proposal that is listed: the document and what is proposed, or for what is in the document
    /// already what was there and the document.
    pub fn texts(&self, id: &ProposalId) -> Option<ProposedText> {
        let proposal = self.proposals.iter().find(|proposal| proposal.id == *id)?;
        let (document, other) =
            (proposal.document().map(str::to_owned), proposal.proposed().map(|text| (**text).into()));
        let (base, proposed) = if proposal.landed { (other, document) } else { (document, other) };
        let (uri, path, revision) = (proposal.uri.clone(), proposal.display.clone(), proposal.revision);
        Some(ProposedText { uri, path, revision, base, proposed })
    }

    /// Makes a formatter's text what is to be done to a document. It goes the way of accepted hunks, after those that
    /// are accepted before it and before those after it, and like those it moves pending hunks. None if nothing may
    /// be done now: hunks of the document are on their way, or lines of a pending hunk, or beside one, would change. A
    /// part of a formatter's changes is never taken: sorted imports would be doubled, and blocks half indented.
    pub fn format<'t>(
        &mut self,
        path: &Path,
        base: impl Into<Base<'t>>,
        display: &str,
        uri: &str,
        formatted: &str,
    ) -> Option<Application> {
        let base = base.into();
        self.base_changed(path, base);
        let is_open = |proposal: &FileProposal| proposal.is_of(path) && proposal.is_open();
        if !self.proposals.iter().filter(|it| is_open(it)).all(|it| it.is_clear_of(formatted)) {
            return None;
        }
        let application = match self.proposals.iter_mut().find(|it| is_open(it) && !it.landed) {
            Some(open) => open.format(formatted)?,
            None => {
                self.made += 1;
                let id = proposal_id(&format!("formatted {} {uri}", self.made), base.text(), Some(formatted));
                let mut proposal = FileProposal::new(id, path.to_owned(), uri, display, base);
                let application = proposal.format(formatted)?;
                self.proposals.push(proposal);
                application
            }
        };
        self.beside(&application).for_each(|other| other.expect(&application));
        Some(application)
    }

    /// True if a hunk of the file waits for a decision.
    pub fn has_pending(&self, path: &Path) -> bool {
        let mut of_file = self.proposals.iter().filter(|proposal| proposal.is_of(path));
        of_file.any(|proposal| proposal.in_state(HunkState::Pending).next().is_some())
    }

    /// Takes the outcome of an application. Its hunks become accepted or unverified; where it failed they are pending
    /// again, and so are those of applications made after it. What [`Review::base_changed`] saw counts more.
    pub fn applied(&mut self, application: &Application, outcome: &ApplyOutcome) {
        let failed = matches!(outcome, ApplyOutcome::Failed { .. });
        let is_coming = |to: &PathBuf| self.coming(to) == Coming::Waits;
        let too_early = failed && application.moved_to.as_ref().is_some_and(is_coming);
        let Some(proposal) = self.proposals.iter_mut().find(|proposal| proposal.id == application.proposal_id) else {
            return;
        };
        proposal.came_too_early |= too_early;
        proposal.applied(application, outcome);
        self.beside(application).for_each(|other| other.applied_beside(application, outcome));
        let Some(proposal) = self.proposals.iter().find(|proposal| proposal.id == application.proposal_id) else {
            return;
        };
        let base = proposal.document().map(str::to_owned);
        let (path, uri) = (proposal.path.clone(), proposal.uri.clone());
        if !failed {
            self.proposals.iter_mut().filter(|other| other.is_moving_to(&uri)).for_each(FileProposal::can_go);
        }
        for other in self.proposals.iter_mut().filter(|other| other.is_of(&path) && !other.is_open()) {
            if other.id != application.proposal_id {
                other.base_changed(base.as_deref().into(), By::Us);
            }
        }
    }

    /// Takes a document as it is now: the editor's, else the disk's. True if anything changed by it, be it only what
    /// the model reads.
    ///
    /// Hunks move with the lines around them, as the editor says they moved; texts are compared only where nobody says
    /// it: a change on disk, or a text that was sent whole. A pending one whose lines changed (for an insertion, the
    /// lines beside it) is conflicted, unless the change is just what the hunk would do: then it is accepted. If all
    /// that changed there comes to be as it was, the hunk is pending again. An accepted one whose text is as before it
    /// is undone. A change that is an application of ours is known as such and moves nothing, also where an editor
    /// tells it bit by bit.
    pub fn base_changed<'t>(&mut self, path: &Path, base: impl Into<Base<'t>>) -> bool {
        let base = base.into();
        // Each of the file's proposals is to know of it.
        let own = self.proposals.iter_mut().filter(|proposal| proposal.is_of(path));
        if own.filter_map(|proposal| proposal.is_arriving(base).then_some(())).count() > 0 {
            return false;
        }
        let mut by = None;
        // The open proposal goes first: it knows whether the change is ours.
        for open in [true, false] {
            for proposal in self.proposals.iter_mut().filter(|proposal| proposal.is_of(path)) {
                if proposal.is_open() == open {
                    by = proposal.base_changed(base, by.unwrap_or(By::Others)).or(by);
                }
            }
        }
        by.is_some()
    }

    /// True if changes of a file matter here.
    pub fn concerns(&self, path: &Path) -> bool {
        self.proposals.iter().any(|proposal| proposal.is_of(path))
    }

    /// The files as the model reads them, where these differ from the documents.
    pub fn overlay(&self) -> Arc<Overlay> {
        let overlaying = self.proposals.iter().filter(|proposal| proposal.overlays() && !proposal.landed);
        Arc::new(overlaying.map(|proposal| (proposal.path.clone(), proposal.proposed().cloned())).collect())
    }

    /// The proposals with an open hunk, and those of which something was not yet taken by [`Review::take_changed`].
    pub fn proposals(&self) -> Vec<Proposal> {
        let listed = self.proposals.iter().filter(|proposal| proposal.is_open() || proposal.unreported);
        listed.map(FileProposal::wire).collect()
    }

    /// All pending hunks, to be decided as one, but for those in the documents already: nothing waits for these.
    pub fn all_pending(&self) -> Vec<DecisionTarget> {
        self.pending(|_, _| true)
    }

    /// The pending hunks that a call made or had a part in, to be decided as one. Where it is the rest of a file that
    /// broke off, those of the file's beginning too. Only those in files of which `in_file` says so.
    pub fn pending_of(&self, call: &ToolCallId, in_file: impl Fn(&Path) -> bool) -> Vec<DecisionTarget> {
        let is_of_it = |hunk: &Hunk| hunk.calls.contains(call);
        let is_beginning = |hunk: &Hunk| hunk.calls.iter().any(file_block::is_cut);
        self.pending(|proposal, hunk| {
            let is_rest = file_block::is_block(call) && is_beginning(hunk) && proposal.hunks.iter().any(is_of_it);
            (is_of_it(hunk) || is_rest) && in_file(&proposal.path)
        })
    }

    /// Returns the state that is to come at a file's place, by those proposed edits that are not made yet.
    pub fn coming(&self, path: &Path) -> Coming {
        // A file has one open proposal at most, and that is its last one.
        let last = self.proposals.iter().rfind(|it| !it.landed && it.is_of(path));
        let has = |is_so: fn(&Hunk) -> bool| last.is_some_and(|last| last.hunks.iter().any(is_so));
        if has(|hunk| hunk.kind != Kind::Delete && hunk.is_open()) {
            Coming::Waits
        } else if has(|hunk| hunk.kind == Kind::Create && hunk.state == HunkState::Rejected) {
            Coming::Rejected
        } else {
            Coming::Nothing
        }
    }

    fn pending(&self, wanted: impl Fn(&FileProposal, &Hunk) -> bool) -> Vec<DecisionTarget> {
        let targets = self.proposals.iter().filter(|proposal| !proposal.landed).filter_map(|proposal| {
            let pending = proposal.in_state(HunkState::Pending).filter(|hunk| wanted(proposal, hunk));
            let ids: Vec<HunkId> = pending.map(|hunk| hunk.id.clone()).collect();
            (!ids.is_empty()).then(|| DecisionTarget {
                proposal_id: proposal.id.clone(),
                revision: proposal.revision,
                hunk_ids: Some(ids),
            })
        });
        targets.collect()
    }

    /// True if an application is on its way whose outcome is not known.
    pub fn is_applying(&self) -> bool {
        self.proposals.iter().any(FileProposal::is_applying)
    }

    /// True if an application for this file is on its way.
    pub fn is_applying_to(&self, path: &Path) -> bool {
        self.proposals.iter().any(|proposal| proposal.is_of(path) && proposal.is_applying())
    }

    /// The proposals that changed since this was last asked, for the log: new or vanished hunks, new states, hunks that
    /// moved to other lines. A file that is moved comes after its new place, so that who decides on them one by one can
    /// accept both. After it a proposal without open hunks is no longer listed.
    pub fn take_changed(&mut self) -> Vec<Proposal> {
        let mut changed = Vec::new();
        for proposal in self.proposals.iter_mut().filter(|proposal| proposal.unreported) {
            proposal.unreported = false;
            changed.push(proposal.wire());
        }
        changed.sort_by_key(|proposal| proposal.moved_to.is_some());
        self.forget();
        changed
    }

    /// Forgets finished proposals that nothing can come of, and the oldest ones of too many.
    fn forget(&mut self) {
        let finished = |landed: bool| {
            let finished = self.proposals.iter().filter(|it| it.landed == landed && !it.is_open());
            finished.count().saturating_sub(REMEMBERED)
        };
        let (mut ordinary, mut landed) = (finished(false), finished(true));
        self.proposals.retain(|proposal| {
            let excess = if proposal.landed { &mut landed } else { &mut ordinary };
            let old = !proposal.is_open() && *excess > 0;
            *excess -= usize::from(old);
            let empty = proposal.hunks.is_empty() && !proposal.is_open();
            !old && !empty
        });
    }

    /// Returns the news of the model's edits since this was last asked, in words for it, and of what others changed.
    /// Bounded; what is left out is said, and returned the next time. `who` says who changed something by these calls,
    /// or by none.
    pub fn notes(&mut self, who: &dyn Fn(&[ToolCallId]) -> String) -> Vec<Note> {
        notes::take(&mut self.proposals, who)
    }

    /// Records that the model is told in another way what became of accepted hunks of a file.
    pub fn told(&mut self, path: &Path) {
        for proposal in self.proposals.iter_mut().filter(|proposal| proposal.is_of(path)) {
            for hunk in &mut proposal.hunks {
                if matches!(hunk.state, HunkState::Undone | HunkState::Accepted | HunkState::Unverified) {
                    hunk.told = hunk.state;
                }
            }
        }
    }

    /// Makes the state anew after the process ended: from the proposals with open hunks as the log last has them, and
    /// the documents as they are now.
    ///
    /// In a text that is as it was, with or without the hunks that were applying, every hunk is where it was. In any
    /// other one a hunk is found by its lines together with five lines above and below, if these stood at no other
    /// place and stand at no other place now. One that is not found is conflicted, and one that was in conflict stays
    /// so. Of hunks that were applying, the text tells whether they arrived; one of which it does not is unverified.
    pub fn restore<T: AsRef<str>>(proposals: Vec<Proposal>, base: impl Fn(&PathBuf) -> Option<T>) -> Self {
        let mut review = Self::default();
        for seen in proposals {
            match paths::from_uri(&seen.uri) {
                Ok(path) => {
                    let text = base(&path);
                    let text = text.as_ref().map(AsRef::as_ref);
                    review.proposals.push(FileProposal::restore(seen, path, text));
                }
                Err(error) => tracing::warn!(uri = seen.uri, %error, "a proposal could not be restored"),
            }
        }
        review
    }
}

/// An id that no other proposal of the session has, one from before a restart included: it is made of what the proposal
/// is, so that no counter needs to be kept.
fn proposal_id(what: &str, before: Option<&str>, after: Option<&str>) -> ProposalId {
    let hash = |text: Option<&str>| text.map(|text| text::hash(text).0).unwrap_or_default();
    let all = text::hash(&format!("{what} {} {}", hash(before), hash(after))).0;
    ProposalId::new(format!("p{}", all.get(..12).unwrap_or(&all)))
}
