//! The configuration as a client has part in it: its settings, and its folders' files.
//!
//! A change of a client's holds for every request after it. So each change is posted to the hub in its place, and the
//! configuration that it comes to, for which files must be read, follows.

use std::future::ready;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use hub::config::{self, ChatAnswers, Config, Editor, InCompletion};
use hub::log;
use hub::{Coming, Connection, GRACE, Input};
use protocol::event::Severity;
use protocol::role::Role;
use serde_json::Value;
use tokio::sync::{oneshot, watch};
use tokio::task::spawn_blocking;

/// Resolves the configuration out of all its layers, with what the editor says and the workspace folders.
pub type LoadConfig = dyn Fn(Editor, &[PathBuf]) -> Config + Send + Sync;

/// The parts of the configuration that this client can change.
pub(crate) struct Settings {
    /// None for a client that has no part in the configuration.
    load: Option<Arc<LoadConfig>>,
    client: Mutex<Client>,
    suggestions: watch::Sender<Option<Suggestions>>,
}

/// The parts of a configuration that say how suggestions are shown to a client without inline completion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suggestions {
    /// When the one at the cursor is an entry of the completion menu.
    pub(crate) in_completion: InCompletion,
    /// True if edits are hints with code actions.
    pub(crate) edits_as_actions: bool,
    /// True if a model for suggestions at the cursor is named.
    pub(crate) has_model: bool,
    /// True if a model for edits is named.
    pub(crate) has_edit_model: bool,
}

impl Suggestions {
    /// True if suggested edits are hints with code actions, for a client without a panel.
    pub(crate) fn shows_edits(self) -> bool {
        self.edits_as_actions && self.has_edit_model
    }
}

/// Words for the user.
type Message = (Severity, String);

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
    pub(crate) fn new(load: Option<Arc<LoadConfig>>, folders: Vec<PathBuf>) -> Self {
        let client = Mutex::new(Client { folders, ..Client::default() });
        Self { load, client, suggestions: watch::Sender::new(None) }
    }

    /// True if the client takes part in the configuration.
    pub(crate) fn are_read(&self) -> bool {
        self.load.is_some()
    }

    /// Takes what the editor said when it started. `place` and `section` say in messages where a fault is: in words,
    /// and as the path in the editor's file. Null says nothing.
    pub(crate) fn take_options(&self, place: &str, section: &str, options: Value) {
        if !options.is_null() {
            self.client().editor.options = config::from_editor(place, section, options);
        }
    }

    /// Takes our section of the editor's settings, in place of the settings before. Null says nothing, and nothing
    /// changes.
    pub(crate) fn take_settings(&self, section: &str, settings: Value) {
        if !settings.is_null() {
            self.client().editor.settings = config::from_editor("the editor's settings", section, settings);
        }
    }

    /// Takes the workspace folders.
    pub(crate) fn set_folders(&self, folders: Vec<PathBuf>) {
        self.client().folders = folders;
    }

    /// When the last configuration has chat documents get their answers.
    pub(crate) fn chat_answers(&self) -> Option<ChatAnswers> {
        self.client().chat_answers
    }

    /// True if the last configuration has code actions offered that begin a workflow.
    pub(crate) fn offers_workflows(&self) -> bool {
        !self.client().no_workflows
    }

    /// The way in which the last configuration has suggestions shown, and those after it; none before the first.
    pub(crate) fn suggestions(&self) -> watch::Receiver<Option<Suggestions>> {
        self.suggestions.subscribe()
    }

    /// True if suggested edits are hints with code actions, for a client without a panel; none if it is not known yet:
    /// what the user types first comes before the first configuration.
    pub(crate) fn shows_edits(&self) -> Option<bool> {
        match self.load {
            Some(_) => self.suggestions.borrow().map(Suggestions::shows_edits),
            None => Some(false),
        }
    }

    /// The same as [`Settings::suggestions`] of the first configuration, as soon as it is known; none if the disk does
    /// not answer in time, or for a client that has no part in the configuration.
    pub(crate) async fn first_suggestions(&self) -> Option<Suggestions> {
        self.load.as_ref()?;
        let mut suggestions = self.suggestions();
        let known = tokio::time::timeout(GRACE, suggestions.wait_for(Option::is_some)).await;
        known.ok()?.ok().and_then(|known| *known)
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
    fn counts(&self, number: u64, config: &Config, say: &impl Fn(Severity, String)) {
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
            (Severity::Error, text)
        });
        let warnings = config.warnings.iter().map(|warning| (Severity::Warning, warning.clone()));
        let messages: Vec<_> = errors.chain(warnings).collect();
        let mut client = self.client();
        client.chat_answers = config.chat_answers;
        client.no_workflows = !config.code_actions;
        let suggestions = Suggestions {
            in_completion: config.inline_in_completion,
            edits_as_actions: config.inline_edits_as_actions,
            has_model: config.has_model_for(Role::Completion),
            has_edit_model: config.has_model_for(Role::NextEdit),
        };
        self.suggestions.send_if_modified(|before| before.replace(suggestions) != Some(suggestions));
        let said = std::mem::replace(&mut client.said, messages.clone());
        drop(client);
        let news = messages.into_iter().filter(|message| !said.contains(message));
        news.for_each(|(severity, text)| say(severity, text));
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

/// Has the configuration read again, and the user told by `say` what is new of it. It holds for every request that is
/// posted after this.
///
/// If the disk of a workspace folder does not answer in time, the configuration counts without that folder's file
/// until it does.
pub(crate) fn reload(
    settings: &Arc<Settings>,
    connection: &Arc<Connection>,
    say: impl Fn(Severity, String) + Send + Sync + 'static,
) {
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
    let (settings, connection) = (Arc::clone(settings), Arc::downgrade(connection));
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
                settings.counts(number, &config, &say);
                let _ = sender.send(config);
            }
            Err(error) => tracing::error!(%error, "the configuration could not be read"),
        }
        if is_late
            && let (Ok(late), Some(connection)) = (all.await, connection.upgrade())
            && settings.post_late(number, &late, &connection)
        {
            settings.counts(number, &late, &say);
        }
    });
}
