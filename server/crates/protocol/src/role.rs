//! The roles of models: the work that a model is asked for, each with the setting that names its model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The work that a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Conversations.
    Default,
    /// Turns in the mode `plan`.
    Plan,
    /// Small work that names no model of its own.
    Fast,
    /// Second opinions.
    Oracle,
    /// Titles of conversations.
    Title,
    /// Changes of a selection ("change this").
    Instruct,
    /// Text that is suggested where the user types.
    Completion,
    /// Edits that are suggested.
    NextEdit,
}

impl Role {
    /// All roles, in the order in which users read them.
    pub const ALL: [Self; 8] = [
        Self::Default,
        Self::Plan,
        Self::Fast,
        Self::Oracle,
        Self::Title,
        Self::Instruct,
        Self::Completion,
        Self::NextEdit,
    ];

    /// The name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::Fast => "fast",
            Self::Oracle => "oracle",
            Self::Title => "title",
            Self::Instruct => "instruct",
            Self::Completion => "completion",
            Self::NextEdit => "next_edit",
        }
    }

    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The setting that names its model.
    pub fn setting(self) -> &'static str {
        match self {
            Self::Default => "model",
            Self::Plan => "plan_model",
            Self::Fast => "fast_model",
            Self::Oracle => "oracle_model",
            Self::Title => "title_model",
            Self::Instruct => "instruct_model",
            Self::Completion => "completion_model",
            Self::NextEdit => "next_edit_model",
        }
    }

    /// The work, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Default => "new conversations",
            Self::Plan => "plans",
            Self::Fast => "small work",
            Self::Oracle => "second opinions",
            Self::Title => "titles",
            Self::Instruct => "\"change this\"",
            Self::Completion => "suggestions",
            Self::NextEdit => "next edits",
        }
    }
}
