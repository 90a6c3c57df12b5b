//! Noticing that a turn goes in circles.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use protocol::ToolResult;

use crate::history::OpenCall;

/// How often each call came to which result, since something last changed.
#[derive(Default)]
pub(super) struct Circles {
    hasher: RandomState,
    seen: HashMap<u64, usize>,
    this_round: HashSet<u64>,
}

impl Circles {
    /// Another answer's calls follow. Twins among them count as one: they are clumsy, but no circle.
    pub(super) fn begin_round(&mut self) {
        self.this_round.clear();
    }

    /// Counts a call, and says how often it has now come to this result. A call with effects that comes to something
    /// new begins the count anew: after an edit it is right to look and to test again.
    pub(super) fn count(&mut self, call: &OpenCall, result: &ToolResult, has_effects: bool) -> usize {
        let key = self.hasher.hash_one((&call.name, call.input.to_string(), &result.text));
        if has_effects && !result.is_error && !self.seen.contains_key(&key) {
            self.seen.clear();
        }
        let count = self.seen.entry(key).or_default();
        *count += usize::from(self.this_round.insert(key));
        *count
    }

    /// Forgets all: results were taken from the model, which may ask for them again.
    pub(super) fn forget(&mut self) {
        self.seen.clear();
    }
}
