//! A request as bytes.

use std::borrow::Cow;

use ports::model::{Message, Request, ToolSpec, UserBlock};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolResult};
use serde::Serialize;
use serde_json::Value;

use super::effort::{Effort, Efforts, IN_CONVERSATION};
use crate::data::Thinking;
use crate::level::room;
use crate::wire::kept::keeps_for_hour;
use crate::wire::prefix::Prefix;
use crate::wire::tool_ids::{Rule, fit};
use crate::wire::{Target, images, tool_names};

/// The header with the version of the API.
pub(crate) const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");
/// The version of Messages at Vertex AI.
const VERTEX: &str = "vertex-2023-10-16";
/// The least budget for thinking that the vendor takes.
const LEAST_THINKING: u64 = 1_024;
/// The beta in which the vendor may be told to drop thoughts that do not fit.
pub(in crate::wire) const BINDING: &str = "thinking-binding-controls-2026-08-01";
/// The field that has the name of an answer.
pub(super) const ANSWER: &str = "id";
/// The role of a message that is neither the user's nor the model's.
const SYSTEM: &str = "system";
/// The text of a failure that says nothing. The vendor refuses an error without any.
const FAILED: &str = "The call failed.";

/// Where requests to a model go at Vertex AI.
pub(crate) fn path(model: &str) -> String {
    format!("models/{model}:streamRawPredict")
}

/// The headers of a request, without the key.
pub(crate) fn headers(target: &Target, request: &Request) -> Vec<(&'static str, Cow<'static, str>)> {
    let mut headers = vec![(VERSION.0, Cow::Borrowed(VERSION.1))];
    headers.extend(headers_of_vertex(target, request));
    headers
}

/// The headers of a request to Vertex AI, without the key. Several betas stand in one header.
pub(crate) fn headers_of_vertex(target: &Target, request: &Request) -> Vec<(&'static str, Cow<'static, str>)> {
    let binding = drops_blocks(target).then_some(BINDING);
    let betas: Vec<_> = binding.into_iter().chain(changes_effort(target, request).then_some(IN_CONVERSATION)).collect();
    if betas.is_empty() { Vec::new() } else { vec![("anthropic-beta", betas.join(",").into())] }
}

/// True if the effort changes within the conversation of a request.
pub(crate) fn changes_effort(target: &Target, request: &Request) -> bool {
    !Efforts::of(target, request).changes.is_empty()
}

/// The body of a request.
///
/// The parts stand in the order in which they change: settings, system prompt, tools, messages. Cache marks
/// (`cache_control`) stand on the system prompt, the last tool, and the last two messages of the user's side. The marks
/// on messages move on with the conversation, so these are the only bytes within the prefix that change from round to
/// round; the vendor's cache is over the content without the marks. There are two of them because the mark of the round
/// before is where the cache surely has an entry, however many blocks came since.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    written(target, request, Some(&target.model), None)
}

/// The body of a request to Vertex AI, which is the same but for what stands in the path and in the headers elsewhere.
pub(crate) fn body_of_vertex(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    written(target, request, None, Some(VERTEX))
}

/// True if the vendor is asked why its cache misses.
pub(crate) fn asks_why(target: &Target, request: &Request) -> bool {
    target.compat.cache_diagnosis == Some(true) && request.before.in_conversation
}

/// True if the inputs of tools come while the model writes them.
pub(crate) fn is_eager(target: &Target, request: &Request) -> bool {
    target.compat.eager_input_streaming == Some(true) && !request.tools.is_empty()
}

fn written(
    target: &Target,
    request: &Request,
    model: Option<&str>,
    anthropic_version: Option<&'static str>,
) -> Result<Vec<u8>, serde_json::Error> {
    let efforts = Efforts::of(target, request);
    let (mut messages, _) = conversation(target, request, &efforts);
    let thinking = thinking(target, request, is_round_without_thinking(&messages));
    let mark = Cache::of(target, request);
    messages.iter_mut().rev().filter(|turn| turn.role == "user").take(2).for_each(|turn| turn.mark(mark));
    let mut tools: Vec<Tool<'_>> = request.tools.iter().map(Tool::from).collect();
    if is_eager(target, request) {
        tools.iter_mut().for_each(|tool| tool.eager_input_streaming = Some(true));
    }
    if let Some(last) = tools.last_mut() {
        last.cache_control = Some(mark);
    }
    let system = Block::Text { text: &request.system, cache_control: Some(mark) };
    serde_json::to_vec(&Body {
        model,
        anthropic_version,
        max_tokens: request.max_output_tokens,
        stream: true,
        thinking,
        output_config: efforts.first,
        system: if request.system.trim().is_empty() { Vec::new() } else { vec![system] },
        tools,
        messages,
        diagnostics: asks_why(target, request).then(|| Diagnostics { previous_message_id: answer(target, request) }),
    })
}

/// The name of the last answer, if it was this model's.
fn answer<'a>(target: &Target, request: &'a Request) -> Option<&'a str> {
    target.own(&request.before.answer)?.get(ANSWER)?.as_str()
}

#[derive(Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    anthropic_version: Option<&'static str>,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingSetting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Effort>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Turn<'a>>,
    /// It changes with each request, so nothing stands after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Diagnostics<'a>>,
}

/// The request that this one is compared with; null for the first, of which the vendor takes note all the same.
#[derive(Serialize)]
struct Diagnostics<'a> {
    previous_message_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(in crate::wire) enum ThinkingSetting {
    Disabled,
    Enabled {
        budget_tokens: u64,
    },
    Adaptive {
        display: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        block_binding: Option<Binding>,
    },
}

#[derive(Serialize)]
pub(in crate::wire) struct Binding {
    prefix_mismatch_behavior: &'static str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    eager_input_streaming: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Cache>,
}

#[derive(Clone, Copy, Serialize)]
struct Cache {
    #[serde(rename = "type")]
    kind: &'static str,
    /// The time for which it is kept since it was last used; five minutes if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

impl Cache {
    /// The mark of a request. All its marks are the same, because a longer time may not stand behind a shorter one.
    fn of(target: &Target, request: &Request) -> Self {
        Self { kind: "ephemeral", ttl: keeps_for_hour(target, request).then_some("1h") }
    }
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
    /// The effort from here on, in a message of the system's that says nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Effort>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Image {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        #[serde(skip_serializing_if = "str::is_empty")]
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Cache>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 { media_type: &'a str, data: &'a str },
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let ToolSpec { name, description, input_schema } = tool;
        Self { name, description, input_schema, eager_input_streaming: None, cache_control: None }
    }
}

impl Turn<'_> {
    fn of_effort(effort: Effort) -> Self {
        Self { role: SYSTEM, content: Vec::new(), output_config: Some(effort) }
    }

    fn mark(&mut self, mark: Cache) {
        match self.content.last_mut() {
            Some(
                Block::Text { cache_control, .. }
                | Block::Image { cache_control, .. }
                | Block::ToolResult { cache_control, .. },
            ) => *cache_control = Some(mark),
            Some(Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::ToolUse { .. }) | None => {}
        }
    }
}

/// The mark of all that a request says.
pub(super) fn so_far(target: &Target, request: &Request) -> Prefix {
    if target.bound {
        conversation(target, request, &Efforts::of(target, request)).1
    } else {
        Prefix::of_nothing(target)
    }
}

/// Takes a block of the model's own into a mark.
pub(super) fn add_answered(prefix: &mut Prefix, target: &Target, block: &AssistantBlock) {
    if let Some(block) = assistant(target, block) {
        prefix.add("assistant", &block);
    }
}

/// The conversation with roles that alternate: what the user's side says in a row is one message, but for changes of
/// the effort in between.
fn conversation<'a>(target: &Target, request: &'a Request, efforts: &Efforts) -> (Vec<Turn<'a>>, Prefix) {
    let mut turns: Vec<Turn<'a>> = Vec::with_capacity(request.messages.len() + efforts.changes.len());
    let mut changes = efforts.changes.iter().peekable();
    let mut prefix = Prefix::of_nothing(target);
    // Where thinking is off, nothing can say that thoughts which no longer fit are to be dropped.
    let is_left_out =
        |block: &AssistantBlock| matches!(block, AssistantBlock::Thinking { .. }) && is_off(target, request);
    for (index, message) in request.messages.iter().enumerate() {
        // Nothing stands between calls and their results.
        let answers_calls = matches!(**message, Message::ToolResults(_));
        let due = std::iter::from_fn(|| changes.next_if(|(at, _)| *at <= index && !answers_calls));
        // Of those at one place only the last has come to anything, and two such messages in a row may be refused.
        if let Some((_, effort)) = due.last() {
            prefix.add(SYSTEM, effort);
            turns.push(Turn::of_effort(*effort));
        }
        let (role, content) = match &**message {
            Message::User(blocks) => ("user", blocks.iter().filter_map(user).collect::<Vec<_>>()),
            Message::ToolResults(results) => ("user", results.iter().map(result).collect()),
            Message::Assistant(blocks) => {
                // The vendor refuses a message that ends in thinking.
                let is_thinking = |block: &&AssistantBlock| matches!(block, AssistantBlock::Thinking { .. });
                let end = blocks.len() - blocks.iter().rev().take_while(is_thinking).count();
                let kept = blocks.iter().take(end).filter(|block| !is_left_out(block));
                let mut so_far = prefix;
                let kept = kept.filter_map(|block| {
                    let written = assistant(target, block).filter(|_| so_far.fits(target, block))?;
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
            _ => turns.push(Turn { role, content, output_config: None }),
        }
    }
    if let Some((_, effort)) = changes.last() {
        prefix.add(SYSTEM, effort);
        turns.push(Turn::of_effort(*effort));
    }
    (turns, prefix)
}

/// A block of the user's. The vendor refuses text without any letter.
fn user(block: &UserBlock) -> Option<Block<'_>> {
    match block {
        UserBlock::Text(text) => (!text.trim().is_empty()).then_some(Block::Text { text, cache_control: None }),
        UserBlock::Image { mime_type, data } => Some(match images::read_by_most(mime_type) {
            Some(media_type) => Block::Image { source: Source::Base64 { media_type, data }, cache_control: None },
            None => Block::Text { text: images::UNREADABLE, cache_control: None },
        }),
    }
}

fn result(result: &ToolResult) -> Block<'_> {
    let content = match result.text.trim() {
        "" if result.is_error => FAILED,
        "" => "",
        _ => &result.text,
    };
    Block::ToolResult {
        tool_use_id: fit(result.tool_call_id.as_str(), Rule::Plain),
        content,
        is_error: result.is_error,
        cache_control: None,
    }
}

fn assistant<'a>(target: &Target, block: &'a AssistantBlock) -> Option<Block<'a>> {
    match block {
        AssistantBlock::Text { text, .. } => {
            (!text.trim().is_empty()).then_some(Block::Text { text, cache_control: None })
        }
        AssistantBlock::Thinking { text, vendor } => {
            let own = target.own(vendor)?;
            let field = |name: &str| own.get(name).and_then(Value::as_str);
            match field("redacted") {
                Some(data) => Some(Block::RedactedThinking { data }),
                // The vendor refuses thinking that it has not signed; other servers of its wire do not sign.
                None => {
                    let signature = field("signature").filter(|signature| !signature.is_empty())?;
                    Some(Block::Thinking { thinking: text, signature })
                }
            }
        }
        AssistantBlock::ToolCall { id, name, input, .. } => Some(Block::ToolUse {
            id: fit(id.as_str(), Rule::Plain),
            name: tool_names::fit(name, tool_names::Rule::Plain),
            input: match input {
                Value::Object(_) => Cow::Borrowed(input),
                _ => Cow::Owned(Value::Object(serde_json::Map::new())),
            },
        }),
    }
}

/// The setting for thinking. Text between tool calls comes as thinking from the newer models, so it is asked for in
/// words; and where older results were trimmed, blocks of thinking that stood after them no longer fit, and are to be
/// dropped and not refused.
///
/// `is_bare` is true if calls are being answered that were made without thinking, such as by another model. The vendor
/// does not let a model begin to think within such a round.
pub(in crate::wire) fn thinking(target: &Target, request: &Request, is_bare: bool) -> Option<ThinkingSetting> {
    let level = target.level(request);
    let adaptive = || ThinkingSetting::Adaptive {
        display: "summarized",
        block_binding: drops_blocks(target).then_some(Binding { prefix_mismatch_behavior: "drop_block" }),
    };
    match target.thinking {
        Thinking::Always if is_off(target, request) => Some(ThinkingSetting::Disabled),
        Thinking::Always => Some(adaptive()),
        Thinking::Adaptive if level == Some(ThinkingLevel::Off) => None,
        Thinking::Adaptive => (level.is_some() || target.is_thinking).then(adaptive),
        Thinking::Budget => {
            let most = room(request.max_output_tokens);
            let has_room = most >= LEAST_THINKING && !is_bare;
            let tokens = target.tokens(level).filter(|_| has_room);
            tokens.map(|tokens| ThinkingSetting::Enabled { budget_tokens: tokens.clamp(LEAST_THINKING, most) })
        }
        Thinking::None | Thinking::Effort | Thinking::Level => None,
    }
}

/// True if the vendor may be told to drop thoughts that do not fit. A gateway that refuses betas is not asked for one.
pub(in crate::wire) fn drops_blocks(target: &Target) -> bool {
    target.bound && target.compat.betas != Some(false)
}

/// True if a model that thinks by itself is told not to.
pub(in crate::wire) fn is_off(target: &Target, request: &Request) -> bool {
    target.thinking == Thinking::Always && target.level(request) == Some(ThinkingLevel::Off)
}

/// True if calls are being answered that were made without thinking. A message with results goes on with a round,
/// whatever the user says beside them.
fn is_round_without_thinking(turns: &[Turn<'_>]) -> bool {
    let goes_on = |turn: &&Turn<'_>| {
        turn.role == "assistant" || turn.content.iter().any(|block| matches!(block, Block::ToolResult { .. }))
    };
    let round = turns.iter().rev().take_while(goes_on);
    let began = round.filter(|turn| turn.role == "assistant").last();
    began.is_some_and(|turn| {
        !matches!(turn.content.first(), Some(Block::Thinking { .. } | Block::RedactedThinking { .. }))
    })
}
