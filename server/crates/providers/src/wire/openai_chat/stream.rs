//! An answer out of its chunks.
//!
//! What servers do differently, and is taken as it is meant: no count of tokens, or one in another place; tool calls
//! without id or index, all with index 0, or with their input as an object; thinking as `reasoning_content`, as
//! `reasoning` or as a part of the content; `finish_reason` `stop` where tools are called, another word, or none; no
//! `[DONE]` at the end; the whole answer at once, as `message`.

use std::borrow::Cow;

use agent::model::{ModelEvent, Response, Stop};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::{Fault, words};
use crate::wire::lenient::{TextOr, count, or_default, text, text_or_value};
use crate::wire::{Decode, Pieces, Target, tool_input};

/// Reads a stream of chunks.
pub(crate) struct Decoder {
    target: Target,
    thinking: String,
    text: String,
    calls: Vec<Call>,
    usage: Usage,
    stop: Option<Stop>,
    refused: bool,
    finished: bool,
}

/// A call that comes in.
struct Call {
    index: Option<usize>,
    /// The id that the server gave; may be empty.
    given_id: String,
    id: ToolCallId,
    name: String,
    json: String,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    choices: Vec<Choice<'a>>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(default)]
    x_groq: Option<Extra>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    #[serde(default)]
    index: Option<usize>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    message: Option<Delta<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(default)]
    usage: Option<Counts>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default, deserialize_with = "text_or_value")]
    content: Option<TextOr<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    tool_calls: Vec<CallDelta<'a>>,
}

#[derive(Deserialize)]
struct CallDelta<'a> {
    #[serde(default)]
    index: Option<usize>,
    #[serde(borrow, default, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function: Option<FunctionDelta<'a>>,
}

#[derive(Deserialize)]
struct FunctionDelta<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text_or_value")]
    arguments: Option<TextOr<'a>>,
}

#[derive(Deserialize)]
struct Extra {
    #[serde(default)]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "or_default")]
    prompt_tokens_details: PromptDetails,
    /// DeepSeek's name for what the cache served.
    #[serde(default, deserialize_with = "count")]
    prompt_cache_hit_tokens: u64,
}

#[derive(Default, Deserialize)]
struct PromptDetails {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_write_tokens: u64,
}

impl Decoder {
    pub(crate) fn new(target: &Target) -> Self {
        Self {
            target: target.clone(),
            thinking: String::new(),
            text: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            stop: None,
            refused: false,
            finished: false,
        }
    }

    fn add(&mut self, delta: Delta<'_>, pieces: &mut Pieces) {
        if let Some(piece) = delta.reasoning_content.or(delta.reasoning) {
            self.think(&piece, pieces);
        }
        match delta.content {
            Some(TextOr::Text(piece)) => self.say(&piece, pieces),
            Some(TextOr::Value(parts)) => self.add_parts(&parts, pieces),
            None => {}
        }
        if let Some(piece) = delta.refusal.filter(|piece| !piece.is_empty()) {
            self.refused = true;
            self.say(&piece, pieces);
        }
        for call in delta.tool_calls {
            self.call(call, pieces);
        }
    }

    fn say(&mut self, piece: &str, pieces: &mut Pieces) {
        self.text.push_str(piece);
        pieces.text(piece);
    }

    fn think(&mut self, piece: &str, pieces: &mut Pieces) {
        self.thinking.push_str(piece);
        pieces.thinking(piece);
    }

    /// Content in parts, as Mistral sends it: texts, and thinking that is made of texts.
    fn add_parts(&mut self, parts: &Value, pieces: &mut Pieces) {
        for part in parts.as_array().map(Vec::as_slice).unwrap_or_default() {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.say(text, pieces);
            }
            let inner = part.get("thinking").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for text in inner.iter().filter_map(|part| part.get("text")?.as_str()) {
                self.think(text, pieces);
            }
        }
    }

    fn call(&mut self, delta: CallDelta<'_>, pieces: &mut Pieces) {
        let (name, arguments) = delta.function.map(|function| (function.name, function.arguments)).unwrap_or_default();
        let (id, name) = (delta.id.unwrap_or_default(), name.unwrap_or_default());
        let Some(call) = self.slot(delta.index, &id, &name, pieces) else { return };
        match arguments {
            Some(TextOr::Text(piece)) => {
                call.json.push_str(&piece);
                pieces.input(&call.id, &piece);
            }
            Some(TextOr::Value(whole)) => {
                let whole = whole.to_string();
                call.json.push_str(&whole);
                pieces.input(&call.id, &whole);
            }
            None => {}
        }
    }

    /// The call that a piece belongs to. An id other than a call's begins a new one, whatever the index says; so does a
    /// name where there is neither id nor index.
    fn slot(&mut self, index: Option<usize>, id: &str, name: &str, pieces: &mut Pieces) -> Option<&mut Call> {
        let found = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.given_id == id),
            None if name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let is_other = |at: usize| {
            let given = self.calls.get(at).map(|call| call.given_id.as_str()).unwrap_or_default();
            !id.is_empty() && !given.is_empty() && given != id
        };
        let at = match found.filter(|at| !is_other(*at)) {
            Some(at) => at,
            None => {
                let made = format!("call_{}", self.calls.len() + 1);
                let own = ToolCallId::new(if id.is_empty() { made } else { id.to_owned() });
                pieces.push(ModelEvent::ToolCallStarted { id: own.clone(), name: name.to_owned() });
                self.calls.push(Call {
                    index,
                    given_id: id.to_owned(),
                    id: own,
                    name: name.to_owned(),
                    json: String::new(),
                });
                self.calls.len() - 1
            }
        };
        let call = self.calls.get_mut(at)?;
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        Some(call)
    }

    fn finish(&mut self, pieces: &mut Pieces) {
        let mut content = Vec::new();
        if !self.thinking.is_empty() {
            let text = std::mem::take(&mut self.thinking);
            content.push(AssistantBlock::Thinking { text, vendor: Some(self.target.tag(Map::new())) });
        }
        if !self.text.is_empty() {
            content.push(AssistantBlock::Text { text: std::mem::take(&mut self.text) });
        }
        let calls = std::mem::take(&mut self.calls).into_iter();
        content.extend(calls.map(|Call { id, name, json, .. }| AssistantBlock::ToolCall {
            id,
            name,
            input: tool_input(&json),
        }));
        let calls = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        let stop = match self.stop {
            Some(Stop::MaxTokens) => Stop::MaxTokens,
            _ if calls => Stop::ToolUse,
            Some(Stop::Refusal) => Stop::Refusal,
            _ if self.refused => Stop::Refusal,
            _ => Stop::EndTurn,
        };
        self.finished = true;
        pieces.push(ModelEvent::Finished(Response { content, stop, usage: self.usage }));
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault> {
        if self.finished {
            return Ok(());
        }
        if data.trim_ascii() == b"[DONE]" {
            if self.stop.is_none() && self.text.is_empty() && self.calls.is_empty() {
                return Err(Fault::Incomplete("it ended without an answer"));
            }
            self.finish(pieces);
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            let (code, message) = words(data);
            return Err(Fault::Vendor { code, message });
        }
        // Beside a count of all, later ones replace earlier ones: some servers send one with each chunk.
        let mut counts = chunk.usage.or(chunk.x_groq.and_then(|extra| extra.usage));
        for choice in chunk.choices {
            if choice.index.is_some_and(|index| index > 0) {
                continue;
            }
            if let Some(error) = choice.error.filter(|error| !error.is_null()) {
                let (code, message) = words(error.to_string().as_bytes());
                return Err(Fault::Vendor { code, message });
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.add(delta, pieces);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                self.stop = Some(stop(&reason)?);
            }
            counts = counts.or(choice.usage);
        }
        if let Some(counts) = counts {
            self.usage = usage_of(&counts);
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        if self.finished {
            return Ok(());
        }
        match self.stop {
            Some(_) => {
                self.finish(pieces);
                Ok(())
            }
            None if self.calls.is_empty() => Err(Fault::Incomplete("it ended before it was whole")),
            None => Err(Fault::Incomplete("it ended inside a tool call")),
        }
    }
}

/// Why it ended.
fn stop(reason: &str) -> Result<Stop, Fault> {
    match reason {
        "length" | "max_tokens" | "model_length" => Ok(Stop::MaxTokens),
        "content_filter" | "refusal" | "safety" => Ok(Stop::Refusal),
        "tool_calls" | "function_call" | "tool_use" => Ok(Stop::ToolUse),
        "error" | "network_error" => {
            Err(Fault::Vendor { code: "server_error".to_owned(), message: "the answer ended with an error".to_owned() })
        }
        _ => Ok(Stop::EndTurn),
    }
}

/// The vendor's input counts what the cache served and stored; ours does not.
fn usage_of(counts: &Counts) -> Usage {
    let read = counts.prompt_tokens_details.cached_tokens.max(counts.prompt_cache_hit_tokens);
    let written = counts.prompt_tokens_details.cache_write_tokens;
    Usage {
        input: counts.prompt_tokens.saturating_sub(read).saturating_sub(written),
        output: counts.completion_tokens,
        cache_read: read,
        cache_write: written,
    }
}
