//! Requests to the model, read out of a vendor's format into neutral words.

use hyper::header::{HeaderMap, HeaderValue};
use serde_json::Value;

use super::Wire;

/// A request to the model.
#[derive(Clone, Debug)]
pub struct Asked {
    wire: Wire,
    key: Option<String>,
    model: String,
    body: Value,
    said: Vec<Said>,
    place: String,
    headers: Vec<(String, String)>,
}

/// A piece of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// By the user, or for the user.
    User(String),
    /// By the model.
    Assistant(String),
    /// A tool call of the model.
    Call {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its input.
        input: Value,
    },
    /// The result of a tool call.
    Result {
        /// The call's id.
        id: String,
        /// The text that the model reads.
        text: String,
    },
    /// Anything else of the model's, such as thinking.
    Other,
}

impl Asked {
    pub(super) fn read(wire: Wire, key: Option<String>, model: String, body: Value) -> Self {
        let said = match wire {
            Wire::Gemini => list(&body["contents"]).enumerate().flat_map(gemini).collect(),
            Wire::Anthropic => list(&body["messages"]).flat_map(anthropic).collect(),
            Wire::Converse => list(&body["messages"]).flat_map(converse).collect(),
            Wire::Responses => list(&body["input"]).map(responses).collect(),
            _ => list(&body["messages"]).flat_map(chat).collect(),
        };
        Self { wire, key, model, body, said, place: String::new(), headers: Vec::new() }
    }

    /// The same, that came to this path with these headers.
    pub(super) fn at(self, place: String, headers: &HeaderMap) -> Self {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        Self { place, headers, ..self }
    }

    /// The path that it came to, with its query.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The value of a header; the name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The mark of files that the system prompt tells; empty if it tells none.
    pub fn file_mark(&self) -> String {
        let system = self.system();
        let mark = system.split_once("<azimuth_file mark=\"").and_then(|(_, rest)| rest.split_once('"'));
        mark.map(|(mark, _)| mark.to_owned()).unwrap_or_default()
    }

    /// The conversation, without the system prompt.
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// All that the user said, as one text.
    pub fn user_text(&self) -> String {
        let texts =
            self.said.iter().filter_map(|said| if let Said::User(text) = said { Some(text.as_str()) } else { None });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The results of the last tool calls.
    pub fn last_results(&self) -> Vec<&str> {
        let from_end = self.said.iter().rev().skip_while(|said| !matches!(said, Said::Result { .. }));
        let results =
            from_end.map_while(|said| if let Said::Result { text, .. } = said { Some(text.as_str()) } else { None });
        let mut results: Vec<_> = results.collect();
        results.reverse();
        results
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        match self.wire {
            Wire::Anthropic | Wire::Converse => text_of(&self.body["system"]),
            Wire::Responses => text_of(&self.body["instructions"]),
            Wire::Gemini => text_of(&self.body["systemInstruction"]["parts"]),
            _ => list(&self.body["messages"])
                .find(|message| message["role"] == "system" || message["role"] == "developer")
                .map(|message| text_of(&message["content"]))
                .unwrap_or_default(),
        }
    }

    /// The names of the tools it may call.
    pub fn tools(&self) -> Vec<String> {
        let name =
            |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).unwrap_or_default().to_owned();
        let declared = list(&self.body["tools"]).flat_map(|tool| list(&tool["functionDeclarations"]));
        let specified = list(&self.body["toolConfig"]["tools"]).filter_map(|tool| tool.get("toolSpec"));
        let tools = list(&self.body["tools"]).filter(|_| self.wire != Wire::Gemini);
        tools.chain(declared).chain(specified).map(name).collect()
    }

    /// The model that was asked.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// The body as it came.
    pub fn body(&self) -> &Value {
        &self.body
    }

    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The text that tells the sessions apart: the cache key, the model and how the conversation begins.
    pub(super) fn session(&self) -> String {
        let first = self.said.iter().find(|said| matches!(said, Said::User(_)));
        format!("{:?} {} {first:?}", self.body["prompt_cache_key"], self.model)
    }

    /// Every tool call has exactly one result, right after the message it is in, in the order of the calls.
    pub(super) fn calls_have_results(&self) -> Result<(), String> {
        let mut open: Vec<&str> = Vec::new();
        let mut answering = false;
        for said in &self.said {
            match said {
                Said::Call { id, .. } if answering && !open.is_empty() => {
                    return Err(format!("call {id} comes before the results of {open:?}"));
                }
                Said::Call { id, .. } => {
                    open.push(id);
                    answering = false;
                }
                Said::Result { id, .. } => {
                    if open.first() != Some(&id.as_str()) {
                        return Err(format!("a result for {id}, where one for {:?} is due", open.first()));
                    }
                    open.remove(0);
                    answering = true;
                }
                Said::User(_) if !open.is_empty() => return Err(format!("{open:?} have no result")),
                Said::User(_) | Said::Assistant(_) | Said::Other => {}
            }
        }
        if open.is_empty() { Ok(()) } else { Err(format!("{open:?} have no result at the end")) }
    }

    /// The messages begin with those of an earlier request, byte for byte, and the system prompt is the same as long as
    /// the tools are. Marks for the vendor's cache may move.
    pub(super) fn continues(&self, before: &Self) -> Result<(), String> {
        let prefix = |asked: &Self| {
            ["system", "instructions", "systemInstruction"]
                .map(|name| without_marks(&asked.body[name]).to_string())
                .concat()
        };
        let tools = |asked: &Self| ["tools", "toolConfig"].map(|name| asked.body[name].to_string());
        if tools(self) == tools(before) && prefix(self) != prefix(before) {
            return Err(format!("the system prompt changed from {} to {}", prefix(before), prefix(self)));
        }
        // Where the effort changes within the conversation, it does not at the head.
        let head = |asked: &Self| asked.body["output_config"].to_string();
        if list(&self.body["messages"]).any(changes_effort) && head(self) != head(before) {
            return Err(format!("the effort at the head changed from {} to {}", head(before), head(self)));
        }
        let (now, then) = (self.messages(), before.messages());
        for (index, message) in then.iter().enumerate() {
            if now.get(index) != Some(message) {
                return Err(format!("message {index} was\n{message}\nand is\n{:?}", now.get(index)));
            }
        }
        Ok(())
    }

    /// The pieces that the vendor's cache goes by: the messages, or for Anthropic the blocks in them, if they have any.
    fn messages(&self) -> Vec<String> {
        let name = match self.wire {
            Wire::Responses => "input",
            Wire::Gemini => "contents",
            _ => "messages",
        };
        let of = |message: &Value| match self.wire {
            Wire::Anthropic | Wire::Gemini | Wire::Converse => blocks(message),
            _ => vec![without_marks(message).to_string()],
        };
        list(&self.body[name]).flat_map(of).collect()
    }
}

/// The blocks of a message, each with its role; the message itself if it has none.
pub(super) fn blocks(message: &Value) -> Vec<String> {
    let role = &message["role"];
    match (&message["content"], &message["parts"]) {
        (Value::Array(_), _) if changes_effort(message) => vec![format!("{role} {}", message["output_config"])],
        (Value::Array(blocks), _) | (_, Value::Array(blocks)) => {
            let blocks = blocks.iter().filter(|block| !is_mark(block));
            blocks.map(|block| format!("{role} {}", without_marks(block))).collect()
        }
        _ => vec![without_marks(message).to_string()],
    }
}

/// True for a message of Anthropic's that changes the effort from there on.
fn changes_effort(message: &Value) -> bool {
    message.get("output_config").is_some()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The text of content, which is a string or a list of blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn input_of(arguments: &Value) -> Value {
    serde_json::from_str(arguments.as_str().unwrap_or_default()).unwrap_or_default()
}

fn anthropic(message: &Value) -> Vec<Said> {
    let by = |text: String| if message["role"] == "user" { Said::User(text) } else { Said::Assistant(text) };
    if let Value::String(text) = &message["content"] {
        return vec![by(text.clone())];
    }
    let block = |block: &Value| match block["type"].as_str() {
        Some("text") => by(string(&block["text"])),
        Some("tool_use") => {
            Said::Call { id: string(&block["id"]), name: string(&block["name"]), input: block["input"].clone() }
        }
        Some("tool_result") => Said::Result { id: string(&block["tool_use_id"]), text: text_of(&block["content"]) },
        _ => Said::Other,
    };
    list(&message["content"]).map(block).collect()
}

fn converse(message: &Value) -> Vec<Said> {
    let block = |block: &Value| match (text_in(block), block.get("toolUse"), block.get("toolResult")) {
        (Some(text), _, _) if message["role"] == "user" => Said::User(text),
        (Some(text), _, _) => Said::Assistant(text),
        (_, Some(call), _) => {
            Said::Call { id: string(&call["toolUseId"]), name: string(&call["name"]), input: call["input"].clone() }
        }
        (_, _, Some(result)) => Said::Result { id: string(&result["toolUseId"]), text: text_of(&result["content"]) },
        _ => Said::Other,
    };
    list(&message["content"]).filter(|block| !is_mark(block)).map(block).collect()
}

fn text_in(block: &Value) -> Option<String> {
    block["text"].as_str().map(str::to_owned)
}

/// A call and its result have an id only if the model gave one; without, their order says what belongs together.
fn gemini((at, content): (usize, &Value)) -> Vec<Said> {
    let (mut calls, mut results) = (0, 0);
    let id = |given: &Value, of: usize, count: &mut usize| {
        *count += 1;
        given.as_str().map_or_else(|| format!("{of}.{count}"), str::to_owned)
    };
    let mut part = |part: &Value| {
        let (call, result) = (&part["functionCall"], &part["functionResponse"]);
        match (content["role"].as_str(), part["text"].as_str()) {
            (Some("user"), Some(text)) => Said::User(text.to_owned()),
            (_, Some(text)) if part.get("thought").is_none() => Said::Assistant(text.to_owned()),
            _ if call.is_object() => {
                let id = id(&call["id"], at, &mut calls);
                Said::Call { id, name: string(&call["name"]), input: call["args"].clone() }
            }
            _ if result.is_object() => {
                let response = &result["response"];
                let text = response["output"].as_str().or(response["error"].as_str()).unwrap_or_default().to_owned();
                Said::Result { id: id(&result["id"], at.wrapping_sub(1), &mut results), text }
            }
            _ => Said::Other,
        }
    };
    list(&content["parts"]).map(&mut part).collect()
}

fn responses(item: &Value) -> Said {
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("function_call"), _) => Said::Call {
            id: string(&item["call_id"]),
            name: string(&item["name"]),
            input: input_of(&item["arguments"]),
        },
        (Some("function_call_output"), _) => {
            Said::Result { id: string(&item["call_id"]), text: text_of(&item["output"]) }
        }
        (Some("message") | None, Some("user")) => Said::User(text_of(&item["content"])),
        (Some("message") | None, Some("assistant")) => Said::Assistant(text_of(&item["content"])),
        _ => Said::Other,
    }
}

fn chat(message: &Value) -> Vec<Said> {
    match message["role"].as_str() {
        Some("user") => vec![Said::User(text_of(&message["content"]))],
        Some("tool") => {
            vec![Said::Result { id: string(&message["tool_call_id"]), text: text_of(&message["content"]) }]
        }
        Some("assistant") => {
            let call = |call: &Value| Said::Call {
                id: string(&call["id"]),
                name: string(&call["function"]["name"]),
                input: input_of(&call["function"]["arguments"]),
            };
            std::iter::once(Said::Assistant(text_of(&message["content"])))
                .chain(list(&message["tool_calls"]).map(call))
                .collect()
        }
        _ => vec![Said::Other],
    }
}

/// The same without the marks for the vendor's cache, which move on with the conversation.
pub(super) fn without_marks(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| *name != "cache_control");
            kept.map(|(name, value)| (name.clone(), without_marks(value))).collect()
        }
        Value::Array(items) => items.iter().filter(|item| !is_mark(item)).map(without_marks).collect(),
        other => other.clone(),
    }
}

/// True for a block of Converse's that is nothing but a mark.
fn is_mark(block: &Value) -> bool {
    block.get("cachePoint").is_some()
}
