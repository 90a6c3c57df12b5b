//! The context of a model: what fills it, estimated part by part, and the room that an answer needs in it.

use std::sync::Arc;

use ports::model::{Message, ToolSpec, UserBlock};
use protocol::AssistantBlock;
use protocol::model::ModelInfo;
use serde_json::Value;

/// The longest answer asked for; what it reserves is lost to the conversation.
const LONGEST_ANSWER: u64 = 32_000;
/// How much of the room for the conversation may be filled.
const FULL: f64 = 0.92;
/// The characters that a token stands for.
const TOKEN: f64 = 3.5;
/// An estimate is so much above that, since a context that is too full costs more than one that is not.
const MORE: f64 = 1.1;
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
    /// The thinking that is kept. What of it goes back to a vendor is known to the wires alone.
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
            Self::Rules => "project rules",
            Self::Tools => "tool descriptions",
            Self::Prompts => "your prompts, with what they mention, and notes",
            Self::Images => "images",
            Self::Answers => "answers",
            Self::Thinking => "thinking that is kept",
            Self::Calls => "tool calls",
            Self::Results => "tool results",
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
    /// The vendor's last count of it.
    pub counted: Option<Counted>,
}

/// A vendor's count of a request and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The tokens.
    pub tokens: u64,
    /// So many messages of the conversation are in it.
    pub messages: usize,
}

/// How the size of a context is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The vendor has counted all of it.
    Counted,
    /// The vendor has counted it up to the last answer; what has come since is estimated.
    InPart,
    /// All of it is estimated.
    Estimated,
}

/// The parts of a context, in tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filling {
    /// The parts that are not empty, in the order of [`Part::ALL`].
    pub parts: Vec<(Part, u64)>,
    /// The sum of the parts, but for what is lost by rounding.
    pub used: u64,
    /// How that is known.
    pub known: Known,
    /// The window of the model.
    pub window: u64,
    /// The part of it that is kept free for an answer.
    pub answer: u64,
    /// The sum of the parts from which on old results are taken out.
    pub full: u64,
}

impl Filling {
    /// Measures a request. The vendor counts only the whole, so its count is shared out by the estimates of the parts.
    /// A count of what cannot have fitted is none: its server has cut it.
    pub fn of(contents: &Contents<'_>) -> Self {
        let Contents { model, messages, .. } = *contents;
        let before = contents.counted.map_or(0, |counted| counted.messages);
        let (told, new) = messages.split_at_checked(before).unwrap_or((messages, &[]));
        let mut sizes = Sizes::default();
        let rules = chars(contents.rules).min(chars(contents.system));
        sizes.add(Part::Rules, rules);
        sizes.add(Part::Instructions, chars(contents.system) - rules);
        contents.tools.iter().for_each(|tool| sizes.add(Part::Tools, of_tool(tool)));
        told.iter().for_each(|message| sizes.add_message(message, model));
        let counted = contents.counted.filter(|counted| {
            counted.tokens > 0 && counted.messages <= messages.len() && sizes.tokens() <= model.context_tokens as f64
        });
        let factor = counted.map_or(1.0, |counted| counted.tokens as f64 / sizes.tokens());
        let mut since = Sizes::default();
        new.iter().for_each(|message| since.add_message(message, model));
        let size = |part: Part| sizes.0[part as usize] * factor + since.0[part as usize];
        let parts = Part::ALL.into_iter().map(|part| (part, size(part))).filter(|(_, tokens)| *tokens > 0.0);
        let known = match counted {
            Some(_) if new.is_empty() => Known::Counted,
            Some(_) => Known::InPart,
            None => Known::Estimated,
        };
        let (window, answer) = (model.context_tokens, longest_answer(model, contents.thinking));
        let used = (sizes.tokens() * factor + since.tokens()).round() as u64;
        let parts = parts.map(|(part, tokens)| (part, tokens.round() as u64)).collect();
        Self { parts, used, known, window, answer, full: full(window, answer) }
    }
}

/// The tokens of each part, as estimated.
#[derive(Default)]
struct Sizes([f64; Part::ALL.len()]);

impl Sizes {
    fn add(&mut self, part: Part, chars: f64) {
        self.0[part as usize] += chars / TOKEN * MORE;
    }

    /// Of an image, a model without eyes gets a word.
    fn add_message(&mut self, message: &Message, model: &ModelInfo) {
        each_part(message, &mut |part, chars| {
            self.add(part, if part == Part::Images && !model.images { 0.0 } else { chars })
        });
    }

    fn tokens(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// The tokens from which on a context is full, of which so many are kept free for an answer.
pub(crate) fn full(window: u64, answer: u64) -> u64 {
    (window.saturating_sub(answer) as f64 * FULL) as u64
}

/// The same for a model whose thinking is not known.
pub fn full_of(model: &ModelInfo) -> u64 {
    full(model.context_tokens, longest_answer(model, None))
}

/// The longest answer to ask a model for: one that holds the thinking and something besides.
pub(crate) fn longest_answer(model: &ModelInfo, thinking: Option<u64>) -> u64 {
    let wanted = LONGEST_ANSWER.min(model.context_tokens / 4).max(thinking.map_or(0, |tokens| tokens + 4_096));
    wanted.min(model.max_output_tokens).max(1)
}

/// The tokens of so many characters.
pub(crate) fn tokens(chars: f64) -> u64 {
    (chars / TOKEN * MORE).ceil() as u64
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
        assert_eq!((estimated.known, estimated.window, estimated.answer), (Known::Estimated, 100_000, 25_000));
        assert_eq!(estimated.full, 69_000, "0.92 of what an answer leaves");

        let all = Counted { tokens: 5_000, messages: 3 };
        let counted = Filling::of(&Contents { counted: Some(all), ..contents });
        assert_eq!((counted.known, counted.used), (Known::Counted, 5_000));
        assert!(of(&counted, Part::Results) > of(&estimated, Part::Results));
        let before_the_result = Counted { tokens: 500, messages: 2 };
        let in_part = Filling::of(&Contents { counted: Some(before_the_result), ..contents });
        assert_eq!((in_part.known, of(&in_part, Part::Results)), (Known::InPart, of(&estimated, Part::Results)));
        assert!(in_part.used > 2_700, "what came after the count is added to it: {in_part:?}");
        for none in [Counted { tokens: 0, messages: 3 }, Counted { tokens: 500, messages: 4 }] {
            assert_eq!(Filling::of(&Contents { counted: Some(none), ..contents }).known, Known::Estimated, "{none:?}");
        }
        let small = ModelInfo { context_tokens: 1_000, ..model.clone() };
        let cut = Filling::of(&Contents { model: &small, counted: Some(all), ..contents });
        assert_eq!((cut.known, cut.used), (Known::Estimated, estimated.used), "its server has cut it");
    }
}
