//! The whole real server, in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use azimuth::serve::{self, Custom, Options};
use tempfile::TempDir;
use tokio::io::DuplexStream;
use tokio::task::JoinHandle;

use crate::model::{ModelServer, Wire};

/// The name of the model that [`Setup::model`] configures.
pub const MODEL: &str = "test/model-1";
/// The key that goes with it.
pub const KEY: &str = "key-of-the-test";

/// The setup that a server finds when it starts. It keeps its data between servers, as a user's folder does.
pub struct Setup {
    home: TempDir,
    environment: HashMap<String, String>,
    /// How long each look at an environment variable takes, and so at least each reading of the configuration.
    slowness: Duration,
    /// Parts of the test's own.
    pub custom: Custom,
    /// How many bytes the pipe to the client takes before the server has to wait, as a real pipe's 64 KiB.
    pub pipe: usize,
}

impl Setup {
    /// A user without any configuration: no key, no model.
    pub fn empty() -> Self {
        Self::empty_in(&std::env::temp_dir())
    }

    /// The same in a folder that is no temporary one, for commands see those.
    pub fn empty_in(folder: &Path) -> Self {
        let home = TempDir::with_prefix_in("azimuth-home-", folder).unwrap();
        let environment = HashMap::new();
        // This process is no program that could be started again for it.
        let custom = Custom { supervisor: Some(crate::binary().to_owned()), ..Custom::default() };
        Self { home, environment, slowness: Duration::ZERO, custom, pipe: 64 * 1024 }
    }

    /// A user with a model server that speaks this format.
    pub fn model(model: &ModelServer, wire: Wire) -> Self {
        let setup = Self::empty();
        setup.configure(&Self::configuration(model, wire));
        setup
    }

    /// The configuration of a user with a model server.
    pub fn configuration(model: &ModelServer, wire: Wire) -> String {
        let (url, name) = (model.url(wire), wire.name());
        let dialect = wire.dialect().map(|dialect| format!("dialect = \"{dialect}\"\n")).unwrap_or_default();
        format!(
            "model = \"{MODEL}\"\nshell_rc = false\n[providers.test]\nbase_url = \"{url}\"\nkey = \"{KEY}\"\nwire = \"{name}\"\n\
             {dialect}models = [\"model-1\"]\n"
        )
    }

    /// Writes the user's configuration file.
    pub fn configure(&self, toml: &str) {
        std::fs::write(self.config_file(), toml).unwrap();
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Has the configuration take its time whenever it is read.
    #[must_use]
    pub fn with_slow_configuration(mut self) -> Self {
        self.slowness = Duration::from_millis(20);
        self
    }

    /// The folder of the server's data.
    pub fn data_folder(&self) -> PathBuf {
        self.home.path().join("data")
    }

    /// The user's configuration file.
    pub fn config_file(&self) -> PathBuf {
        self.home.path().join("config.toml")
    }

    /// The user's home.
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

/// A server that runs, with the client's end of its pipe.
pub struct Server {
    /// The client's end.
    pub pipe: DuplexStream,
    /// The server's task: its exit code.
    pub ended: JoinHandle<u8>,
}

impl Server {
    /// Starts a server.
    pub fn start(setup: &Setup) -> Self {
        let (pipe, ours) = tokio::io::duplex(setup.pipe);
        let (input, output) = tokio::io::split(ours);
        let (environment, slowness) = (setup.environment.clone(), setup.slowness);
        let options = Options {
            data_folder: setup.data_folder(),
            user_file: setup.config_file(),
            runtime_folder: setup.home().join("run"),
            log_file: setup.home().join("azimuth.log"),
            environment: Arc::new(move |name: &str| {
                std::thread::sleep(slowness);
                environment.get(name).cloned()
            }),
        };
        let custom = setup.custom.clone();
        let ended = tokio::spawn(async move { serve::serve_with(input, output, options, custom).await.unwrap() });
        Self { pipe, ended }
    }
}
