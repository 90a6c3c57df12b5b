//! Recordings: how they are written, and how they are played.
//!
//! A recording is JSON lines. The first names the format and the model. Each request is a line with its digest and the
//! number of answers before it, followed, among the lines of other requests, by a line for each event of its answer
//! with the time since the request. Requests themselves are not in it, and neither is any key.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ports::model::{Message, ModelError, ModelErrorKind, ModelEvent, Response, Stop, UserBlock};
use protocol::content::{Opening, Usage};
use protocol::{AssistantBlock, ToolCallId};
use serde::{Deserialize, Serialize};

use super::{Score, answers};
use crate::failure::error;
use crate::hash::Fnv;

/// The version of the format.
const VERSION: u32 = 1;

/// A line of a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Line {
    /// The first line.
    Recording {
        version: u32,
    },
    Request {
        request: u64,
        model: String,
        digest: String,
        answers: usize,
    },
    Event {
        request: u64,
        ms: u64,
        event: Event,
    },
    Failed {
        request: u64,
        ms: u64,
        failure: Failure,
    },
}

impl Line {
    /// The first line of a recording.
    pub(super) const HEAD: Self = Self::Recording { version: VERSION };
}

/// An event, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(super) enum Event {
    Opened {
        opening: Opening,
    },
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    ToolCallStarted {
        id: ToolCallId,
        name: String,
    },
    ToolCallInput {
        id: ToolCallId,
        json: String,
    },
    Used {
        usage: Usage,
    },
    Finished {
        content: Vec<AssistantBlock>,
        stop: WrittenStop,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        usage: Usage,
    },
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum WrittenStop {
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
    Pause,
}

/// An error, as it is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Failure {
    kind: WrittenKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum WrittenKind {
    Transient,
    RateLimited,
    Overloaded,
    Incomplete,
    Garbage,
    OrphanedToolCalls,
    UnreadableCall,
    ContextOverflow,
    QuotaUsedUp,
    Unauthorized,
    NoSuchModel,
    Rejected,
}

/// A recording that can be played.
#[derive(Debug)]
pub(super) struct Recording {
    /// The model that was recorded.
    pub(super) model: String,
    takes: Vec<Take>,
}

/// A recorded request with its answer.
#[derive(Debug)]
struct Take {
    digest: String,
    answers: usize,
    score: Vec<(u64, Result<Event, Failure>)>,
}

impl Recording {
    /// The recording in a text; none if the text is something else.
    pub(super) fn parse(text: &str) -> Result<Option<Self>, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        match lines.next().map(|(_, line)| serde_json::from_str::<Line>(line)) {
            Some(Ok(Line::Recording { version: VERSION })) => {}
            Some(Ok(Line::Recording { version })) => {
                return Err(format!("the recording has version {version}, which this program does not know"));
            }
            _ => return Ok(None),
        }
        let mut takes: BTreeMap<u64, Take> = BTreeMap::new();
        let mut model = None;
        let mut lines = lines.peekable();
        while let Some((at, line)) = lines.next() {
            let line: Line = match serde_json::from_str(line) {
                Ok(line) => line,
                // The program was ended while it wrote: what stands before counts.
                Err(_) if lines.peek().is_none() => break,
                Err(problem) => return Err(format!("line {}: {problem}", at + 1)),
            };
            match line {
                // A later recording was added to the same file.
                Line::Recording { .. } => {}
                Line::Request { request, model: name, digest, answers } => {
                    model.get_or_insert(name);
                    takes.insert(request, Take { digest, answers, score: Vec::new() });
                }
                Line::Event { request, ms, event } => {
                    takes.get_mut(&request).into_iter().for_each(|take| take.score.push((ms, Ok(event.clone()))));
                }
                Line::Failed { request, ms, failure } => {
                    takes.get_mut(&request).into_iter().for_each(|take| take.score.push((ms, Err(failure.clone()))));
                }
            }
        }
        let model = model.ok_or("the recording holds no request")?;
        // A take that was cancelled, or failed and was asked again, is not what the session went on with.
        let takes = takes.into_values().filter(Take::is_whole).collect();
        Ok(Some(Self { model: model.rsplit('/').next().unwrap_or_default().to_owned(), takes }))
    }

    /// The answer to a conversation: that to the same conversation, else the one that came after as many answers.
    pub(super) fn answer(&self, messages: &[Arc<Message>], strict: bool) -> Result<Score, ModelError> {
        let (digest, answers) = (digest(messages), answers(messages));
        let same = self.takes.iter().rfind(|take| take.digest == digest);
        if same.is_none() && strict {
            let message = format!("the recording has no answer to this conversation (digest {digest})");
            return Err(error(ModelErrorKind::Rejected, message));
        }
        let take = same.or_else(|| self.takes.iter().rfind(|take| take.answers == answers)).ok_or_else(|| {
            let message = format!("the recording has ended: it has no answer number {}", answers + 1);
            error(ModelErrorKind::Rejected, message)
        })?;
        if take.digest != digest {
            tracing::warn!(answer = answers + 1, recorded = %take.digest, %digest, "the conversation differs from the recorded one");
        }
        let mut before = 0;
        Ok(take
            .score
            .iter()
            .map(|(ms, event)| {
                let pause = Duration::from_millis(ms.saturating_sub(before));
                before = *ms;
                (pause, event.clone().map(ModelEvent::from).map_err(ModelError::from))
            })
            .collect())
    }
}

impl Take {
    fn is_whole(&self) -> bool {
        matches!(self.score.last(), Some((_, Ok(Event::Finished { .. }))))
    }
}

/// A digest of a conversation. The system prompt and the tools are not in it: they hold the date and the machine.
pub(super) fn digest(messages: &[Arc<Message>]) -> String {
    let mut hash = Fnv::default();
    let mut add = |kind: &str, text: &str| {
        hash.add(kind.as_bytes());
        hash.add(&(text.len() as u64).to_le_bytes());
        hash.add(text.as_bytes());
    };
    for message in messages {
        match &**message {
            Message::User(blocks) => blocks.iter().for_each(|block| match block {
                UserBlock::Text(text) => add("user", text),
                UserBlock::Image { data, .. } => add("image", data),
            }),
            Message::Assistant(blocks) => blocks.iter().for_each(|block| match block {
                AssistantBlock::Text { text, .. } => add("text", text),
                AssistantBlock::Thinking { text, .. } => add("thinking", text),
                AssistantBlock::ToolCall { name, input, .. } => add(name, &input.to_string()),
            }),
            Message::ToolResults(results) => results.iter().for_each(|result| add("result", &result.text)),
        }
    }
    format!("{:016x}", hash.0)
}

impl From<ModelEvent> for Event {
    fn from(event: ModelEvent) -> Self {
        match event {
            ModelEvent::Opened(opening) => Self::Opened { opening },
            ModelEvent::Text(text) => Self::Text { text },
            ModelEvent::Thinking(text) => Self::Thinking { text },
            ModelEvent::ToolCallStarted { id, name } => Self::ToolCallStarted { id, name },
            ModelEvent::ToolCallInput { id, json } => Self::ToolCallInput { id, json },
            ModelEvent::Used(usage) => Self::Used { usage },
            ModelEvent::Finished(Response { content, stop, why, usage }) => Self::Finished {
                content,
                stop: match stop {
                    Stop::EndTurn => WrittenStop::EndTurn,
                    Stop::ToolUse => WrittenStop::ToolUse,
                    Stop::MaxTokens => WrittenStop::MaxTokens,
                    Stop::Refusal => WrittenStop::Refusal,
                    Stop::Pause => WrittenStop::Pause,
                },
                why,
                usage,
            },
        }
    }
}

impl From<Event> for ModelEvent {
    fn from(event: Event) -> Self {
        match event {
            Event::Opened { opening } => Self::Opened(opening),
            Event::Text { text } => Self::Text(text),
            Event::Thinking { text } => Self::Thinking(text),
            Event::ToolCallStarted { id, name } => Self::ToolCallStarted { id, name },
            Event::ToolCallInput { id, json } => Self::ToolCallInput { id, json },
            Event::Used { usage } => Self::Used(usage),
            Event::Finished { content, stop, why, usage } => Self::Finished(Response {
                content,
                stop: match stop {
                    WrittenStop::EndTurn => Stop::EndTurn,
                    WrittenStop::ToolUse => Stop::ToolUse,
                    WrittenStop::MaxTokens => Stop::MaxTokens,
                    WrittenStop::Refusal => Stop::Refusal,
                    WrittenStop::Pause => Stop::Pause,
                },
                why,
                usage,
            }),
        }
    }
}

impl From<&ModelError> for Failure {
    fn from(failure: &ModelError) -> Self {
        let (kind, retry_after) = match failure.kind {
            ModelErrorKind::Transient => (WrittenKind::Transient, None),
            ModelErrorKind::RateLimited { retry_after } => (WrittenKind::RateLimited, retry_after),
            ModelErrorKind::Overloaded { retry_after } => (WrittenKind::Overloaded, Some(retry_after)),
            ModelErrorKind::Incomplete => (WrittenKind::Incomplete, None),
            ModelErrorKind::Garbage => (WrittenKind::Garbage, None),
            ModelErrorKind::OrphanedToolCalls => (WrittenKind::OrphanedToolCalls, None),
            ModelErrorKind::UnreadableCall => (WrittenKind::UnreadableCall, None),
            ModelErrorKind::ContextOverflow => (WrittenKind::ContextOverflow, None),
            ModelErrorKind::QuotaUsedUp => (WrittenKind::QuotaUsedUp, None),
            ModelErrorKind::Unauthorized => (WrittenKind::Unauthorized, None),
            ModelErrorKind::NoSuchModel => (WrittenKind::NoSuchModel, None),
            ModelErrorKind::Rejected => (WrittenKind::Rejected, None),
        };
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        Self { kind, message: failure.message.clone(), retry_after_ms }
    }
}

impl From<Failure> for ModelError {
    fn from(failure: Failure) -> Self {
        let kind = match failure.kind {
            WrittenKind::Transient => ModelErrorKind::Transient,
            WrittenKind::RateLimited => {
                ModelErrorKind::RateLimited { retry_after: failure.retry_after_ms.map(Duration::from_millis) }
            }
            WrittenKind::Overloaded => ModelErrorKind::Overloaded {
                retry_after: Duration::from_millis(failure.retry_after_ms.unwrap_or_default()),
            },
            WrittenKind::Incomplete => ModelErrorKind::Incomplete,
            WrittenKind::Garbage => ModelErrorKind::Garbage,
            WrittenKind::OrphanedToolCalls => ModelErrorKind::OrphanedToolCalls,
            WrittenKind::UnreadableCall => ModelErrorKind::UnreadableCall,
            WrittenKind::ContextOverflow => ModelErrorKind::ContextOverflow,
            WrittenKind::QuotaUsedUp => ModelErrorKind::QuotaUsedUp,
            WrittenKind::Unauthorized => ModelErrorKind::Unauthorized,
            WrittenKind::NoSuchModel => ModelErrorKind::NoSuchModel,
            WrittenKind::Rejected => ModelErrorKind::Rejected,
        };
        error(kind, failure.message)
    }
}
