//! The differences between the makers whose models are asked over Converse, known by a model's id.

use crate::wire::{tool_ids, tool_names};

/// The models of a maker, as far as they want something of their own. A model that goes by another name, such as an
/// application's inference profile, is asked for nothing that not every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
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
    /// All others.
    Other,
}

impl Family {
    /// The family of a model, by its id, that of an inference profile, or its name in Amazon's way to name resources.
    pub(super) fn of(model: &str) -> Self {
        let families = [
            ("anthropic.claude", Self::Claude),
            ("amazon.nova", Self::Nova),
            ("meta.llama", Self::Llama),
            ("mistral.", Self::Mistral),
            ("deepseek.r1", Self::R1),
            ("openai.gpt-oss", Self::GptOss),
            ("openai.gpt", Self::Gpt),
        ];
        families.iter().find(|(text, _)| model.contains(text)).map_or(Self::Other, |(_, family)| *family)
    }

    /// True if answers come as a stream. Llama's models refuse tools in one ("This model doesn't support tool use in
    /// streaming mode", github.com/earendil-works/pi/issues/3739).
    pub(super) fn streams(self) -> bool {
        self != Self::Llama
    }

    /// True if marks for the cache may stand in the system prompt and in messages.
    pub(super) fn takes_marks(self) -> bool {
        matches!(self, Self::Claude | Self::Nova)
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
