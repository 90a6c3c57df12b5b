//! Calls of which only a part was made. Each file is changed as a whole or not at all, but of several files of a call one
//! may fail after another has succeeded; then the user is told, and the model.

use std::collections::BTreeMap;

use protocol::event::Severity;
use protocol::{Event, ToolCallId};
use tokio::sync::oneshot;
use workspace::review::{Application, Note};

use super::Session;

/// Somebody who waits for accepted hunks to arrive.
pub(super) struct Settling {
    /// The call whose hunks they are; none where all that is on its way is waited for.
    call: Option<ToolCallId>,
    done: oneshot::Sender<Vec<String>>,
    /// What did not arrive so far, in words.
    failures: Vec<String>,
}

/// What is to be told of calls of which only a part was made.
#[derive(Default)]
pub(super) struct Halves {
    /// What did not arrive, by the last call that had a part in it: its file, and what is said of it.
    unmade: BTreeMap<ToolCallId, Vec<(String, String)>>,
    /// What the model is to be told.
    news: Vec<String>,
}

impl Settling {
    pub(super) fn new(call: Option<ToolCallId>, done: oneshot::Sender<Vec<String>>) -> Self {
        Self { call, done, failures: Vec::new() }
    }

    /// Nothing is on its way any more.
    pub(super) fn end(self) {
        let _ = self.done.send(self.failures);
    }
}

impl Halves {
    /// What the model is to be told, once.
    pub(super) fn take_news(&mut self) -> impl Iterator<Item = Note> {
        std::mem::take(&mut self.news).into_iter().map(|text| Note { text, has_word: false })
    }
}

impl Session {
    /// Accepted hunks did not arrive.
    pub(super) fn not_made(&mut self, application: &Application, reason: &str) {
        let file = self.roots.display(&application.path);
        let failure = format!("{file}: {reason}");
        self.settling.iter_mut().for_each(|it| it.failures.push(failure.clone()));
        if let Some(call) = application.calls.last() {
            self.halves.unmade.entry(call.clone()).or_default().push((file, failure));
        }
    }

    /// Tells of the calls of which a part is made and a part is not, once nothing is on its way.
    pub(super) fn tell_halves(&mut self) {
        let unmade = std::mem::take(&mut self.halves.unmade);
        for (call, unmade) in unmade {
            let (files, failures): (Vec<_>, Vec<_>) = unmade.into_iter().unzip();
            let made: Vec<_> = self.review.arrived_of(&call).into_iter().filter(|file| !files.contains(file)).collect();
            if made.is_empty() {
                continue;
            }
            let (made, failures) = (made.join(", "), failures.join("; "));
            let text = format!(
                "An edit was made only in part. It is in {made}, and not in {failures}. What is missing stays in the \
                 review, for you to decide"
            );
            self.record(Event::Notice { severity: Severity::Warning, text });
            match self.settling.iter_mut().find(|it| it.call.as_ref() == Some(&call)) {
                Some(it) => it.failures.push(format!(
                    "so the edit was made only in part: it is in {made}. What is missing is pending; the user decides on \
                     it"
                )),
                None => self.halves.news.push(format!(
                    "The user accepted your edit, but it was made only in part. It is in {made}, and not in {failures}. \
                     What is missing is pending again."
                )),
            }
        }
        self.note_between_turns();
    }
}
