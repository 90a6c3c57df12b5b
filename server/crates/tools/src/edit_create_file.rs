//! `edit_create_file`.

use agent::tool::{Access, Call, Description, Output, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::files::FileError;
use workspace::reader::ReadError;
use workspace::text;

use crate::typed::Typed;
use crate::{Services, blocking, counted, describe_edit, planned, read_file, writable};

/// Makes a new file with the given text; folders on the way are made with it. To change a file that exists use
/// edit_replace_exact, which says only what changes; replace a whole file (overwrite) only where nearly all of it
/// changes. The file is not written: the user reviews it, and until then you read it as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The whole text of the file. End it with a line break, as text files do.
    content: String,
    /// Whether to replace all of a file that exists. Without it a file that exists is an error.
    overwrite: Option<bool>,
}

pub(crate) struct EditCreateFile {
    services: Services,
}

impl EditCreateFile {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for EditCreateFile {
    type Input = Input;
    const NAME: &'static str = "edit_create_file";
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let verb = if input.overwrite.unwrap_or_default() { "Writing" } else { "Creating" };
        describe_edit(&self.services, verb, &input.path)
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let path = writable(&services, &input.path)?;
            let name = services.roots.display(&path);
            let read = match services.reader.read(&path) {
                Ok(file) => Some(file),
                Err(ReadError::Deleted { .. } | ReadError::File(FileError::NotFound { .. })) => None,
                Err(error) => return Err(read_file::in_words(&services, &path, error, &call)),
            };
            if let Some(parent) = path.ancestors().skip(1).find(|parent| parent.exists())
                && !parent.is_dir()
            {
                let parent = services.roots.display(parent);
                return Err(ToolError::Failed(format!("{name} cannot be created: {parent} is a file, not a folder")));
            }
            let overwrite = input.overwrite.unwrap_or_default();
            // There is nothing to lose in an empty file, such as a document that was only just opened.
            if let Some(file) = read.as_ref().filter(|file| !overwrite && !file.text.is_empty()) {
                let lines = counted(file.text.lines().count(), "line");
                return Err(ToolError::Failed(format!(
                    "{name} exists already ({lines}). Nothing was changed. Read it and change it with \
                     edit_replace_exact, or set overwrite to true to replace all of it."
                )));
            }
            let content = input.content.strip_prefix('\u{FEFF}').unwrap_or(&input.content);
            let content = text::normalise(content).0.into_owned();
            let lines = counted(content.lines().count(), "line");
            let what = if read.is_some() { "Replacement of all of" } else { "New file" };
            let text = format!("{what} {name} ({lines}).");
            Ok(planned(path, read.map(|file| file.hash), content, 1, text))
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use workspace::text;

    use crate::fixture::World;

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
