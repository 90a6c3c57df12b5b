//! Google's Gemini (`models.streamGenerateContent`).
//!
//! A signature (`thoughtSignature`) may come on any part: a call, a text, a thought, or an empty text at the end. It
//! goes back on the very part that it came on, so a part that has one is a block of its own, and an empty text that has
//! one is a block of thinking without words. Of the calls of a step, the first has the signature, and Gemini refuses a
//! step without one since its third generation (ai.google.dev/gemini-api/docs/thought-signatures).

mod request;
mod schema;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::{body, path};
pub(crate) use stream::Decoder;
