//! The configuration as this client has part in it: its settings, and its folders' files.
//!
//! What a message of the client's says about it holds for every request after that message. So each change is posted to
//! the hub in its place, and the configuration that it comes to, for which files must be read, follows.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use lsp_types::MessageType;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::outbox::Outbox;
use crate::config::{self, ChatAnswers, Config, Editor};
use crate::hub::{Connection, GRACE, Input};
use crate::log;

/// Resolves the configuration out of all its layers, with what the editor says and the workspace folders.
pub type LoadConfig = dyn Fn(Editor, &[PathBuf]) -> Config + Send + Sync;

/// The section of the editor's settings that is ours.
pub(super) const SECTION: &str = "azimuth";

/// What the configuration depends on that this client can change.
pub(super) struct Settings {
    /// None for a client that has no part in the configuration.
    load: Option<Arc<LoadConfig>>,
    client: Mutex<Client>,
}

/// A configuration, with what the user has not been told of it.
struct Loaded {
    config: Config,
    news: Vec<Message>,
}

/// Words for the user.
type Message = (MessageType, String);

/// Which layers to read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layers {
    All,
    /// All but the folders' files. Each session is restricted by those of its own folders anyway.
    WithoutFolders,
}

#[derive(Default)]
struct Client {
    editor: Editor,
    folders: Vec<PathBuf>,
    /// What the last configuration had to say.
    said: Vec<Message>,
    chat_answers: Option<ChatAnswers>,
}

impl Settings {
    pub(super) fn new(load: Option<Arc<LoadConfig>>, folders: Vec<PathBuf>) -> Self {
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

    /// When the last configuration has chat documents get their answers.
    pub(super) fn chat_answers(&self) -> Option<ChatAnswers> {
        self.client().chat_answers
    }

    /// The configuration as it is now. Blocks.
    fn load(&self, load: &LoadConfig, layers: Layers) -> Loaded {
        let (editor, folders) = {
            let client = self.client();
            (client.editor.clone(), if layers == Layers::All { client.folders.clone() } else { Vec::new() })
        };
        let config = load(editor, &folders);
        let errors = config.errors.iter().map(|error| {
            let text = format!("{error}; until it is mended every action is asked, and no rule allows anything");
            (MessageType::ERROR, text)
        });
        let warnings = config.warnings.iter().map(|warning| (MessageType::WARNING, warning.clone()));
        let messages: Vec<_> = errors.chain(warnings).collect();
        let mut client = self.client();
        client.chat_answers = config.chat_answers;
        let said = std::mem::replace(&mut client.said, messages.clone());
        drop(client);
        let news = messages.into_iter().filter(|message| !said.contains(message)).collect();
        Loaded { config, news }
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the configuration read anew. It holds for every request that is posted after this.
///
/// Where the disk of a workspace folder does not answer in time, the configuration counts without that folder's file
/// until it does.
pub(super) fn reload(settings: &Arc<Settings>, connection: &Arc<Connection>, outbox: &Outbox) {
    let Some(load) = settings.load.clone() else { return };
    let (sender, config) = oneshot::channel();
    connection.post(Input::ConfigChanged(config.map(Result::ok).boxed()));
    let take = move |Loaded { config, news }: Loaded, outbox: &Outbox| {
        log::set(config.log.as_deref());
        let _ = sender.send(Arc::new(config));
        news.into_iter().for_each(|(kind, text)| outbox.say(kind, text));
    };
    let resolve = Arc::clone(&load);
    let load = |layers| {
        let (settings, load) = (Arc::clone(settings), Arc::clone(&load));
        spawn_blocking(move || settings.load(&*load, layers))
    };
    let (mut all, outbox) = (load(Layers::All), outbox.clone());
    let (settings, connection) = (Arc::clone(settings), Arc::downgrade(connection));
    tokio::spawn(async move {
        match tokio::time::timeout(GRACE, &mut all).await {
            Ok(Ok(loaded)) => return take(loaded, &outbox),
            Ok(Err(error)) => return tracing::error!(%error, "the configuration could not be read"),
            Err(_) => {}
        }
        tracing::warn!("the disk of a workspace folder does not answer; its configuration counts once it does");
        let reading = Arc::clone(&settings);
        if let Ok(loaded) = spawn_blocking(move || reading.load(&*resolve, Layers::WithoutFolders)).await {
            take(loaded, &outbox);
        }
        // Something may have changed meanwhile, so it is read once more.
        if let (Ok(late), Some(connection)) = (all.await, connection.upgrade()) {
            late.news.into_iter().for_each(|(kind, text)| outbox.say(kind, text));
            reload(&settings, &connection, &outbox);
        }
    });
}
