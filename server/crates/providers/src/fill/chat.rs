//! A model to chat with that is asked in words to fill in text. For models that learned nothing better.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use ports::complete::{Complete, Fill, FillEvent, FillInfo, FillStream};
use ports::model::{
    Before, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, Request, Stop, UserBlock,
};
use protocol::content::Usage;
use protocol::model::ThinkingLevel;

use super::clean::Cleaner;
use super::exchange::Deadline;
use super::family::Quirk;
use super::text::ANSWER;
use crate::failure::{error, late};

/// The longest prefix and suffix together, in bytes.
const CONTEXT: usize = 16_000;
/// The instructions.
const SYSTEM: &str = "You complete code in an editor while its user types. You are given the text before the user's \
    cursor and the text after it. Answer with the text that belongs at the cursor, and with nothing else: no \
    explanation, no code fence, nothing of the given text repeated. Your answer is inserted as it is, so it begins \
    right after the last character before the cursor, with the blanks and line ends that are needed there, and fits \
    what follows. Keep to the style of the file. Write no more than what is certain: the rest of the line or of the \
    block. If nothing is missing, answer with nothing.";

/// A model to chat with that fills in text.
pub(crate) struct ChatFill {
    model: Arc<dyn Model>,
    info: FillInfo,
}

/// An answer that comes in.
struct Chatting {
    stream: Option<ModelStream>,
    cleaner: Cleaner,
    deadline: Deadline,
    id: String,
    bytes: usize,
    /// The tokens used so far, as far as the vendor has said.
    used: Usage,
    /// The event that is to be told after the piece before it.
    end: Option<FillEvent>,
}

impl ChatFill {
    /// This model.
    pub(crate) fn new(model: Arc<dyn Model>, is_local: bool) -> Self {
        let info = info(&*model, is_local);
        Self { model, info }
    }
}

#[async_trait]
impl Complete for ChatFill {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    async fn fill(&self, request: Fill) -> Result<FillStream, ModelError> {
        let deadline = Deadline::after(request.deadline);
        let asking = self.model.stream(ask(SYSTEM, said(&request), request.max_tokens));
        let stream = deadline.wait(asking).await.ok_or_else(|| late(&self.info.id, deadline.span()))??;
        let chatting = Chatting {
            stream: Some(stream),
            cleaner: Cleaner::new(&request, &[], &[Quirk::Thinking, Quirk::Fence]),
            deadline,
            id: self.info.id.clone(),
            bytes: 0,
            used: Usage::default(),
            end: None,
        };
        Ok(Box::pin(stream::unfold(chatting, async |mut chatting| {
            let event = chatting.next().await.transpose()?;
            if event.is_err() {
                chatting.stream = None;
            }
            Some((event, chatting))
        })))
    }
}

impl Chatting {
    async fn next(&mut self) -> Result<Option<FillEvent>, ModelError> {
        loop {
            if let Some(end) = self.end.take() {
                return Ok(Some(end));
            }
            let Some(stream) = &mut self.stream else { return Ok(None) };
            let event = self.deadline.wait(stream.next()).await.ok_or_else(|| late(&self.id, self.deadline.span()))?;
            let Some(event) = event.transpose()? else {
                let message = format!("the answer of {} broke off", self.id);
                return Err(error(ModelErrorKind::Incomplete, message));
            };
            let mut text = String::new();
            match event {
                ModelEvent::Text(piece) => {
                    self.bytes += piece.len();
                    if self.bytes > ANSWER {
                        let message = format!("the answer of {} was cut off because it is too long", self.id);
                        return Err(error(ModelErrorKind::Rejected, message));
                    }
                    text = self.cleaner.push(&piece);
                    if self.cleaner.is_ended() {
                        self.finish(FillEvent::Finished { is_cut: false, usage: self.used, cached: None });
                    }
                }
                ModelEvent::Finished(response) => {
                    if response.stop == Stop::Refusal {
                        return Err(error(ModelErrorKind::Rejected, format!("{} would not answer", self.id)));
                    }
                    text = self.cleaner.finish();
                    let cached = Some(response.usage.cache_read).filter(|tokens| *tokens > 0);
                    let is_cut = response.stop == Stop::MaxTokens;
                    self.finish(FillEvent::Finished { is_cut, usage: response.usage, cached });
                }
                ModelEvent::Used(usage) => self.used = usage,
                ModelEvent::Opened(_)
                | ModelEvent::Thinking(_)
                | ModelEvent::ToolCallStarted { .. }
                | ModelEvent::ToolCallInput { .. } => {}
            }
            if !text.is_empty() {
                return Ok(Some(FillEvent::Text(text)));
            }
        }
    }

    fn finish(&mut self, end: FillEvent) {
        self.stream = None;
        self.end = Some(end);
    }
}

/// The properties of a model to chat with.
pub(crate) fn info(model: &dyn Model, is_local: bool) -> FillInfo {
    let info = model.info();
    FillInfo {
        id: info.id.clone(),
        is_local,
        price: info.price.filter(|_| !is_local),
        context_bytes: CONTEXT,
        control_tokens: Arc::new([]),
    }
}

/// A question without tools and without thinking.
pub(crate) fn ask(system: &str, user: String, longest: u32) -> Request {
    Request {
        system: system.into(),
        tools: Arc::new([]),
        messages: vec![Arc::new(Message::User(vec![UserBlock::Text(user)]))],
        max_output_tokens: longest.into(),
        thinking: Some(ThinkingLevel::Off),
        before: Before::default(),
        cache_key: "azimuth-inline".into(),
        cache_hour: false,
    }
}

/// The request in words. The text before the cursor changes with each key, so it comes last.
fn said(request: &Fill) -> String {
    let files = request
        .extra
        .iter()
        .map(|file| format!("<file path=\"{}\">\n{}\n</file>\n\n", file.path, file.text.trim_end_matches('\n')));
    format!(
        "{}The file is {} ({}).\n\n<after_cursor>{}</after_cursor>\n\n<before_cursor>{}</before_cursor>",
        files.collect::<String>(),
        request.path,
        request.language,
        request.suffix,
        request.prefix,
    )
}
