//! The changes that turns made to files, as the log tells it: a fold that undo and redo are planned on.
//!
//! Each file has its changes in the order in which they were made. To undo a turn takes back its changes of each file,
//! the last one first; to redo it puts them again. The changes of several turns become one step from what the file is
//! to what it was before the first of them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use protocol::checkpoint::{Direction, FileImage, RestoreOutcome, RestoreStep, RestoredFile};
use protocol::event::ApplyOutcome;
use protocol::{Event, ProposalId, ToolCallId, TurnId};

use super::parts::Parts;

/// The changes that turns made to files.
#[derive(Clone, Debug, Default)]
pub(super) struct Checkpoints {
    /// The turns, in the order in which they began.
    turns: Vec<TurnId>,
    /// Where each stands among them.
    places: HashMap<TurnId, usize>,
    /// The turn that each call was made in.
    calls: HashMap<ToolCallId, TurnId>,
    /// The proposals of what commands and other programs changed.
    landed: HashSet<ProposalId>,
    /// The turn in which another program changed each file last, by URI.
    others: HashMap<String, TurnId>,
    /// The changes of each file, by URI.
    files: BTreeMap<String, Vec<Change>>,
    /// The outcome of the parts of calls.
    pub(super) parts: Parts,
    /// The changes by a turn's commands and by other programs that the user took back in the review, by URI; all of
    /// them are undone. A redo of the turn puts them back, but not the one that follows its undo, after which the files
    /// are as the user left them.
    taken_back: BTreeMap<String, Vec<Change>>,
    /// The turns that were undone at once and not redone, the last last; also where a file was left as it was.
    undone: Vec<Vec<TurnId>>,
}

/// A change of a file by a turn.
#[derive(Clone, Debug, PartialEq)]
struct Change {
    turn: TurnId,
    before: Option<FileImage>,
    after: Option<FileImage>,
    /// Why what it was before or after is not kept; none if it is.
    unknown: Option<String>,
    undone: bool,
    /// True if it is another program's, which is not taken back with the turn.
    of_others: bool,
}

/// A file's way back, or to where it was again.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    /// The file.
    pub(super) uri: String,
    /// The changes to take back or to put again, in this order. Never empty.
    pub(super) steps: Vec<RestoreStep>,
    /// True if each step begins where the one before it ends: nobody else changed the file in between.
    pub(super) unbroken: bool,
    /// True if a turn that stays as it is changed the file after these.
    pub(super) later: bool,
    /// Why it cannot be gone: what the file was is not kept.
    pub(super) unknown: Option<String>,
}

impl Way {
    /// Returns the file at the beginning of the way, which is how it is unless somebody changed it since.
    pub(super) fn from(&self) -> Option<&FileImage> {
        self.steps.first().and_then(|step| step.from.as_ref())
    }

    /// Has the way end elsewhere, at once.
    pub(super) fn lead_to(&mut self, end: Option<FileImage>) {
        self.steps.iter_mut().for_each(|step| step.to.clone_from(&end));
    }

    /// Returns the file as it is to be.
    pub(super) fn to(&self) -> Option<&FileImage> {
        self.steps.last().and_then(|step| step.to.as_ref())
    }
}

impl Checkpoints {
    /// Takes in the next event.
    pub(super) fn apply(&mut self, event: &Event) {
        let restored = if let Event::CheckpointRestored { turn_ids, .. } = event { turn_ids.as_slice() } else { &[] };
        let Self { parts, calls, .. } = self;
        parts.apply(event, |call| calls.get(call).is_some_and(|turn| restored.contains(turn)));
        match event {
            Event::TurnStarted { turn_id, .. } => {
                self.places.insert(turn_id.clone(), self.turns.len());
                self.turns.push(turn_id.clone());
            }
            Event::ToolCallStarted { turn_id, tool_call_id, .. } => {
                self.calls.insert(tool_call_id.clone(), turn_id.clone());
            }
            Event::ProposalChanged { proposal } if proposal.landed => {
                self.landed.insert(proposal.proposal_id.clone());
            }
            Event::EditApplied {
                proposal_id,
                turn_id,
                uri,
                before,
                after,
                deleted,
                outcome: ApplyOutcome::Verified | ApplyOutcome::Unverified,
                ..
            } => {
                let before = deleted.as_deref().cloned().or(before.as_ref().map(FileImage::text));
                let after = after.as_ref().map(FileImage::text);
                if self.landed.contains(proposal_id) {
                    self.take_back(uri, turn_id.as_ref(), before.clone(), after.clone());
                    if turn_id.is_none() {
                        return;
                    }
                }
                // Logs of older versions do not say the turn.
                let Some(turn) = turn_id.as_ref().or(self.turns.last()).cloned() else { return };
                self.push(uri, Change { turn, before, after, unknown: None, undone: false, of_others: false });
            }
            Event::Formatted { turn_id, uri, before, after, .. } => {
                let Some(turn) = turn_id.as_ref().or(self.turns.last()).cloned() else { return };
                let (before, after) = (Some(FileImage::text(before)), Some(FileImage::text(after)));
                self.push(uri, Change { turn, before, after, unknown: None, undone: false, of_others: false });
            }
            // The changes of other programs are not the turn's, and are not taken back with it.
            Event::FilesChanged { tool_call_id: None, turn_id, files } => {
                self.others.extend(files.iter().map(|file| (file.uri.clone(), turn_id.clone())));
            }
            Event::FilesChanged { turn_id, files, .. } => {
                for file in files {
                    let (before, after) = (file.before.clone(), file.after.clone());
                    let unknown = file.unknown.clone();
                    self.push(
                        &file.uri,
                        Change { turn: turn_id.clone(), before, after, unknown, undone: false, of_others: false },
                    );
                }
            }
            Event::CheckpointRestored { direction, turn_ids, files } => {
                files.iter().for_each(|file| self.restored(*direction, turn_ids, file));
                for turns in &mut self.undone {
                    turns.retain(|turn| !turn_ids.contains(turn));
                }
                if *direction == Direction::Undo {
                    self.undone.push(turn_ids.clone());
                }
                self.undone.retain(|turns| !turns.is_empty());
            }
            _ => {}
        }
    }

    /// The turn that began last of those that these calls were made in.
    pub(super) fn last_of(&self, calls: &[ToolCallId]) -> Option<&TurnId> {
        let turns = calls.iter().filter_map(|call| self.calls.get(call));
        turns.max_by_key(|turn| self.places.get(turn))
    }

    /// True if all of these calls were made in these turns.
    pub(super) fn are_of(&self, calls: &[ToolCallId], turns: &[TurnId]) -> bool {
        !calls.is_empty() && calls.iter().all(|call| self.calls.get(call).is_some_and(|turn| turns.contains(turn)))
    }

    /// The turns that changed files, newest first.
    pub(super) fn changing(&self) -> Vec<TurnId> {
        let changes = |turn: &&TurnId| {
            self.files.values().chain(self.taken_back.values()).flatten().any(|change| change.turn == **turn)
        };
        self.turns.iter().rev().filter(changes).cloned().collect()
    }

    /// The turns that a request means, newest first: a turn, all from it on, or without one those that are next. None
    /// for a turn that never was.
    pub(super) fn meant(&self, direction: Direction, turn: Option<&TurnId>, and_later: bool) -> Option<Vec<TurnId>> {
        let turns = match turn {
            Some(turn) => vec![turn.clone()],
            None => self.next(direction),
        };
        let Some(first) = turns.last() else { return Some(turns) };
        let at = *self.places.get(first)?;
        Some(if and_later { self.turns.iter().skip(at).rev().cloned().collect() } else { turns })
    }

    /// To undo, the last turn that changed files and was not undone; to redo, what was undone last, and else the last
    /// turn of which something was taken back in the review.
    fn next(&self, direction: Direction) -> Vec<TurnId> {
        if direction == Direction::Redo {
            let has_taken_back =
                |turn: &&TurnId| self.taken_back.values().flatten().any(|change| change.turn == **turn);
            let taken_back = || self.turns.iter().rfind(has_taken_back).cloned().into_iter().collect();
            return self.undone.last().cloned().unwrap_or_else(taken_back);
        }
        let is_next = |turn: &&TurnId| {
            let of_turn = |change: &Change| change.turn == **turn && !change.undone && change.unknown.is_none();
            !self.undone.iter().flatten().any(|undone| undone == *turn) && self.files.values().flatten().any(of_turn)
        };
        self.turns.iter().rfind(is_next).cloned().into_iter().collect()
    }

    /// The ways of all files that turns changed and that can be undone, or redone.
    pub(super) fn ways(&self, direction: Direction, turns: &[TurnId]) -> Vec<Way> {
        let last = turns.iter().filter_map(|turn| self.places.get(turn)).max();
        let uris: BTreeSet<&String> = self.files.keys().chain(self.taken_back.keys()).collect();
        let ways = uris.into_iter().filter_map(|uri| {
            let changes = self.files.get(uri).map(Vec::as_slice).unwrap_or_default();
            let chosen = chosen(changes, direction, turns);
            let later = changes.iter().any(|change| !change.undone && self.places.get(&change.turn) > last);
            let mut chosen: Vec<&Change> = chosen.iter().filter_map(|at| changes.get(*at)).collect();
            let taken_back = self.taken_back.get(uri).into_iter().flatten();
            chosen.extend(taken_back.filter(|change| self.puts_again(change, direction, turns)));
            if chosen.is_empty() {
                return None;
            }
            let unknown = chosen.iter().find_map(|change| change.unknown.clone());
            let steps: Vec<_> = chosen.into_iter().map(|change| change.step(direction)).collect();
            let unbroken = steps.iter().zip(steps.iter().skip(1)).all(|(a, b)| same(a.to.as_ref(), b.from.as_ref()));
            let way = Way { uri: uri.clone(), steps, unbroken, later, unknown };
            // A file that was made and deleted again needs nothing.
            (way.unknown.is_some() || !way.unbroken || way.from() != way.to()).then_some(way)
        });
        ways.collect()
    }

    /// True if what was taken back in the review is put again with these turns.
    fn puts_again(&self, change: &Change, direction: Direction, turns: &[TurnId]) -> bool {
        let is_undone = self.undone.iter().flatten().any(|undone| *undone == change.turn);
        direction == Direction::Redo && turns.contains(&change.turn) && !is_undone
    }

    /// Takes in that the user took back a change that was in a file, from `before` to `after`. Without a turn it was
    /// another program's.
    fn take_back(&mut self, uri: &str, turn: Option<&TurnId>, before: Option<FileImage>, after: Option<FileImage>) {
        let of_others = turn.is_none();
        let Some(turn) = turn.or_else(|| self.others.get(uri)).or(self.turns.last()).cloned() else { return };
        let changes = self.taken_back.entry(uri.to_owned()).or_default();
        match changes.last_mut() {
            Some(last)
                if last.turn == turn && last.of_others == of_others && same(last.before.as_ref(), before.as_ref()) =>
            {
                last.before = after;
            }
            _ => changes.push(Change { turn, before: after, after: before, unknown: None, undone: true, of_others }),
        }
    }

    fn push(&mut self, uri: &str, change: Change) {
        let changes = self.files.entry(uri.to_owned()).or_default();
        match changes.last_mut() {
            Some(last)
                if last.turn == change.turn && !last.undone && same(last.after.as_ref(), change.before.as_ref()) =>
            {
                last.after = change.after;
                last.unknown = last.unknown.take().or(change.unknown);
                if last.unknown.is_none() && last.before == last.after {
                    changes.pop();
                }
            }
            _ => changes.push(change),
        }
        if changes.is_empty() {
            self.files.remove(uri);
        }
    }

    /// Takes in what became of a file. Its changes then lead from and to what it really was.
    fn restored(&mut self, direction: Direction, turns: &[TurnId], file: &RestoredFile) {
        let (RestoreOutcome::Done | RestoreOutcome::Unverified) = file.outcome else { return };
        let again = self.put_again(direction, turns, file);
        let changes = self.files.entry(file.uri.clone()).or_default();
        let chosen = chosen(changes, direction, turns);
        for (at, step) in chosen.iter().zip(&file.steps) {
            let Some(change) = changes.get_mut(*at) else { continue };
            (change.before, change.after) = match direction {
                Direction::Undo => (step.to.clone(), step.from.clone()),
                Direction::Redo => (step.from.clone(), step.to.clone()),
            };
            change.undone = direction == Direction::Undo;
        }
        if direction == Direction::Redo {
            // They are now the last that was done to the file.
            let (redone, rest): (Vec<_>, Vec<_>) =
                std::mem::take(changes).into_iter().enumerate().partition(|(at, _)| chosen.contains(at));
            *changes = rest.into_iter().chain(redone).map(|(_, change)| change).chain(again).collect();
        }
        if changes.is_empty() {
            self.files.remove(&file.uri);
        }
    }

    /// Takes the changes that were taken back in the review and are redone, for the steps after those of the file's
    /// other changes. Returns the turns' own, which can be undone with them again.
    fn put_again(&mut self, direction: Direction, turns: &[TurnId], file: &RestoredFile) -> Vec<Change> {
        let others = self.files.get(&file.uri).map_or(0, |changes| chosen(changes, direction, turns).len());
        let (again, stay): (Vec<_>, Vec<_>) = self
            .taken_back
            .remove(&file.uri)
            .unwrap_or_default()
            .into_iter()
            .partition(|change| self.puts_again(change, direction, turns));
        if !stay.is_empty() {
            self.taken_back.insert(file.uri.clone(), stay);
        }
        let put = |(change, step): (Change, &RestoreStep)| {
            let (before, after) = (step.from.clone(), step.to.clone());
            (!change.of_others).then_some(Change { before, after, undone: false, ..change })
        };
        again.into_iter().zip(file.steps.iter().skip(others)).filter_map(put).collect()
    }
}

/// Returns the changes that are to be taken back or redone, in this order.
fn chosen(changes: &[Change], direction: Direction, turns: &[TurnId]) -> Vec<usize> {
    let wanted = |(_, change): &(usize, &Change)| {
        turns.contains(&change.turn) && change.undone == (direction == Direction::Redo)
    };
    let mut chosen: Vec<usize> = changes.iter().enumerate().filter(wanted).map(|(at, _)| at).collect();
    if direction == Direction::Undo {
        chosen.reverse();
    }
    chosen
}

impl Change {
    fn step(&self, direction: Direction) -> RestoreStep {
        let (before, after) = (self.before.clone(), self.after.clone());
        let (from, to) = match direction {
            Direction::Undo => (after, before),
            Direction::Redo => (before, after),
        };
        RestoreStep { turn_id: self.turn.clone(), from, to }
    }
}

/// True if two images are of the same file, as far as both tell.
pub(super) fn same(a: Option<&FileImage>, b: Option<&FileImage>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a.hash == b.hash && (a.bytes == b.bytes || a.bytes.is_none() || b.bytes.is_none()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use protocol::checkpoint::ChangedFile;
    use protocol::review::{FileChange, Hunk, HunkState, Proposal};
    use protocol::session::Mode;

    use super::*;

    const FILE: &str = "file:///p/a.txt";

    fn image(hash: &str) -> Option<FileImage> {
        (!hash.is_empty()).then(|| FileImage::text(hash))
    }

    fn turn(id: &str) -> Event {
        let (prompt, context, model) = (Vec::new(), String::new(), String::new());
        Event::TurnStarted {
            turn_id: id.into(),
            prompt,
            context,
            model,
            mode: Mode::Agent,
            thinks: None,
            compacts: false,
        }
    }

    /// An edit of `a.txt` from one hash to another; an empty one stands for no file.
    fn edit(turn: &str, before: &str, after: &str) -> Event {
        Event::EditApplied {
            proposal_id: "p".into(),
            hunk_ids: Vec::new(),
            turn_id: Some(turn.into()),
            uri: FILE.into(),
            before: image(before).map(|image| image.hash),
            after: image(after).map(|image| image.hash),
            deleted: None,
            outcome: ApplyOutcome::Verified,
        }
    }

    fn fold(events: &[Event]) -> Checkpoints {
        let mut checkpoints = Checkpoints::default();
        events.iter().for_each(|event| checkpoints.apply(event));
        checkpoints
    }

    fn turns(ids: &[&str]) -> Vec<TurnId> {
        ids.iter().map(|id| TurnId::from(*id)).collect()
    }

    /// The way of the one file, as hashes from step to step.
    fn way(checkpoints: &Checkpoints, direction: Direction, ids: &[&str]) -> Option<(Vec<[String; 2]>, bool, bool)> {
        let ways = checkpoints.ways(direction, &turns(ids));
        assert!(ways.len() <= 1);
        let hash = |image: Option<FileImage>| image.map(|image| image.hash).unwrap_or_default();
        ways.into_iter().next().map(|way| {
            (way.steps.into_iter().map(|step| [hash(step.from), hash(step.to)]).collect(), way.unbroken, way.later)
        })
    }

    fn pairs(of: &[[&str; 2]]) -> Vec<[String; 2]> {
        of.iter().map(|pair| pair.map(str::to_owned)).collect()
    }

    /// The event of a way that was gone, as it was planned.
    fn gone(checkpoints: &Checkpoints, direction: Direction, ids: &[&str]) -> Event {
        let files = checkpoints.ways(direction, &turns(ids)).into_iter().map(|way| RestoredFile {
            uri: way.uri,
            path: "a.txt".into(),
            outcome: RestoreOutcome::Done,
            steps: way.steps,
        });
        Event::CheckpointRestored { direction, turn_ids: turns(ids), files: files.collect() }
    }

    #[test]
    fn the_edits_of_a_turn_are_one_step_and_those_of_several_turns_lead_back_to_before_the_first() {
        let checkpoints = fold(&[turn("1"), edit("1", "a", "b"), edit("1", "b", "c"), turn("2"), edit("2", "c", "d")]);
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), Some((pairs(&[["c", "a"]]), true, true)));
        let both = Some((pairs(&[["d", "c"], ["c", "a"]]), true, false));
        assert_eq!(way(&checkpoints, Direction::Undo, &["2", "1"]), both);
        assert_eq!(way(&checkpoints, Direction::Redo, &["2", "1"]), None);
        assert_eq!(checkpoints.changing(), turns(&["2", "1"]));
    }

    #[test]
    fn formatting_belongs_to_the_edits_before_it() {
        let formatted = Event::Formatted {
            turn_id: Some("1".into()),
            uri: FILE.into(),
            before: "b".into(),
            after: "formatted".into(),
            added: 1,
            removed: 1,
            by: None,
        };
        let checkpoints = fold(&[turn("1"), edit("1", "a", "b"), formatted]);
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), Some((pairs(&[["formatted", "a"]]), true, false)));
    }

    #[test]
    fn what_somebody_else_changed_in_between_breaks_the_way() {
        let checkpoints = fold(&[turn("1"), edit("1", "a", "b"), edit("1", "by the user", "c")]);
        let broken = Some((pairs(&[["c", "by the user"], ["b", "a"]]), false, false));
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), broken);
    }

    #[test]
    fn a_file_that_a_turn_made_and_deleted_again_is_not_on_its_list() {
        let checkpoints = fold(&[turn("1"), edit("1", "", "a"), edit("1", "a", "")]);
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), None);
        assert_eq!(checkpoints.changing(), turns(&[]));
    }

    #[test]
    fn undo_goes_back_turn_by_turn_and_redo_takes_the_last_undo_back() {
        let mut checkpoints = fold(&[turn("1"), edit("1", "a", "b"), turn("2"), turn("3"), edit("3", "b", "c")]);
        let next = |checkpoints: &Checkpoints, direction| checkpoints.meant(direction, None, false).unwrap();
        assert_eq!(next(&checkpoints, Direction::Undo), turns(&["3"]));
        assert_eq!(next(&checkpoints, Direction::Redo), turns(&[]));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Undo, &["3"]));
        assert_eq!(next(&checkpoints, Direction::Undo), turns(&["1"]));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Undo, &["1"]));
        assert_eq!(next(&checkpoints, Direction::Undo), turns(&[]));
        assert_eq!(next(&checkpoints, Direction::Redo), turns(&["1"]));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Redo, &["1"]));
        assert_eq!(next(&checkpoints, Direction::Redo), turns(&["3"]));
        assert_eq!(way(&checkpoints, Direction::Redo, &["3"]), Some((pairs(&[["b", "c"]]), true, false)));
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), Some((pairs(&[["b", "a"]]), true, false)));
    }

    #[test]
    fn a_turn_of_which_a_file_was_left_is_undone_and_the_one_before_it_is_next() {
        let mut checkpoints = fold(&[turn("1"), edit("1", "a", "b"), turn("2"), edit("2", "b", "c")]);
        let left = RestoreOutcome::Left { reason: "x".into() };
        let files = vec![RestoredFile { uri: FILE.into(), path: "a.txt".into(), outcome: left, steps: Vec::new() }];
        let turn_ids = turns(&["2"]);
        checkpoints.apply(&Event::CheckpointRestored { direction: Direction::Undo, turn_ids, files });
        assert_eq!(checkpoints.meant(Direction::Undo, None, false), Some(turns(&["1"])));
        assert_eq!(checkpoints.meant(Direction::Redo, None, false), Some(turns(&["2"])));
    }

    #[test]
    fn a_turn_and_all_later_ones_are_meant_newest_first() {
        let checkpoints = fold(&[turn("1"), turn("2"), turn("3")]);
        let meant = |turn: &str| checkpoints.meant(Direction::Undo, Some(&turn.into()), true);
        assert_eq!(meant("2"), Some(turns(&["3", "2"])));
        assert_eq!(meant("9"), None);
    }

    #[test]
    fn redo_brings_back_what_the_user_had_written_over_the_turn() {
        let mut checkpoints = fold(&[turn("1"), edit("1", "a", "b")]);
        let step = |from, to| RestoreStep { turn_id: "1".into(), from: image(from), to: image(to) };
        let files = vec![RestoredFile {
            uri: FILE.into(),
            path: "a.txt".into(),
            outcome: RestoreOutcome::Done,
            steps: vec![step("the user's", "a")],
        }];
        let turn_ids = turns(&["1"]);
        checkpoints.apply(&Event::CheckpointRestored { direction: Direction::Undo, turn_ids, files });
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), Some((pairs(&[["a", "the user's"]]), true, false)));
    }

    fn listed() -> Event {
        let (proposal_id, uri, path) = ("p".into(), FILE.into(), "a.txt".into());
        let (change, hunks) = (FileChange::Modify, Vec::new());
        let proposal = Proposal {
            proposal_id,
            revision: 1,
            uri,
            path,
            change,
            hunks,
            base_hash: None,
            moved_to: None,
            landed: true,
        };
        Event::ProposalChanged { proposal }
    }

    fn found(turn: &str, call: Option<&str>, before: &str, after: &str) -> Event {
        let (before, after) = (image(before), image(after));
        let files = vec![ChangedFile { uri: FILE.into(), before, after, unknown: None }];
        Event::FilesChanged { turn_id: turn.into(), tool_call_id: call.map(Into::into), files }
    }

    fn taken_back(turn: Option<&str>, before: &str, after: &str) -> Event {
        match edit("", before, after) {
            Event::EditApplied { proposal_id, hunk_ids, uri, before, after, deleted, outcome, .. } => {
                let turn_id = turn.map(TurnId::from);
                Event::EditApplied { proposal_id, hunk_ids, turn_id, uri, before, after, deleted, outcome }
            }
            other => other,
        }
    }

    #[test]
    fn what_the_user_took_back_in_the_review_can_be_put_again_and_undone_with_its_turn_then() {
        let mut checkpoints =
            fold(&[turn("1"), found("1", Some("c"), "", "new"), listed(), taken_back(Some("1"), "new", "")]);
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), None);
        assert_eq!(checkpoints.meant(Direction::Redo, None, false), Some(turns(&["1"])));
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), Some((pairs(&[["", "new"]]), true, false)));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Redo, &["1"]));
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), None);
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), Some((pairs(&[["new", ""]]), true, false)));
    }

    #[test]
    fn what_another_program_did_and_was_taken_back_hunk_by_hunk_is_put_again_but_never_the_turns() {
        let events = [turn("1"), turn("2"), found("1", None, "a", "b"), listed()];
        let mut checkpoints = fold(&events);
        checkpoints.apply(&taken_back(None, "b", "half"));
        checkpoints.apply(&taken_back(None, "half", "a"));
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), Some((pairs(&[["a", "b"]]), true, false)));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Redo, &["1"]));
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), None);
        assert_eq!(checkpoints.changing(), turns(&[]));
    }

    #[test]
    fn redo_after_undo_leaves_what_was_taken_back_in_the_review_as_the_user_left_it() {
        let events = [turn("1"), found("1", Some("c"), "a", "b"), listed(), taken_back(Some("1"), "b", "half")];
        let mut checkpoints = fold(&events);
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Undo, &["1"]));
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), Some((pairs(&[["a", "half"]]), true, false)));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Redo, &["1"]));
        assert_eq!(way(&checkpoints, Direction::Redo, &["1"]), Some((pairs(&[["half", "b"]]), true, false)));
    }

    /// A proposal that makes `a.txt` by the call `c`, in a state.
    fn makes(state: HunkState, base: Option<&str>) -> Event {
        let Event::ProposalChanged { mut proposal } = listed() else { unreachable!() };
        proposal.landed = false;
        proposal.base_hash = base.map(str::to_owned);
        proposal.hunks = vec![Hunk {
            hunk_id: "p.1".into(),
            tool_call_ids: vec!["c".into()],
            start_line: 0,
            old_text: String::new(),
            new_text: "new\n".into(),
            line_before: None,
            line_after: None,
            anchor: None,
            state,
            comments: Vec::new(),
            untold_comments: 0,
        }];
        Event::ProposalChanged { proposal }
    }

    /// A turn whose call `c` has made `a.txt`.
    fn made() -> Checkpoints {
        let called = Event::ToolCallStarted {
            turn_id: "1".into(),
            tool_call_id: "c".into(),
            name: "edit_apply_patch".into(),
            kind: protocol::content::ToolKind::Edit,
            title: String::new(),
            input: serde_json::Value::Null,
            locations: Vec::new(),
        };
        let there = makes(HunkState::Accepted, Some("new"));
        let checkpoints = fold(&[turn("1"), called, edit("1", "", "new"), there]);
        assert!(checkpoints.parts.has_arrived(FILE, &"c".into()));
        checkpoints
    }

    #[test]
    fn what_a_call_made_is_there_no_longer_once_it_is_undone_or_deleted() {
        let restored = gone(&made(), Direction::Undo, &["1"]);
        let deleted = edit("1", "new", "");
        let by_a_command = found("1", Some("d"), "new", "");
        for event in [restored, deleted, by_a_command] {
            let mut checkpoints = made();
            checkpoints.apply(&event);
            assert!(!checkpoints.parts.has_arrived(FILE, &"c".into()), "{event:?}");
            // The file that is there then is another.
            checkpoints.apply(&makes(HunkState::Accepted, Some("another")));
            assert!(!checkpoints.parts.has_arrived(FILE, &"c".into()), "{event:?}");
        }
        let mut checkpoints = made();
        checkpoints.apply(&makes(HunkState::Accepted, None));
        assert!(!checkpoints.parts.has_arrived(FILE, &"c".into()), "no file is there");
    }

    #[test]
    fn what_a_call_made_is_there_after_a_later_turn_was_undone_and_after_its_own_was_redone() {
        let mut checkpoints = made();
        checkpoints.apply(&turn("2"));
        checkpoints.apply(&edit("2", "new", "newer"));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Undo, &["2"]));
        assert!(checkpoints.parts.has_arrived(FILE, &"c".into()));
        checkpoints.apply(&makes(HunkState::Undone, None));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Undo, &["1"]));
        assert!(!checkpoints.parts.has_arrived(FILE, &"c".into()));
        checkpoints.apply(&makes(HunkState::Accepted, Some("new")));
        checkpoints.apply(&gone(&checkpoints.clone(), Direction::Redo, &["1"]));
        assert!(checkpoints.parts.has_arrived(FILE, &"c".into()));
    }

    #[test]
    fn what_was_left_or_failed_stays_to_be_undone() {
        let mut checkpoints = fold(&[turn("1"), edit("1", "a", "b")]);
        for outcome in [RestoreOutcome::Left { reason: "x".into() }, RestoreOutcome::Failed { reason: "x".into() }] {
            let files = vec![RestoredFile { uri: FILE.into(), path: "a.txt".into(), outcome, steps: Vec::new() }];
            let turn_ids = turns(&["1"]);
            checkpoints.apply(&Event::CheckpointRestored { direction: Direction::Undo, turn_ids, files });
        }
        assert_eq!(way(&checkpoints, Direction::Undo, &["1"]), Some((pairs(&[["b", "a"]]), true, false)));
    }
}
