//! The differences in what servers want.

use net::Url;

use crate::wire::Target;
use crate::wire::tool_ids::Rule;

/// The words in the names of Mistral's models, whoever serves them.
const MISTRALS: &[&str] = &["mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"];

/// The vendors' hosts, and their subdomains.
///
/// Moonshot and Xiaomi refuse answers without thinking as DeepSeek does (`thinking is enabled but reasoning_content is
/// missing in assistant tool call message`, github.com/anomalyco/opencode/issues/16318; the flag
/// `requiresReasoningContentOnAssistantMessages` of npm `@earendil-works/pi-ai` 1.5.2).
const HOSTS: &[(&str, Dialect)] = &[
    ("api.openai.com", Dialect::OpenAi),
    ("api.mistral.ai", Dialect::Mistral),
    ("codestral.mistral.ai", Dialect::Mistral),
    ("api.deepseek.com", Dialect::DeepSeek),
    ("api.moonshot.ai", Dialect::DeepSeek),
    ("api.moonshot.cn", Dialect::DeepSeek),
    ("api.kimi.com", Dialect::DeepSeek),
    ("xiaomimimo.com", Dialect::DeepSeek),
    ("generativelanguage.googleapis.com", Dialect::Gemini),
    ("aiplatform.googleapis.com", Dialect::Gemini),
];

/// The vendor whose Chat Completions a server speaks. It follows the host, or the setting `dialect`.
///
/// The dialect does not cover what a vendor wants back of what it sent: that goes back as it came, whoever sent it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The dialect that most servers understand.
    #[default]
    Plain,
    /// OpenAI's own.
    OpenAi,
    /// Mistral's.
    Mistral,
    /// DeepSeek's, Moonshot's and Xiaomi's: every answer has the thinking that led to it.
    DeepSeek,
    /// Google's for Gemini: every step's first call has a signature.
    Gemini,
}

impl Dialect {
    /// The names that the configuration has for them.
    pub const NAMES: &[(&str, Self)] = &[
        ("plain", Self::Plain),
        ("openai", Self::OpenAi),
        ("mistral", Self::Mistral),
        ("deepseek", Self::DeepSeek),
        ("gemini", Self::Gemini),
    ];

    /// The one with this name in the configuration.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, dialect)| *dialect)
    }

    /// The one of the server at an address.
    pub(crate) fn of_address(base_url: &str) -> Self {
        let url = Url::parse(base_url.trim()).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let is_at = |home: &str| {
            // Google's regions stand before the host with a hyphen: `us-central1-aiplatform.googleapis.com`.
            host.strip_suffix(home).is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', '-']))
        };
        HOSTS.iter().find(|(home, _)| is_at(home)).map(|(_, dialect)| *dialect).unwrap_or_default()
    }
}

/// The way to write a request for a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    /// True if the longest answer is called `max_completion_tokens` and not `max_tokens`.
    pub(super) completion_tokens: bool,
    /// True if it knows `stream_options`, without which others do not count.
    pub(super) stream_options: bool,
    /// True if it routes by `prompt_cache_key`.
    pub(super) cache_key: bool,
    /// True if it refuses answers without `reasoning_content`, even where the thinking is not known. DeepSeek looks for
    /// it in those without calls too, where others have some (github.com/NousResearch/hermes-agent/pull/14941).
    pub(super) thinking: bool,
    /// True if it refuses a step of calls without a signature, even where none of them is its own.
    pub(super) signature: bool,
    /// True if the user may speak right after a tool. Where not, what is said goes with the tool's result.
    pub(super) user_after_tool: bool,
    /// The ids that it takes.
    pub(super) ids: Rule,
}

/// Returns the way to write a request for a model.
pub(super) fn wants(target: &Target) -> Wants {
    let model = target.model.to_lowercase();
    let dialect = target.dialect;
    // Mistral's server and the templates of its models refuse a user who speaks after a tool.
    let is_mistral = dialect == Dialect::Mistral || MISTRALS.iter().any(|name| model.contains(name));
    Wants {
        // OpenAI's reasoning models refuse `max_tokens`, also behind a gateway.
        completion_tokens: dialect == Dialect::OpenAi || target.thinking == crate::data::Thinking::Effort,
        // Mistral's server always counts, and refuses fields that it does not know.
        stream_options: dialect != Dialect::Mistral,
        cache_key: dialect == Dialect::OpenAi,
        thinking: dialect == Dialect::DeepSeek,
        signature: dialect == Dialect::Gemini,
        user_after_tool: !is_mistral,
        ids: if dialect == Dialect::Mistral { Rule::Nine } else { Rule::Plain },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_follows_the_host_and_its_subdomains() {
        for (address, dialect) in [
            ("https://api.openai.com/v1", Dialect::OpenAi),
            ("https://eu.api.openai.com", Dialect::OpenAi),
            ("https://api.moonshot.ai/v1", Dialect::DeepSeek),
            ("https://token-plan-sgp.xiaomimimo.com/v1", Dialect::DeepSeek),
            ("https://generativelanguage.googleapis.com/v1beta/openai/", Dialect::Gemini),
            ("https://us-central1-aiplatform.googleapis.com/v1/projects/p", Dialect::Gemini),
            ("https://API.MISTRAL.AI", Dialect::Mistral),
            ("https://notapi.openai.com.example/v1", Dialect::Plain),
            ("https://fakeapi.openai.com/v1", Dialect::Plain),
            ("http://127.0.0.1:8080", Dialect::Plain),
            ("no address", Dialect::Plain),
        ] {
            assert_eq!(Dialect::of_address(address), dialect, "{address}");
        }
    }
}
