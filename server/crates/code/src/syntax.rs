//! Source code as trees: the languages we know, and bounded parsing.
//!
//! [`Pattern`] finds code by its shape, [`Outline`] by its name. [`blocks`] and [`references`] are what there is to see
//! of a text beside its symbols, and [`document_symbols`] tells symbols as a language server does. Texts come from
//! anybody, so parsing is bounded in size and time, and everything here walks trees without recursion: a file may nest
//! as deep as it is long.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, Parser, Tree, TreeCursor};

mod blocks;
mod definitions;
mod document;
#[cfg(test)]
mod hostile;
mod html;
mod kind;
mod pattern;
mod references;
mod scope;
mod symbols;

pub use blocks::{Block, BlockKind, CHUNK_LINES, Chunk, blocks, braces, chunks};
pub use document::{DocumentSymbols, document_symbols};
pub use kind::SymbolKind;
pub(crate) use pattern::metavariable;
pub use pattern::{Match, Pattern, PatternError, Variable};
pub use references::{Listed, Reference, References, references};
pub use scope::Scope;
pub use symbols::{Lead, Lookup, MAX_SYMBOLS, Outline, Symbol, numbered};

/// How large a text may be to be parsed, in bytes: 2 MiB. What is larger was not written by hand.
pub const MAX_BYTES: usize = 2 << 20;

/// How long parsing a text may take.
const MAX_TIME: Duration = Duration::from_secs(5);

/// How much of a text the parser is given at once, in bytes.
const CHUNK: usize = 64 << 10;

/// How many brackets may be left open in a text of some languages ([`Language::keeps_what_is_open`]).
const MAX_OPEN: usize = 500;

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
    /// C++.
    Cpp,
    /// C#.
    CSharp,
    /// Java.
    Java,
    /// PHP, with the HTML around it.
    Php,
    /// Ruby.
    Ruby,
    /// Lua.
    Lua,
    /// HTML, with the styles and scripts in it.
    Html,
    /// CSS, and of SCSS and Less what is like it.
    Css,
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
    embedded: Vec<Embedded>,
}

/// A part of a text in another language: a style or a script of an HTML page. Its tree has the places of the whole
/// text.
#[derive(Clone, Debug)]
pub(crate) struct Embedded {
    pub(crate) language: Language,
    /// Where the part begins.
    pub(crate) start: usize,
    tree: Tree,
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
    /// More than [`MAX_OPEN`] of its brackets are not closed.
    #[error("{open} brackets in it are not closed; with more than {MAX_OPEN} it is not parsed")]
    Unclosed {
        /// How many.
        open: usize,
    },
    /// It has something that the grammar's code does not survive.
    #[error("it has a brace followed by a character that the grammar cannot take")]
    Fatal,
    /// The grammar does not fit our parser.
    #[error("the grammar of {0} cannot be used by this version of the parser")]
    Grammar(&'static str),
}

impl Language {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Rust,
        Self::TypeScript,
        Self::Tsx,
        Self::JavaScript,
        Self::Python,
        Self::Go,
        Self::C,
        Self::Cpp,
        Self::CSharp,
        Self::Java,
        Self::Php,
        Self::Ruby,
        Self::Lua,
        Self::Html,
        Self::Css,
        Self::Json,
        Self::Bash,
    ];

    /// The languages that a file may be in, by its extension: a header may be C or C++. None for one that we have no
    /// grammar for.
    pub fn possible(path: &Path) -> Vec<Self> {
        let header = || vec![Self::C, Self::Cpp];
        Self::of(path).map_or_else(Vec::new, |of| if is_header(path) { header() } else { vec![of] })
    }

    /// The language of a file with this text: a header that has a class, a namespace or a template in it is C++.
    pub fn of_text(path: &Path, text: &str) -> Option<Self> {
        let language = Self::of(path)?;
        let is_cpp = |line: &str| {
            let words = ["class", "namespace", "template", "public", "private", "protected"];
            let rest = words.iter().find_map(|word| line.trim_start().strip_prefix(word));
            rest.is_some_and(|rest| rest.starts_with([' ', '<', '{', ':']))
        };
        Some(if is_header(path) && text.lines().any(is_cpp) { Self::Cpp } else { language })
    }

    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::ALL.into_iter().find(|language| language.extensions().contains(&extension))
    }

    /// The languages of this name, which may also be an extension: `typescript` is two, with and without JSX. None
    /// where there is no such language.
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
            Self::Cpp => "cpp",
            Self::CSharp => "csharp",
            Self::Java => "java",
            Self::Php => "php",
            Self::Ruby => "ruby",
            Self::Lua => "lua",
            Self::Html => "html",
            Self::Css => "css",
            Self::Json => "json",
            Self::Bash => "bash",
        }
    }

    /// The extensions of its files. A header is taken for C ([`Language::of_text`] looks closer).
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["rs"],
            Self::TypeScript => &["ts", "mts", "cts"],
            Self::Tsx => &["tsx"],
            Self::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Self::Python => &["py", "pyi"],
            Self::Go => &["go"],
            Self::C => &["c", "h"],
            Self::Cpp => &["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "inl"],
            Self::CSharp => &["cs", "c#"],
            Self::Java => &["java"],
            Self::Php => &["php", "phtml"],
            Self::Ruby => &["rb", "rake", "gemspec"],
            Self::Lua => &["lua"],
            Self::Html => &["html", "htm", "xhtml"],
            Self::Css => &["css", "scss", "less"],
            Self::Json => &["json", "jsonc"],
            Self::Bash => &["sh", "bash"],
        }
    }

    /// True if what is written in it does something, and its names are called elsewhere: keys and rules are not.
    pub fn is_program(self) -> bool {
        !matches!(self, Self::Json | Self::Css | Self::Html)
    }

    /// True if brackets that are left open, after an error, can take memory with the square of their number: at the end
    /// of the text the parser copies out every way to take what is open (tree-sitter 0.26.13, `parser.c`,
    /// `ts_parser__accept`), in one step that nothing stops. Seen in these with `%w(`, repeated.
    fn keeps_what_is_open(self) -> bool {
        matches!(self, Self::Rust | Self::C | Self::Cpp | Self::CSharp | Self::Java)
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
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE.into(),
            Self::Php => tree_sitter_php::LANGUAGE_PHP.into(),
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Lua => tree_sitter_lua::LANGUAGE.into(),
            Self::Html => tree_sitter_html::LANGUAGE.into(),
            Self::Css => tree_sitter_css::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Bash => bash::language(),
        }
    }
}

fn is_header(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "h")
}

/// The names of all languages, for people and models.
pub fn languages() -> String {
    let names: BTreeSet<_> = Language::ALL.into_iter().map(Language::name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

impl Parsed {
    /// Parses a text, whatever its errors, and the styles and scripts in it. Blocks for as long as that takes.
    ///
    /// # Errors
    /// See [`ParseError`].
    pub fn new(language: Language, text: impl Into<Arc<str>>) -> Result<Self, ParseError> {
        let text = text.into();
        if text.len() > MAX_BYTES {
            return Err(ParseError::TooLarge { size: text.len() });
        }
        if language == Language::Bash && bash::is_fatal(&text) {
            return Err(ParseError::Fatal);
        }
        if language.keeps_what_is_open()
            && let open = unclosed(&text)
            && open > MAX_OPEN
        {
            return Err(ParseError::Unclosed { open });
        }
        let deadline = Instant::now() + MAX_TIME;
        let tree = parse(language, &text, None, deadline)?;
        let mut parsed = Self { language, text, tree, embedded: Vec::new() };
        if language == Language::Html {
            let parts = html::embedded(&parsed).into_iter().map(|(language, part)| {
                let tree = parse(language, &parsed.text, Some(part), deadline)?;
                Ok(Embedded { language, start: part.start_byte, tree })
            });
            parsed.embedded = parts.collect::<Result<_, ParseError>>()?;
        }
        Ok(parsed)
    }

    /// The lines, from 1, on which something does not fit the grammar, in order; one for each such place.
    pub fn errors(&self) -> Vec<usize> {
        let mut lines = Vec::new();
        for root in self.roots() {
            let mut walk = Walk::new(root);
            while let Some(node) = walk.node() {
                let is_wrong = node.is_error() || node.is_missing();
                if is_wrong {
                    lines.push(node.start_position().row + 1);
                }
                walk.step(node.has_error());
            }
        }
        lines.sort_unstable();
        lines
    }

    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }

    /// Returns the parts in another language, in order.
    pub(crate) fn embedded(&self) -> &[Embedded] {
        &self.embedded
    }

    fn roots(&self) -> impl Iterator<Item = Node<'_>> {
        std::iter::once(self.root()).chain(self.embedded.iter().map(Embedded::root))
    }

    /// The lines, from 0, that begin inside a string or the like, where space counts.
    pub(crate) fn verbatim_lines(&self) -> BTreeSet<usize> {
        let mut lines = BTreeSet::new();
        for root in self.roots() {
            let mut walk = Walk::new(root);
            while let Some(node) = walk.node() {
                let (first, last) = (node.start_position().row, node.end_position().row);
                let is_verbatim = last > first && is_verbatim(node.kind());
                if is_verbatim {
                    lines.extend(first + 1..=last);
                }
                walk.step(!is_verbatim && last > first);
            }
        }
        lines
    }

    /// Returns the text at these bytes.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }
}

impl Embedded {
    pub(crate) fn root(&self) -> Node<'_> {
        self.tree.root_node()
    }
}

/// Parses a text or a part of it.
fn parse(
    language: Language,
    text: &str,
    part: Option<tree_sitter::Range>,
    deadline: Instant,
) -> Result<Tree, ParseError> {
    // A page may have so many parts that none of them takes any time.
    if Instant::now() >= deadline {
        return Err(ParseError::TooIntricate);
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).map_err(|_| ParseError::Grammar(language.name()))?;
    // Ranges that overlap are refused; one alone cannot.
    let _ = parser.set_included_ranges(part.as_slice());
    let mut in_time =
        |_: &_| if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    // The grammar decides how far the parser reads between two calls of that, and it may be to the end each time. Text
    // that is read too late is cut short, and no tree is made of it.
    let mut is_cut = false;
    let mut read = |at: usize, _| {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        is_cut |= Instant::now() >= deadline;
        if is_cut { &[] } else { rest.get(..CHUNK).unwrap_or(rest) }
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| !is_cut).ok_or(ParseError::TooIntricate)
}

/// How many brackets of a text have no partner that closes them, but for those in strings of one line.
fn unclosed(text: &str) -> usize {
    let mut open = Vec::new();
    let mut bytes = text.bytes();
    while let Some(c) = bytes.next() {
        match c {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b'"' => {
                let mut is_escaped = false;
                bytes.find(|c| {
                    let ends = *c == b'\n' || (*c == b'"' && !is_escaped);
                    is_escaped = *c == b'\\' && !is_escaped;
                    ends
                });
            }
            _ => {
                open.pop_if(|closing| *closing == c);
            }
        }
    }
    open.len()
}

/// True if space at the beginning of a line within such a node belongs to what the program says.
fn is_verbatim(kind: &str) -> bool {
    kind.contains("string") || kind.contains("heredoc") || kind == "jsx_text" || kind == "regex"
}

/// A walk over a tree from the top down, without recursion.
pub(crate) struct Walk<'t> {
    cursor: TreeCursor<'t>,
    /// The nodes that the node is in, outermost first. To ask a node for its parent takes the longer the deeper it
    /// lies.
    around: Vec<Node<'t>>,
    /// The nodes beside each of these and beside the node, before it. To ask for a sibling takes the longer the more
    /// there are.
    before: Vec<Vec<Node<'t>>>,
    is_done: bool,
}

impl<'t> Walk<'t> {
    /// A walk over a node and all that is in it.
    pub(crate) fn new(node: Node<'t>) -> Self {
        Self { cursor: node.walk(), around: Vec::new(), before: vec![Vec::new()], is_done: false }
    }

    /// The node it stands at; none at the end.
    pub(crate) fn node(&self) -> Option<Node<'t>> {
        (!self.is_done).then(|| self.cursor.node())
    }

    /// How many nodes it is below the first.
    pub(crate) fn depth(&self) -> usize {
        self.around.len()
    }

    /// Returns the nodes that the current node is in, outermost first, up to the node that the walk is over.
    pub(crate) fn around(&self) -> &[Node<'t>] {
        &self.around
    }

    /// Returns the nodes before each node that the current one is in, and before the current one itself, outermost
    /// first; in order.
    pub(crate) fn before(&self) -> &[Vec<Node<'t>>] {
        &self.before
    }

    /// Goes on: into the node, or past it.
    pub(crate) fn step(&mut self, into: bool) {
        let mut node = self.cursor.node();
        if into && self.cursor.goto_first_child() {
            self.around.push(node);
            self.before.push(Vec::new());
            return;
        }
        while !self.cursor.goto_next_sibling() {
            if !self.cursor.goto_parent() {
                self.is_done = true;
                return;
            }
            self.before.pop();
            node = self.around.pop().unwrap_or(node);
        }
        if let Some(siblings) = self.before.last_mut() {
            siblings.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_language_is_known_by_extension_and_by_name() {
        assert_eq!(Language::possible(Path::new("src/a.tsx")), [Language::Tsx]);
        assert_eq!(Language::possible(Path::new("a.txt")), []);
        let header = |text| Language::of_text(Path::new("a.h"), text);
        assert_eq!(Language::possible(Path::new("a.h")), [Language::C, Language::Cpp]);
        assert_eq!([header("int a;\n"), header("class A;\n")], [Some(Language::C), Some(Language::Cpp)]);
        assert_eq!(Language::named("TypeScript"), [Language::TypeScript, Language::Tsx]);
        assert_eq!(Language::named("py"), [Language::Python]);
        assert_eq!(
            languages(),
            "bash, c, cpp, csharp, css, go, html, java, javascript, json, lua, php, python, ruby, rust, typescript"
        );
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
        assert_eq!(lines(Language::Cpp, "auto a = R\"(\n  b\n)\";\n"), [1, 2]);
        assert_eq!(lines(Language::CSharp, "class C { string a = @\"\n  b\"; }\n"), [1]);
        assert_eq!(lines(Language::CSharp, "class C { string a = $\"\"\"\n  b\n  \"\"\"; }\n"), [1, 2]);
        assert_eq!(lines(Language::Php, "<?php\n$a = <<<E\n  b\nE;\n$c = 'd\n';\n"), [2, 3, 5]);
        assert_eq!(lines(Language::Ruby, "a = <<~E\n  b\nE\nc = 'd\n'\n"), [1, 2, 4]);
        assert_eq!(lines(Language::Lua, "a = [[\n b\n]]\n"), [1, 2]);
        assert_eq!(lines(Language::Html, "<p>\n<script>\na = `\n`;\n</script>\n</p>\n"), [3]);
        assert_eq!(lines(Language::Bash, "cat <<E\n a\nE\necho '\n'\n"), [1, 2, 4]);
    }

    #[test]
    fn whatever_nests_or_repeats_without_end_has_its_symbols_in_time() {
        let texts = [
            "{",
            "(",
            "[",
            "<",
            "<a id=b>",
            "<script>",
            "<script></script>",
            "<style>.a{</style>",
            "<div>\n</p>",
            "class A {",
            "class A\n",
            "def a\n",
            "function f(){",
            "local function f()\n",
            "namespace a{",
            "template<class T>",
            "@media x{",
            ".a{",
            "a,",
            "a=",
            "if a\n",
            "<<E\n",
            "R\"a(",
            "$\"{",
            "<?php ?>",
            "\"#{",
            "int a,",
            "case ",
            "do\n",
            "[[",
            "=begin\n",
            "%w(",
            "/*",
            "@",
            "#if\n",
            "a::",
            "a?",
        ];
        for text in texts {
            for (language, before) in
                Language::ALL.into_iter().zip(std::iter::repeat("")).chain([(Language::Php, "<?php ")])
            {
                let text = format!("{before}{}", text.repeat(300));
                let began = Instant::now();
                match Parsed::new(language, text.as_str()) {
                    Ok(parsed) => {
                        let (outline, lines) = (Outline::new(&parsed), text.lines().count());
                        let blocks = blocks(&parsed, &outline, true);
                        assert_eq!(blocks.len(), outline.symbols.len());
                        assert!(outline.symbols.iter().all(|symbol| *symbol.lines.end() <= lines), "{language:?}");
                        references(&parsed, &outline);
                    }
                    Err(error) => {
                        assert!(matches!(error, ParseError::TooIntricate | ParseError::Unclosed { .. }), "{error}");
                    }
                }
                let took = began.elapsed();
                assert!(took < MAX_TIME * 2, "{language:?} {:?}: {took:?}", text.get(..20));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn any_text_is_parsed_and_has_its_symbols_named(text in "([a-z]{1,3}|[(){}\\[\\]<>\"'`$#:;,.=/\\\\*@ \n\t0-9]|fn |def |class |\u{e9}|\u{4e00}|<<E\n|<[?]php |<script>|</script>|<style>|</style>| id=|@media |template<|namespace |module |end\n|function |local |operator ){0,40}") {
            for language in Language::ALL {
                match Parsed::new(language, text.as_str()) {
                    Ok(parsed) => {
                        let outline = Outline::new(&parsed);
                        for symbol in &outline.symbols {
                            prop_assert!(parsed.text.get(symbol.span()).is_some());
                            prop_assert!(symbol.start() <= symbol.range.start && symbol.range.start <= symbol.range.end);
                            prop_assert!(parsed.text.get(symbol.selection.clone()).is_some());
                            let (first, last) = (*symbol.lines.start(), *symbol.lines.end());
                            let rows = |at: usize| text[..at].matches('\n').count() + 1;
                            prop_assert!(first == rows(symbol.range.start) && last >= first, "{symbol:?}");
                            prop_assert!(last == rows(symbol.range.end), "{symbol:?}");
                            prop_assert!(symbol.signature(&parsed).chars().count() <= 161);
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
