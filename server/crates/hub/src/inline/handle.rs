//! The handle to the task that has the state of suggestions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use project::buffers::{Open, Snapshot};
use project::paths;
use protocol::inline::{
    InlineAcceptParams, InlineAcceptResult, InlineCompleteParams, InlineCompleteResult, InlineEditParams,
    InlineEditResult, InlineExplainParams, InlineExplainResult, InlineFeedbackParams, Reason, Rule,
};
use tokio::sync::{mpsc, oneshot};

use super::asked::{self, Asked, Waiting};
use super::edits::{EditMessage, WaitingEdit};
use super::{Message, Task};
use crate::config::Config;
use crate::post::{Caller, EditedLines, Shared};
use crate::{ClientId, Error, Reply};

/// A handle to the task. What is told to it takes no time.
#[derive(Clone)]
pub(crate) struct Inline {
    messages: mpsc::UnboundedSender<Message>,
    /// True while a model is set: without one nothing is suggested.
    is_on: Arc<AtomicBool>,
}

impl Inline {
    /// Starts the task.
    pub(crate) fn start(shared: Shared, config: Arc<Config>) -> Self {
        let (messages, inbox) = mpsc::unbounded_channel();
        let is_on = Arc::new(AtomicBool::new(false));
        let task = Task::new(messages.downgrade(), Arc::clone(&is_on), shared, Arc::clone(&config));
        tokio::spawn(task.run(inbox));
        let inline = Self { messages, is_on };
        inline.configure(config);
        inline
    }

    pub(crate) fn connected(&self, caller: Caller, folders: Vec<PathBuf>) {
        self.send(Message::Connected(caller, folders));
    }

    pub(crate) fn folders_changed(&self, client: ClientId, folders: Vec<PathBuf>) {
        self.send(Message::Folders(client, folders));
    }

    /// A file was saved, or changed on disk. Some files say which others may be sent.
    pub(crate) fn file_changed(&self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.contains("ignore") || path.ends_with(".git/info/exclude") || path.ends_with(".azimuth/config.toml") {
            self.reconsider();
        }
        if self.is_on.load(Ordering::Relaxed) {
            self.send(Message::FileChanged(path.to_owned()));
        }
    }

    pub(crate) fn gone(&self, client: ClientId) {
        self.send(Message::Gone(client));
    }

    pub(crate) fn configure(&self, config: Arc<Config>) {
        self.send(Message::Config(config));
    }

    /// The trust in a folder, the rules or the files that git ignores may be otherwise now.
    pub(crate) fn reconsider(&self) {
        if self.is_on.load(Ordering::Relaxed) {
            self.send(Message::Reconsider);
        }
    }

    /// Tells which lines the user has changed since a time, by file.
    pub(crate) fn edited_since(&self, since: Instant, reply: oneshot::Sender<Vec<EditedLines>>) {
        self.send(Message::EditedSince(since, reply));
    }

    /// A document was opened or changed.
    pub(crate) fn changed(&self, client: ClientId, document: &Arc<Snapshot>) {
        self.send(Message::Changed(client, Arc::clone(document)));
    }

    /// A document was closed.
    pub(crate) fn closed(&self, client: ClientId, uri: &str) {
        self.lost(client, uri, Rule::Closed);
    }

    /// The text of a document is not known any more.
    pub(crate) fn out_of_sync(&self, client: ClientId, uri: &str) {
        self.lost(client, uri, Rule::Stale);
    }

    fn lost(&self, client: ClientId, uri: &str, rule: Rule) {
        self.send(Message::Lost(client, uri.to_owned(), rule));
    }

    /// Answers a request for suggestions of text at the cursor. Its place among the changes is the one of this call.
    pub(crate) fn complete(
        &self,
        caller: &Caller,
        params: InlineCompleteParams,
        mut reply: Reply<InlineCompleteResult>,
    ) {
        let number = asked::next_number();
        let document = match document(caller, &params.text_document.uri) {
            Ok(document) => document,
            Err(reason) => return drop(reply.send(Ok(asked::nothing(reason)))),
        };
        let key = (caller.id, Arc::clone(&document.uri));
        let asked = match Asked::new(caller.id, params, document, caller.encoding) {
            Ok(asked) => asked,
            Err(reason) => return drop(reply.send(Ok(asked::nothing(reason)))),
        };
        let (answer, answered) = oneshot::channel();
        self.send(Message::Ask(Box::new(Waiting::new(asked, answer, number))));
        let messages = self.messages.clone();
        tokio::spawn(async move {
            tokio::select! {
                answer = answered => drop(reply.send(answer.map_err(ended))),
                () = reply.closed() => drop(messages.send(Message::Withdrawn(key, number))),
            }
        });
    }

    /// Answers a request for the next edit. Its position among the changes is the one of this call.
    pub(crate) fn edit(&self, caller: &Caller, params: InlineEditParams, mut reply: Reply<InlineEditResult>) {
        let client = caller.id;
        let InlineEditParams { text_document, position, trigger, selecting } = params;
        let params =
            InlineCompleteParams { text_document, position, trigger, selecting, selected: None, indentation: None };
        let asked = match document(caller, &params.text_document.uri) {
            Ok(document) => Asked::new(client, params, document, caller.encoding),
            Err(reason) => Err(reason),
        };
        let asked = match asked {
            Ok(asked) => asked,
            Err(reason) => return drop(reply.send(Ok(InlineEditResult { edit: None, reason: Some(reason) }))),
        };
        let (number, (answer, answered)) = (asked::next_number(), oneshot::channel());
        self.send(Message::Edits(EditMessage::Ask(Box::new(WaitingEdit::new(asked, answer, number)))));
        let messages = self.messages.clone();
        tokio::spawn(async move {
            tokio::select! {
                answer = answered => drop(reply.send(answer.map_err(ended))),
                () = reply.closed() => drop(messages.send(Message::Edits(EditMessage::Withdrawn(client, number)))),
            }
        });
    }

    /// Puts a suggested edit, or a part of it, into its document.
    pub(crate) fn accept(&self, client: ClientId, params: InlineAcceptParams, reply: Reply<InlineAcceptResult>) {
        self.send(Message::Edits(EditMessage::Accept(client, params, reply)));
    }

    pub(crate) fn feedback(&self, client: ClientId, params: InlineFeedbackParams) {
        self.send(Message::Feedback(client, params));
    }

    pub(crate) fn explain(&self, client: ClientId, params: InlineExplainParams, reply: Reply<InlineExplainResult>) {
        self.send(Message::Explain(client, params, reply));
    }

    pub(super) fn send(&self, message: Message) {
        // Without the task the process is ending.
        let _ = self.messages.send(message);
    }
}

/// The document that a request is about, as it is now.
///
/// # Errors
/// It is not open, or its text is not known.
fn document(caller: &Caller, uri: &str) -> Result<Arc<Snapshot>, Reason> {
    caller.buffers.by_uri(uri).ok_or_else(|| {
        let open = paths::from_uri(uri).map(|path| caller.buffers.get(&path));
        let rule = if matches!(open, Ok(Open::OutOfSync)) { Rule::Stale } else { Rule::Outside };
        rule.into()
    })
}

fn ended(_: oneshot::error::RecvError) -> Error {
    Error::new(protocol::ErrorCode::InternalError, "suggestions have ended")
}
