//! Code actions that begin a workflow in the chat: to ask about a place in the code, to have it explained, tested or
//! documented, and to have the problems there mended.
//!
//! Only when the user asks for actions are all of them offered. What an editor looks for by itself, while the cursor
//! moves, lights a sign at the line, and that is to say that something can be mended there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::workflow::{Problem, Subject, Workflow};
use code::syntax::{Language, Outline, Parsed, Symbol, SymbolKind};
use lsp_types::{Diagnostic, NumberOrString};
use permission::unseen;
use project::paths::Roots;
use protocol::content::{Position, Range};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::abilities::Abilities;
use super::commands::{self, QUICK_FIX};
use super::messages::CodeActions;
use super::review;

/// The kind of those that mend nothing. Each has its own below it.
pub(super) const KIND: &str = "azimuth";
/// The most problems that one action is about.
const MOST_PROBLEMS: usize = 20;
/// The longest problem text that an action carries, in bytes.
const LONGEST_MESSAGE: usize = 4 << 10;
/// The longest name in a title, in characters.
const LONGEST_NAME: usize = 60;
/// A problem is shown with all of the function around it, if that has at most so many lines; else with so many lines
/// above and below.
const WHOLE_LINES: u32 = 150;
const AROUND: u32 = 20;

/// The data that an action carries, and its command is given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Start {
    workflow: Name,
    /// The document, as the client calls it.
    pub(super) uri: String,
    /// The first line and the last, from 0; none for all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lines: Option<[u32; 2]>,
    /// The name of these lines, if they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    problems: Vec<Told>,
}

/// The workflows by the names that commands and kinds have for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Name {
    Ask,
    Fix,
    Explain,
    Test,
    Document,
}

/// Those that mend nothing, as they are offered.
const MORE: [Name; 4] = [Name::Ask, Name::Explain, Name::Test, Name::Document];

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Told {
    line: u32,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

impl Start {
    /// The workflow.
    pub(super) fn workflow(&self) -> Workflow {
        match self.workflow {
            Name::Ask => Workflow::Ask,
            Name::Fix => Workflow::Fix,
            Name::Explain => Workflow::Explain,
            Name::Test => Workflow::Test,
            Name::Document => Workflow::Document,
        }
    }

    /// The subject. In the prompt the document has the URI by which sessions know it.
    pub(super) fn subject(self, uri: String) -> Subject {
        let at = |line| Position { line, character: 0 };
        let range = self.lines.map(|[first, last]| Range { start: at(first), end: at(last.saturating_add(1)) });
        let problems = self.problems.into_iter().map(|told| {
            let Told { line, message, source, code } = told;
            Problem { line, message, source, code }
        });
        Subject { uri, range, name: self.name, problems: problems.collect() }
    }
}

/// The actions for a place in an open document of one of the folders: on a request of the user's all of them, on the
/// editor's own only what mends. Blocks for as long as the text takes to parse.
pub(super) fn actions(
    params: &CodeActions,
    file: &Path,
    text: &Arc<str>,
    folders: &[PathBuf],
    abilities: &Abilities,
) -> Vec<Value> {
    let is_ours = || Roots::new(folders).is_ok_and(|roots| roots.check(file).is_ok());
    let problems = problems(params);
    let wants_fix = params.wants(QUICK_FIX) && !problems.is_empty();
    let wants_more = !params.is_automatic() && MORE.into_iter().any(|name| params.wants(&kind(name)));
    if !(wants_fix || wants_more) || !is_ours() {
        return Vec::new();
    }
    let place = Place::new(params, file, text);
    let mut offers = Offers { uri: &params.text_document.uri, abilities, actions: Vec::new() };
    if wants_fix {
        offers.add(Name::Fix, QUICK_FIX, &place.of_problems(&problems), &problems);
    }
    if wants_more {
        if !problems.is_empty() && params.wants(&kind(Name::Explain)) {
            offers.add(Name::Explain, &kind(Name::Explain), &place.of_problems(&problems), &problems);
        }
        for name in MORE {
            let is_for_code = matches!(name, Name::Test | Name::Document);
            if params.wants(&kind(name)) && (!is_for_code || place.is_code) {
                offers.add(name, &kind(name), &place.subject, &[]);
            }
        }
    }
    offers.actions
}

/// The lines that an action is about, and their name.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Lines {
    lines: Option<[u32; 2]>,
    name: Option<String>,
}

/// The user's position.
struct Place {
    /// The selection; otherwise the symbol there; otherwise the whole file.
    subject: Lines,
    /// The function, type or the like around the place.
    around: Option<[u32; 2]>,
    /// The number of lines of the text.
    count: u32,
    /// True if the subject is part of a program.
    is_code: bool,
}

impl Place {
    fn new(params: &CodeActions, file: &Path, text: &Arc<str>) -> Self {
        let [first, last] = params.range.lines();
        let is_selection = params.range.start != params.range.end;
        let language = Language::of_text(file, text);
        let parsed = language.and_then(|language| Parsed::new(language, Arc::clone(text)).ok());
        let outline = parsed.as_ref().map(Outline::new);
        let found = outline.as_ref().and_then(|outline| {
            // Those within others come after them.
            let symbol = outline.symbols.iter().rfind(|symbol| is_whole(symbol) && holds(symbol, first, last))?;
            let name = text.get(symbol.selection.clone()).unwrap_or_default();
            let name = Some(shown(name)).filter(|name| !name.is_empty());
            Some((name, lines_of(symbol), symbol.language.is_program()))
        });
        let around = found.as_ref().map(|(_, lines, _)| *lines);
        let is_code = match &found {
            Some((_, _, is_program)) => *is_program,
            None => is_selection && language.is_some_and(Language::is_program),
        };
        let subject = match found {
            // Somebody who selects all of a symbol means it by its name.
            Some((name, lines, _)) if !is_selection || lines == [first, last] => Lines { lines: Some(lines), name },
            _ if is_selection => Lines { lines: Some([first, last]), name: None },
            _ => Lines { lines: None, name: None },
        };
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        Self { subject, around, count, is_code }
    }

    /// The lines to look at for problems.
    fn of_problems(&self, problems: &[Diagnostic]) -> Lines {
        let first = problems.iter().map(|problem| problem.range.start.line).min().unwrap_or(0);
        let last = problems.iter().map(|problem| problem.range.end.line).max().unwrap_or(first);
        let is_around =
            |[start, end]: &[u32; 2]| *start <= first && last <= *end && end.saturating_sub(*start) < WHOLE_LINES;
        let lines = self.around.filter(is_around).unwrap_or_else(|| {
            let end = last.saturating_add(AROUND).min(self.count.saturating_sub(1)).max(first);
            [first.saturating_sub(AROUND), end]
        });
        Lines { lines: Some(lines), name: None }
    }
}

/// Actions as they are gathered.
struct Offers<'o> {
    uri: &'o str,
    abilities: &'o Abilities,
    actions: Vec<Value>,
}

impl Offers<'_> {
    fn add(&mut self, workflow: Name, kind: &str, about: &Lines, problems: &[Diagnostic]) {
        let start = Start {
            workflow,
            uri: self.uri.to_owned(),
            lines: about.lines,
            name: about.name.clone(),
            problems: problems.iter().map(told).collect(),
        };
        let title = title(workflow, about, problems.len());
        let action = commands::model_action((&title, kind), commands::WORKFLOW_START, &start, problems, self.abilities);
        self.actions.push(action);
    }
}

fn title(workflow: Name, about: &Lines, problems: usize) -> String {
    let it = match (about, problems) {
        (_, 1) => "this problem".into(),
        (_, 2..) => format!("these {problems} problems"),
        (Lines { name: Some(name), .. }, _) => format!("`{name}`"),
        (Lines { lines: Some(_), .. }, _) => "these lines".into(),
        (Lines { lines: None, .. }, _) => "this file".into(),
    };
    match workflow {
        Name::Ask => format!("Ask Azimuth about {it}"),
        Name::Fix => format!("Fix {it} with Azimuth"),
        Name::Explain => format!("Explain {it} with Azimuth"),
        Name::Test => format!("Write tests for {it} with Azimuth"),
        Name::Document => format!("Document {it} with Azimuth"),
    }
}

fn kind(name: Name) -> String {
    let own = match name {
        Name::Ask => "ask",
        Name::Fix => "fix",
        Name::Explain => "explain",
        Name::Test => "test",
        Name::Document => "document",
    };
    format!("{KIND}.{own}")
}

/// The problems at the place that the editor tells, but for our own hints.
fn problems(params: &CodeActions) -> Vec<Diagnostic> {
    // One that does not fit is none that could be shown.
    let told = params.context.diagnostics.iter().filter_map(|value| Diagnostic::deserialize(value).ok());
    told.filter(|problem| problem.source.as_deref() != Some(review::SOURCE)).take(MOST_PROBLEMS).collect()
}

fn told(problem: &Diagnostic) -> Told {
    let message = &problem.message;
    let message = message.get(..message.floor_char_boundary(LONGEST_MESSAGE)).unwrap_or(message).to_owned();
    let code = problem.code.as_ref().map(|code| match code {
        NumberOrString::Number(number) => number.to_string(),
        NumberOrString::String(text) => text.clone(),
    });
    Told { line: problem.range.start.line, message, source: problem.source.clone(), code }
}

/// A name as a title has it: of one line, not too long, and without what nobody sees or what turns text around.
pub(super) fn shown(name: &str) -> String {
    let in_title = |c| match c {
        '`' => '\'',
        '\t' => ' ',
        c => c,
    };
    let is_seen = |c: &char| !c.is_control() && (!unseen::is_unseen(*c) || unseen::is_joiner(*c));
    let mut chars = name.lines().next().unwrap_or_default().chars().map(in_title).filter(is_seen);
    let beginning: String = chars.by_ref().take(LONGEST_NAME).collect();
    if chars.next().is_some() { beginning + "…" } else { beginning }
}

/// True if a symbol is what people speak of as one thing, and no mere name in it.
pub(super) fn is_whole(symbol: &Symbol) -> bool {
    use SymbolKind::{
        Class, Constructor, Enum, Function, Impl, Interface, Macro, Method, Property, Struct, Trait, Type,
    };
    let is_kind = matches!(
        symbol.kind,
        Class | Constructor | Enum | Function | Impl | Interface | Macro | Method | Property | Struct | Trait | Type
    );
    is_kind || symbol.kind == SymbolKind::Constant
}

fn holds(symbol: &Symbol, first: u32, last: u32) -> bool {
    let [start, end] = lines_of(symbol);
    start <= first && last <= end
}

/// The lines of a symbol, from 0.
pub(super) fn lines_of(symbol: &Symbol) -> [u32; 2] {
    let from_zero = |line: &usize| u32::try_from(line.saturating_sub(1)).unwrap_or(u32::MAX);
    [from_zero(symbol.lines.start()), from_zero(symbol.lines.end())]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lsp::messages;

    const TEXT: &str = "use std::fmt;\n\nstruct Cat {\n    age: u8,\n}\n\nimpl Cat {\n    fn age(&self) -> u32 {\n        self.age\n    }\n}\n";

    struct Asked {
        folder: tempfile::TempDir,
        file: PathBuf,
        text: Arc<str>,
    }

    impl Asked {
        fn new(name: &str, text: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().canonicalize().unwrap().join(name);
            Self { folder, file, text: text.into() }
        }

        fn actions(&self, from: [u32; 2], to: [u32; 2], context: Value) -> Vec<Value> {
            let at = |[line, character]: [u32; 2]| json!({ "line": line, "character": character });
            let params = json!({ "textDocument": { "uri": "file:///p/a" },
                "range": { "start": at(from), "end": at(to) }, "context": context });
            let params: CodeActions = messages::typed(params).unwrap();
            let abilities = Abilities { code_action_literals: true, llm_generated_tag: true, ..Abilities::default() };
            actions(&params, &self.file, &self.text, &[self.folder.path().to_owned()], &abilities)
        }

        fn titles(&self, from: [u32; 2], to: [u32; 2], context: Value) -> Vec<String> {
            let actions = self.actions(from, to, context);
            actions.iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect()
        }
    }

    fn problem(line: u32, source: &str) -> Value {
        let at = |character: u32| json!({ "line": line, "character": character });
        json!({ "range": { "start": at(8), "end": at(16) }, "severity": 1, "source": source, "code": "E0308",
            "message": "mismatched types" })
    }

    #[test]
    fn what_is_at_the_cursor_can_be_asked_about_by_its_name() {
        let cat = Asked::new("cat.rs", TEXT);
        let titles = cat.titles([8, 9], [8, 9], json!({ "diagnostics": [], "triggerKind": 1 }));
        let expected = [
            "Ask Azimuth about `age`",
            "Explain `age` with Azimuth",
            "Write tests for `age` with Azimuth",
            "Document `age` with Azimuth",
        ];
        assert_eq!(titles, expected);
        let field = cat.titles([3, 4], [3, 4], json!({ "diagnostics": [] }));
        assert_eq!(field[0], "Ask Azimuth about `Cat`", "a field is asked about with what it is part of");
        let whole = cat.titles([0, 0], [0, 0], json!({ "diagnostics": [] }));
        assert_eq!(whole, ["Ask Azimuth about this file", "Explain this file with Azimuth"]);
    }

    #[test]
    fn a_title_says_that_it_is_cut_and_has_nothing_that_nobody_sees() {
        assert_eq!(shown("make\tthis `a`\nand that"), "make this 'a'");
        assert_eq!(shown("rename \u{202e}cba\u{2066}\u{200b}\u{7}\u{1b}[31m it"), "rename cba[31m it");
        let (most, longer) = ("x".repeat(60), "x".repeat(61));
        assert_eq!((shown(&most), shown(&longer)), (most.clone(), format!("{most}…")));
    }

    #[test]
    fn what_is_selected_counts_and_has_its_name_where_it_is_all_of_a_symbol() {
        let cat = Asked::new("cat.rs", TEXT);
        let some = cat.actions([7, 4], [8, 10], json!({ "diagnostics": [] }));
        assert_eq!(some[1]["title"], "Explain these lines with Azimuth");
        assert_eq!(some[1]["command"]["arguments"][0]["lines"], json!([7, 8]));
        let all = cat.titles([7, 0], [10, 0], json!({ "diagnostics": [] }));
        assert_eq!(all[1], "Explain `age` with Azimuth");
    }

    #[test]
    fn a_problem_can_be_mended_and_explained_with_the_code_around_it() {
        let cat = Asked::new("cat.rs", TEXT);
        let context = json!({ "diagnostics": [problem(8, "rustc"), problem(8, "azimuth"), { "message": "broken" }] });
        let actions = cat.actions([8, 8], [8, 8], context);
        assert_eq!(actions[0]["title"], "Fix this problem with Azimuth");
        assert_eq!((&actions[0]["kind"], &actions[0]["tags"]), (&json!("quickfix"), &json!([1])));
        assert_eq!(actions[0]["diagnostics"], json!([problem(8, "rustc")]), "our own hints are no problems");
        assert_eq!(actions[1]["title"], "Explain this problem with Azimuth");
        let start: Start = serde_json::from_value(actions[0]["command"]["arguments"][0].clone()).unwrap();
        assert_eq!(start.lines, Some([7, 9]), "the function");
        assert_eq!(start.problems[0].code.as_deref(), Some("E0308"));
        let two = cat.titles([8, 0], [8, 0], json!({ "diagnostics": [problem(8, "a"), problem(3, "b")] }));
        assert_eq!(two[0], "Fix these 2 problems with Azimuth");
    }

    #[test]
    fn what_nobody_asked_for_is_only_what_mends() {
        let cat = Asked::new("cat.rs", TEXT);
        let of_itself =
            |diagnostics: Value| cat.titles([8, 8], [8, 12], json!({ "diagnostics": diagnostics, "triggerKind": 2 }));
        assert!(of_itself(json!([])).is_empty());
        assert_eq!(of_itself(json!([problem(8, "rustc")])), ["Fix this problem with Azimuth"]);
    }

    #[test]
    fn a_client_that_wants_one_kind_gets_that() {
        let cat = Asked::new("cat.rs", TEXT);
        let only = |kind: &str| {
            let context = json!({ "diagnostics": [problem(8, "rustc")], "only": [kind] });
            cat.titles([8, 8], [8, 8], context)
        };
        assert_eq!(only("quickfix"), ["Fix this problem with Azimuth"]);
        assert_eq!(only("azimuth.test"), ["Write tests for `age` with Azimuth"]);
        assert_eq!(only("azimuth").len(), 5);
        assert!(only("refactor").is_empty());
    }

    #[test]
    fn what_is_no_program_is_neither_tested_nor_documented_and_other_folders_are_not_ours() {
        let settings = Asked::new("a.json", "{ \"a\": { \"b\": 1 } }\n");
        let titles = settings.titles([0, 0], [0, 9], json!({ "diagnostics": [] }));
        assert_eq!(titles, ["Ask Azimuth about these lines", "Explain these lines with Azimuth"]);
        let unknown = Asked::new("notes.txt", "one\n");
        assert_eq!(unknown.titles([0, 0], [0, 0], json!({ "diagnostics": [] })).len(), 2);
        let mut outside = Asked::new("cat.rs", TEXT);
        outside.file = PathBuf::from("/elsewhere/cat.rs");
        assert!(outside.titles([8, 8], [8, 8], json!({ "diagnostics": [problem(8, "rustc")] })).is_empty());
    }

    #[test]
    fn a_problem_in_no_function_or_a_very_long_one_is_shown_with_the_lines_around_it() {
        let long = format!("fn f() {{\n{}}}\n", "    g();\n".repeat(400));
        let long = Asked::new("long.rs", &long);
        let lines = |line: u32| {
            let actions = long.actions([line, 0], [line, 0], json!({ "diagnostics": [problem(line, "rustc")] }));
            actions[0]["command"]["arguments"][0]["lines"].clone()
        };
        assert_eq!(lines(200), json!([180, 220]));
        assert_eq!(lines(395), json!([375, 401]));
    }
}
