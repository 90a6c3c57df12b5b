//! `read_file`.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::Path;

use async_trait::async_trait;
use code::edit::hashline::{SEPARATOR, Tagged};
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::files::FileError;
use project::reader::{ReadError, Source};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, blocking, counted, location};

/// How many lines are given at most.
const MAX_LINES: usize = 500;
/// How many bytes of lines are given at most, since dispatch bounds every result
/// (`Limits` of a turn), and lines that go on are better than lines without their middle.
pub(crate) const MAX_BYTES: usize = 48_000;
/// How much of one line is given, in bytes; longer ones are seldom written by people.
const MAX_LINE_BYTES: usize = 2_000;

/// Reads a text file, or some of its lines, as it is in the user's editor, unsaved changes and your own pending edits
/// included. Each line comes after its number and a tab, or after its tag (such as `12#7KQX`) and `|`, which are not
/// part of the file. At most 500 lines or 48 KB are given at once; in a large file read only the lines that you
/// need, which search_text finds. A line longer than 2,000 bytes is given in parts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The first line to read, from 1. Without it reading starts at the beginning.
    start_line: Option<usize>,
    /// The last line to read. Without it, reading continues to the end, or as far as fits.
    end_line: Option<usize>,
    /// The byte in the first line to start at, from 1: for a line that was cut off.
    start_column: Option<usize>,
}

pub(crate) struct ReadFile {
    services: Services,
}

impl ReadFile {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ReadFile {
    type Input = Input;
    const NAME: &'static str = tool_names::READ_FILE;
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let path = self.services.roots.resolve(&input.path)?;
        let name = self.services.roots.display(&path);
        let title = match (input.start_line, input.end_line) {
            (None, None) => format!("Reading {name}"),
            (start, None) => format!("Reading {name} from line {}", start.unwrap_or(1)),
            (start, Some(end)) => format!("Reading lines {}-{end} of {name}", start.unwrap_or(1)),
        };
        let locations = vec![location(&path, input.start_line.and_then(|line| u64::try_from(line).ok()))];
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let path = services.roots.resolve(&input.path)?;
            let name = services.roots.display(&path);
            let file = services.reader.read(&path).map_err(|error| in_words(&services, &path, error, &call))?;
            services.seen.note(&path, Some(file.hash.clone()));
            let wanted =
                Wanted { start_line: input.start_line, end_line: input.end_line, start_column: input.start_column };
            let tags = services.tags.on().then(|| Tagged::new(&file.text));
            let mut part = part(tool_names::READ_FILE, &name, &file.text, tags.as_ref(), &wanted)?;
            if file.source == Source::Pending {
                part.text.insert_str(0, "[with your edits that the user has not decided yet]\n");
            }
            let locations = vec![location(&path, u64::try_from(part.first).ok())];
            Ok(Output { text: part.text, summary: part.summary, locations, ..Output::default() })
        })
        .await
    }
}

/// Which lines are wanted, as the inputs of [`Input`] say it.
pub(crate) struct Wanted {
    pub(crate) start_line: Option<usize>,
    pub(crate) end_line: Option<usize>,
    pub(crate) start_column: Option<usize>,
}

/// Some lines of a text, for a model.
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) summary: String,
    /// The number of the first line.
    first: usize,
}

/// The lines of a text that a call of this tool wants, or as many of them as fit, with their tags or else their
/// numbers.
pub(crate) fn part(
    tool: &str,
    name: &str,
    text: &str,
    tags: Option<&Tagged<'_>>,
    wanted: &Wanted,
) -> Result<Part, ToolError> {
    let (first, end) = lines(wanted.start_line, wanted.end_line)?.into_inner();
    let column = wanted.start_column.unwrap_or(1);
    if column == 0 {
        return Err(ToolError::InvalidInput("`start_column` counts from 1".to_owned()));
    }
    let total = text.split_terminator('\n').count();
    if total == 0 {
        return Ok(Part { text: format!("{name} is empty."), summary: "empty".to_owned(), first });
    }
    if first > total {
        let words = format!("{name} has only {}; `start_line` {first} is past its end", counted(total, "line"));
        return Err(ToolError::InvalidInput(words));
    }
    let wanted = end.min(total);
    let mut out = String::new();
    let mut last = first - 1;
    for line in text.split_terminator('\n').skip(first - 1).take((wanted - last).min(MAX_LINES)) {
        if out.len() + line.len().min(MAX_LINE_BYTES) > MAX_BYTES {
            break;
        }
        last += 1;
        let from = if last == first { column - 1 } else { 0 };
        if from > 0 && from >= line.len() {
            let words = format!("line {first} of {name} has only {}", counted(line.len(), "byte"));
            return Err(ToolError::InvalidInput(format!("{words}; `start_column` {column} is past its end")));
        }
        let from = line.floor_char_boundary(from);
        let to = line.floor_char_boundary(from + MAX_LINE_BYTES);
        let (before, shown) = (if from > 0 { "…" } else { "" }, line.get(from..to).unwrap_or(line));
        // Writing into a string cannot fail.
        let _ = match tags.and_then(|tags| tags.line(last)) {
            Some((tag, _)) => write!(out, "{tag}{SEPARATOR}{before}{shown}"),
            None => write!(out, "{last:>6}\t{before}{shown}"),
        };
        if to < line.len() {
            let (more, next) = (counted(line.len() - to, "more byte"), to + 1);
            let _ = write!(out, "… [this line has {more}; read on with start_line {last} and start_column {next}]");
        }
        out.push('\n');
    }
    let head = match (first, last) {
        (1, last) if last == total => format!("{name} ({}):\n", counted(total, "line")),
        _ => format!("{name}, lines {first}-{last} of {total}:\n"),
    };
    if last < wanted {
        let _ = write!(out, "[cut off; to read on, call {tool} with start_line {}]", last + 1);
    } else if last < total {
        let _ = write!(out, "[{} more]", counted(total - last, "line"));
    }
    let summary = match (first, last) {
        (1, last) if last == total => counted(total, "line"),
        _ => format!("lines {first}-{last} of {total}"),
    };
    Ok(Part { text: head + out.trim_end_matches('\n'), summary, first })
}

/// The lines from one to another, both of them counted from 1.
pub(crate) fn lines(start: Option<usize>, end: Option<usize>) -> Result<RangeInclusive<usize>, ToolError> {
    let (first, last) = (start.unwrap_or(1), end.unwrap_or(usize::MAX));
    if first == 0 {
        return Err(ToolError::InvalidInput("`start_line` counts from 1".to_owned()));
    }
    if last < first {
        return Err(ToolError::InvalidInput("`end_line` is before `start_line`".to_owned()));
    }
    Ok(first..=last)
}

/// Why a file cannot be read, with what to do.
pub(crate) fn in_words(services: &Services, path: &Path, error: ReadError, call: &Call) -> ToolError {
    let name = services.roots.display(path);
    match error {
        ReadError::File(FileError::NotFound { .. }) => {
            let near = services.search.near(path, &call.cancel).unwrap_or_default();
            let near: Vec<_> = near.iter().map(|path| services.roots.display(path)).collect();
            let hint = match near.as_slice() {
                [] => "find files by name with find_files".to_owned(),
                near => format!("did you mean {}?", near.join(" or ")),
            };
            ToolError::Failed(format!("{name} does not exist; {hint}"))
        }
        ReadError::File(FileError::NotAFile { what: "a folder", .. }) => {
            ToolError::Failed(format!("{name} is a folder; see what is in it with list_files"))
        }
        ReadError::File(FileError::TooLarge { size, .. }) => {
            ToolError::Failed(format!("{name} is too large to be read ({size} bytes); search in it with search_text"))
        }
        other => ToolError::Failed(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use project::reader::{Overlay, Pending};
    use serde_json::json;

    use crate::fixture::{World, call, unsaved};

    #[tokio::test]
    async fn lines_come_with_tags_where_edits_name_lines_by_them() {
        let world = World::new(&[("a.rs", "fn a() {\n    x();\n}\n"), ("min.js", &"x".repeat(2_001))]);
        let services = world.services();
        services.tags.set(true);
        let read = |input| call(&services, "read_file", input);
        let text = read(json!({ "path": "a.rs" })).await.unwrap().text;
        assert_eq!(text, "a.rs (3 lines):\n1#8P51|fn a() {\n2#AAC7|    x();\n3#3MNX|}");
        let part = read(json!({ "path": "a.rs", "start_line": 3 })).await.unwrap().text;
        assert_eq!(part, "a.rs, lines 3-3 of 3:\n3#3MNX|}", "a tag is that of the whole text, however much is read");
        let long = read(json!({ "path": "min.js", "start_column": 2_001 })).await.unwrap().text;
        assert!(long.ends_with("|…x") && long.contains("\n1#"), "{long}");
    }

    #[tokio::test]
    async fn a_small_file_comes_whole_with_line_numbers() {
        let world = World::new(&[("src/a.rs", "one\n\tdeux é\n")]);
        let output = world.call("read_file", json!({ "path": "src/a.rs" })).await.unwrap();
        assert_eq!(output.text, "src/a.rs (2 lines):\n     1\tone\n     2\t\tdeux é");
        assert_eq!(output.summary, "2 lines");
        assert_eq!(output.locations[0].line, Some(0));
    }

    #[tokio::test]
    async fn some_lines_say_how_many_there_are() {
        let world = World::new(&[("a", "1\n2\n3\n4\n5")]);
        let read = |input| world.text("read_file", input);
        let middle = read(json!({ "path": "a", "start_line": 2, "end_line": 3 })).await;
        assert_eq!(middle, "a, lines 2-3 of 5:\n     2\t2\n     3\t3\n[2 lines more]");
        let last = read(json!({ "path": "a", "start_line": 5, "end_line": 99 })).await;
        assert_eq!(last, "a, lines 5-5 of 5:\n     5\t5");
    }

    #[tokio::test]
    async fn a_long_file_is_cut_off_and_says_how_to_read_on() {
        let lines: String = (1..=1200).map(|number| format!("line {number}\n")).collect();
        let world = World::new(&[("a", &lines)]);
        let text = world.text("read_file", json!({ "path": "a" })).await;
        assert!(text.starts_with("a, lines 1-500 of 1200:\n"), "{text}");
        assert!(
            text.ends_with("   500\tline 500\n[cut off; to read on, call read_file with start_line 501]"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn very_long_lines_do_not_fill_the_context() {
        let world =
            World::new(&[("min.js", &"é".repeat(5_000)), ("wide", &format!("{}\n", "x".repeat(1_900)).repeat(100))]);
        let text = world.text("read_file", json!({ "path": "min.js" })).await;
        let more = "é… [this line has 8000 more bytes; read on with start_line 1 and start_column 2001]";
        assert!(text.ends_with(more), "{}", text.len());
        let text = world.text("read_file", json!({ "path": "wide" })).await;
        assert!(text.len() < 49_000, "{}", text.len());
        assert!(
            text.ends_with("[cut off; to read on, call read_file with start_line 26]"),
            "{}",
            &text[text.len() - 80..]
        );
    }

    #[tokio::test]
    async fn a_very_long_line_can_be_read_to_its_end() {
        let line: String = (0..1_500).map(|number| format!("{number} é ")).collect();
        let world = World::new(&[("min.js", &format!("short\n{line}\nnext\n"))]);
        let (mut read, mut column) = (String::new(), Some(1));
        while let Some(from) = column {
            let input = json!({ "path": "min.js", "start_line": 2, "end_line": 2, "start_column": from });
            let text = world.text("read_file", input).await;
            let shown = text.lines().nth(1).unwrap().strip_prefix("     2\t").unwrap();
            let shown = shown.strip_prefix('…').unwrap_or(shown);
            let (part, rest) = shown.split_once('…').unwrap_or((shown, ""));
            read.push_str(part);
            let next = rest.strip_suffix(']').and_then(|rest| rest.rsplit(' ').next());
            column = next.map(|next| next.parse::<usize>().unwrap());
        }
        assert_eq!(read, line);
        let past = json!({ "path": "min.js", "start_line": 1, "start_column": 6 });
        assert_eq!(
            world.text("read_file", past).await,
            "error: invalid input: line 1 of min.js has only 5 bytes; `start_column` 6 is past its end"
        );
        let zero = world.text("read_file", json!({ "path": "min.js", "start_column": 0 })).await;
        assert_eq!(zero, "error: invalid input: `start_column` counts from 1");
    }

    #[tokio::test]
    async fn unsaved_text_is_what_is_read() {
        let world = World::new(&[("a", "saved")]);
        world.open("a", "unsaved\r\n");
        let text = world.text("read_file", json!({ "path": "a" })).await;
        assert_eq!(text, unsaved("a") + "a (1 line):\n     1\tunsaved");
    }

    #[tokio::test]
    async fn pending_edits_are_read_and_said() {
        struct Proposes;
        impl Overlay for Proposes {
            fn pending(&self, path: &std::path::Path) -> Option<Pending> {
                path.ends_with("a").then(|| Pending::Text("proposed".into()))
            }
            fn paths(&self) -> Vec<PathBuf> {
                Vec::new()
            }
        }
        let world = World::new(&[("a", "saved")]);
        let output = call(&world.services_with(Proposes), "read_file", json!({ "path": "a" })).await.unwrap();
        assert_eq!(output.text, "[with your edits that the user has not decided yet]\na (1 line):\n     1\tproposed");
    }

    #[tokio::test]
    async fn what_cannot_be_read_says_what_to_do() {
        let world = World::new(&[("src/main.rs", "x"), ("bin", "\0"), ("empty", "")]);
        let read = |input| world.text("read_file", input);
        assert_eq!(
            read(json!({ "path": "src/mian.rs" })).await,
            "error: src/mian.rs does not exist; did you mean src/main.rs?"
        );
        assert_eq!(
            read(json!({ "path": "main.rs" })).await,
            "error: main.rs does not exist; did you mean src/main.rs?"
        );
        assert_eq!(
            read(json!({ "path": "nothing_like_it.py" })).await,
            "error: nothing_like_it.py does not exist; find files by name with find_files"
        );
        assert_eq!(read(json!({ "path": "src" })).await, "error: src is a folder; see what is in it with list_files");
        assert!(read(json!({ "path": "bin" })).await.ends_with("it is a binary file"));
        assert!(read(json!({ "path": "../x" })).await.contains("is outside the workspace"));
        assert_eq!(read(json!({ "path": "empty" })).await, "empty is empty.");
        assert_eq!(
            read(json!({ "path": "src/main.rs", "start_line": 7 })).await,
            "error: invalid input: src/main.rs has only 1 line; `start_line` 7 is past its end"
        );
        assert!(read(json!({ "path": "src/main.rs", "start_line": 0 })).await.contains("counts from 1"));
        assert_eq!(
            read(json!({ "path": "src/main.rs", "start_line": 3, "end_line": 2 })).await,
            "error: invalid input: `end_line` is before `start_line`"
        );
    }
}
