//! A client that is connected: what the ingress does with each of its messages. All of it is done at once, in the
//! order of the wire; whatever takes time is the hub's or the outbox's.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use hub::chat_name::is_chat;
use hub::request::{read, write};
use hub::{Answer, Board, Connection, Error, Input};
use project::paths;
use protocol::event::Severity;
use protocol::inline::{InlineEditResult, InlineEvent};
use protocol::methods;
use protocol::session::PromptPutParams;
use protocol::turn::TurnCancelParams;
use serde_json::{Value, json};

use super::SECTION;
use super::abilities::Abilities;
use super::asking::Asking;
use super::chat::{self, Chats};
use super::commands::{self, Action, QUICK_FIX};
use super::copilot::{self, DidShow, InlineEdits};
use super::inline::{self, InlineCompletion, OfItem};
use super::menu::{self, Menu};
use super::messages::{
    CodeActions, DidChange, DidChangeConfiguration, DidChangeWatchedFiles, DidChangeWorkspaceFolders, DidOpen, DidSave,
    ExecuteCommand, OfDocument, ProgressCancel,
};
use super::next_edits::NextEdits;
use super::outbox::Outbox;
use super::workflows::Start;
use super::{instructions, progress, review, suggesting, workflows};
use crate::front::names::{Names, path};
use crate::front::settings::{self, Settings};

/// A connected client.
pub(super) struct Connected {
    pub(super) connection: Arc<Connection>,
    pub(super) outbox: Outbox,
    pub(super) abilities: Arc<Abilities>,
    pub(super) names: Arc<Names>,
    pub(super) settings: Arc<Settings>,
    pub(super) board: Board,
    /// The suggested edits that the client is shown.
    pub(super) edits: Arc<NextEdits>,
    pub(super) asking: Asking,
    /// Chats in documents; none for a client with a panel.
    pub(super) chats: Option<Chats>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) log_file: PathBuf,
}

/// Documents, files, folders, settings.
impl Connected {
    pub(super) fn initialized(&mut self, _: Value) {
        self.outbox.ready();
    }

    pub(super) fn did_open(&mut self, params: DidOpen) {
        let document = params.text_document;
        if !is_file(&document.uri) {
            return;
        }
        let Some(file) = self.names.opened(&document.uri) else { return };
        let chat = self.chats.as_ref().filter(|_| is_chat(&document.uri));
        let chat = chat.map(|chats| (chats, document.uri.clone(), document.text.clone()));
        self.connection.post(Input::Opened {
            uri: document.uri,
            language: document.language_id,
            version: document.version,
            text: document.text,
            file: file.clone().map(Some).boxed(),
        });
        // A chat looks for its document among those that the hub knows, so the hub hears of it first.
        if let Some((chats, uri, text)) = chat {
            chats.opened(&uri, &text);
        }
        let outbox = self.outbox.clone();
        tokio::spawn(file.map(move |_| outbox.renamed()));
    }

    pub(super) fn did_change(&mut self, params: DidChange) {
        if is_file(&params.text_document.uri) {
            let (uri, version) = (params.text_document.uri.clone(), params.text_document.version);
            let cursor = self.asking.cursor(&params, self.abilities.encoding);
            self.connection.post(Input::Changed { uri: uri.clone(), version, changes: params.changes() });
            self.asking.changed(&uri, version, cursor);
        }
    }

    pub(super) fn did_save(&mut self, params: DidSave) {
        if is_file(&params.text_document.uri) {
            self.connection.post(Input::Saved { uri: params.text_document.uri, text: params.text });
        }
    }

    pub(super) fn did_close(&mut self, params: OfDocument) {
        let uri = params.text_document.uri;
        if is_file(&uri) {
            self.names.closed(&uri);
            self.asking.closed(&uri);
            if let Some(chats) = self.chats.as_ref().filter(|_| is_chat(&uri)) {
                chats.closed(&uri);
            }
            self.connection.post(Input::Closed { uri });
            self.outbox.renamed();
        }
    }

    pub(super) fn did_change_watched_files(&mut self, params: DidChangeWatchedFiles) {
        let paths: Vec<_> = params.changes.iter().filter_map(|change| path(&change.uri)).collect();
        if paths.iter().any(|path| path.ends_with(".azimuth/config.toml")) {
            self.reload();
        }
        self.connection.post(Input::FilesChanged { paths });
    }

    pub(super) fn did_change_workspace_folders(&mut self, params: DidChangeWorkspaceFolders) {
        let removed: Vec<_> = params.event.removed.iter().filter_map(|folder| path(&folder.uri)).collect();
        self.folders.retain(|folder| !removed.contains(folder));
        for folder in params.event.added.iter().filter_map(|folder| path(&folder.uri)) {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        self.settings.set_folders(self.folders.clone());
        self.names.set_folders(&self.folders);
        if let Some(chats) = &self.chats {
            chats.set_folders(self.folders.clone());
        }
        self.connection.post(Input::FoldersChanged { folders: self.folders.clone() });
        self.reload();
    }

    /// Takes our settings from the message, which hold for all that comes after it. What it does not say is asked for,
    /// and holds once the client has answered.
    pub(super) fn did_change_configuration(&mut self, params: DidChangeConfiguration) {
        if let Some(ours) = params.settings.get(SECTION).filter(|ours| !ours.is_null()) {
            self.settings.take_settings(SECTION, ours.clone());
            self.reload();
        }
        self.outbox.pull_settings();
    }

    fn reload(&self) {
        settings::reload(&self.settings, &self.connection, self.outbox.speaker());
    }

    pub(super) fn did_show_completion(&mut self, params: OfItem) {
        self.tell_of_suggestion(params, InlineEvent::Shown);
    }

    pub(super) fn did_partially_accept_completion(&mut self, params: OfItem) {
        self.tell_of_suggestion(params, InlineEvent::Partly);
    }

    pub(super) fn did_show_inline_edit(&mut self, params: DidShow) {
        if let Some(feedback) = params.feedback() {
            self.connection.tell::<methods::InlineFeedback>(feedback);
        }
    }

    fn tell_of_suggestion(&self, params: OfItem, event: InlineEvent) {
        if let Some(feedback) = params.feedback(event) {
            self.connection.tell::<methods::InlineFeedback>(feedback);
        }
    }

    pub(super) fn progress_cancel(&mut self, params: ProgressCancel) {
        if let Some((session, turn)) = progress::turn_of(&params.token) {
            let params = TurnCancelParams { session_id: session, turn_id: Some(turn) };
            self.connection.tell::<methods::TurnCancel>(params);
        }
    }
}

/// Requests.
impl Connected {
    pub(super) fn code_action(&mut self, params: CodeActions) -> Answer {
        let uri = &params.text_document.uri;
        if let Some(chats) = &self.chats {
            let actions = chats.actions(uri, &self.board.watch().borrow(), &self.abilities);
            if let Some(actions) = actions {
                let wanted = if params.wants(QUICK_FIX) { actions } else { Vec::new() };
                return ready(write(&wanted)).boxed();
            }
        }
        let (board, abilities) = (self.board.clone(), Arc::clone(&self.abilities));
        let (connection, folders) = (Arc::clone(&self.connection), self.folders.clone());
        let edits = Arc::clone(&self.edits);
        let offers_workflows = self.settings.offers_workflows();
        let file = self.names.file(uri);
        async move {
            let Some(file) = file.await else { return write(&json!([])) };
            let mut actions = match params.wants(QUICK_FIX) {
                true => review::actions(&board.watch().borrow(), &file, &params, &abilities),
                false => Vec::new(),
            };
            // The user's last typing is in the text that the problems and the place are of.
            connection.caught_up().await;
            actions.extend(edits.actions(&params, &abilities));
            let document = connection.buffers().by_uri(&params.text_document.uri).filter(|_| offers_workflows);
            if let Some(document) = document {
                let begun = tokio::task::spawn_blocking(move || {
                    let change = instructions::action(&params, &file, &document, &folders, &abilities);
                    let begun = workflows::actions(&params, &file, document.normal(), &folders, &abilities);
                    change.into_iter().chain(begun).collect::<Vec<_>>()
                });
                actions.extend(begun.await.unwrap_or_default());
            }
            write(&actions)
        }
        .boxed()
    }

    pub(super) fn code_lens(&mut self, params: OfDocument) -> Answer {
        let board = self.board.clone();
        let file = self.names.file(&params.text_document.uri);
        let lenses = move |file: Option<PathBuf>| {
            file.map(|file| review::lenses(&board.watch().borrow(), &file)).unwrap_or_default()
        };
        file.map(move |file| write(&lenses(file))).boxed()
    }

    pub(super) fn inline_completion(&mut self, params: InlineCompletion) -> Answer {
        let (request, answer) = hub::request_of::<methods::InlineComplete>(params.into());
        self.connection.post(Input::Request(request));
        async move { write(&inline::answer(&read(&answer.await?)?)) }.boxed()
    }

    /// Answers within a bounded time; a request that takes longer goes on for the keys that follow.
    pub(super) fn completion(&mut self, params: Menu) -> Answer {
        let abilities = &self.abilities;
        let is_offered = suggesting::in_menu(abilities, *self.settings.suggestions().borrow());
        let Some(menu) = abilities.completion.filter(|_| is_offered) else {
            return ready(write(&menu::off())).boxed();
        };
        let (encoding, connection) = (abilities.encoding, Arc::clone(&self.connection));
        let (uri, cursor) = (params.text_document.uri.clone(), params.position);
        let (request, mut answer) = hub::request_of::<methods::InlineComplete>(params.into());
        connection.post(Input::Request(request));
        async move {
            let Ok(result) = tokio::time::timeout(menu::PATIENCE, &mut answer).await else {
                tokio::spawn(tokio::time::timeout(menu::LATE, answer));
                return write(&menu::nothing_yet());
            };
            let document = connection.buffers().by_uri(&uri);
            write(&menu::answer(&read(&result?)?, cursor, document.as_deref(), encoding, menu))
        }
        .boxed()
    }

    pub(super) fn copilot_inline_edit(&mut self, params: InlineEdits) -> Answer {
        self.asking.leave();
        let uri = params.text_document.uri.clone();
        let (request, answer) = hub::request_of::<methods::InlineEdit>(params.into());
        self.connection.post(Input::Request(request));
        async move {
            let result: InlineEditResult = read(&answer.await?)?;
            write(&copilot::answer(&uri, result.edit.as_ref()))
        }
        .boxed()
    }

    pub(super) fn execute_command(&mut self, params: ExecuteCommand) -> Result<Answer, Error> {
        match commands::read(params)? {
            Action::Post(request, answer) => {
                self.connection.post(Input::Request(request));
                // A command has no result; what it did shows.
                Ok(answer.map(|result| result.and_then(|_| write(&()))).boxed())
            }
            Action::SendChat(uri) => {
                let chats = self.chats.as_ref().ok_or_else(no_chats)?;
                let sent = chats.send(&uri);
                Ok(async { sent.await.unwrap_or_else(|_| Err(no_chats())).and_then(|()| write(&())) }.boxed())
            }
            Action::Fill(fill) => {
                self.chats.as_ref().ok_or_else(no_chats)?.fill(&fill);
                Ok(ready(write(&())).boxed())
            }
            Action::OpenChat => {
                let (outbox, folder) = (self.outbox.clone(), self.folders.first().cloned());
                Ok(async move {
                    outbox.show_document(&paths::to_uri(&chat::document(folder).await?), None);
                    write(&())
                }
                .boxed())
            }
            Action::AcceptEdit(target) => Ok(self.asking.accept(target)),
            Action::ShowEdit(commands::ShowEdit { uri, position }) => {
                self.outbox.show_document(&uri, Some(position));
                Ok(ready(write(&())).boxed())
            }
            Action::RejectEdit(target) => {
                self.asking.reject(target);
                Ok(ready(write(&())).boxed())
            }
            Action::StartWorkflow(start) => Ok(self.start_workflow(start)),
            Action::OpenLog => {
                self.outbox.show_document(&paths::to_uri(&self.log_file), None);
                Ok(ready(write(&())).boxed())
            }
        }
    }
}

/// Workflows.
impl Connected {
    /// Puts the prompt of a workflow into the chat: into the panel, or a chat document, which is shown.
    fn start_workflow(&self, start: Start) -> Answer {
        let file = self.names.file(&start.uri);
        let (outbox, chats, folders) = (self.outbox.clone(), self.chats.clone(), self.folders.clone());
        async move {
            let file = file.await.ok_or_else(|| {
                let text = format!("{} is not a file, so Azimuth cannot be asked about it", start.uri);
                Error::new(protocol::ErrorCode::InvalidParams, text)
            })?;
            let workflow = start.workflow();
            let prompt = workflow.prompt(&start.subject(paths::to_uri(&file)));
            let Some(chats) = chats else {
                outbox.put_prompt(PromptPutParams { prompt, send: workflow.is_whole() });
                return write(&());
            };
            let folder = folders.iter().find(|folder| file.starts_with(folder)).or(folders.first()).cloned();
            let uri = match chats.open_in(folder.as_deref()) {
                Some(uri) => uri,
                None => paths::to_uri(&chat::document(folder.clone()).await?),
            };
            outbox.show_document(&uri, None);
            if let Some(word) = chats.put(folder.as_deref(), prompt, workflow.is_whole()).await? {
                outbox.say(Severity::Info, word.to_owned());
            }
            write(&())
        }
        .boxed()
    }
}

fn no_chats() -> Error {
    let text = "chat documents are for editors without Azimuth's panel; use the panel";
    Error::new(protocol::ErrorCode::InvalidParams, text)
}

/// Documents that are no files (new ones without a name, notebooks' cells, views of version control) are none of ours.
fn is_file(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"))
}
