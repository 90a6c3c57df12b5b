//! A request as bytes.

use std::borrow::Cow;

use ports::model::{Message, Request, ToolSpec, UserBlock};
use protocol::AssistantBlock;
use protocol::model::ThinkingLevel;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::Thinking;
use crate::wire::Target;
use crate::wire::tool_ids::{Rule, fit};
use crate::wire::{images, tool_names};

/// The body of a request. The conversation stands last, so that its growth changes nothing before it.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let reasons = target.thinking == Thinking::Effort;
    let level = target.level(request).filter(|_| reasons);
    serde_json::to_vec(&Body {
        model: &target.model,
        stream: true,
        store: (target.compat.store != Some(false)).then_some(false),
        max_output_tokens: request.max_output_tokens,
        prompt_cache_key: &request.cache_key,
        include: if reasons { &["reasoning.encrypted_content"] } else { &[] },
        // A summary is not asked for unless thinking is: the vendor gives it to verified organisations only.
        reasoning: level.map(|level| match level {
            ThinkingLevel::Off => Reasoning { effort: target.effort(level), summary: None },
            // Nobody reads the thoughts before a few words.
            level if request.thinking.is_some() => Reasoning { effort: target.effort(level), summary: None },
            level => Reasoning { effort: target.effort(level), summary: Some("auto") },
        }),
        instructions: &request.system,
        tools: request.tools.iter().map(|tool| tool_of(target, tool)).collect(),
        input: request.messages.iter().flat_map(|message| items(target, message)).collect(),
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<bool>,
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "str::is_empty")]
    prompt_cache_key: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'a>>,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    input: Vec<Item<'a>>,
}

#[derive(Serialize)]
struct Reasoning<'a> {
    effort: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

/// A tool in the flat form of this API. At OpenAI `strict` is on where it is left out, and would refuse schemas with
/// optional fields; other servers may not know the field.
#[derive(Serialize)]
struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<&'a str>,
    },
    FunctionCall {
        call_id: Cow<'a, str>,
        name: Cow<'a, str>,
        arguments: String,
    },
    FunctionCallOutput {
        call_id: Cow<'a, str>,
        output: &'a str,
    },
    #[serde(untagged)]
    Reasoning(&'a Map<String, Value>),
}

/// The content of a message. The model's is text in the easy form (`EasyInputMessage` of npm `openai` 7.57): its parts
/// would need the id, the status and the annotations that an answer has, and strict servers refuse them without.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Parts(Vec<Part<'a>>),
    Text(&'a str),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    InputText { text: &'a str },
    InputImage { detail: &'static str, image_url: String },
}

fn tool_of<'a>(target: &Target, tool: &'a ToolSpec) -> Tool<'a> {
    Tool {
        kind: "function",
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.input_schema,
        strict: target.compat.strict.unwrap_or(true).then_some(false),
    }
}

/// The items that a message comes to.
fn items<'a>(target: &Target, message: &'a Message) -> Vec<Item<'a>> {
    match message {
        Message::User(blocks) => {
            let content: Vec<_> = blocks.iter().filter_map(user).collect();
            if content.is_empty() {
                return Vec::new();
            }
            vec![Item::Message { role: "user", content: Content::Parts(content), phase: None }]
        }
        Message::ToolResults(results) => results
            .iter()
            .map(|result| Item::FunctionCallOutput {
                call_id: fit(result.tool_call_id.as_str(), Rule::Plain),
                output: &result.text,
            })
            .collect(),
        Message::Assistant(blocks) => {
            let mut items: Vec<_> = blocks.iter().filter_map(|block| assistant(target, block)).collect();
            // The vendor refuses reasoning that nothing follows.
            while matches!(items.last(), Some(Item::Reasoning(_))) {
                items.pop();
            }
            items
        }
    }
}

fn user(block: &UserBlock) -> Option<Part<'_>> {
    match block {
        UserBlock::Text(text) => (!text.is_empty()).then_some(Part::InputText { text }),
        UserBlock::Image { mime_type, data } => Some(match images::read_by_most(mime_type) {
            Some(mime_type) => {
                Part::InputImage { detail: "auto", image_url: format!("data:{mime_type};base64,{data}") }
            }
            None => Part::InputText { text: images::UNREADABLE },
        }),
    }
}

fn assistant<'a>(target: &Target, block: &'a AssistantBlock) -> Option<Item<'a>> {
    match block {
        AssistantBlock::Text { text, vendor } => (!text.is_empty()).then(|| Item::Message {
            role: "assistant",
            content: Content::Text(text),
            phase: target.own(vendor).and_then(|own| own.get("phase")?.as_str()),
        }),
        AssistantBlock::Thinking { vendor, .. } => {
            target.own(vendor)?.get("item").and_then(Value::as_object).map(Item::Reasoning)
        }
        AssistantBlock::ToolCall { id, name, input, .. } => Some(Item::FunctionCall {
            call_id: fit(id.as_str(), Rule::Plain),
            name: tool_names::fit(name, tool_names::Rule::Plain),
            arguments: input.to_string(),
        }),
    }
}
