//! Questions about code, for the tools of a session: its home's editor passes them to the language servers that run
//! there.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use protocol::lang::{EditorQueryParams, LangQuery, LangResult, LangStatus};
use workspace::lang::{Based, Lang, Source};
use workspace::paths::Roots;
use workspace::reader::Reader;

use crate::hub::{Editor, EditorError};

/// The editor of a session's home, whichever client that is. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Editors(Arc<RwLock<Option<Arc<dyn Editor>>>>);

impl Editors {
    /// Has another editor asked from now on.
    pub(super) fn set(&self, editor: Option<Arc<dyn Editor>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = editor;
    }
}

/// What answers the questions of a session's tools: the editor's servers, and where it has none, our own. Nobody is
/// asked in a folder that is not trusted: a question may have the editor load a file, and start a server for it.
pub(super) fn of(
    editors: &Editors,
    reader: &Reader,
    roots: &Arc<Roots>,
    own: Arc<dyn Source>,
    is_trusted: Arc<dyn Fn() -> bool + Send + Sync>,
) -> Lang {
    let editors = Based::new(Trusting { editors: editors.clone(), is_trusted }, reader.clone(), Arc::clone(roots));
    Lang::new(vec![Arc::new(editors), own])
}

/// The editor's servers alone, about the texts as the user has them; in a folder that is trusted likewise.
pub(super) fn of_editor(editors: &Editors, is_trusted: Arc<dyn Fn() -> bool + Send + Sync>) -> Arc<dyn Source> {
    Arc::new(Trusting { editors: editors.clone(), is_trusted })
}

/// The editor, in a folder that is trusted.
struct Trusting {
    editors: Editors,
    is_trusted: Arc<dyn Fn() -> bool + Send + Sync>,
}

#[async_trait]
impl Source for Trusting {
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        if (self.is_trusted)() {
            return self.editors.ask(query, within).await;
        }
        let words = "the folder is not trusted, so its language servers are not asked";
        LangResult::without_answer(LangStatus::NoServer, Some(words.to_owned()))
    }
}

#[async_trait]
impl Source for Editors {
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        let editor = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(editor) = editor else { return LangResult::without_answer(LangStatus::NoServer, None) };
        let timeout_ms = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        let error = match editor.query(EditorQueryParams { query: query.clone(), timeout_ms }).await {
            Ok(result) => return result,
            Err(error) => error,
        };
        let status = match error {
            EditorError::Unsupported | EditorError::Gone => LangStatus::NoServer,
            EditorError::TimedOut => LangStatus::TimedOut,
            EditorError::Refused(_) => LangStatus::Failed,
        };
        LangResult::without_answer(status, Some(error.to_string()))
    }
}
