//! The helpers that the tests of all wires share: a conversation, and a stream read in pieces.

mod rules;

use std::sync::Arc;

use ports::model::{Before, Message, ModelEvent, Request, Response, ToolSpec, UserBlock};
use protocol::content::Usage;
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use serde_json::{Value, json};

use super::{Family, Pieces, Target, Wire};
use crate::data::Thinking;
use crate::failure::Fault;
use crate::vendors;

/// Where the models are.
pub(crate) const HOST: &str = "models.example";

/// A model of a provider that speaks the dialect of its name, if there is one.
pub(crate) fn target(provider: &str, model: &str, thinking: Thinking) -> Target {
    Target {
        provider: provider.into(),
        host: HOST.to_owned().into(),
        account: None,
        model: model.into(),
        family: Family::of([model]),
        has_limit: true,
        compat: vendors::dialect(provider).cloned().unwrap_or_default(),
        thinking,
        levels: ThinkingLevel::ALL.to_vec(),
        is_guess: false,
        level: None,
        is_thinking: false,
        bound: false,
        own_effort: None,
    }
}

pub(crate) fn request(messages: Vec<Message>) -> Request {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("does {name}"),
        input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    Request {
        system: "Be brief.".into(),
        tools: vec![tool("read_file"), tool("shell_run")].into(),
        messages: messages.into_iter().map(Arc::new).collect(),
        max_output_tokens: 8_000,
        thinking: None,
        before: Before::default(),
        cache_key: "abc123".into(),
        cache_hour: false,
    }
}

pub(crate) fn says(text: &str) -> Message {
    Message::User(vec![UserBlock::Text(text.into())])
}

pub(crate) fn text(text: &str) -> AssistantBlock {
    AssistantBlock::text(text)
}

pub(crate) fn call(id: &str, name: &str, input: Value) -> AssistantBlock {
    AssistantBlock::tool_call(ToolCallId::from(id), name, input)
}

pub(crate) fn result(id: &str, text: &str) -> ToolResult {
    ToolResult { tool_call_id: ToolCallId::from(id), text: text.into(), is_error: false }
}

/// A conversation of several rounds and turns, with thinking that `vendor` tags.
pub(crate) fn conversation(vendor: &Value) -> Vec<Message> {
    let thinking = |text: &str| AssistantBlock::Thinking { text: text.into(), vendor: Some(vendor.clone()) };
    vec![
        says("fix the \"bug\"\n"),
        Message::Assistant(vec![
            thinking("where?"),
            text("Looking."),
            call("call_1", "read_file", json!({"path": "a.rs"})),
            call("call_2", "read_file", json!({"path": "b.rs"})),
        ]),
        Message::ToolResults(vec![result("call_1", "fn a() {}"), result("call_2", "")]),
        says("<note>\nhurry\n</note>"),
        Message::Assistant(vec![thinking("there"), call("call_3", "shell_run", json!({"path": "."}))]),
        Message::ToolResults(vec![ToolResult { is_error: true, ..result("call_3", "exit 1") }]),
        Message::Assistant(vec![text("It is fixed.")]),
        Message::User(vec![
            UserBlock::Text("thanks".into()),
            UserBlock::Image { mime_type: "image/png".into(), data: "iVBO".into() },
        ]),
        Message::Assistant(vec![text("Welcome.")]),
        says("and now?"),
    ]
}

/// The body of a request, as JSON.
pub(crate) fn body(wire: Wire, target: &Target, request: &Request) -> Value {
    serde_json::from_slice(&wire.body(target, request).unwrap()).unwrap()
}

/// Asserts that each request's bytes begin with those of the one before, up to closing brackets and without `marks`,
/// and that the same request gives the same bytes.
pub(crate) fn assert_prefixes_are_stable(wire: Wire, target: &Target, vendor: &Value, marks: &str) {
    let messages = conversation(vendor);
    let bytes = |count: usize| {
        let body = wire.body(target, &request(messages[..count].to_vec())).unwrap();
        assert_eq!(body, wire.body(target, &request(messages[..count].to_vec())).unwrap());
        let body = String::from_utf8(body).unwrap();
        if marks.is_empty() { body } else { body.replace(marks, "") }
    };
    let asked = (1..=messages.len()).filter(|count| !matches!(messages[count - 1], Message::Assistant(_)));
    let bodies: Vec<String> = asked.map(bytes).collect();
    for pair in bodies.windows(2) {
        let shared = pair[0].trim_end_matches(['}', ']', '"']);
        assert!(pair[1].starts_with(shared), "{}\nis no beginning of\n{}", pair[0], pair[1]);
        assert!(pair[1].len() > pair[0].len());
    }
}

/// The result of a stream of events.
pub(crate) struct Read {
    pub(crate) events: Vec<ModelEvent>,
    pub(crate) outcome: Result<Response, Fault>,
}

impl Read {
    /// Returns the pieces that were streamed, in words, without the end.
    pub(crate) fn story(&self) -> Vec<String> {
        let story = self.events.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.clone()),
            ModelEvent::Thinking(text) => Some(format!("({text})")),
            ModelEvent::ToolCallStarted { id, name } => Some(format!("{name}#{id}")),
            ModelEvent::ToolCallInput { id, json } => Some(format!("#{id} {json}")),
            ModelEvent::Opened(_) | ModelEvent::Used(_) | ModelEvent::Finished(_) => None,
        });
        story.collect()
    }

    /// Returns the usage that it last told before its end.
    pub(crate) fn used(&self) -> Option<Usage> {
        self.events.iter().rev().find_map(|event| match event {
            ModelEvent::Used(usage) => Some(*usage),
            _ => None,
        })
    }
}

/// Reads events, each given as JSON or as text.
pub(crate) fn read(wire: Wire, target: &Target, events: &[Value]) -> Read {
    let mut decoder = wire.decoder(target, &request(Vec::new()));
    let mut pieces = Pieces::default();
    let mut fault = None;
    for event in events {
        let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
        if let Err(error) = decoder.event(data.as_bytes(), &mut pieces) {
            fault = Some(error);
        }
        // Nobody reads on after the end.
        if fault.is_some() || pieces.is_finished() {
            break;
        }
    }
    if fault.is_none() && !pieces.is_finished() {
        fault = decoder.end(&mut pieces).err();
    }
    let events: Vec<ModelEvent> = std::iter::from_fn(|| pieces.take()).collect();
    let outcome = match (fault, events.last()) {
        (Some(fault), _) => Err(fault),
        (None, Some(ModelEvent::Finished(response))) => Ok(response.clone()),
        (None, _) => panic!("neither an answer nor a fault: {events:?}"),
    };
    Read { events, outcome }
}
