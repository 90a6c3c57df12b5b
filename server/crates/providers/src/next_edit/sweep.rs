//! The dialect of Sweep's models for the next edit, after Qwen2.5-Coder: the window as it was before the last edit, as
//! it is, and as it will be, each as a file.

use ports::complete::{Edited, NextEdit};

use super::parts::{Parts, ended};
use crate::failure::Fault;

/// The token before each file.
const FILE: &str = "<|file_sep|>";
/// The mark at the cursor.
const CURSOR: &str = "<|cursor|>";
/// The texts at which an answer ends.
pub(super) const STOPS: &[&str] = &[FILE, "<|endoftext|>"];
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &[FILE, CURSOR];

/// The prompt for a request. It ends with the new window up to the cursor's line, so that the answer begins there.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let path = &request.path;
    let mut prompt = format!("{FILE}{path}\n{}", ended(&request.excerpt));
    for excerpt in &request.related {
        prompt.push_str(&format!("{FILE}{}\n{}", excerpt.path, ended(&excerpt.text)));
    }
    for Edited { path, before, after, .. } in &request.history {
        let (before, after) = (before.trim_end_matches('\n'), after.trim_end_matches('\n'));
        prompt.push_str(&format!("{FILE}{path}.diff\noriginal:\n{before}\nupdated:\n{after}\n"));
    }
    let place = format!("{path}:{}:{}", parts.first_line + 1, parts.first_line + parts.lines());
    let (original, current) = (ended(&original(request, parts)), ended(&parts.marked(CURSOR)));
    prompt.push_str(&format!("{FILE}original/{place}\n{original}{FILE}current/{place}\n{current}"));
    prompt.push_str(&format!("{FILE}updated/{place}\n{}", parts.before_line()));
    prompt
}

/// The new text of the window in an answer.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    if answer.trim().is_empty() {
        return Ok(None);
    }
    let text = format!("{}{}", parts.before_line(), answer.replace(CURSOR, ""));
    parts.settled(&text)
}

/// The window as it was before the last edit, if that was made in it.
fn original(request: &NextEdit, parts: &Parts<'_>) -> String {
    let undone = request.history.last().filter(|edit| edit.path == request.path).and_then(|edit| {
        let skipped = edit.line.checked_sub(parts.first_line)?;
        let at = parts.window.split_inclusive('\n').take(skipped).map(str::len).sum::<usize>();
        let (before, rest) = parts.window.split_at_checked(at)?;
        let rest = rest.strip_prefix(edit.after.as_str())?;
        Some(format!("{before}{}{rest}", edit.before))
    });
    undone.unwrap_or_else(|| parts.window.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_prompt_has_the_window_before_the_last_edit_as_it_is_and_begun() {
        let request = request();
        let expected = "<|file_sep|>src/a.rs\nuse std::fmt;\n\nfn area(w: u32, h: u32) -> u32 {\n    w * \n}\n\n\
            fn main() {}\n<|file_sep|>src/b.rs\nfn b() {}\n<|file_sep|>src/a.rs.diff\noriginal:\n\
            fn area(w: u32) -> u32 {\nupdated:\nfn area(w: u32, h: u32) -> u32 {\n\
            <|file_sep|>original/src/a.rs:3:5\nfn area(w: u32) -> u32 {\n    w * \n}\n\
            <|file_sep|>current/src/a.rs:3:5\nfn area(w: u32, h: u32) -> u32 {\n    w * <|cursor|>\n}\n\
            <|file_sep|>updated/src/a.rs:3:5\nfn area(w: u32, h: u32) -> u32 {\n";
        assert_eq!(prompt(&request, &Parts::of(&request).unwrap()), expected);
    }

    #[test]
    fn the_answer_goes_on_where_the_prompt_ends() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        assert_eq!(parse("    w * h\n}\n", &parts).unwrap().as_deref(), Some(NEW));
        assert_eq!(parse("    w * h\n}", &parts).unwrap().as_deref(), Some(NEW));
        for same in ["    w * \n}\n", "", "\n"] {
            assert_eq!(parse(same, &parts).unwrap(), None, "{same}");
        }
        assert!(parse("    w<|im_start|>", &parts).is_err());
    }
}
