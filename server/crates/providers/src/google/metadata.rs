//! The service from which a machine at Google gets the tokens of its service account
//! (cloud.google.com/compute/docs/metadata/querying-metadata).

use std::time::Duration;

use net::header::{HeaderName, HeaderValue};
use net::{Clients, Url, is_loopback, read};
use serde_json::Value;

use super::endpoint::{Given, given};

/// The address of the service, by its number: away from Google its name is asked of a server of names for long.
pub(super) const USUAL: &str = "169.254.169.254";

/// Hosts besides this machine that may be asked without TLS: the names and numbers that Google has for the service.
const HOSTS: &[&str] = &["metadata.google.internal", "metadata", USUAL, "[fd20:ce::254]"];
/// The header that a request must have, so that no page in a browser makes it, and that an answer has, by which it is
/// known that no other server answers.
const FLAVOR: HeaderName = HeaderName::from_static("metadata-flavor");
const GOOGLE: HeaderValue = HeaderValue::from_static("Google");
/// The time that the service may take for an answer (google-auth's). Away from Google nothing answers at all.
const WAIT: Duration = Duration::from_secs(3);
/// The most bytes of an answer that are read.
const ANSWER: usize = 64 * 1024;

/// The address of the service at a host, possibly with a port, if it may be asked.
///
/// # Errors
/// It is no host, or one that could be anyone's; says so, without it.
pub(super) fn base(host: &str) -> Result<Url, String> {
    let url = Url::parse(&format!("http://{host}/computeMetadata/v1/"));
    let url = url.map_err(|_| "it is not a host, such as `metadata.google.internal`".to_owned())?;
    let is_known = url.host_str().is_some_and(|host| HOSTS.contains(&host));
    let is_plain = url.username().is_empty() && url.password().is_none() && url.path() == "/computeMetadata/v1/";
    if is_plain && (is_known || is_loopback(&url)) {
        return Ok(url);
    }
    Err("it is neither this machine nor a host of Google's service (metadata.google.internal, 169.254.169.254)".into())
}

/// The service gives nothing.
#[derive(Debug)]
pub(super) struct Failure {
    /// The problem, in words.
    pub(super) problem: String,
    /// True if the service is there, and may give it a moment later.
    pub(super) may_pass: bool,
}

impl Failure {
    fn of(problem: impl Into<String>) -> Self {
        Self { problem: problem.into(), may_pass: false }
    }
}

/// A token of the machine's service account.
///
/// # Errors
/// The service does not answer, refuses, or answers with something else; says so, without its answer.
pub(super) async fn token(http: &Clients, base: &Url) -> Result<Given, Failure> {
    let body = ask(http, base, "instance/service-accounts/default/token").await.map_err(|failure| match failure {
        (Some(404), _) => Failure::of("the machine has no service account; give it one that may use Vertex AI"),
        (_, failure) => failure,
    })?;
    let json: Value = serde_json::from_slice(&body).map_err(|_| Failure::of("its answer is not JSON"))?;
    given(&json).map_err(|_| Failure::of("it answered without an `access_token`"))
}

/// The project that the machine belongs to.
///
/// # Errors
/// As those of [`token`].
pub(super) async fn project(http: &Clients, base: &Url) -> Result<String, Failure> {
    let body = ask(http, base, "project/project-id").await.map_err(|(_, failure)| failure)?;
    Ok(String::from_utf8_lossy(&body).trim().to_owned())
}

/// The body of an answer; otherwise the status, if there was one, and the problem.
async fn ask(http: &Clients, base: &Url, path: &str) -> Result<Vec<u8>, (Option<u16>, Failure)> {
    let client = http.direct().await.map_err(|problem| (None, Failure::of(problem.to_string())))?;
    let url = base.join(path).map_err(|_| (None, Failure::of("its address is not a URL")))?;
    let whole = async {
        let response = client.get(url).header(FLAVOR, GOOGLE).send().await?;
        let (status, flavor) = (response.status().as_u16(), response.headers().get(FLAVOR).cloned());
        Ok::<_, net::HttpError>((status, flavor, read(response, ANSWER).await?))
    };
    match tokio::time::timeout(WAIT, whole).await {
        Err(_) => Err((None, Failure::of(format!("it did not answer within {} seconds", WAIT.as_secs())))),
        Ok(Err(_)) => Err((None, Failure::of("it cannot be reached"))),
        Ok(Ok((_, flavor, _))) if flavor != Some(GOOGLE) => {
            Err((None, Failure::of("what answers there is not Google's service")))
        }
        Ok(Ok((200, _, body))) => Ok(body),
        Ok(Ok((status, _, _))) => {
            let problem = format!("it answered with status {status}");
            Err((Some(status), Failure { problem, may_pass: matches!(status, 429 | 500..) }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_googles_service_are_asked() {
        for host in ["metadata.google.internal", "169.254.169.254:80", "127.0.0.1:9", "localhost", "[fd20:ce::254]"] {
            assert!(base(host).is_ok(), "{host}");
        }
        for host in ["metadata.example", "metadata.google.internal.example", "ada@127.0.0.1", "127.0.0.1/x", "", "a b"]
        {
            assert!(base(host).is_err(), "{host}");
        }
    }
}
