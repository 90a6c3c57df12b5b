//! The language servers that are asked for a suggestion: the editor's, and those of ours that run already. None is
//! started for it, and nobody waits long.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lang::pool::Servers;
use project::paths::Roots;
use project::reader::{NoOverlay, Reader};
use protocol::lang::{EditorQueryParams, LangAnswer, LangLocation, LangQuery, LangResult, LangStatus};

use super::Connected;
use crate::post::Shared;
use crate::{Editor, EditorError};

/// The servers that a client's documents have.
pub(super) struct Warm {
    editor: Arc<dyn Editor>,
    servers: Arc<Servers>,
    pub(super) folders: Vec<PathBuf>,
    /// The files as they are in the editor, or else on disk.
    pub(super) reader: Reader,
}

impl Warm {
    pub(super) fn new(shared: &Shared, client: &Connected) -> Self {
        let buffers = Arc::clone(&client.caller.buffers);
        Self {
            editor: Arc::clone(&client.caller.editor),
            servers: Arc::clone(&shared.servers),
            folders: client.folders.clone(),
            reader: Reader::new(buffers, Arc::new(NoOverlay)),
        }
    }

    /// The client's folders; none if they cannot be read.
    pub(super) async fn roots(&self) -> Option<Roots> {
        let folders = self.folders.clone();
        tokio::task::spawn_blocking(move || Roots::new(folders)).await.ok()?.ok()
    }

    /// The locations that a query asks for. None if no server is warm, or if there was no answer in time.
    pub(super) async fn locations(
        &self,
        query: LangQuery,
        roots: &Roots,
        within: Duration,
    ) -> Option<Vec<LangLocation>> {
        let timeout_ms = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        let asked = self.editor.query(EditorQueryParams { query: query.clone(), timeout_ms });
        let result = match tokio::time::timeout(within, asked).await.ok()? {
            Ok(LangResult { status: LangStatus::NoServer, .. }) | Err(EditorError::Unsupported) => {
                self.servers.ask_if_warm(&query, roots, &self.reader, within).await?
            }
            asked => asked.ok()?,
        };
        match (result.status, result.answer) {
            (LangStatus::Ready, LangAnswer::Locations { locations }) => Some(locations),
            _ => None,
        }
    }
}
