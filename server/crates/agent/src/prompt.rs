//! The system prompt, in our own words, out of the tools that are active (001 §9).

use std::sync::Arc;

use protocol::session::Mode;

use crate::model::ToolSpec;

/// What a system prompt is made from. Equal values give equal prompts, so that the vendors' caches hit.
#[derive(Clone, Debug)]
pub struct PromptParts<'a> {
    /// The tools that are offered ([`crate::dispatch::offered`]).
    pub tools: &'a [ToolSpec],
    /// The mode.
    pub mode: Mode,
    /// Where it works.
    pub environment: &'a Environment,
    /// The project's rules, as read from `AGENTS.md` and the like. May be empty.
    pub rules: &'a str,
}

/// Where the agent works.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// The workspace folders, as paths; the first one is where commands start.
    pub folders: Vec<String>,
    /// The operating system, such as `Linux x86_64`.
    pub platform: String,
    /// The editor, such as `Neovim 0.11`; none where there is none.
    pub editor: Option<String>,
    /// The date, such as `2026-03-01`. A day and not a time, so that the prompt stays the same for long.
    pub day: String,
}

/// The system prompt.
pub fn system(parts: &PromptParts<'_>) -> Arc<str> {
    Arc::from(parts.rules)
}
