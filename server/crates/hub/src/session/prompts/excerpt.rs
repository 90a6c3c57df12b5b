//! Parts of files as the model reads them in a prompt.

use std::fmt::Write;

use protocol::content::Range;

/// Adds a part of a file; `place` says which.
pub(super) fn section(context: &mut String, name: &str, place: &str, text: &str) {
    // A fence longer than any in the text keeps the text from ending it.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let _ = writeln!(context, "{name}{place}:\n{fence}\n{text}{end}{fence}");
}

/// Lines are counted from 1 for people and models.
pub(super) fn lines_of(range: Range) -> String {
    let [start, end] = range.lines().map(|line| line.saturating_add(1));
    if start == end { format!("line {start}") } else { format!("lines {start}-{end}") }
}

/// The beginning of a text, of at most so many bytes.
pub(super) fn cut(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes.min(text.len()))).unwrap_or(text)
}
