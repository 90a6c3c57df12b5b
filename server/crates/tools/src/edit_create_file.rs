//! `edit_create_file`.

use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::draft::Draft;
use crate::edits::OneEdit;
use crate::{Services, counted};

/// Creates a file with the given text, and its folders if they are missing. Change an existing file by editing the
/// lines that differ; replace a whole file (overwrite) only if nearly all of it changes. The file is not written: the
/// user reviews it, and until then you read it as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The whole text of the file. End it with a line break, as text files do.
    content: String,
    /// True to replace an existing file. Without it an existing file is an error.
    overwrite: Option<bool>,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_CREATE_FILE;
    const VERB: &'static str = "Creating";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("content", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let (path, existed) = draft.create(&self.path, &self.content, self.overwrite.unwrap_or_default())?;
        let lines = counted(self.content.lines().count(), "line");
        let what = if existed { "Replacement of all of" } else { "New file" };
        Ok(format!("{what} {} ({lines}).", services.roots.display(&path)))
    }
}

#[cfg(test)]
mod tests {
    use ports::tool_names::{EDIT_CREATE_FILE as CREATE, EDIT_INSERT_AT_LINE as APPEND};
    use project::text;
    use serde_json::json;

    use crate::fixture::{World, call, write_block};

    #[tokio::test]
    async fn a_new_file_is_planned_even_in_folders_that_do_not_exist() {
        let world = World::new(&[]);
        let input = json!({ "path": "src/deep/new.rs", "content": "a\r\nb\r\n" });
        let output = world.call("edit_create_file", input).await.unwrap();
        assert_eq!(output.text, "New file src/deep/new.rs (2 lines).");
        let plan = &output.plan.unwrap().files[0];
        assert_eq!((&plan.path, &plan.read), (&world.path("src/deep/new.rs"), &None));
        assert_eq!(plan.new_text.as_deref(), Some("a\nb\n"));
        assert!(!world.path("src").exists(), "nothing is written");
    }

    #[tokio::test]
    async fn a_file_that_exists_is_replaced_only_on_purpose() {
        let world = World::new(&[("a", "old\ntext\n")]);
        for input in
            [json!({ "path": "a", "content": "new\n" }), json!({ "path": "a", "content": "new\n", "overwrite": null })]
        {
            let text = world.text("edit_create_file", input).await;
            assert!(text.starts_with("error: a exists already (2 lines). Nothing was changed."), "{text}");
        }
        let input = json!({ "path": "a", "content": "new\n", "overwrite": true });
        let output = world.call("edit_create_file", input).await.unwrap();
        assert_eq!(output.text, "Replacement of all of a (1 line).");
        assert_eq!(output.plan.unwrap().files[0].read, Some(text::hash("old\ntext\n")));
    }

    #[tokio::test]
    async fn a_file_in_an_answers_text_replaces_only_one_that_the_model_has_read() {
        let world = World::new(&[("a", "old\ntext\n")]);
        let services = world.services();
        let input = json!({ "path": "a", "content": "new\n" });
        let error = write_block(&services, CREATE, input.clone()).await.unwrap_err().to_string();
        assert!(
            error.ends_with("Read it and change what is to change, or write the block again to replace all of it."),
            "{error}"
        );
        call(&services, "read_file", json!({ "path": "a" })).await.unwrap();
        let plan = write_block(&services, CREATE, input.clone()).await.unwrap().plan.unwrap();
        assert_eq!(plan.files[0].read, Some(text::hash("old\ntext\n")));
        assert!(call(&services, "edit_create_file", input).await.is_err(), "a call has a word for it");
    }

    #[tokio::test]
    async fn there_are_the_tools_that_files_in_answers_become_calls_of() {
        let tools = crate::builtin(&World::new(&[]).services());
        let calls = [
            (CREATE, json!({ "path": "a", "content": "x\n" })),
            (APPEND, json!({ "path": "a", "line": 2, "content": "y\n" })),
        ];
        for (name, input) in calls {
            let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
            assert!(tool.describe(&input).await.is_ok(), "{name}");
        }
    }

    #[tokio::test]
    async fn an_empty_document_that_is_open_can_be_filled() {
        let world = World::new(&[]);
        world.open("new.rs", "");
        let output = world.call("edit_create_file", json!({ "path": "new.rs", "content": "x\n" })).await.unwrap();
        assert_eq!(output.text, "New file new.rs (1 line).", "there is no such file until it is written");
        assert_eq!(output.plan.unwrap().files[0].read, None);
    }

    #[tokio::test]
    async fn what_cannot_be_created_says_why() {
        let world = World::new(&[("src/a.rs", "x"), ("bin", "\0")]);
        let create = |path: &str| {
            let input = json!({ "path": path, "content": "new\n", "overwrite": true });
            let world = &world;
            async move { world.text("edit_create_file", input).await }
        };
        assert!(create("src").await.starts_with("error: src is a folder"));
        assert!(create("bin").await.ends_with("it is a binary file"));
        assert!(create(".git/hooks/pre-commit").await.ends_with("it belongs to git itself"));
        let text = create("src/a.rs/b.rs").await;
        assert_eq!(text, "error: src/a.rs/b.rs cannot be created: src/a.rs is a file, not a folder");
        assert!(create("/etc/passwd").await.contains("is outside the workspace"));
    }
}
