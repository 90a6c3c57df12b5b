//! OpenAI's Chat Completions, as many servers speak it: Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, DeepSeek, Groq,
//! Mistral and the rest. What they do differently is told apart by flags ([`Compat`](crate::compat::Compat)) on the way
//! out, and taken as it comes on the way in.
//!
//! A part that a server wants back comes from the server itself, and goes back to the very model that sent it, in the
//! field in which it came:
//!
//! - thinking, as `reasoning_content` (DeepSeek, Moonshot, Z.ai, Alibaba, llama.cpp) or as `reasoning` (OpenRouter,
//!   Ollama, Groq, Cerebras);
//! - `reasoning_details`, the structured form of the same, which holds signatures and what is encrypted
//!   (openrouter.ai/docs, "Preserving reasoning blocks"). It stands in for the plain field;
//! - `extra_content` of a call or a message, in which Google puts `google.thought_signature`
//!   (ai.google.dev/gemini-api/docs/thought-signatures);
//! - its own ids, which may be longer than others take or hold other letters (`functions.read_file:0`).

mod dialect;
mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::body;
pub(crate) use stream::Decoder;
