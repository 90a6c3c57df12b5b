//! The parameters of `initialize`: who we are, and what we can. Nothing is promised that is not done.

use std::path::Path;

use project::paths;
use serde_json::{Value, json};

use super::super::table::Definition;

/// The parameters of `initialize`.
///
/// One in a sandbox may not even ask whether our process is there, and some end when they cannot; its supervisor ends
/// it with us.
pub(super) fn initialize(definition: &Definition, root: &Path, is_sandboxed: bool) -> Value {
    let uri = paths::to_uri(root);
    json!({
        "processId": (!is_sandboxed).then(std::process::id),
        "clientInfo": { "name": "Azimuth", "version": env!("CARGO_PKG_VERSION") },
        "rootPath": root.to_string_lossy(),
        "rootUri": uri,
        "workspaceFolders": [super::incoming::folder(root)],
        "initializationOptions": definition.init_options,
        "capabilities": capabilities(),
        "trace": "off",
    })
}

fn capabilities() -> Value {
    let dynamic = json!({ "dynamicRegistration": true });
    let places = json!({ "dynamicRegistration": true, "linkSupport": true });
    let kinds: Vec<u8> = (1..=26).collect();
    json!({
        "general": {
            // UTF-16 first: it is what we answer in, so that nothing has to be converted.
            "positionEncodings": ["utf-16", "utf-8", "utf-32"],
            "staleRequestSupport": { "cancel": true, "retryOnContentModified": [] },
            "markdown": { "parser": "none" },
        },
        "window": { "workDoneProgress": true },
        "workspace": {
            // An edit is taken down and shown to the user; it is never made at once.
            "applyEdit": true,
            "workspaceEdit": {
                "documentChanges": true,
                "resourceOperations": ["create", "rename", "delete"],
                "failureHandling": "abort",
            },
            "configuration": true,
            "didChangeConfiguration": dynamic,
            "didChangeWatchedFiles": { "dynamicRegistration": true, "relativePatternSupport": true },
            "workspaceFolders": true,
            "symbol": { "dynamicRegistration": true, "symbolKind": { "valueSet": kinds } },
            "executeCommand": dynamic,
            "fileOperations": { "dynamicRegistration": true, "willRename": true },
            "diagnostics": { "refreshSupport": true },
        },
        "textDocument": {
            "synchronization": { "dynamicRegistration": false, "didSave": true },
            "definition": places,
            "typeDefinition": places,
            "implementation": places,
            "references": dynamic,
            "hover": { "dynamicRegistration": true, "contentFormat": ["markdown", "plaintext"] },
            "documentSymbol": {
                "dynamicRegistration": true,
                "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": { "valueSet": kinds },
            },
            "callHierarchy": dynamic,
            "typeHierarchy": dynamic,
            "rename": { "dynamicRegistration": true, "prepareSupport": false },
            "formatting": dynamic,
            "rangeFormatting": dynamic,
            "codeAction": {
                "dynamicRegistration": true,
                "isPreferredSupport": true,
                "disabledSupport": true,
                "dataSupport": true,
                "resolveSupport": { "properties": ["edit", "command"] },
                "codeActionLiteralSupport": { "codeActionKind": { "valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.move",
                    "refactor.rewrite", "source", "source.organizeImports", "source.fixAll",
                ] } },
            },
            "publishDiagnostics": {
                "versionSupport": true,
                "relatedInformation": true,
                "codeDescriptionSupport": true,
                "dataSupport": true,
                "tagSupport": { "valueSet": [1, 2] },
            },
            "diagnostic": { "dynamicRegistration": true, "relatedDocumentSupport": false },
        },
        // How rust-analyzer says that it has read the project.
        "experimental": { "serverStatusNotification": true },
    })
}
