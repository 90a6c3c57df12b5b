//! Requests that are signed for AWS, checked as AWS checks them: each signature is made once more from what came in
//! (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html). It shares nothing with the
//! code that signs.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::header::HeaderMap;
use sha2::{Digest, Sha256};

use crate::plain::{date, http_date};

/// The difference between two clocks that AWS allows.
const SKEW: Duration = Duration::from_secs(5 * 60);

/// An account at AWS, in one region and for one service.
#[derive(Clone, Debug)]
pub struct Account {
    region: String,
    service: String,
    keys: HashMap<String, Key>,
    /// The time by which the clock of the server is ahead of this machine's.
    ahead: Duration,
}

/// An access key.
#[derive(Clone, Debug)]
struct Key {
    secret: String,
    token: Option<String>,
    has_ended: bool,
}

/// A request as it came in.
pub(super) struct Sent<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
}

/// The refusal of a request: the kind of the error as AWS calls it, and its words.
pub(super) type Refusal = (&'static str, String);

impl Account {
    /// An account without a key.
    pub fn new(service: &str, region: &str) -> Self {
        let (service, region) = (service.to_owned(), region.to_owned());
        Self { region, service, keys: HashMap::new(), ahead: Duration::ZERO }
    }

    /// Adds an access key, with the token of its session if it has one.
    #[must_use]
    pub fn with_key(mut self, id: &str, secret: &str, token: Option<&str>) -> Self {
        let key = Key { secret: secret.to_owned(), token: token.map(str::to_owned), has_ended: false };
        self.keys.insert(id.to_owned(), key);
        self
    }

    /// Ends an access key.
    #[must_use]
    pub fn with_end_of(mut self, id: &str) -> Self {
        self.keys.get_mut(id).unwrap().has_ended = true;
        self
    }

    /// Sets the server's clock ahead of this machine's.
    #[must_use]
    pub fn ahead_by(mut self, ahead: Duration) -> Self {
        self.ahead = ahead;
        self
    }

    /// The date that the server's answers bear, as HTTP writes it.
    pub(super) fn http_date(&self) -> String {
        http_date(self.now())
    }

    fn now(&self) -> u64 {
        (SystemTime::now() + self.ahead).duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    /// Checks the signature of a request.
    ///
    /// # Errors
    /// AWS would refuse it.
    pub(super) fn check(&self, sent: &Sent<'_>) -> Result<(), Refusal> {
        let header = |name: &str| sent.headers.get(name).and_then(|value| value.to_str().ok());
        let incomplete = |words: &str| ("IncompleteSignatureException", words.to_owned());
        let authorization = header("authorization").ok_or(("MissingAuthenticationTokenException", String::new()))?;
        let fields = authorization.strip_prefix("AWS4-HMAC-SHA256 ").ok_or_else(|| incomplete("algorithm"))?;
        let fields: HashMap<_, _> = fields.split(", ").filter_map(|field| field.split_once('=')).collect();
        let field = |name: &str| fields.get(name).copied().ok_or_else(|| incomplete(name));
        let (credential, names, signature) = (field("Credential")?, field("SignedHeaders")?, field("Signature")?);
        let (id, scope) = credential.split_once('/').ok_or_else(|| incomplete("scope"))?;
        let time = header("x-amz-date").ok_or_else(|| incomplete("X-Amz-Date"))?;
        let day = time.get(..8).unwrap_or_default();
        if scope != format!("{day}/{}/{}/aws4_request", self.region, self.service) {
            return Err(("InvalidSignatureException", format!("Credential should be scoped otherwise than {scope}")));
        }
        if self.now().abs_diff(seconds(time)) > SKEW.as_secs() {
            return Err(("InvalidSignatureException", format!("Signature expired: {time} is not now")));
        }
        let unknown =
            || ("UnrecognizedClientException", "The security token included in the request is invalid.".into());
        let key = self.keys.get(id).ok_or_else(unknown)?;
        if key.has_ended {
            return Err((
                "ExpiredTokenException",
                format!("The security token {id} included in the request is expired"),
            ));
        }
        if header("x-amz-security-token") != key.token.as_deref() {
            return Err(unknown());
        }
        let names: Vec<_> = names.split(';').collect();
        let must = |name: &str| name == "host" || name == "content-type" || name.starts_with("x-amz-");
        let unsigned = sent.headers.keys().find(|name| must(name.as_str()) && !names.contains(&name.as_str()));
        if unsigned.is_some() || !names.is_sorted() {
            return Err(incomplete("SignedHeaders"));
        }
        let expected = sign(sent, &names, time, scope, &key.secret);
        if signature != expected {
            return Err(("InvalidSignatureException", "The request signature we calculated does not match".to_owned()));
        }
        Ok(())
    }
}

fn sign(sent: &Sent<'_>, names: &[&str], time: &str, scope: &str, secret: &str) -> String {
    let value = |name: &&str| {
        let values: Vec<_> = sent.headers.get_all(*name).iter().map(|value| value.to_str().unwrap().trim()).collect();
        format!("{name}:{}\n", values.join(","))
    };
    let headers: String = names.iter().map(value).collect();
    let mut pairs: Vec<_> = sent.query.split('&').filter(|pair| !pair.is_empty()).collect();
    pairs.sort_unstable();
    // The path came encoded once; AWS signs it encoded twice.
    let path = sent.path.replace('%', "%25").replace(':', "%3A");
    let canonical = format!(
        "{}\n{path}\n{}\n{headers}\n{}\n{}",
        sent.method,
        pairs.join("&"),
        names.join(";"),
        hex(&Sha256::digest(sent.body))
    );
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
    let mut key = format!("AWS4{secret}").into_bytes();
    for part in scope.split('/') {
        key = hmac(&key, part);
    }
    hex(&hmac(&key, &text))
}

/// HMAC with SHA-256 (RFC 2104). The keys here are shorter than a block.
fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let padded = |pad: u8| (0..64).map(move |at| key.get(at).copied().unwrap_or(0) ^ pad).collect::<Vec<u8>>();
    let inner = Sha256::digest([padded(0x36), text.as_bytes().to_vec()].concat());
    Sha256::digest([padded(0x5c), inner.to_vec()].concat()).to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The seconds since 1970 at a time such as `20150830T123600Z`; 0 if it is none.
fn seconds(time: &str) -> u64 {
    let number = |from: usize, to: usize| time.get(from..to).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let (year, month, day) = (number(0, 4), number(4, 6), number(6, 8));
    let days = (0..).find(|days| date(*days) == (year, usize::try_from(month).unwrap(), day) || *days > 100_000);
    days.unwrap() * 86_400 + number(9, 11) * 3_600 + number(11, 13) * 60 + number(13, 15)
}
