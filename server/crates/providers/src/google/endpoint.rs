//! The servers that give access tokens for credentials (RFC 6749, RFC 7523), and for service accounts in whose name
//! another account acts.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use net::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue};
use net::{Clients, Response, Url, read};
use serde_json::{Value, json};

use super::acting::Acting;
use super::assertion::SCOPE;
use super::external::External;
use crate::Secret;
use crate::dates::{http_date, rfc3339};
use crate::percent::encoded;

/// The time that a server of tokens may take for an answer.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The grants of a service account's assertion, of a person's sign-in, and of another identity's token.
const BY_ASSERTION: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const BY_REFRESH_TOKEN: &str = "refresh_token";
const BY_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// The kind of token that another identity's is exchanged for.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
/// The rights that an identity needs to act in the name of a service account (google-auth's).
const SCOPE_OF_ACTING: &str = "https://www.googleapis.com/auth/iam";
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
    let (answer, _) = ask(http, patience, url, None, &form(&fields), FORM).await?;
    given(&answer)
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
    let (answer, _) = ask(http, patience, url, None, &form(&fields), FORM).await?;
    given(&answer)
}

/// Asks with the token of another identity (RFC 8693).
pub(super) async fn by_exchange(
    http: &Clients,
    patience: Duration,
    external: &External,
    subject: &Secret,
) -> Result<Given, NotGiven> {
    let scope = if external.acting.is_some() { SCOPE_OF_ACTING } else { SCOPE };
    let mut fields = vec![
        ("grant_type", BY_EXCHANGE),
        ("audience", &external.audience),
        ("scope", scope),
        ("requested_token_type", ACCESS_TOKEN),
        ("subject_token", subject.expose()),
        ("subject_token_type", &external.token_type),
    ];
    // The client says it too, if there is one.
    let project = external.user_project.as_ref().filter(|_| external.client.is_none());
    let options = project.map(|project| encoded(format!("{{\"userProject\": {}}}", json!(project))));
    fields.extend(options.as_deref().map(|options| ("options", options)));
    let client = external
        .client
        .as_ref()
        .map(|(id, secret)| Secret::new(&format!("Basic {}", STANDARD.encode(format!("{id}:{}", secret.expose())))));
    let (answer, _) = ask(http, patience, &external.token_url, client.as_ref(), &form(&fields), FORM).await?;
    given(&answer)
}

/// Asks for a token of a service account in whose name the account of this token may act
/// (cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken). `now` is the
/// time from which on it counts, if the server does not tell its own.
pub(super) async fn by_other(
    http: &Clients,
    patience: Duration,
    wanted: &Acting,
    token: &Secret,
    now: SystemTime,
) -> Result<Given, NotGiven> {
    let Acting { url, delegates, lifetime } = wanted;
    let body = json!({ "delegates": delegates, "scope": [SCOPE], "lifetime": format!("{lifetime}s") }).to_string();
    let bearer = Secret::new(&format!("Bearer {}", token.expose()));
    let (answer, headers) = ask(http, patience, url, Some(&bearer), &body, JSON).await?;
    let end = answer.get("expireTime").and_then(Value::as_str).and_then(rfc3339);
    // The end is a time of the server's, and this machine's clock may be wrong.
    let theirs = headers.get(DATE).and_then(|date| http_date(date.to_str().ok()?));
    let lasts = end.and_then(|end| end.duration_since(theirs.unwrap_or(now)).ok()).unwrap_or_default();
    let longest = Duration::from_secs((*lifetime).min(LONGEST));
    Ok(Given { token: token_in(&answer, "accessToken")?, lasts: lasts.min(longest) })
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

/// Posts a body, with this `Authorization`. Gives the object that comes back, and the heads of the answer.
async fn ask(
    http: &Clients,
    patience: Duration,
    url: &Url,
    authorization: Option<&Secret>,
    body: &str,
    content_type: HeaderValue,
) -> Result<(Value, HeaderMap), NotGiven> {
    let client = http.client(url).await.map_err(|problem| NotGiven::Unreachable(problem.to_string()))?;
    let mut post = client.post(url.clone()).header(CONTENT_TYPE, content_type).body(body.to_owned());
    if let Some(authorization) = authorization {
        let value = HeaderValue::try_from(authorization.expose());
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
        (200, Some(answer)) => Ok((answer, headers)),
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
