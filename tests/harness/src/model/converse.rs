//! Bedrock's Converse, streamed as Amazon's event stream or whole.
//!
//! An event is written as a line with one field that has its name, and becomes a message of the stream when it is sent.
//! A line that is none is sent as it is.

use serde_json::{Map, Value, json};

use super::answer::{Stop, Writer};
use super::strict::{sign, signs};

/// An answer in this format: blocks one after another, each with an index.
#[derive(Default)]
pub(super) struct Converse {
    model: String,
    index: usize,
    open: Option<&'static str>,
    has_calls: bool,
    /// The text of the open block of thinking so far.
    thought: String,
    /// The blocks of an answer that comes at once.
    whole: Option<Vec<Value>>,
}

/// The model that a path names, which is encoded there.
pub(super) fn model(path: &str) -> Option<String> {
    let (model, end) = path.strip_prefix("/model/")?.split_once('/')?;
    let is_known = matches!(end, "converse" | "converse-stream") && !model.contains(':');
    is_known.then(|| model.replace("%3A", ":").replace("%2F", "/"))
}

/// True if the answer at a path comes at once.
pub(super) fn is_whole(path: &str) -> bool {
    path.ends_with("/converse")
}

impl Converse {
    pub(super) fn of(model: &str, is_whole: bool) -> Self {
        Self { model: model.into(), whole: is_whole.then(Vec::new), ..Self::default() }
    }

    /// Begins a block of a kind, unless it is open. Only calls are announced.
    fn block(&mut self, kind: &'static str, start: Value) -> String {
        if self.open == Some(kind) && kind != "toolUse" {
            return String::new();
        }
        let text = self.close();
        self.open = Some(kind);
        if start.is_null() {
            return text;
        }
        text + &self.event("contentBlockStart", json!({ "contentBlockIndex": self.index, "start": start }))
    }

    fn delta(&mut self, delta: Value) -> String {
        if let Some(blocks) = &mut self.whole {
            join(blocks, self.index, delta);
            return String::new();
        }
        self.event("contentBlockDelta", json!({ "contentBlockIndex": self.index, "delta": delta }))
    }

    fn event(&mut self, name: &str, event: Value) -> String {
        match &mut self.whole {
            Some(blocks) => {
                if let Some(call) = event["start"].get("toolUse") {
                    join(blocks, self.index, json!({ "toolUse": call }));
                }
                String::new()
            }
            None => format!("{}\n", json!({ name: event })),
        }
    }

    fn close(&mut self) -> String {
        let mut text = match self.open.take() {
            None => return String::new(),
            Some("reasoningContent") if signs(&self.model) => {
                let signature = sign(&self.model, &std::mem::take(&mut self.thought));
                self.delta(json!({ "reasoningContent": { "signature": signature } }))
            }
            Some(_) => String::new(),
        };
        self.thought.clear();
        text.push_str(&self.event("contentBlockStop", json!({ "contentBlockIndex": self.index })));
        self.index += 1;
        text
    }
}

/// Adds the texts of a piece to those of its block.
fn join(blocks: &mut Vec<Value>, index: usize, piece: Value) {
    if blocks.len() <= index {
        blocks.push(json!({}));
    }
    add(&mut blocks[index], piece);
}

fn add(to: &mut Value, piece: Value) {
    match (to, piece) {
        (Value::Object(fields), Value::Object(more)) => {
            more.into_iter().for_each(|(name, value)| add(fields.entry(name).or_insert(Value::Null), value));
        }
        (Value::String(text), Value::String(more)) => text.push_str(&more),
        (to, piece) => *to = piece,
    }
}

/// A block as an answer has it that comes at once.
fn as_whole(block: &Value) -> Value {
    if let Some(thought) = block.get("reasoningContent") {
        return json!({ "reasoningContent": { "reasoningText": thought } });
    }
    let mut block = block.clone();
    if let Some(input) = block.pointer_mut("/toolUse/input") {
        *input = serde_json::from_str(input.as_str().unwrap()).unwrap();
    }
    block
}

impl Writer for Converse {
    fn begin(&mut self) -> String {
        self.event("messageStart", json!({ "role": "assistant" }))
    }

    fn text(&mut self, piece: &str) -> String {
        self.block("text", Value::Null) + &self.delta(json!({ "text": piece }))
    }

    fn thinking(&mut self, piece: &str) -> String {
        let before = self.block("reasoningContent", Value::Null);
        self.thought.push_str(piece);
        before + &self.delta(json!({ "reasoningContent": { "text": piece } }))
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        self.has_calls = true;
        self.block("toolUse", json!({ "toolUse": { "toolUseId": id, "name": name } }))
    }

    fn input(&mut self, piece: &str) -> String {
        self.delta(json!({ "toolUse": { "input": piece } }))
    }

    fn end_call(&mut self) -> String {
        self.close()
    }

    fn end(&mut self, stop: Stop) -> String {
        let reason = match (stop, self.has_calls) {
            (Stop::Length, _) => "max_tokens",
            (Stop::Done, true) => "tool_use",
            (Stop::Done, false) => "end_turn",
        };
        let closing = self.close();
        let usage = json!({ "inputTokens": 80, "outputTokens": 10, "totalTokens": 110, "cacheReadInputTokens": 20,
            "cacheWriteInputTokens": 0 });
        let metrics = json!({ "latencyMs": 1 });
        if let Some(blocks) = &self.whole {
            let message = json!({ "role": "assistant", "content": blocks.iter().map(as_whole).collect::<Value>() });
            let output = json!({ "message": message });
            return json!({ "output": output, "stopReason": reason, "usage": usage, "metrics": metrics }).to_string();
        }
        let stopped = self.event("messageStop", json!({ "stopReason": reason }));
        let told = self.event("metadata", json!({ "usage": usage, "metrics": metrics }));
        closing + &stopped + &told
    }

    fn framed(&mut self, text: String) -> Vec<u8> {
        if self.whole.is_some() {
            return text.into_bytes();
        }
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("event: "));
        lines.flat_map(|line| framed(line.strip_prefix("data: ").unwrap_or(line))).collect()
    }
}

/// A line as a message of an event stream, or as it is.
fn framed(line: &str) -> Vec<u8> {
    let fields: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let Some((name, value)) = fields.iter().next() else { return line.as_bytes().to_vec() };
    let said = |field: &str| match &value[field] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (code, words) = (said("code"), said("message"));
    match name.as_str() {
        "error" => message(&[(":message-type", "error"), (":error-code", &code), (":error-message", &words)], ""),
        exception if exception.ends_with("Exception") => {
            message(&[(":message-type", "exception"), (":exception-type", name), JSON], &value.to_string())
        }
        _ => message(&[(":event-type", name), JSON, (":message-type", "event")], &value.to_string()),
    }
}

const JSON: (&str, &str) = (":content-type", "application/json");

/// A message with headers that are texts (smithy.io/2.0/aws/amazon-eventstream.html).
fn message(texts: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let header = |(name, value): &(&str, &str)| {
        let (name_length, length) = (u8::try_from(name.len()).unwrap(), u16::try_from(value.len()).unwrap());
        [&[name_length], name.as_bytes(), &[7], &length.to_be_bytes(), value.as_bytes()].concat()
    };
    let headers: Vec<u8> = texts.iter().flat_map(header).collect();
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let mut message = [length(16 + headers.len() + payload.len()), length(headers.len())].concat();
    message.extend(crc32(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.bytes());
    message.extend(crc32(&message).to_be_bytes());
    message
}

/// It shares nothing with the code that reads.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
}
