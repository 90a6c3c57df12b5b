//! The framework's own requests to us: the lifecycle. All else is the ingress's.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hub::Hub;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions, CompletionOptions,
    ExecuteCommandOptions, InitializeParams, InitializeResult, OneOf, PositionEncodingKind, SaveOptions,
    ServerCapabilities, ServerInfo, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, WorkDoneProgressOptions, WorkspaceFoldersServerCapabilities,
    WorkspaceServerCapabilities,
};
use project::text::PositionEncoding;
use serde_json::json;
use tower_lsp::jsonrpc::{self, Result};
use tower_lsp::{Client, LanguageServer};

use super::abilities::Abilities;
use super::{commands, suggesting, workflows};
use crate::front::settings::Settings;

/// The time that the end of all sessions may take. What is not stored by then is stored no more than after a kill: all
/// that was shown.
pub(super) const SHUTDOWN: Duration = Duration::from_secs(5);

/// The version of our own methods. It grows with every change that an older client would stumble over.
const PROTOCOL: u32 = 1;

/// The framework's backend.
pub(super) struct Backend {
    /// The hub, where its sessions end with this client.
    hub: Option<Hub>,
    /// The framework's handle to the client, for the outbox.
    pub(super) client: Client,
    /// The client that the answer to `initialize` is for, as the ingress has read it.
    connected: OnceLock<(Arc<Abilities>, Arc<Settings>)>,
}

impl Backend {
    pub(super) fn new(hub: Option<Hub>, client: Client) -> Self {
        Self { hub, client, connected: OnceLock::new() }
    }

    /// Notes the client that is to be answered.
    pub(super) fn connected(&self, abilities: Arc<Abilities>, settings: Arc<Settings>) {
        let _ = self.connected.set((abilities, settings));
    }
}

impl LanguageServer for Backend {
    async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
        let (abilities, settings) = self.connected.get().ok_or_else(jsonrpc::Error::internal_error)?;
        let mut capabilities = capabilities(abilities);
        // A client that can register no menu later is told of one now or never, and only the user's file says which.
        if abilities.completion.is_some_and(|menu| !menu.register)
            && suggesting::announces_menu(abilities, settings.first_suggestions().await)
        {
            // No character opens it: a menu behind each space would be a nuisance, and take the keys.
            capabilities.completion_provider = Some(CompletionOptions::default());
        }
        Ok(InitializeResult {
            capabilities,
            server_info: Some(ServerInfo { name: "azimuth".into(), version: Some(env!("CARGO_PKG_VERSION").into()) }),
            ..InitializeResult::default()
        })
    }

    async fn shutdown(&self) -> Result<()> {
        if let Some(hub) = &self.hub {
            end(hub).await;
        }
        Ok(())
    }
}

/// Ends all sessions, within a bound.
pub(super) async fn end(hub: &Hub) {
    if tokio::time::timeout(SHUTDOWN, hub.shutdown()).await.is_err() {
        tracing::error!("the sessions did not end in time");
    }
}

fn capabilities(abilities: &Abilities) -> ServerCapabilities {
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::INCREMENTAL),
        save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(true) })),
        ..TextDocumentSyncOptions::default()
    };
    let mut kinds = vec![CodeActionKind::QUICKFIX, CodeActionKind::new(workflows::KIND)];
    if !abilities.azimuth.panel {
        kinds.push(CodeActionKind::REFACTOR_REWRITE);
    }
    let actions = CodeActionOptions {
        code_action_kinds: Some(kinds),
        work_done_progress_options: WorkDoneProgressOptions::default(),
        resolve_provider: Some(false),
    };
    let folders =
        WorkspaceFoldersServerCapabilities { supported: Some(true), change_notifications: Some(OneOf::Left(true)) };
    ServerCapabilities {
        position_encoding: Some(match abilities.encoding {
            PositionEncoding::Utf8 => PositionEncodingKind::UTF8,
            PositionEncoding::Utf16 => PositionEncodingKind::UTF16,
            PositionEncoding::Utf32 => PositionEncodingKind::UTF32,
        }),
        text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
        code_action_provider: Some(if abilities.code_action_literals {
            CodeActionProviderCapability::Options(actions)
        } else {
            CodeActionProviderCapability::Simple(true)
        }),
        // Else it is registered once there is a model for it.
        inline_completion_provider: (abilities.inline_completion && !abilities.register_inline_completion)
            .then_some(OneOf::Left(true)),
        // A panel shows hunks itself.
        code_lens_provider: (!abilities.azimuth.panel).then_some(CodeLensOptions { resolve_provider: Some(false) }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: commands::announced(abilities).map(String::from).collect(),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        }),
        workspace: Some(WorkspaceServerCapabilities { workspace_folders: Some(folders), file_operations: None }),
        experimental: Some(json!({
            "azimuth": { "version": env!("CARGO_PKG_VERSION"), "protocol": PROTOCOL },
        })),
        ..ServerCapabilities::default()
    }
}
