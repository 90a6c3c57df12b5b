//! Edits as patches: the Codex envelope (`*** Begin Patch` …) and unified diffs, as `diff -u` and `git diff` write
//! them.
//!
//! [`parse`] makes a patch plain data, tolerant where models slip and strict where tolerance would change what is
//! meant. [`apply`] puts one file's hunks into its text. A hunk goes where its anchors and its lines say, its numbers
//! are only hints; if the place of one hunk is not certain, or a hunk does not fit, nothing is changed. Both are pure.
//!
//! Reading order: the data here, [`parse`] with [`unified`] (headers of files), [`apply`] (hunks into a text), [`find`]
//! (where their lines are), [`place`] (which of several places is meant), [`error`] (what the model is told).

mod apply;
mod error;
mod find;
mod parse;
mod place;
mod unified;

#[cfg(test)]
mod tests;

pub use apply::apply;
pub use error::{ApplyError, HunkError, Reason};
pub use parse::{ParseError, Problem, is_marker, parse};

/// The operation of a patch on one file. Paths are as the patch has them, without the `a/` and `b/` of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Makes a file.
    Add {
        /// The file.
        path: String,
        /// Its text, with LF line ends.
        text: String,
    },
    /// Changes a file, moves it, or both.
    Update {
        /// The file as it is called now.
        path: String,
        /// The path that it is moved to.
        move_to: Option<String>,
        /// The changes; none if it is only moved.
        hunks: Vec<Hunk>,
    },
    /// Deletes a file.
    Delete {
        /// The file.
        path: String,
        /// The text that the patch takes it to have, where it says so.
        text: Option<String>,
    },
}

/// One change: lines of a file, and what they become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// Lines that stand above it in the file or begin it, the outermost first; they may be given in part.
    pub anchors: Vec<String>,
    /// The text that git puts after the second `@@`: an anchor that may be cut or stale.
    pub heading: Option<String>,
    /// The line of the file where it begins, from 0. A hint only.
    pub hint: Option<usize>,
    /// The lines, in order.
    pub lines: Vec<Line>,
    /// True if it reaches the end of the file.
    pub end_of_file: bool,
    /// True if the file is to end with a line break; none if the patch does not say.
    pub final_newline: Option<bool>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The change to the line.
    pub mark: Mark,
    /// The line without mark and line end.
    pub text: String,
}

/// The change to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It stays.
    Keep,
    /// It has no mark, so it can only be a line that stays; the file must have it letter by letter.
    Bare,
    /// It goes.
    Remove,
    /// It comes.
    Add,
}

impl Operation {
    /// The file it is about, as it is called before.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Update { path, .. } | Self::Delete { path, .. } => path,
        }
    }
}

impl Hunk {
    /// The lines that it wants to find.
    fn before(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.mark != Mark::Add)
    }

    /// The lines that it leaves.
    fn after(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(|line| line.mark != Mark::Remove)
    }

    /// True if it changes anything.
    pub fn is_change(&self) -> bool {
        self.lines.iter().any(Line::is_change)
    }

    /// How many lines stay before the first that changes.
    fn leading(&self) -> usize {
        self.lines.iter().take_while(|line| !line.is_change()).count()
    }

    /// How many lines stay after the last that changes.
    fn trailing(&self) -> usize {
        self.lines.iter().rev().take_while(|line| !line.is_change()).count()
    }
}

impl Line {
    fn is_change(&self) -> bool {
        matches!(self.mark, Mark::Remove | Mark::Add)
    }
}

/// The lines of a text, which LF alone ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}
