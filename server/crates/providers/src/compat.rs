//! The differences between servers that speak the same wire format, as flags. The flags of the vendors' hosts are in
//! `providers.toml`; the user's own override them (`providers.NAME.compat`).

use std::collections::BTreeMap;

use net::header::HeaderValue;
use protocol::model::ThinkingLevel;
use serde::{Deserialize, de};

use crate::secret::Secret;

/// The flags of a server. One that is not set says nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compat {
    /// The name of the field for the longest answer, in Chat Completions.
    pub max_tokens_field: Option<MaxTokensField>,
    /// True if it takes `stream_options`, without which most servers do not count tokens.
    pub stream_options: Option<bool>,
    /// True if it routes requests by `prompt_cache_key`.
    pub prompt_cache_key: Option<bool>,
    /// True if it refuses an answer of the model's without `reasoning_content`, even where the thinking is not known.
    pub reasoning_content: Option<bool>,
    /// True if it refuses a step of calls whose first has no signature, even where none of them is its own (Gemini).
    pub call_signatures: Option<bool>,
    /// True if the user may speak right after a tool.
    pub user_after_tool: Option<bool>,
    /// True if the ids of calls must have nine letters and digits (Mistral).
    pub short_call_ids: Option<bool>,
    /// True if the system prompt has the role `developer`.
    pub developer_role: Option<bool>,
    /// True if `strict` may be said of a tool. Over Chat Completions it never is.
    pub strict: Option<bool>,
    /// True if it is told with `store` to keep nothing of the conversation. If nothing is said, it is told so over
    /// Responses, and not over Chat Completions.
    pub store: Option<bool>,
    /// The content of an answer of the model's that only calls tools, in Chat Completions.
    pub call_content: Option<CallContent>,
    /// The way in which thinking is asked for, in Chat Completions.
    pub thinking: Option<AskThinking>,
    /// The server's names for levels of thinking, if they are others than ours, where it is asked for by an effort.
    pub efforts: Option<BTreeMap<ThinkingLevel, String>>,
    /// True if it takes what is still a beta of Anthropic's. Gateways refuse it.
    pub betas: Option<bool>,
    /// True if a conversation may change the effort of a model within its messages (Anthropic's beta).
    pub effort_messages: Option<bool>,
    /// True if it says why its cache missed, where the request before is named (Anthropic).
    pub cache_diagnosis: Option<bool>,
    /// True if it keeps a prompt for an hour where it is asked to (Anthropic).
    pub cache_hour: Option<bool>,
    /// True if the input of a tool may come as the model writes it, unchecked (Anthropic).
    pub eager_input_streaming: Option<bool>,
    /// The header that carries the key.
    pub key_header: Option<KeyHeader>,
    /// True if it wants to know by `x-opencode-session` which requests belong to one conversation: OpenCode refuses
    /// requests without it (github.com/tingly-dev/tingly-box/pull/1715).
    pub opencode_session: Option<bool>,
}

/// The name of the field for the longest answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, which most servers understand.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// The content of a message of the model's that has calls and no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallContent {
    /// `null`, which most servers understand; some look for the field.
    Null,
    /// An empty text, for servers that refuse `null`.
    Empty,
    /// The field is not there, for servers that refuse both.
    LeftOut,
}

/// The way in which a server is asked to let a model think.
///
/// The names and bodies are those of npm `@earendil-works/pi-ai` 1.5.2 (`thinkingFormat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskThinking {
    /// Not at all.
    None,
    /// `reasoning_effort: "medium"`.
    ReasoningEffort,
    /// `reasoning: { effort: "medium" }` (OpenRouter).
    Reasoning,
    /// `reasoning: { enabled: true }` (Together).
    ReasoningEnabled,
    /// `thinking: { type: "enabled" }` (DeepSeek, Moonshot, Z.ai).
    ThinkingType,
    /// `enable_thinking: true` (Qwen).
    EnableThinking,
    /// `chat_template_kwargs: { enable_thinking: true }` (vLLM and llama.cpp, for templates that have it).
    ChatTemplateKwargs,
}

impl AskThinking {
    /// The way with this name in the configuration and the data files.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let name = de::value::StrDeserializer::<de::value::Error>::new(name);
        Self::deserialize(name).ok()
    }
}

/// The header that carries a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHeader {
    /// `authorization`, with `Bearer` before the key.
    Authorization,
    /// `x-api-key` (Anthropic).
    XApiKey,
    /// `api-key` (Azure).
    ApiKey,
}

impl KeyHeader {
    /// The header with this key, hidden from `Debug`; none if the key holds what no header can.
    pub(crate) fn with(self, key: &Secret) -> Option<(&'static str, HeaderValue)> {
        let (name, value) = match self {
            Self::Authorization => ("authorization", format!("Bearer {}", key.expose())),
            Self::XApiKey => ("x-api-key", key.expose().to_owned()),
            Self::ApiKey => ("api-key", key.expose().to_owned()),
        };
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }
}

impl Compat {
    /// These flags, and where they say nothing, those of `under`.
    #[must_use]
    pub fn over(&self, under: &Self) -> Self {
        Self {
            max_tokens_field: self.max_tokens_field.or(under.max_tokens_field),
            stream_options: self.stream_options.or(under.stream_options),
            prompt_cache_key: self.prompt_cache_key.or(under.prompt_cache_key),
            reasoning_content: self.reasoning_content.or(under.reasoning_content),
            call_signatures: self.call_signatures.or(under.call_signatures),
            user_after_tool: self.user_after_tool.or(under.user_after_tool),
            short_call_ids: self.short_call_ids.or(under.short_call_ids),
            developer_role: self.developer_role.or(under.developer_role),
            strict: self.strict.or(under.strict),
            store: self.store.or(under.store),
            call_content: self.call_content.or(under.call_content),
            thinking: self.thinking.or(under.thinking),
            efforts: self.efforts.clone().or_else(|| under.efforts.clone()),
            betas: self.betas.or(under.betas),
            effort_messages: self.effort_messages.or(under.effort_messages),
            cache_diagnosis: self.cache_diagnosis.or(under.cache_diagnosis),
            cache_hour: self.cache_hour.or(under.cache_hour),
            eager_input_streaming: self.eager_input_streaming.or(under.eager_input_streaming),
            key_header: self.key_header.or(under.key_header),
            opencode_session: self.opencode_session.or(under.opencode_session),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_that_is_set_counts_and_the_rest_is_that_of_the_host() {
        let host = Compat { reasoning_content: Some(true), strict: Some(false), ..Compat::default() };
        let own = Compat { reasoning_content: Some(false), betas: Some(true), ..Compat::default() };
        let expected =
            Compat { reasoning_content: Some(false), strict: Some(false), betas: Some(true), ..Compat::default() };
        assert_eq!(own.over(&host), expected);
    }
}
