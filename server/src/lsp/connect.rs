//! From `initialize` to a connected client.

use std::path::PathBuf;
use std::sync::Arc;

use hub::{self, Hub};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_lsp::Client;

use super::Role;
use super::abilities::Abilities;
use super::asking::Asking;
use super::chat::{Chats, usual_answers};
use super::connected::Connected;
use super::messages::Initialize;
use super::next_edits::NextEdits;
use super::outbox;
use super::process;
use super::stdio::Level;
use crate::front::names::{Names, Resolve};
use crate::front::settings::{self, Settings};

/// The parts of a connection.
pub(super) struct Connector {
    pub(super) hub: Hub,
    pub(super) client: Client,
    pub(super) level: Level,
    pub(super) role: Role,
    pub(super) resolve: Arc<Resolve>,
    pub(super) log_file: PathBuf,
    /// The connection's tasks; they end with it.
    pub(super) tasks: Arc<std::sync::Mutex<JoinSet<()>>>,
}

impl Connector {
    /// Connects the client to the hub.
    pub(super) fn connect(self, params: &Initialize, over: &CancellationToken) -> Connected {
        let abilities = Arc::new(Abilities::new(&params.capabilities));
        let folders = params.folders();
        tracing::info!(client = ?params.client_info, ?folders, "a client connects");
        let names = Arc::new(Names::new(self.resolve));
        names.set_folders(&folders);
        let (load, is_owner) = match self.role {
            Role::Owner(load) => (Some(load), true),
            Role::Attached => (None, false),
        };
        let settings = Arc::new(Settings::new(load, folders.clone()));
        let edits = Arc::new(NextEdits::new(&abilities));
        let (outbox, idle) = outbox::new(outbox::Parts {
            client: self.client,
            level: self.level,
            abilities: Arc::clone(&abilities),
            names: Arc::clone(&names),
            settings: Arc::clone(&settings),
            reviews: self.hub.board().watch(),
            edits: Arc::clone(&edits),
        });
        let connection = Arc::new(self.hub.connect(hub::Client {
            is_attached: !is_owner,
            folders: folders.clone(),
            name: params.editor_name(),
            encoding: abilities.encoding,
            editor: Arc::new(outbox.clone()),
            trusted: params.workspace_trust(),
        }));
        let options = params.initialization_options.clone().unwrap_or_default();
        settings.take_options("the editor's initializationOptions", "initializationOptions", options);
        settings::reload(&settings, &connection, outbox.speaker());
        let mut tasks = self.tasks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let chats = (!abilities.azimuth.panel).then(|| {
            let usual = usual_answers(params.client_info.as_ref());
            let editor = Arc::new(outbox.clone());
            Chats::new(Arc::clone(&connection), editor, Arc::clone(&settings), usual, folders.clone())
        });
        tasks.spawn(idle.run(Arc::clone(&connection), chats.clone()));
        if let Some(process_id) = params.process_id.filter(|_| is_owner) {
            let over = over.clone();
            tasks.spawn(async move {
                process::gone(process_id).await;
                over.cancel();
            });
        }
        let board = self.hub.board().clone();
        let asking = Asking::new(Arc::clone(&connection), outbox.clone(), Arc::clone(&edits), Arc::clone(&settings));
        let log_file = self.log_file;
        Connected { connection, outbox, abilities, names, settings, board, edits, asking, chats, folders, log_file }
    }
}
