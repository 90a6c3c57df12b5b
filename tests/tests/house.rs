//! The shape of the sources, held by a test: what the project promises of them in CONTRIBUTING.md. What does not keep
//! a rule yet is listed here with how far it is from it. A list only shrinks: what got better must be said here.
#![expect(clippy::disallowed_methods, reason = "the test reads the project's own sources")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use code::syntax::{Language, Outline, Parsed, SymbolKind};
use regex::Regex;

/// The most lines of a file of code, without the tests in it.
const LINES_OF_FILE: usize = 600;
/// Files that have more.
const LONG_FILES: &[(&str, usize)] = &[
    ("editors/nvim/lua/azimuth/client.lua", 751),
    ("server/crates/permission/src/shell.rs", 764),
    ("server/crates/permission/src/spellings.rs", 645),
    ("server/crates/lang/src/pool/source.rs", 636),
    ("server/crates/project/src/review.rs", 746),
    ("server/crates/project/src/review/proposal.rs", 821),
    ("server/crates/process/src/sandbox/places.rs", 619),
    ("server/crates/code/src/syntax/definitions.rs", 664),
    ("server/src/lsp/chat.rs", 664),
];

/// The most lines of a function.
const LINES_OF_FUNCTION: usize = 100;
/// Functions that have more.
const LONG_FUNCTIONS: &[(&str, usize)] = &[];

/// Folders in which modules import each other in a circle, and how many of them do.
const CIRCLES: &[(&str, usize)] = &[
    ("server/crates/agent/src", 2),
    ("server/crates/permission/src", 2),
    ("server/crates/providers/src", 2),
    ("server/crates/store/src", 2),
    ("server/crates/tools/src", 2),
    ("server/crates/tools/src/lsp", 3),
    ("server/crates/process/src", 2),
    ("server/crates/code/src/edit/patch", 2),
    ("server/crates/lang/src", 2),
    ("server/crates/lang/src/client", 3),
    ("server/crates/shell/src", 7),
    ("server/crates/shell/src/parse", 2),
    ("server/src/lsp", 5),
    ("tests/harness/src", 2),
];

/// The most fields of the struct that owns a session.
const FIELDS_OF_SESSION: usize = 15;

/// The most columns of a comment; those of code are held by rustfmt.
const COLUMNS: usize = 120;

/// Where the names of tools are that others speak of.
const TOOL_NAMES: &str = "server/crates/ports/src/tool_names.rs";
/// Files that name built-in tools in literals of their own, and how often. They are helpers of tests.
const NAMED_TOOLS: &[(&str, usize)] = &[
    ("server/crates/providers/src/loopback.rs", 2),
    ("server/crates/providers/src/loopback/streams.rs", 3),
    ("server/crates/providers/src/wire/testing.rs", 5),
];

/// Phrases that nobody would say, and docstrings that begin with a question, as expressions with how often the sources
/// have them ([the style](../../CONTRIBUTING.md#prose-is-plain-english)).
const DIALECT: &[(&str, usize)] = &[
    (r"\b[Nn]one wher[e]\b", 3),
    (r"\b[Aa]bsent wher[e]\b", 0),
    (r"\bas they com[e]\b", 5),
    (r"\b[Pp]ut agai[n]\b", 8),
    (r"^\s*(//[/!]?|/\*\*|\*|---?) ?What[ ']", 12),
    (r"^\s*(//[/!]?|/\*\*|\*|---?) ?Whether ", 2),
];

#[test]
fn no_file_of_code_is_so_long_that_one_must_scroll() {
    let lines = sources().into_iter().map(|source| (source.name.clone(), source.code_lines())).collect();
    compare("lines of a file", lines, LINES_OF_FILE, LONG_FILES);
}

#[test]
fn no_function_is_longer_than_a_page() {
    let mut functions = BTreeMap::new();
    for source in sources().iter().filter(|source| source.is_rust()) {
        for (name, lines) in source.functions() {
            let longest = functions.entry(format!("{} {name}", source.name)).or_insert(0);
            *longest = lines.max(*longest);
        }
    }
    compare("lines of a function", functions, LINES_OF_FUNCTION, LONG_FUNCTIONS);
}

#[test]
fn modules_beside_each_other_import_each_other_in_no_circle() {
    let sources = sources();
    let circles: BTreeMap<_, _> = sources
        .iter()
        .filter(|source| source.is_rust())
        .fold(BTreeMap::<String, Imports>::new(), |mut folders, source| {
            for (folder, from, to) in source.imports_beside() {
                folders.entry(folder).or_default().entry(from).or_default().insert(to);
            }
            folders
        })
        .into_iter()
        .map(|(folder, imports)| (folder, in_circles(&imports).len()))
        .collect();
    compare("modules in a circle", circles, 0, CIRCLES);
}

#[test]
fn a_session_is_a_small_owner_of_parts() {
    let text = fs::read_to_string(root().join("server/crates/hub/src/session.rs")).unwrap();
    let (_, fields) = text.split_once("\npub(super) struct Session {\n").unwrap();
    let (fields, _) = fields.split_once("\n}").unwrap();
    let field = Regex::new(r"(?m)^    (pub(\([a-z ]+\))? )?[a-z_]+: ").unwrap();
    let fields = BTreeMap::from([("Session".to_owned(), field.find_iter(fields).count())]);
    compare("fields", fields, FIELDS_OF_SESSION, &[]);
}

#[test]
fn a_built_in_tool_is_named_by_its_own_file_and_by_a_constant() {
    let page = fs::read_to_string(root().join("docs/tools.md")).unwrap();
    // A test of the crate `tools` holds that the page has each of them.
    let rows = Regex::new(r"(?m)^\| `([a-z_]+)` \| [^|\n]+ \| [^|\n]+ \|$").unwrap();
    let names: Vec<_> = rows.captures_iter(&page).map(|row| row[1].to_owned()).collect();
    assert!(names.len() > 40, "{names:?}");
    let literal = Regex::new(&format!(r#"(= )?"({}|edit_)""#, names.join("|"))).unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let mut named = BTreeMap::new();
    let is_one = |source: &&Source| source.name.starts_with("server/") && source.name != TOOL_NAMES;
    for source in sources().iter().filter(is_one) {
        let may_define = source.name.starts_with("server/crates/tools/src/");
        let literals = source.code().lines().filter(is_code).flat_map(|line| literal.captures_iter(line));
        let count = literals.filter(|found| !(may_define && found.get(1).is_some())).count();
        if count > 0 {
            named.insert(source.name.clone(), count);
        }
    }
    compare("literals with a tool's name, instead of ports::tool_names", named, 0, NAMED_TOOLS);
}

#[test]
fn no_comment_is_wider_than_the_code() {
    let comment = Regex::new(r"^\s*//").unwrap();
    let is_wide = |line: &str| comment.is_match(line) && line.chars().count() > COLUMNS && !line.contains("://");
    let files: Vec<_> = all_sources().into_iter().filter(Source::is_rust).collect();
    let wide = places(&files, is_wide);
    assert!(wide.is_empty(), "wrap these comments at {COLUMNS} columns:\n{}", wide.join("\n"));
}

#[test]
fn the_sources_speak_plain_english_more_and_more() {
    let sources: Vec<_> = all_sources().into_iter().filter(|source| !source.name.contains("/generated/")).collect();
    for (phrase, before) in DIALECT {
        let count = occurrences(&sources, phrase);
        assert!(count <= *before, "`{phrase}`: {count}, it was {before}; docs/words.md says what to write instead");
        // A few less are no reason to touch the number.
        assert!(count >= before - before / 20, "`{phrase}`: {count} now, so {before} in this test is to be lowered");
    }
}

#[test]
fn phrases_are_counted_wherever_they_stand() {
    let source = |text: &str| Source { name: "server/src/a.rs".to_owned(), text: text.to_owned() };
    let none = concat!("none ", "where unknown");
    let files = [source(&format!("/// What it is.\nlet a = 1; // {none}, {none}\n")), source("//! Whatever.\n")];
    assert_eq!(occurrences(&files, DIALECT[0].0), 2);
    assert_eq!(occurrences(&files, DIALECT[4].0), 1);
    assert_eq!(occurrences(&files, DIALECT[5].0), 0);
}

#[test]
fn no_word_refers_to_a_document_that_is_not_in_the_repository() {
    // Built here of two parts, so that this file does not break its own rule.
    let reference =
        Regex::new(&format!(r"\bdesigns? (D\d|{0})|\b00\d ({0}|appendix)|\b00\d-[A-Z]{{3}}-\d", '\u{a7}')).unwrap();
    let mut files = all_sources();
    files.extend(below(&root().join("docs"), &["md"]).into_iter().map(Source::read));
    files.extend(["README.md", "CONTRIBUTING.md"].map(|name| Source::read(root().join(name))));
    let found = places(&files, |line| reference.is_match(line));
    assert!(found.is_empty(), "say the reason instead, or name a decision of docs/decisions:\n{}", found.join("\n"));
}

#[test]
fn modules_that_import_each_other_are_found() {
    let imports = |edges: &[(&str, &str)]| {
        edges.iter().fold(Imports::new(), |mut all, (from, to)| {
            all.entry((*from).to_owned()).or_default().insert((*to).to_owned());
            all
        })
    };
    assert!(in_circles(&imports(&[("a", "b"), ("b", "c"), ("a", "c")])).is_empty());
    let found = in_circles(&imports(&[("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]));
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["b", "c"]);
    let text = "use super::c::{D, e};\nuse super::{f::{self, G}, H};\nfn a() { super::i::j(); super::super::k::l() }\n";
    let source = Source { name: "server/src/a/b.rs".to_owned(), text: text.to_owned() };
    let mut found = source.imports_beside();
    found.sort();
    let expected =
        [("server/src", "a", "k"), ("server/src/a", "b", "c"), ("server/src/a", "b", "f"), ("server/src/a", "b", "i")];
    assert_eq!(found, expected.map(|(folder, from, to)| (folder.to_owned(), from.to_owned(), to.to_owned())));
}

/// Which module imports which, of those in one folder.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// A file of ours.
struct Source {
    /// Its path from the project's folder.
    name: String,
    text: String,
}

impl Source {
    fn read(path: PathBuf) -> Self {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        Self { name, text: fs::read_to_string(path).unwrap() }
    }

    fn is_rust(&self) -> bool {
        self.name.ends_with(".rs")
    }

    /// The text before the tests in it.
    fn code(&self) -> &str {
        self.text.split("\n#[cfg(test)]\nmod tests {\n").next().unwrap_or_default()
    }

    fn code_lines(&self) -> usize {
        self.code().lines().count()
    }

    /// Its functions with how many lines they have.
    fn functions(&self) -> Vec<(String, usize)> {
        if self.code_lines() <= LINES_OF_FUNCTION {
            return Vec::new();
        }
        let outline = Outline::new(&Parsed::new(Language::Rust, self.code()).unwrap());
        let is_function = |kind| matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Constructor);
        let symbols = outline.symbols.iter().filter(|symbol| is_function(symbol.kind));
        symbols.map(|symbol| (symbol.own_name().to_owned(), symbol.lines.clone().count())).collect()
    }

    /// Its module, as the names from the crate's root on; the root itself has none.
    fn module(&self) -> (&str, Vec<&str>) {
        let (krate, path) = self.name.split_once("src/").unwrap();
        let path = path.trim_end_matches(".rs");
        let names = path.split('/').filter(|_| !matches!(path, "lib" | "main")).collect();
        (krate, names)
    }

    /// Where it imports a module that lies beside it, or beside one that it is in: the folder, and the two.
    fn imports_beside(&self) -> Vec<(String, String, String)> {
        let (krate, module) = self.module();
        let mut found = BTreeSet::new();
        for mut path in self.paths() {
            let mut from = match path.first().map(String::as_str) {
                Some("crate") => 0,
                Some("super") => module.len(),
                _ => continue,
            };
            while path.first().is_some_and(|name| name == "super") {
                from = from.saturating_sub(1);
                path.remove(0);
            }
            if path.first().is_some_and(|name| name == "crate") {
                path.remove(0);
            }
            let target: Vec<&str> = module[..from].iter().copied().chain(path.iter().map(String::as_str)).collect();
            let shared = module.iter().zip(&target).take_while(|(here, there)| here == there).count();
            let (Some(here), Some(there)) = (module.get(shared), target.get(shared)) else { continue };
            let folder = module[..shared].iter().fold(format!("{krate}src"), |folder, name| format!("{folder}/{name}"));
            let is_module = root().join(&folder).join(format!("{there}.rs")).exists() || self.name.contains("src/a/");
            let is_name = there.chars().all(|letter| letter.is_lowercase() || letter == '_' || letter.is_ascii_digit());
            if is_module && is_name {
                found.insert((folder, (*here).to_owned(), (*there).to_owned()));
            }
        }
        found.into_iter().collect()
    }

    /// The paths that it names from `crate` or `super` on, with what stands in braces told apart.
    fn paths(&self) -> Vec<Vec<String>> {
        static PATH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\b(?:crate|super)(?:::\w+)*(?:::\{)?").unwrap());

        let code = self.code();
        let mut paths = Vec::new();
        for found in PATH.find_iter(code) {
            let names = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
            match found.as_str().strip_suffix("::{") {
                None => paths.push(names(found.as_str())),
                Some(stem) => {
                    for first in first_names(&code[found.end()..]) {
                        paths.push(names(stem).into_iter().chain([first]).collect());
                    }
                }
            }
        }
        paths
    }
}

/// The first name of each item of a list in braces, whose opening brace stands before this text.
fn first_names(text: &str) -> Vec<String> {
    let (mut depth, mut items) = (0, vec![String::new()]);
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(String::new()),
            _ => {
                if let Some(item) = items.last_mut().filter(|_| depth == 0) {
                    item.push(letter);
                }
            }
        }
    }
    items.iter().filter_map(|item| item.trim().split("::").next()).map(str::to_owned).collect()
}

/// The modules from which imports lead back to themselves.
fn in_circles(imports: &Imports) -> BTreeSet<String> {
    let leads_back = |start: &&String| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*start]);
        while let Some(module) = next.pop() {
            let Some(to) = imports.get(module) else { continue };
            if to.contains(*start) {
                return true;
            }
            next.extend(to.iter().filter(|module| seen.insert(*module)));
        }
        false
    };
    imports.keys().filter(leads_back).cloned().collect()
}

/// Fails if something is more than it may be and than is listed, or is listed and has become less.
fn compare(what: &str, found: BTreeMap<String, usize>, most: usize, listed: &[(&str, usize)]) {
    let mut faults = Vec::new();
    for (name, count) in &found {
        match listed.iter().find(|(listed, _)| listed == name) {
            None if *count > most => faults.push(format!("{name}: {count}, and at most {most} are good")),
            Some((_, before)) if count > before => faults.push(format!("{name}: {count}, it was {before}")),
            // A few lines less are no reason to touch the list.
            Some((_, before)) if *count <= most || *count < before - before / 20 => {
                faults.push(format!("{name}: {count} now, so its entry of {before} in this test is to be mended"));
            }
            _ => {}
        }
    }
    let gone = listed.iter().filter(|(name, _)| !found.contains_key(*name));
    faults.extend(gone.map(|(name, _)| format!("{name}: there is no such thing; take its entry out of this test")));
    assert!(faults.is_empty(), "{what}:\n{}", faults.join("\n"));
}

/// The number of times that these files have what an expression describes.
fn occurrences(files: &[Source], expression: &str) -> usize {
    let expression = Regex::new(expression).unwrap();
    files.iter().flat_map(|file| file.text.lines()).map(|line| expression.find_iter(line).count()).sum()
}

/// The lines of these files that are so, with where they are.
fn places(files: &[Source], is_one: impl Fn(&str) -> bool) -> Vec<String> {
    let lines = files.iter().flat_map(|file| file.text.lines().enumerate().map(move |(at, line)| (file, at, line)));
    lines
        .filter(|(_, _, line)| is_one(line))
        .map(|(file, at, line)| format!("{}:{}: {line}", file.name, at + 1))
        .collect()
}

/// The code of the server and of the editors' plugins, without tests and what is generated.
fn sources() -> Vec<Source> {
    let is_test = Regex::new(r"(/|_)tests?(\.rs|/)|/generated/|_test\.lua$|/test/|\.test\.ts$").unwrap();
    all_sources()
        .into_iter()
        .filter(|source| source.name.contains("src/") || source.name.contains("/lua/"))
        .filter(|source| !is_test.is_match(&source.name))
        .collect()
}

/// All code of ours.
fn all_sources() -> Vec<Source> {
    let folders = ["server", "tests", "editors/vscode/src", "editors/vscode/test", "editors/nvim"];
    let files = folders.into_iter().flat_map(|folder| below(&root().join(folder), &["rs", "ts", "lua", "mjs"]));
    files.map(Source::read).collect()
}

fn below(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let is_ours =
            path.file_name().is_some_and(|name| name != "node_modules" && name != "artifacts" && name != "target");
        if path.is_dir() && is_ours {
            files.extend(below(&path, extensions));
        } else if path.extension().and_then(|it| it.to_str()).is_some_and(|it| extensions.contains(&it)) {
            files.push(path);
        }
    }
    files
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}
