//! OpenAI's Responses, as streamed.

use serde_json::{Value, json};

use super::answer::{Stop, Writer, named};
use super::strict::sign;

/// A stream in this format: items one after another, each begun, filled and repeated whole; then all of it again.
#[derive(Default)]
pub(super) struct Responses {
    model: String,
    done: Vec<Value>,
    open: Option<Value>,
    /// The content of the open item so far.
    content: String,
    events: u64,
}

impl Responses {
    pub(super) fn of(model: &str) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    fn event(&mut self, kind: &str, mut event: Value) -> String {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(self.events);
        self.events += 1;
        named(&event)
    }

    fn is_open(&self, kind: &str) -> bool {
        self.open.as_ref().is_some_and(|item| item["type"] == kind)
    }

    fn begin_item(&mut self, item: Value) -> String {
        let mut text = self.close();
        let index = self.done.len();
        self.open = Some(item.clone());
        text.push_str(&self.event("response.output_item.added", json!({ "output_index": index, "item": item })));
        text
    }

    fn close(&mut self) -> String {
        let Some(mut item) = self.open.take() else { return String::new() };
        let (index, content) = (self.done.len(), std::mem::take(&mut self.content));
        let place = json!({ "item_id": item["id"], "output_index": index });
        let with = |more: Value| {
            let mut place = place.clone();
            place.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            place
        };
        item["status"] = json!("completed");
        let mut text = String::new();
        match item["type"].as_str() {
            Some("message") => {
                let part = json!({ "type": "output_text", "text": content, "annotations": [] });
                let done = with(json!({ "content_index": 0, "text": content }));
                text.push_str(&self.event("response.output_text.done", done));
                let done = with(json!({ "content_index": 0, "part": part }));
                text.push_str(&self.event("response.content_part.done", done));
                item["content"] = json!([part]);
            }
            Some("reasoning") => {
                let part = json!({ "type": "summary_text", "text": content });
                let done = with(json!({ "summary_index": 0, "text": content }));
                text.push_str(&self.event("response.reasoning_summary_text.done", done));
                let done = with(json!({ "summary_index": 0, "part": part }));
                text.push_str(&self.event("response.reasoning_summary_part.done", done));
                item["summary"] = json!([part]);
                item["encrypted_content"] = json!(sign(&self.model, &content));
            }
            _ => {
                let done = with(json!({ "arguments": content }));
                text.push_str(&self.event("response.function_call_arguments.done", done));
                item["arguments"] = json!(content);
            }
        }
        text.push_str(&self.event("response.output_item.done", json!({ "output_index": index, "item": item })));
        self.done.push(item);
        text
    }

    fn delta(&mut self, kind: &str, part: Option<&str>, piece: &str) -> String {
        self.content.push_str(piece);
        let id = self.open.as_ref().map(|item| item["id"].clone());
        let mut delta = json!({ "item_id": id, "output_index": self.done.len(), "delta": piece });
        if let Some(part) = part {
            delta[part] = json!(0);
        }
        self.event(kind, delta)
    }

    fn response(&self, status: &str) -> Value {
        json!({ "id": "resp_1", "object": "response", "created_at": 1, "model": "model-1", "status": status,
            "output": self.done, "error": null, "incomplete_details": null, "usage": null })
    }
}

impl Writer for Responses {
    fn begin(&mut self) -> String {
        let response = self.response("in_progress");
        self.event("response.created", json!({ "response": response }))
            + &self.event("response.in_progress", json!({ "response": response }))
    }

    fn text(&mut self, piece: &str) -> String {
        let mut text = String::new();
        if !self.is_open("message") {
            let id = format!("msg_{}", self.done.len());
            let item = json!({ "type": "message", "id": id, "role": "assistant", "status": "in_progress",
                "content": [], "phase": "commentary" });
            text.push_str(&self.begin_item(item));
            let part = json!({ "type": "output_text", "text": "", "annotations": [] });
            let place = json!({ "item_id": id, "output_index": self.done.len(), "content_index": 0, "part": part });
            text.push_str(&self.event("response.content_part.added", place));
        }
        text.push_str(&self.delta("response.output_text.delta", Some("content_index"), piece));
        text
    }

    fn thinking(&mut self, piece: &str) -> String {
        let mut text = String::new();
        if !self.is_open("reasoning") {
            let id = format!("rs_{}", self.done.len());
            text.push_str(&self.begin_item(json!({ "type": "reasoning", "id": id, "summary": [] })));
            let part = json!({ "type": "summary_text", "text": "" });
            let place = json!({ "item_id": id, "output_index": self.done.len(), "summary_index": 0, "part": part });
            text.push_str(&self.event("response.reasoning_summary_part.added", place));
        }
        text.push_str(&self.delta("response.reasoning_summary_text.delta", Some("summary_index"), piece));
        text
    }

    fn call(&mut self, id: &str, name: &str) -> String {
        let item = json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": "", "status": "in_progress" });
        self.begin_item(item)
    }

    fn input(&mut self, piece: &str) -> String {
        self.delta("response.function_call_arguments.delta", None, piece)
    }

    fn end_call(&mut self) -> String {
        self.close()
    }

    fn end(&mut self, stop: Stop) -> String {
        let mut text = self.close();
        let (status, kind) = match stop {
            Stop::Done => ("completed", "response.completed"),
            Stop::Length => ("incomplete", "response.incomplete"),
        };
        let mut response = self.response(status);
        if stop == Stop::Length {
            response["incomplete_details"] = json!({ "reason": "max_output_tokens" });
        }
        response["usage"] = json!({ "input_tokens": 100, "input_tokens_details": { "cached_tokens": 20 },
            "output_tokens": 10, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 110 });
        text.push_str(&self.event(kind, json!({ "response": response })));
        text
    }
}
