//! What every command begins with: the log, the configuration, the store and the hub.

#![expect(clippy::disallowed_methods, reason = "the log file is opened here, before anything that could log")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use store::SqliteStore;
use tracing_subscriber::EnvFilter;

use super::Failure;
use crate::config::{self, Config, Sources, dirs};
use crate::hub::Parts;
use crate::serve;

/// A log larger than this is moved aside at the next start, in bytes.
const LOG_BYTES: u64 = 10 * 1024 * 1024;
/// What is logged where nobody says.
const LOG_DEFAULT: &str = "info";

/// What a command works with.
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
        start_log(&data_folder, log.or_else(|| config.log.clone()));
        Ok(Self { data_folder, config, store })
    }

    /// The parts of a hub.
    pub(super) fn parts(&self, config: Config) -> Parts {
        let catalog = providers::Catalog::new(config.providers.clone());
        let store: Arc<SqliteStore> = Arc::clone(&self.store);
        let warnings = store.recovered().map(|recovery| recovery.to_string()).into_iter().collect();
        Parts { store, data_folder: self.data_folder.clone(), warnings, catalog: Arc::new(catalog), config: Arc::new(config) }
    }
}

/// The configuration for these folders.
pub(super) fn configuration(folders: &[PathBuf]) -> Result<Config, Failure> {
    let user_file = dirs::config_file(&environment).map_err(Failure::new)?;
    config::load(Sources { user_file, folders, editor: None, environment: &environment }).map_err(Failure::new)
}

/// Serves an editor over standard input and output.
pub(super) async fn lsp(log: Option<String>) -> Result<ExitCode, Failure> {
    let data_folder = dirs::data_folder(&environment).map_err(Failure::new)?;
    start_log(&data_folder, log);
    let user_file = dirs::config_file(&environment).map_err(Failure::new)?;
    let log_file = log_file(&data_folder);
    let options = serve::Options { data_folder, user_file, log_file, environment: Arc::new(environment) };
    let code = serve::serve(tokio::io::stdin(), tokio::io::stdout(), options).await.map_err(Failure::new)?;
    Ok(ExitCode::from(code))
}

/// The process's environment, as text.
pub(super) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Where the log goes.
pub(super) fn log_file(data_folder: &Path) -> PathBuf {
    data_folder.join("azimuth.log")
}

/// Starts logging to the file. A log that cannot be written is no reason to fail; `doctor` says so.
fn start_log(data_folder: &Path, level: Option<String>) {
    let filter = level.as_deref().unwrap_or(LOG_DEFAULT);
    let Ok(filter) = EnvFilter::try_new(filter) else { return };
    let path = log_file(data_folder);
    if std::fs::metadata(&path).is_ok_and(|metadata| metadata.len() > LOG_BYTES) {
        let _ = std::fs::rename(&path, path.with_extension("log.1"));
    }
    let _ = std::fs::create_dir_all(data_folder);
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    if let Ok(file) = options.open(path) {
        let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(false).with_writer(Arc::new(file));
        // A second one in the same process (tests) keeps the first.
        let _ = subscriber.try_init();
    }
}
