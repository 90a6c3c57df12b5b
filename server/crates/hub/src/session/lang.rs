//! Questions about code, for the tools of a session: its home's editor passes them to the language servers that run
//! there.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use lang::brought::Gate;
use lang::pool::{Access, Servers as Pool, Sessions};
use lang::{Based, Lang, Source};
use process::sandbox::Policy;
use project::paths::Roots;
use project::reader::Reader;
use project::search::Search;
use protocol::lang::{EditorQueryParams, LangQuery, LangResult, LangStatus};

use super::overlay::Overlay;
use super::problems::{OwnServers, Problems};
use crate::trust::Workspace;
use crate::{Editor, EditorError};

/// The editor of a session's home, whichever client that is. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Editors(Arc<RwLock<Option<Arc<dyn Editor>>>>);

impl Editors {
    /// Has another editor asked from now on.
    pub(super) fn set(&self, editor: Option<Arc<dyn Editor>>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = editor;
    }
}

/// True if the workspace is trusted, as it was when last looked at.
type IsTrusted = Arc<dyn Fn() -> bool + Send + Sync>;

/// The language servers of a session: those of its home's editor, and our own. Nobody is asked in a folder that is not
/// trusted: a question may have the editor load a file, and start a server for it.
pub(super) struct Servers {
    editors: Editors,
    own: Arc<OwnServers>,
    is_trusted: IsTrusted,
}

/// The parts that our own language servers are started with.
pub(super) struct Made<'m> {
    pub(super) pool: Arc<Pool>,
    pub(super) roots: &'m Roots,
    pub(super) trust: &'m Workspace,
    /// The policy that holds them.
    pub(super) policy: Option<Arc<Policy>>,
    /// The variables of the environment that they have besides.
    pub(super) pass: &'m [String],
    /// Who is asked before a program of the project starts.
    pub(super) gate: Arc<dyn Gate>,
    /// The folders of all sessions, as they are when a server is looked at.
    pub(super) sessions: Sessions,
}

impl Servers {
    /// The servers of a session whose home has this editor.
    pub(super) fn build(made: Made<'_>, editor: Arc<dyn Editor>) -> Self {
        let Made { pool, roots, trust, policy, pass, gate, sessions } = made;
        let editors = Editors::default();
        editors.set(Some(editor));
        let trusted = Arc::clone(trust.may_run_git_programs());
        let is_trusted: IsTrusted = Arc::new(move || trusted.load(Ordering::Relaxed));
        let access = Access { trusted: Arc::clone(&is_trusted), policy, pass: pass.into(), gate, sessions };
        let roots = roots.clone();
        let own = Arc::new(move |reader| pool.source(roots.clone(), reader, access.clone()));
        Self { editors, own, is_trusted }
    }

    /// The home's editor, whichever that is.
    pub(super) fn editors(&self) -> &Editors {
        &self.editors
    }

    /// Our own, about the texts of a reader.
    pub(super) fn own(&self, reader: Reader) -> Arc<dyn Source> {
        (self.own)(reader)
    }

    /// Returns the source for the questions of a session's tools: the editor's servers, and if it has none, our own.
    pub(super) fn lang(&self, reader: &Reader, roots: &Arc<Roots>, own: Arc<dyn Source>) -> Lang {
        let editors = Based::new(self.trusting(), reader.clone(), Arc::clone(roots));
        Lang::new(vec![Arc::new(editors), own])
    }

    /// Makes the record of what edits do to problems, as these servers see it. `shown` knows what the model may see.
    pub(super) fn problems(&self, reader: &Reader, overlay: Overlay, roots: &Arc<Roots>, shown: Search) -> Problems {
        let own = Arc::clone(&self.own);
        let own = Box::new(move |reader| own(reader));
        let texts = (reader.clone(), Arc::new(overlay) as Arc<dyn project::reader::Overlay>);
        Problems::new(Arc::new(self.trusting()), own, texts, Arc::clone(roots), shown)
    }

    /// The editor's servers alone, about the texts as the user has them.
    fn trusting(&self) -> Trusting {
        Trusting { editors: self.editors.clone(), is_trusted: Arc::clone(&self.is_trusted) }
    }
}

/// The editor, in a folder that is trusted.
struct Trusting {
    editors: Editors,
    is_trusted: IsTrusted,
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
