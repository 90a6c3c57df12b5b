//! The codes and words by which vendors say what is wrong, if no status does.

/// The codes and words for a call that cannot be read, which leave nothing open: Groq's, and the reasons to end of
/// Gemini and of Bedrock, which for Nova has words too (https://console.groq.com/docs/tool-use, `FinishReason` of npm
/// `@google/genai`, `StopReason` of PyPI `botocore`, github.com/strands-agents/harness-sdk/issues/649).
pub(super) const UNREADABLE: &[&str] = &[
    "tool_use_failed",
    "malformed_function_call",
    "unexpected_tool_call",
    "malformed_tool_use",
    "invalid sequence as part of tooluse",
];

/// The codes and words with which vendors say that an account has no money left: OpenAI's, Anthropic's, DeepSeek's,
/// Google's and Moonshot's.
pub(super) const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "billing_error",
    "credit balance is too low",
    "insufficient balance",
    "insufficient credits",
    "credits are depleted",
    "exceeded_current_quota_error",
];

/// The words with which vendors say that a request is too long.
pub(super) const OVERFLOW: &[&str] = &[
    "prompt is too long",
    "context length",
    "context_length_exceeded",
    "context window",
    "context size",
    "exceed context limit",
    "exceed_context_size",
    "maximum context",
    "input is too long",
    "too many input tokens",
    "input token count",
    "reduce the length of the messages",
    "request_too_large",
    "number of input tokens exceeds",
    // GitHub Copilot's code and words.
    "model_max_prompt_tokens_exceeded",
    "prompt token count of",
];

/// True if with these words a vendor says that tool calls and results do not fit together. The words are in lower case.
pub(super) fn is_orphan_complaint(words: &str) -> bool {
    let calls = ["tool_use", "tool_call", "tool call", "function call", "tooluse", "toolresult"]
        .iter()
        .any(|name| words.contains(name));
    let missing = [
        "without `tool_result`",
        "without tool_result",
        "unexpected `tool_use_id`",
        "no tool output found",
        "no tool call found",
        "must be followed by tool messages",
        "did not have response messages",
        "must be a response to a preceeding message",
        "must be a response to a preceding message",
        "not the same number of function calls and responses",
        "number of function response parts is equal to the number of function call parts",
        "function call turn comes immediately after",
        "function response turn comes immediately after",
        "expected toolresult blocks",
        "exceeds the number of tooluse blocks",
    ];
    calls && missing.iter().any(|complaint| words.contains(complaint))
}

/// True if with these words Google says that a signature is missing, or is none of its own: after another key was set,
/// or a gateway took another route (github.com/google-gemini/gemini-cli/issues/13467). The words are in lower case.
pub(super) fn is_signature_complaint(words: &str) -> bool {
    words.contains("thought signature") || words.contains("thought_signature")
}
