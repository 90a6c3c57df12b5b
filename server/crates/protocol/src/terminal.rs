//! `azimuth/terminal/*`: pseudo-terminals that the user sees and can type into.
//!
//! Terminal bytes are no events: they lie in a bounded spool with offsets, and a client asks for what it missed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SessionId, TerminalId, ToolCallId};

/// What a terminal is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TerminalKind {
    /// The session's shell, in which commands run one after the other.
    #[default]
    Shell,
    /// The session's second shell, outside the sandbox.
    Outside,
    /// A command in the background.
    Job,
}

/// What commands may do to the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Read the workspace, the system and toolchains; write nothing but temporary files.
    ReadOnly,
    /// As `read_only`, and write in the workspace, temporary folders and package caches.
    #[default]
    WorkspaceWrite,
    /// Whatever the user may do: no sandbox.
    Full,
}

/// How sure it is that a command waits for input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Certainty {
    /// It was seen to read from the terminal.
    Certain,
    /// It has the terminal open, polls, uses no processor time and has printed nothing for a while.
    Probable,
}

/// A command that waits for input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// How sure that is.
    pub certainty: Certainty,
    /// What it asks: the last line that it printed, which may be empty.
    pub prompt: String,
    /// Whether what is typed is not shown, as with a password. It is for the user then, and never kept.
    pub hidden: bool,
}

/// What shows that a command in the background, such as a server, is up.
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

/// What runs in a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningCommand {
    /// The call that started it, or the id of the user's own command.
    pub tool_call_id: ToolCallId,
    /// The command line.
    pub command: String,
    /// When it began.
    pub started_at: u64,
}

/// A terminal, as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TerminalInfo {
    /// The terminal.
    pub terminal_id: TerminalId,
    /// What it is for.
    pub kind: TerminalKind,
    /// For people: `shell`, or a job's command line.
    pub title: String,
    /// The folder that it is in, or began in.
    pub cwd: String,
    /// What its commands may do to the machine.
    pub sandbox: SandboxMode,
    /// Whether its process lives.
    pub alive: bool,
    /// What runs in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<RunningCommand>,
    /// Whether that waits for input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Waiting>,
    /// Whether the user has taken it over: the model cannot type into it until it is handed back.
    #[serde(default)]
    pub taken: bool,
    /// For a job: what shows that it is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<Ready>,
    /// When it began.
    pub started_at: u64,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// For a job that ended: its exit code; absent where it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The offset after its last byte of output.
    pub end: u64,
}

/// Who typed.
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
    /// Whether the client says with `azimuth/terminal/ack` how far it has come. It is then sent at most 256 KiB ahead
    /// of that.
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

/// Parameters of `azimuth/terminal/signal`: send a signal to what runs in a terminal.
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

/// A signal that can be sent to what runs in a terminal.
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

/// Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and no time runs
/// out meanwhile, or hand it back. Twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TerminalTakeParams {
    /// The session.
    pub session_id: SessionId,
    /// The terminal.
    pub terminal_id: TerminalId,
    /// Whether it is taken over; false hands it back.
    pub taken: bool,
}

/// Parameters of `azimuth/terminal/ack`: how far a client has come with a terminal's output.
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

/// Parameters of `azimuth/terminal/close`: no longer follow a terminal. What runs in it goes on.
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
