//! The plan of the session's task: what the model made of it, what the user did to it since, and what the model is told
//! of that.

use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::terminal::Done;
use protocol::turn::TurnPlanParams;
use protocol::{ErrorCode, Event, TurnId};

use super::Caller;
use crate::Error;
use crate::session::Session;

/// The beginning of the note that tells the model of the user's changes, by which the log shows that it was told.
const CHANGED: &str = "The user changed the plan.";
/// How many steps a plan has at most: the model's, and as many more as somebody may want to note down.
const MOST_STEPS: usize = 50;
/// How long a step is at most, in characters, as for the model.
const LONGEST_STEP: usize = 200;

/// The plan, by the log.
#[derive(Debug, Default)]
pub(in crate::session) struct Plan {
    steps: Vec<PlanEntry>,
    /// The turn that made it, in which it is shown.
    made_in: Option<TurnId>,
    /// The turn that works on it.
    worked_on_in: Option<TurnId>,
    /// True if the user changed it and the model was not told.
    is_news: bool,
}

impl Plan {
    /// Takes in an event of the log.
    pub(in crate::session) fn apply(&mut self, event: &Event) {
        match event {
            Event::PlanUpdated { turn_id, entries, by_user } => {
                self.steps.clone_from(entries);
                self.made_in = Some(turn_id.clone());
                self.is_news = *by_user;
                if !by_user {
                    self.worked_on_in = Some(turn_id.clone());
                }
            }
            Event::Noted { turn_id, text } if text.starts_with(CHANGED) => {
                self.is_news = false;
                self.worked_on_in = Some(turn_id.clone());
            }
            _ => {}
        }
    }

    /// The steps that this turn works on; none if it has nothing to do with the plan.
    pub(super) fn of_turn(&self, turn: Option<&TurnId>) -> Vec<PlanEntry> {
        let is_its = turn.is_some() && self.worked_on_in.as_ref() == turn;
        if is_its { self.steps.clone() } else { Vec::new() }
    }

    /// The note on what the user changed, if the model was not told.
    fn news(&self) -> Option<String> {
        if !self.is_news {
            return None;
        }
        if self.steps.is_empty() {
            return Some(format!("{CHANGED} There is none any more."));
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
        Some(format!("{CHANGED} It is now:\n{}\nGo on by it, and keep its steps when you update it.", steps.join("\n")))
    }
}

impl Session {
    /// Sets the plan as the user wants it.
    pub(super) fn set_plan(&mut self, _: Caller, params: TurnPlanParams) -> Result<Done, Error> {
        let entries = params.entries.into_iter();
        let trimmed = entries.map(|step| PlanEntry { content: step.content.trim().to_owned(), ..step });
        let entries: Vec<_> = trimmed.collect();
        check(&entries)
            .map_err(|text| Error::new(ErrorCode::InvalidParams, format!("invalid params: `entries`: {text}")))?;
        if entries != self.state.plan.steps {
            let turn_id = self.state.plan.made_in.clone().unwrap_or_else(|| self.state.last_turn());
            self.record(Event::PlanUpdated { turn_id, entries, by_user: true });
        }
        Ok(Done {})
    }

    /// Puts on record what the user did to the plan, for this turn; gives the words.
    pub(super) fn note_plan(&mut self, turn: &TurnId) -> Option<String> {
        let text = self.state.plan.news()?;
        self.record(Event::Noted { turn_id: turn.clone(), text: text.clone() });
        Some(text)
    }
}

fn check(steps: &[PlanEntry]) -> Result<(), String> {
    if steps.len() > MOST_STEPS {
        return Err(format!("there are {}, more than {MOST_STEPS}", steps.len()));
    }
    for step in steps {
        if step.content.is_empty() || step.content.contains('\n') || step.content.chars().count() > LONGEST_STEP {
            return Err(format!("a step is one line of 1 to {LONGEST_STEP} characters"));
        }
    }
    Ok(())
}
