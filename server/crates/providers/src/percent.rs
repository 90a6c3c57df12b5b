//! Percent-encoding, as AWS wants it in paths and signatures.

/// A text in which all but letters, digits and `-._~` is `%` and two hexadecimal digits.
pub(crate) fn encoded(text: impl AsRef<[u8]>) -> String {
    let mut encoded = String::new();
    for byte in text.as_ref() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(*byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}
