//! The hunks of one file into its text.

use std::cell::OnceCell;
use std::ops::Range;

use similar::DiffOp;

use super::super::Edited;
use super::super::fold::Pass;
use super::super::indent::{Unit, indent};
use super::super::locate::preview;
use super::super::merge::{self, Uncertain};
use super::error::{ApplyError, HunkError, Reason};
use super::find::{File, How};
use super::parse::is_marker;
use super::place::{self, Block};
use super::{Hunk, Line, Mark};

/// Puts hunks into a text with LF line ends. All of them have a certain place, or nothing is changed.
///
/// The place of a hunk is where its lines are: those that stay and those that go, as the file has them, in the scope of
/// its anchors. Where there are several such places, the order of the hunks tells. Else, where the patch was written
/// for this very text (`seen`), numbers tell that are off by the same as those of the certain hunks above and below; in
/// another text lines may have come and gone between them. See [`place::resolve`]. Hunks may come in another order if
/// each is in one place only. Lines that stay keep the file's text. Whether the text ends in a line break stays as it
/// is, unless a hunk that reaches the end says otherwise as git does.
///
/// # Errors
/// See [`ApplyError`].
pub fn apply(text: &str, hunks: &[Hunk], seen: bool) -> Result<Edited, ApplyError> {
    let mut file = File::new(text, hunks);
    let (mut found, mut blocks, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for hunk in hunks.iter().filter(|hunk| hunk.is_change()) {
        match file.find(hunk) {
            Ok((block, how)) => {
                found.push((hunk, how));
                blocks.push(block);
            }
            Err(reason) => failed.push(HunkError { line: hunk.line, reason, like_marker: like_marker(hunk) }),
        }
        if file.left == 0 {
            return Err(ApplyError::TooMuch);
        }
    }
    let pass = found.iter().map(|(_, how)| how.pass()).max().unwrap_or(Pass::Exact);
    let places = place::resolve(&blocks, seen);
    let shifted = found.iter().zip(&places).any(|((hunk, how), start)| {
        let lines = start.map(|start| file.lines_of(hunk, start)).unwrap_or_default();
        matches!(how, How::By(_)) && hunk.before().zip(lines).any(|(old, line)| !is_as_indented(old, line))
    });
    let indented = Indented { unit: OnceCell::new(), shifted };
    let mut edits = Vec::new();
    for (((hunk, how), block), start) in found.into_iter().zip(&blocks).zip(places) {
        let edit = match start {
            Some(start) => Edit::new(&file, hunk, how, start, &indented),
            None => Err(file.ambiguous(&block.starts)),
        };
        match edit {
            Ok(edit) => edits.push(edit),
            Err(reason) => failed.push(HunkError { line: hunk.line, reason, like_marker: None }),
        }
    }
    edits.sort_by_key(|edit| edit.block.start);
    let order = edits.iter().map(Edit::as_block).enumerate();
    if let Some((first, second)) = place::overlap(order)
        && let (Some(first), Some(second)) = (edits.get(first), edits.get(second))
    {
        let reason = Reason::Overlaps { with: first.hunk.line, line: second.block.start + 1 };
        failed.push(HunkError { line: second.hunk.line, reason, like_marker: None });
    }
    if !failed.is_empty() {
        failed.sort_by_key(|hunk| hunk.line);
        return Err(ApplyError::Hunks(failed));
    }
    let edited = with(&file, &edits);
    if edited == text { Err(ApplyError::NothingChanges) } else { Ok(Edited { text: edited, pass }) }
}

/// The line of a hunk that stays and reads like a marker, if it has one.
fn like_marker(hunk: &Hunk) -> Option<String> {
    let mut stay = hunk.lines.iter().filter(|line| line.mark == Mark::Keep).map(|line| line.text.trim_start());
    stay.find(|text| text.strip_prefix("***").is_some_and(is_marker)).map(preview)
}

/// A hunk with its place.
struct Edit<'h> {
    hunk: &'h Hunk,
    /// The lines of the file that it wants to find.
    block: Range<usize>,
    /// How many of those stay at its begin and at its end.
    stay: (usize, usize),
    /// The lines that replace the others.
    new: Vec<String>,
}

impl<'h> Edit<'h> {
    /// Applies a hunk to the lines at its place.
    fn new(file: &File<'_>, hunk: &'h Hunk, how: How, start: usize, indented: &Indented) -> Result<Self, Reason> {
        let old: Vec<&Line> = hunk.before().collect();
        let lines = file.lines_of(hunk, start);
        let block = start..start + old.len();
        if let Some(line) = indented.uncertain(hunk, how, lines) {
            let reason = Uncertain::Indentation { line: preview(&line.text) };
            return Err(Reason::Uncertain { line: start + 1, reason });
        }
        let new = match how {
            How::By(_) => {
                let texts = |lines: &mut dyn Iterator<Item = &'h Line>| -> Vec<&'h str> {
                    lines.map(|line| line.text.as_str()).collect()
                };
                let (old, new) = (texts(&mut hunk.before()), texts(&mut hunk.after()));
                merge::merge_ops(&ops(hunk), lines, &old, &new, indented.unit(file))
                    .map_err(|reason| Reason::Uncertain { line: start + 1, reason })?
            }
            How::Spaceless if !is_mark_missing(hunk, &old, lines, indented.unit(file)) => {
                return Err(Reason::LeadingSpace { line: start + 1 });
            }
            How::Exact | How::Spaceless => {
                let mut own = lines.iter();
                let mut new = Vec::new();
                for line in &hunk.lines {
                    match line.mark {
                        Mark::Add => new.push(line.text.clone()),
                        Mark::Remove => drop(own.next()),
                        Mark::Keep | Mark::Bare => new.extend(own.next().map(|line| (*line).to_owned())),
                    }
                }
                new
            }
        };
        // Lines that stay at the ends are left to the file, where another hunk may have them too.
        let stay = (hunk.leading(), hunk.trailing());
        let middle = stay.0..new.len().saturating_sub(stay.1);
        let keeps = |new: &[String], own: Option<&[&str]>| own.is_some_and(|own| new.iter().eq(own));
        let (head, tail) = (new.get(..middle.start), new.get(middle.end..));
        let is_kept = head.is_some_and(|head| keeps(head, lines.get(..stay.0)))
            && tail.is_some_and(|tail| keeps(tail, lines.get(lines.len().saturating_sub(stay.1)..)));
        match new.get(middle).filter(|_| is_kept) {
            Some(inner) => Ok(Self { hunk, block, stay, new: inner.to_vec() }),
            None => Ok(Self { hunk, block, stay: (0, 0), new }),
        }
    }

    fn as_block(&self) -> Block {
        let (leading, trailing) = self.stay;
        Block { starts: vec![self.block.start], len: self.block.len(), leading, trailing, hint: None }
    }
}

/// The indentation of the file, and of the patch.
struct Indented {
    unit: OnceCell<Option<Unit>>,
    /// True if some hunk of the patch has another indentation than the file.
    shifted: bool,
}

impl Indented {
    fn unit(&self, file: &File<'_>) -> Option<Unit> {
        *self.unit.get_or_init(|| Unit::of(file.text))
    }

    /// The new line of which cannot be told how the file would indent it, for what only a patch can do: it may be wrong
    /// in some of its hunks or lines alone. The rest is for the merge to tell.
    fn uncertain<'h>(&self, hunk: &'h Hunk, how: How, lines: &[&str]) -> Option<&'h Line> {
        let full = |line: &&Line| !line.text.trim().is_empty();
        let added = || hunk.lines.iter().filter(|line| line.mark == Mark::Add).filter(full);
        let mut old = hunk.before().filter(full);
        match how {
            // Another hunk is indented otherwise than the file, so this one may be too where it says nothing of it.
            How::Exact | How::Spaceless if self.shifted => {
                let known: Vec<&str> = old.map(|line| indent(&line.text)).collect();
                added().find(|line| !indent(&line.text).is_empty() && !known.contains(&indent(&line.text)))
            }
            How::Exact | How::Spaceless => None,
            // Lines that stay without any indentation may have lost it alone, if what comes fits in as it is.
            How::By(_) => {
                let bare = old.all(|line| line.mark != Mark::Remove && indent(&line.text).is_empty());
                let least = added().min_by_key(|line| indent(&line.text).len())?;
                let fits = || lines.iter().any(|line| indent(line) == indent(&least.text) && !line.trim().is_empty());
                (bare && !indent(&least.text).is_empty() && fits()).then_some(least)
            }
        }
    }
}

/// True if a line of a hunk has the indentation that the file has, if that can be told.
fn is_as_indented(old: &Line, line: &str) -> bool {
    old.text.trim().is_empty() || indent(&old.text) == indent(line)
}

/// True if lines that stay were found with a space more because their mark is missing. Where some line has its mark,
/// the others have lost theirs. Where none has, the file may as well be indented by a space more, and the new lines
/// with it, unless that is not how it indents.
fn is_mark_missing(hunk: &Hunk, old: &[&Line], lines: &[&str], unit: Option<Unit>) -> bool {
    let marked = old.iter().zip(lines).any(|(old, line)| old.text == *line && !line.trim().is_empty());
    let fits = |line: &Line| match unit {
        Some(Unit::Spaces(step)) if step > 1 => indent(&line.text).len().is_multiple_of(step),
        _ => false,
    };
    marked || hunk.lines.iter().filter(|it| it.mark == Mark::Add && !it.text.trim().is_empty()).all(fits)
}

/// The text with all edits, which are sorted and apart.
fn with(file: &File<'_>, edits: &[Edit<'_>]) -> String {
    let mut out: Vec<&str> = Vec::with_capacity(file.lines.len());
    let mut copied = 0;
    let mut newline = file.text.is_empty() || file.text.ends_with('\n');
    for edit in edits {
        out.extend(file.lines.get(copied..edit.block.start + edit.stay.0).unwrap_or_default());
        out.extend(edit.new.iter().map(String::as_str));
        copied = edit.block.end - edit.stay.1;
        if edit.block.end == file.lines.len() {
            newline = edit.hunk.final_newline.unwrap_or(newline);
        }
    }
    out.extend(file.lines.get(copied..).unwrap_or_default());
    let mut text = out.join("\n");
    if newline && !out.is_empty() {
        text.push('\n');
    } else if !newline {
        text.truncate(text.trim_end_matches('\n').len());
    }
    text
}

/// Returns the operations of a hunk on its old lines.
fn ops(hunk: &Hunk) -> Vec<DiffOp> {
    let (mut ops, mut old_index, mut new_index) = (Vec::new(), 0, 0);
    for run in hunk.lines.chunk_by(|a, b| a.is_change() == b.is_change()) {
        let added = run.iter().filter(|line| line.mark == Mark::Add).count();
        let (old_len, new_len) = (run.len() - added, added);
        if run.first().is_some_and(Line::is_change) {
            ops.push(match (old_len, new_len) {
                (0, _) => DiffOp::Insert { old_index, new_index, new_len },
                (_, 0) => DiffOp::Delete { old_index, old_len, new_index },
                _ => DiffOp::Replace { old_index, old_len, new_index, new_len },
            });
            new_index += new_len;
        } else {
            ops.push(DiffOp::Equal { old_index, new_index, len: old_len });
            new_index += old_len;
        }
        old_index += old_len;
    }
    ops
}
