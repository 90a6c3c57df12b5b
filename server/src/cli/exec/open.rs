//! The session that a prompt goes to: a new one, or one to go on with.

use hub::Connection;
use project::paths;
use protocol::SessionId;
use protocol::methods;
use protocol::model::ModelSelectParams;
use protocol::session::{SessionListParams, SessionNewParams, SessionOpenParams};

use super::watch::Watch;
use super::{Job, ask};
use crate::cli::{Failure, complain};

/// A session to go on with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Resume {
    /// This one.
    One(SessionId),
    /// The last used of the current folder.
    Latest,
}

impl Job {
    /// Makes the session, or opens the one to go on with.
    pub(super) async fn open(&self, connection: &Connection) -> Result<Watch, Failure> {
        let resumed = match &self.resume {
            None => None,
            Some(Resume::One(session)) => Some(session.clone()),
            Some(Resume::Latest) => Some(latest(connection).await?),
        };
        let (info, seq) = match resumed {
            None => {
                let params = SessionNewParams { folders: None, model: self.model.clone(), mode: self.mode };
                (ask::<methods::SessionNew>(connection, params).await?.session, 0)
            }
            Some(session) => {
                let params = SessionOpenParams { session_id: session.clone(), since: 0 };
                let opened = ask::<methods::SessionOpen>(connection, params).await?;
                if let Some(model) = &self.model {
                    let (session_id, model) = (Some(session), model.clone());
                    let params = ModelSelectParams { session_id, model, only_here: true };
                    ask::<methods::ModelSelect>(connection, params).await?;
                }
                (opened.session, opened.events.last().map_or(0, |event| event.seq))
            }
        };
        let folders: Vec<_> = info.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect();
        if let Some(first) = folders.first()
            && !folders.contains(&self.folder)
        {
            let said = format!("this session works in {}, where it began, not in the current folder", first.display());
            complain(&said);
        }
        Ok(Watch::new(info.session_id, folders, seq))
    }
}

/// The session of the current folder that was used last.
async fn latest(connection: &Connection) -> Result<SessionId, Failure> {
    let params = SessionListParams { limit: Some(1), ..SessionListParams::default() };
    let listed = ask::<methods::SessionList>(connection, params).await?.sessions;
    let latest = listed.into_iter().next().map(|info| info.session_id);
    latest.ok_or_else(|| Failure::Said("there is no session of this folder to continue".into()))
}
