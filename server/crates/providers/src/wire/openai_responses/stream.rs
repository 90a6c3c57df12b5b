//! An answer out of its events.

use std::borrow::Cow;

use ports::model::{ModelEvent, Response, Stop};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::failure::Fault;
use crate::wire::lenient::{count, object, object_or_default, or_default, text};
use crate::wire::{Decode, FILTERED, Pieces, Target, tool_input, usage};

/// Reads a stream of Responses events.
pub(crate) struct Decoder {
    target: Target,
    slots: Vec<Slot>,
    refused: bool,
    finished: bool,
}

/// An item, and what it goes by. Some servers give no index, some another id with each event.
struct Slot {
    index: Option<usize>,
    /// May be empty.
    id: String,
    item: Item,
    /// True if it came whole.
    done: bool,
}

/// The way in which an event names the item that it speaks of.
#[derive(Clone, Copy)]
struct Name<'a> {
    index: Option<usize>,
    /// May be empty.
    id: &'a str,
}

/// An item that comes in.
enum Item {
    Message {
        text: String,
        /// The part of the work that it is: comment or final answer.
        phase: Option<Value>,
    },
    Reasoning {
        text: String,
        item: Option<Value>,
    },
    Call {
        id: ToolCallId,
        name: String,
        json: String,
    },
    /// An item that we did not ask for, such as the calls of the vendor's own tools.
    Other,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "text")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    object: Option<Cow<'a, str>>,
    #[serde(default)]
    output_index: Option<usize>,
    #[serde(borrow, default, deserialize_with = "text")]
    item_id: Option<Cow<'a, str>>,
    #[serde(default)]
    summary_index: Option<usize>,
    #[serde(borrow, default, deserialize_with = "text")]
    delta: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    arguments: Option<Cow<'a, str>>,
    #[serde(default)]
    item: Option<Value>,
    #[serde(default)]
    response: Option<Ending>,
    #[serde(default)]
    error: Option<Problem>,
    // An event `error` says these itself.
    #[serde(borrow, default, deserialize_with = "text")]
    code: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    message: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Ending {
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
    #[serde(default)]
    incomplete_details: Option<Details>,
    #[serde(default)]
    error: Option<Problem>,
    #[serde(default, deserialize_with = "or_default")]
    output: Vec<Value>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "or_default")]
    reason: String,
}

#[derive(Deserialize)]
struct Problem {
    #[serde(default, deserialize_with = "or_default")]
    code: Value,
    #[serde(rename = "type", default, deserialize_with = "or_default")]
    kind: String,
    #[serde(default, deserialize_with = "or_default")]
    message: String,
}

#[derive(Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "object_or_default")]
    input_tokens_details: InputDetails,
}

#[derive(Default, Deserialize)]
struct InputDetails {
    #[serde(default, deserialize_with = "count")]
    cached_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_write_tokens: u64,
}

impl Counts {
    fn usage(&self) -> Usage {
        let InputDetails { cached_tokens, cache_write_tokens } = self.input_tokens_details;
        usage(self.input_tokens, self.output_tokens, cached_tokens, cache_write_tokens)
    }
}

impl Decoder {
    pub(crate) fn new(target: &Target) -> Self {
        Self { target: target.clone(), slots: Vec::new(), refused: false, finished: false }
    }

    /// The place of the item that an event speaks of: that of its index; without one, that of its id; else the last
    /// item, if it is not whole yet and fits.
    fn place(&self, Name { index, id }: Name<'_>, fits: impl Fn(&Item) -> bool) -> Option<usize> {
        if index.is_some() {
            return self.slots.iter().rposition(|slot| slot.index == index);
        }
        let named = self.slots.iter().rposition(|slot| !id.is_empty() && slot.id == id);
        named.or_else(|| {
            let is_open = self.slots.last().is_some_and(|slot| !slot.done && fits(&slot.item));
            is_open.then(|| self.slots.len() - 1)
        })
    }

    /// The item that a piece belongs to.
    fn item(&mut self, name: Name<'_>, fits: impl Fn(&Item) -> bool) -> Option<&mut Item> {
        let place = self.place(name, fits)?;
        self.slots.get_mut(place).map(|slot| &mut slot.item)
    }

    /// The same, where a piece of text may come before its item was told of.
    fn item_or(&mut self, name: Name<'_>, fits: impl Fn(&Item) -> bool, make: fn() -> Item) -> Option<&mut Item> {
        let place = self.place(name, fits).unwrap_or_else(|| self.add(name, make()));
        self.slots.get_mut(place).map(|slot| &mut slot.item)
    }

    fn add(&mut self, Name { index, id }: Name<'_>, item: Item) -> usize {
        self.slots.push(Slot { index, id: id.to_owned(), item, done: false });
        self.slots.len() - 1
    }

    fn begin(&mut self, index: Option<usize>, item: &Value, pieces: &mut Pieces) -> usize {
        let begun = match field(item, "type") {
            "message" => Item::Message { text: String::new(), phase: phase(item) },
            "reasoning" => Item::Reasoning { text: String::new(), item: None },
            "function_call" => {
                let (id, name) = (ToolCallId::from(field(item, "call_id")), field(item, "name").to_owned());
                pieces.push(ModelEvent::ToolCallStarted { id: id.clone(), name: name.clone() });
                Item::Call { id, name, json: String::new() }
            }
            _ => Item::Other,
        };
        self.add(Name { index, id: field(item, "id") }, begun)
    }

    /// The place of the item that a whole one completes.
    fn place_of(&self, index: Option<usize>, whole: &Value) -> Option<usize> {
        let (kind, call_id) = (field(whole, "type"), field(whole, "call_id"));
        let is_call = |item: &Item| matches!(item, Item::Call { id, .. } if id.as_str() == call_id);
        let named = self.place(Name { index, id: field(whole, "id") }, |item| match item {
            Item::Message { .. } => kind == "message",
            Item::Reasoning { .. } => kind == "reasoning",
            Item::Call { .. } => kind == "function_call" && is_call(item),
            Item::Other => false,
        });
        let is_known_call = index.is_none() && kind == "function_call" && !call_id.is_empty();
        named.or_else(|| self.slots.iter().rposition(|slot| is_known_call && is_call(&slot.item)))
    }

    /// Takes in a whole item: it counts where the pieces said less.
    fn complete(&mut self, index: Option<usize>, whole: Value, pieces: &mut Pieces) {
        let place = self.place_of(index, &whole).unwrap_or_else(|| self.begin(index, &whole, pieces));
        let Some(slot) = self.slots.get_mut(place) else { return };
        slot.done = true;
        match &mut slot.item {
            Item::Message { text, phase: known } => {
                *known = phase(&whole).or(known.take());
                let parts = whole.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                self.refused |= parts.iter().any(|part| field(part, "type") == "refusal");
                let said: String =
                    parts.iter().flat_map(|part| [field(part, "text"), field(part, "refusal")]).collect();
                add_rest(text, &said, |rest| pieces.text(rest));
            }
            Item::Call { id, json, .. } => {
                add_rest(json, field(&whole, "arguments"), |rest| pieces.input(id, rest));
            }
            Item::Reasoning { item, .. } => *item = Some(whole),
            Item::Other => {}
        }
    }

    fn finish(&mut self, ending: Option<Ending>, pieces: &mut Pieces) {
        let (usage, details, output) =
            ending.map(|ending| (ending.usage, ending.incomplete_details, ending.output)).unwrap_or_default();
        if self.slots.is_empty() {
            output.into_iter().for_each(|item| self.complete(None, item, pieces));
        }
        let mut content = Vec::with_capacity(self.slots.len());
        for Slot { item, .. } in std::mem::take(&mut self.slots) {
            content.extend(match item {
                Item::Message { text, phase } => (!text.is_empty()).then(|| {
                    let vendor = phase.map(|phase| self.target.tag(Map::from_iter([("phase".to_owned(), phase)])));
                    AssistantBlock::Text { text, vendor }
                }),
                Item::Reasoning { text, item } => {
                    let vendor = item.and_then(sendable).map(|item| self.target.tag(Map::from_iter([item])));
                    (vendor.is_some() || !text.is_empty()).then_some(AssistantBlock::Thinking { text, vendor })
                }
                Item::Call { id, name, json } => Some(AssistantBlock::tool_call(id, name, tool_input(&json))),
                Item::Other => None,
            });
        }
        let calls = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        let reason = details.as_ref().map(|details| details.reason.as_str());
        let why = reason.filter(|reason| *reason == "content_filter").map(|_| FILTERED.to_owned());
        let stop = match reason {
            Some("content_filter") => Stop::Refusal,
            Some(_) => Stop::MaxTokens,
            None if calls => Stop::ToolUse,
            None if self.refused => Stop::Refusal,
            None => Stop::EndTurn,
        };
        self.finished = true;
        let usage = usage.map(|counts| counts.usage()).unwrap_or_default();
        pieces.push(ModelEvent::Finished(Response { content, stop, why, usage }));
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault> {
        if data == b"[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
        let (index, piece) = (event.output_index, event.delta.as_deref().unwrap_or_default());
        let name = Name { index, id: event.item_id.as_deref().unwrap_or_default() };
        let is_message = |item: &Item| matches!(item, Item::Message { .. });
        let is_reasoning = |item: &Item| matches!(item, Item::Reasoning { .. });
        let is_call = |item: &Item| matches!(item, Item::Call { .. });
        match event.kind.as_deref() {
            Some(kind @ ("response.output_text.delta" | "response.refusal.delta")) => {
                self.refused |= kind == "response.refusal.delta";
                let make = || Item::Message { text: String::new(), phase: None };
                if let Some(Item::Message { text, .. }) = self.item_or(name, is_message, make) {
                    text.push_str(piece);
                    pieces.text(piece);
                }
            }
            Some("response.function_call_arguments.delta") => {
                if let Some(Item::Call { id, json, .. }) = self.item(name, is_call) {
                    json.push_str(piece);
                    pieces.input(id, piece);
                }
            }
            Some("response.function_call_arguments.done") => {
                if let Some(Item::Call { id, json, .. }) = self.item(name, is_call) {
                    add_rest(json, event.arguments.as_deref().unwrap_or_default(), |rest| pieces.input(id, rest));
                }
            }
            Some("response.reasoning_summary_text.delta" | "response.reasoning_text.delta") => {
                let make = || Item::Reasoning { text: String::new(), item: None };
                if let Some(Item::Reasoning { text, .. }) = self.item_or(name, is_reasoning, make) {
                    text.push_str(piece);
                    pieces.thinking(piece);
                }
            }
            Some("response.reasoning_summary_part.added") => {
                if let Some(Item::Reasoning { text, .. }) = self.item(name, is_reasoning)
                    && event.summary_index.is_some_and(|index| index > 0)
                    && !text.is_empty()
                {
                    text.push_str("\n\n");
                    pieces.thinking("\n\n");
                }
            }
            Some("response.created") if !self.slots.is_empty() => {
                return Err(Fault::garbage(data, "another answer began within the first"));
            }
            Some("response.output_item.added") => {
                if let Some(item) = &event.item {
                    self.begin(index, item, pieces);
                }
            }
            Some("response.output_item.done") => {
                if let Some(item) = event.item {
                    self.complete(index, item, pieces);
                }
            }
            Some("response.completed" | "response.incomplete" | "response.done") => self.finish(event.response, pieces),
            Some("response.failed") => return Err(failed(event.response, pieces)),
            Some("error") | None if event.error.is_some() => return Err(vendor(event.error)),
            Some("error") => {
                let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).unwrap_or_default();
                return Err(Fault::vendor(owned(event.code), owned(event.message)));
            }
            // Beginnings of parts, events of the vendor's own tools, and what the vendor may add.
            Some(_) => {}
            // An answer that comes at once.
            None if event.object.as_deref() == Some("response") => {
                let ending: Ending = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
                if ending.error.is_some() {
                    return Err(failed(Some(ending), pieces));
                }
                self.finish(Some(ending), pieces);
            }
            None => return Err(Fault::garbage(data, "an event without a type")),
        }
        Ok(())
    }

    fn end(&mut self, _: &mut Pieces) -> Result<(), Fault> {
        match self.slots.last().map(|slot| &slot.item) {
            _ if self.finished => Ok(()),
            Some(Item::Call { .. }) => Err(Fault::Incomplete("it ended inside a tool call")),
            _ => Err(Fault::Incomplete("it ended before it was whole")),
        }
    }
}

fn field<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The phase of a message, which `gpt-5.3-codex` and later want back (`EasyInputMessage.phase` of npm `openai` 7.57).
fn phase(item: &Value) -> Option<Value> {
    item.get("phase").filter(|phase| !phase.is_null()).cloned()
}

/// Adds what a whole text has beyond the pieces so far. Where they differ, the pieces count: they were shown.
fn add_rest(so_far: &mut String, whole: &str, show: impl FnOnce(&str)) {
    if let Some(rest) = whole.strip_prefix(so_far.as_str())
        && !rest.is_empty()
    {
        show(rest);
        so_far.push_str(rest);
    }
}

/// A reasoning item as it can be sent back. Without its encrypted content it means nothing to a vendor that stored
/// nothing; and what is null on the way here is not taken on the way back.
fn sendable(item: Value) -> Option<(String, Value)> {
    let Value::Object(mut item) = item else { return None };
    item.get("encrypted_content").and_then(Value::as_str).filter(|content| !content.is_empty())?;
    item.retain(|name, value| !value.is_null() && name != "status");
    Some(("item".to_owned(), Value::Object(item)))
}

/// Why a response failed. What it used is told first.
fn failed(ending: Option<Ending>, pieces: &mut Pieces) -> Fault {
    let (usage, problem) = ending.map(|ending| (ending.usage, ending.error)).unwrap_or_default();
    if let Some(counts) = usage {
        pieces.used(counts.usage());
    }
    vendor(problem)
}

fn vendor(problem: Option<Problem>) -> Fault {
    let Some(Problem { code, kind, message }) = problem else {
        return Fault::vendor("", "the response failed");
    };
    let code = match code {
        Value::String(code) => code,
        Value::Number(number) => format!("{kind} {number}"),
        _ => kind,
    };
    Fault::vendor(code, message)
}
