//! A request to a model outside the turn: a title, and whatever else is asked in passing.
//!
//! It has a role, by which users choose the model and see the cost; no tools; a deadline; and it is tried once, since
//! what waits for it can go on without. What it used is told whatever came of it, to be recorded as
//! [`SideAsked`](protocol::Event::SideAsked).

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use ports::model::{Before, Message, Model, ModelError, ModelEvent, Request, Stop, UserBlock, cost};
use protocol::content::{SideRole, Usage};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, Event};
use tokio_util::sync::CancellationToken;

/// A side request.
#[derive(Clone, Debug)]
pub struct SideRequest {
    /// The purpose.
    pub role: SideRole,
    /// The text that the model is told first.
    pub system: Arc<str>,
    /// The question.
    pub prompt: String,
    /// The session that it is about, whose key or account at the provider pays; empty if it is about none.
    pub session: String,
    /// The longest answer, in tokens.
    pub max_output_tokens: u64,
    /// How long all of it may take.
    pub deadline: Duration,
    /// Cancelled once nobody needs the answer any more.
    pub cancel: CancellationToken,
}

/// The result of a side request.
#[derive(Clone, Debug, PartialEq)]
pub struct SideAnswer {
    /// The model's text, without blanks around it.
    pub text: Result<String, SideError>,
    /// The record of it, with what it used and cost.
    pub event: Event,
}

/// Why there is no text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SideError {
    /// The request failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It took too long.
    #[error("there was no answer within {} s", .0.as_secs())]
    TooLate(Duration),
    /// Nobody needed it any more.
    #[error("it was cancelled")]
    Cancelled,
    /// The answer was cut off, refused or blank.
    #[error("the model gave no usable answer")]
    NoAnswer,
}

/// Asks a model.
pub async fn ask(model: &dyn Model, request: SideRequest) -> SideAnswer {
    let SideRequest { role, system, prompt, session, max_output_tokens, deadline, cancel } = request;
    let info = model.info();
    let request = Request {
        system,
        tools: Arc::from([]),
        messages: vec![Arc::new(Message::User(vec![UserBlock::Text(prompt)]))],
        max_output_tokens: max_output_tokens.min(info.max_output_tokens),
        thinking: Some(ThinkingLevel::Off),
        before: Before::default(),
        // Its prompt has nothing in common with the session's, but whoever pays for that pays for this too.
        cache_key: session,
        cache_hour: false,
    };
    let mut used = Usage::default();
    let text = tokio::select! {
        answered = answer(model, request, &mut used) => answered,
        () = tokio::time::sleep(deadline) => Err(SideError::TooLate(deadline)),
        () = cancel.cancelled() => Err(SideError::Cancelled),
    };
    let cost = info.price.map(|price| cost(&price, &used));
    let error = text.as_ref().err().map(ToString::to_string);
    let event = Event::SideAsked { role, model: info.id.clone(), usage: used, cost, error };
    SideAnswer { text, event }
}

async fn answer(model: &dyn Model, request: Request, used: &mut Usage) -> Result<String, SideError> {
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Used(usage) => *used = usage,
            ModelEvent::Finished(response) => {
                *used = response.usage;
                let texts = response.content.iter().filter_map(|block| match block {
                    AssistantBlock::Text { text, .. } => Some(text.as_str()),
                    AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
                });
                let text = texts.collect::<String>().trim().to_owned();
                let is_whole = response.stop == Stop::EndTurn && !text.is_empty();
                return if is_whole { Ok(text) } else { Err(SideError::NoAnswer) };
            }
            ModelEvent::Opened(_)
            | ModelEvent::Text(_)
            | ModelEvent::Thinking(_)
            | ModelEvent::ToolCallStarted { .. }
            | ModelEvent::ToolCallInput { .. } => {}
        }
    }
    Err(SideError::NoAnswer)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use futures_util::stream;
    use ports::model::{ModelErrorKind, ModelStream, Response};
    use protocol::model::{ModelInfo, Price};

    use super::*;

    /// A model that gives these events, and then nothing more.
    struct Says {
        info: ModelInfo,
        events: Mutex<Vec<Result<ModelEvent, ModelError>>>,
        requests: Mutex<Vec<Request>>,
        hangs: bool,
    }

    #[async_trait]
    impl Model for Says {
        fn info(&self) -> &ModelInfo {
            &self.info
        }

        async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
            self.requests.lock().unwrap().push(request);
            let events = stream::iter(std::mem::take(&mut *self.events.lock().unwrap()));
            Ok(if self.hangs { events.chain(stream::pending()).boxed() } else { events.boxed() })
        }
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output, ..Usage::default() }
    }

    fn finished(text: &str, stop: Stop) -> Result<ModelEvent, ModelError> {
        let content = vec![AssistantBlock::text(text)];
        Ok(ModelEvent::Finished(Response { content, stop, why: None, usage: usage(1_000_000, 0) }))
    }

    fn says(events: Vec<Result<ModelEvent, ModelError>>) -> Says {
        let price =
            Price { input: 2.0, output: 8.0, cache_read: 0.0, cache_write: 0.0, cache_write_hour: None, long: None };
        let info = ModelInfo {
            id: "test/small".to_owned(),
            name: "Small".to_owned(),
            aliases: Vec::new(),
            provider: "test".to_owned(),
            context_tokens: 100_000,
            max_output_tokens: 8_000,
            price: Some(price),
            available: true,
            unavailable_because: None,
            ruled_out: false,
            images: false,
            thinking: false,
            levels: Vec::new(),
            level: None,
            warning: None,
            scripted: false,
        };
        Says { info, events: Mutex::new(events), requests: Mutex::default(), hangs: false }
    }

    async fn asked(model: &Says) -> SideAnswer {
        cancelled_with(model, CancellationToken::new()).await
    }

    async fn cancelled_with(model: &Says, cancel: CancellationToken) -> SideAnswer {
        let request = SideRequest {
            role: SideRole::Title,
            system: "be short".into(),
            prompt: "a title".to_owned(),
            session: "abc123".to_owned(),
            max_output_tokens: 50,
            deadline: Duration::from_secs(10),
            cancel,
        };
        ask(model, request).await
    }

    fn cost_of(answer: &SideAnswer) -> Option<f64> {
        let Event::SideAsked { cost, .. } = &answer.event else { panic!("{:?}", answer.event) };
        *cost
    }

    #[tokio::test(start_paused = true)]
    async fn a_side_request_has_no_tools_and_its_cost_is_told() {
        let model = says(vec![Ok(ModelEvent::Text("x".to_owned())), finished(" A title \n", Stop::EndTurn)]);
        let answer = asked(&model).await;
        assert_eq!(answer.text.as_deref(), Ok("A title"));
        assert_eq!(cost_of(&answer), Some(2.0));
        let requests = model.requests.lock().unwrap();
        assert!(requests[0].tools.is_empty() && requests[0].max_output_tokens == 50);
        assert_eq!(requests[0].cache_key, "abc123", "the session's key pays");
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_too_long_is_given_up_and_what_it_used_is_told() {
        let mut model = says(vec![Ok(ModelEvent::Used(usage(500_000, 0)))]);
        model.hangs = true;
        let answer = asked(&model).await;
        assert_eq!(answer.text, Err(SideError::TooLate(Duration::from_secs(10))));
        assert_eq!(cost_of(&answer), Some(1.0));
        let Event::SideAsked { error, .. } = &answer.event else { panic!() };
        assert_eq!(error.as_deref(), Some("there was no answer within 10 s"));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_nobody_needs_any_more_is_given_up_and_what_it_used_is_told() {
        let mut model = says(vec![Ok(ModelEvent::Used(usage(500_000, 0)))]);
        model.hangs = true;
        let cancel = CancellationToken::new();
        let later = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(cancelled_with(&model, cancel.clone()), later);
        assert_eq!(answer.text, Err(SideError::Cancelled));
        assert_eq!(cost_of(&answer), Some(1.0));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_cut_off_refused_blank_or_broken_off_is_none() {
        let error = ModelError { kind: ModelErrorKind::Transient, message: "502".to_owned() };
        for event in [
            finished("A very lo", Stop::MaxTokens),
            finished("No.", Stop::Refusal),
            finished("  ", Stop::EndTurn),
            Ok(ModelEvent::Text("A".to_owned())),
        ] {
            assert_eq!(asked(&says(vec![event])).await.text, Err(SideError::NoAnswer));
        }
        assert_eq!(asked(&says(vec![Err(error.clone())])).await.text, Err(SideError::Model(error)));
    }
}
