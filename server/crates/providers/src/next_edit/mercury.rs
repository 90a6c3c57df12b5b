//! The dialect of Inception's model for the next edit: one message with tagged sections, answered by a fenced text.

use ports::complete::NextEdit;

use super::diff::hunk;
use super::parts::{Parts, ended};
use crate::failure::Fault;

const CURSOR: &str = "<|cursor|>";
const EDIT: [&str; 2] = ["<|code_to_edit|>", "<|/code_to_edit|>"];
const FENCE: &str = "```";
/// The answer of a model that would change nothing.
const NONE: &str = "None";
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &[
    CURSOR,
    "<|code_to_edit|>",
    "<|/code_to_edit|>",
    "<|recently_viewed_code_snippet",
    "<|/recently_viewed_code_snippet",
    "<|current_file_content|>",
    "<|/current_file_content|>",
    "<|edit_diff_history|>",
    "<|/edit_diff_history|>",
];

/// The message for a request.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let snippets = request.related.iter().map(|excerpt| {
        format!(
            "<|recently_viewed_code_snippet|>\ncode_snippet_file_path: {}\n{}<|/recently_viewed_code_snippet|>\n",
            excerpt.path,
            ended(&excerpt.text)
        )
    });
    let snippets = snippets.collect::<Vec<_>>().join("\n");
    let snippets = if snippets.is_empty() { "\n".to_owned() } else { snippets };
    let edits = request.history.iter().filter_map(|edit| {
        let path = &edit.path;
        Some(format!("--- {path}\n+++ {path}\n{}\n", hunk(edit)?))
    });
    let edits = edits.collect::<Vec<_>>().join("\n");
    let [begin, end] = EDIT;
    let (before, window, after) = (ended(parts.before), ended(&parts.marked(CURSOR)), ended(parts.after));
    format!(
        "<|recently_viewed_code_snippets|>\n{snippets}<|/recently_viewed_code_snippets|>\n\n\
         <|current_file_content|>\ncurrent_file_path: {}\n{before}{begin}\n{window}{end}\n{after}\
         <|/current_file_content|>\n\n<|edit_diff_history|>\n{edits}\n<|/edit_diff_history|>",
        request.path
    )
}

/// The new text of the window in an answer, which stands in a fence, between the tags, or both.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    let answer = answer.trim_matches('\n');
    if answer.trim() == NONE || answer.trim().is_empty() {
        return Ok(None);
    }
    let inner = within(answer, EDIT).or_else(|| fenced(answer)).ok_or_else(|| {
        Fault::Garbage(format!("a next edit without its fence: {}", answer.chars().take(120).collect::<String>()))
    })?;
    let inner = within(inner, EDIT).or_else(|| fenced(inner)).unwrap_or(inner);
    if inner.trim() == NONE {
        return Ok(None);
    }
    parts.settled(&inner.replace(CURSOR, ""))
}

/// The text between a fence's lines. The fence of the answer is its first line and its last; others are of the text.
fn fenced(text: &str) -> Option<&str> {
    let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
    if !first.starts_with(FENCE) {
        return None;
    }
    let rest = rest.trim_end().strip_suffix(FENCE)?;
    Some(rest.strip_suffix('\n').unwrap_or(rest))
}

fn within<'a>(text: &'a str, [begin, end]: [&str; 2]) -> Option<&'a str> {
    let (_, rest) = text.split_once(begin)?;
    let (inner, _) = rest.split_once(end)?;
    Some(inner.strip_prefix('\n').unwrap_or(inner))
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_message_has_the_sections_that_the_vendor_documents() {
        let request = request();
        let expected = "<|recently_viewed_code_snippets|>\n<|recently_viewed_code_snippet|>\n\
            code_snippet_file_path: src/b.rs\nfn b() {}\n<|/recently_viewed_code_snippet|>\n\
            <|/recently_viewed_code_snippets|>\n\n<|current_file_content|>\ncurrent_file_path: src/a.rs\n\
            use std::fmt;\n\n<|code_to_edit|>\nfn area(w: u32, h: u32) -> u32 {\n    w * <|cursor|>\n}\n\
            <|/code_to_edit|>\n\nfn main() {}\n<|/current_file_content|>\n\n<|edit_diff_history|>\n\
            --- src/a.rs\n+++ src/a.rs\n@@ -3,1 +3,1 @@\n-fn area(w: u32) -> u32 {\n\
            +fn area(w: u32, h: u32) -> u32 {\n\n<|/edit_diff_history|>";
        assert_eq!(prompt(&request, &Parts::of(&request).unwrap()), expected);
        let bare = NextEdit { related: Vec::new(), history: Vec::new(), ..request };
        let text = prompt(&bare, &Parts::of(&bare).unwrap());
        assert!(text.starts_with("<|recently_viewed_code_snippets|>\n\n<|/recently_viewed_code_snippets|>\n\n"));
        assert!(text.ends_with("<|edit_diff_history|>\n\n<|/edit_diff_history|>"));
    }

    #[test]
    fn the_answer_is_fenced_or_tagged_or_none() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        let body = NEW.trim_end();
        for answer in [
            format!("```\n{body}\n```"),
            format!("```rust\n{NEW}```\n"),
            format!("<|code_to_edit|>\n{NEW}<|/code_to_edit|>"),
            format!("```\n<|code_to_edit|>\n{NEW}<|/code_to_edit|>\n```"),
        ] {
            assert_eq!(parse(&answer, &parts).unwrap().as_deref(), Some(NEW), "{answer}");
        }
        for none in ["None", "None\n", "```\nNone\n```", "", &format!("```\n{}\n```", parts.window)] {
            assert_eq!(parse(none, &parts).unwrap(), None, "{none}");
        }
        for garbage in ["I would add an argument here.", "```\nfn area(", "```"] {
            assert!(parse(garbage, &parts).is_err(), "{garbage}");
        }
    }
}
