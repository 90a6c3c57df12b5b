//! `find_code_block`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

use async_trait::async_trait;
use code::syntax::{Block, Language, SymbolKind, blocks, braces};
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::structure::{Known, Opened, describe, short};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// How many blocks are given.
const MAX_BLOCKS: usize = 20;
/// How many lines of each.
const SNIPPET: usize = 5;
/// How many places of the text are looked at.
const MAX_PLACES: usize = 2_000;

/// Finds the function, class or other block of a file that contains a text: for each occurrence the innermost block
/// around it, with its line range and first five lines. Then read the block with read_file, or replace it with
/// edit_symbol. In unknown languages, braces delimit blocks.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The text to look for, as it is in the file: a name, a message, a selector.
    query: String,
    /// Only blocks of this kind.
    #[serde(default)]
    kind: Kind,
}

/// Which blocks are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// Functions and methods.
    Function,
    /// Classes, structs, interfaces, traits, enums and types.
    Class,
    /// Functions of a type.
    Method,
    /// Other blocks: sections, rules, objects, namespaces.
    Block,
    /// Any of them.
    #[default]
    Any,
}

/// A block, as it is looked for.
struct Candidate {
    lines: RangeInclusive<usize>,
    /// Its bytes, where they are known and not just its lines.
    bytes: Option<Range<usize>>,
    kind: Kind,
    name: Name,
}

/// The name of a block.
enum Name {
    /// The line that begins it.
    Head(String),
    /// The name of its symbol.
    Of(Block),
}

/// A place where the text stands.
struct Place {
    bytes: Range<usize>,
    /// The line where it begins, from 1, and the one where it ends.
    lines: (usize, usize),
}

pub(crate) struct FindCodeBlock {
    services: Services,
}

impl FindCodeBlock {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for FindCodeBlock {
    type Input = Input;
    const NAME: &'static str = "find_code_block";
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        if input.query.trim().is_empty() {
            return Err(ToolError::InvalidInput("`query` is empty; say a text that stands in the block".to_owned()));
        }
        describe(&self.services, &input.path, |name| {
            format!("Looking for the block around `{}` in {name}", input.query)
        })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let known = file.known().map_err(|error| file.unparsed(error))?;
            let candidates = known.as_ref().map_or_else(|| of_braces(&file.text), of_symbols);
            let wanted = candidates.iter().filter(|block| input.kind.includes(block.kind));
            let mut places = places(&file.text, &input.query);
            let mut unseen = known.as_ref().map(Known::cut).unwrap_or_default();
            if places.len() > MAX_PLACES {
                places.truncate(MAX_PLACES);
                unseen += &format!("[only the first {MAX_PLACES} places of the text were looked at; say more of it]\n");
            }
            let found = innermost(wanted.collect(), &places);
            if found.is_empty() {
                return Err(ToolError::Failed(
                    format!("{}\n{unseen}", hint(&file, &input, &places)).trim_end().to_owned(),
                ));
            }
            let label = |block: &Candidate| match (&block.name, &known) {
                (Name::Of(block), Some(known)) => block.label(&known.outline),
                (Name::Of(_), None) => String::new(),
                (Name::Head(head), _) => head.clone(),
            };
            Ok(shown(&file, &found, label, &unseen))
        })
        .await
    }
}

impl Kind {
    fn of(kind: SymbolKind) -> Self {
        match kind {
            SymbolKind::Function => Self::Function,
            SymbolKind::Method | SymbolKind::Constructor => Self::Method,
            SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Impl
            | SymbolKind::Enum
            | SymbolKind::Type => Self::Class,
            _ => Self::Block,
        }
    }

    fn includes(self, other: Self) -> bool {
        self == Self::Any || self == other || (self == Self::Function && other == Self::Method)
    }
}

fn of_symbols(known: &Known) -> Vec<Candidate> {
    let all = blocks(&known.parsed, &known.outline, true).into_iter();
    let candidate = |block: Block| {
        let symbol = known.outline.symbols.get(block.symbol);
        let kind = symbol.map_or(Kind::Block, |symbol| Kind::of(symbol.kind));
        let bytes = symbol.map(|symbol| symbol.range.clone());
        Candidate { lines: block.lines.clone(), bytes, kind, name: Name::Of(block) }
    };
    all.map(candidate).collect()
}

fn of_braces(text: &str) -> Vec<Candidate> {
    let block = |lines, head: String| Candidate { lines, bytes: None, kind: Kind::Block, name: Name::Head(head) };
    braces(text).into_iter().map(|found| block(found.lines, found.head)).collect()
}

/// The places where a text stands; one more than are looked at, where there are more.
fn places(text: &str, query: &str) -> Vec<Place> {
    let more = query.matches('\n').count();
    let (mut line, mut at) = (1, 0);
    let mut places = Vec::new();
    for (found, _) in text.match_indices(query).take(MAX_PLACES + 1) {
        line += text.get(at..found).unwrap_or_default().matches('\n').count();
        at = found;
        places.push(Place { bytes: found..found + query.len(), lines: (line, line + more) });
    }
    places
}

/// For each place the smallest block around it, in the order of the file. Several blocks may share a line; so only of a
/// place that is in none, such as a remark behind one, and where just lines are known, the lines tell.
fn innermost<'c>(candidates: Vec<&'c Candidate>, places: &[Place]) -> Vec<&'c Candidate> {
    let all = || candidates.iter().enumerate();
    let by_bytes = all().filter_map(|(at, block)| Some((block.bytes.clone()?, at))).collect();
    let by_lines = all().map(|(at, block)| (*block.lines.start()..*block.lines.end() + 1, at)).collect();
    let by_bytes = around(by_bytes, places.iter().map(|place| place.bytes.clone()));
    let by_lines = around(by_lines, places.iter().map(|place| place.lines.0..place.lines.1 + 1));
    let found: BTreeSet<usize> =
        by_bytes.into_iter().zip(by_lines).filter_map(|(exact, near)| exact.or(near)).collect();
    let mut found: Vec<_> = found.into_iter().filter_map(|at| candidates.get(at).copied()).collect();
    found.sort_by_key(|block| *block.lines.start());
    found
}

/// For each place, which are in order, the number of the span that is the innermost around it.
fn around(mut spans: Vec<(Range<usize>, usize)>, places: impl Iterator<Item = Range<usize>>) -> Vec<Option<usize>> {
    spans.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let mut spans = spans.into_iter().peekable();
    let mut open: Vec<(Range<usize>, usize)> = Vec::new();
    let innermost = |place: Range<usize>| {
        // They nest, so the last that begins before a place and ends behind it is the innermost.
        while let Some((span, at)) = spans.next_if(|(span, _)| span.start <= place.start) {
            while open.pop_if(|(outer, _)| outer.end <= span.start).is_some() {}
            open.push((span, at));
        }
        open.iter().rev().find(|(span, _)| place.end <= span.end).map(|(_, at)| *at)
    };
    places.map(innermost).collect()
}

fn shown(file: &Opened, found: &[&Candidate], label: impl Fn(&Candidate) -> String, unseen: &str) -> Output {
    let lines: Vec<&str> = file.text.lines().collect();
    let mut text = String::new();
    for block in found.iter().take(MAX_BLOCKS) {
        let (first, last) = (*block.lines.start(), *block.lines.end());
        text.push_str(&format!("{}:{first}-{last} {}\n", file.name, short(&label(block))));
        let snippet = lines.get(first - 1..last).unwrap_or_default();
        for (at, line) in snippet.iter().enumerate().take(SNIPPET) {
            text.push_str(&format!("{:>6}\t{}\n", first + at, short(line)));
        }
        if snippet.len() > SNIPPET {
            text.push_str(&format!("[{}]\n", counted(snippet.len() - SNIPPET, "more line")));
        }
    }
    if found.len() > MAX_BLOCKS {
        text.push_str(&format!("[the first {MAX_BLOCKS} of {} blocks; say more of the text]\n", found.len()));
    }
    text.push_str(unseen);
    let first = found.first().map(|block| *block.lines.start());
    file.output(text, counted(found.len(), "block"), first)
}

/// Why no block was found, with what to do.
fn hint(file: &Opened, input: &Input, places: &[Place]) -> String {
    let (name, query) = (&file.name, short(&input.query));
    let Some(Place { lines: (line, _), .. }) = places.first() else {
        return format!("`{query}` is not in {name}; look for it elsewhere or otherwise with search_text");
    };
    let at = format!("`{query}` is at line {line} of {name}");
    match file.language() {
        _ if input.kind != Kind::Any => format!("{at}, but in no block of this kind; leave out `kind`"),
        Some(Language::Html | Language::Css) => format!("{at}, but in no block; see how it is built with file_outline"),
        _ => format!("{at}, but in no block; see what is around it with read_around"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, unsaved};

    const CODE: &str = "import a from 'a';\n\nexport class Cart {\n  rate = 1;\n  total() {\n    const x = a(1);\n    return x;\n    // tax\n    // more\n  }\n}\n\nfunction tax() {\n  return 1;\n}\n";

    #[tokio::test]
    async fn the_innermost_block_around_each_place_is_found_in_the_text_of_the_editor() {
        let world = World::new(&[("a.ts", "saved\n")]);
        world.open("a.ts", CODE);
        let output = world.call("find_code_block", json!({ "path": "a.ts", "query": "tax" })).await.unwrap();
        let wanted = "\
a.ts:5-10 method Cart/total
     5\t  total() {
     6\t    const x = a(1);
     7\t    return x;
     8\t    // tax
     9\t    // more
[1 more line]
a.ts:13-15 function tax
    13\tfunction tax() {
    14\t  return 1;
    15\t}";
        assert_eq!(output.text, unsaved("a.ts") + wanted);
        assert_eq!((output.summary.as_str(), output.locations[0].line), ("2 blocks", Some(4)));
        let class = world.text("find_code_block", json!({ "path": "a.ts", "query": "tax", "kind": "class" })).await;
        assert!(class.starts_with(&(unsaved("a.ts") + "a.ts:3-11 class Cart\n")), "{class}");
    }

    #[tokio::test]
    async fn of_several_blocks_on_a_line_the_one_that_the_text_stands_in_is_found() {
        let code = "const ä = '𝄞'; function a() { tax(); } function b() { more(); }\nfunction c() {} // remark\n";
        let world = World::new(&[("a.js", code)]);
        let find = async |query: &str| {
            let text = world.text("find_code_block", json!({ "path": "a.js", "query": query })).await;
            text.lines().next().unwrap_or_default().to_owned()
        };
        assert_eq!(find("tax").await, "a.js:1-1 function a");
        assert_eq!(find("more").await, "a.js:1-1 function b");
        assert_eq!(find("𝄞").await, "a.js:1-1 constant ä");
        assert_eq!(find("remark").await, "a.js:2-2 function c", "it is in no block, and behind this one");
    }

    #[tokio::test]
    async fn pages_and_unknown_languages_have_blocks_too() {
        let page = "<main>\n<section id=\"a\">\n<p>hello</p>\n</section>\n<script>\nfunction init() {\n  hello();\n}\n</script>\n</main>\nhello\n";
        let world = World::new(&[("a.html", page), ("a.conf", "server {\n  listen 80;\n}\nuser x;\n")]);
        let text = world.text("find_code_block", json!({ "path": "a.html", "query": "hello" })).await;
        let heads: Vec<_> = text.lines().filter(|line| line.starts_with("a.html")).collect();
        assert_eq!(heads, ["a.html:2-4 <section#a>", "a.html:6-8 function init"]);
        let text = world.text("find_code_block", json!({ "path": "a.conf", "query": "listen" })).await;
        assert!(text.starts_with("a.conf:1-3 server {\n"), "{text}");
    }

    #[tokio::test]
    async fn nothing_found_says_what_to_use_instead() {
        let world = World::new(&[("a.ts", CODE), ("a.css", "/* note */\n.a {}\n")]);
        let find = |input| world.text("find_code_block", input);
        let text = find(json!({ "path": "a.ts", "query": "nowhere" })).await;
        assert_eq!(text, "error: `nowhere` is not in a.ts; look for it elsewhere or otherwise with search_text");
        let text = find(json!({ "path": "a.ts", "query": "import" })).await;
        assert_eq!(
            text,
            "error: `import` is at line 1 of a.ts, but in no block; see what is around it with read_around"
        );
        let text = find(json!({ "path": "a.css", "query": "note" })).await;
        assert!(text.ends_with("but in no block; see how it is built with file_outline"), "{text}");
        let text = find(json!({ "path": "a.ts", "query": "rate", "kind": "method" })).await;
        assert!(text.ends_with("but in no block of this kind; leave out `kind`"), "{text}");
        assert!(find(json!({ "path": "a.ts", "query": " " })).await.contains("`query` is empty"));
    }

    #[tokio::test]
    async fn what_was_not_looked_at_is_said() {
        let many: String = (0..2_100).map(|at| format!("function f{at}() {{ x(); }}\n")).collect();
        let world = World::new(&[("a.js", &many)]);
        let text = world.text("find_code_block", json!({ "path": "a.js", "query": "x()" })).await;
        assert!(text.ends_with("\n[only the first 2000 places of the text were looked at; say more of it]"), "{text}");
        let text = world.text("find_code_block", json!({ "path": "a.js", "query": "f2000()" })).await;
        assert_eq!(text, "a.js:2001-2001 function f2000\n  2001\tfunction f2000() { x(); }");
    }
}
