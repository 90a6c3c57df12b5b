//! The proposal of one file: its text, the hunks on it, and the applications on their way.
//!
//! Two texts matter. `document` is what the editor or the disk holds, as far as is known. `text` is the document with
//! every application on its way ([`Flights`]) already in it; hunks have their places in `text`. When nobody changes
//! anything meanwhile, an application that arrives moves no hunk.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::event::ApplyOutcome;
use protocol::review::{Decision, FileChange, HunkState};
use protocol::{HunkId, ProposalId, ToolCallId};

use super::clusters::clusters;
use super::document::{Base, Document};
use super::flights::Flights;
use super::hunk::{By, Hunk, Kind, Shared};
use super::lines::{self, Block, Lines};
use super::turning::{self, Turning};
use super::{Application, DecideError, Landed, LineEdit, to_line_edits};
use crate::buffers::{Move, Snapshot, TextId};
use crate::{paths, text};

/// The proposal of one file.
#[derive(Clone, Debug)]
pub(super) struct FileProposal {
    pub(super) id: ProposalId,
    pub(super) path: PathBuf,
    pub(super) uri: String,
    /// The path for people.
    pub(super) display: String,
    pub(super) revision: u64,
    pub(super) change: FileChange,
    /// True if its hunks lead back: others changed the document, and what they made of it stands there.
    pub(super) landed: bool,
    /// The document to which the text of the file goes that is deleted, if it is moved.
    pub(super) moved_to: Option<String>,
    /// True if the deletion of a file that is moved was accepted in vain, before the file was there.
    pub(super) came_too_early: bool,
    /// From top to bottom.
    pub(super) hunks: Vec<Hunk>,
    /// The number of the next hunk.
    pub(super) next_hunk: u64,
    /// True if something changed since it was last reported.
    pub(super) unreported: bool,
    /// True if the user changed what is proposed and the model has not been told.
    pub(super) untold_change: bool,
    pub(super) document: Document,
    /// The name of the document's text, if it is an editor's.
    seen: Option<TextId>,
    pub(super) text: Document,
    flights: Flights,
    /// The document in the middle of an application, as it seems, until the outcome is known.
    arriving: Option<Snapshot>,
    /// The hunks that were accepted together, so that the editor undoes them together.
    groups: Vec<Vec<HunkId>>,
    /// `text` with all pending hunks in it.
    proposed: Document,
}

impl FileProposal {
    pub(super) fn new(id: ProposalId, path: PathBuf, uri: &str, display: &str, base: Base<'_>) -> Self {
        let document = Document::new(base.text());
        Self {
            id,
            path,
            uri: uri.to_owned(),
            display: display.to_owned(),
            revision: 0,
            change: FileChange::Modify,
            landed: false,
            moved_to: None,
            came_too_early: false,
            hunks: Vec::new(),
            next_hunk: 1,
            unreported: false,
            untold_change: false,
            text: document.clone(),
            proposed: document.clone(),
            document,
            seen: name(base),
            flights: Flights::default(),
            arriving: None,
            groups: Vec::new(),
        }
    }

    /// True if it is this file's. Paths are resolved, so that equal ones have equal letters, which is soon compared.
    pub(super) fn is_of(&self, path: &Path) -> bool {
        self.path.as_os_str() == path.as_os_str()
    }

    /// True if something may still come of it, so that further edits of the file join it.
    pub(super) fn is_open(&self) -> bool {
        self.is_applying() || self.hunks.iter().any(Hunk::is_open)
    }

    /// True if an application is on its way.
    pub(super) fn is_applying(&self) -> bool {
        self.flights.is_awaited()
    }

    /// The hunks in a state.
    pub(super) fn in_state(&self, state: HunkState) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().filter(move |hunk| hunk.state == state)
    }

    /// The file as the model reads it.
    pub(super) fn proposed(&self) -> Option<&Arc<str>> {
        self.proposed.get()
    }

    /// True if the model reads something else than what is in the document.
    pub(super) fn overlays(&self) -> bool {
        !self.flights.is_empty() || self.in_state(HunkState::Pending).next().is_some()
    }

    /// Makes a wanted text the proposed one, by these calls; by none if the user wants it so.
    pub(super) fn propose(&mut self, wanted: Option<&str>, by: &[ToolCallId]) {
        let proposed = self.proposed.clone();
        match (proposed.get(), wanted) {
            (Some(proposed), Some(wanted)) if self.text.present => self.propose_lines(proposed, wanted, by),
            (_, Some(wanted)) if self.text.present => {
                // It was to be deleted.
                let calls = self.withdraw(by);
                let text = Arc::clone(&self.text.text);
                self.add_pieces(&Lines::new(&text), 0..usize::MAX, wanted, &calls, &[]);
            }
            (_, Some(wanted)) => {
                let calls = self.withdraw(by);
                self.add(Kind::Create, 0..0, "", wanted, calls);
            }
            (_, None) => {
                let calls = self.withdraw(by);
                if self.text.present {
                    let text = Arc::clone(&self.text.text);
                    self.add(Kind::Delete, 0..lines::count(&text), &text, "", calls);
                }
            }
        }
        self.revision += 1;
        self.unreported = true;
        self.settle();
    }

    /// True if its file waits to be moved to this document.
    pub(super) fn is_moving_to(&self, uri: &str) -> bool {
        self.moved_to.as_deref() == Some(uri) && self.going().next().is_some()
    }

    /// The deletion of its file, as long as it is not made.
    fn going(&self) -> impl Iterator<Item = &Hunk> {
        self.hunks.iter().filter(|hunk| hunk.is_going())
    }

    /// True if something that a call of these makes of the file waits, is on its way or is there.
    pub(super) fn has_of(&self, calls: &BTreeSet<ToolCallId>) -> bool {
        let is_of = |hunk: &&Hunk| hunk.kind != Kind::Delete && hunk.calls.iter().any(|call| calls.contains(call));
        self.hunks.iter().filter(is_of).any(|hunk| hunk.is_in_text() || hunk.state == HunkState::Pending)
    }

    /// The calls that delete its file, as long as that is not made.
    pub(super) fn going_by(&self) -> impl Iterator<Item = &ToolCallId> {
        self.going().flat_map(|hunk| &hunk.calls)
    }

    /// The text that its file is to be moved to has gone on from there, or away, by this call.
    pub(super) fn move_on(&mut self, to: Option<String>, call: &ToolCallId) {
        self.moved_to = to;
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.is_going()) {
            add_calls(&mut hunk.calls, std::slice::from_ref(call));
        }
        self.revision += 1;
        self.unreported = true;
    }

    /// The file is where this one is moved to: what was accepted in vain can be accepted now.
    pub(super) fn can_go(&mut self) {
        if std::mem::take(&mut self.came_too_early) {
            self.revision += 1;
            self.unreported = true;
        }
    }

    /// Returns the document as it was before others changed it, as far as the change is in it; the outer none if
    /// nothing of it is.
    pub(super) fn without(landed: &Landed<'_>, base: Base<'_>) -> Option<Option<Arc<str>>> {
        let mut back = Self::new(ProposalId::from(""), landed.path.to_owned(), "", "", Base::Text(landed.after));
        back.propose(landed.before, &[]);
        back.base_changed(base, By::Others);
        let is_there = back.in_state(HunkState::Pending).next().is_some();
        is_there.then(|| back.proposed().cloned())
    }

    /// A landed proposal before a further change, if this one is it: its document is `without`, what the document is
    /// without that change. What the user has decided to keep meanwhile stays.
    pub(super) fn then(&self, now: &Self, without: Option<&str>) -> Option<Self> {
        if !self.document.is(without) || !self.flights.is_empty() {
            return None;
        }
        let mut then = self.clone();
        let kept = |id: &HunkId| now.in_state(HunkState::Rejected).any(|hunk| hunk.id == *id);
        for hunk in then.hunks.iter_mut().filter(|hunk| kept(&hunk.id)) {
            hunk.state = HunkState::Rejected;
        }
        then.settle();
        Some(then)
    }

    /// A landed proposal as it was before a further change, as far as its hunks tell: `without` is what the document is
    /// without that change.
    pub(super) fn as_before(&self, without: Option<&str>) -> Self {
        let mut back = self.clone();
        back.base_changed(without.into(), By::Others);
        // Hunks that the further change itself has changed back are as they were.
        for hunk in back.hunks.iter_mut().filter(|hunk| hunk.state == HunkState::Undone && hunk.lost.is_none()) {
            if !self.is_decided(&hunk.id) {
                hunk.state = HunkState::Pending;
            }
        }
        back.settle();
        back
    }

    /// Takes in a further change of others by these calls, before which the proposal was `then`.
    pub(super) fn join(&mut self, then: &Self, calls: &[ToolCallId]) {
        // The way back to what was before them all leads over these too.
        let led_over = |id: &HunkId| then.in_state(HunkState::Pending).any(|hunk| hunk.id == *id);
        let is_over = |hunk: &Hunk| hunk.state == HunkState::Conflicted && led_over(&hunk.id);
        let (over, rest): (Vec<Hunk>, _) = std::mem::take(&mut self.hunks).into_iter().partition(is_over);
        self.hunks = rest;
        let known: HashSet<HunkId> = self.hunks.iter().map(|hunk| hunk.id.clone()).collect();
        self.propose(then.proposed().map(|text| &**text), calls);
        for new in self.hunks.iter_mut().filter(|hunk| !known.contains(&hunk.id)) {
            for over in over.iter().filter(|over| touch(&over.place, &new.place)) {
                let own = std::mem::replace(&mut new.calls, over.calls.clone());
                add_calls(&mut new.calls, &own);
            }
        }
    }

    /// True if further changes of others join it: something may come of it, or has without the user.
    pub(super) fn is_landing(&self) -> bool {
        let turned = |hunk: &Hunk| hunk.state == HunkState::Accepted && !self.is_decided(&hunk.id);
        self.landed && (self.is_open() || self.hunks.iter().any(turned))
    }

    /// True if the user has decided on a hunk that was put into the text.
    pub(super) fn is_decided(&self, hunk: &HunkId) -> bool {
        self.groups.iter().any(|group| group.contains(hunk))
    }

    /// Returns the decision that carries out the user's here: what has landed is kept by dropping the way back.
    pub(super) fn way(&self, decision: Decision) -> Decision {
        match decision {
            Decision::Accept if self.landed => Decision::Reject,
            Decision::Reject if self.landed => Decision::Accept,
            decision => decision,
        }
    }

    /// A hunk cannot be decided so, since it is in conflict.
    pub(super) fn conflicted(&self, hunk: &Hunk) -> DecideError {
        DecideError::Conflicted { path: self.display.clone(), hunk_id: hunk.id.clone(), landed: self.landed }
    }

    /// Drops the undecided hunks whose calls are these.
    pub(super) fn drop_hunks(&mut self, whose: impl Fn(&[ToolCallId]) -> bool) {
        let before = self.hunks.len();
        // One that the change itself has turned is as good as undecided.
        let stays = |own: &Hunk, groups: &[Vec<HunkId>]| {
            let decided = own.state == HunkState::Rejected || groups.iter().any(|group| group.contains(&own.id));
            decided || !whose(&own.calls)
        };
        let groups = std::mem::take(&mut self.groups);
        self.hunks.retain(|hunk| stays(hunk, &groups));
        self.groups = groups;
        if self.hunks.len() != before {
            self.revision += 1;
            self.unreported = true;
            self.settle();
        }
    }

    /// Takes back all pending hunks, and those in conflict. Gives the calls that the pending ones came from, and these:
    /// what is in conflict was made for another text.
    fn withdraw(&mut self, by: &[ToolCallId]) -> Vec<ToolCallId> {
        let mut calls = Vec::new();
        self.hunks.retain(|hunk| {
            let keep = !matches!(hunk.state, HunkState::Pending | HunkState::Conflicted);
            if hunk.state == HunkState::Pending {
                add_calls(&mut calls, &hunk.calls);
            }
            keep
        });
        add_calls(&mut calls, by);
        calls
    }

    /// Makes hunks of a further change of the proposed text. A hunk that the change does not touch stays as it is. One
    /// that it touches or adjoins is made anew together with the change, out of the text and the wanted text there.
    fn propose_lines(&mut self, proposed: &str, wanted: &str, by: &[ToolCallId]) {
        let text = Arc::clone(&self.text.text);
        let (text_lines, wanted_lines) = (Lines::new(&text), Lines::new(wanted));
        let (pending, mut kept): (Vec<Hunk>, Vec<Hunk>) =
            self.hunks.drain(..).partition(|hunk| hunk.state == HunkState::Pending);
        kept.retain(|hunk| hunk.state != HunkState::Conflicted || hunk.kind == Kind::Lines);
        let clusters = clusters(pending, lines::few(lines::changes(proposed, wanted)));
        let mut renewed = Vec::new();
        // A line of the proposed text, and the lines of the text and the wanted text that it corresponds to. None of
        // the lines from there to the next cluster changed in either.
        let (mut at_proposed, mut at_text, mut at_wanted) = (0, 0, 0);
        for cluster in clusters {
            let unchanged = cluster.place.start - at_proposed;
            let length = cluster.place.len();
            let in_hunks: (usize, usize) = cluster
                .hunks
                .iter()
                .fold((0, 0), |(old, new), hunk| (old + hunk.place.len(), new + lines::count(&hunk.new)));
            let in_blocks: (usize, usize) =
                cluster.blocks.iter().fold((0, 0), |(old, new), block| (old + block.old.len(), new + block.new.len()));
            let text_start = at_text + unchanged;
            let wanted_start = at_wanted + unchanged;
            at_proposed = cluster.place.end;
            at_text = text_start + length + in_hunks.0 - in_hunks.1;
            at_wanted = wanted_start + length + in_blocks.1 - in_blocks.0;
            if cluster.blocks.is_empty() {
                kept.extend(cluster.hunks);
                continue;
            }
            let mut calls = Vec::new();
            cluster.hunks.iter().for_each(|hunk| add_calls(&mut calls, &hunk.calls));
            add_calls(&mut calls, by);
            let place = text_start..at_text;
            kept.retain(|hunk| hunk.state != HunkState::Conflicted || !touch(&hunk.place, &place));
            renewed.push((place, wanted_start..at_wanted, calls, cluster.hunks));
        }
        self.hunks = kept;
        for (place, in_wanted, calls, replaced) in renewed {
            self.add_pieces(&text_lines, place, wanted_lines.slice(in_wanted), &calls, &replaced);
        }
    }

    /// Adds the hunks that make some lines of the text the wanted ones. One that is exactly as it was before keeps its
    /// id.
    fn add_pieces(
        &mut self,
        text: &Lines<'_>,
        place: Range<usize>,
        wanted: &str,
        calls: &[ToolCallId],
        replaced: &[Hunk],
    ) {
        let old_part = text.slice(place.clone());
        let (old, new) = (Lines::new(old_part), Lines::new(wanted));
        for piece in lines::pieces(old_part, wanted) {
            let own = place.start + piece.old.start..place.start + piece.old.end;
            let (old, new) = (old.slice(piece.old), new.slice(piece.new));
            match replaced.iter().find(|hunk| hunk.place == own && hunk.old == old && hunk.new == new) {
                Some(same) => self.hunks.push(same.clone()),
                None => self.add(Kind::Lines, own, old, new, calls.to_vec()),
            }
        }
    }

    fn add(&mut self, kind: Kind, place: Range<usize>, old: &str, new: &str, calls: Vec<ToolCallId>) {
        let id = HunkId::new(format!("{}.{}", self.id, self.next_hunk));
        self.next_hunk += 1;
        self.hunks.push(Hunk {
            id,
            calls,
            kind,
            place,
            old: old.to_owned(),
            new: new.to_owned(),
            state: HunkState::Pending,
            lost: None,
            counted_conflicted: false,
            told: HunkState::Pending,
            message: None,
            comments: Vec::new(),
            told_comments: 0,
        });
    }

    /// Rejects hunks, which must be pending or in conflict.
    pub(super) fn reject(&mut self, ids: &[HunkId], message: Option<&str>) {
        for hunk in self.hunks.iter_mut().filter(|hunk| ids.contains(&hunk.id)) {
            hunk.state = HunkState::Rejected;
            hunk.message = message.map(str::to_owned);
        }
        self.unreported = true;
        self.settle();
    }

    /// Accepts hunks, which must be pending, and gives what is to be done to the document.
    pub(super) fn accept(&mut self, ids: &[HunkId], message: Option<&str>) -> Application {
        let before = self.text.clone();
        let (mut hunks, mut edits, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        let mut change = FileChange::Modify;
        let mut after = None;
        // The hunks are in order, so that every one is moved by those before it.
        let (mut added, mut removed) = (0, 0);
        for hunk in self.hunks.iter_mut().filter(|hunk| ids.contains(&hunk.id)) {
            let start = hunk.place.start + added - removed;
            let block = Block { old: hunk.place.clone(), new: start..start + lines::count(&hunk.new) };
            added += block.new.len();
            removed += block.old.len();
            match hunk.kind {
                Kind::Lines => {}
                Kind::Create => {
                    change = FileChange::Create;
                    after = Some(Document::new(Some(&hunk.new)));
                }
                Kind::Delete => {
                    change = FileChange::Delete;
                    after = Some(before.gone());
                }
            }
            edits.push(LineEdit::of(&block, &hunk.new));
            hunk.state = HunkState::Applying;
            hunk.message = message.map(str::to_owned);
            hunk.place = block.new.clone();
            add_calls(&mut calls, &hunk.calls);
            hunks.push((hunk.id.clone(), block));
        }
        let after = after.unwrap_or_else(|| {
            let edits = edits.iter().map(|edit| (edit.start_line..edit.end_line, edit.new_text.as_str()));
            Document::new(Some(&Lines::new(&before.text).replaced(edits)))
        });
        let blocks: Vec<Block> = match change {
            FileChange::Delete => Vec::new(),
            _ => hunks.iter().map(|(_, block)| block.clone()).collect(),
        };
        let hunk_ids: Vec<HunkId> = hunks.iter().map(|(id, _)| id.clone()).collect();
        self.follow(after.clone(), &blocks, &hunk_ids, By::Us);
        self.flights.send(hunks, before.clone(), after.clone());
        self.groups.push(hunk_ids.clone());
        self.unreported = true;
        self.settle();
        let moved_to = self.moved_to.as_deref().filter(|_| change == FileChange::Delete);
        Application {
            proposal_id: self.id.clone(),
            path: self.path.clone(),
            hunk_ids,
            calls,
            change,
            moved_to: moved_to.and_then(|uri| paths::from_uri(uri).ok()),
            base_hash: before.get().map(|text| text::hash(text)),
            base_text: before.get().cloned(),
            target_text: after.get().cloned(),
            edits,
        }
    }

    /// True if a formatter's text changes no lines of a pending hunk, nor lines beside one.
    pub(super) fn is_clear_of(&self, formatted: &str) -> bool {
        let blocks = lines::changes(self.text.get().map_or("", |text| &**text), formatted);
        let is_clear =
            |hunk: &Hunk| hunk.kind == Kind::Lines && !blocks.iter().any(|block| touch(&block.old, &hunk.place));
        self.in_state(HunkState::Pending).all(is_clear)
    }

    /// Sends a formatter's text to the document: no hunk is decided by it, and all follow it as a change of ours. None
    /// where there is no document, or something is on its way to it.
    pub(super) fn format(&mut self, formatted: &str) -> Option<Application> {
        let before = self.text.clone();
        let base = before.get().filter(|_| !self.is_applying())?;
        let blocks = lines::changes(base, formatted);
        let after = Document::new(Some(formatted));
        self.follow(after.clone(), &blocks, &[], By::Us);
        self.flights.send_blocks(Vec::new(), &blocks, before.clone(), after.clone());
        self.settle();
        Some(Application {
            proposal_id: self.id.clone(),
            path: self.path.clone(),
            hunk_ids: Vec::new(),
            calls: Vec::new(),
            change: FileChange::Modify,
            moved_to: None,
            base_hash: Some(text::hash(base)),
            base_text: Some(Arc::clone(base)),
            target_text: after.get().cloned(),
            edits: to_line_edits(base, formatted),
        })
    }

    /// Takes an application of the file's other proposal, which counts on what is on its way here.
    pub(super) fn expect(&mut self, application: &Application) {
        if !self.text.is(application.base_text.as_deref()) {
            return;
        }
        let before = self.text.clone();
        let after = match &application.target_text {
            Some(text) => Document::new(Some(text)),
            None => before.gone(),
        };
        let blocks = if after.present { LineEdit::blocks(&application.edits) } else { Vec::new() };
        self.reported(|own| {
            own.follow(after.clone(), &blocks, &[], By::Us);
            own.flights.send_blocks(application.hunk_ids.clone(), &blocks, before, after);
            own.settle();
        });
    }

    /// Takes the outcome of an application of the file's other proposal.
    pub(super) fn applied_beside(&mut self, application: &Application, outcome: &ApplyOutcome) {
        self.reported(|own| own.applied(application, outcome));
    }

    /// Does something that is news only if it shows.
    fn reported(&mut self, with: impl FnOnce(&mut Self)) {
        let (unreported, before) = (self.unreported, self.visible());
        with(self);
        self.unreported = unreported || self.visible() != before;
    }

    /// Returns the hunks as others see them: the state and first line of each.
    fn visible(&self) -> Vec<(HunkState, usize)> {
        self.hunks.iter().map(|hunk| (hunk.state, self.place_in_document(hunk).start)).collect()
    }

    /// Takes the outcome of an application.
    pub(super) fn applied(&mut self, application: &Application, outcome: &ApplyOutcome) {
        let ids = &application.hunk_ids;
        // A document that did not become the application's text was not on its way there.
        if let (Some(document), false) = (self.arriving.take(), *outcome == ApplyOutcome::Verified) {
            self.document_changed(Base::Open(&document), By::Others);
        }
        let flight = self.flights.ended(ids, application.base_text.as_deref());
        let failed = matches!(outcome, ApplyOutcome::Failed { .. });
        let arrived = self
            .hunks
            .iter()
            .any(|hunk| ids.contains(&hunk.id) && (hunk.is_in_text() || hunk.state == HunkState::Undone));
        if flight.is_none() && !failed && !arrived && self.document.is(application.base_text.as_deref()) {
            // It was given up when the document changed, but the document changed back in time for it.
            self.base_changed(application.target_text.as_deref().into(), By::Others);
        }
        let state = match (flight, outcome) {
            (Some(at), ApplyOutcome::Failed { .. }) => {
                self.take_back(at);
                HunkState::Pending
            }
            (Some(at), ApplyOutcome::Unverified) => {
                self.landed(at + 1);
                HunkState::Unverified
            }
            (Some(at), ApplyOutcome::Verified) => {
                self.landed(at + 1);
                HunkState::Accepted
            }
            // The document was seen with the hunks in it, which counts more than any word.
            (None, _) => HunkState::Accepted,
        };
        let on_their_way = self.flights.hunks();
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.state == HunkState::Applying && ids.contains(&hunk.id)) {
            if !on_their_way.contains(&hunk.id) {
                hunk.state = state;
            }
        }
        self.unreported |= !self.hunks.is_empty();
        self.settle();
    }

    /// Returns the text of the document, as far as it is known.
    pub(super) fn document(&self) -> Option<&str> {
        self.document.get().map(|text| &**text)
    }

    /// Takes the document as it is now, and says whose the change is; none if it is none.
    ///
    /// `by` is whose it is where it is not one of the applications on their way.
    pub(super) fn base_changed(&mut self, base: Base<'_>, by: By) -> Option<By> {
        let base = self.shown(base);
        self.arriving = None;
        self.document_changed(base, by)
    }

    /// True if the editor seems to be telling an application on its way bit by bit. What it shows meanwhile is not
    /// looked at before the application's text is there or its outcome is known.
    pub(super) fn is_arriving(&mut self, base: Base<'_>) -> bool {
        let Base::Open(snapshot) = self.shown(base) else { return false };
        let text = snapshot.normal();
        let arriving =
            !self.document.is(Some(text)) && self.flights.made(Some(text)).is_none() && self.flights.may_become(text);
        if arriving {
            self.arriving = Some(snapshot.clone());
        }
        arriving
    }

    /// Returns a file as an editor shows it. One that is not there, or that is there only by a hunk, an editor shows
    /// as an empty document, and one that was deleted perhaps with its last text.
    fn shown<'t>(&self, base: Base<'t>) -> Base<'t> {
        let made = || self.hunks.iter().any(|hunk| hunk.kind == Kind::Create);
        let is_empty = self.document().is_some_and(text::is_blank);
        match base {
            Base::Open(snapshot) if snapshot.is_gone() => Base::Text(None),
            Base::Open(snapshot) if snapshot.is_blank() && !is_empty && (!self.document.present || made()) => {
                Base::Text(None)
            }
            base => base,
        }
    }

    fn document_changed(&mut self, base: Base<'_>, by: By) -> Option<By> {
        let before = self.visible();
        let text = base.text();
        let news = if let Some(at) = self.flights.made(text) {
            self.landed(at + 1);
            Some(By::Us)
        } else if self.document.is(text)
            && (!self.flights.is_empty() || self.moves(base).is_none_or(|it| it.is_empty()))
        {
            None
        } else {
            let landed = self.flights.nearest(&self.document, text);
            self.landed(landed);
            // The document is not what the others were made for, so that they will be refused.
            self.take_back(0);
            self.change(base, by);
            Some(by)
        };
        if news.is_some() || name(base).is_some() {
            self.seen = name(base);
        }
        for hunk in self.hunks.iter_mut().filter(|hunk| hunk.state == HunkState::Unverified && hunk.lost.is_none()) {
            hunk.state = HunkState::Accepted;
        }
        self.settle();
        let visible = self.visible() != before;
        self.unreported |= visible;
        news.or(visible.then_some(By::Us))
    }

    /// The document holds the first `count` applications that were on their way.
    fn landed(&mut self, count: usize) {
        if let Some(document) = self.flights.landed(count) {
            self.document = document;
            self.seen = None;
        }
    }

    /// Takes the applications from number `from` on out of the text. Their hunks are pending again.
    fn take_back(&mut self, from: usize) {
        while let Some(flight) = self.flights.take_back(from) {
            let blocks = if flight.after.present { flight.back.as_slice() } else { &[] };
            self.groups.retain(|group| *group != flight.ids);
            self.follow(flight.before.clone(), blocks, &flight.ids, By::Us);
            for hunk in self.hunks.iter_mut().filter(|hunk| hunk.state == HunkState::Applying) {
                if let Some(place) = flight.place_before(&hunk.id) {
                    hunk.place = place.clone();
                    hunk.lost = None;
                    hunk.state = HunkState::Pending;
                }
            }
        }
    }

    /// Follows a change of the document that is none of the applications on their way.
    fn change(&mut self, base: Base<'_>, by: By) {
        let Some(text) = base.text() else {
            self.follow(self.text.gone(), &[], &[], by);
            self.document = self.text.clone();
            return;
        };
        let after = Document::new(Some(text));
        self.document = after.clone();
        let moves = self.moves(base);
        let told = |known: &[Block]| lines::told(&self.text.text, text, moves.as_deref()?, known);
        let agrees = |it: &Turning| told(&it.blocks).is_none_or(|told| lines::explains(&it.blocks, &told));
        let mut turnings = Vec::new();
        if self.text.present && by == By::Others {
            turnings = turning::turnings(&self.text.text, text, &self.hunks, &self.groups);
        }
        let first = turnings.first().cloned();
        if let Some(turning) = turnings.into_iter().find(agrees) {
            self.follow(after, &turning.blocks, &turning.ids, by);
            self.turn(turning);
            return;
        }
        let blocks = told(&[]).unwrap_or_else(|| lines::changes(&self.text.text, text));
        let turned = self.follow(after, &blocks, &[], by);
        // The same text came about on other lines that are equal: the others went as the editor says.
        if let Some(turning) = first.filter(|it| !turned && !it.is_undecided(&self.hunks)) {
            self.turn(turning);
        }
    }

    /// Hunks were turned the other way by a change that the others have followed.
    fn turn(&mut self, turning: Turning) {
        for (id, block) in turning.ids.iter().zip(turning.blocks) {
            if let Some(hunk) = self.hunks.iter_mut().find(|hunk| hunk.id == *id) {
                hunk.state = hunk.turned().unwrap_or(hunk.state);
                hunk.place = block.new;
                hunk.lost = None;
            }
        }
    }

    /// Returns the editor's changes since the document was last seen. Even if the text is the same again, equal lines
    /// may have moved.
    fn moves(&self, base: Base<'_>) -> Option<Vec<Move>> {
        match (base, self.seen) {
            (Base::Open(snapshot), Some(seen)) => snapshot.moves_since(seen),
            _ => None,
        }
    }

    /// Makes `after` the text and lets all hunks but `except` follow. True if the change turned one of them.
    fn follow(&mut self, after: Document, blocks: &[Block], except: &[HunkId], by: By) -> bool {
        let before = std::mem::replace(&mut self.text, after);
        let (old, new) = (Lines::new(&before.text), Lines::new(&self.text.text));
        let mut old = Shared::new(&old);
        let except: HashSet<&HunkId> = except.iter().collect();
        let mut turned = false;
        for hunk in self.hunks.iter_mut().filter(|hunk| !except.contains(&hunk.id)) {
            turned |= match hunk.kind {
                Kind::Lines => hunk.follow(&mut old, &new, blocks, by),
                Kind::Create | Kind::Delete => hunk.follow_file(&self.text, by),
            };
        }
        turned
    }

    /// Ends an operation: conflicts, order, and the text that the model reads.
    pub(super) fn settle(&mut self) {
        self.settle_conflicts();
        self.hunks.sort_by_key(|hunk| (hunk.place.start, hunk.place.end));
        let kind = self.in_state(HunkState::Pending).next().map(|hunk| hunk.kind);
        self.change = match kind {
            Some(Kind::Lines) => FileChange::Modify,
            Some(Kind::Create) => FileChange::Create,
            Some(Kind::Delete) => FileChange::Delete,
            None => self.change,
        };
        let whole = self.in_state(HunkState::Pending).find(|hunk| hunk.kind != Kind::Lines);
        self.proposed = match whole.map(|hunk| (hunk.kind, &hunk.new)) {
            Some((Kind::Create, new)) => Document::new(Some(new)),
            Some(_) => self.text.gone(),
            None if self.in_state(HunkState::Pending).next().is_none() => self.text.clone(),
            None => {
                let pending = self.in_state(HunkState::Pending).map(|hunk| (hunk.place.clone(), hunk.new.as_str()));
                Document::new(Some(&Lines::new(&self.text.text).replaced(pending)))
            }
        };
    }

    /// Lets a hunk be pending if its text is at its place and no other pending hunk is there, and in conflict
    /// otherwise.
    fn settle_conflicts(&mut self) {
        let whole = self.in_state(HunkState::Pending).any(|hunk| hunk.kind != Kind::Lines);
        let end = lines::count(&self.text.text);
        // A text without a final line end would run into the line below it, if somebody put one there.
        let closed = |hunk: &Hunk| hunk.new.is_empty() || hunk.new.ends_with('\n') || hunk.place.end == end;
        let fits = |hunk: &Hunk| self.text.present && !whole && hunk.lost.is_none() && closed(hunk);
        // Sorted by begin and end, they are so by their ends too, since none of them overlap: neighbours tell.
        let mut taken: BTreeSet<(usize, usize)> = BTreeSet::new();
        let neighbours = |taken: &BTreeSet<(usize, usize)>, place: &Range<usize>| {
            let key = (place.start, place.end);
            let range = |(start, end): &(usize, usize)| *start..*end;
            [taken.range(..key).next_back().map(range), taken.range(key..).next().map(range)].into_iter().flatten()
        };
        let mut changed = false;
        // Those that were pending go before those that come back to it.
        for state in [HunkState::Pending, HunkState::Conflicted] {
            for hunk in self.hunks.iter_mut().filter(|hunk| hunk.kind == Kind::Lines && hunk.state == state) {
                let free = match state {
                    HunkState::Pending => !neighbours(&taken, &hunk.place).any(|place| overlap(&place, &hunk.place)),
                    _ => !neighbours(&taken, &hunk.place).any(|place| touch(&place, &hunk.place)),
                };
                if fits(hunk) && free {
                    hunk.state = HunkState::Pending;
                    taken.insert((hunk.place.start, hunk.place.end));
                } else {
                    hunk.state = HunkState::Conflicted;
                }
            }
        }
        for hunk in &mut self.hunks {
            let conflicted = hunk.state == HunkState::Conflicted;
            changed |= conflicted != hunk.counted_conflicted && hunk.state != HunkState::Rejected;
            hunk.counted_conflicted = conflicted;
        }
        self.revision += u64::from(changed);
    }

    /// Where a hunk is in the document, which lacks what is on its way.
    pub(super) fn place_in_document(&self, hunk: &Hunk) -> Range<usize> {
        self.flights.place_in_document(&hunk.id, &hunk.place)
    }
}

/// The name of a document's text, if an editor holds it.
fn name(base: Base<'_>) -> Option<TextId> {
    match base {
        Base::Open(snapshot) => Some(snapshot.text_id()),
        Base::Text(_) => None,
    }
}

/// True if two places share lines, or are the same place without lines.
fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a == b || (a.start < b.end && b.start < a.end)
}

/// True if two places share or adjoin lines.
fn touch(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn add_calls(calls: &mut Vec<ToolCallId>, more: &[ToolCallId]) {
    for call in more {
        if !calls.contains(call) {
            calls.push(call.clone());
        }
    }
}
