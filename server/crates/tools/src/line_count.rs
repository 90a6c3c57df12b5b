//! `line_count`.

use async_trait::async_trait;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::structure::{Opened, describe};
use crate::typed::Typed;
use crate::{Services, blocking, counted};

/// Gives the number of lines of a text file and of the bytes to read, with one for each line end; unsaved changes and
/// your own pending edits included. Use it to decide how to read a file: a small one completely with read_file, a large
/// one with file_outline and read_around.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

pub(crate) struct LineCount {
    services: Services,
}

impl LineCount {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LineCount {
    type Input = Input;
    const NAME: &'static str = tool_names::LINE_COUNT;
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        describe(&self.services, &input.path, |name| format!("Counting the lines of {name}"))
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let file = Opened::new(&services, &input.path, &call)?;
            let lines = counted(file.total(), "line");
            let text = format!("{}: {lines}, {}.", file.name, counted(file.text.len(), "byte"));
            Ok(file.output(text, lines, None))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, unsaved};

    #[tokio::test]
    async fn the_lines_of_the_text_in_the_editor_are_counted() {
        let world = World::new(&[("a.txt", "1\n2\n3"), ("empty", ""), ("bin", "\0")]);
        let count = |path: &'static str| world.text("line_count", json!({ "path": path }));
        assert_eq!(count("a.txt").await, "a.txt: 3 lines, 5 bytes.");
        world.open("a.txt", "one\r\n");
        assert_eq!(count("a.txt").await, unsaved("a.txt") + "a.txt: 1 line, 4 bytes.");
        assert_eq!(count("empty").await, "empty: 0 lines, 0 bytes.");
        assert!(count("bin").await.ends_with("it is a binary file"));
        assert!(count("../x").await.contains("is outside the workspace"));
        assert!(count("b.txt").await.contains("b.txt does not exist"));
    }
}
