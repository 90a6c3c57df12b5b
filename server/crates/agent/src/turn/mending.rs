//! The errors that a turn's edits brought: the model fixes them before the turn ends, or the user reads of them.

use std::sync::Arc;

use ports::session::NewErrors;
use protocol::Event;
use protocol::event::Severity;

use super::Turn;
use crate::wait::until_cancelled;

/// So many new errors are named if a turn ends with them.
const MOST_ERRORS: usize = 3;

impl Turn {
    /// True if the turn, which would end, goes on so that the model fixes errors that its edits brought. If not, they
    /// are told at its end.
    pub(super) async fn must_mend(&mut self) -> bool {
        let mends = self.may_mend > 0;
        match self.ask_for_errors(mends).await {
            Some(errors) if mends => {
                self.may_mend -= 1;
                let text = format!(
                    "You ended, but {} not there before your edits:\n{}\nMend what is wrong, or say why it stays.",
                    counted(errors.count, "error is there that was", "errors are there that were"),
                    errors.shown.join("\n")
                );
                self.record(Event::Noted { turn_id: self.gate.turn_id.clone(), text });
                true
            }
            errors => {
                self.new_errors = errors;
                false
            }
        }
    }

    /// Takes in the errors that the turn's edits brought if the model gets no chance to fix them.
    pub(super) async fn see_what_broke(&mut self) {
        self.new_errors = self.ask_for_errors(false).await;
    }

    async fn ask_for_errors(&self, tells_model: bool) -> Option<NewErrors> {
        let session = Arc::clone(&self.gate.session);
        until_cancelled(&self.gate.cancel, session.new_errors(tells_model)).await.flatten()
    }
}

/// Tells the user that the turn's edits brought errors.
pub(super) fn left_broken(errors: &NewErrors) -> Event {
    let named = errors.shown.iter().take(MOST_ERRORS).filter_map(|error| error.lines().next());
    let named = named.collect::<Vec<_>>().join("; ");
    let count = counted(errors.count, "error that is", "errors that are");
    let text = format!("The edits of this turn brought {count} there still: {named}");
    Event::Notice { severity: Severity::Warning, text }
}

fn counted(count: u32, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}
