//! The shapes of messages, as far as we read them: lenient where servers differ, and silent on what we do not need.

use std::borrow::Cow;
use std::fmt;

use protocol::content::Range;
use protocol::lang::LangTextEdit;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::transport::RequestError;

/// Any message of a server.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    /// Of a request, or of the request that is answered.
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    /// Of a request or a notification.
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    /// Of a request or a notification.
    #[serde(borrow, default)]
    pub(super) params: Option<&'a RawValue>,
    /// Of an answer.
    #[serde(borrow, default)]
    pub(super) result: Option<&'a RawValue>,
    /// Of an answer.
    #[serde(default)]
    pub(super) error: Option<RpcError>,
}

/// An error that a server answers with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, thiserror::Error)]
pub(crate) struct RpcError {
    /// Its number.
    pub(crate) code: i64,
    /// Its words.
    #[serde(default)]
    pub(crate) message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.code)
    }
}

impl RpcError {
    /// True if the server does not know the method.
    pub(crate) fn is_unknown_method(&self) -> bool {
        self.code == -32601
    }

    /// True if the same question may have an answer a little later: it was cancelled by the server, or the text
    /// changed.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.code, -32802..=-32800)
    }
}

/// The result of `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InitializeResult {
    pub(super) capabilities: Value,
    #[serde(default)]
    pub(super) server_info: Option<ServerInfo>,
}

/// Who the server is.
#[derive(Deserialize)]
pub(super) struct ServerInfo {
    #[serde(default)]
    pub(super) version: Option<String>,
}

/// A command of a server.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Command {
    /// Its name for the server.
    pub(crate) command: String,
    /// The arguments that it is given.
    #[serde(default)]
    pub(crate) arguments: Vec<Value>,
}

/// Reads what a server said.
///
/// # Errors
/// [`RequestError::Malformed`].
pub(crate) fn parse<T: DeserializeOwned>(raw: &RawValue) -> Result<T, RequestError> {
    serde_json::from_str(raw.get()).map_err(|error| RequestError::Malformed(error.to_string()))
}

/// One or many places, as most questions are answered.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Places {
    /// None, one or many.
    Many(Vec<Place>),
    /// One.
    One(Place),
}

/// `Location` or `LocationLink`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Place {
    /// `Location`.
    #[serde(rename_all = "camelCase")]
    Location { uri: String, range: Range },
    /// `LocationLink`.
    #[serde(rename_all = "camelCase")]
    Link { target_uri: String, target_selection_range: Range },
}

/// The answer to a hover request: what is known of a thing.
#[derive(Deserialize)]
pub(crate) struct Hover {
    /// It.
    pub(crate) contents: Contents,
}

/// `MarkupContent`, `MarkedString`, or many of those.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Contents {
    /// Markdown.
    Plain(String),
    /// Code in a language.
    Code { language: String, value: String },
    /// Markdown or plain text.
    Markup { value: String },
    /// Many.
    Many(Vec<Contents>),
}

impl Contents {
    /// As one text in Markdown.
    pub(crate) fn into_markdown(self) -> String {
        match self {
            Self::Plain(text) | Self::Markup { value: text } => text,
            Self::Code { language, value } => format!("```{language}\n{value}\n```"),
            Self::Many(all) => {
                let all: Vec<_> = all.into_iter().map(Self::into_markdown).filter(|text| !text.is_empty()).collect();
                all.join("\n\n")
            }
        }
    }
}

/// `DocumentSymbol`, `SymbolInformation` or `WorkspaceSymbol`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Symbol {
    pub(crate) name: String,
    pub(crate) kind: u8,
    #[serde(default)]
    pub(crate) detail: Option<String>,
    #[serde(default)]
    pub(crate) container_name: Option<String>,
    #[serde(default)]
    pub(crate) range: Option<Range>,
    #[serde(default)]
    pub(crate) selection_range: Option<Range>,
    #[serde(default)]
    pub(crate) location: Option<SymbolPlace>,
    #[serde(default)]
    pub(crate) children: Vec<Symbol>,
}

/// Where a symbol is; a server may leave out the range.
#[derive(Deserialize)]
pub(crate) struct SymbolPlace {
    pub(crate) uri: String,
    #[serde(default)]
    pub(crate) range: Option<Range>,
}

/// `CallHierarchyItem` and `TypeHierarchyItem`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Item {
    pub(crate) name: String,
    pub(crate) kind: u8,
    #[serde(default)]
    pub(crate) detail: Option<String>,
    pub(crate) uri: String,
    pub(crate) range: Range,
    pub(crate) selection_range: Range,
}

/// `CallHierarchyIncomingCall` and `CallHierarchyOutgoingCall`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Call {
    #[serde(alias = "from", alias = "to")]
    pub(crate) item: Item,
    #[serde(default)]
    pub(crate) from_ranges: Vec<Range>,
}

/// `Diagnostic`.
#[derive(Deserialize)]
pub(crate) struct Diagnostic {
    pub(crate) range: Range,
    #[serde(default)]
    pub(crate) severity: Option<u8>,
    pub(crate) message: Contents,
    #[serde(default)]
    pub(crate) source: Option<String>,
    #[serde(default)]
    pub(crate) code: Option<Value>,
}

/// `DocumentDiagnosticReport`.
#[derive(Deserialize)]
pub(crate) struct Report {
    #[serde(default)]
    pub(crate) items: Option<Box<RawValue>>,
}

/// `WorkspaceDiagnosticReport`.
#[derive(Deserialize)]
pub(crate) struct WorkspaceReport {
    /// Of each document.
    #[serde(default)]
    pub(crate) items: Vec<DocumentReport>,
}

/// `WorkspaceDocumentDiagnosticReport`.
#[derive(Deserialize)]
pub(crate) struct DocumentReport {
    /// The document.
    pub(crate) uri: String,
    /// The version that it is of, where the document is open.
    #[serde(default)]
    pub(crate) version: Option<i32>,
    /// The problems; none if they are said to be as before.
    #[serde(default)]
    pub(crate) items: Option<Box<RawValue>>,
}

/// `WorkspaceEdit`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorkspaceEdit {
    #[serde(default)]
    pub(crate) changes: Option<serde_json::Map<String, Value>>,
    #[serde(default)]
    pub(crate) document_changes: Option<Vec<DocumentChange>>,
}

/// A step of a `WorkspaceEdit`.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum DocumentChange {
    /// Text.
    #[serde(rename_all = "camelCase")]
    Text { text_document: Versioned, edits: Vec<LangTextEdit> },
    /// A file is moved.
    #[serde(rename_all = "camelCase")]
    Rename { old_uri: String, new_uri: String },
    /// A file is made or deleted.
    File { kind: String, uri: String },
}

/// A document.
#[derive(Deserialize)]
pub(crate) struct Versioned {
    pub(crate) uri: String,
}

/// `CodeAction` or `Command`.
#[derive(Clone, Deserialize)]
pub(crate) struct Action {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) kind: Option<String>,
    #[serde(default, rename = "isPreferred")]
    pub(crate) is_preferred: Option<bool>,
    #[serde(default)]
    pub(crate) disabled: Option<Disabled>,
    #[serde(default)]
    pub(crate) edit: Option<Box<RawValue>>,
    /// A `Command`, or of a bare command its name.
    #[serde(default)]
    pub(crate) command: Option<Value>,
    /// Of a bare command.
    #[serde(default)]
    pub(crate) arguments: Option<Vec<Value>>,
}

/// Why an action cannot be done.
#[derive(Clone, Deserialize)]
pub(crate) struct Disabled {
    pub(crate) reason: String,
}

impl Action {
    /// The command that belongs to it.
    pub(crate) fn to_command(&self) -> Option<Command> {
        match self.command.as_ref()? {
            Value::String(command) => {
                let arguments = self.arguments.clone().unwrap_or_default();
                Some(Command { command: command.clone(), arguments })
            }
            command => serde_json::from_value(command.clone()).ok(),
        }
    }
}
