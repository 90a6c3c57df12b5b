//! Placeholders in a text that comes in pieces. What may be the beginning of one is held back until it is known.

use std::borrow::Cow;

use serde_json::Value;

use crate::masking::{Mask, changed};
use crate::placeholder::{BEGIN, END, LONGEST, is_within};
use crate::secret::in_json;

impl Mask {
    /// A text with the values of its placeholders. One that stands for nothing stays as it is.
    pub fn reveal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() || !text.contains(BEGIN) {
            return text.into();
        }
        let mut revealer = Revealer::of_text();
        let begun = revealer.push(self, text);
        (begun + &revealer.end()).into()
    }

    /// A value of JSON with the values of its placeholders; none if there are none in it.
    pub fn reveal_in(&self, value: &Value) -> Option<Value> {
        changed(value, &|text| self.reveal(text))
    }
}

/// A text that comes in pieces, with the values of its placeholders.
#[derive(Debug)]
pub struct Revealer {
    held: String,
    is_json: bool,
    /// The beginning of an escape in a text of JSON.
    escape: String,
}

impl Revealer {
    /// For plain text.
    pub fn of_text() -> Self {
        Self { held: String::new(), is_json: false, escape: String::new() }
    }

    /// For the text of a JSON value: values are written as they stand within its strings.
    pub fn of_json() -> Self {
        Self { held: String::new(), is_json: true, escape: String::new() }
    }

    /// Takes a piece. Gives what is certain by now.
    pub fn push(&mut self, mask: &Mask, piece: &str) -> String {
        let piece = if self.is_json { Cow::Owned(self.with_marks(piece)) } else { piece.into() };
        let text = std::mem::take(&mut self.held) + &piece;
        let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(at) = rest.find(BEGIN) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            match end_of(from) {
                Some(Ok(end)) => {
                    let (placeholder, behind) = from.split_at(end);
                    match mask.value_of(placeholder) {
                        Some(value) if self.is_json => out.push_str(&in_json(&value)),
                        Some(value) => out.push_str(&value),
                        None => out.push_str(placeholder),
                    }
                    rest = behind;
                }
                Some(Err(NoPlaceholder)) => {
                    let (begin, behind) = from.split_at(BEGIN.len());
                    out.push_str(begin);
                    rest = behind;
                }
                None => {
                    from.clone_into(&mut self.held);
                    return out;
                }
            }
        }
        let held = (1..BEGIN.len()).rev().find(|most| BEGIN.get(..*most).is_some_and(|begin| rest.ends_with(begin)));
        let (sure, held) = rest.split_at(rest.len() - held.unwrap_or_default());
        out.push_str(sure);
        held.clone_into(&mut self.held);
        out
    }

    /// The text ends. Gives what was held back.
    pub fn end(&mut self) -> String {
        std::mem::take(&mut self.held) + &std::mem::take(&mut self.escape)
    }

    /// A piece of JSON in which `<` and `>` stand as they are: some servers write them as `\u003c` and `\u003e`, which
    /// is the same.
    fn with_marks(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.escape) + piece;
        let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(at) = rest.find('\\') {
            let (before, escape) = rest.split_at(at);
            out.push_str(before);
            let is = |whole: &str| escape.get(..6).is_some_and(|escape| escape.eq_ignore_ascii_case(whole));
            let (mark, length) = match escape.as_bytes().get(1) {
                Some(b'u') if is("\\u003c") => ("<", 6),
                Some(b'u') if is("\\u003e") => (">", 6),
                Some(b'u') | None if escape.len() < 6 => {
                    escape.clone_into(&mut self.escape);
                    return out;
                }
                // A backslash after this one is not the beginning of another escape.
                _ => ("", escape.chars().take(2).map(char::len_utf8).sum()),
            };
            let (same, behind) = escape.split_at(length);
            out.push_str(if mark.is_empty() { same } else { mark });
            rest = behind;
        }
        out + rest
    }
}

/// A text that begins like a placeholder is none.
struct NoPlaceholder;

/// The end of the placeholder at the beginning of a text, if it is one; none if that is not known yet.
fn end_of(text: &str) -> Option<Result<usize, NoPlaceholder>> {
    let within = text.bytes().skip(BEGIN.len()).take_while(|byte| is_within(*byte)).count();
    let end = BEGIN.len() + within;
    if end > LONGEST {
        return Some(Err(NoPlaceholder));
    }
    let rest = text.get(end..).unwrap_or_default();
    if rest.starts_with(END) {
        return Some(Ok(end + END.len()));
    }
    (!END.starts_with(rest)).then_some(Err(NoPlaceholder))
}
