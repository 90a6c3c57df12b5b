//! What a client can do for the server beyond LSP, and the requests for it, from server to client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a client says of itself in `initialize`, under `capabilities.experimental.azimuth`. A client that says nothing
/// there gets no `azimuth/*` message that it did not ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ClientCapabilities {
    /// It shows sessions: it handles `azimuth/event` and `azimuth/terminal/output`, and answers questions.
    pub panel: bool,
    /// It answers `azimuth/editor/save`.
    pub save: bool,
    /// It answers `azimuth/editor/text`.
    pub text: bool,
    /// It answers `azimuth/editor/format`.
    pub format: bool,
    /// It answers `azimuth/editor/query`.
    pub query: bool,
}

/// Parameters of `azimuth/editor/save` and `azimuth/editor/text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditorDocumentParams {
    /// The document.
    pub uri: String,
}

/// Result of `azimuth/editor/save`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorSaveResult {
    /// Whether the document's text is on disk now.
    pub saved: bool,
}

/// Result of `azimuth/editor/text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorTextResult {
    /// The document's text as the editor holds it; absent where the editor does not have it open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Parameters of `azimuth/editor/format`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditorFormatParams {
    /// The document.
    pub uri: String,
    /// The version of it that is to be formatted. For another one there is no text in the result.
    pub version: i32,
    /// The lines to format, from top to bottom, not overlapping; all of the document where there are none. A formatter
    /// that cannot format a part formats nothing then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineRange>,
}

/// Whole lines of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineRange {
    /// The first, from 0.
    pub start: u32,
    /// The one after the last.
    pub end: u32,
}

/// Result of `azimuth/editor/format`. Nothing is changed by the request: the server puts the text into the document as
/// it does an accepted edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorFormatResult {
    /// What the whole document would be, formatted; absent where nothing formats it, or it is at another version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What formats it, for people, such as a language server's name; absent where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
