//! A secret, and the forms in which its value is looked for.

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use regex::Regex;

/// The shortest value that is hidden, in bytes: a shorter one stands in ordinary words.
pub const SHORTEST: usize = 4;
/// A value that nobody listed is hidden from this length on, in bytes.
const SHORTEST_FOUND: usize = 8;
/// A value without digits that nobody listed is hidden from this length on: shorter ones are words, as `localhost` is.
const SHORTEST_WORD: usize = 20;
/// A line of a longer secret, such as a private key, is hidden by itself from this length on.
const SHORTEST_LINE: usize = 16;

/// A secret that models do not see.
#[derive(Clone, Debug)]
pub struct Secret {
    /// Its name, which the model sees: that of a variable, or the user's.
    pub name: String,
    /// Where it is from, in words for the user.
    pub source: String,
    /// The texts that are looked for.
    pub looks: Looks,
    /// The text that stands for it and is not turned back; none for a placeholder.
    pub replace_with: Option<String>,
}

/// The texts that are looked for.
#[derive(Clone)]
pub enum Looks {
    /// This value.
    Value(String),
    /// Whatever fits this pattern.
    Pattern(Regex),
}

impl std::fmt::Debug for Looks {
    /// Without the value.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(…)"),
            Self::Pattern(pattern) => f.debug_tuple("Pattern").field(pattern).finish(),
        }
    }
}

impl PartialEq for Looks {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(one), Self::Value(other)) => one == other,
            (Self::Pattern(one), Self::Pattern(other)) => one.as_str() == other.as_str(),
            _ => false,
        }
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.source, &self.looks, &self.replace_with)
            == (&other.name, &other.source, &other.looks, &other.replace_with)
    }
}

/// True if a value that nobody listed, as that of a variable named `…_TOKEN`, is hidden: one that is too long to stand
/// in an ordinary text. So `production`, `postgres` and `12345678` stay as they are.
pub fn is_worth_hiding(value: &str) -> bool {
    let has = |is: fn(&char) -> bool| value.chars().any(|char| is(&char));
    let is_mixed = has(char::is_ascii_digit) && has(|char| char.is_alphabetic());
    let is_varied = value.chars().next().is_some_and(|first| value.chars().any(|char| char != first));
    let is_long = value.len() >= SHORTEST_WORD && has(|char| char.is_alphabetic());
    value.len() >= SHORTEST_FOUND && is_varied && (is_mixed || is_long)
}

/// A form in which a value is looked for.
pub(crate) struct Form {
    /// The name of the form; empty for the value as it is.
    pub(crate) name: String,
    /// The text in this form.
    pub(crate) text: String,
}

/// The forms of a value: as it is; in JSON, in a URL and in base64, where these differ; and of a long one with several
/// lines, each line.
pub(crate) fn forms(value: &str) -> Vec<Form> {
    let form = |name: &str, text: String| Form { name: name.to_owned(), text };
    let mut forms = vec![form("", value.to_owned()), form("json", in_json(value)), form("url", in_url(value))];
    forms.push(form("base64", STANDARD_NO_PAD.encode(value)));
    let lines = value.lines().map(str::trim).zip(1..).filter(|_| value.contains('\n'));
    let lines = lines.filter(|(line, _)| line.len() >= SHORTEST_LINE && !line.starts_with("-----"));
    forms.extend(lines.map(|(line, number): (_, u32)| form(&format!("line{number}"), line.to_owned())));
    forms.retain(|form| form.name.is_empty() || form.text != value);
    forms
}

/// A text as it stands within a string of JSON.
pub(crate) fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// A text as it stands in a part of a URL: all but letters, digits and `-._~` is in percent.
fn in_url(text: &str) -> String {
    let mut url = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => url.push(char::from(byte)),
            _ => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}
