//! The effort of a conversation whose level changed: a change at the request's head would make the vendor's cache miss,
//! so it stands within the messages, where the conversation was when it came
//! (platform.claude.com/docs/en/build-with-claude/effort-per-message).
//!
//! Messages that were sent stay as they are: the head has the effort that the model was first asked with, and each
//! change stands before the first message that it counts for, in all later requests. So it counts from the next words
//! of the user on; a message of results alone does not begin it.

use ports::model::Request;
use protocol::model::ThinkingLevel;
use serde::Serialize;

use crate::data::Thinking;
use crate::level::nearest;
use crate::wire::Target;

/// The beta in which the effort may change within a conversation.
pub(super) const IN_CONVERSATION: &str = "mid-conversation-output-config-2026-07-01";

/// An effort, as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(in crate::wire) struct Effort {
    effort: &'static str,
}

/// The efforts of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Efforts {
    /// The effort at the request's head; none for the model's own.
    pub(super) first: Option<Effort>,
    /// The later ones, each with the number of messages before it.
    pub(super) changes: Vec<(usize, Effort)>,
}

/// The effort of a model that thinks as much as it finds right, if it was told a level.
pub(in crate::wire) fn effort(target: &Target, request: &Request) -> Option<Effort> {
    let level = match target.thinking {
        Thinking::Always | Thinking::Adaptive => target.level(request)?,
        Thinking::Budget | Thinking::None | Thinking::Effort | Thinking::Level => return None,
    };
    written(level)
}

impl Efforts {
    /// The efforts of a request: all of them if server and model take changes within a conversation, else only the one
    /// that the request asks for. So is one that asks for no thinking, which nothing within a conversation can say, and
    /// one of which the log tells something else.
    pub(super) fn of(target: &Target, request: &Request) -> Self {
        let now = effort(target, request);
        let alone = Self { first: now, changes: Vec::new() };
        let Some(own) = own_effort(target).and_then(written) else { return alone };
        if target.level(request) == Some(ThinkingLevel::Off) {
            return alone;
        }
        let levels = request.before.levels.iter().filter_map(|change| {
            let level = change.level.and_then(|level| nearest(&target.levels, level));
            // A request without thinking is another conversation to the vendor.
            (level != Some(ThinkingLevel::Off)).then_some((change.at, level.and_then(written)))
        });
        let (mut first, mut changes, mut last) = (now, Vec::new(), None);
        for (at, effort) in levels {
            let now = effort.unwrap_or(own);
            if at == 0 || last.is_none() {
                // Nothing has been said to it yet.
                first = effort;
            } else if last != Some(now) {
                changes.push((at, now));
            }
            last = Some(now);
        }
        if last.is_some_and(|last| last == now.unwrap_or(own)) { Self { first, changes } } else { alone }
    }
}

/// True if server and model take changes of the effort within a conversation.
pub(crate) fn changes_in_place(target: &Target) -> bool {
    own_effort(target).is_some()
}

/// The effort that a model makes by itself, if server and model take changes of it within a conversation.
fn own_effort(target: &Target) -> Option<ThinkingLevel> {
    let is_taken = target.compat.effort_messages == Some(true) && target.compat.betas != Some(false);
    target.own_effort.filter(|_| is_taken && target.thinking == Thinking::Always)
}

fn written(level: ThinkingLevel) -> Option<Effort> {
    (level != ThinkingLevel::Off).then(|| Effort { effort: level.name() })
}

#[cfg(test)]
mod tests;
