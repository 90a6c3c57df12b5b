//! Paths as `file:` URIs and back (RFC 8089); the only place where either becomes the other.

use std::path::{Path, PathBuf};

use super::PathError;

/// The `file:` URI of an absolute path. Every byte is escaped but letters, digits, `-._~` and the slashes.
pub fn to_uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

/// The path of a `file:` URI, absolute, not yet checked against any workspace. Escapes may be in either case, and
/// characters that need none may have one (VS Code writes `:` as `%3A`) or lack one.
///
/// # Errors
/// [`PathError::NotAFileUri`] for another scheme or host, [`PathError::Malformed`] for bad escapes.
pub fn from_uri(uri: &str) -> Result<PathBuf, PathError> {
    let not_a_file = || PathError::NotAFileUri(uri.to_owned());
    let malformed = |reason| PathError::Malformed { path: uri.to_owned(), reason };
    let (scheme, rest) = uri.split_once(':').ok_or_else(not_a_file)?;
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(not_a_file());
    }
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_at(rest.find('/').ok_or_else(not_a_file)?);
            if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
                return Err(not_a_file());
            }
            &rest[host.len()..]
        }
        None if rest.starts_with('/') => rest,
        None => return Err(not_a_file()),
    };
    // Cutting them off could name another file.
    if path.contains(['?', '#']) {
        return Err(malformed("it has a query or a fragment; escape `?` and `#`"));
    }
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [byte, behind @ ..] = rest {
        rest = behind;
        match (byte, behind) {
            (b'%', [high, low, behind @ ..]) => {
                let byte = hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low);
                bytes.push(byte.ok_or_else(|| malformed("it has a bad `%` escape"))?);
                rest = behind;
            }
            (b'%', _) => return Err(malformed("it has a bad `%` escape")),
            _ => bytes.push(*byte),
        }
    }
    if bytes.contains(&0) {
        return Err(malformed("it has a NUL in it"));
    }
    platform::names::from_bytes(bytes).map(PathBuf::from).ok_or_else(|| malformed("it is not UTF-8"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_editors_write_is_understood() {
        for (uri, path) in [
            ("file:///a/b.rs", "/a/b.rs"),
            ("file:///c%3A/x%20y.rs", "/c:/x y.rs"),
            ("file:///c%3a/caf%C3%A9", "/c:/café"),
            ("file:///raw café", "/raw café"),
            ("file://localhost/a", "/a"),
            ("FILE:/a", "/a"),
        ] {
            assert_eq!(from_uri(uri).unwrap(), Path::new(path), "{uri}");
        }
        assert_eq!(to_uri(Path::new("/a b/c:d/é.rs")), "file:///a%20b/c%3Ad/%C3%A9.rs");
    }

    #[test]
    fn what_is_no_local_file_is_refused() {
        for uri in
            ["untitled:1", "http://x/a", "file://host/a", "file:a", "file://", "nothing", "file:///a%2", "file:///%zz"]
        {
            assert!(from_uri(uri).is_err(), "{uri}");
        }
        for uri in ["file:///a%00b", "file:///a#L3", "file:///a?b"] {
            assert!(matches!(from_uri(uri), Err(PathError::Malformed { .. })), "{uri}");
        }
    }

    proptest! {
        #[test]
        fn every_path_comes_back_from_its_uri(bytes in prop::collection::vec(1..=255_u8, 0..20)) {
            let path = PathBuf::from(platform::names::from_bytes([b"/", bytes.as_slice()].concat()).unwrap());
            let uri = to_uri(&path);
            prop_assert!(uri.is_ascii());
            prop_assert_eq!(from_uri(&uri).unwrap().into_os_string(), path.into_os_string());
        }

        #[test]
        fn no_string_brings_it_down(text in "\\PC{0,20}", tail in "[%/a0#?]{0,8}") {
            let _ = from_uri(&text);
            let _ = from_uri(&format!("file://{tail}"));
        }
    }
}
