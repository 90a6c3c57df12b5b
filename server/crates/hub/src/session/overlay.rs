//! The pending hunks, as readers on any thread see them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use project::reader::{self, Pending};
use project::review;

/// The texts with all pending hunks in them. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Overlay(Arc<RwLock<Arc<review::Overlay>>>);

impl Overlay {
    /// Puts up new texts in place of all that were there.
    pub(super) fn set(&self, texts: Arc<review::Overlay>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = texts;
    }

    fn get(&self) -> Arc<review::Overlay> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl reader::Overlay for Overlay {
    fn pending(&self, path: &Path) -> Option<Pending> {
        let pending = self.get().get(path).cloned()?;
        Some(pending.map_or(Pending::Deleted, Pending::Text))
    }

    fn paths(&self) -> Vec<PathBuf> {
        self.get().keys().cloned().collect()
    }
}
