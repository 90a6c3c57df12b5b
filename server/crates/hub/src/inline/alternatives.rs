//! Further answers for a position at which the user asks again: the model is asked for one more each time, up to three
//! in all.

use std::sync::Arc;

use inline::cache::Answer;
use inline::engine::{Ask, RunId};

use super::decisions::Found;
use super::{Key, Task};

/// The most answers for a position (LSP leaves the number open; nobody looks at more).
const MOST: usize = 3;
/// The most requests for further ones, since a model may say the same again.
const MOST_TRIES: usize = 4;

/// The answers for a position in a text.
#[derive(Default)]
pub(super) struct Alternatives {
    of: Option<(Arc<str>, usize)>,
    answers: Vec<Answer>,
    tries: usize,
}

impl Alternatives {
    /// Begins anew unless they are for this position.
    fn be_of(&mut self, text: &Arc<str>, offset: usize) {
        let is_same = self.of.as_ref().is_some_and(|(of, at)| **of == **text && *at == offset);
        if !is_same {
            *self = Self { of: Some((Arc::clone(text), offset)), ..Self::default() };
        }
    }

    fn add(&mut self, answer: Answer) {
        if self.answers.len() < MOST && !self.answers.contains(&answer) {
            self.answers.push(answer);
        }
    }

    /// True if one more is to be looked for, which counts as a try.
    fn wants_more(&mut self) -> bool {
        let wants = self.answers.len() < MOST && self.tries < MOST_TRIES;
        self.tries += usize::from(wants);
        wants
    }

    /// The answers for a position but for one of them.
    pub(super) fn beside(&self, text: &Arc<str>, offset: usize, answer: &Answer) -> Vec<Answer> {
        let is_same = self.of.as_ref().is_some_and(|(of, at)| **of == **text && *at == offset);
        let others = self.answers.iter().filter(|other| is_same && *other != answer);
        others.take(MOST - 1).cloned().collect()
    }
}

impl Task {
    /// Answers the user's request at a position for which there is an answer: once there is another one too, or no
    /// other is to be had.
    pub(super) fn give_or_vary(&mut self, key: &Key, answer: Answer) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let Some(asked) = document.waiting.last().map(|waiting| &waiting.asked) else { return };
        let ask =
            Ask { text: Arc::clone(asked.document.normal()), offset: asked.offset, is_invoked: true, is_ahead: false };
        let has_menu = asked.selected.is_some();
        document.alternatives.be_of(&ask.text, ask.offset);
        document.alternatives.add(answer.clone());
        if has_menu || !document.alternatives.wants_more() {
            return self.give(key, &answer, &Found::kept());
        }
        self.ask_model(key, RunId::next(), ask, true);
    }

    /// Takes a further answer, if there is one, and answers those who wait.
    pub(super) fn varied(&mut self, key: &Key, ask: &Ask, answer: Option<Answer>, found: &Found) {
        let Some(document) = self.documents.get_mut(key) else { return };
        document.run = None;
        let is_awaited = document.waiting.last().is_some_and(|waiting| waiting.asked.document.normal() == &ask.text);
        if !is_awaited || document.snapshot.normal() != &ask.text {
            return;
        }
        answer.into_iter().for_each(|answer| document.alternatives.add(answer));
        if let Some(first) = document.alternatives.answers.first().cloned() {
            self.give(key, &first, found);
        }
    }
}
