//! A request as bytes.

use std::borrow::Cow;

use net::Url;
use ports::model::{Message, Request, ToolSpec, UserBlock};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolResult};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::family::Family;
use crate::data::Thinking;
use crate::percent::encoded;
use crate::wire::anthropic::{BINDING, Effort, ThinkingSetting, drops_blocks, effort, is_off, thinking};
use crate::wire::prefix::Prefix;
use crate::wire::{Target, images, kept, tool_ids, tool_names};

/// The longest answer, in tokens, that every model can be asked for.
const SURE: u64 = 2_048;
/// The text of a result that says nothing. The vendor refuses a blank one.
const NOTHING: &str = "(empty)";
/// The text of a failure that says nothing.
const FAILED: &str = "The call failed.";
/// The description of a tool that was called earlier and is not there any more.
const GONE: &str = "Not available any more.";
/// The longer of the times for which a prompt is kept (`CacheTTL`).
pub(super) const HOUR: &str = "1h";

/// The model's words between the results of its calls and what the user says next, where these may not be together.
const BRIDGE: &str = "Go on.";

/// The path of requests to a model. Its id may be a resource's whole name, with slashes and colons in it.
pub(crate) fn path(model: &str) -> String {
    format!("model/{}/converse-stream", encoded(model))
}

/// Turns the address of a request into that where the answer comes at once.
pub(crate) fn at_once(url: &mut Url) {
    if let Some(path) = url.path().strip_suffix("-stream").map(str::to_owned) {
        url.set_path(&path);
    }
}

/// True if the vendor is asked to keep the prompt for an hour. A gateway that speaks Converse has Bedrock behind it.
pub(super) fn keeps_for_hour(target: &Target, request: &Request) -> bool {
    kept::keeps_for_hour(target, request) && kept::at_bedrock(&target.model)
}

/// The body of a request.
///
/// The parts stand in the order in which they change: settings, system prompt, tools, messages. A mark for the cache is
/// a block of its own, behind what it is for; where the model takes marks, they stand behind the system prompt, the
/// tools, and the last two messages of the user's side that may have one, as over Anthropic's own wire.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let family = target.family;
    let (mut messages, _) = conversation(target, request);
    let more = additional(family, target, request, is_bare_round(&messages));
    let mark = CachePoint::of(target, request);
    let tools = tools(family, request, mark);
    if family.takes_marks() {
        let is_text = |block: &Block<'_>| matches!(block, Block::Text(_));
        let takes_one = |turn: &&mut Turn<'_>| {
            turn.role == "user" && (family.takes_marks_anywhere() || turn.content.iter().all(is_text))
        };
        messages.iter_mut().rev().filter(takes_one).take(2).for_each(|turn| turn.content.push(Block::CachePoint(mark)));
    }
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(SystemBlock::Text(&request.system));
        system.extend(family.takes_marks().then_some(SystemBlock::CachePoint(mark)));
    }
    serde_json::to_vec(&Body {
        inference_config: ((target.has_limit || request.max_output_tokens <= SURE) && !more.is_unlimited)
            .then_some(Limits { max_tokens: request.max_output_tokens }),
        additional_model_request_fields: (!more.is_empty()).then_some(more),
        system,
        tool_config: (!tools.is_empty()).then_some(ToolConfig { tools }),
        messages,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    inference_config: Option<Limits>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_model_request_fields: Option<Additional>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    max_tokens: u64,
}

/// The fields that only some makers' models know, by the names that these makers gave them.
#[derive(Default, Serialize)]
struct Additional {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingSetting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Effort>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    anthropic_beta: Vec<&'static str>,
    #[serde(rename = "reasoningConfig", skip_serializing_if = "Option::is_none")]
    reasoning_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    /// True if the longest answer may not be said.
    #[serde(skip)]
    is_unlimited: bool,
}

impl Additional {
    fn is_empty(&self) -> bool {
        self.thinking.is_none()
            && self.output_config.is_none()
            && self.anthropic_beta.is_empty()
            && self.reasoning_config.is_none()
            && self.reasoning.is_none()
            && self.reasoning_effort.is_none()
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SystemBlock<'a> {
    Text(&'a str),
    CachePoint(CachePoint),
}

#[derive(Serialize)]
struct ToolConfig<'a> {
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Tool<'a> {
    ToolSpec {
        name: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'a str>,
        input_schema: Schema<'a>,
    },
    CachePoint(CachePoint),
}

#[derive(Serialize)]
struct Schema<'a> {
    json: Cow<'a, Value>,
}

#[derive(Clone, Copy, Serialize)]
struct CachePoint {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The time for which it is kept since it was last used; five minutes if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl CachePoint {
    /// The mark of a request. All its marks are the same, because a longer time may not stand behind a shorter one.
    fn of(target: &Target, request: &Request) -> Self {
        Self { kind: "default", ttl: keeps_for_hour(target, request).then_some(HOUR) }
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Block<'a> {
    Text(&'a str),
    Image {
        format: &'a str,
        source: Source<'a>,
    },
    ReasoningContent(Reasoning<'a>),
    ToolUse {
        tool_use_id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: [Text<'a>; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<&'static str>,
    },
    CachePoint(CachePoint),
}

#[derive(Serialize)]
struct Source<'a> {
    bytes: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Reasoning<'a> {
    ReasoningText {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
    RedactedContent(&'a str),
}

#[derive(Serialize)]
struct Text<'a> {
    text: Cow<'a, str>,
}

/// The mark of all that a request says.
pub(super) fn so_far(target: &Target, request: &Request) -> Prefix {
    if target.bound { conversation(target, request).1 } else { Prefix::of_nothing(target) }
}

/// Takes a block of the model's own into a mark.
pub(super) fn add_answered(prefix: &mut Prefix, target: &Target, block: &AssistantBlock) {
    if let Some(block) = assistant(target, target.family, block) {
        prefix.add("assistant", &block);
    }
}

/// The conversation with roles that alternate: what the user's side says in a row is one message, which begins with the
/// results of the calls before it.
fn conversation<'a>(target: &Target, request: &'a Request) -> (Vec<Turn<'a>>, Prefix) {
    let family = target.family;
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(request.messages.len());
    let mut prefix = Prefix::of_nothing(target);
    let is_thinking = |block: &&AssistantBlock| matches!(block, AssistantBlock::Thinking { .. });
    // Where thinking is off, nothing can say that thoughts which no longer fit are to be dropped.
    let is_silent = family == Family::Claude && is_off(target, request);
    for message in &request.messages {
        let (role, content) = match &**message {
            Message::User(blocks) => ("user", blocks.iter().filter_map(user).collect::<Vec<_>>()),
            Message::ToolResults(results) => ("user", results.iter().map(|it| result(family, it)).collect()),
            Message::Assistant(blocks) => {
                // A message that ends in thinking is taken for the beginning of an answer, and refused.
                let end = blocks.len() - blocks.iter().rev().take_while(is_thinking).count();
                let kept = blocks.iter().take(end).filter(|block| !(is_silent && is_thinking(block)));
                let mut so_far = prefix;
                let kept = kept.filter_map(|block| {
                    let written = assistant(target, family, block).filter(|_| so_far.fits(target, block))?;
                    so_far.add("assistant", &written);
                    Some(written)
                });
                ("assistant", kept.collect())
            }
        };
        content.iter().for_each(|block| prefix.add(role, block));
        match turns.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(content),
            _ => turns.push(Turn { role, content }),
        }
    }
    (if family.takes_text_beside_calls() { turns } else { apart(turns) }, prefix)
}

/// The conversation without text beside calls and results. What the model said before its calls is left out. What the
/// user says beside results becomes a part of the last of them, and from the first image on a message of its own.
fn apart(turns: Vec<Turn<'_>>) -> Vec<Turn<'_>> {
    let mut apart = Vec::with_capacity(turns.len());
    for mut turn in turns {
        if turn.content.iter().any(|block| matches!(block, Block::ToolUse { .. })) {
            turn.content.retain(|block| !matches!(block, Block::Text(_)));
            // A text that was left out may have been the end.
            while turn.content.pop_if(|block| matches!(block, Block::ReasoningContent(_))).is_some() {}
        }
        let results = turn.content.iter().take_while(|block| matches!(block, Block::ToolResult { .. })).count();
        let mut said = turn.content.split_off(results).into_iter().peekable();
        if let Some(Block::ToolResult { content: [Text { text: result }], .. }) = turn.content.last_mut() {
            while let Some(Block::Text(text)) = said.next_if(|block| matches!(block, Block::Text(_))) {
                let result = result.to_mut();
                result.push_str("\n\n");
                result.push_str(text);
            }
        }
        let said: Vec<_> = said.collect();
        match said.is_empty() {
            true => apart.push(turn),
            false if results == 0 => apart.push(Turn { content: said, ..turn }),
            false => {
                let bridge = Turn { role: "assistant", content: vec![Block::Text(BRIDGE)] };
                apart.extend([turn, bridge, Turn { role: "user", content: said }]);
            }
        }
    }
    apart
}

fn user(block: &UserBlock) -> Option<Block<'_>> {
    match block {
        UserBlock::Text(text) => (!text.trim().is_empty()).then_some(Block::Text(text)),
        UserBlock::Image { mime_type, data } => {
            let format = images::read_by_most(mime_type).and_then(|kind| kind.strip_prefix("image/"));
            Some(match format {
                Some(format) => Block::Image { format, source: Source { bytes: data } },
                None => Block::Text(images::UNREADABLE),
            })
        }
    }
}

fn result(family: Family, result: &ToolResult) -> Block<'_> {
    let text = match result.text.trim() {
        "" if result.is_error => FAILED,
        "" => NOTHING,
        _ => &result.text,
    };
    Block::ToolResult {
        tool_use_id: tool_ids::fit(result.tool_call_id.as_str(), family.ids()),
        content: [Text { text: Cow::Borrowed(text) }],
        status: (result.is_error && family.takes_status()).then_some("error"),
    }
}

fn assistant<'a>(target: &Target, family: Family, block: &'a AssistantBlock) -> Option<Block<'a>> {
    match block {
        AssistantBlock::Text { text, .. } => (!text.trim().is_empty()).then_some(Block::Text(text)),
        AssistantBlock::Thinking { text, vendor } => {
            let own = target.own(vendor)?;
            let field = |name: &str| own.get(name).and_then(Value::as_str).filter(|field| !field.is_empty());
            let signature = field("signature");
            let is_taken = signature.is_some() || family.takes_unsigned_thoughts() && !text.trim().is_empty();
            Some(Block::ReasoningContent(match field("redacted") {
                Some(data) => Reasoning::RedactedContent(data),
                None if is_taken => Reasoning::ReasoningText { text, signature },
                None => return None,
            }))
        }
        AssistantBlock::ToolCall { id, name, input, .. } => Some(Block::ToolUse {
            tool_use_id: tool_ids::fit(id.as_str(), family.ids()),
            name: tool_names::fit(name, family.names()),
            input: match input {
                Value::Object(_) => Cow::Borrowed(input),
                _ => Cow::Owned(Value::Object(Map::new())),
            },
        }),
    }
}

/// The tools. A conversation with calls in it is refused without any, so then those are named that were called.
fn tools(family: Family, request: &Request, mark: CachePoint) -> Vec<Tool<'_>> {
    let mut tools: Vec<_> = request.tools.iter().map(|tool| declared(family, tool)).collect();
    if tools.is_empty() {
        let blocks = request.messages.iter().flat_map(|message| match &**message {
            Message::Assistant(blocks) => blocks.as_slice(),
            Message::User(_) | Message::ToolResults(_) => &[],
        });
        let mut names: Vec<&str> = Vec::new();
        for block in blocks {
            if let AssistantBlock::ToolCall { name, .. } = block
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        }
        tools.extend(names.into_iter().map(|name| Tool::ToolSpec {
            name: tool_names::fit(name, family.names()),
            description: Some(GONE),
            input_schema: Schema { json: Cow::Owned(json!({ "type": "object" })) },
        }));
    }
    if !tools.is_empty() && family.takes_mark_of_tools() {
        tools.push(Tool::CachePoint(mark));
    }
    tools
}

fn declared(family: Family, tool: &ToolSpec) -> Tool<'_> {
    Tool::ToolSpec {
        name: tool_names::fit(&tool.name, family.names()),
        description: Some(tool.description.as_str()).filter(|description| !description.trim().is_empty()),
        input_schema: Schema { json: Cow::Borrowed(&tool.input_schema) },
    }
}

/// The fields of the model's maker. What a model is not known to take is not said.
fn additional(family: Family, target: &Target, request: &Request, is_bare: bool) -> Additional {
    let level = || target.level(request).filter(|_| target.thinking == Thinking::Effort);
    match family {
        Family::Claude => {
            let thinking = thinking(target, request, is_bare);
            let is_bound = thinking.is_some() && drops_blocks(target);
            Additional {
                thinking,
                output_config: effort(target, request),
                anthropic_beta: if is_bound { vec![BINDING] } else { Vec::new() },
                ..Additional::default()
            }
        }
        Family::Nova => {
            let effort = level().and_then(up_to_high);
            let config = effort.map(|effort| json!({ "type": "enabled", "maxReasoningEffort": effort }));
            // At this level the model refuses a limit (github.com/UKGovernmentBEIS/inspect_ai/issues/3767).
            let is_unlimited = effort == Some("high");
            Additional { reasoning_config: config, is_unlimited, ..Additional::default() }
        }
        Family::GptOss => Additional { reasoning_effort: level().and_then(up_to_high), ..Additional::default() },
        Family::Gpt => {
            let effort = level().map(|level| match level {
                ThinkingLevel::Off => "none",
                ThinkingLevel::Minimal => "low",
                level => level.name(),
            });
            let reasoning = effort.map(|effort| json!({ "effort": effort }));
            Additional { reasoning, ..Additional::default() }
        }
        Family::Llama | Family::Mistral | Family::R1 | Family::Palmyra | Family::Other => Additional::default(),
    }
}

/// The effort of models that know three of them; none if they are not to be asked to think.
fn up_to_high(level: ThinkingLevel) -> Option<&'static str> {
    match level {
        ThinkingLevel::Off => None,
        ThinkingLevel::Minimal | ThinkingLevel::Low => Some("low"),
        ThinkingLevel::Medium => Some("medium"),
        ThinkingLevel::High | ThinkingLevel::Xhigh | ThinkingLevel::Max => Some("high"),
    }
}

/// True if calls are being answered that were made without thinking. A message with results goes on with a round,
/// whatever the user says beside them.
fn is_bare_round(turns: &[Turn<'_>]) -> bool {
    let goes_on = |turn: &&Turn<'_>| {
        turn.role == "assistant" || turn.content.iter().any(|block| matches!(block, Block::ToolResult { .. }))
    };
    let round = turns.iter().rev().take_while(goes_on);
    let began = round.filter(|turn| turn.role == "assistant").last();
    began.is_some_and(|turn| !matches!(turn.content.first(), Some(Block::ReasoningContent(_))))
}
