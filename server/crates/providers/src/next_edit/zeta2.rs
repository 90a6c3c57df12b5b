//! The dialect of Zed's second model for the next edit, after Seed-Coder: the text after the window first, then files
//! with their paths, and the window as one side of a conflict (its format V0211SeedCoder).

use ports::complete::NextEdit;

use super::diff::hunk;
use super::parts::{Parts, ended};
use crate::failure::Fault;

const SUFFIX: &str = "<[fim-suffix]>";
const PREFIX: &str = "<[fim-prefix]>";
const MIDDLE: &str = "<[fim-middle]>";
const FILE: &str = "<filename>";
const CURRENT: &str = "<<<<<<< CURRENT\n";
const SEPARATOR: &str = "=======\n";
const UPDATED: &str = ">>>>>>> UPDATED";
const CURSOR: &str = "<|user_cursor|>";
/// The answer of a model that would change nothing.
const NO_EDITS: &str = "NO_EDITS";
/// The texts at which an answer ends.
pub(super) const STOPS: &[&str] = &[UPDATED, "<[end▁of▁sentence]>"];
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &[SUFFIX, PREFIX, MIDDLE, "<<<<<<< CURRENT", UPDATED, CURSOR];

/// The prompt for a request.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let after = if parts.after.is_empty() { "\n".to_owned() } else { ended(parts.after) };
    let mut prompt = format!("{SUFFIX}{after}{PREFIX}");
    for excerpt in &request.related {
        prompt.push_str(&format!("{FILE}{}\n{}\n", excerpt.path, ended(&excerpt.text)));
    }
    let edits = request.history.iter().filter_map(|edit| {
        let path = edit.path.trim_start_matches('/');
        Some(format!("--- a/{path}\n+++ b/{path}\n{}\n", hunk(edit)?))
    });
    let edits: String = edits.collect();
    if !edits.is_empty() {
        prompt.push_str(&format!("{FILE}edit_history\n{edits}\n"));
    }
    let (before, window) = (ended(parts.before), ended(&parts.marked(CURSOR)));
    prompt.push_str(&format!("{FILE}{}\n{before}{CURRENT}{window}{SEPARATOR}{MIDDLE}", request.path));
    prompt
}

/// The new text of the window in an answer.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    let text = answer.split(UPDATED).next().unwrap_or_default();
    if text.trim_start().starts_with(NO_EDITS) {
        return Ok(None);
    }
    parts.settled(&text.replace(CURSOR, ""))
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_prompt_begins_with_the_text_after_the_window_and_ends_with_the_conflict() {
        let request = request();
        let expected = "<[fim-suffix]>\nfn main() {}\n<[fim-prefix]><filename>src/b.rs\nfn b() {}\n\n\
            <filename>edit_history\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -3,1 +3,1 @@\n-fn area(w: u32) -> u32 {\n\
            +fn area(w: u32, h: u32) -> u32 {\n\n<filename>src/a.rs\nuse std::fmt;\n\n<<<<<<< CURRENT\n\
            fn area(w: u32, h: u32) -> u32 {\n    w * <|user_cursor|>\n}\n=======\n<[fim-middle]>";
        assert_eq!(prompt(&request, &Parts::of(&request).unwrap()), expected);
    }

    #[test]
    fn the_answer_is_the_other_side_of_the_conflict_or_no_edits() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        for answer in [format!("{NEW}>>>>>>> UPDATED\n"), NEW.replace("w * h", "w * h<|user_cursor|>")] {
            assert_eq!(parse(&answer, &parts).unwrap().as_deref(), Some(NEW));
        }
        for none in ["NO_EDITS\n>>>>>>> UPDATED\n", " NO_EDITS", "", parts.window] {
            assert_eq!(parse(none, &parts).unwrap(), None, "{none}");
        }
        assert!(parse("x\n<filename>other.rs\ny", &parts).is_err());
    }
}
