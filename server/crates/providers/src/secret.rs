//! Texts that must never be shown.

use std::fmt;

/// A key, or another text that only one server may see. Shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key with this text; blanks around it, as copying leaves them, are taken off.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key's text, to be sent to its provider and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
