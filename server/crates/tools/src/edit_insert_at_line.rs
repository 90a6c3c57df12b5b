//! `edit_insert_at_line`.

use agent::tool::{DiffKind, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::edit::insert_at_line;

use crate::draft::Draft;
use crate::edits::OneEdit;
use crate::{Services, counted};

/// Puts lines into a file above the line with a number. Numbers go stale with every edit: give line_text, the text that
/// the line has now, unless you have read the file just now. The change is not written: the user reviews it, and until
/// then you read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The line, from 1, above which the content goes; one more than the file has lines to put it at the end.
    line: usize,
    /// The text that this line has now, as a whole; with the lines below it where others have the same text. With it a
    /// number that went stale does no harm.
    line_text: Option<String>,
    /// The lines to put in, with their indentation.
    content: String,
}

impl OneEdit for Input {
    const NAME: &'static str = "edit_insert_at_line";
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("line_text", DiffKind::Place), ("content", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn make(&self, draft: &mut Draft<'_>, _: &Services) -> Result<String, ToolError> {
        let lines = counted(self.content.lines().count(), "line");
        let is_rest = draft.is_file_block();
        draft.edit(&self.path, &format!("with {lines} put in"), |text, seen| {
            // The rest of a file goes to its end, and to nothing else that has the number by now.
            let trusted = if is_rest { self.line == text.lines().count() + 1 } else { seen };
            insert_at_line(text, self.line, self.line_text.as_deref(), &self.content, trusted)
        })
    }
}

#[cfg(test)]
mod tests {
    use agent::file_blocks::APPEND;
    use serde_json::json;

    use crate::fixture::{World, write_block};

    #[tokio::test]
    async fn the_rest_of_a_file_goes_to_its_end_or_nowhere() {
        let world = World::new(&[("a", "one\ntwo\n")]);
        let services = world.services();
        let rest = |line: usize| write_block(&services, APPEND, json!({ "path": "a", "line": line, "content": "x\n" }));
        let plan = rest(3).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].new_text.as_deref(), Some("one\ntwo\nx\n"), "also where it was not read");
        for line in [1, 2, 4] {
            assert!(rest(line).await.is_err(), "{line}");
        }
        world.open("a", "one\ntwo\nmine\n");
        assert!(rest(3).await.unwrap_err().to_string().contains("has changed since you read it"));
    }
}
