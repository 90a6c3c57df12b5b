//! A document in which suggestions are asked for.

use std::sync::Arc;
use std::time::Instant;

use inline::engine::{Engine, RunId};
use inline::journal::{By, Journal, View};
use inline::rebase::Hunk;
use inline::rejected::Rejected;
use inline::splice::between;
use project::buffers::Snapshot;
use tokio_util::sync::DropGuard;

use super::alternatives::Alternatives;
use super::asked::Waiting;
use super::decisions::Suggestion;
use super::positions::lines;
use crate::ClientId;

/// A document in which suggestions are asked for.
pub(super) struct Document {
    /// Its name in the cache and the journal, which no other client's document has.
    pub(super) name: String,
    /// The document as it is now.
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) engine: Engine,
    /// The requests that wait for an answer: one, unless a client asks twice.
    pub(super) waiting: Vec<Waiting>,
    /// The request to a model that runs. Dropping it closes the connection.
    pub(super) run: Option<Run>,
    /// The answers for a position at which the user asked more than once.
    pub(super) alternatives: Alternatives,
    /// The edits that the user rejected.
    pub(super) rejected: Rejected,
    /// The edit that was accepted last: the text before it, and its hunks.
    pub(super) landed: Option<(Arc<str>, Vec<Hunk>)>,
    /// The time of the last change.
    pub(super) typed: Option<Instant>,
}

/// A request to a model that runs.
pub(super) struct Run {
    pub(super) id: RunId,
    pub(super) _cancel: DropGuard,
}

impl Document {
    pub(super) fn new(client: ClientId, snapshot: &Arc<Snapshot>) -> Self {
        let name = format!("{client:?} {}", snapshot.uri);
        Self {
            snapshot: Arc::clone(snapshot),
            engine: Engine::new(&name),
            name,
            waiting: Vec::new(),
            run: None,
            alternatives: Alternatives::default(),
            rejected: Rejected::default(),
            landed: None,
            typed: None,
        }
    }

    /// Takes another text of it, and notes the change in the journal; `is_accepted` if it is an edit that was accepted.
    pub(super) fn changed(&mut self, snapshot: &Arc<Snapshot>, journal: &mut Journal, is_accepted: bool, now: Instant) {
        let old = std::mem::replace(&mut self.snapshot, Arc::clone(snapshot));
        let Some(change) = between(old.normal(), snapshot.normal()) else { return };
        let is_accepted = is_accepted || self.engine.is_accepted_by(&change, snapshot.normal());
        let by = match snapshot.is_ours() {
            _ if is_accepted => By::Accepted,
            true => By::Azimuth,
            false => By::User,
        };
        self.typed = Some(now);
        self.engine.changed(old.normal(), snapshot.normal(), &change, now);
        self.rejected.change(old.normal(), snapshot.normal(), &change);
        // Who undoes what was accepted does not want it.
        if let Some((text, hunks)) = self.landed.take_if(|(text, _)| **text == **snapshot.normal()) {
            hunks.iter().for_each(|hunk| self.rejected.reject(&text, std::slice::from_ref(hunk)));
            self.rejected.reject(&text, &hunks);
        }
        let lines = [&old, snapshot].map(|of| lines(of));
        let [old_lines, new_lines] = &lines;
        let views = (View { text: old.normal(), lines: old_lines }, View { text: snapshot.normal(), lines: new_lines });
        journal.record(&self.name, views.0, views.1, &[change], by, now);
        self.end_unneeded();
    }

    /// Ends all that was begun. Those who wait go on waiting.
    pub(super) fn stop(&mut self) {
        self.engine.stop();
        self.waiting.iter_mut().for_each(|waiting| waiting.is_decided = false);
        self.end_unneeded();
    }

    /// Nobody waits any more.
    pub(super) fn withdrawn(&mut self) {
        let text = Arc::clone(self.snapshot.normal());
        self.engine.withdrawn(&text);
        self.end_unneeded();
    }

    /// Ends the request that runs, if its answer is of no use any more.
    pub(super) fn end_unneeded(&mut self) {
        let needed = self.engine.running();
        self.run.take_if(|run| Some(run.id) != needed);
    }

    /// A suggestion is on the screen.
    pub(super) fn shown(&mut self, suggestion: Suggestion) {
        self.engine.show(suggestion.text, suggestion.offset, suggestion.answer);
    }
}
