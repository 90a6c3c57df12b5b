//! An answer out of its events.

use std::borrow::Cow;

use ports::model::{ModelEvent, Response, Stop, ToolSpec};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolCallId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::failure::{Fault, Words, words};
use crate::hash::fnv1a;
use crate::wire::lenient::{object, optional_count, or_default, text};
use crate::wire::tool_names::{Renamed, Rule};
use crate::wire::{Decode, Pieces, Target, usage};

/// The most calls of an answer. Models ask for a few dozen at most; each of more would be a card and a result.
const CALLS: usize = 1_000;

/// Reads a stream of `GenerateContentResponse`s. Google's own says by nothing but its end that it is over: the last
/// event may have more than the reason to end.
pub(crate) struct Decoder {
    target: Target,
    renamed: Renamed,
    blocks: Vec<Block>,
    calls: usize,
    counts: Counts,
    end: Option<End>,
    finished: bool,
}

/// A block that comes in.
enum Block {
    Text { text: String, is_thought: bool, signature: Option<String> },
    Call { id: ToolCallId, own_id: Option<String>, name: String, input: Value, signature: Option<String> },
}

/// Why an answer ended, and what the vendor says of it.
struct End {
    stop: Stop,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    candidates: Vec<Candidate<'a>>,
    #[serde(default, deserialize_with = "object")]
    usage_metadata: Option<Counts>,
    #[serde(default, deserialize_with = "object")]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(default)]
    index: Option<u64>,
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
    #[serde(borrow, default, deserialize_with = "text")]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    finish_message: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow, default, deserialize_with = "or_default")]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    text: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "or_default")]
    thought: bool,
    #[serde(borrow, default, deserialize_with = "text")]
    thought_signature: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    function_call: Option<Called<'a>>,
}

#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow, default, deserialize_with = "text")]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "text")]
    name: Option<Cow<'a, str>>,
    #[serde(default)]
    args: Value,
}

/// The reason why nothing was answered.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default, deserialize_with = "or_default")]
    block_reason: String,
    #[serde(default, deserialize_with = "or_default")]
    block_reason_message: String,
}

impl Feedback {
    fn is_block(&self) -> bool {
        !matches!(self.block_reason.as_str(), "" | "BLOCKED_REASON_UNSPECIFIED")
    }
}

/// Counts are cumulative; what a later event does not say stays.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Counts {
    /// All of the prompt, with what the cache served.
    #[serde(default, deserialize_with = "optional_count")]
    prompt_token_count: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    cached_content_token_count: Option<u64>,
    /// The answer, without the thinking.
    #[serde(default, deserialize_with = "optional_count")]
    candidates_token_count: Option<u64>,
    #[serde(default, deserialize_with = "optional_count")]
    thoughts_token_count: Option<u64>,
}

impl Counts {
    fn usage(self) -> Usage {
        let thoughts = self.thoughts_token_count.unwrap_or_default();
        let output = self.candidates_token_count.unwrap_or_default().saturating_add(thoughts);
        let cached = self.cached_content_token_count.unwrap_or_default();
        usage(self.prompt_token_count.unwrap_or_default(), output, cached, 0)
    }

    fn or(self, before: Self) -> Self {
        Self {
            prompt_token_count: self.prompt_token_count.or(before.prompt_token_count),
            cached_content_token_count: self.cached_content_token_count.or(before.cached_content_token_count),
            candidates_token_count: self.candidates_token_count.or(before.candidates_token_count),
            thoughts_token_count: self.thoughts_token_count.or(before.thoughts_token_count),
        }
    }
}

impl Decoder {
    pub(crate) fn new(target: &Target, tools: &[ToolSpec]) -> Self {
        Self {
            target: target.clone(),
            renamed: Renamed::of(tools, Rule::Gemini),
            blocks: Vec::new(),
            calls: 0,
            counts: Counts::default(),
            end: None,
            finished: false,
        }
    }

    fn chunk(&mut self, chunk: Chunk<'_>, pieces: &mut Pieces) -> Result<(), Fault> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Fault::Vendor(words(json!({ "error": error }).to_string().as_bytes())));
        }
        if let Some(counts) = chunk.usage_metadata {
            let before = self.counts.usage();
            self.counts = counts.or(self.counts);
            if self.counts.usage() != before {
                pieces.used(self.counts.usage());
            }
        }
        if let Some(feedback) = chunk.prompt_feedback.filter(Feedback::is_block) {
            let why = format!("the request was blocked, {}", blocked(&feedback.block_reason));
            self.end = Some(End { stop: Stop::Refusal, why: Some(with(why, &feedback.block_reason_message)) });
        }
        for candidate in chunk.candidates.into_iter().filter(|candidate| candidate.index.unwrap_or_default() == 0) {
            for part in candidate.content.into_iter().flat_map(|content| content.parts) {
                self.part(part, pieces)?;
            }
            if let Some(reason) = candidate.finish_reason {
                let end = ended(&reason, candidate.finish_message.as_deref().unwrap_or_default())?;
                // An ordinary end says nothing against the one before.
                let is_news = |end: &End| self.end.is_none() || end.stop != Stop::EndTurn;
                self.end = end.filter(is_news).or(self.end.take());
            }
        }
        Ok(())
    }

    fn part(&mut self, part: Part<'_>, pieces: &mut Pieces) -> Result<(), Fault> {
        let signature = part.thought_signature.filter(|signature| !signature.is_empty()).map(Cow::into_owned);
        if let Some(called) = part.function_call {
            return self.call(called, signature, pieces);
        }
        let text = match part.text {
            Some(text) => text,
            // A part that is nothing but its signature.
            None if signature.is_some() => Cow::Borrowed(""),
            // Images, and the calls of the vendor's own tools: they were not asked for.
            None => return Ok(()),
        };
        let is_thought = part.thought;
        if is_thought {
            pieces.thinking(&text)
        } else {
            pieces.text(&text)
        }
        match self.blocks.last_mut() {
            Some(Block::Text { text: so_far, is_thought: kind, signature: None })
                if *kind == is_thought && signature.is_none() =>
            {
                so_far.push_str(&text);
            }
            _ => self.blocks.push(Block::Text { text: text.into_owned(), is_thought, signature }),
        }
        Ok(())
    }

    fn call(&mut self, called: Called<'_>, signature: Option<String>, pieces: &mut Pieces) -> Result<(), Fault> {
        self.calls += 1;
        if self.calls > CALLS {
            return Err(Fault::Unusable(format!("it has more than {CALLS} tool calls")));
        }
        let own_id = called.id.filter(|id| !id.is_empty()).map(Cow::into_owned);
        let id = ToolCallId::new(own_id.clone().unwrap_or_else(|| format!("call_{}", self.calls)));
        let name = self.renamed.own(called.name.as_deref().unwrap_or_default());
        let input = if called.args.is_null() { Value::Object(Map::new()) } else { called.args };
        pieces.push(ModelEvent::ToolCallStarted { id: id.clone(), name: name.clone() });
        pieces.input(&id, &input.to_string());
        self.blocks.push(Block::Call { id, own_id, name, input, signature });
        Ok(())
    }

    /// Returns the fields that are to go back with a block; none if there are none.
    fn kept<const N: usize>(&self, fields: [(&str, Option<Value>); N]) -> Option<Value> {
        let fields: Map<_, _> =
            fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        (!fields.is_empty()).then(|| self.target.tag(fields))
    }

    fn block(&self, block: Block) -> Option<AssistantBlock> {
        match block {
            // It would go back as an empty part, which Google may refuse.
            Block::Text { text, is_thought: true, signature: None } if text.trim().is_empty() => None,
            Block::Text { text, is_thought: true, signature } => {
                let kept = [("part", Some("thought".into())), ("signature", signature.map(Value::from))];
                let vendor = self.kept(kept);
                Some(AssistantBlock::Thinking { text, vendor })
            }
            Block::Text { text, signature: Some(signature), .. } if text.trim().is_empty() => {
                let vendor = self.kept([("part", Some("text".into())), ("signature", Some(signature.into()))]);
                Some(AssistantBlock::Thinking { text, vendor })
            }
            Block::Text { text, signature, .. } => {
                let mark = signature.as_ref().map(|_| text_mark(&text));
                let vendor = self.kept([("signature", signature.map(Value::from)), ("of", mark)]);
                (!text.is_empty()).then_some(AssistantBlock::Text { text, vendor })
            }
            Block::Call { id, own_id, name, input, signature } => {
                let vendor = self.kept([("id", own_id.map(Value::from)), ("signature", signature.map(Value::from))]);
                Some(AssistantBlock::ToolCall { id, name, input, vendor })
            }
        }
    }

    fn finish(&mut self, End { stop, why }: End, pieces: &mut Pieces) -> Result<(), Fault> {
        let blocks = std::mem::take(&mut self.blocks);
        let content: Vec<_> = blocks.into_iter().filter_map(|block| self.block(block)).collect();
        let has = |wanted: fn(&AssistantBlock) -> bool| content.iter().any(wanted);
        let calls = has(|block| matches!(block, AssistantBlock::ToolCall { .. }));
        let says = has(|block| matches!(block, AssistantBlock::Text { text, .. } if !text.trim().is_empty()));
        let stop = if calls && stop == Stop::EndTurn { Stop::ToolUse } else { stop };
        if stop == Stop::EndTurn && !says {
            return Err(Fault::Unusable("it has neither text nor a tool call".to_owned()));
        }
        self.finished = true;
        pieces.push(ModelEvent::Finished(Response { content, stop, why, usage: self.counts.usage() }));
        Ok(())
    }
}

impl Decode for Decoder {
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault> {
        if data.trim_ascii() == b"[DONE]" {
            // A gateway says so that nothing more comes, whenever it closes the connection.
            return self.end.take().map_or(Ok(()), |end| self.finish(end, pieces));
        }
        let garbage = |problem: serde_json::Error| Fault::garbage(data, problem);
        // An answer that comes at once is a list of the events.
        if data.trim_ascii_start().starts_with(b"[") {
            let chunks: Vec<Chunk<'_>> = serde_json::from_slice(data).map_err(garbage)?;
            return chunks.into_iter().try_for_each(|chunk| self.chunk(chunk, pieces));
        }
        self.chunk(serde_json::from_slice(data).map_err(garbage)?, pieces)
    }

    fn end(&mut self, pieces: &mut Pieces) -> Result<(), Fault> {
        match self.end.take() {
            _ if self.finished => Ok(()),
            Some(end) => self.finish(end, pieces),
            None => Err(Fault::Incomplete("it ended before it was whole")),
        }
    }
}

/// The mark by which a text is known again.
pub(super) fn text_mark(text: &str) -> Value {
    format!("{:016x}", fnv1a(text.as_bytes())).into()
}

/// Why it ended (`FinishReason` of npm `@google/genai` 3.1). None if nothing is said.
fn ended(reason: &str, message: &str) -> Result<Option<End>, Fault> {
    let plain = |stop| Ok(Some(End { stop, why: None }));
    match reason {
        "" | "FINISH_REASON_UNSPECIFIED" => Ok(None),
        // Google ends a step with calls by `STOP`; servers that stand in for it name the calls instead.
        "STOP" | "FUNCTION_CALL" => plain(Stop::EndTurn),
        "MAX_TOKENS" => plain(Stop::MaxTokens),
        "CONTINUATION" => {
            Ok(Some(End { stop: Stop::MaxTokens, why: Some("one request gives no longer answer".to_owned()) }))
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
            let said = match reason {
                "UNEXPECTED_TOOL_CALL" => "the model called a tool that it was not given.",
                _ => "the model wrote a tool call that cannot be read.",
            };
            Err(Fault::Vendor(Words { written: message.to_owned(), ..Words::new(reason, said) }))
        }
        "MALFORMED_RESPONSE" => Err(Fault::Unusable(with("it is malformed (MALFORMED_RESPONSE)".to_owned(), message))),
        "TOO_MANY_TOOL_CALLS" => {
            Err(Fault::Unusable(with("it has too many tool calls (TOO_MANY_TOOL_CALLS)".to_owned(), message)))
        }
        other => {
            let why = format!("the answer was broken off, {}", blocked(other));
            Ok(Some(End { stop: Stop::Refusal, why: Some(with(why, message)) }))
        }
    }
}

/// A filter of the vendor's in plain words (`FinishReason` and `BlockedReason` of npm `@google/genai` 3.1).
fn blocked(reason: &str) -> String {
    let words = match reason {
        "SAFETY" => "since Google's safety filter found it harmful",
        "RECITATION" => "since it came too close to a text that Google may not repeat",
        "LANGUAGE" => "since it was in a language that the model does not support",
        "BLOCKLIST" => "since a term in it is on a blocklist",
        "PROHIBITED_CONTENT" => "since it may hold prohibited content",
        "SPII" => "since it may hold sensitive personal data",
        "MODEL_ARMOR" => "by the project's Model Armor",
        "JAILBREAK" => "since it looked like an attempt to get around the model's rules",
        "OTHER" => "and Google does not say why",
        image if image.contains("IMAGE") => "since an image in it was refused",
        _ => "",
    };
    format!("{words} ({reason})").trim_start().to_owned()
}

/// Words with what the vendor adds to them.
fn with(words: String, message: &str) -> String {
    if message.trim().is_empty() { words } else { format!("{words}: {}", message.trim()) }
}
