//! The helpers that the tests of the session's parts share.

use std::path::Path;
use std::sync::Arc;

use agent::commands::CommandSet;
use agent::toolset::ToolSet;
use async_trait::async_trait;
use ports::hooks::Chain;
use project::paths::Roots;
use project::reader::Reader;
use project::results::Results;
use project::search::Search;
use project::seen::Seen;
use project::text::PositionEncoding;
use protocol::editor::{EditorFormatParams, EditorFormatResult};
use protocol::{SessionId, TerminalId};
use shell::Spool;

use super::overlay::Overlay;
use super::problems::Problems;
use super::{Caller, Reading, lang};
use crate::feed::Feed;
use crate::trust::Word;
use crate::{ClientId, DocumentEdit, Editor, EditorError};

/// A client that sees nothing and can do nothing.
pub(super) struct Nobody;

#[async_trait]
impl Editor for Nobody {
    fn follow(&self, _: Feed, _: u64) {}

    fn unfollow(&self, _: &SessionId) {}

    fn follow_terminal(&self, _: &SessionId, _: &TerminalId, _: Arc<Spool>, _: u64) {}

    fn alert(&self, _: &str) {}

    async fn apply(&self, _: DocumentEdit) -> Result<(), EditorError> {
        Err(EditorError::Gone)
    }

    async fn save(&self, _: &str) -> Result<bool, EditorError> {
        Err(EditorError::Gone)
    }

    async fn text(&self, _: &str) -> Result<Option<String>, EditorError> {
        Err(EditorError::Gone)
    }

    async fn format(&self, _: EditorFormatParams) -> Result<EditorFormatResult, EditorError> {
        Err(EditorError::Gone)
    }
}

/// A client with nothing open.
pub(super) fn caller() -> Caller {
    Caller {
        id: ClientId::next(),
        is_attached: false,
        name: None,
        editor: Arc::new(Nobody),
        buffers: Arc::default(),
        trust: Word::default(),
        encoding: PositionEncoding::Utf16,
    }
}

/// Makes the means by which a project is read, without an editor and language servers.
pub(super) fn reading(folder: &Path) -> Reading {
    let (roots, overlay) = (Arc::new(Roots::new([folder]).unwrap()), Overlay::default());
    let reader = Arc::new(Reader::new(Arc::default(), Arc::new(overlay.clone())));
    let search = Search::new(Arc::clone(&roots), Reader::clone(&reader));
    Reading {
        roots,
        reader,
        overlay,
        search,
        seen: Seen::default(),
        results: Results::new(folder),
        tags: tools::Tags::default(),
        intercept: tools::Intercept::default(),
        tools: ToolSet::default(),
        oracle: Box::new(|model| panic!("{model} is not asked here")),
        commands: CommandSet::default(),
        hooks: Chain::default(),
        editors: lang::Editors::default(),
        own_servers: Arc::new(lang::Editors::default()),
    }
}

/// The problems of files of which no language server says anything.
pub(super) fn problems(reading: &Reading) -> Problems {
    let Reading { roots, reader, overlay, search, .. } = reading;
    Problems::new(
        Arc::new(lang::Editors::default()),
        Box::new(|_| Arc::new(lang::Editors::default())),
        (Reader::clone(reader), Arc::new(overlay.clone())),
        Arc::clone(roots),
        search.clone(),
    )
}
