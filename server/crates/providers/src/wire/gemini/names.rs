//! Names of functions, made to fit what the vendor takes, and found again in its answers.

use std::borrow::Cow;

use ports::model::ToolSpec;

use crate::hash::fnv1a;

/// The most bytes of a name (`FunctionDeclaration.name` of npm `@google/genai` 3.1).
const LONGEST: usize = 128;

/// The name as the vendor takes it: itself if it fits, else one made from it, always the same.
///
/// It begins with a letter or `_`, and goes on with letters, digits, `_`, `.`, `:` and `-`.
pub(super) fn fit(name: &str) -> Cow<'_, str> {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins_well && name.len() <= LONGEST && name.chars().all(is_taken) {
        return Cow::Borrowed(name);
    }
    // The hash keeps two names apart that differ only in what does not fit.
    let hash = format!("_{:016x}", fnv1a(name.as_bytes()));
    let kept = name.chars().map(|c| if is_taken(c) { c } else { '_' });
    let start = if begins_well { "" } else { "_" };
    let made: String = start.chars().chain(kept).take(LONGEST - hash.len()).collect();
    Cow::Owned(made + &hash)
}

fn is_taken(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.:-".contains(c)
}

/// The tools whose names do not fit.
#[derive(Debug, Default)]
pub(super) struct Renamed(Vec<(String, String)>);

impl Renamed {
    pub(super) fn of(tools: &[ToolSpec]) -> Self {
        let renamed = tools.iter().filter_map(|tool| match fit(&tool.name) {
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
            assert_eq!(fit(name), name);
        }
    }

    proptest! {
        #[test]
        fn every_name_is_made_to_fit_and_found_again(names in prop::collection::hash_set(".{0,200}", 1..4)) {
            let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
            let renamed = Renamed::of(&tools);
            for name in &names {
                let made = fit(name);
                prop_assert!((1..=128).contains(&made.len()));
                prop_assert!(made.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
                prop_assert!(made.chars().all(is_taken));
                prop_assert_eq!(&made, &fit(name));
                prop_assert_eq!(&renamed.own(&made), name);
            }
        }
    }
}
