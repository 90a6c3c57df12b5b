//! A vendor's model: a request out, and the stream back.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream;
use net::header::{self, HeaderMap, HeaderValue};
use net::{Clients, Response as HttpResponse, Url, is_loopback, read};
use ports::model::{
    Model, ModelError, ModelErrorKind, ModelEvent, ModelStream, OtherAccount, Request, Response, Window,
};
use protocol::model::ModelInfo;
use serde_json::json;

use crate::failure::{Fault, Whose, error, is_about_signatures, is_about_streams, no_client};
use crate::frames::Frames;
use crate::ollama::{self, Details, Known};
use crate::quota::Quotas;
use crate::refusals::{Dispensable, Refusals};
use crate::settings::Provider;
use crate::signers::Signed;
use crate::vendors;
use crate::wire::{Decode, Pieces, Route, Target, Wire, anthropic, converse, unsigned};

/// How long a request may take without a piece of an answer. While pieces come it may take as long as it
/// takes. A model on this machine may read a long prompt for minutes before it says anything.
const PATIENCE: Duration = Duration::from_secs(600);
/// How long Ollama may take to say which window it has given a model. It is on this machine or near.
const WINDOW_PATIENCE: Duration = Duration::from_secs(2);
/// The most bytes of an error's body that are read.
const ERROR_BODY: usize = 64 * 1024;
/// The most bytes of an answer that comes at once.
const WHOLE_BODY: usize = 32 * 1024 * 1024;

/// The most bytes of an answer: text, thinking and the inputs of calls, and the whole of the events that show nothing
/// (signatures, repetitions). The longest answers of today's models have a few; what goes on beyond that has no end.
const ANSWER: usize = 64 * 1024 * 1024;

/// A vendor's model.
pub(crate) struct Remote {
    pub(crate) info: ModelInfo,
    pub(crate) wire: Wire,
    pub(crate) target: Target,
    pub(crate) provider: Provider,
    pub(crate) whose: Whose,
    pub(crate) http: Arc<Clients>,
    /// Where the limits are kept that its answers tell.
    pub(crate) quotas: Arc<Quotas>,
    /// How long it may be silent.
    pub(crate) idle_timeout: Duration,
    /// The number of messages at the beginning whose signatures its server does not know any more.
    pub(crate) unsigned: AtomicUsize,
    /// True if it has said that it takes tools only without a stream.
    pub(crate) refuses_streams: AtomicBool,
    /// The fields that servers have refused.
    pub(crate) refusals: Arc<Refusals>,
    /// The facts that are known of Ollama's models, if it is one.
    pub(crate) of_ollama: Arc<Known>,
}

#[async_trait]
impl Model for Remote {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn changes_level_in_place(&self) -> bool {
        let is_wire = matches!(self.wire, Wire::Anthropic | Wire::AnthropicVertex);
        is_wire && !self.refuses(Dispensable::EffortChange) && anthropic::changes_in_place(&self.target)
    }

    fn thinking_tokens(&self) -> Option<u64> {
        self.target.thinking_tokens()
    }

    async fn account(&self, session: &str, failure: Option<&ModelError>, tried: &[String]) -> Option<OtherAccount> {
        self.provider.other_member(session, failure.map(|failure| failure.kind), tried).await
    }

    async fn window(&self) -> Option<Window> {
        if !ollama::is_it(&self.provider) {
            return None;
        }
        let asking = async {
            let key = self.provider.secret().await?;
            let ask = async |place, body| {
                let url = beside(&self.provider.base_url, place)?;
                ollama::ask(url, body, &self.provider, key.as_ref(), &self.http).await
            };
            let loaded = ollama::Loaded::read(&ask(ollama::LOADED, None).await?).ok_or("it lists no models")?;
            let digest = loaded.digest(&self.target.model);
            if let Some(details) = digest.and_then(|digest| self.of_ollama.details(digest)) {
                return Ok((loaded, details));
            }
            // Without the details there is only less to be said.
            let named = json!({ "model": self.target.model });
            let Ok(details) = ask(ollama::DETAILS, Some(&named)).await else { return Ok((loaded, Details::default())) };
            let details = Details::read(&details);
            digest.into_iter().for_each(|digest| self.of_ollama.keep(digest, &details));
            Ok((loaded, details))
        };
        let answer = tokio::time::timeout(WINDOW_PATIENCE, asking).await.ok()?;
        let answer = answer.inspect_err(|problem: &String| tracing::debug!(problem, "the window is not known"));
        let (loaded, details) = answer.ok()?;
        let window = ollama::window(&loaded, &details, &self.target.model)?;
        self.of_ollama.learn(&self.target.model, window.tokens);
        // The user may want less of it to be used.
        let tokens = window.tokens.min(self.provider.own_context(&self.info.id).unwrap_or(u64::MAX));
        Some(Window { tokens, ..window })
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        if self.provider.lacks_key() {
            return Err(self.whose.no_key());
        }
        let placed = self.provider.with_project().await?;
        let url = placed
            .request_url(self.wire, &self.target.model)
            .map_err(|problem| error(ModelErrorKind::Rejected, format!("{}: {problem}", self.whose.provider)))?;
        let whose = match self.provider.member(&request.cache_key).await {
            Some(member) => Cow::Owned(self.whose.of_member(Some(member))),
            None => Cow::Borrowed(&self.whose),
        };
        let target = self.target_of(&whose);
        let known = unsigned(&request, self.unsigned.load(Ordering::Relaxed));
        let sent = known.as_ref().unwrap_or(&request);
        let body = self.written(&target, sent)?;
        let place = Place { url, streams: true };
        let place = if self.streams() { place } else { place.at_once() };
        let mut left_out = Vec::new();
        let (response, whose) = match self.answered(place.clone(), body.clone(), &whose).await {
            Err(failure) if self.wire == Wire::Converse && place.streams && is_about_streams(&failure) => {
                self.refuses_streams.store(true, Ordering::Relaxed);
                self.answered(place.at_once(), body, &whose).await?
            }
            Err(failure) if self.skips_signatures() && is_about_signatures(&failure) => {
                // Those that follow will be known: it is the key, the route or the model that has changed.
                let count = request.messages.len();
                let Some(again) = unsigned(&request, count) else { return Err(failure) };
                if self.unsigned.swap(count, Ordering::Relaxed) >= count {
                    return Err(failure);
                }
                self.answered(place, self.written(&target, &again)?, &whose).await?
            }
            Err(failure) => self.without_refused(failure, &target, sent, place, &whose, &mut left_out).await?,
            Ok(answer) => answer,
        };
        // The answer is read as one to a request without the parts that were refused.
        let mut target = self.target_of(&whose);
        left_out.into_iter().for_each(|part| part.leave_out(target.to_mut()));
        let mut streaming = Box::new(Streaming {
            decoder: self.wire.decoder(&target, &request),
            whose,
            idle_timeout: self.idle_timeout,
            response: None,
            events: self.wire.framing().frames(),
            pieces: Pieces::default(),
            unseen: 0,
            failure: None,
            last_piece: Instant::now(),
        });
        match kind_of(&response) {
            Body::Events => streaming.response = Some(response),
            Body::Whole => streaming.whole(response).await?,
            Body::Page => {
                let problem =
                    "a web page. Check that the base URL is right and that no proxy answers instead".to_owned();
                return Err(streaming.whose.fault(Fault::Garbage(problem)));
            }
        }
        Ok(Box::pin(stream::unfold(streaming, async |mut streaming| Some((streaming.next().await?, streaming)))))
    }
}

impl Remote {
    /// The model for one of several keys and accounts.
    fn target_of(&self, whose: &Whose) -> Cow<'_, Target> {
        let mut target = Cow::Borrowed(&self.target);
        if let Some(member) = &whose.member {
            target.to_mut().account = Some(member.id.clone());
        }
        for part in Dispensable::ALL.into_iter().filter(|part| self.refuses(*part)) {
            part.leave_out(target.to_mut());
        }
        target
    }

    fn written(&self, target: &Target, request: &Request) -> Result<Written, ModelError> {
        let unwritable = |problem| error(ModelErrorKind::Rejected, format!("the request cannot be written: {problem}"));
        let body = self.wire.body(target, request).map_err(|problem| unwritable(problem.to_string()))?;
        let mut headers = HeaderMap::new();
        for (name, value) in self.wire.headers(target, request) {
            let value = HeaderValue::try_from(&*value).map_err(|problem| unwritable(problem.to_string()))?;
            headers.append(name, value);
        }
        Ok(Written { headers, body: Bytes::from(self.provider.with_extra(body)) })
    }

    /// Asks again without what the server has refused, as far as the request can do without it, and says what that is.
    /// Once that has helped, it is kept in mind of the server.
    async fn without_refused(
        &self,
        mut failure: ModelError,
        target: &Target,
        request: &Request,
        place: Place,
        whose: &Whose,
        left_out: &mut Vec<Dispensable>,
    ) -> Result<(HttpResponse, Whose), ModelError> {
        let (mut target, mut all) = (target.clone(), Vec::new());
        // A part that was left out is not in the next request, so this ends.
        while let Some(refused) = Dispensable::refused(self.wire, &target, request, &failure) {
            refused.part.leave_out(&mut target);
            left_out.push(refused.part);
            all.push(refused);
            match self.answered(place.clone(), self.written(&target, request)?, whose).await {
                Err(next) => failure = next,
                Ok(answer) => {
                    let (address, model) = (&self.provider.base_url, &self.target.model);
                    all.into_iter().for_each(|refused| self.refusals.learn(address, model, refused));
                    return Ok(answer);
                }
            }
        }
        Err(failure)
    }

    fn refuses(&self, part: Dispensable) -> bool {
        self.refusals.has(&self.provider.base_url, &self.target.model, part)
    }

    /// True if its answers are asked for as streams.
    fn streams(&self) -> bool {
        let is_whole = !self.target.family.streams() || self.refuses_streams.load(Ordering::Relaxed);
        self.wire != Wire::Converse || !is_whole
    }

    /// True if its server takes a signature that stands for none.
    fn skips_signatures(&self) -> bool {
        self.wire == Wire::Gemini || self.target.compat.call_signatures == Some(true)
    }

    /// Sends the request. Gives the answer's head, and whose it is. A key or account of several that has reached a
    /// limit rests from then on.
    async fn answered(
        &self,
        place: Place,
        written: Written,
        whose: &Whose,
    ) -> Result<(HttpResponse, Whose), ModelError> {
        let began = self.provider.pools.now();
        match self.sent(place, written, whose).await {
            Ok((response, whose)) => {
                self.provider.answered(&whose, began).await;
                Ok((response, whose))
            }
            Err(Failed { failure, asked, .. }) => Err(self.provider.failed(whose, failure, asked).await),
        }
    }

    /// Sends the request, once more with another key if the first is refused and a command or an account may have one.
    async fn sent(&self, place: Place, written: Written, whose: &Whose) -> Result<(HttpResponse, Whose), Failed> {
        let whose = self.provider.with_key(whose).await?;
        let failed = match self.send(place.clone(), written.clone(), &whose).await {
            Ok(response) => return Ok((response, whose)),
            Err(failed) => failed,
        };
        // Another token of the same account has no more rights (403), while a command may print the key of another, and
        // a file may hold it by now.
        let may_help = failed.status == Some(401) || self.provider.key_from.is_some();
        // A key of several is the same when it is asked for again.
        let is_fixed = whose.member.as_ref().is_some_and(|member| member.key.is_some());
        let is_refusal = failed.failure.kind == ModelErrorKind::Unauthorized;
        let refused = whose.key.as_ref().filter(|_| may_help && is_refusal && !is_fixed);
        let Some(key) = refused else { return Err(failed) };
        if !self.provider.refused(key).await {
            return Err(failed);
        }
        let again = self.provider.with_key(&whose).await?;
        // The same key would be refused again.
        if again.key == whose.key {
            return Err(failed);
        }
        let response = self.send(place, written, &again).await?;
        Ok((response, again))
    }

    /// Sends the request and waits for the head of the answer.
    async fn send(&self, place: Place, written: Written, whose: &Whose) -> Result<HttpResponse, Failed> {
        let wait = place.wait(self.idle_timeout);
        let Place { url, streams } = place;
        let client = self.http.client(&url).await.map_err(no_client)?;
        let Written { headers: mut sent, body } = written;
        sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let whole = HeaderValue::from_static("application/json");
        sent.insert(header::ACCEPT, if streams { self.wire.framing().content_type() } else { whole });
        let headers = self.provider.headers_with(self.wire, whose.key.as_ref());
        for (name, value) in headers.map_err(|problem| error(ModelErrorKind::Unauthorized, problem))? {
            sent.append(name, value);
        }
        let mut is_again = false;
        loop {
            let signed = self.provider.signed(&url, &sent, &body).await?;
            let mut post = client.post(url.clone()).headers(sent.clone()).body(body.clone());
            if let Some(signed) = &signed {
                post = post.headers(signed.headers());
            }
            let response = match tokio::time::timeout(wait, post.send()).await {
                Err(_) => return Err(whose.silence(wait).into()),
                Ok(Err(failure)) => return Err(whose.network(&failure).into()),
                Ok(Ok(response)) => response,
            };
            if response.status().is_success() {
                let account = whose.member.as_ref().map(|member| member.name.as_str());
                self.quotas.hear(&self.whose.provider, account, response.headers(), SystemTime::now());
                return Ok(response);
            }
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            if let (Some(signer), Some(signed), false) = (self.provider.signer(), &signed, is_again)
                && signer.is_worth_another_try(signed, status, &headers).await
            {
                is_again = true;
                continue;
            }
            // The status says enough where the words do not come.
            let read = tokio::time::timeout(self.idle_timeout, read(response, ERROR_BODY)).await;
            let read = read.ok().and_then(Result::ok).unwrap_or_default();
            let mut whose = whose.clone();
            whose.secrets.extend(signed.iter().flat_map(Signed::secrets));
            let (failure, asked) = (whose.status(status, &headers, &read), Whose::asked(&headers, &read));
            return Err(Failed { status: Some(status), asked, failure });
        }
    }
}

/// A request, without what depends on who asks.
#[derive(Clone)]
struct Written {
    headers: HeaderMap,
    body: Bytes,
}

/// Where a request goes, and the way in which its answer is to come.
#[derive(Clone)]
struct Place {
    url: Url,
    streams: bool,
}

impl Place {
    fn at_once(mut self) -> Self {
        converse::at_once(&mut self.url);
        self.streams = false;
        self
    }

    /// How long to wait for the head of the answer. That of an answer that comes at once comes with the whole of it.
    fn wait(&self, idle_timeout: Duration) -> Duration {
        if is_loopback(&self.url) || !self.streams { PATIENCE } else { idle_timeout.min(PATIENCE) }
    }
}

/// The failure of a request, with the status of the answer if there was one.
struct Failed {
    status: Option<u16>,
    /// The time that the vendor names, after which its limit is renewed.
    asked: Option<Duration>,
    failure: ModelError,
}

impl From<ModelError> for Failed {
    fn from(failure: ModelError) -> Self {
        Self { status: None, asked: None, failure }
    }
}

/// The address of a route. A base may come with or without its version (`/v1`), and even with the end of its path.
pub(crate) fn endpoint(base_url: &str, route: &Route<'_>) -> Result<Url, String> {
    // It is not repeated: it may hold a password or a key.
    let mut url = Url::parse(base_url.trim())
        .map_err(|_| "the base URL is no URL; it is written as https://host/v1".to_owned())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("the base URL is neither http nor https; it is written as https://host/v1".to_owned());
    }
    let base = without_end(url.path().trim_end_matches('/'));
    let Route { version, path, query } = route;
    let path = if vendors::is_unversioned(base_url, path) {
        format!("{}/{path}", base.strip_suffix("/v1").unwrap_or(base))
    } else if version.is_empty() || has_version(base) {
        format!("{base}/{path}")
    } else {
        format!("{base}/{version}/{path}")
    };
    url.set_path(&path);
    if let Some(query) = query {
        // A gateway may want a query of its own.
        let both = url.query().map(|given| format!("{given}&{query}"));
        url.set_query(Some(both.as_deref().unwrap_or(query)));
    }
    Ok(url)
}

/// True if a path names a version, such as `v1`.
pub(crate) fn has_version(path: &str) -> bool {
    let is_version =
        |segment: &str| segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    path.split('/').any(is_version)
}

/// A path without the end by which a server's own page shows where one of its services is.
pub(crate) fn without_end(path: &str) -> &str {
    let ends = ["/chat/completions", "/responses", "/messages", "/models"];
    ends.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
}

/// The address of a place beside a server's `/v1`; the place begins with `/`.
pub(crate) fn beside(base_url: &str, place: &str) -> Result<Url, String> {
    let mut url = endpoint(base_url, &Route::v1("models"))?;
    let path = url.path().trim_end_matches("/models").trim_end_matches("/v1").to_owned();
    url.set_path(&format!("{path}{place}"));
    Ok(url)
}

/// The way in which an answer comes.
enum Body {
    Events,
    Whole,
    Page,
}

fn kind_of(response: &HttpResponse) -> Body {
    let content_type = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if content_type.starts_with("application/json") {
        Body::Whole
    } else if content_type.starts_with("text/html") {
        Body::Page
    } else {
        // Some servers call an event stream plain text, or nothing.
        Body::Events
    }
}

/// An answer that comes in.
struct Streaming {
    decoder: Box<dyn Decode>,
    whose: Whose,
    idle_timeout: Duration,
    /// None when nothing more is to be read.
    response: Option<HttpResponse>,
    events: Frames,
    pieces: Pieces,
    /// The bytes of events that showed nothing.
    unseen: usize,
    /// The failure that is to be told after the pieces before it.
    failure: Option<ModelError>,
    last_piece: Instant,
}

impl Streaming {
    async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(mut piece) = self.pieces.take() {
                if let ModelEvent::Finished(Response { why: Some(why), .. }) = &mut piece {
                    *why = self.whose.quote(why);
                }
                return Some(Ok(piece));
            }
            if let Some(failure) = self.failure.take() {
                self.response = None;
                return Some(Err(failure));
            }
            self.response.as_ref()?;
            if let Err(failure) = self.pull().await {
                self.failure = Some(failure);
            }
            if self.pieces.is_finished() {
                self.response = None;
            }
        }
    }

    /// Reads on from the network, once.
    async fn pull(&mut self) -> Result<(), ModelError> {
        let Some(response) = &mut self.response else { return Ok(()) };
        let patience = PATIENCE.saturating_sub(self.last_piece.elapsed());
        let wait = self.idle_timeout.min(patience);
        match tokio::time::timeout(wait, response.chunk()).await {
            Err(_) => {
                let silence = self.whose.silence(if patience < self.idle_timeout { PATIENCE } else { wait });
                self.broken(silence)
            }
            Ok(Err(failure)) => {
                let ModelError { message, .. } = self.whose.network(&failure);
                self.broken(error(ModelErrorKind::Incomplete, message))
            }
            Ok(Ok(Some(chunk))) => {
                self.take_in(&chunk)?;
                if !self.pieces.is_empty() {
                    self.last_piece = Instant::now();
                }
                Ok(())
            }
            Ok(Ok(None)) => {
                self.response = None;
                self.end()
            }
        }
    }

    /// Takes in that nothing more comes of a connection that was not closed. An answer that is whole was paid for, and
    /// is not asked for again.
    fn broken(&mut self, failure: ModelError) -> Result<(), ModelError> {
        self.response = None;
        self.end().map_err(|_| failure)
    }

    fn take_in(&mut self, chunk: &Bytes) -> Result<(), ModelError> {
        let mut input: &[u8] = chunk;
        loop {
            match self.events.next(&mut input) {
                Ok(Some(data)) => {
                    let before = self.pieces.bytes();
                    self.decoder.event(data, &mut self.pieces).map_err(|fault| self.whose.fault(fault))?;
                    if self.pieces.bytes() == before {
                        self.unseen += data.len();
                    }
                    if self.pieces.bytes() + self.unseen > ANSWER && !self.pieces.is_finished() {
                        return Err(self.whose.fault(Fault::TooLong { limit: ANSWER }));
                    }
                }
                Ok(None) => return Ok(()),
                Err(problem) => return Err(self.whose.fault(Fault::Garbage(problem))),
            }
            if self.pieces.is_finished() {
                return Ok(());
            }
        }
    }

    fn end(&mut self) -> Result<(), ModelError> {
        if let Some(data) = self.events.finish() {
            match self.decoder.event(data, &mut self.pieces) {
                // An event that was cut off is no JSON; that the answer is not whole is said below.
                Ok(()) | Err(Fault::Garbage(_)) => {}
                Err(fault) => return Err(self.whose.fault(fault)),
            }
        }
        if self.pieces.is_finished() {
            return Ok(());
        }
        self.decoder.end(&mut self.pieces).map_err(|fault| match fault {
            Fault::Incomplete(_) if self.events.is_foreign() => {
                self.whose.fault(Fault::Garbage("lines that are no event stream".to_owned()))
            }
            fault => self.whose.fault(fault),
        })
    }

    /// Reads an answer that comes at once, though a stream was asked for.
    async fn whole(&mut self, response: HttpResponse) -> Result<(), ModelError> {
        let body = match tokio::time::timeout(PATIENCE, read(response, WHOLE_BODY)).await {
            Err(_) => return Err(self.whose.silence(PATIENCE)),
            Ok(Err(failure)) => return Err(self.whose.network(&failure)),
            Ok(Ok(body)) => body,
        };
        self.decoder.event(&body, &mut self.pieces).map_err(|fault| self.whose.fault(fault))?;
        self.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_comes_at_once_is_waited_for_longer_than_the_head_of_a_stream() {
        let place = |url: &str| Place { url: Url::parse(url).unwrap(), streams: true };
        let idle = Duration::from_secs(120);
        let far = place("https://b.example/model/m/converse-stream");
        assert_eq!(far.wait(idle), idle);
        let whole = far.at_once();
        assert_eq!((whole.wait(idle), whole.url.path()), (PATIENCE, "/model/m/converse"));
        assert_eq!(place("http://127.0.0.1:9/v1/messages").wait(idle), PATIENCE);
    }

    #[test]
    fn an_address_comes_with_or_without_its_version_and_its_end() {
        for (base, expected) in [
            ("https://api.openai.com", "https://api.openai.com/v1/responses"),
            ("https://api.openai.com/", "https://api.openai.com/v1/responses"),
            ("https://api.openai.com/v1", "https://api.openai.com/v1/responses"),
            ("https://api.openai.com/v1/", "https://api.openai.com/v1/responses"),
            ("https://api.openai.com/v1/responses", "https://api.openai.com/v1/responses"),
            ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/responses"),
            ("https://gateway.example/team/openai", "https://gateway.example/team/openai/v1/responses"),
            ("https://g.example/v1beta/openai/", "https://g.example/v1beta/openai/responses"),
            ("http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/v1/responses"),
        ] {
            assert_eq!(endpoint(base, &Route::v1("responses")).unwrap().as_str(), expected, "{base}");
        }
    }

    #[test]
    fn at_githubs_copilot_only_messages_have_a_version() {
        for home in ["https://api.githubcopilot.com", "https://api.business.githubcopilot.com"] {
            for (wire, path) in [
                (Wire::OpenAiChat, "/chat/completions"),
                (Wire::OpenAiResponses, "/responses"),
                (Wire::Anthropic, "/v1/messages"),
            ] {
                for base in ["", "/", "/v1", path].map(|end| format!("{home}{end}")) {
                    let address = |route: &Route<'_>| endpoint(&base, route).unwrap().to_string();
                    assert_eq!(address(&wire.route("m")), format!("{home}{path}"), "{base}");
                    let limit = if wire == Wire::Anthropic { "?limit=1000" } else { "" };
                    assert_eq!(address(&wire.listing()), format!("{home}/models{limit}"), "{base}");
                }
            }
        }
        let other = endpoint("https://notgithubcopilot.com", &Wire::OpenAiChat.route("m")).unwrap();
        assert_eq!(other.path(), "/v1/chat/completions");
    }

    #[test]
    fn a_place_beside_the_version_is_found_from_an_address_in_any_form() {
        for base in ["http://h", "http://h/v1", "http://h/v1/models"] {
            assert_eq!(beside(base, "/api/tags").unwrap().as_str(), "http://h/api/tags", "{base}");
        }
        let copilot = beside("https://api.githubcopilot.com", "/api/tags").unwrap();
        assert_eq!(copilot.as_str(), "https://api.githubcopilot.com/api/tags");
    }

    #[test]
    fn a_route_may_depend_on_the_model_and_bring_a_query() {
        let asked = |base: &str, model: &str| endpoint(base, &Wire::Gemini.route(model)).unwrap().to_string();
        let path = "https://g.example/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse";
        for base in ["https://g.example", "https://g.example/v1beta/", "https://g.example/v1beta/models"] {
            assert_eq!(asked(base, "gemini-4-argon"), path);
            assert_eq!(asked(base, "models/gemini-4-argon"), path);
        }
        assert_eq!(
            asked("https://g.example/gateway/v1", "tunedModels/mine"),
            "https://g.example/gateway/v1/tunedModels/mine:streamGenerateContent?alt=sse"
        );
        assert_eq!(
            asked("https://g.example", "a?b#c d"),
            "https://g.example/v1beta/models/a%3Fb%23c%20d:streamGenerateContent?alt=sse"
        );
        assert!(
            asked("https://g.example?team=7", "m").ends_with("/v1beta/models/m:streamGenerateContent?team=7&alt=sse")
        );
        let list = endpoint("https://g.example", &Wire::Gemini.listing()).unwrap();
        assert_eq!(list.as_str(), "https://g.example/v1beta/models?pageSize=1000");
    }

    #[test]
    fn what_is_wrong_with_an_address_is_said_without_what_it_holds() {
        for base in ["ftp://user:hunter2@host/v1?key=hunter2", "user:hunter2@host", "http://user:hunter2@:1?hunter2"] {
            let problem = endpoint(base, &Route::v1("responses")).unwrap_err();
            assert!(problem.contains("base URL") && !problem.contains("hunter2"), "{problem}");
        }
    }

    #[test]
    fn what_is_no_address_is_said() {
        for base in ["api.openai.com", "ftp://x", "", "http://"] {
            assert!(endpoint(base, &Route::v1("responses")).unwrap_err().contains("base URL"), "{base}");
        }
    }
}
