//! The configuration as this client has part in it: its settings, and its folders' files.
//!
//! A message of the client's about it holds for every request after that message. So each change is posted to the hub
//! in its place, and the configuration that it comes to, for which files must be read, follows.

use std::future::ready;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use hub::config::{self, ChatAnswers, Config, Editor};
use hub::log;
use hub::{Coming, Connection, GRACE, Input};
use lsp_types::MessageType;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::outbox::Outbox;

/// Resolves the configuration out of all its layers, with what the editor says and the workspace folders.
pub type LoadConfig = dyn Fn(Editor, &[PathBuf]) -> Config + Send + Sync;

/// The section of the editor's settings that is ours.
pub(super) const SECTION: &str = "azimuth";

/// The parts of the configuration that this client can change.
pub(super) struct Settings {
    /// None for a client that has no part in the configuration.
    load: Option<Arc<LoadConfig>>,
    client: Mutex<Client>,
}

/// Words for the user.
type Message = (MessageType, String);

/// The layers to read.
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
    /// The messages of the last configuration.
    said: Vec<Message>,
    chat_answers: Option<ChatAnswers>,
    /// True if no code actions are offered that begin a workflow.
    no_workflows: bool,
    /// The number of times that the configuration was to be read.
    reloads: u64,
    /// The number of the last reading that counts.
    counted: u64,
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

    /// True if the last configuration has code actions offered that begin a workflow.
    pub(super) fn offers_workflows(&self) -> bool {
        !self.client().no_workflows
    }

    /// The configuration as it is now. Blocks.
    fn load(&self, load: &LoadConfig, layers: Layers) -> Config {
        let (editor, folders) = {
            let client = self.client();
            (client.editor.clone(), if layers == Layers::All { client.folders.clone() } else { Vec::new() })
        };
        load(editor, &folders)
    }

    /// Notes that the configuration of a reading counts, unless that of a later one does already, and tells the user
    /// what is new of it.
    fn counts(&self, number: u64, config: &Config, outbox: &Outbox) {
        {
            let mut client = self.client();
            if number < client.counted {
                return;
            }
            client.counted = number;
        }
        log::set(config.log.as_deref());
        let errors = config.errors.iter().map(|error| {
            let text =
                format!("{error}; until it is fixed you are asked about every action, and no rule allows anything");
            (MessageType::ERROR, text)
        });
        let warnings = config.warnings.iter().map(|warning| (MessageType::WARNING, warning.clone()));
        let messages: Vec<_> = errors.chain(warnings).collect();
        let mut client = self.client();
        client.chat_answers = config.chat_answers;
        client.no_workflows = !config.code_actions;
        let said = std::mem::replace(&mut client.said, messages.clone());
        drop(client);
        let news = messages.into_iter().filter(|message| !said.contains(message));
        news.for_each(|(kind, text)| outbox.say(kind, text));
    }

    /// Posts a configuration that is being read. Gives the number of the reading.
    fn post(&self, config: Coming<Arc<Config>>, connection: &Connection) -> u64 {
        let mut client = self.client();
        client.reloads += 1;
        connection.post(Input::ConfigChanged(config));
        client.reloads
    }

    /// Posts a configuration that took long to read, unless it is being read anew since. Gives whether it counts.
    fn post_late(&self, number: u64, config: &Arc<Config>, connection: &Connection) -> bool {
        // Held until it is posted, so that no later one comes before it.
        let client = self.client();
        let counts = client.reloads == number;
        if counts {
            connection.post(Input::ConfigChanged(ready(Some(Arc::clone(config))).boxed()));
        }
        counts
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
    let number = settings.post(config.map(Result::ok).boxed(), connection);
    let read = {
        let settings = Arc::clone(settings);
        move |layers| {
            let (settings, load) = (Arc::clone(&settings), Arc::clone(&load));
            spawn_blocking(move || Arc::new(settings.load(&*load, layers)))
        }
    };
    let mut all = read(Layers::All);
    let (settings, connection, outbox) = (Arc::clone(settings), Arc::downgrade(connection), outbox.clone());
    tokio::spawn(async move {
        let in_time = tokio::time::timeout(GRACE, &mut all).await;
        let is_late = in_time.is_err();
        let config = match in_time {
            Ok(config) => config,
            Err(_) => {
                tracing::warn!("the disk of a workspace folder does not answer; its configuration counts once it does");
                read(Layers::WithoutFolders).await
            }
        };
        match config {
            Ok(config) => {
                settings.counts(number, &config, &outbox);
                let _ = sender.send(config);
            }
            Err(error) => tracing::error!(%error, "the configuration could not be read"),
        }
        if is_late
            && let (Ok(late), Some(connection)) = (all.await, connection.upgrade())
            && settings.post_late(number, &late, &connection)
        {
            settings.counts(number, &late, &outbox);
        }
    });
}
