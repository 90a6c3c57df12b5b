//! Paths out of `file:` URIs, for people and for rules.

/// The path of a `file:` URI, its escapes undone; none for other URIs.
pub(crate) fn path_of(uri: &str) -> Option<String> {
    let escaped = uri.strip_prefix("file://")?;
    let bytes = escaped.as_bytes();
    let mut path = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = escaped.get(at + 1..at + 3).filter(|_| byte == b'%');
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(code) => {
                path.push(code);
                at += 3;
            }
            None => {
                path.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(path).ok()
}
