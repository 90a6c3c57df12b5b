//! `search_structural`.

use std::fmt::Write;
use std::path::Path;

use async_trait::async_trait;
use code::syntax::{Language, Match, Parsed, Pattern, languages};
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::search::Scope;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, blocking, counted, location, not_searched};

/// How many matches are given (004 AST-01).
const LIMIT: usize = 50;
/// How much of a match's first line is given, in characters.
const MAX_LINE: usize = 200;
/// How many files with matches an editor is told of.
const MAX_LOCATIONS: usize = 20;

/// Searches code by its syntax, so that layout does not matter: the pattern is a piece of code in which `$NAME` stands
/// for any one expression, name or statement, `$$$NAME` for any number of them, and `$_` and `$$$` for the same without
/// a name. Equal names stand for equal code. Everything else must match completely, except for comments: `fn $F($$$A) {
/// $$$B }` finds no `pub fn`. Examples: `$A.unwrap()`, `if ($C) { $$$B }`, `console.log($$$)`, `useEffect($F, [])`. The
/// arguments of a Rust macro are not seen as code. Gives `path:line: text` for each match.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The code to look for: one whole expression, statement or definition, with metavariables.
    pattern: String,
    /// The language: c, cpp, csharp, go, java, javascript, json, lua, python, rust or typescript. It can be left out
    /// where `path` is a file or `glob` ends in an extension.
    language: Option<String>,
    /// Only in this folder or file, relative to the workspace or absolute.
    path: Option<String>,
    /// Only in files that fit this glob pattern: `*.rs` for names, `src/**/*.ts` for paths.
    glob: Option<String>,
}

pub(crate) struct SearchStructural {
    services: Services,
}

impl SearchStructural {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn scope(&self, input: &Input) -> Result<Scope, ToolError> {
        let path = input.path.as_deref().map(|path| self.services.roots.resolve(path)).transpose()?;
        Ok(Scope { path, glob: input.glob.clone() })
    }

    fn patterns(&self, input: &Input) -> Result<Vec<Pattern>, ToolError> {
        let of = [&input.path, &input.glob].into_iter().flatten().map(String::as_str);
        let made = meant(input.language.as_deref(), of)?.into_iter().map(|of| Pattern::new(&input.pattern, of));
        any_of(made.collect()).map_err(|error| ToolError::InvalidInput(error.to_string()))
    }
}

#[async_trait]
impl Typed for SearchStructural {
    type Input = Input;
    const NAME: &'static str = tool_names::SEARCH_STRUCTURAL;
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let scope = self.scope(input)?;
        self.patterns(input)?;
        let within = scope.path.as_deref().map(|path| self.services.roots.display(path));
        let within = within.or(scope.glob).map(|within| format!(" in {within}")).unwrap_or_default();
        let title = format!("Searching for code like `{}`{within}", input.pattern);
        let locations = scope.path.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let (scope, patterns) = (self.scope(&input)?, self.patterns(&input)?);
        let services = self.services.clone();
        blocking(move || search(&services, &scope, &patterns, &input.pattern, &call)).await
    }
}

fn search(
    services: &Services,
    scope: &Scope,
    patterns: &[Pattern],
    source: &str,
    call: &Call,
) -> Result<Output, ToolError> {
    let files = services.search.files(scope, &call.cancel)?;
    let (mut text, mut locations) = (String::new(), Vec::new());
    let (mut total, mut with_matches, mut searched, mut unreadable) = (0, 0, 0, files.unreadable);
    for path in &files.paths {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let possible = Language::possible(path);
        if !patterns.iter().any(|pattern| possible.contains(&pattern.language())) {
            continue;
        }
        let Ok(file) = services.reader.read(path) else {
            searched += 1;
            unreadable += 1;
            continue;
        };
        let language = Language::of_text(path, &file.text);
        let Some(pattern) = patterns.iter().find(|pattern| Some(pattern.language()) == language) else { continue };
        searched += 1;
        if !pattern.may_be_in(&file.text) {
            continue;
        }
        let Ok(parsed) = Parsed::new(pattern.language(), file.text) else {
            unreadable += 1;
            continue;
        };
        let found = pattern.find(&parsed);
        if let Some(first) = found.first() {
            with_matches += 1;
            if locations.len() < MAX_LOCATIONS {
                locations.push(location(path, u64::try_from(first.line).ok()));
            }
        }
        let name = services.roots.display(path);
        for found in found.iter().take(LIMIT.saturating_sub(total)) {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{name}:{}: {}", found.line, shown(&parsed, found));
        }
        total += found.len();
    }
    if total == 0 {
        let among = counted(searched, "file");
        let _ = writeln!(text, "No code in {among} matches the pattern `{source}`.");
    }
    let all = format!("{} in {}", counted(total, "match"), counted(with_matches, "file"));
    if total > LIMIT {
        let _ = writeln!(text, "[the first {LIMIT} of {all}; narrow the pattern, `path` or `glob`]");
    }
    for words in not_searched(unreadable, files.left_out) {
        let _ = writeln!(text, "{words}");
    }
    let summary = if total == 0 { "no matches".to_owned() } else { all };
    Ok(Output { text: text.trim_end_matches('\n').to_owned(), summary, locations, ..Output::default() })
}

/// The first line of a match, and how many more there are.
fn shown(parsed: &Parsed, found: &Match) -> String {
    let code = parsed.text.get(found.range.clone()).unwrap_or_default();
    let (first, rest) = code.split_once('\n').unwrap_or((code, ""));
    let mut shown: String = first.chars().take(MAX_LINE).collect();
    if shown.len() < first.len() {
        shown.push('…');
    }
    match rest.lines().count() {
        0 => shown,
        more => format!("{shown} [+{}]", counted(more, "line")),
    }
}

/// The languages that a call is about: the one it names, or those that the extensions of its paths say.
pub(crate) fn meant<'p>(
    language: Option<&str>,
    paths: impl Iterator<Item = &'p str>,
) -> Result<Vec<Language>, ToolError> {
    let invalid = |words: String| ToolError::InvalidInput(words);
    if let Some(name) = language {
        let named = Language::named(name);
        let words = || format!("there is no language `{name}` here; there are: {}", languages());
        return if named.is_empty() { Err(invalid(words())) } else { Ok(named) };
    }
    let mut meant: Vec<_> = paths.flat_map(|path| Language::possible(Path::new(path))).collect();
    meant.sort_unstable();
    meant.dedup();
    if meant.is_empty() {
        return Err(invalid(format!("say the `language`; there are: {}", languages())));
    }
    Ok(meant)
}

/// Returns what could be made for some of the languages that are meant, or the first reason why nothing could.
pub(crate) fn any_of<T, E>(made: Vec<Result<T, E>>) -> Result<Vec<T>, E> {
    let (mut good, mut first) = (Vec::new(), None);
    for made in made {
        match made {
            Ok(made) => good.push(made),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(error) if good.is_empty() => Err(error),
        _ => Ok(good),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call, unsaved};

    #[tokio::test]
    async fn code_is_found_whatever_its_layout_in_the_texts_as_they_are_in_the_editor() {
        let world = World::new(&[
            ("src/b.rs", "fn b() {\n    a.unwrap();\n    // a.unwrap()\n    let s = \"a.unwrap()\";\n}\n"),
            ("src/a.rs", "fn a() {}\n"),
            ("c.py", "a.unwrap()\n"),
            ("target/d.rs", "fn d() { a.unwrap(); }\n"),
            (".gitignore", "target\n"),
        ]);
        world.open("src/a.rs", "fn a() {\r\n    b\r\n        .c()\r\n        .unwrap();\r\n}\r\n");
        let output =
            world.call("search_structural", json!({ "pattern": "$A.unwrap()", "language": "rust" })).await.unwrap();
        assert_eq!(output.text, unsaved("src/a.rs") + "src/a.rs:2: b [+2 lines]\nsrc/b.rs:2: a.unwrap()");
        assert_eq!(output.summary, "2 matches in 2 files");
        let text = world.text("search_structural", json!({ "pattern": "$A.unwrap()", "glob": "*.py" })).await;
        assert_eq!(text, "c.py:1: a.unwrap()");
    }

    #[tokio::test]
    async fn with_jsx_and_without_are_one_language() {
        let world = World::new(&[("a.tsx", "const a = <p>{f(1)}</p>;\n"), ("b.ts", "f(<any>2);\n")]);
        let text = world.text("search_structural", json!({ "pattern": "f($A)", "language": "typescript" })).await;
        assert_eq!(text, "a.tsx:1: f(1)\nb.ts:1: f(<any>2)");
    }

    #[tokio::test]
    async fn a_header_is_searched_as_what_it_is() {
        let header = "namespace shapes {\nclass Box { void f() { area(1); } };\n}\n";
        let world = World::new(&[("box.h", header), ("plain.h", "int a = area(2);\n")]);
        let search = |input| world.text("search_structural", input);
        let text = search(json!({ "pattern": "area($A)", "language": "cpp" })).await;
        assert_eq!(text, "box.h:2: area(1)");
        let text = search(json!({ "pattern": "area($A)", "glob": "*.h" })).await;
        assert_eq!(text, "box.h:2: area(1)\nplain.h:1: area(2)");
    }

    #[tokio::test]
    async fn more_than_the_limit_is_counted_and_said() {
        let world = World::new(&[("a.js", &"f(1);\n".repeat(60)), ("b.js", "f(2)")]);
        let text = world.text("search_structural", json!({ "pattern": "f($A)", "language": "javascript" })).await;
        assert!(
            text.ends_with(
                "a.js:50: f(1)\n[the first 50 of 61 matches in 2 files; narrow the pattern, `path` or `glob`]"
            ),
            "{text}"
        );
    }

    #[tokio::test]
    async fn what_the_users_rules_keep_from_the_model_is_not_searched() {
        let world = World::new(&[("secret/a.js", "f(1);\n"), ("b.js", "f(2);\n")]);
        let services = world.services_showing(|path| !path.to_string_lossy().contains("secret"));
        let input = json!({ "pattern": "f($A)", "language": "javascript" });
        let text = call(&services, "search_structural", input).await.unwrap().text;
        assert_eq!(
            text,
            "b.js:1: f(2)\n[1 file left out by permission: the user's rules, or a name that usually means keys]"
        );
    }

    #[tokio::test]
    async fn nothing_found_and_bad_patterns_are_said_in_words() {
        let world = World::new(&[("a.rs", "fn a() {}\n")]);
        let search = |input| world.text("search_structural", input);
        let text = search(json!({ "pattern": "f($A)", "path": "a.rs" })).await;
        assert_eq!(text, "No code in 1 file matches the pattern `f($A)`.");
        let text = search(json!({ "pattern": "f($A" , "path": "a.rs" })).await;
        assert!(text.starts_with("error: invalid input: `f($A` is not one whole piece of rust code."), "{text}");
        let text = search(json!({ "pattern": "$A" , "path": "a.rs" })).await;
        assert!(text.contains("would match nearly everything"), "{text}");
        assert!(search(json!({ "pattern": "f()" })).await.contains("say the `language`; there are: bash, c, cpp"));
        assert!(
            search(json!({ "pattern": "f()", "language": "cobol" })).await.contains("there is no language `cobol`")
        );
    }
}
