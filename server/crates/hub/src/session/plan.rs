//! The plan of the session's task, by its log: the model's, as the user has changed it since.

use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::{Event, TurnId};

/// The beginning of the note that tells the model of the user's changes, by which the log shows that it was told.
const CHANGED: &str = "The user changed the plan.";

/// The plan, by the log.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<PlanEntry>,
    /// The turn that made it, in which it is shown.
    pub(super) made_in: Option<TurnId>,
    /// The turn that works on it.
    worked_on_in: Option<TurnId>,
    /// True if the user changed it and the model was not told.
    is_news: bool,
}

impl Plan {
    /// Takes in an event of the log.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::PlanUpdated { turn_id, entries, by_user } => {
                self.steps.clone_from(entries);
                self.made_in = Some(turn_id.clone());
                self.is_news = *by_user;
                if !by_user {
                    self.worked_on_in = Some(turn_id.clone());
                }
            }
            Event::Noted { text, .. } if text.starts_with(CHANGED) => self.is_news = false,
            _ => {}
        }
    }

    /// The steps that this turn works on; none if it has nothing to do with the plan.
    pub(super) fn of_turn(&self, turn: Option<&TurnId>) -> Vec<PlanEntry> {
        let is_its = turn.is_some() && self.worked_on_in.as_ref() == turn;
        if is_its { self.steps.clone() } else { Vec::new() }
    }

    /// The note on what the user changed, if the model was not told.
    pub(super) fn news(&self) -> Option<String> {
        if !self.is_news {
            return None;
        }
        if self.steps.is_empty() {
            return Some(format!("{CHANGED} It was removed."));
        }
        let steps = self.steps.iter().map(|step| {
            let status = match step.status {
                PlanEntryStatus::Pending => "pending",
                PlanEntryStatus::InProgress => "in_progress",
                PlanEntryStatus::Completed => "completed",
            };
            format!("- {status}: {}", step.content)
        });
        let steps: Vec<_> = steps.collect();
        Some(format!("{CHANGED} It is now:\n{}\nFollow it, and keep its steps when you update it.", steps.join("\n")))
    }
}
