//! Events with their numbers, as clients get them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Event;
use crate::SessionId;

/// Parameters of the notification `azimuth/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventParams {
    /// The session.
    pub session_id: SessionId,
    /// The event with its number.
    #[serde(flatten)]
    pub event: SequencedEvent,
}

/// An event with its number in the session.
// `E` is another type only for who hands events on as JSON, without a look into them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SequencedEvent")]
pub struct SequencedEvent<E = Event> {
    /// Its number in the session: 1, 2, 3, … without gaps.
    pub seq: u64,
    /// The time of the event.
    pub at: u64,
    /// The event itself.
    pub event: E,
}
