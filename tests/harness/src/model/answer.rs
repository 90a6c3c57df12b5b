//! The model's answers, in neutral words, and the pieces that a vendor's format is made of.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The text that stands in an answer for the mark of files, which the system prompt tells.
pub const MARK: &str = "MARK";

/// An answer of the model.
#[derive(Clone, Debug)]
pub enum Answer {
    /// A stream.
    Streamed {
        /// Its pieces.
        steps: Vec<Step>,
        /// Why it ends.
        stop: Stop,
    },
    /// An error in place of a stream.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Headers, such as `retry-after`.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model is done, or waits for its tools.
    Done,
    /// The maximum length is reached.
    Length,
}

/// A piece of a stream.
#[derive(Clone, Debug)]
pub enum Step {
    /// Text.
    Text(String),
    /// Thinking.
    Thinking(String),
    /// A tool call, whole.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// A tool call of which the rest comes when the gate is open.
    SlowCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The beginning of its input.
        begin: String,
        /// The gate that opens for the rest.
        gate: Gate,
        /// The rest.
        rest: String,
    },
    /// The beginning of a tool call.
    HalfCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// The beginning of its input.
        input: String,
    },
    /// Bytes that are no event of the format.
    Raw(String),
    /// Nothing more before the gate is open.
    Wait(Gate),
    /// The connection breaks.
    Cut,
    /// Nothing more, ever.
    Stall,
}

/// A gate that the test opens.
#[derive(Clone, Debug, Default)]
pub struct Gate(CancellationToken);

impl Gate {
    /// Opens it, for good.
    pub fn open(&self) {
        self.0.cancel();
    }

    pub(super) async fn opened(&self) {
        self.0.cancelled().await;
    }
}

impl Answer {
    /// An answer that says something.
    pub fn says(text: &str) -> Self {
        Self::nothing().text(text)
    }

    /// The answer with the mark of files where its texts have [`MARK`].
    pub(crate) fn with_mark(mut self, mark: &str) -> Self {
        if let Self::Streamed { steps, .. } = &mut self
            && !mark.is_empty()
        {
            for step in steps {
                if let Step::Text(text) = step {
                    *text = text.replace(MARK, mark);
                }
            }
        }
        self
    }

    /// An answer that calls a tool.
    pub fn calls(name: &str, input: Value) -> Self {
        Self::nothing().call(name, input)
    }

    /// An empty answer, to be filled.
    pub fn nothing() -> Self {
        Self::Streamed { steps: Vec::new(), stop: Stop::Done }
    }

    /// An error, with a body as the vendors write it.
    pub fn refused(status: u16) -> Self {
        let body = json!({ "type": "error", "error": { "type": "test", "message": format!("refused with {status}") } });
        Self::Refused { status, headers: Vec::new(), body: body.to_string() }
    }

    /// The same with a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Self::Refused { headers, .. } = &mut self {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Then a piece of text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.step(Step::Text(text.into()))
    }

    /// Then a piece of thinking.
    #[must_use]
    pub fn thinking(self, text: &str) -> Self {
        self.step(Step::Thinking(text.into()))
    }

    /// Then a tool call.
    #[must_use]
    pub fn call(self, name: &str, input: Value) -> Self {
        self.step(Step::Call { id: next_id(), name: name.into(), input })
    }

    /// Then a tool call of which only what stands before `cut` comes before the gate is open. The fields come in the
    /// order in which they are given.
    #[must_use]
    pub fn slow_call(self, name: &str, fields: &[(&str, Value)], cut: &str, gate: &Gate) -> Self {
        let fields: Vec<_> = fields.iter().map(|(field, value)| format!("{}:{value}", json!(field))).collect();
        let input = format!("{{{}}}", fields.join(","));
        let (begin, rest) = input.split_at(input.find(cut).expect("the input has the text to cut at"));
        let (begin, rest) = (begin.to_owned(), rest.to_owned());
        self.step(Step::SlowCall { id: next_id(), name: name.into(), begin, gate: gate.clone(), rest })
    }

    /// Then nothing before the gate is open.
    #[must_use]
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Then the connection breaks inside a tool call.
    #[must_use]
    pub fn cut_inside_call(self, name: &str) -> Self {
        self.step(Step::HalfCall { id: next_id(), name: name.into(), input: "{\"path\":\"a".into() }).step(Step::Cut)
    }

    /// Then any other step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        if let Self::Streamed { steps, .. } = &mut self {
            steps.push(step);
        }
        self
    }

    /// The answer ends because it is too long.
    #[must_use]
    pub fn too_long(mut self) -> Self {
        if let Self::Streamed { stop, .. } = &mut self {
            *stop = Stop::Length;
        }
        self
    }
}

/// An id for a tool call, unlike any other.
fn next_id() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A vendor's format. Each function but the last gives what to send as text.
pub(super) trait Writer: Send {
    /// The stream begins.
    fn begin(&mut self) -> String;
    /// A piece of text.
    fn text(&mut self, piece: &str) -> String;
    /// A piece of thinking.
    fn thinking(&mut self, piece: &str) -> String;
    /// A tool call begins.
    fn call(&mut self, id: &str, name: &str) -> String;
    /// A piece of its input, which is JSON as text.
    fn input(&mut self, piece: &str) -> String;
    /// The tool call is whole.
    fn end_call(&mut self) -> String;
    /// The stream ends. Usage is 100 tokens in, 20 of them from the cache, and 10 out.
    fn end(&mut self, stop: Stop) -> String;
    /// The bytes that are sent for what was written.
    fn framed(&mut self, text: String) -> Vec<u8> {
        text.into_bytes()
    }
}

/// A server-sent event with a name.
pub(super) fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}
