//! An answer out of its events.

use std::borrow::Cow;

use ports::model::{ModelEvent, Request, Response, Stop};
use protocol::content::{CacheMiss, Opening, RequestPart, Usage};
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::Value;

use super::request::{ANSWER, add_answered, asks_why, so_far};
use crate::failure::{Fault, words};
use crate::wire::kept::keeps_for_hour;
use crate::wire::lenient::{object, object_or_default, optional_count, or_default, text};
use crate::wire::prefix::{AFTER, Prefix};
use crate::wire::{Decode, Pieces, Target, tool_input};

/// Reads a stream of Messages events.
pub(crate) struct Decoder {
    target: Target,
    /// The blocks so far, with their index on the wire.
    blocks: Vec<(usize, Block)>,
    /// The mark of what was said before the answer.
    prefix: Prefix,
    /// True if the vendor is asked why its cache misses.
    asks_why: bool,
    /// True if the vendor is asked to keep the prompt for an hour.
    keeps_for_hour: bool,
    /// The tokens that were written for an hour, if it was said.
    written_for_hour: Option<u64>,
    usage: Usage,
    stop: Option<Stop>,
    why: Option<String>,
    finished: bool,
}

/// A block that comes in.
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted {
        data: String,
    },
    Call {
        id: ToolCallId,
        name: String,
        json: String,
        /// The whole input, as some servers give it at the start; what is streamed counts before it.
        whole: String,
        closed: bool,
    },
    /// A block that we did not ask for, such as the calls of the vendor's own tools.
    Other,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "text")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    index: usize,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    content_block: Option<Start<'a>>,
    #[serde(default)]
    message: Option<Head>,
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
    // An answer that comes at once says these itself.
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "object")]
    diagnostics: Option<Diagnostics>,
    #[serde(borrow, default, deserialize_with = "or_default")]
    content: Vec<Start<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "object")]
    stop_details: Option<Details>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    partial_json: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "object")]
    stop_details: Option<Details>,
}

/// Why the model would not answer (`RefusalStopDetails` of npm `@anthropic-ai/sdk` 1.12).
#[derive(Deserialize)]
struct Details {
    #[serde(default, deserialize_with = "or_default")]
    category: String,
    #[serde(default, deserialize_with = "or_default")]
    explanation: String,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(rename = "type", borrow, default, deserialize_with = "text")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    data: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    input: Value,
}

#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "or_default")]
    id: String,
    #[serde(default, deserialize_with = "object_or_default")]
    usage: Counts,
    #[serde(default, deserialize_with = "object")]
    diagnostics: Option<Diagnostics>,
}

/// Why the cache missed (`Diagnostics` of npm `@anthropic-ai/sdk` 1.12).
#[derive(Deserialize)]
struct Diagnostics {
    #[serde(default, deserialize_with = "object")]
    cache_miss_reason: Option<Reason>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(rename = "type", default, deserialize_with = "or_default")]
    kind: String,
    #[serde(default, deserialize_with = "optional_count")]
    cache_missed_input_tokens: Option<u64>,
}

/// Counts are cumulative; what a later event does not say stays.
#[derive(Default, Deserialize)]
struct Counts {
    #[serde(default, deserialize_with = "optional_count")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "object")]
    cache_creation: Option<Creation>,
}

/// The tokens that were written to the cache, by the time for which they are kept (`CacheCreation` of npm
/// `@anthropic-ai/sdk` 1.12).
#[derive(Deserialize)]
struct Creation {
    #[serde(default, deserialize_with = "optional_count")]
    ephemeral_1h_input_tokens: Option<u64>,
}

impl Decoder {
    pub(crate) fn new(target: &Target, request: &Request) -> Self {
        let (blocks, usage, prefix) = (Vec::new(), Usage::default(), so_far(target, request));
        let (asks_why, keeps_for_hour) = (asks_why(target, request), keeps_for_hour(target, request));
        let target = target.clone();
        Self {
            target,
            blocks,
            prefix,
            asks_why,
            keeps_for_hour,
            written_for_hour: None,
            usage,
            stop: None,
            why: None,
            finished: false,
        }
    }

    /// Takes in the name of the answer, and why the cache missed.
    fn open(&self, id: String, diagnostics: Option<Diagnostics>, pieces: &mut Pieces) {
        if self.asks_why && !id.is_empty() {
            let fields = std::iter::once((ANSWER.to_owned(), Value::String(id))).collect();
            let missed = diagnostics.and_then(|diagnostics| diagnostics.cache_miss_reason).and_then(missed);
            pieces.push(ModelEvent::Opened(Opening { vendor: Some(self.target.tag(fields)), missed }));
        }
    }

    fn begin(&mut self, index: usize, start: Start<'_>, pieces: &mut Pieces) {
        let owned = |text: Option<Cow<'_, str>>| text.map(Cow::into_owned).unwrap_or_default();
        let block = match start.kind.as_deref() {
            Some("text") => {
                let text = owned(start.text);
                pieces.text(&text);
                Block::Text(text)
            }
            Some("thinking") => {
                let text = owned(start.thinking);
                pieces.thinking(&text);
                Block::Thinking { text, signature: owned(start.signature) }
            }
            Some("redacted_thinking") => Block::Redacted { data: owned(start.data) },
            Some("tool_use") => {
                let (id, name) = (ToolCallId::new(owned(start.id)), owned(start.name));
                pieces.push(ModelEvent::ToolCallStarted { id: id.clone(), name: name.clone() });
                let has_input = start.input.as_object().is_some_and(|input| !input.is_empty());
                let whole = if has_input { start.input.to_string() } else { String::new() };
                Block::Call { id, name, json: String::new(), whole, closed: false }
            }
            _ => Block::Other,
        };
        self.blocks.push((index, block));
    }

    fn add(&mut self, index: usize, delta: &Delta<'_>, pieces: &mut Pieces) {
        let Some((_, block)) = self.blocks.iter_mut().rev().find(|(at, _)| *at == index) else { return };
        match block {
            Block::Text(text) => {
                if let Some(piece) = &delta.text {
                    text.push_str(piece);
                    pieces.text(piece);
                }
            }
            Block::Thinking { text, signature } => {
                if let Some(piece) = &delta.thinking {
                    text.push_str(piece);
                    pieces.thinking(piece);
                }
                signature.push_str(delta.signature.as_deref().unwrap_or_default());
            }
            Block::Call { id, json, .. } => {
                if let Some(piece) = &delta.partial_json {
                    json.push_str(piece);
                    pieces.input(id, piece);
                }
            }
            Block::Redacted { .. } | Block::Other => {}
        }
    }

    fn close(&mut self, index: usize, pieces: &mut Pieces) {
        let block = self.blocks.iter_mut().rev().find(|(at, _)| *at == index);
        if let Some((_, Block::Call { id, json, whole, closed, .. })) = block {
            *closed = true;
            if json.is_empty() {
                *json = std::mem::take(whole);
                pieces.input(id, json);
            }
        }
    }

    fn count(&mut self, counts: &Counts, pieces: &mut Pieces) {
        let before = self.usage;
        let set = |place: &mut u64, count: Option<u64>| *place = count.unwrap_or(*place);
        set(&mut self.usage.input, counts.input_tokens);
        set(&mut self.usage.output, counts.output_tokens);
        set(&mut self.usage.cache_read, counts.cache_read_input_tokens);
        set(&mut self.usage.cache_write, counts.cache_creation_input_tokens);
        let for_hour = counts.cache_creation.as_ref().and_then(|creation| creation.ephemeral_1h_input_tokens);
        self.written_for_hour = for_hour.or(self.written_for_hour);
        // Where a server does not say it, all was written as it was asked.
        let all = if self.keeps_for_hour { self.usage.cache_write } else { 0 };
        self.usage.cache_write_hour = self.written_for_hour.unwrap_or(all).min(self.usage.cache_write);
        if self.usage != before {
            pieces.used(self.usage);
        }
    }

    /// Takes in an answer that comes at once.
    fn whole(&mut self, content: Vec<Start<'_>>, pieces: &mut Pieces) {
        for (index, start) in content.into_iter().enumerate() {
            self.begin(index, start, pieces);
            self.close(index, pieces);
        }
        self.finish(pieces);
    }

    fn stopped(&mut self, reason: &str, details: Option<Details>) {
        self.stop = Some(stop(reason));
        self.why = match details {
            Some(Details { category, explanation }) => match (explanation.trim(), category.trim()) {
                ("", "") => None,
                ("", category) => Some(format!("it falls under \"{category}\"")),
                (explanation, "") => Some(explanation.to_owned()),
                (explanation, category) => Some(format!("{} ({category})", explanation.trim_end_matches('.'))),
            },
            None if reason == "model_context_window_exceeded" => Some("the model's context is full".to_owned()),
            None => None,
        };
    }

    fn thinking(&self, text: String, (name, proof): (&str, String)) -> AssistantBlock {
        let after = self.prefix.mark().map(|mark| (AFTER.to_owned(), mark));
        let fields = std::iter::once((name.to_owned(), Value::String(proof))).chain(after).collect();
        AssistantBlock::Thinking { text, vendor: Some(self.target.tag(fields)) }
    }

    fn finish(&mut self, pieces: &mut Pieces) {
        let mut content = Vec::with_capacity(self.blocks.len());
        for (_, block) in std::mem::take(&mut self.blocks) {
            let block = match block {
                Block::Text(text) => (!text.is_empty()).then(|| AssistantBlock::text(text)),
                Block::Thinking { text, signature } => Some(self.thinking(text, ("signature", signature))),
                Block::Redacted { data } => Some(self.thinking(String::new(), ("redacted", data))),
                Block::Call { id, name, json, whole, .. } => {
                    let json = if json.is_empty() { whole } else { json };
                    Some(AssistantBlock::tool_call(id, name, tool_input(&json)))
                }
                Block::Other => None,
            };
            if let Some(block) = &block {
                add_answered(&mut self.prefix, &self.target, block);
            }
            content.extend(block);
        }
        let calls = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        let stop = self.stop.unwrap_or(if calls { Stop::ToolUse } else { Stop::EndTurn });
        self.finished = true;
        let why = self.why.take();
        pieces.push(ModelEvent::Finished(Response { content, stop, why, usage: self.usage }));
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault> {
        let event: Event<'_> = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
        match event.kind.as_deref() {
            Some("content_block_delta") => {
                if let Some(delta) = &event.delta {
                    self.add(event.index, delta, pieces);
                }
            }
            Some("content_block_start") => {
                if let Some(start) = event.content_block {
                    self.begin(event.index, start, pieces);
                }
            }
            Some("content_block_stop") => self.close(event.index, pieces),
            // One that comes before anything was said may be a gateway's own, before the vendor's.
            Some("message_start") if !self.blocks.is_empty() => {
                return Err(Fault::garbage(data, "another answer began within the first"));
            }
            Some("message_start") => {
                if let Some(Head { id, usage, diagnostics }) = event.message {
                    self.open(id, diagnostics, pieces);
                    self.count(&usage, pieces);
                }
            }
            Some("message_delta") => {
                if let Some((Some(reason), details)) = event.delta.map(|delta| (delta.stop_reason, delta.stop_details))
                {
                    self.stopped(&reason, details);
                }
                if let Some(counts) = &event.usage {
                    self.count(counts, pieces);
                }
            }
            Some("message") => {
                self.open(event.id, event.diagnostics, pieces);
                if let Some(reason) = event.stop_reason {
                    self.stopped(&reason, event.stop_details);
                }
                if let Some(counts) = &event.usage {
                    self.count(counts, pieces);
                }
                self.whole(event.content, pieces);
            }
            Some("message_stop") => self.finish(pieces),
            kind if kind == Some("error") || kind.is_none() && event.error.is_some() => {
                return Err(Fault::Vendor(words(data)));
            }
            // Pings, and what the vendor may add: it asks to ignore what is not known.
            Some(_) => {}
            None => return Err(Fault::garbage(data, "an event without a type")),
        }
        Ok(())
    }

    fn end(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        if self.finished {
            return Ok(());
        }
        if self.blocks.iter().any(|(_, block)| matches!(block, Block::Call { closed: false, .. })) {
            return Err(Fault::Incomplete("it ended inside a tool call"));
        }
        if self.stop.is_none() {
            return Err(Fault::Incomplete("it ended before it was whole"));
        }
        self.finish(pieces);
        Ok(())
    }
}

/// Why the cache missed; none if the vendor could not find out, which it says in several ways.
fn missed(reason: Reason) -> Option<CacheMiss> {
    let changed = match reason.kind.as_str() {
        "model_changed" => RequestPart::Model,
        "system_changed" => RequestPart::System,
        "tools_changed" => RequestPart::Tools,
        "messages_changed" => RequestPart::Messages,
        _ => return None,
    };
    Some(CacheMiss { changed, tokens: reason.cache_missed_input_tokens.unwrap_or_default() })
}

/// Why it ended. `pause_turn` comes with the vendor's own tools, which a gateway may add.
fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "refusal" => Stop::Refusal,
        "pause_turn" => Stop::Pause,
        _ => Stop::EndTurn,
    }
}
