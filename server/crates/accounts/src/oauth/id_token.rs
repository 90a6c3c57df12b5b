//! The check of an id token: who signed in, signed by the vendor for this client and this sign-in (OpenID Connect Core
//! 1.0, 3.1.3.7). Only RS256 is taken, which every vendor must have.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use net::Clients;
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{OAuthError, token};
use crate::vendor::Vendor;

/// By how many seconds the clocks of this machine and the vendor may differ.
const SKEW: u64 = 300;

/// The claims of an id token.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Claims {
    /// The vendor's id of the account.
    pub(super) sub: String,
    iss: String,
    aud: Value,
    azp: Option<String>,
    exp: f64,
    nonce: Option<String>,
    email: Option<String>,
    name: Option<String>,
}

impl Claims {
    /// The account for people: its address, else its name.
    pub(super) fn name(&self) -> Option<String> {
        let name = self.email.as_ref().or(self.name.as_ref())?;
        Some(name.chars().filter(|c| !c.is_control()).take(100).collect())
    }
}

/// A vendor's keys (RFC 7517).
#[derive(Debug, Deserialize)]
pub(super) struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

/// Reads the keys of a vendor whose id tokens are checked. This comes before a code is used, which counts once.
///
/// # Errors
/// The keys cannot be read.
pub(super) async fn keys(vendor: &Vendor, http: &Clients) -> Result<Option<Keys>, OAuthError> {
    let Some(address) = &vendor.jwks_url else { return Ok(None) };
    let address = Vendor::address("jwks_url", address)
        .map_err(|problem| OAuthError::Address { provider: vendor.provider.clone(), problem })?;
    let keys = token::get(vendor, http, &address).await?;
    let wrong = |_| OAuthError::Answer("something that is no set of keys".to_owned(), vendor.title.clone());
    serde_json::from_slice(&keys).map(Some).map_err(wrong)
}

/// Checks the id token of a sign-in. `nonce` is what the page was given, if there was one.
///
/// # Errors
/// There is none, or it does not hold.
pub(super) fn check(
    vendor: &Vendor,
    keys: &Keys,
    text: Option<&str>,
    client_id: &str,
    nonce: Option<&str>,
    now: u64,
) -> Result<Claims, OAuthError> {
    let wrong = |problem: &str| OAuthError::Answer(problem.to_owned(), vendor.title.clone());
    let text = text.ok_or_else(|| wrong("no id token"))?;
    let issuer = vendor.issuer.as_deref().unwrap_or_default();
    verified(text, keys, &Wanted { issuer, client_id, nonce, now })
        .map_err(|problem| wrong(&format!("an id token that does not hold: {problem}")))
}

/// The claims that an id token must have.
struct Wanted<'a> {
    issuer: &'a str,
    client_id: &'a str,
    nonce: Option<&'a str>,
    now: u64,
}

fn verified(text: &str, keys: &Keys, wanted: &Wanted<'_>) -> Result<Claims, &'static str> {
    #[derive(Deserialize)]
    struct Head {
        alg: String,
        kid: Option<String>,
    }
    let (signed, signature) = text.rsplit_once('.').ok_or("it has no signature")?;
    let (head, claims) = signed.split_once('.').ok_or("it has no claims")?;
    let head: Head = part(head).ok_or("its head cannot be read")?;
    if head.alg != "RS256" {
        return Err("it is signed in another way than RS256");
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "its signature cannot be read")?;
    let fits = |key: &&Key| {
        key.kty == "RSA"
            && key.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && (head.kid.is_none() || key.kid == head.kid)
    };
    let holds = |key: &Key| {
        let number = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_deref()?.trim_end_matches('=')).ok();
        let (Some(n), Some(e)) = (number(&key.n), number(&key.e)) else { return false };
        let key = RsaPublicKeyComponents { n, e };
        key.verify(&RSA_PKCS1_2048_8192_SHA256, signed.as_bytes(), &signature).is_ok()
    };
    if !keys.keys.iter().filter(fits).any(holds) {
        return Err("none of the vendor's keys signed it");
    }
    let claims: Claims = part(claims).ok_or("its claims cannot be read")?;
    judge(claims, wanted)
}

fn judge(claims: Claims, wanted: &Wanted<'_>) -> Result<Claims, &'static str> {
    let audience: Vec<_> = match &claims.aud {
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    if claims.iss.trim_end_matches('/') != wanted.issuer.trim_end_matches('/') {
        return Err("it is another issuer's");
    }
    if !audience.contains(&wanted.client_id) {
        return Err("it is for another program");
    }
    let is_ours = claims.azp.as_deref().is_none_or(|party| party == wanted.client_id);
    if !is_ours || (audience.len() > 1 && claims.azp.is_none()) {
        return Err("it was given to another program");
    }
    if wanted.nonce.is_some() && claims.nonce.as_deref() != wanted.nonce {
        return Err("it is of another sign-in");
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit for millions of years")]
    if claims.exp + (SKEW as f64) < wanted.now as f64 {
        return Err("it has expired; check this machine's clock");
    }
    if claims.sub.is_empty() {
        return Err("it names no account");
    }
    Ok(claims)
}

fn part<T: DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // The token of RFC 7515, appendix A.2, whose claims are not those of a sign-in.
    const HEAD: &str = "eyJhbGciOiJSUzI1NiJ9";
    const CLAIMS: &str =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    const SIGNATURE: &str = "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
    const MODULUS: &str = "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ";

    fn keys(kid: Option<&str>) -> Keys {
        Keys {
            keys: vec![Key {
                kty: "RSA".into(),
                kid: kid.map(str::to_owned),
                purpose: None,
                n: Some(MODULUS.into()),
                e: Some("AQAB".into()),
            }],
        }
    }

    fn wanted() -> Wanted<'static> {
        Wanted { issuer: "https://v.example", client_id: "us", nonce: Some("n"), now: 1_000 }
    }

    fn claims() -> Claims {
        Claims {
            sub: "u".into(),
            iss: "https://v.example/".into(),
            aud: "us".into(),
            azp: None,
            exp: 1_600.0,
            nonce: Some("n".into()),
            email: None,
            name: Some("Me\n".into()),
        }
    }

    #[test]
    fn a_signature_is_checked_before_the_claims() {
        let token = format!("{HEAD}.{CLAIMS}.{SIGNATURE}");
        // The signature holds, so what is missed is what a sign-in's claims have.
        assert_eq!(verified(&token, &keys(None), &wanted()), Err("its claims cannot be read"));
        let forged = format!("{HEAD}.{}.{SIGNATURE}", CLAIMS.replace("MDA4", "MDA5"));
        assert_eq!(verified(&forged, &keys(None), &wanted()), Err("none of the vendor's keys signed it"));
        assert_eq!(verified(&token, &Keys { keys: vec![] }, &wanted()), Err("none of the vendor's keys signed it"));
        let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        let none = format!("{none}.{CLAIMS}.");
        assert_eq!(verified(&none, &keys(None), &wanted()), Err("it is signed in another way than RS256"));
        for garbage in ["", ".", "..", "a.b.c"] {
            assert!(verified(garbage, &keys(None), &wanted()).is_err(), "{garbage}");
        }
    }

    #[test]
    fn claims_of_another_sign_in_are_refused() {
        assert_eq!(judge(claims(), &wanted()).unwrap().name().as_deref(), Some("Me"));
        let both = Claims { aud: serde_json::json!(["us", "them"]), ..claims() };
        assert!(judge(Claims { azp: Some("us".into()), ..both.clone() }, &wanted()).is_ok());
        // A device has none.
        assert!(judge(Claims { nonce: None, ..claims() }, &Wanted { nonce: None, ..wanted() }).is_ok());
        for wrong in [
            Claims { iss: "https://w.example".into(), ..claims() },
            Claims { aud: "them".into(), ..claims() },
            Claims { azp: Some("them".into()), ..claims() },
            both,
            Claims { nonce: None, ..claims() },
            Claims { nonce: Some("m".into()), ..claims() },
            Claims { exp: 699.0, ..claims() },
            Claims { sub: String::new(), ..claims() },
        ] {
            assert!(judge(wrong.clone(), &wanted()).is_err(), "{wrong:?}");
        }
    }
}
