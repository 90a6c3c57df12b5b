//! A model to chat with that is asked in words for the next edit.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;
use ports::complete::{EditNext, FillInfo, NextEdit, Rewritten, Window};
use ports::model::{Model, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop};

use super::parts::Parts;
use super::remote::{longest, no_window, without_marks};
use super::{EditDialect, words};
use crate::failure::{Fault, error, late};
use crate::fill::chat::{ask, info};
use crate::fill::exchange::Deadline;
use crate::fill::text::ANSWER;

/// The tokens beside those of the window: the tags, and a word before them.
const BESIDES: u32 = 64;

/// A model to chat with that edits next.
pub(crate) struct ChatEdit {
    model: Arc<dyn Model>,
    info: FillInfo,
}

impl ChatEdit {
    /// This model.
    pub(crate) fn new(model: Arc<dyn Model>, is_local: bool) -> Self {
        let mut info = info(&*model, is_local);
        info.control_tokens = EditDialect::Chat.marks().iter().map(|mark| (*mark).to_owned()).collect();
        Self { model, info }
    }

    /// The whole answer.
    async fn answer(&self, request: Request) -> Result<(String, Response), ModelError> {
        let mut stream = self.model.stream(request).await?;
        let mut text = String::new();
        while let Some(event) = stream.next().await {
            match event? {
                ModelEvent::Text(piece) => text.push_str(&piece),
                ModelEvent::Finished(response) => return Ok((text, response)),
                ModelEvent::Opened(_)
                | ModelEvent::Thinking(_)
                | ModelEvent::ToolCallStarted { .. }
                | ModelEvent::ToolCallInput { .. }
                | ModelEvent::Used(_) => {}
            }
            if text.len() > ANSWER {
                let message = format!("the answer of {} was cut off because it is too long", self.info.id);
                return Err(error(ModelErrorKind::Rejected, message));
            }
        }
        Err(error(ModelErrorKind::Incomplete, format!("the answer of {} broke off", self.info.id)))
    }
}

#[async_trait]
impl EditNext for ChatEdit {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    fn window(&self) -> Window {
        EditDialect::Chat.window()
    }

    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError> {
        let deadline = Deadline::after(request.deadline);
        let request = without_marks(request, &self.info)?;
        let parts = Parts::of(&request).ok_or_else(no_window)?;
        let asked = ask(words::SYSTEM, words::prompt(&request, &parts), longest(&parts) + BESIDES);
        let answer = deadline.wait(self.answer(asked)).await;
        let (text, response) = answer.ok_or_else(|| late(&self.info.id, deadline.span()))??;
        if response.stop == Stop::Refusal {
            return Err(error(ModelErrorKind::Rejected, format!("{} would not answer", self.info.id)));
        }
        let text = words::parse(&text, &parts).map_err(|fault| {
            let problem = match fault {
                Fault::Garbage(problem) => problem,
                other => format!("{other:?}"),
            };
            error(ModelErrorKind::Garbage, format!("{} gave no next edit: {problem}", self.info.id))
        })?;
        Ok(Rewritten { text, is_cut: response.stop == Stop::MaxTokens, usage: response.usage })
    }
}
