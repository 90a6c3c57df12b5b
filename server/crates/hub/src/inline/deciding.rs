//! The steps of a request: may the file be sent, is there a rule against it, is there an answer already, is a model to
//! be asked, and what of its answer still fits.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use inline::before::{self, Cursor, Event, Limits, Menu};
use inline::cache::Answer;
use inline::engine::{Ask, RunId, Step};
use inline::journal::Kind;
use project::buffers::Snapshot;
use protocol::inline::{InlineItem, InlineSource, Reason, Rule};
use tokio_util::sync::CancellationToken;

use super::asked::Asked;
use super::decisions::{Found, Suggestion, next_name};
use super::document::{Document, Run};
use super::gate::{Admitted, Gate};
use super::positions;
use super::run::{Answered, Other, Parts, Server, Work};
use super::{FAILURES, Key, Message, Task};
use crate::ClientId;
use crate::config::Config;

/// So long a judgement holds. What git ignores and what is trusted can change without a word.
pub(super) const FRESH: Duration = Duration::from_secs(10);
/// So long a server is left alone after several failures in a row, unless the user asks for a suggestion.
const AFTER_FAILURES: Duration = Duration::from_secs(15);
/// The most other files of which parts are put before the model.
const OTHERS: usize = 20;
/// The memory that the parts of other files may take, in bytes.
const PARTS: usize = 6 << 20;

impl Task {
    /// Decides on the request that waits in a document.
    pub(super) fn consider(&mut self, key: &Key) {
        let now = Instant::now();
        if !self.may_spend(key) {
            return;
        }
        let Some(document) = self.documents.get_mut(key) else { return };
        let Some(waiting) = document.waiting.last() else { return };
        match self.admitted.get(key).filter(|(judged, _)| now - *judged < FRESH) {
            None => return self.judge(key),
            Some((_, Err(reason))) => {
                let reason = reason.clone();
                return self.silence(key, &reason);
            }
            Some((_, Ok(_))) => {}
        }
        let ask = ask_of(&waiting.asked);
        if let Some(rule) = document.rule(&self.config, self.journal.last_change(&document.name)) {
            // Who takes back a part of what was typed of a suggestion is back at it.
            let is_back = matches!(rule, Rule::Deletion | Rule::Undo)
                && matches!(document.engine.find(&ask, &mut self.cache, now), Some(Step::Have(_)));
            if !is_back {
                return self.silence(key, &rule.into());
            }
        }
        let is_automatic = !ask.is_invoked;
        let step = document.engine.ask(ask, &mut self.cache, now);
        let Some(waiting) = document.waiting.last_mut() else { return };
        waiting.is_decided = true;
        match step {
            Step::Silent(rule) => self.silence(key, &rule.into()),
            Step::Have(answer) if !is_automatic => self.give_or_vary(key, answer),
            Step::Have(answer) => self.give(key, &answer, &Found::kept()),
            Step::Join(_) => waiting.joined = true,
            Step::Wait => {
                let quiet = Duration::from_millis(self.config.inline_quiet.into());
                let quiet = document.typed.map(|typed| typed + quiet);
                // A server that fails is asked less often.
                let failing = self.last_failure.as_ref().filter(|_| self.failures >= FAILURES);
                let failing = failing.map(|(at, _)| *at + AFTER_FAILURES);
                let times = quiet.into_iter().chain(failing).filter(|_| is_automatic);
                times.for_each(|time| document.engine.not_before(time));
                let (text, offset) = (Arc::clone(&waiting.asked.document), waiting.asked.offset);
                document.end_unneeded();
                self.look_up(key, &text, offset);
                self.start_due(now);
            }
        }
    }

    /// Has the documents judged that a client has open and that were not judged lately: the one that is asked about,
    /// and those of which a model may read parts.
    pub(super) fn judge(&mut self, key: &Key) {
        let Some(client) = self.clients.get(&key.0) else { return };
        let now = Instant::now();
        let Some(own) = client.caller.buffers.by_uri(&key.1) else {
            return self.silence(key, &Rule::Stale.into());
        };
        // A file that is open under two names is among them once.
        let others = client.caller.buffers.all().into_iter().filter(|other| other.uri != own.uri);
        let open = std::iter::once(Arc::clone(&own)).chain(others);
        let is_due = |(uri, _): &(Arc<str>, PathBuf)| {
            let name = (key.0, Arc::clone(uri));
            let is_fresh = self.admitted.get(&name).is_some_and(|(judged, _)| now - *judged < FRESH / 2);
            !is_fresh && !self.judging.contains(&name)
        };
        let files: Vec<_> = open.map(|other| (Arc::clone(&other.uri), other.path.clone())).filter(is_due).collect();
        if files.is_empty() {
            return;
        }
        self.judging.extend(files.iter().map(|(uri, _)| (key.0, Arc::clone(uri))));
        let gate = Gate::new(&self.shared, &self.config, client);
        let (client, number) = (key.0, self.judged_number);
        self.beside(async move {
            let judged = gate.judge(files.clone()).await;
            Message::Judged(client, number, files.into_iter().map(|(uri, _)| uri).zip(judged).collect())
        });
    }

    pub(super) fn judged(&mut self, client: ClientId, judged: Vec<(Arc<str>, Result<Admitted, Reason>)>) {
        let now = Instant::now();
        for (uri, result) in judged {
            let key = (client, uri);
            self.judging.remove(&key);
            self.admitted.insert(key, (now, result));
        }
        let is_open = |document: &Document| document.waiting.last().is_some_and(|waiting| !waiting.is_decided);
        let open = self.documents.iter().filter(|(key, document)| key.0 == client && is_open(document));
        let keys: Vec<_> = open.map(|(key, _)| key.clone()).collect();
        keys.iter().for_each(|key| self.consider(key));
        self.consider_edit(client);
    }

    /// Asks the model for every place whose time has come.
    pub(super) fn start_due(&mut self, now: Instant) {
        let due: Vec<_> = self
            .documents
            .iter()
            .filter(|(_, document)| document.engine.due().is_some_and(|due| due <= now))
            .map(|(key, _)| key.clone())
            .collect();
        due.into_iter().for_each(|key| self.start(&key, now));
    }

    fn start(&mut self, key: &Key, now: Instant) {
        let is_possible = self.source.model.is_ok() && self.admitted.get(key).is_some_and(|(_, judged)| judged.is_ok());
        let Some(document) = self.documents.get_mut(key) else { return };
        if !is_possible || document.waiting.is_empty() {
            document.stop();
            return self.consider(key);
        }
        let Some((run, ask)) = document.engine.start(now) else { return };
        self.ask_model(key, run, ask, false);
        // A file that is opened later is of use to the next request.
        self.judge(key);
    }

    /// Asks the model for what waits in a document.
    pub(super) fn ask_model(&mut self, key: &Key, run: RunId, ask: Ask, is_varied: bool) {
        let (others, definitions) = (self.others(key), self.definitions.near(key, &ask.text, ask.offset));
        let Some(document) = self.documents.get_mut(key) else { return };
        let file = self.admitted.get(key).and_then(|(_, judged)| judged.as_ref().ok());
        let (Ok(model), Some(file), Some(waiting)) = (&self.source.model, file, document.waiting.last()) else {
            return;
        };
        let asked = &waiting.asked;
        let cancel = CancellationToken::new();
        document.run = Some(Run { id: run, _cancel: cancel.clone().drop_guard() });
        let work = Work {
            run,
            ask,
            model: Arc::clone(model),
            file: file.clone(),
            language: asked.document.language_id.to_string(),
            indent: asked.indent,
            is_after_accepted: self.journal.last_change(&document.name) == Some(Kind::Accepted),
            others,
            definitions,
            is_varied,
            key: key.clone(),
            messages: self.messages.clone(),
        };
        tokio::spawn(async move {
            // It ends at once if it is of no use any more, which closes the connection.
            let _ = cancel.run_until_cancelled(work.run()).await;
        });
    }

    /// The other open documents of the same language that may be sent.
    pub(super) fn others(&self, key: &Key) -> Vec<Other> {
        let (Some(client), Some(document)) = (self.clients.get(&key.0), self.documents.get(key)) else {
            return Vec::new();
        };
        let (language, path) = (&document.snapshot.language_id, &document.snapshot.path);
        let open = client.caller.buffers.all().into_iter();
        let like = open.filter(|other| other.path != *path && other.uri != key.1 && other.language_id == *language);
        let admitted = like.filter_map(|other| {
            let key = (key.0, Arc::clone(&other.uri));
            let file = self.admitted.get(&key)?.1.as_ref().ok()?;
            let kept = self.parts.get(&key);
            let is_same = |of: &Weak<str>| of.upgrade().is_some_and(|text| Arc::ptr_eq(&text, other.normal()));
            let parts = kept.filter(|(of, _)| is_same(of)).map(|(_, parts)| Arc::clone(parts));
            Some(Other { client: key.0, file: file.clone(), parts, document: other })
        });
        admitted.take(OTHERS).collect()
    }

    /// Keeps the parts of a document, and lets others go if all of them take too much memory.
    pub(super) fn keep_parts(&mut self, key: Key, text: Weak<str>, parts: Arc<Parts>) {
        self.parts.insert(key.clone(), (text, parts));
        let mut bytes: usize = self.parts.values().map(|(_, parts)| parts.bytes()).sum();
        self.parts.retain(|other, (text, parts)| {
            let stays = *other == key || text.strong_count() > 0 && bytes <= PARTS;
            bytes -= if stays { 0 } else { parts.bytes() };
            stays
        });
    }

    pub(super) fn answered(&mut self, key: &Key, answered: Answered) {
        let Answered { run, ask, answer, changed_by, model, server, is_varied } = answered;
        let now = Instant::now();
        let reason = answer.as_ref().err().cloned();
        if let Some(reason) = reason.clone().filter(|_| server == Server::Failed) {
            self.last_failure = Some((now, reason));
        }
        if server != Server::NotAsked {
            self.note_failure(server == Server::Failed);
        }
        if is_varied {
            let source = InlineSource::Model;
            return self.varied(
                key,
                &ask,
                answer.ok(),
                &Found { source, model: Some(model), changed_by, is_edit: false },
            );
        }
        let Some(document) = self.documents.get_mut(key) else { return };
        let answer = answer.map_err(|reason| reason.rule);
        let is_awaited = document.engine.answered(run, &ask, answer, &mut self.cache, now);
        document.end_unneeded();
        let Some(waiting) = document.waiting.last().filter(|_| is_awaited) else { return };
        if let Some(reason) = reason {
            return self.silence(key, &reason);
        }
        let source = if waiting.joined { InlineSource::Running } else { InlineSource::Model };
        let found = Found { source, model: Some(model), changed_by, is_edit: false };
        match document.engine.find(&ask_of(&waiting.asked), &mut self.cache, now) {
            Some(Step::Have(answer)) => self.give(key, &answer, &found),
            Some(Step::Silent(rule)) => self.silence(key, &rule.into()),
            _ => self.silence(key, &Rule::Mismatch.into()),
        }
    }

    /// Answers all that wait in a document with nothing.
    pub(super) fn silence(&mut self, key: &Key, reason: &Reason) {
        let Some(document) = self.documents.get_mut(key) else { return };
        // Whatever runs or is to run has nobody left who waits for it.
        document.stop();
        for waiting in std::mem::take(&mut document.waiting) {
            self.decisions.silent(waiting, reason.clone());
        }
    }

    /// Answers all that wait in a document with a suggestion for the place that they asked for; or if the user has gone
    /// on, with what is left of it there.
    pub(super) fn give(&mut self, key: &Key, answer: &Answer, found: &Found) {
        let Some(document) = self.documents.get_mut(key) else { return };
        let snapshot = Arc::clone(&document.snapshot);
        for waiting in std::mem::take(&mut document.waiting) {
            let asked = &waiting.asked;
            let text = snapshot.normal();
            let Some(offset) = place_now(asked, text) else {
                self.decisions.silent(waiting, Rule::Stale.into());
                continue;
            };
            let answer = if asked.document.normal() == text {
                Some(answer.clone())
            } else {
                let ask = Ask { text: Arc::clone(text), offset, is_invoked: asked.is_invoked(), is_ahead: false };
                match document.engine.find(&ask, &mut self.cache, Instant::now()) {
                    Some(Step::Have(answer)) => Some(answer),
                    _ => None,
                }
            };
            let Some(answer) = answer else {
                self.decisions.silent(waiting, Rule::Mismatch.into());
                continue;
            };
            let first = item(asked, &snapshot, offset, &answer);
            // Of the text that is there, and not of the one that the menu's entry would make.
            let (offset, answer) = match &asked.selected {
                None => (offset, answer),
                Some(selected) => {
                    let text = format!("{}{}", selected.text, answer.text);
                    let replaces = selected.range.len() + answer.replaces;
                    (selected.range.start, Answer { text, replaces })
                }
            };
            let suggestion = Suggestion { text: Arc::clone(text), offset, answer: answer.clone() };
            // Most clients do not say what they show.
            document.shown(suggestion.clone());
            let mut given = vec![(suggestion, first)];
            if asked.is_invoked() && asked.selected.is_none() {
                let others = document.alternatives.beside(text, offset, &answer).into_iter();
                given.extend(others.map(|answer| {
                    let item = item(asked, &snapshot, offset, &answer);
                    (Suggestion { text: Arc::clone(text), offset, answer }, item)
                }));
            }
            self.counts.gave(self.source.model.as_ref().ok().map(|model| &*model.info().id), found);
            self.decisions.give(waiting, key, given, found.clone());
        }
    }
}

impl Document {
    /// The rule by which nothing is to be suggested at the place that is asked for.
    fn rule(&self, config: &Config, last_change: Option<Kind>) -> Option<Rule> {
        let asked = &self.waiting.last()?.asked;
        let is_off_in = |wanted: &str| config.inline_off_in.iter().any(|scope| scope == wanted);
        let limits = Limits { no_comments: is_off_in("comments"), no_texts: is_off_in("strings"), ..Limits::default() };
        if config.inline_off_languages.iter().any(|language| **language == *asked.document.language_id) {
            return Some(Rule::Off);
        }
        let text = asked.document.normal();
        let at = Cursor { path: &asked.document.path, text, cursor: asked.offset };
        let menu = match &asked.selected {
            None => Menu::Closed,
            Some(selected) => Menu::Selected { range: selected.range.clone(), text: &selected.text },
        };
        let event = Event { is_invoked: asked.is_invoked(), change: last_change, has_cursors: asked.selecting, menu };
        before::silence(&at, &event, &limits)
    }
}

/// The place that a request is about; with an entry of the completion menu selected, as it is once that is accepted.
fn ask_of(asked: &Asked) -> Ask {
    let text = asked.document.normal();
    let is_invoked = asked.is_invoked();
    match &asked.selected {
        None => Ask { text: Arc::clone(text), offset: asked.offset, is_invoked, is_ahead: false },
        Some(selected) => {
            let before = text.get(..selected.range.start).unwrap_or_default();
            let after = text.get(selected.range.end..).unwrap_or_default();
            let offset = before.len() + selected.text.len();
            let text = format!("{before}{}{after}", selected.text);
            Ask { text: text.into(), offset, is_invoked, is_ahead: true }
        }
    }
}

/// The place of a request in the text as it is now; none if anything but typing there has changed it.
fn place_now(asked: &Asked, now: &str) -> Option<usize> {
    let (then, at) = (asked.document.normal(), asked.offset);
    let typed = now.len().checked_sub(then.len())?;
    if typed > 0 && asked.selected.is_some() {
        return None;
    }
    let is_same = now.get(..at)? == then.get(..at)? && now.get(at + typed..)? == then.get(at..)?;
    is_same.then_some(at + typed)
}

fn item(asked: &Asked, document: &Snapshot, offset: usize, answer: &Answer) -> InlineItem {
    let (start, text, end) = match &asked.selected {
        None => (offset, answer.text.clone(), offset),
        Some(selected) => (selected.range.start, format!("{}{}", selected.text, answer.text), selected.range.end),
    };
    InlineItem {
        id: next_name(),
        range: positions::range(document, start..end + answer.replaces, asked.encoding),
        text,
        version: document.version,
    }
}
