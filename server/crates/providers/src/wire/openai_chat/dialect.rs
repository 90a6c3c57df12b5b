//! The differences in what servers want, as a request is written.

use crate::compat::{AskThinking, CallContent, MaxTokensField};
use crate::data::Thinking;
use crate::wire::tool_ids::Rule;
use crate::wire::{Target, images};

/// The words in the names of Mistral's models, whoever serves them.
const MISTRALS: &[&str] = &["mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"];

/// The way to write a request for a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// True if the longest answer is called `max_completion_tokens` and not `max_tokens`.
    pub(super) completion_tokens: bool,
    /// True if it knows `stream_options`, without which others do not count.
    pub(super) stream_options: bool,
    /// True if it routes by `prompt_cache_key`.
    pub(super) cache_key: bool,
    /// True if it refuses answers without `reasoning_content`, even where the thinking is not known.
    pub(super) thinking: bool,
    /// True if it refuses a step of calls without a signature, even where none of them is its own.
    pub(super) signature: bool,
    /// True if the user may speak right after a tool. Where not, what is said goes with the tool's result.
    pub(super) user_after_tool: bool,
    /// The role of the system prompt.
    pub(super) system: &'static str,
    /// The way in which it is asked to let a model think.
    pub(super) ask: AskThinking,
    /// True if it is told to keep nothing.
    pub(super) store: bool,
    /// The content of an answer that only calls tools.
    pub(super) call_content: CallContent,
    /// The ids that it takes.
    pub(super) ids: Rule,
}

impl Wants {
    /// The type of an image as the server calls it; none if it does not read it. Who wants signatures is Google.
    pub(super) fn reads_image(self, mime_type: &str) -> Option<&'static str> {
        if self.signature { images::read_by_google(mime_type) } else { images::read_by_most(mime_type) }
    }
}

/// Returns the way to write a request for a model.
pub(super) fn wants(target: &Target) -> Wants {
    let model = target.model.to_lowercase();
    let compat = &target.compat;
    // The templates of Mistral's models refuse a user who speaks after a tool, whoever serves them.
    let is_mistral = MISTRALS.iter().any(|name| model.contains(name));
    // OpenAI's reasoning models refuse `max_tokens`, also behind a gateway.
    let usual = if target.thinking == Thinking::Effort {
        MaxTokensField::MaxCompletionTokens
    } else {
        MaxTokensField::MaxTokens
    };
    Wants {
        completion_tokens: compat.max_tokens_field.unwrap_or(usual) == MaxTokensField::MaxCompletionTokens,
        stream_options: compat.stream_options.unwrap_or(true),
        cache_key: compat.prompt_cache_key.unwrap_or(false),
        thinking: compat.reasoning_content.unwrap_or(false),
        signature: compat.call_signatures.unwrap_or(false),
        user_after_tool: compat.user_after_tool.unwrap_or(!is_mistral),
        system: if compat.developer_role == Some(true) { "developer" } else { "system" },
        ask: compat.thinking.unwrap_or(AskThinking::None),
        store: compat.store.unwrap_or(false),
        call_content: compat.call_content.unwrap_or(CallContent::Null),
        ids: if compat.short_call_ids == Some(true) { Rule::Nine } else { Rule::Forty },
    }
}
