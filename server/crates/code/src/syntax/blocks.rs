//! Blocks: the parts of a text that one would read or edit as a whole, with names to speak of them.

use std::ops::RangeInclusive;

use super::definitions::plain;
use super::{Language, Outline, Parsed, Symbol, SymbolKind};

/// How many lines a chunk has.
pub const CHUNK_LINES: usize = 50;

/// A block of a text in a language that we know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// A name that no other block of the text has: `html-0`, `style-0`, `style0-css-1`, `js-2`.
    pub id: String,
    /// The sort of block.
    pub kind: BlockKind,
    /// Its lines, from 1.
    pub lines: RangeInclusive<usize>,
    /// Its symbol, by its place in the outline.
    pub symbol: usize,
}

/// A sort of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockKind {
    /// A section or an element with an id, a style or a script.
    HtmlSection,
    /// A rule, `@media`, `@keyframes` or the like.
    CssRule,
    /// A function, class, type or the like of JavaScript or TypeScript.
    Script,
    /// One of C#.
    CSharp,
    /// One of PHP.
    Php,
    /// One of Java.
    Java,
    /// One of another language.
    Other,
}

/// Some lines of a text of which we know no structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its lines, from 1.
    pub lines: RangeInclusive<usize>,
    /// The line that tells most of it, without the space around it: the first that is not empty, or that before a
    /// brace. Where it is too long, only how it begins, with `…`.
    pub head: String,
}

impl BlockKind {
    /// The sort of a symbol's block.
    pub fn of(symbol: &Symbol) -> Self {
        match symbol.language {
            Language::Html => Self::HtmlSection,
            Language::Css => Self::CssRule,
            Language::JavaScript | Language::TypeScript | Language::Tsx => Self::Script,
            Language::CSharp => Self::CSharp,
            Language::Php => Self::Php,
            Language::Java => Self::Java,
            _ => Self::Other,
        }
    }
}

/// The blocks of a text, in order: its symbols, but for values of one line unless these are wanted too.
pub fn blocks(parsed: &Parsed, outline: &Outline, with_values: bool) -> Vec<Block> {
    let mut blocks = Vec::new();
    let (mut elements, mut styles, mut scripts, mut others) = (0, 0, 0, 0);
    // The prefix of the ids in an embedded part, and how many it has.
    let (mut part, mut within) = (String::new(), 0);
    let next = |count: &mut usize| std::mem::replace(count, *count + 1);
    for (at, symbol) in outline.symbols.iter().enumerate() {
        let is_one_line = symbol.lines.start() == symbol.lines.end();
        if symbol.kind.is_value() && is_one_line && !with_values {
            continue;
        }
        let prefix = prefix(symbol.language);
        let id = match (parsed.language, symbol.language) {
            (Language::Html, Language::Html) => {
                let tag = symbol.own_name().split('#').next().unwrap_or_default().to_ascii_lowercase();
                let (name, count) = match tag.as_str() {
                    "style" => ("style", &mut styles),
                    "script" => ("script", &mut scripts),
                    _ => ("html", &mut elements),
                };
                let number = next(count);
                (part, within) = (format!("{name}{number}"), 0);
                format!("{name}-{number}")
            }
            (Language::Html, _) => format!("{part}-{prefix}-{}", next(&mut within)),
            _ => format!("{prefix}-{}", next(&mut others)),
        };
        blocks.push(Block { id, kind: BlockKind::of(symbol), lines: symbol.lines.clone(), symbol: at });
    }
    blocks
}

impl Block {
    /// Returns a label for users and models: `<header>`, `.card`, `function init`. The outline is the one it is of. It
    /// names all that the block is in, so labels of many blocks are not to be kept.
    pub fn label(&self, outline: &Outline) -> String {
        let Some(symbol) = outline.symbols.get(self.symbol) else { return String::new() };
        match symbol.kind {
            SymbolKind::Element => format!("<{}>", symbol.own_name()),
            SymbolKind::Rule | SymbolKind::Media | SymbolKind::Keyframes | SymbolKind::AtRule => {
                symbol.own_name().to_owned()
            }
            SymbolKind::Impl => outline.name(symbol),
            kind => format!("{} {}", kind.name(), outline.name_in_language(symbol)),
        }
    }
}

fn prefix(language: Language) -> &'static str {
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => "js",
        other => other.name(),
    }
}

/// A text in chunks of [`CHUNK_LINES`] lines.
pub fn chunks(text: &str) -> Vec<Chunk> {
    let lines: Vec<&str> = text.lines().collect();
    let chunk = |(at, lines): (usize, &[&str])| {
        let first = at * CHUNK_LINES + 1;
        let head = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
        Chunk { lines: first..=first + lines.len() - 1, head: plain(head) }
    };
    lines.chunks(CHUNK_LINES).enumerate().map(chunk).collect()
}

/// The blocks of more than one line that braces enclose in a text, in the order in which they begin. Braces in strings
/// and comments are counted too, since the language is not known; those without a partner are left out.
pub fn braces(text: &str) -> Vec<Chunk> {
    let mut found = Vec::new();
    let mut open: Vec<(usize, &str)> = Vec::new();
    let mut above = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        let head = if line.starts_with('{') && !above.is_empty() { above } else { line };
        for c in line.bytes() {
            match c {
                b'{' => open.push((at + 1, head)),
                b'}' => {
                    if let Some((first, head)) = open.pop()
                        && first <= at
                    {
                        found.push(Chunk { lines: first..=at + 1, head: plain(head) });
                    }
                }
                _ => {}
            }
        }
        if !line.is_empty() {
            above = line;
        }
    }
    found.sort_by_key(|block| *block.lines.start());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
<!DOCTYPE html>
<html>
<head>
<style>
.card { color: red; }
@keyframes fadeIn {
  from { opacity: 0; }
}
</style>
</head>
<body>
<header id=\"top\"><nav>n</nav></header>
<script type=\"module\">
const limit = 1;
function init() {
  class A { m() {} }
}
</script>
<script type=\"text/template\"><p>{{ x }}</p></script>
<script>function more() {}</script>
</body>
</html>
";

    fn told(language: Language, text: &str, with_values: bool) -> Vec<String> {
        let parsed = Parsed::new(language, text).unwrap();
        let outline = Outline::new(&parsed);
        let blocks = blocks(&parsed, &outline, with_values);
        let row = |block: &Block| {
            format!("{} {}-{} {}", block.id, block.lines.start(), block.lines.end(), block.label(&outline))
        };
        blocks.iter().map(row).collect()
    }

    #[test]
    fn a_page_has_the_blocks_of_its_styles_and_scripts_with_the_lines_of_the_page() {
        let wanted = [
            "html-0 3-10 <head>",
            "style-0 4-9 <style>",
            "style0-css-0 5-5 .card",
            "style0-css-1 6-8 @keyframes fadeIn",
            "html-1 11-21 <body>",
            "html-2 12-12 <header#top>",
            "html-3 12-12 <nav>",
            "script-0 13-18 <script>",
            "script0-js-0 15-17 function init",
            "script0-js-1 16-16 class init/A",
            "script0-js-2 16-16 method init/A/m",
            "script-1 19-19 <script>",
            "script-2 20-20 <script>",
            "script2-js-0 20-20 function more",
        ];
        assert_eq!(told(Language::Html, PAGE, false), wanted);
        assert!(told(Language::Html, PAGE, true).contains(&"script0-js-0 14-14 constant limit".to_owned()));
    }

    #[test]
    fn an_error_in_a_script_of_a_page_is_found_on_its_line() {
        let parsed = Parsed::new(Language::Html, "<p>\n<script>\nfunction f( {\n</script>\n</p>\n").unwrap();
        assert_eq!(parsed.errors().first(), Some(&3));
    }

    #[test]
    fn other_languages_number_their_own() {
        let wanted = ["js-0 1-3 class A", "js-1 2-2 method A/m"];
        assert_eq!(told(Language::TypeScript, "class A {\n  m() {}\n}\nconst x = 1;\n", false), wanted);
        let wanted = ["css-0 1-1 .a, .b", "css-1 2-4 @media (max-width: 9px)", "css-2 3-3 .c"];
        assert_eq!(
            told(Language::Css, ".a, .b { x: y }\n@media (max-width: 9px) {\n  .c { x: y }\n}\n", false),
            wanted
        );
        assert_eq!(
            told(Language::Rust, "impl A {\n    fn f() {}\n}\n", false),
            ["rust-0 1-3 impl A", "rust-1 2-2 method impl A/f"]
        );
    }

    #[test]
    fn what_is_in_no_language_has_chunks_and_braces() {
        let text: String = (1..=120).map(|line| format!("line {line}\n")).collect();
        let lines: Vec<_> = chunks(&text).into_iter().map(|chunk| (chunk.lines, chunk.head)).collect();
        assert_eq!(lines, [(1..=50, "line 1".into()), (51..=100, "line 51".into()), (101..=120, "line 101".into())]);
        assert!(chunks("").is_empty());
        let found = braces("server {\n  a {\n  }\n  b { }\n}\nvoid f()\n{\n}\n}\n");
        let lines: Vec<_> = found.into_iter().map(|block| (block.lines, block.head)).collect();
        assert_eq!(lines, [(1..=5, "server {".into()), (2..=3, "a {".into()), (7..=8, "void f()".into())]);
    }

    #[test]
    fn a_line_that_begins_many_blocks_is_not_kept_for_each() {
        let text = format!("{}\n{}", "a{".repeat(20_000), "}\n".repeat(20_000));
        let found = braces(&text);
        assert_eq!(
            (found.len(), found.iter().map(|block| block.head.len()).max()),
            (20_000, Some(200 + '…'.len_utf8()))
        );
        assert_eq!(chunks(&text)[0].head.chars().count(), 201);
    }
}
