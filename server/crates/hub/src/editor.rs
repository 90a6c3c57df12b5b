//! The port to a client: an editor behind LSP, or the command line.

use std::sync::Arc;

use async_trait::async_trait;
use project::review::LineEdit;
use protocol::editor::{EditorFormatParams, EditorFormatResult};
use protocol::inline::{InlineChangedParams, InlineStatusParams};
use protocol::lang::{EditorQueryParams, LangResult};
use protocol::{SessionId, TerminalId};
use shell::Spool;

use super::Feed;

/// The port from the hub to a client. Nothing here waits for the client, except the calls that return an answer.
#[async_trait]
pub trait Editor: Send + Sync {
    /// Begins to show a session: its events after number `since`, and all that follow.
    fn follow(&self, feed: Feed, since: u64);

    /// Ends showing a session, its terminals too.
    fn unfollow(&self, session: &SessionId);

    /// Begins to show a terminal, from offset `since` on.
    fn follow_terminal(&self, session: &SessionId, terminal: &TerminalId, spool: Arc<Spool>, since: u64);

    /// The client has come so far with a terminal that it follows. From the first time on it is sent output only so far
    /// ahead of that. One that shows all output at once has no use for it.
    fn acknowledge_terminal(&self, _session: &SessionId, _terminal: &TerminalId, _offset: u64) {}

    /// Ends showing a terminal. One that shows none by itself has nothing to end.
    fn unfollow_terminal(&self, _session: &SessionId, _terminal: &TerminalId) {}

    /// Something that the user must know and that no session can say, such as a full disk.
    fn alert(&self, text: &str);

    /// The state of a language server of our own is other than it was. One that shows none has no use for it.
    fn servers_changed(&self) {}

    /// There may be other models than were listed. One that lists none has no use for it.
    fn models_changed(&self) {}

    /// The user's configuration file is another one: it is to be read again. False if it reads none.
    fn configuration_changed(&self) -> bool {
        false
    }

    /// The state of suggestions where the user types is this from now on. One that shows none has no use for it.
    fn suggests(&self, _status: InlineStatusParams) {}

    /// A suggested edit that it has asked for is another one, or none. One that shows none has no use for it.
    fn edit_changed(&self, _edit: InlineChangedParams) {}

    /// Changes one open document. An `Ok` proves nothing: the caller waits for the text.
    ///
    /// # Errors
    /// The client said no, or did not answer in time.
    async fn apply(&self, edit: DocumentEdit) -> Result<(), EditorError>;

    /// True if it can be asked to delete a file, whose document it closes then.
    fn deletes(&self) -> bool {
        false
    }

    /// Deletes the file of a document that is open, at this version. An `Ok` proves nothing: the caller looks at both.
    ///
    /// # Errors
    /// The client cannot, said no, or did not answer in time.
    async fn delete(&self, _uri: &str, _version: i32) -> Result<(), EditorError> {
        Err(EditorError::Unsupported)
    }

    /// Saves a document, named by its URI as the client writes it. False where it could not be saved.
    ///
    /// # Errors
    /// The client cannot, or did not answer in time.
    async fn save(&self, uri: &str) -> Result<bool, EditorError>;

    /// The text of a document as the client holds it; none if it does not have it open.
    ///
    /// # Errors
    /// The client cannot tell, or did not answer in time.
    async fn text(&self, uri: &str) -> Result<Option<String>, EditorError>;

    /// The text of a document, formatted. It changes nothing.
    ///
    /// # Errors
    /// The client cannot be asked, or did not answer in time.
    async fn format(&self, params: EditorFormatParams) -> Result<EditorFormatResult, EditorError>;

    /// Passes a question to the language servers that the editor runs. One that runs none need not say so.
    ///
    /// # Errors
    /// The client cannot be asked, or did not answer in time.
    async fn query(&self, _params: EditorQueryParams) -> Result<LangResult, EditorError> {
        Err(EditorError::Unsupported)
    }
}

/// A change of one open document, in whole lines of its text at a version.
#[derive(Clone, Debug)]
pub struct DocumentEdit {
    /// The document, as the client writes it.
    pub uri: Arc<str>,
    /// The version the edit is made for.
    pub version: i32,
    /// The name of the undo step that the editor may show.
    pub label: String,
    /// The lines to replace, from top to bottom, not overlapping. Texts have LF; the editor keeps its own line ends.
    pub edits: Vec<LineEdit>,
}

/// A client that did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditorError {
    /// It has no such ability.
    #[error("the editor cannot do that without Azimuth's plugin")]
    Unsupported,
    /// It said no.
    #[error("the editor refused: {0}")]
    Refused(String),
    /// It did not answer in time.
    #[error("the editor did not answer in time")]
    TimedOut,
    /// It is gone.
    #[error("the editor is gone")]
    Gone,
}
