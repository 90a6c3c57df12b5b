//! Serves one editor: builds the adapters (the store, the models, the hub) and runs one connection over any reader and
//! writer. Standard input and output are one such pair; a test's pipe is another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::commands;
use hub::clock::Clock;
use hub::config::{self, Config, Editor, Sources};
use hub::sockets::Sockets;
use hub::{Hub, Parts};
use ports::hooks::Hooks;
use ports::store::StoreError;
use ports::tool::Tool;
use process::supervisor;
use store::SqliteStore;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

use crate::front::{Resolve, on_disk};
use crate::lsp::{self, End, Role};

/// The pause before a connection is taken again, if the system had none to give.
const RETRY: Duration = Duration::from_secs(1);

/// Where things are.
pub struct Options {
    /// The folder of the sessions' database.
    pub data_folder: PathBuf,
    /// The user's configuration file; need not be there.
    pub user_file: PathBuf,
    /// The folder in which the processes of this user meet ([`Sockets`]).
    pub runtime_folder: PathBuf,
    /// The log, for the command that shows it.
    pub log_file: PathBuf,
    /// The environment, for keys and hosts.
    pub environment: Arc<Environment>,
}

/// The parts that a caller of this library may put in place of the usual, such as a test that wants a slow disk. The
/// program itself changes nothing.
#[derive(Clone)]
pub struct Custom {
    /// The function that resolves links in paths; by default it asks the disk ([`on_disk`]).
    pub resolve: Arc<Resolve>,
    /// Tools beside the built-in ones, for every session; by default none. Their names must differ from those.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Slash commands beside the built-in ones, for every session; by default none.
    pub commands: Vec<commands::Source>,
    /// Hooks beside the built-in ones, for every session; by default none.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// The program that holds the processes of shells ([`Parts::supervisor`]); by default this one.
    pub supervisor: Option<PathBuf>,
    /// The time of day ([`Parts::clock`]); by default the system's.
    pub clock: Clock,
}

impl Default for Custom {
    fn default() -> Self {
        Self {
            resolve: Arc::new(on_disk),
            tools: Vec::new(),
            commands: Vec::new(),
            hooks: Vec::new(),
            supervisor: this_program(),
            clock: Clock::default(),
        }
    }
}

/// This program, to be started again: also where its file has been replaced by another one's, as an update does.
pub fn this_program() -> Option<PathBuf> {
    supervisor::is_supported().then(|| PathBuf::from("/proc/self/exe"))
}

/// An environment: the value of a variable, if it is set.
pub type Environment = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Serves one editor until it exits. Gives the process's exit code: 0 where the editor said `shutdown` first, else 1.
///
/// A reader that blocks a thread, as standard input's does, may still wait when this returns; the process should exit.
///
/// # Errors
/// The sessions' database cannot be opened.
pub async fn serve<R, W>(input: R, output: W, options: Options) -> Result<u8, StoreError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    serve_with(input, output, options, Custom::default()).await
}

/// The same, with parts of the caller's own.
///
/// # Errors
/// As [`serve`].
pub async fn serve_with<R, W>(input: R, output: W, options: Options, custom: Custom) -> Result<u8, StoreError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let Options { data_folder, user_file, runtime_folder, log_file, environment } = options;
    let store = Arc::new(SqliteStore::open(&data_folder)?);
    let warnings = store.recovered().map(|recovery| recovery.to_string()).into_iter().collect();
    // Until the editor has said what it wants, nobody asks for a model; its folders and settings are not known yet.
    // Faults in them are reported once there is someone to tell.
    let config = load(&user_file, &environment, Editor::default(), &[]);
    let keeper = hub::lists::keeper(Arc::clone(&store) as Arc<dyn ports::store::Store>);
    let catalog = Arc::new(providers::Catalog::new(config.providers.clone()).with_lists_kept(keeper));
    let time = custom.clock.clone();
    catalog.pools().set_clock(move || time.now());
    let sockets = Arc::new(Sockets::new(runtime_folder, &data_folder));
    let home = config::dirs::home(&|name| environment(name));
    let config = Arc::new(config);
    let Custom { resolve, tools, commands, hooks, supervisor, clock } = custom;
    let parts = Parts {
        store,
        data_folder,
        warnings,
        catalog,
        config,
        tools,
        commands,
        hooks,
        sockets,
        home,
        supervisor,
        user_file: user_file.clone(),
        clock,
    };
    let hub = Hub::start(parts);
    let others = serve_others(hub.clone(), Arc::clone(&resolve), log_file.clone());
    let load_config =
        Arc::new(move |editor: Editor, folders: &[PathBuf]| load(&user_file, &environment, editor, folders));
    let options = lsp::Options { hub, role: Role::Owner(load_config), resolve, log_file };
    let end = lsp::serve(input, output, options).await;
    others.await;
    Ok(match end {
        End::Orderly => 0,
        End::Abrupt => 1,
    })
}

/// Serves the processes that attach to sessions which this one holds, until these have ended. Gives what is to be
/// waited for at the end, so that no socket is left behind.
pub(crate) fn serve_others(
    hub: Hub,
    resolve: Arc<Resolve>,
    log_file: PathBuf,
) -> impl Future<Output = ()> + Send + 'static {
    let (listener, ended) = (hub.sockets().listener(), hub.ended().clone());
    let task = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        if let Some(Ok(listener)) = ended.run_until_cancelled(listener).await {
            while let Some(accepted) = ended.run_until_cancelled(listener.accept()).await {
                match accepted {
                    Ok(stream) => {
                        let (input, output) = stream.into_split();
                        let (resolve, log_file) = (Arc::clone(&resolve), log_file.clone());
                        let options = lsp::Options { hub: hub.clone(), role: Role::Attached, resolve, log_file };
                        connections.spawn(lsp::serve(input, output, options));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "no connection could be taken");
                        tokio::time::sleep(RETRY).await;
                    }
                }
                while connections.try_join_next().is_some() {}
            }
        }
        // Each says what it has left to say.
        connections.join_all().await;
    });
    async move { drop(task.await) }
}

fn load(user_file: &Path, environment: &Arc<Environment>, editor: Editor, folders: &[PathBuf]) -> Config {
    let environment = |name: &str| environment(name);
    config::load(Sources { user_file: user_file.to_owned(), folders, editor, environment: &environment })
}
