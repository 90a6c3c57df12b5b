//! Where something stands in a file of the configuration.

use std::fmt;

use toml::de::{DeTable, DeValue};

/// The line of a provider in a TOML file with this text, from 1.
pub(crate) fn of_provider(text: &str, name: &str) -> Option<usize> {
    Way::default().field("providers").field(name).line_in(text)
}

/// A way into a configuration, from its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way(Vec<Step>);

/// A step of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// To a field.
    Field(String),
    /// To an entry of a list, from 0.
    Entry(usize),
}

impl Way {
    /// The way that goes on to a field.
    pub(super) fn field(&self, name: &str) -> Self {
        self.then(Step::Field(name.to_owned()))
    }

    /// The way that goes on to an entry of a list, from 0.
    pub(super) fn entry(&self, at: usize) -> Self {
        self.then(Step::Entry(at))
    }

    fn then(&self, step: Step) -> Self {
        Self(self.0.iter().cloned().chain([step]).collect())
    }

    /// The line in a TOML file on which the last step stands that there is, from 1; none if the first is not there.
    pub(super) fn line_in(&self, text: &str) -> Option<usize> {
        let root = DeTable::parse(text).ok()?;
        let mut here = None;
        let mut table = Some(root.get_ref());
        let mut list = None;
        for step in &self.0 {
            let (start, value) = match step {
                Step::Field(name) => {
                    let found = table.and_then(|table| table.iter().find(|(key, _)| key.get_ref().as_ref() == name));
                    let Some((key, value)) = found else { break };
                    (key.span().start, value.get_ref())
                }
                Step::Entry(at) => {
                    let Some(value) = list.and_then(|list: &toml::de::DeArray<'_>| list.get(*at)) else { break };
                    (value.span().start, value.get_ref())
                }
            };
            here = Some(start);
            table = value.as_table();
            list = if let DeValue::Array(list) = value { Some(list) } else { None };
        }
        Some(text.get(..here?)?.matches('\n').count() + 1)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if at == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Entry(entry) => write!(f, "[{entry}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_last_step_that_is_there() {
        let text = "model = 'a'\n\n[providers.mine]\nbase_url = 'b'\n\n[[providers.mine.model]]\nid = 'c'\n\n\
                    [[providers.mine.model]]\nid = 'd'\nprice = { input = 1, output = 'much' }\n";
        let mine = Way::default().field("providers").field("mine");
        let second = mine.field("model").entry(1);
        assert_eq!(second.field("price").field("output").to_string(), "providers.mine.model[1].price.output");
        for (way, line) in [
            (mine.field("base_url"), Some(4)),
            (second.field("price").field("output"), Some(11)),
            (second.field("id"), Some(10)),
            (mine.field("model").entry(0).field("name"), Some(6)),
            (Way::default().field("nothing"), None),
        ] {
            assert_eq!(way.line_in(text), line, "{way}");
        }
    }
}
