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

    /// The name, as people write it: that of its setting without what all of these end in.
    pub fn name(self) -> &'static str {
        self.setting().strip_suffix("_model").unwrap_or("default")
    }

    /// The role with this name, in small letters or capitals.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name().eq_ignore_ascii_case(name))
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
            Self::Instruct => "changes to a selection",
            Self::Completion => "suggestions",
            Self::NextEdit => "next edits",
        }
    }
}

/// The model that a role comes to now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoleInfo {
    /// The role.
    pub role: Role,
    /// The work that its model is asked for, in words.
    pub words: String,
    /// The model that would be asked now, by its id and its level; absent if none would be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Why it is this one, or why there is none, in words.
    pub why: String,
    /// True if it was picked, and holds until Azimuth ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub picked: bool,
    /// True if its setting is in the user's `config.toml`, from which it can be taken out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
}

/// Parameters of `azimuth/model/roles`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelRolesParams {}

/// Result of `azimuth/model/roles`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelRolesResult {
    /// Each role.
    pub roles: Vec<RoleInfo>,
}

/// Parameters of `azimuth/model/pick`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ModelPickParams {
    /// The role.
    pub role: Role,
    /// The name of its model, or of several with commas between them; absent for what the settings say without the
    /// pick.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// True to write it into the user's `config.toml`. Otherwise it holds until Azimuth ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep: bool,
}

/// Result of `azimuth/model/pick`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelPickResult {
    /// The role, with the model that it comes to from now on.
    pub role: RoleInfo,
    /// The change, in words for the user.
    pub text: String,
}
