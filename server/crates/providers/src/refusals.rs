//! The fields that a server has refused though it is said to take them: what a request can do without, it is not sent
//! again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ports::model::{ModelError, ModelErrorKind, Request};

use crate::wire::{Target, Wire, anthropic, kept};

/// The words of a server that cannot take a part at all. Other words may be about the place where it stands, which
/// another request need not have; but what is refused a second time will be each time.
const CANNOT: &[&str] = &[
    "not support",
    "unsupported",
    "not available",
    "extra inputs",
    "input should be",
    "unexpected",
    "unknown",
    "unrecognized",
    "extraneous",
    "must be one of",
    "enum value",
];
/// So many refusals are enough, whatever their words.
const ENOUGH: u8 = 2;

/// A part of a request that it can do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dispensable {
    /// A change of the effort within a conversation. Without it, the level of thinking is said at the request's head.
    EffortChange,
    /// The question why the cache missed.
    Diagnosis,
    /// Inputs of tools that come while the model writes them.
    EagerInputs,
    /// The hour for which the prompt is to be kept. Without it, the minutes count that are usual.
    CacheHour,
}

/// A part of a request that a server has refused.
pub(crate) struct Refused {
    pub(crate) part: Dispensable,
    /// True if the server says that it cannot take it at all, so that no later request is sent with it.
    pub(crate) is_for_good: bool,
}

/// The refusals, for as long as a configuration holds: models are given out anew for each turn.
#[derive(Debug, Default)]
pub(crate) struct Refusals(Mutex<BTreeMap<(String, String, Dispensable), u8>>);

impl Refusals {
    /// True if the model at this address has refused it for good.
    pub(crate) fn has(&self, address: &str, model: &str, part: Dispensable) -> bool {
        let key = (address.to_owned(), model.to_owned(), part);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).is_some_and(|times| *times >= ENOUGH)
    }

    /// The model at this address has refused it once more.
    pub(crate) fn learn(&self, address: &str, model: &str, Refused { part, is_for_good }: Refused) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let times = known.entry((address.to_owned(), model.to_owned(), part)).or_default();
        *times = if is_for_good { ENOUGH } else { times.saturating_add(1) };
    }
}

impl Dispensable {
    pub(crate) const ALL: [Self; 4] = [Self::EffortChange, Self::Diagnosis, Self::EagerInputs, Self::CacheHour];

    /// The part of a request that a server refuses with this failure; none if it refuses something else, or the request
    /// has no such part.
    pub(crate) fn refused(wire: Wire, target: &Target, request: &Request, failure: &ModelError) -> Option<Refused> {
        let is_wire = matches!(wire, Wire::Anthropic | Wire::AnthropicVertex);
        if !is_wire || failure.kind != ModelErrorKind::Rejected {
            return None;
        }
        let words = failure.message.to_lowercase();
        let is_said = |part: &Self| match part {
            Self::EffortChange => {
                let of_role = words.contains("role") && (words.contains("system") || words.contains("'user' or"));
                let names = ["output_config", "mid-conversation-output-config"];
                anthropic::changes_effort(target, request) && (of_role || names.iter().any(|name| words.contains(name)))
            }
            Self::Diagnosis => {
                let names = ["diagnostics", "previous_message_id"];
                anthropic::asks_why(target, request) && names.iter().any(|name| words.contains(name))
            }
            Self::EagerInputs => anthropic::is_eager(target, request) && words.contains("eager_input_streaming"),
            Self::CacheHour => {
                // Others have these letters within them.
                let mut names = words.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                kept::keeps_for_hour(target, request) && names.any(|name| name == "ttl")
            }
        };
        let is_for_good = CANNOT.iter().any(|cannot| words.contains(cannot));
        Self::ALL.into_iter().find(is_said).map(|part| Refused { part, is_for_good })
    }

    /// Has requests go without it.
    pub(crate) fn leave_out(self, target: &mut Target) {
        match self {
            Self::EffortChange => target.own_effort = None,
            Self::Diagnosis => target.compat.cache_diagnosis = Some(false),
            Self::EagerInputs => target.compat.eager_input_streaming = Some(false),
            Self::CacheHour => target.compat.cache_hour = Some(false),
        }
    }
}
