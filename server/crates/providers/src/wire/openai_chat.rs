//! OpenAI's Chat Completions, as many servers speak it: Ollama, llama.cpp, LM Studio, vLLM, OpenRouter, DeepSeek, Groq,
//! Mistral and the rest. What they do differently is told apart by [`dialect`] on the way out, and taken as it comes on
//! the way in.

mod dialect;
mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::body;
pub(crate) use stream::Decoder;
