//! The abilities of a client, as it states them in `initialize`.
//!
//! Read by name out of the JSON and not by way of LSP's full types, which refuse all of it for one value that they do
//! not know: clients are often newer than the types.

use project::text::PositionEncoding;
use protocol::editor::ClientCapabilities;
use serde_json::{Value, json};

use super::SECTION;

/// The capabilities of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Abilities {
    /// The capabilities beyond LSP.
    pub(super) azimuth: ClientCapabilities,
    /// The units in which positions are counted from now on.
    pub(super) encoding: PositionEncoding,
    /// It takes `workspace/applyEdit`.
    pub(super) apply_edit: bool,
    /// It deletes files by `workspace/applyEdit`.
    pub(super) delete_files: bool,
    /// It answers `workspace/configuration`.
    pub(super) configuration: bool,
    /// `workspace/didChangeConfiguration` can be registered with it.
    pub(super) register_configuration: bool,
    /// `workspace/didChangeWatchedFiles` can be registered with it.
    pub(super) register_watched_files: bool,
    /// It takes suggestions where the user types (`textDocument/inlineCompletion`, 3.18).
    pub(super) inline_completion: bool,
    /// They can be registered with it once there is a model for them.
    pub(super) register_inline_completion: bool,
    /// Its completion menu; none if it has none.
    pub(super) completion: Option<Completion>,
    /// Code actions may be more than commands.
    pub(super) code_action_literals: bool,
    /// Code actions may say that a model made them (3.18).
    pub(super) llm_generated_tag: bool,
    /// It takes `workspace/codeLens/refresh`.
    pub(super) refresh_lenses: bool,
    /// It takes `window/workDoneProgress/create`.
    pub(super) progress: bool,
    /// It takes `window/showMessageRequest`.
    pub(super) message_requests: bool,
    /// It takes `window/showDocument`.
    pub(super) show_document: bool,
}

/// The abilities of a client's completion menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// It can be registered once there is a model.
    pub(super) register: bool,
    /// Documentation may be Markdown.
    pub(super) markdown: bool,
    /// An entry may have a description beside its label (3.17).
    pub(super) label_details: bool,
    /// It can be told to leave a text's indentation as it is (3.16).
    pub(super) as_is: bool,
}

/// LSP's `InsertTextMode.asIs`.
pub(super) const AS_IS: u32 = 1;
/// LSP 3.18's `CodeActionTag.LLMGenerated`.
pub(super) const LLM_GENERATED: u32 = 1;

impl Abilities {
    /// Reads a client's `capabilities`.
    pub(super) fn new(capabilities: &Value) -> Self {
        let has = |pointer: &str| capabilities.pointer(pointer).is_some_and(|value| !value.is_null());
        let is = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_bool).unwrap_or(false);
        let list = |pointer: &str| capabilities.pointer(pointer).and_then(Value::as_array);
        let completion = has("/textDocument/completion").then(|| Completion {
            register: is("/textDocument/completion/dynamicRegistration"),
            markdown: list("/textDocument/completion/completionItem/documentationFormat")
                .is_some_and(|formats| formats.contains(&"markdown".into())),
            label_details: is("/textDocument/completion/completionItem/labelDetailsSupport"),
            as_is: list("/textDocument/completion/completionItem/insertTextModeSupport/valueSet")
                .is_some_and(|modes| modes.contains(&AS_IS.into())),
        });
        let azimuth = capabilities.pointer("/experimental/azimuth").cloned().unwrap_or_default();
        let encodings = list("/general/positionEncodings");
        Self {
            // An ability that is stated wrongly counts as not stated.
            azimuth: serde_json::from_value(azimuth).unwrap_or_default(),
            encoding: encoding(encodings.into_iter().flatten().filter_map(Value::as_str)),
            apply_edit: is("/workspace/applyEdit"),
            // Neovim says so without saying that it takes `documentChanges`, which they stand among.
            delete_files: is("/workspace/applyEdit")
                && list("/workspace/workspaceEdit/resourceOperations")
                    .is_some_and(|can| can.contains(&"delete".into())),
            configuration: is("/workspace/configuration"),
            register_configuration: is("/workspace/didChangeConfiguration/dynamicRegistration"),
            register_watched_files: is("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            inline_completion: has("/textDocument/inlineCompletion"),
            register_inline_completion: is("/textDocument/inlineCompletion/dynamicRegistration"),
            completion,
            code_action_literals: has("/textDocument/codeAction/codeActionLiteralSupport"),
            llm_generated_tag: list("/textDocument/codeAction/tagSupport/valueSet")
                .is_some_and(|tags| tags.contains(&LLM_GENERATED.into())),
            refresh_lenses: is("/workspace/codeLens/refreshSupport"),
            progress: is("/window/workDoneProgress"),
            message_requests: has("/window/showMessage/messageActionItem"),
            show_document: is("/window/showDocument/support"),
        }
    }

    /// Returns the `registrations` of what can only be registered once the client is connected.
    pub(super) fn registrations(&self) -> Vec<Value> {
        let registration = |id, method, options| json!({ "id": id, "method": method, "registerOptions": options });
        let mut registrations = Vec::new();
        if self.register_watched_files {
            let options = json!({ "watchers": [{ "globPattern": "**/*" }] });
            registrations.push(registration("files", "workspace/didChangeWatchedFiles", options));
        }
        if self.register_configuration {
            let options = json!({ "section": SECTION });
            registrations.push(registration("settings", "workspace/didChangeConfiguration", options));
        }
        registrations
    }
}

/// The encoding to use: bytes if the client offers them, since that is what texts are made of; else UTF-16, which every
/// client has, unless it offers only UTF-32.
fn encoding<'a>(offered: impl Iterator<Item = &'a str> + Clone) -> PositionEncoding {
    let offers = |name: &str| offered.clone().any(|offered| offered == name);
    match (offers("utf-8"), offers("utf-16"), offers("utf-32")) {
        (true, ..) => PositionEncoding::Utf8,
        (false, false, true) => PositionEncoding::Utf32,
        _ => PositionEncoding::Utf16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_encoding_that_the_client_offers_is_used() {
        let of = |offered: Value| Abilities::new(&json!({ "general": { "positionEncodings": offered } })).encoding;
        assert_eq!(of(json!(["utf-16", "utf-8"])), PositionEncoding::Utf8);
        assert_eq!(of(json!(["utf-32", "utf-16"])), PositionEncoding::Utf16);
        assert_eq!(of(json!(["utf-32"])), PositionEncoding::Utf32);
        assert_eq!(of(json!([])), PositionEncoding::Utf16);
        assert_eq!(of(json!("utf-8")), PositionEncoding::Utf16);
    }

    #[test]
    fn a_client_that_says_nothing_can_do_nothing() {
        assert_eq!(Abilities::new(&json!({})), Abilities::default());
        assert_eq!(Abilities::new(&json!({ "window": 7, "experimental": { "azimuth": true } })), Abilities::default());
    }

    #[test]
    fn what_a_client_says_is_known() {
        let abilities = Abilities::new(&json!({
            "workspace": { "applyEdit": true, "workspaceEdit": { "resourceOperations": ["delete"] }, "codeLens": { "refreshSupport": true } },
            "textDocument": { "codeAction": { "tagSupport": { "valueSet": [1] }, "codeActionLiteralSupport": {} } },
            "window": { "showMessage": { "messageActionItem": {} } },
            "experimental": { "azimuth": { "panel": true } },
        }));
        assert!(abilities.apply_edit && abilities.refresh_lenses && abilities.llm_generated_tag);
        assert!(abilities.code_action_literals && abilities.message_requests && abilities.azimuth.panel);
        assert!(abilities.delete_files && !abilities.progress && !abilities.azimuth.text);
    }
}
