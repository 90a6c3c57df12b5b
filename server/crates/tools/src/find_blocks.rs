//! `find_blocks`.

use async_trait::async_trait;
use code::syntax::{Block, BlockKind, blocks, languages};
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::structure::{Opened, Rows, describe};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// Lists the blocks of a file with their ids and line ranges, without their text, as `id lines label`: the sections of
/// HTML with the rules and functions in its styles and scripts (`style0-css-1` is a rule of the first style), the rules
/// of CSS, and the classes, functions and the like of code. Read the lines of one with read_file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// Only blocks of this kind. Without it, or with `auto`, all kinds of the file's language.
    #[serde(default)]
    kind: Kind,
}

/// Which blocks are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// All kinds of the file's language, without values of one line.
    #[default]
    Auto,
    /// Sections, elements with ids, styles and scripts.
    HtmlSection,
    /// Rules, media queries and keyframes, also in styles of HTML.
    CssRule,
    /// Functions, classes, interfaces and types of JavaScript or TypeScript, also in scripts of HTML.
    JsTsSymbol,
    /// Namespaces, types, methods and properties of C#.
    #[serde(rename = "csharp_symbol")]
    CSharpSymbol,
    /// Namespaces, types, functions and methods of PHP.
    PhpSymbol,
    /// Types and methods of Java.
    JavaSymbol,
    /// Everything, with fields, variables and constants of one line.
    All,
}

pub(crate) struct FindBlocks {
    services: Services,
}

impl FindBlocks {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for FindBlocks {
    type Input = Input;
    const NAME: &'static str = tool_names::FIND_BLOCKS;
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        describe(&self.services, &input.path, |name| format!("Listing the blocks of {name}"))
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let name = &file.name;
            let known = file.known().map_err(|error| file.unparsed(error))?.ok_or_else(|| {
                let words = format!("blocks of {name} are not known, only those of {}; use file_outline", languages());
                ToolError::Failed(words)
            })?;
            let all = blocks(&known.parsed, &known.outline, input.kind == Kind::All);
            let wanted: Vec<_> = all.iter().filter(|block| input.kind.includes(block)).collect();
            if wanted.is_empty() && !all.is_empty() {
                let words = format!("{name} has no blocks of this kind, but {} others; leave out `kind`", all.len());
                return Err(ToolError::Failed(words));
            }
            let count = counted(wanted.len(), "block");
            let mut rows = Rows::default();
            for block in wanted {
                let (id, lines) = (&block.id, &block.lines);
                rows.push(|| format!("{id} {}-{} {}", lines.start(), lines.end(), block.label(&known.outline)));
            }
            let rows = rows.finish("say which `kind`, or look for one with find_code_block");
            let total = counted(file.total(), "line");
            Ok(file.output(format!("{name} ({total}, {count}):\n{rows}{}", known.cut()), count, None))
        })
        .await
    }
}

impl Kind {
    fn includes(self, block: &Block) -> bool {
        match self {
            Self::Auto | Self::All => true,
            Self::HtmlSection => block.kind == BlockKind::HtmlSection,
            Self::CssRule => block.kind == BlockKind::CssRule,
            Self::JsTsSymbol => block.kind == BlockKind::Script,
            Self::CSharpSymbol => block.kind == BlockKind::CSharp,
            Self::PhpSymbol => block.kind == BlockKind::Php,
            Self::JavaSymbol => block.kind == BlockKind::Java,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::World;

    const PAGE: &str =
        "<main>\n<style>\n.site-footer { x: y }\n</style>\n<script>\nfunction initApp() {}\n</script>\n</main>\n";

    #[tokio::test]
    async fn a_page_mixes_its_sections_with_rules_and_functions() {
        let world = World::new(&[("a.html", PAGE)]);
        let text = world.text("find_blocks", json!({ "path": "a.html" })).await;
        let wanted = "\
a.html (8 lines, 5 blocks):
html-0 1-8 <main>
style-0 2-4 <style>
style0-css-0 3-3 .site-footer
script-0 5-7 <script>
script0-js-0 6-6 function initApp";
        assert_eq!(text, wanted);
        let text = world.text("find_blocks", json!({ "path": "a.html", "kind": "css_rule" })).await;
        assert_eq!(text, "a.html (8 lines, 1 block):\nstyle0-css-0 3-3 .site-footer");
    }

    #[tokio::test]
    async fn code_has_its_own_kinds() {
        let csharp = "namespace N {\n  class A {\n    int x = 1;\n    int P { get; }\n    void M() {}\n  }\n}\n";
        let world = World::new(&[("a.cs", csharp), ("a.txt", "a\n")]);
        let text = world.text("find_blocks", json!({ "path": "a.cs", "kind": "csharp_symbol" })).await;
        let wanted = "\
a.cs (7 lines, 4 blocks):
csharp-0 1-7 namespace N
csharp-1 2-6 class N/A
csharp-2 4-4 property N/A/P
csharp-3 5-5 method N/A/M";
        assert_eq!(text, wanted);
        let all = world.text("find_blocks", json!({ "path": "a.cs", "kind": "all" })).await;
        assert!(all.contains("csharp-2 3-3 field N/A/x"), "{all}");
        let other = world.text("find_blocks", json!({ "path": "a.cs", "kind": "java_symbol" })).await;
        assert_eq!(other, "error: a.cs has no blocks of this kind, but 4 others; leave out `kind`");
        assert!(world.text("find_blocks", json!({ "path": "a.txt" })).await.ends_with("use file_outline"));
    }
}
