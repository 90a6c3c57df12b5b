//! The thinking that may only go back after the same messages as those that it came after.
//!
//! So do the newer models of Anthropic want it (`BetaThinkingBlockBinding` of npm `@anthropic-ai/sdk` 1.12). Each block
//! keeps the mark of what it came after, and goes back only there: where older results were trimmed, the thinking that
//! came after them stays away. Not every host knows the beta by which the vendor itself drops it.

use protocol::AssistantBlock;
use serde::Serialize;
use serde_json::Value;

use super::Target;
use crate::hash::Fnv;

/// The field of a block of thinking that has the mark of all that was said before it.
pub(super) const AFTER: &str = "after";

/// All that was said so far, as a mark.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    is_wanted: bool,
    hash: Fnv,
}

impl Prefix {
    /// The mark of a conversation in which nothing was said yet.
    pub(super) fn of_nothing(target: &Target) -> Self {
        Self { is_wanted: target.bound, hash: Fnv::default() }
    }

    /// The mark as it is kept with a block; none for models that do not bind their thinking.
    pub(super) fn mark(self) -> Option<Value> {
        self.is_wanted.then(|| format!("{:016x}", self.hash.0).into())
    }

    /// Takes in a block as it is written.
    pub(super) fn add(&mut self, role: &str, block: &impl Serialize) {
        if self.is_wanted {
            self.hash.add(role.as_bytes());
            // A block that could not be written here could not be sent either.
            let _ = serde_json::to_writer(&mut self.hash, block);
        }
    }

    /// True if a block of the model's may stand here.
    pub(super) fn fits(self, target: &Target, block: &AssistantBlock) -> bool {
        let AssistantBlock::Thinking { vendor, .. } = block else { return true };
        // A log from before the mark was kept has none.
        let after = target.own(vendor).and_then(|own| own.get(AFTER));
        after.is_none() || !self.is_wanted || after == self.mark().as_ref()
    }
}
