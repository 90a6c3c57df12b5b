//! The user's edits, as a model is told of them, and the nature of the last change of a document.
//!
//! Every change costs the work of its own lines only. Edits that follow each other within a second and a few lines are
//! one edit; an edit that is undone is none.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::complete::Edited;
use project::text::LineIndex;

use crate::secret;
use crate::splice::{self, Splice};

/// The most edits that are kept of all documents together, as single ones and in larger groups.
const MOST_EDITS: usize = 25;
const MOST_GROUPS: usize = 100;
/// The largest distance between changes of one edit, in lines.
const NEAR: usize = 8;
/// The longest time between changes of one edit.
const SOON: Duration = Duration::from_secs(1);
/// The most lines of an edit's text before and of its text after.
const MOST_LINES: usize = 10;
/// The most characters of each of them.
const MOST_CHARACTERS: usize = 2000;
/// The part of a long line that is shown before a change in it, in bytes.
const LEAD: usize = 500;

/// The most documents whose state is kept; the least recently changed is forgotten.
const MOST_DOCUMENTS: usize = 64;
/// The most earlier states of a document that are recognised.
const MOST_STATES: usize = 64;
/// The longest line or text of which all is hashed, in bytes; of longer ones the length and the ends are.
const HASHED: usize = 4096;

/// The most characters, without space, that a key and the brackets that an editor closes for it put into a text.
const KEY: usize = 2;
/// The shortest text that is taken for one that was deleted, if it is a part of it.
const FEWEST_RESTORED: usize = 3;

/// The edits of all documents.
#[derive(Clone, Debug)]
pub struct Journal {
    edits: Edits,
    /// The same in larger groups, whatever the time between the changes.
    groups: Edits,
    documents: HashMap<Arc<str>, State>,
    changes: u64,
}

/// A text with the index of its lines.
#[derive(Clone, Copy, Debug)]
pub struct View<'t> {
    /// The text.
    pub text: &'t str,
    /// The index.
    pub lines: &'t LineIndex,
}

/// The author of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The user, or the editor for the user.
    User,
    /// The user, by accepting a suggestion.
    Accepted,
    /// Azimuth, by a tool of the agent.
    Azimuth,
}

/// The nature of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A key, a completion, or a replacement of a few characters.
    Typed,
    /// Text was only deleted.
    Deleted,
    /// Several lines came at once.
    Pasted {
        /// Their number.
        lines: usize,
    },
    /// The text is what it was some changes ago: an undo or a redo.
    Undone,
    /// Several places changed at once, as with several cursors.
    Several,
    /// The user accepted a suggestion.
    Accepted,
    /// Azimuth made it.
    Own,
}

/// A group of changes near each other.
#[derive(Clone, Debug)]
struct Edit {
    document: Arc<str>,
    /// The lines of the present text, from 0, that are `after`.
    lines: Range<usize>,
    before: String,
    after: String,
    /// True if there is what looks like a secret in it.
    is_secret: bool,
    /// The hashes of the whole texts before and after, if the texts here are only parts of them.
    cut: Option<[u64; 2]>,
    /// True if nothing becomes a part of it any more.
    is_closed: bool,
    last: Instant,
}

/// Edits of all documents, in groups.
#[derive(Clone, Debug)]
struct Edits {
    /// The oldest first.
    list: VecDeque<Edit>,
    most: usize,
    /// The longest time between changes of one edit, with no other edit between them; none if neither counts.
    soon: Option<Duration>,
}

/// The state of a document.
#[derive(Clone, Debug)]
struct State {
    /// The sum of the hashes of all pairs of neighbouring lines, less that of the first text seen. Unlike a hash of
    /// the whole text it follows a change at the cost of its lines.
    hash: u64,
    /// The hashes of the states before.
    earlier: VecDeque<u64>,
    kind: Kind,
    changed: u64,
}

/// A change as lines that replace lines.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineChange {
    old: Range<usize>,
    new: Range<usize>,
    /// The first changed byte of the old and of the new text.
    starts: (usize, usize),
}

impl Journal {
    /// Records changes of a document that came together. They are changes of the `old` text, in order and apart from
    /// each other, as [`splice::parallel`] makes them.
    pub fn record(&mut self, document: &str, old: View, new: View, changes: &[Splice], by: By, now: Instant) {
        let hulls = line_changes(old, new, changes);
        if hulls.is_empty() {
            return;
        }
        let document = self.documents.get_key_value(document).map_or_else(|| document.into(), |(key, _)| key.clone());
        self.follow(&document, old, new, &hulls, changes, by);
        for hull in hulls {
            let change = hull.trimmed(old, new);
            // The lines as they are after the changes above and before this one; the edits count theirs so too.
            let place = change.new.start..change.new.start + change.old.len();
            for edits in [&mut self.edits, &mut self.groups] {
                let mut edit = (by != By::Azimuth).then(|| edits.grouped(&document, &change, old, new, now)).flatten();
                if let Some(edit) = edit.as_mut().filter(|_| edits.soon.is_some()) {
                    // By the whole texts, since a line alone may not say that it is a secret.
                    edit.is_secret |= old.has_secret(&change.old) || new.has_secret(&edit.lines);
                }
                for other in edits.list.iter_mut().filter(|other| *other.document == *document) {
                    other.move_by(&place, change.new.len());
                }
                edits.list.extend(edit);
                while edits.list.len() > edits.most {
                    edits.list.pop_front();
                }
            }
        }
    }

    /// The nature of the last change of a document; none if there was none.
    pub fn last_change(&self, document: &str) -> Option<Kind> {
        Some(self.documents.get(document)?.kind)
    }

    /// The edits, the newest last, with LF line ends. `path` gives the path under which a document may be shown; its
    /// edits are left out if there is none. Edits of what looks like a secret are left out too.
    pub fn edited(&self, path: impl Fn(&str) -> Option<String>) -> Vec<Edited> {
        let shown = self.edits.list.iter().filter(|edit| !edit.is_secret).filter_map(|edit| {
            let (before, after) = (edit.before.as_str(), edit.after.as_str());
            let (same, before, after) =
                if edit.cut.is_some() { (0, before, after) } else { without_same_lines(before, after) };
            let line = edit.lines.start + same;
            let [before, after] = [before, after].map(|text| first_part(text).replace("\r\n", "\n"));
            Some(Edited { path: path(&edit.document)?, line, before, after })
        });
        shown.collect()
    }

    /// The lines of the present texts that the user has changed since a time, from 0, by document; empty ones are where
    /// lines were deleted. What is changed from here on is a group of its own, so that its undoing is a change too.
    pub fn lines_since(&mut self, since: Instant) -> Vec<(Arc<str>, Range<usize>)> {
        self.groups.list.iter_mut().for_each(|group| group.is_closed = true);
        let recent = self.groups.list.iter().filter(|group| group.last >= since);
        let lines = |group: &Edit| {
            let all = group.lines.clone();
            let (same, _, after) = match group.cut {
                None => without_same_lines(&group.before, &group.after),
                Some(_) => return all,
            };
            let start = all.start + same;
            start..(start + after.split_inclusive('\n').count()).min(all.end)
        };
        recent.map(|group| (Arc::clone(&group.document), lines(group))).collect()
    }

    /// True if a change of a document's present text would undo an edit of the user's: give the text before it, delete
    /// what the user has just inserted, or insert what the user has just deleted.
    pub fn reverses(&self, document: &str, now: View, candidate: &Splice) -> bool {
        let Some(candidate) = candidate.minimal(now.text).filter(|candidate| !candidate.is_empty()) else {
            return false;
        };
        let own = self.edits.list.iter().rev().filter(|edit| &*edit.document == document && edit.cut.is_none());
        own.enumerate().any(|(age, edit)| edit.is_reversed_by(now, &candidate, age == 0))
    }

    /// True if there are edits of a document, open or not.
    pub fn has_edits(&self, document: &str) -> bool {
        self.groups.list.iter().any(|group| &*group.document == document)
    }

    /// Forgets the state of a document that is closed. The user's edits of it stay.
    pub fn close(&mut self, document: &str) {
        self.documents.remove(document);
    }

    /// Follows a change in the state of its document.
    fn follow(&mut self, document: &Arc<str>, old: View, new: View, hulls: &[LineChange], changes: &[Splice], by: By) {
        self.changes += 1;
        if self.documents.len() >= MOST_DOCUMENTS && !self.documents.contains_key(document) {
            let oldest = self.documents.iter().min_by_key(|(_, state)| state.changed).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| self.documents.remove(&oldest));
        }
        let state = self.documents.entry(document.clone()).or_insert_with(|| State {
            hash: 0,
            earlier: VecDeque::new(),
            kind: Kind::Typed,
            changed: 0,
        });
        let mut hash = state.hash;
        for hull in hulls {
            hash = hash.wrapping_sub(pairs(old, &hull.old)).wrapping_add(pairs(new, &hull.new));
        }
        let is_known = state.earlier.contains(&hash);
        state.kind = kind(old.text, changes, by, is_known);
        if state.earlier.len() >= MOST_STATES {
            state.earlier.pop_front();
        }
        state.earlier.push_back(state.hash);
        (state.hash, state.changed) = (hash, self.changes);
    }
}

impl Default for Journal {
    fn default() -> Self {
        let edits = |most, soon| Edits { list: VecDeque::new(), most, soon };
        Self {
            edits: edits(MOST_EDITS, Some(SOON)),
            groups: edits(MOST_GROUPS, None),
            documents: HashMap::new(),
            changes: 0,
        }
    }
}

impl Edits {
    /// The edit that a change makes, together with an edit that it belongs to, which is then taken out; none if
    /// nothing is left of both.
    fn grouped(
        &mut self,
        document: &Arc<str>,
        change: &LineChange,
        old: View,
        new: View,
        now: Instant,
    ) -> Option<Edit> {
        let is_open = |(_, edit): &(usize, &Edit)| edit.document == *document && !edit.is_closed;
        let last = self.list.len().saturating_sub(1);
        let open = self.list.iter().enumerate().rev().filter(is_open);
        let joined = open.take(if self.soon.is_some() { 1 } else { self.most }).find_map(|(at, edit)| {
            if edit.is_cut_and_undone_by(change, old, new) {
                return Some((at, None));
            }
            let both = edit.with(change, old, new, now)?;
            let is_undone = both.before == both.after;
            let is_soon = |soon| now.saturating_duration_since(edit.last) <= soon && at == last;
            let belongs = is_undone || self.soon.is_none_or(is_soon);
            belongs.then(|| (at, (!is_undone).then_some(both)))
        });
        if let Some((at, both)) = joined {
            self.list.remove(at);
            return both;
        }
        let alone = Edit::new(document.clone(), change, old, new, now);
        (alone.before != alone.after).then_some(alone)
    }
}

impl<'t> View<'t> {
    /// True if lines contain a part of what looks like a secret.
    fn has_secret(&self, lines: &Range<usize>) -> bool {
        let start = |line| self.lines.range(self.text, line).map_or(self.text.len(), |range| range.start);
        secret::touches(self.text, start(lines.start)..start(lines.end))
    }

    /// The text of lines, with their ends.
    fn slice(&self, lines: &Range<usize>) -> &'t str {
        let start = |line| self.lines.range(self.text, line).map_or(self.text.len(), |range| range.start);
        self.text.get(start(lines.start)..start(lines.end)).unwrap_or_default()
    }
}

impl LineChange {
    /// The same without the lines at its beginning and end that do not change.
    fn trimmed(&self, old: View, new: View) -> Self {
        let most = self.old.len().min(self.new.len());
        let is_same = |a, b| old.slice(&(a..a + 1)) == new.slice(&(b..b + 1));
        let same = (0..most).take_while(|at| is_same(self.old.start + at, self.new.start + at)).count();
        let ends = (1..=most - same).take_while(|at| is_same(self.old.end - at, self.new.end - at));
        let trailing = ends.count();
        Self {
            old: self.old.start + same..self.old.end - trailing,
            new: self.new.start + same..self.new.end - trailing,
            starts: self.starts,
        }
    }
}

impl Edit {
    fn new(document: Arc<str>, change: &LineChange, old: View, new: View, now: Instant) -> Self {
        let (before, after) = (old.slice(&change.old), new.slice(&change.new));
        let lines = change.new.clone();
        if fits(before) && fits(after) {
            let (before, after) = (before.to_owned(), after.to_owned());
            return Self { document, lines, before, after, is_secret: false, cut: None, is_closed: false, last: now };
        }
        let cut = Some([before, after].map(hashed));
        // The change may be far from the beginning of a long line.
        let shown = |view: View, lines: &Range<usize>, all: &str, start: usize| {
            let begin = view.slice(&(0..lines.start)).len();
            let lead = view.text.floor_char_boundary(start.saturating_sub(LEAD)).saturating_sub(begin);
            first_part(all.get(lead..).unwrap_or(all)).to_owned()
        };
        let before = shown(old, &change.old, before, change.starts.0);
        let after = shown(new, &change.new, after, change.starts.1);
        Self { document, lines, before, after, is_secret: false, cut, is_closed: false, last: now }
    }

    /// True if a change undoes an edit whose texts are cut.
    fn is_cut_and_undone_by(&self, change: &LineChange, old: View, new: View) -> bool {
        let place = change.new.start..change.new.start + change.old.len();
        let undone = || [new.slice(&change.new), old.slice(&change.old)].map(hashed);
        self.lines == place && self.cut.is_some_and(|cut| cut == undone())
    }

    /// This edit and a change after it as one; none if they are too far apart, or too long together.
    fn with(&self, change: &LineChange, old: View, new: View, now: Instant) -> Option<Self> {
        // The lines of the change before it, counted as those of this edit: changes above are done already.
        let (from, to) = (change.new.start, change.new.start + change.old.len());
        let (start, end) = (self.lines.start, self.lines.end);
        if self.cut.is_some() || from > end + NEAR || start > to + NEAR {
            return None;
        }
        // The numbering differs from that of the old text by the changes above.
        let old_lines = |lines: Range<usize>| {
            let old_line = |line: usize| (line + change.old.start).saturating_sub(from);
            old.slice(&(old_line(lines.start)..old_line(lines.end)))
        };
        let own = |lines: Range<usize>| lines_of(&self.after, lines.start - start..lines.end - start);
        let (first, last) = (start.min(from), end.max(to));
        let before = [old_lines(first..start), self.before.as_str(), old_lines(end.max(first)..last)];
        let gap_above = if from > end { old_lines(end..from) } else { "" };
        let gap_below = if to < start { old_lines(to..start) } else { "" };
        let after = [
            own(start..from.clamp(start, end)),
            gap_above,
            new.slice(&change.new),
            gap_below,
            own(to.clamp(start, end)..end),
        ];
        let lengths = [before.iter().map(|part| part.len()).sum::<usize>(), after.iter().map(|part| part.len()).sum()];
        if lengths.iter().any(|length| *length > MOST_CHARACTERS * 4) {
            return None;
        }
        let (before, after) = (before.concat(), after.concat());
        let lines = first..last + change.new.len() - change.old.len().min(last + change.new.len());
        let edit = Self {
            document: self.document.clone(),
            lines,
            before,
            after,
            is_secret: self.is_secret,
            cut: None,
            is_closed: false,
            last: now,
        };
        (fits(&edit.before) && fits(&edit.after)).then_some(edit)
    }

    /// Follows a change of lines that is not part of this edit.
    fn move_by(&mut self, place: &Range<usize>, new: usize) {
        if place.end <= self.lines.start {
            let shifted = |line: usize| (line + new).saturating_sub(place.len());
            self.lines = shifted(self.lines.start)..shifted(self.lines.end);
        }
    }

    /// True if a change would undo this edit, or if it is the last one, a part of it.
    fn is_reversed_by(&self, now: View, candidate: &Splice, is_last: bool) -> bool {
        let start = now.lines.range(now.text, self.lines.start).map_or(now.text.len(), |range| range.start);
        let end = start + self.after.len();
        if now.text.get(start..end) != Some(self.after.as_str()) {
            return false;
        }
        let Range { start: from, end: to } = candidate.range;
        if let (Some(from), true) = (from.checked_sub(start), to <= end) {
            let inner = Splice { range: from..to - start, text: candidate.text.clone() };
            if inner.apply(&self.after).is_some_and(|result| result == self.before) {
                return true;
            }
        }
        let Some(own) = splice::between(&self.before, &self.after).filter(|_| is_last) else { return false };
        let inserted = start + own.range.start..start + own.end();
        let (deleted, restored) = (self.before.get(own.range).unwrap_or_default().trim(), candidate.text.trim());
        let taken = now.text.get(candidate.range.clone()).unwrap_or_default().trim();
        if restored.is_empty() {
            let overlaps = from < inserted.end && inserted.start < to;
            return !taken.is_empty() && overlaps && own.text.contains(taken);
        }
        let is_there = now.lines.line_of(from).abs_diff(now.lines.line_of(inserted.start)) <= 1;
        let begins = |whole: &str, part: &str| part.len() >= FEWEST_RESTORED && whole.starts_with(part);
        let is_restored = restored == deleted || begins(deleted, restored) || begins(restored, deleted);
        is_there && !deleted.is_empty() && is_restored && (taken.is_empty() || taken == own.text.trim())
    }
}

/// The changes as lines, in order, with unchanged lines between them. Those that change nothing, or are not in the
/// text, are left out.
fn line_changes(old: View, new: View, changes: &[Splice]) -> Vec<LineChange> {
    let mut all: Vec<LineChange> = Vec::with_capacity(changes.len());
    let (mut added, mut removed) = (0_usize, 0_usize);
    // An editor that formats a text may replace all of it.
    for change in changes.iter().filter_map(|change| change.minimal(old.text)) {
        let Range { start, end } = change.range;
        let at = (start + added).saturating_sub(removed);
        let old_lines = old.lines.line_of(start)..old.lines.line_of(end) + 1;
        let new_lines = new.lines.line_of(at)..new.lines.line_of(at + change.text.len()) + 1;
        (added, removed) = (added + change.text.len(), removed + change.range.len());
        if change.is_empty() {
            continue;
        }
        match all.last_mut() {
            Some(last) if old_lines.start <= last.old.end => {
                last.old.end = last.old.end.max(old_lines.end);
                last.new.end = last.new.end.max(new_lines.end);
            }
            _ => all.push(LineChange { old: old_lines, new: new_lines, starts: (start, at) }),
        }
    }
    all
}

fn kind(old: &str, changes: &[Splice], by: By, is_known: bool) -> Kind {
    match by {
        By::User => {}
        By::Accepted => return Kind::Accepted,
        By::Azimuth => return Kind::Own,
    }
    let minimal = |change: &Splice| change.minimal(old).filter(|change| !change.is_empty());
    let mut changes = changes.iter().filter_map(minimal);
    let Some(change) = changes.next() else { return Kind::Typed };
    let is_several = changes.next().is_some();
    let text = change.text.as_str();
    let deleted = old.get(change.range.clone()).unwrap_or_default();
    let is_key = |text: &str| text.chars().filter(|c| !c.is_whitespace()).nth(KEY).is_none();
    // One key at a time may also lead back to an earlier text.
    let is_by_key =
        !is_several && (deleted.is_empty() && is_key(text) || text.is_empty() && deleted.chars().count() == 1);
    if is_known && !is_by_key {
        Kind::Undone
    } else if is_several {
        Kind::Several
    } else if text.is_empty() {
        Kind::Deleted
    } else if !is_key(text) && (text.ends_with('\n') || text.trim().contains('\n')) {
        Kind::Pasted { lines: text.lines().count() }
    } else {
        Kind::Typed
    }
}

/// The sum of the hashes of each line with the line before it, from the first of some lines to the one after them.
fn pairs(view: View, lines: &Range<usize>) -> u64 {
    let line = |line: usize| view.lines.range(view.text, line).and_then(|range| view.text.get(range)).map(hashed);
    let mut previous = lines.start.checked_sub(1).and_then(line);
    let mut sum = 0_u64;
    for at in lines.start..=lines.end {
        let next = line(at);
        let mut hasher = DefaultHasher::new();
        (previous, next).hash(&mut hasher);
        sum = sum.wrapping_add(hasher.finish());
        previous = next;
    }
    sum
}

fn hashed(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let mut hasher = DefaultHasher::new();
    bytes.len().hash(&mut hasher);
    if bytes.len() <= HASHED {
        bytes.hash(&mut hasher);
    } else {
        (bytes.get(..HASHED / 2), bytes.get(bytes.len() - HASHED / 2..)).hash(&mut hasher);
    }
    hasher.finish()
}

/// The number of lines that both texts begin with, and both without these and without the lines that both end with.
fn without_same_lines<'t>(before: &'t str, after: &'t str) -> (usize, &'t str, &'t str) {
    let same = before.split_inclusive('\n').zip(after.split_inclusive('\n')).take_while(|(a, b)| a == b);
    let (count, length) = same.fold((0, 0), |(count, length), (line, _)| (count + 1, length + line.len()));
    let (before, after) = (before.get(length..).unwrap_or_default(), after.get(length..).unwrap_or_default());
    let ends = before.split_inclusive('\n').rev().zip(after.split_inclusive('\n').rev()).take_while(|(a, b)| a == b);
    let length: usize = ends.map(|(line, _)| line.len()).sum();
    let cut = |text: &'t str| text.get(..text.len() - length).unwrap_or_default();
    (count, cut(before), cut(after))
}

/// The text of some of a text's lines, from 0.
fn lines_of(text: &str, lines: Range<usize>) -> &str {
    let mut starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let start = starts.nth(lines.start).unwrap_or(text.len());
    let end = match lines.len().checked_sub(1) {
        Some(more) => starts.nth(more).unwrap_or(text.len()),
        None => start,
    };
    text.get(start..end).unwrap_or_default()
}

fn fits(text: &str) -> bool {
    first_part(text).len() == text.len()
}

/// As much of a text as is kept of an edit.
fn first_part(text: &str) -> &str {
    let lines = text.match_indices('\n').nth(MOST_LINES - 1).map_or(text.len(), |(at, _)| at + 1);
    let characters = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(at, _)| at);
    text.get(..lines.min(characters)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A journal with the documents that it is told of.
    struct Editor {
        journal: Journal,
        texts: HashMap<&'static str, String>,
        now: Instant,
    }

    impl Editor {
        fn new(text: &str) -> Self {
            let texts = HashMap::from([("a", text.to_owned()), ("b", text.to_owned())]);
            Self { journal: Journal::default(), texts, now: Instant::now() }
        }

        fn change_by(&mut self, document: &'static str, changes: &[Splice], by: By) {
            let old = self.texts.remove(document).unwrap();
            let new = splice::apply_all(&old, changes).unwrap();
            let (old_lines, new_lines) = (LineIndex::new(&old), LineIndex::new(&new));
            let old = View { text: &old, lines: &old_lines };
            self.journal.record(document, old, View { text: &new, lines: &new_lines }, changes, by, self.now);
            self.texts.insert(document, new);
        }

        fn change(&mut self, range: Range<usize>, text: &str) {
            self.change_by("a", &[Splice { range, text: text.to_owned() }], By::User);
        }

        fn insert_after(&mut self, place: &str, text: &str) {
            let at = self.texts["a"].find(place).unwrap() + place.len();
            self.change(at..at, text);
        }

        fn wait(&mut self, milliseconds: u64) {
            self.now += Duration::from_millis(milliseconds);
        }

        fn edited(&self) -> Vec<(usize, String, String)> {
            let edits = self.journal.edited(|document| Some(document.to_owned()));
            edits.into_iter().map(|edit| (edit.line, edit.before, edit.after)).collect()
        }

        fn reverses(&self, range: Range<usize>, text: &str) -> bool {
            let now = &self.texts["a"];
            let view = View { text: now, lines: &LineIndex::new(now) };
            self.journal.reverses("a", view, &Splice { range, text: text.to_owned() })
        }
    }

    fn row(line: usize, before: &str, after: &str) -> (usize, String, String) {
        (line, before.to_owned(), after.to_owned())
    }

    fn numbered(lines: usize) -> String {
        (0..lines).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn an_edit_of_a_secret_is_told_to_nobody_though_its_line_does_not_say_that_it_is_one() {
        let mut editor = Editor::new("- name: DB_PASSWORD\n  value: Tr0ub4dor3xyz\n- name: HOME\n  value: somewhere\n");
        editor.insert_after("Tr0ub4dor3xyz", "9Q");
        assert_eq!(editor.edited(), []);
        let key: String =
            (0..40).map(|line| format!("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC{line:02}\n")).collect();
        let mut keys = Editor::new(&format!("-----BEGIN PRIVATE KEY-----\n{key}-----END PRIVATE KEY-----\n"));
        keys.insert_after("AAoIBAQC30", "x");
        assert_eq!(keys.edited(), []);
        editor.wait(5000);
        editor.insert_after("somewhere", " else");
        assert_eq!(editor.edited().len(), 1, "another line is no secret");
    }

    #[test]
    fn the_lines_that_were_changed_since_a_time_are_told_in_groups_without_what_was_undone() {
        let mut editor = Editor::new(&numbered(60));
        let begun = editor.now;
        let lines = |editor: &mut Editor, since| -> Vec<_> {
            editor.journal.lines_since(since).into_iter().map(|(_, lines)| lines).collect()
        };
        for (place, text) in [("\n20", "a"), ("\n40", "b"), ("\n22", "c"), ("\n50", "d")] {
            editor.insert_after(place, text);
            editor.wait(5000);
        }
        let d = editor.texts["a"].find("50d").unwrap() + 2;
        editor.change(d..d + 1, "");
        editor.change_by("a", &[Splice { range: 0..0, text: "new\n".to_owned() }], By::Azimuth);
        assert_eq!(lines(&mut editor, begun), [41..42, 21..24], "what Azimuth did moves the lines and is none of them");

        editor.wait(5000);
        let told = editor.now;
        assert!(lines(&mut editor, told).is_empty());
        let c = editor.texts["a"].find("22c").unwrap() + 2;
        editor.change(c..c + 1, "");
        assert_eq!(lines(&mut editor, told), std::slice::from_ref(&(23..24)), "to undo what was told is a change");
        let line = editor.texts["a"].find("\n45").unwrap() + 1;
        editor.change(line..line + 3, "");
        assert_eq!(lines(&mut editor, told), [23..24, 46..46]);
    }

    #[test]
    fn keys_within_a_second_are_one_edit() {
        let mut editor = Editor::new("one\ntwo\nthree\n");
        for key in ["X", "Y", "Z"] {
            editor.insert_after(if key == "X" { "tw" } else { "X" }, key);
            editor.wait(200);
        }
        assert_eq!(editor.edited(), [row(1, "two\n", "twXZYo\n")]);
        editor.wait(2000);
        editor.insert_after("tw", "W");
        assert_eq!(editor.edited(), [row(1, "two\n", "twXZYo\n"), row(1, "twXZYo\n", "twWXZYo\n")]);
    }

    #[test]
    fn changes_of_near_lines_are_one_edit_with_the_lines_between_them() {
        let mut editor = Editor::new(&numbered(40));
        editor.insert_after("\n20", "a");
        editor.insert_after("\n17", "b");
        editor.insert_after("\n22", "c");
        let wanted = row(17, "17\n18\n19\n20\n21\n22\n", "17b\n18\n19\n20a\n21\n22c\n");
        assert_eq!(editor.edited(), std::slice::from_ref(&wanted));
        editor.insert_after("\n35", "d");
        editor.insert_after("\n5", "\nnew");
        assert_eq!(editor.edited(), [row(18, &wanted.1, &wanted.2), row(36, "35\n", "35d\n"), row(6, "", "new\n")]);
    }

    #[test]
    fn an_edit_is_over_when_another_document_is_changed() {
        let mut editor = Editor::new("one\n");
        for document in ["a", "b", "a"] {
            editor.change_by(document, &[Splice::insertion(0, "x")], By::User);
        }
        let edits = editor.journal.edited(|document| Some(document.to_owned()));
        assert_eq!(edits.iter().map(|edit| edit.path.as_str()).collect::<Vec<_>>(), ["a", "b", "a"]);
    }

    #[test]
    fn a_line_put_before_an_edit_moves_it() {
        let mut editor = Editor::new("one\ntwo\n");
        editor.insert_after("tw", "x");
        editor.wait(2000);
        editor.insert_after("one\n", "new\n");
        assert_eq!(editor.edited(), [row(2, "two\n", "twxo\n"), row(1, "", "new\n")]);
    }

    #[test]
    fn an_edit_that_is_undone_is_none() {
        let mut editor = Editor::new("one\ntwo\n");
        editor.insert_after("one\n", "new line\n");
        assert_eq!(editor.edited(), [row(1, "", "new line\n")]);
        editor.wait(5000);
        editor.change(4..13, "");
        assert!(editor.edited().is_empty());
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Undone));
        editor.insert_after("two", "x");
        editor.change(7..8, "");
        assert!(editor.edited().is_empty());
    }

    #[test]
    fn edits_of_all_documents_are_kept_in_order_and_only_the_last() {
        let mut editor = Editor::new(&numbered(400));
        for at in 0..30 {
            let document = if at % 2 == 0 { "a" } else { "b" };
            let place = editor.texts[document].find(&format!("\n{}\n", at * 12 + 10)).unwrap() + 1;
            editor.change_by(document, &[Splice::insertion(place, "x")], By::User);
        }
        let edits = editor.journal.edited(|document| Some(document.to_owned()));
        assert_eq!(edits.len(), MOST_EDITS);
        assert_eq!(edits[0].after, "x70\n");
        assert_eq!(edits[24], Edited { path: "b".into(), line: 358, before: "358\n".into(), after: "x358\n".into() });
        assert_eq!(editor.journal.edited(|document| (document == "a").then(String::new)).len(), 12);
    }

    #[test]
    fn a_long_edit_is_shown_in_part_and_from_where_it_is() {
        let mut editor = Editor::new("");
        editor.change(0..0, &numbered(500));
        assert_eq!(editor.edited(), [row(0, "", &numbered(10))]);
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Pasted { lines: 500 }));
        let length = editor.texts["a"].len();
        editor.change(0..length, "");
        assert!(editor.edited().is_empty(), "it is undone");
        let mut editor = Editor::new(&"z".repeat(100_000));
        editor.change(50_000..50_000, "HERE");
        let (_, before, after) = editor.edited().remove(0);
        assert_eq!((before.len(), after.find("HERE")), (MOST_CHARACTERS, Some(LEAD)));
    }

    #[test]
    fn the_nature_of_a_change_is_known() {
        for (range, text, wanted) in [
            (3..3, "x", Kind::Typed),
            (3..3, "\n    ", Kind::Typed),
            (3..3, "{\n    \n}", Kind::Typed),
            (0..3, "completed()", Kind::Typed),
            (0..1, "", Kind::Deleted),
            (0..7, "", Kind::Deleted),
            (0..0, "let a = 1;\nlet b = 2;", Kind::Pasted { lines: 2 }),
            (0..0, "let a = 1;\n", Kind::Pasted { lines: 1 }),
        ] {
            let mut editor = Editor::new("one\ntwo\n");
            editor.change(range, text);
            assert_eq!(editor.journal.last_change("a"), Some(wanted), "{text:?}");
            assert_eq!(editor.journal.last_change("b"), None);
        }
        let mut editor = Editor::new("one\ntwo\n");
        editor.change_by("a", &[Splice::insertion(0, "x"), Splice::insertion(4, "x")], By::User);
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Several));
        editor.change_by("a", &[Splice::insertion(0, "xyz")], By::Azimuth);
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Own));
        editor.change_by("a", &[Splice::insertion(0, "xyz")], By::Accepted);
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Accepted));
    }

    #[test]
    fn undo_and_redo_are_told_from_keys_that_lead_to_an_earlier_text() {
        let mut editor = Editor::new("one\ntwo\n");
        editor.insert_after("one", " word");
        editor.change(3..8, "");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Undone));
        editor.insert_after("one", " word");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Undone), "a redo");
        editor.change(7..8, "");
        editor.insert_after(" wor", "d");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Typed));
        let several = [0, 9].map(|at| Splice::insertion(at, "long "));
        editor.change_by("a", &several, By::User);
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Several));
        editor.change(0..22, "one word\ntwo");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Undone), "with cursors in neighbouring lines");
        // The same lines in another order are another text.
        editor.change(0..12, "two\none word");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Pasted { lines: 2 }));
        editor.change(0..12, "one word\ntwo");
        assert_eq!(editor.journal.last_change("a"), Some(Kind::Undone));
    }

    #[test]
    fn what_would_undo_the_users_edit_is_known() {
        let mut editor = Editor::new("let a = 1;\nlet b = 2;\n");
        editor.insert_after("let a = 1", " + one");
        assert!(editor.reverses(9..15, ""), "all of it");
        assert!(editor.reverses(11..15, ""), "a part of it");
        assert!(editor.reverses(0..17, "let a = 1;\n"), "the whole line");
        assert!(!editor.reverses(12..15, "two"));
        assert!(!editor.reverses(18..19, ""), "a letter like one in it, in another line");
        assert!(!editor.reverses(15..15, " + two"));
        assert!(!editor.reverses(21..22, "c"));
        editor.wait(5000);
        let at = editor.texts["a"].find("let b").unwrap();
        editor.change(at..at + 11, "");
        assert!(editor.reverses(at..at, "let b = 2;\n"));
        assert!(editor.reverses(at - 1..at - 1, "\nlet b = 2;"));
        assert!(editor.reverses(at..at, "let b"));
        assert!(!editor.reverses(at..at, "call();\n"));
        assert!(editor.reverses(9..15, ""), "an earlier edit as a whole");
        assert!(!editor.reverses(11..15, ""));
    }

    #[test]
    fn changes_by_azimuth_are_no_edits_and_move_those_of_the_user() {
        let mut editor = Editor::new("one\ntwo\n");
        editor.insert_after("two", "x");
        editor.change_by("a", &[Splice::insertion(0, "use a;\n\n")], By::Azimuth);
        assert_eq!(editor.edited(), [row(3, "two\n", "twox\n")]);
    }

    #[test]
    fn closed_documents_and_too_many_leave_no_state() {
        let mut journal = Journal::default();
        let (old, new) = ("a\n", "b\n");
        let lines = LineIndex::new(old);
        let change = [Splice { range: 0..1, text: "b".to_owned() }];
        for document in 0..200 {
            let [old, new] = [old, new].map(|text| View { text, lines: &lines });
            journal.record(&document.to_string(), old, new, &change, By::User, Instant::now());
        }
        assert_eq!(journal.documents.len(), MOST_DOCUMENTS);
        assert_eq!(journal.last_change("199"), Some(Kind::Typed));
        journal.close("199");
        assert_eq!(journal.last_change("199"), None);
    }

    #[test]
    fn a_key_in_a_large_document_costs_little() {
        let old = "    let value = compute(input);\n".repeat(10_000);
        let at = old.len() / 2;
        let change = [Splice::insertion(at, "x")];
        let new = change[0].apply(&old).unwrap();
        let (old_lines, new_lines) = (LineIndex::new(&old), LineIndex::new(&new));
        let (old, new) = (View { text: &old, lines: &old_lines }, View { text: &new, lines: &new_lines });
        let back = [Splice { range: at..at + 1, text: String::new() }];
        let mut journal = Journal::default();
        let began = Instant::now();
        for _ in 0..500 {
            journal.record("a", old, new, &change, By::User, began);
            journal.record("a", new, old, &back, By::User, began);
        }
        let took = began.elapsed() / 1000;
        println!("a key in a document of 10,000 lines: {took:?}");
        assert!(took.as_micros() < 1000, "{took:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn edits_lead_from_each_text_to_the_next(
            text in "([ab\u{e9}]{0,2}\n){0,12}[ab]{0,2}",
            batches in prop::collection::vec(
                (prop::collection::vec((0..8_usize, 0..5_usize, "[ab\n\u{e9}]{0,4}"), 1..4), 0..2_u8), 1..12,
            ),
        ) {
            let mut editor = Editor::new(&text);
            for (parts, gap) in batches {
                let now = editor.texts["a"].clone();
                let mut at = 0;
                let mut changes = Vec::new();
                for (skipped, length, new) in parts {
                    let start = now.floor_char_boundary(at + skipped).max(at);
                    let end = now.floor_char_boundary(start + length).max(start);
                    changes.push(Splice { range: start..end, text: new });
                    at = end;
                }
                editor.change_by("a", &changes, By::User);
                let now = &editor.texts["a"];
                let lines = LineIndex::new(now);
                let view = View { text: now, lines: &lines };
                let last = editor.journal.edits.list.back();
                if let Some(last) = last.filter(|edit| edit.cut.is_none() && edit.last == editor.now) {
                    prop_assert_eq!(view.slice(&last.lines), last.after.as_str(), "{:?}", changes);
                    prop_assert_ne!(&last.before, &last.after);
                }
                for edit in editor.edited() {
                    prop_assert!(edit.1.len() <= MOST_CHARACTERS * 4 && edit.2.lines().count() <= MOST_LINES);
                }
                editor.wait(u64::from(gap) * 2000);
            }
        }

        #[test]
        fn one_group_of_changes_is_the_difference_of_the_texts(
            text in "([ab]{0,2}\n){0,6}[ab]{0,2}",
            changes in prop::collection::vec((0..20_usize, 0..5_usize, "[ab\n]{0,3}"), 1..8),
        ) {
            let mut editor = Editor::new(&text);
            for (at, length, new) in changes {
                let now = &editor.texts["a"];
                let start = at.min(now.len());
                let end = (start + length).min(now.len());
                editor.change(start..end, &new);
            }
            let now = &editor.texts["a"];
            let edits: Vec<_> = editor.journal.edits.list.iter().collect();
            if let ([edit], false) = (&edits[..], edits.iter().any(|edit| edit.cut.is_some())) {
                let start = LineIndex::new(now).range(now, edit.lines.start).map_or(now.len(), |range| range.start);
                let undone = Splice { range: start..start + edit.after.len(), text: edit.before.clone() };
                prop_assert_eq!(undone.apply(now), Some(text.clone()));
                prop_assert!(editor.reverses(undone.range, &undone.text));
            }
            if edits.is_empty() {
                prop_assert_eq!(now, &text);
            }
        }

        #[test]
        fn any_changes_and_views_are_no_panic(
            old in any::<String>(), new in any::<String>(), text in any::<String>(),
            from in 0..40_usize, to in 0..40_usize,
        ) {
            let mut journal = Journal::default();
            let (old_lines, new_lines) = (LineIndex::new(&old), LineIndex::new(&new));
            let (old, new) = (View { text: &old, lines: &old_lines }, View { text: &new, lines: &new_lines });
            let change = Splice { range: from..to, text };
            for _ in 0..3 {
                journal.record("a", old, new, std::slice::from_ref(&change), By::User, Instant::now());
                let _ = journal.reverses("a", old, &change);
            }
            let _ = journal.edited(|_| Some(String::new()));
        }
    }
}
