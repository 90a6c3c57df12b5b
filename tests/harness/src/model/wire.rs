//! The formats, and where each is on the server.

use super::answer::Writer;
use super::diagnosis::Head;
use super::{anthropic, chat, converse, gemini, responses, vertex};

/// The end of the names of Gemini's models that give their calls no ids.
pub const NO_IDS: &str = "-without-ids";

/// A vendor's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Responses.
    Responses,
    /// OpenAI's Chat Completions, and all who are compatible with it. Thinking comes as `reasoning_content`.
    Chat,
    /// The same as Google has it: calls are signed.
    GeminiChat,
    /// The same as Moonshot and DeepSeek have it: no answer without the thinking that led to it.
    Moonshot,
    /// The same as OpenRouter has it: thinking comes in signed pieces.
    OpenRouter,
    /// The same as Groq has it: thinking comes as `reasoning`.
    Groq,
    /// The same as Mistral has it: calls have ids of nine letters, and nothing of the user's comes right after a tool.
    Mistral,
    /// Google's Gemini. Parts are signed, and a call comes whole.
    Gemini,
    /// Bedrock's Converse. The model is in the path, and the stream is one of Amazon's.
    Converse,
}

impl Wire {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini, Self::Converse];
    /// The formats in which the input of a call comes in pieces.
    pub const IN_PIECES: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Converse];
    /// All vendors that want something of their own back.
    pub const VENDORS: [Self; 10] = [
        Self::Anthropic,
        Self::Responses,
        Self::Chat,
        Self::Gemini,
        Self::GeminiChat,
        Self::Moonshot,
        Self::OpenRouter,
        Self::Groq,
        Self::Mistral,
        Self::Converse,
    ];

    /// Its name in our configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "openai-responses",
            Self::Chat | Self::GeminiChat | Self::Moonshot | Self::OpenRouter | Self::Groq | Self::Mistral => {
                "openai-chat"
            }
            Self::Gemini => "gemini",
            Self::Converse => "converse",
        }
    }

    /// The dialect to configure for it on this machine, where it is one.
    pub fn dialect(self) -> Option<&'static str> {
        match self {
            Self::GeminiChat => Some("gemini"),
            Self::Moonshot => Some("deepseek"),
            Self::Mistral => Some("mistral"),
            Self::Anthropic
            | Self::Responses
            | Self::Chat
            | Self::Gemini
            | Self::OpenRouter
            | Self::Groq
            | Self::Converse => None,
        }
    }

    /// Where it is below the server's address.
    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Gemini | Self::Converse => "",
            Self::Responses | Self::Chat => "/v1",
            Self::GeminiChat => "/gemini/v1",
            Self::Moonshot => "/moonshot/v1",
            Self::OpenRouter => "/openrouter/v1",
            Self::Groq => "/groq/v1",
            Self::Mistral => "/mistral/v1",
        }
    }

    pub(super) fn of(path: &str) -> Option<Self> {
        if gemini_model(path).is_some() {
            return Some(Self::Gemini);
        }
        if converse::model(path).is_some() {
            return Some(Self::Converse);
        }
        match vertex::model(path) {
            Some((vertex::Publisher::Google, _)) => return Some(Self::Gemini),
            Some((vertex::Publisher::Anthropic, _)) => return Some(Self::Anthropic),
            None => {}
        }
        let end = |wire| match wire {
            Self::Anthropic => "/v1/messages",
            Self::Responses => "/responses",
            _ => "/chat/completions",
        };
        let is_at = |wire: &Self| path.strip_suffix(end(*wire)) == Some(wire.folder());
        Self::VENDORS.into_iter().find(is_at).or_else(|| {
            // Azure's and Bedrock's paths.
            let wires = [Self::Anthropic, Self::Responses, Self::Chat];
            let folder = |wire| path.strip_suffix(end(wire));
            let is_cloud = |folder: &str| folder.starts_with("/openai/") || folder == "/anthropic";
            wires.into_iter().find(|wire| folder(*wire).is_some_and(is_cloud))
        })
    }

    /// The type of the body of an answer.
    pub(super) fn content_type(self, is_whole: bool) -> &'static str {
        match self {
            Self::Converse if is_whole => "application/json",
            Self::Converse => "application/vnd.amazon.eventstream",
            _ => "text/event-stream",
        }
    }

    pub(super) fn writer(self, model: &str, is_whole: bool, head: Head) -> Box<dyn Writer> {
        match self {
            Self::Converse => Box::new(converse::Converse::of(model, is_whole)),
            Self::Anthropic => Box::new(anthropic::Anthropic::of(model, head)),
            Self::Responses => Box::new(responses::Responses::of(model)),
            Self::Gemini => Box::new(gemini::Gemini::of(model)),
            vendor => Box::new(chat::Chat::of(vendor, model)),
        }
    }
}

/// The model that a path names.
pub(super) fn model_in(path: &str) -> Option<String> {
    gemini_model(path).map(str::to_owned).or_else(|| converse::model(path))
}

/// The model that a path of Gemini's names.
fn gemini_model(path: &str) -> Option<&str> {
    path.strip_prefix("/v1beta/models/")?.strip_suffix(":streamGenerateContent")
}
