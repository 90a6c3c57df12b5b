//! The parts that messages are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ToolCallId;

/// A position in a document: LSP's `Position`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Position {
    /// Line, from 0.
    pub line: u32,
    /// Offset in the line, from 0, in units of the negotiated position encoding.
    pub character: u32,
}

/// A range in a document, its end exclusive: LSP's `Range`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Range {
    /// Where it begins.
    pub start: Position,
    /// Where it ends, exclusive.
    pub end: Position,
}

impl Range {
    /// The first and the last line of the range, from 0. If it ends at the beginning of a line, as a selection of whole
    /// lines does, that line is not part of it.
    pub fn lines(self) -> [u32; 2] {
        let is_whole = self.end.character == 0 && self.end.line > self.start.line;
        [self.start.line, self.end.line - u32::from(is_whole)]
    }
}

/// A location in a file that an event is about; an editor can show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Location {
    /// The document.
    pub uri: String,
    /// Line, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

/// A vendor's words at the beginning of its answer, besides the answer itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Opening {
    /// The name of the answer, as its vendor is told it with the next request. Nobody else gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vendor: Option<Value>,
    /// The reason why its cache did not serve what it had served before; absent if it says none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<CacheMiss>,
}

impl Opening {
    /// True if nothing was said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A vendor's reason why its cache did not serve a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CacheMiss {
    /// The first part of the request that was not what it had been in the request before.
    pub changed: RequestPart,
    /// The tokens that would have been read from the cache without that, by the vendor's estimate.
    pub tokens: u64,
}

/// A part of a request to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RequestPart {
    /// The model, or how it is served.
    Model,
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// The conversation.
    Messages,
}

/// A piece of the user's prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PromptBlock {
    /// Text as typed. Slash commands are looked for in it.
    Text {
        /// The text.
        text: String,
    },
    /// A mention of a file. Its text, bounded, is put before the model.
    File {
        /// The document.
        uri: String,
    },
    /// A mention of a part of a file.
    Range {
        /// The document.
        uri: String,
        /// Which part.
        range: Range,
    },
    /// The user's selection at the time of the prompt.
    Selection {
        /// The document.
        uri: String,
        /// Where the selection is.
        range: Range,
        /// The selected text.
        text: String,
    },
    /// An image.
    Image {
        /// Such as `image/png`.
        mime_type: String,
        /// The bytes, in base64.
        data: String,
    },
}

/// A piece of an assistant's message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AssistantBlock {
    /// Markdown text.
    Text {
        /// The text.
        text: String,
        /// The data that the vendor wants back unchanged (a signature, a phase). Opaque.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<Value>,
    },
    /// The model's thinking.
    Thinking {
        /// The part that may be shown; it can be empty if the vendor hides it.
        text: String,
        /// The data that the vendor wants back unchanged (signature, encrypted content). Opaque.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<Value>,
    },
    /// A call of a tool.
    ToolCall {
        /// The call.
        id: ToolCallId,
        /// The tool.
        name: String,
        /// Its input, an object.
        input: Value,
        /// The data that the vendor wants back unchanged (a signature, its own id). Opaque.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<Value>,
    },
}

impl AssistantBlock {
    /// Text with which no vendor wants anything back.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), vendor: None }
    }

    /// A call with which no vendor wants anything back.
    pub fn tool_call(id: ToolCallId, name: impl Into<String>, input: Value) -> Self {
        Self::ToolCall { id, name: name.into(), input, vendor: None }
    }
}

/// The result of a tool call. Every tool call has exactly one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// The call.
    pub tool_call_id: ToolCallId,
    /// The text that the model reads, bounded.
    pub text: String,
    /// True if the call failed.
    #[serde(default)]
    pub is_error: bool,
}

/// The purpose of a request to a model outside a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideRole {
    /// The session's title.
    Title,
}

/// The kind of a tool; ACP's tool kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads files or other data.
    Read,
    /// Changes files.
    Edit,
    /// Deletes files.
    Delete,
    /// Moves files.
    Move,
    /// Searches.
    Search,
    /// Runs commands.
    Execute,
    /// Reasons.
    Think,
    /// Fetches from outside.
    Fetch,
    /// Anything else.
    Other,
}

/// A step of a plan; ACP's plan entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanEntry {
    /// The task, one line.
    pub content: String,
    /// How far it is.
    pub status: PlanEntryStatus,
}

/// The status of a step of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanEntryStatus {
    /// It is to be done.
    Pending,
    /// It is being done.
    InProgress,
    /// It is done.
    Completed,
}

/// Tokens used, each kind counted once: `input` leaves out what the cache served or stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Input tokens billed in full.
    pub input: u64,
    /// Output tokens, thinking included.
    pub output: u64,
    /// Input tokens read from the vendor's cache.
    pub cache_read: u64,
    /// Input tokens written to the vendor's cache.
    pub cache_write: u64,
    /// Those of them that were written for an hour, which costs more. Sums of several requests may leave it out, since
    /// they have the cost beside them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub cache_write_hour: u64,
}

/// The time that a model's answer took, by a clock that is never set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timing {
    /// From the request to the first piece of the answer, in milliseconds.
    pub first_ms: u64,
    /// From the request to the end of the answer, in milliseconds.
    pub total_ms: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// The sum of all tokens. It does not overflow, whatever a vendor reports.
    pub fn total(&self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

    /// The tokens without these; of each kind none if these are more.
    #[must_use]
    pub fn less(self, without: Self) -> Self {
        Self {
            input: self.input.saturating_sub(without.input),
            output: self.output.saturating_sub(without.output),
            cache_read: self.cache_read.saturating_sub(without.cache_read),
            cache_write: self.cache_write.saturating_sub(without.cache_write),
            cache_write_hour: self.cache_write_hour.saturating_sub(without.cache_write_hour),
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.cache_write_hour = self.cache_write_hour.saturating_add(more.cache_write_hour);
    }
}

/// The severity of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something may not be as expected.
    Warning,
    /// Something failed.
    Error,
}
