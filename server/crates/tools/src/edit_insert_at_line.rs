//! `edit_insert_at_line`.

use code::edit::insert_at_line;
use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use project::text::normalise;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::draft::Draft;
use crate::edits::OneEdit;
use crate::{Services, counted};

/// Inserts lines above the line with a number. Numbers go stale with every edit: give line_text, the text that the line
/// has now, unless you have just read the file. The change is not written: the user reviews it, and until
/// then you read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The line, from 1, above which the content goes; one more than the file has lines to put it at the end.
    line: usize,
    /// The text that this line has now, complete; with the lines below it if other lines have the same text. With it a
    /// stale number does no harm.
    line_text: Option<String>,
    /// The last lines of the file, to put the content after them, whatever the line number.
    behind: Option<String>,
    /// The new lines, with their indentation.
    content: String,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_INSERT_AT_LINE;
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("line_text", DiffKind::Place), ("content", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn make(&self, draft: &mut Draft<'_>, _: &Services) -> Result<String, ToolError> {
        let lines = counted(self.content.lines().count(), "line");
        draft.edit(&self.path, &format!("with {lines} put in"), |text, seen| {
            let Some(behind) = &self.behind else {
                let put = insert_at_line(text, self.line, self.line_text.as_deref(), &self.content, seen);
                return put.map_err(|error| error.to_string());
            };
            if !ends_with(text, behind) {
                return Err(
                    "its last lines are others by now, so what was to come behind them has no certain place; nothing \
                            was done. Read its end, and add what is missing with another edit"
                        .to_owned(),
                );
            }
            insert_at_line(text, text.lines().count() + 1, None, &self.content, true).map_err(|error| error.to_string())
        })
    }
}

/// True if these are a text's last lines.
fn ends_with(text: &str, lines: &str) -> bool {
    let lines = normalise(lines.strip_prefix('\u{FEFF}').unwrap_or(lines)).0;
    let above = text.strip_suffix(&*lines).filter(|_| !lines.is_empty());
    above.is_some_and(|above| above.is_empty() || above.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use ports::tool_names::EDIT_INSERT_AT_LINE as APPEND;
    use serde_json::json;

    use crate::fixture::{World, write_block};

    #[tokio::test]
    async fn the_rest_of_a_file_goes_to_its_end_or_nowhere() {
        let world = World::new(&[("a", "one\ntwo\n")]);
        let services = world.services();
        let rest = |behind: &str| {
            let input = json!({ "path": "a", "line": 9, "behind": behind, "content": "x\n" });
            write_block(&services, APPEND, input)
        };
        for behind in ["two\n", "one\ntwo\n", "two\r\n"] {
            let plan = rest(behind).await.unwrap().plan.unwrap();
            assert_eq!(plan.files[0].new_text.as_deref(), Some("one\ntwo\nx\n"), "also where it was not read");
        }
        for behind in ["one\n", "wo\n", "zero\none\ntwo\n", ""] {
            assert!(rest(behind).await.is_err(), "{behind}");
        }
        world.open("a", "mine\none\ntwo\n");
        let plan = rest("two\n").await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].new_text.as_deref(), Some("mine\none\ntwo\nx\n"), "what is typed above is no harm");
        world.open("a", "one\ntwo\nmine\n");
        assert!(rest("two\n").await.unwrap_err().to_string().contains("its last lines are others by now"));
    }
}
