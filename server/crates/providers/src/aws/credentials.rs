//! Credentials for AWS, and the JSON in which programs and services give them.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::Secret;
use crate::dates::rfc3339;

/// The time before the end of credentials at which others are fetched, so that none ends while a request is under way.
const MARGIN: Duration = Duration::from_secs(5 * 60);

/// Keys that requests to AWS are signed with. Shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(super) access_key: Secret,
    pub(super) secret_key: Secret,
    pub(super) session_token: Option<Secret>,
    pub(super) expires: Option<SystemTime>,
}

impl Credentials {
    /// The credentials of an access key, with the token of a session if they are of one. They have no end.
    pub(crate) fn new(access_key: &str, secret_key: &str, session_token: Option<&str>) -> Self {
        Self {
            access_key: Secret::new(access_key),
            secret_key: Secret::new(secret_key),
            session_token: session_token.map(Secret::new),
            expires: None,
        }
    }

    /// Reads the JSON of a program or a service; `token` is the name of the session's token in it.
    ///
    /// # Errors
    /// Something is missing or not as it must be; says which field, and nothing of what is in it.
    pub(super) fn from_json(json: &Value, token: &str) -> Result<Self, String> {
        let text = |name: &str| json.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
        let needed = |name: &str| text(name).ok_or_else(|| format!("it has no `{name}`"));
        let expires = match json.get("Expiration") {
            None | Some(Value::Null) => None,
            Some(date) => {
                let date = date.as_str().and_then(rfc3339);
                Some(date.ok_or("its `Expiration` is no date such as 2026-11-28T19:04:05Z")?)
            }
        };
        Ok(Self { expires, ..Self::new(needed("AccessKeyId")?, needed("SecretAccessKey")?, text(token)) })
    }

    /// True if they last for more than five minutes.
    pub(super) fn are_fresh(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|end| now.checked_add(MARGIN).is_some_and(|then| then < end))
    }

    /// True if they have not ended.
    pub(super) fn are_valid(&self, now: SystemTime) -> bool {
        self.expires.is_none_or(|end| now < end)
    }
}

impl fmt::Debug for Credentials {
    /// Without the keys and the token. The end of credentials is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("expires", &self.expires).finish_non_exhaustive()
    }
}
