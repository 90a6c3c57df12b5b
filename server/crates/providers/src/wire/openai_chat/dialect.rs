//! What servers want differently.

use crate::wire::Target;
use crate::wire::tool_ids::Rule;

/// What the names of Mistral's models hold, whoever serves them.
const MISTRALS: &[&str] = &["mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"];

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
    /// Whether it refuses calls without that field, even where the thinking is not known.
    pub(super) needs_thinking: bool,
    /// Whether the user may speak right after a tool. Where not, what is said goes with the tool's result.
    pub(super) takes_user_after_tool: bool,
    /// The ids that it takes.
    pub(super) ids: Rule,
}

/// The dialect of a provider; a server we do not know gets what most understand.
pub(super) fn of(target: &Target) -> Dialect {
    let model = target.model.to_lowercase();
    // Mistral's server and the templates of its models refuse a user who speaks after a tool.
    let takes_user_after_tool = !MISTRALS.iter().any(|name| model.contains(name));
    let common = Dialect {
        says_completion_tokens: false,
        asks_for_usage: true,
        takes_cache_key: false,
        thinking_field: None,
        needs_thinking: false,
        takes_user_after_tool,
        ids: Rule::Plain,
    };
    match target.provider.as_str() {
        "openai" => Dialect { says_completion_tokens: true, takes_cache_key: true, ..common },
        // It always counts, and refuses fields that it does not know.
        "mistral" => Dialect { asks_for_usage: false, takes_user_after_tool: false, ids: Rule::Nine, ..common },
        // Within a round of tool calls it refuses to go on without its thinking.
        "deepseek" => Dialect { thinking_field: Some("reasoning_content"), needs_thinking: true, ..common },
        "openrouter" => Dialect { thinking_field: Some("reasoning"), ..common },
        // Their templates put the thinking of the round back before the model.
        "llama.cpp" | "lm-studio" => Dialect { thinking_field: Some("reasoning_content"), ..common },
        "ollama" => Dialect { thinking_field: Some("reasoning"), ..common },
        _ => common,
    }
}
