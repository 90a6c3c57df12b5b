//! Configuration, resolved: what the layers (defaults, the user's file, the editor, the project's file) come to.
//!
//! Provider hosts and keys, permission allows and program paths come only from the user, the environment or the
//! editor; a project's file can only restrict (design D7).

use agent::permission::Rules;

/// The configuration in force.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The model of new sessions; without it, the last one chosen, else the first usable one.
    pub model: Option<String>,
    /// The permission rules.
    pub rules: Rules,
    /// Models, their hosts and keys.
    pub providers: providers::Settings,
    /// Whether edits are accepted as they come. They stay listed and can be undone.
    pub accept_edits: bool,
}
