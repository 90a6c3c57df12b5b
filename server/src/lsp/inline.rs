//! Ghost text by the standard: `textDocument/inlineCompletion` (LSP 3.18), and the messages by which clients of
//! Copilot's server tell what became of a suggestion. The hub decides what is suggested; here it is only converted.

use protocol::content::{Position, Range};
use protocol::inline::{
    Indentation, InlineCompleteParams, InlineCompleteResult, InlineDocument, InlineEvent, InlineFeedbackParams,
    InlineItem, InlineTrigger, SelectedCompletion,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::commands;

/// LSP's `InlineCompletionTriggerKind.Invoked`.
const INVOKED: u32 = 1;

/// `textDocument/inlineCompletion`, with what clients of Copilot's server add: the document's version, and
/// `formattingOptions`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InlineCompletion {
    text_document: Document,
    position: Position,
    #[serde(default)]
    context: Context,
    #[serde(default)]
    formatting_options: Option<Indentation>,
}

#[derive(Deserialize)]
struct Document {
    uri: String,
    #[serde(default)]
    version: Option<i32>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    #[serde(default)]
    trigger_kind: Option<u32>,
    #[serde(default)]
    selected_completion_info: Option<Selected>,
}

#[derive(Deserialize)]
struct Selected {
    range: Range,
    text: String,
}

/// `textDocument/didShowCompletion` and `textDocument/didPartiallyAcceptCompletion`, of Copilot's dialect.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfItem {
    item: Item,
    #[serde(default)]
    accepted_length: Option<u32>,
}

#[derive(Deserialize)]
struct Item {
    command: ItemCommand,
}

#[derive(Deserialize)]
struct ItemCommand {
    #[serde(default)]
    arguments: Vec<Value>,
}

impl From<InlineCompletion> for InlineCompleteParams {
    fn from(params: InlineCompletion) -> Self {
        let InlineCompletion { text_document: Document { uri, version }, position, context, formatting_options } =
            params;
        let selected =
            context.selected_completion_info.map(|Selected { range, text }| SelectedCompletion { range, text });
        let trigger = match context.trigger_kind {
            Some(INVOKED) => InlineTrigger::Invoked,
            _ => InlineTrigger::Automatic,
        };
        let text_document = InlineDocument { uri, version };
        Self { text_document, position, trigger, selected, indentation: formatting_options, selecting: false }
    }
}

/// The answer to `textDocument/inlineCompletion`; null if there is nothing to suggest.
pub(super) fn answer(result: &InlineCompleteResult) -> Value {
    match result.items.as_slice() {
        [] => Value::Null,
        items => json!({ "items": items.iter().map(item).collect::<Vec<_>>() }),
    }
}

/// A suggestion as the standard has it: plain text, always with a range, and with a command that tells us that it was
/// accepted, for clients that tell nothing else.
fn item(item: &InlineItem) -> Value {
    json!({
        "insertText": item.text,
        "range": item.range,
        "command": commands::run("Accepted", commands::INLINE_ACCEPTED, &item.id),
    })
}

impl OfItem {
    /// The feedback that it is; none if it names no suggestion of ours.
    pub(super) fn feedback(self, event: InlineEvent) -> Option<InlineFeedbackParams> {
        let id = self.item.command.arguments.first()?.as_str()?.to_owned();
        Some(InlineFeedbackParams { id, event, hunk: None, length: self.accepted_length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_by_the_standard_is_one_of_ours() {
        let standard: InlineCompletion = serde_json::from_value(json!({
            "textDocument": { "uri": "file:///a.rs" },
            "position": { "line": 1, "character": 4 },
            "context": { "triggerKind": 1, "selectedCompletionInfo": {
                "range": { "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 4 } }, "text": "push" } },
            "workDoneToken": 7,
        }))
        .unwrap();
        let ours = InlineCompleteParams::from(standard);
        assert_eq!(ours.trigger, InlineTrigger::Invoked);
        assert_eq!(ours.selected.unwrap().text, "push");
        assert_eq!(ours.text_document.version, None);
    }

    #[test]
    fn what_copilots_clients_add_is_understood() {
        let theirs: InlineCompletion = serde_json::from_value(json!({
            "textDocument": { "uri": "file:///a.rs", "version": 3 },
            "position": { "line": 1, "character": 4 },
            "context": { "triggerKind": 2 },
            "formattingOptions": { "tabSize": 2, "insertSpaces": true },
        }))
        .unwrap();
        let ours = InlineCompleteParams::from(theirs);
        assert_eq!((ours.trigger, ours.text_document.version), (InlineTrigger::Automatic, Some(3)));
        assert_eq!(ours.indentation, Some(Indentation { tab_size: 2, insert_spaces: true }));
    }
}
