//! The client's open documents. Edits are applied as VS Code applies them: only to the version that they are made for,
//! with the document's own line ends, and told to the server as a change.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, State};
use crate::project;

/// When the client sends the change that an edit makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// Before it answers, as VS Code.
    #[default]
    BeforeAnswer,
    /// After it answered, as Neovim.
    AfterAnswer,
}

/// The units of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

impl Encoding {
    /// By LSP's name.
    pub fn named(name: &str) -> Self {
        match name {
            "utf-8" => Self::Utf8,
            "utf-16" => Self::Utf16,
            "utf-32" => Self::Utf32,
            other => panic!("there is no encoding {other}"),
        }
    }

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Makes another text of a text, or of some of its lines.
type Formatter = Box<dyn FnMut(&str, &[(usize, usize)]) -> Option<String> + Send>;

/// The open documents.
#[derive(Default)]
pub struct Documents {
    pub(super) formatter: Option<Formatter>,
    /// The documents that the server had saved, in order.
    pub(super) saved: Vec<String>,
    pub(super) encoding: Encoding,
    pub(super) timing: Timing,
    keeps_deleted: bool,
    open: HashMap<String, Document>,
}

#[derive(Debug)]
struct Document {
    version: i64,
    text: String,
}

impl Documents {
    /// Applies `workspace/applyEdit`. Gives the answer, and the changes to tell.
    pub(super) fn apply(&mut self, params: &Value) -> (Value, Vec<Value>) {
        let refused = |reason: String| (json!({ "applied": false, "failureReason": reason }), Vec::new());
        let (change, deleted) = match params["edit"]["documentChanges"].as_array().map(Vec::as_slice) {
            Some([change]) => (change, None),
            Some([change, then]) if then["kind"] == "delete" => (change, then["uri"].as_str()),
            _ => return refused(format!("not one document: {params}")),
        };
        let uri = change["textDocument"]["uri"].as_str().unwrap_or_default().to_owned();
        let encoding = self.encoding;
        let Some(document) = self.open.get_mut(&uri) else { return refused(format!("{uri} is not open")) };
        if change["textDocument"]["version"] != document.version {
            return refused(format!(
                "{uri} is at version {}, not {}",
                document.version, change["textDocument"]["version"]
            ));
        }
        if let Some(deleted) = deleted {
            if let Err(error) = std::fs::remove_file(project::path(deleted)) {
                return refused(error.to_string());
            }
            let has_gone = !self.keeps_deleted && self.open.remove(deleted).is_some();
            return (json!({ "applied": true }), if has_gone { vec![closed(deleted)] } else { Vec::new() });
        }
        let mut edits = Vec::new();
        for edit in change["edits"].as_array().into_iter().flatten() {
            let at = |end: &str| offset(&document.text, &edit["range"][end], encoding);
            let (Some(start), Some(end)) = (at("start"), at("end")) else {
                return refused(format!("a range outside of the text: {edit}"));
            };
            edits.push((start, end, edit));
        }
        // From the end on, so that the earlier places stay where they are.
        edits.sort_by_key(|(start, end, _)| std::cmp::Reverse((*start, *end)));
        if edits.windows(2).any(|pair| pair[1].1 > pair[0].0) {
            return refused("the edits overlap".into());
        }
        let crlf = document.text.contains("\r\n");
        let mut changes = Vec::new();
        for (start, end, edit) in edits {
            let new = edit["newText"].as_str().unwrap_or_default().replace("\r\n", "\n");
            let new = if crlf { new.replace('\n', "\r\n") } else { new };
            document.text.replace_range(start..end, &new);
            changes.push(json!({ "range": edit["range"], "text": new }));
        }
        document.version += 1;
        let version = document.version;
        (json!({ "applied": true }), vec![changed(&uri, version, &changes)])
    }

    /// Saves a document to disk. Gives the answer, and what to tell.
    pub(super) fn save(&mut self, uri: &str) -> (Value, Vec<Value>) {
        let Some(document) = self.open.get(uri) else { return (json!({ "saved": false }), Vec::new()) };
        std::fs::write(project::path(uri), &document.text).unwrap();
        let params = json!({ "textDocument": { "uri": uri }, "text": document.text });
        let note = json!({ "jsonrpc": "2.0", "method": "textDocument/didSave", "params": params });
        (json!({ "saved": true }), vec![note])
    }

    /// Gives what a document would be, formatted; nothing of another version than it has.
    pub(super) fn formatted(&mut self, params: &Value) -> Value {
        let document = self.open.get(params["uri"].as_str().unwrap_or_default());
        let document = document.filter(|document| params["version"] == document.version);
        let (Some(document), Some(formatter)) = (document, &mut self.formatter) else { return json!({}) };
        let line = |range: &Value, end: &str| usize::try_from(range[end].as_u64().unwrap()).unwrap();
        let lines = params["lines"].as_array().into_iter().flatten();
        let lines: Vec<_> = lines.map(|range| (line(range, "start"), line(range, "end"))).collect();
        formatter(&document.text, &lines).map_or(json!({}), |text| json!({ "text": text, "by": "tidy" }))
    }

    pub(super) fn text_result(&self, uri: &str) -> Value {
        self.open.get(uri).map_or(json!({}), |document| json!({ "text": document.text }))
    }
}

impl Client {
    /// Opens a document with the text on disk.
    pub fn open(&self, uri: &str) {
        self.open_with(uri, &std::fs::read_to_string(project::path(uri)).unwrap());
    }

    /// Opens a document with another text than is on disk.
    pub fn open_with(&self, uri: &str, text: &str) {
        let document = Document { version: 1, text: text.into() };
        self.state().documents.open.insert(uri.into(), document);
        let document = json!({ "uri": uri, "languageId": "plaintext", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Types: replaces what first fits `old` by `new`.
    pub fn replace(&self, uri: &str, old: &str, new: &str) {
        let message = {
            let mut state = self.state();
            let encoding = state.documents.encoding;
            let document = state.documents.open.get_mut(uri).expect("an open document");
            let start = document.text.find(old).unwrap_or_else(|| panic!("{old:?} is not in {:?}", document.text));
            let range = json!({
                "start": position(&document.text, start, encoding),
                "end": position(&document.text, start + old.len(), encoding),
            });
            document.text.replace_range(start..start + old.len(), new);
            document.version += 1;
            changed(uri, document.version, &[json!({ "range": range, "text": new })])
        };
        self.send(&message);
    }

    /// Saves a document, as the user does.
    pub fn save(&self, uri: &str) {
        let notes = self.state().documents.save(uri).1;
        for note in notes {
            self.send(&note);
        }
    }

    /// Closes a document.
    pub fn close(&self, uri: &str) {
        self.state().documents.open.remove(uri);
        self.send(&closed(uri));
    }

    /// Keeps a document open from now on whose file the server has deleted by the editor.
    pub fn keep_deleted_open(&self) {
        self.state().documents.keeps_deleted = true;
    }

    /// True if a document is open.
    pub fn is_open(&self, uri: &str) -> bool {
        self.state().documents.open.contains_key(uri)
    }

    /// The text of an open document.
    pub fn text(&self, uri: &str) -> String {
        self.state().documents.open.get(uri).expect("an open document").text.clone()
    }
}

impl Client {
    /// The documents that the server had saved so far.
    pub fn saved(&self) -> Vec<String> {
        self.state().documents.saved.clone()
    }

    /// Chooses a code action at a document's beginning, as soon as it is offered.
    pub async fn choose_action(&self, uri: &str, title: &str) {
        let here = json!({ "line": 0, "character": 0 });
        let params = json!({ "textDocument": { "uri": uri }, "range": { "start": here, "end": here },
            "context": { "diagnostics": [] } });
        let offered = async {
            loop {
                let actions = self.request("textDocument/codeAction", params.clone()).await.unwrap();
                let found = actions.as_array().unwrap().iter().find(|action| action["title"] == title);
                if let Some(action) = found {
                    return action["command"].clone();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let command = crate::patiently(title, offered).await;
        self.request("workspace/executeCommand", command).await.unwrap();
    }

    /// Waits until the server has had a document saved.
    pub async fn until_saved(&self, uri: &str) {
        let saved = |state: &mut State| state.documents.saved.iter().any(|saved| saved == uri).then_some(());
        self.wait_for(|| format!("the saving of {uri}"), saved).await;
    }

    /// The version of an open document: 1, and one more for each change.
    pub fn version(&self, uri: &str) -> i64 {
        self.state().documents.open.get(uri).expect("an open document").version
    }
}

fn closed(uri: &str) -> Value {
    let params = json!({ "textDocument": { "uri": uri } });
    json!({ "jsonrpc": "2.0", "method": "textDocument/didClose", "params": params })
}

fn changed(uri: &str, version: i64, changes: &[Value]) -> Value {
    let params = json!({ "textDocument": { "uri": uri, "version": version }, "contentChanges": changes });
    json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params })
}

/// The byte offset of a position. The line after the last is the text's end, as in VS Code.
fn offset(text: &str, position: &Value, encoding: Encoding) -> Option<usize> {
    let line = usize::try_from(position["line"].as_u64()?).ok()?;
    let character = usize::try_from(position["character"].as_u64()?).ok()?;
    let starts = || std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let Some(start) = starts().nth(line) else {
        return (line == starts().count() && character == 0).then_some(text.len());
    };
    let mut units = 0;
    for (at, c) in text[start..].char_indices() {
        if units >= character || c == '\n' || text[start + at..].starts_with("\r\n") {
            return Some(start + at);
        }
        units += encoding.width(c);
    }
    Some(text.len())
}

fn position(text: &str, offset: usize, encoding: Encoding) -> Value {
    let before = &text[..offset];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let character: usize = before[line..].chars().map(|c| encoding.width(c)).sum();
    json!({ "line": before.matches('\n').count(), "character": character })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn documents(text: &str) -> Documents {
        let open = [("file:///a".to_owned(), Document { version: 3, text: text.into() })].into();
        Documents { open, ..Documents::default() }
    }

    fn edit(version: i64, line: u64, end: u64, text: &str) -> Value {
        let range = json!({ "start": { "line": line, "character": 0 }, "end": { "line": end, "character": 0 } });
        let document = json!({ "textDocument": { "uri": "file:///a", "version": version },
            "edits": [{ "range": range, "newText": text }] });
        json!({ "edit": { "documentChanges": [document] } })
    }

    #[test]
    fn an_edit_for_another_version_is_refused() {
        let mut documents = documents("a\nb\n");
        assert_eq!(documents.apply(&edit(2, 0, 1, "x\n")).0["applied"], false);
        assert_eq!(documents.open["file:///a"].text, "a\nb\n");
    }

    #[test]
    fn an_edit_takes_the_documents_line_ends_and_reaches_its_very_end() {
        let mut documents = documents("a\r\nb");
        let (result, changes) = documents.apply(&edit(3, 1, 2, "x\ny"));
        assert_eq!((result["applied"].clone(), changes.len()), (json!(true), 1));
        assert_eq!(documents.open["file:///a"].text, "a\r\nx\r\ny");
        assert_eq!(changes[0]["params"]["textDocument"]["version"], 4);
    }

    #[test]
    fn positions_and_offsets_are_the_same_places() {
        let text = "a\u{e9}\u{1F600}b\nsecond\n";
        for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
            for (at, _) in text.char_indices() {
                assert_eq!(offset(text, &position(text, at, encoding), encoding), Some(at));
            }
        }
    }
}
