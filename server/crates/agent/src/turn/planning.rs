//! The plan that the turn works on: the model is reminded of steps that are open where it would end, and of the plan
//! itself where it works on for long without a word of it.

use std::sync::Arc;

use ports::model::Stop;
use ports::tool_names;
use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::mode::Edits;

use super::Turn;
use crate::history::OpenCall;
use crate::wait::until_cancelled;

/// After so many rounds without an update of the plan the model is reminded of it.
const ROUNDS: u32 = 10;

/// How the turn stands with its plan.
pub(super) struct Planning {
    /// How often it may still go on by itself where it would end with open steps.
    reminders: u32,
    /// True if the model is reminded at all.
    reminds: bool,
    /// The rounds since the model was last at the plan.
    rounds: u32,
}

impl Planning {
    pub(super) fn new(reminders: u32) -> Self {
        Self { reminders, reminds: reminders > 0, rounds: 0 }
    }

    /// A call was made.
    pub(super) fn made(&mut self, call: &OpenCall) {
        if call.name == tool_names::UPDATE_PLAN {
            self.rounds = 0;
        }
    }
}

impl Turn {
    /// True if the turn, which would end, goes on so that the model comes back to the steps that are open.
    pub(super) async fn must_finish(&mut self, stop: Stop) -> bool {
        // A mode that changes nothing leaves the steps of its plan to others.
        let may = stop == Stop::EndTurn && self.gate.mode.edits() != Edits::None;
        if self.planning.reminders == 0 || !may {
            return false;
        }
        let open = self.open_steps().await;
        if open.is_empty() {
            return false;
        }
        self.planning.reminders -= 1;
        self.note(format!(
            "You ended your turn, but these steps of the plan are open: {}. Go on with them, mark the steps \
             that are done, and drop those that are no longer wanted. If you wait for the user, or cannot go on, say so in a sentence and end.",
            open.join("; ")
        ));
        true
    }

    /// Reminds the model of a plan of which it said nothing for long. To be called once in each round.
    pub(super) async fn remind_of_plan(&mut self) {
        self.planning.rounds += 1;
        if !self.planning.reminds || self.planning.rounds <= ROUNDS {
            return;
        }
        self.planning.rounds = 0;
        let open = self.open_steps().await;
        if !open.is_empty() {
            let open = open.join("; ");
            self.note(format!(
                "You have not updated the plan for {ROUNDS} rounds. These of its steps are open: {open}. Update it if it is \
                 out of date."
            ));
        }
    }

    /// The steps that are not done, of the plan that this turn works on.
    async fn open_steps(&self) -> Vec<String> {
        let session = Arc::clone(&self.gate.session);
        let plan = until_cancelled(&self.gate.cancel, session.plan()).await.unwrap_or_default();
        let is_open = |step: &PlanEntry| step.status != PlanEntryStatus::Completed;
        plan.into_iter().filter(is_open).map(|step| step.content).collect()
    }
}
