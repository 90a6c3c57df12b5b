//! The advice of tools: the tools and fields that their words name are there, and whoever reads them has these tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::edit::EditForm;
use ports::tool::Tool;
use ports::tool_names;
use serde_json::Value;

use crate::fixture::World;
use crate::{builtin, is_shown};

const FORMS: [EditForm; 3] = [EditForm::Replace, EditForm::Patch, EditForm::Hashline];

/// Lists what is wrong with the words of a tool, if anything is.
pub(crate) fn wrong(tools: &[Arc<dyn Tool>], tool: &str, words: &str) -> Vec<String> {
    // The code that routes a command to a tool asks which tools there are.
    if tool == tool_names::SHELL_RUN {
        return Vec::new();
    }
    let named = names(tools, words);
    let mut wrong: Vec<String> = named.iter().filter(|named| !shown_with(tool, named)).map(|it| unknown(it)).collect();
    let of = |wanted: &dyn Fn(&str) -> bool| -> BTreeSet<String> {
        let wanted = tools.iter().filter(|tool| wanted(&tool.spec().name));
        wanted.flat_map(|tool| fields(&tool.spec().input_schema)).collect()
    };
    let (all, own) = (of(&|_| true), of(&|name| name == tool || named.iter().any(|named| named == name)));
    // Others are words of English too.
    let is_a_fields = |word: &&str| word.contains('_') || *word == "overwrite";
    let strange = split(words).filter(is_a_fields).filter(|word| all.contains(*word) && !own.contains(*word));
    wrong.extend(strange.map(|field| format!("`{field}` is a field of other tools")));
    wrong
}

fn unknown(name: &str) -> String {
    format!("a model may not have {name}")
}

fn split(words: &str) -> impl Iterator<Item = &str> {
    words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The tools that words name.
fn names(tools: &[Arc<dyn Tool>], words: &str) -> Vec<String> {
    let is_tool = |word: &&str| tools.iter().any(|tool| tool.spec().name == *word);
    split(words).filter(is_tool).map(str::to_owned).collect()
}

/// True if whoever is shown a tool is shown another one too. What is shown to none may be shown to all by a setting.
fn shown_with(tool: &str, other: &str) -> bool {
    let is_for_all = !FORMS.iter().any(|form| is_shown(tool, *form));
    tool == other || FORMS.iter().all(|form| is_shown(other, *form) || !(is_for_all || is_shown(tool, *form)))
}

/// The names of all properties in a schema.
fn fields(schema: &Value) -> BTreeSet<String> {
    let own = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|it| it.keys().cloned());
    let inner: Vec<&Value> = match schema {
        Value::Object(of) => of.values().collect(),
        Value::Array(of) => of.iter().collect(),
        _ => Vec::new(),
    };
    own.chain(inner.into_iter().flat_map(fields)).collect()
}

/// All sources in a folder but tests.
fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if ["tests", "fixture", "advice"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// The texts in quotes in a source.
fn literals(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = source[at..].find(['"', '/', '\'']) {
        let (before, from) = source.split_at(at + next);
        let quote = ["'\"'", "'\\\"'"].into_iter().find(|quote| from.starts_with(quote));
        let length = if from.starts_with("//") {
            from.find('\n').unwrap_or(from.len())
        } else if let Some(quote) = quote {
            quote.len()
        } else if let Some(text) = from.strip_prefix('"') {
            let marked = before.trim_end_matches('#');
            let end = if marked.ends_with('r') {
                let end = format!("\"{}", "#".repeat(before.len() - marked.len()));
                text.find(&end)
            } else {
                let mut escaped = false;
                text.find(|c| {
                    let is_end = c == '"' && !escaped;
                    escaped = c == '\\' && !escaped;
                    is_end
                })
            };
            let end = end.unwrap_or(text.len());
            found.push(text[..end].to_owned());
            (end + 2).min(from.len())
        } else {
            1
        };
        at += next + length;
    }
    found
}

#[test]
fn all_words_of_a_source_are_looked_at_raw_ones_too() {
    let source = r##"
        let plain = "one \" two"; // "no words"
        let quotes = ['"', '\"'];
        let raw = r#"{ "use": "edit_file" }"#;
        let bare = r"C:\"; let last = "the last";
    "##;
    assert_eq!(literals(source), ["one \\\" two", r#"{ "use": "edit_file" }"#, "C:\\", "the last"]);
}

#[test]
fn every_tool_that_the_words_of_a_tool_name_is_shown_to_whoever_reads_them() {
    let world = World::new(&[]);
    let tools = builtin(&world.services());
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for of in ["tools", "project", "code", "process", "shell", "lang"] {
        sources(&here.join("..").join(of).join("src"), &mut files);
    }
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        // It asks which tools there are.
        if name == "intercept" {
            continue;
        }
        #[expect(clippy::disallowed_methods, reason = "it is our own source")]
        let source = std::fs::read_to_string(&file).unwrap();
        // Words that several tools use may be read by any model.
        let of = tools.iter().map(|tool| tool.spec().name.clone()).find(|tool| *tool == name).unwrap_or_default();
        for text in literals(&source).iter().filter(|text| text.contains(' ')) {
            let named = names(&tools, text);
            seen += named.len();
            let missing = named.into_iter().filter(|named| !shown_with(&of, named));
            wrong.extend(missing.map(|named| format!("{}: {}: {text}", file.display(), unknown(&named))));
        }
    }
    assert!(seen > 20, "only {seen} were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_a_tool_says_of_itself_names_only_tools_that_are_shown_beside_it() {
    let tools = builtin(&World::new(&[]).services());
    // A tool that only a setting shows is chosen by whoever knows the tools.
    let is_shown = |tool: &&Arc<dyn Tool>| FORMS.iter().any(|form| is_shown(&tool.spec().name, *form));
    for tool in tools.iter().filter(is_shown) {
        let spec = tool.spec();
        let (name, said) = (&spec.name, format!("{} {}", spec.description, spec.input_schema));
        let missing: Vec<_> = names(&tools, &said).into_iter().filter(|named| !shown_with(name, named)).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}
