//! The fill of the context, and what to take out of it.

use std::sync::Arc;

use ports::model::{Message, ToolSpec, UserBlock};
use protocol::content::Usage;
use protocol::model::ModelInfo;
use protocol::{ToolCallId, ToolResult};

use crate::context::{Counted, chars, estimate, full, longest_answer, of_tool, tokens};
use crate::history::{History, TRIMMED};

/// The fill that is left after old results were trimmed. Well below, since every trimming costs the vendor's cache.
const TRIMMED_TO: f64 = 0.6;
/// Trimming pays if it wins so many tokens, or such a share of a small context.
const PAYS: u64 = 20_000;
const PAYS_SHARE: f64 = 0.15;
/// The bytes of images from which on a request is too large for a vendor, whatever their tokens: the smallest limit
/// known is 32 MB for a request (Anthropic), and images are a third longer on the wire of some.
const MOST_IMAGES: usize = 20 << 20;

/// The context of a model: its room, and what is known of its filling.
pub(super) struct Budget {
    limit: u64,
    /// The longest answer to ask for.
    pub(super) answer: u64,
    /// System prompt and tools.
    fixed: u64,
    /// The vendor's count for the first so many messages.
    counted: Option<(u64, usize)>,
    was_asked_for: bool,
    /// True if the model's server cuts off what does not fit, and counts only the rest.
    cuts: bool,
}

impl Budget {
    pub(super) fn new(model: &ModelInfo, thinking: Option<u64>, system: &str, tools: &[ToolSpec]) -> Self {
        Self {
            limit: model.context_tokens,
            answer: longest_answer(model, thinking),
            fixed: tokens(chars(system) + tools.iter().map(of_tool).sum::<f64>()),
            counted: None,
            was_asked_for: false,
            cuts: false,
        }
    }

    /// Takes in what the same model's vendor counted before the turn.
    pub(super) fn knows(&mut self, counted: Option<Counted>) {
        self.counted = counted.filter(|counted| counted.tokens > 0).map(|known| (known.tokens, known.messages));
    }

    /// The conversation is no longer the one that was counted.
    pub(super) fn forget_count(&mut self) {
        self.counted = None;
    }

    /// Takes in the window that the model's server has really given it.
    pub(super) fn resize(&mut self, window: u64) {
        // An answer that fills a window which turns out smaller would leave no room to the conversation.
        self.answer = self.answer.min(window / 4).max(1);
        self.limit = window;
        self.cuts = true;
    }

    /// The window in tokens.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// True if the window was asked for that its server has really given the model; from now on it was.
    pub(super) fn was_asked_for(&mut self) -> bool {
        std::mem::replace(&mut self.was_asked_for, true)
    }

    /// Takes in what the vendor counted for a request and its answer, which is now the last of these messages. A server
    /// that cuts has counted them all only if they fit.
    pub(super) fn counted(&mut self, usage: &Usage, messages: &[Arc<Message>]) {
        let total = usage.total();
        let was_cut = self.is_cut(messages);
        self.counted = (total > 0 && !was_cut).then_some((total, messages.len()));
    }

    /// The tokens of a request with these messages: what the vendor counted of them, the rest estimated.
    pub(super) fn used(&self, messages: &[Arc<Message>]) -> u64 {
        match self.counted {
            Some((known, from)) => sum(known, messages.get(from..).unwrap_or_default()),
            None => self.estimated(messages),
        }
    }

    /// The tokens of a request with other messages in place of these: the estimate, as much above or below the truth as
    /// it is for these.
    pub(super) fn after(&self, messages: &[Arc<Message>], others: &[Arc<Message>]) -> u64 {
        let factor = self.used(messages) as f64 / self.estimated(messages).max(1) as f64;
        (self.estimated(others) as f64 * factor).round() as u64
    }

    fn estimated(&self, messages: &[Arc<Message>]) -> u64 {
        sum(self.fixed, messages)
    }

    pub(super) fn is_full(&self, messages: &[Arc<Message>]) -> bool {
        self.used(messages) > self.full()
    }

    /// True if the images are too many bytes for a vendor, however few tokens they are.
    pub(super) fn is_heavy(&self, messages: &[Arc<Message>]) -> bool {
        messages.iter().map(|message| images(message)).sum::<usize>() > MOST_IMAGES
    }

    /// True if the model's server would cut a request with these messages off.
    pub(super) fn is_cut(&self, messages: &[Arc<Message>]) -> bool {
        self.cuts && self.estimated(messages) > self.limit
    }

    /// Such a share of the room that instructions and tools leave to the conversation, in tokens.
    pub(super) fn share(&self, share: f64) -> u64 {
        ((self.room() - self.fixed as f64).max(0.0) * share) as u64
    }

    /// True if the results that can be trimmed are worth the vendor's cache, which every trimming costs.
    pub(super) fn trimming_pays(&self, history: &History, keep: usize) -> bool {
        history.trimmable(keep).into_iter().map(gain).sum::<u64>() >= PAYS.min(self.share(PAYS_SHARE))
    }

    /// The tokens from which on the context is full.
    pub(super) fn full(&self) -> u64 {
        full(self.limit, self.answer)
    }

    /// The oldest results, as many as must go to make room again, none of the last `keep` rounds. With `all`, all that
    /// there are: the vendor has said that our count is wrong.
    pub(super) fn choose_trimmed(&mut self, history: &History, keep: usize, all: bool) -> Vec<ToolCallId> {
        let excess = self.used(&history.messages()) as f64 - self.room() * TRIMMED_TO;
        let mut gained = 0;
        let mut trimmed = Vec::new();
        for result in history.trimmable(keep) {
            if !all && gained as f64 >= excess {
                break;
            }
            gained += gain(result);
            trimmed.push(result.tool_call_id.clone());
        }
        // Where the vendor's count was wrong, or may hold other results than these, an estimate is better.
        self.counted = self.counted.filter(|_| !all).map(|(known, len)| (known.saturating_sub(gained), len));
        trimmed
    }

    fn room(&self) -> f64 {
        self.limit.saturating_sub(self.answer) as f64
    }
}

/// The tokens that are won if a result is trimmed.
fn gain(result: &ToolResult) -> u64 {
    tokens(chars(&result.text)).saturating_sub(tokens(chars(TRIMMED)))
}

/// The tokens of messages, as estimated.
pub(super) fn length(messages: &[Arc<Message>]) -> u64 {
    sum(0, messages)
}

/// The bytes of a message's images, as they go over the wire.
pub(super) fn images(message: &Message) -> usize {
    let Message::User(blocks) = message else { return 0 };
    let bytes = |block: &UserBlock| match block {
        UserBlock::Image { data, .. } => data.len(),
        UserBlock::Text(_) => 0,
    };
    blocks.iter().map(bytes).sum()
}

/// The longest result for a model, in bytes: a quarter of its window, for text of one byte a character.
pub(super) fn longest_result(window: u64) -> usize {
    usize::try_from(window).unwrap_or(usize::MAX).saturating_mul(7) / 8
}

/// So many tokens, and those of these messages as estimated.
fn sum(known: u64, messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| estimate(message)).fold(known, u64::saturating_add)
}
