//! The assertion by which a service account asks for a token: a JSON Web Token that it signs with its key (RFC 7523).

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;

use super::file::ServiceAccount;
use crate::Secret;

/// The rights that are asked for: all that the account has in Google Cloud, as Google's own libraries for Vertex ask.
pub(super) const SCOPE: &str = "https://www.googleapis.com/auth/cloud-platform";
/// The time for which an assertion counts, in seconds. It is the longest that Google takes.
const LIFETIME: u64 = 3_600;

/// The assertion of an account at a time.
///
/// # Errors
/// The key is none; says so, without anything of it.
pub(super) fn assertion(account: &ServiceAccount, at: SystemTime) -> Result<Secret, String> {
    let key = key(account.private_key.expose())?;
    let now = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let mut head = json!({ "alg": "RS256", "typ": "JWT" });
    if let Some(id) = &account.key_id {
        head["kid"] = id.as_str().into();
    }
    let claims = json!({ "iss": account.email, "scope": SCOPE, "aud": account.token_url.as_str(), "iat": now,
        "exp": now.saturating_add(LIFETIME) });
    let text = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let signature = signed(&key, text.as_bytes())?;
    Ok(Secret::new(&format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))))
}

/// The signature of some bytes: RSA with PKCS #1 and SHA-256, which is the same each time.
fn signed(key: &RsaKeyPair, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut signature = vec![0; key.public().modulus_len()];
    let made = key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), bytes, &mut signature);
    made.map_err(|_| "its `private_key` cannot sign".to_owned())?;
    Ok(signature)
}

/// The key in a text in PEM: PKCS #8, as Google writes it, or the older form of RSA alone.
fn key(pem: &str) -> Result<RsaKeyPair, String> {
    let between = |label: &str| {
        let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
        let text: String = rest.split_once("-----END")?.0.split_whitespace().collect();
        Some(STANDARD.decode(text).map_err(|_| "its `private_key` is not base64".to_owned()))
    };
    let key = match (between("PRIVATE KEY"), between("RSA PRIVATE KEY")) {
        (Some(der), _) => RsaKeyPair::from_pkcs8(&der?),
        (None, Some(der)) => RsaKeyPair::from_der(&der?),
        (None, None) => return Err("its `private_key` is not a key in PEM".to_owned()),
    };
    key.map_err(|rejected| format!("its `private_key` is not an RSA key that can be used ({rejected})"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::super::file::{Who, read};
    use super::super::hosts::Hosts;
    use super::super::testing::{KEY, pem, service_account};
    use super::*;

    /// Assertions of google-auth's; `assertions.py` says how they are made.
    const MADE: &str = include_str!("assertion/assertions.json");

    fn account(token_url: &str, key: &str, email: &str, id: Option<&str>) -> ServiceAccount {
        ServiceAccount {
            email: email.to_owned(),
            private_key: Secret::new(key),
            key_id: id.map(str::to_owned),
            token_url: token_url.parse().unwrap(),
        }
    }

    fn parts(assertion: &str) -> [Value; 2] {
        let mut parts = assertion.split('.').map(|part| URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).unwrap());
        [(); 2].map(|()| serde_json::from_slice(&parts.next().unwrap()).unwrap())
    }

    #[test]
    fn an_assertion_says_what_that_of_google_auth_says() {
        let made: Value = serde_json::from_str(MADE).unwrap();
        let entries = made.as_array().unwrap();
        assert!(entries.len() > 4);
        for entry in entries {
            let text = |name: &str| entry[name].as_str().unwrap();
            let at = UNIX_EPOCH + Duration::from_secs(entry["at"].as_u64().unwrap());
            let own = account(text("token_uri"), &pem(), text("email"), entry["key_id"].as_str());
            let own = assertion(&own, at).unwrap();
            assert_eq!(parts(own.expose()), parts(text("assertion")));
        }
    }

    #[test]
    fn the_signature_of_googles_own_text_is_googles() {
        let made: Value = serde_json::from_str(MADE).unwrap();
        for entry in made.as_array().unwrap() {
            let (text, signature) = entry["assertion"].as_str().unwrap().rsplit_once('.').unwrap();
            let own = signed(&key(&pem()).unwrap(), text.as_bytes()).unwrap();
            assert_eq!(URL_SAFE_NO_PAD.encode(own), signature.trim_end_matches('='));
        }
    }

    #[test]
    fn both_forms_of_a_key_are_read_and_others_are_named_without_their_text() {
        // It begins behind the head of the newer form.
        let inner = STANDARD.encode(&KEY[26..]);
        let old = format!("-----BEGIN RSA PRIVATE KEY-----\n{inner}\n-----END RSA PRIVATE KEY-----\n");
        let bytes = |key: &RsaKeyPair| signed(key, b"text").unwrap();
        assert_eq!(bytes(&key(&old).unwrap()), bytes(&key(&pem()).unwrap()));
        assert!(key(&pem().replace('\n', "\r\n")).is_ok());
        let half = pem().chars().filter(|c| *c != 'A').collect::<String>();
        let wrong = "-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----";
        let cases = [
            ("hunter2", "not a key in PEM"),
            (wrong, "not an RSA key"),
            (half.as_str(), "`private_key`"),
            ("-----BEGIN PRIVATE KEY-----\nhunter2!\n-----END PRIVATE KEY-----", "not base64"),
            ("-----BEGIN PRIVATE KEY-----\naHVudGVyMg==", "not a key in PEM"),
        ];
        for (text, named) in cases {
            let problem = key(text).unwrap_err();
            assert!(problem.contains(named) && !problem.contains("hunter2"), "{named}: {problem}");
        }
    }

    #[test]
    fn a_file_of_google_gives_an_assertion() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.json");
        #[expect(clippy::disallowed_methods, reason = "a test writes a file of Google's")]
        std::fs::write(&file, service_account("https://oauth2.googleapis.com/token").to_string()).unwrap();
        let Some(Who::Service(account)) = read(&file, &Hosts::default()).unwrap().map(|kept| kept.who) else {
            panic!()
        };
        assert!(assertion(&account, SystemTime::now()).is_ok());
    }

    proptest! {
        #[test]
        fn a_key_with_anything_in_it_is_refused_and_no_more(text in "\\PC{0,300}") {
            let framed = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----");
            prop_assert!(key(&text).is_err() && key(&framed).is_err());
        }
    }
}
