//! A request as bytes.

use std::borrow::Cow;
use std::collections::HashMap;

use ports::model::{Message, Request, ToolSpec, UserBlock};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolResult};
use serde::Serialize;
use serde_json::{Map, Value};

use super::schema::without_const;
use super::stream::text_mark;
use crate::data::Thinking;
use crate::level::{nearest, room};
use crate::wire::Target;
use crate::wire::images;
use crate::wire::tool_names::{Rule, fit};

/// The signature that Google documents for calls that are not the model's own
/// (ai.google.dev/gemini-api/docs/thought-signatures).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";
/// The least budget for thinking that every model with a budget takes: Flash-Lite's
/// (ai.google.dev/gemini-api/docs/thinking).
const LEAST_THINKING: u64 = 512;
/// The largest: Flash's.
const MOST_THINKING: u64 = 24_576;
/// How the names of the models begin that take a budget. Others that think, such as Gemma 4, refuse one.
const WITH_BUDGET: &str = "gemini-2.5";
/// A longest answer below this, in tokens, as of a title, leaves no room to think at length.
const SHORT: u64 = 4_096;
/// How the names of models begin that do not look for signatures.
const UNSIGNED: &[&str] = &["gemini-1", "gemini-2", "gemma"];

/// Where requests to a model go at Google's own host. A tuned model's id says itself where it is.
pub(crate) fn path(model: &str) -> String {
    let is_whole = ["models/", "tunedModels/"].iter().any(|folder| model.starts_with(folder));
    format!("{}{model}:streamGenerateContent", if is_whole { "" } else { "models/" })
}

/// The body of a request. The conversation stands last, so that its growth changes nothing before it.
///
/// All that the user's side says in a row is one content, as is all that the model says, so that roles alternate.
pub(crate) fn body(target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
    let mut writer = Writer { target, calls: HashMap::new(), contents: Vec::new() };
    request.messages.iter().for_each(|message| writer.add(message));
    let declared: Vec<_> = request.tools.iter().map(Function::from).collect();
    let system = SystemInstruction { parts: [SystemPart { text: &request.system }] };
    serde_json::to_vec(&Body {
        generation_config: GenerationConfig {
            max_output_tokens: request.max_output_tokens,
            thinking_config: thinking(target, request),
        },
        system_instruction: (!request.system.trim().is_empty()).then_some(system),
        tools: (!declared.is_empty()).then_some([Tools { function_declarations: declared }]),
        contents: writer.contents,
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    generation_config: GenerationConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    contents: Vec<Content<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<u64>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: [SystemPart<'a>; 1],
}

#[derive(Serialize)]
struct SystemPart<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: Cow<'a, str>,
    description: &'a str,
    parameters_json_schema: Cow<'a, Value>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(flatten)]
    kind: Kind<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Kind<'a> {
    Text(&'a str),
    InlineData {
        mime_type: &'a str,
        data: &'a str,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: Cow<'a, str>,
        args: Cow<'a, Value>,
    },
    FunctionResponse {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        name: Cow<'a, str>,
        response: Outcome<'a>,
    },
}

/// The two forms of a result that the vendor knows (`FunctionResponse.response` of npm `@google/genai` 3.1).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum Outcome<'a> {
    Output(&'a str),
    Error(&'a str),
}

impl<'a> From<&'a ToolSpec> for Function<'a> {
    fn from(tool: &'a ToolSpec) -> Self {
        Self {
            name: fit(&tool.name, Rule::Gemini),
            description: &tool.description,
            parameters_json_schema: without_const(&tool.input_schema),
        }
    }
}

/// A call that a result is for.
#[derive(Clone, Copy)]
struct Called<'a> {
    name: &'a str,
    /// The id that the model itself gave it.
    own_id: Option<&'a str>,
}

/// Writes the messages, one after another.
struct Writer<'a> {
    target: &'a Target,
    calls: HashMap<&'a str, Called<'a>>,
    contents: Vec<Content<'a>>,
}

impl<'a> Writer<'a> {
    fn add(&mut self, message: &'a Message) {
        let (role, parts) = match message {
            Message::User(blocks) => ("user", blocks.iter().filter_map(user).collect::<Vec<_>>()),
            Message::ToolResults(results) => ("user", results.iter().map(|result| self.result(result)).collect()),
            Message::Assistant(blocks) => ("model", self.step(blocks)),
        };
        match self.contents.last_mut() {
            _ if parts.is_empty() => {}
            Some(last) if last.role == role => last.parts.extend(parts),
            _ => self.contents.push(Content { role, parts }),
        }
    }

    /// The parts of a message of the model. The first of its calls has a signature, if this model looks for one: where
    /// it is another model's, or ours, the one that stands for none.
    fn step(&mut self, blocks: &'a [AssistantBlock]) -> Vec<Part<'a>> {
        let mut parts: Vec<_> = blocks.iter().filter_map(|block| self.block(block)).collect();
        let first = parts.iter_mut().find(|part| matches!(part.kind, Kind::FunctionCall { .. }));
        if let Some(first) = first.filter(|_| wants_signatures(self.target)) {
            first.thought_signature.get_or_insert(NO_SIGNATURE);
        }
        parts
    }

    fn block(&mut self, block: &'a AssistantBlock) -> Option<Part<'a>> {
        let target = self.target;
        let signature = |own: Option<&'a Map<String, Value>>| own.and_then(|own| own.get("signature")?.as_str());
        match block {
            AssistantBlock::Text { text, vendor } => {
                // A text that files were taken out of is not the one that was signed.
                let own = target.own(vendor).filter(|own| own.get("of") == Some(&text_mark(text)));
                let thought_signature = signature(own);
                let is_something = !text.trim().is_empty() || thought_signature.is_some();
                is_something.then_some(Part { thought: false, kind: Kind::Text(text), thought_signature })
            }
            AssistantBlock::Thinking { text, vendor } => {
                let own = target.own(vendor)?;
                let thought = own.get("part").and_then(Value::as_str) != Some("text");
                let thought_signature = signature(Some(own));
                let is_something = !text.trim().is_empty() || thought_signature.is_some();
                is_something.then_some(Part { thought, kind: Kind::Text(text), thought_signature })
            }
            AssistantBlock::ToolCall { id, name, input, vendor } => {
                let own = target.own(vendor);
                let called = Called { name, own_id: own.and_then(|own| own.get("id")?.as_str()) };
                self.calls.insert(id.as_str(), called);
                let args = match input {
                    Value::Object(_) => Cow::Borrowed(input),
                    _ => Cow::Owned(Value::Object(Map::new())),
                };
                let kind = Kind::FunctionCall { id: called.own_id, name: fit(name, Rule::Gemini), args };
                Some(Part { thought: false, kind, thought_signature: signature(own) })
            }
        }
    }

    fn result(&self, result: &'a ToolResult) -> Part<'a> {
        let called = self.calls.get(result.tool_call_id.as_str());
        let response = if result.is_error { Outcome::Error(&result.text) } else { Outcome::Output(&result.text) };
        // Every result has its call before it; the name only must not be empty.
        let name = called.map_or("unknown", |called| called.name);
        let kind = Kind::FunctionResponse {
            id: called.and_then(|called| called.own_id),
            name: fit(name, Rule::Gemini),
            response,
        };
        Part { thought: false, kind, thought_signature: None }
    }
}

/// True if the model refuses a step of calls without a signature. One that goes by a name of a gateway's may.
fn wants_signatures(target: &Target) -> bool {
    match target.thinking {
        Thinking::Level => true,
        Thinking::Budget => false,
        Thinking::None | Thinking::Adaptive | Thinking::Always | Thinking::Effort => {
            !UNSIGNED.iter().any(|beginning| bare(target).starts_with(beginning))
        }
    }
}

/// The model's own name, without the folders that a gateway puts before it.
fn bare(target: &Target) -> &str {
    target.model.rsplit('/').next().unwrap_or(&target.model)
}

fn user(block: &UserBlock) -> Option<Part<'_>> {
    let kind = match block {
        UserBlock::Text(text) if text.trim().is_empty() => return None,
        UserBlock::Text(text) => Kind::Text(text),
        UserBlock::Image { mime_type, data } => match images::read_by_google(mime_type) {
            Some(mime_type) => Kind::InlineData { mime_type, data },
            None => Kind::Text(images::UNREADABLE),
        },
    };
    Some(Part { thought: false, kind, thought_signature: None })
}

/// The setting for thinking. Its tokens count as the answer's, so a budget leaves room for one.
fn thinking(target: &Target, request: &Request) -> Option<ThinkingConfig> {
    let is_short = request.max_output_tokens < SHORT && target.thinking != Thinking::Budget;
    let level = target.level(request);
    let is_least = level == Some(ThinkingLevel::Off) || request.thinking == Some(ThinkingLevel::Off);
    let is_least = is_least || level.is_none() && is_short;
    let level = if is_least { nearest(&target.levels, ThinkingLevel::Off) } else { level };
    let most = room(request.max_output_tokens).min(MOST_THINKING);
    let least = (is_least && target.thinking == Thinking::Always).then_some(LEAST_THINKING);
    let tokens = least.or_else(|| target.tokens(level)).filter(|_| most >= LEAST_THINKING);
    let budget = tokens.map(|tokens| tokens.clamp(LEAST_THINKING, most));
    let shown = ThinkingConfig { include_thoughts: true, ..ThinkingConfig::default() };
    match target.thinking {
        Thinking::Level => {
            Some(ThinkingConfig { thinking_level: level.map(|level| level.name().to_uppercase()), ..shown })
        }
        Thinking::Always => {
            let budget = budget.filter(|_| bare(target).starts_with(WITH_BUDGET));
            Some(ThinkingConfig { thinking_budget: budget, ..shown })
        }
        // It thinks unless it is told not to.
        Thinking::Budget if budget.is_none() => {
            Some(ThinkingConfig { thinking_budget: Some(0), ..ThinkingConfig::default() })
        }
        Thinking::Budget => Some(ThinkingConfig { thinking_budget: budget, ..shown }),
        Thinking::None | Thinking::Adaptive | Thinking::Effort => None,
    }
}
