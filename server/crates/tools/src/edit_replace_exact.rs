//! `edit_replace_exact`.

use code::edit::{exactly, may_replace, replace};
use ports::partial::PartialInput;
use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::draft::{Change, Draft};
use crate::edits::{OneEdit, Texts};
use crate::{Services, counted};

/// Replaces text in an existing file. Find the place first and read the lines around it with read_file, so that you
/// can copy old_text exactly: white space counts, and line numbers are not part of the file. Make old_text small but
/// unique; two or three lines are usually enough. Several small edits are better than one large one. The change is not
/// written: the user reviews it piece by piece, and until then you read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The text to replace, exactly as it is in the file. It may be a part of a line, or several lines.
    old_text: String,
    /// The new text. Empty to delete the old one.
    new_text: String,
    /// The number of times that old_text occurs in the file; every one is replaced. 1 if left out. If the number is
    /// wrong, nothing is changed.
    #[schemars(range(min = 1))]
    expected_count: Option<usize>,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_REPLACE_EXACT;
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] =
        &[("old_text", DiffKind::Removed), ("new_text", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn check(&self) -> Result<(), ToolError> {
        match self.expected_count {
            Some(0) => Err(ToolError::InvalidInput("`expected_count` must be at least 1".to_owned())),
            _ => Ok(()),
        }
    }

    fn places(input: &PartialInput) -> usize {
        usize::from(input.whole(0, "path").is_some() && input.whole(0, "old_text").is_some())
    }

    fn foresee(input: &PartialInput, texts: &Texts<'_>) -> Result<(), ToolError> {
        let (Some(path), Some(old)) = (input.whole(0, "path"), input.whole(0, "old_text")) else { return Ok(()) };
        let Some((text, _)) = texts.read(path)? else { return Ok(()) };
        may_replace(&text, old).map_err(|error| texts.failed(path, error))
    }

    fn canonical(&self, changes: &[Change<'_>]) -> Option<Value> {
        // Several places may each have their own text.
        let ([Change { before: Some(before), after: Some(after), .. }], None | Some(1)) =
            (changes, self.expected_count)
        else {
            return None;
        };
        let (old, new) = exactly(before, after)?;
        Some(json!({ "path": self.path, "old_text": old, "new_text": new }))
    }

    fn make(&self, draft: &mut Draft<'_>, _: &Services) -> Result<String, ToolError> {
        let count = self.expected_count.unwrap_or(1);
        let what = format!("in {}", counted(count, "place"));
        draft.may_name(&self.path, &self.old_text)?;
        draft.edit(&self.path, &what, |text, _| replace(text, &self.old_text, &self.new_text, count))
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use permission::Action;
    use project::reader::{Overlay, Pending};
    use project::text;
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn an_edit_is_planned_against_the_text_that_was_read_and_writes_nothing() {
        let world = World::new(&[("src/a.rs", "one\ntwo\nthree\n")]);
        let input = json!({ "path": "src/a.rs", "old_text": "two", "new_text": "TWO" });
        let output = world.call("edit_replace_exact", input).await.unwrap();
        assert_eq!(output.text, "Edit of src/a.rs in 1 place, from line 2.");
        assert_eq!(output.locations[0].line, Some(1));
        let plan = &output.plan.unwrap().files[0];
        assert_eq!(plan.path, world.path("src/a.rs"));
        assert_eq!(plan.read, Some(text::hash("one\ntwo\nthree\n")));
        assert_eq!(plan.new_text.as_deref(), Some("one\nTWO\nthree\n"));
        let read = world.text("read_file", json!({ "path": "src/a.rs" })).await;
        assert!(read.contains("two"), "the file is as it was");
    }

    #[tokio::test]
    async fn an_edit_that_slips_in_white_space_lands_where_it_was_meant_and_the_model_is_told() {
        let world = World::new(&[("a.rs", "fn a() {\n\tone();\n\ttwo();\n}\n")]);
        let input = json!({ "path": "a.rs", "old_text": "    one();\n    two();", "new_text": "    one();\n    if x {\n        three();\n    }" });
        let output = world.call("edit_replace_exact", input).await.unwrap();
        assert!(output.text.contains("Your text differed from the file's in indentation;"), "{}", output.text);
        let text = "fn a() {\n\tone();\n\tif x {\n\t\tthree();\n\t}\n}\n";
        assert_eq!(output.plan.unwrap().files[0].new_text.as_deref(), Some(text));
    }

    #[tokio::test]
    async fn unsaved_text_with_windows_line_ends_is_what_is_edited() {
        let world = World::new(&[("a", "saved\n")]);
        world.open("a", "unsaved\r\ntext\r\n");
        let input = json!({ "path": "a", "old_text": "unsaved\ntext\n", "new_text": "x\n" });
        let plan = world.call("edit_replace_exact", input).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].read, Some(text::hash("unsaved\ntext\n")));
        assert_eq!(plan.files[0].new_text.as_deref(), Some("x\n"));
    }

    #[tokio::test]
    async fn an_edit_goes_on_top_of_pending_ones() {
        struct Proposes;
        impl Overlay for Proposes {
            fn pending(&self, _: &Path) -> Option<Pending> {
                Some(Pending::Text("proposed\n".into()))
            }
            fn paths(&self) -> Vec<PathBuf> {
                Vec::new()
            }
        }
        let world = World::new(&[("a", "saved\n")]);
        let input = json!({ "path": "a", "old_text": "proposed", "new_text": "better" });
        let plan = call(&world.services_with(Proposes), "edit_replace_exact", input).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].read, Some(text::hash("proposed\n")));
        assert_eq!(plan.files[0].new_text.as_deref(), Some("better\n"));
    }

    #[tokio::test]
    async fn what_cannot_be_edited_says_what_to_do() {
        let world = World::new(&[("src/a.rs", "let x = 1;\nlet x = 1;\n"), (".git/config", "x")]);
        let edit = |path: &str, old: &str| {
            let input = json!({ "path": path, "old_text": old, "new_text": "new" });
            let world = &world;
            async move { world.text("edit_replace_exact", input).await }
        };
        let text = edit("src/a.rs", "let x = 1;").await;
        assert!(text.starts_with("error: src/a.rs: old_text occurs 2 times, but expected_count is 1."), "{text}");
        let text = edit("src/a.rs", "let y = 1;").await;
        assert!(text.contains("first difference at line 1, column 5: the file has 'x', old_text has 'y'"), "{text}");
        let text = edit("a.rs", "x").await;
        assert!(text.contains("a.rs does not exist; did you mean src/a.rs?"), "{text}");
        let text = edit(".git/config", "x").await;
        assert_eq!(text, "error: .git/config must not be changed: it belongs to git itself");
        assert!(edit("../x", "x").await.contains("is outside the workspace"));
        let input = json!({ "path": "src/a.rs", "old_text": "x", "new_text": "y", "expected_count": 0 });
        let text = world.text("edit_replace_exact", input).await;
        assert_eq!(text, "error: invalid input: `expected_count` must be at least 1");
    }

    #[tokio::test]
    async fn permission_judges_the_file() {
        let world = World::new(&[("a", "x")]);
        let tools = crate::builtin(&world.services());
        let tool = tools.iter().find(|tool| tool.spec().name == "edit_replace_exact").unwrap();
        let description = tool.describe(&json!({ "path": "./a", "old_text": "x", "new_text": "y" })).await.unwrap();
        assert_eq!(description.action, Action::Edit { paths: vec![world.path("a")] });
        assert_eq!(description.title, "Editing a");
    }
}
