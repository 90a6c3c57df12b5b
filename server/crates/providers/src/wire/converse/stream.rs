//! An answer out of its events.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ports::model::{ModelEvent, Request, Response, Stop};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::request::{HOUR, add_answered, keeps_for_hour, so_far};
use crate::failure::{Fault, Words};
use crate::wire::lenient::{count, object, or_default, text};
use crate::wire::prefix::{AFTER, Prefix};
use crate::wire::tool_names::Renamed;
use crate::wire::{Decode, FILTERED, Pieces, Target, tool_input};

/// The most blocks of an answer. Models ask for a few dozen calls at most; each of more would be a card and a result.
const BLOCKS: usize = 1_000;

/// The exceptions that may come within a stream, or in place of one, with their statuses as an answer to a request
/// (`httpStatusCode`).
const EXCEPTIONS: &[(&str, u16)] = &[
    ("accessDeniedException", 403),
    ("internalServerException", 500),
    ("modelErrorException", 424),
    ("modelNotReadyException", 429),
    ("modelStreamErrorException", 424),
    ("modelTimeoutException", 408),
    ("resourceNotFoundException", 404),
    ("serviceQuotaExceededException", 400),
    ("serviceUnavailableException", 503),
    ("throttlingException", 429),
    ("validationException", 400),
];

/// Reads the events of `ConverseStream`, or the answer of `Converse`.
pub(crate) struct Decoder {
    target: Target,
    renamed: Renamed,
    /// The blocks so far, with their index on the wire.
    blocks: Vec<(u64, Block)>,
    /// The mark of what was said before the answer.
    prefix: Prefix,
    /// True if the vendor is asked to keep the prompt for an hour.
    keeps_for_hour: bool,
    usage: Usage,
    end: Option<End>,
    has_begun: bool,
    finished: bool,
}

/// A block that comes in.
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
        redacted: Vec<u8>,
    },
    Call {
        id: ToolCallId,
        name: String,
        json: String,
        closed: bool,
    },
    /// A block that we did not ask for, such as the calls of the vendor's own tools.
    Other,
}

/// Why an answer ended, and what there is to say of it.
struct End {
    stop: Stop,
    why: Option<&'static str>,
}

/// An event: one of these fields is there. Those of an answer that comes at once are beside each other.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    #[serde(default)]
    message_start: Option<Value>,
    #[serde(borrow, default)]
    content_block_start: Option<Opened<'a>>,
    #[serde(borrow, default)]
    content_block_delta: Option<Changed<'a>>,
    #[serde(default)]
    content_block_stop: Option<Closed>,
    #[serde(borrow, default)]
    message_stop: Option<Stopped<'a>>,
    #[serde(default)]
    metadata: Option<Metadata>,
    #[serde(borrow, default)]
    output: Option<Output<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened<'a> {
    #[serde(default)]
    content_block_index: u64,
    #[serde(borrow, default)]
    start: Option<Start<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Start<'a> {
    #[serde(borrow, default)]
    tool_use: Option<Call<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    name: Option<Cow<'a, str>>,
    /// The kind of a call of the vendor's own tools.
    #[serde(rename = "type", borrow, default, deserialize_with = "text")]
    kind: Option<Cow<'a, str>>,
    /// The input of a call that comes at once.
    #[serde(default)]
    input: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'a> {
    #[serde(default)]
    content_block_index: u64,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delta<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use: Option<Input<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Thought<'a>>,
}

#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    input: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Thought<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    signature: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    redacted_content: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Closed {
    #[serde(default)]
    content_block_index: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stopped<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    stop_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Metadata {
    #[serde(default, deserialize_with = "object")]
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Output<'a> {
    #[serde(borrow, default)]
    message: Option<Said<'a>>,
}

#[derive(Deserialize)]
struct Said<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    content: Vec<Whole<'a>>,
}

/// A block of an answer that comes at once.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    tool_use: Option<Call<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<WholeThought<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WholeThought<'a> {
    #[serde(borrow, default)]
    reasoning_text: Option<Thought<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    redacted_content: Option<Cow<'a, str>>,
}

/// The tokens. The input is without what the cache served and stored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    #[serde(default, deserialize_with = "count")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_read_input_tokens: u64,
    #[serde(default, deserialize_with = "count")]
    cache_write_input_tokens: u64,
    /// The tokens that were written to the cache, by the time for which they are kept (`CacheDetailsList`).
    #[serde(default)]
    cache_details: Value,
}

impl Counts {
    /// The tokens that were written for an hour; none if it does not say.
    fn written_for_hour(&self) -> Option<u64> {
        let details = self.cache_details.as_array().filter(|details| !details.is_empty())?;
        let of_hour = details.iter().filter(|detail| detail["ttl"] == HOUR);
        Some(of_hour.filter_map(|detail| detail["inputTokens"].as_u64()).fold(0, u64::saturating_add))
    }
}

impl Decoder {
    pub(crate) fn new(target: &Target, request: &Request) -> Self {
        Self {
            target: target.clone(),
            renamed: Renamed::of(&request.tools, target.family.names()),
            blocks: Vec::new(),
            prefix: so_far(target, request),
            keeps_for_hour: keeps_for_hour(target, request),
            usage: Usage::default(),
            end: None,
            has_begun: false,
            finished: false,
        }
    }

    /// Begins a block. Another may have the same index: some gateways send none.
    fn begin(&mut self, index: u64, block: Block) -> Result<(), Fault> {
        if self.blocks.len() >= BLOCKS {
            return Err(Fault::Unusable(format!("it has more than {BLOCKS} blocks")));
        }
        self.blocks.push((index, block));
        Ok(())
    }

    /// The last block with an index, if it is of the kind of this one; else this one. Only calls are announced.
    fn block(&mut self, index: u64, new: Block) -> Result<&mut Block, Fault> {
        let kind = std::mem::discriminant(&new);
        let known = self.blocks.iter().rposition(|(at, _)| *at == index);
        let known =
            known.filter(|at| self.blocks.get(*at).is_some_and(|(_, block)| std::mem::discriminant(block) == kind));
        if known.is_none() {
            self.begin(index, new)?;
        }
        let block = match known {
            Some(at) => self.blocks.get_mut(at),
            None => self.blocks.last_mut(),
        };
        block.map(|(_, block)| block).ok_or(Fault::Incomplete("it has lost a block"))
    }

    fn begin_call(&mut self, index: u64, call: &Call<'_>, pieces: &mut Pieces) -> Result<(), Fault> {
        if call.kind.is_some() {
            return self.begin(index, Block::Other);
        }
        let id = ToolCallId::from(call.tool_use_id.as_deref().unwrap_or_default());
        let name = self.renamed.own(call.name.as_deref().unwrap_or_default());
        pieces.push(ModelEvent::ToolCallStarted { id: id.clone(), name: name.clone() });
        self.begin(index, Block::Call { id, name, json: String::new(), closed: false })
    }

    fn add(&mut self, index: u64, delta: &Delta<'_>, pieces: &mut Pieces) -> Result<(), Fault> {
        if let Some(piece) = delta.text.as_deref()
            && let Block::Text(text) = self.block(index, Block::Text(String::new()))?
        {
            text.push_str(piece);
            pieces.text(piece);
        }
        if let Some(thought) = &delta.reasoning_content {
            self.think(index, thought, pieces)?;
        }
        if let Some(piece) = delta.tool_use.as_ref().and_then(|call| call.input.as_deref())
            && let Some((_, Block::Call { id, json, .. })) = self.blocks.iter_mut().rfind(|(at, _)| *at == index)
        {
            json.push_str(piece);
            pieces.input(id, piece);
        }
        Ok(())
    }

    fn think(&mut self, index: u64, thought: &Thought<'_>, pieces: &mut Pieces) -> Result<(), Fault> {
        let new = Block::Thinking { text: String::new(), signature: String::new(), redacted: Vec::new() };
        let Block::Thinking { text, signature, redacted } = self.block(index, new)? else { return Ok(()) };
        if let Some(piece) = &thought.text {
            text.push_str(piece);
            pieces.thinking(piece);
        }
        signature.push_str(thought.signature.as_deref().unwrap_or_default());
        if let Some(piece) = thought.redacted_content.as_deref() {
            // Each piece is encoded on its own.
            let bytes = STANDARD.decode(piece).map_err(|problem| Fault::garbage(piece.as_bytes(), problem))?;
            redacted.extend(bytes);
        }
        Ok(())
    }

    fn close(&mut self, index: u64) {
        if let Some((_, Block::Call { closed, .. })) = self.blocks.iter_mut().rfind(|(at, _)| *at == index) {
            *closed = true;
        }
    }

    /// Takes in an answer that comes at once.
    fn whole(&mut self, content: Vec<Whole<'_>>, pieces: &mut Pieces) -> Result<(), Fault> {
        for (index, Whole { text, tool_use, reasoning_content }) in (0..).zip(content) {
            let (thought, hidden) = match reasoning_content {
                Some(WholeThought { reasoning_text, redacted_content }) => (reasoning_text, redacted_content),
                None => (None, None),
            };
            let hidden = hidden.map(|hidden| Thought { text: None, signature: None, redacted_content: Some(hidden) });
            let mut input = None;
            if let Some(call) = &tool_use {
                self.begin_call(index, call, pieces)?;
                let is_said = !call.input.is_null();
                input = is_said.then(|| Input { input: Some(Cow::Owned(call.input.to_string())) });
            }
            let delta = Delta { text, tool_use: input, reasoning_content: thought.or(hidden) };
            self.add(index, &delta, pieces)?;
            self.close(index);
        }
        Ok(())
    }

    fn count(&mut self, counts: Option<Counts>, pieces: &mut Pieces) {
        let Some(counts) = counts else { return };
        self.usage = Usage {
            input: counts.input_tokens,
            output: counts.output_tokens,
            cache_read: counts.cache_read_input_tokens,
            cache_write: counts.cache_write_input_tokens,
            // Where it does not say it, all was written as it was asked.
            cache_write_hour: counts
                .written_for_hour()
                .unwrap_or(if self.keeps_for_hour { u64::MAX } else { 0 })
                .min(counts.cache_write_input_tokens),
        };
        pieces.used(self.usage);
    }

    fn thinking(&self, text: String, proof: Option<(&str, String)>) -> AssistantBlock {
        let after = self.prefix.mark().map(|mark| (AFTER.to_owned(), mark));
        let proof = proof.map(|(name, proof)| (name.to_owned(), Value::String(proof)));
        AssistantBlock::Thinking { text, vendor: Some(self.target.tag(proof.into_iter().chain(after).collect())) }
    }

    fn finish(&mut self, End { stop, why }: End, pieces: &mut Pieces) {
        let mut content = Vec::with_capacity(self.blocks.len());
        for (_, block) in std::mem::take(&mut self.blocks) {
            let block = match block {
                Block::Text(text) => (!text.is_empty()).then(|| AssistantBlock::text(text)),
                Block::Thinking { text, redacted, .. } if !redacted.is_empty() => {
                    Some(self.thinking(text, Some(("redacted", STANDARD.encode(redacted)))))
                }
                Block::Thinking { text, signature, .. } if !signature.is_empty() => {
                    Some(self.thinking(text, Some(("signature", signature))))
                }
                Block::Thinking { text, .. } => (!text.is_empty()).then(|| self.thinking(text, None)),
                Block::Call { id, name, json, .. } => Some(AssistantBlock::tool_call(id, name, tool_input(&json))),
                Block::Other => None,
            };
            if let Some(block) = &block {
                add_answered(&mut self.prefix, &self.target, block);
            }
            content.extend(block);
        }
        let calls = content.iter().any(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        // Not every maker's model says so.
        let stop = if calls && stop == Stop::EndTurn { Stop::ToolUse } else { stop };
        self.finished = true;
        pieces.push(ModelEvent::Finished(Response { content, stop, why: why.map(str::to_owned), usage: self.usage }));
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault> {
        let event: Event<'_> = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
        if let Some(Changed { content_block_index, delta: Some(delta) }) = &event.content_block_delta {
            return self.add(*content_block_index, delta, pieces);
        }
        if let Some(opened) = event.content_block_start {
            let call = opened.start.and_then(|start| start.tool_use);
            return call.map_or(Ok(()), |call| self.begin_call(opened.content_block_index, &call, pieces));
        }
        if let Some(Closed { content_block_index }) = event.content_block_stop {
            self.close(content_block_index);
            return Ok(());
        }
        if event.message_start.is_some() {
            if std::mem::replace(&mut self.has_begun, true) {
                return Err(Fault::garbage(data, "another answer began within the first"));
            }
            return Ok(());
        }
        if let Some(stopped) = event.message_stop {
            self.end = Some(ended(stopped.stop_reason.as_deref().unwrap_or_default())?);
            return Ok(());
        }
        if let Some(Metadata { usage }) = event.metadata {
            self.count(usage, pieces);
            // It is the last event.
            if let Some(end) = self.end.take() {
                self.finish(end, pieces);
            }
            return Ok(());
        }
        if let Some(output) = event.output {
            let end = ended(event.stop_reason.as_deref().unwrap_or_default())?;
            self.whole(output.message.map(|message| message.content).unwrap_or_default(), pieces)?;
            self.count(event.usage, pieces);
            self.finish(end, pieces);
            return Ok(());
        }
        // Events that the vendor may add are read over.
        exception(data).map_or(Ok(()), Err)
    }

    fn end(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        if self.finished {
            return Ok(());
        }
        if self.blocks.iter().any(|(_, block)| matches!(block, Block::Call { closed: false, .. })) {
            return Err(Fault::Incomplete("it ended inside a tool call"));
        }
        let end = self.end.take().ok_or(Fault::Incomplete("it ended before it was whole"))?;
        self.finish(end, pieces);
        Ok(())
    }
}

/// Why it ended (`StopReason`).
fn ended(reason: &str) -> Result<End, Fault> {
    let end = |stop, why| Ok(End { stop, why });
    match reason {
        "tool_use" => end(Stop::ToolUse, None),
        "max_tokens" => end(Stop::MaxTokens, None),
        "model_context_window_exceeded" => end(Stop::MaxTokens, Some("the model's context is full")),
        "content_filtered" => end(Stop::Refusal, Some(FILTERED)),
        "guardrail_intervened" => end(Stop::Refusal, Some("a guardrail of your account at AWS broke the answer off")),
        "malformed_tool_use" => Err(Fault::vendor(reason, "the model wrote a tool call that cannot be read.")),
        "malformed_model_output" => Err(Fault::Unusable("it is malformed (malformed_model_output)".to_owned())),
        _ => end(Stop::EndTurn, None),
    }
}

/// The error that an event or an answer is; none if it is none.
fn exception(data: &[u8]) -> Option<Fault> {
    let fields: Map<String, Value> = serde_json::from_slice(data).ok()?;
    let said = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    // An error that the service has no model for has its code and words in the headers of its message.
    if let Some(error) = fields.get("error") {
        return Some(Fault::Vendor(Words::new(said(error, "code"), said(error, "message"))));
    }
    let (name, value) = fields.iter().find(|(name, _)| name.ends_with("Exception"))?;
    let known = EXCEPTIONS.iter().find(|(known, _)| known == name).map(|(_, status)| u64::from(*status));
    // The status with which the model itself failed says more.
    let status = value.get("originalStatusCode").and_then(Value::as_u64).or(known);
    let code = status.map_or_else(|| name.clone(), |status| format!("{status} {name}"));
    let message = Some(said(value, "message")).filter(|message| !message.is_empty());
    Some(Fault::Vendor(Words::new(code, message.unwrap_or_else(|| said(value, "originalMessage")))))
}
