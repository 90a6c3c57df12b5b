//! Names of tools, made to fit what a vendor takes, and found again in its answers. Our own fit everywhere; a model may
//! call one that there is not, and such a call stays in the conversation too.

use std::borrow::Cow;

use ports::model::ToolSpec;

use crate::hash::fnv1a;

/// The rule of a vendor for the names that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Letters, digits, `_` and `-`, at most 64 of them (OpenAI, Anthropic, Bedrock).
    Plain,
    /// Letters, digits and `_`, at most 64 of them (Amazon's Nova).
    NoHyphen,
    /// First a letter or `_`, then letters, digits, `_`, `.`, `:` and `-`, at most 128 in all
    /// (`FunctionDeclaration.name` of npm `@google/genai` 3.1).
    Gemini,
}

/// The name as the vendor takes it: itself if it fits, else one made from it, always the same.
pub(super) fn fit(name: &str, rule: Rule) -> Cow<'_, str> {
    let begins_well = match rule {
        Rule::Plain | Rule::NoHyphen => !name.is_empty(),
        Rule::Gemini => name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'),
    };
    if begins_well && name.len() <= rule.longest() && name.chars().all(|c| rule.takes(c)) {
        return Cow::Borrowed(name);
    }
    // The hash keeps two names apart that differ only in what does not fit.
    let hash = format!("_{:016x}", fnv1a(name.as_bytes()));
    let kept = name.chars().map(|c| if rule.takes(c) { c } else { '_' });
    let start = if begins_well { "" } else { "_" };
    let made: String = start.chars().chain(kept).take(rule.longest() - hash.len()).collect();
    Cow::Owned(made + &hash)
}

impl Rule {
    /// The most bytes of a name.
    fn longest(self) -> usize {
        match self {
            Self::Plain | Self::NoHyphen => 64,
            Self::Gemini => 128,
        }
    }

    fn takes(self, c: char) -> bool {
        let more = match self {
            Self::Plain => "_-",
            Self::NoHyphen => "_",
            Self::Gemini => "_.:-",
        };
        c.is_ascii_alphanumeric() || more.contains(c)
    }
}

/// The tools whose names do not fit.
#[derive(Debug, Default)]
pub(super) struct Renamed(Vec<(String, String)>);

impl Renamed {
    pub(super) fn of(tools: &[ToolSpec], rule: Rule) -> Self {
        let renamed = tools.iter().filter_map(|tool| match fit(&tool.name, rule) {
            Cow::Borrowed(_) => None,
            Cow::Owned(made) => Some((made, tool.name.clone())),
        });
        Self(renamed.collect())
    }

    /// The tool's own name.
    pub(super) fn own(&self, name: &str) -> String {
        let own = self.0.iter().find(|(made, _)| made == name).map(|(_, own)| own.as_str());
        own.unwrap_or(name).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec { name: name.into(), description: String::new(), input_schema: json!({}) }
    }

    #[test]
    fn a_name_that_fits_stays_as_it_is() {
        for name in ["read_file", "_x", "mcp.server:tool-2", &"a".repeat(128)] {
            assert_eq!(fit(name, Rule::Gemini), name);
        }
        assert_eq!(fit("mcp-Server_2", Rule::Plain), "mcp-Server_2");
        assert_eq!(fit("2", Rule::Plain), "2");
    }

    proptest! {
        #[test]
        fn every_name_is_made_to_fit_and_found_again(names in prop::collection::hash_set(".{0,200}", 1..4)) {
            let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
            let renamed = Renamed::of(&tools, Rule::Gemini);
            for name in &names {
                let made = fit(name, Rule::Gemini);
                prop_assert!((1..=128).contains(&made.len()));
                prop_assert!(made.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
                prop_assert!(made.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c)));
                prop_assert_eq!(&made, &fit(name, Rule::Gemini));
                prop_assert_eq!(&renamed.own(&made), name);
                let plain = fit(name, Rule::Plain);
                prop_assert!((1..=64).contains(&plain.len()));
                prop_assert!(plain.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
                prop_assert!(!fit(name, Rule::NoHyphen).contains('-'));
            }
        }
    }
}
