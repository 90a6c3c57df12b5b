//! Edits by pattern and by name: through the whole server, and over the sources of real programs.

#![expect(clippy::disallowed_methods, reason = "the tests read the sources of real programs")]

use std::path::{Path, PathBuf};

use code::edit::structural::{Rule, StructuralError, rewrite};
use code::edit::symbol::{Change, SymbolError, edit_symbol};
use code::syntax::{Language, Outline, Parsed};
use harness::crates::source_of;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::methods;
use protocol::turn::StopReason;
use serde_json::{Value, json};

/// The results of the last calls, as the model was told them, and the texts proposed for files.
async fn after(rules: &str, calls: Answer, unsaved: &[(&str, &str)]) -> (Vec<String>, Vec<(String, String)>) {
    let model = ModelServer::start([calls, Answer::says("Done.")]).await;
    let setup = Setup::empty();
    setup.configure(&(Setup::configuration(&model, Wire::Anthropic) + rules));
    let project = Project::new([
        ("src/a.rs", "fn a() {\n    x.unwrap();\n}\n"),
        ("src/b.rs", "fn b() {}\n"),
        ("gen/c.rs", "fn c() { y.unwrap(); }\n"),
    ]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    for (file, text) in unsaved {
        client.open_with(&project.uri(file), text);
    }
    let session = client.new_session().await;
    client.prompt(&session, "Rewrite it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let told = model.asked().last().unwrap().last_results().into_iter().map(str::to_owned).collect();
    let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
    let hunks = listed.into_iter().flat_map(|proposal| {
        let name = proposal.uri.rsplit('/').next().unwrap_or_default().to_owned();
        proposal.hunks.into_iter().map(move |hunk| (name.clone(), hunk.new_text))
    });
    let hunks = hunks.collect();
    assert_eq!(client.finish().await, 0);
    (told, hunks)
}

fn unwraps(paths: &[&str]) -> Value {
    json!({ "ops": [{ "pattern": "$A.unwrap()", "rewrite": "$A?" }], "paths": paths, "language": "rust" })
}

#[tokio::test]
async fn code_is_rewritten_by_shape_in_all_files_and_reviewed_like_any_edit() {
    let calls = Answer::calls("edit_structural", unwraps(&["."]));
    let (told, hunks) = after("", calls, &[("src/b.rs", "fn b() {\n    z.unwrap();\n}\n")]).await;
    assert!(told[0].starts_with("Rewrites 3 places in 3 files:\n"), "{told:?}");
    let hunk = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let mut hunks = hunks;
    hunks.sort();
    assert_eq!(hunks, [hunk("a.rs", "    x?;\n"), hunk("b.rs", "    z?;\n"), hunk("c.rs", "fn c() { y?; }\n")]);
}

#[tokio::test]
async fn a_rule_against_editing_a_file_holds_where_the_call_named_only_its_folder() {
    let calls = Answer::calls("edit_structural", unwraps(&["."]));
    let (told, hunks) = after("[permissions]\ndeny = [\"Edit(gen/**)\"]\n", calls, &[]).await;
    assert!(told[0].contains("denied: rule `Edit(gen/**)`"), "{told:?}");
    assert_eq!(hunks, []);
}

#[tokio::test]
async fn a_symbol_is_edited_on_top_of_what_is_pending() {
    let method = json!({ "path": "src/a.rs", "symbol": "a", "operation": "insert_after", "text": "fn d() {}" });
    let calls = Answer::calls("edit_structural", unwraps(&["src/a.rs"])).call("edit_symbol", method);
    let (told, hunks) = after("", calls, &[]).await;
    assert!(told[1].starts_with("Inserted after a of src/a.rs, from line "), "{told:?}");
    let text: String = hunks.iter().map(|(_, text)| text.as_str()).collect();
    assert!(text.contains("    x?;\n") && text.contains("fn d() {}\n"), "{hunks:?}");
}

/// The sources of a language in a crate that we depend on, or in our own folders.
fn sources(folder: &Path, language: Language) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("node_modules") {
                folders.push(path);
            } else if Language::possible(&path) == [language]
                && let Ok(text) = std::fs::read_to_string(&path)
                && text.len() < 50_000
            {
                found.push((path, text));
            }
        }
    }
    found.sort();
    found.truncate(20);
    found
}

fn corpus() -> Vec<(Language, Vec<(PathBuf, String)>)> {
    let of = |name: &str, language| (language, sources(&source_of(name), language));
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    vec![
        of("similar", Language::Rust),
        of("ignore", Language::Rust),
        of("tree-sitter", Language::C),
        of("tree-sitter-go", Language::JavaScript),
        of("tree-sitter-java", Language::JavaScript),
        of("tree-sitter-python", Language::Json),
        (Language::TypeScript, sources(&own.join("editors/vscode/src"), Language::TypeScript)),
        (Language::JavaScript, sources(&own.join("editors/vscode/test"), Language::JavaScript)),
        (Language::Python, sources(&own.join("tests/clients"), Language::Python)),
    ]
}

#[test]
fn rewriting_real_sources_there_and_back_gives_them_as_they_were() {
    let ways: &[(Language, &str, &str)] = &[
        (Language::Rust, "Some($A)", "Zzz($A)"),
        (Language::Rust, "$A.len()", "$A.zzz()"),
        (Language::Rust, "if $C { $$$B }", "if zzz($C) { $$$B }"),
        (Language::C, "sizeof($A)", "zzz($A)"),
        (Language::C, "return $A;", "return zzz($A);"),
        (Language::JavaScript, "choice($$$A)", "zzz($$$A)"),
        (Language::JavaScript, "await $A", "await zzz($A)"),
        (Language::TypeScript, "return $A;", "return zzz($A);"),
        (Language::Python, "return $A", "return zzz($A)"),
        (Language::Json, "[$$$A]", "[\"zzz\", [$$$A]]"),
    ];
    let (mut same, mut refused) = (0, 0);
    for (language, files) in corpus() {
        for (_, pattern, other) in ways.iter().filter(|(of, ..)| *of == language) {
            let there = [Rule::new(pattern, other, language).unwrap()];
            let back = [Rule::new(other, pattern, language).unwrap()];
            for (path, text) in &files {
                let text = text.replace("\r\n", "\n");
                let parsed = Parsed::new(language, text.as_str()).unwrap();
                let changed = match rewrite(&parsed, &there) {
                    Ok(changed) if changed.places.is_empty() => continue,
                    Ok(changed) => changed,
                    Err(
                        StructuralError::Overlapping { .. }
                        | StructuralError::Broken { .. }
                        | StructuralError::Breaks { .. },
                    ) => {
                        refused += 1;
                        continue;
                    }
                    Err(error) => panic!("{}: {error}", path.display()),
                };
                let again = rewrite(&Parsed::new(language, changed.text).unwrap(), &back).unwrap();
                // Lines may be broken elsewhere, as before the dot of a call; what they say may not differ.
                let words = |text: &str| text.split_whitespace().collect::<String>();
                assert_eq!(words(&again.text), words(&text), "{} {pattern}", path.display());
                assert_eq!(again.places.len(), changed.places.len(), "{} {pattern}", path.display());
                same += 1;
            }
        }
    }
    println!("there and back: {same} the same, {refused} refused");
    assert!(same > 50, "{same} the same, {refused} refused");
}

#[test]
fn every_symbol_of_real_sources_is_found_by_its_name_and_is_what_it_is_replaced_by() {
    let (mut same, mut broken) = (0, 0);
    for (language, files) in corpus() {
        for (path, text) in files {
            let parsed = Parsed::new(language, text.replace("\r\n", "\n")).unwrap();
            let outline = Outline::new(&parsed);
            for symbol in outline.symbols.iter().step_by(outline.symbols.len() / 8 + 1) {
                let name = format!("/{}", outline.name(symbol));
                let twins = outline.symbols.iter().filter(|other| outline.name(other) == outline.name(symbol));
                let at = twins.clone().position(|twin| twin == symbol).unwrap();
                let name = if twins.count() > 1 { format!("{name}[{}]", at + 1) } else { name };
                let code = &parsed.text[symbol.range.clone()];
                match edit_symbol(&parsed, &name, Change::Replace, code) {
                    Err(SymbolError::SameText { .. }) => same += 1,
                    Err(SymbolError::Broken { .. }) => broken += 1,
                    other => panic!("{} {name}: {:?}", path.display(), other.map(|edited| edited.line)),
                }
            }
        }
    }
    println!("by name: {same} the same, {broken} with syntax errors in them");
    assert!(same > 300, "{same} the same, {broken} with syntax errors");
}
