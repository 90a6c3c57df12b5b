//! The capabilities of a client beyond LSP, and the requests from server to client that use them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The capabilities that a client announces in `initialize`, under `capabilities.experimental.azimuth`. A client that
/// announces none gets no `azimuth/*` message that it did not ask for.
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
    /// True if the document's text is on disk now.
    pub saved: bool,
}

/// Result of `azimuth/editor/text`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorTextResult {
    /// The document's text in the editor; absent if it is not open there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Parameters of `azimuth/editor/format`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditorFormatParams {
    /// The document.
    pub uri: String,
    /// The version to format. If the document has another version, the result has no text.
    pub version: i32,
    /// The lines to format, from top to bottom, not overlapping; empty for the whole document. A formatter that cannot
    /// format a part then formats nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<LineRange>,
}

/// Whole lines of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LineRange {
    /// The first, from 0.
    pub start: u32,
    /// The line after the last one.
    pub end: u32,
}

/// Result of `azimuth/editor/format`. The request changes nothing: the server applies the text like an accepted edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditorFormatResult {
    /// The text of the whole document, formatted; absent if there is no formatter, or the document has another version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The formatter's name to show, such as a language server's; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}
