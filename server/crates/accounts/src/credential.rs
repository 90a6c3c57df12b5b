//! A key or a sign-in that is kept for a provider.

use providers::Secret;

/// The label of the account that a user without several has.
pub const DEFAULT_LABEL: &str = "default";

/// A sign-in is renewed this many seconds before its access token expires, so that no request starts with one that is
/// about to.
const MARGIN: u64 = 120;

/// An account at a provider, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credential {
    /// The name of the provider, as in its models' ids.
    pub provider: String,
    /// The user's name for the account, which tells it from others at the same provider.
    pub label: String,
    /// Scheme, host and port of the server that it was given for. It is sent to no other.
    pub origin: String,
    /// The key or the tokens.
    pub proof: Proof,
}

/// The proof that a provider is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// An API key.
    Key(Secret),
    /// The tokens of a sign-in.
    Tokens(Box<Tokens>),
}

/// The tokens of a sign-in, with what renewing them takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tokens {
    /// The access token, which goes with requests.
    pub access: Secret,
    /// The refresh token, if the vendor gave one. Using it may make it void.
    pub refresh: Option<Secret>,
    /// When the access token was issued, in seconds since 1970 by this machine's clock.
    pub issued: u64,
    /// The access token's lifetime in seconds, if the vendor says it.
    pub lifetime: Option<u64>,
    /// The id under which the vendor knows this client.
    pub client_id: String,
    /// The address that issued the tokens, and renews them.
    pub token_url: String,
    /// The scopes that were granted.
    pub scopes: Vec<String>,
    /// The account at the vendor, for people, such as an e-mail address.
    pub name: Option<String>,
    /// The vendor's id of the account.
    pub subject: Option<String>,
    /// True if the vendor has ended the sign-in: the refresh token is void.
    pub ended: bool,
}

impl Credential {
    /// The secret that goes with requests.
    pub fn secret(&self) -> &Secret {
        match &self.proof {
            Proof::Key(key) => key,
            Proof::Tokens(tokens) => &tokens.access,
        }
    }

    /// True if it can be used, perhaps after renewing it.
    pub fn is_usable(&self, now: u64) -> bool {
        match &self.proof {
            Proof::Key(_) => true,
            Proof::Tokens(tokens) => !tokens.ended && (tokens.refresh.is_some() || !tokens.is_expired(now)),
        }
    }
}

impl Tokens {
    /// True if the access token should be renewed. One that was issued in the future is: the clock was wrong then or is
    /// wrong now, so its end is not known.
    pub fn is_stale(&self, now: u64) -> bool {
        let Some(lifetime) = self.lifetime else { return false };
        let margin = MARGIN.min(lifetime / 2);
        now < self.issued || now >= self.issued.saturating_add(lifetime - margin)
    }

    /// True if the access token has expired by this machine's clock.
    pub fn is_expired(&self, now: u64) -> bool {
        self.expires().is_some_and(|end| now >= end)
    }

    /// When the access token expires, in seconds since 1970; none if the vendor does not say.
    pub fn expires(&self) -> Option<u64> {
        self.lifetime.map(|lifetime| self.issued.saturating_add(lifetime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn tokens(issued: u64, lifetime: Option<u64>) -> Tokens {
        Tokens {
            access: Secret::new("access"),
            refresh: Some(Secret::new("refresh")),
            issued,
            lifetime,
            client_id: "client".into(),
            token_url: "https://auth.example/token".into(),
            scopes: vec![],
            name: None,
            subject: None,
            ended: false,
        }
    }

    #[test]
    fn tokens_are_renewed_before_they_expire_and_when_the_clock_was_set_back() {
        let hour = tokens(1_000, Some(3_600));
        for (now, stale) in [(1_000, false), (4_479, false), (4_480, true), (9_000, true), (999, true)] {
            assert_eq!(hour.is_stale(now), stale, "{now}");
        }
        let short = tokens(1_000, Some(10));
        assert_eq!((short.is_stale(1_004), short.is_stale(1_005)), (false, true));
        assert!(!tokens(1_000, None).is_stale(u64::MAX) && !tokens(1_000, None).is_expired(u64::MAX));
    }

    #[test]
    fn an_account_without_a_way_to_renew_it_ends_with_its_token() {
        let mut account = Credential {
            provider: "p".into(),
            label: DEFAULT_LABEL.into(),
            origin: "https://p.example".into(),
            proof: Proof::Tokens(Box::new(Tokens { refresh: None, ..tokens(1_000, Some(10)) })),
        };
        assert_eq!((account.is_usable(1_009), account.is_usable(1_010)), (true, false));
        account.proof = Proof::Tokens(Box::new(tokens(1_000, Some(10))));
        assert!(account.is_usable(1_010));
        account.proof = Proof::Tokens(Box::new(Tokens { ended: true, ..tokens(1_000, Some(10)) }));
        assert!(!account.is_usable(1_001));
    }

    #[test]
    fn no_secret_is_shown() {
        let shown = format!("{:?}", tokens(1, None));
        assert!(!shown.contains("\"access\"") && !shown.contains("\"refresh\""), "{shown}");
    }
}
