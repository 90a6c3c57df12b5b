//! A request as bytes.

use std::borrow::Cow;
use std::collections::HashSet;

use ports::model::{Message, Request, ToolSpec, UserBlock};
use protocol::AssistantBlock;
use protocol::model::ThinkingLevel;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::dialect::{self, Wants};
use crate::compat::{AskThinking, CallContent};
use crate::data::Thinking;
use crate::wire::Target;
use crate::wire::tool_ids::fit;
use crate::wire::{images, tool_names};

/// The signature that Google documents for calls that are not Gemini's own
/// (ai.google.dev/gemini-api/docs/thought-signatures).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The text that stands for thinking that is not known. Moonshot and DeepSeek take an empty text for none at all, and
/// refuse it; a blank they take (github.com/theopenco/llmgateway/pull/2093,
/// github.com/NousResearch/hermes-agent/pull/18263).
const NO_THINKING: &str = " ";

/// The words of the model that stand between a tool's result and an image of the user's, for servers that refuse one
/// right after the other (github.com/zed-industries/zed/pull/31736).
const BRIDGE: &str = "Go on.";

/// The body of a request. The conversation stands last, so that its growth changes nothing before it.
///
/// Texts of the user's side in a row are one message, since the templates of many local models want roles to alternate.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let wants = dialect::wants(target);
    let mut writer = Writer { target, wants, own_ids: HashSet::new(), entries: Vec::new() };
    if !request.system.trim().is_empty() {
        writer.entries.push(Entry::System { role: wants.system, text: &request.system });
    }
    request.messages.iter().for_each(|message| writer.add(message));
    let longest = Some(request.max_output_tokens);
    serde_json::to_vec(&Body {
        model: &target.model,
        stream: true,
        store: wants.store.then_some(false),
        stream_options: wants.stream_options.then_some(StreamOptions { include_usage: true }),
        max_tokens: longest.filter(|_| !wants.completion_tokens),
        max_completion_tokens: longest.filter(|_| wants.completion_tokens),
        prompt_cache_key: Some(&*request.cache_key).filter(|key| wants.cache_key && !key.is_empty()),
        asked: asked(target, wants, request),
        tools: request.tools.iter().map(Tool::from).collect(),
        messages: writer.entries,
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
    #[serde(flatten)]
    asked: Map<String, Value>,
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
    System { role: &'static str, text: &'a str },
    User(Content<'a>),
    Assistant(Said<'a>),
    Tool { id: Cow<'a, str>, text: Cow<'a, str> },
}

/// A message of the model.
#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<&'a Value>,
    /// None if it is left out, and null if it is there without a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Option<Cow<'a, str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

impl Default for Said<'_> {
    fn default() -> Self {
        Self {
            role: "assistant",
            reasoning_content: None,
            reasoning: None,
            reasoning_details: None,
            content: Some(None),
            extra_content: None,
            tool_calls: Vec::new(),
        }
    }
}

/// Text alone is a string, which every server takes.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

impl<'a> Content<'a> {
    /// True if what is said next belongs to the same message. Where it is more than text, it does only for servers that
    /// want roles to alternate: the message would begin otherwise than in the request before.
    fn goes_on(&self, next: &Self, wants: Wants) -> bool {
        matches!((self, next), (Self::Text(_), Self::Text(_))) || !wants.user_after_tool
    }

    /// Adds what is said next.
    fn extend(&mut self, more: Self) {
        match (&mut *self, more) {
            (Self::Text(text), Self::Text(more)) => {
                text.to_mut().push_str("\n\n");
                text.to_mut().push_str(&more);
            }
            (Self::Parts(parts), more) => parts.extend(more.into_parts()),
            (Self::Text(text), more) => {
                let first = Part::Text { text: std::mem::take(text) };
                *self = Self::Parts(std::iter::once(first).chain(more.into_parts()).collect());
            }
        }
    }

    fn into_parts(self) -> Vec<Part<'a>> {
        match self {
            Self::Text(text) => vec![Part::Text { text }],
            Self::Parts(parts) => parts,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
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
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<Cow<'a, Value>>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Self::Assistant(said) = self {
            return said.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Self::System { role, text } => {
                map.serialize_entry("role", role)?;
                map.serialize_entry("content", text)?;
            }
            Self::User(content) => {
                map.serialize_entry("role", "user")?;
                map.serialize_entry("content", content)?;
            }
            Self::Assistant(_) => {}
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

/// Writes the messages, one after another.
struct Writer<'a> {
    target: &'a Target,
    wants: Wants,
    /// The ids that the model itself gave and that go back as they are.
    own_ids: HashSet<&'a str>,
    entries: Vec<Entry<'a>>,
}

impl<'a> Writer<'a> {
    fn add(&mut self, message: &'a Message) {
        let wants = self.wants;
        match message {
            Message::User(blocks) => match (self.entries.last_mut(), content(blocks, wants)) {
                (_, None) => {}
                (Some(Entry::User(before)), Some(content)) if before.goes_on(&content, wants) => before.extend(content),
                (Some(Entry::Tool { text: result, .. }), Some(Content::Text(text))) if !wants.user_after_tool => {
                    result.to_mut().push_str("\n\n");
                    result.to_mut().push_str(&text);
                }
                (Some(Entry::Tool { .. }), Some(content)) if !wants.user_after_tool => {
                    let bridge = Said { content: Some(Some(Cow::Borrowed(BRIDGE))), ..Said::default() };
                    self.entries.extend([Entry::Assistant(bridge), Entry::User(content)]);
                }
                (_, Some(content)) => self.entries.push(Entry::User(content)),
            },
            Message::ToolResults(results) => {
                for result in results {
                    let (id, text) = (self.id(result.tool_call_id.as_str()), Cow::Borrowed(&*result.text));
                    self.entries.push(Entry::Tool { id, text });
                }
            }
            Message::Assistant(blocks) => {
                let said = self.said(blocks);
                self.entries.extend(said.map(Entry::Assistant));
            }
        }
    }

    fn said(&mut self, blocks: &'a [AssistantBlock]) -> Option<Said<'a>> {
        let target = self.target;
        let content = joined(blocks.iter().filter_map(|block| match block {
            AssistantBlock::Text { text, .. } => Some(text.as_str()),
            AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
        }));
        let extra_content = blocks.iter().find_map(|block| match block {
            AssistantBlock::Text { vendor, .. } => target.own(vendor)?.get("extra_content"),
            AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
        });
        let tool_calls: Vec<_> = blocks.iter().filter_map(|block| self.call(block)).collect();
        if content.is_none() && tool_calls.is_empty() {
            return None;
        }
        let content = match (content, self.wants.call_content) {
            (None, CallContent::LeftOut) => None,
            (None, CallContent::Empty) => Some(Some(Cow::Borrowed(""))),
            (content, _) => Some(content),
        };
        let tool_calls = self.with_signature(tool_calls);
        let mut said = Said { content, extra_content, tool_calls, ..Said::default() };
        self.think(blocks, &mut said);
        Some(said)
    }

    fn call(&mut self, block: &'a AssistantBlock) -> Option<Call<'a>> {
        let AssistantBlock::ToolCall { id, name, input, vendor } = block else { return None };
        let own = self.target.own(vendor);
        // It goes by another id where the one it came with was taken.
        if own.and_then(|own| own.get("id")?.as_str()) == Some(id.as_str()) {
            self.own_ids.insert(id.as_str());
        }
        Some(Call {
            id: self.id(id.as_str()),
            kind: "function",
            function: Called { name: tool_names::fit(name, tool_names::Rule::Plain), arguments: input.to_string() },
            extra_content: own.and_then(|own| own.get("extra_content")).map(Cow::Borrowed),
        })
    }

    /// A step's calls as the server takes them, where the first is another model's, or ours: it looks at that one.
    fn with_signature(&self, mut calls: Vec<Call<'a>>) -> Vec<Call<'a>> {
        if let Some(first) = calls.first_mut().filter(|first| self.wants.signature && first.extra_content.is_none()) {
            first.extra_content = Some(Cow::Owned(json!({ "google": { "thought_signature": NO_SIGNATURE } })));
        }
        calls
    }

    /// Puts the model's own thinking back where it came.
    fn think(&self, blocks: &'a [AssistantBlock], said: &mut Said<'a>) {
        let own = || {
            blocks.iter().filter_map(|block| match block {
                AssistantBlock::Thinking { text, vendor } => Some((text.as_str(), self.target.own(vendor)?)),
                AssistantBlock::Text { .. } | AssistantBlock::ToolCall { .. } => None,
            })
        };
        said.reasoning_details = own().find_map(|(_, own)| own.get("reasoning_details"));
        if said.reasoning_details.is_none() {
            // A log from before the field was kept has none.
            let usual = self.wants.thinking.then_some("reasoning_content");
            let field = own().find_map(|(_, own)| own.get("field")?.as_str()).or(usual);
            let text = joined(own().map(|(text, _)| text));
            match field {
                Some("reasoning_content") => said.reasoning_content = text,
                Some("reasoning") => said.reasoning = text,
                Some(_) | None => {}
            }
        }
        if self.wants.thinking {
            said.reasoning_content.get_or_insert(Cow::Borrowed(NO_THINKING));
        }
    }

    /// An id as the server takes it.
    fn id(&self, id: &'a str) -> Cow<'a, str> {
        if self.own_ids.contains(id) { Cow::Borrowed(id) } else { fit(id, self.wants.ids) }
    }
}

/// The fields that let the model think, or keep it from thinking if it does so only where asked to. Most such models
/// think unless they are told otherwise.
fn asked(target: &Target, wants: Wants, request: &Request) -> Map<String, Value> {
    let level = target.level(request);
    if target.thinking == Thinking::None || level.is_none() && !target.thinking.is_asked_for() {
        return Map::new();
    }
    let is_on = level.map_or(target.is_thinking, |level| level != ThinkingLevel::Off);
    let effort = target.effort(if is_on { level.unwrap_or(ThinkingLevel::Medium) } else { ThinkingLevel::Off });
    let (field, value) = match wants.ask {
        AskThinking::ReasoningEffort if is_on || target.thinking == Thinking::Effort => {
            ("reasoning_effort", effort.into())
        }
        AskThinking::None | AskThinking::ReasoningEffort => return Map::new(),
        AskThinking::Reasoning => ("reasoning", json!({ "effort": effort })),
        AskThinking::ReasoningEnabled => ("reasoning", json!({ "enabled": is_on })),
        AskThinking::ThinkingType => ("thinking", json!({ "type": if is_on { "enabled" } else { "disabled" } })),
        AskThinking::EnableThinking => ("enable_thinking", is_on.into()),
        AskThinking::ChatTemplateKwargs => ("chat_template_kwargs", json!({ "enable_thinking": is_on })),
    };
    Map::from_iter([(field.to_owned(), value)])
}

fn content(blocks: &[UserBlock], wants: Wants) -> Option<Content<'_>> {
    let is_text = blocks.iter().all(|block| matches!(block, UserBlock::Text(_)));
    if is_text {
        let text = joined(blocks.iter().filter_map(|block| match block {
            UserBlock::Text(text) => Some(text.as_str()),
            UserBlock::Image { .. } => None,
        }));
        return text.map(Content::Text);
    }
    let parts = blocks.iter().filter_map(|block| match block {
        UserBlock::Text(text) => (!text.is_empty()).then_some(Part::Text { text: text.into() }),
        UserBlock::Image { mime_type, data } => Some(match wants.reads_image(mime_type) {
            Some(mime_type) => {
                Part::ImageUrl { image_url: ImageUrl { url: format!("data:{mime_type};base64,{data}") } }
            }
            None => Part::Text { text: images::UNREADABLE.into() },
        }),
    });
    Some(Content::Parts(parts.collect()))
}

/// Texts as one, apart by a blank line; none if there is nothing.
fn joined<'a>(texts: impl Iterator<Item = &'a str>) -> Option<Cow<'a, str>> {
    texts.filter(|text| !text.is_empty()).map(Cow::Borrowed).reduce(|mut so_far, text| {
        so_far.to_mut().push_str("\n\n");
        so_far.to_mut().push_str(&text);
        so_far
    })
}
