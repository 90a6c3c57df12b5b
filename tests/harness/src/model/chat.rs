//! OpenAI's Chat Completions, as streamed.

use serde_json::{Value, json};

use super::answer::{Stop, Writer};

/// A stream in this format: one message, its tool calls with an index.
#[derive(Default)]
pub(super) struct Chat {
    calls: usize,
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
        chunk(&json!({ "content": piece }), None)
    }

    fn thinking(&mut self, piece: &str) -> String {
        chunk(&json!({ "reasoning_content": piece }), None)
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let function = json!({ "name": name, "arguments": "" });
        let call = json!({ "index": self.calls, "id": id, "type": "function", "function": function });
        self.calls += 1;
        chunk(&json!({ "tool_calls": [call] }), None)
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
        format!("{}data: {last}\n\ndata: [DONE]\n\n", chunk(&json!({}), Some(reason)))
    }
}
