//! The form in which a script is written.

use protocol::content::Usage;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A script: the answers of a model, one after the other.
///
/// ```json
/// {
///   "name": "tour",
///   "delayMs": 15,
///   "steps": [
///     { "text": "I look for the test.",
///       "calls": [{ "tool": "search_text", "input": { "query": "fn add" } }] },
///     { "captures": [{ "from": "search_text", "pattern": "^(?<path>[^:]+):(?<line>\\d+):" }],
///       "text": "It is in ${path}.",
///       "calls": [{ "tool": "read_file", "input": { "path": "${path}", "line": "${line:int}" } }] },
///     { "expect": { "from": "read_file", "contains": "a - b" }, "text": "There is the fault." }
///   ]
/// }
/// ```
///
/// *Several turns.* A step without calls ends the turn; the next prompt of the user goes on with the next step. When
/// all steps were played, a further request is an error that says so.
///
/// *Which step comes next* follows from the conversation alone: the messages of the model are gone through in order,
/// and each that is what the next step says (the same tools called, or without calls the same text) counts that step as
/// played. What is not, does not count: the part of an answer that was broken off, the words of another model before
/// this one was chosen. Neither does a step whose calls were interrupted by the server's end: it comes again.
///
/// *Values.* `${name}` in a text or in any string of an input stands for a captured value. A string that is nothing but
/// `${name:int}` becomes a number; `${name:int+3}` and `${name:int-3}` are 3 more and 3 less. `$${` stands for `${`.
///
/// *While the user types.* `fills` are the answers to requests to fill in text at the cursor, and `edits` those to
/// requests for the next edit; a script may have nothing else. No values stand in them.
///
/// ```json
/// {
///   "name": "typing",
///   "fills": [
///     { "after": "fn add(", "text": "a: i32, b: i32)", "delayMs": 5 },
///     { "after": "let x = ", "pieces": ["1", " + 2;"], "hang": true },
///     { "text": "the first request that none of the others fits" },
///     { "error": { "kind": "rateLimited", "message": "too many requests" } }
///   ],
///   "edits": [
///     { "after": "fn area(w: u32, h", "replace": { "old": "w * w", "new": "w * h" } },
///     { }
///   ]
/// }
/// ```
///
/// *Which fill or edit comes next.* The first whose `after` ends the text before the cursor, as often as it fits; if
/// none does, the first without `after` that was not played yet. When all of these were played, a further request is an
/// error that says so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// Its name; the model's id is `scripted/<name>`.
    pub name: String,
    /// The answers.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The pause before each piece of text, in milliseconds. None without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The context window that the model claims, in tokens. 200,000 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The answers to requests to fill in text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fills: Vec<FillStep>,
    /// The answers to requests for the next edit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<EditStep>,
}

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Step {
    /// The demands on a tool's result; the request fails if they are not met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
    /// Values to take out of tool results, for this step and all later ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub captures: Vec<Capture>,
    /// Thinking to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<String>,
    /// Text, streamed in small pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Why it ends. Without it: for tools if there are calls, else because it is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<ScriptedStop>,
    /// The usage that it claims. Nothing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The pause before each piece of its text, in place of the script's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Call {
    /// Its id. Without it, one that follows from its place in the script.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool.
    pub tool: String,
    /// Its input. Without it, an empty object.
    #[serde(default)]
    pub input: Value,
}

/// A value to take out of a tool result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Capture {
    /// The source of the result: the id of a call, or the name of a tool, whose latest result it is then.
    pub from: String,
    /// A regular expression, in which `^` and `$` are the beginning and end of a line. Each named group that takes part
    /// in the match becomes a value of its name.
    pub pattern: String,
    /// The name of the value that the first group becomes, or the whole match where there is no group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Take the last match and not the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub last: bool,
}

/// The demands on a tool's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Expect {
    /// The source of the result, as in [`Capture::from`]. Without it, the latest of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// A text that it must hold. Values can stand in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contains: Option<String>,
    /// A regular expression that it must match, with lines as in [`Capture::pattern`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// True if the call must have failed, false if it must not have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}

/// Why an answer of a script ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScriptedStop {
    /// It is done.
    EndTurn,
    /// It wants tools called.
    ToolUse,
    /// It reached the maximum length.
    MaxTokens,
    /// It would not answer.
    Refusal,
}

/// An answer to a request to fill in text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FillStep {
    /// The text with which the text before the cursor must end. Without it, the answer is played once, in its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Text, streamed in small pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Text, streamed in these pieces, after `text`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<String>,
    /// The pause before each piece, in milliseconds, in place of the script's. Without any piece, the pause before the
    /// end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// True if nothing comes after the pieces, until the request is given up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hang: bool,
    /// The failure that comes after the pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptedFailure>,
    /// True if it ends because it reached the maximum length.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The usage that it claims. Nothing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The tokens of the prompt that it claims to have kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
}

/// An answer to a request for the next edit. Without `text` and `replace` nothing is to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct EditStep {
    /// The text with which the text before the cursor must end. Without it, the answer is played once, in its turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The new text of the whole window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// A part of the window that is replaced, in place of `text`. It is an error if the window does not have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Replace>,
    /// The pause before the answer, in milliseconds, in place of the script's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// True if no answer comes, until the request is given up.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hang: bool,
    /// The failure that comes instead of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ScriptedFailure>,
    /// True if it ends because it reached the maximum length.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// The usage that it claims. Nothing without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// A text in place of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Replace {
    /// The text that is replaced, where it stands first.
    pub old: String,
    /// The text in its place.
    pub new: String,
}

/// A failure of a script.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScriptedFailure {
    /// The kind.
    #[serde(default)]
    pub kind: ScriptedKind,
    /// The message.
    pub message: String,
}

/// Kinds of failure, as in [`ModelErrorKind`](ports::model::ModelErrorKind).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScriptedKind {
    /// It may work the next time.
    #[default]
    Transient,
    /// Too many requests.
    RateLimited,
    /// The answer broke off.
    Incomplete,
    /// It is not the protocol.
    Garbage,
    /// The key is not accepted.
    Unauthorized,
    /// It will fail again.
    Rejected,
}
