//! The services from which a container or a machine at AWS gets its credentials.

use std::time::Duration;

use net::header::{ACCEPT, AUTHORIZATION, HeaderName, HeaderValue};
use net::{Client, Clients, Response, Url, is_loopback, read};
use serde_json::Value;

use super::credentials::Credentials;
use crate::Secret;

/// The address of a container's service (Amazon ECS, on task roles).
pub(super) const CONTAINER: &str = "http://169.254.170.2";
/// The address of a machine's service (Amazon EC2, on instance metadata).
pub(super) const INSTANCE: &str = "http://169.254.169.254";

/// Hosts besides this machine that may be asked without TLS: the services of ECS and EKS, as in botocore 1.44.
const CONTAINER_HOSTS: &[&str] = &["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];
/// The time that a container's service may take for an answer, and the number of times that it is asked (botocore's).
const CONTAINER_WAIT: Duration = Duration::from_secs(2);
const CONTAINER_TRIES: u32 = 3;
/// The time from one try to the next.
const PAUSE: Duration = Duration::from_millis(500);
/// The time that a machine's service may take for an answer. Away from AWS nothing answers at all (botocore's).
const INSTANCE_WAIT: Duration = Duration::from_secs(1);
/// The seconds for which the token of a machine's service is asked. One is asked for each time.
const TOKEN_SECONDS: HeaderValue = HeaderValue::from_static("60");
/// The most bytes of an answer that are read.
const ANSWER: usize = 64 * 1024;

/// The address of a container's service, if it may be asked: over TLS, on this machine, or at one of its known hosts.
///
/// # Errors
/// It is no address, or one that could be anyone's; says so, without it.
pub(super) fn container_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| "it is no URL".to_owned())?;
    let is_known = url.host_str().is_some_and(|host| CONTAINER_HOSTS.contains(&host));
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_known || is_loopback(&url) => Ok(url),
        "http" => Err("its host may only be asked over https: it is neither this machine nor a service of ECS or EKS \
                       (169.254.170.2, 169.254.170.23, [fd00:ec2::23])"
            .to_owned()),
        _ => Err("it is neither http nor https".to_owned()),
    }
}

/// Asks a container's service.
///
/// # Errors
/// It does not answer, refuses, or answers with something else; says so, without its answer.
pub(super) async fn container(http: &Clients, url: &Url, token: Option<&Secret>) -> Result<Credentials, String> {
    let client = if url.scheme() == "https" { http.client(url).await } else { http.direct().await };
    let client = client.map_err(|problem| problem.to_string())?;
    let token = token.map(|token| header(token.expose())).transpose();
    let token = token.map_err(|()| "the authorization token holds what no header can hold".to_owned())?;
    let mut tries = 1;
    let body = loop {
        let mut get = client.get(url.clone()).header(ACCEPT, "application/json");
        if let Some(token) = &token {
            get = get.header(AUTHORIZATION, token);
        }
        match answer(get.send(), CONTAINER_WAIT).await {
            Ok(body) => break body,
            Err(failure) if !failure.may_pass || tries == CONTAINER_TRIES => return Err(failure.problem),
            Err(_) => tries += 1,
        }
        tokio::time::sleep(PAUSE).await;
    };
    credentials(&body)
}

/// Asks a machine's service, by its second version: with a token, which a page in a browser or a proxy cannot get.
///
/// # Errors
/// It does not answer, refuses, has no role, or answers with something else; says so, without its answer.
pub(super) async fn instance(http: &Clients, base: &str) -> Result<Credentials, String> {
    const SECONDS: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token-ttl-seconds");
    let client = http.direct().await.map_err(|problem| problem.to_string())?;
    let base = Url::parse(base).ok().filter(|url| url.scheme() == "http");
    let base = base.ok_or("its address is no URL that begins with http://")?;
    let at = |path: &[&str]| {
        let mut url = base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push("latest").extend(path);
        }
        url
    };
    let put = client.put(at(&["api", "token"])).header(SECONDS, TOKEN_SECONDS);
    let token = answer(put.send(), INSTANCE_WAIT).await.map_err(|failure| failure.problem)?;
    let token = std::str::from_utf8(&token).map_err(|_| ()).and_then(|token| header(token.trim()));
    let token = token.map_err(|()| "its token holds what no header can hold".to_owned())?;
    let roles = ["meta-data", "iam", "security-credentials"];
    let list = ask(&client, at(&[&roles[..], &[""]].concat()), &token).await;
    let list = list.map_err(|failure| match failure.status {
        Some(404) => "the machine has no role; give it one, with a policy that allows Bedrock".to_owned(),
        _ => failure.problem,
    })?;
    let list = String::from_utf8_lossy(&list);
    let role = list.lines().next().map(str::trim).filter(|role| !role.is_empty()).ok_or("it names no role")?;
    let body = ask(&client, at(&[&roles[..], &[role]].concat()), &token).await.map_err(|failure| failure.problem)?;
    credentials(&body)
}

/// The reason why a service gave nothing.
struct Failure {
    status: Option<u16>,
    problem: String,
    /// True if it may be otherwise a moment later.
    may_pass: bool,
}

async fn ask(client: &Client, url: Url, token: &HeaderValue) -> Result<Vec<u8>, Failure> {
    const TOKEN: HeaderName = HeaderName::from_static("x-aws-ec2-metadata-token");
    answer(client.get(url).header(TOKEN, token).send(), INSTANCE_WAIT).await
}

/// The body of an answer, all of which must come within the time.
async fn answer(
    request: impl Future<Output = Result<Response, net::HttpError>>,
    wait: Duration,
) -> Result<Vec<u8>, Failure> {
    let failure = |status, problem, may_pass| Err(Failure { status, problem, may_pass });
    let whole = async {
        let response = request.await?;
        let status = response.status().as_u16();
        Ok::<_, net::HttpError>((status, read(response, ANSWER).await?))
    };
    match tokio::time::timeout(wait, whole).await {
        Err(_) => failure(None, format!("it did not answer within {} s", wait.as_secs()), true),
        Ok(Err(_)) => failure(None, "it cannot be reached".to_owned(), true),
        Ok(Ok((200, body))) => Ok(body),
        Ok(Ok((status, _))) => {
            failure(Some(status), format!("it answered with status {status}"), status >= 500 || status == 429)
        }
    }
}

fn credentials(body: &[u8]) -> Result<Credentials, String> {
    let json: Value = serde_json::from_slice(body).map_err(|_| "it answered with no JSON".to_owned())?;
    match json.get("Code").and_then(Value::as_str) {
        // A machine's service says so with status 200 if the role cannot be taken on.
        Some(code) if code != "Success" => {
            let code: String = code.chars().filter(char::is_ascii_alphanumeric).take(60).collect();
            Err(format!("it answered with the code `{code}`"))
        }
        _ => Credentials::from_json(&json, "Token"),
    }
}

/// A header that is not shown.
fn header(text: &str) -> Result<HeaderValue, ()> {
    let mut value = HeaderValue::from_str(text).map_err(|_| ())?;
    value.set_sensitive(true);
    Ok(value)
}
