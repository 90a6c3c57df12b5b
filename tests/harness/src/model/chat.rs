//! OpenAI's Chat Completions, as streamed.

use serde_json::{Value, json};

use super::Wire;
use super::answer::{Stop, Writer};
use super::strict::sign;

/// A stream in this format: one message, its tool calls with an index.
pub(super) struct Chat {
    /// Whose.
    vendor: Wire,
    model: String,
    calls: usize,
    /// The thinking so far, until it is signed.
    thought: String,
}

impl Chat {
    pub(super) fn of(vendor: Wire, model: &str) -> Self {
        Self { vendor, model: model.into(), calls: 0, thought: String::new() }
    }

    /// The end of the thinking.
    fn settle(&mut self) -> String {
        let thought = std::mem::take(&mut self.thought);
        if thought.is_empty() || self.vendor != Wire::OpenRouter {
            return String::new();
        }
        let detail = json!({ "type": "reasoning.text", "index": 0, "signature": sign(&self.model, &thought) });
        chunk(&json!({ "reasoning_details": [detail] }), None)
    }
}

/// An id as Mistral makes them.
fn nine(id: &str) -> String {
    let letters: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
    let padded = format!("{letters:0>9}");
    padded[padded.len() - 9..].to_owned()
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    let chunk = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model-1",
        "choices": [choice] });
    format!("data: {chunk}\n\n")
}

impl Writer for Chat {
    fn begin(&mut self) -> String {
        chunk(&json!({ "role": "assistant", "content": "" }), None)
    }

    fn text(&mut self, piece: &str) -> String {
        self.settle() + &chunk(&json!({ "content": piece }), None)
    }

    fn thinking(&mut self, piece: &str) -> String {
        self.thought.push_str(piece);
        let detail = json!({ "type": "reasoning.text", "text": piece, "format": "anthropic-claude-v1", "index": 0 });
        let delta = match self.vendor {
            Wire::OpenRouter => json!({ "reasoning": piece, "reasoning_details": [detail] }),
            Wire::Groq => json!({ "reasoning": piece }),
            Wire::Mistral => {
                json!({ "content": [{ "type": "thinking", "thinking": [{ "type": "text", "text": piece }] }] })
            }
            // It keeps its thinking to itself.
            Wire::GeminiChat => return String::new(),
            _ => json!({ "reasoning_content": piece }),
        };
        chunk(&delta, None)
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let function = json!({ "name": name, "arguments": "" });
        let id = if self.vendor == Wire::Mistral { &nine(id) } else { id };
        let mut call = json!({ "index": self.calls, "id": id, "type": "function", "function": function });
        if self.vendor == Wire::GeminiChat && self.calls == 0 {
            call["extra_content"] = json!({ "google": { "thought_signature": sign(&self.model, id) } });
        }
        self.calls += 1;
        self.settle() + &chunk(&json!({ "tool_calls": [call] }), None)
    }

    fn input(&mut self, piece: &str) -> String {
        let call = json!({ "index": self.calls - 1, "function": { "arguments": piece } });
        chunk(&json!({ "tool_calls": [call] }), None)
    }

    fn end_call(&mut self) -> String {
        String::new()
    }

    fn end(&mut self, stop: Stop) -> String {
        let reason = match (stop, self.calls) {
            (Stop::Length, _) => "length",
            (Stop::Done, 0) => "stop",
            (Stop::Done, _) => "tool_calls",
        };
        let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
            "prompt_tokens_details": { "cached_tokens": 20 } });
        let last = json!({ "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model-1",
            "choices": [], "usage": usage });
        format!("{}{}data: {last}\n\ndata: [DONE]\n\n", self.settle(), chunk(&json!({}), Some(reason)))
    }
}
