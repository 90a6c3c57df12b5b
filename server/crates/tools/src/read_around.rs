//! `read_around`.

use std::fmt::Write;

use async_trait::async_trait;
use code::edit::hashline::{SEPARATOR, Tagged};
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::read_file::MAX_BYTES;
use crate::structure::{Opened, describe, short};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// How many lines before the text are given, and how many after it.
const BEFORE: usize = 12;
const AFTER: usize = 20;
/// How many may be asked for.
const MOST: usize = 200;
/// How much of one line is given, in bytes.
const MAX_LINE_BYTES: usize = 2_000;
/// How many places are told where the text is in several.
const MAX_PLACES: usize = 10;

/// Reads the lines around a text in a file, with their numbers or tags as read_file gives them; the line where the text
/// begins is marked with `>`. Unsaved changes and your own pending edits are included.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The text, as it is in the file.
    anchor: String,
    /// The number of lines before it, at most 200; 12 by default.
    before: Option<usize>,
    /// The number of lines after it, at most 200; 20 by default.
    after: Option<usize>,
    /// The number of the line among several with the text, from 1.
    occurrence: Option<usize>,
}

pub(crate) struct ReadAround {
    services: Services,
}

impl ReadAround {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ReadAround {
    type Input = Input;
    const NAME: &'static str = "read_around";
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let wrong = if input.anchor.trim().is_empty() {
            Some("`anchor` is empty; say a text that stands in the file".to_owned())
        } else if input.occurrence == Some(0) {
            Some("`occurrence` counts from 1".to_owned())
        } else if input.before.max(input.after).is_some_and(|lines| lines > MOST) {
            Some(format!("`before` and `after` can be at most {MOST}; read more with read_file"))
        } else {
            None
        };
        if let Some(words) = wrong {
            return Err(ToolError::InvalidInput(words));
        }
        describe(&self.services, &input.path, |name| format!("Reading {name} around `{}`", input.anchor))
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let lines = matching(&file.text, &input.anchor);
            let (used, line) = chosen(&file, &input, &lines)?;
            file.note_read(&services);
            let tags = services.tags.on().then(|| Tagged::new(&file.text));
            let (total, anchor) = (file.total(), input.anchor.matches('\n').count());
            let first = line.saturating_sub(input.before.unwrap_or(BEFORE)).max(1);
            let last = (line + anchor + input.after.unwrap_or(AFTER)).min(total);
            let head = format!("lines {first}-{last} of {total}");
            let matches = if lines.len() > 1 {
                format!(" (match {used} of {}, at line {line})", lines.len())
            } else {
                format!(" (the only match is at line {line})")
            };
            let text =
                format!("{}, {head}{matches}:\n{}", file.name, numbered(&file, tags.as_ref(), first, last, line));
            Ok(file.output(text, head, Some(line)))
        })
        .await
    }
}

/// The lines, from 1, on which a text begins.
fn matching(text: &str, anchor: &str) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let mut lines = Vec::new();
    for (found, _) in text.match_indices(anchor) {
        line += text.get(at..found).unwrap_or_default().matches('\n').count();
        at = found;
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Which of the lines is meant, as the how manieth and by its number.
fn chosen(file: &Opened, input: &Input, lines: &[usize]) -> Result<(usize, usize), ToolError> {
    let (name, anchor) = (&file.name, short(&input.anchor));
    let several = || {
        let all: Vec<&str> = file.text.lines().collect();
        let mut words = String::new();
        for (at, line) in lines.iter().enumerate().take(MAX_PLACES) {
            let preview = all.get(line - 1).map(|line| short(line.trim())).unwrap_or_default();
            // Writing into a string cannot fail.
            let _ = write!(words, "\n  {}. line {line}: {preview}", at + 1);
        }
        if lines.len() > MAX_PLACES {
            let _ = write!(words, "\n  [{} more]", lines.len() - MAX_PLACES);
        }
        words
    };
    match (lines, input.occurrence) {
        ([], _) => {
            let words = format!("`{anchor}` is not in {name}; find it with search_text");
            Err(ToolError::Failed(words))
        }
        ([one], None) => Ok((1, *one)),
        (_, None) => {
            let count = counted(lines.len(), "line");
            let words = format!("`{anchor}` is on {count} of {name}; say which `occurrence`, or more of the text:");
            Err(ToolError::Failed(words + &several()))
        }
        (_, Some(wanted)) => match lines.get(wanted.wrapping_sub(1)) {
            Some(line) => Ok((wanted, *line)),
            None => {
                let count = counted(lines.len(), "line");
                let words = format!("`{anchor}` is only on {count} of {name}; there is no `occurrence` {wanted}:");
                Err(ToolError::Failed(words + &several()))
            }
        },
    }
}

/// The lines with their numbers or tags, and the mark; where they are too many, those next to it come first.
fn numbered(file: &Opened, tags: Option<&Tagged<'_>>, first: usize, last: usize, marked: usize) -> String {
    let row = |number: usize, line: &str| {
        let mark = if number == marked { '>' } else { ' ' };
        let end = line.floor_char_boundary(MAX_LINE_BYTES);
        let (shown, more) = (line.get(..end).unwrap_or(line), if end < line.len() { "…" } else { "" });
        match tags.and_then(|tags| tags.line(number)) {
            Some((tag, _)) => format!("{mark} {tag}{SEPARATOR}{shown}{more}\n"),
            None => format!("{mark}{number:>6}\t{shown}{more}\n"),
        }
    };
    let lines = file.text.lines().enumerate().skip(first - 1).take(last + 1 - first);
    let rows: Vec<(usize, String)> = lines.map(|(at, line)| (at + 1, row(at + 1, line))).collect();
    let mut by_distance: Vec<_> = rows.iter().collect();
    by_distance.sort_by_key(|(number, _)| number.abs_diff(marked));
    let (mut bytes, mut reach) = (0, 0);
    for (number, row) in by_distance {
        bytes += row.len();
        if bytes > MAX_BYTES {
            break;
        }
        reach = number.abs_diff(marked);
    }
    let kept = rows.iter().filter(|(number, _)| number.abs_diff(marked) <= reach);
    let mut text: String = kept.map(|(_, row)| row.as_str()).collect();
    if rows.iter().any(|(number, _)| number.abs_diff(marked) > reach) {
        text.push_str("[cut off; read the rest with read_file]\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call, unsaved};

    #[tokio::test]
    async fn the_lines_around_a_text_are_read_as_they_are_in_the_editor() {
        let world = World::new(&[("a.txt", "saved\n")]);
        world.open("a.txt", "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\n");
        let input = json!({ "path": "a.txt", "anchor": "three", "before": 1, "after": 1 });
        let output = world.call("read_around", input.clone()).await.unwrap();
        let wanted =
            "a.txt, lines 2-4 of 5 (the only match is at line 3):\n      2\ttwo\n>     3\tthree\n      4\tfour";
        assert_eq!(output.text, unsaved("a.txt") + wanted);
        assert_eq!((output.summary.as_str(), output.locations[0].line), ("lines 2-4 of 5", Some(2)));
        let services = world.services();
        services.tags.set(true);
        let tagged = call(&services, "read_around", input).await.unwrap().text;
        assert!(tagged.contains("\n> 3#") && tagged.contains("|three\n  4#"), "{tagged}");
    }

    #[tokio::test]
    async fn twelve_lines_before_and_twenty_after_are_usual() {
        let lines: String = (1..=100).map(|line| format!("<{line}>\n")).collect();
        let world = World::new(&[("a", &lines)]);
        let text = world.text("read_around", json!({ "path": "a", "anchor": "<50>" })).await;
        assert!(text.starts_with("a, lines 38-70 of 100 (the only match is at line 50):\n"), "{text}");
        assert_eq!(text.lines().count(), 34);
    }

    #[tokio::test]
    async fn several_lines_with_the_text_are_told_and_one_can_be_chosen() {
        let world = World::new(&[("a", "x = 1\ny\n  x = 2, x\n")]);
        let read = |input| world.text("read_around", input);
        let text = read(json!({ "path": "a", "anchor": "x" })).await;
        let wanted = "error: `x` is on 2 lines of a; say which `occurrence`, or more of the text:\n  1. line 1: x = 1\n  2. line 3: x = 2, x";
        assert_eq!(text, wanted);
        let text = read(json!({ "path": "a", "anchor": "x", "occurrence": 2, "before": 0, "after": 0 })).await;
        assert_eq!(text, "a, lines 3-3 of 3 (match 2 of 2, at line 3):\n>     3\t  x = 2, x");
        let text = read(json!({ "path": "a", "anchor": "x", "occurrence": 3 })).await;
        assert!(text.starts_with("error: `x` is only on 2 lines of a; there is no `occurrence` 3:\n  1. "), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_read_says_what_to_do() {
        let world = World::new(&[("a", "x\n")]);
        let read = |input| world.text("read_around", input);
        let text = read(json!({ "path": "a", "anchor": "nowhere" })).await;
        assert_eq!(text, "error: `nowhere` is not in a; find it with search_text");
        assert!(read(json!({ "path": "a", "anchor": "" })).await.contains("`anchor` is empty"));
        assert!(read(json!({ "path": "a", "anchor": "x", "after": 999 })).await.contains("at most 200"));
        assert!(read(json!({ "path": "a", "anchor": "x", "occurrence": 0 })).await.contains("counts from 1"));
    }

    #[tokio::test]
    async fn very_long_lines_do_not_fill_the_context() {
        let long = format!("{}\n", "é".repeat(2_000)).repeat(60);
        let world = World::new(&[("a", &format!("{long}here\n{long}"))]);
        let input = json!({ "path": "a", "anchor": "here", "before": 60, "after": 60 });
        let text = world.text("read_around", input).await;
        assert!(text.len() < 52_000 && text.contains(">    61\there"), "{}", text.len());
        assert!(text.ends_with("[cut off; read the rest with read_file]"));
    }
}
