//! Anthropic's Messages (001 §5.2).

mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::{body, headers};
pub(crate) use stream::Decoder;
