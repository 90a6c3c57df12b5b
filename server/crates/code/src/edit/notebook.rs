//! Cells of Jupyter notebooks: inserted, replaced and deleted, with every other byte of the file as it was.
//!
//! A notebook is JSON. Only the cell in question is written anew, in the file's own indentation, so that a change of
//! one cell is a change of its lines: numbers, escapes and the order of fields elsewhere stay (nbformat 4).

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// A change of a notebook's cells.
#[derive(Clone, Debug)]
pub enum CellEdit<'a> {
    /// Gives the cell another source. Of a code cell the outputs and the count go, since they are of the former source.
    Replace {
        /// The cell, from 0.
        index: usize,
        /// Its source.
        source: &'a str,
    },
    /// Puts a new cell where this index is; as many as there are puts it at the end.
    Insert {
        /// The cell's index, from 0.
        index: usize,
        /// The kind of cell.
        kind: CellKind,
        /// Its source.
        source: &'a str,
    },
    /// Takes the cell out.
    Delete {
        /// The cell, from 0.
        index: usize,
    },
}

/// The kind of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Code.
    Code,
    /// Markdown.
    Markdown,
    /// Neither.
    Raw,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

/// Why a cell cannot be edited. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    /// The file is no notebook.
    #[error("it is not a notebook that can be edited by cells: {0}")]
    NotANotebook(String),
    /// There is no such cell.
    #[error("there is no cell {index}: the notebook has {count} cells, counted from 0. Nothing was changed")]
    NoSuchCell {
        /// The cell.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Nothing would change.
    #[error("the edit would change nothing: cell {index} has that source already")]
    NoChange {
        /// The cell.
        index: usize,
    },
}

/// Edits a cell of a notebook. Gives the new text.
///
/// # Errors
/// See [`NotebookError`].
pub fn edit_cell(text: &str, edit: &CellEdit<'_>) -> Result<String, NotebookError> {
    let notebook = Notebook::read(text)?;
    let edited = match edit {
        CellEdit::Replace { index, source } => notebook.replaced(*index, source)?,
        CellEdit::Insert { index, kind, source } => notebook.inserted(*index, *kind, source)?,
        CellEdit::Delete { index } => notebook.deleted(*index)?,
    };
    // The edited text must be a notebook again, whatever stood in the one that was read.
    Notebook::read(&edited)
        .map(|_| ())
        .map_err(|error| NotebookError::NotANotebook(format!("after the edit, {error}")))?;
    Ok(edited)
}

struct Notebook<'t> {
    text: &'t str,
    /// The array of cells with its brackets.
    array: Range<usize>,
    cells: Vec<Range<usize>>,
    /// True if cells have ids (nbformat 4.5).
    has_ids: bool,
}

impl<'t> Notebook<'t> {
    fn read(text: &'t str) -> Result<Self, NotebookError> {
        let wrong = |what: &str| NotebookError::NotANotebook(what.to_owned());
        let json = |error: serde_json::Error| NotebookError::NotANotebook(format!("it is not JSON: {error}"));
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(json)?;
        let number = |name: &str| fields.get(name).and_then(|value| value.get().parse::<u64>().ok());
        if number("nbformat").is_none_or(|version| version < 4) {
            return Err(wrong("it is not of format 4; open it in Jupyter and save it to convert it"));
        }
        let array = *fields.get("cells").ok_or_else(|| wrong("it has no cells"))?;
        let cells: Vec<&RawValue> = serde_json::from_str(array.get()).map_err(|_| wrong("its cells are no list"))?;
        if cells.iter().any(|cell| !cell.get().starts_with('{')) {
            return Err(wrong("a cell is no object"));
        }
        Ok(Self {
            text,
            array: place(text, array),
            cells: cells.into_iter().map(|cell| place(text, cell)).collect(),
            has_ids: number("nbformat") > Some(4) || number("nbformat_minor") >= Some(5),
        })
    }

    fn cell(&self, index: usize) -> Result<Range<usize>, NotebookError> {
        self.cells.get(index).cloned().ok_or(NotebookError::NoSuchCell { index, count: self.cells.len() })
    }

    fn replaced(&self, index: usize, source: &str) -> Result<String, NotebookError> {
        let cell = self.cell(index)?;
        let raw = self.text.get(cell.clone()).unwrap_or_default();
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(raw)
            .map_err(|error| NotebookError::NotANotebook(format!("cell {index} cannot be read: {error}")))?;
        let former = fields.get("source").and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
        if former.as_ref().is_some_and(|former| joined(former) == source) {
            return Err(NotebookError::NoChange { index });
        }
        let is_code = fields.get("cell_type").is_some_and(|kind| kind.get() == "\"code\"");
        let mut puts: Vec<(Range<usize>, Value)> = Vec::new();
        match fields.get("source") {
            Some(it) => puts.push((place(self.text, it), lines(source))),
            None => return Err(NotebookError::NotANotebook(format!("cell {index} has no source"))),
        }
        if is_code {
            let cleared = [("execution_count", Value::Null), ("outputs", json!([]))];
            puts.extend(
                cleared.into_iter().filter_map(|(name, value)| Some((place(self.text, fields.get(name)?), value))),
            );
        }
        puts.sort_by_key(|(place, _)| place.start);
        let mut edited = String::with_capacity(self.text.len() + source.len());
        let mut copied = 0;
        for (place, value) in puts {
            edited += self.text.get(copied..place.start).unwrap_or_default();
            edited += &self.written(&value, self.line_indent(place.start));
            copied = place.end;
        }
        edited += self.text.get(copied..).unwrap_or_default();
        Ok(edited)
    }

    fn inserted(&self, index: usize, kind: CellKind, source: &str) -> Result<String, NotebookError> {
        let count = self.cells.len();
        if index > count {
            return Err(NotebookError::NoSuchCell { index, count });
        }
        let mut cell = Map::new();
        cell.insert("cell_type".to_owned(), kind.name().into());
        if kind == CellKind::Code {
            cell.insert("execution_count".to_owned(), Value::Null);
        }
        if self.has_ids {
            cell.insert("id".to_owned(), self.new_id(source).into());
        }
        cell.insert("metadata".to_owned(), json!({}));
        if kind == CellKind::Code {
            cell.insert("outputs".to_owned(), json!([]));
        }
        cell.insert("source".to_owned(), lines(source));
        let cell = Value::Object(cell);
        let (step, spread) = (self.step(), self.text.contains('\n'));
        let around = self.line_indent(self.array.start);
        let indent =
            self.cells.first().map_or_else(|| format!("{around}{step}"), |it| self.line_indent(it.start).to_owned());
        let written = self.written(&cell, &indent);
        let gap = if spread { format!("\n{indent}") } else { " ".to_owned() };
        let (at, put) = match (self.cells.get(index), self.cells.last()) {
            (Some(next), _) => (next.start, format!("{written},{gap}")),
            (None, Some(last)) => (last.end, format!(",{gap}{written}")),
            (None, None) if spread => {
                let array = format!("[{gap}{written}\n{around}]");
                return Ok(self.with(self.array.clone(), &array));
            }
            (None, None) => return Ok(self.with(self.array.clone(), &format!("[{written}]"))),
        };
        Ok(self.with(at..at, &put))
    }

    fn deleted(&self, index: usize) -> Result<String, NotebookError> {
        let cell = self.cell(index)?;
        // The comma goes with it: the one behind it, or for the last cell the one before.
        let place = match (self.cells.get(index + 1), index.checked_sub(1).and_then(|at| self.cells.get(at))) {
            (Some(next), _) => cell.start..next.start,
            (None, Some(last)) => last.end..cell.end,
            (None, None) => return Ok(self.with(self.array.clone(), "[]")),
        };
        Ok(self.with(place, ""))
    }

    fn with(&self, place: Range<usize>, put: &str) -> String {
        let (before, after) = (self.text.get(..place.start), self.text.get(place.end..));
        format!("{}{put}{}", before.unwrap_or_default(), after.unwrap_or_default())
    }

    /// The white space of the line in which a byte is.
    fn line_indent(&self, at: usize) -> &'t str {
        super::indent::indent(
            self.text
                .get(self.text.get(..at).and_then(|it| it.rfind('\n')).map_or(0, |at| at + 1)..)
                .unwrap_or_default(),
        )
    }

    /// Returns the indentation of one level: that of the file's second line. Jupyter itself has one space.
    fn step(&self) -> &'t str {
        let second = self.text.lines().nth(1).unwrap_or(" ");
        let indent = super::indent::indent(second);
        if indent.is_empty() { " " } else { indent }
    }

    /// A value in the file's format; `indent` is that of the line on which it begins.
    fn written(&self, value: &Value, indent: &str) -> String {
        if !self.text.contains('\n') {
            return value.to_string();
        }
        let mut bytes = Vec::new();
        let format = serde_json::ser::PrettyFormatter::with_indent(self.step().as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, format);
        if value.serialize(&mut serializer).is_err() {
            return value.to_string();
        }
        String::from_utf8(bytes).unwrap_or_default().replace('\n', &format!("\n{indent}"))
    }

    /// An id that no cell has: eight hexadecimal digits (nbformat 4.5 asks for 1 to 64 letters, digits, `-` or `_`).
    fn new_id(&self, source: &str) -> String {
        let hash = |salt: usize| {
            let hash = Sha256::digest(format!("{salt} {} {source}", self.cells.len()).as_bytes());
            hash.iter().take(4).fold(String::new(), |id, byte| format!("{id}{byte:02x}"))
        };
        let mut salt = 0;
        while self.text.contains(&hash(salt)) {
            salt += 1;
        }
        hash(salt)
    }
}

/// Where a value stands in the text it was read from.
fn place(text: &str, value: &RawValue) -> Range<usize> {
    let start = value.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + value.get().len()
}

/// A source as notebooks hold it: a list of its lines, each with its line break.
fn lines(source: &str) -> Value {
    source.split_inclusive('\n').collect()
}

/// A source as a text. It may be a list of lines, or one string.
fn joined(source: &Value) -> String {
    match source {
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JUPYTER: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "a1",
   "metadata": {},
   "source": [
    "# Title"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "b2",
   "metadata": {"x": 1e-05},
   "outputs": [
    {
     "name": "stdout",
     "text": ["0\u00e9\n"]
    }
   ],
   "source": [
    "a = 1\n",
    "print(a)"
   ]
  }
 ],
 "metadata": {"big": 12345678901234567890123, "f": 1.0e2, "past every type": 1e999},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

    #[test]
    fn a_cell_gets_another_source_and_nothing_else_changes() {
        let edited = edit_cell(JUPYTER, &CellEdit::Replace { index: 0, source: "# Other\n\nText" }).unwrap();
        let wanted = "\"# Other\\n\",\n    \"\\n\",\n    \"Text\"";
        assert_eq!(edited, JUPYTER.replace("\"# Title\"", wanted));
    }

    #[test]
    fn the_outputs_of_former_code_go() {
        let edited = edit_cell(JUPYTER, &CellEdit::Replace { index: 1, source: "a = 2" }).unwrap();
        assert!(
            edited.contains("\"execution_count\": null,\n   \"id\": \"b2\",\n   \"metadata\": {\"x\": 1e-05},"),
            "{edited}"
        );
        assert!(edited.contains("\"outputs\": [],\n   \"source\": [\n    \"a = 2\"\n   ]"), "{edited}");
        assert!(edited.contains("12345678901234567890123, \"f\": 1.0e2"), "numbers stay as they were written");
    }

    #[test]
    fn a_new_cell_looks_like_jupyters_own() {
        let edit = CellEdit::Insert { index: 1, kind: CellKind::Code, source: "b = 1\n" };
        let edited = edit_cell(JUPYTER, &edit).unwrap();
        let id = edited.lines().find(|line| line.contains("\"id\"") && !line.contains("a1")).unwrap();
        let cell = format!(
            "  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n{id}\n   \"metadata\": {{}},\n   \"outputs\": [],\n   \"source\": [\n    \"b = 1\\n\"\n   ]\n  }},\n"
        );
        assert_eq!(
            edited,
            JUPYTER.replacen("  {\n   \"cell_type\": \"code\"", &(cell + "  {\n   \"cell_type\": \"code\""), 1)
        );
        let last = CellEdit::Insert { index: 2, kind: CellKind::Markdown, source: "end" };
        assert!(edit_cell(JUPYTER, &last).unwrap().contains("   ]\n  },\n  {\n   \"cell_type\": \"markdown\""));
    }

    #[test]
    fn a_deleted_cell_takes_its_comma_along() {
        let first = edit_cell(JUPYTER, &CellEdit::Delete { index: 0 }).unwrap();
        assert!(first.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"code\""), "{first}");
        let second = edit_cell(JUPYTER, &CellEdit::Delete { index: 1 }).unwrap();
        assert!(second.contains("\"# Title\"\n   ]\n  }\n ],\n"), "{second}");
        let none = edit_cell(&second, &CellEdit::Delete { index: 0 }).unwrap();
        assert!(none.starts_with("{\n \"cells\": [],\n"), "{none}");
        let one = edit_cell(&none, &CellEdit::Insert { index: 0, kind: CellKind::Raw, source: "x" }).unwrap();
        assert!(one.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"raw\","), "{one}");
    }

    #[test]
    fn a_notebook_on_one_line_stays_on_it() {
        let text = r#"{"cells":[{"cell_type":"raw","metadata":{},"source":"a"}],"nbformat":4,"nbformat_minor":2}"#;
        let edited = edit_cell(text, &CellEdit::Replace { index: 0, source: "b\nc" }).unwrap();
        assert_eq!(edited, text.replace(r#""a""#, r#"["b\n","c"]"#));
        let edited = edit_cell(text, &CellEdit::Insert { index: 1, kind: CellKind::Markdown, source: "d" }).unwrap();
        assert!(edited.contains(r#"}, {"cell_type":"markdown","metadata":{},"source":["d"]}]"#), "{edited}");
    }

    #[test]
    fn what_is_no_notebook_or_no_cell_is_said() {
        let delete = |text: &str, index| edit_cell(text, &CellEdit::Delete { index }).unwrap_err().to_string();
        assert_eq!(
            delete(JUPYTER, 2),
            "there is no cell 2: the notebook has 2 cells, counted from 0. Nothing was changed"
        );
        assert!(delete("{", 0).contains("it is not JSON"));
        assert!(delete("[1]", 0).contains("it is not JSON"));
        assert!(delete(r#"{"nbformat":3,"worksheets":[]}"#, 0).contains("not of format 4"));
        assert!(delete(r#"{"nbformat":4}"#, 0).contains("has no cells"));
        assert!(delete(r#"{"nbformat":4,"cells":[1]}"#, 0).contains("no object"));
        let same = edit_cell(JUPYTER, &CellEdit::Replace { index: 1, source: "a = 1\nprint(a)" }).unwrap_err();
        assert_eq!(same, NotebookError::NoChange { index: 1 });
    }
}
