//! `edit_by_anchor`.

use code::edit::{AnchorMode, ByAnchor, by_anchor};
use ports::tool::{DiffKind, ToolError};
use ports::tool_names;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::draft::Draft;
use crate::edits::OneEdit;

/// Inserts lines above or below a line that is named by a piece of its text, or replaces that line, or what is between
/// two such lines. If several lines have the anchor, use a longer piece or give the occurrence. The
/// change is not written: the user reviews it, and until then you read the file as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
    /// The operation: insert_before, insert_after or replace_line for the line that has the anchor, or replace_between
    /// it and the first line below it that has anchor_end.
    mode: Mode,
    /// A piece of the line.
    anchor: String,
    /// A piece of the last line, for replace_between.
    anchor_end: Option<String>,
    /// The new lines, with their indentation. Empty to delete what is replaced.
    content: String,
    /// The number of the line among several with the anchor, from 1.
    #[schemars(range(min = 1))]
    occurrence: Option<usize>,
    /// True if replace_between also replaces the two lines themselves. False if left out.
    inclusive: Option<bool>,
}

/// What is done with the lines.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    InsertBefore,
    InsertAfter,
    ReplaceLine,
    ReplaceBetween,
}

impl OneEdit for Input {
    const NAME: &'static str = tool_names::EDIT_BY_ANCHOR;
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] =
        &[("anchor", DiffKind::Place), ("anchor_end", DiffKind::Place), ("content", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn make(&self, draft: &mut Draft<'_>, _: &Services) -> Result<String, ToolError> {
        let mode = match self.mode {
            Mode::InsertBefore => AnchorMode::InsertBefore,
            Mode::InsertAfter => AnchorMode::InsertAfter,
            Mode::ReplaceLine => AnchorMode::ReplaceLine,
            Mode::ReplaceBetween => AnchorMode::ReplaceBetween,
        };
        let edit = ByAnchor {
            mode,
            anchor: &self.anchor,
            anchor_end: self.anchor_end.as_deref(),
            content: &self.content,
            occurrence: self.occurrence,
            inclusive: self.inclusive.unwrap_or_default(),
        };
        for anchor in [Some(self.anchor.as_str()), self.anchor_end.as_deref()].into_iter().flatten() {
            draft.may_name(&self.path, anchor)?;
        }
        draft.edit(&self.path, "in 1 place", |text, _| by_anchor(text, &edit))
    }
}
