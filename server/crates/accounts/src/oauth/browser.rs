//! The sign-in by a browser: the authorization code with PKCE (RFC 6749, 4.1; RFC 7636; RFC 8252).

use std::time::Instant;

use net::{Clients, Url};
use providers::Secret;

use super::callback::{Answer, Callback, Client, Granted, read};
use super::{OAuthError, PATIENCE, id_token, random, token};
use crate::credential::Tokens;
use crate::vendor::{HOST, Vendor};

/// A sign-in by a browser that has begun.
#[derive(Debug)]
pub struct Browser {
    vendor: Vendor,
    url: Url,
    verifier: Secret,
    state: String,
    nonce: String,
    redirect: Url,
    client_id: String,
    client: Client,
    callback: Option<Callback>,
    until: Instant,
}

impl Browser {
    /// Begins. With `listen`, the callback is waited for at a port of this machine; without, its address must be
    /// pasted. `client` is the id that an earlier sign-in to this account registered, `host` that of this installation.
    ///
    /// # Errors
    /// The vendor has no page to sign in, an address is of no use, or the port is taken.
    pub async fn start(vendor: &Vendor, client: Option<&str>, host: &str, listen: bool) -> Result<Self, OAuthError> {
        let Some(page) = &vendor.authorize_url else {
            let (provider, advice) = (vendor.provider.clone(), "; try `--device`");
            return Err(OAuthError::NoSuchWay { provider, way: "by a browser", advice });
        };
        let wrong = |problem| OAuthError::Address { provider: vendor.provider.clone(), problem };
        let mut url = Vendor::address("authorize_url", page).map_err(wrong)?;
        let state = random::text()?;
        let path = vendor.redirect_path();
        let kind = match (vendor.registers, client) {
            (false, _) => Client::Ours,
            (true, Some(_)) => Client::Known,
            (true, None) => Client::Registered,
        };
        let callback = match listen {
            true => Some(Callback::open(vendor, &state, kind).await?),
            false => None,
        };
        let port = callback.as_ref().map(Callback::port).or(vendor.redirect_port).unwrap_or(FREE_PORT);
        // By its number: `localhost` may be another machine's, or IPv6, where nobody listens (RFC 8252, 8.3).
        let redirect = format!("http://127.0.0.1:{port}{path}");
        let redirect =
            Url::parse(&redirect).map_err(|_| wrong("`redirect_path` is no path; write /callback".into()))?;
        let (verifier, nonce) = (random::text()?, random::text()?);
        let client_id = client.unwrap_or(&vendor.client_id).to_owned();
        {
            let mut query = url.query_pairs_mut();
            query.append_pair("response_type", "code").append_pair("client_id", &client_id);
            query.append_pair("redirect_uri", redirect.as_str()).append_pair("state", &state);
            query.append_pair("code_challenge", &random::challenge(&verifier));
            query.append_pair("code_challenge_method", "S256");
            if !vendor.scopes.is_empty() {
                query.append_pair("scope", &vendor.scopes.join(" "));
            }
            if vendor.jwks_url.is_some() {
                query.append_pair("nonce", &nonce);
            }
            if let Some(resource) = &vendor.resource {
                query.append_pair("resource", resource);
            }
            let further = vendor.register.iter().filter(|_| kind == Client::Registered).chain(&vendor.authorize);
            for (name, value) in further {
                query.append_pair(name, &value.replace(HOST, host));
            }
        }
        let verifier = Secret::new(&verifier);
        let (vendor, until) = (vendor.clone(), Instant::now() + PATIENCE);
        Ok(Self { vendor, url, verifier, state, nonce, redirect, client_id, client: kind, callback, until })
    }

    /// The page that the user opens in a browser.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The beginning of the address that the browser is sent back to.
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits for the browser to come back. Never ends well if nobody listens for it.
    ///
    /// # Errors
    /// The user or the vendor refused, or nobody signed in for too long.
    pub async fn wait(&mut self) -> Result<Granted, OAuthError> {
        let vendor = self.vendor.title.clone();
        let answered = async {
            match &mut self.callback {
                Some(callback) => callback.answer().await,
                None => std::future::pending().await,
            }
        };
        match tokio::time::timeout_at(self.until.into(), answered).await {
            Err(_) => Err(OAuthError::TooLate(PATIENCE)),
            Ok(None) => Err(OAuthError::NoCallback(std::io::ErrorKind::ConnectionAborted.into())),
            Ok(Some(Ok(granted))) => Ok(granted),
            Ok(Some(Err(said))) => Err(OAuthError::Refused { vendor, said }),
        }
    }

    /// Reads the address that the browser was sent back to, as the user pasted it.
    ///
    /// # Errors
    /// It is none of this sign-in, or says that the user or the vendor refused.
    pub fn pasted(&self, text: &str) -> Result<Granted, OAuthError> {
        let wrong = |text: &str| OAuthError::Pasted(text.to_owned());
        let start = format!("paste the whole address that the browser ends at; it begins with {}", self.redirect);
        let url = Url::parse(text.trim()).map_err(|_| wrong(&start))?;
        if url.origin() != self.redirect.origin() || url.path() != self.redirect.path() {
            return Err(wrong(&start));
        }
        match read(&url, &self.state, self.client) {
            Answer::Granted(granted) => Ok(granted),
            Answer::Refused(said) => Err(OAuthError::Refused { vendor: self.vendor.title.clone(), said }),
            Answer::OfAnother => Err(wrong("this address is of another sign-in; use the page that was shown last")),
            Answer::Incomplete => Err(wrong("this address is cut off; copy all of it")),
        }
    }

    /// Closes the port: the browser has come back, or the address was pasted.
    pub(crate) fn close(&mut self) {
        self.callback = None;
    }

    /// Exchanges the vendor's answer for tokens, and checks what they are good for. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// The vendor refuses or cannot be asked, or its answer is of no use.
    pub async fn finish(self, granted: Granted, http: &Clients, now: u64) -> Result<Tokens, OAuthError> {
        let Self { vendor, verifier, nonce, redirect, client_id, .. } = self;
        let keys = id_token::keys(&vendor, http).await?;
        let client_id = granted.client_id.unwrap_or(client_id);
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("client_id", &client_id),
            ("code", granted.code.expose()),
            ("code_verifier", verifier.expose()),
            ("redirect_uri", redirect.as_str()),
        ];
        fields.extend(vendor.resource.as_deref().map(|resource| ("resource", resource)));
        let issued = token::ask(&vendor, http, &fields).await?;
        let mut tokens = issued.tokens(&vendor, &client_id, now)?;
        if let Some(keys) = &keys {
            let id_token = issued.id_token.as_deref();
            let claims = id_token::check(&vendor, keys, id_token, &client_id, Some(&nonce), now)?;
            (tokens.name, tokens.subject) = (claims.name(), Some(claims.sub));
        }
        Ok(tokens)
    }
}

/// The port of an address that is only pasted, at a vendor that takes any.
const FREE_PORT: u16 = 8_976;
