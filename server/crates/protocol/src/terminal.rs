//! `azimuth/terminal/*`: pseudo-terminals that the user sees and can type into (design D6).
//!
//! Terminal bytes are no events: they lie in a bounded spool with offsets, and a client asks for what it missed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SessionId, TerminalId};

/// Parameters of `azimuth/terminal/open`: start to follow a terminal's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalOpenParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal; without it, the session's shell, which is started if need be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<TerminalId>,
    /// The offset to begin at, in bytes since the terminal's start. 0 gives all that is kept.
    #[serde(default)]
    pub since: u64,
    /// The size of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TerminalSize>,
}

/// A terminal's size in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSize {
    /// Columns, 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub columns: u16,
    /// Rows, 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub rows: u16,
}

/// Result of `azimuth/terminal/open`. The bytes follow as `azimuth/terminal/output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOpenResult {
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The offset of the first byte that will come. Larger than asked where older bytes are no longer kept.
    pub since: u64,
    /// Whether the terminal's process lives.
    pub alive: bool,
}

/// Parameters of `azimuth/terminal/write`: type into a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalWriteParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The bytes, in base64.
    pub data: String,
}

/// Parameters of `azimuth/terminal/resize`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalResizeParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The new size.
    pub size: TerminalSize,
}

/// Parameters of `azimuth/terminal/kill`: end what runs in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalKillParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
}

/// An empty result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {}

/// Parameters of the notification `azimuth/terminal/output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalOutputParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The offset of the first byte.
    pub offset: u64,
    /// The bytes, in base64.
    pub data: String,
}
