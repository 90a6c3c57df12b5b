//! The messages of LSP that we take, as far as we read them.
//!
//! Documents are named by the string that the client wrote: LSP's own types take only URIs by the letter of the
//! standard, and a client that leaves a space unescaped would then not be understood at all.

use std::path::PathBuf;
use std::sync::Arc;

use project::buffers::Change;
use project::text::{LineIndex, PositionEncoding};
use protocol::{Position, Range};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::convert;
use crate::front::names::path;
pub(super) use hub::request::typed;

/// The longest name and version of an editor, in characters.
const LONGEST_NAME: usize = 80;

/// `initialize`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    #[serde(default)]
    pub(super) process_id: Option<i32>,
    #[serde(default)]
    root_path: Option<String>,
    #[serde(default)]
    root_uri: Option<String>,
    #[serde(default)]
    workspace_folders: Option<Vec<Folder>>,
    #[serde(default)]
    pub(super) initialization_options: Option<Value>,
    pub(super) capabilities: Value,
    #[serde(default)]
    pub(super) client_info: Option<Value>,
}

impl Initialize {
    /// The workspace folders. What is no folder on this machine is left out.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let uris: Vec<_> = match (&self.workspace_folders, &self.root_uri) {
            (Some(folders), _) if !folders.is_empty() => folders.iter().map(|folder| folder.uri.as_str()).collect(),
            (_, Some(root)) => vec![root.as_str()],
            _ => return self.root_path.iter().map(PathBuf::from).filter(|path| path.is_absolute()).collect(),
        };
        uris.into_iter().filter_map(path).collect()
    }

    /// The editor's name and version, in one line of plain characters: they come to stand in a prompt.
    pub(super) fn editor_name(&self) -> Option<Arc<str>> {
        let info = self.client_info.as_ref()?;
        let words = ["name", "version"].map(|field| info.get(field).and_then(Value::as_str).unwrap_or_default());
        let plain = |c: char| if c.is_alphanumeric() || "+-./_".contains(c) { c } else { ' ' };
        let name: String = words.join(" ").chars().take(LONGEST_NAME).map(plain).collect();
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(name).filter(|name| !name.is_empty()).map(Arc::from)
    }

    /// The editor's trust in its workspace, if it says any.
    pub(super) fn workspace_trust(&self) -> Option<bool> {
        let options = self.initialization_options.as_ref()?;
        let said = options.get("workspaceTrust").or_else(|| options.get("workspace_trust"))?;
        // A value that is no word of it is reported where the options are read, and is not trust.
        Some(said.as_str() == Some("trusted"))
    }
}

/// A workspace folder.
#[derive(Deserialize)]
pub(super) struct Folder {
    pub(super) uri: String,
}

/// `textDocument/didOpen`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidOpen {
    pub(super) text_document: TextDocument,
}

/// A document with its text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextDocument {
    pub(super) uri: String,
    #[serde(default)]
    pub(super) language_id: String,
    pub(super) version: i32,
    pub(super) text: String,
}

/// `textDocument/didChange`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidChange {
    pub(super) text_document: Versioned,
    content_changes: Vec<ContentChange>,
}

impl DidChange {
    /// The end of what was typed last, where the cursor is taken to be. If all of the text was sent, it is found by the
    /// text before, and none if nothing has changed.
    pub(super) fn cursor(&self, before: Option<&str>, encoding: PositionEncoding) -> Option<Position> {
        let last = self.content_changes.last()?;
        let Some(range) = last.range else { return end_of_change(before?, &last.text, encoding) };
        let start = range.start;
        let (lines, end) = match last.text.rsplit_once('\n') {
            Some((before, end)) => (before.matches('\n').count() + 1, end),
            None => (0, last.text.as_str()),
        };
        let (lines, length) = (u32::try_from(lines).unwrap_or(u32::MAX), convert::length(end, encoding));
        let first = if lines == 0 { start.character } else { 0 };
        Some(Position { line: start.line.saturating_add(lines), character: first.saturating_add(length) })
    }

    /// The changes.
    pub(super) fn changes(self) -> Vec<Change> {
        self.content_changes.into_iter().map(|change| Change { range: change.range, text: change.text }).collect()
    }
}

/// The end of the part of a text that is not as before.
fn end_of_change(before: &str, text: &str, encoding: PositionEncoding) -> Option<Position> {
    let same = |(one, other): &(u8, u8)| one == other;
    let start = before.bytes().zip(text.bytes()).take_while(same).count();
    let rest = [before, text].map(|text| text.len() - start);
    let ends = before.bytes().rev().zip(text.bytes().rev()).take(rest[0].min(rest[1]));
    let end = text.len() - ends.take_while(same).count();
    (before != text).then(|| LineIndex::new(text).position(text, end, encoding))
}

/// A document at a version.
#[derive(Deserialize)]
pub(super) struct Versioned {
    pub(super) uri: String,
    pub(super) version: i32,
}

#[derive(Deserialize)]
struct ContentChange {
    #[serde(default)]
    range: Option<Range>,
    text: String,
}

/// `textDocument/didSave`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DidSave {
    pub(super) text_document: Document,
    #[serde(default)]
    pub(super) text: Option<String>,
}

/// `textDocument/didClose`, and whatever else names only a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfDocument {
    pub(super) text_document: Document,
}

/// A document.
#[derive(Deserialize, Serialize)]
pub(super) struct Document {
    pub(super) uri: String,
}

/// `workspace/didChangeWatchedFiles`.
#[derive(Deserialize)]
pub(super) struct DidChangeWatchedFiles {
    pub(super) changes: Vec<Document>,
}

/// `workspace/didChangeWorkspaceFolders`.
#[derive(Deserialize)]
pub(super) struct DidChangeWorkspaceFolders {
    pub(super) event: FolderChange,
}

/// The folders that came and went.
#[derive(Deserialize)]
pub(super) struct FolderChange {
    #[serde(default)]
    pub(super) added: Vec<Folder>,
    #[serde(default)]
    pub(super) removed: Vec<Folder>,
}

/// `workspace/didChangeConfiguration`.
#[derive(Deserialize)]
pub(super) struct DidChangeConfiguration {
    #[serde(default)]
    pub(super) settings: Value,
}

/// `textDocument/codeAction`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActions {
    pub(super) text_document: Document,
    pub(super) range: Range,
    pub(super) context: CodeActionContext,
}

/// The code actions that are wanted.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CodeActionContext {
    /// Kinds, of which one must fit; none for all.
    #[serde(default)]
    pub(super) only: Option<Vec<String>>,
    /// The problems at the place, each an LSP `Diagnostic`.
    #[serde(default)]
    pub(super) diagnostics: Vec<Value>,
    /// Who wants to know: LSP's `CodeActionTriggerKind`.
    #[serde(default)]
    trigger_kind: Option<u32>,
}

/// LSP's `CodeActionTriggerKind.Automatic`.
const AUTOMATIC: u32 = 2;

impl CodeActions {
    /// True if the editor asks of itself, as while the cursor moves. Who does not say so has been asked by the user.
    pub(super) fn is_automatic(&self) -> bool {
        self.context.trigger_kind == Some(AUTOMATIC)
    }

    /// True if an action of a kind is wanted. A kind includes its sub-kinds; the empty one includes all.
    pub(super) fn wants(&self, kind: &str) -> bool {
        let is_part = |wanted: &String| {
            wanted.is_empty()
                || kind.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.context.only.as_ref().is_none_or(|wanted| wanted.iter().any(is_part))
    }
}

/// `workspace/executeCommand`.
#[derive(Deserialize)]
pub(super) struct ExecuteCommand {
    pub(super) command: String,
    #[serde(default)]
    pub(super) arguments: Vec<Value>,
}

/// `window/workDoneProgress/cancel`.
#[derive(Deserialize)]
pub(super) struct ProgressCancel {
    pub(super) token: Value,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn folders(params: Value) -> Vec<PathBuf> {
        typed::<Initialize>(params).unwrap().folders()
    }

    #[test]
    fn folders_come_from_the_newest_field_that_the_client_fills() {
        let all = json!({ "capabilities": {}, "rootPath": "/c", "rootUri": "file:///b",
            "workspaceFolders": [{ "uri": "file:///a%20b", "name": "a" }, { "uri": "vscode-remote://x/y", "name": "r" }] });
        assert_eq!(folders(all), [PathBuf::from("/a b")]);
        let null = json!({ "capabilities": {}, "rootUri": "file:///b", "workspaceFolders": null, "processId": null });
        assert_eq!(folders(null), [PathBuf::from("/b")]);
        assert_eq!(folders(json!({ "capabilities": {}, "rootPath": "/c" })), [PathBuf::from("/c")]);
        assert!(folders(json!({ "capabilities": {} })).is_empty());
    }

    #[test]
    fn the_cursor_is_at_the_end_of_what_was_typed_last() {
        let cursor = |changes: Value| {
            let change = json!({ "textDocument": { "uri": "file:///a", "version": 1 }, "contentChanges": changes });
            typed::<DidChange>(change)
                .unwrap()
                .cursor(Some("aa\nbé\n"), PositionEncoding::Utf16)
                .map(|at| [at.line, at.character])
        };
        let range = json!({ "start": { "line": 2, "character": 4 }, "end": { "line": 3, "character": 0 } });
        assert_eq!(cursor(json!([{ "text": "aa\nbé\n" }])), None, "nothing has changed");
        assert_eq!(cursor(json!([{ "text": "aa\nbéx\n" }])), Some([1, 3]));
        assert_eq!(cursor(json!([{ "text": "aaa\nbé\n" }])), Some([0, 3]));
        assert_eq!(cursor(json!([{ "text": "" }])), Some([0, 0]));
        assert_eq!(cursor(json!([{ "text": "all" }, { "range": range, "text": "\u{1F600}" }])), Some([2, 6]));
        assert_eq!(cursor(json!([{ "range": range, "text": "a\nb\n  c" }])), Some([4, 3]));
        assert_eq!(cursor(json!([{ "range": range, "text": "" }])), Some([2, 4]));
    }

    #[test]
    fn a_wrong_field_is_named() {
        let Err(error) = typed::<DidOpen>(json!({ "textDocument": { "uri": "file:///a", "version": "x" } })) else {
            panic!("it fits");
        };
        assert!(error.message.contains("`textDocument.version`"), "{}", error.message);
    }
}
