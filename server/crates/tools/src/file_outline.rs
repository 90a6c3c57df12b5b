//! `file_outline`.

use async_trait::async_trait;
use code::syntax::{Listed, SymbolKind, chunks, references};
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::structure::{Known, MAX_ROWS, Opened, Rows, describe};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// How many imports and how many exports are given.
const MAX_REFERENCES: usize = 40;
/// How many levels are shown by space; what lies deeper is shown as deep as these.
const MAX_INDENT: usize = 20;

/// Shows the structure of a file, without its text: its imports and exports, and its classes, functions and the like
/// with their line ranges and first lines, nested; for HTML the sections, the elements with ids, and the rules and
/// functions in styles and scripts; for CSS the rules, media queries and keyframes; for any other text every 50th line.
/// For a large file, read the outline and then only the lines that you need. Unsaved changes and your own pending edits
/// are included.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

pub(crate) struct FileOutline {
    services: Services,
}

impl FileOutline {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for FileOutline {
    type Input = Input;
    const NAME: &'static str = "file_outline";
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        describe(&self.services, &input.path, |name| format!("Outlining {name}"))
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let total = counted(file.total(), "line");
            let (about, rows, summary) = match file.known() {
                Ok(Some(known)) => {
                    let language = known.parsed.language.name();
                    (language.to_owned(), of_symbols(&known), counted(known.outline.symbols.len(), "symbol"))
                }
                Ok(None) => ("no known language".to_owned(), in_chunks(&file), total.clone()),
                Err(error) => (error.to_string(), in_chunks(&file), total.clone()),
            };
            Ok(file.output(format!("{} ({total}, {about}):\n{rows}", file.name), summary, None))
        })
        .await
    }
}

fn of_symbols(known: &Known) -> String {
    let found = references(&known.parsed, &known.outline);
    let mut text = section("imports", &found.imports);
    let symbols = &known.outline.symbols;
    let mut depths: Vec<usize> = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        let outer = symbol.parent.and_then(|at| depths.get(at));
        depths.push(outer.map_or(0, |depth| depth + 1));
    }
    // Where there are too many, those that lie deepest are left out.
    let up_to = |depth: usize| depths.iter().filter(|own| **own <= depth).count();
    let deepest = depths.iter().copied().max().unwrap_or_default();
    let shown = (0..=deepest).rev().find(|depth| up_to(*depth) <= MAX_ROWS).unwrap_or_default();
    let mut rows = Rows::default();
    for (symbol, depth) in symbols.iter().zip(&depths).filter(|(_, depth)| **depth <= shown) {
        rows.push(|| {
            let indent = "  ".repeat(depth.saturating_sub(1).min(MAX_INDENT));
            let branch = if *depth > 0 { format!("{indent}└─ ") } else { String::new() };
            let row = match symbol.kind {
                SymbolKind::Element => format!("<{}>", symbol.own_name()),
                SymbolKind::Rule | SymbolKind::Media | SymbolKind::Keyframes | SymbolKind::AtRule => {
                    symbol.own_name().to_owned()
                }
                _ => symbol.signature(&known.parsed),
            };
            format!("{}-{}: {branch}{row}", symbol.lines.start(), symbol.lines.end())
        });
    }
    if symbols.is_empty() {
        text.push_str("It defines nothing.\n");
    }
    text.push_str(&rows.finish("see parts of it with find_code_block or search_text"));
    let inner = depths.iter().filter(|depth| **depth > shown).count();
    if inner > 0 {
        text.push_str(&format!("[{inner} more lie within these; see them with find_code_block]\n"));
    }
    text.push_str(&known.cut());
    text.push_str(&section("exports", &found.exports));
    let errors = known.parsed.errors();
    if let Some(first) = errors.first() {
        let places = counted(errors.len(), "place");
        text.push_str(&format!(
            "[{places} could not be parsed, the first at line {first}; there more may be missing]\n"
        ));
    }
    text
}

fn section(name: &str, found: &Listed) -> String {
    if found.total == 0 {
        return String::new();
    }
    let mut text = format!("{name}:\n");
    for one in found.first.iter().take(MAX_REFERENCES) {
        text.push_str(&format!("  {}: {}\n", one.line, one.text));
    }
    if found.total > MAX_REFERENCES {
        text.push_str(&format!("  [{} more]\n", found.total - MAX_REFERENCES));
    }
    text
}

fn in_chunks(file: &Opened) -> String {
    let mut rows = Rows::default();
    for chunk in chunks(&file.text) {
        rows.push(|| format!("{}-{}: {}", chunk.lines.start(), chunk.lines.end(), chunk.head));
    }
    rows.finish("search in it with search_text")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, unsaved};

    #[tokio::test]
    async fn code_is_outlined_as_it_is_in_the_editor() {
        let world = World::new(&[("src/a.ts", "saved\n")]);
        world.open(
            "src/a.ts",
            "import { b } from './b';\r\n\r\nexport class A {\r\n  m(x: string) {\r\n    return b(x);\r\n  }\r\n}\r\nconst f = () => 1;\r\nexport default f;\r\n",
        );
        let output = world.call("file_outline", json!({ "path": "src/a.ts" })).await.unwrap();
        let wanted = "\
src/a.ts (9 lines, typescript):
imports:
  1: import { b } from './b';
3-7: export class A
4-6: └─ m(x: string)
8-8: const f = () => 1;
exports:
  3: A
  9: default";
        assert_eq!(output.text, unsaved("src/a.ts") + wanted);
        assert_eq!(output.summary, "3 symbols");
    }

    #[tokio::test]
    async fn a_page_shows_its_sections_with_styles_and_scripts_in_them() {
        let page = "<body>\n<header id=\"top\"></header>\n<style>\n.card { color: red; }\n@keyframes fadeIn { from { x: y } }\n</style>\n<script>\nfunction init() {\n}\n</script>\n</body>\n";
        let world = World::new(&[("a.html", page)]);
        let text = world.text("file_outline", json!({ "path": "a.html" })).await;
        let wanted = "\
a.html (11 lines, html):
1-11: <body>
2-2: └─ <header#top>
3-6: └─ <style>
4-4:   └─ .card
5-5:   └─ @keyframes fadeIn
7-10: └─ <script>
8-9:   └─ function init()";
        assert_eq!(text, wanted);
    }

    #[tokio::test]
    async fn any_other_text_is_told_by_every_fiftieth_line() {
        let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
        let world = World::new(&[("a.log", &text), ("b.rs", "struct A {\nfn f(\n")]);
        let text = world.text("file_outline", json!({ "path": "a.log" })).await;
        assert_eq!(text, "a.log (60 lines, no known language):\n1-50: line 1\n51-60: line 51");
        let text = world.text("file_outline", json!({ "path": "b.rs" })).await;
        assert!(text.contains("could not be parsed, the first at line "), "{text}");
    }

    #[tokio::test]
    async fn a_file_of_very_many_symbols_shows_the_outer_ones_and_says_so() {
        let class = |at: usize| format!("class C{at}:\n{}", "    def f(self): pass\n".repeat(10));
        let code: String = (0..100).map(class).collect();
        let keys: String = (0..5_000).map(|at| format!("\"{at}\": {at},\n")).collect();
        let world = World::new(&[("a.py", &code), ("b.json", &format!("{{\n{keys}\"z\": 1\n}}\n"))]);
        let text = world.text("file_outline", json!({ "path": "a.py" })).await;
        assert_eq!(text.lines().count(), 102);
        assert!(text.ends_with("[1000 more lie within these; see them with find_code_block]"), "{text}");
        let text = world.text("file_outline", json!({ "path": "b.json" })).await;
        assert!(text.ends_with("[4601 more left out; see parts of it with find_code_block or search_text]"), "{text}");
    }
}
