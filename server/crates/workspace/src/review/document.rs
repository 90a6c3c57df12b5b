//! A file's text, or that there is no file.

use std::sync::Arc;

/// What a file is at one time.
#[derive(Clone, Debug)]
pub(super) struct Document {
    /// Its text. For a file that is gone, the text it last had, so that a file that is written anew (as some programs
    /// save) finds its hunks again.
    pub(super) text: Arc<str>,
    /// Whether there is such a file.
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

    /// Whether the file is like this.
    pub(super) fn is(&self, text: Option<&str>) -> bool {
        self.get().map(|own| &**own) == text
    }
}
