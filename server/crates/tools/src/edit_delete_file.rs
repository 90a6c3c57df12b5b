//! `edit_delete_file`.

use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::draft::Draft;
use crate::edits::OneEdit;

/// Deletes a file. The user reviews it; until then you see the files as if it were gone.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_DELETE_FILE;
    const VERB: &'static str = "Deleting";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let path = draft.delete(&self.path)?;
        Ok(format!("Deletion of {}.", services.roots.display(&path)))
    }
}
