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
    /// How long the client may take, in milliseconds. Then it answers with the status `timedOut`, or with what it has
    /// as `partial`.
    pub timeout_ms: u32,
}

/// A question about code. The document of a question need not be open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum LangQuery {
    /// Where is what stands here defined? Answered with `locations`.
    Definition {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// Where is the type of what stands here defined? Answered with `locations`.
    TypeDefinition {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What implements what stands here? Answered with `locations`.
    Implementation {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// Where is what stands here used? Its declaration is among them. Answered with `locations`.
    References {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What is known of what stands here? Answered with `text`.
    Hover {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What symbols are in a document? Answered with `symbols`, each before those that are in it.
    DocumentSymbols {
        /// The document.
        uri: String,
    },
    /// What symbols of the workspace are called like this? Answered with `symbols`.
    WorkspaceSymbols {
        /// What they are called, or a part of it.
        query: String,
        /// A document whose language servers are asked; all that run without one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// What calls what stands here? Answered with `calls`.
    IncomingCalls {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What does that call which stands here? Answered with `calls`.
    OutgoingCalls {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What are the supertypes of the type that stands here? Answered with `symbols`.
    Supertypes {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What are the subtypes of the type that stands here? Answered with `symbols`.
    Subtypes {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
    },
    /// What would have to change, so that what stands here is called otherwise? Nothing is changed. Answered with
    /// `edit`.
    Rename {
        /// The document.
        uri: String,
        /// The place.
        position: Position,
        /// The new name.
        new_name: String,
    },
    /// What would have to change elsewhere, if a file or folder lay in another place? Nothing is changed, and the
    /// moving itself is not in the answer. Answered with `edit`.
    MoveFile {
        /// Where it is.
        from: String,
        /// Where it would be.
        to: String,
    },
    /// What problems are known? Answered with `diagnostics`.
    Diagnostics {
        /// The document; all of which something is known without it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
    /// What can be done for a part of a document? Answered with `actions`.
    CodeActions {
        /// The document.
        uri: String,
        /// The part.
        range: Range,
        /// Only actions of this kind, or of those below it, such as `quickfix`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
    /// What would an action change? Nothing is changed. Answered with `edit`; an action that does more than edit is
    /// `unsupported`.
    CodeAction {
        /// The document.
        uri: String,
        /// The part.
        range: Range,
        /// The action, by its title.
        title: String,
        /// The kind that it was asked for by, where it was: some servers make such actions only then.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
    },
    /// What would have to change, so that a document is formatted? Nothing is changed. Answered with `edit`.
    Format {
        /// The document.
        uri: String,
        /// Only these lines, where any are named. Our own servers alone are asked so; clients have
        /// `azimuth/editor/format`.
        #[serde(skip)]
        lines: Vec<LineRange>,
    },
    /// Which servers run for a document, or at all? Answered with `nothing`; `servers` says it.
    Servers {
        /// The document.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uri: Option<String>,
    },
}

/// What a question came to: result of `azimuth/editor/query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangResult {
    /// How far the answer can be relied on.
    pub status: LangStatus,
    /// Who answered, or would have. Empty where that cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<LangServer>,
    /// The version of the document that it was answered for; none where it is not open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// What went wrong, or what is still missing, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The answer.
    pub answer: LangAnswer,
}

/// How far an answer can be relied on. "There is none" is `ready` with an empty answer, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LangStatus {
    /// It is whole.
    Ready,
    /// The server still reads the project: what there is may be there, more may come.
    Indexing,
    /// There is more than was given, one of several servers did not answer, or it is not known whether it is of the
    /// text as it is now. The message says which.
    Partial,
    /// No server is there for the document.
    NoServer,
    /// The servers that are there cannot answer this.
    Unsupported,
    /// The server said that it could not; the message says why.
    Failed,
    /// The server ended while it was asked.
    Crashed,
    /// There was no answer in time.
    TimedOut,
    /// The editor was busy and did not pass the question on.
    EditorBusy,
    /// It takes edits that wait for the user, which the servers do not see; the message says which.
    Unseen,
}

/// A language server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangServer {
    /// Its name, as it or its configuration says it.
    pub name: String,
    /// Its version, if it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// An answer, by what was asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum LangAnswer {
    /// There is no answer; the status says why.
    Nothing,
    /// Places in code.
    Locations {
        /// The places.
        locations: Vec<LangLocation>,
    },
    /// Text in Markdown.
    Text {
        /// The text; empty where nothing is known.
        text: String,
    },
    /// Symbols.
    Symbols {
        /// The symbols.
        symbols: Vec<LangSymbol>,
    },
    /// What calls or is called.
    Calls {
        /// The callers, or the called.
        calls: Vec<LangCall>,
    },
    /// A change of files that was not made.
    Edit {
        /// Its steps, in their order; empty where nothing would have to change.
        changes: Vec<LangChange>,
    },
    /// Problems.
    Diagnostics {
        /// The documents, those without problems too where they are known to have none.
        documents: Vec<LangDiagnostics>,
    },
    /// Things that can be done.
    Actions {
        /// The actions.
        actions: Vec<LangAction>,
    },
}

/// A place in code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangLocation {
    /// The document.
    pub uri: String,
    /// The place in it.
    pub range: Range,
}

/// A symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangSymbol {
    /// Its name.
    pub name: String,
    /// What it is: the number of LSP's `SymbolKind`.
    pub kind: u8,
    /// More about it, such as its signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The name of what it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// In how many symbols of the same answer it lies.
    #[serde(default)]
    pub depth: u32,
    /// All of it.
    pub location: LangLocation,
    /// Its name in its definition; where that is not known, its beginning.
    pub selection: Range,
}

/// A caller, or something called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangCall {
    /// What calls, or is called.
    pub symbol: LangSymbol,
    /// Where the calls stand: in the caller, whichever that is.
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
        /// The hash of the text that the edits are made for, where that is known: SHA-256 in hexadecimal, without byte
        /// order mark and with LF line ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hash: Option<String>,
        /// The edits, all of the text before any of them, not overlapping.
        edits: Vec<LangTextEdit>,
    },
    /// A file is made.
    Create {
        /// The file.
        uri: String,
    },
    /// A file or folder is moved.
    Rename {
        /// Where it is.
        from: String,
        /// Where it goes.
        to: String,
    },
    /// A file or folder is deleted.
    Delete {
        /// The file.
        uri: String,
    },
}

/// A part of a text, and what stands there instead.
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
    /// The version of it that they belong to, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The problems.
    pub diagnostics: Vec<LangDiagnostic>,
}

/// A problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangDiagnostic {
    /// Where.
    pub range: Range,
    /// How bad.
    pub severity: LangSeverity,
    /// What.
    pub message: String,
    /// Who says so, such as `rustc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its code there, such as `E0308`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// How bad a problem is.
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

/// Something that can be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LangAction {
    /// What it does, for people; its name in `codeAction`.
    pub title: String,
    /// Its kind, such as `quickfix` or `refactor.extract`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Whether it is the one that is likely meant.
    #[serde(default)]
    pub preferred: bool,
    /// Why it cannot be done here, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

impl LangResult {
    /// A result that has no answer, for this reason.
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

    /// Gives each document that it names another name.
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

    /// Whether its answer takes the whole project, and not only what stands in front of it.
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
