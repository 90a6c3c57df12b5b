//! The configuration as this client has part in it: its settings, and its folders' files.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lsp_types::MessageType;
use serde_json::Value;

use crate::config::{self, Config, Editor};

/// Resolves the configuration out of all its layers, with what the editor says and the workspace folders.
pub type LoadConfig = dyn Fn(Editor, &[PathBuf]) -> Config + Send + Sync;

/// The section of the editor's settings that is ours.
pub(super) const SECTION: &str = "azimuth";

/// What the configuration depends on that this client can change.
pub(super) struct Settings {
    load: Arc<LoadConfig>,
    client: Mutex<Client>,
}

/// A configuration, with what the user has not been told of it.
pub(super) struct Loaded {
    pub(super) config: Config,
    pub(super) news: Vec<Message>,
}

/// Words for the user.
pub(super) type Message = (MessageType, String);

#[derive(Default)]
struct Client {
    editor: Editor,
    folders: Vec<PathBuf>,
    /// What the last configuration had to say.
    said: Vec<Message>,
}

impl Settings {
    pub(super) fn new(load: Arc<LoadConfig>, folders: Vec<PathBuf>) -> Self {
        Self { load, client: Mutex::new(Client { folders, ..Client::default() }) }
    }

    /// Takes the `initializationOptions`. Null says nothing.
    pub(super) fn take_options(&self, options: Value) {
        if !options.is_null() {
            let place = "the editor's initializationOptions";
            self.client().editor.options = config::from_editor(place, "initializationOptions", options);
        }
    }

    /// Takes the editor's settings, in place of the settings before. Null says nothing, and nothing changes.
    pub(super) fn take_settings(&self, settings: Value) {
        if !settings.is_null() {
            self.client().editor.settings = config::from_editor("the editor's settings", SECTION, settings);
        }
    }

    /// Takes the workspace folders.
    pub(super) fn set_folders(&self, folders: Vec<PathBuf>) {
        self.client().folders = folders;
    }

    /// The configuration as it is now. Reads files.
    pub(super) fn load(&self) -> Loaded {
        let (editor, folders) = {
            let client = self.client();
            (client.editor.clone(), client.folders.clone())
        };
        let config = (self.load)(editor, &folders);
        let errors = config.errors.iter().map(|error| {
            let text = format!("{error}; until it is mended every action is asked, and no rule allows anything");
            (MessageType::ERROR, text)
        });
        let warnings = config.warnings.iter().map(|warning| (MessageType::WARNING, warning.clone()));
        let messages: Vec<_> = errors.chain(warnings).collect();
        let said = std::mem::replace(&mut self.client().said, messages.clone());
        let news = messages.into_iter().filter(|message| !said.contains(message)).collect();
        Loaded { config, news }
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
