//! Anthropic's Messages, at its own address and as Google's Vertex AI has them: there the model stands in the path and
//! not in the body, and the version in the body and not in a header (npm `@anthropic-ai/vertex-sdk` 1.1). What is a
//! beta is said in the same header.

mod effort;
mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use effort::changes_in_place;
pub(super) use effort::{Effort, effort};
pub(super) use request::{BINDING, ThinkingSetting, drops_blocks, is_off, thinking};
pub(crate) use request::{
    VERSION, asks_why, body, body_of_vertex, changes_effort, headers, headers_of_vertex, is_eager, path,
};
pub(crate) use stream::Decoder;
