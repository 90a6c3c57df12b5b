//! Source code as trees: the languages we know, and bounded parsing.
//!
//! [`Pattern`] finds code by its shape, [`Outline`] by its name. Texts come from anybody, so parsing is bounded in size
//! and time, and everything here walks trees without recursion: a file may nest as deep as it is long.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

mod pattern;
mod symbols;

pub(crate) use pattern::metavariable;
pub use pattern::{Match, Pattern, PatternError, Variable};
pub use symbols::{Lead, Lookup, Outline, Symbol};

/// How large a text may be to be parsed, in bytes: 2 MiB. What is larger was not written by hand.
pub const MAX_BYTES: usize = 2 << 20;

/// How long parsing a text may take.
const MAX_TIME: Duration = Duration::from_secs(5);

/// A language whose grammar we have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Rust.
    Rust,
    /// TypeScript without JSX.
    TypeScript,
    /// TypeScript with JSX.
    Tsx,
    /// JavaScript, with JSX.
    JavaScript,
    /// Python.
    Python,
    /// Go.
    Go,
    /// C.
    C,
    /// Java.
    Java,
    /// JSON.
    Json,
    /// The language of `bash` and `sh`.
    Bash,
}

/// A text and its tree.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// Its language.
    pub language: Language,
    /// The text.
    pub text: Arc<str>,
    pub(crate) tree: Tree,
}

/// A text that was not parsed. The words are for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It is larger than [`MAX_BYTES`].
    #[error("it is {size} bytes long; texts of more than {MAX_BYTES} bytes are not parsed")]
    TooLarge {
        /// How long it is, in bytes.
        size: usize,
    },
    /// It took too long.
    #[error("it could not be parsed in {} seconds", MAX_TIME.as_secs())]
    TooIntricate,
    /// It has something that the grammar's code does not survive.
    #[error("it has a brace followed by a character that the grammar cannot take")]
    Fatal,
    /// The grammar does not fit our parser.
    #[error("the grammar of {0} cannot be used by this version of the parser")]
    Grammar(&'static str),
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Rust,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Python,
        Self::Go,
        Self::C,
        Self::Java,
        Self::Json,
        Self::Bash,
    ];

    /// The language of a file, by its extension; none for one that we have no grammar for.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension))
    }

    /// The languages of this name, which may also be an extension: `typescript` is two, with and without JSX. None where
    /// there is no such language.
    pub fn named(name: &str) -> Vec<Self> {
        let name = name.to_ascii_lowercase();
        let called = |language: &Self| language.name() == name || language.extensions().contains(&name.as_str());
        Self::ALL.into_iter().filter(called).collect()
    }

    /// Its name in lower case, as models say it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::TypeScript | Self::Tsx => "typescript",
            Self::JavaScript => "javascript",
            Self::Python => "python",
            Self::Go => "go",
            Self::C => "c",
            Self::Java => "java",
            Self::Json => "json",
            Self::Bash => "bash",
        }
    }

    /// The extensions of its files. A header is taken for C.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["rs"],
            Self::TypeScript => &["ts", "mts", "cts"],
            Self::Tsx => &["tsx"],
            Self::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Self::Python => &["py", "pyi"],
            Self::Go => &["go"],
            Self::C => &["c", "h"],
            Self::Java => &["java"],
            Self::Json => &["json", "jsonc"],
            Self::Bash => &["sh", "bash"],
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Bash => tree_sitter_bash::LANGUAGE.into(),
        }
    }
}

/// The names of all languages, for people and models.
pub fn languages() -> String {
    let names: BTreeSet<_> = Language::ALL.into_iter().map(Language::name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

impl Parsed {
    /// Parses a text, whatever its errors. Blocks for as long as that takes.
    ///
    /// # Errors
    /// See [`ParseError`].
    pub fn new(language: Language, text: impl Into<Arc<str>>) -> Result<Self, ParseError> {
        let text = text.into();
        if text.len() > MAX_BYTES {
            return Err(ParseError::TooLarge { size: text.len() });
        }
        if language == Language::Bash && is_fatal_to_bash(&text) {
            return Err(ParseError::Fatal);
        }
        let mut parser = Parser::new();
        parser.set_language(&language.grammar()).map_err(|_| ParseError::Grammar(language.name()))?;
        let deadline = Instant::now() + MAX_TIME;
        let mut in_time =
            |_: &_| if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        let options = ParseOptions::new().progress_callback(&mut in_time);
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options)).ok_or(ParseError::TooIntricate)?;
        Ok(Self { language, text, tree })
    }

    /// The lines, from 1, on which something does not fit the grammar, in order; one for each such place.
    pub fn errors(&self) -> Vec<usize> {
        let mut lines = Vec::new();
        let mut walk = Walk::new(self.root());
        while let Some(node) = walk.node() {
            let is_wrong = node.is_error() || node.is_missing();
            if is_wrong {
                lines.push(node.start_position().row + 1);
            }
            walk.step(node.has_error());
        }
        lines
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// The lines, from 0, that begin inside a string or the like, where space counts.
    pub(crate) fn verbatim_lines(&self) -> BTreeSet<usize> {
        let mut lines = BTreeSet::new();
        let mut walk = Walk::new(self.root());
        while let Some(node) = walk.node() {
            let (first, last) = (node.start_position().row, node.end_position().row);
            let is_verbatim = last > first && is_verbatim(node.kind());
            if is_verbatim {
                lines.extend(first + 1..=last);
            }
            walk.step(!is_verbatim && last > first);
        }
        lines
    }

    /// What stands at these bytes.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

/// Whether the grammar of `bash` would break down at a text, and the process with it: at what follows a brace, where it
/// looks for a sequence such as `{1..3}`, its scanner (tree-sitter-bash 0.25.1, `scanner.c`, at `brace_start`) gives
/// `isdigit` of C characters that are beyond its table.
pub(crate) fn is_fatal_to_bash(text: &str) -> bool {
    text.match_indices('{').any(|(at, _)| {
        let after = text.get(at + 1..).unwrap_or_default();
        let rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix("..").map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        rest.chars().next().is_some_and(|c| c > '\u{FF}')
    })
}

/// Whether space at the beginning of a line within such a node belongs to what the program says.
fn is_verbatim(kind: &str) -> bool {
    kind.contains("string") || kind.contains("heredoc") || kind == "jsx_text" || kind == "regex"
}

/// A walk over a tree from the top down, without recursion.
pub(crate) struct Walk<'t> {
    cursor: TreeCursor<'t>,
    depth: usize,
    is_done: bool,
}

impl<'t> Walk<'t> {
    /// A walk over a node and all that is in it.
    pub(crate) fn new(node: Node<'t>) -> Self {
        Self { cursor: node.walk(), depth: 0, is_done: false }
    }

    /// The node it stands at; none at the end.
    pub(crate) fn node(&self) -> Option<Node<'t>> {
        (!self.is_done).then(|| self.cursor.node())
    }

    /// How many nodes it is below the first.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Goes on: into the node, or past it.
    pub(crate) fn step(&mut self, into: bool) {
        if into && self.cursor.goto_first_child() {
            self.depth += 1;
            return;
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.is_done = true;
                return;
            }
            self.depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_language_is_known_by_extension_and_by_name() {
        assert_eq!(Language::of(Path::new("src/a.tsx")), Some(Language::Tsx));
        assert_eq!(Language::of(Path::new("a.txt")), None);
        assert_eq!(Language::named("TypeScript"), [Language::TypeScript, Language::Tsx]);
        assert_eq!(Language::named("py"), [Language::Python]);
        assert_eq!(languages(), "bash, c, go, java, javascript, json, python, rust, typescript");
    }

    #[test]
    fn every_grammar_fits_the_parser() {
        for language in Language::ALL {
            assert!(Parsed::new(language, "").unwrap().errors().is_empty(), "{language:?}");
        }
    }

    #[test]
    fn what_cannot_be_parsed_says_why() {
        let large = "a\n".repeat(MAX_BYTES / 2 + 1);
        assert_eq!(Parsed::new(Language::Rust, large).unwrap_err(), ParseError::TooLarge { size: MAX_BYTES + 2 });
        assert_eq!(Parsed::new(Language::Bash, "echo {\u{4e00}").unwrap_err(), ParseError::Fatal);
    }

    #[test]
    fn errors_are_found_where_they_are_however_deep() {
        let deep = |inner: &str| format!("fn f() {{\n{}{inner}{}\n}}\n", "(".repeat(50_000), ")".repeat(50_000));
        assert_eq!(Parsed::new(Language::Rust, deep("1")).unwrap().errors(), Vec::<usize>::new());
        assert_eq!(Parsed::new(Language::Rust, deep("1 +")).unwrap().errors().first(), Some(&2));
        assert_eq!(Parsed::new(Language::JavaScript, "a();\nfoo(1;\n").unwrap().errors(), [2]);
    }

    #[test]
    fn lines_within_strings_are_known_in_every_language() {
        let lines = |language, text: &str| {
            Parsed::new(language, text).unwrap().verbatim_lines().into_iter().collect::<Vec<_>>()
        };
        assert_eq!(lines(Language::Rust, "const A: &str = \"\n  a\n\";\nfn f() {\n}\n"), [1, 2]);
        assert_eq!(lines(Language::Rust, "const A: &str = r#\"\n\"#;\n"), [1]);
        assert_eq!(lines(Language::TypeScript, "const a = `\n  ${\n b}`;\n"), [1, 2]);
        assert_eq!(lines(Language::Tsx, "const a = <p>\n  text\n</p>;\n"), [1, 2]);
        assert_eq!(lines(Language::JavaScript, "const a = `\n`;\n"), [1]);
        assert_eq!(lines(Language::Python, "a = \"\"\"\n b\n\"\"\"\nif a:\n    b\n"), [1, 2]);
        assert_eq!(lines(Language::Go, "package p\n\nvar a = `\n`\n"), [3]);
        assert_eq!(lines(Language::C, "char *a = \"b\\\nc\";\n"), [1]);
        assert_eq!(lines(Language::Java, "class C { String a = \"\"\"\n  b\n  \"\"\"; }\n"), [1, 2]);
        assert_eq!(lines(Language::Bash, "cat <<E\n a\nE\necho '\n'\n"), [1, 2, 4]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_text_is_parsed_and_has_its_symbols_named(text in "([a-z]{1,3}|[(){}\\[\\]<>\"'`$#:;,.=/\\\\*@ \n\t0-9]|fn |def |class |\u{e9}|\u{4e00}|<<E\n){0,40}") {
            for language in Language::ALL {
                match Parsed::new(language, text.as_str()) {
                    Ok(parsed) => {
                        let outline = Outline::new(&parsed);
                        for symbol in &outline.symbols {
                            prop_assert!(parsed.text.get(symbol.span()).is_some());
                            prop_assert!(symbol.start() <= symbol.range.start && symbol.range.start <= symbol.range.end);
                            let name = outline.name(symbol);
                            let is_found = !matches!(outline.find(&name), Lookup::None(_));
                            // Names of broken code may look like paths or numbers.
                            prop_assert!(is_found || name.is_empty() || name.contains(['/', '[']), "{}", name);
                        }
                    }
                    Err(error) => prop_assert!(language == Language::Bash && error == ParseError::Fatal),
                }
            }
        }
    }
}
