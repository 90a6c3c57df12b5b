//! A file's text, or that there is no file.

use std::sync::Arc;

use crate::buffers::Snapshot;

/// A document as it is now.
#[derive(Clone, Copy, Debug)]
pub enum Base<'t> {
    /// An editor holds it, which says what it changes.
    Open(&'t Snapshot),
    /// It is on disk, or whoever holds it says no more than its text; none if there is no file.
    Text(Option<&'t str>),
}

impl<'t> Base<'t> {
    /// Its text, if there is one.
    pub(super) fn text(self) -> Option<&'t str> {
        match self {
            Self::Open(snapshot) => Some(snapshot.normal()),
            Self::Text(text) => text,
        }
    }
}

impl<'t> From<Option<&'t str>> for Base<'t> {
    fn from(text: Option<&'t str>) -> Self {
        Self::Text(text)
    }
}

impl<'t> From<&'t Snapshot> for Base<'t> {
    fn from(snapshot: &'t Snapshot) -> Self {
        Self::Open(snapshot)
    }
}

/// The state of a file at one time.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its text. For a file that is gone, the text it last had, so that a file that is written anew (as some programs
    /// save) finds its hunks again.
    pub(super) text: Arc<str>,
    /// True if there is such a file.
    pub(super) present: bool,
}

impl Document {
    /// The file with this text, or no file.
    pub(super) fn new(text: Option<&str>) -> Self {
        Self { text: text.unwrap_or_default().into(), present: text.is_some() }
    }

    /// The same file, gone.
    pub(super) fn gone(&self) -> Self {
        Self { text: Arc::clone(&self.text), present: false }
    }

    /// The text, if there is a file.
    pub(super) fn get(&self) -> Option<&Arc<str>> {
        self.present.then_some(&self.text)
    }

    /// True if the file is like this.
    pub(super) fn is(&self, text: Option<&str>) -> bool {
        self.get().map(|own| &**own) == text
    }
}
