//! The fields of a file of credentials.

use net::{Url, is_loopback};
use serde_json::Value;

/// The reason why a text has no credentials that can be used.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// Their kind.
    Kind(String),
    /// Something is missing or not as it must be; says which field, and nothing of what is in it.
    Damaged(String),
}

/// A text that is not empty.
pub(super) fn text_of<'a>(json: &'a Value, name: &str) -> Option<&'a str> {
    json.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty())
}

/// A text without which the credentials cannot be used.
pub(super) fn needed<'a>(json: &'a Value, name: &str) -> Result<&'a str, Fault> {
    text_of(json, name).ok_or_else(|| Fault::Damaged(format!("it has no `{name}`")))
}

/// The address of a server that is given secrets.
pub(super) fn address(json: &Value, name: &str) -> Result<Option<Url>, Fault> {
    let read = |text| safe(text).map_err(|problem| Fault::Damaged(format!("its `{name}` {problem}")));
    text_of(json, name).map(read).transpose()
}

fn safe(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => Err("is an address on another machine without https, so nothing secret is sent there"),
        _ => Err("is not a URL that begins with https://"),
    }
}
