//! Anthropic's Messages.

mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::{body, headers};
pub(crate) use stream::Decoder;
