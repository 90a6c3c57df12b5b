//! The vendor's token endpoint: codes and refresh tokens become tokens (RFC 6749, 4.1.3 and 6), and are revoked
//! (RFC 7009).

use std::time::Duration;

use net::{Clients, Url, header, read};
use providers::{Secret, keys};
use serde::Deserialize;
use serde_json::Value;

use super::OAuthError;
use crate::credential::Tokens;
use crate::vendor::Vendor;

/// The time that an answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes of an answer.
const BODY: usize = 256 * 1024;
/// The most characters of a vendor's words.
const WORDS: usize = 200;
/// The codes that say that a refresh token is void: that of RFC 6749, 5.2, and those that OpenAI answers with instead.
const VOID: [&str; 6] = [
    "invalid_grant",
    "invalid_refresh_token",
    "token_expired",
    "refresh_token_expired",
    "refresh_token_invalidated",
    "refresh_token_reused",
];

/// The token endpoint's answer.
#[derive(Deserialize)]
pub(super) struct Issued {
    access_token: Option<String>,
    refresh_token: Option<String>,
    token_type: Option<String>,
    expires_in: Option<Value>,
    scope: Option<String>,
    pub(super) id_token: Option<String>,
}

/// A failure that the vendor names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// The code of the protocol, such as `invalid_grant`.
    pub(super) code: String,
    /// The vendor's words, fit to be shown.
    pub(super) said: String,
}

/// An answer of the vendor's.
pub(super) enum Reply {
    /// Success, with the body.
    Good(Vec<u8>),
    /// A refusal.
    Bad(Named),
}

impl Issued {
    /// The tokens, with what they are good for.
    pub(super) fn tokens(&self, vendor: &Vendor, client_id: &str, now: u64) -> Result<Tokens, OAuthError> {
        let wrong = |problem: &str| OAuthError::Answer(problem.to_owned(), vendor.title.clone());
        let access = self.access_token.as_deref().map(Secret::new).filter(is_token);
        let access = access.ok_or_else(|| wrong("no access token"))?;
        if self.token_type.as_deref().is_some_and(|kind| !kind.eq_ignore_ascii_case("bearer")) {
            return Err(wrong("a token of an unknown type"));
        }
        // The scopes that are not said are those that were asked for (RFC 6749, 5.1).
        let scopes = match &self.scope {
            // GitHub separates them by commas.
            Some(scope) => scope.split([' ', ',']).filter(|it| !it.is_empty()).map(str::to_owned).collect(),
            None => vendor.scopes.clone(),
        };
        if let Some(missing) = vendor.required_scopes.iter().find(|scope| !scopes.contains(*scope)) {
            return Err(OAuthError::Scope { vendor: vendor.title.clone(), scope: missing.clone() });
        }
        // Some write the number as a text.
        let lifetime = self.expires_in.as_ref().and_then(|it| it.as_u64().or_else(|| it.as_str()?.parse().ok()));
        Ok(Tokens {
            access,
            refresh: self.refresh_token.as_deref().map(Secret::new).filter(|token| !token.expose().is_empty()),
            issued: now,
            lifetime,
            client_id: client_id.to_owned(),
            token_url: vendor.token_url.clone(),
            scopes,
            name: None,
            subject: None,
            ended: false,
        })
    }
}

/// Asks the token endpoint for tokens.
pub(super) async fn ask(vendor: &Vendor, http: &Clients, fields: &[(&str, &str)]) -> Result<Issued, OAuthError> {
    match post(vendor, http, ("token_url", &vendor.token_url), fields).await? {
        Reply::Good(body) => issued(vendor, &body),
        Reply::Bad(Named { said, .. }) => Err(OAuthError::Refused { vendor: vendor.title.clone(), said }),
    }
}

/// The tokens in an answer.
pub(super) fn issued(vendor: &Vendor, body: &[u8]) -> Result<Issued, OAuthError> {
    serde_json::from_slice(body)
        .map_err(|_| OAuthError::Answer("something that is no token".to_owned(), vendor.title.clone()))
}

/// Renews tokens. The old refresh token may be void afterwards, so the new tokens must be kept.
///
/// # Errors
/// The vendor ended the sign-in, refuses, or cannot be asked.
pub(crate) async fn refresh(vendor: &Vendor, http: &Clients, old: &Tokens, now: u64) -> Result<Tokens, OAuthError> {
    let ended = |said: &str| OAuthError::Ended {
        vendor: vendor.title.clone(),
        said: said.to_owned(),
        provider: vendor.provider.clone(),
    };
    let token = old.refresh.as_ref().ok_or_else(|| ended("it cannot be renewed"))?;
    if old.token_url != vendor.token_url {
        // No token goes to a server that did not issue it.
        let (vendor, provider) = (vendor.title.clone(), vendor.provider.clone());
        return Err(OAuthError::OtherServer { vendor, provider });
    }
    let mut fields =
        vec![("grant_type", "refresh_token"), ("client_id", &old.client_id), ("refresh_token", token.expose())];
    fields.extend(vendor.resource.as_deref().map(|resource| ("resource", resource)));
    let body = match post(vendor, http, ("token_url", &vendor.token_url), &fields).await? {
        Reply::Good(body) => body,
        Reply::Bad(named) => return Err(not_renewed(vendor, named)),
    };
    let mut issued = issued(vendor, &body)?;
    issued.scope = issued.scope.or_else(|| Some(old.scopes.join(" ")));
    let new = issued.tokens(vendor, &old.client_id, now)?;
    Ok(Tokens {
        // One that does not rotate stays (RFC 6749, 6).
        refresh: new.refresh.or_else(|| old.refresh.clone()),
        name: old.name.clone(),
        subject: old.subject.clone(),
        ..new
    })
}

/// The meaning of a refusal to renew.
fn not_renewed(vendor: &Vendor, Named { code, said }: Named) -> OAuthError {
    let (vendor, provider) = (vendor.title.clone(), vendor.provider.clone());
    if VOID.contains(&code.as_str()) {
        return OAuthError::Ended { vendor, said, provider };
    }
    let login = format!("`azimuth auth login {provider}`");
    let advice = match code.as_str() {
        // The next sign-in would use the client that the vendor does not know any more.
        "invalid_client" => format!("`azimuth auth logout {provider}`, then {login}"),
        _ => login,
    };
    OAuthError::NotRenewed { vendor, said, advice }
}

/// Revokes a sign-in: the refresh token, with which the others end too, else the access token. False if the vendor has
/// no such address.
///
/// # Errors
/// The vendor refuses, or cannot be asked.
pub(crate) async fn revoke(vendor: &Vendor, http: &Clients, tokens: &Tokens) -> Result<bool, OAuthError> {
    let Some(address) = vendor.revoke_url.as_deref().filter(|_| tokens.token_url == vendor.token_url) else {
        return Ok(false);
    };
    let (token, hint) = match &tokens.refresh {
        Some(token) => (token, "refresh_token"),
        None => (&tokens.access, "access_token"),
    };
    let fields = [("token", token.expose()), ("token_type_hint", hint), ("client_id", &tokens.client_id)];
    match post(vendor, http, ("revoke_url", address), &fields).await? {
        Reply::Good(_) => Ok(true),
        Reply::Bad(Named { said, .. }) => Err(OAuthError::Refused { vendor: vendor.title.clone(), said }),
    }
}

/// Posts a form. Gives the vendor's answer, good or bad; a server's own failure is an error.
pub(super) async fn post(
    vendor: &Vendor,
    http: &Clients,
    (name, address): (&str, &str),
    fields: &[(&str, &str)],
) -> Result<Reply, OAuthError> {
    let url = Vendor::address(name, address)
        .map_err(|problem| OAuthError::Address { provider: vendor.provider.clone(), problem })?;
    let form = form(fields);
    let sent = request(vendor, http, &url, async |client| {
        let post = client.post(url.clone()).header(header::ACCEPT, "application/json");
        post.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.clone()).send().await
    });
    let (status, body) = sent.await?;
    let hidden = fields.iter().filter(|(name, _)| !matches!(*name, "grant_type" | "client_id" | "resource" | "scope"));
    let hidden: Vec<_> = hidden.map(|(_, value)| *value).collect();
    match named(&body, &hidden) {
        // GitHub refuses with status 200.
        Some(named) if status < 500 => Ok(Reply::Bad(named)),
        _ if (200..300).contains(&status) => Ok(Reply::Good(body)),
        _ if status >= 500 || status == 429 => Err(unreachable(vendor, format!("it answers with status {status}"))),
        _ => Ok(Reply::Bad(Named { code: String::new(), said: format!("status {status}") })),
    }
}

/// Reads a document of the vendor's.
pub(super) async fn get(vendor: &Vendor, http: &Clients, url: &Url) -> Result<Vec<u8>, OAuthError> {
    let sent = request(vendor, http, url, async |client| client.get(url.clone()).send().await).await?;
    match sent {
        (200, body) => Ok(body),
        (status, _) => Err(unreachable(vendor, format!("it answers with status {status}"))),
    }
}

async fn request(
    vendor: &Vendor,
    http: &Clients,
    url: &Url,
    send: impl AsyncFnOnce(net::Client) -> Result<net::Response, net::HttpError>,
) -> Result<(u16, Vec<u8>), OAuthError> {
    let client = http.client(url).await.map_err(|error| unreachable(vendor, error.to_string()))?;
    let host = url.host_str().unwrap_or_default();
    let work = async {
        // The error's own words hold the address.
        let failed = |error: net::HttpError| {
            let problem = if error.is_connect() { "cannot be reached" } else { "broke the connection off" };
            unreachable(vendor, format!("{host} {problem}"))
        };
        let response = send(client).await.map_err(failed)?;
        let status = response.status().as_u16();
        Ok((status, read(response, BODY).await.map_err(failed)?))
    };
    let late = || unreachable(vendor, format!("{host} does not answer within {} seconds", PATIENCE.as_secs()));
    tokio::time::timeout(PATIENCE, work).await.unwrap_or_else(|_| Err(late()))
}

fn unreachable(vendor: &Vendor, problem: String) -> OAuthError {
    OAuthError::Unreachable { vendor: vendor.title.clone(), problem }
}

/// The fields as a form's body.
fn form(fields: &[(&str, &str)]) -> String {
    let mut url = match Url::parse("http://form/") {
        Ok(url) => url,
        Err(_) => return String::new(),
    };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// The failure in a body, in the protocol's form or with an object for its code, without these texts.
fn named(body: &[u8], hidden: &[&str]) -> Option<Named> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let code = text("/error").or_else(|| text("/error/code")).filter(|code| !code.trim().is_empty())?;
    let words = text("/error_description").or_else(|| text("/error/message"));
    let without =
        |text: &str| hidden.iter().filter(|it| it.len() > 3).fold(text.to_owned(), |it, key| it.replace(key, "…"));
    Some(Named { code: code.to_owned(), said: tidy(&without(code), words.map(without).as_deref()) })
}

/// A vendor's code and words in one line, cut to a sensible length and without what looks like a key.
pub(super) fn tidy(code: &str, words: Option<&str>) -> String {
    let clean = |text: &str| {
        let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = keys::left_out(&line);
        let mut short: String = line.chars().take(WORDS).collect();
        if short.len() < line.len() {
            short.push('…');
        }
        short
    };
    match words.map(clean).filter(|words| !words.is_empty()) {
        Some(words) => format!("{} ({})", words.trim_end_matches('.'), clean(code)),
        None => clean(code),
    }
}

/// True if a token can go into a header.
fn is_token(token: &Secret) -> bool {
    let text = token.expose();
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vendor() -> Vendor {
        let scopes = vec!["a".into(), "b".into()];
        Vendor { title: "V".into(), required_scopes: vec!["b".into()], scopes, ..Vendor::default() }
    }

    fn read(body: &str) -> Result<Tokens, String> {
        let issued = issued(&vendor(), body.as_bytes()).map_err(|error| error.to_string())?;
        issued.tokens(&vendor(), "c", 100).map_err(|error| error.to_string())
    }

    #[test]
    fn tokens_are_read_and_what_is_not_said_is_what_was_asked_for() {
        let tokens =
            read(r#"{"access_token":"at","token_type":"Bearer","expires_in":3600,"refresh_token":"rt"}"#).unwrap();
        assert_eq!((tokens.access.expose(), tokens.lifetime, tokens.issued), ("at", Some(3600), 100));
        assert_eq!((tokens.refresh, tokens.scopes.join(" ")), (Some(Secret::new("rt")), "a b".into()));
        let tokens = read(r#"{"access_token":"at","expires_in":"60","scope":"b x"}"#).unwrap();
        assert_eq!((tokens.lifetime, tokens.refresh, tokens.scopes.len()), (Some(60), None, 2));
        let tokens = read(r#"{"access_token":"at","scope":"b,x"}"#).unwrap();
        assert_eq!((tokens.lifetime, tokens.scopes), (None, vec!["b".to_owned(), "x".to_owned()]));
    }

    #[test]
    fn an_answer_that_is_of_no_use_is_said_to_be_so() {
        for (body, said) in [
            ("<html>", "no token"),
            ("{}", "no access token"),
            (r#"{"access_token":""}"#, "no access token"),
            (r#"{"access_token":"a\nb"}"#, "no access token"),
            (r#"{"access_token":"a","token_type":"mac"}"#, "unknown type"),
            (r#"{"access_token":"a","scope":"a"}"#, "did not grant `b`"),
        ] {
            let error = read(body).unwrap_err();
            assert!(error.contains(said), "{body}: {error}");
        }
    }

    #[test]
    fn failures_are_named_without_the_secrets_that_were_sent() {
        let body = br#"{"error":"invalid_grant","error_description":"Token rt-secret is used."}"#;
        let said = "Token … is used (invalid_grant)".to_owned();
        assert_eq!(named(body, &["rt-secret"]), Some(Named { code: "invalid_grant".into(), said }));
        let body = br#"{"error":{"code":"bad","message":"No\u001b[31m such\nclient"}}"#;
        assert_eq!(named(body, &[]).unwrap().said, "No [31m such client (bad)");
        for body in ["{}", r#"{"access_token":"at","error":""}"#, r#"{"error":" ","error_description":""}"#] {
            assert_eq!(named(body.as_bytes(), &[]), None, "{body}");
        }
        assert!(tidy("e", Some(&"word ".repeat(500))).chars().count() < WORDS + 10);
    }

    #[test]
    fn a_refusal_to_renew_says_what_to_do() {
        let vendor = Vendor { provider: "p".into(), ..vendor() };
        let refused = |code: &str| not_renewed(&vendor, Named { code: code.into(), said: code.into() });
        for code in ["invalid_grant", "refresh_token_reused", "refresh_token_expired", "token_expired"] {
            assert!(matches!(refused(code), OAuthError::Ended { .. }), "{code}");
        }
        for code in ["invalid_client", "invalid_request", ""] {
            let error = refused(code);
            assert!(matches!(error, OAuthError::NotRenewed { .. }), "{code}");
            let said = error.to_string();
            assert!(said.contains("run `azimuth auth log") && said.ends_with("`azimuth auth login p`"), "{said}");
            assert_eq!(said.contains("logout"), code == "invalid_client", "{said}");
        }
    }

    #[test]
    fn forms_are_written_as_browsers_write_them() {
        assert_eq!(form(&[("a", "b c&d"), ("e", "ü=")]), "a=b+c%26d&e=%C3%BC%3D");
    }
}
