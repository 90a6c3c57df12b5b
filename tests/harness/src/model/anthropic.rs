//! Anthropic's Messages, as streamed.

use serde_json::{Value, json};

use super::answer::{Stop, Writer, named};
use super::diagnosis::Head;
use super::strict::sign;

/// A stream in this format: blocks one after another, each with an index.
#[derive(Default)]
pub(super) struct Anthropic {
    model: String,
    head: Head,
    index: usize,
    open: Option<&'static str>,
    has_calls: bool,
    /// The text of the open block of thinking so far.
    thought: String,
}

impl Anthropic {
    pub(super) fn of(model: &str, head: Head) -> Self {
        Self { model: model.into(), head, ..Self::default() }
    }

    /// Begins a block of a kind, unless it is open.
    fn block(&mut self, kind: &'static str, block: Value) -> String {
        if self.open == Some(kind) && kind != "tool_use" {
            return String::new();
        }
        let mut text = self.close();
        self.open = Some(kind);
        text.push_str(&named(&json!({ "type": "content_block_start", "index": self.index, "content_block": block })));
        text
    }

    fn delta(&self, delta: Value) -> String {
        named(&json!({ "type": "content_block_delta", "index": self.index, "delta": delta }))
    }

    fn close(&mut self) -> String {
        let mut text = String::new();
        match self.open.take() {
            None => return text,
            Some("thinking") => {
                let signature = sign(&self.model, &std::mem::take(&mut self.thought));
                text.push_str(&self.delta(json!({ "type": "signature_delta", "signature": signature })));
            }
            Some(_) => {}
        }
        text.push_str(&named(&json!({ "type": "content_block_stop", "index": self.index })));
        self.index += 1;
        text
    }
}

impl Writer for Anthropic {
    fn begin(&mut self) -> String {
        // Only if it is asked to keep something for an hour, something is written.
        let written = if self.head.keeps_for_hour { 30 } else { 0 };
        let usage = json!({ "input_tokens": 80 - written, "cache_read_input_tokens": 20, "output_tokens": 1,
            "cache_creation_input_tokens": written,
            "cache_creation": { "ephemeral_1h_input_tokens": written, "ephemeral_5m_input_tokens": 0 } });
        let message = json!({ "id": self.head.id, "type": "message", "role": "assistant", "model": "model-1",
            "content": [], "diagnostics": self.head.diagnostics, "stop_reason": null, "stop_sequence": null, "usage": usage });
        named(&json!({ "type": "message_start", "message": message })) + &named(&json!({ "type": "ping" }))
    }

    fn text(&mut self, piece: &str) -> String {
        let mut text = self.block("text", json!({ "type": "text", "text": "" }));
        text.push_str(&self.delta(json!({ "type": "text_delta", "text": piece })));
        text
    }

    fn thinking(&mut self, piece: &str) -> String {
        let mut text = self.block("thinking", json!({ "type": "thinking", "thinking": "", "signature": "" }));
        self.thought.push_str(piece);
        text.push_str(&self.delta(json!({ "type": "thinking_delta", "thinking": piece })));
        text
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        self.has_calls = true;
        self.block("tool_use", json!({ "type": "tool_use", "id": id, "name": name, "input": {} }))
    }

    fn input(&mut self, piece: &str) -> String {
        self.delta(json!({ "type": "input_json_delta", "partial_json": piece }))
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
        let mut text = self.close();
        text.push_str(&named(&json!({ "type": "message_delta",
            "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 10 } })));
        text.push_str(&named(&json!({ "type": "message_stop" })));
        text
    }
}
