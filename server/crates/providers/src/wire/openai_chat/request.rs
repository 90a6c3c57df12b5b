//! A request as bytes.

use std::borrow::Cow;

use agent::model::{Message, Request, ToolSpec, UserBlock};
use protocol::AssistantBlock;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;

use super::dialect::{self, Dialect};
use crate::wire::Target;
use crate::wire::tool_ids::fit;

/// The body of a request. The conversation stands last, so that its growth changes nothing before it.
///
/// What the user's side says in a row is one message, since the templates of many local models want roles to
/// alternate.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let dialect = dialect::of(target);
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.system.trim().is_empty() {
        messages.push(Entry::System(&request.system));
    }
    for message in &request.messages {
        add(&mut messages, target, dialect, message);
    }
    let longest = Some(request.max_output_tokens);
    serde_json::to_vec(&Body {
        model: &target.model,
        stream: true,
        stream_options: dialect.asks_for_usage.then_some(StreamOptions { include_usage: true }),
        max_tokens: longest.filter(|_| !dialect.says_completion_tokens),
        max_completion_tokens: longest.filter(|_| dialect.says_completion_tokens),
        prompt_cache_key: Some(&*request.cache_key).filter(|key| dialect.takes_cache_key && !key.is_empty()),
        tools: request.tools.iter().map(Tool::from).collect(),
        messages,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// A message of the wire.
enum Entry<'a> {
    System(&'a str),
    User(Content<'a>),
    Assistant { text: Option<Cow<'a, str>>, thinking: Option<(&'static str, Cow<'a, str>)>, calls: Vec<Call<'a>> },
    Tool { id: Cow<'a, str>, text: Cow<'a, str> },
}

/// Text alone is a string, which every server takes.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    #[serde(rename = "type")]
    kind: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: String,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::System(text) => {
                map.serialize_entry("role", "system")?;
                map.serialize_entry("content", text)?;
            }
            Self::User(content) => {
                map.serialize_entry("role", "user")?;
                map.serialize_entry("content", content)?;
            }
            Self::Assistant { text, thinking, calls } => {
                map.serialize_entry("role", "assistant")?;
                if let Some((field, thinking)) = thinking {
                    map.serialize_entry(field, thinking)?;
                }
                // Null, and not left out, where there are only calls: some servers look for the field.
                map.serialize_entry("content", text)?;
                if !calls.is_empty() {
                    map.serialize_entry("tool_calls", calls)?;
                }
            }
            Self::Tool { id, text } => {
                map.serialize_entry("role", "tool")?;
                map.serialize_entry("tool_call_id", id)?;
                map.serialize_entry("content", text)?;
            }
        }
        map.end()
    }
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        let function = Function { name: &tool.name, description: &tool.description, parameters: &tool.input_schema };
        Self { kind: "function", function }
    }
}

fn add<'a>(entries: &mut Vec<Entry<'a>>, target: &Target, dialect: Dialect, message: &'a Message) {
    match message {
        Message::User(blocks) => match (entries.last_mut(), content(blocks)) {
            (_, None) => {}
            (Some(Entry::User(Content::Text(before))), Some(Content::Text(text))) => {
                before.to_mut().push_str("\n\n");
                before.to_mut().push_str(&text);
            }
            (Some(Entry::Tool { text: result, .. }), Some(Content::Text(text))) if !dialect.takes_user_after_tool => {
                result.to_mut().push_str("\n\n");
                result.to_mut().push_str(&text);
            }
            (_, Some(content)) => entries.push(Entry::User(content)),
        },
        Message::ToolResults(results) => entries.extend(results.iter().map(|result| Entry::Tool {
            id: fit(result.tool_call_id.as_str(), dialect.ids),
            text: Cow::Borrowed(&result.text),
        })),
        Message::Assistant(blocks) => entries.extend(assistant(target, dialect, blocks)),
    }
}

fn content(blocks: &[UserBlock]) -> Option<Content<'_>> {
    let is_text = blocks.iter().all(|block| matches!(block, UserBlock::Text(_)));
    if is_text {
        let text = joined(blocks.iter().filter_map(|block| match block {
            UserBlock::Text(text) => Some(text.as_str()),
            UserBlock::Image { .. } => None,
        }));
        return text.map(Content::Text);
    }
    let parts = blocks.iter().filter_map(|block| match block {
        UserBlock::Text(text) => (!text.is_empty()).then_some(Part::Text { text }),
        UserBlock::Image { mime_type, data } => {
            Some(Part::ImageUrl { image_url: ImageUrl { url: format!("data:{mime_type};base64,{data}") } })
        }
    });
    Some(Content::Parts(parts.collect()))
}

fn assistant<'a>(target: &Target, dialect: Dialect, blocks: &'a [AssistantBlock]) -> Option<Entry<'a>> {
    let text = joined(blocks.iter().filter_map(|block| match block {
        AssistantBlock::Text { text } => Some(text.as_str()),
        AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
    }));
    let own = joined(blocks.iter().filter_map(|block| match block {
        AssistantBlock::Thinking { text, vendor } => target.own(vendor).map(|_| text.as_str()),
        AssistantBlock::Text { .. } | AssistantBlock::ToolCall { .. } => None,
    }));
    let calls: Vec<_> = blocks
        .iter()
        .filter_map(|block| match block {
            AssistantBlock::ToolCall { id, name, input } => Some(Call {
                id: fit(id.as_str(), dialect.ids),
                kind: "function",
                function: Called { name, arguments: input.to_string() },
            }),
            AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => None,
        })
        .collect();
    let unknown = || (dialect.needs_thinking && !calls.is_empty()).then_some(Cow::Borrowed(""));
    let thinking = dialect.thinking_field.zip(own.or_else(unknown));
    (text.is_some() || !calls.is_empty()).then_some(Entry::Assistant { text, thinking, calls })
}

/// Texts as one, apart by a blank line; none if there is nothing.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Cow<'a, str>> {
    texts.filter(|text| !text.is_empty()).map(Cow::Borrowed).reduce(|mut so_far, text| {
        so_far.to_mut().push_str("\n\n");
        so_far.to_mut().push_str(&text);
        so_far
    })
}
