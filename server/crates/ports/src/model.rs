//! The port to a language model: a request in, a stream of events out.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use protocol::content::{Opening, Usage};
use protocol::model::{AccountSwitch, ModelInfo, Price, SwitchReason, ThinkingLevel};
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use serde_json::Value;

/// A model that can be asked. One value serves any number of requests at once.
#[async_trait]
pub trait Model: Send + Sync {
    /// The model's properties.
    fn info(&self) -> &ModelInfo;

    /// True if another level is told within the conversation, so that the vendor's cache still has what came before.
    fn changes_level_in_place(&self) -> bool {
        false
    }

    /// The number of tokens that it may think at the level that it was chosen with, which count as the answer's; none
    /// if it is told no number.
    fn thinking_tokens(&self) -> Option<u64> {
        None
    }

    /// Has the next request of a session go out with a key or account that can be used, if the user has several at the
    /// provider: the one that the session had, unless that rests or has failed so. Gives the one that goes on if it is
    /// another; none if it is the same, or there is no other. `session` is the [`cache_key`](Request::cache_key) of its
    /// requests. A failure brings back none of those whose names are in `tried`.
    async fn account(&self, _session: &str, _failure: Option<&ModelError>, _tried: &[String]) -> Option<OtherAccount> {
        None
    }

    /// The window that its server has given it, if the server decides that when it loads a model and says so; none if
    /// it is that of [`info`](Self::info). It is asked for after an answer, since the model is loaded by then.
    async fn window(&self) -> Option<Window> {
        None
    }

    /// Sends a request and gives its answer piece by piece.
    ///
    /// The stream ends after [`ModelEvent::Finished`] or after an error; a stream that ends without either is
    /// reported as [`ModelErrorKind::Incomplete`] by the adapter. Dropping the stream cancels the request. An adapter
    /// makes one attempt only: retrying is the turn's.
    ///
    /// # Errors
    /// Whatever went wrong before the first piece came.
    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError>;
}

/// The context window that a server has given to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Its size.
    pub tokens: u64,
    /// The problem with it, and what to do; none if it is large enough.
    pub warning: Option<String>,
}

/// A key or account at a provider that goes on in another one's stead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherAccount {
    /// Who goes on, and instead of whom.
    pub switch: AccountSwitch,
    /// Why the other one does not.
    pub reason: SwitchReason,
    /// The time until which that one rests, in milliseconds since 1970; none if it does not.
    pub until: Option<u64>,
}

/// The models that a turn may ask in another one's stead.
#[async_trait]
pub trait Fallbacks: Send + Sync {
    /// The next model of the turn's chain after one that failed; none if there is no other that can be asked now. The
    /// turns of this process let the failed one rest for a while.
    async fn next(&self, failed: &ModelInfo, failure: &ModelError) -> Option<Successor>;

    /// The model of the same provider with the next larger context; none if there is none that can be asked, or the
    /// user does not want that.
    async fn larger(&self, than: &ModelInfo) -> Option<Successor>;

    /// A model has answered: whoever let it rest need not do so any longer.
    fn answered(&self, _: &ModelInfo) {}

    /// The names of a few models that can be asked now, which the user may choose instead of one that failed.
    async fn others(&self, than: &ModelInfo) -> Vec<String>;
}

/// A model that goes on in another one's stead.
pub struct Successor {
    /// The model.
    pub model: Arc<dyn Model>,
    /// The time until which the other one rests, in milliseconds since 1970; none if it does not.
    pub until: Option<u64>,
}

/// The pieces of an answer.
pub type ModelStream = BoxStream<'static, Result<ModelEvent, ModelError>>;

/// All that a model is given. Equal values give equal bytes on the wire, and a request whose messages begin with those
/// of another gives bytes that begin with the other's, so that the vendors' caches hit.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools it may call.
    pub tools: Arc<[ToolSpec]>,
    /// The conversation so far. Every tool call in it has exactly one result, in the message right after it.
    pub messages: Vec<Arc<Message>>,
    /// The longest answer in tokens.
    pub max_output_tokens: u64,
    /// The level to think at, or the nearest that the model has; none for the one that it was chosen with.
    pub thinking: Option<ThinkingLevel>,
    /// The requests to the same model before, as far as the log tells of them.
    pub before: Before,
    /// A key that stays the same for a session, for vendors that route by it to their caches.
    pub cache_key: String,
    /// True if the vendor is to keep the prompt for an hour, where it can. It costs more than the usual minutes.
    pub cache_hour: bool,
}

/// The requests to a model before another one to it, in the same conversation. Empty for one that stands alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// True for a request of a conversation, which may have been preceded by others and may be followed by others.
    pub in_conversation: bool,
    /// The name that the vendor of the last answer gave it ([`Opening::vendor`]); none if it gave none.
    pub answer: Option<Value>,
    /// The level that the first of them asked for, and those that later ones changed to, in their order.
    pub levels: Vec<LevelAt>,
}

/// A level that a model was told to think at from some place of the conversation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelAt {
    /// The number of messages before the first that it counts for. Only these were sent with another level.
    pub at: usize,
    /// The level; none for as much as the model does by itself.
    pub level: Option<ThinkingLevel>,
}

/// A message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// From the user, or from us on the user's behalf.
    User(Vec<UserBlock>),
    /// From the model.
    Assistant(Vec<AssistantBlock>),
    /// The results of all tool calls of the assistant's message before it, in the order of the calls.
    ToolResults(Vec<ToolResult>),
}

impl Message {
    /// True if the user shows something in it.
    pub fn has_images(&self) -> bool {
        matches!(self, Self::User(blocks) if blocks.iter().any(|block| matches!(block, UserBlock::Image { .. })))
    }
}

/// A piece of a user's message.
#[derive(Clone, Debug, PartialEq)]
pub enum UserBlock {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// The bytes, in base64.
        data: String,
    },
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name: lower case, digits and `_`.
    pub name: String,
    /// The description: what it does and when to use it.
    pub description: String,
    /// The JSON schema of its input, an object.
    pub input_schema: Value,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelEvent {
    /// The answer begins, and its vendor says something besides. Nothing comes before it.
    Opened(Opening),
    /// Text to show.
    Text(String),
    /// Thinking to show.
    Thinking(String),
    /// A tool call begins; its input follows.
    ToolCallStarted {
        /// The call.
        id: ToolCallId,
        /// The tool.
        name: String,
    },
    /// A piece of a tool call's input, as JSON text.
    ToolCallInput {
        /// The call.
        id: ToolCallId,
        /// The piece.
        json: String,
    },
    /// The tokens used so far, as far as the vendor has reported them; each report replaces the one before, and
    /// [`Finished`](Self::Finished) replaces them all. For the cost of answers that are never completed.
    Used(Usage),
    /// The answer is whole.
    Finished(Response),
}

/// A whole answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// All of it, in order, with what the vendor wants back unchanged.
    pub content: Vec<AssistantBlock>,
    /// The reason why it ended.
    pub stop: Stop,
    /// The vendor's explanation for the user, if there is one.
    pub why: Option<String>,
    /// The tokens used.
    pub usage: Usage,
}

/// The price of input that is stored for an hour, as a multiple of that of other input: it is the same for all of
/// Anthropic's models, at Bedrock, Vertex AI and Foundry too, and for long prompts
/// (platform.claude.com/docs/en/build-with-claude/prompt-caching, and the prices of pypi `litellm` 1.109).
const HOUR: f64 = 2.0;

/// The cost of a request in US dollars. Every token counts once, because [`Usage`] separates the kinds for all vendors.
pub fn cost(price: &Price, usage: &Usage) -> f64 {
    let millions = |tokens: u64| tokens as f64 / 1e6;
    let prompt = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let [input, output, cache_read, cache_write, hour] = match price.long.filter(|long| prompt > long.above) {
        Some(long) => {
            // A price of the user's own for an hour is that of usual prompts, and rises as that of input does.
            let hour = price.cache_write_hour.filter(|_| price.input > 0.0);
            let hour = hour.map_or(long.input * HOUR, |hour| hour * long.input / price.input);
            [long.input, long.output, long.cache_read, long.cache_write, hour]
        }
        None => {
            let hour = price.cache_write_hour.unwrap_or(price.input * HOUR);
            [price.input, price.output, price.cache_read, price.cache_write, hour]
        }
    };
    let for_hour = usage.cache_write_hour.min(usage.cache_write);
    millions(usage.input) * input
        + millions(usage.output) * output
        + millions(usage.cache_read) * cache_read
        + millions(usage.cache_write - for_hour) * cache_write
        + millions(for_hour) * hour
}

/// The reason why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model was done.
    EndTurn,
    /// It wants tools called.
    ToolUse,
    /// It reached the maximum length.
    MaxTokens,
    /// It would not answer.
    Refusal,
    /// The vendor paused it; it goes on if it is sent back.
    Pause,
}

/// A request that failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ModelError {
    /// The kind of failure; decides what the turn does.
    pub kind: ModelErrorKind,
    /// A message: what happened, to what, and what to do. It never contains a key.
    pub message: String,
}

/// Kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorKind {
    /// It may work the next time: network, 5xx, overload. Retried.
    Transient,
    /// Too many requests of this key or account. Retried, after what the vendor asks for.
    RateLimited {
        /// The delay that the vendor asks for.
        retry_after: Option<Duration>,
    },
    /// The vendor is overloaded and names a time; no key or account is to blame. Retried after that.
    Overloaded {
        /// The delay that the vendor asks for.
        retry_after: Duration,
    },
    /// The answer broke off, or stalled. Retried.
    Incomplete,
    /// The vendor sent what is not its protocol. Retried once.
    Garbage,
    /// The vendor could not read the call that the model wrote, and gave nothing of the answer. The model is told.
    UnreadableCall,
    /// The vendor complains of tool calls without results, or of signatures that it does not know. The history is
    /// mended and the request tried once more.
    OrphanedToolCalls,
    /// The request is too long for the model.
    ContextOverflow,
    /// The quota for the model is used up, or the account has no credit left. Not retried: it takes hours, or the user.
    QuotaUsedUp,
    /// No key, a wrong key, or no right to the model. Not retried.
    Unauthorized,
    /// The vendor does not serve the model: it has ended it, or does not allow it for this key. Not retried.
    NoSuchModel,
    /// Anything else that will fail again. Not retried.
    Rejected,
}

impl ModelErrorKind {
    /// True if it has nothing to do with what was asked, and may not come again.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Transient | Self::RateLimited { .. } | Self::Overloaded { .. } | Self::Incomplete)
    }

    /// True if it is about the key or account, so that another one at the same provider may do what this one could not.
    pub fn is_of_account(self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::QuotaUsedUp | Self::Unauthorized | Self::NoSuchModel)
    }

    /// The reason for which another model may do what this one could not; none if it is the request's fault, so that
    /// another one would fail too, or be asked what this one has refused.
    pub fn switch_reason(self) -> Option<SwitchReason> {
        match self {
            Self::RateLimited { .. } => Some(SwitchReason::RateLimited),
            Self::QuotaUsedUp => Some(SwitchReason::QuotaUsedUp),
            Self::Unauthorized | Self::NoSuchModel => Some(SwitchReason::Unauthorized),
            Self::Transient | Self::Overloaded { .. } | Self::Incomplete | Self::Garbage | Self::UnreadableCall => {
                Some(SwitchReason::Failed)
            }
            Self::OrphanedToolCalls | Self::ContextOverflow | Self::Rejected => None,
        }
    }
}
