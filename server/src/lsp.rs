//! The LSP front: it puts messages in order, converts, and sends. It decides nothing.
//!
//! A message that comes in passes [`frames`] (only what can be read), the framework's codec, [`ingress`] (in the order
//! of the wire) and the table in [`methods`], and is then the hub's. A message that goes out is either the answer to a
//! request, which the ingress waits for, or the [`outbox`]'s; both end in [`stdio`]'s pump. Between them stand
//! [`connect`] and [`connected`] (one client), [`review`], [`workflows`], [`progress`] and [`commands`] (what LSP
//! itself has for what we do), [`inline`], [`menu`], [`next_edits`] and [`copilot`] (the forms that suggestions have
//! for clients without a plugin), and [`chat`] (a conversation in a document).

mod abilities;
mod asking;
mod backend;
mod chat;
mod commands;
mod connect;
mod connected;
mod convert;
mod copilot;
mod error;
mod frames;
mod ingress;
mod inline;
mod instructions;
mod menu;
mod message_box;
mod messages;
mod methods;
mod next_edits;
mod outbox;
mod outcomes;
mod process;
mod progress;
mod review;
mod stdio;
mod suggesting;
mod workflows;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hub::Hub;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_lsp::{LspService, Server};

use self::backend::Backend;
use self::connect::Connector;
use self::frames::Frames;
use self::ingress::Ingress;
pub use crate::front::LoadConfig;
use crate::front::Resolve;

/// The section of the editor's settings that is ours.
const SECTION: &str = "azimuth";
/// The number of requests that may wait for their answers before no more input is read. Far above what a client sends:
/// at this limit the connection would be deaf to `shutdown`, too.
const CONCURRENCY: usize = 16 * 1024;
/// The time that the client has to read what is left for it at the end.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The parts that the front needs as well as its two ends.
pub struct Options {
    /// The hub.
    pub hub: Hub,
    /// Who the client is to this process.
    pub role: Role,
    /// The function that resolves links in paths: [`on_disk`](crate::front::on_disk).
    pub resolve: Arc<Resolve>,
    /// The log, for the command that shows it.
    pub log_file: PathBuf,
}

/// Who a client is to this process.
#[derive(Clone)]
pub enum Role {
    /// The editor that started it. Its settings are part of the configuration, which is resolved by this, and with it
    /// all sessions end.
    Owner(Arc<LoadConfig>),
    /// Another process, which has attached to sessions that this one holds. It has no part in the
    /// configuration, nothing ends with it, and it ends when the sessions have ended.
    Attached,
}

/// The end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client said `shutdown` first, as it should.
    Orderly,
    /// It did not: it was killed, closed its end, or said `exit` alone.
    Abrupt,
}

/// Serves one client until it exits, its input ends, or its process is gone. With the process's owner all sessions end.
pub async fn serve<R, W>(input: R, output: W, options: Options) -> End
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let Options { hub, role, resolve, log_file } = options;
    let is_owner = matches!(role, Role::Owner(_));
    let over = if is_owner { CancellationToken::new() } else { hub.ended().child_token() };
    let (inlet, level, pump) = stdio::pump(output, over.clone());
    let answers = inlet.answers();
    let tasks = Arc::new(Mutex::new(JoinSet::new()));
    let shut_down = Arc::new(AtomicBool::new(false));

    let (framework, socket) = LspService::new(|client| Backend::new(is_owner.then(|| hub.clone()), client));
    let client = framework.inner().client.clone();
    let connector = Connector { hub: hub.clone(), client, level, role, resolve, log_file, tasks: Arc::clone(&tasks) };
    let ingress = Ingress::new(framework, connector, answers, over.clone(), Arc::clone(&shut_down));
    Server::new(Frames::new(input, over), inlet, socket).concurrency_level(CONCURRENCY).serve(ingress).await;

    let is_orderly = shut_down.load(Ordering::SeqCst);
    if is_owner {
        backend::end(&hub).await;
    }
    tasks.lock().unwrap_or_else(PoisonError::into_inner).abort_all();
    if tokio::time::timeout(LAST_WORDS, pump).await.is_err() {
        tracing::info!("the client did not read its last messages");
    }
    if is_orderly { End::Orderly } else { End::Abrupt }
}
