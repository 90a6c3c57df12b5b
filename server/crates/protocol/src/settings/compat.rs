//! The settings of what a server wants or refuses: for a provider, and for one of its models.

use super::DefaultValue::Unset;
use super::Kind::{Choice, Flag, Texts};
use super::{Setting, USER};

/// The rows under names that begin so, with these words for the default.
macro_rules! flags {
    ($before:literal, $usual:literal) => {
        &[
            Setting {
                name: concat!($before, "max_tokens_field"),
                kind: Choice(&[
                    ("max_tokens", "as most servers have it"),
                    ("max_completion_tokens", "as OpenAI has it"),
                ]),
                default: Unset($usual),
                who: USER,
                words: "The name of the field for the longest answer, in Chat Completions.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "stream_options"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send `stream_options`, without which most servers do not count tokens.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "prompt_cache_key"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send `prompt_cache_key` over Chat Completions.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "reasoning_content"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send `reasoning_content` with each answer of the model, even if its thinking is not known.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "call_signatures"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send a signature with each first call of a step, as Gemini asks for it.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "user_after_tool"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Let a message of yours follow a tool's result. If not, it is added to the result.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "short_call_ids"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send ids of nine letters and digits for calls, as Mistral asks for them.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "developer_role"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send the system prompt with the role `developer`, over Chat Completions.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "strict"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send `strict` with each tool, over Responses.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "store"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send `store: false`, so that the server keeps nothing of the conversation. Over Responses it is \
                        sent unless this is off, over Chat Completions only if this is on.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "call_content"),
                kind: Choice(&[
                    ("null", "as most servers have it"),
                    ("empty", "an empty text"),
                    ("left_out", "no such field"),
                ]),
                default: Unset($usual),
                who: USER,
                words: "The `content` of an answer of the model that only calls tools, in Chat Completions.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "efforts"),
                kind: Texts("level"),
                default: Unset($usual),
                who: USER,
                words: "The server's own names for levels of thinking, such as `{ xhigh = \"max\" }`, where it is asked \
                        for by an effort: over Responses, and by `reasoning_effort` or `reasoning` over Chat Completions. \
                        The table of a model replaces that of its provider.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "thinking"),
                kind: Choice(&[
                    ("none", "not at all"),
                    ("reasoning_effort", "by `reasoning_effort`"),
                    ("reasoning", "by `reasoning.effort`, as OpenRouter has it"),
                    ("reasoning_enabled", "by `reasoning.enabled`, as Together has it"),
                    ("thinking_type", "by `thinking.type`, as DeepSeek, Moonshot and Z.ai have it"),
                    ("enable_thinking", "by `enable_thinking`, as Qwen has it"),
                    (
                        "chat_template_kwargs",
                        "by `chat_template_kwargs.enable_thinking`, as vLLM and llama.cpp have it",
                    ),
                ]),
                default: Unset($usual),
                who: USER,
                words: "The way to ask for thinking in Chat Completions, for a model that thinks if asked to.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "betas"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Ask for what is still a beta of Anthropic's, which gateways may refuse.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "effort_messages"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Change the level of thinking within the conversation, by a beta of Anthropic's for its newest \
                        models, so that the vendor's cache still has what came before.",
                more: Some("configuration.md#how-much-a-model-thinks"),
            },
            Setting {
                name: concat!($before, "cache_diagnosis"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Ask why the cache missed, as Anthropic's own server can say. For that it keeps hashes of your \
                        requests for a while.",
                more: Some("costs.md#the-cache-request-by-request"),
            },
            Setting {
                name: concat!($before, "cache_hour"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Let `cache_hour` count here: the server keeps a prompt for an hour if it is asked to.",
                more: Some("costs.md#the-cache-for-an-hour"),
            },
            Setting {
                name: concat!($before, "eager_input_streaming"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Have the input of a tool come while the model writes it, as Anthropic's own server can, so that a \
                        long edit is seen as it grows.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "key_header"),
                kind: Choice(&[
                    ("authorization", "`Authorization: Bearer`"),
                    ("x-api-key", "`x-api-key`, as Anthropic has it"),
                    ("api-key", "`api-key`, as Azure has it"),
                ]),
                default: Unset($usual),
                who: USER,
                words: "The header that carries the key.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
            Setting {
                name: concat!($before, "opencode_session"),
                kind: Flag,
                default: Unset($usual),
                who: USER,
                words: "Send the header `x-opencode-session`, which tells by a name without a meaning which requests \
                        belong to one conversation. OpenCode refuses requests without it.",
                more: Some("configuration.md#what-a-server-refuses"),
            },
        ]
    };
}

/// The rows of a provider.
pub(super) const COMPAT: &[Setting] = flags!("providers.NAME.compat.", "by the server");

/// The rows of a model that the user describes.
pub(super) const MODEL_COMPAT: &[Setting] = flags!("providers.NAME.model[].compat.", "that of the provider");
