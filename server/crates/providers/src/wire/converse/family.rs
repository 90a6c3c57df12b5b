//! The differences between the makers whose models are asked over Converse, known by a model's id.

use crate::data::Thinking;
use crate::wire::{tool_ids, tool_names};

/// The models of a maker, as far as they want something of their own. A model that is none of these by any name that we
/// have for it is asked for nothing that not every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// Anthropic's Claude.
    Claude,
    /// Amazon's Nova.
    Nova,
    /// Meta's Llama.
    Llama,
    /// Mistral's.
    Mistral,
    /// DeepSeek's R1.
    R1,
    /// OpenAI's open models.
    GptOss,
    /// OpenAI's other models.
    Gpt,
    /// Writer's Palmyra.
    Palmyra,
    /// All others.
    Other,
}

impl Family {
    /// The family of a model by its names, the surest first: the model that it equals, its id on the wire, or the
    /// user's id for it. The whole name of an inference profile says nothing.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        names.into_iter().map(Self::named).find(|family| *family != Self::Other).unwrap_or(Self::Other)
    }

    fn named(name: &str) -> Self {
        // The words of an id are its region, its maker and its model, or its provider and its model.
        let families = [
            ("nova-", Self::Nova),
            ("llama", Self::Llama),
            ("mistral", Self::Mistral),
            ("r1-", Self::R1),
            ("deepseek-r1", Self::R1),
            ("gpt-oss", Self::GptOss),
            ("gpt-", Self::Gpt),
            ("palmyra", Self::Palmyra),
        ];
        if name.contains("claude") {
            return Self::Claude;
        }
        let begins = |text: &str| name.split(['.', '/', ':']).any(|word| word.starts_with(text));
        families.iter().find(|(text, _)| begins(text)).map_or(Self::Other, |(_, family)| *family)
    }

    /// True if an answer can be asked for as a stream. Llama's and Writer's models refuse tools in one ("This model
    /// doesn't support tool use in streaming mode", github.com/earendil-works/pi/issues/3739,
    /// github.com/strands-agents/harness-sdk/issues/393). Of others that do, the refusal tells.
    pub(crate) fn streams(self) -> bool {
        !matches!(self, Self::Llama | Self::Palmyra)
    }

    /// True if we have words for the level at which a model is to think that thinks in this way.
    pub(crate) fn takes_levels(self, thinking: Thinking) -> bool {
        match self {
            Self::Claude => matches!(thinking, Thinking::Budget | Thinking::Adaptive | Thinking::Always),
            Self::Nova | Self::Gpt | Self::GptOss => thinking == Thinking::Effort,
            Self::Llama | Self::Mistral | Self::R1 | Self::Palmyra | Self::Other => false,
        }
    }

    /// True if text may stand beside calls and results in a message. Llama refuses that ("Conversation blocks and tool
    /// use blocks cannot be provided in the same turn", github.com/quarkiverse/quarkus-langchain4j/issues/1983).
    pub(super) fn takes_text_beside_calls(self) -> bool {
        self != Self::Llama
    }

    /// True if marks for the cache may stand in the system prompt and in messages.
    pub(super) fn takes_marks(self) -> bool {
        matches!(self, Self::Claude | Self::Nova)
    }

    /// True if a mark may stand behind any block of a message. Nova refuses one behind a result or an image
    /// ("extraneous key [cachePoint] is not permitted", github.com/earendil-works/pi/issues/2053).
    pub(super) fn takes_marks_anywhere(self) -> bool {
        self == Self::Claude
    }

    /// True if a mark may stand behind the tools (for Nova: github.com/NousResearch/hermes-agent/issues/97281).
    pub(super) fn takes_mark_of_tools(self) -> bool {
        self == Self::Claude
    }

    /// True if a result may say by a field of its own that it is a failure (`ToolResultBlock.status`).
    pub(super) fn takes_status(self) -> bool {
        matches!(self, Self::Claude | Self::Nova)
    }

    /// True if it takes its own thoughts back that it has not signed. Claude refuses them, as R1 does all
    /// (github.com/aws-samples/bedrock-chat/pull/851).
    pub(super) fn takes_unsigned_thoughts(self) -> bool {
        !matches!(self, Self::Claude | Self::R1)
    }

    /// The rule for the ids of calls (for Mistral: github.com/vercel/ai/issues/11802).
    pub(super) fn ids(self) -> tool_ids::Rule {
        if self == Self::Mistral { tool_ids::Rule::Nine } else { tool_ids::Rule::Plain }
    }

    /// The rule for the names of tools. Nova cannot call one with a hyphen in its name
    /// (github.com/SEMOSS/Semoss/pull/2892).
    pub(super) fn names(self) -> tool_names::Rule {
        if self == Self::Nova { tool_names::Rule::NoHyphen } else { tool_names::Rule::Plain }
    }
}
