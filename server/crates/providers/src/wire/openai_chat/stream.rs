//! An answer out of its chunks.
//!
//! The differences of servers, each taken as it is meant: no count of tokens, or one in another place; tool calls
//! without id or index, all with index 0, or with their input as an object; thinking as `reasoning_content`, as
//! `reasoning`, as `reasoning_details` or as a part of the content; `finish_reason` `stop` when tools are called,
//! another word, or none; no `[DONE]` at the end; the whole answer at once, as `message`.

use std::borrow::Cow;

use ports::model::{ModelEvent, Response, Stop};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::{Fault, words};
use crate::wire::lenient::{TextOr, count, object, object_or_default, or_default, text, text_or_value};
use crate::wire::tool_ids::{Rule, fit};
use crate::wire::{Decode, FILTERED, Pieces, Target, tool_input, usage};

/// Reads a stream of chunks.
pub(crate) struct Decoder {
    target: Target,
    thinking: String,
    /// The field in which thinking came, where it is one that is sent back.
    thinking_field: Option<&'static str>,
    details: Vec<Map<String, Value>>,
    text: String,
    /// The fields that are to go back with the text.
    extra: Option<Value>,
    calls: Vec<Call>,
    usage: Usage,
    stop: Option<Stop>,
    why: Option<String>,
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
    end: End,
    /// The fields that are to go back with it.
    extra: Option<Value>,
}

/// Looks for the end of an object in JSON that comes in pieces.
#[derive(Default)]
struct End {
    depth: usize,
    in_text: bool,
    escaped: bool,
    reached: bool,
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    choices: Vec<Choice<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    object: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
    #[serde(default, deserialize_with = "object")]
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
    #[serde(default, deserialize_with = "object")]
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
    #[serde(default, deserialize_with = "or_default")]
    reasoning_details: Value,
    #[serde(default)]
    extra_content: Option<Value>,
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
    #[serde(default)]
    extra_content: Option<Value>,
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
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "object_or_default")]
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

impl Counts {
    fn usage(&self) -> Usage {
        let read = self.prompt_tokens_details.cached_tokens.max(self.prompt_cache_hit_tokens);
        usage(self.prompt_tokens, self.completion_tokens, read, self.prompt_tokens_details.cache_write_tokens)
    }
}

impl End {
    fn look(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if self.reached => return,
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_text => self.escaped = true,
                b'"' => self.in_text = !self.in_text,
                _ if self.in_text => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.reached = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

impl Decoder {
    pub(crate) fn new(target: &Target) -> Self {
        Self {
            target: target.clone(),
            thinking: String::new(),
            thinking_field: None,
            details: Vec::new(),
            text: String::new(),
            extra: None,
            calls: Vec::new(),
            usage: Usage::default(),
            stop: None,
            why: None,
            refused: false,
            finished: false,
        }
    }

    fn add(&mut self, delta: Delta<'_>, pieces: &mut Pieces) {
        // Some servers send both fields, one of them empty or both with the same.
        let fields = [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
        let thought = fields.into_iter().find_map(|(field, piece)| Some((field, piece.filter(|p| !p.is_empty())?)));
        let is_told = thought.is_some();
        if let Some((field, piece)) = thought {
            self.thinking_field.get_or_insert(field);
            self.think(&piece, pieces);
        }
        if let Value::Array(details) = delta.reasoning_details {
            self.add_details(details, is_told, pieces);
        }
        self.extra = self.extra.take().or(delta.extra_content.filter(|extra| !extra.is_null()));
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

    /// Details of the thinking. Neighbouring pieces of one text become one; what is encrypted stays as it is.
    fn add_details(&mut self, details: Vec<Value>, is_told: bool, pieces: &mut Pieces) {
        for detail in details {
            let Value::Object(detail) = detail else { continue };
            for name in ["text", "summary"] {
                if let Some(piece) = detail.get(name).and_then(Value::as_str).filter(|_| !is_told) {
                    self.think(piece, pieces);
                }
            }
            match self.details.last_mut() {
                Some(last) if goes_on(last, &detail) => append(last, detail),
                _ => self.details.push(detail),
            }
        }
    }

    /// Content in parts, as Mistral sends it: texts, and thinking that is a text or made of texts.
    fn add_parts(&mut self, parts: &Value, pieces: &mut Pieces) {
        for part in parts.as_array().map(Vec::as_slice).unwrap_or_default() {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.say(text, pieces);
            }
            if let Some(text) = part.get("thinking").and_then(Value::as_str) {
                self.think(text, pieces);
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
        let piece = match arguments {
            Some(TextOr::Text(piece)) => piece,
            Some(TextOr::Value(whole)) => Cow::Owned(whole.to_string()),
            None => Cow::Borrowed(""),
        };
        let Some(call) = self.slot(delta.index, &id, &name, &piece, pieces) else { return };
        call.json.push_str(&piece);
        call.end.look(&piece);
        call.extra = call.extra.take().or(delta.extra_content.filter(|extra| !extra.is_null()));
        pieces.input(&call.id, &piece);
    }

    /// The call that a piece belongs to. An id other than a call's begins a new one, whatever the index says; so does a
    /// name where there is neither id nor index; and so does, without an id, what comes after a call's whole input:
    /// another name, or more input.
    fn slot(
        &mut self,
        index: Option<usize>,
        id: &str,
        name: &str,
        piece: &str,
        pieces: &mut Pieces,
    ) -> Option<&mut Call> {
        let found = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if !id.is_empty() => self.calls.iter().rposition(|call| call.given_id == id),
            None if name.is_empty() => self.calls.len().checked_sub(1),
            None => None,
        };
        let is_other = |call: &Call| {
            let has_other_id = !id.is_empty() && !call.given_id.is_empty() && call.given_id != id;
            let has_other_name = !name.is_empty() && !call.name.is_empty() && call.name != name;
            // A tool without parameters may be given no input at all.
            let follows = match has_other_name {
                true => call.end.reached || call.json.trim().is_empty(),
                false => call.end.reached && !piece.trim().is_empty(),
            };
            has_other_id || follows && (id.is_empty() || call.given_id != id)
        };
        let found_call = found.and_then(|at| self.calls.get(at));
        let twin_name = found_call.map(|call| call.name.clone()).unwrap_or_default();
        let at = match found.filter(|_| !found_call.is_some_and(is_other)) {
            Some(at) => at,
            None => {
                let made = format!("call_{}", self.calls.len() + 1);
                // More input after a whole one, without a name: another call of the same tool.
                let name = if name.is_empty() { twin_name.as_str() } else { name };
                let own = ToolCallId::new(if id.is_empty() { made } else { id.to_owned() });
                pieces.push(ModelEvent::ToolCallStarted { id: own.clone(), name: name.to_owned() });
                self.calls.push(Call {
                    index,
                    given_id: id.to_owned(),
                    id: own,
                    name: name.to_owned(),
                    json: String::new(),
                    end: End::default(),
                    extra: None,
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

    /// Returns the fields that are to go back with a block; none if there are none.
    fn kept<const N: usize>(&self, values: [(&str, Option<Value>); N]) -> Option<Value> {
        Some(fields(values)).filter(|fields| !fields.is_empty()).map(|fields| self.target.tag(fields))
    }

    fn finish(&mut self, pieces: &mut Pieces) {
        let mut content = Vec::new();
        let details = std::mem::take(&mut self.details);
        if !self.thinking.is_empty() || !details.is_empty() {
            let text = std::mem::take(&mut self.thinking);
            let details = (!details.is_empty()).then(|| details.into_iter().map(Value::Object).collect());
            let field = self.thinking_field.map(Value::from);
            let vendor = self.target.tag(fields([("field", field), ("reasoning_details", details)]));
            content.push(AssistantBlock::Thinking { text, vendor: Some(vendor) });
        }
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            content.push(AssistantBlock::Text { text, vendor: self.kept([("extra_content", self.extra.clone())]) });
        }
        for Call { id, name, json, extra, .. } in std::mem::take(&mut self.calls) {
            // One that all take needs no mention.
            let own_id = matches!(fit(id.as_str(), Rule::Forty), Cow::Owned(_)).then(|| Value::from(id.as_str()));
            let vendor = self.kept([("extra_content", extra), ("id", own_id)]);
            content.push(AssistantBlock::ToolCall { id, name, input: tool_input(&json), vendor });
        }
        let calls = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        let stop = match self.stop {
            Some(Stop::MaxTokens) => Stop::MaxTokens,
            _ if calls => Stop::ToolUse,
            Some(Stop::Refusal) => Stop::Refusal,
            _ if self.refused => Stop::Refusal,
            _ => Stop::EndTurn,
        };
        self.finished = true;
        let why = self.why.take().filter(|_| stop == Stop::Refusal);
        pieces.push(ModelEvent::Finished(Response { content, stop, why, usage: self.usage }));
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
        let is_error = chunk.object.as_deref() == Some("error");
        if is_error || chunk.error.as_ref().is_some_and(|error| !error.is_null()) {
            return Err(Fault::Vendor(words(data)));
        }
        // Beside a count of all, later ones replace earlier ones: some servers send one with each chunk.
        let mut counts = chunk.usage.or(chunk.x_groq.and_then(|extra| extra.usage));
        for choice in chunk.choices {
            if choice.index.is_some_and(|index| index > 0) {
                continue;
            }
            if let Some(error) = choice.error.filter(|error| !error.is_null()) {
                return Err(Fault::Vendor(words(error.to_string().as_bytes())));
            }
            if let Some(delta) = choice.delta.or(choice.message) {
                self.add(delta, pieces);
            }
            if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
                let stop = stop(&reason)?;
                self.why = (stop == Stop::Refusal).then(|| FILTERED.to_owned());
                self.stop = Some(stop);
            }
            counts = counts.or(choice.usage);
        }
        if let Some(counts) = counts {
            let usage = counts.usage();
            if usage != self.usage {
                self.usage = usage;
                pieces.used(usage);
            }
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

fn fields<const N: usize>(values: [(&str, Option<Value>); N]) -> Map<String, Value> {
    values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// True if a detail is the next piece of the one before it.
fn goes_on(last: &Map<String, Value>, next: &Map<String, Value>) -> bool {
    let given = |detail: &Map<String, Value>, name: &str| detail.get(name).filter(|value| !value.is_null()).cloned();
    let agree = |name: &str| match (given(last, name), given(next, name)) {
        (Some(last), Some(next)) => last == next,
        _ => true,
    };
    let is_text = matches!(next.get("type").and_then(Value::as_str), Some("reasoning.text" | "reasoning.summary"));
    is_text
        && last.get("type") == next.get("type")
        && agree("index")
        && agree("id")
        && last.get("signature").and_then(Value::as_str).is_none_or(str::is_empty)
}

/// Adds a piece to the detail before it.
fn append(last: &mut Map<String, Value>, next: Map<String, Value>) {
    for (name, value) in next {
        match (last.get_mut(&name), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(piece)) if matches!(&*name, "text" | "summary") => {
                text.push_str(&piece);
            }
            (Some(known), value) if *known == Value::Null || *known == json!("") => *known = value,
            (Some(_), _) => {}
            (None, value) => {
                last.insert(name, value);
            }
        }
    }
}

/// Why it ended.
fn stop(reason: &str) -> Result<Stop, Fault> {
    // Google's server writes `function_call_filter: MALFORMED_FUNCTION_CALL`.
    let reason = reason.to_ascii_lowercase();
    if ["malformed_function_call", "unexpected_tool_call"].iter().any(|name| reason.contains(name)) {
        return Err(Fault::vendor(reason, "the model wrote a tool call that cannot be read"));
    }
    match reason.as_str() {
        "length" | "max_tokens" | "model_length" => Ok(Stop::MaxTokens),
        reason if reason.starts_with("content_filter") => Ok(Stop::Refusal),
        "refusal" | "safety" => Ok(Stop::Refusal),
        "tool_calls" | "function_call" | "tool_use" => Ok(Stop::ToolUse),
        "error" | "network_error" => Err(Fault::vendor("server_error", "the answer ended with an error")),
        _ => Ok(Stop::EndTurn),
    }
}
