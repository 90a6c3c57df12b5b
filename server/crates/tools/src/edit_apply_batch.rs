//! `edit_apply_batch`.

use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::draft::Draft;
use crate::edits::OneEdit;
use crate::{
    Services, edit_by_anchor, edit_create_file, edit_delete_file, edit_insert_at_line, edit_move_file,
    edit_replace_exact,
};

/// Makes several edits, of one file or of many, all of them or none: if one fails nothing is changed, and the error
/// says which. A later edit sees the results of those before it. The changes are not written: the user reviews
/// them together, and until then you read the files as if they were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The edits, in their order. op says what each one is, and so which other fields it takes.
    #[schemars(length(min = 1))]
    edits: Vec<Edit>,
}

/// One of the edits.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Edit {
    /// Replaces text in a file.
    ReplaceExact(edit_replace_exact::Input),
    /// Inserts lines above the line with a number.
    InsertAtLine(edit_insert_at_line::Input),
    /// Inserts or replaces lines that are named by a piece of their text.
    ByAnchor(edit_by_anchor::Input),
    /// Creates a file.
    CreateFile(edit_create_file::Input),
    /// Moves a file.
    MoveFile(edit_move_file::Input),
    /// Deletes a file.
    DeleteFile(edit_delete_file::Input),
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_APPLY_BATCH;
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[
        ("old_text", DiffKind::Removed),
        ("new_text", DiffKind::Added),
        ("line_text", DiffKind::Place),
        ("anchor", DiffKind::Place),
        ("anchor_end", DiffKind::Place),
        ("content", DiffKind::Added),
    ];

    fn paths(&self) -> Vec<&str> {
        self.edits.iter().flat_map(Edit::paths).collect()
    }

    fn check(&self) -> Result<(), ToolError> {
        if self.edits.is_empty() {
            return Err(ToolError::InvalidInput("`edits` is empty".to_owned()));
        }
        self.edits.iter().enumerate().try_for_each(|(at, edit)| edit.check().map_err(|error| named(at, error)))
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let mut words = Vec::new();
        for (at, edit) in self.edits.iter().enumerate() {
            words.push(edit.make(draft, services).map_err(|error| named(at, error))?);
        }
        Ok(words.join("\n"))
    }
}

impl Edit {
    fn paths(&self) -> Vec<&str> {
        match self {
            Self::ReplaceExact(edit) => edit.paths(),
            Self::InsertAtLine(edit) => edit.paths(),
            Self::ByAnchor(edit) => edit.paths(),
            Self::CreateFile(edit) => edit.paths(),
            Self::MoveFile(edit) => edit.paths(),
            Self::DeleteFile(edit) => edit.paths(),
        }
    }

    fn check(&self) -> Result<(), ToolError> {
        match self {
            Self::ReplaceExact(edit) => edit.check(),
            _ => Ok(()),
        }
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        match self {
            Self::ReplaceExact(edit) => edit.make(draft, services),
            Self::InsertAtLine(edit) => edit.make(draft, services),
            Self::ByAnchor(edit) => edit.make(draft, services),
            Self::CreateFile(edit) => edit.make(draft, services),
            Self::MoveFile(edit) => edit.make(draft, services),
            Self::DeleteFile(edit) => edit.make(draft, services),
        }
    }
}

/// An error with the number of the edit it is about, from 1.
fn named(at: usize, error: ToolError) -> ToolError {
    let number = at + 1;
    match error {
        ToolError::Cancelled => ToolError::Cancelled,
        ToolError::InvalidInput(words) => ToolError::InvalidInput(format!("edit {number}: {words}")),
        other => ToolError::Failed(format!("edit {number} failed, so none was made: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use crate::fixture::World;

    #[tokio::test]
    async fn edits_over_several_files_are_one_plan_and_see_each_other() {
        let world = World::new(&[("a", "one\ntwo\n"), ("b", "b\n"), ("c", "c\n")]);
        let input = json!({ "edits": [
            { "op": "replace_exact", "path": "a", "old_text": "one", "new_text": "three" },
            { "op": "by_anchor", "path": "a", "mode": "insert_after", "anchor": "three", "content": "four" },
            { "op": "move_file", "path": "b", "to": "d/b" },
            { "op": "replace_exact", "path": "d/b", "old_text": "b", "new_text": "B" },
            { "op": "delete_file", "path": "c" },
            { "op": "create_file", "path": "e", "content": "e\n" },
        ] });
        let output = world.call("edit_apply_batch", input).await.unwrap();
        let plan = output.plan.unwrap();
        let files: Vec<_> =
            plan.files.iter().map(|f| (f.path.clone(), f.new_text.as_deref(), f.moved_to.clone())).collect();
        let at = |name| world.path(name);
        assert_eq!(
            files,
            [
                (at("a"), Some("three\nfour\ntwo\n"), None),
                (at("d/b"), Some("B\n"), None),
                (at("c"), None, None),
                (at("e"), Some("e\n"), None),
                (at("b"), None, Some(at("d/b"))),
            ]
        );
        assert!(output.text.contains("Move of b to d/b.") && output.text.contains("Deletion of c."), "{}", output.text);
    }

    #[tokio::test]
    async fn one_that_fails_fails_all_and_is_named() {
        let world = World::new(&[("a", "one\n")]);
        let input = json!({ "edits": [
            { "op": "replace_exact", "path": "a", "old_text": "one", "new_text": "two" },
            { "op": "replace_exact", "path": "a", "old_text": "one", "new_text": "three" },
        ] });
        let text = world.text("edit_apply_batch", input).await;
        assert!(text.starts_with("error: edit 2 failed, so none was made: a: old_text was not found"), "{text}");
        let text = world.text("edit_apply_batch", json!({ "edits": [] })).await;
        assert_eq!(text, "error: invalid input: `edits` is empty");
        let unknown = json!({ "edits": [{ "op": "delete_file", "path": "a", "force": true }] });
        assert!(world.text("edit_apply_batch", unknown).await.contains("unknown field `force`"));
    }

    /// Returns the plan of a batch for each file: its name, its text, and where it is moved to.
    async fn planned(world: &World, edits: serde_json::Value) -> Vec<(PathBuf, Option<String>, Option<PathBuf>)> {
        let output = world.call("edit_apply_batch", json!({ "edits": edits })).await.unwrap();
        output.plan.unwrap().files.into_iter().map(|file| (file.path, file.new_text, file.moved_to)).collect()
    }

    #[tokio::test]
    async fn a_file_that_is_moved_twice_is_moved_to_its_last_place() {
        let world = World::new(&[("a", "A\n")]);
        let at = |name| world.path(name);
        let twice = json!([
            { "op": "move_file", "path": "a", "to": "x" },
            { "op": "move_file", "path": "x", "to": "y" },
        ]);
        let moved = [(at("y"), Some("A\n".to_owned()), None), (at("a"), None, Some(at("y")))];
        assert_eq!(planned(&world, twice).await, moved);
        let and_another_at_its_place = json!([
            { "op": "move_file", "path": "a", "to": "x" },
            { "op": "move_file", "path": "x", "to": "y" },
            { "op": "create_file", "path": "x", "content": "new\n" },
        ]);
        let [_, last] = &moved;
        assert_eq!(planned(&world, and_another_at_its_place).await.last(), Some(last));
    }

    #[tokio::test]
    async fn a_file_that_is_deleted_where_it_was_moved_to_is_only_deleted() {
        let world = World::new(&[("a", "A\n"), ("b", "A\n")]);
        let deleted = json!([
            { "op": "move_file", "path": "a", "to": "x" },
            { "op": "delete_file", "path": "x" },
        ]);
        assert_eq!(planned(&world, deleted).await, [(world.path("a"), None, None)]);
        // The plan does not make the new place, as it is there already.
        let onto_its_like = json!([
            { "op": "delete_file", "path": "b" },
            { "op": "move_file", "path": "a", "to": "b" },
        ]);
        assert_eq!(planned(&world, onto_its_like).await, [(world.path("a"), None, None)]);
    }

    #[tokio::test]
    async fn files_that_swap_their_places_are_two_changes_of_text() {
        let world = World::new(&[("a", "A\n"), ("b", "B\n")]);
        let swap = json!([
            { "op": "move_file", "path": "a", "to": "t" },
            { "op": "move_file", "path": "b", "to": "a" },
            { "op": "move_file", "path": "t", "to": "b" },
        ]);
        let mut files = planned(&world, swap).await;
        files.sort();
        let swapped =
            [(world.path("a"), Some("B\n".to_owned()), None), (world.path("b"), Some("A\n".to_owned()), None)];
        assert_eq!(files, swapped);
    }

    #[tokio::test]
    async fn a_file_is_moved_only_to_where_there_is_none() {
        let world = World::new(&[("a", "a\n"), ("b", "b\n")]);
        let text = world.text("edit_move_file", json!({ "path": "a", "to": "b" })).await;
        assert!(text.starts_with("error: b exists already, so a cannot be moved there."), "{text}");
        let text = world.text("edit_move_file", json!({ "path": "a", "to": "../x" })).await;
        assert!(text.contains("outside the workspace"), "{text}");
        let text = world.text("edit_move_file", json!({ "path": "x", "to": "y" })).await;
        assert!(text.starts_with("error: x does not exist"), "{text}");
        let output = world.call("edit_delete_file", json!({ "path": "b" })).await.unwrap();
        assert_eq!(output.plan.unwrap().files[0].new_text, None);
    }

    #[tokio::test]
    async fn a_line_number_is_trusted_only_in_a_text_that_was_read() {
        let world = World::new(&[("a", "one\ntwo\n")]);
        let insert = json!({ "path": "a", "line": 2, "content": "between" });
        let services = world.services();
        let call = |name: &'static str, input| crate::fixture::call(&services, name, input);
        let error = call("edit_insert_at_line", insert.clone()).await.unwrap_err().to_string();
        assert!(error.starts_with("a: the file has changed since you read it, or you have not read it"), "{error}");
        call("read_file", json!({ "path": "a" })).await.unwrap();
        let plan = call("edit_insert_at_line", insert).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].new_text.as_deref(), Some("one\nbetween\ntwo\n"));
    }
}
