//! Several edits as one plan: each sees what those before it made of the files, and all of them are proposed or none.

use std::collections::HashSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::edit::Edited;
use ports::edit::{EditPlan, FilePlan, TextHash};
use ports::tool::{Call, Output, ToolError};
use project::files::FileError;
use project::reader::ReadError;
use project::text;

use crate::{Services, counted, location, may_quote, read_file, writable};

/// Files as a call's edits leave them.
pub(crate) struct Draft<'a> {
    services: &'a Services,
    call: &'a Call,
    /// In the order in which they were first edited.
    files: Vec<File>,
    /// True if a place was found that was not as the model gave it.
    is_lenient: bool,
}

/// The change to a file: its text before and after.
pub(crate) struct Change<'d> {
    /// Its name, for the model.
    pub(crate) name: String,
    pub(crate) before: Option<&'d str>,
    pub(crate) after: Option<&'d str>,
}

struct File {
    path: PathBuf,
    /// The text that was read, with its hash; none if there was no file.
    read: Option<(TextHash, Arc<str>)>,
    /// The text as it is now; none if there is no file.
    now: Option<Arc<str>>,
    /// Where the text that was here is now, through all moves; none if it was not moved, or is deleted by now.
    moved_to: Option<PathBuf>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(services: &'a Services, call: &'a Call) -> Self {
        Self { services, call, files: Vec::new(), is_lenient: false }
    }

    /// The text of a file, which must be there, and its hash if it is as it was read. What is kept from the model is
    /// refused: what is said of an edit of its text would show it.
    pub(crate) fn text(&mut self, path: &str) -> Result<(PathBuf, Arc<str>, Option<TextHash>), ToolError> {
        let found = self.found(path)?;
        if self.is_kept(&found.0) { Err(self.kept(&found.0)) } else { Ok(found) }
    }

    /// True if the text of a file that was read is kept from the model.
    fn is_kept(&self, path: &Path) -> bool {
        let read = self.files.iter().find(|file| file.path == path).and_then(|file| file.read.as_ref());
        read.is_some_and(|(hash, _)| !may_quote(self.services, path, hash))
    }

    /// Sees to it that what an edit names of a file that is kept from the model is whole lines of it: letter by letter
    /// a line could be guessed, since an edit that succeeds tells that the guess is right.
    pub(crate) fn may_name(&mut self, path: &str, named: &str) -> Result<(), ToolError> {
        let (path, text, _) = self.found(path)?;
        if self.is_kept(&path) && !is_whole_lines(&text, named) {
            return Err(self.kept(&path));
        }
        Ok(())
    }

    fn kept(&self, path: &Path) -> ToolError {
        let name = self.services.roots.display(path);
        ToolError::Failed(format!(
            "{name} is kept from you by the user's rules, or by a name that usually means keys, so it is changed only where \
             you name whole lines of it exactly. Nothing was changed. Read it with read_file first, which the user may be asked for, \
             or give all of its new text."
        ))
    }

    /// The same, whoever may see it.
    fn found(&mut self, path: &str) -> Result<(PathBuf, Arc<str>, Option<TextHash>), ToolError> {
        let path = writable(self.services, path)?;
        let name = self.services.roots.display(&path);
        let call = self.call;
        let services = self.services;
        let file = self.file(&path)?;
        match (&file.now, &file.read) {
            (Some(now), Some((hash, read))) if Arc::ptr_eq(now, read) => {
                Ok((path, Arc::clone(now), Some(hash.clone())))
            }
            (Some(now), _) => Ok((path, Arc::clone(now), None)),
            (None, Some(_)) => Err(ToolError::Failed(format!("{name} is deleted by an edit before this one"))),
            (None, None) => {
                let gone = ReadError::File(FileError::NotFound { path: path.clone() });
                Err(read_file::in_words(services, &path, gone, call))
            }
        }
    }

    /// Gives a file that was read another text.
    pub(crate) fn set(&mut self, path: &Path, text: String) {
        if let Some(file) = self.files.iter_mut().find(|file| file.path == path) {
            file.now = Some(text.into());
        }
    }

    /// Edits a file's text; `what` is what the edit does, for the model. `edit` is told whether the model has seen that
    /// text as it is.
    pub(crate) fn edit<E: Display>(
        &mut self,
        path: &str,
        what: &str,
        edit: impl FnOnce(&str, bool) -> Result<Edited, E>,
    ) -> Result<String, ToolError> {
        let (path, text, hash) = self.found(path)?;
        let name = self.services.roots.display(&path);
        let seen = hash.is_some_and(|hash| self.services.seen.is_current(&path, &hash));
        let edited = match edit(&text, seen) {
            // Why it failed, and how the text differs from the model's, would tell what is there.
            Err(_) if self.is_kept(&path) => return Err(self.kept(&path)),
            Ok(edited) if edited.pass.leaves_out().is_some() && self.is_kept(&path) => return Err(self.kept(&path)),
            edited => edited.map_err(|error| ToolError::Failed(format!("{name}: {error}")))?,
        };
        let first = text::first_difference(&text, &edited.text).map_or(1, |line| line + 1);
        let mut words = format!("Edit of {name} {what}, from line {first}.");
        if let Some(what) = edited.pass.leaves_out() {
            self.is_lenient = true;
            words += &format!(" Your text differed from the file's in {what}; what you did not change is as it was.");
        }
        self.set(&path, edited.text);
        Ok(words)
    }

    /// Makes a file, or with `overwrite` replaces one. Gives its path, and whether there was one.
    pub(crate) fn create(&mut self, path: &str, content: &str, overwrite: bool) -> Result<(PathBuf, bool), ToolError> {
        let path = writable(self.services, path)?;
        let roots = Arc::clone(&self.services.roots);
        let name = roots.display(&path);
        if let Some(parent) = path.ancestors().skip(1).find(|parent| parent.exists())
            && !parent.is_dir()
        {
            let parent = roots.display(parent);
            return Err(ToolError::Failed(format!("{name} cannot be created: {parent} is a file, not a folder")));
        }
        let content = text::normalise(content.strip_prefix('\u{FEFF}').unwrap_or(content)).0.into_owned();
        let (is_block, seen) = (self.call.is_file_block(), self.services.seen.clone());
        let file = self.file(&path)?;
        let existed = file.now.is_some();
        // A block has no word for it, so that the model has read the file must do.
        let knows = is_block && file.read.as_ref().is_some_and(|(hash, _)| seen.is_current(&path, hash));
        let overwrite = overwrite || knows;
        // There is nothing to lose in an empty file, such as a document that was only just opened.
        if let Some(text) = file.now.as_ref().filter(|text| !overwrite && !text.is_empty()) {
            let lines = counted(text.lines().count(), "line");
            let how = if is_block { "write the block again" } else { "set overwrite to true" };
            return Err(ToolError::Failed(format!(
                "{name} exists already ({lines}). Nothing was changed. Read it and change what is to change, or {how} to \
                 replace all of it."
            )));
        }
        file.now = Some(content.into());
        Ok((path, existed))
    }

    /// Deletes a file.
    pub(crate) fn delete(&mut self, path: &str) -> Result<PathBuf, ToolError> {
        let (path, _, _) = self.found(path)?;
        for file in &mut self.files {
            if file.path == path {
                file.now = None;
            }
            // A file that was moved here goes with it.
            file.moved_to.take_if(|to| *to == path);
        }
        Ok(path)
    }

    /// Moves a file to a place where there is none. Gives both places.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> Result<(PathBuf, PathBuf), ToolError> {
        let (from_path, text, _) = self.text(from)?;
        let to_path = writable(self.services, to)?;
        if from_path == to_path {
            return Err(ToolError::Failed(format!("{from} and {to} are the same file")));
        }
        if self.file(&to_path)?.now.is_some() {
            return Err(ToolError::Failed(format!(
                "{to} exists already, so {from} cannot be moved there. Nothing was changed. Choose another name, or delete \
                 {to} first if it is to go"
            )));
        }
        self.create(to, &text, false)?;
        for file in &mut self.files {
            if file.path == from_path {
                file.now = None;
                file.moved_to = Some(to_path.clone());
            } else if file.moved_to.as_ref() == Some(&from_path) {
                // A file that was moved here is moved on.
                file.moved_to = Some(to_path.clone());
            }
        }
        Ok((from_path, to_path))
    }

    /// Returns the changes to the files, if a place in them was not as the model gave it, and none was moved.
    pub(crate) fn slipped(&self) -> Option<Vec<Change<'_>>> {
        let is_moved = self.files.iter().any(|file| file.moved_to.is_some());
        let changes = self.files.iter().map(|file| Change {
            name: self.services.roots.display(&file.path),
            before: file.read.as_ref().map(|(_, text)| &**text),
            after: file.now.as_deref(),
        });
        (self.is_lenient && !is_moved).then(|| changes.collect())
    }

    /// The plan, and what the model reads of it.
    pub(crate) fn output(mut self, text: String) -> Result<Output, ToolError> {
        self.files.retain(|file| file.read.as_ref().map(|(_, text)| text) != file.now.as_ref());
        // A file waits for its new place, so only one that ends as none, and for a place that the plan makes.
        let made: HashSet<PathBuf> =
            self.files.iter().filter(|file| file.now.is_some()).map(|file| file.path.clone()).collect();
        for file in &mut self.files {
            let is_gone = file.now.is_none();
            file.moved_to.take_if(|to| !is_gone || !made.contains(to));
        }
        // The new place is made first.
        self.files.sort_by_key(|file| file.moved_to.is_some());
        let mut locations = Vec::new();
        let mut files = Vec::new();
        for File { path, read, now, moved_to } in self.files {
            let before = read.as_ref().map(|(_, text)| &**text);
            let first = text::first_difference(before.unwrap_or_default(), now.as_deref().unwrap_or_default());
            locations.push(location(&path, u64::try_from(first.map_or(1, |line| line + 1)).ok()));
            let (read, new_text) = (read.map(|(hash, _)| hash), now.map(|text| text.to_string()));
            files.push(FilePlan { path, read, new_text, moved_to });
        }
        if files.is_empty() {
            return Err(ToolError::Failed("the edits change nothing: the files already have these texts".to_owned()));
        }
        Ok(Output { text, locations, plan: Some(EditPlan { files }), ..Output::default() })
    }

    fn file(&mut self, path: &Path) -> Result<&mut File, ToolError> {
        let at = match self.files.iter().position(|file| file.path == path) {
            Some(at) => at,
            None => {
                let read = match self.services.reader.read(path) {
                    Ok(file) => Some((file.hash, file.text)),
                    Err(ReadError::Deleted { .. } | ReadError::File(FileError::NotFound { .. })) => None,
                    Err(error) => return Err(read_file::in_words(self.services, path, error, self.call)),
                };
                let now = read.as_ref().map(|(_, text)| Arc::clone(text));
                self.files.push(File { path: path.to_owned(), read, now, moved_to: None });
                self.files.len() - 1
            }
        };
        self.files.get_mut(at).ok_or_else(|| ToolError::Failed(format!("{} was lost", path.display())))
    }
}

/// True if a text stands in another as whole lines, and nowhere else.
fn is_whole_lines(text: &str, named: &str) -> bool {
    let named = named.replace("\r\n", "\n");
    let named = named.strip_suffix('\n').unwrap_or(&named);
    let mut found = text.match_indices(named).peekable();
    let is_whole = |(at, _): (usize, &str)| {
        let before = text.get(..at).unwrap_or_default();
        let behind = text.get(at + named.len()..).unwrap_or_default();
        (before.is_empty() || before.ends_with('\n')) && (behind.is_empty() || behind.starts_with('\n'))
    };
    !named.is_empty() && found.peek().is_some() && found.all(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_that_is_kept_no_part_is_named() {
        let text = "A=1\nKEY=abc\nB=2\n";
        for whole in ["KEY=abc", "KEY=abc\n", "A=1\nKEY=abc\n", "A=1\r\nKEY=abc", text] {
            assert!(is_whole_lines(text, whole), "{whole:?}");
        }
        for part in ["KEY=a", "KEY=", "bc\n", "A=1\nKEY=a", "abc\nB=2", "", "\n", "KEY=x", "KEY=abcd"] {
            assert!(!is_whole_lines(text, part), "{part:?}");
        }
        // A line that was put in tells of no other that begins like it.
        assert!(!is_whole_lines("KEY=a\nKEY=abc\n", "KEY=a"));
    }
}
