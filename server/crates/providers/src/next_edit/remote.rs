//! A model over the network that learned a dialect for the next edit.

use std::sync::Arc;

use async_trait::async_trait;
use net::Clients;
use ports::complete::{EditNext, FillInfo, NextEdit, Rewritten, Window};
use ports::model::{ModelError, ModelErrorKind};
use serde::Serialize;

use super::parts::Parts;
use super::{EditDialect, Prompt};
use crate::failure::error;
use crate::fill::clean::Cleaner;
use crate::fill::exchange::{Deadline, Exchange};
use crate::fill::family;
use crate::fill::read::Reader;
use crate::fill::remote::{control_token, info};
use crate::fill::text::{End, Texts};
use crate::fill::wire::{Completion, Generate, Place, Shape, StreamOptions};
use crate::fill::{FillWire, known_wire};
use crate::settings::Provider;

/// A model over the network that edits next.
pub(crate) struct RemoteEdit {
    info: FillInfo,
    dialect: EditDialect,
    model: String,
    is_ollama: bool,
    exchange: Exchange,
}

impl RemoteEdit {
    /// The model of this name at this provider, in this dialect.
    pub(crate) fn new(provider: &Provider, model: &str, dialect: EditDialect, http: Arc<Clients>) -> Self {
        let family = family::find(model);
        let mut info = info(provider, model, family);
        let own = family.map(|family| family.control_tokens()).unwrap_or_default();
        let marks = dialect.marks().iter().map(|mark| (*mark).to_owned());
        info.control_tokens = own.into_iter().chain(marks).collect();
        Self {
            info,
            dialect,
            model: model.to_owned(),
            is_ollama: known_wire(provider) == Some(FillWire::Ollama),
            exchange: Exchange::new(provider, model, http),
        }
    }

    /// Where a prompt goes, the form of the answer, and the body.
    fn request(&self, prompt: Prompt, longest: u32) -> Result<(Place, Shape, Vec<u8>), serde_json::Error> {
        let model = self.model.as_str();
        let stop = self.dialect.stops().iter().map(|stop| (*stop).to_owned()).collect();
        Ok(match prompt {
            Prompt::Text(prompt) if self.is_ollama => {
                let body = serde_json::to_vec(&Generate::new(model, prompt.into(), longest, stop))?;
                (Place::Beside("/api/generate"), Shape::Ollama, body)
            }
            Prompt::Text(prompt) => {
                let body = serde_json::to_vec(&Completion {
                    model,
                    max_tokens: longest,
                    temperature: 0.0,
                    stop,
                    stream: true,
                    stream_options: Some(StreamOptions { include_usage: true }),
                    prompt: prompt.into(),
                    suffix: None,
                })?;
                (Place::Versioned("completions"), Shape::OpenAi, body)
            }
            // Inception gives the whole answer at once, and takes one message of the user's.
            Prompt::Message { system: None, user } => {
                let messages = vec![Said { role: "user", content: &user }];
                let body = Chat { model, max_tokens: None, temperature: None, stream: false, messages };
                (Place::Versioned("edit/completions"), Shape::OpenAi, serde_json::to_vec(&body)?)
            }
            Prompt::Message { system: Some(system), user } => {
                let messages = vec![Said { role: "system", content: system }, Said { role: "user", content: &user }];
                let body = Chat { model, max_tokens: Some(longest), temperature: Some(0.0), stream: true, messages };
                (Place::Versioned("chat/completions"), Shape::OpenAi, serde_json::to_vec(&body)?)
            }
        })
    }
}

#[async_trait]
impl EditNext for RemoteEdit {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    fn window(&self) -> Window {
        self.dialect.window()
    }

    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError> {
        let deadline = Deadline::after(request.deadline);
        let request = without_marks(request, &self.info)?;
        let parts = Parts::of(&request).ok_or_else(no_window)?;
        let (place, shape, body) = self
            .request(self.dialect.prompt(&request, &parts), longest(&parts))
            .map_err(|problem| error(ModelErrorKind::Rejected, format!("the request cannot be written: {problem}")))?;
        let answering = self.exchange.ask(place, shape, body, deadline).await?;
        let cleaner = Cleaner::ending_at(self.dialect.stops().iter().map(|stop| (*stop).to_owned()).collect());
        let mut texts = Texts::new(answering, Reader::new(shape), cleaner);
        let answer = texts.whole().await?;
        let End { is_cut, usage, .. } = texts.facts();
        let text = self.dialect.parse_answer(&answer, &parts).map_err(|fault| self.exchange.whose().fault(fault))?;
        Ok(Rewritten { text, is_cut, usage })
    }
}

/// A body of OpenAI's Chat Completions.
#[derive(Serialize)]
struct Chat<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    stream: bool,
    messages: Vec<Said<'a>>,
}

/// A message.
#[derive(Serialize)]
struct Said<'a> {
    role: &'static str,
    content: &'a str,
}

/// The request without excerpts and edits that have marks of the model in them.
///
/// # Errors
/// The file itself has one.
pub(super) fn without_marks(mut request: NextEdit, info: &FillInfo) -> Result<NextEdit, ModelError> {
    let marked = |text: &str| control_token(&info.control_tokens, text);
    if let Some(token) = marked(&request.excerpt) {
        let message = format!("the text has `{token}` in it, which controls {}; it was not sent", info.id);
        return Err(error(ModelErrorKind::Rejected, message));
    }
    request.related.retain(|excerpt| marked(&excerpt.text).is_none());
    request.history.retain(|edit| marked(&edit.before).or(marked(&edit.after)).is_none());
    Ok(request)
}

/// The error of a request whose window is not in its excerpt.
pub(super) fn no_window() -> ModelError {
    error(ModelErrorKind::Rejected, "the window of the next edit or its cursor is not in the excerpt")
}

/// The longest answer in tokens: the window and what may come to it. A token of code has two bytes at least.
pub(super) fn longest(parts: &Parts<'_>) -> u32 {
    u32::try_from(parts.window.len() / 2 + 256).unwrap_or(u32::MAX).clamp(256, 4_096)
}
