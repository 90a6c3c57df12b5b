//! OpenAI's Responses, without storage at the vendor's: reasoning comes encrypted, and goes back with the
//! conversation.

mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use request::body;
pub(crate) use stream::Decoder;
