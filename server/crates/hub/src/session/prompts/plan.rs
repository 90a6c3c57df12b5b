//! Changes of the plan by the user, and how the model is told of them.

use protocol::content::PlanEntry;
use protocol::terminal::Done;
use protocol::turn::TurnPlanParams;
use protocol::{ErrorCode, Event, TurnId};

use super::Caller;
use crate::Error;
use crate::session::Session;

/// How many steps a plan has at most: the model's, and as many more as somebody may want to note down.
const MOST_STEPS: usize = 50;
/// How long a step is at most, in characters, as for the model.
const LONGEST_STEP: usize = 200;

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
