//! Ids of tool calls, made to fit what a vendor takes. Ids that it gave itself stay as they are; those of another
//! vendor, or of ours, may not.

use std::borrow::Cow;

use crate::hash::fnv1a;

/// The rule of a vendor for the ids that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Letters, digits, `-` and `_`, at most 64 of them (Anthropic's pattern, the length of OpenAI's Responses).
    Plain,
    /// The same, at most 40 of them: OpenAI's Chat Completions. vLLM's have 46
    /// (github.com/anomalyco/opencode/issues/12653).
    Forty,
    /// Nine letters or digits (Mistral).
    Nine,
}

/// The id as the vendor takes it: itself if it fits, else one made from it, always the same.
pub(super) fn fit(id: &str, rule: Rule) -> Cow<'_, str> {
    let fits = match rule {
        Rule::Plain => (1..=64).contains(&id.len()) && id.bytes().all(is_plain),
        Rule::Forty => (1..=40).contains(&id.len()) && id.bytes().all(is_plain),
        Rule::Nine => id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric()),
    };
    if fits {
        return Cow::Borrowed(id);
    }
    let hash = fnv1a(id.as_bytes());
    Cow::Owned(match rule {
        Rule::Plain | Rule::Forty => format!("call_{hash:016x}"),
        Rule::Nine => base36(hash),
    })
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// The last nine digits to base 36.
fn base36(mut number: u64) -> String {
    let mut text = String::new();
    for _ in 0..9 {
        text.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_that_fits_stays_as_it_is() {
        assert_eq!(fit("toolu_01-A", Rule::Plain), "toolu_01-A");
        assert_eq!(fit("D681PevKs", Rule::Nine), "D681PevKs");
    }

    proptest! {
        #[test]
        fn every_id_is_made_to_fit_and_always_in_the_same_way(id in ".{0,100}") {
            let plain = fit(&id, Rule::Plain);
            prop_assert!(!plain.is_empty() && plain.len() <= 64);
            prop_assert!(plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            prop_assert_eq!(&plain, &fit(&id, Rule::Plain));
            prop_assert!((1..=40).contains(&fit(&id, Rule::Forty).len()));
            let nine = fit(&id, Rule::Nine);
            prop_assert!(nine.len() == 9 && nine.chars().all(|c| c.is_ascii_alphanumeric()));
        }
    }
}
