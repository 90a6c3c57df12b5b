//! `edit_notebook`.

use code::edit::{CellEdit, CellKind, Edited, Pass, edit_cell};
use ports::tool::{DiffKind, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::draft::Draft;
use crate::edits::OneEdit;

/// Inserts, replaces or deletes a cell of a Jupyter notebook (.ipynb), without running it. Every other cell stays as it
/// is. If the source of a code cell changes, its outputs are removed. Read the notebook with read_file first and count
/// its cells from 0. The change is not written: the user reviews it, and until then you read the file as if it were
/// accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The notebook, relative to the workspace or absolute.
    path: String,
    /// The operation.
    action: Action,
    /// The cell, counted from 0. For insert, the index of the new cell; the number of cells to add it at the end.
    cell_index: usize,
    /// The cell's whole source, for insert and replace.
    source: Option<String>,
    /// The type of an inserted cell. Code if left out.
    cell_type: Option<Kind>,
}

/// What is done with a cell.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Insert,
    Replace,
    Delete,
}

/// What a cell is.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Code,
    Markdown,
    Raw,
}

impl OneEdit for Input {
    const NAME: &'static str = "edit_notebook";
    const VERB: &'static str = "Editing";
    const SHOWN: &'static [(&'static str, DiffKind)] = &[("source", DiffKind::Added)];

    fn paths(&self) -> Vec<&str> {
        vec![&self.path]
    }

    fn check(&self) -> Result<(), ToolError> {
        match (self.action, &self.source) {
            (Action::Insert | Action::Replace, None) => {
                Err(ToolError::InvalidInput("`source` is missing: the cell's whole source".to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn make(&self, draft: &mut Draft<'_>, _: &Services) -> Result<String, ToolError> {
        let (index, source) = (self.cell_index, self.source.as_deref().unwrap_or_default());
        let kind = match self.cell_type {
            None | Some(Kind::Code) => CellKind::Code,
            Some(Kind::Markdown) => CellKind::Markdown,
            Some(Kind::Raw) => CellKind::Raw,
        };
        let (edit, what) = match self.action {
            Action::Insert => (CellEdit::Insert { index, kind, source }, "inserted"),
            Action::Replace => (CellEdit::Replace { index, source }, "replaced"),
            Action::Delete => (CellEdit::Delete { index }, "deleted"),
        };
        draft.edit(&self.path, &format!("with cell {index} {what}"), |text, seen| {
            let edited = edit_cell(text, &edit).map_err(|error| error.to_string())?;
            // The text in which the cells are counted must be the one in which the model has counted them.
            if !seen {
                return Err(
                    "the notebook has changed since you read it, or you have not read it, so cell numbers say \
                            nothing. Nothing was changed. Read it with read_file and count again"
                        .to_owned(),
                );
            }
            Ok(Edited { text: edited, pass: Pass::Exact })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call};

    const NOTEBOOK: &str = r#"{
 "cells": [
  {
   "cell_type": "raw",
   "metadata": {},
   "source": []
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 2
}
"#;

    #[tokio::test]
    async fn a_cell_is_inserted_and_the_rest_stays() {
        let world = World::new(&[("a.ipynb", NOTEBOOK)]);
        let input = json!({ "path": "a.ipynb", "action": "insert", "cell_index": 1, "source": "x = 1" });
        let services = world.services();
        let unseen = call(&services, "edit_notebook", input.clone()).await.unwrap_err().to_string();
        assert!(unseen.starts_with("a.ipynb: the notebook has changed since you read it"), "{unseen}");
        call(&services, "read_file", json!({ "path": "a.ipynb" })).await.unwrap();
        let output = call(&services, "edit_notebook", input).await.unwrap();
        assert_eq!(output.text, "Edit of a.ipynb with cell 1 inserted, from line 7.");
        let text = output.plan.unwrap().files[0].new_text.clone().unwrap();
        assert!(text.starts_with(NOTEBOOK.split("\n ],").next().unwrap()) && text.contains("\"x = 1\""), "{text}");
    }

    #[tokio::test]
    async fn what_cannot_be_meant_is_said() {
        let world = World::new(&[("a.ipynb", NOTEBOOK), ("a.json", "{}")]);
        let text =
            world.text("edit_notebook", json!({ "path": "a.ipynb", "action": "replace", "cell_index": 0 })).await;
        assert_eq!(text, "error: invalid input: `source` is missing: the cell's whole source");
        let text = world.text("edit_notebook", json!({ "path": "a.ipynb", "action": "delete", "cell_index": 3 })).await;
        assert!(text.starts_with("error: a.ipynb: there is no cell 3: the notebook has 1 cells"), "{text}");
        let text = world.text("edit_notebook", json!({ "path": "a.json", "action": "delete", "cell_index": 0 })).await;
        assert!(text.contains("it is not a notebook"), "{text}");
    }
}
