//! Signatures of requests to AWS: Signature Version 4, as all services but S3 want it
//! (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). Pure functions.

use std::time::SystemTime;

use net::Url;
use net::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::credentials::Credentials;
use super::hmac::{hex, hmac, sha256};
use crate::dates;
use crate::percent::encoded;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");

/// Headers that are not signed, because the client or a proxy adds or changes them on the way (as in botocore 1.44).
const NOT_SIGNED: &[&str] = &[
    "authorization",
    "baggage",
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "user-agent",
    "x-amzn-trace-id",
];

/// A request that is to be signed, as it will be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unsigned<'a> {
    /// The method, in capitals.
    pub(crate) method: &'a str,
    /// The address.
    pub(crate) url: &'a Url,
    /// The headers. `host` need not be among them.
    pub(crate) headers: &'a HeaderMap,
    /// The whole body.
    pub(crate) body: &'a [u8],
}

/// The service that a signature counts for, and its region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scope {
    /// The name that the service has in signatures, such as `bedrock`.
    pub(crate) service: String,
    /// The region, such as `eu-central-1`.
    pub(crate) region: String,
}

/// A request could not be signed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignError {
    /// The address has no host.
    #[error("the request has no host, so it cannot be signed for AWS; check the base URL")]
    NoHost,
    /// A part of the credentials, or the region, is no text that a header can hold.
    #[error("the AWS {what} holds characters that a header cannot hold; check where it is set")]
    NoHeader {
        /// The part that cannot be sent.
        what: &'static str,
    },
}

impl Scope {
    /// The scope of a host of Bedrock's. None for other hosts, such as a gateway's.
    ///
    /// `bedrock-runtime` hosts and those of the lists of models sign for `bedrock`, `bedrock-mantle` hosts for
    /// `bedrock-mantle` (Bedrock's user guide, on endpoints). A private endpoint has a label of its own before these.
    pub(crate) fn of_host(host: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        let ends = [".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".api.amazonwebservices.com.cn"];
        if !ends.iter().any(|end| host.ends_with(end)) {
            return None;
        }
        let mut labels = host.split('.');
        let service = labels.find_map(|label| match label {
            "bedrock" | "bedrock-fips" | "bedrock-runtime" | "bedrock-runtime-fips" => Some("bedrock"),
            "bedrock-mantle" => Some("bedrock-mantle"),
            _ => None,
        })?;
        let region = labels.next().filter(|label| label.contains('-'))?;
        Some(Self { service: service.to_owned(), region: region.to_owned() })
    }
}

/// Signs a request. Gives the headers that it needs as well as its own: `authorization`, `x-amz-date` and, for a
/// session, `x-amz-security-token`, which replace headers of these names.
///
/// # Errors
/// [`SignError`]: the request has no host, or the credentials or the region cannot be sent.
pub(crate) fn sign(
    request: &Unsigned<'_>,
    scope: &Scope,
    credentials: &Credentials,
    at: SystemTime,
) -> Result<HeaderMap, SignError> {
    let secret = |text: &str, what: &'static str| {
        let mut value = HeaderValue::from_str(text).map_err(|_| SignError::NoHeader { what })?;
        value.set_sensitive(true);
        Ok(value)
    };
    let time = dates::basic(at);
    let date = time.get(..8).unwrap_or_default();
    let mut added = HeaderMap::new();
    added.insert(DATE, HeaderValue::from_str(&time).map_err(|_| SignError::NoHeader { what: "date" })?);
    if let Some(token) = &credentials.session_token {
        added.insert(TOKEN, secret(token.expose(), "session token")?);
    }
    let (canonical, signed) = canonical(request, &added)?;
    let Scope { service, region } = scope;
    let within = format!("{date}/{region}/{service}/aws4_request");
    let text = format!("{ALGORITHM}\n{time}\n{within}\n{}", hex(&sha256(&canonical)));
    let first = format!("AWS4{}", credentials.secret_key.expose());
    let parts = [date, region, service, "aws4_request"];
    let key = parts.iter().fold(first.into_bytes(), |key, part| hmac(&key, part.as_bytes()).to_vec());
    let signature = hex(&hmac(&key, text.as_bytes()));
    let access_key = credentials.access_key.expose();
    let value = format!("{ALGORITHM} Credential={access_key}/{within}, SignedHeaders={signed}, Signature={signature}");
    added.insert(AUTHORIZATION, secret(&value, "access key or region")?);
    Ok(added)
}

/// The request in the one form that both sides make of it, and the names of the headers that are signed.
fn canonical(request: &Unsigned<'_>, added: &HeaderMap) -> Result<(Vec<u8>, String), SignError> {
    let host = request.url.host_str().ok_or(SignError::NoHost)?;
    let host = request.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let is_own = |name: &HeaderName| *name == "host" || added.contains_key(name);
    let given = request.headers.keys().filter(|name| !is_own(name) && !NOT_SIGNED.contains(&name.as_str()));
    let given = given.map(|name| (name.as_str(), trimmed(request.headers.get_all(name))));
    let added = added.iter().map(|(name, value)| (name.as_str(), value.as_bytes().to_owned()));
    let mut headers: Vec<_> = given.chain(added).chain([("host", host.into_bytes())]).collect();
    headers.sort_unstable();
    let names: Vec<_> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");

    let mut text = Vec::new();
    for line in [request.method, &path(request.url.path()), &query(request.url.query().unwrap_or_default())] {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
    }
    for (name, value) in &headers {
        text.extend_from_slice(name.as_bytes());
        text.push(b':');
        text.extend_from_slice(value);
        text.push(b'\n');
    }
    text.extend_from_slice(format!("\n{names}\n{}", hex(&sha256(request.body))).as_bytes());
    Ok((text, names))
}

/// The values of one header: without blanks around each, with one between its words, and joined by commas.
fn trimmed<'a>(values: impl IntoIterator<Item = &'a HeaderValue>) -> Vec<u8> {
    let values: Vec<_> = values.into_iter().map(HeaderValue::as_bytes).map(words).collect();
    values.join(&b',')
}

fn words(value: &[u8]) -> Vec<u8> {
    let words: Vec<_> = value.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    words.join(&b' ')
}

/// A path that is encoded as it is sent, encoded once more. An address has no `.` and `..` in its path any more; what
/// is left to do is to merge slashes.
fn path(sent: &str) -> String {
    let segments: Vec<_> = sent.split('/').filter(|segment| !segment.is_empty()).map(encoded).collect();
    let end = if sent.ends_with('/') && !segments.is_empty() { "/" } else { "" };
    format!("/{}{end}", segments.join("/"))
}

/// The names and values of a query, each encoded once, in order.
fn query(sent: &str) -> String {
    let pairs = sent.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut pairs: Vec<_> = pairs.map(|(name, value)| (encoded(decoded(name)), encoded(decoded(value)))).collect();
    pairs.sort_unstable();
    let pairs: Vec<_> = pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join("&")
}

/// A name or value of a query, as servers read it: with `+` for a blank.
fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let pair = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%');
        let (byte, length) = match (byte, pair) {
            (_, Some((high, low))) => (u8::try_from(high * 16 + low).unwrap_or_default(), 3),
            (b'+', None) => (b' ', 1),
            (byte, None) => (*byte, 1),
        };
        decoded.push(byte);
        at += length;
    }
    decoded
}

#[cfg(test)]
mod tests;
