//! Language servers of our own, as far as they concern no one session: what clients ask of them, and hear of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use lang::pool::{Access, ServerStatus, Servers};
use process::Confinement;
use project::paths::{self, Roots};
use protocol::servers::{ServerInfo, ServersListResult, ServersRestartParams, ServersRestartResult};
use protocol::{ErrorCode, methods};
use tokio::sync::mpsc;

use super::super::feed::blocking;
use super::super::post::{Message, Post, Shared};
use super::super::request::Handlers;
use super::super::trust::{Word, Workspace};
use super::super::{ClientId, Error, Reply, confinement};
use super::Router;
use crate::config::Config;

/// The shortest pause between two words that some state has changed.
const PAUSE: Duration = Duration::from_millis(500);

/// Registers what is answered here.
pub(super) fn register(handlers: &mut Handlers<Router, ClientId>) {
    handlers
        .on::<methods::ServersList>(|router, id, _, reply| {
            let Some(client) = router.clients.get(&id) else { return };
            drop(tokio::spawn(router.folders_of(client).list(reply)));
        })
        .on::<methods::ServersRestart>(|router, id, params, reply| {
            let Some(client) = router.clients.get(&id) else { return };
            drop(tokio::spawn(router.folders_of(client).restart(params, reply)));
        });
}

/// The workspace of a client, as far as servers are concerned.
pub(super) struct Folders {
    pub(super) shared: Shared,
    pub(super) config: Arc<Config>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) word: Word,
}

impl Folders {
    /// Answers how it stands with the servers.
    pub(super) async fn list(self, reply: Reply<ServersListResult>) {
        let _ = reply.send(self.listed().await);
    }

    /// Returns the status of the servers.
    pub(super) async fn listed(&self) -> Result<ServersListResult, Error> {
        let (roots, trusted) = self.look().await?;
        let (servers, parts) = (&self.shared.servers, &self.shared.parts);
        // A program that lies where commands may write is brought along, too.
        let (user, folders) = (Arc::clone(&self.config), self.folders.clone());
        let config = blocking(move || Ok(user.with_projects(&folders))).await?;
        let policy = confinement::told(parts.own(), &config, &roots, false).await;
        let held = Confinement { supervisor: parts.supervisor.clone(), policy, ..Confinement::default() };
        let policy = held.policy.clone().filter(|_| held.is_sandboxed());
        let gate = Arc::new(self.shared.trust.clone());
        let sessions = confinement::sessions(&parts.store);
        let access = Access { trusted: Arc::new(move || trusted), policy, pass: [].into(), gate, sessions };
        let list = servers.status(&roots, &access).await.into_iter().map(info).collect();
        Ok(ServersListResult { servers: list, problems: servers.problems(&roots, trusted).await })
    }

    /// Ends servers, so that they start anew.
    pub(super) async fn restart(self, params: ServersRestartParams, reply: Reply<ServersRestartResult>) {
        let restarted = async {
            let (roots, _) = self.look().await?;
            let ended = self.shared.servers.restart(Some(&roots), params.name.as_deref()).await;
            self.shared.servers.reload().await;
            Ok(ServersRestartResult { restarted: u32::try_from(ended).unwrap_or(u32::MAX) })
        };
        let _ = reply.send(restarted.await);
    }

    /// Ends the servers, if the workspace is not trusted any more.
    pub(super) async fn leave_unless_trusted(self) {
        if let Ok((roots, false)) = self.look().await {
            self.shared.servers.leave(&roots).await;
        }
    }

    /// Its roots, and whether it is trusted.
    pub(super) async fn look(&self) -> Result<(Roots, bool), Error> {
        let (book, folders, word) = (self.shared.trust.clone(), self.folders.clone(), self.word.clone());
        let looked = blocking(move || {
            let decided = Workspace::new(&book, folders.clone()).decided(&word);
            Ok((Roots::new(folders), decided == Some(true)))
        });
        let (roots, trusted) = looked.await?;
        let roots = roots.map_err(|error| Error::new(ErrorCode::OperationFailed, error.to_string()))?;
        Ok((roots, trusted))
    }
}

/// Tells the router whenever the state of a server has changed, not too often.
pub(super) async fn watch(servers: Arc<Servers>, router: mpsc::WeakUnboundedSender<Post>) {
    let mut changes = servers.watch();
    // Held no longer: they end with the router.
    drop(servers);
    while changes.changed().await.is_ok() {
        let Some(router) = router.upgrade() else { return };
        if router.send(Post { client: None, message: Message::ServersChanged }).is_err() {
            return;
        }
        drop(router);
        tokio::time::sleep(PAUSE).await;
    }
}

fn info(status: ServerStatus) -> ServerInfo {
    let ServerStatus { name, version, root, state, program, pid, memory, why, install: _ } = status;
    ServerInfo {
        name,
        version,
        root: paths::to_uri(&root),
        state,
        program: program.map(|program| program.display().to_string()),
        pid,
        memory_bytes: memory,
        why,
    }
}
