//! The levels at which a model can be told to think, by what is known of it and of its wire.

use ThinkingLevel::{High, Low, Medium, Minimal, Off, Xhigh};
use protocol::model::ThinkingLevel;

use crate::compat::AskThinking;
use crate::data::Thinking;
use crate::wire::{Family, Wire};

/// The levels that a wire can ask a model for. `told` are those that the model is known to have; without them, those
/// that are usual for models that think in its way.
pub(super) fn offered(
    wire: Wire,
    family: Family,
    thinking: Thinking,
    ask: Option<AskThinking>,
    told: Option<&[ThinkingLevel]>,
) -> Vec<ThinkingLevel> {
    let mut levels = told.unwrap_or(usual(thinking)).to_vec();
    let is_sayable = match (wire, thinking) {
        (_, Thinking::None) => false,
        (Wire::Anthropic | Wire::AnthropicVertex, Thinking::Budget | Thinking::Adaptive | Thinking::Always) => true,
        (Wire::Anthropic | Wire::AnthropicVertex, Thinking::Effort | Thinking::Level) => false,
        (Wire::OpenAiResponses, thinking) => thinking == Thinking::Effort,
        (Wire::Gemini, Thinking::Budget | Thinking::Level | Thinking::Always) => true,
        (Wire::Gemini, Thinking::Adaptive | Thinking::Effort) => false,
        (Wire::Converse, thinking) => family.takes_levels(thinking),
        (Wire::OpenAiChat, _) => match ask.unwrap_or(AskThinking::None) {
            AskThinking::None => false,
            AskThinking::ReasoningEffort | AskThinking::Reasoning if thinking == Thinking::Effort => true,
            AskThinking::ReasoningEffort => {
                // Its word for no thinking is OpenAI's alone, as are those above `high`.
                levels.retain(|level| *level <= High && (*level != Off || thinking.is_asked_for()));
                true
            }
            AskThinking::Reasoning => true,
            // They are switches.
            AskThinking::ReasoningEnabled
            | AskThinking::ThinkingType
            | AskThinking::EnableThinking
            | AskThinking::ChatTemplateKwargs => {
                let has_switch = thinking.is_asked_for() || told.is_some_and(|told| told.contains(&Off));
                return if has_switch { vec![Off, Medium] } else { Vec::new() };
            }
        },
    };
    if is_sayable { levels } else { Vec::new() }
}

/// The levels of a model of which only the way is known in which it thinks.
fn usual(thinking: Thinking) -> &'static [ThinkingLevel] {
    match thinking {
        Thinking::None | Thinking::Always => &[],
        Thinking::Budget => &[Off, Minimal, Low, Medium, High, Xhigh],
        Thinking::Adaptive => &[Off, Low, Medium, High],
        Thinking::Effort | Thinking::Level => &[Low, Medium, High],
    }
}

#[cfg(test)]
mod tests {
    use ThinkingLevel::Max;

    use super::*;

    #[test]
    fn a_level_is_offered_only_where_the_wire_has_words_for_it() {
        let offered = |wire, thinking, ask, told| offered(wire, Family::Other, thinking, ask, told);
        let of = |wire, thinking, ask| offered(wire, thinking, ask, None);
        assert_eq!(of(Wire::OpenAiResponses, Thinking::Effort, None), [Low, Medium, High]);
        assert_eq!(of(Wire::OpenAiResponses, Thinking::Budget, None), []);
        assert_eq!(of(Wire::OpenAiChat, Thinking::Effort, None), []);
        assert_eq!(of(Wire::OpenAiChat, Thinking::Effort, Some(AskThinking::ReasoningEffort)), [Low, Medium, High]);
        assert_eq!(of(Wire::OpenAiChat, Thinking::Budget, Some(AskThinking::EnableThinking)), [Off, Medium]);
        let switch = |told| offered(Wire::OpenAiChat, Thinking::Always, Some(AskThinking::ThinkingType), told);
        assert_eq!(switch(None), [], "it is not known that it can be switched off");
        assert_eq!(switch(Some(&[Off, Medium])), [Off, Medium]);
        let told =
            offered(Wire::OpenAiChat, Thinking::Always, Some(AskThinking::ReasoningEffort), Some(&[Off, Low, Max]));
        assert_eq!(told, [Low], "there is no word for the others");
        assert_eq!(offered(Wire::Anthropic, Thinking::Always, None, Some(&[Low, Max])), [Low, Max]);
        assert_eq!(of(Wire::Anthropic, Thinking::Always, None), []);
    }

    #[test]
    fn over_converse_a_level_is_offered_only_to_models_that_can_be_told_one() {
        let of = |name: &str, thinking| offered(Wire::Converse, Family::of([name]), thinking, None, Some(&[Low, High]));
        let told = [
            ("us.anthropic.claude-sonnet-4-5", Thinking::Budget),
            ("us.anthropic.claude-opus-5-5", Thinking::Always),
            ("us.amazon.nova-2-lite-v1:0", Thinking::Effort),
            ("openai.gpt-oss-120b-1:0", Thinking::Effort),
            ("us.openai.gpt-6.1-sol", Thinking::Effort),
        ];
        for (name, thinking) in told {
            assert_eq!(of(name, thinking), [Low, High], "{name}");
        }
        for thinking in [Thinking::Budget, Thinking::Adaptive, Thinking::Always, Thinking::Effort, Thinking::Level] {
            for name in ["global.moonshotai.kimi-k3.1", "zai.glm-5", "us.deepseek.r1-v1:0", "my-profile"] {
                assert_eq!(of(name, thinking), [], "{name} {thinking:?}");
            }
        }
        assert_eq!(of("us.amazon.nova-2-lite-v1:0", Thinking::Budget), []);
    }
}
