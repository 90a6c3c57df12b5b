//! The vendors' wire formats, as pure functions: a request to bytes, and bytes to the pieces of an answer.
//!
//! The rules that hold for each of them:
//!
//! - Equal requests give equal bytes, and a request whose messages begin with another's gives bytes that begin with
//!   the other's, up to closing brackets (and Anthropic's cache marks, which cost nothing there). So the vendors'
//!   caches hit.
//! - What a vendor wants back (thinking, signatures of calls, ids of its own making) goes back to the model that it
//!   came from, unchanged and in its place, and to no other: it is tagged with provider, a hash of the host, and model
//!   ([`Target::tag`]), and what has another tag is left out. What that is shows by what was sent, and not by the
//!   provider's name.
//! - A tool's input is the JSON that came in pieces, `{}` if none came. What is not JSON is kept as a string, so that
//!   the answer is whole and the model can be told of its mistake.

pub(crate) mod anthropic;
pub(crate) mod converse;
pub(crate) mod gemini;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;

pub(crate) mod kept;

mod images;
mod lenient;
mod prefix;
mod tool_ids;
mod tool_names;
mod unsigned;

#[cfg(test)]
pub(crate) mod testing;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::OnceLock;

use net::header::HeaderValue;
use ports::model::{ModelEvent, Request};
use protocol::ToolCallId;
use protocol::content::Usage;
use protocol::model::ThinkingLevel;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

pub(crate) use self::converse::Family;
pub(crate) use self::unsigned::unsigned;
use crate::compat::Compat;
use crate::data::Thinking;
use crate::failure::Fault;
use crate::frames::Framing;
use crate::level::{nearest, tokens};
use crate::secret::Secret;

/// The error text for an answer that the vendor broke off.
const FILTERED: &str = "the vendor's content filter broke the answer off";

/// The wire format that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// The same as Google's Vertex AI has it: the model stands in the path, and the version in the body.
    AnthropicVertex,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// OpenAI's Chat Completions, which most others speak too.
    OpenAiChat,
    /// Google's Gemini.
    Gemini,
    /// Amazon Bedrock's Converse.
    Converse,
}

/// Where something is, below a provider's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route<'a> {
    /// The version that stands before the path, if the address has none; empty if the path has none.
    pub(crate) version: &'static str,
    /// The path, after the version.
    pub(crate) path: Cow<'a, str>,
    /// The query.
    pub(crate) query: Option<&'static str>,
}

/// The model that a request is for, and how to ask it.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// The provider.
    pub(crate) provider: String,
    /// Its host: the same name may stand for another server tomorrow.
    pub(crate) host: Host,
    /// The one of several keys and accounts that is used. Vendors bind thinking to an account, too.
    pub(crate) account: Option<String>,
    /// The model's id on the wire.
    pub(crate) model: String,
    /// The family that it is of, over Converse.
    pub(crate) family: Family,
    /// True if it is known how long its answers may be, and not only assumed.
    pub(crate) has_limit: bool,
    /// The flags of its server.
    pub(crate) compat: Compat,
    /// The way in which it thinks.
    pub(crate) thinking: Thinking,
    /// The levels at which it can be told to think.
    pub(crate) levels: Vec<ThinkingLevel>,
    /// True if these are only guessed: the user may choose one, but nobody else does.
    pub(crate) is_guess: bool,
    /// The level at which it thinks where a request does not say; none for as much as it does by itself.
    pub(crate) level: Option<ThinkingLevel>,
    /// True if it is asked to think without a level, where thinking is a choice.
    pub(crate) is_thinking: bool,
    /// True if its thinking may only be sent back after the same messages as before, wherever it is served.
    pub(crate) bound: bool,
    /// The effort that it makes by itself, if its effort may change within a conversation.
    pub(crate) own_effort: Option<ThinkingLevel>,
}

/// A provider's host and port, and the hash that stands for them in the log.
#[derive(Clone, Debug)]
pub(crate) struct Host {
    name: String,
    /// Made when it is first asked for, in each clone: there are as many targets as models, and few are used. Every
    /// call of a conversation asks for it in each request.
    hash: OnceLock<String>,
}

/// Reads a stream.
pub(crate) trait Decode: Send {
    /// Takes in the data of an event.
    fn event(&mut self, data: &[u8], pieces: &mut Pieces) -> Result<(), Fault>;

    /// Takes in the end of the stream. What is not whole by now never will be.
    fn end(&mut self, pieces: &mut Pieces) -> Result<(), Fault>;
}

impl Wire {
    /// The names in the configuration.
    pub const NAMES: &[&str] =
        &["anthropic", "anthropic-vertex", "openai-responses", "openai-chat", "gemini", "converse"];

    /// The wire with this name in the configuration: one of [`NAMES`](Self::NAMES), `responses` or `chat`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "anthropic" => Some(Self::Anthropic),
            "anthropic-vertex" => Some(Self::AnthropicVertex),
            "openai-responses" | "responses" => Some(Self::OpenAiResponses),
            "openai-chat" | "chat" => Some(Self::OpenAiChat),
            "gemini" => Some(Self::Gemini),
            "converse" => Some(Self::Converse),
            _ => None,
        }
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::AnthropicVertex => "anthropic-vertex",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::Gemini => "gemini",
            Self::Converse => "converse",
        }
    }

    /// Where requests to a model go.
    pub(crate) fn route(self, model: &str) -> Route<'static> {
        match self {
            Self::Anthropic => Route::v1("messages"),
            Self::AnthropicVertex => Route { version: "v1", path: anthropic::path(model).into(), query: None },
            Self::OpenAiResponses => Route::v1("responses"),
            Self::OpenAiChat => Route::v1("chat/completions"),
            Self::Gemini => Route { version: "v1beta", path: gemini::path(model).into(), query: Some("alt=sse") },
            Self::Converse => Route { version: "", path: converse::path(model).into(), query: None },
        }
    }

    /// Where the list of models is.
    pub(crate) fn listing(self) -> Route<'static> {
        match self {
            // Without a limit, a page has 20 models.
            Self::Anthropic => Route { query: Some("limit=1000"), ..Route::v1("models") },
            // Bedrock's own lists are elsewhere; that of a gateway that speaks Converse is where most have theirs.
            Self::AnthropicVertex | Self::OpenAiResponses | Self::OpenAiChat | Self::Converse => Route::v1("models"),
            // Without a size, a page has 50 models.
            Self::Gemini => Route { version: "v1beta", path: "models".into(), query: Some("pageSize=1000") },
        }
    }

    /// The headers of a request for the list of models, without the key.
    pub(crate) fn listing_headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Anthropic => &[anthropic::VERSION],
            Self::AnthropicVertex | Self::OpenAiResponses | Self::OpenAiChat | Self::Gemini | Self::Converse => &[],
        }
    }

    /// The field of a list that names the place of its next page, and the parameter that asks for that; none if its
    /// lists have one page.
    pub(crate) fn paging(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Anthropic => Some(("last_id", "after_id")),
            Self::Gemini => Some(("nextPageToken", "pageToken")),
            Self::AnthropicVertex | Self::OpenAiResponses | Self::OpenAiChat | Self::Converse => None,
        }
    }

    /// The framing of its streams.
    pub(crate) fn framing(self) -> Framing {
        match self {
            Self::Anthropic | Self::AnthropicVertex | Self::OpenAiResponses | Self::OpenAiChat | Self::Gemini => {
                Framing::Events
            }
            Self::Converse => Framing::Messages,
        }
    }

    /// The headers of a request, without the key.
    pub(crate) fn headers(self, target: &Target, request: &Request) -> Vec<(&'static str, Cow<'static, str>)> {
        let mut headers = match self {
            Self::Anthropic => anthropic::headers(target, request),
            Self::AnthropicVertex => anthropic::headers_of_vertex(target, request),
            Self::OpenAiResponses | Self::OpenAiChat | Self::Gemini | Self::Converse => Vec::new(),
        };
        if target.compat.opencode_session == Some(true) && !request.cache_key.is_empty() {
            headers.push(("x-opencode-session", Cow::Owned(request.cache_key.clone())));
        }
        headers
    }

    /// The header that carries a key, hidden from `Debug`; none if the key holds what no header can.
    pub(crate) fn key_header(self, key: &Secret) -> Option<(&'static str, HeaderValue)> {
        let (name, value) = match self {
            Self::Anthropic => ("x-api-key", key.expose().to_owned()),
            Self::Gemini => ("x-goog-api-key", key.expose().to_owned()),
            Self::AnthropicVertex | Self::OpenAiResponses | Self::OpenAiChat | Self::Converse => {
                ("authorization", format!("Bearer {}", key.expose()))
            }
        };
        let mut value = HeaderValue::try_from(value).ok()?;
        value.set_sensitive(true);
        Some((name, value))
    }

    /// The body of a request.
    pub(crate) fn body(self, target: &Target, request: &Request) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::Anthropic => anthropic::body(target, request),
            Self::AnthropicVertex => anthropic::body_of_vertex(target, request),
            Self::OpenAiResponses => openai_responses::body(target, request),
            Self::OpenAiChat => openai_chat::body(target, request),
            Self::Gemini => gemini::body(target, request),
            Self::Converse => converse::body(target, request),
        }
    }

    /// A reader for the answer to a request.
    pub(crate) fn decoder(self, target: &Target, request: &Request) -> Box<dyn Decode> {
        match self {
            Self::Anthropic | Self::AnthropicVertex => Box::new(anthropic::Decoder::new(target, request)),
            Self::OpenAiResponses => Box::new(openai_responses::Decoder::new(target)),
            Self::OpenAiChat => Box::new(openai_chat::Decoder::new(target)),
            Self::Gemini => Box::new(gemini::Decoder::new(target, &request.tools)),
            Self::Converse => Box::new(converse::Decoder::new(target, request)),
        }
    }
}

impl<'a> Route<'a> {
    /// A path of those who number their first version `v1`.
    pub(crate) fn v1(path: &'a str) -> Self {
        Self { version: "v1", path: path.into(), query: None }
    }
}

impl Host {
    /// Its name, without the port.
    fn domain(&self) -> &str {
        self.name.split_once(':').map_or(self.name.as_str(), |(name, _)| name)
    }

    fn hash(&self) -> &str {
        self.hash.get_or_init(|| hashed(&self.name))
    }
}

impl From<String> for Host {
    fn from(name: String) -> Self {
        Self { name, hash: OnceLock::new() }
    }
}

impl Target {
    /// Tags what the vendor wants back, so that it goes to nobody else.
    fn tag(&self, mut fields: Map<String, Value>) -> Value {
        fields.insert("provider".to_owned(), self.provider.as_str().into());
        fields.insert("host".to_owned(), self.host.hash().into());
        fields.insert("model".to_owned(), self.model.as_str().into());
        fields.extend(self.account.as_deref().map(|account| ("account".to_owned(), account.into())));
        Value::Object(fields)
    }

    /// Returns the fields that a block carries, if it came from this very model.
    fn own<'a>(&self, vendor: &'a Option<Value>) -> Option<&'a Map<String, Value>> {
        let fields = vendor.as_ref()?.as_object()?;
        let is = |name: &str, wanted: &str| fields.get(name).and_then(Value::as_str) == Some(wanted);
        // A log from before the host was kept has none, and a later one its name.
        let is_host = !fields.contains_key("host") || is("host", self.host.hash()) || is("host", &self.host.name);
        // Of one of several it goes to no other, nor to the only one that is left.
        let is_account = fields.get("account").and_then(Value::as_str) == self.account.as_deref();
        (is("provider", &self.provider) && is_host && is("model", &self.model) && is_account).then_some(fields)
    }

    /// How many tokens it may think at a level, or without one.
    fn tokens(&self, level: Option<ThinkingLevel>) -> Option<u64> {
        tokens(level.or(self.is_thinking.then_some(ThinkingLevel::Medium))?)
    }

    /// The tokens that it may think at the level that it was chosen with, if it is told a number of them.
    pub(crate) fn thinking_tokens(&self) -> Option<u64> {
        if self.thinking == Thinking::Budget { self.tokens(self.level) } else { None }
    }

    /// The name that the server has for a level, where it is told one by an effort.
    fn effort(&self, level: ThinkingLevel) -> &str {
        let own = self.compat.efforts.as_ref().and_then(|efforts| efforts.get(&level));
        own.map_or_else(|| if level == ThinkingLevel::Off { "none" } else { level.name() }, String::as_str)
    }

    /// The level at which it is to think, if it is to be told one.
    fn level(&self, request: &Request) -> Option<ThinkingLevel> {
        match request.thinking {
            Some(wanted) if !self.is_guess => nearest(&self.levels, wanted),
            _ => nearest(&self.levels, self.level?),
        }
    }
}

/// Returns the hash that stands for a host in the log: sessions are given away, and the name of a gateway may be
/// nobody else's business.
pub(crate) fn hashed(host: &str) -> String {
    let hash = Sha256::digest(host);
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The pieces of an answer that wait to be taken. Neighbouring ones of a kind become one: what came together from the
/// network need not be handled apart.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    queue: VecDeque<ModelEvent>,
    /// How many bytes of text, thinking and input came, in all.
    bytes: usize,
}

impl Pieces {
    pub(crate) fn text(&mut self, piece: &str) {
        self.bytes += piece.len();
        match self.queue.back_mut() {
            _ if piece.is_empty() => {}
            Some(ModelEvent::Text(text)) => text.push_str(piece),
            _ => self.queue.push_back(ModelEvent::Text(piece.to_owned())),
        }
    }

    pub(crate) fn thinking(&mut self, piece: &str) {
        self.bytes += piece.len();
        match self.queue.back_mut() {
            _ if piece.is_empty() => {}
            Some(ModelEvent::Thinking(text)) => text.push_str(piece),
            _ => self.queue.push_back(ModelEvent::Thinking(piece.to_owned())),
        }
    }

    pub(crate) fn input(&mut self, call: &ToolCallId, piece: &str) {
        self.bytes += piece.len();
        match self.queue.back_mut() {
            _ if piece.is_empty() => {}
            Some(ModelEvent::ToolCallInput { id, json }) if id == call => json.push_str(piece),
            _ => self.queue.push_back(ModelEvent::ToolCallInput { id: call.clone(), json: piece.to_owned() }),
        }
    }

    /// Tells what was used so far.
    pub(crate) fn used(&mut self, usage: Usage) {
        self.queue.push_back(ModelEvent::Used(usage));
    }

    pub(crate) fn push(&mut self, event: ModelEvent) {
        self.queue.push_back(event);
    }

    /// How many bytes of text, thinking and input came, in all.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn take(&mut self) -> Option<ModelEvent> {
        self.queue.pop_front()
    }

    /// True if the last piece is the end of the answer.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.queue.back(), Some(ModelEvent::Finished(_)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

/// A tool's input out of its text: nothing is an empty object, and what is not JSON is kept as a string.
fn tool_input(json: &str) -> Value {
    if json.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(json).unwrap_or_else(|_| Value::String(json.to_owned()))
}

/// Makes the usage of a vendor whose input counts what the cache served and stored. Ours does not.
fn usage(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output,
        cache_read,
        cache_write,
        cache_write_hour: 0,
    }
}
