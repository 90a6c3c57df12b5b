//! The modes: what the agent may do in each, and how it is called, in one table ([`Mode::info`]).
//!
//! Nobody else decides by a mode's name: permission, the tools that are offered and the system prompt ask what it
//! allows. The editors' tables of modes are generated from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The mode of a turn: what the agent may do in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Look and answer; nothing is changed or run.
    Ask,
    /// Look, also with commands that are known to be read-only, and plan; nothing is changed.
    Plan,
    /// Everything within the permissions: edits are reviewed, commands are allowed or asked about.
    #[default]
    Agent,
    /// Like `agent`, and edits are accepted automatically.
    AcceptEdits,
    /// Nothing is asked, except by `ask` rules; `deny` rules still deny. It has to be confirmed.
    Bypass,
}

/// A mode's row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeInfo {
    /// Its name on the wire, in the log and in the store. People may type it, too.
    pub wire: &'static str,
    /// The name that people type and read.
    pub name: &'static str,
    /// Its name in a menu.
    pub label: &'static str,
    /// One line for users, as a sentence that begins with the mode and goes on with this.
    pub words: &'static str,
    /// The commands that it runs.
    pub runs: Runs,
    /// The fate of edits.
    pub edits: Edits,
    /// False if nothing is asked in it but what `ask` rules ask.
    pub asks: bool,
    /// True if the user has to confirm it after reading what it means.
    pub needs_confirmation: bool,
}

/// The commands that a mode runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// None: it only looks.
    Nothing,
    /// Those that are known to be read-only: it plans.
    OnlyReading,
    /// All, within the permissions.
    Anything,
}

/// The fate of edits in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edits {
    /// There are none.
    None,
    /// They wait for a review.
    Reviewed,
    /// They are accepted automatically.
    Accepted,
}

impl Mode {
    /// All, the one that may do least first.
    pub const ALL: [Self; 5] = [Self::Ask, Self::Plan, Self::Agent, Self::AcceptEdits, Self::Bypass];

    /// How it is called, and what it allows.
    pub const fn info(self) -> ModeInfo {
        match self {
            Self::Ask => ModeInfo {
                wire: "ask",
                name: "ask",
                label: "Ask",
                words: "reads and answers; changes nothing and runs nothing",
                runs: Runs::Nothing,
                edits: Edits::None,
                asks: true,
                needs_confirmation: false,
            },
            Self::Plan => ModeInfo {
                wire: "plan",
                name: "plan",
                label: "Plan",
                words: "reads, runs commands that only read, and plans; changes nothing",
                runs: Runs::OnlyReading,
                edits: Edits::None,
                asks: true,
                needs_confirmation: false,
            },
            Self::Agent => ModeInfo {
                wire: "agent",
                name: "agent",
                label: "Agent",
                words: "everything, within the permissions: proposes edits, and asks before commands",
                runs: Runs::Anything,
                edits: Edits::Reviewed,
                asks: true,
                needs_confirmation: false,
            },
            Self::AcceptEdits => ModeInfo {
                wire: "accept_edits",
                name: "accept-edits",
                label: "Accept edits",
                words: "like agent, but accepts edits automatically",
                runs: Runs::Anything,
                edits: Edits::Accepted,
                asks: true,
                needs_confirmation: false,
            },
            Self::Bypass => ModeInfo {
                wire: "bypass",
                name: "bypass",
                label: "Bypass",
                words: "accepts edits automatically, and asks only where your `ask` rules require it",
                runs: Runs::Anything,
                edits: Edits::Accepted,
                asks: false,
                needs_confirmation: true,
            },
        }
    }

    /// The mode of this name, as people type it or as it is on the wire.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| [mode.info().name, mode.info().wire].contains(&name))
    }

    /// The name that people type and read.
    pub const fn name(self) -> &'static str {
        self.info().name
    }

    /// The commands that it runs.
    pub const fn runs(self) -> Runs {
        self.info().runs
    }

    /// The fate of edits.
    pub const fn edits(self) -> Edits {
        self.info().edits
    }

    /// False if nothing is asked in it but what `ask` rules ask.
    pub const fn asks(self) -> bool {
        self.info().asks
    }

    /// True if the user has to confirm it after reading what it means.
    pub const fn needs_confirmation(self) -> bool {
        self.info().needs_confirmation
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_has_every_mode_by_the_name_that_it_has_on_the_wire() {
        let schema = serde_json::to_value(schemars::schema_for!(Mode)).unwrap();
        assert_eq!(schema["oneOf"].as_array().map(Vec::len), Some(Mode::ALL.len()), "{schema}");
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.info().wire);
        }
    }

    #[test]
    fn a_mode_is_found_by_what_people_type_and_by_what_is_on_the_wire() {
        for mode in Mode::ALL {
            assert_eq!((Mode::named(mode.name()), Mode::named(mode.info().wire)), (Some(mode), Some(mode)));
        }
        assert_eq!(Mode::named("Accept edits"), None);
        let names: BTreeSet<_> = Mode::ALL.iter().flat_map(|mode| [mode.name(), mode.info().wire]).collect();
        assert_eq!(names.len(), Mode::ALL.len() + 1, "no two modes share a name; one has two");
    }

    #[test]
    fn what_asks_nothing_has_to_be_confirmed() {
        for mode in Mode::ALL {
            assert_eq!(mode.asks(), !mode.needs_confirmation(), "{mode:?}");
        }
    }
}
