//! The common parts of the tools that tell a file's structure.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use code::syntax::{Language, MAX_SYMBOLS, Outline, ParseError, Parsed};
use permission::Action;
use ports::edit::TextHash;
use ports::tool::{Call, Description, Output, ToolError};
use project::reader::Source;

use crate::read_file::{MAX_BYTES, in_words};
use crate::{Services, location};

/// How many rows are given at most.
pub(crate) const MAX_ROWS: usize = 400;
/// How much of one row is given, in characters.
const MAX_ROW: usize = 240;

/// A file as the session sees it.
pub(crate) struct Opened {
    path: PathBuf,
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    hash: TextHash,
    is_pending: bool,
}

/// A text whose language is known.
pub(crate) struct Known {
    pub(crate) parsed: Parsed,
    pub(crate) outline: Outline,
}

/// Describes what a call that looks into one file would do.
pub(crate) fn describe(
    services: &Services,
    path: &str,
    title: impl FnOnce(&str) -> String,
) -> Result<Description, ToolError> {
    let path = services.roots.resolve(path)?;
    let title = title(&services.roots.display(&path));
    Ok(Description { title, locations: vec![location(&path, None)], action: Action::Read })
}

impl Opened {
    pub(crate) fn new(services: &Services, path: &str, call: &Call) -> Result<Self, ToolError> {
        let path = services.roots.resolve(path)?;
        let name = services.roots.display(&path);
        let file = services.reader.read(&path).map_err(|error| in_words(services, &path, error, call))?;
        Ok(Self { path, name, text: file.text, hash: file.hash, is_pending: file.source == Source::Pending })
    }

    /// Its language; none if we have no grammar for it.
    pub(crate) fn language(&self) -> Option<Language> {
        Language::of_text(&self.path, &self.text)
    }

    /// Its symbols; none if its language is not known.
    pub(crate) fn known(&self) -> Result<Option<Known>, ParseError> {
        let Some(language) = self.language() else { return Ok(None) };
        let parsed = Parsed::new(language, Arc::clone(&self.text))?;
        let outline = Outline::new(&parsed);
        Ok(Some(Known { parsed, outline }))
    }

    /// That it cannot be parsed, with what to do.
    pub(crate) fn unparsed(&self, error: ParseError) -> ToolError {
        ToolError::Failed(format!("{}: {error}; read it with read_file, or search in it with search_text", self.name))
    }

    /// Remembers that the model has read of it.
    pub(crate) fn note_read(&self, services: &Services) {
        services.seen.note(&self.path, Some(self.hash.clone()));
    }

    pub(crate) fn total(&self) -> usize {
        self.text.lines().count()
    }

    /// A result about it; the line counts from 1.
    pub(crate) fn output(&self, mut text: String, summary: String, line: Option<usize>) -> Output {
        if self.is_pending {
            text.insert_str(0, "[with your edits that the user has not decided yet]\n");
        }
        let line = line.and_then(|line| u64::try_from(line).ok());
        let locations = vec![location(&self.path, line)];
        Output { text: text.trim_end_matches('\n').to_owned(), summary, locations, ..Output::default() }
    }
}

/// Rows for a model, as many as fit.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) text: String,
    count: usize,
    left_out: usize,
}

impl Rows {
    /// Adds a row, cut off where it is too long. One that is left out is not made.
    pub(crate) fn push(&mut self, row: impl FnOnce() -> String) {
        if self.count >= MAX_ROWS || self.text.len() > MAX_BYTES {
            self.left_out += 1;
            return;
        }
        self.count += 1;
        self.text.push_str(&short(&row()));
        self.text.push('\n');
    }

    /// The rows, and how many were left out, with what to do.
    pub(crate) fn finish(mut self, hint: &str) -> String {
        if self.left_out > 0 {
            // Writing into a string cannot fail.
            let _ = writeln!(self.text, "[{} more left out; {hint}]", self.left_out);
        }
        self.text
    }
}

impl Known {
    /// That the text has more symbols than are known, as a line of its own; nothing where it has not.
    pub(crate) fn cut(&self) -> String {
        cut(self.outline.is_cut)
    }
}

/// That a text has more symbols than are known, as a line of its own; nothing where it has not.
pub(crate) fn cut(is_cut: bool) -> String {
    match is_cut {
        true => {
            format!("[only its first {MAX_SYMBOLS} symbols are known; it has more: search in it with search_text]\n")
        }
        false => String::new(),
    }
}

/// A line that is not too long to be shown.
pub(crate) fn short(line: &str) -> String {
    match line.char_indices().nth(MAX_ROW) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line)),
        None => line.to_owned(),
    }
}
