//! One small request and its answer within a deadline: for models that are asked while the user types.
//!
//! Dropping an answer closes its connection, so that the server stops writing it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use net::{Clients, HttpError, Response, Url, read, sse};
use ports::model::{ModelError, ModelErrorKind};
use tokio::time::{Instant, timeout, timeout_at};

use super::read::Lines;
use super::wire::{Place, Shape};
use crate::failure::{Fault, Whose, error, no_client};
use crate::remote::{beside, endpoint};
use crate::settings::Provider;
use crate::wire::Route;

/// The most bytes of an answer as it comes. Servers repeat the prompt and their settings in it, and each token has an
/// event of its own.
const BYTES: usize = 4 * 1024 * 1024;
/// The most bytes of an error's body that are read.
const ERROR_BODY: usize = 64 * 1024;
/// The time that the end of a body may take after the end of the answer in it. It mostly comes along with it.
const LINGER: Duration = Duration::from_millis(20);

/// A server that is asked.
pub(crate) struct Exchange {
    provider: Provider,
    whose: Whose,
    http: Arc<Clients>,
}

/// An answer that comes in.
pub(crate) struct Answering {
    whose: Whose,
    deadline: Deadline,
    /// None when nothing more is to be read.
    response: Option<Response>,
    frames: Frames,
    /// The events that are not taken yet, in reverse.
    waiting: Vec<Vec<u8>>,
    bytes: usize,
}

/// The time by which an answer must be whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    end: Instant,
    span: Duration,
}

/// The way in which an answer is cut into events.
enum Frames {
    Events(Box<sse::Decoder>),
    Lines(Lines),
    Whole(Vec<u8>),
}

impl Exchange {
    /// For a model of this provider.
    pub(crate) fn new(provider: &Provider, model: &str, http: Arc<Clients>) -> Self {
        let provider = provider.for_model(model).into_owned();
        let whose = provider.whose(if model.is_empty() { "its model" } else { model });
        Self { provider, whose, http }
    }

    /// The provider and model, for words.
    pub(crate) fn whose(&self) -> &Whose {
        &self.whose
    }

    /// Sends a request and waits for the head of the answer.
    pub(crate) async fn ask(
        &self,
        place: Place,
        shape: Shape,
        body: Vec<u8>,
        deadline: Deadline,
    ) -> Result<Answering, ModelError> {
        if self.provider.lacks_key() {
            return Err(self.whose.no_key());
        }
        let url = address(&self.provider, place)
            .map_err(|problem| error(ModelErrorKind::Rejected, format!("{}: {problem}", self.whose.provider)))?;
        let began = self.provider.pools.now();
        let (response, whose) = self.answered(url, body, deadline).await?;
        if !response.status().is_success() {
            let (failure, asked) = refused(&whose, response, deadline).await;
            return Err(self.provider.failed(&whose, failure, asked).await);
        }
        self.provider.answered(&whose, began).await;
        let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        if content_type.starts_with("text/html") {
            let problem = "a web page. Check that the base URL is right and that no proxy answers instead".to_owned();
            return Err(whose.fault(Fault::Garbage(problem)));
        }
        let frames = match shape {
            Shape::Ollama => Frames::Lines(Lines::default()),
            Shape::LlamaCpp | Shape::OpenAi if content_type.starts_with("application/json") => {
                Frames::Whole(Vec::new())
            }
            Shape::LlamaCpp | Shape::OpenAi => Frames::Events(Box::default()),
        };
        Ok(Answering { whose, deadline, response: Some(response), frames, waiting: Vec::new(), bytes: 0 })
    }

    /// Sends the request, once more with another key if the first is refused and a command or an account may have
    /// one. Gives the answer's head, and whose it is. A command for the key has its own time: one that asks the user
    /// for a finger is not for nothing.
    async fn answered(&self, url: Url, body: Vec<u8>, deadline: Deadline) -> Result<(Response, Whose), ModelError> {
        let body = Bytes::from(body);
        let whose = self.provider.with_key(&self.whose).await?;
        let response = self.in_time(deadline, self.send(url.clone(), body.clone(), &whose)).await??;
        if let (Some(key), 401) = (&whose.key, response.status().as_u16())
            && self.provider.refused(key).await
        {
            let again = self.provider.with_key(&self.whose).await?;
            if again.key != whose.key {
                return Ok((self.in_time(deadline, self.send(url, body, &again)).await??, again));
            }
        }
        Ok((response, whose))
    }

    async fn send(&self, url: Url, body: Bytes, whose: &Whose) -> Result<Response, ModelError> {
        let client = self.http.client(&url).await.map_err(no_client)?;
        let mut post = client.post(url).header("content-type", "application/json");
        let headers = self.provider.headers_with(self.provider.wire, whose.key.as_ref());
        for (name, value) in headers.map_err(|problem| error(ModelErrorKind::Unauthorized, problem))? {
            post = post.header(name, value);
        }
        post.body(body).send().await.map_err(|failure| whose.network(&failure))
    }

    async fn in_time<T>(&self, deadline: Deadline, work: impl Future<Output = T>) -> Result<T, ModelError> {
        timeout_at(deadline.end, work).await.map_err(|_| self.whose.late(deadline.span))
    }
}

/// The failure of an answer with another status than success, and the time that its server asks for.
async fn refused(whose: &Whose, response: Response, deadline: Deadline) -> (ModelError, Option<Duration>) {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    // The status says enough where the words do not come.
    let body = timeout_at(deadline.end, read(response, ERROR_BODY)).await;
    let body = body.ok().and_then(Result::ok).unwrap_or_default();
    (whose.status(status, &headers, &body), Whose::asked(&headers, &body))
}

impl Answering {
    /// The data of the next event, or the whole body of an answer that comes at once; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>, ModelError> {
        loop {
            if let Some(event) = self.waiting.pop() {
                return Ok(Some(event));
            }
            let Some(response) = &mut self.response else { return Ok(None) };
            match timeout_at(self.deadline.end, response.chunk()).await {
                Err(_) => return Err(self.whose.late(self.deadline.span)),
                Ok(Err(failure)) => return Err(self.broken(&failure)),
                Ok(Ok(Some(chunk))) => self.take_in(&chunk).map_err(|fault| self.whose.fault(fault))?,
                Ok(Ok(None)) => {
                    self.response = None;
                    self.end().map_err(|fault| self.whose.fault(fault))?;
                }
            }
        }
    }

    /// Closes the connection: nothing more is wanted.
    pub(crate) fn close(&mut self) {
        self.response = None;
        self.waiting.clear();
    }

    /// Reads to the end of the body, if it comes at once, so that the connection can serve the next request.
    pub(crate) async fn finish(&mut self) {
        self.waiting.clear();
        if let Some(mut response) = self.response.take() {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            // A server that goes on is left, as if nothing more was wanted.
            let _ = timeout(LINGER, rest).await;
        }
    }

    /// The provider and model, for words.
    pub(crate) fn whose(&self) -> &Whose {
        &self.whose
    }

    fn take_in(&mut self, chunk: &[u8]) -> Result<(), Fault> {
        self.bytes += chunk.len();
        if self.bytes > BYTES {
            return Err(Fault::TooLong { limit: BYTES });
        }
        match &mut self.frames {
            Frames::Events(events) => {
                let mut input = chunk;
                loop {
                    match events.next(&mut input) {
                        Ok(Some(data)) => self.waiting.push(data.to_vec()),
                        Ok(None) => break,
                        Err(problem) => return Err(Fault::Garbage(problem.to_string())),
                    }
                }
            }
            Frames::Lines(lines) => self.waiting = lines.push(chunk),
            Frames::Whole(body) => body.extend_from_slice(chunk),
        }
        self.waiting.reverse();
        Ok(())
    }

    fn end(&mut self) -> Result<(), Fault> {
        match &mut self.frames {
            Frames::Events(events) => {
                if let Some(data) = events.finish() {
                    self.waiting.push(data.to_vec());
                } else if events.is_foreign() {
                    return Err(Fault::Garbage("lines that are no event stream".to_owned()));
                }
            }
            Frames::Lines(lines) => self.waiting.extend(lines.finish()),
            Frames::Whole(body) => self.waiting.push(std::mem::take(body)),
        }
        Ok(())
    }

    fn broken(&self, failure: &HttpError) -> ModelError {
        let ModelError { message, .. } = self.whose.network(failure);
        error(ModelErrorKind::Incomplete, message)
    }
}

impl Deadline {
    /// The time after so long.
    pub(crate) fn after(span: Duration) -> Self {
        // A span that no clock can hold is no limit that anybody meant.
        let end = Instant::now().checked_add(span).unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400));
        Self { end, span }
    }

    /// Waits for something until the deadline; none if it comes too late.
    pub(crate) async fn wait<T>(self, work: impl Future<Output = T>) -> Option<T> {
        timeout_at(self.end, work).await.ok()
    }

    /// The time that the whole answer may take.
    pub(crate) fn span(self) -> Duration {
        self.span
    }
}

/// The address of a place at a provider.
pub(crate) fn address(provider: &Provider, place: Place) -> Result<Url, String> {
    match place {
        Place::Versioned(path) => endpoint(&provider.base_url, &Route::v1(path)),
        Place::Beside(path) => {
            // An address with DeepSeek's `/beta` has the beginning of the path already.
            let base = provider.base_url.trim().trim_end_matches('/');
            beside(base.strip_suffix("/beta").unwrap_or(base), path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::wire::FillWire;
    use super::*;
    use crate::Settings;

    #[test]
    fn each_wires_place_follows_from_an_address_in_any_form() {
        let at = |base: &str, wire: FillWire| {
            let mut settings = Settings::default();
            settings.set_provider("mine", Some(base.into()), None, None, vec![]).unwrap();
            let provider = settings.providers.iter().find(|provider| provider.name == "mine").unwrap();
            address(provider, wire.place()).unwrap().to_string()
        };
        for (base, wire, expected) in [
            ("http://127.0.0.1:8080", FillWire::LlamaCpp, "http://127.0.0.1:8080/infill"),
            ("http://127.0.0.1:8080/v1", FillWire::LlamaCpp, "http://127.0.0.1:8080/infill"),
            ("http://127.0.0.1:11434/v1/", FillWire::Ollama, "http://127.0.0.1:11434/api/generate"),
            ("https://box.example/ollama", FillWire::Ollama, "https://box.example/ollama/api/generate"),
            ("https://api.deepseek.com", FillWire::DeepSeek, "https://api.deepseek.com/beta/completions"),
            ("https://api.deepseek.com/v1", FillWire::DeepSeek, "https://api.deepseek.com/beta/completions"),
            ("https://api.deepseek.com/beta", FillWire::DeepSeek, "https://api.deepseek.com/beta/completions"),
            ("https://api.mistral.ai/v1", FillWire::Mistral, "https://api.mistral.ai/v1/fim/completions"),
            ("https://codestral.mistral.ai", FillWire::Mistral, "https://codestral.mistral.ai/v1/fim/completions"),
            ("https://api.inceptionlabs.ai/v1", FillWire::Inception, "https://api.inceptionlabs.ai/v1/fim/completions"),
            ("http://gpu:8000", FillWire::Tokens, "http://gpu:8000/v1/completions"),
        ] {
            assert_eq!(at(base, wire), expected, "{base}");
        }
    }
}
