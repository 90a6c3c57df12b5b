//! Names of files, which are any bytes on one system and nearly text on another. `OsStr::as_encoded_bytes` reads one
//! everywhere.

use std::ffi::OsString;

/// The name with these bytes; none if the system has none with them.
#[cfg(unix)]
pub fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    Some(<OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes))
}

/// The name with these bytes; none if they are no UTF-8. Names that are no Unicode cannot be made here.
#[cfg(not(unix))]
pub fn from_bytes(bytes: Vec<u8>) -> Option<OsString> {
    String::from_utf8(bytes).ok().map(OsString::from)
}
