//! The last decisions, for users who ask why there is no suggestion, and the last suggestions by their names.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use inline::cache::Answer;
use protocol::inline::{
    InlineCompleteResult, InlineDecision, InlineExplainResult, InlineItem, InlineSource, Reason, Rule,
};

use super::Key;
use super::asked::{self, Asked, Waiting};
use crate::ClientId;
use crate::clock::now;

/// The decisions that are kept.
const DECISIONS: usize = 50;
/// The suggestions whose names are known. Each keeps the text that it is for.
const SUGGESTIONS: usize = 16;

/// The last decisions and suggestions.
#[derive(Default)]
pub(super) struct Decisions {
    last: VecDeque<(ClientId, InlineDecision)>,
    suggestions: VecDeque<Given>,
}

/// A suggestion with its name.
struct Given {
    id: String,
    key: Key,
    suggestion: Suggestion,
    /// True if the user has accepted or rejected it, which counts once.
    is_decided: bool,
}

/// A suggestion that was given to a client.
#[derive(Clone)]
pub(super) struct Suggestion {
    /// The text that it is for.
    pub(super) text: Arc<str>,
    pub(super) offset: usize,
    pub(super) answer: Answer,
}

/// The way to a suggestion.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) source: InlineSource,
    pub(super) model: Option<String>,
    pub(super) changed_by: Vec<Rule>,
    /// True for an edit, and not for text at the cursor.
    pub(super) is_edit: bool,
}

impl Found {
    /// Nothing was found.
    pub(super) fn none() -> Self {
        Self { source: InlineSource::None, ..Self::kept() }
    }

    /// The way to an answer that was there already.
    pub(super) fn kept() -> Self {
        Self { source: InlineSource::Kept, model: None, changed_by: Vec::new(), is_edit: false }
    }
}

impl Decisions {
    /// Answers that there is nothing to show, and notes why.
    pub(super) fn silent(&mut self, waiting: Waiting, reason: Reason) {
        let found = Found::none();
        self.note(&waiting.asked, waiting.begun, found, Some(reason.clone()));
        let _ = waiting.answer.send(asked::nothing(reason));
    }

    /// Answers with suggestions for the text that the request is about, the best first.
    pub(super) fn give(&mut self, waiting: Waiting, key: &Key, given: Vec<(Suggestion, InlineItem)>, found: Found) {
        self.note(&waiting.asked, waiting.begun, found, None);
        let mut items = Vec::with_capacity(given.len());
        for (suggestion, item) in given {
            if self.suggestions.len() >= SUGGESTIONS {
                self.suggestions.pop_front();
            }
            let (id, key) = (item.id.clone(), key.clone());
            self.suggestions.push_back(Given { id, key, suggestion, is_decided: false });
            items.push(item);
        }
        let _ = waiting.answer.send(InlineCompleteResult { items, reason: None });
    }

    /// The suggestion of a client with this name, if it is one of the last. A second decision on it does not count.
    pub(super) fn suggestion(&mut self, client: ClientId, id: &str, is_decision: bool) -> Option<(Key, Suggestion)> {
        let given = self.suggestions.iter_mut().rev().find(|given| given.id == id && given.key.0 == client)?;
        if is_decision && std::mem::replace(&mut given.is_decided, true) {
            return None;
        }
        Some((given.key.clone(), given.suggestion.clone()))
    }

    /// Forgets the suggestions in a document.
    pub(super) fn forget(&mut self, key: &Key) {
        self.suggestions.retain(|given| given.key != *key);
    }

    /// Forgets a client.
    pub(super) fn forget_client(&mut self, client: ClientId) {
        self.last.retain(|(of, _)| *of != client);
        self.suggestions.retain(|given| given.key.0 != client);
    }

    /// A client's last decisions about a document, or about all of them, the newest first.
    pub(super) fn explain(&self, client: ClientId, uri: Option<&str>) -> InlineExplainResult {
        let own = self.last.iter().rev().filter(|(of, _)| *of == client).map(|(_, decision)| decision);
        let decisions = own.filter(|decision| uri.is_none_or(|uri| decision.uri == uri)).cloned().collect();
        InlineExplainResult { decisions }
    }

    /// Notes the outcome of a request.
    pub(super) fn note(&mut self, asked: &Asked, begun: Instant, found: Found, reason: Option<Reason>) {
        if self.last.len() >= DECISIONS {
            self.last.pop_front();
        }
        let decision = InlineDecision {
            uri: asked.document.uri.to_string(),
            position: asked.position,
            trigger: asked.trigger,
            is_edit: found.is_edit,
            at: now(),
            source: found.source,
            reason,
            changed_by: found.changed_by,
            model: found.model,
            took_ms: u32::try_from(begun.elapsed().as_millis()).unwrap_or(u32::MAX),
        };
        self.last.push_back((asked.client, decision));
    }
}

/// A name for a suggestion that no other of this process has.
pub(super) fn next_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    format!("i{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
