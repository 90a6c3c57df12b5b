//! The beginning of every command: the log, the configuration, the store and the hub.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use hub::Parts;
use hub::clock::Clock;
use hub::config::{self, Config, Editor, Sources, dirs};
use hub::sockets::Sockets;
use hub::{lists, log};
use store::SqliteStore;
use tempfile::TempDir;

use super::Failure;
use crate::serve;

/// The parts that a subcommand works with.
pub(super) struct Setup {
    pub(super) data_folder: PathBuf,
    pub(super) config: Config,
    pub(super) store: Arc<SqliteStore>,
}

impl Setup {
    /// Reads the configuration for these folders, opens the store and starts the log.
    pub(super) fn new(folders: &[PathBuf], log: Option<String>) -> Result<Self, Failure> {
        let data_folder = dirs::data_folder(&environment).map_err(Failure::new)?;
        Self::at(data_folder, folders, log)
    }

    /// The same, with the data in another folder.
    pub(super) fn at(data_folder: PathBuf, folders: &[PathBuf], log: Option<String>) -> Result<Self, Failure> {
        let config = configuration(folders)?;
        let store = Arc::new(SqliteStore::open(&data_folder).map_err(Failure::new)?);
        start_log(&data_folder, log.as_deref(), &config);
        Ok(Self { data_folder, config, store })
    }

    /// The secrets that leave this machine neither for a model nor in an export, with those that the projects in these
    /// folders list.
    ///
    /// # Errors
    /// One of them is not known; in words.
    pub(super) async fn mask(&self, folders: &[PathBuf]) -> Result<Arc<mask::Mask>, Failure> {
        let sockets = Sockets::new(dirs::runtime_folder(&environment), &self.data_folder);
        hub::secrets::mask(&sockets, Arc::new(self.config.with_projects(folders))).await.map_err(Failure::Said)
    }

    /// The parts of a hub.
    pub(super) fn parts(&self, config: Config) -> Parts {
        let store: Arc<SqliteStore> = Arc::clone(&self.store);
        let keeper = lists::keeper(Arc::clone(&self.store) as Arc<dyn ports::store::Store>);
        let catalog = providers::Catalog::new(config.providers.clone()).with_lists_kept(keeper);
        let warnings = store.recovered().map(|recovery| recovery.to_string()).into_iter().collect();
        Parts {
            store,
            data_folder: self.data_folder.clone(),
            warnings,
            catalog: Arc::new(catalog),
            config: Arc::new(config),
            tools: Vec::new(),
            commands: Vec::new(),
            hooks: Vec::new(),
            sockets: Arc::new(Sockets::new(dirs::runtime_folder(&environment), &self.data_folder)),
            home: dirs::home(&environment),
            supervisor: serve::this_program(),
            user_file: dirs::config_file(&environment).unwrap_or_default(),
            clock: Clock::default(),
        }
    }
}

/// A folder that one run has for itself in the user's data folder: no command in a sandbox can write there, unlike
/// among temporary files. It goes with the run.
pub(super) struct Private {
    folder: TempDir,
    /// The data folder, where there was none before. It goes after what is in it.
    _made: Option<Made>,
}

impl Private {
    /// Makes one whose name begins so.
    ///
    /// # Errors
    /// It cannot be made; in words.
    pub(super) fn new(name: &str) -> Result<Self, String> {
        let data_folder = dirs::data_folder(&environment).map_err(|error| error.to_string())?;
        let failed = |error: io::Error| format!("no folder can be made in {}: {error}", data_folder.display());
        let made = (!data_folder.exists()).then(|| Made(data_folder.clone()));
        platform::rights::private_folders().create(&data_folder).map_err(failed)?;
        let folder = tempfile::Builder::new().prefix(name).tempdir_in(&data_folder).map_err(failed)?;
        Ok(Self { folder, _made: made })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A folder that is removed if it is empty by then.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// The configuration for these folders. Nothing runs with one of the user's that is wrong.
pub(super) fn configuration(folders: &[PathBuf]) -> Result<Config, Failure> {
    let user_file = dirs::config_file(&environment).map_err(Failure::new)?;
    let config = load(user_file, folders);
    if config.errors.is_empty() {
        return Ok(config);
    }
    let errors: Vec<_> = config.errors.iter().map(ToString::to_string).collect();
    Err(Failure::Said(errors.join("\n")))
}

fn load(user_file: PathBuf, folders: &[PathBuf]) -> Config {
    config::load(Sources { user_file, folders, editor: Editor::default(), environment: &environment })
}

/// Serves an editor over standard input and output.
pub(super) async fn lsp(log: Option<String>) -> Result<ExitCode, Failure> {
    let data_folder = dirs::data_folder(&environment).map_err(Failure::new)?;
    let user_file = dirs::config_file(&environment).map_err(Failure::new)?;
    // A fault in the file is reported to the editor; here the file only says what to log until then.
    start_log(&data_folder, log.as_deref(), &load(user_file.clone(), &[]));
    let log_file = log_file(&data_folder);
    let runtime_folder = dirs::runtime_folder(&environment);
    let environment = Arc::new(environment);
    let options = serve::Options { data_folder, user_file, runtime_folder, log_file, environment };
    let code = serve::serve(tokio::io::stdin(), tokio::io::stdout(), options).await.map_err(Failure::new)?;
    Ok(ExitCode::from(code))
}

/// The process's environment, as text.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The place of the log.
pub(super) fn log_file(data_folder: &Path) -> PathBuf {
    log::file(data_folder)
}

/// Starts the log. What the command line or the environment says counts more than the configuration.
fn start_log(data_folder: &Path, said: Option<&str>, config: &Config) {
    if let Some(problem) = log::start(data_folder, said, config.log.as_deref()) {
        // An editor keeps what a server writes there. It is no reason to fail if nobody does.
        let _ = writeln!(io::stderr(), "azimuth: --log or AZIMUTH_LOG: {problem}");
    }
}
