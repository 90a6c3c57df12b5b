//! `azimuth/servers/*`: Azimuth's own language servers, which it runs in addition to the editor's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `azimuth/servers/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServersListParams {}

/// Result of `azimuth/servers/list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServersListResult {
    /// The servers for the client's workspace folders, sorted by root and name: those that run or ran, and those for
    /// projects of these folders' kinds.
    pub servers: Vec<ServerInfo>,
    /// The problems of the servers' configuration files, to be shown.
    pub problems: Vec<String>,
}

/// The status of a language server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its version, if it has reported one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The folder of the project that it is for, as a URI.
    pub root: String,
    /// Its state.
    pub state: ServerState,
    /// The path of its program, if it is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The id of its process, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The memory of the server and everything that it started, in bytes; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Details of its state, to be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// The state of a language server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// Installed; it starts with the first question.
    NotStarted,
    /// It comes with the project, and the user has not allowed it in its current form.
    NotAllowed,
    /// The project is of its kind, but its program was not found.
    Missing,
    /// It is starting.
    Starting,
    /// It is reading the project.
    Indexing,
    /// It answers.
    Ready,
    /// It crashed, or was ended because it did harm; it starts again after a while.
    Crashed,
    /// It was ended because it was not needed or not wanted; it starts again with the next question.
    Stopped,
}

/// Parameters of `azimuth/servers/restart`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServersRestartParams {
    /// The server's name; without it, all servers of the client's workspace folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Result of `azimuth/servers/restart`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServersRestartResult {
    /// The number of ended servers. They start again with the next question.
    pub restarted: u32,
}

/// Parameters of `azimuth/servers/changed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServersChangedParams {}
