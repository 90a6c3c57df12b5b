//! Random texts that nobody can guess.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::OAuthError;

/// 256 random bits as a text that may stand in an address. It is long enough for a verifier (RFC 7636, 4.1).
pub(super) fn text() -> Result<String, OAuthError> {
    Ok(URL_SAFE_NO_PAD.encode(bytes::<32>()?))
}

/// The challenge of a verifier by the method S256 (RFC 7636, 4.2).
pub(super) fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

/// A random UUID (RFC 9562, 5.4).
pub(crate) fn uuid() -> Result<String, OAuthError> {
    let mut bytes = bytes::<16>()?;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let mut text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    for at in [20, 16, 12, 8] {
        text.insert(at, '-');
    }
    Ok(text)
}

fn bytes<const N: usize>() -> Result<[u8; N], OAuthError> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| OAuthError::NoRandom)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_specification() {
        // RFC 7636, appendix B.
        let challenge = challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn random_texts_differ_and_have_their_form() {
        let (one, other) = (text().unwrap(), text().unwrap());
        assert_ne!(one, other);
        assert_eq!(one.len(), 43);
        let uuid = uuid().unwrap();
        let lengths: Vec<_> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(uuid.as_bytes()[14], b'4');
        assert!(b"89ab".contains(&uuid.as_bytes()[19]), "{uuid}");
    }
}
