//! A suggested edit: the window that a model rewrites, the hunks that its answer comes to, the rules for these, and the
//! edit in step with the text until it is accepted.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use code::syntax::{Language, Parsed};
use memchr::memchr_iter;
use ports::complete::Window;
use protocol::inline::Rule;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::context::around;
use crate::rebase::{self, Hunk, rebase};
use crate::secret;
use crate::splice::{Splice, between, between_at};

/// The largest window, in bytes. A model writes all of it anew.
const MOST_WINDOW: usize = 8 << 10;
/// The largest text whose syntax is held against it with the edit, in bytes. Parsing it takes some milliseconds.
const PARSED: usize = 256 << 10;
/// The most lines that an edit may put in or take out.
const MOST_LINES: usize = 60;
/// So many lines missing at the end of an answer say that the model stopped early.
const MISSING: usize = 2;

/// The parts of a text that a model reads and rewrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The bytes that it reads, in whole lines.
    pub excerpt: Range<usize>,
    /// The bytes that it rewrites: whole lines in the excerpt, with the cursor in them.
    pub window: Range<usize>,
    /// The line of the text, from 0, with which the excerpt begins.
    pub line: usize,
}

/// The parts for a cursor, with a window of so many lines, and an excerpt of about so many bytes. None if the cursor's
/// line is too long.
pub fn frame(text: &str, cursor: usize, lines: Window, bytes: usize) -> Option<Frame> {
    let cursor = text.floor_char_boundary(cursor);
    let mut lines = lines;
    let most = MOST_WINDOW.min(bytes);
    let window = loop {
        let window = line_start(text, cursor, lines.before)..line_end(text, cursor, lines.after);
        if window.len() <= most {
            break window;
        }
        if lines.before == 0 && lines.after == 0 {
            return None;
        }
        lines = Window { before: lines.before / 2, after: lines.after / 2 };
    };
    let read = around(text, cursor, bytes);
    let start = if is_line_start(text, read.start) { read.start.min(window.start) } else { window.start };
    let end = if is_line_start(text, read.end) { read.end.max(window.end) } else { window.end };
    let line = memchr_iter(b'\n', text.as_bytes().get(..start).unwrap_or_default()).count();
    Some(Frame { excerpt: start..end, window, line })
}

/// The hunks of a model's answer, which is the new text of a window.
///
/// # Errors
/// The rule by which it is not fit to be shown.
pub fn hunks(path: &Path, text: &str, window: Range<usize>, answer: &str) -> Result<Vec<Hunk>, Rule> {
    let old = text.get(window.clone()).ok_or(Rule::Stale)?;
    let hunks = differences(old, answer, window.start);
    if hunks.is_empty() {
        return Err(Rule::NoChange);
    }
    if answer.trim().is_empty() && !old.trim().is_empty() {
        return Err(Rule::Empty);
    }
    if hunks.iter().all(|hunk| is_blank(text, hunk)) {
        return Err(Rule::BlankSpace);
    }
    let count = |hunk: &Hunk| hunk.text.lines().count().max(old_lines(text, hunk));
    if hunks.iter().map(count).sum::<usize>() > MOST_LINES {
        return Err(Rule::TooLong);
    }
    if stops_early(text, &hunks, window.end) {
        return Err(Rule::CutOff);
    }
    if hunks.iter().any(|hunk| has_new_secret(text, hunk)) {
        return Err(Rule::SecretAnswer);
    }
    if breaks_syntax(path, text, &hunks) {
        return Err(Rule::Syntax);
    }
    Ok(hunks)
}

/// The replacement at the cursor that a single hunk comes to, if it can be shown as ghost text: nothing before the
/// cursor changes, nothing beyond its line is replaced, and what is replaced on it is still there in the new text, in
/// order.
pub fn ghost(text: &str, cursor: usize, hunks: &[Hunk]) -> Option<Splice> {
    let [hunk] = hunks else { return None };
    let new = rebase::accept(std::slice::from_ref(hunk), text)?;
    let splice = between(text, &new)?;
    let splice = match splice.range.is_empty() {
        true => between_at(text, &new, cursor + splice.text.len())
            .filter(|it| it.range.start == cursor)
            .or_else(|| insertion_below(text, &splice, cursor))
            .unwrap_or(splice),
        false => splice,
    };
    let end = cursor + text.get(cursor..)?.lines().next().map_or(0, str::len);
    if splice.range.start < cursor || splice.range.start > end || splice.range.end > end {
        return None;
    }
    let kept = text.get(cursor..splice.range.start)?;
    let replaced = text.get(cursor..splice.range.end)?;
    let new_text = format!("{kept}{}", splice.text);
    let is_kept = is_subsequence(replaced, &new_text);
    (is_kept && !new_text.is_empty()).then_some(Splice { range: cursor..splice.range.end, text: new_text })
}

/// An edit that waits for the user's decision, in step with its text.
#[derive(Clone, Debug)]
pub struct Pending {
    text: Arc<str>,
    hunks: Vec<Hunk>,
}

/// The outcome of accepting hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The text with them.
    pub text: String,
    /// The hunks that are left, in that text.
    pub rest: Vec<Hunk>,
    /// The parts of that text that are new, in order.
    pub new: Vec<Range<usize>>,
    /// The end of the last accepted one, in that text.
    pub cursor: usize,
}

impl Pending {
    /// An edit of a text; its hunks are in order.
    pub fn new(text: Arc<str>, hunks: Vec<Hunk>) -> Self {
        Self { text, hunks }
    }

    /// The text that it is for.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Its hunks, never none.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// Follows the text to what it is now. True if the change was in none of the hunks.
    ///
    /// # Errors
    /// The rule that takes the edit off the screen: the change is another one of the same text, or has done all of it.
    pub fn changed(&mut self, now: &Arc<str>) -> Result<bool, Rule> {
        let Some(change) = between(&self.text, now) else {
            self.text = Arc::clone(now);
            return Ok(true);
        };
        let hunks = rebase(&self.hunks, &self.text, &change).ok_or(Rule::Mismatch)?;
        if hunks.is_empty() {
            return Err(Rule::NoChange);
        }
        let is_elsewhere = hunks.len() == self.hunks.len()
            && hunks
                .iter()
                .zip(&self.hunks)
                .all(|(new, old)| new.text == old.text && new.range.len() == old.range.len());
        self.text = Arc::clone(now);
        self.hunks = hunks;
        Ok(is_elsewhere)
    }

    /// Accepts some hunks, by their indices in [`Pending::hunks`]. None if there is none of them.
    pub fn accept(&self, indices: &[usize]) -> Option<Accepted> {
        let is_accepted = |index: &usize| indices.contains(index);
        let text = String::with_capacity(self.text.len());
        let mut accepted = Accepted { text, rest: Vec::new(), new: Vec::new(), cursor: 0 };
        let (mut done, mut count) = (0, 0);
        for (index, hunk) in self.hunks.iter().enumerate() {
            accepted.text.push_str(self.text.get(done..hunk.range.start)?);
            let start = accepted.text.len();
            if is_accepted(&index) {
                accepted.text.push_str(&hunk.text);
                accepted.new.push(start..accepted.text.len());
                accepted.cursor = start + hunk.text.trim_end_matches('\n').len();
                count += 1;
            } else {
                accepted.text.push_str(self.text.get(hunk.range.clone())?);
                accepted.rest.push(Hunk::new(start..accepted.text.len(), hunk.text.as_str()));
            }
            done = hunk.range.end;
        }
        accepted.text.push_str(self.text.get(done..)?);
        (count > 0).then_some(accepted)
    }

    /// Takes a hunk out, which the user rejected. None if there is no such hunk.
    pub fn reject(&mut self, index: usize) -> Option<Hunk> {
        (index < self.hunks.len()).then(|| self.hunks.remove(index))
    }

    /// True if a text is this one with all of the edit, or with one hunk of it: the client has put it there.
    pub fn is_accepted_by(&self, now: &str) -> bool {
        let all: Vec<_> = (0..self.hunks.len()).collect();
        let gives = |indices: &[usize]| self.accept(indices).is_some_and(|accepted| accepted.text == now);
        // One that has the length of none of them is compared with none.
        let lengths = |hunk: &Hunk| self.text.len() + hunk.text.len() - hunk.range.len();
        let is_one = |(index, hunk): (usize, &Hunk)| lengths(hunk) == now.len() && gives(&[index]);
        self.hunks.iter().enumerate().any(is_one) || gives(&all)
    }
}

/// The index of the hunk that is nearest to a cursor.
pub fn nearest(hunks: &[Hunk], cursor: usize) -> usize {
    let distance = |hunk: &Hunk| match &hunk.range {
        range if cursor < range.start => range.start - cursor,
        range => cursor.saturating_sub(range.end),
    };
    hunks.iter().enumerate().min_by_key(|(_, hunk)| distance(hunk)).map_or(0, |(index, _)| index)
}

/// The hunks between two texts, the old one of which begins at an offset. A hunk is made of whole lines, but for one of
/// a single line, which is as small as can be.
fn differences(old: &str, new: &str, offset: usize) -> Vec<Hunk> {
    let [old_lines, new_lines] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let ends = |lines: &[&str]| {
        let mut ends = vec![0];
        ends.extend(lines.iter().scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        }));
        ends
    };
    let (old_ends, new_ends) = (ends(&old_lines), ends(&new_lines));
    let bytes = |ends: &[usize], lines: Range<usize>| {
        let at = |line: usize| ends.get(line).copied().unwrap_or_default();
        at(lines.start)..at(lines.end)
    };
    let ops = capture_diff_slices(Algorithm::Patience, &old_lines, &new_lines);
    let changes = ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in changes {
        let (of_old, of_new) = (bytes(&old_ends, op.old_range()), bytes(&new_ends, op.new_range()));
        let (replaced, text) = (old.get(of_old.clone()).unwrap_or_default(), new.get(of_new).unwrap_or_default());
        let range = offset + of_old.start..offset + of_old.end;
        match hunks.last_mut() {
            Some(last) if last.range.end == range.start => {
                *last = Hunk::new(last.range.start..range.end, format!("{}{text}", last.text));
            }
            _ => hunks.push(Hunk::new(range, text)),
        }
        let is_line = op.old_range().len() == 1 && op.new_range().len() == 1;
        if let (true, Some(inner), Some(last)) = (is_line, between(replaced, text), hunks.last_mut()) {
            let start = offset + of_old.start;
            *last = Hunk::new(start + inner.range.start..start + inner.range.end, inner.text);
        }
    }
    hunks
}

/// An insertion of whole lines below the cursor's, at the end of the cursor's line, where it gives the same text.
fn insertion_below(text: &str, splice: &Splice, cursor: usize) -> Option<Splice> {
    let is_below = ends_line(text, cursor) && splice.range.start == cursor + 1 && splice.text.ends_with('\n');
    is_below.then(|| Splice::insertion(cursor, format!("\n{}", splice.text.strip_suffix('\n').unwrap_or_default())))
}

/// True if an answer lacks the last lines of its window, and says nothing in their place.
fn stops_early(text: &str, hunks: &[Hunk], end: usize) -> bool {
    let is_text_end = text.get(end..).is_none_or(|rest| rest.trim().is_empty());
    let last = hunks.last().filter(|last| last.range.end == end && !is_text_end);
    last.is_some_and(|last| old_lines(text, last) >= last.text.lines().count() + MISSING)
}

fn has_new_secret(text: &str, hunk: &Hunk) -> bool {
    let line = text.get(line_start(text, hunk.range.start, 0)..hunk.range.start).unwrap_or_default();
    secret::is_in(line, &hunk.text)
}

/// True if the text has more errors with the edit than without it.
fn breaks_syntax(path: &Path, text: &str, hunks: &[Hunk]) -> bool {
    if text.len() > PARSED {
        return false;
    }
    let (Some(language), Some(new)) = (Language::of_text(path, text), rebase::accept(hunks, text)) else {
        return false;
    };
    let errors = |text: &str| Parsed::new(language, text).ok().map(|parsed| parsed.errors().len());
    match errors(&new) {
        None | Some(0) => false,
        Some(with) => errors(text).is_some_and(|without| with > without),
    }
}

/// True if a hunk changes nothing but blank lines and the space at the end of lines.
fn is_blank(text: &str, hunk: &Hunk) -> bool {
    let old = text.get(hunk.range.clone()).unwrap_or_default();
    let is_whole = |text: &str| text.is_empty() || text.ends_with('\n');
    if !is_whole(old) || !is_whole(&hunk.text) {
        let rest = text.get(hunk.range.end..line_end(text, hunk.range.end, 0)).unwrap_or_default();
        return [old, &hunk.text, rest].iter().all(|part| part.trim().is_empty());
    }
    let [old, new] = [old, &hunk.text].map(|text| text.lines().map(str::trim_end).filter(|line| !line.is_empty()));
    old.eq(new)
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|wanted| rest.any(|found| found == wanted))
}

fn old_lines(text: &str, hunk: &Hunk) -> usize {
    text.get(hunk.range.clone()).unwrap_or_default().lines().count()
}

fn is_line_start(text: &str, offset: usize) -> bool {
    offset == 0 || offset >= text.len() || text.as_bytes().get(offset - 1) == Some(&b'\n')
}

fn ends_line(text: &str, offset: usize) -> bool {
    text.as_bytes().get(offset) == Some(&b'\n')
}

/// The beginning of the line so many lines above an offset's.
fn line_start(text: &str, offset: usize, above: usize) -> usize {
    let before = text.get(..offset).unwrap_or_default();
    before.rmatch_indices('\n').nth(above).map_or(0, |(at, _)| at + 1)
}

/// The end of the line so many lines below an offset's, its line end included.
fn line_end(text: &str, offset: usize, below: usize) -> usize {
    let after = text.get(offset..).unwrap_or_default();
    after.match_indices('\n').nth(below).map_or(text.len(), |(at, _)| offset + at + 1)
}

#[cfg(test)]
mod tests;
