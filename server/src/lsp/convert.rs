//! Our values as LSP has them.

use lsp_types::{MessageType, Position, Range, TextEdit};
use project::review::LineEdit;
use project::text::PositionEncoding;
use protocol::event::Severity;
use protocol::review::Hunk;
use serde_json::{Value, json};

/// Whole lines as a text edit. A line after the last one is the text's end, as every client has it, also where the last
/// line has no line end. The text has LF; clients turn it into the line ends of the document.
pub(super) fn text_edit(edit: &LineEdit) -> TextEdit {
    let line = |line: usize| Position::new(u32::try_from(line).unwrap_or(u32::MAX), 0);
    TextEdit { range: Range::new(line(edit.start_line), line(edit.end_line)), new_text: edit.new_text.clone() }
}

/// The lines of a hunk that stand in the document: those that it replaces, or where it has landed those that it put
/// there.
fn there(hunk: &Hunk, landed: bool) -> &str {
    if landed { &hunk.new_text } else { &hunk.old_text }
}

/// The lines of a hunk that stand in the document, without the last one's line end. Where there are none, it is the
/// place before the next line.
pub(super) fn hunk_range(hunk: &Hunk, landed: bool, encoding: PositionEncoding) -> Range {
    let start = Position::new(hunk.start_line, 0);
    let lines = there(hunk, landed).lines().count();
    let Some(last) = there(hunk, landed).lines().last() else { return Range::new(start, start) };
    let before = u32::try_from(lines - 1).unwrap_or(u32::MAX);
    Range::new(start, Position::new(hunk.start_line.saturating_add(before), length(last, encoding)))
}

/// The length of a line in the client's units.
pub(super) fn length(line: &str, encoding: PositionEncoding) -> u32 {
    let length = match encoding {
        PositionEncoding::Utf8 => line.len(),
        PositionEncoding::Utf16 => line.encode_utf16().count(),
        PositionEncoding::Utf32 => line.chars().count(),
    };
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// A position of ours.
pub(super) fn position(position: protocol::Position) -> Position {
    Position::new(position.line, position.character)
}

/// True if a hunk stands in some lines, or touches them.
pub(super) fn touches(hunk: &Hunk, landed: bool, range: protocol::Range) -> bool {
    let lines = u32::try_from(there(hunk, landed).lines().count().max(1)).unwrap_or(u32::MAX);
    hunk.start_line <= range.end.line && range.start.line < hunk.start_line.saturating_add(lines)
}

/// The kind of a message to the user.
pub(super) fn message_type(severity: Severity) -> MessageType {
    match severity {
        Severity::Info => MessageType::INFO,
        Severity::Warning => MessageType::WARNING,
        Severity::Error => MessageType::ERROR,
    }
}

/// The parameters of `window/showDocument`, with the cursor at a position if one is given.
pub(super) fn show_document(uri: &str, at: Option<protocol::Position>) -> Value {
    let mut params = json!({ "uri": uri, "takeFocus": true });
    if let Some(at) = at {
        params["selection"] = json!({ "start": at, "end": at });
    }
    params
}

#[cfg(test)]
pub(super) mod tests {
    use protocol::HunkId;
    use protocol::review::HunkState;

    use super::*;

    /// A pending hunk.
    pub(in crate::lsp) fn hunk(id: &str, start_line: u32, old: &str, new: &str) -> Hunk {
        Hunk {
            hunk_id: HunkId::from(id),
            tool_call_ids: Vec::new(),
            start_line,
            old_text: old.into(),
            new_text: new.into(),
            line_before: None,
            line_after: None,
            anchor: None,
            state: HunkState::Pending,
            comments: Vec::new(),
            untold_comments: 0,
        }
    }

    fn numbers(range: Range) -> [u32; 4] {
        [range.start.line, range.start.character, range.end.line, range.end.character]
    }

    #[test]
    fn a_hunk_covers_its_old_lines_in_the_clients_units() {
        let changed = hunk("h", 3, "a\nb\u{e9}\u{1F600}\n", "x\n");
        assert_eq!(numbers(hunk_range(&changed, false, PositionEncoding::Utf8)), [3, 0, 4, 7]);
        assert_eq!(numbers(hunk_range(&changed, false, PositionEncoding::Utf16)), [3, 0, 4, 4]);
        assert_eq!(numbers(hunk_range(&changed, false, PositionEncoding::Utf32)), [3, 0, 4, 3]);
        assert_eq!(numbers(hunk_range(&hunk("h", 3, "", "x\n"), false, PositionEncoding::Utf8)), [3, 0, 3, 0]);
        assert_eq!(numbers(hunk_range(&hunk("h", 3, "\n", ""), false, PositionEncoding::Utf8)), [3, 0, 3, 0]);
    }

    #[test]
    fn lines_are_replaced_whole() {
        let edit = LineEdit { start_line: 2, end_line: 4, new_text: "x\n".into() };
        assert_eq!(numbers(text_edit(&edit).range), [2, 0, 4, 0]);
    }

    #[test]
    fn a_hunk_is_found_from_each_of_its_lines() {
        let position = |line| protocol::Position { line, character: 0 };
        let at = |line| protocol::Range { start: position(line), end: position(line) };
        let changed = hunk("h", 3, "a\nb\n", "x\n");
        assert_eq!([2, 3, 4, 5].map(|line| touches(&changed, false, at(line))), [false, true, true, false]);
        let inserted = hunk("h", 3, "", "x\n");
        assert_eq!([2, 3, 4].map(|line| touches(&inserted, false, at(line))), [false, true, false]);
        assert!(touches(&inserted, false, protocol::Range { start: position(0), end: position(9) }));
    }
}
