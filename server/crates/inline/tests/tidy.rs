//! Real answers and real code: the cases of other projects in `tests/corpus/inline`, and good answers
//! cut from sources, unchanged and with the faults that models make.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "the tests read a corpus and the project's own sources, and print what they count"
)]

#[path = "tidy/answers.rs"]
mod answers;
#[path = "tidy/cuts.rs"]
mod cuts;
#[path = "tidy/mutations.rs"]
mod mutations;

use std::fs;
use std::path::{Path, PathBuf};

use code::syntax::{Language, Parsed};
use inline::tidy::{Cursor, Indent, Tidied, Tidier};
use protocol::inline::Rule;

/// The project's folder.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// All files below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// A document with the cursor in it.
struct Document {
    path: PathBuf,
    text: String,
    offset: usize,
    /// The indentation of the source that the document is from.
    indent: Indent,
    multi_line: bool,
}

impl Document {
    /// A document that is not cut from a source: what is not in the text is in the answer.
    fn new(path: &str, (before, after): (&str, &str), answer: &str) -> Self {
        let text = format!("{before}{after}");
        let indent = Indent::of(&text).or_else(|| Indent::of(answer)).unwrap_or(Indent::Spaces(4));
        Self { path: path.into(), text, offset: before.len(), indent, multi_line: true }
    }

    fn cursor(&self) -> Cursor<'_> {
        let Self { path, text, offset, indent, multi_line } = self;
        Cursor { path, text, offset: *offset, indent: *indent, multi_line: *multi_line }
    }

    fn tidy(&self, answer: &str, is_cut: bool) -> Result<Tidied, Rule> {
        Tidier::new(&self.cursor()).tidy(answer, is_cut)
    }

    /// The document with an answer in it.
    fn with(&self, tidied: &Tidied) -> String {
        let mut text = self.text.clone();
        text.replace_range(tidied.replace.clone(), &tidied.text);
        text
    }

    /// The number of errors of a text as this document; none if it is in no language that is parsed.
    fn errors(&self, text: &str) -> Option<usize> {
        let language = Language::of_text(&self.path, text)?;
        Parsed::new(language, text).ok().map(|parsed| parsed.errors().len())
    }
}
