//! The parts of a request for the next edit, and the new text of its window.

use ports::complete::NextEdit;

use crate::failure::Fault;

/// An answer may be this many times as long as the window, and so many bytes longer. What is longer is not the window.
const LONGER: usize = 4;
const LONGER_BY: usize = 8 * 1024;

/// Marks of models' languages that stand in no code. With one of them an answer is not the text of a window.
pub(crate) const FOREIGN: &[&str] = &[
    "<|fim_",
    "<|im_start|>",
    "<|im_end|>",
    "<|endoftext|>",
    "<|file_sep|>",
    "<|editable_region",
    "<|user_cursor",
    "<|marker_",
    "<|code_to_edit",
    "<|/code_to_edit",
    "<[fim-",
    "<<<<<<< CURRENT",
    "\n<filename>",
];

/// The parts of an excerpt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts<'a> {
    /// The text before the window.
    pub(crate) before: &'a str,
    /// The text of the window.
    pub(crate) window: &'a str,
    /// The window's text before the cursor.
    pub(crate) head: &'a str,
    /// The window's text after the cursor.
    pub(crate) tail: &'a str,
    /// The text after the window.
    pub(crate) after: &'a str,
    /// The line of the file at which the window begins, from 0.
    pub(crate) first_line: usize,
}

impl<'a> Parts<'a> {
    /// The parts of this request; none if its window or its cursor is not in the excerpt.
    pub(crate) fn of(request: &'a NextEdit) -> Option<Self> {
        let (text, window) = (request.excerpt.as_str(), request.window.clone());
        let before = text.get(..window.start)?;
        Some(Self {
            before,
            window: text.get(window.clone())?,
            head: text.get(window.start..request.cursor)?,
            tail: text.get(request.cursor..window.end)?,
            after: text.get(window.end..)?,
            first_line: request.excerpt_line + before.matches('\n').count(),
        })
    }

    /// The window with a mark at the cursor.
    pub(crate) fn marked(&self, cursor: &str) -> String {
        format!("{}{cursor}{}", self.head, self.tail)
    }

    /// The part of the window before the cursor's line.
    pub(crate) fn before_line(&self) -> &'a str {
        self.head.rfind('\n').and_then(|at| self.head.get(..=at)).unwrap_or_default()
    }

    /// The number of lines in the window.
    pub(crate) fn lines(&self) -> usize {
        self.window.lines().count().max(1)
    }

    /// The new text of the window as a model wrote it, with the line end that the window has; none if it changes
    /// nothing. A mark of a model's language in it makes it garbage.
    pub(crate) fn settled(&self, text: &str) -> Result<Option<String>, Fault> {
        if let Some(mark) = FOREIGN.iter().find(|mark| text.contains(**mark)) {
            return Err(Fault::Garbage(format!("`{}` within the new text", mark.trim())));
        }
        if text.len() > LONGER * self.window.len() + LONGER_BY {
            return Err(Fault::Garbage(format!("{} bytes for a window of {}", text.len(), self.window.len())));
        }
        let text = text.replace("\r\n", "\n");
        let content = text.trim_end_matches('\n');
        let (ends, own) = (text.len() - content.len(), self.window.len() - self.window.trim_end_matches('\n').len());
        let ends = if own == 0 { 0 } else { ends.clamp(1, own) };
        let settled = format!("{content}{}", "\n".repeat(ends));
        // A model that has nothing to say says nothing; it does not mean to empty the window.
        let says_nothing = settled.trim().is_empty() || settled.trim_end() == self.window.trim_end();
        Ok((!says_nothing).then_some(settled))
    }
}

/// A text that ends with a line end, if it is not empty.
pub(crate) fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::time::Duration;

    use ports::complete::{Edited, Excerpt, NextEdit};

    /// A request whose window is two lines within six, with one edit and one other file.
    pub(crate) fn request() -> NextEdit {
        let excerpt = "use std::fmt;\n\nfn area(w: u32, h: u32) -> u32 {\n    w * \n}\n\nfn main() {}\n";
        let start = excerpt.find("fn area").unwrap();
        let end = excerpt.find("}\n\nfn main").unwrap() + 2;
        NextEdit {
            path: "src/a.rs".into(),
            language: "rust".into(),
            excerpt: excerpt.into(),
            excerpt_line: 0,
            window: start..end,
            cursor: excerpt.find("w * \n").unwrap() + 4,
            history: vec![Edited {
                path: "src/a.rs".into(),
                line: 2,
                before: "fn area(w: u32) -> u32 {\n".into(),
                after: "fn area(w: u32, h: u32) -> u32 {\n".into(),
            }],
            related: vec![Excerpt { path: "src/b.rs".into(), text: "fn b() {}\n".into() }],
            problems: vec![(3, "expected expression".into())],
            deadline: Duration::from_secs(1),
        }
    }

    /// The new text of its window.
    pub(crate) const NEW: &str = "fn area(w: u32, h: u32) -> u32 {\n    w * h\n}\n";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_or_a_cursor_that_is_not_in_the_excerpt_is_no_request() {
        let request = testing::request();
        let parts = Parts::of(&request).unwrap();
        assert_eq!((parts.first_line, parts.lines()), (2, 3));
        assert_eq!(parts.before_line(), "fn area(w: u32, h: u32) -> u32 {\n");
        assert!(Parts::of(&NextEdit { cursor: 0, ..request.clone() }).is_none());
        assert!(Parts::of(&NextEdit { window: 0..9_999, ..request.clone() }).is_none());
        let umlaut = NextEdit { excerpt: "ä\n".into(), window: 0..3, cursor: 1, ..request };
        assert!(Parts::of(&umlaut).is_none());
    }

    #[test]
    fn a_new_text_has_the_line_end_of_its_window_and_no_change_is_none() {
        let request = testing::request();
        let parts = Parts::of(&request).unwrap();
        let settled = |text: &str| parts.settled(text);
        assert_eq!(settled("a\nb").unwrap().as_deref(), Some("a\nb\n"));
        assert_eq!(settled("a\r\nb\n\n\n").unwrap().as_deref(), Some("a\nb\n"));
        assert_eq!(settled("a <|> b").unwrap().as_deref(), Some("a <|> b\n"), "an operator of Haskell");
        for same in [parts.window, parts.window.trim_end(), "", "\n \n"] {
            assert_eq!(settled(same).unwrap(), None);
        }
        assert!(settled("a <|fim_pad|> b").is_err() && settled(&"x".repeat(20_000)).is_err());
    }
}
