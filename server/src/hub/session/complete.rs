//! Completion of prompts: slash commands and their arguments, and files after `@` (001 §26).

use std::sync::Arc;

use agent::commands::{self, Token};
use protocol::model::ModelInfo;
use protocol::session::{CompletionItem, CompletionKind, PromptCompleteParams, PromptCompleteResult};
use workspace::paths;

use super::Session;
use crate::hub::Reply;

impl Session {
    pub(super) fn complete(&mut self, params: PromptCompleteParams, reply: Reply<PromptCompleteResult>) {
        let (shared, index, roots) = (self.shared.clone(), Arc::clone(&self.files), Arc::clone(&self.roots));
        let store = Arc::clone(&self.shared.parts.store);
        let folders = self.state.folders.clone();
        tokio::spawn(async move {
            let text = params.text;
            let cursor = byte_offset(&text, params.cursor);
            let token = commands::token_at_cursor(&text, cursor);
            let items = match &token {
                _ => Vec::new(),
            };
            let _ = reply.send(Ok(PromptCompleteResult { start: 0, end: 0, items }));
        });
    }
}
