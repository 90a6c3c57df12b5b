//! The suggestion at the cursor as an entry of the completion menu (`textDocument/completion`), for clients without
//! inline completion. A menu is shown when its last server has answered, so ours waits for no slow model.

use std::time::Duration;

use lsp_types::{Range, TextEdit};
use project::buffers::Snapshot;
use project::text::PositionEncoding;
use protocol::content::Position;
use protocol::inline::{InlineCompleteParams, InlineCompleteResult, InlineDocument, InlineItem, InlineTrigger};
use serde::Deserialize;
use serde_json::{Value, json};

use super::abilities::{AS_IS, Completion};
use super::messages::Document;
use super::{commands, convert};

/// The time after which a menu is answered without a suggestion. The next key asks again, and then the model's answer
/// may be there.
pub(super) const PATIENCE: Duration = Duration::from_millis(400);
/// The time for which an answer is still of use to the keys that follow.
pub(super) const LATE: Duration = Duration::from_secs(10);

/// The longest label, in characters.
const LONGEST_LABEL: usize = 60;
/// Sorts behind what language servers offer: many editors take the first entry at a key that also means something else.
const LAST: &str = "~";
/// LSP's `CompletionItemKind`.
const TEXT: u32 = 1;
const SNIPPET: u32 = 15;
/// LSP's `InsertTextFormat.PlainText`.
const PLAIN_TEXT: u32 = 1;

/// `textDocument/completion`. Its trigger is not read: `Invoked` is what clients call the typing of a word, too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Menu {
    pub(super) text_document: Document,
    pub(super) position: Position,
}

impl From<Menu> for InlineCompleteParams {
    fn from(Menu { text_document, position }: Menu) -> Self {
        Self {
            text_document: InlineDocument { uri: text_document.uri, version: None },
            position,
            trigger: InlineTrigger::Automatic,
            selected: None,
            indentation: None,
            selecting: false,
        }
    }
}

/// The answer while nothing is suggested in menus.
pub(super) fn off() -> Value {
    json!({ "isIncomplete": false, "items": [] })
}

/// The answer without a suggestion; there may be one after the next key.
pub(super) fn nothing_yet() -> Value {
    json!({ "isIncomplete": true, "items": [] })
}

/// The answer with the best suggestion, for a cursor in a document as it is now.
pub(super) fn answer(
    result: &InlineCompleteResult,
    cursor: Position,
    document: Option<&Snapshot>,
    encoding: PositionEncoding,
    menu: Completion,
) -> Value {
    let item = result.items.first().zip(document);
    let entry = item.and_then(|(item, document)| entry(item, cursor, document, encoding, menu));
    match entry {
        Some(entry) => json!({ "isIncomplete": true, "items": [entry] }),
        None => nothing_yet(),
    }
}

/// A suggestion as an entry; none if the document has moved on.
fn entry(
    item: &InlineItem,
    cursor: Position,
    document: &Snapshot,
    encoding: PositionEncoding,
    menu: Completion,
) -> Option<Value> {
    if item.version != document.version {
        return None;
    }
    let (text, lines) = (&*document.text, document.lines());
    let [start, at] = [item.range.start, cursor].map(|position| lines.offset(text, position, encoding));
    let added = item.text.strip_prefix(text.get(start?..at?)?)?;
    // Clients compare the word before the cursor with the entry, some of them whatever range the entry replaces.
    let before = text.get(..at?)?;
    let word = before.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_').len();
    let range = Range::new(convert::position(lines.position(text, word, encoding)), convert::position(item.range.end));
    let new_text = format!("{}{added}", before.get(word..)?);
    let label = label(&new_text);
    let first_line = new_text.lines().next().filter(|line| !line.trim().is_empty());
    let mut entry = json!({
        "label": label,
        "detail": "Azimuth",
        "kind": if new_text.trim().contains('\n') { SNIPPET } else { TEXT },
        "filterText": first_line.unwrap_or(&label),
        "sortText": LAST,
        "insertTextFormat": PLAIN_TEXT,
        "documentation": documentation(&new_text, &document.language_id, menu),
        "command": commands::run("Accepted", commands::INLINE_ACCEPTED, &item.id),
    });
    if menu.label_details {
        entry["labelDetails"] = json!({ "description": "Azimuth" });
    }
    if menu.as_is {
        entry["insertTextMode"] = json!(AS_IS);
    }
    entry["textEdit"] = json!(TextEdit { range, new_text });
    Some(entry)
}

/// The first line that says something, shortened; three dots stand for the rest.
fn label(text: &str) -> String {
    let text = text.trim();
    let first = text.lines().next().unwrap_or_default().trim_end();
    let mut label: String = first.chars().take(LONGEST_LABEL).collect();
    if label.len() < text.len() {
        label.push('…');
    }
    label
}

/// All of the text.
fn documentation(text: &str, language: &str, menu: Completion) -> Value {
    let text = text.trim_end();
    if !menu.markdown {
        return json!(text);
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    json!({ "kind": "markdown", "value": format!("{fence}{language}\n{text}\n{fence}") })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use project::buffers::Buffers;
    use protocol::content;

    use super::*;

    const URI: &str = "file:///a.rs";

    fn document(text: &str) -> Arc<Snapshot> {
        let buffers = Buffers::default();
        buffers.open(URI, "rust", 3, text).unwrap()
    }

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn item(start: Position, end: Position, text: &str) -> InlineCompleteResult {
        let range = content::Range { start, end };
        let item = InlineItem { id: "s1".into(), range, text: text.into(), version: 3 };
        InlineCompleteResult { items: vec![item], reason: None }
    }

    fn answered(result: &InlineCompleteResult, cursor: Position, text: &str, menu: Completion) -> Value {
        answer(result, cursor, Some(&document(text)), PositionEncoding::Utf16, menu)
    }

    #[test]
    fn an_entry_replaces_the_word_at_the_cursor_and_is_found_by_it() {
        let list =
            answered(&item(at(0, 10), at(0, 10), "mbers.len();"), at(0, 10), "let é = nu", Completion::default());
        let entry = &list["items"][0];
        assert_eq!(list["isIncomplete"], true);
        assert_eq!(entry["label"], "numbers.len();");
        assert_eq!(entry["filterText"], "numbers.len();");
        assert_eq!(entry["textEdit"]["newText"], "numbers.len();");
        assert_eq!(
            entry["textEdit"]["range"],
            json!({ "start": { "line": 0, "character": 8 }, "end": { "line": 0, "character": 10 } })
        );
        assert_eq!((&entry["kind"], &entry["insertTextFormat"]), (&json!(TEXT), &json!(PLAIN_TEXT)));
        assert_eq!(entry["documentation"], "numbers.len();");
        assert_eq!(entry["command"]["arguments"], json!(["s1"]));
        assert!(entry.get("labelDetails").is_none() && entry.get("insertTextMode").is_none());
    }

    #[test]
    fn a_range_that_begins_before_the_word_or_ends_behind_the_cursor_is_kept_in_effect() {
        let text = "    let a = f(nu)\n";
        let result = item(at(0, 0), at(0, 17), "    let a = f(numbers);");
        let entry = &answered(&result, at(0, 16), text, Completion::default())["items"][0];
        assert_eq!(entry["textEdit"]["newText"], "numbers);");
        assert_eq!(
            entry["textEdit"]["range"],
            json!({ "start": { "line": 0, "character": 14 }, "end": { "line": 0, "character": 17 } })
        );
    }

    #[test]
    fn several_lines_are_cut_in_the_label_and_whole_in_the_documentation() {
        let added = "\n    let fence = \"```\";\n    // more";
        let menu = Completion { markdown: true, label_details: true, as_is: true, register: false };
        let entry = &answered(&item(at(0, 11), at(0, 11), added), at(0, 11), "fn main() {", menu)["items"][0];
        assert_eq!(entry["label"], "let fence = \"```\";…");
        assert_eq!(entry["filterText"], "let fence = \"```\";…", "a blank first line would be no filter");
        assert_eq!(entry["textEdit"]["newText"], added);
        assert_eq!(entry["kind"], SNIPPET);
        assert_eq!(entry["labelDetails"]["description"], "Azimuth");
        assert_eq!(entry["insertTextMode"], 1);
        assert_eq!(
            entry["documentation"]["value"], "````rust\n\n    let fence = \"```\";\n    // more\n````",
            "the fence is longer than those in the text"
        );
        let long = label(&"é".repeat(LONGEST_LABEL + 1));
        assert_eq!(long, format!("{}…", "é".repeat(LONGEST_LABEL)));
        assert_eq!(label(&"é".repeat(LONGEST_LABEL)), "é".repeat(LONGEST_LABEL));
    }

    #[test]
    fn nothing_is_offered_for_another_text_and_the_next_key_asks_again() {
        let result = item(at(0, 2), at(0, 2), "mbers");
        let cursor = at(0, 2);
        let later = document("nu");
        let stale =
            InlineCompleteResult { items: vec![InlineItem { version: 2, ..result.items[0].clone() }], reason: None };
        let of = |result, document| answer(result, cursor, document, PositionEncoding::Utf16, Completion::default());
        assert_eq!(of(&stale, Some(&later)), nothing_yet());
        assert_eq!(of(&result, None), nothing_yet());
        let empty = InlineCompleteResult::default();
        assert_eq!(of(&empty, Some(&later)), nothing_yet());
        assert_eq!(of(&result, Some(&later))["items"][0]["label"], "numbers");
        let elsewhere = item(at(0, 0), at(0, 2), "xumbers");
        assert_eq!(of(&elsewhere, Some(&later)), nothing_yet(), "it does not begin with what is there");
    }
}
