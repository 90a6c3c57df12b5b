//! The vendors that let their users sign in, as data. The facts are in `vendors.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use net::{Url, is_loopback};
use serde::Deserialize;

/// The text that stands for the id of this installation.
pub(crate) const HOST: &str = "{HOST}";

/// The way in which a provider lets its users sign in (RFC 6749, RFC 8628).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vendor {
    /// The name of the provider, as in its models' ids.
    pub provider: String,
    /// The provider's name for people.
    pub title: String,
    /// The page where the user signs in; without one there is no sign-in by a browser on this machine.
    pub authorize_url: Option<String>,
    /// The address that issues tokens and renews them.
    pub token_url: String,
    /// The address that issues device codes; without one there is no sign-in by a code.
    pub device_url: Option<String>,
    /// The address at which a token is revoked.
    pub revoke_url: Option<String>,
    /// The keys that sign id tokens. With them, an id token is required and checked.
    pub jwks_url: Option<String>,
    /// The issuer of id tokens.
    pub issuer: Option<String>,
    /// The id of this client, or that of a client that is to be registered.
    pub client_id: String,
    /// True if the first sign-in registers a client, whose id the callback brings.
    pub registers: bool,
    /// The resource that tokens are for (RFC 8707).
    pub resource: Option<String>,
    /// The scopes to ask for.
    pub scopes: Vec<String>,
    /// The scopes without which a sign-in is of no use.
    pub required_scopes: Vec<String>,
    /// The port that the vendor sends the browser back to; any free one if none is said.
    pub redirect_port: Option<u16>,
    /// The path that the vendor sends the browser back to.
    pub redirect_path: Option<String>,
    /// Further parameters of the page; `{HOST}` stands for the id of this installation.
    pub authorize: BTreeMap<String, String>,
    /// Further parameters of the page at the sign-in that registers a client.
    pub register: BTreeMap<String, String>,
}

impl Vendor {
    /// The vendor of this provider, if it is known.
    pub fn known(provider: &str) -> Option<&'static Self> {
        known().iter().find(|vendor| vendor.provider == provider)
    }

    /// Checks an address that secrets are sent to or come from: it must be `https`, or on this machine.
    ///
    /// # Errors
    /// It is none; says so, with its name as in the configuration.
    pub fn address(name: &str, text: &str) -> Result<Url, String> {
        let url = Url::parse(text.trim()).map_err(|_| format!("`{name}` is no address; write https://host/path"))?;
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        if is_safe && url.host_str().is_some() {
            Ok(url)
        } else {
            Err(format!("`{name}` must begin with https://, since secrets are sent there"))
        }
    }

    /// Puts what the configuration says of a provider's sign-in over what is known of it. If it names another server to
    /// issue tokens, nothing of the known vendor's addresses is left: no secret goes to two servers.
    #[must_use]
    pub fn over(self, provider: &str) -> Self {
        let mut vendor = Self::known(provider).cloned().unwrap_or_default();
        if !self.token_url.is_empty() {
            vendor = Self {
                token_url: self.token_url,
                authorize_url: None,
                device_url: None,
                revoke_url: None,
                jwks_url: None,
                issuer: None,
                ..vendor
            };
        }
        let Self { title, client_id, scopes, .. } = vendor;
        let title = if title.is_empty() { provider.to_owned() } else { title };
        Self {
            provider: provider.to_owned(),
            title,
            authorize_url: self.authorize_url.or(vendor.authorize_url),
            token_url: vendor.token_url,
            device_url: self.device_url.or(vendor.device_url),
            revoke_url: self.revoke_url.or(vendor.revoke_url),
            jwks_url: self.jwks_url.or(vendor.jwks_url),
            issuer: self.issuer.or(vendor.issuer),
            // Another id is not that with which a client is registered.
            registers: vendor.registers && self.client_id.is_empty(),
            client_id: if self.client_id.is_empty() { client_id } else { self.client_id },
            scopes: if self.scopes.is_empty() { scopes } else { self.scopes },
            redirect_port: self.redirect_port.or(vendor.redirect_port),
            redirect_path: self.redirect_path.or(vendor.redirect_path),
            resource: vendor.resource,
            required_scopes: vendor.required_scopes,
            authorize: vendor.authorize,
            register: vendor.register,
        }
    }

    /// The path of the callback.
    pub(crate) fn redirect_path(&self) -> &str {
        self.redirect_path.as_deref().unwrap_or("/callback")
    }
}

/// The vendors that are known.
pub fn known() -> &'static [Vendor] {
    #[derive(Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        vendor: Vec<Vendor>,
    }
    static FILE: LazyLock<File> = LazyLock::new(|| {
        // A test reads the file, so this cannot fail in a program that passed it.
        toml::from_str(include_str!("vendors.toml")).unwrap_or_default()
    });
    &FILE.vendor
}

/// Scheme, host and port of an address, in one spelling; none if it is no address.
pub fn origin(address: &str) -> Option<String> {
    let origin = Url::parse(address.trim()).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_its_addresses_are_safe() {
        let vendor = Vendor::known("chatgpt").unwrap();
        for address in [&vendor.authorize_url, &Some(vendor.token_url.clone()), &vendor.revoke_url, &vendor.jwks_url] {
            let url = Vendor::address("url", address.as_deref().unwrap()).unwrap();
            assert_eq!(url.host_str(), Some("auth.openai.com"));
        }
        assert!(vendor.required_scopes.iter().all(|scope| vendor.scopes.contains(scope)));
        assert_eq!(Vendor::known("anthropic"), None);
    }

    #[test]
    fn the_configuration_adds_to_what_is_known_but_mixes_no_servers() {
        let port = Vendor { redirect_port: Some(7), ..Vendor::default() }.over("chatgpt");
        assert_eq!(port, Vendor { redirect_port: Some(7), ..Vendor::known("chatgpt").unwrap().clone() });
        let moved = Vendor { token_url: "https://a.example/token".into(), ..Vendor::default() }.over("chatgpt");
        assert_eq!((moved.authorize_url, moved.revoke_url, moved.jwks_url, moved.issuer), (None, None, None, None));
        assert!(moved.registers);
        let own = Vendor { client_id: "c".into(), token_url: "https://a.example/token".into(), ..Vendor::default() };
        assert_eq!((own.clone().over("mine").title, own.over("chatgpt").registers), ("mine".into(), false));
    }

    #[test]
    fn secrets_go_over_tls_or_stay_on_this_machine() {
        for safe in ["https://auth.example/token", "http://127.0.0.1:8080/token", "http://localhost/token"] {
            assert!(Vendor::address("token_url", safe).is_ok(), "{safe}");
        }
        for unsafe_one in ["http://auth.example/token", "ftp://auth.example", "auth.example", "data:x", ""] {
            let problem = Vendor::address("token_url", unsafe_one).unwrap_err();
            assert!(problem.contains("token_url") && problem.contains("https://"), "{problem}");
        }
    }

    #[test]
    fn origins_have_one_spelling() {
        for same in ["https://API.openai.com", "https://api.openai.com:443/v1", " https://api.openai.com/v1/responses"]
        {
            assert_eq!(origin(same).as_deref(), Some("https://api.openai.com"), "{same}");
        }
        assert_eq!(origin("http://127.0.0.1:9/v1").as_deref(), Some("http://127.0.0.1:9"));
        for none in ["", "api.openai.com", "mailto:x@y"] {
            assert_eq!(origin(none), None, "{none}");
        }
    }
}
