//! Google's Gemini, as streamed.

use serde_json::{Value, json};

use super::answer::{Stop, Writer};
use super::strict::{end_of, sign};

/// A stream in this format: parts of one candidate. A call comes whole.
#[derive(Default)]
pub(super) struct Gemini {
    model: String,
    calls: usize,
    /// The open call: its id, its tool and its input so far.
    open: Option<(String, String, String)>,
    /// The text so far.
    said: String,
}

impl Gemini {
    pub(super) fn of(model: &str) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    fn event(&self, candidate: &Value) -> String {
        let event = json!({ "candidates": [candidate], "modelVersion": self.model, "responseId": "r-1" });
        format!("data: {event}\r\n\r\n")
    }

    fn part(&self, part: &Value) -> String {
        self.event(&json!({ "content": { "role": "model", "parts": [part] }, "index": 0 }))
    }
}

impl Writer for Gemini {
    fn begin(&mut self) -> String {
        String::new()
    }

    fn text(&mut self, piece: &str) -> String {
        self.said.push_str(piece);
        self.part(&json!({ "text": piece }))
    }

    fn thinking(&mut self, piece: &str) -> String {
        self.part(&json!({ "text": piece, "thought": true }))
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let before = self.end_call();
        self.open = Some((id.into(), name.into(), String::new()));
        before
    }

    fn input(&mut self, piece: &str) -> String {
        self.open.as_mut().unwrap().2.push_str(piece);
        String::new()
    }

    fn end_call(&mut self) -> String {
        let Some((id, name, input)) = self.open.take() else { return String::new() };
        let args = serde_json::from_str(&input).unwrap_or(Value::String(input));
        let mut part = json!({ "functionCall": { "id": id, "name": name, "args": args } });
        if self.model.ends_with(super::NO_IDS) {
            part["functionCall"].as_object_mut().unwrap().remove("id");
        }
        // Of parallel calls, only the first is signed.
        if self.calls == 0 {
            part["thoughtSignature"] = json!(sign(&self.model, &id));
        }
        self.calls += 1;
        self.part(&part)
    }

    fn end(&mut self, stop: Stop) -> String {
        let mut text = self.end_call();
        // The signature of an answer without calls comes last, with an empty text.
        if self.calls == 0 {
            let signature = sign(&self.model, &end_of(&self.said));
            text.push_str(&self.part(&json!({ "text": "", "thoughtSignature": signature })));
        }
        let reason = if stop == Stop::Length { "MAX_TOKENS" } else { "STOP" };
        let usage = json!({ "promptTokenCount": 100, "cachedContentTokenCount": 20, "candidatesTokenCount": 7,
            "thoughtsTokenCount": 3, "totalTokenCount": 110 });
        let candidate = json!({ "content": { "role": "model", "parts": [] }, "finishReason": reason, "index": 0 });
        let last = json!({ "candidates": [candidate], "usageMetadata": usage, "modelVersion": self.model });
        text.push_str(&format!("data: {last}\r\n\r\n"));
        text
    }
}
