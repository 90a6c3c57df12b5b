//! The hub: a router to one task per session, and the one home of each client's open documents.
//!
//! Clients post [`Input`]s; each is handled in the order it was posted, at once and without waiting for anything.
//! Document changes are applied here, before any later input is looked at, so that a turn sees every change that came
//! before its prompt. What has to ask the disk first ([`Coming`]) is begun at once; only a request waits for it, no
//! longer than [`GRACE`] for a document's name, and ten seconds for a configuration.

pub mod bill;
pub mod board;
pub mod chat_name;
pub mod clock;
pub mod config;
pub mod confinement;
pub mod editor;
pub mod error;
pub mod export;
pub mod feed;
pub mod key_check;
pub mod lists;
pub mod log;
pub mod meant;
pub mod own_providers;
pub mod request;
pub mod secrets;
pub mod sockets;
pub mod visible;

mod budget;
mod cooldowns;
mod inline;
mod instruction;
mod post;
mod router;
mod session;
mod trust;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::commands;
use futures_util::future::BoxFuture;
use ports::hooks::Hooks;
use ports::store::Store;
use ports::tool::Tool;
use project::buffers::{Buffers, Change};
use project::text::PositionEncoding;
use protocol::SessionId;
use protocol::methods::Request as Method;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub use self::board::Board;
pub use self::editor::{DocumentEdit, Editor, EditorError};
pub use self::error::Error;
pub use self::feed::Feed;
pub use self::inline::suggestion_counts;
pub use self::request::{Answer, Reply, Request, request_of};
pub use self::trust::is_trusted;
use crate::clock::Clock;
use crate::config::Config;
use crate::sockets::Sockets;

/// The longest wait for a disk that is needed only to answer in order. A disk on a network may never answer.
pub const GRACE: Duration = Duration::from_secs(1);
/// The time that the sessions may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The parts that a hub is made of.
pub struct Parts {
    /// Where sessions are kept.
    pub store: Arc<dyn Store>,
    /// The folder of our own data, which no edit may touch.
    pub data_folder: PathBuf,
    /// Warnings for the user from the start, such as that the store was damaged and recovered. Said in each session.
    pub warnings: Vec<String>,
    /// The models.
    pub catalog: Arc<providers::Catalog>,
    /// The user's configuration.
    pub config: Arc<Config>,
    /// Tools beside the built-in ones, for every session.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Slash commands beside the built-in ones, for every session.
    pub commands: Vec<commands::Source>,
    /// Hooks beside the built-in ones, for every session. They are called after those, in this order.
    pub hooks: Vec<Arc<dyn Hooks>>,
    /// Where the processes meet that share the store.
    pub sockets: Arc<Sockets>,
    /// The user's home folder, which is trusted for itself alone.
    pub home: Option<PathBuf>,
    /// The program that holds the processes of shells: this one, which is started again for it, or another one whose
    /// `main` calls [`process::supervisor::main`]. Without it nothing holds them, and there is no sandbox.
    pub supervisor: Option<PathBuf>,
    /// The user's configuration file, which holds keys that no command is to read.
    pub user_file: PathBuf,
    /// The time of day: of events, and of what is counted.
    pub clock: Clock,
}

impl Parts {
    /// Our own files, which no command may read: the data folder, and the configuration.
    fn own(&self) -> [PathBuf; 2] {
        [self.data_folder.clone(), self.user_file.clone()]
    }
}

/// The hub of a process. Clones are handles to the same one; it ends with the last of them.
#[derive(Clone)]
pub struct Hub {
    posts: mpsc::UnboundedSender<post::Post>,
    board: Board,
    sockets: Arc<Sockets>,
    ended: CancellationToken,
}

impl Hub {
    /// Starts a hub on the current runtime.
    pub fn start(parts: Parts) -> Self {
        let board = Board::default();
        let (sockets, ended) = (Arc::clone(&parts.sockets), CancellationToken::new());
        let posts = router::start(parts, board.clone());
        Self { posts, board, sockets, ended }
    }

    /// Connects a client. It has no documents open yet.
    pub fn connect(&self, client: Client) -> Connection {
        let (id, buffers) = (ClientId::next(), Arc::<Buffers>::default());
        let connection = Connection { id, posts: self.posts.clone(), buffers: Arc::clone(&buffers) };
        connection.send(post::Message::Connected(client, buffers));
        connection
    }

    /// The pending hunks of all sessions, by document.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Where the processes meet that share the store.
    pub fn sockets(&self) -> &Arc<Sockets> {
        &self.sockets
    }

    /// Cancelled once all sessions have ended, and others may take them.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Ends all sessions: turns are broken off, commands killed, and everything is stored. Returns when that is done,
    /// or after [`PATIENCE`], as where the disk is full.
    pub async fn shutdown(&self) {
        // However it ends.
        let _ended = self.ended.clone().drop_guard();
        let (done, wait) = oneshot::channel();
        let _ = self.posts.send(post::Post { client: None, message: post::Message::Shutdown(done) });
        if tokio::time::timeout(PATIENCE, wait).await.is_err() {
            tracing::error!("the sessions could not be ended in time");
        }
    }
}

/// A client that connects.
pub struct Client {
    /// True if it is another process's window, which shows sessions of this one.
    pub is_attached: bool,
    /// Its workspace folders, absolute; the first one is where new sessions start.
    pub folders: Vec<PathBuf>,
    /// The editor's name and version as the model is told them, such as `Neovim 0.12`; none if there is no editor.
    pub name: Option<Arc<str>>,
    /// The encoding of positions in its document changes and prompts.
    pub encoding: PositionEncoding,
    /// The way to reach it.
    pub editor: Arc<dyn Editor>,
    /// The client's own word that the workspace is trusted, or is not; with one, its user is not asked.
    pub trusted: Option<bool>,
}

/// A client's end of the hub. Dropping it disconnects the client.
pub struct Connection {
    id: ClientId,
    posts: mpsc::UnboundedSender<post::Post>,
    buffers: Arc<Buffers>,
}

impl Connection {
    /// Posts an input. Never waits; inputs are handled in order.
    pub fn post(&self, input: Input) {
        self.send(post::Message::Input(input));
    }

    /// Posts a request and waits for its answer.
    ///
    /// # Errors
    /// Those of the request; and an internal error where the hub ends before it answers.
    pub async fn ask<M: Method>(&self, params: M::Params) -> Result<M::Answer, Error> {
        let (reply, answer) = oneshot::channel();
        self.post(Input::Request(Request::new::<M>(params, reply)));
        let ended = || Error::new(protocol::ErrorCode::InternalError, "the session ended; the log says why");
        answer.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Posts a request whose answer nobody needs.
    pub fn tell<M: Method>(&self, params: M::Params) {
        self.post(Input::Request(Request::new::<M>(params, oneshot::channel().0)));
    }

    /// Waits until all that was posted before has been handled.
    pub async fn caught_up(&self) {
        let (reply, caught_up) = oneshot::channel();
        self.post(Input::CatchUp(reply));
        // Without a hub there is nothing to come.
        let _ = caught_up.await;
    }

    /// True if there is such a session, and no other process has it. That may be otherwise a moment later.
    pub async fn is_free(&self, session: SessionId) -> bool {
        let (reply, is_free) = oneshot::channel();
        self.post(Input::IsFree(session, reply));
        is_free.await.unwrap_or_default()
    }

    /// The documents that the client has open.
    pub fn buffers(&self) -> &Arc<Buffers> {
        &self.buffers
    }

    fn send(&self, message: post::Message) {
        // Without a hub there is nobody to tell: the process is ending.
        let _ = self.posts.send(post::Post { client: Some(self.id), message });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.send(post::Message::Disconnected);
    }
}

/// An input from a client.
pub enum Input {
    /// One of our requests.
    Request(Request),
    /// Answered when all that was posted before has been handled.
    CatchUp(oneshot::Sender<()>),
    /// Answered with whether there is such a session and no other process has it.
    IsFree(SessionId, oneshot::Sender<bool>),
    /// A document was opened.
    Opened {
        /// The document, as the client writes it.
        uri: String,
        /// LSP's language id.
        language: String,
        /// Its version.
        version: i32,
        /// Its text, byte for byte.
        text: String,
        /// The file it belongs to, links resolved.
        file: Coming<PathBuf>,
    },
    /// A document was changed.
    Changed {
        /// The document.
        uri: String,
        /// Its version after the changes.
        version: i32,
        /// The changes, each to the text the one before left.
        changes: Vec<Change>,
    },
    /// A document was saved.
    Saved {
        /// The document.
        uri: String,
        /// The text that was saved, where the client says it.
        text: Option<String>,
    },
    /// A document was closed: the disk holds its truth again.
    Closed {
        /// The document.
        uri: String,
    },
    /// Files changed on disk.
    FilesChanged {
        /// The files.
        paths: Vec<PathBuf>,
    },
    /// Workspace folders came and went.
    FoldersChanged {
        /// All folders there are now.
        folders: Vec<PathBuf>,
    },
    /// The configuration changed. It holds for every request posted after this.
    ConfigChanged(Coming<Arc<Config>>),
}

/// Something that is known once the disk has answered; none if it turns out that it never will be.
pub type Coming<T> = BoxFuture<'static, Option<T>>;

/// The request of a method with its parameters, and its answer to come. None for a method that is not ours.
///
/// # Errors
/// Parameters that do not fit; the message names the field.
pub fn parse(method: &str, params: Value) -> Option<Result<(Request, Answer), Error>> {
    match router::HANDLERS.has(method) {
        true => router::HANDLERS.parse(method, params),
        false => session::HANDLERS.parse(method, params),
    }
}

/// A client of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ClientId(u64);

impl ClientId {
    fn next() -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use protocol::ErrorCode;
    use protocol::methods::{self, Scope};
    use serde_json::json;

    use super::*;

    fn error_of(method: &str, params: Value) -> String {
        match parse(method, params) {
            Some(Err(error)) if error.code == ErrorCode::InvalidParams => error.message,
            _ => String::from("no error"),
        }
    }

    #[test]
    fn bad_params_name_the_field() {
        assert!(error_of("azimuth/session/open", json!({})).contains("`sessionId`"));
        assert!(error_of("azimuth/session/open", json!({ "sessionId": "a", "since": "x" })).contains("`since`"));
        assert!(error_of("azimuth/session/list", json!({ "everywere": true })).contains("`everywere`"));
        assert!(
            error_of("azimuth/turn/start", json!({ "sessionId": "a", "prompt": [{ "type": "text" }] }))
                .contains("`prompt[0]`")
        );
    }

    #[test]
    fn every_method_of_the_protocol_is_answered_where_its_scope_says() {
        for spec in methods::REQUESTS {
            let by_router = router::HANDLERS.parse(spec.method, Value::Null).is_some();
            let by_session = session::HANDLERS.parse(spec.method, Value::Null).is_some();
            let wanted = match spec.scope {
                Scope::Global => (true, false),
                Scope::Session => (false, true),
                Scope::Either => (true, true),
            };
            assert_eq!((by_router, by_session), wanted, "{}", spec.method);
        }
        assert!(parse("azimuth/coffee/make", Value::Null).is_none());
    }
}
