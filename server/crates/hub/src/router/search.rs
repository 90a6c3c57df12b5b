//! Searches in what was said in earlier sessions, and the texts of older versions, which have to be taken in for that.

use std::sync::{Arc, Weak};
use std::time::Duration;

use ports::found::{PromptFilter, TextFilter};
use ports::store::Store;
use project::paths;
use protocol::search::{PromptHistoryParams, PromptHistoryResult, SessionSearchParams, SessionSearchResult};
use protocol::session::{SessionExportParams, SessionExportResult};
use protocol::{ErrorCode, methods};

use mask::Masks;
use tokio::sync::Notify;

use super::Router;
use crate::config::Config;
use crate::export::export;
use crate::feed::blocking;
use crate::post::Shared;
use crate::request::Handlers;
use crate::{ClientId, Error, Reply};

/// The number of hits, and of prompts, if the caller does not say.
const HITS: usize = 50;
const PROMPTS: usize = 100;
/// The time before the texts of older versions are taken in, unless somebody searches, so that it does not slow the
/// start.
const START: Duration = Duration::from_secs(2);
/// The pause between two of its steps, in which others can write.
const PAUSE: Duration = Duration::from_millis(20);

impl Router {
    /// The folders (URIs) whose sessions a client means: those of its workspace, if it says nothing, of which there may
    /// be none; nothing for all sessions.
    pub(super) fn meant_folders(&self, id: ClientId, folder: Option<String>, everywhere: bool) -> Option<Vec<String>> {
        match (everywhere, folder, self.clients.get(&id)) {
            (true, _, _) | (false, None, None) => None,
            (false, Some(folder), _) => Some(vec![folder]),
            (false, None, Some(client)) => Some(client.folders.iter().map(|folder| paths::to_uri(folder)).collect()),
        }
    }
}

/// The length of a list that a client asks for.
pub(super) fn bounded(limit: Option<u32>, usual: usize) -> usize {
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usual).clamp(1, 1000)
}

pub(super) fn register(handlers: &mut Handlers<Router, ClientId>) {
    handlers
        .on::<methods::SessionSearch>(session_search)
        .on::<methods::PromptHistory>(prompt_history)
        .on::<methods::SessionExport>(session_export);
}

fn session_search(router: &mut Router, id: ClientId, params: SessionSearchParams, reply: Reply<SessionSearchResult>) {
    let folders = router.meant_folders(id, params.folder, params.everywhere);
    let filter = TextFilter { query: params.query, folders, limit: bounded(params.limit, HITS) };
    let shared = router.shared.clone();
    tokio::spawn(async move {
        let told = |found: ports::found::Found| SessionSearchResult {
            hits: found.hits,
            unread: u32::try_from(found.unread).unwrap_or(u32::MAX),
        };
        let _ = reply.send(shared.search(filter).await.map(told).map_err(Error::from));
    });
}

fn prompt_history(router: &mut Router, id: ClientId, params: PromptHistoryParams, reply: Reply<PromptHistoryResult>) {
    let folders = router.meant_folders(id, params.folder, params.everywhere);
    let query = params.query.unwrap_or_default();
    let filter = PromptFilter { query, folders, limit: bounded(params.limit, PROMPTS) };
    let store = Arc::clone(&router.shared.parts.store);
    router.shared.searched.notify_one();
    tokio::spawn(async move {
        let prompts = blocking(move || store.prompts(&filter)).await;
        let _ = reply.send(prompts.map(|prompts| PromptHistoryResult { prompts }).map_err(Error::from));
    });
}

fn session_export(router: &mut Router, _: ClientId, params: SessionExportParams, reply: Reply<SessionExportResult>) {
    let (shared, config) = (router.shared.clone(), Arc::clone(&router.config));
    tokio::spawn(async move {
        let _ = reply.send(exported(shared, config, params).await);
    });
}

/// A session without the secrets that are known here and those that its projects list.
pub(in crate::router) async fn exported(
    shared: Shared,
    config: Arc<Config>,
    SessionExportParams { session_id, format }: SessionExportParams,
) -> Result<SessionExportResult, Error> {
    let store = Arc::clone(&shared.parts.store);
    let session = session_id.clone();
    let read = blocking(move || {
        let info = store.info(&session)?;
        let folders: Vec<_> = info.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect();
        Ok((info, config.with_projects(&folders)))
    });
    let (info, config) = read.await?;
    shared.secrets.learn(&config);
    let mask = shared.secrets.mask().await.map_err(|why| Error::new(ErrorCode::OperationFailed, why))?;
    let store = Arc::clone(&shared.parts.store);
    let text = blocking(move || export(&*store, &info, format, &mask)).await?;
    Ok(SessionExportResult { name: format!("azimuth-{session_id}.{}", format.name()), text })
}

/// Takes in the texts that an older version stored, and all others that are missing, while the store is there: soon
/// after the start, and whenever somebody searches.
pub(super) async fn take_in(store: Weak<dyn Store>, searched: Arc<Notify>) {
    let _ = tokio::time::timeout(START, searched.notified()).await;
    while let Some(store) = store.upgrade() {
        match blocking(move || store.take_in_texts()).await {
            Ok(true) => searched.notified().await,
            Ok(false) => tokio::time::sleep(PAUSE).await,
            Err(error) => {
                tracing::warn!(%error, "what was said in earlier sessions could not be taken in to be searched");
                searched.notified().await;
            }
        }
    }
}
