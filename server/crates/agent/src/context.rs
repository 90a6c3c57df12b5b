//! The context of a model: what fills it, estimated part by part, and the room that an answer needs in it.

use std::sync::Arc;

use ports::model::{Message, ToolSpec, UserBlock};
use protocol::AssistantBlock;
use protocol::model::ModelInfo;
use serde_json::Value;

/// The longest answer asked for; what it reserves is lost to the conversation.
const LONGEST_ANSWER: u64 = 32_000;
/// How much of the room for the conversation may be filled.
pub(crate) const FULL: f64 = 0.92;
/// The characters that a token stands for.
const TOKEN: f64 = 3.5;
/// The tokens that an image counts for: about what the vendors charge for one of a megapixel.
const IMAGE: f64 = 1_600.0;
/// The tokens that a message's frame counts for.
const FRAME: f64 = 4.0;

/// A part of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The system prompt, without the rules.
    Instructions,
    /// The project's rules.
    Rules,
    /// The tools that the model is told of.
    Tools,
    /// The words of the user, with the text of what they mention, and notes.
    Prompts,
    /// Images.
    Images,
    /// The words of the model.
    Answers,
    /// The thinking that goes back to the vendor.
    Thinking,
    /// The calls of tools.
    Calls,
    /// Their results.
    Results,
}

impl Part {
    /// All of them, in the order of a request.
    pub const ALL: [Self; 9] = [
        Self::Instructions,
        Self::Rules,
        Self::Tools,
        Self::Prompts,
        Self::Images,
        Self::Answers,
        Self::Thinking,
        Self::Calls,
        Self::Results,
    ];

    /// The part in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Instructions => "Azimuth's instructions",
            Self::Rules => "rules of the project",
            Self::Tools => "descriptions of tools",
            Self::Prompts => "your prompts, with the text of what they mention",
            Self::Images => "images",
            Self::Answers => "answers",
            Self::Thinking => "thinking",
            Self::Calls => "calls of tools",
            Self::Results => "results of tools",
        }
    }
}

/// A request as it would be sent now.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The model.
    pub model: &'a ModelInfo,
    /// The tokens that it may think for, if there is such a number.
    pub thinking: Option<u64>,
    /// The system prompt.
    pub system: &'a str,
    /// The part of it that is the project's rules.
    pub rules: &'a str,
    /// The tools that the model is told of.
    pub tools: &'a [ToolSpec],
    /// The conversation.
    pub messages: &'a [Arc<Message>],
    /// The size that the vendor has counted of it.
    pub counted: Option<u64>,
}

/// What fills a context, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    /// The parts that are not empty, in the order of [`Part::ALL`].
    pub parts: Vec<(Part, u64)>,
    /// True if their sum is what the vendor has counted; else it is an estimate.
    pub is_counted: bool,
    /// The window of the model.
    pub window: u64,
    /// The part of it that is kept free for an answer.
    pub answer: u64,
    /// The sum of the parts from which on old results are taken out.
    pub full: u64,
}

impl Filling {
    /// Measures a request. The vendor counts only the whole, so its count is shared out by the estimates of the parts.
    pub fn of(contents: &Contents<'_>) -> Self {
        let mut sizes = [0.0; Part::ALL.len()];
        let mut add = |part: Part, chars: f64| sizes[part as usize] += chars;
        let rules = chars(contents.rules).min(chars(contents.system));
        add(Part::Rules, rules);
        add(Part::Instructions, chars(contents.system) - rules);
        contents.tools.iter().for_each(|tool| add(Part::Tools, of_tool(tool)));
        contents.messages.iter().for_each(|message| each_part(message, &mut add));
        let sum: f64 = sizes.iter().sum();
        let counted = contents.counted.filter(|_| !contents.messages.is_empty());
        let share = |size: f64| match counted {
            Some(counted) => (counted as f64 * size / sum).round() as u64,
            None => tokens(size),
        };
        let parts = Part::ALL.into_iter().map(|part| (part, share(sizes[part as usize])));
        let (window, answer) = (contents.model.context_tokens, longest_answer(contents.model, contents.thinking));
        let full = (window.saturating_sub(answer) as f64 * FULL) as u64;
        let parts = parts.filter(|(_, tokens)| *tokens > 0).collect();
        Self { parts, is_counted: counted.is_some(), window, answer, full }
    }

    /// The sum of the parts.
    pub fn used(&self) -> u64 {
        self.parts.iter().map(|(_, tokens)| tokens).sum()
    }
}

/// The longest answer to ask a model for: one that holds the thinking and something besides.
pub(crate) fn longest_answer(model: &ModelInfo, thinking: Option<u64>) -> u64 {
    let wanted = LONGEST_ANSWER.min(model.context_tokens / 4).max(thinking.map_or(0, |tokens| tokens + 4_096));
    wanted.min(model.max_output_tokens).max(1)
}

/// The tokens of so many characters: these by 3.5, and a tenth.
pub(crate) fn tokens(chars: f64) -> u64 {
    (chars / TOKEN * 1.1).ceil() as u64
}

/// The tokens of a message.
pub(crate) fn estimate(message: &Message) -> u64 {
    let mut sum = 0.0;
    each_part(message, &mut |_, chars| sum += chars);
    tokens(sum)
}

/// The characters of a tool's description.
pub(crate) fn of_tool(tool: &ToolSpec) -> f64 {
    chars(&tool.name) + chars(&tool.description) + chars(&tool.input_schema.to_string())
}

pub(crate) fn chars(text: &str) -> f64 {
    text.chars().count() as f64
}

/// Tells the parts of a message, each with its characters; what is no text has as many as its tokens stand for.
fn each_part(message: &Message, tell: &mut impl FnMut(Part, f64)) {
    let sent_back = |vendor: &Option<Value>| vendor.as_ref().map_or(0.0, |vendor| chars(&vendor.to_string()));
    let frame = FRAME * TOKEN;
    match message {
        Message::User(blocks) => {
            tell(Part::Prompts, frame);
            for block in blocks {
                match block {
                    UserBlock::Text(text) => tell(Part::Prompts, chars(text)),
                    UserBlock::Image { .. } => tell(Part::Images, IMAGE * TOKEN),
                }
            }
        }
        Message::Assistant(blocks) => {
            tell(Part::Answers, frame);
            for block in blocks {
                match block {
                    AssistantBlock::Text { text, vendor } => tell(Part::Answers, chars(text) + sent_back(vendor)),
                    AssistantBlock::Thinking { text, vendor } => tell(Part::Thinking, chars(text) + sent_back(vendor)),
                    AssistantBlock::ToolCall { name, input, vendor, .. } => {
                        tell(Part::Calls, chars(name) + chars(&input.to_string()) + sent_back(vendor));
                    }
                }
            }
        }
        Message::ToolResults(results) => {
            tell(Part::Results, frame);
            results.iter().for_each(|result| tell(Part::Results, chars(&result.text) + frame));
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{ToolCallId, ToolResult};
    use serde_json::json;

    use super::*;

    fn model() -> ModelInfo {
        let known = json!({ "id": "p/m", "name": "m", "provider": "p", "contextTokens": 100_000,
            "maxOutputTokens": 64_000, "available": true });
        serde_json::from_value(known).unwrap()
    }

    fn conversation() -> Vec<Arc<Message>> {
        let call = AssistantBlock::tool_call(ToolCallId::from("c"), "read_file", json!({ "path": "a.rs" }));
        let result = ToolResult { tool_call_id: "c".into(), text: "x".repeat(7_000), is_error: false };
        [
            Message::User(vec![UserBlock::Text("Look.".into())]),
            Message::Assistant(vec![AssistantBlock::text("I look."), call]),
            Message::ToolResults(vec![result]),
        ]
        .map(Arc::new)
        .to_vec()
    }

    #[test]
    fn the_parts_of_a_request_are_estimated_and_a_vendors_count_is_shared_out_among_them() {
        let (model, messages) = (model(), conversation());
        let system = format!("Be good.{}", "r".repeat(700));
        let rules = &system[8..];
        let contents = Contents {
            model: &model,
            thinking: None,
            system: &system,
            rules,
            tools: &[],
            messages: &messages,
            counted: None,
        };
        let estimated = Filling::of(&contents);
        let of = |filling: &Filling, part: Part| filling.parts.iter().find(|(known, _)| *known == part).map(|it| it.1);
        assert_eq!([of(&estimated, Part::Rules), of(&estimated, Part::Tools)], [Some(220), None]);
        assert!(of(&estimated, Part::Results).unwrap() >= 2_200, "{estimated:?}");
        assert_eq!((estimated.is_counted, estimated.window, estimated.answer), (false, 100_000, 25_000));
        assert_eq!(estimated.full, 69_000, "0.92 of what an answer leaves");

        let counted = Filling::of(&Contents { counted: Some(5_000), ..contents });
        assert!(counted.is_counted && counted.used().abs_diff(5_000) <= 5, "{counted:?}");
        assert!(of(&counted, Part::Results) > of(&estimated, Part::Results));
        let fresh = Filling::of(&Contents { messages: &[], counted: Some(5_000), ..contents });
        assert!(!fresh.is_counted, "a count of a conversation says nothing of none");
    }
}
