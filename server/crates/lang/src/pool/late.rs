//! Servers that take long to format a file.

use std::time::Duration;

use protocol::lang::{LangQuery, LangResult, LangStatus};
use tokio::time::Instant;

use super::super::detect::Detected;
use super::ask::Part;
use super::source::{Candidates, Own, named};

/// How long a server is waited for that did not answer in time when it was last asked to format: each accepted edit
/// waits for it.
const WITHIN_IF_LATE: Duration = Duration::from_secs(1);

impl Own {
    /// Asks one to format; it is waited for only shortly if it did not answer in time the last time. It goes on then,
    /// so that it is known whether it answers in the time that it is given.
    pub(super) async fn ask_to_format(
        &self,
        candidates: &Candidates,
        server: &Detected,
        query: &LangQuery,
        within: Duration,
        until: Instant,
    ) -> LangResult {
        let is_late = self.slot_of(server).is_some_and(|slot| slot.formats_late());
        let (own, candidates, one, query) = (self.clone(), candidates.clone(), server.clone(), query.clone());
        let asking = tokio::spawn(async move {
            let result = own.ask_server(&candidates, &one, &query, Part::All, within, until).await;
            if let Some(slot) = own.slot_of(&one) {
                slot.note_formatting(result.status == LangStatus::TimedOut);
            }
            result
        });
        let within = if is_late { WITHIN_IF_LATE } else { Duration::MAX };
        let nothing = |status, why: &str| LangResult {
            servers: vec![named(server, None)],
            ..LangResult::without_answer(status, Some(format!("{}: {why}", server.definition.name)))
        };
        match tokio::time::timeout(within, asking).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => nothing(LangStatus::Failed, "it could not be asked; the log of Azimuth says more"),
            Err(_) => nothing(LangStatus::TimedOut, "it did not answer in time"),
        }
    }
}
