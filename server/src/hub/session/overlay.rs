//! What is pending, as readers on any thread see it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use workspace::reader::{self, Pending};

/// The texts with all pending hunks in them. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Overlay(Arc<RwLock<HashMap<PathBuf, Pending>>>);

impl Overlay {
    /// Puts up new texts in place of all that were there.
    pub(super) fn set(&self, texts: HashMap<PathBuf, Pending>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = texts;
    }
}

impl reader::Overlay for Overlay {
    fn pending(&self, path: &Path) -> Option<Pending> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}
