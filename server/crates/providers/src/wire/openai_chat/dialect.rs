//! What servers want differently.

use crate::wire::tool_ids::Rule;

/// How to write a request for a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Whether the longest answer is called `max_completion_tokens` and not `max_tokens`.
    pub(super) says_completion_tokens: bool,
    /// Whether it knows `stream_options`, without which others do not count.
    pub(super) asks_for_usage: bool,
    /// Whether it routes by `prompt_cache_key`.
    pub(super) takes_cache_key: bool,
    /// The field in which it wants a model's thinking back; none where it refuses unknown fields.
    pub(super) thinking_field: Option<&'static str>,
    /// The ids that it takes.
    pub(super) ids: Rule,
}

/// The dialect of a provider; a server we do not know gets what most understand.
pub(super) fn of(provider: &str) -> Dialect {
    let common = Dialect {
        says_completion_tokens: false,
        asks_for_usage: true,
        takes_cache_key: false,
        thinking_field: None,
        ids: Rule::Plain,
    };
    match provider {
        "openai" => Dialect { says_completion_tokens: true, takes_cache_key: true, ..common },
        // It always counts, and refuses fields that it does not know.
        "mistral" => Dialect { asks_for_usage: false, ids: Rule::Nine, ..common },
        // Within a round of tool calls it refuses to go on without its thinking.
        "deepseek" => Dialect { thinking_field: Some("reasoning_content"), ..common },
        "openrouter" => Dialect { thinking_field: Some("reasoning"), ..common },
        // Their templates put the thinking of the round back before the model.
        "llama.cpp" | "lm-studio" => Dialect { thinking_field: Some("reasoning_content"), ..common },
        "ollama" => Dialect { thinking_field: Some("reasoning"), ..common },
        _ => common,
    }
}
