//! `file_symbols`.

use async_trait::async_trait;
use code::syntax::{Language, languages};
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::structure::{Opened, Rows, describe};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// Lists the symbols of a file as `line: kind path: first line`, with the path that edit_symbol takes, such as
/// `Type/method`. For HTML and CSS see file_outline. Unsaved changes and your own pending edits are included.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

pub(crate) struct FileSymbols {
    services: Services,
}

impl FileSymbols {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for FileSymbols {
    type Input = Input;
    const NAME: &'static str = tool_names::FILE_SYMBOLS;
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        describe(&self.services, &input.path, |name| format!("Listing the symbols of {name}"))
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let name = &file.name;
            if let Some(Language::Html | Language::Css) = file.language() {
                let words = format!("{name} has sections and rules rather than symbols; see them with file_outline");
                return Err(ToolError::Failed(words));
            }
            let known = file.known().map_err(|error| file.unparsed(error))?.ok_or_else(|| {
                let words = format!("symbols of {name} are not known, only those of {}; use file_outline", languages());
                ToolError::Failed(words)
            })?;
            let count = counted(known.outline.symbols.len(), "symbol");
            let mut rows = Rows::default();
            for symbol in &known.outline.symbols {
                rows.push(|| {
                    let (kind, path) = (symbol.kind.name(), known.outline.name(symbol));
                    format!("{}: {kind} {path}: {}", symbol.line, symbol.signature(&known.parsed))
                });
            }
            let rows = rows.finish("see the outer ones with file_outline, or find one with find_code_block");
            Ok(file.output(format!("{name} ({count}):\n{rows}{}", known.cut()), count, None))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::World;

    #[tokio::test]
    async fn symbols_come_with_the_paths_that_edits_take() {
        let world = World::new(&[(
            "a.rs",
            "struct A;\n\nimpl A {\n    #[inline]\n    fn f(&self) -> u8 {\n        1\n    }\n}\n",
        )]);
        let text = world.text("file_symbols", json!({ "path": "a.rs" })).await;
        let wanted =
            "a.rs (3 symbols):\n1: struct A: struct A;\n3: impl impl A: impl A\n5: method impl A/f: fn f(&self) -> u8";
        assert_eq!(text, wanted);
    }

    #[tokio::test]
    async fn what_has_none_says_what_to_use() {
        let world = World::new(&[("a.css", ".a {}\n"), ("a.txt", "a\n")]);
        let symbols = |path: &'static str| world.text("file_symbols", json!({ "path": path }));
        assert!(symbols("a.css").await.ends_with("see them with file_outline"));
        let text = symbols("a.txt").await;
        assert!(text.contains("only those of bash, c, cpp, csharp") && text.ends_with("use file_outline"), "{text}");
    }
}
