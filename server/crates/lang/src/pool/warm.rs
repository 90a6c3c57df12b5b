//! Questions that nobody waits for, such as those while the user types: they start no server and keep none from ending,
//! and a server that has something to do is left alone.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use project::paths::Roots;
use project::reader::Reader;
use protocol::lang::{LangQuery, LangResult, LangStatus};
use tokio::time::Instant;

use super::super::client::{Client, Readiness};
use super::super::detect::Detected;
use super::ask::{Asker, Part};
use super::slot::Slot;
use super::{Servers, blocking, source, view};

impl Servers {
    /// The answer of a server that runs already, in a workspace that must be trusted. None if no server for the
    /// document runs, if it has not read the project yet, if a session asks it something at the moment, or if there is
    /// no whole answer in this time.
    pub async fn ask_if_warm(
        &self,
        query: &LangQuery,
        roots: &Roots,
        reader: &Reader,
        within: Duration,
    ) -> Option<LangResult> {
        let until = Instant::now() + within;
        tokio::time::timeout_at(until, self.ask_warm(query, roots, reader, until)).await.ok().flatten()
    }

    async fn ask_warm(&self, query: &LangQuery, roots: &Roots, reader: &Reader, until: Instant) -> Option<LangResult> {
        if self.slots().is_empty() {
            return None;
        }
        let (uri, own) = (query.uri()?.to_owned(), roots.clone());
        let (path, folder) = blocking(move || view::locate(&uri, &own)).await?.ok()?;
        let (slot, client) = self.warm(&path, roots)?;
        let server = Detected {
            definition: Arc::clone(&slot.definition),
            program: Some(slot.key.program.clone()),
            root: slot.key.root.clone(),
            allowed: None,
            only_as_it_runs: true,
        };
        let asker = Asker {
            client: &client,
            server: &server,
            table: &self.table(&folder, true).await,
            reader,
            path: Some(&path),
            until,
            patience: until,
            sent: Mutex::default(),
            is_disturbed: AtomicBool::new(false),
            lacks_problems: AtomicBool::new(false),
            part: Part::All,
        };
        let outcome = asker.ask(query).await;
        let result = source::finish(outcome, &server, &client, roots, reader).await;
        (result.status == LangStatus::Ready).then_some(result)
    }

    /// A server for a file that has nothing to do.
    fn warm(&self, path: &Path, roots: &Roots) -> Option<(Arc<Slot>, Arc<Client>)> {
        let slots = self.slots();
        let of_file = slots.values().filter(|slot| {
            let definition = &slot.definition;
            slot.is_in(roots) && path.starts_with(&slot.key.root) && definition.is_for(path) && !definition.is_linter
        });
        let mut warm = of_file.filter(|slot| !slot.is_asked()).filter_map(|slot| {
            let client = slot.client().filter(|client| client.ended().is_none())?;
            (client.readiness(false) == Readiness::Ready).then(|| (Arc::clone(slot), client))
        });
        warm.next()
    }
}
