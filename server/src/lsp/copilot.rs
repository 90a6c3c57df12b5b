//! Suggested edits in the dialect of Copilot's server, for editors' plugins that speak it: they ask with
//! `textDocument/copilotInlineEdit`, put an edit into the document themselves, and then run its command. Each hunk is
//! an edit of its own there.

use protocol::content::Position;
use protocol::inline::{
    InlineDocument, InlineEdit, InlineEditParams, InlineEvent, InlineFeedbackParams, InlineHunk, InlineTrigger,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::commands;
use super::messages::Versioned;

/// `textDocument/copilotInlineEdit`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineEdits {
    pub(super) text_document: Versioned,
    position: Position,
}

/// `textDocument/didShowInlineEdit`.
#[derive(Deserialize)]
pub(super) struct DidShow {
    item: Shown,
}

#[derive(Deserialize)]
struct Shown {
    command: ShownCommand,
}

#[derive(Deserialize)]
struct ShownCommand {
    #[serde(default)]
    arguments: Vec<Value>,
}

impl From<InlineEdits> for InlineEditParams {
    fn from(InlineEdits { text_document: Versioned { uri, version }, position }: InlineEdits) -> Self {
        let text_document = InlineDocument { uri, version: Some(version) };
        Self { text_document, position, trigger: InlineTrigger::Automatic, selecting: false }
    }
}

/// The answer to `textDocument/copilotInlineEdit` about a document. An edit of another one has no form there.
pub(super) fn answer(uri: &str, edit: Option<&InlineEdit>) -> Value {
    let edit = edit.filter(|edit| edit.uri == uri);
    let hunks = edit.iter().flat_map(|edit| edit.hunks.iter().map(|hunk| of_hunk(edit, hunk)));
    json!({ "edits": hunks.collect::<Vec<_>>() })
}

fn of_hunk(edit: &InlineEdit, hunk: &InlineHunk) -> Value {
    let name = commands::hunk_name(&edit.id, &hunk.id);
    json!({
        "text": hunk.text,
        "textDocument": { "uri": edit.uri, "version": edit.version },
        "range": hunk.range,
        "command": commands::run("Accepted", commands::ACCEPTED_EDIT, &name),
    })
}

impl DidShow {
    /// The feedback that it is; none if it names no edit of ours.
    pub(super) fn feedback(self) -> Option<InlineFeedbackParams> {
        commands::hunk_feedback(self.item.command.arguments.first()?.as_str()?, InlineEvent::Shown)
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::Range;
    use protocol::inline::InlineEditKind;

    use super::*;
    use crate::lsp::messages::typed;

    const URI: &str = "file:///a.rs";

    fn edit() -> InlineEdit {
        let at = |line| Position { line, character: 0 };
        let hunk = |id: &str, line| InlineHunk {
            id: id.into(),
            range: Range { start: at(line), end: at(line + 1) },
            text: format!("{id}\n"),
        };
        InlineEdit {
            id: "e/7".into(),
            kind: InlineEditKind::Edit,
            uri: URI.into(),
            version: Some(3),
            hunks: vec![hunk("a", 2), hunk("b", 5)],
            target: at(2),
            ghost: None,
            model: None,
        }
    }

    #[test]
    fn each_hunk_is_an_edit_with_a_command_that_tells_of_it() {
        let answer = answer(URI, Some(&edit()));
        let second = &answer["edits"][1];
        assert_eq!(answer["edits"].as_array().unwrap().len(), 2);
        assert_eq!(second["text"], "b\n");
        assert_eq!(second["textDocument"], json!({ "uri": URI, "version": 3 }));
        assert_eq!(second["range"]["start"]["line"], 5);
        assert_eq!(second["command"]["command"], "azimuth.inline.acceptedEdit");

        let shown: DidShow = typed(json!({ "item": { "command": second["command"] } })).unwrap();
        let feedback = shown.feedback().unwrap();
        assert_eq!((feedback.id.as_str(), feedback.hunk.as_deref()), ("e/7", Some("b")));
        assert_eq!(feedback.event, InlineEvent::Shown);
    }

    #[test]
    fn an_edit_of_another_document_and_no_edit_are_an_empty_list() {
        assert_eq!(answer("file:///b.rs", Some(&edit())), json!({ "edits": [] }));
        assert_eq!(answer(URI, None), json!({ "edits": [] }));
    }

    #[test]
    fn a_request_of_copilots_clients_asks_for_the_version_that_they_show() {
        let theirs: InlineEdits = typed(json!({
            "textDocument": { "uri": URI, "version": 4 },
            "position": { "line": 1, "character": 2 },
        }))
        .unwrap();
        let ours = InlineEditParams::from(theirs);
        assert_eq!((ours.text_document.version, ours.position.character), (Some(4), 2));
        let foreign: DidShow = typed(json!({ "item": { "command": { "arguments": ["theirs"] } } })).unwrap();
        assert!(foreign.feedback().is_none());
    }
}
