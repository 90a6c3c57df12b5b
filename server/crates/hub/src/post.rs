//! The messages that are posted to the router, and the parts that it shares with the sessions, which post to it too.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lang::pool::Servers;
use ports::children::{ChildEnd, ChildError};
use ports::edit::TextHash;
use ports::found::{Found, TextFilter};
use ports::store::{SessionFilter, Store, StoreError};
use project::buffers::Buffers;
use project::text::PositionEncoding;
use protocol::inline::InlineInstructResult;
use protocol::role::Role;
use protocol::session::{Mode, Purpose, SessionInfo, SessionNewResult, Terms};
use protocol::{Event, SessionId, ToolCallId, TurnId};
use tokio::sync::{Notify, OnceCell, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::budget::Budgets;
use super::config::Config;
use super::cooldowns::Cooldowns;
use super::feed::blocking;
use super::instruction::Instruction;
use super::secrets::Secrets;
use super::trust::{Book, Word};
use super::{Board, Client, ClientId, Editor, Error, Input, Parts, Reply};

/// The time for which a search waits for what is not taken in yet, before it answers with what there is, and the pauses
/// after which it looks again.
const PATIENCE: Duration = Duration::from_millis(200);
const LOOK_AGAIN: Duration = Duration::from_millis(40);

/// The setting that keeps the last model chosen for new sessions.
pub(super) const LAST_MODEL: &str = "model";

/// The longest wait until a changed configuration is in force.
const READING: Duration = Duration::from_secs(10);

/// A message with the client it is from.
pub(super) struct Post {
    pub(super) client: Option<ClientId>,
    pub(super) message: Message,
}

/// All that can wake the router.
pub(super) enum Message {
    /// A client came.
    Connected(Client, Arc<Buffers>),
    /// A client went.
    Disconnected,
    /// A client said something.
    Input(Input),
    /// A session has nothing to do and nobody who follows it, after so many messages.
    Idle { session: SessionId, handled: u64 },
    /// Make a session.
    NewSession(Caller, NewSession, Requester),
    /// A session was made: start its task.
    Created(SessionId, NewSession, Caller, Requester),
    /// Put an accepted suggestion into its document, on record in a session of these folders.
    AcceptSuggestion(Caller, Vec<PathBuf>, Box<AcceptedSuggestion>),
    /// The same, in this session.
    RecordSuggestion(SessionId, Caller, Box<AcceptedSuggestion>),
    /// Tell which lines of files users have changed in their editors since a time.
    EditedSince(Instant, oneshot::Sender<Vec<EditedLines>>),
    /// Edits in every session of a project are accepted automatically from now on, or no longer.
    Always(Arc<str>, bool),
    /// The trust in some folder changed.
    TrustChanged,
    /// An account is there that was not, or is gone.
    AccountsChanged,
    /// The user's configuration file was changed here: it is to be read again. Answered once it is in force; not at all
    /// if nobody reads it.
    FileChanged(oneshot::Sender<()>),
    /// These models were picked for a role, or no longer. Answered with the configuration that is in force then.
    PickRole(Role, Option<String>, oneshot::Sender<Arc<Config>>),
    /// The state of a language server of our own is other than it was.
    ServersChanged,
    /// A provider has listed its models after it was gone without.
    ModelsChanged,
    /// The process ends.
    Shutdown(oneshot::Sender<()>),
}

impl Post {
    /// True if it waits for what was begun before it.
    pub(super) fn is_request(&self) -> bool {
        matches!(self.message, Message::Input(Input::Request(_) | Input::CatchUp(_)))
    }
}

/// Who sent a request.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) id: ClientId,
    /// True if it is another process's window.
    pub(super) is_attached: bool,
    /// The name of its editor.
    pub(super) name: Option<Arc<str>>,
    pub(super) editor: Arc<dyn Editor>,
    /// The documents that it has open.
    pub(super) buffers: Arc<Buffers>,
    /// The client's own word on the trust in its workspace.
    pub(super) trust: Word,
    /// The encoding of positions in what it sends.
    pub(super) encoding: PositionEncoding,
}

/// The folders, model and mode of a new session.
pub(super) struct NewSession {
    pub(super) folders: Vec<PathBuf>,
    pub(super) model: Option<String>,
    pub(super) mode: Mode,
    /// True if the user asked for it by a command: chat documents name it, so it is kept whatever comes of it.
    pub(super) is_asked_for: bool,
    /// The terms on which another session starts it.
    pub(super) parent: Option<Terms>,
    pub(super) purpose: Purpose,
}

/// The client or session that asked for a new session.
pub(super) enum Requester {
    /// A client, which is attached to it.
    Client(Reply<SessionNewResult>),
    /// Another session, which gives it its first prompt.
    Session(Box<FirstPrompt>),
    /// A client that wants something changed.
    Instruction(Box<Instruction>, Reply<InlineInstructResult>),
    /// The record of accepted suggestions, of which this is the first.
    Suggestion(Box<AcceptedSuggestion>),
}

impl Requester {
    /// Answers that the session could not be made.
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Client(reply) => drop(reply.send(Err(error))),
            Self::Session(first) => drop(first.report.ended.send(Err(ChildError::Failed(error.message)))),
            Self::Instruction(_, reply) => drop(reply.send(Err(error))),
            Self::Suggestion(suggestion) => drop(suggestion.done.send(Err(error.message))),
        }
    }
}

/// Lines of a file that a user has changed in an editor, from 0; empty ones are where lines were deleted.
pub(super) struct EditedLines {
    pub(super) path: PathBuf,
    pub(super) lines: Vec<Range<usize>>,
}

/// The means by which a session reports of its first turn to the call that started it.
pub(super) struct Report {
    /// Where the turn's end is told.
    pub(super) ended: oneshot::Sender<Result<ChildEnd, ChildError>>,
    /// Records an event in the session of the call.
    pub(super) record: Box<dyn Fn(Event) + Send>,
    /// The turn of the call.
    pub(super) turn: TurnId,
    /// The call.
    pub(super) call: ToolCallId,
    /// The model that was asked last; empty before the turn.
    pub(super) model: String,
    /// The number of its answers.
    pub(super) rounds: u32,
}

/// The first prompt of a session that another one starts.
pub(super) struct FirstPrompt {
    pub(super) prompt: String,
    /// Ends the turn that is made of it.
    pub(super) cancel: CancellationToken,
    /// Where that turn is reported.
    pub(super) report: Report,
}

/// A suggestion that the user has accepted, to be put into its document as an edit of a session: so it can be undone,
/// and the log says what happened.
pub(super) struct AcceptedSuggestion {
    /// The file, absolute. It is open in the client's editor.
    pub(super) path: PathBuf,
    /// The hash of the text that it is for.
    pub(super) base: TextHash,
    /// The text afterwards, normal.
    pub(super) new_text: String,
    /// The id of the model that made it; empty if none did.
    pub(super) model: String,
    /// Answered once the editor has shown the new text, or with the reason why it is not there.
    pub(super) done: oneshot::Sender<Result<(), String>>,
}

/// The parts that sessions share.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) parts: Arc<Parts>,
    pub(super) board: Board,
    /// The user's decisions on the trust in folders.
    pub(super) trust: Book,
    /// The secrets that no model sees.
    pub(super) secrets: Arc<Secrets>,
    /// Language servers of our own.
    pub(super) servers: Arc<Servers>,
    pub(super) router: mpsc::WeakUnboundedSender<Post>,
    /// Deletes the sessions that killed processes left without a prompt. Blocks.
    pub(super) forget_unused: fn(&dyn Store) -> Result<(), StoreError>,
    /// Set once it has.
    pub(super) forgotten: Arc<OnceCell<()>>,
    /// The models that are let rest.
    pub(super) cooldowns: Cooldowns,
    /// Woken once somebody searches in what was said, so that what is not taken in yet is.
    pub(super) searched: Arc<Notify>,
    /// The amounts that answers added to budgets.
    pub(super) budgets: Arc<Budgets>,
}

impl Shared {
    /// Posts something to the router, for a client or for a session.
    pub(super) fn post(&self, client: Option<ClientId>, message: Message) {
        if let Some(router) = self.router.upgrade() {
            let _ = router.send(Post { client, message });
        }
    }

    /// Has the user's file read again, which was changed here. True once it is in force; false if nobody reads it.
    pub(super) async fn read_file_again(&self) -> bool {
        let (reply, in_force) = oneshot::channel();
        self.post(None, Message::FileChanged(reply));
        matches!(tokio::time::timeout(READING, in_force).await, Ok(Ok(())))
    }

    /// Tells our own language servers what became otherwise on disk. Nobody waits for it.
    pub(super) fn tell_servers(&self, paths: Vec<PathBuf>) {
        let servers = Arc::clone(&self.servers);
        tokio::spawn(async move { servers.files_changed(paths).await });
    }

    /// Sessions, the last used first.
    ///
    /// Before they are listed for the first time, those are deleted that killed processes left without a prompt; not as
    /// the process begins, so that a window whose server was killed can open the one again that it shows.
    pub(super) async fn list(&self, filter: SessionFilter) -> Result<Vec<SessionInfo>, StoreError> {
        let (store, forget) = (Arc::clone(&self.parts.store), self.forget_unused);
        let forget = async {
            let store = Arc::clone(&store);
            if let Err(error) = blocking(move || forget(&*store)).await {
                tracing::warn!(%error, "sessions without a prompt could not be deleted");
            }
        };
        self.forgotten.get_or_init(|| forget).await;
        blocking(move || store.list(&filter)).await
    }

    /// Searches in what was said. It waits a little for the texts that are not taken in yet, and never for a writer.
    pub(super) async fn search(&self, filter: TextFilter) -> Result<Found, StoreError> {
        self.searched.notify_one();
        let begun = Instant::now();
        loop {
            let (store, filter) = (Arc::clone(&self.parts.store), filter.clone());
            let found = blocking(move || store.search(&filter)).await?;
            if found.unread == 0 || begun.elapsed() >= PATIENCE {
                return Ok(found);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}
