//! `edit_move_file`.

use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::draft::Draft;
use crate::edits::OneEdit;

/// Moves or renames a file. References to it are not changed. The user reviews the move; until then you find the file
/// at its new path.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The new path of the file, which must not exist.
    to: String,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_MOVE_FILE;
    const VERB: &'static str = "Moving";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path, &self.to]
    }

    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError> {
        let (from, to) = draft.rename(&self.path, &self.to)?;
        Ok(format!("Move of {} to {}.", services.roots.display(&from), services.roots.display(&to)))
    }
}
