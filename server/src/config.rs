//! Configuration, resolved: what the layers (defaults, the user's file, the environment, the editor, the project's
//! file) come to.
//!
//! Provider hosts and keys, permission allows and the model come only from the user, the environment or the editor; a
//! project's file can only restrict (design D7). What a layer says and may not is told in [`Config::warnings`].

pub mod dirs;
pub mod layers;

use agent::permission::Rules;

pub use self::layers::{ConfigError, Layer, Sources, load};

/// The configuration in force.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The model of new sessions; without it, the last one chosen, else the first usable one.
    pub model: Option<String>,
    /// The permission rules, each with where it comes from.
    pub rules: Rules,
    /// Models, their hosts and keys.
    pub providers: providers::Settings,
    /// Whether edits are accepted as they come. They stay listed and can be undone.
    pub accept_edits: bool,
    /// What to log: `error`, `warn`, `info`, `debug` or `trace`, or a filter of `tracing`'s.
    pub log: Option<String>,
    /// What was ignored and why, for the user.
    pub warnings: Vec<String>,
}
