//! Placeholders: `<<secret:NAME:tag>>`, with the form of the value between the two where it has one.
//!
//! The name tells the model what it is about. The tag is of the value and a key of this installation, so that the same
//! value has the same placeholder in each request and after a restart, nothing of the value can be computed from it,
//! and no text that was written elsewhere happens to be one.

use std::sync::LazyLock;

use regex::Regex;
use ring::hmac;

/// A placeholder as it may look.
pub const EXAMPLE: &str = "<<secret:GITHUB_TOKEN:k2v7qd4m>>";

/// The beginning of each.
pub(crate) const BEGIN: &str = "<<secret:";
/// The end of each.
pub(crate) const END: &str = ">>";
/// The longest name in one, in characters.
const LONGEST_NAME: usize = 48;
/// The longest there is, in bytes.
pub(crate) const LONGEST: usize = 96;
/// The characters of a tag.
const TAG: usize = 8;

/// The form of every placeholder, of this installation and of others.
pub(crate) static SHAPE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"<<secret:[A-Za-z0-9_.-]{1,48}(?::[a-z0-9]{1,10})?:[a-z2-7]{8}>>").ok());

/// The placeholder of a value in a form.
pub(crate) fn of(key: &hmac::Key, name: &str, form: &str, value: &str) -> String {
    let tag = tag(key, form, value);
    match form {
        "" => format!("{BEGIN}{name}:{tag}{END}"),
        form => format!("{BEGIN}{name}:{form}:{tag}{END}"),
    }
}

/// A name as it stands in a placeholder.
pub(crate) fn name(name: &str) -> String {
    let fitting = |char: char| if char.is_ascii_alphanumeric() || "_.-".contains(char) { char } else { '_' };
    let name: String = name.chars().take(LONGEST_NAME).map(fitting).collect();
    if name.is_empty() { "_".to_owned() } else { name }
}

/// True for the characters that stand in one between its beginning and its end.
pub(crate) fn is_within(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.-:".contains(&byte)
}

fn tag(key: &hmac::Key, form: &str, value: &str) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let signed = hmac::sign(key, format!("{form}\0{value}").as_bytes());
    let bits = signed.as_ref().iter().take(5).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let letter = |at: usize| LETTERS.get((bits >> (5 * at) & 31) as usize).copied().map_or('a', char::from);
    (0..TAG).map(letter).collect()
}
