//! `search_text`.

use std::fmt::Write;

use async_trait::async_trait;
use code::edit::hashline::{Tag, Tagged};
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::search::{Found, Line, LineKind, Scope, TextQuery};
use protocol::content::{Location, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, blocking, counted, location, not_searched};

/// How many matching lines are given unless told.
const DEFAULT_LIMIT: usize = 50;
/// How many matching lines are given at most.
const MAX_LIMIT: usize = 200;
/// How many lines around each match are given at most.
const MAX_CONTEXT: usize = 5;
/// How large a result becomes at most, in bytes.
const MAX_BYTES: usize = 50_000;
/// How many files with matches an editor is told of.
const MAX_LOCATIONS: usize = 20;

/// Searches the texts of the project's files, as they are in the user's editor, line by line. Gives `path:line: text`
/// for each line that matches, and `path-line- text` for lines around it, where `line` is the line's number or its tag
/// (such as `12#7KQX`); a line that is not shown whole has no tag. Files that git ignores and binary files are left
/// out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to search for. It cannot span lines.
    query: String,
    /// Whether `query` is a regular expression (Rust syntax: no lookaround, no backreferences). Without it `query` is
    /// searched for as it stands.
    regex: Option<bool>,
    /// Whether upper and lower case are the same.
    ignore_case: Option<bool>,
    /// Only in this folder or file, relative to the workspace or absolute.
    path: Option<String>,
    /// Only in files that fit this glob pattern: `*.rs` for names, `src/**/*.ts` for paths.
    glob: Option<String>,
    /// Only from this line of a file on, from 1.
    start_line: Option<u64>,
    /// Only up to this line of a file.
    end_line: Option<u64>,
    /// How many lines around each match to give, 0 to 5.
    context_lines: Option<usize>,
    /// How many matching lines to give at most: 50 unless told, never more than 200.
    limit: Option<usize>,
}

pub(crate) struct SearchText {
    services: Services,
}

impl SearchText {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn query(&self, input: &Input) -> Result<TextQuery, ToolError> {
        let (start, end) = (input.start_line.unwrap_or(1), input.end_line.unwrap_or(u64::MAX));
        if start == 0 || end < start {
            let words = "`start_line` counts from 1 and is not after `end_line`";
            return Err(ToolError::InvalidInput(words.to_owned()));
        }
        let path = input.path.as_deref().map(|path| self.services.roots.resolve(path)).transpose()?;
        Ok(TextQuery {
            pattern: input.query.clone(),
            regex: input.regex.unwrap_or_default(),
            ignore_case: input.ignore_case.unwrap_or_default(),
            scope: Scope { path, glob: input.glob.clone() },
            lines: (input.start_line.is_some() || input.end_line.is_some()).then_some(start..=end),
            context: input.context_lines.unwrap_or_default().min(MAX_CONTEXT),
            limit: input.limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT),
        })
    }
}

#[async_trait]
impl Typed for SearchText {
    type Input = Input;
    const NAME: &'static str = tool_names::SEARCH_TEXT;
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let query = self.query(input)?;
        let within = query.scope.path.as_deref().map(|path| self.services.roots.display(path));
        let within = within.or(query.scope.glob).map(|within| format!(" in {within}")).unwrap_or_default();
        let title = format!("Searching for `{}`{within}", query.pattern);
        let locations = query.scope.path.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let query = self.query(&input)?;
        let services = self.services.clone();
        blocking(move || {
            let found = services.search.text(&query, &call.cancel)?;
            Ok(output(&services, &query, &found))
        })
        .await
    }
}

fn output(services: &Services, query: &TextQuery, found: &Found) -> Output {
    let mut text = String::new();
    let mut given = 0;
    'all: for file in &found.files {
        let name = services.roots.display(&file.path);
        let read = if services.tags.on() { services.reader.read(&file.path).ok() } else { None };
        let tags = read.as_ref().map(|read| Tagged::new(&read.text));
        let mut last = None;
        for line in &file.lines {
            // A gap between lines of one file, or between files, as grep shows it.
            if query.context > 0 && !text.is_empty() && last.is_none_or(|last| last + 1 != line.number) {
                text.push_str("--\n");
            }
            last = Some(line.number);
            let mark = if line.kind == LineKind::Context { '-' } else { ':' };
            // Writing into a string cannot fail.
            let _ = match tags.as_ref().and_then(|tags| tag(tags, line)) {
                Some(tag) => writeln!(text, "{name}{mark}{tag}{mark} {}", line.text),
                None => writeln!(text, "{name}{mark}{}{mark} {}", line.number, line.text),
            };
            given += usize::from(line.kind != LineKind::Context);
            if text.len() > MAX_BYTES {
                break 'all;
            }
        }
    }
    let total = usize::try_from(found.total_matches).unwrap_or(usize::MAX);
    if total == 0 {
        let of = if query.regex { "regular expression" } else { "text" };
        let _ = writeln!(text, "No line matches the {of} `{}`.", query.pattern);
    }
    if given < total {
        let all = format!("{} in {}", counted(total, "match"), counted(found.total_files, "file"));
        let _ = writeln!(text, "[the first {given} of {all}; narrow the query, `path` or `glob`]");
    }
    for words in not_searched(found.unreadable, found.left_out) {
        let _ = writeln!(text, "{words}");
    }
    let summary = match total {
        0 => "no matches".to_owned(),
        total => format!("{} in {}", counted(total, "match"), counted(found.total_files, "file")),
    };
    let text = text.trim_end_matches('\n').to_owned();
    Output { text, summary, locations: locations(found), ..Output::default() }
}

/// The tag of a line that is shown whole. Without one it cannot be taken for seen: some of it was cut off, or the file
/// has changed since it was searched.
fn tag(tags: &Tagged<'_>, line: &Line) -> Option<Tag> {
    let (tag, text) = tags.line(usize::try_from(line.number).ok()?)?;
    (text == line.text).then_some(tag)
}

/// The first match of each file.
fn locations(found: &Found) -> Vec<Location> {
    let first = |file: &project::search::FileMatches| {
        let line = file.lines.iter().find(|line| line.kind != LineKind::Context);
        location(&file.path, line.map(|line| line.number))
    };
    found.files.iter().take(MAX_LOCATIONS).map(first).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn matches_come_as_path_line_and_text() {
        let world = World::new(&[("src/a.rs", "fn one() {}\n  fn two() {}\n"), ("b.md", "no\nfn\n")]);
        let output = world.call("search_text", json!({ "query": "fn" })).await.unwrap();
        assert_eq!(output.text, "b.md:2: fn\nsrc/a.rs:1: fn one() {}\nsrc/a.rs:2:   fn two() {}");
        assert_eq!(output.summary, "3 matches in 2 files");
        assert_eq!(output.locations.iter().map(|place| place.line).collect::<Vec<_>>(), [Some(1), Some(0)]);
    }

    #[tokio::test]
    async fn a_search_can_be_narrowed() {
        let world = World::new(&[("src/a.rs", "x\nX\nx y\n"), ("src/b.md", "x"), ("c.rs", "x")]);
        let search = |input| world.text("search_text", input);
        assert_eq!(search(json!({ "query": "x", "path": "src", "glob": "*.md" })).await, "src/b.md:1: x");
        assert_eq!(search(json!({ "query": "x", "path": "src/a.rs", "start_line": 2 })).await, "src/a.rs:3: x y");
        assert_eq!(
            search(json!({ "query": "^X$", "path": "src/a.rs", "regex": true, "ignore_case": true })).await,
            "src/a.rs:1: x\nsrc/a.rs:2: X"
        );
    }

    #[tokio::test]
    async fn lines_around_a_match_are_marked_and_gaps_shown() {
        let world = World::new(&[("a", "1\nx2\n3\n4\n5\nx6\n")]);
        assert_eq!(
            world.text("search_text", json!({ "query": "x", "context_lines": 1 })).await,
            "a-1- 1\na:2: x2\na-3- 3\n--\na-5- 5\na:6: x6"
        );
    }

    #[tokio::test]
    async fn lines_are_found_with_the_tags_that_reading_gives_them() {
        let long = format!("{}\nfn short\n", "fn ".repeat(200));
        let world = World::new(&[("a", "1\nfn a\n}\n"), ("bom.rs", "\u{feff}fn b\r\n}\r\n}\r\n"), ("min.js", &long)]);
        world.open("a", "0\nunsaved\nfn a\n}\n");
        let services = world.services();
        services.tags.set(true);
        let search = |input| call(&services, "search_text", input);
        let found = search(json!({ "query": "fn", "context_lines": 1 })).await.unwrap().text;
        let mut lines = 0;
        for path in ["a", "bom.rs"] {
            let read = call(&services, "read_file", json!({ "path": path })).await.unwrap().text;
            let of_text = |line: &&str| !line.starts_with('[') && !line.ends_with(":");
            for line in read.lines().filter(of_text) {
                let (tag, line) = line.split_once('|').unwrap();
                lines += usize::from(
                    [":", "-"].iter().any(|mark| found.contains(&format!("{path}{mark}{tag}{mark} {line}\n"))),
                );
            }
        }
        assert_eq!(lines, 3 + 2, "{found}");
        assert!(found.contains("min.js:1: fn fn"), "a line that is cut off has no tag: {found}");
        assert!(found.contains("min.js:2#"), "{found}");
    }

    #[tokio::test]
    async fn more_than_the_limit_is_counted_and_said() {
        let world = World::new(&[("a", &"x\n".repeat(60)), ("b", "x")]);
        let text = world.text("search_text", json!({ "query": "x" })).await;
        assert!(
            text.ends_with("a:50: x\n[the first 50 of 61 matches in 2 files; narrow the query, `path` or `glob`]"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn a_result_stays_small_whatever_is_found() {
        let world = World::new(&[("a", &format!("{}\n", "x".repeat(490)).repeat(2000))]);
        let text = world.text("search_text", json!({ "query": "x", "limit": 200, "context_lines": 5 })).await;
        assert!(text.len() < 51_000, "{}", text.len());
        assert!(text.contains(" of 2000 matches in 1 file; narrow"), "{}", &text[text.len() - 100..]);
    }

    #[tokio::test]
    async fn permission_judges_the_path_that_is_searched() {
        let world = World::new(&[(".env", "x"), ("src/a.rs", "x")]);
        for tool in crate::builtin(&world.services()) {
            let (searched, input) = match tool.spec().name.as_str() {
                "search_text" => (".env", json!({ "query": "x", "path": ".env" })),
                "find_files" => ("src", json!({ "pattern": "*", "path": "src" })),
                "list_files" => ("src", json!({ "path": "src" })),
                _ => continue,
            };
            let locations = tool.describe(&input).await.unwrap().locations;
            assert_eq!(locations, [crate::location(&world.path(searched), None)], "{}", tool.spec().name);
        }
    }

    #[tokio::test]
    async fn what_the_users_rules_keep_from_the_model_is_not_searched() {
        let world = World::new(&[("sub/.env", "secret=1"), ("a.rs", "secret")]);
        let services = world.services_showing(|path| !path.ends_with(".env"));
        let text = call(&services, "search_text", json!({ "query": "secret" })).await.unwrap().text;
        assert_eq!(
            text,
            "a.rs:1: secret\n[1 file left out by permission: the user's rules, or a name that usually means keys]"
        );
    }

    #[tokio::test]
    async fn nothing_found_and_bad_queries_are_said_in_words() {
        let world = World::new(&[("a", "x")]);
        let search = |input| world.text("search_text", input);
        assert_eq!(search(json!({ "query": "y" })).await, "No line matches the text `y`.");
        assert!(
            search(json!({ "query": "(", "regex": true })).await.starts_with("error: invalid input: `(` cannot be")
        );
        assert!(search(json!({ "query": "x", "start_line": 3, "end_line": 2 })).await.contains("is not after"));
        assert!(search(json!({ "query": "x", "path": "~/x" })).await.contains("`~` is not expanded"));
    }
}
