//! Amazon Bedrock's Converse (`ConverseStream`, and `Converse` for models that take tools only without a stream).
//!
//! It is one format for the models of all makers, but not all of them take all of it: what they differ in is in
//! [`family`]. The fields are those of the model of `bedrock-runtime` in PyPI `botocore` 1.44.
//!
//! Its stream is not one of server-sent events. An event comes here as an object whose one field has the event's name,
//! which is the union that botocore's model has for it (`ConverseStreamOutput`), exceptions included.

mod family;
mod request;
mod stream;

#[cfg(test)]
mod tests;

pub(crate) use family::Family;
pub(crate) use request::{at_once, body, path};
pub(crate) use stream::Decoder;
