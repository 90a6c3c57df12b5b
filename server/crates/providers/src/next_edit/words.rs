//! The next edit asked for in words, of a model to chat with that learned no dialect for it.

use ports::complete::NextEdit;

use super::diff::hunk;
use super::parts::{Parts, ended};
use crate::failure::Fault;

const WINDOW: [&str; 2] = ["<azimuth_window>", "</azimuth_window>"];
const CURSOR: &str = "<azimuth_cursor/>";
/// The answer of a model that would change nothing.
const NO_CHANGE: &str = "NO_CHANGE";
/// The marks that may stand in no text that is sent.
pub(super) const MARKS: &[&str] = &["<azimuth_window>", "</azimuth_window>", CURSOR];
/// The system prompt.
pub(super) const SYSTEM: &str = "You predict the next edit in a code editor. You are given the user's last edits as \
    diffs, the oldest first, and a part of the user's file, in which <azimuth_window> and </azimuth_window> enclose \
    the lines that you may change and <azimuth_cursor/> is where the cursor is. Go on with what the user is doing: \
    finish what is begun, and make the changes that the last edits ask for. Change as little as you can. Never undo \
    what the user has just done. Answer with the new lines between <azimuth_window> and </azimuth_window>, all of \
    them, without <azimuth_cursor/>, and with nothing else. If you are not sure that something is to be changed, \
    answer NO_CHANGE.";

/// The message for a request. What changes with each key comes last.
pub(super) fn prompt(request: &NextEdit, parts: &Parts<'_>) -> String {
    let files =
        request.related.iter().map(|file| format!("<file path=\"{}\">\n{}</file>\n\n", file.path, ended(&file.text)));
    let edits = request.history.iter().filter_map(|edit| Some(format!("--- {}\n{}\n", edit.path, hunk(edit)?)));
    let (edits, [begin, end]) = (edits.collect::<String>(), WINDOW);
    let problems = request.problems.iter().map(|(line, problem)| format!("line {}: {problem}\n", line + 1));
    let problems = problems.collect::<String>();
    let section = |name: &str, text: &str| match text.is_empty() {
        true => String::new(),
        false => format!("<{name}>\n{text}</{name}>\n\n"),
    };
    format!(
        "{}{}{}<file path=\"{}\">\n{}{begin}\n{}{end}\n{}</file>",
        files.collect::<String>(),
        section("edits", &edits),
        section("problems", &problems),
        request.path,
        ended(parts.before),
        ended(&parts.marked(CURSOR)),
        ended(parts.after),
    )
}

/// The new text of the window in an answer. One that was cut has no end.
pub(super) fn parse(answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
    let [begin, end] = WINDOW;
    let Some((_, text)) = answer.split_once(begin) else {
        return match answer.contains(NO_CHANGE) || answer.trim().is_empty() {
            true => Ok(None),
            false => {
                let start: String = answer.chars().take(120).collect();
                Err(Fault::Garbage(format!("a next edit without `{begin}`: {start}")))
            }
        };
    };
    let text = text.split_once(end).map_or(text, |(text, _)| text).replace(CURSOR, "");
    parts.settled(text.strip_prefix('\n').unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::super::parts::testing::{NEW, request};
    use super::*;

    #[test]
    fn the_message_has_all_that_is_known_and_the_window_last() {
        let request = request();
        let expected = "<file path=\"src/b.rs\">\nfn b() {}\n</file>\n\n<edits>\n--- src/a.rs\n@@ -3,1 +3,1 @@\n\
            -fn area(w: u32) -> u32 {\n+fn area(w: u32, h: u32) -> u32 {\n</edits>\n\n<problems>\n\
            line 4: expected expression\n</problems>\n\n<file path=\"src/a.rs\">\nuse std::fmt;\n\n<azimuth_window>\n\
            fn area(w: u32, h: u32) -> u32 {\n    w * <azimuth_cursor/>\n}\n</azimuth_window>\n\nfn main() {}\n</file>";
        assert_eq!(prompt(&request, &Parts::of(&request).unwrap()), expected);
    }

    #[test]
    fn the_answer_stands_between_tags_or_is_no_change() {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        for answer in [
            format!("<azimuth_window>\n{NEW}</azimuth_window>"),
            format!("Sure:\n<azimuth_window>\n{NEW}</azimuth_window>\nThere."),
        ] {
            assert_eq!(parse(&answer, &parts).unwrap().as_deref(), Some(NEW));
        }
        for none in ["NO_CHANGE", "", &format!("<azimuth_window>\n{}</azimuth_window>", parts.window)] {
            assert_eq!(parse(none, &parts).unwrap(), None);
        }
        assert!(parse("I would add a line.", &parts).is_err());
    }
}
