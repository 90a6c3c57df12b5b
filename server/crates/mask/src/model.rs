//! A model that reads and writes through a mask.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use ports::model::{
    Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, OtherAccount, Request, Response, ToolSpec,
    UserBlock, Window,
};
use protocol::model::ModelInfo;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use serde_json::Value;

use crate::Masks;
use crate::masking::Mask;
use crate::reveal::Revealer;

/// A model behind a mask.
pub(crate) struct Masked {
    model: Arc<dyn Model>,
    masks: Arc<dyn Masks>,
    /// The parts of the last request, so that of a conversation that grows only what is new is looked through.
    last: Mutex<Last>,
}

/// A part of a request as it was, and as it was sent.
type Sent<T> = (Arc<T>, Arc<T>);

/// The parts of a request.
#[derive(Default)]
struct Last {
    mask: Option<Arc<Mask>>,
    system: Option<Sent<str>>,
    tools: Option<Sent<[ToolSpec]>>,
    messages: Vec<Sent<Message>>,
}

impl Masked {
    pub(crate) fn new(model: Arc<dyn Model>, masks: Arc<dyn Masks>) -> Self {
        Self { model, masks, last: Mutex::default() }
    }

    /// The request without secrets.
    fn hide(&self, mask: &Arc<Mask>, request: Request) -> Request {
        let last = &mut *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if !last.mask.as_ref().is_some_and(|known| Arc::ptr_eq(known, mask)) {
            *last = Last { mask: Some(Arc::clone(mask)), ..Last::default() };
        }
        let system = match last.system.take() {
            Some((known, hidden)) if Arc::ptr_eq(&known, &request.system) => hidden,
            _ => Arc::from(&*mask.hide(&request.system)),
        };
        let tools = match last.tools.take() {
            Some((known, hidden)) if Arc::ptr_eq(&known, &request.tools) => hidden,
            _ => request.tools.iter().map(|tool| tool_without(mask, tool)).collect(),
        };
        let mut known = std::mem::take(&mut last.messages).into_iter();
        let messages = request.messages.iter().map(|message| match known.next() {
            Some((known, hidden)) if Arc::ptr_eq(&known, message) => hidden,
            _ => message_without(mask, message),
        });
        let messages: Vec<_> = messages.collect();
        last.system = Some((Arc::clone(&request.system), Arc::clone(&system)));
        last.tools = Some((Arc::clone(&request.tools), Arc::clone(&tools)));
        last.messages = request.messages.iter().cloned().zip(messages.iter().cloned()).collect();
        Request { system, tools, messages, ..request }
    }
}

#[async_trait]
impl Model for Masked {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn changes_level_in_place(&self) -> bool {
        self.model.changes_level_in_place()
    }

    fn thinking_tokens(&self) -> Option<u64> {
        self.model.thinking_tokens()
    }

    async fn account(&self, session: &str, failure: Option<&ModelError>, tried: &[String]) -> Option<OtherAccount> {
        self.model.account(session, failure, tried).await
    }

    async fn window(&self) -> Option<Window> {
        self.model.window().await
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        let mask = mask(&*self.masks).await?;
        if mask.is_empty() {
            return self.model.stream(request).await;
        }
        let answer = self.model.stream(self.hide(&mask, request)).await?;
        let coming = Coming { mask, answer, ready: VecDeque::new(), text: Revealer::of_text(), inputs: HashMap::new() };
        Ok(stream::unfold(coming, async |mut coming| Some((coming.next().await?, coming))).boxed())
    }
}

/// The mask for a request.
///
/// # Errors
/// A secret could not be hidden, so nothing is sent.
pub(crate) async fn mask(masks: &dyn Masks) -> Result<Arc<Mask>, ModelError> {
    masks.mask().await.map_err(|message| ModelError { kind: ModelErrorKind::Rejected, message })
}

/// An answer that comes.
struct Coming {
    mask: Arc<Mask>,
    answer: ModelStream,
    /// The events that have come and are not given yet.
    ready: VecDeque<Result<ModelEvent, ModelError>>,
    text: Revealer,
    inputs: HashMap<ToolCallId, Revealer>,
}

impl Coming {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.answer.next().await {
                Some(event) => self.take(event),
                None => {
                    self.end_text();
                    return self.ready.pop_front();
                }
            }
        }
    }

    fn take(&mut self, event: Result<ModelEvent, ModelError>) {
        match event {
            Ok(ModelEvent::Text(piece)) => {
                let text = self.text.push(&self.mask, &piece);
                if !text.is_empty() {
                    self.ready.push_back(Ok(ModelEvent::Text(text)));
                }
            }
            Ok(ModelEvent::ToolCallInput { id, json }) => {
                let input = self.inputs.entry(id.clone()).or_insert_with(Revealer::of_json);
                let json = input.push(&self.mask, &json);
                if !json.is_empty() {
                    self.ready.push_back(Ok(ModelEvent::ToolCallInput { id, json }));
                }
            }
            Ok(ModelEvent::Finished(response)) => {
                self.end_text();
                self.end_inputs();
                self.ready.push_back(Ok(ModelEvent::Finished(revealed(&self.mask, response))));
            }
            // The use of tokens is no part of the text.
            Ok(ModelEvent::Used(_) | ModelEvent::Opened(_)) => self.ready.push_back(event),
            // Thinking stays as the vendor sent it, since it may be signed.
            Ok(ModelEvent::Thinking(_) | ModelEvent::ToolCallStarted { .. }) | Err(_) => {
                self.end_text();
                self.ready.push_back(event);
            }
        }
    }

    fn end_text(&mut self) {
        let text = self.text.end();
        if !text.is_empty() {
            self.ready.push_back(Ok(ModelEvent::Text(text)));
        }
    }

    fn end_inputs(&mut self) {
        for (id, mut input) in std::mem::take(&mut self.inputs) {
            let json = input.end();
            if !json.is_empty() {
                self.ready.push_back(Ok(ModelEvent::ToolCallInput { id, json }));
            }
        }
    }
}

/// A whole answer with the values of its placeholders. Thinking and what the vendor wants back stay byte for byte.
fn revealed(mask: &Mask, response: Response) -> Response {
    let block = |block| match block {
        AssistantBlock::Text { text, vendor } => AssistantBlock::Text { text: mask.reveal(&text).into_owned(), vendor },
        AssistantBlock::ToolCall { id, name, input, vendor } => {
            let input = mask.reveal_in(&input).unwrap_or(input);
            AssistantBlock::ToolCall { id, name, input, vendor }
        }
        thinking @ AssistantBlock::Thinking { .. } => thinking,
    };
    Response { content: response.content.into_iter().map(block).collect(), ..response }
}

fn tool_without(mask: &Mask, tool: &ToolSpec) -> ToolSpec {
    ToolSpec {
        name: tool.name.clone(),
        description: mask.hide(&tool.description).into_owned(),
        input_schema: schema_without(mask, &tool.input_schema),
    }
}

/// A schema without secrets in its descriptions. All else stays: with another name or value it would be another schema.
fn schema_without(mask: &Mask, schema: &Value) -> Value {
    match schema {
        Value::Array(list) => list.iter().map(|entry| schema_without(mask, entry)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| match value {
                Value::String(text) if name == "description" => (name.clone(), mask.hide(text).into()),
                _ => (name.clone(), schema_without(mask, value)),
            };
            Value::Object(fields.iter().map(field).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// A message without secrets; the same one if there are none in it.
fn message_without(mask: &Mask, message: &Arc<Message>) -> Arc<Message> {
    let hidden = match &**message {
        Message::User(blocks) => Message::User(blocks.iter().map(|block| user_block(mask, block)).collect()),
        Message::Assistant(blocks) => Message::Assistant(blocks.iter().map(|block| own_block(mask, block)).collect()),
        Message::ToolResults(results) => {
            let result = |result: &ToolResult| ToolResult {
                text: mask.hide(&result.text).into_owned(),
                tool_call_id: result.tool_call_id.clone(),
                is_error: result.is_error,
            };
            Message::ToolResults(results.iter().map(result).collect())
        }
    };
    if hidden == **message { Arc::clone(message) } else { Arc::new(hidden) }
}

fn user_block(mask: &Mask, block: &UserBlock) -> UserBlock {
    match block {
        UserBlock::Text(text) => UserBlock::Text(mask.hide(text).into_owned()),
        UserBlock::Image { .. } => block.clone(),
    }
}

/// A block of the model's own. Its thinking is what the vendor has sent and signed: it stays.
fn own_block(mask: &Mask, block: &AssistantBlock) -> AssistantBlock {
    match block {
        AssistantBlock::Text { text, vendor } => {
            AssistantBlock::Text { text: mask.hide(text).into_owned(), vendor: vendor.clone() }
        }
        AssistantBlock::ToolCall { id, name, input, vendor } => {
            let input: Value = mask.hide_in(input).unwrap_or_else(|| input.clone());
            AssistantBlock::ToolCall { id: id.clone(), name: name.clone(), input, vendor: vendor.clone() }
        }
        AssistantBlock::Thinking { .. } => block.clone(),
    }
}
