//! The dialect of Zed's first model for the next edit, after Qwen2.5-Coder: sections with headings, and the window
//! between marks in an excerpt.

use ports::complete::NextEdit;

use super::diff::hunk;
use super::parts::{Parts, ended};
use crate::failure::Fault;

const START_OF_FILE: &str = "<|start_of_file|>";
const START: &str = "<|editable_region_start|>";
const END: &str = "<|editable_region_end|>";
const CURSOR: &str = "<|user_cursor_is_here|>";
/// The texts at which an answer ends.
pub(super) const STOPS: &[&str] = &[END, "<|endoftext|>", "<|im_end|>"];
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &[START_OF_FILE, START, END, CURSOR];
/// The instruction.
const INSTRUCTION: &str = "You complete code. Look at what the user has edited, and rewrite the excerpt with the edits \
    that the user would make next. Mind where the cursor is.";

/// The prompt for a request.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let edits = request.history.iter().filter_map(|edit| {
        let hunk = hunk(edit)?;
        Some(format!("User edited \"{}\":\n```diff\n{hunk}\n```", edit.path))
    });
    let edits = edits.collect::<Vec<_>>().join("\n\n");
    let begin = if request.excerpt_line == 0 { format!("{START_OF_FILE}\n") } else { String::new() };
    let (window, after) = (ended(&parts.marked(CURSOR)), ended(parts.after));
    let excerpt = format!("```{}\n{begin}{}{START}\n{window}{END}\n{after}```", request.path, ended(parts.before));
    format!(
        "### Instruction:\n{INSTRUCTION}\n\n### User Edits:\n\n{edits}\n\n### User Excerpt:\n\n{excerpt}\n\n\
         ### Response:\n"
    )
}

/// The new text of the window in an answer: what stands after the mark of its beginning, if that is there.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    let text = answer.replace(CURSOR, "");
    let text = match text.split_once(START) {
        Some((_, after)) => after.strip_prefix('\n').unwrap_or(after),
        None => &text,
    };
    let text = text.split(END).next().unwrap_or_default();
    parts.settled(text)
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_prompt_has_the_edits_and_the_excerpt_with_marks() {
        let request = request();
        let prompt = prompt(&request, &Parts::of(&request).unwrap());
        let (instruction, rest) = prompt.split_once("\n\n### User Edits:\n\n").unwrap();
        assert!(instruction.starts_with("### Instruction:\nYou "));
        let expected = "User edited \"src/a.rs\":\n```diff\n@@ -3,1 +3,1 @@\n-fn area(w: u32) -> u32 {\n\
            +fn area(w: u32, h: u32) -> u32 {\n```\n\n### User Excerpt:\n\n```src/a.rs\n<|start_of_file|>\n\
            use std::fmt;\n\n<|editable_region_start|>\nfn area(w: u32, h: u32) -> u32 {\n\
            \x20   w * <|user_cursor_is_here|>\n}\n<|editable_region_end|>\n\nfn main() {}\n```\n\n### Response:\n";
        assert_eq!(rest, expected);
    }

    #[test]
    fn the_answer_is_the_region_with_or_without_its_marks() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        let marked = format!("```src/a.rs\n{START}\n{NEW}{END}\n```");
        for answer in [
            marked.as_str(),
            NEW,
            NEW.trim_end(),
            "fn area(w: u32, h: u32) -> u32 {\n    w * h<|user_cursor_is_here|>\n}",
        ] {
            assert_eq!(parse(answer, &parts).unwrap().as_deref(), Some(NEW), "{answer}");
        }
        assert_eq!(parse(parts.window, &parts).unwrap(), None);
        assert!(parse("<|fim_middle|>x", &parts).is_err());
    }
}
