//! Suggestions as the client is told of them: registrations, hints, and their state.

use hub::board::Reviews;
use protocol::inline::{InlineChangedParams, InlineEditResult, InlineEvent, InlineFeedbackParams, InlineStatusParams};
use protocol::methods::{self, Notification as _};
use serde_json::{Value, json};

use super::{Command, Done, Outbox, Task};

impl Outbox {
    /// The suggested edits that the client is shown are other ones.
    pub(in crate::lsp) fn show_edits(&self) {
        self.send(Command::Hints);
    }

    /// The next edit was asked for in the client's name, about a document, and this is the answer. It takes the same
    /// way as the changes of edits, so that it overtakes none.
    pub(in crate::lsp) fn edit_answered(&self, asked: String, result: InlineEditResult) {
        self.send(Command::EditAnswered(asked, result));
    }
}

impl Task {
    /// Takes the state of suggestions.
    pub(super) async fn suggests(&mut self, status: InlineStatusParams) {
        self.suggesting.take(&status);
        self.register();
        if status.edit_model.is_none() {
            self.parts.edits.end();
            self.show_hints().await;
        }
        self.outbox.send(Command::Tell(methods::InlineStatus::METHOD, json!(status)));
    }

    /// The settings have changed.
    pub(super) async fn settings_changed(&mut self) {
        self.register();
        if self.parts.settings.shows_edits() != Some(true) {
            self.parts.edits.end();
            self.show_hints().await;
        }
    }

    /// Makes the registrations fit the state of suggestions and the settings.
    fn register(&mut self) {
        let suggestions = *self.suggestions.borrow_and_update();
        for (method, params) in self.suggesting.update(&self.parts.abilities, suggestions) {
            self.request(method, params, |_| Done::Nothing);
        }
    }

    /// Takes the change of a suggested edit.
    pub(super) async fn edit_changed(&mut self, params: InlineChangedParams) {
        if self.parts.edits.changed(params.clone(), self.connection.buffers()) {
            self.show_hints().await;
        } else {
            self.outbox.send(Command::Tell(methods::InlineChanged::METHOD, json!(params)));
        }
    }

    /// Takes the answer to a request for the next edit.
    pub(super) async fn edit_answered(&mut self, asked: &str, result: InlineEditResult) {
        if self.parts.settings.shows_edits() != Some(true) {
            return;
        }
        let id = result.edit.as_ref().map(|edit| edit.id.clone());
        self.parts.edits.answered(asked, result, self.connection.buffers());
        self.show_hints().await;
        if let Some(id) = id {
            let shown = InlineFeedbackParams { id, event: InlineEvent::Shown, hunk: None, length: None };
            self.connection.tell::<methods::InlineFeedback>(shown);
        }
    }

    /// Shows what is pending and suggested now, for a client without a panel.
    pub(super) async fn show_hints(&mut self) {
        if self.parts.abilities.azimuth.panel {
            return;
        }
        let reviews = Reviews::clone(&self.parts.reviews.borrow_and_update());
        let (names, encoding) = (&self.parts.names, self.parts.abilities.encoding);
        let changes = self.shown.update(&reviews, names, encoding, self.parts.edits.hints());
        if changes.is_empty() {
            return;
        }
        for params in changes {
            self.notify("textDocument/publishDiagnostics", params).await;
        }
        if self.parts.abilities.refresh_lenses {
            self.request("workspace/codeLens/refresh", Value::Null, |_| Done::Nothing);
        }
    }
}
