//! Questions about code, as language servers answer them: `azimuth/editor/query`, by which the server asks the client
//! to pass a question to the language servers that the editor runs.
//!
//! Positions here are always in UTF-16, whatever encoding was negotiated: that is what most language servers speak, and
//! the client converts for those that do not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{Position, Range};
use crate::editor::LineRange;

/// Parameters of `azimuth/editor/query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditorQueryParams {
    /// The question.
    pub query: LangQuery,
    /// The time that the client may take, in milliseconds. After that it answers with the status `timedOut`, or with
    /// what it has as `partial`.
    pub timeout_ms: u32,
}

/// A question about code. The document of a question need not be open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum LangQuery {
    /// The definition of the symbol here. Answered with `locations`.
    Definition {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The definition of the symbol's type. Answered with `locations`.
    TypeDefinition {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The implementations of the symbol here. Answered with `locations`.
    Implementation {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The uses of the symbol here, including its declaration. Answered with `locations`.
    References {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The description of the symbol here. Answered with `text`.
    Hover {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The symbols of a document. Answered with `symbols`, each before those that it contains.
    DocumentSymbols {
        /// The document.
        uri: String,
    },
    /// The symbols of the workspace with this name. Answered with `symbols`.
    WorkspaceSymbols {
        /// The name, or a part of it.
        query: String,
        /// A document whose language servers are asked; without it, all that run are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// The callers of the function here. Answered with `calls`.
    IncomingCalls {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The functions that the function here calls. Answered with `calls`.
    OutgoingCalls {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The supertypes of the type here. Answered with `symbols`.
    Supertypes {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The subtypes of the type here. Answered with `symbols`.
    Subtypes {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
    },
    /// The changes that would rename the symbol here. Nothing is changed. Answered with `edit`.
    Rename {
        /// The document.
        uri: String,
        /// The position.
        position: Position,
        /// The new name.
        new_name: String,
    },
    /// The changes elsewhere that would move a file or folder. Nothing is changed, and the move itself is not in the
    /// answer. Answered with `edit`.
    MoveFile {
        /// The current path, as a URI.
        from: String,
        /// The new path, as a URI.
        to: String,
    },
    /// The known problems. Answered with `diagnostics`.
    Diagnostics {
        /// The document; without it, all documents with known problems.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// The actions for a part of a document. Answered with `actions`.
    CodeActions {
        /// The document.
        uri: String,
        /// The part.
        range: Range,
        /// Only actions of this kind, or of those below it, such as `quickfix`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
    /// The changes that an action would make. Nothing is changed. Answered with `edit`; an action that does more than
    /// edit is `unsupported`.
    CodeAction {
        /// The document.
        uri: String,
        /// The part.
        range: Range,
        /// The action, by its title.
        title: String,
        /// The kind with which it was requested, if any: some servers offer such actions only then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
    /// The changes that would format a document. Nothing is changed. Answered with `edit`.
    Format {
        /// The document.
        uri: String,
        /// Only these lines, if any are named. Only Azimuth's own servers are asked this way; clients have
        /// `azimuth/editor/format`.
        #[serde(skip)]
        lines: Vec<LineRange>,
    },
    /// The servers that run for a document, or all of them. Answered with `nothing`; the result is in `servers`.
    Servers {
        /// The document.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
}

/// Result of `azimuth/editor/query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangResult {
    /// The reliability of the answer.
    pub status: LangStatus,
    /// The servers that answered, or would have. Empty if they are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<LangServer>,
    /// The version of the document that the answer is for; none if it is not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The failure, or what is still missing, to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The answer.
    pub answer: LangAnswer,
}

/// The reliability of an answer. "There is none" is `ready` with an empty answer, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LangStatus {
    /// The answer is complete.
    Ready,
    /// The server is still reading the project: the answer may be incomplete.
    Indexing,
    /// There is more than was given, one of several servers did not answer, or the answer may be for another text than
    /// the current one. The message says which.
    Partial,
    /// There is no server for the document.
    NoServer,
    /// The servers cannot answer this.
    Unsupported,
    /// The server said that it could not; the message says why.
    Failed,
    /// The server ended while it was asked.
    Crashed,
    /// There was no answer in time.
    TimedOut,
    /// The editor was busy and did not pass the question on.
    EditorBusy,
    /// The answer depends on pending edits, which the servers do not see; the message names them.
    Unseen,
}

/// A language server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangServer {
    /// Its name, as given by the server or its configuration.
    pub name: String,
    /// Its version, if it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// An answer, by the kind of question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LangAnswer {
    /// There is no answer; the status says why.
    Nothing,
    /// Locations in code.
    Locations {
        /// The locations.
        locations: Vec<LangLocation>,
    },
    /// Text in Markdown.
    Text {
        /// The text; empty if nothing is known.
        text: String,
    },
    /// Symbols.
    Symbols {
        /// The symbols.
        symbols: Vec<LangSymbol>,
    },
    /// Callers, or called functions.
    Calls {
        /// The callers, or the called functions.
        calls: Vec<LangCall>,
    },
    /// A change of files that was not made.
    Edit {
        /// Its steps, in their order; empty if nothing would change.
        changes: Vec<LangChange>,
    },
    /// Problems.
    Diagnostics {
        /// The documents, including those that are known to have no problems.
        documents: Vec<LangDiagnostics>,
    },
    /// Available actions.
    Actions {
        /// The actions.
        actions: Vec<LangAction>,
    },
}

/// A location in code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangLocation {
    /// The document.
    pub uri: String,
    /// The range in it.
    pub range: Range,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangSymbol {
    /// Its name.
    pub name: String,
    /// Its kind: the number of LSP's `SymbolKind`.
    pub kind: u8,
    /// Details, such as its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The name of its container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Its depth: the number of symbols of the same answer that contain it.
    #[serde(default)]
    pub depth: u32,
    /// Its whole range.
    pub location: LangLocation,
    /// Its name in its definition; if that is unknown, its beginning.
    pub selection: Range,
}

/// A caller, or a called function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangCall {
    /// The caller, or the called function.
    pub symbol: LangSymbol,
    /// The ranges of the calls, in the caller.
    pub ranges: Vec<Range>,
}

/// A step of a change of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LangChange {
    /// Parts of a document's text are replaced.
    Text {
        /// The document.
        uri: String,
        /// The version of it that the edits are made for, if it is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<i32>,
        /// The hash of the text that the edits are made for, if it is known: SHA-256 in hexadecimal, without byte order
        /// mark and with LF line ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
        /// The edits, with ranges in the text before all of them, not overlapping.
        edits: Vec<LangTextEdit>,
    },
    /// A file is created.
    Create {
        /// The file.
        uri: String,
    },
    /// A file or folder is moved.
    Rename {
        /// The current path, as a URI.
        from: String,
        /// The new path, as a URI.
        to: String,
    },
    /// A file or folder is deleted.
    Delete {
        /// The file.
        uri: String,
    },
}

/// A part of a text, and its replacement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangTextEdit {
    /// The part.
    pub range: Range,
    /// The new text.
    pub new_text: String,
}

/// The problems of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangDiagnostics {
    /// The document.
    pub uri: String,
    /// The version that they belong to, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The problems.
    pub diagnostics: Vec<LangDiagnostic>,
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangDiagnostic {
    /// The range.
    pub range: Range,
    /// The severity.
    pub severity: LangSeverity,
    /// The message.
    pub message: String,
    /// The source, such as `rustc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The source's code for it, such as `E0308`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// The severity of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LangSeverity {
    /// An error.
    Error,
    /// A warning.
    Warning,
    /// A remark.
    Information,
    /// A hint.
    Hint,
}

/// An available action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangAction {
    /// Its title, to be shown; its name in `codeAction`.
    pub title: String,
    /// Its kind, such as `quickfix` or `refactor.extract`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// True for the most likely action.
    #[serde(default)]
    pub preferred: bool,
    /// The reason why it cannot be done here, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

impl LangResult {
    /// A result without an answer, for this reason.
    pub fn without_answer(status: LangStatus, message: Option<String>) -> Self {
        Self { status, servers: Vec::new(), version: None, message, answer: LangAnswer::Nothing }
    }
}

impl LangQuery {
    /// The document that it is about, if it is about one.
    pub fn uri(&self) -> Option<&str> {
        match self {
            Self::Definition { uri, .. }
            | Self::TypeDefinition { uri, .. }
            | Self::Implementation { uri, .. }
            | Self::References { uri, .. }
            | Self::Hover { uri, .. }
            | Self::DocumentSymbols { uri }
            | Self::IncomingCalls { uri, .. }
            | Self::OutgoingCalls { uri, .. }
            | Self::Supertypes { uri, .. }
            | Self::Subtypes { uri, .. }
            | Self::Rename { uri, .. }
            | Self::MoveFile { from: uri, .. }
            | Self::CodeActions { uri, .. }
            | Self::CodeAction { uri, .. }
            | Self::Format { uri, .. } => Some(uri),
            Self::WorkspaceSymbols { uri, .. } | Self::Diagnostics { uri } | Self::Servers { uri } => uri.as_deref(),
        }
    }

    /// Renames each document in it.
    pub fn rename_documents(&mut self, name: impl Fn(&str) -> String) {
        match self {
            Self::Definition { uri, .. }
            | Self::TypeDefinition { uri, .. }
            | Self::Implementation { uri, .. }
            | Self::References { uri, .. }
            | Self::Hover { uri, .. }
            | Self::DocumentSymbols { uri }
            | Self::IncomingCalls { uri, .. }
            | Self::OutgoingCalls { uri, .. }
            | Self::Supertypes { uri, .. }
            | Self::Subtypes { uri, .. }
            | Self::Rename { uri, .. }
            | Self::CodeActions { uri, .. }
            | Self::CodeAction { uri, .. }
            | Self::Format { uri, .. } => *uri = name(uri),
            Self::MoveFile { from, to } => (*from, *to) = (name(from), name(to)),
            Self::WorkspaceSymbols { uri, .. } | Self::Diagnostics { uri } | Self::Servers { uri } => {
                *uri = uri.as_deref().map(name);
            }
        }
    }

    /// True if the answer depends on the whole project, and not only on the code at the position.
    pub fn is_wide(&self) -> bool {
        matches!(
            self,
            Self::Implementation { .. }
                | Self::References { .. }
                | Self::WorkspaceSymbols { .. }
                | Self::IncomingCalls { .. }
                | Self::OutgoingCalls { .. }
                | Self::Supertypes { .. }
                | Self::Subtypes { .. }
                | Self::Rename { .. }
                | Self::MoveFile { .. }
        )
    }
}
