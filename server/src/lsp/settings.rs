//! The configuration as this client has part in it: its settings, and its folders' files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::config::{Config, ConfigError, Layer};

/// Resolves the configuration out of all its layers, with the editor's own settings and the workspace folders.
pub type LoadConfig = dyn Fn(Option<Layer>, &[PathBuf]) -> Result<Config, ConfigError> + Send + Sync;

/// The section of the editor's settings that is ours.
pub(super) const SECTION: &str = "azimuth";

/// What the configuration depends on that this client can change.
pub(super) struct Settings {
    load: Arc<LoadConfig>,
    client: Mutex<Client>,
}

#[derive(Clone, Default)]
struct Client {
    layer: Option<Layer>,
    folders: Vec<PathBuf>,
}

impl Settings {
    pub(super) fn new(load: Arc<LoadConfig>, folders: Vec<PathBuf>) -> Self {
        Self { load, client: Mutex::new(Client { layer: None, folders }) }
    }

    /// Takes the editor's settings, in place of those before. Null says nothing, and nothing changes.
    ///
    /// # Errors
    /// Settings that do not fit; those before stay in force.
    pub(super) fn take(&self, settings: Value) -> Result<(), ConfigError> {
        if settings.is_null() {
            return Ok(());
        }
        let layer = serde_path_to_error::deserialize(settings).map_err(|error| ConfigError {
            place: "the editor's settings".into(),
            problem: format!("`{SECTION}.{}`: {}", error.path(), error.inner()),
        })?;
        self.client().layer = Some(layer);
        Ok(())
    }

    /// Takes the workspace folders.
    pub(super) fn set_folders(&self, folders: Vec<PathBuf>) {
        self.client().folders = folders;
    }

    /// The configuration as it is now. Reads files.
    ///
    /// # Errors
    /// A layer that cannot be understood.
    pub(super) fn load(&self) -> Result<Config, ConfigError> {
        let Client { layer, folders } = self.client().clone();
        (self.load)(layer, &folders)
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
