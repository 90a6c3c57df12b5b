//! The dialect of Continue's model for the next edit, after Qwen2.5-Coder: a message with headings, the window between
//! marks in an excerpt, and the edits with the last one first.

use ports::complete::NextEdit;

use super::diff::hunk;
use super::parts::{Parts, ended};
use crate::failure::Fault;

const START: &str = "<|editable_region_start|>";
const END: &str = "<|editable_region_end|>";
const CURSOR: &str = "<|user_cursor_is_here|>";
const FILE: &str = "<|context_file|>";
const SNIPPET: &str = "<|snippet|>";
/// The lines before and after the cursor's that the excerpt has at most.
const AROUND: usize = 25;
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &[START, END, CURSOR, FILE, SNIPPET];
/// The system prompt.
pub(super) const SYSTEM: &str = "You are Instinct, and predict the next edit of a developer, in the part of the code \
    between <|editable_region_start|> and <|editable_region_end|>.\n\nYou are given context from other files, each \
    with a <|context_file|> mark and its path, and a <|snippet|> mark and its text; the developer's last edits as \
    diffs, the latest first; and an excerpt of the developer's file, in which <|user_cursor_is_here|> marks the \
    cursor. Some of the context may have nothing to do with the edit.\n\nGo on with what the developer is doing. Keep \
    to the style of the code. Do not undo the last edit, unless it is an obvious slip.\n\nAnswer with the new code \
    between the marks only, without the marks, and with nothing that stands outside of them.";
/// The first words of the message.
const TASK: &str = "Look at the excerpt, the edits and the snippets, and see what the developer is about to do. \
    Rewrite the editable region of the excerpt with the change that comes next.";

/// The message for a request.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let snippets = request
        .related
        .iter()
        .map(|excerpt| format!("{FILE}: {}\n{SNIPPET}\n{}", excerpt.path, excerpt.text.trim_end_matches('\n')));
    let edits = request
        .history
        .iter()
        .rev()
        .filter_map(|edit| Some(format!("User edited file \"{}\"\n\n```diff\n{}\n```", edit.path, hunk(edit)?)));
    let room = AROUND.saturating_sub(parts.head.matches('\n').count());
    let before: Vec<&str> = parts.before.split_inclusive('\n').collect();
    let before = before.get(before.len().saturating_sub(room)..).unwrap_or_default().concat();
    // The first line end of the tail is that of the cursor's line.
    let room = AROUND.saturating_sub(parts.tail.matches('\n').count().saturating_sub(1));
    let after: String = parts.after.split_inclusive('\n').take(room).collect();
    format!(
        "{TASK}\n\n### Context:\n{}\n\n### User Edits:\n\n{}\n\n### User Excerpt:\n{}\n\n{}{START}\n{}{END}\n{}```\n\
         ### Response:",
        snippets.collect::<Vec<_>>().join("\n"),
        edits.collect::<Vec<_>>().join("\n"),
        request.path,
        ended(&before),
        ended(&parts.marked(CURSOR)),
        ended(&after),
    )
}

/// The new text of the window in an answer.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    let text = answer.replace(CURSOR, "");
    let text = match text.split_once(START) {
        Some((_, after)) => after.strip_prefix('\n').unwrap_or(after),
        None => &text,
    };
    parts.settled(text.split(END).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_message_has_the_headings_and_marks_that_the_model_learned() {
        let request = request();
        let prompt = prompt(&request, &Parts::of(&request).unwrap());
        let (_, rest) = prompt.split_once("\n\n### Context:\n").unwrap();
        let expected = "<|context_file|>: src/b.rs\n<|snippet|>\nfn b() {}\n\n### User Edits:\n\n\
            User edited file \"src/a.rs\"\n\n```diff\n@@ -3,1 +3,1 @@\n-fn area(w: u32) -> u32 {\n\
            +fn area(w: u32, h: u32) -> u32 {\n```\n\n### User Excerpt:\nsrc/a.rs\n\nuse std::fmt;\n\n\
            <|editable_region_start|>\nfn area(w: u32, h: u32) -> u32 {\n    w * <|user_cursor_is_here|>\n}\n\
            <|editable_region_end|>\n\nfn main() {}\n```\n### Response:";
        assert_eq!(rest, expected);
    }

    #[test]
    fn no_more_of_the_file_is_sent_than_the_model_was_shown() {
        let lines = "x\n".repeat(100);
        let request = NextEdit {
            excerpt: lines.clone(),
            window: 100..110,
            cursor: 104,
            history: Vec::new(),
            related: Vec::new(),
            ..request()
        };
        let prompt = prompt(&request, &Parts::of(&request).unwrap());
        assert_eq!(prompt.lines().filter(|line| *line == "x").count(), 50, "{prompt}");
    }

    #[test]
    fn the_answer_is_the_region() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        assert_eq!(parse(NEW, &parts).unwrap().as_deref(), Some(NEW));
        assert_eq!(parse(parts.window, &parts).unwrap(), None);
        assert!(parse("<|im_start|>", &parts).is_err());
    }
}
