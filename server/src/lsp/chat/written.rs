//! Prompts from elsewhere as text of a chat document.

use std::path::PathBuf;

use project::buffers::Buffers;
use protocol::PromptBlock;

use super::document;
use crate::front::{mentions, names};

/// A prompt as it is written into a chat: [`mentions::blocks`] makes the same of it. Blocks.
pub(super) fn written(prompt: &[PromptBlock], folders: &[PathBuf], buffers: &Buffers) -> String {
    let mention = |uri: &str| names::path(uri).map(|path| mentions::written(&path, folders, buffers));
    let parts = prompt.iter().filter_map(|block| match block {
        PromptBlock::Text { text } => Some(document::quoted(text.trim_end())),
        PromptBlock::File { uri } => mention(uri),
        PromptBlock::Range { uri, range } | PromptBlock::Selection { uri, range, .. } => {
            let [first, last] = range.lines().map(|line| line.saturating_add(1));
            mention(uri).map(|name| format!("{name}:{first}-{last}"))
        }
        PromptBlock::Image { .. } => None,
    });
    parts.collect::<Vec<_>>().join("\n\n")
}
