//! `edit_structural`.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use code::edit::structural::{Rewritten, Rule, StructuralError, rewrite};
use code::syntax::{Language, Parsed};
use permission::Action;
use ports::edit::{EditPlan, FilePlan};
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::search::Scope;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::search_structural::{any_of, meant};
use crate::typed::Typed;
use crate::{Services, blocking, counted, location, may_quote, not_searched, read_file, writable};

/// How many files one call may change (004 AST-02).
const MAX_FILES: usize = 1000;
/// How many places the preview shows.
const MAX_SHOWN: usize = 40;
/// How many files that were left alone are named.
const MAX_NAMED: usize = 20;

/// Rewrites code by its syntax, everywhere in the given files at once. In a pattern `$NAME` stands for any one
/// expression, name or statement and `$$$NAME` for any number of them; in its rewrite they stand for what they matched.
/// A pattern without the `;` of a statement leaves that `;` alone. An empty rewrite deletes. Parentheses are not added:
/// write `($A)` where precedence may matter. Files with syntax errors, and places where a comment would be lost, are
/// left alone and named. Nothing is written: the user reviews all changes, and until then you read the files as if they
/// were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The patterns with their rewrites, each pattern once. Matches must not overlap.
    ops: Vec<Op>,
    /// Files, folders or glob patterns such as `src/**/*.ts`.
    paths: Vec<String>,
    /// The language: c, cpp, csharp, go, java, javascript, json, lua, python, rust or typescript. It can be left out if
    /// `paths` end in an extension.
    language: Option<String>,
}

/// A pattern and its rewrite.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Op {
    /// The code to look for: one whole expression, statement or definition, such as `foo($A, $$$REST)`.
    pattern: String,
    /// The new code, such as `bar($$$REST, $A)`. Empty to delete the match.
    rewrite: String,
}

pub(crate) struct EditStructural {
    services: Services,
}

impl EditStructural {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for EditStructural {
    type Input = Input;
    const NAME: &'static str = tool_names::EDIT_STRUCTURAL;
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        rules(input)?;
        let scopes = scopes(&self.services, input)?;
        let title = format!("Rewriting code in {}", input.paths.join(", "));
        let locations = scopes.iter().filter_map(|scope| scope.path.as_deref()).map(|path| location(path, None));
        let locations = locations.collect();
        let files: Option<Vec<PathBuf>> =
            scopes.iter().map(|scope| scope.path.clone().filter(|path| is_file(path))).collect();
        // Which files of a folder will be changed is not known before they were read; permission then judges the plan.
        let action = files.map_or(Action::Read, |paths| Action::Edit { paths });
        Ok(Description { title, locations, action })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || plan(&services, &input, &call)).await
    }
}

/// The rules, for each language that is meant.
fn rules(input: &Input) -> Result<Vec<(Language, Vec<Rule>)>, ToolError> {
    let invalid = |words: &str| Err(ToolError::InvalidInput(words.to_owned()));
    if input.ops.is_empty() {
        return invalid("`ops` is empty; give at least one pattern with its rewrite");
    }
    if input.paths.is_empty() {
        return invalid("`paths` is empty; give the files, folders or glob patterns to rewrite code in");
    }
    let mut patterns = BTreeSet::new();
    if !input.ops.iter().all(|op| patterns.insert(op.pattern.trim())) {
        return invalid("a pattern stands in `ops` twice; give each pattern once");
    }
    let made = meant(input.language.as_deref(), input.paths.iter().map(String::as_str))?.into_iter().map(|language| {
        let rules = input.ops.iter().map(|op| Rule::new(&op.pattern, &op.rewrite, language));
        Ok((language, rules.collect::<Result<_, StructuralError>>()?))
    });
    any_of(made.collect()).map_err(|error: StructuralError| ToolError::InvalidInput(error.to_string()))
}

fn scopes(services: &Services, input: &Input) -> Result<Vec<Scope>, ToolError> {
    let scope = |path: &String| match path.contains(['*', '?', '[', '{']) {
        true => Ok(Scope { path: None, glob: Some(path.clone()) }),
        false if is_file(Path::new(path)) => Ok(Scope { path: Some(writable(services, path)?), glob: None }),
        false => Ok(Scope { path: Some(services.roots.resolve(path)?), glob: None }),
    };
    input.paths.iter().map(scope).collect()
}

/// True if a path that a call names is meant to be a file.
fn is_file(path: &Path) -> bool {
    !Language::possible(path).is_empty()
}

fn plan(services: &Services, input: &Input, call: &Call) -> Result<Output, ToolError> {
    let rules = rules(input)?;
    let (mut paths, mut unreadable, mut left_out) = (BTreeSet::new(), 0, 0);
    for scope in scopes(services, input)? {
        let named = scope.path.clone().filter(|path| is_file(path));
        let files = match services.search.files(&scope, &call.cancel) {
            Ok(files) => files,
            Err(error) => match named {
                Some(path) => {
                    let error = services
                        .reader
                        .read(&path)
                        .err()
                        .map(|error| read_file::in_words(services, &path, error, call));
                    return Err(error.unwrap_or(ToolError::Failed("it cannot be searched".to_owned())));
                }
                None => return Err(error.into()),
            },
        };
        unreadable += files.unreadable;
        left_out += files.left_out;
        paths.extend(files.paths);
    }
    let mut report = Report::default();
    let mut plan = EditPlan { files: Vec::new() };
    let mut searched = 0;
    for path in paths {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let possible = Language::possible(&path);
        if !rules.iter().any(|(language, _)| possible.contains(language)) {
            continue;
        }
        let Ok(file) = services.reader.read(&path) else {
            searched += 1;
            unreadable += 1;
            continue;
        };
        if !may_quote(services, &path, &file.hash) {
            left_out += 1;
            continue;
        }
        let is_of = Language::of_text(&path, &file.text);
        let Some((language, rules)) = rules.iter().find(|(language, _)| is_of == Some(*language)) else { continue };
        searched += 1;
        if !rules.iter().any(|rule| rule.may_fit(&file.text)) {
            continue;
        }
        let name = services.roots.display(&path);
        let done = Parsed::new(*language, file.text.clone())
            .map_err(StructuralError::from)
            .and_then(|parsed| rewrite(&parsed, rules));
        match done {
            Ok(done) => {
                report.add(&name, &done);
                if !done.places.is_empty() {
                    if let Some(reason) = services.roots.protected(&path) {
                        return Err(ToolError::Failed(format!("{name} must not be changed: {reason}")));
                    }
                    plan.files.push(FilePlan {
                        path,
                        read: Some(file.hash),
                        new_text: Some(done.text),
                        moved_to: None,
                    });
                }
            }
            Err(error @ (StructuralError::Broken { .. } | StructuralError::Parse(_))) => {
                report.left_alone.push(format!("{name}: {error}"));
            }
            Err(error) => return Err(ToolError::Failed(format!("{name}: {error}"))),
        }
        if plan.files.len() > MAX_FILES {
            let words = format!("more than {MAX_FILES} files would change; nothing was changed. Narrow `paths`");
            return Err(ToolError::Failed(words));
        }
    }
    let mut notes = report.notes();
    notes.extend(not_searched(unreadable, left_out));
    if plan.files.is_empty() {
        let words = if report.left_alone.is_empty() {
            let among = counted(searched, "file");
            format!("no code in {among} matches; look with search_text how it is written there")
        } else {
            "nothing was changed, since all that may match was left alone:".to_owned()
        };
        return Err(ToolError::Failed([vec![words], notes].concat().join("\n")));
    }
    let head = format!("Rewrites {} in {}:", counted(report.places, "place"), counted(plan.files.len(), "file"));
    let text = [vec![head, report.preview.trim_end().to_owned()], notes].concat().join("\n");
    let locations = plan.files.iter().map(|file| location(&file.path, None)).collect();
    Ok(Output { text, locations, plan: Some(plan), ..Output::default() })
}

/// A report for the model of what was done.
#[derive(Default)]
struct Report {
    places: usize,
    preview: String,
    /// Files and places that match and were not changed, each with why.
    left_alone: Vec<String>,
}

impl Report {
    fn add(&mut self, name: &str, done: &Rewritten) {
        if !done.places.is_empty() {
            // Writing into a string cannot fail.
            let _ = writeln!(self.preview, "{name}: {}", counted(done.places.len(), "place"));
        }
        for place in &done.places {
            if self.places < MAX_SHOWN {
                let _ = writeln!(self.preview, "  {}- {}", place.line, place.before);
                let _ = writeln!(self.preview, "  {}+ {}", place.line, place.after);
            }
            self.places += 1;
        }
        let why = "the rewrite would lose a comment there; edit its text";
        let left = done.commented.iter().map(|place| format!("{name}:{}: {}: {why}", place.line, place.preview));
        self.left_alone.extend(left);
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.places > MAX_SHOWN {
            notes.push(format!("[the first {MAX_SHOWN} of {} are shown]", counted(self.places, "place")));
        }
        notes.extend(self.left_alone.iter().take(MAX_NAMED).map(|left| format!("[left alone: {left}]")));
        if let Some(more) = self.left_alone.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            notes.push(format!("[and {more} more were left alone]"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use permission::Action;
    use project::paths::to_uri;
    use project::text;
    use serde_json::{Value, json};

    use crate::fixture::{World, call};

    fn input(pattern: &str, rewrite: &str, paths: &[&str]) -> Value {
        json!({ "ops": [{ "pattern": pattern, "rewrite": rewrite }], "paths": paths, "language": "rust" })
    }

    #[tokio::test]
    async fn all_files_are_one_plan_against_the_texts_that_were_read() {
        let world = World::new(&[
            ("src/a.rs", "fn a() {\n    x.unwrap();\n    y.unwrap();\n}\n"),
            ("src/b.rs", "fn b() { saved(); }\n"),
            ("src/c.rs", "fn c() {}\n"),
            ("src/d.md", "x.unwrap()\n"),
        ]);
        world.open("src/b.rs", "fn b() {\r\n    z.unwrap();\r\n}\r\n");
        let output = world.call("edit_structural", input("$A.unwrap()", "$A?", &["src"])).await.unwrap();
        assert_eq!(
            output.text,
            "Rewrites 3 places in 2 files:\nsrc/a.rs: 2 places\n  2- x.unwrap()\n  2+ x?\n  3- y.unwrap()\n  3+ y?\n\
             src/b.rs: 1 place\n  2- z.unwrap()\n  2+ z?"
        );
        let plan = output.plan.unwrap().files;
        assert_eq!(
            plan.iter().map(|file| &file.path).collect::<Vec<_>>(),
            [&world.path("src/a.rs"), &world.path("src/b.rs")]
        );
        assert_eq!(plan[0].new_text.as_deref(), Some("fn a() {\n    x?;\n    y?;\n}\n"));
        assert_eq!(plan[1].read, Some(text::hash("fn b() {\n    z.unwrap();\n}\n")));
        assert_eq!(plan[1].new_text.as_deref(), Some("fn b() {\n    z?;\n}\n"));
    }

    #[tokio::test]
    async fn what_was_left_alone_is_named_with_its_reason() {
        let world = World::new(&[
            ("a.rs", "fn a() { f(1); }\n"),
            ("b.rs", "fn b() { f(1); \n"),
            ("c.rs", "fn c() {\n    f(/* why */ 1);\n}\n"),
        ]);
        let text = world.text("edit_structural", input("f($A)", "g($A)", &["*.rs"])).await;
        assert!(text.starts_with("Rewrites 1 place in 1 file:\na.rs: 1 place\n"), "{text}");
        assert!(text.contains("[left alone: b.rs: it has a syntax error at line "), "{text}");
        let none = world.text("edit_structural", input("f($A)", "g($A)", &["c.rs"])).await;
        assert!(none.starts_with("error: nothing was changed, since all that may match was left alone:\n"), "{none}");
        assert!(
            text.contains("[left alone: c.rs:2: f(/* why */ 1);: the rewrite would lose a comment there"),
            "{text}"
        );
    }

    #[tokio::test]
    async fn what_cannot_be_meant_changes_nothing_and_says_what_to_do() {
        let world = World::new(&[("a.rs", "fn a() { f(f(1)); }\n"), (".git/a.rs", "fn a() { f(1); }\n")]);
        let edit = |pattern: &'static str, rewrite: &'static str, path: &'static str| {
            let world = &world;
            async move { world.text("edit_structural", input(pattern, rewrite, &[path])).await }
        };
        assert!(edit("f($A)", "g($A)", "a.rs").await.contains("a.rs: two places that match overlap"));
        assert!(edit("f(1)", "g(", "a.rs").await.contains("would have a syntax error at its line 1"));
        assert!(edit("h($A)", "g($A)", ".").await.contains("no code in 1 file matches"));
        assert!(edit("f($A)", "g($B)", "a.rs").await.contains("the rewrite uses `$B`"));
        assert!(edit("f($A)", "g($A)", "b.rs").await.contains("b.rs does not exist"));
        assert!(edit("f($A)", "g($A)", "../a.rs").await.contains("is outside the workspace"));
        let text = edit("f($A)", "g($A)", ".git/a.rs").await;
        assert_eq!(text, "error: .git/a.rs must not be changed: it belongs to git itself");
        let text = edit("f($A)", "g($A)", ".git").await;
        assert_eq!(text, "error: .git/a.rs must not be changed: it belongs to git itself");
    }

    #[tokio::test]
    async fn what_the_users_rules_keep_from_the_model_is_not_rewritten() {
        let world = World::new(&[("secret/a.rs", "fn a() { f(1); }\n"), ("b.rs", "fn b() { f(1); }\n")]);
        let services = world.services_showing(|path| !path.to_string_lossy().contains("secret"));
        let output = call(&services, "edit_structural", input("f($A)", "g($A)", &["."])).await.unwrap();
        assert_eq!(output.plan.unwrap().files.len(), 1);
        assert!(
            output
                .text
                .ends_with("[1 file left out by permission: the user's rules, or a name that usually means keys]"),
            "{}",
            output.text
        );
    }

    #[tokio::test]
    async fn more_files_than_a_plan_may_have_are_refused_whole() {
        let world = World::new(&[]);
        (0..=super::MAX_FILES).for_each(|number| world.open(&format!("{number}.rs"), "fn a() { f(1); }\n"));
        let text = world.text("edit_structural", input("f($A)", "g($A)", &["."])).await;
        assert_eq!(text, "error: more than 1000 files would change; nothing was changed. Narrow `paths`");
        world.buffers.close(&to_uri(&world.path("0.rs"))).unwrap();
        let output = world.call("edit_structural", input("f($A)", "g($A)", &["."])).await.unwrap();
        assert_eq!(output.plan.unwrap().files.len(), 1000);
        assert!(output.text.contains("\n[the first 40 of 1000 places are shown]\n"), "{}", output.text);
        // They are open, and none is on disk.
        let told = "[of at least 95 more files the text here is the editor's too, and is not what is on disk]";
        assert!(output.text.ends_with(told), "{}", output.text);
    }

    #[tokio::test]
    async fn permission_judges_the_files_that_are_named_before_they_are_read() {
        let world = World::new(&[("a.rs", "")]);
        let tools = crate::builtin(&world.services());
        let tool = tools.iter().find(|tool| tool.spec().name == "edit_structural").unwrap();
        let action = async |paths: &[&str]| tool.describe(&input("f($A)", "g($A)", paths)).await.unwrap().action;
        assert_eq!(action(&["./a.rs"]).await, Action::Edit { paths: vec![world.path("a.rs")] });
        assert_eq!(action(&["a.rs", "src"]).await, Action::Read);
    }
}
