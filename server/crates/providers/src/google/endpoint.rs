//! The servers that give access tokens for credentials (RFC 6749, RFC 7523), and for service accounts in whose name
//! another account acts.

use std::time::Duration;

use net::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use net::{Clients, Response, Url, read};
use serde_json::{Value, json};

use super::assertion::SCOPE;
use super::file::Impersonated;
use crate::Secret;
use crate::dates::rfc3339;

/// The time that a server of tokens may take for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The grants of a service account's assertion and of a person's sign-in.
const BY_ASSERTION: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const BY_REFRESH_TOKEN: &str = "refresh_token";
/// The time for which a token of a service account is asked that another acts for.
const LIFETIME: &str = "3600s";
/// The longest time for which a token is kept. Google's own end after an hour, or twelve where somebody allowed that.
const LONGEST: u64 = 12 * 3_600;
/// The most bytes of an answer that are read.
const ANSWER: usize = 64 * 1024;
/// The longest token, in bytes. Google's have a few thousand at most.
const LONGEST_TOKEN: usize = 16 * 1024;

/// A token that was given.
#[derive(Debug)]
pub(super) struct Given {
    pub(super) token: Secret,
    /// The time for which it counts; nothing if the server does not say.
    pub(super) lasts: Duration,
}

/// A token was not given.
#[derive(Debug)]
pub(super) enum NotGiven {
    /// The server does not take the credentials.
    Refused {
        /// Its code, such as `invalid_grant`.
        code: String,
        /// Its words.
        words: String,
        /// The heads of its answer, in which it tells its time.
        headers: Box<HeaderMap>,
    },
    /// It gives no answer, in words.
    Unreachable(String),
    /// It answers with something else, in words.
    Garbage(String),
}

/// Asks with an assertion.
pub(super) async fn by_assertion(
    http: &Clients,
    patience: Duration,
    url: &Url,
    assertion: &Secret,
) -> Result<Given, NotGiven> {
    let fields = [("grant_type", BY_ASSERTION), ("assertion", assertion.expose())];
    given(&ask(http, patience, url, None, &form(&fields), FORM).await?)
}

/// Asks with a person's refresh token.
pub(super) async fn by_refresh_token(
    http: &Clients,
    patience: Duration,
    url: &Url,
    [client_id, client_secret, refresh_token]: [&str; 3],
) -> Result<Given, NotGiven> {
    let fields = [
        ("grant_type", BY_REFRESH_TOKEN),
        ("client_id", client_id),
        ("client_secret", client_secret),
        ("refresh_token", refresh_token),
    ];
    given(&ask(http, patience, url, None, &form(&fields), FORM).await?)
}

/// Asks for a token of a service account in whose name the account of this token may act
/// (cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken). `now` is the
/// time from which on it counts.
pub(super) async fn by_other(
    http: &Clients,
    patience: Duration,
    wanted: &Impersonated,
    token: &Secret,
    now: std::time::SystemTime,
) -> Result<Given, NotGiven> {
    let body = json!({ "delegates": wanted.delegates, "scope": [SCOPE], "lifetime": LIFETIME }).to_string();
    let answer = ask(http, patience, &wanted.url, Some(token), &body, JSON).await?;
    let end = answer.get("expireTime").and_then(Value::as_str).and_then(rfc3339);
    let lasts = end.and_then(|end| end.duration_since(now).ok()).unwrap_or_default();
    Ok(Given { token: token_in(&answer, "accessToken")?, lasts: lasts.min(Duration::from_secs(LONGEST)) })
}

/// The token in an answer as RFC 6749 has it.
pub(super) fn given(answer: &Value) -> Result<Given, NotGiven> {
    // Some servers write the number as a text.
    let seconds = answer.get("expires_in");
    let seconds = seconds.and_then(|value| value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()));
    let lasts = Duration::from_secs(seconds.unwrap_or(0).min(LONGEST));
    Ok(Given { token: token_in(answer, "access_token")?, lasts })
}

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

fn token_in(answer: &Value, name: &str) -> Result<Secret, NotGiven> {
    let token = answer.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    // It is sent in a header.
    let is_plain = !token.is_empty() && token.len() <= LONGEST_TOKEN && token.bytes().all(|b| b.is_ascii_graphic());
    if is_plain { Ok(Secret::new(token)) } else { Err(NotGiven::Garbage(format!("JSON without an `{name}`"))) }
}

fn form(fields: &[(&str, &str)]) -> String {
    // Only its way to write pairs is of use here.
    let Ok(mut url) = Url::parse("http://localhost/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

async fn ask(
    http: &Clients,
    patience: Duration,
    url: &Url,
    token: Option<&Secret>,
    body: &str,
    content_type: HeaderValue,
) -> Result<Value, NotGiven> {
    let client = http.client(url).await.map_err(|problem| NotGiven::Unreachable(problem.to_string()))?;
    let mut post = client.post(url.clone()).header(CONTENT_TYPE, content_type).body(body.to_owned());
    if let Some(token) = token {
        let value = HeaderValue::try_from(format!("Bearer {}", token.expose()));
        let mut value = value.map_err(|_| NotGiven::Garbage("a token that no header can hold".to_owned()))?;
        value.set_sensitive(true);
        post = post.header(AUTHORIZATION, value);
    }
    let whole = async {
        let response: Response = post.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok::<_, net::HttpError>((status, headers, read(response, ANSWER).await?))
    };
    let (status, headers, body) = match tokio::time::timeout(patience, whole).await {
        Err(_) => {
            let problem = format!("it did not answer within {} seconds", patience.as_secs_f64());
            return Err(NotGiven::Unreachable(problem));
        }
        Ok(Err(failure)) => {
            let problem = if failure.is_connect() { "it cannot be reached" } else { "the connection broke off" };
            return Err(NotGiven::Unreachable(problem.to_owned()));
        }
        Ok(Ok(answer)) => answer,
    };
    let json = serde_json::from_slice::<Value>(&body).ok().filter(Value::is_object);
    match (status, json) {
        (200, Some(answer)) => Ok(answer),
        (200, None) => Err(NotGiven::Garbage("no JSON".to_owned())),
        (408 | 429 | 500.., _) => Err(NotGiven::Unreachable(format!("it answered with status {status}"))),
        (400..500, Some(answer)) => {
            let (code, words) = refusal(&answer);
            Err(NotGiven::Refused { code, words, headers: Box::new(headers) })
        }
        (status, _) => Err(NotGiven::Garbage(format!("status {status}"))),
    }
}

/// The code and the words of a refusal, as RFC 6749 has them or as Google's other services do.
fn refusal(answer: &Value) -> (String, String) {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    match answer.get("error") {
        Some(error @ Value::Object(_)) => (text(error.get("status")), text(error.get("message"))),
        error => (text(error), text(answer.get("error_description"))),
    }
}
