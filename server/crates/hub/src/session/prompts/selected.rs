//! The selections of an instruction, as the model reads them: the selected lines and those around, of the text with its
//! pending edits in it.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use permission::denied_reading;
use project::review::{LineEdit, to_line_edits};
use project::text::LineIndex;
use protocol::ErrorCode;

use super::excerpt::{cut, section};
use super::preparation::Preparation;
use crate::Error;
use crate::instruction::Instruction;

/// The lines before and after a selection that the model reads with it.
const AROUND: usize = 30;
/// The lines between two selections are cut at this many bytes.
const AROUND_BYTES: usize = 8 * 1024;
/// A selection is cut at this many bytes, and so is a document that is meant as a whole.
const SELECTED_BYTES: usize = 32 * 1024;

/// Returns what the model reads of the document of an instruction.
///
/// # Errors
/// The document may not be read or changed.
pub(super) async fn tell(preparation: &Preparation, instruction: Box<Instruction>) -> Result<String, Error> {
    let Preparation { roots, reader, rules, seen, .. } = preparation;
    let (roots, reader, rules) = (Arc::clone(roots), Arc::clone(reader), Arc::clone(rules));
    let seen = seen.clone();
    let told = tokio::task::spawn_blocking(move || {
        let document = &instruction.document;
        let path = roots.check(&document.path).map_err(|error| error.to_string())?;
        let name = roots.display(&path);
        let folders: Vec<_> = roots.iter().map(|root| root.path.clone()).collect();
        if let Some(rule) = denied_reading(&rules, &folders, &[&document.path, &path]) {
            return Err(format!("reading {name} is not allowed: {rule}"));
        }
        if let Some(reason) = roots.protected(&path) {
            return Err(format!("{name} must not be changed: {reason}"));
        }
        let mut context: String = tools::compare_with_disk(&reader, &roots, &seen, &path, true).into_iter().collect();
        let now = reader.read(&path).map_err(|error| error.to_string())?;
        let base = document.normal();
        let selections: Vec<_> = instruction.selections.iter().map(|selected| selected.bytes.clone()).collect();
        context.push_str(&in_words(&name, base, &selections, &now.text));
        Ok(context)
    });
    let told = told.await.unwrap_or_else(|error| Err(error.to_string()));
    told.map_err(|why| Error::new(ErrorCode::OperationFailed, why))
}

/// Tells of selections, from top to bottom, each in bytes of `base`, in the text that the model reads, `now`.
fn in_words(name: &str, base: &str, selections: &[Range<usize>], now: &str) -> String {
    let lines: Vec<_> = now.split_inclusive('\n').collect();
    if selections.is_empty() {
        return whole(name, now, lines.len());
    }
    let (index, edits) = (LineIndex::new(base), to_line_edits(base, now));
    let mut parts: Vec<Part> = Vec::new();
    for bytes in selections {
        let (of_base, is_same) = (lines_of(&index, base, bytes), same_lines(&edits));
        let mapped = moved(&edits, of_base.clone());
        let of_now = mapped.start.min(lines.len())..mapped.end.min(lines.len());
        let exactly = is_same(&of_base).then(|| Exactly::of(&index, base, bytes)).flatten();
        match parts.last_mut().filter(|last| of_now.start < last.lines.end) {
            Some(last) => {
                last.lines.end = last.lines.end.max(of_now.end);
                last.exactly.extend(exactly);
            }
            None => parts.push(Part { lines: of_now, exactly: exactly.into_iter().collect() }),
        }
    }
    let mut context = String::new();
    let mut told = 0;
    for (at, part) in parts.iter().enumerate() {
        let next = parts.get(at + 1).map_or(lines.len(), |next| next.lines.start);
        around(&mut context, name, &lines, part.lines.start.saturating_sub(AROUND).max(told)..part.lines.start);
        part.tell(&mut context, name, &lines);
        // The lines between two selections are told once, with the first of them.
        told = next.min(part.lines.end + AROUND);
        around(&mut context, name, &lines, part.lines.end..told);
    }
    context
}

/// Selected lines, with what exactly is selected where that is not all of them.
struct Part {
    lines: Range<usize>,
    exactly: Vec<Exactly>,
}

/// A selection that is not made of whole lines.
enum Exactly {
    /// A cursor in a line, with the text before it in that line.
    Cursor {
        line: usize,
        before: String,
    },
    Text(String),
}

impl Exactly {
    /// None for whole lines.
    fn of(index: &LineIndex, base: &str, bytes: &Range<usize>) -> Option<Self> {
        let text = base.get(bytes.clone())?;
        let line = index.line_of(bytes.start);
        let begin = index.range(base, line).map_or(bytes.start, |range| range.start);
        let before = base.get(begin..bytes.start)?;
        if text.is_empty() {
            return Some(Self::Cursor { line, before: before.to_owned() });
        }
        let after = base.get(bytes.end..)?.split('\n').next().unwrap_or_default();
        let ends_whole = text.ends_with('\n') || after.trim().is_empty();
        (!before.trim().is_empty() || !ends_whole).then(|| Self::Text(text.to_owned()))
    }
}

impl Part {
    fn tell(&self, context: &mut String, name: &str, lines: &[&str]) {
        let is_cursor = matches!(self.exactly.as_slice(), [Exactly::Cursor { .. }]);
        let what = if is_cursor { ", with the cursor" } else { ", selected" };
        let place = format!(" {}{what}", numbers(&self.lines));
        let text = lines.get(self.lines.clone()).unwrap_or_default().concat();
        section(context, name, &place, cut(&text, SELECTED_BYTES));
        for exactly in &self.exactly {
            match exactly {
                Exactly::Cursor { before, .. } if before.trim().is_empty() => {
                    let _ = writeln!(context, "The cursor is at the beginning of that line; write there.");
                }
                Exactly::Cursor { line, before } => {
                    let _ = writeln!(context, "The cursor is in line {}, after `{before}`; write there.", line + 1);
                }
                Exactly::Text(text) => {
                    section(context, "Of these lines exactly this is selected", "", cut(text, SELECTED_BYTES));
                }
            }
        }
    }
}

fn around(context: &mut String, name: &str, lines: &[&str], range: Range<usize>) {
    let text = lines.get(range.clone()).unwrap_or_default().concat();
    if !text.trim().is_empty() {
        section(context, name, &format!(" {}, around it", numbers(&range)), cut(&text, AROUND_BYTES));
    }
}

fn whole(name: &str, now: &str, lines: usize) -> String {
    let mut context = String::new();
    let shown = cut(now, SELECTED_BYTES);
    let place = match shown.len() == now.len() {
        true => ", all of it".to_owned(),
        false => format!(", the first {} of {lines} lines; all of it is meant", shown.lines().count()),
    };
    section(&mut context, name, &place, shown);
    context
}

/// The lines that a selection touches. One that ends where a line begins does not touch that line.
fn lines_of(index: &LineIndex, base: &str, bytes: &Range<usize>) -> Range<usize> {
    let first = index.line_of(bytes.start);
    let last = index.line_of(bytes.end);
    let is_whole = last > first && index.range(base, last).is_some_and(|range| range.start == bytes.end);
    first..last + usize::from(!is_whole)
}

/// Tells if lines are the same in the text that the edits make.
fn same_lines(edits: &[LineEdit]) -> impl Fn(&Range<usize>) -> bool {
    |lines| !edits.iter().any(|edit| touches(edit, lines))
}

/// The same lines in the text that the edits make; those that an edit made of some of them are among them.
fn moved(edits: &[LineEdit], lines: Range<usize>) -> Range<usize> {
    let (mut start, mut end) = (lines.start, lines.end);
    let (mut old_sum, mut new_sum) = (0, 0);
    for edit in edits {
        let new = edit.new_text.split_inclusive('\n').count();
        let begin = edit.start_line - old_sum + new_sum;
        (old_sum, new_sum) = (old_sum + edit.end_line - edit.start_line, new_sum + new);
        if touches(edit, &lines) {
            start = start.min(begin);
            end = (lines.end.max(edit.end_line) - old_sum) + new_sum;
        } else if edit.end_line <= lines.start {
            (start, end) = (lines.start + new_sum - old_sum, lines.end + new_sum - old_sum);
        }
    }
    start..end.max(start)
}

/// True if an edit changes one of these lines, or puts others right before or behind them.
fn touches(edit: &LineEdit, lines: &Range<usize>) -> bool {
    match edit.start_line == edit.end_line {
        true => (lines.start..=lines.end).contains(&edit.start_line),
        false => edit.start_line < lines.end && edit.end_line > lines.start,
    }
}

/// Lines are counted from 1 for models.
fn numbers(lines: &Range<usize>) -> String {
    match lines.len() {
        0 | 1 => format!("line {}", lines.start + 1),
        _ => format!("lines {}-{}", lines.start + 1, lines.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

    fn bytes(text: &str, part: &str) -> Range<usize> {
        let start = text.find(part).unwrap();
        start..start + part.len()
    }

    fn cursor(at: usize) -> Vec<Range<usize>> {
        std::iter::once(at..at).collect()
    }

    #[test]
    fn selected_lines_are_told_apart_from_those_around() {
        let told = in_words("a.txt", TEXT, &[bytes(TEXT, "two\nthree\n")], TEXT);
        assert_eq!(
            told,
            "a.txt line 1, around it:\n```\none\n```\na.txt lines 2-3, selected:\n```\ntwo\nthree\n```\n\
             a.txt lines 4-5, around it:\n```\nfour\nfive\n```\n"
        );
    }

    #[test]
    fn of_a_part_of_a_line_exactly_that_is_named() {
        let told = in_words("a.txt", TEXT, &[bytes(TEXT, "re")], TEXT);
        assert!(
            told.contains("line 3, selected:\n```\nthree\n```\nOf these lines exactly this is selected:\n```\nre\n")
        );
        let to_the_end = in_words("a.txt", TEXT, &[bytes(TEXT, "three")], TEXT);
        assert!(!to_the_end.contains("exactly"), "{to_the_end}");
    }

    #[test]
    fn a_cursor_is_where_something_is_to_be_written() {
        let text = "fn f() {\n\n}\n";
        let told = in_words("a.rs", text, &cursor(9), text);
        assert!(told.contains("a.rs line 2, with the cursor:\n```\n\n```\nThe cursor is at the beginning"), "{told}");
        let told = in_words("a.rs", text, &cursor(3), text);
        assert!(told.contains("in line 1, after `fn `; write there"), "{told}");
        let told = in_words("a.rs", "", &cursor(0), "");
        assert!(told.contains("a.rs line 1, with the cursor"), "{told}");
    }

    #[test]
    fn several_selections_are_told_in_their_order_and_what_lies_between_once() {
        let told = in_words("a.txt", TEXT, &[bytes(TEXT, "one\n"), bytes(TEXT, "four\n")], TEXT);
        assert_eq!(told.matches("selected").count(), 2);
        assert_eq!(told.matches("two\nthree").count(), 1, "{told}");
        let overlapping = in_words("a.txt", TEXT, &[bytes(TEXT, "one\ntwo\n"), bytes(TEXT, "two\nthree\n")], TEXT);
        assert!(overlapping.contains("a.txt lines 1-3, selected:"), "{overlapping}");
    }

    #[test]
    fn where_edits_are_pending_the_selection_is_what_they_made_of_it() {
        let now = "zero\none\n2\n2b\nthree\nfour\nfive\n";
        let told = in_words("a.txt", TEXT, &[bytes(TEXT, "two\n")], now);
        assert!(told.contains("a.txt lines 3-4, selected:\n```\n2\n2b\n```"), "{told}");
        let later = in_words("a.txt", TEXT, &[bytes(TEXT, "our")], now);
        assert!(later.contains("a.txt line 6, selected:\n```\nfour\n```\nOf these lines exactly"), "{later}");
        let written = in_words("a.txt", "a\n\nb\n", &cursor(2), "a\nwritten\nhere\nb\n");
        assert!(written.contains("a.txt lines 2-3, selected:\n```\nwritten\nhere\n```"), "{written}");
        let gone = in_words("a.txt", TEXT, &[bytes(TEXT, "two\n")], "one\nthree\nfour\nfive\n");
        assert!(gone.contains("a.txt line 2"), "{gone}");
    }

    #[test]
    fn a_whole_document_is_told_up_to_a_limit() {
        assert_eq!(in_words("a.txt", TEXT, &[], TEXT), format!("a.txt, all of it:\n```\n{TEXT}```\n"));
        let long = "line\n".repeat(10_000);
        assert!(in_words("a.txt", &long, &[], &long).contains("of 10000 lines; all of it is meant"));
    }
}
