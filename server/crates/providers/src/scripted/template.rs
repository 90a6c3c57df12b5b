//! Texts with values in them: `${name}`.

use std::collections::HashMap;

use serde_json::Value;

/// Values by name.
pub(super) type Values = HashMap<String, String>;

/// A text, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Value { name: String, number: Option<i64> },
}

impl Template {
    /// Takes a text apart.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let (before, from) = rest.split_at(at);
            let inner = from.get(2..).unwrap_or_default();
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = inner;
                continue;
            }
            plain.push_str(before);
            let Some((value, after)) = inner.split_once('}') else {
                return Err(format!("`${{` without its `}}` in `{text}`; a `${{` that stands for itself is `$${{`"));
            };
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::parse(value)?);
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self { parts })
    }

    /// The text with its values.
    pub(super) fn fill(&self, values: &Values) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text.push_str(plain),
                Part::Value { name, number: None } => text.push_str(value(values, name)?),
                Part::Value { name, number: Some(offset) } => {
                    text.push_str(&integer(values, name, *offset)?.to_string())
                }
            }
        }
        Ok(text)
    }

    /// True if a text can be this one with some values: its plain parts stand in it in order, at the beginning and end
    /// where they do here.
    pub(super) fn fits(&self, text: &str) -> bool {
        let mut rest = text;
        for (at, part) in self.parts.iter().enumerate() {
            let Part::Text(plain) = part else { continue };
            let is_last = at + 1 == self.parts.len();
            let found = match at {
                0 if is_last => return rest == plain,
                0 => rest.starts_with(plain.as_str()).then_some(0),
                _ if is_last => return rest.ends_with(plain.as_str()),
                _ => rest.find(plain.as_str()),
            };
            let Some(found) = found else { return false };
            rest = rest.get(found + plain.len()..).unwrap_or_default();
        }
        !self.parts.is_empty() || text.is_empty()
    }

    /// The number that the text comes to, where it is nothing but a number.
    fn number(&self, values: &Values) -> Option<Result<i64, String>> {
        match self.parts.as_slice() {
            [Part::Value { name, number: Some(offset) }] => Some(integer(values, name, *offset)),
            _ => None,
        }
    }
}

impl Part {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, kind) = text.split_once(':').map_or((text, None), |(name, kind)| (name, Some(kind)));
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let number = match kind {
            None => Some(None),
            Some("int") => Some(Some(0)),
            Some(kind) => kind.strip_prefix("int").and_then(|offset| offset.parse().ok()).map(Some),
        };
        match number {
            Some(number) if is_name => Ok(Self::Value { name: name.to_owned(), number }),
            _ => Err(format!(
                "`${{{text}}}` is no value; values are `${{name}}`, `${{name:int}}` and `${{name:int+1}}`, and a \
                 `${{` that stands for itself is `$${{`"
            )),
        }
    }
}

/// A tool's input, with the strings in it taken apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Input {
    Plain(Value),
    Text(Template),
    List(Vec<Input>),
    Object(Vec<(String, Input)>),
}

impl Input {
    pub(super) fn parse(value: &Value) -> Result<Self, String> {
        Ok(match value {
            Value::String(text) => Self::Text(Template::parse(text)?),
            Value::Array(items) => Self::List(items.iter().map(Self::parse).collect::<Result<_, _>>()?),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| Ok::<_, String>((name.clone(), Self::parse(value)?)));
                Self::Object(fields.collect::<Result<_, _>>()?)
            }
            plain => Self::Plain(plain.clone()),
        })
    }

    pub(super) fn fill(&self, values: &Values) -> Result<Value, String> {
        Ok(match self {
            Self::Plain(value) => value.clone(),
            Self::Text(template) => match template.number(values) {
                Some(number) => number?.into(),
                None => template.fill(values)?.into(),
            },
            Self::List(items) => items.iter().map(|item| item.fill(values)).collect::<Result<_, _>>()?,
            Self::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| Ok::<_, String>((name.clone(), value.fill(values)?)));
                Value::Object(fields.collect::<Result<_, _>>()?)
            }
        })
    }
}

fn value<'a>(values: &'a Values, name: &str) -> Result<&'a str, String> {
    values.get(name).map(String::as_str).ok_or_else(|| format!("the script uses `${{{name}}}`, which no capture gave"))
}

fn integer(values: &Values, name: &str, offset: i64) -> Result<i64, String> {
    let text = value(values, name)?;
    let number: Option<i64> = text.trim().parse().ok();
    let sum = number.and_then(|number| number.checked_add(offset));
    sum.ok_or_else(|| format!("the script uses `${{{name}}}` as a number, but it is `{text}`"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values() -> Values {
        [("path", "a.rs"), ("line", "12")].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn fill(text: &str) -> Result<String, String> {
        Template::parse(text)?.fill(&values())
    }

    #[test]
    fn values_are_put_in() {
        assert_eq!(fill("in ${path}:${line}!").unwrap(), "in a.rs:12!");
        assert_eq!(fill("${line:int-2}..${line:int+2}").unwrap(), "10..14");
        assert_eq!(fill("plain $ {").unwrap(), "plain $ {");
        assert_eq!(fill("echo $${HOME}").unwrap(), "echo ${HOME}");
    }

    #[test]
    fn what_cannot_be_put_in_is_named() {
        assert!(fill("${nothing}").unwrap_err().contains("${nothing}"));
        assert!(fill("${path:int}").unwrap_err().contains("`a.rs`"));
        for wrong in ["${", "${}", "${a b}", "${line:float}", "${line:int+x}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_string_that_is_a_number_becomes_one_within_an_input() {
        let input = json!({"path": "${path}", "at": ["${line:int+1}", true], "note": "line ${line:int}"});
        let filled = Input::parse(&input).unwrap().fill(&values()).unwrap();
        assert_eq!(filled, json!({"path": "a.rs", "at": [13, true], "note": "line 12"}));
    }

    #[test]
    fn a_text_is_known_again_whatever_its_values_were() {
        let fits = |template: &str, text: &str| Template::parse(template).unwrap().fits(text);
        assert!(fits("in ${path}:${line}!", "in b.rs:1!"));
        assert!(fits("done", "done") && fits("", ""));
        assert!(fits("${path}", "anything"));
        for (template, text) in [
            ("done", "don"),
            ("done", "done."),
            ("in ${path}!", "in b.rs"),
            ("", "x"),
            ("in ${path}", "on b"),
            ("a${x}b${y}c", "ac"),
        ] {
            assert!(!fits(template, text), "{template} / {text}");
        }
    }
}
