//! `expand_output`.

use std::fmt::Write;
use std::ops::RangeInclusive;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::read_file::{self, Wanted};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// How many lines with the text looked for are given at most.
const MAX_MATCHES: usize = 100;
/// How much of a line with it is given, in bytes.
const MAX_MATCH_BYTES: usize = 300;

/// Reads more of an earlier result that was too long, such as a command's output. The result has the handle. Each line
/// comes after its number and a tab. At most 500 lines or 48 KB are given at once: look with `query` first, then read
/// the lines around what you find.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The handle, as given in the result.
    handle: String,
    /// Only lines with this text, ignoring case, at most 100.
    query: Option<String>,
    /// The first line to read, from 1. Without it reading starts at the beginning.
    start_line: Option<usize>,
    /// The last line to read. Without it, reading continues to the end, or as far as fits.
    end_line: Option<usize>,
    /// The byte in the first line to start at, from 1: for a line that was cut off.
    start_column: Option<usize>,
}

pub(crate) struct ExpandOutput {
    services: Services,
}

impl ExpandOutput {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

/// Says how a model reads a long result that is kept under a handle, all of it or all but a part.
pub fn how_to_read(handle: &str, but: Option<&str>) -> String {
    let kept = but.map_or_else(|| "all of it".to_owned(), |but| format!("all but {but}"));
    format!("{kept} is kept, and {} reads it by the handle `{handle}`", ExpandOutput::NAME)
}

#[async_trait]
impl Typed for ExpandOutput {
    type Input = Input;
    const NAME: &'static str = "expand_output";
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let title = match &input.query {
            Some(text) => format!("Looking for {text} in a long result"),
            None => format!("Reading a long result from line {}", input.start_line.unwrap_or(1)),
        };
        Ok(Description { title, locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, input: Input) -> Result<Output, ToolError> {
        let results = self.services.results.clone();
        blocking(move || {
            let failed = |words: String| ToolError::Failed(words);
            let Input { handle, query, start_line, end_line, start_column } = input;
            let kept = results.get(&handle).map_err(|error| failed(format!("the result cannot be read: {error}")))?;
            let text = kept.ok_or_else(|| {
                failed(format!(
                    "no result is kept under `{handle}`; old ones make room for new ones. Do again what gave it"
                ))
            })?;
            let (text, summary) = match query {
                Some(wanted) => matching(&text, &wanted, read_file::lines(start_line, end_line)?),
                None => {
                    let wanted = Wanted { start_line, end_line, start_column };
                    let part = read_file::part(Self::NAME, "the result", &text, None, &wanted)?;
                    (part.text, part.summary)
                }
            };
            Ok(Output { text, summary, ..Output::default() })
        })
        .await
    }
}

/// The lines with a text, of these lines, and what they are in a few words.
fn matching(text: &str, wanted: &str, range: RangeInclusive<usize>) -> (String, String) {
    let lower = wanted.to_lowercase();
    let lines = (1..).zip(text.split_terminator('\n')).filter(|(number, _)| range.contains(number));
    let mut out = String::new();
    let mut found = 0;
    for (number, line) in lines.filter(|(_, line)| line.to_lowercase().contains(&lower)) {
        found += 1;
        if found <= MAX_MATCHES {
            let end = line.floor_char_boundary(MAX_MATCH_BYTES);
            let (shown, more) = (line.get(..end).unwrap_or(line), if end < line.len() { "…" } else { "" });
            // Writing into a string cannot fail.
            let _ = writeln!(out, "{number:>6}\t{shown}{more}");
        }
    }
    if found == 0 {
        let of_them = match (*range.start(), *range.end()) {
            (1, usize::MAX) => String::new(),
            (first, usize::MAX) => format!(" from line {first} on"),
            (first, last) => format!(" of lines {first}-{last}"),
        };
        let _ = write!(out, "No line{of_them} has `{wanted}` in it.");
    } else if found > MAX_MATCHES {
        let _ = write!(out, "[the first {MAX_MATCHES} of {found} lines; go on with a later start_line]");
    }
    let summary = if found == 0 { "no lines".to_owned() } else { counted(found, "line") };
    (out.trim_end_matches('\n').to_owned(), summary)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn a_long_result_is_read_in_parts_and_looked_through() {
        let world = World::new(&[]);
        let services = world.services();
        let log: String =
            (1..=2000).map(|n| format!("{} {n}\n", if n % 1000 == 0 { "Error" } else { "step" })).collect();
        let handle = services.results.keep(&log).unwrap();
        let read = |input| {
            let services = services.clone();
            async move { call(&services, "expand_output", input).await.unwrap() }
        };

        let found = read(json!({ "handle": handle, "query": "ERROR" })).await;
        assert_eq!(
            (found.text.as_str(), found.summary.as_str()),
            ("  1000\tError 1000\n  2000\tError 2000", "2 lines")
        );
        let found = read(json!({ "handle": handle, "query": "error", "start_line": 1001 })).await;
        assert_eq!(found.text, "  2000\tError 2000");
        let none = read(json!({ "handle": handle, "query": "error", "start_line": 2, "end_line": 999 })).await;
        assert_eq!(none.text, "No line of lines 2-999 has `error` in it.");
        let wrong = json!({ "handle": handle, "query": "error", "start_line": 2, "end_line": 1 });
        let wrong = call(&services, "expand_output", wrong).await.unwrap_err().to_string();
        assert!(wrong.contains("`end_line` is before `start_line`"), "{wrong}");
        let none = read(json!({ "handle": handle, "query": "panic" })).await;
        assert_eq!((none.text.as_str(), none.summary.as_str()), ("No line has `panic` in it.", "no lines"));
        let many = read(json!({ "handle": handle, "query": "step" })).await;
        assert!(many.text.ends_with("\n[the first 100 of 1998 lines; go on with a later start_line]"), "{}", many.text);

        let around = read(json!({ "handle": handle, "start_line": 999, "end_line": 1001 })).await;
        let lines = "   999\tstep 999\n  1000\tError 1000\n  1001\tstep 1001\n";
        assert_eq!(around.text, format!("the result, lines 999-1001 of 2000:\n{lines}[999 lines more]"));
        let begin = read(json!({ "handle": handle })).await;
        assert!(begin.text.ends_with("[cut off; to read on, call expand_output with start_line 501]"));
    }

    #[tokio::test]
    async fn a_result_is_no_file_and_its_lines_have_no_tags() {
        let world = World::new(&[]);
        let services = world.services();
        services.tags.set(true);
        let handle = services.results.keep("one\ntwo\n").unwrap();
        let text = call(&services, "expand_output", json!({ "handle": handle })).await.unwrap().text;
        assert_eq!(text, "the result (2 lines):\n     1\tone\n     2\ttwo");
        let found = json!({ "handle": handle, "query": "two" });
        assert_eq!(call(&services, "expand_output", found).await.unwrap().text, "     2\ttwo");
    }

    #[tokio::test]
    async fn a_result_that_is_not_kept_says_what_to_do() {
        let world = World::new(&[("secret", "x")]);
        for handle in ["0123456789ab", "../secret"] {
            let text = world.text("expand_output", json!({ "handle": handle })).await;
            assert_eq!(
                text,
                format!(
                    "error: no result is kept under `{handle}`; old ones make room for new ones. Do again what gave it"
                )
            );
        }
    }

    #[tokio::test]
    async fn all_that_a_command_printed_can_be_read() {
        let world = World::new(&[]);
        let services = world.services();
        let output = call(&services, "shell_run", json!({ "command": "seq 100000" })).await.unwrap();
        assert!(output.text.len() < 40_000 && output.text.contains("bytes left out here"), "{}", output.text.len());
        let (_, rest) = output.text.split_once("reads it by the handle `").unwrap();
        let (handle, _) = rest.split_once('`').unwrap();
        let input = json!({ "handle": handle, "start_line": 50_000, "end_line": 50_000 });
        let text = call(&services, "expand_output", input).await.unwrap().text;
        assert!(text.contains("50000\n[50000 lines more]"), "{text}");
    }
}
