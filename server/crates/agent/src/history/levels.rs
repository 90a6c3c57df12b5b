//! The levels that the log says models were told to think at, each with its place in the conversation.

use ports::model::LevelAt;
use protocol::model::ThinkingLevel;

/// The levels of a conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels(Vec<(String, LevelAt)>);

impl Levels {
    /// Has a model think at a level from the message on that comes after so many. A level that it has already is no
    /// change, and one of the same place is replaced: nothing was answered at it.
    pub(super) fn set(&mut self, model: &str, level: Option<ThinkingLevel>, at: usize) {
        self.0.retain(|(other, before)| other != model || before.at != at);
        let last = self.0.iter().rev().find(|(other, _)| other == model);
        if last.is_none_or(|(_, last)| last.level != level) {
            self.0.push((model.to_owned(), LevelAt { at, level }));
        }
    }

    /// A handover has taken the place of the first so many messages: of each model's levels before, the last counts.
    pub(super) fn compact(&mut self, end: usize) {
        let before: Vec<_> = self.0.extract_if(.., |(_, level)| level.at <= end).collect();
        let mut kept: Vec<(String, LevelAt)> = Vec::new();
        for (model, level) in before {
            kept.retain(|(other, _)| *other != model);
            kept.push((model, LevelAt { at: 0, ..level }));
        }
        for (_, level) in &mut self.0 {
            level.at = level.at - end + 1;
        }
        self.0.splice(..0, kept);
    }

    /// Those of a model.
    pub(super) fn of(&self, model: &str) -> Vec<LevelAt> {
        self.0.iter().filter(|(other, _)| other == model).map(|(_, level)| *level).collect()
    }
}
