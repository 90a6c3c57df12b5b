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
