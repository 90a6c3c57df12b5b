//! `azimuth/servers/*`: the language servers of our own, beside those that the editor runs.

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
    /// The servers for the client's workspace folders, by root and name: those that run or ran, and those that the
    /// folders are of the kind for.
    pub servers: Vec<ServerInfo>,
    /// What is wrong with the configuration files of servers, for people.
    pub problems: Vec<String>,
}

/// How it stands with a language server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its version, if it has said one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The folder of the project that it is for, as a URI.
    pub root: String,
    /// What it does.
    pub state: ServerState,
    /// The path of its program, if that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The id of its process, while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The memory that it and all that it started hold, in bytes; absent where that cannot be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// More about its state, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What a language server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ServerState {
    /// It is there, and starts with the first question.
    NotStarted,
    /// The project brings it along, and the user has not allowed it as it is now.
    NotAllowed,
    /// The project is of its kind, but its program was not found.
    Missing,
    /// It has not yet said what it can.
    Starting,
    /// It reads the project.
    Indexing,
    /// It answers.
    Ready,
    /// It ended by itself, or was ended since it did harm; it starts anew a while later.
    Crashed,
    /// It was ended since it was not needed, or not wanted; it starts anew with the next question.
    Stopped,
}

/// Parameters of `azimuth/servers/restart`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServersRestartParams {
    /// The server, by its name; all of the client's workspace folders without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Result of `azimuth/servers/restart`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServersRestartResult {
    /// How many were ended. They start anew with the next question.
    pub restarted: u32,
}

/// Parameters of `azimuth/servers/changed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServersChangedParams {}
