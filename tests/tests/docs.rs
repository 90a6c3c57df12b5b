//! The documents hold together: links lead somewhere, and every method is explained.
#![expect(clippy::disallowed_methods, reason = "the test reads the project's own documents")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use protocol::methods::{CLIENT_REQUESTS, NOTIFICATIONS, REQUESTS};

#[test]
fn every_relative_link_leads_somewhere() {
    let root = project_root();
    let documents = documents(&root);
    for expected in ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/protocol.md"] {
        assert!(documents.contains(&root.join(expected)), "{expected} is missing");
    }
    let broken: Vec<_> = documents.iter().flat_map(|document| broken_links(&root, document)).collect();
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_method_is_explained() {
    let text = fs::read_to_string(project_root().join("docs/protocol.md")).unwrap();
    let headings: BTreeSet<_> = headings(&text).collect();
    for method in REQUESTS.iter().chain(CLIENT_REQUESTS).chain(NOTIFICATIONS) {
        let heading = format!("`{}`", method.method);
        assert!(headings.contains(heading.as_str()), "docs/protocol.md has no heading for {}", method.method);
    }
}

#[test]
fn every_place_that_the_architecture_sends_to_is_there() {
    let root = project_root();
    let text = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let (_, table) = text.split_once("## Where does a change go?").unwrap();
    let table = table.split("\n## ").next().unwrap_or_default();
    // A word with a slash is a path; the rest are names in the code.
    let places: Vec<_> = table.split('`').skip(1).step_by(2).filter(|word| word.contains('/')).collect();
    assert!(places.contains(&"protocol/src/settings.rs"), "{places:?}");
    let is_there = |place: &&str| root.join("server/crates").join(place).exists() || root.join(place).exists();
    let missing: Vec<_> = places.iter().filter(|place| !is_there(place)).collect();
    assert!(missing.is_empty(), "docs/architecture.md sends to {missing:?}");
}

#[test]
fn every_vendor_with_a_variable_of_its_own_is_in_the_documentation_and_in_both_pickers_of_keys() {
    let root = project_root();
    let settings = providers::Settings::from_env(|_| Some("k".into()));
    let source = |it: &providers::Provider| it.key_source.split(' ').next().map(str::to_owned);
    let variables: Vec<_> = settings.providers.iter().filter(|it| !it.is_local).filter_map(source).collect();
    assert!(variables.contains(&"ANTHROPIC_API_KEY".to_owned()) && variables.len() > 15, "{variables:?}");
    let files = [
        "docs/configuration.md",
        "editors/vscode/src/generated/vendors.ts",
        "editors/nvim/lua/azimuth/generated/vendors.lua",
    ];
    for file in files {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let missing: Vec<_> = variables.iter().filter(|variable| !text.contains(*variable)).collect();
        assert!(missing.is_empty(), "{file} does not have {missing:?}");
    }
}

#[test]
fn the_models_that_examples_name_are_ones_that_we_know() {
    let root = project_root();
    let data = fs::read_to_string(root.join("server/crates/providers/src/models.toml")).unwrap();
    let mut files = documents(&root);
    files.extend(
        ["editors/vscode/package.json", "server/src/cli.rs", "docs/protocol.schema.json"].map(|it| root.join(it)),
    );
    let mut named = 0;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
        let words = text.split(|c| !is_part(c)).map(|word| word.trim_end_matches(['.', '-']));
        for word in words.filter(|word| word.starts_with("claude-") || word.starts_with("gpt-")) {
            // `claude-agent-acp` and the like are no models.
            if word.contains(|c: char| c.is_ascii_digit()) {
                named += 1;
                assert!(data.contains(&format!("id = \"{word}\"")), "{} names {word}", file.display());
            }
        }
    }
    assert!(named > 2, "{named} examples are too few to be all");
}

#[test]
fn a_link_to_a_missing_file_or_heading_is_found() {
    let root = tempfile::tempdir().unwrap();
    let document = root.path().join("a.md");
    fs::write(root.path().join("b.md"), "# Two words, `code/here`\n\n## Again\n\n## Again\n").unwrap();
    let text = "\
[fine](b.md) [fine](b.md#two-words-codehere) [fine](b.md#again-1) [fine](#here) [fine](https://example.org/x)
## Here
[no file](c.md) and [no heading](b.md#three)
[no heading](#there)
`[code](nowhere.md)`
```
[in a block](nowhere.md)
```
[outside](../b.md)
";
    fs::write(&document, text).unwrap();
    assert_eq!(
        broken_links(root.path(), &document),
        [
            "a.md: c.md: there is no such file",
            "a.md: b.md#three: there is no such heading",
            "a.md: #there: there is no such heading",
            "a.md: ../b.md: there is no such file",
        ]
    );
}

fn project_root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap()
}

/// The documents of the project: those at its root, and all under `docs`, `editors` and `tests`.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let wanted = folder != root || ["docs", "editors", "tests"].contains(&name.as_str());
            if path.is_dir() && wanted && !["node_modules", "artifacts", "fixtures"].contains(&name.as_str()) {
                folders.push(path);
            } else if name.ends_with(".md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Each broken link of a document, with what is wrong with it.
fn broken_links(root: &Path, document: &Path) -> Vec<String> {
    let text = fs::read_to_string(document).unwrap();
    let name = document.strip_prefix(root).unwrap().display().to_string();
    links(&text)
        .into_iter()
        .filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        .filter_map(|link| fault(root, document, &text, &link).map(|fault| format!("{name}: {link}: {fault}")))
        .collect()
}

fn fault(root: &Path, document: &Path, text: &str, link: &str) -> Option<&'static str> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { document.to_owned() } else { document.parent().unwrap().join(path) };
    // A link out of the project would lead somewhere on one machine only.
    let inside = |target: &PathBuf| target.starts_with(fs::canonicalize(root).unwrap());
    let Some(target) = fs::canonicalize(target).ok().filter(inside) else {
        return Some("there is no such file");
    };
    let anchor = anchor?;
    let text = if path.is_empty() { text.to_owned() } else { fs::read_to_string(target).unwrap() };
    (!anchors(&text).contains(anchor)).then_some("there is no such heading")
}

/// The targets of `[text](target)` and `[name]: target`, outside of code.
fn links(text: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in prose(text) {
        // Every second piece between backticks is code.
        let line: String = line.split('`').step_by(2).collect();
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        links.extend(targets.map(str::to_owned));
        if line.starts_with('[')
            && let Some((_, target)) = line.split_once("]: ")
        {
            links.push(target.trim().to_owned());
        }
    }
    links
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .filter_map(|line| line.split_once("# "))
        .map(|(_, text)| text.trim())
}

/// The anchors of a document's headings, as forges derive them: lower case, without punctuation, blanks as dashes; the
/// second of two equal ones ends in `-1`.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen = BTreeMap::<String, usize>::new();
    let mut anchors = BTreeSet::new();
    for heading in headings(text) {
        let kept =
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        let anchor = kept.replace(' ', "-");
        let count = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    anchors
}

/// The lines outside of fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}
