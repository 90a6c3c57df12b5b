//! Service accounts in whose name another account acts.

use net::Url;
use serde_json::Value;

use super::fields::{Fault, address, needed};
use super::hosts::Hosts;

/// The time for which a token is asked, in seconds, if a file says none.
const LIFETIME: u64 = 3_600;

/// A service account in whose name another account may act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Acting {
    /// The address that gives its tokens.
    pub(super) url: Url,
    /// The accounts between the two.
    pub(super) delegates: Vec<String>,
    /// The time for which a token is asked, in seconds.
    pub(super) lifetime: u64,
}

impl Acting {
    /// The field with the address.
    pub(super) const FIELD: &str = "service_account_impersonation_url";

    /// The service account that a file of credentials names, if it names one.
    ///
    /// # Errors
    /// Its address is none of Google's, whatever kind of account acts.
    pub(super) fn read(json: &Value, hosts: &Hosts) -> Result<Option<Self>, Fault> {
        let delegates = json.get("delegates").and_then(Value::as_array).into_iter().flatten();
        let delegates = delegates.filter_map(Value::as_str).map(str::to_owned).collect();
        let lifetime = json.pointer("/service_account_impersonation/token_lifetime_seconds").and_then(Value::as_u64);
        let lifetime = lifetime.filter(|seconds| *seconds > 0).unwrap_or(LIFETIME);
        let Some(url) = address(json, Self::FIELD)? else { return Ok(None) };
        hosts.check(&url, "iamcredentials", Self::FIELD)?;
        Ok(Some(Self { url, delegates, lifetime }))
    }

    /// The same, if a file must name one.
    pub(super) fn needed(json: &Value, hosts: &Hosts) -> Result<Self, Fault> {
        needed(json, Self::FIELD)?;
        Self::read(json, hosts)?.ok_or_else(|| Fault::Damaged(format!("it has no `{}`", Self::FIELD)))
    }

    /// The account's name, which is the last part of the address.
    pub(super) fn email(&self) -> Option<&str> {
        self.url.path().rsplit('/').next()?.strip_suffix(":generateAccessToken")
    }
}
