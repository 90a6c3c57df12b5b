//! The cases of other projects.

use super::*;

/// Cases of Tabby's whose outcome is another one here, and why.
const OTHER_THAN_TABBY: &[(&str, &str)] = &[(
    "replace_range/mismatched_01",
    "the answer is Python and the document TypeScript, so that it would break the syntax",
)];

/// Cases of Continue's whose outcome is another one here, and why.
const OTHER_THAN_CONTINUE: &[(&str, &str)] = &[
    (
        "Should preserve closing brackets when the opening bracket is not a part of the completion.",
        "the answer is indented by four, the document by two",
    ),
    ("Should autocomplete CSS pseudoclass", "a semicolon is behind the cursor already"),
    ("Should autocomplete a simple Go function declaration", "the answer is indented by spaces, the document by tabs"),
    (
        "Should handle autocomplete in the middle of a Go struct definition",
        "the answer completes a line, and what follows is another statement",
    ),
    ("Should autocomplete SQL query with nested functions and missing bracket", "no bracket is missing"),
    (
        "Should autocomplete a Rust function implementation inside a struct",
        "the answer is indented as if the function were not in a block",
    ),
    (
        "Should autocomplete TypeScript interface properties",
        "the answer completes a line, and what follows is another statement",
    ),
    (
        "Should return partial result when output is duplicated lines in TypeScript",
        "a statement between parameters breaks the syntax",
    ),
];

/// Answers that models gave and nobody wants, the languages, and what is shown of them.
const BAD: &[(&str, &str, Result<&str, Rule>)] = &[
    ("QWEN_JSON", "json", Ok("\"latitude\": 34.10834,\n       \"longitude\": -117.28977")),
    // The document is the middle of a list, so that the parser finds errors with and without the answer.
    ("QWEN_TYPESCRIPT", "ts", Ok("\n\nexport default {\n  components: {\n    ChildComponent,\n  },")),
    ("STARCODER_JSON", "json", Err(Rule::Syntax)),
    ("STARCODER_PYTHON", "py", Ok("self.result /= number")),
    // The answer leaves a bracket open on the cursor's line; so does the document.
    ("STARCODER_RUBY", "rb", Ok("\n    @result ** number\n    self\n  end")),
    ("STARCODER_RUST", "rs", Err(Rule::Syntax)),
];

/// The document of a case of Tabby's, with the answer in it and without.
fn marked(path: &str, text: &str) -> (Document, String, String) {
    let (before, rest) = text.split_once('├').unwrap();
    let (answer, after) = rest.rsplit_once('┤').unwrap();
    let replaced_end = after.find('╣').map_or(0, |at| at);
    let after_replaced = after.get(replaced_end..).unwrap().trim_start_matches('╣');
    let document = Document::new(path, (before, after), answer);
    (document, answer.to_owned(), format!("{before}{answer}{after_replaced}"))
}

#[test]
fn the_cases_of_tabby_have_its_outcome() {
    let folder = project().join("tests/corpus/inline/tabby/golden");
    let (mut same, mut bad, mut others) = (0, 0, Vec::new());
    for file in files(&folder) {
        let case: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
        let name = file.strip_prefix(&folder).unwrap().with_extension("").to_string_lossy().into_owned();
        let text = case["context"]["text"].as_str().unwrap();
        let (document, answer, unchanged) = marked(case["context"]["filepath"].as_str().unwrap(), text);
        let expected = case["expected"].as_table().unwrap();
        let wanted = match (expected.get("text"), expected.contains_key("unchanged")) {
            (Some(text), _) => Some(marked("", text.as_str().unwrap()).2),
            (None, true) => Some(unchanged),
            (None, false) => None,
        };
        let tidied = document.tidy(&answer, false);
        let shown = tidied.as_ref().ok().map(|tidied| document.with(tidied));
        // Tabby's own outcome is another one than what it writes down as wanted or unwanted.
        if expected.contains_key("notEqual") {
            bad += 1;
            println!("known bad: {name}: {tidied:?}");
        } else if shown == wanted {
            same += 1;
        } else {
            println!("{name}: wanted {wanted:?}\n got {shown:?} {tidied:?}");
            others.push(name);
        }
    }
    println!("tabby: {same} the same, {} others, {bad} known as bad", others.len());
    assert_eq!(others, OTHER_THAN_TABBY.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn the_cases_of_continue_have_its_outcome() {
    let folder = project().join("tests/corpus/inline/continue");
    let (mut same, mut others) = (0, Vec::new());
    for file in ["unchanged.json", "changed.json"] {
        let cases: serde_json::Value = serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        for case in cases.as_array().unwrap() {
            // One case has no cursor.
            let Some((before, after)) = case["input"].as_str().unwrap().split_once("<|fim|>") else { continue };
            let answer = case["answer"].as_str().unwrap();
            let document = Document::new(case["filename"].as_str().unwrap(), (before, after), answer);
            let tidied = document.tidy(answer, false);
            let wanted = case["expected"].as_str().map(str::trim);
            let shown = tidied.as_ref().ok().map(|tidied| tidied.text.trim());
            if shown == wanted {
                same += 1;
            } else {
                println!("{}: wanted {wanted:?}\n got {tidied:?}", case["description"]);
                others.push(case["description"].as_str().unwrap().to_owned());
            }
        }
    }
    println!("continue: {same} the same, {} others", others.len());
    assert_eq!(others, OTHER_THAN_CONTINUE.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn bad_answers_are_shortened_to_what_is_good_or_not_shown() {
    let folder = project().join("tests/corpus/inline/continue/NEGATIVE_TEST_CASES");
    let mut shown = Vec::new();
    for file in files(&folder) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let language = name.rsplit('_').next().unwrap().to_lowercase();
        let extension = match language.as_str() {
            "typescript" => "ts",
            "python" => "py",
            "ruby" => "rb",
            "rust" => "rs",
            _ => "json",
        };
        let text = fs::read_to_string(&file).unwrap();
        let (prompt, answer) = text.split_once("Completion:\n\n").unwrap();
        let prompt = prompt.trim_start_matches("##### Prompt #####\n").trim_end_matches(['=', '\n']);
        let (before, after) = prompt.split_once("<FIM>").unwrap();
        let document = Document::new(&format!("a.{extension}"), (before, after), answer);
        let tidied = document.tidy(answer, false);
        println!("{name}: {tidied:?}");
        shown.push((name, extension, tidied.map(|tidied| tidied.text)));
    }
    let shown: Vec<_> = shown
        .iter()
        .map(|(name, extension, text)| (name.as_str(), *extension, text.as_deref().map_err(|rule| *rule)))
        .collect();
    assert_eq!(shown, BAD);
}
