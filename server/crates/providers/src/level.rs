//! Levels of thinking, as the wires need them.

use ThinkingLevel::{High, Low, Max, Medium, Minimal, Off, Xhigh};
use protocol::model::ThinkingLevel;

/// The tokens that are left for an answer after the thinking.
const SAID: u64 = 1_024;

/// The level of these that is nearest to the wanted one: the highest that is not above it, else the lowest.
pub(crate) fn nearest(levels: &[ThinkingLevel], wanted: ThinkingLevel) -> Option<ThinkingLevel> {
    let not_above = levels.iter().copied().filter(|level| *level <= wanted).max();
    not_above.or_else(|| levels.iter().copied().min())
}

/// The most tokens that may be thought within an answer of so many, so that something is left to say. The least that is
/// left is that of npm `@earendil-works/pi-ai` 1.5.2 (`MIN_ANSWER_TOKENS`).
pub(crate) fn room(longest_answer: u64) -> u64 {
    longest_answer - SAID.min(longest_answer / 4)
}

/// The tokens that a model with a budget may think at a level.
///
/// The numbers are those of npm `@earendil-works/pi-ai` 1.5.2 (`DEFAULT_THINKING_BUDGETS`) and twice its highest, but
/// for the one in the middle, which a model that is listed a second time as one that thinks has had from the beginning.
pub(crate) fn tokens(level: ThinkingLevel) -> Option<u64> {
    match level {
        Off => None,
        Minimal => Some(1_024),
        Low => Some(2_048),
        Medium => Some(10_000),
        High => Some(16_384),
        Xhigh | Max => Some(32_768),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_level_is_the_highest_below_else_the_lowest() {
        assert_eq!(nearest(&[Low, Medium, High], Off), Some(Low));
        assert_eq!(nearest(&[Low, Medium, High], Max), Some(High));
        assert_eq!(nearest(&[Off, High, Max], Xhigh), Some(High));
        assert_eq!(nearest(&[], Medium), None);
    }

    #[test]
    fn a_higher_level_is_never_fewer_tokens() {
        let tokens: Vec<_> = ThinkingLevel::ALL.into_iter().map(tokens).collect();
        assert!(tokens.is_sorted());
    }
}
