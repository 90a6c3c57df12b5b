//! Where an event of a stream ends, and the next begins.
//!
//! Most vendors send server-sent events. Bedrock's Converse sends Amazon's event streams, whose messages have their
//! names in headers; here they become objects whose one field has the message's name, which is how AWS's own models
//! write the events of a stream.

use net::event_stream::{self, Message};
use net::{header::HeaderValue, sse};
use serde_json::{Value, json};

/// The framing of a wire's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// Amazon's event streams.
    Messages,
}

impl Framing {
    /// The type of the body that is asked for.
    pub(crate) fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Events => "text/event-stream",
            Self::Messages => "application/vnd.amazon.eventstream",
        })
    }

    /// Takes a stream apart.
    pub(crate) fn frames(self) -> Frames {
        match self {
            Self::Events => Frames::Events(sse::Decoder::default()),
            Self::Messages => Frames::Messages { messages: event_stream::Decoder::default(), event: Vec::new() },
        }
    }
}

/// A stream that is taken apart into the data of events.
#[derive(Debug)]
pub(crate) enum Frames {
    Events(sse::Decoder),
    Messages {
        messages: event_stream::Decoder,
        /// The event that was just given out.
        event: Vec<u8>,
    },
}

impl Frames {
    /// Reads on to the end of the next event, takes what it read off the input, and gives the event's data; none if the
    /// input ends before.
    ///
    /// # Errors
    /// The input is not of this framing; says why.
    pub(crate) fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, String> {
        match self {
            Self::Events(events) => events.next(input).map_err(|problem| problem.to_string()),
            Self::Messages { messages, event } => {
                let Some(message) = messages.next(input).map_err(|problem| problem.to_string())? else {
                    return Ok(None);
                };
                write(&message, event)?;
                Ok(Some(event))
            }
        }
    }

    /// Returns what is left when the stream has ended.
    pub(crate) fn finish(&mut self) -> Option<&[u8]> {
        match self {
            Self::Events(events) => events.finish(),
            // A message without its end cannot be checked.
            Self::Messages { .. } => None,
        }
    }

    /// True if lines came that no event stream has, such as those of a web page.
    pub(crate) fn is_foreign(&self) -> bool {
        match self {
            Self::Events(events) => events.is_foreign(),
            // It is an error when it comes.
            Self::Messages { .. } => false,
        }
    }
}

/// Writes a message as an object whose one field has the message's name.
fn write(message: &Message<'_>, event: &mut Vec<u8>) -> Result<(), String> {
    event.clear();
    let name = match message.text(":message-type") {
        Some("event") => message.text(":event-type"),
        Some("exception") => message.text(":exception-type"),
        // The error is told by headers.
        Some("error") => {
            let header = |name: &str| message.text(name).unwrap_or_default();
            let error = json!({ "code": header(":error-code"), "message": header(":error-message") });
            event.extend_from_slice(json!({ "error": error }).to_string().as_bytes());
            return Ok(());
        }
        _ => None,
    };
    let name = name.ok_or("a message of the event stream without a name")?;
    event.extend_from_slice(format!("{{{}:", Value::from(name)).as_bytes());
    event.extend_from_slice(if message.payload().is_empty() { b"{}" } else { message.payload() });
    event.push(b'}');
    Ok(())
}
