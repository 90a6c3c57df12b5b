//! The failures of a vendor, as a [`ModelError`]: what one is for the turn and what it says to the user.

mod clouds;
mod phrases;
mod reset;

use std::time::{Duration, SystemTime};

use net::header::HeaderMap;
use net::{HttpError, NetError, Url};
use ports::model::{ModelError, ModelErrorKind};
use serde_json::Value;

use self::phrases::{NO_CREDIT, OVERFLOW, UNREADABLE, is_orphan_complaint, is_signature_complaint};
use self::reset::{asked_delay, in_error, reset_delay};
use crate::cloud::Cloud;
use crate::pool::Member;
use crate::secret::Secret;

/// The most characters of a vendor's own words that are repeated.
const WORDS: usize = 400;

/// Why a stream cannot be gone on with, as its decoder sees it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// It is not the vendor's protocol.
    Garbage(String),
    /// The vendor says that something is wrong.
    Vendor(Words),
    /// It ended too early.
    Incomplete(&'static str),
    /// It is whole, and no answer.
    Unusable(String),
    /// It does not end: it has more bytes than any answer.
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// A vendor's error, in its words.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Words {
    /// The vendor's code or type of error; may be empty.
    pub(crate) code: String,
    /// The vendor's message.
    pub(crate) message: String,
    /// The text that the model had written, if the vendor shows it. It may be about anything, so it tells nothing of
    /// the error.
    pub(crate) written: String,
    /// How long the vendor asks to wait.
    pub(crate) delay: Option<Duration>,
    /// The findings of a content filter in the prompt, if the vendor says (Azure).
    pub(crate) found: Vec<String>,
}

impl Words {
    /// An error with this code that says this.
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), ..Self::default() }
    }
}

impl Fault {
    /// An error of the vendor.
    pub(crate) fn vendor(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Vendor(Words::new(code, message))
    }

    /// An event that is not what it should be, with its beginning.
    pub(crate) fn garbage(data: &[u8], problem: impl std::fmt::Display) -> Self {
        let start = String::from_utf8_lossy(data.get(..120).unwrap_or(data));
        Self::Garbage(format!("{problem} in `{}`", start.escape_debug()))
    }
}

/// The provider and model whose failures they are, for words.
#[derive(Clone, Debug)]
pub(crate) struct Whose {
    /// The provider.
    pub(crate) provider: String,
    /// Its host and port.
    pub(crate) host: String,
    /// The model.
    pub(crate) model: String,
    /// Where the key comes from, such as an environment variable.
    pub(crate) key_source: String,
    /// The key. A vendor may repeat it; it is taken out of what we repeat.
    pub(crate) key: Option<Secret>,
    /// The values of headers that the user added, which may be keys too.
    pub(crate) secrets: Vec<Secret>,
    /// True if the server runs on this machine.
    pub(crate) is_local: bool,
    /// The cloud with whose credentials requests are sent, and the command that renews them, for words; it is empty if
    /// there is none. `None` if requests carry a key.
    pub(crate) renewed_by: Option<(Cloud, String)>,
    /// The key or account of several that it is.
    pub(crate) member: Option<Member>,
}

impl Whose {
    /// The same with one of several keys and accounts.
    pub(crate) fn of_member(&self, member: Option<Member>) -> Self {
        let key_source = member.as_ref().map_or_else(|| self.key_source.clone(), Member::source);
        Self { key_source, member, ..self.clone() }
    }

    /// The time that the vendor names, in an answer with another status than success, after which its limit is renewed.
    pub(crate) fn asked(headers: &HeaderMap, body: &[u8]) -> Option<Duration> {
        let now = SystemTime::now();
        asked_delay(headers, now).or_else(|| words(body).delay).or_else(|| reset_delay(headers, now))
    }

    /// The error of a decoder.
    pub(crate) fn fault(&self, fault: Fault) -> ModelError {
        let Self { provider, .. } = self;
        match fault {
            Fault::Garbage(problem) => error(
                ModelErrorKind::Garbage,
                format!("{provider} sent what is not its protocol: {}", self.quote(&problem)),
            ),
            Fault::Incomplete(how) => {
                error(ModelErrorKind::Incomplete, format!("the answer of {provider} broke off: {how}"))
            }
            Fault::Unusable(problem) => error(
                ModelErrorKind::Garbage,
                format!("{provider} gave an answer that cannot be used: {}", self.quote(&problem)),
            ),
            // Not asked again: it would not end then either.
            Fault::TooLong { limit } => error(
                ModelErrorKind::Rejected,
                format!(
                    "the answer from {provider} was cut off because it grew beyond {}. Is the server working \
                     properly? Try again, or choose another model",
                    if limit < 1 << 20 { format!("{} KiB", limit >> 10) } else { format!("{} MiB", limit >> 20) }
                ),
            ),
            Fault::Vendor(words) => self.said(None, &words),
        }
    }

    /// The error of an answer with another status than success. `body` is its beginning.
    pub(crate) fn status(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> ModelError {
        let words = words(body);
        let mut failure = self.said(Some(status), &words);
        let now = SystemTime::now();
        let asked = asked_delay(headers, now).or(words.delay);
        match &mut failure.kind {
            ModelErrorKind::RateLimited { retry_after } => *retry_after = asked.or_else(|| reset_delay(headers, now)),
            // A vendor that is overloaded may name a time too; "at once" names none.
            kind @ ModelErrorKind::Transient => {
                let asked = asked.filter(|asked| !asked.is_zero());
                *kind = asked.map_or(*kind, |retry_after| ModelErrorKind::Overloaded { retry_after });
            }
            _ => {}
        }
        if (300..400).contains(&status) {
            let place = headers.get("location").and_then(|place| place.to_str().ok()).and_then(public_part);
            let place = place.unwrap_or_else(|| "another place".to_owned());
            failure.message = format!(
                "{} answered with a redirection to {}. Your key is not sent there; if that address is right, set it \
                 as the base URL",
                self.place(),
                self.quote(&place)
            );
        }
        failure
    }

    /// The error of a request that did not come to an answer, or of a body that broke off.
    pub(crate) fn network(&self, failure: &HttpError) -> ModelError {
        let cause = self.quote(&root_cause(failure));
        let place = self.place();
        if cause.contains("certificate") {
            let message = format!(
                "the certificate of {place} is not trusted: {cause}. Behind a proxy that opens connections, name its \
                 certificate authority in the setting `ca_file`"
            );
            return error(ModelErrorKind::Rejected, message);
        }
        if failure.is_connect() && self.is_local {
            let message = format!("nothing answers at {place}: {cause}. Is {} running?", self.provider);
            return error(ModelErrorKind::Transient, message);
        }
        if failure.is_connect() {
            let message =
                format!("cannot connect to {place}: {cause}. Check the network, HTTPS_PROXY and the base URL");
            return error(ModelErrorKind::Transient, message);
        }
        if failure.is_body() || failure.is_decode() {
            let message = format!("the connection to {place} broke off within the answer: {cause}");
            return error(ModelErrorKind::Incomplete, message);
        }
        error(ModelErrorKind::Transient, format!("the request to {place} failed: {cause}"))
    }

    /// The error of silence.
    pub(crate) fn silence(&self, waited: Duration) -> ModelError {
        let seconds = waited.as_secs_f64();
        let message = format!("{} sent nothing for {seconds} seconds, so the request was given up", self.place());
        error(ModelErrorKind::Incomplete, message)
    }

    /// The error of an answer that was not whole in time.
    pub(crate) fn late(&self, deadline: Duration) -> ModelError {
        late(&self.place(), deadline)
    }

    /// The error of a request that cannot be sent without a key.
    pub(crate) fn no_key(&self) -> ModelError {
        let message = format!("there is no key for {}: set {}", self.provider, self.key_source);
        error(ModelErrorKind::Unauthorized, message)
    }

    /// Makes an error of what a vendor says, by the status if there is one, by its code and by its words.
    fn said(&self, status: Option<u16>, words: &Words) -> ModelError {
        let Self { provider, model, key_source, .. } = self;
        let status = status.or_else(|| status_in(&words.code));
        let kind = kind(status, &words.code, &words.message);
        let is_limited = matches!(kind, ModelErrorKind::RateLimited { .. });
        let is_used_up = is_limited && is_used_up(&words.code, &words.message);
        let kind = match kind {
            _ if is_used_up => ModelErrorKind::QuotaUsedUp,
            _ if is_limited => ModelErrorKind::RateLimited { retry_after: words.delay },
            kind => kind,
        };
        let said = match (words.message.trim(), words.code.as_str(), words.written.as_str()) {
            ("", "", _) => String::new(),
            ("", code, "") => format!(": {}", self.quote(code)),
            (message, _, "") => format!(": {}", self.quote(message)),
            (message, _, written) => format!(": {}", self.quote(&format!("{message} It wrote: {written}"))),
        };
        let status_words = status.map(|status| format!(" (status {status})")).unwrap_or_default();
        let text = match kind {
            ModelErrorKind::Unauthorized if self.renewed_by.is_some() => self.without_rights(&said, words),
            ModelErrorKind::Unauthorized if self.key.is_none() => {
                format!("{provider} wants a key{said}. Set {key_source}")
            }
            ModelErrorKind::Unauthorized => {
                format!("{provider} does not accept the key, or it has no right to {model}{said}. Check {key_source}")
            }
            ModelErrorKind::RateLimited { .. } => format!("{provider} got too many requests{said}"),
            ModelErrorKind::QuotaUsedUp if is_used_up => format!(
                "the quota for {model} is used up{said}. Wait until {provider} renews it, choose another model, or change the \
                 plan of {key_source}"
            ),
            ModelErrorKind::QuotaUsedUp => format!(
                "{provider} says that no credit is left{said}. Add credit to the account that {key_source} belongs to, or \
                 choose another model"
            ),
            ModelErrorKind::Transient | ModelErrorKind::Overloaded { .. } => {
                format!("{provider} is overloaded or not working{status_words}{said}")
            }
            ModelErrorKind::ContextOverflow => format!("the request is too long for {model}{said}"),
            ModelErrorKind::OrphanedToolCalls if is_signature_complaint(&words.message.to_lowercase()) => {
                format!("{provider} does not know the signatures of earlier answers{said}")
            }
            ModelErrorKind::OrphanedToolCalls => format!("{provider} misses results of tool calls{said}"),
            ModelErrorKind::UnreadableCall => format!("{provider} could not read a tool call of {model}{said}"),
            ModelErrorKind::Rejected if is_filter(words) => {
                let found =
                    if words.found.is_empty() { String::new() } else { format!(" ({})", words.found.join(", ")) };
                format!(
                    "the content filter of {provider} refused the prompt{found}{said}. Say it in other words, or change the filter there"
                )
            }
            ModelErrorKind::NoSuchModel if words.code.contains("DeploymentNotFound") => format!(
                "{provider} has no deployment for {model}{said}. Name the deployment in wire_id of a \
                 [[providers.{provider}.model]]"
            ),
            ModelErrorKind::NoSuchModel if matches!(self.renewed_by, Some((Cloud::Google, _))) => format!(
                "the model {model} is not served by {provider} in this project and location{said}. Set google_location to \
                 another location, or choose another model with /model; a Claude model also has to be enabled in the \
                 project's Model Garden"
            ),
            ModelErrorKind::NoSuchModel => {
                let has_account = self.key.is_some() || self.renewed_by.is_some();
                let why = if has_account { " (retired, or not allowed for this key)" } else { "" };
                format!("the model {model} is not served by {provider}{why}{said}. Choose another with /model")
            }
            ModelErrorKind::Incomplete | ModelErrorKind::Garbage | ModelErrorKind::Rejected => {
                format!("{provider} rejects the request{status_words}{said}")
            }
        };
        error(kind, text)
    }

    fn place(&self) -> String {
        format!("{} ({})", self.provider, self.host)
    }

    /// A vendor's words: on one line, not long, and without the key.
    pub(crate) fn quote(&self, text: &str) -> String {
        quote(text, self.key.iter().chain(&self.secrets))
    }
}

/// A server's words: on one line, not long, and without the keys.
pub(crate) fn quote<'a>(text: &str, secrets: impl IntoIterator<Item = &'a Secret>) -> String {
    let mut line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for secret in secrets.into_iter().filter(|secret| !secret.expose().is_empty()) {
        line = line.replace(secret.expose(), "[key]");
    }
    match line.char_indices().nth(WORDS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// An error.
pub(crate) fn error(kind: ModelErrorKind, message: impl Into<String>) -> ModelError {
    ModelError { kind, message: message.into() }
}

/// True if a server does not know the signatures of earlier answers.
pub(crate) fn is_about_signatures(failure: &ModelError) -> bool {
    failure.kind == ModelErrorKind::OrphanedToolCalls && is_signature_complaint(&failure.message.to_lowercase())
}

/// True if a model of Bedrock's refuses tools in a stream.
pub(crate) fn is_about_streams(failure: &ModelError) -> bool {
    failure.kind == ModelErrorKind::Rejected && failure.message.to_lowercase().contains("tool use in streaming mode")
}

/// The error of an answer that was not whole in time.
pub(crate) fn late(whose: &str, deadline: Duration) -> ModelError {
    let seconds = deadline.as_secs_f64();
    let message = format!("{whose} did not finish its answer within {seconds} seconds, so the request was given up");
    error(ModelErrorKind::Incomplete, message)
}

/// There is no client to ask with.
pub(crate) fn no_client(problem: NetError) -> ModelError {
    let kind = match problem {
        NetError::Ending => ModelErrorKind::Transient,
        NetError::CaFile { .. } | NetError::NotMade(_) => ModelErrorKind::Rejected,
    };
    error(kind, problem.to_string())
}

/// The status that a vendor names by its code: within a stream, OpenRouter, Google and gateways send numbers.
fn status_in(code: &str) -> Option<u16> {
    code.split_whitespace().find_map(|word| word.parse().ok().filter(|status| (400..600).contains(status)))
}

/// Returns the kind of a failure. What the vendor says counts before the status: the same status stands for different
/// things, and within a stream there is none.
fn kind(status: Option<u16>, code: &str, message: &str) -> ModelErrorKind {
    let code = code.to_ascii_lowercase();
    let words = message.to_lowercase();
    let says = |wanted: &[&str]| wanted.iter().any(|wanted| words.contains(wanted) || code.contains(wanted));
    if says(UNREADABLE) {
        return ModelErrorKind::UnreadableCall;
    }
    let refused = status.is_none_or(|status| matches!(status, 400 | 413 | 422));
    // Some servers answer 500 to a request that is too long.
    if (refused || status == Some(500)) && says(OVERFLOW) || status == Some(413) {
        return ModelErrorKind::ContextOverflow;
    }
    if refused && (is_orphan_complaint(&words) || is_signature_complaint(&words)) {
        return ModelErrorKind::OrphanedToolCalls;
    }
    // Out of money: asking again does not help.
    if status == Some(402) || says(NO_CREDIT) {
        return ModelErrorKind::QuotaUsedUp;
    }
    if is_wrong_key(&code, &words) {
        return ModelErrorKind::Unauthorized;
    }
    if is_missing_model(status, &code, &words) {
        return ModelErrorKind::NoSuchModel;
    }
    match status {
        Some(401 | 403) => ModelErrorKind::Unauthorized,
        Some(429) => ModelErrorKind::RateLimited { retry_after: None },
        // Bedrock answers 424 where the model failed and not the service.
        Some(408 | 409 | 424 | 425) => ModelErrorKind::Transient,
        // The server has no such function, and will have none a moment later.
        Some(501) => ModelErrorKind::Rejected,
        Some(status) if status >= 500 => ModelErrorKind::Transient,
        Some(_) => ModelErrorKind::Rejected,
        None if says(&["rate_limit", "rate limit", "too many requests", "429"]) => {
            ModelErrorKind::RateLimited { retry_after: None }
        }
        None if says(&["authentication_error", "permission_error", "invalid_api_key"]) => ModelErrorKind::Unauthorized,
        None if says(&["invalid_request", "invalid_prompt", "not_found", "content_policy", "content_filter"]) => {
            ModelErrorKind::Rejected
        }
        // An error within a stream that began well: overloaded, a timeout, a fault of the server's.
        None => ModelErrorKind::Transient,
    }
}

/// True if the vendor says that it does not know the key, whatever the status: Google (by a code) and xAI answer 400.
pub(crate) fn is_wrong_key(code: &str, message: &str) -> bool {
    code.to_ascii_lowercase().contains("api_key_invalid") || message.to_lowercase().contains("incorrect api key")
}

/// True if the vendor says that it does not serve the model. The codes are OpenAI's, Groq's and Azure's
/// (console.groq.com/docs/errors); Anthropic, Google and local servers name the model in words. Another address that is
/// not found, such as one of a wrong base URL, says nothing of models. All is in lower case.
fn is_missing_model(status: Option<u16>, code: &str, words: &str) -> bool {
    let is_coded = ["model_not_found", "model_decommissioned", "deploymentnotfound"].iter().any(|it| code.contains(it));
    // Bedrock answers 400: there is no such id, or the model is served only by one with a region.
    let is_of_bedrock =
        ["model identifier is invalid", "with on-demand throughput"].iter().any(|it| words.contains(it));
    let is_not_found = status == Some(404) || status.is_none() && code.contains("not_found");
    is_coded || is_of_bedrock && status == Some(400) || is_not_found && words.contains("model")
}

/// True if the vendor's quota is one that waiting for a minute does not renew: Google's and Bedrock's for a day, and
/// one of nothing, which a plan has for a model that is not in it.
fn is_used_up(code: &str, message: &str) -> bool {
    let is_nothing = |(at, zero): (usize, &str)| {
        !message.get(at + zero.len()..).unwrap_or_default().starts_with(|c: char| c == '.' || c.is_ascii_digit())
    };
    let is_google = code.contains("RESOURCE_EXHAUSTED");
    let is_of_a_day = code.contains("PerDay") || message.starts_with("Too many tokens per day");
    is_of_a_day || is_google && message.match_indices("limit: 0").any(is_nothing)
}

/// Returns the words in the body of an error, whichever way the vendor writes it.
pub(crate) fn words(body: &[u8]) -> Words {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
        let plain = String::from_utf8_lossy(body);
        let is_page = plain.trim_start().starts_with('<');
        return Words::new("", if is_page { "a web page instead of an answer".to_owned() } else { plain.into_owned() });
    };
    // Google's servers put the object into a list.
    let value = value.get(0).unwrap_or(&value);
    let inner = value.get("error").filter(|inner| !inner.is_null()).unwrap_or(value);
    if let Value::String(message) = inner {
        return Words::new("", message);
    }
    let field = |names: &[&str]| {
        names.iter().find_map(|name| inner.get(name).filter(|value| !value.is_null())).map(text).unwrap_or_default()
    };
    let mut code = match (field(&["code"]), field(&["type"])) {
        (code, kind) if code.is_empty() || code == kind => kind,
        (code, kind) if kind.is_empty() => code,
        (code, kind) => format!("{kind} {code}"),
    };
    // AWS's own gateway writes it with a capital.
    let message = field(&["message", "detail", "Message"]);
    let details = details(inner.get("details"));
    for more in [field(&["status"])].into_iter().chain(details.codes) {
        if !more.is_empty() && more != code {
            code = format!("{code} {more}").trim_start().to_owned();
        }
    }
    let delay = details.delay.or_else(|| in_error(inner, &message, SystemTime::now()));
    Words { code, message, written: field(&["failed_generation"]), delay, found: found(inner) }
}

/// The details of an error of Google's (`google.rpc.ErrorInfo`, `QuotaFailure` and `RetryInfo`,
/// cloud.google.com/apis/design/errors).
#[derive(Default)]
struct Details {
    codes: Vec<String>,
    delay: Option<Duration>,
}

fn details(value: Option<&Value>) -> Details {
    let mut details = Details::default();
    for detail in value.and_then(Value::as_array).into_iter().flatten() {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        details.codes.extend(text(detail.get("reason")));
        let violations = detail.get("violations").and_then(Value::as_array);
        details.codes.extend(violations.into_iter().flatten().filter_map(|violation| text(violation.get("quotaId"))));
        // A duration of protobuf's JSON: `39s`, `0.5s`.
        let seconds = detail.get("retryDelay").and_then(Value::as_str).and_then(|delay| delay.strip_suffix('s'));
        let seconds = seconds.and_then(|seconds| seconds.parse::<f64>().ok());
        details.delay = details.delay.or(seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()));
    }
    details
}

/// True if a content filter refused a prompt. The words are Azure's (learn.microsoft.com, content filtering).
fn is_filter(words: &Words) -> bool {
    words.code.split_whitespace().any(|code| matches!(code, "content_filter" | "ResponsibleAIPolicyViolation"))
}

/// The findings of a content filter: the parts of its result that it filtered.
fn found(error: &Value) -> Vec<String> {
    let result = ["/innererror/content_filter_result", "/content_filter_result"];
    let result = result.iter().find_map(|place| error.pointer(place)?.as_object());
    let is_found = |part: &Value| part.get("filtered").and_then(Value::as_bool) == Some(true);
    result.into_iter().flatten().filter(|(_, part)| is_found(part)).map(|(name, _)| name.replace('_', " ")).collect()
}

/// An address without what may be secret in it: name, password and query.
fn public_part(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    Some(format!("{}://{}{}", url.scheme(), host_of(&url)?, url.path()))
}

/// The host and port of an address, for words. The name, the password and the query that an address may hold are left
/// out, and so is an address that cannot be read.
pub(crate) fn host(base_url: &str) -> String {
    let url = Url::parse(base_url.trim()).ok();
    url.as_ref().and_then(host_of).unwrap_or_else(|| "an address that cannot be read".to_owned())
}

fn host_of(url: &Url) -> Option<String> {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}{port}", url.host_str()?))
}

/// The innermost cause, which says most: the outer ones only say what was being done. The outermost holds the address,
/// which may hold a key.
fn root_cause(failure: &HttpError) -> String {
    let Some(mut cause) = std::error::Error::source(failure) else { return "no cause is known".to_owned() };
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests;
