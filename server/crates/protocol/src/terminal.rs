//! `azimuth/terminal/*`: pseudo-terminals that the user sees and can type into.
//!
//! Terminal bytes are not events: they are in a bounded spool with offsets, and a client asks for what it missed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SessionId, TerminalId, ToolCallId};

/// The purpose of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalKind {
    /// The session's shell, in which commands run one after another.
    #[default]
    Shell,
    /// The session's second shell, outside the sandbox.
    Outside,
    /// A command in the background.
    Job,
}

/// The access that commands have to the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Read the workspace, the system and toolchains; write nothing but temporary files.
    ReadOnly,
    /// Like `read_only`, and write in the workspace, temporary folders and package caches.
    #[default]
    WorkspaceWrite,
    /// Everything that the user may do: no sandbox.
    Full,
}

/// The certainty that a command waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It was seen to read from the terminal.
    Certain,
    /// It has the terminal open, polls, uses no processor time, and has printed nothing for a while.
    Probable,
}

/// A command that waits for input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The certainty.
    pub certainty: Certainty,
    /// Its question: the last line that it printed, which may be empty.
    pub prompt: String,
    /// True if the input is hidden, as for a password. Then only the user can type it, and it is never kept.
    pub hidden: bool,
}

/// The evidence that a command in the background, such as a server, is up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Ready {
    /// The line that says so, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The TCP ports that its processes listen on, sorted.
    #[serde(default)]
    pub ports: Vec<u16>,
}

/// The command in a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningCommand {
    /// The call that started it, or the id of the user's own command.
    pub tool_call_id: ToolCallId,
    /// The command line.
    pub command: String,
    /// The time of its start.
    pub started_at: u64,
}

/// The current state of a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalInfo {
    /// The terminal.
    pub terminal_id: TerminalId,
    /// Its purpose.
    pub kind: TerminalKind,
    /// The title to show: `shell`, or a job's command line.
    pub title: String,
    /// Its current folder, or the one in which it started.
    pub cwd: String,
    /// The access that its commands have to the machine.
    pub sandbox: SandboxMode,
    /// True if its process lives.
    pub alive: bool,
    /// The command that runs in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningCommand>,
    /// Present if that command waits for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// True if the user has taken it over: the model cannot type into it until it is handed back.
    #[serde(default)]
    pub taken: bool,
    /// For a job: the evidence that it is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// The time of its start.
    pub started_at: u64,
    /// The time of its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// For a job that ended: its exit code; absent if it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The offset after its last byte of output.
    pub end: u64,
}

/// The one who typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Typist {
    /// The user.
    User,
    /// The model.
    Model,
}

/// Parameters of `azimuth/terminal/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalListParams {
    /// The session.
    pub session_id: SessionId,
}

/// Result of `azimuth/terminal/list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalListResult {
    /// The terminals: the shell first, then jobs, the oldest first. Jobs that ended stay until the session's host ends.
    pub terminals: Vec<TerminalInfo>,
}

/// Parameters of `azimuth/terminal/open`: follow a terminal's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalOpenParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal; without it, the session's shell, which is started if need be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_id: Option<TerminalId>,
    /// The offset to start at, in bytes since the terminal's start. 0 gives everything that is kept.
    #[serde(default)]
    pub since: u64,
    /// The size of the view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<TerminalSize>,
    /// True if the client acknowledges output with `azimuth/terminal/ack`. It is then sent at most 256 KiB ahead of
    /// that.
    #[serde(default)]
    pub acknowledges: bool,
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
    /// The offset of the first byte that will be sent. Larger than requested if older bytes are no longer kept.
    pub since: u64,
    /// True if the terminal's process lives.
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

/// Parameters of `azimuth/terminal/kill`: end the command in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalKillParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
}

/// Parameters of `azimuth/terminal/signal`: send a signal to the command in a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalSignalParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The signal.
    pub signal: TerminalSignal,
}

/// A signal for the command in a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalSignal {
    /// SIGINT, as Ctrl-C sends it.
    Interrupt,
    /// SIGQUIT, as Ctrl-\\ sends it.
    Quit,
    /// SIGHUP.
    Hangup,
    /// SIGTERM.
    Terminate,
    /// SIGTSTP, as Ctrl-Z sends it.
    Stop,
    /// SIGCONT.
    Continue,
    /// SIGKILL.
    Kill,
}

/// Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and its time limits
/// pause, or hand it back. The same call twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalTakeParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// True takes it over; false hands it back.
    pub taken: bool,
}

/// Parameters of `azimuth/terminal/ack`: the client has shown a terminal's output up to an offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalAckParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// The offset after the last byte that it has shown.
    pub offset: u64,
}

/// Parameters of `azimuth/terminal/close`: stop following a terminal. Its command continues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalCloseParams {
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
