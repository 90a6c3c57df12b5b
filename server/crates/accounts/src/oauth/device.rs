//! The sign-in by a device code (RFC 8628): the user types a short code on any device.

use std::time::{Duration, Instant};

use net::Clients;
use providers::Secret;
use serde::Deserialize;

use super::id_token::{self, Keys};
use super::token::{self, Named, Reply};
use super::{OAuthError, PATIENCE};
use crate::credential::Tokens;
use crate::vendor::Vendor;

/// The pause between two questions, in seconds, if the vendor says none (RFC 8628, 3.2).
const INTERVAL: u64 = 5;
/// The time by which the pause grows if the vendor asks for that (RFC 8628, 3.5).
const SLOWER: Duration = Duration::from_secs(5);
/// The longest pause of our own choice.
const SLOWEST: Duration = Duration::from_secs(60);
/// The longest time, in seconds, for which a code is waited for or that lies between two questions, whatever the vendor
/// says. Codes are good for a quarter of an hour at most vendors.
const LONGEST: u64 = 3_600;

/// A sign-in by a device code that has begun.
#[derive(Debug)]
pub struct Device {
    vendor: Vendor,
    code: Secret,
    user_code: String,
    url: String,
    complete_url: Option<String>,
    interval: Duration,
    until: Instant,
    lifetime: Duration,
    /// The keys that sign the id token, at vendors whose id tokens are checked.
    keys: Option<Keys>,
}

#[derive(Deserialize)]
struct Offered {
    device_code: String,
    user_code: String,
    // Some vendors call it an address with an L.
    #[serde(alias = "verification_url")]
    verification_uri: String,
    verification_uri_complete: Option<String>,
    expires_in: Option<u64>,
    interval: Option<u64>,
}

impl Device {
    /// Asks the vendor for a code.
    ///
    /// # Errors
    /// The vendor issues none, or cannot be asked.
    pub async fn start(vendor: &Vendor, http: &Clients) -> Result<Self, OAuthError> {
        let Some(address) = &vendor.device_url else {
            let (provider, advice) = (vendor.provider.clone(), "; try `--paste`");
            return Err(OAuthError::NoSuchWay { provider, way: "by a code", advice });
        };
        let keys = id_token::keys(vendor, http).await?;
        let scopes = vendor.scopes.join(" ");
        let mut fields = vec![("client_id", vendor.client_id.as_str())];
        fields.extend((!scopes.is_empty()).then_some(("scope", scopes.as_str())));
        let body = match token::post(vendor, http, ("device_url", address), &fields).await? {
            Reply::Good(body) => body,
            Reply::Bad(Named { said, .. }) => {
                return Err(OAuthError::Refused { vendor: vendor.title.clone(), said });
            }
        };
        Ok(Self { keys, ..Self::offered(vendor, &body)? })
    }

    /// The code in an answer.
    fn offered(vendor: &Vendor, body: &[u8]) -> Result<Self, OAuthError> {
        let wrong = |problem: &str| OAuthError::Answer(problem.to_owned(), vendor.title.clone());
        let offered: Offered = serde_json::from_slice(body).map_err(|_| wrong("something that is no device code"))?;
        // The user opens them, and a browser would run what some other addresses hold.
        let is_page = |url: &str| Vendor::address("verification_uri", url).is_ok();
        if !is_page(&offered.verification_uri) {
            return Err(wrong("a page that is not safe to open"));
        }
        let lifetime = offered.expires_in.map_or(PATIENCE, |seconds| Duration::from_secs(seconds.min(LONGEST)));
        Ok(Self {
            vendor: vendor.clone(),
            code: Secret::new(&offered.device_code),
            user_code: offered.user_code.chars().filter(|c| !c.is_control()).collect(),
            url: offered.verification_uri,
            complete_url: offered.verification_uri_complete.filter(|url| is_page(url)),
            interval: Duration::from_secs(offered.interval.unwrap_or(INTERVAL).clamp(1, LONGEST)),
            until: Instant::now() + lifetime,
            lifetime,
            keys: None,
        })
    }

    /// The code that the user types.
    pub fn user_code(&self) -> &str {
        &self.user_code
    }

    /// The page on which the user types it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The page with the code in its address, if the vendor has one.
    pub fn complete_url(&self) -> Option<&str> {
        self.complete_url.as_deref()
    }

    /// Waits until the user has consented. `now` gives the time in seconds since 1970.
    ///
    /// # Errors
    /// The user refused or took too long, or the vendor's answer is of no use.
    pub async fn wait(mut self, http: &Clients, now: impl Fn() -> u64) -> Result<Tokens, OAuthError> {
        loop {
            tokio::time::sleep(self.interval.min(self.until.saturating_duration_since(Instant::now()))).await;
            if Instant::now() >= self.until {
                return Err(OAuthError::TooLate(self.lifetime));
            }
            let fields = [
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
                ("device_code", self.code.expose()),
                ("client_id", self.vendor.client_id.as_str()),
            ];
            match token::post(&self.vendor, http, ("token_url", &self.vendor.token_url), &fields).await {
                Ok(Reply::Good(body)) => return self.tokens(&body, now()),
                Ok(Reply::Bad(named)) => match next(self.interval, &named.code) {
                    Next::Wait(interval) => self.interval = interval,
                    Next::TooLate => return Err(OAuthError::TooLate(self.lifetime)),
                    Next::Refused => {
                        return Err(OAuthError::Refused { vendor: self.vendor.title.clone(), said: named.said });
                    }
                },
                // The vendor may be back in a moment; each failure makes the pause longer (RFC 8628, 3.5).
                Err(OAuthError::Unreachable { .. }) => {
                    self.interval = (self.interval * 2).min(SLOWEST).max(self.interval);
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn tokens(&self, body: &[u8], now: u64) -> Result<Tokens, OAuthError> {
        let (vendor, issued) = (&self.vendor, token::issued(&self.vendor, body)?);
        let mut tokens = issued.tokens(vendor, &vendor.client_id, now)?;
        if let Some(keys) = &self.keys {
            // There is no nonce, which only a page in a browser is given.
            let claims = id_token::check(vendor, keys, issued.id_token.as_deref(), &vendor.client_id, None, now)?;
            (tokens.name, tokens.subject) = (claims.name(), Some(claims.sub));
        }
        Ok(tokens)
    }
}

/// The step that follows from a refusal.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Wait(Duration),
    TooLate,
    Refused,
}

fn next(interval: Duration, code: &str) -> Next {
    match code {
        "authorization_pending" => Next::Wait(interval),
        "slow_down" => Next::Wait(interval + SLOWER),
        "expired_token" => Next::TooLate,
        _ => Next::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn times_that_make_no_sense_are_cut_to_some_that_do() {
        let vendor = Vendor::default();
        let offered = |expires_in: u64, interval: u64| {
            let body = format!(
                r#"{{"device_code":"d","user_code":"u","verification_uri":"https://v.example","expires_in":{expires_in},"interval":{interval}}}"#
            );
            Device::offered(&vendor, body.as_bytes()).unwrap()
        };
        let endless = offered(u64::MAX, u64::MAX);
        assert_eq!((endless.lifetime.as_secs(), endless.interval.as_secs()), (LONGEST, LONGEST));
        assert_eq!(offered(900, 90).interval.as_secs(), 90);
        // The pause would be longer than the code is good for.
        let http = Clients::new(None);
        let short = tokio::time::timeout(Duration::from_secs(30), offered(1, 90).wait(&http, || 0));
        assert!(matches!(short.await.unwrap(), Err(OAuthError::TooLate(_))));
    }

    #[test]
    fn the_vendors_wish_for_a_longer_pause_is_kept_to() {
        let second = Duration::from_secs(1);
        for (code, then) in [
            ("authorization_pending", Next::Wait(second)),
            ("slow_down", Next::Wait(second + SLOWER)),
            ("expired_token", Next::TooLate),
            ("access_denied", Next::Refused),
            ("", Next::Refused),
        ] {
            assert_eq!(next(second, code), then, "{code}");
        }
    }
}
