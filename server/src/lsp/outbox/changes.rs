//! Changes of documents and files, by `workspace/applyEdit`.

use hub::EditorError;
use serde_json::{Value, json};

use super::Outbox;

impl Outbox {
    /// Has the client change documents and files.
    pub(super) async fn apply_changes(&self, label: &str, changes: Value) -> Result<(), EditorError> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Applied {
            applied: bool,
            #[serde(default)]
            failure_reason: Option<String>,
        }
        let params = json!({ "label": label, "edit": { "documentChanges": changes } });
        let applied: Applied = self.ask("workspace/applyEdit", params).await?;
        if applied.applied {
            return Ok(());
        }
        let reason = applied.failure_reason.filter(|reason| !reason.is_empty());
        Err(EditorError::Refused(reason.unwrap_or_else(|| "it gave no reason".into())))
    }
}
