//! A small project in a temporary folder, for the tests of the tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::hooks::{Chain, Hooks, ToolPoint};
use ports::tool::{Call, Output, Tool, ToolError};
use process::Confinement;
use project::buffers::{Buffers, Change};
use project::files;
use project::paths::{Roots, to_uri};
use project::reader::{NoOverlay, Overlay, Reader};
use project::results::Results;
use project::search::Search;
use project::seen::Seen;
use project::text::PositionEncoding;
use protocol::{ToolCallId, TurnId};
use serde_json::Value;
use shell::{Jobs, Outside, Shell, ShellConfig, Trust};
use tokio_util::sync::CancellationToken;

use crate::{Edits, Intercept, Services, Tags};

/// The project, and what editors have open of it.
pub(crate) struct World {
    folder: tempfile::TempDir,
    /// For what the shell keeps.
    private: tempfile::TempDir,
    pub(crate) buffers: Arc<Buffers>,
}

impl World {
    /// A project with these files: path and text.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let world = Self {
            folder: tempfile::tempdir().unwrap(),
            private: tempfile::tempdir().unwrap(),
            buffers: Arc::default(),
        };
        for (name, text) in files {
            files::create(&world.path(name), text).unwrap();
        }
        world
    }

    /// The absolute path of a file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Opens a file in the editor, with this text unsaved.
    pub(crate) fn open(&self, name: &str, text: &str) {
        let uri = to_uri(&self.path(name));
        let saved = files::read(&self.path(name)).map(|file| file.text).unwrap_or_default();
        self.buffers.open(&uri, "text", 0, saved).unwrap();
        let typed = Change { range: None, text: text.to_owned() };
        self.buffers.change(&uri, 1, &[typed], PositionEncoding::Utf16).unwrap();
    }

    pub(crate) fn services(&self) -> Services {
        self.services_with(NoOverlay)
    }

    pub(crate) fn services_with(&self, overlay: impl Overlay + 'static) -> Services {
        let roots = Arc::new(Roots::new([self.folder.path()]).unwrap());
        let reader = Reader::new(self.buffers.clone(), Arc::new(overlay));
        let config = ShellConfig {
            cwd: self.folder.path().canonicalize().unwrap(),
            folder: self.private.path().to_path_buf(),
            pass: Vec::new(),
            program: None,
            trust: Trust::default(),
            confinement: Confinement::default(),
        };
        let shell = Arc::new(Shell::new(config.clone(), Arc::new(())).unwrap());
        let outside = Arc::new(Outside::new(&config, Arc::new(())));
        let jobs = Arc::new(Jobs::new(config, 1, Box::new(|_| Arc::new(()))));
        Services {
            search: Search::new(roots.clone(), reader.clone()),
            roots,
            reader,
            shell,
            jobs,
            outside,
            seen: Seen::default(),
            results: Results::new(self.private.path()),
            lang: lang::Lang::default(),
            edits: Edits::default(),
            tags: Tags::default(),
            intercept: Intercept::default(),
        }
    }

    /// With a search that shows only some files.
    pub(crate) fn services_showing(&self, shows: fn(&Path) -> bool) -> Services {
        let services = self.services();
        Services { search: services.search.showing_only(Arc::new(move |_| Box::new(shows))), ..services }
    }

    /// Calls a built-in tool.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Result<Output, ToolError> {
        call(&self.services(), tool, input).await
    }

    /// Calls a built-in tool and gives the text of its result, or of its error.
    pub(crate) async fn text(&self, tool: &str, input: Value) -> String {
        match self.call(tool, input).await {
            Ok(output) => output.text,
            Err(error) => format!("error: {error}"),
        }
    }
}

/// Returns the note that a reader gives first for a file that is open with unsaved text.
pub(crate) fn unsaved(name: &str) -> String {
    format!("[{name} is here as in the user's editor, with changes that are not saved; the disk is without them]\n")
}

/// Calls a built-in tool.
pub(crate) async fn call(services: &Services, tool: &str, input: Value) -> Result<Output, ToolError> {
    let tools = crate::builtin(services);
    let called: Arc<dyn Tool> = Arc::clone(tools.iter().find(|candidate| candidate.spec().name == tool).unwrap());
    let made = async {
        let description = called.describe(&input).await?;
        let (id, judged) = (ToolCallId::from("call"), Some(description.action.clone()));
        let call = Call { judged, ..Call::unjudged(id.clone(), CancellationToken::new()) };
        let mut result = called.run(call, input.clone()).await;
        let (turn, access) = (TurnId::from("turn"), called.access());
        let point = ToolPoint { turn: &turn, call: &id, tool, access, input: &input, description: &description };
        Chain::new(crate::hooks(services)).after_tool(&point, &mut result).await;
        result
    };
    let made = made.await;
    // Whatever a test provokes, what it advises can be done.
    if let Err(error) = &made {
        let wrong = crate::advice::wrong(&tools, tool, &error.to_string());
        assert!(wrong.is_empty(), "{wrong:?}: {error}");
    }
    made
}

/// Calls a tool as a file in an answer's text does.
pub(crate) async fn write_block(services: &Services, tool: &str, input: Value) -> Result<Output, ToolError> {
    let tools = crate::builtin(services);
    let tool = tools.iter().find(|candidate| candidate.spec().name == tool).unwrap();
    tool.run(Call::unjudged("file-t1-m1-1".into(), CancellationToken::new()), input).await
}
