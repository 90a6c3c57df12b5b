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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Script {
    /// Its name; the model's id is `scripted/<name>`.
    pub name: String,
    /// The answers.
    pub steps: Vec<Step>,
    /// The pause before each piece of text, in milliseconds. None without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The context window that the model claims, in tokens. 200,000 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
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
